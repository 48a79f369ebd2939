#' Measures of agreement, one by one
#'
#' Each function gives one measure as a bare number, for any ratings that [agreement()] takes. That
#' function gives standard errors, intervals and several measures at once.
#'
#' In what follows `Po` is observed agreement, the share of pairs of ratings that agree (with
#' `scale_weights`, what they agree on average), `Pe` what chance would give, `N` the number of
#' categories and `p` the share of each category. Chance-corrected measures are
#' `(Po - Pe) / (1 - Pe)`.
#'
#' * `percent_agreement()`: `Po`.
#' * `chance_kappa()`: `Pe = 1/N`, as in Lehner (2015); with weights, their mean. `bennett_s()` is
#'   another name, and so are Brennan and Prediger's kappa and PABAK.
#' * `scott_pi()`, `fleiss_kappa()`: `Pe = sum(p^2)`, `p` over all raters; for two raters Scott's,
#'   for any number Fleiss'.
#' * `cohen_kappa()`, `conger_kappa()`: `Pe` is the mean over pairs of raters of `sum(p1 * p2)`,
#'   with each rater's own shares `p1` and `p2`; for two raters Cohen's, for any number Conger's.
#' * `light_kappa()`: the mean of Cohen's kappa over all pairs of raters.
#' * `gwet_ac()`: `Pe = sum(p * (1 - p)) / (N - 1)`: AC1; with weights, times their mean sum per
#'   category: AC2.
#' * `krippendorff_alpha()`: one less observed over expected disagreement, both over the pairs of
#'   ratings within a case, with a correction for small samples.
#' * `bangdiwala_b()`: `sum(A_ii^2) / sum(A_i. * A_.i)` for the agreement matrix `A` of two raters:
#'   the part of the rectangles of the marginals that the squares of agreement fill.
#' * `yule_y()`: for two raters and two categories, `(sqrt(OR) - 1) / (sqrt(OR) + 1)` with the odds
#'   ratio `OR`. With a zero off the diagonal the limit is 1, with one on it -1.
#' * `information_agreement()`: mutual information of two raters over the smaller of the entropies.
#'   Where a rater used one category that is 0 / 0. With `continuity`, it is the limit of matrices
#'   whose zeros are replaced by a vanishing number: `1 - m / N`, `m` the number of categories that
#'   the other rater used. Elsewhere the two are the same (`0 log 0` is 0). Like all estimates of
#'   mutual information it comes out too high in small samples.
#'
#' @inheritParams agreement
#' @param level How Krippendorff's alpha measures disagreement: `"nominal"`, by the squared
#'   difference of ranks among all ratings (`"ordinal"`) or of values (`"interval"`), or by squared
#'   relative difference (`"ratio"`). Values are the labels if these are numbers, otherwise
#'   positions; categories are in the order of their values.
#' @param continuity Extend information agreement by continuity?
#' @return One number; `NA`, with a warning of class `fallible_warning_undefined` that says why,
#'   where the measure is undefined.
#' @family agreement
#' @seealso [measures()] for references.
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' fleiss_kappa(x)
#' gwet_ac(x)
#'
#' two <- as.table(rbind(c(40, 5), c(3, 2)))
#' cohen_kappa(two)
#' bangdiwala_b(two)
#' information_agreement(two)
#' @name agreement_measures
NULL

bare_measure <- function(x, id, scale_weights = NULL, pooling = "pairs",
                         call = rlang::caller_env()) {
  x <- ratings_of(x, call)
  check_single_label(x, call = call)
  settings <- list(
    interval = "none", pooling = check_choice(pooling, c("pairs", "cases"), "pooling", call)
  )
  settings$scale_weights <- check_scale_weights(scale_weights, x$categories, call)
  view <- new_view(x)
  measure <- built_in_measures[[id]]
  check_fit(measure, view, settings, call)
  raw <- evaluate(measure, view, settings)
  if (is.na(raw$estimate)) {
    warn_fallible("undefined", "{measure$title} is {.code NA}: {raw$reason}.",
      measure = id, reason = raw$reason)
  }
  raw$estimate
}

#' @rdname agreement_measures
#' @export
percent_agreement <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "percent_agreement", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
chance_kappa <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "chance_kappa", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
bennett_s <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "bennett_s", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
cohen_kappa <- function(x, scale_weights = NULL) bare_measure(x, "cohen_kappa", scale_weights)

#' @rdname agreement_measures
#' @export
scott_pi <- function(x, scale_weights = NULL) bare_measure(x, "scott_pi", scale_weights)

#' @rdname agreement_measures
#' @export
fleiss_kappa <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "fleiss_kappa", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
conger_kappa <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "conger_kappa", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
light_kappa <- function(x, scale_weights = NULL) bare_measure(x, "light_kappa", scale_weights)

#' @rdname agreement_measures
#' @export
gwet_ac <- function(x, scale_weights = NULL, pooling = c("pairs", "cases")) {
  bare_measure(x, "gwet_ac", scale_weights, pooling)
}

#' @rdname agreement_measures
#' @export
krippendorff_alpha <- function(x, level = c("nominal", "ordinal", "interval", "ratio"),
                               scale_weights = NULL) {
  level <- check_choice(level, c("nominal", "ordinal", "interval", "ratio"), "level")
  if (level == "nominal") {
    return(bare_measure(x, "krippendorff_alpha", scale_weights))
  }
  if (!is.null(scale_weights)) {
    abort_fallible("argument", c(
      "{.arg scale_weights} and {.code level = {.val {level}}} both say how to measure
       disagreement.",
      "i" = "Give one of them."
    ), arg = "scale_weights", call = rlang::current_env())
  }
  bare_measure(x, paste0("krippendorff_alpha_", level))
}

#' @rdname agreement_measures
#' @export
bangdiwala_b <- function(x) bare_measure(x, "bangdiwala_b")

#' @rdname agreement_measures
#' @export
yule_y <- function(x) bare_measure(x, "yule_y")

#' @rdname agreement_measures
#' @export
information_agreement <- function(x, continuity = TRUE) {
  plain <- !check_flag(continuity, "continuity")
  bare_measure(x, paste0("information_agreement", if (plain) "_plain"))
}

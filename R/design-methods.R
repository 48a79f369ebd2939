# Words and tables of what is not a result but says what to do: models, designs, estimators.

#' Tables of models, designs and estimators
#'
#' @param x A [rater_model()], [rater_design()] or [accuracy_estimator()].
#' @param ... Not used.
#' @return `tidy()`: a tibble. Of a model, a row per argument of [rater_model()] but `prior`:
#'   `property`, `value`, and `holds`, whether that is a K-property that the model keeps (`NA` for
#'   `system`, and for `base_rates` by formula). Of a design, a row per rater and system: `name`,
#'   `kind` (`"rater"` or `"system"`) and `accuracy`, `NA` where a confusion matrix is given. Of an
#'   estimator, a row per option: `option` and `value`, a string.
#'
#'   `glance()`: a tibble with one row: the arguments of a model, with `prior` as `"weak"`, `"none"`
#'   or `"own"`; of a design the numbers of `cases`, `raters`, `systems` and `categories`, the law
#'   of its `base_rates`, `dispersion`, `error_range`, the largest shift by `difficulty`, the share
#'   of `missing` ratings, and whether the `k_properties` hold; the options of an estimator.
#'   `format()`: a line of words.
#' @name design_tables
#' @family simulation
#' @examples
#' tidy(rater_model(accuracy = "rater"))
#' tidy(lehner_design(8))
#' glance(lehner_design(8))
#' format(accuracy_estimator("joint"))
#' @export
tidy.rater_model <- function(x, ...) {
  check_dots_empty(...)
  property <- c("accuracy", "errors", "difficulty", "system")
  value <- unlist(x[property], use.names = FALSE)
  origin <- c("common", "uniform", "none", NA)
  if (has_formula(x)) {
    property <- c(property, "base_rates")
    value <- c(value, formula_text(x))
    origin <- c(origin, NA)
  }
  tibble::tibble(property = property, value = value, holds = value == origin)
}

#' @rdname design_tables
#' @export
glance.rater_model <- function(x, ...) {
  check_dots_empty(...)
  prior <- if (length(x$prior) == 0L) "none" else if (is_pooled(x)) "pooled" else
    if (identical(x$prior, weak_prior)) "weak" else "own"
  tibble::as_tibble(c(x[c("accuracy", "errors", "difficulty", "system")], prior = prior))
}

#' @rdname design_tables
#' @export
tidy.rater_design <- function(x, ...) {
  check_dots_empty(...)
  accuracy <- c(x$raters, x$systems)
  tibble::tibble(
    name = names(accuracy),
    kind = rep(c("rater", "system"), c(n_raters(x), n_systems(x))),
    accuracy = unname(replace(accuracy, lengths(x$matrices) > 0L, NA))
  )
}

#' @rdname design_tables
#' @export
glance.rater_design <- function(x, ...) {
  check_dots_empty(...)
  tibble::tibble(
    cases = x$n, raters = n_raters(x), systems = n_systems(x),
    categories = n_categories(x), base_rates = x$law, dispersion = x$dispersion,
    error_range = x$error_range, difficulty = max(abs(x$strata$shift)),
    missing = mean(x$missing),
    k_properties = length(design_violations(x)) == 0L
  )
}

#' @rdname design_tables
#' @export
format.rater_design <- function(x, ...) {
  paste0(
    count_noun(x$n, "case"), ", ", count_noun(n_raters(x), "rater"), ", ",
    count_noun(n_systems(x), "system"), ", ",
    count_noun(n_categories(x), "category", "categories")
  )
}

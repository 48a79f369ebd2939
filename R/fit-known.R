# Known truth and known raters: checks the user's arguments and converts them for the core.

# Field `known` of a fit without known truth or known raters.
nothing_known <- list(truth = integer(), raters = list())

# `x`, with patterns split by the known truth of their cases. `known`, for the core: truth, a
# category per pattern (0 if unknown), and raters, a matrix or NULL per rater. `given`: the user's
# arguments.
resolve_known <- function(x, truth, raters) {
  known <- nothing_known
  if (!is.null(truth)) {
    code <- check_known_truth(truth, x)
    x <- split_patterns(x, list(.truth = code))
    known$truth <- x$patterns$values$.truth
  }
  if (!is.null(raters)) {
    known$raters <- check_known_raters(raters, x)
    counted <- vapply(known$raters, is.list, NA)
    if (any(counted)) {
      known$counts <- lapply(known$raters, function(law) if (is.list(law)) law$counts)
      known$raters[counted] <- list(NULL)
    }
  }
  list(x = x, known = known, given = list(truth = truth, raters = raters))
}

# Category of each case, 0 if it is not known.
check_known_truth <- function(truth, x, arg = "known_truth") {
  given <- as_truth_table(truth, arg, names(x$keys))
  cases <- as_label(x$cases)
  off <- which(!given$case %in% cases)
  abort_if(off, "case", "{.arg {arg}} must name cases of {.arg x}.",
    x = "{.val {given$case[off]}} {?is/are} not among them.", row = off)
  known_codes(given, cases, x$categories, arg)
}

# For each rater a confusion matrix, a list with `counts` of a calibration sample, or NULL if the
# rater is not known.
check_known_raters <- function(raters, x) {
  check_named_raters(x, "known_raters", "{.arg known_raters} needs the rater of each rating.")
  ok <- is.list(raters) || (is.numeric(raters) && is.null(dim(raters)))
  abort_argument_if(!ok || !has_unique_names(raters), "known_raters",
    "must be a list with the names of raters, each once.", not = raters,
    i = "For each known rater it has a confusion matrix, or a probability of a correct rating.")
  unknown <- setdiff(names(raters), x$raters)
  abort_argument_if(unknown, "known_raters", "must name raters of {.arg x}.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$raters}}.")
  lapply(setNames(nm = x$raters), function(rater) {
    if (rater %in% names(raters)) check_known_matrix(raters[[rater]], rater, x$categories)
  })
}

check_known_matrix <- function(matrix, rater, categories) {
  n <- length(categories)
  if (is.numeric(matrix) && is.null(dim(matrix)) && length(matrix) == 1L) {
    accuracy <- check_number(matrix, paste0("known_raters$", rater), 0, 1)
    return(matrix_with_equal_errors(accuracy, n))
  }
  shaped <- is.numeric(matrix) && identical(dim(matrix), c(n, n)) && all(is.finite(matrix)) &&
    all(matrix >= 0)
  counts <- shaped && are_counts(matrix)
  ok <- shaped && (counts || all(abs(rowSums(matrix) - 1) < 1e-6))
  abort_argument_if(!ok, "known_raters",
    "A known rater must have a probability in [0, 1], or a {n} x {n} matrix of probabilities with
        the true category in rows, which sum to one; or a table of as many counts, of truth by
        answer.", x = "That of {.val {rater}} is {describe(matrix)}.")
  matrix <- in_order_of(categories, matrix, rater)
  matrix <- matrix(as.double(matrix), n)
  if (counts) list(counts = matrix) else matrix / rowSums(matrix)
}

# Is it a table of counts, not a matrix of probabilities?
are_counts <- function(x) {
  is.numeric(x) && is.matrix(x) && all(as.double(x) %in% round(as.double(x))) &&
    (inherits(x, "table") || any(rowSums(x) > 1))
}

# Puts named rows and columns of a matrix into the order of the categories.
in_order_of <- function(categories, matrix, rater) {
  labels <- dimnames(matrix)
  for (names in labels) {
    abort_if(!is.null(names) && !setequal(names, categories), "category",
      "The matrix of rater {.val {rater}} must have the categories of {.arg x}.",
      x = "It has {.val {names}}.", row = NA_integer_, column = rater,
      found = setdiff(names, categories))
  }
  place <- function(names) if (is.null(names)) seq_along(categories) else match(categories, names)
  matrix[place(labels[[1L]]), place(labels[[2L]]), drop = FALSE]
}

# Default model of a fit: counts need free errors per rater.
model_for_known <- function(raters) {
  if (is.list(raters) && any(vapply(raters, are_counts, NA))) dawid_skene() else k_model()
}

abort_counts_need_pooled <- function() {
  abort_argument("known_raters",
    "Counts of a calibration sample go with free errors of each rater around a centre, and with
        weights of cases that are counts.",
    i = "Use {.code model = dawid_skene()} and such weights, or give matrices of probabilities.",
    call = NULL)
}

# Raters x true categories: number of rated cases with known truth, including calibration samples.
known_by_truth <- function(fit) {
  x <- fit$x
  if (!is.null(fit$calibrated)) return(t(rowSums(fit$calibrated$counts)))
  n <- n_raters(x) * n_categories(x)
  rated <- unique(data.frame(pattern = rating_pattern(x), rater = rating_rater(x)))
  rated <- rated[known_patterns(fit)[rated$pattern], ]
  cell <- rated$rater + n_raters(x) * (fit$known$truth[rated$pattern] - 1L)
  matrix(rowsum_codes(cell, pattern_weights(x)[rated$pattern], n), n_raters(x))
}

# Number of cases with known truth for each coefficient; NA if there is none.
known_sizes <- function(fit) {
  x <- fit$x
  terms <- names(fit$coefficients)
  if (!rests_on_known(fit) || !weights_are_counts(x)) return(rep(NA_real_, length(terms)))
  size <- rowSums(known_by_truth(fit))[match(terms, rater_terms(x))]
  all <- terms %in% c(rate_terms(x), "rater_accuracy")
  size[all] <- sum(pattern_weights(x)[known_patterns(fit)])
  replace(size, size %in% 0, NA)
}

rests_on_known <- function(fit) any(known_patterns(fit)) || !is.null(fit$calibrated)

known_patterns <- function(fit) {
  truth <- fit$known$truth
  if (length(truth) > 0L) truth > 0L else logical(n_patterns(fit$x))
}

is_known_rater <- function(fit, field = "raters") {
  known <- fit$known[[field]]
  if (length(known) > 0L) lengths(known) > 0L else logical(n_raters(fit$x))
}

# Raters with a calibration sample.
is_counted_rater <- function(fit) is_known_rater(fit, "counts")

# Patterns with ratings or a known truth.
judged_patterns <- function(fit) fit$judged %||% (rated_patterns(fit$x) | known_patterns(fit))

# Number of cases that each gold case represents, the inverse of its probability of being chosen.
drawn_weight <- function(gold, rows) {
  if (is.null(gold$probability)) rep(1, length(rows)) else 1 / gold$probability[rows]
}

#' Ratings with known truth
#'
#' Stores true categories of cases in a ratings object, from real data or a user-defined simulation.
#' [truth()] returns them, [true_accuracy()] computes the accuracy of systems, and
#' [calibration()] of a [ground_truth()] needs no further `truth`. Estimates do not use them, unless
#' they are also given to [fit_raters()] or [estimate_accuracy()] as `known_truth`.
#'
#' @param x A [ratings()] object, or an object that [as_ratings()] can convert.
#' @param truth The true categories, which must be among those of `x`. Cases that are missing, or
#'   `NA`, are not known.
#'   * A vector of categories named by case.
#'   * A data frame with columns `case` and `truth` (or `category`).
#'   * A vector without names, in the order of the cases. [ratings()] must have got a row per case,
#'     and all cases of `x` must still be in that order.
#' @param expected Accuracies of systems in the population of cases, in \[0, 1\], which are known in
#'   simulations only. Named by system, or in the order of the systems of `x`. `NA` is not known.
#' @return `x`, with its truth. A truth that `x` contained before is replaced.
#' @family simulation
#' @seealso [simulation_study()] and [plan_cases()], which take functions that return such ratings.
#' @examples
#' # Four raters, and a system whose answers are used as the truth
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' x <- with_truth(x, lehner2015$system)
#' truth(x)
#' calibration(ground_truth(x), bins = 4)
#'
#' # A user-defined simulation: raters who tire
#' tired <- function(n) {
#'   truth <- sample(c("no", "yes"), n, replace = TRUE)
#'   other <- ifelse(truth == "no", "yes", "no")
#'   right <- function(p) ifelse(runif(n) < p, truth, other)
#'   tiring <- seq(0.9, 0.6, length.out = n)
#'   x <- data.frame(a = right(tiring), b = right(tiring), c = right(0.8), system = right(0.9))
#'   with_truth(ratings(x, raters = a:c, systems = system), truth, expected = 0.9)
#' }
#' set.seed(1)
#' true_accuracy(tired(100))
#' @export
with_truth <- function(x, truth, expected = NULL) {
  check_given()
  x <- as_ratings(x)
  code <- case_truth(truth, x)
  abort_argument_if(all(is.na(code)), "truth", "must be known for at least one case.",
    x = "It is missing for all {length(code)} case{?s}.")
  shares <- tabulate(code, n_categories(x)) / sum(!is.na(code))
  x$truth <- list(
    category = code, expected = check_expected(expected, x$systems),
    base_rates = setNames(shares, x$categories)
  )
  x
}

# The number of the true category of each case, NA if it is not known.
case_truth <- function(truth, x) {
  in_order <- is.atomic(truth) && !is.null(truth) && is.null(names(truth)) && is.null(dim(truth))
  if (!in_order) {
    code <- check_known_truth(truth, x, "truth")
    return(replace(code, code == 0L, NA))
  }
  if (in_database(x)) abort_no_cases("A truth is one of each case")
  lack <- why_no_order(truth, x)
  abort_argument_if(lack, "truth",
    "must have a category for each case of {.arg x}, or name the cases.", x = lack)
  truth_codes(as_label(truth), x$categories, "truth")
}

check_expected <- function(expected, systems) {
  expected <- expected %||% rep(NA_real_, length(systems))
  if (is.logical(expected) && all(is.na(expected))) expected <- expected + 0
  ok <- is.numeric(expected) && length(expected) == length(systems) &&
    all(is.na(expected) | (expected >= 0 & expected <= 1))
  place <- if (is.null(names(expected))) seq_along(systems) else match(systems, names(expected))
  abort_argument_if(!ok || anyNA(place), "expected",
    "must be a probability in [0, 1] for each system of {.arg x}, or NULL.",
    x = if (ok) "It names {.val {names(expected)}}." else "It is {describe(expected)}.",
    i = if (length(systems) > 0L) "Systems are {.val {systems}}.")
  setNames(as.double(expected)[place], systems)
}

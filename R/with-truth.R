#' Ratings whose truth is known
#'
#' Stores the true categories of cases with their ratings, real or simulated by a program of your
#' own. [truth()] gives them back, [true_accuracy()] says how accurate systems are, and
#' [calibration()] of a [ground_truth()] needs no further `truth`. Estimates do not see it: where
#' they should, give it to [fit_raters()] or [estimate_accuracy()] as `known_truth`.
#'
#' @param x A [ratings()] object, or what [as_ratings()] makes ratings of.
#' @param truth The true categories, which must be among those of `x`: categories with the
#'   cases as names; a data frame with columns `case` and `truth` (or `category`); or a vector
#'   without names in the order of the cases, if [ratings()] got a row per case and all cases of `x`
#'   are still in that order. `NA`, or a case that is left out, is not known.
#' @param expected Accuracies of systems over all cases that might have been drawn, in \[0, 1\], as
#'   only a simulation knows them: named by system, or in the order of the systems of `x`. `NA` is
#'   not known.
#' @return `x`, with its truth. What it carried before is replaced.
#' @family simulation
#' @seealso [simulation_study()] and [plan_cases()], which take functions that return such ratings.
#' @examples
#' # Four raters, and a system whose answers stand in for the truth
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' x <- with_truth(x, lehner2015$system)
#' truth(x)
#' calibration(ground_truth(x), bins = 4)
#'
#' # A world of one's own: raters who tire
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
    base_rates = stats::setNames(shares, x$categories)
  )
  x
}

# The number of the true category of each case, NA where it is not known.
case_truth <- function(truth, x) {
  in_order <- is.atomic(truth) && !is.null(truth) && is.null(names(truth)) && is.null(dim(truth))
  if (!in_order) {
    code <- check_known_truth(truth, x, "truth")
    return(replace(code, code == 0L, NA))
  }
  if (in_database(x)) abort_no_cases("A truth is one of each case")
  lack <- lack_of_order(truth, x)
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
  stats::setNames(as.double(expected)[place], systems)
}

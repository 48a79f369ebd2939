#' Simulated panels
#'
#' Draws the answers of raters and systems to cases whose true category is known. All that a design
#' does not fix is drawn again for each panel, from R's random numbers.
#'
#' @srrstatsNA {UL2.1} ratings are not transformed
#' @srrstatsNA {UL7.5, UL7.5a} nothing is fitted in batches
#' @param design A [rater_design()].
#' @param n Number of cases, at least 1.
#' @param rater_kind What the raters shall pass for, as in [ratings()], which decides the intervals
#'   of accuracies; nothing else depends on it.
#' @return A [ratings()] object that also carries its truth; see [truth()]. It has all categories of
#'   the design, used or not, and cases are numbered from 1.
#' @family simulation
#' @templateVar where Performance and robustness
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3))
#' x
#' true_accuracy(x)
#' estimate_accuracy(x)
#' @export
simulate_ratings <- function(design, n = design$n, rater_kind = NULL) {
  check_given()
  check_design(design)
  check_panel_memory(design, check_count(n, "n"))
  rater_kind <- check_rater_kind(rater_kind)
  x <- as_panel(design, draw_panel(design, n))
  x$rater_kind <- settle_kinds(rater_kind, x)
  x
}

# What the core draws: truth, stratum, answers (a column per rater, then per system; 0 is missing),
# base_rates, expected, matrices (by stratum within judge). An item is one of a seed's many panels.
draw_panel <- function(design, n, seed = draw_seed(), item = 0) {
  core_simulate(unclass(design), n, seed, item)
}

as_panel <- function(design, drawn) {
  labels <- design$categories
  columns <- lapply(drawn$answers, function(code) {
    factor(labels[replace(code, code == 0L, NA)], levels = labels)
  })
  raters <- names(design$raters)
  systems <- if (n_systems(design) > 0L) names(design$systems)
  x <- withr::with_options(list(fallible.quiet = TRUE), ratings( # who rates is drawn
    list2DF(stats::setNames(columns, c(raters, systems))),
    raters = !!raters, systems = !!systems, categories = labels, ordered = is_ordered(design)
  ))
  x$covariates <- design$covariates[drawn$stratum, ] # NULL stays NULL
  x$truth <- list(
    category = drawn$truth, stratum = drawn$stratum,
    expected = stats::setNames(drawn$expected, names(design$systems)),
    base_rates = stats::setNames(drawn$base_rates, labels)
  )
  x
}

check_design <- function(design) {
  check_class(design, "rater_design", "design", "Make one with {.fun rater_design}.")
}

#' What is true of a panel
#'
#' @param x A [simulate_ratings()] or [with_truth()] result, or [ratings()] with `truth`; or some of
#'   its cases, as in `x[1:10, ]`.
#' @param systems Names of systems; `NULL` for all.
#' @return `truth()`: a tibble with a row per case: `case` and `category`, a factor, `NA` where the
#'   truth is not known. `true_accuracy()`: a tibble with a row per system: `system`; `expected`,
#'   the probability of a correct answer, copying included, whatever cases were drawn or kept, and
#'   `NA` where it is unknown; and `sample`, the share of correct answers (by weight, if cases have
#'   weights) among the cases of `x` with an answer and a known truth.
#' @family simulation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.7), systems = c(a = 0.8, b = 0.9)), n = 20)
#' truth(x)
#' true_accuracy(x)
#' @export
truth <- function(x) {
  check_given()
  check_truth(x)
  tibble::tibble(case = x$cases, category = category_factor(x$truth$category, x))
}

#' @rdname truth
#' @export
true_accuracy <- function(x, systems = NULL) {
  check_given()
  check_truth(x)
  x <- choose_systems(x, systems)
  tibble::tibble(
    system = x$systems, expected = unname(x$truth$expected), sample = sample_accuracy(x)
  )
}

# The share of right answers of each system.
sample_accuracy <- function(x) {
  answer <- case_answers(x)
  weight <- weights_of_cases(x) * !is.na(x$truth$category)
  right <- colSums((answer == x$truth$category) * weight, na.rm = TRUE)
  unname(as.double(ratio(right, colSums((answer > 0L) * weight))))
}

check_truth <- function(x) {
  check_ratings(x)
  abort_argument_if(is.null(x$truth), "x", "The truth of the cases of {.arg x} is not known.",
    i = "{.fun simulate_ratings}, {.fun with_truth} and {.fun ratings} with {.arg truth} make
        ratings that carry it; for estimates, see {.fun ground_truth} and
        {.fun estimate_accuracy}.")
}

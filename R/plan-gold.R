#' How many cases to label, and which
#'
#' Finds for how many cases the truth must be known ("gold" cases), so that an interval has a given
#' half-width, with and without the help of ratings, and draws these cases.
#'
#' @section What is assumed:
#' Ratings predict for every case how probably an answer is right. The more such predictions vary
#' between cases, the more of the variance of being right they explain, and the fewer gold cases
#' are needed: a share `1 - r^2` of those without ratings, if `r` is the correlation of predictions
#' with the truth. Ratings alone give `r` roughly: `r^2` is taken to be the square of `v / (m (1 -
#' m))`, with `m` and `v` the mean and the variance of the predictions, and at most .9. In real data
#' sets it was off by a standard deviation of .20, which gives the range of the answer. Such a plan
#' is a first guess: label a pilot of 30 random cases, and plan again.
#'
#' @section With a pilot:
#' Given an estimate with gold cases that are a sample, a plan for an accuracy uses the accuracy and
#' the worth of ratings that these have measured. There is no range then. Gold cases count, are left
#' out of the draw, and the plan says how many more are needed. Since measured values are estimates,
#' one round reaches the half-width in .52 to .83 of cases. Plan again after each round: in
#' simulations with pilots of 25 to 50 cases it took 1.3 to 1.8 rounds, and 90% intervals covered
#' .89 to .93. If the gold cases contradict the estimate from ratings, there is no combined interval
#' to plan for.
#'
#' If pilot and draw are both random, so are all of them together:
#' `update(estimate, known_truth = new)`, with columns `case` and `truth`, adds them to the
#' estimate. Otherwise, or if the pilot has a column `probability`, estimate again, with
#' `rbind(tidy(plan, "labelled"), new)` as `known_truth`, where `new` is `augment(plan)` with its
#' truths. It has the probability of each case to be drawn in either round:
#' `1 - (1 - m0 / N) (1 - p)` after `m0` random ones of `N` cases.
#'
#' @section One rater:
#' Without gold cases the ratings of one rater do not show what they are worth. The plan assumes
#' that they are worth nothing, and that the share of its ratings that equal the answer of the
#' system is the accuracy. In 139 tables of a rater and a real data set, a label with the rater's
#' verdict was worth 1.58 labels (median; quartiles 1.06 and 4.29). Cases are drawn at random unless
#' `choice` is given.
#'
#' A single judge saves at most half of the labels if it is no more accurate than the system
#' (Dorner, Nastl and Hardt 2025). Several whose errors are independent may save more: in
#' simulations with an accuracy of .9, a label with ratings by 1, 3 and 5 of them was worth 1.6, 5.7
#' and 18 labels without. Raters of real data, who share errors, saved far less: the median worth
#' was 1.66.
#'
#' @section Intervals:
#' `"corrected"` intervals are from gold cases and the predictions of ratings, and are valid however
#' many errors raters and systems share. `"combined"` ones also use the estimate from ratings alone,
#' as far as gold cases do not contradict it; they are never planned with fewer than
#' `r fewest_contradicting` cases, which are enough to contradict it. `"gold alone"` is Wilson's
#' interval. How many cases are needed depends on the accuracy and on how well ratings predict, and
#' shared errors make both uncertain. So as many cases are drawn as the upper end of the range says:
#' it takes the lowest likely worth of the ratings, of the accuracies with independent and with
#' shared errors the one that needs more cases, and no help from the estimate from ratings alone.
#' For the `"population"` an interval cannot be narrower than if all cases of `x` were gold.
#'
#' @section Which cases:
#' With `choice = "stratified"` cases are put into four strata by how uncertain the ratings leave
#' the answer, and more are drawn where they are less certain (Neyman's allocation, with each
#' stratum at least .3 of the mean, since raters may agree and be wrong). On real data random cases
#' needed 1.17 times as many labels for intervals of the same width; at worst, 1.06 times fewer.
#' `"active"` draws each case with a probability of its own. Cases with the same ratings have the
#' same probability.
#'
#' `augment()` gives the list of the cases to label. Fill in its column `truth`, and give it to
#' [estimate_accuracy()] as `known_truth`: it has the probabilities, without which the estimate
#' would be biased. With weights that are counts, and in databases, the label of a row counts for as
#' many cases as the row stands for, so that fewer rows are drawn than gold cases are planned. For
#' ratings in a database `dplyr::collect()` fetches the cases to draw from. For a difference only
#' cases on which the two answers differ are drawn; for precision, those with the answer; such a
#' list says nothing about the accuracy of a system.
#'
#' @param x A [ratings()] object with systems, or the result of [estimate_accuracy()], best with
#'   gold cases (a pilot).
#' @param half_width Half the width that the interval is to have, in (0, 0.5).
#' @param of What is to be measured: the `"accuracy"` of each system, the `"difference"` of the
#'   accuracies of two, or their `"recall"` or `"precision"` of one `category`.
#' @param systems Names of systems; `NULL` for all (the first two for a difference). The list of
#'   cases serves all of them.
#' @param category The category of `"recall"` or `"precision"`.
#' @param gold Number of gold cases (in all, with those of a pilot), if it is fixed: the plan then
#'   has the half-width that it gives.
#' @param interval The interval to plan for: `"combined"` or `"corrected"`. `NULL` is the one that
#'   [estimate_accuracy()] would give: that of `x`, if it has one of these; otherwise `"combined"`
#'   for an accuracy, `"corrected"` for all else. If the interval of `x` contains sampling error
#'   alone, there is no combined one.
#' @param target Is the interval for the `"population"` that the cases of `x` are a sample of, or
#'   for these `"cases"` themselves?
#' @param conf_level Probability with which the interval is meant to cover, in (0, 1).
#' @param choice How cases are drawn: `"stratified"`, the default for several raters, `"active"`, or
#'   `"random"`, the default for one.
#' @param cost Costs of a gold label and of a rating, such as `c(gold = 20, rating = 1)`. With them
#'   the plan says whether one more rater for every case would cost less than the labels it saves,
#'   and which numbers of labels and ratings would cost least (Angelopoulos et al. 2025).
#' @param ... Not used.
#' @return An object of class `gold_plan` with methods for `print()`, [tidy()][tidy.gold_plan],
#'   [glance()][tidy.gold_plan], [augment()][tidy.gold_plan] and [autoplot()][autoplot.gold_plan].
#' @family estimation
#' @seealso [plan_cases()] for the number of cases and raters where no truth is known.
#' @references Angelopoulos, A. N., Eisenstein, J., Berant, J., Agarwal, A. and Fisch, A. (2025).
#'   Cost-optimal active AI model evaluation. *arXiv* 2506.07949.
#'
#'   Dorner, F. E., Nastl, V. Y. and Hardt, M. (2025). Limits to scalable evaluation at
#'   the frontier: LLM as judge won't beat twice the data. *International Conference on Learning
#'   Representations*.
#'
#'   Neyman, J. (1934). On the two different aspects of the representative method. *Journal of the
#'   Royal Statistical Society*, 97, 558-625.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' plan <- plan_gold(x, half_width = 0.05)
#' plan
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(plan)
#' augment(plan)
#' @export
plan_gold <- function(x, half_width = 0.05, of = c("accuracy", "difference", "recall", "precision"),
                      systems = NULL, category = NULL, gold = NULL,
                      interval = NULL, target = c("population", "cases"),
                      conf_level = default_conf_level(),
                      choice = c("stratified", "active", "random"),
                      cost = NULL, ...) {
  check_given()
  check_dots_empty(...)
  estimate <- as_planned_estimate(x)
  x <- estimate$fit$x
  of <- check_choice(of)
  settings <- list(
    half_width = check_number(half_width, "half_width", 0, 0.5, open_min = TRUE, open_max = TRUE),
    of = of, systems = check_planned_systems(systems, x, of),
    category = if (of %in% c("recall", "precision")) check_planned_category(category, x),
    category_label = category,
    gold = if (!is.null(gold)) as.double(check_count(gold, "gold", max = count_cases(x))),
    interval = planned_interval(interval, estimate, of), target = check_choice(target),
    conf_level = check_level(conf_level),
    choice = if (missing(choice) && n_raters(x) == 1L) "random" else check_choice(choice),
    cost = if (!is.null(cost)) check_cost(cost, c(gold = NA, rating = NA))
  )
  quantities <- planned_quantities(estimate, predict_categories(x), settings)
  each <- function(rows) stack_rows(quantities, rows, settings = settings)
  table <- each(gold_rows)
  new_gold_plan(list(
    answer = table, curve = each(gold_curve),
    costs = gold_costs(table, quantities, estimate, settings),
    chosen = with_one_seed(choose_gold(table, quantities, estimate, settings)),
    cases = max(vapply(quantities, function(quantity) quantity$of$cases, 0)), settings = settings,
    in_database = in_database(x), raters = n_raters(x), reruns = rerun_words(estimate)
  ))
}

as_planned_estimate <- function(x) {
  if (inherits(x, "accuracy_estimate")) return(x)
  check_class(x, "ratings", "x", "Make one with {.fun ratings}.")
  votes <- with_votes(x)
  # One rater alone gives no estimate, but its ratings predict that of gold cases.
  if (n_raters(votes) == 1L) return(list(fit = list(x = votes)))
  suppressWarnings(estimate_accuracy(x), classes = "fallible_warning")
}

# Of anything but an accuracy ratings alone have no error that is known well enough.
planned_interval <- function(interval, estimate, of) {
  if (of != "accuracy") return("corrected")
  intervals <- c("combined", "corrected")
  own <- c(intersect(estimate$options$interval, intervals), intervals)[[1L]]
  check_choice(interval %||% own, intervals, "interval")
}

check_planned_systems <- function(systems, x, of) {
  pair <- of == "difference"
  least <- if (pair) 2L else 1L
  abort_if(n_systems(x) < least, "system",
    "There {?is/are} no {least} system{?s} to plan for.",
    i = "Give {.arg systems} to {.fun ratings}.", system = x$systems)
  if (is.null(systems) && pair) systems <- x$systems[1:2]
  systems <- check_system_names(systems, x$systems)
  abort_argument_if(pair && length(systems) != 2L, "systems",
    "must be two names for a {.val difference}.", x = "It is {.val {systems}}.")
  match(systems, x$systems)
}

check_planned_category <- function(category, x) {
  at <- if (length(category) == 1L) match(as_label(category), x$categories)
  abort_argument_if(is.null(at) || is.na(at), "category",
    "must be one of {.val {x$categories}}.", not = category)
  at
}

#' Compare systems on the same cases
#'
#' Estimates differences of accuracy between pairs of systems (classifiers), with intervals, and the
#' probability that each system is the most accurate. The accuracies are estimated from ratings, the
#' categories that several raters gave to the same cases; true categories are not needed. All
#' systems are evaluated on the same cases, so part of their estimation errors is equal and cancels.
#'
#' @section Cases: Systems are compared on the rated cases that all of them answered. If this leaves
#' out cases, accuracies are estimated again from the remaining cases.
#'
#' @section Errors of differences:
#' How errors are computed depends on `method` and `interval` of [estimate_accuracy()].
#'
#' *Method `"average"` (the default), or robust intervals.* The error of an estimate has two parts.
#' One is sampling error; its correlation between two systems is computed from bootstrap replicates.
#' The other is an allowance for errors that systems share with the raters. Its correlation between
#' two systems is the third power of the share of cases with equal answers, a rule that was chosen
#' on public data with known truth.
#'
#' *Other methods and intervals.* Cases (or clusters of cases) are resampled, with the same
#' resamples for all systems. Intervals are percentiles of the differences, and probabilities of
#' ranks are shares of replicates. Both contain sampling error only. Posterior draws, if the
#' estimate has them, replace resamples.
#'
#' Call [set.seed()] before a comparison to repeat it exactly.
#'
#' @section Order of systems: Systems can also be ordered by the share of cases on which they agree
#' with the most frequent rating. If this order of two systems differs from the order of their
#' estimates, column `order_known` is `FALSE`, and you should treat their order as unknown. In 14
#' public data sources, the estimates were right for only 4 of 10 such pairs.
#'
#' @section Known truths: Gold cases are cases with known truth (argument `known_truth` of
#' [estimate_accuracy()]). If the estimate has a sample of gold cases, they also measure the
#' differences. The interval is of the same kind as in the estimate. Only gold cases on which two
#' systems gave different answers are informative about the difference. Ratings predict which system
#' is right on these cases, and gold cases correct the predictions.
#' * `"corrected"` intervals use gold cases and predictions, with quantiles of Student's t
#'   distribution.
#' * `"combined"` intervals also use the difference computed from ratings, as a prior.
#' * `"anytime"` intervals are wider, and valid at all numbers of gold cases simultaneously.
#'
#' For a pair of systems without gold cases, the difference is estimated from ratings only. To
#' measure a single difference, let [plan_gold()] draw cases to which the two systems gave different
#' answers.
#'
#' @section Groups: In an [estimate_accuracy()] result with groups of cases (argument `by`), such as
#' two versions of an application, groups are compared. Each group needs a random sample of gold
#' cases, because raters may rate one version more favourably. The interval of a difference is
#' computed from the `"corrected"` intervals of both groups by the method of Zou and Donner (2008).
#' The same clusters of cases, such as prompts in the example, may be in several groups. The
#' interval then allows for the correlation of errors over clusters, which usually makes it
#' narrower. With groups, `reference` is the name of a group, and `simultaneous` intervals use the
#' correction of Bonferroni. `best`, `metric`, `category` and `cost` cannot be used.
#'
#' The result has class `group_comparison`. `tidy()` returns a row per pair of groups and system:
#' `group1`, `group2`, `system`; `estimate`, the accuracy in the first group minus the accuracy in
#' the second; `std.error`, `conf.low`, `conf.high`; `probability`, the probability that the system
#' is more accurate in the first group; `correlation` of the errors in both groups; `n`, the number
#' of cases in both groups; `method`; `reason`, why a value is `NA`. `glance()` returns the numbers
#' of `groups`, `systems` and `differences`, and `method`, `conf_level` and `simultaneous`.
#' `autoplot()` draws the differences.
#'
#' @section Many pairs: With `simultaneous = TRUE`, the width of intervals is determined by the
#'   largest standardised error over all pairs in the replicates.
#'
#' At most 200,000 pairs can be compared: all pairs of about 600 systems. For more systems, use
#' `reference` or `best`. With more than 100 systems, bootstrap replicates of method `"joint"` are
#' first-order approximations (infinitesimal jackknife, Efron 1982).
#'
#' @references Efron, B. (1982). *The Jackknife, the Bootstrap and Other Resampling Plans*. SIAM.
#'
#'   Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
#'   general approach. *Statistics in Medicine*, 27(10), 1693-1702. \doi{10.1002/sim.3095}
#' @param x An [estimate_accuracy()] result with at least two systems, or with groups (see
#'   *Groups*). Or a [ratings()] object or a [fit_raters()] result, from which accuracies are
#'   estimated first.
#' @param systems Names of at least two systems to compare; `NULL`, the default, for all.
#' @param conf_level Confidence level of the intervals, in (0, 1); `NULL`, the default, for the
#'   level of the estimate.
#' @param simultaneous If `TRUE`, all intervals together cover their differences with probability
#'   `conf_level`. If `FALSE`, the default, each interval covers its difference with this
#'   probability.
#' @param reference Name of the system with which all others are compared, or `"best"` for the
#'   system with the highest estimate. `NULL`, the default, compares all pairs.
#' @param best Number `k` of systems: the `k` systems with the highest estimates are compared with
#'   each other and with all other systems, and only they have ranks. `NULL`, the default, compares
#'   all pairs. Cannot be combined with `reference`.
#' @param metric Name of the metric to compare, such as `"f_meas"`, see [system_metrics]; `NULL`,
#'   the default, for accuracy. With another metric, the best system has the highest value or, for
#'   errors and costs, the lowest. The estimate must be by method `"average"`, `"joint"` or
#'   `"shared"`, without gold cases. Prevalences, odds and likelihood ratios, `accuracy_all` and
#'   metrics of scores cannot be compared.
#' @param category For a metric of single categories, such as recall: the name of the category;
#'   `NULL`, the default, for the mean over categories (macro average).
#' @param cost For `metric = "loss"`: a matrix of costs, with true categories in rows and answers in
#'   columns. The default is `NULL`.
#' @param ... If `x` is ratings or a fit, arguments of [estimate_accuracy()].
#' @return An object of class `system_comparison` with methods for [tidy()][tidy.system_comparison],
#'   [glance()][tidy.system_comparison] and [autoplot()][autoplot.system_comparison]. `tidy()`
#'   returns a tibble with a row per pair of systems, `system1` and `system2`: `estimate`, the
#'   accuracy (or metric) of `system1` minus the same quantity of `system2`, with `std.error`,
#'   `conf.low` and `conf.high`; `probability`, the probability that `system1` is better; `n`, the
#'   number of cases; `method` of [estimate_accuracy()]; `order_known`, see *Order of systems*;
#'   `reason`, why a value is `NA`.
#'   `tidy(x, "ranks")` returns probabilities of ranks (1 is the best), without `reference`.
#' @family comparisons
#' @seealso [confusion()] for the categories in which systems differ.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.75, c = 0.5)))
#' estimate <- estimate_accuracy(x, method = "joint", resampling = list(replicates = 200))
#' comparison <- compare_systems(estimate)
#' comparison
#' # The probability of each rank
#' tidy(comparison, what = "ranks")
#'
#' # Compare all systems with system a
#' compare_systems(estimate, reference = "a")
#'
#' # Compare the mean of the F measure over categories
#' compare_systems(estimate, metric = "f_meas")
#'
#' # Two versions of an application, rated by one language model, with 120 gold cases
#' data <- data.frame(
#'   id = 1:800, version = rep(c("old", "new"), each = 400), prompt = rep(1:400, 2),
#'   right = runif(800) < rep(c(0.7, 0.8), each = 400)
#' )
#' data$judge <- ifelse(runif(800) < 0.9, data$right, !data$right)
#' versions <- ratings(data,
#'   raters = judge, case = id, systems = c(app = "TRUE"), covariates = c(version, prompt),
#'   rater_kind = "model"
#' )
#' labelled <- data$id[data$prompt %in% sample(400, 60)]
#' by_version <- estimate_accuracy(versions,
#'   by = version, resampling = list(cluster = "prompt"),
#'   known_truth = stats::setNames(data$right, data$id)[labelled], gold_sample = "random"
#' )
#' compare_systems(by_version, reference = "old")
#' @export
compare_systems <- function(x, systems = NULL, conf_level = NULL, simultaneous = FALSE,
                            reference = NULL, best = NULL, metric = NULL, category = NULL,
                            cost = NULL, ...) {
  check_call(dots = NULL)
  if (inherits(x, "results_by_variable") || is_variables(x)) return(map_variables(unclass(x)))
  if (!inherits(x, c("accuracy_estimate", "accuracy_by_group"))) {
    if (!inherits(x, "rater_fit")) x <- as_ratings(x)
    return(with_one_seed(compare_systems(estimate_accuracy(x, ...), systems, conf_level,
      simultaneous, reference, best, metric, category, cost)))
  }
  check_dots_empty(...)
  has_groups <- inherits(x, "accuracy_by_group")
  estimate <- if (has_groups) x else check_estimate(x)
  check_flag(simultaneous, "simultaneous")
  conf_level <- check_level(conf_level %||% first_single_result(estimate)$options$conf_level)
  if (has_groups) {
    return(compare_groups(estimate, systems, conf_level, simultaneous, reference,
      unusable_arguments = mget(c("best", "metric", "category", "cost"))))
  }
  systems <- check_system_names(systems, estimate$table$system)
  abort_if(length(systems) < 2L, "system", "A comparison needs at least two systems.",
    x = "There is only {.val {systems}}.",
    i = "If the answers of each version of a system are a group of cases, compare the groups:
        {.code compare_systems(estimate_accuracy(x, by = version))}.", system = systems)
  reference_or_best <- check_reference_and_best(reference, best, systems)
  metric_settings <- check_compared_metric(metric, category, cost, estimate)
  gold <- estimate$gold
  has_gold <- !is.null(gold)
  # Simultaneous intervals need the joint distribution of all errors. With gold cases, this
  # distribution is computed from the errors of all pairs.
  abort_argument_if(has_gold && simultaneous && !is.null(reference_or_best), "simultaneous",
    "can be {.code TRUE} only if all pairs are compared, because the estimate has gold cases.",
    i = "Leave out {.arg reference} and {.arg best}. To compare only some systems, name them in
        {.arg systems}.")
  # Bootstrap replicates have a stored seed. Other draws need a seed from the user's random stream:
  # draws of errors that systems share with raters, and draws with gold cases.
  interval_record <- interval_with_draws(estimate)
  run_with_seed <- if (interval_record$hidden || has_gold) with_one_seed else identity
  comparison <- run_with_seed({
    ratings_estimate <- estimate_on_common_cases(undo_gold_correction(estimate), systems)
    ratings_estimate <- replace_accuracy_by_metric(ratings_estimate, metric_settings)
    measured_estimate <- ratings_estimate
    measured_estimate$options$interval <- estimate$options$interval
    measured_estimate <- correct_by_gold(measured_estimate, gold)
    pairs <- compared_pairs(measured_estimate$table$estimate, systems, reference_or_best)
    comparison <- compare_by_ratings(
      ratings_estimate, pairs, conf_level, simultaneous && !has_gold
    )
    comparison$options$simultaneous <- simultaneous
    comparison$options$judges <- describe_raters_and_truth(estimate)
    comparison$options$followers <- find_followers(measured_estimate)
    comparison$options$reservations <- limitation_sentences(estimate, "the systems share")
    if (has_gold) compare_with_gold(comparison, measured_estimate, pairs) else comparison
  })
  new_comparison(comparison_on_metric_scale(comparison, metric_settings))
}

# Compares systems by ratings, without gold cases. Returns the list that new_comparison() takes.
# `pairs`: a result of compared_pairs().
compare_by_ratings <- function(estimate, pairs, conf_level, simultaneous) {
  draws <- comparison_draws(estimate, pairs)
  interval <- interval_with_draws(estimate)
  differences <- difference_table(estimate, pairs, draws, conf_level, simultaneous)
  ranks <- rank_table(estimate$table$system[pairs$ranked_systems], draws$ranked_draws)
  # Is column `order_known` (see is_order_known()) TRUE in all pairs with the system?
  ranks$known <- map_lgl(ranks$system, function(system) {
    all(differences$order_known[differences$system1 == system | differences$system2 == system])
  }, USE.NAMES = FALSE)
  list(
    accuracy = estimate$table[c("system", "estimate")], differences = differences, ranks = ranks,
    left_out = estimate$left_out,
    options = list(
      method = estimate$options$method, words = estimator_words(estimate),
      replicates = draws$replicates, conf_level = conf_level,
      simultaneous = simultaneous, clusters = draws$clusters, robust = interval$hidden,
      machines = rests_on_machines(estimate) && is.null(estimate$drawn_gold),
      metric = if (is_pass_rate(estimate)) "pass rate", drawn = interval$drawn,
      allowance = if (interval$hidden) describe_hidden_error(estimate) else " alone",
      against = pairs$reference_or_best
    )
  )
}

# Returns `x` if it is an accuracy estimate that can be compared. Raises an error if `x` is not an
# estimate, or if `x` was estimated from the ratings of a single judge (see fit_one_judge()).
check_estimate <- function(x) {
  check_class(x, "accuracy_estimate", "x", "Make one with {.fun estimate_accuracy}.")
  check_not_one_judge(x$fit)
  x
}

# Estimates the accuracy of `systems` (names) again, from the cases that all of them answered.
# Returns the estimate. Its element `left_out` is the number of cases that only some systems
# answered.
estimate_on_common_cases <- function(estimate, systems) {
  x <- estimate$fit$x
  system_numbers <- match(systems, x$systems)
  answers <- pick_columns(x$patterns$answer, system_numbers)
  is_answered <- answers > 0L & is_usable_pattern(estimate$fit)
  is_common <- rowSums(is_answered) == length(system_numbers)
  n_left_out <- as.double(count_cases(x, rowSums(is_answered) > 0L & !is_common))
  abort_if(count_cases(x, is_common) == 0, "system",
    "No case was answered by all of these systems and rated by a rater.",
    x = "Systems are {.val {systems}}.", i = "Compare fewer systems, with {.arg systems}.",
    system = systems)
  if (n_left_out > 0 || !identical(systems, x$systems)) {
    answers[!is_common, ] <- 0L
    x$patterns$answer <- answers
    x$systems <- systems
    estimate <- estimate_again(estimate, join_patterns(x))
  }
  estimate$left_out <- n_left_out
  estimate
}

# Computes an estimate again with the same model and options. `x`: the same ratings with other
# answers of systems.
estimate_again <- function(estimate, x) {
  if (!is.null(estimate$cells)) {
    return(estimate_from_draws(estimate$fit, x, estimate$options, estimate$drawn_gold))
  }
  fit <- replace_answers(estimate$fit, x)
  options <- estimate$options
  if (!is.null(options$method_record)) return(fit_and_run_function(x, options))
  # Comparisons do not use intervals that treat systems separately (without joint draws), so such an
  # interval is not computed again. The exception is option `deviance`, with which the computation
  # of the interval also improves the estimate, see profile_interval().
  if (is.null(interval_of(estimate)$draws) && is.null(options$deviance)) {
    options$interval <- interval_none$id
  }
  options$deviance <- NULL
  without_warnings(estimate_systems(fit, options$cluster, NULL, options))
}

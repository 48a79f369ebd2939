#' Compare systems on the same cases
#'
#' Estimates differences of accuracy between pairs of systems, with intervals, and the probability
#' that each system is the most accurate. All systems are evaluated by the same raters on the same
#' cases, so part of their errors is equal and cancels. A difference is therefore more precise than
#' a difference of estimates from separate studies.
#'
#' @section Cases:
#' Systems are compared on rated cases that all of them answered, because other cases may be easier
#' or harder. If some cases are left out, accuracies are estimated again from the remaining cases,
#' which takes as long as the original estimate. The model of raters is not fitted again. The result
#' reports the number of cases left out.
#'
#' @section Errors of differences:
#' With method `"average"` (the default) or robust intervals (see [estimate_accuracy()]), the
#' sampling error of each system is that of its estimate. The correlation between the sampling
#' errors of two systems is computed from replicates of method `"joint"` (or of the method of the
#' estimate). As in robust intervals, a further error is added, because systems may make the same
#' errors as the raters (shared errors). Its correlation between two systems is the third power of
#' the share of cases with equal answers: .73 if nine of ten answers are equal, .13 if half are.
#' This rule was chosen on public data with known truth. It is approximate, because few of these
#' data sets have several systems. If shared errors were assumed to cancel, coverage would be too
#' low.
#'
#' With other methods and intervals, cases (or the clusters of the estimate) are resampled, with the
#' same resamples for all systems, and everything is estimated again. Bootstrap replicates of the
#' estimate are used if it has them. Intervals are percentiles of the differences, and probabilities
#' of ranks are shares of replicates; equal systems share a rank. Both then allow for sampling error
#' only.
#'
#' Replicates are random. To repeat a comparison exactly, call [set.seed()] before it.
#'
#' @section Order of systems:
#' If the estimate and the agreement with the plurality of raters (the most frequent rating of a
#' case) order two systems differently, the estimate is often wrong: in 14 public data sources, it
#' was right in 4 of 10 such pairs. Column `order_known` of [tidy()][tidy.system_comparison] is then
#' `FALSE`: treat the order as unknown.
#'
#' @section Known truths: If the estimate has gold cases (cases with known truth, `known_truth` of
#' [estimate_accuracy()]), they also measure the differences. The kind of interval is that of the
#' estimate. If two systems gave a case the same answer, their difference is zero for any truth, so
#' only gold cases with different answers are informative. Ratings predict which system is right on
#' these cases, and gold cases correct the predictions. `"corrected"` intervals use quantiles of
#' Student's t distribution. `"combined"` uses the difference from ratings only as a prior. Let `d`
#' be the share of cases with different answers. The prior is a mixture of a normal distribution and
#' a flat part from `-d` to `d`; its standard error for shared errors is at least `d / 10`. Each
#' pair is measured separately. Ranks and simultaneous intervals need joint errors of all systems:
#' classical scaling chooses errors whose differences have the variances of the pairs. Both are `NA`
#' if a pair has no interval. For a pair without gold cases, the difference from ratings only is
#' reported.
#'
#' If only a difference matters, let [plan_gold()] draw cases with different answers. In public and
#' simulated panels with 50 random gold cases, `"corrected"` 90% intervals were .76 times the width
#' of intervals from gold only (coverage .92), and .49 times with 50 gold cases with different
#' answers (coverage .91).
#'
#' @section Groups: For a result of [estimate_accuracy()] with `by`, groups are compared with each
#' other, for example two versions of an application. Both groups need gold cases. Differences from
#' ratings only are not reported, because raters may rate one version more favourably. Estimates of
#' the groups are those of interval `"corrected"`. The interval of the difference is constructed
#' from both intervals (Zou and Donner 2008). If the estimate has clusters (`resampling =
#' list(cluster = "prompt")`), clusters that groups have in common are paired. The correlation of
#' errors over these clusters narrows the interval; it is shrunk towards 0 with the weight of ten
#' gold cases. Results are of class `group_comparison`: `tidy()` has columns `group1`, `group2`,
#' `system`, `estimate` (the first group minus the second), `std.error`, `conf.low`, `conf.high`,
#' `probability` (that the first is better), `correlation`, `n`, `method` and `reason`. Argument
#' `reference` is then the name of a group. The error probability of `simultaneous` intervals is
#' divided by their number (Bonferroni). In simulations (50 gold cases in each of two versions, 2000
#' panels), the coverage of 90% intervals was .91 without and .92 with paired clusters.
#'
#' @section All pairs at once:
#' With many pairs, some intervals miss the true difference by chance, and the highest estimate is
#' likely to be too high. With `simultaneous = TRUE`, the intervals cover all differences at once
#' with probability `conf_level`. Their width is determined by the largest studentised deviation of
#' all pairs in the replicates. Ranks need no such correction. There are no p-values: a difference
#' is significant if its interval excludes zero.
#'
#' @section Many systems: At most 200,000 pairs can be compared, which are all pairs of about 600
#' systems. For more systems, use one of two arguments. `reference` compares each system with one
#' system; there are no ranks. `best = k` compares the `k` systems with the highest estimates with
#' each other and with all other systems. In each pair, the system with the higher estimate is the
#' first. Ranks are ranks among the `k` systems. Choose `k` before you look at results. The highest
#' of many estimates is likely to be too high. `simultaneous = TRUE` allows for that.
#'
#' With more than 100 systems, replicates of method `"joint"` are first-order approximations
#' (infinitesimal jackknife, Efron 1982), for which no model is fitted again. Systems are processed
#' in blocks. Shared errors of two systems in different blocks are correlated only if the two are
#' compared, which makes simultaneous intervals slightly wider.
#'
#' @references Efron, B. (1982). *The Jackknife, the Bootstrap and Other Resampling Plans*. SIAM.
#'
#'   Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
#'   general approach. *Statistics in Medicine*, 27(10), 1693-1702. \doi{10.1002/sim.3095}
#' @param x An [estimate_accuracy()] result with at least two systems, or with groups (`by`). Or
#'   [ratings()] or a [fit_raters()] result, from which accuracies are estimated first. For several
#'   variables, each variable has a separate comparison.
#' @param systems Names of the systems to compare; `NULL`, the default, for all.
#' @param conf_level Confidence level of the intervals, in (0, 1); `NULL`, the default, for that of
#'   the estimate.
#' @param simultaneous Should intervals cover all differences at once? By default `FALSE`.
#' @param reference Name of the system with which all others are compared, or `"best"` for the
#'   system with the highest estimate (unless a system has this name). `NULL`, the default, compares
#'   all pairs.
#' @param best `NULL` (the default), or the number of systems with the highest estimates that are
#'   compared with each other and with all others. It cannot be combined with `reference`.
#' @param metric The metric to compare, one of [system_metrics]; `NULL`, the default, for accuracy.
#'   The best ("most accurate") system has the highest value or, for costs, the lowest. The method
#'   must estimate the joint table of truth and answer, with robust or bootstrap intervals (see
#'   [estimate_metrics()]).
#' @param category For a metric of single categories, such as recall: the category; `NULL`, the
#'   default, for the macro average over categories.
#' @param cost For `metric = "loss"`: the costs of errors, see [estimate_metrics()].
#' @param ... For ratings and fits, arguments of [estimate_accuracy()]; otherwise not used.
#' @return An object of class `system_comparison` with methods for `print()`,
#'   [tidy()][tidy.system_comparison], [glance()][tidy.system_comparison], `as.data.frame()` and
#'   [autoplot()][autoplot.system_comparison].
#' @family estimation
#' @seealso [confusion()] for the categories in which systems differ.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.75, c = 0.5)))
#' estimate <- estimate_accuracy(x, method = "joint", resampling = list(replicates = 200))
#' comparison <- compare_systems(estimate)
#' comparison
#' tidy(comparison, what = "ranks")
#'
#' # Compare all systems with system a
#' compare_systems(estimate, reference = "a")
#'
#' # By the macro average of F
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
      refused = mget(c("best", "metric", "category", "cost"))))
  }
  systems <- check_system_names(systems, estimate$table$system)
  abort_if(length(systems) < 2L, "system", "At least two systems are needed to compare.",
    x = "There is only {.val {systems}}.",
    i = "If the answers of each version of a system are a group of cases, compare the groups:
        {.code compare_systems(estimate_accuracy(x, by = version))}.", system = systems)
  against <- check_against(reference, best, systems)
  plan <- check_compared_metric(metric, category, cost, estimate)
  gold <- estimate$gold
  # With gold, each pair is measured separately. Simultaneous intervals need the joint distribution
  # of the errors of all estimates, which is computed from all pairs.
  abort_argument_if(!is.null(gold) && simultaneous && !is.null(against), "simultaneous",
    "needs a comparison of all pairs if the estimate has gold cases.",
    i = "Leave out {.arg reference} and {.arg best}. To compare only some systems, name them in
        {.arg systems}.")
  # Bootstrap replicates have a stored seed. Other draws advance the user's random stream by one
  # seed.
  interval <- interval_with_draws(estimate)
  evaluate <- if (interval$hidden || !is.null(gold)) with_one_seed else identity
  comparison <- evaluate({
    from_ratings <- on_common_cases(without_gold(estimate), systems)
    measured <- from_ratings <- replace_accuracy_by_metric(from_ratings, plan)
    if (!is.null(gold)) {
      measured$options$interval <- estimate$options$interval
      measured <- with_gold(measured, gold)
    }
    pairs <- compared_pairs(measured$table$estimate, systems, against)
    comparison <- compare_by_ratings(
      from_ratings, pairs, conf_level, simultaneous && is.null(gold)
    )
    comparison$options$simultaneous <- simultaneous
    comparison$options$judges <- judges_words(estimate)
    comparison$options$reservations <- reservations(estimate, "the systems share")
    if (is.null(gold)) comparison else compare_with_gold(comparison, measured, pairs)
  })
  new_comparison(comparison_on_metric_scale(comparison, plan))
}

# Compares systems from ratings only; see new_comparison() for the elements of the list it returns.
compare_by_ratings <- function(estimate, pairs, conf_level, simultaneous) {
  draws <- comparison_draws(estimate, pairs)
  interval <- interval_with_draws(estimate)
  differences <- difference_table(estimate, pairs, draws, conf_level, simultaneous)
  ranks <- rank_table(estimate$table$system[pairs$ranked], draws$ranked)
  # For each system: is the order known in all pairs with the system?
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
      allowance = if (interval$hidden) allowance_words(estimate) else " alone",
      against = pairs$against
    )
  )
}

# Checks that `x` is an estimate, and that it is not from the ratings of one judge only (see
# fit_one_judge()).
check_estimate <- function(x) {
  check_class(x, "accuracy_estimate", "x", "Make one with {.fun estimate_accuracy}.")
  check_not_one_judge(x$fit)
  x
}

# Returns the estimate of `systems` from the cases that all of them answered. Element `left_out` is
# the number of cases that only some of the systems answered.
on_common_cases <- function(estimate, systems) {
  x <- estimate$fit$x
  indices <- match(systems, x$systems)
  answered <- x$patterns$answer[, indices, drop = FALSE] > 0L & is_usable_pattern(estimate$fit)
  is_common <- rowSums(answered) == length(indices)
  left_out <- as.double(count_cases(x, rowSums(answered) > 0L & !is_common))
  abort_if(count_cases(x, is_common) == 0, "system",
    "No case was answered by all of these systems and rated by a rater.",
    x = "Systems are {.val {systems}}.", i = "Compare fewer at a time, with {.arg systems}.",
    system = systems)
  if (left_out > 0 || !identical(systems, x$systems)) {
    x$patterns$answer <- x$patterns$answer[, indices, drop = FALSE]
    x$patterns$answer[!is_common, ] <- 0L
    x$systems <- systems
    estimate <- estimate_again(estimate, join_patterns(x))
  }
  estimate$left_out <- left_out
  estimate
}

# Computes an estimate again, with the same model and options, for other answers of systems. `x`:
# ratings with these answers.
estimate_again <- function(estimate, x) {
  if (!is.null(estimate$cells)) {
    return(estimate_from_draws(estimate$fit, x, estimate$options, estimate$drawn_gold))
  }
  fit <- replace_answers(estimate$fit, x)
  options <- estimate$options
  if (!is.null(options$record)) return(function_estimate(x, options))
  # A comparison does not use intervals without draws, so they are not computed. But if a higher
  # maximum of the likelihood was found while the limits of the original interval were computed
  # (option `deviance`), the interval is computed, because this finds the maximum again.
  if (is.null(interval_of(estimate)$draws) && is.null(options$deviance)) {
    options$interval <- interval_none$id
  }
  options$deviance <- NULL
  without_warnings(estimate_systems(fit, options$cluster, NULL, options))
}

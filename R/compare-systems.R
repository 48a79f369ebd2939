#' Compare systems on the same cases
#'
#' Estimates differences of accuracy between pairs of systems, with intervals, and the probability
#' that each system is the most accurate. The same raters evaluate all systems on the same cases, so
#' part of the error is common and cancels. A difference is therefore more precise than one from
#' separate studies.
#'
#' @section Cases:
#' Systems are compared on rated cases that all of them answered; other cases may be easier or
#' harder. If this leaves out cases, accuracies are estimated again on the remaining cases, and the
#' result reports their number. Raters are not refitted. This takes as long as the original
#' estimate.
#'
#' @section Errors of differences:
#' Cases (or the clusters of the estimate) are resampled, with the same resamples for all systems,
#' and everything is estimated again. If the estimate has replicates, they are used. Intervals are
#' percentiles of the differences, and probabilities of ranks are shares of replicates; equal
#' systems share a rank. They cover sampling error only.
#'
#' For method `"average"`, and for robust intervals, each system has the sampling error of its
#' estimate. The correlation between the errors of two systems is that of replicates of the joint
#' estimate (or of the method's replicates). An allowance for errors shared with the raters is added
#' as in robust intervals. Its correlation between two systems is the third power of the share of
#' cases with equal answers: .73 if nine of ten answers are equal, .13 if half are. This rule was
#' chosen on public data with known truth. Few of these have several systems, so it is approximate.
#' Under the assumption that shared errors cancel, coverage was too low.
#'
#' @section Order of systems:
#' If the estimate and the agreement with most raters order two systems differently, the estimate
#' was right in 4 of 10 pairs (14 public sources). Column `order_known` of
#' [tidy()][tidy.system_comparison] is `FALSE` for these pairs: treat their order as unknown.
#'
#' @section Known truths:
#' If the estimate has gold cases (`known_truth` of [estimate_accuracy()]), these also measure the
#' differences, with the interval of the estimate. If two systems gave the same answer, the
#' difference is zero whatever the truth. So only gold cases on which they differ are informative.
#' Ratings predict which system is right on these cases, and gold corrects the predictions as for
#' accuracies. `"corrected"` has Student's interval. `"combined"` uses the difference from ratings
#' only as a prior. The prior is normal, with a flat part between minus and plus the share of cases
#' with different answers; its standard error for shared errors is at least .1 of that share. Each
#' pair is measured separately. Ranks, and intervals for all differences at once, come from errors
#' of systems with the variances of the pairs' differences (by classical scaling). Both are `NA` if
#' a pair has no interval. A pair without gold cases keeps the difference from ratings only.
#'
#' If only a difference matters, let [plan_gold()] draw cases with different answers. In public and
#' simulated panels, 50 random gold cases gave 90% intervals .76 as wide as intervals from gold only
#' (`"corrected"`; coverage .92). With 50 gold cases with different answers they were .49 as wide
#' (coverage .91).
#'
#' @section Groups:
#' A result of [estimate_accuracy()] with `by` is compared group by group, for example two versions
#' of an application with different answers. Both groups need gold cases. Differences from
#' uncorrected ratings are not reported, since raters may rate one version more favourably.
#' Estimates are the `"corrected"` ones. The interval of the difference is constructed from both
#' intervals (Zou and Donner 2008). If the estimate has clusters
#' (`resampling = list(cluster = "prompt")`), clusters that groups have in common are paired. The
#' correlation of errors over these clusters narrows the interval; it is shrunk towards 0 with the
#' weight of ten gold cases. Results are of class `group_comparison`: `tidy()` has columns `group1`,
#' `group2`, `system`, `estimate` (the first group minus the second), `std.error`, `conf.low`,
#' `conf.high`, `probability` that the first is better, `correlation`, `n`, `method` and `reason`.
#' `reference` is a group, and `simultaneous` is by Bonferroni. In simulations (50 gold cases in
#' each of two versions, 2000 panels) 90% intervals covered .91 of unpaired and .92 of paired
#' differences.
#'
#' @section All pairs at once:
#' With more than two systems, some intervals of pairs miss by chance, and the best estimate is
#' likely to be too high. With `simultaneous = TRUE` the intervals cover all differences at once
#' with probability `conf_level`. The largest studentised deviation of the replicates sets their
#' width. Ranks need no such correction. There are no p-values: a difference is significant if its
#' interval excludes zero.
#'
#' @section Many systems:
#' Three thousand systems have millions of pairs. For more than about 600 systems, one of two other
#' comparisons must be chosen. `reference` compares each system with one system; there are no ranks.
#' `best = k` compares the `k` systems with the highest estimates with each other and with all the
#' rest, the better one (by estimate) first. Ranks are those of the `k` systems among themselves.
#' Choose `k` before you look at results. The leader is chosen for its estimate, which is therefore
#' likely to be too high, the more so the more systems there are. `simultaneous = TRUE` allows for
#' that.
#'
#' With more than 100 systems, replicates of joint estimates, which also give the correlations of
#' averages, are of first order. The influence of each case on an estimate is computed once, and
#' nothing is refitted (the infinitesimal jackknife, Efron 1982). Systems are then processed in
#' blocks. The allowances for shared errors of two systems in different blocks are correlated only
#' if the two are compared, which makes simultaneous intervals slightly wider.
#'
#' @references Efron, B. (1982). *The Jackknife, the Bootstrap and Other Resampling Plans*. SIAM.
#'
#'   Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
#'   general approach. *Statistics in Medicine*, 27(10), 1693-1702. \doi{10.1002/sim.3095}
#' @param x An [estimate_accuracy()] result with at least two systems, or with groups (`by`). Or
#'   [ratings()] or a [fit_raters()] result, from which accuracies are estimated. Several variables
#'   are compared separately.
#' @param systems Names of the systems to compare; `NULL`, the default, for all.
#' @param conf_level Confidence level of the intervals, in (0, 1); `NULL`, the default, for that of
#'   the estimate.
#' @param simultaneous Should intervals cover all differences at once? By default `FALSE`.
#' @param reference System that all others are compared with: its name, or `"best"` for the system
#'   with the highest estimate (unless a system has that name). `NULL`, the default, compares all
#'   pairs.
#' @param best Number of systems with the highest estimates that are compared with each other and
#'   with all others. Not together with `reference`.
#' @param metric One of [system_metrics]; `NULL`, the default, for accuracy. Differences are then
#'   differences of the metric, and the best system (the most accurate, in results) has its highest
#'   value or, for costs, its lowest. For methods with a joint table of truth and answer, with
#'   robust or bootstrap intervals (see [estimate_metrics()]).
#' @param category For a metric of categories: the category; `NULL`, the default, for the macro
#'   average.
#' @param cost For `metric = "loss"`: see [estimate_metrics()].
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
  check_given()
  if (inherits(x, "results_by_variable") || is_variables(x)) {
    return(map_variables(unclass(x)))
  }
  if (!inherits(x, c("accuracy_estimate", "accuracy_by_group"))) {
    if (!inherits(x, "rater_fit")) x <- as_ratings(x)
    return(with_one_seed(compare_systems(estimate_accuracy(x, ...), systems, conf_level,
      simultaneous, reference, best, metric, category, cost)))
  }
  check_dots_empty(...)
  estimate <- if (inherits(x, "accuracy_by_group")) x else check_estimate(x)
  check_flag(simultaneous, "simultaneous")
  grouped <- inherits(estimate, "accuracy_by_group")
  options <- (if (grouped) estimate[[1L]] else estimate)$options
  conf_level <- check_level(conf_level %||% options$conf_level)
  if (grouped) {
    refused <- mget(c("best", "metric", "category", "cost"))
    return(compare_groups(estimate, systems, conf_level, simultaneous, reference, refused))
  }
  systems <- check_system_names(systems, estimate$table$system)
  abort_if(length(systems) < 2L, "system", "At least two systems are needed to compare.",
    x = "There is only {.val {systems}}.", system = systems)
  against <- check_against(reference, best, systems)
  plan <- check_compared_metric(metric, category, cost, estimate)
  gold <- estimate$gold
  # With gold each pair has a separate interval.
  abort_argument_if(!is.null(gold) && simultaneous && !is.null(against), "simultaneous",
    "Of an estimate with gold cases, {.arg simultaneous} needs all pairs.",
    i = "Leave out {.arg reference} and {.arg best}, or choose {.arg systems}.")
  # Replicates of a bootstrap have a seed. All other draws together need one.
  once <- if (draws_interval(estimate)$hidden || !is.null(gold)) with_one_seed else identity
  comparison <- once({
    measured <- from_ratings <- in_metric(on_common_cases(without_gold(estimate), systems), plan)
    if (!is.null(gold)) {
      measured$options$interval <- estimate$options$interval
      measured <- with_gold(measured, gold)
    }
    pairs <- compared_pairs(measured$table$estimate, systems, against)
    comparison <- compare_by_ratings(
      from_ratings, pairs, conf_level, simultaneous && is.null(gold)
    )
    comparison$options$simultaneous <- simultaneous
    if (is.null(gold)) comparison else compare_with_gold(comparison, measured, pairs)
  })
  new_comparison(from_unit(comparison, plan))
}

compare_by_ratings <- function(estimate, pairs, conf_level, simultaneous) {
  draws <- comparison_draws(estimate, pairs)
  drawn_by <- draws_interval(estimate)
  differences <- difference_table(estimate, pairs, draws, conf_level, simultaneous)
  ranks <- rank_table(estimate$table$system[pairs$ranked], draws$ranked)
  ranks$known <- known_ranks(ranks$system, differences)
  list(
    accuracy = estimate$table[c("system", "estimate")], differences = differences, ranks = ranks,
    left_out = estimate$left_out,
    options = list(
      method = estimate$options$method, words = estimator_words(estimate),
      replicates = draws$replicates, conf_level = conf_level,
      simultaneous = simultaneous, clusters = draws$clusters, robust = drawn_by$hidden,
      machines = rests_on_machines(estimate),
      metric = if (is_pass_rate(estimate)) "pass rate", drawn = drawn_by$drawn,
      allowance = if (drawn_by$hidden) allowance_words(estimate) else " alone",
      against = pairs$against
    )
  )
}

check_estimate <- function(x, arg = "x") {
  check_class(x, "accuracy_estimate", arg, "Make one with {.fun estimate_accuracy}.")
  check_not_one_judge(x$fit)
  x
}

# The estimate of these systems on the cases that all of them answered, with the number of cases
# left out.
on_common_cases <- function(estimate, systems) {
  x <- estimate$fit$x
  at <- match(systems, x$systems)
  answered <- x$patterns$answer[, at, drop = FALSE] > 0L & judged_patterns(estimate$fit)
  common <- rowSums(answered) == length(at)
  left_out <- as.double(count_cases(x, rowSums(answered) > 0L & !common))
  abort_if(count_cases(x, common) == 0, "system",
    "No case was answered by all of these systems and seen by a rater.",
    x = "Systems are {.val {systems}}.", i = "Compare fewer at a time, with {.arg systems}.",
    system = systems)
  if (left_out > 0 || !identical(systems, x$systems)) {
    x$patterns$answer <- x$patterns$answer[, at, drop = FALSE]
    x$patterns$answer[!common, ] <- 0L
    x$systems <- systems
    estimate <- estimate_again(estimate, join_patterns(x))
  }
  estimate$left_out <- left_out
  estimate
}

# The same estimate for other answers by systems.
estimate_again <- function(estimate, x) {
  if (!is.null(estimate$cells)) return(draws_estimate(estimate$fit, x, estimate$options))
  fit <- fit_with(estimate$fit, x)
  options <- estimate$options
  if (!is.null(options$record)) return(function_estimate(x, options))
  # Intervals without draws are computed only to find the maximum of the estimate.
  if (is.null(interval_of(estimate)$draws) && is.null(options$deviance)) {
    options$interval <- interval_none$id
  }
  options$deviance <- NULL
  suppressWarnings(
    judge_systems(fit, options$cluster, NULL, options), classes = "fallible_warning"
  )
}

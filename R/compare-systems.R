#' Compare systems on the same cases
#'
#' Differences of accuracy between all pairs of systems, with intervals, and how probable it is that
#' each system is the most accurate. Systems are evaluated by the same raters on the same cases, so
#' that part of their error is common and cancels: a difference is known better than from separate
#' studies.
#'
#' @section Cases:
#' Systems are compared on the cases that all of them answered and a rater saw; other cases may be
#' easier or harder. Where that leaves out cases, accuracies are estimated again on the remaining
#' ones (the raters stay fitted to all cases), which takes as long as the estimate did, and the
#' result says how many.
#'
#' @section Errors of differences:
#' Cases (or the clusters that the estimate was given) are resampled, the same for all systems, and
#' everything is estimated again each time: replicates of the estimate are used if it has some, and
#' made if not. Intervals are percentiles of the differences, probabilities of ranks are shares of
#' replicates; equals share a rank. They cover sampling error only.
#'
#' For method `"average"`, and for robust intervals, each system has the sampling error of its
#' estimate; the correlation of the errors of two systems is that of replicates of the joint
#' estimate (or of the method's own). An allowance for errors shared with the raters is added as in
#' robust intervals. Its correlation between two systems is the third power of the share of cases on
#' which they gave the same answer: .73 where nine of ten answers are the same, .13 where half of
#' them are. This rule was chosen on public data with known truth; few of these have several
#' systems, so it is a rough guide. Assuming that shared errors cancel gave intervals that covered
#' too seldom.
#'
#' @section Order of systems:
#' Where two systems are ordered differently by this estimate and by how often they agree with most
#' raters, the estimate was right in 4 of 10 pairs (14 public sources). Column `order_known` of
#' [tidy()][tidy.system_comparison] is `FALSE` for such pairs: take their order for unknown.
#'
#' @section Known truths:
#' Of an estimate with gold cases (`known_truth` of [estimate_accuracy()]) differences are measured
#' on them, too, with the interval of the estimate. Where two systems gave the same answer the
#' difference is zero whatever the truth, so only gold cases on which they differ count. The
#' predictions of ratings, which system is right on them, are corrected as for accuracies;
#' `"corrected"` has Student's interval, `"combined"` uses the difference from ratings alone as a
#' prior (normal, with a flat part between minus and plus the share of cases on which the answers
#' differ), whose error for shared errors is at least .1 of that share. Each pair is measured by
#' itself. Ranks, and intervals for all differences at once, are from errors of systems whose
#' differences vary as those of the pairs do (by classical scaling); both are `NA` where a pair
#' has no interval. A pair without gold cases keeps the difference from ratings alone.
#'
#' Let [plan_gold()] draw the cases where answers differ, if you want a difference only: in
#' public and simulated panels 50 gold cases at random gave 90% intervals .76 as wide as gold alone
#' (those of `"corrected"`; coverage .92), and 50 where answers differ .49 as wide (coverage .91).
#'
#' @section Groups:
#' A result of [estimate_accuracy()] with `by` is compared group by group: two versions of an
#' application, say, with different answers. Gold cases must measure both groups; a difference of
#' uncorrected ratings is never reported, since raters may judge one version more kindly than the
#' other. Estimates are the `"corrected"` ones. The interval of the difference is constructed from
#' both intervals (Zou and Donner 2008). If the estimate has clusters (`resampling =
#' list(cluster = "prompt")`), clusters that groups have in common are paired: the correlation of
#' errors over them, drawn towards 0 as if ten gold cases showed none, narrows the interval.
#' Results are of class `group_comparison`: `tidy()` has columns `group1`, `group2`, `system`,
#' `estimate` (the first group less the second), `std.error`, `conf.low`, `conf.high`,
#' `probability` that the first is better, `correlation`, `n`, `method` and `reason`. `reference` is
#' a group, and `simultaneous` is by Bonferroni. In simulations (50 gold cases in each of two
#' versions, 2000 panels) 90% intervals covered .91 of unpaired and .92 of paired differences.
#'
#' @section All pairs at once:
#' More than two systems are compared, so some intervals of pairs miss by chance, and the system
#' that looks best is likely to look better than it is. With `simultaneous = TRUE` the intervals
#' cover all differences at once with probability `conf_level` (the largest studentised deviation
#' of the replicates sets their width); the ranks need no such correction. There are no p-values:
#' an interval that excludes zero says the same and more.
#'
#' @section Many systems:
#' All pairs of three thousand systems are millions. A leaderboard asks two other things, and for
#' more than some 600 systems one of them must be chosen. Is a system better than a certain one:
#' `reference` takes that from each of the others, and there are no ranks. And which systems may be
#' the best: `best = k` compares the `k` systems with the highest estimates with each other and
#' with all the rest, the better one (by estimate) first; ranks are those of the `k` among
#' themselves. Choose `k` before you look. The leader has been chosen for its estimate, which is
#' likely to be too high, the more so the more systems there are; `simultaneous = TRUE` allows for
#' that.
#'
#' With more than 100 systems the replicates of joint estimates, which also give the correlations of
#' averages, are of first order: how far each case moves an estimate is found once, and nothing is
#' refitted (the infinitesimal jackknife, Efron 1982). Systems are then taken in blocks. The
#' allowances for shared errors of two systems of different blocks are correlated only if the two
#' are compared, which makes simultaneous intervals a little wider.
#'
#' @references Efron, B. (1982). *The Jackknife, the Bootstrap and Other Resampling Plans*. SIAM.
#'
#'   Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a
#'   general approach. *Statistics in Medicine*, 27(10), 1693-1702. \doi{10.1002/sim.3095}
#' @param x An [estimate_accuracy()] result with at least two systems, or with groups (`by`); or
#'   [ratings()] or a [fit_raters()] result, of which one is made.
#' @param systems Names of the systems to compare; `NULL` for all.
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1); `NULL` for that
#'   of the estimate.
#' @param simultaneous Should intervals cover all differences at once?
#' @param reference With which system all others are compared: its name, or `"best"` for the one
#'   with the highest estimate (unless a system has that name). `NULL` compares all pairs.
#' @param best With so many systems, those with the highest estimates, all others are compared, and
#'   they among themselves. Not together with `reference`.
#' @param metric By which of [system_metrics] systems are compared, `NULL` for accuracy: differences
#'   are of it, and the best (the most accurate, in words of results) is who has it highest or, of
#'   costs, lowest. For methods with a joint table of truth and answer, by robust intervals or the
#'   bootstrap (see [estimate_metrics()]).
#' @param category For a metric of categories: of which one; `NULL` for the macro average.
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
#' # Is anything better than system a?
#' compare_systems(estimate, reference = "a")
#'
#' # By the macro average of F
#' compare_systems(estimate, metric = "f_meas")
#'
#' # Two versions of an application, judged by one language model; the truth of 120 answers is known
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
  estimate <- estimate_to_compare(x, ...)
  check_flag(simultaneous, "simultaneous")
  grouped <- inherits(estimate, "accuracy_by_group")
  own <- (if (grouped) estimate[[1L]] else estimate)$options
  conf_level <- check_level(conf_level %||% own$conf_level)
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
  # Of gold each pair has an interval of its own.
  abort_argument_if(!is.null(gold) && simultaneous && !is.null(against), "simultaneous",
    "Of an estimate with gold cases, {.arg simultaneous} needs all pairs.",
    i = "Leave out {.arg reference} and {.arg best}, or choose {.arg systems}.")
  # Replicates of a bootstrap have a seed. All other draws together need one.
  once <- if (draws_interval(estimate)$hidden || !is.null(gold)) with_one_seed else identity
  found <- once({
    alone <- in_metric(on_common_cases(without_gold(estimate), systems), plan)
    measured <- alone
    if (!is.null(gold)) {
      measured$options$interval <- estimate$options$interval
      measured <- with_gold(measured, gold)
    }
    pairs <- compared_pairs(measured$table$estimate, systems, against)
    found <- compare_by_ratings(alone, pairs, conf_level, simultaneous && is.null(gold))
    found$options$simultaneous <- simultaneous
    if (is.null(gold)) found else compare_with_gold(found, measured, pairs)
  })
  new_comparison(from_unit(found, plan))
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

estimate_to_compare <- function(x, ...) {
  if (inherits(x, c("accuracy_estimate", "accuracy_by_group"))) {
    check_dots_empty(...)
  } else {
    if (!inherits(x, "rater_fit")) x <- as_ratings(x)
    x <- estimate_accuracy(x, ...)
  }
  if (inherits(x, "accuracy_by_group")) x else check_estimate(x)
}

check_estimate <- function(x, arg = "x") {
  abort_argument_if(inherits(x, "accuracy_by_group"), arg,
    "{.arg {arg}} holds an estimate for each of the groups {.val {names(x)}}; choose one.",
    i = "For example {.code x[[\"{names(x)[[1L]]}\"]]}.")
  check_class(x, "accuracy_estimate", arg, "Make one with {.fun estimate_accuracy}.")
  check_not_one_judge(x$fit)
  x
}

# The estimate of these systems on the cases that all of them answered, with the number of cases
# that leaves out.
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

# The same for other answers by systems.
estimate_again <- function(estimate, x) {
  if (!is.null(estimate$cells)) return(draws_estimate(estimate$fit, x, estimate$options))
  fit <- fit_with(estimate$fit, x)
  options <- estimate$options
  if (!is.null(options$record)) return(function_estimate(x, options))
  # Not needed, but to find the top that the estimate is from.
  if (is.null(interval_of(estimate)$draws) && is.null(options$deviance)) {
    options$interval <- interval_none$id
  }
  options$deviance <- NULL
  suppressWarnings(
    judge_systems(fit, options$cluster, NULL, options), classes = "fallible_warning"
  )
}

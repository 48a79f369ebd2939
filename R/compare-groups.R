# This file computes differences of accuracy between groups of cases, such as two versions of an
# application. Groups have different cases, so each group needs gold cases.

# Compares all pairs of groups, or all groups with group `reference`, for each system. Arguments
# that are not listed here are those of compare_systems().
# * x: an estimate with groups.
# * unusable_arguments: named list of arguments that cannot be used with groups. An error is raised
#   unless all are NULL.
compare_groups <- function(x, systems, conf_level, simultaneous, reference, unusable_arguments) {
  estimates <- unclass(x)
  first_estimate <- estimates[[1L]]
  groups <- names(estimates)
  unusable_arguments <- names(drop_null(unusable_arguments))
  abort_argument_if(unusable_arguments, unusable_arguments[1L],
    "{.arg {unusable_arguments[1L]}} cannot be used to compare groups.",
    i = "Compare the systems of one group: {.code x[[\"{groups[[1L]]}\"]]}.")
  systems <- check_system_names(systems, first_estimate$table$system)
  if (!is.null(reference)) check_choice(reference, groups, "reference")
  abort_argument_if(length(groups) < 2L, "x", "must have at least two groups to compare.")
  has_gold <- map_lgl(estimates, function(estimate) any(estimate$gold$measured$known))
  abort_argument_if(!any(has_gold), "x",
    "must have a random sample of gold cases (cases with known truth) in each group.",
    x = "There are no such gold cases. Ratings, known error rates, and cases picked by hand do not
        show whether raters make the same errors in all groups.",
    i = c("Give truths of random cases of each group to {.fun estimate_accuracy}, with
        {.arg known_truth} and {.code gold_sample = \"random\"}.", if (length(systems) > 1L)
        "To compare the systems of one group: {.code compare_systems(x[[\"{groups[[1L]]}\"]])},
        where {.arg x} is the result of {.fun estimate_accuracy}."))
  abort_argument_if(isTRUE(interval_of(first_estimate)$gold$anytime), "x",
    "must not have {.val anytime} intervals, which are not defined for differences between groups.",
    i = "Estimate with {.code interval = \"corrected\"}.")
  pairs <- if (is.null(reference)) combn(groups, 2L) else
    rbind(setdiff(groups, reference), reference)
  table <- columns_tibble(
    group1 = rep(pairs[1L, ], each = length(systems)),
    group2 = rep(pairs[2L, ], each = length(systems)), system = rep(systems, ncol(pairs))
  )
  method <- first_estimate$options$method
  interval_level <- if (simultaneous) 1 - (1 - conf_level) / nrow(table) else conf_level
  measurements <- lapply(estimates, function(estimate) {
    setNames(lapply(
      match(systems, estimate$table$system), group_measurement, estimate = estimate,
      level = interval_level
    ), systems)
  })
  differences <- stack_rows(row_numbers(table), function(i) {
    pair_row <- table[i, ]
    pair_groups <- c(pair_row$group1, pair_row$group2)
    measurements_of_pair <- lapply(measurements[pair_groups], `[[`, pair_row$system)
    columns_tibble(!!!difference_of_groups(measurements_of_pair, method))
  })
  gold <- list(settings = first_estimate$gold$settings, cases = min(map_dbl(estimates, count_gold)))
  new_group_comparison(tibble(table, differences), estimates, gold, list(
    method = method, conf_level = conf_level, simultaneous = simultaneous,
    metric = if (is_pass_rate(first_estimate)) "pass rate",
    against = if (!is.null(reference)) list(reference = reference)
  ))
}

# Returns the measurement of system number `s` in one group, a list:
# * x: result of corrected_mean(); NULL if gold cases do not measure the system.
# * n: number of cases.
# * gold_details: the row of tidy(estimate, "gold_details"). Its column `reason` explains why there
#   is no measurement.
# * interval: estimate and interval.
# * influence: influence of each cluster on the estimate, named by cluster. NULL without clusters.
group_measurement <- function(estimate, s, level) {
  gold_measurement <- extract_gold_accuracy(estimate$gold, s)
  has_gold <- !is.null(gold_measurement)
  list(
    x = gold_measurement, n = estimate$table$n[[s]], gold_details = estimate$gold$details[s, ],
    interval = if (has_gold) {
      corrected_interval(gold_measurement, estimate$gold$settings$target, level)
    } else {
      result_table(NA)
    },
    influence = if (has_gold && !is.null(estimate$options$given_cluster)) {
      influence_of_clusters(estimate, gold_measurement, s)
    }
  )
}

# Returns the influence of each cluster on the estimate of system number `s`: the sum of the
# influences of the cases in the cluster. `measured`: a result of corrected_mean().
influence_of_clusters <- function(estimate, measured, s) {
  evidence <- estimate$gold$evidence
  x <- estimate$fit$x
  answered_gold <- select_gold(evidence, evidence$answer[, s] > 0L)
  answer <- pick_columns(evidence$answer, s)
  predicted_correctness <- predict_correctness(evidence$predicted, answer)
  p_correct <- fill_unrated(predicted_correctness, answered_gold$weight)[x$index, 1L]
  weight <- weights_of_cases(x) * (answered_gold$weight[, 1L] > 0)[x$index] / measured$cases
  cluster <- as_label(estimate$options$given_cluster)
  # Each case influences the estimate by `p_correct`, the predicted probability of a correct answer.
  # A gold case also influences the estimate by its residual.
  rowsum(c(
    measured$slope * weight * (p_correct - sum(weight * p_correct)),
    measured$rest / measured$gold
  ), cluster[c(seq_along(p_correct), evidence$case)])[, 1L]
}

# Returns the difference between two groups for one system. `measurements`: list of two results of
# group_measurement(), named by group.
difference_of_groups <- function(measurements, method) {
  first_group <- measurements[[1L]]
  second_group <- measurements[[2L]]
  details <- stack_rows(list(first_group$gold_details, second_group$gold_details))
  unmeasured_group <- which(!is.na(details$reason))[1L]
  reason <- if (!is.na(unmeasured_group)) paste0(
    names(measurements)[[unmeasured_group]], ": ", details$reason[[unmeasured_group]]
  )
  cluster_reasons <- na.omit(c(
    why_no_cluster_interval(first_group$x), why_no_cluster_interval(second_group$x)
  ))
  # The errors of the two groups are correlated if the groups have common clusters. With few gold
  # cases, the estimated correlation is shrunk towards 0.
  common_clusters <- intersect(names(first_group$influence), names(second_group$influence))
  influence_scale <- sqrt(sum(first_group$influence^2) * sum(second_group$influence^2))
  correlation <- 0
  if (length(common_clusters) > 0L && influence_scale > 0) {
    n_gold <- min(first_group$x$gold, second_group$x$gold)
    covariance <-
      sum(first_group$influence[common_clusters] * second_group$influence[common_clusters])
    correlation <- covariance / influence_scale * n_gold / (n_gold + n_prior_cases)
  }
  c(
    difference_of_intervals(first_group$interval, second_group$interval, correlation),
    n = first_group$n + second_group$n, method = method, reason = reason %||% cluster_reasons[1L],
    why = details$why[unmeasured_group]
  )
}

# Returns the estimate and interval of the difference of two quantities with intervals, given the
# correlation of their errors (Zou and Donner, 2008).
difference_of_intervals <- function(interval1, interval2, correlation) {
  # Combines two errors (standard errors or distances to limits), given their correlation.
  combine_errors <- function(error1, error2) {
    sqrt(error1^2 + error2^2 - 2 * correlation * error1 * error2)
  }
  estimate <- interval1$estimate - interval2$estimate
  std_error <- combine_errors(interval1$std.error, interval2$std.error)
  list(
    estimate = estimate, std.error = std_error,
    conf.low = estimate - combine_errors(
      interval1$estimate - interval1$conf.low, interval2$conf.high - interval2$estimate
    ),
    conf.high = estimate + combine_errors(
      interval1$conf.high - interval1$estimate, interval2$estimate - interval2$conf.low
    ),
    probability = pnorm(estimate / std_error), correlation = correlation + 0 * estimate
  )
}

# Creates a `group_comparison` object. `estimates`: estimates of the groups. `gold`: list of
# `settings`, and `cases`, the smallest number of gold cases of a group.
new_group_comparison <- function(table, estimates, gold, options) {
  n_systems <- n_distinct(table$system)
  first_estimate <- estimates[[1L]]
  interval <- first_estimate$options$interval
  metric <- compared_metric(list(options = options))
  correlations <- na.omit(table$correlation)
  has_correlations <- length(correlations) > 0L
  has_no_clusters <- is.null(first_estimate$options$given_cluster)
  printed_table <- tibble(pair = pair_names(table), table)
  new_result(c("group_comparison", "system_comparison"),
    tables = list(differences = table),
    facts = list(
      groups = length(estimates), systems = n_systems, differences = nrow(table),
      method = options$method, conf_level = options$conf_level,
      simultaneous = options$simultaneous
    ),
    line = sprintf(
      "%s in %s between %s, %s", count_noun(nrow(table), "difference"), metric,
      count_noun(length(estimates), "group"), estimator_words(first_estimate)
    ),
    shown = view_of_differences(
      printed_table, options$conf_level, c("pair", if (n_systems > 1L) "system")
    ),
    notes = c(
      reason_notes(table, printed_table$pair),
      if (anyNA(table$estimate)) paste("Ratings do not show whether raters judge groups without",
        "gold cases as they judge the others: label 15 to 25 cases of each"),
      if (options$simultaneous) "The intervals cover all differences at once (Bonferroni)",
      if (gold_intervals[[interval]]$gold$uses_prior) paste0(
        "Differences are between corrected estimates; the groups have ", interval, " estimates: ",
        toString(unlist(lapply(names(estimates), function(group) {
          estimate_lines <- format(estimates[[group]])
          trimws(paste(names2(estimate_lines), estimate_lines, "in", group))
        })))
      ),
      if (has_correlations) paste0("Intervals: ", metric, " in the ", gold$settings$target,
        "; errors of groups ", if (has_no_clusters) "are taken as independent" else paste(
          "correlate by", format_span(correlations, function(x) format_decimals(x, 2L))
        )
      ),
      if (has_correlations && has_no_clusters) note(
        "If groups contain the same inputs, give `resampling = list(cluster = )` to
         estimate_accuracy()", report = NULL
      )
    ),
    more = "tidy(), gate(), plot()", estimates = estimates, gold = gold, options = options
  )
}

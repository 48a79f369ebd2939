# Estimates metrics of the joint table of truth and answer, such as recall, with intervals from
# ratings only. Limits are computed on the unit scale, on which the range of a metric is [0, 1].

# Returns the table of metrics for tidy(), with a row per system and requested metric.
# * plan: the requested metrics, see metric_plan()
# * interval: name of the kind of interval
# * table_replicates: replicates of the joint tables, see table_draws()
# * systems: numbers of the systems
metrics_of_table <- function(estimate, plan, interval, conf_level,
                             table_replicates = table_draws(estimate, interval),
                             systems = seq_along(estimate$fit$x$systems)) {
  uncorrected_estimate <- undo_gold_correction(estimate)
  # List of the expected numbers of cases by truth and answer, for each system. NULL if the method
  # does not estimate these numbers.
  expected_counts <- if (has_posterior(uncorrected_estimate)) confusion_counts(uncorrected_estimate)
  interval_record <- interval_from_ratings(estimate, interval)
  no_draws_reason <- why_accuracy_only(interval_record) %||% table_replicates$reason
  add_limits <- if (interval_record$spread == "percentile") add_percentile_intervals else
    add_delta_intervals
  rows <- stack_rows(systems, function(s) {
    counts <- expected_counts[[s]]
    rows <- point_rows(uncorrected_estimate, plan, counts, s)
    if (!is.null(no_draws_reason)) {
      rows <- add_no_interval_reason(rows, no_draws_reason)
    } else if (!is.null(table_replicates$values)) {
      rows <- add_limits(rows, uncorrected_estimate, plan, counts, table_replicates, s, conf_level)
    }
    if (is_measured_by_gold(estimate, interval)) {
      metrics_with_gold(rows, estimate, plan, s, interval, conf_level)
    } else {
      with_estimated_accuracy(rows, uncorrected_estimate, interval, s, conf_level)
    }
  })
  rows$reason[is.na(rows$estimate) & rows$system %in% estimate$fit$x$constant] <-
    reason_constant_system
  rows
}

# Returns the table of accuracies among all cases. Abstentions are wrong answers. The accuracy is
# multiplied by the share of cases that the system answered, see accuracy_over_all_cases().
accuracy_table_of_all_cases <- function(estimate, plan, interval, conf_level) {
  table <- metrics_of_table(
    estimate, subset_plan(built_in_metrics["accuracy"], plan, NULL), interval, conf_level
  )
  table$metric <- names(plan$records)
  table[estimate_columns] <- accuracy_over_all_cases(table, estimate, conf_level)[estimate_columns]
  table$reason[!is.na(table$estimate)] <- NA
  table
}

# Does the interval use gold cases (cases with known truth), and does the estimate have gold cases?
is_measured_by_gold <- function(estimate, interval) {
  !is.null(estimate$gold) && !is.null(accuracy_intervals[[interval]]$gold)
}

# Returns the record of the interval that is computed from ratings only. It is the record of
# `interval`, unless `interval` uses gold cases. In this case the estimate from ratings is only a
# prior, and its interval is the robust interval.
interval_from_ratings <- function(estimate, interval) {
  if (is_measured_by_gold(estimate, interval)) interval_robust else accuracy_intervals[[interval]]
}

# Returns the reason why a kind of interval is not available for metrics other than accuracy, or
# NULL. `record`: see new_interval().
why_accuracy_only <- function(record) {
  if (record$spread == "") paste0("a ", record$words, " is for accuracy only")
}

# Returns replicates of the joint tables of truth and answer of all systems, in the form of
# confusion_draws(); NULL if the interval does not need them.
table_draws <- function(estimate, interval) {
  interval_record <- interval_from_ratings(estimate, interval)
  is_needed <- has_posterior(estimate) && !is.null(interval_record$find) &&
    is.null(why_accuracy_only(interval_record))
  if (is_needed) confusion_draws(undo_gold_correction(estimate))
}

# Does the method compute the probability of each category for each case?
has_posterior <- function(estimate) isTRUE(method_of(estimate)$posterior)

# Returns the reason why the method of the estimate has no metrics other than accuracy.
reason_accuracy_only <- function(estimate) {
  paste0("method \"", estimate$options$method, "\" estimates accuracy only")
}

# Returns the table of metrics of system number `s` without intervals, with a row per row of the
# plan. `counts`: vector of expected numbers of cases by truth and answer. NULL if the method does
# not estimate these numbers.
point_rows <- function(estimate, plan, counts, s) {
  no_value_reason <- if (is.null(counts)) reason_accuracy_only(estimate) else
    if (anyNA(counts)) estimate$table$reason[[s]]
  metric_rows(estimate, plan, s, estimate$table$n[[s]], no_value_reason,
    metric_values(plan, as_shares(counts, n_categories(plan))))
}

# Creates the table of metrics of system number `s` in the form of tidy(), without intervals. The
# table has further columns, which metrics_of_estimate() drops: `sampling` and `hidden` for the two
# parts of the error, and `cases` for the number of cases that determine the metric, see
# add_standard_errors().
# * n: number of cases
# * no_value_reason: reason why there are no values, or NULL
# * values: values of the metrics; only evaluated if `no_value_reason` is NULL
metric_rows <- function(estimate, plan, s, n, no_value_reason, values) {
  rows <- plan$rows
  values <- if (is.null(no_value_reason)) na_real(values) else NA_real_
  undefined_reason <- field_of_rows(plan, "undefined")
  undefined_reason[field_of_rows(plan, "ordered") & isFALSE(plan$settings$ordered)] <-
    reason_not_ordered
  undefined_reason[!is.na(rows$average)] <- "it is undefined for one of the averaged categories"
  columns_tibble(
    system = rep(estimate$table$system[[s]], nrow(rows)), metric = rows$metric,
    average = rows$average, category = rows$category, !!!result_table(values)[estimate_columns],
    n = n, method = estimate$options$method,
    reason = no_value_reason %||% ifelse(is.na(values), undefined_reason, NA_character_),
    why = NA_character_, sampling = NA_real_, hidden = NA_real_, cases = n
  )
}

# Replaces the metric "accuracy" in `rows` by the accuracy of `estimate`. The interval of `estimate`
# is copied, too, if it is of the kind `interval` and available for the level `conf_level`.
with_estimated_accuracy <- function(rows, estimate, interval, s, conf_level) {
  accuracy_indices <- which(rows$metric == built_in_metrics$accuracy$id)
  if (length(accuracy_indices) == 0L || unknown_truth_share(estimate$fit)[[s]] %in% 0) return(rows)
  accuracy_row <- estimate$table[s, ]
  has_same_level <- conf_level == estimate$options$conf_level
  # Limits of intervals by the delta method can be computed for another level.
  has_same_interval <- interval == estimate$options$interval &&
    (has_same_level || accuracy_intervals[[interval]]$spread == "delta")
  if (has_same_interval && !has_same_level) {
    accuracy_row <- with_limits(
      accuracy_row, estimate$details$centre[[s]], robust_quantile(estimate, conf_level)
    )
  }
  columns <- c("estimate", if (has_same_interval) interval_columns,
    if (has_same_interval || !has_posterior(estimate)) c("reason", "why"))
  rows[accuracy_indices, columns] <- accuracy_row[columns]
  rows
}

# Adds percentile intervals to `rows`. The metrics are computed for each replicate of the joint
# table of truth and answer. `draws`: the replicates, a result of confusion_draws().
add_percentile_intervals <- function(rows, estimate, plan, counts, draws, s, conf_level) {
  replicate_values <- apply_in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, n_categories(plan))
    is_complete <- complete.cases(tables)
    values <- matrix(NA_real_, nrow(tables), nrow(rows))
    values[is_complete, ] <- metric_values(plan, pick_rows(tables, is_complete))
    values
  })
  ranges <- ranges_of_plan(plan)
  replicate_values <- to_unit(replicate_values, ranges)
  # The replicates may be from a faster substitute method, see stand_in_replicates(). They are then
  # shifted on the logit scale, so that their median equals the estimate.
  if (has_stand_in(estimate)) {
    replicate_values <- shift_replicates(replicate_values, to_unit(rows$estimate, ranges))
  }
  add_unit_percentiles(rows, replicate_values, ranges, conf_level)
}

# Adds percentile intervals to `rows`. `replicate_values`: metrics on the unit scale (replicates x
# metrics). `ranges`: range of each metric (metrics x 2), to convert limits from the unit scale.
add_unit_percentiles <- function(rows, replicate_values, ranges, conf_level) {
  rows <- add_intervals(rows, core_percentile_intervals(replicate_values, conf_level, TRUE))
  rows$std.error <- rows$std.error * widths(ranges)
  modify_fields(rows, limit_columns, from_unit, ranges)
}

# Converts values of metrics to the unit scale, on which the range of a metric is [0, 1]. `value`: a
# number per metric, or a matrix with a column per metric. `ranges`: range of each metric (metrics x
# 2).
to_unit <- function(value, ranges) {
  if (is.matrix(value)) ranges <- pick_rows(ranges, rep(row_numbers(ranges), each = nrow(value)))
  (value - ranges[, 1L]) / widths(ranges)
}

# Converts values from the unit scale, a number per metric.
from_unit <- function(value, ranges) ranges[, 1L] + widths(ranges) * value

# Adds standard errors and intervals, which allow for shared errors, to `rows` by the delta method.
# `counts`: expected numbers of cases by truth and answer. `draws`: replicates of the joint tables,
# a result of confusion_draws().
add_delta_intervals <- function(rows, estimate, plan, counts, draws, s, conf_level) {
  table <- as_shares(counts, n_categories(plan))
  if (anyNA(table)) return(rows) # there are no values; point_rows() has added the reason
  slopes <- metric_slopes(plan, table)
  ranges <- ranges_of_plan(plan)
  # The sampling error is the standard deviation over replicates of the joint table.
  first_order_values <- apply_in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, slopes$n)
    cbind(rowSums(table_sums(tables, slopes$n)$right), first_order_changes(slopes, tables))
  })
  sampling_errors <- apply(pick_rows(first_order_values, !is.na(first_order_values[, 1L])), 2L, sd)
  # The first element of `sampling_errors` is for the accuracy in the replicated tables. If it is
  # smaller than the sampling error of the estimated accuracy, all elements are increased by the
  # same factor.
  error_ratio <- estimate$details$sampling[[s]] / sampling_errors[[1L]]
  rows$sampling <- sampling_errors[-1L] * if (is.finite(error_ratio)) max(1, error_ratio) else 1
  rows$hidden <- hidden_errors(estimate, table, s, slopes)
  largest_slope <- map_dbl(row_numbers(rows), function(i) max(abs(slopes_of_row(slopes, i, TRUE))))
  rows <- add_standard_errors(rows, largest_slope, ranges)
  add_interval_limits(rows, ranges, robust_quantile(estimate, conf_level))
}

# Smallest number of cases for a useful interval of a share. With fewer cases, a 90% interval
# contains nearly all values from 0 to 1. The number is z^2, where z is the normal quantile for 90%.
min_cases_of_share <- 2.7

# Adds standard errors to `rows`, computed from the columns `sampling` (sampling error) and `hidden`
# (error due to shared errors).
# * largest_slope: largest slope of each metric
# * ranges: range of each metric (metrics x 2)
add_standard_errors <- function(rows, largest_slope, ranges) {
  range_width <- widths(ranges)
  # One case changes the metric by at most the width of its range, divided by `n_cases`.
  n_cases <- rows$cases <- rows$n * range_width / largest_slope
  unit_values <- clip01(to_unit(rows$estimate, ranges))
  # Near an end of the range, or if very few cases determine the metric, replicates may hardly vary.
  # The sampling error is then at least the error of a share of `n_cases` cases, with half a correct
  # and half a wrong case added.
  needs_least_standard_error <- is.finite(n_cases) & (rows$sampling < 1e-8 * range_width |
    n_cases < min_cases_of_share | pmin(unit_values, 1 - unit_values) * n_cases < 0.5)
  least_standard_error <-
    range_width * sqrt(bernoulli_variance(add_half_cases(unit_values, n_cases)) / n_cases)
  rows$sampling <- ifelse(needs_least_standard_error %in% TRUE,
    pmax(least_standard_error, rows$sampling), rows$sampling)
  rows$hidden <- pmin(rows$hidden, range_width / 2)
  rows$std.error <- pmin(sqrt(rows$sampling^2 + rows$hidden^2), range_width / 2)
  rows
}

# Returns the hidden error of each metric: the standard deviation of the bias due to shared errors
# (see interval-robust.R). The bias has two parts:
# * Errors that the system shares with raters. The joint table of truth and answer may be anywhere
#   on the line between the tables with independent and with shared errors.
# * Errors that raters share with each other. They bias the estimated accuracy of each answer
#   (category). The bias has a component that is the same for all answers, and a component that
#   differs between answers.
hidden_errors <- function(estimate, table, s, slopes) {
  n <- slopes$n
  # Difference between the tables with independent and with shared errors. For methods other than
  # "average", the table of the estimate is used as the table with independent errors. The
  # difference is 0 if the table with shared errors was not computed.
  table_difference <- 0 * table
  counts <- if (length(estimate$end_counts) > 0L) estimate$end_counts[[s]]
  if (length(counts$shared_counts) > 0L) {
    independent_table <-
      if (is_averaged(estimate)) as_shares(counts$independent_counts, n) else table
    table_difference <- independent_table - as_shares(counts$shared_counts, n)
  }
  metric_difference <- first_order_changes(slopes, t(table_difference))[1L, ]
  joint_table <- matrix(table, n) # answers x truths
  answer_shares <- rowSums(joint_table)
  wrong_cells <- joint_table - diag(diag(joint_table), n)
  wrong_shares <- wrong_cells / replace(rowSums(wrong_cells), rowSums(wrong_cells) == 0, Inf)
  change_by_answer <- answer_shares * slopes_by_answer(slopes, diag(n) - wrong_shares)
  error_by_answer <-
    hidden_error_of_system(estimate, s, rater_error = wrong_share_by_answer(estimate, s))
  combine_hidden_errors(
    estimate, s, metric_difference, change_by_answer, answer_shares, error_by_answer
  )
}

# Combines the two parts of the hidden error of each metric, see hidden_errors().
# * metric_difference: difference between the metric with independent errors and with shared errors
# * change_by_answer: change of the metric per unit of error in the accuracy of an answer (answers x
#   metrics)
# * answer_shares: share of each answer
# * answer_error: standard deviation of the component that differs between answers
combine_hidden_errors <- function(estimate, s, metric_difference, change_by_answer, answer_shares,
                           answer_error = rater_sd) {
  rater_sd <- hidden_error_of_system(estimate, s)
  range_variance <- hidden_error_of_system(estimate, s, 1)^2 - rater_sd^2
  common_change <- colSums(change_by_answer)
  differing_change <- change_by_answer - outer(answer_shares, common_change)
  differing_variance <- colSums((answer_error * differing_change)^2)
  # For machines (language models or programs), only the error of the accuracy over all answers was
  # measured, see robust.cpp.
  if (panel_kind(estimate) == "machines") differing_variance <- 0
  sqrt(pmax(range_variance * metric_difference^2 + rater_sd^2 * common_change^2 +
    (cell_bias_ratio^2 - 1) * differing_variance, 0))
}

# Returns, for each possible answer of system number `s`, the estimated share of wrong ratings among
# the ratings of the cases with this answer. For an answer that the system never gave, returns the
# share among all ratings.
wrong_share_by_answer <- function(estimate, s) {
  ratings <- estimate$fit$x
  answer <- pattern_answers(ratings)[, s]
  n_ratings <- pattern_weights(ratings) * is_usable_pattern(estimate$fit) * pattern_lengths(ratings)
  wrong_shares <- 1 - rowSums(rating_shares(ratings) * estimate$posterior[[s]])
  is_used <- n_ratings > 0 & answer > 0L & !is.na(wrong_shares)
  sum_by_answer <-
    function(value) rowsum_codes(answer[is_used], value[is_used], n_categories(ratings))
  share_by_answer <- sum_by_answer(wrong_shares * n_ratings) / sum_by_answer(n_ratings)
  ifelse(is.na(share_by_answer), estimate$details$rater_error[[s]], share_by_answer)
}

# Adds the limits of intervals to `rows`, about `z` standard errors from the estimate. `ranges`:
# range of each row (rows x 2). The sampling error is smaller near the ends of the range. It is
# unknown whether this is also true for the rest of the error. If it is not, the interval is
# Wilson's interval for all cases, with the rest of the error added on both sides. If it is, the
# interval is Wilson's interval for the number of cases for which a share has the same standard
# error as the metric. The result contains both intervals.
add_interval_limits <- function(rows, ranges, z) {
  known_rows <- which(!is.na(rows$estimate) & !is.na(rows$std.error))
  ranges <- pick_rows(ranges, known_rows)
  unit_values <- clip01(to_unit(rows$estimate[known_rows], ranges))
  unit_errors <- rows$std.error[known_rows] / widths(ranges)
  cases <- rows$cases[known_rows]
  # Variance of a share, after half a correct and half a wrong case are added to it.
  variance <- bernoulli_variance(
    ifelse(is.finite(cases), add_half_cases(unit_values, cases), unit_values)
  )
  equivalent_cases <- variance / unit_errors^2
  compute_half_widths <- function(equivalent_cases) {
    other_error <- sqrt(pmax(unit_errors^2 - variance / equivalent_cases, 0))
    add_error_to_half_width(
      z * other_error, wilson_interval(unit_values, equivalent_cases, z), unit_values
    )
  }
  # Wilson's interval for so few equivalent cases would be centred near one half, and is left out.
  # This rule does not depend on `z`, so that intervals with higher levels contain those with lower
  # levels.
  has_too_few_cases <- rep(!(equivalent_cases >= min_cases_of_share), 2L)
  half_widths <- pmax(
    compute_half_widths(pmax(equivalent_cases, cases, na.rm = TRUE)),
    replace(compute_half_widths(equivalent_cases), has_too_few_cases, 0)
  )
  rows$conf.low[known_rows] <- from_unit(pmax(0, unit_values - half_widths[, 1L]), ranges)
  rows$conf.high[known_rows] <- from_unit(pmin(1, unit_values + half_widths[, 2L]), ranges)
  rows
}

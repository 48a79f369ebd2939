# Metrics of the joint table of truth and answer, such as recall: estimates, and intervals from
# ratings only. Limits are computed on the unit scale, on which the range of a metric is [0, 1].

# Returns the table of metrics for tidy(), with a row per system and requested metric. `plan`: the
# requested metrics, see metric_plan(). `interval`: name of the interval. `draws`: replicates of the
# tables.
metrics_of_table <- function(estimate, plan, interval, conf_level,
                             draws = table_draws(estimate, interval),
                             systems = seq_along(estimate$fit$x$systems)) {
  from_ratings <- without_gold(estimate)
  # List with the expected numbers of cases by truth and answer of each system; NULL if the method
  # does not estimate them.
  expected_counts <- if (has_posterior(from_ratings)) confusion_counts(from_ratings)
  record <- interval_from_ratings(estimate, interval)
  no_draws_reason <- why_no_kind(record) %||% draws$reason
  add_limits <- if (record$spread == "percentile") percentile_rows else delta_rows
  rows <- stack_rows(systems, function(s) {
    counts <- expected_counts[[s]]
    rows <- point_rows(from_ratings, plan, counts, s)
    if (!is.null(record$find)) {
      rows <- if (!is.null(no_draws_reason)) without_interval(rows, no_draws_reason) else
        if (is.null(draws$values)) rows else
          add_limits(rows, from_ratings, plan, counts, draws, s, conf_level)
    }
    if (measures_by_gold(estimate, interval)) {
      metrics_with_gold(rows, estimate, plan, s, interval, conf_level)
    } else {
      with_estimated_accuracy(rows, from_ratings, interval, s, conf_level)
    }
  })
  constant <- rows$system %in% estimate$fit$x$constant
  rows$reason[is.na(rows$estimate) & constant] <- reason_constant_system
  rows[setdiff(names(rows), c("sampling", "hidden", "cases"))]
}

# Returns the table of accuracies among all cases, with abstentions as wrong answers: the accuracy
# multiplied by the share of cases that the system answered, see of_all_cases().
accuracy_of_all <- function(estimate, plan, interval, conf_level) {
  accuracy <- subset_plan(built_in_metrics["accuracy"], plan, averages = NULL)
  table <- metrics_of_table(estimate, accuracy, interval, conf_level)
  table$metric <- names(plan$records)
  table[estimate_columns] <- of_all_cases(table, estimate, conf_level)[estimate_columns]
  table$reason[!is.na(table$estimate)] <- NA
  table
}

# Does the interval use gold cases (cases with known truth), and does the estimate have gold cases?
measures_by_gold <- function(estimate, interval) {
  !is.null(estimate$gold) && !is.null(accuracy_intervals[[interval]]$gold)
}

# Returns the record of the interval that is computed from ratings only. If `interval` uses gold
# cases, it is the interval of the estimate from ratings, which is used as a prior.
interval_from_ratings <- function(estimate, interval) {
  if (measures_by_gold(estimate, interval)) interval <- without_gold(estimate)$options$interval
  accuracy_intervals[[interval]]
}

# Returns the reason why an interval is not available for metrics other than accuracy, or NULL.
# `record`: see new_interval().
why_no_kind <- function(record) {
  if (record$spread == "") paste0("a ", record$words, " is for accuracy only")
}

# Returns replicates of the joint tables of truth and answer of all systems, in the form of
# confusion_draws(); NULL if the interval does not need them.
table_draws <- function(estimate, interval) {
  record <- interval_from_ratings(estimate, interval)
  is_needed <- has_posterior(estimate) && !is.null(record$find) && is.null(why_no_kind(record))
  if (is_needed) confusion_draws(without_gold(estimate))
}

# Does the method compute the probability of each category for each case?
has_posterior <- function(estimate) isTRUE(method_of(estimate)$posterior)

# Returns the reason why the method of the estimate has no other metrics.
accuracy_only <- function(estimate) {
  paste0("method \"", estimate$options$method, "\" estimates accuracy only")
}

# Returns the table of metrics of system number `s` without intervals, with a row per row of the
# plan. `counts`: expected numbers of cases by truth and answer (a vector); NULL if the method does
# not estimate them.
point_rows <- function(estimate, plan, counts, s) {
  no_value_reason <- if (is.null(counts)) accuracy_only(estimate) else
    if (anyNA(counts)) estimate$table$reason[[s]]
  rows <- metric_rows(estimate, plan, s, estimate$table$n[[s]], no_value_reason,
    metric_values(plan, as_shares(counts, n_categories(plan))))
  rows[c("hidden", "sampling", "cases")] <- NA_real_
  rows
}

# Creates the table of metrics of system number `s` in the form of tidy(), without intervals. `n`:
# number of cases. `no_value_reason`: reason why there are no values, or NULL. `values`: values of
# the metrics; this argument is only evaluated if `no_value_reason` is NULL.
metric_rows <- function(estimate, plan, s, n, no_value_reason, values) {
  rows <- plan$rows
  values <- if (is.null(no_value_reason)) na_real(values) else NA_real_
  columns_tibble(
    system = rep(estimate$table$system[[s]], nrow(rows)), metric = rows$metric,
    average = rows$average, category = rows$category, estimate = values, std.error = NA_real_,
    conf.low = NA_real_, conf.high = NA_real_, n = n, method = estimate$options$method,
    reason = no_value_reason %||% ifelse(is.na(values), undefined_reason(plan), NA_character_),
    why = NA_character_
  )
}

# Returns, for each row of the plan, words for the reason why the metric may be undefined.
undefined_reason <- function(plan) {
  reason <- field_of_rows(plan, "undefined")
  reason[field_of_rows(plan, "ordered") & isFALSE(plan$settings$ordered)] <- without_order
  ifelse(is.na(plan$rows$average), reason, "it is undefined for one of the averaged categories")
}

# Replaces the metric "accuracy" in `rows` by the accuracy of `estimate`, so that both are equal.
# The interval of the estimate is copied if it is the same kind of interval. If its confidence level
# differs from `conf_level`, it is computed again, which is possible only for intervals by the delta
# method.
with_estimated_accuracy <- function(rows, estimate, interval, s, conf_level) {
  accuracy_rows <- which(rows$metric == built_in_metrics$accuracy$id)
  if (length(accuracy_rows) == 0L || unknown_truth_share(estimate$fit)[[s]] %in% 0) return(rows)
  accuracy <- estimate$table[s, ]
  same_interval <- interval == estimate$options$interval
  if (same_interval && conf_level != estimate$options$conf_level) {
    same_interval <- accuracy_intervals[[interval]]$spread == "delta"
    if (same_interval) accuracy <- with_limits(accuracy, estimate$details$centre[[s]],
      robust_quantile(estimate$options, conf_level))
  }
  columns <- c("estimate", if (same_interval) interval_columns,
    if (same_interval || !has_posterior(estimate)) c("reason", "why"))
  rows[accuracy_rows, columns] <- accuracy[columns]
  rows
}

# Adds percentile intervals to `rows`, from the metrics of replicates of the joint table of truth
# and answer. `draws`: result of confusion_draws().
percentile_rows <- function(rows, estimate, plan, counts, draws, s, conf_level) {
  values <- apply_in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, n_categories(plan))
    is_complete <- complete.cases(tables)
    values <- matrix(NA_real_, nrow(tables), nrow(rows))
    values[is_complete, ] <- metric_values(plan, tables[is_complete, , drop = FALSE])
    values
  })
  ranges <- ranges_of_plan(plan)
  values <- to_unit(values, ranges)
  # Replicates of a substitute method are shifted on the logit scale, so that their median is the
  # estimate.
  if (has_stand_in(estimate)) values <- shift_replicates(values, to_unit(rows$estimate, ranges))
  unit_percentiles(rows, values, ranges, conf_level)
}

# Adds percentile intervals to `rows`. `values`: replicates on the unit scale (replicates x
# metrics). `ranges`: range of each metric (metrics x 2), by which limits are converted to the scale
# of the metric.
unit_percentiles <- function(rows, values, ranges, conf_level) {
  rows <- add_intervals(rows, core_percentile_intervals(values, conf_level, TRUE))
  rows$std.error <- rows$std.error * widths(ranges)
  rows[limit_columns] <- lapply(rows[limit_columns], function(end) {
    ranges[, 1L] + widths(ranges) * end
  })
  rows
}

# Converts values of metrics to the unit scale, on which the range of a metric is [0, 1]. `value`: a
# number per metric, or a matrix with a column per metric. `ranges`: range of each metric (metrics x
# 2).
to_unit <- function(value, ranges) {
  if (is.matrix(value)) ranges <- ranges[rep(seq_len(nrow(ranges)), each = nrow(value)), ,
    drop = FALSE]
  (value - ranges[, 1L]) / widths(ranges)
}

# Adds standard errors and intervals by the delta method to `rows`. They allow for shared errors.
# `counts`: expected numbers of cases by truth and answer. `draws`: result of confusion_draws().
delta_rows <- function(rows, estimate, plan, counts, draws, s, conf_level) {
  table <- as_shares(counts, n_categories(plan))
  if (anyNA(table)) return(rows) # there are no values; point_rows() has added the reason
  slopes <- metric_slopes(plan, table)
  ranges <- ranges_of_plan(plan)
  rows$sampling <- table_errors(draws, slopes, estimate, s)
  rows$hidden <- hidden_errors(estimate, table, s, slopes)
  steepest <- vapply(seq_len(nrow(rows)), function(i) max(abs(slope_of(slopes, i, TRUE))), 0)
  rows <- add_standard_errors(rows, steepest, ranges)
  interval_rows(rows, ranges, robust_quantile(estimate$options, conf_level))
}

# With fewer cases, a 90% interval of a share contains nearly all values from 0 to 1. The number is
# z^2, where z is the normal quantile for 90%.
cases_of_a_share <- 2.7

# Adds standard errors to `rows`, computed from the columns `sampling` and `hidden`. Replicates may
# hardly vary if the metric is near an end of its range, or if very few cases determine it. The
# sampling error is then at least the error of a share of `cases` cases, with half a correct and
# half a wrong case added. The number `cases` is such that one case changes the share as much as the
# most influential case changes the metric (`steepest`: largest slope of each metric). A standard
# deviation is at most half the width of the range (`ranges`, metrics x 2).
add_standard_errors <- function(rows, steepest, ranges) {
  width <- widths(ranges)
  cases <- rows$cases <- rows$n * width / steepest
  value <- clip01(to_unit(rows$estimate, ranges))
  is_few <- is.finite(cases) & (rows$sampling < 1e-8 * width | cases < cases_of_a_share |
    pmin(value, 1 - value) * cases < 0.5)
  share <- add_half_cases(value, cases)
  least_error <- width * sqrt(share * (1 - share) / cases)
  rows$sampling <- ifelse(is_few %in% TRUE, pmax(least_error, rows$sampling), rows$sampling)
  rows$hidden <- pmin(rows$hidden, width / 2)
  rows$std.error <- pmin(sqrt(rows$sampling^2 + rows$hidden^2), width / 2)
  rows
}

# Returns the sampling error of each metric of system number `s`: the standard deviation over
# replicates (`draws`) of the joint table. If the accuracy varies less in replicates than its
# sampling error, all errors are increased in proportion. If it varies more, they are not decreased.
# `slopes`: see metric_slopes().
table_errors <- function(draws, slopes, estimate, s) {
  first_order <- apply_in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, slopes$n)
    cbind(rowSums(table_sums(tables, slopes$n)$right), along_slopes(slopes, tables))
  })
  error <- apply(first_order[!is.na(first_order[, 1L]), , drop = FALSE], 2L, sd)
  scale <- estimate$details$sampling[[s]] / error[[1L]]
  error[-1L] * if (is.finite(scale)) max(1, scale) else 1
}

# Returns the hidden error of each metric: the standard deviation of its bias due to shared errors,
# which ratings do not identify (see interval-robust.R). It has two parts. The first is due to
# errors that the system shares with raters: the joint table of truth and answer may be anywhere on
# the line between the tables with independent and with shared errors. The second is due to errors
# that raters share with each other. Among the cases to which a system gave a category, the share of
# correct answers is then larger or smaller than estimated. One component of this error is the same
# for all categories. The other component differs between categories and does not change the
# accuracy. It is computed from the share of wrong ratings on the cases with each answer. For a rare
# answer, this share may differ from the share on all cases.
hidden_errors <- function(estimate, table, s, slopes) {
  n <- slopes$n
  line <- along_slopes(slopes, t(table_difference(estimate, table, s, n)))[1L, ]
  joint_table <- matrix(table, n) # answers x truths
  answer_share <- rowSums(joint_table)
  wrong_cells <- joint_table - diag(diag(joint_table), n)
  wrong_share <- wrong_cells / replace(rowSums(wrong_cells), rowSums(wrong_cells) == 0, Inf)
  shift <- answer_share * slopes_by_answer(slopes, diag(n) - wrong_share)
  by_answer <- hidden_of_system(estimate, s, rater_error = wrong_by_answer(estimate, s))
  combine_hidden(estimate, s, line, shift, answer_share, by_answer)
}

# Combines the two parts of the hidden error of each metric, see hidden_errors(). `line`: distance
# between the metric with shared and with independent errors. `shift` (answers x metrics): change of
# the metric per unit of error in the accuracy of an answer. `answer_share`: share of each answer.
# `by_answer`: standard deviation of the component that differs between answers. This component is 0
# if raters are machines: for machines, hidden errors are known only for accuracies over all
# answers.
combine_hidden <- function(estimate, s, line, shift, answer_share, by_answer = rater_part) {
  rater_part <- hidden_of_system(estimate, s)
  range_part <- hidden_of_system(estimate, s, 1)^2 - rater_part^2
  common_shift <- colSums(shift)
  differing <- colSums((by_answer * (shift - outer(answer_share, common_shift)))^2)
  if (panel_kind(estimate) == "machines") differing <- 0
  sqrt(pmax(range_part * line^2 + rater_part^2 * common_shift^2 +
    (cell_bias^2 - 1) * differing, 0))
}

# Returns, for each possible answer of system number `s`, the estimated share of wrong ratings on
# the cases with this answer; on all cases if the system never gave it.
wrong_by_answer <- function(estimate, s) {
  x <- estimate$fit$x
  answer <- pattern_answers(x)[, s]
  n_ratings <- pattern_weights(x) * is_usable_pattern(estimate$fit) * pattern_lengths(x)
  wrong_share <- 1 - rowSums(rating_shares(x) * estimate$posterior[[s]])
  is_used <- n_ratings > 0 & answer > 0L & !is.na(wrong_share)
  sum_by_answer <- function(value) rowsum_codes(answer[is_used], value[is_used], n_categories(x))
  share <- sum_by_answer(wrong_share * n_ratings) / sum_by_answer(n_ratings)
  ifelse(is.na(share), estimate$details$rater_error[[s]], share)
}

# Returns the difference of two joint tables of truth and answer. The first is the table with
# independent errors (method "average") or the table of the estimate (other methods). The second is
# the table with shared errors. The difference is 0 if these tables were not computed.
table_difference <- function(estimate, table, s, n) {
  end_tables <- if (length(estimate$end_counts) > 0L) estimate$end_counts[[s]]
  if (length(end_tables$shared_counts) == 0L) return(rep(0, length(table)))
  if (is_averaged(estimate)) table <- as_shares(end_tables$independent_counts, n)
  table - as_shares(end_tables$shared_counts, n)
}

# Adds limits, about `z` standard errors from the estimate, to `rows`. The data do not show how the
# error depends on the value of the metric. Two intervals are therefore computed under different
# assumptions, and the result contains both:
# * Only the sampling error is smaller near the ends of the range, as in Wilson's interval for all
#   cases. The rest of the error does not depend on the value and is added on both sides.
# * The whole error is smaller near the ends of the range. The interval is Wilson's for the number
#   of cases that gives the standard error. It is left out if that number is below
#   `cases_of_a_share`, because it would be centred near one half. The limit does not depend on `z`,
#   so an interval contains those with lower confidence levels.
# `ranges`: range of each row (rows x 2).
interval_rows <- function(rows, ranges, z) {
  known <- which(!is.na(rows$estimate) & !is.na(rows$std.error))
  ranges <- ranges[known, , drop = FALSE]
  width <- widths(ranges)
  value <- clip01(to_unit(rows$estimate[known], ranges))
  error <- rows$std.error[known] / width
  cases <- (rows[["cases"]] %||% rows$n)[known]
  # Share with half a correct and half a wrong case added, as in add_standard_errors().
  share <- ifelse(is.finite(cases), add_half_cases(value, cases), value)
  variance <- share * (1 - share)
  size <- variance / error^2
  half_widths_of <- function(size) {
    other_error <- sqrt(pmax(error^2 - variance / size, 0))
    add_error_to_half_width(z * other_error, wilson_interval(value, size, z), value)
  }
  half_widths <- half_widths_of(pmax(size, cases, na.rm = TRUE))
  too_few <- !(size >= cases_of_a_share)
  half_widths <- pmax(half_widths, replace(half_widths_of(size), c(too_few, too_few), 0))
  rows$conf.low[known] <- ranges[, 1L] + width * pmax(0, value - half_widths[, 1L])
  rows$conf.high[known] <- ranges[, 1L] + width * pmin(1, value + half_widths[, 2L])
  rows
}

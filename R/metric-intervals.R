# Metrics of the joint table of truth and answer: estimates, and intervals without gold. Limits are
# computed on the unit scale, from the lowest to the highest value of a metric.

metrics_of_table <- function(estimate, plan, interval, conf_level,
                             draws = table_draws(estimate, interval),
                             systems = seq_along(estimate$fit$x$systems)) {
  from_ratings <- without_gold(estimate)
  # NULL if the method has no table
  counts <- if (has_posterior(from_ratings)) confusion_counts(from_ratings)
  record <- interval_from_ratings(estimate, interval)
  rows <- stack_rows(systems, function(s) {
    rows <- point_rows(from_ratings, plan, counts[[s]], s)
    rows <- with_table_draws(rows, from_ratings, plan, counts[[s]], draws, s, record, conf_level)
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

# The accuracy times the share of cases that the system answered: its abstentions count as wrong.
accuracy_of_all <- function(estimate, plan, interval, conf_level) {
  accuracy <- metric_plan(built_in_metrics["accuracy"], plan$categories, NULL, plan$settings)
  table <- metrics_of_table(estimate, accuracy, interval, conf_level)
  table$metric <- names(plan$records)
  answered <- share_answered(estimate$fit$x)[match(table$system, estimate$fit$x$systems)]
  numbers <- c("estimate", interval_columns)
  table[numbers] <- lapply(table[numbers], function(x) ifelse(answered %in% 0, 0, answered * x))
  table$reason[answered %in% 0] <- NA
  table
}

reason_constant_system <- "the system has no answers of its own"

measures_by_gold <- function(estimate, interval) {
  !is.null(estimate$gold) && !is.null(accuracy_intervals[[interval]]$gold)
}

# Interval that is computed from ratings only.
interval_from_ratings <- function(estimate, interval) {
  if (measures_by_gold(estimate, interval)) interval <- without_gold(estimate)$options$interval
  accuracy_intervals[[interval]]
}

# Reason why a kind of interval does not exist for metrics, or NULL.
why_no_kind <- function(record) {
  if (record$spread == "") paste0("a ", record$words, " is for accuracy only")
}

# Replicates of the tables of all systems, see confusion_draws(). NULL if no interval needs them.
table_draws <- function(estimate, interval) {
  record <- interval_from_ratings(estimate, interval)
  needed <- has_posterior(estimate) && !is.null(record$find) && is.null(why_no_kind(record))
  if (needed) confusion_draws(without_gold(estimate))
}

has_posterior <- function(estimate) isTRUE(method_of(estimate)$posterior)

accuracy_only <- function(estimate) {
  paste0("method \"", estimate$options$method, "\" estimates accuracy only")
}

with_table_draws <- function(rows, estimate, plan, counts, draws, s, record, conf_level) {
  if (is.null(record$find)) return(rows)
  lack <- why_no_kind(record) %||% draws$reason
  if (!is.null(lack)) {
    without_interval(rows, lack)
  } else if (is.null(draws$values)) {
    rows
  } else if (record$spread == "percentile") {
    percentile_rows(rows, estimate, plan, draws, s, conf_level)
  } else {
    delta_rows(rows, estimate, plan, counts, draws, s, conf_level)
  }
}

# Rows of system `s` without intervals.
point_rows <- function(estimate, plan, counts, s) {
  lack <- if (is.null(counts)) accuracy_only(estimate) else
    if (anyNA(counts)) estimate$table$reason[[s]]
  rows <- metric_rows(estimate, plan, s, estimate$table$n[[s]], lack,
    metric_values(plan, as_shares(counts, n_categories(plan))))
  rows[c("hidden", "sampling", "cases")] <- NA_real_
  rows
}

# Rows of system `s` in the form of tidy(), without intervals. `value` is evaluated unless there is
# a reason (`lack`) why there are no values.
metric_rows <- function(estimate, plan, s, n, lack, value) {
  rows <- plan$rows
  value <- if (is.null(lack)) na_real(value) else NA_real_
  columns_tibble(
    system = rep(estimate$table$system[[s]], nrow(rows)), metric = rows$metric,
    average = rows$average, category = rows$category, estimate = value, std.error = NA_real_,
    conf.low = NA_real_, conf.high = NA_real_, n = n, method = estimate$options$method,
    reason = lack %||% ifelse(is.na(value), undefined_reason(plan), NA_character_),
    why = NA_character_
  )
}

undefined_reason <- function(plan) {
  unordered <- field_of_rows(plan, "ordered") & isFALSE(plan$settings$ordered)
  reason <- ifelse(unordered, without_order, field_of_rows(plan, "undefined"))
  averaged <- !is.na(plan$rows$average)
  replace(reason, averaged, "it is undefined for a category that it rests on")
}

# Accuracy is that of the estimate, also if the truth of all cases is known. Its interval is that of
# the estimate if the kind and level are the same.
with_estimated_accuracy <- function(rows, estimate, interval, s, conf_level) {
  at <- which(rows$metric == built_in_metrics$accuracy$id)
  if (length(at) == 0L || open_share(estimate$fit)[[s]] %in% 0) return(rows)
  accuracy <- estimate$table[s, ]
  same <- interval == estimate$options$interval
  if (same && conf_level != estimate$options$conf_level) {
    same <- accuracy_intervals[[interval]]$spread == "delta"
    level <- robust_quantile(estimate$options, conf_level)
    if (same) accuracy <- with_limits(accuracy, estimate$details$centre[[s]], level)
  }
  columns <- c("estimate", if (same) interval_columns,
    if (same || !has_posterior(estimate)) c("reason", "why"))
  rows[at, columns] <- accuracy[columns]
  rows
}

# Percentiles of replicates of the metric.
percentile_rows <- function(rows, estimate, plan, draws, s, conf_level) {
  values <- in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, n_categories(plan))
    whole <- stats::complete.cases(tables)
    values <- matrix(NA_real_, nrow(tables), nrow(rows))
    values[whole, ] <- metric_values(plan, tables[whole, , drop = FALSE])
    values
  })
  ends <- ranges_of_plan(plan)
  values <- to_unit(values, ends)
  # Replicates of a substitute method are moved to the estimate.
  if (has_stand_in(estimate)) values <- moved_to(values, to_unit(rows$estimate, ends))
  unit_percentiles(rows, values, ends, conf_level)
}

# Percentiles of replicates on the unit scale, from the lowest to the highest value of each metric.
unit_percentiles <- function(rows, values, ends, conf_level) {
  rows <- add_intervals(rows, core_percentile_intervals(values, conf_level, TRUE))
  rows$std.error <- rows$std.error * widths(ends)
  limits <- c("conf.low", "conf.high")
  rows[limits] <- lapply(rows[limits], function(end) ends[, 1L] + widths(ends) * end)
  rows
}

# Maps the range of each column to [0, 1].
to_unit <- function(value, ends) {
  if (is.matrix(value)) ends <- ends[rep(seq_len(nrow(ends)), each = nrow(value)), , drop = FALSE]
  (value - ends[, 1L]) / widths(ends)
}

# The delta method, with the allowance for shared errors.
delta_rows <- function(rows, estimate, plan, counts, draws, s, conf_level) {
  table <- as_shares(counts, n_categories(plan))
  if (anyNA(table)) return(rows) # `reason` is given already
  slopes <- metric_slopes(plan, table)
  ends <- ranges_of_plan(plan)
  rows$sampling <- table_errors(draws, slopes, estimate, s)
  rows$hidden <- hidden_errors(estimate, table, s, slopes)
  steepest <- vapply(seq_len(nrow(rows)), function(i) max(abs(slope_of(slopes, i, TRUE))), 0)
  rows <- add_standard_errors(rows, steepest, ends)
  interval_rows(rows, ends, robust_quantile(estimate$options, conf_level))
}

cases_of_a_share <- 2.7 # z^2 of a 90% interval: a share of fewer cases could be any

# Adds standard errors to `rows` with `sampling` and `hidden` errors. If less than half a case of
# one kind was seen, replicates hardly vary. A share of fewer than z^2 cases (2.7 for 90%) is not
# informative. The sampling error is then at least the error of a share of a small number of cases,
# with half a case of each kind added. The number is such that one case changes the share as much as
# the most influential case changes the estimate (`steepest`: the largest slope). A standard
# deviation is at most half the width of the range.
add_standard_errors <- function(rows, steepest, ends) {
  width <- widths(ends)
  cases <- rows$cases <- rows$n * width / steepest
  value <- clip01(to_unit(rows$estimate, ends))
  seen <- pmin(value, 1 - value) * cases
  few <- rows$sampling < 1e-8 * width | seen < 0.5 | cases < cases_of_a_share
  few <- which(few & is.finite(cases))
  share <- (value * cases + 0.5) / (cases + 1)
  least <- width * sqrt(share * (1 - share) / cases)
  rows$sampling[few] <- pmax(least, rows$sampling)[few]
  rows$hidden <- pmin(rows$hidden, width / 2)
  rows$std.error <- pmin(sqrt(rows$sampling^2 + rows$hidden^2), width / 2)
  rows
}

# Standard deviation of the sampling error of each quantity, over replicates of the table. If the
# accuracy varies less in these than its standard error, all errors are scaled up. If it varies
# more, they are not scaled down.
table_errors <- function(draws, slopes, estimate, s) {
  moved <- in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, slopes$n)
    cbind(rowSums(table_sums(tables, slopes$n)$right), along_slopes(slopes, tables))
  })
  error <- apply(moved[!is.na(moved[, 1L]), , drop = FALSE], 2L, stats::sd)
  scale <- estimate$details$sampling[[s]] / error[[1L]]
  error[-1L] * if (is.finite(scale)) max(1, scale) else 1
}

# Standard deviation of the error that shared errors may hide in each quantity. It has two parts.
# The first is along the line between both ends: errors of system and raters independent or shared.
# The second is due to raters who are wrong together. The hidden error of the accuracy then moves
# cases with an answer from other truths to the truth equal to the answer. It may be the same for
# all answers, or differ, so that accuracy stays the same but truths change. The differing part is
# computed from the raters' errors on the cases with the answer. If an answer is rare, these are
# unlike the errors on all cases.
hidden_errors <- function(estimate, table, s, slopes) {
  n <- slopes$n
  line <- along_slopes(slopes, t(end_direction(estimate, table, s, n)))[1L, ]
  square <- matrix(table, n) # answers x truths
  answer_share <- rowSums(square)
  wrong <- square - diag(diag(square), n)
  share <- wrong / replace(rowSums(wrong), rowSums(wrong) == 0, Inf)
  shift <- answer_share * slopes_by_answer(slopes, diag(n) - share)
  by_answer <- hidden_of_system(estimate, s, rater_error = wrong_by_answer(estimate, s))
  hidden_in_all(estimate, s, line, shift, answer_share, by_answer)
}

# Standard deviation of the hidden error. `line`: distance of each quantity between the two ends of
# the range. `shift` (answers x quantities): change of the quantity per unit of error in an answer.
# `answer_share`: share of each answer. `by_answer`: hidden error per answer, for the part that
# differs between answers. The allowance for machines has no such part, because it comes from other
# data sets, which concern accuracies only.
hidden_in_all <- function(estimate, s, line, shift, answer_share, by_answer = raters) {
  raters <- hidden_of_system(estimate, s)
  range <- hidden_of_system(estimate, s, 1)^2 - raters^2
  level <- colSums(shift)
  squares <- colSums((by_answer * (shift - outer(answer_share, level)))^2)
  differing <- if (panel_kind(estimate) == "machines") 0 else cell_bias^2 - 1
  sqrt(pmax(range * line^2 + raters^2 * level^2 + differing * squares, 0))
}

# Estimated share of wrong ratings among cases with each answer; among all cases if there are none.
wrong_by_answer <- function(estimate, s) {
  x <- estimate$fit$x
  answer <- pattern_answers(x)[, s]
  number <- pattern_weights(x) * judged_patterns(estimate$fit) * pattern_lengths(x)
  wrong <- 1 - rowSums(rating_shares(x) * estimate$posterior[[s]])
  use <- number > 0 & answer > 0L & !is.na(wrong)
  sum_by_answer <- function(value) rowsum_codes(answer[use], value[use], n_categories(x))
  share <- sum_by_answer(wrong * number) / sum_by_answer(number)
  ifelse(is.na(share), estimate$details$rater_error[[s]], share)
}

# Direction from the table under shared errors to the table under independent errors. If the
# estimate is from a single model, to the table of the estimate.
end_direction <- function(estimate, table, s, n) {
  ends <- if (length(estimate$end_counts) > 0L) estimate$end_counts[[s]]
  if (length(ends$shared_counts) == 0L) return(rep(0, length(table)))
  if (is_averaged(estimate)) table <- as_shares(ends$independent_counts, n)
  table - as_shares(ends$shared_counts, n)
}

# Limits `z` standard errors around the estimate. The part for sampling has the shape of Wilson's
# interval, for all `cases` (or more, if the error is smaller). The rest of the error is added on
# both sides, as if it did not depend on the value. Alternatively, all of the error is smaller near
# the ends of the scale, like errors of shares. Then the interval is Wilson's for the number of
# cases with this error. The data do not distinguish the two, so the interval contains both. The
# second is left out for fewer than z^2 cases, since it would be centred near one half. `ends`:
# range of each row.
interval_rows <- function(rows, ends, z) {
  at <- which(!is.na(rows$estimate) & !is.na(rows$std.error))
  ends <- ends[at, , drop = FALSE]
  width <- widths(ends)
  value <- clip01(to_unit(rows$estimate[at], ends))
  error <- rows$std.error[at] / width
  cases <- (rows[["cases"]] %||% rows$n)[at]
  # The share as in add_standard_errors().
  share <- ifelse(is.finite(cases), (value * cases + 0.5) / (cases + 1), value)
  variance <- share * (1 - share)
  size <- variance / error^2
  reach_of <- function(size) {
    more <- sqrt(pmax(error^2 - variance / size, 0))
    half_width_with_error(z * more, wilson_interval(value, size, z), value)
  }
  reach <- reach_of(pmax(size, cases, na.rm = TRUE))
  few <- !(size >= z^2)
  reach <- pmax(reach, replace(reach_of(size), c(few, few), 0))
  rows$conf.low[at] <- ends[, 1L] + width * pmax(0, value - reach[, 1L])
  rows$conf.high[at] <- ends[, 1L] + width * pmin(1, value + reach[, 2L])
  rows
}

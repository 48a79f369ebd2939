# Metrics of the joint table of truth and answer: estimates, and intervals without gold. Limits are
# computed on the unit scale, from the lowest to the highest value of a metric.

metrics_of_table <- function(estimate, plan, interval, conf_level,
                             draws = table_draws(estimate, interval),
                             systems = seq_along(estimate$fit$x$systems)) {
  alone <- without_gold(estimate)
  counts <- if (has_posterior(alone)) confusion_counts(alone) # NULL: the method has no table
  tables <- lapply(systems, function(s) {
    found <- point_rows(alone, plan, counts[[s]], s)
    used <- interval_from_ratings(estimate, interval)
    found <- with_table_draws(found, alone, plan, counts[[s]], draws, s, used, conf_level)
    if (measures_by_gold(estimate, interval)) {
      metrics_with_gold(found, estimate, plan, s, interval, conf_level)
    } else {
      with_estimated_accuracy(found, alone, interval, s, conf_level)
    }
  })
  found <- without_parts(stack_rows(tables))
  constant <- found$system %in% estimate$fit$x$constant
  found$reason[is.na(found$estimate) & constant] <- reason_constant_system
  found
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

without_parts <- function(found) found[setdiff(names(found), c("sampling", "hidden", "cases"))]

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

with_table_draws <- function(found, estimate, plan, counts, draws, s, record, conf_level) {
  if (is.null(record$find)) return(found)
  lack <- why_no_kind(record) %||% draws$reason
  if (!is.null(lack)) {
    without_interval(found, lack)
  } else if (is.null(draws$values)) {
    found
  } else if (record$spread == "percentile") {
    percentile_rows(found, estimate, plan, draws, s, conf_level)
  } else {
    delta_rows(found, estimate, plan, counts, draws, s, conf_level)
  }
}

# Rows of one system without intervals.
point_rows <- function(estimate, plan, counts, s) {
  rows <- plan$rows
  value <- rep(NA_real_, nrow(rows))
  reason <- rep(NA_character_, nrow(rows))
  if (is.null(counts)) {
    reason[] <- accuracy_only(estimate)
  } else if (anyNA(counts)) {
    reason[] <- estimate$table$reason[[s]]
  } else {
    value <- metric_values(plan, as_shares(counts, n_categories(plan)))
    reason[is.na(value)] <- undefined_reason(plan)[is.na(value)]
  }
  found <- metric_rows(
    estimate, plan, estimate$table$system[[s]], value, estimate$table$n[[s]], reason
  )
  found[c("hidden", "sampling", "cases")] <- NA_real_
  found
}

# Rows of a system in the form of tidy(), without intervals.
metric_rows <- function(estimate, plan, system, value, n, reason) {
  rows <- plan$rows
  columns_tibble(
    system = rep(system, nrow(rows)), metric = rows$metric, average = rows$average,
    category = rows$category, estimate = na_real(value), std.error = NA_real_,
    conf.low = NA_real_, conf.high = NA_real_, n = n, method = estimate$options$method,
    reason = unname(reason), why = NA_character_
  )
}

undefined_reason <- function(plan) {
  of <- vapply(plan$records, function(record) {
    if (record$ordered && !plan$settings$ordered) without_order else record$undefined
  }, "")[plan$rows$metric]
  averaged <- !is.na(plan$rows$average)
  unname(replace(of, averaged, "it is undefined for a category that it rests on"))
}

# Accuracy is that of the estimate, also if the truth of all cases is known. Its interval is that of
# the estimate if the kind and level are the same.
with_estimated_accuracy <- function(found, estimate, interval, s, conf_level) {
  at <- which(found$metric == built_in_metrics$accuracy$id)
  if (length(at) == 0L || open_share(estimate$fit)[[s]] %in% 0) return(found)
  own <- estimate$table[s, ]
  same <- interval == estimate$options$interval && conf_level == estimate$options$conf_level
  delta <- accuracy_intervals[[interval]]$spread == "delta"
  if (!same && interval == estimate$options$interval && delta) {
    level <- robust_quantile(estimate$options, conf_level)
    own <- with_limits(own, estimate$details$centre[[s]], level)
    same <- TRUE
  }
  reasons <- c("reason", "why")
  columns <- c("estimate", if (same) interval_columns,
    if (same || !has_posterior(estimate)) reasons)
  found[at, columns] <- own[columns]
  found
}

# Percentiles of replicates of the metric.
percentile_rows <- function(found, estimate, plan, draws, s, conf_level) {
  values <- in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, n_categories(plan))
    whole <- stats::complete.cases(tables)
    values <- matrix(NA_real_, nrow(tables), nrow(found))
    values[whole, ] <- metric_values(plan, tables[whole, , drop = FALSE])
    values
  })
  ends <- ranges_of_plan(plan)
  values <- to_unit(values, ends)
  # Replicates of a substitute method are moved to the estimate.
  if (has_stand_in(estimate)) values <- moved_to(values, to_unit(found$estimate, ends))
  unit_percentiles(found, values, ends, conf_level)
}

# Percentiles of replicates on the unit scale, from the lowest to the highest value of each metric.
unit_percentiles <- function(found, values, ends, conf_level) {
  found <- add_intervals(found, core_percentile_intervals(values, conf_level, TRUE))
  wide <- widths(ends)
  found$std.error <- found$std.error * wide
  limits <- c("conf.low", "conf.high")
  found[limits] <- lapply(found[limits], function(end) ends[, 1L] + wide * end)
  found
}

# Maps the range of each column to [0, 1].
to_unit <- function(value, ends) {
  if (is.matrix(value)) ends <- ends[rep(seq_len(nrow(ends)), each = nrow(value)), , drop = FALSE]
  (value - ends[, 1L]) / widths(ends)
}

# The delta method, with the allowance for shared errors.
delta_rows <- function(found, estimate, plan, counts, draws, s, conf_level) {
  table <- as_shares(counts, n_categories(plan))
  if (anyNA(table)) return(found) # `reason` is given already
  slopes <- metric_slopes(plan, table)
  ends <- ranges_of_plan(plan)
  # Sums of cells times slopes, a column per quantity.
  along <- function(tables) along_slopes(slopes, tables)
  errors <- list(
    sampling = table_errors(draws, along, estimate, s),
    hidden = hidden_errors(estimate, table, s, along, function(weight) {
      slopes_by_answer(slopes, weight)
    })
  )
  steepest <- vapply(seq_len(nrow(found)), function(i) max(abs(slope_of(slopes, i, TRUE))), 0)
  found <- add_standard_errors(found, errors, steepest, ends)
  interval_rows(found, ends, robust_quantile(estimate$options, conf_level))
}

cases_of_a_share <- 2.7 # z^2 of a 90% interval: a share of fewer cases could be any

# Adds standard errors. If less than half a case of one kind was seen, replicates hardly vary. A
# share of fewer than z^2 cases (2.7 for 90%) is not informative. The error is then at least the
# error of a share of a small number of cases, with half a case of each kind added. The number is
# such that one case changes the share as much as the most influential case changes the estimate
# (`steepest`: the largest slope). A standard deviation is at most half the width of the range.
add_standard_errors <- function(found, errors, steepest, ends) {
  wide <- widths(ends)
  found$cases <- found$n * wide / steepest
  value <- clip01(to_unit(found$estimate, ends))
  seen <- pmin(value, 1 - value) * found$cases
  open <- errors$sampling < 1e-8 * wide | seen < 0.5 | found$cases < cases_of_a_share
  open <- open & is.finite(found$cases)
  share <- (value * found$cases + 0.5) / (found$cases + 1)
  least <- wide * sqrt(share * (1 - share) / found$cases)
  found$sampling <- ifelse(open %in% TRUE, pmax(least, errors$sampling), errors$sampling)
  found$hidden <- pmin(errors$hidden, wide / 2)
  found$std.error <- pmin(sqrt(found$sampling^2 + found$hidden^2), wide / 2)
  found
}

# Standard deviation of the sampling error of each quantity, over replicates of the table. If the
# accuracy varies less in these than its standard error, all errors are scaled up. If it varies
# more, they are not scaled down.
table_errors <- function(draws, along, estimate, s) {
  n <- n_categories(estimate$fit$x)
  moved <- in_blocks(draws, s, function(counts) {
    tables <- as_shares(counts, n)
    cbind(rowSums(table_sums(tables, n)$right), along(tables))
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
hidden_errors <- function(estimate, table, s, along, by_answer) {
  n <- n_categories(estimate$fit$x)
  line <- along(t(end_direction(estimate, table, s, n)))[1L, ]
  square <- matrix(table, n) # answers x truths
  of_answer <- rowSums(square)
  wrong <- square - diag(diag(square), n)
  share <- wrong / replace(rowSums(wrong), rowSums(wrong) == 0, Inf)
  shift <- of_answer * by_answer(diag(n) - share)
  own <- hidden_of_system(estimate, s, rater_error = wrong_by_answer(estimate, s))
  hidden_in_all(estimate, s, line, shift, of_answer, own)
}

# Standard deviation of the hidden error. `line`: distance of each quantity between the two ends of
# the range. `shift` (answers x quantities): change of the quantity per unit of error in an answer.
# `of_answer`: share of each answer. `own`: hidden error per answer, for the part that differs
# between answers.
hidden_in_all <- function(estimate, s, line, shift, of_answer, own = raters) {
  raters <- hidden_of_system(estimate, s)
  range <- hidden_of_system(estimate, s, 1)^2 - raters^2
  level <- colSums(shift)
  squares <- colSums((own * (shift - outer(of_answer, level)))^2)
  sqrt(pmax(range * line^2 + raters^2 * level^2 + answer_bias_share(estimate) * squares, 0))
}

# Estimated share of wrong ratings among cases with each answer; among all cases if there are none.
wrong_by_answer <- function(estimate, s) {
  x <- estimate$fit$x
  answer <- pattern_answers(x)[, s]
  number <- pattern_weights(x) * judged_patterns(estimate$fit) * pattern_lengths(x)
  wrong <- 1 - rowSums(rating_shares(x) * estimate$posterior[[s]])
  use <- number > 0 & answer > 0L & !is.na(wrong)
  if (!any(use)) return(rep(estimate$details$rater_error[[s]], n_categories(x)))
  sum_of <- function(value) rowsum_codes(answer[use], value[use], n_categories(x))
  share <- sum_of(wrong * number) / sum_of(number)
  ifelse(is.na(share), estimate$details$rater_error[[s]], share)
}

# Additional hidden variance if errors differ between answers. The allowance for machines comes from
# other data sets, which concern accuracies only.
answer_bias_share <- function(estimate) {
  if (panel_kind(estimate) == "machines") 0 else cell_bias^2 - 1
}

# Direction from the table under shared errors to the table under independent errors. If the
# estimate is from a single model, to the table of the estimate.
end_direction <- function(estimate, table, s, n) {
  ends <- if (length(estimate$end_counts) > 0L) estimate$end_counts[[s]]
  if (length(ends$shared_counts) == 0L) return(rep(0, length(table)))
  share <- function(counts) as_shares(counts, n)
  own <- if (is_averaged(estimate)) share(ends$independent_counts) else table
  own - share(ends$shared_counts)
}

# Limits `z` standard errors around the estimate. The part for sampling has the shape of Wilson's
# interval, for all `cases` (or more, if the error is smaller). The rest of the error is added on
# both sides, as if it did not depend on the value. Alternatively, all of the error is smaller near
# the ends of the scale, like errors of shares. Then the interval is Wilson's for the number of
# cases with this error. The data do not distinguish the two, so the interval contains both. The
# second is left out for fewer than z^2 cases, since it would be centred near one half. `ends`:
# range of each row.
interval_rows <- function(found, ends, z) {
  at <- which(!is.na(found$estimate) & !is.na(found$std.error))
  ends <- ends[at, , drop = FALSE]
  wide <- widths(ends)
  value <- clip01(to_unit(found$estimate[at], ends))
  error <- found$std.error[at] / wide
  cases <- (found[["cases"]] %||% found$n)[at]
  # The share as in add_standard_errors().
  share <- ifelse(is.finite(cases), (value * cases + 0.5) / (cases + 1), value)
  own <- share * (1 - share)
  size <- own / error^2
  reach_of <- function(size) {
    rest <- sqrt(pmax(error^2 - own / size, 0))
    reach_with(z * rest, wilson_interval(value, size, z), value)
  }
  reach <- reach_of(pmax(size, cases, na.rm = TRUE))
  few <- !(size >= z^2)
  reach <- pmax(reach, replace(reach_of(size), c(few, few), 0))
  found$conf.low[at] <- ends[, 1L] + wide * pmax(0, value - reach[, 1L])
  found$conf.high[at] <- ends[, 1L] + wide * pmin(1, value + reach[, 2L])
  found
}

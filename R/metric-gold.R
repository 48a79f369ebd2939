# Estimates metrics of systems from gold cases (cases with known truth). These are metrics such as
# recall, cells of confusion matrices, and metrics of scores. Every case is in one cell of the joint
# table of truth and answer. The cell is known for gold cases, and predicted from ratings for other
# cases. The metric is computed from a table in which gold cases correct the predictions. To first
# order, a case changes the metric by the slope (derivative) of its cell. The variance of the metric
# is therefore the variance of the corrected mean slope over all cases.
#
# On the "unit scale" the range of a metric is [0, 1]. A "plan" is the list of requested metrics,
# see metric_plan().

# Replaces estimates of metrics from ratings only by estimates with gold cases.
# * rows: estimates from ratings only, with a row per row of the plan, and columns `sampling` and
#   `hidden` with the two parts of the error
# * s: number of the system
# * interval: name of an interval that uses gold cases
metrics_with_gold <- function(rows, estimate, plan, s, interval, conf_level) {
  evidence <- estimate$gold$evidence
  gold_data <- gold_tables(evidence, s, n_categories(plan))
  ranges <- ranges_of_plan(plan)
  measurements <- NULL
  reason <- rep_len(unname(why_no_gold(estimate, s)), nrow(rows))
  needs_no_gold <- FALSE
  if (!is.null(gold_data)) {
    if (gold_data$all_known) {
      columns <- c("estimate", "reason")
      rows[columns] <- point_rows(estimate, plan, gold_data$gold_table * gold_data$gold, s)[columns]
      rows[is.na(rows$estimate), interval_columns] <- NA_real_
    }
    ranges <- ranges_of_margins(ranges, gold_data$start, plan)
    slope <- unit_slopes(metric_slopes(plan, gold_data$start), ranges)
    needs_no_gold <- uses_answers_only(slope)
    measurements <- gold_metrics(gold_data, slope, plan, ranges)
    reason <- why_no_metrics(gold_data, slope, plan, measurements)
  }
  prior <- rows_to_unit(rows, ranges)
  # Accuracy and precision are shares of correct answers, so gold_accuracy() estimates them. The
  # first column of `evidence$answer` contains all answers, for the accuracy. Each further column
  # contains only the answers of one category, for its precision.
  share <- field_of_rows(plan, "share")
  answer_column <- 1L + ifelse(share == "answer", match(plan$rows$category, plan$categories), 0L)
  share_rows <- which(share != "" & !is.na(answer_column))
  if (!is.null(evidence) && length(share_rows) > 0L) {
    answer <- evidence$answer[, s]
    evidence$answer <- cbind(answer, answer * indicator_matrix(answer, n_categories(plan)))
    measurement <- gold_accuracy(evidence, answer_column[share_rows])
    measured_indices <- share_rows[measurement$known]
    reason[share_rows[is.na(reason[share_rows]) & !measurement$known]] <- reason_not_all_drawn
    reason[measured_indices] <- NA
    for (field in setdiff(names(without_deviations(measurement)), "known")) {
      measurements[[field]] <- replace(measurements[[field]] %||% rep(NA_real_, nrow(rows)),
        measured_indices, measurement[[field]])
    }
    accuracy_rows <- share_rows[answer_column[share_rows] == 1L]
    prior <- Map(replace, prior, list(accuracy_rows),
      estimates_from_ratings(estimate, s)[names(prior)])
  }
  measured_rows(rows, measurements, prior, reason, ranges, estimate, interval, conf_level,
    needs_no_gold)
}

# Replaces estimates and intervals in `rows` by estimates and intervals from gold cases.
# * x: estimate of each row from gold cases, on the unit scale, with the fields of corrected_mean()
# * prior: estimates from ratings only, on the unit scale
# * reason: reason why gold cases do not measure a row, or NA
# * ranges: smallest and largest value of each metric (rows x 2)
# * needs_no_gold: TRUE for rows that do not depend on the truth. Their estimates stay unchanged. If
#   the target is the cases of the data, their error is 0
measured_rows <- function(rows, x, prior, reason, ranges, estimate, interval, conf_level,
                          needs_no_gold = FALSE) {
  has_estimate <- !is.na(rows$estimate)
  # Gold cases also measure quantities that ratings by one rater do not identify.
  is_replaced <- (has_estimate | is_one_rater(estimate$fit$x)) & !needs_no_gold
  exact_rows <- which(
    needs_no_gold & has_estimate & estimate$gold$settings$target == "cases"
  )
  rows[exact_rows, interval_columns] <- as.data.frame(outer(rows$estimate[exact_rows], c(0, 1, 1)))
  reason <- rep_len(unname(reason), nrow(rows))
  rows[is_replaced, interval_columns] <- NA_real_
  rows$reason[is_replaced] <- ifelse(is.na(reason), why_no_cluster_interval(x),
    paste0(no_interval_prefix, reason))[is_replaced]
  measured_indices <- which(is_replaced & is.na(reason))
  if (length(measured_indices) == 0L) return(rows)
  select_measured <- function(fields) lapply(fields, `[`, measured_indices)
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  unit_values <- do.call(cbind, accuracy_intervals[[interval]]$gold$share(
    select_measured(x), select_measured(prior), settings
  )[estimate_columns])
  ranges <- pick_rows(ranges, measured_indices)
  values <- unit_values * widths(ranges) + outer(ranges[, 1L], estimate_columns != "std.error")
  rows[measured_indices, estimate_columns] <- as.data.frame(values)
  rows$n[measured_indices] <-
    estimate$table$n[match(rows$system[measured_indices], estimate$table$system)]
  rows
}

# Returns the ranges of metrics that are possible, given the frequencies of truths and of answers in
# `table`. `ranges`: ranges of all metrics for any table (metrics x 2). Only ranges of metrics that
# can be negative (such as kappa) change, and only with two categories. Their smallest value is
# computed from the table with the least agreement that the frequencies allow.
ranges_of_margins <- function(ranges, table, plan) {
  if (n_categories(plan) != 2L) return(ranges)
  table <- matrix(table, 2L, byrow = TRUE)
  truth <- rowSums(table)
  least_correct <- pmax(0, truth + colSums(table) - 1)
  least_value <- metric_values(plan, c(least_correct[[1L]], truth - least_correct,
    least_correct[[2L]]))
  is_lowered <- ranges[, 1L] < 0 & !is.na(least_value)
  ranges[is_lowered, 1L] <- least_value[is_lowered]
  ranges
}

# Converts estimates from ratings only, and their errors, to the unit scale. `ranges`: range of each
# metric (rows x 2).
rows_to_unit <- function(rows, ranges) {
  list(
    estimate = to_unit(rows$estimate, ranges), std.error = rows$std.error / widths(ranges),
    bias = rows$hidden / widths(ranges)
  )
}

# Returns the gold cases that system number `s` answered, with joint tables of truth and answer.
# NULL if there are no gold cases. `n`: number of categories. The result is a list with the fields
# of select_gold(). Its tables are vectors of probabilities, in which answers vary fastest:
# * gold_table: table of gold cases only
# * mean: table of all cases, predicted from ratings
# * off: table of gold cases, predicted from ratings, minus `mean`
# * start: corrected table, at which slopes are computed. A cell is positive if it is in `mean`
#
# Other fields:
# * predicted: probability of each category, by pattern of ratings (patterns x categories)
# * answer: answer of the system, by pattern
# * all_known: is the truth of all cases known?
gold_tables <- function(evidence, s, n) {
  gold <- if (!is.null(evidence)) gold_of_system(evidence, s)
  if (is.null(gold)) return(NULL)
  answer <- evidence$answer[, s]
  predicted <- fill_unrated(evidence$predicted, gold$weight)
  # The mean probability of each cell over the patterns `at`, which have weights `w`.
  predicted_table <- function(at, w) {
    is_answer <- indicator_matrix(answer[at], n)
    as.vector(crossprod(is_answer * w, pick_rows(predicted, at))) / sum(w)
  }
  mean <- predicted_table(seq_along(answer), gold$weight)
  off <- predicted_table(gold$at, gold$w) - mean
  gold_table <- rowsum_codes((gold$truth - 1L) * n + answer[gold$at], gold$w / sum(gold$w), n^2)
  start <- pmax(gold_table - prior_slope * off, 0)
  c(gold, list(
    answer = answer, predicted = predicted, mean = mean, gold_table = gold_table, off = off,
    start = (gold$gold * start / sum(start) + mean) / (gold$gold + 1),
    all_known = gold$gold >= sum(gold$weight)
  ))
}

# Returns TRUE for metrics that depend only on the answers and not on the truth. An example is the
# share of an answer. `slope`: derivatives of metrics with respect to cells (cells x metrics).
uses_answers_only <- function(slope) {
  n <- sqrt(nrow(slope))
  slope_of_first_truth <- pick_rows(slope, rep(seq_len(n), n))
  colSums(abs(slope - slope_of_first_truth) >= 1e-9) %in% 0 & colSums(abs(slope) >= 1e-9) > 0
}

# Returns slopes of metrics on the unit scale (cells x rows of the plan). `slopes`: result of
# metric_slopes().
unit_slopes <- function(slopes, ranges) {
  unscaled_slopes <- vapply(
    seq_along(slopes$whole), slopes_of_row, numeric(slopes$n^2), slopes = slopes
  )
  unscaled_slopes / rep(widths(ranges), each = nrow(unscaled_slopes))
}

# Estimates metrics of the joint table of truth and answer from gold cases. Returns the fields of
# corrected_mean() on the unit scale, with an element per row of the plan. The estimate is NA if the
# metric does not vary between gold cases. `gold_data`: result of gold_tables(). `slope`: result of
# unit_slopes().
gold_metrics <- function(gold_data, slope, plan, ranges) {
  # Expected variance of the slopes. It is used as the lower limit of their variance, because a few
  # gold cases may have equal slopes by chance.
  slope_variance <- colSums(gold_data$start * slope^2)
  influence <- function(i) { # 0 without an answer
    pick_rows(rbind(0, matrix(slope[, i], ncol(gold_data$predicted))), gold_data$answer + 1L)
  }
  scale <- function(mean, spread, gold) pmax(spread, slope_variance)
  largest_slope <- apply(abs(slope), 2L, max)
  value <- function(mean, slope) {
    # Each row of the plan has a separate table of truth and answer.
    shares <- t(pmax(gold_data$gold_table - outer(gold_data$off, slope), 0))
    tables <- shares / rowSums(shares)
    values <- lapply(unique(plan$rows$metric), function(id) {
      plan$records <- plan$records[id]
      diag(metric_values(plan, pick_rows(tables, plan$rows$metric == id)))
    })
    to_unit(unlist(values), ranges)
  }
  gold_influence(gold_data, gold_data$predicted, influence, scale, largest_slope, value)
}

# Estimates metrics from gold cases by the influence of each case, that is, the change of the metric
# per case. Returns the fields of corrected_mean() on the unit scale.
# * predicted: probabilities of categories (patterns x categories, or cases x categories)
# * influence: function that returns the influence of each pattern (or case) for each possible
#   truth, in the form of `predicted`. Its argument is the row number of a metric
# * scale: function that returns the variance of the influence, see corrected_mean()
# * steepest: largest influence on each metric, see measurement_as_share()
# * value: function that returns the metrics on the unit scale. Its arguments are corrected means
#   and their slopes
gold_influence <- function(gold_data, predicted, influence, scale, steepest, value) {
  gold_rows <- seq_along(gold_data$at)
  columns <- vapply(seq_along(steepest), function(i) {
    change <- influence(i)
    c(change[cbind(gold_data$at, gold_data$truth)], rowSums(predicted * change))
  }, numeric(length(gold_rows) + nrow(predicted)))
  x <- gold_quantity(
    gold_data, pick_rows(columns, gold_rows), pick_rows(columns, -gold_rows),
    function(...) corrected_mean(..., scale = scale),
    function(x) {
      measurement_as_share(x, value(x$estimate, x$slope), value(x$alone, 0 * x$slope), steepest)
    }
  )
  without_deviations(x)
}

# Converts an estimate of metrics from gold cases to the form of an estimated share, because
# intervals are computed for shares. The variance of a case becomes value (1 - value). Half a
# correct and half a wrong case are added, so that the variance is not 0. The variance ratios are
# multiplied so that the standard error stays the same.
# * x: estimate, see corrected_mean()
# * value: metrics on the unit scale
# * `alone`: metrics on the unit scale, from gold cases only
# * steepest: largest change of each metric by one case; 0 for no lower bound of the error
#
# Gold cases may hardly vary if they are few, or if nearly all are correct or wrong. The error is
# then at least the error of a share of `min_cases` cases. For this number, one case changes the
# share as much as the most influential case changes the metric. See also add_standard_errors().
# The field `labels` is also at most `min_cases`. Example: only 3 of 100 gold cases may be of the
# category of a recall.
measurement_as_share <- function(x, value, alone, steepest) {
  variance_of_share <- function(equivalent_cases) {
    bernoulli_variance(add_half_cases(value, equivalent_cases))
  }
  value[x$variance <= 1e-18] <- NA
  equivalent_cases <- x$gold * variance_of_share(x$gold) / x$variance
  variance <- variance_of_share(pmin(max_effective_size, pmax(x$gold, equivalent_cases)))
  min_cases <- x$gold / steepest
  is_few <- pmin(value, 1 - value) * min_cases < 0.5 | min_cases < cases_of_a_share
  few_rows <- which(is_few & variance / x$variance > 1 / steepest)
  variance[few_rows] <- variance_of_share(min_cases)[few_rows]
  x$variance[few_rows] <- (variance * steepest)[few_rows]
  x$labels <- pmin(x$labels, min_cases)
  x$at_hand <- x$variance / variance
  x$ratio <- x$ratio * x$at_hand
  x$design <- x$design * x$at_hand
  replace(x, c("estimate", "alone", "seen", "variance"), list(value, alone, alone, variance))
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric, or NA.
# `x`: result of gold_metrics(). A metric needs these gold cases:
# * Metric of a category: cases whose truth is the category, and cases with the category as answer.
#   The latter are not needed if cases with another truth do not matter, as for recall.
# * Average over categories: the same for all categories.
# * Metric of the whole table: any cases. Metrics that can be negative, such as kappa, need cases of
#   at least two categories.
why_no_metrics <- function(gold_data, slope, plan, x) {
  n <- n_categories(plan)
  gold_totals <- table_sums(matrix(gold_data$gold_table, 1L), n)
  expected_totals <- table_sums(matrix(gold_data$mean, 1L), n)
  needs_no_case <- is.na(plan$rows$average) & is.na(plan$rows$category) &
    (ranges_of_plan(plan)[, 1L] >= 0 | sum(gold_totals$truth > 0) > 1L)
  reason_by_row(plan, x, expected_totals$truth > 0,
    "no gold case is of category %s, or none has it as answer", function(i) {
    if (gold_data$all_known || needs_no_case[[i]]) return(FALSE)
    changes_metric <- matrix(abs(slope[, i]) >= 1e-9, n) # answers x truths
    gold_totals$truth <= 0 | (gold_totals$answer <= 0 & expected_totals$answer > 0 &
      colSums(changes_metric) < sum(changes_metric))
  })
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric, or NA. A
# missing estimate is also a reason.
# * x: estimates of the rows
# * expected: TRUE for categories of which a row without a category needs gold cases
# * words: the reason, with %s for the first category without gold cases
# * absent: function of a row number that returns TRUE for categories without gold cases
reason_by_row <- function(plan, x, expected, words, absent) {
  map_chr(seq_along(x$estimate), function(i) {
    category <- plan$rows$category[[i]]
    is_needed <- if (is.na(category)) expected else plan$categories == category
    lacking_categories <- plan$categories[is_needed & absent(i)]
    if (length(lacking_categories) > 0L) return(sprintf(words, lacking_categories[[1L]]))
    if (is.na(x$estimate[[i]])) "this metric does not vary between gold cases" else NA_character_
  })
}

# ---- Metrics of scores ---------------------------------------------------------------------------
# The influence of a gold case on the metric is computed from its truth, and also predicted from its
# ratings. For influence, see metric-influence.R.

# Replaces metrics of scores of a system by estimates with gold cases. `rows`: metrics estimated
# from ratings only. Their column `hidden` is the standard deviation of the bias due to shared
# errors. `judge`: a list with the scores of the system and the posterior probabilities of its
# cases, see score_panel().
score_metrics_with_gold <- function(rows, estimate, plan, judge, interval, conf_level) {
  gold_data <- scored_gold(estimate, judge)
  ranges <- ranges_of_plan(plan)
  reason <- if (is.null(estimate$gold$evidence)) {
    why_no_evidence(estimate)
  } else if (gold_data$gold == 0L) {
    "the system has no scores for gold cases"
  } else if (!gold_data$representative) {
    reason_not_all_drawn
  }
  measurements <- NULL
  if (is.null(reason)) {
    judge$truth[gold_data$at] <- gold_data$truth
    judge$w <- score_weights(judge)
    measurements <- gold_scores(gold_data, plan, judge, ranges)
    expected <- colSums(judge$p * judge$v) >= min_expected_cases
    is_of_category <- field_of_rows(plan, "form") == "category"
    reason <- reason_by_row(plan, measurements, expected, "no gold case is of category %s",
      function(i) is_of_category[[i]] & !seq_along(expected) %in% gold_data$truth)
  }
  rows <- measured_rows(rows, measurements, rows_to_unit(rows, ranges), reason, ranges, estimate,
    interval, conf_level)
  lower_limits_by_gaps(rows, plan, judge, normal_quantile(conf_level))
}

# Returns the gold cases for which a system has scores, with the fields of select_gold(). The field
# `at` is the position of each gold case among the scored cases in `judge`, see score_panel().
scored_gold <- function(estimate, judge) {
  gold <- estimate$gold
  weight <- judge$v
  position <- match(gold$case, judge$at)
  scored_rows <- which(!is.na(position))
  gold_rows <- rep.int(scored_rows, weight[position[scored_rows]])
  w <- drawn_weight(gold, gold_rows)
  cluster <- estimate$options$cluster
  list(
    at = position[gold_rows], truth = gold$truth[gold_rows], w = w, gold = length(gold_rows),
    weight = weight, cluster = cluster[gold$case[gold_rows]],
    all_clusters = if (!is.null(cluster)) list(
      pattern = seq_along(judge$at), cluster = cluster[judge$at], weight = weight
    ),
    representative = are_representative(
      as.matrix(weight), as.matrix(w), !is.null(gold$probability)
    )
  )
}

# Estimates metrics of scores from gold cases. Returns the fields of corrected_mean() on the unit
# scale. `gold_data`: result of scored_gold(). `judge`: scores of the system and weights of its
# cases, see score_panel(). Gold cases in `judge` have their known truth. Metrics whose field
# `linear` is TRUE are corrected only to first order. They are exact if all truths are known.
gold_scores <- function(gold_data, plan, judge, ranges) {
  start_values <- to_unit(score_values(plan, judge), ranges)
  influence <- Map(`/`, score_influence(plan, judge), widths(ranges))
  mean_influence <- map_dbl(influence, mean_loss, judge$w, judge$v)
  influence_variance <- unlist(Map(
    function(values, mean) mean_loss((values - mean)^2, judge$p, judge$v), influence, mean_influence
  ))
  is_linear <- field_of_rows(plan, "linear")
  gold_truths <- indicator_matrix(gold_data$truth, ncol(judge$p))
  gold_weight <- gold_data$w / sum(gold_data$w) * sum(judge$v) / judge$v[gold_data$at]
  # Variance of the influence, shrunk to its expected value. A few gold cases may have equal
  # influence by chance.
  scale <- function(mean, spread, gold) {
    (gold * spread + prior_cases * influence_variance) / (gold + prior_cases)
  }
  values_on_unit <- function(mean, slope) {
    value <- clip01(start_values + mean - mean_influence)
    for (share in unique(slope[!is_linear])) {
      row_numbers <- which(!is_linear & slope %in% share)
      # The weight of each case for each possible true category is the predicted probability times
      # the slope. For gold cases, the weighted difference between truth and prediction is added.
      weights <- share * judge$p
      difference <- gold_truths - pick_rows(weights, gold_data$at)
      judge$w <- weights + rowsum_rows(gold_data$at, difference * gold_weight, nrow(weights))
      value[row_numbers] <- to_unit(score_values(plan, judge), ranges)[row_numbers]
    }
    value
  }
  gold_influence(
    gold_data, judge$p, function(i) influence[[i]], scale, 0 * influence_variance, values_on_unit
  )
}

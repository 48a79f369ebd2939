# Estimates metrics of systems (such as recall), cells of confusion matrices and metrics of scores
# from gold cases (cases with known truth). To first order, a case changes a metric by the slope
# (derivative) of its cell in the joint table of truth and answer. The cell is known for gold cases,
# and predicted from ratings for other cases. The metric is computed from a table in which gold
# cases correct the predictions. Its variance is the variance of the corrected mean of the slopes
# over all cases.
#
# Values on the "unit scale" are transformed so that the range of the metric is [0, 1]. A "plan" is
# the list of requested metrics, see metric_plan().

# Replaces metrics of system number `s` that are estimated from ratings only by estimates with gold
# cases. `rows`: table of the metrics from ratings only, with a row per row of the plan, and their
# `sampling` and `hidden` errors. `interval`: name of an interval that uses gold cases.
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
  prior <- unit_rows(rows, ranges)
  # Accuracy and precision are shares of correct answers, and are estimated by gold_accuracy().
  # Column 1 of `evidence$answer` contains all answers, for the accuracy. The next columns, one per
  # category, contain only the answers of this category, for its precision.
  share <- field_of_rows(plan, "share")
  column <- 1L + ifelse(share == "answer", match(plan$rows$category, plan$categories), 0L)
  share_rows <- which(share != "" & !is.na(column))
  if (!is.null(evidence) && length(share_rows) > 0L) {
    answer <- evidence$answer[, s]
    evidence$answer <- cbind(answer, answer * outer(answer, seq_len(n_categories(plan)), `==`))
    measurement <- gold_accuracy(evidence, column[share_rows])
    measured <- share_rows[measurement$known]
    reason[share_rows[is.na(reason[share_rows]) & !measurement$known]] <- reason_not_all_drawn
    reason[measured] <- NA
    for (field in setdiff(names(measurement), c("rest", "answers", "known"))) {
      measurements[[field]] <- replace(measurements[[field]] %||% rep(NA_real_, nrow(rows)),
        measured, measurement[[field]])
    }
    accuracy_rows <- share_rows[column[share_rows] == 1L]
    prior <- Map(replace, prior, list(accuracy_rows),
      estimates_from_ratings(estimate, s)[names(prior)])
  }
  measured_rows(rows, measurements, prior, reason, ranges, estimate, interval, conf_level,
    needs_no_gold)
}

# Replaces estimates and intervals in `rows` by those from gold cases. `x`: estimate of each row
# from gold cases, with the fields of correct_mean(). `prior`: estimates from ratings only. Both are
# on the unit scale, on which the range of a metric (`ranges`, rows x 2) is [0, 1]. `reason`: reason
# why gold cases do not measure a row, or NA. `needs_no_gold`: TRUE for rows that do not depend on
# the truth. Their estimates stay unchanged. They have no error if the target is these cases.
measured_rows <- function(rows, x, prior, reason, ranges, estimate, interval, conf_level,
                          needs_no_gold = FALSE) {
  # Gold cases also measure quantities that ratings by one rater do not identify.
  wanted <- (!is.na(rows$estimate) | is_one_rater(estimate$fit$x)) & !needs_no_gold
  exact <- which(needs_no_gold & !is.na(rows$estimate) & estimate$gold$settings$target == "cases")
  rows[exact, interval_columns] <- as.data.frame(outer(rows$estimate[exact], c(0, 1, 1)))
  reason <- rep_len(unname(reason), nrow(rows))
  rows[wanted, interval_columns] <- NA_real_
  rows$reason[wanted] <- ifelse(is.na(reason), why_few_clusters(x),
    paste0(no_interval, reason))[wanted]
  measured <- which(wanted & is.na(reason))
  if (length(measured) == 0L) return(rows)
  select_measured <- function(fields) lapply(fields, `[`, measured)
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  record <- accuracy_intervals[[interval]]
  unit_values <- do.call(cbind, record$gold$share(select_measured(x), select_measured(prior),
    settings)[estimate_columns])
  ranges <- ranges[measured, , drop = FALSE]
  values <- unit_values * widths(ranges) + outer(ranges[, 1L], estimate_columns != "std.error")
  rows[measured, estimate_columns] <- as.data.frame(values)
  rows$n[measured] <- estimate$table$n[match(rows$system[measured], estimate$table$system)]
  rows
}

# Returns the ranges of metrics that are possible if the frequencies of truths and of answers are
# those in `table`. `ranges`: ranges of all metrics for any table (metrics x 2). With two
# categories, the smallest value of metrics that can be negative (such as kappa) is computed from
# the table with the least agreement that the frequencies allow. If a category is rare, this value
# is nearly 0.
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

# Converts estimates from ratings only, and their errors, to the unit scale, on which `ranges` are
# [0, 1].
unit_rows <- function(rows, ranges) {
  list(
    estimate = to_unit(rows$estimate, ranges), std.error = rows$std.error / widths(ranges),
    bias = rows$hidden / widths(ranges)
  )
}

# Returns the gold cases that system number `s` answered, with the fields of select_gold() and joint
# tables of truth and answer (vectors of probabilities, in which answers vary fastest); NULL if
# there are no gold cases. `gold_table`: table of gold cases only. `mean`: table of all cases,
# predicted from ratings. `off`: predicted table of gold cases, minus `mean`. `start`: corrected
# table at which slopes are computed; its cells are positive if they are positive in `mean`. Fields
# by pattern of ratings: `predicted`, probability of each category; `answer`. `all_known`: is the
# truth of all cases known? Argument `n`: number of categories.
gold_tables <- function(evidence, s, n) {
  gold_data <- if (!is.null(evidence)) gold_of_system(evidence, s)
  if (is.null(gold_data)) return(NULL)
  answer <- gold_data$answer <- evidence$answer[, s]
  gold_data$predicted <- fill_unrated(evidence$predicted, gold_data$weight)
  gold_data$mean <- predicted_table(gold_data, seq_along(answer), gold_data$weight)
  w <- gold_data$w / sum(gold_data$w)
  gold_data$gold_table <- rowsum_codes((gold_data$truth - 1L) * n + answer[gold_data$at], w, n^2)
  gold_data$off <- predicted_table(gold_data, gold_data$at, gold_data$w) - gold_data$mean
  start <- pmax(gold_data$gold_table - prior_slope * gold_data$off, 0)
  gold_data$start <- (gold_data$gold * start / sum(start) + gold_data$mean) / (gold_data$gold + 1)
  gold_data$all_known <- gold_data$gold >= sum(gold_data$weight)
  gold_data
}

# Returns the joint table of truth and answer that ratings predict: the mean probability of each
# cell over the patterns of ratings `at`, with weights `w`.
predicted_table <- function(gold_data, at, w) {
  answered <- outer(gold_data$answer[at], seq_len(ncol(gold_data$predicted)), `==`)
  as.vector(crossprod(answered * w, gold_data$predicted[at, , drop = FALSE])) / sum(w)
}

# Returns TRUE for metrics that depend only on the answers and not on the truth, such as the share
# of an answer. `slope`: derivatives of metrics with respect to cells (cells x metrics).
uses_answers_only <- function(slope) {
  n <- sqrt(nrow(slope))
  first_truth <- slope[rep(seq_len(n), n), , drop = FALSE]
  colSums(abs(slope - first_truth) >= 1e-9) %in% 0 & colSums(abs(slope) >= 1e-9) > 0
}

# Returns slopes of metrics on the unit scale (cells x rows of the plan). `slopes`: result of
# metric_slopes().
unit_slopes <- function(slopes, ranges) {
  unscaled_slopes <- vapply(seq_along(slopes$whole), slope_of, numeric(slopes$n^2), slopes = slopes)
  unscaled_slopes / rep(widths(ranges), each = nrow(unscaled_slopes))
}

# Estimates metrics of the joint table of truth and answer from gold cases. Returns the fields of
# correct_mean() on the unit scale, with an element per row of the plan. The estimate is NA if gold
# cases do not vary in the metric. `gold_data`: result of gold_tables(). `slope`: result of
# unit_slopes().
gold_metrics <- function(gold_data, slope, plan, ranges) {
  # Expected variance of the slopes. It is the lower limit of their variance among gold cases,
  # because a few gold cases may have equal slopes by chance.
  slope_variance <- colSums(gold_data$start * slope^2)
  influence <- function(i) { # 0 without an answer
    rbind(0, matrix(slope[, i], ncol(gold_data$predicted)))[gold_data$answer + 1L, , drop = FALSE]
  }
  scale <- function(mean, spread, gold) pmax(spread, slope_variance)
  steepest <- apply(abs(slope), 2L, max)
  gold_influence(gold_data, gold_data$predicted, influence, scale, steepest, function(mean, slope) {
    shares <- t(pmax(gold_data$gold_table - outer(gold_data$off, slope), 0))
    to_unit(values_by_row(plan, shares / rowSums(shares)), ranges)
  })
}

# Estimates metrics from gold cases by the influence of each case, that is, the change of the metric
# per case. Returns the fields of correct_mean() on the unit scale. `predicted`: probabilities of
# categories (patterns, or cases, x categories). `influence`: function of the row number of a metric
# that returns the influence of each pattern (or case) for each possible truth, in the form of
# `predicted`. `scale`: see correct_mean(). `steepest`: largest influence on each metric, see
# measurement_as_share(). `value`: function of corrected means and their slopes that returns the
# metrics on the unit scale.
gold_influence <- function(gold_data, predicted, influence, scale, steepest, value) {
  gold_rows <- seq_along(gold_data$at)
  columns <- vapply(seq_along(steepest), function(i) {
    change <- influence(i)
    c(change[cbind(gold_data$at, gold_data$truth)], rowSums(predicted * change))
  }, numeric(length(gold_rows) + nrow(predicted)))
  correct <- function(...) correct_mean(..., scale = scale)
  x <- gold_quantity(
    gold_data, columns[gold_rows, , drop = FALSE], columns[-gold_rows, , drop = FALSE], correct,
    function(x) {
      measurement_as_share(x, value(x$estimate, x$slope), value(x$alone, 0 * x$slope), steepest)
    }
  )
  x[setdiff(names(x), c("rest", "answers"))]
}

# Returns the values of all rows of a plan, if each row is computed from a separate table of truth
# and answer. `tables`: rows of the plan x cells.
values_by_row <- function(plan, tables) {
  unlist(lapply(unique(plan$rows$metric), function(id) {
    plan$records <- plan$records[id]
    diag(metric_values(plan, tables[plan$rows$metric == id, , drop = FALSE]))
  }))
}

# Converts the estimate `x` of a metric from gold cases (see correct_mean()) to the form of an
# estimated share, because intervals are computed for shares. `value`: metric on the unit scale.
# `alone`: the same from gold cases only. The variance of a case becomes value (1 - value), with
# half a correct and half a wrong case added so that it is not 0. The variance ratios are multiplied
# so that the standard error stays the same.
#
# Gold cases may hardly vary if they are few, or if nearly all are correct or wrong. The error is
# then at least the error of a share of few cases. Their number is such that one case changes the
# share as much as the most influential case changes the metric (`steepest`; 0: no lower bound of
# the error). See also add_standard_errors(). The number of gold cases that can contradict the
# estimate from ratings (`labels`) is at most this number: of 100 gold cases, 3 may be of the
# category of a recall.
measurement_as_share <- function(x, value, alone, steepest) {
  variance_of_share <- function(equivalent_cases) {
    share <- add_half_cases(value, equivalent_cases)
    share * (1 - share)
  }
  value[x$variance <= 1e-18] <- NA
  equivalent_cases <- x$gold * variance_of_share(x$gold) / x$variance
  variance <- variance_of_share(pmin(max_information, pmax(x$gold, equivalent_cases)))
  least_cases <- x$gold / steepest
  is_few <- pmin(value, 1 - value) * least_cases < 0.5 | least_cases < cases_of_a_share
  few_rows <- which(is_few & variance / x$variance > 1 / steepest)
  variance[few_rows] <- variance_of_share(least_cases)[few_rows]
  x$variance[few_rows] <- (variance * steepest)[few_rows]
  x$labels <- pmin(x$labels, least_cases)
  x$at_hand <- x$variance / variance
  x$ratio <- x$ratio * x$at_hand
  x$design <- x$design * x$at_hand
  replace(x, c("estimate", "alone", "seen", "variance"), list(value, alone, alone, variance))
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric, or NA. A
# metric of a category needs gold cases whose truth is the category. It also needs gold cases with
# the category as answer, unless it does not depend on cases with another truth (such as recall).
# Averages need both for all categories. Metrics of the whole table need no case of a certain
# category, but metrics of agreement beyond chance are undefined if all gold cases have the same
# truth. `x`: result of gold_metrics().
why_no_metrics <- function(gold_data, slope, plan, x) {
  n <- n_categories(plan)
  gold <- table_sums(matrix(gold_data$gold_table, 1L), n)
  expected <- table_sums(matrix(gold_data$mean, 1L), n)
  words <- "no gold case is of category %s, or none has it as answer"
  needs_no_case <- is.na(plan$rows$average) & is.na(plan$rows$category) &
    (ranges_of_plan(plan)[, 1L] >= 0 | sum(gold$truth > 0) > 1L)
  why_no_rows(plan, x, expected$truth > 0, words, function(i) {
    if (gold_data$all_known || needs_no_case[[i]]) return(FALSE)
    changes_metric <- matrix(abs(slope[, i]) >= 1e-9, n) # answers x truths
    gold$truth <= 0 | (gold$answer <= 0 & expected$answer > 0 &
      colSums(changes_metric) < sum(changes_metric))
  })
}

# Returns, for each row of the plan, the reason why gold cases do not measure it, or NA. `absent`:
# function of a row number that returns TRUE for categories without gold cases. A row needs gold
# cases of its category or, if it has no category, of all categories for which `expected` is TRUE.
# `words`: the reason, with %s for the first category without gold cases. `x`: estimates of the
# rows; a missing estimate is also a reason.
why_no_rows <- function(plan, x, expected, words, absent) {
  map_chr(seq_along(x$estimate), function(i) {
    category <- plan$rows$category[[i]]
    needed <- if (is.na(category)) expected else plan$categories == category
    lacking <- plan$categories[needed & absent(i)]
    if (length(lacking) > 0L) return(sprintf(words, lacking[[1L]]))
    if (is.na(x$estimate[[i]])) "this metric does not vary between gold cases" else NA_character_
  })
}

# ---- Metrics of scores ---------------------------------------------------------------------------
# The influence of a gold case on the metric (see metric-influence.R) is computed from its truth. It
# is also predicted from its ratings.

# Replaces metrics of scores of a system by estimates with gold cases. `rows`: table of the metrics
# estimated from ratings only, with `hidden` errors. `judge`: scores of the system and posterior
# probabilities of its cases, see score_panel().
score_metrics_with_gold <- function(rows, estimate, plan, judge, interval, conf_level) {
  gold_data <- scored_gold(estimate, judge)
  ranges <- ranges_of_plan(plan)
  prior <- unit_rows(rows, ranges)
  reason <- why_no_scored(estimate, gold_data)
  measurements <- NULL
  if (is.na(reason)) {
    judge$truth[gold_data$at] <- gold_data$truth
    judge$w <- score_weights(judge)
    measurements <- gold_scores(gold_data, plan, judge, ranges)
    reason <- why_no_scores(gold_data, plan, judge, measurements)
  }
  rows <- measured_rows(rows, measurements, prior, reason, ranges, estimate, interval, conf_level)
  lower_limits_by_gaps(rows, plan, judge, normal_quantile(conf_level))
}

# Returns the gold cases for which a system has scores, with fields as in select_gold(). `at`:
# position of each gold case among the scored cases in `judge`, see score_panel().
scored_gold <- function(estimate, judge) {
  gold <- estimate$gold
  position <- match(gold$case, judge$at)
  copies <- rep.int(which(!is.na(position)), judge$v[position[!is.na(position)]])
  w <- drawn_weight(gold, copies)
  list(
    at = position[copies], truth = gold$truth[copies], w = w, gold = length(copies),
    weight = judge$v, cluster = estimate$options$cluster[gold$case[copies]],
    all_clusters = if (!is.null(estimate$options$cluster)) list(
      pattern = seq_along(judge$at), cluster = estimate$options$cluster[judge$at], weight = judge$v
    ),
    representative = are_representative(
      as.matrix(judge$v), as.matrix(w), !is.null(gold$probability)
    )
  )
}

# Estimates metrics of scores from gold cases. Returns the fields of correct_mean() on the unit
# scale. `gold_data`: result of scored_gold(). `judge`: see score_panel(), with the truth of gold
# cases. Some metrics are corrected only to first order. The correction starts from the metric in
# which gold cases have their truth, so it is exact if all truths are known.
gold_scores <- function(gold_data, plan, judge, ranges) {
  start <- to_unit(score_values(plan, judge$book, judge$w, judge$v), ranges)
  influence <- Map(`/`, score_influence(plan, judge$book, judge$w, judge$v), widths(ranges))
  mean_influence <- vapply(influence, mean_loss, 0, judge$w, judge$v)
  influence_variance <- unlist(Map(function(g, m) mean_loss((g - m)^2, judge$p, judge$v),
    influence, mean_influence))
  is_linear <- field_of_rows(plan, "linear")
  by_row <- function(i) influence[[i]]
  # Variance of the influence, shrunk to its expected value because few gold cases may be equal by
  # chance.
  scale <- function(mean, spread, gold) {
    (gold * spread + prior_cases * influence_variance) / (gold + prior_cases)
  }
  gold_influence(gold_data, judge$p, by_row, scale, 0 * influence_variance, function(mean, slope) {
    value <- clip01(start + mean - mean_influence)
    for (share in unique(slope[!is_linear])) {
      at <- which(!is_linear & slope %in% share)
      moved <- score_values(plan, judge$book, gold_weights(gold_data, judge, share), judge$v)[at]
      value[at] <- to_unit(moved, ranges[at, , drop = FALSE])
    }
    value
  })
}

# Returns the weight with which each case counts for each possible true category (cases x
# categories): predicted probability times `slope`, plus a correction for the difference between
# truth and prediction in gold cases.
gold_weights <- function(gold_data, judge, slope) {
  weights <- slope * judge$p
  at <- gold_data$at
  difference <- outer(gold_data$truth, seq_len(ncol(weights)), `==`) - weights[at, , drop = FALSE]
  share <- gold_data$w / sum(gold_data$w) * sum(judge$v) / judge$v[at]
  weights + apply(difference * share, 2L, rowsum_codes, code = at, n = nrow(weights))
}

# Returns the reason why gold cases cannot measure any metric of the scores of a system, or NA.
why_no_scored <- function(estimate, gold_data) {
  if (is.null(estimate$gold$evidence)) return(why_no_evidence(estimate))
  if (gold_data$gold == 0L) return("the system has no scores for gold cases")
  if (gold_data$representative) NA_character_ else reason_not_all_drawn
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric of scores,
# or NA.
why_no_scores <- function(gold_data, plan, judge, x) {
  expected <- colSums(judge$p * judge$v) >= few_cases
  why_no_rows(plan, x, expected, "no gold case is of category %s", function(i) {
    field_of_rows(plan, "form")[[i]] == "category" & !seq_along(expected) %in% gold_data$truth
  })
}

# Estimates metrics of systems, such as recall, from gold cases (cases with known truth) and
# ratings. A metric is computed from the joint table of truth and answer of the gold cases. This
# table is corrected by the difference between two tables that are predicted from ratings: the table
# of gold cases and the table of all cases.
#
# The slope of a cell is the derivative of the metric with respect to the cell. The variance of the
# metric is about the variance of the mean slope over cases.
#
# On the "unit scale" the range of a metric is [0, 1]. A "plan" is the list of requested metrics,
# see metric_plan().

# Replaces estimates of metrics in `rows` by estimates from gold cases and ratings.
# * rows: estimates from ratings without gold cases, with a row per row of the plan. The columns
#   `sampling` and `hidden` contain the standard errors due to sampling and due to shared errors
# * s: number of the system
# * interval: name of an interval that uses gold cases
metrics_with_gold <- function(rows, estimate, plan, s, interval, conf_level) {
  evidence <- estimate$gold$evidence
  gold_data <- gold_tables(evidence, s, n_categories(plan))
  ranges <- ranges_of_plan(plan)
  measurements <- NULL
  reasons <- rep_len(unname(why_no_gold(estimate, s)), nrow(rows))
  needs_no_gold <- FALSE
  if (!is.null(gold_data)) {
    if (gold_data$all_known) {
      columns <- c("estimate", "reason")
      rows[columns] <- point_rows(estimate, plan, gold_data$gold_table * gold_data$gold, s)[columns]
      rows[is.na(rows$estimate), interval_columns] <- NA_real_
    }
    ranges <- ranges_of_margins(ranges, gold_data$start, plan)
    slopes <- unit_slopes(metric_slopes(plan, gold_data$start), ranges)
    needs_no_gold <- uses_answers_only(slopes)
    measurements <- gold_metrics(gold_data, slopes, plan, ranges)
    reasons <- why_no_metrics(gold_data, slopes, plan, measurements)
  }
  prior <- rows_to_unit(rows, ranges)
  # Accuracy and precision are shares of correct answers, so gold_accuracy() estimates them. The
  # first column of `evidence$answer` contains all answers, for the accuracy. Each further column
  # contains only the answers of one category, for its precision.
  share_field <- field_of_rows(plan, "share")
  answer_columns <- 1L +
    ifelse(share_field == "answer", match(plan$rows$category, plan$categories), 0L)
  share_rows <- which(share_field != "" & !is.na(answer_columns))
  if (!is.null(evidence) && length(share_rows) > 0L) {
    answer <- evidence$answer[, s]
    evidence$answer <- cbind(answer, answer * indicator_matrix(answer, n_categories(plan)))
    accuracy_measurement <- gold_accuracy(evidence, answer_columns[share_rows])
    measured_indices <- share_rows[accuracy_measurement$known]
    unmeasured_indices <- share_rows[!accuracy_measurement$known]
    reasons[unmeasured_indices[is.na(reasons[unmeasured_indices])]] <- reason_not_all_drawn
    reasons[measured_indices] <- NA
    for (field in setdiff(names(without_deviations(accuracy_measurement)), "known")) {
      measurements[[field]] <- replace(measurements[[field]] %||% rep(NA_real_, nrow(rows)),
        measured_indices, accuracy_measurement[[field]])
    }
    accuracy_rows <- share_rows[answer_columns[share_rows] == 1L]
    prior <- Map(replace, prior, list(accuracy_rows),
      estimates_from_ratings(estimate, s)[names(prior)])
  }
  measured_rows(rows, measurements, prior, reasons, ranges, estimate, interval, conf_level,
    needs_no_gold)
}

# Replaces estimates and intervals in `rows` by estimates and intervals from gold cases.
# * measurements: estimates from gold cases on the unit scale, a result of corrected_mean()
# * prior: estimates from ratings only, on the unit scale
# * reason: for each row, the reason why gold cases give no estimate, or NA
# * ranges: smallest and largest value of each metric (rows x 2)
# * needs_no_gold: TRUE for rows whose metric does not depend on the truth; they are not replaced
measured_rows <- function(rows, measurements, prior, reason, ranges, estimate, interval, conf_level,
                          needs_no_gold = FALSE) {
  has_estimate <- !is.na(rows$estimate)
  # Ratings by one rater do not identify metrics that depend on the truth, but gold cases do. With
  # one rater, rows without an estimate are therefore replaced, too.
  is_replaced <- (has_estimate | is_one_rater(estimate$fit$x)) & !needs_no_gold
  # Metrics that do not depend on the truth have no error if the target is the rated cases.
  exact_rows <- which(
    needs_no_gold & has_estimate & estimate$gold$settings$target == "cases"
  )
  rows[exact_rows, interval_columns] <- as.data.frame(outer(rows$estimate[exact_rows], c(0, 1, 1)))
  reason <- rep_len(unname(reason), nrow(rows))
  rows[is_replaced, interval_columns] <- NA_real_
  rows$reason[is_replaced] <- ifelse(is.na(reason), why_no_cluster_interval(measurements),
    paste0(no_interval_prefix, reason))[is_replaced]
  measured_indices <- which(is_replaced & is.na(reason))
  if (length(measured_indices) == 0L) return(rows)
  select_measured <- function(fields) lapply(fields, `[`, measured_indices)
  unit_values <- do.call(cbind, accuracy_intervals[[interval]]$gold$share(
    select_measured(measurements), select_measured(prior),
    c(estimate$gold$settings, conf_level = conf_level)
  )[estimate_columns])
  ranges <- pick_rows(ranges, measured_indices)
  values <- unit_values * widths(ranges) + outer(ranges[, 1L], estimate_columns != "std.error")
  rows[measured_indices, estimate_columns] <- as.data.frame(values)
  rows$n[measured_indices] <-
    estimate$table$n[match(rows$system[measured_indices], estimate$table$system)]
  rows
}

# Returns `ranges`, the range of each metric (metrics x 2). With two categories, the range is
# narrower for metrics that can be negative, such as kappa. Their smallest value is then computed
# from the table with the fewest correct answers among tables with the same margins as `table`.
ranges_of_margins <- function(ranges, table, plan) {
  if (n_categories(plan) != 2L) return(ranges)
  table <- matrix(table, 2L, byrow = TRUE)
  truth_shares <- rowSums(table)
  min_correct_shares <- pmax(0, truth_shares + colSums(table) - 1)
  min_values <- metric_values(plan, c(min_correct_shares[[1L]], truth_shares - min_correct_shares,
    min_correct_shares[[2L]]))
  is_lowered <- ranges[, 1L] < 0 & !is.na(min_values)
  ranges[is_lowered, 1L] <- min_values[is_lowered]
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
# NULL if there are none, or if they are not representative. `n`: number of categories. Tables are
# vectors in which answers vary fastest. The result has the fields of select_gold() and these:
# * gold_table: table of gold cases, with their known truth
# * mean: table of all cases, predicted from ratings
# * predicted_difference: table of gold cases, predicted from ratings, minus `mean`
# * start: table at which slopes are computed: `gold_table`, corrected by `predicted_difference`
# * predicted: probability of each category, by pattern of ratings (patterns x categories)
# * answer: answer of the system, by pattern
# * all_known: is the truth of all cases known?
gold_tables <- function(evidence, s, n) {
  gold <- if (!is.null(evidence)) gold_of_system(evidence, s)
  if (is.null(gold)) return(NULL)
  answer <- evidence$answer[, s]
  predictions <- fill_unrated(evidence$predicted, gold$weight)
  # Returns the mean probability of each cell over the patterns `at` with weights `w`.
  predict_table <- function(at, w) {
    is_answer <- indicator_matrix(answer[at], n)
    as.vector(crossprod(is_answer * w, pick_rows(predictions, at))) / sum(w)
  }
  mean_table <- predict_table(seq_along(answer), gold$weight)
  predicted_difference <- predict_table(gold$at, gold$w) - mean_table
  gold_table <- rowsum_codes((gold$truth - 1L) * n + answer[gold$at], gold$w / sum(gold$w), n^2)
  start_table <- pmax(gold_table - prior_slope * predicted_difference, 0)
  c(gold, list(
    answer = answer, predicted = predictions, mean = mean_table, gold_table = gold_table,
    predicted_difference = predicted_difference, all_known = gold$gold >= sum(gold$weight),
    # `mean_table` is added with the weight of one case, so that cells that may occur are not 0.
    start = (gold$gold * start_table / sum(start_table) + mean_table) / (gold$gold + 1)
  ))
}

# Returns TRUE for metrics that depend only on the answers and not on the truth, such as the share
# of an answer. `slope`: derivatives of metrics with respect to cells (cells x metrics).
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

# Uses gold cases to estimate metrics that are functions of the joint table of truth and answer.
# Returns a list with the fields of corrected_mean() on the unit scale, which have an element per
# row of the plan. An estimate is NA if its slopes are 0 in all cells of the table that may occur.
# `gold_data`: result of gold_tables(). `slopes`: result of unit_slopes().
gold_metrics <- function(gold_data, slopes, plan, ranges) {
  # Variance of the slopes over cases that is expected from the ratings. A lower variance among gold
  # cases is replaced by it, because a few gold cases may have equal slopes by chance.
  slope_variance <- colSums(gold_data$start * slopes^2)
  influence_of_row <- function(i) { # 0 without an answer
    pick_rows(rbind(0, matrix(slopes[, i], ncol(gold_data$predicted))), gold_data$answer + 1L)
  }
  compute_variance <- function(mean, sample_variance, n_effective) {
    pmax(sample_variance, slope_variance)
  }
  largest_slope <- apply(abs(slopes), 2L, max)
  compute_metrics <- function(mean, slope) {
    # A corrected table for each row of the plan. `slope`: how much of the correction is used, see
    # corrected_mean().
    raw_tables <- t(pmax(gold_data$gold_table - outer(gold_data$predicted_difference, slope), 0))
    tables <- raw_tables / rowSums(raw_tables)
    values <- lapply(unique(plan$rows$metric), function(id) {
      plan$records <- plan$records[id]
      diag(metric_values(plan, pick_rows(tables, plan$rows$metric == id)))
    })
    to_unit(unlist(values), ranges)
  }
  gold_influence(
    gold_data, gold_data$predicted, influence_of_row, compute_variance, largest_slope,
    compute_metrics
  )
}

# Estimates metrics from gold cases. Returns a list with the fields of corrected_mean() on the unit
# scale. The influence of a case is the derivative of a metric with respect to the case's cell of
# the table of truth and answer. For scores, see metric-influence.R.
# * predictions: probabilities of categories, with a row per pattern (for scores, a row per case)
# * influence_of_row: function of a row number of the plan that returns a matrix like `predictions`.
#   The matrix contains the influence of each pattern (or case) for each possible truth
# * compute_variance: function that returns the variance of the influence, see corrected_mean()
# * largest_influence: largest influence on each metric
# * compute_metrics: function that returns the metrics on the unit scale. Its arguments are the
#   fields `estimate` and `slope` of corrected_mean()
gold_influence <- function(gold_data, predictions, influence_of_row, compute_variance,
                           largest_influence, compute_metrics) {
  gold_rows <- seq_along(gold_data$at)
  influence_columns <- vapply(seq_along(largest_influence), function(i) {
    influence_matrix <- influence_of_row(i)
    c(influence_matrix[cbind(gold_data$at, gold_data$truth)],
      rowSums(predictions * influence_matrix))
  }, numeric(length(gold_rows) + nrow(predictions)))
  means <- estimate_gold_quantities(
    gold_data, pick_rows(influence_columns, gold_rows), pick_rows(influence_columns, -gold_rows),
    function(...) corrected_mean(..., compute_variance = compute_variance),
    function(x) {
      measurement_as_share(x, compute_metrics(x$estimate, x$slope),
        compute_metrics(x$alone, 0 * x$slope), largest_influence)
    }
  )
  without_deviations(means)
}

# Converts estimates of metrics to the form of estimated shares, because intervals are computed for
# shares. The variance of a case becomes value * (1 - value). `ratio` and design effects are
# multiplied by the old variance divided by the new one, so that the standard error stays the same.
# * measurement: estimated means of the influence, see corrected_mean()
# * value: estimated metrics on the unit scale
# * gold_only_value: metrics on the unit scale, from gold cases only
# * largest_influence: largest influence of a case on each metric; 0 if errors have no lower limit
measurement_as_share <- function(measurement, value, gold_only_value, largest_influence) {
  # Half a correct and half a wrong case are added, so that the variance is not 0.
  variance_of_share <- function(equivalent_cases) {
    bernoulli_variance(add_half_cases(value, equivalent_cases))
  }
  value[measurement$variance <= 1e-18] <- NA
  equivalent_cases <- measurement$gold * variance_of_share(measurement$gold) / measurement$variance
  variance <- variance_of_share(pmin(max_effective_size, pmax(measurement$gold, equivalent_cases)))
  # By chance, the influence may hardly vary between a few gold cases. The standard error is then at
  # least the standard error of a share of `min_cases` cases. One gold case changes the metric by at
  # most 1 / min_cases.
  min_cases <- measurement$gold / largest_influence
  has_few_cases <- pmin(value, 1 - value) * min_cases < 0.5 | min_cases < min_cases_of_share
  few_case_rows <- which(has_few_cases & variance / measurement$variance > 1 / largest_influence)
  variance[few_case_rows] <- variance_of_share(min_cases)[few_case_rows]
  measurement$variance[few_case_rows] <- (variance * largest_influence)[few_case_rows]
  measurement$n_labels <- pmin(measurement$n_labels, min_cases)
  measurement$full_design <- measurement$variance / variance
  measurement$ratio <- measurement$ratio * measurement$full_design
  measurement$design <- measurement$design * measurement$full_design
  replace(measurement, c("estimate", "alone", "seen", "variance"),
    list(value, gold_only_value, gold_only_value, variance))
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric, or NA.
# `measurements`: result of gold_metrics(). Required gold cases:
# * A metric of a category needs cases whose truth is the category, and cases whose answer is the
#   category. The cases with the answer are not needed if the metric depends only on cases whose
#   truth is the category, as recall does.
# * An average over categories needs the cases that the metrics of all categories need.
# * A metric of the whole table needs at least one case. If the metric can be negative, like kappa,
#   it needs cases of at least two categories.
why_no_metrics <- function(gold_data, slopes, plan, measurements) {
  n <- n_categories(plan)
  gold_totals <- table_sums(matrix(gold_data$gold_table, 1L), n)
  expected_totals <- table_sums(matrix(gold_data$mean, 1L), n)
  needs_no_case <- is.na(plan$rows$average) & is.na(plan$rows$category) &
    (ranges_of_plan(plan)[, 1L] >= 0 | sum(gold_totals$truth > 0) > 1L)
  reason_by_row(plan, measurements, expected_totals$truth > 0,
    "no gold case is of category %s, or no gold case has this answer", function(i) {
    if (gold_data$all_known || needs_no_case[[i]]) return(FALSE)
    changes_metric <- matrix(abs(slopes[, i]) >= 1e-9, n) # answers x truths
    gold_totals$truth <= 0 | (gold_totals$answer <= 0 & expected_totals$answer > 0 &
      colSums(changes_metric) < sum(changes_metric))
  })
}

# Returns, for each row of the plan, the reason why gold cases do not measure the metric, or NA.
# * measurements: estimates of the rows. A missing estimate is also a reason
# * is_expected: for each category, are any cases expected? Rows that are not for one category
#   (averages, for example) need gold cases of all expected categories
# * reason_template: reason if gold cases are lacking, with %s for the first such category
# * lacks_gold: function of a row number that returns TRUE for categories that lack gold cases
reason_by_row <- function(plan, measurements, is_expected, reason_template, lacks_gold) {
  map_chr(seq_along(measurements$estimate), function(i) {
    category <- plan$rows$category[[i]]
    is_needed <- if (is.na(category)) is_expected else plan$categories == category
    lacking_categories <- plan$categories[is_needed & lacks_gold(i)]
    if (length(lacking_categories) > 0L) return(sprintf(reason_template, lacking_categories[[1L]]))
    if (is.na(measurements$estimate[[i]])) "this metric does not vary between gold cases" else
      NA_character_
  })
}

# ---- Metrics of scores ---------------------------------------------------------------------------
# The influence of a gold case (see metric-influence.R) is computed from its truth, and also
# predicted from its ratings.

# Replaces estimates of score metrics of a system by estimates from gold cases and ratings. `rows`:
# estimates from ratings only, see metrics_with_gold(). `scored_system`: see score_panel().
score_metrics_with_gold <- function(rows, estimate, plan, scored_system, interval, conf_level) {
  gold_data <- scored_gold(estimate, scored_system)
  ranges <- ranges_of_plan(plan)
  reasons <- if (is.null(estimate$gold$evidence)) {
    why_no_evidence(estimate)
  } else if (gold_data$gold == 0L) {
    "the system has no scores for gold cases"
  } else if (!gold_data$representative) {
    reason_not_all_drawn
  }
  measurements <- NULL
  if (is.null(reasons)) {
    scored_system$truth[gold_data$at] <- gold_data$truth
    scored_system$w <- score_weights(scored_system)
    measurements <- gold_scores(gold_data, plan, scored_system, ranges)
    is_expected <- colSums(scored_system$posterior * scored_system$v) >= min_expected_cases
    is_of_category <- field_of_rows(plan, "form") == "category"
    reasons <- reason_by_row(plan, measurements, is_expected, "no gold case is of category %s",
      function(i) is_of_category[[i]] & !seq_along(is_expected) %in% gold_data$truth)
  }
  rows <- measured_rows(rows, measurements, rows_to_unit(rows, ranges), reasons, ranges, estimate,
    interval, conf_level)
  lower_limits_by_gaps(rows, plan, scored_system, normal_quantile(conf_level))
}

# Returns the gold cases for which a system has scores, with the fields of select_gold(). The field
# `at` is the position of each gold case among the scored cases in `scored_system`, see
# score_panel().
scored_gold <- function(estimate, scored_system) {
  gold <- estimate$gold
  weight <- scored_system$v
  scored_positions <- match(gold$case, scored_system$at)
  scored_rows <- which(!is.na(scored_positions))
  gold_rows <- rep.int(scored_rows, weight[scored_positions[scored_rows]])
  w <- sampling_weights(gold, gold_rows)
  cluster <- estimate$options$cluster
  list(
    at = scored_positions[gold_rows], truth = gold$truth[gold_rows], w = w,
    gold = length(gold_rows), weight = weight, cluster = cluster[gold$case[gold_rows]],
    all_clusters = if (!is.null(cluster)) list(
      pattern = seq_along(scored_system$at), cluster = cluster[scored_system$at], weight = weight
    ),
    representative = are_representative(
      as.matrix(weight), as.matrix(w), !is.null(gold$probability)
    )
  )
}

# Estimates metrics of scores from gold cases. Returns a list with the fields of corrected_mean() on
# the unit scale. `gold_data`: result of scored_gold(). `scored_system`: see score_panel(), with the
# known truths of gold cases.
gold_scores <- function(gold_data, plan, scored_system, ranges) {
  start_values <- to_unit(score_values(plan, scored_system), ranges)
  influence <- Map(`/`, score_influence(plan, scored_system), widths(ranges))
  mean_influence <- map_dbl(influence, mean_loss, scored_system$w, scored_system$v)
  influence_variance <- unlist(Map(
    function(values, mean) mean_loss((values - mean)^2, scored_system$posterior, scored_system$v),
    influence, mean_influence
  ))
  is_linear <- field_of_rows(plan, "linear")
  gold_truths <- indicator_matrix(gold_data$truth, ncol(scored_system$posterior))
  gold_weight <- gold_data$w / sum(gold_data$w) * sum(scored_system$v) /
    scored_system$v[gold_data$at]
  # Returns the variance of the influence, shrunk to its expected value, because a few gold cases
  # may have equal influence by chance.
  compute_variance <- function(mean, sample_variance, n_effective) {
    (n_effective * sample_variance + n_prior_cases * influence_variance) /
      (n_effective + n_prior_cases)
  }
  compute_metrics <- function(mean, slope) {
    # Corrects all metrics to first order. Metrics that have an exact correction (`is_linear` is
    # FALSE) are then computed again, from corrected weights of cases.
    value <- clip01(start_values + mean - mean_influence)
    for (slope_value in unique(slope[!is_linear])) {
      rows_with_slope <- which(!is_linear & slope %in% slope_value)
      # The weight of a case in a category is first predicted from ratings. For gold cases, the
      # error of this prediction is then added, multiplied by the sampling weight.
      predictions <- slope_value * scored_system$posterior
      truth_minus_prediction <- gold_truths - pick_rows(predictions, gold_data$at)
      scored_system$w <- predictions +
        rowsum_rows(gold_data$at, truth_minus_prediction * gold_weight, nrow(predictions))
      value[rows_with_slope] <- to_unit(score_values(plan, scored_system), ranges)[rows_with_slope]
    }
    value
  }
  gold_influence(
    gold_data, scored_system$posterior, function(i) influence[[i]], compute_variance,
    0 * influence_variance, compute_metrics
  )
}

# Metrics of scores, such as the area under the ROC curve, in estimate_metrics(): estimates and
# intervals.

# Returns the table of score metrics for all systems. `plan`: the requested metrics, one per row of
# `plan$rows`. `interval`: name of the kind of interval.
metrics_of_scores <- function(estimate, plan, interval, conf_level) {
  ratings_estimate <- undo_gold_correction(estimate)
  panel <- score_panel(ratings_estimate)
  scored_systems <- lapply(seq_along(ratings_estimate$fit$x$systems), panel$make_system_input)
  metric_tables <- lapply(scored_systems, function(scored_system) {
    metric_table <- metric_rows(ratings_estimate, plan, scored_system$s, sum(scored_system$v),
      scored_system$reason, score_values(plan, scored_system))
    if (is.null(scored_system$reason) && ratings_estimate$fit$x$scores$scale != "probability") {
      needs_probability <- field_of_rows(plan, "probabilities")
      metric_table$estimate[needs_probability] <- NA_real_
      metric_table$reason[needs_probability] <-
        "scores are not probabilities, they only order cases"
    }
    metric_table
  })
  systems_with_estimate <- which(map_lgl(metric_tables, function(table) any_known(table$estimate)))
  interval_record <- accuracy_intervals[[interval]]
  if (is.null(interval_record$find) || length(systems_with_estimate) == 0L)
    return(stack_rows(metric_tables))
  no_interval_reason <- why_accuracy_only(interval_record) %||%
    why_no_interval(interval_bootstrap, estimate)
  if (!is.null(no_interval_reason)) {
    return(stack_rows(modify_fields(metric_tables, systems_with_estimate, add_no_interval_reason,
      no_interval_reason)))
  }
  system_replicates <- draw_score_replicates(ratings_estimate, panel, scored_systems,
    nrow(plan$rows), function(scored_system) score_values(plan, scored_system))
  metric_tables[systems_with_estimate] <- lapply(systems_with_estimate, function(s) {
    metric_table <- score_intervals(
      metric_tables[[s]], ratings_estimate, plan, scored_systems[[s]], system_replicates[[s]],
      interval_record, conf_level
    )
    if (is_measured_by_gold(estimate, interval)) score_metrics_with_gold(
      metric_table, estimate, plan, scored_systems[[s]], interval, conf_level
    ) else metric_table
  })
  stack_rows(metric_tables)
}

# Returns the input for metrics of scores, a list:
# * rater_posterior: probabilities from raters only, see posterior_from_raters().
# * make_system_input: function of the number `s` of a system. It returns the input of this system.
#
# `gold`: NULL, or a list of `case` and `truth` of gold cases.
score_panel <- function(estimate, gold = NULL) {
  x <- estimate$fit$x
  truth <- replace(integer(length(x$cases)), gold$case, gold$truth)
  is_usable <- is_usable_pattern(estimate$fit)[x$index]
  weight <- weights_of_cases(x)
  no_score_reason <- if (is.null(x$scores)) {
    "there are no scores"
  } else if (is_one_rater(x)) {
    "the truth is not identified from the ratings of one rater"
  } else if (!has_posterior(estimate)) {
    reason_accuracy_only(estimate)
  }
  rater_posterior <- if (is.null(no_score_reason)) posterior_from_raters(estimate)
  posterior <- if (is.null(no_score_reason)) rater_posterior$posterior(NULL)
  if (anyNA(posterior[is_usable, ])) no_score_reason <-
    "the truth is not identified from the ratings"
  # Returns the input of a system, a list. If the scores of the system cannot be evaluated, the list
  # contains only `s` and `reason`. Otherwise it contains:
  # * s: number of the system.
  # * at: numbers of the cases with scores and ratings. The next fields contain only these cases.
  # * v: weight of each case.
  # * posterior: posterior probabilities from raters only (cases x categories).
  # * known: is the truth of the case known, and was it used in the fit?
  # * truth: number of the true category of gold cases; 0 for other cases.
  # * score_data: sorted scores, the result of order_scores().
  # * sharing: number from 0 (independent errors) to 1 (shared errors).
  # * w: weights of truths (cases x categories), see truth_weights().
  make_system_input <- function(s) {
    score_values <- x$scores$values[[x$systems[[s]]]]
    cases <- if (!is.null(score_values)) which(!is.na(score_values[, 1L]) & is_usable & weight > 0)
    no_score_reason <- no_score_reason %||% if (is.null(score_values)) {
      "the system has no scores"
    } else if (length(cases) == 0L) {
      "no case with scores has ratings"
    }
    if (!is.null(no_score_reason)) return(list(s = s, reason = no_score_reason))
    system_input <- list(
      s = s, at = cases, v = weight[cases], posterior = pick_rows(posterior, cases),
      known = rater_posterior$known[cases],
      truth = truth[cases], score_data = order_scores(pick_rows(score_values, cases)),
      # `sharing` is the argument `common` of estimate_accuracy() if the user gives a number, and
      # otherwise 0. The default of `common` is only for answers: it depends on the probability that
      # two wrong answers are equal.
      sharing = if (identical(estimate$options$method, method_shared$id)) 1 else
        if (has_fixed_common(estimate)) replace_na(estimate$details$common[[s]], 0) else 0
    )
    system_input$w <- score_weights(system_input)
    if (is.null(system_input$w)) system_input$reason <-
      "the ratings hardly distinguish the categories"
    system_input
  }
  list(rater_posterior = rater_posterior, make_system_input = make_system_input)
}

# Returns the weights `w` of a system (cases x categories), see score_panel(). Gold cases have
# weight 1 for their true category. NULL if raters do not separate the categories, unless all cases
# are gold cases.
score_weights <- function(scored_system) {
  posterior <- scored_system$posterior
  weights <-
    truth_weights(posterior, scored_system$known, scored_system$v, scored_system$sharing) %||%
    if (all(scored_system$truth > 0L)) posterior
  if (!is.null(weights)) set_known_truths(weights, scored_system$truth)
}

# Computes bootstrap replicates of metrics. Cases or clusters are resampled, and raters are
# refitted. Returns a list with a matrix (replicates x `n_values`) for each element of
# `scored_systems`. `measure`: function that returns the metrics of a system. Its argument is the
# input of the system, see score_panel().
draw_score_replicates <- function(estimate, panel, scored_systems, n_values, measure) {
  resampling_settings <- resampling(estimate$fit$x, estimate$options, by_case = TRUE)
  measure_systems <- function(case_counts) {
    posterior <- panel$rater_posterior$posterior(case_counts)
    lapply(scored_systems, function(scored_system) {
      if (!is.null(scored_system$reason) || anyNA(posterior)) return(NULL)
      cases <- scored_system$at
      scored_system[c("v", "posterior")] <- list(case_counts[cases], pick_rows(posterior, cases))
      scored_system$w <- score_weights(scored_system)
      # The result is NULL if the refitted raters do not separate the categories.
      if (!is.null(scored_system$w)) measure(scored_system)
    })
  }
  replicates <- run_replicates(measure_systems, resampling_settings, "Bootstrap of scores")
  lapply(seq_along(scored_systems), function(s) {
    stack_rows(replicates, function(replicate) replicate[[s]] %||% rep(NA_real_, n_values))
  })
}

# Adds intervals to the rows of a system.
# * rows: table of the estimates, a row per metric.
# * replicate_values: values in bootstrap replicates (replicates x metrics).
# * record: element of the list `accuracy_intervals`, which describes the kind of interval.
#
# Percentile intervals contain sampling error only. Standard errors of other intervals also contain
# the uncertainty about shared errors (see hidden_error_of_scores()).
score_intervals <- function(rows, estimate, plan, scored_system, replicate_values, record,
                            conf_level) {
  metric_ranges <- ranges_of_plan(plan)
  scaled_values <- to_unit(replicate_values, metric_ranges)
  # Calibration errors are means of absolute gaps, and resampling makes these gaps larger. Therefore
  # the replicates of a calibration error are shifted until their median is equal to the estimate.
  gap_rows <- which(field_of_rows(plan, "gaps") & !is.na(rows$estimate))
  if (length(gap_rows) > 0L) {
    replicate_medians <- apply(pick_columns(scaled_values, gap_rows), 2L, median, na.rm = TRUE)
    median_shift <- to_unit(rows$estimate, metric_ranges)[gap_rows] - replicate_medians
    scaled_values[, gap_rows] <-
      clip01(scaled_values[, gap_rows] + rep(median_shift, each = nrow(scaled_values)))
  }
  rows <- if (record$spread == "percentile") {
    add_unit_percentiles(rows, scaled_values, metric_ranges, conf_level)
  } else {
    sampling_error <- apply(scaled_values, 2L, sd, na.rm = TRUE) * widths(metric_ranges)
    rows$hidden <- hidden_error_of_scores(estimate, plan, scored_system)
    rows$std.error <- sqrt(sampling_error^2 + rows$hidden^2) + 0 * rows$estimate
    add_interval_limits(rows, metric_ranges, robust_quantile(estimate, conf_level))
  }
  lower_limits_by_gaps(rows, plan, scored_system)
}

# Subtracts `slack` from the lower confidence limits of calibration errors, which are means of
# absolute gaps between scores and shares of cases. `slack` is the size of gaps by chance if scores
# are calibrated. First, limits are reduced to at most the estimate minus `z` standard errors.
lower_limits_by_gaps <- function(rows, plan, scored_system, z = 0) {
  for (i in which(field_of_rows(plan, "gaps"))) {
    record <- plan$records[[plan$rows$metric[[i]]]]
    slack <- apply_to_scores(record$kernel, plan, scored_system)$slack
    lower_limit <- min(rows$conf.low[[i]], rows$estimate[[i]] - z * rows$std.error[[i]])
    rows$conf.low[[i]] <- max(0, lower_limit - slack)
  }
  rows
}

# Returns the hidden error of each metric: the standard deviation of the bias due to shared errors,
# which ratings do not identify.
hidden_error_of_scores <- function(estimate, plan, scored_system) {
  # The dependence weight of an estimate is small if the answers of raters and systems support
  # independent errors. Here it is 1, because independent answers do not imply independent scores.
  estimate$details$dependence_weight[!is.na(estimate$details$dependence_weight)] <- 1
  v <- scored_system$v
  # Metrics at a position between independent errors (0) and shared errors (1).
  compute_metrics_at <- function(position) {
    scored_system$w <- score_weights(replace(scored_system, "sharing", position))
    score_values(plan, scored_system)
  }
  sums_by_top <- function(values) as.vector(rowsum(values * v, scored_system$score_data$top))
  is_top <- indicator_matrix(scored_system$score_data$top, ncol(scored_system$w))
  top_weight <- sums_by_top(1)
  top_error_rate <- 1 - sums_by_top(rowSums(scored_system$w * is_top)) / top_weight
  # Errors that raters share bias the estimated share of cases in which the category with the
  # highest score is true. Change of each metric per unit of this bias: categories x metrics.
  top_shift <- vapply(score_influence(plan, scored_system), function(influence) {
    change_by_top <- sums_by_top(rowSums(influence * (is_top - scored_system$w))) / sum(v)
    ifelse(top_error_rate > 0, change_by_top / top_error_rate, 0)
  }, top_error_rate)
  # The third argument is for errors that the system shares with raters. `top_shift` is for errors
  # that raters share with each other.
  combine_hidden_errors(
    estimate, scored_system$s, compute_metrics_at(0) - compute_metrics_at(1),
    matrix(top_shift, length(top_error_rate)), top_weight / sum(v)
  )
}

# Weights of truths: the weight of each case for each category, in metrics of scores.
#
# Let p be the probabilities of the categories of a case, from raters only. If systems share the
# raters' errors, a score contains no information about the truth beyond the ratings. The weights of
# the case are then p.
#
# If systems do not share the raters' errors, the score S and the ratings are independent given the
# truth. Let F_j(A) be the probability that S is in a set A if category j is true. Then
#   E[1(S in A) p_k] = sum_j F_j(A) E[p_j p_k].
# With weights p, a metric therefore mixes the distributions F_j of all categories.
#
# Let M = E[p p'], and let D be the diagonal matrix of base rates E[p]. The weights w = D M^-1 p
# undo the mixing:
#   E[w_j 1(S in A)] = E[p_j] F_j(A).
# The weights of a case sum to one, but single weights may be below 0 or above 1.

# Smallest eigenvalue of the scaled matrix M_jk / sqrt(E[p_j] E[p_k]) for which metrics are
# computed. The smallest eigenvalue is 1 if all truths are certain. It is 0 if the ratings do not
# distinguish some categories.
min_eigenvalue <- 0.01

# Returns probabilities of the true categories from raters only, as a list:
# * posterior: function of weights of cases. It refits the raters, and returns probabilities (cases
#   x categories). If weights are NULL, or if the fit cannot be repeated or is slow (see
#   `max_refitted`), it returns the original probabilities.
# * known: is the truth of the case known?
posterior_from_raters <- function(estimate) {
  fit <- fit_raters_only(estimate$fit, estimate)
  x <- fit$x
  case_pattern <- x$index
  original_posterior <- pick_rows(posterior(fit), case_pattern)
  refit <- new_refit_function(fit)
  can_refit <- !is.null(refit) && length(rating_rater(x)) * n_categories(x) <= max_refitted
  refit_posterior <- function(v) {
    if (is.null(v) || !can_refit) original_posterior else
      pick_rows(refit(core_pattern_weights(case_pattern, v, n_patterns(x))), case_pattern)
  }
  list(posterior = refit_posterior, known = is_known_pattern(fit)[case_pattern])
}

# Largest size of data for which raters are refitted in bootstrap replicates. The size is the number
# of ratings, summed over patterns, times the number of categories.
max_refitted <- 1e5

# Fits the raters without systems, with the model of the estimate. If the estimate is an average
# over models, one of three models is fitted:
# * the K-model, if the ratings are given as counts;
# * otherwise the Dawid-Skene model, if models with unequal probabilities of wrong answers have more
#   than half of the weight in the average;
# * otherwise a model with one accuracy per rater.
fit_raters_only <- function(fit, estimate) UseMethod("fit_raters_only")

fit_raters_only.rater_fit <- function(fit, estimate) {
  averaged_models <- estimate$members
  model <- if (!is_averaged(estimate)) {
    fit$model
  } else if (has_counts(fit$x)) {
    k_model()
  } else if (sum(averaged_models$weight[averaged_models$errors != "uniform"]) /
    n_distinct(averaged_models$system) > 0.5) {
    dawid_skene("weak")
  } else {
    rater_model("rater")
  }
  without_warnings(fit_again(fit, join_patterns(keep_systems(fit$x, integer())), model))
}

# A fit by Markov chain Monte Carlo is returned unchanged. Its posterior does not depend on the
# answers of systems, and a second run would add Monte Carlo error.
fit_raters_only.draws_fit <- function(fit, estimate) fit # nolint: object_name.

# Returns weights of truths (cases x categories), as derived above. NULL if raters do not separate
# the categories.
# * p: probabilities of categories (cases x categories).
# * known: is the truth of the case known?
# * v: weight of each case.
# * position: number from 0 (independent errors) to 1 (shared errors).
truth_weights <- function(p, known, v, position) {
  if (isTRUE(position == 1)) return(p)
  unknown_cases <- which(!known & v > 0)
  if (length(unknown_cases) == 0L) return(p)
  unmixing_matrix <- undo_mixing(pick_rows(p, unknown_cases), v[unknown_cases])
  if (is.null(unmixing_matrix)) return(NULL)
  independent_weights <- p
  independent_weights[!known, ] <- pick_rows(p, !known) %*% unmixing_matrix
  independent_weights + position * (p - independent_weights)
}

# Returns the transpose of D M^-1 (categories x categories), as derived above. NULL if M is nearly
# singular. Categories with fewer than `min_expected_cases` expected cases are left out: their rows
# and columns are those of the identity matrix.
undo_mixing <- function(p, v) {
  expected_cases <- colSums(p * v)
  has_enough_cases <- expected_cases >= min_expected_cases
  p <- pick_columns(p, has_enough_cases)
  p <- p / rowSums(p)
  expected_counts <- colSums(p * v)
  weighted_products <- crossprod(p, p * v)
  eigenvalues <- eigen(
    weighted_products / sqrt(outer(expected_counts, expected_counts)),
    symmetric = TRUE, only.values = TRUE
  )$values
  if (length(eigenvalues) > 1L && min(eigenvalues) < min_eigenvalue) return(NULL)
  unmixing_matrix <- diag(length(expected_cases))
  unmixing_matrix[has_enough_cases, has_enough_cases] <-
    solve(weighted_products, diag(expected_counts, length(expected_counts)))
  unmixing_matrix
}

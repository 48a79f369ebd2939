# This file computes differences between systems with gold cases (cases with known truth). First,
# the difference of each pair is computed. Then ranks and simultaneous intervals are computed for
# all systems.

# Adds measurements by gold cases to a comparison from ratings only.
# * comparison: result of compare_by_ratings().
# * estimate: estimate with gold cases, for the cases that all systems answered.
# * pairs: see compared_pairs().
compare_with_gold <- function(comparison, estimate, pairs) {
  options <- comparison$options
  options$interval <- estimate$options$interval
  options$clusters <- count_gold_clusters(estimate)
  comparison$options <- options
  comparison$accuracy <- estimate$table[c("system", "estimate")]
  evidence <- estimate$gold$evidence
  if (!is.null(evidence) && are_probabilities_too_small(evidence)) evidence <- NULL
  measure_pairs <- function(pair_indices) {
    without_deviations(
      gold_accuracy(evidence, pairs$first[pair_indices], pairs$second[pair_indices])
    )
  }
  # Differences between two systems, measured by gold cases: a list of vectors. Vector `known` is
  # TRUE for pairs of systems that gold cases measure. The other vectors contain only these pairs.
  measurements <-
    compute_by_blocks(pattern_answers(estimate$fit$x), pairs$first, measure_pairs)
  comparison$gold <- list(
    settings = estimate$gold$settings, cases = count_gold(estimate),
    repeated_key = estimate$gold$repeated_key,
    differ = fill_known(measurements$known, measurements$disputed)
  )
  sources <-
    differences_by_source(estimate, comparison$differences, pairs, measurements, options$conf_level)
  comparison$sources <- sources[names(empty_pair_sources)]
  table <- apply_gold_sources(comparison$differences, sources, options$interval,
    fill_known(measurements$known, measurements$all))
  is_ranked_pair <- pairs$first %in% pairs$ranked_systems & pairs$second %in% pairs$ranked_systems
  ranked_systems <- comparison$accuracy$system[pairs$ranked_systems]
  draws <- draw_joint_accuracies(table[is_ranked_pair, ], ranked_systems, options$conf_level)
  comparison$ranks <- rank_table(ranked_systems, draws)
  # Columns `known` and `order_known` show whether votes order the systems like the estimates. They
  # are NA here, because with gold cases the order does not depend on votes.
  comparison$ranks$known <- NA
  if (!all(is_ranked_pair)) draws <- pick_rows(draws, 0L)
  comparison$differences <- add_joint_intervals(table, draws, options)
  comparison$differences$order_known <- NA
  comparison
}

# Returns estimates of each difference from gold cases, from ratings and from both: a table with a
# row per pair and source.
# * estimate: the estimate with gold cases.
# * table: differences from ratings only.
# * measurements: measurements of each difference by gold cases, see compare_with_gold().
differences_by_source <- function(estimate, table, pairs, measurements, conf_level) {
  centre <- estimate$details$centre
  first_systems <- pairs$first
  second_systems <- pairs$second
  # `bias` is the part of the standard error that is due to errors shared with raters, and not to
  # sampling; see estimates_from_ratings(). The biases of two systems are assumed to be more
  # correlated if their answers are equal for more cases.
  bias <- estimates_from_ratings(estimate, seq_along(centre))$bias
  correlation <-
    same_answer_shares(estimate$fit, first_systems, second_systems)^hidden_correlation_exponent
  variance <- bias[first_systems]^2 + bias[second_systems]^2 -
    2 * correlation * bias[first_systems] * bias[second_systems]
  ratings_estimates <- list(
    estimate = centre[first_systems] - centre[second_systems], std.error = table$std.error,
    bias = sqrt(pmax(0, variance))
  )
  details <- estimate$gold$details
  reasons <- setNames(details$reason, details$why)
  reasons[details$why == "not_asked"] <- NA
  reasons <- reasons[ifelse(is.na(reasons[first_systems]), second_systems, first_systems)]
  reasons[is.na(reasons)] <- "no gold case was answered by both systems"
  reasons[measurements$known] <- why_no_cluster_interval(measurements)
  source_rows(
    table[c("system1", "system2")], table, measurements$known, measurements,
    lapply(ratings_estimates, `[`, measurements$known), reasons, "difference",
    c(estimate$gold$settings, conf_level = conf_level), estimate$options$interval
  )
}

empty_pair_sources <- tibble(
  system1 = "", system2 = "", interval = "", !!!rep_named(c(estimate_columns, "weight"), 0),
  reason = ""
)[0L, ]

# Returns joint normal draws of the accuracies of all systems, relative to their mean: a matrix
# (draws x systems). The matrix has no rows if a pair has no interval. `table`: differences between
# systems and their intervals. `systems`: names of the systems.
draw_joint_accuracies <- function(table, systems, conf_level, n_draws = 4000L) {
  n_systems <- length(systems)
  if (n_systems < 2L) return(matrix(0, n_draws, n_systems))
  standard_error <- errors_of_differences(table, conf_level)
  if (anyNA(standard_error)) return(matrix(NA_real_, 0L, n_systems))
  cell_indices <- cbind(match(table$system1, systems), match(table$system2, systems))
  difference <- squared_error <- matrix(0, n_systems, n_systems)
  difference[cell_indices] <- table$estimate
  squared_error[rbind(cell_indices, cell_indices[, 2:1])] <- standard_error^2
  # Classical multidimensional scaling finds a covariance matrix of the accuracies from the
  # variances of all differences. If no covariance matrix has these variances, it approximates them.
  centring_matrix <- diag(n_systems) - 1 / n_systems
  decomposition <-
    eigen(-centring_matrix %*% squared_error %*% centring_matrix / 2, symmetric = TRUE)
  # The sign of an eigenvector is arbitrary and may depend on rounding errors. The largest entry is
  # made positive, so that draws are the same on every machine.
  largest_entry_index <- max.col(t(abs(decomposition$vectors)), "first")
  signs <- sign(decomposition$vectors[cbind(largest_entry_index, seq_len(n_systems))])
  decomposition$vectors <- decomposition$vectors %*% diag(signs, n_systems)
  centred_draws <-
    matrix(rnorm(n_draws * n_systems), n_draws) %*% scaled_eigenvectors(decomposition)
  sweep(centred_draws, 2L, rowMeans(difference - t(difference)), `+`)
}

# Returns the standard deviation of each difference, from the width of its interval. The result is
# 0 if two systems gave the same answers, and NA for other pairs without an interval.
errors_of_differences <- function(table, conf_level) {
  standard_error <- (table$conf.high - table$conf.low) / 2 / normal_quantile(conf_level)
  replace(
    standard_error,
    is.na(standard_error) & table$estimate %in% 0 & table$why %in% "same_answers", 0
  )
}

# Adds the probability that the first system of each pair is better. With option `simultaneous`,
# also makes the intervals simultaneous: a common factor widens them, so that all intervals contain
# their differences at once with probability `conf_level`. `draws`: a result of
# draw_joint_accuracies(). If it has no rows, simultaneous intervals are NA.
add_joint_intervals <- function(table, draws, options) {
  conf_level <- options$conf_level
  standard_error <- errors_of_differences(table, conf_level)
  if (nrow(draws) == 0L) {
    table$probability <- replace(pnorm(table$estimate / standard_error), standard_error %in% 0, 0.5)
    if (options$simultaneous) {
      table[limit_columns] <- NA_real_
      table <- add_no_interval_reason(
        table, "another pair has no interval, so there are no simultaneous intervals"
      )
    }
    return(table)
  }
  systems <- unique(c(table$system1, table$system2))
  pairs <- list(first = match(table$system1, systems), second = match(table$system2, systems))
  table$probability <- core_share_ahead(draws, pairs$first, pairs$second)
  rows_with_error <- which(standard_error > 0)
  if (options$simultaneous && length(rows_with_error) > 0L) {
    blocks <- summarise_pairs(pairs, list(list(systems = seq_along(systems), draws = draws)))
    deviations <- largest_deviations(blocks, standard_error) / normal_quantile(conf_level)
    widening_factor <- max(1, quantile(deviations, conf_level))
    estimate <- table$estimate[rows_with_error]
    limits <- as.matrix(table[rows_with_error, limit_columns])
    limits <- estimate + widening_factor * (limits - estimate)
    table[rows_with_error, limit_columns] <- as.data.frame(clamp(limits, -1, 1))
  }
  table
}

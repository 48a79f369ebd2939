# Differences of systems with gold cases (cases with known truth). Differences are first computed
# for each pair. Ranks and simultaneous intervals are then computed for all systems.

# Adds measurements by gold cases to a comparison from ratings only.
# * comparison: result of compare_by_ratings().
# * estimate: the estimate with gold, for the cases that all systems answered.
# * pairs: see compared_pairs().
compare_with_gold <- function(comparison, estimate, pairs) {
  options <- comparison$options
  options$interval <- estimate$options$interval
  options$clusters <- count_gold_clusters(estimate)
  comparison$options <- options
  comparison$accuracy <- estimate$table[c("system", "estimate")]
  # Measurements of each difference by gold cases, a list of vectors. `known` has an element per
  # pair: do gold cases measure the pair? All other vectors have an element per measured pair. They
  # are left out if no pair is measured.
  evidence <- estimate$gold$evidence
  if (!is.null(evidence) && are_probabilities_too_small(evidence)) evidence <- NULL
  gold <- compute_by_blocks(pattern_answers(estimate$fit$x), pairs$first, function(pair_indices) {
    without_deviations(
      gold_accuracy(evidence, pairs$first[pair_indices], pairs$second[pair_indices])
    )
  })
  comparison$gold <- list(
    settings = estimate$gold$settings, cases = count_gold(estimate),
    differ = fill_known(gold$known, gold$disputed)
  )
  sources <- sources_of_pairs(estimate, comparison$differences, pairs, gold, options$conf_level)
  comparison$sources <- sources[names(no_pair_sources)]
  table <- apply_gold_sources(comparison$differences, sources, options$interval,
    fill_known(gold$known, gold$all))
  is_ranked_pair <- pairs$first %in% pairs$ranked & pairs$second %in% pairs$ranked
  ranked_systems <- comparison$accuracy$system[pairs$ranked]
  draws <- draw_joint_accuracies(table[is_ranked_pair, ], ranked_systems, options$conf_level)
  comparison$ranks <- rank_table(ranked_systems, draws)
  # Column `known` compares the order by estimates with the order by votes. Gold cases measure the
  # order independently of votes, so the column is NA.
  comparison$ranks$known <- NA
  if (!all(is_ranked_pair)) draws <- pick_rows(draws, 0L)
  comparison$differences <- add_joint_intervals(table, draws, options)
  comparison$differences$order_known <- NA
  comparison
}

# Returns estimates of each difference from gold, from ratings and from both: a row per pair and
# source.
# * estimate: the estimate with gold.
# * table: differences from ratings only.
# * gold: measurements by gold cases, see compare_with_gold().
sources_of_pairs <- function(estimate, table, pairs, gold, conf_level) {
  centre <- estimate$details$centre
  first <- pairs$first
  second <- pairs$second
  # Standard errors of single systems due to shared errors are from estimates_from_ratings(). The
  # errors of two systems are more correlated if their answers are equal for more cases.
  bias <- estimates_from_ratings(estimate, seq_along(centre))$bias
  correlation <- same_answer_shares(estimate$fit, first, second)^hidden_correlation_power
  variance <- bias[first]^2 + bias[second]^2 - 2 * correlation * bias[first] * bias[second]
  prior <- list(
    estimate = centre[first] - centre[second], std.error = table$std.error,
    bias = sqrt(pmax(0, variance))
  )
  details <- estimate$gold$details
  reasons <- setNames(details$reason, details$why)
  reasons[details$why == "not_asked"] <- NA
  reasons <- reasons[ifelse(is.na(reasons[first]), second, first)]
  reasons[is.na(reasons)] <- "no gold case was answered by both systems"
  reasons[gold$known] <- why_no_cluster_interval(gold)
  source_rows(
    table[c("system1", "system2")], table, gold$known, gold, lapply(prior, `[`, gold$known),
    reasons, "difference", c(estimate$gold$settings, conf_level = conf_level),
    estimate$options$interval
  )
}

no_pair_sources <- tibble::tibble(
  system1 = "", system2 = "", interval = "", !!!rep_named(c(estimate_columns, "weight"), 0),
  reason = ""
)[0L, ]

# Returns joint normal draws of the accuracies of all systems, relative to their mean: a matrix,
# draws x systems. The differences of two systems have the variances in `table`, if a joint
# distribution with these variances exists. Otherwise the variances are approximate (classical
# scaling). The matrix has no rows if a pair has no interval. `systems`: names.
draw_joint_accuracies <- function(table, systems, conf_level, draws = 4000L) {
  n <- length(systems)
  if (n < 2L) return(matrix(0, draws, n))
  error <- errors_of_differences(table, conf_level)
  if (anyNA(error)) return(matrix(NA_real_, 0L, n))
  indices <- cbind(match(table$system1, systems), match(table$system2, systems))
  difference <- squared_error <- matrix(0, n, n)
  difference[indices] <- table$estimate
  squared_error[rbind(indices, indices[, 2:1])] <- error^2
  centred <- diag(n) - 1 / n
  scaling <- eigen(-centred %*% squared_error %*% centred / 2, symmetric = TRUE)
  # The sign of an eigenvector is arbitrary and may depend on rounding errors. The largest entry is
  # made positive, so that draws are the same on every machine.
  largest <- max.col(t(abs(scaling$vectors)), "first")
  scaling$vectors <- scaling$vectors %*% diag(sign(scaling$vectors[cbind(largest, seq_len(n))]), n)
  noise <- matrix(rnorm(draws * n), draws) %*% scaled_eigenvectors(scaling)
  sweep(noise, 2L, rowMeans(difference - t(difference)), `+`)
}

# Returns the standard deviation of each difference, from the width of its interval. It is 0 if two
# systems gave the same answers, and NA for other pairs without an interval.
errors_of_differences <- function(table, conf_level) {
  error <- (table$conf.high - table$conf.low) / 2 / normal_quantile(conf_level)
  replace(error, is.na(error) & table$estimate %in% 0 & table$why %in% "same_answers", 0)
}

# Adds the probability that the first system of each pair is better. If option `simultaneous` is
# TRUE, also widens all intervals by a common factor. All of them then contain their difference with
# probability `conf_level`. They are NA if a pair has no interval. `draws`: result of
# draw_joint_accuracies().
add_joint_intervals <- function(table, draws, options) {
  level <- options$conf_level
  error <- errors_of_differences(table, level)
  if (nrow(draws) == 0L) {
    table$probability <- replace(pnorm(table$estimate / error), error %in% 0, 0.5)
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
  rows <- which(error > 0)
  if (options$simultaneous && length(rows) > 0L) {
    blocks <- summarise_pairs(pairs, list(list(at = seq_along(systems), values = draws)))
    deviations <- largest_deviations(blocks, error) / normal_quantile(level)
    widening_factor <- max(1, quantile(deviations, level))
    estimate <- table$estimate[rows]
    limits <- estimate + widening_factor * (as.matrix(table[rows, limit_columns]) - estimate)
    table[rows, limit_columns] <- as.data.frame(clamp(limits, -1, 1))
  }
  table
}

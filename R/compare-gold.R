# Differences of systems with gold cases, for each pair and for all systems together.

# Adds the measurements by gold to a comparison of `pairs` of systems from ratings only.
# The estimate has gold among the common cases.
compare_with_gold <- function(comparison, estimate, pairs) {
  options <- comparison$options
  options$interval <- estimate$options$interval
  options$clusters <- if (!is.null(estimate$options$cluster)) count_gold_clusters(estimate)
  comparison$options <- options
  comparison$accuracy <- estimate$table[c("system", "estimate")]
  x <- gold_of_pairs(estimate, pairs)
  comparison$gold <- list(
    settings = estimate$gold$settings, cases = count_gold(estimate),
    differ = of_known(x$known, x$disputed)
  )
  sources <- sources_of_pairs(estimate, comparison$differences, pairs, x, options$conf_level)
  comparison$sources <- sources[names(no_pair_sources)]
  table <- resolve_sources(comparison$differences, sources, options$interval)
  among <- pairs$first %in% pairs$ranked & pairs$second %in% pairs$ranked
  ranked <- comparison$accuracy$system[pairs$ranked]
  draws <- draws_of_pairs(table[among, ], ranked, options$conf_level)
  comparison$ranks <- rank_table(ranked, draws)
  comparison$ranks$known <- NA # gold measures the order
  if (!all(among)) draws <- draws[0L, , drop = FALSE]
  comparison$differences <- pairs_together(table, draws, options)
  comparison$differences$order_known <- NA
  comparison
}

# See gold_accuracy(). Only `known` if there is no gold.
gold_of_pairs <- function(estimate, pairs) {
  evidence <- estimate$gold$evidence
  if (!is.null(evidence) && counts_too_many(evidence)) evidence <- NULL
  over_pairs(pattern_answers(estimate$fit$x), pairs$first, function(at) {
    x <- gold_accuracy(evidence, pairs$first[at], pairs$second[at])
    x[setdiff(names(x), c("rest", "answers"))]
  })
}

# `table`: results from ratings only. `x`: measurements by gold.
sources_of_pairs <- function(estimate, table, pairs, x, conf_level) {
  centre <- estimate$details$centre
  prior <- list(
    estimate = centre[pairs$first] - centre[pairs$second], std.error = table$std.error,
    bias = bias_of_pairs(estimate, pairs$first, pairs$second)
  )
  details <- estimate$gold$details
  lack <- setNames(details$reason, details$why)
  lack[details$why == "not_asked"] <- NA
  lack <- lack[ifelse(is.na(lack[pairs$first]), pairs$second, pairs$first)]
  lack[is.na(lack)] <- "no gold case was answered by both systems"
  lack[x$known] <- why_no_clusters(x)
  source_rows(
    table[c("system1", "system2")], table, x$known, x, lapply(prior, `[`, x$known),
    lack, "difference", c(estimate$gold$settings, conf_level = conf_level),
    estimate$options$interval
  )
}

# See estimates_from_ratings(). The hidden errors of two systems are correlated by their share of
# equal answers.
bias_of_pairs <- function(estimate, first, second) {
  bias <- estimates_from_ratings(estimate, seq_along(estimate$table$system))$bias
  same <- same_answer_shares(estimate$fit, first, second)
  hidden <- bias[first]^2 + bias[second]^2 - 2 * same^likeness_power * bias[first] * bias[second]
  sqrt(pmax(0, hidden))
}

no_pair_sources <- tibble::tibble(
  system1 = "", system2 = "", interval = "", estimate = 0,
  std.error = 0, conf.low = 0, conf.high = 0, weight = 0,
  reason = ""
)[0L, ]

# Draws of the accuracies of all systems (around their mean) with the variances of differences of
# the pairs. Squared distances of the errors are these variances, as far as possible (classical
# scaling). None if a pair has no interval.
draws_of_pairs <- function(table, systems, conf_level, draws = 4000L) {
  n <- length(systems)
  if (n < 2L) return(matrix(0, draws, n))
  error <- error_of_pairs(table, conf_level)
  if (anyNA(error)) return(matrix(NA_real_, 0L, n))
  place <- cbind(match(table$system1, systems), match(table$system2, systems))
  difference <- squared <- matrix(0, n, n)
  difference[place] <- table$estimate
  squared[place] <- error^2
  squared <- squared + t(squared)
  centred <- diag(n) - 1 / n
  parts <- eigen(-centred %*% squared %*% centred / 2, symmetric = TRUE)
  # Eigenvectors have no sign, so it is fixed: rounding must not change the draws.
  largest <- max.col(t(abs(parts$vectors)), "first")
  parts$vectors <- parts$vectors %*% diag(sign(parts$vectors[cbind(largest, seq_len(n))]), n)
  noise <- matrix(stats::rnorm(draws * n), draws)
  noise <- noise %*% scaled_vectors(parts)
  sweep(noise, 2L, rowMeans(difference - t(difference)), `+`)
}

# Standard deviations of normal errors with intervals of the same width. It is 0 for equal answers.
error_of_pairs <- function(table, conf_level) {
  error <- (table$conf.high - table$conf.low) / 2 / normal_quantile(conf_level)
  equal <- table$estimate %in% 0 & table$why %in% "same_answers"
  replace(error, is.na(error) & equal, 0)
}

# Probabilities to be better, and simultaneous intervals if requested. These multiply the width of
# all intervals by the factor that the worst pair needs; NA if a pair has no interval. `draws`: see
# draws_of_pairs().
pairs_together <- function(table, draws, options) {
  level <- options$conf_level
  error <- error_of_pairs(table, level)
  if (nrow(draws) == 0L) {
    table$probability <- replace(stats::pnorm(table$estimate / error), error %in% 0, 0.5)
    if (options$simultaneous) {
      table[c("conf.low", "conf.high")] <- NA_real_
      table <- without_interval(table, "another pair has none, so there is none for all")
    }
    return(table)
  }
  systems <- unique(c(table$system1, table$system2))
  pairs <- list(first = match(table$system1, systems), second = match(table$system2, systems))
  table$probability <- core_share_ahead(draws, pairs$first, pairs$second)
  known <- which(error > 0)
  if (options$simultaneous && length(known) > 0L) {
    blocks <- pair_blocks(pairs, list(list(at = seq_along(systems), values = draws)))
    worst <- stats::quantile(worst_of_pairs(blocks, error), level, names = FALSE)
    times <- max(1, worst / normal_quantile(level))
    value <- table$estimate[known]
    table$conf.low[known] <- pmax(-1, value - times * (value - table$conf.low[known]))
    table$conf.high[known] <- pmin(1, value + times * (table$conf.high[known] - value))
  }
  table
}

# Sentence about the use of gold.
gold_pair_note <- function(x) {
  paste0(
    "Gold: ", count_noun(x$gold$cases, "case"), " whose truth is known",
    if (!all(is.na(x$gold$differ))) {
      differ <- range(x$gold$differ, na.rm = TRUE)
      paste0(
        "; systems differ on ", paste(unique(number_of(differ)), collapse = " to "),
        " of them, the only ones that count for a difference (see tidy(\"sources\"))"
      )
    }
  )
}

# This file chooses the pairs of systems to compare, draws from the joint distribution of their
# errors, and computes tables of differences and ranks.

# Checks arguments `reference` and `best` of compare_systems(). If both are NULL, all pairs of
# systems are compared, and the result is NULL. Otherwise returns a list with one of these elements:
# * reference: index of the reference system; 0 means the system with the highest estimate
# * best: number k; the k systems with the highest estimates are compared with all other systems
check_reference_and_best <- function(reference, best, systems) {
  abort_argument_if(!is.null(reference) && !is.null(best), "best",
    "Only one of {.arg reference} and {.arg best} can be given, not both.",
    i = "Use {.arg reference}, the name of a system or {.val best}, to compare all systems with one
        system. Use {.arg best}, a number, to compare all systems with the best systems.")
  n_systems <- length(systems)
  reference_or_best <- NULL
  if (!is.null(reference)) {
    check_string(reference, "reference")
    abort_if(!reference %in% c("best", systems), "system",
      "{.arg reference} must be {.val best}, or one of the systems that are compared.",
      x = "There is no system {.val {printable(reference)}}.",
      i = escape_braces("Systems are ", shorten(systems, most = 6L), "."), system = reference)
    reference_or_best <- list(reference = match(reference, systems, 0L))
  }
  if (!is.null(best)) reference_or_best <- list(best = check_count(best, "best", max = n_systems))
  n_opponents <- if (is.null(reference)) best %||% n_systems else 1
  n_pairs <- n_opponents * (n_opponents - 1) / 2 + n_opponents * (n_systems - n_opponents)
  abort_argument_if(n_pairs > max_pairs, "best",
    "At most {number(max_pairs)} pairs of systems can be compared.",
    x = "{number(n_systems)} systems have {number(n_pairs)} pairs.",
    i = "Use {.arg reference} to compare all systems with one system, {.arg best} to compare all
        systems with the best systems, or {.arg systems} to compare fewer systems.")
  reference_or_best
}

max_pairs <- 2e5 # largest number of pairs to compare

# Returns the pairs of systems that are compared. Systems are given as indices. The list contains:
# * first, second: the two systems of each pair
# * opponents: the systems that are compared with all other systems
# * ranked_systems: the systems that get ranks
# * reference_or_best: argument `reference_or_best`, but with the name of the reference system
#   instead of its index
#
# `estimates`: estimates of the systems; higher is better. `reference_or_best`: a result of
# check_reference_and_best().
compared_pairs <- function(estimates, systems, reference_or_best = NULL) {
  n_systems <- length(systems)
  if (is.null(reference_or_best)) check_pair_numbers(n_systems, n_pair_columns)
  sorted_systems <- if (is.null(reference_or_best)) seq_len(n_systems) else
    order(-estimates, seq_len(n_systems))
  reference <- reference_or_best$reference
  if (is.null(reference)) {
    opponents <- sorted_systems[seq_len(reference_or_best$best %||% n_systems)]
    second_systems <- lapply(seq_along(opponents), function(i) sorted_systems[-seq_len(i)])
    return(list(
      first = rep(opponents, lengths(second_systems)), second = unlist(second_systems),
      opponents = opponents, ranked_systems = opponents, reference_or_best = reference_or_best
    ))
  }
  if (reference == 0L) reference <- sorted_systems[[1L]]
  first_systems <- setdiff(sorted_systems, reference)
  list(
    first = first_systems, second = rep(reference, length(first_systems)), opponents = reference,
    ranked_systems = integer(), reference_or_best = list(reference = systems[[reference]])
  )
}

# Returns draws from the joint distribution of the estimates of systems. The list contains:
# * blocks: a list of blocks of systems, empty if there are no draws. A block is a list of
#   `systems`, the indices of the systems in the block, and `draws`, the draws of their estimates
#   (draws x systems). Each pair that is compared is in at least one block.
# * ranked_draws: draws of the systems that get ranks (draws x systems)
# * reason: why there are no draws; NA if there are draws
# * replicates: number of draws
# * clusters: number of clusters of cases; NULL if cases have no clusters
#
# `pairs`: a result of compared_pairs().
comparison_draws <- function(estimate, pairs) {
  result_without_draws <- function(...) {
    list(
      blocks = list(), ranked_draws = matrix(NA_real_, 0L, length(pairs$ranked_systems)),
      reason = paste0(...),
      replicates = estimate$options$replicates
    )
  }
  rows_without_estimate <- estimate$table[is.na(estimate$table$estimate), ]
  if (nrow(rows_without_estimate) > 0L) {
    return(result_without_draws(
      "no estimate for ", shorten(rows_without_estimate$system, most = 4L), ": ",
      rows_without_estimate$reason[[1L]]
    ))
  }
  blocks_or_reason <- why_no_interval(interval_bootstrap, estimate)
  if (is.null(blocks_or_reason)) {
    replicates <- estimate$replicates %||% stand_in_replicates(estimate, "accuracy")
    is_complete <- complete.cases(replicates)
    blocks_or_reason <- if (mean(is_complete) < 0.5) {
      "most bootstrap replicates gave no estimate"
    } else {
      draw_blocks(estimate, pick_rows(replicates, is_complete), pairs$opponents)
    }
  }
  if (is.character(blocks_or_reason)) {
    return(result_without_draws(no_interval_prefix, blocks_or_reason))
  }
  first_block <- blocks_or_reason[[1L]]
  list(
    blocks = blocks_or_reason,
    ranked_draws = pick_columns(
      first_block$draws, match(pairs$ranked_systems, first_block$systems)
    ),
    reason = NA_character_, replicates = nrow(replicates),
    clusters = if (!is.null(estimate$options$cluster)) count_clusters(estimate)
  )
}

# Divides systems into blocks and draws from the joint distribution of each block. Returns element
# `blocks` of comparison_draws(), or a string with the reason why there are no draws.
#
# `opponents`: indices of the systems that are compared with all others. With many systems there are
# several blocks, and each block contains all opponents. `replicates`: bootstrap replicates of the
# estimates (replicates x systems).
draw_blocks <- function(estimate, replicates, opponents) {
  n_systems <- ncol(replicates)
  draw_estimates <- interval_with_draws(estimate)$draws
  system_blocks <- list(seq_len(n_systems))
  if (n_systems > max_refitted_systems && length(opponents) < n_systems) {
    other_systems <- setdiff(seq_len(n_systems), opponents)
    system_blocks <- lapply(
      split_in_runs(other_systems, max(max_refitted_systems, length(opponents))),
      function(block) c(opponents, block)
    )
    # Standard errors are widened for clusters here and not in each block, because systems that are
    # in several blocks must have the same standard error in all blocks.
    if (!has_interval(estimate)) {
      estimate$details$sampling <- estimate$details$sampling * cluster_widening(estimate)
    }
    estimate$options["cluster"] <- list(NULL)
  }
  block_draws <- lapply(system_blocks, function(block) {
    # Restricts the estimate to the systems of the block.
    estimate$table <- estimate$table[block, ]
    estimate$details <- estimate$details[block, ]
    estimate$fit$x <- keep_systems(estimate$fit$x, block)
    draws <- draw_estimates(estimate, pick_columns(replicates, block))
    if (is.character(draws)) draws else list(systems = block, draws = draws)
  })
  if (is.character(block_draws[[1L]])) block_draws[[1L]] else block_draws
}

# Returns the interval record (see new_interval()) from which joint draws are computed. This is the
# interval of the estimate, if this kind of interval has joint draws. Otherwise it is the interval
# named in field `draws` of the method.
interval_with_draws <- function(estimate) {
  interval_record <- interval_of(estimate)
  if (is.null(interval_record$draws)) accuracy_intervals[[method_of(estimate)$draws]] else
    interval_record
}

# Returns a table with a row per pair of systems: difference of the estimates, its interval, and the
# probability that the first system is better. `draws`: a result of comparison_draws().
difference_table <- function(estimate, pairs, draws, conf_level, simultaneous) {
  system_table <- estimate$table
  centre <- estimate$details$centre
  first_systems <- pairs$first
  second_systems <- pairs$second
  table <- columns_tibble(
    system1 = system_table$system[first_systems], system2 = system_table$system[second_systems],
    !!!result_table(
      system_table$estimate[first_systems] - system_table$estimate[second_systems]
    )[estimate_columns],
    probability = NA_real_,
    n = system_table$n[first_systems], method = estimate$options$method,
    order_known = is_order_known(estimate, first_systems, second_systems), reason = draws$reason,
    why = NA_character_
  )
  if (length(draws$blocks) == 0L) return(table)
  is_iterated <- method_of(estimate)$iterated
  blocks <- summarise_pairs(pairs, draws$blocks, centre)
  for (block in blocks) {
    block_rows <- table[block$pairs, ]
    block_rows$probability <- core_share_ahead(block$draws, block$first, block$second)
    block_rows <- add_intervals(block_rows, core_difference_intervals(
      block$draws, block$first, block$second, conf_level, is_iterated
    ))
    if (!is.null(block$error)) block_rows$std.error <- block$error + 0 * block_rows$std.error
    table[block$pairs, ] <- block_rows
  }
  has_same_answers <- same_answer_shares(estimate$fit, first_systems, second_systems) == 1
  table$reason[has_same_answers] <-
    paste0(no_interval_prefix, "the two gave the same answers on all these cases")
  table$why[has_same_answers] <- "same_answers"
  has_hidden_errors <- interval_with_draws(estimate)$hidden
  if (!has_hidden_errors) warn_outside(
    pair_names(table), table, 'Use {.code interval = "robust"} for the estimate.'
  )
  if (!simultaneous) return(table)
  # Simultaneous intervals contain all differences at once with probability `conf_level`.
  interval_centre <- if (has_hidden_errors) centre[first_systems] - centre[second_systems] else
    table$estimate
  has_limits <- !is.na(table$conf.low)
  max_deviations <- largest_deviations(blocks, replace(table$std.error, !has_limits, NA))
  half_width <- quantile(max_deviations, conf_level, names = FALSE) * table$std.error
  table$conf.low[has_limits] <- pmax(interval_centre - half_width, -1)[has_limits]
  table$conf.high[has_limits] <- pmin(interval_centre + half_width, 1)[has_limits]
  table
}

# Divides pairs of systems into blocks, which are processed one after the other to limit memory.
# Returns a list of blocks. A block is a list:
# * pairs: indices of the pairs in the block
# * draws: draws of the estimates (draws x systems)
# * first, second: columns of `draws` with the two systems of each pair
# * error: standard error of each difference, if draws have heavier tails than normal draws;
#   otherwise NULL
#
# `block_draws`: element `blocks` of comparison_draws(). `centre`: centre of the draws of each
# system.
summarise_pairs <- function(pairs, block_draws, centre = NULL) {
  is_assigned <- logical(length(pairs$first))
  blocks <- list()
  for (one_block in block_draws) {
    first_columns <- match(pairs$first, one_block$systems)
    second_columns <- match(pairs$second, one_block$systems)
    pair_indices <- which(!is.na(first_columns) & !is.na(second_columns) & !is_assigned)
    is_assigned[pair_indices] <- TRUE
    draws <- one_block$draws
    # Factors by which distances of draws from the centre were multiplied, to make tails heavier.
    # Standard errors are computed without these factors.
    tail_factor <- attr(draws, "times")
    covariance <- if (!is.null(tail_factor)) {
      cov((draws - rep(centre[one_block$systems], each = nrow(draws))) / tail_factor)
    }
    pairs_per_block <- max(1, floor(max_differences / nrow(draws)))
    blocks <- c(blocks, lapply(split_in_runs(pair_indices, pairs_per_block), function(block_pairs) {
      block_first_columns <- first_columns[block_pairs]
      block_second_columns <- second_columns[block_pairs]
      standard_error <- if (!is.null(covariance)) {
        variance <- diag(covariance)
        sqrt(pmax(0, variance[block_first_columns] + variance[block_second_columns] -
          2 * covariance[cbind(block_first_columns, block_second_columns)]))
      }
      list(
        pairs = block_pairs, draws = draws, first = block_first_columns,
        second = block_second_columns, error = standard_error
      )
    }))
  }
  blocks
}

# Returns, for each draw, the largest standardised deviation over all pairs. The standardised
# deviation of a pair is the absolute deviation of its drawn difference from the mean, divided by
# the standard error. `blocks`: a result of summarise_pairs(). `error`: standard error of each pair.
# Pairs whose standard error is NA or 0 are left out.
largest_deviations <- function(blocks, error) {
  n_draws <- min(map_int(blocks, function(block) nrow(block$draws)))
  max_deviations <- numeric(n_draws)
  for (block in blocks) {
    pairs_with_error <- which(error[block$pairs] > 0)
    if (is_empty(pairs_with_error)) next
    drawn_differences <- pick_columns(block$draws, block$first[pairs_with_error]) -
      pick_columns(block$draws, block$second[pairs_with_error])
    deviations <- abs(scale(drawn_differences, scale = error[block$pairs[pairs_with_error]]))
    block_deviations <- asplit(pick_rows(deviations, seq_len(n_draws)), 2L)
    max_deviations <- pmax(max_deviations, do.call(pmax, block_deviations))
  }
  max_deviations
}

# Returns TRUE for each pair in which the system with the higher estimate also agrees more often
# with the most frequent rating, otherwise FALSE. If the orders by estimate and by agreement differ,
# the order by estimate was right for only 4 of 10 pairs in public data.
is_order_known <- function(estimate, first, second) {
  # NA for other methods than "average", for other metrics than accuracy, and if truths are known.
  if (!is_averaged(estimate) || !is.null(estimate$compared) || has_all_truths(estimate)) {
    return(rep(NA, length(first)))
  }
  x <- estimate$fit$x
  share_equal_to_plurality <- plurality_shares(x)[n_raters(x) + seq_along(x$systems)]
  sign_of_difference <- function(value) {
    difference <- value[first] - value[second]
    ifelse(are_tied(difference), 0, sign(difference))
  }
  sign_by_estimate <- sign_of_difference(estimate$table$estimate)
  unname(sign_by_estimate == sign_of_difference(share_equal_to_plurality) & sign_by_estimate != 0)
}

# Do two systems have the same estimate? `difference`: the difference of their estimates, which may
# have a rounding error.
are_tied <- function(difference) round(difference, 9L) == 0

# Returns a table with a row per system and rank: the probability that the system has this rank. The
# probability is the share of draws in which the system has the rank. If systems are tied in a draw,
# the draw is divided equally between the tied ranks. `draws`: draws of the estimates (draws x
# systems).
rank_table <- function(systems, draws) {
  n_systems <- length(systems)
  compute_ranks <- function(ties) as.vector(t(apply(-draws, 1L, rank, ties.method = ties)))
  best_rank <- compute_ranks("min")
  worst_rank <- compute_ranks("max")
  # A draw adds 1 / (number of tied ranks) to each tied rank. For speed, the number is added at the
  # best tied rank and subtracted after the worst tied rank. The sums are then cumulated over ranks.
  sum_shares_at <- function(rank) {
    cell_index <- rank + (n_systems + 1) * rep(seq_len(n_systems) - 1, each = nrow(draws))
    sums <- rowsum_codes(cell_index, 1 / (worst_rank - best_rank + 1), (n_systems + 1) * n_systems)
    # The additional row is for subtractions after the last rank.
    matrix(sums, n_systems + 1L, n_systems)
  }
  probability <- apply(sum_shares_at(best_rank) - sum_shares_at(worst_rank + 1), 2L, cumsum)
  probability <- pick_rows(matrix(probability, n_systems + 1L, n_systems), seq_len(n_systems))
  columns_tibble(
    system = rep(systems, each = n_systems), rank = rep(seq_len(n_systems), n_systems),
    probability = na_real(as.vector(probability) / nrow(draws))
  )
}

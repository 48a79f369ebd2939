# Pairs of systems to compare, joint draws of their errors, and tables of differences and ranks.

# Checks arguments `reference` and `best`. Returns NULL if all pairs are compared; a list with
# `reference`, the index of a system (0: the system with the highest estimate); or a list with
# `best`, the number of best systems that are compared with all others.
check_against <- function(reference, best, systems) {
  abort_argument_if(!is.null(reference) && !is.null(best), "best",
    "Only one of {.arg reference} and {.arg best} can be given.", x = "Both are given.",
    i = "{.arg reference} is the name of a system, or {.val best} for the best one. {.arg best} is a
        number of systems.")
  n <- length(systems)
  against <- NULL
  if (!is.null(reference)) {
    check_string(reference, "reference")
    abort_if(!reference %in% c("best", systems), "system",
      "{.arg reference} must be {.val best}, or one of the systems that are compared.",
      x = "There is no {.val {printable(reference)}}.",
      i = escape_braces("Systems are ", shorten(systems, most = 6L), "."), system = reference)
    against <- list(reference = match(reference, systems, 0L))
  }
  if (!is.null(best)) against <- list(best = check_count(best, "best", max = n))
  n_opponents <- if (is.null(reference)) best %||% n else 1
  n_pairs <- n_opponents * (n_opponents - 1) / 2 + n_opponents * (n - n_opponents)
  abort_argument_if(n_pairs > max_pairs, "best",
    "No more than {number(max_pairs)} pairs of systems can be compared.",
    x = "{number(n)} systems have {number(n_pairs)} pairs.",
    i = "Use {.arg reference} to compare all systems with one, {.arg best} to compare them with the
        best ones, or {.arg systems} to choose some.")
  against
}

max_pairs <- 2e5 # largest number of pairs to compare

# Returns the pairs of systems that are compared, a list of indices of systems: first and second,
# the systems of each pair; with, the systems with which all others are compared; ranked, the
# systems that have ranks. Element `against`: see check_against(), with the name of the reference.
# `value`: estimates of all systems, the higher the better.
compared_pairs <- function(value, systems, against = NULL) {
  n <- length(systems)
  if (is.null(against)) check_pair_numbers(n, columns_of_pairs)
  sorted <- if (is.null(against)) seq_len(n) else order(-value, seq_len(n))
  reference <- against$reference
  if (is.null(reference)) {
    targets <- sorted[seq_len(against$best %||% n)]
    second <- lapply(seq_along(targets), function(i) sorted[-seq_len(i)])
    return(list(
      first = rep(targets, lengths(second)), second = unlist(second), with = targets,
      ranked = targets, against = against
    ))
  }
  if (reference == 0L) reference <- sorted[[1L]]
  first <- setdiff(sorted, reference)
  list(
    first = first, second = rep(reference, length(first)), with = reference, ranked = integer(),
    against = list(reference = systems[[reference]])
  )
}

# Returns joint draws of the estimates of systems, a list:
# * parts: list of blocks of systems. A block has `at`, the indices of its systems, and `values`,
#   the draws, a matrix draws x systems. Both systems of a pair are in the same block. No blocks if
#   there are no draws.
# * ranked: draws of the systems that have ranks.
# * reason: why there are no draws, otherwise NA.
# * replicates: number of draws. clusters: number of clusters of cases, if these were resampled.
comparison_draws <- function(estimate, pairs) {
  no_draws <- function(...) {
    list(
      parts = list(), ranked = matrix(NA_real_, 0L, length(pairs$ranked)), reason = paste0(...),
      replicates = estimate$options$replicates
    )
  }
  without_estimate <- estimate$table[is.na(estimate$table$estimate), ]
  if (nrow(without_estimate) > 0L) {
    return(no_draws("no estimate for ", shorten(without_estimate$system, most = 4L), ": ",
      without_estimate$reason[[1L]]))
  }
  parts <- why_no_interval(interval_bootstrap, estimate)
  if (is.null(parts)) {
    values <- estimate$replicates %||% stand_in_replicates(estimate, "accuracy")
    is_complete <- complete.cases(values)
    parts <- if (mean(is_complete) < 0.5) "most bootstrap replicates gave no estimate" else
      draw_parts(estimate, values[is_complete, , drop = FALSE], pairs$with)
  }
  if (is.character(parts)) return(no_draws(no_interval, parts))
  first_part <- parts[[1L]]
  list(
    parts = parts, ranked = first_part$values[, match(pairs$ranked, first_part$at), drop = FALSE],
    reason = NA_character_, replicates = nrow(values),
    clusters = if (!is.null(estimate$options$cluster)) count_clusters(estimate)
  )
}

# Divides systems into blocks and draws from their joint distribution, see comparison_draws(). If
# there are many systems, there are several blocks, and each contains `targets`, the systems with
# which all others are compared. Returns the reason, a string, if there are no draws.
draw_parts <- function(estimate, replicates, targets) {
  n <- ncol(replicates)
  draws <- interval_with_draws(estimate)$draws
  blocks <- list(seq_len(n))
  if (n > many_systems && length(targets) < n) {
    blocks <- lapply(
      split_in_runs(setdiff(seq_len(n), targets), max(many_systems, length(targets))),
      function(at) c(targets, at)
    )
    # Clusters widen all errors by the same factor, which is computed once and not in each block.
    if (!has_interval(estimate)) {
      estimate$details$sampling <- estimate$details$sampling * cluster_widening(estimate)
    }
    estimate$options["cluster"] <- list(NULL)
  }
  parts <- lapply(blocks, function(at) {
    # Restricts the estimate to the systems of the block.
    estimate$table <- estimate$table[at, ]
    estimate$details <- estimate$details[at, ]
    estimate$fit$x <- keep_systems(estimate$fit$x, at)
    values <- draws(estimate, replicates[, at, drop = FALSE])
    if (is.character(values)) values else list(at = at, values = values)
  })
  if (is.character(parts[[1L]])) parts[[1L]] else parts
}

# Returns the interval (see new_interval()) whose draws are used: the interval of the estimate, if
# it has joint draws of systems, otherwise the interval that the method names in `draws`.
interval_with_draws <- function(estimate) {
  interval <- interval_of(estimate)
  if (is.null(interval$draws)) accuracy_intervals[[method_of(estimate)$draws]] else interval
}

# Returns a row per pair of systems with difference, interval and probability that the first is
# better. `draws`: see comparison_draws().
difference_table <- function(estimate, pairs, draws, conf_level, simultaneous) {
  systems <- estimate$table
  centre <- estimate$details$centre
  first <- pairs$first
  second <- pairs$second
  table <- columns_tibble(
    system1 = systems$system[first], system2 = systems$system[second],
    estimate = systems$estimate[first] - systems$estimate[second],
    std.error = NA_real_, conf.low = NA_real_, conf.high = NA_real_, probability = NA_real_,
    n = systems$n[first], method = estimate$options$method,
    order_known = is_order_known(estimate, first, second), reason = draws$reason,
    why = NA_character_
  )
  if (length(draws$parts) == 0L) return(table)
  iterated <- method_of(estimate)$iterated
  blocks <- pair_blocks(pairs, draws$parts, centre)
  for (block in blocks) {
    rows <- table[block$pairs, ]
    rows$probability <- core_share_ahead(block$values, block$first, block$second)
    rows <- add_intervals(rows, core_difference_intervals(
      block$values, block$first, block$second, conf_level, iterated
    ))
    if (!is.null(block$error)) {
      rows$std.error <- ifelse(is.na(rows$std.error), NA_real_, block$error)
    }
    table[block$pairs, ] <- rows
  }
  is_same <- same_answer_shares(estimate$fit, first, second) == 1
  table$reason[is_same] <- paste0(no_interval, "the two gave the same answers on all these cases")
  table$why[is_same] <- "same_answers"
  hidden <- interval_with_draws(estimate)$hidden
  if (!hidden) {
    warn_outside(
      pair_names(table), table, 'Use {.code interval = "robust"} for the estimate.'
    )
  }
  if (!simultaneous) return(table)
  simultaneous_intervals(
    table, blocks, conf_level, if (hidden) centre[first] - centre[second] else table$estimate
  )
}

max_differences <- 4e6 # largest number of drawn differences in memory at the same time: 32 MB

# Divides pairs into blocks whose draws are processed together. `parts`: see comparison_draws().
# `centre`: estimates of all systems around which draws with heavy tails are centred. Returns a list
# of blocks:
# * pairs: indices of the pairs in the block. values: draws x systems.
# * first, second: columns of `values` with the systems of each pair.
# * error: standard error of each difference, without the heavy tails of the draws; NULL if the
#   draws have no heavy tails.
pair_blocks <- function(pairs, parts, centre = NULL) {
  is_assigned <- logical(length(pairs$first))
  blocks <- list()
  for (part in parts) {
    first <- match(pairs$first, part$at)
    second <- match(pairs$second, part$at)
    pair_indices <- which(!is.na(first) & !is.na(second) & !is_assigned)
    is_assigned[pair_indices] <- TRUE
    values <- part$values
    tail_factor <- attr(values, "times")
    covariance <- if (!is.null(tail_factor)) {
      cov((values - rep(centre[part$at], each = nrow(values))) / tail_factor)
    }
    size <- max(1, floor(max_differences / nrow(values)))
    blocks <- c(blocks, lapply(split_in_runs(pair_indices, size), function(at) {
      a <- first[at]
      b <- second[at]
      list(pairs = at, values = values, first = a, second = b, error = if (!is.null(covariance)) {
        sqrt(pmax(0, diag(covariance)[a] + diag(covariance)[b] - 2 * covariance[cbind(a, b)]))
      })
    }))
  }
  blocks
}

# For each pair, the share of cases on which the two systems gave the same answer. Only cases that
# all systems answered, and that have ratings or a known truth, are counted.
same_answer_shares <- function(fit, first, second) {
  answer <- pattern_answers(fit$x)
  weight <- pattern_weights(fit$x) * (is_usable_pattern(fit) & answer[, 1L] > 0L)
  compute_by_blocks(answer, first, function(at) {
    same <- answer[, first[at], drop = FALSE] == answer[, second[at], drop = FALSE]
    list(share = colSums(weight * same) / sum(weight))
  })$share
}

# Computes vectors with an element per pair, block by block to limit memory. `f(at)` returns a list
# of vectors for the pairs with numbers `at`. Returns a list of the vectors for all pairs. `answer`:
# answers, patterns x systems.
compute_by_blocks <- function(answer, first, f) {
  size <- ceiling(max_differences / 4 / max(nrow(answer), 1L))
  blocks <- lapply(split_in_runs(seq_along(first), size), f)
  # All fields of any block, because a block without data may have fewer fields than others.
  fields <- rlang::set_names(unique(unlist(lapply(blocks, names))))
  lapply(fields, function(field) unlist(lapply(blocks, `[[`, field)))
}

# Replaces intervals by intervals that contain all differences at once with probability
# `conf_level`. Half of their width is the same number of standard errors in all pairs: the
# quantile, over draws, of the largest deviation of any pair.
simultaneous_intervals <- function(table, blocks, conf_level, centre) {
  rows <- !is.na(table$conf.low)
  if (!any(rows)) return(table)
  deviation <- largest_deviations(blocks, replace(table$std.error, !rows, NA))
  half_width <- quantile(deviation, conf_level, names = FALSE) * table$std.error[rows]
  table$conf.low[rows] <- pmax(centre[rows] - half_width, -1)
  table$conf.high[rows] <- pmin(centre[rows] + half_width, 1)
  table
}

# For each draw, the largest deviation of a difference from its mean, in standard errors, over all
# pairs. Pairs without a standard error, or with 0, are left out. `error`: standard errors.
largest_deviations <- function(blocks, error) {
  draws <- min(vapply(blocks, function(block) nrow(block$values), 0L))
  worst <- numeric(draws)
  for (block in blocks) {
    has_error <- which(error[block$pairs] > 0)
    if (length(has_error) == 0L) next
    drawn_differences <- block$values[, block$first[has_error], drop = FALSE] -
      block$values[, block$second[has_error], drop = FALSE]
    deviations <- abs(scale(drawn_differences, scale = error[block$pairs[has_error]]))
    worst <- pmax(worst, do.call(pmax, asplit(deviations[seq_len(draws), , drop = FALSE], 2L)))
  }
  worst
}

# Do the estimates and the agreement with the plurality of raters order the two systems of a pair in
# the same way? If not, the order of the estimates was right in only 4 of 10 pairs in public data.
# NA if all truths are known, and unless accuracies are estimated by method "average".
is_order_known <- function(estimate, first, second) {
  if (!is_averaged(estimate) || !is.null(estimate$compared) || knows_all_truths(estimate)) {
    return(rep(NA, length(first)))
  }
  x <- estimate$fit$x
  vote_share <- plurality_shares(x)[n_raters(x) + seq_along(x$systems)]
  sign_of_difference <- function(value) {
    difference <- value[first] - value[second]
    ifelse(are_tied(difference), 0, sign(difference))
  }
  model_order <- sign_of_difference(estimate$table$estimate)
  unname(model_order == sign_of_difference(vote_share) & model_order != 0)
}

# Do two systems have the same estimate? `difference`: the difference of their estimates, which may
# have a rounding error.
are_tied <- function(difference) round(difference, 9L) == 0

# Returns a row per system and rank with the probability of this rank, the share of draws. If
# systems are equal in a draw, each of their ranks gets an equal share of it. `values`: draws x
# systems.
rank_table <- function(systems, values) {
  n <- length(systems)
  ranks <- function(ties) as.vector(t(apply(-values, 1L, rank, ties.method = ties)))
  best <- ranks("min")
  worst <- ranks("max")
  # In a draw, a system has its best to worst possible ranks with equal probability. Probabilities
  # are computed as cumulated sums, to which a draw adds at the best rank and subtracts after the
  # worst one. Therefore sums have n + 1 ranks.
  sums_at <- function(rank) {
    code <- rank + (n + 1) * rep(seq_len(n) - 1, each = nrow(values))
    matrix(rowsum_codes(code, 1 / (worst - best + 1), (n + 1) * n), n + 1L, n)
  }
  probability <- apply(sums_at(best) - sums_at(worst + 1), 2L, cumsum)
  probability <- matrix(probability, n + 1L, n)[seq_len(n), , drop = FALSE]
  columns_tibble(
    system = rep(systems, each = n), rank = rep(seq_len(n), n),
    probability = na_real(as.vector(probability) / nrow(values))
  )
}

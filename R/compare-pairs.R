# Pairs of systems to compare, joint draws of their errors, and tables of differences and ranks.

# Returns NULL for all pairs; list(reference =), the position of a system (0 for the best); or
# list(best =), the number of systems that all others are compared with.
check_against <- function(reference, best, systems) {
  abort_argument_if(!is.null(reference) && !is.null(best), "best",
    "Only one of {.arg reference} and {.arg best} can be given.", x = "Both are given.",
    i = "{.arg reference} is the name of a system, or {.val best} for the best one. {.arg best} is a
        number of systems.")
  n <- length(systems)
  against <- NULL
  if (!is.null(reference)) against <- list(reference = check_reference(reference, systems))
  if (!is.null(best)) against <- list(best = check_count(best, "best", max = n))
  with <- if (is.null(reference)) best %||% n else 1
  pairs <- with * (with - 1) / 2 + with * (n - with)
  abort_argument_if(pairs > max_pairs, "best",
    "No more than {number(max_pairs)} pairs can be compared.",
    x = "{number(n)} systems make {number(pairs)}.",
    i = "Compare them with one system by {.arg reference}, or with a few by {.arg best}; or choose
        some with {.arg systems}.")
  against
}

max_pairs <- 2e5 # largest number of pairs to compare

check_reference <- function(reference, systems) {
  check_string(reference, "reference")
  abort_if(!reference %in% c("best", systems), "system",
    "{.arg reference} must be {.val best}, or one of the systems that are compared.",
    x = "There is no {.val {printable(reference)}}.",
    i = verbatim("Systems are ", shorten(systems, most = 6L), "."), system = reference)
  match(reference, systems, 0L)
}

# first, second: positions of the systems of each pair; with: of the systems that all others are
# compared with; ranked: of systems that have ranks; against: as stored in results.
compared_pairs <- function(value, systems, against = NULL) {
  n <- length(systems)
  if (is.null(against)) check_pair_numbers(n, columns_of_pairs)
  by_value <- if (is.null(against)) seq_len(n) else order(-value, seq_len(n))
  reference <- against$reference
  if (is.null(reference)) {
    with <- by_value[seq_len(against$best %||% n)]
    second <- lapply(seq_along(with), function(i) by_value[-seq_len(i)])
    return(list(
      first = rep(with, lengths(second)), second = unlist(second), with = with, ranked = with,
      against = against
    ))
  }
  if (reference == 0L) reference <- by_value[[1L]]
  first <- setdiff(by_value, reference)
  list(
    first = first, second = rep(reference, length(first)), with = reference, ranked = integer(),
    against = list(reference = systems[[reference]])
  )
}

# Joint draws of the errors of systems. parts: a list, each with systems `at` (positions) and
# `values` (draws x systems, around the estimates); every pair is within a part. ranked: values of
# the ranked systems. If there are no draws, reason.
comparison_draws <- function(estimate, pairs) {
  no_draws <- function(...) {
    list(
      parts = list(), ranked = matrix(NA_real_, 0L, length(pairs$ranked)), reason = paste0(...),
      replicates = estimate$options$replicates
    )
  }
  lacking <- estimate$table[is.na(estimate$table$estimate), ]
  if (nrow(lacking) > 0L) {
    systems <- shorten(lacking$system, most = 4L)
    return(no_draws("no estimate for ", systems, ": ", lacking$reason[[1L]]))
  }
  parts <- why_no_interval(interval_bootstrap, estimate)
  if (is.null(parts)) {
    values <- estimate$replicates %||% stand_in_replicates(estimate, "accuracy")
    whole <- stats::complete.cases(values)
    parts <- if (mean(whole) < 0.5) "most bootstrap replicates gave no estimate" else
      draw_parts(estimate, values[whole, , drop = FALSE], pairs$with)
  }
  if (is.character(parts)) return(no_draws(no_interval, parts))
  first <- parts[[1L]]
  list(
    parts = parts, ranked = first$values[, match(pairs$ranked, first$at), drop = FALSE],
    reason = NA_character_, replicates = nrow(values),
    clusters = if (!is.null(estimate$options$cluster)) count_clusters(estimate)
  )
}

# Draws of all systems together. Many systems are divided into blocks that all contain the systems
# `with`. Returns a text if there are no draws.
draw_parts <- function(estimate, replicates, with) {
  n <- ncol(replicates)
  draws <- draws_interval(estimate)$draws
  ats <- list(seq_len(n))
  if (n > many_systems && length(with) < n) {
    ats <- lapply(
      in_runs(setdiff(seq_len(n), with), max(many_systems, length(with))), function(at) c(with, at)
    )
    # The widening by clusters is the same in every block.
    if (!has_interval(estimate)) {
      estimate$details$sampling <- estimate$details$sampling * cluster_widening(estimate)
    }
    estimate$options["cluster"] <- list(NULL)
  }
  parts <- lapply(ats, function(at) {
    values <- draws(estimate_of(estimate, at), replicates[, at, drop = FALSE])
    if (is.character(values)) values else list(at = at, values = values)
  })
  if (is.character(parts[[1L]])) parts[[1L]] else parts
}

# The estimate for systems `at` only.
estimate_of <- function(estimate, at) {
  estimate$table <- estimate$table[at, ]
  estimate$details <- estimate$details[at, ]
  estimate$fit$x <- keep_systems(estimate$fit$x, at)
  estimate
}

# Interval whose draws are used: that of the estimate if it has draws.
draws_interval <- function(estimate) {
  interval <- interval_of(estimate)
  if (is.null(interval$draws)) accuracy_intervals[[method_of(estimate)$draws]] else interval
}

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
    order_known = order_known(estimate, first, second), reason = draws$reason,
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
  same <- same_answer_shares(estimate$fit, first, second) == 1
  table$reason[same] <- paste0(no_interval, "the two gave the same answers on all these cases")
  table$why[same] <- "same_answers"
  hidden <- draws_interval(estimate)$hidden
  if (!hidden) {
    warn_outside(
      paste(table$system1, "-", table$system2), table,
      'Use {.code interval = "robust"} for the estimate.'
    )
  }
  if (!simultaneous) return(table)
  around <- if (hidden) centre[first] - centre[second] else table$estimate
  simultaneous_intervals(table, blocks, conf_level, around)
}

most_differences <- 4e6 # number of differences in memory at a time

# Blocks of pairs whose draws are processed together. `pairs`: their numbers. `values`: draws of
# systems; `first` and `second`: columns of the pairs. `error`: standard errors of differences
# without the heavy tails of the draws around `centre`, if these have any.
pair_blocks <- function(pairs, parts, centre = NULL) {
  seen <- logical(length(pairs$first))
  blocks <- list()
  for (part in parts) {
    first <- match(pairs$first, part$at)
    second <- match(pairs$second, part$at)
    inside <- which(!is.na(first) & !is.na(second) & !seen)
    seen[inside] <- TRUE
    values <- part$values
    times <- attr(values, "times")
    plain <- if (!is.null(times)) {
      stats::cov((values - rep(centre[part$at], each = nrow(values))) / times)
    }
    size <- max(1, floor(most_differences / nrow(values)))
    blocks <- c(blocks, lapply(in_runs(inside, size), function(at) {
      a <- first[at]
      b <- second[at]
      error <- if (!is.null(plain)) {
        sqrt(pmax(0, diag(plain)[a] + diag(plain)[b] - 2 * plain[cbind(a, b)]))
      }
      list(pairs = at, values = values, first = a, second = b, error = error)
    }))
  }
  blocks
}

# For each pair of systems, the share of the cases that all systems answered on which the two gave
# the same answer.
same_answer_shares <- function(fit, first, second) {
  answer <- pattern_answers(fit$x)
  weight <- pattern_weights(fit$x) * (judged_patterns(fit) & answer[, 1L] > 0L)
  over_pairs(answer, first, function(at) {
    same <- answer[, first[at], drop = FALSE] == answer[, second[at], drop = FALSE]
    list(share = colSums(weight * same) / sum(weight))
  })$share
}

# Evaluates `f`, which returns a list of vectors for pairs `at`, block by block.
over_pairs <- function(answer, first, f) {
  size <- ceiling(most_differences / 4 / max(nrow(answer), 1L))
  blocks <- lapply(in_runs(seq_along(first), size), f)
  fields <- rlang::set_names(unique(unlist(lapply(blocks, names)))) # a block may lack some
  lapply(fields, function(field) unlist(lapply(blocks, `[[`, field)))
}

# Intervals with the number of standard errors that the worst of all pairs needs.
simultaneous_intervals <- function(table, blocks, conf_level, centre) {
  known <- !is.na(table$conf.low)
  if (!any(known)) return(table)
  worst <- worst_of_pairs(blocks, replace(table$std.error, !known, NA))
  half <- stats::quantile(worst, conf_level, names = FALSE) * table$std.error[known]
  table$conf.low[known] <- pmax(centre[known] - half, -1)
  table$conf.high[known] <- pmin(centre[known] + half, 1)
  table
}

# Largest deviation of a pair in each draw, in standard errors, over pairs with a standard error.
worst_of_pairs <- function(blocks, error) {
  draws <- min(vapply(blocks, function(block) nrow(block$values), 0L))
  worst <- numeric(draws)
  for (block in blocks) {
    known <- which(error[block$pairs] > 0)
    if (length(known) == 0L) next
    drawn <- block$values[, block$first[known], drop = FALSE] -
      block$values[, block$second[known], drop = FALSE]
    off <- abs(sweep(drawn, 2L, colMeans(drawn))) /
      rep(error[block$pairs[known]], each = nrow(drawn))
    worst <- pmax(worst, do.call(pmax, asplit(off[seq_len(draws), , drop = FALSE], 2L)))
  }
  worst
}

# Do the average estimates and agreement with the plurality of raters order two systems in the same
# way? If not, the estimate was no better than chance in public data sets. NA for other estimates.
order_known <- function(estimate, first, second) {
  if (!is_averaged(estimate) || !is.null(estimate$compared)) return(rep(NA, length(first)))
  x <- estimate$fit$x
  votes <- plurality_shares(x)[n_raters(x) + seq_along(x$systems)]
  order <- function(value) sign(round(value[first] - value[second], 9L))
  by_model <- order(estimate$table$estimate)
  unname(by_model == order(votes) & by_model != 0)
}

# Systems whose order is known against all others.
known_ranks <- function(systems, table) {
  vapply(systems, function(system) {
    all(table$order_known[table$system1 == system | table$system2 == system])
  }, NA, USE.NAMES = FALSE)
}

# A row per system and rank. Systems that are equal in a draw share their ranks.
rank_table <- function(systems, values) {
  n <- length(systems)
  ranks <- function(ahead) {
    unlist(lapply(seq_len(n), function(s) rowSums(ahead(values, values[, s]))))
  }
  best <- 1 + ranks(`>`)
  worst <- ranks(`>=`)
  # The share begins at the best rank and ends after the worst one, so there is a rank n + 1.
  sums_at <- function(rank) {
    code <- rank + (n + 1) * rep(seq_len(n) - 1, each = nrow(values))
    matrix(rowsum_codes(code, 1 / (worst - best + 1), (n + 1) * n), n + 1L, n)
  }
  share <- apply(sums_at(best) - sums_at(worst + 1), 2L, cumsum)
  share <- matrix(share, n + 1L, n)[seq_len(n), , drop = FALSE]
  tibble::tibble(
    system = rep(systems, each = n), rank = rep(seq_len(n), n),
    probability = na_real(as.vector(share) / nrow(values))
  )
}

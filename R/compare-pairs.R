# Which pairs of systems are compared, what their errors may have been together, and the tables of
# differences and ranks.

# `some`: not all pairs but those with `reference`, or with the `best`, a number.
check_against <- function(reference, best, systems) {
  abort_argument_if(!is.null(reference) && !is.null(best), "best",
    "Systems are compared with {.arg reference} or with the {.arg best}.", x = "Both are given.",
    i = "{.code reference = \"best\"} is the best one.")
  some <- !is.null(reference) || !is.null(best)
  if (!is.null(reference)) reference <- check_reference(reference, systems)
  if (!is.null(best)) best <- check_count(best, "best", max = length(systems))
  against <- list(some = some, reference = reference, best = best)
  check_pairs(length(systems), against)
  against
}

# NULL is the best.
check_reference <- function(reference, systems) {
  check_string(reference, "reference")
  if (reference %in% systems) return(reference)
  abort_if(reference != "best", "system",
    "{.arg reference} must be {.val best}, or one of the systems that are compared.",
    x = "There is no {.val {printable(reference)}}.",
    i = verbatim("Systems are ", shorten(systems, most = 6L), "."), system = reference)
}

most_of_pairs <- 2e5 # that are compared

check_pairs <- function(systems, against) {
  pairs <- count_pairs(systems, against)
  abort_argument_if(pairs > most_of_pairs, "best",
    "No more than {number(most_of_pairs)} pairs can be compared.",
    x = "{number(systems)} systems make {number(pairs)}.",
    i = "Compare them with one system by {.arg reference}, or with a few by {.arg best}; or choose
        some with {.arg systems}.")
}

count_pairs <- function(systems, against) {
  with <- if (against$some) against$best %||% 1 else systems
  with * (with - 1) / 2 + with * (systems - with)
}

# Of gold each pair has an interval of its own.
abort_not_all <- function() {
  abort_argument("simultaneous",
    "Of an estimate with gold cases, {.arg simultaneous} needs all pairs.",
    i = "Leave out {.arg reference} and {.arg best}, or choose {.arg systems}.")
}

# first, second: places of the systems of each pair; with: of those with which all are compared, and
# ranked: of those that have ranks; against: see check_against().
compared_pairs <- function(value, systems, against = list(some = FALSE)) {
  n <- length(systems)
  if (!against$some) {
    check_pair_numbers(n, columns_of_pairs)
    all <- utils::combn(n, 2L)
    return(list(
      first = all[1L, ], second = all[2L, ], with = seq_len(n), ranked = seq_len(n),
      against = NULL
    ))
  }
  by_value <- order(-value, seq_len(n))
  if (is.null(against$best)) {
    with <- if (is.null(against$reference)) by_value[[1L]] else match(against$reference, systems)
    first <- setdiff(by_value, with)
    return(list(
      first = first, second = rep(with, length(first)), with = with, ranked = integer(),
      against = list(reference = systems[[with]])
    ))
  }
  with <- by_value[seq_len(against$best)]
  second <- lapply(seq_len(against$best), function(i) by_value[-seq_len(i)])
  list(
    first = rep(with, lengths(second)), second = unlist(second), with = with, ranked = with,
    against = list(best = against$best)
  )
}

# What the errors of systems together may have been. parts: a list, each with systems `at` (places)
# and `values` (draws x these systems, around the estimates), so that every pair is within a part;
# ranked: values of those that have ranks; or none, and the reason.
comparison_draws <- function(estimate, pairs = all_pairs(estimate)) {
  no_draws <- function(reason) {
    list(
      parts = list(), ranked = matrix(NA_real_, 0L, length(pairs$ranked)), reason = reason,
      clusters = NULL, replicates = estimate$options$replicates
    )
  }
  lacking <- is.na(estimate$table$estimate)
  if (any(lacking)) {
    return(no_draws(paste0(
      "no estimate for ", shorten(estimate$table$system[lacking], most = 4L), ": ",
      estimate$table$reason[lacking][[1L]]
    )))
  }
  why <- lack_of_interval(interval_bootstrap, estimate)
  if (!is.null(why)) return(no_draws(paste0(no_interval, why)))
  values <- estimate$replicates %||% stand_in_replicates(estimate, "accuracy")
  whole <- stats::complete.cases(values)
  if (mean(whole) < 0.5) {
    return(no_draws(paste0(no_interval, "most bootstrap replicates gave no estimate")))
  }
  parts <- draw_parts(estimate, values[whole, , drop = FALSE], pairs$with)
  if (is.character(parts)) return(no_draws(paste0(no_interval, parts)))
  first <- parts[[1L]]
  list(
    parts = parts, ranked = first$values[, match(pairs$ranked, first$at), drop = FALSE],
    reason = NA_character_, replicates = nrow(values),
    clusters = if (!is.null(estimate$options$cluster)) count_clusters(estimate)
  )
}

all_pairs <- function(estimate) compared_pairs(estimate$table$estimate, estimate$table$system)

# All systems together, or many in blocks, each beside those with which all are compared.
draw_parts <- function(estimate, replicates, with) {
  n <- ncol(replicates)
  record <- draws_interval(estimate)
  if (n <= many_systems || length(with) == n) {
    values <- record$draws(estimate, replicates)
    return(if (is.character(values)) values else list(list(at = seq_len(n), values = values)))
  }
  estimate <- without_clusters(estimate)
  others <- setdiff(seq_len(n), with)
  block <- ceiling(seq_along(others) / max(many_systems, length(with)))
  parts <- list()
  for (rest in split(others, block)) {
    at <- c(with, rest)
    values <- record$draws(estimate_of(estimate, at), replicates[, at, drop = FALSE])
    if (is.character(values)) return(values)
    parts <- c(parts, list(list(at = at, values = values)))
  }
  parts
}

# What clusters widen is the same in every block.
without_clusters <- function(estimate) {
  if (!has_interval(estimate)) {
    estimate$details$sampling <- estimate$details$sampling * cluster_widening(estimate)
  }
  estimate$options["cluster"] <- list(NULL)
  estimate
}

# The same of some systems.
estimate_of <- function(estimate, at) {
  estimate$table <- estimate$table[at, ]
  estimate$details <- estimate$details[at, ]
  x <- estimate$fit$x
  x$patterns$answer <- x$patterns$answer[, at, drop = FALSE]
  x$systems <- x$systems[at]
  estimate$fit$x <- x
  estimate
}

# The interval whose draws are taken: that of the estimate, if it has any.
draws_interval <- function(estimate) {
  own <- interval_of(estimate)
  if (is.null(own$draws)) accuracy_intervals()[[method_of(estimate)$draws]] else own
}

difference_table <- function(estimate, pairs, draws, conf_level, simultaneous) {
  systems <- estimate$table$system
  value <- estimate$table$estimate
  first <- pairs$first
  second <- pairs$second
  cases <- estimate$table$n[first]
  method <- estimate$options$method
  table <- tibble::tibble(
    system1 = systems[first], system2 = systems[second], estimate = value[first] - value[second],
    std.error = NA_real_, conf.low = NA_real_, conf.high = NA_real_, probability = NA_real_,
    n = cases, method = method, reason = draws$reason
  )
  if (length(draws$parts) == 0L) return(table)
  iterated <- method_of(estimate)$iterated
  centre <- estimate$details$centre[first] - estimate$details$centre[second]
  blocks <- pair_blocks(pairs, draws$parts, estimate$details$centre)
  tables <- lapply(blocks, function(block) {
    rows <- table[block$pairs, ]
    rows$probability <- core_share_ahead(block$values, block$first, block$second)
    rows <- add_intervals(rows, core_difference_intervals(
      block$values, block$first, block$second, conf_level, iterated
    ))
    with_plain_errors(rows, block)
  })
  table <- do.call(rbind, tables)[order(unlist(lapply(blocks, `[[`, "pairs"))), ]
  same <- same_answers(estimate$fit, first, second)
  table$reason[same] <- paste0(no_interval, same_on_all)
  hidden <- draws_interval(estimate)$hidden
  if (!hidden) {
    warn_outside(
      paste(table$system1, "-", table$system2), table,
      'Use {.code interval = "robust"} for the estimate.'
    )
  }
  if (!simultaneous) return(table)
  simultaneous_intervals(table, blocks, conf_level, if (hidden) centre else table$estimate)
}

# Standard errors of draws without their heavy tails, as estimates tell them.
with_plain_errors <- function(rows, block) {
  if (!is.null(block$plain)) {
    of <- function(a, b) block$plain[cbind(a, b)]
    one <- of(block$first, block$first)
    error <- sqrt(pmax(0, one + of(block$second, block$second) - 2 * of(block$first, block$second)))
    rows$std.error <- ifelse(is.na(rows$std.error), NA_real_, error)
  }
  rows
}

# Covariances of systems without the heavy tails of their draws, which lie around `centre`.
plain_covariance <- function(part, centre) {
  times <- attr(part$values, "times")
  if (!is.null(times)) {
    stats::cov((part$values - rep(centre[part$at], each = nrow(part$values))) / times)
  }
}

most_differences <- 4e6 # in memory at a time, of differences

# Pairs whose draws are handled together: `pairs`, their numbers, and `values`, draws of systems, of
# which they take columns `first` and `second`; `plain`: see plain_covariance().
pair_blocks <- function(pairs, parts, centre = NULL) {
  seen <- logical(length(pairs$first))
  blocks <- list()
  for (part in parts) {
    first <- match(pairs$first, part$at)
    second <- match(pairs$second, part$at)
    here <- which(!is.na(first) & !is.na(second) & !seen)
    seen[here] <- TRUE
    size <- max(1, floor(most_differences / nrow(part$values)))
    plain <- plain_covariance(part, centre)
    blocks <- c(blocks, lapply(unname(split(here, ceiling(seq_along(here) / size))), function(of) {
      list(
        pairs = of, values = part$values, first = first[of], second = second[of], plain = plain
      )
    }))
  }
  blocks
}

block_differences <- function(block, of) {
  block$values[, block$first[of], drop = FALSE] - block$values[, block$second[of], drop = FALSE]
}

same_on_all <- "the two gave the same answers on all these cases"

same_answers <- function(fit, first, second) {
  answer <- pattern_answers(fit$x)[judged_patterns(fit), , drop = FALSE]
  over_pairs(answer, first, second, function(at) {
    other <- answer[, first[at], drop = FALSE] != answer[, second[at], drop = FALSE]
    list(same = colSums(other) == 0)
  })$same
}

# As many standard errors wide as the worst of all pairs needs.
simultaneous_intervals <- function(table, blocks, conf_level, centre) {
  known <- !is.na(table$conf.low)
  if (!any(known)) return(table)
  worst <- worst_of_pairs(blocks, replace(table$std.error, !known, NA))
  half <- stats::quantile(worst, conf_level, names = FALSE) * table$std.error[known]
  table$conf.low[known] <- pmax(centre[known] - half, -1)
  table$conf.high[known] <- pmin(centre[known] + half, 1)
  table
}

# Of each draw, by how many standard errors the pair is off that is so most, of those that have any.
worst_of_pairs <- function(blocks, error) {
  draws <- min(vapply(blocks, function(block) nrow(block$values), 0L))
  worst <- numeric(draws)
  for (block in blocks) {
    of <- error[block$pairs] > 0 & !is.na(error[block$pairs])
    if (!any(of)) next
    drawn <- block_differences(block, of)
    off <- abs(sweep(drawn, 2L, colMeans(drawn))) / rep(error[block$pairs[of]], each = nrow(drawn))
    worst <- pmax(worst, do.call(pmax, asplit(off[seq_len(draws), , drop = FALSE], 2L)))
  }
  worst
}

# A row per system and rank. Systems that are equal in a draw share the ranks that they take.
rank_table <- function(systems, values) {
  n <- length(systems)
  ranks <- function(ahead) {
    unlist(lapply(seq_len(n), function(s) rowSums(ahead(values, values[, s]))))
  }
  best <- 1 + ranks(`>`)
  worst <- ranks(`>=`)
  share <- matrix(0, n + 1L, n) # one more than ranks, after the worst
  system <- (n + 1L) * (rep(seq_len(n), each = nrow(values)) - 1L)
  for (equals in unique(worst - best)) {
    of <- worst - best == equals
    from <- tabulate(best[of] + system[of], length(share))
    share <- share + (from - tabulate(worst[of] + 1L + system[of], length(share))) / (equals + 1L)
  }
  share <- matrix(apply(share, 2L, cumsum), n + 1L, n)[seq_len(n), , drop = FALSE]
  tibble::tibble(
    system = rep(systems, each = n), rank = rep(seq_len(n), n),
    probability = na_real(as.vector(share) / nrow(values))
  )
}

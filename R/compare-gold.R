# Differences of systems with gold: what gold cases and ratings say of each pair, and from these of
# all systems together.

# What gold measures, on top of a comparison `found` by ratings alone of `pairs` of systems. The
# estimate has gold, on the common cases.
compare_with_gold <- function(found, estimate, pairs) {
  gold <- estimate$gold
  found$accuracy <- estimate$table[c("system", "estimate")]
  found$options$interval <- estimate$options$interval
  found$gold <- list(settings = gold$settings, cases = length(gold$case))
  found$options$clusters <- if (!is.null(estimate$options$cluster)) count_gold_clusters(estimate)
  measured <- gold_pairs(estimate, found$differences, found$options$conf_level)
  found$sources <- measured$sources
  found$gold$differ <- measured$differ
  found$differences <- settle_sources(found$differences, found$sources, found$options$interval)
  ranked <- found$accuracy$system[pairs$ranked]
  among <- found$differences$system1 %in% ranked & found$differences$system2 %in% ranked
  together <- draws_of_pairs(found$differences[among, ], ranked, found$options$conf_level)
  found$ranks <- rank_table(ranked, together)
  if (!all(among)) together <- together[0L, , drop = FALSE]
  found$differences <- pairs_together(found$differences, together, found$options)
  found
}

# `sources`, and of each pair, on how many gold cases answers differ (NA if gold says nothing of the
# pair). `table` is what ratings alone say.
gold_pairs <- function(estimate, table, conf_level) {
  systems <- estimate$table$system
  first <- match(table$system1, systems)
  second <- match(table$system2, systems)
  evidence <- estimate$gold$evidence
  x <- if (!is.null(evidence)) {
    over_pairs(pattern_answers(estimate$fit$x), first, second, function(at) {
      x <- gold_difference(evidence, first[at], second[at])
      x[setdiff(names(x), c("rest", "answers"))]
    })
  }
  x$known <- x$known %||% logical(nrow(table))
  lack <- ifelse(x$known, NA, "no gold case was answered by both systems")
  lack[x$known] <- vapply(x$clusters %||% rep(Inf, sum(x$known)), function(n) {
    lack_of_clusters(list(clusters = n)) %||% NA_character_
  }, "")
  centre <- estimate$details$centre
  alone <- list(
    estimate = centre[first] - centre[second], std.error = table$std.error,
    bias = bias_of_pairs(estimate, first, second)
  )
  sources <- source_rows(
    table[c("system1", "system2")], table, x$known, x, lapply(alone, `[`, x$known), lack,
    "difference", c(estimate$gold$settings, conf_level = conf_level), interval_of(estimate)$id
  )
  list(
    sources = sources[names(no_pair_sources)],
    differ = replace(rep(NA_real_, nrow(table)), x$known, x$disputed)
  )
}

# What `f` says of pairs `at`, a list of vectors, for a block of pairs at a time.
over_pairs <- function(answer, first, second, f) {
  size <- ceiling(most_differences / 4 / max(nrow(answer), 1L))
  blocks <- split(seq_along(first), ceiling(seq_along(first) / size))
  found <- lapply(unname(blocks), f)
  fields <- unique(unlist(lapply(found, names)))
  stats::setNames(lapply(fields, function(field) unlist(lapply(found, `[[`, field))), fields)
}

# See ratings_alone(). What errors in common may hide of two systems goes together as their answers
# do.
bias_of_pairs <- function(estimate, first, second) {
  bias <- ratings_alone(estimate, seq_along(estimate$table$system))$bias
  answer <- pattern_answers(estimate$fit$x)
  weight <- pattern_weights(estimate$fit$x) * judged_patterns(estimate$fit)
  same <- over_pairs(answer, first, second, function(at) {
    one <- answer[, first[at], drop = FALSE]
    two <- answer[, second[at], drop = FALSE]
    common <- weight * (one > 0L & two > 0L)
    list(share = colSums(common * (one == two)) / colSums(common))
  })$share
  hidden <- bias[first]^2 + bias[second]^2 - 2 * same^likeness_power * bias[first] * bias[second]
  sqrt(pmax(0, hidden))
}

no_pair_sources <- tibble::tibble(
  system1 = character(), system2 = character(), interval = character(), estimate = double(),
  std.error = double(), conf.low = double(), conf.high = double(), weight = double(),
  reason = character()
)

# Draws of the accuracies of all systems (about their mean) whose differences vary as each pair says
# of itself: the errors whose squared distances are the variances of differences, as far as there
# are such (classical scaling). None where a pair has no interval.
draws_of_pairs <- function(table, systems, conf_level, draws = 4000L) {
  n <- length(systems)
  if (n < 2L) return(matrix(0, draws, n))
  first <- match(table$system1, systems)
  second <- match(table$system2, systems)
  error <- error_of_pairs(table, conf_level)
  if (anyNA(error)) return(matrix(NA_real_, 0L, n))
  difference <- matrix(0, n, n)
  squared <- difference
  difference[cbind(first, second)] <- table$estimate
  squared[cbind(first, second)] <- error^2
  squared <- squared + t(squared)
  centred <- diag(n) - 1 / n
  parts <- eigen(-centred %*% squared %*% centred / 2, symmetric = TRUE)
  # Vectors have no sign of their own: rounding must not choose the draws.
  largest <- max.col(t(abs(parts$vectors)), "first")
  parts$vectors <- parts$vectors %*% diag(sign(parts$vectors[cbind(largest, seq_len(n))]), n)
  noise <- matrix(stats::rnorm(draws * n), draws)
  noise <- noise %*% (sqrt(pmax(0, parts$values)) * t(parts$vectors))
  sweep(noise, 2L, rowMeans(difference - t(difference)), `+`)
}

# Standard deviations of normal errors with intervals as wide. Equals do not differ.
error_of_pairs <- function(table, conf_level) {
  error <- (table$conf.high - table$conf.low) / 2 / normal_quantile(conf_level)
  replace(error, is.na(error) & table$estimate %in% 0 & is_known_equal(table), 0)
}

is_known_equal <- function(table) table$reason %in% paste0(no_interval, same_on_all)

# Who is better, and intervals for all pairs at once, if that was asked.
pairs_together <- function(table, together, options) {
  error <- error_of_pairs(table, options$conf_level)
  table$probability <- stats::pnorm(table$estimate / error)
  table$probability[error %in% 0] <- 0.5
  if (nrow(together) == 0L) return(if (options$simultaneous) without_ends(table) else table)
  systems <- unique(c(table$system1, table$system2))
  blocks <- pair_blocks(
    list(first = match(table$system1, systems), second = match(table$system2, systems)),
    list(list(at = seq_along(systems), values = together))
  )
  table$probability <- unlist(lapply(blocks, function(block) {
    core_share_ahead(block$values, block$first, block$second)
  }))
  if (options$simultaneous) widen_pairs(table, blocks, error, options$conf_level) else table
}

# As many times as wide as the worst of all pairs needs.
widen_pairs <- function(table, blocks, error, conf_level) {
  known <- which(error > 0)
  if (length(known) == 0L) return(table)
  worst <- stats::quantile(worst_of_pairs(blocks, error), conf_level, names = FALSE)
  times <- max(1, worst / normal_quantile(conf_level))
  value <- table$estimate[known]
  table$conf.low[known] <- pmax(-1, value - times * (value - table$conf.low[known]))
  table$conf.high[known] <- pmin(1, value + times * (table$conf.high[known] - value))
  table
}

# At once, or not at all.
without_ends <- function(table) {
  table[c("conf.low", "conf.high")] <- NA_real_
  lacks <- is.na(table$reason)
  table$reason[lacks] <- paste0(no_interval, "another pair has none, so there is none for all")
  table
}

# What gold did, in words; of the pair that is farthest apart for an example.
gold_pair_notes <- function(x) {
  differ <- x$gold$differ[!is.na(x$gold$differ)]
  pair <- which.max(abs(x$differences$estimate))
  c(
    paste0(
      "Gold: ", count_noun(x$gold$cases, "case"), " whose truth is known",
      if (length(differ) > 0L) {
        paste0(
          "; systems differ on ", paste(unique(number_of(range(differ))), collapse = " to "),
          " of them, the only ones that count for a difference"
        )
      }
    ),
    if (length(pair) == 1L) gold_pair_note(x, x$differences[pair, ])
  )
}

gold_pair_note <- function(x, row) {
  own <- x$sources[x$sources$system1 == row$system1 & x$sources$system2 == row$system2, ]
  sign <- if (row$estimate < 0) -1 else 1
  of <- function(interval, column = "estimate") own[[column]][own$interval == interval]
  if (!is.na(of(gold_alone))) {
    paste0(
      "For ", paste(c(row$system1, row$system2)[if (sign < 0) 2:1 else 1:2], collapse = " - "),
      ": ratings alone ", decimals(sign * of(ratings_only)), ", gold alone ",
      decimals(sign * of(gold_alone)), " or, corrected by ratings, ",
      decimals(sign * of(interval_corrected$id)), "; weight of gold ",
      decimals(of(x$options$interval, "weight"), 2L)
    )
  }
}

# Checks of raters that need no model.

least_ratings <- 10 # of a rater, or common cases of a pair, to be judged
nearly_always <- 0.95 # share of a rater's ratings that are one category

# Raters who always or nearly always say the same, where others do not.
one_category_row <- function(x) {
  row <- function(...) k_row("one category", "share of one category", ...)
  if (has_counts(x)) return(row(reason = no_identity))
  if (!weights_are_counts(x)) return(row(reason = "weights are not counts"))
  raters <- favourites(x)
  raters <- raters[raters$ratings >= least_ratings & raters$others > 0, ]
  if (nrow(raters) == 0L) {
    return(row(reason = "no rater has 10 ratings of cases that others rated too"))
  }
  raters$p <- ifelse(raters$share >= nearly_always, pmin(1, raters$p * nrow(raters)), 1)
  found <- raters[raters$p == min(raters$p), ]
  found <- found[order(-found$share), ]
  row(
    statistic = max(raters$share), p_value = found$p[[1L]],
    concerns = shorten(sprintf(
      "%s says %s (%s of ratings)", found$rater, found$category, percent(found$share)
    ), "; ", 4L)
  )
}

# A row per rater: most frequent category, its share, and how probable a share so large would be if
# the rater used it as others do in the same cases.
favourites <- function(x) {
  pattern <- rating_pattern(x)
  rater <- rating_rater(x)
  weight <- pattern_weights(x)[pattern]
  n <- n_categories(x)
  raters <- seq_along(x$raters)
  counts <- rowsum_codes((rater - 1L) * n + rating_category(x), weight, length(raters) * n)
  counts <- matrix(counts, length(raters), n, byrow = TRUE)
  top <- max.col(counts, "first")
  # Of the same cases by others: all ratings, and those in the rater's favourite category.
  once <- paste(pattern, rater)
  own <- function(of) stats::ave(as.double(of), once, FUN = sum)
  total <- function(of) rowsum_codes(rater, weight * of, length(raters))
  hit <- rating_category(x) == top[rater]
  others <- total(pattern_lengths(x)[pattern] - own(1 + 0 * rater))
  same <- total(pattern_counts(x)[cbind(pattern, top[rater])] - own(hit))
  ratings <- rowSums(counts)
  times <- counts[cbind(raters, top)]
  data.frame(
    rater = x$raters, category = x$categories[top], ratings = ratings, share = times / ratings,
    others = others,
    p = at_least(times, ratings, (same + 0.5) / (others + 1))
  )
}

# Under the K-properties no two raters agree less than by chance.
below_chance_row <- function(x, alpha) {
  row <- function(...) k_row("chance", "agreement below chance", ...)
  chance <- 1 / n_categories(x)
  fit <- fit_algebraic(x, k_model())
  if (fit$identified == "no_pairs") return(row(reason = reason_of_fit(fit)))
  impossible <- fit$agreement <= chance
  all_raters <- paste("all raters agree in", percent(fit$agreement), "of pairs")
  countable <- weights_are_counts(x) && length(named_raters(x)) %in% seq_len(most_judges)
  pairs <- if (countable) judge_pairs(x)
  if (NROW(pairs) == 0L) {
    return(row(statistic = fit$agreement, contradiction = impossible, concerns = all_raters))
  }
  pairs$share <- pairs$agreeing / pairs$cases
  pairs$p <- pmin(1, nrow(pairs) * stats::pbinom(pairs$agreeing, pairs$cases, chance))
  worst <- pairs[order(pairs$p, pairs$share)[[1L]], ]
  row(
    statistic = worst$share, p_value = worst$p, contradiction = impossible,
    concerns = paste(c(if (impossible) all_raters, if (worst$p <= alpha) paste(
      x$raters[[worst$judge1]], "and", x$raters[[worst$judge2]], "agree in",
      percent(worst$share), "of cases"
    )), collapse = "; ")
  )
}

# A row per pair with enough common cases: raters, and perhaps a system behind them.
judge_pairs <- function(x, system = 0L) {
  n <- n_raters(x)
  patterns <- pick_systems(x$patterns, system)
  check_pair_numbers(n, 4)
  total <- core_pair_counts(patterns, pattern_weights(x), seq_len(n), n)
  at <- which(upper.tri(total$pairs) & total$pairs >= least_ratings, arr.ind = TRUE)
  data.frame(
    judge1 = at[, 1L], judge2 = at[, 2L], cases = total$pairs[at], agreeing = total$agreeing[at]
  )
}

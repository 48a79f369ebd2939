# Checks of raters that need no model.

least_ratings <- 10 # of a rater, or common cases of a pair, to be judged
nearly_always <- 0.95 # share of a rater's ratings that are one category

# Raters who always or nearly always say the same, where others do not.
one_category_row <- function(x) {
  row <- function(...) k_row("one category", "share of one category", ...)
  why <- if (has_counts(x)) no_identity else if (!weights_are_counts(x)) "weights are not counts"
  if (!is.null(why)) return(row(reason = why))
  raters <- favourites(x)
  raters <- raters[raters$ratings >= least_ratings & raters$others > 0, ]
  if (nrow(raters) == 0L) {
    return(row(reason = "no rater has 10 ratings of cases that others rated too"))
  }
  suspect <- raters$share >= nearly_always
  p <- ifelse(suspect, pmin(1, raters$p * nrow(raters)), 1)
  found <- order(p, -raters$share)
  found <- found[p[found] == p[[found[[1L]]]]]
  row(
    statistic = max(raters$share), p_value = min(p),
    concerns = shorten(sprintf(
      "%s says %s (%s of ratings)", raters$rater[found], raters$category[found],
      percent(raters$share[found])
    ), "; ", 4L)
  )
}

# A row per rater: most frequent category, its share, and how probable a share so large would be if
# the rater used it as others do in the same cases.
favourites <- function(x) {
  pattern <- rating_pattern(x)
  rater <- rating_rater(x)
  category <- rating_category(x)
  weight <- pattern_weights(x)[pattern]
  n <- length(x$categories)
  raters <- seq_along(x$raters)
  of <- function(rater, category) (rater - 1L) * n + category
  counts <- rowsum_codes(of(rater, category), weight, length(raters) * n)
  counts <- matrix(counts, length(raters), n, byrow = TRUE)
  top <- max.col(counts, "first")
  # Of the same cases: all ratings, and those in the rater's favourite category.
  in_pattern <- rowsum_codes(
    of(pattern, category), rep(1, length(pattern)), n_patterns(x) * n
  )
  favourite <- in_pattern[of(pattern, top[rater])]
  size <- pattern_lengths(x)[pattern]
  once <- paste(pattern, rater)
  own <- stats::ave(rep(1, length(pattern)), once, FUN = sum)
  own_favourite <- stats::ave(as.double(category == top[rater]), once, FUN = sum)
  others <- rowsum_codes(rater, weight * (size - own), length(raters))
  same <- rowsum_codes(rater, weight * (favourite - own_favourite), length(raters))
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
  chance <- 1 / length(x$categories)
  fit <- fit_algebraic(x, k_model())
  if (fit$identified == "no_pairs") return(row(reason = reason_of_fit(fit)))
  impossible <- fit$agreement <= chance
  all_raters <- paste("all raters agree in", percent(fit$agreement), "of pairs")
  pairs <- if (weights_are_counts(x) && length(named_raters(x)) %in% seq_len(most_judges)) {
    rater_pairs(x)
  }
  if (is.null(pairs) || nrow(pairs) == 0L) {
    return(row(
      statistic = fit$agreement, contradiction = impossible, concerns = all_raters
    ))
  }
  share <- pairs$agreeing / pairs$cases
  p <- pmin(1, nrow(pairs) * stats::pbinom(pairs$agreeing, pairs$cases, chance))
  worst <- order(p, share)[[1L]]
  pair <- paste(
    x$raters[[pairs$rater1[[worst]]]], "and", x$raters[[pairs$rater2[[worst]]]], "agree in",
    percent(share[[worst]]), "of cases"
  )
  row(
    statistic = share[[worst]], p_value = p[[worst]],
    contradiction = impossible,
    concerns = paste(c(if (impossible) all_raters, if (p[[worst]] <= alpha) pair), collapse = "; ")
  )
}

rater_pairs <- function(x) {
  n <- length(x$raters)
  patterns <- pick_systems(x$patterns, 0L)
  check_pair_numbers(n, 4)
  total <- core_pair_counts(patterns, pattern_weights(x), seq_len(n), n)
  at <- which(upper.tri(total$pairs) & total$pairs >= least_ratings, arr.ind = TRUE)
  data.frame(
    rater1 = at[, 1L], rater2 = at[, 2L], cases = total$pairs[at], agreeing = total$agreeing[at]
  )
}

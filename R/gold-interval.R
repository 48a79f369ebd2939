# Intervals of what gold cases say (see gold-correction.R).

# Valid whatever raters and systems have in common. No interval where clusters are too few.
corrected_interval <- function(x, target, conf_level) {
  share <- min(max(x$estimate, 0), 1)
  z <- normal_quantile(conf_level)
  size <- gold_size(x, target, conf_level)
  ends <- if (is.na(size)) c(NA_real_, NA_real_) else wilson_interval(share, size, z)
  list(
    estimate = share, std.error = sqrt(x$variance / size), conf.low = ends[[1L]],
    conf.high = ends[[2L]], size = size
  )
}

# Wilson's interval of a share that is known as well as from `n` independent cases.
wilson_interval <- function(share, n, z) {
  if (is.infinite(n)) {
    return(c(share, share))
  }
  centre <- (share + z^2 / (2 * n)) / (1 + z^2 / n)
  half <- z / (1 + z^2 / n) * sqrt(share * (1 - share) / n + z^2 / (4 * n^2))
  c(max(0, centre - half), min(1, centre + half))
}

# How many independent cases would tell as much of the `"cases"` at hand, or of the `"population"`
# that they are a sample of. NA where gold cases are in clusters that are too few.
gold_size <- function(x, target, conf_level) {
  if (is.null(x$clusters)) {
    1 / gold_error(x, target)
  } else if (x$clusters < fewest_clusters) {
    NA_real_
  } else {
    # As far from the mean as t is with so few clusters.
    few <- stats::qt((1 + conf_level) / 2, x$clusters - 1)
    (normal_quantile(conf_level) / few)^2 / gold_error(x, target)
  }
}

# Variance in units of that of y; gold never tells less than alone.
gold_error <- function(x, target) {
  own <- x$ratio * (1 - x$gold / x$cases) / x$gold
  if (target == "cases") own else min(own + x$at_hand / x$cases, x$design / x$gold)
}

# The least number of clusters with gold cases that says how much clusters differ.
fewest_clusters <- 5L

# The same correction of gold cases that are not independent, `cluster` says of which they are; NULL
# where they are. What helps with independent cases need not with clusters. `variance` is that of y
# for which the interval takes its size.
in_clusters <- function(x, cluster, variance = share_variance(x)) {
  if (is.null(cluster)) {
    return(x)
  }
  cluster <- match(cluster, unique(cluster))
  x$clusters <- max(cluster)
  if (x$clusters < fewest_clusters) {
    return(x)
  }
  # Few clusters fit a slope of their own, too.
  ratio <- clustered_ratio(x, x$ratio, x$rest, cluster, 1L + (x$slope > 0), variance)
  alone <- clustered_ratio(x, x$design, x$answers, cluster, 1L, variance)
  if (ratio >= alone) {
    x$estimate <- x$alone
    x$slope <- 0
  }
  x$ratio <- min(ratio, alone)
  x$at_hand <- x$at_hand * alone / x$design
  x$design <- alone
  x
}

# Never less than that of independent cases. `fitted` is the number of what was fitted to gold.
clustered_ratio <- function(x, ratio, rest, cluster, fitted, variance) {
  between <- sum(rowsum(rest, cluster)^2) * x$clusters / (x$clusters - fitted)
  max(ratio, between / (variance * x$gold))
}

# Variance of a share at the estimate; that of few cases where all of them are alike.
share_variance <- function(x) {
  share <- min(max(x$estimate, 0), 1)
  variance <- share * (1 - share)
  if (variance > 0) variance else x$variance
}

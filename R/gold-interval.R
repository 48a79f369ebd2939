# Intervals of what gold cases say (see gold-correction.R).

# Valid whatever raters and systems have in common. No interval where clusters are too few. Like all
# intervals with gold, of one share or of several.
corrected_interval <- function(x, target, conf_level) {
  share <- clip01(x$estimate)
  size <- gold_size(x, target, conf_level)
  ends <- wilson_interval(share, size, normal_quantile(conf_level))
  found <- list(
    estimate = share, std.error = sqrt(x$variance / size), conf.low = ends[, 1L],
    conf.high = ends[, 2L], size = size
  )
  reach_ends(found, x)
}

# Where all gold cases are hits, or all misses, they cannot exclude that all cases are, whatever
# ratings predict of these; and no middle part of a posterior has the end of the scale in it. `low`
# and `high`: does nothing else exclude the ends? What has no interval gets none.
reach_ends <- function(found, x, low = TRUE, high = TRUE) {
  known <- !is.na(found$conf.low)
  found$conf.low[which(known & low & x$seen <= 1e-12)] <- 0
  found$conf.high[which(known & high & x$seen >= 1 - 1e-12)] <- 1
  found
}

# Lists of numbers with the same names: a vector for each that all have.
bind_numbers <- function(lists) {
  fields <- setdiff(Reduce(intersect, lapply(lists, names)), c("rest", "answers"))
  lapply(stats::setNames(nm = fields), function(field) vapply(lists, `[[`, 0, field))
}

# How many independent cases would tell as much of the `"cases"` at hand, or of the `"population"`
# that they are a sample of. NA where gold cases are in clusters that are too few.
gold_size <- function(x, target, conf_level) {
  size <- 1 / gold_error(x, target)
  if (is.null(x$clusters)) return(size)
  # As far from the mean as t is with so few clusters.
  few <- stats::qt((1 + conf_level) / 2, pmax(x$clusters - 1, 1))
  ifelse(x$clusters < fewest_clusters, NA_real_, (normal_quantile(conf_level) / few)^2 * size)
}

# Variance in units of that of y; gold never tells less than alone.
gold_error <- function(x, target) {
  own <- x$ratio * (1 - x$gold / x$cases) / x$gold
  if (target == "cases") own else pmin(own + x$at_hand / x$cases, x$design / x$gold)
}

# The least number of clusters with gold cases that says how much clusters differ.
fewest_clusters <- 5L

# The same correction of gold cases that are not independent, `cluster` says of which they are; NULL
# where they are. What helps with independent cases need not with clusters. `variance` is that of y
# for which the interval takes its size; `counts`, which gold cases have a part in each mean.
in_clusters <- function(x, cluster, variance = share_variance(x), counts = TRUE | x$rest) {
  if (is.null(cluster)) return(x)
  x$clusters <- as.double(colSums(rowsum(1 * counts, cluster) > 0))
  enough <- x$clusters >= fewest_clusters
  # Few clusters fit a slope of their own, too.
  ratio <- clustered_ratio(x, x$ratio, x$rest, cluster, 1L + (x$slope > 0), variance)
  alone <- clustered_ratio(x, x$design, x$answers, cluster, 1L, variance)
  worse <- enough & ratio >= alone
  x$estimate[worse] <- x$alone[worse]
  x$slope[worse] <- 0
  x$rest[, worse] <- x$answers[, worse]
  x$ratio <- ifelse(enough, pmin(ratio, alone), x$ratio)
  x$at_hand <- x$at_hand * ifelse(enough, alone / x$design, 1)
  x$design <- ifelse(enough, alone, x$design)
  x
}

# Never less than that of independent cases. `fitted` is the number of what was fitted to gold.
clustered_ratio <- function(x, ratio, rest, cluster, fitted, variance) {
  between <- colSums(rowsum(rest, cluster)^2) * x$clusters / (x$clusters - fitted)
  pmax(ratio, between / (variance * x$gold))
}

# Variance of a share at the estimate; that of few cases where all of them are alike.
share_variance <- function(x) {
  share <- clip01(x$estimate)
  variance <- share * (1 - share)
  ifelse(variance > 0, variance, x$variance)
}

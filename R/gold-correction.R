# Gold: cases whose truth is known, drawn at random, measure what ratings cannot show. Ratings say
# of every case how probably an answer is right; gold cases say how far such predictions are off.
# Nothing here trusts raters: where their predictions are worthless, gold speaks alone.
#
# y is what gold cases say, q what was predicted of them, w their weights (inverse probabilities of
# being gold, on any scale), N the number of all cases.

# What is thought beforehand of the slope of y on q, and for how many gold cases that counts.
prior_slope <- 0.5
prior_cases <- 10

# What ratings predict: mean and variance (divisor N - 1) of q over all cases, and their number.
# `weight` counts cases that are alike.
prediction_of <- function(q, weight = rep(1, length(q))) {
  cases <- sum(weight)
  mean <- sum(weight * q) / cases
  variance <- if (cases > 1) sum(weight * (q - mean)^2) / (cases - 1) else 0
  list(mean = mean, variance = variance, cases = cases)
}

# Shares of cases. With few gold cases their variance is that of a share with one more case of
# either kind; predictions vary at least as much as their mean lets a share vary.
correct_share <- function(y, q, of, w = rep(1, length(y))) {
  scale <- function(mean, spread, gold) {
    share <- (gold * mean + 1) / (gold + 2)
    share * (1 - share)
  }
  correct_mean(y, q, of, scale, of$mean * (1 - of$mean), w)
}

# The mean of y over all cases: that of gold cases, less `slope` times what the predictions of gold
# cases differ from those of all. `scale(mean, spread, gold)` is the variance of y that few gold
# cases are held against, and `least_variance` the least that predictions are.
#
# Result: `estimate`, and `alone`, that of gold alone; `slope`; `ratio`, the variance that
# predictions leave, in that of gold alone (1, or `design` for unequal weights, where gold speaks
# alone); `variance`, that of y; `rest` and `answers`, the weighted deviations of gold cases with
# and without predictions; `gold` and `cases`, numbers; `labels`, of gold cases that were needed for
# it; `design`, how many gold cases of unequal weights do what one of equal weight does; and
# `at_hand`, the variance of a case at hand (1), both in units of `variance`.
correct_mean <- function(y, q, of, scale, least_variance = 0, w = rep(1, length(y))) {
  m <- length(y)
  w <- w / mean(w)
  design <- mean(w^2)
  variance <- scale(mean(w * y), sum_of_squares(y, w) / m, m / design)
  slope <- slope_on(y, q, of, w, m / design)
  left <- variance_left(y, q, of, w, slope, variance, max(variance, least_variance))
  alone <- !is.finite(left) || left >= design - 1e-12
  if (alone) slope <- 0
  rest <- y - slope * q
  list(
    estimate = mean(w * rest) + slope * of$mean, slope = slope, ratio = if (alone) design else left,
    variance = variance, rest = w * centred(rest, w), answers = w * centred(y, w), gold = m,
    labels = m, alone = mean(w * y), cases = of$cases, design = design, at_hand = 1
  )
}

centred <- function(x, w) x - mean(w * x)

# m / (m - 1) times the sum, 0 where one case shows no spread.
sum_of_squares <- function(x, w, weight = w) {
  m <- length(x)
  if (m > 1L) sum(weight * centred(x, w)^2) * m / (m - 1) else 0
}

slope_on <- function(y, q, of, w, effective) {
  if (of$variance <= 0) {
    return(0)
  }
  m <- length(y)
  own <- if (m > 1L) sum(w * centred(y, w) * centred(q, w)) / (m - 1) / of$variance else 0
  min(max((effective * own + prior_cases * prior_slope) / (effective + prior_cases), 0), 1)
}

variance_left <- function(y, q, of, w, slope, variance, most_variance) {
  # Few gold cases may vary less than predictions, which explain no more than there is.
  before <- 1 - prior_slope^2 * min(1, of$variance / most_variance)
  # Both on the scale of squared weights, so that predictions worth nothing leave all of it.
  design <- mean(w^2)
  (sum_of_squares(y - slope * q, w, w^2) + prior_cases * before * variance * design) /
    (sum_of_squares(y, w, w^2) / design + prior_cases * variance)
}

# Agreement of raters explains this share of the variance of a system's being right, as far as
# ratings alone can tell, give or take the standard deviation that it has over real data sets.
explained_by_ratings <- function(of, variance = of$mean * (1 - of$mean)) {
  share <- if (variance > 0) of$variance / variance else 0
  min(0.9, share^2)
}
explained_deviation <- 0.2

# How many gold labels one gold label is worth that is corrected by ratings: the estimate from
# ratings alone, and a range.
worth_of_ratings <- function(explained, conf_level) {
  margin <- normal_quantile(conf_level) * explained_deviation
  ends <- pmin(pmax(explained + c(0, -margin, margin), 0), most_explained)
  stats::setNames(1 / (1 - ends), c("estimate", "conf.low", "conf.high"))
}
most_explained <- 0.95

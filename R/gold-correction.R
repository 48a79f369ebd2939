# Gold: cases whose truth is known, drawn at random, measure what ratings cannot show. Ratings say
# of every case how probably an answer is right; gold cases say how far such predictions are off.
# Nothing here trusts raters: where their predictions are worthless, gold speaks alone.
#
# y is what gold cases say, q what was predicted of them, w their weights (inverse probabilities of
# being gold, on any scale; 0 leaves a case out), N the number of all cases. All may be matrices,
# with a column for each of several means.

# What is thought beforehand of the slope of y on q, and for how many gold cases that counts.
prior_slope <- 0.5
prior_cases <- 10

# What ratings predict: mean and variance (divisor N - 1) of q over all cases, and their number.
# `weight` counts cases that are alike.
prediction_of <- function(q, weight = rep(1, length(q))) {
  weight <- as.matrix(weight)
  cases <- colSums(weight)
  mean <- colSums(weight * q) / cases
  squares <- colSums(weight * (as.matrix(q) - rep(mean, each = nrow(weight)))^2)
  list(mean = mean, variance = ifelse(cases > 1, squares / (cases - 1), 0), cases = cases)
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
# `at_hand`, the variance of a case at hand (1), both in units of `variance`; and `seen`, see
# reach_ends().
correct_mean <- function(y, q, of, scale, least_variance = 0, w = rep(1, length(y))) {
  y <- as.matrix(y)
  q <- as.matrix(q)
  w <- as.matrix(w)
  m <- as.integer(colSums(w > 0))
  w <- w * rep(m / colSums(w), each = nrow(w))
  design <- colSums(w^2) / m
  alone <- colSums(w * y) / m
  variance <- scale(alone, sum_of_squares(y, w) / m, m / design)
  slope <- slope_on(y, q, of, w, m / design)
  left <- variance_left(y, q, of, w, slope, variance, pmax(variance, least_variance))
  unaided <- !is.finite(left) | left >= design - 1e-12 | slope <= 0
  slope[unaided] <- 0
  rest <- y - rep(slope, each = nrow(y)) * q
  list(
    estimate = colSums(w * rest) / m + slope * of$mean, slope = slope,
    ratio = ifelse(unaided, design, left), variance = variance, rest = w * centred(rest, w),
    answers = w * centred(y, w), gold = m, labels = m, alone = alone, cases = of$cases,
    design = design, at_hand = rep(1, length(m)), seen = rep(NA_real_, length(m))
  )
}

centred <- function(x, w) x - rep(colSums(w * x) / colSums(w), each = nrow(x))

# m / (m - 1) times the sum, 0 where one case shows no spread.
sum_of_squares <- function(x, w, weight = w) {
  m <- colSums(w > 0)
  ifelse(m > 1, colSums(weight * centred(x, w)^2) * m / (m - 1), 0)
}

slope_on <- function(y, q, of, w, effective) {
  m <- colSums(w > 0)
  own <- colSums(w * centred(y, w) * centred(q, w)) / (m - 1) / of$variance
  own[m <= 1] <- 0
  slope <- (effective * own + prior_cases * prior_slope) / (effective + prior_cases)
  ifelse(of$variance <= 0, 0, pmin(pmax(slope, 0), 1))
}

variance_left <- function(y, q, of, w, slope, variance, most_variance) {
  # Few gold cases may vary less than predictions, which explain no more than there is.
  before <- 1 - prior_slope^2 * pmin(1, of$variance / most_variance)
  # Both on the scale of squared weights, so that predictions worth nothing leave all of it.
  design <- colSums(w^2) / colSums(w > 0)
  rest <- y - rep(slope, each = nrow(y)) * q
  (sum_of_squares(rest, w, w^2) + prior_cases * before * variance * design) /
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

# Gold together with the estimate from ratings alone (`alone`: its `estimate`, `std.error` and
# `bias`, the part of the error that is not sampling). That estimate is a prior that gold cases are
# weighed against: normal where few gold cases are, with a flat part once there are enough to
# contradict it.

least_prior_variance <- 1e-4
most_vague <- 0.7 # weight of the flat part that many gold cases lead to;
half_vague <- 10 # half of it at so many
default_widen <- 1.25
# The least with which nominal 90% intervals cover .85 whatever the bias, in the limit of many
# cases: a sure prior that is off moves them by s = 1 / (1 + this) of its distance, they are
# sqrt(1 - s) times as wide, and where gold just does not contradict it, one end is missed with
# probability .10 (and the other with .05) if qnorm(.95) (sqrt(1 - s) - s) = qnorm(.90).
widened_by_gold <- 5.9
# So many give the flat part most of the weight, so that gold may contradict ratings: with half as
# many 90% intervals covered .71 in the public data set where they did so least, with these .80.
fewest_contradicting <- 20
cell_bias <- 2 # shared errors differ between categories: they are so much larger in a cell
least_bias <- 0.1 # of a difference, per share of cases on which answers differ
most_information <- 1e5 # cases that a likelihood may count for

# Many gold cases widen the normal part. What they measure must be able to contradict it, which it
# cannot where the prior is surer than they are; and ratings alone may be very sure and far off,
# since shared errors need leave no trace in them. So the variance of what gold says (`error`)
# widens it, too. `widen`, if given, is the factor by which the variance grows, and gold has no part
# in it. `case_variance` is that of a case at hand. Where that is `unit` times what it is of a
# share, so is the least variance of the prior: of logarithmic losses, which have a range of 36, a
# hundredth of the range is no small error.
ratings_prior <- function(alone, gold, case_variance, cases, widen, error = 0, unit = 1) {
  # Sampling of cases is what gold cases and ratings have in common.
  sampling <- alone$std.error^2 - case_variance / cases
  variance <- pmax(sampling, alone$bias^2, least_prior_variance * pmin(1, unit))
  enough <- 1 / (1 + (half_vague / gold)^2)
  wide <- (1 + widen %||% default_widen) * variance
  if (is.null(widen)) wide <- wide + widened_by_gold * error
  list(
    centre = alone$estimate, variance = variance,
    sd = sqrt((1 - enough) * variance + enough * wide), vague = most_vague * enough
  )
}

# Intervals of shares from what gold says (`x`), and from ratings alone. Where either says nothing,
# where all is known, or where gold contradicts ratings, the other stands as it is.
combined_interval <- function(x, alone, target, conf_level, widen = default_widen) {
  corrected <- corrected_interval(x, target, conf_level)
  error <- x$variance * gold_error(x, "cases")
  spread <- alone$estimate * (1 - alone$estimate) * x$at_hand
  prior <- ratings_prior(alone, x$labels, spread, x$cases, widen, error, x$at_hand)
  belief <- belief_in_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  where_both_tell(x, prior, corrected, belief, function(x, prior, share) {
    size <- pmin(most_information, gold_size(x, "cases", conf_level))
    blend <- core_blend(list(value = share, size = size), prior, conf_level)
    spread <- blend$mean * (1 - blend$mean)
    weight <- gold_weight(blend, prior, spread / size)
    sampling <- spread * x$at_hand / x$cases
    found <- add_sampling(blend, weight, target, sampling, conf_level, c(0, 1))
    reach <- normal_quantile(conf_level) * prior$sd
    reach_ends(found, x, prior$centre - reach <= 0, prior$centre + reach >= 1)
  })
}

# Weight of the estimate that takes ratings as a prior, against the corrected one: 0 where gold
# cases contradict the ratings, 1 where they do not (see gold_test()). It rises evenly between half
# and one and a half times the level of the test. A step would let the noise of standard errors
# from replicates, and so the order of labels, decide between two estimates.
belief_in_ratings <- function(x, prior, value, error, conf_level, widen) {
  p <- contradiction(prior, value, error)$p.value
  out <- clip01(p / (1 - conf_level) - 0.5)
  replace(out, !is.null(widen) | x$gold < fewest_tested, 1)
}

contradiction <- function(prior, value, error) {
  z <- (prior$centre - value) / sqrt(prior$variance + error)
  list(statistic = z, p.value = 2 * stats::pnorm(-abs(z)))
}

# `corrected`, moved by the weight `belief` to what `blend` computes from `x`, `prior` and the
# corrected estimate, where gold and ratings are both informative.
where_both_tell <- function(x, prior, corrected, belief, blend) {
  corrected$weight <- rep(1, length(corrected$estimate))
  use <- belief > 0 & !(is.na(prior$variance) | is.na(prior$centre) | is.na(corrected$size) |
    x$gold >= x$cases)
  some <- function(fields) lapply(fields, `[`, use)
  x <- some(x[setdiff(names(x), c("rest", "answers"))])
  found <- blend(x, some(prior), corrected$estimate[use])
  for (column in names(found)) {
    before <- corrected[[column]][use]
    corrected[[column]][use] <- before + belief[use] * (found[[column]] - before)
  }
  corrected$size[use] <- NA_real_ # it is not known as from so many cases
  corrected
}

# How much of the estimate is gold's: all where the flat part of the prior holds, otherwise as
# precisions weigh.
gold_weight <- function(blend, prior, error) {
  blend$flat + (1 - blend$flat) * prior$sd^2 / (prior$sd^2 + error)
}

# Of the cases at hand, or with what these differ from the population.
add_sampling <- function(blend, weight, target, variance, conf_level, limits) {
  if (target == "cases") variance <- 0
  error <- normal_quantile(conf_level) * sqrt(variance)
  list(
    estimate = blend$mean, std.error = sqrt(blend$sd^2 + variance),
    conf.low = pmax(limits[[1L]], blend$mean - reach_with(error, blend$low, blend$mean)),
    conf.high = pmin(limits[[2L]], blend$mean + reach_with(error, blend$high, blend$mean)),
    weight = weight
  )
}

# The same of differences, which answers bound: none is greater than the share of cases on which
# they differ (`x$differ`), and shared errors hide there. `x$one_right`, what ratings expect of
# its square, tells how much cases vary, and `x$all` is their number.
combined_difference <- function(x, alone, target, conf_level, widen = default_widen) {
  corrected <- difference_interval(x, target, conf_level)
  alone$bias <- pmax(alone$bias, least_bias * x$differ)
  spread <- pmax(x$one_right - alone$estimate^2, 0)
  error <- x$variance / gold_size(x, "cases", conf_level)
  prior <- ratings_prior(alone, x$labels, spread, x$all, widen, error)
  prior$centre <- pmin(pmax(prior$centre, -x$differ), x$differ)
  belief <- belief_in_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  belief[x$gold < 2 | x$differ <= 0] <- 0
  where_both_tell(x, prior, corrected, belief, function(x, prior, value) {
    error <- x$variance / gold_size(x, "cases", conf_level)
    freedom <- if (is.null(x$clusters)) x$gold - 1 else Inf * x$gold # clusters are in the error
    measured <- list(value = value, error = sqrt(error), freedom = freedom, end = x$differ)
    blend <- core_blend(measured, prior, conf_level)
    weight <- gold_weight(blend, prior, error)
    sampling <- x$variance * x$at_hand / x$cases
    add_sampling(blend, weight, target, sampling, conf_level, c(-1, 1))
  })
}

# Do gold cases contradict the estimate from ratings alone? None below five gold cases.
fewest_tested <- 5L

gold_test <- function(x, alone) {
  spread <- alone$estimate * (1 - alone$estimate) * x$at_hand
  prior <- ratings_prior(alone, 0, spread, x$cases, 0, unit = x$at_hand)
  found <- contradiction(prior, clip01(x$estimate), x$variance * gold_error(x, "cases"))
  lapply(found, replace, x$gold < fewest_tested, NA_real_)
}

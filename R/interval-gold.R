# Intervals from gold cases (see gold.R); robust intervals for systems without gold cases.

# Valid whatever the number of shared errors. There is no interval if there are too few clusters.
# Handles one share or several, like all functions for intervals with gold cases.
corrected_interval <- function(x, target, conf_level) {
  share <- clip01(x$estimate)
  size <- gold_size(x, target, conf_level)
  ends <- wilson_interval(share, size, normal_quantile(conf_level))
  reach_ends(list(
    estimate = share, std.error = sqrt(x$variance / size), conf.low = ends[, 1L],
    conf.high = ends[, 2L], size = size
  ), x)
}

# If all gold cases are correct (or all are wrong), it cannot be excluded that all cases are,
# whatever the predictions. Central posterior intervals never contain the ends of the scale. `low`,
# `high`: may the ends be included? Missing intervals stay missing.
reach_ends <- function(interval, x, low = TRUE, high = TRUE) {
  known <- !is.na(interval$conf.low)
  interval$conf.low[which(known & low & x$seen <= 1e-12)] <- 0
  interval$conf.high[which(known & high & x$seen >= 1 - 1e-12)] <- 1
  interval
}

# Number of independent cases with the same information, about the `"cases"` of the data or about
# the `"population"`. NA if gold cases are in too few clusters.
gold_size <- function(x, target, conf_level) {
  size <- 1 / gold_error(x, target)
  if (is.null(x$clusters)) return(size)
  # Adjusts for the quantile of the t distribution with few clusters.
  few <- stats::qt((1 + conf_level) / 2, pmax(x$clusters - 1, 1))
  ifelse(x$clusters < fewest_clusters, NA_real_, (normal_quantile(conf_level) / few)^2 * size)
}

# Variance in units of the variance of y, at most that of gold cases without ratings.
gold_error <- function(x, target) {
  error <- x$ratio * (1 - x$gold / x$cases) / x$gold
  if (target == "cases") error else pmin(error + x$at_hand / x$cases, x$design / x$gold)
}

# Student's interval, with degrees of freedom one less than the number of gold cases.
difference_interval <- function(x, target, conf_level) {
  size <- gold_size(x, target, conf_level)
  error <- sqrt(x$variance / size)
  reach <- error * quantile_of_few(x, conf_level)
  estimate <- pmin(pmax(x$estimate, -1), 1)
  list(
    estimate = estimate, std.error = error, conf.low = pmax(-1, estimate - reach),
    conf.high = pmin(1, estimate + reach), size = size
  )
}

# With clusters the size already contains their number, see gold_size().
quantile_of_few <- function(x, conf_level) {
  if (!is.null(x$clusters)) return(normal_quantile(conf_level))
  ifelse(x$gold > 1, stats::qt((1 + conf_level) / 2, pmax(x$gold - 1, 1)), Inf)
}

# ---- Combined ------------------------------------------------------------------------------------

# Combines gold cases with the estimate from ratings (`from_ratings`: its `estimate`, `std.error`
# and `bias`, the part of the error that is not sampling error). That estimate is the prior. It is
# normal if there are few gold cases; with more gold cases it has a flat part, so that they can
# contradict it.

least_prior_variance <- 1e-4
most_vague <- 0.7 # limit of the weight of the flat part for many gold cases
half_vague <- 10 # number of gold cases at which the weight is half of the limit
default_widen <- 1.25
# The smallest factor with which nominal 90% intervals cover .85 whatever the bias, in the limit of
# many cases. A precise prior that is wrong moves an interval by s = 1 / (1 + factor) of the
# distance. The interval is sqrt(1 - s) times as wide. If gold cases just fail to contradict the
# prior, one end is missed with probability .10 and the other with .05, where
#   qnorm(.95) (sqrt(1 - s) - s) = qnorm(.90).
widened_by_gold <- 5.9
# With this number of gold cases, the flat part has most of the weight, so that they can contradict
# ratings. In the worst public data set, 90% intervals then covered .80, and .71 with half of it.
fewest_contradicting <- 20
cell_bias <- 2 # shared errors differ between categories: factor of the bias in a cell
least_bias <- 0.1 # least bias of a difference, per share of cases on which answers differ
most_information <- 1e5 # upper limit of the number of cases in a likelihood

# The prior from ratings. Many gold cases widen the normal part, so that they can contradict it.
# They could not if the prior had the smaller error. The estimate from ratings may be precise and
# far from the truth, because shared errors need not be visible. The prior variance is therefore
# also increased by a multiple of the variance of the gold estimate (`error`). If `widen` is given,
# it is the factor by which the variance increases, and gold has no effect. `case_variance`:
# variance of a case. `unit`: this variance relative to that of a share; the least variance of the
# prior is scaled by it (at most 1).
ratings_prior <- function(from_ratings, gold, case_variance, cases, widen, error = 0, unit = 1) {
  # Sampling error of the cases is common to the estimates from gold cases and from ratings.
  sampling <- from_ratings$std.error^2 - case_variance / cases
  variance <- pmax(sampling, from_ratings$bias^2, least_prior_variance * pmin(1, unit))
  enough <- 1 / (1 + (half_vague / gold)^2)
  wide <- (1 + widen %||% default_widen) * variance
  if (is.null(widen)) wide <- wide + widened_by_gold * error
  list(
    centre = from_ratings$estimate, variance = variance,
    sd = sqrt((1 - enough) * variance + enough * wide), vague = most_vague * enough
  )
}

# Intervals of shares from gold cases (`x`) and ratings. If one of them has no information, if the
# truth of all cases is known, or if gold cases contradict ratings, only the other is used.
combined_interval <- function(x, from_ratings, target, conf_level, widen = default_widen) {
  corrected <- corrected_interval(x, target, conf_level)
  error <- x$variance * gold_error(x, "cases")
  prior <- ratings_prior(
    from_ratings, x$labels, share_spread(x, from_ratings), x$cases, widen, error, x$at_hand
  )
  belief <- belief_in_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  where_both_tell(x, prior, corrected, belief, function(x, prior, share) {
    size <- pmin(most_information, gold_size(x, "cases", conf_level))
    measured <- list(value = share, size = size)
    interval <- blended_interval(x, measured, prior, size, NULL, target, conf_level)
    reach <- normal_quantile(conf_level) * prior$sd
    reach_ends(interval, x, prior$centre - reach <= 0, prior$centre + reach >= 1)
  })
}

# Variance of a case at the estimate from ratings.
share_spread <- function(x, from_ratings) {
  from_ratings$estimate * (1 - from_ratings$estimate) * x$at_hand
}

# Weight of the estimate with ratings as a prior, relative to the corrected estimate: 0 if gold
# cases contradict the ratings, 1 if they do not (see gold_test()). It increases linearly between
# 0.5 and 1.5 times the level of the test. With a step, noise in standard errors from replicates
# (and so the order of labels) could decide between two estimates.
belief_in_ratings <- function(x, prior, value, error, conf_level, widen) {
  p <- contradiction(prior, value, error)$p.value
  out <- clip01(p / (1 - conf_level) - 0.5)
  replace(out, !is.null(widen) | x$gold < fewest_tested, 1)
}

contradiction <- function(prior, value, error) {
  z <- (prior$centre - value) / sqrt(prior$variance + error)
  list(statistic = z, p.value = 2 * stats::pnorm(-abs(z)))
}

# Moves `corrected` by the weight `belief` towards the result of `blend`, a function of `x`, `prior`
# and the corrected estimate, if both gold cases and ratings are informative.
where_both_tell <- function(x, prior, corrected, belief, blend) {
  corrected$weight <- rep(1, length(corrected$estimate))
  use <- belief > 0 & x$gold < x$cases & !is.na(prior$variance + prior$centre + corrected$size)
  some <- function(fields) lapply(fields, `[`, use)
  x <- some(x[setdiff(names(x), c("rest", "answers"))])
  blended <- blend(x, some(prior), corrected$estimate[use])
  for (column in names(blended)) {
    before <- corrected[[column]][use]
    corrected[[column]][use] <- before + belief[use] * (blended[[column]] - before)
  }
  corrected$size[use] <- NA_real_ # there is no equivalent number of cases
  corrected
}

# Interval of the posterior with this prior. `variance`: variance of a difference; NULL for shares,
# whose variance depends on the posterior mean. `weight`: weight of gold cases in the estimate, 1
# for the flat part of the prior, otherwise by relative precision. If the target is the population,
# the sampling error of the cases is added.
blended_interval <- function(x, measured, prior, size, variance, target, conf_level) {
  blend <- core_blend(measured, prior, conf_level)
  least <- if (is.null(variance)) 0 else -1
  variance <- variance %||% (blend$mean * (1 - blend$mean))
  sampling <- if (target == "cases") 0 else variance * x$at_hand / x$cases
  error <- normal_quantile(conf_level) * sqrt(sampling)
  list(
    estimate = blend$mean, std.error = sqrt(blend$sd^2 + sampling),
    conf.low = pmax(least, blend$mean - half_width_with_error(error, blend$low, blend$mean)),
    conf.high = pmin(1, blend$mean + half_width_with_error(error, blend$high, blend$mean)),
    weight = blend$flat + (1 - blend$flat) * prior$sd^2 / (prior$sd^2 + variance / size)
  )
}

# The same for differences. A difference is at most the share of cases on which answers differ
# (`x$differ`), and its bias is proportional to this share. `x$one_right`: expected squared
# difference, from which the variance between cases is computed. `x$all`: number of cases.
combined_difference <- function(x, from_ratings, target, conf_level, widen = default_widen) {
  corrected <- difference_interval(x, target, conf_level)
  from_ratings$bias <- pmax(from_ratings$bias, least_bias * x$differ)
  spread <- pmax(x$one_right - from_ratings$estimate^2, 0)
  size <- gold_size(x, "cases", conf_level)
  error <- x$variance / size
  prior <- ratings_prior(from_ratings, x$labels, spread, x$all, widen, error)
  prior$centre <- pmin(pmax(prior$centre, -x$differ), x$differ)
  belief <- belief_in_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  belief[x$gold < 2 | x$differ <= 0] <- 0
  where_both_tell(x, prior, corrected, belief, function(x, prior, value) {
    size <- gold_size(x, "cases", conf_level)
    freedom <- if (is.null(x$clusters)) x$gold - 1 else Inf * x$gold # clusters are in the error
    measured <- list(
      value = value, error = sqrt(x$variance / size), freedom = freedom, end = x$differ
    )
    blended_interval(x, measured, prior, size, x$variance, target, conf_level)
  })
}

# Do gold cases contradict the estimate from ratings? Not tested with fewer than five gold cases.
fewest_tested <- 5L

gold_test <- function(x, from_ratings) {
  spread <- share_spread(x, from_ratings)
  prior <- ratings_prior(from_ratings, 0, spread, x$cases, 0, unit = x$at_hand)
  test <- contradiction(prior, clip01(x$estimate), x$variance * gold_error(x, "cases"))
  lapply(test, replace, x$gold < fewest_tested, NA_real_)
}

# ---- Anytime -------------------------------------------------------------------------------------

# Intervals that may be used after every gold case: the probability that any of them misses the
# truth is at most 1 - conf_level.
#
# Let y be 0 or 1, with gold cases in random order. Average the likelihood over a fixed distribution
# of the share, and divide it by the likelihood at the true share. This ratio is a martingale with
# mean one. The probability that it ever exceeds 1 / (1 - conf_level) is at most 1 - conf_level
# (Ville). The interval contains the shares that are not excluded. The distribution is a mixture of
# the estimate from ratings and a flat part, in case the ratings are wrong. With corrections by
# ratings, the effective size replaces the number of gold cases. Coverage is then approximate
# (measured by bench/gold.R).
sequence_interval <- function(x, from_ratings, target, conf_level) {
  interval <- corrected_interval(x, target, conf_level)
  size <- pmin(most_information, interval$size)
  for (i in which(!is.na(size) & (target != "cases" | x$gold < x$cases))) {
    share <- interval$estimate[[i]]
    mixture <- mean_likelihood(share, size[[i]], lapply(from_ratings, `[[`, i), x$cases[[i]])
    least <- log(mixture) + log(1 - conf_level)
    above <- function(theta) log_ratio(theta, share, size[[i]]) - least
    interval$conf.low[[i]] <- if (share > 0) crossing(above, c(0, share)) else 0
    interval$conf.high[[i]] <- if (share < 1) crossing(above, c(share, 1)) else 1
  }
  reach_ends(interval, x)
}

# Log likelihood of `theta` relative to the maximum.
log_ratio <- function(theta, share, size) {
  part <- function(p, q) if (p > 0) p * (log(q) - log(p)) else 0 * q
  size * (part(share, theta) + part(1 - share, 1 - theta))
}

# Half of the mixture is the estimate from ratings, with the largest width that combined_interval()
# uses. The other half is flat: cells of equal probability under Beta(1/2, 1/2).
mean_likelihood <- function(share, size, from_ratings, cases) {
  n <- 2000L
  u <- (seq_len(n) - 0.5) / n
  value <- sin(pi * u / 2)^2
  law <- rep(1, n)
  if (!is.na(from_ratings$estimate) && !is.na(from_ratings$std.error)) {
    variance <- from_ratings$estimate * (1 - from_ratings$estimate)
    prior <- ratings_prior(from_ratings, Inf, variance, cases, default_widen)
    normal <- stats::dnorm(value, prior$centre, prior$sd) * sin(pi * u)
    law <- law / 2 + n * normal / sum(normal) / 2
  }
  mean(law * exp(log_ratio(value, share, size)))
}

crossing <- function(above, range) {
  ends <- range + c(1, -1) * 1e-12 * (range %in% c(0, 1))
  values <- c(above(ends[[1L]]), above(ends[[2L]]))
  if (prod(sign(values)) > 0) return(range[range %in% c(0, 1)][[1L]])
  stats::uniroot(above, ends, f.lower = values[[1L]], f.upper = values[[2L]], tol = 1e-9)$root
}

# Differences are not 0 or 1. Their martingale is that of a normal mixture (Robbins 1970), with the
# variance estimated from gold cases, so coverage is also approximate. The interval is narrowest
# at `narrowest_at` gold cases.
narrowest_at <- 100

sequence_difference <- function(x, target, conf_level) {
  interval <- difference_interval(x, target, conf_level)
  miss <- 2 * log(1 / (1 - conf_level))
  ratio <- x$gold / narrowest_at * (miss + log(1 + miss))
  reach <- sqrt((1 + 1 / ratio) * (log1p(ratio) + miss)) * interval$std.error *
    quantile_of_few(x, conf_level) / normal_quantile(conf_level)
  interval$conf.low <- pmax(-1, interval$estimate - reach)
  interval$conf.high <- pmin(1, interval$estimate + reach)
  interval
}

# ---- Records -------------------------------------------------------------------------------------

# `share` and `difference` compute intervals from measurements by gold cases (`x`). Optional
# arguments: `from_ratings`, the estimates from ratings, and settings.
gold_interval <- function(id, share, difference, note, explained, anytime = FALSE,
                          believes = FALSE) {
  stopifnot(rlang::is_bool(anytime), rlang::is_bool(believes))
  call_with <- function(interval) {
    function(x, from_ratings, settings) {
      known <- c(list(x = x, from_ratings = from_ratings), settings)
      do.call(interval, known[names(formals(interval))])
    }
  }
  new_interval(
    id,
    words = paste(id, "interval"), average = TRUE, hidden = TRUE, replicates = 200L,
    spread = "delta", gold = list(
      share = call_with(share), difference = call_with(difference), anytime = anytime,
      believes = believes
    ),
    uncounted = "so gold cases are not a sample of cases and are not used",
    find = function(draft, table) robust_interval(draft, table),
    note = function(estimate) {
      paste0(note, "; ", gold_interval_words(estimate$gold$settings,
        if (!is.null(estimate$options$cluster)) count_gold_clusters(estimate),
        if (is_pass_rate(estimate)) "pass rate in the "))
    },
    explain = paste("On the cases with known truth the mean error of what ratings predict was
      measured, and the mean prediction over all cases corrected by it (prediction-powered
      inference, Angelopoulos et al. 2023). The {interval}", explained)
  )
}

interval_combined <- gold_interval(
  "combined", combined_interval, combined_difference,
  "gold cases with ratings, and ratings alone as far as gold cases do not contradict them",
  "takes the estimate from ratings alone as a prior, as far as gold cases do not contradict it.",
  believes = TRUE
)

interval_corrected <- gold_interval(
  "corrected", corrected_interval, difference_interval,
  "gold cases with ratings, valid whatever errors are shared",
  "is Wilson's, for as many cases as gold cases and ratings are worth; it holds whatever errors
    raters and systems share."
)

interval_anytime <- gold_interval(
  "anytime", sequence_interval, sequence_difference,
  "gold cases with ratings, valid after every batch of gold cases",
  "is a confidence sequence, which holds however often it is looked at as gold cases come in.",
  anytime = TRUE
)

gold_interval_words <- function(settings, clusters, quantity = NULL) {
  paste0(
    quantity %||% "accuracy in the ", settings$target,
    if (!is.null(clusters)) paste0("; gold in ", count_noun(clusters, "cluster"))
  )
}

count_gold_clusters <- function(estimate) {
  length(unique(estimate$options$cluster[estimate$gold$case]))
}

# Intervals from gold cases (see gold.R); robust intervals for systems without gold cases.

# Returns Wilson's intervals for accuracies estimated from gold cases (cases with known truth). They
# are valid for any amount of shared errors. `x`: result of gold_accuracy() or correct_share(), with
# an element per accuracy. `target`: "population" or "cases", see gold_cases(). Limits are NA if
# gold cases are in too few clusters.
corrected_interval <- function(x, target, conf_level) {
  accuracy <- clip01(x$estimate)
  size <- effective_gold_size(x, target, conf_level)
  limits <- wilson_interval(accuracy, size, normal_quantile(conf_level))
  extend_to_ends(list(
    estimate = accuracy, std.error = sqrt(x$variance / size), conf.low = limits[, 1L],
    conf.high = limits[, 2L], size = size
  ), x)
}

# Extends intervals to 0 if the answers to all gold cases are wrong, or to 1 if all are correct. The
# same may then be true for all other cases. Central posterior intervals would never contain 0 or 1.
# `x$seen`: share of correct gold cases, NA if intervals are not extended. `low`, `high`: may the
# lower limit be set to 0, the upper limit to 1? Missing limits stay missing.
extend_to_ends <- function(interval, x, low = TRUE, high = TRUE) {
  known <- !is.na(interval$conf.low)
  interval$conf.low[which(known & low & x$seen <= 1e-12)] <- 0
  interval$conf.high[which(known & high & x$seen >= 1 - 1e-12)] <- 1
  interval
}

# Returns the effective number of gold cases of each estimate in `x` (see correct_mean()): the
# number of independent cases for which a share has the same standard error. It depends on `target`,
# the "cases" of the data or their "population". NA if gold cases are in too few clusters.
effective_gold_size <- function(x, target, conf_level) {
  size <- 1 / relative_error_variance(x, target)
  if (is.null(x$clusters)) return(size)
  # Adjusts for the quantile of the t distribution with few clusters.
  t_value <- t_quantile(conf_level, x$clusters)
  ifelse(x$clusters < min_clusters, NA_real_, (normal_quantile(conf_level) / t_value)^2 * size)
}

# Returns the squared standard error of each mean in `x` (see correct_mean()), divided by the
# variance of one case (`x$variance`). For the population it includes the sampling error of the
# cases. It is then at most the squared error of a mean of gold cases without predictions.
relative_error_variance <- function(x, target) {
  variance <- x$ratio * (1 - x$gold / x$cases) / x$gold
  if (target == "cases") variance else pmin(variance + x$at_hand / x$cases, x$design / x$gold)
}

# Returns Student's intervals for differences between accuracies. `x`: result of gold_accuracy() for
# pairs of systems. Degrees of freedom are the number of gold cases minus 1. `times`: half width of
# the interval in standard errors.
difference_interval <- function(x, target, conf_level, times = quantile_of_few(x, conf_level)) {
  size <- effective_gold_size(x, target, conf_level)
  error <- sqrt(x$variance / size)
  half_width <- error * times
  estimate <- clamp(x$estimate, -1, 1)
  list(
    estimate = estimate, std.error = error, conf.low = pmax(-1, estimate - half_width),
    conf.high = pmin(1, estimate + half_width), size = size
  )
}

# Returns the quantile of the t distribution with the number of gold cases minus 1 degrees of
# freedom. With clusters it is the normal quantile, because effective_gold_size() has already
# adjusted the effective number of cases for few clusters.
quantile_of_few <- function(x, conf_level) {
  if (!is.null(x$clusters)) return(normal_quantile(conf_level))
  ifelse(x$gold > 1, t_quantile(conf_level, x$gold), Inf)
}

# ---- Combined intervals --------------------------------------------------------------------------

# Combined intervals use gold cases as data, and the estimate from ratings as a prior. This estimate
# is the argument `from_ratings` below, with fields `estimate`, `std.error` (total) and `bias` (the
# part of `std.error` that is not sampling error). The prior is normal if there are few gold cases.
# With more gold cases it is a mixture with a uniform (flat) part, so that gold cases can contradict
# it.

min_prior_variance <- 1e-4 # lower limit of the variance of the prior.
max_vague <- 0.7 # weight of the flat part of the prior if there are very many gold cases.
half_vague <- 10 # number of gold cases for which the flat part has half of this weight.
default_widen <- 1.25 # relative increase of the prior variance if there are very many gold cases

# The variance of the prior also increases by this factor times the squared standard error of the
# estimate from gold cases. It is the smallest factor with which nominal 90% intervals have a
# coverage of .85 for any bias of the prior, in the limit of many cases. A precise but wrong prior
# moves an interval towards the prior by the share s = 1 / (1 + factor) of the distance between
# them. The interval is sqrt(1 - s) times as wide. If gold cases just fail to contradict the prior,
# one limit misses the truth with probability .10, and the other with probability .05, where
#   qnorm(.95) (sqrt(1 - s) - s) = qnorm(.90).
widened_by_gold <- 5.9
# Smallest number of gold cases for which the flat part has most of the weight, so that gold cases
# can contradict ratings. In the worst public data set, the coverage of 90% intervals was .80 with
# this number, and .71 with half of it.
min_contradicting <- 20
# Bias from shared errors differs more between the cells of a confusion matrix than between systems.
# This is the ratio of the two standard deviations.
cell_bias <- 2
# Lower limit of the standard deviation of the bias of a difference between two systems, divided by
# the share of cases on which their answers differ.
min_bias <- 0.1
max_information <- 1e5 # upper limit of the effective number of cases in a likelihood

# Returns the prior for combined intervals, computed from ratings: `centre`, `variance`, standard
# deviation `sd` of the normal part, and weight `vague` of the flat part. The estimate from ratings
# may be precise and far from the truth, because ratings do not show all shared errors. With more
# gold cases, the normal part is therefore widened, also by a multiple of `error`, the squared
# standard error of the estimate from gold cases. If the user gives `widen`, the variance increases
# by this factor only. `gold`, `cases`: numbers of gold cases and of all cases. `case_variance`:
# variance of a case. `unit`: this variance relative to the variance of a share, by which (at most
# 1) the lower limit of the variance is multiplied.
ratings_prior <- function(from_ratings, gold, case_variance, cases, widen, error = 0, unit = 1) {
  # Subtracts the sampling error of the cases, because the estimate from gold cases has it, too.
  sampling <- from_ratings$std.error^2 - case_variance / cases
  variance <- pmax(sampling, from_ratings$bias^2, min_prior_variance * pmin(1, unit))
  many_gold <- 1 / (1 + (half_vague / gold)^2)
  widened_variance <- (1 + widen %||% default_widen) * variance
  if (is.null(widen)) widened_variance <- widened_variance + widened_by_gold * error
  list(
    centre = from_ratings$estimate, variance = variance,
    sd = sqrt((1 - many_gold) * variance + many_gold * widened_variance),
    vague = max_vague * many_gold
  )
}

# Returns combined intervals of accuracies. `x`: estimates from gold cases, result of
# gold_accuracy(). `from_ratings`: estimates from ratings, from which the prior is computed. Only
# gold cases are used if there is no estimate from ratings, if gold cases contradict it, or if the
# truth of all cases is known.
combined_interval <- function(x, from_ratings, target, conf_level, widen = default_widen) {
  corrected <- corrected_interval(x, target, conf_level)
  error <- x$variance * relative_error_variance(x, "cases")
  prior <- ratings_prior(
    from_ratings, x$labels, case_variance_of_ratings(x, from_ratings), x$cases, widen, error,
    x$at_hand
  )
  ratings_weight <- weight_of_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  average_intervals(x, prior, corrected, ratings_weight, function(x, prior, corrected_share) {
    size <- pmin(max_information, effective_gold_size(x, "cases", conf_level))
    measured <- list(value = corrected_share, size = size)
    interval <- blended_interval(x, measured, prior, size, NULL, target, conf_level)
    half_width <- normal_quantile(conf_level) * prior$sd
    extend_to_ends(interval, x, prior$centre <= half_width, prior$centre + half_width >= 1)
  })
}

# Returns the variance of a case if the accuracy is the estimate from ratings.
case_variance_of_ratings <- function(x, from_ratings) {
  from_ratings$estimate * (1 - from_ratings$estimate) * x$at_hand
}

# Returns the weight of the estimate that uses the prior from ratings, in its mean with the estimate
# from gold cases only: 0 if gold cases contradict the ratings, 1 if they do not. It increases
# linearly while the p-value of the contradiction increases from 0.5 to 1.5 times 1 - `conf_level`.
# With a step, small random differences in standard errors could change the estimate much.
# `estimate` and `error`: estimate from gold cases only, and its squared standard error.
weight_of_ratings <- function(x, prior, estimate, error, conf_level, widen) {
  weight <- clip01(contradiction(prior, estimate, error)$p.value / (1 - conf_level) - 0.5)
  replace(weight, !is.null(widen) | x$gold < min_tested, 1)
}

# Tests whether gold cases contradict the prior from ratings. `value`: estimate from gold cases.
# `error`: its squared standard error. Returns the z statistic and the p-value of the difference.
contradiction <- function(prior, value, error) {
  z <- (prior$centre - value) / sqrt(prior$variance + error)
  list(statistic = z, p.value = 2 * pnorm(-abs(z)))
}

# Averages two intervals of each quantity: the interval `corrected`, which is from gold cases only,
# and the interval that blend(x, prior, estimate) computes, with weight `ratings_weight`. The
# corrected interval is kept if the prior or the corrected interval is missing, or if the truth of
# all cases is known.
average_intervals <- function(x, prior, corrected, ratings_weight, blend) {
  corrected$weight <- rep(1, length(corrected$estimate))
  is_used <- ratings_weight > 0 & x$gold < x$cases &
    !is.na(prior$variance + prior$centre + corrected$size)
  select_used <- function(fields) lapply(fields, `[`, is_used)
  x <- select_used(x[setdiff(names(x), c("rest", "answers"))])
  blended <- blend(x, select_used(prior), corrected$estimate[is_used])
  for (column in names(blended)) {
    old_values <- corrected[[column]][is_used]
    corrected[[column]][is_used] <- old_values +
      ratings_weight[is_used] * (blended[[column]] - old_values)
  }
  corrected$size[is_used] <- NA_real_ # there is no equivalent number of cases
  corrected
}

# Returns posterior means, standard errors and intervals of quantities, given gold cases and the
# prior. `measured`: likelihood of gold cases, for core_blend(). `size`: effective number of gold
# cases. `variance`: variance of a case; NULL for accuracies, for which it is computed from the
# posterior mean. If the target is the population, the sampling error of the cases is added. The
# result `weight` is the weight of gold cases in the estimate: 1 for the flat part of the prior,
# otherwise by relative precision.
blended_interval <- function(x, measured, prior, size, variance, target, conf_level) {
  blend <- core_blend(measured, prior, conf_level)
  lower_bound <- if (is.null(variance)) 0 else -1
  variance <- variance %||% (blend$mean * (1 - blend$mean))
  sampling <- if (target == "cases") 0 else variance * x$at_hand / x$cases
  half_width <- function(end) {
    add_error_to_half_width(normal_quantile(conf_level) * sqrt(sampling), end, blend$mean)
  }
  list(
    estimate = blend$mean, std.error = sqrt(blend$sd^2 + sampling),
    conf.low = pmax(lower_bound, blend$mean - half_width(blend$low)),
    conf.high = pmin(1, blend$mean + half_width(blend$high)),
    weight = blend$flat + (1 - blend$flat) * prior$sd^2 / (prior$sd^2 + variance / size)
  )
}

# Returns combined intervals of differences between the accuracies of two systems. `x`: estimates
# from gold cases, result of gold_accuracy(). `from_ratings`: estimates from ratings. A difference
# is at most the share of cases on which the two answers differ (`x$differ`). The bias is therefore
# at least `min_bias` times this share. `x$one_right`: expected share of cases on which exactly one
# of the two answers is right. `x$all`: number of cases.
combined_difference <- function(x, from_ratings, target, conf_level, widen = default_widen) {
  corrected <- difference_interval(x, target, conf_level)
  from_ratings$bias <- pmax(from_ratings$bias, min_bias * x$differ)
  case_variance <- pmax(x$one_right - from_ratings$estimate^2, 0)
  size <- effective_gold_size(x, "cases", conf_level)
  error <- x$variance / size
  prior <- ratings_prior(from_ratings, x$labels, case_variance, x$all, widen, error)
  prior$centre <- clamp(prior$centre, -x$differ, x$differ)
  ratings_weight <- weight_of_ratings(x, prior, corrected$estimate, error, conf_level, widen)
  ratings_weight[x$gold < 2 | x$differ <= 0] <- 0
  average_intervals(x, prior, corrected, ratings_weight, function(x, prior, corrected_value) {
    size <- effective_gold_size(x, "cases", conf_level)
    # With clusters, effective_gold_size() has already adjusted the error for few clusters.
    df <- if (is.null(x$clusters)) x$gold - 1 else Inf * x$gold
    measured <- list(
      value = corrected_value, error = sqrt(x$variance / size), freedom = df, end = x$differ
    )
    blended_interval(x, measured, prior, size, x$variance, target, conf_level)
  })
}

min_tested <- 5L # smallest number of gold cases that can contradict the ratings

# Tests whether gold cases contradict the estimate from ratings. Returns the z statistic and the
# p-value of each system, NA if there are fewer than five gold cases.
gold_test <- function(x, from_ratings) {
  prior <- ratings_prior(
    from_ratings, 0, case_variance_of_ratings(x, from_ratings), x$cases, 0, unit = x$at_hand
  )
  test <- contradiction(prior, clip01(x$estimate), x$variance * relative_error_variance(x, "cases"))
  lapply(test, replace, x$gold < min_tested, NA_real_)
}

# ---- Anytime intervals (confidence sequences) ----------------------------------------------------

# Returns intervals of accuracies that may be computed again after every gold case: the probability
# that any of the intervals misses the truth is at most 1 - conf_level.
#
# Gold cases are in random order, and each answer is correct (1) or wrong (0). The likelihood is
# averaged over a fixed distribution of the accuracy and divided by the likelihood at the true
# accuracy. This ratio is a martingale with mean 1. The probability that it ever exceeds 1 / (1 -
# conf_level) is at most 1 - conf_level (Ville's inequality). The interval contains all accuracies
# for which the ratio is below this limit. The distribution is a mixture of the prior from ratings
# and a flat part, in case the ratings are wrong. If predictions from ratings are used, the
# effective number of gold cases replaces their number. Coverage is then approximate (see
# bench/gold.R).
sequence_interval <- function(x, from_ratings, target, conf_level) {
  interval <- corrected_interval(x, target, conf_level)
  size <- pmin(max_information, interval$size)
  for (i in which(!is.na(size) & (target != "cases" | x$gold < x$cases))) {
    accuracy <- interval$estimate[[i]]
    estimate <- lapply(from_ratings, `[[`, i)
    mean_ratio <- average_likelihood_ratio(accuracy, size[[i]], estimate, x$cases[[i]])
    log_threshold <- log(mean_ratio) + log(1 - conf_level)
    log_excess <- function(theta) log_ratio(theta, accuracy, size[[i]]) - log_threshold
    interval$conf.low[[i]] <- if (accuracy > 0) find_crossing(log_excess, c(0, accuracy)) else 0
    interval$conf.high[[i]] <- if (accuracy < 1) find_crossing(log_excess, c(accuracy, 1)) else 1
  }
  extend_to_ends(interval, x)
}

# Returns the log likelihood of the accuracies `theta`, minus its maximum, if `share` is the share
# of correct answers in `size` gold cases.
log_ratio <- function(theta, share, size) {
  term <- function(p, q) if (p > 0) p * (log(q) - log(p)) else 0 * q
  size * (term(share, theta) + term(1 - share, 1 - theta))
}

# Returns the likelihood of an accuracy, averaged over a mixture distribution and divided by the
# maximum likelihood. Half of the mixture is the normal prior from ratings, as wide as for very many
# gold cases. The other half is Beta(1/2, 1/2). The average is over `n` values with equal
# probability under Beta(1/2, 1/2). `share`, `size`: see log_ratio(). `cases`: number of all cases.
average_likelihood_ratio <- function(share, size, from_ratings, cases) {
  n <- 2000L
  probability <- (seq_len(n) - 0.5) / n
  accuracy <- sin(pi * probability / 2)^2
  density <- rep(1, n)
  if (!is.na(from_ratings$estimate) && !is.na(from_ratings$std.error)) {
    variance <- from_ratings$estimate * (1 - from_ratings$estimate)
    prior <- ratings_prior(from_ratings, Inf, variance, cases, default_widen)
    normal <- dnorm(accuracy, prior$centre, prior$sd) * sin(pi * probability)
    density <- density / 2 + n * normal / sum(normal) / 2
  }
  mean(density * exp(log_ratio(accuracy, share, size)))
}

# Returns the value in `range` at which the function `f` is 0. If `f` does not change its sign,
# returns the end of `range` that is 0 or 1.
find_crossing <- function(f, range) {
  end_points <- range + c(1, -1) * 1e-12 * (range %in% c(0, 1))
  if (prod(sign(f(end_points))) > 0) return(range[range %in% c(0, 1)][[1L]])
  stats::uniroot(f, end_points, tol = 1e-9)$root
}

narrowest_at <- 100 # number of gold cases at which anytime intervals of differences are narrowest

# Returns anytime intervals of differences between accuracies. The values of cases are -1, 0 or 1,
# so the martingale of a normal mixture is used (Robbins 1970). Its variance is estimated from gold
# cases, so that coverage is approximate.
sequence_difference <- function(x, target, conf_level) {
  log_term <- 2 * log(1 / (1 - conf_level))
  ratio <- x$gold / narrowest_at * (log_term + log(1 + log_term))
  difference_interval(x, target, conf_level, sqrt((1 + 1 / ratio) * (log1p(ratio) + log_term)) *
    quantile_of_few(x, conf_level) / normal_quantile(conf_level))
}

# ---- Records -------------------------------------------------------------------------------------

# Creates the record of a kind of interval that uses gold cases (see new_interval()). `share` and
# `difference`: functions that compute intervals of accuracies and of differences from `x`, a result
# of gold_accuracy(). They may have the further arguments `from_ratings`, `target`, `conf_level` and
# `widen`, which are passed by name. `note`: text for print(). `explained`: end of the sentence in
# methods paragraphs. `anytime`: may the interval be computed after every gold case? `believes`: is
# the estimate from ratings used as a prior?
gold_interval <- function(id, share, difference, note, explained, anytime = FALSE,
                          believes = FALSE) {
  stopifnot(is_bool(anytime), is_bool(believes))
  call_with <- function(interval) {
    function(x, from_ratings, settings) {
      arguments <- c(list(x = x, from_ratings = from_ratings), settings)
      do.call(interval, arguments[names(arguments) %in% names(formals(interval))])
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
      paste0(note, "; ", gold_interval_words(estimate$gold$settings, count_gold_clusters(estimate),
        if (is_pass_rate(estimate)) "pass rate in the " else "accuracy in the "))
    },
    explain = paste("On the cases with known truth, the mean error of the predictions from
      ratings was measured. The mean prediction over all cases was corrected by this error
      (prediction-powered inference, Angelopoulos et al. 2023). The {interval}", explained)
  )
}

interval_combined <- gold_interval(
  "combined", combined_interval, combined_difference,
  "gold cases with ratings; the estimate from ratings is also used unless gold cases contradict it",
  "uses the estimate from ratings only as a prior, unless gold cases contradict it.",
  believes = TRUE
)

interval_corrected <- gold_interval(
  "corrected", corrected_interval, difference_interval,
  "gold cases with ratings, valid whatever errors are shared",
  "is Wilson's, for the effective number of gold cases. It is valid for any amount of shared
    errors."
)

interval_anytime <- gold_interval(
  "anytime", sequence_interval, sequence_difference,
  "gold cases with ratings, valid after every batch of gold cases",
  "is a confidence sequence: it stays valid if it is computed after every new gold case.",
  anytime = TRUE
)

# Returns words for the quantity that an interval is for, such as "accuracy in the population; gold
# in 12 clusters". `quantity`: words such as "accuracy in the ".
gold_interval_words <- function(settings, clusters, quantity) {
  paste0(
    quantity, settings$target,
    if (!is.null(clusters)) paste0("; gold in ", count_noun(clusters, "cluster"))
  )
}

# Returns the number of clusters that contain gold cases; NULL without clusters.
count_gold_clusters <- function(estimate) {
  cluster <- estimate$options$cluster
  if (!is.null(cluster)) length(unique(cluster[estimate$gold$case]))
}

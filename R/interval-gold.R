# Intervals that use gold cases (cases with known truth), see gold.R. Systems that answered no gold
# case get robust intervals.

# Returns Wilson's intervals for accuracies estimated from gold cases. The intervals are valid for
# any amount of shared errors. Limits are NA if gold cases are in too few clusters.
# * x: result of gold_accuracy() or corrected_share(), with an element per accuracy
# * target: "population" or "cases", see gold_cases()
corrected_interval <- function(x, target, conf_level, ...) {
  accuracy <- clip01(x$estimate)
  effective_size <- effective_gold_size(x, target, conf_level)
  limits <- wilson_interval(accuracy, effective_size, normal_quantile(conf_level))
  extend_to_boundary(list(
    estimate = accuracy, std.error = sqrt(x$variance / effective_size), conf.low = limits[, 1L],
    conf.high = limits[, 2L], size = effective_size
  ), x)
}

# Extends intervals to 0 if the answers to all gold cases are wrong, or to 1 if all are correct. The
# same may then be true for all other cases. Central posterior intervals would never contain 0 or 1.
# Missing limits stay missing.
# * x$seen: share of gold cases that were answered correctly, NA if intervals are not extended
# * can_be_0: may the lower limit be set to 0?
# * can_be_1: may the upper limit be set to 1?
extend_to_boundary <- function(interval, x, can_be_0 = TRUE, can_be_1 = TRUE) {
  has_limits <- !is.na(interval$conf.low)
  interval$conf.low[which(has_limits & can_be_0 & x$seen <= 1e-12)] <- 0
  interval$conf.high[which(has_limits & can_be_1 & x$seen >= 1 - 1e-12)] <- 1
  interval
}

# Returns the effective number of gold cases of each estimate in `x` (see corrected_mean()): the
# number of independent cases for which a share has the same standard error. NA if gold cases are in
# too few clusters. `target`: "cases" or "population", see relative_error_variance().
effective_gold_size <- function(x, target, conf_level) {
  effective_size <- 1 / relative_error_variance(x, target)
  if (is.null(x$clusters)) return(effective_size)
  # With few clusters, intervals need a t quantile, but Wilson's formula uses a normal quantile. The
  # effective size is therefore reduced by the squared ratio of the two quantiles.
  ifelse(x$clusters < min_clusters, NA_real_,
    (normal_quantile(conf_level) / t_quantile(conf_level, x$clusters))^2 * effective_size)
}

# Returns the squared standard error of each mean in `x` (see corrected_mean()), divided by the
# variance of the values of single cases. `target`: "cases" for an error relative to the mean of the
# cases in the data, or "population" to add the sampling error of these cases.
relative_error_variance <- function(x, target) {
  variance <- x$ratio * (1 - x$gold / x$cases) / x$gold
  # For "population", the upper limit is the value for a mean of gold cases without predictions.
  if (target == "cases") variance else pmin(variance + x$full_design / x$cases, x$design / x$gold)
}

# Returns Student's intervals for differences between accuracies. `x`: result of gold_accuracy() for
# pairs of systems. `n_errors`: number of standard errors in half of the width of the interval.
difference_interval <- function(x, target, conf_level,
                                n_errors = small_sample_quantile(x, conf_level), ...) {
  effective_size <- effective_gold_size(x, target, conf_level)
  standard_error <- sqrt(x$variance / effective_size)
  half_width <- standard_error * n_errors
  estimate <- clamp(x$estimate, -1, 1)
  list(
    estimate = estimate, std.error = standard_error, conf.low = pmax(-1, estimate - half_width),
    conf.high = pmin(1, estimate + half_width), size = effective_size
  )
}

# Returns a quantile of the t distribution. Degrees of freedom are the number of gold cases minus 1.
# With clusters, returns the normal quantile, because effective_gold_size() has already adjusted the
# effective number of cases for few clusters.
small_sample_quantile <- function(x, conf_level) {
  if (is.null(x$clusters)) ifelse(x$gold > 1, t_quantile(conf_level, x$gold), Inf) else
    normal_quantile(conf_level)
}

# ---- Combined intervals --------------------------------------------------------------------------

# Combined intervals use gold cases as data, and the estimate from ratings as a prior. This estimate
# is the argument `ratings_estimates` of the functions below, with these fields:
# * estimate: the centre
# * std.error: the total standard error
# * bias: the part of `std.error` that is not sampling error
#
# With few gold cases, the prior is normal. With more gold cases, the prior is a mixture of a normal
# part and a uniform ("flat") part, so that gold cases can contradict the prior.

min_prior_variance <- 1e-4 # Lower limit of the variance of the prior.
max_flat_weight <- 0.7 # Weight of the flat part of the prior, with very many gold cases.
n_gold_at_half_flat <- 10 # Number of gold cases with which the flat part has half of this weight.
default_widening <- 1.25 # Relative increase of the prior variance, with very many gold cases.

# With many gold cases, this factor times the squared standard error of the estimate from gold cases
# is added to the variance of the prior. In large data sets, nominal 90% intervals then have a
# coverage of at least .85 for any bias of the prior.
#
# Derivation: let z = qnorm(.95), and let d be the distance between the prior and the estimate from
# gold cases, in standard errors. A precise but wrong prior gets a variance of `factor` squared
# standard errors, so its weight is s = 1 / (1 + factor). It moves the interval by s d. Half of the
# width becomes z sqrt(1 - s). If d > z, gold cases contradict the prior, which is then not used.
# The worst case is therefore d = z. One limit of the interval is then z sqrt(1 - s) - s z standard
# errors from the estimate. For factor 5.9, this is qnorm(.90), so the limit misses the truth with
# probability .10. The other limit misses it with probability at most .05, as without a prior.
gold_widening_factor <- 5.9
# Smallest number of gold cases that plan_gold() recommends if an interval uses ratings. The flat
# part of the prior from ratings then has most of the weight, so that gold cases can contradict the
# ratings. In the worst public data set, the coverage of 90% intervals was .80 with this number, and
# .71 with half of it.
min_gold_to_contradict <- 20
# Shared errors bias a cell of a confusion matrix more than the accuracy of a system. This is the
# ratio of the standard deviations of the two biases.
cell_bias_ratio <- 2
# Lower limit of the standard deviation of the bias of a difference between two systems, divided by
# the share of cases on which their answers differ.
min_difference_bias <- 0.1
max_effective_size <- 1e5 # upper limit of the effective number of cases in a likelihood

# Returns the prior for combined intervals, computed from ratings, as a list:
# * centre: mean of the normal part
# * variance: variance of the normal part with no gold case
# * sd: standard deviation of the normal part. It increases with the number of gold cases, because
#   an estimate from ratings may be precise and far from the truth
# * vague: weight of the flat part
#
# Arguments:
# * n_gold, n_cases: numbers of gold cases and of all cases
# * case_variance: variance of the values of single cases
# * widen: relative increase of the variance with very many gold cases. NULL means
#   `default_widening`; the variance then also increases by `gold_widening_factor` * `squared_error`
# * squared_error: squared standard error of the estimate from gold cases
# * variance_ratio: `case_variance`, divided by p (1 - p), where p is the estimate from ratings. If
#   the ratio is below 1, the lower limit of the prior variance is multiplied by it
ratings_prior <- function(ratings_estimates, n_gold, case_variance, n_cases, widen,
                          squared_error = 0, variance_ratio = 1) {
  # Subtracts the sampling error of the cases, because the estimate from gold cases has the same
  # sampling error.
  remaining_variance <- ratings_estimates$std.error^2 - case_variance / n_cases
  variance <- pmax(
    remaining_variance, ratings_estimates$bias^2, min_prior_variance * pmin(1, variance_ratio)
  )
  gold_weight <- 1 / (1 + (n_gold_at_half_flat / n_gold)^2)
  widened_variance <- (1 + widen %||% default_widening) * variance
  if (is.null(widen)) widened_variance <- widened_variance + gold_widening_factor * squared_error
  list(
    centre = ratings_estimates$estimate, variance = variance,
    sd = sqrt((1 - gold_weight) * variance + gold_weight * widened_variance),
    vague = max_flat_weight * gold_weight
  )
}

# Returns combined intervals of accuracies. `x`: estimates from gold cases, a result of
# gold_accuracy(). `ratings_estimates`: estimates from ratings, from which the prior is computed.
# The prior is not used in three situations:
# * There is no estimate from ratings.
# * Gold cases contradict the estimate from ratings.
# * The truth of all cases is known.
combined_interval <- function(x, ratings_estimates, target, conf_level, widen = default_widening) {
  interval_without_prior <- corrected_interval(x, target, conf_level)
  squared_error <- x$variance * relative_error_variance(x, "cases")
  # Variance of single cases, computed as if the estimate from ratings were the accuracy.
  case_variance <- bernoulli_variance(ratings_estimates$estimate) * x$full_design
  prior <- ratings_prior(
    ratings_estimates, x$n_labels, case_variance, x$cases, widen, squared_error, x$full_design
  )
  ratings_weight <-
    weight_of_ratings(x, prior, interval_without_prior$estimate, squared_error, conf_level, widen)
  compute_combined_interval <- function(x, prior, corrected_share) {
    size <- pmin(max_effective_size, effective_gold_size(x, "cases", conf_level))
    interval <- combine_with_prior(
      x, list(value = corrected_share, size = size), prior, size, NULL, target, conf_level
    )
    half_width <- normal_quantile(conf_level) * prior$sd
    extend_to_boundary(interval, x, prior$centre <= half_width, prior$centre + half_width >= 1)
  }
  average_intervals(x, prior, interval_without_prior, ratings_weight, compute_combined_interval)
}

# A combined interval is the weighted mean of two intervals: with the prior from ratings, and
# without prior. Returns the weight of the interval with the prior, between 0 (gold cases clearly
# contradict the ratings) and 1 (they do not).
# * prior: result of ratings_prior()
# * estimate: estimate without prior
# * squared_error: squared standard error of this estimate
# * widen: NULL, or a number that the user specified. If it is a number, the weight is 1
weight_of_ratings <- function(x, prior, estimate, squared_error, conf_level, widen) {
  p_value <- test_contradiction(prior, estimate, squared_error)$p.value
  # The weight increases from 0 to 1 between the p-values 0.5 a and 1.5 a, where a = 1 - conf_level.
  # A sudden change of the weight would make the estimate sensitive to small random differences.
  replace(clip01(p_value / (1 - conf_level) - 0.5), !is.null(widen) | x$gold < min_gold_to_test, 1)
}

# Tests whether gold cases contradict the prior from ratings. Returns the z statistic and the
# p-value of the difference. `estimate`: estimate from gold cases. `squared_error`: squared standard
# error of this estimate.
test_contradiction <- function(prior, estimate, squared_error) {
  z <- (prior$centre - estimate) / sqrt(prior$variance + squared_error)
  list(statistic = z, p.value = 2 * pnorm(-abs(z)))
}

# Averages two intervals of each quantity: `interval_without_prior`, and an interval from gold cases
# and the prior. The second interval has the weight `ratings_weight`.
# * compute_combined_interval: function that computes the interval with the prior. Its arguments are
#   `x`, `prior` and the estimates without prior, each with only the quantities for which the prior
#   is used
average_intervals <- function(x, prior, interval_without_prior, ratings_weight,
                              compute_combined_interval) {
  interval <- interval_without_prior
  interval$weight <- rep(1, length(interval$estimate))
  # The prior is used unless it is missing, there is no interval without it, or the truth of all
  # cases is known.
  is_combined <- ratings_weight > 0 & x$gold < x$cases &
    !is.na(prior$variance + prior$centre + interval_without_prior$size)
  select_combined <- function(fields) lapply(fields, `[`, is_combined)
  x <- select_combined(without_deviations(x))
  interval_with_prior <- compute_combined_interval(
    x, select_combined(prior), interval_without_prior$estimate[is_combined]
  )
  for (column in names(interval_with_prior)) {
    old_values <- interval[[column]][is_combined]
    interval[[column]][is_combined] <- old_values +
      ratings_weight[is_combined] * (interval_with_prior[[column]] - old_values)
  }
  interval$size[is_combined] <- NA_real_ # there is no equivalent number of cases
  interval
}

# Returns posterior means, standard errors and intervals of quantities, given gold cases and the
# prior. The field `weight` of the result is the weight of gold cases in the estimate.
# * x: estimates from gold cases, a result of gold_accuracy()
# * likelihood: likelihood of gold cases, as arguments of core_blend()
# * prior: result of ratings_prior()
# * size: effective number of gold cases
# * variance: variance of the values of single cases. For accuracies it is NULL, and the variance is
#   computed from the posterior mean
# * target: for "population", the sampling error of the cases is added
combine_with_prior <- function(x, likelihood, prior, size, variance, target, conf_level) {
  posterior <- core_blend(likelihood, prior, conf_level)
  lower_bound <- if (is.null(variance)) 0 else -1
  estimate <- posterior$mean
  variance <- variance %||% bernoulli_variance(estimate)
  sampling_variance <- if (target == "cases") 0 else variance * x$full_design / x$cases
  half_width <- function(end) {
    add_error_to_half_width(normal_quantile(conf_level) * sqrt(sampling_variance), end, estimate)
  }
  list(
    estimate = estimate, std.error = sqrt(posterior$sd^2 + sampling_variance),
    conf.low = pmax(lower_bound, estimate - half_width(posterior$low)),
    conf.high = pmin(1, estimate + half_width(posterior$high)),
    # Weight of gold cases: 1 for the flat part of the prior, their relative precision for the
    # normal part.
    weight = posterior$flat + (1 - posterior$flat) * prior$sd^2 / (prior$sd^2 + variance / size)
  )
}

# Returns combined intervals of differences between the accuracies of two systems. A difference is
# at most `x$differ`, the share of cases on which the two answers differ. The bias of the estimates
# from ratings is assumed to be at least `min_difference_bias` times this share. `x`: estimates from
# gold cases, a result of gold_accuracy(). `ratings_estimates`: estimates from ratings.
combined_difference_interval <- function(x, ratings_estimates, target, conf_level,
                                         widen = default_widening) {
  interval_without_prior <- difference_interval(x, target, conf_level)
  ratings_estimates$bias <- pmax(ratings_estimates$bias, min_difference_bias * x$differ)
  case_variance <- pmax(x$one_right - ratings_estimates$estimate^2, 0)
  size <- effective_gold_size(x, "cases", conf_level)
  squared_error <- x$variance / size
  prior <- ratings_prior(ratings_estimates, x$n_labels, case_variance, x$all, widen, squared_error)
  prior$centre <- clamp(prior$centre, -x$differ, x$differ)
  ratings_weight <-
    weight_of_ratings(x, prior, interval_without_prior$estimate, squared_error, conf_level, widen)
  ratings_weight[x$gold < 2 | x$differ <= 0] <- 0
  compute_combined_interval <- function(x, prior, corrected_value) {
    size <- effective_gold_size(x, "cases", conf_level)
    # With clusters, effective_gold_size() has already adjusted the error for few clusters.
    df <- if (is.null(x$clusters)) x$gold - 1 else Inf * x$gold
    likelihood <- list(
      value = corrected_value, error = sqrt(x$variance / size), freedom = df, end = x$differ
    )
    combine_with_prior(x, likelihood, prior, size, x$variance, target, conf_level)
  }
  average_intervals(x, prior, interval_without_prior, ratings_weight, compute_combined_interval)
}

min_gold_to_test <- 5L # smallest number of gold cases for a test against the ratings

# Tests whether gold cases contradict the estimate from ratings. Returns the z statistic and the
# p-value of each system, NA with fewer than five gold cases. `x`: estimates from gold cases, a
# result of gold_accuracy(). `ratings_estimates`: estimates from ratings.
gold_test <- function(x, ratings_estimates) {
  # Arguments `n_gold` and `widen` of ratings_prior() are 0. The test uses only the centre and the
  # variance of the prior, which do not depend on these arguments.
  case_variance <- bernoulli_variance(ratings_estimates$estimate) * x$full_design
  prior <-
    ratings_prior(ratings_estimates, 0, case_variance, x$cases, 0, variance_ratio = x$full_design)
  test_result <- test_contradiction(
    prior, clip01(x$estimate), x$variance * relative_error_variance(x, "cases")
  )
  lapply(test_result, replace, x$gold < min_gold_to_test, NA_real_)
}

# ---- Anytime intervals (confidence sequences) ----------------------------------------------------

# Returns intervals of accuracies that may be computed again after every gold case. The probability
# that any of these intervals misses the truth is at most 1 - conf_level.
#
# Gold cases are in random order. Each answer is correct (1) or wrong (0). The likelihood is
# averaged over a fixed distribution of the accuracy, and divided by the likelihood at the true
# accuracy. This ratio is a martingale with mean 1. The probability that it ever exceeds
# 1 / (1 - conf_level) is at most 1 - conf_level (Ville's inequality). The interval contains all
# accuracies for which the ratio is below this limit. The distribution is a mixture of the prior
# from ratings and Beta(1/2, 1/2).
#
# Coverage is approximate if predictions from ratings are used, because the effective number of gold
# cases then replaces their number (see bench/gold.R).
anytime_interval <- function(x, ratings_estimates, target, conf_level, ...) {
  interval <- corrected_interval(x, target, conf_level)
  size <- pmin(max_effective_size, interval$size)
  for (i in which(!is.na(size) & (target != "cases" | x$gold < x$cases))) {
    accuracy <- interval$estimate[[i]]
    mean_ratio <- average_likelihood_ratio(
      accuracy, size[[i]], lapply(ratings_estimates, `[[`, i), x$cases[[i]]
    )
    log_threshold <- log(mean_ratio) + log(1 - conf_level)
    log_excess <- function(theta) log_likelihood_ratio(theta, accuracy, size[[i]]) - log_threshold
    interval$conf.low[[i]] <- if (accuracy > 0) find_crossing(log_excess, c(0, accuracy)) else 0
    interval$conf.high[[i]] <- if (accuracy < 1) find_crossing(log_excess, c(accuracy, 1)) else 1
  }
  extend_to_boundary(interval, x)
}

# Returns the log likelihood of the accuracies `theta`, minus the maximum of the log likelihood.
# `share`: share of correct answers among gold cases. `size`: number of gold cases.
log_likelihood_ratio <- function(theta, share, size) {
  weighted_log_ratio <- function(p, q) if (p > 0) p * (log(q) - log(p)) else 0 * q
  size * (weighted_log_ratio(share, theta) + weighted_log_ratio(1 - share, 1 - theta))
}

# Returns the likelihood averaged over a distribution of the accuracy, divided by the maximum
# likelihood. The distribution is a mixture with equal weights: Beta(1/2, 1/2), and the normal part
# of the prior from ratings. Without an estimate from ratings, the distribution is Beta(1/2, 1/2).
# `share`, `size`: see log_likelihood_ratio(). `cases`: number of all cases.
average_likelihood_ratio <- function(share, size, ratings_estimates, cases) {
  # The average is computed from accuracies that are equally probable under Beta(1/2, 1/2).
  n_values <- 2000L
  probabilities <- (seq_len(n_values) - 0.5) / n_values
  accuracy <- sin(pi * probabilities / 2)^2
  relative_density <- rep(1, n_values)
  if (!is.na(ratings_estimates$estimate) && !is.na(ratings_estimates$std.error)) {
    variance <- bernoulli_variance(ratings_estimates$estimate)
    # The number of gold cases is set to Inf, because the distribution must not depend on it.
    prior <- ratings_prior(ratings_estimates, Inf, variance, cases, default_widening)
    normal_weight <- dnorm(accuracy, prior$centre, prior$sd) * sin(pi * probabilities)
    relative_density <- relative_density / 2 + n_values * normal_weight / sum(normal_weight) / 2
  }
  mean(relative_density * exp(log_likelihood_ratio(accuracy, share, size)))
}

# Number of gold cases for which anytime_difference_interval() is tuned to be narrowest.
n_gold_at_narrowest <- 100

# Returns anytime intervals of differences between accuracies. The value of a case is -1, 0 or 1, so
# the martingale of a normal mixture is used (Robbins 1970). Coverage is approximate, because the
# variance is estimated from gold cases.
anytime_difference_interval <- function(x, target, conf_level, ...) {
  log_term <- 2 * log(1 / (1 - conf_level))
  size_ratio <- x$gold / n_gold_at_narrowest * (log_term + log(1 + log_term))
  difference_interval(x, target, conf_level,
    sqrt((1 + 1 / size_ratio) * (log1p(size_ratio) + log_term)) *
      small_sample_quantile(x, conf_level) / normal_quantile(conf_level))
}

# ---- Records -------------------------------------------------------------------------------------

interval_combined <- new_gold_interval(
  "combined", combined_interval, combined_difference_interval,
  "gold cases with ratings; the estimate from ratings is also used unless gold cases contradict it",
  "uses the estimate from ratings only as a prior, unless gold cases contradict it.",
  uses_prior = TRUE
)

interval_corrected <- new_gold_interval(
  "corrected", corrected_interval, difference_interval,
  "gold cases with ratings, valid whatever errors are shared",
  "is Wilson's, for the effective number of gold cases. It is valid for any amount of shared
    errors."
)

interval_anytime <- new_gold_interval(
  "anytime", anytime_interval, anytime_difference_interval,
  "gold cases with ratings, valid after every batch of gold cases",
  "is a confidence sequence: it stays valid if it is computed after every new gold case.",
  anytime = TRUE
)

# Robust intervals contain sampling error and an allowance for shared errors.
#
# Raters and systems often err on the same cases ("shared errors", also called correlated errors).
# Shared errors bias every estimate, and the ratings do not identify the bias. The "hidden error" is
# the assumed standard deviation of the bias. If raters are language models or programs
# ("machines"), the hidden error is a constant. If raters are people, it increases with:
# * the share of wrong ratings
# * the difference between the highest and the lowest accuracy over possible base rates
# * the difference between the accuracies with shared and with independent errors
#
# With people as raters, the hidden error is small if models without shared errors fit well. In
# these models, cases are equally difficult, and raters differ at most in accuracy.

# Returns a list of vectors with a number per system: `centre` of the robust interval, `std.error`,
# and `hidden`, the part of the error due to shared errors. All formulas are in core_robust_error().
# * estimate: an estimate or a draft (an estimate without interval), see draft_estimate()
# * accuracy: estimated accuracies
# * sampling_error: standard errors of the accuracies due to sampling
# * average_results: result of summarise_average()
robust_error <- function(estimate, accuracy, sampling_error, average_results) {
  fit <- estimate$fit
  # If the user gives the share of shared errors, the hidden error is 0.
  if (has_fixed_common(estimate)) {
    return(list(centre = accuracy, std.error = sampling_error, hidden = 0 * accuracy))
  }
  # Accuracy with independent errors minus accuracy with shared errors, for each system.
  uses_average <- is_averaged(estimate)
  gap <- (if (uses_average) average_results$independent else accuracy) -
    (average_results$average_shared %||% average_results$shared)
  # This difference is unknown if the fit is a model of scores.
  if (!is.null(fit$scored)) gap <- 0 * accuracy
  error_parts <- core_robust_error(
    accuracy, sampling_error, gap, average_results$dependence_weight, average_results$rater_error,
    range_width_for_error(fit$x, average_results$base_rate_range), unknown_truth_share(fit),
    panel_kind(fit)
  )
  # core_robust_error() moves the centre if raters are machines. Only method "average" uses the
  # moved centre, because other methods were not compared with known truth.
  if (!uses_average) error_parts$centre <- accuracy
  error_parts
}

# Adds robust intervals to `table`. Returns a list: the new table; sampling errors, hidden errors
# and centres of the intervals; and bootstrap replicates, if there are any. `draft`: an estimate
# without interval, see draft_estimate().
robust_interval <- function(draft, table) {
  if (is.null(draft$average) && is.null(draft$fit$scored)) return(list(table = table))
  if (is_averaged(draft)) {
    sampling_error <- average_sampling_error(draft) * cluster_widening(draft)
    interval <- list(table = table, sampling = sampling_error)
  } else {
    interval <- bootstrap_interval(draft, table)
    interval$sampling <- interval$table$std.error # NA, with a reason, if the bootstrap has none
  }
  error_parts <-
    robust_error(draft, table$estimate, interval$sampling, draft$results_of_average)
  interval[c("centre", "hidden")] <- error_parts[c("centre", "hidden")]
  interval$table$std.error <- error_parts$std.error
  interval$table <- with_limits(
    interval$table, error_parts$centre, robust_quantile(draft, draft$options$conf_level)
  )
  interval
}

# Sets the limits of intervals in `table` to `n_errors` standard errors from `centre`, but within
# [0, 1].
with_limits <- function(table, centre, n_errors) {
  table$conf.low <- pmax(0, centre - n_errors * table$std.error)
  table$conf.high <- pmin(1, centre + n_errors * table$std.error)
  table
}

# Returns, for each system, the share of its answered cases whose truth is unknown. Only these cases
# contribute to the hidden error.
unknown_truth_share <- function(fit) {
  n_answered_cases <-
    (pattern_answers(fit$x) > 0L) * pattern_weights(fit$x) * is_usable_pattern(fit)
  unname(colSums(n_answered_cases * !is_known_pattern(fit)) / colSums(n_answered_cases))
}

# The correlation between the hidden errors of two systems is s to this power, where s is the share
# of cases on which both systems gave the same answer. The power is the smallest whole number for
# which 90% intervals of differences have a mean coverage of at least .90 in 19 public data sets.
# The mean coverage is .95, but .89 (standard error .08) in cross-validation. Even the second number
# is optimistic, because the form of the rule was chosen on the same data sets. See bench/compare.R.
hidden_correlation_exponent <- 3

# Returns draws of the accuracies of systems (draws x systems) from the distribution that robust
# intervals describe. If a sampling error is unknown, returns a string with the reason instead.
# `replicates`: bootstrap replicates (replicates x systems).
robust_draws <- function(estimate, replicates) {
  sampling_error <- estimate$details$sampling
  if (!has_interval(estimate)) sampling_error <- sampling_error * cluster_widening(estimate)
  hidden_errors <- hidden_error(estimate)
  equal_answer_shares <- same_answer_matrix(estimate$fit)
  correlation <- suppressWarnings(stats::cor(replicates)) # NA if replicates do not vary
  sampling_error[is.na(diag(correlation))] <- 0
  correlation[is.na(correlation)] <- 0
  systems_with_unknown_error <- estimate$table$system[is.na(sampling_error + hidden_errors)]
  if (length(systems_with_unknown_error) > 0L) {
    return(paste("the sampling error of", shorten(systems_with_unknown_error), "is not known"))
  }
  # Covariance matrix of the errors of systems. Sampling errors are correlated between systems like
  # the replicates. Hidden errors are correlated if systems often give the same answer.
  eigen_parts <- eigen(
    correlation * outer(sampling_error, sampling_error) +
      equal_answer_shares^hidden_correlation_exponent * outer(hidden_errors, hidden_errors),
    symmetric = TRUE
  )
  # With this number of draws, chance hardly changes the second decimal of a probability.
  n_systems <- length(hidden_errors)
  n_draws <- max(2000, 2 * n_systems, min(1e4, 4e5 %/% n_systems))
  noise <- matrix(rnorm(n_draws * n_systems), n_draws)
  # The columns get mean 0 and variance 1, and are exactly uncorrelated.
  noise <- qr.Q(qr(sweep(noise, 2L, colMeans(noise)))) * sqrt(n_draws - 1)
  # Uses the symmetric square root of the covariance matrix. The sign of eigenvectors is arbitrary,
  # and must not affect the draws.
  drawn_errors <- noise %*% eigen_parts$vectors %*% scaled_eigenvectors(eigen_parts)
  # Systems with equal answers get exactly the same draws.
  drawn_errors <- pick_columns(drawn_errors, max.col(equal_answer_shares == 1, "first"))
  # The errors of all systems in a draw are multiplied by the same random factor. The tails of the
  # errors are then as heavy as those of robust intervals.
  tail_factors <- if (has_fixed_common(estimate)) rep(1, n_draws) else
    heavy_tail_factors(n_draws)
  centre <- rep(estimate$details$centre, each = n_draws)
  structure(centre + tail_factors * drawn_errors, times = tail_factors)
}

# Returns the eigenvectors of a covariance matrix as rows, each multiplied by the standard deviation
# in its direction. `eigen_parts`: result of eigen().
scaled_eigenvectors <-
  function(eigen_parts) sqrt(pmax(0, eigen_parts$values)) * t(eigen_parts$vectors)

# Returns `n` factors that convert normal draws to draws with the heavy tails of robust intervals,
# see robust_quantile(). The factors are computed from quantiles at equally spaced probabilities, in
# random order.
heavy_tail_factors <- function(n) {
  chi_squares <- qchisq((sample.int(n) - 0.5) / n, t_degrees_of_freedom)
  normal_quantile(0.9) / qt(0.95, t_degrees_of_freedom) * sqrt(t_degrees_of_freedom / chi_squares)
}

# Returns the hidden error of each system: the standard deviation of the bias due to shared errors.
hidden_error <- function(estimate) {
  details <- estimate$details
  details[["hidden"]] %||% # set for other metrics
    robust_error(estimate, estimate$table$estimate, details$sampling,
      c(estimate$table["independent"], details))$hidden
}

# Returns normal draws with variance 1 (draws x systems). They are correlated between systems like
# hidden errors, and uncorrelated with the columns of `centred`.
# * centred: a matrix with a row per draw and columns with mean 0
# * equal_answer_shares: a result of same_answer_matrix()
hidden_error_noise <- function(centred, equal_answer_shares) {
  n_draws <- nrow(centred)
  noise <- matrix(rnorm(n_draws * ncol(equal_answer_shares)), n_draws)
  noise <- qr.resid(qr(cbind(1, centred)), noise)
  noise <- qr.Q(qr(noise)) * sqrt(n_draws - 1)
  correlation <- equal_answer_shares^hidden_correlation_exponent
  noise <- noise %*% scaled_eigenvectors(eigen(correlation, symmetric = TRUE))
  # Systems with equal answers get exactly the same draws.
  pick_columns(noise, max.col(equal_answer_shares == 1, "first"))
}

# Returns a matrix (systems x systems) of the shares of cases on which two systems gave the same
# answer.
same_answer_matrix <- function(fit) {
  pair_matrix <- diag(n_systems(fit$x))
  matrix(same_answer_shares(fit, row(pair_matrix), col(pair_matrix)), nrow(pair_matrix))
}

# Returns, for each pair of systems, the share of cases on which both systems gave the same answer.
# Uses only cases that all systems answered and that have ratings or a known truth. `first`,
# `second`: numbers of the two systems of each pair.
same_answer_shares <- function(fit, first, second) {
  answers <- pattern_answers(fit$x)
  weight <- pattern_weights(fit$x) * (is_usable_pattern(fit) & rowSums(answers == 0L) == 0L)
  compute_by_blocks(answers, first, function(block_pairs) {
    is_same <-
      pick_columns(answers, first[block_pairs]) == pick_columns(answers, second[block_pairs])
    list(share = colSums(weight * is_same) / sum(weight))
  })$share
}

max_differences <- 4e6 # largest number of drawn differences in memory at the same time: 32 MB

# Calls `compute` for blocks of pairs of systems, to limit memory. Returns a list of vectors with an
# element per pair.
# * answers: answers of systems (patterns x systems)
# * first: number of the first system of each pair
# * compute: function of indices of pairs, which returns a list of vectors for these pairs
compute_by_blocks <- function(answers, first, compute) {
  pairs_per_block <- ceiling(max_differences / 4 / max(nrow(answers), 1L))
  block_results <- lapply(split_in_runs(seq_along(first), pairs_per_block), compute)
  # A block without data may lack some fields, so the names of fields are taken from all blocks.
  field_names <- rlang::set_names(unique(unlist(lapply(block_results, names))))
  lapply(field_names, function(field) unlist(lapply(block_results, `[[`, field)))
}

# Returns words that follow the words "sampling error" in a sentence. They name the other errors
# that the interval contains, or state that it contains only sampling error.
# `has_scores`: is the sentence also about intervals of score metrics?
describe_hidden_error <- function(x, has_scores = FALSE) {
  if (has_fixed_common(x)) {
    " only, given the assumption"
  } else if (has_all_truths(x)) {
    " only (the truth of all cases is known)"
  } else if (panel_kind(x) == "machines") {
    " and the error of machines as raters of other data"
  } else if (max(0, hidden_error(x), na.rm = TRUE) == 0) {
    # Intervals of score metrics allow for shared errors even if intervals of accuracy do not.
    if (has_scores) " and, for metrics of scores, an allowance for shared errors" else
      " only (no sign of shared errors; only gold cases could rule them out)"
  } else {
    " and an allowance for shared errors"
  }
}

# Returns the hidden error of system number `s`: the standard deviation of the bias due to shared
# errors. The result has an element per element of `rater_error`.
# * gap: distance between the system's accuracies with independent and with shared errors
# * rater_error: share of wrong ratings among all cases, or a vector of shares for groups of cases
hidden_error_of_system <- function(estimate, s, gap = 0,
                                   rater_error = estimate$details$rater_error[[s]]) {
  zeros <- 0 * rater_error
  if (has_fixed_common(estimate)) return(zeros)
  fit <- estimate$fit
  details <- estimate$details[s, ]
  core_robust_error(
    zeros + estimate$table$estimate[[s]], zeros, zeros + gap, zeros + details$dependence_weight,
    rater_error, zeros + range_width_for_error(fit$x, details$base_rate_range),
    zeros + unknown_truth_share(fit)[[s]], panel_kind(fit)
  )$hidden
}

# Returns the number of standard errors between the centre and the limits of a robust interval.
# Hidden errors have heavier tails than the normal distribution, because their size differs between
# data sets. The number is therefore a quantile of the t distribution, scaled to equal the normal
# quantile for 90% intervals. `options`: options of an estimate, or the estimate.
robust_quantile <- function(options, conf_level) {
  if (has_fixed_common(options)) return(normal_quantile(conf_level))
  t_quantiles <- qt((1 + c(conf_level, 0.9)) / 2, t_degrees_of_freedom)
  normal_quantile(0.9) * t_quantiles[[1L]] / t_quantiles[[2L]]
}

t_degrees_of_freedom <- 4 # degrees of freedom of the t distribution of errors in robust intervals

interval_robust <- new_interval(
  "robust",
  words = "robust interval", average = TRUE, hidden = TRUE, replicates = 200L, compiled = TRUE,
  spread = "delta", uncounted = "so sampling error has no scale", find = robust_interval,
  draws = robust_draws,
  # The note names the errors that the interval contains. The method of resampling, or the number of
  # clusters, is added in parentheses.
  note = function(estimate) {
    resampling_text <- if (!is.null(estimate$replicates)) replicates_note(estimate) else
      if (!is.null(estimate$options$cluster)) count_noun(count_clusters(estimate), "cluster")
    paste0(
      "sampling error", paste0(" (", resampling_text, ")", recycle0 = TRUE),
      describe_hidden_error(estimate), "."
    )
  },
  explain = function(estimate) {
    if (has_fixed_common(estimate)) {
      "The {interval} covers sampling error, given that assumption."
    } else if (panel_kind(estimate) == "machines" && is_averaged(estimate)) {
      "The raters are language models or programs, whose agreement is little evidence of accuracy.
        The {interval} is therefore based on other data sources with such raters: its centre is
        halfway between the estimate and .65, and its standard error contains .17 in addition to
        sampling error."
    } else {
      "The {interval} allows for sampling error and for errors that raters and systems share, which
        are not identified from ratings. Its variance has a term for shared errors. This term
        increases with the share of wrong ratings, with the range of accuracies over possible base
        rates, and with the distance between the accuracies with independent and with shared errors.
        It vanishes if the ratings favour models with equally difficult cases and without confusion
        matrices. Its size was chosen on public data sets with known truth."
    }
  }
)

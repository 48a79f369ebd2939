# Robust intervals, which contain sampling error and an allowance for shared errors.
#
# On real data, raters and systems err on the same cases (shared or correlated errors). This biases
# every estimate. The bias is not identified from the ratings; its standard deviation is called the
# hidden error. It increases with three quantities: the share of wrong ratings; the range of
# accuracies over possible base rates; and the distance between the accuracies with shared and with
# independent errors. It is small if the data favour simple models (equally difficult cases, the
# same error rates for all raters). If the raters are language models or programs ("machines"), the
# data are no evidence of small errors, and a constant is used.

# Returns, with an element per system, the centre of the robust interval, its total standard error,
# and the part due to shared errors (`hidden`). All formulas are in core_robust_error(). `estimate`:
# an estimate, or a draft_estimate(), which has no interval yet. `value`: accuracies. `sampling`:
# their standard errors due to sampling. `parts`: result of parts_of_average(). If the user gives
# the share of shared errors (argument `common`), the hidden error is 0. For machines the core also
# moves the centre. The moved centre is used for method "average" only, because other methods have
# not been compared with known truth.
robust_error <- function(estimate, value, sampling, parts) {
  if (has_fixed_common(estimate$options)) {
    return(list(centre = value, std.error = sampling, hidden = 0 * value))
  }
  # Distance between the accuracies with independent and with shared errors. It is 0 for metrics of
  # scores, for which these values are not computed.
  independent <- if (is_averaged(estimate)) parts$independent else value
  gap <- independent - (parts$average_shared %||% parts$shared)
  if (!is.null(estimate$fit$scored)) gap <- 0 * value
  out <- core_robust_error(
    value, sampling, gap, parts$dependence_weight, parts$rater_error,
    range_for_error(estimate$fit$x, parts$base_rate_range), unknown_truth_share(estimate$fit),
    panel_kind(estimate$fit)
  )
  if (!is_averaged(estimate)) out$centre <- value
  out
}

# Adds robust intervals to `table` and returns them in the form of new_interval_found(). `draft`: an
# estimate without interval, see draft_estimate(). The sampling error of method "average" has a
# formula; for other methods it is computed by a bootstrap.
robust_interval <- function(draft, table) {
  if (is.null(draft$average) && is.null(draft$fit$scored)) return(new_interval_found(table))
  if (is_averaged(draft)) {
    interval <- new_interval_found(table,
      sampling = average_sampling_error(draft) * cluster_widening(draft))
  } else {
    interval <- bootstrap_interval(draft, table)
    interval$sampling <- interval$table$std.error # NA, with a reason, if the bootstrap has none
  }
  error <- robust_error(draft, table$estimate, interval$sampling, draft$parts)
  interval$centre <- error$centre
  interval$table$std.error <- error$std.error
  interval$table <- with_limits(
    interval$table, error$centre, robust_quantile(draft$options, draft$options$conf_level)
  )
  interval
}

# Sets the limits of intervals at `times` standard errors around the centre, but within [0, 1].
with_limits <- function(table, centre, times) {
  table$conf.low <- pmax(0, centre - times * table$std.error)
  table$conf.high <- pmin(1, centre + times * table$std.error)
  table
}

# Returns, for each system, the share of unknown truths among the cases that the system answered.
# Only cases with unknown truth contribute to the hidden error.
unknown_truth_share <- function(fit) {
  answered_cases <- (pattern_answers(fit$x) > 0L) * pattern_weights(fit$x) * is_usable_pattern(fit)
  unname(colSums(answered_cases * !is_known_pattern(fit)) / colSums(answered_cases))
}

# The correlation between the hidden errors of two systems is the share of cases on which they gave
# the same answer, raised to this power. Two systems with equal answers have correlation 1, because
# errors that raters share with an answer do not depend on the system that gave it. The power is the
# smallest whole number for which the mean coverage of 90% intervals of differences is at least .90.
# It is then .95, over 19 public data sets with known truth. If the power is chosen without the data
# sets related to the tested one, coverage is .89 (standard error .08). This is optimistic, because
# the rule was chosen on the same data sets. bench/compare.R compares it with other rules.
hidden_correlation_power <- 3

# Returns draws of the accuracies of systems (draws x systems) from the distribution that robust
# intervals describe; or a string, the reason why there are no draws. A draw is the centre of the
# interval plus a normal error, the sum of a sampling error (correlated like bootstrap `replicates`)
# and a hidden error. The error is multiplied by a random factor, the same for all systems, so that
# its tails are as heavy as the tails of robust intervals. The factors are the attribute `times`.
# The number of draws is so large that chance hardly changes the second decimal of a probability.
robust_draws <- function(estimate, replicates) {
  sampling <- estimate$details$sampling
  if (!has_interval(estimate)) sampling <- sampling * cluster_widening(estimate)
  hidden <- hidden_error(estimate)
  same_answers <- same_answer_share(estimate$fit)
  correlation <- suppressWarnings(stats::cor(replicates)) # NA if replicates do not vary
  sampling[is.na(diag(correlation))] <- 0
  correlation[is.na(correlation)] <- 0
  unknown_systems <- estimate$table$system[is.na(sampling + hidden)]
  if (length(unknown_systems) > 0L) {
    return(paste("the sampling error of", shorten(unknown_systems), "is not known"))
  }
  error <- normal_draws(
    correlation * outer(sampling, sampling) +
      same_answers^hidden_correlation_power * outer(hidden, hidden)
  )
  # Systems with equal answers get exactly the same draws.
  error <- error[, max.col(same_answers == 1, "first"), drop = FALSE]
  n_draws <- nrow(error)
  factors <- if (has_fixed_common(estimate$options)) rep(1, n_draws) else
    heavy_tail_factors(n_draws)
  structure(rep(estimate$details$centre, each = n_draws) + factors * error, times = factors)
}

# Returns normal draws (draws x systems) whose sample covariance matrix is exactly `covariance`.
normal_draws <- function(covariance) {
  n_systems <- ncol(covariance)
  n_draws <- max(2000, 2 * n_systems, min(1e4, 4e5 %/% n_systems))
  noise <- matrix(rnorm(n_draws * n_systems), n_draws)
  noise <- qr.Q(qr(sweep(noise, 2L, colMeans(noise)))) * sqrt(n_draws - 1)
  eigen_parts <- eigen(covariance, symmetric = TRUE)
  # Uses the symmetric root: the sign of eigenvectors is arbitrary and must not affect the draws.
  noise %*% eigen_parts$vectors %*% scaled_vectors(eigen_parts)
}

# Returns the eigenvectors of a covariance matrix as rows, each multiplied by the standard deviation
# in its direction. `eigen_parts`: result of eigen().
scaled_vectors <- function(eigen_parts) sqrt(pmax(0, eigen_parts$values)) * t(eigen_parts$vectors)

# Returns factors that convert `n` normal draws to draws with the heavy tails of robust intervals,
# see robust_quantile(). They are quantiles at equally spaced probabilities, in random order.
heavy_tail_factors <- function(n) {
  chi_square <- qchisq((sample.int(n) - 0.5) / n, tail_freedom)
  normal_quantile(0.9) / qt(0.95, tail_freedom) * sqrt(tail_freedom / chi_square)
}

# Returns the hidden error of each system: the part of its standard error that is due to shared
# errors.
hidden_error <- function(estimate) {
  details <- estimate$details
  all_parts <- c(estimate$table["independent"], details)
  details[["hidden"]] %||% # set for other metrics
    robust_error(estimate, estimate$table$estimate, details$sampling, all_parts)$hidden
}

# Returns normal draws with variance 1 (draws x systems), correlated between systems like hidden
# errors, and uncorrelated with the columns of `centred` (draws x any number). `same`: result of
# same_answer_share().
hidden_error_noise <- function(centred, same) {
  n_draws <- nrow(centred)
  noise <- qr.resid(qr(cbind(1, centred)), matrix(rnorm(n_draws * ncol(same)), n_draws))
  noise <- qr.Q(qr(noise)) * sqrt(n_draws - 1)
  noise <- noise %*% scaled_vectors(eigen(same^hidden_correlation_power, symmetric = TRUE))
  # Systems with equal answers get exactly the same draws.
  noise[, max.col(same == 1, "first"), drop = FALSE]
}

# Returns the share of cases on which two systems gave the same answer (systems x systems), among
# the cases that all systems answered.
same_answer_share <- function(fit) {
  judged <- is_usable_pattern(fit)
  answer <- pattern_answers(fit$x)[judged, , drop = FALSE]
  weight <- pattern_weights(fit$x)[judged]
  weight[rowSums(answer == 0L) > 0L] <- 0
  vapply(seq_len(ncol(answer)), function(column) {
    colSums(weight * (answer == answer[, column])) / sum(weight)
  }, double(ncol(answer)))
}

# Returns the note for print() on the sources of error that the interval contains, and on how
# sampling error was computed.
robust_note <- function(x) {
  words <- if (!is.null(x$replicates)) replicates_note(x) else
    if (!is.null(x$options$cluster)) count_noun(count_clusters(x), "cluster")
  paste0("sampling error", paste0(" (", words, ")", recycle0 = TRUE), allowance_words(x), ".")
}

# Returns the end of a sentence that begins with "sampling error": the other errors in the interval.
allowance_words <- function(x) {
  if (has_fixed_common(x$options)) {
    " only, given the assumption"
  } else if (knows_all_truths(x)) {
    " only (the truth of all cases is known)"
  } else if (panel_kind(x) == "machines") {
    " and the error of machines as raters of other data"
  } else if (max(0, hidden_error(x), na.rm = TRUE) == 0) {
    " only (no sign of shared errors)"
  } else {
    " and an allowance for shared errors"
  }
}

# Returns a description of the interval for a methods paragraph.
explain_robust <- function(estimate) {
  if (has_fixed_common(estimate$options)) {
    "The {interval} covers sampling error, given that assumption."
  } else if (panel_kind(estimate) == "machines" && is_averaged(estimate)) {
    "The raters are language models or programs, whose agreement is little evidence of accuracy. The
      {interval} is therefore based on other data sources with such raters: its centre is halfway
      between the estimate and .65, and its standard error contains .17 in addition to sampling
      error."
  } else {
    "The {interval} allows for sampling error and for errors that raters and systems share, which
      are not identified from ratings. Its variance has a term for shared errors. This term
      increases with the share of wrong ratings, with the range of accuracies over possible base
      rates, and with the distance between the accuracies with independent and with shared errors.
      It vanishes if the ratings favour models with equal raters and equally difficult cases. Its
      size was chosen on public data sets with known truth."
  }
}

# Returns the hidden error of system number `s` for each value of `rater_error`, the share of wrong
# ratings. `gap`: distance between the system's accuracies with shared and with independent errors.
hidden_of_system <- function(estimate, s, gap = 0,
                             rater_error = estimate$details$rater_error[[s]]) {
  zeros <- 0 * rater_error
  if (has_fixed_common(estimate$options)) return(zeros)
  details <- estimate$details[s, ]
  core_robust_error(
    zeros + estimate$table$estimate[[s]], zeros, zeros + gap, zeros + details$dependence_weight,
    rater_error, zeros + range_for_error(estimate$fit$x, details$base_rate_range),
    zeros + unknown_truth_share(estimate$fit)[[s]], panel_kind(estimate$fit)
  )$hidden
}

# Returns the number of standard errors between the centre and the limits of a robust interval.
# Hidden errors have heavier tails than the normal distribution, because they differ between kinds
# of data sets. The number is therefore a quantile of the t distribution, scaled to the normal
# quantile for 90%.
robust_quantile <- function(options, conf_level) {
  if (has_fixed_common(options)) return(normal_quantile(conf_level))
  t_quantiles <- qt((1 + c(conf_level, 0.9)) / 2, tail_freedom)
  normal_quantile(0.9) * t_quantiles[[1L]] / t_quantiles[[2L]]
}

tail_freedom <- 4 # degrees of freedom of the t distribution of errors in robust intervals

interval_robust <- new_interval(
  "robust",
  words = "robust interval", average = TRUE, hidden = TRUE, replicates = 200L, compiled = TRUE,
  spread = "delta", uncounted = "so sampling error has no scale", find = robust_interval,
  draws = robust_draws, note = robust_note, explain = explain_robust
)

# Intervals that contain more than sampling error.
#
# On real data, raters err on the same cases, and systems do too. This biases every estimate. The
# bias is not identified from the ratings. It increases with the share of wrong ratings, with the
# range of possible base rates, and with the distance between the accuracies with shared and with
# independent errors. There is no sign of shared errors if the data favour simple models (equally
# difficult cases, no separate error rates). If machines rate, this criterion does not work.

# Centre of the interval, total standard error, and the part due to shared errors (`hidden`), for
# each system of a draft or an estimate. All formulas are in core_robust_error(). Its arguments,
# with an element per system, are:
#   the estimate, its sampling error, and its distance to the value if all errors are shared;
#   the prior weight of dependence, from 0 (no hidden error) to 1;
#   the share of wrong ratings, and the range of accuracies over possible base rates;
#   the share of cases with unknown truth, which are the only cases with hidden error;
#   the kind of raters, see panel_kind().
# For `parts`, see parts_of_average(). If the share of shared errors is given, there is no hidden
# error. For machines, only the average has been compared with known truth, so other methods keep
# their centre.
whole_error <- function(estimate, value, sampling, gap, parts) {
  if (is_stated(estimate$options)) {
    return(list(centre = value, std.error = sampling, hidden = 0 * value))
  }
  out <- core_robust_error(
    value, sampling, gap, parts$dependence_weight, parts$rater_error, parts$base_rate_range,
    open_share(estimate$fit), panel_kind(estimate$fit)
  )
  if (!is_averaged(estimate)) out$centre <- value
  out
}

# Error of a draft or an estimate, given values and sampling errors. Scores have no gap.
typical_error <- function(estimate, value, sampling, parts) {
  end <- if (is_averaged(estimate)) parts$independent else value
  gap <- end - (parts$average_shared %||% parts$shared)
  if (!is.null(estimate$fit$scored)) gap <- 0 * value
  whole_error(estimate, value, sampling, gap, parts)
}

# The average has a sampling error without replicates; other methods use a bootstrap.
robust_interval <- function(draft, table) {
  scored <- !is.null(draft$fit$scored)
  if (is.null(draft$average) && !scored) return(new_interval_found(table))
  if (is_averaged(draft)) {
    sampling <- average_sampling_error(draft) * cluster_widening(draft)
    interval <- new_interval_found(table, sampling = sampling)
  } else {
    interval <- bootstrap_interval(draft, table)
    interval$sampling <- interval$table$std.error # NA, with a reason, if the bootstrap has none
  }
  error <- typical_error(draft, table$estimate, interval$sampling, draft$parts)
  interval$centre <- error$centre
  interval$table$std.error <- error$std.error
  interval$table <- with_limits(
    interval$table, error$centre, robust_quantile(draft$options, draft$options$conf_level)
  )
  interval
}

# Sets limits at `times` standard errors around the centre.
with_limits <- function(table, centre, times) {
  table$conf.low <- pmax(0, centre - times * table$std.error)
  table$conf.high <- pmin(1, centre + times * table$std.error)
  table
}

open_share <- function(fit) {
  weight <- pattern_weights(fit$x) * judged_patterns(fit)
  answered <- (pattern_answers(fit$x) > 0L) * weight
  unname(colSums(answered * !known_patterns(fit)) / colSums(answered))
}

# Correlation of the hidden errors (see core_robust_error()) of two systems: the share of cases on
# which they gave the same answer, to this power. The hidden error of an answer is the same for all
# systems that gave it. Equal systems thus have correlation one, and nearly equal systems nearly
# one. The power is the least whole number with which 90% intervals of differences cover .90 in the
# mean of 19 public data sets with known truth: .95. With powers chosen without the family of each
# set, coverage is .89 (standard error .08). The rule itself was also chosen on these sets, so this
# is optimistic (bench/compare.R has this and other rules).
likeness_power <- 3

# Draws of the errors around the centres of intervals, or a string with a reason. Normal errors have
# the sampling error of each system, correlated like bootstrap replicates, and the hidden error.
# Divided by attribute `times`, the draws of a system have the standard error of its robust
# interval. `times` multiplies the error of a draw in all systems, so that tails are as heavy as
# those of intervals. The number of draws is large enough for the second decimal of a probability
# not to depend on chance.
robust_draws <- function(estimate, replicates) {
  centre <- estimate$details$centre
  sampling <- estimate$details$sampling
  if (!has_interval(estimate)) sampling <- sampling * cluster_widening(estimate)
  hidden <- hidden_error(estimate)
  same <- same_share(estimate$fit)
  together <- suppressWarnings(stats::cor(replicates)) # NA if replicates do not vary
  sampling <- ifelse(is.na(diag(together)), 0, sampling)
  together[is.na(together)] <- 0
  unknown <- estimate$table$system[is.na(sampling + hidden)]
  if (length(unknown) > 0L) return(paste("the sampling error of", shorten(unknown), "is not known"))
  error <- normal_draws(
    together * outer(sampling, sampling) + same^likeness_power * outer(hidden, hidden)
  )
  error <- error[, max.col(same == 1, "first"), drop = FALSE] # exactly the same for equal systems
  n <- nrow(error)
  times <- if (is_stated(estimate$options)) rep(1, n) else heavy_times(n)
  structure(rep(centre, each = n) + times * error, times = times)
}

# Normal draws with exactly these covariances.
normal_draws <- function(covariance) {
  systems <- ncol(covariance)
  n <- max(2000, 2 * systems, min(1e4, 4e5 %/% systems))
  noise <- matrix(stats::rnorm(n * systems), n)
  noise <- qr.Q(qr(sweep(noise, 2L, colMeans(noise)))) * sqrt(n - 1)
  parts <- eigen(covariance, symmetric = TRUE)
  # Uses the symmetric root: the sign of eigenvectors is arbitrary and must not affect the draws.
  noise %*% parts$vectors %*% scaled_vectors(parts)
}

# The eigenvectors of a covariance matrix in rows, times the standard deviations along them.
scaled_vectors <- function(parts) sqrt(pmax(0, parts$values)) * t(parts$vectors)

# Factors that convert normal draws to draws with the tails of robust_quantile(): quantiles at
# equally spaced probabilities, in random order.
heavy_times <- function(n) {
  spread <- stats::qchisq((sample.int(n) - 0.5) / n, tail_freedom)
  normal_quantile(0.9) / stats::qt(0.95, tail_freedom) * sqrt(tail_freedom / spread)
}

# Part of the error of each system that shared errors may hide.
hidden_error <- function(estimate) {
  details <- estimate$details
  parts <- c(estimate$table["independent"], details)
  details[["hidden"]] %||% # set for other metrics
    typical_error(estimate, estimate$table$estimate, details$sampling, parts)$hidden
}

# Draws with variance one, with correlations given by `same`, and uncorrelated with `centred`.
shared_noise <- function(centred, same) {
  n <- nrow(centred)
  systems <- ncol(same)
  noise <- qr.resid(qr(cbind(1, centred)), matrix(stats::rnorm(n * systems), n))
  noise <- qr.Q(qr(noise)) * sqrt(n - 1)
  parts <- eigen(same^likeness_power, symmetric = TRUE)
  noise <- noise %*% scaled_vectors(parts)
  noise[, max.col(same == 1, "first"), drop = FALSE] # exactly the same for equal systems
}

# Share of the cases on which systems gave the same answer, a row and a column per system.
same_share <- function(fit) {
  judged <- judged_patterns(fit)
  answer <- pattern_answers(fit$x)[judged, , drop = FALSE]
  weight <- pattern_weights(fit$x)[judged]
  weight[rowSums(answer == 0L) > 0L] <- 0
  share <- function(column) colSums(weight * (answer == answer[, column])) / sum(weight)
  vapply(seq_len(ncol(answer)), share, double(ncol(answer)))
}

robust_note <- function(x) {
  drawn <- if (!is.null(x$replicates)) {
    paste0(resampling_note(x), ", ", number(x$options$replicates), " replicates")
  } else if (!is.null(x$options$cluster)) {
    count_noun(count_clusters(x), "cluster")
  }
  drawn <- paste0(" (", drawn, ")", recycle0 = TRUE)
  paste0("sampling error", drawn, allowance_words(x), ".")
}

# Words for what an interval contains in addition to sampling error, for this estimate.
allowance_words <- function(x) {
  if (is_stated(x$options)) {
    " alone, given what is assumed"
  } else if (panel_kind(x) == "machines") {
    " and the error of machines as raters of other data"
  } else if (max(0, hidden_error(x), na.rm = TRUE) == 0) {
    " alone (no sign of shared errors)"
  } else {
    " and an allowance for shared errors"
  }
}

# The same, for a methods paragraph.
explain_robust <- function(estimate) {
  if (is_stated(estimate$options)) {
    "The {interval} covers sampling error, given that assumption."
  } else if (panel_kind(estimate) == "machines" && is_averaged(estimate)) {
    "The {interval} is that of other sources in which language models or programs rate, whose
      agreement says little of their accuracy: it stands halfway between the estimate and .65, with
      a standard error of .17 besides sampling error."
  } else {
    "The {interval} allows for sampling error and for errors that raters and systems share, which
      ratings cannot show. For these its variance has a term that grows with the share of wrong
      ratings, with the range of accuracies that other base rates would allow, and with the distance
      between the accuracies with independent and with shared errors, and that vanishes where
      ratings speak for models without unequal cases and raters; its size was set on public data
      sets with known truth."
  }
}

# Hidden error of system `s` for a given distance between the ends of the range, or for each value
# of `rater_error`.
hidden_of_system <- function(estimate, s, gap = 0,
                             rater_error = estimate$details$rater_error[[s]]) {
  none <- 0 * rater_error
  if (is_stated(estimate$options)) return(none)
  details <- estimate$details[s, ]
  core_robust_error(
    none + estimate$table$estimate[[s]], none, none + gap, none + details$dependence_weight,
    rater_error, none + details$base_rate_range, none + open_share(estimate$fit)[[s]],
    panel_kind(estimate$fit)
  )$hidden
}

# Number of standard errors on either side of a robust interval. Hidden errors differ between
# families of data sets with heavier tails than the normal distribution; sampling errors do not.
robust_quantile <- function(options, conf_level) {
  if (is_stated(options)) return(normal_quantile(conf_level))
  heavy <- stats::qt((1 + c(conf_level, 0.9)) / 2, tail_freedom)
  normal_quantile(0.9) * heavy[[1L]] / heavy[[2L]]
}

tail_freedom <- 4

interval_robust <- new_interval(
  "robust",
  words = "robust interval", average = TRUE, hidden = TRUE, replicates = 200L, compiled = TRUE,
  spread = "delta", uncounted = "so sampling error has no scale", find = robust_interval,
  draws = robust_draws, note = robust_note, explain = explain_robust
)

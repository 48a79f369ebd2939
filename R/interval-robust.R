# Intervals that allow for what sampling error leaves out.
#
# On real data raters err on the same cases, and so do systems. This biases every estimate
# by an amount that the ratings do not show, but that grows with the share of wrong ratings, with
# what base rates are possible, and with the distance between the ends of what system and raters may
# share. Where the data single out simple models (equally difficult cases, no error rates of their
# own) there is no sign of it. Of machines as raters not even that can be said.

interval_robust <- new_interval(
  "robust",
  words = "robust interval", average = TRUE, hidden = TRUE, replicates = 200L, compiled = TRUE,
  spread = "delta", uncounted = "so sampling error has no scale",
  find = function(draft, table) robust_interval(draft, table),
  draws = function(estimate, replicates) robust_draws(estimate, replicates),
  note = function(estimate) robust_note(estimate),
  explain = function(estimate) explain_robust(estimate)
)

# Where an interval has its centre, the whole error, and the part of it that shared errors may
# hide, of a draft or an estimate; nobody but core_robust_error() computes these. All its arguments
# have an entry per system: the estimate; its standard error from sampling; the distance from the
# value if all errors are shared; the prior weight of dependence, from 0 (nothing is hidden) to 1;
# the share of ratings that are wrong; the range of accuracies over possible base rates; and the
# share of cases whose truth is not known, which alone can hide anything. Its `kind`: see
# panel_kind(), of all or of each. `parts` are what comes with the estimate. Where shared errors
# are stated, nothing is hidden. Other methods than the average have been compared with no truth
# where machines rate, so that their centres stay.
whole_error <- function(of, value, sampling, gap, parts) {
  if (is_stated(of$options)) return(list(centre = value, std.error = sampling, hidden = 0 * value))
  out <- core_robust_error(
    value, sampling, gap, parts$dependence_weight, parts$rater_error, parts$base_rate_range,
    open_share(of$fit), panel_kind(of$fit)
  )
  if (!is_averaged(of)) out$centre <- value
  out
}

# The error of a draft or an estimate with such values and sampling errors. Scores have no gap.
typical_error <- function(of, value, sampling, parts) {
  end <- if (is_averaged(of)) parts$independent else value
  gap <- if (!is.null(of$fit$scored)) 0 * value else end - (parts$average_shared %||% parts$shared)
  whole_error(of, value, sampling, gap, parts)
}

# The sampling error of the average is its own, that of the others from a bootstrap.
robust_interval <- function(draft, table) {
  scored <- !is.null(draft$fit$scored)
  if (is.null(draft$average) && !scored) return(new_interval_found(table))
  if (is_averaged(draft)) {
    found <- new_interval_found(table, sampling = own_sampling(draft) * cluster_widening(draft))
  } else {
    found <- interval_bootstrap$find(draft, table)
    found$sampling <- found$table$std.error # NA, with a reason, where the bootstrap has none
  }
  error <- typical_error(draft, table$estimate, found$sampling, draft$parts)
  found$centre <- error$centre
  found$table$std.error <- error$std.error
  found$table <- with_limits(
    found$table, error$centre, robust_quantile(draft$options, draft$options$conf_level)
  )
  found
}

# So many standard errors around the centre.
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

# How much of what shared errors hide (see core_robust_error()) is the same for two systems: its
# correlation is the share of cases on which they gave the same answer, to this power. What is
# hidden of an answer is hidden of the same answer by another, so that equals have all of it in
# common, and systems that are nearly equal nearly all. The power is the least whole number with
# which 90% intervals of differences cover .90 in the mean of 19 public data sets with known truth:
# .95; with powers chosen without the family of each set, .89 (standard error .08). The rule itself
# was chosen on these sets too, so this is optimistic (bench/compare.R has it and other rules).
likeness_power <- 3

# Around the centres of intervals: normal errors with the sampling error of each system, correlated
# as replicates of a bootstrap are, and with what shared errors could hide. The draws of a system
# have the standard error of its robust interval, once they are divided by attribute `times`: the
# error of a draw is that many times as large in all systems, so that tails are as heavy as those of
# intervals. There are so many that no second decimal of a probability hangs on chance. Or a reason.
robust_draws <- function(estimate, replicates) {
  centre <- estimate$details$centre
  sampling <- estimate$details$sampling
  if (!has_interval(estimate)) sampling <- sampling * cluster_widening(estimate)
  hidden <- hidden_error(estimate, sampling)
  same <- same_share(estimate$fit)
  together <- suppressWarnings(stats::cor(replicates)) # of what does not vary: NA
  sampling <- ifelse(is.na(diag(together)), 0, sampling)
  together[is.na(together)] <- 0
  unknown <- estimate$table$system[is.na(sampling + hidden)]
  if (length(unknown) > 0L) return(paste("the sampling error of", shorten(unknown), "is not known"))
  error <- normal_draws(
    together * outer(sampling, sampling) + same^likeness_power * outer(hidden, hidden)
  )
  error <- error[, max.col(same == 1, "first"), drop = FALSE] # exactly the same for equals
  n <- nrow(error)
  times <- if (is_stated(estimate$options)) rep(1, n) else heavy_times(n)
  structure(rep(centre, each = n) + times * error, times = times)
}

# With these covariances, exactly.
normal_draws <- function(covariance) {
  systems <- ncol(covariance)
  n <- max(2000, 2 * systems, min(1e4, 4e5 %/% systems))
  noise <- matrix(stats::rnorm(n * systems), n)
  noise <- qr.Q(qr(sweep(noise, 2L, colMeans(noise)))) * sqrt(n - 1)
  parts <- eigen(covariance, symmetric = TRUE)
  # The symmetric root: vectors have no sign of their own, and rounding must not choose the draws.
  noise %*% parts$vectors %*% scaled_vectors(parts)
}

# The eigenvectors of a covariance matrix in rows, times the standard deviations along them.
scaled_vectors <- function(parts) sqrt(pmax(0, parts$values)) * t(parts$vectors)

# Factors that make a normal variable one with the tails of robust_quantile(), in random order, at
# even steps of their distribution.
heavy_times <- function(n) {
  spread <- stats::qchisq((sample.int(n) - 0.5) / n, tail_freedom)
  normal_quantile(0.9) / stats::qt(0.95, tail_freedom) * sqrt(tail_freedom / spread)
}

hidden_error <- function(estimate, ...) {
  hidden <- estimate$details[["hidden"]] # of another metric
  hidden %||% error_of_estimate(estimate, ...)$hidden
}

error_of_estimate <- function(estimate, sampling = estimate$details$sampling) {
  parts <- c(estimate$table["independent"], estimate$details)
  typical_error(estimate, estimate$table$estimate, sampling, parts)
}

# Draws with variance one that correlate with each other as `same` says, and not with `centred`.
shared_noise <- function(centred, same) {
  n <- nrow(centred)
  systems <- ncol(same)
  noise <- qr.resid(qr(cbind(1, centred)), matrix(stats::rnorm(n * systems), n))
  noise <- qr.Q(qr(noise)) * sqrt(n - 1)
  parts <- eigen(same^likeness_power, symmetric = TRUE)
  noise <- noise %*% scaled_vectors(parts)
  noise[, max.col(same == 1, "first"), drop = FALSE] # exactly the same for equals
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

# What an interval contains beside sampling error: true for this estimate, not only for its kind.
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

# The same for a paper.
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

# What robust intervals take to be hidden of each accuracy, were both ends so far apart.
hidden_of_gap <- function(estimate, gap) {
  details <- estimate$details
  value <- estimate$table$estimate
  whole_error(estimate, value, details$sampling, 0 * value + gap, details)$hidden
}

# The same of one system with errors that are their own, were raters wrong so often, for each of
# `rater_error`.
hidden_of_errors <- function(estimate, s, rater_error) {
  of <- estimate$details[rep(s, length(rater_error)), ]
  none <- 0 * rater_error
  if (is_stated(estimate$options)) return(none)
  core_robust_error(
    none + estimate$table$estimate[[s]], none, none, of$dependence_weight, rater_error,
    of$base_rate_range, none + open_share(estimate$fit)[[s]], panel_kind(estimate$fit)
  )$hidden
}

# Standard errors on either side of a robust interval. What is hidden differs between families of
# data sets with heavier tails than the normal curve has; sampling does not.
robust_quantile <- function(options, conf_level) {
  if (is_stated(options)) return(normal_quantile(conf_level))
  heavy <- stats::qt((1 + c(conf_level, 0.9)) / 2, tail_freedom)
  normal_quantile(0.9) * heavy[[1L]] / heavy[[2L]]
}

tail_freedom <- 4

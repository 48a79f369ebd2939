# Intervals that allow for what sampling error leaves out.
#
# On real data raters err on the same cases, and systems err there too. This biases every estimate
# by an amount that the ratings do not show, but that grows with the share of wrong ratings and with
# the distance between the ends of what system and raters may share. Where the data single out
# simple models (equally difficult cases, no error rates of their own) there is no sign of it.

interval_robust <- new_interval(
  "robust",
  words = "robust interval", average = TRUE, hidden = TRUE, replicates = 200L, compiled = TRUE,
  delta = TRUE, uncounted = "so sampling error has no scale",
  find = function(draft, table) robust_interval(draft, table),
  draws = function(estimate, replicates) robust_draws(estimate, replicates),
  note = function(estimate) robust_note(estimate)
)

# The whole error, and the part of it that errors in common may hide; nobody else computes either.
# All arguments have an entry per system: the standard error from sampling; the distance from the
# shared end of the range; how much the data call for suspicion, from 0 (nothing is hidden) to 1;
# the share of ratings that are wrong; and the share of cases whose truth is not known, which alone
# can hide anything; and the bias that the kind of raters leads one to expect besides.
robust_error <- function(sampling, gap, suspicion, rater_error, open_share,
                         together = 0 * suspicion) {
  core_robust_error(sampling, gap, suspicion, rater_error, open_share, together)
}

# The same for a draft or an estimate, of what the average says beside it. Who states what is in
# common hides nothing. Language models err together in ways that no model of judges sees, so that
# none can vouch for them, and the ratings look better than they are.
whole_error <- function(of, sampling, gap, suspicion, rater_error) {
  together <- 0 * suspicion
  if (is_stated(of$options)) {
    suspicion <- together
  } else if (has_model_raters(of$fit)) {
    suspicion <- together + 1
    together <- core_error_of_models(rater_error, used_categories(of$fit$x))
  }
  robust_error(sampling, gap, suspicion, rater_error, open_share(of$fit), together)
}

# Of ratings, a fit or an estimate.
has_model_raters <- function(of) identical(rater_kind(of), "model")

# The sampling error of the average is its own, that of the others from a bootstrap.
robust_interval <- function(draft, table) {
  scored <- is_score_fit(draft$fit)
  if (is.null(draft$average) && !scored) {
    return(new_interval_found(table))
  }
  if (is_averaged(draft)) {
    found <- new_interval_found(table, sampling = own_sampling(draft) * cluster_widening(draft))
  } else {
    found <- interval_bootstrap$find(draft, table)
    found$sampling <- found$table$std.error # NA, with a reason, where the bootstrap has none
  }
  beside <- draft$beside
  end <- if (is_averaged(draft)) beside$independent else table$estimate
  error <- whole_error(
    draft, found$sampling, if (scored) 0 * end else end - beside$shared, beside$suspicion,
    beside$rater_error
  )$std.error
  margin <- normal_quantile(draft$options$conf_level) * error
  found$table$std.error <- error
  found$table$conf.low <- pmax(0, table$estimate - margin)
  found$table$conf.high <- pmin(1, table$estimate + margin)
  found
}

open_share <- function(fit) {
  weight <- pattern_weights(fit$x) * judged_patterns(fit)
  answered <- (pattern_answers(fit$x) > 0L) * weight
  unname(colSums(answered * !known_patterns(fit)) / colSums(answered))
}

# How much of what errors in common hide (see robust_error()) is the same for two systems: its
# correlation is the share of cases on which they gave the same answer, to this power. What is
# hidden of an answer is hidden of the same answer by another, so that equals have all of it in
# common, and systems that are nearly equal nearly all. The power is the least whole number with
# which 90% intervals of differences cover .90 in the mean of 19 public data sets with known truth:
# .95; with powers chosen without the family of each set, .89 (standard error .08). The rule itself
# was chosen on these sets too, so this is optimistic (bench/compare.R has it and other rules).
likeness_power <- 3

# Around estimates whose error is more than sampling: replicates of a bootstrap, scaled to the
# sampling error of each system, which keeps how systems go together, and what errors in common
# could hide. The draws of a system have the standard error of its robust interval.
robust_draws <- function(estimate, replicates) {
  value <- estimate$table$estimate
  systems <- length(value)
  # Not correlated with the replicates, so that no chance of theirs is in the variances; few
  # replicates are repeated, to leave room for that.
  repeats <- ceiling(4 * (2 * systems + 1) / nrow(replicates))
  replicates <- replicates[rep(seq_len(nrow(replicates)), repeats), , drop = FALSE]
  n <- nrow(replicates)
  centred <- sweep(replicates, 2L, colMeans(replicates))
  sampling <- estimate$details$sampling
  if (!has_interval(estimate)) sampling <- sampling * cluster_widening(estimate)
  scale <- sampling / apply(replicates, 2L, stats::sd)
  scale[!is.finite(scale)] <- 0
  noise <- alike_noise(centred, same_share(estimate$fit))
  hidden <- hidden_error(estimate, sampling)
  rep(value, each = n) + sweep(centred, 2L, scale, `*`) + sweep(noise, 2L, hidden, `*`)
}

hidden_error <- function(estimate, sampling) {
  details <- estimate$details
  if (!is.null(details[["hidden"]])) { # of another metric
    return(details$hidden)
  }
  if (is_score_fit(estimate$fit)) {
    return(hidden_of_gap(estimate, 0))
  }
  end <- if (is_averaged(estimate)) estimate$table$independent else estimate$table$estimate
  whole_error(
    estimate, sampling, end - details$average_shared, details$suspicion, details$rater_error
  )$hidden
}

# Draws with variance one that correlate with each other as `alike` says, and not with `centred`.
alike_noise <- function(centred, alike) {
  n <- nrow(centred)
  systems <- ncol(centred)
  noise <- qr.resid(qr(cbind(1, centred)), matrix(stats::rnorm(n * systems), n))
  noise <- qr.Q(qr(noise)) * sqrt(n - 1)
  parts <- eigen(alike^likeness_power, symmetric = TRUE)
  noise <- noise %*% (sqrt(pmax(0, parts$values)) * t(parts$vectors))
  noise[, max.col(alike == 1, "first"), drop = FALSE] # exactly the same for equals
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
  paste0(
    "Interval: robust, ",
    if (is.null(x$replicates)) {
      if (is.null(x$options$cluster)) {
        "sampling error"
      } else {
        paste0("sampling error (of ", count_noun(count_clusters(x), "cluster"), ")")
      }
    } else {
      paste0(
        "sampling error (", resampling_note(x), ", ", number(x$options$replicates), " replicates)"
      )
    },
    if (is_stated(x$options)) " given what is assumed" else " and what errors in common could hide",
    if (has_model_raters(x$fit)) ", as much as language models typically have"
  )
}

# What robust intervals take to be hidden of each accuracy, were both ends so far apart.
hidden_of_gap <- function(estimate, gap) {
  details <- estimate$details
  whole_error(
    estimate, details$sampling, details$sampling * 0 + gap, details$suspicion, details$rater_error
  )$hidden
}

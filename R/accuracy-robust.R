# Intervals that allow for what sampling error leaves out.
#
# On real data raters err on the same cases, and systems err there too. This biases every estimate
# by an amount that the ratings do not show, but that grows with the share of wrong ratings and with
# the distance between the ends of what system and raters may share. Where the data single out
# simple models (equally difficult cases, no error rates of their own) there is no sign of it.

# Standard deviation of the bias per share of wrong ratings, and per distance between the estimate
# and the shared one. Calibrated on 27 public data sets with known truth, of whose accuracies 90%
# intervals cover .89; with constants chosen without the family of each set, .87 (bench/real.R).
bias_per_error <- 0.16
bias_per_gap <- 0.5

# Columns std.error, conf.low and conf.high. The sampling error of the average is its own, that of
# the others from a bootstrap.
add_robust <- function(estimate, average) {
  value <- estimate$table$estimate
  n <- length(value)
  if (is.null(average) || all(is.na(value))) {
    return(estimate)
  }
  if (!weights_are_counts(estimate$fit$x)) {
    return(without_interval(estimate, "weights are not counts, so sampling error has no scale"))
  }
  if (estimate$options$method != "average") {
    estimate <- add_bootstrap(estimate)
    estimate$details$sampling <- estimate$table$std.error
  }
  if (is_one_cluster(estimate)) {
    return(without_interval(estimate, one_cluster))
  }
  if (estimate$options$method == "average") {
    estimate$details$sampling <- estimate$details$sampling * cluster_widening(estimate)
  }
  sampling <- estimate$details$sampling
  suspicion <- pmax(0, 1 - 2 * of_average(average, "simple_weight", n))
  gap <- value - of_average(average, "shared", n)
  wrong <- of_average(average, "rater_error", n) * open_share(estimate$fit)
  bias <- (bias_per_error * wrong)^2 + (bias_per_gap * gap)^2
  error <- unname(sqrt(sampling^2 + suspicion * bias))
  margin <- stats::qnorm((1 + estimate$options$conf_level) / 2) * error
  estimate$table$std.error <- error # NA, with a reason, where the bootstrap has none
  estimate$table$conf.low <- pmax(0, value - margin)
  estimate$table$conf.high <- pmin(1, value + margin)
  estimate
}

# Share of the cases of each system whose truth is not known, which alone can hide anything.
open_share <- function(fit) {
  weight <- pattern_weights(fit$x) * judged_patterns(fit)
  answered <- (fit$x$patterns$answer > 0L) * weight
  colSums(answered * !known_patterns(fit)) / colSums(answered)
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
    " and what errors in common could hide"
  )
}

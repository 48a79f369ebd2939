# What methods make of a posterior that was given: estimates, and the same for other weights of
# patterns. `rule` is a function of answers, posterior, weights and options that gives the accuracy
# of one system.

own_fit_point <- function(fit, options, rule, posterior = FALSE, bins = NULL) {
  if (!is.null(fit$model$family)) {
    return(family_point(fit, options, rule, posterior = posterior, bins = bins))
  }
  own <- pattern_weights(fit$x)
  refit <- refitting(fit)
  beliefs <- function(weight) {
    anew <- !is.null(refit) && !identical(weight, own)
    rep(list(if (anew) refit(weight) else fit$posterior), n_systems(fit$x))
  }
  posterior_point(fit, options, rule, beliefs, posterior, bins)
}

# `beliefs`: a function of weights of patterns that gives the posterior by which each system is to
# be judged.
posterior_point <- function(fit, options, rule, beliefs, posterior = FALSE, bins = NULL) {
  estimator <- posterior_estimator(fit, options, rule, beliefs)
  weight <- pattern_weights(fit$x)
  now <- beliefs(weight)
  by_system <- if (posterior) {
    stats::setNames(lapply(now, `colnames<-`, fit$x$categories), fit$x$systems)
  }
  point <- new_point(estimator(weight, "accuracy"), estimator, posterior = by_system)
  if (!is.null(bins)) {
    point$bins <- each_system(fit, weight, now, function(...) bins(..., options))
    point$uninformative <- na_real(vapply(point$bins, function(table) {
      sum(table$cases[is.na(table$estimate)]) / sum(table$cases)
    }, 0))
  }
  point
}

# What `run` makes of each system's answers, the posterior and the weight of these.
each_system <- function(fit, weight, beliefs, run) {
  answers <- pattern_answers(fit$x)
  counts <- judged_patterns(fit) & weight > 0
  lapply(seq_along(fit$x$systems), function(s) {
    use <- which(counts & answers[, s] > 0L)
    run(answers[use, s], beliefs[[s]][use, , drop = FALSE], weight[use])
  })
}

# A function of weights of patterns, in the place of an estimator of the core.
posterior_estimator <- function(fit, options, rule, beliefs) {
  force(list(fit, options, rule, beliefs))
  n <- n_categories(fit$x)
  function(weight, what) {
    unlist(each_system(fit, weight, beliefs(weight), function(answer, posterior, weight) {
      if (what == "counts") {
        as.vector(crossprod(outer(answer, seq_len(n), `==`) * weight, posterior))
      } else if (length(answer) > 0L) {
        rule(answer, posterior, weight, options)
      } else {
        NA_real_
      }
    }))
  }
}

# The mean probability of the answers.
shared_of_posterior <- function(answer, posterior, weight, ...) {
  stats::weighted.mean(posterior[cbind(seq_along(answer), answer)], weight)
}

# Lehner's rule for an agreement with categories of this probability; NA where they say nothing.
accuracy_of_agreement <- function(agreement, probability, n) {
  out <- ((n - 1) * agreement - 1 + probability) / (n * probability - 1)
  ifelse(n * probability - 1 < 1e-6, NA_real_, out)
}

unbinned_of_posterior <- function(answer, posterior, weight, options) {
  answered <- shared_of_posterior(answer, posterior, weight)
  sure <- stats::weighted.mean(rowSums(posterior^2), weight)
  value <- accuracy_of_agreement(answered, sure, ncol(posterior))
  if (options$clip == "none") value else clip01(value)
}

binned_of_posterior <- function(answer, posterior, weight, options) {
  table <- bins_of_posterior(answer, posterior, weight, options)
  known <- drop_missing(table, "estimate")
  if (nrow(known) == 0L) return(NA_real_)
  value <- stats::weighted.mean(known$estimate, known$cases)
  if (options$clip == "overall") clip01(value) else value
}

# Bins count from the top; an edge belongs to the bin below it. Tied categories share the credit.
bins_of_posterior <- function(answer, posterior, weight, options) {
  if (length(answer) == 0L) return(no_bins)
  width <- options$bin_width
  best <- most_probable(posterior)
  of_answer <- posterior[cbind(seq_along(answer), answer)]
  credit <- (of_answer >= best$probability * (1 - tie_tolerance)) / best$tied
  last <- ceiling(1 / width - 1e-9) - 1
  bin <- pmin(pmax(floor((1 - best$probability) / width + 1e-9 / width), 0), last)
  sums <- rowsum(weight * cbind(1, best$probability, credit), bin)
  at <- as.double(rownames(sums))
  cases <- unname(sums[, 1L])
  probability <- sums[, 2L] / cases
  agreement <- sums[, 3L] / cases
  raw <- accuracy_of_agreement(agreement, probability, ncol(posterior))
  data.frame(
    lower = pmax(1 - (at + 1) * width, 0), upper = 1 - at * width, probability = probability,
    cases = cases, agreement = agreement, estimate_raw = raw,
    estimate = if (options$clip == "bin") clip01(raw) else raw, row.names = NULL
  )
}

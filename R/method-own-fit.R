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
    rep(list(if (anew) refit(weight) else fit$posterior), length(fit$x$systems))
  }
  posterior_point(fit, options, rule, beliefs, posterior, bins)
}

# `beliefs`: a function of weights of patterns that gives the posterior by which each system is to
# be judged.
posterior_point <- function(fit, options, rule, beliefs, posterior = FALSE, bins = NULL) {
  estimator <- posterior_estimator(fit, options, rule, beliefs)
  weight <- pattern_weights(fit$x)
  value <- estimator(weight, "accuracy")
  now <- beliefs(weight)
  by_system <- if (posterior) {
    stats::setNames(lapply(now, `colnames<-`, fit$x$categories), fit$x$systems)
  }
  tables <- if (is.null(bins)) rep(list(no_bins), length(value)) else
    each_system(fit, function(answer, used, s) bins(answer, now[[s]], weight * used, options))
  new_point(
    value, estimator, posterior = by_system, bins = tables,
    uninformative = vapply(tables, function(table) {
      if (nrow(table) > 0L) sum(table$cases[is.na(table$estimate)]) / sum(table$cases) else NA_real_
    }, 0)
  )
}

each_system <- function(fit, run) {
  answers <- pattern_answers(fit$x)
  rated <- judged_patterns(fit)
  lapply(seq_along(fit$x$systems), function(s) run(answers[, s], rated & answers[, s] > 0L, s))
}

# A function of weights of patterns, in the place of an estimator of the core.
posterior_estimator <- function(fit, options, rule, beliefs) {
  force(list(fit, options, rule, beliefs))
  n <- length(fit$x$categories)
  function(weight, what) {
    now <- beliefs(weight)
    out <- each_system(fit, function(answer, used, s) {
      use <- which(used & weight > 0)
      answer <- answer[use]
      posterior <- now[[s]][use, , drop = FALSE]
      if (what == "accuracy") {
        if (length(use) == 0L) NA_real_ else rule(answer, posterior, weight[use], options)
      } else {
        as.vector(crossprod(outer(answer, seq_len(n), `==`) * weight[use], posterior))
      }
    })
    unlist(out)
  }
}

# The mean probability of the answers.
shared_of_posterior <- function(answer, posterior, weight, options) {
  stats::weighted.mean(posterior[cbind(seq_along(answer), answer)], weight)
}

# Lehner's rule for an agreement with categories of this probability; NA where they say nothing.
accuracy_of_agreement <- function(agreement, probability, n) {
  out <- ((n - 1) * agreement - 1 + probability) / (n * probability - 1)
  ifelse(n * probability - 1 < 1e-6, NA_real_, out)
}

unbinned_of_posterior <- function(answer, posterior, weight, options) {
  mean_of <- function(x) stats::weighted.mean(x, weight)
  answered <- mean_of(posterior[cbind(seq_along(answer), answer)])
  value <- accuracy_of_agreement(answered, mean_of(rowSums(posterior^2)), ncol(posterior))
  if (options$clip == "none") value else clip01(value)
}

binned_of_posterior <- function(answer, posterior, weight, options) {
  table <- bins_of_posterior(answer, posterior, weight, options)
  known <- table[!is.na(table$estimate), ]
  if (nrow(known) == 0L) return(NA_real_)
  value <- stats::weighted.mean(known$estimate, known$cases)
  if (options$clip == "overall") clip01(value) else value
}

# Bins count from the top; an edge belongs to the bin below it. Tied categories share the credit.
bins_of_posterior <- function(answer, posterior, weight, options) {
  use <- which(weight > 0)
  if (length(use) == 0L) return(no_bins)
  posterior <- posterior[use, , drop = FALSE]
  weight <- weight[use]
  width <- options$bin_width
  best <- most_probable(posterior)
  of_answer <- posterior[cbind(seq_along(use), answer[use])]
  credit <- (of_answer >= best$probability * (1 - tie_tolerance)) / best$tied
  last <- ceiling(1 / width - 1e-9) - 1
  bin <- pmin(pmax(floor((1 - best$probability) / width + 1e-9 / width), 0), last)
  sums <- rowsum(weight * cbind(1, best$probability, credit), bin)
  at <- as.double(rownames(sums))
  probability <- sums[, 2L] / sums[, 1L]
  agreement <- sums[, 3L] / sums[, 1L]
  raw <- accuracy_of_agreement(agreement, probability, ncol(posterior))
  data.frame(
    lower = pmax(1 - (at + 1) * width, 0), upper = 1 - at * width, probability = probability,
    cases = sums[, 1L], agreement = agreement, estimate_raw = raw,
    estimate = if (options$clip == "bin") clip01(raw) else raw, row.names = NULL
  )
}

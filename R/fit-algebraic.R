# The K-model by algebra; the mathematics is in src/core/model/algebraic.cpp.

fit_algebraic <- function(x, model) {
  fit <- na_real(core_fit_algebraic(x$patterns, pattern_weights(x)))
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  # Labels may rest on who abstains, but not accuracies.
  labels_only <- isTRUE(x$panel$abstain$by_replies)
  if (isTRUE(x$only_constant) || labels_only) {
    fit$identified <- if (labels_only) "labels_only" else "constant_raters"
    for (field in c("rater_accuracy", "base_rates", "covariance")) fit[[field]][] <- NA_real_
  }
  structure(
    c(
      list(x = x, model = model, method = "algebraic", known = nothing_known), fit,
      list(coefficients = named_coefficients(fit$rater_accuracy, fit$base_rates, x))
    ),
    class = c("k_fit", "rater_fit", "fallible_result")
  )
}

# Patterns x categories: probabilities of the categories given the ratings of a pattern.
# `x` may be other ratings, in the numbers that the fit has for categories and raters.
posterior <- function(fit, x = NULL) UseMethod("posterior")

posterior.rater_fit <- function(fit, x = NULL) {
  if (is.null(x)) return(fit$posterior)
  if (fit$identified != "yes") unknown_posterior(x) else posterior_of_others(fit, x)
}

posterior.k_fit <- function(fit, x = NULL) {
  x <- x %||% fit$x
  if (fit$identified != "yes") return(unknown_posterior(x))
  core_posterior_algebraic(x$patterns, pattern_weights(x), fit)
}

unknown_posterior <- function(x) matrix(NA_real_, n_patterns(x), n_categories(x))

# Of other ratings than those that were fitted.
posterior_of_others <- function(fit, x) UseMethod("posterior_of_others")

posterior_of_others.rater_fit <- function(fit, x) {
  times_answering(latent_probabilities(fit, x)$posterior, fit, x)
}

# A function of weights of patterns that gives the posterior of a fit with these weights; NULL where
# that takes too long, or nobody knows how.
refitting <- function(fit) UseMethod("refitting")

refitting.k_fit <- function(fit) {
  patterns <- fit$x$patterns
  function(weight) core_posterior_algebraic(patterns, weight, core_fit_algebraic(patterns, weight))
}

refitting.rater_fit <- function(fit) {
  model <- model_of_fit(fit)
  function(weight) {
    core_fit_latent(
      fit$x$patterns, weight, fit$known, model, fit$method, 500L, start_of(fit), no_tick
    )$posterior
  }
}

# Classes (true category within stratum of difficulty) x ratings x raters.
rating_probabilities <- function(fit) UseMethod("rating_probabilities")

rating_probabilities.rater_fit <- function(fit) latent_probabilities(fit, fit$x)$probability

rating_probabilities.k_fit <- function(fit) {
  array(confusion(fit)[[1L]], c(n_categories(fit$x) * c(1L, 1L), n_raters(fit$x)))
}

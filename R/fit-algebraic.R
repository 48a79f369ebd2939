# The K-model by algebra; the mathematics is in src/core/model/algebraic.cpp.

fit_algebraic <- function(x, model) {
  fit <- na_real(core_fit_algebraic(x$patterns, pattern_weights(x)))
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  fit$coefficients <- stats::setNames(
    c(fit$rater_accuracy, fit$base_rates),
    c("rater_accuracy", paste0("base_rate[", x$categories, "]"))
  )
  new_rater_fit(c(list(x = x, model = model, method = "algebraic", known = nothing_known), fit))
}

# Patterns x categories: probabilities of the categories given the ratings of a pattern.
# `x` may be other ratings, in the numbers that the fit has for categories and raters.
posterior <- function(fit, x = fit$x) {
  if (is_latent(fit) && missing(x)) {
    return(fit$posterior)
  }
  if (fit$identified != "yes") {
    return(matrix(NA_real_, n_patterns(x), length(x$categories)))
  }
  if (is_family_fit(fit)) {
    return(family_posterior(fit, x))
  }
  if (is_latent(fit)) {
    return(latent_probabilities(fit, x)$posterior)
  }
  core_posterior_algebraic(x$patterns, pattern_weights(x), core_parameters(fit))
}

# Classes (true category within stratum of difficulty) x ratings x raters.
rating_probabilities <- function(fit) {
  if (is_latent(fit)) {
    return(latent_probabilities(fit, fit$x)$probability)
  }
  array(confusion(fit), c(length(fit$x$categories) * c(1L, 1L), length(fit$x$raters)))
}

# What the core reads of a fit.
core_parameters <- function(fit) {
  fit[c("identified", "agreement", "kappa", "rater_accuracy", "base_rates", "negative")]
}

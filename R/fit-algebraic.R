# The K-model by algebra; the mathematics is in src/core/algebraic.cpp.

fit_algebraic <- function(x, model) {
  fit <- lapply(core_fit_algebraic(x$patterns, pattern_weights(x)), na_real)
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  fit$coefficients <- stats::setNames(
    c(fit$rater_accuracy, fit$base_rates),
    c("rater_accuracy", paste0("base_rate[", x$categories, "]"))
  )
  new_rater_fit(c(list(x = x, model = model, method = "algebraic"), fit))
}

# Patterns x categories: probabilities of the categories given the ratings of a pattern.
posterior <- function(fit) {
  if (fit$method == "likelihood") {
    return(fit$posterior)
  }
  if (fit$identified != "yes") {
    return(matrix(NA_real_, length(fit$x$patterns$start) - 1L, length(fit$x$categories)))
  }
  core_posterior_algebraic(fit$x$patterns, pattern_weights(fit$x), core_parameters(fit))
}

# What the core reads of a fit.
core_parameters <- function(fit) {
  fit[c("identified", "agreement", "kappa", "rater_accuracy", "base_rates", "negative")]
}

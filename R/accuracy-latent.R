# Accuracy of systems under latent class models, at the two ends of what system and raters may have
# in common; the mathematics is in src/core/latent_accuracy.cpp.

latent_accuracy <- function(fit, method, resampling, tick = function(done) NULL) {
  x <- fit$x
  core_latent_accuracy(
    x$patterns, pattern_weights(x), latent_fitting(fit), method, resampling, tick
  )
}

# How the core is to fit again what `fit` has fitted.
latent_fitting <- function(fit) {
  method <- if (fit$method == "pairs") "pairs" else "likelihood"
  list(known = fit$known, model = model_for(fit$model, fit$x, method), method = method)
}

no_replicates <- list(replicates = 0L, threads = 1L, seed = c(0L, 0L), clusters = NULL)

# Both ends of the range are told, whichever is asked for.
estimate_latent <- function(fit, options) {
  ends <- c("shared", "joint")
  lacking <- rep(NA_real_, length(fit$x$systems))
  unfit <- fit$identified %in% c("chance", "no_pairs")
  found <- if (!unfit) {
    stats::setNames(lapply(ends, latent_accuracy, fit = fit, resampling = no_replicates), ends)
  }
  value <- function(end) {
    if (unfit || !found[[end]]$identified) lacking else na_real(found[[end]]$estimate)
  }
  estimate <- new_model_estimate(fit, value(options$method), options)
  estimate$table$shared <- value("shared")
  estimate$table$independent <- value("joint")
  if (!unfit && !found[[options$method]]$identified) {
    reason <- reason_of_parameters(fit$model, length(fit$x$categories))
    estimate$table$reason <- rep(reason, length(lacking))
  }
  if (!unfit) {
    estimate$posterior <- named_posteriors(found[[options$method]]$posterior, fit$x)
    if (!found[[options$method]]$converged) warn_convergence(options$method)
  }
  estimate
}

# Patterns x categories of each system.
named_posteriors <- function(posteriors, x) {
  stats::setNames(lapply(posteriors, function(posterior) {
    colnames(posterior) <- x$categories
    posterior
  }), x$systems)
}

new_model_estimate <- function(fit, estimate, options) {
  systems <- lapply(estimate, function(value) {
    list(
      estimate = value, cases = NA_real_, uninformative = NA_real_, mean_posterior = NA_real_,
      bins = no_bins
    )
  })
  new_accuracy_estimate(fit, systems, options)
}

no_bins <- data.frame(
  lower = double(), upper = double(), probability = double(), cases = double(),
  agreement = double(), estimate_raw = double(), estimate = double()
)

warn_convergence <- function(what) {
  warn_fallible("no_convergence", c(
    "The {what} fit did not converge.",
    "i" = "Its numbers are those of the last iteration. Try a simpler model, or stronger priors."
  ))
}

# Accuracy of systems under laws that users write: the posterior of raters (shared), or of raters
# and system (joint), treated as that of any fit; and the same for resampled cases.

# Both ends are given, whichever is asked for.
family_ends <- function(fit, options, which) {
  ends <- lapply(list(shared = FALSE, independent = TRUE), function(joint) {
    family_point(fit, options, shared_of_posterior, joint, posterior = TRUE)
  })
  point <- ends[[which]]
  point$shared <- ends$shared$value
  point$independent <- ends$independent$value
  point
}

# What is assumed of shared errors is one of the two ends.
family_point <- function(fit, options, rule, joint = FALSE, posterior = FALSE, bins = NULL) {
  abort_argument_if(!is.null(options$common) && !identical(options$common, "none"), "common",
    "{.arg common} is not for families of models.",
    i = "Use methods {.val joint} and {.val shared}, the two ends of the range.", call = NULL)
  if (fit$identified != "yes") {
    lacking <- rep(NA_real_, length(fit$x$systems))
    reason <- if (fit$identified == "parameters") rep(reason_of_fit(fit), length(lacking))
    return(new_point(lacking, reason = reason))
  }
  engines <- family_engines(fit, joint, fit$known$truth)
  beliefs <- function(weight) {
    out <- lapply(engines, moved_posterior, weight = weight)
    if (joint) out else rep(out, length(fit$x$systems))
  }
  point <- posterior_point(fit, options, rule, beliefs, posterior, bins)
  lost <- !vapply(engines, `[[`, NA, "identified")
  if (joint && any(lost)) {
    point$value[lost] <- NA_real_
    reason <- reason_of_parameters(fit$model, length(fit$x$categories))
    point$reason <- ifelse(lost, reason, NA_character_)
  }
  if (!all(vapply(engines, `[[`, NA, "converged"))) warn_convergence(options$method)
  point
}

# That of the raters; or one for each system, which joins them as one more.
family_engines <- function(fit, joint, known = integer()) {
  if (!joint) return(list(family_engine(problem_for(fit, fit$x, known), fit$theta)))
  lapply(seq_along(fit$x$systems), function(system) {
    base <- formula_design(fit$model$base_rates, pattern_covariates(fit$x), fit$known$base)
    problem <- family_problem_of(fit$x, fit$model, base, fit$known$truth, system)
    identified <- identifies_parameters(problem)
    top <- if (identified) maximise_family(problem)
    family_engine(
      problem, top$theta %||% problem$start, identified, top$converged %||% TRUE, top$inverse
    )
  })
}

# What moves the parameters to where other weights of patterns pull them.
family_engine <- function(problem, theta, identified = TRUE, converged = TRUE, inverse = NULL) {
  list(
    problem = problem, theta = theta, identified = identified, converged = converged,
    inverse = inverse, counted = problem$data$weight > 0, pull = rlang::env(value = NULL)
  )
}

# Patterns x categories.
moved_posterior <- function(engine, weight) {
  problem <- engine$problem
  theta <- engine$theta
  change <- weight * engine$counted - problem$data$weight
  if (any(change != 0)) {
    # Parameters x patterns: how far a weight of one more would move the parameters. Only a
    # bootstrap asks for it.
    engine$pull$value <- engine$pull$value %||% {
      inverse <- engine$inverse %||% inverse_curvature(problem, theta)
      unclass(inverse) %*% t(pattern_scores(problem, theta))
    }
    theta <- theta + drop(engine$pull$value %*% change)
  }
  posterior_of_categories(problem, expect(problem, theta)$posterior)
}

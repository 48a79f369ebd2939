# Accuracy of systems under laws that users write: the posterior of raters (shared), or of raters
# and system (joint), treated as that of any fit; and the same for resampled cases.

# Both ends are given, whichever is asked for.
family_ends <- function(fit, options, which) {
  ends <- lapply(list(shared = FALSE, independent = TRUE), function(joint) {
    family_point(fit, options, shared_of_posterior, joint, posterior = TRUE)
  })
  replace(ends[[which]], names(ends), lapply(ends, `[[`, "value"))
}

# What is assumed of shared errors is one of the two ends.
family_point <- function(fit, options, rule, joint = FALSE, posterior = FALSE, bins = NULL) {
  abort_argument_if(!is.null(options$common) && !identical(options$common, "none"), "common",
    "{.arg common} is not for families of models.",
    i = "Use methods {.val joint} and {.val shared}, the two ends of the range.", call = NULL)
  x <- fit$x
  systems <- seq_along(x$systems)
  if (fit$identified != "yes") {
    reason <- if (fit$identified == "parameters") rep(reason_of_fit(fit), length(systems))
    return(new_point(rep(NA_real_, length(systems)), reason = reason))
  }
  problems <- if (joint) {
    lapply(systems, function(system) {
      problem <- family_problem(x, fit$model, fit$known$truth, system, fit$known$base)
      if (identifies_parameters(problem)) maximise_family(problem) else
        c(problem, list(lost = TRUE))
    })
  } else {
    list(problem_for(fit, x, fit$known$truth))
  }
  judges <- lapply(problems, moved_posterior)
  beliefs <- function(weight) {
    rep_len(lapply(judges, function(judge) judge(weight)), length(systems))
  }
  point <- posterior_point(fit, options, rule, beliefs, posterior, bins)
  lost <- lengths(lapply(problems, `[[`, "lost")) > 0L
  if (any(lost)) {
    point$value[lost] <- NA_real_
    reason <- reason_of_parameters(fit$model, length(x$categories))
    point$reason <- ifelse(lost, reason, NA_character_)
  }
  if (any(vapply(problems, function(p) isFALSE(p$converged), NA))) warn_convergence(options$method)
  point
}

# A function of weights of patterns: the posterior where these weights pull the parameters.
moved_posterior <- function(problem) {
  theta <- problem$theta
  # Parameters x patterns: how far a weight of one more would move the parameters. Only a bootstrap
  # asks for it.
  delayedAssign("pull", (problem$inverse %||% inverse_curvature(problem, theta)) %*%
    t(pattern_scores(problem, theta)))
  function(weight) {
    change <- (weight - problem$weight) * (problem$weight > 0)
    if (any(change != 0)) theta <- theta + drop(pull %*% change)
    expect(problem, theta)$posterior
  }
}

# Profile intervals of joint estimates; the mathematics is in src/core/latent_profile.cpp.

check_profile <- function(options, call) {
  if (options$interval == "profile" && options$method != "joint") {
    abort_fallible("argument", c(
      "{.code interval = \"profile\"} needs a likelihood in which the system has a parameter.",
      "x" = "{.arg method} is {.val {options$method}}.",
      "i" = "Use {.code method = \"joint\"}, or {.code interval = \"bootstrap\"}."
    ), arg = "interval", call = call)
  }
}

add_profile <- function(estimate) {
  fit <- estimate$fit
  if (fit$model$errors == "free") {
    return(without_interval(estimate, paste(
      "accuracy is not one parameter of the", format(fit$model), "(use interval = \"bootstrap\")"
    )))
  }
  if (fit$method == "pairs") {
    return(without_interval(estimate, "a fit to pairs of ratings has no likelihood"))
  }
  if (!weights_are_counts(fit$x)) {
    return(without_interval(estimate, "weights are not counts, so the likelihood has no scale"))
  }
  known <- !is.na(estimate$table$estimate)
  if (!any(known)) {
    return(estimate)
  }
  bar <- progress_bar("Profiles", length(known))
  deviance <- stats::qchisq(estimate$options$conf_level, 1)
  ends <- core_latent_profile(
    fit$x$patterns, pattern_weights(fit$x), fit$known, unclass(fit$model), deviance,
    estimate$options$threads, bar$tick
  )
  bar$close()
  found <- known & ends$converged
  estimate$table$conf.low[found] <- ends$low[found]
  estimate$table$conf.high[found] <- ends$high[found]
  # Curvature would have nothing to say where another parameter lies on its boundary.
  estimate$table$std.error[found] <- ((ends$high - ends$low) / (2 * sqrt(deviance)))[found]
  estimate$table$reason[known & !found] <- paste0(no_interval, "a fit did not converge")
  if (any(known & !found)) warn_convergence("profile")
  estimate
}

# Profile intervals of joint estimates; for the mathematics see profile_interval.cpp in the core.

interval_profile <- new_interval(
  "profile",
  likelihood = TRUE, clusters = FALSE, uncounted = "so the likelihood has no scale",
  find = function(draft, table) profile_interval(draft, table),
  note = function(estimate) "sampling error alone, from the log posterior.",
  explain = "The {interval} is from the profile of the log posterior; it covers sampling error
    only."
)

profile_interval <- function(draft, table) {
  why <- lack_of_profile(draft$fit)
  if (!is.null(why)) return(new_interval_found(without_interval(table, why)))
  known <- !is.na(table$estimate)
  bar <- progress_bar("Profiles", length(known))
  deviance <- stats::qchisq(draft$options$conf_level, 1)
  ends <- profile_ends(draft$fit, deviance, draft$options$threads, bar$tick)
  bar$close()
  # The climb to the estimate ended below another top.
  if (any(known & ends$moved) && is.null(draft$options$deviance)) {
    better <- draft_estimate(draft$fit, c(draft$options, deviance = deviance))
    found <- profile_interval(better, result_table(better$point$value, reason = better$reason))
    return(c(found, list(draft = better)))
  }
  found <- known & ends$converged
  table$conf.low[found] <- ends$low[found]
  table$conf.high[found] <- ends$high[found]
  # Curvature would have nothing to say where another parameter lies on its boundary.
  table$std.error[found] <- ((ends$high - ends$low) / (2 * sqrt(deviance)))[found]
  table$reason[known & !found] <- paste0(no_interval, "a fit did not converge")
  if (any(known & !found)) warn_convergence("profile")
  new_interval_found(table)
}

lack_of_profile <- function(fit) {
  if (is_pooled(fit$model)) {
    paste0(
      "the prior of the ", format(fit$model), " is estimated from the same ratings (use ",
      "prior = \"none\", or interval = \"bootstrap\")"
    )
  } else if (fit$method == "pairs") {
    "a fit to pairs of ratings has no likelihood"
  }
}

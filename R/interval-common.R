# Bootstrap of an accuracy estimate, over cases or clusters of cases: standard errors, percentile
# intervals, and reasons why there is no interval.

bootstrap_replicates <- function(estimator, fit, options, quantity = "accuracy") {
  check_memory(
    as.double(options$replicates) * n_systems(fit$x), "replicates of estimates",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  bar <- progress_bar("Bootstrap", options$replicates)
  settings <- resampling(fit$x, options, inherits(estimator, "case_estimator"))
  out <- replicates_of(estimator, quantity, settings, bar$tick)
  bar$close()
  structure(out, seed = settings$seed)
}

# Replicates of another method (`stand_in`), for the correlation of systems (or categories). They
# use the resampled cases of the estimate's replicates. If the estimate has none, the seed is
# computed from the ratings: results for one estimate are reproducible, and other data have another
# seed.
stand_in_replicates <- function(estimate, quantity) {
  fit <- estimate$fit
  options <- estimate$options
  options$seed <- attr(estimate$replicates, "seed") %||% seed_of(fit$x)
  method <- method_of(estimate)
  if (!is.null(options$record)) {
    return(bootstrap_replicates(function_estimator(fit$x, method$run), fit, options, quantity))
  }
  uses_stand_in <- has_stand_in(estimate)
  method <- accuracy_methods[[method$stand_in]]
  accuracy <- quantity == "accuracy"
  if (accuracy && uses_stand_in && n_systems(fit$x) <= many_systems) {
    options$replicates <- max(options$replicates, paired_replicates)
  }
  estimator <- if (accuracy) {
    replicating_estimator(fit, method, options, uses_stand_in)
  } else {
    make_estimator(fit, method, options)
  }
  back <- estimate$details$common
  if (!uses_stand_in && !is.null(method$common) && is_corrected(back)) {
    estimator <- mixed_estimator(estimator, make_estimator(fit, method_shared, options), back)
  }
  bootstrap_replicates(estimator, fit, options, quantity)
}

seed_of <- function(x) {
  weight <- sort(pattern_weights(x)) # does not depend on the order of cases
  place <- seq_along(weight) %% 997
  as.integer(c(sum(weight * place), sum(weight * place^2)) %% .Machine$integer.max)
}

# Enough replicates for precise correlations of systems; no model is refitted for them.
paired_replicates <- 2000L

# Remote workers compute blocks of replicates. On one machine threads are faster and need no refit.
count_pieces <- function(replicates) {
  if (has_remote_workers()) min(future::nbrOfWorkers(), replicates %/% 10L) else 1L
}

# A pointer is not valid on a worker, which creates the estimator again from its arguments. Every
# replicate has a separate random stream, whichever worker draws it.
replicates_in_pieces <- function(estimator, quantity, resampling, tick,
                                 pieces = count_pieces(resampling$replicates)) {
  if (pieces <= 1L) return(core_replicates(estimator, quantity, resampling, tick))
  made_of <- attr(estimator, "made_of")
  rm(estimator, tick) # not valid in other processes
  ends <- round(seq(0, resampling$replicates, length.out = pieces + 1L))
  tasks <- Map(function(first, replicates) {
    resampling[c("first", "replicates")] <- list(first, replicates)
    force(quantity)
    function() core_replicates(do.call(make_estimator, made_of), quantity, resampling, no_tick)
  }, ends[-length(ends)], diff(ends))
  names <- paste0("replicates ", ends[-length(ends)] + 1, " to ", ends[-1L])
  stack_rows(run_pieces(tasks, names))
}

bootstrap_interval <- function(draft, table) {
  options <- draft$options
  replicates <- na_real(bootstrap_replicates(draft$point$estimator, draft$fit, options))
  intervals <- core_percentile_intervals(replicates, options$conf_level, method_of(draft)$iterated)
  known <- !is.na(table$estimate)
  warn_failed(
    draft$fit$x$systems[known], colMeans(is.na(replicates))[known], options$conf_level,
    if (is.null(options$record)) "Raters agree too little for so few cases."
  )
  table <- add_intervals(table, intervals)
  within <- replace(table, "estimate", list(pmin(table$estimate, 1))) # limits are also at most 1
  warn_outside(draft$fit$x$systems, within, 'Use {.code "profile"} or {.code "robust"}.')
  new_interval_found(table, replicates)
}

bootstrap_note <- function(x) {
  failed <- range(x$details$failed)
  paste0(
    "sampling error alone; ", resampling_note(x), ", ",
    number(x$options$replicates), " replicates",
    if (failed[[2L]] > 0L) {
      paste0(
        ", ", paste(unique(failed), collapse = " to "), " of them without an estimate",
        if (failed[[2L]] > (1 - x$options$conf_level) / 2 * x$options$replicates) " (too short)"
      )
    }
  )
}

# Percentiles of replicates from resampled cases or clusters.
interval_bootstrap <- new_interval(
  "bootstrap",
  spread = "percentile", compiled = TRUE, own_fit = TRUE,
  uncounted = "so there are no cases to resample",
  find = bootstrap_interval, draws = function(estimate, replicates) replicates,
  note = bootstrap_note,
  explain = function(estimate) {
    paste(
      "The {interval} is from percentiles of", number(estimate$options$replicates),
      "bootstrap samples of", if (!is.null(estimate$options$cluster)) "clusters of",
      "cases (Efron and Tibshirani 1993); it covers sampling error only."
    )
  }
)

# Quantiles of posterior draws of accuracy; see accuracy-draws.R.

# Note on the sources of error that the interval contains.
posterior_note <- function(x) {
  if (x$drawn_gold > 0L) {
    return(paste0("quantiles of posterior draws, weighted by ",
      count_noun(x$drawn_gold, "case"), " with known truth"))
  }
  parts <- colMeans(x$parts)
  share <- paste0(round(100 * parts / sum(parts)), "%")
  if (is.null(x$options$common) || is_stated(x$options)) {
    return("quantiles of posterior draws; sampling error alone, given what is assumed")
  }
  paste0(
    "quantiles of posterior draws. Of its variance ", share[[1L]], " is sampling, ",
    share[[2L]], " shared errors and ", share[[3L]],
    " cases that deceive all; the ratings cannot change the last two"
  )
}

interval_posterior <- new_interval(
  "posterior",
  words = "posterior interval", spread = "percentile", drawn = TRUE, clusters = FALSE,
  uncounted = "so there are no cases to draw the truth of",
  find = function(draft, table) new_interval_found(table),
  draws = interval_bootstrap$draws, note = posterior_note,
  explain = function(estimate) {
    paste0("The {interval}s are quantiles of draws from the posterior",
      if (!is_stated(estimate$options)) {
        ", in which the errors that systems share with raters have a prior"
      }, ".")
  }
)

# Profile intervals of joint estimates; the formulas are in profile_interval.cpp in the core.

profile_interval <- function(draft, table) {
  fit <- draft$fit
  options <- draft$options
  why <- why_no_profile(fit)
  if (!is.null(why)) return(new_interval_found(without_interval(table, why)))
  known <- !is.na(table$estimate)
  bar <- progress_bar("Profiles", length(known))
  deviance <- stats::qchisq(options$conf_level, 1)
  # For each system: the ends of the profile of its accuracy in a joint fit; whether all fits
  # converged; and whether the profile `moved` to a higher maximum than that of the fit, around
  # which it then is.
  ends <- core_latent_profile(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_for(fit$model, fit$x, fit$method),
    deviance, options$threads, bar$tick
  )
  bar$close()
  if (any(known & ends$moved) && is.null(options$deviance)) {
    better <- draft_estimate(fit, c(options, deviance = deviance))
    again <- profile_interval(better, result_table(better$point$value, reason = better$reason))
    return(c(again, list(draft = better)))
  }
  use <- known & ends$converged
  table$conf.low[use] <- ends$low[use]
  table$conf.high[use] <- ends$high[use]
  # The curvature is not informative if another parameter is on its boundary.
  table$std.error[use] <- ((ends$high - ends$low) / (2 * sqrt(deviance)))[use]
  failed <- known & !use
  table$reason[failed] <- paste0(no_interval, "a fit did not converge")
  if (any(failed)) warn_convergence("profile")
  new_interval_found(table)
}

why_no_profile <- function(fit) {
  if (is_pooled(fit$model)) {
    paste0(
      "the prior of the ", format(fit$model), " is estimated from the same ratings (use ",
      "prior = \"none\", or interval = \"bootstrap\")"
    )
  } else if (fit$method == "pairs") {
    "a fit to pairs of ratings has no likelihood"
  }
}

interval_profile <- new_interval(
  "profile",
  likelihood = TRUE, clusters = FALSE, uncounted = "so the likelihood has no scale",
  find = profile_interval,
  note = function(estimate) "sampling error alone, from the log posterior.",
  explain = "The {interval} is from the profile of the log posterior; it covers sampling error
    only."
)

# Bootstrap of an accuracy estimate, over cases or clusters of cases: standard errors, percentile
# intervals, and reasons why there is no interval.

# Returns estimates for resampled cases (replicates x systems), with the seed as attribute `seed`.
# `estimator`: function of the weights of patterns of ratings, or a pointer to an estimator in the
# core. `quantity`: "accuracy", or "counts" for expected numbers of cases by truth and answer.
bootstrap_replicates <- function(estimator, fit, options, quantity = "accuracy") {
  check_memory(
    as.double(options$replicates) * n_systems(fit$x), "replicates of estimates",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  tick <- progress_bar("Bootstrap", options$replicates)$tick
  settings <- resampling(fit$x, options, inherits(estimator, "case_estimator"))
  structure(compute_replicates(estimator, quantity, settings, tick), seed = settings$seed)
}

# Returns bootstrap replicates from which correlations between systems (or between cells of a table)
# are computed. If refitting is slow, the method has a faster substitute, its field `stand_in`,
# whose replicates are used. Cases are resampled with the seed of the estimate's replicates. If the
# estimate has no replicates, the seed is computed from the ratings, so that results are
# reproducible. `quantity`: see bootstrap_replicates().
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
  for_accuracy <- quantity == "accuracy"
  if (for_accuracy && uses_stand_in && n_systems(fit$x) <= many_systems) {
    options$replicates <- max(options$replicates, paired_replicates)
  }
  estimator <- if (for_accuracy) replicating_estimator(fit, method, options, uses_stand_in) else
    make_estimator(fit, method, options)
  if (!uses_stand_in && !is.null(method$common)) {
    estimator <- mixed_estimator(estimator, make_estimator(fit, method_shared, options),
      estimate$details$common)
  }
  bootstrap_replicates(estimator, fit, options, quantity)
}

# Returns a seed for random numbers, computed from the numbers of cases of each pattern of ratings.
seed_of <- function(x) {
  weight <- sort(pattern_weights(x)) # does not depend on the order of cases
  multiplier <- seq_along(weight) %% 997
  as.integer(c(sum(weight * multiplier), sum(weight * multiplier^2)) %% .Machine$integer.max)
}

# Smallest number of replicates for correlations of systems, if they are from a substitute method
# (`stand_in`), which is fast because its replicates are first-order approximations.
paired_replicates <- 2000L

# Returns the number of blocks into which replicates are divided: one per remote worker (package
# future), with at least 10 replicates each. On one machine it is 1, because threads of the core are
# faster than workers.
count_blocks <- function(n_replicates) {
  if (has_remote_workers()) min(future::nbrOfWorkers(), n_replicates %/% 10L) else 1L
}

# Computes replicates in blocks, one per worker. The estimator is a pointer to memory, which is not
# valid in other processes, so each worker creates it again from its arguments. Every replicate has
# a separate random stream, so that results do not depend on the number of workers.
replicates_in_blocks <- function(estimator, quantity, resampling, tick,
                                 n_blocks = count_blocks(resampling$replicates)) {
  if (n_blocks <= 1L) return(core_replicates(estimator, quantity, resampling, tick))
  estimator_arguments <- attr(estimator, "made_of") # arguments of make_estimator()
  rm(estimator, tick) # not valid in other processes
  block_ends <- round(seq(0, resampling$replicates, length.out = n_blocks + 1L))
  tasks <- Map(function(first, replicates) {
    resampling[c("first", "replicates")] <- list(first, replicates)
    force(quantity)
    function() {
      core_replicates(do.call(make_estimator, estimator_arguments), quantity, resampling, no_tick)
    }
  }, block_ends[-length(block_ends)], diff(block_ends))
  block_names <- paste0("replicates ", block_ends[-length(block_ends)] + 1, " to ", block_ends[-1L])
  stack_rows(run_pieces(tasks, block_names))
}

# Adds bootstrap percentile intervals and standard errors to `table`, and returns it together with
# the replicates. `draft`: an estimate without interval, see draft_estimate().
bootstrap_interval <- function(draft, table) {
  options <- draft$options
  replicates <- na_real(bootstrap_replicates(draft$point$estimator, draft$fit, options))
  intervals <- core_percentile_intervals(replicates, options$conf_level, method_of(draft)$iterated)
  known <- !is.na(table$estimate)
  warn_failed(
    draft$fit$x$systems[known], colMeans(is.na(replicates))[known], options$conf_level,
    if (is.null(options$record)) "The agreement of raters is too low for this number of cases."
  )
  table <- add_intervals(table, intervals)
  # Limits are at most 1, so an unclipped estimate above 1 is compared with them as 1.
  limited_table <- replace(table, "estimate", list(pmin(table$estimate, 1)))
  warn_outside(draft$fit$x$systems, limited_table,
    'Use {.code interval = "profile"} or {.code interval = "robust"}.')
  new_interval_found(table, replicates)
}

# Returns the note on the interval for print(): what was resampled, and how many replicates have no
# estimate. If there are more of them than replicates outside the interval on one side, the note
# says that the interval is too narrow. `x`: an accuracy estimate.
bootstrap_note <- function(x) {
  most_failed <- max(x$details$failed)
  paste0(
    "sampling error only; ", replicates_note(x),
    if (most_failed > 0L) paste0(
      ", ", span_words(x$details$failed), " of them without an estimate",
      if (most_failed > (1 - x$options$conf_level) / 2 * x$options$replicates)
        " (too narrow)"
    )
  )
}

# Returns words such as "case bootstrap, 200 replicates".
replicates_note <- function(x) {
  paste0(resampling_note(x), ", ", number(x$options$replicates), " replicates")
}

# Record of the bootstrap interval: percentiles of replicates from resampled cases or clusters.
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

# ---- Posterior intervals: quantiles of posterior draws, see accuracy-draws.R --------------------

# Returns the note on the interval for print(): the sources of error, with their shares of the
# variance (`x$parts`: systems x sources). `x`: an accuracy estimate from posterior draws.
posterior_note <- function(x) {
  if (!is.null(x$drawn_gold)) {
    return(paste0("quantiles of posterior draws, weighted by ",
      count_noun(length(x$drawn_gold$case), "case"), " with known truth"))
  }
  parts <- colMeans(x$parts)
  percent <- paste0(round(100 * parts / sum(parts)), "%")
  if (is.null(x$options$common) || has_fixed_common(x$options)) {
    return("quantiles of posterior draws; sampling error only, given the assumption")
  }
  sprintf(
    paste("quantiles of posterior draws. Of its variance %s is sampling, %s shared errors and %s",
      "cases on which all raters err; the ratings cannot reduce the last two"),
    percent[[1L]], percent[[2L]], percent[[3L]]
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
      if (!has_fixed_common(estimate$options)) {
        ", in which the errors that systems share with raters have a prior"
      }, ".")
  }
)

# ---- Profile intervals of joint estimates; formulas are in profile_interval.cpp in the core -----

# Adds profile likelihood intervals to `table`. `draft`: an estimate without interval, see
# draft_estimate(). If the search finds a higher maximum of the likelihood than the estimate, the
# estimate is computed again, and the result also contains it, as `draft`.
profile_interval <- function(draft, table) {
  fit <- draft$fit
  options <- draft$options
  no_profile <- if (is_pooled(fit$model)) {
    paste0(
      "the prior of the ", format(fit$model), " is estimated from the same ratings (use ",
      "prior = \"none\", or interval = \"bootstrap\")"
    )
  } else if (fit$method == "pairs") {
    "a fit to pairs of ratings has no likelihood"
  }
  if (!is.null(no_profile)) return(new_interval_found(without_interval(table, no_profile)))
  # A system that gives all cases the same answer has no accuracy parameter (see latent.cpp).
  is_constant <- !is.na(table$estimate) &
    apply(pattern_answers(fit$x), 2L, function(x) n_distinct(x[x > 0L]) < 2L)
  known <- !is.na(table$estimate) & !is_constant
  deviance <- qchisq(options$conf_level, 1)
  # Fields, with an element per system: `low` and `high`, limits of the profile interval;
  # `converged`, did all fits along the profile converge? `moved`, was a higher maximum found than
  # the fit? The profile is then around that maximum.
  profile <- core_latent_profile(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_for(fit$model, fit$x, fit$method),
    deviance, options$threads, progress_bar("Profiles", length(known))$tick
  )
  if (any(known & profile$moved) && is.null(options$deviance)) {
    better <- draft_estimate(fit, c(options, deviance = deviance))
    table <- result_table(better$point$value, reason = better$reason)
    return(c(profile_interval(better, table), list(draft = better)))
  }
  is_usable <- known & profile$converged
  table$conf.low[is_usable] <- profile$low[is_usable]
  table$conf.high[is_usable] <- profile$high[is_usable]
  # The standard error is computed from the width of the interval. The curvature at the maximum is
  # not used, because it is wrong if another parameter is on its boundary.
  table$std.error <- (table$conf.high - table$conf.low) / (2 * sqrt(deviance))
  failed <- known & !is_usable
  table$reason[failed] <- paste0(no_interval, "a fit did not converge")
  table$reason[is_constant] <- paste0(no_interval, reason_constant_system)
  if (any(failed)) warn_convergence("profile")
  new_interval_found(table)
}

reason_constant_system <- "the system gives all cases the same answer"

interval_profile <- new_interval(
  "profile",
  likelihood = TRUE, clusters = FALSE, uncounted = "so the likelihood has no scale",
  find = profile_interval,
  note = function(estimate) "sampling error only, from the log posterior.",
  explain = "The {interval} is from the profile of the log posterior; it covers sampling error
    only."
)

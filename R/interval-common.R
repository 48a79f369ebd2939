# This file computes bootstrap intervals, posterior intervals and profile intervals of accuracy. The
# bootstrap resamples cases, or clusters of cases. A "pattern" is a group of cases with the same
# ratings.

# Returns estimates for resampled cases (replicates x systems), with the seed as attribute `seed`.
# * estimator: function of the weights of patterns, or a pointer to an estimator in compiled code
# * quantity: "accuracy", or "counts" for expected numbers of cases by truth and answer
bootstrap_replicates <- function(estimator, fit, options, quantity = "accuracy") {
  check_memory(
    as.double(options$replicates) * n_systems(fit$x), "replicates of estimates",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  tick <- progress_bar("Bootstrap", options$replicates)$tick
  resampling_settings <- resampling(fit$x, options, inherits(estimator, "case_estimator"))
  structure(
    compute_replicates(estimator, quantity, resampling_settings, tick),
    seed = resampling_settings$seed
  )
}

# Returns bootstrap replicates, from which correlations between systems, or between cells of the
# joint table of truth and answer, are computed. `quantity`: see bootstrap_replicates().
stand_in_replicates <- function(estimate, quantity) {
  fit <- estimate$fit
  options <- estimate$options
  # If the estimate has no replicates, and therefore no seed, a seed is computed from the ratings,
  # so that results are reproducible.
  options$seed <- attr(estimate$replicates, "seed") %||% compute_seed(fit$x)
  method <- method_of(estimate)
  if (!is.null(options$method_record)) {
    return(bootstrap_replicates(new_function_estimator(fit$x, method$run), fit, options, quantity))
  }
  # If refits by the method are slow, its field `stand_in` contains the name of a faster method.
  uses_stand_in <- has_stand_in(estimate)
  method <- accuracy_methods[[method$stand_in]]
  is_accuracy <- quantity == "accuracy"
  if (is_accuracy && uses_stand_in && n_systems(fit$x) <= max_refitted_systems) {
    options$replicates <- max(options$replicates, min_stand_in_replicates)
  }
  estimator <- if (is_accuracy) make_replicating_estimator(fit, method, options, uses_stand_in) else
    make_estimator(fit, method, options)
  if (!uses_stand_in && !is.null(method$common)) {
    estimator <- combine_estimators(estimator, make_estimator(fit, method_shared, options),
      estimate$details$common)
  }
  bootstrap_replicates(estimator, fit, options, quantity)
}

# Returns a seed for random numbers, computed from the number of cases of each pattern of ratings.
compute_seed <- function(x) {
  sorted_weights <- sort(pattern_weights(x)) # does not depend on the order of cases
  multipliers <- seq_along(sorted_weights) %% 997
  as.integer(
    c(sum(sorted_weights * multipliers), sum(sorted_weights * multipliers^2)) %%
      .Machine$integer.max
  )
}

# Smallest number of replicates for correlations of systems, if a substitute method (`stand_in`) is
# used. The substitute is fast, because its replicates are first-order approximations.
min_stand_in_replicates <- 2000L

# Returns the number of blocks into which replicates are divided. Each remote worker (package
# future) computes one block of at least 10 replicates. Without remote workers the number is 1,
# because threads of compiled code are faster than workers.
count_blocks <- function(n_replicates) {
  if (has_remote_workers()) min(future::nbrOfWorkers(), n_replicates %/% 10L) else 1L
}

# Computes replicates in blocks, one per worker. The estimator is a pointer to memory, which is not
# valid in other processes. Each worker therefore creates the estimator again from its arguments.
# Every replicate has a separate random stream, so that results do not depend on the number of
# workers.
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
  }, head(block_ends, -1L), diff(block_ends))
  block_names <- paste0("replicates ", head(block_ends, -1L) + 1, " to ", block_ends[-1L])
  stack_rows(run_tasks_in_workers(tasks, block_names))
}

# Adds bootstrap percentile intervals and standard errors to `table`. Returns a list of `table` and
# `replicates`. `draft`: an estimate without interval, see draft_estimate().
bootstrap_interval <- function(draft, table) {
  options <- draft$options
  systems <- draft$fit$x$systems
  replicates <- na_real(bootstrap_replicates(draft$point$estimator, draft$fit, options))
  intervals <- core_percentile_intervals(replicates, options$conf_level, method_of(draft)$iterated)
  is_estimated <- !is.na(table$estimate)
  warn_failed_replicates(
    systems[is_estimated], colMeans(is.na(replicates))[is_estimated],
    options$conf_level,
    if (is.null(options$method_record))
      "The agreement of raters is too low for this number of cases."
  )
  table <- add_intervals(table, intervals)
  # An unclipped estimate may be above 1, but limits are at most 1. Estimates above 1 are therefore
  # replaced by 1 before they are compared with the limits.
  capped_table <- replace(table, "estimate", list(pmin(table$estimate, 1)))
  warn_outside(systems, capped_table,
    'Use {.code interval = "profile"} or {.code interval = "robust"}.')
  list(table = table, replicates = replicates)
}

# Record of the bootstrap interval: percentiles of replicates from resampled cases or clusters.
interval_bootstrap <- new_interval(
  "bootstrap",
  spread = "percentile", compiled = TRUE, own_fit = TRUE,
  uncounted = "so there are no cases to resample",
  find = bootstrap_interval, draws = function(estimate, replicates) replicates,
  # The note describes what was resampled, and how many replicates gave no estimate. The words "too
  # narrow" are added if the share of replicates without an estimate exceeds (1 - conf_level) / 2.
  note = function(estimate) {
    n_failed <- estimate$details$failed
    paste0(
      "sampling error only; ", replicates_note(estimate),
      if (max(n_failed) > 0L) paste0(
        ", ", format_span(n_failed), " of them without an estimate",
        if (max(n_failed) > (1 - estimate$options$conf_level) / 2 * estimate$options$replicates)
          " (too narrow)"
      )
    )
  },
  explain = function(estimate) {
    paste(
      "The {interval} is from percentiles of", number(estimate$options$replicates),
      "bootstrap samples of", if (!is.null(estimate$options$cluster)) "clusters of",
      "cases (Efron and Tibshirani 1993); it covers sampling error only."
    )
  }
)

# ---- Posterior intervals: quantiles of posterior draws, see accuracy-draws.R --------------------

interval_posterior <- new_interval(
  "posterior",
  words = "posterior interval", spread = "percentile", drawn = TRUE, clusters = FALSE,
  uncounted = "so there are no cases to draw the truth of",
  find = function(draft, table) list(table = table),
  draws = interval_bootstrap$draws,
  # The note contains the percentages of three parts of the variance: sampling error, shared errors,
  # and cases on which all raters err. `estimate$parts`: variances (systems x parts).
  note = function(estimate) {
    if (!is.null(estimate$drawn_gold)) {
      return(paste0("quantiles of posterior draws, weighted by ",
        count_noun(length(estimate$drawn_gold$case), "case"), " with known truth"))
    }
    if (is.null(estimate$options$common) || has_fixed_common(estimate)) {
      return("quantiles of posterior draws; sampling error only, given the assumption")
    }
    mean_variances <- colMeans(estimate$parts)
    percentages <- paste0(round(100 * mean_variances / sum(mean_variances)), "%")
    sprintf(
      paste("quantiles of posterior draws. Of its variance %s is sampling, %s shared errors and %s",
        "cases on which all raters err; the ratings cannot reduce the last two"),
      percentages[[1L]], percentages[[2L]], percentages[[3L]]
    )
  },
  explain = function(estimate) {
    paste0("The {interval}s are quantiles of draws from the posterior",
      if (!has_fixed_common(estimate)) {
        ", in which the errors that systems share with raters have a prior"
      }, ".")
  }
)

# ---- Profile intervals of joint estimates; formulas are in profile_interval.cpp in the core -----

# Adds profile likelihood intervals to `table`. `draft`: an estimate without interval, see
# draft_estimate(). Returns a list of `table` and, if the draft was improved, the new `draft`.
profile_interval <- function(draft, table) {
  fit <- draft$fit
  ratings <- fit$x
  options <- draft$options
  no_profile_reason <- if (is_pooled(fit$model)) {
    paste0(
      "the prior of the ", format(fit$model), " is estimated from the same ratings (use ",
      "prior = \"none\", or interval = \"bootstrap\")"
    )
  } else if (fit$method == "pairs") {
    "a fit to pairs of ratings has no likelihood"
  } else if (!all(common_setting(options) %in% c("none", "0"))) {
    paste0(
      "a profile is for independent errors, but `common` moves the estimate (use ",
      "interval = \"robust\")"
    )
  }
  if (!is.null(no_profile_reason)) {
    return(list(table = add_no_interval_reason(table, no_profile_reason)))
  }
  # A system that gives all cases the same answer has no accuracy parameter (see latent.cpp).
  is_constant <- !is.na(table$estimate) &
    apply(pattern_answers(ratings), 2L, function(answer) n_distinct(answer[answer > 0L]) < 2L)
  is_estimated <- !is.na(table$estimate) & !is_constant
  max_deviance <- qchisq(options$conf_level, 1)
  # Fields of `profile`, with an element per system:
  # * low, high: limits of the profile interval
  # * converged: did all fits along the profile converge?
  # * moved: was a higher maximum of the likelihood found? The profile is then around this maximum
  profile <- core_latent_profile(
    ratings$patterns, pattern_weights(ratings), fit$known,
    model_for_core(fit$model, ratings, fit$method), max_deviance, options$threads,
    progress_bar("Profiles", length(is_estimated))$tick
  )
  # If a higher maximum of the likelihood was found, the estimate is computed again from it.
  if (any(is_estimated & profile$moved) && is.null(options$deviance)) {
    better_draft <- draft_estimate(fit, c(options, deviance = max_deviance))
    table <- result_table(better_draft$point$value, reason = better_draft$reason)
    return(c(profile_interval(better_draft, table), list(draft = better_draft)))
  }
  is_usable <- is_estimated & profile$converged
  table$conf.low[is_usable] <- profile$low[is_usable]
  table$conf.high[is_usable] <- profile$high[is_usable]
  # The standard error is computed from the width of the interval. A standard error from the
  # curvature at the maximum would be wrong if another parameter is on its boundary.
  table$std.error <- (table$conf.high - table$conf.low) / (2 * sqrt(max_deviance))
  has_failed <- is_estimated & !is_usable
  table$reason[has_failed] <- paste0(no_interval_prefix, "a fit did not converge")
  table$reason[is_constant] <- paste0(no_interval_prefix, reason_constant_system)
  if (any(has_failed)) warn_convergence("profile")
  list(table = table)
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

# Returns words for the quantity of an interval, such as "accuracy in the population; gold in 12
# clusters". `n_clusters`: number of clusters, or NULL. `quantity_words`: "accuracy in the ", for
# example.
describe_gold_quantity <- function(settings, n_clusters, quantity_words) {
  paste0(
    quantity_words, settings$target,
    if (!is.null(n_clusters)) paste0("; gold in ", count_noun(n_clusters, "cluster"))
  )
}

# Returns the number of clusters that contain gold cases; NULL without clusters.
count_gold_clusters <- function(estimate) {
  cluster <- estimate$options$cluster
  if (!is.null(cluster)) n_distinct(cluster[estimate$gold$case])
}

# Estimates, from gold cases, the share of the raters' errors that a system shares. Returns this
# share and the limits of its interval, limited to [0, 1]. All are NA if the whole interval is
# outside [0, 1].
# * interval: accuracies estimated from gold cases, a result of corrected_interval()
# * independent: accuracies computed from ratings, if errors are independent (share 0)
# * shared: accuracies computed from ratings, if all errors are shared (share 1)
estimate_common_share <- function(interval, independent, shared) {
  distance <- independent - shared
  distance[abs(distance) < 1e-6] <- NA_real_
  compute_share <- function(accuracy) (independent - accuracy) / distance
  shares_at_limits <- lapply(interval[limit_columns], compute_share)
  lower_limits <- Reduce(pmin, shares_at_limits)
  upper_limits <- Reduce(pmax, shares_at_limits)
  is_outside <- (lower_limits > 1 | upper_limits < 0) %in% TRUE
  shares <- list(
    common = compute_share(interval$estimate), common.low = lower_limits,
    common.high = upper_limits
  )
  lapply(shares, function(share) replace(clip01(share), is_outside, NA_real_))
}

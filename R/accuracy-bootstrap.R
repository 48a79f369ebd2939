# Bootstrap of an accuracy estimate, over cases or clusters of cases: standard errors, percentile
# intervals, and the reasons where there are none.

bootstrap_replicates <- function(estimator, fit, options, what = "accuracy") {
  check_memory(
    as.double(options$replicates) * n_systems(fit$x), "replicates of estimates",
    "Ask for fewer {.arg replicates}, or choose {.arg systems}."
  )
  bar <- progress_bar("Bootstrap", options$replicates)
  unit <- if (inherits(estimator, "case_estimator")) "case" else "pattern"
  drawn <- resampling(fit$x, options, unit)
  out <- replicates_of(estimator, what, drawn, bar$tick)
  bar$close()
  structure(out, seed = drawn$seed)
}

# Replicates by the method that stands in for that of an estimate, to show how its systems (or its
# categories) go together; of the same draws as its own. Of one that drew nothing, ratings give the
# seed: what is made of one estimate does not vary by chance, and other data have other draws.
stand_in_replicates <- function(estimate, what) {
  fit <- estimate$fit
  options <- estimate$options
  options$seed <- attr(estimate$replicates, "seed") %||% seed_of(fit$x)
  method <- method_of(estimate)
  if (!is.null(options$record)) {
    return(bootstrap_replicates(function_estimator(fit$x, method$run), fit, options, what))
  }
  borrowed <- has_stand_in(estimate)
  method <- accuracy_methods()[[method$stand_in]]
  paired <- what == "accuracy" && borrowed
  if (paired && n_systems(fit$x) <= many_systems) {
    options$replicates <- max(options$replicates, paired_replicates)
  }
  estimator <- if (what == "accuracy") {
    replicating_estimator(fit, method, options, paired)
  } else {
    make_estimator(fit, method, options)
  }
  back <- estimate$details$common
  if (!borrowed && !is.null(method$common) && is_corrected(back)) {
    estimator <- mixed_estimator(estimator, make_estimator(fit, method_shared, options), back)
  }
  bootstrap_replicates(estimator, fit, options, what)
}

seed_of <- function(x) {
  weight <- sort(pattern_weights(x)) # whatever the order of cases
  place <- seq_along(weight) %% 997
  as.integer(c(sum(weight * place), sum(weight * place^2)) %% .Machine$integer.max)
}

# So many that correlations of systems do not hang on chance; nothing is fitted anew for them.
paired_replicates <- 2000L

# Other machines take blocks of replicates; on this one threads are quicker, which fit nothing anew.
count_pieces <- function(replicates) {
  if (has_remote_workers()) min(future::nbrOfWorkers(), replicates %/% 10L) else 1L
}

# A pointer means nothing to a worker, which makes the estimator again of what it was made of. Every
# replicate has random numbers of its own, whoever draws it.
replicates_in_pieces <- function(estimator, what, resampling, tick,
                                 pieces = count_pieces(resampling$replicates)) {
  if (pieces <= 1L) return(core_replicates(estimator, what, resampling, tick))
  made_of <- attr(estimator, "made_of")
  rm(estimator, tick) # are of this process
  ends <- round(seq(0, resampling$replicates, length.out = pieces + 1L))
  tasks <- Map(function(first, replicates) {
    resampling[c("first", "replicates")] <- list(first, replicates)
    force(what)
    function() core_replicates(do.call(make_estimator, made_of), what, resampling, no_tick)
  }, ends[-length(ends)], diff(ends))
  names <- paste0("replicates ", ends[-length(ends)] + 1, " to ", ends[-1L])
  stack_rows(run_pieces(tasks, names))
}

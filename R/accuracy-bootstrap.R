# Bootstrap of an accuracy estimate, over cases or clusters of cases: standard errors, percentile
# intervals, and the reasons where there are none.

bootstrap_replicates <- function(estimator, fit, options, what = "accuracy") {
  check_memory(
    as.double(options$replicates) * length(fit$x$systems), "replicates of estimates",
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
  estimate$options$seed <- attr(estimate$replicates, "seed") %||% seed_of(estimate$fit$x)
  if (!is.null(estimate$options$record)) {
    estimator <- function_estimator(estimate$fit$x, method_of(estimate)$run)
    return(bootstrap_replicates(estimator, estimate$fit, estimate$options, what))
  }
  method <- accuracy_methods()[[method_of(estimate)$stand_in]]
  paired <- what == "accuracy" && has_stand_in(estimate)
  if (paired && length(estimate$fit$x$systems) <= many_systems) {
    estimate$options$replicates <- max(estimate$options$replicates, paired_replicates)
  }
  estimator <- if (what == "accuracy") {
    replicating_estimator(estimate$fit, method, estimate$options, paired)
  } else {
    make_estimator(estimate$fit, method, estimate$options)
  }
  back <- estimate$details$common
  if (!has_stand_in(estimate) && !is.null(method$common) && any(back != 0, na.rm = TRUE)) {
    shared <- make_estimator(estimate$fit, method_shared, estimate$options)
    estimator <- mixed_estimator(estimator, shared, back)
  }
  bootstrap_replicates(estimator, estimate$fit, estimate$options, what)
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

# `made_of`: what make_estimator() is to make the estimator of, since a pointer means nothing to a
# worker. Every replicate has random numbers of its own, whoever draws it.
replicates_in_pieces <- function(made_of, what, resampling, pieces) {
  ends <- round(seq(0, resampling$replicates, length.out = pieces + 1L))
  blocks <- lapply(seq_len(pieces), function(i) {
    resampling$first <- ends[[i]]
    resampling$replicates <- ends[[i + 1L]] - ends[[i]]
    resampling
  })
  tasks <- lapply(blocks, replicates_task, made_of = made_of, what = what)
  names <- paste0("replicates ", ends[-length(ends)] + 1, " to ", ends[-1L])
  do.call(rbind, run_pieces(tasks, names))
}

replicates_task <- function(made_of, what, resampling) {
  force(list(made_of, what, resampling))
  function() core_replicates(do.call(make_estimator, made_of), what, resampling, no_tick)
}

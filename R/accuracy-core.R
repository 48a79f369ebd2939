# What is asked of the core about the accuracy of systems, all in this file. An estimator is made
# once for a call of a verb and then tells its estimate and replicates of it: a pointer into the
# core, which means nothing in another session and never becomes a part of a result.

# An estimator by a method of the registry, for what `fit` tells of the raters.
make_estimator <- function(fit, method, options) {
  rule <- rule_of(method, fit$model)
  if (!is.null(rule)) return(rule(fit, options)$estimator)
  of <- estimator_setup(fit, method, options)
  tick <- no_tick
  if (method$model == "own") {
    bar <- progress_bar("Models", 100L)
    on.exit(bar$close())
    tick <- bar$tick
  }
  pointer <- core_estimator(fit$x$patterns, of$weight, of$setup, tick)
  structure(pointer, made_of = list(fit = fit, method = method, options = options))
}

# What the core needs beside patterns.
estimator_setup <- function(fit, method, options) {
  x <- fit$x
  weight <- pattern_weights(x)
  # Weights that are probabilities say how models compare as so many cases would.
  if (method$model == "own" && !weights_are_counts(x) && sum(weight) <= 1 + 1e-9) {
    weight <- many_cases * weight / sum(weight)
  }
  fitting <- if (fit$method == "pairs") "pairs" else "likelihood" # again
  known <- fit$known
  if (method$model != "any") known <- known[c("truth", "raters", "counts")]
  setup <- c(
    list(method = method$id, known = known),
    options[intersect(c("clip", "bin_width", "deviance", "threads"), names(options))],
    if (method$model == "any") list(model = model_for(fit$model, x, fitting), fitting = fitting),
    if (uses_confidence(fit$model)) list(level = rating_levels(x, fit$model)),
    if (method$model == "own") list(
      ordered = x$ordered, common = core_common(options), used = used_categories(x)
    )
  )
  list(weight = weight, setup = setup)
}

# The same, of which replicates are wanted and nothing else; these are of first order if there are
# many systems.
replicating_estimator <- function(fit, method, options, paired = FALSE) {
  linear <- method$likelihood && fit$method != "pairs" && is.null(fit$refit) &&
    is.null(options$deviance) && (paired || n_systems(fit$x) > many_systems)
  if (!linear) return(make_estimator(fit, method, options))
  of <- estimator_setup(fit, method, options)
  structure(c(list(patterns = fit$x$patterns), of), class = "linear_estimator")
}

many_cases <- 1e6
many_systems <- 100L
# The correction for shared errors, of the distance between the ends of the range: "typical", or
# a share.
core_common <- function(options) {
  common <- common_of(options)
  if (is.character(common)) switch(common, none = 0, all = 1, common) else common
}

# What it says of the data. systems: a list per system, of which methods know what is in it;
# numbers: what of this is a number, one per system; identified: can the raters tell its parameters
# apart; converged.
point_of <- function(estimator) {
  point <- core_estimate(estimator)
  is_number <- function(value) is.double(value) && length(value) == 1L
  fields <- names(Filter(is_number, point$systems[[1L]]))
  point$numbers <- na_real(lapply(rlang::set_names(fields), function(field) {
    vapply(point$systems, `[[`, 0, field)
  }))
  point
}

# A row per replicate. `what`: "accuracy", a column per system, or "counts", expected numbers of
# cases by truth and answer (answers within truths within systems); `resampling`: see there.
replicates_of <- function(estimator, what, resampling, tick = no_tick) {
  if (inherits(estimator, "case_estimator")) {
    case_replicates(estimator, resampling, tick)
  } else if (inherits(estimator, "linear_estimator")) {
    linear_replicates(estimator, resampling, tick)
  } else if (is.function(estimator)) {
    stack_rows(resampled(function(weight) estimator(weight, what), resampling, tick = tick))
  } else if (is.list(estimator)) {
    own <- replicates_of(estimator$independent, what, resampling, tick)
    shared <- replicates_of(estimator$shared, what, resampling) # of the same draws
    between_ends(own, shared, rep(estimator$back, each = length(own) / length(estimator$back)))
  } else {
    replicates_in_pieces(estimator, what, resampling, tick)
  }
}

# `tick` counts replicates; what takes time is the systems.
linear_replicates <- function(estimator, resampling, tick) {
  per_system <- resampling$replicates / ncol(estimator$patterns$answer)
  core_linear_replicates(
    estimator$patterns, estimator$weight, estimator$setup, resampling,
    function(done) tick(floor(done * per_system))
  )
}

# An estimator whose shared errors are stated: both ends of its range, and the correction for each
# system, a share of their distance.
mixed_estimator <- function(independent, shared, back) {
  if (!is_corrected(back)) return(independent)
  list(independent = independent, shared = shared, back = back)
}

# For each system the ends of the profile of its accuracy in a joint fit, whether all fits
# converged, and whether the profile came upon a higher top, which it then is the profile of.
profile_ends <- function(fit, deviance, threads, tick) {
  core_latent_profile(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_for(fit$model, fit$x, fit$method),
    deviance, threads, tick
  )
}

# What the core has to know of an estimator to run it in a study.
core_options <- function(estimator) {
  options <- attr(estimator, "options")
  of <- list(options = options)
  # The sampling error of averages is their own.
  if (!has_interval(of) || (interval_of(of)$average && is_averaged(of))) options$replicates <- 0L
  # Who says nothing of shared errors has them allowed for.
  options$common <- if (is_averaged(of) || is_stated(options)) core_common(options)
  options$margin <- robust_quantile(options, options$conf_level)
  options$model <- unclass(options$model)
  options[c(
    "method", "model", "clip", "bin_width", "interval", "replicates", "conf_level", "common",
    "margin"
  )]
}

# One fit for all estimators of a panel, which takes longer than anything else.
needs_average <- function(options) {
  of <- list(options = options)
  is_averaged(of) || interval_of(of)$average
}

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

# What is assumed of errors that systems and raters share: `common` of estimate_accuracy().
# The mathematics is in src/core/accuracy/common.hpp.

common_words <- c("typical", "none", "all")

# As given: one of the words or a share, NULL if nothing is stated.
check_common <- function(common, method) {
  if (is.null(common)) return(NULL)
  abort_argument_if(is.null(method$common), "common",
    "{.code method = \"{method$id}\"} has no {.arg common}: its assumption is fixed.",
    i = "Methods with {.arg common}: {.val {ids_with(\"common\", accuracy_methods())}}.")
  if (is.character(common)) return(check_choice(common, common_words, "common"))
  check_number(common, "common", 0, 1)
}

common_of <- function(options) options$common %||% accuracy_methods()[[options$method]]$common

# Is the share of shared errors stated? Then intervals say what follows from that.
is_stated <- function(options) !is.null(options$common) && options$common != common_words[[1L]]

# Must the average be asked how many errors are shared?
asks_average <- function(options) identical(common_of(options), common_words[[1L]])

# The correction, a share of the distance between the ends of the range, for each system; `typical`
# is that of the average.
correction_share <- function(options, typical) {
  common <- core_common(options)
  if (is.character(common)) typical else rep(common %||% 0, length(typical))
}

# From the independent end of the range the share `back` of the way to the shared one; exactly the
# independent end where nothing is corrected.
between_ends <- function(independent, shared, back) {
  back <- rep_len(back, length(independent))
  independent - ifelse(back == 0, 0, back * (independent - shared))
}

is_corrected <- function(back) any(back != 0, na.rm = TRUE) # NA has no estimate

# What was assumed of shared errors, once for all systems.
common_note <- function(x) {
  common <- common_of(x$options)
  share <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || all(is.na(share))) return(NULL)
  if (asks_average(x$options) && max(share, na.rm = TRUE) == 0) {
    return(if (panel_kind(x) == "machines") {
      "Assumed: independent errors; ratings cannot test this."
    } else {
      "Assumed: independent errors; ratings show no sign of shared ones, nor rule them out."
    })
  }
  assumed <- switch(as.character(common),
    none = "independent errors", all = "all errors shared with the raters",
    paste0(if (is.character(common)) "typical ", "shared errors, ", moved_words(share),
      " of the way")
  )
  paste0("Assumed: ", assumed, "; ratings cannot test this.")
}

moved_words <- function(share) {
  paste(unique(whole_percent(range(share, na.rm = TRUE))), collapse = " to ")
}

# The same for a paper.
explain_common <- function(estimate) {
  share <- estimate$details$common
  of <- if (asks_average(estimate$options) && max(share, na.rm = TRUE) == 0) "no sign" else
    as.character(common_of(estimate$options))
  words <- switch(of,
    `no sign` = "These models take errors to be independent given the truth; the ratings show no
      sign of shared errors, nor rule them out, so the estimate is the average as it stands.",
    typical = "These models take errors to be independent given the truth; since raters and systems
      tend to err on the same cases, the average was moved towards the accuracy that the system has
      if it shares the raters' errors (the mean posterior probability of its answers under models
      of the raters alone), by a share that grows with the evidence for unequal cases and raters,
      and is smaller the more categories there are (here {moved} of the way).",
    none = "Errors of system and raters are taken to be independent given the truth.",
    "It was assumed that errors are shared: the estimate was moved {moved} of the way to the
      accuracy that the system has if it errs where the raters err."
  )
  sub("{moved}", moved_words(share), words, fixed = TRUE)
}

# What a record says to readers of a paper: `explain` with what is in braces filled in.
explain_estimate <- function(record, estimate) {
  words <- record$explain
  if (is.function(words)) words <- words(estimate)
  fields <- list(
    common = explain_common, model = function(estimate) format(estimate$fit$model),
    interval = function(estimate) interval_title(estimate$options$conf_level)
  )
  for (field in names(fields)) {
    mark <- paste0("{", field, "}")
    if (any(grepl(mark, words, fixed = TRUE))) {
      words <- sub(mark, fields[[field]](estimate), words, fixed = TRUE)
    }
  }
  gsub("\\s+", " ", words)
}

# Calls into the core that compute the accuracy of systems. An estimator is created once per call of
# a verb and returns an estimate and its replicates. It is a pointer into the core. It is not valid
# in another session, so it never becomes part of a result.

# Creates the estimator of a method in the registry, given a fit of the raters.
make_estimator <- function(fit, method, options) {
  rule <- rule_of(method, fit$model)
  if (!is.null(rule)) return(rule(fit, options)$estimator)
  arguments <- estimator_setup(fit, method, options)
  tick <- no_tick
  if (method$model == "own") {
    bar <- progress_bar("Models", 100L)
    on.exit(bar$close())
    tick <- bar$tick
  }
  pointer <- core_estimator(fit$x$patterns, arguments$weight, arguments$setup, tick)
  structure(pointer, made_of = list(fit = fit, method = method, options = options))
}

# Arguments of the core in addition to patterns.
estimator_setup <- function(fit, method, options) {
  x <- fit$x
  weight <- pattern_weights(x)
  # Weights that are probabilities are scaled to many cases, so that the evidence compares models.
  if (method$model == "own" && !weights_are_counts(x) && sum(weight) <= 1 + 1e-9) {
    weight <- many_cases * weight / sum(weight)
  }
  fitting <- if (fit$method == "pairs") "pairs" else "likelihood" # for replicates
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

# An estimator of which only replicates are needed. With many systems these are first-order
# approximations.
replicating_estimator <- function(fit, method, options, paired = FALSE) {
  linear <- method$likelihood && fit$method != "pairs" && is.null(fit$refit) &&
    is.null(options$deviance) && (paired || n_systems(fit$x) > many_systems)
  if (!linear) return(make_estimator(fit, method, options))
  structure(
    c(list(patterns = fit$x$patterns), estimator_setup(fit, method, options)),
    class = "linear_estimator"
  )
}

many_cases <- 1e6
many_systems <- 100L
# The correction for shared errors, as a share of the range from independent to shared errors: a
# number, or "typical".
core_common <- function(options) {
  common <- common_of(options)
  if (is.character(common)) switch(common, none = 0, all = 1, common) else common
}

# The estimate. systems: a list per system whose fields depend on the method. numbers: those fields
# that are numbers, as vectors with an element per system. identified: can the raters identify the
# parameters? converged.
point_of <- function(estimator) {
  point <- core_estimate(estimator)
  is_number <- function(value) is.double(value) && length(value) == 1L
  fields <- names(Filter(is_number, point$systems[[1L]]))
  point$numbers <- na_real(lapply(rlang::set_names(fields), function(field) {
    vapply(point$systems, `[[`, 0, field)
  }))
  point
}

# Expected numbers of cases by truth and answer (answers vary fastest). Answers are 0 if missing.
counts_of_answers <- function(answer, posterior, weight) {
  as.vector(crossprod(outer(answer, seq_len(ncol(posterior)), `==`) * weight, posterior))
}

# A row per replicate. With `quantity` "accuracy" a column per system; with "counts" expected
# numbers of cases by truth and answer (answers vary fastest, then truths, then systems). For
# `resampling`, see resampling().
replicates_of <- function(estimator, quantity, resampling, tick = no_tick) {
  if (inherits(estimator, "case_estimator")) {
    case_replicates(estimator, resampling, tick)
  } else if (inherits(estimator, "linear_estimator")) {
    # The core counts systems, `tick` counts replicates.
    per_system <- resampling$replicates / ncol(estimator$patterns$answer)
    core_linear_replicates(
      estimator$patterns, estimator$weight, estimator$setup, resampling,
      function(done) tick(floor(done * per_system))
    )
  } else if (is.function(estimator)) {
    stack_rows(resampled(function(weight) estimator(weight, quantity), resampling, tick = tick))
  } else if (is.list(estimator)) {
    independent <- replicates_of(estimator$independent, quantity, resampling, tick)
    shared <- replicates_of(estimator$shared, quantity, resampling) # the same resampled cases
    back <- rep(estimator$back, each = length(independent) / length(estimator$back))
    between_ends(independent, shared, back)
  } else {
    replicates_in_pieces(estimator, quantity, resampling, tick)
  }
}

# An estimator with a given amount of shared errors: estimators for both ends of the range, and the
# correction of each system, as a share of the range.
mixed_estimator <- function(independent, shared, back) {
  if (!is_corrected(back)) return(independent)
  list(independent = independent, shared = shared, back = back)
}

# Settings with which the core runs an estimator in a study.
core_options <- function(estimator) {
  options <- attr(estimator, "options")
  averaged <- is_averaged(options = options)
  interval <- interval_of(options = options)
  # Averages have a sampling error without replicates.
  if (is.null(interval$find) || (interval$average && averaged)) options$replicates <- 0L
  # If the user does not specify how errors are shared, the interval allows for shared errors.
  options$common <- if (averaged || is_stated(options)) core_common(options)
  options$margin <- robust_quantile(options, options$conf_level)
  options$model <- unclass(options$model)
  options[c(
    "method", "model", "clip", "bin_width", "interval", "replicates", "conf_level", "common",
    "margin"
  )]
}

# Is an average needed? It takes most of the time, and all estimators of a panel use the same one.
needs_average <- function(options) {
  is_averaged(options = options) || interval_of(options = options)$average
}

# Assumption about errors that systems and raters share: `common` of estimate_accuracy(). The
# formulas are in src/core/accuracy/common.hpp.

common_words <- c("typical", "none", "all")

# Returns one of the words or a share; NULL if `common` is not given.
check_common <- function(common, method) {
  if (is.null(common)) return(NULL)
  abort_argument_if(is.null(method$common), "common",
    "{.code method = \"{method$id}\"} has no {.arg common}: its assumption is fixed.",
    i = "Methods with {.arg common}: {.val {ids_with(\"common\", accuracy_methods)}}.")
  if (is.character(common)) return(check_choice(common, common_words, "common"))
  check_number(common, "common", 0, 1)
}

common_of <- function(options) options$common %||% accuracy_methods[[options$method]]$common

# Has the user given the share of shared errors? Intervals are then conditional on it.
is_stated <- function(options) !is.null(options$common) && options$common != common_words[[1L]]

# Is the average needed to compute the typical share of shared errors?
asks_average <- function(options) identical(common_of(options), common_words[[1L]])

# Correction of each system, as a share of the range. `typical` is the correction by the average.
correction_share <- function(options, typical) {
  common <- core_common(options)
  if (is.character(common)) typical else rep(common %||% 0, length(typical))
}

# Moves from the independent end of the range towards the shared end by the share `back`. Returns
# exactly the independent end if `back` is 0.
between_ends <- function(independent, shared, back) {
  back <- rep_len(back, length(independent))
  independent - ifelse(back == 0, 0, back * (independent - shared))
}

is_corrected <- function(back) any(back != 0, na.rm = TRUE) # NA: no estimate

# Sentence about the assumed shared errors, for all systems together.
common_note <- function(x) {
  common <- common_of(x$options)
  share <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || all(is.na(share))) return(NULL)
  no_sign <- asks_average(x$options) && max(share, na.rm = TRUE) == 0
  if (no_sign && panel_kind(x) != "machines") {
    return("Assumed: independent errors; ratings show no sign of shared ones, nor rule them out.")
  }
  assumed <- switch(if (no_sign) "none" else as.character(common),
    none = "independent errors", all = "all errors shared with the raters",
    paste0(if (is.character(common)) "typical ", "shared errors, ", moved_words(share),
      " of the way")
  )
  paste0("Assumed: ", assumed, "; ratings cannot test this.")
}

moved_words <- function(share) {
  paste(unique(whole_percent(range(share, na.rm = TRUE))), collapse = " to ")
}

# The same assumption, for a methods paragraph.
explain_common <- function(estimate) {
  share <- estimate$details$common
  no_sign <- asks_average(estimate$options) && max(share, na.rm = TRUE) == 0
  words <- switch(if (no_sign) "no sign" else as.character(common_of(estimate$options)),
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

# Sentences of a record for a methods paragraph: fills in the placeholders in braces of `explain`.
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

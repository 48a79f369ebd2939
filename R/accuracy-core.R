# This file calls the C++ core to compute the accuracy of systems, sets the assumed amount of shared
# errors, and creates the object that estimate_accuracy() returns. An estimator computes an estimate
# and its bootstrap replicates. An estimator is usually a pointer to a C++ object, and is created
# once per call of an exported function. Results do not contain estimators, because pointers are not
# valid in another R session.

# Creates the estimator of `method` (a record made by new_method()) from a fit of the raters.
make_estimator <- function(fit, method, options) {
  estimate_in_r <- estimator_in_r(method, fit$model)
  if (!is.null(estimate_in_r)) return(estimate_in_r(fit, options)$estimator)
  core_input <- estimator_setup(fit, method, options)
  tick <- no_tick
  if (method$model == "own") {
    bar <- progress_bar("Models", 100L)
    on.exit(bar$close())
    tick <- bar$tick
  }
  structure(
    core_estimator(fit$x$patterns, core_input$weight, core_input$setup, tick),
    made_of = list(fit = fit, method = method, options = options)
  )
}

# Returns a list with two arguments of core_estimator():
# * weight: number of cases with each pattern (combination of ratings and answers).
# * setup: list of settings.
estimator_setup <- function(fit, method, options) {
  x <- fit$x
  weight <- pattern_weights(x)
  has_fixed_models <- method$model == "own"
  supports_any_model <- method$model == "any"
  # The weights of averaged models depend on the number of cases, so case weights that are not
  # counts are rescaled. Shares of a population (they sum to 1) are multiplied by a million. Other
  # weights are rescaled to sum to the number of cases.
  if (has_fixed_models && !weights_are_counts(x)) {
    weight <- if (abs(sum(weight) - 1) <= 0.01) assumed_population_size * weight else
      weights_of_labels(x)
  }
  replicate_fit_method <- if (fit$method == "pairs") "pairs" else "likelihood"
  setup <- c(
    list(
      method = method$id,
      known = if (supports_any_model) fit$known else fit$known[c("truth", "raters", "counts")]
    ),
    options[intersect(c("clip", "bin_width", "deviance", "threads"), names(options))],
    if (supports_any_model) {
      list(
        model = model_for_core(fit$model, x, replicate_fit_method), fitting = replicate_fit_method
      )
    },
    if (uses_confidence(fit$model)) list(level = rating_levels(x, fit$model)),
    if (has_fixed_models) list(
      ordered = x$ordered, common = common_for_core(options), used = count_used_categories(x)
    )
  )
  list(weight = weight, setup = setup)
}

# Creates an estimator that is used only for bootstrap replicates. Usually, each replicate is a
# refit. If the method has a first-order approximation of the refit, which is faster, it is used in
# two cases:
# * there are more than `max_refitted_systems` systems
# * `paired` is TRUE: replicates are needed only for the correlation of systems
make_replicating_estimator <- function(fit, method, options, paired) {
  uses_approximation <- method$likelihood && fit$method != "pairs" && is.null(fit$refit) &&
    is.null(options$deviance) && (paired || n_systems(fit$x) > max_refitted_systems)
  if (!uses_approximation) return(make_estimator(fit, method, options))
  structure(
    c(list(patterns = fit$x$patterns), estimator_setup(fit, method, options)),
    class = "linear_estimator"
  )
}

assumed_population_size <- 1e6 # sum of weights that were probabilities
max_refitted_systems <- 100L # with more systems, replicates approximate refits

# Returns the assumed amount of shared errors in the form that the core needs: a number from 0
# (independent errors) to 1 (all errors are shared), or "typical". NULL if the method has no
# correction for shared errors.
common_for_core <- function(options) {
  common <- common_setting(options)
  if (is.character(common)) switch(common, none = 0, all = 1, common) else common
}

# Computes the estimates of all systems. Returns a list:
# * systems: a list of results per system, whose fields depend on the method.
# * numbers: the fields that are single numbers, as vectors with an element per system.
# * identified: does agreement between raters identify the parameters?
# * converged: did the fit converge?
compute_estimate <- function(estimator) {
  estimates <- core_estimate(estimator)
  is_number <- function(value) is.double(value) && length(value) == 1L
  number_fields <- names(Filter(is_number, estimates$systems[[1L]]))
  estimates$numbers <- na_real(stack_tables(lapply(estimates$systems, `[`, number_fields)))
  estimates
}

# Returns the expected numbers of cases by true category and answer, as a vector in which the answer
# varies fastest. Arguments describe patterns (combinations of ratings and answers).
# * answer: index of the category that the system gave, 0 if missing.
# * posterior: probabilities of the true category, patterns x categories.
# * weight: number of cases with the pattern.
counts_of_answers <- function(answer, posterior, weight) {
  as.vector(crossprod(indicator_matrix(answer, ncol(posterior)) * weight, posterior))
}

# Computes bootstrap replicates, as a matrix with a row per replicate.
# * quantity: "accuracy" for a column per system, or "counts" for expected numbers of cases. Columns
#   of counts are sorted by system, then by true category, then by answer.
# * resampling: result of resampling().
compute_replicates <- function(estimator, quantity, resampling, tick = no_tick) {
  if (inherits(estimator, "case_estimator")) {
    case_replicates(estimator, resampling, tick)
  } else if (inherits(estimator, "linear_estimator")) {
    # The core reports how many systems are finished. `tick` needs a number of finished replicates.
    n_replicates_per_system <- resampling$replicates / ncol(estimator$patterns$answer)
    core_linear_replicates(
      estimator$patterns, estimator$weight, estimator$setup, resampling,
      function(done) tick(floor(done * n_replicates_per_system))
    )
  } else if (is.function(estimator)) {
    stack_rows(run_replicates(function(weight) estimator(weight, quantity), resampling,
      tick = tick))
  } else if (is.list(estimator)) {
    independent_replicates <- compute_replicates(estimator$independent, quantity, resampling, tick)
    correct_for_shared_errors(
      independent_replicates,
      compute_replicates(estimator$shared, quantity, resampling), # same resamples
      rep(
        estimator$correction, each = length(independent_replicates) / length(estimator$correction)
      )
    )
  } else {
    replicates_in_blocks(estimator, quantity, resampling, tick)
  }
}

# Combines an estimator that assumes independent errors with one that assumes shared errors.
# `correction`: for each system, the position of its accuracy between the two estimates: 0 (errors
# are independent) to 1 (all errors are shared), NA without an estimate. If it is 0 for all systems,
# the estimator with independent errors is returned.
combine_estimators <- function(independent, shared, correction) {
  if (!any(correction != 0, na.rm = TRUE)) independent else
    list(independent = independent, shared = shared, correction = correction)
}

# Returns the settings with which the core runs an estimator in a simulation study.
core_options <- function(estimator) {
  options <- attr(estimator, "options")
  is_average <- is_averaged(options)
  interval_record <- interval_of(options)
  # Replicates are not needed without intervals. Robust intervals of method "average" do not need
  # them either, because the sampling error of this method is computed by a formula.
  needs_no_replicates <- is.null(interval_record$find) || (interval_record$average && is_average)
  if (needs_no_replicates) options$replicates <- 0L
  # The amount of shared errors that method "average" assumes, or that the user fixed. If there is
  # no such amount, `common` is NULL, and the interval allows for shared errors.
  options$common <- if (is_average || has_fixed_common(options)) common_for_core(options)
  options$margin <- robust_quantile(options, options$conf_level)
  options$model <- unclass(options$model)
  options[c(
    "method", "model", "clip", "bin_width", "interval", "replicates", "conf_level", "common",
    "margin"
  )]
}

# Does the estimate or its interval need the accuracy averaged over models? In a simulation study
# this average takes most of the computing time, so it is computed once for all estimators.
needs_average <- function(options) is_averaged(options) || interval_of(options)$average

# ---- Assumed amount of errors that systems share with raters: `common` of estimate_accuracy() ----
# The formulas are in src/core/accuracy/common.hpp.

# Returns "typical", "none", "all" or a number in [0, 1]; NULL if `common` is not given.
check_common <- function(common, method) {
  if (is.null(common)) return(NULL)
  abort_argument_if(is.null(method$common), "common",
    "{.arg common} cannot be used with {.code method = \"{method$id}\"}, whose assumption about
        shared errors is fixed.",
    i = "Methods that accept {.arg common} are {.val {ids_with(\"common\", accuracy_methods)}}.")
  if (is.character(common)) check_choice(common, c("typical", "none", "all"), "common") else
    check_number(common, "common", 0, 1)
}

# Returns the amount of shared errors that the user specified. If the user specified no amount,
# returns the default of the method.
common_setting <- function(x) {
  options <- x$options %||% x
  options$common %||% accuracy_methods[[options$method]]$common
}

# Did the user fix the amount of shared errors, as "none", "all" or a number? If so, intervals are
# conditional on this amount. `x`: see method_of().
has_fixed_common <- function(x) {
  common <- (x$options %||% x)$common
  !is.null(common) && common != "typical"
}

# Is the assumed amount of shared errors "typical"? If so, compute_average() estimates it.
has_typical_common <- function(x) identical(common_setting(x), "typical")

# Returns the position of each system's estimate between the accuracies with independent errors (0)
# and with shared errors (1). `typical`: positions computed from the averaged models, which are used
# if the amount of shared errors is "typical".
correction_share <- function(options, typical) {
  common <- common_for_core(options)
  if (is.character(common)) typical else rep(common %||% 0, length(typical))
}

# Moves accuracies with independent errors towards accuracies with shared errors. `correction`:
# share of the distance. If it is 0, the result is exactly the accuracy with independent errors.
correct_for_shared_errors <- function(independent, shared, correction) {
  correction <- rep_len(correction, length(independent))
  independent - ifelse(correction == 0, 0, correction * (independent - shared))
}

# Does the user assume a "typical" amount of shared errors, although the averaged models show no
# shared errors?
shows_no_shared_errors <- function(estimate) {
  has_typical_common(estimate) && max(estimate$details$common, na.rm = TRUE) == 0
}

# Returns the printed sentence about the assumed shared errors, for all systems together.
shared_errors_note <- function(x) {
  common <- common_setting(x)
  correction <- x$details$common[!is.na(x$table$estimate)]
  if (is.null(common) || !any_known(correction) || has_all_truths(x)) return(NULL)
  has_no_shared_errors <- shows_no_shared_errors(x)
  if (has_no_shared_errors && panel_kind(x) != "machines") {
    return("Assumed: independent errors; ratings neither show nor rule out shared errors.")
  }
  sprintf("Assumed: %s; ratings cannot test this.", switch(
    if (has_no_shared_errors) "none" else as.character(common),
    none = "independent errors", all = "all errors shared with the raters",
    sprintf("%sshared errors (%s of the range)", if (is.character(common)) "typical " else "",
      format_span(correction, whole_percent))
  ))
}

# Returns the sentence about the assumed shared errors for a methods paragraph.
explain_shared_errors <- function(estimate) {
  independence_text <- paste("Systems and raters are taken to err",
    if (is_averaged(estimate)) "independently given the truth (and the difficulty of the case, in
      models with unequal cases)" else independence_words(estimate$fit$model))
  sub("{moved}", format_span(estimate$details$common, whole_percent), fixed = TRUE, switch(
    if (shows_no_shared_errors(estimate)) "no sign" else
      as.character(common_setting(estimate)),
    `no sign` = paste0(independence_text, "; the ratings neither show nor rule out shared errors, so
      the estimate was not corrected."),
    typical = paste0(independence_text, ". In public data, they tend to err on the same cases. The
      estimate was moved {moved} of the way to the accuracy that the system has if it shares all
      of the raters' errors (the mean posterior probability of its answers under models of the
      raters only). A rule sets this share: it decreases with the number of categories, and with
      the weight of models with equally difficult cases and without confusion matrices. The rule
      does not test these assumptions."),
    none = paste0(independence_text, "."),
    "It was assumed that errors are shared: the estimate was moved {moved} of the way to the
      accuracy that the system has if it errs where the raters err."
  ))
}

# Returns sentences about a method or an interval for a methods paragraph. `record`: its record (see
# new_method() and new_interval()). Placeholders in braces in field `explain` of the record, such as
# {model}, are replaced.
explain_estimate <- function(record, estimate) {
  sentences <- record$explain
  if (is.function(sentences)) sentences <- sentences(estimate)
  replacements <- list(
    common = explain_shared_errors, model = function(estimate) format(estimate$fit$model),
    interval = function(estimate) interval_title(estimate$options$conf_level)
  )
  for (name in names(replacements)) {
    placeholder <- sprintf("{%s}", name)
    if (any(grepl(placeholder, sentences, fixed = TRUE))) {
      sentences <- sub(placeholder, replacements[[name]](estimate), sentences, fixed = TRUE)
    }
  }
  gsub("\\s+", " ", sentences)
}

# ---- Result of estimate_accuracy() ---------------------------------------------------------------

# Creates an estimate from a draft (an estimate without intervals) and its intervals. Fields:
# * fit, options: see draft_estimate().
# * table: the table of tidy().
# * bins: the table of tidy(x, "bins").
# * details: the table of tidy(x, "details"), with a row per system.
# * replicates: replicates of the estimates, a matrix with a column per system.
# * posterior: probabilities of the true category, for each system a matrix (patterns x categories).
# * members: table of the averaged models, with a row per system and model.
# * typical: the amount of shared errors that `common = "typical"` assumes, a number per system.
# * end_counts: for each system, two vectors of expected numbers of cases by true category and
#   answer. The answer varies fastest. Errors are independent in `independent_counts`, and all
#   errors are shared in `shared_counts`.
# * gold: see correct_by_gold(); NULL without a sample of gold cases.
# * ...: further fields of estimates from posterior draws.
new_accuracy_estimate <- function(draft, interval, ...) {
  fit <- draft$fit
  systems <- fit$x$systems
  point_estimates <- draft$point
  results_of_average <- draft$results_of_average
  options <- draft$options
  has_one_rater <- is_one_rater(fit$x)
  table <- columns_tibble(
    system = systems, estimate = point_estimates$value, !!!interval$table[interval_columns],
    shared = point_estimates$shared %||% results_of_average$shared,
    independent = point_estimates$independent %||% results_of_average$independent, n = draft$n,
    method = options$method, reason = interval$table$reason, why = NA_character_
  )
  # Column `reason` usually explains why an estimate is NA. If the ratings carry no information
  # (kappa is zero), estimates that are not NA have a reason, too.
  is_uninformative <- isTRUE(results_of_average$no_kappa) & !is.na(table$estimate) &
    is.na(table$reason)
  table[is_uninformative, c("reason", "why")] <- list(sprintf(
    "raters %s, so that their agreement carries no information", agreement_by_chance_words
  ), "chance")
  if (has_one_rater && fit$identified == "no_pairs") {
    table[c("reason", "why")] <- list(reason_one_rater, "one_rater")
  }
  sampling_error <- interval$sampling %||% average_sampling_error(draft)
  replicates <- interval$replicates
  details <- columns_tibble(
    system = systems, uninformative = point_estimates$uninformative,
    mean_posterior = point_estimates$mean_posterior,
    failed = if (is.null(replicates)) NA_integer_ else as.integer(colSums(is.na(replicates))),
    sampling = sampling_error,
    common = if (is.null(common_setting(options))) NA_real_ else
      correction_share(options, results_of_average$typical),
    !!!results_of_average[c("rater_error", "independence_weight", "dependence_weight")],
    average_shared = results_of_average$shared,
    base_rate_range = results_of_average$base_rate_range,
    disagreement_error = if (has_one_rater) NA_real_ else plurality_disagreement(fit$x),
    centre = interval$centre %||%
      robust_error(draft, point_estimates$value, sampling_error, results_of_average)$centre
  )
  # Rounding removes numerical errors of limits such as 1 - 0.7.
  bins <- modify_fields(
    stack_systems(systems, point_estimates$bins), c("lower", "upper"), round, 10L
  )
  if (!is.null(replicates)) dimnames(replicates) <- list(NULL, systems)
  results_by_system <- draft$average$point$systems
  new_result("accuracy_estimate",
    fit = fit, options = options, table = table, bins = bins, details = details,
    replicates = replicates, posterior = point_estimates$posterior,
    members = if (!is.null(results_by_system)) {
      stack_systems(systems, lapply(results_by_system, `[[`, "members"))
    },
    typical = results_of_average$typical,
    end_counts = lapply(results_by_system, `[`, c("independent_counts", "shared_counts")), ...
  )
}

# Returns a reason for each estimate that is NA, and NA for all other estimates.
# * identified: "yes" if the fit is identified, otherwise a code of the reason.
# * agreement: share of pairs of ratings that agree.
# * categories: number of categories.
# * estimate: the estimates, NA if missing.
# * n: for each estimate, the number of rated cases that its system answered.
# * n_used: number of categories that raters used.
# `identified` and `agreement` have an element per estimate, or one element for all estimates.
why_no_estimate <- function(identified, agreement, categories, estimate, n, n_used = categories) {
  reason <- ifelse(n == 0, "no case of the system has a rating", if (n_used < 2L)
    "raters used one category only" else
    "no category stands out in any case, so answers carry no information")
  reason <- ifelse(rep_len(identified, length(estimate)) == "yes", reason,
    why_not_identified(identified, agreement, categories))
  replace(reason, !is.na(estimate), NA_character_)
}

# Stacks the tables of all systems into one table with a column `system`.
stack_systems <- function(systems, tables) {
  columns_tibble(
    system = rep(systems, lengths(lapply(tables, `[[`, 1L))), !!!na_real(stack_tables(tables))
  )
}

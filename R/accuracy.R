#' Accuracy of systems
#'
#' Estimates the accuracy of systems (classifiers): the probability that a system gives a case its
#' true category. The estimates are computed from ratings, the categories that several raters gave
#' to the same cases. True categories are not needed. If they are known for a random sample of the
#' cases, they correct the estimates. [fallible-glossary] defines the terms.
#'
#' @param x A [ratings()] object with systems, or a [fit_raters()] result for such an object.
#' @param method Name of the estimation method: `r list_ids(accuracy_methods)`; see *Methods*. The
#'   default `NULL` is `"average"`; with another `model` than the default, or with known raters, it
#'   is `"joint"`; for an [as_rater_fit()] result, it is `"shared"`. A function is also accepted.
#' @param model Model of the raters, a [rater_model()] or [rater_family()]. The default [k_model()]
#'   has one accuracy for all raters. `"joint"` and `"shared"` work with any model, other methods
#'   with the default; `"binned"` and `"unbinned"` also with a [rater_family()], ordinal errors or
#'   confidence. If `x` is a fit, its model is used.
#' @param interval Kind of interval: `r list_ids(accuracy_intervals)`; see *Intervals*. The default
#'   `NULL` is `"combined"` with a sample of gold cases and `"robust"` without. If the model is a
#'   [rater_family()], `x` is an [as_rater_fit()] result, or `method` is a function, it is
#'   `"bootstrap"`, and the only other choice is `"none"`.
#' @param conf_level Nominal coverage of intervals, in (0, 1). Default: 0.9, see [fallible-options].
#' @param bins A list of settings for methods `"binned"` and `"unbinned"`. `width`: width of the
#'   bins of `"binned"`, in \[0.001, 1\], by default 0.1. `clip`: where estimates are limited to
#'   \[0, 1\]: in each `"bin"` (the default), only `"overall"` in the mean of the bins, or `"none"`.
#' @param common Degree to which a system is assumed to share the errors of the raters. `"none"`:
#'   its errors are independent. `"all"`: it errs where the raters err. `"typical"`: a degree found
#'   in public data. Or a number from 0 (none) to 1 (all). `NULL`, the default, is `"typical"` for
#'   method `"average"` and `"none"` for `"joint"`. Other methods do not accept `common`. See
#'   section *Shared errors of systems and raters* of [estimate_accuracy()].
#' @param resampling A list of settings for the bootstrap. `replicates`: number of replicates, by
#'   default 1000 for bootstrap intervals and 200 for other intervals that need replicates.
#'   `threads`: number of threads, by default 1, or option `fallible.threads`. `cluster`: groups of
#'   dependent cases, such as the cases of one patient, which are resampled together. It is the
#'   quoted name of a covariate, or takes the forms of argument `by` of [estimate_accuracy()].
#' @param systems Names of the systems to evaluate; `NULL`, the default, for all.
#' @param known_truth Cases whose true category is known ("gold cases"): a vector of categories
#'   named by case, or a data frame with columns `case` and `truth`. `TRUE` uses the truth that `x`
#'   contains (argument `truth` of [ratings()]). A result of [gold_cases()] also contains how the
#'   cases were sampled. `NULL`, the default, for none.
#' @param known_raters Raters with known error rates, as in [fit_raters()]. Cannot be used together
#'   with `known_truth`. See *Calibration samples*.
#' @param gold_sample How the gold cases were chosen: `"random"`; the probability with which each
#'   case was chosen, in one of the forms of argument `sample` of [gold_cases()]; or `"given"`,
#'   chosen by hand. `NULL`, the default, is treated as `"given"`, with a warning.
#' @param ... Not used.
#' @return An object of class `accuracy_estimate` with methods for `print()`, `summary()`,
#'   [tidy()][tidy.accuracy_estimate], [glance()][tidy.accuracy_estimate],
#'   [autoplot()][autoplot.accuracy_estimate] and [update()][update.accuracy_estimate], which adds
#'   gold cases. With `by`, a list of such objects, see [accuracy_by_group].
#'
#'   `tidy()` returns a row per system:
#'   * `system`: its name.
#'   * `estimate`: its accuracy, a probability; `std.error`: standard error; `conf.low`,
#'     `conf.high`: limits of the interval.
#'   * `shared`, `independent`: its accuracy if it shares all of the raters' errors, and if its
#'     errors are independent of theirs.
#'   * `n`: number of rated cases that it answered.
#'   * `method`; `reason`: why a value is `NA`, or why an estimate is doubtful.
#'
#'   [tidy.accuracy_estimate] describes the other tables, such as `tidy(x, "details")`.
#' @family estimation
#' @templateVar where Equations 6-7
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(
#'   rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.6), n = 300), rater_kind = "expert"
#' )
#' estimate <- estimate_accuracy(x)
#' estimate
#' tidy(estimate)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(estimate)
#'
#' # At two sites, and with several cases of each patient; values are matched by `case`
#' data <- data.frame(
#'   case = 1:300, site = rep(c("east", "west"), each = 150), patient = rep(1:100, 3)
#' )
#' estimate_accuracy(x, by = data[c("case", "site")], systems = "a")
#' patients <- data[c("case", "patient")]
#' estimate_accuracy(x, systems = "a", resampling = list(cluster = patients, replicates = 50))
#'
#' # Names are enough if `x` has the values as covariates
#' sites <- data.frame(site = c("east", "west"), weight = c(0.5, 0.5))
#' named <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), covariates = sites), 300)
#' head(as.data.frame(named, "covariates"), 3)
#' estimate_accuracy(named, by = site, interval = "none")
#'
#' # Sixty cases at random, whose truth was found out
#' gold <- truth(x)[sample(300, 60), ]
#' estimate_accuracy(x, known_truth = gold, gold_sample = "random")
#'
#' # The example of Lehner (2015), as published
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' published <- estimate_accuracy(x, method = "binned", interval = "bootstrap")
#' published
#' tidy(published, "bins")
#' @export
estimate_accuracy <- function(x, ...) {
  check_call(dots = NULL)
  UseMethod("estimate_accuracy")
}

#' @export
estimate_accuracy.default <- function(x, ...) {
  if (!is_variables(x)) return(estimate_accuracy(as_ratings(x), ...))
  known_truth <- enquos(...)$known_truth
  if (is.null(known_truth)) return(map_variables(x))
  known_truth <- truth_of_variables(rlang::eval_tidy(known_truth), x)
  map_variables(Map(function(x, known_truth) {
    c(list(x = x, known_truth = known_truth), if (is.null(known_truth)) list(gold_sample = NULL))
  }, x, known_truth))
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.ratings <- function(x, method = NULL, model = k_model(), interval = NULL,
                                      conf_level = default_conf_level(),
                                      bins = list(), common = NULL, resampling = list(),
                                      by = NULL, systems = NULL, known_truth = NULL,
                                      gold_sample = NULL, known_raters = NULL, ...) {
  check_ratings_fields(x)
  check_dots_empty(...)
  by <- groups_of_cases(enquo(by), x)
  x <- choose_systems(x, systems)
  if (!is.null(known_raters)) {
    arguments <- mget(c(setting_arguments, "bins", "resampling", "gold_sample"))
    abort_argument_if(!is.null(known_truth), "known_truth",
      "Give {.arg known_truth} or {.arg known_raters}, not both.")
    if (missing(model)) model <- default_model(known_raters)
    if (!is.null(by) && n_raters(x) < 2L) warn_ties(x)
    fit <- suppressWarnings( # with `by`, the fit of each group raises warnings later
      fit_raters(x, model, known_raters = known_raters),
      classes = if (is.null(by)) "none" else "fallible_warning"
    )
    return(estimate_from_fit(fit, by, arguments))
  }
  settings <- c(check_bins(bins), check_resampling(resampling))
  if (is.function(method)) {
    check_several_raters(x)
    arguments <- c(mget(c(setting_arguments, "known_truth", "gold_sample")), settings)
    if (!missing(model)) arguments$model <- model
    return(estimate_by_function(x, method, arguments, by))
  }
  check_model(model)
  method <- check_accuracy_method(method %||% default_method(model))
  gold <- resolve_gold(known_truth, gold_sample, x)
  if (is_one_rater(x)) check_one_rater(x, gold, method, interval)
  interval <- interval %||% interval_of_model(model)
  fit <- function(x, truth) {
    if (is_one_rater(x)) return(fit_one_rater(x, model))
    x <- with_votes(x)
    if (is.null(truth) && drops_constant_raters(list(method = method, common = common))) {
      x <- without_constant_raters(store_abstain_decision(x))
    }
    muffle_boundary_warning(method, fit_checked(x, model, NULL, truth, NULL))
  }
  estimate_by_group(x, by, fit, gold, c(mget(setting_arguments), settings))
}

#' @rdname estimate_accuracy
#' @export
estimate_accuracy.rater_fit <- function(x, method = NULL, interval = NULL,
                                        conf_level = default_conf_level(),
                                        bins = list(), common = NULL, resampling = list(),
                                        by = NULL, systems = NULL, known_truth = NULL,
                                        gold_sample = NULL, ...) {
  check_dots_empty(...)
  abort_argument_if(is_one_rater(x$x) && any(is_known_pattern(x)), "x",
    "must be ratings, not a fit with known truths, if there is one rater.",
    i = "Give {.fun estimate_accuracy} the ratings, with {.arg known_truth} and
      {.code gold_sample = \"random\"}.")
  by <- groups_of_cases(enquo(by), x$x)
  settings <- c(check_bins(bins), check_resampling(resampling))
  if (!is.null(systems)) x <- replace_answers(x, choose_systems(x$x, systems))
  if (is.null(known_truth) && is_known_judge(x)) {
    class(x) <- c("judge_fit", class(x))
    return(estimate_from_fit(x, by, mget(c(setting_arguments, "bins", "resampling"))))
  }
  check_truth_usable(x, known_truth, gold_sample)
  method <- method %||% default_method(x$model, is_known_rater(x))
  if (!is.null(gold_sample)) known_truth <- known_truth %||% x$given$truth
  if (!is.null(known_truth)) x <- fit_without_truth(x, known_truth)
  gold <- resolve_gold(known_truth, gold_sample, x$x)
  if (is.null(x$scored)) interval <- interval %||% interval_of_model(x$model)
  abort_argument_if(
    !is.null(by) && (any(is_known_pattern(x)) || inherits(x, "posterior_fit")), "by",
    "{.arg by} refits each group and cannot use known truths, or a given posterior.",
    i = "Fit the cases of each group separately, {.code x[cases, ]}, with their known truths.")
  fit <- function(part, truth) {
    if (!is.null(by)) {
      muffle_boundary_warning(method, fit_again(x, part, known_truth = truth))
    } else if (is.null(truth)) {
      x
    } else {
      update(x, known_truth = truth)
    }
  }
  estimate_by_group(x$x, by, fit, gold, c(mget(setting_arguments), settings))
}

# Calls estimate_accuracy() with a fit and those of the user's arguments that are not NULL or empty.
estimate_from_fit <- function(fit, by, arguments) {
  if (!is.null(by)) by <- setNames(by, as_label(fit$x$cases))
  do.call(estimate_accuracy, c(list(fit, by = by), Filter(length, arguments)))
}

# Names of the arguments of estimate_accuracy() that are single settings. Other settings are
# elements of the lists `bins` and `resampling`.
setting_arguments <- c("method", "interval", "conf_level", "common")

# Returns `fit`, without its warning that a base rate was estimated below zero if the method is
# "average". This method does not use these base rates.
muffle_boundary_warning <- function(method, fit) {
  suppressWarnings(fit, classes = if (accuracy_methods[[method]]$model == "own")
    "fallible_warning_boundary" else "none")
}

# Returns an estimate, or a list of estimates if `by` gives groups of cases.
# * fit_ratings: a function of ratings and known truths that returns a fit.
# * gold: result of resolve_gold().
# * arguments: list of the user's arguments.
estimate_by_group <- function(x, by, fit_ratings, gold, arguments) {
  arguments$interval <- resolve_interval(arguments$interval, gold, x)
  options <- c(check_accuracy_options(arguments), threads = check_threads(arguments$threads))
  # If the interval does not use gold cases as a sample, the model is fitted with their truths.
  if (!is.null(gold) && is.null(interval_of(options)$gold)) gold$kind <- "likelihood"
  estimate_each_group(x, by, function(x, cluster, gold) {
    estimate_systems(fit_ratings(x, truth_for_fit(gold, x)), cluster, gold, options)
  }, arguments$cluster, gold)
}

# Estimates the accuracy of all systems of a fit, with intervals. Gold cases correct the estimates.
# * cluster: cluster of each case, or NULL.
# * gold: result of resolve_gold(), or NULL.
estimate_systems <- function(fit, cluster, gold, options) {
  options$cluster <- number_clusters(cluster)
  options$given_cluster <- cluster # the user's values; numbers of clusters differ between groups
  check_has_systems(fit$x)
  check_combination(options, fit$model, fit, gold)
  fit <- fit_without_constant(fit_without_abstentions(fit), options)
  warn_gold(gold, fit$x)
  draft <- draft_estimate(fit, options)
  interval <- compute_interval(draft)
  estimate <- new_accuracy_estimate(interval$draft %||% draft, interval)
  estimate <- correct_by_gold(estimate, gold, if (!is.null(fit$scored)) fit$posterior)
  if (!is.null(draft$average)) warn_doubtful(estimate)
  show_accuracy(estimate)
}

check_has_systems <- function(x) {
  if (n_systems(x) == 0L) abort_no_system("There is no system whose accuracy can be estimated.")
}

# Computes a draft, which is an estimate without its interval. Returns a list:
# * fit, options: the arguments.
# * average: result of compute_average(), or NULL if it is not needed.
# * point: result of new_point().
# * parts: accuracies and errors under the averaged models, see parts_of_average().
# * n: number of rated cases that each system answered.
# * reason: why the estimate of a system is NA.
draft_estimate <- function(fit, options) {
  draft <- list(fit = fit, options = options)
  method <- method_of(draft)
  has_scores <- !is.null(fit$scored)
  if (!has_scores && (needs_average(options) || has_typical_common(options))) {
    draft$average <- compute_average(fit, options)
  }
  estimate_in_r <- estimator_in_r(method, fit$model)
  draft$point <- if (is.null(estimate_in_r)) method$estimate(fit, options, draft$average) else
    estimate_in_r(fit, options)
  estimates <- draft$point$value
  draft$parts <- parts_of_average(estimates, draft$average)
  if (has_scores) draft$parts <- add_score_results(draft$parts, fit, estimates)
  draft$n <- count_answered_cases(fit)
  draft$reason <- draft$point$reason %||% why_no_estimate(
    identification_code(fit), fit$agreement, n_categories(fit$x), estimates, draft$n,
    count_used_categories(fit$x)
  )
  draft
}

# Number of rated cases that each system answered.
count_answered_cases <- function(fit) {
  unname(colSums(pattern_cases(fit$x) * (is_usable_pattern(fit) & fit$x$patterns$answer > 0L)))
}

# Creates the result of an estimation method. Each argument has a number or list element per system.
# * value: the estimate.
# * estimator: computes replicates of the estimate.
# * shared, independent: accuracy with shared and with independent errors. If NULL, the accuracies
#   of the averaged models are used.
# * reason: why values are NA. If NULL, why_no_estimate() is used.
# * posterior: probabilities of the true category, matrices of patterns of ratings x categories.
# * bins: tables with the columns of no_bins.
# * uninformative: share of cases in bins without information.
# * mean_posterior: mean posterior probability of the system's answers.
new_point <- function(value, estimator = NULL, shared = NULL, independent = NULL, reason = NULL,
                      posterior = NULL, bins = rep(list(no_bins), length(value)),
                      uninformative = NA_real_, mean_posterior = NA_real_) {
  mget(names(formals()))
}

# Creates the result of function `find` of new_interval(): the intervals of all systems.
# * table: columns std.error, conf.low, conf.high and reason.
# * replicates: NULL, or a matrix with a column per system.
# * sampling: standard error due to sampling. If NULL, average_sampling_error() is used.
# Robust intervals add field `centre`. If the search for limits finds a better optimum of the
# likelihood, the result also contains a new `draft` (an estimate without intervals).
new_interval_result <- function(table, replicates = NULL, sampling = NULL) mget(names(formals()))

# Computes the intervals of a draft (an estimate without intervals). Systems without an interval get
# a reason.
compute_interval <- function(draft) {
  interval <- interval_of(draft)
  table <- result_table(draft$point$value, reason = draft$reason)
  if (is.null(interval$find)) return(new_interval_result(table))
  reason <- why_no_interval(interval, draft)
  if (!is.null(reason)) return(new_interval_result(add_no_interval_reason(table, reason)))
  if (all(is.na(draft$point$value))) new_interval_result(table) else interval$find(draft, table)
}

# Creates an estimate from a draft (an estimate without intervals) and its intervals. Fields:
# * fit, options: see draft_estimate().
# * table: the table of tidy().
# * bins: the table of tidy(x, "bins").
# * details: a row per system, with further columns for glance() and print().
# * replicates: a matrix with a column per system.
# * posterior: for each system a matrix, patterns of ratings x categories.
# * members: a row per system and averaged model.
# * typical: the typical share of shared errors, a number per system.
# * end_counts: expected confusion tables with shared and with independent errors.
# * gold: see correct_by_gold(); NULL without a sample of gold cases.
# Estimates from posterior draws have further fields (`...`).
new_accuracy_estimate <- function(draft, interval, ...) {
  fit <- draft$fit
  systems <- fit$x$systems
  point <- draft$point
  average_results <- draft$parts
  options <- draft$options
  has_one_rater <- is_one_rater(fit$x)
  table <- columns_tibble(
    system = systems, estimate = point$value, !!!interval$table[interval_columns],
    shared = point$shared %||% average_results$shared,
    independent = point$independent %||% average_results$independent, n = draft$n,
    method = options$method, reason = interval$table$reason, why = NA_character_
  )
  # An estimate gets a reason, although it is not NA, if the ratings carry no information (kappa is
  # zero).
  is_uninformative <- isTRUE(average_results$no_kappa) & !is.na(table$estimate) &
    is.na(table$reason)
  table[is_uninformative, c("reason", "why")] <- list(sprintf(
    "raters %s, so that their agreement carries no information", agreement_by_chance_words
  ), "chance")
  if (has_one_rater && fit$identified == "no_pairs") {
    table[c("reason", "why")] <- list(reason_one_rater, "one_rater")
  }
  sampling <- interval$sampling %||% average_sampling_error(draft)
  replicates <- interval$replicates
  details <- columns_tibble(
    system = systems, uninformative = point$uninformative, mean_posterior = point$mean_posterior,
    failed = if (is.null(replicates)) NA_integer_ else as.integer(colSums(is.na(replicates))),
    sampling = sampling,
    common = if (is.null(common_setting(options))) NA_real_ else
      correction_share(options, average_results$typical),
    !!!average_results[c("rater_error", "independence_weight", "dependence_weight")],
    average_shared = average_results$shared, base_rate_range = average_results$base_rate_range,
    disagreement_error = if (has_one_rater) NA_real_ else plurality_disagreement(fit$x),
    centre = interval$centre %||%
      robust_error(draft, point$value, sampling, average_results)$centre
  )
  # Rounding removes numerical errors of limits such as 1 - 0.7.
  bins <- modify_fields(stack_systems(systems, point$bins), c("lower", "upper"), round, 10L)
  if (!is.null(replicates)) dimnames(replicates) <- list(NULL, systems)
  new_result("accuracy_estimate",
    fit = fit, options = options, table = table, bins = bins, details = details,
    replicates = replicates, posterior = point$posterior,
    members = if (!is.null(draft$average)) stack_systems(
      systems, lapply(draft$average$point$systems, `[[`, "members")
    ), typical = average_results$typical, end_counts = end_counts(draft$average), ...
  )
}

# Returns reasons why estimates are NA, a string per estimate; NA if there is an estimate.
# * identified, agreement: fields of the fit of each estimate, or of the fit of all.
# * n: number of rated cases that each system answered.
# * used: number of categories that raters used.
why_no_estimate <- function(identified, agreement, categories, estimate, n, used = categories) {
  reason <- ifelse(n == 0, "no case of the system has a rating", if (used < 2L)
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

#' Accuracy of systems
#'
#' Estimates the accuracy of systems (classifiers): the probability that a system gives a case its
#' true category. The estimates are computed from *ratings*: the categories that several raters
#' (people, tests or programs) gave to the same cases. The true categories need not be known. *Gold
#' cases* are cases whose true category is known. If they are a random sample, they correct the
#' estimates.
#'
#' @param x A [ratings()] object with the answers of systems (argument `systems` of [ratings()]), or
#'   a [fit_raters()] result for such an object. Other objects are converted by [as_ratings()]. A
#'   list of [ratings()] objects, named by variable, gives a list of estimates.
#' @param method How the accuracy is computed, see *Methods*. `"average"`: mean over several models.
#'   `"joint"`: one model of raters and system. `"shared"`: one model of the raters only. `"binned"`
#'   and `"unbinned"`: formulas of Lehner (2015). Or a function of the ratings. The default `NULL`
#'   is `"average"`; it is `"joint"` if `model` is not the default or there are known raters, and
#'   `"shared"` for an [as_rater_fit()] result.
#' @param model Model of the raters' errors, a [rater_model()] or [rater_family()]. The default
#'   [k_model()] assumes equally accurate raters, equally probable errors and equally difficult
#'   cases. `"joint"` and `"shared"` accept any model; `"average"` only the default; `"binned"` and
#'   `"unbinned"` the default, a [rater_family()], and a [rater_model()] with `errors = "ordinal"`
#'   or `confidence = TRUE`. If `x` is a fit, its model is used.
#' @param interval Kind of interval, see *Intervals* and *Gold cases*: `"robust"`, `"bootstrap"`,
#'   `"profile"` or `"none"`; with a sample of gold cases also `"combined"`, `"corrected"` or
#'   `"anytime"`. The default `NULL` is `"combined"` with such a sample (`"corrected"` for one
#'   rater), and `"robust"` without. For a [rater_family()], an [as_rater_fit()] result, or a
#'   function as `method`, the choices are `"bootstrap"` (the default) and `"none"`.
#' @param conf_level Probability with which an interval should contain the accuracy, in (0, 1).
#'   Default: 0.9, see [fallible-options].
#' @param bins A list of settings for methods `"binned"` and `"unbinned"`. `width`: width of the
#'   bins of `"binned"`, in \[0.001, 1\], by default 0.1. `clip`: which estimates are limited to
#'   \[0, 1\]: the estimate in each `"bin"` (the default), only the `"overall"` mean of the bins, or
#'   `"none"`.
#' @param common Degree to which a system is assumed to share the errors of the raters. `"none"`:
#'   its errors are independent. `"all"`: it errs where the raters err. `"typical"`: a degree that
#'   was typical in public data. Or a number from 0 (none) to 1 (all). `NULL`, the default, is
#'   `"typical"` for method `"average"` and `"none"` for `"joint"`. Other methods do not accept
#'   `common`. See section *Shared errors of systems and raters* of [estimate_accuracy()].
#' @param resampling A list of settings for the bootstrap. `replicates`: number of replicates, by
#'   default 1000 for bootstrap intervals and 200 for other intervals that need replicates.
#'   `threads`: number of threads, by default 1, or option `fallible.threads`. `cluster`: groups of
#'   dependent cases, such as the cases of one patient, which are resampled together. It is the
#'   quoted name of a covariate, or takes the forms of argument `by` of [estimate_accuracy()].
#' @param systems Names of the systems to evaluate; `NULL`, the default, for all.
#' @param known_truth Cases whose true category is known ("gold cases"): a vector of categories
#'   named by case, or a data frame with columns `case` and `truth`. `TRUE` uses the truth that `x`
#'   contains (argument `truth` of [ratings()]). A result of [gold_cases()] also contains how the
#'   cases were sampled. For several variables, a list of these, named by variable, or a data frame
#'   with a column `case` and a column for each variable. `NULL`, the default, for none.
#' @param gold_sample How the gold cases were chosen. `"random"`: a simple random sample of the
#'   cases. `"given"`: chosen by hand; `NULL`, the default, is treated in the same way, with a
#'   warning. Or the probability with which each gold case was chosen, in (0, 1]: a vector named by
#'   case, a data frame with columns `case` and `probability`, or the name of a column of
#'   `known_truth`.
#' @param known_raters Raters whose error rates are known: a list named by rater. An element is the
#'   probability of a correct rating, or a matrix of probabilities or counts (see *Calibration
#'   samples*), with true categories in rows. Cannot be used together with `known_truth`. `NULL`,
#'   the default, for none.
#' @param ... Not used.
#' @return An object of class `accuracy_estimate`. With `by`, a list of such objects, named by
#'   group; see [accuracy_by_group]. [tidy()][tidy.accuracy_estimate] returns a tibble with a row
#'   per system:
#'   * `system`: its name.
#'   * `estimate`: its accuracy, a probability; `std.error`: standard error; `conf.low`,
#'     `conf.high`: limits of the interval, `NA` without an interval.
#'   * `shared`, `independent`: its accuracy if it shares all errors of the raters, and if its
#'     errors are independent of theirs. `NA` for methods `"binned"` and `"unbinned"` without a
#'     robust interval.
#'   * `n`: number of rated cases that it answered.
#'   * `method`: name of the method.
#'   * `reason`: why a value is `NA` (see *Missing values and weights*), or why an estimate is
#'     doubtful; otherwise `NA`.
#'
#'   [tidy.accuracy_estimate] describes other columns, other tables and `glance()`.
#'   [update()][update.accuracy_estimate] adds gold cases.
#' @family estimation
#' @templateVar where Equations 6-7
#' @template ref-lehner
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(
#'   rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.6), n = 300), rater_kind = "expert"
#' )
#'
#' # Accuracies of systems a (truly .8) and b (truly .6), from three raters
#' estimate <- estimate_accuracy(x)
#' estimate
#' tidy(estimate)
#' if (requireNamespace("ggplot2", quietly = TRUE)) plot(estimate)
#'
#' # A separate estimate for each of two sites; values are matched by `case`
#' data <- data.frame(
#'   case = 1:300, site = rep(c("east", "west"), each = 150), patient = rep(1:100, 3)
#' )
#' estimate_accuracy(x, by = data[c("case", "site")], systems = "a")
#'
#' # Dependent cases: an interval that allows for several cases of each patient
#' patients <- data[c("case", "patient")]
#' estimate_accuracy(x, systems = "a", resampling = list(cluster = patients, replicates = 50))
#'
#' # A name is enough for `by` if `x` contains the values as a covariate
#' sites <- data.frame(site = c("east", "west"), weight = c(0.5, 0.5))
#' named <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), covariates = sites), 300)
#' estimate_accuracy(named, by = site, interval = "none")
#'
#' # Gold cases: the truth of sixty random cases corrects the estimates
#' gold <- truth(x)[sample(300, 60), ]
#' estimate_accuracy(x, known_truth = gold, gold_sample = "random")
#'
#' # The example of Lehner (2015), as published, with the table of bins
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
  known_truth <- truth_of_variables(eval_tidy(known_truth), x)
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
    if (!is.null(by) && n_raters(x) < 2L) warn_tied_reruns(x)
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
  fit_ratings <- function(x, truth) {
    if (is_one_rater(x)) return(fit_one_rater(x, model))
    x <- with_votes(x)
    if (is.null(truth) && drops_constant_raters(list(method = method, common = common))) {
      x <- without_constant_raters(store_abstain_decision(x))
    }
    muffle_boundary_warning(method, fit_checked(x, model, NULL, truth, NULL))
  }
  estimate_by_group(x, by, fit_ratings, gold, c(mget(setting_arguments), settings))
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
    "With {.arg by}, the model is fitted again in each group, which is not possible for this fit.",
    x = if (inherits(x, "posterior_fit")) "{.arg x} has only posterior probabilities." else
      "{.arg x} was fitted with known truths.",
    i = "Fit each group separately, from {.code ratings[cases, ]}, and estimate from these fits.")
  fit_ratings <- function(group_ratings, truth) {
    if (!is.null(by)) {
      muffle_boundary_warning(method, fit_again(x, group_ratings, known_truth = truth))
    } else if (is.null(truth)) {
      x
    } else {
      update(x, known_truth = truth)
    }
  }
  estimate_by_group(x$x, by, fit_ratings, gold, c(mget(setting_arguments), settings))
}

# Calls estimate_accuracy() with a fit and the user's arguments. Arguments that are NULL or empty
# are left out.
estimate_from_fit <- function(fit, by, arguments) {
  if (!is.null(by)) by <- setNames(by, as_label(fit$x$cases))
  do.call(estimate_accuracy, c(list(fit, by = by), Filter(length, arguments)))
}

# Names of the settings that are arguments of estimate_accuracy(). Other settings are elements of
# its arguments `bins` and `resampling`, which are lists.
setting_arguments <- c("method", "interval", "conf_level", "common")

# Evaluates and returns `fit`. If the method is "average", suppresses the warning that a base rate
# was estimated below zero, because this method does not use these base rates.
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
  # If the interval does not use gold cases as a sample, the fit uses their known truths.
  if (!is.null(gold) && is.null(interval_of(options)$gold)) gold$kind <- "likelihood"
  estimate_each_group(x, by, function(x, cluster, gold) {
    estimate_systems(fit_ratings(x, truth_for_fit(gold, x)), cluster, gold, options)
  }, arguments$cluster, gold)
}

# Estimates the accuracy of all systems of a fit, with intervals. Gold cases correct the estimates.
# * cluster: cluster of each case, or NULL.
# * gold: result of resolve_gold(), or NULL.
estimate_systems <- function(fit, cluster, gold, options) {
  if (!is.null(cluster)) options$cluster <- match(cluster, unique(cluster))
  options$given_cluster <- cluster # the user's values; numbers of clusters differ between groups
  check_has_systems(fit$x)
  check_combination(options, fit$model, fit, gold)
  fit <- fit_without_abstentions(fit)
  # Constant raters are dropped only from fits by algebra (class k_fit). The model is then fitted
  # again. Other fits, such as fits with known truths, keep their constant raters.
  if (inherits(fit, "k_fit") && drops_constant_raters(options)) {
    x <- without_constant_raters(store_abstain_decision(fit$x))
    is_changed <- !identical(x$raters, fit$x$raters) ||
      !identical(x$only_constant, fit$x$only_constant)
    if (is_changed || isTRUE(x$panel$abstain$by_replies)) {
      new_fit <- fit_algebraic(x, fit$model)
      new_fit$given <- fit$given
      fit <- new_fit
    }
  }
  warn_gold(gold, fit$x)
  draft <- draft_estimate(fit, options)
  interval <- compute_interval(draft)
  estimate <- new_accuracy_estimate(interval$draft %||% draft, interval)
  estimate <- correct_by_gold(estimate, gold, if (!is.null(fit$scored)) fit$posterior)
  # The hidden error is the standard deviation of the bias due to shared errors. After a correction
  # by gold cases, it must be computed again from the corrected estimate.
  hidden_errors <- if (is.null(gold)) interval$hidden
  if (!is.null(draft$average)) warn_doubtful(estimate, hidden_errors %||% hidden_error(estimate))
  show_accuracy(estimate)
}

check_has_systems <- function(x) {
  if (n_systems(x) == 0L) abort_no_system("There is no system whose accuracy can be estimated.")
}

# Computes a draft, which is an estimate without its interval. Returns a list:
# * fit, options: the arguments.
# * average: result of compute_average(), or NULL if averaged models are not needed.
# * point: result of new_point().
# * results_of_average: accuracies and errors under the averaged models, see summarise_average().
# * n: number of rated cases that each system answered.
# * reason: why the estimate of a system is NA, a string per system.
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
  draft$results_of_average <- summarise_average(estimates, draft$average)
  if (has_scores) {
    n_raters <- fit$scored$raters
    has_no_estimate <- is.na(estimates)
    n_wrong <- sum(1 - estimates, na.rm = TRUE) +
      if (n_raters > 0L) n_raters * (1 - fit$rater_accuracy) else 0
    # The weight of shared errors in the interval (`dependence_weight`) is 1, because scores do not
    # show whether errors are independent.
    score_results <- list(
      rater_error = n_wrong / (n_raters + sum(!has_no_estimate)), dependence_weight = 1,
      base_rate_range = base_rate_ranges(fit$x)
    )
    # Models of scores are not averaged, so their results replace the results of averaged models.
    draft$results_of_average[names(score_results)] <-
      lapply(score_results, function(result) ifelse(has_no_estimate, NA_real_, result))
  }
  draft$n <- count_answered_cases(fit)
  draft$reason <- draft$point$reason %||% why_no_estimate(
    identification_code(fit), fit$agreement, n_categories(fit$x), estimates, draft$n,
    count_used_categories(fit$x)
  )
  draft
}

# Returns the number of rated cases that each system answered.
count_answered_cases <- function(fit) {
  unname(colSums(pattern_cases(fit$x) * (is_usable_pattern(fit) & fit$x$patterns$answer > 0L)))
}

# Creates the result of an estimation method. Each argument has a number or list element per system.
# * value: the estimate.
# * estimator: computes replicates of the estimate.
# * shared, independent: accuracy with shared and with independent errors. If NULL, the accuracies
#   of the averaged models are used.
# * reason: why values are NA. If NULL, why_no_estimate() is used.
# * posterior: probabilities of the true category, a matrix per system (patterns of ratings x
#   categories).
# * bins: tables with the columns of `empty_bins`.
# * uninformative: share of cases in bins without information.
# * mean_posterior: mean posterior probability of the system's answers.
new_point <- function(value, estimator = NULL, shared = NULL, independent = NULL, reason = NULL,
                      posterior = NULL, bins = rep(list(empty_bins), length(value)),
                      uninformative = NA_real_, mean_posterior = NA_real_) {
  mget(names(formals()))
}

# Computes the intervals of a draft (an estimate without intervals). Systems without an interval get
# a reason. Returns the list that function `find` of new_interval() returns.
compute_interval <- function(draft) {
  interval <- interval_of(draft)
  table <- result_table(draft$point$value, reason = draft$reason)
  if (is.null(interval$find)) return(list(table = table))
  reason <- why_no_interval(interval, draft)
  if (!is.null(reason)) return(list(table = add_no_interval_reason(table, reason)))
  if (all(is.na(draft$point$value))) list(table = table) else interval$find(draft, table)
}

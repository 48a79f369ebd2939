#' Fit a latent class model to raters
#'
#' Estimates the accuracy of raters, their confusion matrices, and the base rates of the categories
#' from the agreement between raters. Raters are people or programs that choose a category for each
#' case. The truth need not be known, because the model treats the true category of a case as a
#' latent (unobserved) class. A confusion matrix contains the probabilities of ratings (columns)
#' given the true category (rows). A base rate is the share of cases with a given true category. The
#' function does not use the answers of systems (the classifiers to evaluate).
#'
#' @section Methods:
#' * `"likelihood"` fits any [rater_model()]. It maximises the log likelihood plus the log density
#'   of the model's prior (if any). Standard errors are computed from the curvature at the maximum.
#'   In large fits, such as those with more than 2000 parameters, standard errors are too small if
#'   raters often disagree, and covariances are `NA`.
#' * `"pairs"` fits the frequencies of all pairs of ratings of a case by two raters, by least
#'   squares and without a prior. It needs a [rater_model()] with `errors = "uniform"` or
#'   `"distance"`, `confidence = FALSE` and no formula of base rates. Standard errors are sandwich
#'   estimates. If this fit differs clearly from a fit by likelihood, the model is wrong.
#' * `"algebraic"` fits the [k_model()], in which all raters have the same accuracy `R`. Let `A` be
#'   the share of equal pairs among all pairs of ratings of a case by two raters. Let `K` be the
#'   number of categories, and `s` the share of a category among all ratings. `R` and the base rate
#'   `b` of the category solve `A = R^2 + (1 - R)^2 / (K - 1)` and `s = b R + (1 - b) (1 - R) / (K -
#'   1)` (equations 2 and 5 of Lehner, 2015). Standard errors are computed by the delta method. If a
#'   base rate would be negative, it is set to zero, the other base rates are rescaled to sum to
#'   one, and the function warns.
#' * `"bayes"` draws parameters from the posterior distribution; see *Posterior draws*.
#'
#' Several ratings of a case by the same rater are treated as independent ratings. Reruns (repeated
#' answers of a program) are first replaced by their most frequent category, and so are the ratings
#' of a case by a group of raters; see [rater_groups].
#'
#' @section Identification: A model is not identified if different values of its parameters explain
#' the ratings equally well, for example if no case was rated by two raters. The function then
#' warns, and estimates are `NA`. Known cases or known raters can identify such a model.
#' * *Two raters.* If each rater has a separate, free confusion matrix, two raters are not enough.
#'   The exception is a formula of base rates that defines populations (groups of cases with
#'   different base rates). With two raters and two categories, the assumptions of a model with an
#'   accuracy per rater cannot be tested.
#' * *Agreement at or below chance.* Models with one accuracy for all raters need an agreement
#'   (share of equal pairs of ratings) above 1 / number of categories. If agreement is not above
#'   this number, `"algebraic"` returns the number as the accuracy, and all other estimates are
#'   `NA`. Models with an accuracy or a matrix per rater need raters who agree more often than by
#'   chance, given how often each rater uses each category.
#' * *Raters who always give the same answer* do not help to estimate the accuracy of other raters.
#'   No model is identified if, without them, no case has two ratings.
#' * *Categories without a rating.* A model with `errors = "free"` and without a prior needs ratings
#'   in every category.
#' * *Raters without a rating* have `NA` estimates, if the model has parameters per rater.
#'
#' @section Known cases and raters: Base rates are estimated from all cases, so cases with known
#' truth (gold cases) should be sampled like the other cases. The confusion matrix of a known rater
#' is not changed by the fit; it should be estimated from other cases. If there is only one rater,
#' known cases or a known matrix are required.
#'
#'
#' @section Calibration samples: A calibration sample contains other cases with known truth that a
#' rater has rated. The argument `known_raters` contains the counts of these ratings. With such a
#' sample, base rates can be estimated from a single rater, or from a single group of raters. The
#' rater is assumed to make the same errors in the sample and in `x`.
#'
#' With two categories, let `s` and `c` be the shares of correct ratings in the sample, for cases
#' whose true category is the second (`s`) or the first (`c`). Let `a` be the share of ratings of
#' the second category among the cases of `x`. The base rate of the second category is `(a + c - 1)
#' / (s + c - 1)`, clipped to \[0, 1\] (Rogan and Gladen, 1978). `confint()` returns the interval of
#' Lang and Reiczigel (2014) in the form of Lee et al. (2025).
#'
#' With more categories, base rates and confusion matrix are joint maximum likelihood estimates.
#' `confint()` of base rates returns percentiles of 1000 draws, in which each row of counts has a
#' Dirichlet distribution with parameters `counts + 1/2`.
#'
#' Several raters with samples are assumed to err independently. Language models and programs often
#' make the same errors. In a simulation with three such raters, the estimated base rate was .711,
#' with an interval from .705 to .717, but the true base rate was .800. Put such raters into one
#' group (see [rater_groups]) and give the counts of the majority vote of the group: `known_raters =
#' list(group_name = counts)`.
#'
#' @section Posterior draws: With `method = "bayes"`, a Gibbs sampler draws the true categories of
#' all cases, the base rates, and the accuracies or confusion matrices. Estimates are posterior
#' medians; [draws()] returns the draws. The model is a [rater_model()] with `errors = "uniform"` or
#' `"free"`, `difficulty = "none"` and `confidence = FALSE`. Each population of a formula has
#' separate base rates. If there are only two raters and one population, both raters need priors.
#'
#' Unless the argument `dependence` of [rater_model()] is used, raters are assumed to err
#' independently given the truth. The latent class is then the property that most raters measure.
#' For example, two tests for antibodies can outvote a better test of the infection itself.
#'
#' @section Warnings and errors: The function warns if a fit is not identified, only weakly
#' identified or not converged, and if categories may be exchanged. Unsuitable arguments raise an
#' error. All classes are listed in [conditions].
#'
#' @srrstats {BS1.1, BS1.3, BS1.3b} `sampling`; a single sampler
#' @srrstats {UL1.4, UL1.4a, UL2.0} assumptions; warnings if a fit is not identified
#' @param x A [ratings()] object, or an object that [as_ratings()] can convert.
#' @param model A model of the raters' errors: [k_model()] (all raters have the same accuracy),
#'   [rater_model()] or a user-defined [rater_family()]. The default is [dawid_skene()] (a confusion
#'   matrix for each rater) if `known_raters` contains counts, and [k_model()] otherwise.
#' @param method `"algebraic"`, `"likelihood"`, `"pairs"` or `"bayes"`; see *Methods*. The default
#'   `NULL` is `"algebraic"` for the [k_model()] if no cases or raters are known, and `"likelihood"`
#'   otherwise.
#' @param known_truth Cases whose true category is known: a vector of categories named by case, a
#'   data frame with columns `case` and `truth` (or `category`), a [gold_cases()] result, or `TRUE`
#'   for the truth that `x` contains. The truth of other cases, and of cases with `NA`, is unknown.
#'   Known cases need `method = "likelihood"` or `"bayes"`. `NULL`, the default, for none.
#' @param known_raters Raters whose confusion matrix is known: a list named by rater. Known raters
#'   need `method = "likelihood"` or `"bayes"`. `NULL`, the default, for none. Rows and columns of a
#'   matrix are named by category, or are in the order of the categories. Each element of the list
#'   has one of these forms:
#'   * a matrix of probabilities, with the true category in rows;
#'   * the probability of a correct rating, in \[0, 1\], if all wrong ratings are equally probable;
#'   * for [dawid_skene()], a matrix of counts with the true category in rows; see *Calibration
#'     samples*.
#' @param prior Only for `"bayes"`: a [rater_prior()], which replaces the prior of `model`. The
#'   default `NULL` is `rater_prior()`.
#' @param sampling Only for `"bayes"`: a list with none, some or all of these settings.
#'   * `draws`: total number of draws (4000 by default).
#'   * `chains`: number of chains (4).
#'   * `warmup`: number of discarded iterations per chain (1000).
#'   * `thin`: every `thin`-th iteration is kept. The default is 1, or more if draws are strongly
#'     autocorrelated.
#'   * `threads`: number of threads; the default is set by [fallible-options].
#' @param design A `survey::svydesign()` with a row per case. It needs `method = "likelihood"` and a
#'   model with a formula of base rates (argument `base_rates` of [rater_model()]). A column `case`
#'   names the cases; without this column, rows must be in the order of the cases of `x`. The log
#'   likelihood of a case is multiplied by its sampling weight. Standard errors of the [regression]
#'   of base rates allow for strata and clusters. `NULL`, the default, for none.
#' @param ... Not used.
#' @return An object of class `rater_fit`. [base_rates()], [confusion()] and [ground_truth()] return
#'   its main results. [tidy()][tidy.rater_fit] returns its parameters with standard errors and
#'   intervals. Other methods are `print()`, `summary()`, `coef()`, `vcov()`, `nobs()`, `logLik()`,
#'   `AIC()`, `BIC()`, [predict()][predict.rater_fit], [simulate()][simulate.rater_fit],
#'   [update()][update.rater_fit] and [autoplot()][autoplot.rater_fit].
#' @family models of raters
#' @templateVar where Equations 1-5
#' @template ref-lehner
#' @references Lang, Z. and Reiczigel, J. (2014). Confidence limits for prevalence of disease
#'   adjusted for estimated sensitivity and specificity. *Preventive Veterinary Medicine*, 113,
#'   13-22.
#'
#'   Lee, C., Zeng, T., Jeong, J., Sohn, J. and Lee, K. (2025). How to correctly report
#'   LLM-as-a-judge evaluations. *arXiv* 2511.21140.
#'
#'   Rogan, W. J. and Gladen, B. (1978). Estimating prevalence from the results of a screening test.
#'   *American Journal of Epidemiology*, 107, 71-76.
#' @examples
#' # Four raters who are equally accurate (the K-model)
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' fit <- fit_raters(x)
#' fit
#' base_rates(fit)
#'
#' # The truth of cases 1 and 7 and the accuracy of one rater are known
#' fit_raters(x, known_truth = c("1" = "C", "7" = "A"), known_raters = list(rater2 = 0.7))
#' @export
fit_raters <- function(x, model = k_model(), method = NULL, known_truth = NULL,
                       known_raters = NULL, prior = NULL, sampling = list(), design = NULL, ...) {
  check_call()
  x <- as_ratings(x)
  if (n_raters(x) < 2L) warn_tied_reruns(x)
  x <- with_votes(x)
  resolved_design <- if (!is.null(design)) resolve_design(x, design)
  if (missing(model)) model <- default_model(known_raters)
  x <- resolved_design$x %||% x
  fit <- fit_checked(x, model, method, known_truth, known_raters, NULL, prior, sampling)
  abort_argument_if(!is.null(design) && !is_regression(fit), "design",
    "{.arg design} needs a model with a formula of base rates and {.code method = \"likelihood\"}.",
    x = "{.arg model} is {.val {format(model)}}.")
  fit$design <- resolved_design$design
  warn_if_untestable(fit)
  test_differential_errors(fit)
}

check_model <- function(model) {
  check_class(model, "rater_model", "model", "Use a call such as {.code k_model()},
    {.code dawid_skene()} or {.code rater_model()}. {.arg method} sets how the model is fitted.")
}

hint_model_argument <- "To choose a model, use {.arg model}, as in {.code model = dawid_skene()}."

# Checks the arguments of fit_raters(), fits the model and returns the fit. All other functions that
# fit a model to raters use this function. `start`: a result of starting_values(), or NULL.
fit_checked <- function(x, model, method, known_truth, known_raters, start = NULL, prior = NULL,
                        sampling = list()) {
  check_model(model)
  resolved_abstain <- resolve_abstain(x, model, method, known_raters)
  model <- resolved_abstain$model
  checked_arguments <-
    check_fit_arguments(resolved_abstain$x, model, method, known_truth, known_raters)
  bayes_args <- list(prior = prior, sampling = sampling)
  given_bayes_args <- names(Filter(length, bayes_args))
  abort_argument_if(checked_arguments$method != "bayes" && !is_empty(given_bayes_args),
    given_bayes_args[[1L]],
    "can be used only with {.code method = \"bayes\"}.")
  fit <- switch(checked_arguments$method,
    algebraic = fit_algebraic(checked_arguments$x, model),
    bayes = fit_draws(model, checked_arguments, prior, as.list(sampling)),
    fit_model(model, checked_arguments, start)
  )
  checked_arguments$given$raters <- checked_arguments$given$raters[
    names(checked_arguments$given$raters) %in% fit$x$raters]
  fit$given <- c(checked_arguments$given, bayes_args)
  # The standard error of the accuracy is stored for print(), so that printing is fast.
  if (model$accuracy != "rater" && is.null(fit$draws))
    fit$accuracy_error <- sqrt(coefficient_variances(fit)[[1L]])
  if (fit$identified == "yes") {
    warn_identified_fit(fit)
  } else {
    reason <- reason_of_fit(fit)
    warn_fallible("not_identified", "Accuracy cannot be estimated: {reason}.",
      i = advice_by_code[[identification_code(fit)]], reason = reason)
  }
  fit
}

# Checks the arguments of fit_raters(). Returns the result of resolve_known(), a list, with a
# further element `method`, the name of the method.
check_fit_arguments <- function(x, model, method, known_truth, known_raters) {
  check_memory(
    as.double(n_patterns(x)) * n_categories(x), "probabilities of categories of cases",
    "Use fewer cases, or merge categories."
  )
  has_known_truth_or_rater <- !is.null(c(known_truth, known_raters))
  if (!has_known_truth_or_rater) check_several_raters(x)
  method <- check_method(method, model, x, has_known_truth_or_rater)
  abort_argument_if(!is.null(known_raters) && !is.null(model$family), "known_raters",
    "{.arg known_raters} cannot be used with a model that is defined by {.fun rater_family}.",
    x = "{.arg model} is {.val {format(model)}}.")
  if (uses_confidence(model)) {
    # Levels of confidence without ratings are dropped, because their probabilities could not be
    # estimated.
    used_levels <- find_used_levels(x)
    confidence <- x$confidence
    is_kept <- confidence$code %in% used_levels
    x$confidence <- list(
      levels = confidence$levels[used_levels], case = confidence$case[is_kept],
      rater = confidence$rater[is_kept], code = match(confidence$code[is_kept], used_levels)
    )
  }
  resolved_arguments <- resolve_known(patterns_for(model, x), known_truth, known_raters)
  if (method != "bayes" && is.null(model$family)) {
    resolved_arguments$known <-
      c(resolved_arguments$known, population_arguments(model, resolved_arguments$x))
  }
  c(resolved_arguments, list(method = method))
}

# Returns TRUE if the model can be fitted by method "pairs". Models with free errors cannot be
# fitted, because different confusion matrices can give the same frequencies of pairs.
can_fit_by_pairs <- function(model) {
  model$errors %in% c("uniform", "distance") && !uses_confidence(model) && !has_formula(model)
}

# Fits a model and returns the fit. `checked`: a result of check_fit_arguments(). `start`: a result
# of starting_values(), or NULL.
fit_model <- function(model, checked, start) UseMethod("fit_model")

# Returns the name of the method. If `method` is NULL, returns the default method for the model.
# Raises an error if the method cannot fit the model. `has_known_truth_or_rater`: are truths of
# cases or errors of raters known?
check_method <- function(method, model, x, has_known_truth_or_rater) {
  method <- method %||%
    if (is_k_model(model) && !has_known_truth_or_rater) "algebraic" else "likelihood"
  check_choice(method, c("algebraic", "likelihood", "pairs", "bayes"), "method",
    hint_model_argument)
  abort_argument_if(model_is_dependent(model) && method != "bayes", "model",
    "A model with {.field dependence} needs {.code method = \"bayes\"}.",
    x = "{.arg model} is {.val {format(model)}}.")
  abort_argument_if(model$errors == "ordinal" && !x$ordered && n_categories(x) > 2L, "model",
    "A model with {.code errors = \"ordinal\"} needs ordered categories.",
    x = "Categories of {.arg x} are not ordered: {.val {x$categories}}.",
    i = "Give {.code ordered = TRUE} to {.fun ratings}, with {.arg categories} in their order.")
  if (uses_confidence(model)) {
    used_levels <- find_used_levels(x)
    abort_argument_if(length(used_levels) < 2L || !is.null(x$voted), "model",
      "A model with {.code confidence = TRUE} needs ratings with {.arg confidence}.",
      x = if (!is.null(x$voted)) "Each group of raters counts as one vote, and votes have no
          confidence." else if (is.null(x$confidence)) "{.arg x} has no confidence." else
          "All ratings have the level {.val {x$confidence$levels[used_levels]}}.",
      i = "Give {.arg confidence} to {.fun ratings}, or use {.code confidence = FALSE}.")
  }
  is_without_likelihood <- method %in% c("algebraic", "pairs")
  is_impossible <- c(
    "This {.arg method} can fit neither a {.fun rater_family} nor a model with a formula." =
      is_without_likelihood && (!is.null(model$family) || has_formula(model)),
    "This {.arg method} cannot use {.arg known_truth} or {.arg known_raters}." =
      is_without_likelihood && has_known_truth_or_rater,
    "{.code method = \"pairs\"} needs a model with {.code errors = \"uniform\"} or {.val distance},
     and with {.code confidence = FALSE}." = method == "pairs" && !can_fit_by_pairs(model),
    "{.code method = \"algebraic\"} can fit only the K-model." =
      method == "algebraic" && !is_k_model(model)
  )
  abort_argument_if(any(is_impossible), "method", names(is_impossible)[is_impossible][1L],
    x = "{.arg method} is {.val {method}}, and {.arg model} is {.val {format(model)}}.",
    i = "Use {.code method = \"likelihood\"}.")
  if (model$accuracy == "rater") check_named_raters(x, "model",
    "A model with an accuracy for each rater needs the rater of each rating.",
    i = "Choose {.code accuracy = \"common\"}.")
  method
}

# Creates a fit of class `fit_class`. All fits have these fields:
# * x, model, method: the ratings, the model and the name of the method
# * known, given: known truths and raters in the form for the core, and in the form of the user's
#   arguments; see resolve_known()
# * identified: "yes", or a code of the reason why the fit is not identified
# * agreement, kappa: share of equal pairs of ratings, and the kappa of Lehner (2015), both from the
#   K-model
# * rater_accuracy, base_rates: mean accuracy of raters, and base rates
# * negative: number of base rates whose estimate was negative
#
# Further fields depend on the class of the fit. The classes are:
# * k_fit: algebraic fits of the K-model
# * latent_fit: fits of models by the core, by likelihood or to pairs of ratings
# * draws_fit: Bayesian fits, which contain posterior draws
# * family_fit: fits of user-defined models, see rater_family()
# * posterior_fit: posterior probabilities from the user, see as_rater_fit()
# * score_fit: a fit of scores of a classifier, which is also a posterior_fit
#
# Each class has these methods:
# * compute_posterior(): posterior probabilities of other ratings (patterns x categories)
# * covariance_of(): covariances or variances of the coefficients
# * rating_distribution(): distributions from which simulate() draws
# * replace_answers(): the fit with other answers of systems
# * new_refit_function(): a function that returns posterior probabilities for other pattern weights
# * fit_raters_only(): the fit of the raters without systems; its second argument is an accuracy
#   estimate
# * likelihood_lines(): additional lines for print()
#
# Models that are fitted in R also need a method of r_model_field().
#
# `by_agreement`: a fit of the K-model to the same ratings. `...`: further fields.
new_rater_fit <- function(fit_class, x, model, method, known = nothing_known, ...,
                          by_agreement = fit_algebraic(x)) {
  fit <- c(
    list(x = x, model = model, method = method, known = known, negative = 0L),
    by_agreement[c("identified", "agreement", "kappa")]
  )
  further_fields <- list(...)
  structure(replace(fit, names(further_fields), further_fields),
    class = c(fit_class, "rater_fit", "fallible_result"))
}

rater_terms <- function(x) sprintf("rater_accuracy[%s]", x$raters)
rate_terms <- function(x) sprintf("base_rate[%s]", x$categories)

# Converts argument `fit` of an exported function to a fit. The argument can be a fit, an accuracy
# estimate (whose fit is returned), or ratings (to which the K-model is fitted).
as_fit <- function(fit, arg = "fit") {
  if (inherits(fit, "accuracy_estimate")) fit <- fit$fit
  if (inherits(fit, "rater_fit")) fit else fit_raters(as_ratings_of_several(fit, arg))
}

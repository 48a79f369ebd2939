#' Fit a latent class model to raters
#'
#' Estimates the accuracy of raters (their confusion matrices) and the base rates of the categories
#' from the agreement between raters, without known truth. The answers of systems are not used.
#'
#' @section Methods:
#' With `method = "likelihood"` any [rater_model()] can be fitted. L-BFGS maximises the log
#' posterior of the distinct rows of ratings. It starts from vote shares (after EM steps if errors
#' are free). If cases differ in difficulty, it also starts from two other points, and the best
#' result is kept. Standard errors are from the curvature at the maximum. Parameters on a boundary
#' are treated as known, and have the standard error `NA`. The curvature is not computed with more
#' than 2000 parameters, or if it would take more than about ten seconds. Each standard error is
#' then computed separately, as if the posterior of the true categories were known. It is too small
#' if raters often disagree, and covariances are `NA`. Two ratings of a case by a rater count as
#' independent, unless they are reruns. Reruns, and the ratings by a declared group of raters, are
#' replaced by one vote before fitting, with any method; see [rater_groups].
#'
#' * The number of raters times the squared number of categories can be at most ten million.
#'   Otherwise there is an error that suggests an alternative.
#' * A model is not identified if it has more parameters than the ratings can distinguish, for
#'   example free errors with two raters, or errors by distance with two categories. There is then a
#'   warning of class `fallible_warning_not_identified`, and results are `NA`. The criterion is the
#'   rank of a matrix of scores (derivatives of the log likelihood) of random answers by raters who
#'   rated together. It uses at most four categories. With more than 20 raters, it uses the raters
#'   of the case with most ratings.
#' * With free errors per rater, estimates of a rater who shares too few cases with others are `NA`,
#'   or near the mean of the panel. The other raters are fitted if base rates and at least three
#'   raters are identified.
#' * `fallible_warning_no_convergence`: the maximum was not reached.
#' * `fallible_warning_weakly_identified`, for free errors per rater: agreement is barely
#'   distinguishable from chance, or base rates depend mostly on the prior. It is also given if
#'   raters who use the labels in the opposite sense gave over a third of the ratings. Finally, it
#'   is given if an interval from a calibration sample is wider than .5.
#' * `fallible_warning_switched`, for other models: it is uncertain which latent class is which
#'   category.
#'
#' With `method = "pairs"`, the frequencies of all pairs of ratings by two raters are fitted by
#' least squares (footnote 5 of Lehner, 2015). The model must have uniform errors or errors by
#' distance. The weight of a pair of raters is the number of their common cases. Priors are not
#' used, and there is no likelihood. Standard errors are sandwich estimates. The method is a check
#' of the fit by likelihood: if the two fits disagree, the model is wrong.
#'
#' With `method = "algebraic"`, agreement is the share of agreeing pairs among all pairs of ratings
#' by different raters. Rater accuracy and base rates solve equations 2 and 5 of Lehner (2015).
#' Standard errors are computed by the delta method over cases. Negative base rates are set to zero
#' and the others rescaled to sum to one, with a warning of class `fallible_warning_boundary`. A
#' category with base rate zero has probability zero in every case, even if all raters chose it.
#'
#' @section Known cases and raters: Cases with known truth (gold cases) enter the likelihood like
#' ratings by a rater who is never wrong. They also count in base rates, so they should be drawn
#' like the other cases. For known raters, from a calibration on other cases, confusion matrices are
#' used as given. Known cases and raters need `method = "likelihood"`, which is then the default, or
#' `"bayes"`. They can identify models that agreement does not identify. A single rater needs known
#' cases or a known matrix. [ground_truth()] gives a known case probability one at its truth, and
#' [estimate_accuracy()] compares systems with that truth.
#'
#' @section Calibration samples: A calibration sample is a matrix of counts from other cases, with
#' the true category in rows and the rating in columns. If the only rater (or the vote of one of the
#' [rater_groups]) has such a sample, no model of agreement is needed. The rater's errors are
#' assumed to be the same in the sample and in the cases of `x`; the ratings cannot test this.
#'
#' * *Two categories.* Let `s` and `c` be the shares of correct ratings in the sample, for the
#'   second and the first category. Let `a` be the share of ratings of the second category. The base
#'   rate of the second category is `(a + c - 1) / (s + c - 1)`, clipped to \[0, 1\] (Rogan and
#'   Gladen, 1978). For example, `a` = 60/200, `s` = 45/50 and `c` = 90/100 give .25. The standard
#'   error is computed by the delta method. `confint()` of base rates returns the interval of Lang
#'   and Reiczigel (2014), as printed by Lee et al. (2025). It uses the shares (correct + 1) /
#'   (cases + 2), which are not used elsewhere. If the estimate is 0 or 1, the interval is extended
#'   to the limit of the profile likelihood, if this makes it wider.
#' * *More categories.* Base rates and confusion matrix are joint maximum likelihood estimates. They
#'   are computed from the inverse of the matrix if this gives probabilities. `confint()` of base
#'   rates returns percentiles of 1000 draws from Dirichlet distributions with parameters `counts +
#'   1/2`. If an estimate is 0 or 1, its interval is extended as for two categories, with all other
#'   categories joined.
#' * All results are `NA`, with a reason, if a category has no case in the sample, or if the rater
#'   is no better than chance in the sample. `fallible_warning_weakly_identified` means that an
#'   interval (with the default `conf_level`) is wider than .5.
#' * Suppose that the rater chooses the second category in 5 of 100 more cases in `x` than in the
#'   sample, whatever their truth. The estimated base rate is then .05 / (s + c - 1) too high, as
#'   `print()` shows.
#' * For a base rate `p`, the best ratio of sample sizes of the two categories (second to first) is
#'   `p sqrt(s (1 - s)) / ((1 - p) sqrt(c (1 - c)))`.
#'
#' Several raters with samples are assumed to err independently. Language models and programs do not
#' (`fallible_warning_known_independent`). A simulation had three judges with correlated errors and
#' 5000 calibration cases of each category. The estimate was .711, with an interval from .705 to
#' .717; the true value was .800. Put such raters into one of the `rater_groups` and give the counts
#' of its vote: `known_raters = list(panel = counts)`.
#'
#' @section Posterior draws: With `method = "bayes"` the fit consists of draws from the posterior of
#' the true categories of all cases, base rates, and accuracies or confusion matrices. Priors are
#' from [rater_prior()]; the sampler is a Gibbs sampler on distinct rows of ratings. Errors are
#' uniform or free, common to all raters or per rater, and cases are equally difficult. A formula of
#' base rates defines populations with separate rates. A fit of two tests in one population only
#' repeats its prior, and is an error without informative priors. Estimates are posterior medians;
#' [draws()] returns the draws. Raters are assumed to err independently given the truth. The latent
#' class is therefore the property on which raters agree: two antibody tests outvote a better test
#' of another property. See also [test_accuracy()].
#'
#' @section Degenerate data:
#' * *Two raters.* Free errors are never identified. Other models mostly are, because pairs of
#'   categories carry more information than agreement. With two categories, no degree of freedom is
#'   left.
#' * *No common cases* (a single rating per case). Nothing is identified without gold cases or known
#'   raters.
#' * *Agreement at or below chance* (1 / number of categories). Models with one accuracy for all
#'   raters are not identified; with `"algebraic"`, rater accuracy is set to chance. Models with
#'   parameters per rater are not identified if raters agree no more than by chance, given how often
#'   each uses each category. A single rater below chance among better raters is fitted without
#'   correction.
#' * *Perfect agreement.* Accuracy is at its upper limit: 1 without priors, less with priors.
#'   Standard errors and the dispersion of errors are `NA`.
#' * *A category that no rater used* has base rate 0, or slightly more with a prior.
#' * *A rater who always gives the same answer* has no information about the other raters, if the
#'   model has parameters per rater. A model with one accuracy for all answers overestimates that
#'   rater's accuracy if the category is frequent, and may overestimate its base rate. Leave the
#'   rater out, or choose free errors.
#' * *A rater without a rating* has `NA` estimates if the model has parameters per rater, and no
#'   effect otherwise.
#'
#' @section Errors:
#' Unsuitable arguments raise an error of class `fallible_error_argument`; see [conditions].
#'
#' @srrstats {BS1.1, BS1.3, BS1.3b} `sampling`; a single sampler
#' @srrstats {UL1.4, UL1.4a, UL2.0} assumptions; warnings if a fit is not identified
#' @param x A [ratings()] object, or an object that [as_ratings()] can convert.
#' @param model A model: [k_model()], [rater_model()] or a user-defined [rater_family()]. The
#'   default is [dawid_skene()] if `known_raters` contains counts, and [k_model()] otherwise.
#' @param method `"algebraic"`, for the [k_model()] only; `"likelihood"`; `"pairs"`; or `"bayes"`,
#'   see *Posterior draws*. The default `NULL` is `"algebraic"` for the [k_model()], and
#'   `"likelihood"` for other models and if cases or raters are known.
#' @param known_truth Cases whose true category is known: a data frame with columns `case` and
#'   `truth` (or `category`), or a vector of categories named by case. Cases that are missing, or
#'   `NA`, are not known.
#' @param known_raters Raters whose confusion matrix is known: a list named by rater. An element is
#'   a matrix of probabilities with the true category in rows, as [confusion()] returns; or the
#'   probability of a correct rating, in \[0, 1\]. Under [dawid_skene()] it may also be a matrix of
#'   counts from a calibration sample, with the true category in rows. The size of the sample is
#'   then taken into account; see *Calibration samples*.
#' @param prior For `"bayes"`: a [rater_prior()]; `NULL` is `rater_prior()`. The prior of `model` is
#'   not used.
#' @param sampling For `"bayes"`: a list of settings. `draws`: total number of draws (4000).
#'   `chains`: number of chains (4). `warmup`: number of discarded sweeps per chain (1000). `thin`:
#'   number of sweeps per draw; only the last sweep is kept. By default it is 1. It is increased by
#'   powers of 2 if the effective sample size of a parameter is below 1000 or, if this is less, half
#'   of the number of draws. `threads`: number of threads.
#' @param design A `survey::svydesign()` with a row per case and a column `case`. Without this
#'   column, rows must be in the order of the cases of `x`, and `x` must be from data with a row per
#'   case. The log likelihood of each case is multiplied by its weight, scaled to the number of
#'   cases. Standard errors of the [regression] use strata and clusters. Only for models with a
#'   formula of base rates.
#' @param ... Not used.
#' @return An object of class `rater_fit`, with methods for `print()`, `summary()`, `coef()`,
#'   `vcov()`, `nobs()`, `logLik()`, `AIC()`, `BIC()` and those of [predict.rater_fit()],
#'   [simulate.rater_fit()], [update.rater_fit()], [tidy.rater_fit()] and [autoplot.rater_fit()],
#'   and for the functions [base_rates()], [confusion()] and [ground_truth()].
#' @family estimation
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
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' fit <- fit_raters(x)
#' fit
#' base_rates(fit)
#'
#' # Two cases whose truth is known, and a rater whose accuracy is
#' fit_raters(x, known_truth = c("1" = "C", "7" = "A"), known_raters = list(rater2 = 0.7))
#' @export
fit_raters <- function(x, model = k_model(), method = NULL, known_truth = NULL,
                       known_raters = NULL, prior = NULL, sampling = list(), design = NULL, ...) {
  check_call()
  x <- as_ratings(x)
  if (n_raters(x) < 2L) warn_ties(x)
  x <- with_votes(x)
  with_design <- if (!is.null(design)) resolve_design(x, design)
  if (missing(model)) model <- model_for_known(known_raters)
  fit <- fit_checked(with_design$x %||% x, model, method, known_truth, known_raters, NULL, prior,
    sampling)
  abort_argument_if(!is.null(design) && !is_regression(fit), "design",
    "{.arg design} needs a model with a formula of base rates and {.code method = \"likelihood\"}.",
    x = "{.arg model} is {.val {format(model)}}.")
  fit$design <- with_design$design
  warn_association_untested(fit)
  add_differential_test(fit)
}

check_model <- function(model) {
  check_class(model, "rater_model", "model", "Use a call such as {.code k_model()},
    {.code dawid_skene()} or {.code rater_model()}. {.arg method} sets how the model is fitted.")
}

hint_of_models <- "To choose a model, use {.arg model}, as in {.code model = dawid_skene()}."

# Checks the arguments of fit_raters(), fits the model and returns the fit. All fits of the package
# use this function. `start`: starting values from start_of(), or NULL.
fit_checked <- function(x, model, method, known_truth, known_raters, start = NULL, prior = NULL,
                        sampling = list()) {
  check_model(model)
  resolved <- resolve_abstain(x, model, method, known_raters)
  model <- resolved$model
  checked <- check_fitted(resolved$x, model, method, known_truth, known_raters)
  given <- list(prior = prior, sampling = sampling)
  given_args <- names(Filter(length, given))
  abort_argument_if(checked$method != "bayes" && length(given_args) > 0L, given_args[[1L]],
    "can be used only with {.code method = \"bayes\"}.")
  fit <- switch(checked$method,
    algebraic = fit_algebraic(checked$x, model),
    bayes = fit_draws(model, checked, prior, as.list(sampling)),
    fit_model(model, checked, start)
  )
  checked$given$raters <- checked$given$raters[names(checked$given$raters) %in% fit$x$raters]
  fit$given <- c(checked$given, given)
  # Printing uses the stored standard error and does not compute it again.
  if (model$accuracy != "rater" && is.null(fit$draws))
    fit$accuracy_error <- sqrt(variances(fit)[[1L]])
  if (fit$identified == "yes") {
    warn_kind(fit)
  } else {
    reason <- reason_of_fit(fit)
    warn_fallible("not_identified", "Accuracy cannot be estimated: {reason}.",
      i = "Base rates and all results that depend on them are {.code NA}.", reason = reason)
  }
  fit
}

# Checks the arguments of fit_raters(). Returns the list of resolve_known() with an additional
# element `method`.
check_fitted <- function(x, model, method, known_truth, known_raters) {
  check_memory(
    as.double(n_patterns(x)) * n_categories(x), "probabilities of categories of cases",
    "Use fewer cases, or merge categories."
  )
  has_known <- !is.null(c(known_truth, known_raters))
  if (!has_known) check_several_raters(x)
  method <- check_method(method, model, x, has_known)
  abort_argument_if(!is.null(known_raters) && !is.null(model$family), "known_raters",
    "{.arg known_raters} cannot be used with a model of {.fun rater_family}.",
    x = "{.arg model} is {.val {format(model)}}.")
  if (uses_confidence(model)) x <- drop_unused_levels(x)
  checked <- resolve_known(patterns_for(model, x), known_truth, known_raters)
  if (method != "bayes" && is.null(model$family)) {
    checked$known <- c(checked$known, populations_of(model, checked$x))
  }
  c(checked, list(method = method))
}

# Can the model be fitted by method "pairs"? Models with free errors cannot: different confusion
# matrices can give the same frequencies of pairs.
has_pairs <- function(model) {
  model$errors %in% c("uniform", "distance") && !uses_confidence(model) && !has_formula(model)
}

# Fits a model and returns the fit. `checked`: result of check_fitted(). `start`: starting values
# from start_of(), or NULL.
fit_model <- function(model, checked, start) UseMethod("fit_model")

# Checks `method`, replaces NULL by the default, and raises an error if the method cannot fit the
# model. `has_known`: are cases or raters known?
check_method <- function(method, model, x, has_known) {
  method <- method %||% if (is_k_model(model) && !has_known) "algebraic" else "likelihood"
  check_choice(method, c("algebraic", "likelihood", "pairs", "bayes"), "method", hint_of_models)
  abort_argument_if(model_is_dependent(model) && method != "bayes", "model",
    "A model with {.field dependence} needs {.code method = \"bayes\"}.",
    x = "{.arg model} is {.val {format(model)}}.")
  abort_argument_if(model$errors == "ordinal" && !x$ordered && n_categories(x) > 2L, "model",
    "A model with {.code errors = \"ordinal\"} needs ordered categories.",
    x = "Categories of {.arg x} are not ordered: {.val {x$categories}}.",
    i = "Give {.code ordered = TRUE} to {.fun ratings}, with {.arg categories} in their order.")
  check_has_confidence(model, x)
  has_no_likelihood <- method %in% c("algebraic", "pairs")
  is_impossible <- c(
    "This {.arg method} cannot fit a model of {.fun rater_family} or with a formula." =
      has_no_likelihood && (!is.null(model$family) || has_formula(model)),
    "This {.arg method} cannot use known cases or raters." = has_no_likelihood && has_known,
    "{.code method = \"pairs\"} needs a model with uniform errors or errors by distance, and without
     confidence." = method == "pairs" && !has_pairs(model),
    "{.code method = \"algebraic\"} can fit only the K-model." =
      method == "algebraic" && !is_k_model(model)
  )
  abort_argument_if(any(is_impossible), "method", names(is_impossible)[is_impossible][1L],
    x = "{.arg method} is {.val {method}}, {.arg model} is {.val {format(model)}}.",
    i = "Use {.code method = \"likelihood\"}.")
  if (model$accuracy == "rater") check_named_raters(x, "model",
    "A model with an accuracy for each rater needs the rater of each rating.",
    i = "Choose {.code accuracy = \"common\"}.")
  method
}

# Creates a fit of class `kind`. All fits have these fields:
# * x, model, method, known, given: the ratings and settings, see resolve_known()
# * identified: "yes", or a code of the reason why the fit is not identified
# * agreement, kappa: from the algebraic fit
# * rater_accuracy, base_rates: mean accuracy of raters, and base rates
# * negative: number of base rates that were estimated as negative.
#
# Other fields depend on the class, `kind`:
# * k_fit: the algebraic fit of the K-model
# * latent_fit: models that the core fits by likelihood
# * draws_fit: posterior draws
# * family_fit: user-defined models, see rater_family()
# * posterior_fit: posterior probabilities that the user gives
# * score_fit: a fit of scores of a classifier, which is also a posterior_fit.
#
# Each class has these methods:
# * compute_posterior(): posterior probabilities of other ratings (patterns x categories)
# * rating_probabilities(): an array, classes (true category within stratum) x ratings x raters
# * covariance_of(): covariances or variances of the coefficients
# * drawing_law(): distributions from which simulate() draws
# * replace_answers(): the same fit with other answers of systems
# * refit_function(): a function that returns the posterior for other weights of patterns
# * fit_raters_only(): the fit of the raters without systems, given an estimate
# * r_model_field() of its model: the field of new_method() whose function estimates accuracy in R
# * likelihood_lines(): additional lines for print()
new_rater_fit <- function(kind, x, model, method, known = nothing_known, ...,
                          by_agreement = fit_algebraic(x)) {
  fit <- c(
    list(x = x, model = model, method = method, known = known, negative = 0L),
    by_agreement[c("identified", "agreement", "kappa")]
  )
  values <- list(...)
  structure(replace(fit, names(values), values), class = c(kind, "rater_fit", "fallible_result"))
}

# Returns the coefficients of a fit with one accuracy of all raters: the accuracy and base rates.
named_coefficients <- function(accuracy, rates, x) {
  setNames(c(accuracy, rates), c("rater_accuracy", rate_terms(x)))
}

rater_terms <- function(x) sprintf("rater_accuracy[%s]", x$raters)
rate_terms <- function(x) sprintf("base_rate[%s]", x$categories)

# Gives the warnings about a fit that is identified.
warn_kind <- function(fit) UseMethod("warn_kind")

warn_kind.rater_fit <- function(fit) {
  kind <- rep_len(rater_kind(fit) %||% NA_character_, n_raters(fit$x))
  machines_with_counts <- fit$x$raters[is_known_rater(fit, "counts") & kind %in% machine_kinds]
  warn_if(length(machines_with_counts) > 1L, "known_independent",
    "The fit assumes that {.val {machines_with_counts}} err independently, which machines rarely
        do.",
    i = "Put them into one of the {.arg rater_groups}, and give the counts of the group's vote:
        {.code known_raters = list(panel = counts)}.", raters = machines_with_counts)
  warn_latent(fit)
}

warn_kind.judge_fit <- function(fit) {
  limits <- calibrated_interval(fit$calibrated, default_conf_level())
  wide_categories <- fit$x$categories[limits[, 2L] - limits[, 1L] > 0.5]
  warn_if(wide_categories, "weakly_identified",
    "The calibration sample is too small to estimate the base rate of {.val {wide_categories}}: the
        interval is wider than .5.",
    i = "Use a calibration sample with more cases of each category.", categories = wide_categories)
}

warn_kind.k_fit <- function(fit) {
  if (fit$negative == 0L) return(invisible())
  x <- fit$x
  zero_categories <- x$categories[fit$base_rates == 0]
  # `n_contradicted` counts the cases with ratings only in categories whose base rate is zero.
  possible <- rating_pattern(x)[fit$base_rates[rating_category(x)] > 0]
  n_contradicted <- count_cases(x, setdiff(which(rated_patterns(x)), possible))
  warn_fallible("boundary", c(
    "Negative estimates of base rates were set to zero: {.val {zero_categories}}.",
    "i" = "This happens by chance in small samples and with weak raters; in large samples it is a
           sign that the model does not fit. The other base rates were rescaled to sum to one.",
    if (n_contradicted > 0) c(
      "!" = "In {count_noun(n_contradicted, 'case')} every rater chose a category whose base rate is
             now zero. Merge rare categories, or check the labels."
    )
  ), negative = fit$negative, categories = zero_categories, against = n_contradicted)
}

# Returns the reason why a fit is not identified, for users.
reason_of_fit <- function(fit) {
  categories <- n_categories(fit$x)
  if (fit$identified == "parameters") return(reason_of_parameters(fit$model, categories))
  if (!is.null(fit$calibrated)) return(unname(fit$calibrated$lack))
  why_not_identified(identification_of(fit), fit$agreement, categories)
}

reason_of_parameters <- function(model, categories) {
  paste("the", format(model), "has more parameters than ratings by these raters into", categories,
    "categories can distinguish")
}

# Converts argument `fit` of an exported function to a fit, and returns it. The argument can be a
# fit, an accuracy estimate (which contains a fit), or ratings, to which the K-model is then fitted.
as_fit <- function(fit, arg = "fit") {
  if (inherits(fit, "accuracy_estimate")) fit <- fit$fit
  if (inherits(fit, "rater_fit")) fit else fit_raters(as_ratings_of_several(fit, arg))
}

#' Fit a model to raters
#'
#' Estimates how accurate raters are, and how frequent the categories are, from the agreement
#' between raters; the answers of systems are not used.
#'
#' @section Methods:
#' With `method = "likelihood"` any [rater_model()] is fitted to the distinct rows of ratings, by
#' L-BFGS on the log posterior from the shares of votes (after steps of EM where errors are free)
#' and, where cases differ in difficulty, from two more starts, the best of which is kept. Standard
#' errors are from the curvature at the maximum, as if parameters on a boundary were known; for
#' these they are `NA`. With more than 2000 parameters, or where they would take longer than some
#' ten seconds, each is found by itself, as if the posterior of true categories were known: too
#' small where raters often differ, and covariances are `NA`. Two ratings of a case by one rater
#' count as independent, unless they are reruns: these, and the raters of a declared group, become
#' one vote before anything is fitted, by any method; see [rater_groups].
#'
#' * A number for each rater, true category and rating must be kept, some dozen times over: data
#'   with more than ten million of these are refused, with what to do instead.
#' * A model with more parameters than the raters at hand can distinguish (free errors and two
#'   raters, or errors by distance and two categories, say) is not identified: a warning of class
#'   `fallible_warning_not_identified`, and `NA`. The rule is the rank of a matrix of scores of
#'   answers drawn at random for raters who rated together: for no more than four categories, and in
#'   a crowd of more than 20, for the raters of the case that has most.
#' * Of free errors of each rater, raters who share too few cases with others to be known are `NA`,
#'   or near the centre of the panel, while the rest is fitted, if base rates and three raters at
#'   least are identified.
#' * `fallible_warning_no_convergence`: the maximum was not reached.
#'   `fallible_warning_weakly_identified`, for free errors of each rater: their agreement is barely
#'   distinguishable from chance, base rates are mostly prior, or raters who use the labels in the
#'   opposite sense gave over a third of the ratings; or an interval from a calibration sample is
#'   wider than .5. `fallible_warning_switched`, for other models:
#'   classes have changed names.
#'
#' With `method = "pairs"` uniform errors or errors by distance are fitted by least squares to the
#' relative frequencies of all pairs of ratings by two raters (footnote 5 of the paper), each pair
#' of raters with the weight of its common cases. Priors are not used, and there is no likelihood.
#' Standard errors are by the sandwich. It serves as a check of the likelihood by different means:
#' where the two disagree, the model is wrong.
#'
#' With `method = "algebraic"` agreement is the share of agreeing pairs among all pairs of ratings
#' by different raters, and rater accuracy and base rates solve Lehner's equations 2 and 5. Standard
#' errors are by the delta method over cases. Negative base rates are set to zero, the others
#' rescaled to sum to one, with a warning of class `fallible_warning_boundary`: such a category has
#' probability zero in every case, even where all raters chose it.
#'
#' @section Known cases and raters:
#' Some cases may have a known truth (gold items), as if a rater who is never wrong had rated them;
#' they count like other cases in base rates, so they should be drawn like these. Some raters may be
#' known, from a calibration elsewhere: their confusion matrices are used as given. Both need
#' `method = "likelihood"`, which is then the default, or `"bayes"`, and can identify models that
#' agreement alone does not; a single rater needs them. [ground_truth()] gives a known case
#' probability one at its truth, and [estimate_accuracy()] compares systems there with that truth.
#'
#' @section Calibration samples:
#' A calibration sample is a matrix of counts, true category in rows and rating in columns, from
#' cases elsewhere. One rater (or the vote of one of the [rater_groups]) with such a sample needs no
#' model of a panel. Its errors are assumed to be the same here as in the sample; nothing in the
#' ratings can test this.
#'
#' * *Two categories.* With `s` and `c` the shares of right ratings in the sample and `a` the share
#'   of ratings of the second category, its base rate is `(a + c - 1) / (s + c - 1)`, cut to
#'   \[0, 1\] (Rogan and Gladen, 1978): 60 of 200, 45 of 50 and 90 of 100 give .25. The standard
#'   error is by the delta method. `confint()` of base rates is the interval of Lang and Reiczigel
#'   (2014), as printed by Lee et al. (2025). Its rates are (right + 1) / (cases + 2); they belong
#'   to the interval only. Where the estimate is cut, the inner end is that of the profile
#'   likelihood, if this makes the interval wider.
#' * *More categories.* Base rates and confusion matrix are their joint maximum likelihood
#'   estimates, which use the inverse of the matrix where this gives probabilities. `confint()` of
#'   base rates has percentiles of 1000 draws from Dirichlet distributions with parameters
#'   `counts + 1/2`. At 0 and 1 it is guarded in the same way, with all other categories joined.
#' * All is `NA`, with a reason, if a category has no case in the sample, or if the rater is no
#'   better than chance there. `fallible_warning_weakly_identified` says that an interval (with the
#'   default `conf_level`) is wider than .5.
#' * If the rater chose the second category in 5 of 100 more cases here than in the sample,
#'   whatever their truth, its base rate would be .05 / (s + c - 1) too high. `print()` shows this.
#' * With a base rate `p`, the best ratio of sample sizes of the two categories (second to first) is
#'   `p sqrt(s (1 - s)) / ((1 - p) sqrt(c (1 - c)))`.
#'
#' Several raters with samples are assumed to err independently, which language models and programs
#' do not (`fallible_warning_known_independent`). In a simulation of three judges with correlated
#' errors and 5000 calibration cases of each category, the estimate was .711, with an interval from
#' .705 to .717, where .800 is true. Put such raters into one of the `rater_groups` and give the
#' counts of its vote: `known_raters = list(panel = counts)`.
#'
#' @section Posterior draws:
#' With `method = "bayes"` everything is drawn from the posterior: the true categories of all cases,
#' base rates, and accuracies or confusion matrices, under the priors of [rater_prior()], by Gibbs
#' sampling on distinct rows of ratings. Errors are uniform or free, of all raters or of each, cases
#' equally difficult; a formula of base rates names populations with rates of their own. A fit of a
#' single sample of two tests only repeats its prior, and is an error without one. Estimates are
#' posterior medians; [draws()] has the draws. As everywhere, raters are assumed to err
#' independently given the truth: the class that is found is what they have in common, and two
#' antibody tests outvote a better test of something else. See also [test_accuracy()].
#'
#' @section Degenerate data:
#' * **Two raters.** Free errors are never identified, other models mostly are: which categories
#'   meet which says more than agreement. With two categories, no degree of freedom is left.
#' * **No common cases** (a single rating per case). Nothing is identified without gold items or
#'   known raters.
#' * **Agreement at or below chance** (1 / number of categories). Models in which raters are equal
#'   are not identified; with `"algebraic"` rater accuracy is set to chance. Models in which they
#'   differ are not, if raters agree no more than by chance given how often each uses each category.
#'   A single rater below chance among better ones is fitted as it is.
#' * **Perfect agreement.** Accuracy is at its upper limit: 1 without priors, less with them.
#'   Standard errors are `NA`, and so is the dispersion of errors.
#' * **A category that no rater used** has base rate 0, or by the prior a little more.
#' * **A rater who always says the same** gives no information about the others where raters differ.
#'   A model with one accuracy for all answers takes that rater for accurate where the category is
#'   frequent, and may overestimate its base rate; leave the rater out, or choose free errors.
#' * **A rater without a rating** is `NA` if raters differ, and does not matter otherwise.
#'
#' @srrstats {BS1.1, BS1.3, BS1.3b} `sampling`; there is one sampler
#' @srrstats {UL1.4, UL1.4a, UL2.0} what is presumed; warnings where a fit is not identified
#' @param x A [ratings()] object, or what [as_ratings()] makes ratings of.
#' @param model A [rater_model()], or a [rater_family()] of your own. The default is
#'   [dawid_skene()] if `known_raters` has counts, and [k_model()] otherwise.
#' @param method `"algebraic"`, for the [k_model()] and its default; `"likelihood"`, the default for
#'   other models; `"pairs"`; or `"bayes"`, see Posterior draws.
#' @param known_truth Cases whose true category is known: a data frame with columns `case` and
#'   `truth` (or `category`), or categories with the cases as names. Missing ones are not known.
#' @param known_raters Raters whose confusion matrix is known: a named list that holds for each
#'   either a matrix of probabilities, true category in rows, such as [confusion()] gives, or the
#'   probability of a correct rating, in \[0, 1\]. Under [dawid_skene()] it may also be a matrix of
#'   counts, true category in rows, of a calibration sample elsewhere, whose size then counts; see
#'   Calibration samples.
#' @param prior For `"bayes"`: a [rater_prior()]; `NULL` is `rater_prior()`. That of the model is
#'   not used.
#' @param sampling For `"bayes"`: a list of `draws`, their number in all (4000); `chains` (4);
#'   `warmup`, sweeps of a chain that are thrown away (1000); `thin`, of how many sweeps one is kept
#'   (by default as many as it takes until draws are worth 1000 independent ones); and `threads`.
#' @param design A `survey::svydesign()` with a row per case. The rows are in the order of the cases
#'   of `x`, which must then be from data with a row per case, or there is a column `case`. The log
#'   likelihood of each case is multiplied by its weight, scaled to the number of cases. Standard
#'   errors of the [regression] use strata and clusters. Only for models with a formula of base
#'   rates.
#' @param ... Not used.
#' @return An object of class `rater_fit`, with methods for `print()`, `summary()`, `coef()`,
#'   `vcov()`, `nobs()`, `logLik()`, `AIC()`, `BIC()` and those of [predict.rater_fit()],
#'   [simulate.rater_fit()], [update.rater_fit()], [tidy.rater_fit()] and [autoplot.rater_fit()],
#'   and the functions [base_rates()], [confusion()] and [ground_truth()].
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
  check_given()
  x <- with_votes(as_ratings(x))
  surveyed <- if (!is.null(design)) with_design(x, design)
  check_dots_empty(...)
  if (missing(model)) model <- model_for_known(known_raters)
  of_bayes <- c("prior", "sampling")[c(!is.null(prior), length(sampling) > 0L)]
  abort_argument_if(length(of_bayes) > 0L && !identical(method, "bayes"), of_bayes[1L],
    "{.arg {of_bayes[1L]}} is for {.code method = \"bayes\"}.")
  fit <- fit_checked(surveyed$x %||% x, model, method, known_truth, known_raters, NULL, prior,
    sampling)
  abort_argument_if(!is.null(design) && !is_regression(fit), "design",
    "A survey design is for models with a formula of base rates, fitted by likelihood.",
    x = "{.arg model} is the {format(model)}.")
  fit$design <- surveyed$design
  warn_unchecked(fit)
  with_differential(fit)
}

# `start`: see start_of().
fit_checked <- function(x, model, method, known_truth, known_raters, start = NULL, prior = NULL,
                        sampling = list()) {
  if (inherits(model, "rater_model")) {
    settled <- settle_abstain(x, model, method, known_raters)
    x <- settled$x
    model <- settled$model
  }
  checked <- check_fitted(x, model, method, known_truth, known_raters)
  fit <- switch(checked$method,
    algebraic = fit_algebraic(checked$x, model),
    bayes = fit_draws(model, checked, prior, as.list(sampling)),
    fit_model(model, checked, start)
  )
  checked$given$raters <- checked$given$raters[names(checked$given$raters) %in% fit$x$raters]
  fit$given <- c(checked$given, list(prior = prior, sampling = sampling))
  # print() shows this error, and computes nothing.
  if (model$accuracy != "rater") fit$accuracy_error <- sqrt(variances(fit)[[1L]])
  warn_fit(fit)
  fit
}

# What with_known() gives, and the method.
check_fitted <- function(x, model, method, known_truth, known_raters) {
  check_class(model, "rater_model", "model", "Make one with {.fun rater_model}.")
  check_memory(
    as.double(n_patterns(x)) * n_categories(x), "probabilities of categories of cases",
    "Take fewer cases, or join categories."
  )
  know <- !is.null(known_truth) || !is.null(known_raters)
  if (!know) check_several_raters(x)
  method <- check_method(method, model, x, know)
  abort_argument_if(!is.null(known_raters) && !is.null(model$family), "known_raters",
    "{.arg known_raters} works only with models that are not your own family.",
    x = "{.arg model} is the {format(model)}.")
  if (uses_confidence(model)) x <- drop_unused_levels(x)
  checked <- with_known(patterns_for(model, x), known_truth, known_raters)
  if (method != "bayes" && is.null(model$family)) {
    checked$known <- c(checked$known, populations_of(model, checked$x))
  }
  c(checked, list(method = method))
}

# Different confusion matrices can give all pairs the same frequencies.
has_pairs <- function(model) {
  model$errors %in% c("uniform", "distance") && !uses_confidence(model) && !has_formula(model)
}

# A model fitted to what check_fitted() gives.
fit_model <- function(model, checked, start) UseMethod("fit_model")

fit_model.rater_model <- function(model, checked, start) {
  fit_latent(checked$x, model, checked$method, checked$known, start)
}

# Algebra knows the K-model only; a model of each rater must know the raters.
check_method <- function(method, model, x, know) {
  if (is.null(method)) method <- if (is_k_model(model) && !know) "algebraic" else "likelihood"
  check_choice(method, c("algebraic", "likelihood", "pairs", "bayes"), "method")
  abort_argument_if(model_is_dependent(model) && method != "bayes", "model",
    "Dependent errors are fitted by {.code method = \"bayes\"}.",
    x = "{.arg model} is the {format(model)}.")
  check_order(model, x)
  check_has_confidence(model, x)
  simple <- method %in% c("algebraic", "pairs")
  faults <- c(
    "Families of models, and models by formula, need a likelihood." =
      simple && (!is.null(model$family) || has_formula(model)),
    "Known cases and raters need a likelihood." = simple && know,
    "Only models with errors that are uniform or by distance, and without confidence, are fitted to
     pairs of ratings." = method == "pairs" && !has_pairs(model),
    "{.code method = \"algebraic\"} fits the K-model only." =
      method == "algebraic" && !is_k_model(model)
  )
  abort_argument_if(any(faults), "method", names(faults)[faults][1L],
    x = "{.arg method} is {.val {method}}, {.arg model} the {format(model)}.",
    i = "Use {.code method = \"likelihood\"}.")
  if (model$accuracy == "rater") check_named_raters(x, "model",
    "A model with an accuracy for each rater needs the rater of each rating.",
    i = "Choose {.code accuracy = \"common\"}.")
  method
}

# What all fits have: x, model, method, known and given (see with_known()), identified ("yes" or why
# not), agreement and kappa (of algebra, which also says how the K-model would be identified),
# rater_accuracy, base_rates, negative (base rates that were). All else
# depends on the class, `kind`: k_fit (the K-model by algebra), latent_fit (models of the core, by
# likelihood or pairs), family_fit (laws that users write), posterior_fit (a posterior that was
# given) and score_fit (one from scores, a posterior_fit too). A further class is its methods for
# these:
# posterior()             patterns x categories, of its own ratings or of others
# rating_probabilities()  classes (true category within stratum) x ratings x raters
# covariance_of()         covariance of the coefficients, or their variances
# drawing_law()           what simulate() draws from, see drawing_law()
# fit_with()              the same fit with other answers of systems
# refitting()             a function of weights of patterns that gives the posterior then, or NULL
# raters_alone()          a fit without the systems, as the estimate has it
# rule_field()            of its model: which rule of a method judges systems, see new_method()
# likelihood_lines()      what print() says besides
new_rater_fit <- function(kind, x, model, method, known = nothing_known, ...,
                          by_agreement = fit_algebraic(x, k_model())) {
  fit <- c(
    list(x = x, model = model, method = method, known = known, negative = 0L),
    by_agreement[c("identified", "agreement", "kappa")]
  )
  own <- list(...)
  fit[names(own)] <- own
  structure(fit, class = c(kind, "rater_fit", "fallible_result"))
}

# Accuracies, of each rater or of all, and base rates.
named_coefficients <- function(accuracy, rates, x, each = FALSE) {
  stats::setNames(c(accuracy, rates), c(if (each) rater_terms(x) else "rater_accuracy",
    rate_terms(x)))
}

rater_terms <- function(x) paste0("rater_accuracy[", x$raters, "]")
rate_terms <- function(x) paste0("base_rate[", x$categories, "]")

warn_fit <- function(fit) {
  if (fit$identified == "yes") return(warn_kind(fit))
  why <- reason_of_fit(fit)
  warn_fallible("not_identified", "Accuracy cannot be estimated: {why}.",
    i = "Base rates and all results that depend on them are {.code NA}.", reason = why)
}

# What must be said of an identified fit.
warn_kind <- function(fit) UseMethod("warn_kind")

warn_kind.rater_fit <- function(fit) {
  kind <- rep_len(rater_kind(fit) %||% NA_character_, n_raters(fit$x))
  judges <- fit$x$raters[is_counted_rater(fit) & kind %in% machine_kinds]
  warn_if(length(judges) > 1L, "known_independent",
    "The fit assumes that {.val {judges}} err independently, which machines rarely do.",
    i = "Put them into one of the {.arg rater_groups}, and give the counts of the group's vote:
        {.code known_raters = list(panel = counts)}.", raters = judges)
  warn_latent(fit)
}

warn_kind.judge_fit <- function(fit) {
  ends <- calibrated_interval(fit$calibrated, default_conf_level())
  wide <- fit$x$categories[ends[, 2L] - ends[, 1L] > 0.5]
  warn_if(wide, "weakly_identified",
    "The calibration sample leaves the share of {.val {wide}} almost open: intervals are wider than
        .5.",
    i = "Calibrate on more cases of each category.", categories = wide)
}

warn_kind.k_fit <- function(fit) {
  if (fit$negative == 0L) return(invisible())
  zero <- fit$x$categories[fit$base_rates == 0]
  # Patterns with ratings, all of them in categories whose base rate is zero.
  possible <- rating_pattern(fit$x)[fit$base_rates[rating_category(fit$x)] > 0]
  against <- count_cases(fit$x, setdiff(which(rated_patterns(fit$x)), possible))
  warn_fallible("boundary", c(
    "Base rates that came out negative were set to zero: {.val {zero}}.",
    "i" = "This happens by chance in small samples and with weak raters; in large samples it is a
           sign that the model does not fit. The other base rates were rescaled to sum to one.",
    if (against > 0) c(
      "!" = "In {count_noun(against, 'case')} every rater chose such a category, which now has
             probability zero there. Join rare categories, or check the labels."
    )
  ), negative = fit$negative, categories = zero, against = against)
}

# Why nothing follows from a fit; NA if it does.
reason_not_identified <- function(identified, agreement, categories) {
  reasons <- c(
    no_pairs = "no case was rated by two raters", unequal = need_unequal,
    constant_raters = paste0(reason_constant,
      "; if an empty cell means that a rater abstained, say `abstain = NA`"),
    unrelated = "raters agree no better than by chance, given how often each uses each category",
    labels_only = "ratings identify labels, but accuracies only with known truth",
    replies = paste("raters agree no better than by chance, given how often each answers and",
      "abstains"),
    few_sources = paste("too few raters for", categories,
      "categories: each tells one category from abstaining")
  )
  by_chance <- sprintf("raters agree no better than by chance (agreement %s, chance %s)",
    decimals(agreement), decimals(1 / categories))
  as.character(ifelse(identified == "chance", by_chance, reasons[identified]))
}

reason_of_fit <- function(fit) {
  categories <- n_categories(fit$x)
  if (fit$identified == "parameters") return(reason_of_parameters(fit$model, categories))
  if (!is.null(fit$calibrated)) return(unname(fit$calibrated$lack))
  reason_not_identified(identification_of(fit), fit$agreement, categories)
}

reason_of_parameters <- function(model, categories) {
  few <- paste("ratings by these raters into", categories, "categories can distinguish")
  paste("the", format(model), "has more parameters than", few)
}

# What a user may give where a fit is needed.
as_fit <- function(fit) {
  if (inherits(fit, "accuracy_estimate")) fit <- fit$fit
  if (inherits(fit, "rater_fit")) fit else fit_raters(as_ratings_of_several(fit, "fit"))
}

#' The K-model
#'
#' Returns the K-model of Lehner (2015), the simplest model of raters, for [fit_raters()]. It makes
#' three assumptions, called *K-properties*: all raters have the same accuracy (equal rater
#' accuracy), all wrong categories have the same probability (equal error probabilities), and
#' accuracy is the same on all cases (equal problem difficulty). The K-model is implicitly assumed
#' if agreement between raters is interpreted as accuracy.
#'
#' @srrstats {UL4.1} a model without a fit
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `rater_model`, with a field per K-property: `accuracy`, `errors` and
#'   `difficulty`. For models without these assumptions, see [rater_model()].
#' @family estimation
#' @templateVar where Theorem 1
#' @template ref-lehner
#' @examples
#' k_model()
#' @export
k_model <- function(...) {
  check_call()
  plain_k_model
}

#' Latent class models of raters
#'
#' Defines a latent class model of raters for [fit_raters()]. The arguments `accuracy`, `errors` and
#' `difficulty` relax the three assumptions of [k_model()], called K-properties: equal rater
#' accuracy, equal error probabilities and equal problem difficulty. Base rates may depend on
#' covariates by a formula. `dawid_skene()` is the model of Dawid and Skene (1979), with a separate
#' confusion matrix for every rater.
#'
#' @section Accuracy, errors and difficulty:
#' * `accuracy` (equal rater accuracy): `"common"`, the same accuracy for all raters; or `"rater"`,
#'   an accuracy per rater.
#' * `errors` (equal error probabilities): `"uniform"`, all wrong categories are equally probable;
#'   or `"distance"`, where each step away from the true category divides the probability of an
#'   error by the same number, the dispersion; or `"ordinal"`, see *Ordinal errors*; or `"free"`.
#'   With `"free"`, all entries of the confusion matrix (true category x rating) are parameters, for
#'   all raters together or per rater (`accuracy = "rater"`).
#' * `difficulty` (equal problem difficulty): `"none"`, all cases are equally difficult; or
#'   `"strata"`, where accuracy is higher on a third of the cases, and lower on another third, by
#'   the same difficulty shift. Shifted accuracies are clipped to \[0, 1\].
#'
#' @section Ordinal errors:
#' The model is cumulative probit. A case of the k-th of K categories gives a rater a signal. It is
#' normal with variance 1 and mean `slope * (k - (K + 1) / 2)`. The thresholds divide
#' the range of the signal into categories, and the answer is the category that contains the signal.
#' With slope 0, answers are guesses; strict and mild raters have different
#' thresholds. There are a slope and K - 1 thresholds for all raters, or for each rater
#' (`accuracy = "rater"`), instead of K (K - 1) free entries. Categories must be ordered, and are
#' treated as equally spaced. With two categories, the order is not needed, and the model is the
#' same as with free errors. The fit is by maximum likelihood, without priors; `base_rates` may be a
#' formula.
#'
#' @section Confidence: With `confidence = TRUE` a rating consists of the answer and its level of
#' [confidence][ratings()]. Levels have one distribution for correct answers and another for wrong
#' answers, the same for all raters and categories. The probability of a level for correct answers,
#' divided by its probability for wrong answers, never decreases from one level to the next.
#' [tidy()][tidy.rater_fit] returns these probabilities as `confidence_right[level]` and
#' `confidence_wrong[level]`. If the level is missing, only the answer is used. Systems that are
#' fitted together with the raters have no levels, so only their answers are used. The fit is by
#' maximum likelihood, without priors. Strata of difficulty are not available. AIC cannot compare
#' this model with models that ignore confidence, because its likelihood includes the levels. All
#' other models ignore confidence.
#'
#' In simulated panels of 500 cases, four raters of accuracy .55 to .75 and three levels
#' (bench/confidence.R), 89% of consensus labels are correct, and 83% if the model ignores
#' confidence. The root mean squared error of a system's accuracy is .020 instead of .022. If one of
#' the raters is always sure, there is no gain, and its accuracy is estimated as .64 instead of .55:
#' set the confidence of such raters to `NA`.
#'
#' @section Dependence:
#' By default, raters err independently given the truth. Two models relax this assumption and need
#' `method = "bayes"`. Both leave each rater's confusion matrix unchanged, so that priors keep their
#' meaning.
#' * `"easy"`: with probability `easy[k]`, a case of category k is rated correctly by all raters,
#'   otherwise they err independently (Albert and Dodd, 2004). The prior of `easy[k]` is uniform, up
#'   to the lowest probability of a correct rating.
#' * `"pairs"`: two raters agree more often than their matrices imply. `pair[a,b,k]` is the position
#'   between independence (0) and the largest dependence that the matrices allow (1) (Dendukuri and
#'   Joseph, 2001). Its prior is uniform.
#'
#' This is a sensitivity analysis, not a correction: different models may fit the same ratings
#' equally well and give different accuracies. If there are too few raters to identify the
#' parameters, all raters must have priors. See [compare_models()].
#'
#' @section Priors: If errors are free per rater, the default is `"pooled"`, see *Pooled matrices*.
#' With `"weak"`, the fit maximises the posterior density of logits and logarithms of the parameters
#' under weak priors. `"none"` is maximum likelihood, which is always used if the weights of cases
#' are not counts. A list replaces some of the weak priors, by these names:
#'
#' | name | prior | default |
#' |---|---|---|
#' | `base_rates` | Dirichlet, the same parameter for all categories | 1 |
#' | `accuracy` | Beta of the mean rater accuracy, a probability | 3, 2 |
#' | `spread` | standard deviation of the logits of accuracies around their mean | 0.6 |
#' | `dispersion` | standard deviation of log dispersion around 0 | 0.7 |
#' | `difficulty` | standard deviation of the half-normal shift of accuracy | 0.2 |
#' | `errors` | standard deviation of the logarithms of free error rates | 0.5 |
#'
#' @section Pooled matrices: With few ratings in each of its K (K - 1) cells, a separately
#' estimated matrix is mostly noise. Under `prior = "pooled"`, row k of a rater's matrix has a
#' Dirichlet distribution. Its mean is the mean row, and the sum of its parameters is `c`. In the
#' mean row, the logit of the probability of a correct rating has two terms: the ease of category k
#' and the skill of the rater. They are normal with standard deviations `ups` and `tau`. The
#' distribution of the wrong ratings of a row over the other categories is common to the panel. It
#' has a Dirichlet distribution whose mean has equal shares, and whose parameters sum to `a`. All
#' four parameters are estimated, under priors that are equivalent to a few ratings;
#' [glance()][tidy.rater_fit] returns them. The estimate of a cell thus uses the rater's other
#' categories and the other raters. If the cell has many ratings, the estimate is determined by
#' these ratings.
#'
#' Base rates have a Dirichlet prior with parameter 2 for each category. For example, 2 positive
#' cases of 200, rated by three good raters, give a base rate of .015 instead of .010. If the only
#' rater has a known matrix, neither this prior nor the weak one is used. The fit is by EM with
#' squared extrapolation. It starts from vote shares and, with at most ten raters, also from the
#' ratings of each rater. Latent classes are matched to categories so that most ratings agree with
#' them. Standard errors are conditional on the estimated mean rows. `logLik()` is the likelihood of
#' the ratings at the estimate. `AIC` and `BIC` are `NA`; to compare models, use `prior = "none"`.
#'
#' @section Formulas of covariates:
#' With [covariates][ratings()] of cases, `base_rates` may be a formula such as `~ site + age`: a
#' multinomial logit of the base rates. Covariates are factors, strings, logicals or numbers. Two
#' raters and two populations are enough to identify a matrix per rater (Hui and Walter, 1980).
#'
#' With a formula, the default is maximum likelihood, without priors. If a prior of base rates is
#' given, it is equivalent to additional cases, which are distributed over the populations like the
#' data (Clogg et al., 1991). [coef()][stats::coef] returns coefficients in the units of the
#' covariates, as `base_rate[category]:column`, for the logit of the category against the first one.
#' In [tidy()][tidy.rater_fit], the terms `rater_accuracy` and `base_rate` are means over the cases
#' of the fit. [base_rates()] with `newdata` returns the base rates of other cases; [regression] has
#' robust standard errors, odds ratios and marginal differences. With `method = "bayes"` of
#' [fit_raters()], each combination of factors is a population with separate base rates, and numeric
#' covariates are an error.
#'
#' An alternative is the argument `by` of [estimate_accuracy()], which fits each group of cases
#' separately, so that each group must be large enough. A formula fits all cases at once: base rates
#' differ between groups, accuracies of raters do not. If accuracies depend on covariates, use `by`,
#' or a user-defined model ([rater_family()]).
#'
#' @param accuracy,errors,difficulty How far the model relaxes each K-property, see *Accuracy,
#'   errors and difficulty*. The defaults are `"common"`, `"uniform"` and `"none"`.
#' @param system For a system that is fitted together with the raters, as by method `"joint"` of
#'   [estimate_accuracy()]: does it have the same dispersion and difficulty shift as the raters
#'   (`"shared"`, the default), or separate ones (`"own"`)? The two terms are defined in *Accuracy,
#'   errors and difficulty*.
#' @param prior One of `"pooled"`, `"weak"`, `"none"`, or a list of some of the parameters in
#'   *Priors*. `"pooled"` is only for models with free errors per rater, and is their default.
#'   `"none"` is the default of models with a formula of base rates, and `"weak"` of all other
#'   models. Models with ordinal errors or confidence have no priors.
#' @param base_rates A formula of covariates, see *Formulas of covariates*. The default `~ 1` is one
#'   set of base rates for all cases.
#' @param confidence `TRUE` or `FALSE` (the default): does the model use the raters' confidence? See
#'   *Confidence*.
#' @param dependence,pairs Dependence of errors given the truth, see *Dependence*: `"none"`,
#'   `"easy"` or `"pairs"`. `pairs` is a list of pairs of raters, such as `list(c("a", "b"))`.
#' @param abstain For ratings with abstentions (see [ratings()]): `"depends"` if the probability
#'   that a rater answers depends on the truth; `"ignored"` if abstentions are missing ratings. The
#'   default `NULL` uses `"depends"` if it predicts the answers better. Only for `prior = "pooled"`;
#'   see *Abstentions* in [ground_truth()].
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `rater_model`, with a field per argument.
#' @family estimation
#' @references Albert, P. S. and Dodd, L. E. (2004). A cautionary note on the robustness of latent
#'   class models for estimating diagnostic error without a gold standard. *Biometrics*, 60,
#'   427-435. \doi{10.1111/j.0006-341X.2004.00187.x}
#'
#'   Clogg, C. C., Rubin, D. B., Schenker, N., Schultz, B. and Weidman, L. (1991). Multiple
#'   imputation of industry and occupation codes in census public-use samples using Bayesian
#'   logistic regression. *Journal of the American Statistical Association*, 86, 68-78.
#'   \doi{10.1080/01621459.1991.10475005}
#'
#'   Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer
#'   error-rates using the EM algorithm. *Applied Statistics*, 28, 20-28. \doi{10.2307/2346806}
#'
#'   Dendukuri, N. and Joseph, L. (2001). Bayesian approaches to modeling the conditional dependence
#'   between multiple diagnostic tests. *Biometrics*, 57, 158-167.
#'   \doi{10.1111/j.0006-341X.2001.00158.x}
#'
#'   Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of diagnostic tests.
#'   *Biometrics*, 36, 167-171. \doi{10.2307/2530508}
#' @seealso [rater_family()] for user-defined models.
#' @examples
#' rater_model(accuracy = "rater", errors = "distance")
#' dawid_skene()
#' rater_model(difficulty = "strata", prior = list(difficulty = 0.1))
#'
#' # Two tests of tuberculosis in two populations (Hui and Walter, 1980)
#' tests <- data.frame(
#'   population = rep(c("1", "2"), each = 4), mantoux = c("pos", "pos", "neg", "neg"),
#'   tine = c("pos", "neg"), n = c(14, 4, 9, 528, 887, 31, 37, 367)
#' )
#' x <- ratings(tests, raters = mantoux:tine, weights = n, covariates = population)
#' fit <- fit_raters(x, rater_model("rater", "free", base_rates = ~population))
#' confusion(fit)
#' base_rates(fit, data.frame(population = c("1", "2")))
#' @export
rater_model <- function(accuracy = c("common", "rater"),
                        errors = c("uniform", "distance", "free", "ordinal"),
                        difficulty = c("none", "strata"), system = c("shared", "own"),
                        prior = NULL, base_rates = ~1, confidence = FALSE,
                        dependence = c("none", "easy", "pairs"), pairs = NULL, abstain = NULL,
                        ...) {
  check_call()
  dependence <- check_dependence(dependence, pairs, errors, difficulty, confidence)
  check_flag(confidence, "confidence")
  check_no_formula(accuracy, "accuracy")
  check_no_formula(difficulty, "difficulty")
  model <- list(
    accuracy = check_choice(accuracy), errors = check_choice(errors),
    difficulty = check_choice(difficulty), system = check_choice(system)
  )
  has_strata <- model$difficulty == "strata"
  abort_argument_if(has_strata && confidence, "difficulty",
    "A model with {.code confidence = TRUE} cannot have strata of difficulty.")
  is_ordinal <- model$errors == "ordinal"
  abort_argument_if(has_strata && is_ordinal, "difficulty",
    "A model with {.code errors = \"ordinal\"} cannot have strata of difficulty.")
  model$base_rates <- check_formula(base_rates)
  uses_formula <- has_formula(model)
  if (!uses_formula) model$base_rates <- NULL
  can_pool <- has_free_errors(model) && !uses_formula
  if (is_ordinal || confidence) {
    has_prior <- !is.null(prior) && !identical(prior, "weak")
    abort_argument_if(has_prior && length(check_prior(prior)) > 0L, "prior",
      "Models with ordinal errors or confidence are fitted without priors.",
      i = "Leave {.arg prior} out.")
    prior <- "none"
  }
  prior <- prior %||% if (can_pool) "pooled" else if (uses_formula) "none" else "weak"
  model$prior <- check_prior(prior, can_pool)
  class(model) <- c("rater_model", "fallible_result")
  model$confidence <- if (confidence) TRUE
  model$dependence <- dependence
  if (!is.null(abstain)) model$abstain <- check_choice(abstain, c("depends", "ignored"), "abstain")
  abort_argument_if(uses_abstentions(model) && !is_pooled(model), "abstain",
    "{.code abstain = \"depends\"} needs {.code prior = \"pooled\"}: free errors of each rater, on
        cases that are equally difficult, without a formula of base rates.",
    i = "Use {.fun dawid_skene}.")
  model
}

check_no_formula <- function(value, arg) {
  abort_argument_if(is_formula(value), arg,
    "{.arg {arg}} cannot be a formula; only {.arg base_rates} can.",
    i = "Define a model with {.fun rater_family}, or use {.arg by} of {.fun estimate_accuracy}.")
}

#' @rdname rater_model
#' @export
dawid_skene <- function(prior = "pooled", abstain = NULL, ...) {
  check_call()
  check_prior(prior, poolable = TRUE)
  rater_model("rater", "free", "none", prior = prior, abstain = abstain)
}

weak_prior <- list(
  base_rates = 1, accuracy = c(3, 2), spread = 0.6, dispersion = 0.7, difficulty = 0.2, errors = 0.5
)

# The pooled prior: confusion matrices of raters vary around mean rows, which are estimated together
# with the matrices. In a fit, the prior also has `rows`, the estimated Dirichlet parameters.
pooled_prior <- list(pooled = TRUE)

is_pooled <- function(model) isTRUE(model$prior$pooled)

prior_name <- function(model) {
  if (length(model$prior) == 0L) "none" else if (is_pooled(model)) "pooled" else
    if (identical(model$prior, weak_prior)) "weak" else "own"
}

# Checks argument `prior` and returns a list with all parameters of the prior; an empty list if
# there is no prior. `poolable`: does the model allow a pooled prior?
check_prior <- function(prior, poolable = FALSE) {
  abort_argument_if(identical(prior, "pooled") && !poolable, "prior",
    "{.code prior = \"pooled\"} needs free errors of each rater, on cases that are equally
        difficult, without a formula of base rates.",
    i = "Use it with {.fun dawid_skene} or {.code rater_model(\"rater\", \"free\")}.")
  if (is_string(prior, c("pooled", "weak", "none"))) {
    return(switch(prior, pooled = pooled_prior, weak = weak_prior, none = list()))
  }
  parameter_names <- names(weak_prior)
  unknown <- if (is.list(prior)) setdiff(names2(prior), parameter_names)
  abort_argument_if(!is.list(prior) || length(unknown) > 0L, "prior",
    "must be a list with some of {.val {parameter_names}}, or
        {.or {.val {c(if (poolable) 'pooled', 'weak', 'none')}}}.",
    x = if (is.list(prior)) "It has {.val {unknown}}." else "It is {describe(prior)}.")
  for (name in names(prior)) {
    value <- prior[[name]]
    ok <- is.numeric(value) && length(value) == length(weak_prior[[name]]) &&
      all(is.finite(value) & value > 0)
    abort_argument_if(!ok, "prior",
      "{.field {name}} in {.arg prior} must be {length(weak_prior[[name]])} positive number{?s}.",
      not = value)
  }
  if (length(prior) > 0L) modifyList(weak_prior, prior) else list()
}

# Is it the K-model, with no other feature (family, confidence, dependence or formula)?
is_k_model <- function(model) {
  is.null(model$family) && !uses_confidence(model) && has_k_properties(model) &&
    !model_is_dependent(model) && !has_formula(model)
}

# Does the model have ordinal errors, or use confidence? The compiled estimators of systems'
# accuracy do not support such models.
is_outside_core <- function(model) identical(model$errors, "ordinal") || uses_confidence(model)

# Does each rater have a separate confusion matrix, for cases that are equally difficult?
has_free_errors <- function(model) {
  model$accuracy == "rater" && model$errors == "free" && model$difficulty == "none"
}

has_k_properties <- function(model) {
  model$accuracy == "common" && model$errors == "uniform" && model$difficulty == "none"
}

# Creates an object of class `class` for a user-defined model. It has the fields of a rater_model(),
# which functions that describe the model of a fit expect. `words`: name of the model. `...`:
# further fields.
user_model <- function(class, accuracy, words, ...) {
  structure(
    list(accuracy = accuracy, errors = "own", difficulty = "own", system = "shared",
      prior = list(), words = words, ...),
    class = c(class, "rater_model", "fallible_result")
  )
}

#' @export
format.rater_model <- function(x, ...) {
  name <- x$words %||% if (has_k_properties(x) && !model_is_dependent(x)) {
    "K-model"
  } else if (has_free_errors(x)) {
    "Dawid-Skene model"
  } else {
    sprintf("rater model (%s)", toString(c(
      if (x$accuracy == "common") "equal raters" else "unequal raters",
      if (x$errors == "distance") "errors by distance" else paste(x$errors, "errors"),
      if (x$difficulty != "none") "unequal cases"
    )))
  }
  paste0(
    name, if (uses_confidence(x)) " with confidence", format_dependence(x), formula_words(x)
  )
}

#' @export
print.rater_model <- function(x, ...) {
  cat(model_lines(x), sep = "\n")
  invisible(x)
}

model_lines <- function(x) UseMethod("model_lines")

model_lines.own_model <- function(x) {
  sprintf("<rater_model> %s, user-defined, with posterior probabilities only", x$words)
}

model_lines.rater_model <- function(x) {
  meaning <- c(
    common = "all raters are equally accurate", rater = "raters differ in accuracy",
    uniform = "all errors are equally probable",
    distance = "errors near the truth are more likely, or less likely",
    free = "errors have any probabilities",
    ordinal = "errors follow the order of the categories (cumulative probit)",
    none = "all cases are equally difficult",
    strata = "a third of the cases is easier, a third harder"
  )
  value <- unlist(x[c("accuracy", "errors", "difficulty")])
  c(
    paste0("<rater_model> ", format(x)),
    paste0("  ", format(c(names(value), "prior")), "  ", c(
      paste0(format(value), "  ", meaning[value]),
      switch(prior_name(x), none = "none", weak = "weak",
        pooled = "pooled  matrices vary around mean rows of the panel, which are also estimated",
        paste(names(x$prior), map_chr(x$prior, toString), sep = " = ", collapse = "; ")
      )
    )),
    if (uses_confidence(x)) {
      "  confidence  ratings with higher confidence are more often right"
    },
    if (has_formula(x)) paste0("  base rates  ", formula_text(x))
  )
}

# Models that are created once: one accuracy for all raters, and an accuracy per rater.
plain_k_model <- rater_model()
rater_k_model <- rater_model("rater")

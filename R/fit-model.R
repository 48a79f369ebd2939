#' The K-model
#'
#' Returns the K-model of Lehner (2015), the simplest model of raters, for [fit_raters()]. It makes
#' three assumptions, called *K-properties*:
#' * equal rater accuracy: all raters have the same accuracy;
#' * equal error probabilities: all wrong categories are equally probable;
#' * equal problem difficulty: accuracy is the same on all cases.
#'
#' [rater_model()] relaxes these assumptions, and [check_k_properties()] tests them.
#'
#' @srrstats {UL4.1} a model without a fit
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `rater_model`, with a field per K-property: `accuracy`, `errors` and
#'   `difficulty`.
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
#' Defines a latent class model of raters for [fit_raters()]. In such a model, the true category of
#' a case is not observed, and raters err with probabilities that are estimated. The arguments
#' `accuracy`, `errors` and `difficulty` relax the three assumptions of [k_model()]. `dawid_skene()`
#' is the model of Dawid and Skene (1979), with a separate confusion matrix for every rater. A
#' confusion matrix contains the probabilities of ratings (columns) given the true category (rows).
#'
#' @section Accuracy, errors and difficulty:
#' `accuracy` is the probability of a correct rating, the same for all raters (`"common"`), or
#' separate for each rater (`"rater"`).
#'
#' `errors` specifies the probabilities of wrong categories:
#' * `"uniform"`: all wrong categories are equally probable;
#' * `"distance"`: each further step away from the true category, in the order of the categories,
#'   divides the probability of an error by the same number, the *dispersion*;
#' * `"free"`: every entry of the confusion matrix is a parameter. All raters have the same matrix,
#'   or each rater has a separate one if `accuracy = "rater"`;
#' * `"ordinal"`: see *Ordinal errors*.
#'
#' With `difficulty = "none"`, all cases are equally difficult. With `"strata"`, there are three
#' equally large groups of cases (strata). A number, the *difficulty shift*, is added to the
#' accuracy in the first group and subtracted in the third, within \[0, 1\]. Which cases are in
#' which group is not known. An estimated shift of 0 does not show that cases are equally difficult:
#' wrong ratings that raters share in difficult cases look like correct ratings.
#'
#' @section Ordinal errors:
#' The model is cumulative probit. A case of the k-th of K categories gives a rater a normal signal
#' with variance 1 and mean `slope * (k - (K + 1) / 2)`. K - 1 thresholds divide the range of the
#' signal into K intervals, and the rating is the interval that contains the signal.  Slope and
#' thresholds are the same for all raters, or separate for each rater if `accuracy = "rater"`.
#' Categories must be ordered ([ratings()] with `ordered = TRUE`), unless there are only two.
#'
#' The model assumes distinct true categories with equally spaced means. If the truth is a
#' continuous scale that is cut into categories, base rates are too small at both ends, and
#' probabilities of true categories are too high. In a simulation of four raters with a normal scale
#' in five categories, base rates of .16, .18, .27, .22 and .17 were estimated as .11, .24, .33, .22
#' and .10. The most probable categories were correct in 62% of cases, with a mean probability of
#' .80.
#'
#' @section Confidence: With `confidence = TRUE`, a rating consists of a category and a level of
#' confidence (argument `confidence` of [ratings()]). Correct ratings have one distribution over the
#' levels, and wrong ratings have another. Both are the same for all raters and categories. The
#' ratio of the two probabilities of a level (correct / wrong) never decreases from one level to the
#' next, so that confidence is never a sign of an error. [tidy()][tidy.rater_fit] returns the
#' probabilities as `confidence_right[level]` and `confidence_wrong[level]`. AIC cannot compare this
#' model with models that ignore confidence.
#'
#' If a rater always gives the highest level, set the confidence of this rater to `NA`.
#'
#' @section Dependence:
#' By default, raters err independently given the truth. Two other models need `method = "bayes"` of
#' [fit_raters()]. In both, confusion matrices have the same meaning as without dependence.
#' * `"easy"`: with probability `easy[k]`, a case of category k is easy, and all raters rate it
#'   correctly. Otherwise they err independently (Albert and Dodd, 2004).
#' * `"pairs"`: for the given pairs of raters, `pair[a,b,k]` measures the dependence of raters a and
#'   b on cases of category k. It is 0 if they err independently, and 1 for the largest dependence
#'   that their matrices allow (Dendukuri and Joseph, 2001). The raters of a pair must rate each
#'   case at most once.
#'
#' The priors of these parameters are uniform. `easy[k]` is at most the lowest accuracy of a rater
#' in category k. This restriction makes high accuracies more probable than in [rater_prior()].
#'
#' Use the models as a sensitivity analysis: they may fit the ratings equally well and give
#' different accuracies; see [compare_models()].
#'
#' @section Priors: The argument `prior` is:
#' * `"none"`: maximum likelihood. It is also used if weights of cases are not whole numbers.
#' * `"weak"`: the priors of the following table. Fits maximise the posterior density.
#' * A list that replaces some of these priors, such as `list(difficulty = 0.1)`.
#' * `"pooled"`: see *Pooled matrices*.
#'
#' | name | prior | default |
#' |---|---|---|
#' | `base_rates` | Dirichlet, the same parameter for all categories | 1 |
#' | `accuracy` | Beta of the mean rater accuracy | 3, 2 |
#' | `spread` | standard deviation of the logits of accuracies around their mean | 0.6 |
#' | `dispersion` | standard deviation of log dispersion around 0 | 0.7 |
#' | `difficulty` | standard deviation of the difficulty shift (half-normal) | 0.2 |
#' | `errors` | standard deviation of the logarithms of free error rates | 0.5 |
#'
#' @section Pooled matrices: The pooled prior shrinks the confusion matrices of raters towards each
#' other, because matrices from few ratings are mostly noise. Row k of a rater's matrix has a
#' Dirichlet distribution. Its parameters sum to `c`, and its mean has two parts:
#' * The logit of the probability of a correct rating is the ease of category k plus the skill of
#'   the rater. Ease and skill are normal with standard deviations `ups` and `tau`.
#' * The shares of the other categories among wrong ratings of cases of category k are common to all
#'   raters. Their prior is a symmetric Dirichlet distribution whose parameters sum to `a`.
#'
#' `c`, `tau`, `ups` and `a` are estimated; [glance()][tidy.rater_fit] returns them. Base rates have
#' a Dirichlet prior with all parameters 2. Standard errors ignore that these four parameters and
#' the means are estimated. `AIC()` and `BIC()` are `NA`; to compare models, use `prior = "none"`.
#'
#' @section Formulas of covariates:
#' With covariates of cases (argument `covariates` of [ratings()]), `base_rates` may be a formula
#' such as `~ site + age`, a multinomial logit of the base rates. It must have an intercept. Two
#' raters and two populations
#' with different base rates identify a matrix per rater (Hui and Walter, 1980).
#'
#' [coef()][stats::coef] returns the coefficients as `base_rate[category]:column`, for the logit of
#' a category against the first one. [base_rates()] with `newdata` returns the base rates of other
#' cases, and [regression] returns robust standard errors, odds ratios and marginal differences. A
#' prior of base rates is equivalent to additional cases, distributed over the populations like the
#' data (Clogg et al., 1991). With `method = "bayes"` of [fit_raters()], covariates must not be
#' numeric, and each combination of their values is a population with separate base rates.
#'
#' Accuracies do not depend on covariates. If they do, use the argument `by` of
#' [estimate_accuracy()], or a [rater_family()].
#'
#' @param accuracy,errors,difficulty How far the model relaxes the assumptions of [k_model()]; see
#'   *Accuracy, errors and difficulty*. The defaults are `"common"`, `"uniform"` and `"none"`.
#' @param system For method `"joint"` of [estimate_accuracy()], which fits systems together with the
#'   raters. `"shared"` (the default): systems have the same dispersion and difficulty shift as the
#'   raters. `"own"`: systems have separate ones. Both terms are defined in *Accuracy, errors and
#'   difficulty*.
#' @param prior `"pooled"`, `"weak"`, `"none"` or a list; see *Priors*. The default `NULL` is
#'   `"none"` for models with ordinal errors, confidence or a formula of base rates. It is
#'   `"pooled"` for other models with free errors per rater and equally difficult cases, and
#'   otherwise `"weak"`.
#' @param base_rates A formula of covariates; see *Formulas of covariates*. The default `~ 1` is one
#'   set of base rates for all cases.
#' @param confidence Does the model use the raters' confidence? `TRUE` or `FALSE` (the default); see
#'   *Confidence*.
#' @param dependence,pairs Dependence of errors given the truth: `"none"` (the default), `"easy"` or
#'   `"pairs"`; see *Dependence*. For `"pairs"`, the argument `pairs` is a list of pairs of raters,
#'   such as `list(c("a", "b"))`.
#' @param abstain For ratings with abstentions (see [ratings()]) and `prior = "pooled"`.
#'   `"depends"`: the probability that a rater answers depends on the true category. `"ignored"`:
#'   abstentions are treated as missing ratings. The default `NULL` is `"depends"` if it predicts
#'   the answers better; see *Abstentions* in [ground_truth()].
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
#' populations <- data.frame(population = c("1", "2"))
#' base_rates(fit, populations)
#' # Their 95% intervals, by the delta method on the logit scale
#' design <- model.matrix(~population, populations)
#' logit <- drop(design %*% tidy(fit, "regression")$estimate)
#' error <- sqrt(diag(design %*% vcov(fit, "regression") %*% t(design)))
#' plogis(logit + outer(error, c(estimate = 0, conf.low = -1.96, conf.high = 1.96)))
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
    abort_argument_if(has_prior && !is_empty(check_prior(prior)), "prior",
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
    "{.code abstain = \"depends\"} needs {.code prior = \"pooled\"}.",
    i = "This prior needs free errors of each rater, equally difficult cases, and no formula of base
        rates. Use {.fun dawid_skene}.")
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
  if (is_empty(model$prior)) "none" else if (is_pooled(model)) "pooled" else
    if (identical(model$prior, weak_prior)) "weak" else "own"
}

# Checks argument `prior` of rater_model(). Returns a list with all parameters of the prior; an
# empty list means no prior. `poolable`: does the model allow a pooled prior?
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
  unnamed <- unknown == ""
  abort_argument_if(!is.list(prior) || !is_empty(unknown), "prior",
    "must be {.or {.val {c(if (poolable) 'pooled', 'weak', 'none')}}}, or a named list of one or
        more of {.val {parameter_names}}.",
    x = if (!is.list(prior)) "It is {describe(prior)}." else if (any(unnamed))
      "Some elements have no name." else "Unknown name{?s}: {.val {unknown}}.")
  for (name in names(prior)) {
    value <- prior[[name]]
    is_valid <- is.numeric(value) && length(value) == length(weak_prior[[name]]) &&
      all(is.finite(value) & value > 0)
    abort_argument_if(!is_valid, "prior",
      "{.field {name}} in {.arg prior} must be {length(weak_prior[[name]])} positive number{?s}.",
      not = value)
  }
  if (!is_empty(prior)) modifyList(weak_prior, prior) else list()
}

# Returns TRUE if the model is the K-model, without a family, confidence, dependence or a formula.
is_k_model <- function(model) {
  is.null(model$family) && !uses_confidence(model) && has_k_properties(model) &&
    !model_is_dependent(model) && !has_formula(model)
}

# Returns TRUE if the compiled estimators of systems' accuracy do not support the model. These are
# models with ordinal errors or with confidence.
is_outside_core <- function(model) identical(model$errors, "ordinal") || uses_confidence(model)

# Returns TRUE if each rater has a separate, free confusion matrix, and all cases are equally
# difficult.
has_free_errors <- function(model) {
  model$accuracy == "rater" && model$errors == "free" && model$difficulty == "none"
}

has_k_properties <- function(model) {
  model$accuracy == "common" && model$errors == "uniform" && model$difficulty == "none"
}

# Creates a user-defined model of class `class`. It has the fields of a rater_model(), because other
# functions use these fields of any fit. `words`: name of the model. `...`: further fields.
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
    name, if (uses_confidence(x)) " with confidence", format_dependence(x),
    if (has_formula(x)) paste(" with base rates", formula_text(x))
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

# Models that are often used: one accuracy for all raters, and an accuracy per rater.
plain_k_model <- rater_model()
rater_k_model <- rater_model("rater")

#' The K-model
#'
#' Returns the K-model of Lehner (2015), the simplest model of raters. It is the default model of
#' [fit_raters()]. A rater is a person or a program that chooses one of K categories for each case.
#' Given the true category of a case, raters err independently. The model has three further
#' assumptions, called *K-properties*:
#' * equal rater accuracy: all raters have the same accuracy (probability of the true category);
#' * equal error probabilities: all wrong categories are equally probable;
#' * equal problem difficulty: accuracy is the same on all cases.
#'
#' [check_k_properties()] tests these assumptions. [rater_model()] defines models without them.
#'
#' @srrstats {UL4.1} a model without a fit
#' @param ... Not used.
#' @return An object of class `rater_model`, a list. Three elements represent the K-properties:
#'   `accuracy` is `"common"`, `errors` is `"uniform"`, and `difficulty` is `"none"`.
#' @family models of raters
#' @templateVar where Theorem 1
#' @template ref-lehner
#' @examples
#' # Print the assumptions of the model
#' k_model()
#' # Fit the model to four raters
#' fit_raters(ratings(lehner2015, raters = rater1:rater4, case = case), k_model())
#' @export
k_model <- function(...) {
  check_call()
  plain_k_model
}

#' Latent class models of raters
#'
#' Defines a latent class model of raters for [fit_raters()]. In a latent class model, the true
#' category of a case is not observed. Raters (people or programs) err with probabilities that are
#' estimated. With its defaults, `rater_model()` is the [k_model()], in which raters are equally
#' accurate. `dawid_skene()` is the model of Dawid and Skene (1979), in which each rater has a
#' separate confusion matrix. A confusion matrix contains the probabilities of ratings (columns)
#' given the true category (rows).
#'
#' @section Ordinal errors: With `errors = "ordinal"`, the model is cumulative probit. A case of the
#' k-th of K categories gives a rater a normal signal with variance 1 and mean `slope * (k - (K + 1)
#' / 2)`. K - 1 thresholds divide the range of the signal into K intervals, and the rating is the
#' interval that contains the signal. Slope and thresholds are parameters of all raters together, or
#' of each rater if `accuracy = "rater"`. Categories must be ordered ([ratings()] with `ordered =
#' TRUE`), unless there are only two.
#'
#' The model assumes distinct true categories with equally spaced means. If the truth is a
#' continuous scale that is cut into categories, estimated base rates of the lowest and the highest
#' category are too small. The probability of the most probable category is then too high: in a
#' simulation its mean was .80, but the category was correct in only 62% of the cases.
#'
#' @section Confidence: With `confidence = TRUE`, a rating consists of a category and a level of
#' confidence (argument `confidence` of [ratings()]). Correct ratings have one distribution over the
#' levels, and wrong ratings have another. These two distributions are the same for all raters and
#' categories. The ratio of the two probabilities of a level (correct / wrong) never decreases from
#' one level to the next, so that errors are never more frequent at a higher level.
#' [tidy()][tidy.rater_fit] returns the probabilities as `confidence_right[level]` and
#' `confidence_wrong[level]`. AIC cannot compare this model with models that ignore confidence.
#'
#' If a rater always gives the highest level, set the confidence of this rater to `NA`.
#'
#' @section Dependence: By default, raters err independently given the truth. The argument
#' `dependence` selects one of two other models, which need `method = "bayes"` of [fit_raters()]:
#' * `"easy"`: with probability `easy[k]`, a case of category k is easy, and all raters rate it
#'   correctly. Otherwise they err independently (Albert and Dodd, 2004).
#' * `"pairs"`: for the given pairs of raters, `pair[a,b,k]` measures the dependence of raters a and
#'   b on cases of category k. It is 0 if they err independently, and 1 for the largest dependence
#'   that their matrices allow (Dendukuri and Joseph, 2001). The raters of a pair must rate each
#'   case at most once. [tidy(fit, "covariances")][tidy.rater_fit] returns covariances.
#'
#' The priors of `easy[k]` and `pair[a,b,k]` are uniform. `easy[k]` is at most the lowest of the
#' raters' accuracies on cases of category k.
#'
#' Use these models as a sensitivity analysis. Different models may fit the ratings equally well and
#' give different accuracies; see [compare_models()].
#'
#' @section Priors: The argument `prior` is one of:
#' * `"none"`: no priors, so that fits maximise the likelihood. Priors are also ignored if weights
#'   of cases are not whole numbers.
#' * `"weak"`: the priors of the following table. Fits maximise the posterior density.
#' * A list that replaces some of the weak priors, such as `list(difficulty = 0.1)`. Each element is
#'   a positive number; `accuracy` consists of two numbers.
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
#'   the rater. Ease has a normal distribution with standard deviation `ups`, and skill has one with
#'   standard deviation `tau`.
#' * The shares of the wrong categories among wrong ratings of cases of category k are the same for
#'   all raters. Their prior is a symmetric Dirichlet distribution whose parameters sum to `a`.
#'
#' `c`, `tau`, `ups` and `a` are estimated; [glance()][tidy.rater_fit] returns them. Base rates have
#' a Dirichlet prior with all parameters 2. Standard errors are computed as if these four parameters
#' and the means were known. `AIC()` and `BIC()` are `NA`; to compare models, use `prior = "none"`.
#'
#' @section Formulas of covariates: A formula such as `~ site + age` is a multinomial logit model of
#' the base rates. The variables of the formula are covariates of the cases (argument `covariates`
#' of [ratings()]), and the formula must have an intercept. Two raters can have separate matrices if
#' there are two populations (groups of cases with the same covariates) with different base rates
#' (Hui and Walter, 1980).
#'
#' [coef()][stats::coef] returns the coefficients as `base_rate[category]:column`, for the logit of
#' a category against the first one. [base_rates()] with `newdata` returns the base rates of other
#' cases, and [regression] returns robust standard errors, odds ratios and marginal differences.
#' With `method = "bayes"` of [fit_raters()], covariates must not be numeric, except in `factor()`.
#' Each population then has separate base rates.
#'
#' In these models, accuracies do not depend on covariates. To estimate accuracies that depend on
#' covariates, use the argument `by` of [estimate_accuracy()], or a [rater_family()].
#'
#' @param accuracy `"common"` (the default): all raters have the same probability of a correct
#'   rating and, with `errors = "free"`, the same confusion matrix. `"rater"`: each rater has a
#'   separate probability or matrix.
#' @param errors Probabilities of the wrong categories.
#'   * `"uniform"` (the default): all wrong categories are equally probable.
#'   * `"distance"`: the probability of an error depends on its distance from the true category, in
#'     the order of the categories. Each further step divides the probability by the same number,
#'     the *dispersion*.
#'   * `"free"`: every entry of the confusion matrix is a parameter.
#'   * `"ordinal"`: errors follow an ordered scale; see *Ordinal errors*.
#' @param difficulty `"none"` (the default): all cases are equally difficult. `"strata"`: there are
#'   three equally large, unobserved groups of cases. A number, the *difficulty shift*, is added to
#'   the accuracy in the first group and subtracted in the third. A shift estimated as 0 does not
#'   show that cases are equally difficult: if raters make the same error on difficult cases, the
#'   model takes their agreement for correct ratings.
#' @param system Only for method `"joint"` of [estimate_accuracy()], which fits systems (the
#'   classifiers to evaluate) together with the raters. `"shared"` (the default): systems have the
#'   same dispersion and difficulty shift as the raters. `"own"`: systems have separate ones.
#' @param prior `"pooled"`, `"weak"`, `"none"` or a list; see *Priors*. The default `NULL` is
#'   `"none"` for models with ordinal errors, confidence or a formula of base rates. For other
#'   models it is `"pooled"` if `accuracy = "rater"`, `errors = "free"` and `difficulty = "none"`,
#'   and otherwise `"weak"`.
#' @param base_rates A formula for the base rates, the shares of cases with each true category. With
#'   the default `~ 1`, all cases have the same base rates. With a formula of covariates, base rates
#'   differ between cases; see *Formulas of covariates*.
#' @param confidence `TRUE` if the model uses the raters' confidence; see *Confidence*. The default
#'   is `FALSE`.
#' @param dependence Dependence of errors given the truth: `"none"` (the default), `"easy"` or
#'   `"pairs"`; see *Dependence*.
#' @param pairs For `dependence = "pairs"`: a list of pairs of raters, such as `list(c("a", "b"))`.
#'   Otherwise `NULL`, the default.
#' @param abstain For ratings with abstentions (see [ratings()]) and `prior = "pooled"`. With
#'   `"depends"`, the probability that a rater answers depends on the true category. With
#'   `"ignored"`, abstentions are treated as missing ratings. The default `NULL` chooses `"depends"`
#'   if that model predicts the answers better; see *Abstentions* in [ground_truth()].
#' @param ... Not used.
#' @return An object of class `rater_model`, a list with the assumptions, for [fit_raters()] and
#'   [estimate_accuracy()].
#' @family models of raters
#' @references Albert, P. S. and Dodd, L. E. (2004). A cautionary note on the robustness of latent
#'   class models for estimating diagnostic error without a gold standard. *Biometrics*, 60,
#'   427-435. \doi{10.1111/j.0006-341X.2004.00187.x}
#'
#'
#'
#'   Dawid, A. P. and Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates
#'   using the EM algorithm. *Applied Statistics*, 28, 20-28. \doi{10.2307/2346806}
#'
#'   Dendukuri, N. and Joseph, L. (2001). Bayesian approaches to modeling the conditional dependence
#'   between multiple diagnostic tests. *Biometrics*, 57, 158-167.
#'   \doi{10.1111/j.0006-341X.2001.00158.x}
#'
#'   Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of diagnostic tests.
#'   *Biometrics*, 36, 167-171. \doi{10.2307/2530508}
#' @seealso [rater_family()] for user-defined models.
#' @examples
#' # Raters differ in accuracy, and near categories are confused more often
#' rater_model(accuracy = "rater", errors = "distance")
#' # A separate confusion matrix for each rater
#' dawid_skene()
#' # Cases differ in difficulty, with a prior that expects smaller differences than the default
#' rater_model(difficulty = "strata", prior = list(difficulty = 0.1))
#'
#' # Two tests of tuberculosis in two populations (Hui and Walter, 1980)
#' tests <- data.frame(
#'   population = rep(c("1", "2"), each = 4), mantoux = c("pos", "pos", "neg", "neg"),
#'   tine = c("pos", "neg"), n = c(14, 4, 9, 528, 887, 31, 37, 367)
#' )
#' x <- ratings(tests, raters = mantoux:tine, weights = n, covariates = population)
#' fit <- fit_raters(x, rater_model("rater", "free", base_rates = ~population))
#' # Error rates of the tests
#' confusion(fit)
#' # Base rates of the populations
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
  for (arg in c("accuracy", "difficulty")) abort_argument_if(is_formula(get(arg)), arg,
    "{.arg {arg}} cannot be a formula; only {.arg base_rates} can.",
    i = "For accuracies that depend on covariates, use {.fun rater_family}, or {.arg by} of
      {.fun estimate_accuracy}.")
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
  can_have_pooled_prior <- has_free_errors(model) && !uses_formula
  if (is_ordinal || confidence) {
    has_special_prior <- !is.null(prior) && !identical(prior, "weak")
    abort_argument_if(has_special_prior && !is_empty(check_prior(prior)), "prior",
      "Models with ordinal errors or confidence are fitted without priors.",
      i = "Leave {.arg prior} out.")
    prior <- "none"
  }
  prior <- prior %||% if (can_have_pooled_prior) "pooled" else if (uses_formula) "none" else "weak"
  model$prior <- check_prior(prior, can_have_pooled_prior)
  class(model) <- c("rater_model", "fallible_result")
  model$confidence <- if (confidence) TRUE
  model$dependence <- dependence
  if (!is.null(abstain)) model$abstain <- check_choice(abstain, c("depends", "ignored"), "abstain")
  abort_argument_if(uses_abstentions(model) && !is_pooled(model), "abstain",
    "{.code abstain = \"depends\"} needs {.code prior = \"pooled\"}.",
    i = "Use {.code dawid_skene(abstain = \"depends\")}.")
  model
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
# with the matrices. In a fit, the prior also has the element `rows`, the estimated Dirichlet
# parameters of the rows.
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
    "{.code prior = \"pooled\"} needs a model with {.code accuracy = \"rater\"},
        {.code errors = \"free\"} and {.code difficulty = \"none\"}, and no formula of base rates.",
    i = "Use {.fun dawid_skene} or {.code rater_model(\"rater\", \"free\")}.")
  if (is_string(prior, c("pooled", "weak", "none"))) {
    return(switch(prior, pooled = pooled_prior, weak = weak_prior, none = list()))
  }
  parameter_names <- names(weak_prior)
  unknown_names <- if (is.list(prior)) setdiff(names2(prior), parameter_names)
  abort_argument_if(!is.list(prior) || !is_empty(unknown_names), "prior",
    "must be {.or {.val {c(if (poolable) 'pooled', 'weak', 'none')}}}, or a list whose names are one
        or more of {.val {parameter_names}}.",
    x = if (!is.list(prior)) "It is {describe(prior)}." else if ("" %in% unknown_names)
      "Some elements have no name." else "{.val {unknown_names}} {?is not a name/are not names} of
        priors.")
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

# Returns TRUE if the model is the K-model. It must have no user-defined family, confidence,
# dependence or formula.
is_k_model <- function(model) {
  is.null(model$family) && !uses_confidence(model) && has_k_properties(model) &&
    !model_is_dependent(model) && !has_formula(model)
}

# Returns TRUE if the model has ordinal errors or uses confidence. The estimators of systems'
# accuracy in the C++ core do not support such models.
is_outside_core <- function(model) identical(model$errors, "ordinal") || uses_confidence(model)

# Returns TRUE if each rater has a separate, free confusion matrix, and all cases are equally
# difficult.
has_free_errors <- function(model) {
  model$accuracy == "rater" && model$errors == "free" && model$difficulty == "none"
}

has_k_properties <- function(model) {
  model$accuracy == "common" && model$errors == "uniform" && model$difficulty == "none"
}

# Creates a user-defined model of class `class`. The model has the fields of a rater_model(),
# because other functions use these fields for all models. `words`: name of the model. `...`:
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
  sprintf("<rater_model> %s, defined only by posterior probabilities", x$words)
}

model_lines.rater_model <- function(x) {
  descriptions <- c(
    common = "all raters are equally accurate", rater = "raters differ in accuracy",
    uniform = "all errors are equally probable",
    distance = "probabilities of errors depend on the distance from the truth",
    free = "each error has a separate probability",
    ordinal = "errors follow the order of the categories (cumulative probit)",
    none = "all cases are equally difficult",
    strata = "a third of the cases is easy, a third difficult"
  )
  assumptions <- unlist(x[c("accuracy", "errors", "difficulty")])
  c(
    paste0("<rater_model> ", format(x)),
    paste0("  ", format(c(names(assumptions), "prior")), "  ", c(
      paste0(format(assumptions), "  ", descriptions[assumptions]),
      switch(prior_name(x), none = "none", weak = "weak",
        pooled = "pooled  matrices vary around mean rows of the panel, moved by a rater's skill",
        paste(names(x$prior), map_chr(x$prior, toString), sep = " = ", collapse = "; ")
      )
    )),
    if (uses_confidence(x)) {
      "  confidence  ratings with higher confidence are more often right"
    },
    if (has_formula(x)) paste0("  base rates  ", formula_text(x))
  )
}

# Two models that are often used: `plain_k_model` has one accuracy for all raters, and
# `rater_k_model` has an accuracy per rater.
plain_k_model <- rater_model()
rater_k_model <- rater_model("rater")

#' The K-model
#'
#' The model behind Lehner's method, and behind reading agreement as accuracy at all: every rater on
#' every case is right with the same probability, and wrong in favour of each other category with
#' the same probability. These are the three *K-properties*: equal rater accuracy, equal error
#' probabilities, equal problem difficulty.
#'
#' @srrstats {UL4.1} a model without a fit
#' @return An object of class `rater_model`, with a field per K-property: `accuracy`, `errors` and
#'   `difficulty`.
#' @family estimation
#' @templateVar where Theorem 1
#' @template ref-lehner
#' @examples
#' k_model()
#' @export
k_model <- function() plain_k_model

#' Models of raters
#'
#' A family of latent class models with an axis for each K-property, and a formula of covariates for
#' base rates. [k_model()] is its origin; each argument lets go of one property.
#' `dawid_skene()` is the model of Dawid and Skene (1979), in which every rater has a confusion
#' matrix of its own.
#'
#' @section Axes:
#' * Equal rater accuracy: `"common"`, or an accuracy for each `"rater"`.
#' * Equal error probabilities: `"uniform"`; `"distance"`, where each step away from the true
#'   category divides the probability of an error by the same dispersion; `"free"`, where all
#'   entries of the confusion matrix are, for all raters together or for each
#'   (`accuracy = "rater"`); or `"ordinal"`, see below.
#' * Equal problem difficulty: `"none"`; or `"strata"`: on a third of the cases accuracy is higher,
#'   on a third lower by the same shift, cut at 0 and 1.
#'
#' @section Ordinal errors:
#' Cumulative probit: a case of the k-th of K categories gives a rater a signal, normal with
#' variance 1 around `slope * (k - (K + 1) / 2)`, and its answer is the category between whose
#' thresholds it falls. A slope of 0 is guessing; strict and mild raters differ in thresholds. One
#' slope and K - 1 thresholds for all raters, or for each (`accuracy = "rater"`), instead of K
#' (K - 1) free entries. Categories must be ordered, or two, for which it is the free model, and are
#' taken for a step from each other. Fitted by maximum likelihood, without priors; `base_rates` may
#' be a formula.
#'
#' @section Confidence:
#' With `confidence = TRUE` the levels of [confidence][ratings()] multiply the answers: there is one
#' law of levels for right answers and one for wrong ones, the same for all raters and categories;
#' their ratio never falls from a level to the next. [tidy()][tidy.rater_fit] has both, as
#' `confidence_right[level]` and `confidence_wrong[level]`. An answer without a level counts as the
#' answer alone, and so do those of a system that joins the raters. Fitted by maximum likelihood,
#' without priors, beside all but strata of difficulty. The likelihood is one of answers and levels,
#' not to be compared by AIC with that of models without. All other models leave confidence alone.
#'
#' Measured on panels of 500 cases, four raters of accuracy .55 to .75 and three levels
#' (bench/confidence.R): 89% of cases are judged right, 83% without confidence; the root mean
#' squared error of a system's accuracy is .020, not .022. Where one of the raters is always sure,
#' nothing is gained, and its accuracy comes out as .64 instead of .55: set the confidence of such
#' raters to `NA`.
#'
#' @section Dependence:
#' Raters are taken to err independently given the truth. Two laws let go of that; both keep each
#' rater's matrix what it is, so that priors keep their meaning, and need `method = "bayes"`.
#' `"easy"`: with a probability `easy[k]` a case of category k is rated right by all, otherwise
#' independently (Albert and Dodd, 2004). `"pairs"`: two raters agree more often than their matrices
#' say; `pair[a,b,k]` is the share, from 0 to 1, of the way to the most that these allow (Dendukuri
#' and Joseph, 2001). Both are uniform a priori, `easy[k]` as far as no rater is right less often.
#'
#' This is an analysis of sensitivity, not a correction: different laws may fit the same ratings
#' equally well and tell other accuracies. Where raters are too few to tell the parameters apart,
#' all raters must have priors. See [compare_models()].
#'
#' @section Priors:
#' `"pooled"` is the default where errors are free for each rater, see below. Other fits maximise
#' the posterior density of logits and logarithms under weak priors (`"weak"`, their default).
#' `"none"` is plain maximum likelihood, which is what ratings get whose weights are not counts; a
#' list replaces some of the weak ones:
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
#' @section Pooled matrices:
#' With few ratings in each of its K (K - 1) cells a matrix by itself is mostly noise. Under
#' `prior = "pooled"` row k of a rater's matrix has a Dirichlet distribution of size `c` around a
#' row that says: the rating k has a probability whose logit is how easily the panel recognises
#' category k (normal, with standard deviation `ups`) plus the skill of the rater (normal, with
#' standard deviation `tau`); errors are shared as the panel shares them, which is Dirichlet of size
#' `a` around shares that are equal. All four are estimated, under priors that are worth a few
#' ratings; [glance()][tidy.rater_fit] has them. A rater thus borrows from its other categories and
#' from the panel, and is itself where it has ratings. Base rates have a Dirichlet prior with
#' parameter 2 for each category: 2 positive cases of 200, rated by three good raters, give a base
#' rate of .015 instead of .010. If the only rater has a known matrix, neither this prior nor the
#' weak one is used. The fit is by EM with squared extrapolation,
#' from the shares of votes and, for no more than ten raters, from the ratings of each; classes are
#' named so that the majority of ratings means what it says. Standard errors are given the centre.
#' `logLik()` is the likelihood of the ratings at the estimate; `AIC` and `BIC` are `NA`: compare
#' models under `"none"`.
#'
#' @section Formulas of covariates:
#' With [covariates][ratings()] of cases, `base_rates` may be a formula such as `~ site + age`: a
#' multinomial logit of the base rates. Covariates are factors, strings, logicals or numbers. Two
#' raters and two populations are enough for matrices of each rater (Hui and Walter, 1980).
#'
#' The default is maximum likelihood, without priors. With a prior of base rates, its cases are
#' spread over the populations as the cases of the data are (Clogg et al., 1991).
#' [coef()][stats::coef] contains the coefficients in the units of the covariates, as
#' `base_rate[category]:column`, for the logit of the category against the first one. The terms
#' `rater_accuracy` and `base_rate` are means over the cases at hand. [base_rates()] with `newdata`
#' returns the base rates of other cases; [regression] has robust standard errors, odds ratios and
#' marginal differences. By `method = "bayes"` of [fit_raters()] each combination of factors is a
#' population with base rates of its own, and numbers are refused.
#'
#' Argument `by` of [estimate_accuracy()] fits each group of cases separately, and each must be
#' large enough by itself. A formula fits all cases at once: base rates differ, accuracies are
#' equal. If accuracies depend on covariates, use `by`, or a law of your own ([rater_family()]).
#'
#' @param accuracy,errors,difficulty How far the model lets go of each K-property, see *Axes*.
#' @param system Does a system that joins the raters share their dispersion and shift (`"shared"`),
#'   or has it its `"own"`?
#' @param prior `"pooled"`, for free errors of each rater only and their default; `"weak"`, the
#'   default of other models; `"none"`, the default of models with a formula; or a list of some of
#'   the parameters below. Models with ordinal errors or confidence have no priors.
#' @param base_rates A formula of covariates, see *Formulas of covariates*; `~ 1` is one set of base
#'   rates for all cases.
#' @param confidence Does the model use how sure raters said they were? See *Confidence*.
#' @param dependence,pairs Which errors raters share given the truth, see *Dependence*;
#'   `pairs` is a list of the names of two raters each, such as `list(c("a", "b"))`.
#' @param abstain If ratings have abstentions (see [ratings()]): `"depends"`, whether a rater
#'   answers depends on the truth; `"ignored"`, abstentions are missing ratings; or `NULL`, the
#'   first where it predicts the answers better. Only for `prior = "pooled"`; see Abstentions in
#'   [ground_truth()].
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
#' @seealso [rater_family()] for models of your own.
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
                        dependence = c("none", "easy", "pairs"), pairs = NULL, abstain = NULL) {
  shared <- check_dependence(dependence, pairs, errors, difficulty, confidence)
  check_flag(confidence, "confidence")
  check_no_formula(accuracy, "accuracy")
  check_no_formula(difficulty, "difficulty")
  model <- list(
    accuracy = check_choice(accuracy), errors = check_choice(errors, errors_axis),
    difficulty = check_choice(difficulty), system = check_choice(system)
  )
  strata <- model$difficulty == "strata"
  abort_argument_if(strata && confidence, "difficulty",
    "A model with {.code confidence = TRUE} cannot have strata of difficulty.")
  ordinal <- model$errors == "ordinal"
  abort_argument_if(strata && ordinal, "difficulty",
    "A model with {.code errors = \"ordinal\"} cannot have strata of difficulty.")
  model$base_rates <- check_formula(base_rates, "base_rates")
  formula <- has_formula(model)
  if (!formula) model$base_rates <- NULL
  poolable <- model$accuracy == "rater" && model$errors == "free" && !strata && !formula
  if (ordinal || confidence) {
    given <- !is.null(prior) && !identical(prior, "weak")
    abort_argument_if(given && length(check_prior(prior)) > 0L, "prior",
      "Models with ordinal errors or confidence are fitted without priors.",
      i = "Leave {.arg prior} out.")
    prior <- "none"
  }
  usual <- if (poolable) "pooled" else if (formula) "none" else "weak"
  model$prior <- check_prior(prior %||% usual, poolable)
  class(model) <- c("rater_model", "fallible_result")
  model$confidence <- if (confidence) TRUE
  model$dependence <- shared
  if (!is.null(abstain)) model$abstain <- check_choice(abstain, c("depends", "ignored"), "abstain")
  abort_argument_if(uses_abstentions(model) && !is_pooled(model), "abstain",
    "{.code abstain = \"depends\"} is for {.code prior = \"pooled\"}: free errors of each rater, on
        cases that are equally difficult, without a formula of base rates.",
    i = "Use {.fun dawid_skene}.")
  model
}

check_no_formula <- function(value, arg) {
  abort_argument_if(rlang::is_formula(value), arg, "A formula is for {.arg base_rates} only.",
    i = "Write a law of your own, see {.fun rater_family}, or estimate by groups of cases.")
}

# Ordinal errors need an order.
check_order <- function(model, x) {
  abort_argument_if(model$errors == "ordinal" && !x$ordered && n_categories(x) > 2L, "model",
    "A model with {.code errors = \"ordinal\"} needs categories in an order.",
    x = "Those of {.arg x} are not ordered: {.val {x$categories}}.",
    i = "Give {.code ordered = TRUE} to {.fun ratings}, with {.arg categories} in their order.")
}

#' @rdname rater_model
#' @export
dawid_skene <- function(prior = "pooled", abstain = NULL) {
  check_prior(prior, poolable = TRUE)
  rater_model("rater", "free", "none", prior = prior, abstain = abstain)
}

errors_axis <- c("uniform", "distance", "free", "ordinal")

weak_prior <- list(
  base_rates = 1, accuracy = c(3, 2), spread = 0.6, dispersion = 0.7, difficulty = 0.2, errors = 0.5
)

# What stands for a prior that is estimated with the fit; once it is, it also has `rows`.
pooled_prior <- list(pooled = TRUE)

is_pooled <- function(model) isTRUE(model$prior$pooled)

# A complete list, empty for none.
check_prior <- function(prior, poolable = FALSE) {
  abort_argument_if(identical(prior, "pooled") && !poolable, "prior",
    "{.code prior = \"pooled\"} is about free errors of each rater, on cases that are equally
        difficult, without a formula of base rates.",
    i = "It goes with {.fun dawid_skene} and {.code rater_model(\"rater\", \"free\")}.")
  if (rlang::is_string(prior, c("pooled", "weak", "none"))) {
    return(switch(prior, pooled = pooled_prior, weak = weak_prior, none = list()))
  }
  known <- names(weak_prior)
  unknown <- if (is.list(prior)) setdiff(rlang::names2(prior), known)
  abort_argument_if(!is.list(prior) || length(unknown) > 0L, "prior",
    "must be a list with some of {.val {known}}, or
        {.or {.val {c(if (poolable) 'pooled', 'weak', 'none')}}}.",
    x = if (is.list(prior)) "It has {.val {unknown}}." else "It is {describe(prior)}.")
  for (name in names(prior)) {
    value <- prior[[name]]
    ok <- is.numeric(value) && length(value) == length(weak_prior[[name]]) &&
      all(is.finite(value)) && all(value > 0)
    abort_argument_if(!ok, "prior",
      "{.field {name}} in {.arg prior} must be {length(weak_prior[[name]])} positive number{?s}.",
      not = value)
  }
  if (length(prior) > 0L) utils::modifyList(weak_prior, prior) else list()
}

is_k_model <- function(model) {
  is.null(model$family) && !uses_confidence(model) && has_k_properties(model) &&
    !model_is_dependent(model) && !has_formula(model)
}

# Is it more than a step along the axes of the K-properties?
has_own_law <- function(model) identical(model$errors, "ordinal") || uses_confidence(model)

has_k_properties <- function(model) {
  model$accuracy == "common" && model$errors == "uniform" && model$difficulty == "none"
}

#' @export
format.rater_model <- function(x, ...) {
  name <- if (has_k_properties(x) && !model_is_dependent(x)) {
    "K-model"
  } else if (x$accuracy == "rater" && x$errors == "free" && x$difficulty == "none") {
    "Dawid-Skene model"
  } else {
    paste0("rater model (", axes_in_words(x$accuracy, x$errors, x$difficulty), ")")
  }
  paste0(
    name, if (uses_confidence(x)) " with confidence", dependence_words(x), formula_words(x)
  )
}

axes_in_words <- function(accuracy, errors, difficulty = "none") {
  toString(c(
    if (accuracy == "common") "equal raters" else "unequal raters",
    if (errors == "distance") "errors by distance" else paste(errors, "errors"),
    if (difficulty != "none") "unequal cases"
  ))
}

#' @export
print.rater_model <- function(x, ...) {
  cat(model_lines(x), sep = "\n")
  invisible(x)
}

model_lines <- function(x) UseMethod("model_lines")

model_lines.own_model <- function(x) {
  paste0("<rater_model> ", x$words, ", known by its posterior only")
}

model_lines.rater_model <- function(x) {
  meaning <- c(
    common = "all raters are equally accurate", rater = "raters differ in accuracy",
    uniform = "all errors are equally probable",
    distance = "errors near the truth are likelier, or less likely",
    free = "errors have any probabilities",
    ordinal = "a signal in the order of the categories, cut at thresholds",
    none = "all cases are equally difficult",
    strata = "a third of the cases is easier, a third harder"
  )
  prior <- if (length(x$prior) == 0L) {
    "none"
  } else if (is_pooled(x)) {
    "pooled  matrices lie around a centre of the panel, which is estimated too"
  } else if (identical(x$prior, weak_prior)) {
    "weak"
  } else {
    paste(names(x$prior), vapply(x$prior, toString, ""), sep = " = ", collapse = "; ")
  }
  value <- unlist(x[c("accuracy", "errors", "difficulty")])
  c(
    paste0("<rater_model> ", format(x)),
    paste0("  ", format(c(names(value), "prior")), "  ", c(
      paste0(format(value), "  ", meaning[value]), prior
    )),
    if (uses_confidence(x)) {
      "  confidence  the more sure a rater is, the more often right"
    },
    if (has_formula(x)) paste0("  base rates  ", formula_text(x))
  )
}

# Made once: one accuracy for all raters, and one for each.
plain_k_model <- rater_model()
model_of_each <- rater_model("rater")

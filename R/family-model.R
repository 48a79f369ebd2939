# User-defined latent class models. They are fitted in R by the functions of family-fit.R.

#' User-defined latent class models
#'
#' Creates a user-defined model for [fit_raters()]: each case has one unobserved true category, and
#' ratings are independent given that category. The user writes the probability of each rating as a
#' function of parameters. The parameters are estimated by maximum likelihood.
#'
#' @section Functions: The functions `start`, `law` and `gradient` have arguments from this list:
#' * `parameters`: a vector of real numbers.
#' * `judged`: a tibble with a row for each combination of a rater and covariates in the data. Its
#'   columns are `rater`, a factor; `system`, `TRUE` if the rater is a system (a classifier to
#'   evaluate, see *Fits*); and the covariates of the cases.
#' * `categories`: the labels of the categories.
#'
#' The functions return:
#' * `start(judged, categories)`: starting values of the parameters, a named vector. With starting
#'   values, the best raters should be better than chance. If they are not, the fit may exchange the
#'   names of categories.
#' * `law(parameters, judged, categories)`: the probability of each rating, an array with dimensions
#'   row of `judged`, true category and rating. Sums over ratings are one. If `strata` is given, the
#'   array has a fourth dimension, the stratum. Strata are unobserved classes of cases, such as easy
#'   and difficult cases.
#' * `gradient(parameters, judged, categories, counts)`: the derivatives of `sum(counts * log(p))`
#'   with respect to the parameters. `p` is the array that `law` returns, and `counts` is an array
#'   with the same dimensions.
#'
#' @section Fits: Results of [fit_raters()] contain the user's parameters, followed by quantities
#' that are computed from them: the accuracy of each rater and the base rates (shares of cases).
#' `coef()` and `vcov()` contain both, so that the covariance matrix is singular. To invert it, use
#' only the rows and columns of the user's parameters.
#'
#' Standard errors are computed from the curvature of the likelihood. They are `NA` for
#' probabilities that are estimated as 0 or 1, and in models with more than 150 parameters. If the
#' ratings cannot identify the parameters, [fit_raters()] warns, and the estimates are `NA`.
#'
#' [AIC()] and [BIC()] compare fits of several models to the same ratings.
#'
#' [estimate_accuracy()] accepts the model or its fit, with methods `"joint"` (the default),
#' `"shared"`, `"binned"` and `"unbinned"`, and `interval` `"bootstrap"` or `"none"`. Method
#' `"joint"` fits a system like a rater; its name is an additional level of `rater`.
#'
#' @param law Function that returns the probabilities of ratings; see *Functions*.
#' @param start Function that returns starting values of the parameters; see *Functions*.
#' @param words Name of the model in printed results, a string.
#' @param ... Not used.
#' @param base_rates A formula of covariates of cases, for a multinomial logit model of the base
#'   rates. With the default `~ 1`, all cases have the same base rates.
#' @param strata Probabilities of the strata (unobserved classes of cases, see *Functions*), above
#'   0, which sum to one; by default 1, a single stratum.
#' @param gradient Function that returns derivatives; see *Functions*. With the default `NULL`,
#'   derivatives are computed numerically, which can be slow.
#' @return An object of class `rater_model`, for [fit_raters()] and [estimate_accuracy()].
#' @family models of raters
#' @seealso [as_rater_fit()] for a model that is fitted by other software.
#' @examples
#' # Raters either know the true category or guess
#' guess <- rater_family(
#'   start = function(judged, categories) {
#'     raters <- levels(judged$rater)
#'     setNames(rep(1, length(raters)), paste("logit of knowledge of", raters))
#'   },
#'   law = function(parameters, judged, categories) {
#'     n <- length(categories)
#'     knows <- plogis(parameters)[as.integer(judged$rater)]
#'     outer(knows, diag(n)) + outer(1 - knows, matrix(1 / n, n, n))
#'   },
#'   words = "knowledge or guess"
#' )
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' fit <- fit_raters(x, guess)
#' fit
#' # Parameters, accuracies of raters and base rates
#' tidy(fit)
#'
#' # A covariate of raters: accuracy depends on training. A table outside the model contains the
#' # covariate. Systems are not in the table; here they are treated as experts.
#' is_expert <- c(rater1 = TRUE, rater2 = TRUE, rater3 = FALSE, rater4 = FALSE)
#' by_training <- rater_family(
#'   start = function(judged, categories) c("logit of accuracy" = 0.5, "expert" = 0.5),
#'   law = function(parameters, judged, categories) {
#'     n <- length(categories)
#'     expert <- is_expert[as.character(judged$rater)]
#'     expert[judged$system] <- TRUE
#'     right <- plogis(parameters[[1]] + parameters[[2]] * expert)
#'     outer(right, diag(n)) + outer((1 - right) / (n - 1), 1 - diag(n))
#'   },
#'   words = "accuracy by training"
#' )
#' # The two parameters of the user
#' coef(fit_raters(x, by_training))[1:2]
#' @export
rater_family <- function(law, start, words = "user-defined model", ..., base_rates = ~1, strata = 1,
                         gradient = NULL) {
  check_call()
  for (arg in c("law", "start", if (!is.null(gradient)) "gradient")) {
    required_args <- c(if (arg != "start") "parameters", "judged", "categories",
      if (arg == "gradient") "counts")
    user_function <- get(arg)
    n_args <- if (is.function(user_function)) length(formals(args(user_function)))
    abort_argument_if(!isTRUE(n_args >= length(required_args)), arg,
      "must be a function with the arguments {.arg {required_args}}.",
      x = if (!is.null(n_args)) "It has {n_args} argument{?s}." else
        "It is {describe(user_function)}.")
  }
  check_string(words, "words")
  abort_argument_if(!is_distribution(strata) || any(strata == 0), "strata",
    "must be probabilities above 0 that sum to one.", not = strata)
  user_model("family_model", "rater", words, base_rates = check_formula(base_rates),
    family = list(law = law, start = start, gradient = gradient, strata = strata))
}

model_lines.family_model <- function(x) { # nolint: object_name.
  c(
    paste0("<rater_model> ", x$words),
    if (has_formula(x)) paste0("  base rates  ", formula_text(x)),
    "  a user-defined family of models, fitted in R"
  )
}

r_model_field.family_model <- function(model) "of_family" # nolint: object_name.

# ---- Calls of a user's functions ----------------------------------------------------------------

call_family <- function(problem, name, ...) {
  tryCatch(problem$family[[name]](...), error = function(cnd) {
    abort_argument(name, "{.arg {name}} of the family of models raised an error.", parent = cnd,
      call = NULL)
  })
}

# Calls the user's function `law` and returns its value, an array of probabilities (rows of `judged`
# x true categories x ratings x strata).
family_law <- function(problem, parameters) {
  call_family(problem, "law", parameters, problem$judged, problem$categories)
}

# Raises an error if the user's function `law` does not return an array of the required shape, or if
# its probabilities do not sum to one. `parameters`: parameters with which `law` is called.
check_law <- function(problem, parameters) {
  law <- family_law(problem, parameters)
  shape <- problem$shape
  has_right_shape <- is.numeric(law) && isTRUE(all(c(dim(law), 1)[1:4] == shape))
  if (has_right_shape) {
    law <- array(law, shape)
    probability_sums <- apply(law, c(1L, 2L, 4L), sum)
    smallest_p <- apply(law, c(1L, 2L, 4L), min)
    first_wrong_cell <- head(
      which(is.na(probability_sums) | abs(probability_sums - 1) > 1e-6 | smallest_p < 0,
        arr.ind = TRUE), 1L
    )
  }
  if (shape[[4L]] == 1L) shape <- shape[-4L]
  abort_argument_if(!has_right_shape || !is_empty(first_wrong_cell), "law",
    "{.arg law} of the family of models must return an array of probabilities with dimensions
     {paste(shape, collapse = ' x ')}: rows of {.arg judged} x true category x
     rating{if (length(shape) == 4L) ' x stratum'}.",
    i = "Probabilities must be at least 0 and sum to one over ratings.",
    x = if (has_right_shape) "For row {first_wrong_cell[[1L]]} of {.arg judged}
        ({if (problem$judged$system[first_wrong_cell[[1L]]]) 'system' else 'rater'}
        {.val {as.character(problem$judged$rater[first_wrong_cell[[1L]]])}}) and true category
        {.val {problem$categories[first_wrong_cell[[2L]]]}}, the sum is
        {format(probability_sums[first_wrong_cell], digits = 6)} and the smallest probability
        {format(smallest_p[first_wrong_cell], digits = 4)}." else if (is.null(dim(law)))
        "It returned {describe(law)}." else "It returned dimensions {paste(dim(law), collapse = ' x
        ')}.", call = NULL)
}

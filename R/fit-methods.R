# Predictions of a fit for its cases and for new cases.

#' Most probable categories
#'
#' Computes the most probable true category of each case from a fit of raters, for the cases of the
#' fit or for new cases.
#'
#' @srrstats {UL3.3, UL4.0, UL4.2, UL4.4} predict(), coef(), vcov(), logLik(), simulate(), summary()
#' @param object,x A [fit_raters()] result.
#' @param newdata `NULL`, the default, for the cases of the fit. For new cases: [ratings()] of these
#'   cases, or a data frame with a column per rater and the covariates. Categories and raters are
#'   those of the fit. If the model has one accuracy for all raters, [ratings()] may be by other
#'   raters. If the model has a formula of base rates (see [rater_model()]), `predict()` also
#'   accepts a data frame without ratings by raters of the fit, and returns the table of
#'   [base_rates()].
#' @param type `"category"`, the default, for the most probable category of each case, or
#'   `"probability"` for the probabilities of all categories.
#' @param ... Not used.
#' @return `predict()` with `"category"`: a tibble with a row per case.
#'   * `case`: the case.
#'   * `category`: the most probable category, a factor. If several categories are equally probable,
#'     this is the first of them.
#'   * `probability`: its posterior probability.
#'   * `tied`: number of categories with this probability.
#'
#'   `predict()` with `"probability"`: a [ground_truth()] result, which is a tibble with the column
#'   `case` and a column of probabilities for each category.
#'
#'   `augment()`: a tibble with a row per case.
#'   * `case`, `.fitted`, `.probability`, `.tied`: as the four columns of `predict()`.
#'   * `.entropy`: entropy of the posterior probabilities in bits, from 0 (one category is certain)
#'     to the binary logarithm of the number of categories (all are equally probable).
#'   * A column per category with its posterior probability, such as `.posterior_A`.
#'
#'   All columns except `case` are `NA` if the fit is not identified.
#' @family models of raters
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' fit <- fit_raters(x)
#' # The most probable category of each case of the fit
#' predict(fit)
#' # With the probabilities of all categories
#'
#' augment(fit)
#'
#' # A new case that two of the raters have rated
#' predict(fit, ratings(cbind(rater1 = "A", rater3 = "A"), categories = LETTERS[1:4]))
#' @export
predict.rater_fit <- function(object, newdata = NULL, type = c("category", "probability"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  has_ratings <- any(names(newdata) %in% c(columns_of_raters(object$x), "rating"))
  if (is.data.frame(newdata) && has_formula(object$model) && !has_ratings)
    return(base_rates(object, newdata))
  prediction <- posterior_of_cases(object, newdata)
  if (type == "probability") return(new_ground_truth(
    prediction$x, prediction$posterior,
    list(rho = 0, votes = 0, errors = independence_words(object$model))
  ))
  top_categories <- most_probable(prediction$posterior)
  top_categories$category <- category_factor(top_categories$category, prediction$x)
  case_table(prediction$x, top_categories)
}

#' @rdname predict.rater_fit
#' @export
augment.rater_fit <- function(x, newdata = NULL, ...) {
  check_dots_empty(...)
  prediction <- posterior_of_cases(x, newdata)
  top_categories <- most_probable(prediction$posterior)
  case_table(prediction$x, c(
    list(
      .fitted = category_factor(top_categories$category, prediction$x),
      .probability = top_categories$probability, .tied = top_categories$tied,
      .entropy = entropy(prediction$posterior)
    ),
    split_columns(prediction$posterior, paste0(".posterior_", prediction$x$categories))
  ))
}

# Returns a list of `x`, the ratings from which categories are predicted, and `posterior`, a matrix
# of posterior probabilities (patterns of ratings x categories). `newdata`: other ratings, NULL for
# the fitted ratings. Raises an error if `newdata` has a category or a rater that is not in the fit.
posterior_of_cases <- function(fit, newdata) {
  fitted_ratings <- fit$x
  if (is.null(newdata)) return(list(x = fitted_ratings, posterior = posterior(fit)))
  check_has_model(fit, "Predicting new cases")
  x <- as_further_ratings(newdata, fitted_ratings, "newdata")
  x <- votes_by_fitted_groups(x, fitted_ratings)
  # Converts the indices of categories, levels of confidence and raters in `x` to those of the fit.
  category_in_fit <- match(x$categories, fitted_ratings$categories)
  unknown_labels <- x$categories[intersect(which(is.na(category_in_fit)), rating_category(x))]
  abort_if(unknown_labels, "category", "{.arg newdata} must have the categories of the fit.",
    x = "{.val {unknown_labels}} {?is/are} not among {.val {fitted_ratings$categories}}.",
    row = NA_integer_, column = NA_character_, found = unknown_labels)
  x <- recode_ratings(x, category_in_fit, fitted_ratings$categories)
  x$ordered <- fitted_ratings$ordered
  if (uses_confidence(fit$model) && !is.null(x$confidence)) {
    levels <- fitted_ratings$confidence$levels
    level_code <- x$confidence$code
    level_in_fit <- match_to_fit(x$confidence$levels, levels, level_code,
      "must contain only levels of confidence that occur in the fit.")
    x$confidence[c("code", "levels")] <- list(level_in_fit[level_code], levels)
  }
  if (fit$model$accuracy == "rater" || any(is_known_rater(fit))) {
    requirement <- "must contain only ratings by raters of the fit."
    check_named_raters(x, "newdata", requirement)
    rater_in_fit <- match_to_fit(x$raters, fitted_ratings$raters, rating_rater(x), requirement)
    x <- recode_raters(x, rater_in_fit, fitted_ratings$raters)
  }
  x <- patterns_for(fit$model, x)
  list(x = x, posterior = posterior(fit, x))
}

# Returns the positions of `labels`, such as names of raters, in `fitted_labels`, the labels of the
# fit. Raises an error if a used label is not among `fitted_labels`. `used_index`: indices of the
# labels that occur in ratings. `requirement`: message of the error.
match_to_fit <- function(labels, fitted_labels, used_index, requirement) {
  position <- match(labels, fitted_labels)
  unknown_labels <- labels[intersect(which(is.na(position)), used_index)]
  abort_argument_if(unknown_labels, "newdata", requirement,
    x = "{.val {unknown_labels}} {?is/are} not among {.val {fitted_labels}}.",
    i = "Leave out these ratings. Or add them to the fit, by {.code update(fit, new = newdata)}.")
  position
}

# Finds the most probable category in each row of a matrix of probabilities. Returns a list of
# vectors:
# * category: index of the category; the first one if several have the highest probability
# * probability: the probability of this category
# * tied: number of categories with the same probability
most_probable <- function(probability) {
  highest_probability <- row_maximum(probability)
  is_highest <- probability >= highest_probability * (1 - tie_tolerance)
  list(
    category = max.col(is_highest + 0, ties.method = "first"), probability = highest_probability,
    tied = as.integer(rowSums(is_highest))
  )
}

# Largest relative difference of probabilities that counts as a tie. The core uses the same value.
tie_tolerance <- 1e-9

# Returns the entropy of each row of a matrix of probabilities, in bits.
entropy <- function(probability) {
  -rowSums(ifelse(probability > 0, probability * log2(probability), 0))
}

#' Simulated ratings from a fitted model
#'
#' Simulates ratings from a fit, for example for a parametric bootstrap. True categories are drawn
#' from the base rates, and then ratings from the confusion matrices. Each rater rates the same
#' cases as in the data. Cases with known truth keep their true category. Answers of systems
#' (classifiers) are not simulated.
#'
#' @param object An identified [fit_raters()] result (estimates are not `NA`) of a model without
#'   `dependence` (see [rater_model()]). Weights of cases must be whole numbers. An [as_rater_fit()]
#'   result is not accepted.
#' @param nsim Number of simulated data sets, 1 by default.
#' @param seed A whole number for [set.seed()], or `NULL`, the default, to use the current state of
#'   the random number generator.
#' @param ... Not used.
#' @return A list of `nsim` [ratings()] objects, with the raters and categories of the fit. Each
#'   contains the simulated true categories, which [truth()] returns. A case with weight n is
#'   simulated as n cases. The list has an attribute `seed`, as in [stats::simulate()].
#' @family models of raters
#' @examples
#' # Simulate 20 data sets from a fit of the K-model
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' panels <- simulate(fit, nsim = 20, seed = 1)
#' # Variation of Fleiss' kappa between samples, if the model holds
#' sd(sapply(panels, fleiss_kappa))
#' @export
simulate.rater_fit <- function(object, nsim = 1L, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  check_has_model(object, "Simulating ratings")
  x <- object$x
  abort_argument_if(object$identified != "yes" || anyNA(object$base_rates), "object",
    "Ratings cannot be simulated: the fit is not identified.",
    x = "The reason: {reason_of_fit(object)}.")
  abort_if(!weights_are_counts(x), "weights",
    "Ratings cannot be simulated: {.arg weights} of cases must be whole numbers.",
    row = which(x$weights != round(x$weights)))
  # A case with weight n is simulated as n cases.
  n_ratings <- sum(pattern_cases(x) * pattern_lengths(x))
  abort_if(n_ratings > 1e8, "weights",
    "Ratings cannot be simulated: a data set can have at most {number(1e8)} ratings.",
    x = "With the weights of its cases, the fit has {number(n_ratings)} ratings.",
    i = "Fit with smaller weights. Or simulate ratings from a {.fun rater_design}, by
        {.fun simulate_ratings}.", row = which.max(x$weights))
  draw_panels <- function() lapply(seq_len(nsim), function(i) draw_from_fit(object))
  if (is.null(seed)) {
    if (!exists(".Random.seed", globalenv(), inherits = FALSE)) runif(1L)
    rng_state <- get(".Random.seed", globalenv(), inherits = FALSE)
    return(structure(draw_panels(), seed = rng_state))
  }
  seed <- check_count(seed, "seed", min = -.Machine$integer.max)
  structure(
    withr::with_seed(seed, draw_panels()), seed = structure(seed, kind = as.list(RNGkind()))
  )
}

# Draws true categories and ratings from a fit, and returns ratings, for simulate().
draw_from_fit <- function(fit) {
  x <- fit$x
  case_index <- rep.int(seq_along(x$index), weights_of_cases(x))
  pattern <- pattern_of_case(x)[case_index]
  n <- n_categories(x)
  distribution <- rating_distribution(fit)
  truth <- if (has_formula(fit$model)) {
    draw_categories(rates_of_cases(fit, pattern_covariates(x)), pattern)
  } else {
    sample.int(n, length(pattern), TRUE, fit$base_rates)
  }
  has_known_truth <- is_known_pattern(fit)[pattern]
  truth[has_known_truth] <- fit$known$truth[pattern[has_known_truth]]
  stratum <- sample.int(length(distribution$strata), length(case_index), replace = TRUE,
    prob = distribution$strata)
  case_of_rating <- rep.int(seq_along(case_index), pattern_lengths(x)[pattern])
  rating_index <- rating_positions(x, pattern)
  rater <- rating_rater(x)[rating_index]
  class_index <- ((stratum - 1L) * n + truth)[case_of_rating]
  uniform_draws <- runif(length(case_of_rating))
  rating <- rep.int(1L, length(case_of_rating))
  cumulative_probability <- numeric(length(case_of_rating))
  for (k in seq_len(n - 1L)) {
    cumulative_probability <- cumulative_probability +
      distribution$probability(class_index, k, rating_index)
    rating <- rating + (uniform_draws > cumulative_probability)
  }
  # If ratings are counts without names of raters, the ratings of a case are sorted.
  if (has_counts(x)) rating <- rating[order(case_of_rating, rating)]
  x[names(rating_roles)] <- NULL # original values of the fitted ratings
  x$confidence <- if (uses_confidence(fit$model))
    draw_confidence(fit, case_of_rating, rating_index, rater, rating == truth[case_of_rating])
  has_weights <- !is.null(x$weights)
  x[c("abstained", "silent_systems", "weights")] <- list(NULL)
  x <- set_core_patterns(
    x, core_patterns_long(case_of_rating, rater, rating, list(), length(case_index))
  )
  x$covariates <- x$covariates[case_index, ] # NULL stays NULL
  if (has_weights) {
    x$cases <- seq_along(case_index)
    x$rows <- x$keys <- NULL
  }
  x <- leave_database(x)
  x$systems <- character()
  x$truth <- list(
    category = truth, stratum = stratum, expected = setNames(double(), character()),
    base_rates = setNames(fit$base_rates, x$categories)
  )
  x
}

# Draws categories, and returns their indices, one per element of `rows`. `probability`: a matrix of
# probabilities (rows x categories). `rows`: for each draw, the index of the row of `probability`
# that is used.
draw_categories <- function(probability, rows) {
  cumulative_p <- t(apply(probability, 1L, cumsum))[rows, -ncol(probability), drop = FALSE]
  1L + as.integer(rowSums(runif(length(rows)) > cumulative_p))
}

# Returns the distributions from which simulate() draws ratings, a list of two elements:
# * strata: probabilities of the strata of difficulty (groups of equally difficult cases)
# * probability: function(class, k, rating_index) that returns, for each rating, the probability of
#   category number `k`. `class`: for each rating, the class of its case (a combination of a stratum
#   and a true category). `rating_index`: index of each rating in the fit
rating_distribution <- function(fit) UseMethod("rating_distribution")

rating_distribution.rater_fit <- function(fit) {
  abort_argument_if(model_is_dependent(fit$model), "object",
    "Ratings cannot be simulated by {.fun simulate} from a model with {.field dependence}.",
    i = "{.fun check_fit} compares the ratings with ratings that it simulates from this fit.",
    call = NULL)
  # Probabilities of ratings, an array (classes x ratings x raters). Classes are ordered by stratum
  # and then by true category.
  probability <- if (inherits(fit, "latent_fit")) latent_probabilities(fit, fit$x)$probability else
    simplify2array(confusion(fit))
  n_strata <- nrow(probability) / n_categories(fit$x)
  list(
    strata = rep(1 / n_strata, n_strata),
    probability = function(class, k, rating_index) {
      probability[cbind(class, k, rating_rater(fit$x)[rating_index])]
    }
  )
}

# ---- Refits with other data or settings ----------------------------------------------------------

#' Refit with other settings or more ratings
#'
#' Fits the model of `object` again, with other data, another model or method, or more ratings.
#'
#' @section More ratings: The ratings in `new` are added to the ratings of the fit, and the model is
#' fitted to all ratings. To save time, the new fit starts from the previous estimates. `new` may
#' contain new cases and raters, but not new systems (classifiers). Ratings cannot be added if
#' raters form groups, or if there are reruns, counts, weighted cases, covariates or a database.
#'
#' @param object A [fit_raters()] result.
#' @param model Another [rater_model()]. By default the model of `object`.
#' @param method A method of [fit_raters()]. The default `NULL` is the method of `object`. If this
#'   method cannot fit the new model, `NULL` is the default method of the new model.
#' @param x Other [ratings()], which replace those of `object`.
#' @param known_truth,known_raters Known true categories of cases, and known confusion matrices of
#'   raters, in the forms that [fit_raters()] accepts. The defaults are the known truths and raters
#'   of `object`.
#' @param prior,sampling For `method = "bayes"`: another [rater_prior()], or other settings of the
#'   draws (see [fit_raters()]). The defaults are the prior and settings of `object`.
#' @param new More ratings: [ratings()], or a data frame with a row per rating and columns `case`,
#'   `rater` and `rating`. `NULL`, the default, for none. Cannot be used together with `x`.
#' @param ... Not used.
#' @return An object of class `rater_fit`; see [fit_raters()].
#' @family models of raters
#' @examples
#' x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
#' fit <- fit_raters(x)
#' # Compare the fit by likelihood with a model in which raters differ
#' AIC(update(fit, method = "likelihood"), update(fit, model = rater_model("rater", "distance")))
#'
#' # Another rating of the first patient, and one of a new patient
#' update(fit, new = data.frame(case = c(1, 46), rater = "a", rating = c(1, 2)))
#' @export
update.rater_fit <- function(object, model = object$model, method = NULL, x = object$x,
                             known_truth = object$given$truth, known_raters = object$given$raters,
                             new = NULL, prior = object$given$prior,
                             sampling = object$given$sampling, ...) {
  check_dots_empty(...)
  check_has_model(object, "A new fit")
  abort_argument_if(is_ratings(model) || is.data.frame(model), "model",
    "must be a {.cls rater_model} object.", not = model,
    i = "Use {.code x = } for other ratings, and {.code new = } for more ratings.")
  abort_argument_if(!is.null(new) && !missing(x), "new",
    "Give {.arg x} to replace the ratings of the fit, or {.arg new} to add to them.",
    x = "Both are given.")
  if (!is.null(new)) x <- add_ratings(x, new)
  # With strata of difficulty, the likelihood has several maxima, so the refit does not start from
  # the previous estimates.
  starts_from_fit <- !is.null(new) && missing(model) && is.null(method) &&
    n_categories(x) == n_categories(object$x) && !identical(object$model$difficulty, "strata")
  method <- method %||% method_to_refit(object, model, known_truth, known_raters)
  given_args <- c("prior", "sampling")[c(!missing(prior), !missing(sampling))]
  abort_argument_if(!is_empty(given_args) && !identical(method, "bayes"), given_args[1L],
    "can be used only with {.code method = \"bayes\"}.",
    i = if ("prior" %in% given_args) "For other methods, set priors in {.fun rater_model}.")
  fit <- fit_again(object, x, model, method, known_truth, known_raters, prior,
    if (starts_from_fit) starting_values(object), sampling)
  if (missing(x) && is.null(new)) fit$design <- object$design
  warn_if_untestable(fit)
  test_differential_errors(fit)
}

# Fits a model again, with other ratings or settings, and returns the new fit. The defaults of the
# arguments are the ratings and settings of `fit`. All refits must use this function;
# `tools/ids.R` checks this.
fit_again <- function(fit, x = fit$x, model = fit$model,
                      method = method_to_refit(fit, model, known_truth, known_raters),
                      known_truth = fit$given$truth, known_raters = fit$given$raters,
                      prior = fit$given$prior, start = NULL, sampling = fit$given$sampling) {
  uses_draws <- identical(method, "bayes")
  fit_checked(with_votes(as_ratings(x)), model, method, known_truth, known_raters, start,
    if (uses_draws) prior, if (uses_draws) sampling)
}

# Returns the method of a refit by `model`. The method of the fit is kept if it can fit `model`.
# Otherwise the result is "likelihood" if some truths or raters are known, and NULL (the default
# method of the model) if none are known.
method_to_refit <- function(fit, model, known_truth, known_raters) {
  if (!inherits(model, "rater_model")) return(NULL)
  has_known_truth_or_rater <- !is.null(c(known_truth, known_raters))
  can_refit <- switch(fit$method,
    algebraic = is_k_model(model) && !has_known_truth_or_rater,
    pairs = can_fit_by_pairs(model) && !has_known_truth_or_rater, TRUE
  )
  if (can_refit) fit$method else if (has_known_truth_or_rater) "likelihood"
}

# Returns starting values of a refit, a list of `theta`, the parameters of the fit, and `raters`,
# the number of raters. Returns NULL if the fit has no parameters or is not identified.
starting_values <- function(fit) {
  if (!is.null(fit$theta) && fit$identified == "yes" && !anyNA(fit$theta)) {
    # Limits logits to [-3, 3]. At an infinite logit, the likelihood is flat, so a refit that starts
    # there would not change it.
    list(theta = clamp(fit$theta, -3, 3), raters = n_raters(fit$x))
  }
}

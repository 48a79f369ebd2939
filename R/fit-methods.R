# Predictions of a fit, for its cases and for new ones.

#' Most probable categories
#'
#' Computes the most probable category of each case, for the cases of the fit or new ones.
#'
#' @srrstats {UL3.3, UL4.0, UL4.2, UL4.4} predict(), coef(), vcov(), logLik(), simulate(), summary()
#' @param object,x A [fit_raters()] result.
#' @param newdata [ratings()] of other cases with the same categories and raters. If the model has
#'   one accuracy for all raters, raters may differ. `NULL` uses the data of the fit. Weights and
#'   answers of systems are ignored. For `predict()` of a model with a formula of base rates,
#'   `newdata` may be a data frame of covariates; the result is then that of [base_rates()].
#' @param type `"category"` for the most probable category of each case, or `"probability"` for the
#'   same as [ground_truth()].
#' @param ... Not used.
#' @return `predict()` with `"category"`: a tibble with `case`; `category`, a factor (the first of
#'   tied categories); `probability`, its posterior probability; and `tied`, the number of
#'   categories with that probability. With `"probability"`: a [ground_truth()].
#'
#'   `augment()`: a tibble with a row per case: `case`; `.fitted`, the most probable category;
#'   `.probability`, its posterior probability; `.tied`, as above; `.entropy` of the posterior in
#'   bits, from 0 (one category is certain) to log2(categories) (all are equally probable); and for
#'   each category a column `.posterior_` with its name.
#'
#'   All values are `NA` if the fit is not identified.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' fit <- fit_raters(x)
#' predict(fit)
#' augment(fit)
#'
#' # A new case, under the same fit
#' predict(fit, ratings(cbind(rater1 = "A", rater3 = "A"), categories = LETTERS[1:4]))
#' @export
predict.rater_fit <- function(object, newdata = NULL, type = c("category", "probability"), ...) {
  check_dots_empty(...)
  type <- check_choice(type)
  if (is.data.frame(newdata) && has_formula(object$model)) return(base_rates(object, newdata))
  judged <- posterior_of_cases(object, newdata)
  if (type == "probability") return(new_ground_truth(judged$x, judged$posterior))
  best <- most_probable(judged$posterior)
  best$category <- category_factor(best$category, judged$x)
  case_table(judged$x, best)
}

#' @rdname predict.rater_fit
#' @export
augment.rater_fit <- function(x, newdata = NULL, ...) {
  check_dots_empty(...)
  judged <- posterior_of_cases(x, newdata)
  best <- most_probable(judged$posterior)
  case_table(judged$x, c(
    list(
      .fitted = category_factor(best$category, judged$x), .probability = best$probability,
      .tied = best$tied, .entropy = entropy(judged$posterior)
    ),
    split_columns(judged$posterior, paste0(".posterior_", judged$x$categories))
  ))
}

# The ratings to predict from, and the posterior of each of their patterns.
posterior_of_cases <- function(fit, newdata) {
  if (is.null(newdata)) return(list(x = fit$x, posterior = posterior(fit)))
  check_has_model(fit, "Judging new cases")
  newdata <- as_ratings(newdata, categories = fit$x$categories, arg = "newdata")
  x <- patterns_for(fit$model, as_new_cases(fit, vote_as_fitted(newdata, fit$x)))
  list(x = x, posterior = posterior(fit, x))
}

# The same ratings, coded with the fit's numbers of categories and raters.
as_new_cases <- function(fit, x) {
  known <- fit$x
  place <- match(x$categories, known$categories)
  strange <- x$categories[intersect(which(is.na(place)), rating_category(x))]
  abort_if(strange, "category", "{.arg newdata} must have the categories of the fit.",
    x = "{.val {strange}} {?is/are} not among {.val {known$categories}}.", row = NA_integer_,
    column = NA_character_, found = strange)
  x <- recode_levels(recode_ratings(x, place, known$categories), fit)
  x$ordered <- known$ordered
  if (!distinguishes_raters(fit)) return(x)
  must <- "must have ratings by the raters of the fit."
  check_named_raters(x, "newdata", must)
  recode_raters(x, match_to_fit(x$raters, known$raters, rating_rater(x), must), known$raters)
}

# Positions of `labels` among the labels of the fit (`known`). Fails if a label is missing there and
# its code is in `used`.
match_to_fit <- function(labels, known, used, must) {
  place <- match(labels, known)
  strange <- labels[intersect(which(is.na(place)), used)]
  abort_argument_if(strange, "newdata", must,
    x = "{.val {strange}} {?is/are} not among {.val {known}}.")
  place
}

distinguishes_raters <- function(fit) fit$model$accuracy == "rater" || any(is_known_rater(fit))

# For each row: the first category with the highest probability, the probability, and the number of
# ties.
most_probable <- function(probability) {
  highest <- row_top(probability)
  tied <- probability >= highest * (1 - tie_tolerance)
  list(
    category = max.col(tied + 0, ties.method = "first"), probability = highest,
    tied = as.integer(rowSums(tied))
  )
}

# Relative tolerance; the core uses the same.
tie_tolerance <- 1e-9

# For each row, in bits.
entropy <- function(probability) {
  -rowSums(ifelse(probability > 0, probability * log2(probability), 0))
}

#' Panels from a fitted model
#'
#' Simulates ratings from a fit: true categories from the base rates, then ratings of the same cases
#' by the same raters. Each rater rates the same cases as in the data; missing ratings remain
#' missing. Statistics of such panels are a parametric bootstrap. Cases with known truth keep it.
#' The panels have no systems, because a fit does not model them.
#'
#' @param object A [fit_raters()] result that is identified.
#' @param nsim Number of panels, 1 by default.
#' @param seed A number for [set.seed()] (the state of R's generator is restored afterwards), or
#'   `NULL`.
#' @param ... Not used.
#' @return A list of [ratings()] objects that contain their [truth()], with an attribute `seed` as
#'   in [stats::simulate()]. A case with weight n is drawn n times.
#' @family estimation
#' @examples
#' fit <- fit_raters(ratings(fleiss1971, case = case, counts = depression:other))
#' panels <- simulate(fit, nsim = 20, seed = 1)
#' # Variation of kappa between samples, if the model holds
#' sd(sapply(panels, fleiss_kappa))
#' @export
simulate.rater_fit <- function(object, nsim = 1L, seed = NULL, ...) {
  check_dots_empty(...)
  nsim <- check_count(nsim, "nsim")
  check_has_model(object, "Drawing panels")
  abort_argument_if(object$identified != "yes" || anyNA(object$base_rates), "object",
    "There is nothing to draw from: the fit is not identified.",
    x = "The reason: {reason_of_fit(object)}.")
  abort_if(!weights_are_counts(object$x), "weights",
    "Weights that are not counts leave no cases to draw.",
    row = which(object$x$weights != round(object$x$weights)))
  check_panel_size(object$x)
  run <- function() lapply(seq_len(nsim), function(i) draw_from_fit(object))
  if (is.null(seed)) {
    if (!exists(".Random.seed", globalenv(), inherits = FALSE)) stats::runif(1L)
    state <- get(".Random.seed", globalenv(), inherits = FALSE)
    return(structure(run(), seed = state))
  }
  seed <- check_count(seed, "seed", min = -.Machine$integer.max)
  structure(
    withr::with_seed(seed, run()), seed = structure(seed, kind = as.list(RNGkind()))
  )
}

# Weights may represent more cases than fit into memory.
check_panel_size <- function(x, most = 1e8) {
  n <- sum(pattern_cases(x) * pattern_lengths(x))
  abort_if(n > most, "weights", "A panel with more than {number(most)} ratings cannot be drawn.",
    x = "The weights of its cases stand for {number(n)}.",
    i = "Fit with smaller weights, or draw from a {.fun rater_design} with
        {.fun simulate_ratings}.", row = which.max(x$weights))
}

draw_from_fit <- function(fit) {
  x <- fit$x
  cases <- rep.int(seq_along(x$index), weights_of_cases(x))
  pattern <- pattern_of_case(x)[cases]
  categories <- n_categories(x)
  law <- drawing_law(fit)
  truth <- draw_truth(fit, pattern)
  given <- known_patterns(fit)[pattern]
  truth[given] <- fit$known$truth[pattern[given]]
  stratum <- sample.int(length(law$strata), length(cases), replace = TRUE, prob = law$strata)
  row <- rep.int(seq_along(cases), pattern_lengths(x)[pattern])
  at <- ratings_in(x, pattern)
  rater <- rating_rater(x)[at]
  class <- ((stratum - 1L) * categories + truth)[row]
  drawn <- stats::runif(length(row))
  rating <- rep.int(1L, length(row))
  so_far <- numeric(length(row))
  for (k in seq_len(categories - 1L)) {
    so_far <- so_far + law$probability(class, k, at)
    rating <- rating + (drawn > so_far)
  }
  if (has_counts(x)) rating <- rating[order(row, rating)] # numbered slots, no raters
  x["confidence"] <- list(if (uses_confidence(fit$model)) {
    draw_confidence(fit, row, at, rater, rating == truth[row])
  })
  weighted <- !is.null(x$weights)
  x[c("abstained", "silent_systems", "weights")] <- list(NULL)
  x <- set_core_patterns(x, core_patterns_long(row, rater, rating, list(), length(cases)))
  x$covariates <- x$covariates[cases, ] # NULL stays NULL
  if (weighted) {
    x$cases <- seq_along(cases)
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

# Draws true categories of cases of these patterns.
draw_truth <- function(fit, pattern) {
  if (has_formula(fit$model)) return(draw_categories(pattern_rates(fit), pattern))
  sample.int(n_categories(fit$x), length(pattern), TRUE, fit$base_rates)
}

# Draws a category from each of these rows of probabilities.
draw_categories <- function(probability, rows) {
  below <- t(apply(probability, 1L, cumsum))[rows, -ncol(probability), drop = FALSE]
  1L + as.integer(rowSums(stats::runif(length(rows)) > below))
}

# A list of the distributions from which simulate() draws. `strata`: probabilities of the strata
# of difficulty. `probability(class, k, at)`: probability of category k for the ratings at
# positions `at`, given the class (true category within stratum) of each.
drawing_law <- function(fit) UseMethod("drawing_law")

drawing_law.rater_fit <- function(fit) {
  abort_argument_if(model_is_dependent(fit$model), "object",
    "Ratings with dependent errors are not drawn.", call = NULL)
  x <- fit$x
  n <- n_categories(x)
  probability <- rating_probabilities(fit) # classes x ratings x raters
  strata <- nrow(probability) / n
  list(
    strata = rep(1 / strata, strata),
    probability = function(class, k, at) probability[cbind(class, k, rating_rater(x)[at])]
  )
}

# Refits with other data or settings.

#' Refit with other settings or more ratings
#'
#' Fits the model of `object` again, with other data, another model or method, or more ratings.
#'
#' @section More ratings:
#' `new` adds ratings to those of the fit. The model is refitted to all ratings and starts from
#' the previous estimates. If there are few new ratings, the refit takes much less time than the
#' first fit.
#' Cases and raters may be those of the fit or new; systems must be those of the fit. With a new
#' category, or if the fit was not identified, the refit does not use the previous estimates.
#' Ratings cannot be added if raters form groups, or if there are reruns, counts, weighted cases,
#' covariates or a database: collect all ratings in `x` instead. A survey design is kept unless `x`
#' or `new` is given.
#'
#' @param object A [fit_raters()] result.
#' @param model,method,x,known_truth,known_raters Arguments of [fit_raters()] to change. If the
#'   method of `object` cannot fit the new `model`, the model's default method is used.
#' @param prior For `method = "bayes"`: another [rater_prior()].
#' @param new More ratings: [ratings()], or a data frame with a row per rating and columns `case`,
#'   `rater` and `rating`. Cannot be used together with `x`.
#' @param ... Not used.
#' @return An object of class `rater_fit`; see [fit_raters()].
#' @family estimation
#' @examples
#' x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
#' fit <- fit_raters(x)
#' AIC(update(fit, method = "likelihood"), update(fit, model = rater_model("rater", "distance")))
#'
#' # Another rating of the first patient, and one of a new patient
#' update(fit, new = data.frame(case = c(1, 46), rater = "a", rating = c(1, 2)))
#' @export
update.rater_fit <- function(object, model = object$model, method = NULL, x = object$x,
                             known_truth = object$given$truth, known_raters = object$given$raters,
                             new = NULL, prior = object$given$prior, ...) {
  check_dots_empty(...)
  check_has_model(object, "A new fit")
  abort_argument_if(!is.null(new) && !missing(x), "new",
    "Give {.arg x} to replace the ratings of the fit, or {.arg new} to add to them.",
    x = "Both are given.")
  if (!is.null(new)) x <- add_ratings(x, new)
  warm <- !is.null(new) && missing(model) && is.null(method) &&
    n_categories(x) == n_categories(object$x)
  method <- method %||% method_to_refit(object, model, known_truth, known_raters)
  abort_argument_if(!missing(prior) && !identical(method, "bayes"), "prior",
    "{.arg prior} is for {.code method = \"bayes\"}.",
    i = "Other fits have priors in {.fun rater_model}.")
  fit <- fit_again(object, x, model, method, known_truth, known_raters, prior,
    if (warm) start_of(object))
  if (missing(x) && is.null(new)) fit$design <- object$design
  warn_unchecked(fit)
  add_differential_test(fit)
}

# Fits a model again, with other ratings or settings. Arguments that are not given are those of
# `fit`: model, method, prior, sampling, known truths and known raters. All refits of the package
# use this function (`tools/ids.R`).
fit_again <- function(fit, x = fit$x, model = fit$model,
                      method = method_to_refit(fit, model, known_truth, known_raters),
                      known_truth = fit$given$truth, known_raters = fit$given$raters,
                      prior = fit$given$prior, start = NULL, sampling = fit$given$sampling) {
  drawn <- identical(method, "bayes")
  fit_checked(with_votes(as_ratings(x)), model, method, known_truth, known_raters, start,
    if (drawn) prior, if (drawn) sampling)
}

# The method of a fit; if it cannot fit `model`, the default method of that model (NULL).
method_to_refit <- function(fit, model, known_truth, known_raters) {
  if (!inherits(model, "rater_model")) return(NULL)
  know <- !is.null(known_truth) || !is.null(known_raters)
  can <- switch(fit$method,
    algebraic = is_k_model(model) && !know, pairs = has_pairs(model) && !know, TRUE
  )
  if (can) fit$method else if (know) "likelihood"
}

# Starting values: parameters, and the number of raters that they include; NULL for a fit without.
start_of <- function(fit) {
  if (!is.null(fit$theta) && fit$identified == "yes" && !anyNA(fit$theta)) {
    list(theta = fit$theta, raters = n_raters(fit$x))
  }
}

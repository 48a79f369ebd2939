# The K-model by algebra; the formulas are in src/core/model/algebraic.cpp.

fit_algebraic <- function(x, model = k_model()) {
  fit <- na_real(core_fit_algebraic(x$patterns, pattern_weights(x)))
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  # Abstentions can identify labels, but not accuracies.
  labels_only <- isTRUE(x$panel$abstain$by_replies)
  if (isTRUE(x$only_constant) || labels_only) {
    fit$identified <- if (labels_only) "labels_only" else "constant_raters"
    for (field in c("rater_accuracy", "base_rates", "covariance")) fit[[field]][] <- NA_real_
  }
  inject(new_rater_fit("k_fit", x, model, "algebraic", by_agreement = fit, !!!fit,
    coefficients = named_coefficients(fit$rater_accuracy, fit$base_rates, x)))
}

# Patterns x categories: posterior probabilities of the categories given the ratings of a pattern.
# `x`: other ratings, coded with the fit's numbers of categories and raters.
posterior <- function(fit, x = NULL) {
  if (is.null(x) && !is.null(fit$posterior)) return(fit$posterior)
  x <- x %||% fit$x
  if (fit$identified != "yes") unknown_posterior(x) else compute_posterior(fit, x)
}

unknown_posterior <- function(x) matrix(NA_real_, n_patterns(x), n_categories(x))

# Posterior of an identified fit, for ratings that it does not store.
compute_posterior <- function(fit, x) UseMethod("compute_posterior")

compute_posterior.rater_fit <- function(fit, x) {
  times_answering(latent_probabilities(fit, x)$posterior, fit, x)
}

compute_posterior.k_fit <- function(fit, x) {
  core_posterior_algebraic(x$patterns, pattern_weights(x), fit)
}

# A function of pattern weights that returns the posterior of a refit with these weights; NULL if a
# refit takes too long or is not available. The default is that of user-defined posteriors.
refitting <- function(fit) UseMethod("refitting")

refitting.rater_fit <- function(fit) fit$refit

refitting.k_fit <- function(fit) {
  patterns <- fit$x$patterns
  function(weight) core_posterior_algebraic(patterns, weight, core_fit_algebraic(patterns, weight))
}

refitting.latent_fit <- function(fit) { # nolint: object_name.
  model <- model_of_fit(fit)
  function(weight) {
    core_fit_latent(
      fit$x$patterns, weight, fit$known, model, fit$method, 500L, start_of(fit), no_tick
    )$posterior
  }
}

# Classes (true category within stratum of difficulty) x ratings x raters.
rating_probabilities <- function(fit) UseMethod("rating_probabilities")

rating_probabilities.rater_fit <- function(fit) latent_probabilities(fit, fit$x)$probability

rating_probabilities.k_fit <- function(fit) {
  array(confusion(fit)[[1L]], c(n_categories(fit$x) * c(1L, 1L), n_raters(fit$x)))
}

# rater_model(confidence = TRUE): a rating consists of a category and a level of confidence. Given
# whether the category is correct, the level has a distribution: one for correct and one for wrong
# ratings, the same for all raters and categories. The number of rating outcomes is therefore
# multiplied by the number of levels. The first set of outcomes is for ratings without a level (also
# those of systems); its probabilities are sums over levels.

uses_confidence <- function(model) isTRUE(model$confidence)

check_has_confidence <- function(model, x) {
  if (!uses_confidence(model)) return(invisible())
  seen <- seen_levels(x)
  abort_argument_if(length(seen) < 2L || !is.null(x$voted), "model",
    "A model with {.code confidence = TRUE} needs ratings with {.arg confidence}.",
    x = if (!is.null(x$voted)) "Groups of raters count as one vote each, and a vote has no
        confidence." else if (is.null(x$confidence)) "There is none." else
        "All of it is {.val {x$confidence$levels[seen]}}.",
    i = "Give {.arg confidence} to {.fun ratings}, or choose a model without.")
}

# Drops levels without a rating on a case of positive weight; they would have no estimate.
drop_unused_levels <- function(x) {
  seen <- seen_levels(x)
  given <- x$confidence
  kept <- given$code %in% seen
  x$confidence <- list(
    levels = given$levels[seen], case = given$case[kept], rater = given$rater[kept],
    code = match(given$code[kept], seen)
  )
  x
}

seen_levels <- function(x) {
  weight <- weights_of_cases(x)
  sort(unique(x$confidence$code[weight[x$confidence$case] > 0]))
}

# Levels of other ratings, coded with the fit's numbers.
recode_levels <- function(x, fit) {
  if (!uses_confidence(fit$model) || is.null(x$confidence)) return(x)
  levels <- fit$x$confidence$levels
  code <- x$confidence$code
  place <- match_to_fit(x$confidence$levels, levels, code,
    "must have a {.arg confidence} of the levels of the fit.")
  x$confidence[c("code", "levels")] <- list(place[code], levels)
  x
}

# Splits patterns so that their cases also have the same confidence.
split_by_confidence <- function(x) {
  if (is.null(x$confidence)) return(x)
  given <- unfold_ratings(x)
  level <- level_of_ratings(x, given$row, given$rater) + 1L # coded like a category
  same <- core_patterns_long(given$row, given$rater, level, list(), length(x$index))$index
  split_patterns(x, list(.confidence = same))
}

# The level of each rating of patterns that were split by confidence, 0 if it is missing.
rating_levels <- function(x, model) {
  if (!uses_confidence(model) || is.null(x$confidence)) return(rep(0L, length(rating_rater(x))))
  first <- first_cases(x)
  level_of_ratings(x, first[rating_pattern(x)], rating_rater(x))
}

level_terms <- function(levels) {
  sprintf("confidence_%s[%s]", rep(c("right", "wrong"), each = length(levels)), levels)
}

# ---- Draws ---------------------------------------------------------------------------------------

# Draws the confidence of simulated ratings, where the original ratings have a confidence.
draw_confidence <- function(fit, row, at, rater, right) {
  levels <- fit$x$confidence$levels
  probability <- t(matrix(stats::coef(fit)[level_terms(levels)], ncol = 2L))
  stated <- which(rating_levels(fit$x, fit$model)[at] > 0L)
  list(levels = levels, case = row[stated], rater = rater[stated],
    code = draw_categories(probability, 2L - right[stated]))
}

# Fits of user-defined models, given by their posterior.

#' A fit of a user-defined model
#'
#' Creates a fit from the posterior probabilities of a user-defined model. Functions that need only
#' these probabilities accept it: [ground_truth()], [calibration()], [predict.rater_fit()] of its
#' cases, [base_rates()], [confusion()], and [estimate_accuracy()] with the methods `"shared"` (the
#' default for such a fit), `"binned"` and `"unbinned"`.
#'
#' Agreement and kappa are computed from the ratings. The accuracy of a rater is the mean posterior
#' probability of its ratings. Row k of its confusion matrix contains the shares of its ratings,
#' weighted by the posterior probability of category k. Intervals are from a bootstrap of cases (or
#' clusters) with fixed posterior probabilities; they do not contain the uncertainty of the model.
#' New cases, [simulate()][stats::simulate] and [update()][stats::update] need the model itself and
#' raise an error.
#'
#' @param x A [ratings()] object, or an object that [as_ratings()] can convert.
#' @param posterior Probabilities of the categories of each case, in \[0, 1\]; rows sum to one. It
#'   is a matrix with a row per case of `x` and a column per category, or a data frame that also has
#'   a column `case`, as [ground_truth()] returns. Row names of a matrix are the cases. Without row
#'   names, rows are in the order of the cases. This needs ratings from data with a row per case,
#'   with no case dropped or reordered. Columns are matched by name to the categories. Columns
#'   without names are in the order of the categories.
#' @param base_rates Probabilities of the categories, which sum to one. The default is the mean of
#'   `posterior` over cases.
#' @param ... Not used.
#' @param model Name of the model, a string.
#' @return An object of class `rater_fit`; see [fit_raters()]. Its coefficients are the mean
#'   accuracy of a rating and the base rates, without standard errors.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#'
#' # Vote shares as probabilities
#' votes <- as.matrix(tidy(x, "counts")[-1])
#' fit <- as_rater_fit(x, votes / rowSums(votes), model = "shares of votes")
#' fit
#' ground_truth(fit)
#' set.seed(1)
#' estimate_accuracy(fit, resampling = list(replicates = 200))
#' @export
as_rater_fit <- function(x, posterior, base_rates = NULL, ..., model = "own model") {
  check_given()
  check_dots_empty(...)
  x <- as_ratings(x)
  if (in_database(x)) abort_no_cases("A posterior is one of each case")
  x <- with_votes(x)
  abort_argument_if(!is_string(model) || is.na(model) || model == "", "model",
    "must be a name, one string.", not = model)
  posterior <- check_posterior(posterior, x)
  weight <- weights_of_cases(x)
  rates <- colSums(posterior * weight) / sum(weight)
  if (!is.null(base_rates)) rates <- check_base_rates(base_rates, ncol(posterior))
  new_posterior_fit(x, posterior, rates, model)
}

# `posterior` has a row per case. Patterns are split, so that the fit has one row per pattern.
new_posterior_fit <- function(x, posterior, rates, model, ..., kind = "posterior_fit") {
  distinct <- split_by(rep(1, nrow(posterior)), split_columns(posterior, x$categories))
  x <- split_patterns(x, list(.posterior = distinct))
  posterior <- unname(posterior[match(x$patterns$values$.posterior, distinct), , drop = FALSE])
  weight <- pattern_weights(x)[rating_pattern(x)]
  right <- posterior[cbind(rating_pattern(x), rating_category(x))]
  accuracy <- sum(weight * right) / sum(weight)
  # Takes the place of a rater_model().
  stand_in <- structure(
    list(
      accuracy = if (has_counts(x)) "common" else "own", errors = "own", difficulty = "own",
      system = "shared", prior = list(), words = model
    ),
    class = c("own_model", "rater_model", "fallible_result")
  )
  new_rater_fit(kind, x, stand_in, "own", ...,
    identified = "yes", base_rates = unname(rates), rater_accuracy = accuracy,
    posterior = posterior, matrices = matrices_from_posterior(x, posterior), converged = TRUE,
    coefficients = named_coefficients(accuracy, rates, x)
  )
}

# Raters x true categories x ratings. One matrix for all raters if raters are not identified; NA if
# a rater rated no case of a category.
matrices_from_posterior <- function(x, posterior) {
  raters <- n_raters(x)
  n <- n_categories(x)
  identity <- rater_identity(x)
  cell <- identity[rating_rater(x)] + raters * (rating_category(x) - 1L)
  weighted <- (posterior * pattern_weights(x))[rating_pattern(x), , drop = FALSE]
  sums <- apply(weighted, 2L, rowsum_codes, code = cell, n = raters * n)
  sums <- aperm(array(sums, c(raters, n, n)), c(1L, 3L, 2L))[identity, , , drop = FALSE]
  na_real(sums / as.vector(rowSums(sums, dims = 2L)))
}

#' @export
format.own_model <- function(x, ...) x$words

# Cases x categories, in the order of `x`. Rows sum to one exactly.
check_posterior <- function(posterior, x) {
  if (is.matrix(posterior) && !is.null(rownames(posterior))) {
    posterior <- data.frame(case = rownames(posterior), posterior, check.names = FALSE)
  }
  named <- is.data.frame(posterior)
  if (named) posterior <- posterior_of_table(posterior, x)
  n <- n_categories(x)
  shaped <- is.numeric(posterior) && identical(dim(posterior), c(nrow(x), n))
  names <- if (shaped) colnames(posterior) %||% x$categories
  abort_argument_if(!setequal(names, x$categories), "posterior",
    "must be a matrix of {nrow(x)} case{?s} x {n} categories, or such a table with a column
        {.val case}.",
    x = if (shaped) "Its columns are {.val {names}}; categories are {.val {x$categories}}." else
      if (is.matrix(posterior)) "It is {nrow(posterior)} x {ncol(posterior)}, of type
        {typeof(posterior)}." else "It is {describe(posterior)}.")
  lack <- if (!named) why_no_order(posterior[, 1L], x)
  abort_argument_if(lack, "posterior",
    "must name the cases, as row names or in a column {.val case}.", x = lack)
  posterior <- posterior[, match(x$categories, names), drop = FALSE]
  off <- which(rowSums(is.finite(posterior) & posterior >= -1e-9) < n |
    abs(rowSums(posterior) - 1) > 1e-6)
  abort_argument_if(off, "posterior",
    "Each row of {.arg posterior} must be probabilities that sum to one.",
    x = "That of case {.val {as.character(x$cases[off[1L]])}} is
        {format(posterior[off[1L], ], digits = 3, trim = TRUE)}.",
    i = if (length(off) > 1L) "{length(off)} rows are not.", row = off)
  posterior <- pmax(posterior, 0)
  unname(posterior / rowSums(posterior))
}

posterior_of_table <- function(table, x) {
  table <- replace_key_columns(table, names(x$keys))
  lacking <- setdiff(c("case", x$categories), names(table))
  abort_if(lacking, "columns",
    "{.arg posterior} must have the column {.val case} and a column per category.",
    x = "It lacks {.val {lacking}}.", arg = "posterior")
  given <- as_label(table$case)
  cases <- as_label(x$cases)
  same <- identical(given, cases) # a case may be repeated in both
  at <- if (same) seq_along(cases) else match(cases, given)
  off <- c(cases[is.na(at)], if (!same) given[duplicated(given)])
  abort_if(off, "case",
    "{.arg posterior} must have one row for each case of {.arg x}.",
    x = "It has none, or several, for {.val {off}}.", row = which(is.na(at)))
  as.matrix(as.data.frame(table)[at, x$categories, drop = FALSE])
}

# Raises an error if `task` needs the model and only its posterior is known.
check_has_model <- function(fit, task) {
  abort_argument_if(inherits(fit, "posterior_fit"), "object",
    "{task} needs the model, of which this fit has only the posterior.",
    i = "Refit the model, and give its posterior to {.fun as_rater_fit}.")
}

# The same fit with other answers of systems. `x` has the cases and ratings of the fit.
fit_with <- function(fit, x) UseMethod("fit_with")

fit_with.posterior_fit <- function(fit, x) {
  new_posterior_fit(x, fit$posterior[fit$x$index, , drop = FALSE], fit$base_rates, fit$model$words)
}

fit_with.rater_fit <- function(fit, x) {
  x <- join_patterns(x)
  at <- rows_for(fit$x, x)
  fit$posterior <- fit$posterior[at, , drop = FALSE] # NULL stays NULL
  for (part in c("known", "task")) for (field in c("truth", "population")) {
    if (length(fit[[part]][[field]]) > 0L) fit[[part]][[field]] <- fit[[part]][[field]][at]
  }
  fit$x <- x
  fit
}

fit_raters_only.posterior_fit <- function(fit, estimate) fit # nolint: object_name.

rule_field.own_model <- function(model) "of_posterior" # nolint: object_name.

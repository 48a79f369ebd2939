# Fits of models that the package does not have, of which the posterior is known.

#' A fit of your own model
#'
#' Makes a fit of the probabilities that a model of your own gives to the categories of each case,
#' so that whatever needs no more than these works on it: [ground_truth()], [calibration()],
#' [predict.rater_fit()] of its cases, [base_rates()], [confusion()], and [estimate_accuracy()] by
#' the methods `"shared"` (the default for such a fit), `"binned"` and `"unbinned"`.
#'
#' Of what the fit tells of raters, agreement and kappa are theirs; the accuracy of a rater is the
#' mean probability of the categories that it gave, and its confusion matrix the share of its
#' ratings in each category among the cases of each true one, counted by the probabilities.
#' Intervals are by the bootstrap of cases (or clusters) with the probabilities as they are: what is
#' uncertain about the model is not in them. New cases, [simulate()][stats::simulate] and
#' [update()][stats::update] need the model itself and are refused.
#'
#' @param x A [ratings()] object, or what [as_ratings()] makes ratings of.
#' @param posterior Probabilities of the categories of each case, in \[0, 1\], that sum to one in
#'   each row: a matrix with a row per case of `x`, whose row names are the cases, and a column per
#'   category; or a data frame with a column `case` besides, such as [ground_truth()] gives. Rows of
#'   a matrix without row names are in the order of the cases, which needs ratings of data with a
#'   row per case, none left out or reordered since. Columns are found by the names of the
#'   categories; those of a matrix without column names are in their order.
#' @param base_rates Probabilities of the categories, which sum to one; the mean of `posterior` over
#'   cases by default.
#' @param ... Not used.
#' @param model What to call the model, a string.
#' @return An object of class `rater_fit`; see [fit_raters()]. Its coefficients are the mean
#'   accuracy of a rating and the base rates, without standard errors.
#' @family estimation
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#'
#' # Majorities as probabilities
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
  abort_argument_if(!rlang::is_string(model) || is.na(model) || model == "", "model",
    "must be a name, one string.", not = model)
  posterior <- check_posterior(posterior, x)
  weight <- weights_of_cases(x)
  rates <- colSums(posterior * weight) / sum(weight)
  if (!is.null(base_rates)) rates <- check_base_rates(base_rates, ncol(posterior))
  own_fit(x, posterior, rates, model)
}

# `posterior` has a row per case; the fit has one per pattern, of which there are more now.
own_fit <- function(x, posterior, rates, model) {
  distinct <- split_by(rep(1, nrow(posterior)), split_columns(posterior, x$categories))
  x <- split_patterns(x, list(.posterior = distinct))
  posterior <- unname(posterior[match(x$patterns$values$.posterior, distinct), , drop = FALSE])
  weight <- pattern_weights(x)[rating_pattern(x)]
  right <- posterior[cbind(rating_pattern(x), rating_category(x))]
  accuracy <- sum(weight * right) / sum(weight)
  # What stands where other fits have a rater_model().
  stand_in <- structure(
    list(
      accuracy = if (has_counts(x)) "common" else "own", errors = "own", difficulty = "own",
      system = "shared", prior = list(), words = model
    ),
    class = c("own_model", "rater_model", "fallible_result")
  )
  new_rater_fit("posterior_fit", x, stand_in, "own",
    identified = "yes", base_rates = unname(rates), rater_accuracy = accuracy,
    posterior = posterior, matrices = own_matrices(x, posterior), converged = TRUE,
    coefficients = named_coefficients(accuracy, rates, x)
  )
}

# Raters x true categories x ratings; one for all where nobody knows who rated, NA where nobody
# rated cases of a category.
own_matrices <- function(x, posterior) {
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

# Cases x categories in the order of those of `x`; rows sum to one exactly.
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
  lack <- if (!named) lack_of_order(posterior[, 1L], x)
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
  table <- with_case(table, names(x$keys))
  lacking <- setdiff(c("case", x$categories), names(table))
  abort_if(lacking, "columns",
    "{.arg posterior} must have the column {.val case} and a column per category.",
    x = "It lacks {.val {lacking}}.", arg = "posterior")
  cases <- as_label(table$case)
  own <- as_label(x$cases)
  same <- identical(cases, own) # a case may be repeated, in both
  at <- if (same) seq_along(own) else match(own, cases)
  off <- c(own[is.na(at)], if (!same) cases[duplicated(cases)])
  abort_if(off, "case",
    "{.arg posterior} must have one row for each case of {.arg x}.",
    x = "It has none, or several, for {.val {off}}.", row = which(is.na(at)))
  as.matrix(as.data.frame(table)[at, x$categories, drop = FALSE])
}

# For what needs the model and not only its posterior.
check_has_law <- function(fit, what) UseMethod("check_has_law")

check_has_law.rater_fit <- function(fit, what) invisible()

check_has_law.posterior_fit <- function(fit, what) {
  abort_argument("object", "{what} needs the model, of which this fit has only the posterior.",
    i = "Refit the model, and give its posterior to {.fun as_rater_fit}.")
}

# The same fit beside other answers by systems: `x` has the cases and ratings of the fit.
fit_with <- function(fit, x) UseMethod("fit_with")

fit_with.posterior_fit <- function(fit, x) {
  own_fit(x, fit$posterior[fit$x$index, , drop = FALSE], fit$base_rates, fit$model$words)
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

refitting.posterior_fit <- function(fit) fit$refit # nolint: object_name.

raters_alone.posterior_fit <- function(fit, estimate) fit # nolint: object_name.

rule_field.own_model <- function(model) "of_posterior" # nolint: object_name.

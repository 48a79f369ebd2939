# Fits of the K-model, in which all raters have the same accuracy. The solution is algebraic; its
# formulas are in src/core/model/algebraic.cpp.

fit_algebraic <- function(x, model = k_model()) {
  fit <- na_real(agreement_in_core(x))
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  # Abstentions can identify labels, but not accuracies.
  has_labels_only <- isTRUE(x$panel$abstain$by_replies)
  if (isTRUE(x$only_constant) || has_labels_only) {
    fit$identified <- if (has_labels_only) "labels_only" else "constant_raters"
    for (field in c("rater_accuracy", "base_rates", "covariance")) fit[[field]][] <- NA_real_
  }
  inject(new_rater_fit("k_fit", x, model, "algebraic", by_agreement = fit, !!!fit,
    coefficients = setNames(
      c(fit$rater_accuracy, fit$base_rates), c("rater_accuracy", rate_terms(x))
    )))
}

# Returns posterior probabilities of the categories given the ratings, a matrix (patterns x
# categories). They are NA if the fit is not identified. `x`: other ratings, NULL for the fitted
# ratings. Their categories and raters must have the indices that the fit uses.
posterior <- function(fit, x = NULL) {
  if (is.null(x) && !is.null(fit$posterior)) return(fit$posterior)
  x <- x %||% fit$x
  if (fit$identified != "yes") unknown_posterior(x) else compute_posterior(fit, x)
}

unknown_posterior <- function(x) matrix(NA_real_, n_patterns(x), n_categories(x))

# Computes posterior probabilities of the categories for other ratings `x` (patterns x categories),
# from a fit that is identified.
compute_posterior <- function(fit, x) UseMethod("compute_posterior")

# If raters could abstain, the probabilities given the answers are multiplied by the likelihood of
# who answered and who abstained.
compute_posterior.rater_fit <- function(fit, x) {
  posterior <- latent_probabilities(fit, x)$posterior
  if (is.null(fit$answered) || !has_abstentions(x)) return(posterior)
  p_answered <- replace_na(fit$answered, 1)
  abstained <- abstaining_raters(x)
  # If a rater never abstains, the factor is the same for all categories and cancels.
  reply_probabilities <- rbind(p_answered[rating_rater(x), ], 1 - p_answered[abstained$rater, ])
  softmax(log(posterior) + rowsum_rows(c(rating_pattern(x), abstained$pattern),
    log(pmax(reply_probabilities, 1e-300)), n_patterns(x)))
}

compute_posterior.k_fit <- function(fit, x) {
  core_posterior_algebraic(x$patterns, pattern_weights(x), fit)
}

# Returns a function of `weight`, the weights of patterns. This function refits the model with these
# weights and returns the posterior probabilities. The result is NULL if a refit takes too long or
# is not available. The default method returns field `refit` of a fit with user-defined posterior
# probabilities.
refit_function <- function(fit) UseMethod("refit_function")

refit_function.rater_fit <- function(fit) fit$refit

refit_function.k_fit <- function(fit) {
  patterns <- fit$x$patterns
  function(weight) core_posterior_algebraic(patterns, weight, core_fit_algebraic(patterns, weight))
}

refit_function.latent_fit <- function(fit) { # nolint: object_name.
  model <- model_of_fit(fit)
  function(weight) {
    core_fit_latent(
      fit$x$patterns, weight, fit$known, model, fit$method, 500L, starting_values(fit), no_tick
    )$posterior
  }
}

# Models with rater_model(confidence = TRUE). A rating has a category and a level of confidence.
# Levels have one distribution for correct ratings and another for wrong ratings. Both are the same
# for all raters and categories. The core codes each combination of a category and a level as one
# outcome. Further outcomes are for ratings without a level, such as answers of systems. Their
# probabilities are sums over levels.

uses_confidence <- function(model) isTRUE(model$confidence)

# Returns the levels of confidence that ratings of cases with positive weight have.
find_used_levels <- function(x) {
  sort(unique(x$confidence$code[weights_of_cases(x)[x$confidence$case] > 0]))
}

# Returns the level of confidence of each rating of each pattern, 0 if it is missing. Patterns must
# have been split by confidence.
rating_levels <- function(x, model) {
  if (!uses_confidence(model) || is.null(x$confidence)) return(rep(0L, length(rating_rater(x))))
  confidence_of_ratings(x, first_cases(x)[rating_pattern(x)], rating_rater(x))
}

level_terms <- function(levels) {
  sprintf("confidence_%s[%s]", rep(c("right", "wrong"), each = length(levels)), levels)
}

# ---- Draws ---------------------------------------------------------------------------------------

# Draws the levels of confidence of simulated ratings, and returns field `confidence` of ratings. A
# simulated rating gets a level if the original rating has one. Each argument has an element per
# simulated rating:
# * row, rater: indices of its case and its rater
# * at: index of the original rating
# * right: is it correct?
draw_confidence <- function(fit, row, at, rater, right) {
  levels <- fit$x$confidence$levels
  probability <- t(matrix(coef(fit)[level_terms(levels)], ncol = 2L))
  with_level <- which(rating_levels(fit$x, fit$model)[at] > 0L)
  list(levels = levels, case = row[with_level], rater = rater[with_level],
    code = draw_categories(probability, 2L - right[with_level]))
}

# Fits of user-defined models. The user gives the posterior probabilities.

#' Fits of user-defined models from posterior probabilities
#'
#' Creates a fit from the posterior probabilities of a model that was fitted by other software. The
#' following functions accept the fit: [ground_truth()], [calibration()],
#' [predict()][predict.rater_fit] for its cases, [base_rates()], [confusion()], and
#' [estimate_accuracy()] with the methods `"shared"` (the default for such a fit), `"binned"` and
#' `"unbinned"`.
#'
#' The accuracy of a rater is the mean posterior probability of its ratings. Row k of its confusion
#' matrix contains the shares of its ratings, weighted by the posterior probability of category k.
#' Intervals of [estimate_accuracy()] are from a bootstrap of cases with fixed posterior
#' probabilities. They do not contain the uncertainty of the model.
#'
#' @param x Ratings from which the posterior probabilities were computed: a [ratings()] object, or
#'   an object that [as_ratings()] can convert.
#' @param posterior Probabilities of the categories of each case, in \[0, 1\]; rows sum to one. One
#'   of:
#'   * A data frame with a column `case` and a column per category, as [ground_truth()] returns.
#'   * A matrix with a row per case of `x` and a column per category. Row names are the cases.
#'     Without row names, rows are in the order of the cases, and `x` must be from data with a row
#'     per case. Without column names, columns are in the order of the categories.
#' @param base_rates Probabilities of the categories, which sum to one, in the order of the
#'   categories. The default `NULL` is the mean of `posterior` over cases.
#' @param ... Not used.
#' @param model Name of the model in printed results, a string.
#' @return An object of class `rater_fit`, like the result of [fit_raters()]. `coef()` returns the
#'   mean accuracy of a rating and the base rates. Standard errors, likelihood and AIC are `NA`.
#' @family models of raters
#' @examples
#'
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#'
#' # Vote shares as probabilities
#' votes <- as.matrix(tidy(x, "counts")[-1])
#' fit <- as_rater_fit(x, votes / rowSums(votes), model = "shares of votes")
#' fit
#' ground_truth(fit)
#' # Accuracy of the system
#' set.seed(1)
#' estimate_accuracy(fit, resampling = list(replicates = 200))
#' @export
as_rater_fit <- function(x, posterior, base_rates = NULL, ..., model = "own model") {
  check_call()
  x <- as_ratings(x)
  if (in_database(x)) abort_no_cases("A table {.arg posterior} has a row per case")
  x <- with_votes(x)
  abort_argument_if(!is_string(model) || is.na(model) || model == "", "model",
    "must be a name, one string.", not = model)
  posterior <- check_posterior(posterior, x)
  weight <- weights_of_cases(x)
  rates <- colSums(posterior * weight) / sum(weight)
  if (!is.null(base_rates)) rates <- check_base_rates(base_rates, ncol(posterior))
  new_posterior_fit(x, posterior, rates, model)
}

# Creates a fit from posterior probabilities. `posterior`: a matrix (cases x categories). Patterns
# of ratings are split, so that all cases of a pattern have the same posterior probabilities. A row
# of a confusion matrix is NA if the rater rated no case of the category. `rates`: base rates.
# `model`: name of the model. `kind`: class of the fit. `...`: further fields.
new_posterior_fit <- function(x, posterior, rates, model, ..., kind = "posterior_fit") {
  posterior_group <- number_combinations(split_columns(posterior, x$categories))
  x <- split_patterns(x, list(.posterior = posterior_group))
  posterior <-
    unname(pick_rows(posterior, match(x$patterns$values$.posterior, posterior_group)))
  weight <- rating_weights(x)
  p_right <- posterior[cbind(rating_pattern(x), rating_category(x))]
  accuracy <- sum(weight * p_right) / sum(weight)
  model <- user_model("own_model", if (has_counts(x)) "common" else "own", model)
  # Confusion matrices (raters x true categories x ratings). If ratings are counts without names of
  # raters, all raters have the same matrix.
  raters <- n_raters(x)
  n <- n_categories(x)
  rater_number <- rater_identity(x)
  cell <- rater_number[rating_rater(x)] + raters * (rating_category(x) - 1L)
  sums <- rowsum_rows(cell, pick_rows(posterior * pattern_weights(x), rating_pattern(x)),
    raters * n)
  sums <- aperm(array(sums, c(raters, n, n)), c(1L, 3L, 2L))[rater_number, , , drop = FALSE]
  new_rater_fit(kind, x, model, "own", ...,
    identified = "yes", base_rates = unname(rates), rater_accuracy = accuracy,
    posterior = posterior, matrices = na_real(sums / as.vector(rowSums(sums, dims = 2L))),
    converged = TRUE,
    coefficients = setNames(c(accuracy, rates), c("rater_accuracy", rate_terms(x)))
  )
}

# Checks the user's posterior probabilities. Returns a matrix (cases x categories) in the order of
# `x`, with rows normalised to sum to one.
check_posterior <- function(posterior, x) {
  if (is.matrix(posterior) && !is.null(rownames(posterior))) {
    posterior <- data.frame(case = rownames(posterior), posterior, check.names = FALSE)
  }
  is_table <- is.data.frame(posterior)
  if (is_table) posterior <- posterior_of_table(posterior, x)
  n <- n_categories(x)
  has_shape <- is.numeric(posterior) && identical(dim(posterior), c(nrow(x), n))
  names <- if (has_shape) colnames(posterior) %||% x$categories
  abort_argument_if(!setequal(names, x$categories), "posterior",
    "must be a matrix of {nrow(x)} case{?s} x {n} categories, or a data frame with a column
        {.val case} and a column per category.",
    x = if (has_shape) "Its columns are {.val {names}}; categories are {.val {x$categories}}." else
      if (is.matrix(posterior)) "It is {nrow(posterior)} x {ncol(posterior)}, of type
        {typeof(posterior)}." else "It is {describe(posterior)}.")
  order_fault <- if (!is_table) why_not_by_position(posterior[, 1L], x)
  abort_argument_if(order_fault, "posterior",
    "must name the cases, as row names or in a column {.val case}.", x = order_fault)
  posterior <- pick_columns(posterior, match(x$categories, names))
  wrong_rows <- which(rowSums(is.finite(posterior) & posterior >= -1e-9) < n |
    abs(rowSums(posterior) - 1) > 1e-6)
  abort_argument_if(wrong_rows, "posterior",
    "Each row of {.arg posterior} must be probabilities that sum to one.",
    x = "The row of case {.val {as.character(x$cases[wrong_rows[1L]])}} is
        {format(posterior[wrong_rows[1L], ], digits = 3, trim = TRUE)}.",
    i = if (length(wrong_rows) > 1L) "{length(wrong_rows)} rows have this fault.", row = wrong_rows)
  posterior <- pmax(posterior, 0)
  unname(posterior / rowSums(posterior))
}

posterior_of_table <- function(table, x) {
  table <- replace_key_columns(table, names(x$keys))
  lacking <- setdiff(c("case", x$categories), names(table))
  abort_if(lacking, "columns",
    "{.arg posterior} must have the column {.val case} and a column per category.",
    x = "It lacks {.val {lacking}}.", arg = "posterior")
  case_labels <- as_label(table$case)
  cases <- as_label(x$cases)
  is_same_order <- identical(case_labels, cases) # a case may be repeated in both
  table_row <- if (is_same_order) seq_along(cases) else match(cases, case_labels)
  wrong_cases <- c(
    cases[is.na(table_row)], if (!is_same_order) case_labels[duplicated(case_labels)]
  )
  abort_if(wrong_cases, "case",
    "{.arg posterior} must have one row for each case of {.arg x}.",
    x = "It has no row, or several rows, for {.val {wrong_cases}}.", row = which(is.na(table_row)))
  as.matrix(as.data.frame(table)[table_row, x$categories, drop = FALSE])
}

# Raises an error if a fit has only posterior probabilities. `task`: the task that needs a model, as
# words of the message.
check_has_model <- function(fit, task) {
  abort_argument_if(inherits(fit, "posterior_fit"), "object",
    "{task} needs a model, but this fit has only posterior probabilities.",
    i = "Fit your model again, and give its posterior to {.fun as_rater_fit}.")
}

# Returns the fit with other answers of systems. `x`: the fitted ratings with these answers.
replace_answers <- function(fit, x) UseMethod("replace_answers")

replace_answers.posterior_fit <- function(fit, x) {
  new_posterior_fit(x, pick_rows(fit$posterior, fit$x$index), fit$base_rates, fit$model$words)
}

replace_answers.rater_fit <- function(fit, x) {
  x <- join_patterns(x)
  pattern_index <- matching_patterns(fit$x, x)
  fit$posterior <- pick_rows(fit$posterior, pattern_index) # NULL stays NULL
  for (part in c("known", "task")) for (field in c("truth", "population")) {
    values <- fit[[part]][[field]]
    if (!is_empty(values)) fit[[part]][[field]] <- values[pattern_index]
  }
  fit$x <- x
  fit
}

fit_raters_only.posterior_fit <- function(fit, estimate) fit # nolint: object_name.

r_model_field.own_model <- function(model) "of_posterior" # nolint: object_name.

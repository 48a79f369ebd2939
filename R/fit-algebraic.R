# Fits of the K-model, in which all raters have the same accuracy. The solution is algebraic; its
# formulas are in src/core/model/algebraic.cpp.

fit_algebraic <- function(x, model = k_model()) {
  fit <- na_real(agreement_in_core(x))
  if (!weights_are_counts(x)) fit$covariance[] <- NA_real_
  # Estimates are NA if accuracy is not identified without raters who always give the same answer,
  # or if consensus labels are not identified without abstentions (see decide_abstain()).
  identifies_only_labels <- isTRUE(x$panel$abstain$by_replies)
  if (isTRUE(x$only_constant) || identifies_only_labels) {
    fit$identified <- if (identifies_only_labels) "labels_only" else "constant_raters"
    for (field in c("rater_accuracy", "base_rates", "covariance")) fit[[field]][] <- NA_real_
  }
  inject(new_rater_fit("k_fit", x, model, "algebraic", by_agreement = fit, !!!fit,
    coefficients = setNames(
      c(fit$rater_accuracy, fit$base_rates), c("rater_accuracy", rate_terms(x))
    )))
}

# Returns posterior probabilities of the true categories given the ratings, a matrix (patterns x
# categories). They are NA if the fit is not identified. `x`: other ratings, in which categories and
# raters have the same indices as in the fit; NULL for the fitted ratings.
posterior <- function(fit, x = NULL) {
  if (is.null(x) && !is.null(fit$posterior)) return(fit$posterior)
  x <- x %||% fit$x
  if (fit$identified != "yes") missing_posterior(x) else compute_posterior(fit, x)
}

missing_posterior <- function(x) matrix(NA_real_, n_patterns(x), n_categories(x))

# Returns a matrix of posterior probabilities of the true categories, with a row per pattern of `x`
# and a column per category. `x`: other ratings than those of the fit. The fit must be identified.
compute_posterior <- function(fit, x) UseMethod("compute_posterior")

# If the model includes abstentions, the posterior probabilities given the answers are multiplied by
# the probability of the replies (which raters answer and which abstain), and normalised again.
compute_posterior.rater_fit <- function(fit, x) {
  posterior <- latent_probabilities(fit, x)$posterior
  if (is.null(fit$answered) || !has_abstentions(x)) return(posterior)
  # Probabilities are NA for raters without ratings in the fit. After the replacement by 1 for all
  # categories, replies of these raters have no effect.
  p_answered <- replace_na(fit$answered, 1)
  abstentions <- abstaining_raters(x)
  reply_probabilities <- rbind(p_answered[rating_rater(x), ], 1 - p_answered[abstentions$rater, ])
  softmax(log(posterior) + rowsum_rows(c(rating_pattern(x), abstentions$pattern),
    log(pmax(reply_probabilities, 1e-300)), n_patterns(x)))
}

compute_posterior.k_fit <- function(fit, x) {
  core_posterior_algebraic(x$patterns, pattern_weights(x), fit)
}

# Returns a function that refits the model with other weights of patterns (its argument `weight`)
# and returns the posterior probabilities. Returns NULL if the fit cannot be repeated quickly.
new_refit_function <- function(fit) UseMethod("new_refit_function")

# Only joint fits of ratings and scores have a field `refit`. For other fits, it is NULL.
new_refit_function.rater_fit <- function(fit) fit$refit

new_refit_function.k_fit <- function(fit) {
  patterns <- fit$x$patterns
  function(weight) core_posterior_algebraic(patterns, weight, core_fit_algebraic(patterns, weight))
}

new_refit_function.latent_fit <- function(fit) { # nolint: object_name.
  model <- model_of_fit(fit)
  function(weight) {
    core_fit_latent(
      fit$x$patterns, weight, fit$known, model, fit$method, 500L, starting_values(fit), no_tick
    )$posterior
  }
}

# Models with rater_model(confidence = TRUE). A rating has a category and a level of confidence.
# Correct ratings have one distribution over the levels, and wrong ratings have another. Both
# distributions are the same for all raters and categories. The core codes each combination of a
# category and a level as one outcome. Ratings without a level, such as answers of systems, have
# separate outcomes, one per category. The probability of such an outcome is a sum over levels.

uses_confidence <- function(model) isTRUE(model$confidence)

# Returns the indices of the levels of confidence that occur in ratings of cases with a positive
# weight.
find_used_levels <- function(x) {
  sort(unique(x$confidence$code[weights_of_cases(x)[x$confidence$case] > 0]))
}

# Returns the index of the level of confidence of each rating, 0 if the level is missing. Ratings
# are in the order of patterns. Patterns must have been split by confidence.
rating_levels <- function(x, model) {
  if (!uses_confidence(model) || is.null(x$confidence)) return(rep(0L, length(rating_rater(x))))
  confidence_of_ratings(x, first_cases(x)[rating_pattern(x)], rating_rater(x))
}

level_terms <- function(levels) {
  sprintf("confidence_%s[%s]", rep(c("right", "wrong"), each = length(levels)), levels)
}

# ---- Draws ---------------------------------------------------------------------------------------

# Draws the levels of confidence of simulated ratings, and returns field `confidence` of ratings. A
# simulated rating gets a level if the original rating has a level. The last four arguments have an
# element per simulated rating:
# * case_index, rater_index: indices of its case and its rater
# * rating_index: index of the original rating in the fit
# * is_right: is the simulated rating correct?
draw_confidence <- function(fit, case_index, rating_index, rater_index, is_right) {
  levels <- fit$x$confidence$levels
  probability <- t(matrix(coef(fit)[level_terms(levels)], ncol = 2L))
  has_confidence <- rating_levels(fit$x, fit$model)[rating_index] > 0L
  # Row 1 of `probability` is for correct ratings, row 2 for wrong ratings.
  list(levels = levels, case = case_index[has_confidence], rater = rater_index[has_confidence],
    code = draw_categories(probability, 2L - is_right[has_confidence]))
}

# Fits of user-defined models that consist of posterior probabilities only.

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
#' Intervals of [estimate_accuracy()] are computed by a bootstrap of cases, in which posterior
#' probabilities are fixed. The intervals are too narrow, because they ignore that the model was
#' estimated.
#'
#' @param x Ratings from which the posterior probabilities were computed: a [ratings()] object, or
#'   an object that [as_ratings()] can convert.
#' @param posterior Probabilities of the categories of each case, in \[0, 1\]. Each row sums to one.
#'   Either:
#'   * a data frame with a column `case` and a column per category, like the result of
#'     [ground_truth()];
#'   * a matrix with a row per case of `x` and a column per category. Row names must be the names of
#'     the cases, and column names the categories. If the matrix has no row names, its rows must be
#'     in the order of the cases, and `x` must be created from data with a row per case. If it has
#'     no column names, its columns must be in the order of the categories.
#' @param base_rates Base rates: a vector of probabilities that sum to one, in the order of the
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
#' # Use the shares of votes as posterior probabilities
#' votes <- as.matrix(tidy(x, "counts")[-1])
#' fit <- as_rater_fit(x, votes / rowSums(votes), model = "shares of votes")
#' fit
#' ground_truth(fit)
#' # Accuracy of the system
#' set.seed(1)
#' estimate_accuracy(fit, resampling = list(replicates = 200))
#' @export
as_rater_fit <- function(x, posterior, base_rates = NULL, ..., model = "user-defined model") {
  check_call()
  x <- as_ratings(x)
  if (in_database(x)) abort_no_cases("A table {.arg posterior} has a row per case")
  x <- with_votes(x)
  abort_argument_if(!is_string(model) || is.na(model) || model == "", "model",
    "must be a string that is not empty: the name of the model in printed results.", not = model)
  posterior <- check_posterior(posterior, x)
  weight <- weights_of_cases(x)
  rates <- colSums(posterior * weight) / sum(weight)
  if (!is.null(base_rates)) rates <- check_base_rates(base_rates, ncol(posterior))
  new_posterior_fit(x, posterior, rates, model)
}

# Creates a fit from posterior probabilities. `posterior`: a matrix (cases x categories). `rates`:
# base rates. `model`: name of the model. `kind`: class of the fit. `...`: further fields.
new_posterior_fit <- function(x, posterior, rates, model, ..., kind = "posterior_fit") {
  # Splits patterns of ratings, so that cases of a pattern have the same posterior probabilities.
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
  rater_count <- n_raters(x)
  n <- n_categories(x)
  rater_number <- rater_identity(x)
  cell <- rater_number[rating_rater(x)] + rater_count * (rating_category(x) - 1L)
  rating_counts <- rowsum_rows(cell,
    pick_rows(posterior * pattern_weights(x), rating_pattern(x)), rater_count * n)
  rating_counts <- aperm(array(rating_counts, c(rater_count, n, n)), c(1L, 3L, 2L))
  rating_counts <- rating_counts[rater_number, , , drop = FALSE]
  new_rater_fit(kind, x, model, "own", ...,
    identified = "yes", base_rates = unname(rates), rater_accuracy = accuracy,
    posterior = posterior,
    # NA for true categories that no case of the rater can have
    matrices = na_real(rating_counts / as.vector(rowSums(rating_counts, dims = 2L))),
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
  has_valid_shape <- is.numeric(posterior) && identical(dim(posterior), c(nrow(x), n))
  names <- if (has_valid_shape) colnames(posterior) %||% x$categories
  abort_argument_if(!setequal(names, x$categories), "posterior",
    "must be a matrix of {nrow(x)} case{?s} x {n} categories, or a data frame with a column
        {.val case} and a column per category.",
    x = if (has_valid_shape)
      "Its columns are {.val {names}}; categories are {.val {x$categories}}." else
      if (is.matrix(posterior)) "It is {nrow(posterior)} x {ncol(posterior)}, of type
        {typeof(posterior)}." else "It is {describe(posterior)}.")
  order_fault <- if (!is_table) why_not_by_position(posterior[, 1L], x)
  abort_argument_if(order_fault, "posterior",
    "must contain the names of the cases, as row names or in a column {.val case}.",
    x = order_fault)
  posterior <- pick_columns(posterior, match(x$categories, names))
  wrong_rows <- which(rowSums(is.finite(posterior) & posterior >= -1e-9) < n |
    abs(rowSums(posterior) - 1) > 1e-6)
  abort_argument_if(wrong_rows, "posterior",
    "Each row of {.arg posterior} must contain probabilities that sum to one.",
    x = "The row of case {.val {as.character(x$cases[wrong_rows[1L]])}} contains
        {format(posterior[wrong_rows[1L], ], digits = 3, trim = TRUE)}.",
    i = if (length(wrong_rows) > 1L) "{length(wrong_rows)} rows are wrong.", row = wrong_rows)
  posterior <- pmax(posterior, 0)
  unname(posterior / rowSums(posterior))
}

posterior_of_table <- function(table, x) {
  table <- replace_key_columns(table, names(x$keys))
  missing_columns <- setdiff(c("case", x$categories), names(table))
  abort_if(missing_columns, "columns",
    "{.arg posterior} must have the column {.val case} and a column per category.",
    x = "It lacks {.val {missing_columns}}.", arg = "posterior")
  case_labels <- as_label(table$case)
  case_names <- as_label(x$cases)
  has_same_order <- identical(case_labels, case_names) # a case may be repeated in both
  table_row <- if (has_same_order) seq_along(case_names) else match(case_names, case_labels)
  wrong_cases <- c(
    case_names[is.na(table_row)], if (!has_same_order) case_labels[duplicated(case_labels)]
  )
  abort_if(wrong_cases, "case",
    "{.arg posterior} must have one row for each case of {.arg x}.",
    x = "Cases without exactly one row are {.val {wrong_cases}}. For example, case
        {.val {wrong_cases[1L]}} has {sum(case_labels == wrong_cases[1L])} rows.",
    row = which(is.na(table_row)))
  as.matrix(as.data.frame(table)[table_row, x$categories, drop = FALSE])
}

# Raises an error if a fit has only posterior probabilities. `task`: subject of the message, the
# task that needs a model.
check_has_model <- function(fit, task) {
  abort_argument_if(inherits(fit, "posterior_fit"), "object",
    "{task} needs a model, but this fit has only posterior probabilities.",
    i = "Use a fit by {.fun fit_raters}. For predictions or a new fit, you can also compute new
        posterior probabilities with the software that fitted the model, and give them to
        {.fun as_rater_fit}.")
}

# Replaces the answers of systems in a fit, and returns the fit. `x`: the fitted ratings with other
# answers of systems.
replace_answers <- function(fit, x) UseMethod("replace_answers")

replace_answers.posterior_fit <- function(fit, x) {
  new_posterior_fit(x, pick_rows(fit$posterior, fit$x$index), fit$base_rates, fit$model$words)
}

replace_answers.rater_fit <- function(fit, x) {
  x <- join_patterns(x)
  pattern_index <- matching_patterns(fit$x, x)
  fit$posterior <- pick_rows(fit$posterior, pattern_index) # NULL stays NULL
  for (element in c("known", "task")) for (field in c("truth", "population")) {
    pattern_values <- fit[[element]][[field]]
    if (!is_empty(pattern_values)) fit[[element]][[field]] <- pattern_values[pattern_index]
  }
  fit$x <- x
  fit
}

fit_raters_only.posterior_fit <- function(fit, estimate) fit # nolint: object_name.

r_model_field.own_model <- function(model) "of_posterior" # nolint: object_name.

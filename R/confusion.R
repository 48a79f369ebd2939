#' Confusion matrices from four parameters
#'
#' Computes the probabilities with which a rater or a system (classifier) gives each category, for
#' each true category, as in the simulations of Lehner (2015). The paper calls the four parameters
#' IPC (`accuracy`), PDA (`difficulty`), AD (`dispersion`) and PER (`error_range`).
#'
#' The matrix is computed in these steps:
#'
#' 1. The probability of a correct answer is `accuracy + difficulty` in every category, limited to
#'    \[0, 1\].
#' 2. The remaining probability of each row is distributed over the wrong categories in proportion
#'    to `dispersion^-distance`. Neighbouring categories have distance one.
#' 3. Each probability of a wrong category is multiplied by an independent random number, uniform on
#'    \[1 - `error_range`, 1 + `error_range`\].
#' 4. Rows are rescaled to sum to one; see the argument `normalise`.
#'
#' @param categories Number of categories, from 2 to 1000, or a vector of their labels in order.
#' @param accuracy Probability of a correct answer, in \[0, 1\].
#' @param difficulty Number added to the accuracy, in \[-1, 1\], by default 0. Negative numbers make
#'   cases harder.
#' @param dispersion Number above 0 by which the probability of an error is divided with each
#'   further step from the true category. With 1 (the default) all errors are equally probable.
#' @param error_range Largest deviation from 1 of the random numbers in step 3, in \[0, 1\]. With 0
#'   (the default) there are no random numbers. Otherwise [set.seed()] makes the result
#'   reproducible.
#' @param base_rates Probabilities of the true categories: a [base_rates()] result, or a vector in
#'   the order of `categories` that sums to one. By default (`NULL`) all are equal.
#' @param normalise Rescaling in step 4. `"expected"` (the default): the diagonal is multiplied by
#'   one factor, so that the mean accuracy, weighted by `base_rates`, does not change. `"row"`: only
#'   wrong categories are rescaled, so that the accuracy of each category does not change.
#' @return A matrix of class `confusion_matrix` with the true category in rows and the given
#'   category in columns. Cells are probabilities, and rows sum to one.
#'
#'   `tidy()` returns a tibble with a row per cell: `truth` (true category), `rating` (given
#'   category) and `probability`. `glance()` returns a tibble with one row: the number of
#'   `categories`; the mean `accuracy`, weighted by `base_rates`; and the `lowest` and `highest`
#'   accuracy of a true category.
#'
#' @family simulation
#' @templateVar where Tables 5-7
#' @template ref-lehner
#' @examples
#' # All errors equally probable (Table 5 of the paper)
#' confusion_matrix(LETTERS[1:5], accuracy = 0.6)
#' # Harder cases, and errors mostly in neighbouring categories (Table 6)
#' confusion_matrix(LETTERS[1:5], accuracy = 0.6, difficulty = -0.2, dispersion = 2)
#' @export
confusion_matrix <- function(categories, accuracy, difficulty = 0, dispersion = 1, error_range = 0,
                             base_rates = NULL, normalise = c("expected", "row"), ...) {
  check_call(except = "accuracy")
  abort_argument_if(inherits(categories, "ratings"), "categories",
    "must be the labels of the categories, or their number.", not = categories,
    i = matrix_hints)
  check_call()
  labels <- check_category_labels(categories)
  normalise <- check_choice(normalise)
  accuracy <- check_number(accuracy, "accuracy", 0, 1)
  difficulty <- check_number(difficulty, "difficulty", -1, 1)
  dispersion <- check_number(dispersion, "dispersion", 0, open_min = TRUE)
  error_range <- check_number(error_range, "error_range", 0, 1)
  base_rates <- check_base_rates(base_rates, length(labels))
  matrix <- core_confusion_matrix(
    accuracy + difficulty, base_rates, dispersion, error_range, normalise,
    if (error_range > 0) draw_seed() else c(0L, 0L)
  )
  structure(matrix, dimnames = list(truth = labels, rating = labels), base_rates = base_rates,
    class = c("confusion_matrix", "fallible_result", "matrix", "array")
  )
}

# Hints in error messages: how to compute matrices from ratings.
matrix_hints <- c(
  "To count the pairs of ratings of each case, use
   {.code tidy(agreement(x), \"coincidence\")}.",
  "To compare raters with the estimated truth, use
   {.code confusion(fit_raters(x, dawid_skene()))}.",
  "For systems, use {.code confusion(x)}, where {.arg x} has {.arg systems}."
)

# Checks the argument `categories`, and returns the labels of categories. If it is a number n, the
# labels are "1" to "n".
check_category_labels <- function(categories) {
  if (is.numeric(categories) && length(categories) == 1L) {
    return(as.character(seq_len(check_count(categories, "categories", 2L, max_categories))))
  }
  labels <- check_declared_categories(categories)
  abort_argument_if(length(labels) < 2L || length(labels) > max_categories, "categories",
    "must be 2 to {max_categories} labels, or the number of categories.",
    x = "Found {length(labels)} label{?s}.")
  labels
}

# Checks base rates of `n` categories and returns them as a numeric vector. `base_rates`: a numeric
# vector, a data frame with one row (a result of base_rates()), or NULL for equal base rates.
check_base_rates <- function(base_rates, n) {
  if (is.null(base_rates)) return(rep(1 / n, n))
  if (is.data.frame(base_rates) && nrow(base_rates) == 1L) base_rates <- unlist(base_rates)
  abort_argument_if(!is_distribution(base_rates, n, 1e-8), "base_rates",
    "must be {n} probabilities that sum to one.",
    x = if (is.numeric(base_rates)) "Found {length(base_rates)} number{?s}: {.val {base_rates}},
        whose sum is {format(sum(base_rates), digits = 6)}." else "It is {describe(base_rates)}.")
  as.double(base_rates)
}

# Is `x` a vector of `n` probabilities that sum to one, with a tolerance of `slack`?
is_distribution <- function(x, n = length(x), slack = 1e-6) {
  is.numeric(x) && length(x) == n && all(is.finite(x) & x >= 0) && abs(sum(x) - 1) < slack
}

schema_of.confusion_matrix <- function(x) { # nolint: object_name.
  correct_probability <- diag(x)
  accuracy <- sum(attr(x, "base_rates") * correct_probability)
  summary_text <- paste0(count_noun(nrow(x), "category"), ", accuracy ", format_decimals(accuracy))
  new_schema(
    list(cells = table_of_matrix(x)),
    list(
      categories = nrow(x), accuracy = accuracy, lowest = min(correct_probability),
      highest = max(correct_probability)
    ),
    summary_text, head = paste0(summary_text, "; true category in rows"),
    shown = view_of_matrix(x, "truth", most = Inf)
  )
}

# Converts a confusion matrix to a table with a row per cell, for tidy().
table_of_matrix <- function(matrix) {
  columns_tibble(
    truth = rep(rownames(matrix), each = ncol(matrix)),
    rating = rep(colnames(matrix), nrow(matrix)), probability = as.vector(t(matrix))
  )
}

# Returns the list of confusion matrices to print or draw. It has a matrix per rater or, if all
# raters have the same matrix, only this matrix. `matrices`: a result of confusion() of a fit.
shown_matrices <- function(matrices) {
  if (length(matrices) > 1L && n_distinct(matrices) == 1L) list(`all raters` = matrices[[1L]]) else
    unclass(matrices)
}

# print() shows at most six matrices.
schema_of.rater_confusion <- function(x) { # nolint: object_name.
  matrices <- shown_matrices(x)
  n_hidden <- length(matrices) - 6L
  matrix_titles <- head(paste("Confusion matrix of", names(matrices)), 6L)
  if (n_hidden > 0L) matrix_titles[[6L]] <-
    sprintf("%s; see confusion() for %d more", matrix_titles[[6L]], n_hidden)
  new_schema(
    list(cells = function(x) bind_parts(structure(unclass(x), column = "rater"), table_of_matrix)),
    list(raters = length(x), categories = nrow(x[[1L]])),
    paste("confusion matrices of", count_noun(length(x), "rater")),
    shown =
      Map(view_of_matrix, unname(head(matrices, 6L)), "truth", most = Inf, title = matrix_titles),
    notes = c(
      if (length(matrices) < length(x) && !anyNA(x[[1L]])) paste0("All raters have the same matrix",
        if (isTRUE(attr(x, "has_common_matrix"))) "; dawid_skene() has one for each rater"),
      if (isTRUE(attr(x, "has_equal_errors"))) one_line("The model assumes that all wrong ratings of
        a case are equally probable; with errors = \"free\", they are estimated"),
      "True category in rows"
    ), more = "tidy(), plot()"
  )
}

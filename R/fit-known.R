# Known truth and known raters: checks the user's arguments and converts them for the core.

# Field `known` of a fit for which neither truths of cases nor error rates of raters are known.
nothing_known <- list(truth = integer(), raters = list())

# Checks the arguments `known_truth` and `known_raters` of fit_raters(). Returns a list:
# * x: the ratings; their patterns are split, so that all cases of a pattern have the same known
#   truth, or none
# * known: a list for the core, described below
# * given: the arguments in the form in which the user gave them, for refits
#
# Element `known` contains `truth`, the index of the true category of each pattern (0 if unknown),
# and `raters`, a list with a confusion matrix or NULL for each rater. If some raters have a
# calibration sample, it also contains `counts`, a list with a table of counts or NULL for each
# rater.
resolve_known <- function(x, truth, raters) {
  known_values <- nothing_known
  if (!is.null(truth)) {
    x <- split_patterns(x, list(.truth = check_known_truth(truth, x)))
    known_values$truth <- x$patterns$values$.truth
  }
  if (!is.null(raters)) {
    known_values$raters <- check_known_raters(raters, x)
    is_calibration_sample <- map_lgl(known_values$raters, is.list)
    if (any(is_calibration_sample)) {
      known_values$counts <- lapply(known_values$raters, function(element) {
        if (is.list(element)) element$counts
      })
      known_values$raters[is_calibration_sample] <- list(NULL)
    }
  }
  list(x = x, known = known_values, given = list(truth = truth, raters = raters))
}

# Returns the index of the true category of each case, 0 if the truth is unknown. `truth`: argument
# `known_truth` of fit_raters(). `arg`: name of the argument in messages.
check_known_truth <- function(truth, x, arg = "known_truth") {
  if (isTRUE(truth)) truth <- stored_truth(x)
  truth_table <- as_truth_table(truth, arg, names(x$keys))
  cases <- as_label(x$cases)
  unknown_rows <- which(!truth_table$case %in% cases)
  abort_if(unknown_rows, "case", "{.arg {arg}} must name cases of {.arg x}.",
    x = "{.val {truth_table$case[unknown_rows]}} {?is/are} not among them. The first case of
      {.arg x} is {.val {cases[[1L]]}}.",
    i = "If a case has no rating, add a row with the rating {.code NA} to the data of
      {.fun ratings}.",
    row = unknown_rows)
  if (isTRUE(x$cleaned)) truth_table$truth <-
    clean_label(c(x$categories, truth_table$truth))[-seq_along(x$categories)]
  known_truth_codes(truth_table, cases, x$categories, arg)
}

# Checks argument `known_raters` of fit_raters(). Returns a list with an element per rater. An
# element is a confusion matrix of probabilities, a list of `counts` (the table of a calibration
# sample), or NULL if the rater is not known.
check_known_raters <- function(raters, x) {
  check_named_raters(x, "known_raters", "{.arg known_raters} needs the rater of each rating.")
  is_vector <- is.list(raters) || is.numeric(raters) && is.null(dim(raters))
  abort_argument_if(!is_vector || !is_uniquely_named(raters), "known_raters",
    "must be a list named by rater, with each name once.", not = raters,
    i = "Give a confusion matrix, or the probability of a correct rating, for each known rater.")
  unknown_raters <- setdiff(names(raters), x$raters)
  abort_argument_if(unknown_raters, "known_raters", "must name raters of {.arg x}.",
    x = "{.val {unknown_raters}} {?is/are} not among {.val {x$raters}}.")
  lapply(setNames(nm = x$raters), function(rater) {
    if (rater %in% names(raters)) check_known_matrix(raters[[rater]], rater, x$categories)
  })
}

check_known_matrix <- function(matrix, rater, categories) {
  n <- length(categories)
  if (is.numeric(matrix) && is.null(dim(matrix)) && length(matrix) == 1L) {
    return(matrix_with_equal_errors(check_number(matrix, paste0("known_raters$", rater), 0, 1), n))
  }
  problem <- why_no_matrix(matrix, n, 0)
  is_count_table <- is.null(problem) && are_counts(matrix)
  if (!is_count_table) problem <- problem %||% describe_wrong_row_sum(matrix, 1e-6)
  abort_argument_if(problem, "known_raters",
    "The element {.val {rater}} of {.arg known_raters} must be a probability in [0, 1] or a
        {n} x {n} matrix. Rows of the matrix are true categories, columns are ratings. It contains
        counts, or probabilities that sum to one in each row.", x = problem,
    i = "For example, counts of the categories pass and fail:
        {.code rbind(pass = c(pass = 46, fail = 4), fail = c(pass = 6, fail = 44))}.")
  if (is.null(dimnames(matrix))) inform_once(paste("matrix", rater),
    "The matrix of {.val {rater}} in {.arg known_raters} has no names of rows and columns. Its rows
     and columns are assumed to be in the order of the categories: {.val {categories}}.")
  matrix <- sort_matrix(categories, matrix, rater)
  if (is_count_table) list(counts = matrix) else matrix / rowSums(matrix)
}

# Returns TRUE if a matrix contains counts, FALSE if it contains probabilities.
are_counts <- function(x) {
  is.numeric(x) && is.matrix(x) && all(as.double(x) %in% round(as.double(x))) &&
    (inherits(x, "table") || any(rowSums(x) > 1))
}

# Puts named rows and columns of a matrix into the order of the categories, and drops the names.
sort_matrix <- function(categories, matrix, rater) {
  category_order <- lapply(1:2, function(margin) {
    names <- dimnames(matrix)[[margin]] %||% categories
    abort_if(!setequal(names, categories), "category",
      "The matrix of rater {.val {rater}} must have the categories of {.arg x}.",
      x = "It has {.val {names}}.", row = NA_integer_, column = rater,
      found = setdiff(names, categories))
    match(categories, names)
  })
  matrix(as.double(matrix[category_order[[1L]], category_order[[2L]]]), length(categories))
}

# Returns the default model of fit_raters(), given its argument `known_raters`. Counts of a
# calibration sample need a model with a separate confusion matrix for each rater.
default_model <- function(known_raters) {
  if (is.list(known_raters) && any(map_lgl(known_raters, are_counts))) dawid_skene() else k_model()
}

# Returns the number of cases with known truth that each rater rated, a matrix (raters x true
# categories).
count_known_by_truth <- function(fit) {
  x <- fit$x
  # Fits from the calibration sample of a single rater: counts the cases of this sample
  if (!is.null(fit$calibrated)) return(t(rowSums(fit$calibrated$counts)))
  raters_of_patterns <- unique(data.frame(pattern = rating_pattern(x), rater = rating_rater(x)))
  raters_of_patterns <- raters_of_patterns[is_known_pattern(fit)[raters_of_patterns$pattern], ]
  # Weights of cases with known truth (patterns x true categories). The weight of a case is in the
  # column of its true category.
  weights_by_truth <- pattern_weights(x) * indicator_matrix(fit$known$truth, n_categories(x))
  rowsum_rows(raters_of_patterns$rater,
    pick_rows(weights_by_truth, raters_of_patterns$pattern), n_raters(x))
}

# Returns, for each coefficient of the fit, the number of cases with known truth from which the
# coefficient is estimated; NA if there are no such cases.
count_known_by_coefficient <- function(fit) {
  x <- fit$x
  terms <- names(fit$coefficients)
  if (!uses_known_truth(fit) || !weights_are_counts(x)) return(rep(NA_real_, length(terms)))
  n_known <- rowSums(count_known_by_truth(fit))[match(terms, rater_terms(x))]
  n_known[terms %in% c(rate_terms(x), "rater_accuracy")] <-
    sum(pattern_weights(x)[is_known_pattern(fit)])
  replace(n_known, n_known %in% 0, NA)
}

# Returns TRUE if the fit uses cases with known truth, or a calibration sample.
uses_known_truth <- function(fit) any(is_known_pattern(fit)) || !is.null(fit$calibrated)

# Returns TRUE for patterns of ratings whose true category is known.
is_known_pattern <- function(fit) seq_len(n_patterns(fit$x)) %in% which(fit$known$truth > 0L)

# Returns TRUE for raters whose confusion matrix is known. If `field` is "counts", returns TRUE for
# raters who have a calibration sample.
is_known_rater <- function(fit, field = "raters") {
  seq_along(fit$x$raters) %in% which(lengths(fit$known[[field]]) > 0L)
}

# Returns TRUE for patterns whose true category can be estimated: patterns with ratings or with a
# known truth. Fits of classifier scores store the result in field `judged`.
is_usable_pattern <- function(fit) fit$judged %||% (is_rated_pattern(fit$x) | is_known_pattern(fit))

# Returns sampling weights of gold cases (cases with known truth), the inverse of the sampling
# probability of each case. All weights are 1 if the probabilities are not given. `gold`: a result
# of read_gold(). `gold_rows`: positions of the cases among the gold cases.
sampling_weights <- function(gold, gold_rows) {
  if (is.null(gold$probability)) rep(1, length(gold_rows)) else 1 / gold$probability[gold_rows]
}

#' Ratings with known truth
#'
#' Stores the true categories of cases in a ratings object. In simulations, for example, these
#' categories are known. [truth()] returns the stored truth, [true_accuracy()] computes the accuracy
#' of systems (classifiers) from it, and [calibration()] compares estimated probabilities with it.
#' Estimates use the stored truth only if [fit_raters()] or [estimate_accuracy()] is called with
#' `known_truth = TRUE`.
#'
#' @param x A [ratings()] object, or an object that [as_ratings()] can convert.
#' @param truth The true categories, which must be among the categories of `x`. The truth of a case
#'   is unknown if its value is `NA` or if `truth` does not contain the case. One of:
#'   * a vector of categories named by case;
#'   * a data frame with columns `case` and `truth` (or `category`);
#'   * a vector without names, in the order of the cases, if `x` was created from data with a row
#'     per case.
#' @param expected True accuracies of the systems, in \[0, 1\], in the population from which the
#'   cases are drawn. These accuracies are known only in simulations. A vector named by system, or
#'   in the order of the systems of `x`; an unknown accuracy is `NA`. `NULL`, the default: all
#'   accuracies are unknown.
#' @param ... Not used.
#' @return The [ratings()] object `x` with the truth. The new truth replaces any truth that `x`
#'   contained before.
#' @family simulation
#' @seealso [simulation_study()] and [plan_cases()], which accept a function that returns ratings
#'   with known truth.
#' @examples
#' # Four raters, and a system whose answers are used as the truth
#' x <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' x <- with_truth(x, lehner2015$system)
#' truth(x)
#' # Compare the estimated probabilities of the categories with the truth
#' calibration(ground_truth(x), bins = 4)
#'
#' # A user-defined simulation: raters who tire
#' tired <- function(n) {
#'   truth <- sample(c("no", "yes"), n, replace = TRUE)
#'   other <- ifelse(truth == "no", "yes", "no")
#'   right <- function(p) ifelse(runif(n) < p, truth, other)
#'   tiring <- seq(0.9, 0.6, length.out = n)
#'   x <- data.frame(a = right(tiring), b = right(tiring), c = right(0.8), system = right(0.9))
#'   with_truth(ratings(x, raters = a:c, systems = system), truth, expected = 0.9)
#' }
#' # Share of correct answers of the system in 100 simulated cases
#' set.seed(1)
#' true_accuracy(tired(100))
#' @export
with_truth <- function(x, truth, expected = NULL, ...) {
  check_call()
  x <- as_ratings(x)
  if (is.null(truth) || !is.atomic(truth) || !is.null(c(names(truth), dim(truth)))) {
    truth_code <- check_known_truth(truth, x, "truth")
    truth_code <- replace(truth_code, truth_code == 0L, NA)
  } else {
    if (in_database(x)) abort_no_cases("{.arg truth} needs the ratings of each case")
    order_fault <- why_not_by_position(truth, x)
    abort_argument_if(order_fault, "truth",
      "must be named by case, or have one category per case of {.arg x} in the order of the cases.",
      x = order_fault)
    truth_code <- truth_codes(as_label(truth), x$categories, "truth")
  }
  abort_argument_if(all(is.na(truth_code)), "truth", "must be known for at least one case.",
    x = "It is missing for all {length(truth_code)} case{?s}.")
  truth_shares <- tabulate(truth_code, n_categories(x)) / sum(!is.na(truth_code))
  systems <- x$systems
  expected <- expected %||% rep(NA_real_, length(systems))
  is_valid <- is_number_or_na(expected) && length(expected) == length(systems) &&
    all(is.na(expected) | (expected >= 0 & expected <= 1))
  position <- match(systems, names(expected) %||% systems)
  abort_argument_if(!is_valid || anyNA(position), "expected",
    "must be a probability in [0, 1] for each system of {.arg x}, or NULL.",
    x = if (is_valid) "Its names are {.val {names(expected)}}." else "It is {describe(expected)}.",
    i = if (!is_empty(systems)) "Systems are {.val {systems}}.")
  x$truth <- list(
    category = truth_code, expected = setNames(as.double(expected)[position], systems),
    base_rates = setNames(truth_shares, x$categories)
  )
  x
}

# Returns the true categories that are stored in the ratings `x`, as a data frame. Raises an error
# if `x` contains no truth.
stored_truth <- function(x) {
  abort_argument_if(is.null(x$truth), "known_truth",
    "{.code known_truth = TRUE} uses the truth stored in {.arg x}, but {.arg x} has no truth.",
    i = "Give the column of the truth to {.fun ratings}, as its argument {.arg truth}. Or let
        {.arg known_truth} be a vector of categories named by case, or a data frame with columns
        {.val case} and {.val truth}.")
  truth(x)
}

#' Consensus labels and their probabilities
#'
#' Computes the probability of each category for each case, given the ratings of the case by several
#' raters (people or programs). The most probable category is the *consensus label*. The
#' probabilities are a *soft label*, which can be used as a training target. Answers of systems (the
#' classifiers to evaluate) are not used.
#'
#' @section Labels from ratings: If `fit` is a [ratings()] object, probabilities are computed in
#' three steps.
#'
#' 1. *Model.* Two models of the raters are fitted, and the posterior probabilities of the
#'    categories are averaged. The first model is [dawid_skene()], which shrinks the confusion
#'    matrices of the raters towards a common matrix. In the second model, all errors in the common
#'    matrix are equally probable. For ratings given as counts, the only model is [k_model()].
#'
#' 2. *Correlated errors.* The models assume that raters err independently, which makes
#'    probabilities too extreme. The log likelihood of the `r` ratings of a case is therefore
#'    multiplied by `1 / (1 + (r - 1) rho)`. Here `rho` is the correlation, over cases, of two
#'    raters being correct. The default .43 is the mean of 25 public data sources. For independent
#'    raters, such as diagnostic tests, use `rho = 0` and `votes = 0`.
#'
#' 3. *Votes.* The result is averaged with smoothed vote shares, whose weight is `votes`. The
#'    smoothed vote share of category `k` is `(n_k + 2 / K) / (n + 2)`. Here `n_k` is the number of
#'    votes for `k`, `n` is the number of all votes for the case, and `K` is the number of
#'    categories. With `votes = 1`, no model is used. A group of raters has one vote, and so have
#'    the reruns of a rater; see [rater_groups].
#'
#' On 60 public data sources, 76% of these labels were correct, compared with 74% of majority
#' labels. The mean probability of the most probable category is the expected share of correct
#' labels. In these sources, the mean probability was .05 too low for people and .10 too high for
#' language models. It is too low for people because steps 2 and 3 assume that raters share errors.
#'
#' Simulated crowds had 30 or 300 raters with independent errors, and 3 to 10 ratings of each case.
#' In these crowds, the mean probability was .14 too low with two categories and .24 too low with
#' six. With `rho = 0` and `votes = 0`, it was right in these crowds, but .05 to .1 too high if
#' raters shared errors on 30% of the cases. Gold cases correct the mean probability.
#'
#' Do not estimate the accuracy of these labels from the same ratings. The estimate would be too
#' high, because labels that are computed from ratings agree with these ratings too often. With a
#' random sample of cases with known truth, the estimate is valid.
#'
#' To estimate base rates (shares of cases with each true category), use `tidy(x, "categories")`.
#' Mean probabilities are too high for rare categories, because vote shares are smoothed.
#'
#' @section Known truth: Cases with known truth are called gold cases. Their probabilities are 0 and
#' 1, and the models use their truth. Gold cases that are a random sample of at least five rated
#' cases (argument `gold_sample`) also calibrate the probabilities of the other cases. The
#' probability `P_k` of category `k` is replaced by a number proportional to `a_k P_k^b`. The power
#' `b` makes probabilities match the share of correct labels among gold cases, and the factors `a_k`
#' adjust the frequencies of the categories. The base rates of `tidy(x, "categories")` are not
#' calibrated.
#'
#' Ratings by a single rater need gold cases. Vote shares are then not used.
#'
#' @section Abstentions: A rater may abstain, for example by the answer "cannot tell". Declare such
#' answers by `abstain` of [ratings()]. Abstentions contain information if the probability of an
#' answer depends on the true category. Two fits of [dawid_skene()] are therefore compared: one
#' treats abstentions as missing ratings, the other has a probability of answering for each rater
#' and true category. The fits are compared by their log likelihood of the answers, conditional on
#' which raters answered. The second fit is used if its log likelihood is higher by more than
#' log(20). The labels of the second fit are less accurate than those of the first if raters abstain
#' for other reasons, such as difficult cases.
#'
#' Some labelling functions (programs that label a part of the cases) always give the same category
#' or abstain. If all raters are of this kind, labels are computed from the abstentions only.
#' Abstentions are then assumed to be independent given the truth. Two categories need at least
#' three such raters. More categories need more raters; with too few, labels are `NA`.
#'
#' @section Labels that are NA: Labels from ratings are `NA`, with a warning that names the reason,
#' if:
#' * raters agree no better than by chance, given how often they use each category;
#' * there are two raters, and their ratings are not positively associated;
#' * no case has two ratings. Raters who always give the same answer do not count.
#'
#' Labels are never `NA` with `votes = 1` or with gold cases. With two raters there is a warning,
#' because priors decide which rater is right if they disagree.
#'
#' @section Labels of a model: If `fit` is a [fit_raters()] result, probabilities are the posterior
#' probabilities of its model, without steps 2 and 3 unless `rho` or `votes` is given. They are `NA`
#' if the fit is not identified. If `fit` is an [estimate_accuracy()] result by method `"average"`
#' without a `model`, labels are computed from its ratings, as above. For other estimates, they are
#' computed from the `model` of the estimate.
#'
#' @srrstats {UL1.3, UL3.4} labels keep cases and categories, and have probabilities
#' @srrstatsNA {UL1.3a, UL3.0, UL3.1, UL7.2} labels are the categories of the ratings, none is made
#' @param fit A [ratings()] object or an object that [as_ratings()] can convert, or the result of
#'   [fit_raters()] or [estimate_accuracy()].
#' @param format `"wide"`, the default, with a column for each category, or `"long"`, with a row for
#'   each case and category.
#' @param rho Correlation of the errors of raters, in \[0, 1\]; 0 means independent errors. The
#'   default `NULL` is .43 for labels from ratings, and 0 for labels of a model; see the sections
#'   with these names.
#' @param votes Weight of smoothed vote shares, in \[0, 1\]. The default `NULL` is .5 for labels
#'   from ratings, and 0 for labels of a model.
#' @param known_truth Gold cases (cases with known truth): a vector of categories named by case, a
#'   data frame with columns `case` and `truth`, `TRUE` for the truth that the ratings contain, or a
#'   [gold_cases()] result. `NULL`, the default: there are no gold cases. `known_truth` cannot be
#'   given if `fit` is a [fit_raters()] result, or an estimate with gold cases.
#' @param gold_sample How gold cases were chosen: `"random"`; the probability with which each case
#'   was chosen, as in the argument `sample` of [gold_cases()]; or `"given"` (chosen by hand).
#'   `NULL`, the default, is treated as `"given"`, with a warning.
#' @param object A `ground_truth()` result.
#' @param ... Not used.
#' @return For `"wide"`, a tibble of class `ground_truth` with a row per case: the column `case`,
#'   and a column of probabilities for each category. Rows sum to one. [tidy()][tidy.ground_truth]
#'   returns further tables. For `"long"`, a tibble with columns `case`, `category` (a factor) and
#'   `probability`. For ratings in a database, the result is a lazy table with the columns of
#'   `"wide"`; see [ratings-database].
#'
#'   `predict()` returns a tibble with a row per case: `case`; `category`, the most probable one (a
#'   factor); `probability`, its probability; and `tied`, the number of categories with this
#'   probability. If `tied` is above 1, `category` is the first of them.
#' @family estimation
#' @templateVar where Table 3
#' @template ref-lehner
#' @examples
#'
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' truth <- ground_truth(x)
#' truth
#' # The consensus label of each case
#' predict(truth)
#' # A matrix of targets for training
#' as.matrix(truth[-1])
#' # Smoothed majority votes, without a model
#' ground_truth(x, votes = 1)
#' # Posterior probabilities of a model, as in the paper, and as a long table
#' fit <- fit_raters(x)
#' ground_truth(fit)
#' ground_truth(fit, format = "long")
#' @export
ground_truth <- function(fit, format = c("wide", "long"), rho = NULL, votes = NULL,
                         known_truth = NULL, gold_sample = NULL, ...) {
  check_call()
  format <- check_choice(format)
  if (!is.null(rho)) check_number(rho, "rho", 0, 1)
  if (!is.null(votes)) check_number(votes, "votes", 0, 1)
  labels <- finish_labels(initial_labels(fit, known_truth, gold_sample, votes), rho, votes)
  x <- labels$x
  if (format == "wide") return(new_ground_truth(x, labels$posterior, labels))
  if (in_database(x)) {
    abort_no_cases("The long format needs the cases",
      hint = "{.code format = \"wide\"} gives a lazy table.")
  }
  long_probability_table(x$cases, category_factor(seq_along(x$categories), x),
    pick_rows(labels$posterior, pattern_of_case(x)))
}

# Returns probabilities (cases x categories) as a long table, with a row per case and category.
long_probability_table <- function(cases, categories, probability) {
  tibble(
    case = rep(cases, each = length(categories)), category = rep(categories, length(cases)),
    probability = as.vector(t(probability))
  )
}

#' @rdname ground_truth
#' @export
predict.ground_truth <- function(object, ...) {
  check_dots_empty(...)
  probability <- probability_matrix(object, "object")
  top_categories <- most_probable(probability)
  top_categories$category <-
    factor(colnames(probability)[top_categories$category], colnames(probability))
  new_tibble(c(list(case = object$case), top_categories), nrow = nrow(object))
}

#' Calibration of probabilities
#'
#' Checks whether estimated probabilities of categories agree with known true categories. The
#' probabilities of all categories of all cases are grouped into bins. In each bin, the mean
#' probability is compared with the share of probabilities whose category is the true one. If
#' probabilities are calibrated, the two numbers differ only by sampling error.
#'
#' @param x A [ground_truth()] result, or a data frame with the same columns: `case`, and a column
#'   of probabilities for each category.
#' @param truth The true categories: a data frame with columns `case` and `truth` (or `category`),
#'   or a vector of categories named by case. `NULL`, the default, uses the [truth()] that the
#'   ratings contain. Cases with unknown truth are left out, and so are cases whose truth was used
#'   by [ground_truth()].
#' @param bins Number of bins of equal width from 0 to 1, by default 10. A probability equal to the
#'   limit of two bins belongs to the lower bin.
#' @param conf_level Nominal coverage of the intervals, in (0, 1); by default 0.9, see
#'   [fallible-options].
#' @return A tibble of class `calibration` with a row per bin that is not empty.
#'   * `lower`, `upper`: limits of the bin.
#'   * `probability`: mean of the probabilities in the bin.
#'   * `share`: share of these probabilities whose category is the true one.
#'   * `conf.low`, `conf.high`: Wilson's interval for `share`. It treats the probabilities of a case
#'     as independent.
#'   * `n`: number of probabilities in the bin.
#'
#'   If the ratings have weights of cases, means and shares are weighted. Weights that are whole
#'   numbers are numbers of cases: a case with weight 3 counts three times in `n`.
#'
#'   `glance()` returns a tibble with one row.
#'   * `bins`, `cases`: number of bins that are not empty, and number of cases.
#'   * `outside`: number of bins whose `probability` is outside the interval.
#'   * `error`: mean absolute difference between `probability` and `share`, weighted by `n`
#'     (expected calibration error).
#'   * `conf_level`: nominal coverage.
#' @family estimation
#'
#' @examples
#' # Simulated ratings contain the truth
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), n = 500))
#' calibration_table <- calibration(ground_truth(fit_raters(x)))
#' calibration_table
#' # In this example, the answers of the system are used as the truth
#' y <- ratings(lehner2015, raters = rater1:rater4, case = case)
#' calibration(ground_truth(y), truth = setNames(lehner2015$system, lehner2015$case), bins = 4)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # Mean probability and share of true categories in each bin
#' autoplot(calibration_table) + ggplot2::theme_bw()
#' @order 1
#' @export
calibration <- function(x, truth = NULL, bins = 10L, conf_level = default_conf_level(), ...) {
  check_call()
  probability <- probability_matrix(x, "x")
  bins <- check_count(bins, "bins")
  conf_level <- check_level(conf_level)
  truth <- truth %||% attr(x, "truth")
  abort_argument_if(is.null(truth), "truth", "Calibration needs the {.arg truth} of some cases.",
    i = "{.arg truth} can be left out only for ratings from {.fun simulate_ratings} or
        {.fun with_truth}.")
  true_category <- known_truth_codes(
    as_truth_table(truth, "truth"), as_label(x$case), colnames(probability), "truth"
  )
  row_size <- row_sizes(x, attr(x, "about"))
  is_gold <- as_label(x$case) %in% attr(x, "about")$known
  is_used <- true_category > 0L & !is.na(probability[, 1L]) & !is_gold & row_size$weight > 0
  abort_argument_if(!any(is_used), "truth",
    "No case in {.arg x} has a known truth and an estimated probability.",
    i = if (any(is_gold)) "Cases whose truth was used in {.fun ground_truth} are left out. Give
        the truth of other cases." else
      if (anyNA(probability)) "In {.arg x}, the probabilities of some cases are {.code NA}.")
  probability <- pick_rows(probability, is_used)
  is_true_category <- col(probability) == true_category[is_used]
  row_size <- lapply(row_size, `[`, is_used)
  bin_sums <- rowsum(
    cbind(1, as.vector(probability), as.vector(is_true_category), row_size$cases / row_size$weight,
      row_size$weight / row_size$cases) * row_size$weight,
    as.vector(pmax(ceiling(probability * bins - 1e-9), 1))
  )
  bin_number <- as.double(rownames(bin_sums))
  bin_sums <- unname(bin_sums)
  bin_weight <- bin_sums[, 1L]
  share <- bin_sums[, 3L] / bin_weight
  # The second argument is the effective number of probabilities in each bin (Kish's formula).
  # Column 5 of `bin_sums` is the sum of weights if they are counts, else of squared weights.
  share_limits <- wilson_interval(share, bin_weight^2 / bin_sums[, 5L], normal_quantile(conf_level))
  new_calibration(columns_tibble(
    lower = (bin_number - 1) / bins, upper = bin_number / bins,
    probability = bin_sums[, 2L] / bin_weight, share = share, conf.low = share_limits[, 1L],
    conf.high = share_limits[, 2L], n = bin_sums[, 4L]
  ), list(conf_level = conf_level, cases = sum(row_size$cases)))
}

# Creates the result of calibration(). `calibration_properties`: a list of the level of the
# intervals, and the number of cases.
new_calibration <- function(table, calibration_properties) {
  n_bins_outside_interval <-
    sum(table$probability < table$conf.low | table$probability > table$conf.high)
  mean_error <- weighted.mean(abs(table$share - table$probability), table$n)
  new_result("calibration",
    again = new_calibration, tables = list(bins = table), about = calibration_properties,
    facts = list(
      bins = nrow(table), cases = calibration_properties$cases, outside = n_bins_outside_interval,
      error = mean_error,
      conf_level = calibration_properties$conf_level
    ),
    line = fill_template("Probabilities differ from shares of true categories by %s on average,
      and are outside the interval in %s of %s",
      format_decimals(mean_error, 2L), n_bins_outside_interval, count_noun(nrow(table), "bin")),
    shown = view(
      table, digits = c(3L, lower = 2L, upper = 2L), level = calibration_properties$conf_level,
      left = NULL
    )
  )
}

# Checks that `x` has the columns of ground_truth() in wide format, and returns its probabilities as
# a matrix, cases x categories. `arg`: name of the argument, for messages.
probability_matrix <- function(x, arg) {
  categories <- if (is.data.frame(x) && "case" %in% names(x)) setdiff(names(x), "case")
  probability <- if (!is_empty(categories)) as.matrix(as.data.frame(x)[categories])
  has_valid_probabilities <- is.numeric(probability) &&
    all(is.na(probability) | (probability >= 0 & probability <= 1 + 1e-9))
  abort_if(!has_valid_probabilities, "columns",
    "{.arg {arg}} must have a column {.val case}, and a column of probabilities for each category.",
    x = if (has_any_columns(x)) "It has {.val {names(x)}}." else "It is {describe(x)}.", arg = arg,
    i = c("{.fun ground_truth} computes these probabilities from ratings.", reliability_hint))
  dimnames(probability) <- list(NULL, categories)
  probability
}

# Returns the number of the true category of each case, 0 if its truth is not given. `truth_table`:
# result of as_truth_table().
known_truth_codes <- function(truth_table, case, categories, arg) {
  replace_na(truth_codes(truth_table$truth, categories, arg)[match(case, truth_table$case)], 0L)
}

# Converts true categories to their positions in `categories`. NA stays NA. Raises an error for a
# category that is not in `categories`.
truth_codes <- function(truth, categories, arg) {
  category_codes <- match(truth, categories)
  invalid_rows <- which(is.na(category_codes) & !is.na(truth))
  unknown_categories <- unique(truth[invalid_rows])
  abort_if(invalid_rows, "category", "{.arg {arg}} must contain only categories of {.arg x}.",
    x = "{.val {unknown_categories}} {?is/are} not among {.val {categories}}.",
    i = similar_values_hint(unknown_categories, categories), row = invalid_rows,
    column = NA_character_,
    found = unknown_categories)
  category_codes
}

# Converts known truth, in any form that a user may give, to a list of strings: `case`, and `truth`,
# the true category. Cases are unique, and missing truths are left out. `keys`: names of the columns
# that identify cases, if there are several.
as_truth_table <- function(truth, arg, keys = NULL) {
  if (inherits(truth, "gold_cases")) truth <- truth$truth
  is_table <- is.data.frame(truth)
  abort_argument_if(!is_table && !(is.atomic(truth) && is_named(truth)), arg,
    "must be categories with the cases as names, or a data frame with columns {.val case} and
        {.val truth}.", not = truth)
  input_names <- names(truth)
  truth <- if (is_table) replace_key_columns(truth, keys) else
    list2DF(list(case = input_names, truth = unname(truth)))
  for (text in c(list(names(truth)), truth)) check_text(text, arg)
  # One of several columns that identify cases does not identify cases.
  if (!any(keys %in% names(truth))) truth <- rename_case_column(truth)
  truth_column <- intersect(c("truth", "category"), names(truth))[1L]
  missing_columns <-
    setdiff(c(keys %||% "case", replace_na(truth_column, "truth")), c(input_names, names(truth)))
  abort_if(!"case" %in% names(truth) || is.na(truth_column), "columns",
    "{.arg {arg}} must have the columns {.val {c(keys %||% 'case', 'truth')}}.",
    x = if (has_any_columns(truth))
      "It has {.val {input_names}}, and lacks {.val {missing_columns}}."
    else "It is {describe(truth)}.",
    i = c(similar_values_hint(input_names, missing_columns),
      "Rename or add columns of {.arg {arg}}."),
    arg = arg)
  known_rows <- which(is_label(truth[[truth_column]]))
  case <- as_label(truth$case)[known_rows]
  category <- as_label(truth[[truth_column]])[known_rows]
  first_rows <- match(case, case)
  conflicting_row <- which(category != category[first_rows])[1L] # NA if there is none
  abort_if(!is.na(conflicting_row), "case", "Each case must have only one true category.",
    x = "Case {.val {case[conflicting_row]}} has {.val {category[first_rows[conflicting_row]]}} and
        {.val {category[conflicting_row]}} in {.arg {arg}}.", row = known_rows[conflicting_row])
  is_first_of_case <- !duplicated(case)
  list(case = case[is_first_of_case], truth = category[is_first_of_case])
}

# Is each element of `x` a label? The result is FALSE for missing and blank values.
is_label <- function(x) grepl("\\S", as_label(x))

# Renames the column that identifies cases to `case`, if it is the only column with a name other
# than truth, category and probability.
rename_case_column <- function(table) {
  other_columns <- if (is.data.frame(table))
    setdiff(names(table), c("truth", "category", "probability"))
  if (length(other_columns) == 1L) names(table)[names(table) == other_columns] <- "case"
  table
}

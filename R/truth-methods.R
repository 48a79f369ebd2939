#' Tables and plot of consensus labels
#'
#' The result of [ground_truth()] contains the probability of each category for each case. `tidy(x)`
#' returns these probabilities as a long table. `tidy(x, "categories")` returns a summary of each
#' category, and `glance()` a summary of all cases. `autoplot()` draws the probabilities.
#'
#' @param x A [ground_truth()] result.
#' @param sure Probability in \[0, 1\]. A case is unsure if its highest probability is below `sure`.
#'   `NULL`, the default, is 0.7 if the probabilities include vote shares (argument `votes` of
#'   [ground_truth()]), and 0.8 otherwise.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per case and category: `case`, `category` (a factor) and
#'   `probability`.
#'
#'   `tidy(x, "categories")`: a tibble with a row per category.
#'   * `category`: the category, a factor.
#'   * `n`: number of cases whose most probable category it is. If several categories are most
#'     probable, the case is counted for the first of them.
#'   * `probability`: base rate of the category (share of cases). It is the mean probability from
#'     the model of the raters, without vote shares. `NA` if the model is not identified. The truth
#'     of gold cases is used, but base rates are not calibrated. In simulations, means of calibrated
#'     probabilities were better if raters erred independently, and worse if they shared errors. The
#'     share of the category in a random sample of gold cases has no such error.
#'
#'   `glance()`: a tibble with one row.
#'   * `cases`, `categories`: number of cases, and number of categories.
#'   * `probability`: mean over cases of the highest probability.
#'   * `unsure`: number of cases whose highest probability is below `sure`.
#'   * `entropy`: mean entropy of the probabilities of a case, in bits, from 0 (certain) to the
#'     binary logarithm of the number of categories.
#'   * `missing`: number of cases whose probabilities are `NA`. They are left out of `probability`,
#'     `unsure` and `entropy`.
#'
#'   If the ratings have weights of cases, means and base rates are weighted. Weights that are whole
#'   numbers are numbers of cases: a case with weight 3 counts as three cases in `n`, `cases`,
#'   `unsure` and `missing`.
#'
#'   `autoplot()`: a ggplot with one column per case, divided by the probabilities of its
#'   categories. Cases are grouped by their most probable category; in each group, the most certain
#'   cases come first.
#' @family estimation
#' @examples
#' truth <- ground_truth(ratings(lehner2015, raters = rater1:rater4, case = case))
#' # A row per case and category
#' tidy(truth)
#' # Number of labels and base rate of each category
#' tidy(truth, "categories")
#' # How certain the labels are
#' glance(truth)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' # The probabilities of all cases
#' plot(truth)
#' @usage
#' # tidy(x)
#' # tidy(x, "categories")
#' @name tidy.ground_truth
NULL

# Creates the result of ground_truth() in wide format.
# * posterior: probabilities (patterns of `x` x categories).
# * label_properties: result of finish_labels(), whose fields describe how labels were computed.
#
# The result has two attributes, which stay valid if the user selects rows:
# * truth: the true categories, if `x` contains them.
# * about: a list of properties of the labels. Its field `known` contains the identifiers of cases
#   whose known truth was used. Its field `weights` is a vector of weights of cases with the cases
#   as names, or NULL.
new_ground_truth <- function(x, posterior, label_properties) {
  abort_argument_if("case" %in% x$categories, "fit",
    "A category has the name {.val case}, which is the name of the column of cases.",
    i = "Rename the category, or use {.code format = \"long\"}.")
  table <- case_table(x, split_columns(posterior, x$categories))
  if (!is.data.frame(table)) return(table)
  is_certain <- label_properties$certain %||% logical(n_patterns(x))
  label_properties <- c(
    drop_null(label_properties[
      c("rho", "votes", "errors", "calibrated", "reason", "by_replies", "chance")
    ]),
    by_answers_only = is.null(label_properties$effective_ratings),
    kind = panel_kind(x), list(
      base_rates = label_properties$base_rates %||% base_rates_of_labels(x, posterior),
      constant = setdiff(x$panel$constant, x$raters),
      unrated =
        count_cases(x, (label_properties$effective_ratings %||% pattern_lengths(x)) == 0),
      known = as_label(x$cases[is_certain[pattern_of_case(x)]]),
      weights = if (!is.null(x$weights)) setNames(x$weights, as_label(x$cases))
    )
  )
  colnames(posterior) <- x$categories
  row_size <- list(weight = pattern_weights(x), cases = pattern_cases(x))
  labels <- label_table(table, label_properties, posterior, row_size)
  attr(labels, "truth") <- if (!is.null(x$truth)) truth(x)
  labels
}

# Creates the `ground_truth` object from the wide table. The printed summary is computed from the
# rows of `probability`, which are the cases of `table` or their patterns. `row_size`: the weight
# and the number of cases of each row of `probability`.
label_table <- function(table, label_properties, probability = probability_matrix(table, "x"),
                        row_size = row_sizes(table, label_properties)) {
  label_summary <- summarise_labels(probability, row_size, sure_threshold(label_properties))
  has_label <- !is.na(probability[, 1L])
  top_label <- most_probable(pick_rows(probability, has_label))
  n_tied <- sum(row_size$cases[has_label][top_label$tied > 1L])
  size_text <- paste(count_noun(label_summary$cases, "case"), "x",
    count_noun(label_summary$categories, "category"))
  new_result("ground_truth",
    again = label_table, tibble = table, about = label_properties, votes = label_properties$votes,
    calibrated = label_properties$calibrated,
    tables = list(
      cases = tidy_labels,
      categories = tibble(
        category = factor_in_order(colnames(probability)),
        n = as.integer(
          rowsum_codes(top_label$category, row_size$cases[has_label], label_summary$categories)
        ),
        probability = na_real(unname(label_properties$base_rates))
      )
    ),
    facts = label_summary,
    line = paste0(size_text, if (!is.na(label_summary$probability)) sprintf(
      ", label probability below %s in %s", sure_threshold(label_properties),
      count_noun(label_summary$unsure, "case")
    )),
    head = paste("Probabilities of categories:", size_text), shown = labels_to_print(table),
    notes = c(label_notes(label_summary, label_properties), if (n_tied > 0) sprintf(
      "Ties: several categories are most probable in %s; the label is the first of them",
      count_noun(n_tied, "case")
    )),
    more = "predict() (a label for each case), disputed_cases() of the ratings, plot()"
  )
}

tidy_labels <- function(x) {
  probability <- probability_matrix(x, "x")
  long_probability_table(x$case, factor_in_order(colnames(probability)), probability)
}

# Returns a list with two vectors: the `weight` of each row of labels, and the number of `cases`
# that it represents. This number is the weight if all weights are whole numbers. Otherwise it is 1,
# or 0 if the weight is 0.
row_sizes <- function(table, label_properties) {
  case_weights <- label_properties$weights
  weight <- unname(case_weights[match(as_label(table$case), names(case_weights))]) %||%
    rep_len(1L, nrow(table))
  weight[is.na(weight)] <- 1L # weight of rows that the user has added
  list(weight = weight, cases = if (weights_are_counts(label_properties)) weight else +(weight > 0))
}

# Returns the columns of glance(). `row_size`: for each row of `probability`, its weight and the
# number of cases that it represents. A label is unsure if its probability is below `sure`.
summarise_labels <- function(probability, row_size, sure) {
  has_label <- !is.na(probability[, 1L])
  weight <- row_size$weight[has_label]
  probability <- pick_rows(probability, has_label)
  highest_probability <- most_probable(probability)$probability
  weighted_mean <- function(x) na_real(sum(x * weight) / sum(weight))
  list(
    cases = sum(row_size$cases), categories = ncol(probability),
    probability = weighted_mean(highest_probability),
    unsure = sum(row_size$cases[has_label][highest_probability < sure - tie_tolerance]),
    entropy = weighted_mean(entropy(probability)),
    missing = sum(row_size$cases[!has_label])
  )
}

# Returns the default probability below which a label is unsure. It is lower for labels that are
# mixed with vote shares, because these labels have lower probabilities.
sure_threshold <- function(label_properties) if (isTRUE(label_properties$votes > 0)) 0.7 else 0.8

max_shown_categories <- 10L # largest number of columns of categories that print() shows

# Returns the table that print() shows. Columns of categories have the internal names X.1, X.2 and
# so on, because a category may have the name of another column.
labels_to_print <- function(table) {
  shown_cases <- head(table, max_view_rows)
  probability <- probability_matrix(shown_cases, "x")
  shown_categories <- head(colnames(probability), max_shown_categories)
  column_numbers <- seq_along(shown_categories)
  top_label <- most_probable(probability)
  view(
    data.frame(case = as_label(shown_cases$case),
      label = colnames(probability)[top_label$category], probability = top_label$probability,
      X = pick_columns(unname(probability), column_numbers)),
    c("case", "label", if (length(shown_categories) > 2L) "probability",
      setNames(paste0("X.", column_numbers), shown_categories)),
    left = 2L, most = 10L, total = nrow(table)
  )
}

label_notes <- function(label_summary, label_properties) {
  if (is.na(label_summary$probability)) return(c(
    paste("Not identified:", label_properties$reason %||% "the fit has no probabilities"),
    "Use ground_truth(x, votes = 1) to count votes, or give cases with known truth as known_truth"
  ))
  n_hidden_categories <- label_summary$categories - max_shown_categories
  n_labels <- label_summary$cases - label_summary$missing
  calibration_summary <- label_properties$calibrated
  c(
    if (n_hidden_categories > 0L)
      paste("Not shown:", count_noun(n_hidden_categories, "more category")),
    if (isTRUE(label_properties$chance) && label_properties$votes < 1)
      paste0(capitalised(may_be_chance_text), ": the labels may carry no information"),
    if (!is.null(calibration_summary)) c(
      sprintf(one_line("Calibrated on %s random cases: probabilities are raised to the power %.2f,
        base rates are not calibrated"), number(calibration_summary$cases),
        calibration_summary$power),
      paste("Expected share of correct labels:", percent(label_summary$probability))
    ),
    paste0(
      "Label probability: ",
      if (is.null(calibration_summary))
        sprintf("mean %s, ", format_decimals(label_summary$probability, 2L)),
      "below ", sure_threshold(label_properties), " in ", number(label_summary$unsure), " of ",
      count_noun(n_labels, "case"),
      if (label_summary$unsure > n_labels / 5) " (see disputed_cases())" else
        if (label_summary$unsure > 0L) " (check these first)"
    ),
    words_with_labels(
      "Left out, because they always gave the same answer:", label_properties$constant
    ),
    if (isTRUE(label_properties$unrated > 0L)) paste0(
      count_noun(label_properties$unrated, "case"), " without ratings",
      if (!is_empty(label_properties$constant)) " by the other raters",
      if (label_properties$votes == 1) ": all categories have the same probability" else
        ": the labels are guesses from base rates"
    ),
    if (isTRUE(label_properties$by_replies)) abstention_only_text else
      if (isFALSE(label_properties$by_answers_only))
        "Labels also use which raters abstain, because abstentions seem to depend on the truth",
    if (is.null(calibration_summary)) label_assumption_text(label_properties)
  )
}

label_assumption_text <- function(label_properties) {
  if (label_properties$votes == 1) {
    "Labels are smoothed shares of votes, without a model of raters"
  } else if (label_properties$rho == 0 && label_properties$votes == 0) {
    sprintf("Assumed: raters err %s; if not, labels are more or less certain than shown",
      label_properties$errors %||% "independently")
  } else if (label_properties$rho != typical_rho || label_properties$votes != 0.5) {
    "How often labels with these `votes` and `rho` are right was not measured in public data"
  } else if (label_properties$kind == "machines") {
    one_line("Language models share more errors than people. In public data, the share of correct
      labels was .10 lower than the labels' mean probability")
  } else {
    paste0("The mean probability is cautious, because it allows for errors that raters share. ",
      "In public data, labels from people were right .05 more often",
      if (label_properties$kind == "undeclared") ", from language models .10 less often",
      "; in simulated crowds with independent errors, .14 more often with two categories and .24 ",
      "with six. Known truths of 50 random cases correct this")
  }
}

#' @rdname tidy.ground_truth
#' @export
glance.ground_truth <- function(x, ..., sure = NULL) {
  if (is.null(sure)) return(NextMethod())
  check_dots_empty(...)
  check_number(sure, "sure", 0, 1)
  as_tibble(
    summarise_labels(probability_matrix(x, "x"), row_sizes(x, attr(x, "about")), sure)
  )
}

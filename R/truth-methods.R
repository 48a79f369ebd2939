#' Tables of ground truth
#'
#' Returns labels in a long table, summaries per category, and a summary of all labels.
#'
#' @param x A [ground_truth()] result.
#' @param sure Probability below which a label counts as unsure, in \[0, 1\]. `NULL` is 0.7 for
#'   labels that are mixed with votes, 0.8 for others.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per case and category: `case`, `category` (a factor) and
#'   `probability`. `tidy(x, "categories")`: a row per category: `category`; `n`, the number
#'   of cases in which it is the most probable category (the first of tied ones); `probability`, its
#'   base rate, the mean over cases of the model's labels before votes are mixed in.
#'
#'   `glance()`: a tibble with one row: the numbers of `cases` and `categories`; `probability`, the
#'   mean over cases of the highest probability; `unsure`, the number of cases in which it is
#'   below `sure`; `entropy`, the mean entropy in bits; `missing`, the number of cases whose
#'   probabilities are `NA`. `as.data.frame()`: the wide table. `format()`: a string.
#' @family estimation
#' @examples
#' truth <- ground_truth(ratings(lehner2015, raters = rater1:rater4, case = case))
#' tidy(truth)
#' tidy(truth, "categories")
#' glance(truth)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(truth)
#' @name tidy.ground_truth
NULL

# `posterior` has a row per pattern of `x`. `about`: rho, votes, certain (patterns with known
# truth), base_rates, calibrated and reason, as finish_labels() returns them. Attribute `truth`: the
# true categories, if `x` contains them.
new_ground_truth <- function(x, posterior, about = list(rho = 0, votes = 0)) {
  abort_argument_if("case" %in% x$categories, "fit",
    "No category can be called {.val case}, the name of the column of cases.",
    i = "Give that category another name, or choose {.code format = \"long\"}.")
  table <- case_table(x, split_columns(posterior, x$categories))
  if (!is.data.frame(table)) return(table)
  certain <- about$certain %||% logical(n_patterns(x))
  pattern <- pattern_of_case(x)
  about <- c(
    drop_null(about[c("rho", "votes", "calibrated", "reason", "by_replies")]),
    kind = panel_kind(x), list(base_rates = about$base_rates %||% label_rates(x, posterior))
  )
  colnames(posterior) <- x$categories
  out <- label_table(table, about, posterior, tabulate(pattern, n_patterns(x)))
  attributes(out)[c("truth", "known")] <- list(if (!is.null(x$truth)) truth(x), certain[pattern])
  out
}

# `probability`: the distinct rows of `table`. `times`: the number of cases with each of them.
label_table <- function(table, about, probability = probability_matrix(table, "x"),
                        times = rep_len(1L, nrow(table))) {
  facts <- label_facts(probability, times, sure_enough(about))
  known <- !is.na(probability[, 1L])
  best <- most_probable(probability[known, , drop = FALSE])$category
  size <- paste(count_noun(facts$cases, "case"), "x",
    count_noun(facts$categories, "category", "categories"))
  new_result("ground_truth",
    again = label_table, tibble = table, about = about, votes = about$votes,
    calibrated = about$calibrated,
    tables = list(
      cases = tidy_labels,
      categories = tibble::tibble(
        category = in_order(colnames(probability)),
        n = as.integer(rowsum_codes(best, times[known], facts$categories)),
        probability = na_real(unname(about$base_rates))
      )
    ),
    facts = facts,
    line = paste0(size, if (!is.na(facts$probability)) sprintf(
      ", the label below %s in %s", sure_enough(about), count_noun(facts$unsure, "case")
    )),
    head = paste("Probabilities of categories:", size), shown = view_of_labels(table),
    notes = label_notes(facts, about),
    more = "predict() (a label for each case), disputed_cases() of the ratings, plot()"
  )
}

tidy_labels <- function(x) {
  probability <- probability_matrix(x, "x")
  long_truth(x$case, in_order(colnames(probability)), probability)
}

# `probability` has rows for `times` cases each. A label is unsure below `sure`.
label_facts <- function(probability, times, sure) {
  known <- !is.na(probability[, 1L])
  n <- times[known]
  probability <- probability[known, , drop = FALSE]
  highest <- most_probable(probability)$probability
  mean_of <- function(x) na_real(sum(x * n) / sum(n))
  list(
    cases = sum(times), categories = ncol(probability), probability = mean_of(highest),
    unsure = sum(n[highest < sure - tie_tolerance]), entropy = mean_of(entropy(probability)),
    missing = sum(times[!known])
  )
}

# Labels that are mixed with votes have lower probabilities.
sure_enough <- function(about) if (isTRUE(about$votes > 0)) 0.7 else 0.8

most_categories <- 10L # in a printed table

# Categories may have any name, so the columns have safe internal names.
view_of_labels <- function(table) {
  first <- head(table, longest_view)
  probability <- probability_matrix(first, "x")
  shown <- head(colnames(probability), most_categories)
  columns <- seq_along(shown)
  best <- most_probable(probability)
  view(
    data.frame(case = as_label(first$case),
      label = colnames(probability)[best$category], probability = best$probability,
      X = unname(probability)[, columns, drop = FALSE]),
    c("case", "label", if (length(shown) > 2L) "probability",
      setNames(paste0("X.", columns), shown)),
    left = 2L, most = 10L, total = nrow(table)
  )
}

label_notes <- function(facts, about) {
  hidden <- facts$categories - most_categories
  if (is.na(facts$probability)) {
    return(c(
      paste0("Not identified: ", about$reason %||% "the fit has no probabilities"),
      "ground_truth(x, votes = 1) counts votes; known_truth takes cases whose truth is known"
    ))
  }
  calibrated <- about$calibrated
  c(
    if (hidden > 0L) paste("Not shown:", count_noun(hidden, "more category", "more categories")),
    if (!is.null(calibrated)) c(
      sprintf("Calibrated on %s random cases: probabilities to the power %.2f",
        number(calibrated$cases), calibrated$power),
      paste("Expected share of correct labels:", percent(facts$probability))
    ),
    sprintf("Labels below %s in %s of %s%s",
      sure_enough(about), number(facts$unsure), count_noun(facts$cases - facts$missing, "case"),
      if (facts$unsure > 0L) " (check these first)" else ""),
    if (isTRUE(about$by_replies)) rests_on_abstentions,
    if (is.null(calibrated)) label_assumption(about)
  )
}

label_assumption <- function(about) {
  if (about$votes == 1) {
    "Smoothed shares of votes, without a model of raters"
  } else if (about$rho == 0 && about$votes == 0) {
    "Assumed: raters err independently; otherwise labels are less certain"
  } else {
    switch(about$kind,
      machines = paste("Language models share more errors than people. In public data, the share",
        "of correct labels was .10 lower than the labels' mean probability"),
      undeclared = "If raters are language models, labels are less certain"
    )
  }
}

#' @rdname tidy.ground_truth
#' @export
glance.ground_truth <- function(x, ..., sure = NULL) {
  if (is.null(sure)) return(NextMethod())
  check_dots_empty(...)
  check_number(sure, "sure", 0, 1)
  tibble::as_tibble(label_facts(probability_matrix(x, "x"), rep_len(1L, nrow(x)), sure))
}

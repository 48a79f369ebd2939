#' Tables of ground truth
#'
#' @param x A [ground_truth()] result.
#' @param what `"cases"`, a row per case and category, or `"categories"`, a row per category.
#' @param row.names,optional Not used.
#' @param sure How probable a label must be not to be looked at again, in \[0, 1\]. `NULL` is 0.7
#'   for labels that are mixed with votes, 0.8 for others.
#' @param n Number of rows to print; `NULL` leaves it to the options of tibbles.
#' @param ... Not used.
#' @return `tidy()`: a tibble. For `"cases"`: `case`, `category` (a factor) and `probability`. For
#'   `"categories"`: `category`; `n`, the number of cases of which it is the most probable category
#'   (the first of tied ones); `probability`, its base rate, the mean over cases of the labels of
#'   the model before votes are mixed in.
#'
#'   `glance()`: a tibble with one row: the numbers of `cases` and `categories`; `probability`, the
#'   mean of the highest probability of each case; `unsure`, the number of cases in which it is
#'   below `sure`; `entropy`, their mean entropy in bits; `missing`, the number of cases whose
#'   probabilities are `NA`. `as.data.frame()`: the wide table as it is. `format()`: a line.
#' @family estimation
#' @examples
#' truth <- ground_truth(ratings(lehner2015, raters = rater1:rater4, case = case))
#' tidy(truth)
#' tidy(truth, "categories")
#' glance(truth)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(truth)
#' @export
tidy.ground_truth <- function(x, what = c("cases", "categories"), ...) {
  check_dots_empty(...)
  what <- check_choice(what)
  probability <- probability_matrix(x, "x")
  categories <- factor(colnames(probability), colnames(probability))
  if (what == "cases") return(long_truth(x$case, categories, probability))
  known <- known_rows(probability)
  tibble::tibble(
    category = categories, n = tabulate(most_probable(known)$category, length(categories)),
    probability = na_real(unname(attr(x, "base_rates") %||% colMeans(known)))
  )
}

known_rows <- function(probability) probability[!is.na(probability[, 1L]), , drop = FALSE]

#' @rdname tidy.ground_truth
#' @export
glance.ground_truth <- function(x, ..., sure = NULL) {
  check_dots_empty(...)
  sure <- if (is.null(sure)) sure_enough(x) else check_number(sure, "sure", 0, 1)
  probability <- probability_matrix(x, "x")
  known <- known_rows(probability)
  highest <- most_probable(known)$probability
  tibble::tibble(
    cases = nrow(x), categories = ncol(probability), probability = na_real(mean(highest)),
    unsure = sum(highest < sure - tie_tolerance),
    entropy = na_real(mean(entropy(known))), missing = nrow(x) - nrow(known)
  )
}

# Labels that are mixed with votes are less sure.
sure_enough <- function(x) if (isTRUE(attr(x, "votes") > 0)) 0.7 else 0.8

#' @rdname tidy.ground_truth
#' @export
as.data.frame.ground_truth <- function(x, row.names = NULL, # nolint: object_name.
                                       optional = FALSE, ...) {
  structure(plain_data_frame(x), truth = attr(x, "truth"))
}

#' @rdname tidy.ground_truth
#' @export
format.ground_truth <- function(x, ...) {
  if (!has_columns(x, "case") || ncol(x) < 2L) return(NextMethod())
  facts <- glance(x)
  paste0(tbl_sum(x), if (!is.na(facts$probability)) {
    paste0(", the label below ", sure_enough(x), " in ", count_noun(facts$unsure, "case"))
  })
}

#' @rdname tidy.ground_truth
#' @export
print.ground_truth <- function(x, n = NULL, ...) {
  abort_argument_if(!is.null(n) && !(is.numeric(n) && length(n) == 1L && !is.na(n) && n >= 0), "n",
    "must be a number of rows, or Inf for all.", not = n)
  label <- or_null(predict(x)$category)
  columns <- append(lapply(x, identity), if (!is.null(label)) list(label = label), 1L)
  shown <- tibble::new_tibble(columns, nrow = nrow(x), class = "titled_table", title = tbl_sum(x))
  print(shown, n = n, ...)
  notes <- notes_of(x)
  if (length(notes) > 0L) {
    cat_lines("", notes, "More: predict() (a label for each case), disputed_cases(), plot().")
  }
  invisible(x)
}

#' @export
notes_of.ground_truth <- function(x) { # nolint: object_name.
  rho <- attr(x, "rho")
  if (is.null(rho) || nrow(x) == 0L || !has_columns(x, "case")) return(NULL)
  facts <- glance(x)
  calibrated <- attr(x, "calibrated")
  if (is.na(facts$probability)) {
    return(c(
      paste0("Not identified: ", attr(x, "reason") %||% "the fit has no probabilities"),
      "ground_truth(x, votes = 1) counts votes; known_truth takes cases whose truth is known"
    ))
  }
  c(
    if (!is.null(calibrated)) c(
      sprintf("Calibrated on %s random cases: probabilities to the power %s",
        number(calibrated$cases), decimals(calibrated$power, 2L)),
      paste("Expected share of correct labels:", percent(facts$probability))
    ),
    sprintf("Labels below %s in %s of %s%s",
      sure_enough(x), number(facts$unsure), count_noun(facts$cases - facts$missing, "case"),
      if (facts$unsure > 0L) " (check these first)" else ""),
    if (is.null(calibrated)) label_assumption(x)
  )
}

label_assumption <- function(x) {
  if (isTRUE(attr(x, "votes") == 1)) {
    "Smoothed shares of votes, without a model of raters"
  } else if (attr(x, "rho") == 0 && attr(x, "votes") == 0) {
    "Assumed: raters err independently; otherwise labels are less certain"
  } else {
    switch(attr(x, "kind"),
      machines = paste("Language models share more errors than people: of their labels .10 fewer",
        "were right than their probabilities claimed"),
      undeclared = "If raters are language models, labels are less certain"
    )
  }
}

#' @export
tbl_sum.ground_truth <- function(x, ...) {
  c("Probabilities of categories" = paste(
    count_noun(nrow(x), "case"), "x",
    count_noun(length(setdiff(names(x), "case")), "category", "categories")
  ))
}

# A tibble that prints under another title than its size.
#' @export
tbl_sum.titled_table <- function(x, ...) attr(x, "title")

#' @export
shown_table.ground_truth <- function(x) { # nolint: object_name.
  few <- utils::head(x, 10L)
  out <- round_columns(plain_data_frame(few))
  cbind(out["case"], label = predict(few)$category, out[setdiff(names(out), "case")])
}

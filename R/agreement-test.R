#' Tests and comparisons of agreement
#'
#' Tests whether a measure of agreement equals a given value, by default 0 (agreement by chance).
#' With `y`, compares the agreement of two panels of raters, such as two pairs of raters, or the
#' same raters before and after training. With `by`, compares two groups of cases.
#'
#' @section Standard errors:
#' With `null = 0`, Scott's pi, Fleiss' kappa, Krippendorff's alpha and Cohen's kappa are tested
#' with the standard error under independent ratings and the normal distribution (method `"null"`).
#' For Scott's pi and Fleiss' kappa it is the error of Fleiss, Nee and Landis (1979), here extended
#' to weights and unequal numbers of ratings. The error of Krippendorff's alpha is derived in the
#' same way. For Cohen's kappa it is the error of Fleiss, Cohen and Everitt (1969). Do not use these
#' errors for intervals. All other tests use the ordinary standard error and Student's t with
#' `n - 1` degrees of freedom. With few cases and a rare category, these tests reject too often.
#'
#' @section Dependent measures:
#' Two panels that rated the same cases are dependent. The influence of a case is the derivative of
#' a measure with respect to the weight of the case. The standard error of a difference is computed
#' from the influence of each case on both measures: the two influences are subtracted, so that the
#' variation that both have cancels. This is valid for any measure, and for panels with some of the
#' same raters. Cases are matched by their identifiers, or by row in matrices without row names. If
#' only one panel rated a case, only its influence on that panel's measure is used. The degrees of
#' freedom are those of the smaller panel.
#'
#' @inheritParams agreement
#' @param x As in [agreement()]; also a named list of ratings, with an element for each variable of
#'   a codebook.
#' @param y Ratings to compare with `x`, in any form that `x` may have except agreement matrices,
#'   which do not identify cases. If `NULL`, the default, the agreement of `x` is compared with
#'   `null`.
#' @param ... `by`: two groups of cases, such as two waves of coding, whose agreement is compared
#'   (without `y`). The name of a covariate of `x`, a vector with the names of cases, or a data
#'   frame with the column `case`.
#' @param null Value to test: of the agreement or, with `y`, of the difference. In \[-1, 1), by
#'   default 0.
#' @param alternative `"two.sided"` (the default), `"greater"` or `"less"`.
#' @param interval How the standard error is computed: by formula (`"analytic"`, the default), or by
#'   leaving out one case at a time (`"jackknife"`).
#' @return A tibble of class `agreement_test`, with a row per measure. Without `y` its columns are
#'   `measure`; `scale_weights`; `estimate`; `null`, the tested value; `std.error`; `statistic`,
#'   `estimate` minus `null` in standard errors; `p.value`; `alternative`; `n`, the number of cases;
#'   `method` of the standard error; `reason`, why a value is `NA`.
#'
#'   With `y` or `by`, `estimate` is the measure of `x` minus the measure of `y` (or of the first
#'   minus the second group), and `estimate1` and `estimate2` are the two measures. `conf.low` and
#'   `conf.high` are limits of the difference. `n` is the number of common cases (with `by`, of all
#'   cases). There are no columns `null` and `alternative`.
#'
#'   It has methods for `print()`, [tidy()][agreement_tests], [glance()][agreement_tests],
#'   [format()][agreement_tests] and [autoplot()][autoplot.agreement_test].
#' @family agreement
#' @references Fleiss, J. L., Nee, J. C. M. and Landis, J. R. (1979). Large sample variance of kappa
#'   in the case of different sets of raters. *Psychological Bulletin*, 86(5), 974--977.
#'   \doi{10.1037/0033-2909.86.5.974}
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' compare_agreement(x, measures = "fleiss_kappa")
#'
#' once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
#' anaesthetists <- ratings(once, case = case, rater = rater, rating = rating)
#' compare_agreement(
#'   anaesthetists[, c("A1", "A2")], anaesthetists[, c("A1", "A4")], "cohen_kappa"
#' )
#' half <- setNames(rep(c("first", "second"), length.out = 45), anaesthetists$cases)
#' compare_agreement(anaesthetists, measures = "fleiss_kappa", by = half)
#' @export
compare_agreement <- function(x, y = NULL, measures = NULL, null = 0, scale_weights = NULL,
                              alternative = c("two.sided", "greater", "less"),
                              conf_level = default_conf_level(),
                              interval = c("analytic", "jackknife"), ...,
                              pooling = c("pairs", "cases", "fleiss-cuzick")) {
  check_call(dots = "by")
  if (is_variables(x)) {
    if (is.null(y)) return(map_variables(x))
    abort_argument_if(!is_variables(y, "y") || !setequal(names(y), names(x)), "y",
      "must be a list of ratings with the names of {.arg x}.", not = y,
      i = "The variables of {.arg x} are {.val {names(x)}}.")
    return(map_variables(Map(function(x, y) list(x = x, y = y), x, y[names(x)])))
  }
  by <- enquos(...)$by
  groups <- NULL
  if (!is.null(by) && !quo_is_null(by)) {
    abort_argument_if(!is.null(y), "by", "must be left out if {.arg y} is given.")
    groups <- split_by(x, by)
    abort_argument_if(length(groups) != 2L, "by", "must have two groups of cases.",
      x = "It has {length(groups)}: {.val {names(groups)}}.",
      i = "Compare the cases of two groups, {.code compare_agreement(x[cases1, ], x[cases2, ])}.")
    covariate <- as.character(quo_get_expr(by))
    if (has_columns(columns_of_cases(groups[[1L]]), covariate)) {
      names(groups) <- paste(covariate, names(groups))
    }
    x <- groups[[1L]]
    y <- groups[[2L]]
  }
  about <- list(
    null = check_number(null, "null", -1, 1, open_max = TRUE),
    alternative = check_choice(alternative), conf_level = check_level(conf_level),
    scale_name = name_of_weights(scale_weights), interval = check_choice(interval),
    pooling = check_choice(pooling), grouped = !is.null(groups)
  )
  panels <- c(list(x = x), if (!is.null(y)) list(y = y))
  # Both panels have the same sets of labels as categories, because some measures depend on their
  # number.
  sets <- unique(unlist(unname(lapply(panels, sets_of_answers)), recursive = FALSE))
  samples <- Map(function(data, arg) {
    input <- as_compared(data, scale_weights, arg = arg, sets = sets)
    list(
      view = new_judge_view(input$x), labels = input$labels,
      settings = c(about, input["scale_weights"])
    )
  }, panels, names(panels))
  about$silent <- abstain_note(samples$x$view$x)
  if (!is.null(y)) check_comparable(samples, panels)
  panel_measures <- lapply(samples, function(s) find_measures(measures, list(s$view), s$settings))
  if (!is.null(y)) {
    panel_measures <- panel_measures$x[intersect(names(panel_measures$x), names(panel_measures$y))]
    rows <- lapply(panel_measures, make_difference_row, samples, about)
    about$caption <- if (is.null(groups)) "Agreement of one panel minus that of another, " else
      paste0("Agreement in ", paste0(names(groups), " (n = ", vapply(groups, nrow, 0L), ")",
        collapse = " minus agreement in "), ", ")
    about$columns <- c("measure", first = "estimate1", second = "estimate2",
      difference = "estimate", "conf.low", "conf.high", p = "p.value")
  } else {
    if (is.null(measures)) { # keeps measures that are zero if raters agree by chance
      panel_measures$x <- Filter(function(measure) measure$lower < 0, panel_measures$x)
    }
    rows <- lapply(panel_measures$x, make_test_row, samples$x, about)
    sign_words <- c(two.sided = "different from", greater = "above", less = "below")
    about$caption <-
      sprintf("Is agreement %s %s? ", sign_words[[about$alternative]], format(about$null))
    about$columns <- c("measure", "estimate", "std.error", "statistic", p = "p.value")
  }
  new_agreement_test(tibble::as_tibble(stack_tables(rows)), about)
}

# Stops if the panels x and y cannot be compared, because cases are not identified or categories
# differ. `samples`: for each panel a list of `view` (its ratings, see new_judge_view()), `labels`
# and `settings`. `panels`: the user's arguments `x` and `y`.
check_comparable <- function(samples, panels) {
  for (arg in c("x", "y")) {
    if (in_database(panels[[arg]])) abort_no_cases("{.arg {arg}} needs single cases")
    is_table <- inherits(panels[[arg]], "table")
    abort_argument_if(is_table || !is.null(samples[[arg]]$view$x$weights), arg,
      "Two panels can only be compared if each case is a row, so that cases can be matched.",
      x = "{.arg {arg}} is {if (is_table) 'an agreement matrix' else 'weighted'}.",
      i = "Give the ratings, with a row per case.")
  }
  for (arg in c("x", "y")) {
    repeated <- repeated_values(as_label(samples[[arg]]$view$x$cases))
    abort_argument_if(repeated, arg, "must have each case once.", x = "Case {.val {repeated[[1L]]}}
      is there several times.")
  }
  categories <- lapply(samples, `[[`, "labels")
  abort_argument_if(!identical(categories$x, categories$y), "y",
    "{.arg x} and {.arg y} must have the same categories.",
    x = "{.arg x} has {.val {categories$x}}, {.arg y} has {.val {categories$y}}.",
    i = "Declare them with {.code categories =} in {.fun ratings}.")
}

# Row of the result for the test of one measure against the value `null`. `sample`: see
# check_comparable(). `about`: the user's settings.
make_test_row <- function(measure, sample, about) {
  result <- evaluate_measure(measure, sample$view, sample$settings)
  degrees_of_freedom <- result$n - 1
  if (about$null == 0 && !is.na(result$null_error) && sample$view$counted) {
    result[c("std.error", "method", "reason")] <- list(result$null_error, "null", NA_character_)
    degrees_of_freedom <- Inf
  }
  statistic <- (result$estimate - about$null) / result$std.error
  c(
    measure = measure$id, scale_weights = about$scale_name, result["estimate"], about["null"],
    result["std.error"], statistic = statistic,
    p.value = p_value(statistic, degrees_of_freedom, about$alternative), about["alternative"],
    result[c("n", "method", "reason")]
  )
}

p_value <- function(statistic, degrees_of_freedom, alternative) {
  if (is.na(statistic)) return(NA_real_)
  switch(alternative,
    two.sided = 2 * pt(-abs(statistic), degrees_of_freedom),
    greater = pt(statistic, degrees_of_freedom, lower.tail = FALSE),
    less = pt(statistic, degrees_of_freedom)
  )
}

# Row of the result for the difference of one measure between two panels (`samples`).
make_difference_row <- function(measure, samples, about) {
  results <- lapply(samples, function(s) evaluate_measure(measure, s$view, s$settings))
  x <- results$x
  y <- results$y
  cases <- lapply(samples, function(s) as_label(s$view$x$cases))
  difference <- x$estimate - y$estimate
  reason <- if (is.na(x$reason)) y$reason else x$reason
  error <- if (is.na(reason)) compute_difference_error(samples, results, cases) else NA_real_
  if (isTRUE(error < 1e-12)) {
    error <- NA_real_
    reason <- paste0(no_interval, no_influence)
  }
  n <- min(x$n, y$n)
  half_width <- error * t_quantile(about$conf_level, n)
  statistic <- (difference - about$null) / error
  list(
    measure = measure$id, scale_weights = about$scale_name, estimate = difference,
    estimate1 = x$estimate, estimate2 = y$estimate, std.error = error,
    conf.low = difference - half_width, conf.high = difference + half_width, statistic = statistic,
    p.value = p_value(statistic, n - 1, about$alternative),
    n = length(if (about$grouped) unlist(cases) else intersect(cases$x, cases$y)),
    method = x$method, reason = reason
  )
}

# Standard error of the difference between the measures of two panels. The influences of a case (see
# evaluate_measure()) on both measures are subtracted, so that common variation cancels. `results`:
# results of evaluate_measure(). `cases`: names of the cases of each panel.
compute_difference_error <- function(samples, results, cases) {
  all_cases <- union(cases$x, cases$y)
  influence <- Map(function(sample, result, case) {
    value <- result$influence[pattern_of_case(sample$view$x)][match(all_cases, case)]
    replace(value, is.na(value), 0) * sqrt(result$n / (result$n - 1))
  }, samples, results, cases)
  sqrt(sum((influence$x - influence$y)^2))
}

# Tables and printed form of tests and comparisons of agreement.

#' Tables of tests and comparisons of agreement
#'
#' Extracts tables, a one-row summary and a line of text from a [compare_agreement()] result.
#'
#' @return `tidy()`: a tibble with the columns of the [compare_agreement()] result. `glance()`: a
#'   tibble with one row: the numbers of `measures` and `cases` (the largest number used), the
#'   smallest `p.value`, and `null` and `alternative` of tests or `conf_level` of comparisons.
#'   `format()`: for one measure `Fleiss' kappa 0.43, p < .001`, for several a line with all of
#'   them.
#' @family agreement
#' @name agreement_tests
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' test <- compare_agreement(x, measures = "fleiss_kappa")
#' format(test)
#' glance(test)
NULL

# Creates the result of compare_agreement(). If two panels are compared, `table` has columns
# `estimate1` and `estimate2`. `about$columns`: names of the printed columns.
new_agreement_test <- function(table, about) {
  compares <- has_columns(table, "estimate1")
  n_cases <- max(0, table$n)
  p_values <- table$p.value
  p_words <- ifelse(p_values < 0.0005, "< .001", paste("=", format_decimals(p_values)))
  new_result("agreement_test",
    again = new_agreement_test, tables = list(tests = table), about = about,
    facts = c(
      list(
        measures = nrow(table), cases = n_cases,
        p.value = if (all(is.na(p_values))) NA_real_ else min(p_values, na.rm = TRUE)
      ),
      about[if (compares) "conf_level" else c("null", "alternative")]
    ),
    line = shorten(paste0(
      if (compares) "difference of ",
      names_of_agreement(table, measure_titles(table$measure, about$scale_name)), " ",
      format_decimals(table$estimate, 2L),
      ifelse(is.na(p_values), paste0(" (", table$reason, ")"), paste(", p", p_words))
    ), "; "),
    caption = paste0(about$caption, count_noun(n_cases,
      if (compares && !about$grouped) "common case" else "case")),
    shown = view(
      table, c(part_columns_of(table), about$columns), c(3L, statistic = 2L),
      about$conf_level
    ),
    notes = c(
      reason_notes(table, names_of_agreement(table)),
      weights_note(table$measure, about), about$silent
    )
  )
}

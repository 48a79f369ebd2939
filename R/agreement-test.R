#' Tests and comparisons of agreement
#'
#' Tests whether a measure of agreement, such as a kappa, equals a given value, by default 0
#' (agreement by chance). With `y`, compares the agreement of two sets of raters, such as two pairs
#' of raters, or the same raters before and after training. With `by`, compares two groups of cases.
#'
#' @section Standard errors: For Scott's pi, Fleiss' kappa, Krippendorff's alpha and Cohen's kappa,
#' there is a standard error under the hypothesis that ratings are independent. It is used if `null`
#' is 0 and `y`, `by` and `interval` are not given. The test then uses the normal distribution, and
#' column `method` is `"null"`. For Cohen's kappa, this standard error is equal to the one of
#' Fleiss, Cohen and Everitt (1969). For the other measures, the formula of Fleiss, Nee and Landis
#' (1979) is used, extended to weights, unequal numbers of ratings and Krippendorff's alpha.
#'
#' All other tests use the standard error of [agreement()] and Student's t distribution with `n - 1`
#' degrees of freedom for `n` cases. With few cases and a rare category, these tests reject too
#' often.
#'
#' @section Comparison of two sets of raters: The agreements of two sets of raters on the same cases
#' are dependent. The standard error of their difference is therefore `sqrt(sum((e1 - e2)^2))`. The
#' sum is over cases. For the first set, `e1 = d1 * sqrt(n1 / (n1 - 1))`. Here `d1` is the
#' derivative of the measure with respect to the weight of the case, and `n1` is the number of
#' cases. `e1` is 0 for a case that the first set did not rate. `e2` is computed in the same way
#' from the second set. Student's t distribution has `min(n1, n2) - 1` degrees of freedom. Cases are
#' matched by their identifiers. Cases without identifiers are matched by row.
#'
#' @inheritParams agreement
#' @param scale_weights Weights of pairs of categories, for partial agreement: 1 is full agreement,
#'   0 full disagreement. `NULL`, the default: different categories have weight 0. `"linear"` or
#'   `"quadratic"`: the weight falls with the absolute or squared difference of two categories.
#'   [agreement()] describes further names, matrices, and answers with several labels.
#' @param conf_level Confidence level of the intervals of differences, in (0, 1), by default 0.9
#'   (see [fallible-options]). Used only if `y` or `by` is given.
#' @param pooling How cases are weighted if they have different numbers of ratings: `"pairs"` (the
#'   default), `"cases"` or `"fleiss-cuzick"`; see section *Missing ratings* of [agreement()].
#' @param measures Names of measures, see [measures()]. `NULL`, the default, selects the default
#'   measures of [agreement()]. If neither `y` nor `by` is given, default measures that cannot be
#'   negative are left out.
#' @param y Ratings to compare with `x`, in the same forms as `x` except agreement matrices. If
#'   `NULL`, the default, the agreement of `x` is compared with `null`.
#' @param ... `by`: two groups of cases, whose agreement is compared. `by` is the name of a
#'   covariate of `x`, a vector named by case, or a data frame with the column `case`. `by` cannot
#'   be combined with `y`.
#' @param null Tested value of the agreement, a number in \[-1, 1), by default 0. If `y` or `by` is
#'   given, the tested value of the difference.
#' @param alternative The alternative hypothesis: agreement (or the difference) is different from
#'   `null` (`"two.sided"`, the default), above `null` (`"greater"`) or below `null` (`"less"`).
#' @param interval How the standard error is computed: by formula (`"analytic"`, the default), or by
#'   leaving out one case at a time (`"jackknife"`).
#' @return A tibble of class `agreement_test`, with a row per measure. If `x` is a list, the first
#'   column is `variable`. If neither `y` nor `by` is given, the columns are:
#'   * `measure`, the name of the measure; `scale_weights`, the name of the weights.
#'   * `estimate`, the estimated agreement; `null`, the tested value; `std.error`, the standard
#'     error; `statistic`, which is `(estimate - null) / std.error`; `p.value`; `alternative`.
#'   * `n`, the number of cases of `x` that the measure uses; `method`, how the standard error was
#'     computed; `reason`, why a value is `NA`, otherwise `NA`.
#'
#'   If `y` or `by` is given, there are no columns `null` and `alternative`, and some columns
#'   differ:
#'   * `estimate1` and `estimate2`: the measure for `x` and for `y`, or for the first and the second
#'     group. `estimate`: their difference, `estimate1 - estimate2`.
#'   * `conf.low` and `conf.high`: limits of the interval of the difference.
#'   * `n`: the number of cases that are in both `x` and `y`. With `by`, the number of cases in both
#'     groups together.
#'
#'   Methods: [tidy()][agreement_tests], [glance()][agreement_tests], [format()][agreement_tests]
#'   and [autoplot()][autoplot.agreement_test].
#' @family agreement
#' @references Fleiss, J. L., Cohen, J. and Everitt, B. S. (1969). Large sample standard errors of
#'   kappa and weighted kappa. *Psychological Bulletin*, 72(5), 323--327. \doi{10.1037/h0028106}
#'
#'   Fleiss, J. L., Nee, J. C. M. and Landis, J. R. (1979). Large sample variance of kappa in the
#'   case of different sets of raters. *Psychological Bulletin*, 86(5), 974--977.
#'   \doi{10.1037/0033-2909.86.5.974}
#' @examples
#' # Is Fleiss' kappa zero?
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' compare_agreement(x, measures = "fleiss_kappa")
#'
#' # Do raters A1 and A2 agree more than A1 and A4?
#' once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
#' anaesthetists <- ratings(once, case = case, rater = rater, rating = rating)
#' compare_agreement(
#'   anaesthetists[, c("A1", "A2")], anaesthetists[, c("A1", "A4")], "cohen_kappa"
#' )
#' # Two groups of cases
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
  abort_argument_if(is.character(y) && is.null(dim(y)), "y", "must be ratings.", not = y,
    i = if (y[1L] %in% names(all_measures())) "Measures are given by name:
      {.code measures = \"{y[[1L]]}\"}." else "To compare with the ratings without rater A, give
      {.code y = x[, x$raters != \"A\"]}. To compute the agreement of each pair of raters, call
      {.code agreement(x, pairwise = TRUE)}.")
  by <- enquos(...)$by
  groups <- NULL
  if (!is.null(by) && !quo_is_null(by)) {
    abort_argument_if(!is.null(y), "by", "must be left out if {.arg y} is given.")
    groups <- split_by(x, by)
    abort_argument_if(length(groups) != 2L, "by", "must have two groups of cases.",
      x = "It has {length(groups)}: {.val {names(groups)}}.",
      i = "To compare two of several groups, call
        {.code compare_agreement(x[cases1, ], x[cases2, ])}.")
    covariate_name <- as.character(quo_get_expr(by))
    if (has_columns(columns_of_cases(groups[[1L]]), covariate_name)) {
      names(groups) <- paste(covariate_name, names(groups))
    }
    x <- groups[[1L]]
    y <- groups[[2L]]
  }
  details <- list(
    null = check_number(null, "null", -1, 1, open_max = TRUE),
    alternative = check_choice(alternative), conf_level = check_level(conf_level),
    scale_name = name_of_weights(scale_weights), interval = check_choice(interval),
    pooling = check_choice(pooling), grouped = !is.null(groups),
    default_interval = missing(interval)
  )
  panels <- c(list(x = x), if (!is.null(y)) list(y = y))
  # In answers with several labels, each set of labels is a category. Both panels get the same sets,
  # because some measures depend on the number of categories.
  label_sets <- unique(unlist(unname(lapply(panels, sets_of_answers)), recursive = FALSE))
  panel_inputs <- Map(function(data, arg) {
    input <- prepare_for_agreement(data, scale_weights, arg = arg, sets = label_sets)
    list(
      view = new_judge_view(input$x), labels = input$labels,
      settings = c(details, input["scale_weights"])
    )
  }, panels, names(panels))
  details$silent <- abstain_note(panel_inputs$x$view$x)
  if (!is.null(y)) check_comparable(panel_inputs, panels)
  panel_measures <- lapply(panel_inputs, function(input) {
    find_measures(measures, list(input$view), input$settings)
  })
  if (!is.null(y)) {
    panel_measures <- panel_measures$x[intersect(names(panel_measures$x), names(panel_measures$y))]
    result_rows <- lapply(panel_measures, make_difference_row, panel_inputs, details)
    details$caption <- if (is.null(groups)) "Agreement of one panel minus that of another, " else
      paste0("Agreement in ", paste0(names(groups), " (n = ", map_int(groups, nrow), ")",
        collapse = " minus agreement in "), ", ")
    details$columns <- c("measure", first = "estimate1", second = "estimate2",
      difference = "estimate", "conf.low", "conf.high", p = "p.value")
  } else {
    if (is.null(measures)) { # keeps measures that are zero if raters agree by chance
      panel_measures$x <- Filter(function(measure) measure$lower < 0, panel_measures$x)
    }
    result_rows <- lapply(panel_measures$x, make_test_row, panel_inputs$x, details)
    alternative_phrases <- c(two.sided = "different from", greater = "above", less = "below")
    details$caption <- sprintf(
      "Is agreement %s %s? ", alternative_phrases[[details$alternative]], format(details$null)
    )
    details$columns <- c("measure", "estimate", "std.error", "statistic", p = "p.value")
  }
  new_agreement_test(as_tibble(stack_tables(result_rows)), details)
}

# Raises an error if two panels (the sets of ratings `x` and `y`) cannot be compared, because cases
# are not identified or categories differ.
# * panel_inputs: a list for each panel, with `view` (its ratings, see new_judge_view()), `labels`
#   (labels of its categories) and `settings`.
# * panels: the user's arguments `x` and `y`.
check_comparable <- function(panel_inputs, panels) {
  for (arg in c("x", "y")) {
    if (in_database(panels[[arg]]))
      abort_no_cases("{.arg {arg}} must contain the ratings of each case")
    is_table <- inherits(panels[[arg]], "table")
    abort_argument_if(is_table || !is.null(panel_inputs[[arg]]$view$x$weights), arg,
      "Cases of {.arg x} and {.arg y} can be matched only if each case is a row.",
      x = "{.arg {arg}} {if (is_table) 'is an agreement matrix' else 'has case weights'}.",
      i = "Give the ratings, with a row per case.")
  }
  for (arg in c("x", "y")) {
    repeated_cases <- repeated_values(as_label(panel_inputs[[arg]]$view$x$cases))
    abort_argument_if(repeated_cases, arg, "must contain each case only once.",
      x = "Case {.val {repeated_cases[[1L]]}} occurs several times.")
  }
  categories <- lapply(panel_inputs, `[[`, "labels")
  abort_argument_if(!identical(categories$x, categories$y), "y",
    "{.arg x} and {.arg y} must have the same categories.",
    x = "{.arg x} has {.val {categories$x}}, {.arg y} has {.val {categories$y}}.",
    i = "Declare all categories with argument {.arg categories} of {.fun ratings}.")
}

# Returns the row of the result for one measure: its test against the value `null`. `input`: an
# element of `panel_inputs`, see check_comparable(). `details`: the user's settings.
make_test_row <- function(measure, input, details) {
  evaluation <- evaluate_measure(measure, input$view, input$settings)
  degrees_of_freedom <- evaluation$n - 1
  if (details$null == 0 && details$default_interval && input$view$counted &&
    !is.na(evaluation$null_error)) {
    evaluation[c("std.error", "method", "reason")] <-
      list(evaluation$null_error, "null", NA_character_)
    degrees_of_freedom <- Inf
  }
  statistic <- (evaluation$estimate - details$null) / evaluation$std.error
  c(
    measure = measure$id, scale_weights = details$scale_name, evaluation["estimate"],
    details["null"], evaluation["std.error"], statistic = statistic,
    p.value = compute_p_value(statistic, degrees_of_freedom, details$alternative),
    details["alternative"],
    evaluation[c("n", "method", "reason")]
  )
}

compute_p_value <- function(statistic, degrees_of_freedom, alternative) {
  if (is.na(statistic)) return(NA_real_)
  switch(alternative,
    two.sided = 2 * pt(-abs(statistic), degrees_of_freedom),
    greater = pt(-statistic, degrees_of_freedom),
    less = pt(statistic, degrees_of_freedom)
  )
}

# Returns the row of the result for one measure: its difference between two panels. For
# `panel_inputs`, see check_comparable(). `details`: the user's settings.
make_difference_row <- function(measure, panel_inputs, details) {
  evaluations <- lapply(panel_inputs, function(s) evaluate_measure(measure, s$view, s$settings))
  x_evaluation <- evaluations$x
  y_evaluation <- evaluations$y
  case_names <- lapply(panel_inputs, function(s) as_label(s$view$x$cases))
  all_cases <- union(case_names$x, case_names$y)
  difference <- x_evaluation$estimate - y_evaluation$estimate
  reason <- if (is.na(x_evaluation$reason)) y_evaluation$reason else x_evaluation$reason
  standard_error <- NA_real_
  if (is.na(reason)) {
    # The standard error is computed from the differences of two influences (see
    # evaluate_measure()): those of the same case in the two panels. Sampling error that the panels
    # have in common cancels.
    influence <- Map(function(input, result, case) {
      case_influence <- result$influence[pattern_of_case(input$view$x)][match(all_cases, case)]
      replace_na(case_influence, 0) * sqrt(result$n / (result$n - 1))
    }, panel_inputs, evaluations, case_names)
    standard_error <- sqrt(sum((influence$x - influence$y)^2))
  }
  if (isTRUE(standard_error < 1e-12)) {
    standard_error <- NA_real_
    reason <- paste0(no_interval_prefix, reason_no_influence)
  }
  n <- min(x_evaluation$n, y_evaluation$n)
  half_width <- standard_error * t_quantile(details$conf_level, n)
  statistic <- (difference - details$null) / standard_error
  list(
    measure = measure$id, scale_weights = details$scale_name, estimate = difference,
    estimate1 = x_evaluation$estimate, estimate2 = y_evaluation$estimate,
    std.error = standard_error,
    conf.low = difference - half_width, conf.high = difference + half_width, statistic = statistic,
    p.value = compute_p_value(statistic, n - 1, details$alternative),
    n = length(if (details$grouped) unlist(case_names) else intersect(case_names$x, case_names$y)),
    method = x_evaluation$method, reason = reason
  )
}

# ---- Tables and printed form of tests and comparisons of agreement ------------------------------

#' Tables of tests and comparisons of agreement
#'
#' Returns tables and a line of text from a [compare_agreement()] result `x`.
#'
#' @return The result of [compare_agreement()] is a comparison if argument `y` or `by` was given,
#'   and otherwise a test of each measure.
#'
#'   `tidy(x)`: a tibble with a row per measure. [compare_agreement()] describes its columns.
#'
#'   `glance(x)`: a tibble with one row:
#'   * `measures`, the number of tests; `cases`, the largest number of cases in a test; `p.value`,
#'     the smallest p-value.
#'   * For tests, also `null`, the tested value, and `alternative`. For comparisons, also
#'     `conf_level`, the confidence level of the intervals.
#'
#'   `format(x)`: one line of text, such as `Fleiss' kappa 0.43, p < .001`.
#' @family agreement
#' @usage
#' # tidy(x)
#' # glance(x)
#' @name agreement_tests
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' test <- compare_agreement(x, measures = "fleiss_kappa")
#' format(test)
#' glance(test)
NULL

# Creates the result of compare_agreement(). If two panels are compared, `table` has columns
# `estimate1` and `estimate2`. Field `columns` of `details` has the names of the printed columns.
new_agreement_test <- function(table, details) {
  is_comparison <- has_columns(table, "estimate1")
  n_cases <- max(0, table$n)
  p_values <- table$p.value
  p_value_texts <- ifelse(p_values < 0.0005, "< .001", paste("=", format_decimals(p_values)))
  new_result("agreement_test",
    again = new_agreement_test, tables = list(tests = table), about = details,
    facts = c(
      list(
        measures = nrow(table), cases = n_cases,
        p.value = min_known(p_values)
      ),
      details[if (is_comparison) "conf_level" else c("null", "alternative")]
    ),
    line = shorten(paste0(
      if (is_comparison) "difference of ",
      name_agreement_rows(table, measure_titles(table$measure, details$scale_name)), " ",
      format_decimals(table$estimate, 2L),
      ifelse(is.na(p_values), paste0(" (", table$reason, ")"), paste(", p", p_value_texts))
    ), "; "),
    caption = paste0(details$caption, count_noun(n_cases,
      if (is_comparison && !details$grouped) "common case" else "case")),
    shown = view(
      table, c(part_columns_of(table), details$columns), c(3L, statistic = 2L),
      details$conf_level
    ),
    notes = c(
      reason_notes(table, name_agreement_rows(table)),
      weights_note(table, details), details$silent
    )
  )
}

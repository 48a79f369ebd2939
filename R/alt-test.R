#' Alternative annotator test: can a model replace a rater?
#'
#' The alternative annotator test of Calderon, Reichart and Dror (2025) compares a system (a model
#' that labels cases) with each rater: which of the two agrees more with the other raters? A system
#' that wins against at least half of the raters passes, and may replace a rater. The test does not
#' measure accuracy: a system with the same errors as the raters also passes.
#'
#' The test is for panels of people. A system that wins against language models need not win against
#' people. The function warns if raters are declared as machines by `rater_kind` of [ratings()].
#'
#' @section Method:
#' The score of an answer to a case is its agreement with the *other* raters of the case. With
#' `score = "accuracy"`, it is the share of the other raters who gave the same answer. With
#' `score = "neg_rmse"`, it is minus the root of the mean squared difference from their answers.
#' Differences are computed from the numbers if categories are numbers, and otherwise from the
#' positions (1, 2, ...) in the order of the categories.
#'
#' The *advantage* of the system over a rater is the share of cases in which the system's score is
#' at least as high as the rater's. The *lead* of the rater is the share of cases in which the
#' rater's score is at least as high as the system's, minus the advantage. A one-sided t-test per
#' rater tests whether the lead is below `epsilon`. The p-values of all raters are adjusted by the
#' method of Benjamini and Yekutieli. The system *wins* against a rater if the adjusted p-value is
#' at most `q`. The *winning rate* is the share of raters against whom the system wins.
#'
#' @param x A [ratings()] object with systems and without weights, with at most one rating per rater
#'   and case. The raters should be at least two people.
#' @param ... Not used; catches misspelt arguments.
#' @param epsilon Largest lead of a rater (see *Method*) at which the system is still preferred
#'   because it costs less, in \[0, 1\]; by default 0.2. The authors suggest 0.2 for experts, 0.15
#'   for skilled raters, 0.1 for crowds.
#' @param score Score of an answer, see *Method*: `"accuracy"` (the default) or, for ordered or
#'   numeric categories, `"neg_rmse"`, with which near misses count less.
#' @param q False discovery rate, in (0, 1); by default 0.05.
#' @param min_raters Smallest number of ratings of a case, at least 2 (the default). Cases with
#'   fewer ratings are left out.
#' @param min_cases Smallest number of cases that both the rater and the system answered, at least
#'   2; by default 30. Raters with fewer cases are left out.
#' @param systems Names of the systems to test; `NULL`, the default, for all. Systems with one
#'   answer to all cases are not tested.
#' @return An object of class `alt_test`. `tidy()` returns a tibble with a row per system:
#'   * `system`: name of the system.
#'   * `winning_rate`: share of raters against whom the system wins, in \[0, 1\].
#'   * `advantage`: mean, over raters, of the system's advantage (see *Method*), in \[0, 1\].
#'   * `passed`: `TRUE` if `winning_rate` is at least 0.5.
#'   * `raters`: number of raters with enough cases; `cases`: number of cases with an answer of the
#'     system and enough ratings.
#'   * `reason`: why values are `NA`: no rater has enough cases, or no case has enough ratings.
#'
#'   `tidy(x, what = "raters")` returns a tibble with a row per system and rater: `system`, `rater`,
#'   `advantage`, `lead`, `p.value` (before adjustment), `won` (`TRUE` if the system wins), `n`
#'   (number of cases that both answered) and `reason` (why values are `NA`: too few cases).
#'
#'   `glance()`: one row with the numbers of `systems`, of systems that `passed`, of `raters` and of
#'   all `cases`, and the arguments `epsilon`, `score`, `q`, `min_raters` and `min_cases`.
#'
#'   `autoplot()`: a ggplot of the lead of each rater over each system. A dashed line shows
#'   `epsilon`. Points are filled if the system wins against the rater.
#' @references Calderon, N., Reichart, R. and Dror, R. (2025). The alternative annotator test for
#'   LLM-as-a-judge: How to statistically justify replacing human annotators with LLMs. *Proceedings
#'   of ACL 2025*. \doi{10.48550/arXiv.2501.10970}.
#' @family systems
#' @seealso [estimate_accuracy()] for the accuracy of a system.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(good = 0.9, poor = 0.5), 3, n = 100))
#' test <- alt_test(x)
#' test
#' # Advantage, lead and p-value for each rater
#' tidy(test, what = "raters")
#' @export
alt_test <- function(x, ..., epsilon = 0.2, score = c("accuracy", "neg_rmse"), q = 0.05,
                     min_raters = 2, min_cases = 30, systems = NULL) {
  check_call()
  x <- merge_reruns_with_message(as_ratings_of_several(x))
  x <- drop_constant_systems(choose_systems(x, systems))
  check_alt_ratings(x)
  options <- list(
    epsilon = check_number(epsilon, "epsilon", 0, 1), score = check_choice(score),
    q = check_level(q, "q"), min_raters = check_count(min_raters, "min_raters", 2L),
    min_cases = check_count(min_cases, "min_cases", 2L), ratings = nrow(x),
    silent = abstain_note(x), ordered = x$ordered && n_categories(x) > 2L
  )
  # Closeness of each category to each other category, a square matrix. The test compares the
  # answers of a system and of one rater to each case. The answer with the larger sum of closeness
  # to the ratings of the other raters is nearer to them.
  closeness <- diag(n_categories(x))
  if (options$score == "neg_rmse") {
    abort_argument_if(!x$ordered && !has_numeric_categories(x), "score",
      "{.code score = \"neg_rmse\"} needs categories that are numbers, or that are ordered.",
      x = if (isTRUE(x$nominal)) "{.fun ratings} was given {.code ordered = FALSE}." else
        "The categories are {.val {x$categories}}.",
      i = "Give {.code ordered = TRUE} to {.fun ratings}, or use {.code score = \"accuracy\"}.")
    category_values <- as_numbers(x$categories) %||% seq_along(x$categories)
    # Two sums of closeness are tied if they differ by less than a fixed number. Values are divided
    # by their range, so that ties do not depend on the unit of the values.
    category_values <- category_values / max(diff(range(category_values)), .Machine$double.xmin)
    # With this closeness, the nearer answer has the smaller root mean squared error.
    closeness <- -outer(category_values, category_values, `-`)^2
  }
  tests <- lapply(seq_along(x$systems), test_against_raters, x, closeness, options)
  new_alt_test(stack_rows(tests, `[[`, "system"), stack_rows(tests, `[[`, "raters"), options)
}

check_alt_ratings <- function(x) {
  abort_if(n_systems(x) == 0L, "system",
    "{.fun alt_test} needs a system that does not give the same answer to all cases.",
    i = "The raters must be at least two people. Give language models, or other columns of the data
        or raters, as {.arg systems} of {.fun ratings}.",
    system = character())
  problem <- why_unnamed(x) %||% if (has_repeats(x)) {
    "Raters of {.arg x} rated cases repeatedly. Merge the repeated ratings with
        {.code as_ratings(x, votes = TRUE)}."
  } else if (!identical(x$weights, x$times)) { # weights other than counts of a database
    "Cases of {.arg x} have weights. Create {.arg x} without {.arg weights}."
  }
  abort_argument_if(problem, "x",
    "must have at most one rating per rater and case, and no weights.", x = problem)
  machines <- x$raters[is_machine(x)]
  warn_if(machines, "assumption",
    "The alternative annotator test is for panels of people, but {.val {machines}} {?is/are}
        declared as {?a machine/machines}.",
    i = "A system that wins against machines need not win against people. Use at least two people as
        raters, and give language models as {.arg systems} of {.fun ratings}.", raters = machines)
}

# Tests a system against each rater. Returns a list of two tables: `system` with one row, and
# `raters` with a row per rater. Results are computed once per pattern, because all cases of a
# pattern have the same ratings and answers. `closeness`: matrix (categories x categories), see
# alt_test().
test_against_raters <- function(system_number, x, closeness, options) {
  n_usable_cases <- n_cases_per_pattern(x) *
    (pattern_answers(x)[, system_number] > 0L & pattern_lengths(x) >= options$min_raters)
  nearness_sign <- core_nearer_answers(x$patterns, system_number, closeness)
  count_by_rater <- function(selected) {
    core_pattern_weights(rating_rater(x), selected * n_usable_cases[rating_pattern(x)], n_raters(x))
  }
  n_system_nearer <- count_by_rater(nearness_sign > 0L)
  n_rater_nearer <- count_by_rater(nearness_sign < 0L)
  n_cases <- count_by_rater(TRUE)
  has_enough_cases <- n_cases >= options$min_cases
  n_used <- replace(n_cases, !has_enough_cases, NA_real_)
  # Share of cases in which the rater is nearer to the other raters, minus the share in which the
  # system is nearer.
  lead <- (n_rater_nearer - n_system_nearer) / n_used
  # One-sided t-test, with the alternative that `lead` is below `epsilon`.
  sum_of_squares <- n_system_nearer * (1 + lead)^2 + n_rater_nearer * (1 - lead)^2 +
    (n_used - n_system_nearer - n_rater_nearer) * lead^2
  statistic <- (lead - options$epsilon) / sqrt(sum_of_squares / (n_used - 1) / n_used)
  # If all cases have the same outcome, the variance is 0, and the p-value is 0 or 1. The statistic
  # is NaN if `lead` also equals `epsilon`; the p-value is then 1.
  p_values <- pt(replace(statistic, is.nan(statistic), Inf), n_used - 1)
  has_usable_cases <- any(n_usable_cases > 0)
  few_cases_reason <- paste(
    if (has_usable_cases) paste("fewer than", options$min_cases, "cases") else "no case",
    "with", options$min_raters, if (has_usable_cases) "ratings" else
      "ratings and an answer of the system"
  )
  # Numbers of cases are converted to integers, except in databases, which may have too many cases
  # for integers.
  as_case_numbers <- if (in_database(x)) identity else as.integer
  raters <- columns_tibble(
    system = rep(x$systems[[system_number]], length(n_cases)), rater = x$raters,
    advantage = (n_used - n_rater_nearer) / n_used, lead = lead, p.value = p_values,
    won = p.adjust(p_values, "BY") <= options$q, n = as_case_numbers(n_cases),
    reason = ifelse(has_enough_cases, NA_character_, few_cases_reason)
  )
  winning_rate <- mean_known(raters$won)
  list(raters = raters, system = columns_tibble(
    system = x$systems[[system_number]], winning_rate = winning_rate,
    advantage = mean_known(raters$advantage), passed = winning_rate >= 0.5,
    raters = sum(has_enough_cases), cases = as_case_numbers(sum(n_usable_cases)),
    reason = if (any(has_enough_cases)) NA_character_ else
      paste(if (has_usable_cases) "all raters have" else "there is", few_cases_reason)
  ))
}

# ---- Printed form and plot of the alternative annotator test -------------------------------------

new_alt_test <- function(systems, raters, options) {
  n_raters <- n_distinct(raters$rater)
  skipped_pairs <- drop_missing(raters, "reason")
  verdict <- replace_na(ifelse(systems$passed, "passes", "fails"), "unknown")
  new_result("alt_test",
    tables = list(systems = systems, raters = raters), options = options,
    facts = c(list(
      systems = nrow(systems), passed = sum(systems$passed, na.rm = TRUE), raters = n_raters,
      cases = options$ratings
    ), options[c("epsilon", "score", "q", "min_raters", "min_cases")]),
    line = printable(paste(
      "Alternative annotator test:",
      shorten(paste0(
        systems$system, " ", verdict, format_unless_missing(systems$winning_rate, " (wins %.2f)")
      ), "; ", 4L)
    )),
    caption = paste0(
      "Alternative annotator test, epsilon ", format(options$epsilon), ", ",
      count_noun(n_raters, "rater"), ", score ", options$score
    ),
    shown = view(
      data.frame(systems, verdict)[order(-systems$advantage), ],
      c("system", `winning rate` = "winning_rate", "advantage", "verdict", "raters", "cases"), 2L,
      left = c(1L, 4L)
    ),
    notes = c(
      "Passes: wins against at least half of the raters. To compare systems, use the advantage.",
      if (nrow(skipped_pairs) > 0L) paste0(
        "Left out: ", count_noun(nrow(skipped_pairs), "pair"), " of a system and a rater, with ",
        paste(unique(skipped_pairs$reason), collapse = " or "), ".",
        if (!any(systems$cases > 0))
          " Let the systems answer cases that several raters have labelled."
      ),
      "It shows which systems answer like the raters: those that share their errors pass, too.",
      options$silent,
      if (options$ordered && options$score == "accuracy")
        "Categories are ordered; score = \"neg_rmse\" counts near misses less."
    ),
    more = "tidy(what = \"raters\"), plot()"
  )
}

#' @rdname alt_test
#' @order 2
#' @param object An `alt_test()` result.
#' @rawNamespace S3method(ggplot2::autoplot,alt_test)
autoplot.alt_test <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  table <- drop_missing(object$raters, "lead")
  abort_argument_if(nrow(table) == 0L, "object",
    "There is no rater to draw, because no rater has enough cases.",
    i = "Use a smaller {.arg min_cases} of {.fun alt_test}.")
  table$system <- stats::reorder(table$system, table$lead)
  table$rater <- factor_from_top(table$rater)
  table$outcome <- factor(table$won, c(TRUE, FALSE), c("the system wins", "it does not"))
  # Names of raters are shown only if they do not overlap.
  shows_rater_names <- nlevels(table$rater) * ggplot2::wrap_dims(nlevels(table$system))[[1L]] <= 30L
  start_plot(table, "lead", if (shows_rater_names) "rater" else "system") +
    (if (shows_rater_names) facet_by(table, "system")) +
    line_at(object$options$epsilon, "muted", 2) +
    main_points(mapping = aes_columns(shape = "outcome"), alpha = 0.8, show.legend = TRUE) +
    ggplot2::scale_shape_manual(values = c(16, 1), drop = FALSE) +
    ggplot2::expand_limits(x = 0) +
    plot_titles(
      "Alternative annotator test",
      paste("A point per rater and system; dashed: epsilon", format(object$options$epsilon)),
      "lead of the rater over the system", shape = NULL
    )
}

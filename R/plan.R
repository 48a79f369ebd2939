#' Number of cases and raters for a study
#'
#' Computes by simulation the smallest number of cases with which the estimated accuracy of a system
#' is within `half_width` of its true accuracy with probability `conf_level`. Several numbers of
#' raters can be compared. No true categories are needed. The interval of [estimate_accuracy()] is
#' wider: it also allows for unknown shared errors (errors that systems and raters make on the same
#' cases), which more cases do not reduce. For a narrower interval, use [plan_gold()].
#'
#' @section Design: The design specifies how raters and systems answer.
#' * `NULL`: five categories with random base rates, equally accurate raters, equally probable
#'   errors, and equally difficult cases. Give `rater_accuracy` or `chance_kappa`.
#' * A [rater_design()]. Its number of cases is not used.
#' * A pilot: [ratings()], or a result of [fit_raters()] or [estimate_accuracy()]. The design is
#'   estimated from it: numbers of raters and categories, base rates, share of missing ratings, and
#'   accuracies. Raters are equally accurate if there are fewer than three, or if fewer than half of
#'   the possible ratings are present; their number is then the mean number of ratings per case.
#'   There are no shared errors. Give a fit of another [rater_model()] for unequal errors or cases.
#' * A function of the number of cases that returns [ratings()] with systems and the truth of all
#'   cases, as in [simulation_study()]. It should draw one case after the other, so that with the
#'   same seed, more cases begin with the same cases. The number and the accuracy of raters and
#'   systems cannot be given.
#'
#' `rater_accuracy`, `chance_kappa` and `system_accuracy` replace accuracies of the design. If
#' `raters` differs from the number of accuracies, evenly spaced quantiles of the accuracies are
#' used.
#'
#' @section Simulation: Ratings and answers of systems are simulated for a few numbers of cases `n`.
#' The probability that an estimate is within `half_width` is a mean over systems; estimates that
#' are `NA` count as errors above `half_width`. The probit of this probability is modelled as linear
#' in the square root of `n`. The result is the smallest `n` at which the line reaches `conf_level`,
#' and `NA` if there is none, usually because the estimate is biased.
#'
#' @section Plans for a measure of agreement: With the argument `agreement`, the plan is for the
#' interval of a measure of agreement between the raters of `design`, which must be [ratings()].
#' Cases are resampled, for several numbers of cases `n`. The half-width is the standard deviation
#' of the measure over resamples, times a quantile of Student's t distribution, and is modelled as
#' proportional to `1 / sqrt(n)`. Only `half_width`, `conf_level`, `cases` and `runs` can also be
#' given.
#'
#' @param design `NULL` (the default), a [rater_design()], a pilot, or a function of the number of
#'   cases; see section Design.
#' @param half_width Largest distance between an estimate and the true accuracy that is not exceeded
#'   with probability `conf_level`; in (0, 1), by default 0.1. With `agreement`, half the width of
#'   the interval.
#' @param conf_level Probability that an estimate is within `half_width`, or with `agreement` the
#'   level of the interval, in (0, 1). By default the level of `design` if it is an estimate;
#'   otherwise 0.9 or the option `fallible.conf_level`.
#' @param raters Number of raters for each case, 2 to 100, or several numbers to compare. By default
#'   `NULL`: the number of raters of the design or the length of `rater_accuracy`; otherwise 3.
#' @param rater_accuracy Probability that a rating is correct, in \[0, 1\], or a vector with a
#'   probability for each rater. Their mean must be above 1 / number of categories. `NULL`, the
#'   default: from `design` or `chance_kappa`.
#' @param chance_kappa Agreement of raters beyond chance, in (0, 1\], in place of `rater_accuracy`:
#'   (agreement - chance) / (1 - chance), where agreement is the share of equal pairs of ratings
#'   and chance is 1 / number of categories (Lehner 2015). This is not Fleiss' kappa.
#' @param system_accuracy Accuracy of the system, in \[0, 1\], or a vector with the accuracies of
#'   several systems. By default `NULL`, the accuracies of the design's systems or, if there are
#'   none, .1, .3, .5, .7 and .9 as in Lehner (2015).
#' @param cases The smallest and the largest number of cases to try, by default 2 and 20000. Or one
#'   number, if the number of cases is fixed: the plan then reports which numbers of raters are
#'   enough.
#' @param cost Cost of a case without its ratings, and of a rating, by default
#'   `c(case = 0, rating = 1)`, so that the total cost is the number of ratings.
#' @param estimator The name of a method of [estimate_accuracy()], by default `"joint"`; an
#'   [accuracy_estimator()]; or a function that takes [ratings()] and returns the estimated accuracy
#'   of each system. `"average"`, the default of [estimate_accuracy()], may need many more cases,
#'   and takes minutes.
#' @param runs Number of simulated data sets for each number of cases, or with `agreement` of
#'   resamples; at least 20, by default 500.
#' @param threads Number of threads for methods of [estimate_accuracy()], by default 1 or the option
#'   `fallible.threads`.
#' @param ... `of`: `"accuracy"` (the default), or `"difference"` to plan for the difference of
#'   accuracies between the first system and each other system on the same cases. `agreement`: the
#'   name of a measure of [measures()], such as `"krippendorff_alpha"`; see section Plans for a
#'   measure of agreement.
#' @return An object of class `case_plan`. `print()` shows the number of cases for each number of
#'   raters. [tidy()][tidy.case_plan] and [glance()][tidy.case_plan] return tables of cases,
#'   probabilities, half-widths and costs, [update()][tidy.case_plan] a plan with other arguments,
#'   and [autoplot()][autoplot.case_plan] a plot.
#' @family simulation
#' @templateVar where Section "Recommended use"
#' @template ref-lehner
#' @examples
#' # Raters with different accuracies, and cases with different difficulty
#' set.seed(1)
#' design <- rater_design(c(0.6, 0.7, 0.8), systems = 0.9, categories = 3, difficulty = 0.1)
#' # Are 2, 3 or 4 raters cheapest, if a case costs as much as five ratings?
#' plan <- plan_cases(design, raters = 2:4, cost = c(case = 5, rating = 1), runs = 20)
#' plan
#' tidy(plan)
#' @export
plan_cases <- function(design = NULL, half_width = 0.1, conf_level = level_of(design),
                       raters = NULL, rater_accuracy = NULL, chance_kappa = NULL,
                       system_accuracy = NULL, cases = c(2, 20000), cost = c(case = 0, rating = 1),
                       estimator = "joint", runs = 500L, threads = default_threads(), ...) {
  extra_arguments <- list(...)
  abort_argument_if("margin" %in% names(extra_arguments), "margin",
    "{.arg margin} does not exist; its new name is {.arg half_width}.")
  check_call(dots = c("agreement", "of"))
  arguments <- c(mget(setdiff(names(formals()), "...")), extra_arguments)
  if (inherits(design, "accuracy_estimate")) arguments$design <- design$fit$x
  if (!is.null(extra_arguments$agreement)) return(plan_agreement(arguments))
  settings <- c(
    list(
      of = check_choice(extra_arguments$of %||% "accuracy", c("accuracy", "difference"), "of"),
      half_width = check_number(half_width, "half_width", 1e-6, 1, open_max = TRUE),
      conf_level = check_level(conf_level), cost = check_cost(cost),
      runs = check_count(runs, "runs", 20L, 1000000L), threads = check_threads(threads)
    ),
    check_cases(cases), list(estimator = as_estimator(estimator)),
    # Adds the properties of raters and systems. If the user does not give a property, the property
    # of the design is used.
    plan_design(arguments)
  )
  abort_argument_if(settings$of == "difference" && length(settings$systems) < 2L, "system_accuracy",
    "must have at least two accuracies for a {.val difference}.")
  seed <- draw_seed()
  new_case_plan(simulate_plans(settings, seed), settings, arguments, seed)
}

# Checks the argument `cases`. Returns a list:
# * cases: the fixed number of cases, or NULL
# * least_cases, max_cases: the smallest and the largest number to try
check_cases <- function(cases) {
  if (length(cases) == 1L) return(list(
    cases = check_count(cases, "cases", min = 2L), least_cases = 2L, max_cases = 20000L
  ))
  abort_argument_if(length(cases) != 2L, "cases",
    "must be one number, or the smallest and the largest number to try.", not = cases)
  min_cases <- check_count(cases[[1L]], "cases", 2L, 10000000L)
  list(
    cases = NULL, least_cases = min_cases,
    max_cases = check_count(cases[[2L]], "cases", max(min_cases, 10L), 10000000L)
  )
}

# Checks the argument `cost`, and returns it with missing costs added from `default`. The user must
# give each cost whose default is NA.
check_cost <- function(cost, default = c(case = 0, rating = 1)) {
  cost_names <- names(cost)
  is_valid <- is.numeric(cost) && is_uniquely_named(cost) && all(cost_names %in% names(default)) &&
    all(is.finite(cost) & cost >= 0) && !anyNA(default[setdiff(names(default), cost_names)])
  abort_argument_if(!is_valid, "cost",
    "must be numbers of at least 0, {.code c({toString(paste(names(default), '= '))})}.",
    x = if (is.numeric(cost) && length(cost) > 0L) "It is
        {.val {cost}}{if (!is.null(cost_names)) ' for '}{.val {cost_names}}." else
      "It is {describe(cost)}.")
  replace(default, cost_names, cost)
}

# ---- Number of cases for an interval of a measure of agreement: plan_cases(agreement = ) --------

# Returns the result of plan_cases(agreement = ), an object of class case_plan. The cases of the
# ratings are resampled, for a few numbers n of cases near the required number. The half-width is
# about proportional to 1 / sqrt(n), so log(half-width) is regressed on log(n) with slope -1/2.
plan_agreement <- function(arguments) {
  unused_arguments <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy", "cost",
    "estimator")
  defaults <- lapply(formals(plan_cases)[unused_arguments], eval)
  given_arguments <-
    unused_arguments[!unlist(Map(identical, arguments[unused_arguments], defaults))]
  abort_argument_if(given_arguments, given_arguments,
    "{.arg {given_arguments}} cannot be used with {.arg agreement}.",
    i = "Leave out {.arg {given_arguments}}. The ratings in {.arg design} describe the raters.")
  abort_argument_if(is.null(arguments$design), "design",
    "must be ratings from a pilot study if {.arg agreement} is given.",
    i = "Let the raters rate some cases; {.fun plan_cases} resamples them.")
  judge_view <- new_judge_view(merge_reruns(as_ratings_of_several(arguments$design, "design")))
  abort_argument_if(!judge_view$counted, "design",
    "must contain no weights of cases, or weights that are whole numbers (numbers of cases).")
  settings <- c(list(
    half_width = check_number(arguments$half_width, "half_width", 0, 1, open_min = TRUE),
    conf_level = check_level(arguments$conf_level), pooling = "pairs", interval = "none",
    scale_name = no_weights_name, runs = check_count(arguments$runs, "runs", 20L, 1000000L)
  ), check_cases(arguments$cases))
  selected_measures <- find_measures(arguments$agreement, list(judge_view), settings)
  abort_argument_if(length(selected_measures) != 1L, "agreement",
    "must be the name of one measure. It selects {length(selected_measures)} measures.")
  settings$measure <- selected_measures[[1L]]
  seed <- draw_seed()
  curve <- with_run_seed(seed, agreement_curve(judge_view, settings))
  answer_row <- agreement_answer(curve, settings)
  caption <- sprintf(
    "Intervals of %s with a half-width of %s, %s", unname(measure_titles(settings$measure$id)),
    format(settings$half_width), interval_title(settings$conf_level)
  )
  result_line <- if (is.na(answer_row$cases)) {
    paste("No number of cases is computed:", answer_row$reason)
  } else {
    sprintf("%s (half-width %s)", count_noun(answer_row$cases, "case"),
      format_decimals(answer_row$half_width))
  }
  new_result("case_plan",
    tables = list(answer = answer_row, curve = curve), settings = settings, arguments = arguments,
    seed = seed,
    facts = c(
      as.list(answer_row[c("measure", "cases", "half_width")]), settings[c("conf_level", "runs")]
    ),
    line = result_line, caption = caption,
    head = c(caption, sprintf(
      "Resamples of %s of %s, %s for each number of cases",
      count_noun(sum(judge_view$cases), "case"), count_noun(judge_view$judges, "rater"),
      number(settings$runs)
    )),
    shown = view(
      curve, c("cases", "half_width", `MC error` = "half_width_mcse", "missing"), left = integer()
    ),
    notes = result_line, more = "tidy(), update()"
  )
}

# Returns a table with a row per simulated number of cases. Its columns are:
# * cases: number of cases
# * half_width, half_width_mcse: half-width of the interval, and its Monte Carlo standard error
# * missing: share of resamples in which the measure is undefined
#
# `view`: the ratings, and the number of cases of each pattern of ratings, see new_judge_view().
agreement_curve <- function(view, settings) {
  simulate_curve_row <- function(n) {
    measure_values <- apply(rmultinom(settings$runs, n, view$cases), 2L, function(cases) {
      view[c("weight", "cases")] <- list(cases, cases)
      evaluate_measure(settings$measure, view, settings)$estimate
    })
    defined_values <- measure_values[!is.na(measure_values)]
    half_width <- t_quantile(settings$conf_level, n) * sd(defined_values)
    columns_tibble(
      cases = n, half_width = half_width,
      half_width_mcse = half_width / sqrt(2 * max(length(defined_values) - 1, 1)),
      missing = mean(is.na(measure_values))
    )
  }
  if (!is.null(settings$cases)) return(simulate_curve_row(settings$cases))
  clamp_cases <- function(n) clamp(round(n), settings$least_cases, settings$max_cases)
  count_cases_needed <- function(row) row$cases * (row$half_width / settings$half_width)^2
  first_row <- simulate_curve_row(clamp_cases(sum(view$cases)))
  n_guessed_cases <- count_cases_needed(first_row)
  if (!is.finite(n_guessed_cases)) return(first_row)
  second_row <- simulate_curve_row(clamp_cases(n_guessed_cases))
  n_guessed_cases <- count_cases_needed(second_row)
  if (!is.finite(n_guessed_cases)) n_guessed_cases <- second_row$cases
  curve <- rbind(
    first_row, second_row,
    stack_rows(unique(clamp_cases(n_guessed_cases * c(0.7, 1, 1.4))), simulate_curve_row)
  )
  curve[order(curve$cases), ]
}

# Returns the smallest number of cases at which the fitted half-width is at most the required one.
# The result is a table with one row, which also contains the standard error of the number. `curve`:
# result of agreement_curve().
agreement_answer <- function(curve, settings) {
  usable_rows <- curve[is.finite(curve$half_width) & curve$half_width > 0, ]
  answer_row <- columns_tibble(
    measure = settings$measure$id, cases = NA_real_, std.error = NA_real_,
    half_width = min(c(usable_rows$half_width, NA), na.rm = TRUE), reason = NA_character_
  )
  if (!is.null(settings$cases)) {
    answer_row[c("cases", "half_width")] <- curve[c("cases", "half_width")]
    return(answer_row)
  }
  cases <- usable_rows$cases
  # Regression line of log(half-width) on log(cases) with slope -1/2. `intercept`: its value at 1
  # case.
  intercept <- weighted.mean(log(usable_rows$half_width) + log(cases) / 2, cases)
  n_needed_cases <- ceiling(exp(2 * (intercept - log(settings$half_width))))
  if (n_distinct(cases) < 2L) {
    answer_row$reason <- "the measure does not vary between resamples"
  } else if (n_needed_cases > settings$max_cases) {
    answer_row$reason <- paste("more than", number(settings$max_cases), "cases are needed")
  } else {
    answer_row$cases <- max(n_needed_cases, settings$least_cases)
    relative_error <- usable_rows$half_width_mcse / usable_rows$half_width
    case_share <- cases / sum(cases)
    answer_row$std.error <- 2 * answer_row$cases * sqrt(sum((case_share * relative_error)^2))
    answer_row$half_width <- exp(intercept - log(answer_row$cases) / 2)
  }
  answer_row
}

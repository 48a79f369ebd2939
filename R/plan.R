#' Number of cases and raters for a study
#'
#' Computes by simulation the smallest number of cases with which the estimated accuracy of a system
#' is within `half_width` of its true accuracy with probability `conf_level`. It compares several
#' numbers of raters, and their costs. The interval of [estimate_accuracy()] is wider: it also
#' allows for unknown shared errors (errors that systems and raters make on the same cases), which
#' more cases do not reduce. For a narrower interval, use [plan_gold()].
#'
#' @section Assumptions: If `design` is `NULL`, there are five categories with random base rates,
#' raters are equally accurate, all errors equally probable, and all cases equally difficult. The
#' arguments `rater_accuracy`, `chance_kappa` and `system_accuracy` replace accuracies in the
#' design. If the number of raters differs from the number of given accuracies, evenly spaced
#' quantiles of the given accuracies are used. With several systems, probabilities are means over
#' systems.
#'
#' `design` may also be a function of the number of cases that returns ratings with their truth, as
#' in [simulation_study()]. It should draw one case after the other, so that a panel with more cases
#' begins with the cases of a panel with fewer. It defines raters and systems, so the arguments for
#' their number and accuracy cannot be given.
#'
#' @section Pilot: If `design` is ratings, a fit or an estimate, the design is estimated from it:
#' numbers of raters and categories, base rates, share of missing ratings, and accuracies of raters
#' and systems. Raters have different accuracies if there are at least three raters and at least
#' half of the ratings are present; otherwise they are equally accurate. If more than half are
#' missing, the number of raters is the mean number of ratings per case. To use the `dispersion` or
#' `difficulty` of a pilot, give a fit of a model with these parameters. The estimated design has no
#' shared errors.
#'
#' @section Simulation: A panel is a set of simulated ratings and answers of systems. Panels are
#' simulated for a few numbers of cases `n`. The probit of the probability that an estimate is
#' within `half_width` is modelled as linear in the square root of `n`, which is nearly true for
#' unbiased estimates with normal errors. The result is the smallest `n` at which the line reaches
#' `conf_level`. It is `NA` if no number of cases is enough, usually because the estimate is biased.
#' Estimates that are `NA` count as not within `half_width`.
#'
#' @section Advice of Lehner (2015): For three raters, five categories, `half_width = 0.1` and
#' `conf_level = 0.9`, Lehner advises at least 200 cases if kappa is around .3, and 100 cases if it
#' is around .55. For these settings, `print()` shows this advice and the simulated probability.
#'
#' @section Plans for a measure of agreement: With the argument `agreement`, the plan is for the
#' interval of a measure of agreement between raters. `design` must be ratings. Their cases are
#' resampled, for several numbers of cases `n`. The half-width is the standard deviation of the
#' measure over resamples, times a quantile of Student's t distribution. It is modelled as
#' proportional to `1 / sqrt(n)`.
#'
#' @param design A [rater_design()] (its number of cases is ignored); a function of the number of
#'   cases; or a pilot: [ratings()], a [fit_raters()] result or an [estimate_accuracy()] result. By
#'   default `NULL`, a design with five categories.
#' @param half_width Required half-width: the largest distance between an estimate and the true
#'   accuracy, in (0, 1), that is not exceeded with probability `conf_level`. By default 0.1. With
#'   `agreement`, half the width of the interval.
#' @param conf_level Probability that an estimate is within `half_width`, in (0, 1). By default the
#'   level of `design` if it is an estimate; otherwise 0.9, or option `fallible.conf_level` (see
#'   [fallible-options]).
#' @param raters Number of raters for each case, at least 2; or several numbers to compare. By
#'   default `NULL`, the number of raters of the design or the length of `rater_accuracy`; otherwise
#'   3.
#' @param rater_accuracy Probability that a rating is correct, or a vector with a probability for
#'   each rater. Their mean must be above 1 / number of categories.
#' @param chance_kappa Agreement of raters beyond chance, in (0, 1\], as an alternative to
#'   `rater_accuracy`. It is (agreement - chance) / (1 - chance), where agreement is the share of
#'   equal pairs of ratings and chance is 1 / number of categories (Lehner 2015). This is not
#'   Fleiss' kappa.
#' @param system_accuracy Accuracy of the system, in \[0, 1\], or a vector with the accuracies of
#'   several systems. By default `NULL`, the accuracies of the design's systems, or .1, .3, .5, .7
#'   and .9 as in Lehner (2015).
#' @param cases The smallest and the largest number of cases to try, by default 2 and 20000. Or one
#'   number, if the number of cases is fixed: the plan then reports which numbers of raters are
#'   enough.
#' @param cost Cost of a case without its ratings, and of a rating, by default
#'   `c(case = 0, rating = 1)`, so that the total cost is the number of ratings.
#' @param estimator The name of a method of [estimate_accuracy()], by default `"joint"`; an
#'   [accuracy_estimator()]; or a function of ratings, as in [simulation_study()]. `"average"`, the
#'   default of [estimate_accuracy()], is corrected for shared errors; it may need many more cases,
#'   and its simulation takes minutes.
#' @param runs Number of simulated panels for each number of cases, at least 20, by default 500.
#'   With `agreement`, number of resamples.
#' @param threads Number of threads for methods of [estimate_accuracy()]; see [fallible-options].
#' @param ... `of`: `"accuracy"` (the default), or `"difference"` for the difference of accuracies
#'   between the first system and each other system on the same cases. `agreement`: the name of a
#'   measure of [measures()], such as `"krippendorff_alpha"`, to plan for its interval; the only
#'   other arguments are then `design`, `half_width`, `conf_level`, `cases` and `runs`. See section
#'   Plans for a measure of agreement.
#' @return An object of class `case_plan` with methods for `print()`, [tidy()][tidy.case_plan],
#'   [glance()][tidy.case_plan], [update()][tidy.case_plan] and [autoplot()][autoplot.case_plan].
#' @family simulation
#' @templateVar where Section "Recommended use"
#' @template ref-lehner
#' @examples
#' # Raters with different accuracies, and cases with different difficulty
#' set.seed(1)
#' design <- rater_design(c(0.6, 0.7, 0.8), systems = 0.9, categories = 3, difficulty = 0.1)
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
  settings <- plan_settings(arguments)
  seed <- draw_seed()
  show_case_plan(simulate_plans(settings, seed), settings, arguments, seed)
}

# Checks the arguments of plan_cases(), and returns the settings of a plan. Properties of raters and
# systems that the user does not give are those of the design.
plan_settings <- function(x) {
  settings <- c(
    list(
      of = check_choice(x$of %||% "accuracy", c("accuracy", "difference"), "of"),
      half_width = check_number(x$half_width, "half_width", 1e-6, 1, open_max = TRUE),
      conf_level = check_level(x$conf_level), cost = check_cost(x$cost),
      runs = check_count(x$runs, "runs", 20L, 1000000L), threads = check_threads(x$threads)
    ),
    check_cases(x$cases), list(estimator = as_estimator(x$estimator)), plan_design(x)
  )
  abort_argument_if(settings$of == "difference" && length(settings$systems) < 2L, "system_accuracy",
    "must have at least two accuracies for a {.val difference}.")
  settings
}

# Checks the argument `cases`. Returns a list:
# * cases: the fixed number of cases, or NULL
# * least_cases, max_cases: the smallest and the largest number to try
check_cases <- function(cases) {
  if (length(cases) == 1L) {
    return(list(
      cases = check_count(cases, "cases", min = 2L), least_cases = 2L, max_cases = 20000L
    ))
  }
  abort_argument_if(length(cases) != 2L, "cases",
    "must be one number, or the smallest and the largest number to try.", not = cases)
  smallest <- check_count(cases[[1L]], "cases", 2L, 10000000L)
  list(
    cases = NULL, least_cases = smallest,
    max_cases = check_count(cases[[2L]], "cases", max(smallest, 10L), 10000000L)
  )
}

# Checks the argument `cost`, and returns it with missing costs added from `default`. A cost whose
# default is NA must be given.
check_cost <- function(cost, default = c(case = 0, rating = 1)) {
  names <- names(cost)
  is_valid <- is.numeric(cost) && is_uniquely_named(cost) && all(names %in% names(default)) &&
    all(is.finite(cost) & cost >= 0) && !anyNA(default[setdiff(names(default), names)])
  abort_argument_if(!is_valid, "cost",
    "must be numbers of at least 0, {.code c({toString(paste(names(default), '= '))})}.",
    x = if (is.numeric(cost) && length(cost) > 0L) "It is
        {.val {cost}}{if (!is.null(names)) ' for '}{.val {names}}." else "It is {describe(cost)}.")
  replace(default, names, cost)
}

# ---- Number of cases for an interval of a measure of agreement: plan_cases(agreement = ) --------

# Returns the result of plan_cases(agreement = ). Resamples the cases of the ratings, for a few
# numbers n of cases near the required number. The half-width is about proportional to 1 / sqrt(n),
# so log(half-width) is regressed on log(n).
plan_agreement <- function(arguments) {
  unused_arguments <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy", "cost",
    "estimator")
  defaults <- lapply(formals(plan_cases)[unused_arguments], eval)
  given <- unused_arguments[!unlist(Map(identical, arguments[unused_arguments], defaults))]
  abort_argument_if(given, given, "{.arg {given}} cannot be used with {.arg agreement}.",
    i = "Leave out {.arg {given}}; raters are described by the ratings {.arg design}.")
  view <- new_judge_view(merge_reruns(as_ratings_of_several(arguments$design, "design")))
  abort_argument_if(!view$counted, "design",
    "must have weights that are numbers of cases, or no weights.")
  settings <- c(list(
    half_width = check_number(arguments$half_width, "half_width", 0, 1, open_min = TRUE),
    conf_level = check_level(arguments$conf_level), pooling = "pairs", interval = "none",
    scale_name = no_weights_name, runs = check_count(arguments$runs, "runs", 20L, 1000000L)
  ), check_cases(arguments$cases))
  measure <- find_measures(arguments$agreement, list(view), settings)
  abort_argument_if(length(measure) != 1L, "agreement", "must be one measure.")
  settings$measure <- measure[[1L]]
  seed <- draw_seed()
  curve <- with_run_seed(seed, agreement_curve(view, settings))
  show_agreement_plan(curve, view, settings, arguments, seed)
}

# Returns a table with a row per simulated number of cases. Its columns are:
# * cases: number of cases
# * half_width, half_width_mcse: half-width of the interval, and its Monte Carlo standard error
# * missing: share of resamples in which the measure is undefined
#
# `view`: the ratings and numbers of cases, see new_judge_view().
agreement_curve <- function(view, settings) {
  curve_row <- function(n) {
    value <- apply(stats::rmultinom(settings$runs, n, view$cases), 2L, function(cases) {
      view[c("weight", "cases")] <- list(cases, cases)
      evaluate_measure(settings$measure, view, settings)$estimate
    })
    defined_values <- value[!is.na(value)]
    half_width <- t_quantile(settings$conf_level, n) * stats::sd(defined_values)
    columns_tibble(
      cases = n, half_width = half_width, half_width_mcse = half_width /
        sqrt(2 * max(length(defined_values) - 1, 1)),
      missing = mean(is.na(value))
    )
  }
  if (!is.null(settings$cases)) return(curve_row(settings$cases))
  clamp_cases <- function(n) clamp(round(n), settings$least_cases, settings$max_cases)
  cases_needed <- function(row) row$cases * (row$half_width / settings$half_width)^2
  first_row <- curve_row(clamp_cases(sum(view$cases)))
  cases_guess <- cases_needed(first_row)
  if (!is.finite(cases_guess)) return(first_row)
  second_row <- curve_row(clamp_cases(cases_guess))
  cases_guess <- cases_needed(second_row)
  if (!is.finite(cases_guess)) cases_guess <- second_row$cases
  curve <- rbind(
    first_row, second_row, stack_rows(unique(clamp_cases(cases_guess * c(0.7, 1, 1.4))), curve_row)
  )
  curve[order(curve$cases), ]
}

# Returns the smallest number of cases at which the fitted half-width is at most the required one.
# The result is a table with one row, which also contains the standard error of the number. `curve`:
# result of agreement_curve().
agreement_answer <- function(curve, settings) {
  usable <- curve[is.finite(curve$half_width) & curve$half_width > 0, ]
  answer <- columns_tibble(
    measure = settings$measure$id, cases = NA_real_, std.error = NA_real_,
    half_width = min(c(usable$half_width, NA), na.rm = TRUE), reason = NA_character_
  )
  if (!is.null(settings$cases)) {
    answer[c("cases", "half_width")] <- curve[c("cases", "half_width")]
    return(answer)
  }
  cases <- usable$cases
  if (n_distinct(cases) < 2L) {
    answer$reason <- "the measure does not vary between resamples"
    return(answer)
  }
  # Regression line of log(half-width) on log(cases) with slope -1/2. `intercept`: its value at 1
  # case.
  intercept <- stats::weighted.mean(log(usable$half_width) + log(cases) / 2, cases)
  n <- ceiling(exp(2 * (intercept - log(settings$half_width))))
  if (n > settings$max_cases) {
    answer$reason <- paste("more than", number(settings$max_cases), "cases are needed")
    return(answer)
  }
  answer$cases <- max(n, settings$least_cases)
  relative_error <- usable$half_width_mcse / usable$half_width
  share <- cases / sum(cases)
  answer$std.error <- 2 * answer$cases * sqrt(sum((share * relative_error)^2))
  answer$half_width <- exp(intercept - log(answer$cases) / 2)
  answer
}

# Creates the result of plan_cases(agreement = ), an object of class case_plan.
show_agreement_plan <- function(curve, view, settings, arguments, seed) {
  answer <- agreement_answer(curve, settings)
  caption <- sprintf(
    "Intervals of %s with a half-width of %s, %s", unname(measure_titles(settings$measure$id)),
    format(settings$half_width), interval_title(settings$conf_level)
  )
  line <- if (is.na(answer$cases)) paste("No number of cases is computed:", answer$reason) else
    sprintf("%s (half-width %s)", count_noun(answer$cases, "case"),
      format_decimals(answer$half_width))
  new_result("case_plan",
    tables = list(answer = answer, curve = curve), settings = settings, arguments = arguments,
    seed = seed,
    facts = c(
      as.list(answer[c("measure", "cases", "half_width")]), settings[c("conf_level", "runs")]
    ),
    line = line, caption = caption,
    head = c(caption, sprintf(
      "Resamples of %s of %s, %s for each number of cases", count_noun(sum(view$cases), "case"),
      count_noun(view$judges, "rater"), number(settings$runs)
    )),
    shown = view(
      curve, c("cases", "half_width", `MC error` = "half_width_mcse", "missing"), left = integer()
    ),
    notes = line, more = "tidy(), update()"
  )
}

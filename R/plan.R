#' Number of cases and raters for a study
#'
#' Computes the smallest number of cases with which the estimated accuracy of a system is within
#' `half_width` of its true accuracy with probability `conf_level`. It compares several numbers of
#' raters, and their costs.
#'
#' @section Assumptions:
#' A [rater_design()] specifies how raters and systems answer: the number of categories and their
#' base rates, missing ratings, and the K-properties that do not hold. Without a design there are
#' five categories, base rates are `"uniform"`, and the K-properties hold. Other arguments replace
#' properties of the design.
#'
#' Raters are described by an accuracy, or by the kappa of a pilot. A kappa is converted to the
#' accuracy of equally accurate raters under the violations of the design. For other numbers of
#' raters, accuracies are evenly spaced quantiles of those given. Raters who copy, or whose
#' confusion matrices are given, cannot be replaced, so that their number is fixed. With several
#' systems, probabilities are means over systems.
#'
#' Instead of a design, `design` may be a function of the number of cases that returns ratings with
#' their truth, as in [simulation_study()]. It defines raters and systems, so that they cannot be
#' given as arguments. Unless it draws case by case, different numbers of cases are compared on
#' different panels.
#'
#' @section Simulation:
#' Panels are simulated at a few numbers of cases, as by [simulation_study()]; a panel with more
#' cases begins with the cases of the panel with fewer. The probit of the probability is modelled as
#' linear in the square root of the number of cases. This holds for an unbiased estimate with normal
#' errors. The line is fitted around the target. The answer is the smallest number of cases at which
#' the line reaches the target. Its standard error treats panels as independent. An estimate that is
#' `NA` is never within the margin. If no number of cases is enough, usually because the estimate is
#' biased, the answer is `NA`, with the reason and the best probability that was found.
#'
#' @section The paper's advice:
#' Lehner (2015) gives advice for three raters, five categories, a margin of .1 and probability .9:
#' at least 200 cases if kappa is around .3, and 100 cases if it is around .55. The print repeats
#' this advice if it applies (kappa .25 to .35, and .5 to .6). It adds the probability at this
#' number of cases under the settings of the plan.
#'
#' @section Agreement:
#' With `agreement`, the cases of the ratings are resampled, `runs` times for each of several
#' numbers of cases. The half-width is the standard deviation of the measure times the quantile of
#' Student's t distribution that [agreement()] uses. The logarithm of the half-width is modelled as
#' linear in the logarithm of the number of cases, with slope -1/2.
#'
#' @section Pilot:
#' The plan estimates the design from the ratings of a pilot, or a fit to them: number of raters and
#' categories, share of missing ratings, base rates, accuracies of raters and systems. Ratings are
#' fitted with an accuracy for each rater if at least three raters are named and at least half of
#' the ratings are present. Otherwise they are fitted with the K-model. To use `dispersion` and
#' `difficulty` of a pilot, give a fit. If more than half of the ratings are missing, the pilot is a
#' crowd. It is planned as panels with the mean number of ratings per case as number of raters.
#'
#' @param design A [rater_design()] (its number of cases is ignored); or a function of the number of
#'   cases; or [ratings()] of a pilot, or a [fit_raters()] result; or `NULL`.
#' @param half_width Largest distance between an estimate and the true accuracy, in (0, 1), that is
#'   kept with probability `conf_level`. With `agreement`, half the width of its interval.
#' @param conf_level Probability that an estimate is within `half_width`, in (0, 1); see
#'   [fallible-options].
#' @param raters Number of raters for each case, at least 2; or several numbers to compare. By
#'   default that of the design, or 3.
#' @param rater_accuracy Probability that a rater is right, above 1 / number of categories; or one
#'   for each rater.
#' @param chance_kappa Agreement of raters beyond chance, in (0, 1\], as an alternative to
#'   `rater_accuracy`. Chance agreement is 1 / number of categories. This is the kappa of Lehner
#'   (2015), not Fleiss' kappa.
#' @param system_accuracy Probability that the system is right, or several such probabilities. By
#'   default the accuracies of the design's systems, or .1, .3, .5, .7 and .9 as in the paper.
#' @param cases The smallest and the largest number of cases to try. Or one number, if the number of
#'   cases is fixed: the plan then reports which numbers of raters are enough.
#' @param cost Cost of a case without its ratings, and of a rating: `c(case = , rating = )`. One of
#'   them may be left out. By default the cost is the number of ratings.
#' @param estimator The name of a method of [estimate_accuracy()], an [accuracy_estimator()], or a
#'   function of ratings, as in [simulation_study()]. `"average"`, the default of
#'   [estimate_accuracy()], may need many more cases, because it is corrected for shared errors; its
#'   simulation takes minutes.
#' @param runs Number of panels for each number of cases, at least 20. All systems are evaluated on
#'   the same panels.
#' @param threads Number of threads for methods of [estimate_accuracy()]; see [fallible-options].
#' @param ... `agreement`: a measure of [measures()], such as `"krippendorff_alpha"`. The plan then
#'   reports the number of cases for which its interval has this `half_width`. `design` must be
#'   ratings, and the only other arguments used are `conf_level`, `cases` and `runs`. See Agreement.
#' @return An object of class `case_plan` with methods for `print()`, [tidy()][tidy.case_plan],
#'   [glance()][tidy.case_plan], [update()][tidy.case_plan] and [autoplot()][autoplot.case_plan].
#' @family simulation
#' @templateVar where Recommended use
#' @template ref-lehner
#' @examples
#' # Raters with different accuracies, and cases with different difficulty
#' set.seed(1)
#' design <- rater_design(c(0.6, 0.7, 0.8), systems = 0.9, categories = 3, difficulty = 0.1)
#' plan <- plan_cases(design, raters = 2:4, cost = c(case = 5, rating = 1), runs = 20)
#' plan
#' tidy(plan)
#' @export
plan_cases <- function(design = NULL, half_width = 0.1, conf_level = default_conf_level(),
                       raters = NULL, rater_accuracy = NULL, chance_kappa = NULL,
                       system_accuracy = NULL, cases = c(2, 20000), cost = c(case = 0, rating = 1),
                       estimator = "joint", runs = 500L, threads = default_threads(), ...) {
  more <- list(...)
  abort_argument_if("margin" %in% names(more), "margin",
    "{.arg margin} is called {.arg half_width}.")
  check_dots_empty(..., .but = "agreement")
  arguments <- c(mget(setdiff(names(formals()), "...")), more)
  if (!is.null(more$agreement)) return(plan_agreement(arguments))
  settings <- plan_settings(arguments)
  seed <- draw_seed()
  new_case_plan(simulated_parts(settings, seed), settings, arguments, seed)
}

# Checked arguments. The design provides what is not given.
plan_settings <- function(x) {
  c(
    list(
      half_width = check_number(x$half_width, "half_width", 1e-6, 1, open_max = TRUE),
      conf_level = check_level(x$conf_level), cost = check_cost(x$cost),
      runs = check_count(x$runs, "runs", 20L, 1000000L), threads = check_threads(x$threads)
    ),
    check_cases(x$cases), list(estimator = as_estimator(x$estimator)), plan_design(x)
  )
}

# Fields: cases, a number or NULL; and least_cases and max_cases, the range of the search.
check_cases <- function(cases) {
  if (length(cases) == 1L) {
    cases <- check_count(cases, "cases", min = 2L)
    return(list(cases = cases, least_cases = 2L, max_cases = 20000L))
  }
  abort_argument_if(length(cases) != 2L, "cases",
    "must be one number, or the least and the largest number to try.", not = cases)
  least <- check_count(cases[[1L]], "cases", 2L, 10000000L)
  most <- check_count(cases[[2L]], "cases", max(least, 10L), 10000000L)
  list(cases = NULL, least_cases = least, max_cases = most)
}

# Costs named as in `default`, for example of a case and of a rating. Names with default NA are
# required.
check_cost <- function(cost, default = c(case = 0, rating = 1)) {
  names <- names(cost)
  ok <- is.numeric(cost) && !is.null(names) && all(names %in% names(default)) &&
    anyDuplicated(names) == 0L && all(is.finite(cost)) && all(cost >= 0) &&
    !anyNA(default[setdiff(names(default), names)])
  abort_argument_if(!ok, "cost",
    "must be numbers of 0 or more, {.code c({toString(paste(names(default), '= '))})}.",
    x = if (is.numeric(cost) && length(cost) > 0L) "It is
        {.val {cost}}{if (!is.null(names)) ' for '}{.val {names}}." else "It is {describe(cost)}.")
  replace(default, names, cost)
}

# Joins the tables of all numbers of raters, and adds the cost of each row.
new_case_plan <- function(parts, settings, arguments, seed) {
  stacked <- function(part) tibble::as_tibble(stack_rows(parts, `[[`, part))
  table <- stacked("answer")
  given <- settings$raters * (1 - settings$missing) # mean number of ratings of a case
  enough <- is.na(table$reason)
  table$ratings <- table$cases * given
  table$cost <- table$cases * (settings$cost[["case"]] + given * settings$cost[["rating"]])
  table$cheapest <- enough & table$cost %in% min(table$cost[enough], Inf)
  show_case_plan(list(
    answer = table[c(setdiff(names(table), "reason"), "reason")], curve = stacked("curve"),
    settings = settings, arguments = arguments, seed = seed
  ))
}

# Number of cases for an interval of an agreement measure: plan_cases(agreement = ).

# Resamples the cases of the ratings, for a few values of n near the answer. The half-width is about
# proportional to 1 / sqrt(n), so log(half-width) is regressed on log(n).
plan_agreement <- function(arguments) {
  unused <- c("raters", "rater_accuracy", "chance_kappa", "system_accuracy", "cost", "estimator")
  defaults <- lapply(formals(plan_cases)[unused], eval)
  given <- unused[!unlist(Map(identical, arguments[unused], defaults))]
  abort_argument_if(given, given, "{.arg {given}} {?has/have} no use in a plan for agreement.",
    i = "The ratings {.arg design} show how raters agree.")
  view <- new_view(merge_reruns(as_ratings_of_several(arguments$design, "design")))
  abort_argument_if(!view$counted, "design", "must have whole cases: its weights are not counts.")
  settings <- list(
    half_width = check_number(arguments$half_width, "half_width", 0, 1, open_min = TRUE),
    conf_level = check_level(arguments$conf_level), pooling = "pairs", interval = "none",
    scale_name = unweighted, runs = check_count(arguments$runs, "runs", 20L, 1000000L)
  )
  settings <- c(settings, check_cases(arguments$cases))
  measure <- find_measures(arguments$agreement, list(view), settings)
  abort_argument_if(length(measure) != 1L, "agreement", "must be one measure.")
  settings$measure <- measure[[1L]]
  seed <- draw_seed()
  curve <- with_run_seed(seed, agreement_curve(view, settings))
  show_agreement_plan(curve, view, settings, arguments, seed)
}

# A row per number of cases: half-width of the interval, its Monte Carlo error, and the share of
# resamples with an undefined measure.
agreement_curve <- function(view, settings) {
  at <- function(n) {
    drawn <- stats::rmultinom(settings$runs, n, view$cases)
    value <- apply(drawn, 2L, function(cases) {
      view[c("weight", "cases")] <- list(cases, cases)
      evaluate(settings$measure, view, settings)$estimate
    })
    known <- value[!is.na(value)]
    half <- t_quantile(settings$conf_level, n) * stats::sd(known)
    tibble::tibble(
      cases = n, half_width = half, half_width_mcse = half / sqrt(2 * max(length(known) - 1, 1)),
      missing = mean(is.na(value))
    )
  }
  if (!is.null(settings$cases)) return(at(settings$cases))
  inside <- function(n) pmin(pmax(round(n), settings$least_cases), settings$max_cases)
  cases_needed <- function(row) row$cases * (row$half_width / settings$half_width)^2
  first <- at(inside(sum(view$cases)))
  guess <- cases_needed(first)
  if (!is.finite(guess)) return(first)
  second <- at(inside(guess))
  guess <- cases_needed(second)
  if (!is.finite(guess)) guess <- second$cases
  sizes <- unique(inside(guess * c(0.7, 1, 1.4)))
  curve <- rbind(first, second, stack_rows(sizes, at))
  curve[order(curve$cases), ]
}

# Least number of cases at which the fitted half-width is small enough, and its standard error.
agreement_answer <- function(curve, settings) {
  near <- curve[is.finite(curve$half_width) & curve$half_width > 0, ]
  answer <- tibble::tibble(
    measure = settings$measure$id, cases = NA_real_, std.error = NA_real_,
    half_width = min(c(near$half_width, NA), na.rm = TRUE), reason = NA_character_
  )
  if (!is.null(settings$cases)) {
    answer[c("cases", "half_width")] <- curve[c("cases", "half_width")]
    return(answer)
  }
  if (length(unique(near$cases)) < 2L) {
    answer$reason <- "the measure does not vary between resamples"
    return(answer)
  }
  # The slope is fixed at -1/2.
  level <- stats::weighted.mean(log(near$half_width) + log(near$cases) / 2, near$cases)
  n <- ceiling(exp(2 * (level - log(settings$half_width))))
  if (n > settings$max_cases) {
    answer$reason <- paste("more than", number(settings$max_cases), "cases are needed")
    return(answer)
  }
  answer$cases <- max(n, settings$least_cases)
  relative <- near$half_width_mcse / near$half_width
  share <- near$cases / sum(near$cases)
  answer$std.error <- 2 * answer$cases * sqrt(sum((share * relative)^2))
  answer$half_width <- exp(level - log(answer$cases) / 2)
  answer
}

show_agreement_plan <- function(curve, view, settings, arguments, seed) {
  answer <- agreement_answer(curve, settings)
  title <- unname(measure_titles(settings$measure$id))
  caption <- paste0(
    "Intervals of ", title, " with a half-width of ", format(settings$half_width), ", ",
    interval_title(settings$conf_level)
  )
  line <- if (is.na(answer$cases)) paste("No number of cases is given:", answer$reason) else
    paste0(count_noun(answer$cases, "case"), " (half-width ", decimals(answer$half_width), ")")
  new_result("case_plan",
    tables = list(answer = answer, curve = curve), settings = settings, arguments = arguments,
    seed = seed,
    facts = c(
      as.list(answer[c("measure", "cases", "half_width")]), settings[c("conf_level", "runs")]
    ),
    line = line, caption = caption,
    head = c(caption, paste0(
      "Resamples of ", count_noun(sum(view$cases), "case"), " of ",
      count_noun(view$judges, "rater"), ", ", number(settings$runs), " for each number of cases"
    )),
    shown = view(
      curve, c("cases", "half_width", `MC error` = "half_width_mcse", "missing"), left = integer()
    ),
    notes = line, more = "tidy(), update()"
  )
}

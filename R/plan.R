#' How many cases, or raters
#'
#' Finds the number of cases that brings the estimated accuracy of a system within a margin of the
#' true one with a given probability; for several numbers of raters, and at a cost.
#'
#' @section What is assumed:
#' A [rater_design()] says how raters and systems answer, and with it how many categories there are,
#' how frequent they are, what is missing, and which K-properties are broken. Without one there are
#' five categories, base rates are `"uniform"`, and the K-properties hold.
#'
#' Raters may be described by an accuracy instead, or by the kappa that a pilot found (against
#' chance agreement 1 / number of categories): raters of one accuracy would then have that kappa,
#' under the violations of the design. Arguments replace what the design says: with `chance_kappa`
#' the accuracies of its raters do not matter. Where accuracies differ, other numbers of raters have
#' accuracies that spread alike, at evenly spaced quantiles; raters who copy, or whose confusion
#' matrices are given, are planned for as they are. With several systems probabilities are means
#' over them.
#'
#' A function of the number of cases that returns ratings with their truth, as for
#' [simulation_study()], may stand in the place of a design. It says itself how raters and systems
#' answer, so that only `margin`, `conf_level`, `cases`, `cost`, `estimator` and `runs` may be given
#' beside it; and unless it draws case by case, numbers of cases are not compared on the same
#' panels.
#'
#' @section Simulation:
#' Panels are drawn at a few numbers of cases, as [simulation_study()] draws them. A panel with more
#' cases begins with those of the panel with fewer, so that numbers of cases are compared on the
#' same panels. The probit of the probability is taken as a line in the square root of the number of
#' cases, as it is for an unbiased estimate with normal errors, and fitted around the target. The
#' smallest number at which the line is high enough is the answer, and its standard error counts
#' panels. An estimate that is `NA` is not within any margin. Where no number of cases suffices,
#' usually because the estimate is biased, the answer is `NA`, with the reason and the best that was
#' found.
#'
#' @section Approximation:
#' With `runs = 0` nothing is simulated: joint estimates under the K-model are taken as
#' normal around the truth with the variance that the Fisher information gives, cut at 0 and 1. It
#' is made for a first look: in simulations with 2 to 10 categories, 2 to 5 raters and kappa from .1
#' to .8 its numbers of cases were right to within 10% in four of five settings and to within 25% in
#' 95%. Where kappa is .2 or less they can be far too low, with two categories and two raters down
#' to .4 of what is needed. It knows nothing of violations, and only of this one method.
#'
#' @section The paper's advice:
#' Lehner (2015) advises, for three raters, five categories, a margin of .1 and probability .9, at
#' least 200 cases if kappa is around .3, and finds 100 sufficient if it is around .55. The
#' print repeats this where it applies (kappa .25 to .35, and .5 to .6), with the probability that
#' so many cases have under the settings of the plan.
#'
#' @section Pilot:
#' The ratings of a pilot, or a fit to them, may stand for a design: from them come the number of
#' raters and categories, the share of missing ratings, base rates, accuracies of raters and, if
#' there are systems, their accuracies. Ratings are fitted with an
#' accuracy for each rater, if there are three or more who are known by name and who rated at least
#' half of the cases, and with the K-model otherwise; give a fit of your choice instead to have
#' `dispersion` and `difficulty` from it. A crowd, where more than half of the ratings are missing,
#' counts as panels of as many raters as rated a case on average.
#'
#' @param design A [rater_design()] (its number of cases does not matter); or a function of the
#'   number of cases; or [ratings()] of a pilot, or a [fit_raters()] result; or `NULL`.
#' @param margin How far an estimate may be from the true accuracy, in (0, 1).
#' @param conf_level Probability with which it is to be no further, in (0, 1); see
#'   [fallible-options].
#' @param raters Number of raters for each case, at least 2; or several such numbers, to be
#'   compared. Those of the design by default, or 3.
#' @param rater_accuracy Probability that a rater is right, above 1 / number of categories; or one
#'   for each rater.
#' @param chance_kappa Agreement of raters beyond the chance of guesses, 1 / number of categories,
#'   in (0, 1\], instead: the kappa of Lehner (2015), which is not Fleiss'.
#' @param system_accuracy Probability that the system is right, or several such probabilities; by
#'   default those of the design's systems, or .1, .3, .5, .7 and .9 as in the paper.
#' @param cases The least and the largest number of cases between which to look; or one number, if
#'   it is settled: the plan then says which numbers of raters are enough.
#' @param cost Cost of a case beside its ratings, and of a rating: `c(case = , rating = )`, of which
#'   one may be left out. By default the cost is the number of ratings.
#' @param estimator The name of a method of [estimate_accuracy()], an [accuracy_estimator()], or a
#'   function of ratings, as for [simulation_study()].
#' @param runs Number of panels for each number of cases, at least 20. All systems are judged on
#'   each. 0 answers from a formula instead of simulations; see Approximation.
#' @param threads Number of threads for methods of [estimate_accuracy()]; see [fallible-options].
#' @return An object of class `case_plan` with methods for `print()`, [tidy()][tidy.case_plan],
#'   [glance()][tidy.case_plan], [update()][tidy.case_plan] and [autoplot()][autoplot.case_plan].
#' @family simulation
#' @templateVar where Recommended use
#' @template ref-lehner
#' @examples
#' plan_cases(chance_kappa = 0.3, raters = 2:4, runs = 0)
#'
#' set.seed(1)
#' plan <- plan_cases(rater_accuracy = 0.6, system_accuracy = 0.8, runs = 100)
#' plan
#' tidy(plan)
#'
#' # Raters who differ, on cases that do
#' design <- rater_design(c(0.6, 0.7, 0.8), systems = 0.9, categories = 3, difficulty = 0.1)
#' plan_cases(design, raters = 2:4, cost = c(case = 5, rating = 1), runs = 20)
#' @export
plan_cases <- function(design = NULL, margin = 0.1, conf_level = default_conf_level(),
                       raters = NULL, rater_accuracy = NULL, chance_kappa = NULL,
                       system_accuracy = NULL, cases = c(2, 20000), cost = c(case = 0, rating = 1),
                       estimator = "joint", runs = 500L, threads = default_threads()) {
  arguments <- mget(names(formals()))
  settings <- plan_settings(arguments)
  settings$threads <- check_threads(threads)
  seed <- if (settings$approximate) NULL else draw_seed()
  parts <- if (settings$approximate) {
    lapply(settings$raters, approximate_part, settings = settings)
  } else {
    simulated_parts(settings, seed)
  }
  new_case_plan(parts, settings, arguments, seed)
}

# Checked arguments, with what the design says in place of what is not given.
plan_settings <- function(x) {
  settings <- c(
    list(
      margin = check_number(x$margin, "margin", 1e-6, 1, open_max = TRUE),
      conf_level = check_level(x$conf_level), cost = check_cost(x$cost), runs = check_runs(x$runs),
      approximate = identical(as.double(x$runs), 0)
    ),
    check_cases(x$cases)
  )
  estimator <- as_estimators(x$estimator, arg = "estimator")
  abort_argument_if(length(estimator) != 1L, "estimator", "must be one estimator.",
    x = "There are {length(estimator)}.")
  settings$estimator <- estimator
  settings <- c(settings, plan_design(x, settings$approximate))
  if (settings$approximate) check_approximate(settings)
  settings
}

check_runs <- function(runs) {
  if (identical(as.double(runs), 0)) 0L else check_count(runs, "runs", 20L, 1000000L)
}

# Fields: cases, a number or NULL; or least_cases and max_cases, between which it is looked for.
check_cases <- function(cases) {
  if (length(cases) == 1L) {
    return(list(
      cases = check_count(cases, "cases", min = 2L), least_cases = 2L, max_cases = 20000L
    ))
  }
  ok <- is.numeric(cases) && length(cases) == 2L && all(is.finite(cases)) &&
    all(cases == round(cases)) && all(cases >= c(2, max(cases[[1L]], 10))) && all(cases <= 1e7)
  abort_argument_if(!ok, "cases",
    "must be the least and the largest number of cases to try (2 to ten million, the latter at least
        10), or one number.",
    x = if (is.numeric(cases)) "It is {.val {cases}}." else "It is {describe(cases)}.")
  list(cases = NULL, least_cases = as.integer(cases[[1L]]), max_cases = as.integer(cases[[2L]]))
}

# Cost of a case and of a rating, or of what else `default` names; where that is NA all are needed.
check_cost <- function(cost, default = c(case = 0, rating = 1)) {
  names <- names(cost)
  ok <- is.numeric(cost) && length(cost) > 0L && all(names %in% names(default)) &&
    !is.null(names) && anyDuplicated(names) == 0L && all(is.finite(cost)) && all(cost >= 0) &&
    !anyNA(default[setdiff(names(default), names)])
  abort_argument_if(!ok, "cost",
    "must be numbers of 0 or more, {.code c({toString(paste(names(default), '= '))})}.",
    x = if (is.numeric(cost) && length(cost) > 0L) "It is
        {.val {cost}}{if (!is.null(names)) ' for '}{.val {names}}." else "It is {describe(cost)}.")
  replace(default, names, cost)
}

# Fields: table and curve (what tidy() gives), settings, arguments (for update()), seed.
new_case_plan <- function(parts, settings, arguments, seed) {
  table <- do.call(rbind, lapply(parts, `[[`, "answer"))
  given <- mean_given(settings$raters, settings$missing)
  table$ratings <- table$cases * given
  cost <- settings$cost
  table$cost <- table$cases * (cost[["case"]] + given * cost[["rating"]])
  table$cheapest <- is.na(table$reason) & table$cost %in% suppressWarnings(
    min(table$cost[is.na(table$reason)])
  )
  first <- c(
    "raters", "cases", "std.error", "probability", "probability_mcse", "lowest", "half_width",
    "half_width_mcse", "bias", "ratings", "cost", "cheapest", "reason"
  )
  new_result("case_plan",
    table = tibble::as_tibble(table)[first],
    curve = tibble::as_tibble(do.call(rbind, lapply(parts, `[[`, "curve"))),
    settings = settings, arguments = arguments, seed = seed
  )
}

# Ratings of a case, on average.
mean_given <- function(raters, missing) raters * (1 - missing)

# A row of the table but for its costs. `point` has the columns of the curve.
plan_row <- function(raters, cases, point, reason) {
  data.frame(
    raters = raters, cases = as.double(cases), std.error = NA_real_,
    point[c(
      "probability", "probability_mcse", "lowest", "half_width", "half_width_mcse", "bias"
    )],
    reason = reason
  )
}

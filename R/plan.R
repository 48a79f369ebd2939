#' How many cases, or raters
#'
#' Finds the number of cases that brings the estimated accuracy of a system within a margin of the
#' true one with a given probability; for several numbers of raters, and at a cost.
#'
#' @section What is assumed:
#' Raters are described by their accuracy, or by the kappa that a pilot found (against chance
#' agreement 1 / number of categories): raters of one accuracy would then have that kappa, under the
#' violations that are assumed. Where accuracies differ, other numbers of raters have accuracies
#' that spread alike, at evenly spaced quantiles. Everything else is as in [rater_design()], whose
#' arguments `difficulty`, `dispersion` and `error_range` break the K-properties for raters and
#' systems alike. With several values of `system_accuracy` probabilities are means over them.
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
#' With `approximate = TRUE` nothing is simulated: joint estimates under the K-model are taken as
#' normal around the truth with the variance that the Fisher information gives, cut at 0 and 1. It
#' is made for a first look: in simulations with 2 to 10 categories, 2 to 5 raters and kappa from .1
#' to .8 its numbers of cases were right to within 10% in four of five settings and to within 25% in
#' 95%. Where kappa is .2 or less they can be far too low, with two categories and two raters down
#' to .4 of what is needed. It knows nothing of violations, and only of this one method.
#'
#' @section The paper's advice:
#' Lehner (2015) advises, for three raters, five categories, a margin of .1 and probability .9, at
#' least 200 cases if kappa is around .3, and finds 100 more than enough if it is around .55. The
#' print repeats this where it applies (kappa .25 to .35, and .5 to .6), with the probability that
#' so many cases have under the settings of the plan.
#'
#' @section Pilot:
#' From a pilot come the number of raters and categories, the share of missing ratings, base rates,
#' accuracies of raters and, if it has systems, their accuracies. Ratings are fitted with an
#' accuracy for each rater, if there are three or more who are known by name and who rated at least
#' half of the cases, and with the K-model otherwise; give a fit of your choice instead to have
#' `dispersion` and `difficulty` from it. A crowd, where more than half of the ratings are missing,
#' counts as panels of as many raters as rated a case on average. What you give as an argument
#' replaces what the pilot says.
#'
#' @param pilot [ratings()] of a pilot, or a [fit_raters()] result; or `NULL`.
#' @param margin How far an estimate may be from the true accuracy, in (0, 1).
#' @param conf_level Probability with which it is to be no further, in (0, 1).
#' @param raters Number of raters for each case, at least 2; or several such numbers, to be
#'   compared. Those of the pilot by default, or 3.
#' @param rater_accuracy Probability that a rater is right, above 1 / number of categories; or one
#'   for each rater.
#' @param kappa Agreement of raters beyond chance, in (0, 1\], instead.
#' @param categories Number of categories, or their labels; those of the pilot by default, or 5.
#' @param system_accuracy Probability that the system is right, or several such probabilities; by
#'   default those of the pilot's systems, or .1, .3, .5, .7 and .9 as in the paper.
#' @param base_rates Probabilities of the categories, or `"uniform"` or `"dirichlet"`, see
#'   [rater_design()]; those of the pilot by default, or `"uniform"`.
#' @param difficulty,dispersion,error_range Violations of the K-properties, see [rater_design()].
#' @param missing Probability that a rating is missing, in \[0, 1).
#' @param cases Number of cases, if it is settled: the plan then says which numbers of raters are
#'   enough.
#' @param cost_case,cost_rating Cost of a case beside its ratings, and of a rating. By default the
#'   cost is the number of ratings.
#' @param estimator The name of a method of [estimate_accuracy()], an [accuracy_estimator()], or a
#'   function of ratings, as for [simulation_study()].
#' @param runs Number of panels for each number of cases. All systems are judged on each.
#' @param max_cases Largest number of cases to try.
#' @param approximate Answer from a formula instead of simulations?
#' @param threads Number of threads for methods of [estimate_accuracy()].
#' @return An object of class `case_plan` with methods for `print()`, [tidy()][tidy.case_plan],
#'   [glance()][tidy.case_plan], [update()][tidy.case_plan] and [autoplot()][autoplot.case_plan].
#' @family simulation
#' @templateVar where Recommended use
#' @template ref-lehner
#' @examples
#' plan_cases(kappa = 0.3, raters = 2:4, approximate = TRUE)
#'
#' set.seed(1)
#' plan <- plan_cases(rater_accuracy = 0.6, system_accuracy = 0.8, runs = 100)
#' plan
#' tidy(plan)
#' @export
plan_cases <- function(pilot = NULL, margin = 0.1, conf_level = 0.9, raters = NULL,
                       rater_accuracy = NULL, kappa = NULL, categories = NULL,
                       system_accuracy = NULL, base_rates = NULL, difficulty = NULL,
                       dispersion = NULL, error_range = 0, missing = NULL, cases = NULL,
                       cost_case = 0, cost_rating = 1, estimator = "joint", runs = 500L,
                       max_cases = 20000L, approximate = FALSE, threads = 1L) {
  call <- rlang::current_env()
  arguments <- mget(names(formals()))
  settings <- plan_settings(arguments, call)
  settings$threads <- check_threads(threads)
  seed <- if (settings$approximate) NULL else draw_seed()
  parts <- if (settings$approximate) {
    lapply(settings$raters, approximate_part, settings = settings)
  } else {
    simulated_parts(settings, seed, call)
  }
  new_case_plan(parts, settings, arguments, seed)
}

# Checked arguments, with those of the pilot in place of what is not given.
plan_settings <- function(x, call) {
  number <- function(arg, ...) check_number(x[[arg]], arg, ..., call = call)
  settings <- list(
    margin = number("margin", 0, 1, open_min = TRUE, open_max = TRUE),
    conf_level = number("conf_level", 0, 1, open_min = TRUE, open_max = TRUE),
    cost_case = number("cost_case", 0), cost_rating = number("cost_rating", 0),
    runs = check_count(x$runs, "runs", min = 20L, max = 1000000L, call = call),
    max_cases = check_count(x$max_cases, "max_cases", min = 10L, max = 10000000L, call = call),
    approximate = check_flag(x$approximate, "approximate", call = call),
    cases = if (!is.null(x$cases)) check_count(x$cases, "cases", min = 2L, call = call)
  )
  estimator <- as_estimators(x$estimator, call, "estimator")
  if (length(estimator) != 1L) {
    abort_fallible("argument", c(
      "{.arg estimator} must be one estimator.", "x" = "There are {length(estimator)}."
    ), arg = "estimator", call = call)
  }
  settings$estimator <- estimator
  settings <- c(settings, plan_design(x, settings$approximate, call))
  if (settings$approximate) check_approximate(settings, call)
  settings
}

# Fields: table and curve (what tidy() gives), settings, arguments (for update()), seed.
new_case_plan <- function(parts, settings, arguments, seed) {
  table <- do.call(rbind, lapply(parts, `[[`, "answer"))
  given <- mean_given(settings$raters, settings$missing)
  table$ratings <- table$cases * given
  table$cost <- table$cases * (settings$cost_case + given * settings$cost_rating)
  table$cheapest <- is.na(table$reason) & table$cost %in% suppressWarnings(
    min(table$cost[is.na(table$reason)])
  )
  first <- c(
    "raters", "cases", "std.error", "probability", "probability_mcse", "lowest", "half_width",
    "half_width_mcse", "bias", "ratings", "cost", "cheapest", "reason"
  )
  structure(
    list(
      table = tibble::as_tibble(table)[first],
      curve = tibble::as_tibble(do.call(rbind, lapply(parts, `[[`, "curve"))),
      settings = settings, arguments = arguments, seed = seed
    ),
    class = "case_plan"
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

#' Tables of a plan for cases and raters
#'
#' Returns the results of [plan_cases()] as tables and a plot: for each number of raters, the number
#' of cases that a study needs, and its cost. `update()` computes the plan again with other
#' arguments. The *required half-width* is the argument `half_width` of [plan_cases()]: the distance
#' from the true accuracy that an estimate may exceed only with probability 1 - `conf_level`.
#'
#' @param object A [plan_cases()] result.
#' @param ... For `update()`, arguments of [plan_cases()] to change; otherwise not used.
#' @return `tidy()`: a tibble with a row per number of raters.
#'   * `raters`: number of raters.
#'   * `cases`: smallest number of cases with which estimates are within the required half-width
#'     with probability `conf_level`; `NA` if no number is enough. If [plan_cases()] was called with
#'     a fixed number of cases, `cases` is this number.
#'   * `std.error`: Monte Carlo standard error of `cases`; `NA` if the number is fixed.
#'   * `probability`: probability that an estimate is within the required half-width, mean over
#'     systems. If `cases` is `NA`, it is the highest simulated probability.
#'   * `lowest`: lowest of these probabilities among the systems.
#'   * `half_width`: distance from the true accuracy that an estimate does not exceed with
#'     probability `conf_level`.
#'   * `bias`: mean error of the estimates (estimate minus truth) for the system with the largest
#'     bias.
#'   * `ratings`, `cost`: number of ratings, and total cost.
#'   * `cheapest`: `TRUE` if the cost is the lowest among rows without a `reason`.
#'   * `reason`: why the required half-width is not reached; `NA` if it is reached.
#'   * `probability_mcse`, `half_width_mcse`: Monte Carlo standard errors.
#'
#'   `tidy(x, "curve")`: a row per simulated number of raters and cases. Columns: `raters`, `cases`,
#'   `probability`, `lowest`, `half_width`, `bias` and those that end in `_mcse`; `missing` (share
#'   of estimates that are `NA`) and `runs` (number of simulated data sets).
#'
#'   `glance()`: a tibble with one row: `raters`, `cases`, `probability`, `ratings` and `cost` of
#'   the cheapest row (`NA` if no row is enough), and the settings `half_width`, `conf_level`,
#'   `rater_accuracy` (mean), `chance_kappa`, `categories` (number), `estimator` and `runs`.
#'
#'   For the plan of a measure of agreement, `tidy()` has one row with columns `measure`, `cases`,
#'   `std.error`, `half_width` (of the interval) and `reason`; `tidy(x, "curve")` has columns
#'   `cases`, `half_width`, `half_width_mcse` and `missing`; and `glance()` has `measure`, `cases`,
#'   `half_width`, `conf_level` and `runs`.
#'
#'   `format()`: a string with the cheapest numbers of cases and raters. `update()`: a new plan.
#' @family simulation
#' @examples
#' set.seed(1)
#' plan <- plan_cases(chance_kappa = 0.3, raters = 2:3, system_accuracy = 0.8, runs = 20)
#' # Numbers of cases for two and for three raters, and the cheaper of both
#' tidy(plan)
#' glance(plan)
#' # Fewer cases are needed for a larger half-width
#' update(plan, half_width = 0.15)
#' @usage
#' # tidy(x)
#' # tidy(x, "curve")
#' # glance(x)
#' @name tidy.case_plan
#' @export
update.case_plan <- function(object, ...) {
  new_arguments <- list(...)
  arguments <- object$arguments
  unknown_arguments <- setdiff(names2(new_arguments), c(names(arguments), "agreement", "of"))
  abort_argument_if(unknown_arguments, unknown_arguments,
    "{.fun plan_cases} has no argument {.arg {unknown_arguments}}.",
    i = "Its arguments are {.arg {names(arguments)}}.")
  # `chance_kappa` and `rater_accuracy` exclude each other, so a new value of one argument removes
  # the old value of the other.
  exclusive_arguments <- c("chance_kappa", "rater_accuracy")
  if (any(exclusive_arguments %in% names(new_arguments))) {
    arguments[exclusive_arguments] <- list(NULL)
  }
  do.call(plan_cases, replace(arguments, names(new_arguments), new_arguments))
}

# ---- Print --------------------------------------------------------------------------------------

# Creates the result of plan_cases(). Combines the tables for all numbers of raters. Adds the number
# of ratings and the cost of each row. `plans`: result of simulate_plans(). `arguments`: arguments
# of plan_cases(), for update().
new_case_plan <- function(plans, settings, arguments, seed) {
  bind_tables <- function(part) as_tibble(stack_rows(plans, `[[`, part))
  answer_table <- bind_tables("answer")
  ratings_per_case <- settings$raters * (1 - settings$missing) # mean number of ratings of a case
  answer_table$ratings <- answer_table$cases * ratings_per_case
  answer_table$cost <-
    answer_table$cases * (settings$cost[["case"]] + ratings_per_case * settings$cost[["rating"]])
  is_enough <- is.na(answer_table$reason)
  answer_table$cheapest <- is_enough & answer_table$cost %in% min(answer_table$cost[is_enough], Inf)
  answer_table <- answer_table[c(setdiff(names(answer_table), "reason"), "reason")]
  # If no number of cases is enough in any row, all elements of `best_row` are NA.
  best_row <- answer_table[which(answer_table$cheapest)[1L], ]
  has_costs <- any(settings$cost != c(0, 1)) # by default the cost is the number of ratings
  tables <- list(answer = answer_table, curve = bind_tables("curve"))
  format_count <- function(n) format_unpadded(round(n))
  printed_table <- replace(answer_table, c("cases", "probability", "ratings", "cost"), list(
    format_with_std_error(
      format_count(answer_table$cases), format_count(pmax(1, answer_table$std.error))
    ),
    format_with_std_error(
      format_decimals(answer_table$probability), format_decimals(answer_table$probability_mcse)
    ),
    format_count(answer_table$ratings), format_unpadded(answer_table$cost)
  ))
  is_difference <- settings$of == "difference"
  answer_notes <- c(
    if (!is_difference) shared_errors_limit_note(settings, arguments$design),
    format_answer(answer_table, best_row, has_costs, settings)
  )
  caption <- sprintf(
    if (is_difference) "Differences of systems within %s of the true ones with probability %s" else
      "Estimates within %s of true accuracy with probability %s",
    format(settings$half_width), format(settings$conf_level)
  )
  new_result("case_plan",
    tables = tables, settings = settings, arguments = arguments, seed = seed,
    facts = c(
      as.list(best_row[c("raters", "cases", "probability", "ratings", "cost")]),
      settings[c("half_width", "conf_level")],
      list(
        rater_accuracy = mean(settings$accuracies), chance_kappa = settings$kappa,
        categories = length(settings$labels), estimator = names(settings$estimator),
        runs = settings$runs
      )
    ),
    line = paste(answer_notes, collapse = "; "), caption = caption,
    head = c(caption, format_assumptions(settings)),
    shown = view(printed_table, c(
      "raters", "cases", "probability", if (length(settings$systems) > 1L) "lowest",
      `half-width` = "half_width", "bias", "ratings", if (has_costs) "cost"
    ), left = integer(), most = Inf),
    notes = c(
      answer_notes, plan_notes(answer_table, settings, arguments),
      if (is_difference) power_note(settings$half_width, settings) else
        format_advice(c(tables, list(settings = settings)))
    ), more = "tidy(), glance(), update(), plot()"
  )
}

# Returns the assumptions of a plan, as lines of text.
format_assumptions <- function(settings) {
  pilot <- settings$pilot
  estimator_options <- attr(settings$estimator[[1L]], "options")
  c(
    if (!is.null(pilot)) paste0(
      sprintf("Pilot of %s, %s: mean rater accuracy %s", count_noun(pilot$cases, "case"),
        pilot$model, format_decimals(pilot$rater_accuracy)),
      if (!is.na(pilot$std.error))
        sprintf(" (standard error %s)", format_decimals(pilot$std.error)),
      if (pilot$crowd) "; most ratings are missing, so the number of raters is the mean per case"
    ),
    format_judges(settings),
    sprintf(
      "Estimates: %s; %s simulated panels for each number of cases",
      if (is.null(estimator_options)) names(settings$estimator) else
        paste0(estimator_options$method, ", ", format(estimator_options$model)),
      number(settings$runs)
    )
  )
}

# Returns lines of text on raters and systems. The last lines are the assumptions of the plan: the
# K-properties (equally accurate raters, equally probable errors and equally difficult cases), or
# the ways in which the design violates them.
format_judges <- function(settings) {
  category_text <- paste0(
    count_noun(length(settings$labels), "category"),
    if (settings$missing > 0) sprintf("; %s of ratings missing", percent(settings$missing))
  )
  if (is_world(settings$assumed)) return(sprintf(
    "Panels are drawn by a function: %s, %s, %s", count_noun(settings$raters, "rater"),
    count_noun(length(settings$systems), "system"), category_text
  ))
  violations <- design_violations(settings$assumed)
  c(
    sprintf(
      "Raters are right with probability %s (chance kappa %s), %s with %s; %s",
      shorten(format_decimals(settings$accuracies)), format_decimals(settings$kappa),
      if (identical(settings$systems, lehner_accuracies)) "assumed systems" else "the system",
      shorten(format(settings$systems, trim = TRUE)), category_text
    ),
    if (length(violations) > 0L) c("Assumed:", paste("  -", violations)) else paste(
      "Assumed: equally accurate raters, equally probable errors and equally difficult cases;",
      "if these are not true, more cases are needed, or no number is enough"
    )
  )
}

# Returns the cheapest numbers of cases and raters, as a sentence. `best_row`: row of `table` with
# the lowest cost.
format_answer <- function(table, best_row, has_costs, settings) {
  if (is.na(best_row$cases)) return(format_not_reached(table))
  answer_label <- if (nrow(table) > 1L) if (has_costs) "Cheapest" else "Fewest ratings" else
    if (is.null(settings$cases)) "Needed" else "Enough"
  sprintf(
    "%s: %s by %s, %s", answer_label, count_noun(best_row$cases, "case"),
    count_noun(best_row$raters, "rater"),
    if (has_costs) paste("cost", number(best_row$cost)) else
      count_noun(round(best_row$ratings), "rating")
  )
}

format_not_reached <- function(table) {
  sprintf("Not reached with %s raters: %s", table$raters, table$reason)
}

# Returns the notes under the printed table. The last note is advice to plan also for a lower
# accuracy of raters, because the accuracy in a pilot is an estimate.
plan_notes <- function(table, settings, arguments) {
  is_enough <- is.na(table$reason)
  pilot <- settings$pilot
  lower_accuracy <- pilot$rater_accuracy - pilot$std.error
  c(
    if (any(is_enough)) format_not_reached(table[!is_enough, ]),
    near_tie_note(table[is_enough, ]),
    "Numbers in brackets are Monte Carlo standard errors",
    if (identical(arguments$estimator, formals(plan_cases)$estimator)) sprintf(
      "The default of estimate_accuracy() may need more cases: estimator = \"%s\"",
      default_method(k_model())
    ),
    if (any(abs(table$bias[is.na(table$cases)]) > settings$half_width / 5, na.rm = TRUE)) {
      "More cases do not help; use better raters, or a model with fewer assumptions (rater_model())"
    },
    "The interval of estimate_accuracy() also allows for shared errors, which more cases do not
     reduce; see plan_gold()",
    if (isTRUE(pilot$kind == "machines")) {
      paste("Language models and programs share errors, so this plan is too optimistic.",
        "Use plan_gold() to plan the number of cases with known truth")
    } else if (isTRUE(lower_accuracy > 1.05 / length(settings$labels) &&
      pilot$rater_accuracy < 1)) {
      paste("To plan for raters a standard error less accurate than in the pilot, use",
        "rater_accuracy =", format_decimals(lower_accuracy))
    }
  )
}

# Returns a sentence on the half-width that more cases cannot reduce: the part of the half-width of
# estimate_accuracy() that is not sampling error. NULL if this part is at most the half-width of the
# plan, or if `pilot` is not a ratings object with systems.
shared_errors_limit_note <- function(settings, pilot) {
  if (!inherits(pilot, "ratings") || n_systems(pilot) == 0L) return(NULL)
  estimate <- without_warnings(estimate_accuracy(pilot))
  shared_errors_half_width <- normal_quantile(settings$conf_level) *
    max(0, estimates_from_ratings(estimate, seq_along(pilot$systems))$bias, na.rm = TRUE)
  if (shared_errors_half_width > settings$half_width) paste0(
    "More cases cannot make all intervals of estimate_accuracy() narrower than +-",
    format_decimals(shared_errors_half_width),
    ", because these intervals allow for shared errors (see plan_gold()). This plan ignores shared
     errors"
  )
}

# Returns a sentence that lists the numbers of raters whose cost differs from the lowest cost by at
# most two Monte Carlo standard errors. NULL if there are no such numbers.
near_tie_note <- function(table) {
  if (nrow(table) < 2L || all(is.na(table$std.error))) return(NULL)
  cost_std_error <- table$std.error * table$cost / table$cases
  cheapest_index <- which(table$cheapest)[1L]
  is_tied_with_cheapest <- table$cost - table$cost[[cheapest_index]] <=
    2 * sqrt(cost_std_error^2 + cost_std_error[[cheapest_index]]^2)
  tied_panel_sizes <- table$raters[setdiff(which(is_tied_with_cheapest), cheapest_index)]
  if (length(tied_panel_sizes) > 0L) sprintf(
    "Because of simulation error it is not certain that %s raters cost more",
    paste(tied_panel_sizes, collapse = " or ")
  )
}

# Returns the advice of Lehner (2015) on the number of cases, and the simulated probability that an
# estimate with this number is within the half-width. The paper has advice only for five categories,
# three raters, half-width .1, probability .9, and two ranges of kappa. For other settings, the
# result is NULL.
format_advice <- function(x) {
  settings <- x$settings
  plan_values <- c(length(settings$labels), settings$raters, settings$half_width,
    settings$conf_level)
  kappa_range_index <-
    findInterval(settings$kappa, c(0.25 - 1e-9, 0.35, 0.5 - 1e-9, 0.6), left.open = TRUE)
  is_plan_of_paper <- isTRUE(all.equal(plan_values, c(5, 3, 0.1, 0.9)))
  if (!is_plan_of_paper || !kappa_range_index %in% c(1L, 3L)) return(NULL)
  is_weak_agreement <- kappa_range_index == 1L
  sqrt_cases <- sqrt(if (is_weak_agreement) 200 else 100)
  probit_of_probability <-
    stats::approx(sqrt(x$curve$cases), qnorm(x$curve$probability), sqrt_cases)$y
  paste0(
    "Advice of Lehner (2015): ", if (is_weak_agreement) {
      "at least 200 cases for chance kappa around .3"
    } else {
      "100 cases are sufficient for chance kappa around .55"
    },
    if (!is.na(probit_of_probability)) sprintf("; in this plan with probability %s",
      format_decimals(pnorm(probit_of_probability), 2L))
  )
}

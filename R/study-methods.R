#' Tables and plots of a simulation study
#'
#' Returns the estimates of a [simulation_study()] and their errors, as tables and plots. A *panel*
#' is a simulated set of ratings and answers of systems. Estimates are compared with two true
#' accuracies of a system: `expected`, its probability of a correct answer, and `sample`, its share
#' of correct answers in the panel.
#'
#' @param object A [simulation_study()] result.
#' @param by Columns to group by: any of `"design"`, `"n"` (number of cases), `"system"` and
#'   `"estimator"`, by default all. Estimates are pooled over the other columns.
#' @param margin Largest distance between an estimate and the truth that counts as close, in (0, 1),
#'   by default 0.1. Column `within` is the share of close estimates.
#' @param common If `TRUE`, `summary()` uses a system in a panel only if all estimators have an
#'   estimate for it. By default `FALSE`.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per panel, system and estimator.
#'   * `design`, `n`, `system`, `estimator`: names, and number of cases; `run`: number of the panel.
#'   * `estimate`: estimated accuracy; `std.error`, `conf.low`, `conf.high`: its standard error and
#'     interval, `NA` if the estimator returns none.
#'   * `expected`, `sample`: true accuracies of the system; `expected` is `NA` if it is unknown.
#'   * `agreement`: share of equal pairs of ratings; `chance_kappa`: (agreement - chance) / (1 -
#'     chance), with chance 1 / number of categories; `rater_accuracy`: accuracy that raters with
#'     this agreement have if all are equally accurate (see [k_model()]).
#'   * `seed`: seed of R's random numbers for the estimator.
#'   * `reason`: why the estimate or its interval is `NA`, otherwise `NA`.
#'   * `condition`: class of the error if the estimator or a user-defined design raised an error,
#'     otherwise `NA`.
#'
#'   `summary()`: a tibble with two rows for each combination of the columns in `by`.
#'   * `target`: the true accuracy with which estimates are compared, `"expected"` or `"sample"`.
#'   * `estimates`: number of estimates, including missing ones; `missing`: share of estimates that
#'     are `NA`; `failed`: number of estimates that are `NA` because the estimator or a
#'     user-defined design raised an error.
#'   * Means over estimates that are not `NA` and whose truth is known: `truth` (true accuracy),
#'     `bias` (estimate minus truth), `rmse` (root mean squared error), `within` (share of estimates
#'     within `margin` of the truth).
#'   * Means over estimates that also have an interval: `coverage` (share of intervals that contain
#'     the truth) and `width`.
#'   * Columns that end in `_mcse`: Monte Carlo standard errors of these means.
#'
#'   A mean is `NA` if no estimate meets its conditions.
#'
#'   `glance()`: a tibble with one row: the numbers of `designs`, `cells` (combinations of design
#'   and number of cases; also of system, if the study has `panels = "separate"`), `panels`,
#'   `estimators` and `estimates`; `missing` and `failed` as in `summary()`. `format()`: a string
#'   with the numbers of panels, designs and estimators.
#' @section Monte Carlo standard errors: Panels are independent. A cell is a combination of design,
#'   number of cases and, with `panels = "separate"`, system; its panels are a sample. The
#'   deviations of values from their mean are summed within each panel (0 without a value). Within a
#'   cell, the variance of the sum over panels is `n` times the sample variance of the panel sums
#'   (divisor `n - 1`), where `n` is the number of panels with a value. These variances are added
#'   over cells. The standard error of the mean is the square root of their sum, divided by the
#'   number of values. For `rmse`, it is the standard error of the mean squared error, divided by
#'   `2 rmse`.
#'
#'   If `within` or `coverage` is 0 or 1, the standard error is `sqrt(q (1 - q) / n)`. Here `q` is
#'   the share after half a panel with the event and half a panel without it were added.
#' @family simulation
#' @examples
#' set.seed(1)
#' study <- simulation_study(lehner_design(6), runs = 50)
#' # All estimates
#' tidy(study)
#' # Errors of each estimator for each system, and pooled over systems
#' summary(study)
#' summary(study, by = "estimator", common = TRUE)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(study)
#' @export
summary.simulation_study <- function(object, by = c("design", "n", "system", "estimator"),
                                     margin = 0.1, common = FALSE, ...) {
  check_dots_empty(...)
  by <- check_choices(by, c("design", "n", "system", "estimator"), "by", none = TRUE)
  margin <- check_level(margin, "margin")
  estimates <- study_estimates(object)
  # Columns `cell` and `panel` are used for Monte Carlo standard errors: panels are independent, but
  # systems of the same panel are not.
  cell_columns <- c("design", "n", if (object$panels == "separate") "system")
  estimates$cell <- number_distinct_rows(estimates[cell_columns])
  estimates$panel <- number_distinct_rows(estimates[c("cell", "run")])
  system_in_panel <- number_distinct_rows(estimates[c("panel", "system")])
  is_left_out <- check_flag(common, "common") &
    system_in_panel %in% system_in_panel[is.na(estimates$estimate)]
  group_numbers <-
    if (!is_empty(by)) number_distinct_rows(estimates[by]) else rep(1L, nrow(estimates))
  group_tables <- lapply(split(row_numbers(estimates), group_numbers), function(group_rows) {
    rows_by_target <- lapply(c("expected", "sample"), summarise_errors,
      group = estimates[group_rows[!is_left_out[group_rows]], ], margin = margin)
    c(estimates[group_rows[c(1L, 1L)], by], stack_tables(rows_by_target))
  })
  as_tibble(list2DF(stack_tables(group_tables)))
}

# Compares the estimates of a group with true accuracies. Returns one row of the table of summary(),
# a list.
# * target: name of the column of `group` with the true accuracies.
# * group: table of estimates, with a row per estimate.
# * margin: largest error of a close estimate.
summarise_errors <- function(target, group, margin) {
  accuracy <- group[[target]]
  is_compared <- !is.na(group$estimate) & !is.na(accuracy)
  has_interval <- !is.na(group$conf.low) & !is.na(group$conf.high) & !is.na(accuracy)
  errors <- (group$estimate - accuracy)[is_compared]
  # Returns a list of two numbers: the mean of `x`, and its Monte Carlo standard error. The name of
  # the mean is `name`. `has_value`: for each row of `group`, does `x` contain a value of this row?
  mean_with_mcse <- function(name, x, has_value = is_compared) {
    mcse <- if (is.logical(x) && all_same(x)) {
      n_panels <- n_distinct(group$panel[has_value])
      sqrt(bernoulli_variance(add_half_cases(mean(x), n_panels)) / n_panels)
    } else {
      mcse_of_mean(x, has_value, group$cell, group$panel)
    }
    setNames(list(mean(x), mcse), c(name, paste0(name, "_mcse")))
  }
  mean_square_with_mcse <- mean_with_mcse("rmse", errors^2)
  rmse <- sqrt(mean_square_with_mcse$rmse)
  na_real(c(
    list(
      target = target, estimates = nrow(group), missing = mean(is.na(group$estimate)),
      failed = sum(has_failed(group)), truth = mean(accuracy[is_compared])
    ),
    mean_with_mcse("bias", errors),
    list(rmse = rmse, rmse_mcse = mean_square_with_mcse$rmse_mcse / (2 * rmse)),
    # Share of absolute errors up to the margin. The tolerance allows for rounding errors.
    mean_with_mcse("within", abs(errors) <= margin + 1e-9),
    mean_with_mcse("coverage",
      (group$conf.low <= accuracy & accuracy <= group$conf.high)[has_interval], has_interval),
    mean_with_mcse("width", (group$conf.high - group$conf.low)[has_interval], has_interval)
  ))
}

# Returns the Monte Carlo standard error of the mean of `x`.
# * x: values of some estimates, for example their errors.
# * has_value: for each estimate, does `x` contain its value?
# * cell, panel: numbers of the cell (a combination of design, number of cases and system) and of
#   the panel of each estimate.
mcse_of_mean <- function(x, has_value, cell, panel) {
  if (is_empty(x)) return(NA_real_)
  deviation <- replace(double(length(has_value)), has_value, x - mean(x))
  # Variance of the sum of the deviations in each cell. Values of the same panel are not
  # independent, so deviations are first summed within panels.
  cell_variances <- map_dbl(split(seq_along(has_value), cell), function(rows) {
    panel_sums <- rowsum(deviation[rows], panel[rows])[, 1L]
    n_panels <- n_distinct(panel[rows][has_value[rows]])
    if (n_panels == 0L) 0 else sum((panel_sums - mean(panel_sums))^2) * n_panels / (n_panels - 1)
  })
  sqrt(sum(cell_variances)) / length(x)
}

# Makes the result of simulation_study(). The printed table contains bias, root mean squared error
# and coverage of each estimator, with Monte Carlo standard errors. `study`: a list with the fields
# of new_study().
new_study_result <- function(study) {
  estimates <- study_estimates(study)
  n_cells <- length(study$done)
  estimators <- names(study$estimators)
  n_panels <- n_cells * study$runs
  table <- summary.simulation_study(study, by = c("design", "n", "estimator"))
  has_expected_accuracy <- table$design %in% estimates$design[knows_expected_accuracy(estimates)]
  table <- table[table$target == ifelse(has_expected_accuracy, "expected", "sample"), ]
  for (name in c("bias", "rmse", "coverage")) {
    printed_values <- format_with_std_error(format_decimals(table[[name]]),
      format_decimals(table[[paste0(name, "_mcse")]]))
    table[[name]] <- replace(printed_values, is.na(table[[name]]), "")
  }
  printed_columns <- c("design", "n", "estimator", "bias", RMSE = "rmse",
    if (any(table$coverage != "")) "coverage", if (any(table$missing > 0)) "missing")
  table$missing <- percent(table$missing)
  inject(new_result("simulation_study",
    !!!unclass(study), tables = list(estimates = study_estimates),
    facts = list(
      designs = length(study$designs), cells = n_cells, panels = n_panels,
      estimators = length(estimators), estimates = nrow(estimates),
      missing = mean(is.na(estimates$estimate)), failed = sum(has_failed(estimates))
    ),
    line = sprintf(
      "%s, %s, %s: %s", count_noun(n_panels, "panel"), count_noun(length(study$designs), "design"),
      count_noun(length(estimators), "estimator"), shorten(estimators)
    ),
    shown = view(table, printed_columns, left = c(1L, 3L), most = 28L),
    notes = study_notes(estimates),
    more = "summary(), tidy(), plot(), update(), replay()"
  ))
}

study_estimates <- function(x) as_tibble(list2DF(x$results[names(x$results) != "cell"]))

study_notes <- function(estimates) {
  has_expected_accuracy <- knows_expected_accuracy(estimates)
  undrawn_rows <- which(estimates$condition == "fallible_error_design")
  failed_rows <- setdiff(which(has_failed(estimates)), undrawn_rows)
  first_failed_row <- estimates[failed_rows[1L], ]
  has_estimate <- !is.na(estimates$estimate)
  estimators_without_estimate <- setdiff(estimates$estimator, estimates$estimator[has_estimate])
  example_rows <- match(estimators_without_estimate, estimates$estimator)
  estimators_without_interval <- setdiff(estimates$estimator,
    c(estimators_without_estimate, estimates$estimator[!is.na(estimates$conf.low)]))
  c(
    if (!is_empty(estimators_without_interval)) paste(
      "No intervals, so no coverage:", shorten(estimators_without_interval),
      "(give accuracy_estimator(interval = ), or return columns conf.low and conf.high)"
    ),
    sprintf(
      "Compared with %s, all systems (Monte Carlo standard error)",
      if (all(has_expected_accuracy)) "expected accuracy" else if (any(has_expected_accuracy))
        "expected accuracy (sample accuracy for designs without expected accuracy)" else
        "sample accuracy"
    ),
    words_with_labels("Below 0 or above 1: estimates by",
      unique(estimates$estimator[which(abs(estimates$estimate - 0.5) > 0.5)])),
    if (!is_empty(undrawn_rows)) sprintf(
      "%s could not be drawn; the first is replay(study, %s): %s",
      count_noun(n_distinct(estimates$seed[undrawn_rows]), "panel"), undrawn_rows[[1L]],
      estimates$reason[[undrawn_rows[[1L]]]]
    ),
    if (!is_empty(failed_rows)) sprintf(
      "%s failed; the first is replay(study, %s, \"estimate\") by %s: %s",
      count_noun(length(failed_rows), "estimate"), failed_rows[[1L]], first_failed_row$estimator,
      first_failed_row$reason
    ),
    if (!is_empty(estimators_without_estimate)) paste0("No estimates: ", shorten(paste0(
      estimators_without_estimate, " (",
      ifelse(has_failed(estimates)[example_rows], "failed", paste0(
        estimates$reason[example_rows], "; see replay(study, ", example_rows, ", \"estimate\")"
      )), ")"
    )))
  )
}

# Does the design of each estimate have expected accuracies? A user-defined design may have none.
knows_expected_accuracy <- function(estimates) {
  estimates$design %in% estimates$design[!is.na(estimates$expected)]
}

# Did the estimator or the user-defined design raise an error, for each row of the estimates?
has_failed <- function(estimates) !is.na(estimates$condition)

# Formats values with their Monte Carlo standard errors in brackets. Standard errors that are NA are
# left out.
format_with_std_error <- function(value, std_error) {
  ifelse(std_error == "NA", value, sprintf("%s (%s)", value, std_error))
}

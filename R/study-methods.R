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
#' @param margin Distance from the truth that counts as close, for the column `within`; in (0, 1),
#'   by default 0.1.
#' @param common If `TRUE`, only panels and systems are used for which all estimators have an
#'   estimate. By default `FALSE`.
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
#'   * `condition`: class of the error if the estimator failed, otherwise `NA`.
#'
#'   `summary()`: a tibble with two rows for each combination of the columns in `by`.
#'   * `target`: the true accuracy with which estimates are compared, `"expected"` or `"sample"`.
#'   * `estimates`: number of estimates, also missing ones; `missing`: share that is `NA`; `failed`:
#'     number of errors of the estimator.
#'   * Means over estimates that are not `NA` and whose truth is known: `truth` (true accuracy),
#'     `bias` (estimate minus truth), `rmse` (root mean squared error), `within` (share of estimates
#'     within `margin` of the truth).
#'   * Means over estimates that also have an interval: `coverage` (share of intervals that contain
#'     the truth) and `width`.
#'   * Columns that end in `_mcse`: Monte Carlo standard errors, for independent panels.
#'
#'   These means are `NA` if there is no such estimate.
#'
#'   `glance()`: a tibble with one row: the numbers of `designs`, `cells` (combinations of design
#'   and number of cases; also of system, if the study has `panels = "separate"`), `panels`,
#'   `estimators` and `estimates`; `missing` and `failed` as in `summary()`. `format()`: a string
#'   with the numbers of panels, designs and estimators.
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
  rows <- study_estimates(object)
  # Standard errors treat panels as independent. Systems that share a panel are not independent.
  cell_columns <- c("design", "n", if (object$panels == "separate") "system")
  rows$cell <- number_distinct_rows(rows[cell_columns])
  rows$panel <- number_distinct_rows(rows[c("cell", "run")])
  answer_key <- number_distinct_rows(rows[c("panel", "system")])
  left_out <- check_flag(common, "common") & answer_key %in% answer_key[is.na(rows$estimate)]
  groups <- if (!is_empty(by)) number_distinct_rows(rows[by]) else rep(1L, nrow(rows))
  tables <- lapply(split(row_numbers(rows), groups), function(at) {
    rows_by_target <- lapply(c("expected", "sample"), summarise_errors,
      group = rows[at[!left_out[at]], ], margin = margin)
    c(rows[at[c(1L, 1L)], by], stack_tables(rows_by_target))
  })
  tibble::as_tibble(list2DF(stack_tables(tables)))
}

# Compares the estimates of a group with one measure of truth, the column `target` of `group`.
# Returns a list with the columns of one row. `margin`: largest error that counts as within the
# margin.
summarise_errors <- function(target, group, margin) {
  truth <- group[[target]]
  is_compared <- !is.na(group$estimate) & !is.na(truth)
  has_interval <- !is.na(group$conf.low) & !is.na(group$conf.high) & !is.na(truth)
  error <- (group$estimate - truth)[is_compared]
  # Returns the mean of `x` and its Monte Carlo standard error, a list with names that begin with
  # `name`. `known`: does each row of `group` have a value in `x`?
  mean_of <- function(name, x, known = is_compared) {
    mcse <- if (is.logical(x) && all_same(x)) {
      panels <- n_distinct(group$panel[known])
      sqrt(bernoulli_variance(add_half_cases(mean(x), panels)) / panels)
    } else {
      mean_mcse(x, known, group$cell, group$panel)
    }
    setNames(list(mean(x), mcse), c(name, paste0(name, "_mcse")))
  }
  squares <- mean_of("rmse", error^2)
  rmse <- sqrt(squares$rmse)
  na_real(c(
    list(
      target = target, estimates = nrow(group), missing = mean(is.na(group$estimate)),
      failed = sum(has_failed(group)), truth = mean(truth[is_compared])
    ),
    mean_of("bias", error),
    list(rmse = rmse, rmse_mcse = squares$rmse_mcse / (2 * rmse)),
    # 1e-9 includes errors that are equal to the margin.
    mean_of("within", abs(error) <= margin + 1e-9),
    mean_of("coverage",
      (group$conf.low <= truth & truth <= group$conf.high)[has_interval], has_interval),
    mean_of("width", (group$conf.high - group$conf.low)[has_interval], has_interval)
  ))
}

# Returns the Monte Carlo standard error of the mean of `x`.
# * known: does each row have a value in `x`?
# * cell, panel: numbers of the cell and the panel of each row.
#
# Panels are random. Cells (combinations of design, number of cases and system) are fixed. Values of
# the same panel are not independent. Therefore deviations from the mean are first summed within
# panels. Each cell contributes the variance of these sums times its number of panels. A panel
# without a value has a sum of zero.
mean_mcse <- function(x, known, cell, panel) {
  if (is_empty(x)) return(NA_real_)
  deviation <- replace(double(length(known)), known, x - mean(x))
  cell_variances <- map_dbl(split(seq_along(known), cell), function(rows) {
    sums <- rowsum(deviation[rows], panel[rows])[, 1L]
    n_panels <- n_distinct(panel[rows][known[rows]])
    if (n_panels == 0L) 0 else sum((sums - mean(sums))^2) * n_panels / (n_panels - 1)
  })
  sqrt(sum(cell_variances)) / length(x)
}

# Makes the result of simulation_study(). The printed table contains bias, root mean squared error
# and coverage of each estimator, with Monte Carlo standard errors. `study`: a list with the fields
# of new_study().
new_study_result <- function(study) {
  rows <- study_estimates(study)
  cells <- length(study$done)
  estimators <- names(study$estimators)
  panels <- cells * study$runs
  table <- summary.simulation_study(study, by = c("design", "n", "estimator"))
  has_expected_accuracy <- table$design %in% rows$design[has_expected(rows)]
  table <- table[table$target == ifelse(has_expected_accuracy, "expected", "sample"), ]
  for (name in c("bias", "rmse", "coverage")) {
    shown <- value_and_error(format_decimals(table[[name]]),
      format_decimals(table[[paste0(name, "_mcse")]]))
    table[[name]] <- replace(shown, is.na(table[[name]]), "")
  }
  columns <- c("design", "n", "estimator", "bias", RMSE = "rmse",
    if (any(table$coverage != "")) "coverage", if (any(table$missing > 0)) "missing")
  table$missing <- percent(table$missing)
  inject(new_result("simulation_study",
    !!!unclass(study), tables = list(estimates = study_estimates),
    facts = list(
      designs = length(study$designs), cells = cells, panels = panels,
      estimators = length(estimators), estimates = nrow(rows),
      missing = mean(is.na(rows$estimate)), failed = sum(has_failed(rows))
    ),
    line = sprintf(
      "%s, %s, %s: %s", count_noun(panels, "panel"), count_noun(length(study$designs), "design"),
      count_noun(length(estimators), "estimator"), shorten(estimators)
    ),
    shown = view(table, columns, left = c(1L, 3L), most = 28L),
    notes = study_notes(rows, study$estimators),
    more = "summary(), tidy(), plot(), update(), replay()"
  ))
}

study_estimates <- function(x) tibble::as_tibble(list2DF(x$results[names(x$results) != "cell"]))

study_notes <- function(rows, estimators) {
  has_expected_accuracy <- has_expected(rows)
  failed_rows <- which(has_failed(rows))
  first_failed <- rows[failed_rows[1L], ]
  without_estimate <- setdiff(rows$estimator, rows$estimator[!is.na(rows$estimate)])
  example_rows <- match(without_estimate, rows$estimator)
  without_interval <- setdiff(rows$estimator,
    c(without_estimate, rows$estimator[!is.na(rows$conf.low)]))
  is_user_defined <- !map_lgl(estimators[without_interval], inherits, "accuracy_estimator")
  c(
    if (!is_empty(without_interval)) paste(c(
      paste("No intervals, so no coverage:", shorten(without_interval)),
      if (!all(is_user_defined)) "Use accuracy_estimator(interval = )",
      if (any(is_user_defined)) "Your functions can return columns conf.low and conf.high"
    ), collapse = ". "),
    sprintf(
      "Compared with %s, all systems (Monte Carlo standard error)",
      if (all(has_expected_accuracy)) "expected accuracy" else if (any(has_expected_accuracy))
        "expected accuracy (sample accuracy for designs without expected accuracy)" else
        "sample accuracy"
    ),
    if (!is_empty(failed_rows)) sprintf(
      "%s failed; the first is replay(study, %s, \"estimate\") by %s: %s",
      count_noun(length(failed_rows), "estimate"), failed_rows[[1L]], first_failed$estimator,
      first_failed$reason
    ),
    if (!is_empty(without_estimate)) paste0("No estimates: ", shorten(paste0(
      without_estimate, " (", ifelse(example_rows %in% failed_rows, "failed", paste0(
        rows$reason[example_rows], "; see replay(study, ", example_rows, ", \"estimate\")"
      )), ")"
    )))
  )
}

# Does the design of each row have expected accuracies? User-defined designs need not have them.
has_expected <- function(rows) rows$design %in% rows$design[!is.na(rows$expected)]

# Did the estimator of each row stop with an error?
has_failed <- function(rows) !is.na(rows$condition)

# Formats values with their Monte Carlo standard errors in brackets. Errors of NA are left out.
value_and_error <- function(value, error) {
  ifelse(error == "NA", value, sprintf("%s (%s)", value, error))
}

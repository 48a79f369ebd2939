#' Tables and plots of a simulation study
#'
#' Returns the estimates of a [simulation_study()] and their errors, as tables and plots. A panel is
#' a simulated set of ratings and answers. Estimates are compared with two true accuracies of a
#' system: `expected`, its probability of a correct answer, and `sample`, its share of correct
#' answers in the panel.
#'
#' @param object A [simulation_study()] result.
#' @param by Columns to group by: any of `"design"`, `"n"`, `"system"` and `"estimator"`, by default
#'   all. Estimates are pooled over the other columns.
#' @param margin Distance from the truth that counts as close, for the column `within`; in (0, 1),
#'   by default 0.1.
#' @param common If `TRUE`, only panels and systems are used for which all estimators have an
#'   estimate. By default `FALSE`.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per panel, system and estimator. Columns:
#'   * `design`, `n` (number of cases), `system`, `run` (number of the panel), `estimator`
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: estimate, standard error and interval
#'   * `expected` and `sample`: true accuracy of the system
#'   * `agreement`, `chance_kappa` and `rater_accuracy`: share of equal pairs of ratings, agreement
#'     beyond chance, and accuracy of the raters, if all raters have the same accuracy (see
#'     [k_model()])
#'   * `seed`: seed of R's random numbers for the estimator
#'   * `reason`: why the estimate or its interval is `NA`
#'   * `condition`: the error of an estimator that failed, otherwise `NULL`
#'
#'   `summary()`: a tibble with a row for each combination of the columns in `by` and the two true
#'   accuracies. Columns:
#'   * `target`: the true accuracy with which estimates are compared, `"expected"` or `"sample"`.
#'   * `estimates` (number of estimates), `missing` (share of estimates that are `NA`) and `failed`
#'     (number of errors).
#'   * Over estimates that are not `NA` and whose true accuracy is known: `truth` (mean true
#'     accuracy), `bias` (mean error), `rmse` (root mean squared error), `within` (share of
#'     estimates within `margin` of the truth).
#'   * Over estimates that also have an interval: `coverage` (share of intervals that contain the
#'     truth) and `width` (mean width).
#'   * Columns that end in `_mcse`: Monte Carlo standard errors. Panels are treated as independent.
#'
#'   `glance()`: a tibble with one row. Columns: the numbers of `designs`, `cells`, `panels`,
#'   `estimators` and `estimates`; `missing` and `failed` as in `summary()`. A cell is a combination
#'   of design and number of cases, and of system if each system has separate panels (argument
#'   `panels` of [simulation_study()]). `format()`: a string with the numbers of panels, designs and
#'   estimators.
#' @family simulation
#' @examples
#' set.seed(1)
#' study <- simulation_study(lehner_design(6), runs = 50)
#' tidy(study)
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
  rows$left_out <- check_flag(common, "common") & answer_key %in% answer_key[is.na(rows$estimate)]
  groups <- if (!is_empty(by)) number_distinct_rows(rows[by]) else rep(1L, nrow(rows))
  tables <- lapply(split(rows, groups), function(group) {
    rows_by_target <- lapply(
      c("expected", "sample"), summarise_errors, group = group[!group$left_out, ], margin = margin
    )
    c(lapply(group[by], function(x) x[c(1L, 1L)]), stack_tables(rows_by_target))
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
  mean_of <- function(name, x, known) {
    mcse <- if (is.logical(x) && all_same(x)) {
      panels <- n_distinct(group$panel[known])
      share_true <- add_half_cases(mean(x), panels)
      sqrt(share_true * (1 - share_true) / panels)
    } else {
      mean_mcse(x, known, group$cell, group$panel)
    }
    setNames(list(mean(x), mcse), c(name, paste0(name, "_mcse")))
  }
  mean_square <- mean_of("rmse", error^2, is_compared)
  rmse <- sqrt(mean_square$rmse)
  na_real(c(
    list(
      target = target, estimates = nrow(group), missing = mean(is.na(group$estimate)),
      failed = sum(has_failed(group)), truth = mean(truth[is_compared])
    ),
    mean_of("bias", error, is_compared),
    list(rmse = rmse, rmse_mcse = mean_square$rmse_mcse / (2 * rmse)),
    # 1e-9 includes errors that are equal to the margin.
    mean_of("within", abs(error) <= margin + 1e-9, is_compared),
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

# Makes the result of simulation_study(). `study`: a list with the fields of new_study().
new_study_result <- function(study) {
  rows <- study_estimates(study)
  cells <- length(study$done)
  estimators <- names(study$estimators)
  panels <- cells * study$runs
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
    shown = errors_to_print(study, rows), notes = study_notes(rows, study$estimators),
    more = "summary(), tidy(), plot(), update(), replay()"
  ))
}

study_estimates <- function(x) tibble::as_tibble(list2DF(x$results[names(x$results) != "cell"]))

study_notes <- function(rows, estimators) {
  has_expected_accuracy <- has_expected(rows)
  failed_rows <- which(has_failed(rows))
  first_failed <- rows[failed_rows[1L], ]
  estimators_without_estimate <- setdiff(rows$estimator, rows$estimator[!is.na(rows$estimate)])
  example_rows <- match(estimators_without_estimate, rows$estimator)
  estimators_without_interval <- setdiff(rows$estimator,
    c(estimators_without_estimate, rows$estimator[!is.na(rows$conf.low)]))
  is_user_defined <-
    !map_lgl(estimators[estimators_without_interval], inherits, "accuracy_estimator")
  c(
    if (!is_empty(estimators_without_interval)) paste(c(
      paste("No intervals, so no coverage:", shorten(estimators_without_interval)),
      if (!all(is_user_defined)) "Use accuracy_estimator(interval = )",
      if (any(is_user_defined)) "Your functions can return columns conf.low and conf.high"
    ), collapse = ". "),
    paste0(
      "Compared with ",
      if (!any(has_expected_accuracy)) "sample accuracy" else "expected accuracy",
      if (any(has_expected_accuracy) && !all(has_expected_accuracy))
        " (sample accuracy for designs without expected accuracy)",
      ", all systems (Monte Carlo standard error)"
    ),
    if (!is_empty(failed_rows)) sprintf(
      "%s failed; the first is replay(study, %s, \"estimate\") by %s: %s",
      count_noun(length(failed_rows), "estimate"), failed_rows[[1L]], first_failed$estimator,
      first_failed$reason
    ),
    if (!is_empty(estimators_without_estimate)) paste0("No estimates: ", shorten(paste0(
      estimators_without_estimate, " (", ifelse(example_rows %in% failed_rows, "failed", paste0(
        rows$reason[example_rows], "; see replay(study, ", example_rows, ", \"estimate\")"
      )), ")"
    )))
  )
}

# Does the design of each row have expected accuracies? User-defined designs need not have them.
has_expected <- function(rows) rows$design %in% rows$design[!is.na(rows$expected)]

# Did the estimator of each row stop with an error?
has_failed <- function(rows) !map_lgl(rows$condition, is.null)

# Returns the table that print() shows: bias, root mean squared error and coverage of each
# estimator, with Monte Carlo standard errors.
errors_to_print <- function(study, rows) {
  table <- summary.simulation_study(study, by = c("design", "n", "estimator"))
  has_expected_accuracy <- table$design %in% rows$design[has_expected(rows)]
  table <- table[table$target == ifelse(has_expected_accuracy, "expected", "sample"), ]
  for (name in c("bias", "rmse", "coverage")) {
    cells <- value_and_error(format_decimals(table[[name]]),
      format_decimals(table[[paste0(name, "_mcse")]]))
    table[[name]] <- replace(cells, is.na(table[[name]]), "")
  }
  columns <- c("design", "n", "estimator", "bias", RMSE = "rmse",
    if (any(table$coverage != "")) "coverage", if (any(table$missing > 0)) "missing")
  table$missing <- percent(table$missing)
  view(table, columns, left = c(1L, 3L), most = 28L)
}

# Formats values with their Monte Carlo standard errors in brackets. Errors of NA are left out.
value_and_error <- function(value, error) {
  ifelse(error == "NA", value, sprintf("%s (%s)", value, error))
}

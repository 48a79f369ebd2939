#' Tables of a simulation study
#'
#' @param object A [simulation_study()] result.
#' @param by Columns to group by: any of `"design"`, `"n"`, `"system"` and `"estimator"`. Estimates
#'   are pooled over the others.
#' @param margin Distance from the truth for `within`, in (0, 1).
#' @param common Use only panels and systems with an estimate by all estimators? By default `FALSE`.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per panel, system and estimator: `design`, `n` (number of
#'   cases), `system`, `run`, `estimator`; `estimate`, `std.error`, `conf.low`, `conf.high`;
#'   `expected` and `sample`, see [true_accuracy()]; `agreement`, `chance_kappa` and
#'   `rater_accuracy` of the raters, by the K-model; `seed` of R's generator for the estimator;
#'   `reason`, why something is `NA`; `condition`, the error of an estimator that failed, or `NULL`.
#'
#'   `summary()`: a tibble with a row per combination of `by` and `target`, the truth with which
#'   estimates are compared: `"expected"` or `"sample"`. Columns:
#'   * `estimates` (number of estimates), `missing` (share of them that is `NA`) and `failed`
#'     (number of errors).
#'   * Over estimates that are not `NA` and whose truth is known: `truth` (mean), `bias` (mean
#'     error), `rmse` (root mean squared error), `within` (share of estimates within `margin` of the
#'     truth).
#'   * Over estimates that also have an interval: `coverage` (share of intervals that contain the
#'     truth) and `width` (mean width).
#'
#'   Columns that end in `_mcse` are Monte Carlo standard errors. They treat panels as independent,
#'   and are `NA` if a cell has a single panel with a value, and for an `rmse` of zero. For shares
#'   of 0 or 1, half a panel with the other outcome is added.
#'
#'   `glance()`: a tibble with one row: the numbers of `designs`, `cells` (combinations of design,
#'   number of cases and, for separate panels, system), `panels`, `estimators` and `estimates`;
#'   `missing` and `failed`. `format()`: these in one line.
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
  by <- check_some(by, c("design", "n", "system", "estimator"), "by", none = TRUE)
  margin <- check_level(margin, "margin")
  rows <- study_estimates(object)
  # Panels are independent within a cell; systems of a shared panel are not.
  rows$cell <- keys(rows[c("design", "n", if (object$panels == "separate") "system")])
  rows$panel <- keys(rows[c("cell", "run")])
  answer <- keys(rows[c("panel", "system")])
  rows$left_out <- check_flag(common, "common") & answer %in% answer[is.na(rows$estimate)]
  groups <- if (length(by) > 0L) keys(rows[by]) else rep(1L, nrow(rows))
  out <- lapply(split(rows, groups), function(group) {
    both <- lapply(
      c("expected", "sample"), summarise_errors, group = group[!group$left_out, ], margin = margin
    )
    c(lapply(group[by], function(x) x[c(1L, 1L)]), stack_tables(both))
  })
  tibble::as_tibble(list2DF(stack_tables(out)))
}

# One row: how the estimates of a group compare with one measure of truth.
summarise_errors <- function(target, group, margin) {
  truth <- group[[target]]
  given <- !is.na(group$estimate) & !is.na(truth)
  bounded <- !is.na(group$conf.low) & !is.na(group$conf.high) & !is.na(truth)
  error <- (group$estimate - truth)[given]
  # Mean of x, the values of the rows that are `known`, and its standard error.
  mean_of <- function(name, x, known) {
    mcse <- if (is.logical(x) && all_same(x)) {
      panels <- length(unique(group$panel[known]))
      p <- (0.5 + panels * mean(x)) / (panels + 1) # shares of 0 or 1 also have an error
      sqrt(p * (1 - p) / panels)
    } else {
      mean_mcse(x, known, group$cell, group$panel)
    }
    setNames(list(mean(x), mcse), c(name, paste0(name, "_mcse")))
  }
  square <- mean_of("rmse", error^2, given)
  rmse <- sqrt(square$rmse)
  na_real(c(
    list(
      target = target, estimates = nrow(group), missing = mean(is.na(group$estimate)),
      failed = sum(has_failed(group)), truth = mean(truth[given])
    ),
    mean_of("bias", error, given), list(rmse = rmse, rmse_mcse = square$rmse_mcse / (2 * rmse)),
    mean_of("within", abs(error) <= margin + 1e-9, given), # includes errors equal to the margin
    mean_of("coverage", (group$conf.low <= truth & truth <= group$conf.high)[bounded], bounded),
    mean_of("width", (group$conf.high - group$conf.low)[bounded], bounded)
  ))
}

# Standard error of the mean of x. Panels are random, cells are fixed. Each cell contributes the
# number of its panels times the variance of the panels' sums of deviations. A panel without a value
# contributes a sum of zero.
mean_mcse <- function(x, known, cell, panel) {
  if (length(x) == 0L) return(NA_real_)
  deviation <- replace(double(length(known)), known, x - mean(x))
  parts <- vapply(split(seq_along(known), cell), function(rows) {
    sums <- rowsum(deviation[rows], panel[rows])[, 1L]
    filled <- length(unique(panel[rows][known[rows]]))
    if (filled == 0L) 0 else sum((sums - mean(sums))^2) * filled / (filled - 1)
  }, 0)
  sqrt(sum(parts)) / length(x)
}

# `study`: a list with the fields of new_study().
show_study <- function(study) {
  rows <- study_estimates(study)
  cells <- length(study$done)
  estimators <- names(study$estimators)
  panels <- cells * study$runs
  failed <- sum(has_failed(rows))
  inject(new_result("simulation_study",
    !!!unclass(study), tables = list(estimates = study_estimates),
    facts = list(
      designs = length(study$designs), cells = cells, panels = panels,
      estimators = length(estimators), estimates = nrow(rows),
      missing = mean(is.na(rows$estimate)), failed = failed
    ),
    line = paste0(
      count_noun(panels, "panel"), ", ", count_noun(length(study$designs), "design"), ", ",
      count_noun(length(estimators), "estimator"), ": ", shorten(estimators)
    ),
    shown = view_of_errors(study, rows), notes = study_notes(rows),
    more = "summary(), tidy(), plot(), update(), replay()"
  ))
}

study_estimates <- function(x) {
  tibble::as_tibble(list2DF(x$results[names(x$results) != "cell"]))
}

study_notes <- function(rows) {
  known <- has_expected(rows)
  failed <- which(has_failed(rows))
  first <- rows[failed[1L], ]
  c(
    paste0(
      "Against ",
      if (!any(known)) "sample accuracy" else "expected accuracy",
      if (any(known) && !all(known)) " (of the sample, where nothing is expected)",
      ", all systems (Monte Carlo standard error)"
    ),
    if (length(failed) > 0L) paste0(
      count_noun(length(failed), "estimate"), " failed; the first is replay(study, ", failed[[1L]],
      ", \"estimate\") by ", first$estimator, ": ", first$reason
    )
  )
}

# For each row, does the design have expected accuracies? Worlds need not have them.
has_expected <- function(rows) rows$design %in% rows$design[!is.na(rows$expected)]

# Did the estimator of each row stop with an error?
has_failed <- function(rows) !vapply(rows$condition, is.null, NA)

view_of_errors <- function(study, rows) {
  table <- summary.simulation_study(study, by = c("design", "n", "estimator"))
  expected <- table$design %in% rows$design[has_expected(rows)]
  table <- table[table$target == ifelse(expected, "expected", "sample"), ]
  for (name in c("bias", "rmse", "coverage")) {
    words <- value_and_error(decimals(table[[name]]), decimals(table[[paste0(name, "_mcse")]]))
    table[[name]] <- replace(words, is.na(table[[name]]), "")
  }
  columns <- c("design", "n", "estimator", "bias", RMSE = "rmse",
    if (any(table$coverage != "")) "coverage", if (any(table$missing > 0)) "missing")
  table$missing <- percent(table$missing)
  view(table, columns, left = c(1L, 3L), most = 28L)
}

# Values with their Monte Carlo standard errors in brackets, if these are known.
value_and_error <- function(value, error) {
  ifelse(error == "NA", value, paste0(value, " (", error, ")"))
}

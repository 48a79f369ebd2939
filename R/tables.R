# Tables on the way to their users: lists of columns, and what is shown of each class.

# One below another; all have the same columns, lists among them.
stack_tables <- function(tables) do.call(Map, c(list(c), unname(tables)))

# Much faster than tibble(), which looks at what columns may be. Each has as many entries as the
# first, or one.
columns_tibble <- function(...) {
  columns <- list(...)
  n <- length(columns[[1L]])
  tibble::new_tibble(lapply(columns, rep_len, n), nrow = n)
}

# ---- What is shown ------------------------------------------------------------------------------
# Of every class print() and R Markdown show the same; what it is made of is beside the class.

# A data frame of strings; NULL for what is told in words.
shown_table <- function(x) UseMethod("shown_table")

#' @export
shown_table.default <- function(x) round_columns(utils::head(used_columns(tidy(x)), 20L))

used_columns <- function(table) {
  table[!vapply(table, function(column) is.list(column) || all(is.na(column)), NA)]
}

#' @export
shown_table.accuracy_estimate <- function(x) accuracy_columns(x)

#' @export
shown_table.accuracy_by_group <- function(x) group_columns(x)

#' @export
shown_table.system_comparison <- function(x) pair_columns(x)

#' @export
shown_table.confusion_estimate <- function(x) confusion_columns(x)

#' @export
shown_table.metric_estimate <- function(x) metric_columns(x)

#' @export
shown_table.confusion_matrix <- function(x) matrix_columns(x)

#' @export
shown_table.ground_truth <- function(x) truth_columns(x)

#' @export
shown_table.k_check <- function(x) check_columns(x)

#' @export
shown_table.agreement <- function(x) agreement_columns(x)

#' @export
shown_table.agreement_benchmark <- function(x) benchmark_levels(x)

#' @export
shown_table.agreement_test <- function(x) test_columns(x)

#' @export
shown_table.agreement_comparison <- function(x) difference_columns(x)

#' @export
shown_table.case_plan <- function(x) plan_columns(x)

#' @export
shown_table.gold_plan <- function(x) gold_plan_columns(x)

#' @export
shown_table.simulation_study <- function(x) study_columns(x)

#' @export
shown_table.crowdtruth <- function(x) annotation_columns(x)

#' @export
shown_table.crowdtruth_experiment <- function(x) arm_columns(x)

#' @export
shown_table.worker_flags <- function(x) flagged_columns(x)

#' @export
shown_table.accuracy_bounds <- function(x) bounds_columns(tidy(x), x$options)

#' @export
shown_table.shared_errors <- function(x) {
  table <- shared_columns(x)
  table[order(-abs(table$order)), -1L]
}

#' @export
shown_table.ratings <- function(x) NULL

#' @export
shown_table.ratings_labels <- shown_table.ratings

#' @export
shown_table.rater_model <- function(x) NULL

#' @export
shown_table.rater_design <- function(x) NULL

#' @export
shown_table.accuracy_estimator <- function(x) NULL

#' @export
shown_table.interval_calibration <- function(x) NULL

# One line above the table.
caption_of <- function(x) UseMethod("caption_of")

#' @export
caption_of.default <- function(x) format(x)

#' @export
caption_of.accuracy_estimate <- function(x) accuracy_title(x)

#' @export
caption_of.accuracy_by_group <- function(x) group_title(x)

#' @export
caption_of.confusion_estimate <- function(x) confusion_title(x)

#' @export
caption_of.metric_estimate <- function(x) metric_title(x)

#' @export
caption_of.accuracy_bounds <- function(x) {
  paste("Bounds of the accuracy of", count_noun(nrow(tidy(x)), "system"))
}

#' @export
caption_of.agreement <- function(x) agreement_title(x)

#' @export
caption_of.agreement_benchmark <- function(x) benchmark_title(x)

#' @export
caption_of.agreement_test <- function(x) test_title(x)

#' @export
caption_of.agreement_comparison <- function(x) difference_title(x)

#' @export
caption_of.case_plan <- function(x) plan_title(x)

#' @export
caption_of.gold_plan <- function(x) gold_plan_title(x)

#' @export
caption_of.crowdtruth_experiment <- function(x) experiment_title(x)

# What must not be told without, below it.
notes_of <- function(x) UseMethod("notes_of")

#' @export
notes_of.default <- function(x) NULL

#' @export
notes_of.accuracy_estimate <- function(x) accuracy_notes(x)

#' @export
notes_of.accuracy_by_group <- function(x) group_notes(x)

#' @export
notes_of.accuracy_bounds <- function(x) sub("^  - ", "", bounds_notes(x))

#' @export
notes_of.shared_errors <- function(x) shared_notes(x)

#' @export
notes_of.system_comparison <- function(x) comparison_notes(x)

#' @export
notes_of.confusion_estimate <- function(x) confusion_notes(x)

#' @export
notes_of.metric_estimate <- function(x) metric_notes(x)

#' @export
notes_of.k_check <- function(x) check_notes(x)

#' @export
notes_of.agreement <- function(x) agreement_notes(x)

#' @export
notes_of.agreement_test <- function(x) test_notes(x)

#' @export
notes_of.agreement_comparison <- function(x) reasons_of_tests(x)

#' @export
notes_of.case_plan <- function(x) plan_story(x)

#' @export
notes_of.gold_plan <- function(x) gold_plan_notes(x)

#' @export
notes_of.simulation_study <- function(x) study_notes(x)

#' @export
notes_of.crowdtruth <- function(x) x$history

#' @export
notes_of.crowdtruth_experiment <- function(x) experiment_notes(x)

#' @export
notes_of.worker_flags <- function(x) flag_notes(x)

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
shown_table.ground_truth <- function(x) truth_columns(x)

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
caption_of.accuracy_bounds <- function(x) {
  paste("Bounds of the accuracy of", count_noun(nrow(tidy(x)), "system"))
}

# What must not be told without, below it.
notes_of <- function(x) UseMethod("notes_of")

#' @export
notes_of.default <- function(x) NULL

#' @export
notes_of.accuracy_bounds <- function(x) sub("^  - ", "", bounds_notes(x))

#' @export
notes_of.k_check <- function(x) check_notes(x)

#' @export
notes_of.case_plan <- function(x) plan_story(x)

#' @export
notes_of.crowdtruth <- function(x) x$history


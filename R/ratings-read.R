#' Read ratings from files
#'
#' Reads a folder with `ratings.csv` and perhaps `systems.csv`, either of them perhaps compressed
#' (`.csv.gz`), and makes a [ratings()] object. Every column is read as text, so that a category `1`
#' stays `"1"` and a case `007` stays `"007"`.
#'
#' @param path A folder, or the path of the file of ratings.
#' @param systems Which file of predictions: `TRUE` for `systems.csv` or `systems.csv.gz` beside the
#'   ratings, if there is one; a path; or `FALSE` for none.
#' @param ... Passed to [ratings()]: `categories`, `ordered`, `repeats`, `rater_kind` and
#'   `rater_groups`, which may be a column of the file.
#' @return A [ratings()] object. `ratings.csv` must have the columns `case`, `rater` and `rating`,
#'   `systems.csv` the columns `case`, `system` and `prediction`; an empty field and `NA` are
#'   missing values.
#' @family data
#' @examples
#' folder <- tempfile()
#' dir.create(folder)
#' utils::write.csv(dawid1979, file.path(folder, "ratings.csv"), row.names = FALSE)
#' read_ratings(folder, repeats = "ratings")
#' @export
read_ratings <- function(path, systems = TRUE, ...) {
  if (!rlang::is_string(path) || !file.exists(path)) {
    abort_fallible("file", c(
      "{.arg path} must be a folder or file that exists.",
      "x" = "It is {describe(path)}."
    ), path = path, call = rlang::current_env())
  }
  folder <- if (dir.exists(path)) path else dirname(path)
  file <- if (dir.exists(path)) find_file(folder, "ratings") else path
  if (is.null(file)) {
    abort_fallible("file", c(
      "The folder has neither {.file ratings.csv} nor {.file ratings.csv.gz}.",
      "x" = "The folder is {.file {path}}."
    ), path = path, call = rlang::current_env())
  }
  if (rlang::is_bool(systems)) systems <- if (systems) find_file(folder, "systems")
  long <- read_text(file, c("case", "rater", "rating"))
  answers <- if (!is.null(systems)) read_text(systems, c("case", "system", "prediction"))
  ratings(long, case = "case", rater = "rater", rating = "rating", systems = !!answers, ...)
}

find_file <- function(folder, stem) {
  file <- file.path(folder, paste0(stem, c(".csv", ".csv.gz")))
  file <- file[file.exists(file)]
  if (length(file) > 0L) file[[1L]]
}

read_text <- function(file, columns, call = rlang::caller_env()) {
  if (!rlang::is_string(file) || !utils::file_test("-f", file)) {
    abort_fallible("file", "There is no file {describe(file)}.", path = file, call = call)
  }
  fields <- utils::count.fields(file, sep = ",", quote = "\"", comment.char = "")
  off <- which(is.na(fields) | fields != fields[1L])
  if (length(off) > 0L) {
    abort_fallible("file", c(
      "All lines of {.file {file}} must have as many columns as the first, {fields[1L]}.",
      "x" = if (is.na(fields[off[1L]])) {
        "Line {off[1L]} opens a quote and does not close it."
      } else {
        "Line {off[1L]} has {fields[off[1L]]}."
      }
    ), path = file, call = call)
  }
  table <- tryCatch(
    utils::read.csv(
      file, colClasses = "character", na.strings = c("NA", ""), check.names = FALSE,
      encoding = "UTF-8", row.names = NULL, fill = FALSE, comment.char = ""
    ),
    error = function(cnd) {
      abort_fallible("file", "{.file {file}} is not a table with commas between its columns.",
        path = file, parent = cnd, call = call)
    }
  )
  lacking <- setdiff(columns, names(table))
  if (length(lacking) > 0L) {
    abort_fallible("file", c(
      "{.file {file}} must have the columns {.val {columns}}.",
      "x" = "It lacks {.val {lacking}}; it has {.val {names(table)}}.",
      "i" = if (any(grepl(";", names(table), fixed = TRUE))) {
        "Columns must be separated by commas, not by semicolons."
      } else {
        "Read other layouts yourself, and call {.fun ratings}."
      }
    ), path = file, call = call)
  }
  table
}

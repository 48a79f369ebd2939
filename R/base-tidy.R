# Methods that all results share, such as coef(), confint(), summary() and knit_print(), and
# functions that convert tables for documents and spreadsheets. Methods for printing are in
# base-result.R.

#' Methods for all results: coefficients, intervals, tables and plots
#'
#' Prints the results of this package, extracts their tables, and draws them. Every result of a
#' function of this package, such as [estimate_accuracy()], has the class `fallible_result`.
#'
#' @param x,object A result of a function of this package.
#' @param row.names,optional,stringsAsFactors Not used.
#' @param n Number of rows of each table to print, from 0 to 1000. `Inf` prints at most 1000 rows.
#'   `NULL`, the default, prints up to 20 or 30 rows, depending on the result.
#' @param digits Number of decimals of estimates and intervals in printed tables, from 0 to 15.
#'   `NULL`, the default, prints three decimals, and fewer in some columns. Numbers within sentences
#'   and ranges of estimates keep their decimals.
#' @param what Name of a table of the result, a string. `NULL`, the default, is the main table. The
#'   help page of the result lists the names, and so does the error for an unknown name.
#' @param ... Further arguments. `tidy()` and `as.data.frame()` accept further arguments for some
#'   values of `what`. The help page of the result lists these arguments; give them by name.
#'   `plot()` accepts the arguments of `autoplot()`, and the strings `title` and `subtitle`, which
#'   replace the titles. Other methods do not use `...`.
#' @param spreadsheet If `TRUE`, an apostrophe is put before text that begins with `=`, `+`, `-`,
#'   `@`, a tab or a line break, which a spreadsheet would read as a formula. By default `FALSE`.
#' @param parm Names (as in `coef()`) or positions of the estimates whose intervals are returned; by
#'   default all.
#' @param level `NULL`, the default, or the confidence level of `object`. Other levels are an error;
#'   compute the result again with another `conf_level`, for an estimate of accuracy by
#'   `update(object, conf_level = )`.
#' @return
#'   * `print()`: `x`, invisibly.
#'   * `tidy()`: a tibble, the table `what`. `as.data.frame()`: the same table as a data frame.
#'   * `glance()`: a tibble with one row of totals and settings.
#'   * `format()`: a string, or several for results about several systems or variables.
#'   * `summary()`: an object that prints the row of `glance()` and the first rows of all tables.
#'   * `plot()`: draws the ggplot of [autoplot()] and returns it invisibly.
#'   * `coef()`: a numeric vector, column `estimate` of `tidy()`, named by the text columns before
#'     it, such as the system. `NA` if a value cannot be estimated.
#'   * `confint()`: a matrix with a row per estimate and two columns, the limits of its interval.
#'     The limits are `NA` if the estimate has no interval.
#'   * `vcov()`: the covariance matrix of the estimates, from bootstrap replicates (estimates from
#'     resampled cases) if the result has them. Otherwise the diagonal contains squared standard
#'     errors, and covariances are `NA`.
#'
#'   `plot()` is an error if the result has no plot. `coef()`, `confint()` and `vcov()` are an error
#'   if the main table has no column `estimate`.
#' @name fallible_result
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate <- estimate_accuracy(x)
#' # The main table, and the estimate with its interval
#' tidy(estimate)
#' coef(estimate)
#' confint(estimate)
#' # The main table for a spreadsheet
#' utils::write.csv(as.data.frame(estimate, spreadsheet = TRUE), row.names = FALSE)
NULL

#' @rdname fallible_result
#' @export
as.data.frame.fallible_result <- function(x, row.names = NULL, # nolint: object_name.
                                          optional = FALSE, ..., spreadsheet = FALSE,
                                          stringsAsFactors = FALSE) { # nolint: object_name.
  table <- if (is.data.frame(x) && is.null(list(...)$what)) x else tidy(x, ...)
  escape_for_spreadsheet(plain_data_frame(table), spreadsheet)
}

#' @rdname fallible_result
#' @export
summary.fallible_result <- function(object, ...) {
  if (is_partial_result(object)) return(summary(plain_data_frame(object)))
  schema <- schema_of(object)
  views <- if (!is.null(schema$summary)) schema$summary(object)
  structure(list(object = object, schema = schema, views = views), class = "result_summary")
}

#' @rdname fallible_result
#' @export
plot.fallible_result <- function(x, ...) draw(x, ...)

#' @rdname fallible_result
#' @export
coef.fallible_result <- function(object, ...) { # nolint: object_name.
  table <- table_of_estimates(object)
  setNames(table$estimate, table$name)
}

#' @rdname fallible_result
#' @export
vcov.fallible_result <- function(object, ...) { # nolint: object_name.
  table <- table_of_estimates(object)
  estimate_names <- table$name
  replicates <- unclass(object)[["replicates"]]
  has_replicates <- is.matrix(replicates) && ncol(replicates) == length(estimate_names)
  covariance <- matrix(if (has_replicates) cov(replicates, use = "complete.obs") else NA_real_,
    length(estimate_names), length(estimate_names), dimnames = list(estimate_names, estimate_names))
  diag(covariance) <- table$std.error^2
  covariance
}

#' @rdname fallible_result
#' @export
confint.fallible_result <- function(object, parm, level = NULL, ...) { # nolint: object_name.
  table <- table_of_estimates(object)
  object_level <- glance(object)[["conf_level"]] %||% unclass(object)[["options"]]$conf_level
  abort_argument_if(!is.null(level) && !isTRUE(all.equal(level, object_level)), "level",
    "must be the confidence level of {.arg object}.", not = level,
    i = paste("The intervals of {.arg object} have level {object_level}.", other_level_hint))
  interval_matrix(table, table$name, object_level %||% NA_real_, parm)
}

# Returns the matrix of intervals that confint() returns. It has a row per estimate, and columns
# with names such as "5 %" and "95 %". `parm`: names or numbers of the estimates to return; all if
# missing.
interval_matrix <- function(table, names, level, parm) {
  limit_labels <- paste(format(100 * (1 + c(-1, 1) * level) / 2, trim = TRUE), "%")
  intervals <- matrix(unlist(table[limit_columns]), ncol = 2L, dimnames = list(names, limit_labels))
  if (missing(parm)) return(intervals)
  if (is.numeric(parm)) parm <- names[parm]
  pick_rows(intervals, check_names_among(parm, names, "parm"))
}

# Returns the main table of a result. Adds columns of standard errors or intervals with NA if they
# are missing, and column `name`, which contains the text columns before column `estimate`, pasted.
# Raises an error if the table has no estimates.
table_of_estimates <- function(object) {
  table <- tidy(object)
  abort_argument_if(!is.numeric(table[["estimate"]]), "object",
    "A result of class {.cls {class(object)[[1L]]}} has no estimates.",
    i = "{.fun tidy} returns its table.")
  table[setdiff(interval_columns, names(table))] <- NA_real_
  identifying_columns <- as.list(table)[seq_len(match("estimate", names(table)) - 1L)]
  identifying_columns$scale_weights <- NULL # left out, because it is equal in all rows
  identifying_columns <-
    Filter(function(x) is.character(x) || is.factor(x), unname(identifying_columns))
  identifying_columns <- lapply(identifying_columns, function(x) replace_na(as.character(x), ""))
  table$name <- gsub("^ +| (?= |$)", "", paste_columns(identifying_columns, " "), perl = TRUE)
  table
}

# With this method and the next one, toString() and paste() use the text of format() instead of the
# fields of the object.
#' @export
toString.fallible_result <- function(x, ...) toString(format(x), ...) # nolint: object_name.

#' @export
as.character.fallible_result <- function(x, ...) { # nolint: object_name.
  if (is_partial_result(x)) as.character(plain_data_frame(x), ...) else unname(format(x))
}

# Converts a table to a plain data frame, without the class and attributes of a result.
plain_data_frame <- function(table) list2DF(lapply(table, identity))

plain_tibble <- function(table) as_tibble(plain_data_frame(table))

has_columns <- function(x, columns) all(columns %in% names(x))

# Names of tables that summary() does not print. These tables are long, or need arguments or random
# numbers.
tables_on_request <- c(
  "replicates", "roc", "reliability", "threshold", "breakdown", "benchmark", "patterns", "counts",
  "workers", "labels", "kinds", "cases", "coincidence", "overlap"
)

# Returns a named list of the tables that summary() prints: all tables that have rows and need no
# arguments, except those in `tables_on_request`.
summary_tables <- function(x) {
  tables <- Filter(Negate(has_further_arguments), schema_of(x)$tables)
  Filter(NROW, lapply(setNames(nm = setdiff(names(tables), tables_on_request)), function(name) {
    # Some results lack a table that their class defines; tidy() then raises an error.
    tryCatch(tidy(x, name), fallible_error = function(e) NULL)
  }))
}

# Prints a summary. If the class of the result defines tables for summary() (`x$views`), prints the
# result and then these tables. Otherwise prints the columns of glance() and the tables of
# summary_tables().
#' @export
print.result_summary <- function(x, ...) {
  object <- x$object
  if (!is.null(x$views)) {
    print_schema(object, x$schema, details = x$views)
    return(invisible(x))
  }
  class_name <- x$schema$class %||% class(object)[[1L]]
  cat_lines(sprintf("<summary of %s> %s", class_name, x$schema$caption))
  glance_row <- summary_rows(glance(object))
  if (!is_empty(glance_row)) {
    printed_values <- printable(map_chr(glance_row, format))
    cat("", paste0(format(names(glance_row)), "  ", printed_values), sep = "\n")
  }
  tables <- summary_tables(object)
  for (table in names(tables)) {
    cat("\n", printable(capitalised(table)), "\n", sep = "")
    print(summary_rows(tables[[table]]), row.names = FALSE)
    n_hidden <- nrow(tables[[table]]) - max_summary_rows
    if (n_hidden > 0L) cat("... and", n_hidden, "more\n")
  }
  invisible(x)
}

max_summary_rows <- 12L # largest number of rows of a table in summary()

# Returns the first rows of a table, without columns that are lists or in which all values are NA.
# Columns of doubles are strings with three decimals, except columns of whole numbers.
summary_rows <- function(table) {
  first_rows <- head(as.data.frame(drop_empty_columns(table)), max_summary_rows)
  first_rows[] <- lapply(first_rows, function(x) {
    if (is.double(x) && any(x != round(x), na.rm = TRUE)) format_decimals(x) else x
  })
  first_rows
}

max_document_rows <- 40L # largest number of rows of a table in a document

# Method of knit_print(). Returns a Markdown table of the result with a caption and notes or, in
# inline code, the text of format().
knit_result <- function(x, ..., options = list(), inline = FALSE) {
  if (inline) {
    inline_text <- format(x)
    if (has_names(inline_text)) inline_text <- paste0(names(inline_text), ": ", inline_text)
    return(knitr::asis_output(escape_for_document(toString(inline_text))))
  }
  table <- if (!isFALSE(options$fallible.table) && !is_partial_result(x)) shown_table(x)
  if (is.null(table)) return(knitr::normal_print(x))
  n_hidden <- nrow(table) - max_document_rows
  notes <- c(if (n_hidden > 0L) sprintf("... and %s rows more", n_hidden), document_notes(x))
  is_right_aligned <- map_lgl(table, function(column) all(grepl("^[-+<.[]*[0-9]|^NA$|^$", column)))
  knitr::asis_output(paste(c(
    "", knitr::kable(
      escape_table_text(head(table, max_document_rows)),
      caption = escape_for_document(schema_of(x)$caption),
      row.names = FALSE, align = ifelse(is_right_aligned, "r", "l")
    ), "", paste0("* ", escape_for_document(notes), recycle0 = TRUE), ""
  ), collapse = "\n"))
}

# Returns the texts below a table in a document: the lines of the printed header except the first,
# and all notes except headings. Each text is one line without a bullet.
document_notes <- function(x) {
  schema <- schema_of(x)
  notes <- Filter(function(note) note$kind != "heading", schema$notes)
  texts <- c(setdiff(schema$head[-1L], schema$caption), map_chr(notes, `[[`, "text"))
  one_line(sub("^ *[-*] ", "", texts))
}

# Escapes text for a knitted document, which then shows it as text and not as markup or code. HTML
# entities are used, which Pandoc converts in every output format. If the document is not Markdown,
# the text is returned unchanged.
escape_for_document <- function(text) {
  document_format <- knitr::opts_knit$get("out.format")
  if (is.null(document_format) || document_format == "markdown") escape_markdown(text) else text
}

# Replaces characters with a meaning in Markdown by HTML entities.
escape_markdown <- function(text) {
  text <- gsub("&", "&amp;", printable(as.character(text)), fixed = TRUE)
  for (character in c("#", "!", "<", "`", "*", "$", "|", "\\")) {
    text <- gsub(character, sprintf("&#%d;", utf8ToInt(character)), text, fixed = TRUE)
  }
  text <- gsub("](", "]&#40;", gsub("]{", "]&#123;", text, fixed = TRUE), fixed = TRUE)
  # Some characters are markup only at some positions, such as the beginning of a line. Each element
  # of `markup_patterns` is a regular expression that matches a character at these positions. The
  # name of the element is the character.
  markup_patterns <- c(
    "_" = "(?<![[:alnum:]])_|_(?![[:alnum:]])", "~" = "~", "^" = "\\^",
    "." = "^\\w+\\K[.](?=\\s)|(?i:www)\\K[.]",
    ")" = "^\\w+\\K[)](?=\\s)", ">" = "^>", "-" = "^-(?=\\s|-)",
    "+" = "^[+](?=\\s)",
    # Pandoc makes links of text that looks like an address, a citation or the name of a section.
    ":" = "^:(?=:)|(?<=[[:alnum:]+.-]):(?=\\S)|(?<=\\]):", "@" = "@", "[" = "\\[(?![-0-9.])"
  )
  for (character in names(markup_patterns)) {
    text <- gsub(
      markup_patterns[[character]], sprintf("&#%d;", utf8ToInt(character)), text, perl = TRUE
    )
  }
  text
}

# Converts text or a data frame to Markdown. Characters with a meaning in Markdown are escaped,
# because labels and names come from data.
as_markdown <- function(x, digits = 3L) {
  if (!is.data.frame(x)) return(escape_markdown(x))
  as.character(knitr::kable(escape_table_text(x), "pipe", digits = digits, row.names = FALSE))
}

# Prepares a table for a spreadsheet. If `wanted` is TRUE, puts an apostrophe before cells and names
# of columns that a spreadsheet would read as formulas. Numbers are unchanged, even if they are text
# such as "-1".
escape_for_spreadsheet <- function(table, wanted) {
  if (!check_flag(wanted, "spreadsheet")) return(table)
  table[] <- lapply(table, function(column) {
    if (is.factor(column)) levels(column) <- escape_formulas(levels(column))
    if (is.character(column)) escape_formulas(column) else column
  })
  setNames(table, escape_formulas(names(table)))
}

# Puts an apostrophe before strings that a spreadsheet would read as formulas.
escape_formulas <- function(text) {
  looks_like_formula <- grepl("^[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]", text) &
    !grepl("^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$", text) # numbers
  replace(text, looks_like_formula, paste0("'", text[looks_like_formula]))
}

# Escapes all text of a table for a document; numbers are unchanged.
escape_table_text <- function(table) {
  for (column in which(!map_lgl(table, is.numeric))) {
    table[[column]] <- escape_for_document(as.character(table[[column]]))
  }
  setNames(table, escape_for_document(names(table)))
}

#' Results in R Markdown and Quarto
#'
#' Formats results of this package for documents. If a chunk of R Markdown or Quarto returns a
#' result, the document shows a table with a caption and notes. The table has at most 40 rows.
#'
#' Objects without a table, such as [ratings()] and models, are printed as in the console. In chunks
#' with the option `fallible.table = FALSE`, all results are printed as in the console. In inline
#' code, a result becomes the text of `format()`, such as `78% (90% interval 67% to 90%)` for an
#' estimate.
#' @name knit_print
#' @return Markdown text, a string of class `knit_asis`; see [knitr::knit_print()].
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # The text of an estimate in inline code, without and with an interval
#' format(estimate_accuracy(x, interval = "none"))
#' format(estimate_accuracy(x))
#' @rawNamespace S3method(knitr::knit_print,fallible_result,knit_result)
NULL

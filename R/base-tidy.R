# Methods of all results (for printing see base-result.R): estimates, documents, spreadsheets.

#' @rdname fallible_result
#' @export
as.data.frame.fallible_result <- function(x, row.names = NULL, # nolint: object_name.
                                          optional = FALSE, ..., spreadsheet = FALSE) {
  as_table <- is.data.frame(x) && is.null(list(...)$what)
  for_spreadsheet(plain_data_frame(if (as_table) x else tidy(x, ...)), spreadsheet)
}

#' @rdname fallible_result
#' @export
summary.fallible_result <- function(object, ...) {
  if (is_part(object)) return(summary(plain_data_frame(object)))
  schema <- schema_of(object)
  structure(
    list(
      object = object, schema = schema,
      views = if (!is.null(schema$summary)) schema$summary(object)
    ),
    class = "result_summary"
  )
}

#' @rdname fallible_result
#' @export
plot.fallible_result <- function(x, ...) draw(x, ...)

#' @rdname fallible_result
#' @export
coef.fallible_result <- function(object, ...) { # nolint: object_name.
  table <- estimates_of(object)
  setNames(table$estimate, names_of_rows(table))
}

#' @rdname fallible_result
#' @export
vcov.fallible_result <- function(object, ...) { # nolint: object_name.
  table <- estimates_of(object)
  names <- names_of_rows(table)
  out <- matrix(NA_real_, length(names), length(names), dimnames = list(names, names))
  replicates <- unclass(object)[["replicates"]]
  if (is.matrix(replicates) && ncol(replicates) == length(names)) {
    out[] <- stats::cov(replicates, use = "complete.obs")
  }
  diag(out) <- table$std.error^2
  out
}

#' @rdname fallible_result
#' @export
confint.fallible_result <- function(object, parm, level = NULL, ...) { # nolint: object_name.
  table <- estimates_of(object)
  used <- glance(object)[["conf_level"]] %||% unclass(object)[["options"]]$conf_level
  abort_argument_if(!is.null(level) && !isTRUE(all.equal(level, used)), "level",
    "must be that of the intervals of {.arg object}.", not = level,
    i = "The intervals of {.arg object} have level {used}. For another level, compute {.arg object}
        again with another {.arg conf_level}.")
  chosen_rows(interval_matrix(table, names_of_rows(table), used %||% NA_real_), parm)
}

# Rows of a matrix of intervals, by name or number.
chosen_rows <- function(ends, parm) {
  if (missing(parm)) return(ends)
  if (is.numeric(parm)) parm <- rownames(ends)[parm]
  ends[check_names_among(parm, rownames(ends), "parm"), , drop = FALSE]
}

interval_matrix <- function(table, names, level) {
  tail <- paste(format(100 * (1 + c(-1, 1) * level) / 2, trim = TRUE), "%")
  matrix(c(table$conf.low, table$conf.high), ncol = 2L, dimnames = list(names, tail))
}

# Main table of a result with estimates, intervals and standard errors; absent ones are NA.
estimates_of <- function(object) {
  table <- tidy(object)
  abort_argument_if(!is.numeric(table[["estimate"]]), "object",
    "A result of class {.cls {class(object)[[1L]]}} has no estimates.", i = "See {.fun tidy}.")
  table[setdiff(interval_columns, names(table))] <- NA_real_
  table
}

# Names of rows: the text columns before the estimate.
names_of_rows <- function(table) {
  about <- as.list(table)[seq_len(match("estimate", names(table)) - 1L)]
  about$scale_weights <- NULL # equal for all measures
  about <- Filter(function(x) is.character(x) || is.factor(x), unname(about))
  trimws(do.call(paste, lapply(about, function(x) replace(as.character(x), is.na(x), ""))))
}

# Text for paste(), instead of the fields of an object.
#' @export
toString.fallible_result <- function(x, ...) toString(format(x), ...) # nolint: object_name.

#' @export
as.character.fallible_result <- function(x, ...) { # nolint: object_name.
  if (is_part(x)) as.character(plain_data_frame(x), ...) else unname(format(x))
}

# Drops the class and attributes of results that are tables.
plain_data_frame <- function(table) list2DF(lapply(table, identity))

plain_tibble <- function(table) tibble::as_tibble(plain_data_frame(table))

has_columns <- function(x, columns) all(columns %in% names(x))

# Names of tables that are long, or that need arguments or random draws.
not_shown_unasked <- c(
  "replicates", "roc", "reliability", "threshold", "breakdown", "benchmark", "patterns", "counts",
  "workers", "labels", "kinds", "cases", "coincidence", "overlap"
)

# All tables of a result that have rows, by name.
tables_of <- function(x) {
  tables <- Filter(Negate(has_arguments), schema_of(x)$tables)
  names <- setdiff(names(tables), not_shown_unasked)
  Filter(NROW, lapply(setNames(nm = names), function(name) {
    tryCatch(tidy(x, name), fallible_error = function(e) NULL) # some results lack the table
  }))
}

# Default summary of results: the facts of glance(), and all tables.
#' @export
print.result_summary <- function(x, ...) {
  object <- x$object
  if (is.null(x$views)) {
    cat_lines(paste0("<summary of ", class_name(object), "> ", x$schema$caption))
    print_facts(glance(object))
    tables <- tables_of(object)
    for (name in names(tables)) print_table(capitalised(name), used_columns(tables[[name]]))
  } else {
    print_schema(object, x$schema, details = x$views)
  }
  invisible(x)
}

most_shown <- 40L # rows in a document

# In R Markdown a result is a table of the document; inline it is its format().
knit_result <- function(x, ..., options = list(), inline = FALSE) {
  if (inline) {
    words <- format(x)
    if (!is.null(names(words))) words <- paste0(names(words), ": ", words)
    return(knitr::asis_output(literal(toString(words))))
  }
  table <- if (!isFALSE(options$fallible.table) && !is_part(x)) shown_table(x)
  if (is.null(table)) return(knitr::normal_print(x))
  more <- nrow(table) - most_shown
  notes <- c(if (more > 0L) paste("... and", more, "rows more"), document_notes(x))
  right <- vapply(table, function(column) all(grepl("^[-+<.[]*[0-9]|^NA$|^$", column)), NA)
  text <- c(
    "", knitr::kable(
      table_as_text(head(table, most_shown)), caption = literal(schema_of(x)$caption),
      row.names = FALSE, align = ifelse(right, "r", "l")
    ), "", paste0("* ", literal(notes), recycle0 = TRUE), ""
  )
  knitr::asis_output(paste(text, collapse = "\n"))
}

# Further lines of the header, and notes without bullets and headings, each in one line.
document_notes <- function(x) {
  schema <- schema_of(x)
  notes <- Filter(function(note) note$kind != "heading", schema$notes)
  words <- c(setdiff(schema$head[-1L], schema$caption), vapply(notes, `[[`, "", "text"))
  gsub("\\s+", " ", sub("^ *[-*] ", "", words))
}

# Escapes labels, which are data, so that a document shows them as text and not as markup or code.
# Pandoc converts entities in any output format. Documents that are not Markdown are unchanged.
literal <- function(words) {
  document <- knitr::opts_knit$get("out.format")
  if (is.null(document) || document == "markdown") escape_markdown(words) else words
}

escape_markdown <- function(words) {
  words <- gsub("&", "&amp;", printable(as.character(words)), fixed = TRUE)
  for (mark in c("#", "!", "<", "`", "*", "$", "|", "\\")) {
    words <- gsub(mark, sprintf("&#%d;", utf8ToInt(mark)), words, fixed = TRUE)
  }
  words <- gsub("](", "]&#40;", gsub("]{", "]&#123;", words, fixed = TRUE), fixed = TRUE)
  # Characters that are markup only in some places: around words, and where a block begins.
  some <- c(
    "_" = "(?<![[:alnum:]])_|_(?![[:alnum:]])", "~" = "~", "^" = "\\^",
    "." = "^\\w+\\K[.](?=\\s)|(?i:www)\\K[.]",
    ")" = "^\\w+\\K[)](?=\\s)", ">" = "^>", "-" = "^-(?=\\s|-)",
    "+" = "^[+](?=\\s)",
    # Text like an address, or like the name of a section, would become a link.
    ":" = "^:(?=:)|(?<=[[:alnum:]+.-]):(?=\\S)|(?<=\\]):", "@" = "@", "[" = "\\[(?![-0-9.])"
  )
  for (mark in names(some)) {
    words <- gsub(some[[mark]], sprintf("&#%d;", utf8ToInt(mark)), words, perl = TRUE)
  }
  words
}

# Converts text, or a data frame, to Markdown. Labels and names are data, so that characters with a
# meaning in Markdown are written as entities.
as_markdown <- function(x, digits = 3L) {
  if (!is.data.frame(x)) return(escape_markdown(x))
  as.character(knitr::kable(table_as_text(x), "pipe", digits = digits, row.names = FALSE))
}

# Adds an apostrophe to cells and names of columns that spreadsheets would read as formulas.
# Numbers, also as text ("-1"), are unchanged.
for_spreadsheet <- function(table, wanted) {
  if (!check_flag(wanted, "spreadsheet")) return(table)
  table[] <- lapply(table, function(column) {
    if (is.factor(column)) levels(column) <- without_formulas(levels(column))
    if (is.character(column)) without_formulas(column) else column
  })
  setNames(table, without_formulas(names(table)))
}

without_formulas <- function(words) {
  number <- "^[-+]?[0-9]*[.]?[0-9]+([eE][-+]?[0-9]+)?$"
  formula <- grepl("^[-=+@\t\r\n\uff1d\uff0b\uff0d\uff20]", words) & !grepl(number, words)
  replace(words, formula, paste0("'", words[formula]))
}

table_as_text <- function(table) {
  for (column in which(!vapply(table, is.numeric, NA))) {
    table[[column]] <- literal(as.character(table[[column]]))
  }
  setNames(table, literal(names(table)))
}

#' Results in R Markdown
#'
#' If the value of a chunk of R Markdown or Quarto is a result, the document contains a table with a
#' caption and notes. Objects that are not tables ([ratings()], designs and models) are
#' printed as in the console. In an inline expression, a result becomes the text of `format()`, for
#' an estimate such as `78% (90% interval 67% to 90%)`.
#'
#' Chunks with the option `fallible.table = FALSE` print results as in the console.
#'
#' @name knit_print
#' @return Text for the document; see [knitr::knit_print()].
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' format(estimate_accuracy(x, interval = "none"))
#' format(estimate_accuracy(x))
#' @rawNamespace S3method(knitr::knit_print,fallible_result,knit_result)
NULL

# A result is a set of tables with a schema, which is an attribute. The schema contains everything
# that print(), tidy(), glance() and format() show. The function that creates a result also computes
# the schema. Methods of the parent class `fallible_result` compute nothing; they only read the
# schema.

# Elements of a schema:
# * tables: a named list of the tables that tidy() returns, the default one first. An element is a
#   data frame, or a function of the result if the table is long or has arguments.
# * facts: list of the columns of glance().
# * line: the string that format() returns.
# * caption: the line above the table in a document.
# * head: lines of the printed header.
# * shown: what print() shows: a view() or a list of views. It may also be a function of the result
#   that returns a view for documents only; print() then shows no table.
# * document: the view for documents, by default the first view in `shown`.
# * class: the name of the result in print(), by default its first class.
# * notes: strings or note()s that are printed below the table.
# * more: text of the last printed line, "More: ...". If it is named, its name replaces "More".
# * summary: a function of the result that returns a list of views for summary(); by default,
#   summary() shows all tables.
new_schema <- function(tables, facts, line, caption = line, head = caption, shown = NULL,
                       notes = NULL, more = NULL, class = NULL, summary = NULL, document = NULL) {
  if (is.list(shown) && is.data.frame(shown$table)) shown <- list(shown)
  document <- document %||% if (is.list(shown) && !is_empty(shown)) shown[[1L]]
  notes <- unlist(lapply(notes, function(x) if (is.list(x)) list(x) else note(x)), FALSE)
  mget(names(formals()))
}

# Creates a result of class `class` from its fields `...`, its tables and the elements of its schema
# (see new_schema()). The result is usually a list of its fields and of the tables that are not
# functions. Exceptions:
# * If `again` is given, the result is a tibble (by default the first table), with its fields as
#   attributes. If the user selects rows, the function `again` creates a result from these rows and
#   from the attribute `about`.
# * If `tables` is NULL, no schema is stored, because the class has a method of schema_of().
new_result <- function(class, ..., tables = NULL, facts = NULL, line = NULL, caption = line,
                       head = caption, shown = NULL, notes = NULL,
                       more = "tidy(), glance(), plot()", document = NULL, again = NULL,
                       tibble = tables[[1L]]) {
  class <- c(class, "fallible_result")
  if (is.null(tables)) return(structure(list(...), class = class))
  # Which tables are already fields of the result, or the result itself? The schema does not contain
  # copies of these tables.
  is_stored_once <- if (is.null(again)) !map_lgl(tables, is.function) else
    map_lgl(tables, identical, tibble)
  schema <- new_schema(
    replace(tables, is_stored_once, list(NULL)), facts, line, caption, head, shown, notes, more,
    document = document
  )
  if (is.null(again)) {
    return(structure(c(tables[is_stored_once], list(...)), schema = schema, class = class))
  }
  schema$again <- again
  schema$size <- list(length(tibble[[1L]]), names(tibble))
  new_tibble(as.list(tibble), nrow = schema$size[[1L]], ..., schema = schema, class = class)
}

# Returns the schema of an object. Users may change the fields of models and designs, so methods for
# these classes compute the schema when it is needed.
schema_of <- function(x) UseMethod("schema_of")

# Returns the stored schema of a result. If the user selected rows of a tibble, the schema is
# computed from these rows. If the user selected columns or no rows, the schema is NULL, because the
# tibble is not a result any more.
schema_of.default <- function(x) {
  schema <- attr(x, "schema", exact = TRUE)
  if (!is.data.frame(x) || identical(schema$size, list(nrow(x), names(x)))) return(schema)
  if (nrow(x) == 0L || !identical(schema$size[[2L]], names(x))) return(NULL)
  attr(schema$again(plain_tibble(x), attr(x, "about")), "schema")
}

# Creates notes that are printed below the table of a result: a list with one element per string in
# `text`.
# * kind: "note", "assumption", or "heading", which is printed only in the console.
# * report: the text in reports, by default `text` without clauses that name arguments or functions.
#   NULL leaves the note out of reports.
note <- function(text, kind = "note", report = if (kind != "heading") plain_words(text)) {
  lapply(seq_along(text), function(i) list(kind = kind, text = text[[i]], report = report[i]))
}

# Adapts text to readers who do not use R: drops clauses that name arguments or functions, and
# replaces "gold cases" by "known cases". If a dropped clause ends a sentence, the punctuation and
# the condition before it are dropped, too, as in "If cases are dependent, use `cluster`."
plain_words <- function(text) {
  words_or_code_pattern <- "([^.:;,\n`]|`[^`]*`)*"
  clause_pattern <- paste0(words_or_code_pattern, "(`[^`]*`|\\w\\(\\))", words_or_code_pattern)
  for (pattern in c(
    paste0("(?<![^\n ])(If|To|For) [^.:;\n]*,", clause_pattern, "([.]|$)"), # with its condition
    paste0("[:;,] ", clause_pattern, "(?=[.\n]|$)"), # at the end of a sentence
    paste0(clause_pattern, "[.:;,]?")
  )) text <- gsub(pattern, "", text, perl = TRUE)
  plain_text <- sub("[;,]$", "", trimws(gsub("[ \t]+", " ", text)))
  gsub("gold cases", "known cases", ifelse(is.na(plain_text), "", plain_text), fixed = TRUE)
}

# Returns a view: a list of a table and of settings for printing it. Columns conf.low and conf.high
# are printed as one column of intervals. NA is blank in standard errors and intervals.
# * columns: names of the columns to print. If this vector has names, they are the headings.
# * digits: decimals of columns of doubles. The element with the name of the column is used, or the
#   first element if no element has this name.
# * level: confidence level of the intervals, for their heading.
# * left: positions of the printed columns that are aligned to the left.
# * most: largest number of printed rows. At most `max_view_rows` rows are stored.
# * title: line above the table.
# * total: number of rows of the complete table.
view <- function(table, columns = names(table), digits = 3L, level = NULL, left = 1L, most = 20L,
                 title = NULL, total = nrow(table)) {
  force(total)
  table <- head(plain_data_frame(table), max_view_rows)[columns]
  headings <- ifelse(names2(columns) == "", columns, names(columns))
  list(
    table = table, headings = headings, digits = digits, level = level, left = left, most = most,
    title = title, total = total
  )
}

max_view_rows <- 1000L # rows that a view stores

# Returns a view (see view()) of a matrix. Names of rows and columns may be any strings.
# `row_heading`: heading of the column with the names of rows.
view_of_matrix <- function(matrix, row_heading, ...) {
  columns <- setNames(seq_len(ncol(matrix) + 1L), c(row_heading, colnames(matrix)))
  view(data.frame(rownames(matrix), unname(unclass(matrix))), columns, ...)
}

# Converts the first `most` rows of a view (see view()) to a data frame of strings, as printed. The
# format of p-values and intervals depends on the name of the column. The format of other columns
# depends on their type.
format_view <- function(view, most = Inf) {
  table <- head(view$table, most)
  headings <- replace(view$headings, names(table) == "conf.low",
    if (is.null(view$level)) "interval" else interval_title(view$level))
  printed_columns <- setNames(names(table), headings)[names(table) != "conf.high"]
  list2DF(lapply(printed_columns, function(name) {
    values <- table[[name]]
    if (name %in% c("p.value", "p.adjusted")) return(format_p(values))
    if (name == "conf.low")
      return(format_interval(values, table$conf.high, view$interval_digits %||% 3L))
    if (is.logical(values)) return(ifelse(values, "yes", "no"))
    if (!is.numeric(values)) return(as.character(values))
    digits_index <- if (name %in% names(view$digits)) name else 1L
    cells <- if (is.integer(values) || name %in% c("n", "cases")) number(values) else
      format_decimals(values, view$digits[[digits_index]])
    replace(cells, is.na(values), if (name == "std.error") "" else "NA")
  }))
}

# Prints a view with its title, and the number of rows that are not shown.
print_view <- function(view, most = view$most) {
  if (view$total == 0L || most == 0) return()
  cat("", if (!is.null(view$title)) printable(view$title), sep = "\n")
  cells <- format_view(view, most)
  for (i in view$left) {
    # Cells and heading have the same width, so that print() aligns them to the left.
    cells[[i]] <- format(cells[[i]], justify = "left")
    names(cells)[[i]] <- format(names(cells)[[i]], width = max(nchar(cells[[i]])))
  }
  print(cells, row.names = FALSE)
  n_hidden <- view$total - min(most, max_view_rows)
  if (n_hidden > 0L) cat("... and", number(n_hidden), "more; see tidy()\n")
}

# Is `x` a result from which the user selected only some columns, or no rows? `x` is then printed as
# a plain tibble.
is_partial_result <- function(x) {
  is.data.frame(x) && is.null(schema_of(x)) && length(format(x)) != 1L
}

#' @rdname fallible_result
#' @export
print.fallible_result <- function(x, ..., n = NULL, digits = NULL) {
  abort_argument_if(!is.null(n) && !(is.numeric(n) && isTRUE(n >= 0)), "n",
    "must be a number of rows, or Inf for all.", not = n)
  schema <- schema_of(x)
  if (is.null(schema)) return(NextMethod())
  print_schema(x, schema, n, digits = if (!is.null(digits)) check_digits(digits))
  invisible(x)
}

# Prints the header, the views and the notes of a result.
# * n: number of rows of each view; NULL for the default.
# * details: views that are printed below the notes, for summary().
# * digits: decimals of estimates and intervals; NULL for the default.
print_schema <- function(x, schema, n = NULL, details = NULL, digits = NULL) {
  class_name <- schema$class %||% class(x)[[1L]]
  cat_lines(sprintf("<%s> %s", class_name, schema$head[[1L]]), schema$head[-1L])
  if (is.list(schema$shown)) for (view in schema$shown) {
    # Columns without decimals, such as weighted counts, stay without decimals.
    if (!is.null(digits)) {
      view$digits <- replace(view$digits, view$digits > 0L, digits)
      view$interval_digits <- digits
    }
    print_view(view, n %||% view$most)
  }
  more_line <- paste0(names(schema$more) %||% "More", ": ", schema$more, ".", recycle0 = TRUE)
  notes <- c(map_chr(schema$notes, `[[`, "text"), if (is_empty(details)) more_line)
  if (!is_empty(notes)) cat_lines("", notes)
  for (view in details) print_view(view)
  if (!is_empty(details)) cat_lines("", more_line)
}

#' @rdname fallible_result
#' @export
format.fallible_result <- function(x, ...) schema_of(x)$line %||% NextMethod()

#' @rdname fallible_result
#' @export
tidy.fallible_result <- function(x, what = NULL, ...) {
  tables <- (schema_of(x) %||% attr(x, "schema"))$tables
  what <- check_choice(what %||% names(tables)[[1L]], names(tables), "what",
    if (inherits(x, "agreement")) "Measures of each pair or category are the rows of
      {.code tidy(agreement(x, pairwise = TRUE))} or of {.code by_category = TRUE}.")
  table <- tables[[what]]
  if (has_further_arguments(table)) {
    argument_names <- setdiff(names(formals(table)), "x")
    # A function with an argument `...` checks names of arguments itself.
    unknown_names <- if (!"..." %in% argument_names) setdiff(names2(list(...)), argument_names)
    abort_argument_if(unknown_names, "...",
      if (any(unknown_names == "")) "Arguments in {.arg ...} must be named." else
        "This table has no argument {.arg {unknown_names}}.",
      i = "Its arguments are {.arg {argument_names}}.")
    return(as_tibble(table(x, ...)))
  }
  check_dots_empty(...)
  if (is.function(table)) table <- table(x)
  table <- table %||% if (is.data.frame(x)) plain_tibble(x) else x[[what]]
  # Column `why` has a code of the reason, for programs. Column `reason` has the text.
  as_tibble(table[names(table) != "why"])
}

# Is an element of `tables` of a schema a function that has arguments other than the result?
has_further_arguments <- function(table) is.function(table) && length(formals(table)) > 1L

#' @rdname fallible_result
#' @export
glance.fallible_result <- function(x, ...) {
  check_dots_empty(...)
  as_tibble(schema_of(x)$facts)
}

# ---- One result for several variables or groups of cases ---

# Evaluates `code`, and adds the name of the variable to its errors, warnings and messages. They are
# not changed if `variable` is NULL. A variable is one of several questions that raters answer about
# the same cases.
name_variable_in_conditions <- function(variable, code) {
  if (is.null(variable)) return(code)
  hint <- c(i = sprintf("This is about the variable %s.", encodeString(variable, quote = "\"")))
  name_variable <- function(cnd) replace(cnd, "body", list(c(cnd$body, hint)))
  withCallingHandlers(code,
    fallible_error = function(cnd) cnd_signal(name_variable(cnd)),
    fallible_warning = function(cnd) {
      warning(name_variable(cnd))
      rlang::cnd_muffle(cnd)
    },
    fallible_message = function(cnd) {
      rlang::inform(cnd$message, class(cnd), body = c(cnd$body, hint), use_cli_format = TRUE)
      rlang::cnd_muffle(cnd)
    }
  )
}

# Combines the results of several variables or groups of cases into one result. Each single result
# is a part of the combined result.
# * results: a named list of results of the same class.
# * column: "variable" or "group". All tables get a first column with this name, which contains the
#   names of the parts.
# * class: class of the combined result if it is a list.
# * note: a note that is printed, or a function of the result that returns it.
stack_results <- function(results, column, class = "results_by_variable", note = NULL) {
  if (!is.data.frame(results[[1L]])) {
    return(structure(results,
      column = column, note = note, class = c(class, "result_parts", "fallible_result")
    ))
  }
  about <- attr(results[[1L]], "about")
  about$views <- unlist(lapply(results, function(x) attr(x, "about")$views), recursive = FALSE)
  attr(results[[1L]], "schema")$again(
    bind_parts(structure(results, column = column), plain_tibble), about
  )
}

# Possible names of the first column of a table that combines several results. The column identifies
# the result.
part_columns <- c("variable", "group")

# Returns the first single result in a combined result, which may contain combined results.
first_single_result <- function(x) {
  while (inherits(x, "result_parts")) x <- x[[1L]]
  x
}

# Returns the names of the columns of a table that identify the part of a combined result (see
# stack_results()): none, "variable", "group" or both.
part_columns_of <- function(table) intersect(part_columns, names(table))

# Returns the beginning of a sentence about a row of a table, such as "Group east: "; an empty
# string if the table is not from a combined result.
part_sentence_start <- function(table) {
  columns <- part_columns_of(table)
  if (is_empty(columns)) return("")
  paste0(capitalised(paste_columns(Map(paste, columns, table[columns]))), ": ")
}

# Binds the tables of all parts of a result to one tibble, whose first column has the names of the
# parts. `table`: a function of a part that returns its table.
bind_parts <- function(parts, table, ...) {
  tables <- lapply(unclass(parts), table, ...)
  # A part may lack a column that other parts have, such as an interval. The column is then NA.
  columns <- unique(unlist(lapply(tables, names)))
  tables <- lapply(tables, function(table) {
    table[setdiff(columns, names(table))] <- NA
    table[columns]
  })
  part_names <- rep(names(parts), map_int(tables, nrow))
  tibble(!!(attr(parts, "column") %||% "group") := part_names, stack_rows(unname(tables)))
}

schema_of.result_parts <- function(x) { # nolint: object_name.
  column <- attr(x, "column")
  schemas <- lapply(unclass(x), function(part) schema_of(part))
  first_schema <- schemas[[1L]]
  tables <- Map(function(table, what) {
    if (has_further_arguments(table)) return(function(x, ...) bind_parts(x, tidy, what, ...))
    function(x) bind_parts(x, tidy, what)
  }, first_schema$tables, names(first_schema$tables))
  tables[[paste0(column, "s")]] <- function(x) bind_parts(x, glance)
  captions <- unique(map_chr(schemas, `[[`, "caption"))
  note <- attr(x, "note")
  view <- first_schema$shown[[1L]]
  part_tables <- lapply(schemas, function(schema) schema$shown[[1L]]$table)
  # Only the columns that all parts print are printed. Columns of text of more than 40 characters
  # are left out. tidy() returns all columns.
  columns <- Filter(function(name) {
    values <- unlist(lapply(part_tables, `[[`, name))
    !is.character(values) || max(0L, nchar(values)) <= 40L
  }, Reduce(intersect, lapply(part_tables, names)))
  view$headings <- view$headings[match(columns, names(view$table))]
  view$table <- plain_data_frame(bind_parts(structure(part_tables, column = column), `[`, columns))
  view[c("headings", "left", "total", "most")] <- list(
    c(column, view$headings), c(1L, view$left + 1L), nrow(view$table), max(view$most, 30L)
  )
  select_note_texts <- function(is_wanted) {
    lapply(schemas, function(schema) map_chr(Filter(is_wanted, schema$notes), `[[`, "text"))
  }
  common_notes <- Reduce(intersect, select_note_texts(function(note) note$kind != "heading"))
  # Notes that only some variables (or groups) have. Only assumptions and notes with a text for
  # reports are kept. They are printed with the names of the variables that have them.
  part_notes <- merge_part_notes(lapply(select_note_texts(function(note) {
    note$kind == "assumption" || note$kind != "heading" && !is_empty(note$report)
  }), setdiff, common_notes))
  # glance() has only facts that are equal in all parts, and the number of cases. Groups have
  # different cases, so their numbers are added. Variables have the same cases, some of them
  # missing, so the number of cases is the largest one.
  common_facts <- first_schema$facts[map_lgl(names(first_schema$facts), function(name) {
    n_distinct(lapply(schemas, function(schema) schema$facts[[name]])) == 1L
  })]
  n_cases <- map_dbl(schemas, `[[`, c("facts", "cases"))
  common_facts$cases <- if (column == "group") sum(n_cases) else max(n_cases)
  common_facts$missing <- sum(is.na(view$table$estimate))
  new_schema(
    tables, c(setNames(list(length(x)), paste0(column, "s")), common_facts), format(x),
    toString(c(count_noun(length(x), column), if (length(captions) == 1L) captions)),
    shown = view,
    notes = c(if (is.function(note)) note(x) else note, part_notes, common_notes),
    more = sprintf("x[[\"%s\"]] for one %s, tidy(), glance()", names(x)[[1L]], column)
  )
}

# augment() raises an error for results that have no values of single cases.
#' @export
augment.fallible_result <- function(x, ...) {
  abort_argument("x", "A result of class {.cls {class(x)[[1L]]}} has no values of single cases.",
    i = "{.fun tidy} returns its tables. {.code augment(estimate_metrics(x))} and
      {.code augment(fit_raters(x))} return values of the cases of ratings {.arg x}.")
}

#' @export
augment.result_parts <- function(x, ...) bind_parts(x, augment, ...)

#' @export
format.result_parts <- function(x, ...) unlist(lapply(unclass(x), format, ...))

#' @export
`[.result_parts` <- function(x, i) {
  parts <- unclass(x)[i]
  abort_argument_if(is_empty(parts) || any(map_lgl(parts, is.null)), "i",
    "must select parts of {.arg x}.", not = i, i = "They are {.val {names(x)}}.")
  attributes(parts) <- replace(attributes(x), "names", list(names(parts)))
  parts
}

# A result is a set of tables with a schema. The verb that creates a result computes everything that
# is shown. The schema is an attribute of the result. Methods of the parent class `fallible_result`
# only read it.

# Elements of a schema:
# tables: data frames by name, the first is that of tidy(); or functions of the object, for tables
#   that are long or have arguments.
# facts: list of the columns of glance().
# line: format(). caption: the line above a table in a document. head: lines of the printed header.
# shown: a view() of a table, a list of views, or a function of the object that returns one, which
# is
#   used only in documents. document: the view for documents, by default the first view.
# class: its name in print(), by default the first class.
# notes: strings or note()s, printed below the table. more: verbs that show more, or, named Next,
#   verbs that use the object.
# summary: a function of the object that returns views, which summary() prints below the result;
#   by default all tables.
new_schema <- function(tables, facts, line, caption = line, head = caption, shown = NULL,
                       notes = NULL, more = NULL, class = NULL, summary = NULL, document = NULL) {
  if (is.list(shown) && is.data.frame(shown$table)) shown <- list(shown)
  list(
    class = class,
    tables = tables, facts = facts, line = line, caption = caption, head = head,
    shown = shown,
    document = document %||% if (is.list(shown) && length(shown) > 0L) shown[[1L]],
    notes = unlist(lapply(notes, function(x) if (is.list(x)) list(x) else note(x)), FALSE),
    more = more, summary = summary
  )
}

# Creates a result with the fields `...`, its tables and its schema (see above).
# again: a function of a tibble and `about` that creates the result. The result is then this tibble
# (by
#   default the first table) with the fields as attributes, and selected rows of it are a result
#   too.
# Without `tables`, the class has its methods elsewhere.
new_result <- function(class, ..., tables = NULL, facts = NULL, line = NULL, caption = line,
                       head = caption, shown = NULL, notes = NULL,
                       more = "tidy(), glance(), plot()", document = NULL, again = NULL,
                       tibble = tables[[1L]]) {
  class <- c(class, "fallible_result")
  if (is.null(tables)) return(structure(list(...), class = class))
  # Tables that are fields of the result are stored only there.
  kept <- if (is.null(again)) !vapply(tables, is.function, NA) else
    vapply(tables, identical, NA, tibble)
  schema <- new_schema(
    replace(tables, kept, list(NULL)), facts, line, caption, head, shown, notes, more,
    document = document
  )
  if (is.null(again)) {
    return(structure(c(tables[kept], list(...)), schema = schema, class = class))
  }
  schema$again <- again
  schema$size <- list(length(tibble[[1L]]), names(tibble))
  tibble::new_tibble(as.list(tibble), nrow = schema$size[[1L]], ..., schema = schema, class = class)
}

# Models, designs and other specifications may be changed; their methods compute the schema.
schema_of <- function(x) UseMethod("schema_of")

# The schema of a result. For some rows of a tibble it is computed again; for selected columns, or
# no rows, it is NULL.
schema_of.default <- function(x) {
  schema <- attr(x, "schema", exact = TRUE)
  if (!is.data.frame(x) || identical(schema$size, list(nrow(x), names(x)))) return(schema)
  if (nrow(x) == 0L || !identical(schema$size[[2L]], names(x))) return(NULL)
  attr(schema$again(plain_tibble(x), attr(x, "about")), "schema")
}

# Notes. `report` is the text in reports, by default without clauses that name arguments or
# functions; NULL omits the note. A "heading" is printed only in the console.
note <- function(text, kind = "note", report = if (kind != "heading") plain_words(text)) {
  lapply(seq_along(text), function(i) list(kind = kind, text = text[[i]], report = report[i]))
}

# Text for readers who do not use R: drops clauses that name arguments or functions.
plain_words <- function(words) {
  clause <- "[^.:;,\n]*(`|\\w\\(\\))[^.:;,\n]*[.:;,]?"
  out <- sub("[;,]$", "", trimws(gsub("[ \t]+", " ", gsub(clause, "", words))))
  gsub("gold cases", "known cases", ifelse(is.na(out), "", out), fixed = TRUE)
}

# Describes how a table is shown. `columns` may be named by headings. `digits` of doubles: one
# number, or several with names of columns. Columns conf.low and conf.high become one interval with
# this `level`. NA in errors and intervals is blank. At most `most` rows are printed, and at most
# `longest_view` rows are stored.
view <- function(table, columns = names(table), digits = 3L, level = NULL, left = 1L, most = 20L,
                 title = NULL, total = nrow(table)) {
  headings <- ifelse(names2(columns) == "", columns, names(columns))
  force(total)
  table <- head(plain_data_frame(table), longest_view)[columns]
  list(table = table, headings = headings, digits = digits, level = level, left = left,
    most = most, title = title, total = total)
}

longest_view <- 1000L

# View of a matrix, whose column names may be any labels; `side` is the heading of its row names.
view_of_matrix <- function(matrix, side, ...) {
  columns <- setNames(seq_len(ncol(matrix) + 1L), c(side, colnames(matrix)))
  view(data.frame(rownames(matrix), unname(unclass(matrix))), columns, ...)
}

# Cells as strings, by the name of the column or else by its type.
format_column <- function(name, view) {
  x <- view$table[[name]]
  digits <- if (name %in% names(view$digits)) view$digits[[name]] else view$digits[[1L]]
  if (name %in% c("p.value", "p.adjusted")) return(show_p(x))
  if (name == "conf.low") return(bracketed(x, view$table$conf.high, ""))
  if (is.logical(x)) return(c("no", "yes")[1L + x])
  if (!is.numeric(x)) return(as.character(x))
  words <- if (is.integer(x) || name %in% c("n", "cases")) number(x) else decimals(x, digits)
  replace(words, is.na(x), if (name == "std.error") "" else "NA")
}

# A view as a data frame of strings.
shown_view <- function(view, most = Inf) {
  view$table <- head(view$table, most)
  interval <- names(view$table) == "conf.low"
  headings <- replace(view$headings, interval, interval_title(view$level %||% NA))
  at <- names(view$table) != "conf.high"
  out <- lapply(names(view$table)[at], format_column, view)
  list2DF(setNames(out, headings[at]))
}

print_view <- function(view, most = view$most) {
  if (view$total == 0L || most == 0) return(invisible())
  cat("", if (!is.null(view$title)) printable(view$title), sep = "\n")
  print(align_left(shown_view(view, most), view$left), row.names = FALSE)
  more <- view$total - min(most, longest_view)
  if (more > 0L) cat("... and", number(more), "more; see tidy()\n")
}

class_name <- function(x) schema_of(x)$class %||% class(x)[[1L]]

is_part <- function(x) is.data.frame(x) && is.null(schema_of(x)) && length(format(x)) != 1L

#' Methods of all results
#'
#' Every result of this package has a specific class and the class `fallible_result`. `tidy()`
#' returns a tibble, `glance()` a tibble with one row, and `format()` one line of text. Results with
#' a plot have `ggplot2::autoplot()`. The methods on this page are the same for all results.
#'
#' @param x,object A result.
#' @param row.names,optional Not used.
#' @param n Number of rows of each table to print, at most 1000; by default it depends on the class.
#' @param what Name of a table of the result, by default its first. The help page of each verb lists
#'   its tables.
#' @param ... Passed on: by `as.data.frame()` to `tidy()`; by `plot()` to `autoplot()`, except
#'   `title` and `subtitle`; by `tidy()` to tables that have arguments.
#' @param spreadsheet Is the table for a spreadsheet? If `TRUE`, text that begins with `=`, `+`,
#'   `-`, `@`, a tab or a line break gets an apostrophe. Otherwise a spreadsheet would read such
#'   labels as formulas.
#' @param parm Names or numbers of the estimates; by default all.
#' @param level Confidence level of the intervals of `object`, a probability. For another level,
#'   compute the result again with that `conf_level`.
#' @return `coef()`: the estimates of `tidy()`, named after their rows. `vcov()`: their covariances,
#'   from bootstrap replicates if they exist; otherwise only variances, and `NA` for covariances.
#'   `confint()`: a matrix of their intervals. `as.data.frame()`: the table of `tidy()`, as a plain
#'   data frame. `summary()`: an object that prints all tables of the result. `plot()`: the ggplot
#'   of `autoplot()`, which it draws, invisibly. `tidy()`: a tibble. `glance()`: a tibble with one
#'   row. `format()`: a string.
#' @name fallible_result
#' @family systems
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' as.data.frame(fit_raters(x))
#' utils::write.csv(as.data.frame(fit_raters(x), spreadsheet = TRUE), row.names = FALSE)
NULL

#' @rdname fallible_result
#' @export
print.fallible_result <- function(x, ..., n = NULL) {
  abort_argument_if(!is.null(n) && !(is.numeric(n) && isTRUE(n >= 0)), "n",
    "must be a number of rows, or Inf for all.", not = n)
  schema <- schema_of(x)
  if (is.null(schema)) return(NextMethod())
  print_schema(x, schema, n)
  invisible(x)
}

# `details`: views below the notes, for summary().
print_schema <- function(x, schema, n = NULL, details = NULL) {
  cat_lines(paste0("<", class_name(x), "> ", schema$head[[1L]]), schema$head[-1L])
  if (is.list(schema$shown)) for (view in schema$shown) print_view(view, n %||% view$most)
  notes <- vapply(schema$notes, `[[`, "", "text")
  more <- paste0(names(schema$more) %||% "More", ": ", schema$more, ".", recycle0 = TRUE)
  last <- length(details) == 0L
  if (last) notes <- c(notes, more)
  if (length(notes) > 0L) cat_lines("", notes)
  for (view in details) print_view(view)
  if (!last) cat_lines("", more)
}

#' @rdname fallible_result
#' @export
format.fallible_result <- function(x, ...) {
  schema_of(x)$line %||% NextMethod()
}

#' @rdname fallible_result
#' @export
tidy.fallible_result <- function(x, what = NULL, ...) {
  tables <- (schema_of(x) %||% attr(x, "schema"))$tables
  what <- check_choice(what %||% names(tables)[[1L]], names(tables), "what")
  table <- tables[[what]]
  if (has_arguments(table)) {
    check_known_dots(setdiff(names(formals(table)), "x"), ...)
    return(tibble::as_tibble(table(x, ...)))
  }
  check_dots_empty(...)
  if (is.function(table)) table <- table(x)
  table <- table %||% if (is.data.frame(x)) plain_tibble(x) else x[[what]]
  tibble::as_tibble(table[names(table) != "why"]) # a code; `reason` is the text
}

# `...` of tables with arguments: all must be named and known, unless the table checks them itself.
check_known_dots <- function(known, ...) {
  off <- if (!"..." %in% known) setdiff(names2(list(...)), known)
  abort_argument_if(off, "...",
    if (any(off == "")) "Arguments in {.arg ...} must be named." else "There is no argument
        {.arg {off}} here.", i = "They are {.arg {known}}.")
}

# Is a table computed on request, with further arguments?
has_arguments <- function(table) is.function(table) && length(formals(table)) > 1L

#' @rdname fallible_result
#' @export
glance.fallible_result <- function(x, ...) {
  check_dots_empty(...)
  tibble::as_tibble(schema_of(x)$facts)
}

# Combines results for several variables or groups of cases into one result.

# Calls its calling function again for each element of `given`, a named list of lists of arguments
# or of values of `x`, and stacks the results. All calls together draw one seed.
map_variables <- function(given, column = "variable", call = rlang::caller_call(),
                          fn = rlang::caller_fn(), env = rlang::caller_env(2L)) {
  call <- match.call(fn, call, envir = env)
  call[[1L]] <- fn
  if (column == "group") call$by <- NULL
  with_one_seed(stack_results(Map(function(arguments, name) {
    if (is.object(arguments)) arguments <- list(x = arguments)
    # Names that differ from all variables of the user.
    reserved <- paste0(".fallible_", names(arguments))
    call[names(arguments)] <- lapply(reserved, as.name)
    values <- list2env(setNames(arguments, reserved), parent = env)
    in_part(if (column == "variable") name, eval(call, values))
  }, given, names(given)), column))
}

# Errors and warnings of a variable name it, if `variable` is not NULL.
in_part <- function(variable, code) {
  if (is.null(variable)) return(code)
  words <- paste0("This is about the variable ", encodeString(variable, quote = "\""), ".")
  named <- function(cnd) replace(cnd, "body", list(c(cnd$body, i = words)))
  withCallingHandlers(code,
    fallible_error = function(cnd) rlang::cnd_signal(named(cnd)),
    fallible_warning = function(cnd) {
      warning(named(cnd))
      rlang::cnd_muffle(cnd)
    }
  )
}

# One result. Its tables begin with a column that names the variable or the group.
stack_results <- function(results, column, class = "results_by_variable", note = NULL) {
  if (!is.data.frame(results[[1L]])) {
    return(structure(results,
      column = column, note = note, class = c(class, "result_parts", "fallible_result")
    ))
  }
  about <- attr(results[[1L]], "about")
  about$views <- unlist(lapply(results, function(x) attr(x, "about")$views), recursive = FALSE)
  table <- bind_parts(structure(results, column = column), plain_tibble)
  attr(results[[1L]], "schema")$again(table, about)
}

part_columns <- c("variable", "group")

# The first part, also of parts of parts.
first_part <- function(x) {
  while (inherits(x, "result_parts")) x <- x[[1L]]
  x
}

part_column <- function(table) intersect(part_columns, names(table))

# "Group east: ", for sentences about rows of a table that has parts.
part_words <- function(table) {
  columns <- part_column(table)
  if (length(columns) == 0L) return("")
  words <- unname(Map(paste, columns, table[columns]))
  paste0(capitalised(do.call(paste, c(words, sep = ", "))), ": ")
}

bind_parts <- function(parts, table, ...) {
  tables <- lapply(unclass(parts), table, ...)
  # Some parts may lack columns.
  columns <- unique(unlist(lapply(tables, names)))
  tables <- lapply(tables, function(table) {
    table[setdiff(columns, names(table))] <- NA
    table[columns]
  })
  column <- attr(parts, "column") %||% "group"
  tibble::tibble(
    !!column := rep(names(parts), vapply(tables, nrow, 0L)), stack_rows(unname(tables))
  )
}

schema_of.result_parts <- function(x) { # nolint: object_name.
  column <- attr(x, "column")
  schemas <- lapply(unclass(x), function(part) schema_of(part))
  first <- schemas[[1L]]
  tables <- Map(function(table, what) {
    if (has_arguments(table)) return(function(x, ...) bind_parts(x, tidy, what, ...))
    function(x) bind_parts(x, tidy, what)
  }, first$tables, names(first$tables))
  tables[[paste0(column, "s")]] <- function(x) bind_parts(x, glance)
  captions <- unique(vapply(schemas, `[[`, "", "caption"))
  caption <- c(count_noun(length(x), column), if (length(captions) == 1L) captions)
  shown <- first$shown[[1L]]
  views <- lapply(schemas, function(schema) schema$shown[[1L]]$table)
  # Columns that all parts show. Long text is only in tidy().
  columns <- Filter(function(name) {
    values <- unlist(lapply(views, `[[`, name))
    !is.character(values) || max(0L, nchar(values)) <= 40L
  }, Reduce(intersect, lapply(views, names)))
  shown$headings <- shown$headings[match(columns, names(shown$table))]
  shown$table <- plain_data_frame(bind_parts(structure(views, column = column), `[`, columns))
  shown[c("headings", "left", "total", "most")] <- list(
    c(column, shown$headings), c(1L, shown$left + 1L), nrow(shown$table), max(shown$most, 30L)
  )
  words <- function(is_wanted) {
    lapply(schemas, function(schema) vapply(Filter(is_wanted, schema$notes), `[[`, "", "text"))
  }
  common <- Reduce(intersect, words(function(note) note$kind != "heading"))
  # Only common notes may explain columns (notes without text for a report). Assumptions are always
  # shown.
  particular <- lapply(words(function(note) {
    note$kind == "assumption" || note$kind != "heading" && length(note$report) > 0L
  }), setdiff, common)
  # Facts that are equal in all parts. Cases are summed over groups; variables share them.
  facts <- first$facts[vapply(names(first$facts), function(name) {
    length(unique(lapply(schemas, function(schema) schema$facts[[name]]))) == 1L
  }, NA)]
  cases <- vapply(schemas, function(schema) schema$facts$cases, 0)
  facts$cases <- if (column == "group") sum(cases) else max(cases)
  facts$missing <- sum(is.na(shown$table$estimate))
  new_schema(
    tables, c(setNames(list(length(x)), paste0(column, "s")), facts), format(x),
    toString(caption),
    shown = shown,
    notes = c(
      attr(x, "note"),
      paste0(
        rep(names(particular), lengths(particular)), ": ", unlist(particular), recycle0 = TRUE
      ),
      common
    ),
    more = paste0("x[[\"", names(x)[[1L]], "\"]] for one ", column, ", tidy(), glance()")
  )
}

#' @export
format.result_parts <- function(x, ...) unlist(lapply(unclass(x), format, ...))

#' @export
`[.result_parts` <- function(x, i) {
  parts <- drop_null(unclass(x)[i])
  abort_argument_if(length(parts) == 0L || length(parts) < length(unclass(x)[i]), "i",
    "must select parts of {.arg x}.", not = i, i = "They are {.val {names(x)}}.")
  attributes(parts) <- replace(attributes(x), "names", list(names(parts)))
  parts
}

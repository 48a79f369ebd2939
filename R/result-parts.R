# Results for each of several variables or groups of cases, as one result.

# Calls the function that called this one again for each element of `given`, a named list of lists
# of arguments, and stacks the results. Together they draw one seed.
each_variable <- function(given, column = "variable", call = rlang::caller_call(),
                          fn = rlang::caller_fn(), env = rlang::caller_env(2L)) {
  call <- match.call(fn, call, envir = env)
  call[[1L]] <- fn
  if (column == "group") call$by <- NULL
  with_one_seed(stack_results(lapply(given, function(arguments) {
    # Names that no variable of the user has.
    reserved <- paste0(".fallible_", names(arguments))
    call[names(arguments)] <- lapply(reserved, as.name)
    eval(call, list2env(stats::setNames(arguments, reserved), parent = env))
  }), column))
}

# One result. Its tables begin with a column that names the variable or the group.
stack_results <- function(results, column, class = "results_by_variable", note = NULL) {
  if (!is.data.frame(results[[1L]])) {
    return(structure(results,
      column = column, note = note, class = c(class, "result_parts", "fallible_result")
    ))
  }
  about <- attr(results[[1L]], "about")
  if (!is.null(about$header)) about$header <- c(count_noun(length(results), column), paste0(
    names(results), ": ", vapply(results, function(x) attr(x, "about")$header[[1L]], "")
  ))
  about$views <- unlist(lapply(results, function(x) attr(x, "about")$views), recursive = FALSE)
  table <- bind_parts(structure(results, column = column), plain_tibble)
  attr(results[[1L]], "schema")$again(table, about)
}

part_columns <- c("variable", "group")

bind_parts <- function(parts, table, ...) {
  tables <- lapply(unclass(parts), table, ...)
  names <- rep(names(parts), vapply(tables, nrow, 0L))
  first <- stats::setNames(list(names), attr(parts, "column") %||% "group")
  tibble::tibble(!!!first, stack_rows(unname(tables)))
}

schema_of.result_parts <- function(x) { # nolint: object_name.
  column <- attr(x, "column") %||% "group"
  schemas <- lapply(unclass(x), function(part) schema_of(part))
  first <- schemas[[1L]]
  tables <- Map(function(table, what) {
    if (has_arguments(table)) return(function(x, ...) bind_parts(x, tidy, what, ...))
    function(x) bind_parts(x, tidy, what)
  }, first$tables, names(first$tables))
  tables[[paste0(column, "s")]] <- function(x) bind_parts(x, glance)
  captions <- unique(vapply(schemas, function(schema) schema$caption, ""))
  caption <- c(count_noun(length(x), column), if (length(captions) == 1L) captions)
  shown <- first$shown[[1L]]
  views <- lapply(schemas, function(schema) schema$shown[[1L]]$table)
  # Columns that all parts show. Long text is left to tidy().
  columns <- Filter(function(name) {
    values <- unlist(lapply(views, `[[`, name))
    !is.character(values) || max(0L, nchar(values)) <= 40L
  }, Reduce(intersect, lapply(views, names)))
  shown$headings <- shown$headings[match(columns, names(shown$table))]
  shown$table <- plain_data_frame(bind_parts(
    structure(views, column = column), function(view) tibble::as_tibble(view[columns])
  ))
  shown[c("headings", "left", "total", "most")] <- list(
    c(column, shown$headings), c(1L, shown$left + 1L), nrow(shown$table), max(shown$most, 30L)
  )
  words <- function(which) {
    lapply(schemas, function(schema) vapply(Filter(which, schema$notes), `[[`, "", "text"))
  }
  common <- Reduce(intersect, words(function(note) note$kind != "heading"))
  # Notes without words for a report explain columns, which only common notes may do.
  # Assumptions are always shown.
  particular <- lapply(words(function(note) {
    note$kind == "assumption" || note$kind != "heading" && length(note$report) > 0L
  }), setdiff, common)
  # Facts that hold for all parts; cases are added up.
  facts <- first$facts[vapply(names(first$facts), function(name) {
    length(unique(lapply(schemas, function(schema) schema$facts[[name]]))) == 1L
  }, NA)]
  facts$cases <- sum(vapply(schemas, function(schema) schema$facts$cases, 0))
  facts$missing <- sum(is.na(shown$table$estimate))
  new_schema(
    tables, c(stats::setNames(list(length(x)), paste0(column, "s")), facts), format(x),
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

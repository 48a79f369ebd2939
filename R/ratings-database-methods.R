# Verbs of ratings in a database. All others work on patterns, as with any ratings, or stop at their
# first question about cases.

#' @export
`$.ratings_database` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && name == "cases") abort_no_cases("This asks for the cases")
  value
}

#' @export
dimnames.ratings_database <- function(x) list(NULL, x$raters)

abort_no_cases <- function(what, hint = NULL, .envir = parent.frame()) {
  abort_fallible("database", paste0(what, "; they are in the database, where they were counted."),
    i = c(hint, "{.code dplyr::collect()} of the ratings fetches them."), .envir = .envir)
}

in_database <- function(x) inherits(x, "ratings_database")

# Ratings with cases of their own, in memory.
leave_database <- function(x) {
  x$times <- x$database <- NULL
  class(x) <- setdiff(class(x), "ratings_database")
  x
}

# A row per case of `x`, with `columns` of its pattern (a list, with an entry per pattern): a tibble
# or, of ratings in a database, a lazy table.
case_table <- function(x, columns) {
  if (in_database(x)) return(match_cases(x, lapply(columns, `[`, pattern_of_case(x))))
  index <- pattern_of_case(x)
  tibble::new_tibble(
    c(list(case = x$cases), lapply(columns, `[`, index)), nrow = length(index)
  )
}

# `columns` have an entry per row of the keys; `kept` are columns of the cases.
match_cases <- function(x, columns, kept = "case") {
  origin <- x$database
  abort_argument_if(!origin$has_cases, "case", "The cases of these ratings have no identifiers.",
    i = "Give {.arg case} to {.fun ratings}.")
  now <- fetch_rows(dplyr::summarise(origin$origin, rows = dplyr::n()))
  check_same_rows(as.double(now$rows), origin$rows)
  columns <- lapply(columns, unfactor)
  place <- stats::setNames(numbered("p", length(columns)), names(columns)) # any category's name
  names(columns) <- place
  table <- data.frame(origin$keys, list2DF(columns))
  keys <- names(origin$keys)
  table <- table[!duplicated(table[keys]), ]
  patterns <- ask_database(upload(table, origin$cases))
  joined <- dplyr::left_join(origin$cases, patterns, by = keys)
  take_columns(joined, c(kept, place))
}

# A table in the database of a lazy one: temporary or, as package RPostgreSQL writes none (and
# dbplyr::copy_inline() fails with it), part of the query.
upload <- function(table, like) {
  con <- dbplyr::remote_con(like)
  if (inherits(con, "PostgreSQLConnection")) {
    rows <- do.call(paste, c(lapply(table, DBI::dbQuoteLiteral, conn = con), sep = ", "))
    names <- toString(DBI::dbQuoteIdentifier(con, names(table)))
    return(dplyr::tbl(con, dbplyr::sql(paste0(
      "SELECT * FROM (VALUES (", paste(rows, collapse = "), ("), ")) AS uploaded (", names, ")"
    ))))
  }
  name <- basename(tempfile("fallible_"))
  dplyr::copy_to(con, table, name = name, temporary = TRUE, in_transaction = FALSE)
}

#' @exportS3Method dplyr::collect
collect.ratings_database <- function(x, ...) { # nolint: object_name.
  check_dots_empty(...)
  weight <- if (x$database$weighted) "weight"
  query <- match_cases(x, list(pattern_ = pattern_of_case(x)), c("case", weight))
  cases <- fetch_exact(query)
  check_same_rows(sum(!is.na(cases$pattern_)), sum(x$times))
  out <- leave_database(x)
  out$index <- as.integer(cases$pattern_)
  out$cases <- cases$case
  weigh_patterns(out, if (!is.null(weight)) as.double(cases$weight))
}

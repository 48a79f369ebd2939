# Methods for ratings in a database. The distinct patterns of ratings are in memory, so functions
# that use only patterns need no such methods. Functions that use the ratings of each case raise an
# error when they access field `cases`.

#' @export
`$.ratings_database` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && name == "cases")
    abort_no_cases("This function needs the ratings of each case")
  value
}

#' @export
dimnames.ratings_database <- function(x) list(NULL, x$raters)

# Raises an error, because ratings in a database do not contain the ratings of each case.
# `requirement`: beginning of the message, such as "A needs the ratings of each case". `hint`: a
# further hint, or NULL.
abort_no_cases <- function(requirement, hint = NULL) {
  abort_fallible("database",
    paste0(requirement, ", but ratings in a database contain only the number of cases with each
        combination of ratings."),
    i = c(hint, "Fetch the cases with {.code x <- dplyr::collect(x)} (x: the ratings)."),
    .envir = parent.frame())
}

in_database <- function(x) inherits(x, "ratings_database")

# Returns ratings in a database as ratings in memory, but without field `cases`, which the caller
# adds. Only the class and the fields `times` and `database` are removed.
leave_database <- function(x) {
  x$times <- x$database <- NULL
  class(x) <- setdiff(class(x), "ratings_database")
  x
}

# Returns a table with a row per case: a tibble or, for ratings in a database, a lazy table. The
# first column contains the identifiers of cases. `columns`: a list of further columns. Each has one
# value per pattern of ratings; the table repeats the value for all cases with this pattern.
case_table <- function(x, columns) {
  columns <- lapply(columns, `[`, pattern_of_case(x))
  if (in_database(x)) join_cases(x, columns) else
    new_tibble(c(list(case = x$cases), columns), nrow = length(x$cases))
}

# Joins new columns to the table of cases in the database, and returns a lazy table.
# * columns: a list of new columns. Each has one value per distinct row of ratings. The rows of
#   `x$database$keys` identify the distinct rows.
# * case_columns: names of the columns of the table of cases to return.
join_cases <- function(x, columns, case_columns = "case") {
  database <- x$database
  abort_argument_if(!database$has_cases, "case", "The cases of these ratings have no identifiers.",
    i = "Give {.arg case} to {.fun ratings}.")
  check_same_rows(count_rows(database$origin), database$rows)
  # The new columns have temporary names p1, p2, ..., which differ from the names of key columns.
  temporary_names <- setNames(numbered_names("p", length(columns)), names(columns))
  table_to_upload <- data.frame(
    database$keys, list2DF(setNames(lapply(columns, unfactor), temporary_names))
  )[!duplicated(database$keys), ]
  con <- dbplyr::remote_con(database$cases)
  uploaded_columns <- ask_database(if (inherits(con, "PostgreSQLConnection")) {
    # Package RPostgreSQL cannot write temporary tables, so the values become part of the query.
    row_literals <- paste_columns(lapply(table_to_upload, DBI::dbQuoteLiteral, conn = con))
    dplyr::tbl(con, dbplyr::sql(paste0(
      "SELECT * FROM (VALUES (", paste(row_literals, collapse = "), ("), ")) AS uploaded (",
      toString(DBI::dbQuoteIdentifier(con, names(table_to_upload))), ")"
    )))
  } else {
    dplyr::copy_to(
      con, table_to_upload, basename(tempfile("fallible_")), temporary = TRUE,
      in_transaction = FALSE
    )
  })
  cases <- dplyr::left_join(database$cases, uploaded_columns, by = names(database$keys))
  take_columns(cases, c(case_columns, temporary_names))
}

#' @exportS3Method dplyr::collect
collect.ratings_database <- function(x, ...) { # nolint: object_name.
  check_dots_empty(...)
  weight_column <- if (x$database$weighted) "weight"
  cases <- fetch_exact_rows(
    join_cases(x, list(pattern_ = pattern_of_case(x)), c("case", weight_column))
  )
  check_same_rows(sum(!is.na(cases$pattern_)), sum(x$times))
  ratings_in_memory <- leave_database(x)
  ratings_in_memory$index <- as.integer(cases$pattern_)
  ratings_in_memory$cases <- cases$case
  weigh_patterns(ratings_in_memory, if (!is.null(weight_column)) as.double(cases$weight))
}

# Functions whose names end in _query return lazy tables. In these tables, columns of the user's
# data have new names: `case` and `weight`; `r1`, `r2`, ... for raters (or for categories, in
# counts); and `s1`, `s2`, ... for systems.

utils::globalVariables(c("case", "rater", "rating", "times"))

# Returns an expression for the keys of a column. The key of a value is its text in the database;
# values are compared by their keys. A missing value has the key "", which cannot be a category.
key_expression <- function(column) expr(dplyr::coalesce(as.character(!!sym(column)), ""))

# Returns an expression for the number of rows in which `condition` is TRUE.
count_if <- function(condition) {
  expr(sum(ifelse(!!condition, 1L, 0L), na.rm = TRUE)) # nolint: redundant_ifelse.
}

numbered_names <- function(prefix, n) paste0(prefix, seq_len(n), recycle0 = TRUE)

# Selects columns of a lazy table, and renames them. `columns`: names of the columns; names of this
# vector are the new names.
take_columns <- function(data, columns) dplyr::select(data, dplyr::all_of(columns))

# Converts long data to a query with a row per case. Arguments:
# * columns: names of the columns of `data`. The names of this vector are the roles of the columns:
#   "case", "rater", "rating" and, if there are weights, "weight"
# * pivoted_columns: a result of pivot_columns(). Each row becomes a column of the query
# * prefix: new columns are named by the prefix and a number
# * extra_columns: a list of expressions for further columns
pivot_query <- function(data, columns, pivoted_columns, prefix, extra_columns) {
  rows <- dplyr::transmute(
    data, case = !!sym(columns[["case"]]), rater = !!key_expression(columns[["rater"]]),
    rating = as.character(!!sym(columns[["rating"]])),
    !!!syms(columns[names(columns) == "weight"])
  )
  # There is a column per rater, which contains the rating. If raters may repeat ratings, there is a
  # column per rater and category, which contains the number of ratings.
  column_expressions <- if (!is.null(pivoted_columns$rating)) Map(function(key, label) {
    count_if(expr(rater == !!key & rating == !!label))
  }, pivoted_columns$rater, pivoted_columns$rating) else
    lapply(pivoted_columns$rater, function(key) {
      expr(max(ifelse(rater == !!key, rating, NA), na.rm = TRUE))
    })
  names(column_expressions) <- numbered_names(prefix, nrow(pivoted_columns))
  dplyr::summarise(dplyr::group_by(rows, case), !!!column_expressions, !!!extra_columns)
}

# Converts long ratings, and the predictions of systems, to a query with a row per case. Columns:
# * r1, r2, ... and s1, s2, ...: see pivot_query()
# * rows: number of rows of the case in the long ratings
# * given: number of these rows in which the rating is not missing
# * predictions: number of predictions of systems for the case
# * weight, lightest: highest and lowest weight of the rows of the case; they must be equal
# * lacking: number of rows of the case without weight
#
# Columns on predictions or weights are left out if the user's data have none.
#
# `origin`: a list with the user's data, see database_ratings(). `systems`: keys of the names of
# systems, or NULL.
cases_query <- function(origin, pivoted_columns, systems) {
  rating_count_expression <- count_if(quote(!is.na(rating)))
  weight_columns <- if ("weight" %in% names(origin$columns)) list(
    lacking = count_if(quote(is.na(weight))), lightest = quote(min(weight, na.rm = TRUE)),
    weight = quote(max(weight, na.rm = TRUE))
  )
  cases <- pivot_query(
    origin$data, origin$columns, pivoted_columns, "r",
    c(rows = quote(dplyr::n()), given = rating_count_expression, weight_columns)
  )
  if (is.null(systems)) return(cases)
  predictions <- pivot_query(
    origin$systems, c(case = "case", rater = "system", rating = "prediction"),
    pivot_columns(systems, NULL), "s", list(predictions = rating_count_expression)
  )
  # A full join is needed, because a case may have only predictions or only ratings.
  dplyr::full_join(cases, predictions, by = "case")
}

long_count_query <- function(cases, columns) {
  uneven_weight_count <- if ("weight" %in% colnames(cases))
    count_if(quote(weight != lightest | lacking > 0 & lacking < rows))
  summed_columns <- setNames(nm = intersect(c("predictions", "rows", "given"), colnames(cases)))
  sum_expressions <- lapply(summed_columns, function(column) expr(sum(!!sym(column), na.rm = TRUE)))
  count_query(cases, columns, c(uneven = uneven_weight_count, sum_expressions))
}

# Returns a query with a row per distinct combination of values of `columns`. Further columns:
# * times: number of cases with these values
# * the sums given by the expressions in `sum_expressions`
# * invalid: number of cases whose weight is invalid
# * weight: sum of the weights
count_query <- function(cases, columns, sum_expressions = list()) {
  weight_columns <- if ("weight" %in% colnames(cases)) list(
    # `weight` must come last: it replaces the column that `invalid` uses
    invalid = count_if(quote(is.na(weight) | weight < 0 | weight != floor(weight))),
    weight = quote(sum(weight, na.rm = TRUE))
  )
  dplyr::summarise(
    dplyr::group_by(cases, !!!syms(columns)),
    times = dplyr::n(), !!!sum_expressions, !!!weight_columns, .groups = "drop"
  )
}

add_key_columns <- function(table, columns) {
  dplyr::mutate(table, !!!setNames(lapply(columns, key_expression), paste0("key_", columns)))
}

# Returns a query with a row per case: its identifier, its weight and the keys of `columns`. The
# keys show to which distinct row the case belongs.
keyed_cases <- function(cases, columns) {
  take_columns(add_key_columns(cases, columns),
    c(intersect(c("case", "weight"), colnames(cases)), paste0("key_", columns)))
}

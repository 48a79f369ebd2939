# Methods for ratings in a database. Other methods need only the distinct patterns of ratings, which
# are in memory, or raise an error when they access single cases.

#' @export
`$.ratings_database` <- function(x, name) {
  value <- .subset2(x, name)
  if (is.null(value) && name == "cases") abort_no_cases("This needs single cases")
  value
}

#' @export
dimnames.ratings_database <- function(x) list(NULL, x$raters)

abort_no_cases <- function(what, hint = NULL) {
  abort_fallible("database",
    paste0(what, ", but ratings from a database have only numbers of equal cases."),
    i = c(hint, "Fetch the cases with {.code x <- dplyr::collect(x)} (x: the ratings)."),
    .envir = parent.frame())
}

in_database <- function(x) inherits(x, "ratings_database")

# Removes the fields and the class of ratings in a database. The caller adds `cases`.
leave_database <- function(x) {
  x$times <- x$database <- NULL
  class(x) <- setdiff(class(x), "ratings_database")
  x
}

# Returns a table with a row per case of `x`, a tibble or, for ratings in a database, a lazy table.
# Each element of the list `columns` has an entry per pattern of ratings and becomes a column.
case_table <- function(x, columns) {
  columns <- lapply(columns, `[`, pattern_of_case(x))
  if (in_database(x)) join_cases(x, columns) else
    tibble::new_tibble(c(list(case = x$cases), columns), nrow = length(x$cases))
}

# Joins the cases in the database with new columns. Elements of the list `columns` have an entry per
# row of `x$database$keys`, that is, per distinct row of ratings. `kept` names the columns of cases
# to return.
join_cases <- function(x, columns, kept = "case") {
  origin <- x$database
  abort_argument_if(!origin$has_cases, "case", "The cases of these ratings have no identifiers.",
    i = "Give {.arg case} to {.fun ratings}.")
  check_same_rows(count_rows(origin$origin), origin$rows)
  # Temporary names p1, p2, ... differ from all columns of the keys.
  temporary_names <- setNames(numbered_names("p", length(columns)), names(columns))
  table <- data.frame(
    origin$keys, list2DF(setNames(lapply(columns, unfactor), temporary_names))
  )[!duplicated(origin$keys), ]
  patterns <- ask_database(copy_to_database(table, origin$cases))
  cases <- dplyr::left_join(origin$cases, patterns, by = names(origin$keys))
  take_columns(cases, c(kept, temporary_names))
}

# Copies a data frame to the database of the lazy table `lazy_table`, as a temporary table. Package
# RPostgreSQL cannot write temporary tables (and fails in dbplyr::copy_inline()). For this driver
# the values become part of the query.
copy_to_database <- function(table, lazy_table) {
  con <- dbplyr::remote_con(lazy_table)
  if (inherits(con, "PostgreSQLConnection")) {
    rows <- do.call(paste, c(lapply(table, DBI::dbQuoteLiteral, conn = con), sep = ", "))
    return(dplyr::tbl(con, dbplyr::sql(paste0(
      "SELECT * FROM (VALUES (", paste(rows, collapse = "), ("), ")) AS uploaded (",
      toString(DBI::dbQuoteIdentifier(con, names(table))), ")"
    ))))
  }
  dplyr::copy_to(
    con, table, basename(tempfile("fallible_")), temporary = TRUE, in_transaction = FALSE
  )
}

#' @exportS3Method dplyr::collect
collect.ratings_database <- function(x, ...) { # nolint: object_name.
  check_dots_empty(...)
  weight <- if (x$database$weighted) "weight"
  cases <- fetch_exact(join_cases(x, list(pattern_ = pattern_of_case(x)), c("case", weight)))
  check_same_rows(sum(!is.na(cases$pattern_)), sum(x$times))
  out <- leave_database(x)
  out$index <- as.integer(cases$pattern_)
  out$cases <- cases$case
  weigh_patterns(out, if (!is.null(weight)) as.double(cases$weight))
}

# Functions with names that end in _query return lazy tables, built with dplyr's verbs. Columns of
# the user's data are renamed to `case` and `weight`, `r1`, `r2` and so on for raters (or
# categories), and `s1`, `s2` and so on for systems.

utils::globalVariables(c("case", "rater", "rating", "times"))

# Returns an expression for the key of a value, by which values are compared: its text in the
# database. A missing value has the key "", which cannot be a category.
key_expr <- function(column) expr(dplyr::coalesce(as.character(!!sym(column)), ""))

# Returns an expression for the number of rows in which `condition` is TRUE.
count_if <- function(condition) {
  expr(sum(ifelse(!!condition, 1L, 0L), na.rm = TRUE)) # nolint: redundant_ifelse.
}

numbered_names <- function(prefix, n) paste0(prefix, seq_len(n), recycle0 = TRUE)

# Selects columns of a lazy table. Names of the vector `columns` are the new names.
take_columns <- function(data, columns) dplyr::select(data, dplyr::all_of(columns))

# Converts long data to a query with a row per case. Each row of the data frame `cells` becomes a
# column, with the name `prefix` and a number. `cells` has a column `rater` and, if raters may
# repeat ratings, a column `rating` (both keys). Without `rating`, the new column contains the
# rating by the rater. With `rating`, it contains how often the rater gave this rating.
# `extra_columns` contains expressions for further columns.
pivot_query <- function(data, columns, cells, prefix, extra_columns) {
  rows <- dplyr::transmute(
    data, case = !!sym(columns[["case"]]), rater = !!key_expr(columns[["rater"]]),
    rating = as.character(!!sym(columns[["rating"]])),
    !!!syms(columns[names(columns) == "weight"])
  )
  values <- if (is.null(cells$rating)) {
    lapply(cells$rater, function(key) expr(max(ifelse(rater == !!key, rating, NA), na.rm = TRUE)))
  } else {
    Map(function(key, label) count_if(expr(rater == !!key & rating == !!label)),
      cells$rater, cells$rating)
  }
  names(values) <- numbered_names(prefix, nrow(cells))
  dplyr::summarise(dplyr::group_by(rows, case), !!!values, !!!extra_columns)
}

# Converts long ratings to a query with a row per case. The query has a column per system, and the
# columns `rows`, `given` and `predictions`, the numbers of rows, of ratings and of predictions of
# the case; `lacking`, the number of its rows without weight; and `weight` and `lightest`, the
# highest and the lowest weight of its rows, which are equal if the weights are valid.
cases_query <- function(origin, cells, systems) {
  n_given <- count_if(quote(!is.na(rating)))
  weights <- if ("weight" %in% names(origin$columns)) {
    list(
      lacking = count_if(quote(is.na(weight))), lightest = quote(min(weight, na.rm = TRUE)),
      weight = quote(max(weight, na.rm = TRUE))
    )
  }
  cases <- pivot_query(
    origin$data, origin$columns, cells, "r",
    c(rows = quote(dplyr::n()), given = n_given, weights)
  )
  if (is.null(systems)) return(cases)
  predictions <- pivot_query(
    origin$systems, c(case = "case", rater = "system", rating = "prediction"),
    pivot_columns(systems, NULL), "s", list(predictions = n_given)
  )
  # A full join is needed, because a case may have only predictions or only ratings.
  dplyr::full_join(cases, predictions, by = "case")
}

long_count_query <- function(cases, columns) {
  uneven <- if ("weight" %in% colnames(cases))
    count_if(quote(weight != lightest | lacking > 0 & lacking < rows))
  summed <- setNames(nm = intersect(c("predictions", "rows", "given"), colnames(cases)))
  sums <- lapply(summed, function(column) expr(sum(!!sym(column), na.rm = TRUE)))
  count_query(cases, columns, c(uneven = uneven, sums))
}

# Returns a query with a row per distinct value of `columns`: `times`, the number of cases with
# these values; the sums in `sums`; `off`, the number of cases whose weight is invalid; and
# `weight`, the sum of weights.
count_query <- function(cases, columns, sums = list()) {
  weights <- if ("weight" %in% colnames(cases)) {
    list( # `weight` must come last: it replaces the column that `off` uses
      off = count_if(quote(is.na(weight) | weight < 0 | weight != floor(weight))),
      weight = quote(sum(weight, na.rm = TRUE))
    )
  }
  dplyr::summarise(
    dplyr::group_by(cases, !!!syms(columns)),
    times = dplyr::n(), !!!sums, !!!weights, .groups = "drop"
  )
}

add_keys <- function(table, columns) {
  dplyr::mutate(table, !!!setNames(lapply(columns, key_expr), paste0("key_", columns)))
}

# Returns a query with a row per case: its identifier, its weight and the keys of `columns`. Cases
# are joined to their distinct row by the keys.
keyed_cases <- function(cases, columns) {
  kept <- intersect(c("case", "weight"), colnames(cases))
  take_columns(add_keys(cases, columns), c(kept, paste0("key_", columns)))
}

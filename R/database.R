# Ratings in a database. The database counts the cases that have equal rows. Ratings are built from
# the distinct rows. The ratings object has two additional fields. `times` is the number of cases
# with each distinct row. `database` is a list of
# * cases: a lazy table with a row per case: its identifier `case`, its `weight`, and a key (the
#   value as text) for each column of ratings or systems
# * keys: a data frame with the keys of each distinct row, which are joined to `cases`
# * rows: number of rows that were read
# * origin: the lazy table that the user gave
# * has_cases, weighted: do cases have identifiers, and do they have weights?
#
# Field `cases` of the ratings is NULL. Access to it is an error, which explains how to fetch cases.

#' Ratings in a database
#'
#' [ratings()] accepts a lazy table of \pkg{dbplyr} (a table or query in a database) in place of a
#' data frame: with a row per case (wide), with a row per rating (long), or with counts of ratings.
#' The database counts the cases with equal ratings, and only the different ratings and their
#' numbers are fetched. Results are the same as in memory. Copies of rows are an error;
#' [dplyr::distinct()] drops them. Packages \pkg{dbplyr}, \pkg{dplyr}, \pkg{DBI} and the driver of
#' the database must be installed.
#'
#' @section Differences to data in memory:
#' * **Long** data with more than 50 raters or 50 systems are fetched completely, with a message,
#'   because few cases have equal ratings. Long data with repeated ratings are also fetched, if
#'   there are more than 500 combinations of a rater and a category.
#' * For long data, argument `systems` is a lazy table in the same database, with columns `case`,
#'   `system` and `prediction`.
#' * `weights` must be whole numbers.
#' * `truth`, `covariates`, `confidence`, `abstain`, `scores`, `repeats = "labels"`, several columns
#'   in `case` and a named string in `systems` are errors.
#' * **Text** is compared byte by byte, as in R, in SQLite, PostgreSQL and DuckDB. In other
#'   databases, a column whose collation ignores case, accents or trailing blanks is an error.
#' * Only `ground_truth()`, `predict()`, `augment()` and `collect()` write a temporary table.
#'
#' @section Cases:
#' [ground_truth()], `predict()` and `augment()` of a fit return lazy tables with a row per case,
#' which `dplyr::compute()` stores in the database. Functions that need the ratings of each case
#' raise an error of class `fallible_error_database`: `x[cases, ]`, `as.data.frame()`, `by` and
#' `cluster` of [estimate_accuracy()], known truths, comparisons of two groups of raters by
#' [compare_agreement()], and [crowdtruth()]. Before you call them, fetch the ratings with
#' `dplyr::collect(x)`. For a group of cases, filter the table with `dplyr::filter()`.
#'
#' @section Files larger than memory:
#' DuckDB reads compressed csv files, and Parquet files (`read_parquet()`), without loading them:
#'
#' ```r
#' con <- DBI::dbConnect(duckdb::duckdb())
#' x <- ratings(
#'   dplyr::tbl(con, dbplyr::sql("SELECT * FROM read_csv_auto('ratings/*.csv.gz')")),
#'   case = case, rater = rater, rating = rating
#' )
#' ```
#' @name ratings-database
#' @aliases ratings_database
#' @family data
#' @seealso The article *Larger than one machine*.
#' @examplesIf all(sapply(c("dbplyr", "dplyr", "DBI", "RSQLite"), requireNamespace, quietly = TRUE))
#' con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
#' DBI::dbWriteTable(con, "answers", lehner2015)
#' x <- ratings(
#'   dplyr::tbl(con, "answers"), raters = rater1:rater4, systems = system, case = case
#' )
#' x
#' estimate_accuracy(x, interval = "none")
#' # A lazy table with a row per case
#' ground_truth(x)
#' DBI::dbDisconnect(con)
NULL

# Largest sizes of long data that are counted in the database. `columns` is the number of columns of
# the query that has a row per case. Larger data are fetched completely.
max_pivot_sizes <- list(columns = 500L, raters = 50L)

# Largest number of rows that one call of DBI::dbFetch() returns.
max_rows_per_fetch <- 100000L

database_ratings <- function(data, quos, options) {
  for (package in c("dbplyr", "dplyr", "DBI")) check_installed(package, "for ratings in a database")
  # Data frame with the columns of the data, but without rows. It is used to find the columns that
  # the user's arguments select.
  empty_data <-
    list2DF(lapply(setNames(nm = ask_database(colnames(data))), function(name) logical()))
  layout <- find_layout(empty_data, quos)
  check_long_data(layout$by_rating, options$repeats)
  systems <- lazy_systems(quos$systems, layout)
  selected_systems <- if (is.null(systems)) read_systems(quos, empty_data, layout)
  roles <- find_role_columns(empty_data, quos, layout, selected_systems$columns, options$repeats)
  warn_grouped(dplyr::group_vars(data), roles)
  check_database_support(roles, options, selected_systems)
  origin <- list(
    data = compare_bytes(dplyr::ungroup(data), c(unlist(roles), all.vars(quos$rater_groups))),
    systems = systems, roles = roles, layout = layout, repeats = options$repeats,
    columns = c(
      case = roles$case, rater = roles$rater, rating = roles$raters, weight = roles$weights
    )
  )
  origin$rows <- count_valid_rows(
    origin$data, c(case = roles$case, rater = roles$rater), !layout$by_rating
  )
  quos$rater_groups <- fetch_groups(origin, quos$rater_groups, empty_data)
  reduction <- if (layout$by_rating) reduce_long(origin) else reduce_rows(origin)
  if (is.null(reduction)) return(fetch_ratings(origin, quos, options))
  check_same_rows(sum(reduction$rows), origin$rows)
  # From here on, arguments select columns of the table of distinct rows.
  for (arg in setdiff(names(quos), "rater_groups")) {
    quos[[arg]] <- new_quosure(reduction$columns[[arg]])
  }
  x <- withCallingHandlers(
    build_ratings(reduction$table, quos, options, reduction$times),
    fallible_error = function(cnd) {
      cnd$footer <- c(
        "i" = "Row numbers refer to the distinct rows of `data`, which the database counted."
      )
      cnd_signal(cnd)
    }
  )
  x["cases"] <- list(NULL)
  x$rows <- "ratings" # rows of a database have no order, so results cannot refer to row numbers
  x$database <- list(
    cases = reduction$cases, keys = reduction$keys, rows = origin$rows, origin = origin$data,
    has_cases = !is.null(roles$case), weighted = !is.null(roles$weights)
  )
  class(x) <- c("ratings_database", class(x))
  x
}

# Returns argument `systems` of long data: a lazy table with columns `case`, `system` and
# `prediction`. Returns NULL if the argument is not a table. `quo`: the argument as a quosure.
lazy_systems <- function(quo, layout) {
  systems_argument <- value_of_argument(quo)
  abort_argument_if(
    is.data.frame(systems_argument) ||
      (inherits(systems_argument, "tbl_lazy") && !layout$by_rating), "systems",
    "must be {if (layout$by_rating) 'a lazy table in the database of' else 'columns of'}
        {.arg data}.", not = systems_argument,
    i = if (layout$by_rating) "{.fun dplyr::copy_to} brings a data frame into a database." else
      "Join the table to {.arg data}, and name its columns in {.arg systems}.")
  if (!inherits(systems_argument, "tbl_lazy")) return(NULL)
  lacking_columns <- setdiff(prediction_columns, ask_database(colnames(systems_argument)))
  abort_if(lacking_columns, "columns",
    "{.arg systems} must have columns {.val {prediction_columns}}.",
    x = "It lacks {.val {lacking_columns}}.", arg = "systems")
  compare_bytes(dplyr::ungroup(systems_argument), prediction_columns)
}

check_database_support <- function(roles, options, systems) {
  is_unsupported <- c(
    "{.code repeats = \"labels\"} is not possible for data in a database." =
      options$repeats == "labels",
    "For data in a database, {.arg case} must be a single column." = length(roles$case) > 1L,
    "{.arg truth} is not possible for data in a database." = !is.null(roles$truth),
    "{.arg covariates} are not possible for data in a database." = !is_empty(roles$covariates),
    rep_named(
      sprintf("{.arg %s} is not possible for data in a database.", role_fields(roles)), TRUE
    ),
    "{.arg abstain} is not possible for data in a database." = !is.null(options$abstain),
    "{.arg scores} are not possible for data in a database." = !is.null(options$scores),
    "A named string in {.arg systems} is not possible for data in a database." =
      !is.null(systems$constant),
    "For long data in a database, {.arg systems} must be a lazy table. Names of raters are not
     possible." = !is.null(systems$raters)
  )
  abort_if(any(is_unsupported), "database", names(which(is_unsupported))[1L],
    i = "Fetch the rows with {.code data <- dplyr::collect(data)}, and call {.fun ratings} again.")
}

# Returns the number of rows of a lazy table. Raises an error if there are no rows, or if one of the
# columns `keys` is missing or blank in a row. If `per_case` is TRUE, rows with the same case are
# also an error. `arg`: name of the argument in messages.
count_valid_rows <- function(data, keys, per_case = FALSE, arg = "data") {
  count_expressions <- lapply(keys, function(key) {
    count_if(expr(trimws(!!key_expression(key)) == ""))
  })
  row_counts <- fetch_rows(dplyr::summarise(data, rows = dplyr::n(), !!!count_expressions))
  abort_if(row_counts$rows == 0, if (arg == "data") "empty" else "system",
    "{.arg {arg}} has no rows.", system = character())
  for (key in names(keys)) {
    abort_if(row_counts[[key]] > 0, "case", "{.arg {arg}} must have a {.arg {key}} in every row.",
      x = "It is missing in {number(row_counts[[key]])} of {count_noun(row_counts$rows, 'row')}.",
      row = NA_integer_)
  }
  if (per_case && "case" %in% names(keys)) {
    # dplyr::n_distinct() fails if the driver package expects another version of dbplyr.
    n_repeated_rows <- row_counts$rows -
      count_rows(dplyr::distinct(take_columns(data, keys[["case"]])))
    abort_if(n_repeated_rows > 0, "case", "{.arg case} must be different in every row.",
      x = "{count_noun(n_repeated_rows, 'row')} {cli::qty(n_repeated_rows)}repeat{?s/} the case of
           another row.",
      i = "For long data, with a row per rating, give {.arg rater} and {.arg rating}.",
      row = NA_integer_)
  }
  as.double(row_counts$rows)
}

count_rows <- function(query) fetch_rows(dplyr::summarise(query, rows = dplyr::n()))$rows

# Fetches the groups of raters. `quo`: the user's argument `rater_groups`, a quosure. If it selects
# a column of long data, returns a quosure of a data frame with columns `rater` and `group`.
# Otherwise returns `quo`.
fetch_groups <- function(origin, quo, empty_data) {
  argument_value <- tryCatch(eval_tidy(quo, data = empty_data), error = function(cnd) quo)
  if (is.null(origin$roles$rater) || !(is_string(argument_value) || is.logical(argument_value)))
    return(quo)
  columns <- c(rater = origin$roles$rater, group = select_column(empty_data, quo, "rater_groups"))
  new_quosure(fetch_rows(dplyr::distinct(take_columns(origin$data, columns))))
}

# Returns the lazy table `data`, in which the database compares text byte by byte, as R does.
# Without this change, the collation of a column (its rules for comparing text) may ignore case,
# accents or trailing blanks. `used_columns`: names of the columns that are used.
compare_bytes <- function(data, used_columns) {
  con <- dbplyr::remote_con(data)
  column_types <- map_chr(suppressWarnings(fetch_rows(head(data, 0L))), typeof)
  # SQLite does not report the type of an expression, and R then reads it as logical. In SQLite,
  # columns of type logical are therefore treated as text.
  text_columns <- names(column_types)[
    column_types %in% c("character", if (inherits(con, "SQLiteConnection")) "logical")
  ]
  # PostgreSQL needs a cast, because it has a type of text that ignores case.
  sql_format <- switch(class(con)[[1L]], SQLiteConnection = "%s COLLATE BINARY",
    PostgreSQLConnection = , PqConnection = , duckdb_connection = "CAST(%s AS TEXT) COLLATE \"C\"")
  # In other databases, the collation cannot be changed, and an unsuitable collation is an error.
  if (is.null(sql_format)) {
    check_collation(data, intersect(text_columns, used_columns))
    return(data)
  }
  columns <- lapply(sprintf(sql_format, DBI::dbQuoteIdentifier(con, text_columns)), dbplyr::sql)
  dplyr::mutate(data, !!!setNames(columns, text_columns))
}

# Raises an error if the database ignores upper and lower case, accents or trailing blanks when it
# compares texts. For each column, the database compares a text that ends in "a" with texts that end
# in "A", in "a" with an accent, and in "a" with a blank.
check_collation <- function(data, columns) {
  comparison_expressions <- lapply(setNames(nm = columns), function(name) {
    text_expression <- key_expression(name)
    equality_expressions <- lapply(c("A", "\u00e1", "a "), function(ending) {
      expr(paste0(!!text_expression, "a") == paste0(!!text_expression, !!ending))
    })
    count_if(Reduce(function(a, b) expr(!!a | !!b), equality_expressions))
  })
  affected_columns <-
    columns[unlist(fetch_rows(dplyr::summarise(head(data, 1L), !!!comparison_expressions))) %in% 1]
  abort_if(affected_columns, "database",
    "The database ignores case, accents or trailing blanks where R does not.",
    x = "It does so in {cli::qty(affected_columns)}column{?s} {.val {affected_columns}}.",
    i = "Give {cli::qty(affected_columns)}{?it/them} a binary collation, or fetch the rows with
         {.code dplyr::collect()}.")
}

# ---- Queries ------------------------------------------------------------------------------------

# Runs code that queries a database, and returns its value. Errors of the driver become errors of
# this package. RSQLite warns if it changes values of a column with several types; this warning
# becomes an error too.
ask_database <- function(code) {
  is_about_mixed_types <- function(cnd) grepl("mixed type", conditionMessage(cnd), fixed = TRUE)
  stop_if_mixed_types <- function(cnd) {
    if (is_about_mixed_types(cnd)) stop(conditionMessage(cnd), call. = FALSE)
  }
  handle_foreign_error(withCallingHandlers(code, warning = stop_if_mixed_types), function(cnd) {
    reason <- if (is_about_mixed_types(cnd)) c(
      "A column of the database has values of several types.",
      "Convert it to text, as in {.code dplyr::mutate(data, rating = as.character(rating))}."
    ) else c(
      "The database does not answer.", "Is the connection open, and does the table still exist?"
    )
    abort_fallible("database", reason[[1L]], i = reason[[2L]], parent = cnd)
  })
}

# Returns all rows of a lazy table as a data frame. Rows are fetched in pieces of
# `max_rows_per_fetch` rows. `check` is a function that is called with each piece except the last.
# It can raise an error before all rows are fetched.
fetch_rows <- function(query, check = identity) {
  plain_columns(stack_rows(ask_database(fetch_pieces(query, check))))
}

fetch_pieces <- function(query, check) {
  result_set <- DBI::dbSendQuery(dbplyr::remote_con(query), as.character(dbplyr::sql_render(query)))
  on.exit(suppressWarnings(try(DBI::dbClearResult(result_set), silent = TRUE)))
  pieces <- list()
  repeat {
    piece <- DBI::dbFetch(result_set, n = max_rows_per_fetch)
    pieces <- c(pieces, list(piece))
    if (nrow(piece) < max_rows_per_fetch) return(pieces)
    check(piece)
  }
}

check_same_rows <- function(n_after, n_before, noun = "row") {
  abort_if(n_after != n_before, "database", "The table changed while it was read.",
    x = "It had {count_noun(n_before, noun)}, and then {number(n_after)}.",
    i = "Use a copy of the table that does not change, or read within a transaction.")
}

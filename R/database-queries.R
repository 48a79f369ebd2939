# Verbs for ratings in a database. Other verbs work on patterns, as with any ratings, or fail when
# they access cases.

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

# Ratings in memory, which have cases.
leave_database <- function(x) {
  x$times <- x$database <- NULL
  class(x) <- setdiff(class(x), "ratings_database")
  x
}

# A row per case of `x`, with `columns` (a list with an entry per pattern): a tibble or, for ratings
# in a database, a lazy table.
case_table <- function(x, columns) {
  columns <- lapply(columns, `[`, pattern_of_case(x))
  if (in_database(x)) return(match_cases(x, columns))
  tibble::new_tibble(c(list(case = x$cases), columns), nrow = length(x$cases))
}

# Joins cases with `columns`, which have an entry per row of the keys; `kept`: columns of the cases.
match_cases <- function(x, columns, kept = "case") {
  origin <- x$database
  abort_argument_if(!origin$has_cases, "case", "The cases of these ratings have no identifiers.",
    i = "Give {.arg case} to {.fun ratings}.")
  check_same_rows(count_rows(origin$origin), origin$rows)
  columns <- lapply(columns, unfactor)
  place <- setNames(numbered("p", length(columns)), names(columns)) # avoids clashes
  names(columns) <- place
  table <- data.frame(origin$keys, list2DF(columns))
  keys <- names(origin$keys)
  table <- table[!duplicated(table[keys]), ]
  patterns <- ask_database(upload(table, origin$cases))
  joined <- dplyr::left_join(origin$cases, patterns, by = keys)
  take_columns(joined, c(kept, place))
}

# Copies a table to the database of `like`, as a temporary table. For package RPostgreSQL, which
# cannot write one (and fails in dbplyr::copy_inline()), the table becomes part of the query.
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

# Queries: lazy tables, built with dplyr's verbs. Columns are renamed to `case`, `weight`, `r1`,
# `r2`, ... for raters (or categories) and `s1`, ... for systems.

utils::globalVariables(c("case", "rater", "rating", "times"))

# Key of a value for comparisons: its text in the database. A missing value has the key "", which is
# no category.
key_of <- function(column) rlang::expr(dplyr::coalesce(as.character(!!rlang::sym(column)), ""))

one_if <- function(condition) {
  rlang::expr(sum(ifelse(!!condition, 1L, 0L), na.rm = TRUE)) # nolint: redundant_ifelse.
}

numbered <- function(prefix, n) paste0(rep(prefix, n), seq_len(n))

# Selects and renames columns.
take_columns <- function(data, columns) dplyr::select(data, dplyr::all_of(columns))

# Long data: a row per case. Each row of `cells` becomes a column, numbered after `prefix`. A cell
# has the keys of a `rater` and optionally of a `rating`. Without a rating, the column contains the
# key of the rating by that rater; with one, the number of times the rater gave it. `also`: further
# columns.
pivot_query <- function(data, columns, cells, prefix, also) {
  rows <- dplyr::transmute(
    data, case = !!rlang::sym(columns[["case"]]), rater = !!key_of(columns[["rater"]]),
    rating = as.character(!!rlang::sym(columns[["rating"]])),
    !!!rlang::syms(columns[names(columns) == "weight"])
  )
  values <- if (is.null(cells$rating)) {
    lapply(cells$rater, function(key) {
      rlang::expr(max(ifelse(rater == !!key, rating, NA), na.rm = TRUE))
    })
  } else {
    Map(function(key, label) one_if(rlang::expr(rater == !!key & rating == !!label)),
      cells$rater, cells$rating)
  }
  names(values) <- numbered(prefix, nrow(cells))
  dplyr::summarise(dplyr::group_by(rows, case), !!!values, !!!also)
}

# `rows` and `given`: numbers of rows and ratings of the case; weights: the highest and the lowest.
cases_query <- function(origin, cells) {
  roles <- origin$roles
  weights <- if (!is.null(roles$weights)) {
    list(
      lacking = one_if(quote(is.na(weight))), lightest = quote(min(weight, na.rm = TRUE)),
      weight = quote(max(weight, na.rm = TRUE))
    )
  }
  columns <- c(
    case = roles$case, rater = roles$rater, rating = roles$raters, weight = roles$weights
  )
  also <- list(rows = quote(dplyr::n()), given = one_if(quote(!is.na(rating))))
  pivot_query(origin$data, columns, cells, "r", c(also, weights))
}

# Ratings and predictions, with their numbers; a case may have only predictions.
all_cases_query <- function(origin, cells, systems) {
  cases <- cases_query(origin, cells)
  if (is.null(systems)) return(cases)
  predictions <- pivot_query(
    origin$systems, c(case = "case", rater = "system", rating = "prediction"),
    list_cells(systems, NULL), "s", list(predictions = one_if(quote(!is.na(rating))))
  )
  dplyr::full_join(cases, predictions, by = "case")
}

long_count_query <- function(cases, columns) {
  uneven <- if ("weight" %in% colnames(cases)) {
    one_if(quote(weight != lightest | lacking > 0 & lacking < rows))
  }
  summed <- intersect(c("predictions", "rows", "given"), colnames(cases))
  sums <- lapply(setNames(nm = summed), function(column) {
    rlang::expr(sum(!!rlang::sym(column), na.rm = TRUE))
  })
  count_query(cases, columns, c(uneven = uneven, sums))
}

# Number of cases with the same `columns`, with sums over them, and the number of invalid weights.
count_query <- function(cases, columns, also = list()) {
  weights <- if ("weight" %in% colnames(cases)) {
    list( # the sum that replaces a column must follow the sums that use it
      off = one_if(quote(is.na(weight) | weight < 0 | weight != floor(weight))),
      weight = quote(sum(weight, na.rm = TRUE))
    )
  }
  dplyr::summarise(
    dplyr::group_by(cases, !!!rlang::syms(columns)),
    times = dplyr::n(), !!!also, !!!weights, .groups = "drop"
  )
}

add_keys <- function(table, columns) {
  keys <- setNames(lapply(columns, key_of), paste0("key_", columns))
  dplyr::mutate(table, !!!keys)
}

# The columns that identify a case: its identifier, its weight and the keys of its columns.
keyed_cases <- function(cases, columns) {
  kept <- intersect(c("case", "weight"), colnames(cases))
  take_columns(add_keys(cases, columns), c(kept, paste0("key_", columns)))
}

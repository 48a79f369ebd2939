# Functions that reduce lazy tables to distinct rows, for build_ratings(). They return a list:
# * table: a data frame from which ratings are built
# * columns: arguments of ratings() that select the columns of `table`
# * times: number of cases with each distinct row
# * rows: number of rows in the database that contain these cases
# * keys: a data frame with the keys of each distinct row, see key_expression()
# * cases: a lazy table with a row per case, which contains the keys of its distinct row

# Reduces a lazy table with a row per case (wide data, or counts of ratings per category) to its
# distinct rows.
reduce_rows <- function(origin) {
  roles <- origin$roles
  rater_columns <- numbered_names("r", length(roles$raters))
  new_names <- c(rater_columns, numbered_names("s", length(roles$systems)))
  answer_columns <- c(roles$raters, roles$systems)
  cases <- take_columns(
    origin$data, c(case = roles$case, weight = roles$weights, setNames(answer_columns, new_names))
  )
  # Fails before all rows are fetched if there are already too many labels.
  check_piece <- function(rows) {
    labels <- if (origin$layout$labels) setdiff(unlist(lapply(rows[rater_columns], as_label)), NA)
    if (length(labels) > max_categories) abort_too_many_categories(labels)
  }
  distinct_rows <- fetch_counts(count_query(cases, new_names), new_names, roles, check_piece)
  exact_columns <-
    Map(exact_values, distinct_rows[new_names], distinct_rows[paste0("key_", new_names)])
  selected_columns <- list(systems = if (!is_empty(roles$systems)) roles$systems)
  selected_columns[[origin$layout$ratings_argument]] <- roles$raters
  new_reduction(setNames(list2DF(exact_columns), answer_columns), selected_columns, distinct_rows,
    new_names, cases)
}

# Builds the list that is described at the top of this file. `source_row`: for each row of `table`,
# the row of `distinct_rows` from which it was made; TRUE if both tables have the same rows.
new_reduction <- function(table, columns, distinct_rows, answer_columns, cases, source_row = TRUE) {
  columns$weights <- tail(make.unique(c(names(table), "weight")), 1L)
  table[[columns$weights]] <- as.double(distinct_rows$weight %||% distinct_rows$times)[source_row]
  list(
    table = table, columns = columns, times = as.double(distinct_rows$times),
    rows = as.double(distinct_rows$rows %||% distinct_rows$times),
    keys = distinct_rows[paste0("key_", answer_columns)],
    cases = keyed_cases(cases, answer_columns)
  )
}

is_beyond_double <- function(x) is.numeric(x) && any(abs(x) >= 2^53, na.rm = TRUE)

# Returns `value`, but as text (`key`) if one of the numbers is 2^53 or more. Doubles cannot store
# such numbers exactly.
exact_values <- function(value, key) {
  if (is_beyond_double(value)) ifelse(key == "", NA, key) else value
}

# Fetches the rows of a count_query() and adds the keys of `columns`. Raises an error if a weight is
# invalid. `roles`: names of the user's columns. `check`: see fetch_rows().
fetch_counts <- function(counts, columns, roles, check = identity) {
  distinct_rows <- fetch_rows(add_key_columns(counts, columns), check)
  abort_if(any(distinct_rows$invalid > 0), "weights",
    "{.arg weights} in a database must be whole numbers of at least zero.",
    x = "Column {.val {roles$weights}} has other values in
        {count_noun(sum(distinct_rows$invalid), 'row')}.",
    i = "To use other weights, fetch the rows with {.code dplyr::collect()}.", row = NA_integer_)
  distinct_rows
}

# Reduces long data to distinct rows. Returns NULL if the number of raters, systems or columns is
# larger than `max_pivot_sizes` allows. The caller then fetches all rows.
reduce_long <- function(origin) {
  roles <- origin$roles
  values <- list(
    rater = fetch_values(origin$data, roles$rater, max_pivot_sizes$raters),
    rating = fetch_labels(origin$data, roles$raters)
  )
  if (!is.null(origin$systems)) {
    count_valid_rows(origin$systems, c(case = "case", system = "system"), arg = "systems")
    values$system <- fetch_values(origin$systems, "system", max_pivot_sizes$raters)
    values$prediction <- fetch_labels(origin$systems, "prediction")
  }
  pivoted_columns <-
    pivot_columns(values$rater$key, if (origin$repeats != "error") values$rating$key)
  n_systems <- NROW(values$system)
  if (max(NROW(values$rater), n_systems) > max_pivot_sizes$raters ||
    nrow(pivoted_columns) + n_systems > max_pivot_sizes$columns) return(NULL)
  columns <- c(numbered_names("r", nrow(pivoted_columns)), numbered_names("s", n_systems))
  cases <- cases_query(origin, pivoted_columns, values$system$key)
  distinct_rows <- fetch_counts(long_count_query(cases, columns), columns, roles)
  # For cases that have only predictions, the database returns NA as the counts of ratings and rows.
  distinct_rows <- modify_fields(distinct_rows, c("given", "rows"), replace_na, 0)
  abort_if(any(distinct_rows$uneven > 0, na.rm = TRUE), "weights",
    "{.arg weights} must be the same in all rows of a case.",
    x = "They differ in {count_noun(sum(distinct_rows$uneven), 'case')}.", row = NA_integer_)
  has_repeats <- distinct_rows$given > count_answers(distinct_rows, "r", pivoted_columns)
  if (origin$repeats == "error" && any(has_repeats)) {
    rows <- take_columns(origin$data, origin$columns[c("case", "rater", "rating")])
    rating_counts <- dplyr::count(dplyr::filter(rows, !is.na(rating)), case, rater, name = "times")
    example_row <- fetch_rows(head(dplyr::filter(rating_counts, times > 1L), 1L))
    abort_fallible("repeat", "Rater {.val {as_label(example_row$rater)}} rated case
                              {.val {as_label(example_row$case)}} more than once.",
      x = "The number of cases with repeated ratings is at most
           {number(sum(distinct_rows$times[has_repeats]))}.",
      i = "If the repeats are independent, use {.code repeats = \"ratings\"}. If they are runs of
           one model, or otherwise similar, use {.code repeats = \"reruns\"}.",
      case = example_row$case, rater = example_row$rater)
  }
  table <- unpivot_rows(
    distinct_rows, pivoted_columns, values$rater, values$rating, distinct_rows$given)
  source_row <- table$case
  selected_columns <- as.list(origin$columns[names(table)])
  names(table) <- unlist(selected_columns)
  if (!is.null(origin$systems))
    selected_columns$systems <- expand_predictions(distinct_rows, values)
  new_reduction(table, selected_columns, distinct_rows, columns, cases, source_row)
}

# Returns the distinct values of a column: a data frame of each `value` and its `key`. Fetches at
# most `max_values` + 1 values. More are not needed to detect that there are too many.
fetch_values <- function(data, column, max_values) {
  query <- head(dplyr::distinct(take_columns(data, c(value = column))), max_values + 1L)
  values <- fetch_rows(dplyr::mutate(query, key = !!key_expression("value")))
  values$value <- exact_values(values$value, values$key)
  values
}

# Returns the distinct labels of a column of ratings, without missing labels: a data frame of each
# `value` and its `key`.
fetch_labels <- function(data, column) {
  labels <- fetch_values(data, column, max_categories + 1L)
  check_labels(labels$value, column)
  labels <- labels[labels$key != "", ]
  if (nrow(labels) > max_categories) abort_too_many_categories(as_label(labels$value))
  labels
}

# Returns a data frame whose rows become columns of a pivot_query(). It has a row per rater or, if
# raters may repeat ratings, a row per rater and rating.
pivot_columns <- function(raters, ratings) {
  expand.grid(drop_null(list(rater = raters, rating = ratings)), stringsAsFactors = FALSE)
}

# Converts distinct rows back to long data: a data frame with columns `case`, `rater` and `rating`.
# `case` is the index of the row of `distinct_rows`. Arguments:
# * distinct_rows: a data frame with a column for each row of `pivoted_columns`
# * pivoted_columns: a result of pivot_columns()
# * raters, labels: values and keys, see fetch_values()
# * n_ratings: number of ratings that the database counted for each row of `distinct_rows`
# * prefix: prefix of the names of the columns in `distinct_rows`
unpivot_rows <- function(distinct_rows, pivoted_columns, raters, labels, n_ratings, prefix = "r") {
  ratings <- stack_rows(row_numbers(pivoted_columns), function(j) {
    # A column of label keys or, if `pivoted_columns` has a column `rating`, of numbers of ratings.
    column <- distinct_rows[[paste0(prefix, j)]]
    label_code <- rep_len(match(pivoted_columns$rating[j] %||% column, labels$key), length(column))
    times <- if (is.null(pivoted_columns$rating)) !is.na(label_code) else replace_na(column, 0)
    source_row <- rep.int(seq_along(column), as.integer(times))
    # If `source_row` is empty, tibble() returns a table without rows, but data.frame() would fail.
    tibble(
      case = source_row, rater = match(pivoted_columns$rater[[j]], raters$key),
      rating = label_code[source_row]
    )
  })
  # Raises an error if the number of ratings is not the number that the database counted.
  check_same_rows(sum(distinct_rows$times[ratings$case]), sum(n_ratings, na.rm = TRUE), "rating")
  # A case without ratings, or a rater without ratings, gets a row with a missing rating.
  rows <- rbind(
    ratings, expand.grid(
      case = setdiff(row_numbers(distinct_rows), ratings$case), rater = 1L, rating = NA_integer_
    ), expand.grid(
      case = 1L, rater = setdiff(seq_along(raters$key), ratings$rater), rating = NA_integer_
    )
  )
  rows <- rows[order(rows$case, rows$rater), ]
  data.frame(
    case = rows$case, rater = raters$value[rows$rater], rating = labels$value[rows$rating]
  )
}

# Converts the predictions in distinct rows to a data frame with columns `case`, `system` and
# `prediction`. This is argument `systems` of ratings() for long data. `values`: a list of values
# and keys, see reduce_long().
expand_predictions <- function(distinct_rows, values) {
  pivoted_columns <- pivot_columns(values$system$key, NULL)
  has_repeats <- distinct_rows$predictions > count_answers(distinct_rows, "s", pivoted_columns)
  abort_if(any(has_repeats, na.rm = TRUE), "repeat",
    "A system can give only one prediction per case.",
    x = "At least one system has several predictions for the same case. The number of affected cases
         is at most {number(sum(distinct_rows$times[which(has_repeats)]))}.",
    i = "Keep one row for each case and system.", case = NULL, rater = NULL)
  setNames(
    unpivot_rows(
      distinct_rows, pivoted_columns, values$system, values$prediction,
      distinct_rows$predictions, "s"
    ),
    prediction_columns
  )
}

# Returns, for each row of `distinct_rows`, the number of its cases times the number of its answers.
count_answers <- function(distinct_rows, prefix, pivoted_columns) {
  distinct_rows$times *
    rowSums(!is.na(distinct_rows[numbered_names(prefix, nrow(pivoted_columns))]))
}

# ---- Data that cannot be reduced ----------------------------------------------------------------

# Fetches all rows of long data and returns ratings in memory.
fetch_ratings <- function(origin, quos, options) {
  inform_fallible("There are too many raters to count cases with equal ratings in the database.",
    i = paste(count_noun(origin$rows, "row"), "are fetched; the ratings are in memory."))
  table <- fetch_exact_rows(take_columns(origin$data, unname(origin$columns)))
  check_same_rows(nrow(table), origin$rows)
  if (!is.null(origin$systems))
    quos$systems <- new_quosure(fetch_exact_rows(take_columns(origin$systems, prediction_columns)))
  build_ratings(table, quos, options)
}

# Returns all rows of a query. If a column contains numbers of 2^53 or more, it is fetched again as
# text, because drivers without 64-bit integers return inexact doubles.
fetch_exact_rows <- function(query) {
  rows <- fetch_rows(query)
  large_columns <- names(Filter(is_beyond_double, rows))
  if (is_empty(large_columns)) rows else
    fetch_rows(dplyr::mutate(query, dplyr::across(dplyr::all_of(large_columns), as.character)))
}

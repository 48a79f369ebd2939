# Reduces lazy tables to small tables for build_ratings(). Returns a list: table and columns
# (arguments that select its columns); times and rows (of each entry); keys (a data frame with a row
# per entry); cases (a lazy table with the same keys).

# Wide data and counts.
reduce_rows <- function(origin) {
  roles <- origin$roles
  raters <- numbered("r", length(roles$raters))
  keyed <- c(raters, numbered("s", length(roles$systems)))
  judges <- c(roles$raters, roles$systems)
  cases <- take_columns(
    origin$data, c(case = roles$case, weight = roles$weights, setNames(judges, keyed))
  )
  # With more labels than the maximum number of categories, no further rows are fetched.
  check_piece <- function(rows) {
    labels <- if (origin$layout$labels) setdiff(unlist(lapply(rows[raters], as_label)), NA)
    if (length(labels) > max_categories) abort_many_categories(labels)
  }
  counted <- fetch_counts(count_query(cases, keyed), keyed, roles, check_piece)
  table <- Map(exact_values, counted[keyed], counted[paste0("key_", keyed)])
  columns <- list(roles$raters, systems = if (length(roles$systems) > 0L) roles$systems)
  names(columns)[[1L]] <- origin$layout$holds
  reduced(setNames(list2DF(table), judges), columns, counted, keyed, cases)
}

# `entry`: row of `counted` for each row of `table`.
reduced <- function(table, columns, counted, keyed, cases, entry = TRUE) {
  columns$weights <- utils::tail(make.unique(c(names(table), "weight")), 1L)
  table[[columns$weights]] <- as.double(counted$weight %||% counted$times)[entry]
  list(
    table = table, columns = columns, times = as.double(counted$times),
    rows = as.double(counted$rows %||% counted$times), keys = counted[paste0("key_", keyed)],
    cases = keyed_cases(cases, keyed)
  )
}

is_beyond_double <- function(x) is.numeric(x) && any(abs(x) > 2^53, na.rm = TRUE)

# Numbers beyond 2^53, which a double cannot store exactly, are replaced by their text.
exact_values <- function(value, key) {
  if (is_beyond_double(value)) ifelse(key == "", NA, key) else value
}

# Fetches counts of cases, with the keys of `columns`.
fetch_counts <- function(counts, columns, roles, check = identity) {
  counted <- fetch_rows(add_keys(counts, columns), check)
  abort_if(any(counted$off > 0), "weights",
    "Weights in a database must be whole numbers of at least zero.",
    x = "Column {.val {roles$weights}} is not usable in {count_noun(sum(counted$off), 'row')}.",
    i = "With other weights, fetch the rows: {.code dplyr::collect()}.", row = NA_integer_)
  counted
}

# Long data, or NULL if they should be fetched.
reduce_long <- function(origin) {
  roles <- origin$roles
  values <- list(
    rater = fetch_values(origin$data, roles$rater, max_pivoted$raters),
    rating = fetch_labels(origin$data, roles$raters)
  )
  if (!is.null(origin$systems)) {
    take_census(origin$systems, c(case = "case", system = "system"), arg = "systems")
    values$system <- fetch_values(origin$systems, "system", max_pivoted$raters)
    values$prediction <- fetch_labels(origin$systems, "prediction")
  }
  cells <- list_cells(values$rater$key, if (origin$repeats != "error") values$rating$key)
  systems <- NROW(values$system)
  raters <- max(NROW(values$rater), systems)
  if (raters > max_pivoted$raters || nrow(cells) + systems > max_pivoted$columns) return(NULL)
  columns <- c(numbered("r", nrow(cells)), numbered("s", systems))
  cases <- all_cases_query(origin, cells, values$system$key)
  counted <- fetch_counts(long_count_query(cases, columns), columns, roles)
  counted$given[is.na(counted$given)] <- 0 # cases with predictions only
  counted$rows[is.na(counted$rows)] <- 0
  check_counted_cases(counted, cells, origin)
  table <- expand_cells(counted, cells, values$rater, values$rating, counted$given)
  entry <- table$case
  names(table) <- c(roles$case, roles$rater, roles$raters)
  selected <- list(
    case = roles$case, rater = roles$rater, rating = roles$raters,
    systems = if (!is.null(origin$systems)) expand_predictions(counted, values)
  )
  reduced(table, selected, counted, columns, cases, entry)
}

# At most `most` + 1 distinct values with their keys; the last shows that there are too many.
fetch_values <- function(data, column, most) {
  distinct <- head(dplyr::distinct(take_columns(data, c(value = column))), most + 1L)
  values <- fetch_rows(dplyr::mutate(distinct, key = !!key_of("value")))
  values$value <- exact_values(values$value, values$key)
  values
}

fetch_labels <- function(data, column) {
  labels <- fetch_values(data, column, max_categories + 1L)
  check_labels(labels$value, column)
  labels <- labels[labels$key != "", ]
  if (nrow(labels) > max_categories) abort_many_categories(as_label(labels$value))
  labels
}

# A data frame with a row per cell: one per rater or, if raters repeat ratings, one per rater and
# category.
list_cells <- function(raters, ratings) {
  expand.grid(drop_null(list(rater = raters, rating = ratings)), stringsAsFactors = FALSE)
}

# A table with columns case (number of the entry), rater and rating, like long data. `raters` and
# `labels`: their values and keys. A rater without ratings, and an entry without ratings, have a row
# with a missing rating. The database counted `given` ratings of all cases of an entry; the table
# must contain all of them.
expand_cells <- function(counted, cells, raters, labels, given, prefix = "r") {
  ratings <- stack_rows(seq_len(nrow(cells)), function(j) {
    value <- counted[[paste0(prefix, j)]]
    code <- rep_len(match(cells$rating[j] %||% value, labels$key), length(value))
    times <- if (is.null(cells$rating)) !is.na(code) else replace(value, is.na(value), 0)
    entry <- rep.int(seq_along(value), as.integer(times))
    rater <- rep(match(cells$rater[[j]], raters$key), length(entry))
    data.frame(case = entry, rater = rater, rating = code[entry])
  })
  check_same_rows(sum(counted$times[ratings$case]), sum(given, na.rm = TRUE), "rating")
  bare <- setdiff(seq_len(nrow(counted)), ratings$case)
  silent <- setdiff(seq_along(raters$key), ratings$rater)
  case <- c(ratings$case, bare, rep(1L, length(silent)))
  rater <- c(ratings$rater, rep(1L, length(bare)), silent)
  order <- order(case, rater)
  data.frame(
    case = case[order], rater = raters$value[rater[order]],
    rating = labels$value[ratings$rating[order]] # NA beyond the ratings
  )
}

# Predictions as a data frame, as ratings() needs it for long data.
expand_predictions <- function(counted, values) {
  cells <- list_cells(values$system$key, NULL)
  answered <- rowSums(!is.na(counted[numbered("s", nrow(cells))]))
  twice <- counted$predictions > counted$times * answered
  abort_if(any(twice, na.rm = TRUE), "repeat", "A system can give one prediction per case.",
    x = "One predicts again in up to {count_noun(sum(counted$times[which(twice)]), 'case')}.",
    case = NULL, rater = NULL)
  table <- expand_cells(
    counted, cells, values$system, values$prediction, counted$predictions, "s"
  )
  setNames(table, prediction_columns)
}

# ---- Checks -------------------------------------------------------------------------------------

check_counted_cases <- function(counted, cells, origin) {
  abort_if(any(counted$uneven > 0, na.rm = TRUE), "weights",
    "A case must have the same weight in all its rows.",
    x = "Not so in {count_noun(sum(counted$uneven), 'case')}.", row = NA_integer_)
  rated <- rowSums(!is.na(counted[numbered("r", nrow(cells))]))
  twice <- counted$given > counted$times * rated
  if (origin$repeats != "error" || !any(twice)) return(invisible())
  roles <- origin$roles
  rows <- take_columns(
    origin$data, c(case = roles$case, rater = roles$rater, rating = roles$raters)
  )
  pairs <- dplyr::count(dplyr::filter(rows, !is.na(rating)), case, rater, name = "times")
  example <- fetch_rows(head(dplyr::filter(pairs, times > 1L), 1L))
  abort_fallible("repeat", "Rater {.val {as_label(example$rater)}} rated case
                            {.val {as_label(example$case)}} more than once.",
    x = "This happens in up to {count_noun(sum(counted$times[twice]), 'case')}.",
    i = "If these are independent repeats, say {.code repeats = \"ratings\"}; if they are runs of
         one model or otherwise alike, {.code repeats = \"reruns\"}.", case = example$case,
    rater = example$rater)
}

# ---- Data that cannot be reduced ----------------------------------------------------------------

# Long data with many raters, as ratings in memory.
fetch_ratings <- function(origin, quos, options) {
  roles <- origin$roles
  inform_fallible("There are too many raters for the database to count cases that are alike.",
    i = paste(count_noun(origin$rows, "row"), "are fetched; the ratings are in memory."))
  columns <- c(roles$case, roles$rater, roles$raters, roles$weights)
  table <- fetch_exact(take_columns(origin$data, columns))
  check_same_rows(nrow(table), origin$rows)
  if (!is.null(origin$systems)) {
    predictions <- fetch_exact(take_columns(origin$systems, prediction_columns))
    quos$systems <- rlang::new_quosure(predictions)
  }
  build_ratings(table, quos, options)
}

# Some drivers have no 64-bit integers: numbers beyond 2^53 are fetched as text.
fetch_exact <- function(query) {
  rows <- fetch_rows(query)
  large <- names(Filter(is_beyond_double, rows))
  if (length(large) == 0L) return(rows)
  fetch_rows(dplyr::mutate(query, dplyr::across(dplyr::all_of(large), as.character)))
}

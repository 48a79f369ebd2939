# Reduces lazy tables to small tables for build_ratings(). Returns a list: table and columns
# (arguments that select its columns); times and rows (of each entry); keys (a data frame with a row
# per entry); cases (a lazy table with the same keys).

# Wide data and counts.
reduce_rows <- function(origin) {
  roles <- origin$roles
  cases <- rows_query(origin)
  raters <- numbered("r", length(roles$raters))
  systems <- numbered("s", length(roles$systems))
  keyed <- c(raters, systems)
  # With more labels than the maximum number of categories, no further rows are fetched.
  check_piece <- function(rows) {
    labels <- if (origin$layout$labels) unique(unlist(lapply(rows[raters], as_label)))
    labels <- labels[!is.na(labels)]
    if (length(labels) > max_categories) abort_many_categories(labels)
  }
  counted <- fetch_rows(with_keys(count_query(cases, keyed), keyed), check_piece)
  check_whole_weights(counted, roles)
  table <- Map(exact_values, counted[keyed], counted[paste0("key_", keyed)])
  names(table) <- c(roles$raters, roles$systems)
  columns <- list(raters = roles$raters, systems = if (length(systems) > 0L) roles$systems)
  names(columns)[[1L]] <- origin$layout$holds
  weight <- as.double(counted$weight %||% counted$times)
  reduced(list2DF(table), weight, columns, counted, counted$times, keyed, cases)
}

reduced <- function(table, weight, columns, counted, rows, keyed, cases) {
  columns$weights <- utils::tail(make.unique(c(names(table), "weight")), 1L)
  table[[columns$weights]] <- weight
  list(
    table = table, columns = columns, times = as.double(counted$times), rows = as.double(rows),
    keys = counted[paste0("key_", keyed)], cases = keyed_cases(cases, keyed)
  )
}

# Numbers beyond 2^53, which a double cannot store exactly, are replaced by their text.
exact_values <- function(value, key) {
  if (is.numeric(value) && any(abs(value) > 2^53, na.rm = TRUE)) ifelse(key == "", NA, key) else
    value
}

check_whole_weights <- function(counted, roles) {
  abort_if(any(counted$off > 0), "weights",
    "Weights in a database must be whole numbers of at least zero.",
    x = "Column {.val {roles$weights}} is not usable in {count_noun(sum(counted$off), 'row')}.",
    i = "With other weights, fetch the rows: {.code dplyr::collect()}.", row = NA_integer_)
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
  raters <- max(NROW(values$rater), NROW(values$system))
  wide <- length(cells) + NROW(values$system)
  if (raters > max_pivoted$raters || wide > max_pivoted$columns) return(NULL)
  columns <- c(numbered("r", length(cells)), numbered("s", NROW(values$system)))
  cases <- all_cases_query(origin, cells, values$system$key)
  counted <- fetch_rows(with_keys(long_count_query(cases, columns), columns))
  counted$given[is.na(counted$given)] <- 0 # cases with predictions only
  counted$rows[is.na(counted$rows)] <- 0
  check_whole_weights(counted, roles)
  check_counted_cases(counted, cells, origin)
  table <- expand_cells(counted, cells, values, counted$given)
  weight <- as.double(counted$weight %||% counted$times)[table$case]
  names(table) <- c(roles$case, roles$rater, roles$raters)
  columns_of <- list(
    case = roles$case, rater = roles$rater, rating = roles$raters,
    systems = if (!is.null(origin$systems)) expand_predictions(counted, values)
  )
  reduced(table, weight, columns_of, counted, counted$rows, columns, cases)
}

# At most `most` + 1 distinct values with their keys; the last shows that there are too many.
fetch_values <- function(data, column, most) {
  found <- fetch_rows(values_query(data, column, most + 1L))
  found$value <- exact_values(found$value, found$key)
  found
}

fetch_labels <- function(data, column) {
  found <- fetch_values(data, column, max_categories + 1L)
  check_labels(found$value, column)
  found <- found[found$key != "", ]
  if (nrow(found) > max_categories) abort_many_categories(as_label(found$value))
  found
}

# One cell per rater or, if raters repeat ratings, one per rater and category.
list_cells <- function(raters, ratings) {
  if (is.null(ratings)) return(lapply(raters, function(rater) list(rater = rater)))
  pairs <- expand.grid(rater = raters, rating = ratings, stringsAsFactors = FALSE)
  Map(function(rater, rating) list(rater = rater, rating = rating), pairs$rater, pairs$rating)
}

# A table with columns case (number of the entry), rater and rating, like long data. A rater without
# ratings, and an entry without ratings, have a row with a missing rating. The database
# counted `given` ratings of all cases of an entry; the table must contain all of them.
expand_cells <- function(counted, cells, values, given) {
  found <- lapply(seq_along(cells), function(j) {
    cell <- cells[[j]]
    value <- counted[[paste0("r", j)]]
    code <- rep_len(match(cell$rating %||% value, values$rating$key), length(value))
    times <- if (is.null(cell$rating)) !is.na(code) else replace(value, is.na(value), 0)
    entry <- rep.int(seq_along(value), as.integer(times))
    rater <- match(cell$rater, values$rater$key)
    data.frame(case = entry, rater = rep_len(rater, length(entry)), rating = code[entry])
  })
  found <- stack_rows(found)
  check_same_rows(sum(counted$times[found$case]), sum(given, na.rm = TRUE), "rating")
  bare <- setdiff(seq_len(nrow(counted)), found$case)
  silent <- setdiff(seq_along(values$rater$key), found$rater)
  found <- rbind(found, data.frame(
    case = c(bare, rep_len(1L, length(silent))), rater = c(rep_len(1L, length(bare)), silent),
    rating = rep_len(NA_integer_, length(bare) + length(silent))
  ))
  found <- found[order(found$case, found$rater), ]
  data.frame(
    case = found$case, rater = values$rater$value[found$rater],
    rating = values$rating$value[found$rating]
  )
}

# Predictions as a data frame, as ratings() needs it for long data.
expand_predictions <- function(counted, values) {
  keys <- values$system$key
  given <- counted[numbered("s", length(keys))]
  twice <- counted$predictions > counted$times * rowSums(!is.na(given))
  abort_if(any(twice, na.rm = TRUE), "repeat", "A system can give one prediction per case.",
    x = "One predicts again in up to {count_noun(sum(counted$times[which(twice)]), 'case')}.",
    case = NULL, rater = NULL)
  names(given) <- numbered("r", length(keys))
  labels <- list(rater = values$system, rating = values$prediction)
  given$times <- counted$times
  table <- expand_cells(given, list_cells(keys, NULL), labels, counted$predictions)
  stats::setNames(table, c("case", "system", "prediction"))
}

# ---- Checks -------------------------------------------------------------------------------------

check_counted_cases <- function(counted, cells, origin) {
  abort_if(any(counted$uneven > 0, na.rm = TRUE), "weights",
    "A case must have the same weight in all its rows.",
    x = "Not so in {count_noun(sum(counted$uneven), 'case')}.", row = NA_integer_)
  rated <- rowSums(!is.na(counted[numbered("r", length(cells))]))
  twice <- counted$given > counted$times * rated
  if (any(twice) && origin$repeats == "error") {
    example <- fetch_rows(repeat_query(origin))
    abort_fallible("repeat", "Rater {.val {as_label(example$rater)}} rated case
                              {.val {as_label(example$case)}} more than once.",
      x = "This happens in up to {count_noun(sum(counted$times[twice]), 'case')}.",
      i = "If these are independent repeats, say {.code repeats = \"ratings\"}; if they are runs of
           one model or otherwise alike, {.code repeats = \"reruns\"}.", case = example$case,
      rater = example$rater)
  }
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
    asked <- take_columns(origin$systems, c("case", "system", "prediction"))
    quos$systems <- rlang::new_quosure(fetch_exact(asked))
  }
  build_ratings(table, quos, options)
}

# Some drivers have no 64-bit integers: numbers beyond 2^53 are fetched as text.
fetch_exact <- function(query) {
  rows <- fetch_rows(query)
  large <- names(rows)[vapply(rows, function(x) {
    is.numeric(x) && any(abs(x) > 2^53, na.rm = TRUE)
  }, NA)]
  if (length(large) == 0L) return(rows)
  fetch_rows(dplyr::mutate(query, dplyr::across(dplyr::all_of(large), as.character)))
}

# What a database is asked: lazy tables, made of others by dplyr's verbs. Columns have names of our
# own here: `case`, `weight`, `r1`, `r2`, ... for raters (or categories) and `s1`, ... for systems.

utils::globalVariables(c(
  "rater", "rating", "system", "prediction", "times"
))

# What a value is compared by: how the database writes it. A missing one is "", which is no
# category.
key_of <- function(column) rlang::expr(dplyr::coalesce(as.character(!!rlang::sym(column)), ""))

one_if <- function(condition) {
  rlang::expr(sum(ifelse(!!condition, 1L, 0L), na.rm = TRUE)) # nolint: redundant_ifelse.
}

named_symbols <- function(new, old) stats::setNames(rlang::syms(old), new)

numbered <- function(prefix, n) paste0(rep(prefix, n), seq_len(n))

# One row: the numbers of rows and, of wide data with cases, of different cases; how many rows lack
# the case or the rater.
census_query <- function(origin) {
  roles <- origin$roles
  asked <- list(rows = rlang::expr(dplyr::n()))
  for (arg in intersect(c("case", "rater"), names(Filter(length, roles)))) {
    asked[[paste0("no_", arg)]] <- one_if(rlang::expr(is.na(!!rlang::sym(roles[[arg]]))))
  }
  if (!origin$layout$by_rating && !is.null(roles$case)) {
    asked$cases <- rlang::expr(dplyr::n_distinct(!!rlang::sym(roles$case)))
  }
  dplyr::summarise(origin$data, !!!asked)
}

groups_query <- function(origin, column) {
  pairs <- dplyr::transmute(
    origin$data, !!!named_symbols(c("rater", "group"), c(origin$roles$rater, column))
  )
  dplyr::distinct(pairs)
}

# The distinct values of a column, with their keys; at most `most` of them.
values_query <- function(data, column, most) {
  values <- dplyr::distinct(dplyr::transmute(data, value = !!rlang::sym(column)))
  dplyr::mutate(utils::head(values, most), key = !!key_of("value"))
}

# Wide data and counts: a row per case, with its ratings and answers.
rows_query <- function(origin) {
  roles <- origin$roles
  columns <- c(
    if (!is.null(roles$case)) c(case = roles$case),
    if (!is.null(roles$weights)) c(weight = roles$weights),
    stats::setNames(roles$raters, numbered("r", length(roles$raters))),
    stats::setNames(roles$systems, numbered("s", length(roles$systems)))
  )
  dplyr::transmute(origin$data, !!!named_symbols(names(columns), columns))
}

# Long data: a row per case. `cells` are the columns r1, r2, ...: either the key of the rating by
# one rater or, where raters repeat themselves, how often one gives one category. `rows` and `given`
# count the case's rows and ratings, weights are the highest and the lowest.
cases_query <- function(origin, cells) {
  roles <- origin$roles
  rows <- dplyr::transmute(
    origin$data,
    !!!named_symbols("case", roles$case),
    rater = !!key_of(roles$rater), rating = as.character(!!rlang::sym(roles$raters)),
    !!!if (!is.null(roles$weights)) named_symbols("weight", roles$weights)
  )
  weights <- if (!is.null(roles$weights)) {
    list(
      lacking = one_if(quote(is.na(weight))), lightest = quote(min(weight, na.rm = TRUE)),
      weight = quote(max(weight, na.rm = TRUE))
    )
  }
  dplyr::summarise(
    dplyr::group_by(rows, !!rlang::sym("case")),
    !!!stats::setNames(lapply(cells, cell_expr), numbered("r", length(cells))),
    rows = dplyr::n(), given = !!one_if(quote(!is.na(rating))), !!!weights
  )
}

# A cell has a `rater` and perhaps a `rating`, both keys.
cell_expr <- function(cell) {
  if (is.null(cell$rating)) {
    rlang::expr(max(ifelse(rater == !!cell$rater, rating, NA), na.rm = TRUE))
  } else {
    one_if(rlang::expr(rater == !!cell$rater & rating == !!cell$rating))
  }
}

# A row per case, with the key of what each system says, and how many predictions there are.
predictions_query <- function(systems, keys) {
  cells <- lapply(keys, function(key) {
    rlang::expr(max(ifelse(system == !!key, prediction, NA), na.rm = TRUE))
  })
  rows <- dplyr::transmute(
    systems, case = !!rlang::sym("case"), system = !!key_of("system"),
    prediction = as.character(!!rlang::sym("prediction"))
  )
  dplyr::summarise(
    dplyr::group_by(rows, !!rlang::sym("case")),
    !!!stats::setNames(cells, numbered("s", length(keys))),
    predictions = !!one_if(quote(!is.na(prediction)))
  )
}

# Ratings and predictions side by side; a case may be known to systems only.
all_cases_query <- function(origin, cells, systems) {
  cases <- cases_query(origin, cells)
  if (is.null(systems)) return(cases)
  dplyr::full_join(cases, predictions_query(origin$systems, systems), by = "case")
}

long_count_query <- function(cases, columns) {
  uneven <- if ("weight" %in% colnames(cases)) {
    one_if(quote(weight != lightest | lacking > 0 & lacking < rows))
  }
  predictions <- if ("predictions" %in% colnames(cases)) quote(max(predictions, na.rm = TRUE))
  count_query(cases, columns, Filter(Negate(is.null), list(
    uneven = uneven, predictions = predictions, rows = quote(sum(rows, na.rm = TRUE)),
    given = quote(max(given, na.rm = TRUE))
  )))
}

# A case that one rater rated more than once.
repeat_query <- function(origin) {
  roles <- origin$roles
  rows <- dplyr::transmute(
    origin$data,
    !!!named_symbols(c("case", "rater", "rating"), c(roles$case, roles$rater, roles$raters))
  )
  pairs <- dplyr::summarise(
    dplyr::group_by(dplyr::filter(rows, !is.na(rating)), !!!rlang::syms(c("case", "rater"))),
    times = dplyr::n(), .groups = "drop"
  )
  utils::head(dplyr::filter(pairs, times > 1L), 1L)
}

# How many cases have the same `columns`, with sums over them, and what is wrong with some of them.
count_query <- function(cases, columns, extra = list()) {
  weights <- if ("weight" %in% colnames(cases)) {
    weight <- rlang::sym("weight")
    list( # sums that take a column's name come after those that use it
      off = one_if(rlang::expr(is.na(!!weight) | !!weight < 0 | !!weight != floor(!!weight))),
      weight = rlang::expr(sum(!!weight, na.rm = TRUE))
    )
  }
  dplyr::summarise(
    dplyr::group_by(cases, !!!rlang::syms(columns)),
    times = dplyr::n(), !!!extra, !!!weights, .groups = "drop"
  )
}

with_keys <- function(table, columns) {
  keys <- stats::setNames(lapply(columns, key_of), paste0("key_", columns))
  dplyr::mutate(table, !!!keys)
}

# Only what identifies a case: its identifier, its weight and the keys of its columns.
keyed_cases <- function(cases, columns) {
  kept <- intersect(c("case", "weight"), colnames(cases))
  dplyr::select(with_keys(cases, columns), dplyr::all_of(c(kept, paste0("key_", columns))))
}

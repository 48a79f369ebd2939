# What the columns of a data frame are, by their names and values, where a user does not say.

id_names <- "^([.]?id|(case|item|unit|doc|text|sample)[._]?id|case|item|unit)$"
key_names <- "^(epoch|run|model|population)$"

# Arguments of ratings() for these columns. Where `data` has no rows, names decide.
guess_roles <- function(data, arg) {
  columns <- names(data)
  folded <- fold_case(columns)
  rating <- lapply(c(rater = "rater", rating = "rating"), function(name) {
    utils::head(c(intersect(name, columns), columns[folded == name]), 1L)
  })
  roles <- list(case = intersect("case", columns), weights = intersect("weight", columns))
  ids <- setdiff(columns[grepl(id_names, folded)], roles$case)
  if (all(lengths(rating) == 1L) && length(c(roles$case, ids)) > 0L) {
    roles <- c(roles, rating)
    if (length(roles$case) == 0L && length(ids) > 1L) abort_unclear(ids, roles, data, arg)
    if (length(roles$case) == 0L) roles$case <- ids
    return(Filter(length, roles))
  }
  roles$systems <- grep("^system", columns, value = TRUE)
  roles$raters <- setdiff(columns, unlist(roles))
  roles$covariates <- test_population(data[setdiff(roles$raters, ids)])
  roles$raters <- setdiff(roles$raters, roles$covariates)
  check_labels_shared(data[roles$raters], arg)
  Filter(length, settle_raters(roles, data, arg))
}

# The column of populations in a table of diagnostic tests, whose other columns have two values.
test_population <- function(data) {
  name <- names(data)[fold_case(names(data)) == "population"]
  two <- vapply(unclass(data)[setdiff(names(data), name)], function(x) {
    is.atomic(x) && length(distinct_labels(x)) %in% 1:2
  }, NA)
  if (length(name) == 1L && length(two) > 1L && all(two)) name
}

# `roles` without the raters that identify cases, which become the case, or covariates if there is a
# case. Raters that the user has `named` stay.
settle_raters <- function(roles, data, arg, named = character()) {
  folded <- fold_case(roles$raters)
  is_id <- grepl(id_names, folded) & !roles$raters %in% named
  is_key <- grepl(key_names, folded) & !roles$raters %in% named
  if (!any(is_id | is_key)) return(roles)
  others <- roles$raters[!is_id & !is_key]
  kind <- vapply(roles$raters, function(name) {
    among <- if (length(others) > 0L) others else setdiff(roles$raters, name)
    kind_of_column(data[[name]], unlist(lapply(unclass(data)[among], distinct_labels)), name)
  }, "")
  ids <- roles$raters[is_id & kind %in% c("unique", "whole")]
  roles$raters <- setdiff(roles$raters, ids)
  case <- c(roles$case, ids[kind[ids] == "unique"], if (length(ids) == 1L) ids)
  # Rows of the same case need something else to tell them apart.
  repeated <- length(ids) > 0L && !any(kind[ids] == "unique")
  unclear <- names(kind)[is_id & kind == "either" | is_key & (kind != "rater" | repeated)]
  if (length(case) == 0L) unclear <- c(ids, unclear)
  if (length(unclear) > 0L) abort_unclear(unclear, c(roles, list(ids = ids)), data, arg)
  if (length(roles$case) == 0L) roles$case <- utils::head(case, 1L)
  known <- vapply(unclass(data)[ids], function(x) !anyNA(x), NA)
  roles$covariates <- c(roles$covariates, setdiff(ids[known], roles$case))
  roles
}

distinct_labels <- function(x) if (is.atomic(x)) plain_label(as_label(unique(x[!is.na(x)])))

# "unique" or "whole" for identifiers of cases, once or equally often; "rater" if the values are
# labels of the others; "either" where names and values do not decide.
kind_of_column <- function(x, labels, name) {
  if (!is.atomic(x)) return("rater") # which is refused with a reason
  name <- fold_case(name)
  found <- distinct_labels(x)
  times <- tabulate(match(x, unique(x[!is.na(x)])))
  number <- !anyNA(suppressWarnings(as.numeric(found)))
  once <- all(times == 1L)
  whole <- length(times) > 2L && all(times == times[[1L]])
  known <- found %in% labels
  label <- all(known) || (!number && mean(known) >= 0.5)
  if (label && !grepl("id$|^case$", name)) {
    doubtful <- if (grepl(id_names, name)) once || (number && whole) else
      name != "model" && setequal(found, seq_along(found))
    return(if (doubtful) "either" else "rater")
  }
  if (length(times) == 0L) "either" else if (once) "unique" else if (whole) "whole" else "either"
}

abort_unclear <- function(unclear, roles, data, arg) {
  of <- function(columns) paste0("c(", toString(dQuote(columns, FALSE)), ")")
  call <- function(raters, ...) {
    roles <- c(list(...), roles[c("weights", "systems", "rater", "rating")])
    raters <- if (length(raters) > 0L) list(raters = paste0("!", of(setdiff(names(data), raters))))
    given <- c(raters, lapply(Filter(length, roles), of))
    paste0("ratings(data, ", toString(paste(names(given), "=", given)), ")")
  }
  raters <- setdiff(roles$raters, unclear)
  case <- utils::head(c(roles$case, roles$ids), 1L)
  abort_argument(arg, "{.arg {arg}} has {cli::qty(unclear)}{?a column that may be no rater/columns
      that may be no raters}: {.val {unclear}}.",
    i = c(
      "For columns that identify cases: {.code {call(raters, case = unique(c(case, unclear)))}}.",
      "For columns that describe cases: {.code {call(raters, case = case, covariates = unclear)}}.",
      if (length(roles$raters) > 0L) "For raters: {.code {call(roles$raters, case = case)}}."
    ), columns = unclear)
}

# Data with a row per rating, whose columns have other names, have no two columns of ratings.
check_labels_shared <- function(columns, arg) {
  if (length(columns) < 3L || nrow(columns) == 0L || !all(vapply(columns, is.atomic, NA))) {
    return(invisible())
  }
  labels <- unlist(lapply(lapply(columns, column_labels), unique))
  abort_argument_if(anyDuplicated(labels) == 0L, arg,
    "must have a column for each rater, and no two of its columns have a label in common.",
    x = "The columns are {.val {names(columns)}}.",
    i = "Of data with a row per rating say which columns are what:
        {.code ratings(data, case = , rater = , rating = )}.")
}

# Finds the roles of columns from their names and values, where the user does not specify them.

id_names <- "^([.]?id|(case|item|unit|doc|text|sample)[._]?id|case|item|unit)$"
key_names <- "^(epoch|run|model|population)$"

# Returns arguments of ratings(). If `data` has no rows, only names are used.
guess_roles <- function(data, arg) {
  columns <- names(data)
  folded <- fold_case(columns)
  ids <- columns[grepl(id_names, folded)]
  long <- match(c("rater", "rating"), folded)
  roles <- list(case = intersect("case", columns), weights = intersect("weight", columns))
  if (length(ids) > 0L && !anyNA(long)) {
    repeated <- vapply(unclass(data)[ids], anyDuplicated, 0L) > 0L
    if (length(roles$case) == 0L) roles$case <- if (any(repeated)) ids[repeated] else ids[[1L]]
    return(Filter(length, c(roles, rater = columns[long[[1L]]], rating = columns[long[[2L]]])))
  }
  roles$systems <- grep("^system", columns, value = TRUE)
  roles$raters <- setdiff(columns, unlist(roles))
  check_labels_shared(data[roles$raters], arg)
  Filter(length, settle_raters(roles, data, arg))
}

# Removes columns from the raters in `roles` that identify cases, or that are populations of
# diagnostic tests with two results (as in data of template_huiwalter() of runjags).
settle_raters <- function(roles, data, arg) {
  folded <- fold_case(roles$raters)
  odd <- grepl(paste0(id_names, "|", key_names), folded)
  if (!any(odd)) return(roles)
  labels <- lapply(as.list(data)[roles$raters], distinct_labels)
  kind <- vapply(seq_along(odd), function(at) {
    others <- if (all(odd)) labels[-at] else labels[!odd]
    kind_of_column(data[[roles$raters[[at]]]], labels[[at]], unlist(others), folded[[at]])
  }, "")
  if (sum(!odd) > 1L && all(lengths(labels[!odd]) <= 2L)) kind[folded == "population"] <- "about"
  of <- split(roles$raters, ifelse(odd, kind, "rater"))
  if (length(roles$case) == 0L) roles$case <- utils::head(of$case, 1L)
  unclear <- c(if (length(roles$case) == 0L) of$repeated, of$unclear)
  roles$covariates <- c(roles$covariates, of$about, setdiff(of$repeated, unclear))
  roles$raters <- of$rater
  if (length(unclear) > 0L) abort_unclear(unclear, roles, arg)
  roles
}

# Labels of a column, cut off where there are too many for categories.
distinct_labels <- function(x) {
  if (is.atomic(x)) plain_label(as_label(utils::head(unique(x[!is.na(x)]), max_categories + 1L)))
}

# Kind of a column with an unusual name: "case" (identifier, different in all rows), "repeated"
# (identifier with repeated values), "rater" (values are labels of other raters) or "unclear".
kind_of_column <- function(x, found, others, name) {
  once <- anyDuplicated(x) == 0L
  words <- anyNA(suppressWarnings(as.numeric(found)))
  shared <- sum(found %in% others) >= length(found) * if (words) 0.5 else 1
  number <- setequal(found, seq_along(found))
  if (grepl(id_names, name)) {
    if (!shared || !name %in% c("item", "unit")) return(if (once) "case" else "repeated")
    if (once || (number && length(unique(table(x))) == 1L)) return("unclear")
  } else if (number && name != "model") {
    return("unclear")
  }
  if (shared) "rater" else "unclear"
}

abort_unclear <- function(unclear, roles, arg) {
  given <- function(role, columns) {
    of <- toString(dQuote(verbatim(columns), FALSE))
    if (length(columns) > 0L) paste0(", ", role, " = c(", of, ")")
  }
  call <- function(...) paste0("{.code ratings(data", given("raters", roles$raters), ..., ")}.")
  case <- c(roles$case, unclear[grepl(id_names, fold_case(unclear))])
  about <- setdiff(unclear, case)
  if (length(about) == 0L) about <- unclear
  abort_argument(arg, "{.arg {arg}} has {cli::qty(unclear)}{?a column that may be no rater/columns
      that may be no raters}: {.val {unclear}}.",
    i = c(
      paste("If they identify cases:", call(given("case", unique(c(case, unclear))))),
      paste("If they describe cases:",
        call(given("case", setdiff(case, about)), given("covariates", about))),
      "If they are raters, name all raters in {.arg raters}."
    ), columns = unclear)
}

# Data with a row per rating, whose columns have other names, have no two columns of ratings.
check_labels_shared <- function(columns, arg) {
  if (length(columns) < 3L || !all(vapply(columns, is.atomic, NA))) return(invisible())
  labels <- unlist(lapply(lapply(columns, column_labels), unique))
  abort_argument_if(length(labels) > 0L && anyDuplicated(labels) == 0L, arg,
    "must have a column for each rater, and no two of its columns have a label in common.",
    x = "The columns are {.val {names(columns)}}.",
    i = "Of data with a row per rating say which columns are what:
        {.code ratings(data, case = , rater = , rating = )}.")
}

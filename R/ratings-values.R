#' @param by Groups of cases, for which accuracies are estimated separately. One of: the name of a
#'   covariate of `x` (see [ratings()]), quoted or not; an expression of covariates, such as
#'   `age > 60`; a vector of groups with the cases as names; a data frame with columns `case` and
#'   one other. Every case needs a value. `NULL`, the default, for one estimate from all cases.
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# Arguments with a value per case: groups, clusters, truths, probabilities.

# Returns a list of columns with a value per case: the covariates and, if several columns identify
# cases, these columns.
columns_of_cases <- function(x) {
  key_columns <- if (!is.null(x$keys)) {
    # Splits the identifiers of cases into the columns from which join_keys() made them.
    key_parts <- unlist(strsplit(paste0(x$cases, "/"), "/", fixed = TRUE))
    key_parts <- gsub("%25", "%", gsub("%2F", "/", key_parts, fixed = TRUE), fixed = TRUE)
    columns <- split_columns(matrix(key_parts, ncol = length(x$keys), byrow = TRUE), names(x$keys))
    modify_fields(columns, x$keys, as.numeric)
  }
  c(key_columns, x$covariates)
}

# Returns the group of each case of `x`. `by`: quosure of the argument `by`. It is evaluated with
# the covariates if all its variables are covariates. Otherwise it is evaluated in the environment
# of the user.
groups_of_cases <- function(by, x) {
  case_columns <- columns_of_cases(x)
  variable_names <- all.vars(quo_get_expr(by))
  unknown_names <- setdiff(variable_names, names(case_columns))
  uses_covariates <- !is_empty(variable_names) && is_empty(unknown_names)
  group_values <- tryCatch(eval_tidy(by, if (uses_covariates) case_columns), error = function(cnd) {
    abort_argument("by",
      "must be the name of a covariate of {.arg x}, or contain a value for each case.",
      x = if (!setequal(unknown_names, variable_names))
        "There is no covariate {.val {unknown_names}}." else escape_braces(conditionMessage(cnd)),
      i = c(similar_values_hint(unknown_names, names(case_columns)), case_values_hint("by")))
  })
  # A name such as `version` may be an object of R, although the user meant a similar covariate.
  if (quo_is_symbol(by) && is.recursive(group_values) && !is.data.frame(group_values) &&
    !is_empty(find_similar_names(unknown_names, names(case_columns))))
    group_values <- as_name(by)
  if (uses_covariates) x$rows <- "cases"
  check_case_values(group_values, x, "by")
}

# Returns a list with the ratings of each group of cases. `by`: see groups_of_cases().
split_by <- function(x, by) {
  if (!has_labels(x)) x <- as_ratings(x)
  positions_by_group <- split(seq_along(x$cases), groups_of_cases(by, x), drop = TRUE)
  lapply(positions_by_group, function(positions) x[positions, ])
}

case_values_hint <- function(arg) {
  escape_braces("For example `", arg, " = \"site\"`, if `site` is one of the `covariates` of ",
    "ratings(), or `", arg, " = data[c(\"case\", \"site\")]`.")
}

# Returns a value for each case of `x`, in the order of the cases; NULL if `value` is NULL. `value`
# may be the name of a covariate, a vector, or a data frame with columns `case` and one other.
check_case_values <- function(value, x, arg) {
  if (is.null(value)) return(NULL)
  if (in_database(x)) abort_no_cases("{.arg {arg}} has a value for each case",
    hint = "For one group, filter the table in the database with {.code dplyr::filter()}.")
  may_be_covariate_name <- is_string(value) && !has_names(value)
  case_columns <- if (may_be_covariate_name) columns_of_cases(x)
  if (may_be_covariate_name && value %in% names(case_columns)) return(case_columns[[value]])
  if (is.data.frame(value)) {
    value_table <- replace_key_columns(value, names(x$keys))
    abort_if(ncol(value_table) != 2L || !"case" %in% names(value_table), "columns",
      "{.arg {arg}} must have a column {.val case} and one other.",
      x = if (has_any_columns(value_table)) "It has {.val {names(value_table)}}." else
        "It is {describe(value_table)}.",
      arg = arg)
    value <-
      setNames(value_table[[setdiff(names(value_table), "case")]], as_label(value_table$case))
  }
  no_match_reason <- if (!has_names(value) || !is.atomic(value)) why_not_by_position(value, x)
  abort_argument_if(no_match_reason, arg,
    "must be the name of a covariate of {.arg x}, a vector whose names are cases, or a data frame
        with a column {.val case} and one other.",
    x = if (may_be_covariate_name) "There is no covariate {.val {value}}." else no_match_reason,
    i = c(if (may_be_covariate_name) similar_values_hint(value, names(case_columns)),
      if (identical(value, "pair")) pairwise_hint, case_values_hint(arg)))
  cases <- as_label(x$cases)
  if (has_names(value)) {
    named_cases <- names(value)
    unknown_cases <- if (!is.null(x$rows)) setdiff(named_cases, cases)
    abort_argument_if(unknown_cases, arg, "must name cases of {.arg x}.",
      x = "{length(unknown_cases)} name{?s} {?is not a case/are not cases}, first
          {.val {head(unknown_cases, 3L)}}.",
      i = "If names of a vector are not cases, drop them with {.fun unname}.", case = unknown_cases)
    value_codes <- match(value, value)
    conflicting_cases <-
      named_cases[value_codes != value_codes[match(named_cases, named_cases)]]
    abort_argument_if(conflicting_cases, arg, "must have one value for each case.",
      x = "Case {.val {conflicting_cases[[1L]]}} has several values.",
      case = unique(conflicting_cases))
    value <- unname(value)[match(cases, named_cases)]
  }
  cases_without_value <- cases[is.na(value)]
  abort_argument_if(cases_without_value, arg, "must be known for every case.",
    x = "It is missing for {length(cases_without_value)} case{?s}, first for
        {.val {head(cases_without_value, 3L)}}.", case = cases_without_value)
  value
}

# Returns the reason why a vector without names cannot be matched to the cases of `x` by position.
# Returns NULL if it can be matched. `has_right_type`: does the argument accept vectors of this
# type?
why_not_by_position <- function(value, x, has_right_type = is.atomic(value)) {
  if (!has_right_type || !is.null(dim(value)) || length(value) != nrow(x)) {
    escape_braces("It is ", describe(value),
      if (is.factor(value)) paste(" and length", length(value)), ", and `x` has ",
      count_noun(nrow(x), "case"), ".")
  } else if (!identical(x$rows, "cases")) {
    "Values without names are matched to cases by position. This needs data with a row per case, and
     all of these cases in their original order."
  }
}

# ---- Identifiers of cases in several columns ("keys") -----------------------------------------

# Joins several columns that identify cases into one identifier, with slashes between the values. A
# slash in a value becomes "%2F", so that different cases have different identifiers.
join_keys <- function(columns) {
  abort_if("case" %in% names(columns), "columns",
    "If several columns identify cases, none may be called {.val case}.",
    i = "Give that column another name.", arg = "case")
  escaped_labels <- lapply(columns, function(x) {
    # A blank value is allowed, because other columns distinguish the cases.
    check_identifiers(x, "case", blank_is_known = TRUE)
    labels <- as_label(x)
    abort_if(any_repeated(labels[!duplicated(x)]), "columns",
      "If several columns identify cases, different numbers in a column must differ in their first
       15 digits.", i = "Convert such a column to text.", arg = "case")
    gsub("/", "%2F", gsub("%", "%25", labels, fixed = TRUE), fixed = TRUE)
  })
  paste_columns(escaped_labels, "/")
}

# If cases are identified by several columns, replaces these columns of `table` by one column
# `case`. Otherwise returns `table` unchanged. `keys`: names of the columns that identify cases.
replace_key_columns <- function(table, keys) {
  if (length(keys) < 2L || !is.data.frame(table) || !has_columns(table, keys)) return(table)
  table$case <- join_keys(lapply(keys, function(key) plain_integers(table[[key]])))
  table[keys] <- NULL
  table
}

# Argument `covariates` of ratings().

# Names that covariates must not have, because as.data.frame() uses them for other columns.
reserved_names <- c(
  "case", "rater", "rating", "rater_group", "weight", "system", "prediction", "labels", "n"
)

# Adds the field `covariates` to the ratings `x`, if the user gave covariates. It is a tibble with a
# row per case.
add_covariates <- function(x, input) {
  columns <- input$covariates
  if (is.null(columns)) return(x)
  reserved_columns <-
    intersect(names(columns), c(reserved_names, x$raters, x$systems, entry_fields(x)))
  abort_if(reserved_columns, "columns",
    "{.arg covariates} must not have names that tables of ratings use for other columns.",
    x = "{?This name is/These names are} reserved: {.val {reserved_columns}}.",
    i = c("Give the columns other names.", if (any(reserved_columns %in% x$systems)) "Or give the
        system another name, such as {.code systems = c(passes = \"pass\")}."),
    arg = "covariates")
  case <- case_of_rows(input, x)
  cases_without_row <- setdiff(seq_along(x$cases), case)
  abort_if(cases_without_row, "case",
    "If {.arg covariates} are given, {.arg data} must contain all cases of {.arg systems}.",
    x = "Case {.val {as_label(x$cases[cases_without_row[[1L]]])}} is only in {.arg systems}.",
    i = "Leave such cases out of {.arg systems}.", row = cases_without_row)
  x$covariates <- as_tibble(Map(function(column, name) {
    check_covariate(column, name, data_rows(column, input))
    values_by_case(column, case, x$cases, name,
      "A covariate must be the same in all rows of a case.",
      i = "If a case has several versions, give all columns that identify a version, such as
        {.code case = c(prompt_id, version)}.")
  }, columns, names(columns)))
  x
}

check_covariate <- function(column, name, rows = seq_along(column)) {
  abort_if(!(is.factor(column) || is_plain(column, c("numeric", "character", "logical"))),
    "columns", "Covariates must be numbers, strings, factors or logicals.",
    x = "Column {.val {name}} is {describe(column)}.", arg = "covariates")
  check_values(column, if (is.numeric(column)) is.finite(column) else !is.na(column), name,
    "missing", "Covariates must be known for every case.",
    i = paste("Leave these cases out, or", if (is.numeric(column))
      "replace the numbers by a few groups, one of which is for missing values." else
      "use a string such as \"unknown\" as a separate value."),
    rows = rows)
}

# Returns a tibble with a row per pattern. Its columns are the covariates by which patterns are
# split.
pattern_covariates <- function(x) {
  values <- as.list(x$patterns$values)
  new_tibble(values[names(values) %in% names(x$covariates)], nrow = n_patterns(x))
}

format_covariates <- function(x) {
  if (is_empty(x$covariates)) return(NULL)
  values <- map_chr(x$covariates, function(column) {
    if (is.numeric(column)) paste(signif(range(column), 3L), collapse = " to ") else
      shorten(sort_strings(unique(as_label(column))), most = 4L)
  })
  paste("Covariates of cases:", shorten(paste0(names(values), " (", values, ")")))
}

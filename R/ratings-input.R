# Finds and checks the columns that the user's arguments of ratings() name.

#' @srrstats {G2.10, G2.11, G2.12} columns are taken with `[[`, whatever their class; lists are
#'   refused
#' @noRd
NULL

max_categories <- 1000L

# Returns a list without elements that are not given: layout (its record); rows (their number);
# columns (list of rating columns, or of counts); case; keys (for a case with several columns: by
# name, is it a number); rater; weights; systems (wide columns); system_table; constant; groups (of
# raters); truth (a list of one column); covariates and confidence (lists of columns); row_case
# (cases of the rows of the data, before rows move to systems or are expanded); ordered; na_given
# (did the user specify labels of missing ratings?); abstain; abstained and silent (see
# take_abstentions()); extra (columns without a role that may be keys).
read_input <- function(data, quos, options) {
  repeats <- options$repeats
  data <- as_columns(data)
  layout <- find_layout(data, quos)
  given <- read_systems(quos, data, layout)
  roles <- find_roles(data, quos, layout, given$columns, repeats)
  if (layout$holds == "raters" && selects_by_pattern(quos$raters)) {
    roles <- resolve_raters(roles, data, "data")
  }
  warn_grouped(if (inherits(data, "grouped_df")) names(attr(data, "groups")), roles)
  for (column in unlist(roles)) check_text(data[[column]], column)
  take <- function(role, clean = clean_levels) {
    if (length(roles[[role]]) > 0L) lapply(unclass(data)[roles[[role]]], clean)
  }
  case <- take("case", unfactor)
  keys <- if (length(case) > 1L) vapply(case, is.numeric, NA)
  case <- if (is.null(keys)) case[[1L]] else join_keys(case)
  input <- list(
    layout = layout, rows = attr(data, "rows"), columns = take("raters"), case = case, keys = keys,
    rater = take("rater")[[1L]], weights = take("weights", identity)[[1L]],
    systems = take("systems"), system_table = given$table, constant = given$constant,
    groups = read_groups(data, quos$rater_groups, roles$rater), truth = take("truth"),
    covariates = take("covariates", identity), confidence = take("confidence"), row_case = case,
    abstain = options$abstain, case_names = if (is.null(case)) attr(data, "case_names"),
    na_given = isTRUE(attr(data, "na_given")) || !is.null(options$na),
    extra = unclass(data)[setdiff(names(data), c(unlist(roles), attr(data, "no_key")))]
  )
  input <- take_abstentions(drop_null(input), options)
  input <- resolve_input_labels(input, options)
  if (!is.null(input$weights)) input$weights <- check_weights(input$weights, roles$weights)
  if (length(given$raters) > 0L) input <- split_systems(input, given$raters, repeats)
  if (repeats == "labels" && layout$by_rating) input <- expand_answers(input)
  input <- resolve_input_labels(input, options) # labels from list columns
  labelled <- c(if (layout$labels) input$columns, input$systems, input$truth,
    prediction = input$system_table["prediction"])
  for (column in names(labelled)) check_labels(labelled[[column]], column)
  check_orders(input$columns)
  input$ordered <- any(vapply(input$columns, is.ordered, NA))
  input
}

# Does the user select columns by a range or a pattern, instead of naming them one by one?
selects_by_pattern <- function(quo) {
  expr <- rlang::quo_get_expr(quo)
  is.call(expr) && !rlang::is_call(expr, "c")
}

# Keeps some rows of long data in `input`; `source` are their numbers in the data.
take_rows <- function(input, rows) {
  for (field in c("case", "rater", "weights")) input[[field]] <- input[[field]][rows]
  fields <- intersect(c("columns", "confidence", "abstained"), names(input))
  input[fields] <- lapply(input[fields], lapply, `[`, rows)
  input$source <- rows
  input
}

# Names of columns by role: raters (or what the layout holds), systems (given, if they are columns),
# case, rater, weights, truth, covariates and confidence.
find_roles <- function(data, quos, layout, systems, repeats) {
  column <- function(arg) select_column(data, quos[[arg]], arg)
  columns <- function(arg) select_columns(data, quos[[arg]], arg)
  by_layout <- if (layout$by_rating) column else columns
  roles <- list(
    raters = NULL, systems = systems %||% character(),
    case = select_column(data, quos$case, "case", several = TRUE), rater = column("rater"),
    weights = column("weights"), truth = column("truth"), covariates = columns("covariates"),
    confidence = by_layout("confidence")
  )
  holds <- layout$holds
  roles$raters <- if (rlang::quo_is_null(quos[[holds]])) {
    setdiff(names(data), unlist(roles))
  } else if (repeats == "labels" && length(columns(holds)) > 1L) { # a column for each label
    columns(holds)
  } else {
    by_layout(holds)
  }
  check_disjoint(roles, holds)
  roles
}

check_orders <- function(columns) {
  orders <- unique(lapply(Filter(is.ordered, columns), levels))
  merged <- unique(unlist(orders))
  off <- Filter(function(order) is.unsorted(match(order, merged)), orders)
  abort_if(off, "columns", "Ordered factors must have their levels in the same order.",
    x = "One has {.val {orders[[1L]]}}, another {.val {off[[1L]]}}.", arg = "raters")
}

as_columns <- function(data) {
  is_matrix <- is.matrix(data) && is.atomic(data) && !is.object(data)
  refuse_scores(data, "data")
  abort_argument_if(!is_matrix && !is.data.frame(data), "data",
    "must be a data frame, or a matrix of cases x raters.", not = data, i = how_to_ratings(data))
  case_names <- if (is_matrix) rownames(data)
  check_text(c(colnames(data), case_names), "data")
  rows <- nrow(data)
  if (is_matrix) {
    if (is.null(colnames(data))) colnames(data) <- numbered("rater", ncol(data))
    data <- as.data.frame(data, stringsAsFactors = FALSE)
  }
  abort_if(rows == 0L, "empty", "{.arg data} has no rows.", i = "At least one case is needed.")
  abort_if(anyDuplicated(names(data)) > 0L, "columns",
    "The columns of {.arg data} must have different names.",
    x = "{.val {repeated_values(names(data))}} {?is/are} repeated.", arg = "data")
  structure(plain_columns(data), rows = rows, is_matrix = is_matrix, case_names = case_names)
}

# Warns of other groups than cases and raters, because they are ignored.
warn_grouped <- function(groups, roles) {
  groups <- setdiff(groups, c(".rows", roles$case, roles$rater))
  warn_if(groups, "grouped",
    "{.arg data} is grouped by {.val {groups}}, and {.fun ratings} pools the groups.",
    i = c("For an estimate per group name the groups in {.arg covariates}, and in {.arg by} of
        {.fun estimate_accuracy}.", "If they are to be pooled, ungroup {.arg data}."),
    groups = groups)
}

find_layout <- function(data, quos) {
  given <- given_roles(quos)
  layouts <- rating_layouts()
  chosen <- Filter(function(layout) any(layout$args %in% given), layouts)
  ask <- "Give {.arg raters} (wide), {.arg case}, {.arg rater} and {.arg rating} (long), or
    {.arg counts}"
  abort_argument_if(length(chosen) > 1L, "data", "The layout of {.arg data} is not clear.",
    i = paste0(ask, ": only one of these."))
  if (length(chosen) == 0L && isTRUE(attr(data, "is_matrix"))) return(layouts[[1L]])
  abort_argument_if(length(chosen) == 0L, "raters",
    "Say which columns of {.arg data} hold the ratings.",
    i = c(paste0(ask, "."), "The columns are {.val {names(data)}}."))
  layout <- chosen[[1L]]
  lacking <- setdiff(layout$args, given)
  if (length(lacking) > 0L) {
    several <- length(or_null(select_columns(data, quos$rater, "rater"))) > 1L
    abort_lacking(lacking[[1L]], i = if (several) {
      "{.arg rater} selects several columns. Did you mean {.arg raters}, a column for each rater?"
    })
  }
  layout
}

# Names of arguments that were given.
given_roles <- function(quos) names(quos)[!vapply(quos, rlang::quo_is_null, NA)]

# Do the arguments describe a table with a row per rating?
is_by_rating <- function(mapping) !any(c("raters", "counts") %in% given_roles(mapping))

# Variables and strings in arguments, which may be names of columns.
names_in <- function(quos) {
  unlist(lapply(lapply(quos, rlang::quo_get_expr), function(expr) {
    c(all.vars(expr), if (is.character(expr)) expr)
  }))
}

# Only long data need several arguments.
abort_lacking <- function(arg, i = NULL) {
  abort_argument(arg, "Long data need {.arg case}, {.arg rater} and {.arg rating}.",
    x = "{.arg {arg}} is not given.", i = i)
}

select_columns <- function(data, quo, arg) {
  if (rlang::quo_is_null(quo)) return(character())
  columns <- names(data)
  fail <- function(cnd) {
    lacking <- if (inherits(cnd, "vctrs_error_subscript_oob")) setdiff(cnd$i, columns)
    known <- is.character(lacking) && length(lacking) > 0L
    abort_fallible("columns", "{.arg {arg}} must select columns of {.arg data}.",
      x = if (known) "There is no column {.val {lacking}}.",
      i = c(if (known) near_values(lacking, columns), "The columns are {.val {columns}}."),
      arg = arg, parent = if (!known) cnd)
  }
  at <- named_columns(rlang::quo_get_expr(quo), columns)
  if (anyNA(at)) {
    at <- tryCatch(
      tidyselect::eval_select(
        quo, as.data.frame(data), allow_rename = FALSE, error_call = user_frame()
      ),
      error = fail
    )
  }
  columns[at]
}

# Positions of columns that are selected by one name or as `first:last`; NA for other selections.
# Package tidyselect, which selects all others, is slow to load.
named_columns <- function(expr, columns) {
  if (is.symbol(expr) || is_string(expr)) return(match(as.character(expr), columns))
  ends <- if (rlang::is_call(expr, ":", 2L)) lapply(expr[-1L], named_columns, columns)
  if (length(ends) == 2L && all(lengths(ends) == 1L) && !anyNA(ends)) ends[[1L]]:ends[[2L]] else NA
}

# The value of an argument; NULL if it can only be evaluated in the data.
value_of_argument <- function(quo) tryCatch(rlang::eval_tidy(quo), error = function(cnd) NULL)

select_column <- function(data, quo, arg, several = FALSE) {
  if (rlang::quo_is_null(quo)) return(NULL)
  # tidyselect would read a vector as numbers of columns.
  is_vector <- rlang::quo_is_call(quo) && !(several && rlang::quo_is_call(quo, "c"))
  value <- if (is_vector) value_of_argument(quo)
  abort_if(is.atomic(value) && length(value) > 1L, "columns",
    "{.arg {arg}} must name a column of {.arg data}.", not = value,
    i = "Put the values into a column of {.arg data} and name that.", arg = arg)
  name <- select_columns(data, quo, arg)
  wrong <- if (several) length(name) == 0L else length(name) != 1L
  abort_if(wrong, "columns", "{.arg {arg}} must select one column of {.arg data}.",
    x = "It selects {length(name)}.",
    i = if (arg == "rating") "If they are one column for each label of an answer, say
        {.code repeats = \"labels\"}.", arg = arg)
  name
}

check_disjoint <- function(roles, holds) {
  names(roles)[[1L]] <- holds
  twice <- repeated_values(unlist(roles, use.names = FALSE))
  in_roles <- names(Filter(function(role) any(twice %in% role), roles))
  abort_if(twice, "columns", "A column of {.arg data} can have only one role.",
    x = "{.val {twice}} {?is/are} selected by {.arg {in_roles}}.", arg = in_roles)
}

# Drops levels that mean missing values, and an empty level if it is not used.
clean_levels <- function(x) {
  if (!is.factor(x) || !any(levels(x) %in% c(NA, ""))) return(x)
  factor(x, levels = setdiff(levels(x), c(NA, if (!"" %in% x) "")))
}

unfactor <- function(x) if (is.factor(x)) as.character(x) else x

check_labels <- function(x, column) {
  abort_if(!(is.factor(x) || is_plain(x, c("character", "numeric", "logical"))), "columns",
    "Categories must be factors, strings, logicals or numbers.",
    x = "Column {.val {column}} is {describe(x)}.",
    i = if (is.list(x)) "If it holds several labels for an answer, say {.code repeats = \"labels\"}
        in long data.", arg = column)
  check_values(x, !is.infinite(x), column, "columns",
    "Categories that are numbers must be finite.", arg = column)
  # Only text can be empty, and comparing all values is slow.
  row <- if (is.character(x) || (is.factor(x) && "" %in% levels(x))) match("", x)
  abort_if(!is.null(row) && !is.na(row), "blank", "A category cannot be an empty string.",
    x = "Found one in column {.val {column}}, row {row}.",
    i = c(
      "If it is a missing rating, use {.code NA}, or {.code na = \"\"} in {.fun ratings}.",
      "{.fun read_ratings} takes empty fields of a file for missing, and so does
       {.code read.csv(file, na.strings = c(\"\", \"NA\"))}."
    ), row = row, column = column)
}

check_weights <- function(x, column) {
  ok <- if (is.numeric(x)) is.finite(x) & x >= 0 else logical(length(x))
  check_values(x, ok, column, "weights", "Weights must be finite numbers of at least zero.")
  abort_if(sum(x) > 2^53, "weights",
    "Weights must not sum to more than 2^53, beyond which cases cannot be counted.",
    x = "Column {.val {column}} sums to {format(sum(x))}.", row = which.max(x))
  abort_if(sum(x) == 0, "weights", "At least one weight must be above zero.",
    x = "All of column {.val {column}} is zero.", row = seq_along(x))
  as.double(x)
}

# Is this a vector of one of these modes without a class or dimensions?
is_plain <- function(x, modes) !is.object(x) && is.null(dim(x)) && mode(x) %in% modes

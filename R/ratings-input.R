# Finds and checks the columns that the user's arguments of ratings() name.

#' @srrstats {G2.10, G2.11, G2.12} columns are taken with `[[`, whatever their class; lists are
#'   refused
#' @importFrom rlang as_name as_quosure call_args call2 cnd_signal enquo enquos env env_bind_lazy
#'   eval_tidy expr have_name is_call is_formula is_named is_quosure new_quosure quo quo_get_expr
#'   quo_is_call quo_is_null quo_is_symbol quo_set_expr rep_named sym syms
#' @importFrom utils adist count.fields file_test tail type.convert unzip
#' @noRd
NULL

max_categories <- 1000L

# Reads the data of a call of ratings(). Returns a list, the `input` of other functions. Elements
# are missing if the user did not give them:
# * layout (its record, see new_layout()); rows (number of rows of the data);
# * columns (list of the columns of ratings or counts); case, rater, weights (columns);
# * keys (if several columns identify a case: a logical vector named by column, TRUE if numeric);
# * row_case (identifier of the case of each row of the data; `case` has fewer rows after
#   split_systems() and more after expand_answers());
# * systems (list of columns), system_table and constant: the systems, see read_systems();
# * groups (see read_groups()); truth (a list of one column); covariates, confidence (lists);
# * ordered (TRUE if a column of ratings is an ordered factor);
# * na_given (TRUE if the user gave `na`); is_file (TRUE if read_ratings() has read `data`);
# * abstain (the argument), abstained and silent (see take_abstentions());
# * extra (columns without a role, which may identify cases, see keys_of_repeats()).
read_input <- function(data, quos, options) {
  repeats <- options$repeats
  data <- as_columns(data)
  layout <- find_layout(data, quos)
  system_input <- read_systems(quos, data, layout)
  roles <- find_role_columns(data, quos, layout, system_input$columns, repeats)
  if (layout$holds == "raters" && selects_by_pattern(quos$raters))
    roles <- resolve_raters(roles, data, "data")
  warn_grouped(if (inherits(data, "grouped_df")) names(attr(data, "groups")), roles)
  for (column in unlist(roles)) check_text(data[[column]], column)
  take_role <- function(role, clean = clean_levels) {
    if (length(roles[[role]]) > 0L) lapply(unclass(data)[roles[[role]]], clean)
  }
  case <- take_role("case", unfactor)
  is_numeric_key <- if (length(case) > 1L) map_lgl(case, is.numeric)
  case <- if (is.null(is_numeric_key)) case[[1L]] else join_keys(case)
  input <- list(
    layout = layout, rows = attr(data, "rows"), columns = take_role("raters"), case = case,
    keys = is_numeric_key, rater = take_role("rater")[[1L]],
    weights = take_role("weights", identity)[[1L]],
    systems = take_role("systems"), system_table = system_input$table,
    constant = system_input$constant,
    groups = read_groups(data, quos$rater_groups, roles$rater), truth = take_role("truth"),
    covariates = take_role("covariates", identity), confidence = take_role("confidence"),
    row_case = case, source = seq_len(attr(data, "rows")), abstain = options$abstain,
    case_names = if (is.null(case)) attr(data, "case_names"),
    is_file = !is.null(attr(data, "na_given")),
    na_given = isTRUE(attr(data, "na_given")) || !is.null(options$na),
    extra = unclass(data)[setdiff(names(data), c(unlist(roles), attr(data, "no_key")))]
  )
  input <- take_abstentions(drop_null(input), options)
  input <- resolve_input_labels(input, options)
  if (!is.null(input$weights)) input$weights <- check_weights(input$weights, roles$weights)
  if (length(system_input$raters) > 0L) input <- split_systems(input, system_input$raters, repeats)
  if (repeats == "labels" && layout$by_rating) input <- expand_answers(input)
  input <- resolve_input_labels(input, options) # again, for the labels in list columns
  label_columns <- c(if (layout$labels) input$columns, input$systems, input$truth,
    prediction = input$system_table["prediction"])
  for (column in names(label_columns)) check_labels(label_columns[[column]], column)
  input$ordered <- any(map_lgl(input$columns, is.ordered))
  orders <- label_orders(input$columns)
  abort_if(input$ordered && is.null(merge_orders(orders, unique(unlist(orders)))), "columns",
    "Ordered factors must have their levels in the same order.",
    x = "Their orders are {.val {map_chr(orders, paste, collapse = ' < ')}}.", arg = "raters")
  input
}

# Does the user select columns by a range or a pattern, instead of naming them one by one?
selects_by_pattern <- function(quo) {
  expr <- quo_get_expr(quo)
  is.call(expr) && !is_call(expr, "c")
}

# Keeps the given rows of long data in `input`, and stores their row numbers in the field `source`.
take_rows <- function(input, rows) {
  for (field in c("case", "rater", "weights")) input[[field]] <- input[[field]][rows]
  fields <- intersect(c("columns", "confidence", "abstained"), names(input))
  input <- modify_fields(input, fields, lapply, `[`, rows)
  input$source <- rows
  input
}

# Returns a list of column names by role. `raters` contains the columns of ratings or counts. The
# other roles are systems (the argument, if systems are columns), case, rater, weights, truth,
# covariates and confidence.
find_role_columns <- function(data, quos, layout, systems, repeats) {
  one_column <- function(arg) select_column(data, quos[[arg]], arg)
  several_columns <- function(arg) select_columns(data, quos[[arg]], arg)
  one_or_several_columns <- if (layout$by_rating) one_column else several_columns
  roles <- list(
    raters = NULL, systems = systems %||% character(),
    case = one_column("case"), rater = one_column("rater"),
    weights = one_column("weights"), truth = one_column("truth"),
    covariates = several_columns("covariates"), confidence = one_or_several_columns("confidence")
  )
  ratings_argument <- layout$holds
  roles$raters <- if (quo_is_null(quos[[ratings_argument]])) {
    setdiff(names(data), unlist(roles))
  } else if (repeats == "labels" && length(several_columns(ratings_argument)) > 1L) {
    # With several labels per answer, there may be a column of 0 and 1 for each label.
    several_columns(ratings_argument)
  } else {
    one_or_several_columns(ratings_argument)
  }
  repeated <- repeated_values(unlist(roles, use.names = FALSE))
  in_roles <- names(Filter(function(role) any(repeated %in% role), roles))
  in_roles[in_roles == "raters"] <- ratings_argument
  abort_if(repeated, "columns", "A column of {.arg data} can have only one role.",
    x = "{.val {repeated}} {?is/are} selected by {.arg {in_roles}}.",
    i = if (length(roles$case) > 1L && setequal(in_roles, c("case", "covariates"))) "Several columns
        of {.arg case} are covariates, too: leave them out of {.arg covariates}.", arg = in_roles)
  roles
}

as_columns <- function(data) {
  is_matrix <- is.matrix(data) && is.atomic(data) && !is.object(data)
  refuse_evaluatellm(data, "data")
  abort_argument_if(!is_matrix && !is.data.frame(data), "data",
    "must be a data frame, or a matrix of cases x raters.", not = data, i = conversion_hint(data))
  case_names <- if (is_matrix) rownames(data)
  check_text(c(colnames(data), case_names), "data")
  n_rows <- nrow(data)
  if (is_matrix) {
    if (is.null(colnames(data))) colnames(data) <- numbered_names("rater", ncol(data))
    data <- as.data.frame(data, stringsAsFactors = FALSE)
  }
  abort_if(n_rows == 0L, "empty", "{.arg data} has no rows.", i = "At least one case is needed.")
  abort_if(anyDuplicated(names(data)) > 0L, "columns",
    "The columns of {.arg data} must have different names.",
    x = "{.val {repeated_values(names(data))}} {?is/are} repeated.", arg = "data")
  structure(plain_columns(data), rows = n_rows, is_matrix = is_matrix, case_names = case_names)
}

# Warns if `data` is grouped by other columns than cases and raters, because the groups are ignored.
# `groups`: names of the grouping columns.
warn_grouped <- function(groups, roles) {
  groups <- setdiff(groups, c(".rows", roles$case, roles$rater))
  warn_if(groups, "grouped",
    "{.arg data} is grouped by {.val {groups}}, and {.fun ratings} pools the groups.",
    i = c("For an estimate per group, give the columns as {.arg covariates}, and use them in
        {.arg by} of {.fun estimate_accuracy}.",
      "To pool the groups without this warning, use {.code dplyr::ungroup(data)}."),
    groups = groups)
}

find_layout <- function(data, quos) {
  given_arguments <- given_argument_names(quos)
  layouts <- rating_layouts()
  candidates <- Filter(function(layout) any(layout$args %in% given_arguments), layouts)
  how_to <- "Give {.arg raters} (wide), {.arg case}, {.arg rater} and {.arg rating} (long), or
    {.arg counts}"
  abort_argument_if(length(candidates) > 1L, "data",
    "The arguments describe several layouts of {.arg data}.",
    i = paste0(how_to, ", but only one of these."))
  if (length(candidates) == 0L && isTRUE(attr(data, "is_matrix"))) return(layouts[[1L]])
  abort_argument_if(length(candidates) == 0L, "raters",
    "Say which columns of {.arg data} hold the ratings.",
    i = c(paste0(how_to, "."), "The columns are {.val {names(data)}}."))
  layout <- candidates[[1L]]
  missing_arguments <- setdiff(layout$args, given_arguments)
  if (length(missing_arguments) > 0L) {
    rater_is_several <- length(or_null(select_columns(data, quos$rater, "rater"))) > 1L
    abort_lacking(missing_arguments[[1L]], i = if (rater_is_several)
      "{.arg rater} selects several columns. Did you mean {.arg raters}, a column for each rater?")
  }
  layout
}

# Names of the arguments in `quos` (a list of quosures) that the user gave.
given_argument_names <- function(quos) names(quos)[!map_lgl(quos, quo_is_null)]

# Do the arguments describe long data, with a row per rating? If neither `raters` nor `counts` is
# given, read_ratings() assumes long data.
describes_long_data <- function(quos) !any(c("raters", "counts") %in% given_argument_names(quos))

# Names of variables and strings in the expressions `quos`, such as c(a, "b"). Any of them may be
# the name of a column.
names_in <- function(quos) {
  unlist(lapply(lapply(quos, quo_get_expr), function(expr) {
    c(all.vars(expr), unlist(Filter(is.character, as.list(expr))))
  }))
}

# Fails because `arg` is missing. Only long data need several arguments.
abort_lacking <- function(arg, i = NULL) {
  abort_argument(arg, "Long data need {.arg case}, {.arg rater} and {.arg rating}.",
    x = "{.arg {arg}} is not given.", i = i)
}

select_columns <- function(data, quo, arg, notes = NULL) {
  if (quo_is_null(quo)) return(character())
  columns <- names(data)
  fail <- function(cnd) {
    unknown <- if (inherits(cnd, "vctrs_error_subscript_oob")) setdiff(cnd$i, columns)
    names_are_known <- is.character(unknown) && length(unknown) > 0L
    abort_fallible("columns", "{.arg {arg}} must select columns of {.arg data}.",
      x = if (names_are_known) "There is no column {.val {unknown}}.",
      i = c(
        if (names_are_known) similar_values_hint(unknown, columns),
        "The columns are {.val {columns}}.", escape_braces(notes)
      ),
      arg = arg, parent = if (!names_are_known) cnd)
  }
  positions <- positions_by_name(quo_get_expr(quo), columns)
  if (anyNA(positions)) {
    positions <- tryCatch(
      tidyselect::eval_select(
        quo, as.data.frame(data), allow_rename = FALSE, error_call = user_frame()
      ),
      error = fail
    )
  }
  columns[positions]
}

# Positions of the columns that an expression selects by one name or as `first:last`; NA for any
# other expression. These selections do not need package tidyselect, which is slow to load.
positions_by_name <- function(expr, columns) {
  if (is.symbol(expr) || is_string(expr)) return(match(as.character(expr), columns))
  ends <- if (is_call(expr, ":", 2L)) lapply(expr[-1L], positions_by_name, columns)
  if (length(ends) == 2L && all(lengths(ends) == 1L) && !anyNA(ends)) ends[[1L]]:ends[[2L]] else NA
}

# The value of an argument; NULL if its evaluation fails, because it names columns of the data.
value_of_argument <- function(quo) tryCatch(eval_tidy(quo), error = function(cnd) NULL)

select_column <- function(data, quo, arg) {
  if (quo_is_null(quo)) return(NULL)
  several <- arg == "case" # several columns can identify a case
  # Fails for a vector of values, which tidyselect would read as positions of columns.
  value <- if (quo_is_call(quo) && !(several && quo_is_call(quo, "c"))) value_of_argument(quo)
  abort_if(is.atomic(value) && length(value) > 1L, "columns",
    "{.arg {arg}} must name a column of {.arg data}.", not = value,
    i = "Put the values into a column of {.arg data}, and give the name of the column.", arg = arg)
  name <- select_columns(data, quo, arg)
  has_wrong_number <- if (several) length(name) == 0L else length(name) != 1L
  abort_if(has_wrong_number, "columns", "{.arg {arg}} must select one column of {.arg data}.",
    x = "It selects {length(name)}.",
    i = if (arg == "rating") "If there is a column for each label of an answer, give
        {.code repeats = \"labels\"}.", arg = arg)
  name
}

# Drops the level NA of a factor, and the level "" if no value has it.
clean_levels <- function(x) {
  if (!any(levels(x) %in% c(NA, ""))) x else
    factor(x, setdiff(levels(x), c(NA, if (!"" %in% x) "")))
}

unfactor <- function(x) if (is.factor(x)) as.character(x) else x

check_labels <- function(x, column) {
  abort_if(!(is.factor(x) || is_plain(x, c("character", "numeric", "logical"))), "columns",
    "Categories must be factors, strings, logicals or numbers.",
    x = "Column {.val {column}} is {describe(x)}.",
    i = if (is.list(x)) "If each element contains the labels of an answer, give
        {.code repeats = \"labels\"}.", arg = column)
  check_values(x, !is.infinite(x), column, "columns",
    "Categories that are numbers must be finite.", arg = column)
  # Looks for "" only in strings and in factors that have such a level, because this is slow.
  blank_row <- if (is.character(x) || "" %in% levels(x)) match("", x)
  abort_if(isTRUE(blank_row > 0L), "blank",
    "A category cannot be an empty string.",
    x = "Found one in column {.val {column}}, row {blank_row}.",
    i = c(
      "If it is a missing rating, use {.code NA}, or {.code na = \"\"} in {.fun ratings}.",
      "To read empty fields of a file as {.code NA}, use {.fun read_ratings} or
       {.code read.csv(file, na.strings = c(\"\", \"NA\"))}."
    ), row = blank_row, column = column)
}

check_weights <- function(x, column) {
  is_valid <- if (is.numeric(x)) is.finite(x) & x >= 0 else logical(length(x))
  check_values(x, is_valid, column, "weights", "Weights must be finite numbers of at least zero.")
  abort_if(sum(x) > 2^53, "weights",
    "Weights must not sum to more than 2^53, because larger sums are not exact.",
    x = "Column {.val {column}} sums to {format(sum(x))}.", row = which.max(x))
  abort_if(sum(x) == 0, "weights", "At least one weight must be above zero.",
    x = "All weights in column {.val {column}} are zero.", row = seq_along(x))
  as.double(x)
}

# Is `x` a vector of one of the modes, without a class and without dimensions?
is_plain <- function(x, modes) !is.object(x) && is.null(dim(x)) && mode(x) %in% modes

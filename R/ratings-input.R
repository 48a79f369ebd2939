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

# Reads the data of a call of ratings(). Returns a list, which other functions call `input`.
# Elements are absent if the user did not give them:
# * layout: record of the layout, see new_layout().
# * rows: number of rows of the data. In wide data, without rows that drop_copied_rows() left out.
# * columns: list of the columns of ratings or counts.
# * case, rater, weights: columns. Without a column, `case` contains the row names of a matrix.
# * keys: if several columns identify a case, is each of these columns numeric?
# * row_case: identifier of the case of each row of the data, before rows are dropped or repeated.
# * source: row number in the data of each element of `case`.
# * systems: list of columns of systems.
# * system_rows: only if raters of long data are systems. The input with only the rows of systems.
# * system_table, constant: other forms of systems, see read_systems().
# * groups: see read_groups().
# * truth: a list of one column.
# * covariates, confidence: lists of columns.
# * ordered: is a column of ratings an ordered factor?
# * na: labels that mean missing ratings.
# * copies: number of copies of rows that drop_copied_rows() left out.
# * abstain, given_categories: the arguments `abstain` and `categories`.
# * abstained, silent: see record_abstentions().
# * data: the data frame.
# * extra: columns without a role, see columns_of_repeats(). Columns with the ratings of other
#   variables of a codebook are not included.
read_input <- function(data, quos, options) {
  repeats <- options$repeats
  data <- as_columns(data)
  layout <- find_layout(data, quos)
  system_input <- read_systems(quos, data, layout)
  roles <- find_role_columns(data, quos, layout, system_input$columns, repeats)
  raters_expr <- quo_get_expr(quos$raters)
  # If the user selects raters by a range or by a function such as starts_with(), some of the
  # selected columns may not be raters. These columns get other roles.
  if (layout$ratings_argument == "raters" && is.call(raters_expr) &&
    !is_call(raters_expr, "c"))
    roles <- reassign_rater_columns(roles, data, "data")
  warn_grouped(if (inherits(data, "grouped_df")) names(attr(data, "groups")), roles)
  for (column in unlist(roles)) check_text(data[[column]], column)
  columns_of_role <- function(role, clean = clean_levels) {
    if (!is_empty(roles[[role]])) lapply(unclass(data)[roles[[role]]], clean)
  }
  case_columns <- columns_of_role("case", unfactor)
  is_numeric_key <- if (length(case_columns) > 1L) map_lgl(case_columns, is.numeric)
  case_ids <- if (is.null(is_numeric_key)) case_columns[[1L]] else join_keys(case_columns)
  input <- c(list(
    layout = layout, rows = attr(data, "rows"), columns = layout$split(columns_of_role("raters")),
    case = case_ids %||% attr(data, "row_names"), keys = is_numeric_key,
    rater = columns_of_role("rater")[[1L]],
    weights = columns_of_role("weights", identity)[[1L]],
    systems = columns_of_role("systems"), system_table = system_input$table,
    constant = system_input$constant,
    groups = read_groups(data, quos$rater_groups, roles$rater), truth = columns_of_role("truth"),
    covariates = columns_of_role("covariates", identity),
    row_case = case_ids, source = seq_len(attr(data, "rows")), abstain = options$abstain,
    na = c(attr(data, "na_labels"), as_label(options$na)),
    data = data, extra = unclass(data)[setdiff(names(data), c(unlist(roles), attr(data, "no_key"),
      attr(quo_get_expr(quos$rating), "variables")))]
  ), Map(columns_of_role, names(rating_roles)))
  input <- record_abstentions(drop_null(input), options)
  input <- resolve_input_labels(input, options)
  if (!is.null(input$weights)) input$weights <- check_weights(input$weights, roles$weights)
  # Copies are not dropped if read_ratings() has read only the used columns of a file. Rows that are
  # equal in these columns may differ in the other columns.
  if (!is.null(input$case) && repeats != "labels" && !isTRUE(attr(data, "is_partial")))
    input <- drop_copied_rows(input, repeats)
  if (!is_empty(system_input$raters)) input <- split_systems(input, system_input$raters, repeats)
  if (repeats == "labels" && layout$by_rating) input <- expand_answers(input)
  input <- resolve_input_labels(input, options) # again, for the labels in list columns
  columns_to_check <- label_columns(input)
  for (column in names(columns_to_check)) {
    labels <- columns_to_check[[column]]
    check_labels(labels, column, data_rows(labels, input))
  }
  input$ordered <- any(map_lgl(input$columns, is.ordered))
  level_orders <- label_orders(input$columns)
  abort_if(
    input$ordered && is.null(merge_orders(level_orders, unique(unlist(level_orders)))), "columns",
    "Ordered factors must have their levels in the same order.",
    x = "Their orders are {.val {map_chr(level_orders, paste, collapse = ' < ')}}.", arg = "raters")
  input
}

# Keeps the given rows of the columns in `input`, and updates `source`, their row numbers in the
# data. In long data, `systems`, `truth` and `covariates` keep all rows.
keep_rows <- function(input, rows) {
  for (field in c("case", "rater", "weights")) input[[field]] <- input[[field]][rows]
  row_fields <- c("columns", entry_fields(input))
  if (!input$layout$by_rating) {
    row_fields <-
      c(row_fields, intersect(c("systems", "truth", "covariates", "silent"), names(input)))
    input$rows <- length(rows)
    input$data <- input$data[rows, , drop = FALSE]
  }
  input <- modify_fields(input, row_fields, lapply, `[`, rows)
  input$source <- input$source[rows]
  input
}

# Returns the row number, in the user's data, of each element of `column`. Some columns of `input`
# contain only the rows that keep_rows() kept, and others contain all rows.
data_rows <- function(column, input) {
  if (length(column) == length(input$source)) input$source else seq_along(column)
}

# Drops copies of earlier rows, with a warning. Keeps all rows in two situations:
# * `repeats` is "error", and ratings that are not copies are repeated. ratings() then fails later.
# * `repeats` is "ratings" or "reruns", and the copies may be repeated ratings, too. This is assumed
#   unless a column, such as a run number, differs between all repeated ratings that are not copies.
drop_copied_rows <- function(input, repeats) {
  # Numbers the combinations of case and rater, as doubles, because integers could overflow.
  raters <- input$rater %||% 1
  answer_of_row <- match(input$case, input$case) + as.double(input$rows) * match(raters, raters)
  is_reply <- !is.na(input$columns[[1L]]) | (input$abstained[[1L]] %||% 0L) > 0L |
    !input$layout$by_rating
  if (!any_repeated(answer_of_row[is_reply]) || repeats != "error" && is_empty(input$extra))
    return(input)
  # Cases are compared, too, because they may be row names of a matrix, which are not in `data`.
  is_copy <- duplicated(list2DF(c(list(answer_of_row), input$data)))
  is_used <- is_reply & !is_copy
  used_answers <- answer_of_row[is_used]
  n_repeated_answers <- sum(duplicated(used_answers))
  run_columns <- if (repeats != "error" && any(is_copy)) names(Filter(function(column) {
    is.atomic(column) && !any_repeated(data.frame(used_answers, column[is_used]))
  }, input$extra))
  # Keeps all rows if some repeated ratings are not copies, and no column distinguishes them. Unless
  # `repeats` is "error", also keeps all rows if copies outnumber these ratings.
  if (n_repeated_answers > 0L && is_empty(run_columns) ||
    repeats != "error" && n_repeated_answers < sum(is_copy)) return(input)
  warn_fallible("left_out", note_left_out(is_copy, "row", "identical to another row"),
    i = if (repeats == "error")
      "If these are independent repeats, give data with a row per rating, and
        {.code repeats = \"ratings\"}."
    else "Repeated ratings differ in {.val {run_columns}}, but identical rows do not.")
  input$copies <- sum(is_copy)
  keep_rows(input, which(!is_copy))
}

# Returns a list with a vector of column names for each role. The role `raters` contains the columns
# of ratings or counts. The other roles have the names of arguments of ratings(). `systems`: names
# of the columns of systems.
find_role_columns <- function(data, quos, layout, systems, repeats) {
  select_one <- function(arg) select_column(data, quos[[arg]], arg)
  select_several <- function(arg) select_columns(data, quos[[arg]], arg)
  select_by_layout <- if (layout$by_rating) select_one else select_several
  roles <- list(
    raters = NULL, systems = systems %||% character(),
    case = select_one("case"), rater = select_one("rater"),
    weights = select_one("weights"), truth = select_one("truth"),
    covariates = select_several("covariates")
  )
  for (role in names(rating_roles)) roles[[role]] <- select_by_layout(role)
  if (layout$by_rating && is.null(roles$case)) abort_missing_argument("case")
  ratings_argument <- layout$ratings_argument
  roles$raters <- if (quo_is_null(quos[[ratings_argument]])) {
    setdiff(names(data), unlist(roles))
  } else if (repeats == "labels" && length(select_several(ratings_argument)) > 1L) {
    # With several labels per answer, there may be a column of 0 and 1 for each label.
    select_several(ratings_argument)
  } else {
    select_by_layout(ratings_argument)
  }
  repeated_columns <- repeated_values(unlist(roles, use.names = FALSE))
  roles_of_repeated_columns <- names(Filter(function(role) any(repeated_columns %in% role), roles))
  roles_of_repeated_columns[roles_of_repeated_columns == "raters"] <- ratings_argument
  abort_if(repeated_columns, "columns", "A column of {.arg data} can have only one role.",
    x = "{.val {repeated_columns}} {?is/are} selected by {.arg {roles_of_repeated_columns}}.",
    i = if (length(roles$case) > 1L && setequal(roles_of_repeated_columns, c("case", "covariates")))
      "If {.arg case} selects several columns, they are automatically used as covariates. Leave
       {.val {repeated_columns}} out of {.arg covariates}."
    else if (ratings_argument %in% roles_of_repeated_columns)
      "Leave {.val {repeated_columns}} out of {.arg {ratings_argument}}.",
    arg = roles_of_repeated_columns)
  roles
}

as_columns <- function(data) {
  is_matrix <- is.matrix(data) && is.atomic(data) && !is.object(data)
  refuse_evaluatellm(data, "data")
  abort_argument_if(!is_matrix && !is.data.frame(data), "data",
    "must be a data frame, or a matrix of cases x raters.", not = data, i = conversion_hint(data))
  row_names <- if (is_matrix) rownames(data)
  check_text(c(colnames(data), row_names), "data")
  n_rows <- nrow(data)
  if (is_matrix) {
    if (is.null(colnames(data))) colnames(data) <- numbered_names("rater", ncol(data))
    data <- as.data.frame(data)
  }
  abort_if(n_rows == 0L, "empty", "{.arg data} has no rows.", i = "At least one case is needed.")
  abort_if(any_repeated(names(data)), "columns",
    "The columns of {.arg data} must have different names.",
    x = "{.val {repeated_values(names(data))}} {?is/are} repeated.", arg = "data")
  structure(plain_columns(data), rows = n_rows, is_matrix = is_matrix, row_names = row_names)
}

# Warns if `data` is a grouped data frame, because ratings() ignores the groups. Grouping by
# case or rater gives no warning. `groups`: names of the grouping columns.
warn_grouped <- function(groups, roles) {
  pooled_groups <- setdiff(groups, c(".rows", roles$case, roles$rater))
  warn_if(pooled_groups, "grouped",
    "{.arg data} is grouped by {.val {pooled_groups}}, and {.fun ratings} pools the groups.",
    i = c("For an estimate per group, give the columns as {.arg covariates}, and use them in
        {.arg by} of {.fun estimate_accuracy}.",
      "To pool the groups without this warning, use {.code dplyr::ungroup(data)}."),
    groups = pooled_groups)
}

find_layout <- function(data, quos) {
  given_arguments <- given_argument_names(quos)
  layouts <- rating_layouts()
  matching_layouts <- layouts_with_arguments(given_arguments)
  layout_hint <- paste("Give", toString(map_chr(layouts, `[[`, "words")))
  abort_argument_if(length(matching_layouts) > 1L, "data",
    "The arguments describe several layouts of {.arg data}.",
    i = paste0(layout_hint, ", but only one of these."))
  if (is_empty(matching_layouts) && isTRUE(attr(data, "is_matrix"))) return(layouts[[1L]])
  abort_argument_if(is_empty(matching_layouts), "raters",
    "The arguments must select the columns of {.arg data} that contain ratings.",
    i = c(paste0(layout_hint, "."), "The columns are {.val {names(data)}}."))
  layout <- matching_layouts[[1L]]
  missing_arguments <- setdiff(layout$args, given_arguments)
  if (!is_empty(missing_arguments)) {
    selects_several_raters <- length(or_null(select_columns(data, quos$rater, "rater"))) > 1L
    abort_missing_argument(missing_arguments[[1L]], i = if (selects_several_raters)
      "{.arg rater} selects several columns. Did you mean {.arg raters}, a column for each rater?")
  }
  layout
}

# Returns the layouts, see new_layout(), that are described by any of the arguments `names`.
layouts_with_arguments <- function(names) {
  Filter(function(layout) any(layout$args %in% names), rating_layouts())
}

# Returns the names of the arguments in `quos` (a list of quosures) that the user gave.
given_argument_names <- function(quos) names(quos)[!map_lgl(quos, quo_is_null)]

# Do the arguments describe long data, with a row per rating? This is assumed if no argument for
# another layout is given, such as `raters` or `counts`.
describes_long_data <- function(quos) {
  all(map_lgl(layouts_with_arguments(given_argument_names(quos)), `[[`, "by_rating"))
}

# Returns the possible names of columns in `quos`: variables and strings, as in c(a, "b").
names_in_expressions <- function(quos) {
  unlist(lapply(lapply(quos, quo_get_expr), function(expr) {
    c(all.vars(expr), unlist(Filter(is.character, as.list(expr))))
  }))
}

# Fails because the user did not give `arg`, an argument that long data need.
abort_missing_argument <- function(arg, i = NULL) {
  abort_argument(arg, "Long data need {.arg case}, {.arg rater} and {.arg rating}.",
    x = "{.arg {arg}} is not given.", i = i)
}

select_columns <- function(data, quo, arg, notes = NULL) {
  if (quo_is_null(quo)) return(character())
  column_names <- names(data)
  abort_selection <- function(cnd) {
    unknown_names <- if (inherits(cnd, "vctrs_error_subscript_oob")) setdiff(cnd$i, column_names)
    has_unknown_names <- is.character(unknown_names) && !is_empty(unknown_names)
    abort_fallible("columns", "{.arg {arg}} must select columns of {.arg data}.",
      x = if (has_unknown_names) "There is no column {.val {unknown_names}}.",
      i = c(
        if (has_unknown_names) similar_values_hint(unknown_names, column_names),
        "The columns are {.val {column_names}}.", escape_braces(notes)
      ),
      arg = arg, parent = if (!has_unknown_names) cnd)
  }
  positions <- positions_by_name(quo_get_expr(quo), column_names)
  if (anyNA(positions)) {
    positions <- tryCatch(
      tidyselect::eval_select(
        quo, as.data.frame(data), allow_rename = FALSE, error_call = user_frame()
      ),
      error = abort_selection
    )
  }
  column_names[positions]
}

# Returns the positions of the columns that `expr` selects by one name or as `first:last`. Returns
# NA for other expressions. They are evaluated by package tidyselect, which is slow to load.
positions_by_name <- function(expr, columns) {
  if (is.symbol(expr) || is_string(expr)) return(match(as.character(expr), columns))
  range_ends <- if (is_call(expr, ":", 2L)) lapply(expr[-1L], positions_by_name, columns)
  is_range <- length(range_ends) == 2L && all(lengths(range_ends) == 1L) && !anyNA(range_ends)
  if (is_range) range_ends[[1L]]:range_ends[[2L]] else NA
}

# Returns the value of an argument; NULL if it cannot be evaluated, such as names of columns.
value_of_argument <- function(quo) tryCatch(eval_tidy(quo), error = function(cnd) NULL)

select_column <- function(data, quo, arg) {
  if (quo_is_null(quo)) return(NULL)
  allows_several <- arg == "case" # several columns can identify a case
  # Fails for a vector of values, which tidyselect would read as positions of columns.
  argument_value <- if (quo_is_call(quo) && !(allows_several && quo_is_call(quo, "c")))
    value_of_argument(quo)
  abort_if(is.atomic(argument_value) && length(argument_value) > 1L, "columns",
    "{.arg {arg}} must name a column of {.arg data}.", not = argument_value,
    i = "Put the values into a column of {.arg data}, and give the name of the column.", arg = arg)
  selected_names <- select_columns(data, quo, arg)
  has_wrong_number <- if (allows_several) is_empty(selected_names) else length(selected_names) != 1L
  abort_if(has_wrong_number, "columns", "{.arg {arg}} must select one column of {.arg data}.",
    x = "It selects {length(selected_names)}.",
    i = if (arg == "rating") "If there is a column for each label of an answer, give
        {.code repeats = \"labels\"}.", arg = arg)
  selected_names
}

# Drops the level NA of a factor, and the level "" if no value has it.
clean_levels <- function(x) {
  if (!any(levels(x) %in% c(NA, ""))) x else
    factor(x, setdiff(levels(x), c(NA, if (!"" %in% x) "")))
}

unfactor <- function(x) if (is.factor(x)) as.character(x) else x

check_labels <- function(x, column, rows = seq_along(x)) {
  abort_if(!(is.factor(x) || is_plain(x, c("character", "numeric", "logical"))), "columns",
    "Categories must be factors, strings, logicals or numbers.",
    x = "Column {.val {column}} is {describe(x)}.",
    i = if (is.list(x)) "If each element contains the labels of an answer, give
        {.code repeats = \"labels\"}.", arg = column)
  check_values(x, !is.infinite(x), column, "columns",
    "Categories that are numbers must be finite.", arg = column, rows = rows)
  # Only strings, and factors with a level "", are searched for "", because the search is slow.
  blank_row <- if (is.character(x) || "" %in% levels(x)) rows[match("", x)]
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

# Finds the systems in files that read_ratings() reads. Returns a list with one of these elements:
# * columns: value for the argument `systems` of ratings(); NULL without systems.
# * table: a data frame of predictions.
# * ratings: if the user gave `systems = FALSE`, the table of ratings `contents$table` without the
#   rows of systems.
find_systems <- function(quo, contents, mapping, settings) {
  is_long <- describes_long_data(mapping)
  raters <- if (is_long)
    contents$table[[select_column(list2DF(contents$table), mapping$rater, "rater")]]
  argument_value <- or_null(eval_tidy(quo))
  systems <- contents$map$systems
  is_path <- is_string(argument_value) && !is_constant_system(argument_value) &&
    !argument_value %in% c(raters, if (!is_long) names(contents$table)) &&
    (is_long || file.exists(argument_value))
  path <- if (is_path) argument_value else if (isTRUE(argument_value) && contents$format$tabular)
    find_file(dirname(names(contents$files)[[1L]]), "systems")
  if (!is.null(path)) return(list(table = read_predictions(path, raters, settings)))
  if (is.data.frame(argument_value)) return(list(table = argument_value))
  if (isTRUE(argument_value)) return(list(columns = if (!is_empty(systems)) systems))
  if (isFALSE(argument_value))
    return(list(ratings = lapply(contents$table, `[`, if (is_long) !raters %in% systems else TRUE)))
  list(columns = if (is_constant_system(argument_value) || (is_long && !is.null(argument_value)))
    argument_value else quo)
}

# Replaces empty identifiers of cases and raters by NA, so that ratings() fails and reports them.
blank_ids_to_na <- function(table, columns) {
  modify_fields(table, c(columns$case, columns$rater), function(x) {
    distinct_ids <- unique(x)
    blank_ids <- if (is.character(x)) distinct_ids[trim_bytes(distinct_ids) %in% c("", "NA")]
    replace(x, x %in% blank_ids, NA)
  })
}

# Layouts of data are wide data, long data and counts. Each layout has a record, and a function that
# builds the fields of a ratings object.

# Returns the record of a layout, a list:
# * args: names of the arguments of ratings() that select this layout. All of them are needed.
# * build: function that returns the fields of a ratings object. Its arguments are the input (see
#   read_input()), the categories and the systems (see list_systems()).
# * ratings_argument: name of the argument that selects the columns of ratings or of counts.
# * labels: do columns of ratings contain labels of categories (TRUE) or counts (FALSE)?
# * by_rating: is a row a rating (TRUE) or a case (FALSE)?
# * class: class of the ratings object.
# * words: the arguments to give, in messages that list all layouts.
# * split: function that is applied to the list of columns of ratings or counts.
new_layout <- function(args, build, labels = TRUE, by_rating = FALSE, class = "ratings",
                       ratings_argument = args[[length(args)]],
                       words = sprintf("{.arg %s}", ratings_argument), split = identity) {
  as.list(environment())
}

# Returns the records of wide data, long data and counts.
rating_layouts <- function() {
  list(
    new_layout("raters", build_wide, words = "{.arg raters} (wide)"),
    new_layout(c("rater", "rating"), build_long, by_rating = TRUE,
      words = "{.arg case}, {.arg rater} and {.arg rating} (long)"),
    new_layout("counts", build_counts, labels = FALSE, class = "ratings_counts",
      words = "or {.arg counts}")
  )
}

build_wide <- function(input, categories, systems) {
  columns <- lapply(input$columns, encode_labels, categories, input)
  n_cases <- length(systems$cases)
  # Cases that only systems answered are the last ones. Their ratings are NA.
  columns <- lapply(columns, `length<-`, n_cases)
  ratings_fields(
    core_patterns_wide(columns, systems$columns, n_cases), systems, input, categories,
    names(columns)
  )
}

build_counts <- function(input, categories, systems) {
  columns <- Map(check_counts, input$columns, names(input$columns), list(input$source))
  columns[setdiff(categories, names(columns))] <- list(integer(input$rows))
  unknown_columns <- setdiff(names(columns), categories)
  abort_if(unknown_columns, "category",
    "The name of every column of {.arg counts} must be one of {.arg categories}.",
    x = "{.val {unknown_columns}} {?is/are} not among {.val {categories}}.",
    column = unknown_columns, found = unknown_columns)
  n_cases <- length(systems$cases)
  # Cases that only systems answered are the last ones. Their counts are 0.
  columns <- lapply(columns[categories], function(x) c(x, integer(n_cases - length(x))))
  raters <- as.character(seq_len(max(Reduce(`+`, columns))))
  ratings_fields(
    core_patterns_counts(columns, systems$columns, n_cases), systems, input, categories, raters
  )
}

build_long <- function(input, categories, systems) {
  raters <- rater_labels(input$rater)
  case <- match(input$case, systems$cases)
  category <- encode_labels(input$columns[[1L]], categories, input)
  if (!is.null(input$weights)) {
    input$weights <- values_by_case(input$weights, case, systems$cases, "weights",
      "A case must have the same weight in all its rows.", "weights", rows = input$source)
  }
  rater <- label_codes(input$rater, raters)
  fields <- ratings_fields(
    core_patterns_long(case, rater, category, systems$columns, length(systems$cases)), systems,
    input, categories, raters
  )
  if (any(input$empty))
    fields$empty_answers <- list(case = case[input$empty], rater = rater[input$empty])
  fields
}

ratings_fields <- function(core_patterns, systems, input, categories, raters) {
  set_core_patterns(list(
    patterns = NULL, index = NULL, cases = systems$cases, weights = input$weights,
    times = input$times, raters = raters, categories = categories,
    systems = names(systems$columns) %||% character()
  ), core_patterns)
}

case_identifiers <- function(input) {
  if (input$layout$by_rating) {
    check_case_and_rater(input)
    return(unique(input$case))
  }
  if (is.null(input$case)) return(seq_len(input$rows))
  check_identifiers(input$case, "case", rows = input$source)
  repeated_row <- anyDuplicated(input$case)
  abort_if(repeated_row > 0L, "case", "Every row must be a different case.",
    x = "Row {repeated_row} repeats case {.val {as.character(input$case[[repeated_row]])}}.",
    i = c("If the data have a row per rating, give {.arg rater} and {.arg rating}.",
      "Otherwise keep only one of the rows."), row = repeated_row)
  input$case
}

# Fails if identifiers are not strings, a factor or numbers. Also fails if an identifier is missing.
# Blank identifiers are errors, too, unless `blank_is_known` is TRUE. `arg`: name of the argument,
# for messages.
check_identifiers <- function(x, arg, blank_is_known = FALSE, rows = seq_along(x)) {
  abort_if(!(is.factor(x) || is_plain(x, c("character", "numeric"))), "columns",
    "{.arg {arg}} must be strings, a factor or numbers.", x = "It is {describe(x)}.",
    i = if (inherits(x, "integer64")) "It has numbers of 2^53 or more. Load {.pkg bit64}, or convert
        {.arg {arg}} with {.fun as.character}.", arg = arg)
  distinct_labels <-
    if (!blank_is_known) if (is.factor(x)) levels(x) else if (is.character(x)) unique(x)
  blank_labels <- grep("^\\s*$", distinct_labels, perl = TRUE, value = TRUE)
  bad_rows <- rows[if (!is_empty(blank_labels)) is.na(x) | x %in% blank_labels else is.na(x)]
  abort_if(bad_rows, "case", "{.arg {arg}} must be known in every row.",
    x = "It is missing in {length(bad_rows)} row{?s}, first in row {bad_rows[[1L]]}.",
    row = bad_rows)
}

check_case_and_rater <- function(input) {
  for (arg in c("case", "rater")) check_identifiers(input[[arg]], arg, rows = input$source)
}

rater_labels <- function(x) column_labels(if (is.factor(x)) droplevels(x) else x)

# Returns the value of `x` for each case in `cases`, NA if it is unknown. Fails with `message` if
# rows of the same case have different known values.
# * x: a value per row of long data.
# * case: index in `cases` of the case of each row.
# * column: name of the column `x`, for the message.
# * rows: number of each row in the data of the user, for the message.
values_by_case <- function(x, case, cases, column, message, topic = "case", i = NULL,
                           rows = seq_along(x)) {
  known_rows <- which(!is.na(x) & !is.na(case))
  first_row <- known_rows[match(seq_along(cases), case[known_rows])]
  conflicts <- known_rows[x[known_rows] != x[first_row[case[known_rows]]]]
  if (is_empty(conflicts)) return(x[first_row])
  case_number <- case[conflicts[[1L]]]
  row_pair <- c(first_row[case_number], conflicts[[1L]]) # nolint: object_usage.
  abort_fallible(topic, message,
    x = "Rows {rows[row_pair[1L]]} and {rows[row_pair[2L]]} of {.val {column}} are of the same
        case {.val {as_label(cases[case_number])}}, but have the values {.val {x[row_pair[1L]]}} and
        {.val {x[row_pair[2L]]}}.",
    i = i, row = rows[conflicts], column = column)
}

# Returns the position in `x$cases` of the case of each row of the data.
case_of_rows <- function(input, x) {
  if (input$layout$by_rating) match(input$row_case, x$cases) else
    seq_len(input$rows)
}

# Fails with `message` if any value of a column is not valid.
# * x: the values.
# * are_valid: is each value valid?
# * column: name of the column.
# * rows: row numbers of the values in the user's data.
#
# Messages may contain variables of the caller in braces.
check_values <- function(x, are_valid, column, topic, message, ..., rows = seq_along(x)) {
  bad_positions <- which(!are_valid)
  if (is_empty(bad_positions)) return()
  value <- x[[bad_positions[[1L]]]]
  rows <- rows[bad_positions]
  abort_fallible(topic, message,
    x = c("Row {rows[[1L]]} of column {.val {column}} holds {.val {value}}.",
      if (length(rows) > 1L)
        "In total, {length(rows)} rows of this column have values that cannot be used."),
    ..., row = rows, column = column, found = value,
    .envir = env(parent.frame(), rows = rows, column = column, value = value))
}

check_counts <- function(x, column, rows) {
  is_valid <- if (is.numeric(x)) !is.na(x) & x >= 0 & x == round(x) & x <= core_max_ratings() else
    logical(length(x))
  check_values(x, is_valid, column, "counts",
    "Counts must be whole numbers from 0 to {core_max_ratings()}.",
    i = "If no rater chose a category, its count is 0, not {.code NA}.", rows = rows)
  as.integer(x)
}

# Returns the cases and the answers of systems, as a list:
# * cases: identifiers of all cases, including cases that only systems answered.
# * columns: for each system, the code of its answer to each case, NA without an answer.
list_systems <- function(input, categories) {
  cases <- case_identifiers(input)
  system_table <- input$system_table
  if (is.null(system_table)) {
    columns <- lapply(c(input$systems, input$constant), encode_labels, categories, input)
    return(list(cases = cases, columns = lapply(columns, rep_len, length(cases))))
  }
  check_identifiers(system_table$case, "systems$case")
  check_identifiers(system_table$system, "systems$system")
  id_types <- ifelse(
    c(ratings = is.numeric(cases), systems = is.numeric(system_table$case)), "numbers", "strings"
  )
  abort_if(id_types[[1L]] != id_types[[2L]], "case_type",
    "Case identifiers of {.arg data} and {.arg systems} must be of the same type.",
    x = "They are {id_types[[1L]]} in {.arg data} and {id_types[[2L]]} in {.arg systems}.",
    i = if (is.null(input$case)) "{.arg case} is not given, so that
        the row numbers of {.arg data} identify the cases. Give {.arg case}." else "Convert one of
        them, for example with {.fun as.character}.", types = id_types)
  unrated_cases <- setdiff(system_table$case, cases)
  abort_if(!is_empty(unrated_cases) && !is.null(input$weights), "weights",
    "If {.arg weights} are given, {.arg data} must contain all cases of {.arg systems}.",
    x = "Case {.val {unrated_cases[[1L]]}} is only in {.arg systems}, so it has no weight.",
    i = "Leave such cases out of {.arg systems}.",
    row = match(unrated_cases, system_table$case))
  cases <- c(cases, unrated_cases)
  system_names <- rater_labels(system_table$system)
  answer_cells <-
    cbind(match(system_table$case, cases), match(as_label(system_table$system), system_names))
  # Combines the numbers of the case and of the system. Different pairs have different sums.
  cell_numbers <- answer_cells[, 1L] + length(cases) * answer_cells[, 2L]
  repeated_row <- anyDuplicated(cell_numbers)
  if (repeated_row > 0L) {
    rows <- which(cell_numbers == cell_numbers[[repeated_row]])
    abort_repeats(input$system_rows, "System {.val {judge}} answered case {.val {case}} more than
      once.", as_label(system_table$system[[repeated_row]]), system_table$case[[repeated_row]],
      paste0(if (is.null(input$system_rows)) "Rows of `systems`: " else "Rows of the data: ",
        toString(input$system_rows$source[rows] %||% rows), "."),
      if (is.null(input$system_rows)) "Keep one of the rows." else "If these are runs of the system,
        give {.code repeats = \"reruns\"}. Otherwise keep one of the rows.")
  }
  answers <- matrix(NA_integer_, length(cases), length(system_names))
  answers[answer_cells] <- encode_labels(system_table$prediction, categories, input)
  list(cases = cases, columns = split_columns(answers, system_names))
}

# Fails if a system has no answers and no abstentions, or if none of its answered cases has ratings.
# Warns if some of its answered cases have no ratings. `rated_cases`: identifiers of cases in the
# data of the raters.
check_systems <- function(x, rated_cases) {
  n_answered_cases <- answered_weight(x, n_cases_per_pattern(x))
  n_unrated_cases <- answered_weight(x, n_cases_per_pattern(x) * !is_rated_pattern(x))
  systems_without_answer <- x$systems[setdiff(which(n_answered_cases == 0), x$silent_systems$rater)]
  abort_if(systems_without_answer, "system",
    "System{?s} {.val {systems_without_answer}} {?has/have} no prediction.",
    i = "{cli::qty(systems_without_answer)}Leave {?it/them} out of {.arg systems}, or check the case
         identifiers.", system = systems_without_answer)
  unrated_systems <- x$systems[n_unrated_cases == n_answered_cases & n_answered_cases > 0]
  abort_if(unrated_systems, "unrated",
    "No rater rated any case of system{?s} {.val {unrated_systems}}.",
    i = "Check that ratings and systems have the same case identifiers.", system = unrated_systems)
  has_unrated_cases <- n_unrated_cases > 0
  # `abstained_patterns`: for each case with abstentions but no ratings, the number of its pattern.
  abstained_patterns <- pattern_of_case(x)[unique(x$abstained$case)]
  abstained_patterns <- abstained_patterns[!is_rated_pattern(x)[abstained_patterns]]
  n_abstention_only_cases <- colSums(pick_rows(pattern_answers(x), abstained_patterns) > 0L)
  unrated_lines <- escape_braces(
    x$systems[has_unrated_cases], ": ", number(n_unrated_cases[has_unrated_cases]), " of ",
    number(n_answered_cases[has_unrated_cases]), " answered cases", ifelse(
      n_abstention_only_cases > 0,
      paste0("; raters abstained on ", number(n_abstention_only_cases), " of them"), ""
    )[has_unrated_cases]
  )
  warn_if(any(has_unrated_cases), "unrated", c(
    "No rater rated some of the cases that systems answered. Estimates from ratings leave these
     cases out.",
    bullets(unrated_lines),
    i = if (!all(x$cases %in% rated_cases))
      "If raters rated these cases, check that the case identifiers are equal."
  ), systems = x$systems[has_unrated_cases], unrated = unname(n_unrated_cases[has_unrated_cases]))
}

# ---- Repeated ratings ---------------------------------------------------------------------------

check_repeats <- function(x, input = NULL) {
  repeated_cells <- repeated_ratings(x)
  if (nrow(repeated_cells) == 0L) return()
  n_cases <- sum(pattern_of_case(x) %in% repeated_cells$pattern)
  abort_repeats(input, "Rater {.val {judge}} rated case {.val {case}} more than once.",
    x$raters[[repeated_cells$rater[[1L]]]], case_of_pattern(x, repeated_cells$pattern[[1L]]),
    paste0("Cases with more than one rating by one rater: ", n_cases, " of ", nrow(x), "."),
    "If these are independent repeats, give {.code repeats = \"ratings\"}; if they are runs of one
     model, or a person answered again by mistake, {.code repeats = \"reruns\"}; if they are one
     answer with several labels, {.code repeats = \"labels\"}. If another column also identifies
     a case, add it to {.arg case}.")
}

# Fails because a rater or system rated a case more than once.
# * input: see read_input(). It contains only the rows of raters, or only the rows of systems.
# * message: first sentence, which may contain {judge} and {case}.
# * judge, case: name of the rater or system, and identifier of the case.
# * found: sentence on the repeats.
# * hint: advice if no column explains the repeats.
abort_repeats <- function(input, message, judge, case, found, hint) {
  columns <- columns_of_repeats(input)
  differing_columns <- columns$keys %||% columns$others
  # If only the used columns of a file were read, equal rows are not counted, because they may
  # differ in other columns.
  n_copies <- sum(duplicated(if (!isTRUE(attr(input$data, "is_partial"))) input$data))
  abort_fallible("repeat", message,
    x = found,
    i = c(if (n_copies > 0L) "{n_copies} row{?s} {?is/are} equal to another row in all columns. To
        drop copies, apply {.fun unique} to the data.",
      if (!is_empty(differing_columns)) "{.val {differing_columns}} differ{?s/} between repeats.",
      if (!is_empty(columns$keys)) c("If several columns identify a case, give all of them:
        {.code case = c(..., {toString(columns$keys)})}.",
        "If the rows are repeats, give {.arg repeats}."),
      if (!is_empty(columns$runs)) "{.val {columns$runs}} seem{?s/} to number repeats. If they are
        runs of one model, give {.code repeats = \"reruns\"}."
      else if (is_empty(columns$keys)) hint,
      if (!is.null(input$abstain)) "{.arg repeats} cannot be combined with {.arg abstain}."),
    case = case, rater = judge)
}

# Returns the names of columns that no argument of ratings() selects, and whose values differ
# between rows of the same rater and case. The result is a list:
# * runs: names that mean a repeat, such as "run" or "judge.run_id".
# * keys: columns that may identify cases together with `case`. They have no missing values, and not
#   more distinct values than there are rows of one rater and case.
# * others: other columns, such as a date, a number of tokens or a reason.
columns_of_repeats <- function(input) {
  pair <- paste(match(input$case, input$case), match(input$rater, input$rater))
  columns <- Filter(function(column) n_distinct(paste(pair, column)) > n_distinct(pair),
    lapply(Filter(is.atomic, input$extra), `[`, input$source))
  is_key <- map_lgl(columns, function(column) {
    !any(column %in% c(NA, "")) && n_distinct(column) <= max(count_at_first_occurrence(pair))
  })
  split(names(columns) %||% character(), replace(ifelse(is_key, "keys", "others"), grepl(
    "(^|[._])(run|epoch|trial|repeat|repetition|attempt|round|replicate|seed)s?([._]?(id|no))?$",
    names(columns), TRUE
  ), "runs"))
}

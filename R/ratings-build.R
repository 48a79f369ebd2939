# Layouts of data: a record for each layout, and a builder that converts coded columns to the fields
# of a ratings object.

# A layout is a list. args: arguments of ratings() that identify it and that it needs; build: a
# function of input (see read_input()), categories and systems (see list_systems()); holds: argument
# that selects the columns of ratings; labels: do these columns contain labels of categories, or
# numbers; by_rating: is a row a rating, or a case; class: class of the result.
new_layout <- function(args, build, labels = TRUE, by_rating = FALSE, class = "ratings",
                       holds = args[[length(args)]]) {
  lapply(as.list(environment()), force)
}

# Wide data (the default for a matrix), long data and counts. Messages of find_layout() list them.
rating_layouts <- function() {
  list(
    new_layout("raters", build_wide),
    new_layout(c("rater", "rating"), build_long, by_rating = TRUE),
    new_layout("counts", build_counts, labels = FALSE, class = "ratings_counts")
  )
}

build_wide <- function(input, categories, systems) {
  columns <- encode_all(input$columns, categories, "rater")
  core <- core_patterns_wide(
    fill_unseen(columns, systems), systems$columns, length(systems$cases)
  )
  ratings_fields(core, systems, input, categories, names(columns))
}

build_counts <- function(input, categories, systems) {
  columns <- Map(check_counts, input$columns, names(input$columns))
  columns[setdiff(categories, names(columns))] <- list(integer(input$rows))
  unknown <- setdiff(names(columns), categories)
  abort_if(unknown, "category", "Every column of {.arg counts} must be a category.",
    x = "{.val {unknown}} {?is/are} not among {.val {categories}}.", column = unknown,
    found = unknown)
  columns <- fill_unseen(columns[categories], systems, 0L)
  core <- core_patterns_counts(columns, systems$columns, length(systems$cases))
  most <- max(Reduce(`+`, columns))
  ratings_fields(core, systems, input, categories, as.character(seq_len(most)))
}

build_long <- function(input, categories, systems) {
  raters <- list_raters(input$rater)
  case <- match(input$case, systems$cases)
  category <- encode(
    input$columns[[1L]], categories, names(input$columns), "rater",
    rows = input$source %||% seq_along(case)
  )
  if (!is.null(input$weights)) {
    input$weights <- value_of_cases(input$weights, case, systems$cases, "weights",
      "A case must have the same weight in all its rows.", "weights")
  }
  rater <- encode(input$rater, raters, "rater", "rater")
  core <- core_patterns_long(case, rater, category, systems$columns, length(systems$cases))
  fields <- ratings_fields(core, systems, input, categories, raters)
  if (any(input$empty)) {
    fields$empty <- list(case = case[input$empty], rater = rater[input$empty])
  }
  fields
}

ratings_fields <- function(core, systems, input, categories, raters) {
  set_core_patterns(list(
    patterns = NULL, index = NULL, cases = systems$cases, weights = input$weights,
    times = input$times, raters = raters, categories = categories,
    systems = names(systems$columns) %||% character()
  ), core)
}

case_identifiers <- function(input) {
  if (input$layout$by_rating) {
    if (is.null(input$case)) abort_lacking("case")
    check_case_and_rater(input)
    return(unique(input$case))
  }
  if (is.null(input$case)) return(input$case_names %||% seq_len(input$rows))
  check_identifiers(input$case, "case")
  twice <- anyDuplicated(input$case)
  abort_if(twice > 0L, "case", "Every row must be a case of its own.",
    x = "Row {twice} repeats case {.val {as.character(input$case[[twice]])}}.",
    i = "Long data, with a row per rating, need {.arg rater} and {.arg rating}. If the rows are
      equal, {.code unique(data)} drops copies.", row = twice)
  input$case
}

check_identifiers <- function(x, arg) {
  abort_if(!(is.factor(x) || is_plain(x, c("character", "numeric"))), "columns",
    "{.arg {arg}} must be strings, a factor or numbers.", x = "It is {describe(x)}.",
    i = if (inherits(x, "integer64")) "It has numbers beyond 2^53. Load {.pkg bit64}, or convert it
        with {.fun as.character}.", arg = arg)
  row <- which(is.na(x))
  abort_if(row, "case", "{.arg {arg}} must be known in every row.",
    x = "It is missing in {length(row)} row{?s}, first in row {row[[1L]]}.", row = row)
}

check_case_and_rater <- function(input) {
  for (arg in c("case", "rater")) check_identifiers(input[[arg]], arg)
}

list_raters <- function(x) column_labels(if (is.factor(x)) droplevels(x) else x)

# Value of `x` for each of `cases`, from rows with these cases. Known values of a case must be
# equal.
value_of_cases <- function(x, case, cases, column, message, topic = "case") {
  known <- which(!is.na(x) & !is.na(case))
  first <- known[match(seq_along(cases), case[known])]
  off <- known[x[known] != x[first[case[known]]]]
  abort_if(off, topic, message,
    x = "Rows {first[case[off[[1L]]]]} and {off[[1L]]} of {.val {column}}, both of case
        {.val {as_label(cases[case[off[[1L]]]])}}, hold {.val {x[first[case[off[[1L]]]]]}} and
        {.val {x[off[[1L]]]}}.", row = off, column = column)
  x[first]
}

# Number of the case of each row of the data.
case_of_rows <- function(input, x) {
  if (input$layout$by_rating) match(input$row_case %||% input$case, x$cases) else
    seq_len(input$rows)
}

# Fails if values of a column are not `ok`; `rows`: their rows in the data. Messages may use
# variables of the caller.
check_values <- function(x, ok, column, topic, message, ..., rows = seq_along(x)) {
  bad <- which(!ok)
  if (length(bad) == 0L) return(invisible())
  value <- x[[bad[[1L]]]]
  rows <- rows[bad]
  abort_fallible(topic, message,
    x = c("Row {rows[[1L]]} of column {.val {column}} holds {.val {value}}.",
      if (length(rows) > 1L) "So do others: {length(rows)} rows are not usable."),
    ..., row = rows, column = column, found = value,
    .envir = rlang::env(parent.frame(), rows = rows, column = column, value = value))
}

check_counts <- function(x, column) {
  ok <- if (is.numeric(x)) !is.na(x) & x >= 0 & x == round(x) & x <= core_max_ratings() else
    logical(length(x))
  check_values(x, ok, column, "counts",
    "Counts must be whole numbers from 0 to {core_max_ratings()}.",
    i = "A case without ratings has zeros.")
  as.integer(x)
}

# Cases that only a system answered follow the other cases and have no ratings.
fill_unseen <- function(columns, systems, code = NA_integer_) {
  n <- length(systems$cases)
  lapply(columns, function(x) c(x, rep(code, n - length(x))))
}

# All cases, including those without ratings, and a coded column for each system.
list_systems <- function(input, categories) {
  cases <- case_identifiers(input)
  table <- input$system_table
  if (is.null(table)) {
    columns <- if (is.null(input$constant)) encode_all(input$systems, categories, "system") else
      lapply(input$constant, encode, categories, "systems", "system")
    return(list(cases = cases, columns = lapply(columns, rep_len, length(cases))))
  }
  check_identifiers(table$case, "systems$case")
  check_identifiers(table$system, "systems$system")
  kind <- function(x) if (is.numeric(x)) "numbers" else "strings"
  types <- c(ratings = kind(cases), systems = kind(table$case))
  abort_if(types[[1L]] != types[[2L]], "case_type",
    "Case identifiers of {.arg data} and {.arg systems} must be of the same type.",
    x = "They are {types[[1L]]} in {.arg data} and {types[[2L]]} in {.arg systems}.",
    i = if (is.null(input$case) && is.null(input$case_names)) "{.arg case} is not given, so that
        cases are numbers of rows." else "Convert one of them, for example with
        {.fun as.character}.", types = types)
  unseen <- setdiff(table$case, cases)
  abort_if(length(unseen) > 0L && !is.null(input$weights), "weights",
    "Cases of {.arg systems} that are not in {.arg data} have no weight.",
    x = "Among them is case {.val {unseen[[1L]]}}.", i = "Leave them out of {.arg systems}.",
    row = match(unseen, table$case))
  cases <- c(cases, unseen)
  names <- list_raters(table$system)
  at <- cbind(match(table$case, cases), match(as_label(table$system), names))
  twice <- anyDuplicated(drop(at %*% c(1, length(cases)))) # one number per case and system
  abort_if(twice > 0L, "repeat", "A system can give one prediction per case.",
    x = "System {.val {names[[at[twice, 2L]]]}} predicts case
        {.val {as.character(table$case[[twice]])}} again in row {twice} of {.arg systems}.",
    case = table$case[twice], rater = names[at[twice, 2L]])
  answer <- matrix(NA_integer_, length(cases), length(names))
  answer[at] <- encode(table$prediction, categories, "prediction", "system")
  list(cases = cases, columns = split_columns(answer, names))
}

check_systems <- function(x) {
  answered <- (pattern_answers(x) > 0L) * pattern_times(x)
  total <- colSums(answered)
  unrated <- colSums(answered * !rated_patterns(x))
  system <- x$systems[setdiff(which(total == 0), x$silent_systems$rater)]
  abort_if(system, "system", "System{?s} {.val {system}} {?has/have} no prediction.",
    i = "{cli::qty(length(system))}Leave {?it/them} out of {.arg systems}, or check the case
         identifiers.", system = system)
  system <- x$systems[unrated == total & total > 0]
  abort_if(system, "unrated", "No rater saw any case of system{?s} {.val {system}}.",
    i = "Check that ratings and systems have the same case identifiers.", system = system)
  some <- unrated > 0
  pattern <- pattern_of_case(x)[unique(x$abstained$case)] # of cases with abstentions
  pattern <- pattern[!rated_patterns(x)[pattern]]
  silent <- colSums(pattern_answers(x)[pattern, , drop = FALSE] > 0L)
  shares <- verbatim(x$systems[some], ": ", number(unrated[some]), " of ", number(total[some]),
    ifelse(silent > 0, paste0("; raters abstained on ", number(silent), " of them"), "")[some])
  warn_if(any(some), "unrated", c(
    "Some cases of systems have no rating; accuracy is estimated without them.", bullets(shares)
  ), systems = x$systems[some], unrated = unname(unrated[some]))
}

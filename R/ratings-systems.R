# Who are the systems: columns of wide data, raters of long data, or a table beside.

# A list: columns (names), raters (names), table, of which all but one are NULL or empty; and
# constant (labels, with the systems as names).
read_systems <- function(quos, data, layout) {
  quo <- quos$systems
  if (rlang::quo_is_null(quo)) return(list())
  # Names of columns go before what is found elsewhere.
  is_column <- rlang::quo_is_symbol(quo) && rlang::as_name(quo) %in% names(data)
  used <- all.vars(rlang::quo_get_expr(quo))
  selects <- length(used) > 0L && all(used %in% names(data))
  value <- if (!selects) tryCatch(rlang::eval_tidy(quo), error = function(cnd) NULL)
  if (is.data.frame(value)) return(list(table = system_table(value, quos, data)))
  if (is_constant_system(value)) {
    check_text(c(value, names(value)), "systems")
    return(list(constant = value))
  }
  if (layout$by_rating) return(list(raters = check_system_raters(if (is_column) quo else value)))
  columns <- select_columns(data, quo, "systems")
  abort_if(length(columns) == 0L, "columns", "{.arg systems} selects no column of {.arg data}.",
    i = "The columns are {.val {names(data)}}.", arg = "systems")
  list(columns = columns)
}

# Systems that raters judge have no answers of their own: `c(app = "pass")` says which category of
# the raters means that the system is right.
is_constant_system <- function(value) {
  is.character(value) && length(value) > 0L && all(rlang::have_name(value))
}

# With systems whose answers are their own, which alone can agree with anybody.
without_constant <- function(x) {
  if (length(x$constant) > 0L) keep_systems(x, which(!x$systems %in% x$constant)) else x
}

abort_no_system <- function(words) {
  abort_fallible("system", words,
    i = c(
      "Give {.arg systems} to {.fun ratings}.",
      "If the raters judge the answers of one application, say which of their categories means that
       an answer is right: {.code systems = c(app = \"pass\")}."
    ), system = character())
}

check_system_raters <- function(value) {
  if (is.factor(value)) value <- as.character(value)
  abort_argument_if(!is.character(value) || length(value) == 0L || anyNA(value), "systems",
    "In long data {.arg systems} must be names of raters that are systems, or a data frame with
        columns {.val case}, {.val system} and {.val prediction}.",
    x = if (rlang::is_quosure(value)) "It names the column {.val {rlang::as_name(value)}} of
        {.arg data}." else if (!is.null(value)) "It is {describe(value)}.",
    i = "Names are strings, for example {.code systems = c(\"gpt-4o\")}.")
  check_text(value, "systems")
  unique(value)
}

# Its columns have names of their own, or those that the call gives to those of the ratings.
system_table <- function(table, quos, data) {
  own <- c("case", "system", "prediction")
  table <- with_case(table, select_column(data, quos$case, "case", several = TRUE))
  mapped <- vapply(c("case", "rater", "rating"), function(arg) {
    name <- select_column(data, quos[[arg]], arg, several = arg == "case")
    if (length(name) == 1L) name else NA_character_
  }, "")
  found <- ifelse(own %in% names(table), own, mapped)
  lacking <- own[!found %in% names(table)]
  abort_if(lacking, "columns",
    "{.arg systems} must have columns {.val {own}}, or those that {.arg case}, {.arg rater} and
        {.arg rating} name.", x = "It lacks {.val {lacking}}; it has {.val {names(table)}}.",
    arg = "systems")
  abort_if(nrow(table) == 0L, "system", "{.arg systems} has no rows.", system = character())
  table <- stats::setNames(plain_columns(table)[found], own)
  for (column in own) check_text(table[[column]], column)
  table$case <- unfactor(table$case)
  table$prediction <- clean_levels(table$prediction)
  table
}

# What raters who are systems said, as a table of its own.
split_systems <- function(input, systems, repeats) {
  if (is.null(input$case)) abort_lacking(input$layout, "case")
  abort_argument_if(repeats == "labels", "systems",
    "{.arg systems} cannot be raters where answers have several labels.",
    i = "Make one category of each answer, with {.fun single_label}.")
  rater <- as_label(input$rater)
  unknown <- setdiff(systems, rater)
  abort_if(unknown, "system",
    "There {cli::qty(length(unknown))}{?is no rater/are no raters} {.val {unknown}} in
        {.arg data}.",
    i = c(near_values(unknown, unique(rater)), "The raters are {.val {unique(rater)}}."),
    system = unknown)
  is_system <- rater %in% systems
  abort_if(all(is_system), "system",
    "No rater is left: {.arg systems} names every rater of {.arg data}.",
    x = "The raters are {.val {unique(rater)}}.",
    i = "Systems are evaluated by the remaining raters; name only the systems.", system = systems)
  column <- input$columns[[1L]]
  check_labels(column, names(input$columns))
  input$system_table <- tibble::new_tibble(list(
    case = input$case[is_system], system = rater[is_system], prediction = column[is_system],
    silent = (input$abstained[[1L]] %||% integer(length(rater)))[is_system]
  ), nrow = sum(is_system))
  if (repeats == "reruns") input$system_table <- votes_of_systems(input$system_table)
  if (!is.null(input$groups)) input$groups <- input$groups[!input$groups$rater %in% systems, ]
  sure <- if (!is.null(input$confidence)) !is.na(input$confidence[[1L]])
  warn_sure_systems(unique(rater[is_system & sure]))
  take_rows(input, which(!is_system))
}

# A row for each case and system, with the answer that most runs have; none if answers tie.
votes_of_systems <- function(table) {
  if (anyDuplicated(table[c("case", "system")]) == 0L) return(table)
  inform_fallible(reruns_vote)
  table <- table[!is.na(table$prediction), ]
  columns <- c(pattern = "case", unit = "system", category = "prediction")
  code <- lapply(columns, function(column) match(table[[column]], unique(table[[column]])))
  votes <- majority(code, max(code$unit), max(code$category))
  table[match(do.call(paste, votes), do.call(paste, code)), ]
}

# Adds ratings to a ratings object. Their cases and raters may be new or already in the object.

add_ratings <- function(x, new) {
  if (in_database(x)) abort_no_cases("{.arg new} needs single cases")
  check_can_grow(x, "No ratings can be added to the ratings of the fit.",
    c("The ratings of groups, or reruns, were replaced by votes." = !is.null(x$voted)))
  new <- new_ratings_long(replace_key_columns(new, names(x$keys)), x)
  x <- add_new_names(x, new)
  old_ratings <- unfold_ratings(x)
  case_of_new <- match(new$cases, as_label(x$cases))
  x <- set_core_patterns(x, core_patterns_long(
    c(old_ratings$row, case_of_new[new$row]), c(old_ratings$rater, match(new$rater, x$raters)),
    c(old_ratings$category, match(new$rating, x$categories)),
    combine_answers(x, new, case_of_new), length(x$cases)
  ))
  if (x$repeats == "error") check_repeats(x)
  x
}

# Converts `new` to ratings. Data frames and matrices get the categories of the ratings `x`.
as_further_ratings <- function(new, x, arg) {
  if (is_ratings(new)) return(as_ratings(new, arg = arg))
  # If no kind of raters is given, ask_rater_kind() may ask the user. So an arbitrary kind is given
  # here, and then replaced by the kind in `x`.
  new <- as_ratings(new, categories = x$categories, rater_kind = "expert", arg = arg)
  replace(new, "rater_kind", list(x$rater_kind))
}

# Fails if `x` has properties with which ratings cannot be added: `x` is the ratings of the fit, or
# the added ratings. `message`: first sentence of the error. `also`: logical vector of further
# obstacles, with their texts as names.
check_can_grow <- function(x, message, also) {
  reasons <- c(
    "They have weights." = !is.null(x$weights),
    "Their cases have covariates, which added cases would lack." = !is.null(x$covariates),
    "They have a confidence, which added ratings would lack." = !is.null(x$confidence),
    "They have abstentions." = has_abstentions(x) || !is.null(x$silent_systems), also
  )
  obstacles <- c(why_unnamed(x), names(which(reasons)))
  abort_argument_if(obstacles, "new", message, x = obstacles[1L],
    i = "Make one {.fun ratings} object of the old and the new ratings, and refit with
        {.code update(fit, x = )}.")
}

# Converts the argument `new` to a list. Vectors with an entry per rating: `row` (position of its
# case in `cases`), `rater` and `rating` (labels). Vectors with an entry per case: `cases`
# (identifiers as labels), `ids` (identifiers in their original type), `truth` (label; NULL if there
# is none). And `answers`, for each system a label per case, NA without an answer.
new_ratings_long <- function(new, x) {
  if (is.data.frame(new) && has_columns(new, c("case", "rater", "rating"))) return(new_rows(new))
  new <- as_further_ratings(new, x, "new")
  if (in_database(new)) abort_no_cases("New ratings need their cases")
  check_can_grow(new, "The ratings in {.arg new} cannot be added.", c(
    "They have groups of raters, or reruns." = !is.null(new$rater_groups) || has_reruns(new)
  ))
  long <- unfold_ratings(new)
  list(
    row = long$row, rater = new$raters[long$rater], rating = new$categories[long$category],
    cases = as_label(new$cases), ids = new$cases, answers = lapply(
      split_columns(case_answers(new), new$systems), function(code) c(NA, new$categories)[code + 1L]
    ), truth = if (!is.null(new$truth)) new$categories[new$truth$category]
  )
}

# The list of new_ratings_long() from a data frame with a row per rating. In contrast to
# as_ratings(), it may have a single rater.
new_rows <- function(new) {
  extra_columns <- setdiff(names(new), c("case", "rater", "rating"))
  abort_if(extra_columns, "columns",
    "{.arg new} must have columns {.val case}, {.val rater} and {.val rating}, and no others.",
    x = "It has {.val {extra_columns}}.", column = extra_columns)
  check_case_and_rater(new)
  for (column in names(new)) check_text(new[[column]], column)
  check_labels(new$rating, "rating")
  new <- drop_missing(new, "rating")
  case <- unfactor(new$case)
  ids <- unique(case)
  list(
    row = match(case, ids), rater = as_label(new$rater), rating = as_label(new$rating),
    cases = as_label(ids), ids = ids, answers = list()
  )
}

# Adds the cases, raters, categories and known truths of `new` to the fields of `x`, but not yet its
# ratings.
add_new_names <- function(x, new) {
  unknown <- setdiff(names(new$answers), x$systems)
  abort_if(unknown, "system", "{.arg new} must contain only systems of the fit.",
    x = "{.val {unknown}} {?is not a system/are not systems} of the fit.", system = unknown)
  unknown <- sort_strings(setdiff(c(new$rating, unlist(new$answers)), c(NA, x$categories)))
  abort_if(x$ordered && length(unknown) > 0L, "category",
    "New ratings cannot add categories if categories are ordered.",
    x = "{.val {unknown}} {?is/are} not among {.val {x$categories}}.",
    i = "Give all categories, in order, as {.arg categories} of {.fun ratings}.", row = NA_integer_,
    column = NA_character_, found = unknown)
  x$categories <- c(x$categories, unknown)
  x$raters <- union(x$raters, sort_strings(new$rater))
  old_cases <- as_label(x$cases)
  added_cases <- which(!new$cases %in% old_cases)
  if (length(added_cases) > 0L) x$rows <- "ratings"
  x$cases <- if (identical(class(x$cases), class(new$ids))) c(x$cases, new$ids[added_cases]) else
    c(old_cases, new$cases[added_cases])
  if (is.null(x$truth) && is.null(new$truth)) return(x)
  x$truth <- subset_truth(x$truth %||% keep_truth(NA_integer_, x), seq_along(x$cases))
  new_truth <- match(new$truth[match(as_label(x$cases), new$cases)], x$categories)
  is_new <- is.na(x$truth$category) & !is.na(new_truth)
  x$truth$category[is_new] <- new_truth[is_new]
  x
}

# Codes of the answers of each system to all cases (old and new), NA without an answer.
# `case_of_new`: for each case of `new`, its position in `x$cases`.
combine_answers <- function(x, new, case_of_new) {
  answers <- lapply(split_columns(case_answers(x), x$systems), function(code) {
    replace(code, code == 0L, NA)[seq_along(x$cases)] # new cases have no answers yet
  })
  for (system in names(new$answers)) {
    new_codes <- match(new$answers[[system]], x$categories)
    old_codes <- answers[[system]][case_of_new]
    conflicts <- which(old_codes != new_codes)
    abort_if(conflicts, "system", "A system can give only one answer per case.",
      x = "In {.arg new}, {.val {system}} has a different answer than before for
          {count_noun(length(conflicts), 'case')}, such as
          {.val {new$cases[[conflicts[[1L]]]]}}.", system = system)
    answers[[system]][case_of_new] <- ifelse(is.na(old_codes), new_codes, old_codes)
  }
  answers
}

# Finds the systems: columns of wide data, raters of long data, or a separate table.

# Reads the argument `systems` of ratings(). Returns a list with at most one element: `columns`
# (their names), `raters` (names of raters that are systems), `table` (a data frame of predictions)
# or `constant` (for each constant system, named, the category that means a right answer).
read_systems <- function(quos, data, layout) {
  quo <- quos$systems
  if (quo_is_null(quo)) return(list())
  # If an argument can be a column of `data` or a variable of the user, it is the column.
  is_column <- names_a_column(quo, data)
  variables <- all.vars(quo_get_expr(quo))
  value <- if (length(variables) == 0L || !has_columns(data, variables)) value_of_argument(quo)
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

# Does the argument `systems` describe constant systems, such as `c(app = "pass")`? Raters judge the
# answers of these systems: the ratings are verdicts, and "pass" is the verdict for a right answer.
is_constant_system <- function(value) {
  is.character(value) && length(value) > 0L && all(have_name(value))
}

# Drops constant systems, because their agreement with raters is not defined.
without_constant <- function(x) {
  if (length(x$constant) > 0L) keep_systems(x, which(!x$systems %in% x$constant)) else x
}

abort_no_system <- function(words) {
  abort_fallible("system", words,
    i = c(
      "Give {.arg systems} to {.fun ratings}.",
      "To judge labels made from the ratings, use {.fun ground_truth} with {.arg known_truth}.",
      "If the raters judge the answers of one application, say which of their categories means that
       an answer is right: {.code systems = c(app = \"pass\")}."
    ), system = character())
}

check_system_raters <- function(value) {
  if (is.factor(value)) value <- as.character(value)
  abort_argument_if(!is.character(value) || length(value) == 0L || anyNA(value), "systems",
    "In long data {.arg systems} must be names of raters that are systems, or a data frame with
        columns {.val case}, {.val system} and {.val prediction}.",
    x = if (is_quosure(value)) "It names the column {.val {as_name(value)}} of
        {.arg data}." else if (!is.null(value)) "It is {describe(value)}.",
    i = "Names are strings, for example {.code systems = c(\"gpt-4o\")}.")
  check_text(value, "systems")
  unique(value)
}

# Is the argument the name of a column of `data`?
names_a_column <- function(quo, data) {
  quo_is_symbol(quo) && as_name(quo) %in% names(data)
}

prediction_columns <- c("case", "system", "prediction")

# Checks a data frame of predictions, and returns its columns `case`, `system` and `prediction`.
# These may also have the names that the arguments `case`, `rater` and `rating` give.
system_table <- function(table, quos, data) {
  case <- select_column(data, quos$case, "case")
  table <- replace_key_columns(table, case)
  columns <- ifelse(prediction_columns %in% names(table), prediction_columns, c(
    if (length(case) == 1L) case else NA, select_column(data, quos$rater, "rater") %||% NA,
    select_column(data, quos$rating, "rating") %||% NA
  ))
  missing_columns <- prediction_columns[!columns %in% names(table)]
  abort_if(missing_columns, "columns",
    "{.arg systems} must have columns {.val {prediction_columns}}, or columns with the names given
        in {.arg case}, {.arg rater} and {.arg rating}.",
    x = "It lacks {.val {missing_columns}}; it has {.val {names(table)}}.", arg = "systems")
  abort_if(nrow(table) == 0L, "system", "{.arg systems} has no rows.", system = character())
  table <- setNames(plain_columns(table)[columns], prediction_columns)
  for (column in prediction_columns) check_text(table[[column]], column)
  table$case <- unfactor(table$case)
  table$prediction <- clean_levels(table$prediction)
  table
}

# Moves the ratings of raters that are systems from `input` to its field `system_table`.
split_systems <- function(input, systems, repeats) {
  if (is.null(input$case)) abort_lacking("case")
  abort_argument_if(repeats == "labels", "systems",
    "With {.code repeats = \"labels\"}, {.arg systems} cannot be names of raters.",
    i = "Leave the systems out of {.arg data}. Give their answers, one label per case, as a data
        frame with columns {.val {prediction_columns}}.")
  rater <- as_label(input$rater)
  raters <- unique(rater)
  unknown <- setdiff(systems, raters)
  abort_if(unknown, "system",
    "There {cli::qty(length(unknown))}{?is no rater/are no raters} {.val {unknown}} in
        {.arg data}.",
    i = c(similar_values_hint(unknown, raters), "The raters are {.val {raters}}."),
    system = unknown)
  is_system <- rater %in% systems
  abort_if(all(is_system), "system",
    "No rater is left: {.arg systems} names every rater of {.arg data}.",
    x = "The raters are {.val {raters}}.",
    i = "Systems are evaluated by the remaining raters; name only the systems.", system = systems)
  ratings <- input$columns[[1L]]
  check_labels(ratings, names(input$columns))
  input$system_table <- tibble::new_tibble(list(
    case = input$case[is_system], system = rater[is_system], prediction = ratings[is_system],
    silent = (input$abstained[[1L]] %||% integer(length(rater)))[is_system]
  ), nrow = sum(is_system))
  if (repeats == "reruns") input$system_table <- votes_of_systems(input$system_table)
  if (!is.null(input$groups)) input$groups <- input$groups[!input$groups$rater %in% systems, ]
  has_confidence <- if (!is.null(input$confidence)) !is.na(input$confidence[[1L]])
  with_confidence <- unique(rater[is_system & has_confidence])
  warn_if(with_confidence, "confidence",
    "{.arg confidence} is used for raters only, and {.val {with_confidence}}
        {cli::qty(length(with_confidence))}{?is a system/are systems}.",
    i = "Give the probabilities of systems as {.arg scores}.", systems = with_confidence)
  take_rows(input, which(!is_system))
}

# Combines the runs of each system: a row per case and system, with the most frequent answer. Cases
# on which several answers are equally frequent have no row.
votes_of_systems <- function(table) {
  if (anyDuplicated(table[c("case", "system")]) == 0L) return(table)
  inform_fallible(reruns_message)
  table <- table[!is.na(table$prediction), ]
  code <- lapply(
    list(pattern = table$case, unit = table$system, category = table$prediction),
    function(x) match(x, unique(x))
  )
  at <- find_majority(code, max(code$unit), max(code$category))
  n_answered <- nrow(unique(table[c("case", "system")]))
  warn_ties(lines = format_ties(shorten(unique(table$system)), n_answered, length(at)))
  table[at, ]
}

# The argument `truth` of ratings().

# The field `truth` of a ratings object, from the argument `truth` of ratings(); NULL if it was not
# given. subset_truth() lists the elements.
truth_to_keep <- function(input, x) {
  if (is.null(input$truth)) return(NULL)
  abort_argument_if(has_labels(x), "truth",
    "{.arg truth} is one category per case, and cannot be used for answers with several labels.",
    i = "Convert the ratings to one label per answer with {.fun single_label}.")
  column <- names(input$truth)
  code <- encode_labels(input$truth[[1L]], x$categories, column, "truth")
  label <- values_by_case(x$categories[code], case_of_rows(input, x), x$cases, column,
    "A case has one true category.")
  keep_truth(match(label, x$categories), x)
}

# Creates the field `truth` from the codes `category` of true categories. The true accuracies of
# systems (`expected`) are unknown.
keep_truth <- function(category, x) {
  expected <- setNames(rep(NA_real_, n_systems(x)), x$systems)
  list(category = category, kept = TRUE, expected = expected)
}

# Is the truth of `x` the argument `truth` of ratings()? Estimates use it only with
# `known_truth = TRUE`. Otherwise the truth is from a simulation or from with_truth().
is_kept_truth <- function(x) isTRUE(x$truth$kept)

format_truth <- function(x) {
  if (is_kept_truth(x)) paste0(
    "Truth kept for ", count_noun(sum(!is.na(x$truth$category)), "case"),
    ", for known_truth = TRUE only"
  )
}

# Selects cases of a truth, which is a list:
# * category: a code per case, NA if unknown;
# * stratum: a code per case, only in simulations;
# * expected: true accuracy per system, NA if unknown;
# * base_rates: NULL if the truth is an argument of ratings();
# * kept: see is_kept_truth().
subset_truth <- function(truth, cases) {
  truth$category <- truth$category[cases]
  truth$stratum <- truth$stratum[cases]
  truth
}

# Ratings given as counts per category. Raters are then not identified, and the "raters" of a case
# are only numbered places. Functions that need to know which rater gave a rating call the functions
# below.

has_counts <- function(x) inherits(x, "ratings_counts")

# Names of identified raters; empty for counts.
named_raters <- function(x) if (has_counts(x)) character() else x$raters

# A number for each rater: its position or, if raters are not identified, 1 for all of them.
rater_identity <- function(x) if (has_counts(x)) rep(1L, n_raters(x)) else seq_along(x$raters)

# Returns the value if raters are identified, and NA if they are not.
na_if_unnamed <- function(x, value_if_named) if (has_counts(x)) NA_integer_ else value_if_named

# Text for errors of functions that need identified raters; NULL if they are identified.
why_unnamed <- function(x) {
  if (has_counts(x)) "Counts of ratings do not show which rater gave which rating."
}

# Fails if raters are not identified. `requirement`: first sentence of the error, on what needs the
# rater of each rating.
check_named_raters <- function(x, arg, requirement, i = "Give each rating with its rater, in wide or
                                 long data; see {.fun ratings}.") {
  abort_argument_if(has_counts(x), arg, requirement, x = why_unnamed(x), i = i)
}

# Fails if raters are not identified or have several answers to a case. `requirement`: first
# sentence of the error, on what needs one answer per rater and case.
check_single_answers <- function(x, arg, requirement) {
  why <- why_unnamed(x) %||% if (has_repeats(x)) "Raters of {.arg x} repeat their ratings."
  abort_argument_if(!is.null(why), arg, requirement, x = why)
}

# Adds ratings to a ratings object. Their cases and raters may be new or already in the object.

add_ratings <- function(x, new) {
  if (in_database(x)) abort_no_cases("Adding {.arg new} needs the ratings of each case")
  check_can_add_ratings(x, "No ratings can be added to the ratings of the fit.",
    c("One vote replaced the ratings of each group of raters." = !is.null(x$voted$groups),
      "One vote replaced the reruns of each rater." = isTRUE(x$voted$reruns)))
  added_ratings <- list_new_ratings(replace_key_columns(new, names(x$keys)), x)
  x <- add_cases_and_raters(x, added_ratings)
  old_ratings <- unfold_ratings(x)
  case_position <- match(added_ratings$cases, as_label(x$cases))
  # For each system, the codes of its answers to the old and new cases, NA without an answer.
  answers <- lapply(split_columns(case_answers(x), x$systems), function(code) {
    replace(code, code == 0L, NA)[seq_along(x$cases)] # new cases have no answers yet
  })
  for (system in names(added_ratings$answers)) {
    new_codes <- match(added_ratings$answers[[system]], x$categories)
    old_codes <- answers[[system]][case_position]
    conflicts <- which(old_codes != new_codes)
    abort_if(conflicts, "system", "A system can give only one answer per case.",
      x = "In {.arg new}, {.val {system}} has a different answer than before for
          {count_noun(length(conflicts), 'case')}, such as
          {.val {added_ratings$cases[[conflicts[[1L]]]]}}.", system = system)
    answers[[system]][case_position] <- ifelse(is.na(old_codes), new_codes, old_codes)
  }
  x <- set_core_patterns(x, core_patterns_long(
    c(old_ratings$row, case_position[added_ratings$row]),
    c(old_ratings$rater, match(added_ratings$rater, x$raters)),
    c(old_ratings$category, match(added_ratings$rating, x$categories)), answers, length(x$cases)
  ))
  if (x$repeats == "error") check_repeats(x)
  x
}

# Converts the argument `new` (a data frame, a matrix or ratings) to ratings. Data frames and
# matrices get the categories of the ratings `x`. `arg`: name of the argument, for messages.
as_further_ratings <- function(new, x, arg) {
  if (is_ratings(new)) return(as_ratings(new, arg = arg))
  column_names <- names(new)
  rater_columns <- columns_of_raters(x)
  roles <- if (is.data.frame(new) && any(column_names %in% rater_columns)) {
    other_roles <- list(case = "case", covariates = names(x$covariates))
    other_roles <- Filter(length, lapply(other_roles, intersect, column_names))
    # If a rater of `x` has no column, its name may be misspelled in `new`. All columns that contain
    # only categories are then read as raters, so that a later error contains the misspelled name.
    may_be_rater <- !all(rater_columns %in% column_names) & !column_names %in% x$systems &
      map_lgl(new, function(column) all(as_label(column) %in% c(x$categories, NA)))
    is_rater <- column_names %in% rater_columns | may_be_rater
    c(list(raters = setdiff(column_names[is_rater], unlist(other_roles))), other_roles)
  }
  # An arbitrary `rater_kind` is given, because as_ratings() may otherwise ask the user for it. The
  # warning about raters without ratings is omitted, because some raters may not rate the new cases.
  new <- suppressWarnings(classes = "fallible_warning_raters", inject(
    as_ratings(new, !!!roles, categories = x$categories, rater_kind = "expert", arg = arg)
  ))
  replace(new, "rater_kind", list(x$rater_kind))
}

# Fails if new ratings cannot be added to old ratings because of a property of `x`.
# * x: the old ratings or the new ratings.
# * message: first sentence of the error.
# * further_obstacles: logical vector, TRUE for an obstacle that exists. Names describe obstacles.
check_can_add_ratings <- function(x, message, further_obstacles) {
  has_obstacle <- c(
    "They have weights." = !is.null(x$weights),
    "Their cases have covariates, which added cases would lack." = !is.null(x$covariates),
    rep_named(
      sprintf("They have a %s, which added ratings would lack.", role_fields(x)), TRUE
    ),
    "They have abstentions." = has_abstentions(x) || !is.null(x$silent_systems),
    further_obstacles
  )
  obstacles <- c(why_unnamed(x), names(which(has_obstacle)))
  abort_argument_if(obstacles, "new", message, x = obstacles[1L],
    i = "Make one {.fun ratings} object of the old and the new ratings, and refit with
        {.code update(fit, x = )}.")
}

# Converts the argument `new` of add_ratings() to a list:
# * row, rater, rating: for each rating, the position of the case in `cases`, the name of the rater
#   and the label of the category.
# * cases, ids: identifier of each case, as a label and in the original type.
# * truth: label of the true category of each case; absent if no truth is given.
# * answers: for each system, the label of its answer to each case, NA without an answer.
list_new_ratings <- function(new, x) {
  needed_columns <- c("case", "rater", "rating")
  if (is.data.frame(new) && has_columns(new, needed_columns)) {
    # as_ratings() is not called, because it fails for ratings by a single rater.
    extra_columns <- setdiff(names(new), needed_columns)
    abort_if(extra_columns, "columns",
      "{.arg new} must have columns {.val case}, {.val rater} and {.val rating}, and no others.",
      x = "It has {.val {extra_columns}}.", column = extra_columns)
    check_case_and_rater(new)
    for (column in names(new)) check_text(new[[column]], column)
    check_labels(new$rating, "rating")
    new <- drop_missing(new, "rating")
    case <- unfactor(new$case)
    case_ids <- unique(case)
    return(list(
      row = match(case, case_ids), rater = as_label(new$rater), rating = as_label(new$rating),
      cases = as_label(case_ids), ids = case_ids, answers = list()
    ))
  }
  new <- as_further_ratings(new, x, "new")
  if (in_database(new)) abort_no_cases("{.arg new} must contain the ratings of each case")
  check_can_add_ratings(new, "The ratings in {.arg new} cannot be added.", c(
    "They have groups of raters." = !is.null(new$rater_groups),
    "They have reruns." = has_reruns(new)
  ))
  unfolded_ratings <- unfold_ratings(new)
  list(
    row = unfolded_ratings$row, rater = new$raters[unfolded_ratings$rater],
    rating = new$categories[unfolded_ratings$category],
    cases = as_label(new$cases), ids = new$cases, answers = lapply(
      split_columns(case_answers(new), new$systems), function(code) c(NA, new$categories)[code + 1L]
    ), truth = if (!is.null(new$truth)) new$categories[new$truth$category]
  )
}

# Adds the cases, raters, categories and known truths of `new` to `x`. Does not add the ratings.
# `new`: result of list_new_ratings().
add_cases_and_raters <- function(x, new) {
  new_systems <- setdiff(names(new$answers), x$systems)
  abort_if(new_systems, "system", "{.arg new} must contain only systems of the fit.",
    x = "{.val {new_systems}} {?is not a system/are not systems} of the fit.", system = new_systems)
  new_labels <- sort_strings(setdiff(c(new$rating, unlist(new$answers)), c(NA, x$categories)))
  abort_if(x$ordered && !is_empty(new_labels), "category",
    "New ratings cannot add categories if categories are ordered.",
    x = "{.val {new_labels}} {?is/are} not among {.val {x$categories}}.",
    i = "Give all categories, in order, as {.arg categories} of {.fun ratings}.", row = NA_integer_,
    column = NA_character_, found = new_labels)
  x$categories <- c(x$categories, new_labels)
  x$raters <- union(x$raters, sort_strings(new$rater))
  old_cases <- as_label(x$cases)
  added_cases <- which(!new$cases %in% old_cases)
  if (!is_empty(added_cases)) x$rows <- "ratings"
  x$cases <- if (identical(class(x$cases), class(new$ids))) c(x$cases, new$ids[added_cases]) else
    c(old_cases, new$cases[added_cases])
  if (is.null(x$truth) && is.null(new$truth)) return(x)
  x$truth <- subset_truth(x$truth %||% new_truth_field(NA_integer_, x), seq_along(x$cases))
  new_truth <- match(new$truth[match(as_label(x$cases), new$cases)], x$categories)
  is_new_truth <- is.na(x$truth$category) & !is.na(new_truth)
  x$truth$category[is_new_truth] <- new_truth[is_new_truth]
  x
}

# Functions that find the systems. Systems are columns of wide data, raters of long data, or a
# separate table.

# Reads the argument `systems` of ratings(). Returns an empty list, or a list with one of these
# elements:
# * columns: names of the columns of systems in wide data.
# * raters: names of raters that are systems, in long data.
# * table: a data frame of predictions.
# * constant: for each constant system, the category that means a right answer. See
#   is_constant_system().
read_systems <- function(quos, data, layout) {
  quo <- quos$systems
  if (quo_is_null(quo)) return(list())
  # A column of `data` has precedence over a variable of the user with the same name.
  variable_names <- all.vars(quo_get_expr(quo))
  argument <- if (is_empty(variable_names) || !has_columns(data, variable_names))
    value_of_argument(quo)
  if (is.data.frame(argument)) return(list(table = system_table(argument, quos, data)))
  if (is_constant_system(argument)) {
    argument <- map_chr(argument, as.character)
    check_text(c(argument, names(argument)), "systems")
    return(list(constant = argument))
  }
  if (layout$by_rating) {
    if (is.factor(argument)) argument <- as.character(argument)
    abort_argument_if(!is.character(argument) || is_empty(argument) || anyNA(argument), "systems",
      "In long data {.arg systems} must be names of raters that are systems, or a data frame with
          columns {.val case}, {.val system} and {.val prediction}.",
      x = if (is_column_name(quo, data)) "It names the column {.val {as_name(quo)}} of
          {.arg data}." else if (!is.null(argument)) "It is {describe(argument)}.",
      i = "Names are strings, for example {.code systems = c(\"gpt-4o\")}.")
    check_text(argument, "systems")
    return(list(raters = unique(argument)))
  }
  columns <- select_columns(data, quo, "systems")
  abort_if(is_empty(columns), "columns", "{.arg systems} selects no column of {.arg data}.",
    i = "The columns are {.val {names(data)}}.", arg = "systems")
  list(columns = columns)
}

# Is `value`, the argument `systems`, a vector such as `c(app = "pass")` or `c(app = 1)`? Raters
# then judge the answers of the system `app`, and "pass" is the verdict for a right answer. Such a
# system is called constant, because its answer is "pass" in all cases.
is_constant_system <- function(value) {
  is.atomic(value) && !is_empty(value) && all(have_name(value))
}

# Drops constant systems (whose answer is the same in all cases), because their agreement with
# raters is not defined.
drop_constant_systems <- function(x) {
  if (!is_empty(x$constant)) keep_systems(x, which(!x$systems %in% x$constant)) else x
}

abort_no_system <- function(words) {
  abort_fallible("system", words,
    i = c(
      "Give {.arg systems} to {.fun ratings}.",
      "To judge labels made from the ratings, use {.fun ground_truth} with {.arg known_truth}.",
      "If the raters judge the answers of one application, specify which of their categories means
       that an answer is right: {.code systems = c(app = \"pass\")}."
    ), system = character())
}

# Is the argument the name of a column of `data`?
is_column_name <- function(quo, data) quo_is_symbol(quo) && as_name(quo) %in% names(data)

prediction_columns <- c("case", "system", "prediction")

# Checks a data frame of predictions, and returns its columns `case`, `system` and `prediction`. The
# columns may also have the names that the user gave as `case`, `rater` and `rating`.
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

# Splits long data. The ratings of raters that are systems are moved from the columns of `input` to
# the table `input$system_table`. `systems`: names of these raters.
split_systems <- function(input, systems, repeats) {
  abort_argument_if(repeats == "labels", "systems",
    "With {.code repeats = \"labels\"}, {.arg systems} cannot be names of raters.",
    i = "Leave the systems out of {.arg data}. Give their answers, one label per case, as a data
        frame with columns {.val {prediction_columns}}.")
  rater <- as_label(input$rater)
  raters <- unique(rater)
  unknown_names <- setdiff(systems, raters)
  abort_if(unknown_names, "system",
    "There {cli::qty(length(unknown_names))}{?is no rater/are no raters} {.val {unknown_names}} in
        {.arg data}.",
    i = c(similar_values_hint(unknown_names, raters), "The raters are {.val {raters}}."),
    system = unknown_names)
  is_system <- rater %in% systems
  abort_if(all(is_system), "system",
    "No rater is left: {.arg systems} names every rater of {.arg data}.",
    x = "The raters are {.val {raters}}.",
    i = "Systems are evaluated by the remaining raters; name only the systems.", system = systems)
  check_identifiers(input$case, "case", rows = input$source)
  check_labels(input$columns[[1L]], names(input$columns), input$source)
  input$system_rows <- keep_rows(input, which(is_system))
  input$system_table <- new_tibble(list(
    case = input$system_rows$case, system = rater[is_system],
    prediction = input$system_rows$columns[[1L]],
    silent = (input$abstained[[1L]] %||% integer(length(rater)))[is_system]
  ), nrow = sum(is_system))
  if (repeats == "reruns") input$system_table <- votes_of_systems(input$system_table)
  if (!is.null(input$groups)) input$groups <- input$groups[!input$groups$rater %in% systems, ]
  systems_with_confidence <- unique(rater[is_system & !is.na(input$confidence[[1L]])])
  warn_if(systems_with_confidence, "confidence",
    "{.arg confidence} is used for raters only, and {.val {systems_with_confidence}}
        {cli::qty(length(systems_with_confidence))}{?is a system/are systems}.",
    i = "Give the probabilities of systems as {.arg scores}.", systems = systems_with_confidence)
  keep_rows(input, which(!is_system))
}

# Combines the reruns of each system. Returns a table with a row per case and system, which contains
# the most frequent answer. Cases on which several answers are equally frequent have no row.
votes_of_systems <- function(table) {
  if (!any_repeated(table[c("case", "system")])) return(table)
  inform_fallible(reruns_message)
  table <- table[!is.na(table$prediction), ]
  code_columns <- lapply(
    list(pattern = table$case, unit = table$system, category = table$prediction),
    function(x) match(x, unique(x))
  )
  winning_rows <- find_majority(code_columns, max(code_columns$unit), max(code_columns$category))
  systems <- unique(table$system)
  count_cases <- function(rows) tabulate(match(rows$system, systems), length(systems))
  warn_tied_reruns(lines = format_ties(systems,
    count_cases(unique(table[c("case", "system")])), count_cases(table[winning_rows, ])))
  table[winning_rows, ]
}

# Functions for the argument `truth` of ratings().

# Returns the field `truth` of a ratings object, computed from the argument `truth` of ratings().
# Returns NULL if the argument was not given. subset_truth() lists the elements of the field.
truth_field <- function(input, x) {
  if (is.null(input$truth)) return(NULL)
  abort_argument_if(has_labels(x), "truth",
    "{.arg truth} is one category per case, and cannot be used for answers with several labels.",
    i = "Convert the ratings to one label per answer with {.fun single_label}.")
  code_of_row <- encode_labels(input$truth[[1L]], x$categories, input)
  label_of_case <- values_by_case(x$categories[code_of_row], case_of_rows(input, x), x$cases,
    names(input$truth), "A case can have only one true category.")
  new_truth_field(match(label_of_case, x$categories), x)
}

# Creates the field `truth` of the ratings `x`. `category`: code of the true category of each case.
# The element `expected`, the true accuracy of each system, is unknown and set to NA.
new_truth_field <- function(category, x) {
  expected_accuracy <- setNames(rep(NA_real_, n_systems(x)), x$systems)
  list(category = category, kept = TRUE, expected = expected_accuracy)
}

# Was the truth of `x` given as the argument `truth` of ratings()? Estimates use such a truth only
# with `known_truth = TRUE`. Any other truth is from a simulation or from with_truth().
is_given_truth <- function(x) isTRUE(x$truth$kept)

# Selects `cases` (positions) of `truth`, a list with these elements:
# * category: code of the true category of each case, NA if unknown.
# * stratum: code of the stratum of each case, only in simulations.
# * expected: true accuracy of each system, NA if unknown.
# * base_rates: true base rates; NULL if the truth was given as an argument of ratings().
# * kept: TRUE if the truth was given as an argument of ratings().
subset_truth <- function(truth, cases) {
  truth$category <- truth$category[cases]
  truth$stratum <- truth$stratum[cases]
  truth
}

# Ratings may be given as counts per category. Raters are then not identified: the raters of each
# case are numbered from 1, and equal numbers in two cases may be different raters. Code that needs
# to know which rater gave a rating uses the functions below.

has_counts <- function(x) inherits(x, "ratings_counts")

# Returns the names of the raters if they are identified. The result is empty for counts.
named_raters <- function(x) if (has_counts(x)) character() else x$raters

# Returns the position of each rater in `x$raters`; 1 for all raters if they are not identified.
rater_identity <- function(x) if (has_counts(x)) rep(1L, n_raters(x)) else seq_along(x$raters)

# Returns `value_if_named` if the raters of `x` are identified, and otherwise NA.
na_if_unnamed <- function(x, value_if_named) if (has_counts(x)) NA_integer_ else value_if_named

# Returns a text for errors if raters are not identified, and otherwise NULL.
why_unnamed <- function(x) {
  if (has_counts(x)) "Counts of ratings do not show which rater gave which rating."
}

# Fails if the raters of `x` are not identified. `requirement`: first sentence of the error, which
# names the feature that needs identified raters.
check_named_raters <- function(x, arg, requirement, i = "Give each rating with its rater, in wide or
                                 long data; see {.fun ratings}.") {
  abort_argument_if(has_counts(x), arg, requirement, x = why_unnamed(x), i = i)
}

# Fails if raters are not identified, or if a rater can have several answers to a case.
# `requirement`: first sentence of the error, which names the feature that needs single answers.
check_single_answers <- function(x, arg, requirement) {
  obstacle <- why_unnamed(x) %||% if (has_repeats(x))
    "With {.code repeats = \"{x$repeats}\"}, a rater can rate a case several times."
  abort_argument_if(!is.null(obstacle), arg, requirement, x = obstacle)
}

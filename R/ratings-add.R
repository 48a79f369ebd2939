# Adds ratings to existing ones: of the same or other cases, by the same or other raters.

add_ratings <- function(x, new) {
  if (in_database(x)) abort_no_cases("{.arg new} names cases")
  check_can_grow(x, "Nothing can be added to the ratings of the fit.",
    c("Groups of raters, or reruns, have become one vote each." = !is.null(x$voted)))
  new <- new_ratings_long(replace_key_columns(new, names(x$keys)), x)
  x <- add_new_names(x, new)
  old <- unfold_ratings(x)
  case <- match(new$cases, as_label(x$cases))
  core <- core_patterns_long(
    c(old$row, case[new$row]), c(old$rater, match(new$rater, x$raters)),
    c(old$category, match(new$rating, x$categories)), joined_answers(x, new, case), length(x$cases)
  )
  x <- set_core_patterns(x, core)
  if (x$repeats == "error") check_repeats(x)
  x
}

# Fails for ratings to which nothing can be added, or that cannot be added. `also`: further reasons
# (names), with a logical for each.
check_can_grow <- function(x, message, also) {
  reasons <- c(
    "They have weights." = !is.null(x$weights),
    "Their cases have covariates, which others would lack." = !is.null(x$covariates),
    "They have a confidence, which others would lack." = !is.null(x$confidence),
    "They have abstentions." = has_abstentions(x) || !is.null(x$silent_systems), also
  )
  why <- c(why_unnamed(x), names(which(reasons)))
  abort_argument_if(why, "new", message, x = why[1L],
    i = "Make one {.fun ratings} object of the old and the new ratings, and refit with
        {.code update(fit, x = )}.")
}

# A list: `row` (number of the case in `cases`), `rater` and `rating` of each rating, the last two
# as labels; `cases` as labels; `ids`, cases as given; `answers`, a list of labels by system; and
# `truth`, NULL or a label per case.
new_ratings_long <- function(new, x) {
  if (is.data.frame(new) && all(c("case", "rater", "rating") %in% names(new))) return(new_rows(new))
  new <- as_ratings(new, categories = x$categories, arg = "new")
  if (in_database(new)) abort_no_cases("New ratings need their cases")
  check_can_grow(new, "{.arg new} cannot be added.", c(
    "They have groups of raters, or reruns." = !is.null(new$rater_groups) || has_reruns(new)
  ))
  given <- unfold_ratings(new)
  list(
    row = given$row, rater = new$raters[given$rater], rating = new$categories[given$category],
    cases = as_label(new$cases), ids = new$cases, answers = lapply(
      split_columns(case_answers(new), new$systems), function(code) c(NA, new$categories)[code + 1L]
    ), truth = if (!is.null(new$truth)) new$categories[new$truth$category]
  )
}

# A data frame with a row per rating; a single rater is enough.
new_rows <- function(new) {
  further <- setdiff(names(new), c("case", "rater", "rating"))
  abort_if(further, "columns",
    "{.arg new} must have columns {.val case}, {.val rater} and {.val rating}, and no others.",
    x = "It has {.val {further}}.", column = further)
  check_identifiers(new$case, "case")
  check_identifiers(new$rater, "rater")
  for (column in names(new)) check_text(new[[column]], column)
  check_labels(new$rating, "rating")
  new <- drop_missing(new, "rating")
  ids <- unique(unfactor(new$case))
  list(
    row = match(unfactor(new$case), ids), rater = as_label(new$rater),
    rating = as_label(new$rating), cases = as_label(ids), ids = ids, answers = list()
  )
}

# Adds new cases, raters and categories to `x`.
add_new_names <- function(x, new) {
  strange <- setdiff(names(new$answers), x$systems)
  abort_if(strange, "system", "{.arg new} must have systems of the fit, or none.",
    x = "{.val {strange}} {?is/are} not among them.", system = strange)
  strange <- sort_strings(setdiff(c(new$rating, unlist(new$answers)), c(NA, x$categories)))
  abort_if(x$ordered && length(strange) > 0L, "category",
    "Ordered categories must all be known from the start.",
    x = "{.val {strange}} {?is/are} not among {.val {x$categories}}.", row = NA_integer_,
    column = NA_character_, found = strange)
  x$categories <- c(x$categories, strange)
  x$raters <- union(x$raters, sort_strings(new$rater))
  known <- as_label(x$cases)
  more <- which(!new$cases %in% known)
  if (length(more) > 0L) x$rows <- "ratings"
  x$cases <- if (identical(class(x$cases), class(new$ids))) c(x$cases, new$ids[more]) else
    c(known, new$cases[more])
  if (is.null(x$truth) && is.null(new$truth)) return(x)
  x$truth <- subset_truth(x$truth %||% keep_truth(NA_integer_, x), seq_along(x$cases))
  at <- match(new$cases, as_label(x$cases))
  added <- which(!is.na(new$truth) & is.na(x$truth$category[at]))
  x$truth$category[at[added]] <- match(new$truth[added], x$categories)
  x
}

# Codes of the answers of each system to all cases, NA without an answer. `case`: numbers of the new
# cases.
joined_answers <- function(x, new, case) {
  answers <- lapply(split_columns(case_answers(x), x$systems), function(code) {
    replace(code, code == 0L, NA)[seq_along(x$cases)] # new cases have no answers yet
  })
  for (system in names(new$answers)) {
    added <- match(new$answers[[system]], x$categories)
    before <- answers[[system]][case]
    off <- which(before != added)
    abort_if(off, "system", "A system has one answer per case.",
      x = "{.val {system}} now has another answer in {count_noun(length(off), 'case')}, such as
          {.val {new$cases[[off[[1L]]]]}}.", system = system)
    answers[[system]][case] <- ifelse(is.na(before), added, before)
  }
  answers
}

# Finds the systems: columns of wide data, raters of long data, or a separate table.

# A list: columns (names), raters (names), table, at most one of them not empty; and constant
# (labels, with the systems as names).
read_systems <- function(quos, data, layout) {
  quo <- quos$systems
  if (rlang::quo_is_null(quo)) return(list())
  # Names of columns take precedence over variables.
  is_column <- rlang::quo_is_symbol(quo) && rlang::as_name(quo) %in% names(data)
  used <- all.vars(rlang::quo_get_expr(quo))
  selects <- length(used) > 0L && all(used %in% names(data))
  value <- if (!selects) value_of_argument(quo)
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

# Systems that raters judge give no answers. In `c(app = "pass")`, "pass" is the category of the
# raters for a right answer of the system.
is_constant_system <- function(value) {
  is.character(value) && length(value) > 0L && all(rlang::have_name(value))
}

# Drops constant systems. Agreement with them is undefined.
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

prediction_columns <- c("case", "system", "prediction")

# Checks the data frame of predictions. Its columns have standard names, or those of the ratings.
system_table <- function(table, quos, data) {
  case <- select_column(data, quos$case, "case", several = TRUE)
  table <- replace_key_columns(table, case)
  mapped <- c(
    if (length(case) == 1L) case else NA, select_column(data, quos$rater, "rater") %||% NA,
    select_column(data, quos$rating, "rating") %||% NA
  )
  columns <- ifelse(prediction_columns %in% names(table), prediction_columns, mapped)
  lacking <- prediction_columns[!columns %in% names(table)]
  abort_if(lacking, "columns",
    "{.arg systems} must have columns {.val {prediction_columns}}, or those that {.arg case},
        {.arg rater} and {.arg rating} name.",
    x = "It lacks {.val {lacking}}; it has {.val {names(table)}}.", arg = "systems")
  abort_if(nrow(table) == 0L, "system", "{.arg systems} has no rows.", system = character())
  table <- setNames(plain_columns(table)[columns], prediction_columns)
  for (column in prediction_columns) check_text(table[[column]], column)
  table$case <- unfactor(table$case)
  table$prediction <- clean_levels(table$prediction)
  table
}

# Moves ratings by raters that are systems to a separate table.
split_systems <- function(input, systems, repeats) {
  if (is.null(input$case)) abort_lacking("case")
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

# A row per case and system, with the most frequent answer of its runs; no row if answers tie.
votes_of_systems <- function(table) {
  if (anyDuplicated(table[c("case", "system")]) == 0L) return(table)
  inform_fallible(reruns_vote)
  table <- table[!is.na(table$prediction), ]
  columns <- c(pattern = "case", unit = "system", category = "prediction")
  code <- lapply(columns, function(column) match(table[[column]], unique(table[[column]])))
  table[find_majority(code, max(code$unit), max(code$category)), ]
}

# The argument `truth` of ratings().

# A list like the truth of simulated panels: `category`, a code per case, NA if unknown; `expected`,
# NA for each system; and `kept`, TRUE. NULL if `truth` was not given.
truth_to_keep <- function(input, x) {
  if (is.null(input$truth)) return(NULL)
  abort_argument_if(has_labels(x), "truth",
    "{.arg truth} is one category per case; answers with several labels have no such truth.",
    i = "{.fun single_label} makes ratings with one label.")
  column <- names(input$truth)
  code <- encode(input$truth[[1L]], x$categories, column, "truth")
  label <- value_of_cases(x$categories[code], case_of_rows(input, x), x$cases, column,
    "A case has one true category.")
  keep_truth(match(label, x$categories), x)
}

keep_truth <- function(category, x) {
  list(category = category, kept = TRUE, expected = none_expected(x$systems))
}

# Unknown accuracies, one per system.
none_expected <- function(systems) setNames(rep(NA_real_, length(systems)), systems)

# Did the truth come with the data? Then estimates use it only if the user asks for it.
is_kept_truth <- function(x) isTRUE(x$truth$kept)

format_truth <- function(x) {
  if (is_kept_truth(x)) {
    paste0(
      "Truth kept for ", count_noun(sum(!is.na(x$truth$category)), "case"),
      ", for known_truth = TRUE only"
    )
  }
}

# Fields: category (codes per case, NA if unknown), stratum (codes per case, only for simulated
# panels), expected (accuracy per system, NA if unknown), base_rates, kept (see truth_to_keep()).
subset_truth <- function(truth, cases) {
  truth$category <- truth$category[cases]
  truth$stratum <- truth$stratum[cases]
  truth
}

# Ratings given as counts per category. Raters are not identified; each case has numbered slots.
# Functions that need identified raters use the functions below.

has_counts <- function(x) inherits(x, "ratings_counts")

# Names of identified raters; empty for counts.
named_raters <- function(x) if (has_counts(x)) character() else x$raters

# Number of each rater; 1 for all slots of counts, which are not distinguished.
rater_identity <- function(x) if (has_counts(x)) rep(1L, n_raters(x)) else seq_along(x$raters)

# A value that exists only for identified raters; NA for counts.
if_named_raters <- function(x, value) if (has_counts(x)) NA_integer_ else value

# Reason why counts are not enough; NULL for other ratings.
why_unnamed <- function(x) {
  if (has_counts(x)) "Counts of ratings do not show which rater gave which rating."
}

# `message`: what needs the rater of each rating.
check_named_raters <- function(x, arg, message, i = "Give each rating with its rater, in wide or
                                 long data; see {.fun ratings}.") {
  abort_argument_if(has_counts(x), arg, message, x = why_unnamed(x), i = i)
}

# `message`: what needs one answer per rater and case.
check_single_answers <- function(x, arg, message) {
  why <- why_unnamed(x) %||% if (has_repeats(x)) "Raters of {.arg x} repeat their ratings."
  abort_argument_if(!is.null(why), arg, message, x = why)
}

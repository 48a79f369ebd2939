# Guesses the roles of columns (case, rater, system and others) from their names and values, if the
# user does not specify them.

# Regular expressions for column names:
# * identifier_name_pattern: columns that identify cases.
# * rater_or_case_name_pattern: identifiers that may also be raters.
# * unusual_rater_name_pattern: columns that may be raters or may describe cases.
# * truth_name_pattern: columns of true categories.

identifier_name_pattern <-
  "^([.]?id|(case|item|unit|subject|doc|text|sample)[._]?id|case|item|unit|subject)s?$"
rater_or_case_name_pattern <- "^(item|unit|subject)s?$"
unusual_rater_name_pattern <- "^(epoch|run|model|population)$"
truth_name_pattern <- "^(truth|gold)$"

# Guesses arguments of ratings() from the columns of `data`. Returns a list of column names, with
# the arguments as names. If `data` has no rows, the guess depends on column names only. `arg`: name
# of the argument, for messages.
guess_roles <- function(data, arg) {
  column_names <- names(data)
  lower_names <- fold_case(column_names)
  id_columns <- column_names[grepl(identifier_name_pattern, lower_names)]
  rater_rating_columns <-
    setNames(column_names[match(c("rater", "rating"), lower_names)], c("rater", "rating"))
  roles <- list(case = intersect("case", column_names), weights = intersect("weight", column_names))
  if (!is_empty(id_columns) && !anyNA(rater_rating_columns)) {
    has_repeated_values <- map_int(unclass(data)[id_columns], anyDuplicated) > 0L
    if (is_empty(roles$case))
      roles$case <- if (any(has_repeated_values)) id_columns[has_repeated_values] else
        id_columns[[1L]]
    return(Filter(length, c(roles, rater_rating_columns)))
  }
  roles$systems <- grep("^system", column_names, value = TRUE)
  roles$raters <- setdiff(column_names, unlist(roles))
  # If no label occurs in two of these columns, they are probably not raters. Often there is then a
  # row per rating, with column names that are not recognised.
  possible_raters <- data[roles$raters]
  labels <- if (length(possible_raters) > 2L && all(map_lgl(possible_raters, is.atomic)))
    unlist(lapply(possible_raters, function(x) unique(column_labels(x))))
  abort_argument_if(!is_empty(labels) && !any_repeated(labels), arg,
    "must have a column for each rater.",
    x = "No label occurs in two of the columns {.val {roles$raters}}, so they do not look like
        raters.",
    i = "If there is a row per rating, name the columns:
        {.code ratings(data, case = , rater = , rating = )}.")
  roles <- reassign_rater_columns(roles, data, arg)
  first_column <- if (is_empty(roles$case)) data[[roles$raters[[1L]]]]
  # Warns if the first column probably numbers the cases: its values are at least five different
  # whole numbers, and some of them, but not all, are labels in other columns.
  if (is_plain(first_column, "numeric") && length(first_column) >= 5L &&
    !any_repeated(first_column)) {
    is_other_label <- distinct_labels(first_column) %in%
      unlist(lapply(data[roles$raters[-1L]], distinct_labels))
    # If no value is a label in another column, warn_unshared_labels() gives a warning instead.
    warn_if(
      any(is_other_label) && !all(is_other_label) && all(first_column %in% round(first_column)),
      "labels",
      "Column {.val {roles$raters[[1L]]}} is read as a rater, but seems to number the cases.",
      i = "If it numbers the cases, rename it to {.val case}.",
      labels = as_label(first_column[!is_other_label]))
  }
  Filter(length, roles)
}

# Moves columns from `roles$raters` to other roles if their names are unusual for a rater:
# * Columns that identify cases become `case`.
# * Columns that describe cases become `covariates`, for example populations of diagnostic tests.
# * Columns of true categories get no role.
# * A first column `X` usually contains the row names of a csv file. It becomes `case` if no other
#   column identifies the cases.
reassign_rater_columns <- function(roles, data, arg) {
  truth_columns <- grep(truth_name_pattern, roles$raters, ignore.case = TRUE, value = TRUE)
  if (!is_empty(truth_columns)) inform_fallible(
    "{cli::qty(truth_columns)}Column{?s} {.val {truth_columns}} {?is/are} not read as
      {?a rater/raters}, because the name{?s} suggest{?s/} true categories.",
    i = "Give true categories in the argument {.arg truth} of {.fun ratings}. If the columns contain
      ratings, name all raters in {.arg raters}."
  )
  roles$raters <- setdiff(roles$raters, truth_columns)
  lower_names <- fold_case(roles$raters)
  first_column <- data[[1L]]
  if (!is_empty(first_column) && !any_repeated(first_column) && names(data)[[1L]] == "X")
    lower_names[roles$raters == "X"] <- "unit"
  has_unusual_name <-
    grepl(paste0(identifier_name_pattern, "|", unusual_rater_name_pattern), lower_names)
  if (!any(has_unusual_name)) return(roles)
  labels <- lapply(as.list(data)[roles$raters], distinct_labels)
  column_kinds <- map_chr(seq_along(has_unusual_name), function(position) {
    other_labels <- if (all(has_unusual_name)) labels[-position] else labels[!has_unusual_name]
    kind_of_column(
      data[[roles$raters[[position]]]], labels[[position]], unlist(other_labels),
      lower_names[[position]]
    )
  })
  if (sum(!has_unusual_name) > 1L && all(lengths(labels[!has_unusual_name]) <= 2L))
    column_kinds[lower_names == "population"] <- "covariate"
  columns_by_kind <- split(roles$raters, ifelse(has_unusual_name, column_kinds, "rater"))
  if (is_empty(roles$case))
    roles$case <- head(columns_by_kind$case[order(columns_by_kind$case == "X")], 1L)
  unclear_columns <- c(if (is_empty(roles$case)) columns_by_kind$repeated, columns_by_kind$unclear)
  roles$covariates <- c(
    roles$covariates, columns_by_kind$covariate,
    setdiff(columns_by_kind$repeated, unclear_columns)
  )
  roles$raters <- columns_by_kind$rater
  if (!is_empty(unclear_columns)) abort_unclear_columns(unclear_columns, roles, arg)
  roles
}

# Returns the distinct labels of a column, in lower case and without superfluous blanks. Uses only
# the first `max_categories` + 1 values, because columns of ratings have fewer.
distinct_labels <- function(x) {
  if (is.atomic(x)) plain_label(as_label(head(unique(x[!is.na(x)]), max_categories + 1L)))
}

# Returns the kind of a column whose name is unusual for a rater:
# * "case": an identifier that differs between all rows.
# * "repeated": an identifier with repeated values.
# * "rater": its values are labels of other raters.
# * "unclear": its values do not determine one of these kinds.
#
# Arguments: `x`, the column; `labels`, its distinct labels; `other_labels`, labels of the other
# columns; and `name`, its name in lower case.
kind_of_column <- function(x, labels, other_labels, name) {
  is_unique <- !any_repeated(x)
  has_text_labels <- anyNA(suppressWarnings(as.numeric(labels)))
  shares_labels <- sum(labels %in% other_labels) >= length(labels) * if (has_text_labels) 0.5 else 1
  is_numbered_from_1 <- setequal(labels, seq_along(labels))
  if (grepl(identifier_name_pattern, name)) {
    if (!shares_labels || !grepl(rater_or_case_name_pattern, name))
      return(if (is_unique) "case" else "repeated")
    if (is_unique || (is_numbered_from_1 && n_distinct(table(x)) == 1L)) return("unclear")
  } else if (is_numbered_from_1 && name != "model") {
    return("unclear")
  }
  if (shares_labels) "rater" else "unclear"
}

abort_unclear_columns <- function(unclear, roles, arg) {
  argument_code <- function(role, columns) {
    if (!is_empty(columns))
      sprintf(", %s = c(%s)", role, toString(dQuote(escape_braces(columns), FALSE)))
  }
  example_call <- function(...) {
    paste0("{.code ratings(data", argument_code("raters", roles$raters), ..., ")}.")
  }
  identifier_columns <- c(roles$case, unclear[grepl(identifier_name_pattern, fold_case(unclear))])
  covariate_columns <- setdiff(unclear, identifier_columns)
  if (is_empty(covariate_columns)) covariate_columns <- unclear
  abort_argument(arg, "It is unclear whether {cli::qty(unclear)}{?this column/these columns} of
      {.arg {arg}} {cli::qty(unclear)}contain{?s/} ratings: {.val {unclear}}.",
    i = c(
      paste("If the {cli::qty(unclear)}column{?s} identif{?ies/y} cases:",
        example_call(argument_code("case", unique(c(identifier_columns, unclear))))),
      paste("If the {cli::qty(unclear)}column{?s} describe{?s/} cases:",
        example_call(argument_code("case", setdiff(identifier_columns, covariate_columns)),
          argument_code("covariates", covariate_columns))),
      "If the {cli::qty(unclear)}column{?s} contain{?s/} ratings, name the columns of all raters in
        {.arg raters}."
    ), columns = unclear)
}

#' Ratings and predictions as tables
#'
#' `tidy()` and `as.data.frame()` return a table from a [ratings()] object: the ratings, the answers
#' of systems, or a summary. `glance()` returns a summary in one row.
#'
#' @param x A [ratings()] object.
#' @param row.names,optional,stringsAsFactors Required by the generic function. A second argument
#'   without a name is used as `what`.
#' @param what Name of a table in section *Tables*, a string. `NULL`, the default, is `"ratings"`.
#' @param ... Not used; catches misspelt arguments.
#' @param spreadsheet If `TRUE`, the function puts an apostrophe before labels and names that a
#'   spreadsheet would read as formulas. By default `FALSE`.
#'
#' @section Tables:
#' * `"ratings"`: one row per rating, with `case`, `rater` (`NA` if ratings were given as counts)
#'   and `rating` (a factor with all categories as levels). If they exist, also `confidence` (an
#'   ordered factor), `abstained` (`TRUE` if the rater abstained; `rating` is then `NA`),
#'   `rater_group`, `weight` of the case, and covariates.
#' * `"systems"`: one row per answer of a system, with `case`, `system` and `prediction`. If systems
#'   abstained, also `abstained`.
#' * `"scores"`: one row per `case`, `system` and `category`, with the `score`.
#' * `"answers"`: one row per `case` and `rater`, with `labels`, a list of factors with all labels
#'   of the answer. Only this table contains answers with an empty set of labels.
#' * `"counts"`: one row per `case`, with the number of raters who chose each category.
#' * `"covariates"`: one row per `case`, with its covariates. If several columns identify a case,
#'   also these columns.
#' * `"patterns"`: one row per pattern, which is a group of cases with the same ratings, answers of
#'   systems and covariates. Columns are a factor for each rater and system, the covariates, and
#'   `n`, the number of cases or their total weight. If raters are not identified or rate a case
#'   more than once, the table has a column per category, with the number of ratings, instead of a
#'   column per rater.
#' * `"raters"`: one row per `rater`, with the number of `ratings`, and `agreement`, the share of
#'   equal pairs. A pair is a rating of this rater and one of another rater on the same case. If
#'   they exist, also `group`, and `rerun_agreement`, the share of equal pairs of reruns (repeated
#'   answers). Shares are `NA` without pairs.
#' * `"categories"`: one row per `category`, with the number of `ratings` and their `share` of all
#'   ratings.
#' * `"groups"`: one row per `group` of several raters, see [rater_groups]. Columns are the number
#'   of `raters`; `agreement`, the share of equal pairs of their ratings; `votes`, the number of
#'   cases with a single most frequent category; and `split`, the number of cases in which several
#'   categories are most frequent.
#' * `"system_agreement"`: one row per `system`, with the number of `cases` that it answered;
#'   `unrated`, the number of these cases without ratings; and `agreement`, the share of their
#'   ratings that are equal to the system's answer (`NA` without ratings).
#' * `"workers"`: for a crowd from [simulate_crowd()], one row per rater, with the name `worker` and
#'   the simulated `kind`.
#'
#' @return `tidy(x, what)` returns a tibble, `as.data.frame(x, what = what)` the same table as a
#'   data frame.
#'
#'   `glance(x)` returns a tibble with one row: the numbers of `cases`, `raters`, `ratings`,
#'   `categories`, `systems` and `patterns` (see *Tables*); `agreement`, the share of equal pairs of
#'   ratings of the same case; Fleiss' `kappa`; and `chance_kappa`, the kappa of Lehner (2015) with
#'   chance agreement 1 / number of categories. The last three are `NA` for answers with several
#'   labels, or if no case has two ratings.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' # One row per rating, and one row per answer of the system
#' tidy(x)
#' as.data.frame(x, what = "systems")
#' # Number of raters who chose each category
#' tidy(x, "counts")
#' # Different patterns of ratings, if raters are not identified
#' tidy(ratings(fleiss1971, case = case, counts = depression:other), "patterns")
#' # Agreement and kappa
#' glance(x)
#' @export
as.data.frame.ratings <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name.
                                  what = NULL, ..., spreadsheet = FALSE,
                                  stringsAsFactors = FALSE) { # nolint: object_name.
  escape_for_spreadsheet(plain_data_frame(tidy(x, row.names %||% what, ...)), spreadsheet)
}

count_table <- function(x) {
  abort_argument_if("case" %in% x$categories, "x",
    "No category can be called {.val case}, the name of the column of cases.",
    i = "Give this category another name, for example with {.arg categories} of {.fun ratings}.")
  columns_tibble(case = x$cases, !!!split_columns(unname(category_counts(x)), x$categories))
}

simulated_worker_table <- function(x) {
  abort_argument_if(is.null(x$kinds), "x", "The kinds of the workers of {.arg x} are not known.",
    i = "They are known only for a crowd from {.fun simulate_crowd}.")
  columns_tibble(worker = x$raters, kind = x$kinds[x$raters])
}

system_answer_table <- function(x) {
  answer_codes <- case_answers(x)
  system_abstentions <- x$silent_systems
  answer_codes[
    cbind(as.integer(system_abstentions$case), as.integer(system_abstentions$rater))
  ] <- NA
  answer_cells <- which(answer_codes > 0L | is.na(answer_codes), arr.ind = TRUE)
  tibble(
    case = x$cases[answer_cells[, 1L]], system = x$systems[answer_cells[, 2L]],
    prediction = category_factor(answer_codes[answer_cells], x),
    abstained = if (!is.null(system_abstentions)) is.na(answer_codes[answer_cells])
  )
}

rating_table <- function(x) {
  ratings <- add_entries(unfold_ratings(x), x$abstained, NA)
  case_of_rating <- ratings$row
  long_ratings <- tibble(
    case = x$cases[case_of_rating], rater = named_raters(x)[ratings$rater],
    rating = category_factor(ratings$category, x),
    !!!lapply(setNames(nm = role_fields(x)), function(role) {
      role_codes <- codes_of_ratings(x, role, case_of_rating, ratings$rater)
      rating_roles[[role]]$values(x[[role]]$levels)[role_codes]
    }),
    abstained = if (has_abstentions(x)) is.na(ratings$category),
    rater_group = x$rater_groups[ratings$rater],
    weight = x$weights[case_of_rating] # NULL stays NULL
  )
  for (name in names(x$covariates)) long_ratings[[name]] <- x$covariates[[name]][case_of_rating]
  long_ratings
}

category_factor <- function(code, x) {
  factor(x$categories[code], levels = x$categories, ordered = x$ordered)
}

# Predicate of a sentence about raters whose Fleiss' kappa is not above 0.
agreement_by_chance_words <-
  "agree no better than by chance, given how often they use each category"

# Returns Fleiss' kappa. `agreement`: share of agreeing pairs of ratings of the same case.
kappa_of_agreement <- function(x, agreement) {
  chance_agreement <- sum(table_of_categories(x)$share^2)
  na_real(ratio(agreement - chance_agreement, 1 - chance_agreement))
}

# Variables of a codebook: a named list with ratings for each variable.

# Is `x` a list of ratings objects, one for each variable of a codebook? Fails if some elements of
# the list are not ratings objects.
is_variables <- function(x, arg = "x") {
  if (!is.list(x) || is.object(x) || !any(map_lgl(x, is_ratings))) return(FALSE)
  other_elements <- check_variable_names(x, arg)[!map_lgl(x, is_ratings)]
  abort_argument_if(other_elements, arg, "must be a list of {.fun ratings} objects only.",
    x = "{.val {other_elements[[1L]]}} is {describe(x[[other_elements[[1L]]]])}.",
    i = "Leave this element out, or convert it with {.fun ratings}.")
  TRUE
}

check_variable_names <- function(variables, arg) {
  variable_names <- names2(variables)
  abort_argument_if(any(variable_names == "") || any_repeated(variable_names), arg,
    "must have a different name for each variable.", x = "Its names are {.val {variable_names}}.")
  variable_names
}

# Returns a list of arguments of ratings() for each variable of a codebook; NULL if there is only
# one variable. In long data each variable is a column: `rating = c(topic, tone)`. In wide data each
# variable has columns of raters: `raters = list(topic = t1:t3, tone = s1:s3)`.
variables_of_columns <- function(data, columns, repeats) {
  rating_quosure <- columns$rating
  if (quo_is_call(columns$raters, "list")) {
    roles <- call_args(columns$raters)
    check_variable_names(roles, "raters")
    return(lapply(roles, function(role) list(raters = role)))
  }
  if (!is.data.frame(data) || repeats == "labels" || !quo_is_call(rating_quosure, c("c", ":")))
    return(NULL)
  variable_names <- select_columns(data, rating_quosure, "rating")
  if (length(variable_names) < 2L) return(NULL)
  is_flag_column <- function(x) all(x %in% c(0, 1, NA))
  if (all(map_lgl(data[variable_names], is_flag_column))) inform_fallible(
    "Columns {.val {variable_names}} of 0 and 1 are read as variables of a codebook: each has
      separate ratings.",
    i = "If they are labels of one answer, give {.code repeats = \"labels\"}.")
  # The attribute `variables` names all variables, so that read_input() can ignore the columns of
  # the other variables.
  lapply(setNames(nm = variable_names), function(name) {
    list(rating = structure(name, variables = variable_names))
  })
}

# Calls ratings() for each variable of a codebook. Returns a named list of ratings.
# * variables: arguments for each variable, from variables_of_columns().
# * options, columns: the other arguments of ratings(); `columns` contains quosures.
# * call: the user's call of ratings().
ratings_of_variables <- function(variables, options, columns, call, env = parent.frame(2L)) {
  quosures_of_lists <- Filter(function(quo) quo_is_call(quo, "list"),
    columns[c("systems", "truth", names(rating_roles))])
  # Arguments that the user gave as lists, with an element for each variable.
  arguments_by_variable <- c(
    lapply(quosures_of_lists, call_args), Filter(is.list, options[c("categories", "abstain")])
  )
  ordered <- options$ordered
  if (is.character(ordered)) ordered <- rep_named(ordered, TRUE)
  if (has_names(ordered)) arguments_by_variable$ordered <- as.list(ordered)
  for (arg in names(arguments_by_variable)) {
    unknown_names <- setdiff(names2(arguments_by_variable[[arg]]), names(variables))
    abort_argument_if(unknown_names, arg, "must have names of variables.",
      x = "There is no variable {.val {unknown_names}}.",
      i = similar_values_hint(unknown_names, names(variables)))
  }
  has_abstain_argument <- !is.null(options$abstain)
  if (has_abstain_argument) call$abstain <- structure(options$abstain, shared = TRUE)
  ratings <- Map(function(role, name) {
    call[names(role)] <- role
    call[names(arguments_by_variable)] <- lapply(arguments_by_variable, `[[`, name)
    withCallingHandlers(name_variable_in_conditions(name, eval(call, env)),
      fallible_warning_names = rlang::cnd_muffle)
  }, variables, names(variables))
  # All variables have the same raters, so similar names are reported only once.
  warn_similar_names(unique(unlist(lapply(ratings, `[[`, "raters"))), "rater")
  # Fails if the labels of `abstain` are used in no variable.
  if (has_abstain_argument) {
    variable_has_abstentions <- map_lgl(ratings, function(x) {
      has_abstentions(x) || !is.null(x$silent_systems)
    })
    check_abstain_used(any(variable_has_abstentions), options$abstain,
      unlist(lapply(ratings, `[[`, "categories")))
  }
  ratings
}

# Finds the roles of columns from their names and values, if the user does not specify them.

id_names <- "^([.]?id|(case|item|unit|doc|text|sample)[._]?id|case|item|unit)$"
key_names <- "^(epoch|run|model|population)$"

# Returns arguments of ratings(). If `data` has no rows, only names are used.
guess_roles <- function(data, arg) {
  columns <- names(data)
  folded <- fold_case(columns)
  ids <- columns[grepl(id_names, folded)]
  long <- match(c("rater", "rating"), folded)
  roles <- list(case = intersect("case", columns), weights = intersect("weight", columns))
  if (length(ids) > 0L && !anyNA(long)) {
    repeated <- vapply(unclass(data)[ids], anyDuplicated, 0L) > 0L
    if (length(roles$case) == 0L) roles$case <- if (any(repeated)) ids[repeated] else ids[[1L]]
    return(Filter(length, c(roles, rater = columns[long[[1L]]], rating = columns[long[[2L]]])))
  }
  roles$systems <- grep("^system", columns, value = TRUE)
  roles$raters <- setdiff(columns, unlist(roles))
  check_labels_shared(data[roles$raters], arg)
  Filter(length, resolve_raters(roles, data, arg))
}

# Removes columns from the raters in `roles` that identify cases, or that are populations of
# diagnostic tests with two results (as in data of template_huiwalter() of runjags).
resolve_raters <- function(roles, data, arg) {
  folded <- fold_case(roles$raters)
  odd <- grepl(paste0(id_names, "|", key_names), folded)
  if (!any(odd)) return(roles)
  labels <- lapply(as.list(data)[roles$raters], distinct_labels)
  kind <- vapply(seq_along(odd), function(at) {
    usual <- if (all(odd)) labels[-at] else labels[!odd]
    kind_of_column(data[[roles$raters[[at]]]], labels[[at]], unlist(usual), folded[[at]])
  }, "")
  if (sum(!odd) > 1L && all(lengths(labels[!odd]) <= 2L)) kind[folded == "population"] <- "about"
  columns <- split(roles$raters, ifelse(odd, kind, "rater"))
  if (length(roles$case) == 0L) roles$case <- head(columns$case, 1L)
  unclear <- c(if (length(roles$case) == 0L) columns$repeated, columns$unclear)
  roles$covariates <- c(roles$covariates, columns$about, setdiff(columns$repeated, unclear))
  roles$raters <- columns$rater
  if (length(unclear) > 0L) abort_unclear(unclear, roles, arg)
  roles
}

# Labels of a column, at most one more than the maximal number of categories.
distinct_labels <- function(x) {
  if (is.atomic(x)) plain_label(as_label(head(unique(x[!is.na(x)]), max_categories + 1L)))
}

# Kind of a column with an unusual name: "case" (identifier, different in all rows), "repeated"
# (identifier with repeated values), "rater" (values are labels of other raters) or "unclear".
kind_of_column <- function(x, labels, usual, name) {
  once <- anyDuplicated(x) == 0L
  words <- anyNA(suppressWarnings(as.numeric(labels)))
  shared <- sum(labels %in% usual) >= length(labels) * if (words) 0.5 else 1
  number <- setequal(labels, seq_along(labels))
  if (grepl(id_names, name)) {
    if (!shared || !name %in% c("item", "unit")) return(if (once) "case" else "repeated")
    if (once || (number && length(unique(table(x))) == 1L)) return("unclear")
  } else if (number && name != "model") {
    return("unclear")
  }
  if (shared) "rater" else "unclear"
}

abort_unclear <- function(unclear, roles, arg) {
  given <- function(role, columns) {
    quoted <- toString(dQuote(verbatim(columns), FALSE))
    if (length(columns) > 0L) paste0(", ", role, " = c(", quoted, ")")
  }
  call <- function(...) paste0("{.code ratings(data", given("raters", roles$raters), ..., ")}.")
  case <- c(roles$case, unclear[grepl(id_names, fold_case(unclear))])
  about <- setdiff(unclear, case)
  if (length(about) == 0L) about <- unclear
  abort_argument(arg, "{.arg {arg}} has {cli::qty(unclear)}{?a column that may be no rater/columns
      that may be no raters}: {.val {unclear}}.",
    i = c(
      paste("If they identify cases:", call(given("case", unique(c(case, unclear))))),
      paste("If they describe cases:",
        call(given("case", setdiff(case, about)), given("covariates", about))),
      "If they are raters, name all raters in {.arg raters}."
    ), columns = unclear)
}

# Data with a row per rating and unusual column names have no two columns with the same labels.
check_labels_shared <- function(columns, arg) {
  if (length(columns) < 3L || !all(vapply(columns, is.atomic, NA))) return(invisible())
  labels <- unlist(lapply(columns, function(x) unique(column_labels(x))))
  abort_argument_if(length(labels) > 0L && anyDuplicated(labels) == 0L, arg,
    "must have a column for each rater.",
    x = "No label occurs in two of the columns {.val {names(columns)}}, so they do not look like
        raters.",
    i = "If there is a row per rating, name the columns:
        {.code ratings(data, case = , rater = , rating = )}.")
}

#' Ratings and predictions as tables
#'
#' Returns the ratings, the answers of systems, and summaries of both as tables.
#'
#' @param x A [ratings()] object.
#' @param row.names,optional For consistency with the generic. Tables have no row names; a second
#'   argument without a name is taken as `what`, as in `as.data.frame(x, "covariates")`.
#' @param what `"ratings"` (the default): one row per rating. `"systems"`: one row per prediction.
#'   `"answers"`: one row per case and rater, with all labels of the answer. `"scores"`: one row per
#'   case, system and category.
#'
#'   `"counts"`, the classification matrix: `case`, and for each category the number of raters who
#'   chose it.
#'
#'   `"patterns"`: one row per pattern. Cases with the same ratings, the same answers of systems and
#'   the same covariates are one pattern. All fits of this package use patterns. A user-defined
#'   model should use them too: its time then depends on the number of patterns, not of cases.
#'
#'   `"covariates"`: one row per case, with `case`, the columns that identify the case if there
#'   are several (see [ratings()]), and its covariates. Join this table with others by `case`.
#'
#'   `"workers"`: one row per worker of a crowd from [simulate_crowd()], with its `kind`.
#'
#'   `"raters"`: one row per rater, with the number of `ratings` and `agreement`, the share of equal
#'   pairs of a rating of the rater and one of another rater. It also has `rerun_agreement` if there
#'   are reruns, and `group` if there are groups. `"categories"`: one row per category, with the
#'   number of `ratings` and their `share`. `"groups"`: one row per group of several raters.
#'   `"system_agreement"`: one row per system, with the number of `cases` that it answered, the
#'   number of them that are `unrated`, and its `agreement` with the ratings.
#' @param ... Not used.
#' @param spreadsheet Is the table for a spreadsheet? If `TRUE`, labels that a spreadsheet would
#'   read as formulas begin with an apostrophe.
#' @return `tidy()`: a tibble; `as.data.frame()`: the same as a data frame.
#'   * Ratings: `case`, `rater` (`NA` if raters are not identified), `rating` (a factor with all
#'     categories as levels); and, if they exist, `confidence` (an ordered factor), `abstained` (is
#'     the row an abstention, whose `rating` is `NA`?), `rater_group`, `weight` and covariates of
#'     cases.
#'   * Systems: `case`, `system` and `prediction`; and, if systems abstained, `abstained` (is the
#'     row an abstention, whose `prediction` is `NA`?).
#'   * Scores: `case`, `system`, `category` and `score`.
#'   * Answers: `case`, `rater` and `labels`, a list of factors, empty for an answer without labels.
#'     Other tables do not contain answers without labels.
#'   * Patterns: a factor for each rater; if raters are exchangeable or rate a case more than once,
#'     the number of ratings in each category instead. The next columns are a factor for each
#'     system, each covariate, and `n`, the number of cases or their total weight.
#'
#'   If raters have names, `ratings()` of these tables returns the same object, without cases and
#'   raters that have no rating.
#'
#'   `glance()`: a tibble with one row: the numbers of `cases`, `raters`, `ratings`, `categories`,
#'   `systems` and `patterns`; `agreement`, the share of pairs of raters that agree; Fleiss'
#'   `kappa`; and `chance_kappa`, the kappa of Lehner (2015), with chance agreement 1 / number of
#'   categories. The last three are `NA` for answers with several labels.
#'
#'   `format()`: these numbers in one line.
#' @family data
#' @examples
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' tidy(x)
#' as.data.frame(x, what = "systems")
#' tidy(x, "counts")
#' tidy(ratings(fleiss1971, case = case, counts = depression:other), "patterns")
#' glance(x)
#' @export
as.data.frame.ratings <- function(x, row.names = NULL, optional = FALSE, # nolint: object_name.
                                  what = NULL, ..., spreadsheet = FALSE) {
  for_spreadsheet(plain_data_frame(tidy(x, row.names %||% what, ...)), spreadsheet)
}

count_table <- function(x) {
  counts <- category_counts(x)
  abort_argument_if("case" %in% x$categories, "x",
    "No category can be called {.val case}, the name of the column of cases.",
    i = "Give that category another name.")
  columns_tibble(case = x$cases, !!!split_columns(unname(counts), x$categories))
}

drawn_workers <- function(x) {
  abort_argument_if(is.null(x$kinds), "x", "The kinds of the workers of {.arg x} are not known.",
    i = "Those of a crowd from {.fun simulate_crowd} are.")
  tibble::tibble(worker = x$raters, kind = unname(x$kinds[x$raters]))
}

answers_of_systems <- function(x) {
  answer <- case_answers(x)
  silent <- x$silent_systems
  answer[cbind(as.integer(silent$case), as.integer(silent$rater))] <- NA
  at <- which(answer > 0L | is.na(answer), arr.ind = TRUE)
  tibble::tibble(
    case = x$cases[at[, 1L]], system = x$systems[at[, 2L]],
    prediction = category_factor(answer[at], x),
    abstained = if (!is.null(silent)) is.na(answer[at])
  )
}

ratings_by_rater <- function(x) {
  ratings <- add_entries(unfold_ratings(x), x$abstained, NA)
  row <- ratings$row
  levels <- x$confidence$levels
  out <- tibble::tibble(
    case = x$cases[row], rater = named_raters(x)[ratings$rater],
    rating = category_factor(ratings$category, x),
    confidence = if (!is.null(levels)) {
      factor(level_of_ratings(x, row, ratings$rater), seq_along(levels), levels, ordered = TRUE)
    },
    abstained = if (has_abstentions(x)) is.na(ratings$category),
    rater_group = x$rater_groups[ratings$rater], weight = x$weights[row] # NULL stays NULL
  )
  for (name in names(x$covariates)) out[[name]] <- x$covariates[[name]][row]
  out
}

category_factor <- function(code, x) {
  factor(x$categories[code], levels = x$categories, ordered = x$ordered)
}

facts_of_ratings <- function(x) {
  votes <- merge_reruns(x)
  fit <- if (has_labels(x)) list(agreement = NA_real_, kappa = NA_real_) else
    core_fit_algebraic(votes$patterns, pattern_weights(votes))
  list(
    cases = nrow(x), raters = n_raters(x), ratings = n_ratings(x), categories = n_categories(x),
    systems = n_systems(x), patterns = n_patterns(x), agreement = fit$agreement,
    kappa = kappa_of_agreement(votes, fit$agreement), chance_kappa = fit$kappa
  )
}

# Text for a kappa that is not above 0.
chance_beyond_shares <- "agree no better than by chance, given how often they use each category"

# Fleiss' kappa for a given share of agreeing pairs of raters.
kappa_of_agreement <- function(x, agreement) {
  weight <- pattern_weights(x)[rating_pattern(x)]
  answers <- rowsum_codes(rating_category(x), weight, n_categories(x))
  by_chance <- sum((answers / sum(answers))^2)
  na_real(ratio(agreement - by_chance, 1 - by_chance))
}

line_of_ratings <- function(facts, size) {
  paste0(
    size, if (facts$systems > 0L) paste0(", ", count_noun(facts$systems, "system")),
    if (!is.na(facts$agreement)) {
      paste0(": pairs of raters agree in ", percent(facts$agreement), " (kappa ",
        decimals(facts$kappa, 2L), ")")
    }
  )
}

# Variables of a codebook: a named list with ratings for each variable.

# Is `x` a plain list of ratings? A list that also holds anything else is refused.
is_variables <- function(x, arg = "x") {
  if (!is.list(x) || is.object(x) || !any(vapply(x, is_ratings, NA))) return(FALSE)
  names <- check_variable_names(x, arg)
  other <- names[!vapply(x, is_ratings, NA)]
  abort_argument_if(other, arg, "must hold ratings of each variable, and nothing else.",
    x = "{.val {other[[1L]]}} is {describe(x[[other[[1L]]]])}.",
    i = "Make ratings with {.fun ratings}.")
  TRUE
}

check_variable_names <- function(variables, arg) {
  names <- names2(variables)
  abort_argument_if(any(names == "") || anyDuplicated(names) > 0L, arg,
    "must have a different name for each variable.", x = "Its names are {.val {names}}.")
  names
}

# Arguments of ratings() for each variable of a codebook, NULL without several variables. Long data
# have a column per variable, `rating = c(topic, tone)`. Wide data have columns of raters for each,
# `raters = list(topic = t1:t3, tone = s1:s3)`.
variables_of_columns <- function(data, columns, repeats) {
  rating <- columns$rating
  if (rlang::quo_is_call(columns$raters, "list")) {
    roles <- rlang::call_args(columns$raters)
    check_variable_names(roles, "raters")
    return(lapply(roles, function(role) list(raters = role)))
  }
  if (!is.data.frame(data) || repeats == "labels" || !rlang::quo_is_call(rating, c("c", ":"))) {
    return(NULL)
  }
  names <- select_columns(data, rating, "rating")
  flags <- length(names) > 1L && all(vapply(data[names], function(x) all(x %in% c(0, 1, NA)), NA))
  if (flags) inform_fallible("Columns {.val {names}} of 0 and 1 are read as variables.",
    i = "If they are labels of one answer, say {.code repeats = \"labels\"}.")
  if (length(names) > 1L) {
    setNames(lapply(names, function(name) list(rating = name)), names)
  }
}

# Calls ratings() for each variable. Arguments that are lists with names of variables, also of
# columns, have something for each of them; `abstain` as labels has what any variable uses.
rate_variables <- function(variables, options, columns, call, env = parent.frame(2L)) {
  lists <- Filter(function(quo) rlang::quo_is_call(quo, "list"),
    columns[c("systems", "truth", "confidence")])
  named <- c(lapply(lists, rlang::call_args), Filter(is.list, options[c("categories", "abstain")]))
  if (!is.null(names(options$ordered))) named$ordered <- as.list(options$ordered)
  for (arg in names(named)) {
    unknown <- setdiff(names2(named[[arg]]), names(variables))
    abort_argument_if(unknown, arg, "must have names of variables.",
      x = "There is no variable {.val {unknown}}.", i = near_values(unknown, names(variables)))
  }
  shared <- !is.null(options$abstain)
  if (shared) call$abstain <- structure(options$abstain, shared = TRUE)
  ratings <- Map(function(role, name) {
    call[names(role)] <- role
    call[names(named)] <- lapply(named, `[[`, name)
    eval(call, env)
  }, variables, names(variables))
  if (shared) {
    used <- vapply(ratings, function(x) has_abstentions(x) || !is.null(x$silent_systems), NA)
    check_abstain_used(any(used), options$abstain, unlist(lapply(ratings, `[[`, "categories")))
  }
  ratings
}

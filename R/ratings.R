# The ratings object: the category that each rater gave to each case, and the answers of systems.

#' Ratings of cases by raters, with the answers of systems
#'
#' Checks ratings and collects them in one object, the input of the other functions of this package.
#' *Raters* are people or programs who assigned categories to cases. *Systems* are classifiers whose
#' accuracy you want to estimate; their answers never count as ratings. Most functions need at least
#' two raters. With one rater, [estimate_accuracy()] and [fit_raters()] need cases with known truth,
#' or known error rates of the rater.
#'
#' @section Layouts:
#' * **Wide**: a data frame with one row per case. `raters` selects the columns of the raters.
#' * **Long**: a data frame with one row per rating. `case`, `rater` and `rating` select its
#'   columns. Columns of `weights`, `truth` and `covariates` must not differ within a case.
#' * **Matrix**: cases in rows, raters in columns. Row names, if any, name the cases.
#' * **Table**: the agreement matrix of two raters, of class [table][base::table]. Rows are the
#'   categories of one rater, columns those of the other, and cells are numbers of cases. Each
#'   further rater adds a dimension.
#' * **Counts**: one row per case and one column per category (`counts`), with the number of raters
#'   who chose the category. It is then unknown which rater gave which rating.
#' * **Lazy table** of \pkg{dbplyr}: a table in a database, in the wide, long or counts layout. Some
#'   arguments are not available for it, see [ratings-database].
#'
#' Ratings may be factors, strings, logicals or numbers. They are compared as text. A missing rating
#' is `NA`.
#'
#' @section Categories:
#' If the rating columns are factors, the categories are their levels, including unused levels.
#' Otherwise the categories are the labels in the ratings. If all labels are numbers, also as text,
#' they are in numeric order. Other strings are in the order of the C locale (capitals first). The
#' labels `"-"` and `"+"` are in this order. Give `categories` if there are categories that no rater
#' chose: their number affects the agreement that is expected by chance.
#'
#' @section Cases identified by several columns:
#' With `case = c(prompt, app)` each combination of `prompt` and `app` is a case, with an identifier
#' such as `"p17/v2"`. Arguments `by` and `cluster` of [estimate_accuracy()] accept the names of
#' these columns. Data frames about cases, such as known truths, may have them in place of `case`.
#'
#' @section Several labels:
#' With `repeats = "labels"`, an answer may have any number of labels. Long data then have one row
#' per label, or one row per answer. With one row per answer, `rating` is a list column of labels,
#' or several columns of 0 and 1, one per label. An answer without labels is an empty list element,
#' or 0 in all columns. `NA` is an answer that was not given.
#'
#' @section Several variables:
#' If raters coded several variables (a codebook), select the columns of each: in long data
#' `rating = c(topic, tone)`, in wide data `raters = list(topic = t1:t3, tone = s1:s3)`. The value
#' is then a list of `ratings` objects, named by variable, which [agreement()],
#' [compare_agreement()], [data_check()], [estimate_accuracy()] and [compare_systems()] accept.
#' Arguments `categories`, `abstain`, `systems`, `truth` and `confidence` may be lists named by
#' variable, such as `truth = list(topic = a, tone = b)`. `ordered` may be a vector named by
#' variable, or the names of the variables that are ordered.
#' @srrstats {G2.5, UL1.0, UL1.1, UL3.2} `ordered`, `categories`; cases without names are numbered
#' @srrstats {G2.13, G2.15, BS3.0, UL2.2} `NA` is a missing rating, in every layout and for every
#'   verb
#' @srrstatsNA {G2.14, G2.14a, G2.14b, G2.14c} missing ratings are what models are about: no option
#' @param data A data frame, a matrix, a table or a lazy table, see section *Layouts*. Other
#'   arguments select its columns; `NULL`, their default, means that there is no such column.
#' @param ... Two arguments for labels. `na`: labels that mean a missing value, in addition to `NA`;
#'   capitals and surrounding blanks are ignored. `clean_labels`: if `TRUE`, merges labels that
#'   differ only in capitals and blanks, and removes blanks at the ends of names of cases, raters
#'   and systems; by default `FALSE`.
#' @param raters In wide data, the columns of ratings, one per rater. This and the other arguments
#'   for columns accept [tidyselect][tidyselect::language], such as `r1:r4`, `starts_with("rater")`
#'   or `c("x", "y")`. A range or a pattern skips columns with names such as `id`, see section
#'   *Identifiers* of [as_ratings()]. For a matrix, the default is all columns that are not systems.
#' @param systems The systems, in one of these forms:
#'   * In wide data, columns of answers, one per system.
#'   * In long data, names of raters that are systems, as strings.
#'   * In any layout, a data frame with columns `case`, `system` and `prediction`, or with the names
#'     given in `case`, `rater` and `rating`.
#'   * If raters judge whether the answers of an application are right, a named string such as
#'     `systems = c(app = "pass")`. It gives the name of the application and the category that means
#'     "right". The accuracy of `app` is then its pass rate.
#'
#'   Systems may answer only some cases.
#' @param case,rater,rating Columns of the identifiers of cases and, in long data, of the names of
#'   raters and of the ratings. Identifiers are strings, factors or numbers, never missing. In wide
#'   data, `case` is optional: without it, row names of a matrix or row numbers identify the cases.
#' @param counts Columns with numbers of ratings, one column per category. The names of the columns
#'   are the categories. Counts are whole numbers of at least 0, never missing.
#' @param categories Labels of all categories, in order. With `NULL`, the default, they are taken
#'   from the data, see section *Categories*. An element with a name merges a label into another
#'   one: `c(Pneumonia = "pneumona")` replaces `"pneumona"` by `"Pneumonia"`. If all elements have
#'   names, the remaining categories are taken from the data.
#' @param ordered Are the categories ordered? By default `TRUE` if the ratings are ordered factors,
#'   otherwise `FALSE`. If labels are words, give their order by `categories` or by factor levels;
#'   without them, `ratings()` guesses the order and warns. If labels are numbers and `ordered` is
#'   not given, ordinal measures use the numbers; with `FALSE`, the numbers are only names.
#' @param weights A column of weights of cases, at least 0; by default all are 1. A whole number is
#'   the number of identical cases that a case represents. With any other weights, later estimates
#'   have no standard errors and intervals (`NA`).
#' @param repeats What several rows of one rater on one case mean:
#'   * `"error"` (the default): a mistake in the data. `ratings()` stops with an error. If all these
#'     rows are equal in all columns of `data`, copies are left out with a warning.
#'   * `"ratings"`: independent ratings. Two ratings by the same rater do not count as agreement
#'     between raters, but each is evidence about the case.
#'   * `"reruns"`: the same question asked again, for example of a language model. The most frequent
#'     answer of the rater counts as one rating, see [rater_groups].
#'   * `"labels"`: one answer with several labels, for [crowdtruth()] and [single_label()].
#'
#'   With `"ratings"` and `"reruns"`, equal rows are repeated ratings, unless the data show that
#'   they are copies. In such data, a column without a role (for example a run number) distinguishes
#'   all other repeated ratings of a rater and case. There are also not more copies than these.
#'   Copies are left out with a warning. In wide data with `case`, or with row names of a matrix,
#'   copies of a row are left out unless other rows repeat a case.
#' @param rater_groups Groups of raters who share a source, such as a family of language models. In
#'   models, the most frequent rating of a group counts as one rating, see [rater_groups]. One of: a
#'   vector of groups with the raters as names; a data frame with columns `rater` and `group`; in
#'   long data, a column with one value per rater. A rater without a group, or with `NA`, is a group
#'   by itself.
#' @param truth A column with the true category of each case, `NA` if it is unknown. Estimates
#'   ignore the truth unless [estimate_accuracy()] is called with `known_truth = TRUE`.
#' @param covariates Columns with other properties of the cases, such as a site or an age, for
#'   models (see [rater_model()]) and for `by` and `cluster` of [estimate_accuracy()]. They contain
#'   numbers, strings, factors or logicals, without missing values.
#' @param rater_kind Kind of the raters: `"expert"` or `"crowd"` (people), `"model"` (language
#'   models) or `"tool"` (other programs). One word for all raters, or a vector of words named by
#'   rater or by group; `NULL`, the default, if unknown. If all raters are models or tools,
#'   intervals of [estimate_accuracy()] are wider.
#' @param scores Scores that the systems give to the categories, for measures such as the area under
#'   the ROC curve (see [score_metrics]). In wide data, a list with the systems as names. Each
#'   element is a vector of column names, with the categories as names:
#'   `list(new = c(no = "p_no", yes = "p_yes"))`. With two categories, one column is enough. In any
#'   layout, a data frame with columns `case`, `system`, `category` and `score`.
#'
#'   By default, scores are probabilities that sum to one within each case, up to rounding errors of
#'   .005 per category. For other scores, add `scale = "order"` to the list, or give
#'   `list(table, scale = "order")` for a data frame `table`. Only the order of the cases within a
#'   category is then used.
#' @param confidence Columns with the confidence of the raters in their ratings, `NA` if unknown.
#'   Only models with `confidence = TRUE` use it, see [rater_model()]. In long data one column, in
#'   wide data a column for each rater, in the order of `raters`. Columns are ordered factors with
#'   two to five levels, the lowest first; logicals; or numbers in \[0, 1\], which are cut into five
#'   equal intervals. Not available for counts and repeats.
#' @param abstain Labels of replies that are no category, such as `"?"` or `"cannot tell"`. Capitals
#'   and surrounding blanks are ignored. These replies become missing ratings and are recorded as
#'   abstentions. Some models use abstentions, see section *Abstentions* of [ground_truth()]. If
#'   `abstain` contains `NA`, a missing rating is an abstention, too. Include `NA` only for programs
#'   that processed every case. Not available for counts, repeats, `rater_groups` and `confidence`.
#'
#' @return An object of class `ratings` or, with `repeats = "labels"`, `ratings_labels`. For several
#'   variables, a list of such objects. `print()` and `summary()` show numbers of cases and ratings,
#'   and the agreement. `dim(x)` returns the numbers of cases and raters.
#'   `x[cases, raters, systems]` selects parts by number, name or logical vector. There are methods
#'   for [as.data.frame()][as.data.frame.ratings] and [autoplot()][autoplot.ratings].
#' @family data
#' @seealso [read_ratings()] to read files; [conditions] for the classes of the errors.
#' @templateVar where Table 2 is an example of the wide layout
#' @template ref-lehner
#' @examples
#' # Wide: the worked example of Lehner (2015), four raters and a system
#' ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#'
#' # Long, with repeated ratings by the first rater
#' ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
#'
#' # Long, where one of the raters is the model to evaluate
#' verdicts <- data.frame(item = rep(1:4, each = 3), who = c("ann", "bob", "gpt-4o"))
#' verdicts$label <- rep(c("good", "bad", "good", "bad"), c(3, 2, 2, 5))
#' ratings(verdicts, case = item, rater = who, rating = label, systems = "gpt-4o")
#'
#' # One judge of the answers of an application: the accuracy of `app` is its pass rate
#' judged <- data.frame(answer = 1:4, judge = "gpt-4o", verdict = c("pass", "fail", "pass", "pass"))
#' ratings(judged, case = answer, rater = judge, rating = verdict, systems = c(app = "pass"))
#'
#' # Counts: raters are not identified
#' ratings(fleiss1971, case = case, counts = depression:other)
#'
#' # Answers with several labels, here in columns of 0 and 1
#' answers <- data.frame(case = 1, rater = c("r", "s"), a = 1, b = 0:1)
#' ratings(answers, case = case, rater = rater, rating = a:b, repeats = "labels")
#' @export
ratings <- function(data, ..., raters = NULL, systems = NULL, case = NULL, rater = NULL,
                    rating = NULL, counts = NULL, categories = NULL, ordered = NULL,
                    weights = NULL, repeats = c("error", "ratings", "reruns", "labels"),
                    rater_groups = NULL, rater_kind = NULL, truth = NULL, covariates = NULL,
                    scores = NULL, confidence = NULL, abstain = NULL) {
  check_call(dots = c("na", "clean_labels"))
  na <- list(...)[["na"]]
  cleans_labels <- check_flag(list(...)[["clean_labels"]] %||% FALSE, "clean_labels")
  repeats <- check_choice(repeats)
  options <- list(
    categories = categories, ordered = ordered, repeats = repeats,
    rater_kind = check_rater_kind(rater_kind), scores = scores, na = na, clean = cleans_labels,
    abstain = abstain
  )
  column_quosures <- enquos(
    raters = raters, systems = systems, case = case, rater = rater, rating = rating,
    counts = counts, weights = weights, rater_groups = rater_groups, truth = truth,
    covariates = covariates, confidence = confidence
  )
  abort_argument_if(!is.null(na) && !is.atomic(na), "na", "must be a vector of labels.", not = na)
  check_text(na, "na")
  variables <- variables_of_columns(data, column_quosures, repeats)
  if (!is_empty(variables))
    return(ratings_of_variables(variables, options, column_quosures, match.call()))
  if (!is.null(ordered)) check_flag(ordered, "ordered")
  abort_argument_if(!is.null(abstain) && (!is.atomic(abstain) || is_empty(abstain)), "abstain",
    "must be labels, or {.code NA} for empty cells.", not = abstain)
  check_text(abstain, "abstain")
  if (inherits(data, "table")) {
    if (!"counts" %in% given_argument_names(column_quosures))
      return(ratings_of_table(data, column_quosures, options))
    data <- unclass(data)
  }
  build <- if (inherits(data, "tbl_lazy")) database_ratings else build_ratings
  x <- build(data, column_quosures, options)
  warn_similar_names(x$raters, "rater")
  ask_rater_kind(x)
  x
}

# Converts an agreement matrix of class `table` to ratings. Raises an error if the user gives
# arguments that select columns or labels, such as `raters` or `na`.
ratings_of_table <- function(data, columns, options) {
  check_long_data(FALSE, options$repeats)
  forbidden_arguments <- c(given_argument_names(columns), c("na", "clean_labels", "abstain")[
    c(!is.null(options$na), options$clean, !is.null(options$abstain))
  ])
  abort_argument_if(forbidden_arguments, forbidden_arguments,
    "A {.cls table} is the agreement matrix of two raters; it has no columns to choose from.",
    x = "Found {.arg {forbidden_arguments}}.",
    i = "Leave these arguments out, or convert the table with {.fun as.data.frame}. If the
        table contains counts of ratings (cases x categories), give {.arg counts}.")
  abort_argument_if(!is.null(options$scores), "scores",
    "{.arg scores} need data with cases; an agreement matrix has none.",
    i = "Give a data frame with a row per case.")
  x <- ratings_of_cell_counts(data, "data", options$categories, options$ordered)
  x$rater_kind <- resolve_kinds(options$rater_kind, x)
  x
}

# Builds a ratings object from data in any layout.
# * columns: list of quosures of the arguments that name columns.
# * options: list of the other arguments.
# * times: number of cases that each row of `data` represents, if a database has counted them;
#   otherwise NULL.
build_ratings <- function(data, columns, options, times = NULL) {
  input <- read_input(data, columns, options)
  layout <- input$layout
  input$times <- times
  input$given_categories <- options$categories
  input <- recode_input(input, options$categories)
  declared_labels <- declared_categories(options$categories)
  check_long_data(layout$by_rating, options$repeats)
  categories <- find_categories(input, declared_labels)
  # Systems are read before ratings are encoded, so that errors in systems are reported first.
  systems <- list_systems(input, categories)
  x <- layout$build(input, categories, systems)
  x$ordered <- options$ordered %||% input$ordered
  x$nominal <- if (isFALSE(options$ordered)) TRUE
  if (x$ordered && is.null(declared_labels)) warn_guessed_order(categories, input)
  x$cleaned <- if (options$clean) TRUE
  x$copies <- input$copies
  x$declared <- if (!is.null(declared_labels)) TRUE
  x$repeats <- options$repeats
  x$constant <- names(input$constant)
  x$keys <- input$keys
  x$rows <- if (layout$by_rating || !identical(input$source, seq_along(x$cases))) "ratings" else
    "cases"
  x <- new_ratings(x, layout$class)
  x <- add_abstentions(x, input)
  check_new_ratings(x, input)
  if (is.null(declared_labels) && layout$labels && !has_labels(x))
    warn_unshared_labels(x, layout$by_rating)
  x$rater_groups <- groups_of_raters(input$groups, x)
  x$rater_kind <- resolve_kinds(options$rater_kind, x)
  x$truth <- truth_field(input, x)
  x <- add_rating_roles(x, input)
  x <- add_covariates(x, input)
  add_scores(x, options, input$data, layout$by_rating)
}

check_long_data <- function(is_long_data, repeats) {
  abort_argument_if(!is_long_data && repeats != "error", "repeats",
    "{.code repeats = \"{repeats}\"} needs long data, with a row per rating.",
    i = "Give {.arg case}, {.arg rater} and {.arg rating}.")
}

# Creates a ratings object, a list. Fields are NULL if they were not given.
# * patterns: see ratings-patterns.R.
# * index: number of the pattern of each case.
# * cases: identifiers of cases.
# * weights: weights of cases; NULL if each case counts once.
# * raters, categories, systems: names of raters and systems, and labels of categories.
# * ordered, repeats: arguments of ratings().
# * nominal: TRUE if `ordered = FALSE` was given.
# * cleaned: TRUE if `clean_labels` was given.
# * declared: TRUE if `categories` was given as the full list of categories, not only to rename
#   labels.
# * copies: number of rows that were left out, because they are copies of another row.
# * rows: "cases" if row i of the data is case i of the object, so that values can be matched to
#   cases by position. Otherwise "ratings", or NULL after cases were removed or reordered.
# * empty_answers: case and rater of each answer without labels.
# * keys: if several columns identify cases, is each of these columns numeric?
# * constant: names of constant systems, see is_constant_system().
# * times, database: see database.R.
# * rater_groups: group of each rater.
# * rater_kind: see resolve_kinds().
# * voted: a list, if with_votes() has combined ratings: `groups`, the group of each rater; and
#   `reruns`, TRUE after reruns were merged.
# * truth: see subset_truth().
# * covariates: a tibble with a row per case.
# * scores, confidence: see add_scores() and ratings-roles.R.
# * abstained, silent_systems: see record_abstentions().
# * panel: only in a group of cases. A list of properties of the ratings of all cases: `used`,
#   number of used categories; `constant`, see constant_raters(); `leaders`, see
#   leading_categories(); and `abstain`, see decide_abstain().
# * whole: only with abstentions, after raters whose ratings are all equal were removed. The ratings
#   object with these raters, whose abstentions may still be used.
# * kinds: kinds of the workers of a simulated crowd.
#
# Counts, and answers with several labels, have additional classes.
new_ratings <- function(fields, class = "ratings") {
  class <- if (fields$repeats == "labels") "ratings_labels" else unique(c(class, "ratings"))
  structure(fields, class = class)
}

is_ratings <- function(x) inherits(x, "ratings")

has_labels <- function(x) inherits(x, "ratings_labels")

# Can a rater have several ratings of one case?
has_repeats <- function(x) x$repeats == "ratings" || has_reruns(x)

has_reruns <- function(x) x$repeats == "reruns"

# Fails if fields of a new ratings object contradict each other, or do not suffice for estimates.
# Warns about fields that are probably mistakes.
check_new_ratings <- function(x, input) {
  has_only_counts <- has_counts(x)
  has_enough_raters <- n_raters(x) >= if (has_only_counts || has_labels(x)) 2L else 1L
  abort_if(is_empty(rating_category(x)) && (has_enough_raters || has_only_counts), "missing",
    "There are no ratings in {.arg data}: all are missing.",
    i = "Check the columns, and the coding of missing values.")
  abort_if(!has_enough_raters, "raters",
    if (n_raters(x) == 0L) "There are no raters." else
      "At least two raters are needed to learn from their agreement.",
    x = describe_found_labels(x$raters),
    i = if (has_only_counts)
      "No case has two ratings: the counts of every row sum to one or zero." else
      "Systems do not count as raters.", raters = x$raters)
  ratings_per_pattern <- pattern_lengths(x)
  example_case <- match(which.max(ratings_per_pattern), pattern_of_case(x))
  abort_if(max(ratings_per_pattern) > core_max_ratings(), "counts",
    "A case can have at most {core_max_ratings()} ratings.",
    x = "Case {.val {as.character(x$cases[[example_case]])}} has {max(ratings_per_pattern)}.",
    row = example_case, column = NA_character_)
  shared_names <- intersect(named_raters(x), x$systems)
  abort_if(shared_names, "columns", "Raters and systems must have different names.",
    x = "{.val {shared_names}} {?names/name} both a rater and a system.", arg = "systems")
  if (x$repeats == "error") check_repeats(x, input)
  possible_keys <- if (has_reruns(x)) columns_of_repeats(input)$keys
  warn_if(possible_keys, "reruns",
    "Reruns of one rater and case have different values of {.val {possible_keys}}.",
    i = "If these rows are answers of different systems or versions, they are different cases: give
        {.code case = c(..., {toString(possible_keys)})}.", columns = possible_keys)
  if (has_labels(x)) check_label_once(x)
  check_systems(x, case_identifiers(input))
  unused_raters <- setdiff(
    x$raters, x$raters[c(rating_rater(x), x$empty_answers$rater, x$abstained$rater)]
  )
  warn_if(unused_raters, "raters", "Rater{?s} {.val {unused_raters}} {?has/have} no ratings.",
    i = "Leave {cli::qty(length(unused_raters))}{?it/them} out, or check the column{?s}.",
    raters = unused_raters)
  # If the number of raters per case is above this limit, `case` and `rater` are probably swapped.
  # The limit is lower if most raters have only one rating. Up to 20 raters give no warning.
  max_raters_per_case <- if (mean(ratings_of_raters(x) <= 1) > 0.5) 2L else 8L
  warn_if(
    input$layout$by_rating && nrow(x) < 50L &&
      n_raters(x) > max(20L, max_raters_per_case * nrow(x)),
    "raters", "There are {n_raters(x)} raters of only {count_noun(nrow(x), 'case')}.",
    i = "Check that {.arg case} and {.arg rater} are not swapped.", raters = x$raters)
}

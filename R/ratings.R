# The data object: which rater gave which category to which case, and the answers of the systems.

#' Ratings of cases by raters, with the answers of systems
#'
#' Collects the ratings that raters gave to cases, and the answers of automated systems, in one
#' checked object. All other functions of the package use this object. Systems never count as
#' raters. A single rater is enough for [estimate_accuracy()] and [fit_raters()] if the truth of
#' some cases, or the errors of the rater, are known. Most other functions need at least two raters.
#'
#' @section Layouts:
#' * **Wide**: a data frame with one row per case. `raters` names the columns of the raters;
#'   `systems` and `case` are optional.
#' * **Long**: a data frame with one row per rating, and the columns `case`, `rater` and `rating`.
#'   Use it if each rater rates only a few cases, as in crowdsourcing.
#' * **Matrix**: cases in rows, raters in columns; row names, if any, name the cases.
#' * **Table**: an agreement matrix of class [table][base::table]. Rows are the categories of one
#'   rater, columns those of another, and cells are numbers of cases; see [as_ratings()].
#' * **Counts**: one column per category, with the number of raters who chose it (`counts`). Raters
#'   are then exchangeable: it is unknown which rater gave which rating.
#'
#' Ratings may be factors, strings, logicals or numbers; they are compared as labels. A missing
#' rating is `NA`. Columns with value labels of \pkg{haven} are read as factors. If `raters` is a
#' range or a pattern, identifier columns that it matches are not raters; see [as_ratings()].
#'
#' @section Categories:
#' The number of categories matters: with more categories, agreement by chance is rarer. By default,
#' categories are the levels of the rating columns if these are factors, including unused levels,
#' merged to one order. Otherwise they are the labels that raters used: numbers in numeric order,
#' strings in the order of the C locale. Declare a category that exists even if no rater used it.
#'
#' @section Identical cases:
#' Cases with the same ratings and the same answers are stored once, as a *pattern*. Ten million
#' cases rated by three raters in five categories have at most 125 patterns, if no rating is missing
#' and there are no systems. The time for a fit depends on the number of patterns, not of cases.
#'
#' @section Keys of several columns:
#' With `case = c(prompt, app)` each combination of `prompt` and `app` is a case. Its identifier
#' joins the values with slashes, `"p17/v2"`. A slash within a value becomes `"%2F"`, and a percent
#' sign `"%25"`, so that different keys always give different identifiers. The columns are kept:
#' `as.data.frame(x, "covariates")` returns them, and they can be used like covariates in `by` and
#' `cluster` of [estimate_accuracy()], as in `by = app`. Models do not use them. Data frames
#' about cases that are given to `ratings()`, [estimate_accuracy()], [fit_raters()], [with_truth()]
#' and [as_rater_fit()] may have these columns in place of `case`. Lazy tables need a single column.
#'
#' @section Several labels:
#' With `repeats = "labels"` an answer may have any number of labels. Long data then have one row
#' per label, or one row per answer. In the second form, `rating` is a list column of labels, or one
#' column of 0 and 1 for each label. An answer without labels (an empty list element, or 0 in all
#' columns) is kept as an empty answer; `NA` is an answer that was not given.
#'
#' @section Groups:
#' Groups of a grouped data frame (of \pkg{dplyr}) are ignored, with a warning unless the data are
#' grouped only by cases or raters. To estimate accuracy by group, make the grouping columns
#' `covariates`, and name them in `by` of [estimate_accuracy()].
#'
#' @section 64-bit integers:
#' Columns of class `integer64`, which databases return, are read as numbers if all values are below
#' 2^53. Otherwise they are read as strings, which needs the package \pkg{bit64}.
#'
#' @section Databases:
#' The ratings of a lazy table of \pkg{dbplyr} are counted in its database; see [ratings-database].
#'
#' @srrstats {G2.5, UL1.0, UL1.1, UL3.2} `ordered`, `categories`; cases without names are numbered
#' @srrstats {G2.13, G2.15, BS3.0, UL2.2} `NA` is a missing rating, in every layout and for every
#'   verb
#' @srrstatsNA {G2.14, G2.14a, G2.14b, G2.14c} missing ratings are what models are about: no option
#' @param data A data frame, a matrix, a table or a lazy table; see Layouts.
#' @param ... Two more arguments for labels. `na`: labels (strings or numbers) that mean a missing
#'   value, in ratings, answers of systems and `truth`. They are compared without regard to capitals
#'   and surrounding blanks. By default, only `NA` is missing. `clean_labels`: `TRUE` merges labels
#'   that differ only in capitals and blanks into the most frequent of them; the default is `FALSE`.
#'   Messages list the labels that were found or changed. Any other argument is an error.
#' @param raters Columns of the raters, in wide data. Here, and for all other columns, any
#'   [tidyselect][tidyselect::language] works: `starts_with("rater")`, `r1:r4`, `c("x", "y")`. For a
#'   matrix, the default is all columns that are not systems. If the raters coded several variables
#'   (a codebook), give a list with the columns of each variable, such as `list(topic = t1:t3, tone
#'   = s1:s3)`; see Value.
#' @param systems The systems. In wide data: columns. In long data: names of raters that are
#'   systems, as strings. In any layout: a data frame with columns `case`, `system` and
#'   `prediction`, or with the names given in `case`, `rater` and `rating`. A system may answer only
#'   some cases. Answers to cases without ratings are kept, with a warning. They count in the `n` of
#'   [estimate_accuracy()] only if some gold cases have no ratings. If raters judge whether the answers of an application are right,
#'   give a named string such as `systems = c(app = "pass")`: the name of the application, and the
#'   category that means "right". The accuracy of `app` is then its pass rate.
#' @param case,rater,rating Columns that identify the case and, in long data, the rater and the
#'   category chosen. In wide data `case` is optional. `case` may be several columns, such as
#'   `c(prompt, app)`; see Keys of several columns. If `rating` is several columns, each is a
#'   variable of a codebook; see Value.
#' @param counts Columns of counts, one per category, named after the categories.
#' @param categories Labels of the categories, in order. See Categories. A named element recodes a
#'   label: `c(Pneumonia = "pneumona")` merges the label `"pneumona"` into `"Pneumonia"`. If all
#'   elements have names, the remaining categories are taken from the data.
#' @param ordered Is the order of the categories meaningful? The default is `TRUE` if the ratings
#'   are ordered factors. If the labels are words, also give `categories` in their order, or factors
#'   with levels in this order. Otherwise, or if factors contradict each other, a warning follows.
#' @param weights A column of non-negative case weights: numbers of identical cases, or
#'   probabilities. If weights are not whole numbers, they are probabilities: cases cannot be
#'   resampled, and standard errors and intervals are `NA`. In long data, all rows of a case have
#'   the same weight.
#' @param repeats Meaning of several rows of one rater on one case. `"error"`: a mistake in the
#'   data, which is an error. `"ratings"`: independent ratings; two ratings by the same rater do not
#'   count as agreement between raters, but each is evidence about the case. `"reruns"`: the same
#'   question asked again (for example of a language model); the most frequent answer of the rater
#'   counts as one vote, see [rater_groups]. `"labels"`: one answer with several labels, for
#'   [crowdtruth()]; for other methods, see [single_label()]. If raters judge the answers of
#'   applications, the answers of two applications or versions to the same question are two cases,
#'   not reruns.
#' @param rater_groups Groups of raters who share a source: a family of models, a laboratory, the
#'   same training. Either a vector of groups named by rater; or a data frame with columns `rater`
#'   and `group`; or, in long data, a column that is equal in all rows of a rater. A rater without a
#'   group, or with `NA`, is a group by itself. Fits count a group as one vote; see [rater_groups].
#' @param truth A column with the true category of each case, `NA` where it is unknown. In long
#'   data, known values of a case must be equal. Estimates use it only with `known_truth = TRUE`,
#'   see [estimate_accuracy()]; [truth()] returns it; [true_accuracy()] and [calibration()] also use
#'   it.
#' @param covariates Columns of other properties of each case, such as a site or an age. They are
#'   used by models (see [rater_model()]) and by arguments `by` and `cluster` of
#'   [estimate_accuracy()]; `as.data.frame(x, "covariates")` returns them. Columns are numbers,
#'   strings, factors or logicals, without missing values. In long data they are the same in all
#'   rows of a case. Not available for lazy tables.
#' @param rater_kind Kind of the raters: `"expert"` or `"crowd"` (people), `"model"` (language
#'   models) or `"tool"` (other programs). Give one word for all raters, or a vector of words named
#'   by rater (or by group); `NULL` if unknown. Intervals of [estimate_accuracy()] are wider for
#'   machines, which share errors that ratings do not show. People, and a panel of people and
#'   machines, have the same results as `NULL`.
#' @param scores Scores of the systems for each category, in addition to their answers. In wide
#'   data, a list with the systems as names, each a vector of columns with the categories as names:
#'   `list(new = c(no = "p_no", yes = "p_yes"))`. With two categories one column is enough,
#'   `list(new = c(yes = "p_yes"))`; its name is its category. In any layout, a data frame with
#'   columns `case`, `system`, `category` and `score`. Cases without a row then have `NA` scores.
#'   See [score_metrics]. Not available for lazy tables.
#'
#'   By default, scores are probabilities in \[0, 1\] that sum to one within each case. Rounding
#'   errors of .005 per category are allowed. For other scores, only the order of the cases within a
#'   category is used. They need `scale = "order"` in the list: `list(new = c(yes = "points"), scale
#'   = "order")`, or `list(table, scale = "order")`.
#' @param confidence Confidence of the raters in their ratings. In long data a column, in wide data
#'   a column for each rater, in the order of `raters`. Ordered factors with two to five levels, the
#'   lowest first; logicals; or numbers in \[0, 1\], which are cut into five equal intervals. `NA`
#'   if unknown. Only models with `confidence = TRUE` use it; see [rater_model()]. Not available for
#'   counts, repeats and lazy tables.
#' @param abstain Labels of raters and systems that mean "no opinion", such as `"?"` or `"cannot
#'   tell"`, compared like `na`. Include `NA` if missing ratings (in long data, rows without a
#'   rating) are also abstentions. This is only right for programs and tools that processed every
#'   case. Otherwise they mean that the rater was not asked. Failed calls of a tool are not
#'   abstentions. Consensus labels and [dawid_skene()] can use abstentions; see Abstentions in
#'   [ground_truth()]. Not for counts, repeats, groups of raters, `confidence` and lazy tables.
#'
#' @return An object of class `ratings`. For counts, it also has the class `ratings_counts`. For
#'   answers with several labels, its class is `ratings_labels` instead. There are methods for
#'   `print()`, `summary()`, `dim()` (cases, raters), `[` (cases, raters, systems),
#'   [as.data.frame()][as.data.frame.ratings] and [autoplot()][autoplot.ratings].
#'
#'   For several variables of a codebook, the value is a list of such objects, named by variable.
#'   Arguments `categories`, `abstain`, `systems`, `truth` and `confidence` may then be lists named
#'   by variable, such as `truth = list(topic = a, tone = b)`, and `ordered` a vector named by
#'   variable. [agreement()], [compare_agreement()], [data_check()], [estimate_accuracy()] and
#'   [compare_systems()] accept such a list.
#' @family data
#' @seealso [fit_raters()] and [estimate_accuracy()] for what to do next; [read_ratings()] to read
#'   files; [conditions] for the classes of the errors.
#' @templateVar where The layout of the data is Table 2
#' @template ref-lehner
#' @examples
#' # Wide: the worked example of Lehner (2015), four raters and a system
#' ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#'
#' # Long, with repeated ratings by the first rater
#' ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
#'
#' # Long, where one of the raters is the model to evaluate
#' verdicts <- data.frame(
#'   item = rep(1:4, each = 3), who = c("ann", "bob", "gpt-4o"),
#'   label = c(
#'     "good", "good", "good", "bad", "bad", "good", "good", "bad", "bad", "bad", "bad", "bad"
#'   )
#' )
#' ratings(verdicts, case = item, rater = who, rating = label, systems = "gpt-4o")
#'
#' # One judge of the answers of an application: the accuracy of `app` is its pass rate
#' judged <- data.frame(answer = 1:4, judge = "gpt-4o", verdict = c("pass", "fail", "pass", "pass"))
#' ratings(judged, case = answer, rater = judge, rating = verdict, systems = c(app = "pass"))
#'
#' # Counts: raters are not identified
#' ratings(fleiss1971, case = case, counts = depression:other)
#'
#' # Answers with several labels, here in a list column
#' answers <- data.frame(case = c(1, 1, 2, 2), rater = c("r", "s", "r", "s"))
#' answers$labels <- list(c("a", "b"), "a", "b", character())
#' ratings(answers, case = case, rater = rater, rating = labels, repeats = "labels")
#' @export
ratings <- function(data, ..., raters = NULL, systems = NULL, case = NULL, rater = NULL,
                    rating = NULL, counts = NULL, categories = NULL, ordered = NULL,
                    weights = NULL, repeats = c("error", "ratings", "reruns", "labels"),
                    rater_groups = NULL, rater_kind = NULL, truth = NULL, covariates = NULL,
                    scores = NULL, confidence = NULL, abstain = NULL) {
  check_call(dots = c("na", "clean_labels"))
  na <- list(...)[["na"]]
  clean <- check_flag(list(...)[["clean_labels"]] %||% FALSE, "clean_labels")
  repeats <- check_choice(repeats)
  if (!is.null(ordered) && is.null(names(ordered))) check_flag(ordered, "ordered")
  options <- list(
    categories = categories, ordered = ordered, repeats = repeats,
    rater_kind = check_rater_kind(rater_kind), scores = scores, na = na, clean = clean,
    abstain = abstain
  )
  columns <- enquos(
    raters = raters, systems = systems, case = case, rater = rater, rating = rating,
    counts = counts, weights = weights, rater_groups = rater_groups, truth = truth,
    covariates = covariates, confidence = confidence
  )
  abort_argument_if(!is.null(na) && !is.atomic(na), "na", "must be a vector of labels.", not = na)
  check_text(na, "na")
  variables <- variables_of_columns(data, columns, repeats)
  if (length(variables) > 0L) return(rate_variables(variables, options, columns, match.call()))
  abort_argument_if(!is.null(abstain) && (!is.atomic(abstain) || length(abstain) == 0L), "abstain",
    "must be labels, or {.code NA} for empty cells.", not = abstain)
  check_text(abstain, "abstain")
  if (inherits(data, "table")) {
    if (!"counts" %in% given_argument_names(columns))
      return(ratings_of_table(data, columns, options))
    data <- unclass(data)
  }
  build <- if (inherits(data, "tbl_lazy")) database_ratings else build_ratings
  x <- build(data, columns, options)
  warn_similar(x$raters, "rater")
  ask_rater_kind(x)
  x
}

# Ratings from an agreement matrix of class `table`. Fails if the user gives columns.
ratings_of_table <- function(data, columns, options) {
  check_long(FALSE, options$repeats)
  given <- c(given_argument_names(columns), c("na", "clean_labels", "abstain")[
    c(!is.null(options$na), options$clean, !is.null(options$abstain))
  ])
  abort_argument_if(given, given,
    "A {.cls table} is the agreement matrix of two raters; it has no columns to choose from.",
    x = "Found {.arg {given}}.",
    i = "Leave these arguments out, or convert the table with {.fun as.data.frame}. If it has counts
        of ratings, cases x categories, give {.arg counts}.")
  abort_argument_if(!is.null(options$scores), "scores",
    "{.arg scores} need data with cases; an agreement matrix has none.",
    i = "Give a data frame with a row per case.")
  x <- table_ratings(data, "data", options$categories, options$ordered)
  x$rater_kind <- resolve_kinds(options$rater_kind, x)
  x
}

# Builds a ratings object from data in any layout. `columns`: list of quosures of the arguments that
# name columns. `options`: list of the other arguments. `times`: number of cases that each row of
# `data` represents, if a database has counted them; otherwise NULL.
build_ratings <- function(data, columns, options, times = NULL) {
  input <- read_input(data, columns, options)
  layout <- input$layout
  input$times <- times
  input <- recode_input(input, options$categories)
  declared <- declared_categories(options$categories)
  check_long(layout$by_rating, options$repeats)
  categories <- find_categories(input, declared)
  # Called before ratings are encoded, so that errors in systems are reported first.
  systems <- list_systems(input, categories)
  x <- layout$build(input, categories, systems)
  x$ordered <- options$ordered %||% input$ordered
  if (x$ordered && is.null(declared)) warn_guessed_order(categories, input)
  x$repeats <- options$repeats
  x$constant <- names(input$constant)
  x$keys <- input$keys
  x$rows <- if (layout$by_rating || length(x$cases) > input$rows) "ratings" else "cases"
  x <- new_ratings(x, layout$class)
  x <- add_abstentions(x, input)
  check_built(x, input)
  if (is.null(declared) && layout$labels && !has_labels(x))
    warn_unshared_labels(x, layout$by_rating)
  x$rater_groups <- groups_of_raters(input$groups, x)
  x$rater_kind <- resolve_kinds(options$rater_kind, x)
  x$truth <- truth_to_keep(input, x)
  x <- add_confidence(x, input)
  x <- add_covariates(x, input)
  add_scores(x, options, data, layout$by_rating)
}

check_long <- function(is_long_data, repeats) {
  abort_argument_if(!is_long_data && repeats != "error", "repeats",
    "{.code repeats = \"{repeats}\"} needs long data, with a row per rating.",
    i = "Give {.arg case}, {.arg rater} and {.arg rating}.")
}

# Creates a ratings object, a list with these fields (NULL if they were not given):
# * patterns (see ratings-patterns.R); index (number of the pattern of each case); cases
#   (identifiers); weights (of cases; NULL if each counts once); raters (names); categories
#   (labels); systems (names); ordered, repeats (arguments of ratings());
# * rows: "cases" if the rows of the data are the cases in this order, otherwise "ratings"; NULL
#   after cases were removed or reordered;
# * empty (case and rater of each answer without labels); keys (a logical for each column that
#   identifies cases, with its name: is it numeric?); constant (names of the systems that give the
#   same answer to all cases, see is_constant_system()); times and database (see database.R);
# * rater_groups (group of each rater); rater_kind (see resolve_kinds()); voted (what with_votes()
#   has combined, a list: `groups`, the group of each rater; `reruns`, TRUE after merging reruns);
# * truth (see subset_truth()); covariates (a tibble with a row per case); scores (see
#   add_scores()); confidence; abstained and silent_systems (see take_abstentions());
# * panel: if the object is a group of cases, a list of properties of the ratings of all cases:
#   `used` (number of used categories), `constant` (see constant_raters()), `leans` (see
#   leading_categories()) and `abstain` (see decide_abstain());
# * whole: if there are abstentions, the ratings before constant raters were removed;
# * kinds: kinds of the workers of a simulated crowd.
# Ratings that are counts and answers with several labels have additional classes.
new_ratings <- function(fields, class = "ratings") {
  class <- if (fields$repeats == "labels") "ratings_labels" else unique(c(class, "ratings"))
  structure(fields, class = class)
}

is_ratings <- function(x) inherits(x, "ratings")

has_labels <- function(x) inherits(x, "ratings_labels")

# Can a rater have several ratings of one case?
has_repeats <- function(x) x$repeats == "ratings" || has_reruns(x)

has_reruns <- function(x) x$repeats == "reruns"

# Fails if the fields of a new ratings object contradict each other or do not suffice for estimates.
# Warns about fields that are probably mistakes.
check_built <- function(x, input) {
  is_counts <- has_counts(x)
  has_enough_raters <- n_raters(x) >= if (is_counts || has_labels(x)) 2L else 1L
  abort_if(length(rating_category(x)) == 0L && (has_enough_raters || is_counts), "missing",
    "There are no ratings in {.arg data}: all are missing.",
    i = "Check the columns, and the coding of missing values.")
  abort_if(!has_enough_raters, "raters",
    "At least two raters are needed to learn from their agreement.",
    x = found_only(x$raters),
    i = if (is_counts) "No case has two ratings: the counts of every row sum to one or zero." else
      "Systems do not count as raters.", raters = x$raters)
  ratings <- pattern_lengths(x)
  example <- match(which.max(ratings), pattern_of_case(x))
  abort_if(max(ratings) > core_max_ratings(), "counts",
    "A case can have at most {core_max_ratings()} ratings.",
    x = "Case {.val {as.character(x$cases[[example]])}} has {max(ratings)}.", row = example,
    column = NA_character_)
  in_both <- intersect(named_raters(x), x$systems)
  abort_if(in_both, "columns", "Raters and systems must have different names.",
    x = "{.val {in_both}} {?names/name} both a rater and a system.", arg = "systems")
  if (x$repeats == "error") check_repeats(x, input)
  possible_keys <- if (has_reruns(x)) keys_of_repeats(input)
  warn_if(possible_keys, "reruns",
    "Reruns of one rater and case have different values of {.val {possible_keys}}.",
    i = "If these rows are answers of different systems or versions, they are different cases: give
        {.code case = c(..., {toString(possible_keys)})}.", columns = possible_keys)
  if (has_labels(x)) check_label_once(x)
  check_systems(x)
  warn_raters(x, input$layout$by_rating)
}

# Warns of raters without ratings, and if `case` and `rater` are probably swapped.
warn_raters <- function(x, by_rating) {
  without_ratings <- setdiff(
    x$raters, x$raters[c(rating_rater(x), x$empty_answers$rater, x$abstained$rater)]
  )
  warn_if(without_ratings, "raters", "Rater{?s} {.val {without_ratings}} {?has/have} no ratings.",
    i = "Leave {cli::qty(length(without_ratings))}{?it/them} out, or check the column{?s}.",
    raters = without_ratings)
  # If `case` and `rater` are swapped, there seem to be more raters than cases, often with one
  # rating each. Up to 20 raters are no sign of a swap.
  swap_ratio <- if (mean(ratings_of_raters(x) <= 1) > 0.5) 2L else 8L
  warn_if(by_rating && nrow(x) < 50L && n_raters(x) > max(20L, swap_ratio * nrow(x)), "raters",
    "There are {n_raters(x)} raters of only {count_noun(nrow(x), 'case')}.",
    i = "Check that {.arg case} and {.arg rater} are not swapped.", raters = x$raters)
}

check_repeats <- function(x, input = NULL) {
  repeated <- repeated_ratings(x)
  if (nrow(repeated) == 0L) return(invisible(x))
  case <- case_of_pattern(x, repeated$pattern[[1L]])
  rater <- x$raters[[repeated$rater[[1L]]]]
  keys <- keys_of_repeats(input)
  rows <- c(list(input$case, input$rater), input$columns, lapply(input$extra, `[`, input$source))
  n_copies <- sum(duplicated(list2DF(rows)))
  abort_fallible("repeat", "Rater {.val {rater}} rated case {.val {case}} more than once.",
    x = "Of {nrow(x)} cases, {sum(pattern_of_case(x) %in% repeated$pattern)} {?has/have} more
         than one rating by one rater.",
    i = c(if (n_copies > 0L) "{n_copies} row{?s} equal{?s/} another row: {.fun unique} drops it.",
      if (length(keys) > 0L) c("{.val {keys}} differ{?s/} in rows of one rater and one case. If
        several columns identify a case, give all of them:
        {.code case = c(..., {toString(keys)})}.", "If the rows are repeats, give {.arg repeats}.")
      else "If these are independent repeats, give {.code repeats = \"ratings\"}; if they are
        runs of one model, {.code repeats = \"reruns\"}; if they are one answer with several labels,
        {.code repeats = \"labels\"}."), case = case, rater = rater)
}

# Names of columns that may identify cases together with `case`: they have no role, differ between
# rows of a rater and case, have each value in two rows on average, and have no name of a run.
keys_of_repeats <- function(input) {
  rows <- input$source
  answer_of_row <- paste(match(input$case, input$case), match(input$rater, input$rater))
  names(Filter(function(column) {
    is.atomic(column) && n_distinct(column[rows]) <= length(rows) / 2 &&
      nrow(unique(data.frame(answer_of_row, column[rows]))) > n_distinct(answer_of_row)
  }, input$extra[!grepl("^(run|epoch|trial|repeat|repetition|attempt|round|replicate|seed)s?$",
    names(input$extra), TRUE)]))
}

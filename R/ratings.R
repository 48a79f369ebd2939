# The data object: who gave which category to which case, and what the systems said.

#' Ratings of cases by raters, with the answers of systems
#'
#' Collects what raters said about cases, and what automated systems predicted for them, in one
#' checked object on which everything else in the package works. Raters may disagree, may skip
#' cases, and may be less accurate than the systems. Systems never count as raters.
#'
#' @section Layouts:
#' * **Wide**: a data frame with a row per case, `raters` the columns of the raters, and perhaps
#'   `systems` and `case`.
#' * **Long**: a data frame with a row per rating: `case`, `rater` and `rating`. Sparse crowds,
#'   where each of many raters sees few cases, come this way.
#' * **Matrix**: cases in rows, raters in columns; row names, if any, name the cases.
#' * **Counts**: a column per category, holding how many raters chose it (`counts`). Raters are then
#'   exchangeable: who said what is unknown.
#'
#' Ratings may be factors, strings, logicals or numbers; they are compared by label. A missing
#' rating is `NA`.
#'
#' @section Categories:
#' Their number matters: with more categories, agreement by chance is rarer. Without `categories`,
#' they are the levels of the rating columns if these are factors, unused levels included, and
#' otherwise the labels that raters used, numbers in numeric order and strings in the order of the
#' C locale. A category that nobody used but that exists should be declared.
#'
#' @section Cases that are the same:
#' Cases with the same ratings and the same answers are kept once, as a *pattern*, with the list of
#' the cases that have it. Ten million cases of three raters and five categories are at most 125
#' patterns (times the answers of the systems), and fitting costs patterns, not cases.
#'
#' @section Several labels:
#' With `repeats = "labels"` an answer may hold any number of labels. Long data then come with a row
#' per label; or with a row per answer, `rating` being a list column of labels, or a column of 0 and
#' 1 for each label. An answer without any label, where the list is empty or all columns are 0, was
#' given all the same and is kept as an empty answer; `NA` stands for an answer that was not given.
#'
#' @param data A data frame or a matrix; see Layouts.
#' @param ... Not used; catches misspelt arguments.
#' @param raters Columns of the raters, in wide data. For columns, any
#'   [tidyselect][tidyselect::language] works: `starts_with("rater")`, `r1:r4`, `c("x", "y")`. In a
#'   matrix, by default all columns that are not systems.
#' @param systems The systems: columns of `data`, or a data frame with columns `case`, `system` and
#'   `prediction`. A system may cover only some of the cases. Cases that no rater saw are kept, with
#'   a warning, and do not count in the system's `n`.
#' @param case,rater,rating Columns that identify the case and, in long data, the rater and the
#'   category chosen. In wide data `case` is optional.
#' @param counts Columns of counts, one per category, named after the categories.
#' @param categories Labels of the categories, in order. See Categories.
#' @param ordered Is the order of the categories meaningful? By default, if the ratings are ordered
#'   factors.
#' @param weights A column of non-negative case weights: frequencies, or exact probabilities.
#'   Weights that are not whole numbers leave no cases to resample, so that standard errors and
#'   intervals are `NA`. In long data, the same for all rows of a case.
#' @param repeats What two rows of one rater on one case mean: `"error"`, a mistake; `"ratings"`,
#'   independent repeats (pairs of them are not agreement between raters, but each is evidence about
#'   the case); `"labels"`, one answer with several labels, for [crowdtruth()], which methods for
#'   single categories refuse (see [as_ratings()] for the way out).
#'
#' @return An object of class `ratings` with methods for `print()`, `summary()`, `dim()` (cases,
#'   raters), `[` (cases, raters), [as.data.frame()][as.data.frame.ratings] and
#'   [autoplot()][autoplot.ratings].
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
#' # Counts: who said what is not known
#' ratings(fleiss1971, case = case, counts = depression:other)
#'
#' # Several labels in an answer, here in a list column
#' answers <- data.frame(case = c(1, 1, 2, 2), rater = c("r", "s", "r", "s"))
#' answers$labels <- list(c("a", "b"), "a", "b", character())
#' ratings(answers, case = case, rater = rater, rating = labels, repeats = "labels")
#'
#' # A matrix, with a category that nobody used
#' ratings(matrix(c("a", "b", NA, "a", "b", "b"), ncol = 2), categories = c("a", "b", "c"))
#' @export
ratings <- function(data, ..., raters = NULL, systems = NULL, case = NULL, rater = NULL,
                    rating = NULL, counts = NULL, categories = NULL, ordered = NULL,
                    weights = NULL, repeats = c("error", "ratings", "labels")) {
  check_dots_empty(...)
  call <- rlang::current_env()
  if (missing(data)) {
    abort_fallible("argument", "{.arg data} is missing.", arg = "data", call = call)
  }
  repeats <- check_choice(repeats, c("error", "ratings", "labels"), "repeats")
  if (!is.null(ordered)) check_flag(ordered, "ordered")
  input <- read_input(
    data,
    raters = rlang::enquo(raters), systems = rlang::enquo(systems), case = rlang::enquo(case),
    rater = rlang::enquo(rater), rating = rlang::enquo(rating), counts = rlang::enquo(counts),
    weights = rlang::enquo(weights), repeats = repeats, call = call
  )
  if (input$layout != "long" && repeats != "error") {
    abort_fallible("argument", c(
      "{.code repeats = \"{repeats}\"} needs long data, with a row per rating.",
      "i" = "Give {.arg case}, {.arg rater} and {.arg rating}."
    ), arg = "repeats", call = call)
  }
  categories <- find_categories(input, categories, call)
  x <- switch(input$layout,
    wide = build_wide(input, categories, call),
    long = build_long(input, categories, call),
    counts = build_counts(input, categories, call)
  )
  x$ordered <- ordered %||% input$ordered
  x$repeats <- repeats
  x <- new_ratings(x)
  check_built(x, input, call)
  x
}

# Fields: patterns (see patterns.R), index (pattern of each case), cases (identifiers), weights
# (NULL if every case counts once), raters (labels), categories, systems, ordered, repeats,
# exchangeable (raters are slots without identity), empty (case and rater of empty answers, where
# answers have labels); simulated ones also have truth (see simulate.R) or kinds (of their workers,
# see crowdtruth-simulate.R).
new_ratings <- function(fields) structure(fields, class = "ratings")

is_ratings <- function(x) inherits(x, "ratings")

# What can only be checked when everything is in place.
check_built <- function(x, input, call) {
  enough <- length(x$raters) >= 2L
  if (length(x$patterns$category) == 0L && (enough || x$exchangeable)) {
    abort_fallible("missing", c(
      "There is not a single rating in {.arg data}.",
      "i" = "All ratings are missing; check the columns and the coding of missing values."
    ), call = call)
  }
  if (!enough) {
    found <- if (length(x$raters) == 0L) "none" else "only {.val {x$raters}}"
    abort_fallible("raters", c(
      "At least two raters are needed to learn from their agreement.",
      "x" = paste0("Found ", found, "."),
      "i" = if (x$exchangeable) {
        "No case has two ratings: the counts of every row sum to one or zero."
      } else {
        "Systems do not count as raters."
      }
    ), raters = x$raters, call = call)
  }
  check_most_ratings(x, call)
  both <- if (!x$exchangeable) intersect(x$raters, x$systems)
  if (length(both) > 0L) {
    abort_fallible("columns", c(
      "Raters and systems must have different names.",
      "x" = "{.val {both}} {?names/name} both a rater and a system."
    ), arg = "systems", call = call)
  }
  if (x$repeats == "error") check_repeats(x, call)
  if (x$repeats == "labels") check_label_once(x, call)
  check_systems(x, call)
}

check_most_ratings <- function(x, call) {
  ratings <- diff(x$patterns$start)
  if (any(ratings > max_ratings_per_case)) {
    case <- x$cases[[match(which.max(ratings), x$index)]]
    abort_fallible("counts", c(
      "A case can have at most {max_ratings_per_case} ratings.",
      "x" = "Case {.val {as.character(case)}} has {max(ratings)}."
    ), row = match(case, x$cases), column = NA_character_, call = call)
  }
}

check_repeats <- function(x, call) {
  twice <- repeated_ratings(x$patterns)
  if (nrow(twice) == 0L) {
    return(invisible(x))
  }
  at <- match(twice$pattern[[1L]], x$index)
  case <- x$cases[[at]]
  rater <- x$raters[[twice$rater[[1L]]]]
  abort_fallible("repeat", c(
    "Rater {.val {rater}} rated case {.val {case}} more than once.",
    "x" = "Of {length(x$index)} cases, {sum(x$index %in% twice$pattern)} {?has/have} more than one
           rating by one rater.",
    "i" = "If these are independent repeats, say {.code repeats = \"ratings\"}; if they are one
           answer with several labels, {.code repeats = \"labels\"}."
  ), case = case, rater = rater, call = call)
}

check_systems <- function(x, call) {
  if (length(x$systems) == 0L) {
    return(invisible(x))
  }
  rated <- diff(x$patterns$start) > 0L
  answered <- x$patterns$answer > 0L
  cases <- tabulate(x$index, length(rated))
  total <- colSums(answered * cases)
  if (any(total == 0)) {
    system <- x$systems[total == 0]
    abort_fallible("system", c(
      "System{?s} {.val {system}} {?has/have} no prediction.",
      "i" = "{cli::qty(length(system))}Leave {?it/them} out of {.arg systems}, or check the case
             identifiers."
    ), system = system, call = call)
  }
  unrated <- total - colSums(answered * rated * cases)
  if (any(unrated == total)) {
    system <- x$systems[unrated == total]
    abort_fallible("unrated", c(
      "No rater saw any case of system{?s} {.val {system}}.",
      "i" = "Check that ratings and systems name their cases alike."
    ), system = system, call = call)
  }
  if (any(unrated > 0)) {
    some <- unrated > 0
    each <- verbatim(x$systems[some], ": ", number(unrated[some]), " of ", number(total[some]))
    warn_fallible("unrated", c(
      "Some cases that systems answered were seen by no rater; accuracy is estimated without them.",
      stats::setNames(each, rep("*", length(each)))
    ), systems = x$systems[some], unrated = unname(unrated[some]))
  }
  invisible(x)
}

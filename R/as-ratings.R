# From answers with several labels to ratings with one category each.

#' Ratings with one category each
#'
#' The way from answers with several labels to the methods that need one category per rating.
#'
#' * Without `label`, the labels are the categories, and every answer must have one label; what
#'   becomes of answers with several is said by `several`. An answer without a label is a missing
#'   rating.
#' * With `label`, the question becomes whether that label is in the answer, `"yes"` or `"no"`, and
#'   every answer has one, an empty one too. Nothing is lost; make one such object per label.
#'
#' @param x [ratings()] with `repeats = "labels"`, or a [crowdtruth()] result.
#' @param label A label, or `NULL`.
#' @param several What to do with answers of several labels: `"error"`, or `"omit"`, which takes
#'   them as missing.
#' @param ... Not used.
#' @return A [ratings()] object. Systems are kept; with `label` their predictions become `"yes"` and
#'   `"no"` too.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd()
#' as_ratings(x, label = "A")
#' ground_truth(as_ratings(x, several = "omit"))
#' @export
as_ratings <- function(x, ...) UseMethod("as_ratings")

#' @export
as_ratings.default <- function(x, ...) check_ratings(x, call = rlang::caller_env())

#' @rdname as_ratings
#' @export
as_ratings.crowdtruth <- function(x, ...) as_ratings(x$ratings, ...)

#' @rdname as_ratings
#' @export
as_ratings.ratings <- function(x, label = NULL, several = c("error", "omit"), ...) {
  check_dots_empty(...)
  call <- rlang::current_env()
  several <- check_choice(several, c("error", "omit"), "several")
  if (is.null(label)) {
    if (x$repeats == "labels") single_labels(x, several, call) else x
  } else {
    if (x$exchangeable || x$repeats == "ratings") {
      abort_fallible("argument", "{.arg label} needs one answer of each rater on a case.",
        arg = "label", call = call)
    }
    if (!(rlang::is_string(label) && label %in% x$categories)) {
      abort_fallible("argument", c(
        "{.arg label} must be a label of {.arg x}.",
        "x" = "It is {describe(label)}.",
        "i" = "They are {.val {x$categories}}."
      ), arg = "label", call = call)
    }
    one_label(x, match(label, x$categories))
  }
}

single_labels <- function(x, several, call) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  many <- answer %in% answer[duplicated(answer)]
  if (any(many) && several == "error") {
    abort_fallible("labels", c(
      "Some answers have several labels.",
      "x" = "{length(unique(answer[many]))} of {max(answer)} answers do, first that of
             {.val {x$raters[entries$worker[many][1L]]}} on
             {.val {as.character(x$cases[entries$unit[many][1L]])}}.",
      "i" = "{.code several = \"omit\"} leaves them out; {.arg label} asks about one label at a
             time."
    ), call = call)
  }
  keep <- entries$label > 0L & !many
  rebuild(x, lapply(entries[c("unit", "worker", "label")], `[`, keep), x$categories)
}

one_label <- function(x, label) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  has <- unique(answer[entries$label == label])
  answers <- list(
    unit = entries$unit[first], worker = entries$worker[first],
    label = ifelse(answer[first] %in% has, 1L, 2L)
  )
  x$patterns$answer[] <- c(0L, ifelse(seq_along(x$categories) == label, 1L, 2L))[
    x$patterns$answer + 1L]
  rebuild(x, answers, c("yes", "no"))
}

# Ratings of the same cases and raters from other entries: unit, worker and label.
rebuild <- function(x, entries, categories, repeats = "error") {
  answer <- x$patterns$answer[x$index, , drop = FALSE]
  systems <- lapply(seq_along(x$systems), function(s) answer[, s])
  core <- core_patterns_long(
    entries$unit, entries$worker, entries$label, systems, length(x$index)
  )
  x$index <- core$index
  core$index <- NULL
  x$patterns <- c(core, raters = length(x$raters), categories = length(categories))
  x$categories <- categories
  x$repeats <- repeats
  x$ordered <- FALSE
  if (repeats != "labels") x$empty <- NULL
  x
}

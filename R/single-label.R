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
#' @param x [ratings()] with `repeats = "labels"`, or a [crowdtruth()] result. Ratings with one
#'   category each stay as they are, unless there is a `label`.
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
#' single_label(x, label = "A")
#' ground_truth(single_label(x, several = "omit"))
#' @export
single_label <- function(x, label = NULL, several = c("error", "omit"), ...) {
  check_given()
  check_dots_empty(...)
  x <- as_answers(x)
  several <- check_choice(several)
  if (is.null(label)) return(if (has_labels(x)) single_labels(x, several) else x)
  check_single_answers(x, "label", "{.arg label} needs one answer of each rater on a case.")
  abort_argument_if(!(rlang::is_string(label) && label %in% x$categories), "label",
    "must be a label of {.arg x}.", not = label, i = "They are {.val {x$categories}}.")
  one_label(x, match(label, x$categories))
}

single_labels <- function(x, several) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  many <- answer %in% answer[duplicated(answer)]
  abort_if(any(many) && several == "error", "labels", "Some answers have several labels.",
    x = "{length(unique(answer[many]))} of {max(answer)} answers do, first that of
        {.val {x$raters[entries$worker[many][1L]]}} on
        {.val {as.character(x$cases[entries$unit[many][1L]])}}.",
    i = "{.code several = \"omit\"} leaves them out; {.arg label} asks about one label at a time.")
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
  x <- recode_answers(x, ifelse(seq_along(x$categories) == label, 1L, 2L))
  rebuild(x, answers, c("yes", "no"))
}

# Ratings of the same cases and raters from other entries: unit, worker and label.
rebuild <- function(x, entries, categories, repeats = "error") {
  systems <- unname(split_columns(case_answers(x), x$systems))
  core <- core_patterns_long(entries$unit, entries$worker, entries$label, systems, nrow(x))
  x$categories <- categories
  x <- with_patterns(x, core)
  x$repeats <- repeats
  x$ordered <- FALSE
  if (repeats != "labels") x$empty <- NULL
  new_ratings(x)
}

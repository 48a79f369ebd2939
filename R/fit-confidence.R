# rater_model(confidence = TRUE): the level of confidence is a part of what a rater answers. Given
# whether the answer is right, the level has a law of its own, one for right and one for wrong
# answers, the same for all raters and categories; so levels multiply the categories of the law. Its
# first set of categories is that of answers of which no level is known (those of systems, too),
# whose probability is the sum over levels.

uses_confidence <- function(model) isTRUE(model$confidence)

check_has_confidence <- function(model, x) {
  if (!uses_confidence(model)) return(invisible())
  seen <- seen_levels(x)
  abort_argument_if(length(seen) < 2L || !is.null(x$voted), "model",
    "A model with {.code confidence = TRUE} needs ratings with {.arg confidence}.",
    x = if (!is.null(x$voted)) "Groups of raters count as one vote each, and a vote has no
        confidence." else if (is.null(x$confidence)) "There is none." else
        "All of it is {.val {x$confidence$levels[seen]}}.",
    i = "Give {.arg confidence} to {.fun ratings}, or choose a model without.")
}

# Levels that nobody used, but perhaps on cases without weight, would have no estimate.
drop_unused_levels <- function(x) {
  seen <- seen_levels(x)
  given <- x$confidence
  kept <- given$code %in% seen
  x$confidence <- list(
    levels = given$levels[seen], case = given$case[kept], rater = given$rater[kept],
    code = match(given$code[kept], seen)
  )
  x
}

seen_levels <- function(x) {
  weight <- weights_of_cases(x)
  sort(unique(x$confidence$code[weight[x$confidence$case] > 0]))
}

# Levels of other ratings in the numbers of the fit.
recode_levels <- function(x, fit) {
  if (!uses_confidence(fit$model) || is.null(x$confidence)) return(x)
  levels <- fit$x$confidence$levels
  place <- match(x$confidence$levels, levels)
  strange <- x$confidence$levels[intersect(which(is.na(place)), x$confidence$code)]
  abort_argument_if(length(strange) > 0L, "newdata",
    "must have a {.arg confidence} of the levels of the fit.",
    x = "{.val {strange}} {?is/are} not among {.val {levels}}.")
  x$confidence$code <- place[x$confidence$code]
  x$confidence$levels <- levels
  x
}

# Patterns whose cases also have the same confidence.
split_by_confidence <- function(x) {
  if (is.null(x$confidence)) return(x)
  pattern <- pattern_of_case(x)
  at <- ratings_in(x, pattern)
  case <- rep.int(seq_along(pattern), pattern_lengths(x)[pattern])
  rater <- rating_rater(x)[at]
  level <- level_of_ratings(x, case, rater) + 1L # as if it were a category
  same <- core_patterns_long(case, rater, level, list(), length(pattern))$index
  split_patterns(x, list(.confidence = same))
}

# The level of each rating of patterns that were split by it, 0 where none is known.
rating_levels <- function(x, model) {
  if (!uses_confidence(model) || is.null(x$confidence)) return(rep(0L, length(rating_rater(x))))
  first <- first_cases(x)
  level_of_ratings(x, first[rating_pattern(x)], rating_rater(x))
}

level_terms <- function(levels) {
  paste0("confidence_", rep(c("right", "wrong"), each = length(levels)), "[", levels, "]",
    recycle0 = TRUE)
}

# ---- Draws ---------------------------------------------------------------------------------------

# Confidence of drawn ratings, of those that had one.
draw_confidence <- function(fit, row, at, rater, right) {
  levels <- fit$x$confidence$levels
  laws <- matrix(stats::coef(fit)[level_terms(levels)], ncol = 2L)
  stated <- which(rating_levels(fit$x, fit$model)[at] > 0L)
  below <- t(apply(laws, 2L, cumsum))[2L - right[stated], -length(levels), drop = FALSE]
  code <- 1L + as.integer(rowSums(stats::runif(length(stated)) > below))
  list(levels = levels, case = row[stated], rater = rater[stated], code = code)
}

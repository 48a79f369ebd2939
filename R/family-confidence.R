# rater_model(confidence = TRUE): the level of confidence is a part of what a rater answers. Given
# whether the answer is right, the level has a law of its own, one for right and one for wrong
# answers, the same for all raters and categories; so levels multiply the categories of the law. Its
# first set of categories is that of answers of which no level is known (those of systems, too),
# whose probability is the sum over levels.

uses_confidence <- function(model) isTRUE(model$confidence)

check_confidence_axes <- function(confidence, difficulty) {
  check_flag(confidence, "confidence")
  abort_argument_if(confidence && identical(difficulty, "strata"), "difficulty",
    "A model with {.code confidence = TRUE} cannot have strata of difficulty.",
    i = "{.arg difficulty} may be a formula.")
}

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

# Patterns whose cases are also alike in confidence.
split_by_confidence <- function(x) {
  if (is.null(x$confidence)) return(x)
  pattern <- pattern_of_case(x)
  at <- ratings_in(x, pattern)
  case <- rep.int(seq_along(pattern), pattern_lengths(x)[pattern])
  rater <- rating_rater(x)[at]
  level <- level_of_ratings(x, case, rater) + 1L # as if it were a category
  same <- core_patterns_long(case, rater, level, list(), length(pattern))$index
  split_patterns(x, cbind(same))
}

# The level of each rating of patterns that were split by it, 0 where none is known.
rating_levels <- function(x, model) {
  if (!uses_confidence(model) || is.null(x$confidence)) return(rep(0L, length(rating_rater(x))))
  first <- match(seq_len(n_patterns(x)), x$index)
  level_of_ratings(x, first[rating_pattern(x)], rating_rater(x))
}

# ---- The law -------------------------------------------------------------------------------------

# `family` with levels: its law of answers times that of the core for levels, whose parameters come
# last.
confident_family <- function(family, x) {
  levels <- x$confidence$levels
  n <- length(levels)
  own <- function(parameters) utils::head(parameters, 2L - 2L * n)
  level_law <- function(parameters) core_level_law(utils::tail(parameters, 2L * n - 2L), n)
  bare <- family
  family$levels <- levels
  family$start <- function(judged, categories) {
    seen <- tabulate(x$confidence$code, n)
    c(bare$start(judged, categories), log(seen[-1L] / seen[[1L]]), rep(log(0.5), n - 1L))
  }
  family$law <- function(parameters, judged, categories) {
    law <- bare$law(own(parameters), judged, categories)
    right <- rep(as.vector(diag(length(categories))), each = nrow(law))
    laws <- rbind(1, level_law(parameters))
    shares <- outer(right, laws[, 1L]) + outer(1 - right, laws[, 2L])
    array(as.vector(law) * shares, dim(law) * c(1L, 1L, n + 1L))
  }
  family["gradient"] <- list(if (!is.null(bare$gradient)) {
    function(parameters, judged, categories, counts) {
      k <- length(categories)
      counts <- array(counts, c(dim(counts)[[1L]], k, k, n + 1L))
      seen <- matrix(colSums(counts)[, , -1L], k^2)
      right <- as.vector(diag(k)) %*% seen
      value <- function(at) sum(c(right, colSums(seen) - right) * log(core_level_law(at, n)))
      c(
        bare$gradient(own(parameters), judged, categories, rowSums(counts, dims = 3L)),
        differences(value, utils::tail(parameters, 2L * n - 2L))
      )
    }
  })
  family$report <- function(parameters) {
    shares <- level_law(parameters)
    c(bare$report(own(parameters)), stats::setNames(as.vector(shares), level_terms(levels)))
  }
  family
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

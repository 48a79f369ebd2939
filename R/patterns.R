# Patterns: distinct rows of ratings and system answers. A list of start, rater, category (ratings
# of pattern p are entries start[p] + 1 ... start[p + 1]), answer (patterns x systems, 0 is none),
# raters and categories (their numbers). What every fit consumes, with pattern_weights().

pattern_weights <- function(x) {
  core_pattern_weights(x$index, x$weights, length(x$patterns$start) - 1L)
}

# The pattern of every rating.
rating_pattern <- function(patterns) {
  rep.int(seq_len(length(patterns$start) - 1L), diff(patterns$start))
}

# Patterns in which a rater gives more than one rating, and the rater.
repeated_ratings <- function(patterns) {
  pattern <- rating_pattern(patterns)
  n <- length(pattern)
  twice <- which(pattern[-1L] == pattern[-n] & patterns$rater[-1L] == patterns$rater[-n])
  data.frame(pattern = pattern[twice], rater = patterns$rater[twice])
}

# Do the weights count cases? Otherwise they are probabilities and there is nothing to resample.
weights_are_counts <- function(x) is.null(x$weights) || all(x$weights == round(x$weights))

# How many cases each pattern stands for: the sum of their weights if these are counts, otherwise
# the number of rows with any weight.
pattern_cases <- function(x) {
  if (is.null(x$weights)) {
    tabulate(x$index, length(x$patterns$start) - 1L)
  } else if (weights_are_counts(x)) {
    pattern_weights(x)
  } else {
    tabulate(x$index[x$weights > 0], length(x$patterns$start) - 1L)
  }
}

# The same over the patterns that satisfy `which`, a logical per pattern.
count_cases <- function(x, which = TRUE) sum(pattern_cases(x)[which])

# Patterns with at least one rating.
rated_patterns <- function(x) diff(x$patterns$start) > 0L

# NaN, the core's "nothing can be said", is NA in R.
na_real <- function(x) {
  if (is.double(x)) x[is.nan(x)] <- NA_real_
  x
}

#' Distinct rows of ratings
#'
#' Cases with the same ratings and the same answers of systems are one pattern. This table is all
#' that the package's fits see, and what a model of your own needs: its cost then grows with the
#' number of patterns, not of cases.
#'
#' @param x A [ratings()] object with one category per rating.
#' @return A tibble with a row per pattern. First the ratings: a factor for each rater, or, where
#'   raters are exchangeable or rate a case more than once, an integer for each category, the number
#'   of ratings. Then a factor for each system, and `n`, the number of cases, or their total weight.
#' @family data
#' @examples
#' pattern_table(ratings(fleiss1971, case = case, counts = depression:other))
#' @export
pattern_table <- function(x) {
  check_ratings(x)
  check_single_label(x)
  patterns <- x$patterns
  rows <- length(patterns$start) - 1L
  at <- rating_pattern(patterns)
  ratings <- if (x$exchangeable || nrow(repeated_ratings(patterns)) > 0L) {
    number <- tabulate(at + (patterns$category - 1L) * rows, rows * length(x$categories))
    split_columns(matrix(number, rows), x$categories)
  } else {
    code <- matrix(NA_integer_, rows, length(x$raters))
    code[cbind(at, patterns$rater)] <- patterns$category
    lapply(split_columns(code, x$raters), category_factor, x = x)
  }
  systems <- lapply(split_columns(patterns$answer, x$systems), function(code) {
    category_factor(replace(code, code == 0L, NA), x)
  })
  columns <- c(ratings, systems)
  if ("n" %in% names(columns) || anyDuplicated(names(columns)) > 0L) {
    abort_fallible("argument", c(
      "The columns of the table must have different names, and none may be {.val n}.",
      "x" = "They would be {.val {names(columns)}}."
    ), arg = "x", call = rlang::current_env())
  }
  tibble::new_tibble(c(columns, list(n = pattern_weights(x))), nrow = rows)
}

split_columns <- function(matrix, names) {
  stats::setNames(lapply(seq_along(names), function(j) matrix[, j]), names)
}

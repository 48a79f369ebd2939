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

# How far each rating is that of the plurality of the others of its case. Who counts a rating itself
# among those that it is held against takes raters for better than they are.

# The share of ratings that are not, by the number of cases; categories that lead together share the
# credit, and cases with a single rating are left out. NA if there are no others.
disagreement_error <- function(x) {
  at <- compared_ratings(x)
  1 - ratio(sum(at$weight * at$credit), sum(at$weight))
}

# A row per rating with others: its credit, weight and rater.
compared_ratings <- function(x) {
  pattern <- rating_pattern(x)
  n <- pattern_ratings(x)
  own <- n[cbind(pattern, rating_category(x))]
  top <- row_top(n)
  leads <- own == top[pattern] & rowSums(n == top)[pattern] == 1
  n[n == top] <- -1
  second <- row_top(n)
  level <- own - 1 == second[pattern] # with the second, once the rating itself is gone
  credit <- leads / ifelse(level, 1 + rowSums(n == second)[pattern], 1)
  with_others <- pattern_lengths(x)[pattern] > 1L
  data.frame(
    credit = as.vector(credit), weight = pattern_weights(x)[pattern], rater = rating_rater(x),
    pattern = pattern
  )[with_others, ]
}

# Patterns x categories: numbers of ratings.
pattern_ratings <- function(x) {
  at <- rating_pattern(x) + (rating_category(x) - 1) * n_patterns(x)
  matrix(tabulate(at, n_patterns(x) * length(x$categories)), n_patterns(x))
}

row_top <- function(n) n[cbind(seq_len(nrow(n)), max.col(n, "first"))]

# How often each rater and each system is with the plurality of (other) raters, NA where there are
# none.
plurality_shares <- function(x) {
  at <- compared_ratings(x)
  of_raters <- ratio(
    rowsum_codes(at$rater, at$weight * at$credit, length(x$raters)),
    rowsum_codes(at$rater, at$weight, length(x$raters))
  )
  n <- pattern_ratings(x)
  top <- row_top(n)
  rated <- top > 0
  shared <- (n == top) / rowSums(n == top)
  answer <- pattern_answers(x)
  of_systems <- vapply(seq_along(x$systems), function(s) {
    use <- which(rated & answer[, s] > 0L)
    weight <- pattern_weights(x)[use]
    sum(weight * shared[cbind(use, answer[use, s])]) / sum(weight)
  }, 0)
  c(stats::setNames(of_raters, x$raters), stats::setNames(of_systems, x$systems))
}

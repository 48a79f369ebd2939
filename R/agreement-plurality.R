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
  own <- cbind(seq_along(pattern), rating_category(x))
  others <- pattern_ratings(x)[pattern, , drop = FALSE]
  others[own] <- others[own] - 1
  leads <- others == row_top(others)
  with_others <- pattern_lengths(x)[pattern] > 1L
  data.frame(
    credit = leads[own] / rowSums(leads), weight = pattern_weights(x)[pattern],
    rater = rating_rater(x)
  )[with_others, ]
}

# Patterns x categories: numbers of ratings.
pattern_ratings <- function(x) {
  at <- rating_pattern(x) + (rating_category(x) - 1) * n_patterns(x)
  matrix(tabulate(at, n_patterns(x) * n_categories(x)), n_patterns(x))
}

row_top <- function(n) n[cbind(seq_len(nrow(n)), max.col(n, "first"))]

# How often each rater and each system is with the plurality of (other) raters, NA where there are
# none.
plurality_shares <- function(x) {
  at <- compared_ratings(x)
  of_raters <- ratio(
    rowsum_codes(at$rater, at$weight * at$credit, n_raters(x)),
    rowsum_codes(at$rater, at$weight, n_raters(x))
  )
  n <- pattern_ratings(x)
  leads <- n == row_top(n)
  answer <- pattern_answers(x)
  of_systems <- vapply(seq_along(x$systems), function(s) {
    use <- which(rowSums(n) > 0 & answer[, s] > 0L)
    credit <- leads[cbind(use, answer[use, s])] / rowSums(leads[use, , drop = FALSE])
    weight <- pattern_weights(x)[use]
    sum(weight * credit) / sum(weight)
  }, 0)
  stats::setNames(c(of_raters, of_systems), c(x$raters, x$systems))
}

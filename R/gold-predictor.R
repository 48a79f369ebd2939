# What ratings predict of each case, which gold cases are held against: half the posterior of
# raters who each have an accuracy, half the share of ratings (of one rater, the share). The answers
# of systems have no part in it, nor has gold, so that gold cases are predicted like any other.

# Patterns x categories; NA without ratings.
predict_categories <- function(x) {
  shares <- rating_shares(x)
  posterior <- posterior_of_raters(x)
  out <- if (anyNA(posterior[rowSums(is.na(shares)) == 0, ])) shares else (posterior + shares) / 2
  replace(out, is.na(shares), NA_real_)
}

rating_shares <- function(x) na_real(pattern_counts(x) / pattern_lengths(x))

posterior_of_raters <- function(x) {
  if (is_one_rater(x)) return(unknown_posterior(x))
  x$systems <- character()
  x$patterns <- pick_systems(x$patterns, 0L)
  model <- if (has_counts(x)) k_model() else model_of_each
  fit <- suppressWarnings(
    fit_checked(with_votes(x), model, NULL, NULL, NULL), classes = "fallible_warning"
  )
  posterior(fit)[rows_for(fit$x, x), , drop = FALSE]
}

# What is predicted of answers, a category per pattern (0 is none), or a column of them per system.
predict_answer <- function(predicted, answer) {
  at <- cbind(as.vector(row(as.matrix(answer))), as.vector(replace(answer, answer == 0L, NA)))
  out <- predicted[at]
  dim(out) <- dim(answer)
  out
}

# Cases without ratings are like the mean of the others.
fill_unrated <- function(q, weight) {
  if (!anyNA(q)) return(q)
  known <- !is.na(q)
  weight <- as.matrix(weight * known)
  mean <- colSums(weight * as.vector(replace(q, !known, 0))) / colSums(weight)
  replace(q, !known, rep(replace(mean, is.nan(mean), 0), each = nrow(weight))[!known])
}

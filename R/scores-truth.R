# How far each case counts for each category when scores are judged.
#
# Raters alone say p, the probabilities of the categories of a case. Where systems err where raters
# err, a score tells no more of the truth than the ratings do, and p is the weight of the case.
# Where scores and ratings have the truth alone in common, E[1(S in A) p_k] = sum_j F_j(A) E[p_j
# p_k], with F_j the law of the score in category j, since E[1(truth = j) p_k] = E[p_j p_k]:
# weighted by p the laws of all categories are mixed. With M = E[p p'] and D the diagonal of the
# base rates E[p], the weights w = D M^-1 p undo this: E[w_j 1(S in A)] = E[p_j] F_j(A). Those of a
# case sum to one, as base rates are M times a vector of ones, but may be below 0 or above 1.

# Below this raters hardly separate the categories: the smallest eigenvalue of M, scaled to be 1
# where the truth is known and 0 where nothing is.
least_eigenvalue <- 0.01

# `of`, a function of weights of cases that gives p, cases x categories, fitted anew with these
# weights; of a posterior that was given, or where fits take long, as it is. NULL are the cases as
# they are. `known`: is the truth of a case known?
rater_beliefs <- function(estimate) {
  fit <- raters_alone(estimate$fit, estimate)
  x <- fit$x
  as_is <- posterior(fit)[x$index, , drop = FALSE]
  refit <- refitting(fit)
  held <- is.null(refit) || length(rating_rater(x)) * n_categories(x) > most_refitted
  of <- function(v) {
    if (is.null(v) || held) return(as_is)
    refit(core_pattern_weights(x$index, v, n_patterns(x)))[x$index, , drop = FALSE]
  }
  list(of = of, known = known_patterns(fit)[x$index])
}

most_refitted <- 1e5 # ratings of patterns times categories

# The raters without the systems: under the model of the estimate, or, where that averages over
# models, under raters with an accuracy each, which depends on the category if the average says so.
raters_alone <- function(fit, estimate) UseMethod("raters_alone")

raters_alone.rater_fit <- function(fit, estimate) {
  alone <- fit$x
  alone$systems <- character()
  alone$patterns$answer <- fit$x$patterns$answer[, 0L, drop = FALSE]
  alone <- join_patterns(alone)
  model <- if (method_of(estimate)$model == "own") model_of_average(estimate) else fit$model
  suppressWarnings(fit_again(fit, alone, model), classes = "fallible_warning")
}

# The posterior of raters does not depend on systems, and a second run would add Monte Carlo error.
raters_alone.draws_fit <- function(fit, estimate) fit # nolint: object_name.

model_of_average <- function(estimate) {
  if (has_counts(estimate$fit$x)) return(k_model())
  members <- estimate$members
  own <- sum(members$weight[members$errors != "uniform"]) / length(unique(members$system))
  if (own > 0.5) dawid_skene("weak") else rater_model("rater")
}

# Weights of truths of some cases: `p` of these, `known` (is the truth known?), `v` how often each
# counts, `back` the share of the way to shared errors. NULL if raters do not tell.
truth_weights <- function(p, known, v, back) {
  if (isTRUE(back == 1)) return(p)
  open <- which(!known & v > 0)
  if (length(open) == 0L) return(p)
  undo <- undo_mixing(p[open, , drop = FALSE], v[open])
  if (is.null(undo)) return(NULL)
  own <- p
  own[!known, ] <- p[!known, , drop = FALSE] %*% undo
  own + back * (p - own)
}

# The transpose of D M^-1; categories of which hardly a case is expected stay as they are.
undo_mixing <- function(p, v) {
  share <- colSums(p * v)
  there <- share >= few_cases
  p <- p[, there, drop = FALSE]
  p <- p / rowSums(p)
  base <- colSums(p * v)
  mixed <- crossprod(p, p * v)
  eigenvalues <- eigen(mixed / sqrt(outer(base, base)), symmetric = TRUE, only.values = TRUE)$values
  if (length(eigenvalues) > 1L && min(eigenvalues) < least_eigenvalue) return(NULL)
  out <- diag(length(share))
  out[there, there] <- solve(mixed, diag(base, length(base)))
  out
}

# Measures of diagnostic tests on log and logit scales, and their standard errors.

test_measures <- c(
  "sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "dor", "youden"
)

# Returns TRUE for measures that are ratios, an array with dimensions `shape` and measures in the
# first dimension. Intervals of ratios are computed on the log scale, all others on the logit scale.
is_ratio_measure <- function(shape) {
  array(test_measures %in% c("lr_positive", "lr_negative", "dor"), shape)
}

back_transform <- function(x) ifelse(is_ratio_measure(dim(x)), exp(x), plogis(x))

# Calls `f(rater, category)`, which returns the eight `test_measures`, for all raters and
# categories. Returns an array (measures x categories x raters). If there are several `draws` (their
# number), `f` returns a matrix (measures x draws), and the array is measures x draws x categories x
# raters.
apply_to_tests <- function(raters, categories, f, draws = NULL) {
  tests <- expand.grid(k = seq_len(categories), j = seq_len(raters))
  array(unlist(Map(f, tests$j, tests$k)), c(8L, draws, categories, raters))
}

# Returns the measures of diagnostic tests (see `test_measures`), ratios as logarithms and all
# others as logits: an array, measures x categories x raters. `matrices`: confusion matrices (raters
# x truth x answer). `rates`: base rates for predictive values, NULL for `base_rates`. `answered`:
# probability that a rater answers (raters x categories), NULL without abstentions; with it,
# measures refer to cases with an answer. For posterior draws, `base_rates` is a matrix (categories
# x draws), and the last dimension of `matrices` contains the answers of the first draw, then those
# of the next draw.
test_numbers <- function(matrices, base_rates, rates, answered = NULL) {
  draws <- ncol(base_rates)
  base_rates <- as.matrix(base_rates)
  rates <- as.matrix(rates %||% round_on_boundary(base_rates))
  apply_to_tests(nrow(matrices), nrow(base_rates), function(j, k) {
    if (!is.null(answered)) {
      rates <- rates * answered[j, ] / sum(rates * answered[j, ])
      base_rates <- base_rates * answered[j, ]
    }
    measure_test(sensitivity_specificity(matrices, base_rates, j, k), rates[k, ])
  }, draws)
}

# Sets probabilities that are within 1e-6 of 0 or 1 to exactly 0 or 1. They then have no standard
# errors.
round_on_boundary <- function(p) ifelse(on_boundary(p), round(p), p)

# Returns the sensitivity (row 1) and specificity (row 2) of rater number `j` for category number
# `k`, a matrix with a column per draw. The specificity is a mean over all other categories,
# weighted by base rates. `matrices` as in test_numbers(); `base_rates` is a matrix (categories x
# draws).
sensitivity_specificity <- function(matrices, base_rates, j, k) {
  size <- nrow(base_rates)
  given_truth <- matrix(matrices[j, , seq.int(k, dim(matrices)[[3L]], size)], size) # truths x draws
  weights <- base_rates[-k, , drop = FALSE]
  if (size == 2L) weights[] <- 1
  false_positive <- colSums(weights * given_truth[-k, , drop = FALSE]) / colSums(weights)
  rbind(given_truth[k, ], 1 - false_positive)
}

# Returns the measures of a test, ratios as logarithms and all others as logits (measures x draws).
# `right`: result of sensitivity_specificity(). `rate`: base rate of the category in each draw.
# Youden's index is replaced by the logit of (index + 1) / 2.
measure_test <- function(right, rate) {
  right <- round_on_boundary(right)
  logit <- qlogis
  positive <- log(right[1L, ]) - log1p(-right[2L, ])
  negative <- log1p(-right[1L, ]) - log(right[2L, ])
  rbind(
    logit(right), logit(rate) + positive, -logit(rate) - negative, positive, negative,
    positive - negative, logit(pmin(colSums(right) / 2, 1))
  )
}

# Returns the standard errors of `at`, a result of test_numbers() (logarithms and logits), in the
# same shape, by the delta method. With more than 500 parameters, the true categories are treated as
# known. `rates`: base rates for predictive values, or NULL. `both`, `group`: see
# predict_parameters().
test_errors <- function(fit, at, rates, both = integer(), group = NULL) {
  out <- array(NA_real_, dim(at))
  if (fit$identified != "yes") return(out)
  if (!is.null(fit$calibrated)) return(standard_errors_of_judge(fit, at, rates))
  if (is.null(fit$unsure) || !weights_are_counts(fit$x)) return(out)
  if (length(fit$theta) > 500L) return(errors_given_truth(fit, rates, both))
  # Directions without curvature are left out: parameters are not identified there.
  hessian <- core_latent_hessian(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$theta
  )
  # Without scaling, LAPACK can fail to converge.
  scale <- max(abs(hessian))
  spectrum <- eigen(-(hessian + t(hessian)) / (2 * scale), symmetric = TRUE)
  has_curvature <- spectrum$values > 1e-7 * max(spectrum$values)
  numbers <- function(theta) {
    estimates <- predict_parameters(fit, theta, group, both)
    combined <- add_combined_tests(estimates$matrices, both, estimates$joint)
    as.vector(test_numbers(combined, estimates$rates, rates))
  }
  step <- 1e-4 / pmax(abs(fit$theta), 1) # an absolute step of 1e-4
  jacobian <- central_differences(numbers, fit$theta, step) %*% spectrum$vectors[, has_curvature]
  variance <- rowSums(jacobian^2 /
    rep(scale * spectrum$values[has_curvature], each = nrow(jacobian)))
  sqrt(ifelse(is.finite(at), variance, NA))
}

# Returns base rates (`rates`) and confusion matrices (`matrices`, raters x truth x answer) for the
# parameters `theta` of a fit. The core computes them as predictions for cases without ratings.
# `group`: a row of covariates; base rates are those of its population. If it is NULL, base rates
# are means over cases. `both`: indices of two raters, or empty. The result then has the element
# `joint`, the probability that both give an answer (truth x answer), for add_combined_tests().
predict_parameters <- function(fit, theta, group = NULL, both = integer()) {
  x <- fit$x
  n <- n_categories(x)
  known <- fit$known
  if (!is.null(group)) {
    known$design <-
      formula_design(fit$model$base_rates, group, known$base)$matrix[, -1L, drop = FALSE]
  }
  n_populations <- max(1L, nrow(known$design))
  unrated_patterns <- x$patterns
  unrated_patterns$start <- integer(n_populations + 1L)
  unrated_patterns$rater <- unrated_patterns$category <- integer()
  unrated_patterns$answer <- matrix(0L, n_populations, ncol(unrated_patterns$answer))
  model <- model_of_fit(fit)
  model$level <- integer()
  known$truth <- integer()
  known$counts <- NULL
  if (!is.null(known$design)) known$population <- seq_len(n_populations)
  predicted <- core_latent_probabilities(unrated_patterns, rep(1, n_populations), known, model,
    theta)
  # truths x strata x ratings x raters
  probabilities <- array(predicted$probability,
    c(n, nrow(predicted$probability) / n, n, n_raters(x)))
  weight <- 1
  if (n_populations > 1L) {
    weight <- rowsum_codes(fit$known$population, pattern_weights(x) * is_usable_pattern(fit),
      n_populations)
  }
  list(
    rates = drop(weight %*% predicted$posterior) / sum(weight),
    matrices = aperm(apply(probabilities, c(1L, 3L, 4L), mean), c(3L, 1L, 2L)),
    joint = if (length(both) > 0L) {
      of_rater <- function(j) probabilities[, , , j, drop = FALSE]
      apply(of_rater(both[[1L]]) * of_rater(both[[2L]]), c(1L, 3L), mean)
    }
  )
}

# Returns the standard errors that test_errors() would return if the true categories of all cases
# were known: the variance of a probability p is p (1 - p) / n for n cases with this true category.
errors_given_truth <- function(fit, rates, both = integer()) {
  p <- add_combined_tests(fit$matrices, both)
  # raters x truth x answer
  variance <- fit$matrices * (1 - fit$matrices) / as.vector(sizes_by_truth(fit))
  variance <- add_combined_tests(fit$matrices, both, variance = variance)
  base_rates <- as.matrix(fit$base_rates)
  out <- apply_to_tests(nrow(p), length(base_rates), function(j, k) {
    weights <- base_rates[-k] / sum(base_rates[-k])
    variances <- c(variance[j, k, k], sum(weights^2 * variance[j, -k, k]))
    numbers <- function(right) c(measure_test(right, (rates %||% base_rates)[[k]]))
    jacobian <- central_differences(numbers, sensitivity_specificity(p, base_rates, j, k), 1e-6)
    sqrt(drop(jacobian^2 %*% variances))
  })
  replace(out, !is.finite(out), NA)
}

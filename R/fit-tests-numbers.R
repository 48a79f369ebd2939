# Measures of diagnostic tests, such as sensitivity, on the log or logit scale, and their standard
# errors.

test_measures <- c(
  "sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "dor", "youden"
)

# Returns an array that is TRUE for measures that are ratios. `shape`: dimensions of the array; the
# first dimension is `test_measures`. Intervals of ratios are computed on the log scale.
is_ratio_measure <- function(shape) {
  array(test_measures %in% c("lr_positive", "lr_negative", "dor"), shape)
}

back_transform <- function(x) ifelse(is_ratio_measure(dim(x)), exp(x), plogis(x))

# Calls `compute_test(j, k)` for every rater number j and category number k, and returns the results
# as an array (measures x categories x raters). `compute_test`: a function that returns the eight
# `test_measures`. `draws`: number of posterior draws, or NULL. With draws, `compute_test` must
# return a matrix (measures x draws), and the result is an array (measures x draws x categories x
# raters).
apply_to_tests <- function(raters, categories, compute_test, draws = NULL) {
  tests <- expand.grid(k = seq_len(categories), j = seq_len(raters))
  array(unlist(Map(compute_test, tests$j, tests$k)), c(8L, draws, categories, raters))
}

# Returns `test_measures` on transformed scales: logarithms of ratios, and logits of other measures.
# The result is an array of apply_to_tests(). Arguments:
# * matrices: confusion matrices (raters x truth x answer)
# * base_rates: base rates, a vector
# * rates: base rates for predictive values, NULL for `base_rates`
# * answered: probability that a rater answers (raters x true categories), or NULL. If it is given,
#   measures refer to cases in which the rater answers.
#
# For posterior draws, `base_rates` is a matrix (categories x draws). The last dimension of
# `matrices` then contains all answers for the first draw, all answers for the second draw, and so
# on.
transformed_measures <- function(matrices, base_rates, rates, answered = NULL) {
  n_draws <- ncol(base_rates)
  base_rates <- as.matrix(base_rates)
  rates <- as.matrix(rates %||% round_on_boundary(base_rates))
  apply_to_tests(nrow(matrices), nrow(base_rates), function(j, k) {
    if (!is.null(answered)) {
      rates <- rates * answered[j, ] / sum(rates * answered[j, ])
      base_rates <- base_rates * answered[j, ]
    }
    transformed_measures_of_test(sensitivity_specificity(matrices, base_rates, j, k), rates[k, ])
  }, n_draws)
}

# Sets probabilities within 1e-6 of 0 or 1 to exactly 0 or 1, and returns all probabilities. Exact
# values 0 and 1 have no standard errors.
round_on_boundary <- function(p) ifelse(is_on_boundary(p), round(p), p)

# Returns the sensitivity (row 1) and specificity (row 2) of rater number `j` for category number
# `k`, a matrix (2 x draws). The specificity is a mean over all other categories, weighted by base
# rates. `matrices`: see transformed_measures(). `base_rates`: a matrix (categories x draws).
# Without posterior draws, the number of draws is 1.
sensitivity_specificity <- function(matrices, base_rates, j, k) {
  n_truths <- nrow(base_rates)
  # Probability of answer `k` (truths x draws)
  p_given_truth <- matrix(matrices[j, , seq.int(k, dim(matrices)[[3L]], n_truths)], n_truths)
  weights <- base_rates[-k, , drop = FALSE]
  if (n_truths == 2L) weights[] <- 1
  false_positive_rate <- colSums(weights * p_given_truth[-k, , drop = FALSE]) / colSums(weights)
  rbind(p_given_truth[k, ], 1 - false_positive_rate)
}

# Returns `test_measures` of one test on transformed scales, a matrix (measures x draws): logarithms
# of ratios, and logits of other measures. Youden's index is replaced by the logit of (index + 1) /
# 2. `correct_rates`: a result of sensitivity_specificity(). `rate`: base rate of the category in
# each draw.
transformed_measures_of_test <- function(correct_rates, rate) {
  correct_rates <- round_on_boundary(correct_rates)
  log_lr_positive <- log(correct_rates[1L, ]) - log1p(-correct_rates[2L, ])
  log_lr_negative <- log1p(-correct_rates[1L, ]) - log(correct_rates[2L, ])
  rbind(
    qlogis(correct_rates), qlogis(rate) + log_lr_positive, -qlogis(rate) - log_lr_negative,
    log_lr_positive, log_lr_negative, log_lr_positive - log_lr_negative,
    qlogis(pmin(colSums(correct_rates) / 2, 1))
  )
}

# Returns standard errors of `estimates`, a result of transformed_measures(), by the delta method:
# an array of the same shape. With more than 500 parameters, standard errors are computed as if the
# true categories were known. `rates`: base rates for predictive values, or NULL. `both`, `group`:
# see predict_parameters().
transformed_standard_errors <- function(fit, estimates, rates, both = integer(), group = NULL) {
  standard_errors <- array(NA_real_, dim(estimates))
  if (fit$identified != "yes") return(standard_errors)
  if (!is.null(fit$calibrated)) return(standard_errors_of_judge(fit, estimates, rates))
  if (is.null(fit$unsure) || !weights_are_counts(fit$x)) return(standard_errors)
  if (length(fit$theta) > 500L) return(standard_errors_given_truth(fit, rates, both))
  # The covariance of the parameters is the inverse of the information matrix. It does not exist in
  # directions in which the likelihood is flat. These directions are left out.
  hessian <- core_latent_hessian(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$theta
  )
  # The Hessian is scaled, because LAPACK can fail to converge without scaling.
  hessian_scale <- max(abs(hessian))
  spectrum <- eigen(-(hessian + t(hessian)) / (2 * hessian_scale), symmetric = TRUE)
  has_curvature <- spectrum$values > 1e-7 * max(spectrum$values)
  compute_measures <- function(theta) {
    predictions <- predict_parameters(fit, theta, group, both)
    combined_matrices <- add_combined_tests(predictions$matrices, both, predictions$joint)
    as.vector(transformed_measures(combined_matrices, predictions$rates, rates))
  }
  step <- 1e-4 / pmax(abs(fit$theta), 1) # an absolute step of 1e-4
  jacobian <- central_differences(compute_measures, fit$theta, step) %*%
    spectrum$vectors[, has_curvature]
  variance <- rowSums(jacobian^2 /
    rep(hessian_scale * spectrum$values[has_curvature], each = nrow(jacobian)))
  sqrt(ifelse(is.finite(estimates), variance, NA))
}

# Converts the parameters `theta` of a fit to probabilities. The core computes them as predictions
# for cases without ratings. Returns a list:
# * rates: base rates
# * matrices: confusion matrices (raters x truth x answer)
# * joint: probability that two raters both give the same answer (truth x answer), for
#   add_combined_tests(); NULL if `both` is empty
#
# `group`: a data frame with the covariates of one population, for the base rates of this
# population; NULL for base rates of all cases together. `both`: indices of the two raters, or
# empty.
predict_parameters <- function(fit, theta, group = NULL, both = integer()) {
  ratings <- fit$x
  n <- n_categories(ratings)
  known_values <- fit$known
  if (!is.null(group)) {
    known_values$design <-
      formula_design(fit$model$base_rates, group, known_values$base)$matrix[, -1L, drop = FALSE]
  }
  n_populations <- max(1L, nrow(known_values$design))
  unrated_patterns <- ratings$patterns
  unrated_patterns$start <- integer(n_populations + 1L)
  unrated_patterns$rater <- unrated_patterns$category <- integer()
  unrated_patterns$answer <- matrix(0L, n_populations, ncol(unrated_patterns$answer))
  model <- model_of_fit(fit)
  model$level <- integer()
  known_values$truth <- integer()
  known_values$counts <- NULL
  if (!is.null(known_values$design)) known_values$population <- seq_len(n_populations)
  core_result <- core_latent_probabilities(unrated_patterns, rep(1, n_populations), known_values,
    model, theta)
  # Dimensions: truths, strata of difficulty, ratings, raters
  probabilities <- array(core_result$probability,
    c(n, nrow(core_result$probability) / n, n, n_raters(ratings)))
  population_weights <- 1
  if (n_populations > 1L) {
    population_weights <- rowsum_codes(fit$known$population,
      pattern_weights(ratings) * is_usable_pattern(fit), n_populations)
  }
  list(
    rates = drop(population_weights %*% core_result$posterior) / sum(population_weights),
    matrices = aperm(apply(probabilities, c(1L, 3L, 4L), mean), c(3L, 1L, 2L)),
    joint = if (length(both) > 0L) {
      select_rater <- function(j) probabilities[, , , j, drop = FALSE]
      apply(select_rater(both[[1L]]) * select_rater(both[[2L]]), c(1L, 3L), mean)
    }
  )
}

# Returns standard errors of transformed measures as if the true categories of all cases were known:
# a probability p then has variance p (1 - p) / n, where n is the number of cases of the true
# category. The result has the shape of transformed_measures().
standard_errors_given_truth <- function(fit, rates, both = integer()) {
  p_answer <- add_combined_tests(fit$matrices, both)
  # Variance of each probability (raters x truth x answer)
  variance <- bernoulli_variance(fit$matrices) / as.vector(count_observations_by_truth(fit))
  variance <- add_combined_tests(fit$matrices, both, variance = variance)
  base_rates <- as.matrix(fit$base_rates)
  standard_errors <- apply_to_tests(nrow(p_answer), length(base_rates), function(j, k) {
    weights <- base_rates[-k] / sum(base_rates[-k])
    variances <- c(variance[j, k, k], sum(weights^2 * variance[j, -k, k]))
    rate <- (rates %||% base_rates)[[k]]
    compute_measures <- function(correct_rates) c(transformed_measures_of_test(correct_rates, rate))
    correct_rates <- sensitivity_specificity(p_answer, base_rates, j, k)
    jacobian <- central_differences(compute_measures, correct_rates, 1e-6)
    sqrt(drop(jacobian^2 %*% variances))
  })
  replace(standard_errors, !is.finite(standard_errors), NA)
}

# Returns a list of `covariance`, the covariance matrix of the coefficients, and `variance`, the
# vector of their variances. An element is NULL if it is not available.
covariance_of <- function(fit) UseMethod("covariance_of")

covariance_of.rater_fit <- function(fit) {
  covariance <- fit$covariance
  list(covariance = covariance, variance = if (!is.null(covariance)) diag(covariance))
}

# Returns the variances of the coefficients, or NA if they are not available.
coefficient_variances <- function(fit) {
  covariance_of(fit)$variance %||% rep(NA_real_, length(fit$coefficients))
}

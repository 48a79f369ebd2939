# Base rates from the ratings of a single rater, called the judge below. The judge's ratings are
# called verdicts. The judge's error rates are estimated from a calibration sample, which consists
# of other cases with known truth. Base rates are the shares of verdicts, corrected for these errors
# (Rogan and Gladen, 1978).

# Estimates base rates and returns a fit of class judge_fit. `x`: ratings, all of them by the judge.
# `counts`: a list with one matrix, the counts of the calibration sample (true categories x
# verdicts).
fit_one_judge <- function(x, model, counts) {
  n <- n_categories(x)
  calibration <- list(
    counts = counts[[1L]],
    verdicts = rowsum_codes(rating_category(x), rating_weights(x), n)
  )
  calibration$problem <- why_no_calibration(calibration, x$categories)
  estimates <- if (is.null(calibration$problem)) calibrated_rates(calibration) else
    list(rates = rep(1 / n, n), matrix = diag(n))
  posterior <- rbind(t(estimates$rates * estimates$matrix), estimates$rates, deparse.level = 0L)
  posterior_row <- rep(n + 1L, n_patterns(x))
  posterior_row[rating_pattern(x)] <- rating_category(x)
  compute_accuracy_and_rates <- function(rates, matrix) c(sum(rates * diag(matrix)), rates)
  coefficients <- compute_accuracy_and_rates(estimates$rates, estimates$matrix)
  fit <- new_rater_fit(c("judge_fit", "latent_fit"), x, model, "likelihood",
    list(truth = integer(), counts = counts),
    identified = names(calibration$problem) %||% "yes",
    by_agreement = list(identified = NA, agreement = NA_real_, kappa = NA_real_),
    rater_accuracy = coefficients[[1L]], theta = NA_real_, converged = TRUE,
    base_rates = estimates$rates,
    posterior = pick_rows(posterior / rowSums(posterior), posterior_row),
    parameters = NA_integer_,
    log_likelihood = NA_real_, log_posterior = NA_real_, iterations = 0L,
    matrices = array(estimates$matrix, c(1L, n, n)),
    coefficients = setNames(coefficients, c(rater_terms(x), rate_terms(x))),
    calibrated = calibration
  )
  if (!is.null(calibration$problem)) return(set_estimates_to_na(fit))
  if (n > 2L) fit$calibrated$draws <- calibrated_draws(calibration)
  fit$covariance <- calibrated_covariance(fit, compute_accuracy_and_rates)
  fit
}

compute_posterior.judge_fit <- function(fit, x) { # nolint: object_name.
  rates <- matrix(fit$base_rates, n_patterns(x), n_categories(x), byrow = TRUE)
  posterior_of_matrices(rates, list(array(fit$matrices, dim(fit$matrices)[-1L])), x)
}

# Returns the reason why base rates cannot be estimated: a text whose name is the code of the
# reason. Returns NULL if base rates can be estimated. `calibration`: a list of `counts`, the
# counts of the calibration sample (true categories x verdicts), and `verdicts`, the number of
# verdicts in each category.
why_no_calibration <- function(calibration, categories) {
  counts <- calibration$counts
  empty_categories <- categories[rowSums(counts) == 0]
  if (!is_empty(empty_categories))
    return(c(uncalibrated = paste("the calibration sample has no case of category",
      empty_categories[[1L]])))
  if (sum(calibration$verdicts) == 0) return(c(unrated = "no case has a rating"))
  # The judge is better than chance if each verdict k is most probable for cases of true category k,
  # and if the confusion matrix has an inverse. With two categories, the interval is computed from
  # smoothed_matrix(), so this matrix must also meet the two conditions.
  n <- nrow(counts)
  shares <- counts / rowSums(counts)
  for (matrix in list(shares, if (n == 2L) smoothed_matrix(counts) else shares)) {
    confused_categories <- categories[colSums(matrix >= rep(diag(matrix), each = n)) > 1]
    if (!is_empty(confused_categories) || rcond(matrix) < 1e-10) return(c(judge = paste0(
      "the judge is no better than chance ",
      if (n > 2L && !is_empty(confused_categories))
        paste("at recognising", confused_categories[[1L]], ""),
      "in its calibration sample"
    )))
  }
}

# Returns the confusion matrix of the calibration sample after one case is added to each cell, so
# that no probability is 0 or 1. The matrix is used for variances, and for the interval with two
# categories.
smoothed_matrix <- function(counts) (counts + 1) / (rowSums(counts) + ncol(counts))

# Estimates base rates and the judge's confusion matrix, and returns a list of `rates` and `matrix`.
# Base rates are computed by the inverse of the matrix, unless this gives a negative base rate.
calibrated_rates <- function(calibration) {
  matrix <- calibration$counts / rowSums(calibration$counts)
  rates <- drop(calibration$verdicts %*% solve(matrix)) / sum(calibration$verdicts)
  if (all(rates >= 0)) return(list(rates = rates, matrix = matrix))
  # A base rate is negative. With two categories, the base rates are set to 0 and 1. With more, base
  # rates and matrix are estimated again by maximum likelihood.
  if (length(rates) == 2L) return(list(rates = as.double(rates > 0.5), matrix = matrix))
  maximise_calibrated_likelihood(calibration, rep(1 / length(rates), length(rates)))
}

# Estimates base rates and the judge's confusion matrix by maximum likelihood (EM), and returns a
# list of `rates` and `matrix`. `rates`: starting values of the base rates. If `fixed` is TRUE, base
# rates keep these values, and only the matrix is estimated.
maximise_calibrated_likelihood <- function(calibration, rates, fixed = FALSE) {
  matrix <- smoothed_matrix(calibration$counts)
  for (iteration in seq_len(1e5)) {
    verdict_shares <- pmax(drop(rates %*% matrix), .Machine$double.xmin)
    joint_counts <- rates * matrix *
      rep(calibration$verdicts / verdict_shares, each = length(rates))
    previous_estimates <- c(rates, matrix)
    if (!fixed) rates <- rowSums(joint_counts) / sum(joint_counts)
    matrix <- (calibration$counts + joint_counts) / rowSums(calibration$counts + joint_counts)
    if (max(abs(c(rates, matrix) - previous_estimates)) < 1e-12) break
  }
  list(rates = rates, matrix = matrix)
}

# Returns the covariance matrix of quantities that are computed from the fit, by the delta method.
# `compute_values`: a function of base rates and confusion matrix that returns the quantities.
calibrated_covariance <- function(fit, compute_values) {
  calibration <- fit$calibrated
  counts <- calibration$counts
  rates <- fit$base_rates
  matrix <- fit$matrices[1L, , ]
  n <- length(rates)
  # Derivatives of base rates with respect to the shares of verdicts and the rows of the confusion
  # matrix. They ignore that base rates are limited to [0, 1].
  rate_slopes <- kronecker(t(c(1, -rates)), t(solve(counts / rowSums(counts))))
  values_at_change <- function(change) {
    compute_values(
      rates + drop(rate_slopes %*% change), matrix + matrix(change[-seq_len(n)], n, byrow = TRUE)
    )
  }
  jacobian <- central_differences(values_at_change, numeric(n * (n + 1L)))
  # Each row has a multinomial sampling error.
  shares <- rbind(prop.table(calibration$verdicts), smoothed_matrix(counts))
  sample_sizes <- c(sum(calibration$verdicts), rowSums(counts) + n)
  Reduce(`+`, lapply(seq_along(sample_sizes), function(i) {
    derivatives <- jacobian[, (i - 1L) * n + seq_len(n)]
    derivatives %*% (diag(shares[i, ]) - tcrossprod(shares[i, ])) %*% t(derivatives) /
      sample_sizes[[i]]
  }))
}

# Returns 1000 draws of base rates (draws x categories), for intervals. Shares of verdicts and rows
# of the confusion matrix are drawn from Dirichlet distributions. Base rates of a draw are computed
# by the inverse of the matrix or, if a base rate would be negative, by EM.
calibrated_draws <- function(calibration) {
  n_draws <- 1000L
  n <- length(calibration$verdicts)
  draw_dirichlet <- function(counts) {
    rate_draws <- matrix(rgamma(n_draws * n, rep(counts + 0.5, each = n_draws)), n_draws)
    rate_draws / rowSums(rate_draws)
  }
  with_one_seed({
    shares <- draw_dirichlet(calibration$verdicts)
    matrices <- vapply(seq_len(n), function(k) draw_dirichlet(calibration$counts[k, ]), shares)
  })
  rate_draws <- t(vapply(seq_len(n_draws), function(i) solve(matrices[i, , ], shares[i, ]),
    shares[1L, ]))
  negative_rows <- which(rowSums(rate_draws < 0) > 0)
  if (is_empty(negative_rows)) return(rate_draws)
  rates <- pmax(pick_rows(rate_draws, negative_rows), 1e-3)
  matrices <- matrices[negative_rows, , , drop = FALSE]
  for (iteration in seq_len(1e4)) {
    previous_rates <- rates
    joint_p <- matrices * as.vector(rates[, rep(seq_len(n), each = n)]) # draws x verdicts x truths
    joint_p <- joint_p * as.vector(shares[negative_rows, ] / rowSums(joint_p, dims = 2L))
    rates <- rowSums(aperm(joint_p, c(1L, 3L, 2L)), dims = 2L)
    if (max(abs(rates - previous_rates)) < 1e-6) break
  }
  rate_draws[negative_rows, ] <- rates
  rate_draws
}

# Returns the standard errors of measures that evaluate the judge as a diagnostic test, such as the
# logit of sensitivity. `estimates`: the measures, an array of transformed_measures(). The result
# has the same shape. `rates`: base rates for predictive values, NULL for the base rates of the fit.
standard_errors_of_judge <- function(fit, estimates, rates) {
  covariance <- calibrated_covariance(fit, function(base_rates, matrix) {
    as.vector(transformed_measures(array(matrix, c(1L, dim(matrix))), base_rates, rates))
  })
  replace(sqrt(diag(covariance)) + 0 * estimates, !is.finite(estimates), NA)
}

# Returns a sentence with the number of correct ratings of each true category in the calibration
# sample; NULL if there is no sample.
format_calibration <- function(fit) {
  counts <- fit$calibrated$counts
  if (!is.null(counts)) sprintf("Calibration sample: %s is right on %s", fit$x$raters,
    toString(paste(diag(counts), "of", rowSums(counts), fit$x$categories)))
}

# Returns a sentence on the effect of a bias: by how much the base rate would be overestimated if
# the judge gave `category` in 5 more of 100 cases than its error rates predict. Returns NULL for
# more than two categories.
format_bias_sensitivity <- function(fit, category) {
  matrix <- fit$matrices[1L, , ]
  if (nrow(matrix) == 2L) fill_template("If the rater chose %s in 5 more of 100 of these cases,
    whatever their true category, the estimate would be %s too high.",
    category, format_decimals(0.05 / (sum(diag(matrix)) - 1)))
}

calibration_assumption <- function(fit) {
  paste0(
    fit$x$raters, if (is.null(fit$calibrated)) " has the known error rates on these cases." else
      " has the same error rates on these cases as in the calibration sample."
  )
}

check_not_one_judge <- function(fit) {
  abort_argument_if(inherits(fit, "judge_fit"), "x",
    "must be based on ratings by several raters, or contain cases with known truth.",
    x = "It is a fit of one rater with a calibration sample of other cases, which gives only base
      rates.")
}

# Returns confidence intervals of base rates, a matrix (categories x 2). If an estimate is 0 or 1,
# the interval also includes the profile likelihood interval, so that its width is not zero.
# `calibration`: see why_no_calibration(). Its element `draws` is a result of calibrated_draws(),
# NULL for two categories.
calibrated_interval <- function(calibration, level) {
  z <- normal_quantile(level)
  limits <- if (is.null(calibration$draws)) adjusted_interval(calibration, z) else
    t(apply(calibration$draws, 2L, quantile, (1 + c(-level, level)) / 2, names = FALSE))
  for (k in row_numbers(limits)) {
    # The profile likelihood interval is for two categories: category k, and all others merged.
    indicator <- 1 * cbind(row_numbers(limits) != k, row_numbers(limits) == k)
    counts <- crossprod(indicator, calibration$counts %*% indicator)
    verdicts <- drop(calibration$verdicts %*% indicator)
    limits[k, 1L] <- min(limits[k, 1L], profile_limit(counts, verdicts, z))
    limits[k, 2L] <- max(limits[k, 2L], 1 - profile_limit(counts[2:1, 2:1], rev(verdicts), z))
  }
  limits
}

# Returns the intervals of two base rates, a matrix (categories x 2), by the method of Lang and
# Reiczigel (2014) in the form of Lee et al. (2025). Variances are computed from adjusted counts.
# `z`: quantile of the normal distribution.
adjusted_interval <- function(calibration, z) {
  adjusted_total <- sum(calibration$verdicts) + z^2
  adjusted_share <- (calibration$verdicts[[2L]] + z^2 / 2) / adjusted_total
  p_right <- diag(smoothed_matrix(calibration$counts))
  variance <- bernoulli_variance(p_right) / (rowSums(calibration$counts) + 2)
  youden_index <- sum(p_right) - 1
  rate <- (adjusted_share + p_right[[1L]] - 1) / youden_index
  centre <- rate + 2 * z^2 * (rate * variance[[2L]] - (1 - rate) * variance[[1L]])
  half_width <- z / youden_index * sqrt(
    bernoulli_variance(adjusted_share) / adjusted_total +
      (1 - rate)^2 * variance[[1L]] + rate^2 * variance[[2L]]
  )
  limits <- clip01(centre + c(-half_width, half_width))
  rbind(1 - rev(limits), limits, deparse.level = 0L)
}

# Returns a lower confidence limit of the second of two base rates if its estimate is 1. At this
# limit, the profile log likelihood is z^2 / 2 below its value at 1. Returns 1 if the estimate is
# below 1. `counts`, `verdicts`: see why_no_calibration(). `z`: a normal quantile.
profile_limit <- function(counts, verdicts, z) {
  if (verdicts[[2L]] / sum(verdicts) < counts[2L, 2L] / sum(counts[2L, ])) return(1)
  n <- rbind(counts, verdicts)
  log_likelihood <- function(rate) {
    rates <- c(1 - rate, rate)
    matrix <- maximise_calibrated_likelihood(
      list(counts = counts, verdicts = verdicts), rates, TRUE
    )$matrix
    sum((n * log(rbind(matrix, rates %*% matrix)))[n > 0])
  }
  deviance_excess <- function(rate) 2 * (log_likelihood(1) - log_likelihood(rate)) - z^2
  if (deviance_excess(0) <= 0) 0 else uniroot(deviance_excess, c(0, 1), tol = 1e-10)$root
}

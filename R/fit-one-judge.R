# Base rates from the ratings of one rater, the judge. Its ratings are called verdicts. Its error
# rates are estimated from a calibration sample: other cases, whose truth is known. Base rates are
# the shares of verdicts, corrected for these errors (Rogan and Gladen, 1978).

# Estimates base rates and returns a fit of class judge_fit. `x`: ratings by the judge only.
# `counts`: a list with one matrix, the counts of the calibration sample (true categories x
# verdicts).
fit_one_judge <- function(x, model, counts) {
  n <- n_categories(x)
  sample <- list(
    counts = counts[[1L]],
    verdicts = rowsum_codes(rating_category(x), rating_weights(x), n)
  )
  sample$lack <- why_no_calibration(sample, x$categories)
  solution <- if (is.null(sample$lack)) calibrated_rates(sample) else
    list(rates = rep(1 / n, n), matrix = diag(n))
  posterior <- rbind(t(solution$rates * solution$matrix), solution$rates, deparse.level = 0L)
  posterior_row <- rep(n + 1L, n_patterns(x))
  posterior_row[rating_pattern(x)] <- rating_category(x)
  accuracy_and_rates <- function(rates, matrix) c(sum(rates * diag(matrix)), rates)
  coefficients <- accuracy_and_rates(solution$rates, solution$matrix)
  fit <- new_rater_fit(c("judge_fit", "latent_fit"), x, model, "likelihood",
    list(truth = integer(), counts = counts),
    identified = names(sample$lack) %||% "yes",
    by_agreement = list(identified = NA, agreement = NA_real_, kappa = NA_real_),
    rater_accuracy = coefficients[[1L]], theta = NA_real_, converged = TRUE,
    base_rates = solution$rates,
    posterior = pick_rows(posterior / rowSums(posterior), posterior_row),
    parameters = NA_integer_,
    log_likelihood = NA_real_, log_posterior = NA_real_, iterations = 0L,
    matrices = array(solution$matrix, c(1L, n, n)),
    coefficients = setNames(coefficients, c(rater_terms(x), rate_terms(x))),
    calibrated = sample
  )
  if (!is.null(sample$lack)) return(without_numbers(fit))
  if (n > 2L) fit$calibrated$draws <- calibrated_draws(sample)
  fit$covariance <- calibrated_covariance(fit, accuracy_and_rates)
  fit
}

compute_posterior.judge_fit <- function(fit, x) { # nolint: object_name.
  rates <- matrix(fit$base_rates, n_patterns(x), n_categories(x), byrow = TRUE)
  posterior_of_matrices(rates, list(array(fit$matrices, dim(fit$matrices)[-1L])), x)
}

# Returns the reason why base rates cannot be estimated, a string whose name is a code. Returns NULL
# if base rates can be estimated. `sample`: a list of `counts`, the counts of the calibration sample
# (true categories x verdicts), and `verdicts`, the number of verdicts in each category.
why_no_calibration <- function(sample, categories) {
  counts <- sample$counts
  empty_categories <- categories[rowSums(counts) == 0]
  if (!is_empty(empty_categories))
    return(c(uncalibrated = paste("no calibration case is", empty_categories[[1L]])))
  if (sum(sample$verdicts) == 0) return(c(unrated = "no case has a rating"))
  # Each verdict must be most probable for cases of the same true category. With two categories,
  # this must also be true for smoothed rates, which the interval uses.
  n <- nrow(counts)
  shares <- counts / rowSums(counts)
  for (matrix in list(shares, if (n == 2L) smoothed_rates(counts) else shares)) {
    confused_categories <- categories[colSums(matrix >= rep(diag(matrix), each = n)) > 1]
    if (!is_empty(confused_categories) || rcond(matrix) < 1e-10) return(c(judge = paste0(
      "the judge is no better than chance ",
      if (n > 2L && !is_empty(confused_categories))
        paste("at recognising", confused_categories[[1L]], ""),
      "in its calibration sample"
    )))
  }
}

# Returns the confusion matrix of the calibration sample, with one case added to each cell. No
# probability is then 0 or 1. The matrix is used for variances, and for the interval with two
# categories.
smoothed_rates <- function(counts) (counts + 1) / (rowSums(counts) + ncol(counts))

# Estimates base rates and the judge's confusion matrix. Returns them as a list of `rates` and
# `matrix`. Base rates are computed by the inverse of the matrix. If one of them is negative, there
# are two cases. With two categories, base rates are set to 0 and 1. With more categories, base
# rates and matrix are joint maximum likelihood estimates.
calibrated_rates <- function(sample) {
  matrix <- sample$counts / rowSums(sample$counts)
  rates <- drop(sample$verdicts %*% solve(matrix)) / sum(sample$verdicts)
  if (all(rates >= 0)) return(list(rates = rates, matrix = matrix))
  if (length(rates) == 2L) return(list(rates = as.double(rates > 0.5), matrix = matrix))
  maximise_calibrated(sample, rep(1 / length(rates), length(rates)))
}

# Estimates base rates and the judge's matrix by maximum likelihood (EM). Returns them as a list of
# `rates` and `matrix`. `rates`: starting values. If `fixed` is TRUE, base rates are not changed,
# and only the matrix is estimated.
maximise_calibrated <- function(sample, rates, fixed = FALSE) {
  matrix <- smoothed_rates(sample$counts)
  for (iteration in seq_len(1e5)) {
    shares <- pmax(drop(rates %*% matrix), .Machine$double.xmin)
    joint <- rates * matrix * rep(sample$verdicts / shares, each = length(rates))
    previous <- c(rates, matrix)
    if (!fixed) rates <- rowSums(joint) / sum(joint)
    matrix <- (sample$counts + joint) / rowSums(sample$counts + joint)
    if (max(abs(c(rates, matrix) - previous)) < 1e-12) break
  }
  list(rates = rates, matrix = matrix)
}

# Returns the covariance matrix of values that are computed from the fit. `compute_values`: a
# function of base rates and confusion matrix, which returns these values. The function uses the
# delta method. Its random variables are the shares of verdicts and the rows of the matrix.
# Derivatives are those of base rates computed by the inverse matrix, even if a base rate was set to
# 0 or 1.
calibrated_covariance <- function(fit, compute_values) {
  sample <- fit$calibrated
  counts <- sample$counts
  rates <- fit$base_rates
  matrix <- fit$matrices[1L, , ]
  n <- length(rates)
  slopes <- kronecker(t(c(1, -rates)), t(solve(counts / rowSums(counts))))
  values_after <- function(change) {
    compute_values(
      rates + drop(slopes %*% change), matrix + matrix(change[-seq_len(n)], n, byrow = TRUE)
    )
  }
  jacobian <- central_differences(values_after, numeric(n * (n + 1L)))
  shares <- rbind(prop.table(sample$verdicts), smoothed_rates(counts))
  sizes <- c(sum(sample$verdicts), rowSums(counts) + n)
  Reduce(`+`, lapply(seq_along(sizes), function(i) {
    slopes <- jacobian[, (i - 1L) * n + seq_len(n)]
    slopes %*% (diag(shares[i, ]) - tcrossprod(shares[i, ])) %*% t(slopes) / sizes[[i]]
  }))
}

# Returns 1000 draws of base rates (draws x categories), for intervals. Shares of verdicts and rows
# of the confusion matrix are drawn from Dirichlet distributions. Base rates are computed from them
# by the inverse of the matrix or, if one would be negative, by EM.
calibrated_draws <- function(sample) {
  n_draws <- 1000L
  n <- length(sample$verdicts)
  dirichlet <- function(counts) {
    rate_draws <- matrix(rgamma(n_draws * n, rep(counts + 0.5, each = n_draws)), n_draws)
    rate_draws / rowSums(rate_draws)
  }
  with_one_seed({
    shares <- dirichlet(sample$verdicts)
    matrices <- vapply(seq_len(n), function(k) dirichlet(sample$counts[k, ]), shares)
  })
  rate_draws <- t(vapply(seq_len(n_draws), function(i) solve(matrices[i, , ], shares[i, ]),
    shares[1L, ]))
  negative_draws <- which(rowSums(rate_draws < 0) > 0)
  if (is_empty(negative_draws)) return(rate_draws)
  rates <- pmax(pick_rows(rate_draws, negative_draws), 1e-3)
  matrices <- matrices[negative_draws, , , drop = FALSE]
  for (iteration in seq_len(1e4)) {
    previous <- rates
    joint <- matrices * as.vector(rates[, rep(seq_len(n), each = n)]) # draws x verdicts x truths
    joint <- joint * as.vector(shares[negative_draws, ] / rowSums(joint, dims = 2L))
    rates <- rowSums(aperm(joint, c(1L, 3L, 2L)), dims = 2L)
    if (max(abs(rates - previous)) < 1e-6) break
  }
  rate_draws[negative_draws, ] <- rates
  rate_draws
}

# Returns the standard errors of measures of the judge as a diagnostic test, such as the logit of
# its sensitivity. `estimates`: the measures, an array of transformed_measures(). The result has the
# same shape. `rates`: base rates for predictive values, NULL for those of the fit.
standard_errors_of_judge <- function(fit, estimates, rates) {
  covariance <- calibrated_covariance(fit, function(base_rates, matrix) {
    as.vector(transformed_measures(array(matrix, c(1L, dim(matrix))), base_rates, rates))
  })
  replace(sqrt(diag(covariance)) + 0 * estimates, !is.finite(estimates), NA)
}

# Returns a sentence on the judge's shares of correct ratings in the calibration sample; NULL if
# there is no sample.
format_calibration <- function(fit) {
  counts <- fit$calibrated$counts
  if (!is.null(counts)) sprintf("Calibration sample: %s is right on %s", fit$x$raters,
    toString(paste(diag(counts), "of", rowSums(counts), fit$x$categories)))
}

# Returns a sentence about a possible bias of the judge: the error of the estimated base rate if the
# judge gives `category` to 5% more of the cases, whatever their truth. Returns NULL for more than
# two categories.
format_bias_sensitivity <- function(fit, category) {
  matrix <- fit$matrices[1L, , ]
  if (nrow(matrix) == 2L) fill_template("If it rated %s in 5 of 100 more of these cases, whatever
    their truth, the estimate would be %s too high.",
    category, format_decimals(0.05 / (sum(diag(matrix)) - 1)))
}

calibration_assumption <- function(fit) {
  paste0(
    fit$x$raters, " errs on these cases as ",
    if (is.null(fit$calibrated)) "is known." else "on the calibration sample."
  )
}

check_not_one_judge <- function(fit) {
  abort_argument_if(inherits(fit, "judge_fit"), "x",
    "must be based on ratings of several raters, or on gold cases.",
    x = "One judge with a calibration sample gives only base rates.")
}

# Returns confidence intervals of base rates, a matrix (categories x 2). If an estimate is 0 or 1,
# the interval is widened to the profile likelihood interval, so that its width is not zero.
# `sample`: see why_no_calibration(). Element `draws`: a result of calibrated_draws(), NULL for two
# categories.
calibrated_interval <- function(sample, level) {
  z <- normal_quantile(level)
  out <- if (is.null(sample$draws)) adjusted_interval(sample, z) else
    t(apply(sample$draws, 2L, quantile, (1 + c(-level, level)) / 2, names = FALSE))
  for (k in row_numbers(out)) {
    # Joins all categories except k to one category.
    indicator <- 1 * cbind(row_numbers(out) != k, row_numbers(out) == k)
    counts <- crossprod(indicator, sample$counts %*% indicator)
    verdicts <- drop(sample$verdicts %*% indicator)
    out[k, 1L] <- min(out[k, 1L], profile_limit(counts, verdicts, z))
    out[k, 2L] <- max(out[k, 2L], 1 - profile_limit(counts[2:1, 2:1], rev(verdicts), z))
  }
  out
}

# Returns the intervals of two base rates, a matrix (categories x 2), by the method of Lang and
# Reiczigel (2014) in the form of Lee et al. (2025). Counts are adjusted before variances are
# computed. `z`: a normal quantile.
adjusted_interval <- function(sample, z) {
  total <- sum(sample$verdicts) + z^2
  share <- (sample$verdicts[[2L]] + z^2 / 2) / total
  p_right <- diag(smoothed_rates(sample$counts))
  variance <- bernoulli_variance(p_right) / (rowSums(sample$counts) + 2)
  youden <- sum(p_right) - 1
  rate <- (share + p_right[[1L]] - 1) / youden
  centre <- rate + 2 * z^2 * (rate * variance[[2L]] - (1 - rate) * variance[[1L]])
  half_width <- z / youden * sqrt(
    bernoulli_variance(share) / total + (1 - rate)^2 * variance[[1L]] + rate^2 * variance[[2L]]
  )
  limits <- clip01(centre + c(-half_width, half_width))
  rbind(1 - rev(limits), limits, deparse.level = 0L)
}

# Returns the lower limit of the second of two base rates if its estimate is 1. There, the profile
# log likelihood is z^2 / 2 below its value at 1. Returns 1 if the estimate is below 1. `counts`,
# `verdicts`: see why_no_calibration(). `z`: a normal quantile.
profile_limit <- function(counts, verdicts, z) {
  if (verdicts[[2L]] / sum(verdicts) < counts[2L, 2L] / sum(counts[2L, ])) return(1)
  n <- rbind(counts, verdicts)
  log_likelihood <- function(rate) {
    rates <- c(1 - rate, rate)
    matrix <- maximise_calibrated(list(counts = counts, verdicts = verdicts), rates, TRUE)$matrix
    sum((n * log(rbind(matrix, rates %*% matrix)))[n > 0])
  }
  excess <- function(rate) 2 * (log_likelihood(1) - log_likelihood(rate)) - z^2
  if (excess(0) <= 0) 0 else uniroot(excess, c(0, 1), tol = 1e-10)$root
}

# One judge with a calibration sample from other cases: base rates are the shares of its ratings,
# corrected by its error rates in the sample (Rogan and Gladen, 1978).

# `x`: ratings by this rater only. `counts`: a list of the counts of its sample.
fit_one_judge <- function(x, model, counts) {
  n <- n_categories(x)
  weight <- pattern_weights(x)[rating_pattern(x)]
  sample <- list(
    counts = counts[[1L]], verdicts = rowsum_codes(rating_category(x), weight, n)
  )
  sample$lack <- why_no_calibration(sample, x$categories)
  law <- if (is.null(sample$lack)) calibrated_rates(sample) else
    list(rates = rep(1 / n, n), matrix = diag(n))
  posterior <- rbind(t(law$rates * law$matrix), law$rates, deparse.level = 0L)
  place <- rep(n + 1L, n_patterns(x))
  place[rating_pattern(x)] <- rating_category(x)
  numbers <- function(rates, matrix) c(sum(rates * diag(matrix)), rates)
  coefficients <- numbers(law$rates, law$matrix)
  fit <- new_rater_fit(c("judge_fit", "latent_fit"), x, model, "likelihood",
    list(truth = integer(), counts = counts),
    identified = names(sample$lack) %||% "yes",
    by_agreement = list(identified = NA, agreement = NA_real_, kappa = NA_real_),
    rater_accuracy = coefficients[[1L]], theta = NA_real_, converged = TRUE, base_rates = law$rates,
    posterior = (posterior / rowSums(posterior))[place, , drop = FALSE], parameters = NA_integer_,
    log_likelihood = NA_real_, log_posterior = NA_real_, iterations = 0L,
    matrices = array(law$matrix, c(1L, n, n)),
    coefficients = setNames(coefficients, c(rater_terms(x), rate_terms(x))),
    calibrated = sample
  )
  if (!is.null(sample$lack)) return(without_numbers(fit))
  if (n > 2L) fit$calibrated$draws <- calibrated_draws(sample)
  fit$covariance <- calibrated_covariance(fit, numbers)
  fit
}

# Reason why a sample cannot correct shares, named by a code; or NULL.
why_no_calibration <- function(sample, categories) {
  counts <- sample$counts
  empty <- categories[rowSums(counts) == 0]
  if (length(empty) > 0L) return(c(uncalibrated = paste("no calibration case is", empty[[1L]])))
  if (sum(sample$verdicts) == 0) return(c(unrated = "no case has a rating"))
  # A rating must be evidence for its category; with two categories also under smoothed rates.
  n <- nrow(counts)
  raw <- counts / rowSums(counts)
  for (matrix in list(raw, if (n == 2L) smoothed_rates(counts) else raw)) {
    off <- categories[colSums(matrix >= rep(diag(matrix), each = n)) > 1]
    if (length(off) > 0L || rcond(matrix) < 1e-10) return(c(judge = paste0(
      "the judge is no better than chance ",
      if (n > 2L && length(off) > 0L) paste("at recognising", off[[1L]], ""),
      "in its calibration sample"
    )))
  }
}

# Adds one case to each cell. Variances and the interval for two categories use these rates.
smoothed_rates <- function(counts) (counts + 1) / (rowSums(counts) + ncol(counts))

# Base rates and the judge's matrix, by the inverse of the matrix if this gives probabilities.
# Otherwise, with two categories the nearer limit; with more, the joint maximum likelihood.
calibrated_rates <- function(sample) {
  matrix <- sample$counts / rowSums(sample$counts)
  rates <- drop(sample$verdicts %*% solve(matrix)) / sum(sample$verdicts)
  if (all(rates >= 0)) return(list(rates = rates, matrix = matrix))
  if (length(rates) == 2L) return(list(rates = as.double(rates > 0.5), matrix = matrix))
  maximise_calibrated(sample, rep(1 / length(rates), length(rates)))
}

# Maximum likelihood by EM: the matrix and the base rates, or the matrix at `fixed` base rates.
maximise_calibrated <- function(sample, rates, fixed = FALSE, most = 1e5) {
  matrix <- smoothed_rates(sample$counts)
  for (round in seq_len(most)) {
    shares <- pmax(drop(rates %*% matrix), .Machine$double.xmin)
    joint <- rates * matrix * rep(sample$verdicts / shares, each = length(rates))
    before <- c(rates, matrix)
    if (!fixed) rates <- rowSums(joint) / sum(joint)
    matrix <- (sample$counts + joint) / rowSums(sample$counts + joint)
    if (max(abs(c(rates, matrix) - before)) < 1e-12) break
  }
  list(rates = rates, matrix = matrix)
}

# Covariance of numbers(rates, matrix) by the delta method. Inputs are the shares of ratings and the
# matrix, row by row. Derivatives of the base rates are those of the inverse matrix, also if the
# estimate is clipped.
calibrated_covariance <- function(fit, numbers) {
  sample <- fit$calibrated
  counts <- sample$counts
  rates <- fit$base_rates
  matrix <- fit$matrices[1L, , ]
  n <- length(rates)
  slopes <- kronecker(t(c(1, -rates)), t(solve(counts / rowSums(counts))))
  moved <- function(change) {
    numbers(rates + drop(slopes %*% change), matrix + matrix(change[-seq_len(n)], n, byrow = TRUE))
  }
  moves <- differences(moved, numeric(n * (n + 1L)))
  shares <- rbind(sample$verdicts / sum(sample$verdicts), smoothed_rates(counts))
  sizes <- c(sum(sample$verdicts), rowSums(counts) + n)
  Reduce(`+`, lapply(seq_along(sizes), function(i) {
    slopes <- moves[, (i - 1L) * n + seq_len(n)]
    slopes %*% (diag(shares[i, ]) - tcrossprod(shares[i, ])) %*% t(slopes) / sizes[[i]]
  }))
}

# Draws of base rates (one per row) from Dirichlet distributions of the matrix and of the shares of
# ratings. Uses the inverse of the drawn matrix, or EM if the inverse gives no probabilities.
calibrated_draws <- function(sample, draws = 1000L, most = 1e4) {
  n <- length(sample$verdicts)
  dirichlet <- function(counts) {
    out <- matrix(stats::rgamma(draws * n, rep(counts + 0.5, each = draws)), draws)
    out / rowSums(out)
  }
  with_run_seed(draw_seed(), {
    shares <- dirichlet(sample$verdicts)
    matrices <- vapply(seq_len(n), function(k) dirichlet(sample$counts[k, ]), shares)
  })
  out <- t(vapply(seq_len(draws), function(i) solve(matrices[i, , ], shares[i, ]), shares[1L, ]))
  off <- which(rowSums(out < 0) > 0)
  if (length(off) == 0L) return(out)
  rates <- pmax(out[off, , drop = FALSE], 1e-3)
  for (round in seq_len(most)) {
    before <- rates
    mixed <- Reduce(`+`, lapply(seq_len(n), function(k) rates[, k] * matrices[off, , k]))
    by_verdict <- shares[off, ] / mixed
    rates <- rates * vapply(seq_len(n), function(k) {
      rowSums(matrix(by_verdict * matrices[off, , k], ncol = n))
    }, rates[, 1L])
    if (max(abs(rates - before)) < 1e-6) break
  }
  out[off, ] <- rates
  out
}

# Standard errors of the results of test_numbers() for the judge.
judged_errors <- function(fit, at, rates) {
  variance <- calibrated_covariance(fit, function(base_rates, matrix) {
    as.vector(test_numbers(array(matrix, c(1L, dim(matrix))), base_rates, rates))
  })
  at[] <- ifelse(is.finite(at), sqrt(diag(variance)), NA)
  at
}

# Describes the calibration sample.
calibration_words <- function(fit) {
  counts <- fit$calibrated$counts
  if (!is.null(counts)) sprintf("Calibration sample: %s is right on %s", fit$x$raters,
    toString(paste(diag(counts), "of", rowSums(counts), fit$x$categories)))
}

# Shift of an estimate for two categories if more ratings are `category`, whatever the truth.
lean_words <- function(fit, category, lean = 0.05) {
  matrix <- fit$matrices[1L, , ]
  if (nrow(matrix) == 2L) paste0(
    "If it said ", category, " to ", 100 * lean, " in 100 more of these cases, good and bad alike,",
    " the estimate would be ", decimals(lean / (sum(diag(matrix)) - 1)), " too high."
  )
}

calibration_assumption <- function(fit) {
  paste0(
    fit$x$raters, " errs on these cases as ",
    if (is.null(fit$calibrated)) "is known." else "on the calibration sample."
  )
}

check_not_one_judge <- function(fit) {
  abort_argument_if(inherits(fit, "judge_fit"), "x",
    "must rest on the ratings of several raters, or on gold cases.",
    x = "One judge with a calibration sample gives base rates only.")
}

# Intervals of base rates, one per row. At 0 and 1 their width is never zero.
calibrated_interval <- function(sample, level) {
  z <- normal_quantile(level)
  out <- if (is.null(sample$draws)) adjusted_interval(sample, z) else
    t(apply(sample$draws, 2L, stats::quantile, (1 + c(-level, level)) / 2, names = FALSE))
  for (k in seq_len(nrow(out))) {
    join <- 1 * cbind(seq_len(nrow(out)) != k, seq_len(nrow(out)) == k) # joins all others
    joined <- list(
      counts = crossprod(join, sample$counts %*% join), verdicts = drop(sample$verdicts %*% join)
    )
    swapped <- list(counts = joined$counts[2:1, 2:1], verdicts = rev(joined$verdicts))
    out[k, 1L] <- min(out[k, 1L], guarded_end(joined, z))
    out[k, 2L] <- max(out[k, 2L], 1 - guarded_end(swapped, z))
  }
  out
}

# For two categories: the interval of Lang and Reiczigel (2014), as printed by Lee et al. (2025).
adjusted_interval <- function(sample, z) {
  total <- sum(sample$verdicts) + z^2
  share <- (sample$verdicts[[2L]] + z^2 / 2) / total
  right <- diag(smoothed_rates(sample$counts))
  variance <- right * (1 - right) / (rowSums(sample$counts) + 2)
  youden <- sum(right) - 1
  rate <- (share + right[[1L]] - 1) / youden
  centre <- rate + 2 * z^2 * (rate * variance[[2L]] - (1 - rate) * variance[[1L]])
  spread <- z / youden * sqrt(
    share * (1 - share) / total + (1 - rate)^2 * variance[[1L]] + rate^2 * variance[[2L]]
  )
  ends <- clip01(centre + c(-spread, spread))
  rbind(1 - rev(ends), ends, deparse.level = 0L)
}

# If the estimated base rate of the second of two categories is 1: the rate at which the profile log
# likelihood is z^2 / 2 below its value at 1. Otherwise 1.
guarded_end <- function(sample, z) {
  counts <- sample$counts
  verdicts <- sample$verdicts
  if (verdicts[[2L]] / sum(verdicts) < counts[2L, 2L] / sum(counts[2L, ])) return(1)
  likely <- function(rate) {
    matrix <- maximise_calibrated(sample, c(1 - rate, rate), fixed = TRUE)$matrix
    p <- rbind(matrix, c(1 - rate, rate) %*% matrix)
    n <- rbind(counts, verdicts)
    sum((n * log(p))[n > 0])
  }
  excess <- function(rate) 2 * (likely(1) - likely(rate)) - z^2
  if (excess(0) <= 0) 0 else stats::uniroot(excess, c(0, 1), tol = 1e-10)$root
}

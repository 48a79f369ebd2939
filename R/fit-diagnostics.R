# Convergence diagnostics of chains: the formulas of Vehtari, Gelman, Simpson, Carpenter and
# Buerkner (2021), Bayesian Analysis 16(2), 667-718, as in package posterior.

#' @srrstats {BS1.4, BS1.5, BS4.7, BS5.4} Rhat and effective sizes, by rank, and what each is for
#' @noRd
NULL

# A row per column of `draws`, whose rows are ordered by chain.
diagnose_all <- function(draws, chains) {
  numbers <- c(rhat = 0, ess_bulk = 0, ess_tail = 0, mcse = 0)
  t(vapply(colnames(draws), function(term) {
    diagnose(matrix(draws[, term], ncol = chains))
  }, numbers))
}

# `x`: draws x chains of one number. NA if all draws are equal.
diagnose <- function(x) {
  if (anyNA(x) || max(x) - min(x) < 1e-300) return(rep(NA_real_, 4L))
  halves <- split_chains(x)
  bulk <- z_scale(halves)
  limits <- stats::quantile(x, c(0.05, 0.5, 0.95), names = FALSE)
  c(
    rhat = max(plain_rhat(bulk), plain_rhat(z_scale(abs(halves - limits[[2L]])))),
    ess_bulk = plain_ess(bulk),
    ess_tail = min(vapply(limits[-2L], function(limit) plain_ess(1 * (halves <= limit)), 0)),
    mcse = stats::sd(x) / sqrt(plain_ess(halves))
  )
}

# Splits each chain into halves, which are columns. With an odd number of draws, the middle one is
# left out.
split_chains <- function(x) {
  half <- nrow(x) %/% 2L
  if (nrow(x) > 2L * half) x <- x[-(half + 1L), , drop = FALSE]
  matrix(x, half)
}

# Normal scores of average ranks over all draws. rank() would sort much more slowly.
z_scale <- function(x) {
  order <- order(x, method = "radix")
  runs <- rle(x[order])$lengths
  rank <- cumsum(runs) - (runs - 1) / 2
  x[order] <- rep(stats::qnorm((rank - 3 / 8) / (length(x) + 1 / 4)), runs)
  x
}

plain_rhat <- function(x) {
  n <- nrow(x)
  means <- colMeans(x)
  within <- mean(apply(x, 2L, stats::var))
  sqrt((n * stats::var(means) / within + n - 1) / n)
}

# Autocovariances of lags 0, 1, ... with divisor n, averaged over chains. The power spectrum of two
# chains, as real and imaginary part of one sequence, has the sum of their autocovariances as real
# part. The number of chains is even, see split_chains().
mean_autocovariance <- function(x) {
  n <- nrow(x)
  size <- stats::nextn(2L * n)
  padded <- rbind(x - rep(colMeans(x), each = n), matrix(0, size - n, ncol(x)))
  odd <- seq.int(1L, ncol(x), 2L)
  pairs <- matrix(complex(real = padded[, odd], imaginary = padded[, -odd]), size)
  spectrum <- stats::mvfft(pairs)
  power <- rowSums(Re(spectrum)^2 + Im(spectrum)^2)
  Re(stats::fft(power, inverse = TRUE))[seq_len(n)] / size / n / ncol(x)
}

plain_ess <- function(x) {
  n <- nrow(x)
  all <- length(x)
  if (n < 3L || max(x) - min(x) < 1e-300) return(NA_real_)
  covariance <- mean_autocovariance(x)
  within <- covariance[[1L]] * n / (n - 1)
  total <- covariance[[1L]] + stats::var(colMeans(x))
  rho <- 1 - (within - covariance) / total
  rho[[1L]] <- 1
  tau <- integrated_time(rho, n)
  all / max(tau, 1 / log10(all))
}

# Geyer's initial monotone sequence: sums of pairs of lags, up to the first that is not positive,
# each limited to the previous one; and half of the next lag if it is positive.
integrated_time <- function(rho, n) {
  pair <- seq.int(1L, n - 1L, by = 2L)
  sums <- rho[pair] + rho[pair + 1L]
  most <- sum(2L * (seq_along(sums) - 1L) < n - 5L)
  ends <- which(!sums > 0)
  last <- min(ends, most + 1L)
  even <- rho[pair[[last]]]
  -1 + 2 * sum(cummin(sums[seq_len(last - 1L)])) + if (even > 0 || sums[[last]] >= 0) even else 0
}

# Predictive accuracy of posterior draws for new cases: WAIC, and leave-one-out by package loo.
# Cases with the same ratings, population and known truth have the same value, computed once per
# row.

# values: draws x rows, log likelihood of one case of each row; weight: number of cases of each row;
# row: the row of each pattern. The draws are repeated with the same seed.
log_likelihood_draws <- function(fit) {
  check_memory(
    as.double(nrow(fit$draws)) * n_patterns(fit$x), "log likelihoods of patterns in draws",
    "Fit with fewer {.field draws} in {.arg sampling}.")
  options <- c(fit$sampling[c(run_options, "thin")], list(seed = fit$seed))
  found <- run_sampler(fit$x, fit$task, options, log_likelihood = TRUE)
  list(values = found$log_likelihood, weight = found$weight, row = found$row)
}

# For each row: expected log predictive density of a case, and its effective number of parameters.
waic_rows <- function(values) {
  p <- apply(values, 2L, stats::var)
  cbind(elpd = log_sum_exp(t(values)) - log(nrow(values)) - p, p = p)
}

# Sum over cases, and its standard error, of values with an element per row.
sum_over_cases <- function(value, weight) {
  n <- sum(weight)
  sum <- sum(weight * value)
  c(estimate = sum, std.error = sqrt(n / (n - 1) * sum(weight * (value - sum / n)^2)))
}

# A table of both criteria (leave-one-out if package loo is installed), and `of_case`, the expected
# log predictive density of each case, NA for cases without ratings or known truth.
criteria_of_fit <- function(fit) {
  found <- log_likelihood_draws(fit)
  waic <- waic_rows(found$values)
  row <- function(criterion, elpd, p, worst_k) {
    total <- sum_over_cases(elpd, found$weight)
    tibble::tibble(
      criterion = criterion, elpd = total[["estimate"]], std.error = total[["std.error"]],
      parameters = sum(found$weight * p), worst_k = worst_k
    )
  }
  loo <- if (rlang::is_installed("loo")) {
    of <- loo_rows(fit, found)
    row("loo", of$pointwise[, "elpd_loo"], of$pointwise[, "p_loo"], max(of$diagnostics$pareto_k))
  } else {
    row("loo", NA_real_, NA_real_, NA_real_)
  }
  table <- rbind(row("waic", waic[, "elpd"], waic[, "p"], NA_real_), loo)
  row <- replace(found$row, found$row == 0L, NA)
  list(table = table, of_case = waic[row[fit$x$index], "elpd"])
}

loo_rows <- function(fit, found, ...) {
  chain <- rep(seq_len(fit$sampling$chains), each = fit$sampling$kept)
  size <- loo::relative_eff(exp(found$values - max(found$values)), chain_id = chain)
  suppressWarnings(loo::loo(found$values, r_eff = size, ...))
}

# Expands rows to cases, in their order: package loo subtracts the cases of two models.
by_case <- function(result, found, fit) {
  row <- found$row[fit$x$index]
  at <- rep(row, weights_of_cases(fit$x) * (row > 0L))
  result$pointwise <- result$pointwise[at, , drop = FALSE]
  result$diagnostics <- lapply(result$diagnostics, `[`, at)
  columns <- rownames(result$estimates)
  result$estimates[] <- t(vapply(columns, function(column) {
    sum_over_cases(result$pointwise[, column], rep(1, length(at)))
  }, c(0, 0)))
  result[columns] <- result$estimates[, 1L]
  result[paste0("se_", columns)] <- result$estimates[, 2L]
  result["psis_object"] <- list(NULL)
  structure(result, dims = c(nrow(fit$draws), length(at)))
}

#' @rawNamespace S3method(loo::loo,draws_fit)
loo.draws_fit <- function(x, ...) { # nolint: object_name.
  found <- log_likelihood_draws(x)
  by_case(loo_rows(x, found, ...), found, x)
}

#' @rawNamespace S3method(loo::waic,draws_fit)
waic.draws_fit <- function(x, ...) { # nolint: object_name.
  found <- log_likelihood_draws(x)
  by_case(suppressWarnings(loo::waic(found$values, ...)), found, x)
}

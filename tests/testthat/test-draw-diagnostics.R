#' @srrstats {BS4.1} diagnostics are those of package posterior
# Draws x chains, autocorrelated.
drifting <- function(n, chains, rho) {
  matrix(stats::arima.sim(if (rho == 0) list() else list(ar = rho), n * chains), n, chains)
}

# The obvious loop over lags.
slow_ess <- function(x) {
  n <- nrow(x)
  covariance <- vapply(seq_len(n) - 1L, function(lag) {
    mean(apply(x, 2, function(chain) {
      centred <- chain - mean(chain)
      sum(centred[seq_len(n - lag)] * centred[seq_len(n - lag) + lag]) / n
    }))
  }, 0)
  within <- covariance[1] * n / (n - 1)
  total <- covariance[1] + var(colMeans(x))
  rho <- c(1, 1 - (within - covariance[-1]) / total)
  t <- 0
  sums <- numeric()
  while (t < n - 5 && rho[t + 1] + rho[t + 2] > 0) {
    sums <- c(sums, min(c(sums, Inf), rho[t + 1] + rho[t + 2]))
    t <- t + 2
  }
  tau <- -1 + 2 * sum(sums) + max(rho[t + 1], 0)
  length(x) / max(tau, 1 / log10(length(x)))
}

test_that("effective sizes are those of the obvious loop", {
  set.seed(1)
  expect_over(1:6, function(seed) {
    x <- drifting(60 + seed, 4, c(0.9, 0.5, 0, -0.4, 0.7, 0.2)[seed])
    abs(compute_ess(x) / slow_ess(x) - 1)
  }, 1e-12)
})

test_that("diagnostics are those of package posterior", {
  skip_if_not_installed("posterior")
  set.seed(2)
  expect_over(1:8, function(seed) {
    x <- drifting(c(1000, 501)[1 + seed %% 2], 4, seed / 10)
    if (seed == 8) x[, 1] <- x[, 1] + 1
    theirs <- c(
      posterior::rhat(x), posterior::ess_bulk(x), posterior::ess_tail(x), posterior::mcse_mean(x)
    )
    max(abs(diagnose_parameter(x) / theirs - 1))
  }, 1e-12)
})

test_that("a constant has no diagnostics, and white noise its size", {
  expect_true(all(is.na(diagnose_parameter(matrix(1, 100, 4)))))
  set.seed(3)
  white <- diagnose_parameter(matrix(rnorm(8000), 2000, 4))
  expect_lt(abs(white[["ess_bulk"]] / 8000 - 1), 0.15)
  expect_lt(white[["rhat"]], 1.01)
})

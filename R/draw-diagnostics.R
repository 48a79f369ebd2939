# How well chains of draws have mixed: the formulas of Vehtari, Gelman, Simpson, Carpenter and
# Buerkner (2021), Bayesian Analysis 16(2), 667-718, as package posterior has them.

#' @srrstats {BS1.4, BS1.5, BS4.7, BS5.4} Rhat and effective sizes, by rank, and what each is for
#' @noRd
NULL

# A row for each column of `draws`, chain after chain.
diagnose_all <- function(draws, chains) {
  numbers <- c(rhat = 0, ess_bulk = 0, ess_tail = 0, mcse = 0)
  t(vapply(colnames(draws), function(term) {
    diagnose(matrix(draws[, term], ncol = chains))
  }, numbers))
}

# `x`: draws x chains, of one number. NA where it is the same in all draws.
diagnose <- function(x) {
  if (anyNA(x) || max(x) - min(x) < 1e-300) {
    return(c(rhat = NA_real_, ess_bulk = NA_real_, ess_tail = NA_real_, mcse = NA_real_))
  }
  halves <- split_chains(x)
  bulk <- z_scale(halves)
  folded <- split_chains(abs(x - stats::median(x)))
  tails <- stats::quantile(x, c(0.05, 0.95), names = FALSE)
  c(
    rhat = max(plain_rhat(bulk), plain_rhat(z_scale(folded))),
    ess_bulk = plain_ess(bulk),
    ess_tail = min(vapply(tails, function(q) plain_ess(split_chains(1 * (x <= q))), 0)),
    mcse = stats::sd(x) / sqrt(plain_ess(halves))
  )
}

# Each chain in two halves; of an odd number of draws the middle one is left out.
split_chains <- function(x) {
  half <- nrow(x) %/% 2L
  cbind(utils::head(x, half), utils::tail(x, half, keepnums = FALSE))
}

# Normal scores of average ranks over all draws.
z_scale <- function(x) {
  rank <- rank(as.vector(x), ties.method = "average")
  array(stats::qnorm((rank - 3 / 8) / (length(x) + 1 / 4)), dim(x))
}

plain_rhat <- function(x) {
  n <- nrow(x)
  means <- colMeans(x)
  within <- mean(apply(x, 2L, stats::var))
  sqrt((n * stats::var(means) / within + n - 1) / n)
}

# Columns: autocovariances of lags 0, 1, ... of a chain, divided by its length.
autocovariance <- function(x) {
  n <- nrow(x)
  size <- stats::nextn(2L * n)
  apply(x, 2L, function(chain) {
    padded <- c(chain - mean(chain), rep(0, size - n))
    Re(stats::fft(Mod(stats::fft(padded))^2, inverse = TRUE))[seq_len(n)] / size / n
  })
}

plain_ess <- function(x) {
  n <- nrow(x)
  all <- length(x)
  if (n < 3L || max(x) - min(x) < 1e-300) return(NA_real_)
  covariance <- rowMeans(autocovariance(x))
  within <- covariance[[1L]] * n / (n - 1)
  total <- within * (n - 1) / n + if (ncol(x) > 1L) stats::var(colMeans(x)) else 0
  rho <- 1 - (within - covariance) / total
  rho[[1L]] <- 1
  tau <- integrated_time(rho, n)
  all / max(tau, 1 / log10(all))
}

# Geyer's initial monotone sequence: sums of pairs of lags, as long as they are positive, none
# larger than the one before; and half of the next lag, if it is positive too.
integrated_time <- function(rho, n) {
  pair <- seq.int(1L, n - 1L, by = 2L)
  sums <- rho[pair] + rho[pair + 1L]
  most <- sum(2L * (seq_along(sums) - 1L) < n - 5L)
  ends <- which(!sums > 0)
  last <- min(ends, most + 1L)
  even <- rho[pair[[last]]]
  -1 + 2 * sum(cummin(sums[seq_len(last - 1L)])) + if (even > 0 || sums[[last]] >= 0) even else 0
}

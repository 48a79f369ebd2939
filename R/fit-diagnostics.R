# Convergence diagnostics of chains: the formulas of Vehtari, Gelman, Simpson, Carpenter and
# Buerkner (2021), Bayesian Analysis 16(2), 667-718, as in package posterior.

#' @srrstats {BS1.4, BS1.5, BS4.7, BS5.4} Rhat and effective sample sizes, computed from ranks
#' @importFrom stats .getXlevels AIC BIC chisq.test fft logLik model.frame model.matrix mvfft
#'   na.pass nextn optim p.adjust pbeta pchisq qbeta qchisq rbinom rgamma rmultinom terms uniroot
#'   var weighted.mean weights
#' @importFrom utils combn modifyList relist
#' @noRd
NULL

# Returns the diagnostics of all parameters, a matrix with a row per parameter. Columns of `draws`
# are parameters; its rows are ordered by chain.
diagnose_all <- function(draws, chains) {
  t(vapply(colnames(draws), function(term) {
    diagnose(matrix(draws[, term], ncol = chains))
  }, c(rhat = 0, ess_bulk = 0, ess_tail = 0, mcse = 0)))
}

# Returns the diagnostics of one parameter: Rhat, effective sample sizes for the centre (bulk) and
# the tails, and the Monte Carlo standard error of the mean. `x` contains its draws (draws x
# chains). All diagnostics are NA if all draws are equal.
diagnose <- function(x) {
  if (anyNA(x) || max(x) - min(x) < 1e-300) return(rep(NA_real_, 4L))
  # Splits each chain into halves, which become columns. With an odd number of draws per chain, the
  # middle draw is left out.
  half <- nrow(x) %/% 2L
  is_middle <- seq_len(nrow(x)) == half + 1L & nrow(x) > 2L * half
  halves <- matrix(x[!is_middle, ], half)
  bulk <- z_scale(halves)
  quantiles <- quantile(x, c(0.05, 0.5, 0.95), names = FALSE)
  c(
    rhat = max(plain_rhat(bulk), plain_rhat(z_scale(abs(halves - quantiles[[2L]])))),
    ess_bulk = plain_ess(bulk),
    ess_tail = min(vapply(quantiles[-2L], function(limit) plain_ess(1 * (halves <= limit)), 0)),
    mcse = sd(x) / sqrt(plain_ess(halves))
  )
}

# Replaces draws by the normal scores of their average ranks over all chains. Radix sorting is much
# faster than rank().
z_scale <- function(x) {
  order <- order(x, method = "radix")
  runs <- rle(x[order])$lengths
  rank <- cumsum(runs) - (runs - 1) / 2
  x[order] <- rep(qnorm((rank - 3 / 8) / (length(x) + 1 / 4)), runs)
  x
}

# Returns Rhat of draws (draws x chains): the square root of the total variance divided by the
# variance within chains.
plain_rhat <- function(x) {
  n <- nrow(x)
  within <- mean(apply(x, 2L, var))
  sqrt((n * var(colMeans(x)) / within + n - 1) / n)
}

# Returns autocovariances of lags 0 to n - 1 with divisor n, averaged over chains. Uses the Fourier
# transform. To halve the number of transforms, two chains are the real and the imaginary part of
# one sequence. The number of chains is even, because diagnose() has split each chain.
mean_autocovariance <- function(x) {
  n <- nrow(x)
  size <- nextn(2L * n)
  padded <- rbind(x - rep(colMeans(x), each = n), matrix(0, size - n, ncol(x)))
  odd <- seq.int(1L, ncol(x), 2L)
  pairs <- matrix(complex(real = padded[, odd], imaginary = padded[, -odd]), size)
  power <- rowSums(Mod(mvfft(pairs))^2)
  Re(fft(power, inverse = TRUE))[seq_len(n)] / size / n / ncol(x)
}

# Returns the effective sample size of draws (draws x chains).
plain_ess <- function(x) {
  n <- nrow(x)
  n_draws <- length(x)
  if (n < 3L || max(x) - min(x) < 1e-300) return(NA_real_)
  covariance <- mean_autocovariance(x)
  within <- covariance[[1L]] * n / (n - 1)
  total <- covariance[[1L]] + var(colMeans(x))
  rho <- 1 - (within - covariance) / total
  rho[[1L]] <- 1
  n_draws / max(integrated_time(rho, n), 1 / log10(n_draws))
}

# Returns the integrated autocorrelation time by Geyer's initial monotone sequence. Autocorrelations
# `rho` are summed in pairs of lags, up to the first pair whose sum is not positive. Each sum is
# limited to the previous one. The next even lag is added if it is positive.
integrated_time <- function(rho, n) {
  pair <- seq.int(1L, n - 1L, by = 2L)
  sums <- rho[pair] + rho[pair + 1L]
  max_pairs <- sum(2L * (seq_along(sums) - 1L) < n - 5L)
  last <- min(which(!sums > 0), max_pairs + 1L)
  next_even <- rho[pair[[last]]]
  -1 + 2 * sum(cummin(sums[seq_len(last - 1L)])) +
    if (next_even > 0 || sums[[last]] >= 0) next_even else 0
}

# Predictive accuracy of posterior draws for new cases, by WAIC, and by leave-one-out
# cross-validation of package loo. Cases with the same ratings, population and known truth have the
# same likelihood, which is computed once. A group of such cases is called a row.

# Draws again, with the seed of the fit, and computes log likelihoods. Returns a list that contains
# `log_likelihood` of one case (draws x rows); `weight`, the number of cases of each row; and `row`,
# the row of each pattern of ratings.
log_likelihood_draws <- function(fit) {
  check_draws_fit(fit, "x", "Compare fits by likelihood with {.fun AIC}.")
  check_memory(
    as.double(nrow(fit$draws)) * n_patterns(fit$x), "log likelihoods of patterns in draws",
    "Use fewer draws, by {.code sampling = list(draws = )}.")
  options <- c(fit$sampling[c(run_options, "thin")], list(seed = fit$seed))
  run_sampler(fit$x, fit$task, options, log_likelihood = TRUE)
}

# Returns the sum of a value over all cases, and the standard error of the sum. `value` has an
# element per row of cases, `weight` is the number of cases of each row.
sum_over_cases <- function(value, weight) {
  n <- sum(weight)
  sum <- sum(weight * value)
  c(estimate = sum, std.error = sqrt(n / (n - 1) * sum(weight * (value - sum / n)^2)))
}

# Returns a list: `table` with a row for WAIC and a row for leave-one-out cross-validation (NA
# without package loo); and `of_case`, the expected log predictive density of each case by WAIC, NA
# for cases that have neither ratings nor a known truth.
criteria_of_fit <- function(fit) {
  likelihoods <- log_likelihood_draws(fit)
  values <- likelihoods$log_likelihood
  # For each row of cases, the effective number of parameters and the expected log predictive
  # density of a case by WAIC.
  parameters <- apply(values, 2L, var)
  density <- log_sum_exp(t(values)) - log(nrow(values)) - parameters
  row <- function(criterion, elpd, p, worst_k) {
    total <- sum_over_cases(elpd, likelihoods$weight)
    columns_tibble(
      criterion = criterion, elpd = total[["estimate"]], std.error = total[["std.error"]],
      parameters = sum(likelihoods$weight * p), worst_k = worst_k
    )
  }
  loo <- if (rlang::is_installed("loo")) {
    loo_result <- loo_rows(fit, likelihoods)
    row("loo", loo_result$pointwise[, "elpd_loo"], loo_result$pointwise[, "p_loo"],
      max(loo_result$diagnostics$pareto_k))
  } else {
    row("loo", NA_real_, NA_real_, NA_real_)
  }
  row_of_pattern <- replace(likelihoods$row, likelihoods$row == 0L, NA)
  list(
    table = rbind(row("waic", density, parameters, NA_real_), loo),
    of_case = density[row_of_pattern[fit$x$index]]
  )
}

# Runs loo::loo() on rows of cases. `likelihoods` is a result of log_likelihood_draws().
loo_rows <- function(fit, likelihoods, ...) {
  values <- likelihoods$log_likelihood
  size <- loo::relative_eff(exp(values - max(values)),
    chain_id = rep(seq_len(fit$sampling$chains), each = fit$sampling$kept))
  suppressWarnings(loo::loo(values, r_eff = size, ...))
}

# Expands a result of package loo from rows of cases to cases, in the order of the ratings. Package
# loo compares two models by differences between cases, so both need the same order.
expand_to_cases <- function(result, likelihoods, fit) {
  row_of_distinct_case <- likelihoods$row[fit$x$index]
  row_of_case <- rep(row_of_distinct_case, weights_of_cases(fit$x) * (row_of_distinct_case > 0L))
  result$pointwise <- result$pointwise[row_of_case, , drop = FALSE]
  result$diagnostics <- lapply(result$diagnostics, `[`, row_of_case)
  columns <- rownames(result$estimates)
  pointwise <- result$pointwise[, columns, drop = FALSE]
  result$estimates[] <- t(apply(pointwise, 2L, sum_over_cases, rep(1, length(row_of_case))))
  result[columns] <- result$estimates[, 1L]
  result[paste0("se_", columns)] <- result$estimates[, 2L]
  result["psis_object"] <- list(NULL)
  structure(result, dims = c(nrow(fit$draws), length(row_of_case)))
}

#' @rawNamespace S3method(loo::loo,draws_fit)
#' @rawNamespace S3method(loo::loo,rater_fit,loo.draws_fit)
loo.draws_fit <- function(x, ...) { # nolint: object_name.
  likelihoods <- log_likelihood_draws(x)
  expand_to_cases(loo_rows(x, likelihoods, ...), likelihoods, x)
}

#' @rawNamespace S3method(loo::waic,draws_fit)
#' @rawNamespace S3method(loo::waic,rater_fit,waic.draws_fit)
waic.draws_fit <- function(x, ...) { # nolint: object_name.
  likelihoods <- log_likelihood_draws(x)
  expand_to_cases(suppressWarnings(loo::waic(likelihoods$log_likelihood, ...)), likelihoods, x)
}

facts_of_fit <- function(fit) {
  x <- fit$x
  log_likelihood <- logLik(fit)
  facts <- list(
    agreement = fit$agreement, kappa = kappa_of_agreement(x, fit$agreement),
    chance_kappa = fit$kappa, rater_accuracy = fit$rater_accuracy, cases = nrow(x),
    raters = n_raters(x), ratings = n_ratings(x), categories = n_categories(x),
    patterns = n_patterns(x), logLik = as.double(log_likelihood),
    AIC = AIC(log_likelihood), BIC = BIC(log_likelihood), nobs = nobs(fit)
  )
  if (is.null(fit$centre)) return(facts)
  pooled_parameters <- fit$centre[c("c", "tau", "ups", "a")]
  if (!is.null(fit$model$abstain)) {
    facts$abstain <- fit$model$abstain
    names <- c(answers_logLik = "log_answers", answer_c = "kappa", answer_spread = "omega")
    pooled_parameters[names(names)] <- fit$answering[names]
  }
  if (fit$identified != "yes") pooled_parameters[] <- NA_real_
  c(facts, na_real(pooled_parameters))
}

# Returns the reason why a fit is not identified, NA if it is. `identified` is a code or a vector of
# codes.
why_not_identified <- function(identified, agreement, categories) {
  reasons <- c(
    no_pairs = "no case was rated by two raters", unequal = need_unequal,
    constant_raters = paste0(reason_constant,
      "; if an empty cell means that a rater abstained, use `ratings(abstain = NA)`"),
    unused = paste("without a prior, a model with free errors needs ratings in every category;",
      "leave other categories out of the ratings"),
    unrelated = paste("raters", agreement_by_chance_words),
    labels_only = "ratings identify consensus labels, but accuracies need cases with known truth",
    replies = paste("raters agree no better than by chance, given how often each answers and",
      "abstains"),
    few_sources = sprintf(
      "too few raters for %s categories: each rater separates only one from abstention", categories
    )
  )
  by_chance <- sprintf("raters agree no better than by chance (agreement %s, chance %s)",
    format_decimals(agreement), format_decimals(1 / categories))
  as.character(ifelse(identified == "chance", by_chance, reasons[identified]))
}

# How well posterior draws predict a case that they have not seen: WAIC, and leave-one-out by
# package loo. Cases of a row (the same ratings, population and known truth) are alike, so that all
# is computed once for each row.

# values: draws x rows, log likelihood of one case of each; weight: cases of each row; row: that of
# each pattern. Drawn again from the same seed.
log_likelihood_draws <- function(fit) {
  check_memory(
    as.double(nrow(fit$draws)) * n_patterns(fit$x), "log likelihoods of patterns in draws",
    "Fit with fewer {.field draws} in {.arg sampling}.")
  options <- c(fit$sampling[c(run_options, "thin")], list(seed = fit$seed))
  found <- run_sampler(fit$x, fit$task, options, log_likelihood = TRUE)
  list(values = found$log_likelihood, weight = found$weight, row = found$row)
}

# Of each row the expected log predictive density of a case, and the effective parameters in it.
waic_rows <- function(values) {
  most <- apply(values, 2L, max)
  p <- apply(values, 2L, stats::var)
  cbind(elpd = log(colMeans(exp(values - rep(most, each = nrow(values))))) + most - p, p = p)
}

# Sum over cases and its standard error, of a column with an entry per row.
sum_over_cases <- function(value, weight) {
  n <- sum(weight)
  sum <- sum(weight * value)
  c(estimate = sum, std.error = sqrt(n / (n - 1) * sum(weight * (value - sum / n)^2)))
}

# A table of both criteria (leave-one-out where package loo is installed), and `of_case`, the
# expected log predictive density of each case, NA where nothing is known of it.
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

# Rows become cases, in their order, as package loo wants them: it subtracts cases of other models.
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

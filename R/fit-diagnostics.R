# Convergence diagnostics of chains: the formulas of Vehtari, Gelman, Simpson, Carpenter and
# Buerkner (2021), Bayesian Analysis 16(2), 667-718, as in package posterior.

#' @srrstats {BS1.4, BS1.5, BS4.7, BS5.4} Rhat and effective sample sizes, computed from ranks
#' @importFrom stats .getXlevels AIC anova BIC chisq.test fft logLik model.frame model.matrix mvfft
#'   na.pass nextn optim p.adjust pbeta pchisq qbeta qchisq rbinom rgamma rmultinom terms uniroot
#'   var weighted.mean weights
#' @importFrom utils combn modifyList relist
#' @noRd
NULL

# Returns the convergence diagnostics of all parameters, a matrix with a row per parameter. `draws`:
# a matrix (draws x parameters), whose rows are ordered by chain.
diagnose_parameters <- function(draws, chains) {
  t(vapply(colnames(draws), function(term) {
    diagnose_parameter(matrix(draws[, term], ncol = chains))
  }, c(rhat = 0, ess_bulk = 0, ess_tail = 0, mcse = 0)))
}

# Returns the diagnostics of one parameter: Rhat, effective sample sizes for the centre (bulk) and
# the tails, and the Monte Carlo standard error of the mean. They are NA if all draws are equal.
# `x`: draws of the parameter (draws x chains).
diagnose_parameter <- function(x) {
  if (anyNA(x) || max(x) - min(x) < 1e-300) return(rep(NA_real_, 4L))
  # Splits each chain into halves, which become columns. With an odd number of draws per chain, the
  # middle draw is left out.
  half_length <- nrow(x) %/% 2L
  is_middle <- row_numbers(x) == half_length + 1L & nrow(x) > 2L * half_length
  halves <- matrix(x[!is_middle, ], half_length)
  bulk_scores <- normal_scores(halves)
  quantiles <- quantile(x, c(0.05, 0.5, 0.95), names = FALSE)
  c(
    rhat = max(
      compute_rhat(bulk_scores), compute_rhat(normal_scores(abs(halves - quantiles[[2L]])))
    ),
    ess_bulk = compute_ess(bulk_scores),
    ess_tail = min(map_dbl(quantiles[-2L], function(limit) compute_ess(1 * (halves <= limit)))),
    mcse = sd(x) / sqrt(compute_ess(halves))
  )
}

# Replaces draws by normal scores of their ranks among the draws of all chains. Tied draws get the
# mean of their ranks. Radix sorting is much faster than rank().
normal_scores <- function(x) {
  order <- order(x, method = "radix")
  runs <- rle(x[order])$lengths
  rank <- cumsum(runs) - (runs - 1) / 2
  x[order] <- rep(qnorm((rank - 3 / 8) / (length(x) + 1 / 4)), runs)
  x
}

# Returns Rhat of draws (draws x chains): the square root of the total variance divided by the
# variance within chains.
compute_rhat <- function(x) {
  n <- nrow(x)
  sqrt((n * var(colMeans(x)) / mean(apply(x, 2L, var)) + n - 1) / n)
}

# Returns autocovariances with divisor n, averaged over chains: a vector for lags 0 to n - 1. Uses
# the Fourier transform. To halve the number of transforms, two chains are the real and the
# imaginary part of one sequence. `x`: draws x chains; the number of chains must be even.
mean_autocovariance <- function(x) {
  n <- nrow(x)
  size <- nextn(2L * n)
  padded <- rbind(x - rep(colMeans(x), each = n), matrix(0, size - n, ncol(x)))
  odd_chains <- seq.int(1L, ncol(x), 2L)
  pairs <- matrix(complex(real = padded[, odd_chains], imaginary = padded[, -odd_chains]), size)
  power <- rowSums(Mod(mvfft(pairs))^2)
  Re(fft(power, inverse = TRUE))[seq_len(n)] / size / n / ncol(x)
}

# Returns the effective sample size of draws (draws x chains).
compute_ess <- function(x) {
  n <- nrow(x)
  n_draws <- length(x)
  if (n < 3L || max(x) - min(x) < 1e-300) return(NA_real_)
  autocovariance <- mean_autocovariance(x)
  within_variance <- autocovariance[[1L]] * n / (n - 1)
  total_variance <- autocovariance[[1L]] + var(colMeans(x))
  rho <- 1 - (within_variance - autocovariance) / total_variance
  rho[[1L]] <- 1
  n_draws / max(integrated_time(rho, n), 1 / log10(n_draws))
}

# Returns the integrated autocorrelation time by Geyer's initial monotone sequence. Autocorrelations
# are added in pairs of lags (0 and 1, 2 and 3, ...), up to the first pair whose sum is not
# positive. The sum of a pair counts at most as much as the sum of the previous pair. The next even
# lag is added if it is positive. `rho`: autocorrelations from lag 0. `n`: draws per chain.
integrated_time <- function(rho, n) {
  first_lag <- seq.int(1L, n - 1L, by = 2L)
  pair_sums <- rho[first_lag] + rho[first_lag + 1L]
  max_pairs <- sum(2L * (seq_along(pair_sums) - 1L) < n - 5L)
  last_pair <- min(which(!pair_sums > 0), max_pairs + 1L)
  next_even <- rho[first_lag[[last_pair]]]
  -1 + 2 * sum(cummin(pair_sums[seq_len(last_pair - 1L)])) +
    if (next_even > 0 || pair_sums[[last_pair]] >= 0) next_even else 0
}

# Predictive accuracy of posterior draws for new cases, by WAIC, and by leave-one-out
# cross-validation (package loo). Cases with the same ratings, population and known truth have the
# same likelihood. A group of such cases is called a row, and its likelihood is computed once.

# Repeats the draws of the fit, with its seed, and computes log likelihoods. Returns a list:
# * log_likelihood: log likelihood of one case of each row (draws x rows)
# * weight: number of cases of each row
# * row: index of the row of each pattern of ratings, 0 for patterns without ratings and truth
log_likelihood_draws <- function(fit) {
  check_draws_fit(fit, "x", "Compare fits by likelihood with {.fun AIC}.")
  check_memory(
    as.double(nrow(fit$draws)) * n_patterns(fit$x), "log likelihoods of patterns in draws",
    "Use fewer draws, by {.code sampling = list(draws = )}.")
  run_sampler(fit$x, fit$task,
    c(fit$sampling[c(sampler_option_names, "thin")], list(seed = fit$seed)), log_likelihood = TRUE)
}

# Returns the sum of a value over all cases, and the standard error of the sum. `value`: value of a
# case of each row. `weight`: number of cases of each row.
sum_over_cases <- function(value, weight) {
  n <- sum(weight)
  total <- sum(weight * value)
  c(estimate = total, std.error = sqrt(n / (n - 1) * sum(weight * (value - total / n)^2)))
}

# Returns criteria of predictive accuracy, a list:
# * table: a table with a row for WAIC and a row for leave-one-out cross-validation (NA without
#   package loo)
# * of_case: expected log predictive density of each case by WAIC; NA for cases that have neither
#   ratings nor a known truth
criteria_of_fit <- function(fit) {
  likelihoods <- log_likelihood_draws(fit)
  values <- likelihoods$log_likelihood
  # WAIC terms of one case of each row (the cases of a row have the same likelihood): the effective
  # number of parameters, and the expected log predictive density.
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
    loo_result <- run_loo_on_rows(fit, likelihoods)
    row("loo", loo_result$pointwise[, "elpd_loo"], loo_result$pointwise[, "p_loo"],
      max(loo_result$diagnostics$pareto_k))
  } else {
    row("loo", NA_real_, NA_real_, NA_real_)
  }
  list(
    table = rbind(row("waic", density, parameters, NA_real_), loo),
    of_case = c(NA, density)[likelihoods$row[fit$x$index] + 1L]
  )
}

# Runs loo::loo() on rows of cases and returns its result. `likelihoods`: a result of
# log_likelihood_draws().
run_loo_on_rows <- function(fit, likelihoods, ...) {
  values <- likelihoods$log_likelihood
  size <- loo::relative_eff(exp(values - max(values)),
    chain_id = rep(seq_len(fit$sampling$chains), each = fit$sampling$kept))
  suppressWarnings(loo::loo(values, r_eff = size, ...))
}

# Expands a result of package loo from rows of cases to single cases, in the order of the ratings.
# Package loo compares two models case by case, so both models need the same order.
expand_to_cases <- function(result, likelihoods, fit) {
  row_of_distinct_case <- likelihoods$row[fit$x$index]
  row_of_case <- rep(row_of_distinct_case, weights_of_cases(fit$x) * (row_of_distinct_case > 0L))
  result$pointwise <- pick_rows(result$pointwise, row_of_case)
  result$diagnostics <- lapply(result$diagnostics, `[`, row_of_case)
  columns <- rownames(result$estimates)
  result$estimates[] <- t(apply(pick_columns(result$pointwise, columns), 2L, sum_over_cases,
    rep(1, length(row_of_case))))
  result[columns] <- result$estimates[, 1L]
  result[paste0("se_", columns)] <- result$estimates[, 2L]
  result["psis_object"] <- list(NULL)
  structure(result, dims = c(nrow(fit$draws), length(row_of_case)))
}

#' @rawNamespace S3method(loo::loo,draws_fit)
#' @rawNamespace S3method(loo::loo,rater_fit,loo.draws_fit)
loo.draws_fit <- function(x, ...) { # nolint: object_name.
  likelihoods <- log_likelihood_draws(x)
  expand_to_cases(run_loo_on_rows(x, likelihoods, ...), likelihoods, x)
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

# Returns the reason why a fit is not identified, in words; NA if it is identified. `identified`: a
# code, or a vector of codes. `agreement`: share of pairs of ratings that agree. `categories`:
# number of categories.
why_not_identified <- function(identified, agreement, categories) {
  reasons <- c(
    no_pairs = "no case was rated by two raters", unequal = reason_unequal_needed,
    constant_raters = paste0(reason_constant,
      "; if an empty cell means that a rater abstained, use `ratings(abstain = NA)`"),
    unused = one_line("without a prior, a model with free errors needs ratings in every category;
      leave other categories out of the ratings"),
    unrelated = paste("raters", agreement_by_chance_words),
    labels_only = "ratings identify consensus labels, but accuracies need cases with known truth",
    replies = one_line("raters agree no better than by chance, given how often each answers and
      abstains"),
    few_sources = sprintf(
      "too few raters for %s categories: each rater separates only one from abstention", categories
    )
  )
  by_chance <- sprintf("raters agree no better than by chance (agreement %s, chance %s)",
    format_decimals(agreement), format_decimals(1 / categories))
  as.character(ifelse(identified == "chance", by_chance, reasons[identified]))
}

# Returns the reason why a fit is not identified, in words for users.
reason_of_fit <- function(fit) {
  categories <- n_categories(fit$x)
  if (fit$identified == "parameters") return(reason_of_parameters(fit$model, categories))
  if (!is.null(fit$calibrated)) return(unname(fit$calibrated$lack))
  why_not_identified(identification_code(fit), fit$agreement, categories)
}

reason_of_parameters <- function(model, categories) {
  fill_template("the %s has more parameters than ratings by these raters into %s categories can
    distinguish", format(model), categories)
}

# What a user can do if a fit is not identified, by the code of the reason. `judge`, `uncalibrated`
# and `unrated` are the codes of why_no_calibration().
known_truth_advice <- "Give the true categories of some cases as {.arg known_truth}."
other_raters_advice <- "Check that all raters use the categories in the same sense. If they do, use
  more accurate raters, or give {.arg known_truth} for some cases."
advice_by_code <- list(
  no_pairs = "Let a second rater rate some cases, or give {.arg known_truth} for some cases.",
  chance = other_raters_advice,
  unequal = "Use {.code model = dawid_skene()}, in which raters differ in accuracy.",
  constant_raters = known_truth_advice,
  unused = "Leave unused categories out of {.arg categories} of {.fun ratings}, or use a model with
    a prior, such as {.code dawid_skene()}.",
  unrelated = other_raters_advice,
  parameters = "Use a simpler model or more raters, or give {.arg known_truth} for some cases.",
  labels_only = paste(known_truth_advice, "{.fun ground_truth} needs no known truth."),
  replies = known_truth_advice,
  few_sources = paste("Use more raters, or merge categories.", known_truth_advice),
  uncalibrated = "Add cases of this category to the calibration sample in {.arg known_raters}.",
  unrated = "Give ratings of the cases whose base rates are estimated.",
  judge = "Use a more accurate judge or, if the calibration sample is small, a larger one."
)

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
# the tails of its distribution, and the Monte Carlo standard error of the mean. All four are NA if
# all draws are equal. `x`: draws of the parameter (draws x chains).
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
    ess_tail = min(map_dbl(quantiles[-2L],
      function(quantile) compute_ess(1 * (halves <= quantile)))),
    mcse = sd(x) / sqrt(compute_ess(halves))
  )
}

# Replaces draws by normal scores of their ranks among the draws of all chains. Tied draws get the
# mean of their ranks. Sorting by radix is much faster than rank().
normal_scores <- function(x) {
  sorted_index <- order(x, method = "radix")
  tie_sizes <- rle(x[sorted_index])$lengths
  mean_ranks <- cumsum(tie_sizes) - (tie_sizes - 1) / 2
  x[sorted_index] <- rep(qnorm((mean_ranks - 3 / 8) / (length(x) + 1 / 4)), tie_sizes)
  x
}

# Returns Rhat of draws (draws x chains): the square root of the total variance divided by the
# variance within chains.
compute_rhat <- function(x) {
  n <- nrow(x)
  sqrt((n * var(colMeans(x)) / mean(apply(x, 2L, var)) + n - 1) / n)
}

# Returns autocovariances averaged over chains, a vector for lags 0 to n - 1. Each autocovariance is
# a sum divided by n, the number of draws per chain. `x`: a matrix (draws x chains) with an even
# number of chains.
mean_autocovariance <- function(x) {
  n <- nrow(x)
  padded_length <- nextn(2L * n)
  padded_draws <- rbind(x - rep(colMeans(x), each = n), matrix(0, padded_length - n, ncol(x)))
  # To halve the number of Fourier transforms, two chains are the real and the imaginary part of one
  # sequence.
  odd_chains <- seq.int(1L, ncol(x), 2L)
  chain_pairs <- matrix(
    complex(real = padded_draws[, odd_chains], imaginary = padded_draws[, -odd_chains]),
    padded_length
  )
  power_spectrum <- rowSums(Mod(mvfft(chain_pairs))^2)
  Re(fft(power_spectrum, inverse = TRUE))[seq_len(n)] / padded_length / n / ncol(x)
}

# Returns the effective sample size of draws (draws x chains).
compute_ess <- function(x) {
  n <- nrow(x)
  n_draws <- length(x)
  if (n < 3L || max(x) - min(x) < 1e-300) return(NA_real_)
  autocovariance <- mean_autocovariance(x)
  within_variance <- autocovariance[[1L]] * n / (n - 1)
  total_variance <- autocovariance[[1L]] + var(colMeans(x))
  autocorrelation <- 1 - (within_variance - autocovariance) / total_variance
  autocorrelation[[1L]] <- 1
  n_draws / max(autocorrelation_time(autocorrelation, n), 1 / log10(n_draws))
}

# Returns the integrated autocorrelation time by Geyer's initial monotone sequence. Autocorrelations
# are added in pairs of lags (0 and 1, 2 and 3, ...), up to the first pair whose sum is not
# positive. The sum of a pair counts at most as much as the sum of the previous pair.
# `autocorrelation`: autocorrelations from lag 0. `n`: draws per chain.
autocorrelation_time <- function(autocorrelation, n) {
  first_lags <- seq.int(1L, n - 1L, by = 2L)
  pair_sums <- autocorrelation[first_lags] + autocorrelation[first_lags + 1L]
  max_pairs <- sum(2L * (seq_along(pair_sums) - 1L) < n - 5L)
  last_pair <- min(which(!pair_sums > 0), max_pairs + 1L)
  # Of the pair `last_pair`, only the first autocorrelation is added. It is not added if it is
  # negative and the sum of the pair is negative.
  next_autocorrelation <- autocorrelation[first_lags[[last_pair]]]
  -1 + 2 * sum(cummin(pair_sums[seq_len(last_pair - 1L)])) +
    if (next_autocorrelation > 0 || pair_sums[[last_pair]] >= 0) next_autocorrelation else 0
}

# Predictive accuracy of a Bayesian fit for new cases: WAIC, and leave-one-out cross-validation by
# package loo. Cases with the same ratings, population and known truth have the same likelihood.
# Below, "row" means a group of such cases; its likelihood is computed once.

# Draws again from the posterior, with the seed of the fit, and computes log likelihoods. Returns a
# list:
# * log_likelihood: log likelihood of one case of each row, a matrix (draws x rows)
# * weight: number of cases of each row
# * row: index of the row to which each pattern of ratings belongs; 0 for patterns that have neither
#   ratings nor a known truth
log_likelihood_draws <- function(fit) {
  check_draws_fit(fit, "x", "Compare fits by likelihood with {.fun AIC}.")
  check_memory(
    as.double(nrow(fit$draws)) * n_patterns(fit$x), "log likelihoods of patterns in draws",
    "Use fewer draws, by {.code sampling = list(draws = )}.")
  run_sampler(fit$x, fit$task,
    c(fit$sampling[c(sampler_option_names, "thin")], list(seed = fit$seed)), log_likelihood = TRUE)
}

# Returns the sum of a value over all cases, and the standard error of the sum. `value`: the value
# of one case of each row. `weight`: the number of cases of each row.
sum_over_cases <- function(value, weight) {
  n <- sum(weight)
  sum_of_values <- sum(weight * value)
  c(estimate = sum_of_values,
    std.error = sqrt(n / (n - 1) * sum(weight * (value - sum_of_values / n)^2)))
}

# Computes criteria of predictive accuracy. Returns a list:
# * table: a table with a row for WAIC and a row for leave-one-out cross-validation (NA without
#   package loo)
# * of_case: expected log predictive density of each case by WAIC; NA for cases that have neither
#   ratings nor a known truth
criteria_of_fit <- function(fit) {
  likelihood_draws <- log_likelihood_draws(fit)
  log_likelihood <- likelihood_draws$log_likelihood
  # Contributions of one case of each row to WAIC: the effective number of parameters, and the
  # expected log predictive density.
  n_effective_parameters <- apply(log_likelihood, 2L, var)
  elpd <- log_sum_exp(t(log_likelihood)) - log(nrow(log_likelihood)) - n_effective_parameters
  new_criterion_row <- function(criterion, elpd, n_effective_parameters, worst_k) {
    elpd_sum <- sum_over_cases(elpd, likelihood_draws$weight)
    columns_tibble(
      criterion = criterion, elpd = elpd_sum[["estimate"]], std.error = elpd_sum[["std.error"]],
      parameters = sum(likelihood_draws$weight * n_effective_parameters), worst_k = worst_k
    )
  }
  loo_row <- if (rlang::is_installed("loo")) {
    loo_result <- run_loo_on_rows(fit, likelihood_draws)
    new_criterion_row("loo", loo_result$pointwise[, "elpd_loo"], loo_result$pointwise[, "p_loo"],
      max(loo_result$diagnostics$pareto_k))
  } else {
    new_criterion_row("loo", NA_real_, NA_real_, NA_real_)
  }
  list(
    table = rbind(new_criterion_row("waic", elpd, n_effective_parameters, NA_real_), loo_row),
    of_case = c(NA, elpd)[likelihood_draws$row[fit$x$index] + 1L]
  )
}

# Runs loo::loo() with each row (group of equal cases, see above) as one observation, and returns
# its result. `likelihood_draws`: a result of log_likelihood_draws().
run_loo_on_rows <- function(fit, likelihood_draws, ...) {
  log_likelihood <- likelihood_draws$log_likelihood
  relative_efficiency <- loo::relative_eff(exp(log_likelihood - max(log_likelihood)),
    chain_id = rep(seq_len(fit$sampling$chains), each = fit$sampling$kept))
  suppressWarnings(loo::loo(log_likelihood, r_eff = relative_efficiency, ...))
}

# Expands a result of package loo, in which each observation is a row (group of equal cases), to
# single cases in the order of the ratings.
# Package loo compares two models case by case, so both models need the same order.
expand_to_cases <- function(loo_object, likelihood_draws, fit) {
  row_of_distinct_case <- likelihood_draws$row[fit$x$index]
  row_of_case <- rep(row_of_distinct_case, weights_of_cases(fit$x) * (row_of_distinct_case > 0L))
  loo_object$pointwise <- pick_rows(loo_object$pointwise, row_of_case)
  loo_object$diagnostics <- lapply(loo_object$diagnostics, `[`, row_of_case)
  measure_names <- rownames(loo_object$estimates)
  loo_object$estimates[] <- t(apply(pick_columns(loo_object$pointwise, measure_names), 2L,
    sum_over_cases, rep(1, length(row_of_case))))
  loo_object[measure_names] <- loo_object$estimates[, 1L]
  loo_object[paste0("se_", measure_names)] <- loo_object$estimates[, 2L]
  loo_object["psis_object"] <- list(NULL)
  structure(loo_object, dims = c(nrow(fit$draws), length(row_of_case)))
}

#' @rawNamespace S3method(loo::loo,draws_fit)
#' @rawNamespace S3method(loo::loo,rater_fit,loo.draws_fit)
loo.draws_fit <- function(x, ...) { # nolint: object_name.
  likelihood_draws <- log_likelihood_draws(x)
  expand_to_cases(run_loo_on_rows(x, likelihood_draws, ...), likelihood_draws, x)
}

#' @rawNamespace S3method(loo::waic,draws_fit)
#' @rawNamespace S3method(loo::waic,rater_fit,waic.draws_fit)
waic.draws_fit <- function(x, ...) { # nolint: object_name.
  likelihood_draws <- log_likelihood_draws(x)
  expand_to_cases(
    suppressWarnings(loo::waic(likelihood_draws$log_likelihood, ...)), likelihood_draws, x
  )
}

statistics_of_fit <- function(fit) {
  x <- fit$x
  log_likelihood <- logLik(fit)
  statistics <- list(
    agreement = fit$agreement, kappa = kappa_of_agreement(x, fit$agreement),
    chance_kappa = fit$kappa, rater_accuracy = fit$rater_accuracy, cases = nrow(x),
    raters = n_raters(x), ratings = n_ratings(x), categories = n_categories(x),
    patterns = n_patterns(x), logLik = as.double(log_likelihood),
    AIC = AIC(log_likelihood), BIC = BIC(log_likelihood), nobs = nobs(fit)
  )
  if (is.null(fit$centre)) return(statistics)
  pooled_parameters <- fit$centre[c("c", "tau", "ups", "a")]
  if (!is.null(fit$model$abstain)) {
    statistics$abstain <- fit$model$abstain
    field_of_statistic <-
      c(answers_logLik = "log_answers", answer_c = "kappa", answer_spread = "omega")
    pooled_parameters[names(field_of_statistic)] <- fit$answering[field_of_statistic]
  }
  if (fit$identified != "yes") pooled_parameters[] <- NA_real_
  c(statistics, na_real(pooled_parameters))
}

# Returns the reason why a fit is not identified, a text; NA if it is identified. `identified`: a
# code of the reason, or a vector of codes. `agreement`: share of pairs of ratings of the same case
# that are equal. `categories`: number of categories.
why_not_identified <- function(identified, agreement, categories) {
  reasons <- c(
    no_pairs = "no case was rated by two raters", unequal = reason_needs_unequal_raters,
    constant_raters = paste0(reason_constant,
      "; if an empty cell means that a rater abstained, use `ratings(abstain = NA)`"),
    unused = one_line("a model with free errors and without a prior needs ratings in every category,
      but some category has no ratings"),
    unrelated = paste("raters", agreement_by_chance_words),
    labels_only = "ratings identify consensus labels, but not accuracies without known truth",
    replies = one_line("raters agree no better than by chance, given how often each answers and
      abstains"),
    few_sources = sprintf(
      "too few raters for %s categories: each rater separates only one from abstention", categories
    )
  )
  chance_reason <- sprintf("raters agree no better than by chance (agreement %s, chance %s)",
    format_decimals(agreement), format_decimals(1 / categories))
  as.character(ifelse(identified == "chance", chance_reason, reasons[identified]))
}

# Returns the reason why a fit is not identified, a text for users.
reason_of_fit <- function(fit) {
  n <- n_categories(fit$x)
  if (fit$identified == "parameters") return(reason_of_parameters(fit$model, n))
  if (!is.null(fit$calibrated)) return(unname(fit$calibrated$problem))
  why_not_identified(identification_code(fit), fit$agreement, n)
}

reason_of_parameters <- function(model, categories) {
  fill_template("the %s has more parameters than can be estimated from ratings by these raters in
    %s categories", format(model), categories)
}

# Texts that occur more than once in `advice_by_code`.
known_truth_advice <- "Give the true categories of some cases as {.arg known_truth}."
other_raters_advice <- "Check that all raters use the categories in the same sense. If they do, use
  more accurate raters, or give {.arg known_truth} for some cases."
# Advice to users, for each reason why a fit is not identified. Names are the codes of the reasons,
# see identification_code() and why_no_calibration().
advice_by_code <- list(
  no_pairs = "Let a second rater rate some cases, or give {.arg known_truth} for some cases.",
  chance = other_raters_advice,
  unequal = "Use {.code model = dawid_skene()}, in which raters differ in accuracy.",
  constant_raters = known_truth_advice,
  unused = "Leave categories without ratings out of {.arg categories} of {.fun ratings}, or
    use a model with a prior, such as {.code dawid_skene()}.",
  unrelated = other_raters_advice,
  parameters = "Use a simpler model or more raters, or give {.arg known_truth} for some cases.",
  labels_only = paste(known_truth_advice, "Without them, {.fun ground_truth} returns labels."),
  replies = known_truth_advice,
  few_sources = paste("Use more raters, or merge categories.", known_truth_advice),
  uncalibrated = "Add cases of this category to the calibration sample in {.arg known_raters}.",
  unrated = "Let the judge rate the cases whose base rates are to be estimated.",
  judge = "Use a more accurate judge or, if the calibration sample is small, a larger sample."
)

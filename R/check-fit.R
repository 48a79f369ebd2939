#' Checks of a Bayesian fit
#'
#' Checks a Bayesian fit of raters by [fit_raters()]: have the chains converged, do the ratings
#' resemble ratings that are simulated from the model, how well does the model predict, and how much
#' do results depend on the priors?
#'
#' @section Posterior predictive checks: Ratings are simulated from the model, with the parameters
#' of up to 400 posterior draws, and compared with the data (Gelman, Meng and Stern, 1996). Cases
#' with known truth are not compared.
#' * *Pairs of raters.* The statistic is the number of cases in which two raters agree. A small
#'   p-value shows that the two raters agree more often than under the model, for example because
#'   their errors are not independent given the truth. A large p-value does not show that errors are
#'   independent.
#' * *Patterns.* A pattern contains the ratings of one case by all raters. Pearson's X2 compares the
#'   observed frequencies of patterns with their expected values. If base rates differ between
#'   populations, X2 is the sum over populations. It is computed only if all raters rated every case
#'   once and there are at most 4096 possible patterns. To leave incomplete cases out of the ratings
#'   `x`, refit with `update(fit, x = x[rowSums(tidy(x, "counts")[-1]) == ncol(x), ])`.
#'
#' @section Influence of priors:
#' * *Contraction* is `1 - posterior variance / prior variance`. If it is below 0.3, the estimate
#'   depends mostly on the prior (column `mostly_prior`), except if the ratings contradict the
#'   prior. The contraction is negative if the posterior is wider than the prior.
#' * *Conflict* between ratings and prior (compare Evans and Moshonov, 2006). Let `s` be the prior
#'   standard deviation. With a contraction of at least 0.3, the ratings contradict the prior if the
#'   posterior mean is more than `2 * s * sqrt(contraction)` from the prior mean. With a smaller
#'   contraction, the ratings contradict the prior if the root mean squared distance of the draws
#'   from the prior mean is above `2 * s`. Only informative priors of two kinds of parameters are
#'   checked: base rates, and probabilities of correct ratings.
#'
#' @param fit A [fit_raters()] result with `method = "bayes"`.
#' @param priors Alternative priors. The model is fitted again once per alternative prior.
#'   * Positive numbers (by default 0.5 and 2): powers, to which the prior densities are raised. For
#'     example, `Beta(a, b)` with power 0.5 becomes `Beta(1 + (a - 1) / 2, 1 + (b - 1) / 2)`.
#'   * A named list of [rater_prior()] results. Or `NULL`, for no alternative priors.
#' @return An object of class `fit_check`. `tidy(x, what)` returns one of these tibbles:
#'   * `"terms"` (the default), a row per parameter. `term` is the name of the parameter, as in
#'     [draws()]. `prior_mean` is the prior mean, and `estimate` the posterior mean. *Influence of
#'     priors* defines `contraction`, `mostly_prior` and `conflict`; `conflict` is `NA` if there is
#'     no prior or all draws are equal. `rhat` (Rhat) should be at most 1.01. `ess`, the smaller of
#'     the bulk and tail effective sample sizes, should be at least 400.
#'   * `"sensitivity"`, a row per parameter and alternative prior. `term` is the parameter. `prior`
#'     is the name of the prior in the list `priors` or, for a power, text such as `"power 0.5"`.
#'     `shift` is the change of the posterior mean in posterior standard deviations. `flagged` is
#'     `TRUE` if the shift is above 0.3 or below -0.3.
#'   * `"pairs"`, a row per pair of raters, `rater1` and `rater2`. `cases` is the number of cases
#'     that both rated exactly once. `observed` is the number of these cases in which the two raters
#'     agree. `expected`, `low` and `high` are the mean and the 5% and 95% quantiles of this number
#'     in simulated ratings. `p.value` is the share of simulated numbers that are at least as large
#'     as the observed number.
#'   * `"patterns"`, one row for Pearson's X2, or no row if X2 cannot be computed. `observed` is X2
#'     of the data, averaged over posterior draws. `expected`, `low` and `high` are the mean and the
#'     5% and 95% quantiles of X2 of simulated ratings. `p.value` is the share of draws in which X2
#'     of simulated ratings is at least as large as X2 of the data.
#'   * `"criteria"`, two rows with criteria of predictive accuracy (Vehtari, Gelman and Gabry,
#'     2017). `criterion` is `"waic"` or `"loo"` (leave-one-out cross-validation, `NA` without
#'     package \pkg{loo}). `elpd` is the expected log predictive density of new ratings, summed over
#'     cases, and `std.error` its standard error. `parameters` is the effective number of
#'     parameters. `worst_k` is the largest Pareto k of leave-one-out cross-validation, which is
#'     unreliable if `worst_k` is above 0.7; `NA` for WAIC.
#'
#'   `glance(x)` returns a tibble with one row: `worst_rhat`, the largest Rhat; `worst_ess`, the
#'   smallest `ess`; `pairs`, the number of pairs; `least_p`, the smallest p-value of a pair;
#'   `p_patterns`, the p-value of X2; `elpd` of WAIC; `worst_k`; `mostly_prior`, the number of
#'   parameters that are mostly prior; and `sensitive`, the number of flagged shifts.
#' @family models of raters
#' @references Evans, M. and Moshonov, H. (2006). Checking for prior-data conflict. *Bayesian
#'   Analysis*, 1, 893-914. \doi{10.1214/06-BA129}
#'
#'   Gelman, A., Meng, X.-L. and Stern, H. (1996). Posterior predictive assessment of
#'   model fitness via realized discrepancies. *Statistica Sinica*, 6, 733-760.
#'
#'   Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using
#'   leave-one-out cross-validation and WAIC. *Statistics and Computing*, 27, 1413-1432.
#'   \doi{10.1007/s11222-016-9696-4}
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8, 0.9), categories = c("-", "+"), n = 200))
#' fit <- fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 1000))
#' checks <- check_fit(fit)
#' checks
#' # Observed and simulated numbers of agreements of each pair of raters
#' tidy(checks, "pairs")
#' @export
check_fit <- function(fit, priors = c(0.5, 2), ...) {
  check_call()
  check_draws_fit(fit, "fit", "To test a model that is fitted by likelihood, use it as
    {.arg alternative} of {.fun check_k_properties}.")
  priors <- resolve_priors(priors, fit)
  draws <- parameters_of_draws(fit, 400L)
  # Cases with known truth get weight 0 in the predictive checks. They may have been chosen by
  # category, so that their true categories are not random draws from the base rates.
  weight <- replace(pattern_weights(fit$x), is_known_pattern(fit), 0)
  parameters <- tidy(fit)
  prior_comparison <- compare_with_prior(fit)
  terms <- tibble(
    term = parameters$term, prior_comparison["prior_mean"], estimate = parameters$mean,
    prior_comparison[-1L],
    rhat = parameters$rhat, ess = pmin(parameters$ess_bulk, parameters$ess_tail)
  )
  predictive_checks <- with_one_seed(list(pairs = pair_checks(fit, draws, weight),
    patterns = pattern_check(fit, draws, weight)))
  # Posterior means with each alternative prior. All fits use the same seed, so that differences
  # between posterior means are not due to random numbers.
  term_names <- fit$terms$term
  alternative_means <- vapply(priors, function(prior) {
    refit <- fit_draws_unchecked(fit$x, fit$model, fit$known, prior, fit$sampling, fit$seed)
    colMeans(refit$draws)[match(term_names, refit$terms$term)]
  }, numeric(length(term_names)))
  shifts <- na_real(as.vector((alternative_means - colMeans(fit$draws)) / apply(fit$draws, 2L, sd)))
  sensitivity <- columns_tibble(
    term = rep(term_names, length(priors)), prior = rep(names2(priors), each = length(term_names)),
    shift = shifts, flagged = !is.na(shifts) & abs(shifts) > max_shift
  )
  new_fit_check(fit, c(list(terms = terms, sensitivity = sensitivity), predictive_checks,
    list(criteria = criteria_of_fit(fit)$table)))
}

# ---- Posterior predictive checks ----------------------------------------------------------------

# Returns a row of a table of posterior predictive checks. Arguments:
# * observed_values: the statistic, computed from the data. It is one number or, if it depends on
#   the parameters, a number per posterior draw.
# * simulated_values: the statistic, computed from simulated ratings, a number per draw.
predictive_row <- function(observed_values, simulated_values) {
  limits <- quantile(simulated_values, c(0.05, 0.95), names = FALSE)
  columns_tibble(observed = mean(observed_values), expected = mean(simulated_values),
    low = limits[[1L]], high = limits[[2L]], p.value = mean(simulated_values >= observed_values))
}

# Returns the index of the category that each rater gave, a matrix (patterns x raters). The index is
# 0 if the rater did not rate the case, or rated it more than once.
codes_of_single_ratings <- function(x) {
  codes <- pattern_codes(x)
  cell_index <- rating_pattern(x) + (rating_rater(x) - 1L) * nrow(codes)
  codes[tabulate(cell_index, length(codes)) > 1L] <- 0L
  codes
}

# Returns a table with a row per pair of raters with common cases. It compares the observed number
# of agreements with simulated numbers. Arguments:
# * draws: a list with an element per posterior draw. An element contains `base_rates`, a matrix
#   (populations x categories), and `matrices`, a confusion matrix per rater.
# * weight: number of cases with each pattern of ratings.
pair_checks <- function(fit, draws, weight) {
  x <- fit$x
  codes <- codes_of_single_ratings(x)
  n <- n_raters(x)
  check_pair_numbers(n, 8)
  population <- fit$task$population
  pair_row <- function(a, b) {
    common_weight <- weight * (codes[, a] > 0L & codes[, b] > 0L)
    cases_per_population <- rowsum_codes(population, common_weight, nrow(draws[[1L]]$base_rates))
    if (sum(cases_per_population) == 0) return(NULL)
    # Probability that both raters agree, a matrix (populations x draws). Other raters get code 0
    # (missing), so that only the ratings of the pair are used.
    agreeing_codes <- matrix(0L, n_categories(x), n)
    agreeing_codes[, c(a, b)] <- seq_along(x$categories)
    p_agreement <- vapply(draws, function(draw) {
      drop(draw$base_rates %*%
        colSums(code_probabilities(draw, agreeing_codes, fit$model, x$raters)))
    }, cases_per_population)
    simulated_counts <- colSums(matrix(
      rbinom(length(p_agreement), cases_per_population, pmin(p_agreement, 1)),
      length(cases_per_population)
    ))
    tibble(
      rater1 = x$raters[[a]], rater2 = x$raters[[b]], cases = sum(cases_per_population),
      predictive_row(sum(common_weight * (codes[, a] == codes[, b])), simulated_counts)
    )
  }
  empty_table <- tibble(
    rater1 = character(), rater2 = character(), cases = double(), predictive_row(0, 0)[0L, ]
  )
  pairs <- which(lower.tri(diag(n)), arr.ind = TRUE)
  stack_rows(c(list(empty_table), Map(pair_row, pairs[, 2L], pairs[, 1L])))
}

# Compares Pearson's X2 of the data with X2 of simulated ratings, and returns a table with one row.
# X2 is computed from the frequencies of rows of ratings (the ratings of one case by all raters).
# The table has no row if ratings are missing or too many rows of ratings are possible. Arguments:
# see pair_checks().
pattern_check <- function(fit, draws, weight) {
  x <- fit$x
  possible_patterns <- all_answer_combinations(x)
  codes <- codes_of_single_ratings(x)
  if (is.null(possible_patterns) || any(codes[weight > 0, ] == 0L) || sum(weight) == 0) {
    return(predictive_row(0, 0)[0L, ])
  }
  n_populations <- nrow(draws[[1L]]$base_rates)
  population <- fit$task$population
  codes[weight == 0, ] <- 1L # replaces missing ratings of patterns that are not counted
  row_number <- drop((codes - 1L) %*% n_categories(x)^(seq_len(ncol(codes)) - 1L)) + 1L
  counts <- rowsum_rows(row_number, weight * indicator_matrix(population, n_populations),
    nrow(possible_patterns))
  pearson_x2 <- function(n, expected) sum(((n - expected)^2 / expected)[expected > 0])
  statistics <- vapply(draws, function(draw) {
    # Probability of each possible pattern of ratings (patterns x populations).
    probability <- code_probabilities(draw, possible_patterns, fit$model, x$raters) %*%
      t(draw$base_rates)
    expected <- probability * rep(colSums(counts), each = nrow(possible_patterns))
    simulated_counts <- vapply(seq_len(n_populations), function(k) {
      rmultinom(1L, sum(counts[, k]), probability[, k])
    }, numeric(nrow(possible_patterns)))
    c(pearson_x2(counts, expected), pearson_x2(simulated_counts, expected))
  }, c(0, 0))
  predictive_row(statistics[1L, ], statistics[2L, ])
}

# ---- Other priors -------------------------------------------------------------------------------

# Converts argument `priors` of check_fit() to a named list of priors, each in the form of a result
# of resolve_prior().
resolve_priors <- function(priors, fit) {
  if (is.null(priors)) return(list())
  if (is.numeric(priors) && length(priors) > 0L && all(is.finite(priors) & priors > 0)) {
    return(lapply(setNames(priors, paste("power", priors)), function(power) {
      # replace() keeps NULL elements of the prior, which pmax() would convert to empty vectors.
      raised_parameters <- rapply(fit$prior[c("raters", "system", "base_rates")], function(a) {
        replace(a, TRUE, pmax(1 + power * (a - 1), min_parameter))
      }, how = "replace")
      replace(fit$prior, names(raised_parameters), raised_parameters)
    }))
  }
  is_valid <- is.list(priors) && !inherits(priors, "rater_prior") && is_named(priors) &&
    all(map_lgl(priors, inherits, "rater_prior"))
  abort_argument_if(!is_valid, "priors",
    "must be positive numbers (powers of the prior), a named list of {.fun rater_prior} results, or
        NULL.", not = priors)
  lapply(priors, resolve_prior, x = fit$x, model = fit$model)
}

max_shift <- 0.3 # largest shift that is not flagged, in posterior standard deviations

# ---- Printed form -------------------------------------------------------------------------------

# Creates a `fit_check` object. `tables`: list of the tables terms, sensitivity, pairs,
# patterns and criteria, which ?check_fit describes.
new_fit_check <- function(fit, tables) {
  mixing <- worst_mixing(fit)
  n_mostly_prior <- sum(tables$terms$mostly_prior)
  summary_line <- sprintf("Rhat at most %s; %s of %d with p below .05; %s mostly prior",
    format_decimals(mixing$rhat), count_noun(sum(tables$pairs$p.value < 0.05), "pair"),
    nrow(tables$pairs), count_noun(n_mostly_prior, "parameter"))
  # In the printed table of parameters, each alternative prior has a column with the shifts of
  # posterior means.
  terms <- tables$terms[is_convergence_checked(fit$terms), ]
  table <- terms[c("term", "prior_mean", "estimate", "contraction")]
  for (name in unique(tables$sensitivity$prior)) {
    shifts <- tables$sensitivity[tables$sensitivity$prior == name, ]
    shifts <- shifts[match(terms$term, shifts$term), ]
    table[[name]] <- paste0(format_decimals(shifts$shift, 2L), ifelse(shifts$flagged, "*", " "))
  }
  table$note <- prior_notes(terms)
  new_result("fit_check",
    fit = fit, tables = tables,
    facts = list(
      worst_rhat = mixing$rhat, worst_ess = mixing$size, pairs = nrow(tables$pairs),
      least_p = min_known(tables$pairs$p.value), p_patterns = min_known(tables$patterns$p.value),
      elpd = tables$criteria$elpd[[1L]], worst_k = tables$criteria$worst_k[[2L]],
      mostly_prior = n_mostly_prior, sensitive = sum(tables$sensitivity$flagged)
    ),
    line = summary_line, head = paste0(format(fit$model), ", ", summary_line),
    shown = view(table, most = 15L, columns = c(
      parameter = "term", prior = "prior_mean", posterior = "estimate", names(table)[-(1:3)]
    )),
    notes = fit_check_notes(fit, mixing, tables),
    more = "tidy(), plot(), compare_models()"
  )
}

fit_check_notes <- function(fit, mixing, tables) {
  pairs <- tables$pairs[order(tables$pairs$p.value), ]
  n_small_p <- sum(pairs$p.value < 0.05)
  shown_pairs <- head(pairs, min(n_small_p, 3L))
  conflicting_terms <- tables$terms$term[which(tables$terms$conflict)]
  waic_row <- tables$criteria[1L, ]
  loo_row <- tables$criteria[2L, ]
  c(
    paste0("Chains: ", format_mixing(fit), if (!is_sufficient_mixing(mixing)) {
      ": the chains have not converged, use more draws"
    }),
    if (length(conflicting_terms) > 0L) paste0("The ratings contradict the priors of ",
      shorten(conflicting_terms), ": posterior means are far from prior means, see ?check_fit"),
    if (nrow(tables$patterns) == 0L) paste0("Rows of ratings: no X2. ", why_no_patterns(fit)),
    sprintf("Rows of ratings: X2 %.0f, in simulated ratings %.0f, p %s", tables$patterns$observed,
      tables$patterns$expected, format_p(tables$patterns$p.value)),
    if (n_small_p > 0L) {
      pair_notes <- sprintf("%s and %s (%s times, expected %s, p %s)",
        printable(shown_pairs$rater1), printable(shown_pairs$rater2), number(shown_pairs$observed),
        number(round(shown_pairs$expected)), format_p(shown_pairs$p.value))
      paste0("Pairs that agree too often for this model: ", paste(pair_notes, collapse = "; "),
        if (n_small_p > 3L) "; more in tidy(what = \"pairs\")")
    } else if (nrow(pairs) > 0L) {
      sprintf("Pairs: none of %d agrees too often (smallest p %s)", nrow(pairs),
        format_p(pairs$p.value[[1L]]))
    },
    paste0(
      sprintf("Prediction: WAIC elpd %.1f (standard error %.1f, %.1f effective parameters); ",
        waic_row$elpd, waic_row$std.error, waic_row$parameters),
      if (is.na(loo_row$elpd)) "leave-one-out needs package loo" else
        sprintf("leave-one-out %.1f, Pareto k at most %.2f", loo_row$elpd, loo_row$worst_k),
      if (isTRUE(loo_row$worst_k > 0.7)) ", above 0.7: leave-one-out is unreliable"
    ),
    if (fit$prior$order == "each") untruncated_note,
    if (nrow(tables$sensitivity) > 0L) paste(
      "Columns of alternative priors: shift of the mean in posterior standard deviations; * above",
      max_shift
    )
  )
}

# Returns the reason why pattern_check() returns a table without a row.
why_no_patterns <- function(fit) {
  x <- fit$x
  is_used <- !is_known_pattern(fit)
  n_incomplete <- count_cases(x, is_used & rowSums(codes_of_single_ratings(x) == 0L) > 0L)
  if (is.null(all_answer_combinations(x))) return("More than 4096 rows are possible")
  if (n_incomplete == 0) return("The truth of all cases is known")
  incomplete_text <- paste(number(n_incomplete), "of", count_noun(count_cases(x, is_used), "case"))
  if (!has_single_ratings(x)) {
    return(paste("It needs one rating of every case by every rater, but this is not so for",
      incomplete_text))
  }
  paste0("It needs ratings of every case by all raters: ", incomplete_text,
    if (n_incomplete == 1) " lacks" else " lack", " ratings. Refit without them, see ?check_fit")
}

untruncated_note <- paste(
  "The printed priors ignore the constraint order = \"each\", which makes high accuracies more",
  "probable"
)

# ---- User-defined models as alternatives in check_k_properties() ---

# Converts argument `alternative` of check_k_properties() (a model, a list of models or NULL) to a
# named list of models without priors. If a model has no name in the list, its name is the result of
# format().
check_alternatives <- function(alternative, x) {
  if (inherits(alternative, "rater_model")) alternative <- list(alternative)
  is_valid <- is.null(alternative) ||
    is.list(alternative) && all(map_lgl(alternative, inherits, "rater_model"))
  abort_argument_if(!is_valid, "alternative",
    "must be a {.cls rater_model}, or a list of such models.",
    not = alternative)
  for (model in alternative) {
    check_method("likelihood", model, x, FALSE)
    abort_argument_if(uses_confidence(model), "alternative",
      "Models with {.code confidence = TRUE} cannot be among {.arg alternative}.",
      x = "Their likelihood includes the confidence of raters, so it cannot be compared with the
        likelihood of other models.")
  }
  names <- names2(alternative)
  names <- ifelse(names == "", map_chr(alternative, format), names)
  setNames(lapply(alternative, remove_prior), names)
}

# Removes the prior of a model, because the tests compare maximised likelihoods.
remove_prior <- function(model) replace(model, "prior", list(list()))

# Tests each model in `alternative` against a null model. Returns a list with a row per model, see
# k_row(). The statistic is twice the gain in log likelihood over the null model.
alternative_rows <- function(x, alternative, settings) {
  if (length(alternative) == 0L) return(list())
  model_row <- function(name, ...) k_row("alternative", paste0("likelihood ratio, ", name), ...)
  # Models are fitted to the ratings only, not to answers of systems.
  settings$system <- 0L
  # The null model has an accuracy for each rater or, if these are not identified, one accuracy.
  choices <- model_choices(c("rater", "common"), "uniform", "none")
  null_model <- first_identified_models(x, settings, choices)$null
  reason <- why_untestable(x) %||% if (is.null(null_model)) {
    "the null model has more parameters than can be estimated from these ratings"
  }
  if (!is.null(reason)) return(lapply(names(alternative), model_row, reason = reason))
  models <- c(list(remove_prior(null_model)), alternative)
  fit_models <- function(x) {
    without_warnings(lapply(models, fit_raters, x = x, method = "likelihood"))
  }
  compute_gains <- function(fits) {
    log_likelihoods <- vapply(fits, `[[`, 0, "log_likelihood", USE.NAMES = FALSE)
    2 * (log_likelihoods[-1L] - log_likelihoods[[1L]])
  }
  fits <- fit_models(x)
  observed_gains <- compute_gains(fits)
  bar <- progress_bar("Alternatives", settings$replicates)
  simulated_gains <- matrix(vapply(seq_len(settings$replicates), function(i) {
    bar$tick(i)
    compute_gains(fit_models(simulate(fits[[1L]])[[1L]]))
  }, observed_gains), length(alternative))
  Map(function(name, model, fit, gain, i) {
    if (is.na(gain)) {
      return(model_row(name, reason = reason_of_parameters(model, n_categories(x))))
    }
    model_row(
      name, models[[1L]], model, statistic = reported_statistic(gain, "ratio"),
      df = fit$parameters - fits[[1L]]$parameters, p_value = bootstrap_p(gain, simulated_gains[i, ])
    )
  }, names(alternative), alternative, fits[-1L], observed_gains, seq_along(alternative))
}

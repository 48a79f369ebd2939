# Checks of a Bayesian fit.

#' Checks of a Bayesian fit
#'
#' Checks a fit with posterior draws: convergence of the chains, posterior predictive checks,
#' predictive accuracy, information in the ratings beyond the priors, and sensitivity to the priors.
#'
#' @section Checks:
#' * *Convergence*: Rhat and effective sample size of each parameter.
#' * *Posterior predictive checks* compare the ratings with ratings simulated from the model with
#'   the parameters of each draw. The statistic of a pair of raters is the number of common cases in
#'   which they agree. Pearson's X2 compares the frequencies of rows of ratings with their expected
#'   values. It needs cases that all raters rated, and at most 4096 possible rows. A small p-value
#'   shows that two raters agree more often than the model allows, so that their errors are not
#'   independent given the truth. A large p-value does not show that errors are independent.
#' * *Prediction*: WAIC and leave-one-out cross-validation, both for one case left out. The latter
#'   needs package \pkg{loo}; `loo::loo(fit)` and `loo::waic(fit)` return the objects of that
#'   package.
#' * *Priors*: contraction from prior to posterior, and shifts of posterior means under other
#'   priors.
#'
#' @param fit A [fit_raters()] result with `method = "bayes"`.
#' @param priors Alternative priors for refits. Either positive powers, by default 0.5 and 2: each
#'   prior density is raised to this power (`Beta(a, b)` with power 0.5 is
#'   `Beta(1 + (a - 1) / 2, 1 + (b - 1) / 2)`). The prior of the panel's centre, which exists only
#'   with `others = "partial"` of [rater_prior()], stays the same. Or a named list of
#'   [rater_prior()]s; or `NULL` for no refits.
#' @return An object of class `fit_check` with `print()`, `plot()` and `glance()` (one row with the
#'   worst value of each table). `tidy(x, what)` returns the tables:
#' * `"terms"`, a row per parameter: `prior_mean`; `estimate`, the posterior mean; `contraction`,
#'   `1 - variance / prior variance`; `mostly_prior`, is the contraction below 0.3? `rhat`; `ess`,
#'   the effective sample size.
#' * `"sensitivity"`, a row per parameter and prior: `shift` of the posterior mean, in posterior
#'   standard deviations; `flagged`, is its absolute value above 0.3?
#' * `"pairs"`, a row per pair of raters: common `cases`; `observed`, the number of cases in which
#'   they agree; `expected`, the mean over simulated ratings; `low` and `high`, the ends of their
#'   middle 90%; `p.value`.
#' * `"patterns"`: the same columns for X2, from `observed` on.
#' * `"criteria"`, a row for `waic` and for `loo`: `elpd`, `std.error`, `parameters` (their
#'   effective number) and `worst_k` (the largest Pareto shape).
#' @family estimation
#' @seealso [compare_models()] for comparisons of models.
#' @references Gelman, A., Meng, X.-L. and Stern, H. (1996). Posterior predictive assessment of
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
#' tidy(checks, "pairs")
#' @export
check_fit <- function(fit, priors = c(0.5, 2)) {
  check_given()
  check_class(fit, "draws_fit", "fit", "Make one with {.code fit_raters(method = \"bayes\")}.")
  priors <- resolve_priors(priors, fit)
  laws <- laws_of_draws(fit, 400L)
  # Cases of known truth are not random draws from the base rates.
  weight <- replace(pattern_weights(fit$x), known_patterns(fit), 0)
  table <- tidy(fit)
  terms <- tibble::tibble(
    term = table$term, prior_mean = fit$terms$a / fit$terms$total, estimate = table$mean,
    contraction = table$contraction,
    mostly_prior = !is.na(contraction) & contraction < least_contraction,
    rhat = table$rhat, ess = pmin(table$ess_bulk, table$ess_tail)
  )
  drawn <- with_one_seed(list(
    pairs = pair_checks(fit, laws, weight), patterns = pattern_check(fit, laws, weight)
  ))
  new_fit_check(fit, c(
    list(terms = terms, sensitivity = prior_shifts(fit, priors)), drawn,
    list(criteria = criteria_of_fit(fit)$table)
  ))
}

# ---- New ratings --------------------------------------------------------------------------------

# A row with the observed value (the mean over draws if it depends on the draw) and the simulated
# values.
predictive_row <- function(values, new) {
  ends <- stats::quantile(new, c(0.05, 0.95), names = FALSE)
  tibble::tibble(observed = mean(values), expected = mean(new), low = ends[[1L]],
    high = ends[[2L]], p.value = mean(new >= values))
}

pair_checks <- function(fit, laws, weight) {
  x <- fit$x
  codes <- pattern_codes(x)
  n <- n_raters(x)
  check_pair_numbers(n, 8)
  population <- populations_in(fit$task, x)
  row <- function(a, b) {
    common <- weight * (codes[, a] > 0L & codes[, b] > 0L)
    cases <- rowsum_codes(population, common, nrow(laws[[1L]]$base_rates))
    if (sum(cases) == 0) return(NULL)
    # Probability that both raters agree, in each population.
    both <- matrix(0L, n_categories(x), n)
    both[, c(a, b)] <- seq_along(x$categories)
    agree <- vapply(laws, function(law) {
      drop(law$base_rates %*% colSums(codes_given_class(law, both, fit$model, x$raters)))
    }, cases)
    new <- colSums(matrix(stats::rbinom(length(agree), cases, pmin(agree, 1)), length(cases)))
    tibble::tibble(
      rater1 = x$raters[[a]], rater2 = x$raters[[b]], cases = sum(cases),
      predictive_row(sum(common * (codes[, a] == codes[, b])), new)
    )
  }
  none <- tibble::tibble(
    rater1 = character(), rater2 = character(), cases = double(), predictive_row(0, 0)[0L, ]
  )
  at <- which(lower.tri(diag(n)), arr.ind = TRUE)
  stack_rows(c(list(none), Map(row, at[, 2L], at[, 1L])))
}

# Pearson's X2 of rows of ratings and of simulated rows. No row if some cases lack ratings.
pattern_check <- function(fit, laws, weight) {
  x <- fit$x
  all <- all_codes(x)
  codes <- pattern_codes(x)
  if (is.null(all) || any(codes[weight > 0, ] == 0L) || sum(weight) == 0) {
    return(predictive_row(0, 0)[0L, ])
  }
  populations <- seq_len(nrow(laws[[1L]]$base_rates))
  population <- populations_in(fit$task, x)
  cell <- drop((codes - 1L) %*% n_categories(x)^(seq_len(ncol(codes)) - 1L)) + 1L
  counts <- vapply(populations, function(p) {
    rowsum_codes(cell, weight * (population == p), nrow(all))
  }, numeric(nrow(all)))
  pearson <- function(n, expected) sum(((n - expected)^2 / expected)[expected > 0])
  both <- vapply(laws, function(law) {
    share <- codes_given_class(law, all, fit$model, x$raters) %*% t(law$base_rates)
    expected <- share * rep(colSums(counts), each = nrow(all))
    new <- vapply(populations, function(p) {
      as.vector(stats::rmultinom(1L, sum(counts[, p]), share[, p]))
    }, numeric(nrow(all)))
    c(pearson(counts, expected), pearson(new, expected))
  }, c(0, 0))
  predictive_row(both[1L, ], both[2L, ])
}

# ---- Other priors -------------------------------------------------------------------------------

# A named list of priors in the form of resolve_prior().
resolve_priors <- function(priors, fit) {
  if (is.null(priors)) return(list())
  if (is.numeric(priors) && length(priors) > 0L && all(is.finite(priors) & priors > 0)) {
    return(lapply(setNames(priors, paste("power", priors)), raised_prior, prior = fit$prior))
  }
  ok <- is.list(priors) && !inherits(priors, "rater_prior") && rlang::is_named(priors) &&
    all(vapply(priors, inherits, NA, "rater_prior"))
  abort_argument_if(!ok, "priors",
    "must be positive powers, or a list of {.fun rater_prior} with names.", not = priors)
  lapply(priors, resolve_prior, x = fit$x, model = fit$model)
}

raised_prior <- function(prior, power) {
  raise <- function(a) {
    replace(a, TRUE, pmax(1 + power * (a - 1), least_parameter)) # NULL stays NULL
  }
  prior["raters"] <- list(lapply(prior$raters, raise))
  prior["system"] <- list(raise(prior$system))
  prior$base_rates <- raise(prior$base_rates)
  prior
}

# Shifts of posterior means under other priors, with the same random numbers.
prior_shifts <- function(fit, priors) {
  terms <- fit$terms$term
  means <- vapply(priors, function(prior) {
    refit <- fit_settled(fit$x, fit$model, fit$known, prior, fit$sampling, fit$seed)
    colMeans(refit$draws)[match(terms, refit$terms$term)]
  }, numeric(length(terms)))
  shift <- na_real(as.vector((means - colMeans(fit$draws)) / apply(fit$draws, 2L, stats::sd)))
  tibble::tibble(
    term = rep(terms, length(priors)),
    prior = rep(as.character(names(priors)), each = length(terms)),
    shift = shift, flagged = !is.na(shift) & abs(shift) > most_shift
  )
}

most_shift <- 0.3

# ---- Printed form -------------------------------------------------------------------------------

new_fit_check <- function(fit, x) {
  worst <- worst_mixing(fit)
  least <- function(p) if (length(p) > 0L) min(p) else NA_real_
  mostly <- sum(x$terms$mostly_prior)
  line <- sprintf("Rhat at most %s; %s of %d with p below .05; %s mostly prior",
    decimals(worst[[1L]]), count_noun(sum(x$pairs$p.value < 0.05), "pair"), nrow(x$pairs),
    count_noun(mostly, "parameter"))
  new_result("fit_check",
    fit = fit, tables = x,
    facts = list(
      worst_rhat = worst[[1L]], worst_ess = worst[[2L]], pairs = nrow(x$pairs),
      least_p = least(x$pairs$p.value), p_patterns = least(x$patterns$p.value),
      elpd = x$criteria$elpd[[1L]], worst_k = x$criteria$worst_k[[2L]], mostly_prior = mostly,
      sensitive = sum(x$sensitivity$flagged)
    ),
    line = line, head = paste0(format(fit$model), ", ", line),
    shown = view_of_terms(x, is_watched(fit$terms)), notes = fit_check_notes(fit, worst, x),
    more = "tidy(), plot(), compare_models()"
  )
}

view_of_terms <- function(x, watched) {
  terms <- x$terms[watched, ]
  out <- terms[c("term", "prior_mean", "estimate", "contraction")]
  for (name in unique(x$sensitivity$prior)) {
    shifts <- x$sensitivity[x$sensitivity$prior == name, ]
    shifts <- shifts[match(terms$term, shifts$term), ]
    out[[name]] <- paste0(decimals(shifts$shift, 2L), ifelse(shifts$flagged, "*", " "))
  }
  out$note <- ifelse(terms$mostly_prior, "mostly prior", "")
  headings <- c(parameter = "term", prior = "prior_mean", posterior = "estimate")
  view(out, c(headings, names(out)[-(1:3)]), most = 15L)
}

fit_check_notes <- function(fit, worst, x) {
  pairs <- x$pairs[order(x$pairs$p.value), ]
  odd <- sum(pairs$p.value < 0.05)
  first <- head(pairs, min(odd, 3L))
  waic <- x$criteria[1L, ]
  loo <- x$criteria[2L, ]
  c(
    paste0("Chains: ", mixing_words(fit), if (!has_mixed(worst)) {
      ": not mixed, ask for more draws"
    }),
    sprintf("Rows of ratings: X2 %.0f, of new ones %.0f, p %s", x$patterns$observed,
      x$patterns$expected, show_p(x$patterns$p.value)),
    if (odd > 0L) {
      words <- sprintf("%s and %s (%s times, expected %s, p %s)", printable(first$rater1),
        printable(first$rater2), number(first$observed), number(round(first$expected)),
        show_p(first$p.value))
      paste0("Pairs that agree too often for this model: ", paste(words, collapse = "; "),
        if (odd > 3L) "; more in tidy(\"pairs\")")
    } else if (nrow(pairs) > 0L) {
      sprintf("Pairs: none of %d agrees too often (smallest p %s)", nrow(pairs),
        show_p(pairs$p.value[[1L]]))
    },
    paste0(
      sprintf("Prediction: WAIC elpd %.1f (standard error %.1f, %.1f effective parameters); ",
        waic$elpd, waic$std.error, waic$parameters),
      if (is.na(loo$elpd)) "leave-one-out needs package loo" else
        sprintf("leave-one-out %.1f, Pareto k at most %.2f", loo$elpd, loo$worst_k),
      if (isTRUE(loo$worst_k > 0.7)) ": not to be trusted"
    ),
    if (nrow(x$sensitivity) > 0L) paste(
      "Columns of other priors: shift of the mean in posterior standard deviations; * above",
      most_shift
    )
  )
}

# User-defined models as alternatives in check_k_properties().

# A named list of models, from one model or a list.
check_alternatives <- function(alternative, x) {
  if (inherits(alternative, "rater_model")) alternative <- list(alternative)
  ok <- is.null(alternative) ||
    is.list(alternative) && all(vapply(alternative, inherits, NA, "rater_model"))
  abort_argument_if(!ok, "alternative", "must be a {.cls rater_model}, or a list of them.",
    not = alternative)
  for (model in alternative) {
    check_method("likelihood", model, x, FALSE)
    abort_argument_if(uses_confidence(model), "alternative",
      "Models with {.code confidence = TRUE} cannot be among {.arg alternative}.",
      x = "Their likelihood is of other data than that of models without.")
  }
  names <- names2(alternative)
  names <- ifelse(names == "", vapply(alternative, format, ""), names)
  setNames(lapply(alternative, without_prior), names)
}

# Drops the prior, since likelihoods are compared.
without_prior <- function(model) replace(model, "prior", list(list()))

# A row per model. The statistic is twice the gain in log likelihood over the model with equal
# errors and difficulty. This model has an accuracy for each rater if these are identified. Systems
# are left out.
alternative_rows <- function(x, alternative, settings) {
  if (length(alternative) == 0L) return(list())
  row <- function(name, ...) k_row("alternative", paste0("likelihood ratio, ", name), ...)
  settings$system <- 0L
  null <- first_identified(x, settings, axes(c("rater", "common"), "uniform", "none"))$null
  reason <- reason_untestable(x) %||% if (is.null(null)) {
    "the model without it has more parameters than these raters can distinguish"
  }
  if (!is.null(reason)) return(lapply(names(alternative), row, reason = reason))
  models <- c(list(without_prior(null)), alternative)
  fit_models <- function(x) {
    suppressWarnings(lapply(models, fit_raters, x = x, method = "likelihood"),
      classes = "fallible_warning")
  }
  gains <- function(fits) {
    likelihood <- vapply(fits, `[[`, 0, "log_likelihood", USE.NAMES = FALSE)
    2 * (likelihood[-1L] - likelihood[[1L]])
  }
  fits <- fit_models(x)
  observed <- gains(fits)
  bar <- progress_bar("Alternatives", settings$replicates)
  drawn <- vapply(seq_len(settings$replicates), function(i) {
    bar$tick(i)
    gains(fit_models(stats::simulate(fits[[1L]])[[1L]]))
  }, observed)
  bar$close()
  drawn <- matrix(drawn, length(alternative))
  Map(function(name, model, fit, gain, i) {
    if (is.na(gain)) {
      return(row(name, reason = reason_of_parameters(model, n_categories(x))))
    }
    row(
      name, models[[1L]], model, statistic = reported_statistic(gain, "ratio"),
      df = fit$parameters - fits[[1L]]$parameters, p_value = bootstrap_p(gain, drawn[i, ])
    )
  }, names(alternative), alternative, fits[-1L], observed, seq_along(alternative))
}

# Methods for fits of class draws_fit, which consist of draws from the posterior distribution.

#' Posterior draws
#'
#' Returns the posterior draws of base rates and of the raters' error rates, from a fit by `method =
#' "bayes"` of [fit_raters()].
#'
#' Package \pkg{posterior} also accepts the fit, for example in `posterior::as_draws_df(fit)`.
#'
#' @srrstats {BS5.0, BS5.1, BS5.2, BS5.3, BS5.5} the fit contains its ratings, prior, seed and
#'   diagnostics
#' @srrstats {BS6.0, BS6.4} print() and summary()
#' @param x A [fit_raters()] result with `method = "bayes"`.
#' @param ... Not used.
#' @return A tibble with a row per draw. The columns depend on the model. Columns from the fourth on
#'   are probabilities, except `nu`.
#'   * `.chain`: number of the chain; `.iteration`: number of the draw within its chain; `.draw`:
#'     number of the draw over all chains.
#'   * `base_rate[k]`: base rate (share of cases) of category k. If populations (groups of cases)
#'     have different base rates, the name is `base_rate[k,population]`; see [rater_model()].
#'   * `sens[rater]`, `spec[rater]`: sensitivity and specificity (probabilities of a correct rating
#'     of a case in the second and in the first category), for two categories.
#'   * `p[rater,truth,rating]`: probability of a rating given the true category, for more than two
#'     categories.
#'   * `right[rater]`: probability of a correct rating, in models in which all wrong categories are
#'     equally probable.
#'   * `mu[truth,rating]`, `nu[truth]`: mean over raters of `p`, and the precision (Dirichlet
#'     concentration) of the raters around it; only with `others = "partial"` in [rater_prior()].
#'   * `easy[k]`, `pair[a,b,k]`: parameters of correlated errors in models with `dependence`; see
#'     [rater_model()].
#'   * `accuracy[system]`: share of the fitted cases in which the answer of the system (a classifier
#'     to evaluate) is correct. The true categories are drawn given the ratings only, not given the
#'     answers of systems. Errors of systems and raters are assumed to be independent;
#'     [estimate_accuracy()] allows for correlated errors.
#'
#'   The rater is left out of a name if all raters have the same parameters.
#' @family models of raters
#' @examples
#' # Two tests of an infection, without a gold standard, and priors of their error rates
#' tests <- data.frame(
#'   stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35)
#' )
#' x <- ratings(tests, raters = stool:serology, weights = n, categories = c("-", "+"))
#' prior <- rater_prior(
#'   stool = list(sens = list(4.44, 13.31), spec = list(71.25, 3.75)),
#'   serology = list(sens = list(21.96, 5.49), spec = list(4.1, 1.76)), order = "none"
#' )
#' set.seed(1)
#' fit <- fit_raters(x, dawid_skene(), method = "bayes", prior = prior)
#' fit
#' all <- draws(fit)
#' # The probability that serology is the more sensitive test
#' mean(all[["sens[serology]"]] > all[["sens[stool]"]])
#' @export
draws <- function(x, ...) {
  check_call()
  check_draws_fit(x, "x")
  chains <- x$sampling$chains
  kept <- x$sampling$kept
  tibble::as_tibble(cbind(
    data.frame(
      .chain = rep(seq_len(chains), each = kept), .iteration = rep(seq_len(kept), chains),
      .draw = seq_len(chains * kept)
    ),
    x$draws, x$systems
  ))
}

# Raises an error if `fit` has no posterior draws. `arg`: name of the argument that contains the
# fit, for the message. `also`: a further hint, or NULL.
check_draws_fit <- function(fit, arg, also = NULL) {
  is_user_model <- inherits(fit, "rater_fit") && inherits(fit$model, user_models)
  check_class(fit, "draws_fit", arg, c(if (is_user_model) "Fits of user-defined models, such as
    {.fun rater_family}, have no posterior draws." else
    "It needs posterior draws, from {.code fit_raters(method = \"bayes\")}.", also))
}

# Classes of user-defined models, which are fitted in R.
user_models <- c("family_model", "own_model")

# Method for posterior::as_draws() and posterior::as_draws_df(), which use the columns `.chain`,
# `.iteration` and `.draw`.
#' @rawNamespace S3method(posterior::as_draws,draws_fit,as_draws_of_fit)
as_draws_of_fit <- function(x, ...) posterior::as_draws_df(draws(x))

#' @rawNamespace S3method(posterior::as_draws_df,draws_fit,as_draws_of_fit)
NULL

tidy_draws <- function(x, ..., conf_level = level_of(x)) {
  check_dots_empty(...)
  parameter_table(x, check_level(conf_level), diagnose_parameters(x$draws, x$sampling$chains))
}

# Returns the covariances of correct ratings by the raters of dependent pairs, with a row per pair
# and true category. They follow from joint_answer_probabilities().
tidy_covariances <- function(x, ..., conf_level = level_of(x)) {
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  pairs <- pair_indices(x$model, x$x$raters)
  cells <- expand.grid(truth = x$x$categories, pair = seq_len(ncol(pairs)))
  covariances <- vapply(parameters_of_draws(x, nrow(x$draws)), function(law) {
    p <- simplify2array(law$matrices)
    right <- function(j) p[cbind(as.integer(cells$truth), as.integer(cells$truth), j)]
    a <- right(pairs[1L, cells$pair])
    b <- right(pairs[2L, cells$pair])
    as.vector(law$shared) * (pmin(a, b) - a * b)
  }, numeric(nrow(cells)))
  columns_tibble(
    rater1 = x$x$raters[pairs[1L, cells$pair]], rater2 = x$x$raters[pairs[2L, cells$pair]],
    truth = as.character(cells$truth), !!!estimates_of_draws(t(covariances), conf_level)
  )
}

# Returns the median, standard deviation and interval of each column of `draws`.
estimates_of_draws <- function(draws, conf_level) {
  quantiles <- apply(draws, 2L, quantile, (1 + c(-1, 0, 1) * conf_level) / 2, names = FALSE)
  list(
    estimate = quantiles[2L, ], std.error = apply(draws, 2L, sd), conf.low = quantiles[1L, ],
    conf.high = quantiles[3L, ]
  )
}

# Returns the table of parameters for tidy(). `diagnostics`: a result of diagnose_parameters().
# `prior`: a result of compare_with_prior().
parameter_table <- function(fit, conf_level, diagnostics, prior = compare_with_prior(fit)) {
  draws <- unname(fit$draws)
  diagnostics <- as.data.frame(diagnostics)
  tibble::tibble(
    fit$terms[c("term", "rater", "truth", "rating", "population")],
    !!!estimates_of_draws(draws, conf_level), mean = colMeans(draws),
    diagnostics[c("mcse", "rhat", "ess_bulk", "ess_tail")],
    contraction = prior$contraction,
    reason = ifelse(is.na(diagnostics$rhat), "the same in all draws", NA_character_)
  )
}

# Returns the table of parameters that print() shows. It is computed when the model is fitted, so
# that printing is fast.
draws_to_print <- function(fit) {
  is_shown <- is_convergence_checked(fit$terms)
  fit$draws <- pick_columns(fit$draws, is_shown)
  fit$terms <- fit$terms[is_shown, ]
  level <- level_of(fit)
  prior <- compare_with_prior(fit)
  table <- parameter_table(fit, level, fit$diagnostics, prior)
  table$note <- prior_notes(prior)
  view(table, c(parameter = "term", "estimate", limit_columns, "note"), level = level)
}

covariance_of.draws_fit <- function(fit) { # nolint: object_name.
  list(
    covariance = if (ncol(fit$draws) <= 2000L) unname(cov(fit$draws)),
    variance = unname(apply(fit$draws, 2L, var))
  )
}

# Compares the posterior of each parameter with its prior Beta(a, total - a), see
# new_parameter_rows(). Returns a data frame with a row per parameter:
# * prior_mean
# * contraction: 1 - posterior variance / prior variance. It is about 0 if the ratings carry no
#   information about the parameter.
# * mostly_prior: is the contraction small, although the ratings do not contradict the prior?
# * conflict: do the ratings contradict the prior? See ?check_fit. NA if the draws are constant.
compare_with_prior <- function(fit) {
  terms <- fit$terms
  prior_mean <- terms$a / terms$total
  prior_variance <- bernoulli_variance(prior_mean) / (terms$total + 1)
  variance <- unname(apply(fit$draws, 2L, var))
  contraction <- 1 - variance / prior_variance
  has_small_contraction <- contraction < min_contraction
  # Squared shift of the mean, divided by the prior variance
  shift <- (unname(colMeans(fit$draws)) - prior_mean)^2 / prior_variance
  shift[variance == 0] <- NA
  conflict <- is_convergence_checked(terms) & terms$total > n_categories(fit$x) &
    shift > ifelse(has_small_contraction, 3 + contraction, 4 * contraction)
  mostly_prior <- has_small_contraction %in% TRUE & !conflict %in% TRUE
  data.frame(prior_mean, contraction, mostly_prior, conflict)
}

# Returns the printed notes of parameters. `prior`: a data frame with the columns of
# compare_with_prior().
prior_notes <- function(prior) {
  c("", "mostly prior", "prior conflict")[1L + prior$mostly_prior + 2L * prior$conflict %in% TRUE]
}

# Smallest contraction of estimates that depend more on the ratings than on the prior.
min_contraction <- 0.3

schema_of.draws_fit <- function(x) { # nolint: object_name.
  sampling <- x$sampling
  mixing <- worst_mixing(x)
  new_schema(
    tables = c(list(parameters = tidy_draws),
      if (dependence_type(x$model) == "pairs") list(covariances = tidy_covariances)),
    facts = c(facts_of_fit(x), list(
      draws = nrow(x$draws), chains = sampling$chains, thin = sampling$thin,
      worst_rhat = mixing$rhat, worst_ess = mixing$size, switched = x$switched
    )),
    line = line_of_fit(x),
    head = paste0(
      title_of_fit(x), "; ", count_noun(sampling$chains, "chain"), " of ",
      count_noun(sampling$kept, "draw"),
      if (sampling$thin > 1L) sprintf(", one of %s sweeps each", sampling$thin)
    ),
    shown = x$shown, summary = function(x) list(),
    notes = c(
      paste0("Estimates are posterior medians; base_rates() are means. ", format_mixing(x),
        if (x$switched == 0) "; no categories changed names"),
      if (n_categories(x$x) == 2L) paste0("Positive category (the second): ", x$x$categories[[2L]]),
      assumption_of(x)
    ),
    more = "tidy(), draws(), ground_truth(), test_accuracy(), plot()"
  )
}

# Returns sentences about the assumptions of the model, for print(). A further sentence warns about
# shared errors if raters are machines (language models or programs).
assumption_of <- function(fit) {
  if (!is.null(fit$calibrated)) {
    return(paste("Assumed:", calibration_assumption(fit),
      format_bias_sensitivity(fit, fit$x$categories[[2L]])))
  }
  c(
    sprintf("Assumed: raters err %s; errors that all raters share are taken for the truth.",
      independence_words(fit$model)),
    if (panel_kind(fit) == "machines" && !model_is_dependent(fit$model)) fill_template("Raters are
      %s, which share errors: in simulated panels of judges with shared errors 90%% intervals of
      such a fit covered 2.5%% of the accuracies of judges.", machine_kind_words(fit))
  )
}

# Returns the parameters of `n_draws` equally spaced draws: a list with a result of
# parameters_of_values() for each draw.
parameters_of_draws <- function(fit, n_draws) {
  rows <- unique(round(seq(1, nrow(fit$draws), length.out = n_draws)))
  lapply(rows, function(d) parameters_of_values(fit, fit$draws[d, ]))
}

# Returns TRUE for terms that are probabilities of ratings.
is_matrix_term <- function(term) grepl("^(right|sens|spec|p)\\b", term)

# Converts one draw of all parameters to a list. `values`: the draw, a vector in the order of
# `fit$terms`. The list contains:
# * base_rates: populations x categories
# * matrices: a list with the confusion matrix of each rater (true category x rating)
# * shared: parameters of correlated errors, see code_probabilities(); NULL if the model has none
parameters_of_values <- function(fit, values) {
  x <- fit$x
  terms <- fit$terms
  size <- n_categories(x)
  is_matrix <- is_matrix_term(terms$term)
  has_common_matrix <- all(is.na(terms$rater))
  known <- setNames(fit$known$raters, x$raters[seq_along(fit$known$raters)])
  matrices <- lapply(x$raters, function(rater) {
    if (!is.null(known[[rater]])) return(known[[rater]])
    p_right <- values[is_matrix & terms$rater %in% if (has_common_matrix) NA else rater]
    if (size > 2L && length(p_right) > 1L) return(matrix(p_right, size, byrow = TRUE))
    matrix_with_equal_errors(p_right, size)
  })
  shared <- values[is_dependence_term(terms$term)]
  list(
    base_rates = matrix(values[startsWith(terms$term, "base_rate")], ncol = size, byrow = TRUE),
    matrices = matrices, shared = if (!is_empty(shared)) matrix(shared, size)
  )
}

# Posterior probabilities of other ratings are means over draws. If all draws would take too long,
# at least 200 draws are used.
compute_posterior.draws_fit <- function(fit, x) { # nolint: object_name.
  has_dependent_errors <- model_is_dependent(fit$model)
  if (has_dependent_errors) {
    check_dependent_panel(fit$model, x)
    # A repeated rating is one more rating with the same confusion matrix.
    ratings <- all_pattern_codes(x)
  }
  population <- population_in_fit(fit, pattern_covariates(x))
  n_steps <- length(rating_rater(x)) * n_categories(x) + 100 * n_raters(x) # per draw
  n_draws <- min(nrow(fit$draws), max(200, 2e7 %/% n_steps))
  posteriors <- lapply(parameters_of_draws(fit, n_draws), function(law) {
    rates <- pick_rows(law$base_rates, population)
    if (!has_dependent_errors) return(posterior_of_matrices(rates, law$matrices, x))
    law$matrices <- law$matrices[ratings$rater]
    joint <- code_probabilities(law, ratings$codes, fit$model, x$raters) * rates
    joint / rowSums(joint)
  })
  Reduce(`+`, posteriors) / length(posteriors)
}

# Returns posterior probabilities of the categories (patterns x categories), if errors of raters are
# independent given the truth. `rates`: base rates of the population of each pattern (patterns x
# categories). `matrices`: a list with the confusion matrix of each rater.
posterior_of_matrices <- function(rates, matrices, x) {
  # Rows: rating categories of the first rater, then of the second, and so on. Columns: true
  # categories.
  log_probabilities <- log(stack_rows(matrices, t))
  row <- rating_category(x) + ncol(rates) * (rating_rater(x) - 1L)
  softmax(log(rates) +
    rowsum_rows(rating_pattern(x), pick_rows(log_probabilities, row), n_patterns(x)))
}

# Returns, for each row of `values` (a data frame of covariates), the index of its population: the
# row of `fit$populations`. Raises an error if a row belongs to no population of the fit.
population_in_fit <- function(fit, values) {
  table <- fit$populations
  lacking <- setdiff(names(table), names(values))
  abort_if(lacking, "columns", "{.arg newdata} must have the covariates of the fit.",
    x = "{.val {lacking}} {?is/are} missing.", arg = "newdata")
  population <- population_of(values, table)
  unknown <- unique(population_labels(values[names(table)])[is.na(population)])
  abort_argument_if(unknown, "newdata", "must contain only populations of the fit.",
    x = "{.val {unknown}} {?is/are} not among {.val {population_labels(table)}}.")
  population
}

# The base rates of cases are posterior means of the base rates of their populations.
rates_of_cases.draws_fit <- function(fit, data) { # nolint: object_name.
  pick_rows(
    parameters_of_values(fit, colMeans(fit$draws))$base_rates, population_in_fit(fit, data)
  )
}

# Computes measures of diagnostic tests, such as sensitivity, in each draw. Estimates are medians
# over draws, and limits of intervals are quantiles.
measure_tests.draws_fit <- function(fit, rates, both, conf_level, group) { # nolint: object_name.
  populations <- max(1L, nrow(fit$populations))
  weight <- if (is.null(group)) population_shares(fit$task, fit$x, populations) else
    as.double(seq_len(populations) == population_in_fit(fit, group))
  parameters <- parameters_of_draws(fit, nrow(fit$draws))
  base_rates <- vapply(parameters, function(law) drop(weight %*% law$base_rates), fit$base_rates)
  matrices <- vapply(parameters, function(law) {
    aperm(simplify2array(law$matrices), c(3L, 1L, 2L))
  }, fit$matrices)
  dim(matrices) <- dim(fit$matrices) * c(1, 1, length(parameters))
  # Probability that two raters both give the same answer (truth x answer x draws)
  joint <- if (!is_empty(both)) {
    codes <- matrix(0L, n_categories(fit$x), n_raters(fit$x))
    codes[, both] <- row_numbers(codes)
    vapply(parameters, function(law) t(code_probabilities(law, codes, fit$model, fit$x$raters)),
      matrix(0, nrow(codes), nrow(codes)))
  }
  measures <- back_transform(
    transformed_measures(add_combined_tests(matrices, both, joint), base_rates, rates)
  )
  apply_over_draws <- function(f, ...) apply(measures, c(1L, 3L, 4L), f, ...)
  quantiles <- function(level) apply_over_draws(quantile, level, na.rm = TRUE, names = FALSE)
  error <- apply_over_draws(sd)
  error[is_ratio_measure(dim(error))] <- NA # a few draws near the boundary would determine it
  list(value = quantiles(0.5), error = error, low = quantiles((1 - conf_level) / 2),
    high = quantiles((1 + conf_level) / 2))
}

warn_identified_fit.draws_fit <- function(fit) NULL # nolint: object_name.

# Returns a list of `rhat`, the largest Rhat, and `size`, the smallest effective sample size, of the
# parameters whose convergence is checked.
worst_mixing <- function(fit) {
  list(
    rhat = max(fit$diagnostics[, "rhat"], -Inf, na.rm = TRUE),
    size = min(fit$diagnostics[, c("ess_bulk", "ess_tail")], Inf, na.rm = TRUE)
  )
}

has_mixed <- function(mixing) mixing$rhat <= 1.01 && mixing$size >= 400

format_mixing <- function(fit) {
  mixing <- worst_mixing(fit)
  sprintf("Rhat at most %s, effective sample sizes at least %s", format_decimals(mixing$rhat),
    number(round(mixing$size)))
}

warn_mixing <- function(fit) {
  mixing <- worst_mixing(fit)
  warn_if(!has_mixed(mixing), "no_convergence",
    "Chains have not mixed: Rhat {format_decimals(mixing$rhat, 3L)}, effective sample size
        {round(mixing$size)}.",
    i = "Use more draws, by {.code sampling = list(draws = )}, or give stronger priors.")
  # If all raters have informative priors, the priors distinguish the categories.
  warn_if(fit$switched > 0.01 && !all(fit$x$raters %in% fit$named), "switched",
    "In {percent(fit$switched)} of the draws, categories have exchanged names (label switching).",
    i = "Use {.code order = \"mean\"} or {.val each} in {.fun rater_prior}, or priors that
        distinguish the categories.", categories = fit$x$categories)
  warn_if(fit$stuck > 0.01, "prior",
    "The priors contradict the constraint {.arg order} of {.fun rater_prior}.",
    i = "Use {.code order = \"none\"} in {.fun rater_prior}, or other priors.")
}

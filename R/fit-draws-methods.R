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
#'   * `.chain`: number of the chain. `.iteration`: number of the draw within its chain. `.draw`:
#'     number of the draw in all chains together.
#'   * `base_rate[k]`: base rate (share of cases) of category k. If populations (groups of cases)
#'     have different base rates, the name is `base_rate[k,population]`; see [rater_model()].
#'   * `sens[rater]`, `spec[rater]`: sensitivity and specificity (probabilities of a correct rating
#'     of a case in the second and in the first category), for two categories.
#'   * `p[rater,truth,rating]`: probability of a rating given the true category, for more than two
#'     categories.
#'   * `right[rater]`: probability of a correct rating, in models in which all wrong categories are
#'     equally probable.
#'   * `mu[truth,rating]`, `nu[truth]`: only with `others = "partial"` in [rater_prior()]. `mu` is
#'     the mean of `p` over raters. `nu` is the precision (Dirichlet concentration) of the raters'
#'     probabilities around this mean.
#'   * `easy[k]`, `pair[a,b,k]`: parameters of correlated errors in models with `dependence`; see
#'     [rater_model()].
#'   * `accuracy[system]`: share of the fitted cases in which the answer of the system (a classifier
#'     to evaluate) is correct. The true categories are drawn given the ratings only, not given the
#'     answers of systems. The share is the accuracy if the system errs where the raters err, called
#'     `shared` in [posterior_accuracy], and lower than the accuracy if errors are independent.
#'     [estimate_accuracy()] returns the accuracy for other degrees of shared errors.
#'
#'   If all raters have the same parameters, names do not contain the rater, as in `sens`.
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
#' posterior_draws <- draws(fit)
#' # Probability that serology is more sensitive than the stool test
#' mean(posterior_draws[["sens[serology]"]] > posterior_draws[["sens[stool]"]])
#' @export
draws <- function(x, ...) {
  check_call(dots = NULL)
  # Checks the fit first: if it has no draws, an error about an unknown argument would not help.
  if (inherits(x, "rater_fit")) check_draws_fit(x, "x")
  check_dots_empty(...)
  check_draws_fit(x, "x")
  n_chains <- x$sampling$chains
  draws_per_chain <- x$sampling$kept
  as_tibble(cbind(
    data.frame(
      .chain = rep(seq_len(n_chains), each = draws_per_chain),
      .iteration = rep(seq_len(draws_per_chain), n_chains),
      .draw = seq_len(n_chains * draws_per_chain)
    ),
    x$draws, x$systems
  ))
}

# Raises an error if `fit` has no posterior draws. `arg`: name of the argument that contains the
# fit, for the message. `further_hint`: a further hint, or NULL.
check_draws_fit <- function(fit, arg, further_hint = NULL) {
  is_user_model <- inherits(fit, "rater_fit") && inherits(fit$model, user_models)
  check_class(fit, "draws_fit", arg, c(if (is_user_model) "Fits of user-defined models, such as
    {.fun rater_family}, have no posterior draws." else
    "Posterior draws need a fit by {.code fit_raters(method = \"bayes\")}.", further_hint))
}

# Classes of user-defined models, which the compiled core does not fit.
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

# Returns a table with a row per pair of dependent raters and true category. The estimate is the
# covariance of two events, given the true category: the first rater is correct, and the second is
# correct. See joint_answer_probabilities().
tidy_covariances <- function(x, ..., conf_level = level_of(x)) {
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  pairs <- pair_indices(x$model, x$x$raters)
  cells <- expand.grid(truth = x$x$categories, pair = seq_len(ncol(pairs)))
  covariances <- vapply(parameters_of_draws(x, nrow(x$draws)), function(draw) {
    matrices <- simplify2array(draw$matrices) # truths x ratings x raters
    p_right_of <- function(j) matrices[cbind(as.integer(cells$truth), as.integer(cells$truth), j)]
    p_right_a <- p_right_of(pairs[1L, cells$pair])
    p_right_b <- p_right_of(pairs[2L, cells$pair])
    as.vector(draw$shared) * (pmin(p_right_a, p_right_b) - p_right_a * p_right_b)
  }, numeric(nrow(cells)))
  columns_tibble(
    rater1 = x$x$raters[pairs[1L, cells$pair]], rater2 = x$x$raters[pairs[2L, cells$pair]],
    truth = as.character(cells$truth), !!!estimates_of_draws(t(covariances), conf_level)
  )
}

# Returns a list of vectors: median, standard deviation and interval of each column of `draws`.
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
  tibble(
    fit$terms[c("term", "rater", "truth", "rating", "population")],
    !!!estimates_of_draws(draws, conf_level), mean = colMeans(draws),
    diagnostics[c("mcse", "rhat", "ess_bulk", "ess_tail")],
    contraction = prior$contraction,
    reason = ifelse(is.na(diagnostics$rhat), "the same in all draws", NA_character_)
  )
}

# Returns the table of parameters that print() shows. It is computed when the model is fitted, so
# that printing is fast.
printed_parameters <- function(fit) {
  is_shown <- is_convergence_checked(fit$terms)
  fit$draws <- pick_columns(fit$draws, is_shown)
  fit$terms <- fit$terms[is_shown, ]
  conf_level <- level_of(fit)
  prior_comparison <- compare_with_prior(fit)
  printed_table <- parameter_table(fit, conf_level, fit$diagnostics, prior_comparison)
  printed_table$note <- prior_notes(prior_comparison)
  view(printed_table, c(parameter = "term", "estimate", limit_columns, "note"), level = conf_level)
}

covariance_of.draws_fit <- function(fit) { # nolint: object_name.
  list(
    covariance = if (ncol(fit$draws) <= 2000L) unname(cov(fit$draws)),
    variance = unname(apply(fit$draws, 2L, var))
  )
}

# Compares the posterior distribution of each parameter with its prior Beta(a, total - a);
# new_parameter_rows() defines `a` and `total`. Returns a data frame with a row per parameter:
# * prior_mean: mean of the prior; NA if the parameter has no such prior
# * contraction: 1 - posterior variance / prior variance. It is about 0 if the posterior
#   distribution is as wide as the prior.
# * mostly_prior: TRUE if the contraction is below `min_contraction` and the ratings do not
#   contradict the prior
# * conflict: TRUE if the ratings contradict the prior; ?check_fit defines the condition. NA if the
#   draws are constant or there is no prior.
compare_with_prior <- function(fit) {
  terms <- fit$terms
  prior_mean <- terms$a / terms$total
  prior_variance <- bernoulli_variance(prior_mean) / (terms$total + 1)
  posterior_variance <- unname(apply(fit$draws, 2L, var))
  contraction <- 1 - posterior_variance / prior_variance
  has_small_contraction <- contraction < min_contraction
  # Squared difference of posterior and prior mean, divided by the prior variance
  squared_shift <- (unname(colMeans(fit$draws)) - prior_mean)^2 / prior_variance
  squared_shift[posterior_variance == 0] <- NA
  has_prior_conflict <- is_convergence_checked(terms) & terms$total > n_categories(fit$x) &
    squared_shift > ifelse(has_small_contraction, 3 + contraction, 4 * contraction)
  is_mostly_prior <- has_small_contraction %in% TRUE & !has_prior_conflict %in% TRUE
  data.frame(prior_mean, contraction, mostly_prior = is_mostly_prior, conflict = has_prior_conflict)
}

# Returns the note that print() shows for each parameter, "" for none. `prior`: a data frame with
# the columns of compare_with_prior().
prior_notes <- function(prior) {
  c("", "mostly prior", "prior conflict")[1L + prior$mostly_prior + 2L * prior$conflict %in% TRUE]
}

# Limit of the contraction (see compare_with_prior()). An estimate with a smaller contraction gets
# the note "mostly prior", unless the ratings contradict the prior.
min_contraction <- 0.3

schema_of.draws_fit <- function(x) { # nolint: object_name.
  sampling <- x$sampling
  mixing <- worst_mixing(x)
  new_schema(
    tables = c(list(parameters = tidy_draws),
      if (dependence_type(x$model) == "pairs") list(covariances = tidy_covariances)),
    facts = c(statistics_of_fit(x), list(
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
        if (x$switched == 0) "; no label switching"),
      if (n_categories(x$x) == 2L) paste0("Positive category (the second): ", x$x$categories[[2L]]),
      assumption_sentences(x)
    ),
    more = "tidy(), draws(), ground_truth(), test_accuracy(), plot()"
  )
}

# Returns sentences about the assumptions of the model, for print(). If raters are machines
# (language models or programs), a further sentence warns about shared errors.
assumption_sentences <- function(fit) {
  if (!is.null(fit$calibrated)) {
    return(paste("Assumed:", calibration_assumption(fit),
      format_bias_sensitivity(fit, fit$x$categories[[2L]])))
  }
  c(
    sprintf("Assumed: raters err %s; errors that all raters share are taken for the truth.",
      independence_words(fit$model)),
    if (panel_kind(fit) == "machines" && !model_is_dependent(fit$model)) fill_template("Raters are
      %s, which often make the same errors. In simulated panels of such raters, 90%% intervals of
      this model covered only 2.5%% of the true accuracies of raters.", machine_kind_text(fit))
  )
}

# Returns the parameters of `n_draws` equally spaced draws. The result is a list with a result of
# parameters_of_values() per draw.
parameters_of_draws <- function(fit, n_draws) {
  draw_numbers <- unique(round(seq(1, nrow(fit$draws), length.out = n_draws)))
  lapply(draw_numbers, function(d) parameters_of_values(fit, fit$draws[d, ]))
}

# Returns TRUE for names of parameters that are probabilities of ratings.
is_matrix_term <- function(term) grepl("^(right|sens|spec|p)\\b", term)

# Converts one draw of all parameters to a list. `values`: the draw, a vector in the order of
# `fit$terms`. The list contains:
# * base_rates: a matrix (populations x categories)
# * matrices: a list with the confusion matrix of each rater (true category x rating)
# * shared: parameters of correlated errors, see code_probabilities(); NULL if the model has none
parameters_of_values <- function(fit, values) {
  x <- fit$x
  terms <- fit$terms
  n <- n_categories(x)
  is_matrix_parameter <- is_matrix_term(terms$term)
  has_common_matrix <- all(is.na(terms$rater))
  known_matrices <- setNames(fit$known$raters, x$raters[seq_along(fit$known$raters)])
  matrices <- lapply(x$raters, function(rater) {
    if (!is.null(known_matrices[[rater]])) return(known_matrices[[rater]])
    p_right <- values[is_matrix_parameter & terms$rater %in% if (has_common_matrix) NA else rater]
    if (n > 2L && length(p_right) > 1L) return(matrix(p_right, n, byrow = TRUE))
    matrix_with_equal_errors(p_right, n)
  })
  dependence_values <- values[is_dependence_term(terms$term)]
  list(
    base_rates = matrix(values[startsWith(terms$term, "base_rate")], ncol = n, byrow = TRUE),
    matrices = matrices, shared = if (!is_empty(dependence_values)) matrix(dependence_values, n)
  )
}

# Returns posterior probabilities of true categories for the ratings `x`, averaged over draws.
compute_posterior.draws_fit <- function(fit, x) { # nolint: object_name.
  has_dependent_errors <- model_is_dependent(fit$model)
  if (has_dependent_errors) {
    check_dependent_panel(fit$model, x)
    pattern_codes <- pattern_codes_with_repeats(x)
  }
  population <- population_in_fit(fit, pattern_covariates(x))
  n_steps <- length(rating_rater(x)) * n_categories(x) + 100 * n_raters(x) # per draw
  # To save time, only some of the draws are used if `x` is large, but at least 200.
  n_draws <- min(nrow(fit$draws), max(200, 2e7 %/% n_steps))
  posterior_by_draw <- lapply(parameters_of_draws(fit, n_draws), function(draw) {
    rates <- pick_rows(draw$base_rates, population)
    if (!has_dependent_errors) return(posterior_of_matrices(rates, draw$matrices, x))
    # A rater who rated a case twice is treated as two raters with the same confusion matrix.
    draw$matrices <- draw$matrices[pattern_codes$rater]
    joint_probability <- code_probabilities(draw, pattern_codes$codes, fit$model, x$raters) * rates
    joint_probability / rowSums(joint_probability)
  })
  Reduce(`+`, posterior_by_draw) / length(posterior_by_draw)
}

# Returns posterior probabilities of the categories (patterns x categories), if errors of raters are
# independent given the truth. `rates`: base rates of the population of each pattern (patterns x
# categories). `matrices`: a list with the confusion matrix of each rater.
posterior_of_matrices <- function(rates, matrices, x) {
  # Matrix with a row per rater and rating (all ratings of the first rater come first) and a column
  # per true category.
  log_probabilities <- log(stack_rows(matrices, t))
  cell_row <- rating_category(x) + ncol(rates) * (rating_rater(x) - 1L)
  softmax(log(rates) +
    rowsum_rows(rating_pattern(x), pick_rows(log_probabilities, cell_row), n_patterns(x)))
}

# Returns, for each row of a data frame of covariates, the index of its population: the row of
# `fit$populations` with the same values. Raises an error if there is no such population in the fit.
population_in_fit <- function(fit, covariates) {
  table <- fit$populations
  missing_covariates <- setdiff(names(table), names(covariates))
  abort_if(missing_covariates, "columns", "{.arg newdata} must have the covariates of the fit.",
    x = "{.val {missing_covariates}} {?is/are} missing.", arg = "newdata")
  population <- population_of(covariates, table)
  unknown_labels <- unique(population_labels(covariates[names(table)])[is.na(population)])
  abort_argument_if(unknown_labels, "newdata",
    "must contain only populations of the fit (combinations of covariates).",
    x = "{.val {unknown_labels}} {?is/are} not among {.val {population_labels(table)}}.")
  population
}

# The base rates of a case are the posterior means of the base rates of its population.
rates_of_cases.draws_fit <- function(fit, data) { # nolint: object_name.
  pick_rows(
    parameters_of_values(fit, colMeans(fit$draws))$base_rates, population_in_fit(fit, data)
  )
}

# Computes measures of diagnostic tests, such as sensitivity, in each draw. Estimates are medians
# over draws, and limits of intervals are quantiles of draws.
measure_tests.draws_fit <- function(fit, rates, both, conf_level, group) { # nolint: object_name.
  n_populations <- max(1L, nrow(fit$populations))
  weight <- if (is.null(group)) population_shares(fit$task, fit$x, n_populations) else
    as.double(seq_len(n_populations) == population_in_fit(fit, group))
  parameters <- parameters_of_draws(fit, nrow(fit$draws))
  base_rates <- vapply(parameters, function(draw) drop(weight %*% draw$base_rates), fit$base_rates)
  matrices <- vapply(parameters, function(draw) {
    aperm(simplify2array(draw$matrices), c(3L, 1L, 2L))
  }, fit$matrices)
  dim(matrices) <- dim(fit$matrices) * c(1, 1, length(parameters))
  # Probability that two raters both give the same answer (truth x answer x draws)
  joint_probability <- if (!is_empty(both)) {
    same_answer_patterns <- matrix(0L, n_categories(fit$x), n_raters(fit$x))
    same_answer_patterns[, both] <- row_numbers(same_answer_patterns)
    vapply(parameters, function(draw) {
      t(code_probabilities(draw, same_answer_patterns, fit$model, fit$x$raters))
    }, matrix(0, nrow(same_answer_patterns), nrow(same_answer_patterns)))
  }
  measures <- back_transform(
    transformed_measures(add_combined_tests(matrices, both, joint_probability), base_rates, rates)
  )
  apply_over_draws <- function(f, ...) apply(measures, c(1L, 3L, 4L), f, ...)
  get_quantiles <- function(level) apply_over_draws(quantile, level, na.rm = TRUE, names = FALSE)
  standard_error <- apply_over_draws(sd)
  # Standard errors of ratios are left out: they would depend on a few draws near the boundary.
  standard_error[is_ratio_measure(dim(standard_error))] <- NA
  list(value = get_quantiles(0.5), error = standard_error,
    low = get_quantiles((1 - conf_level) / 2), high = get_quantiles((1 + conf_level) / 2))
}

warn_identified_fit.draws_fit <- function(fit) NULL # nolint: object_name.

# Returns a list of `rhat`, the largest Rhat, and `size`, the smallest effective sample size. Both
# are computed over all parameters whose convergence is checked.
worst_mixing <- function(fit) {
  list(
    rhat = max(fit$diagnostics[, "rhat"], -Inf, na.rm = TRUE),
    size = min(fit$diagnostics[, c("ess_bulk", "ess_tail")], Inf, na.rm = TRUE)
  )
}

is_sufficient_mixing <- function(mixing) mixing$rhat <= 1.01 && mixing$size >= 400

format_mixing <- function(fit) {
  mixing <- worst_mixing(fit)
  sprintf("Rhat at most %s, effective sample sizes at least %s", format_decimals(mixing$rhat),
    number(round(mixing$size)))
}

warn_mixing <- function(fit) {
  mixing <- worst_mixing(fit)
  warn_if(!is_sufficient_mixing(mixing), "no_convergence",
    "The chains have not converged: the largest Rhat is {format_decimals(mixing$rhat, 3L)}, and the
        smallest effective sample size is {round(mixing$size)}.",
    i = "Use more draws, by {.code sampling = list(draws = )}, or give stronger priors.")
  # There is no warning if all raters have priors from the user, because these priors distinguish
  # the categories.
  warn_if(fit$switched > 0.01 && !all(fit$x$raters %in% fit$named), "switched",
    "In {percent(fit$switched)} of the draws, categories have exchanged names (label switching).",
    i = "Use {.code order = \"mean\"} or {.val each} in {.fun rater_prior}, or priors that
        distinguish the categories.", categories = fit$x$categories)
  warn_if(fit$stuck > 0.01, "prior",
    "The priors contradict the constraint that is set by {.arg order} in {.fun rater_prior}.",
    i = "Use {.code order = \"none\"} in {.fun rater_prior}, or other priors.")
}

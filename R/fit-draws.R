# Bayesian fits of latent class models. Folder src/core/posterior contains the sampler.

#' @srrstats {BS2.6, BS2.9} draws, chains and warmup have limits; each chain has a separate random
#'   stream
#' @srrstats {BS4.0, BS4.3, BS4.4, BS4.5} Gibbs sampling continues until effective sample sizes
#'   suffice; otherwise the fit warns
#' @srrstatsNA {BS1.3a, BS2.7, BS2.8, BS2.11} the sampler chooses the starting values of chains
#' @srrstatsNA {BS2.10} one seed determines the different random streams of all chains
#' @srrstatsNA {BS3.1, BS3.2, UL2.3} there are no regressors that could be collinear
#' @noRd
NULL

# Fits the model by draws from the posterior distribution, and returns the fit. `checked`: a result
# of resolve_known(), which contains the ratings, known truths of cases and known error rates of
# raters. `prior`, `sampling`: arguments of fit_raters(). In addition to the fields of all fits (see
# new_rater_fit()), the fit has these fields:
# * draws: a matrix with a column per parameter, whose rows are ordered by chain
# * terms: a data frame with a row per parameter, see new_parameter_rows()
# * diagnostics: convergence diagnostics of parameters, see is_convergence_checked()
# * systems: draws of the share of correct answers of each system
# * prior: parameters of the priors, see resolve_prior()
# * sampling: numbers of chains and of draws
# * switched: share of the draws in which categories have exchanged names (label switching)
# * task, seed: arguments of the sampler, from which the same draws can be computed again
fit_draws <- function(model, checked, prior, sampling) {
  x <- checked$x
  check_bayes_model(model, x)
  sampling <- check_sampling(sampling)
  prior <- prior %||% rater_prior()
  raters_with_prior <- names(prior$raters)
  prior_fields <- unlist(lapply(c(prior$raters, list(prior$others), prior$base_rates), names))
  if (any(c("sens", "spec", "beta") %in% prior_fields) && n_categories(x) == 2L)
    name_positive_category(x)
  prior <- resolve_prior(prior, x, model)
  check_prior_identifies(raters_with_prior, prior, model, checked)
  is_dependent <- model_is_dependent(model)
  dependence_rank <- if (is_dependent) check_dependence_identified(x, model, nrow(prior$base_rates),
    raters_with_prior)
  fit <- fit_draws_unchecked(x, model, checked$known, prior, sampling, draw_seed())
  fit$learnable <- dependence_rank
  fit$named <- raters_with_prior
  warn_mixing(fit)
  warn_prior_conflict(fit)
  if (is_dependent) warn_dependence(fit)
  fit
}

# Raises an error if the sampler does not support the model. The sampler needs uniform or free
# errors, cases of equal difficulty, no levels of confidence, and no numeric covariates. Weights of
# cases must be counts.
check_bayes_model <- function(model, x) {
  is_supported <- model$errors %in% c("uniform", "free") && model$difficulty == "none" &&
    !uses_confidence(model)
  abort_argument_if(!is_supported, "model",
    "{.code method = \"bayes\"} needs a model with {.code errors = \"uniform\"} or {.val free},
        {.code difficulty = \"none\"} and {.code confidence = FALSE}.",
    x = "{.arg model} is {.val {format(model)}}.",
    i = "Choose another model, or {.code method = \"likelihood\"}.")
  formula_design(model$base_rates %||% ~1, pattern_covariates(x))
  numeric_covariate_names <- numeric_covariates(model, x)
  abort_argument_if(numeric_covariate_names, "model",
    "With {.code method = \"bayes\"}, the covariates of a formula must be factors, strings or
        logicals: each combination of their values is a population.",
    x = "{.val {numeric_covariate_names}} {?is/are} numeric.",
    i = "Write {.code factor({numeric_covariate_names[[1L]]})} in the formula. Or cut numbers into
      classes with {.fun cut} before {.fun ratings}, or use {.code method = \"likelihood\"}.")
  if (model_is_dependent(model)) check_dependent_panel(model, x)
  abort_if(!weights_are_counts(x), "weights",
    "{.code method = \"bayes\"} needs {.arg weights} that are whole numbers (counts of cases).",
    i = "Use {.code method = \"likelihood\"}.", row = which(x$weights != round(x$weights)))
}

# Checks argument `sampling` of fit_raters(). A sweep is one update of all parameters. Returns a
# list:
# * chains, threads: numbers of chains and of threads
# * kept: number of draws per chain, after warmup and thinning
# * warmup: number of sweeps at the start of a chain that are discarded
# * thin: number of sweeps per draw; NULL to choose it automatically
check_sampling <- function(sampling) {
  settings <- check_settings_list(sampling, "sampling",
    c("draws", "chains", "warmup", "thin", "threads"))
  check_setting <- function(name, default, least, most) {
    check_count(settings[[name]] %||% default, name, least, most)
  }
  n_chains <- check_setting("chains", 4L, 1L, 1000L)
  list(
    chains = n_chains,
    kept = as.integer(ceiling(check_setting("draws", 4000L, 4L * n_chains, 1e7) / n_chains)),
    warmup = check_setting("warmup", 1000L, 0L, 1e7),
    thin = if (!is.null(settings$thin)) check_setting("thin", 1L, 1L, 1e6),
    threads = check_threads(settings$threads %||% default_threads())
  )
}

# Raises an error if the ratings do not identify the parameters (two raters in one population),
# unless the user gave priors for all raters. Also raises errors if the model does not support known
# raters or the prior. `raters_with_prior`: names of the raters for whom the user gave a prior.
# `prior`: a result of resolve_prior().
check_prior_identifies <- function(raters_with_prior, prior, model, checked) {
  x <- checked$x
  is_identified <- n_distinct(rating_rater(x)) + 2 * (nrow(prior$base_rates) > 1L) >= 3 ||
    has_counts(x) || model$accuracy == "common" || has_known_values(checked$known)
  has_known_rater <- any(lengths(checked$known$raters) > 0L, lengths(checked$known$counts) > 0L)
  abort_argument_if(has_known_rater && model$accuracy == "common", "known_raters",
    "With {.code method = \"bayes\"}, {.arg known_raters} needs a model in which raters differ.",
    i = "Choose {.code rater_model(\"rater\")} or {.fun dawid_skene}.")
  abort_if(prior$others == "partial" && (model$errors == "uniform" || model_is_dependent(model)),
    "prior", "{.code others = \"partial\"} needs a model with {.code errors = \"free\"} and
        {.code dependence = \"none\"}.",
    i = "Use {.code others = \"vague\"} or {.val flat} in {.fun rater_prior}.")
  abort_if(!is_identified && !all(x$raters %in% raters_with_prior), "prior",
    "The ratings of two raters in one population do not identify accuracies. Their posterior would
        depend only on the prior.",
    i = "Give priors for both raters with {.fun rater_prior}. Or use more raters, more populations
        with different base rates, or known truths.")
}

# Returns the arguments of the sampler in the core, a list:
# * prior: a list of the parameters of the priors, the known confusion matrices, and settings such
#   as the type of dependence
# * truth: known true category of each pattern of ratings, 0 if unknown
# * population: index of the population of each pattern
# * terms: a data frame with a row per reported parameter, see new_parameter_rows()
sampler_task <- function(x, model, known, prior) {
  has_common_matrix <- model$accuracy == "common"
  matrix_number <- if (has_common_matrix) rep(1L, n_raters(x)) else seq_along(x$raters)
  distinct_matrices <- unique(matrix_number)
  n <- n_categories(x)
  prior_rows <- lapply(distinct_matrices, function(j) {
    prior_counts <- prior$raters[[j]] %||% default_prior_parameters("vague", n, FALSE)
    prior_counts + (known$counts[[j]] %||% 0)
  })
  system_prior <- prior$system %||%
    default_prior_parameters("vague", n, model$errors == "uniform")
  is_pooled_prior <- prior$others == "partial" && !has_common_matrix
  list(
    prior = list(
      matrix_of = matrix_number, rows = prior_rows, fixed = known$raters[distinct_matrices],
      system = rep(list(system_prior), n_systems(x)), base_rates = unname(prior$base_rates),
      pooled = is_pooled_prior, raters = n_raters(x), order = prior$order,
      dependence = dependence_type(model), pairs = pair_indices(model, x$raters)
    ),
    truth = known$truth,
    population = population_of(pattern_covariates(x), population_table(model, x)),
    terms = parameter_rows(
      x, if (has_common_matrix) NA_character_ else x$raters, prior_rows, prior, is_pooled_prior,
      model
    )
  )
}

# Names of the elements of `sampling` (see check_sampling()) that are arguments of the core's
# sampler.
sampler_option_names <- c("chains", "kept", "warmup", "threads")

# Runs the sampler in the core and returns its draws, a list. Arguments:
# * task: a result of sampler_task()
# * options: a list with elements `thin`, `seed`, and those that `sampler_option_names` names
# * log_likelihood: should log likelihoods be computed?
# * joined: are systems fitted like raters? If FALSE, answers of systems do not affect the draws of
#   other parameters.
# * tick: function that updates the progress bar
run_sampler <- function(x, task, options, log_likelihood = FALSE, joined = FALSE, tick = no_tick) {
  core_draw_posterior(
    x$patterns, pattern_weights(x), task$truth, task$population, joined, task$prior,
    c(options, list(log_likelihood = log_likelihood)), tick
  )
}

# Largest number of elementary computing steps of a run of the sampler. `thin` is not increased if a
# run would need more steps.
max_sampling_steps <- 5e9
# Sampling stops at this effective sample size, or at half the number of draws if that is less.
sufficient_sample_size <- 1000

# Runs the sampler and returns its draws with convergence diagnostics. If the user did not set
# `thin` (sweeps per draw), repeats the run with a larger `thin` until the effective sample sizes
# suffice, or until the next run would take too long.
draw_until_mixed <- function(x, task, sampling, seed) {
  steps_per_sweep <- length(rating_rater(x)) * n_categories(x) + length(task$terms$term)
  # With correlated errors, each update of a parameter computes the likelihood about six times.
  if (task$prior$dependence != "none") steps_per_sweep <- 6 * steps_per_sweep *
    length(task$terms$term)
  tick <- progress_bar("Chains", sampling$chains)$tick
  thin <- sampling$thin %||% 1L
  required_sample_size <- min(sufficient_sample_size, sampling$chains * sampling$kept / 2)
  repeat {
    sampler_output <- run_sampler(x, task,
      c(sampling[sampler_option_names], list(thin = thin, seed = seed)), tick = tick)
    sampler_output$thin <- thin
    sampler_output$named_draws <- named_draws(sampler_output$draws, task$terms)
    sampler_output$diagnostics <- diagnose_parameters(
      pick_columns(sampler_output$named_draws, is_convergence_checked(task$terms)), sampling$chains
    )
    smallest_sample_size <- worst_mixing(sampler_output)$size
    # The next run would multiply `thin` by `thin_factor`, a power of 2. Effective sample sizes are
    # assumed to increase in proportion to `thin`.
    thin_factor <- 2^max(1, ceiling(log2(required_sample_size / smallest_sample_size)))
    n_sweeps <- sampling$chains * (sampling$warmup + thin_factor * thin * sampling$kept)
    is_done <- !is.null(sampling$thin) || smallest_sample_size >= required_sample_size ||
      thin_factor * thin > 1024 ||
      n_sweeps * steps_per_sweep > max_sampling_steps
    if (is_done) return(sampler_output)
    thin <- as.integer(thin_factor * thin)
  }
}

# Returns TRUE for parameters whose convergence is checked: all parameters except probabilities of
# wrong ratings. `terms`: a data frame of new_parameter_rows().
is_convergence_checked <- function(terms) {
  is.na(terms$rating) | is.na(terms$truth) | terms$rating == terms$truth
}

# ---- Parameters ---------------------------------------------------------------------------------

# Returns a data frame with a row per reported parameter. Columns:
# * term: name of the parameter
# * rater, truth, rating, population: the rater, true category, rating and population to which the
#   parameter belongs; NA if it has none
# * place: index of the column of the core's draws that contains the parameter
# * a: parameter of the Dirichlet prior of this probability
# * total: sum of all parameters of this Dirichlet prior
new_parameter_rows <- function(term, place, rater = NA_character_, truth = NA_character_,
                      rating = NA_character_, population = NA_character_, a = NA_real_,
                      total = NA_real_) {
  data.frame(term, rater, truth, rating, population, place, a, total)
}

# Returns a data frame with a row per reported parameter, see new_parameter_rows(). Arguments:
# * raters: names of raters, NA if all raters have the same confusion matrix
# * rows: a list with the Dirichlet parameters of the prior of each confusion matrix
# * pooled: does the prior pool the raters' matrices?
parameter_rows <- function(x, raters, rows, prior, pooled, model) {
  n <- n_categories(x)
  rate_parameters <- prior$base_rates
  population <- rep(rownames(rate_parameters) %||% NA_character_, each = n)
  truth <- rep(x$categories, nrow(rate_parameters))
  population_suffix <- ifelse(is.na(population), "", paste0(",", population))
  n_columns_before <- length(rate_parameters) + (seq_along(raters) - 1L) * n^2
  matrix_rows <- stack_rows(
    unname(Map(matrix_parameter_rows, raters, rows, n_columns_before, list(x)))
  )
  if (pooled) matrix_rows[c("a", "total")] <- NA_real_
  # Counts also the confusion matrices of systems. They are among the draws, but are not reported.
  n_columns_before <- length(rate_parameters) + (length(raters) + n_systems(x)) * n^2
  rbind(
    new_parameter_rows(
      sprintf("base_rate[%s%s]", truth, population_suffix), seq_along(rate_parameters),
      truth = truth, population = population, a = as.vector(t(rate_parameters)),
      total = rep(rowSums(rate_parameters), each = n)
    ),
    matrix_rows, if (pooled) {
      # Mean rows of the raters' matrices (`mu`), and precisions of the matrices around them (`nu`)
      cells <- expand.grid(rating = x$categories, truth = x$categories, stringsAsFactors = FALSE)
      terms <- c(
        sprintf("nu[%s]", x$categories), sprintf("mu[%s,%s]", cells$truth, cells$rating)
      )
      new_parameter_rows(terms, n_columns_before + seq_along(terms),
        truth = c(x$categories, cells$truth),
        rating = c(rep(NA_character_, n), cells$rating))
    },
    dependence_parameter_rows(x, model, n_columns_before)
  )
}

# Returns the rows of new_parameter_rows() for one confusion matrix. `rows`: Dirichlet parameters of
# its prior, a matrix (true category x rating). If errors are uniform, `rows` contains two Beta
# parameters, for correct and for wrong ratings. `n_columns_before`: number of columns that precede
# the matrix in the core's draws.
matrix_parameter_rows <- function(rater, rows, n_columns_before, x) {
  n <- n_categories(x)
  rater_suffix <- if (is.na(rater)) "" else sprintf("[%s]", rater)
  new_row <- function(term, place, a, total, truth = NA_character_, rating = truth) {
    new_parameter_rows(term, n_columns_before + place, rater, truth, rating, a = a, total = total)
  }
  if (!is.matrix(rows)) return(new_row(paste0("right", rater_suffix), 1, rows[[1L]], sum(rows)))
  if (n == 2L) {
    terms <- paste0(c("spec", "sens"), rater_suffix)
    return(new_row(terms, c(1, 4), diag(rows), rowSums(rows), x$categories))
  }
  # Cells of the confusion matrix, in the order of its rows
  cells <- expand.grid(rating = x$categories, truth = x$categories, stringsAsFactors = FALSE)
  terms <- paste0("p[", if (!is.na(rater)) paste0(rater, ","), cells$truth, ",", cells$rating, "]")
  new_row(terms, seq_len(n^2), as.vector(t(rows)), rep(rowSums(rows), each = n),
    cells$truth, cells$rating)
}

# Returns the draws of the reported parameters, a matrix (draws x parameters) with names of columns.
named_draws <- function(draws, terms) {
  reported_draws <- pick_columns(draws, terms$place)
  colnames(reported_draws) <- terms$term
  reported_draws
}

# ---- The fit ------------------------------------------------------------------------------------

# Draws from the posterior and returns the fit, see fit_draws(). All arguments have been checked.
fit_draws_unchecked <- function(x, model, known, prior, sampling, seed) {
  task <- sampler_task(x, model, known, prior)
  # The factor 3 counts copies of the draws: in the core, in this function, and in the result.
  check_memory(
    3 * as.double(sampling$kept) * sampling$chains * length(task$terms$term), "numbers of draws",
    "Use fewer draws, by {.code sampling = list(draws = )}."
  )
  sampler_output <- draw_until_mixed(x, task, sampling, seed)
  n <- n_categories(x)
  n_populations <- nrow(prior$base_rates)
  overall_rates <- mean_rates(sampler_output$draws, x, task, n_populations)
  posterior_means <- colMeans(sampler_output$draws)
  matrix_number <- task$prior$matrix_of
  mean_matrices <- vapply(matrix_number,
    function(m) posterior_means[matrix_columns(m, n, n_populations)], numeric(n^2))
  accuracy_draws <- vapply(unique(matrix_number), function(m) {
    diagonal_columns <- matrix_columns(m, n, n_populations)[diagonal_cells(n)]
    rowSums(overall_rates$draws * pick_columns(sampler_output$draws, diagonal_columns))
  }, numeric(nrow(sampler_output$draws)))
  posterior <- sampler_output$posterior
  unrated_patterns <- which(is.na(posterior[, 1L]))
  population_rates <-
    matrix(posterior_means[seq_len(n_populations * n)], n_populations, byrow = TRUE)
  posterior[unrated_patterns, ] <- population_rates[task$population[unrated_patterns], ]
  fit <- new_rater_fit("draws_fit", x, model, "bayes", known,
    identified = "yes", rater_accuracy = mean(colMeans(accuracy_draws)),
    base_rates = overall_rates$mean,
    posterior = posterior, log_likelihood = NA_real_,
    matrices = aperm(array(mean_matrices, c(n, n, length(matrix_number))), 3:1),
    coefficients = apply(sampler_output$named_draws, 2L, median),
    draws = sampler_output$named_draws, terms = task$terms,
    diagnostics = sampler_output$diagnostics, prior = prior,
    sampling = c(sampling[sampler_option_names], thin = sampler_output$thin),
    task = task, seed = seed, populations = population_table(model, x),
    # Draws of the share of correct answers of each system on the fitted cases.
    systems = structure(
      sampler_output$right,
      dimnames = list(NULL, paste0("accuracy[", x$systems, "]", recycle0 = TRUE))
    ),
    conf_level = default_conf_level(), switched = sampler_output$switched,
    stuck = sampler_output$stuck, converged = worst_mixing(sampler_output)$rhat <= 1.01
  )
  fit$posterior <- fill_unweighted_patterns(fit$posterior, fit)
  fit$shown <- printed_parameters(fit)
  fit
}

# Fills the rows of `posterior` that belong to patterns with weight 0, because the sampler leaves
# these patterns out. Returns the matrix. `posterior`: a matrix of probabilities (patterns x
# categories).
fill_unweighted_patterns <- function(posterior, fit) {
  is_unweighted <- pattern_weights(fit$x) <= 0
  rated_patterns <- which(is_unweighted & is_rated_pattern(fit$x))
  if (!is_empty(rated_patterns)) posterior[rated_patterns, ] <-
    compute_posterior(fit, fit$x)[rated_patterns, ]
  set_known_truths(posterior, fit$known$truth * (is_unweighted & is_known_pattern(fit)))
}

# Returns the base rates of all cases together: means over populations, weighted by numbers of
# cases. The result is a list of `draws` (draws x categories) and `mean`, the posterior means.
# Argument `draws`: the core's draws of all parameters (draws x parameters).
mean_rates <- function(draws, x, task, n_populations) {
  n <- n_categories(x)
  weight <- population_shares(task, x, n_populations)
  rate_draws <- Reduce(`+`, lapply(seq_len(n_populations), function(p) {
    weight[[p]] * pick_columns(draws, (p - 1L) * n + seq_len(n))
  }))
  list(draws = rate_draws, mean = colMeans(rate_draws))
}

# Returns the share of the cases that are in each population.
population_shares <- function(task, x, n_populations) {
  prop.table(rowsum_codes(task$population, pattern_weights(x), n_populations))
}

# Returns the indices of the columns of the core's draws that contain confusion matrix number `m`,
# row by row. `size`: number of categories. `n_populations`: number of populations.
matrix_columns <- function(m, size, n_populations) {
  n_populations * size + (m - 1L) * size^2 + seq_len(size^2)
}

# Returns the indices of the diagonal (correct ratings) among the cells of a confusion matrix.
# `size`: number of categories.
diagonal_cells <- function(size) seq(1L, size^2, size + 1L)

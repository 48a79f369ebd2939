# Latent class models by posterior draws; the sampler is in src/core/posterior.

#' @srrstats {BS2.6, BS2.9} draws, chains and warmup have limits; each chain has a separate stream
#' @srrstats {BS4.0, BS4.3, BS4.4, BS4.5} Gibbs; draws until effective sizes suffice, or a warning
#' @srrstatsNA {BS1.3a, BS2.7, BS2.8, BS2.11} chains start where the sampler puts them
#' @srrstatsNA {BS2.10} one seed makes all streams, which differ
#' @srrstatsNA {BS3.1, BS3.2, UL2.3} there are no regressors that could be collinear
#' @noRd
NULL

# `checked`: see resolve_known(). Fields in addition to those of other fits: draws (a matrix,
# ordered by chain, with a column per parameter); terms (a row per parameter); diagnostics (of the
# parameters in is_watched()); systems (draws of the accuracy of systems, where only raters
# determine the truth); prior (see resolve_prior()); sampling; switched; task and seed to repeat
# the draws.
fit_draws <- function(model, checked, prior, sampling) {
  x <- checked$x
  check_drawn_model(model, x)
  sampling <- check_sampling(sampling)
  prior <- prior %||% rater_prior()
  named <- names(prior$raters)
  prior <- resolve_prior(prior, x, model)
  check_settled(named, prior, model, checked)
  dependent <- model_is_dependent(model)
  learnable <- if (dependent) check_learnable(x, model, nrow(prior$base_rates), named)
  fit <- fit_settled(x, model, checked$known, prior, sampling, draw_seed())
  fit$learnable <- learnable
  fit$named <- named
  warn_mixing(fit)
  if (dependent) warn_dependence(fit)
  fit
}

fit_settled <- function(x, model, known, prior, sampling, seed) {
  task <- sampler_task(x, model, known, prior)
  # Three copies: in the core, in R, and in the user's session.
  check_memory(
    3 * as.double(sampling$kept) * sampling$chains * length(task$terms$term), "numbers of draws",
    "Ask for fewer {.field draws} in {.arg sampling}."
  )
  drawn <- draw_until_mixed(x, task, sampling, seed)
  draws_fit(x, model, known, prior, drawn, task, sampling, seed)
}

# The sampler supports common or separate accuracies, uniform or free errors, equal difficulty, and
# base rates by group.
check_drawn_model <- function(model, x) {
  known <- model$errors %in% c("uniform", "free") && model$difficulty == "none" &&
    !uses_confidence(model)
  abort_argument_if(!known, "model",
    "{.code method = \"bayes\"} knows uniform and free errors, of all raters or of each, on cases of
        equal difficulty.", x = "{.arg model} is the {format(model)}.",
    i = "A formula may say which cases have base rates of their own.")
  numbers <- Filter(is.numeric, x$covariates[covariates_used(model, x)])
  abort_argument_if(length(numbers) > 0L, "model",
    "By {.code method = \"bayes\"} the covariates of a formula must be factors, strings or
        logicals: each combination is a population.",
    x = "{.val {names(numbers)}} {?is/are} {?a number/numbers}.",
    i = "Cut numbers into classes with {.fun cut}, or use {.code method = \"likelihood\"}.")
  formula_design(model$base_rates %||% ~1, pattern_covariates(x))
  if (model_is_dependent(model)) check_dependent_panel(model, x)
  abort_if(!weights_are_counts(x), "weights",
    "Weights that are not counts leave no cases to draw the truth of.",
    i = "Use {.code method = \"likelihood\"}.", row = which(x$weights != round(x$weights)))
}

# draws and chains; `kept`, draws per chain; warmup; thin, NULL to choose it automatically.
check_sampling <- function(sampling) {
  given <- check_settings_list(sampling, "sampling",
    c("draws", "chains", "warmup", "thin", "threads"))
  count <- function(name, default, least, most) {
    check_count(given[[name]] %||% default, name, least, most)
  }
  chains <- count("chains", 4L, 1L, 1000L)
  draws <- count("draws", 4000L, 4L * chains, 1e7)
  list(
    chains = chains, kept = as.integer(ceiling(draws / chains)),
    warmup = count("warmup", 1000L, 0L, 1e7),
    thin = if (!is.null(given$thin)) count("thin", 1L, 1L, 1e6),
    threads = check_threads(given$threads %||% default_threads())
  )
}

# Two raters in one population are not identified: the posterior would be the prior.
check_settled <- function(named, prior, model, checked) {
  x <- checked$x
  settled <- length(unique(rating_rater(x))) + 2 * (nrow(prior$base_rates) > 1L) >= 3 ||
    has_counts(x) || model$accuracy == "common" || knows_some(checked$known)
  abort_if(prior$others == "partial" && (model$errors == "uniform" || model_is_dependent(model)),
    "prior", "{.code others = \"partial\"} is for free errors that are independent.",
    i = "Choose {.val vague} or {.val flat} in {.fun rater_prior}.")
  abort_if(!settled && !all(x$raters %in% named), "prior",
    "The answer would be the prior: two raters of one population cannot tell how good each is.",
    i = "Say what is known of both, with {.fun rater_prior}; or give more raters, populations with
        base rates of their own, or known truths.")
}

# Arguments of the sampler, and the meaning of its parameters.
sampler_task <- function(x, model, known, prior) {
  common <- model$accuracy == "common"
  raters <- seq_along(x$raters)
  matrix_of <- if (common) rep(1L, length(raters)) else raters
  first <- match(unique(matrix_of), matrix_of)
  size <- length(x$categories)
  rows <- lapply(first, function(j) {
    own <- prior$raters[[j]] %||% plain_parameters("vague", size, FALSE)
    own + (if (length(known$counts) > 0L) known$counts[[j]]) %||% 0
  })
  system <- prior$system %||% plain_parameters("vague", size, model$errors == "uniform")
  pooled <- prior$others == "partial" && !common
  list(
    prior = list(
      matrix_of = matrix_of, rows = rows,
      fixed = if (length(known$raters) > 0L) known$raters[first] else list(),
      system = rep(list(system), length(x$systems)), base_rates = unname(prior$base_rates),
      pooled = pooled, raters = length(raters), order = prior$order,
      dependence = dependence_type(model), pairs = pair_indices(model, x$raters)
    ),
    truth = known$truth, population = population_of_patterns(x, model),
    terms = draw_terms(x, if (common) NA_character_ else x$raters, rows, prior, pooled, model)
  )
}

# The population of each pattern, a row of population_table(); empty if there is only one.
population_of_patterns <- function(x, model, table = population_table(model, x)) {
  if (is.null(table)) integer() else population_of(pattern_covariates(x), table)
}

populations_in <- function(task, x) {
  if (length(task$population) > 0L) task$population else rep(1L, n_patterns(x))
}

run_options <- c("chains", "kept", "warmup", "threads")

run_sampler <- function(x, task, options, log_likelihood = FALSE, joined = FALSE, tick = no_tick) {
  core_draw_posterior(
    x$patterns, pattern_weights(x), task$truth, task$population, joined, task$prior,
    c(options, list(log_likelihood = log_likelihood)), tick
  )
}

# Largest acceptable cost of sampling, in steps.
most_steps <- 5e9
enough_draws <- 1000 # effective sample size, or half of the number of draws

# Increases thinning until the effective sample sizes suffice.
draw_until_mixed <- function(x, task, sampling, seed) {
  step <- length(rating_rater(x)) * length(x$categories) + length(task$terms$term)
  # With dependent errors each parameter takes about six evaluations of the likelihood.
  if (task$prior$dependence != "none") step <- 6 * step * length(task$terms$term)
  bar <- progress_bar("Chains", sampling$chains)
  on.exit(bar$close())
  thin <- sampling$thin %||% 1L
  enough <- min(enough_draws, sampling$chains * sampling$kept / 2)
  repeat {
    found <- run_sampler(x, task, c(sampling[run_options], list(thin = thin, seed = seed)),
      tick = bar$tick)
    found$thin <- thin
    found$kept <- named_draws(found$draws, task$terms)
    watched <- found$kept[, is_watched(task$terms), drop = FALSE]
    found$diagnostics <- diagnose_all(watched, sampling$chains)
    least <- min(found$diagnostics[, c("ess_bulk", "ess_tail")], Inf, na.rm = TRUE)
    # Factor of thinning, if effective sample sizes increase in proportion.
    times <- 2^max(1, ceiling(log2(enough / least)))
    sweeps <- sampling$chains * (sampling$warmup + times * thin * sampling$kept)
    done <- !is.null(sampling$thin) || least >= enough || times * thin > 1024 ||
      sweeps * step > most_steps
    if (done) return(found)
    thin <- as.integer(times * thin)
  }
}

# Parameters for which convergence is checked: base rates, correct ratings, and the panel's centre.
is_watched <- function(terms) {
  is.na(terms$rating) | is.na(terms$truth) | terms$rating == terms$truth
}

# ---- Parameters ---------------------------------------------------------------------------------

# A row per reported parameter: term, rater, truth, rating, population; place, its column in the
# core's draws; and the Dirichlet parameters of its prior, `a` out of `total`.
new_terms <- function(term, place, rater = NA_character_, truth = NA_character_,
                      rating = NA_character_, population = NA_character_, a = NA_real_,
                      total = NA_real_) {
  data.frame(term, rater, truth, rating, population, place, a, total)
}

# Terms of base rates, matrices of raters, and their centre or dependence. In the core's draws, the
# matrices of systems follow those of raters.
draw_terms <- function(x, raters, rows, prior, pooled, model) {
  size <- length(x$categories)
  rates <- prior$base_rates
  population <- rep(rownames(rates) %||% NA_character_, each = size)
  truth <- rep(x$categories, nrow(rates))
  whose <- ifelse(is.na(population), "", paste0(",", population))
  matrices <- Map(matrix_terms, raters, rows, length(rates) + (seq_along(raters) - 1L) * size^2,
    MoreArgs = list(x = x, pooled = pooled))
  after <- length(rates) + (length(raters) + length(x$systems)) * size^2
  do.call(rbind, unname(c(
    list(new_terms(
      paste0("base_rate[", truth, whose, "]"), seq_along(rates), truth = truth,
      population = population, a = as.vector(t(rates)), total = rep(rowSums(rates), each = size)
    )),
    matrices, if (pooled) list(centre_terms(x, after)), list(shared_terms(x, model, after))
  )))
}

# Cells of a matrix, row by row.
cells_of <- function(categories) {
  expand.grid(rating = categories, truth = categories, stringsAsFactors = FALSE)
}

matrix_terms <- function(rater, rows, before, x, pooled) {
  size <- length(x$categories)
  who <- if (is.na(rater)) "" else paste0("[", rater, "]")
  row <- function(term, place, a, total, truth = NA_character_, rating = truth) {
    if (pooled) a <- total <- NA_real_
    new_terms(term, before + place, rater, truth, rating, a = a, total = total)
  }
  if (!is.matrix(rows)) return(row(paste0("right", who), 1, rows[[1L]], sum(rows)))
  if (size == 2L) {
    terms <- paste0(c("spec", "sens"), who)
    return(row(terms, c(1, 4), diag(rows), rowSums(rows), x$categories))
  }
  cells <- cells_of(x$categories)
  words <- paste0("p[", if (!is.na(rater)) paste0(rater, ","), cells$truth, ",", cells$rating, "]")
  row(words, seq_len(size^2), as.vector(t(rows)), rep(rowSums(rows), each = size), cells$truth,
    cells$rating)
}

centre_terms <- function(x, before) {
  cells <- cells_of(x$categories)
  terms <- c(
    paste0("nu[", x$categories, "]"), paste0("mu[", cells$truth, ",", cells$rating, "]")
  )
  new_terms(terms, before + seq_along(terms), truth = c(x$categories, cells$truth),
    rating = c(rep(NA_character_, length(x$categories)), cells$rating))
}

named_draws <- function(draws, terms) {
  out <- draws[, terms$place, drop = FALSE]
  colnames(out) <- terms$term
  out
}

# ---- The fit ------------------------------------------------------------------------------------

draws_fit <- function(x, model, known, prior, drawn, task, sampling, seed) {
  size <- length(x$categories)
  populations <- nrow(prior$base_rates)
  rates <- mean_rates(drawn$draws, x, task, populations)
  means <- colMeans(drawn$draws)
  matrix_of <- task$prior$matrix_of
  cells <- vapply(matrix_of, function(m) means[matrix_columns(m, size, populations)],
    numeric(size^2))
  accuracy <- vapply(unique(matrix_of), function(m) {
    columns <- matrix_columns(m, size, populations)[on_diagonal(size)]
    rowSums(rates$draws * drawn$draws[, columns, drop = FALSE])
  }, numeric(nrow(drawn$draws)))
  all <- cbind(accuracy, rates$draws)
  each <- ncol(accuracy) > 1L || length(x$raters) == 1L
  posterior <- drawn$posterior
  empty <- is.na(posterior[, 1L])
  of_population <- matrix(means[seq_len(populations * size)], populations, byrow = TRUE)
  posterior[empty, ] <- of_population[populations_in(task, x)[empty], ]
  fit <- new_rater_fit("draws_fit", x, model, "bayes", known,
    identified = "yes", rater_accuracy = mean(colMeans(accuracy)), base_rates = rates$mean,
    posterior = posterior, log_likelihood = NA_real_,
    matrices = aperm(array(cells, c(size, size, length(matrix_of))), 3:1),
    coefficients = named_coefficients(colMeans(accuracy), rates$mean, x, each),
    covariance = if (ncol(all) <= 2000L) unname(stats::cov(all)), draws = drawn$kept,
    terms = task$terms, diagnostics = drawn$diagnostics, prior = prior,
    sampling = c(sampling[run_options], thin = drawn$thin), task = task, seed = seed,
    # `systems`: share of these cases that each system gets right, if only raters determine the
    # truth.
    populations = population_table(model, x),
    systems = structure(
      drawn$right, dimnames = list(NULL, paste0("accuracy[", x$systems, "]", recycle0 = TRUE))
    ),
    switched = drawn$switched, stuck = drawn$stuck,
    converged = all(drawn$diagnostics[, "rhat"] <= 1.01, na.rm = TRUE)
  )
  fit$shown <- view_of_draws(fit)
  fit
}

# Mean over populations, weighted by their numbers of cases. `draws`: draws x categories.
mean_rates <- function(draws, x, task, populations) {
  size <- length(x$categories)
  share <- rowsum_codes(populations_in(task, x), pattern_weights(x), populations)
  share <- share / sum(share)
  each <- lapply(seq_len(populations), function(p) {
    share[[p]] * draws[, (p - 1L) * size + seq_len(size), drop = FALSE]
  })
  found <- Reduce(`+`, each)
  list(draws = found, mean = colMeans(found))
}

# Columns of the core's draws that contain matrix m, row by row.
matrix_columns <- function(m, size, populations) {
  populations * size + (m - 1L) * size^2 + seq_len(size^2)
}

# Columns of correct ratings among the columns of a matrix.
on_diagonal <- function(size) seq(1L, size^2, size + 1L)

# The largest Rhat and the smallest effective sample size of the parameters in is_watched().
worst_mixing <- function(fit) {
  c(
    max(fit$diagnostics[, "rhat"], -Inf, na.rm = TRUE),
    min(fit$diagnostics[, c("ess_bulk", "ess_tail")], Inf, na.rm = TRUE)
  )
}

has_mixed <- function(worst) worst[[1L]] <= 1.01 && worst[[2L]] >= 400

mixing_words <- function(fit) {
  worst <- worst_mixing(fit)
  sprintf("Rhat at most %s, effective sample sizes at least %s", decimals(worst[[1L]]),
    number(round(worst[[2L]])))
}

warn_mixing <- function(fit) {
  worst <- worst_mixing(fit)
  warn_if(!has_mixed(worst), "no_convergence",
    "Chains have not mixed: Rhat {decimals(worst[[1L]], 3L)}, effective sample size
        {round(worst[[2L]])}.",
    i = "Ask for more with {.code sampling = list(draws = )}, or give stronger priors.")
  # Informative priors of all raters distinguish the categories.
  warn_if(fit$switched > 0.01 && !all(fit$x$raters %in% fit$named), "switched",
    "In {percent(fit$switched)} of the draws categories have changed names.",
    i = "Use {.code order = \"mean\"} or {.val each} in {.fun rater_prior}, or priors that tell
        categories apart.", categories = fit$x$categories)
  warn_if(fit$stuck > 0.01, "prior",
    "The priors contradict the order of categories that was asked for.",
    i = "Use {.code order = \"none\"} in {.fun rater_prior}, or other priors.")
}

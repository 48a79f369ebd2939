# Accuracy of systems from posterior draws. Two runs of the sampler give the ends of the range from
# independent to shared errors. In the joint run a system is one more rater; in the cut run its
# answers do not inform about the truth. The distribution of the ratings does not determine how many
# errors a system shares with the raters. Suppose that the system copies the answer of the raters
# with probability c: the ratings have the same distribution for all c. A posterior of the accuracy
# therefore needs a prior of c and of errors common to all raters. The ratings do not update that
# prior.

#' Accuracy of systems from posterior draws
#'
#' Computes the posterior distribution of the accuracy of systems from a fit by
#' [fit_raters()] with `method = "bayes"`. It includes errors that raters and systems may share.
#' [compare_systems()], [estimate_metrics()] and [confusion()] of the result use its draws.
#'
#' @section Shared errors:
#' The ratings identify two accuracies of a system. `independent` assumes that its errors are
#' independent of the raters' errors (the system is one more rater). `shared` assumes that it errs
#' where the raters err (only the raters determine the true category). The ratings do not identify
#' the position of the accuracy between the two. With `common = "typical"` this position has a
#' normal prior. Its mean is `1 / sqrt(K - 1)` for `K` categories that raters used, about the
#' probability that two wrong answers are the same; its standard deviation is 0.5. In addition,
#' cases on which all raters err add an error with mean 0. Its standard deviation grows with the
#' share of wrong ratings. These are the priors of robust intervals (see [estimate_accuracy()]); if
#' machines rate, the error of machines replaces them. `print()` reports the parts of the variance
#' due to sampling, shared errors and cases on which all raters err. More ratings reduce only the
#' first part. With `"none"`, `"all"` or a number, there is only sampling error. On public data with
#' known truth, 90% intervals without shared errors covered about half of the accuracies.
#'
#' @section Known truths:
#' Known truths given to [fit_raters()] inform about the raters, but not about shared errors. A
#' random sample does (`gold_sample = "random"`). The draws, made without these truths, are weighted
#' by the probability of the number of correct answers in the sample. A share of the draws,
#' `0.3 m^2 / (m^2 + 100)` for `m` cases, is drawn from Beta(1/2, 1/2) instead, in case the prior is
#' wrong.
#'
#' @inheritParams estimate_accuracy
#' @param x A [fit_raters()] result with `method = "bayes"`.
#' @param method `"joint"`: between the two ends, according to `common`. `"shared"`: only the raters
#'   determine the true category, which gives a cut distribution, not a posterior.
#' @param interval `"posterior"`: quantiles of the draws.
#' @param conf_level Probability that the accuracy is between `conf.low` and `conf.high`, in (0, 1).
#' @param common `"typical"` (the default), `"none"`, `"all"` or a number in \[0, 1\]; see *Shared
#'   errors*.
#' @param gold_sample `"random"` if `known_truth` (or the known truth of the fit) is a random
#'   sample.
#' @param bins,resampling Not used.
#' @return An object of class `accuracy_estimate`, see [estimate_accuracy()]. `estimate` is the
#'   posterior mean of the accuracy in the population of the cases. `tidy(x, "replicates")` returns
#'   the draws.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.7), n = 100))
#' fit <- fit_raters(x, method = "bayes", sampling = list(draws = 1000))
#' estimate <- estimate_accuracy(fit)
#' estimate
#' compare_systems(estimate)
#' @name posterior_accuracy
#' @export
estimate_accuracy.draws_fit <- function(x, # nolint: object_name.
                                        method = c("joint", "shared"), interval = "posterior",
                                        conf_level = default_conf_level(), common = NULL,
                                        systems = NULL, known_truth = NULL, gold_sample = NULL,
                                        bins = list(), resampling = list(), ...) {
  check_dots_empty(...)
  record <- accuracy_methods[[check_choice(method)]]
  options <- list(
    method = record$id, interval = check_choice(interval, interval_posterior$id, "interval"),
    conf_level = check_level(conf_level), replicates = nrow(x$draws)
  )
  options$common <- check_common(common, record) %||%
    if (!is.null(record$common)) common_words[[1L]]
  chosen <- choose_systems(x$x, systems)
  check_has_systems(chosen)
  gold <- gold_of_draws(x, known_truth, gold_sample)
  if (!is.null(gold)) x <- draws_without_truth(x)
  draws_estimate(x, chosen, options, gold)
}

# Returns a random sample as a list with case and truth (numbers), or NULL.
gold_of_draws <- function(fit, known_truth, gold_sample) {
  if (is.null(known_truth) && is.null(gold_sample)) return(NULL)
  gold <- resolve_gold(known_truth %||% fit$given$truth, gold_sample %||% "given", fit$x)
  abort_argument_if(!identical(gold_sample, "random"), "gold_sample",
    "Of posterior draws known truths must be a random sample.",
    i = "Say {.code gold_sample = \"random\"}, or give them to {.fun fit_raters}.")
  if (length(gold$case) > 0L) gold
}

draws_without_truth <- function(fit) {
  if (!any(known_patterns(fit))) return(fit)
  x <- join_patterns(fit$x, setdiff(names(fit$x$patterns$values), ".truth"))
  known <- replace(fit$known, "truth", list(integer()))
  fit_settled(x, fit$model, known, fit$prior, fit$sampling, fit$seed)
}

# `chosen`: the ratings of the fit with the answers of the systems to evaluate.
draws_estimate <- function(fit, chosen, options, gold = NULL) {
  fit <- fit_with(fit, chosen)
  parts <- drawn_ends(fit)
  # Posterior from the raters without systems, for the current rows.
  fit$posterior <- parts$posterior
  mixed <- with_one_seed({
    mixed <- mixed_ends(fit, parts, options)
    if (is.null(gold)) mixed else weighted_by_gold(mixed, fit$x, gold)
  })
  as_draws_estimate(fit, mixed, options, gold)
}

# Draws at both ends of the range: `independent` and `shared` (draws x systems), and lists with the
# cells of truth and answer (draws x cells) of each system. The cut draws of all systems are from
# one run. The joint draws of each system are reordered like its cut draws, so that systems have the
# same dependence in both.
drawn_ends <- function(fit) {
  x <- fit$x
  size <- length(x$categories)
  populations <- nrow(fit$prior$base_rates)
  task <- sampler_task(x, fit$model, fit$known, fit$prior)
  options <- c(fit$sampling[c(run_options, "thin")], list(seed = fit$seed))
  cells_of <- function(draws, m, task) {
    rates <- mean_rates(draws, x, task, populations)$draws
    rates[, rep(seq_len(size), each = size)] * draws[, matrix_columns(m, size, populations)]
  }
  right <- function(cells) rowSums(cells[, on_diagonal(size)])
  cut <- run_sampler(x, task, options)
  matrices <- max(task$prior$matrix_of)
  systems <- seq_along(x$systems)
  shared <- lapply(systems, function(s) cells_of(cut$draws, matrices + s, task))
  independent <- lapply(systems, function(s) {
    joined <- joined_task(fit, s)
    draws <- run_sampler(joined$x, joined$task, options, joined = TRUE)$draws
    cells <- cells_of(draws, matrices + 1L, joined$task)
    at <- order(right(cells))[rank(right(shared[[s]]), ties.method = "first")]
    cells[at, , drop = FALSE]
  })
  by_system <- function(cells) vapply(cells, right, numeric(nrow(cut$draws)))
  list(
    shared = by_system(shared), independent = by_system(independent), shared_cells = shared,
    independent_cells = independent, posterior = cut$posterior
  )
}

joined_task <- function(fit, s) {
  x <- fit$x
  x$systems <- x$systems[s]
  x$patterns$answer <- x$patterns$answer[, s, drop = FALSE]
  task <- sampler_task(x, fit$model, fit$known, fit$prior)
  prior <- task$prior
  prior$matrix_of <- c(prior$matrix_of, length(prior$rows) + 1L)
  prior$rows <- c(prior$rows, prior$system)
  if (length(prior$fixed) > 0L) prior$fixed <- c(prior$fixed, list(NULL))
  prior$system <- list()
  task$prior <- prior
  list(x = x, task = task)
}

# Mixes both ends according to `common`. Returns accuracy (draws x systems), cells, and sizes (a row
# per system): `back`, the share of the range, and the variance of each part.
mixed_ends <- function(fit, parts, options) {
  x <- fit$x
  gap <- parts$independent - parts$shared
  centre <- if (is.null(options$common)) 1 else switch(as.character(options$common),
    typical = 1 / sqrt(max(used_categories(x), 2L) - 1), none = 0, all = 1, options$common
  )
  share <- centre + 0 * gap
  accuracy <- parts$independent - centre * gap
  sampling <- apply(accuracy, 2L, stats::sd)
  sizes <- columns_tibble(
    sampling = sampling, of_sampling = sampling^2, of_common = 0, of_hidden = 0, back = centre,
    rater_error = wrong_share(fit), range = base_rate_ranges(x)
  )
  if (asks_average(options)) {
    mean <- colMeans(accuracy)
    none <- 0 * mean
    open <- open_share(fit)
    error <- core_robust_error(
      mean, none, none, 1 + none, sizes$rater_error, sizes$range, ifelse(is.na(open), 1, open),
      panel_kind(x)
    )
    spread <- if (panel_kind(x) == "machines") 0 else common_spread
    same <- as.matrix(same_share(fit))
    same[is.na(same)] <- 0
    diag(same) <- 1
    kept <- accuracy + rep(error$centre - mean, each = nrow(gap))
    noise <- shared_noise(kept, same)
    deceived <- shared_noise(cbind(kept, noise), same) * rep(error$hidden, each = nrow(gap))
    share <- centre + spread * noise
    accuracy <- kept - spread * noise * gap + deceived
    sizes$of_common <- spread^2 * colMeans(gap^2)
    sizes$of_hidden <- error$hidden^2
  }
  accuracy <- clip01(accuracy)
  cells <- lapply(seq_len(ncol(gap)), function(s) {
    mixed <- (1 - share[, s]) * parts$independent_cells[[s]] + share[, s] * parts$shared_cells[[s]]
    cells_with_accuracy(pmax(mixed, 0), accuracy[, s], length(x$categories))
  })
  list(accuracy = accuracy, cells = cells, sizes = sizes, ends = parts)
}

# Standard deviation of the position in the range, as in robust intervals.
common_spread <- 0.5

# Rescales cells of truth and answer so that they sum to one and the diagonal sums to `accuracy`.
cells_with_accuracy <- function(cells, accuracy, size) {
  diagonal <- on_diagonal(size)
  right <- rowSums(cells[, diagonal, drop = FALSE])
  wrong <- rowSums(cells) - right
  times <- ifelse(wrong > 0, (1 - accuracy) / wrong, 0)
  out <- cells * times
  out[, diagonal] <- cells[, diagonal] * ifelse(right > 0, accuracy / right, 0)
  out / rowSums(out)
}

# Expected share of wrong ratings.
wrong_share <- function(fit) {
  x <- fit$x
  right <- fit$posterior[cbind(rating_pattern(x), rating_category(x))]
  1 - stats::weighted.mean(right, pattern_weights(x)[rating_pattern(x)])
}

# Limit of the share of draws that gold cases replace, since the ratings may mislead. Half of it is
# reached at `half_vague_draws` gold cases. Draws already vary with the model, so that fewer are
# replaced than by `most_vague`.
most_vague_draws <- 0.3
half_vague_draws <- 10

# Resamples draws with weights from the gold sample, and restores their order.
weighted_by_gold <- function(mixed, x, gold) {
  answers <- case_answers(x)[gold$case, , drop = FALSE]
  for (s in seq_along(x$systems)) {
    m <- sum(answers[, s] > 0L)
    if (m == 0L) next
    right <- sum(answers[, s] == gold$truth) # an answer is 0 if it is missing
    before <- mixed$accuracy[, s]
    n <- length(before)
    vague <- stats::runif(n) < most_vague_draws / (1 + (half_vague_draws / m)^2)
    value <- ifelse(vague, stats::rbeta(n, 0.5, 0.5), before)
    log_weight <- stats::dbinom(right, m, value, log = TRUE)
    weight <- exp(log_weight - max(log_weight))
    # Systematic resampling has a smaller Monte Carlo error.
    at <- findInterval((seq_len(n) - stats::runif(1L)) / n * sum(weight), cumsum(weight)) + 1L
    after <- sort(value[pmin(at, n)])[rank(before, ties.method = "first")]
    mixed$accuracy[, s] <- after
    mixed$cells[[s]] <- cells_with_accuracy(mixed$cells[[s]], after, length(x$categories))
  }
  mixed
}

# Creates an estimate from the draws `mixed`. Besides the usual fields it has `cells` (draws of the
# tables of all systems), `parts` (parts of the variances) and `drawn_gold` (number of gold cases).
as_draws_estimate <- function(fit, mixed, options, gold) {
  n <- judged_cases(fit)
  lacking <- n == 0
  sizes <- mixed$sizes
  of_draws <- function(...) replace(apply(mixed$accuracy, 2L, ...), lacking, NA_real_)
  value <- replace(colMeans(mixed$accuracy), lacking, NA_real_)
  table <- result_table(value,
    reason = ifelse(lacking, "no case of the system has a rating", NA_character_))
  tail <- (1 - options$conf_level) / 2
  table$std.error <- of_draws(stats::sd)
  table$conf.low <- of_draws(stats::quantile, tail, names = FALSE)
  table$conf.high <- of_draws(stats::quantile, 1 - tail, names = FALSE)
  parts <- parts_of_average(value, NULL)
  parts[c("typical", "rater_error", "base_rate_range")] <- sizes[c("back", "rater_error", "range")]
  draft <- list(
    fit = fit, options = options, parts = parts, n = n,
    point = new_point(value, shared = colMeans(mixed$ends$shared),
      independent = colMeans(mixed$ends$independent))
  )
  cells <- list(values = do.call(cbind, Map(`*`, mixed$cells, n)), cells = n_categories(fit$x)^2)
  show_accuracy(new_accuracy_estimate(
    draft,
    c(new_interval_found(table, mixed$accuracy, sizes$sampling), list(centre = value)),
    cells = cells, parts = sizes[c("of_sampling", "of_common", "of_hidden")],
    drawn_gold = length(gold$case)
  ))
}

# Accuracy of systems from posterior draws. Each system has two accuracies, from two runs of the
# sampler:
# * joint run: the system is one more rater, and its errors are independent of the raters' errors.
# * cut run: the system's answers are not used to infer the truth, and its errors are shared with
#   the raters.
#
# Ratings do not determine how many errors a system shares with the raters, nor on how many cases
# all raters err. These quantities have priors, which the ratings do not update.

#' Accuracy of systems from posterior draws
#'
#' Computes the posterior distribution of the accuracy of systems (classifiers) from a Bayesian fit
#' of raters. The accuracy is the probability that a system gives a case its true category.
#'
#' @section Shared errors:
#' Raters and systems share errors (*correlated errors*) if they are wrong on the same cases more
#' often than by chance. `independent` is the accuracy if the errors of the system are independent
#' of the raters' errors. `shared` is the accuracy if the system errs where the raters err. The
#' ratings do not show where the accuracy is between these values. It is
#' `independent - c (independent - shared)`, and argument `common` sets `c`:
#' * `"none"`: `c = 0`. `"all"`: `c = 1`. A number: `c` is this number. Intervals then contain only
#'   sampling error.
#' * `"typical"`: `c` has a normal prior with standard deviation 0.5 and mean `1 / sqrt(N - 1)`,
#'   where `N` is the number of categories that raters used. With two categories the mean is 1: on
#'   average, the system shares all errors. If the errors of a diagnostic test have other causes
#'   than those of the raters, use `"none"`.
#'
#' There may also be cases on which all raters err. With `"typical"`, a normal error with mean 0 is
#' therefore added to each draw. Its standard deviation increases with the share of wrong ratings.
#' If all raters are declared as machines (language models or programs), the prior of `c` and this
#' error are replaced by another error, see *Machines as raters* in [estimate_accuracy()].
#' `print()` shows the shares of the variance that are due to sampling, shared errors, and cases on
#' which all raters err. More ratings reduce only the share of sampling.
#'
#' @section Known truths:
#' Known truths show shared errors only if their cases are a random sample
#' (`gold_sample = "random"`). Draws are then computed without these truths, and weighted by the
#' probability of the number of correct answers in the sample. Because the model may be wrong, a
#' share of `0.3 m^2 / (m^2 + 100)` of the draws is first replaced by draws from Beta(1/2, 1/2),
#' where `m` is the number of cases in the sample.
#'
#' @inheritParams estimate_accuracy
#' @param x A [fit_raters()] result with `method = "bayes"`, for a [ratings()] object with answers
#'   of systems.
#' @param method `"joint"` (the default): the accuracy depends on the assumed amount of shared
#'   errors. `"shared"`: the accuracy is `shared`, see *Shared errors*. The system's answers are
#'   then not evidence about the truth (a cut distribution instead of a posterior).
#' @param interval `"posterior"`, the only interval: quantiles of the draws.
#' @param conf_level Probability that the accuracy is between `conf.low` and `conf.high`, in (0, 1).
#'   The default is the `conf_level` of the fit.
#' @param common Degree to which the system shares the errors of the raters, for method `"joint"`,
#'   see *Shared errors*: `"typical"` (the default, `NULL`), `"none"`, `"all"` or a number in
#'   \[0, 1\].
#' @param known_truth True categories of a random sample of cases: a vector named by case, a data
#'   frame with columns `case` and `truth`, a [gold_cases()] result, or `TRUE` for the truth that
#'   the ratings contain. The default `NULL` uses no known truth or, with
#'   `gold_sample = "random"`, the known truths of the fit.
#' @param gold_sample `"random"`: the cases with known truth are a random sample. Other samples are
#'   not accepted. The default `NULL` is for no sample, or for a [gold_cases()] result with a random
#'   sample as `known_truth`.
#' @param bins,resampling Not used.
#' @return An object of class `accuracy_estimate`, see [estimate_accuracy()]. `tidy()` returns a
#'   tibble with a row per system:
#'   * `system`: its name; `method`: `"joint"` or `"shared"`.
#'   * `estimate`, `std.error`: posterior mean and standard deviation of the accuracy in the
#'     population of which the cases are a sample; `conf.low`, `conf.high`: quantiles.
#'   * `shared`, `independent`: posterior means of the values defined in *Shared errors*.
#'   * `n`: number of rated cases that the system answered. If it is 0, the estimate is `NA`.
#'     `reason`: why a value is `NA`.
#'
#'   `tidy(x, "replicates")` returns the draws. [compare_systems()], [estimate_metrics()] and
#'   [confusion()] of the result use them.
#' @family estimation
#' @examples
#' # Three raters and systems a (truly .8) and b (truly .7)
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.7), n = 100))
#' fit <- fit_raters(x, method = "bayes", sampling = list(draws = 1000))
#' estimate <- estimate_accuracy(fit)
#' estimate
#'
#' # The difference between the systems, from the same draws
#' compare_systems(estimate)
#' @name posterior_accuracy
#' @export
estimate_accuracy.draws_fit <- function(x, # nolint: object_name.
                                        method = c("joint", "shared"), interval = "posterior",
                                        conf_level = level_of(x), common = NULL,
                                        systems = NULL, known_truth = NULL, gold_sample = NULL,
                                        bins = list(), resampling = list(), ...) {
  check_dots_empty(...)
  method_record <- accuracy_methods[[check_choice(method)]]
  options <- list(
    method = method_record$id, interval = check_choice(interval, interval_posterior$id, "interval"),
    conf_level = check_level(conf_level), replicates = nrow(x$draws)
  )
  options$common <- check_common(common, method_record) %||%
    if (!is.null(method_record$common)) "typical"
  chosen_ratings <- choose_systems(x$x, systems)
  check_has_systems(chosen_ratings)
  gold <- resolve_gold_sample(x, known_truth, gold_sample)
  # Here, gold cases are a random sample that measures the accuracy. The fit must not use the same
  # known truths, so the model is fitted again without them.
  if (!is.null(gold) && any(is_known_pattern(x))) {
    x <- fit_draws_unchecked(
      join_patterns(x$x, setdiff(names(x$x$patterns$values), ".truth")), x$model,
      replace(x$known, "truth", list(integer())), x$prior, x$sampling, x$seed
    )
  }
  estimate_from_draws(x, chosen_ratings, options, gold)
}

# Returns the gold cases (cases with known truth) as a list with `case` and `truth`, the indices of
# cases and of categories. Returns NULL if there are no gold cases. Raises an error if they are not
# a random sample.
resolve_gold_sample <- function(fit, known_truth, gold_sample) {
  if (is.null(known_truth) && is.null(gold_sample)) return(NULL)
  gold <- resolve_gold(known_truth %||% fit$given$truth, gold_sample, fit$x)
  if (!has_gold_cases(gold)) return(NULL)
  abort_argument_if(!identical(gold$sample, "random"), "gold_sample",
    "With posterior draws, known truths must be a random sample.",
    i = "If they are a random sample, add {.code gold_sample = \"random\"}. Otherwise, give them to
        {.fun fit_raters}.")
  settings <- gold$settings
  is_unsuitable <- c(target = settings$target == "cases", widen = !is.null(settings$widen))
  unsuitable_settings <- names(is_unsuitable)[is_unsuitable]
  abort_argument_if(unsuitable_settings, "known_truth",
    "With posterior draws, {.arg {unsuitable_settings}} of {.fun gold_cases} cannot be used.",
    i = "Call {.fun gold_cases} without {.arg {unsuitable_settings}}.")
  gold
}

# Estimates accuracy from a fit with posterior draws.
# * chosen_ratings: the ratings of the fit, with the answers of the systems to evaluate.
# * gold: result of resolve_gold_sample().
# The result has three more fields than other estimates:
# * cells: draws of the numbers of cases by true category and answer, see confusion_draws().
# * parts: variances of the accuracy by source of error (systems x sources).
# * drawn_gold: the argument `gold`.
estimate_from_draws <- function(fit, chosen_ratings, options, gold) {
  fit <- replace_answers(fit, chosen_ratings)
  unmixed_draws <- draw_accuracies(fit)
  # Posterior probabilities of the true category, computed without the answers of systems. They have
  # a row per pattern of `chosen_ratings`.
  fit$posterior <- fill_unweighted_patterns(unmixed_draws$posterior, fit)
  draws <- with_one_seed({
    draws <- mix_draws(fit, unmixed_draws, options)
    if (is.null(gold)) draws else resample_by_gold(draws, fit$x, gold)
  })
  n_rated <- count_answered_cases(fit)
  has_no_ratings <- n_rated == 0
  error_table <- draws$errors
  summarise_draws <- function(...) replace(apply(draws$accuracy, 2L, ...), has_no_ratings, NA_real_)
  mean_accuracy <- summarise_draws(mean)
  table <- result_table(mean_accuracy,
    reason = ifelse(has_no_ratings, "no case of the system has a rating", NA_character_))
  tail_probability <- (1 - options$conf_level) / 2
  table$std.error <- summarise_draws(sd)
  table$conf.low <- summarise_draws(quantile, tail_probability, names = FALSE)
  table$conf.high <- summarise_draws(quantile, 1 - tail_probability, names = FALSE)
  results_of_average <- summarise_average(mean_accuracy, NULL)
  results_of_average[c("typical", "rater_error", "base_rate_range")] <-
    error_table[c("sharing", "rater_error", "range")]
  show_accuracy(new_accuracy_estimate(
    list(
      fit = fit, options = options, results_of_average = results_of_average, n = n_rated,
      point = new_point(mean_accuracy, shared = colMeans(unmixed_draws$shared),
        independent = colMeans(unmixed_draws$independent))
    ),
    list(
      table = table, replicates = draws$accuracy, sampling = error_table$sampling,
      centre = mean_accuracy
    ),
    cells = list(
      values = do.call(cbind, Map(`*`, draws$cells, n_rated)), cells = n_categories(fit$x)^2
    ),
    parts = error_table[c("of_sampling", "of_common", "of_hidden")], drawn_gold = gold
  ))
}

# Draws accuracies with independent and with shared errors. Returns a list:
# * independent, shared: accuracies (draws x systems).
# * independent_cells, shared_cells: for each system a matrix (draws x cells) with the joint
#   probabilities of truth and answer.
# * posterior: probabilities of the true category (patterns x categories).
draw_accuracies <- function(fit) {
  x <- fit$x
  category_count <- n_categories(x)
  n_populations <- nrow(fit$prior$base_rates)
  task <- sampler_task(x, fit$model, fit$known, fit$prior)
  options <- c(fit$sampling[c(sampler_option_names, "thin")], list(seed = fit$seed))
  draw_cells <- function(draws, matrix_number, task) {
    mean_rates(draws, x, task, n_populations)$draws[,
      rep(seq_len(category_count), each = category_count)] *
      draws[, matrix_columns(matrix_number, category_count, n_populations)]
  }
  compute_accuracy <- function(cells) rowSums(cells[, diagonal_cells(category_count)])
  # This run of the sampler does not use answers of systems. One run therefore gives the draws with
  # shared errors for all systems.
  cut_run <- run_sampler(x, task, options)
  n_matrices <- max(task$prior$matrix_of)
  system_numbers <- seq_along(x$systems)
  shared_cells <- lapply(system_numbers, function(s) {
    draw_cells(cut_run$draws, n_matrices + s, task)
  })
  independent_cells <- lapply(system_numbers, function(s) {
    joint_input <- make_joint_task(fit, s)
    draws <- run_sampler(joint_input$x, joint_input$task, options, joined = TRUE)$draws
    cells <- draw_cells(draws, n_matrices + 1L, joint_input$task)
    # Draws with independent errors are sorted so that their accuracies have the same ranks as in
    # the draws with shared errors. The accuracies of systems are then correlated in the same way.
    shared_ranks <- rank(compute_accuracy(shared_cells[[s]]), ties.method = "first")
    draw_order <- order(compute_accuracy(cells))[shared_ranks]
    pick_rows(cells, draw_order)
  })
  compute_accuracies <-
    function(cells) vapply(cells, compute_accuracy, numeric(nrow(cut_run$draws)))
  list(
    shared = compute_accuracies(shared_cells), independent = compute_accuracies(independent_cells),
    shared_cells = shared_cells, independent_cells = independent_cells,
    posterior = cut_run$posterior
  )
}

# Returns the input of a joint run of the sampler: a list of ratings `x` and `task` (see
# sampler_task()). In a joint run, one system is one more rater, and other systems are left out.
make_joint_task <- function(fit, system_number) {
  x <- keep_systems(fit$x, system_number)
  task <- sampler_task(x, fit$model, fit$known, fit$prior)
  prior <- task$prior
  prior$matrix_of <- c(prior$matrix_of, length(prior$rows) + 1L)
  prior$rows <- c(prior$rows, prior$system)
  if (length(prior$fixed) > 0L) prior$fixed <- c(prior$fixed, list(NULL))
  prior$system <- list()
  task$prior <- prior
  list(x = x, task = task)
}

# Interpolates between draws with independent errors (degree of sharing 0) and draws with shared
# errors (1). `options$common` defines the mean degree. Returns a list:
# * accuracy: draws x systems.
# * cells: for each system a matrix (draws x cells of truth and answer).
# * errors: a table with a row per system:
#   - sampling: standard error due to sampling.
#   - of_sampling, of_common, of_hidden: variances due to sampling, to shared errors, and to cases
#     on which all raters err.
#   - sharing: mean degree of sharing.
#   - rater_error: expected share of wrong ratings.
#   - range: highest minus lowest accuracy over the base rates that are compatible with the ratings.
# `unmixed_draws`: result of draw_accuracies().
mix_draws <- function(fit, unmixed_draws, options) {
  x <- fit$x
  difference <- unmixed_draws$independent - unmixed_draws$shared
  common <- common_for_core(options) %||% 1
  is_typical <- is.character(common)
  mean_sharing <- if (is_typical) 1 / sqrt(max(count_used_categories(x), 2L) - 1) else common
  sharing_draws <- mean_sharing + 0 * difference
  accuracy <- unmixed_draws$independent - mean_sharing * difference
  sampling_error <- apply(accuracy, 2L, sd)
  p_rating_correct <- fit$posterior[cbind(rating_pattern(x), rating_category(x))]
  error_table <- columns_tibble(
    sampling = sampling_error, of_sampling = sampling_error^2, of_common = 0, of_hidden = 0,
    sharing = mean_sharing, rater_error = 1 - weighted.mean(p_rating_correct, rating_weights(x)),
    range = base_rate_ranges(x)
  )
  if (is_typical) {
    mean_accuracy <- colMeans(accuracy)
    zeros <- 0 * mean_accuracy
    unknown_share <- unknown_truth_share(fit)
    robust_result <- core_robust_error(
      mean_accuracy, zeros, zeros, 1 + zeros, error_table$rater_error,
      range_width_for_error(x, error_table$range),
      ifelse(is.na(unknown_share), 1, unknown_share), panel_kind(x)
    )
    sharing_sd <- if (panel_kind(x) == "machines") 0 else prior_sharing_sd
    same_answer_shares <- same_answer_matrix(fit)
    same_answer_shares[is.na(same_answer_shares)] <- 0
    diag(same_answer_shares) <- 1
    centred_accuracy <-
      accuracy + rep(robust_result$centre - mean_accuracy, each = nrow(difference))
    sharing_noise <- hidden_error_noise(centred_accuracy, same_answer_shares)
    hidden_noise <- hidden_error_noise(cbind(centred_accuracy, sharing_noise), same_answer_shares) *
      rep(robust_result$hidden, each = nrow(difference))
    sharing_draws <- mean_sharing + sharing_sd * sharing_noise
    accuracy <- centred_accuracy - sharing_sd * sharing_noise * difference + hidden_noise
    error_table$of_common <- sharing_sd^2 * colMeans(difference^2)
    error_table$of_hidden <- robust_result$hidden^2
  }
  accuracy <- clip01(accuracy)
  cells <- lapply(seq_len(ncol(difference)), function(s) {
    mixed_cells <- (1 - sharing_draws[, s]) * unmixed_draws$independent_cells[[s]] +
      sharing_draws[, s] * unmixed_draws$shared_cells[[s]]
    rescale_cells(pmax(mixed_cells, 0), accuracy[, s], n_categories(x))
  })
  list(accuracy = accuracy, cells = cells, errors = error_table)
}

# Prior standard deviation of the degree to which a system shares the errors of raters, from 0
# (independent errors) to 1 (all errors are shared). Robust intervals use the same value.
prior_sharing_sd <- 0.5

# Rescales cells so that they sum to one and their diagonal sums to `accuracy`. `cells`: a matrix
# (draws x cells of truth and answer). `accuracy`: a number per draw.
rescale_cells <- function(cells, accuracy, n_labels) {
  diagonal <- diagonal_cells(n_labels)
  right_sum <- rowSums(pick_columns(cells, diagonal))
  wrong_sum <- rowSums(cells) - right_sum
  rescaled_cells <- cells * ifelse(wrong_sum > 0, (1 - accuracy) / wrong_sum, 0)
  rescaled_cells[, diagonal] <- cells[, diagonal] * ifelse(right_sum > 0, accuracy / right_sum, 0)
  rescaled_cells / rowSums(rescaled_cells)
}

# With gold cases, a share of the draws is replaced by draws from a vague prior, because the model
# of the ratings may be wrong. The share increases with the number of gold cases, up to
# `max_vague_share`. With `n_gold_for_half_vague_share` gold cases, it is half as large.
max_vague_share <- 0.3
n_gold_for_half_vague_share <- 10

# Resamples the draws of each system's accuracy. The weight of a draw is the likelihood of the drawn
# accuracy, given the number of correct answers to gold cases.
# * draws: result of mix_draws().
# * gold: result of resolve_gold_sample().
resample_by_gold <- function(draws, x, gold) {
  answers <- pick_rows(case_answers(x), gold$case)
  case_weights <- weights_of_cases(x)[gold$case]
  for (s in seq_along(x$systems)) {
    n_gold <- sum(case_weights[answers[, s] > 0L])
    if (n_gold == 0L) next
    n_right <- sum(case_weights[answers[, s] == gold$truth]) # an answer is 0 if it is missing
    old_accuracy <- draws$accuracy[, s]
    n_draws <- length(old_accuracy)
    is_replaced <- runif(n_draws) < max_vague_share / (1 + (n_gold_for_half_vague_share / n_gold)^2)
    accuracy <- ifelse(is_replaced, stats::rbeta(n_draws, 0.5, 0.5), old_accuracy)
    log_weight <- stats::dbinom(n_right, n_gold, accuracy, log = TRUE)
    weight <- exp(log_weight - max(log_weight))
    # Systematic resampling has a smaller Monte Carlo error than independent resampling.
    draw_numbers <- findInterval(
      (seq_len(n_draws) - runif(1L)) / n_draws * sum(weight), cumsum(weight)
    ) + 1L
    new_accuracy <- sort(accuracy[pmin(draw_numbers, n_draws)])
    # The draws keep their ranks, so the dependence between systems does not change.
    new_accuracy <- new_accuracy[rank(old_accuracy, ties.method = "first")]
    draws$accuracy[, s] <- new_accuracy
    draws$cells[[s]] <- rescale_cells(draws$cells[[s]], new_accuracy, n_categories(x))
  }
  draws
}

# Consensus labels are probabilities of the categories of each case. They are computed in four
# steps:
# 1. The posterior probabilities of two hierarchical models of the raters are averaged.
# 2. The average is flattened (made less certain), because raters share errors.
# 3. The flattened probabilities are mixed with smoothed vote shares.
# 4. If gold cases (cases with known truth) are a random sample, the result is calibrated on them.

# ---- Step 1: labels of a model or of an average of models ---------------------------------------

# Generic that returns the labels after step 1, for ratings, fits and estimates. Returns a list:
# * x: the ratings.
# * posterior: probabilities of categories (patterns of `x` x categories).
# * certain: is the truth of the pattern known?
# * rho: default correlation of errors.
# * votes: default weight of vote shares.
#
# The other fields are NULL if they do not apply:
# * errors: assumption of a fitted model about errors, as text.
# * prior_rates: base rates of each pattern, if they depend on covariates.
# * chance: may the agreement of raters be due to chance?
# * reason: why labels are NA.
# * effective_ratings: effective number of ratings of each pattern, if abstentions are used.
# * by_replies: are labels identified only because abstentions are used?
# * gold: gold cases for the calibration.
# * blind: a list like this one, for labels that were computed without the gold cases.
# * one_judge: does no case have two ratings? If TRUE, vote shares are not used.
initial_labels <- function(x, known_truth, gold_sample, votes) UseMethod("initial_labels")

# Returns the labels of a fitted model, in the form of initial_labels(). The labels are the
# posterior of the fit, which by default is not flattened and not mixed with vote shares. `x`: the
# ratings, with separate patterns for gold cases.
labels_of_model <- function(fit, gold = NULL, x = split_gold_patterns(fit$x, gold)) {
  pattern_in_fit <- matching_patterns(fit$x, x)
  list(
    x = x, posterior = pick_rows(posterior(fit), pattern_in_fit),
    certain = is_known_pattern(fit)[pattern_in_fit] | (!is.null(gold) & truth_of_patterns(x) > 0L),
    rho = 0, votes = 0, errors = independence_words(fit$model),
    prior_rates = if (has_formula(fit$model)) rates_of_cases(fit, pattern_covariates(x)),
    reason = if (fit$identified != "yes") reason_of_fit(fit)
  )
}

# Sets two defaults of labels from ratings. The correlation of errors, `rho`, is set to its typical
# value. The weight of vote shares, `votes`, is set to 0.5 unless `labels` already contains a
# default.
set_average_defaults <- function(labels) {
  replace(labels, c("rho", "votes"), list(typical_rho, labels$votes %||% 0.5))
}

# Returns the ratings `x` with separate patterns for gold cases, so that all cases of a pattern have
# the same known truth, or none.
split_gold_patterns <- function(x, gold) {
  if (is.null(gold)) return(x)
  split_patterns(x, list(.truth = replace(integer(length(x$index)), gold$case, gold$truth)))
}

# Returns the number of the true category of each pattern, 0 if unknown. Patterns must be split by
# truth (see split_gold_patterns()).
truth_of_patterns <- function(x) x$patterns$values$.truth %||% integer(n_patterns(x))

# ---- Steps 2 to 4: flattened probabilities, vote shares and calibration -------------------------

# Computes the final probabilities of categories (steps 2 to 4).
# * labels: result of initial_labels().
# * rho, votes: correlation of errors, and weight of vote shares. NULL for the defaults in `labels`.
#
# Returns `labels` with the final `posterior` and these fields:
# * base_rates: base rates from the model, before probabilities are mixed with votes.
# * calibrated: a list of the `power` and the number of gold `cases`; only for calibrated labels.
finish_labels <- function(labels, rho = NULL, votes = NULL) {
  labels$rho <- rho <- rho %||% labels$rho
  labels$votes <- votes <- if (isTRUE(labels$one_judge)) 0 else votes %||% labels$votes
  x <- labels$x
  is_certain <- labels$certain
  count_effective_ratings <- function(labels) labels$effective_ratings %||% pattern_lengths(x)
  flatten_labels <- function(labels, is_certain = FALSE) {
    flatten_probabilities(labels$posterior, count_effective_ratings(labels), rho,
      pattern_weights(x), is_certain, labels$prior_rates)
  }
  labels$posterior <- set_known_truths(labels$posterior, truth_of_patterns(x) * is_certain)
  model_posterior <- flatten_labels(labels, is_certain)
  labels$base_rates <- base_rates_of_labels(x, model_posterior)
  labels$posterior <- mix_votes(model_posterior, x, votes, is_certain)
  if (is.null(labels$blind)) return(labels)
  calibration_fit <- fit_calibration(
    mix_votes(flatten_labels(labels$blind), x, votes), labels$gold, x
  )
  patterns_to_calibrate <- which(!is_certain & count_effective_ratings(labels) > 0)
  labels$posterior[patterns_to_calibrate, ] <- raise_power(
    pick_rows(labels$posterior, patterns_to_calibrate), calibration_fit$power, calibration_fit$rates
  )
  labels$calibrated <- calibration_fit[c("power", "cases")]
  labels
}

# Sets the probability of known truths to 1. `truth`: number of the true category of each row, 0 if
# unknown.
set_known_truths <- function(posterior, truth) {
  is_known <- truth > 0L
  posterior[is_known, ] <- indicator_matrix(truth[is_known], ncol(posterior))
  posterior
}

# Returns the estimated base rates: the weighted mean probability of each category over the cases
# with labels.
base_rates_of_labels <- function(x, posterior) {
  labelled_patterns <- which(!is.na(posterior[, 1L]))
  weight <- pattern_weights(x)[labelled_patterns]
  na_real(colSums(pick_rows(posterior, labelled_patterns) * weight) / sum(weight))
}

# Mixes the labels of a model (patterns x categories) with smoothed vote shares, whose weight is
# `vote_weight`. Smoothing adds two votes, which are divided equally between all categories. With
# two categories, smoothed shares follow Laplace's rule of succession.
mix_votes <- function(model_posterior, x, vote_weight, is_certain = FALSE) {
  if (vote_weight == 0) return(model_posterior)
  vote_counts <- pattern_counts(x)
  n_votes <- rowSums(vote_counts)
  patterns_to_mix <- which((n_votes > 0 | vote_weight == 1) & !is_certain)
  smoothed_shares <-
    (pick_rows(vote_counts, patterns_to_mix) + 2 / ncol(vote_counts)) /
      (n_votes[patterns_to_mix] + 2)
  # The labels of the model may be NA. Therefore they are left out if their weight is 0.
  model_posterior[patterns_to_mix, ] <- if (vote_weight == 1) smoothed_shares else
    (1 - vote_weight) * pick_rows(model_posterior, patterns_to_mix) + vote_weight * smoothed_shares
  model_posterior
}

# Estimates how to calibrate labels (patterns x categories) from gold cases. A calibrated
# probability of category k is proportional to rates[k] * p^power, where p is the probability before
# calibration. `labels` must be computed without the gold cases. Returns a list:
# * power: exponent, between 0.2 and 5. Its logarithm is the posterior mean of log(power), given the
#   truths of the gold cases. The prior of log(power) is normal (mean 0, standard deviation 0.5).
# * rates: a factor per category: observed over expected number of gold cases, shrunk towards 1.
# * cases: number of gold cases that were used.
fit_calibration <- function(labels, gold, x) {
  rated_gold_rows <- which(is_rated_pattern(x)[x$index[gold$case]])
  gold_case_numbers <- gold$case[rated_gold_rows]
  gold_truth <- gold$truth[rated_gold_rows]
  weight <- sampling_weights(gold, rated_gold_rows)
  weight <- weight / mean(weight) * weights_of_cases(x)[gold_case_numbers]
  labels <- pick_rows(labels, x$index[gold_case_numbers])
  log_exponents <- log(0.2) + 0:32 * log(25) / 32
  log_posterior <- map_dbl(log_exponents, function(log_exponent) {
    probability_of_truth <-
      raise_power(labels, exp(log_exponent))[cbind(seq_along(gold_truth), gold_truth)]
    sum(weight * log(pmax(probability_of_truth, 1e-6))) - log_exponent^2 / (2 * 0.5^2)
  })
  exponent <- exp(weighted.mean(log_exponents, exp(log_posterior - max(log_posterior))))
  expected_counts <- colSums(weight * raise_power(labels, exponent))
  observed_counts <- rowsum_codes(gold_truth, weight, ncol(labels))
  list(power = exponent, rates = unname((observed_counts + 5) / (expected_counts + 5)),
    cases = length(rated_gold_rows))
}

# Raises probabilities (rows x categories) to a power, multiplies them by a factor for each category
# (`rates`), and divides each row by its sum.
raise_power <- function(probability, power, rates = rep(1, ncol(probability))) {
  softmax(power * log(probability) + rep(log(rates), each = nrow(probability)))
}

# ---- Average of two models of the raters --------------------------------------------------------

# Computes labels from ratings (step 1), and returns them in the form of initial_labels(). Patterns
# of `x` must be split by known truth. The posterior is NA if labels are not identified. `known`:
# known truths.
average_labels <- function(x, known = nothing_known) {
  if (has_counts(x)) {
    labels <- labels_of_model(fit_raters(x), x = x)
    # Removes the default of `votes` for fitted models. set_average_defaults() then sets the default
    # for labels from ratings.
    return(replace(labels, c("votes", "chance"), list(NULL, may_agree_by_chance(x))))
  }
  has_known_truth <- has_known_values(known)
  x <- x$whole %||% x
  abstain_decision <- if (has_abstentions(x)) decide_abstain(x)
  uses_abstentions <- isTRUE(abstain_decision$depends)
  x <- if (uses_abstentions) keep_replying_raters(x, abstain_decision$constant) else
    without_constant_raters(x)
  if (!is_empty(known$truth)) known$truth <- truth_of_patterns(x)
  algebraic_fit <- fit_algebraic(x)
  algebraic_fit$identified <- if (has_known_truth) "yes" else
    abstain_decision$identified %||% identification_for_labels(algebraic_fit)
  is_certain <- is_known_pattern(list(x = x, known = known))
  if (algebraic_fit$identified != "yes") {
    reason <- reason_of_fit(algebraic_fit)
    warn_fallible("not_identified", "Labels cannot be estimated: {reason}.",
      i = "Use {.code votes = 1} to count votes, or give cases with known truth as
        {.arg known_truth}.",
      reason = reason)
    return(list(x = x, posterior = missing_posterior(x), certain = is_certain, reason = reason))
  }
  model_fits <- fit_average_models(x, known, abstain_decision)
  posterior <- (model_fits[[1L]]$posterior + model_fits[[2L]]$posterior) / 2
  used_categories <- unique(rating_category(x))
  # If raters use only one category and abstentions are not used, the probability of this category
  # is set to 1 in all cases without known truth.
  if (length(used_categories) == 1L && !uses_abstentions) posterior <-
    set_known_truths(posterior, used_categories * !is_certain)
  labels <- list(x = x, certain = is_certain, chance = !has_known_truth && may_agree_by_chance(x),
    posterior = posterior)
  if (!has_known_truth && !is.null(abstain_decision$weak)) warn_abstain(x, abstain_decision)
  if (!uses_abstentions) return(labels)
  c(labels, list(
    effective_ratings = count_effective_replies(x, model_fits[[1L]]),
    by_replies = abstain_decision$by_replies,
    votes = if (length(used_categories) < 2L) 0
  ))
}

# May the agreement of raters be due to chance? TRUE if raters sometimes disagree, and neither their
# agreement nor their association is significant. Agreement is tested first, because the test of
# association is slower: it compares all pairs of raters. In counts of ratings, raters are not
# identified, so only their agreement is tested.
may_agree_by_chance <- function(x) {
  any(find_leading_categories(x)$chance) && !raters_always_agree(x) &&
    (has_counts(x) || is_weak_association(rater_association(x)))
}

# Are labels identified from ratings only? Returns "yes" or the code of the reason why not. Labels
# need an association between raters, but not agreement above chance. With two raters, the
# association must be positive. If it is negative, one of the raters may use the categories in the
# opposite sense, and the ratings do not show which rater. The labels would then depend on the order
# of the raters.
identification_for_labels <- function(fit) {
  if (fit$identified == "constant_raters") return(fit$identified)
  two_raters_disagree <- n_distinct(rating_rater(fit$x)) == 2L && !raters_always_agree(fit$x)
  if (two_raters_disagree && rater_association(fit$x)$excess <= 1e-9) return("unrelated")
  association_code(fit$x, fit$identified)
}

# Fits the two models of the raters, and returns the fits as a list. Both models shrink the
# confusion matrices of raters towards a common matrix, the centre. In the centre of the second
# model (`one_coin`), all errors are equally probable. `abstain_decision`: result of
# decide_abstain(), which determines whether the models use abstentions.
fit_average_models <- function(x, known, abstain_decision) {
  uses_abstentions <- isTRUE(abstain_decision$depends)
  # Fit of the first model if decide_abstain() has already computed it, otherwise NULL.
  first_fit <- if (!has_known_values(known)) abstain_decision$fits[1L + uses_abstentions]
  model_fits <- c(first_fit, fit_around_centre(
    c(if (is.null(first_fit)) FALSE, TRUE), x, known,
    if (uses_abstentions) abstention_arguments(x, TRUE)
  ))
  if (!all(map_lgl(model_fits, `[[`, "converged"))) warn_convergence("average")
  warn_if(!has_known_values(known) && n_distinct(rating_rater(x)) == 2L, "weakly_identified",
    "For cases on which the two raters disagree, only the priors decide which rater is right.",
    i = "Add a third rater, or give {.arg known_truth} for some cases.", why = "two raters")
  model_fits
}

# Fits pooled Dawid-Skene models, in which the matrices of raters are shrunk towards a common
# centre. Returns a list with a fit for each element of the logical vector `one_coin`. If the
# element is TRUE, all errors are equally probable in the centre. `abstention_settings`: arguments
# of core_fit_pooled(), from abstention_arguments(). With a million ratings or more, the fit stops
# earlier.
fit_around_centre <- function(one_coin, x, known, abstention_settings) {
  is_small_data_set <- n_ratings(x) < 1e6
  core_fit_pooled(
    x$patterns, weights_of_labels(x), known, c(unclass(dawid_skene()), abstention_settings),
    one_coin,
    if (is_small_data_set) 1e-9 else 1e-4, if (is_small_data_set) max_pooled_iterations else 3000L,
    default_threads(), no_tick
  )
}

# Returns the weights of patterns as numbers of cases. Weights that are probabilities are scaled, so
# that their sum is the number of cases.
weights_of_labels <- function(x) {
  weight <- pattern_weights(x)
  if (weights_are_counts(x)) weight else weight * sum(x$weights > 0) / sum(weight)
}

# Flattens probabilities (makes them less certain), because raters have correlated errors. The log
# likelihood of r ratings is multiplied by 1 / (1 + (r - 1) rho). The most probable category stays
# the same.
# * posterior: probabilities (rows x categories).
# * rating_counts: number of ratings of each row.
# * weight: number of cases of each row.
# * is_certain: for each row, is the truth certain? Rows with a certain truth are not changed.
# * rates: base rates of the population of each row (rows x categories). NULL if all rows are from
#   one population, whose base rates are then estimated by the mean posterior.
flatten_probabilities <- function(posterior, rating_counts, rho, weight, is_certain = FALSE,
                                  rates = NULL) {
  rows_to_flatten <- which(!is_certain & rating_counts > 1 & !is.na(posterior[, 1L]))
  if (rho == 0 || is_empty(rows_to_flatten)) return(posterior)
  rates <- rates %||% t(matrix(colSums(posterior * weight, na.rm = TRUE), ncol(posterior),
    nrow(posterior)))
  rates <- pick_rows(rates, rows_to_flatten)
  original_posterior <- pick_rows(posterior, rows_to_flatten)
  likelihood_power <- 1 / (1 + (rating_counts[rows_to_flatten] - 1) * rho)
  log_posterior <- log(pmax(original_posterior, 1e-300))
  log_rates <- log(pmax(rates / rowSums(rates), 1e-300))
  top_category <- max.col(log_posterior, "first")
  top_cells <- cbind(seq_along(top_category), top_category)
  # Base rates are not flattened, so their relative influence increases, which could change the most
  # probable category. The factor `rate_power`, from 0 to 1, limits the increase to prevent this.
  margin <- likelihood_power * (log_posterior[top_cells] - log_posterior)
  rate_change <- (1 - likelihood_power) * (log_rates - log_rates[top_cells])
  largest_rate_power <- ifelse(rate_change > 0, margin / (margin + rate_change), 1)
  largest_rate_power[top_cells] <- 1
  rate_power <- -row_maximum(-largest_rate_power)
  rate_power[rowSums(exp(log_posterior) >= exp(log_posterior[top_cells]) - 1e-12) > 1L] <- 0 # ties
  log_flattened_posterior <-
    likelihood_power * log_posterior + rate_power * (1 - likelihood_power) * log_rates
  log_flattened_posterior[original_posterior == 0] <- -Inf
  posterior[rows_to_flatten, ] <- softmax(log_flattened_posterior)
  posterior
}

# Default of `rho`, the correlation over cases of the correctness of two raters: its mean over 25
# public data sources with known truth.
typical_rho <- 0.43

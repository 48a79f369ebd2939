# Consensus labels are computed in four steps:
# 1. The posterior probabilities of two hierarchical models of the raters are averaged.
# 2. The average is flattened (made less certain), because raters share errors.
# 3. It is mixed with smoothed vote shares.
# 4. It is calibrated on gold cases (cases with known truth), if these are a random sample.

# ---- Step 1: labels of a model or of an average of models ---------------------------------------

# Generic that returns the labels after step 1, for ratings, fits and estimates. Returns a list:
# * x: the ratings
# * posterior: probabilities of categories, a row per pattern of `x`
# * certain: is the truth of the pattern known?
# * rho, votes: default correlation of errors, and default weight of vote shares
# * errors: words for the assumption of a fitted model about errors; NULL for labels from ratings
# * reason: why labels are NA; NULL if they are not
# * worth: effective number of ratings of each pattern (see effective_replies()); NULL if
# abstentions   are not used
# * by_replies: are labels identified by abstentions only? NULL if abstentions are not used
# * gold: gold cases for the calibration; NULL if labels are not calibrated
# * blind: a list like this one, for labels that were computed without the gold cases
# * one_judge: is TRUE if no case has two ratings. Then vote shares are not used.
initial_labels <- function(x, known_truth, gold_sample, votes) UseMethod("initial_labels")

# Returns the labels of a fitted model, in the form of initial_labels(): its posterior, which is
# neither flattened nor mixed with vote shares. `x`: the ratings, with separate patterns for gold
# cases.
labels_of_model <- function(fit, gold = NULL, x = split_gold_patterns(fit$x, gold)) {
  pattern <- matching_patterns(fit$x, x)
  list(
    x = x, posterior = posterior(fit)[pattern, , drop = FALSE],
    certain = is_known_pattern(fit)[pattern] | (!is.null(gold) & truth_of_patterns(x) > 0L),
    rho = 0, votes = 0, errors = independence_words(fit$model),
    prior_rates = if (has_formula(fit$model)) rates_of_cases(fit, pattern_covariates(x)),
    reason = if (fit$identified != "yes") reason_of_fit(fit)
  )
}

# Sets `rho`, the correlation of errors, of averaged labels to its typical value. Sets `votes`, the
# weight of vote shares, to 0.5 unless it is given.
set_average_defaults <- function(labels) {
  replace(labels, c("rho", "votes"), list(typical_rho, labels$votes %||% 0.5))
}

# Returns the ratings `x` with separate patterns for gold cases, so that a pattern has one truth.
split_gold_patterns <- function(x, gold) {
  if (is.null(gold)) return(x)
  split_patterns(x, list(.truth = replace(integer(length(x$index)), gold$case, gold$truth)))
}

# Index of the true category of each pattern, 0 if it is not known. Patterns were split by truth.
truth_of_patterns <- function(x) x$patterns$values$.truth %||% integer(n_patterns(x))

# ---- Steps 2 to 4: flattening, votes and calibration --------------------------------------------

# Computes the final probabilities of categories (steps 2 to 4). `labels`: result of
# initial_labels(). `rho`, `votes`: NULL for their defaults. Returns `labels` with the final
# `posterior` and two more fields: `base_rates`, from the model before votes are mixed in; and, if
# labels are calibrated, `calibrated`, a list of its `power` and its number of gold `cases`.
finish_labels <- function(labels, rho = NULL, votes = NULL) {
  labels$rho <- rho <- rho %||% labels$rho
  labels$votes <- votes <- if (isTRUE(labels$one_judge)) 0 else votes %||% labels$votes
  x <- labels$x
  certain <- labels$certain
  effective_ratings <- function(labels) labels$worth %||% pattern_lengths(x)
  flat_posterior <- function(labels, certain = FALSE) {
    flatten(labels$posterior, effective_ratings(labels), rho, pattern_weights(x), certain,
      labels$prior_rates)
  }
  labels$posterior <- set_known_truths(labels$posterior, truth_of_patterns(x) * certain)
  model_posterior <- flat_posterior(labels, certain)
  labels$base_rates <- label_rates(x, model_posterior)
  labels$posterior <- mix_votes(model_posterior, x, votes, certain)
  if (is.null(labels$blind)) return(labels)
  calibration_fit <- calibrate_labels(
    mix_votes(flat_posterior(labels$blind), x, votes), labels$gold, x
  )
  open_patterns <- which(!certain & effective_ratings(labels) > 0)
  labels$posterior[open_patterns, ] <- raise_power(
    labels$posterior[open_patterns, , drop = FALSE], calibration_fit$power, calibration_fit$rates
  )
  labels$calibrated <- calibration_fit[c("power", "cases")]
  labels
}

# Sets the probability of known truths to 1. `truth`: index of the true category, 0 if unknown.
set_known_truths <- function(posterior, truth) {
  known <- truth > 0L
  posterior[known, ] <- outer(truth[known], seq_len(ncol(posterior)), `==`)
  posterior
}

# Weighted mean probability of each category over the cases with labels: the estimated base rates.
label_rates <- function(x, posterior) {
  with_label <- which(!is.na(posterior[, 1L]))
  weight <- pattern_weights(x)[with_label]
  na_real(colSums(posterior[with_label, , drop = FALSE] * weight) / sum(weight))
}

# Mixes the labels of a model with smoothed vote shares, whose weight is `votes`. For the smoothed
# shares, two pseudo-votes are divided equally between all categories (with two categories, this is
# Laplace's rule of succession).
mix_votes <- function(model, x, votes, certain = FALSE) {
  if (votes == 0) return(model)
  counts <- pattern_counts(x)
  n_votes <- rowSums(counts)
  mixed <- which((n_votes > 0 | votes == 1) & !certain)
  smoothed <- (counts[mixed, , drop = FALSE] + 2 / ncol(counts)) / (n_votes[mixed] + 2)
  # If only votes count, the model is not used, because it may be NA.
  model[mixed, ] <- if (votes == 1) smoothed else
    (1 - votes) * model[mixed, , drop = FALSE] + votes * smoothed
  model
}

# Calibrates labels on gold cases. A probability p of category k becomes proportional to
# rates[k] * p^power. Returns a list:
# * power: posterior mean of the power (of its logarithm), from the log likelihood of the gold
#   truths and a normal prior with mean 0 and standard deviation 0.5, on a grid from 0.2 to 5
# * rates: a factor per category: observed over expected number of gold cases, shrunk towards 1
# * cases: number of gold cases that were used
# `labels` (patterns x categories) must be computed without the gold cases.
calibrate_labels <- function(labels, gold, x) {
  rated_gold <- which(rated_patterns(x)[x$index[gold$case]])
  case <- gold$case[rated_gold]
  truth <- gold$truth[rated_gold]
  weight <- drawn_weight(gold, rated_gold)
  weight <- weight / mean(weight) * weights_of_cases(x)[case]
  labels <- labels[x$index[case], , drop = FALSE]
  log_powers <- log(0.2) + 0:32 * log(25) / 32
  log_posterior <- vapply(log_powers, function(log_power) {
    probability_of_truth <- raise_power(labels, exp(log_power))[cbind(seq_along(truth), truth)]
    sum(weight * log(pmax(probability_of_truth, 1e-6))) - log_power^2 / (2 * 0.5^2)
  }, 0)
  power <- exp(stats::weighted.mean(log_powers, exp(log_posterior - max(log_posterior))))
  expected <- colSums(weight * raise_power(labels, power))
  observed <- rowsum_codes(truth, weight, ncol(labels))
  list(power = power, rates = unname((observed + 5) / (expected + 5)), cases = length(rated_gold))
}

# Raises probabilities to a power, multiplies them by a factor for each category (`rates`), and
# divides each row by its sum.
raise_power <- function(probability, power, rates = rep(1, ncol(probability))) {
  softmax(power * log(probability) + rep(log(rates), each = nrow(probability)))
}

# ---- Average of two models of the raters --------------------------------------------------------

# Computes labels from ratings (step 1), and returns them in the form of initial_labels(). Patterns
# of `x` must be split by known truth. The posterior is NA if labels are not identified.
average_labels <- function(x, known = nothing_known) {
  # The default of `votes` is that of all labels from ratings, and not that of a model.
  if (has_counts(x)) return(replace(labels_of_model(fit_raters(x), x = x), "votes", list(NULL)))
  has_known_truth <- has_known_values(known)
  x <- x$whole %||% x
  decision <- if (has_abstentions(x)) decide_abstain(x)
  use_abstentions <- isTRUE(decision$depends)
  x <- if (use_abstentions) keep_replying_raters(x, decision$constant) else
    without_constant_raters(x)
  if (length(known$truth) > 0L) known$truth <- truth_of_patterns(x)
  fit <- fit_algebraic(x)
  fit$identified <- if (has_known_truth) "yes" else
    decision$identified %||% identified_for_labels(fit)
  certain <- is_known_pattern(list(x = x, known = known))
  if (fit$identified != "yes") {
    reason <- reason_of_fit(fit)
    warn_fallible("not_identified", "Labels cannot be estimated: {reason}.",
      i = "Use {.code votes = 1} to count votes, or give cases with known truth as
        {.arg known_truth}.",
      reason = reason)
    return(list(x = x, posterior = unknown_posterior(x), certain = certain, reason = reason))
  }
  members <- average_members(x, known, decision)
  labels <- list(x = x, certain = certain, chance = !has_known_truth && agrees_by_chance(x),
    posterior = average_posterior(members, x, use_abstentions, certain))
  if (!has_known_truth && !is.null(decision$weak)) warn_abstain(x, decision)
  if (!use_abstentions) return(labels)
  c(labels, list(
    worth = effective_replies(x, members[[1L]]), by_replies = decision$by_replies,
    votes = if (length(unique(rating_category(x))) < 2L) 0
  ))
}

# Are both the agreement and the association of raters not significant? The test of agreement is
# first, because the other one compares all pairs of raters.
agrees_by_chance <- function(x) {
  any(find_leading(x)$chance) && !agrees_on_all(x) && is_weak_association(rater_association(x))
}

# Are labels identified from ratings only? Returns "yes" or the code of the reason why not. Labels
# need an association between raters, but not agreement above chance. With two raters, the
# association must be positive. Otherwise one of the raters may use the categories in the opposite
# sense, and the ratings do not show which one. The labels would then depend on the order of the
# raters.
identified_for_labels <- function(fit) {
  if (fit$identified == "constant_raters") return(fit$identified)
  two_raters <- length(unique(rating_rater(fit$x))) == 2L && !agrees_on_all(fit$x)
  if (two_raters && rater_association(fit$x)$excess <= 1e-9) return("unrelated")
  association_code(fit$x, fit$identified)
}

# Fits the two models of the raters, and returns the fits as a list. Both shrink the confusion
# matrices of raters towards a common matrix, the centre. In the centre of the second model
# (`one_coin`), all errors are equally probable. `decision`: result of decide_abstain(). It
# determines whether both models use abstentions, and may already contain the first fit.
average_members <- function(x, known, decision) {
  use_abstentions <- isTRUE(decision$depends)
  first_fit <- if (!has_known_values(known)) decision$fits[1L + use_abstentions]
  members <- c(first_fit, fit_around_centre(
    c(if (is.null(first_fit)) FALSE, TRUE), x, known,
    if (use_abstentions) abstention_arguments(x, TRUE)
  ))
  if (!all(map_lgl(members, `[[`, "converged"))) warn_convergence("average")
  warn_if(!has_known_values(known) && length(unique(rating_rater(x))) == 2L, "weakly_identified",
    "Where the two raters disagree, only the priors decide which is right.",
    i = "Add a third rater, or give {.arg known_truth} for some cases.", why = "two raters")
  members
}

# Mean posterior of the two fits (patterns x categories). `depends`: are abstentions used?
# `certain`: is the truth of the pattern known?
average_posterior <- function(members, x, depends, certain) {
  posterior <- (members[[1L]]$posterior + members[[2L]]$posterior) / 2
  # If raters used one category only, it gets probability one in all cases without known truth.
  used <- unique(rating_category(x))
  if (length(used) == 1L && !depends) set_known_truths(posterior, used * !certain) else posterior
}

# Fits pooled Dawid-Skene models, in which the matrices of raters are shrunk towards a common
# centre. Returns a list with a fit for each element of `one_coin`. If it is TRUE, all errors are
# equally probable in the centre. `parts`: arguments of the core for abstentions, from
# abstention_arguments(). With a million ratings or more, the fit stops earlier.
fit_around_centre <- function(one_coin, x, known, parts) {
  is_small <- n_ratings(x) < 1e6
  core_fit_pooled(
    x$patterns, weights_of_labels(x), known, c(unclass(dawid_skene()), parts), one_coin,
    if (is_small) 1e-9 else 1e-4, if (is_small) max_pooled_iterations else 3000L,
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
# likelihood of r ratings is multiplied by beta = 1 / (1 + (r - 1) rho), and the base rates stay the
# same. Base rates then have more influence, which could change the most probable category. In this
# case, the influence of the base rates is reduced by the factor `eta`, so that it does not change.
# `r`: number of ratings of each row of `posterior`. `weight`: number of cases of each row. Rows
# that are `certain` are not changed. `rates`: base rates of the population of each row, or NULL for
# one population.
flatten <- function(posterior, r, rho, weight, certain = FALSE, rates = NULL) {
  flattened <- which(!certain & r > 1 & !is.na(posterior[, 1L]))
  if (rho == 0 || length(flattened) == 0L) return(posterior)
  rates <- rates %||% t(matrix(colSums(posterior * weight, na.rm = TRUE), ncol(posterior),
    nrow(posterior)))
  rates <- rates[flattened, , drop = FALSE]
  original <- posterior[flattened, , drop = FALSE]
  beta <- 1 / (1 + (r[flattened] - 1) * rho)
  log_q <- log(pmax(original, 1e-300))
  log_rates <- log(pmax(rates / rowSums(rates), 1e-300))
  top <- max.col(log_q, "first")
  at_top <- cbind(seq_along(top), top)
  margin <- beta * (log_q[at_top] - log_q)
  change <- (1 - beta) * (log_rates - log_rates[at_top])
  largest_eta <- ifelse(change > 0, margin / (margin + change), 1)
  largest_eta[at_top] <- 1
  eta <- as.vector(do.call(pmin, asplit(largest_eta, 2L)))
  tied <- rowSums(exp(log_q) >= exp(log_q[at_top]) - 1e-12) > 1L
  eta[tied] <- 0
  log_flat <- beta * log_q + eta * (1 - beta) * log_rates
  log_flat[original == 0] <- -Inf
  posterior[flattened, ] <- softmax(log_flat)
  posterior
}

# Default of `rho`: the correlation, over cases, of two raters being correct. It is the mean over 25
# public sources of panels with known truth.
typical_rho <- 0.43

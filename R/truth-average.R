# Consensus labels: the mean posterior of two hierarchical models of the raters, flattened because
# raters share errors, mixed with smoothed vote shares, and calibrated on gold cases.

# ---- Labels before flattening and votes ---------------------------------------------------------

# A list:
# * x: ratings
# * posterior: a row per pattern of `x`
# * certain: a logical per pattern: is the truth known?
# * rho, votes: their defaults
# * reason: why labels are NA
# * worth: effective number of ratings of each pattern; NULL if abstentions are not used
# * by_replies: are labels identified by abstentions only? NULL if abstentions are not used
# * gold: a sample of known truths
# * blind: labels that do not use `gold`
labels_of <- function(x, ...) UseMethod("labels_of")

labels_of_model <- function(fit, gold = NULL, x = split_gold_patterns(fit$x, gold)) {
  pattern <- rows_for(fit$x, x)
  list(
    x = x, posterior = posterior(fit)[pattern, , drop = FALSE],
    certain = known_patterns(fit)[pattern] | (!is.null(gold) & truth_of_patterns(x) > 0L),
    rho = 0, votes = 0, reason = if (fit$identified != "yes") reason_of_fit(fit)
  )
}

set_average_defaults <- function(labels) {
  replace(labels, c("rho", "votes"), list(typical_rho, labels$votes %||% 0.5))
}

# `x` with separate patterns for gold cases.
split_gold_patterns <- function(x, gold) {
  if (is.null(gold)) return(x)
  code <- replace(integer(length(x$index)), gold$case, gold$truth)
  split_patterns(x, list(.truth = code))
}

# The truth by which patterns were split, 0 if it is not known.
truth_of_patterns <- function(x) x$patterns$values$.truth %||% integer(n_patterns(x))

# ---- Flattening, votes and calibration ----------------------------------------------------------

# `labels`: result of labels_of(). rho, votes: NULL for their defaults. Returns the labels with
# their final posterior; base_rates, those of the model; calibrated, the power and the number of
# gold cases of a calibration.
finish_labels <- function(labels, rho = NULL, votes = NULL) {
  labels$rho <- rho <- rho %||% labels$rho
  labels$votes <- votes <- if (isTRUE(labels$one_judge)) 0 else votes %||% labels$votes
  x <- labels$x
  certain <- labels$certain
  model <- labels$posterior
  truth <- truth_of_patterns(x)
  at <- which(certain & truth > 0L)
  model[at, ] <- as.double(col(model)[at, ] == truth[at])
  worth <- function(labels) labels$worth %||% pattern_lengths(x)
  model <- flatten(model, worth(labels), rho, pattern_weights(x), certain)
  labels$base_rates <- label_rates(x, model)
  labels$posterior <- mix_votes(model, x, votes, certain)
  if (is.null(labels$blind)) return(labels)
  blind <- flatten(labels$blind$posterior, worth(labels$blind), rho, pattern_weights(x))
  scale <- calibrate_labels(mix_votes(blind, x, votes), labels$gold, x)
  open <- which(!certain & worth(labels) > 0)
  labels$posterior[open, ] <- raise_power(labels$posterior[open, , drop = FALSE], scale$power,
    scale$rates)
  labels$calibrated <- scale[c("power", "cases")]
  labels
}

# Mean of the labels over cases, for each category.
label_rates <- function(x, posterior) {
  known <- which(!is.na(posterior[, 1L]))
  times <- pattern_times(x)[known]
  na_real(colSums(posterior[known, , drop = FALSE] * times) / sum(times))
}

# Mixture of the labels of a model with smoothed shares of votes: two pseudo-votes are spread evenly
# over all categories (Laplace's rule of succession for two categories).
mix_votes <- function(model, x, votes, certain = FALSE) {
  if (votes == 0) return(model)
  n <- pattern_counts(x)
  open <- which((rowSums(n) > 0 | votes == 1) & !certain)
  smoothed <- (n[open, , drop = FALSE] + 2 / ncol(n)) / (rowSums(n)[open] + 2)
  model[open, ] <- if (votes == 1) smoothed else # the model may be NA
    (1 - votes) * model[open, , drop = FALSE] + votes * smoothed
  model
}

# Calibration of labels. `power`: the power at which probabilities match the share of correct labels
# on gold cases. It is averaged over a normal prior of its logarithm. `rates`: a factor per
# category, from the numbers of gold cases. `labels` (patterns x categories) must not depend on the
# gold cases.
calibrate_labels <- function(labels, gold, x) {
  used <- which(rated_patterns(x)[x$index[gold$case]])
  case <- gold$case[used]
  truth <- gold$truth[used]
  weight <- drawn_weight(gold, used)
  weight <- weight * length(used) / sum(weight) * weights_of_cases(x)[case]
  labels <- labels[x$index[case], , drop = FALSE]
  logs <- log(0.2) + 0:32 * log(25) / 32
  fit <- vapply(logs, function(log_power) {
    right <- raise_power(labels, exp(log_power))[cbind(seq_along(truth), truth)]
    sum(weight * log(pmax(right, 1e-6))) - log_power^2 / (2 * 0.5^2)
  }, 0)
  share <- exp(fit - max(fit))
  power <- exp(sum(share * logs) / sum(share))
  expected <- colSums(weight * raise_power(labels, power))
  observed <- rowsum_codes(truth, weight, ncol(labels))
  list(power = power, rates = unname((observed + 5) / (expected + 5)), cases = length(used))
}

# Rows proportional to powers of the probabilities times a rate for each category.
raise_power <- function(probability, power, rates = rep(1, ncol(probability))) {
  softmax(power * log(probability) + rep(log(rates), each = nrow(probability)))
}

# ---- The average --------------------------------------------------------------------------------

# A list for labels_of(): x, posterior, certain, and reason or other fields. Patterns of x are split
# by known truth. The posterior is NA if labels are not identified.
average_labels <- function(x, known = nothing_known) {
  if (has_counts(x)) return(labels_of_model(fit_raters(x), x = x))
  informed <- knows_some(known)
  x <- x$whole %||% x
  decision <- if (has_abstentions(x)) decide_abstain(x)
  depends <- isTRUE(decision$depends)
  x <- if (depends) keep_replying_raters(x, decision$constant) else without_constant_raters(x)
  if (length(known$truth) > 0L) known$truth <- truth_of_patterns(x)
  fit <- fit_algebraic(x)
  fit$identified <- if (informed) "yes" else decision$identified %||% identified_for_labels(fit)
  certain <- known_patterns(list(x = x, known = known))
  if (fit$identified != "yes") {
    reason <- reason_of_fit(fit)
    warn_fallible("not_identified", "Labels cannot be estimated: {reason}.",
      i = "{.code votes = 1} counts votes; {.arg known_truth} takes cases whose truth is known.",
      reason = reason)
    return(list(x = x, posterior = unknown_posterior(x), certain = certain, reason = reason))
  }
  members <- average_members(x, known, decision)
  out <- list(x = x, certain = certain,
    posterior = average_posterior(members, x, depends, certain))
  if (!informed && !is.null(decision$weak)) warn_abstain(x, decision)
  if (!depends) return(out)
  c(out, list(
    worth = replies_worth(x, members[[1L]]), by_replies = decision$by_replies,
    votes = if (length(unique(rating_category(x))) < 2L) 0
  ))
}

# Labels need association between raters, not agreement above chance. If the association of two
# raters is not positive, one of them uses the names of the categories in the opposite sense. It is
# not identified which one, so the labels would depend on the order of the raters.
identified_for_labels <- function(fit) {
  if (fit$identified == "constant_raters") return(fit$identified)
  two <- length(unique(rating_rater(fit$x))) == 2L && !agrees_on_all(fit$x)
  if (two && association_of(fit$x)$excess <= 1e-9) return("unrelated")
  shown_by_association(fit$x, fit$identified)
}

# Fits two models of the raters, which use abstentions if `decision` does.
average_members <- function(x, known, decision) {
  depends <- isTRUE(decision$depends)
  parts <- if (depends) abstain_parts(x, TRUE)
  done <- if (!knows_some(known)) decision$fits[1L + depends]
  one_coin <- c(if (is.null(done)) FALSE, TRUE)
  members <- c(done, fit_around_centre(one_coin, x, known, parts))
  if (!all(vapply(members, `[[`, NA, "converged"))) warn_convergence("average")
  warn_if(!knows_some(known) && length(unique(rating_rater(x))) == 2L, "weakly_identified",
    "Where the two raters disagree, only the priors decide which is right.",
    i = "Add a third rater, or give {.arg known_truth} for some cases.", why = "two raters")
  members
}

average_posterior <- function(members, x, depends, certain) {
  posterior <- (members[[1L]]$posterior + members[[2L]]$posterior) / 2
  # If raters used one category only, it gets probability one in all cases without known truth.
  used <- unique(rating_category(x))
  open <- !certain
  if (length(used) == 1L && !depends) posterior[open, ] <- as.double(col(posterior) == used)[open]
  posterior
}

# A list of fits, one for each element of `one_coin`. For `parts`, see abstain_parts().
fit_around_centre <- function(one_coin, x, known, parts = NULL) {
  numbers_matter <- n_ratings(x) < 1e6
  core_fit_pooled(
    x$patterns, weights_of_labels(x), known, c(unclass(dawid_skene()), parts), one_coin,
    if (numbers_matter) 1e-9 else 1e-4, if (numbers_matter) pooled_rounds else 3000L,
    default_threads(), no_tick
  )
}

# Weights that are probabilities are scaled to the number of cases.
weights_of_labels <- function(x) {
  weight <- pattern_weights(x)
  if (weights_are_counts(x)) weight else weight * sum(x$weights > 0) / sum(weight)
}

# Flattens probabilities because raters have correlated errors. The evidence of r ratings is
# multiplied by 1 / (1 + (r - 1) rho). If this would change the most probable category, base rates
# are weakened instead. Rows represent `weight` cases.
flatten <- function(posterior, r, rho, weight, certain = FALSE) {
  open <- which(!certain & r > 1 & !is.na(posterior[, 1L]))
  if (rho == 0 || length(open) == 0L) return(posterior)
  rates <- colSums(posterior * weight, na.rm = TRUE)
  before <- posterior[open, , drop = FALSE]
  beta <- 1 / (1 + (r[open] - 1) * rho)
  log_q <- log(pmax(before, 1e-300))
  log_rates <- log(pmax(rates / sum(rates), 1e-300))
  top <- max.col(log_q, "first")
  at_top <- cbind(seq_along(top), top)
  lead <- beta * (log_q[at_top] - log_q)
  lost <- (1 - beta) * outer(-log_rates[top], log_rates, `+`)
  keep <- ifelse(lost > 0, lead / (lead + lost), 1)
  keep[at_top] <- 1
  eta <- do.call(pmin, asplit(keep, 2L))
  tied <- rowSums(exp(log_q) >= exp(log_q[at_top]) - 1e-12) > 1L
  eta[tied] <- 0
  out <- beta * log_q + (eta * (1 - beta)) %o% log_rates
  out[before == 0] <- -Inf
  posterior[open, ] <- softmax(out)
  posterior
}

# Correlation of two raters being correct on the same case: the mean of 25 families of panels with
# known truth.
typical_rho <- 0.43

# Labels of the average: the mean posterior of two hierarchical models of the raters alone, and
# probabilities that allow for what raters have in common.

# A list: x, ratings with a pattern for each known truth; posterior, patterns x categories, NA where
# nothing follows from the ratings; certain, a logical per pattern.
average_labels <- function(x, known = nothing_known) {
  if (has_counts(x)) return(k_model_labels(x))
  certain <- if (length(known$truth) > 0L) known$truth > 0L else logical(n_patterns(x))
  identified <- "yes"
  informed <- any(certain) || any(lengths(known$raters) > 0L) || length(known$counts) > 0L
  if (!informed) identified <- shown_by_association(x, fit_algebraic(x, k_model())$identified)
  if (identified != "yes") {
    warn_fit(new_rater_fit(
      list(x = x, identified = identified, agreement = NA_real_), "latent_fit"
    ))
    posterior <- matrix(NA_real_, n_patterns(x), length(x$categories))
  } else {
    members <- lapply(c(pooled = FALSE, one_coin = TRUE), labels_around_centre, x, known)
    if (!all(vapply(members, `[[`, NA, "converged"))) warn_convergence("average")
    if (!informed) warn_two_raters(x)
    posterior <- in_use(x, (members$pooled$posterior + members$one_coin$posterior) / 2)
  }
  list(x = x, posterior = posterior, certain = certain)
}

# A category that nobody used, alone or not, is that of no case.
in_use <- function(x, posterior) {
  used <- unique(rating_category(x))
  if (length(used) == 1L) {
    posterior[] <- 0
    posterior[, used] <- 1
  }
  posterior
}

k_model_labels <- function(x) {
  fit <- fit_raters(x)
  list(x = x, posterior = posterior(fit), certain = logical(n_patterns(x)))
}

labels_around_centre <- function(one_coin, x, known) {
  numbers_matter <- n_ratings(x) < 1e6
  core_fit_pooled(
    x$patterns, weights_of_labels(x), known, unclass(dawid_skene()), one_coin,
    if (numbers_matter) 1e-7 else 1e-4, if (numbers_matter) pooled_rounds else 3000L, no_tick
  )[c("posterior", "converged")]
}

# Weights that are probabilities count as so many cases as there are.
weights_of_labels <- function(x) {
  weight <- pattern_weights(x)
  if (weights_are_counts(x)) weight else weight * sum(x$weights > 0) / sum(weight)
}

warn_two_raters <- function(x) {
  warn_if(length(unique(rating_rater(x))) == 2L, "weakly_identified",
    "Where the two raters disagree, only the priors decide which is right.",
    i = "Add a third rater, or give {.arg known_truth} for some cases.", why = "two raters")
}

# Probabilities that are as sure as raters with correlated errors allow: evidence of r ratings
# counts for 1 / (1 + (r - 1) rho) of itself, and where that would overturn the most probable
# category the base rates give way. Rows stand for `weight` cases.
flatten <- function(posterior, r, rho, weight, certain = logical(nrow(posterior))) {
  do <- which(!certain & r > 1 & !is.na(posterior[, 1L]))
  if (rho == 0 || length(do) == 0L) return(posterior)
  rates <- colSums(posterior * weight, na.rm = TRUE)
  posterior[do, ] <- flatten_rows(
    log(pmax(posterior[do, , drop = FALSE], 1e-300)), 1 / (1 + (r[do] - 1) * rho),
    log(pmax(rates / sum(rates), 1e-300)), posterior[do, , drop = FALSE] == 0
  )
  posterior
}

flatten_rows <- function(log_q, beta, log_rates, impossible) {
  top <- max.col(log_q, "first")
  at_top <- log_q[cbind(seq_along(top), top)]
  lead <- beta * (at_top - log_q)
  lost <- (1 - beta) * (matrix(log_rates, nrow(log_q), ncol(log_q), byrow = TRUE) - log_rates[top])
  keep <- ifelse(lost > 0, lead / (lead + lost), 1)
  keep[cbind(seq_along(top), top)] <- 1
  eta <- do.call(pmin, lapply(seq_len(ncol(keep)), function(k) keep[, k]))
  tied <- rowSums(exp(log_q) >= exp(at_top) - 1e-12) > 1L
  eta[tied] <- 0
  out <- beta * log_q + (eta * (1 - beta)) %o% log_rates
  out[impossible] <- -Inf
  out <- exp(out - out[cbind(seq_along(top), top)])
  out / rowSums(out)
}

# What typical raters have in common: the correlation of two raters' being right on the same case,
# the mean of 25 families of panels with known truth.
typical_rho <- 0.43

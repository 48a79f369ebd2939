# Labels of the average: the mean posterior of two hierarchical models of the raters alone, and
# probabilities that allow for what raters have in common.

# A list: x, ratings with a pattern for each known truth; posterior, patterns x categories, NA where
# nothing follows from the ratings; certain, a logical per pattern.
average_labels <- function(x, known = nothing_known) {
  if (has_counts(x)) {
    return(list(x = x, posterior = posterior(fit_raters(x)), certain = logical(n_patterns(x))))
  }
  informed <- knows_some(known)
  fit <- fit_algebraic(x, k_model())
  fit$identified <- if (informed) "yes" else shown_by_association(x, fit$identified)
  warn_fit(fit)
  if (fit$identified == "yes") {
    members <- lapply(c(FALSE, TRUE), labels_around_centre, x, known)
    if (!all(vapply(members, `[[`, NA, "converged"))) warn_convergence("average")
    warn_if(!informed && length(unique(rating_rater(x))) == 2L, "weakly_identified",
      "Where the two raters disagree, only the priors decide which is right.",
      i = "Add a third rater, or give {.arg known_truth} for some cases.", why = "two raters")
    posterior <- (members[[1L]]$posterior + members[[2L]]$posterior) / 2
    # A category that nobody used, alone or not, is that of no case.
    used <- unique(rating_category(x))
    if (length(used) == 1L) posterior[] <- as.double(col(posterior) == used)
  } else {
    posterior <- unknown_posterior(x)
  }
  list(x = x, posterior = posterior, certain = known_patterns(list(x = x, known = known)))
}

labels_around_centre <- function(one_coin, x, known) {
  numbers_matter <- n_ratings(x) < 1e6
  core_fit_pooled(
    x$patterns, weights_of_labels(x), known, unclass(dawid_skene()), one_coin,
    if (numbers_matter) 1e-9 else 1e-4, if (numbers_matter) pooled_rounds else 3000L, no_tick
  )[c("posterior", "converged")]
}

# Weights that are probabilities count as so many cases as there are.
weights_of_labels <- function(x) {
  weight <- pattern_weights(x)
  if (weights_are_counts(x)) weight else weight * sum(x$weights > 0) / sum(weight)
}

# Probabilities that are as sure as raters with correlated errors allow: evidence of r ratings
# counts for 1 / (1 + (r - 1) rho) of itself, and where that would overturn the most probable
# category the base rates give way. Rows stand for `weight` cases.
flatten <- function(posterior, r, rho, weight, certain = FALSE) {
  do <- which(!certain & r > 1 & !is.na(posterior[, 1L]))
  if (rho == 0 || length(do) == 0L) return(posterior)
  rates <- colSums(posterior * weight, na.rm = TRUE)
  before <- posterior[do, , drop = FALSE]
  beta <- 1 / (1 + (r[do] - 1) * rho)
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
  out <- exp(out - out[at_top])
  posterior[do, ] <- out / rowSums(out)
  posterior
}

# What typical raters have in common: the correlation of two raters' being right on the same case,
# the mean of 25 families of panels with known truth.
typical_rho <- 0.43

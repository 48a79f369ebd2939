# Identification of models with unequal raters: is there association between raters, and which
# latent class is which category?

# Models with unequal raters are identified by association between raters. Models with equal errors
# need agreement above 1 / number of categories instead.
needs_association <- function(model, x) {
  !has_counts(x) &&
    (!is.null(model$family) || is_outside_core(model) || model$accuracy == "rater")
}

# Is the association of raters not significant?
is_weak_association <- function(association) {
  association$statistic < stats::qchisq(0.95, max(association$df, 1))
}

association_of <- function(x) as.list(core_association(x$patterns, weights_of_labels(x)))

# `identified`: identification of the K-model. Raters who always agree are not at chance. Pairs of
# raters with one common case are no evidence of association, but they enter Fleiss' kappa.
shown_by_association <- function(x, identified) {
  if (identified == "no_pairs") return(identified)
  x <- without_constant_raters(x)
  association <- association_of(x)
  agreement <- core_fit_algebraic(x$patterns, pattern_weights(x))$agreement
  related <- association$excess > 1e-9 || association$statistic > association$df ||
    agrees_beyond_chance(x, agreement) || agrees_on_all(x)
  if (related) "yes" else "unrelated"
}

# Is agreement too low for the K-model, but not for models with unequal raters? Two raters are too
# few for these.
shows_unequal_raters <- function(x) {
  x <- with_votes(x)
  length(unique(rater_identity(x)[rating_rater(x)])) > 2L &&
    shown_by_association(x, "chance") == "yes"
}

need_unequal <- "raters agree less than equal errors allow: name a model, e.g. dawid_skene()"

# Code of the identification of a fit, for reason_not_identified().
identification_of <- function(fit) {
  if (fit$identified == "chance" && shows_unequal_raters(fit$x)) "unequal" else fit$identified
}

agrees_on_all <- function(x) {
  at <- rating_pattern(x)
  all(rating_category(x) == rating_category(x)[match(at, at)])
}

# Are truths, raters or calibration samples known? `known`: see resolve_known().
knows_some <- function(known) {
  any(known$truth > 0L) || any(lengths(c(known$raters, known$counts)) > 0L)
}

no_better_than_chance <- "the raters' agreement is barely distinguishable from chance"

# Warns if a fit with free errors is only weakly identified.
warn_weakly_identified <- function(fit) {
  x <- fit$x
  if (knows_some(fit$known)) return()
  depends <- uses_abstentions(fit$model) && !is.null(x$panel$abstain)
  if (depends) warn_abstain(x, x$panel$abstain, TRUE)
  if (agrees_on_all(x)) return()
  if (!depends && is_weak_association(association_of(x))) {
    warn_weak(no_better_than_chance)
  } else if (rates_are_prior(fit)) {
    warn_weak("base rates are mostly prior")
  }
  opposite <- share_of_opposite(fit)
  if (opposite > 1 / 3) {
    warn_weak(paste0(
      "raters who use the labels in the opposite sense gave ", percent(opposite),
      " of the ratings; classes are named by the majority"
    ))
  }
}

# Warns if the ratings of two raters cannot test the model. They can only if populations have
# different base rates.
warn_unchecked <- function(fit) {
  x <- without_constant_raters(fit$x)
  untestable <- fit$identified != "yes" || has_counts(x) || knows_some(fit$known) ||
    uses_abstentions(fit$model) || length(unique(rating_rater(x))) != 2L
  if (untestable) return(invisible())
  population <- population_of_patterns(x, fit$model)
  if (length(population) > 0L) {
    cells <- stats::xtabs(pattern_weights(x) ~ population + keys(as.data.frame(pattern_codes(x))))
    same <- suppressWarnings(stats::chisq.test(cells, correct = FALSE)$p.value)
    if (nrow(cells) <= 20L && !isTRUE(same < 0.05)) {
      warn_weak("two raters need populations whose base rates differ, and these do not visibly")
    }
  } else if (used_categories(x) == 2L && fit$method != "bayes") {
    warn_weak(paste(
      "two raters and two categories agree with it whatever is true, so that ratings cannot check",
      "what it assumes"
    ))
  }
}

warn_weak <- function(why) {
  warn_fallible("weakly_identified", "The model is only weakly identified: {why}.",
    i = "Known truth for some cases, or more raters, would help.", why = why)
}

# Do the ratings have less information about base rates than the prior? Uses the covariance of the
# estimates if it is fast to compute. The information in the ratings is the inverse of the
# covariance minus the information in the prior.
rates_are_prior <- function(fit, most = 2e6) {
  used <- which(fit$base_rates > 0)
  work <- length(fit$theta)^2 * n_patterns(fit$x) * length(used)
  if (length(fit$model$prior) == 0L || !weights_are_counts(fit$x) || work > most) return(FALSE)
  rates <- fit$base_rates[used[-1L]]
  at <- match(rate_terms(fit$x)[used[-1L]], names(fit$coefficients))
  covariance <- covariance_of(fit)$covariance[at, at, drop = FALSE]
  if (is.null(covariance) || anyNA(covariance)) return(FALSE)
  logit <- diag(rates, length(rates)) - rates %o% rates
  relative <- length(used) * covariance %*% solve(logit)
  max(Re(eigen(relative, only.values = TRUE)$values)) > 0.5
}

# Raters x true categories: expected number of ratings by each rater on cases of each category.
ratings_by_truth <- function(fit) {
  x <- fit$x
  weighted <- (fit$posterior * pattern_weights(x))[rating_pattern(x), , drop = FALSE]
  rowsum_rows(rating_rater(x), weighted, n_raters(x))
}

# Raters x true categories: expected number of ratings, and of cases in a calibration sample. Inf
# for raters whose matrix is known.
sizes_by_truth <- function(fit) {
  out <- ratings_by_truth(fit)
  for (j in which(lengths(fit$known$counts) > 0L)) {
    out[j, ] <- out[j, ] + rowSums(fit$known$counts[[j]])
  }
  out[is_known_rater(fit), ] <- Inf
  out
}

# Share of ratings by raters who confuse the names of two categories, by two standard errors.
share_of_opposite <- function(fit) {
  by_truth <- ratings_by_truth(fit)
  opposite <- vapply(seq_along(fit$x$raters), function(j) {
    is_opposite(fit$matrices[j, , ], by_truth[j, ])
  }, NA)
  ratings <- ratings_of_raters(fit$x)
  sum(ratings[opposite]) / sum(ratings)
}

is_opposite <- function(matrix, n) {
  used <- n > 0 & !is.na(matrix[, 1L])
  if (sum(used) < 2L) return(FALSE)
  right <- diag(matrix)[used]
  confused <- vapply(which(used), function(k) max(matrix[setdiff(which(used), k), k]), 0)
  error <- function(p) p * (1 - p) / n[used]
  any(right - confused < -2 * sqrt(error(right) + error(pmin(confused, 1))))
}

# ---- Names of classes ---------------------------------------------------------------------------

# Parameters of the fit after its classes are renamed to the categories that most ratings give them.
# NULL if no class changes its name.
renamed_theta <- function(core, x, model, known) {
  n <- n_categories(x)
  gain <- apply(core$confusion * ratings_of_raters(x), c(2L, 3L), sum)
  name <- core_best_names(as.vector(t(gain)), n)
  if (identical(name, seq_len(n))) return(NULL)
  class <- order(name)
  matrices <- core$confusion[, class, , drop = FALSE]
  safe_log <- function(p) log(pmax(p, 1e-15))
  # Coefficients of the logits, categories x columns. Those of the last category are 0.
  size <- (n - 1L) * max(1L, length(known$base$names))
  rates <- rbind(matrix(core$theta[seq_len(size)], n - 1L), 0)[class, , drop = FALSE]
  rates <- as.vector(rates[-n, , drop = FALSE] - rep(rates[n, ], each = n - 1L))
  right <- apply(matrices, 1L, diag) # categories x raters
  errors <- safe_log(aperm(matrices, 3:1)) # ratings x truths x raters
  correct <- rep(diag(n) == 1, n_raters(x))
  errors[correct] <- NA
  errors <- errors - rep(colMeans(errors, na.rm = TRUE), each = n)
  errors[correct] <- 0
  mean_logit <- if (length(model$prior) > 0L) mean(stats::qlogis(pmin(pmax(right, 1e-6), 1 - 1e-6)))
  levels <- utils::tail(core$theta, 2L * max(model$levels - 1L, 0L))
  c(rates, mean_logit, safe_log(right) - safe_log(1 - right), errors, levels)
}

# ---- Raters who always give the same answer -----------------------------------------------------

# Names of the raters who always give the same answer (see core/ratings/constant.hpp). They are
# computed once per panel and stored in field `panel$constant`, not again for groups of its cases.
constant_raters <- function(x) {
  if (has_counts(x)) return(character())
  x$panel$constant %||% x$raters[core_constant_raters(x$patterns, pattern_cases(x))]
}

# `x` without constant raters. If the other raters carry no information, all are kept, and
# `only_constant` is TRUE.
without_constant_raters <- function(x) {
  x$panel$constant <- constant_raters(x)
  left_out <- match(intersect(x$panel$constant, x$raters), x$raters)
  if (length(left_out) == 0L) return(x)
  if (length(left_out) < n_raters(x)) {
    varied <- x[, -left_out]
    if (!lacks_information(varied)) {
      if (has_abstentions(x)) varied$whole <- x
      return(varied)
    }
  }
  x$only_constant <- TRUE
  x
}

# Is the accuracy not identified from the raters that are left?
lacks_information <- function(x) {
  fit <- core_fit_algebraic(x$patterns, pattern_weights(x))
  fit$identified == "no_pairs" || length(unique(rating_category(x))) < 2L ||
    (association_of(x)$df == 0 && !agrees_beyond_chance(x, fit$agreement))
}

# Is Fleiss' kappa positive, apart from rounding?
agrees_beyond_chance <- function(x, agreement) {
  isTRUE(kappa_of_agreement(x, agreement) > 1e-9)
}

reason_constant <- paste(
  "raters who always give the same answer carry no information about the truth, and without them",
  "no case has two ratings"
)

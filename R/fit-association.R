# Identification of models in which raters differ in accuracy, and warnings. Tests of association
# between raters. Assignment of categories to latent classes.

# Returns TRUE if the association of raters is not significant at level .05. `association`: a
# result of rater_association().
is_weak_association <- function(association) {
  association$statistic < qchisq(0.95, max(association$df, 1))
}

# Tests the association between the ratings of pairs of raters. Returns a list: `excess`, the
# agreement beyond independence, in numbers of cases; and `statistic` and `df` of a chi-square test.
rater_association <- function(x) as.list(core_association(x$patterns, weights_of_labels(x)))

# Returns "yes" if ratings of different raters are associated, otherwise a code of the reason.
# `identified`: identification code of the K-model. Agreement on all cases counts as association.
# So does positive Fleiss' kappa, which also uses pairs of raters with only one common case; the
# chi-square test does not use these pairs.
association_code <- function(x, identified) {
  if (identified == "no_pairs") return(identified)
  x <- without_constant_raters(x)
  if (agrees_beyond_chance(x) || raters_always_agree(x)) return("yes")
  association <- rater_association(x) # slow in large crowds
  if (association$excess > 1e-9 || association$statistic > association$df) "yes" else "unrelated"
}

# Returns TRUE if models in which raters differ in accuracy are identified, although agreement is
# too low for the K-model. Such models need more than two raters.
shows_unequal_raters <- function(x) {
  x <- with_votes(x)
  n_distinct(rater_identity(x)[rating_rater(x)]) > 2L &&
    association_code(x, "chance") == "yes"
}

reason_unequal_needed <-
  "raters agree too little for a model with equal errors: fit, for example, dawid_skene()"

# Returns the identification code of a fit, for why_not_identified(). The code is "unequal" if the
# K-model is not identified, but models in which raters differ in accuracy are.
identification_code <- function(fit) {
  if (fit$identified == "chance" && shows_unequal_raters(fit$x)) "unequal" else fit$identified
}

raters_always_agree <- function(x) {
  pattern <- rating_pattern(x)
  all(rating_category(x) == rating_category(x)[match(pattern, pattern)])
}

# Returns TRUE if the truth of some cases, or the error rates of some raters, are known. `known`:
# element `known` of resolve_known().
has_known_values <- function(known) {
  any(known$truth > 0L) || any(lengths(c(known$raters, known$counts)) > 0L)
}

reason_near_chance <- "the raters' agreement is barely distinguishable from chance"

# Gives the warnings about a fit that is identified. The methods depend on the class of the fit. A
# fit by likelihood may be without convergence, weakly identified, or may exchange categories.
warn_identified_fit <- function(fit) UseMethod("warn_identified_fit")

warn_identified_fit.rater_fit <- function(fit) {
  kind <- rep_len(rater_kind(fit) %||% NA_character_, n_raters(fit$x))
  machines_with_counts <- fit$x$raters[is_known_rater(fit, "counts") & kind %in% machine_kinds]
  warn_if(length(machines_with_counts) > 1L, "known_independent",
    "The fit assumes that {.val {machines_with_counts}} err independently, which machines rarely
        do.",
    i = "Put them into one group with {.arg rater_groups} of {.fun ratings}. Then give the counts of
        the majority vote of the group: {.code known_raters = list(group_name = counts)}.",
    raters = machines_with_counts)
  if (!fit$converged) warn_convergence(fit$method)
  if (fit$model$accuracy == "rater" && fit$model$errors == "free") {
    return(warn_weakly_identified(fit))
  }
  # Two categories are reported if exchanging them increases the diagonal of the mean confusion
  # matrix.
  mean_matrix <- colMeans(fit$matrices, na.rm = TRUE)
  exchange_gain <- mean_matrix + t(mean_matrix) - outer(diag(mean_matrix), diag(mean_matrix), `+`)
  switched <- fit$x$categories[rowSums(exchange_gain > 1e-6, na.rm = TRUE) > 0]
  warn_if(switched, "switched",
    "In the fitted model, raters mostly confuse these categories with each other:
        {.val {switched}}.",
    i = "The likelihood does not determine which latent class is which category. Merge categories,
        choose a simpler model, or check who the raters are.", categories = switched)
}

warn_identified_fit.judge_fit <- function(fit) {
  limits <- calibrated_interval(fit$calibrated, default_conf_level())
  wide_categories <- fit$x$categories[limits[, 2L] - limits[, 1L] > 0.5]
  warn_if(wide_categories, "weakly_identified",
    "The calibration sample is too small to estimate the base rate of {.val {wide_categories}}: the
        interval is wider than .5.",
    i = "Use a calibration sample with more cases of each category.", categories = wide_categories)
}

warn_identified_fit.k_fit <- function(fit) {
  if (fit$negative == 0L) return()
  x <- fit$x
  zero_categories <- x$categories[fit$base_rates == 0]
  # Patterns with a rating in a category whose base rate is positive.
  possible_patterns <- rating_pattern(x)[fit$base_rates[rating_category(x)] > 0]
  n_contradicted <- count_cases(x, setdiff(which(is_rated_pattern(x)), possible_patterns))
  warn_fallible("boundary", c(
    "Negative estimates of base rates were set to zero: {.val {zero_categories}}.",
    "i" = "This happens by chance in small samples and with weak raters; in large samples it is a
           sign that the model does not fit. The other base rates were rescaled to sum to one.",
    if (n_contradicted > 0) c(
      "!" = "In {count_noun(n_contradicted, 'case')} every rater chose a category whose base rate is
             now zero. Merge rare categories, or check the labels."
    )
  ), negative = fit$negative, categories = zero_categories, against = n_contradicted)
}

# Warns if a fit with separate, free confusion matrices of raters is only weakly identified.
warn_weakly_identified <- function(fit) {
  x <- fit$x
  if (has_known_values(fit$known)) return()
  models_abstentions <- uses_abstentions(fit$model) && !is.null(x$panel$abstain)
  if (models_abstentions) warn_abstain(x, x$panel$abstain, TRUE)
  if (raters_always_agree(x)) return()
  if (!models_abstentions && is_weak_association(rater_association(x))) {
    warn_weak(reason_near_chance)
  } else if (has_rates_from_prior(fit)) {
    warn_weak("the estimated base rates depend mostly on the prior")
  }
  opposite_share <- share_from_exchanging_raters(fit)
  if (opposite_share > 1 / 3) {
    warn_weak(fill_template("raters who use the labels in the opposite sense gave %s of the
      ratings; the labels of the majority are assumed to be right", percent(opposite_share)))
  }
}

# Warns if the assumptions of the model cannot be tested because only two raters gave ratings. Two
# raters suffice if there are populations with different base rates.
warn_association_untested <- function(fit) {
  x <- without_constant_raters(fit$x)
  needs_no_warning <- fit$identified != "yes" || has_counts(x) || has_known_values(fit$known) ||
    uses_abstentions(fit$model) || n_distinct(rating_rater(x)) != 2L
  if (needs_no_warning) return()
  populations <- population_table(fit$model, x)
  if (!is.null(populations)) {
    pattern_table <- tapply(pattern_weights(x), list(
      population_of(pattern_covariates(x), populations),
      number_distinct_rows(as.data.frame(pattern_codes(x)))
    ), sum, default = 0)
    p_value <- suppressWarnings(chisq.test(pattern_table, correct = FALSE)$p.value)
    if (nrow(pattern_table) <= 20L && !isTRUE(p_value < 0.05)) {
      warn_weak("two raters need populations whose base rates differ; no difference is visible")
    }
  } else if (count_used_categories(x) == 2L && fit$method != "bayes") {
    warn_weak(one_line("with two raters and two categories, it fits all possible ratings, so its
      assumptions cannot be tested"))
  }
}

warn_weak <- function(why) {
  warn_fallible("weakly_identified", "The model is only weakly identified: {why}.",
    i = "Give the truth of some cases as {.arg known_truth}, or use more raters.", why = why)
}

# Returns TRUE if the ratings have less information about base rates than the prior. The information
# in the ratings is the inverse of the covariance of the estimates minus the information in the
# prior. Returns FALSE without a check if the covariance needs more than 2e6 steps.
has_rates_from_prior <- function(fit) {
  positive_rates <- which(fit$base_rates > 0)
  n_steps <- length(fit$theta)^2 * n_patterns(fit$x) * length(positive_rates)
  if (is_empty(fit$model$prior) || !weights_are_counts(fit$x) || n_steps > 2e6) return(FALSE)
  other_rates <- positive_rates[-1L]
  rates <- fit$base_rates[other_rates]
  coefficient_index <- match(rate_terms(fit$x)[other_rates], names(fit$coefficients))
  covariance <- covariance_of(fit)$covariance[coefficient_index, coefficient_index, drop = FALSE]
  if (is.null(covariance) || anyNA(covariance)) return(FALSE)
  logit_information <- diag(rates, length(rates)) - rates %o% rates
  relative_covariance <- length(positive_rates) * covariance %*% solve(logit_information)
  max(Re(eigen(relative_covariance, only.values = TRUE)$values)) > 0.5
}

# Returns the expected number of ratings by each rater of cases in each category, a matrix (raters x
# true categories).
count_ratings_by_truth <- function(fit) {
  x <- fit$x
  rowsum_rows(rating_rater(x), pick_rows(fit$posterior * pattern_weights(x), rating_pattern(x)),
    n_raters(x))
}

# Returns the number of observations from which each row of a confusion matrix is estimated: a
# matrix (raters x true categories). It is the expected number of ratings plus the number of cases
# in the rater's calibration sample. It is Inf for raters whose matrix is known.
count_observations_by_truth <- function(fit) {
  out <- count_ratings_by_truth(fit)
  for (j in which(lengths(fit$known$counts) > 0L)) {
    out[j, ] <- out[j, ] + rowSums(fit$known$counts[[j]])
  }
  out[is_known_rater(fit), ] <- Inf
  out
}

# Returns the share of ratings that come from raters who seem to exchange categories. Such a rater
# gives some category less often when it is true than when another category is true. The difference
# is more than two standard errors.
share_from_exchanging_raters <- function(fit) {
  n <- count_ratings_by_truth(fit)
  p <- replace(fit$matrices, n == 0, NA) # raters x truths x ratings
  variance <- bernoulli_variance(p) / as.vector(n)
  is_exchanged <- vapply(seq_len(ncol(n)), function(k) {
    difference <- p[, -k, k, drop = FALSE] - p[, k, k] # for each other truth
    error <- sqrt(variance[, -k, k, drop = FALSE] + variance[, k, k])
    rowSums(difference > 2 * error, na.rm = TRUE) > 0
  }, logical(nrow(n)))
  ratings <- ratings_of_raters(fit$x)
  sum(ratings[rowSums(matrix(is_exchanged, nrow(n))) > 0]) / sum(ratings)
}

# ---- Names of classes ---------------------------------------------------------------------------

# Assigns to each latent class the category that is most frequent among its ratings. Returns the
# parameters of the fit, a vector, in the new order of classes. Returns NULL if the order does not
# change. `core`: estimates from the core.
reorder_classes <- function(core, x, model, known) {
  n <- n_categories(x)
  rating_counts <- colSums(core$confusion * ratings_of_raters(x)) # classes x ratings
  class_category <- core_best_names(as.vector(t(rating_counts)), n)
  if (identical(class_category, seq_len(n))) return(NULL)
  class_order <- order(class_category)
  matrices <- core$confusion[, class_order, , drop = FALSE]
  safe_log <- function(p) log(pmax(p, 1e-15))
  # Coefficients of the logits of base rates (categories x columns), relative to the last category.
  n_rate_parameters <- (n - 1L) * max(1L, length(known$base$names))
  rates <-
    pick_rows(rbind(matrix(head(core$theta, n_rate_parameters), n - 1L), 0), class_order)
  rates <- rates[-n, ] - rep(rates[n, ], each = n - 1L)
  accuracy <- apply(matrices, 1L, diag) # categories x raters
  is_error <- as.vector(diag(n) == 0)
  log_errors <- is_error * safe_log(aperm(matrices, 3:1)) # ratings x truths x raters
  log_errors <- is_error * (log_errors - rep(colSums(log_errors) / (n - 1), each = n))
  mean_logit <-
    if (!is_empty(model$prior)) mean(qlogis(clamp(accuracy, 1e-6, 1 - 1e-6)))
  levels <- tail(core$theta, 2L * max(model$levels - 1L, 0L))
  c(rates, mean_logit, safe_log(accuracy) - safe_log(1 - accuracy), log_errors, levels)
}

# ---- Raters who always give the same answer -----------------------------------------------------

# Returns the names of constant raters: they always give the same answer, which is improbable by
# chance (see core/ratings/constant.hpp). Field `panel$constant` contains these names if they were
# computed before, for the whole panel. Groups of cases of the panel use the same names.
constant_raters <- function(x) {
  if (has_counts(x)) return(character())
  x$panel$constant %||% x$raters[core_constant_raters(x$patterns, pattern_cases(x))]
}

# Drops constant raters and returns the ratings. If the ratings of the other raters carry no
# information about accuracy, keeps all raters and sets field `only_constant` to TRUE.
without_constant_raters <- function(x) {
  x$panel$constant <- constant_raters(x)
  left_out <- which(x$raters %in% x$panel$constant)
  if (is_empty(left_out)) return(x)
  if (length(left_out) < n_raters(x)) {
    other_raters <- x[, -left_out]
    # Ratings carry information about accuracy if they have a case with two ratings, two categories,
    # and raters who agree beyond chance or whose association can be tested.
    is_informative <- agreement_in_core(other_raters)$identified != "no_pairs" &&
      n_distinct(rating_category(other_raters)) > 1L &&
      (agrees_beyond_chance(other_raters) || rater_association(other_raters)$df != 0)
    if (is_informative) {
      if (has_abstentions(x)) other_raters$whole <- x
      return(other_raters)
    }
  }
  x$only_constant <- TRUE
  x
}

# Returns TRUE if Fleiss' kappa is positive; the limit 1e-9 allows for rounding.
agrees_beyond_chance <- function(x) {
  isTRUE(kappa_of_agreement(x, agreement_in_core(x)$agreement) > 1e-9)
}

reason_constant <- one_line("raters who always give the same answer carry no information about the
  truth, and without them no case has two ratings")

# Words if a test of the agreement of raters is not significant, see leading_categories().
may_be_chance_words <- "the agreement of raters may be chance"

# Returns the category that raters use most often (several categories if tied), with its share of
# all ratings and its kappa (this category against all others). Field `chance` is TRUE if agreement
# on all categories is not significantly better than chance (one-sided, level .05). If `x` is a
# group of cases of a panel, the values are those of the whole panel.
leading_categories <- function(x) x$panel$leaders %||% find_leading_categories(x)

find_leading_categories <- function(x) core_leading_categories(x$patterns, pattern_weights(x))

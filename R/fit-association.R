# Checks whether models in which raters differ in accuracy are identified, and warns if a fit is
# unreliable. Tests whether the ratings of different raters are associated. Assigns categories to
# latent classes.

# Returns TRUE if the association of raters is not significant at level .05. `association`: a
# result of rater_association().
is_weak_association <- function(association) {
  association$statistic < qchisq(0.95, max(association$df, 1))
}

# Tests whether the ratings of two raters are associated, jointly for all pairs of raters. Returns a
# list of `excess`, the number of agreements beyond the number expected for independent ratings, and
# `statistic` and `df`, the statistic and degrees of freedom of a chi-square test.
rater_association <- function(x) as.list(core_association(x$patterns, weights_of_labels(x)))

# Tests whether the ratings of different raters are associated. Leaves out raters who always give
# the same answer. Returns "yes", "unrelated" (not associated), or "no_pairs" (no case was rated by
# two raters). `identified`: "yes" if k_model() is identified, otherwise a code of the reason.
association_code <- function(x, identified) {
  if (identified == "no_pairs") return(identified)
  x <- without_constant_raters(x)
  # Checks agreement first, because the chi-square test leaves out pairs of raters with only one
  # common case.
  if (agrees_beyond_chance(x) || raters_always_agree(x)) return("yes")
  association <- rater_association(x) # slow in large crowds
  if (association$excess > 1e-9 || association$statistic > association$df) "yes" else "unrelated"
}

# Returns TRUE if the ratings identify a model in which raters differ in accuracy. This requires
# more than two raters, whose ratings are associated. Some cases must have two or more ratings.
identifies_unequal_raters <- function(x) {
  x <- with_votes(x)
  n_distinct(rater_identity(x)[rating_rater(x)]) > 2L &&
    association_code(x, "chance") == "yes"
}

reason_needs_unequal_raters <-
  "raters agree too little for models with equal raters; use a model such as dawid_skene()"

# Returns "yes" if a fit is identified, otherwise the code of the reason. The code is "unequal" if
# agreement is too low for a model with equally accurate raters ("chance"), but the ratings identify
# models in which raters differ in accuracy.
identification_code <- function(fit) {
  if (fit$identified == "chance" && identifies_unequal_raters(fit$x)) "unequal" else fit$identified
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

# Warns if a fit is identified but unreliable. The default method, for fits by likelihood, warns if
# the fit did not converge, is only weakly identified, or may have swapped categories.
warn_identified_fit <- function(fit) UseMethod("warn_identified_fit")

warn_identified_fit.rater_fit <- function(fit) {
  machines_with_calibration <- fit$x$raters[is_known_rater(fit, "counts") & is_machine(fit$x)]
  warn_if(length(machines_with_calibration) > 1L, "known_independent",
    "The fit assumes that {.val {machines_with_calibration}} err independently, but language
        models and programs often make the same errors.",
    i = "Put them into one group with {.arg rater_groups} of {.fun ratings}. Then give the counts of
        the majority vote of the group: {.code known_raters = list(group_name = counts)}.",
    raters = machines_with_calibration)
  if (!fit$converged) warn_convergence(fit$method)
  if (fit$model$accuracy == "rater" && fit$model$errors == "free") {
    return(warn_weakly_identified(fit))
  }
  # Finds categories that could be swapped with another category, so that the sum of the diagonal of
  # the mean confusion matrix would increase.
  mean_matrix <- colMeans(fit$matrices, na.rm = TRUE)
  swap_gain <- mean_matrix + t(mean_matrix) - outer(diag(mean_matrix), diag(mean_matrix), `+`)
  swapped_categories <- fit$x$categories[rowSums(swap_gain > 1e-6, na.rm = TRUE) > 0]
  warn_if(swapped_categories, "switched",
    "In the fitted model, raters mostly confuse these categories with each other:
        {.val {swapped_categories}}.",
    i = "The fit may have swapped these categories, because the likelihood does not determine
        their names. Merge them, use a simpler model, or leave out raters who use labels wrongly.",
    categories = swapped_categories)
}

warn_identified_fit.judge_fit <- function(fit) {
  limits <- calibrated_interval(fit$calibrated, default_conf_level())
  unsure_categories <- fit$x$categories[limits[, 2L] - limits[, 1L] > 0.5]
  warn_if(unsure_categories, "weakly_identified",
    "The calibration sample is too small to estimate the base rate of {.val {unsure_categories}}:
        its interval is wider than .5.",
    i = "Use a calibration sample with more cases of each category.",
    categories = unsure_categories)
}

warn_identified_fit.k_fit <- function(fit) {
  if (fit$negative == 0L) return()
  x <- fit$x
  categories_with_rate_0 <- x$categories[fit$base_rates == 0]
  # Patterns with at least one rating in a category whose base rate is positive.
  possible_patterns <- rating_pattern(x)[fit$base_rates[rating_category(x)] > 0]
  n_contradicted_cases <- count_cases(x, setdiff(which(is_rated_pattern(x)), possible_patterns))
  warn_fallible("boundary", c(
    "Negative estimates of base rates were set to zero: {.val {categories_with_rate_0}}.",
    "i" = "Negative estimates occur by chance if there are few cases or raters are inaccurate. With
           many cases, they show that the model does not fit. The other base rates were rescaled
           to sum to one.",
    if (n_contradicted_cases > 0) c(
      "!" = "In {count_noun(n_contradicted_cases, 'case')} every rater chose a category whose base
             rate is now zero. Merge rare categories, or check the labels."
    )
  ), negative = fit$negative, categories = categories_with_rate_0, against = n_contradicted_cases)
}

# Warns if a fit with separate, free confusion matrices of raters is only weakly identified.
warn_weakly_identified <- function(fit) {
  x <- fit$x
  if (has_known_values(fit$known)) return()
  models_abstentions <- uses_abstentions(fit$model) && !is.null(x$panel$abstain)
  if (models_abstentions) warn_abstain(x, x$panel$abstain, TRUE)
  if (raters_always_agree(x)) return()
  if (!models_abstentions && is_weak_association(rater_association(x))) {
    warn_weak_identification(reason_near_chance)
  } else if (rates_depend_on_prior(fit)) {
    warn_weak_identification("the estimated base rates depend mostly on the prior")
  }
  swapping_share <- share_from_swapping_raters(fit)
  if (swapping_share > 1 / 3) {
    warn_weak_identification(fill_template("raters who seem to swap categories gave %s of the
      ratings; if in fact the other raters swap them, the estimated categories are swapped",
      percent(swapping_share)))
  }
}

# Warns if only two raters gave ratings and the assumptions of the model therefore cannot be tested.
# There is no warning if base rates differ between populations.
warn_if_untestable <- function(fit) {
  x <- without_constant_raters(fit$x)
  needs_no_warning <- fit$identified != "yes" || has_counts(x) || has_known_values(fit$known) ||
    uses_abstentions(fit$model) || n_distinct(rating_rater(x)) != 2L
  if (needs_no_warning) return()
  populations <- population_table(fit$model, x)
  if (!is.null(populations)) {
    pattern_counts_by_population <- tapply(pattern_weights(x), list(
      population_of(pattern_covariates(x), populations),
      number_distinct_rows(as.data.frame(pattern_codes(x)))
    ), sum, default = 0)
    p_value <- suppressWarnings(chisq.test(pattern_counts_by_population, correct = FALSE)$p.value)
    if (nrow(pattern_counts_by_population) <= 20L && !isTRUE(p_value < 0.05)) {
      warn_weak_identification(one_line("with two raters, the model needs populations with different
        base rates, but the ratings do not differ clearly between the populations"))
    }
  } else if (count_used_categories(x) == 2L && fit$method != "bayes") {
    warn_weak_identification(one_line("with two raters and two categories, the model fits all
      possible ratings, so its assumptions cannot be tested"))
  }
}

warn_weak_identification <- function(why) {
  warn_fallible("weakly_identified", "The model is only weakly identified: {why}.",
    i = "Give the true categories of some cases as {.arg known_truth}, or use more raters.",
    why = why)
}

# Returns TRUE if the estimated base rates depend more on the prior than on the ratings: the prior
# contributes more than half of the information (inverse variance) about some linear combination of
# base rates. Returns FALSE without a check if this would take more than 2e6 computing steps.
rates_depend_on_prior <- function(fit) {
  positive_categories <- which(fit$base_rates > 0)
  n_steps <- length(fit$theta)^2 * n_patterns(fit$x) * length(positive_categories)
  if (is_empty(fit$model$prior) || !weights_are_counts(fit$x) || n_steps > 2e6) return(FALSE)
  free_categories <- positive_categories[-1L]
  free_rates <- fit$base_rates[free_categories]
  coefficient_index <- match(rate_terms(fit$x)[free_categories], names(fit$coefficients))
  covariance <- covariance_of(fit)$covariance[coefficient_index, coefficient_index, drop = FALSE]
  if (is.null(covariance) || anyNA(covariance)) return(FALSE)
  logit_information <- diag(free_rates, length(free_rates)) - free_rates %o% free_rates
  relative_covariance <- length(positive_categories) * covariance %*% solve(logit_information)
  max(Re(eigen(relative_covariance, only.values = TRUE)$values)) > 0.5
}

# Returns the expected number of ratings that each rater gave to cases of each true category, a
# matrix (raters x true categories). Expectations use the posterior probabilities of the fit.
count_ratings_by_truth <- function(fit) {
  x <- fit$x
  rowsum_rows(rating_rater(x), pick_rows(fit$posterior * pattern_weights(x), rating_pattern(x)),
    n_raters(x))
}

# Returns the number of observations from which each row of a confusion matrix is estimated: a
# matrix (raters x true categories). It is the expected number of ratings plus the number of cases
# in the rater's calibration sample. It is Inf for raters whose matrix is known.
count_observations_by_truth <- function(fit) {
  n_observations <- count_ratings_by_truth(fit)
  for (j in which(lengths(fit$known$counts) > 0L)) {
    n_observations[j, ] <- n_observations[j, ] + rowSums(fit$known$counts[[j]])
  }
  n_observations[is_known_rater(fit), ] <- Inf
  n_observations
}

# Returns the share of ratings by raters who seem to swap categories. Such a rater gives some
# category k more often to cases of another true category than to cases of k. The difference must
# exceed two standard errors.
share_from_swapping_raters <- function(fit) {
  n_ratings_by_truth <- count_ratings_by_truth(fit)
  p_rating <- replace(fit$matrices, n_ratings_by_truth == 0, NA) # raters x truths x ratings
  variance <- bernoulli_variance(p_rating) / as.vector(n_ratings_by_truth)
  is_swapped <- vapply(seq_len(ncol(n_ratings_by_truth)), function(k) {
    difference <- p_rating[, -k, k, drop = FALSE] - p_rating[, k, k]
    standard_error <- sqrt(variance[, -k, k, drop = FALSE] + variance[, k, k])
    rowSums(difference > 2 * standard_error, na.rm = TRUE) > 0
  }, logical(nrow(n_ratings_by_truth)))
  n_ratings <- ratings_of_raters(fit$x)
  sum(n_ratings[rowSums(matrix(is_swapped, nrow(n_ratings_by_truth))) > 0]) / sum(n_ratings)
}

# ---- Names of classes ---------------------------------------------------------------------------

# Assigns categories to latent classes: a class gets the category that is most frequent among the
# ratings of its cases. Returns the vector of parameters of the fit in the new order of classes, or
# NULL if the order does not change. `core`: the core's list of estimates.
reorder_classes <- function(core, x, model, known) {
  n <- n_categories(x)
  rating_counts <- colSums(core$confusion * ratings_of_raters(x)) # classes x ratings
  class_category <- core_best_names(as.vector(t(rating_counts)), n)
  if (identical(class_category, seq_len(n))) return(NULL)
  class_order <- order(class_category)
  matrices <- core$confusion[, class_order, , drop = FALSE]
  safe_log <- function(p) log(pmax(p, 1e-15))
  # Coefficients of the logits of base rates (categories x columns of the formula), relative to the
  # last category.
  n_rate_parameters <- (n - 1L) * max(1L, length(known$base$names))
  rate_coefficients <-
    pick_rows(rbind(matrix(head(core$theta, n_rate_parameters), n - 1L), 0), class_order)
  rate_coefficients <- rate_coefficients[-n, ] - rep(rate_coefficients[n, ], each = n - 1L)
  accuracy <- apply(matrices, 1L, diag) # categories x raters
  is_error <- as.vector(diag(n) == 0)
  log_p_error <- is_error * safe_log(aperm(matrices, 3:1)) # ratings x truths x raters
  log_p_error <- is_error * (log_p_error - rep(colSums(log_p_error) / (n - 1), each = n))
  mean_logit <-
    if (!is_empty(model$prior)) mean(qlogis(clamp(accuracy, 1e-6, 1 - 1e-6)))
  level_parameters <- tail(core$theta, 2L * max(model$levels - 1L, 0L))
  c(rate_coefficients, mean_logit, safe_log(accuracy) - safe_log(1 - accuracy), log_p_error,
    level_parameters)
}

# ---- Raters who always give the same answer -----------------------------------------------------

# Returns the names of constant raters. They always give the same answer, and this is unlikely to be
# chance (see core/ratings/constant.hpp).
constant_raters <- function(x) {
  if (has_counts(x)) return(character())
  # `panel$constant`: constant raters of the whole panel, if `x` contains only some of its cases
  x$panel$constant %||% x$raters[core_constant_raters(x$patterns, pattern_cases(x))]
}

# Drops constant raters and returns the ratings. If the ratings of the other raters cannot identify
# accuracy, keeps all raters and sets field `only_constant` to TRUE.
without_constant_raters <- function(x) {
  x$panel$constant <- constant_raters(x)
  constant_index <- which(x$raters %in% x$panel$constant)
  if (is_empty(constant_index)) return(x)
  if (length(constant_index) < n_raters(x)) {
    other_ratings <- x[, -constant_index]
    # The ratings of the other raters are sufficient under three conditions. At least one case has
    # two ratings. At least two categories are used. Raters agree beyond chance, or their
    # association can be tested.
    is_informative <- agreement_in_core(other_ratings)$identified != "no_pairs" &&
      n_distinct(rating_category(other_ratings)) > 1L &&
      (agrees_beyond_chance(other_ratings) || rater_association(other_ratings)$df != 0)
    if (is_informative) {
      if (has_abstentions(x)) other_ratings$whole <- x
      return(other_ratings)
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
  truth, and the ratings of other raters are not sufficient")

# Text for results if agreement is not significantly better than chance, see leading_categories().
may_be_chance_text <- "the agreement of raters may be chance"

# Returns a list that describes the category that raters use most often (several categories if
# tied): its share of all ratings and its kappa (this category against all others). Element `chance`
# is TRUE if the agreement of raters is not significantly better than chance (one-sided test, level
# .05). If `x` contains only a group of the panel's cases, the list describes the whole panel.
leading_categories <- function(x) x$panel$leaders %||% find_leading_categories(x)

find_leading_categories <- function(x) core_leading_categories(x$patterns, pattern_weights(x))

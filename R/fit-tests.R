# Measures of diagnostic tests.

#' Sensitivity, specificity and predictive values without a gold standard
#'
#' Computes sensitivity, specificity, predictive values and likelihood ratios of each rater (or
#' diagnostic test) for each category, from a latent class model fitted by [fit_raters()]. No gold
#' standard is needed if the model holds (Hui and Walter, 1980). An answer is positive for a
#' category if it is this category, and negative if it is any other category. Cases of the other
#' categories are weighted by the base rates of the fit.
#'
#' @section Two tests: `combine` evaluates two tests as one test. In series, `"a and b"` is positive
#' for a category if both tests give this category. In parallel, `"a or b"` is positive if at least
#' one of them does. Errors are independent given the truth, unless the model has `dependence` or
#' strata of difficulty; see [rater_model()].
#'
#' @section Intervals: For fits by `method = "bayes"`, estimates are medians of the posterior draws
#' of a measure, standard errors are standard deviations, and limits are quantiles. Standard errors
#' of `lr_positive`, `lr_negative` and `dor` are `NA`.
#'
#' For fits by likelihood, intervals are computed by the delta method, on the log scale for ratios
#' and on the logit scale for probabilities. They ignore that a pooled prior (see [rater_model()])
#' is estimated. With more than 500 parameters, standard errors ignore that the true categories are
#' uncertain, and are too small if raters often disagree. Standard errors are `NA` if the fit models
#' abstentions, weights of cases are not whole numbers, or the estimate is 0, 1 or infinite.
#'
#' @param fit A [fit_raters()] result by `method = "likelihood"` or `"bayes"`. User-defined models,
#'   such as [rater_family()], are not supported.
#' @param prevalence Base rates for `ppv` and `npv`: a vector of
#'   probabilities named by category or, with two categories, the probability of the second
#'   category. `NULL`, the default, uses the base rates of the fit.
#' @param combine Names of two raters that are also evaluated as one test, see *Two tests*. `NULL`,
#'   the default, for none.
#' @param conf_level Nominal coverage of the intervals, in (0, 1). The default is the level of a
#'   Bayesian fit, and otherwise 0.9 (see [fallible-options]).
#' @param positive A category, for a result with only the rows of this category. `NULL`, the
#'   default, for all categories.
#' @param ... Not used.
#' @return A tibble with a row per rater, category and measure, and these columns:
#'   * `rater`; `category`, which counts as positive; `measure`, see below.
#'   * `estimate`, `std.error`; `conf.low`, `conf.high`, limits of the interval.
#'   * `note`: `"mostly prior"` or `NA`. In Bayesian fits, the note means that `print()` of the fit
#'     has the same note for a sensitivity, specificity or other probability of a correct rating on
#'     which the measure depends. In fits by likelihood, the rater has fewer ratings than the prior
#'     is worth, a number that `print()` of the fit shows.
#'   * `reason`: why there is no interval or no standard error, otherwise `NA`.
#'
#'   Measures are:
#'   * `sensitivity`: probability of a positive answer in cases of the category; `specificity`:
#'     probability of a negative answer in other cases.
#'   * `ppv`, `npv`: probability that a positive or a negative answer is correct.
#'   * `lr_positive`, `lr_negative`: probability of a positive or a negative answer in cases of the
#'     category, divided by its probability in other cases (likelihood ratios).
#'   * `dor`: diagnostic odds ratio, `lr_positive / lr_negative`; `youden`: sensitivity +
#'     specificity - 1.
#'
#'   If the fit models abstentions (indeterminate results, see [rater_model()]), these measures
#'   refer to determinate results. With two categories, there are further measures without intervals
#'   (Simel et al., 1987; Shinkins et al., 2013):
#'   * `yield`: share of determinate results; `yield_positive`, `yield_negative`: this share in
#'     cases of the category and in cases of the other category.
#'   * `sensitivity_worst`, `specificity_worst`: values if all indeterminate results are wrong;
#'     `sensitivity_best`, `specificity_best`: values if all of them are correct.
#'
#'   If base rates have a formula of factors (see [rater_model()]) and `prevalence` is `NULL`, the
#'   first columns are these factors. There are further rows of `ppv` and `npv` for each combination
#'   of their levels. In rows about all cases, the factors are `NA`.
#' @family models of raters
#' @references Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of diagnostic tests.
#'   *Biometrics*, 36, 167-171. \doi{10.2307/2530508}
#'
#'   Shinkins, B., Thompson, M., Mallett, S. and Perera, R. (2013). Diagnostic accuracy studies: how
#'   to report and analyse inconclusive test results. *BMJ*, 346, f2778. \doi{10.1136/bmj.f2778}
#'
#'   Simel, D. L., Feussner, J. R., DeLong, E. R. and Matchar, D. B. (1987). Intermediate,
#'   indeterminate, and uninterpretable diagnostic test results. *Medical Decision Making*, 7,
#'   107-114. \doi{10.1177/0272989X8700700208}
#' @examples
#' # Three tests, none of them a gold standard
#' tests <- data.frame(
#'   a = c("-", "+"), b = c("-", "-", "+", "+"), c = rep(c("-", "+"), each = 4),
#'   n = c(3209, 309, 9403, 3221, 234, 65, 2512, 1047)
#' )
#' fit <- fit_raters(ratings(tests, raters = a:c, weights = n), dawid_skene())
#' test_accuracy(fit, positive = "+")
#' # Predictive value of a positive result with a prevalence of 5%
#' subset(test_accuracy(fit, prevalence = 0.05), category == "+" & measure == "ppv")
#' # Positive only if both tests are, or if either is
#' both <- test_accuracy(fit, prevalence = 0.05, combine = c("a", "b"))
#' subset(both, category == "+" & rater %in% c("a and b", "a or b"))
#' @export
test_accuracy <- function(fit, prevalence = NULL, combine = NULL,
                          conf_level = level_of(fit), positive = NULL, ...) {
  check_call()
  check_class(fit, "rater_fit", "fit", "Make one with {.fun fit_raters}.")
  abort_argument_if(!inherits(fit, c("latent_fit", "draws_fit")) || fit$method == "pairs", "fit",
    "must be a fit of a {.fun rater_model} by method {.val likelihood} or {.val bayes}.",
    x = if (inherits(fit$model, user_models)) "User-defined models are not supported." else
      "It is a fit of {.val {format(fit$model)}} by method {.val {fit$method}}.",
    i = "Use {.code fit_raters(x, dawid_skene())}, with a confusion matrix for each rater.")
  categories <- fit$x$categories
  if (!is.null(positive)) check_choice(positive, categories)
  conf_level <- check_level(conf_level)
  raters <- fit$x$raters
  rates <- check_prevalence(prevalence, categories)
  combined <- match(as_label(combine), raters)
  mostly_prior <- find_rows_mostly_prior(fit)
  if (!is.null(combine)) {
    abort_argument_if(length(combined) != 2L || anyNA(combined) || any_repeated(combined),
      "combine", "must be the names of two raters of {.arg fit}.", not = combine)
    raters <- c(raters, paste(raters[combined[1L]], c("and", "or"), raters[combined[2L]]))
    in_either <- colSums(mostly_prior[combined, ]) > 0
    mostly_prior <- rbind(mostly_prior, in_either, in_either)
  }
  rows <- expand.grid(measure = test_measures, category = categories, rater = raters)
  # Sensitivity depends on the row of the category in the confusion matrix, specificity on the other
  # rows, and other measures on all rows.
  n_noted <- unname(rowSums(mostly_prior))
  noted_row <- mostly_prior[cbind(as.integer(rows$rater), as.integer(rows$category))]
  is_noted <- ifelse(rows$measure == "sensitivity", noted_row,
    n_noted[rows$rater] > noted_row * (rows$measure == "specificity"))
  rows$note <- ifelse(is_noted, "mostly prior", NA)
  tidy_tests <- function(group) {
    tested_table(fit, rows, na_real(measure_tests(fit, rates, combined, conf_level, group)))
  }
  out <- rbind(tidy_tests(NULL), yield_table(fit, rates %||% fit$base_rates,
    ifelse(n_noted > 0, "mostly prior", NA)))
  # Predictive values differ between populations if they use the base rates of the fit.
  groups <- if (is.null(rates)) population_table(fit$model, fit$x)
  if (!is.null(groups)) {
    by_group <- stack_rows(seq_len(nrow(groups)), function(g) {
      table <- tidy_tests(groups[g, ])
      tibble::as_tibble(c(groups[g, ], table[table$measure %in% c("ppv", "npv"), ]))
    })
    out <- rbind(tibble::as_tibble(c(groups[NA_integer_, ], out)), by_group)
  }
  out[out$category %in% (positive %||% categories), ]
}

# Returns the table of test_accuracy(). `rows`: a data frame with a row per row of the table, and
# columns `measure`, `category`, `rater` and `note`. `numbers`: a result of measure_tests(), whose
# arrays have an entry per row.
tested_table <- function(fit, rows, numbers) {
  numbers <- lapply(numbers, as.vector)
  # For Youden's index, `numbers` contains (index + 1) / 2, which is a probability.
  scale <- ifelse(rows$measure == "youden", 2, 1)
  rescale <- function(x) scale * x - (scale - 1)
  is_on_boundary <- is.na(numbers$error) & numbers$value %in% c(0, 1, Inf)
  reason <- ifelse(is.na(numbers$value), NA, if (!is.null(fit$answered)) reason_abstain_errors else
    if (weights_are_counts(fit$x)) NA else "weights are not counts")
  columns_tibble(
    rater = as.character(rows$rater), category = rows$category,
    measure = as.character(rows$measure), estimate = rescale(numbers$value),
    std.error = scale * numbers$error, conf.low = rescale(numbers$low),
    conf.high = rescale(numbers$high), note = rows$note,
    reason = replace(
      replace(
        reason, inherits(fit, "draws_fit") & is.na(numbers$error) & !is.na(numbers$low),
        "standard errors of ratios are not computed from draws: a few extreme draws determine them"
      ),
      is_on_boundary, "the estimate is on a boundary"
    )
  )
}

reason_abstain_errors <- "standard errors of fits with abstentions are not computed"

# Returns further rows of test_accuracy() for two categories, if abstentions are modelled; otherwise
# NULL. An answer is a determinate result of a test, an abstention an indeterminate result. The rows
# contain shares of determinate results. They also contain sensitivity and specificity if all
# indeterminate results are counted as wrong, or as correct (Simel et al., 1987; Shinkins et al.,
# 2013). `rates`: base rates. `notes`: a note for each rater, or NA.
yield_table <- function(fit, rates, notes) {
  if (is.null(fit$answered) || length(rates) != 2L) return(NULL)
  stack_rows(1:2, function(k) {
    p_answered <- fit$answered[, k]
    p_answered_other <- fit$answered[, -k]
    sensitivity <- fit$matrices[, k, k]
    specificity <- fit$matrices[, -k, -k]
    value <- cbind(
      yield = rates[[k]] * p_answered + rates[-k] * p_answered_other, yield_positive = p_answered,
      yield_negative = p_answered_other, sensitivity_worst = p_answered * sensitivity,
      sensitivity_best = 1 - p_answered * (1 - sensitivity),
      specificity_worst = p_answered_other * specificity,
      specificity_best = 1 - p_answered_other * (1 - specificity)
    )
    estimate <- as.vector(value)
    columns_tibble(
      rater = fit$x$raters[row(value)], category = category_factor(k, fit$x),
      measure = colnames(value)[col(value)], estimate = estimate, std.error = NA_real_,
      conf.low = NA_real_, conf.high = NA_real_, note = notes[row(value)],
      reason = ifelse(is.na(estimate), NA, reason_abstain_errors)
    )
  })
}

# Computes measures of diagnostic tests from a fit. Returns a list of arrays (measures x categories
# x raters): `value`, `error` (standard error), and `low` and `high`, limits of the interval.
# Youden's index is replaced by the probability (index + 1) / 2. Arguments:
# * rates: base rates for predictive values, NULL for those of the fit
# * both: indices of two raters that are combined, or empty
# * group: a row of covariates, whose population has the base rates; NULL for all cases
measure_tests <- function(fit, rates, both, conf_level, group) UseMethod("measure_tests")

measure_tests.rater_fit <- function(fit, rates, both, conf_level, group) {
  base_rates <- if (is.null(group)) fit$base_rates else drop(rates_of_cases(fit, group))
  answered <- fit$answered
  if (length(both) > 0L && !is.null(answered)) {
    both_answered <- answered[both[[1L]], ] * answered[both[[2L]], ]
    answered <- rbind(answered, both_answered, both_answered)
  }
  joint <- if (length(both) > 0L && fit$model$difficulty == "strata") {
    predict_parameters(fit, fit$theta, both = both)$joint
  }
  combined <- add_combined_tests(fit$matrices, both, joint)
  transformed <- transformed_measures(combined, base_rates, rates, answered)
  error <- transformed_errors(fit, transformed, rates, both, group)
  if (!is.null(fit$centre)) {
    # Standard errors treat the mean rows of the pooled prior as known, and can be too small. Their
    # lower bound is the standard error with known truth.
    min_error <- errors_given_truth(fit, rates, both)
    error <- pmax(error, replace(min_error, is.na(min_error), 0))
  }
  z <- normal_quantile(conf_level)
  value <- back_transform(transformed)
  slope <- ifelse(is_ratio_measure(dim(transformed)), value, value * (1 - value))
  numbers <- list(
    value = value, error = slope * error, low = back_transform(transformed - z * error),
    high = back_transform(transformed + z * error)
  )
  if (!uses_known_truth(fit)) return(numbers)
  # Sensitivities and specificities that are 0 or 1 have Wilson's intervals for the number of cases
  # with known truth.
  n <- count_known_by_truth(fit)
  n_known <- value + NA
  n_known[1L, , seq_len(nrow(n))] <- t(n)
  n_known[2L, , seq_len(nrow(n))] <- t(rowSums(n) - n)
  boundary_cells <- which(is_on_boundary(value) & n_known > 0)
  limits <- probability_interval(value[boundary_cells], 0, z, n_known[boundary_cells])
  numbers$low[boundary_cells] <- limits[, 1L]
  numbers$high[boundary_cells] <- limits[, 2L]
  numbers
}

check_prevalence <- function(prevalence, categories) {
  if (is.null(prevalence)) return(NULL)
  if (length(prevalence) == 1L && length(categories) == 2L && is.null(names(prevalence))) {
    prevalence <- setNames(c(1 - prevalence, prevalence), categories)
  }
  is_valid <- is_distribution(prevalence, length(categories)) &&
    setequal(names(prevalence), categories)
  abort_argument_if(!is_valid, "prevalence",
    "must be probabilities named {.val {categories}} that sum to one, or for two categories the
        probability of the second.", not = prevalence)
  unname(prevalence[categories])
}

# Returns the names of raters whose estimates depend mostly on the prior. The weight of the prior is
# expressed as a number of ratings. These raters gave fewer ratings than that.
find_raters_mostly_prior <- function(fit) {
  size <- if (fit$identified == "yes") fit$centre$c %||% weak_prior_size(fit)
  if (is.null(size)) return(character())
  n <- ratings_of_raters(fit$x)
  fit$x$raters[n > 0 & n < size & !is_known_rater(fit)]
}

# Returns which rows of confusion matrices depend mostly on the prior, a logical matrix (raters x
# true categories). In fits by likelihood, all rows of a rater or none do.
find_rows_mostly_prior <- function(fit) {
  x <- fit$x
  terms <- if (!is.null(fit$draws)) fit$terms[compare_with_prior(fit)$mostly_prior &
    is_matrix_term(fit$terms$term) & is_convergence_checked(fit$terms), ]
  rows <- lapply(x$categories, function(category) {
    if (is.null(terms)) return(x$raters %in% find_raters_mostly_prior(fit))
    raters <- terms$rater[terms$truth %in% c(category, NA)]
    x$raters %in% raters | anyNA(raters) # NA for a matrix that all raters share
  })
  matrix(unlist(rows), n_raters(x))
}

# Returns the weight of the weak prior of raters' accuracies, as a number of ratings with the same
# information about the logit of the mean accuracy. Returns NULL if the fit has no such prior.
weak_prior_size <- function(fit) {
  spread <- fit$model$prior$spread
  has_prior <- !is.null(spread) && fit$model$accuracy == "rater" && fit$method == "likelihood" &&
    weights_are_counts(fit$x)
  if (has_prior) 1 / (spread^2 * fit$rater_accuracy * (1 - fit$rater_accuracy))
}

# ---- Two tests as one ---------------------------------------------------------------------------

# Adds the combinations "a and b" and "a or b" of two raters to `p` as two further raters, and
# returns the larger array. Arguments:
# * p: probabilities of answers, an array (raters x truth x answer)
# * both: indices of the two raters; if it is empty, nothing is added
# * joint: probability that both raters give the answer (truth x answer); NULL if their errors are
#   independent given the truth
# * variance: variances of `p`, or NULL. If it is given, the function returns variances of the
#   result instead of probabilities, by the delta method.
add_combined_tests <- function(p, both, joint = NULL, variance = NULL) {
  out <- variance %||% p
  if (length(both) == 0L) return(out)
  a <- p[both[[1L]], , ]
  b <- p[both[[2L]], , ]
  n <- nrow(p)
  out <- out[c(seq_len(n), both), , ]
  if (is.null(variance)) {
    out[n + 1L, , ] <- joint %||% (a * b)
    out[n + 2L, , ] <- a + b - out[n + 1L, , ]
  } else {
    variance_a <- variance[both[[1L]], , ]
    variance_b <- variance[both[[2L]], , ]
    out[n + 1L, , ] <- b^2 * variance_a + a^2 * variance_b
    out[n + 2L, , ] <- (1 - b)^2 * variance_a + (1 - a)^2 * variance_b
  }
  out
}

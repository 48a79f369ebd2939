# Sensitivity, specificity and other measures of diagnostic tests: test_accuracy() and the
# computation of its table.

#' Sensitivity, specificity and predictive values without a gold standard
#'
#' Computes sensitivity, specificity, predictive values and likelihood ratios of each rater (or
#' diagnostic test) for each category, from a latent class model fitted by [fit_raters()]. No gold
#' standard is needed if the model holds (Hui and Walter, 1980). An answer is positive for a
#' category if it is this category, and negative if it is any other category. The specificity for a
#' category is a mean over the other true categories, weighted by the base rates of the fit.
#'
#' @section Two tests: `combine` evaluates two tests as one test. In series, `"a and b"` is positive
#' for a category if both tests give this category. In parallel, `"a or b"` is positive if at least
#' one of the tests gives it. Errors of the two tests are assumed to be independent given the truth,
#' unless the model has `dependence` or strata of difficulty; see [rater_model()].
#'
#' @section Intervals: For fits by `method = "bayes"`, estimates are medians of the posterior draws
#' of a measure, standard errors are standard deviations, and limits are quantiles. Standard errors
#' of `lr_positive`, `lr_negative` and `dor` are `NA`.
#'
#' For fits by likelihood, standard errors are computed by the delta method. Intervals of ratios are
#' computed on the log scale. A probability has Wilson's interval for the number of cases with which
#' a share has the same standard error. The intervals ignore that a pooled prior (see
#' [rater_model()]) is estimated. With more than 500 parameters, standard errors are computed as if
#' the true categories were known, and are too small if raters often disagree. Standard errors are
#' `NA` in three cases: the fit models abstentions, weights of cases are not whole numbers, or the
#' estimate is 0, 1 or infinite.
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
#'   * `note`: `"mostly prior"` if the estimate depends more on the prior than on the ratings,
#'     otherwise `NA`. In Bayesian fits, [check_fit()] then reports `mostly_prior` for a probability
#'     of a correct rating from which the measure is computed. In fits by likelihood, the weight of
#'     the prior, which `print()` of the fit shows as a number of ratings, is then larger than the
#'     number of ratings by the rater.
#'   * `reason`: why the interval or the standard error is `NA`. `NA` if both are available.
#'
#'   Measures are:
#'   * `sensitivity`: probability of a positive answer in cases of the category. `specificity`:
#'     probability of a negative answer in other cases.
#'   * `ppv`, `npv`: probability that a positive or a negative answer is correct.
#'   * `lr_positive`: likelihood ratio of a positive answer, its probability in cases of the
#'     category divided by its probability in other cases. `lr_negative`: the same ratio for a
#'     negative answer.
#'   * `dor`: diagnostic odds ratio, `lr_positive / lr_negative`. `youden`: sensitivity +
#'     specificity - 1.
#'
#'   If the fit models abstentions (indeterminate results, see [rater_model()]), these measures
#'   refer to determinate results. With two categories, there are further measures without intervals
#'   (Simel et al., 1987; Shinkins et al., 2013):
#'   * `yield`: share of cases with a determinate result. `yield_positive`, `yield_negative`: this
#'     share among cases of the category, and among cases of the other category.
#'   * `sensitivity_worst`, `specificity_worst`: sensitivity and specificity if all indeterminate
#'     results are counted as wrong. `sensitivity_best`, `specificity_best`: the same if they are
#'     counted as correct.
#'
#'   If base rates have a formula of factors (see [rater_model()]) and `prevalence` is `NULL`, the
#'   first columns are these factors. There are further rows of `ppv` and `npv` for each combination
#'   of their levels. In rows about all cases, the factors are `NA`.
#'
#'   `plot()` draws sensitivities, specificities and predictive values with their intervals.
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
#' # Combine tests a and b: positive only if both are positive, or if either is positive
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
    i = "Use, for example, {.code fit_raters(x, dawid_skene())}.")
  categories <- fit$x$categories
  if (!is.null(positive)) check_choice(positive, categories)
  conf_level <- check_level(conf_level)
  raters <- fit$x$raters
  rates <- check_prevalence(prevalence, categories)
  pair_index <- match(as_label(combine), raters)
  is_prior_row <- find_prior_dominated_rows(fit)
  if (!is.null(combine)) {
    check_names_among(as_label(combine), raters, "combine")
    abort_argument_if(length(pair_index) != 2L, "combine",
      "must be the names of two raters of {.arg fit}.", not = combine)
    raters <- c(raters,
      paste(raters[pair_index[1L]], c("and", "or"), raters[pair_index[2L]]))
    either_is_prior_row <- colSums(is_prior_row[pair_index, ]) > 0
    is_prior_row <- rbind(is_prior_row, either_is_prior_row, either_is_prior_row)
  }
  rows <- expand.grid(measure = test_measures, category = categories, rater = raters)
  # A measure gets the note "mostly prior" if it depends on a row of the confusion matrix that is
  # mostly prior. Sensitivity depends on the row of the category, specificity on the other rows, and
  # other measures on all rows.
  n_prior_rows <- unname(rowSums(is_prior_row))
  is_prior_category_row <- is_prior_row[cbind(as.integer(rows$rater), as.integer(rows$category))]
  is_mostly_prior <- ifelse(rows$measure == "sensitivity", is_prior_category_row,
    n_prior_rows[rows$rater] > is_prior_category_row * (rows$measure == "specificity"))
  rows$note <- ifelse(is_mostly_prior, "mostly prior", NA_character_)
  tidy_tests <- function(group) {
    test_accuracy_table(
      fit, rows, na_real(measure_tests(fit, rates, pair_index, conf_level, group))
    )
  }
  test_table <- rbind(tidy_tests(NULL), yield_table(fit, rates %||% fit$base_rates,
    ifelse(n_prior_rows > 0, "mostly prior", NA_character_)))
  # Without given base rates, predictive values use the base rates of the fit. If these differ
  # between populations, the table contains further rows with the predictive values in each
  # population.
  populations <- if (is.null(rates)) population_table(fit$model, fit$x)
  if (!is.null(populations)) {
    population_rows <- stack_rows(seq_len(nrow(populations)), function(g) {
      test_table <- tidy_tests(populations[g, ])
      as_tibble(c(populations[g, ], test_table[test_table$measure %in% c("ppv", "npv"), ]))
    })
    test_table <- rbind(as_tibble(c(populations[NA_integer_, ], test_table)), population_rows)
  }
  test_table <- test_table[test_table$category %in% (positive %||% categories), ]
  structure(test_table, class = c("test_accuracy", class(test_table)))
}

# Plots the measures of test_accuracy() that are probabilities. Rows for single populations are left
# out.
#' @rawNamespace S3method(ggplot2::autoplot,test_accuracy)
#' @noRd
autoplot.test_accuracy <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  label_columns <- c("rater", "category", "measure")
  is_plotted <- object$measure %in% test_measures[1:4] & !duplicated(object[label_columns])
  table <- plain_tibble(object)[is_plotted, ]
  check_drawn(table$estimate, "All estimates are", "the fit is not identified")
  table$rater <- factor_from_top(table$rater)
  table$measure <- factor_in_order(table$measure)
  start_plot(drop_missing(table, "estimate"), "estimate", "rater") +
    interval_lines() +
    main_points() +
    ggplot2::facet_grid(category ~ measure) +
    share_axis() +
    plot_titles(
      "Accuracy of tests", "Estimates with their intervals; rows: the category that is positive",
      "probability"
    )
}

#' @export
plot.test_accuracy <- function(x, ...) draw(x, ...)

# Returns the table of test_accuracy(). `rows`: a data frame with a row per row of the table, and
# columns `measure`, `category`, `rater` and `note`. `measures`: a result of measure_tests(), whose
# arrays have an entry per row of the table.
test_accuracy_table <- function(fit, rows, measures) {
  measures <- lapply(measures, as.vector)
  # For Youden's index, `measures` contains (index + 1) / 2, which is a probability.
  scale <- ifelse(rows$measure == "youden", 2, 1)
  rescale <- function(x) scale * x - (scale - 1)
  is_on_boundary <- is.na(measures$error) & measures$value %in% c(0, 1, Inf)
  reason <- ifelse(is.na(measures$value), NA, if (!is.null(fit$answered)) reason_abstain_errors else
    if (weights_are_counts(fit$x)) NA else "weights are not counts")
  columns_tibble(
    rater = as.character(rows$rater), category = rows$category,
    measure = as.character(rows$measure), estimate = rescale(measures$value),
    std.error = scale * measures$error, conf.low = rescale(measures$low),
    conf.high = rescale(measures$high), note = rows$note,
    reason = replace(
      replace(
        reason, inherits(fit, "draws_fit") & is.na(measures$error) & !is.na(measures$low),
        "standard errors of ratios are not computed from draws: a few extreme draws determine them"
      ),
      is_on_boundary, "the estimate is on a boundary"
    )
  )
}

reason_abstain_errors <- "standard errors of fits with abstentions are not computed"

# Returns further rows of test_accuracy() if the fit models abstentions and there are two
# categories; otherwise NULL. `rates`: base rates. `notes`: a note for each rater, or NA.
#
# The yield is the share of cases that a rater answers. Abstentions count as wrong in the worst
# sensitivity and specificity, and as correct in the best (Simel et al., 1987; Shinkins et al.,
# 2013).
yield_table <- function(fit, rates, notes) {
  if (is.null(fit$answered) || length(rates) != 2L) return(NULL)
  stack_rows(1:2, function(k) {
    p_answered_positive <- fit$answered[, k]
    p_answered_negative <- fit$answered[, -k]
    sensitivity <- fit$matrices[, k, k]
    specificity <- fit$matrices[, -k, -k]
    measures <- cbind(
      yield = rates[[k]] * p_answered_positive + rates[-k] * p_answered_negative,
      yield_positive = p_answered_positive,
      yield_negative = p_answered_negative, sensitivity_worst = p_answered_positive * sensitivity,
      sensitivity_best = 1 - p_answered_positive * (1 - sensitivity),
      specificity_worst = p_answered_negative * specificity,
      specificity_best = 1 - p_answered_negative * (1 - specificity)
    )
    estimate <- as.vector(measures)
    columns_tibble(
      rater = fit$x$raters[row(measures)], category = category_factor(k, fit$x),
      measure = colnames(measures)[col(measures)], estimate = estimate, std.error = NA_real_,
      conf.low = NA_real_, conf.high = NA_real_, note = notes[row(measures)],
      reason = ifelse(is.na(estimate), NA, reason_abstain_errors)
    )
  })
}

# Computes measures of diagnostic tests from a fit. Returns a list of four arrays (measures x
# categories x raters): `value`, `error` (standard error), and the limits `low` and `high` of the
# interval. Youden's index is replaced by the probability (index + 1) / 2. Arguments:
# * rates: base rates for predictive values, NULL for the base rates of the fit
# * both: indices of two raters that are combined, or empty
# * group: a data frame with the covariates of one population, whose base rates are used; NULL to
#   use the base rates of all cases together
measure_tests <- function(fit, rates, both, conf_level, group) UseMethod("measure_tests")

measure_tests.rater_fit <- function(fit, rates, both, conf_level, group) {
  base_rates <- if (is.null(group)) fit$base_rates else drop(rates_of_cases(fit, group))
  p_answered <- fit$answered
  if (length(both) > 0L && !is.null(p_answered)) {
    p_both_answered <- p_answered[both[[1L]], ] * p_answered[both[[2L]], ]
    p_answered <- rbind(p_answered, p_both_answered, p_both_answered)
  }
  joint_probability <- if (length(both) > 0L && fit$model$difficulty == "strata") {
    predict_parameters(fit, fit$theta, both = both)$joint
  }
  combined_matrices <- add_combined_tests(fit$matrices, both, joint_probability)
  transformed_values <- transformed_measures(combined_matrices, base_rates, rates, p_answered)
  standard_error <- transformed_standard_errors(fit, transformed_values, rates, both, group)
  if (!is.null(fit$centre)) {
    # Confusion matrices are shrunk towards mean rows of the panel. Standard errors treat these
    # means as known, and can be too small. They are therefore increased at least to the standard
    # errors for known true categories.
    min_standard_error <- standard_errors_given_truth(fit, rates, both)
    standard_error <-
      pmax(standard_error, replace(min_standard_error, is.na(min_standard_error), 0))
  }
  z <- normal_quantile(conf_level)
  value <- back_transform(transformed_values)
  is_ratio <- is_ratio_measure(dim(value))
  measures <- list(
    value = value, error = ifelse(is_ratio, value, value * (1 - value)) * standard_error,
    low = back_transform(transformed_values - z * standard_error),
    high = back_transform(transformed_values + z * standard_error)
  )
  # Number of cases with known truth for each sensitivity and specificity. If the estimate is 0 or
  # 1, this is the sample size of its interval.
  n_known <- value + NA # an array of NA with the shape of `value`
  if (uses_known_truth(fit)) {
    known_counts <- count_known_by_truth(fit)
    n_known[1L, , seq_len(nrow(known_counts))] <- t(known_counts)
    n_known[2L, , seq_len(nrow(known_counts))] <- t(rowSums(known_counts) - known_counts)
  }
  # Wilson's intervals replace intervals on the logit scale, which are too wide near 0 and 1.
  error <- measures$error
  n_equivalent <- ifelse(error %in% c(NA, 0), n_known, value * (1 - value) / error^2)
  limits <- wilson_interval(clip01(value[!is_ratio]), n_equivalent[!is_ratio], z)
  measures$low[!is_ratio] <- limits[, 1L]
  measures$high[!is_ratio] <- limits[, 2L]
  measures
}

check_prevalence <- function(prevalence, categories) {
  if (is.null(prevalence)) return(NULL)
  rates <- prevalence
  if (is_single_number(rates) && length(categories) == 2L && is.null(names(rates))) {
    rates <- setNames(c(1 - rates, rates), categories)
  }
  is_valid <- is_distribution(rates, length(categories)) && setequal(names(rates), categories)
  abort_argument_if(!is_valid, "prevalence",
    "must be probabilities named {.val {categories}} that sum to one or, for two categories, the
        probability of the second category.", not = prevalence)
  unname(rates[categories])
}

# Returns the names of raters whose estimates depend mostly on the prior. The weight of the prior is
# expressed as a number of ratings, and these raters gave fewer ratings than this number.
find_prior_dominated_raters <- function(fit) {
  prior_size <- if (fit$identified == "yes") accuracy_prior_size(fit)
  if (is.null(prior_size)) return(character())
  n_ratings <- ratings_of_raters(fit$x)
  fit$x$raters[n_ratings > 0 & n_ratings < prior_size & !is_known_rater(fit)]
}

# Returns TRUE for rows of confusion matrices that depend mostly on the prior, a logical matrix
# (raters x true categories).
find_prior_dominated_rows <- function(fit) {
  ratings <- fit$x
  n_ratings_in_row <- outer(ratings_of_raters(ratings), fit$base_rates)
  row_prior_size <- if (!is.null(fit$centre)) accuracy_prior_size(fit, rates = 1)
  # With a pooled prior, a row depends mostly on the prior if the rater rated few cases of this true
  # category: their expected number is below the weight of the prior.
  is_pooled_row <- fit$identified == "yes" & n_ratings_in_row > 0 & !is_known_rater(fit) &
    n_ratings_in_row < (row_prior_size %||% 0)
  prior_terms <- if (!is.null(fit$draws)) fit$terms[compare_with_prior(fit)$mostly_prior &
    is_matrix_term(fit$terms$term) & is_convergence_checked(fit$terms), ]
  rows <- lapply(ratings$categories, function(category) {
    # Without posterior draws, all rows of a rater are TRUE if the rater's accuracy depends mostly
    # on the prior.
    if (is.null(prior_terms)) return(ratings$raters %in% find_prior_dominated_raters(fit) |
      is_pooled_row[, match(category, ratings$categories)])
    raters <- prior_terms$rater[prior_terms$truth %in% c(category, NA)]
    ratings$raters %in% raters | anyNA(raters) # NA for a matrix that all raters share
  })
  matrix(unlist(rows), n_raters(ratings))
}

# Returns the weight of the prior of raters' accuracies: the number of ratings (of cases with known
# truth) that contain the same information about an accuracy as the prior. Returns NULL if the fit
# has no such prior. `rates`: base rates, the weights of the true categories in the accuracy; 1 for
# the accuracy in a single category.
accuracy_prior_size <- function(fit, rates = fit$base_rates) {
  prior_spread <- fit$centre$tau %||% fit$model$prior$spread
  has_prior <- !is.null(prior_spread) && fit$model$accuracy == "rater" &&
    fit$method == "likelihood" && weights_are_counts(fit$x)
  # The weight is the variance v = p (1 - p) of one rating, divided by the prior variance of
  # accuracies; p is the mean accuracy. The prior variance has two parts. It contains
  # v sum(rates^2 / c), because rows vary around the rater's mean row. It also contains (tau v)^2,
  # because logits of accuracies vary between raters with standard deviation tau.
  if (has_prior)
    1 / (sum(rates^2 / fit$centre$c) +
      prior_spread^2 * bernoulli_variance(fit$rater_accuracy))
}

# ---- Two tests as one ---------------------------------------------------------------------------

# Adds the combinations "a and b" and "a or b" of two raters to `p` as two further raters, and
# returns the larger array. Arguments:
# * p: probabilities of answers, an array (raters x truth x answer)
# * both: indices of the two raters; if it is empty, nothing is added
# * joint: probability that both raters give the answer (truth x answer); NULL if their errors are
#   independent given the truth
# * variance: variances of `p`, or NULL. If it is given, the function returns variances of the
#   enlarged array (by the delta method) instead of probabilities.
add_combined_tests <- function(p, both, joint = NULL, variance = NULL) {
  enlarged_array <- variance %||% p
  if (length(both) == 0L) return(enlarged_array)
  a <- p[both[[1L]], , ]
  b <- p[both[[2L]], , ]
  n <- nrow(p)
  enlarged_array <- enlarged_array[c(seq_len(n), both), , ]
  if (is.null(variance)) {
    enlarged_array[n + 1L, , ] <- joint %||% (a * b)
    enlarged_array[n + 2L, , ] <- a + b - enlarged_array[n + 1L, , ]
  } else {
    variance_a <- variance[both[[1L]], , ]
    variance_b <- variance[both[[2L]], , ]
    enlarged_array[n + 1L, , ] <- b^2 * variance_a + a^2 * variance_b
    enlarged_array[n + 2L, , ] <- (1 - b)^2 * variance_a + (1 - a)^2 * variance_b
  }
  enlarged_array
}

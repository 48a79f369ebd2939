# Measures of diagnostic tests.

#' Sensitivity, specificity and predictive values without a gold standard
#'
#' Computes the usual measures of a diagnostic test for each rater and category, from a fit of the
#' raters. No gold standard is needed if the model of the fit holds. With more than two categories,
#' each is compared with all others together, weighted by the base rates of the fit.
#'
#' @section Two tests:
#' `combine` evaluates two tests as one. In series, `"a and b"` is positive for a category if both
#' answers are; in parallel, `"a or b"` is positive if either is. Their errors are assumed to be
#' independent given the truth; tests that err on the same cases gain less from each other.
#'
#' @section Intervals:
#' Intervals are computed by the delta method for log ratios and for log odds of probabilities, from
#' the curvature at the estimate. They are conditional on the centre if the prior is pooled. With
#' more than 500 parameters, each row of a matrix has the error that it would have if the expected
#' true categories were known. This error is too small if raters often disagree. Errors are `NA` if
#' weights are not counts, and if an estimate is on a boundary (within 1e-6 of 0 or 1), with a
#' `reason`. With cases of known truth, a sensitivity or specificity on a boundary has Wilson's
#' interval for the number of such cases.
#'
#' @param fit A [fit_raters()] result by `method = "likelihood"` or `"bayes"`.
#' @param prevalence Base rates for the predictive values: a named probability per category, or with
#'   two categories the probability of the second one. `NULL` uses those of the fit.
#' @param combine Names of two raters that are also evaluated as one test, in series and in
#'   parallel.
#' @param conf_level Nominal coverage of the intervals, in (0, 1); see [fallible-options].
#' @param positive The category of positive results; `NULL`, the default, for a table of all
#'   categories. With two categories, that table contains each number twice: the specificity of one
#'   category is the sensitivity of the other.
#' @return A tibble with a row per rater, category and measure.
#'   * `rater`, `category`, `measure`. Rows of `combine` come last.
#'   * `estimate`, `std.error` (of the estimate itself), `conf.low`, `conf.high`. With a pooled
#'     prior the error is at least the error with known truth, see [tidy.rater_fit].
#'   * `note`: `"mostly prior"` for raters with fewer ratings than the size of the centre of a
#'     pooled prior, otherwise `NA`.
#'   * `reason`: why there is no interval.
#'
#'   Measures are:
#'   * `sensitivity`, `specificity`;
#'   * `ppv`, `npv`: positive and negative predictive values;
#'   * `lr_positive`, `lr_negative`: likelihood ratios of the answer and of any other answer;
#'   * `dor`: diagnostic odds ratio; `youden`: sensitivity + specificity - 1.
#'
#'   If the fit models abstentions (see [rater_model()]), these measures refer to determinate
#'   results. With two categories there are further rows, without intervals:
#'   * `yield`: share of determinate results; `yield_positive`, `yield_negative`: this share in
#'     cases of the category and in others;
#'   * `sensitivity_worst`, `sensitivity_best`, `specificity_worst`, `specificity_best`: if all
#'     indeterminate results are wrong, or correct.
#'
#'   If base rates have a formula of factors and `prevalence` is `NULL`, the first columns are these
#'   factors. There are further rows of `ppv` and `npv` for each population. The factors are `NA` in
#'   rows about all cases.
#' @family estimation
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
                          conf_level = default_conf_level(), positive = NULL) {
  check_given()
  check_tested_fit(fit)
  categories <- fit$x$categories
  if (!is.null(positive)) check_choice(positive, categories)
  conf_level <- check_level(conf_level)
  raters <- fit$x$raters
  rates <- check_prevalence(prevalence, categories)
  both <- check_combined(combine, raters)
  prior <- raters %in% mostly_prior(fit)
  if (length(both) > 0L) {
    raters <- c(raters, paste(raters[both[1L]], c("and", "or"), raters[both[2L]]))
    prior <- c(prior, rep(any(prior[both]), 2L))
  }
  rows <- expand.grid(measure = test_measures, category = categories, rater = raters)
  notes <- ifelse(prior, "mostly prior", NA)
  tidy_tests <- function(group) {
    tested_table(fit, rows, na_real(tested(fit, rates, both, conf_level, group)), notes)
  }
  out <- rbind(tidy_tests(NULL), yield_table(fit, rates %||% fit$base_rates, notes))
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

# `rows`: factors measure, category and rater. `notes`: a note per rater.
tested_table <- function(fit, rows, numbers, notes) {
  numbers <- lapply(numbers, as.vector)
  # Youden's index is computed as 2 p - 1 from a probability p.
  times <- ifelse(rows$measure == "youden", 2, 1)
  column <- function(x) times * x - (times - 1)
  on_boundary <- is.na(numbers$error) & numbers$value %in% c(0, 1, Inf)
  reason <- ifelse(is.null(fit$answered) | is.na(numbers$value), NA, reason_abstain_errors)
  tibble::tibble(
    rater = as.character(rows$rater), category = rows$category,
    measure = as.character(rows$measure), estimate = column(numbers$value),
    std.error = times * numbers$error, conf.low = column(numbers$low),
    conf.high = column(numbers$high), note = notes[as.integer(rows$rater)],
    reason = replace(reason, on_boundary, "the estimate is on a boundary")
  )
}

reason_abstain_errors <- "standard errors of fits with abstentions are not computed"

# Share of determinate results of tests with two categories, and accuracy if all other results were
# wrong, or correct (Simel et al., 1987; Shinkins et al., 2013). `notes`: a note per rater.
yield_table <- function(fit, rates, notes) {
  if (is.null(fit$answered) || length(rates) != 2L) return(NULL)
  stack_rows(1:2, function(k) {
    answered <- fit$answered[, k]
    other <- fit$answered[, -k]
    right <- fit$matrices[, k, k]
    right_other <- fit$matrices[, -k, -k]
    value <- cbind(
      yield = rates[[k]] * answered + rates[-k] * other, yield_positive = answered,
      yield_negative = other, sensitivity_worst = answered * right,
      sensitivity_best = 1 - answered * (1 - right), specificity_worst = other * right_other,
      specificity_best = 1 - other * (1 - right_other)
    )
    estimate <- as.vector(value)
    tibble::tibble(
      rater = fit$x$raters[row(value)], category = category_factor(k, fit$x),
      measure = colnames(value)[col(value)], estimate = estimate, std.error = NA_real_,
      conf.low = NA_real_, conf.high = NA_real_, note = notes[row(value)],
      reason = ifelse(is.na(estimate), NA, reason_abstain_errors)
    )
  })
}

# Arrays, measures x categories x raters: value, error, and limits of the interval. Youden's index
# is given as a probability, see measure_test(). `group`: a row of covariates, which selects the
# population whose base rates are used.
tested <- function(fit, rates, both, conf_level, group = NULL) UseMethod("tested")

tested.rater_fit <- function(fit, rates, both, conf_level, group = NULL) {
  base_rates <- if (is.null(group)) fit$base_rates else drop(rates_of_cases(fit, group))
  answered <- fit$answered
  if (length(both) > 0L && !is.null(answered)) {
    answered <- rbind(answered, answered[rep(both[[1L]], 2L), ] * answered[rep(both[[2L]], 2L), ])
  }
  at <- test_numbers(add_combined(fit$matrices, both), base_rates, rates, answered)
  error <- test_errors(fit, at, rates, both, group)
  if (!is.null(fit$centre)) {
    # The curvature treats the centre as known. The lower bound is the error with known truth.
    least <- errors_given_truth(fit, rates, both)
    error <- pmax(error, replace(least, is.na(least), 0))
  }
  z <- normal_quantile(conf_level)
  value <- back_transform(at)
  slope <- ifelse(is_ratio(dim(at)), value, value * (1 - value))
  numbers <- list(
    value = value, error = slope * error, low = back_transform(at - z * error),
    high = back_transform(at + z * error)
  )
  if (rests_on_known(fit)) add_known_intervals(numbers, fit, z) else numbers
}

# Sensitivity and specificity on a boundary have intervals from the cases with known truth.
add_known_intervals <- function(numbers, fit, z) {
  n <- known_by_truth(fit)
  size <- numbers$value + NA
  size[1L, , seq_len(nrow(n))] <- t(n)
  size[2L, , seq_len(nrow(n))] <- t(rowSums(n) - n)
  at <- which(on_boundary(numbers$value) & size > 0)
  ends <- probability_interval(numbers$value[at], 0, z, size[at])
  numbers$low[at] <- ends[, 1L]
  numbers$high[at] <- ends[, 2L]
  numbers
}

check_tested_fit <- function(fit) {
  check_class(fit, "rater_fit", "fit", "Make one with {.fun fit_raters}.")
  abort_argument_if(!inherits(fit, c("latent_fit", "draws_fit")) || fit$method == "pairs", "fit",
    "must be of a {.fun rater_model}, by likelihood or posterior draws.",
    x = "It is one of the {format(fit$model)}, by {fit$method}.",
    i = "{.code fit_raters(x, dawid_skene())} gives each rater a confusion matrix.")
}

check_prevalence <- function(prevalence, categories) {
  if (is.null(prevalence)) return(NULL)
  if (length(prevalence) == 1L && length(categories) == 2L && is.null(names(prevalence))) {
    prevalence <- setNames(c(1 - prevalence, prevalence), categories)
  }
  ok <- is_distribution(prevalence, length(categories)) && setequal(names(prevalence), categories)
  abort_argument_if(!ok, "prevalence",
    "must be probabilities named {.val {categories}} that sum to one; of two categories the last
        one's will do.", not = prevalence)
  unname(prevalence[categories])
}

# Raters with fewer ratings than the size of the centre.
mostly_prior <- function(fit) {
  if (is.null(fit$centre) || fit$identified != "yes") return(character())
  n <- ratings_of_raters(fit$x)
  fit$x$raters[n > 0 & n < fit$centre$c & !is_known_rater(fit)]
}

# ---- Two tests as one ---------------------------------------------------------------------------

# Numbers of two raters; empty if `combine` is not given.
check_combined <- function(combine, raters) {
  if (is.null(combine)) return(integer())
  at <- match(as_label(combine), raters)
  abort_argument_if(length(at) != 2L || anyNA(at) || at[[1L]] == at[[2L]], "combine",
    "must be the names of two raters of {.arg fit}.", not = combine)
  at
}

# Appends to probabilities of an answer by truth (raters x truth x answer) those of "both" and of
# "either"; errors are independent given the truth. With `variance`, appends variances by the delta
# method.
add_combined <- function(p, both, variance = NULL) {
  out <- variance %||% p
  if (length(both) == 0L) return(out)
  a <- p[both[[1L]], , ]
  b <- p[both[[2L]], , ]
  more <- if (is.null(variance)) {
    c(a * b, 1 - (1 - a) * (1 - b))
  } else {
    variance_a <- variance[both[[1L]], , ]
    variance_b <- variance[both[[2L]], , ]
    c(b^2 * variance_a + a^2 * variance_b, (1 - b)^2 * variance_a + (1 - a)^2 * variance_b)
  }
  last <- c(aperm(out, c(2L, 3L, 1L)), more) # raters last
  aperm(array(last, (dim(p) + c(2L, 0L, 0L))[c(2L, 3L, 1L)]), c(3L, 1L, 2L))
}

# ---- Numbers and their errors -------------------------------------------------------------------

test_measures <- c(
  "sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "dor", "youden"
)

# Intervals are computed for logarithms of ratios, and for logits of all other measures.
is_ratio <- function(shape) array(test_measures %in% c("lr_positive", "lr_negative", "dor"), shape)

back_transform <- function(x) ifelse(is_ratio(dim(x)), exp(x), stats::plogis(x))

# Applies `f` to each rater and category: measures x categories x raters.
apply_to_tests <- function(raters, categories, f) {
  tests <- expand.grid(k = seq_len(categories), j = seq_len(raters))
  array(unlist(Map(f, tests$j, tests$k)), c(8L, categories, raters))
}

# Measures x categories x raters, on the scale of intervals. `answered`: raters x categories,
# probability that a rater answers; measures then refer to cases with an answer.
test_numbers <- function(matrices, base_rates, rates, answered = NULL) {
  apply_to_tests(nrow(matrices), length(base_rates), function(j, k) {
    rate <- rates %||% whole_on_boundary(base_rates)
    if (!is.null(answered)) {
      rate <- rate * answered[j, ] / sum(rate * answered[j, ])
      base_rates <- base_rates * answered[j, ]
    }
    measure_test(sensitivity_specificity(matrices, base_rates, j, k), rate[[k]])
  })
}

# Sets estimates on a boundary to 0 or 1, so that they have no errors.
whole_on_boundary <- function(p) ifelse(on_boundary(p), round(p), p)

# Sensitivity and specificity of rater j for category k, whose complement is weighted by base rates.
sensitivity_specificity <- function(matrices, base_rates, j, k) {
  weights <- if (length(base_rates) == 2L) 1 else base_rates[-k] / sum(base_rates[-k])
  c(matrices[j, k, k], 1 - sum(weights * matrices[j, -k, k]))
}

# Measures on the scale of intervals. `right`: sensitivity and specificity.
measure_test <- function(right, rate) {
  right <- whole_on_boundary(right)
  logit <- stats::qlogis
  positive <- log(right[[1L]]) - log1p(-right[[2L]])
  negative <- log1p(-right[[1L]]) - log(right[[2L]])
  c(
    logit(right), logit(rate) + positive, -logit(rate) - negative, positive, negative,
    positive - negative, logit(min(sum(right) / 2, 1))
  )
}

# Standard errors on the scale of intervals.
test_errors <- function(fit, at, rates, both = integer(), group = NULL, most = 500L) {
  out <- array(NA_real_, dim(at))
  if (fit$identified != "yes") return(out)
  if (!is.null(fit$calibrated)) return(standard_errors_of_judge(fit, at, rates))
  if (is.null(fit$unsure) || !weights_are_counts(fit$x)) return(out)
  if (length(fit$theta) > most) return(errors_given_truth(fit, rates, both))
  # Directions without curvature are left out: parameters are not identified there.
  hessian <- core_latent_hessian(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$theta
  )
  # Without scaling, LAPACK can fail to converge.
  scale <- max(abs(hessian))
  parts <- eigen(-(hessian + t(hessian)) / (2 * scale), symmetric = TRUE)
  kept <- parts$values > 1e-7 * max(parts$values)
  numbers <- function(theta) {
    law <- law_at(fit, theta, group)
    as.vector(test_numbers(add_combined(law$matrices, both), law$rates, rates))
  }
  step <- 1e-4 / pmax(abs(fit$theta), 1) # an absolute step of 1e-4
  slopes <- differences(numbers, fit$theta, step) %*% parts$vectors[, kept]
  variance <- rowSums(slopes^2 / rep(scale * parts$values[kept], each = nrow(slopes)))
  out[] <- sqrt(ifelse(is.finite(as.vector(at)), variance, NA))
  out
}

# Base rates (of one population, or the mean over the cases) and matrices at other parameters. They
# are predictions for patterns without ratings.
law_at <- function(fit, theta, group = NULL) {
  x <- fit$x
  n <- n_categories(x)
  known <- fit$known
  if (!is.null(group)) {
    design <- formula_design(fit$model$base_rates, group, known$base)$matrix
    known$design <- design[, -1L, drop = FALSE]
  }
  size <- max(1L, nrow(known$design))
  empty <- x$patterns
  empty$start <- integer(size + 1L)
  empty$rater <- empty$category <- integer()
  empty$answer <- matrix(0L, size, ncol(empty$answer))
  model <- model_of_fit(fit)
  model$level <- integer()
  known$truth <- integer()
  known$counts <- NULL
  if (!is.null(known$design)) known$population <- seq_len(size)
  law <- core_latent_probabilities(empty, rep(1, size), known, model, theta)
  # truths x strata x ratings x raters
  cells <- array(law$probability, c(n, nrow(law$probability) / n, n, n_raters(x)))
  weight <- 1
  if (size > 1L) {
    weight <- rowsum_codes(fit$known$population, pattern_weights(x) * judged_patterns(fit), size)
  }
  list(
    rates = drop(weight %*% law$posterior) / sum(weight),
    matrices = aperm(apply(cells, c(1L, 3L, 4L), mean), c(3L, 1L, 2L))
  )
}

# Standard errors as if the expected true categories were known.
errors_given_truth <- function(fit, rates, both = integer()) {
  p <- add_combined(fit$matrices, both)
  # raters x truth x answer
  variance <- fit$matrices * (1 - fit$matrices) / as.vector(sizes_by_truth(fit))
  variance <- add_combined(fit$matrices, both, variance)
  base_rates <- fit$base_rates
  out <- apply_to_tests(nrow(p), length(base_rates), function(j, k) {
    weights <- base_rates[-k] / sum(base_rates[-k])
    variances <- c(variance[j, k, k], sum(weights^2 * variance[j, -k, k]))
    numbers <- function(right) measure_test(right, (rates %||% base_rates)[[k]])
    slopes <- differences(numbers, sensitivity_specificity(p, base_rates, j, k), 1e-6)
    sqrt(drop(slopes^2 %*% variances))
  })
  replace(out, !is.finite(out), NA)
}

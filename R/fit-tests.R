# Raters as diagnostic tests.

#' Raters as diagnostic tests
#'
#' What is reported of a test, of each rater and category, from a fit of the raters: no gold
#' standard is needed, where the model of the fit holds. For more than two categories each is taken
#' against all others, with these as frequent as in the fit.
#'
#' @section Two tests:
#' `combine` asks for two tests as one. In series, `"a and b"` is positive for a category if both
#' answers are; in parallel, `"a or b"` is if either is. That takes their errors to be independent
#' given the truth, as the model of the fit does; tests that err in the same cases gain less by each
#' other.
#'
#' @section Intervals:
#' By the delta method on the logarithm of odds and ratios, from the curvature at the estimate with
#' the uncertainty of base rates and of all other raters in it; given the centre, where the prior is
#' pooled. Of fits with more than 500 parameters each row of a matrix has the error that it would
#' have if true categories were known as far as they are expected, which is too small where raters
#' often differ. `NA` where a number lies on a boundary, and where weights do not count cases.
#'
#' @param fit A [fit_raters()] result by `method = "likelihood"` without formulas, or by `"bayes"`.
#' @param prevalence Base rates at which predictive values are to be told: one probability of each
#'   category by name, or of the last one where there are two. `NULL` are those of the fit.
#' @param combine The names of two raters, who are to be told as one test, too, in series and in
#'   parallel.
#' @param conf_level Probability with which the intervals are meant to cover, in (0, 1); see
#'   [fallible-options].
#' @return A tibble with a row per rater, category and measure: `rater`, `category`, `measure`,
#'   `estimate`, `std.error` (of the estimate itself), `conf.low` and `conf.high`. Measures are
#'   `sensitivity` and `specificity`; `ppv` and `npv`, the positive and negative predictive values;
#'   `lr_positive` and `lr_negative`, the likelihood ratios of the answer and of any other; `dor`,
#'   the diagnostic odds ratio; and `youden`, sensitivity + specificity - 1. `note` is `"mostly
#'   prior"` for raters with fewer ratings than the centre of a pooled prior counts for, else `NA`.
#'   Rows of `combine` come last.
#' @family estimation
#' @references Hui, S. L. and Walter, S. D. (1980). Estimating the error rates of diagnostic tests.
#'   *Biometrics*, 36, 167-171. \doi{10.2307/2530508}
#' @examples
#' # Three tests, none of them a gold standard
#' tests <- data.frame(
#'   a = c("-", "+"), b = c("-", "-", "+", "+"), c = rep(c("-", "+"), each = 4),
#'   n = c(3209, 309, 9403, 3221, 234, 65, 2512, 1047)
#' )
#' fit <- fit_raters(ratings(tests, raters = a:c, weights = n), dawid_skene())
#' found <- test_accuracy(fit)
#' found[found$category == "+", ]
#' # What a positive result is worth where 5% are positive
#' subset(test_accuracy(fit, prevalence = 0.05), category == "+" & measure == "ppv")
#' # Positive only if both are, or if either is
#' both <- test_accuracy(fit, prevalence = 0.05, combine = c("a", "b"))
#' subset(both, category == "+" & rater %in% c("a and b", "a or b"))
#' @export
test_accuracy <- function(fit, prevalence = NULL, combine = NULL,
                          conf_level = default_conf_level()) {
  check_given()
  check_tested_fit(fit)
  conf_level <- check_level(conf_level)
  rates <- check_prevalence(prevalence, fit$x$categories)
  both <- check_combined(combine, fit$x$raters)
  found <- tested(fit, rates, both, conf_level)
  prior <- fit$x$raters %in% mostly_prior(fit)
  prior <- c(prior, if (length(both) > 0L) rep(any(prior[both]), 2L))
  table <- expand.grid(
    measure = test_measures, category = fit$x$categories,
    rater = c(fit$x$raters, combined_names(fit$x$raters[both])),
    stringsAsFactors = FALSE
  )
  tibble::tibble(
    rater = table$rater, category = factor(table$category, fit$x$categories),
    measure = table$measure, estimate = as_test_column(found$value),
    std.error = as.vector(found$error) * ifelse(table$measure == "youden", 2, 1),
    conf.low = as_test_column(found$low), conf.high = as_test_column(found$high),
    note = rep(ifelse(prior, "mostly prior", NA), each = prod(dim(found$value)[1:2]))
  )
}

# Measures x categories x raters: value, its error, and the ends of its interval; Youden's index as
# a probability, see one_test().
tested <- function(fit, rates, both, conf_level) UseMethod("tested")

tested.rater_fit <- function(fit, rates, both, conf_level) {
  at <- test_numbers(with_combined(fit$matrices, both), fit$base_rates, rates)
  error <- test_errors(fit, at, rates, both)
  z <- normal_quantile(conf_level)
  value <- off_scale(at)
  slope <- ifelse(measure_scale(dim(at)), value, value * (1 - value))
  list(
    value = value, error = slope * error, low = off_scale(at - z * error),
    high = off_scale(at + z * error)
  )
}

# ---- Two tests as one ---------------------------------------------------------------------------

# The places of two raters; none if nobody asks.
check_combined <- function(combine, raters) {
  if (is.null(combine)) return(integer())
  at <- match(as_label(combine), raters)
  abort_argument_if(length(at) != 2L || anyNA(at) || at[[1L]] == at[[2L]], "combine",
    "must be the names of two raters of {.arg fit}.", not = combine)
  at
}

combined_names <- function(raters) {
  if (length(raters) > 0L) paste(raters[[1L]], c("and", "or"), raters[[2L]])
}

# Probabilities of an answer by truth (raters x truth x answer) with those of both and of either
# behind them; errors are independent given the truth. Of `variance`, if given, by the delta method.
with_combined <- function(p, both, variance = NULL) {
  if (length(both) == 0L) return(variance %||% p)
  a <- p[both[[1L]], , ]
  b <- p[both[[2L]], , ]
  if (is.null(variance)) return(stack_tests(p, a * b, 1 - (1 - a) * (1 - b)))
  of_a <- variance[both[[1L]], , ]
  of_b <- variance[both[[2L]], , ]
  stack_tests(variance, b^2 * of_a + a^2 * of_b, (1 - b)^2 * of_a + (1 - a)^2 * of_b)
}

stack_tests <- function(p, both, either) {
  shape <- dim(p) + c(2L, 0L, 0L)
  aperm(array(c(aperm(p, c(2L, 3L, 1L)), both, either), shape[c(2L, 3L, 1L)]), c(3L, 1L, 2L))
}

# Raters with fewer ratings than the centre counts for.
mostly_prior <- function(fit) {
  if (is.null(fit$centre) || fit$identified != "yes") return(character())
  x <- fit$x
  n <- ratings_of_raters(x)
  x$raters[n > 0 & n < fit$centre$c & !is_known_rater(fit)]
}

# ---- Numbers and their errors -------------------------------------------------------------------

# From logarithms of ratios, and logits of all else.
off_scale <- function(x) ifelse(measure_scale(dim(x)), exp(x), stats::plogis(x))

test_measures <- c(
  "sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "dor", "youden"
)

check_tested_fit <- function(fit) {
  check_class(fit, "rater_fit", "fit", "Make one with {.fun fit_raters}.")
  abort_argument_if(!inherits(fit, c("latent_fit", "draws_fit")) || fit$method == "pairs", "fit",
    "must be of a {.fun rater_model} without formulas, by likelihood.",
    x = "It is one of the {format(fit$model)}, by {fit$method}.",
    i = if (length(Filter(is_used_formula, fit$model$formulas)) > 0L) {
      "{.code fit_raters(x, model, method = \"bayes\")} takes a formula of base rates."
    } else {
      "{.code fit_raters(x, dawid_skene())} gives each rater a confusion matrix."
    })
}

check_prevalence <- function(prevalence, categories) {
  if (is.null(prevalence)) return(NULL)
  if (length(prevalence) == 1L && length(categories) == 2L && is.null(names(prevalence))) {
    prevalence <- stats::setNames(c(1 - prevalence, prevalence), categories)
  }
  ok <- is.numeric(prevalence) && setequal(names(prevalence), categories) &&
    length(prevalence) == length(categories) && all(is.finite(prevalence)) &&
    all(prevalence >= 0) && abs(sum(prevalence) - 1) < 1e-6
  abort_argument_if(!ok, "prevalence",
    "must be probabilities named {.val {categories}} that sum to one; of two categories the last
        one's will do.", not = prevalence)
  unname(prevalence[categories])
}

# Measures x categories x raters, on the scale of intervals.
test_numbers <- function(matrices, base_rates, rates) {
  categories <- length(base_rates)
  out <- vapply(seq_len(dim(matrices)[[1L]]), function(j) {
    vapply(seq_len(categories), function(k) {
      of <- against_the_rest(matrices, base_rates, j, k)
      one_test(of[[1L]], of[[2L]], (rates %||% base_rates)[[k]])
    }, numeric(length(test_measures)))
  }, matrix(0, length(test_measures), categories))
  array(out, c(length(test_measures), categories, dim(matrices)[[1L]]))
}

# Sensitivity and specificity of a rater for one category; the others are as frequent as they are.
against_the_rest <- function(matrices, base_rates, j, k) {
  others <- base_rates[-k] / sum(base_rates[-k])
  c(matrices[j, k, k], 1 - sum(others * matrices[j, -k, k]))
}

one_test <- function(sensitivity, specificity, rate) {
  logit <- stats::qlogis
  positive <- log(sensitivity) - log1p(-specificity)
  negative <- log1p(-sensitivity) - log(specificity)
  c(
    logit(sensitivity), logit(specificity), logit(rate) + positive, -logit(rate) - negative,
    positive, negative, positive - negative, logit(min((sensitivity + specificity) / 2, 1))
  )
}

measure_scale <- function(shape) {
  array(test_measures %in% c("lr_positive", "lr_negative", "dor"), shape)
}

# Youden's index is twice a probability less one.
as_test_column <- function(x) {
  x[8L, , ] <- 2 * x[8L, , ] - 1
  na_real(as.vector(x))
}

# Standard errors on the scale of intervals.
test_errors <- function(fit, at, rates, both = integer(), most = 500L) {
  out <- array(NA_real_, dim(at))
  if (fit$identified == "yes" && !is.null(fit$calibrated)) return(judged_errors(fit, at, rates))
  if (fit$identified != "yes" || is.null(fit$unsure) || !weights_are_counts(fit$x)) return(out)
  if (length(fit$theta) > most) return(array(errors_given_truth(fit, rates, both), dim(at)))
  inverse <- inverse_of_bend(fit)
  slopes <- vapply(seq_along(fit$theta), function(i) {
    step <- 1e-4
    up <- law_at(fit, replace(fit$theta, i, fit$theta[[i]] + step))
    down <- law_at(fit, replace(fit$theta, i, fit$theta[[i]] - step))
    numbers <- function(law) test_numbers(with_combined(law$matrices, both), law$rates, rates)
    as.vector(numbers(up) - numbers(down)) / (2 * step)
  }, as.vector(at))
  variance <- rowSums((slopes %*% inverse) * slopes)
  out[] <- sqrt(ifelse(is.finite(as.vector(at)), pmax(variance, 0), NA))
  out
}

# Directions in which nothing bends are those in which parameters stand for the same.
inverse_of_bend <- function(fit) {
  bend <- core_latent_hessian(
    fit$x$patterns, pattern_weights(fit$x), fit$known, model_of_fit(fit), fit$theta
  )
  parts <- eigen(-(bend + t(bend)) / 2, symmetric = TRUE)
  kept <- parts$values > 1e-7 * max(parts$values)
  parts$vectors[, kept] %*% (t(parts$vectors[, kept]) / parts$values[kept])
}

# Base rates and matrices at other parameters; patterns without ratings have the former.
law_at <- function(fit, theta) {
  empty <- utils::modifyList(fit$x$patterns, list(
    start = c(0L, 0L), rater = integer(), category = integer(),
    answer = fit$x$patterns$answer[0L, , drop = FALSE][NA_integer_, , drop = FALSE]
  ))
  empty$answer[] <- 0L
  model <- utils::modifyList(model_of_fit(fit), list(level = integer()))
  found <- core_latent_probabilities(
    empty, 1, list(truth = integer(), raters = fit$known$raters), model, theta
  )
  n <- length(fit$x$categories)
  strata <- dim(found$probability)[[1L]] / n
  of <- array(found$probability, c(n, strata, n, length(fit$x$raters)))
  list(
    rates = found$posterior[1L, ],
    matrices = aperm(apply(of, c(1L, 3L, 4L), mean), c(3L, 1L, 2L))
  )
}

# As if true categories were known as far as they are expected.
errors_given_truth <- function(fit, rates, both = integer()) {
  p <- with_combined(fit$matrices, both)
  variance <- with_combined(fit$matrices, both, variance_given_truth(fit))
  out <- vapply(seq_len(dim(p)[[1L]]), function(j) {
    vapply(seq_along(fit$base_rates), function(k) {
      others <- fit$base_rates[-k] / sum(fit$base_rates[-k])
      variances <- c(variance[j, k, k], sum(others^2 * variance[j, -k, k]))
      of <- against_the_rest(p, fit$base_rates, j, k)
      rate <- (rates %||% fit$base_rates)[[k]]
      slopes <- one_test(of[[1L]] + 1e-6, of[[2L]], rate) -
        one_test(of[[1L]] - 1e-6, of[[2L]], rate)
      more <- one_test(of[[1L]], of[[2L]] + 1e-6, rate) -
        one_test(of[[1L]], of[[2L]] - 1e-6, rate)
      sqrt(variances[[1L]] * (slopes / 2e-6)^2 + variances[[2L]] * (more / 2e-6)^2)
    }, numeric(length(test_measures)))
  }, matrix(0, length(test_measures), length(fit$base_rates)))
  out[!is.finite(out)] <- NA
  out
}

# Raters x truth x answer.
variance_given_truth <- function(fit) {
  weight <- pattern_weights(fit$x)[rating_pattern(fit$x)]
  before <- if (is.null(fit$centre)) 0 else fit$centre$c
  p <- fit$matrices
  for (j in seq_along(fit$x$raters)) {
    own <- which(rating_rater(fit$x) == j)
    n <- colSums(fit$posterior[rating_pattern(fit$x)[own], , drop = FALSE] * weight[own]) + before
    p[j, , ] <- p[j, , ] * (1 - p[j, , ]) / n
  }
  p
}

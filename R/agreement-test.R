#' Tests of agreement
#'
#' Tests whether agreement is no better than by chance, or any other value; or compares two panels
#' of raters on the same cases, for example two pairs of raters, or the same raters before and after
#' training.
#'
#' @section Standard errors:
#' At `null = 0` Scott's pi and Fleiss' kappa are tested with the standard error that holds if
#' ratings are independent (Fleiss, Nee and Landis 1979, here also for weights and unequal numbers
#' of ratings), and so is Cohen's kappa (Fleiss, Cohen and Everitt 1969), against the normal
#' distribution: method `"null"`. Never use these errors for intervals. All else is compared with
#' its ordinary standard error and Student's t with `n - 1` degrees of freedom.
#'
#' @section Dependent measures:
#' Measures of the same cases are not independent. The influences of each case on the two
#' estimates are subtracted, so that what they share cancels; this holds for any two measures,
#' with any raters in common. Cases are matched by their identifiers (matrices without row names: by
#' row), and those of only one panel count as they should. Degrees of freedom are those of the
#' smaller panel.
#'
#' @inheritParams agreement
#' @param y What to compare with `x`, in any form that `x` may have but agreement matrices, which
#'   do not say which case is which; `NULL` to compare the agreement of `x` with `null`.
#' @param null The value to test: of the agreement, or with `y` of the difference.
#' @param alternative `"two.sided"`, `"greater"` or `"less"`.
#' @param interval `"analytic"` or `"jackknife"`: where influences come from.
#' @return Without `y`, a tibble of class `agreement_test` with columns `measure`, `scale_weights`,
#'   `estimate`, `null`, `std.error`, `statistic`, `p.value`, `alternative`, `n`, `method`,
#'   `reason`.
#'
#'   With `y`, a tibble of class `agreement_comparison` with columns `measure`, `scale_weights`,
#'   `estimate` (the measure of `x` less that of `y`), `estimate1`, `estimate2`, `std.error`,
#'   `conf.low`, `conf.high`, `statistic`, `p.value`, `n` (cases of both), `method`, `reason`.
#'
#'   Both have methods for `print()`, [tidy()][agreement_tests], [glance()][agreement_tests],
#'   [format()][agreement_tests] and [autoplot()][autoplot.agreement_test].
#' @family agreement
#' @references Fleiss, J. L., Nee, J. C. M. and Landis, J. R. (1979). Large sample variance of kappa
#'   in the case of different sets of raters. *Psychological Bulletin*, 86(5), 974--977.
#'   \doi{10.1037/0033-2909.86.5.974}
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' compare_agreement(x, measures = "fleiss_kappa")
#'
#' once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
#' anaesthetists <- ratings(once, case = case, rater = rater, rating = rating)
#' compare_agreement(
#'   anaesthetists[, c("A1", "A2")], anaesthetists[, c("A1", "A4")], "cohen_kappa"
#' )
#' @export
compare_agreement <- function(x, y = NULL, measures = NULL, null = 0, scale_weights = NULL,
                              alternative = c("two.sided", "greater", "less"),
                              conf_level = default_conf_level(),
                              interval = c("analytic", "jackknife"), ...,
                              pooling = c("pairs", "cases")) {
  check_given()
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  null <- check_number(null, "null", -1, 1, open_max = TRUE)
  about <- list(
    null = null, alternative = check_choice(alternative), conf_level = conf_level,
    scale_name = name_of_weights(scale_weights)
  )
  given <- c(list(x = x), if (!is.null(y)) list(y = y))
  samples <- Map(function(one, arg) {
    new_sample(one, scale_weights, interval, pooling, arg)
  }, given, names(given))
  if (is.null(y)) return(test_against(samples[[1L]], measures, about))
  check_same_cases(samples, given)
  check_same_categories(samples)
  found <- lapply(samples, function(s) find_measures(measures, list(s$view), s$settings))
  ids <- intersect(names(found[[1L]]), names(found[[2L]]))
  inform_of_alphas(ids, about$scale_name)
  rows <- lapply(found[[1L]][ids], compare_row, samples = samples, about = about)
  new_result_table(rows, c("agreement_comparison", "agreement_test"), about = about)
}

test_against <- function(sample, measures, about) {
  found <- find_measures(measures, list(sample$view), sample$settings)
  if (is.null(measures)) { # those for which zero is what chance gives
    found <- Filter(function(measure) measure$lower < 0, found)
  }
  inform_of_alphas(names(found), about$scale_name)
  rows <- lapply(found, test_row, sample, about)
  new_result_table(rows, "agreement_test", about = about)
}

new_sample <- function(x, scale_weights, interval, pooling, arg) {
  x <- as_ratings_of_several(x, arg)
  settings <- list(
    conf_level = 0.9, interval = check_choice(interval, c("analytic", "jackknife"), "interval"),
    pooling = check_choice(pooling, c("pairs", "cases"), "pooling")
  )
  settings$scale_weights <- check_scale_weights(scale_weights, x$categories)
  list(view = new_view(x), settings = settings)
}

test_row <- function(measure, sample, about) {
  null <- about$null
  alternative <- about$alternative
  raw <- evaluate(measure, sample$view, sample$settings)
  error <- error_of(measure, sample$view, raw, sample$settings)
  degrees <- error$n - 1
  if (null == 0 && !is.na(raw$null_error) && sample$view$counted) {
    error[c("std.error", "method")] <- list(raw$null_error, "null")
    error["reason"] <- list(NULL)
    degrees <- Inf
  }
  statistic <- (raw$estimate - null) / error$std.error
  list(
    measure = measure$id, scale_weights = about$scale_name, estimate = raw$estimate, null = null,
    std.error = error$std.error, statistic = statistic,
    p.value = p_value(statistic, degrees, alternative), alternative = alternative, n = error$n,
    method = error$method,
    reason = raw$reason %||% error$reason %||% NA_character_
  )
}

p_value <- function(statistic, degrees, alternative) {
  if (is.na(statistic)) return(NA_real_)
  switch(alternative,
    two.sided = 2 * stats::pt(-abs(statistic), degrees),
    greater = stats::pt(statistic, degrees, lower.tail = FALSE),
    less = stats::pt(statistic, degrees)
  )
}

check_same_cases <- function(samples, given) {
  for (i in 1:2) {
    if (in_database(given[[i]])) abort_no_cases("{.arg {c('x', 'y')[[i]]}} must have its cases")
    abort_argument_if(inherits(given[[i]], "table") || !is.null(samples[[i]]$view$x$weights),
      c("x", "y")[[i]], "Dependent measures can be compared only where every case is known.",
      x = "{.arg {c('x', 'y')[[i]]}} is
          {if (inherits(given[[i]], 'table')) 'an agreement matrix' else 'weighted'}.",
      i = "Give the ratings, with a row per case.")
  }
}

check_same_categories <- function(samples) {
  categories <- lapply(samples, function(s) s$view$x$categories)
  abort_argument_if(!identical(categories[[1L]], categories[[2L]]), "y",
    "{.arg x} and {.arg y} must have the same categories.",
    x = "{.arg x} has {.val {categories[[1L]]}}, {.arg y} has {.val {categories[[2L]]}}.",
    i = "Declare them with {.code categories =} in {.fun ratings}.")
}

compare_row <- function(measure, samples, about) {
  raw <- lapply(samples, function(s) evaluate(measure, s$view, s$settings))
  errors <- Map(function(s, r) error_of(measure, s$view, r, s$settings), samples, raw)
  estimates <- vapply(raw, `[[`, 0, "estimate")
  reason <- raw[[1L]]$reason %||% raw[[2L]]$reason %||% errors[[1L]]$reason %||%
    errors[[2L]]$reason %||% NA_character_
  difference <- estimates[[1L]] - estimates[[2L]]
  cases <- lapply(samples, function(s) as_label(s$view$x$cases))
  error <- if (is.na(reason)) difference_error(samples, raw, errors, cases) else NA_real_
  if (!is.na(error) && error < 1e-12) {
    error <- NA_real_
    reason <- paste0(no_interval, "no case makes a difference to the estimate")
  }
  degrees <- min(vapply(errors, `[[`, 0, "n")) - 1
  limits <- difference + c(-1, 1) * error * stats::qt((1 + about$conf_level) / 2, max(degrees, 1))
  statistic <- (difference - about$null) / error
  list(
    measure = measure$id, scale_weights = about$scale_name, estimate = difference,
    estimate1 = estimates[[1L]], estimate2 = estimates[[2L]], std.error = error,
    conf.low = limits[[1L]], conf.high = limits[[2L]], statistic = statistic,
    p.value = p_value(statistic, degrees, about$alternative),
    n = length(intersect(cases[[1L]], cases[[2L]])), method = errors[[1L]]$method, reason = reason
  )
}

# Influences of cases that both have are subtracted, so that what they share cancels.
difference_error <- function(samples, raw, errors, cases) {
  of_case <- Map(function(s, r, e) {
    r$influence[pattern_of_case(s$view$x)] * sqrt(e$n / (e$n - 1))
  }, samples, raw, errors)
  at <- match(cases[[1L]], cases[[2L]])
  shared <- !is.na(at)
  of_case[[1L]][shared] <- of_case[[1L]][shared] - of_case[[2L]][at[shared]]
  sqrt(sum(of_case[[1L]]^2, of_case[[2L]][-c(at[shared], length(cases[[2L]]) + 1L)]^2))
}

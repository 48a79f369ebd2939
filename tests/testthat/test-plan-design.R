pilot <- function(...) {
  quiet(withr::with_seed(1, simulate_ratings(rater_design(...))))
}

settled <- function(...) {
  withr::with_seed(1, plan_cases(..., cases = 20, runs = 20, estimator = "unbinned"))
}

test_that("accuracies spread over other numbers of raters as they are", {
  given <- c(0.5, 0.6, 0.7)
  expect_equal(spread_accuracies(given, 3), given)
  expect_equal(spread_accuracies(0.6, 4), rep(0.6, 4))
  for (m in c(2, 5, 6)) {
    expect_equal(mean(spread_accuracies(given, m)), 0.6)
    expect_true(all(diff(spread_accuracies(given, m)) >= 0))
  }
  expect_gt(diff(range(spread_accuracies(given, 6))), diff(range(spread_accuracies(given, 2))))
  plan <- plan_cases(rater_accuracy = given, cases = 20, runs = 20, estimator = "unbinned")
  expect_identical(tidy(plan)$raters, 3L)
})

test_that("a plan has the raters that are asked for, as many and as good", {
  design <- function(accuracy) rater_design(rep(accuracy, 3), 0.8, 3)
  several <- settled(design(0.7), raters = 2:4)
  drawn <- function(plan) lapply(plan$settings$designs, simulate_ratings, n = 5)
  expect_identical(vapply(drawn(several), ncol, 0L), 2:4)
  better <- settled(design(0.7), rater_accuracy = 0.9)
  expected <- settled(design(0.9))
  expect_equal(tidy(better), tidy(expected))
  expect_equal(better$settings$designs, expected$settings$designs)
})

test_that("the kappa of raters is what simulated panels have", {
  expect_equal(expected_kappa(rater_design(rep(0.6, 2))), (0.36 + 0.16 / 4 - 0.2) / 0.8)
  expect_equal(
    expected_kappa(rater_design(rep(0.6, 7))), expected_kappa(rater_design(rep(0.6, 2)))
  )
  limit <- function(design) exact_limit(design, function(x) fit_raters(x)$kappa)$estimate
  rates <- c(0.1, 0.4, 0.1, 0.2, 0.2)
  design <- rater_design(
    c(0.5, 0.6, 0.7), 0.8, dispersion = 2, difficulty = 0.2, base_rates = rates
  )
  expect_equal(expected_kappa(design), limit(design))
  # With separate matrices, and copies of copies.
  set.seed(1)
  given <- matrix(runif(25), 5)
  design <- rater_design(
    c(0.5, 0.6, 0.7, 0.4), 0.8, dispersion = 2, difficulty = 0.2, base_rates = rates,
    copying = data.frame(from = c(1, 2, 1), to = c(2, 3, 5), probability = c(0.5, 0.3, 0.9)),
    matrices = list(rater4 = given / rowSums(given))
  )
  expect_equal(expected_kappa(design), limit(design))
})

test_that("a pilot gives what a plan assumes", {
  x <- pilot(c(0.5, 0.7, 0.9, 0.6), c(a = 0.8, b = 0.6), 3, n = 400, missing = 0.2)
  set.seed(2)
  plan <- plan_cases(x, cases = 50, runs = 20, estimator = "unbinned")
  settings <- plan$settings
  fit <- fit_raters(x, rater_model("rater"))
  expect_equal(settings$accuracies, unname(coef(fit)[1:4]))
  expect_identical(settings$raters, 4L)
  expect_identical(settings$labels, x$categories)
  design <- settings$designs[[1]]
  expect_equal(settings$missing, 1 - sum(diff(x$patterns$start)[x$index]) / nobs(fit) / 4)
  expect_lt(abs(settings$missing - 0.2), 0.06)
  expect_equal(design$base_rates, fit$base_rates)
  joint <- quiet(estimate_accuracy(fit, method = "joint", interval = "none"))
  expect_equal(settings$systems, round(tidy(joint)$estimate, 3))
  expect_equal(settings$pilot$std.error, sqrt(mean(vcov(fit)[1:4, 1:4])))
  expect_output(print(plan), "Pilot of 400 cases")
  # What is given replaces it.
  other <- settled(x, rater_accuracy = 0.6, system_accuracy = 0.9, raters = 2)$settings
  expect_identical(other[c("accuracies", "systems", "raters", "missing")], list(
    accuracies = 0.6, systems = 0.9, raters = 2L, missing = settings$missing
  ))
})

test_that("a fit of any model with uniform errors, or errors by distance, is a pilot", {
  x <- pilot(c(0.6, 0.6, 0.6), n = 500, dispersion = 2, difficulty = 0.2, base_rates = rep(0.2, 5))
  fit <- fit_raters(x, rater_model("common", "distance", "strata"))
  settings <- plan_cases(fit, cases = 20, runs = 20, estimator = "unbinned")$settings
  design <- settings$designs[[1]]
  expect_equal(design$dispersion, round(coef(fit)[["dispersion"]], 3))
  expect_equal(max(design$strata$shift), round(coef(fit)[["difficulty"]], 3))
  expect_gt(design$dispersion, 1.3)
  expect_equal(settings$accuracies, fit$rater_accuracy)
  expect_identical(settings$raters, 3L)
  expect_error(plan_cases(fit_raters(x, dawid_skene("weak"))), class = "fallible_error_argument")
})

test_that("crowds and counts are panels of their mean number of ratings", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  settings <- settled(x)$settings
  expect_identical(settings$raters, 6L)
  expect_equal(settings$accuracies, fit_raters(x)$rater_accuracy)
  expect_identical(settings$systems, c(0.1, 0.3, 0.5, 0.7, 0.9))
  crowd <- pilot(rep(0.7, 20), n = 300, missing = 0.8)
  plan <- settled(crowd)
  expect_identical(plan$settings$raters, 4L)
  expect_identical(plan$settings$missing, 0)
  expect_equal(plan$settings$accuracies, fit_raters(crowd)$rater_accuracy)
  expect_output(print(plan), "most ratings are missing")
})

test_that("pass rates are not planned from agreement, and machines get a note", {
  x <- pilot(c(0.7, 0.8, 0.9), n = 60)
  long <- as.data.frame(x)
  passes <- ratings(long, case = case, rater = rater, rating = rating, systems = c(app = "1"))
  expect_error(plan_cases(passes, runs = 20), "pass rate.*plan_gold",
    class = "fallible_error_argument")
  machines <- ratings(long, case = case, rater = rater, rating = rating, rater_kind = "model")
  note <- "Language models and programs share errors"
  plans <- lapply(list(machines, x), plan_cases, half_width = 0.2, runs = 20)
  told <- vapply(plans, function(plan) any(grepl(note, capture.output(print(plan)))), NA)
  expect_identical(told, c(TRUE, FALSE))
})

test_that("a pilot that says nothing is refused", {
  x <- ratings(matrix(c("a", "b", "c", "a", "b", "a", "b", "c"), 4))
  expect_error(plan_cases(x), "raters agree no better", class = "fallible_error_argument")
  labels <- ratings(
    list(case = c(1, 1, 2), rater = c("a", "b", "a"), rating = c("x", "y", "x")) |>
      as.data.frame(),
    case = case, rater = rater, rating = rating, repeats = "labels"
  )
  expect_error(plan_cases(labels), class = "fallible_error_labels")
})

fifths <- rep(0.2, 5)

# Shares of a large panel, and their expected values.
drawn <- function(..., n = 20000, seed = 1) {
  set.seed(seed)
  simulate_ratings(rater_design(..., base_rates = fifths), n = n)
}

test_that("ratings are missing by rater", {
  x <- drawn(c(a = 0.6, b = 0.7, c = 0.8), 0.9, missing = c(b = 0.5, c = 0.1))
  given <- table(as.data.frame(x)$rater) / nrow(x)
  expect_equal(as.vector(given), c(1, 0.5, 0.9), tolerance = 0.02)
  one <- rater_design(c(0.6, 0.7), missing = 0.3)
  expect_identical(one$missing, c(0.3, 0.3))
  expect_identical(rater_design(c(0.6, 0.7), missing = c(0.3, 0.3)), one)
  expect_identical(glance(rater_design(c(0.6, 0.7), missing = c(0.1, 0.3)))$missing, 0.2)
})

test_that("matrices may differ by stratum", {
  blind <- matrix(0.2, 5, 5)
  design <- rater_design(
    c(0.6, 0.7), c(s = 0.5), difficulty = data.frame(shift = 0, weight = c(0.25, 0.75)),
    matrices = list(s = list(diag(5), blind), rater1 = blind), base_rates = fifths
  )
  set.seed(2)
  x <- simulate_ratings(design, 20000)
  expect_equal(true_accuracy(x)$expected, 0.25 + 0.75 * 0.2)
  expect_equal(true_accuracy(x)$sample, 0.4, tolerance = 0.03)
  first <- x[x$truth$stratum == 1, ]
  expect_identical(true_accuracy(first)$sample, 1)
  expect_output(print(design), "s = 0.4")
  expect_equal(exact_limit(design, function(x) 0.5)$expected, 0.4)
})

test_that("loadings leave marginals and make errors go together", {
  x <- drawn(c(0.6, 0.6, 0.6), 0.7, difficulty = list(loading = c(0.9, 0.9, 0, 0.9)))
  true <- true_accuracy(x)
  expect_equal(true$expected, 0.7)
  expect_equal(true$sample, 0.7, tolerance = 0.02)
  agreement <- function(i, j) {
    sum(diag(prop.table(agreement_matrix(x, i, j))))
  }
  alone <- 0.36 + 0.16 / 4
  expect_equal(agreement("rater1", "rater3"), alone, tolerance = 0.03)
  expect_gt(agreement("rater1", "rater2"), 0.6)
  # Agreement by quadrature, as plans have it, is that of the panel.
  design <- rater_design(c(0.6, 0.6), difficulty = list(loading = 0.9), base_rates = fifths)
  expected <- expected_kappa(design) * 0.8 + 0.2
  expect_equal(agreement("rater1", "rater2"), expected, tolerance = 0.02)
  # Of two categories and accuracy 1/2 it is known in closed form.
  half <- rater_design(c(0.5, 0.5), difficulty = list(loading = c(0.8, 0.5)), categories = 2, base_rates = c(0.5, 0.5))
  expect_equal(expected_kappa(half), 2 * asin(0.4) / pi, tolerance = 1e-8)
})

test_that("drift is a line over the cases", {
  x <- drawn(c(0.6, 0.6), c(s = 0.9, t = 0.5), drift = c(s = 0.4, t = -0.2))
  true <- true_accuracy(x)
  expect_equal(true$expected, c(mean(pmin(0.9 + 0.4 * (ppoints(1e5, 0.5) - 0.5), 1)), 0.5))
  expect_equal(true$sample, true$expected, tolerance = 0.02)
  expect_equal(true_accuracy(x[1:2000, ])$sample, c(0.72, 0.59), tolerance = 0.05)
  expect_equal(true_accuracy(x[18001:20000, ])$sample, c(1, 0.41), tolerance = 0.05)
})

test_that("drift goes with a single stratum that is fixed, and with strata that are drawn", {
  design <- function(...) rater_design(c(0.7, 0.8), c(s = 0.6), 3, drift = 0.6, ...)
  expect_s3_class(design(difficulty = list(strata = "fixed")), "rater_design") # one stratum only
  set.seed(9)
  true <- true_accuracy(simulate_ratings(design(difficulty = 0.3), n = 50000))
  expect_equal(true$sample, true$expected, tolerance = 0.02)
})

test_that("a system may copy a system, whether both are seen or not", {
  skip_unless_extended()
  copying <- data.frame(from = c("rater1", "old"), to = c("old", "new"), probability = c(0.2, 0.5))
  design <- rater_design(
    c(0.5, 0.6, 0.7), c(new = 0.9, other = 0.4, old = 0.7), copying = copying, base_rates = fifths,
    difficulty = list(loading = c(old = 0.5, new = 0.3)), drift = c(old = 0.1),
    matrices = list(other = diag(5))
  )
  expected <- c(new = (0.9 + (0.7 + 0.2 * (0.5 - 0.7))) / 2, other = 1, old = 0.66)
  set.seed(3)
  x <- simulate_ratings(design, 20000)
  expect_equal(true_accuracy(x)$expected, unname(expected))
  expect_equal(true_accuracy(x)$sample, unname(expected), tolerance = 0.02)
  for (s in 1:3) {
    one <- keep_system(design, s)
    panel <- simulate_ratings(one, 20000)
    expect_identical(panel$systems, names(expected)[[s]])
    expect_equal(true_accuracy(panel)$expected, expected[[s]])
    expect_equal(true_accuracy(panel)$sample, expected[[s]], tolerance = 0.02)
  }
  expect_identical(length(keep_system(design, 1)$hidden), 1L)
  expect_identical(length(keep_system(design, 3)$hidden), 0L)
  limit <- function(estimator) exact_limit(design, estimator)
  expect_equal(limit(function(x) 0.5)$expected, unname(expected))
  study <- simulation_study(design, "unbinned", runs = 3, n = 50)
  expect_equal(tidy(study)$expected, rep(unname(expected), each = 3))
  expect_identical(true_accuracy(replay(study, 2))$sample, tidy(study)$sample[[2]])
})

test_that("the limit of a design is that of its panels", {
  skip_unless_nightly()
  design <- rater_design(
    c(0.6, 0.7, 0.8), c(a = 0.7, b = 0.8), categories = 3, base_rates = c(0.5, 0.3, 0.2),
    difficulty = list(loading = c(rater1 = 0.6, rater2 = 0.6, b = 0.6)), drift = c(rater3 = -0.3),
    missing = c(0, 0.2, 0.3), copying = data.frame(from = "a", to = "b", probability = 0.4)
  )
  limit <- exact_limit(design, "unbinned")
  set.seed(4)
  study <- simulation_study(design, "unbinned", runs = 30, n = 4000)
  means <- summary(study, by = "system")
  means <- means[means$target == "expected", ]
  z <- (means$bias + means$truth - limit$estimate) / means$bias_mcse
  expect_lt(max(abs(z)), 3.5)
})

test_that("the print says whose", {
  expect_snapshot({
    rater_design(
      c(ann = 0.8, bob = 0.8), c(old = 0.7, new = 0.9), missing = c(ann = 0.5),
      difficulty = list(loading = c(ann = 0.6, new = -0.3)), drift = c(bob = -0.25),
      copying = data.frame(from = "old", to = "new", probability = 0.5)
    )
    rater_design(c(0.8, 0.8), difficulty = list(loading = 0.5), drift = 0.1)
  })
})

test_that("plans know them", {
  design <- rater_design(c(0.7, 0.7, 0.7), 0.8, difficulty = list(loading = 0.5), missing = 0.2, base_rates = fifths)
  set.seed(5)
  plan <- plan_cases(design, runs = 20, cases = 60, raters = c(3, 4), estimator = "unbinned")
  expect_identical(tidy(plan)$raters, 3:4)
  expect_equal(glance(plan)$chance_kappa, expected_kappa(design))
  alone <- rater_design(rep(0.7, 3), base_rates = fifths)
  expect_gt(glance(plan)$chance_kappa, expected_kappa(alone))
  own <- list(
    rater_design(rep(0.7, 3), 0.8, missing = c(0.1, 0, 0)),
    rater_design(rep(0.7, 3), 0.8, difficulty = list(loading = c(0.1, 0, 0, 0))),
    rater_design(rep(0.7, 3), 0.8, drift = c(0.1, 0, 0, 0))
  )
  for (design in own) {
    expect_error(plan_cases(design, raters = 4, runs = 20), class = "fallible_error_argument")
  }
})

test_that("what cannot be is refused", {
  two <- c(a = 0.6, b = 0.6)
  expect_snapshot(error = TRUE, {
    rater_design(two, missing = c(0.1, 0.2, 0.3))
    rater_design(two, c(s = 0.9), missing = c(s = 0.1))
    rater_design(two, difficulty = list(loading = 1))
    rater_design(two, drift = "much")
    rater_design(two, difficulty = list(loading = c(a = 0.1, a = 0.2)))
    rater_design(two, c(s = 0.9), copying = data.frame(from = "s", to = "a", probability = 0.5))
    rater_design(two, difficulty = 0.1, matrices = list(a = list(diag(5), diag(5))))
    rater_design(two, difficulty = 0.1, matrices = list(a = list(diag(5), diag(4), diag(5))))
  })
})

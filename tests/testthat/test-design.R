test_that("designs say what they break", {
  expect_snapshot({
    rater_design(c(0.6, 0.6, 0.6), systems = 0.9)
    lehner_design(8)
    rater_design(
      c(ann = 0.6, 0.7), c(tree = 0.8, 0.9), c("no", "yes"), n = 1e6, base_rates = c(0.9, 0.1),
      difficulty = list(value = 0.1, shared = NULL), dispersion = 2, error_range = 0.5, missing = 0.2,
      copying = data.frame(from = "ann", to = "rater2", probability = 0.3),
      matrices = list(ann = diag(2))
    )
    rater_design(c(0.6, 0.6), base_rates = "dirichlet", concentration = 2)
  })
})

test_that("the paper's settings are as printed", {
  accuracy <- c(0.6, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8, 0.6, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8)
  n <- rep(c(5000L, 200L, 200L, 200L, 50L, 50L, 50L), 2)
  for (figure in 1:14) {
    design <- lehner_design(figure)
    spread <- if (figure > 7) c(-0.1, 0, 0.1) else c(0, 0, 0)
    expect_equal(unname(design$raters), accuracy[[figure]] + spread)
    expect_identical(design$n, n[[figure]])
    expect_equal(unname(design$systems), c(0.1, 0.3, 0.5, 0.7, 0.9))
    expect_identical(design$dispersion, if (figure > 7) 2 else 1)
    expect_identical(design$error_range, if (figure > 7) 1 else 0)
    expect_equal(range(design$strata$shift), if (figure > 7) c(-0.2, 0.2) else c(0, 0))
    expect_length(design$categories, 5L)
  }
  expect_named(lehner_design(3, system = c(0.5, 0.9))$systems, c("system 0.5", "system 0.9"))
  expect_equal(lehner_design(3, system = c(old = 0.5, new = 0.9))$systems, c(old = 0.5, new = 0.9))
  expect_error(lehner_design(15), class = "fallible_error_argument")
})

test_that("units have names of their own", {
  design <- rater_design(c(0.6, b = 0.7, 0.5), 0.9)
  expect_named(design$raters, c("rater1", "b", "rater3"))
  expect_named(design$systems, "system")
  expect_length(rater_design(c(0.6, 0.6))$systems, 0L)
})

test_that("copying takes numbers and names, factors too", {
  by_name <- data.frame(from = factor("b"), to = factor("s"), probability = 0.5)
  design <- rater_design(c(a = 0.6, b = 0.7), c(s = 0.9), copying = by_name)
  expect_identical(design$copying, data.frame(from = 2L, to = 3L, probability = 0.5))
  by_number <- data.frame(from = 2, to = 3, probability = 0.5)
  expect_identical(
    rater_design(c(a = 0.6, b = 0.7), c(s = 0.9), copying = by_number)$copying, design$copying
  )
})

test_that("bad designs are refused", {
  two <- c(0.6, 0.6)
  copy <- function(from, to, probability = 0.5) data.frame(from, to, probability)
  expect_snapshot(error = TRUE, {
    rater_design(0.6)
    rater_design(c(0.6, 1.2))
    rater_design(c("a", "b"))
    rater_design(two, systems = -0.1)
    rater_design(c(x = 0.6, 0.6), c(x = 0.9))
    rater_design(two, categories = 1)
    rater_design(two, n = 0)
    rater_design(two, base_rates = c(0.5, 0.2, 0.1, 0.1, 0.05))
    rater_design(two, base_rates = "normal")
    rater_design(two, concentration = 0)
    rater_design(two, difficulty = 2)
    rater_design(two, difficulty = data.frame(shift = c(-0.1, 0.1), weight = c(0.5, 0.6)))
    rater_design(two, difficulty = data.frame(shift = c(-0.7, 0.5), weight = 0.5))
    rater_design(two, difficulty = data.frame(shift = 0.5, weight = 1))
    rater_design(two, difficulty = list(shared = "luck"))
    rater_design(two, missing = 1)
    rater_design(two, difficulty = list(redraw = NA))
    rater_design(two, copying = 0.3)
    rater_design(two, copying = copy("z", "rater1"))
    rater_design(two, copying = copy(1, 3))
    rater_design(two, copying = copy(1, 1))
    rater_design(two, copying = copy(1, 2, 1.5))
    rater_design(two, copying = data.frame(from = 1))
    rater_design(two, 0.9, copying = copy(
      c("rater1", "z", "system", "rater1", NA), c("rater2", "rater1", "rater1", "{q}", "rater2"),
      c(0.5, 0.5, 0.5, NA, 0.5)
    ))
    rater_design(two, copying = copy(rep(1, 7), rep(1, 7)))
    rater_design(two, matrices = diag(5))
    rater_design(two, matrices = list(z = diag(5)))
    rater_design(two, matrices = list(rater1 = diag(4)))
    rater_design(two, matrices = list(rater1 = matrix(0.3, 5, 5)))
    rater_design(two, matrices = list(rater1 = "identity"))
  })
  expect_error(rater_design(0.6), class = "fallible_error_argument")
})

test_that("perfect raters are allowed", {
  expect_s3_class(rater_design(c(1, 1), difficulty = 0.2), "rater_design")
})

test_that("the print says what is true of given matrices and copies", {
  design <- rater_design(
    c(0.6, 0.6, 0.6), 0.9, copying = data.frame(from = 3, to = 2, probability = 0.25),
    matrices = list(rater1 = diag(5), system = matrix(0.2, 5, 5))
  )
  expect_snapshot(design)
  expect_equal(given_accuracies(design)[["system"]], 0.2)
  set.seed(1)
  expect_equal(true_accuracy(simulate_ratings(design, 10))$expected, 0.2)
  alike <- rater_design(c(0.6, 0.7), matrices = list(rater2 = diag(0.5, 5) + 0.1))
  expect_equal(unname(given_accuracies(alike)), c(0.6, 0.6))
  expect_false(any(grepl("equally accurate", design_violations(alike))))
  skewed <- rater_design(
    c(0.6, 0.7), categories = 2, base_rates = c(0.9, 0.1),
    matrices = list(rater2 = rbind(c(1, 0), c(0.5, 0.5)))
  )
  expect_equal(given_accuracies(skewed)[["rater2"]], 0.95)
})

test_that("strata that are fixed go with accuracy that does not drift", {
  fixed <- function(...) rater_design(c(0.6, 0.7), difficulty = list(value = 0.2, strata = "fixed"), ...)
  expect_s3_class(fixed(), "rater_design")
  expect_error(fixed(drift = 0.3), "fixed strata", class = "fallible_error_argument")
})

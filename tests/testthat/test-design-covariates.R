kinds <- function(...) {
  data.frame(
    weight = c(0.5, 0.3, 0.2), device = c("new", "old", "old"), age = c(20, 40, 60),
    ann = c(0.9, 0.6, 0.5), a = c(0.9, 0.9, 0.4), ...
  )
}

designed <- function(covariates = kinds(), n = 4000L, ...) {
  rater_design(
    c(ann = 0.8, bob = 0.7, eve = 0.8), c(a = 0.5, b = 0.75), categories = 3, n = n,
    base_rates = c(0.5, 0.3, 0.2), covariates = covariates, ...
  )
}

test_that("accuracy depends on kinds of cases, and its expectation is computed", {
  x <- withr::with_seed(1, simulate_ratings(designed()))
  expect_named(x$covariates, c("device", "age"))
  truth <- true_accuracy(x)
  expect_equal(truth$expected, c(0.5 * 0.9 + 0.3 * 0.9 + 0.2 * 0.4, 0.75))
  error <- sqrt(truth$expected * (1 - truth$expected) / 4000)
  expect_true(all(abs(truth$sample - truth$expected) < 4 * error))
  of <- vapply(c(20, 40, 60), function(age) {
    true_accuracy(x[x$covariates$age == age, ])$sample[1]
  }, 0)
  expect_equal(of, c(0.9, 0.9, 0.4), tolerance = 0.05)
  share <- as.vector(table(x$covariates$age)) / 4000
  expect_equal(share, c(0.5, 0.3, 0.2), tolerance = 0.05)
  ann <- tidy(x)[tidy(x)$rater == "ann", ]
  right <- tapply(as.character(ann$rating) == as.character(truth(x)$category), ann$age, mean)
  expect_equal(as.vector(right), c(0.9, 0.6, 0.5), tolerance = 0.05)
})

test_that("fixed kinds stand one after another, dispersion shapes errors", {
  x <- withr::with_seed(1, simulate_ratings(designed(difficulty = list(strata = "fixed"), n = 10L)))
  expect_identical(x$covariates$age, rep(c(20, 40, 60), c(5, 3, 2)))
  m <- matrix_with_equal_accuracy(0.6, 3, 2)
  expect_equal(rowSums(m), rep(1, 3))
  expect_equal(diag(m), rep(0.6, 3))
  expect_equal(m[1, 2] / m[1, 3], 2)
})

test_that("a law with effects of covariates recovers the design", {
  x <- withr::with_seed(2, simulate_ratings(designed(
    transform(kinds(), bob = c(0.85, 0.5, 0.4), eve = c(0.95, 0.7, 0.6)), n = 2000L
  )))
  # Logits of a right answer: a level of each rater, and effects of the second and third age, which
  # a system has of its own.
  places <- function(judged) {
    age <- match(judged$age, c(20, 40, 60))
    of_age <- ifelse(age == 1, NA, nlevels(judged$rater) + age - 1 + 2 * judged$system)
    cbind(as.integer(judged$rater), of_age)
  }
  model <- rater_family(
    start = function(judged, categories) {
      rep(c(1, 0), c(nlevels(judged$rater), 2 + 2 * any(judged$system)))
    },
    law = function(parameters, judged, categories) {
      n <- length(categories)
      at <- places(judged)
      effect <- parameters[at[, 2]]
      right <- plogis(parameters[at[, 1]] + ifelse(is.na(at[, 2]), 0, effect))
      outer(right, diag(n)) + outer((1 - right) / (n - 1), 1 - diag(n))
    }
  )
  estimate <- tidy(estimate_accuracy(x, model = model, interval = "none"))
  expect_lt(max(abs(estimate$estimate - true_accuracy(x)$expected)), 0.04)
})

test_that("covariates that cannot be are refused", {
  refused <- function(...) expect_error(designed(...), class = "fallible_error_argument")
  refused(1)
  refused(kinds()[0, ])
  refused(kinds()[-1])
  refused(transform(kinds(), weight = 1))
  refused(kinds()[c("weight", "ann")])
  refused(transform(kinds(), ann = 2))
  refused(transform(kinds(), case = 2))
  refused(difficulty = 0.1)
  refused(matrices = list(ann = diag(3)))
  expect_error(designed(transform(kinds(), age = NA)), class = "fallible_error_missing")
})

test_that("they are told in words", {
  expect_snapshot(designed())
})

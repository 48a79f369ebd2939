three_cases <- function(...) {
  ratings(
    data.frame(
      case = c("x", "y", "z"), a = c("no", "yes", "no"), b = c("no", "yes", "yes"),
      s = c("no", "no", "yes"), t = c("no", NA, "no")
    ),
    raters = a:b, systems = s:t, case = case, ...
  )
}

test_that("truth comes back, in whatever form it was given", {
  x <- three_cases()
  forms <- list(
    c("no", "yes", NA), factor(c("no", "yes", NA)), c(y = "yes", x = "no"),
    data.frame(case = c("y", "x", "z"), truth = c("yes", "no", NA)),
    data.frame(case = c("y", "x"), category = factor(c("yes", "no")))
  )
  for (form in forms) {
    expect_identical(
      truth(with_truth(x, form)),
      tibble::tibble(case = c("x", "y", "z"), category = factor(c("no", "yes", NA)))
    )
  }
  whole <- with_truth(x, c("no", "yes", "no"))
  expect_identical(with_truth(x, truth(whole)), whole)
  expect_identical(truth(with_truth(whole, forms[[1]])), truth(with_truth(x, forms[[1]])))
  expect_identical(truth(whole[c("z", "x"), ])$category, factor(c("no", "no"), c("no", "yes")))
})

test_that("accuracy in the sample counts known truths, by weight", {
  x <- three_cases()
  true <- true_accuracy(with_truth(x, c("no", "yes", NA), expected = c(t = 0.25, s = NA)))
  expect_identical(true$system, c("s", "t"))
  expect_identical(true$expected, c(NA, 0.25))
  expect_identical(true$sample, c(0.5, 1))
  expect_identical(true_accuracy(with_truth(x, c(NA, "yes", NA)))$sample, c(0, NA))
  expect_identical(true_accuracy(with_truth(x, c("no", "yes", NA)))$expected, c(NA_real_, NA))
  weighted <- ratings(
    data.frame(a = c("n", "y"), b = c("n", "y"), s = "n", w = c(3, 1)),
    raters = a:b, systems = s, weights = w
  )
  expect_identical(true_accuracy(with_truth(weighted, c("n", "y")))$sample, 0.75)
})

test_that("probabilities are held against it", {
  y <- ratings(lehner2015, raters = rater1:rater4, case = case)
  x <- with_truth(y, lehner2015$system)
  given <- setNames(lehner2015$system, lehner2015$case)
  expect_identical(
    calibration(ground_truth(x), bins = 4), calibration(ground_truth(y), given, bins = 4)
  )
  some <- replace(lehner2015$system, 1:5, NA)
  expect_identical(
    calibration(ground_truth(with_truth(y, some))), calibration(ground_truth(y), given[-(1:5)])
  )
  expect_identical(fit_raters(x)$coefficients, fit_raters(y)$coefficients)
})

test_that("what a simulation knows is replaced", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7), 0.9, n = 10))
  same <- with_truth(x, truth(x), expected = 0.9)
  expect_identical(truth(same), truth(x))
  expect_equal(true_accuracy(same), true_accuracy(x))
  expect_identical(truth(same[2:3, ]), truth(x)[2:3, ])
})

test_that("truths that cannot be are refused", {
  x <- three_cases()
  refused <- function(code, topic = "argument") {
    expect_error(code, class = paste0("fallible_error_", topic))
  }
  refused(with_truth(x, c("no", "maybe", "no")), "category")
  refused(with_truth(x, c(x = "maybe")), "category")
  refused(with_truth(x, c(q = "no")), "case")
  refused(with_truth(x, data.frame(case = c("x", "x"), truth = c("no", "yes"))), "case")
  refused(with_truth(x, data.frame(case = "x")), "columns")
  expect_error(with_truth(x, data.frame()), "It is a data frame without columns")
  refused(with_truth(x, c("no", "yes")))
  refused(with_truth(x, rep(NA, 3)))
  refused(with_truth(x, NULL))
  refused(with_truth(x, list("no", "yes", "no")))
  wrong <- list(0.5, c(0.5, 1.5), c("a", "b"), c(s = 0.5, u = 0.5), y ~ x, quote(x), expression(s))
  for (expected in wrong) {
    refused(with_truth(x, c("no", "yes", "no"), expected = expected))
  }
  expect_snapshot(error = TRUE, {
    with_truth(x, c("no", "maybe", "no"))
    with_truth(x, c("no", "yes"))
    with_truth(x, c("no", "yes", "no"), expected = c(s = 0.5, u = 0.5))
    truth(x)
  })
})

test_that("databases, posteriors and truths of cases do not go together", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "answers", lehner2015)
  x <- ratings(
    dplyr::tbl(con, "answers"), raters = c(rater1, rater2, rater3), systems = system, case = case
  )
  refused <- function(code) expect_error(code, class = "fallible_error_database")
  refused(with_truth(x, rep("A", 10)))
  refused(as_rater_fit(x, matrix(1 / 4, 10, 4)))
  refused(estimate_accuracy(x, method = function(x) 0.5))
})

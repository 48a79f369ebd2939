test_that("predictions are half the posterior of the raters, half the share of ratings", {
  x <- lehner_ratings()
  predicted <- predict_categories(x)
  alone <- ratings(lehner2015, raters = rater1:rater4, case = case)
  posterior <- as.matrix(ground_truth(quiet(fit_raters(alone, rater_model("rater"))))[-1])
  codes <- as.matrix(lehner2015[paste0("rater", 1:4)])
  shares <- t(apply(codes, 1, function(row) table(factor(row, x$categories)) / 4))
  expect_equal(predicted[x$index, ], (unname(posterior) + unname(shares)) / 2)
})

test_that("neither systems nor gold change predictions", {
  panel <- gold_panel()$x
  others <- panel
  others$patterns$answer[] <- 1L
  expect_identical(predict_categories(panel), predict_categories(others))
})

test_that("predictions need no raters that are told apart, and no fit", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(rowSums(predict_categories(x)), rep(1, nrow(predict_categories(x))))
  apart <- ratings(cbind(a = c("x", "y", NA), b = c("y", "x", NA)), categories = c("x", "y"))
  expect_equal(predict_categories(apart)[apart$index, ], rbind(0.5, 0.5, NA)[, c(1, 1)])
})

test_that("cases without ratings or answers are like the mean", {
  expect_equal(fill_unrated(c(0.2, NA, 0.8), c(3, 10, 1)), c(0.2, 0.35, 0.8))
  expect_equal(fill_unrated(c(NA_real_, NA), c(3, 10)), c(0, 0))
  predicted <- rbind(c(0.1, 0.9), c(0.7, 0.3), c(NA, NA))
  expect_equal(predict_answer(predicted, c(2L, 0L, 1L)), c(0.9, NA, NA))
})

test_that("covariates that no model uses do not change what gold is held against", {
  set.seed(18)
  x <- quiet(simulate_ratings(rater_design(c(0.7, 0.7, 0.6), 0.8, 3, 120)))
  wide <- stats::reshape(as.data.frame(x), idvar = "case", timevar = "rater", direction = "wide")
  wide$system <- as.data.frame(x, what = "systems")$prediction
  wide$site <- rep(1:2, 60)
  of <- function(...) {
    y <- ratings(wide, case = case, raters = 2:4, systems = system, ...)
    tidy(quiet(estimate_accuracy(y, known_truth = truth(x)[1:30, ], gold_sample = "random")))
  }
  expect_equal(of(covariates = site), of())
})

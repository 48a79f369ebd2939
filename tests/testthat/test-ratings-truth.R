long_data <- function() {
  data.frame(
    case = rep(1:3, each = 2), rater = rep(c("r", "s"), 3),
    rating = c("a", "a", "a", "b", "b", "b"), truth = c("a", NA, NA, "b", NA, NA)
  )
}

test_that("truth is kept by case, where any row tells it", {
  x <- ratings(long_data(), case = case, rater = rater, rating = rating, truth = truth)
  expect_identical(as.character(truth(x)$category), c("a", "b", NA))
  expect_true(is_given_truth(x))
  expect_identical(as.character(truth(x[c(2, 1), ])$category), c("b", "a"))
  expect_output(print(x), "Truth kept for 2 cases, for known_truth = TRUE only", fixed = TRUE)
  without <- ratings(long_data()[1:3], case = case, rater = rater, rating = rating)
  expect_identical(replace(unclass(x), "truth", NULL)[names(without)], unclass(without))
})

test_that("what raters and truth share is not told from a truth that is only kept", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), n = 100))
  kept <- x
  kept$truth <- list(category = x$truth$category, kept = TRUE, expected = x$truth$expected)
  bare <- x
  bare$truth <- NULL
  expect_identical(tidy(shared_errors(kept)), tidy(shared_errors(bare)))
  expect_false(identical(tidy(shared_errors(x)), tidy(shared_errors(kept))))
})

test_that("wide data, answers and accuracy by the truth that is known", {
  wide <- data.frame(
    r = c("a", "b", "a", "b"), s = c("a", "b", "b", "b"), m = c("a", "a", "b", NA),
    truth = c("a", "b", NA, "b")
  )
  x <- ratings(wide, raters = r:s, systems = m, truth = truth)
  expect_identical(true_accuracy(x)$sample, 0.5)
  expect_identical(true_accuracy(x)$expected, NA_real_)
  as_matrix <- as.matrix(wide)
  expect_identical(
    truth(ratings(as_matrix, systems = "m", truth = "truth"))$category, truth(x)$category
  )
})

test_that("a truth that cannot be is refused", {
  data <- long_data()
  refused <- function(...) {
    ratings(data, case = case, rater = rater, rating = rating, truth = truth, ...)
  }
  data$truth[2] <- "b"
  expect_error(
    refused(), "Rows 1 and 2 .*are of the same case \"1\", but have the values \"a\" and \"b\"",
    class = "fallible_error_case"
  )
  data$truth[2] <- "c"
  expect_error(refused(), "A label is not a declared category", class = "fallible_error_category")
  data$truth[2] <- NA
  expect_error(refused(repeats = "labels"), class = "fallible_error_argument")
})

test_that("the truth of a case may stand in the row of a system", {
  long <- data.frame(
    case = rep(1:4, each = 3), rater = rep(c("r1", "r2", "s"), 4),
    category = c("a", "a", "a", "b", "b", "b", "a", "b", "a", "b", "b", "a"), truth = NA_character_
  )
  read <- function(truth) {
    long$truth[long$rater == "s"] <- truth
    ratings(
      long, case = case, rater = rater, rating = category, systems = "s", truth = truth
    )
  }
  expect_identical(read(c("a", "b", "b", NA))$truth$category, c(1L, 2L, 2L, NA))
  expect_error(read(c("a", "b", "b", "zzz")), class = "fallible_error_category")
})

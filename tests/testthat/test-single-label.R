long <- data.frame(case = c(1, 1, 1, 2, 2), rater = c("r", "r", "s", "r", "s"))
long$rating <- c("a", "b", "a", "c", "c")
several <- ratings(long, case = case, rater = rater, rating = rating, repeats = "labels")

test_that("answers with one label become ratings", {
  x <- single_label(several[2, ])
  expect_identical(x$repeats, "error")
  expect_identical(x$categories, c("a", "b", "c"))
  expect_identical(fit_raters(x)$agreement, 1)
  one <- ratings(long[-2, ], case = case, rater = rater, rating = rating, categories = letters[1:3])
  expect_identical(single_label(several, several = "omit")[2, ]$patterns, one[2, ]$patterns)
  expect_identical(single_label(one), one)
  expect_identical(single_label(crowdtruth(several), label = "a"), single_label(several, label = "a"))
})

test_that("answers with several labels are left out only if asked", {
  expect_error(single_label(several), class = "fallible_error_labels")
  expect_snapshot(error = TRUE, single_label(several))
  left <- as.data.frame(single_label(several, several = "omit"))
  expect_identical(left$rater, c("s", "r", "s"))
})

test_that("one label at a time loses nothing", {
  x <- single_label(several, label = "a")
  expect_identical(unname(category_counts(x)), rbind(c(2L, 0L), c(0L, 2L)))
  expect_identical(colnames(category_counts(x)), c("yes", "no"))
  empty <- data.frame(case = 1, rater = c("r", "s"))
  empty$labels <- list(character(), "a")
  y <- ratings(
    empty, case = case, rater = rater, rating = labels, repeats = "labels", categories = c("a", "b")
  )
  expect_identical(unname(category_counts(single_label(y, "a"))), cbind(1L, 1L))
  expect_null(single_label(y, "a")$empty_answers)
  expect_error(single_label(several, label = "q"), class = "fallible_error_argument")
  counted <- ratings(fleiss1971, counts = depression:other)
  expect_error(single_label(counted, label = "other"), class = "fallible_error_argument")
  expect_error(single_label(1), class = "fallible_error_argument")
})

test_that("systems come along", {
  systems <- data.frame(case = 1:2, system = "m", prediction = c("b", "a"))
  x <- ratings(
    long, case = case, rater = rater, rating = rating, repeats = "labels", systems = systems
  )
  kept <- as.data.frame(single_label(x, several = "omit"), what = "systems")
  expect_identical(as.character(kept$prediction), c("b", "a"))
  asked <- as.data.frame(single_label(x, label = "a"), what = "systems")
  expect_identical(as.character(asked$prediction), c("no", "yes"))
})

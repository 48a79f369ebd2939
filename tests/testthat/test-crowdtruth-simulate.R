test_that("crowds have the size asked for and balanced work", {
  set.seed(1)
  x <- simulate_crowd(units = 50, workers = 15, per_unit = 4, labels = 5)
  expect_identical(dim(x), c(50L, 15L))
  expect_identical(x$categories, LETTERS[1:5])
  answers <- as.data.frame(x, what = "answers")
  expect_identical(nrow(answers), 200L)
  expect_true(all(table(answers$case) == 4))
  expect_lte(diff(range(table(answers$rater))), 1)
  expect_identical(anyDuplicated(answers[c("case", "rater")]), 0L)
  expect_identical(unique(unname(kinds_by_worker(x))), "faithful")
})

test_that("spammers do what their kind does", {
  set.seed(2)
  x <- simulate_crowd(spammers = c(random = 2, constant = 3, copy = 4))
  kinds <- kinds_by_worker(x)
  expect_identical(c(table(kinds)), c(constant = 3L, copy = 4L, faithful = 21L, random = 2L))
  answers <- as.data.frame(x, what = "answers")
  said <- vapply(answers$labels, paste, "", collapse = "|")
  kind <- kinds[answers$rater]
  constant <- tapply(said[kind == "constant"], answers$rater[kind == "constant"], unique)
  expect_true(all(lengths(constant) == 1))
  copies <- tapply(said[kind == "copy"], answers$case[kind == "copy"], unique)
  expect_true(all(lengths(copies) == 1))
  expect_gt(length(unique(unlist(copies))), 3)
  expect_identical(kinds_by_worker(x[1:9, 3:7]), kinds[3:7])
  expect_identical(kinds_by_worker(filter_crowd(x, "workers", flagged = "w01")$ratings), kinds[-1])
})

test_that("crowds that cannot be are refused", {
  expect_error(simulate_crowd(spammers = c(lazy = 1)), class = "fallible_error_argument")
  expect_error(simulate_crowd(spammers = c(random = 31)), class = "fallible_error_argument")
  expect_error(simulate_crowd(per_unit = 31), class = "fallible_error_argument")
  e <- expect_error(simulate_crowd(1e9, labels = 26), class = "fallible_error_memory")
  expect_identical(e$numbers, 1e9 * 2 * 26)
  expect_snapshot(error = TRUE, simulate_crowd(spammers = 3))
  expect_snapshot(error = TRUE, tidy(lehner_ratings(), "workers"))
})

test_that("who faithfully gives two labels gives neighbours", {
  set.seed(4)
  labels <- as.data.frame(simulate_crowd(), what = "answers")$labels
  pairs <- vapply(labels[lengths(labels) == 2], function(two) toString(sort(two)), "")
  expect_setequal(pairs, c("A, B", "C, D", "E, F"))
})

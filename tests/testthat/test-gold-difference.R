test_that("the interval of a difference is Student's", {
  u <- c(1, 0, 0, -1, 1, 0, 0, 0, 1, 0)
  x <- correct_difference(u, rep(0, 10), prediction_of(rep(0, 100)))
  interval <- difference_interval(x, "population", 0.9)
  expect_equal(
    c(interval$conf.low, interval$conf.high), as.vector(t.test(u, conf.level = 0.9)$conf.int)
  )
  expect_equal(interval$std.error, sd(u) / sqrt(10))
})

test_that("a single gold case says nothing of a difference", {
  x <- correct_difference(1, 0.4, prediction_of(c(0.4, 0, 0, -0.2)))
  interval <- difference_interval(x, "population", 0.9)
  expect_identical(c(interval$conf.low, interval$conf.high), c(-1, 1))
})

test_that("no difference is larger than one", {
  ahead <- prediction_of(rep(c(0.2, 1), c(4, 96)))
  x <- correct_difference(c(1, 1, 1, 1), c(0.2, 0.3, 0.1, 0.2), ahead)
  expect_gt(x$estimate, 1)
  interval <- difference_interval(x, "population", 0.9)
  expect_identical(c(interval$estimate, interval$conf.high), c(1, 1))
})

test_that("intervals of gold with ratings are those of the table", {
  for (row in rule_rows()) {
    interval <- corrected_interval(row$x, "population", 0.9)
    expect_lt(max(abs(three_numbers(interval) - c(row$estimate, row$corrected))), 1e-5)
  }
})

test_that("without predictions the interval is Wilson's", {
  x <- correct_share(c(1, 1, 1, 1, 0), rep(0.6, 5), prediction_of(rep(0.6, 200)))
  interval <- corrected_interval(x, "population", 0.9)
  expect_lt(max(abs(three_numbers(interval) - c(0.8, wilson_interval(0.8, 5, qnorm(0.95))))), 1e-12)
  expect_lt(max(abs(three_numbers(interval) - c(0.8, 0.43529, 0.95404))), 1e-5)
  expect_equal(
    as.vector(wilson_interval(0.8, 5, qnorm(0.95))),
    as.vector(
      suppressWarnings(prop.test(4, 5, conf.level = 0.9, correct = FALSE))$conf.int
    )
  )
})

test_that("where all cases are gold, nothing is open but the population", {
  q <- rep(ten_predictions, 2)
  y <- rep(c(1, 1, 1, 0), 5)
  x <- correct_share(y, q, prediction_of(q))
  expect_equal(three_numbers(corrected_interval(x, "cases", 0.9)), rep(0.75, 3))
  expect_equal(
    three_numbers(corrected_interval(x, "population", 0.9)),
    c(0.75, wilson_interval(0.75, 20, qnorm(0.95)))
  )
})

test_that("one or two gold cases have an interval that is wide", {
  for (y in list(1, 0, c(1, 1), c(0, 1))) {
    x <- correct_share(y, c(0.9, 0.4)[seq_along(y)], two_hundred())
    interval <- corrected_interval(x, "population", 0.9)
    expect_true(interval$conf.low <= interval$estimate && interval$estimate <= interval$conf.high)
    expect_gt(interval$conf.high - interval$conf.low, 0.5)
    expect_gt(interval$std.error, 0)
  }
})

test_that("more is known of the cases at hand than of the population, and with a lower level", {
  x <- rule_rows()[[1]]$x
  width <- function(...) diff(three_numbers(corrected_interval(x, ...))[2:3])
  expect_lt(width("cases", 0.9), width("population", 0.9))
  expect_lt(width("cases", 0.8), width("cases", 0.9))
})

test_that("clusters widen intervals, and too few have none", {
  x <- rule_rows()[[1]]$x
  alone <- corrected_interval(x, "population", 0.9)
  own <- corrected_interval(in_clusters(x, seq_len(10)), "population", 0.9) # every case its own
  expect_lt(own$size, alone$size) # t for the normal
  pairs <- corrected_interval(in_clusters(x, rep(1:5, each = 2)), "population", 0.9)
  expect_lt(pairs$size, own$size)
  few <- in_clusters(x, c(1, 1, 2, 2, 3, 3, 4, 4, 4, 4))
  few <- corrected_interval(few, "population", 0.9)
  expect_identical(few$conf.low, NA_real_)
  expect_equal(few$estimate, alone$estimate)
  expect_identical(in_clusters(x, NULL), x)
})

test_that("what clusters have in common is summed within them", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  p <- rep(runif(20, 0.2, 0.9), each = 5)
  y <- rbinom(100, 1, p)
  q <- pmin(pmax(0.3 * y + 0.4 + rnorm(100) / 10, 0), 1)
  x <- correct_share(y, q, prediction_of(q, rep(1e7, 100)))
  v <- x$estimate * (1 - x$estimate)
  t <- rowsum(x$rest, cluster)
  ratio <- sum(t^2) * 20 / 18 / (100 * v) # a mean and a slope are fitted
  expect_gt(ratio, x$ratio)
  expect_equal(
    gold_size(in_clusters(x, cluster), "population", 0.9),
    100 / ratio * (qnorm(0.95) / qt(0.95, 19))^2,
    tolerance = 1e-6
  )
})

test_that("predictions that err by cluster are not used", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  y <- rep(c(1, 1, 1, 0, 1), 20)
  q <- pmin(pmax(0.7 * y + rep(runif(20, -0.4, 0.6), each = 5), 0), 1)
  x <- correct_share(y, q, prediction_of(q, rep(10, 100)))
  expect_lt(x$ratio, 0.9)
  clustered <- in_clusters(x, cluster)
  expect_identical(clustered$estimate, 0.8)
  expect_identical(clustered$slope, 0)
})

test_that("clusters of differences have the error of their sums", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  for (sign in c(1, -1)) {
    u <- sign * pmax(-1, pmin(1, rep(rnorm(20, 0.2), each = 5) + rnorm(100)))
    x <- correct_difference(u, rep(0, 100), prediction_of(rep(0, 1e7)))
    interval <- difference_interval(in_clusters(x, cluster, x$variance), "population", 0.9)
    sums <- rowsum(u - mean(u), cluster)
    reach <- qt(0.95, 19) * sqrt(sum(sums^2) * 20 / 19) / 100
    expect_equal(interval$conf.high - interval$estimate, reach, tolerance = 1e-4)
  }
})

test_that("clusters of answers that are all right have an interval", {
  x <- correct_share(rep(1, 10), ten_predictions, two_hundred())
  interval <- corrected_interval(in_clusters(x, rep(1:5, 2)), "population", 0.9)
  expect_identical(interval$conf.high, 1)
  expect_gt(interval$conf.low, 0.4)
})

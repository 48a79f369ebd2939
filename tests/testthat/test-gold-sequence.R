nothing <- list(estimate = NA_real_, std.error = NA_real_)

test_that("without ratings the interval is that of a mixture of binomials", {
  x <- correct_share(c(1, 1, 1, 1, 0), rep(0.6, 5), prediction_of(rep(0.6, 200)))
  interval <- sequence_interval(x, nothing, "population", 0.9)
  ratio <- function(theta) {
    dbinom(4, 5, theta, log = TRUE) - lchoose(5, 4) - (lbeta(4.5, 1.5) - lbeta(0.5, 0.5))
  }
  for (end in c(interval$conf.low, interval$conf.high)) {
    expect_equal(ratio(end), log(0.1), tolerance = 1e-3)
  }
  expect_equal(interval$estimate, 0.8)
})

test_that("it is wider than an interval for one look, and narrower where ratings are right", {
  row <- rule_rows()[[1]]
  width <- function(x) x$conf.high - x$conf.low
  alone <- sequence_interval(row$x, nothing, "population", 0.9)
  helped <- sequence_interval(row$x, row$alone, "population", 0.9)
  expect_gt(width(alone), width(corrected_interval(row$x, "population", 0.9)))
  expect_lt(width(helped), width(alone))
})

test_that("ends are 0 and 1 where nothing excludes them", {
  all_right <- sequence_interval(rule_rows()[[2]]$x, nothing, "population", 0.9)
  expect_identical(all_right$conf.high, 1)
  none_right <- correct_share(rep(0, 20), rep(0.5, 20), prediction_of(rep(0.5, 100)))
  none_right <- sequence_interval(none_right, nothing, "population", 0.9)
  expect_identical(none_right$conf.low, 0)
  expect_equal(none_right$conf.high, 1 - all_right$conf.low, tolerance = 1e-6)
})

test_that("looking after every case misses no more often than said", {
  skip_unless_extended()
  set.seed(1)
  missed <- vapply(1:200, function(run) {
    y <- rbinom(60, 1, 0.7)
    of <- prediction_of(rep(0.5, 1e4))
    any(vapply(seq(2, 60, 2), function(m) {
      interval <- sequence_interval(
        correct_share(y[seq_len(m)], rep(0.5, m), of), nothing, "population", 0.9
      )
      interval$conf.low > 0.7 || interval$conf.high < 0.7
    }, NA))
  }, NA)
  expect_lte(mean(missed), 0.1)
})

test_that("differences have a wider interval for many looks, too", {
  set.seed(1)
  u <- sample(c(-1, 0, 1), 60, replace = TRUE, prob = c(0.1, 0.7, 0.2))
  x <- correct_difference(u, rep(0, 60), prediction_of(rep(0, 1000)))
  once <- difference_interval(x, "population", 0.9)
  often <- sequence_difference(x, "population", 0.9)
  expect_lt(often$conf.low, once$conf.low)
  expect_equal(often$estimate - often$conf.low, often$conf.high - often$estimate)
  one <- correct_difference(1, 0, prediction_of(rep(0, 100)))
  expect_identical(three_numbers(sequence_difference(one, "population", 0.9))[2:3], c(-1, 1))
})

test_that("recall is that of the formulas, step by step", {
  set.seed(1)
  N <- 400
  m <- 60
  truth <- rbinom(N, 1, 0.4)
  answer <- ifelse(runif(N) < 0.8, truth, 1 - truth)
  p <- plogis(2 * (2 * truth - 1) + rnorm(N))
  at <- sample(N, m)
  x <- correct_rate((answer * truth)[at], truth[at], p * answer, p, rep(1, N), at)
  U <- correct_share((answer * truth)[at], (p * answer)[at], prediction_of(p * answer))$estimate
  W <- correct_share(truth[at], p[at], prediction_of(p))$estimate
  w <- sum(truth[at])
  Rs <- (U / W * w + 0.5) / (w + 1)
  u <- (answer * truth - Rs * truth)[at]
  q <- p * answer - Rs * p
  v0 <- max(var(u), Rs * (1 - Rs) * W)
  lambda <- min(max((m * cov(u, q[at]) / var(q) + 5) / (m + 10), 0), 1)
  e <- u - lambda * q[at]
  delta <- (m * var(e) + 10 * (1 - 0.25 * var(q) / v0) * v0) / (m * var(u) + 10 * v0)
  R <- Rs + (mean(e) + lambda * mean(q)) / W
  for (target in c("population", "cases")) {
    g <- delta * (1 - m / N) / m
    if (target == "population") g <- min(g + 1 / N, 1 / m)
    ends <- wilson_interval(R, Rs * (1 - Rs) / (v0 * g / W^2), qnorm(0.95))
    expect_equal(three_numbers(corrected_interval(x, target, 0.9)), c(R, ends))
  }
})

test_that("a rate of a truth that no gold case has is unknown", {
  expect_null(correct_rate(c(0, 0), c(0, 0), c(0, 0.5), c(0.2, 0.5), c(9, 9), 1:2))
})

test_that("rates are shares where all cases are gold", {
  truth <- c(1, 1, 1, 0, 0, 1, 0, 1)
  answer <- c(1, 0, 1, 0, 1, 1, 0, 1)
  p <- c(0.9, 0.6, 0.7, 0.1, 0.4, 0.9, 0.2, 0.6)
  x <- correct_rate(answer * truth, truth, p * answer, p, rep(1, 8), 1:8)
  expect_equal(x$estimate, 4 / 5)
  expect_equal(x$gold, 5)
  expect_equal(x$cases, 5)
  expect_equal(three_numbers(corrected_interval(x, "cases", 0.9)), rep(4 / 5, 3))
})

test_that("predictions that vary more than the truth leave a variance", {
  for (rate in list(c(1, 1, 1, 1), c(0, 0, 0, 0))) {
    x <- correct_rate(rate, rep(1, 4), c(0, 1, 0, 1), c(0, 1, 1, 1), rep(100, 4), 1:4)
    expect_gt(x$ratio, 0)
    expect_true(all(is.finite(three_numbers(corrected_interval(x, "population", 0.9)))))
  }
  x <- correct_difference(c(0, 0, 0, 1), rep(0, 4), prediction_of(rep(c(-1, 1), 100)))
  expect_gt(x$ratio, 0)
})

test_that("where gold saw no miss an interval reaches the end, if nothing else speaks against it", {
  at <- 1:20 # of which ratings expect more than of the rest
  member <- rep(c(1, 0), c(8, 12))
  q <- c(rep(c(0.9, 0.2), c(8, 12)), rep(c(0.7, 0.3), 190))
  q_hit <- q * c(rep(0.95, 20), rep(c(0.6, 0.2), 190))
  x <- correct_rate(member, member, q_hit, q, rep(1, 400), at)
  expect_lt(x$estimate, 1)
  expect_identical(corrected_interval(x, "population", 0.9)$conf.high, 1)
  one_missed <- replace(x, "seen", 7 / 8)
  expect_lt(corrected_interval(one_missed, "population", 0.9)$conf.high, 1)
  alone <- list(estimate = 0.98, std.error = 0.02, bias = 0.02)
  expect_identical(combined_interval(x, alone, "population", 0.9, NULL)$conf.high, 1)
  expect_lt(combined_interval(one_missed, alone, "population", 0.9, NULL)$conf.high, 1)
  ends <- list(conf.low = 0.2, conf.high = 0.9)
  expect_identical(reach_ends(ends, list(seen = 1), high = FALSE), ends)
  expect_identical(reach_ends(ends, list(seen = 0)), list(conf.low = 0, conf.high = 0.9))
})

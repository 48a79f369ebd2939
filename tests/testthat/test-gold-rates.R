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

# Lee et al. (2025), arXiv 2511.21140, as published: p, the share called positive, of n; q0 and q1,
# specificity and sensitivity in m0 and m1 cases.
lee_interval <- function(p, q0, q1, n, m0, m1, alpha) {
  z2 <- stats::qnorm(1 - alpha / 2)^2
  p <- (n * p + z2 / 2) / (n + z2)
  q0 <- (m0 * q0 + 1) / (m0 + 2)
  q1 <- (m1 * q1 + 1) / (m1 + 2)
  theta <- (p + q0 - 1) / (q0 + q1 - 1)
  v0 <- q0 * (1 - q0) / (m0 + 2)
  v1 <- q1 * (1 - q1) / (m1 + 2)
  se <- sqrt(p * (1 - p) / (n + z2) + (1 - theta)^2 * v0 + theta^2 * v1) / (q0 + q1 - 1)
  theta + 2 * z2 * (theta * v1 - (1 - theta) * v0) + c(-1, 1) * sqrt(z2) * se
}

test_that("one judge with a calibration sample gives the estimate of Rogan and Gladen", {
  said <- data.frame(judge = rep(c(0, 1), c(140, 60)))
  sample <- matrix(c(90, 5, 10, 45), 2)
  x <- ratings(said, raters = judge)
  fit <- fit_raters(x, dawid_skene(), known_raters = list(judge = sample))
  specificity <- 91 / 102
  sensitivity <- 46 / 52
  youden <- specificity + sensitivity - 1
  rate <- (0.3 + specificity - 1) / youden
  expect_equal(rates_of(fit)[["1"]], rate)
  expect_lt(abs(rate - 0.25), 0.005)
  v <- function(p, n) p * (1 - p) / n
  error <- sqrt(v(0.3, 200) + (1 - rate)^2 * v(specificity, 102) + rate^2 * v(sensitivity, 52)) /
    youden
  expect_equal(tidy(fit)$std.error[[3]], error)
  ends <- rate + c(-1, 1) * stats::qnorm(0.95) * error
  expect_lt(max(abs(ends - c(0.162, 0.338))), 0.005)
  expect_equal(sum(ground_truth(fit)[1, -1]), 1)
  # By the program of Lee et al.
  of_rates <- unname(confint(fit, level = 0.9)[2:3, ])
  expect_equal(of_rates[2, ], lee_interval(0.3, 90 / 100, 45 / 50, 200, 100, 50, 0.1))
  expect_equal(of_rates[1, ], 1 - rev(of_rates[2, ]))
  expect_lt(max(abs(of_rates[2, ] - c(0.162, 0.338))), 0.005)
  expect_identical(rownames(confint(fit, "base_rate[1]")), "base_rate[1]")
  expect_output(print(fit), "Calibration samples: judge")
  # The judge as a test: of its rates, errors are those of the sample.
  found <- test_accuracy(fit)
  of <- function(measure) found[found$category == "1" & found$measure == measure, ]
  expect_equal(of("sensitivity")$std.error, sqrt(v(sensitivity, 52)))
  expect_equal(of("specificity")$std.error, sqrt(v(specificity, 102)))
  value <- function(share, q0, q1) {
    rate <- (share + q0 - 1) / (q0 + q1 - 1)
    rate * q1 / share
  }
  at <- c(0.3, specificity, sensitivity)
  slopes <- vapply(1:3, function(i) {
    step <- 1e-6 * (1:3 == i)
    (do.call(value, as.list(at + step)) - do.call(value, as.list(at - step))) / 2e-6
  }, 0)
  expect_equal(of("ppv")$estimate, do.call(value, as.list(at)))
  expect_equal(
    of("ppv")$std.error, sqrt(sum(slopes^2 * v(at, c(200, 102, 52)))), tolerance = 1e-4
  )
  # A rater without ratings beside it is nothing.
  beside <- quiet(ratings(cbind(said, nobody = NA), raters = judge:nobody))
  with_nobody <- fit_raters(beside, dawid_skene(), known_raters = list(judge = sample))
  expect_identical(base_rates(with_nobody), base_rates(fit))
  table <- test_accuracy(with_nobody)
  expect_equal(table[table$rater == "judge", ], found)
  guess <- matrix(c(50, 25, 50, 25), 2)
  expect_warning(
    fit_raters(x, dawid_skene(), known_raters = list(judge = guess)),
    "guessing", class = "fallible_warning_not_identified"
  )
})

test_that("a judge's accuracy is as uncertain as the rates that it is made of", {
  sample <- matrix(c(85, 15, 15, 85), 2) # specificity and sensitivity are the same
  x <- ratings(data.frame(judge = rep(c(0, 1), c(140, 60))), raters = judge)
  found <- tidy(fit_raters(x, dawid_skene(), known_raters = list(judge = sample)))
  right <- 86 / 102
  rate <- (0.3 + right - 1) / (2 * right - 1)
  expect_equal(found$estimate[[1]], right)
  expect_equal(
    found$std.error[[1]], sqrt((rate^2 + (1 - rate)^2) * right * (1 - right) / 102)
  )
})

test_that("a judge's accuracy moves with both rates, also through the base rate", {
  sample <- matrix(c(90, 5, 10, 45), 2)
  x <- ratings(data.frame(judge = rep(c(0, 1), c(140, 60))), raters = judge)
  fit <- fit_raters(x, dawid_skene(), known_raters = list(judge = sample))
  at <- c(60 / 200, 91 / 102, 46 / 52) # share, specificity, sensitivity
  numbers <- function(of) {
    rate <- (of[1] + of[2] - 1) / (of[2] + of[3] - 1)
    c((1 - rate) * of[2] + rate * of[3], 1 - rate, rate)
  }
  slopes <- sapply(1:3, function(i) {
    step <- 1e-6 * (1:3 == i)
    (numbers(at + step) - numbers(at - step)) / 2e-6
  })
  slow <- slopes %*% (at * (1 - at) / c(200, 102, 52) * t(slopes))
  expect_equal(unname(vcov(fit)), slow, tolerance = 1e-7)
})

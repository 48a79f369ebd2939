test_that("combined intervals are those of the table", {
  for (row in rule_rows()) {
    for (target in c("population", "cases")) {
      combined <- combined_interval(row$x, row$alone, target, 0.9)
      expect_lt(max(abs(three_numbers(combined) - row[[target]])), 2e-5)
    }
  }
  alone <- list(estimate = 0.7, std.error = 0.05, bias = 0.03)
  one <- function(y) {
    combined_interval(correct_share(y, 0.9, two_hundred()), alone, "population", 0.9)
  }
  expect_equal(round(three_numbers(one(1)), 3), c(0.701, 0.618, 0.784))
  expect_equal(round(three_numbers(one(0)), 3), c(0.689, 0.608, 0.776))
})

test_that("the combination is that of numerical integration", {
  for (row in rule_rows()) {
    x <- row$x
    prior <- ratings_prior(
      row$alone, x$gold, row$alone$estimate * (1 - row$alone$estimate), x$cases, 1.25
    )
    size <- gold_size(x, "cases", 0.9)
    for (target in c("population", "cases")) {
      slow <- slow_combination(min(max(x$estimate, 0), 1), size, prior, target, x$cases)
      combined <- combined_interval(x, row$alone, target, 0.9)
      expect_equal(three_numbers(combined), slow, tolerance = 1e-3)
    }
  }
})

test_that("gold weighs more the more there is of it, and all where ratings say nothing", {
  alone <- list(estimate = 0.7, std.error = 0.05, bias = 0.03)
  weight <- vapply(c(1, 2, 4, 8), function(times) {
    x <- correct_share(
      rep(c(1, 1, 1, 0, 1), 2 * times), rep(ten_predictions, times),
      prediction_of(rep(ten_predictions, 200))
    )
    combined_interval(x, alone, "population", 0.9)$weight
  }, 0)
  expect_true(all(weight > 0 & weight < 1) && all(diff(weight) > 0))
  x <- rule_rows()[[1]]$x
  nothing <- list(estimate = NA_real_, std.error = NA_real_, bias = NA_real_)
  combined <- combined_interval(x, nothing, "population", 0.9)
  expect_identical(combined$weight, 1)
  expect_identical(combined[1:4], corrected_interval(x, "population", 0.9)[1:4])
})

# Gold cases that say `value` of an accuracy, so many that they have error `error`.
said_by_gold <- function(value, gold, error) {
  variance <- value * (1 - value)
  list(
    estimate = value, alone = value, variance = variance, ratio = error^2 / variance * gold,
    gold = gold, labels = gold, cases = rep(1e6, length(value)), design = 1,
    at_hand = rep(1, length(value))
  )
}

test_that("ratings alone that are sure and far off do not keep combined intervals from covering", {
  # In the limit: gold says the truth with a normal error, ratings alone are off by up to six such.
  set.seed(1)
  truth <- 0.7
  covered <- function(gold, off, widen) {
    error <- 0.4 / sqrt(gold)
    value <- stats::rnorm(1000, truth, error)
    alone <- list(estimate = truth - off * error, std.error = 0.01, bias = 0.005)
    alone <- lapply(alone, rep, 1000)
    x <- said_by_gold(value, gold + 0 * value, error)
    found <- combined_interval(x, alone, "population", 0.9, widen)
    corrected <- corrected_interval(x, "population", 0.9)
    c(
      covered = mean(found$conf.low <= truth & truth <= found$conf.high),
      width = mean(found$conf.high - found$conf.low) /
        mean(corrected$conf.high - corrected$conf.low)
    )
  }
  for (gold in c(50, 200)) {
    now <- vapply(seq(0, 6, 0.5), function(off) covered(gold, off, NULL), c(covered = 0, width = 0))
    expect_gt(min(now["covered", ]), 0.84) # .86 with flat part, standard error .011
    expect_lt(max(now["width", ]), 1.01)
    expect_lt(now[["width", 1L]], 0.97)
  }
  expect_lt(covered(50, 1.5, 1.25)[["covered"]], 0.75) # by the error of ratings alone
})

test_that("the normal part is widened as far as the worst bias in the limit needs it", {
  s <- 1 / (1 + widened_by_gold)
  missed <- 0.05 + stats::pnorm(qnorm(0.95) * (sqrt(1 - s) - s), lower.tail = FALSE)
  expect_lt(abs(missed - 0.15), 5e-4)
})

test_that("an interval is the corrected one where gold contradicts ratings", {
  row <- rule_rows()[[2L]] # twenty of twenty right, and ratings say .7
  expect_lt(gold_test(row$x, row$alone)$p.value, 0.1)
  found <- combined_interval(row$x, row$alone, "population", 0.9, NULL)
  expect_identical(found[1:4], corrected_interval(row$x, "population", 0.9)[1:4])
  expect_identical(found$weight, 1)
  # Three gold cases contradict nothing.
  few <- rule_rows()[[3L]]
  expect_lt(combined_interval(few$x, few$alone, "population", 0.9, NULL)$weight, 0.5)
})

test_that("no small difference decides whether ratings have a part", {
  x <- correct_share(rep(1:0, c(36L, 14L)), rep(0.7, 50), prediction_of(rep(c(0.6, 0.8), 300)))
  at <- function(centre) {
    alone <- list(estimate = centre, std.error = 0.04, bias = 0.03)
    found <- combined_interval(x, alone, "population", 0.9, NULL)
    unlist(found[c("estimate", "conf.low", "conf.high", "weight")])
  }
  step <- 1e-4
  moved <- vapply(seq(0.72, 0.99, step), at, numeric(4))
  expect_setequal(moved["weight", ] == 1, c(TRUE, FALSE)) # gold contradicts some of them
  expect_lt(max(abs(diff(t(moved[-4, ])))), 5 * step)
})

test_that("what varies little has narrow intervals, on whatever scale it is", {
  # A logarithmic loss of .5 has a range of 36, of which losses of .5 are a hundredth.
  one <- list(
    estimate = 0.5 / 36, alone = 0.5 / 36, variance = 0.0137, ratio = 0.015, gold = 50,
    labels = 50, cases = 600, design = 0.015, at_hand = 0.015
  )
  alone <- list(estimate = 0.5 / 36, std.error = 0.07 / 36, bias = 0.06 / 36)
  width <- function(x) x$conf.high - x$conf.low
  corrected <- corrected_interval(one, "population", 0.9)
  expect_lt(width(combined_interval(one, alone, "population", 0.9, NULL)), width(corrected))
  unsure <- replace(alone, c("std.error", "bias"), list(0.5, 0.4))
  expect_lt(width(combined_interval(one, unsure, "population", 0.9, NULL)), 1.1 * width(corrected))
})

test_that("gold cases contradict ratings, or do not", {
  rows <- rule_rows()
  test <- gold_test(rows[[1]]$x, rows[[1]]$alone)
  s <- sqrt(max(0.05^2 - 0.7 * 0.3 / 200, 0.03^2))
  x <- rows[[1]]$x
  z <- (0.7 - 0.6) / sqrt(s^2 + x$variance * x$ratio * (1 - 10 / 200) / 10)
  expect_equal(test$statistic, z)
  expect_equal(test$p.value, 2 * pnorm(-z))
  expect_lt(gold_test(rows[[2]]$x, rows[[2]]$alone)$p.value, 1e-4)
  expect_identical(gold_test(rows[[3]]$x, rows[[3]]$alone)$p.value, NA_real_) # three gold cases
})

test_that("combined differences stay where answers let them be", {
  set.seed(1)
  q <- c(rep(0, 150), runif(50, -1, 1))
  u <- c(rep(0, 150), sign(q[151:200]) * rbinom(50, 1, 0.8))
  at <- sample(200, 40)
  x <- c(correct_difference(u[at], q[at], prediction_of(q)), differ = 0.25, one_right = 0.2,
    all = length(q))
  alone <- list(estimate = 0.05, std.error = 0.06, bias = 0.05)
  corrected <- difference_interval(x, "cases", 0.9)
  combined <- combined_difference(x, alone, "cases", 0.9)
  expect_lt(
    combined$conf.high - combined$conf.low, corrected$conf.high - corrected$conf.low
  )
  far <- combined_difference(
    x, list(estimate = 0.9, std.error = 0.06, bias = 0.05), "cases", 0.9
  )
  expect_lte(far$conf.high, 0.25)
  nothing <- list(estimate = NA_real_, std.error = NA_real_, bias = NA_real_)
  expect_identical(combined_difference(x, nothing, "cases", 0.9)[1:4], corrected[1:4])
})

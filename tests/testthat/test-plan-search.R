# Panels whose estimates have normal errors of standard deviation sd / sqrt(n) around a bias: the
# answer is known. Each panel keeps its error for all numbers of cases.
normal_panels <- function(runs, sd = 0.5, bias = 0, half_width = 0.1) {
  z <- rnorm(runs)
  function(n) {
    error <- z * sd / sqrt(n) + bias
    near <- as.double(abs(error) <= half_width)
    list(n = n, near = near, error = error, run = seq_len(runs), of_system = mean(near),
         bias = mean(error))
  }
}
settings <- list(
  conf_level = 0.9, least_cases = 2, max_cases = 20000, raters = 3L, half_width = 0.1
)
known <- (qnorm(0.95) * 0.5 / 0.1)^2

test_that("the search finds the known answer, and its standard error is what it says", {
  set.seed(1)
  found <- lapply(1:200, function(i) search_n_cases(normal_panels(300), settings))
  found <- do.call(rbind, found)
  expect_true(all(is.na(found$reason)))
  error <- sd(found$cases) / sqrt(200)
  # Rounded up: half a case more on average.
  expect_lt(abs(mean(found$cases) - 0.5 - known), 4 * error)
  expect_gt(mean(found$std.error) / sd(found$cases), 0.8)
  expect_lt(mean(found$std.error) / sd(found$cases), 1.25)
  expect_true(all(found$probability >= 0.9 - 1e-6))
})

test_that("it finds it from anywhere", {
  set.seed(2)
  for (sd in c(0.02, 0.1, 2, 5)) {
    answer <- search_n_cases(normal_panels(2000, sd), settings)
    expected <- (qnorm(0.95) * sd / 0.1)^2
    expect_lt(abs(answer$cases - expected), 2 + 5 * max(answer$std.error, 0, na.rm = TRUE))
  }
  tiny <- search_n_cases(normal_panels(100, 1e-3), settings)
  expect_identical(tiny$cases, 2)
})

test_that("a bias below the margin costs cases, one above cannot be made up", {
  set.seed(3)
  answer <- search_n_cases(normal_panels(2000, bias = 0.05), settings)
  expected <- uniroot(function(n) {
    pnorm(0.05 * sqrt(n) / 0.5) - pnorm(-0.15 * sqrt(n) / 0.5) - 0.9
  }, c(10, 1000))$root
  expect_lt(abs(answer$cases - expected), 4 * answer$std.error + 1)
  lost <- search_n_cases(normal_panels(500, bias = 0.15), settings)
  expect_identical(lost$cases, NA_real_)
  expect_match(lost$reason, "more cases do not help")
  settings$max_cases <- 40
  few <- search_n_cases(normal_panels(500), settings)
  expect_match(few$reason, "the largest number tried")
})

test_that("more cases help where the last of them brought more than twice its error", {
  near <- function(share) as.double(seq_len(100) <= 100 * share)
  reason <- function(first, second) {
    shares <- list(`10` = near(first), `20` = near(second))
    at <- function(n) {
      x <- shares[[format(n)]]
      list(n = n, near = x, error = 1 - x, run = 1:100, of_system = mean(x), bias = 0)
    }
    unreached_row(at, c(10, 20), settings)$reason
  }
  # Of 100 panels 3 more, whose standard error is 1.7, and 8 more, whose error is 2.7.
  expect_match(reason(0.5, 0.53), "more cases do not help")
  expect_match(reason(0.5, 0.58), "the largest number tried")
})

test_that("the bracket holds the crossing between neighbours", {
  share <- function(n) pnorm(sqrt(n / known) * qnorm(0.9))
  for (start in c(2, 10, 60, 100, 3000, 20000)) {
    bracket <- bracket_cases(share, start, 0.9, 20000, 2)
    expect_lt(bracket$low, known)
    expect_gte(bracket$high, known)
    expect_lte(bracket$high / bracket$low, 2.5)
  }
  expect_null(bracket_cases(function(n) 1, 100, 0.9, 1000, 2)$low)
  never <- bracket_cases(function(n) 0, 10, 0.9, 1000, 2)
  expect_null(never$high)
  expect_identical(max(never$tried), 1000)
})

test_that("probit lines are those of glm(), their errors those of the panels", {
  set.seed(4)
  n <- c(40, 60, 90)
  at <- normal_panels(400)
  near <- vapply(n, function(n) at(n)$near, double(400))
  line <- probit_line(n, near, 0.9)
  fit <- glm(
    c(near) ~ sqrt(rep(n, each = 400)), family = binomial("probit")
  )
  expect_equal(line$cases, unname(((qnorm(0.9) - coef(fit)[1]) / coef(fit)[2])^2), tolerance = 1e-6)
  # Against a jackknife over panels.
  without <- vapply(seq_len(400), function(i) probit_line(n, near[-i, ], 0.9)$cases, 0)
  jackknife <- sqrt(399 / 400 * sum((without - mean(without))^2))
  expect_equal(line$std.error, jackknife, tolerance = 0.02)
  at_60 <- vapply(seq_len(400), function(i) probit_line(n, near[-i, ], 0.9)$at(60)[[1]], 0)
  expect_equal(
    line$at(60)[["mcse"]], sqrt(399 / 400 * sum((at_60 - mean(at_60))^2)), tolerance = 0.02
  )
})

test_that("the error of a line is a number where all panels are within the margin at one end", {
  near <- vapply(c(0.85, 1), function(share) as.double(1:20 <= 20 * share), double(20))
  line <- probit_line(c(50, 100), near, 0.9)
  expect_gt(line$std.error, 0)
  expect_lt(line$std.error, 10)
})

test_that("errors of shares and widths are those of the panels", {
  expect_equal(monte_carlo_error(c(0, 1, 1, 0)), sd(c(0, 1, 1, 0)) / 2)
  expect_gt(monte_carlo_error(rep(1, 50)), 0)
  set.seed(5)
  at <- normal_panels(4000)
  point <- summarise_panels(at(known), settings)
  expect_lt(abs(point$half_width - 0.1), 4 * point$half_width_mcse)
  # Of a quantile of a known distribution: the error of the share over the density.
  density <- 2 * dnorm(qnorm(0.95)) / (0.5 / sqrt(known))
  expect_equal(point$half_width_mcse, sqrt(0.9 * 0.1 / 4000) / density, tolerance = 0.25)
})

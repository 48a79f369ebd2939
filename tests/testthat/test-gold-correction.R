test_that("the peer reproduces its published formulas", {
  y <- c(1, 1, 0, 1, 0, 1, 1, 0)
  f <- c(0.9, 0.8, 0.3, 0.7, 0.4, 0.95, 0.6, 0.2)
  fu <- c(0.9, 0.1, 0.5, 0.8, 0.7, 0.3, 0.95, 0.6, 0.4, 0.85, 0.75, 0.2)
  near <- function(object, expected) expect_lt(max(abs(object - expected)), 1e-9)
  near(ppi_mean(y, f, fu), c(0.9032209383, 0.6080646074, 0.4034319628, 0.8126972520))
  near(ppi_mean(y, f, fu, lambda = 1), c(1, 0.60625, 0.4019072366, 0.8105927634))
  near(
    ppi_mean(y, f, fu, w = c(2, 1, 1, 1, 1, 1, 2, 1)),
    c(0.7489996845, 0.6644225150, 0.4323947346, 0.8964502953)
  )
  near(
    ppi_mean(
      c(1, 0, 1, 1, 1, 0, 1, 1, 0, 1), c(1, 0, 1, 0, 1, 1, 1, 1, 0, 1),
      c(1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1)
    ),
    c(0.3625, 0.718125, 0.5035584950, 0.9326915050)
  )
})

test_that("the correction is that of the table", {
  for (row in rule_rows()) {
    expect_lt(abs(row$x$slope - row$slope), 1e-5)
    expect_lt(abs(row$x$ratio - row$ratio), 1e-5)
    expect_lt(abs(row$x$estimate - row$estimate), 1e-5)
  }
})

test_that("the correction is that of a slow twin", {
  set.seed(1)
  for (m in c(1, 2, 3, 10, 40)) {
    for (kind in c("share", "difference")) {
      q <- runif(60) - (kind == "difference") / 2
      at <- sample(60, m)
      y <- if (kind == "share") rbinom(m, 1, q[at]) else sign(q[at]) * rbinom(m, 1, 0.5)
      correct <- if (kind == "share") correct_share else correct_difference
      for (w in list(rep(1, m), 1 / runif(m, 0.2, 1))) {
        x <- correct(y, q[at], prediction_of(q), w)
        slow <- slow_correction(y, q, at, w, kind)
        fields <- c("estimate", "slope", "ratio", "variance")
        expect_equal(x[fields], slow[fields], tolerance = 1e-10)
        for (target in c("population", "cases")) {
          expect_equal(gold_error(x, target), slow$error[[target]], tolerance = 1e-10)
        }
      }
    }
  }
})

test_that("predictions by pattern are those of their cases", {
  pattern <- c(0.2, 0.5, 0.9)
  number <- c(10, 0, 5)
  expect_equal(prediction_of(pattern, number), prediction_of(rep(pattern, number)))
})

test_that("cases with the scale of weights multiplied are the same", {
  y <- c(1, 1, 0, 1, 0)
  q <- c(0.9, 0.8, 0.3, 0.7, 0.4)
  expect_equal(
    correct_share(y, q, two_hundred(), c(1, 2, 3, 2, 1)),
    correct_share(y, q, two_hundred(), 50 * c(1, 2, 3, 2, 1))
  )
})

test_that("predictions without any use leave gold alone", {
  constant <- correct_share(c(1, 1, 1, 1, 0), rep(0.6, 5), prediction_of(rep(0.6, 200)))
  expect_identical(constant$slope, 0)
  expect_identical(constant$ratio, 1)
  # What points the wrong way does not help, however often it does.
  set.seed(1)
  q <- runif(200)
  wrong <- correct_share(rbinom(100, 1, 1 - q[1:100]), q[1:100], prediction_of(q))
  expect_identical(wrong$slope, 0)
  expect_gt(wrong$ratio, 0.98)
})

test_that("ratings are worth what predictions explain", {
  half <- prediction_of(rep(c(0, 1), 50))
  expect_equal(explained_by_ratings(half), 0.9)
  expect_identical(explained_by_ratings(prediction_of(rep(0.4, 10))), 0)
  expect_identical(explained_by_ratings(prediction_of(rep(1, 10))), 0)
  worth <- worth_of_ratings(0.4, 0.9)
  expect_equal(worth[["estimate"]], 1 / 0.6)
  expect_equal(worth[["conf.low"]], 1 / (1 - max(0, 0.4 - qnorm(0.95) * 0.2)))
  expect_lte(worth_of_ratings(0.9, 0.9)[["conf.high"]], 20 + 1e-9)
})

test_that("predictions worth nothing save nothing, however unequal the weights", {
  set.seed(1)
  chance <- sample(c(0.005, 0.05), 2000, TRUE, c(0.7, 0.3))
  y <- stats::rbinom(2000, 1, 0.8)
  gold <- which(stats::runif(2000) < chance)
  q <- rep(0.8, 2000)
  x <- correct_share(y[gold], q[gold], prediction_of(q), 1 / chance[gold])
  expect_equal(x$ratio, x$design, tolerance = 1e-12)
})

test_that("intervals from unequal probabilities cover, whatever predictions are worth", {
  set.seed(2)
  covered <- replicate(400, {
    chance <- sample(c(0.005, 0.05), 2000, TRUE, c(0.7, 0.3))
    y <- stats::rbinom(2000, 1, 0.8)
    q <- stats::runif(2000, 0.6, 1)
    gold <- which(stats::runif(2000) < chance)
    x <- correct_share(y[gold], q[gold], prediction_of(q), 1 / chance[gold])
    found <- corrected_interval(x, "population", 0.9)
    found$conf.low <= 0.8 && 0.8 <= found$conf.high
  })
  expect_gt(mean(covered), 0.86) # .74 when prior and weights were on different scales
})

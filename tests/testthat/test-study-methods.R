# A study whose results are these.
fake_study <- function(rows, panels = "separate") {
  defaults <- data.frame(
    design = "d", n = 10L, system = "s", run = seq_len(nrow(rows)), estimator = "e",
    conf.low = NA_real_, conf.high = NA_real_, expected = 0.5, sample = 0.5
  )
  table <- as.list(defaults)
  table[names(rows)] <- as.list(rows)
  table$condition <- rep(NA_character_, nrow(rows))
  structure(
    list(panels = panels, results = table),
    class = "simulation_study"
  )
}

test_that("errors are summarised as defined", {
  rows <- data.frame(
    estimate = c(0.5, 0.7, NA, 0.4, 0.62), sample = c(0.6, 0.6, 0.5, 0.6, 0.6),
    conf.low = c(0.4, 0.65, NA, NA, 0.2), conf.high = c(0.6, 0.8, NA, NA, 0.9)
  )
  out <- summary(fake_study(rows))
  expect_identical(out$target, c("expected", "sample"))
  expected <- out[1, ]
  error <- c(0, 0.2, -0.1, 0.12)
  expect_identical(expected$estimates, 5L)
  expect_equal(expected$missing, 0.2)
  expect_equal(expected$bias, mean(error))
  expect_equal(expected$bias_mcse, stats::sd(error) / 2)
  expect_equal(expected$rmse, sqrt(mean(error^2)))
  expect_equal(expected$rmse_mcse, stats::sd(error^2) / 2 / (2 * sqrt(mean(error^2))))
  expect_equal(expected$within, 0.5)
  expect_equal(expected$within_mcse, sqrt(0.25 / 3))
  expect_equal(expected$coverage, 2 / 3)
  expect_equal(expected$coverage_mcse, sqrt(2 / 9 * 3 / 2 / 3))
  expect_equal(expected$width, mean(c(0.2, 0.15, 0.7)))
  expect_equal(expected$width_mcse, stats::sd(c(0.2, 0.15, 0.7)) / sqrt(3))
  expect_equal(out$bias[[2]], mean(c(-0.1, 0.1, -0.2, 0.02)))
  expect_equal(out$coverage[[2]], 2 / 3)
})

test_that("pooled systems are strata, or parts of one panel", {
  rows <- data.frame(
    system = rep(c("a", "b"), each = 3), run = rep(1:3, 2), estimate = c(1, 2, 3, 6, 7, 11) / 20
  )
  by <- c("design", "estimator")
  separate <- summary(fake_study(rows), by = by)[1, ]
  v <- c(stats::var(c(1, 2, 3)), stats::var(c(6, 7, 11))) / 400
  expect_equal(separate$bias_mcse, sqrt(sum(v * 3)) / 6)
  shared <- summary(fake_study(rows, "shared"), by = by)[1, ]
  expect_equal(shared$bias_mcse, sqrt(stats::var(c(7, 9, 14) / 20 / 2) / 3))
  expect_equal(shared$bias, separate$bias)
  expect_identical(nrow(summary(fake_study(rows), by = NULL)), 2L)
})

test_that("panels without an estimate move the pooled mean", {
  rows <- data.frame(
    system = rep(c("a", "b"), each = 3), run = rep(1:3, 2),
    estimate = c(0.1, 0.2, NA, 0.9, 0.8, 1)
  )
  pooled <- summary(fake_study(rows), by = "estimator")[1, ]
  u <- rows$estimate - mean(rows$estimate, na.rm = TRUE)
  u[3] <- 0
  a <- sum((u[1:3] - mean(u[1:3]))^2) * 2 / 1
  b <- sum((u[4:6] - mean(u[4:6]))^2) * 3 / 2
  expect_equal(pooled$bias_mcse, sqrt(a + b) / 5)
})

test_that("Monte Carlo errors are the spread over repetitions of the study", {
  skip_unless_nightly()
  set.seed(1)
  # Weak raters: many panels have no estimate, and those of the two systems differ.
  design <- rater_design(c(0.3, 0.4), c(0.1, 0.9), n = 15, difficulty = 0.2)
  for (panels in c("separate", "same")) {
    many <- lapply(1:150, function(i) {
      study <- simulation_study(design, "unbinned", runs = 40, panels = panels)
      summary(study, by = "estimator")[1, ]
    })
    for (what in c("bias", "rmse", "within")) {
      values <- vapply(many, `[[`, 0, what)
      claimed <- sqrt(mean(vapply(many, `[[`, 0, paste0(what, "_mcse"))^2))
      # The standard deviation of 150 values has a relative error of about 1 / sqrt(300).
      expect_lt(abs(stats::sd(values) / claimed - 1), 4 / sqrt(300))
    }
  }
})

test_that("only common panels are compared, if told", {
  rows <- data.frame(
    run = rep(1:3, each = 2), estimator = rep(c("e", "f"), 3),
    estimate = c(0.5, 0.6, NA, 0.9, 0.7, 0.7)
  )
  out <- summary(fake_study(rows), by = "estimator", common = TRUE)
  out <- out[out$target == "expected", ]
  expect_identical(out$estimates, c(2L, 2L))
  expect_equal(out$bias, c(0.1, 0.15))
  expect_equal(out$missing, c(0, 0))
})

test_that("a shared panel keeps the systems that have all estimates", {
  rows <- data.frame(
    run = rep(1:2, each = 4), system = rep(c("a", "a", "b", "b"), 2),
    estimator = rep(c("e", "f"), 4), estimate = c(0.5, NA, 0.6, 0.7, 0.5, 0.5, 0.4, 0.4)
  )
  out <- summary(fake_study(rows, "shared"), by = "system", common = TRUE)
  expect_identical(out$estimates[out$target == "expected"], c(2L, 4L))
  none <- rows[1:4, ]
  none$estimate[none$estimator == "f"] <- NA
  out <- summary(fake_study(none, "shared"), by = "estimator", common = TRUE)
  expect_identical(out$estimates, rep(0L, 4))
  expect_identical(out$bias, rep(NA_real_, 4))
})

test_that("shares of 0 or 1 count panels, not systems", {
  rows <- data.frame(
    system = rep(c("a", "b"), 3), run = rep(1:3, each = 2), estimate = 0.5, conf.low = 0.4,
    conf.high = 0.6
  )
  out <- summary(fake_study(rows, "shared"), by = "design")[1, ]
  p <- 3.5 / 4
  expect_equal(out$coverage_mcse, sqrt(p * (1 - p) / 3))
})

test_that("the order of rows does not matter", {
  set.seed(4)
  rows <- data.frame(
    system = rep(c("a", "b"), each = 8), run = rep(rep(1:4, each = 2), 2),
    estimator = rep(c("e", "f"), 8), estimate = c(stats::runif(8), stats::runif(8, 0.5, 0.6))
  )
  by <- c("design", "n")
  expect_equal(
    summary(fake_study(rows), by = by), summary(fake_study(rows[sample(16), ]), by = by)
  )
})

test_that("nothing to summarise is NA", {
  out <- summary(fake_study(data.frame(estimate = c(NA, NA_real_))))
  expect_equal(out$missing, c(1, 1))
  numbers <- out[setdiff(names(out), c("design", "n", "system", "estimator", "target", "truth",
                                       "estimates", "missing", "failed"))]
  expect_true(all(is.na(numbers)))
  expect_false(any(vapply(numbers, function(x) any(is.nan(x)), NA)))
  one <- summary(fake_study(data.frame(estimate = 0.6)))
  expect_equal(one$bias, c(0.1, 0.1))
  expect_identical(one$bias_mcse, c(NA_real_, NA_real_))
  exact <- summary(fake_study(data.frame(estimate = c(0.5, 0.5))))
  expect_identical(exact$rmse_mcse, c(NA_real_, NA_real_))
  expect_equal(exact$within_mcse, rep(sqrt((2.5 / 3) * (0.5 / 3) / 2), 2))
})

test_that("arguments are checked", {
  study <- simulation_study(rater_design(c(0.6, 0.6), 0.8, n = 5), runs = 1)
  expect_snapshot(error = TRUE, {
    summary(study, by = "sytem")
    summary(study, margin = 0)
    summary(study, common = NA)
    summary(study, b = 1)
  })
})

test_that("a study prints its errors", {
  set.seed(2)
  study <- simulation_study(
    list(`Figure 3` = lehner_design(3), `Figure 5` = lehner_design(5)),
    list("binned", u = accuracy_estimator("unbinned", interval = "bootstrap", resampling = list(replicates = 20))),
    runs = 4
  )
  expect_snapshot(print(study))
})

test_that("panels that could not be drawn are counted separately from failed estimates", {
  panels <- 0
  breaks <- function(n) {
    panels <<- panels + 1
    if (panels %in% c(3, 5)) stop("no panel")
    simulate_ratings(rater_design(c(0.8, 0.8), c(a = 0.8, b = 0.7)), n)
  }
  study <- simulation_study(
    list(good = rater_design(c(0.8, 0.8), 0.7), bad = breaks), c("binned", "unbinned"), runs = 5,
    n = 30, panels = "same"
  )
  rows <- which(tidy(study)$condition == "fallible_error_design")
  expect_length(rows, 8) # two panels, two systems, two estimators
  printed <- gsub("\\s+", " ", paste(utils::capture.output(print(study)), collapse = " "))
  expect_match(printed, sprintf(
    "2 panels could not be drawn; the first is replay\\(study, %s\\): Design \"bad\"", rows[[1]]
  ))
  expect_no_match(printed, "estimates? failed")
})

test_that("the print names estimators with estimates below 0 or above 1", {
  estimators <- list(
    wrong = function(x) 1.7, low = function(x) -0.1, one = function(x) 1, none = function(x) NA_real_
  )
  study <- simulation_study(rater_design(c(0.8, 0.8), 0.8), estimators, runs = 2)
  expect_output(print(study), "Below 0 or above 1: estimates by wrong, low\n")
})

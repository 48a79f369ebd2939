test_that("robust intervals add what errors in common could hide", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), 4, 150))
  expected <- function(table, facts) {
    expect_equal(facts$suspicion, pmax(0, 1 - 2 * facts$independence_weight))
    # The gap of the average is that of its ends, whatever was taken back of it.
    end <- if (table$method[[1L]] == "average") table$independent else table$estimate
    hidden <- (facts$rater_error / 4)^2 + ((end - facts$average_shared) / 2)^2
    sqrt(facts$sampling^2 + facts$suspicion * hidden)
  }
  for (method in c("average", "binned", "shared")) {
    estimate <- quiet(estimate_accuracy(x, method, replicates = 40, conf_level = 0.8))
    table <- tidy(estimate)
    error <- expected(table, tidy(estimate, "details"))
    expect_equal(table$std.error, error)
    expect_equal(table$conf.low, pmax(0, table$estimate - stats::qnorm(0.9) * error))
    expect_equal(table$conf.high, pmin(1, table$estimate + stats::qnorm(0.9) * error))
  }
  # Whatever the method, the two ends are told.
  ends <- tidy(quiet(estimate_accuracy(x, interval = "none")))[c("shared", "independent")]
  found <- tidy(quiet(estimate_accuracy(x, "binned", replicates = 40)))
  expect_identical(found[c("shared", "independent")], ends)
})

test_that("what has no sampling error has no robust interval", {
  exact <- exact_ratings(rep(0.6, 3), 0.9)
  for (method in c("average", "binned", "joint")) {
    estimate <- quiet(estimate_accuracy(exact, method))
    table <- tidy(estimate)
    expect_false(is.na(table$estimate))
    expect_identical(c(table$conf.low, table$std.error), rep(NA_real_, 2))
    expect_identical(tidy(estimate, "details")$sampling, NA_real_)
    expect_match(table$reason, "weights are not counts")
  }
})

test_that("where truth is known errors in common have nothing to hide", {
  set.seed(1)
  design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), 4, 150, difficulty = 0.3)
  x <- simulate_ratings(design)
  for (cases in list(1:30, 1:150)) {
    fit <- fit_raters(x, known_truth = truth(x)[cases, ])
    estimate <- quiet(estimate_accuracy(fit, "average"))
    table <- tidy(estimate)
    facts <- tidy(estimate, "details")
    expect_gt(max(facts$suspicion), 0)
    open <- 1 - length(cases) / 150
    gap <- (table$independent - table$shared) * (open > 0)
    hidden <- (open * facts$rater_error / 4)^2 + (gap / 2)^2
    expect_equal(table$std.error, sqrt(facts$sampling^2 + facts$suspicion * hidden))
  }
  # Nor does anything rest on an assumption.
  expect_length(rests_on_assumption(estimate), 0L)
})

test_that("the centre takes back of independence what N categories leave unseen", {
  for (N in c(2, 3, 5)) {
    set.seed(N)
    x <- simulate_ratings(rater_design(c(0.65, 0.7, 0.8), 0.9, N, 300, difficulty = 0.3))
    estimate <- quiet(estimate_accuracy(x))
    table <- tidy(estimate)
    facts <- tidy(estimate, "details")
    at_chance <- facts$rater_error > 0.9 * (1 - 1 / N)
    suspicion <- if (at_chance) 1 else max(0, 1 - 2 * facts$independence_weight)
    expect_equal(facts$suspicion, suspicion)
    expect_gt(suspicion * abs(table$independent - table$shared), 0.001)
    back <- suspicion / (N - 1)
    expect_equal(table$estimate, table$independent - back * (table$independent - table$shared))
    if (table$conf.high < 1) expect_equal((table$conf.low + table$conf.high) / 2, table$estimate)
  }
})

test_that("language models as raters make wider intervals around the same estimates", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.75, 0.8, 0.85), 0.8, 2, 400))
  models <- x
  models$rater_kind <- "model"
  plain <- quiet(estimate_accuracy(x))
  found <- quiet(estimate_accuracy(models))
  table <- tidy(found)
  expect_identical(table$estimate, tidy(plain)$estimate)
  facts <- tidy(found, "details")
  wrong <- facts$rater_error
  together <- (1 - sqrt(max(0, 1 - 4 * wrong * (1 - wrong) / 0.45))) / 2 - wrong
  gap <- table$independent - table$shared
  hidden <- (0.25 * wrong)^2 + (0.5 * gap)^2 + together^2
  expect_equal(table$std.error, sqrt(facts$sampling^2 + hidden))
  expect_output(print(found), "accuracy is a guess")
  expect_false(any(grepl("guess", capture.output(print(plain)))))
  # What follows from a stated assumption follows whoever the raters are.
  stated <- tidy(quiet(estimate_accuracy(models, common = "none")))
  expect_identical(stated, tidy(quiet(estimate_accuracy(x, common = "none"))))
})

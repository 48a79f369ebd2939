test_that("robust intervals add what errors in common could hide", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), 4, 150))
  expected <- function(table, facts) {
    suspicion <- pmax(0, 1 - 2 * facts$simple_weight)
    gap <- table$estimate - table$shared
    sqrt(facts$sampling^2 + suspicion * ((0.16 * facts$rater_error)^2 + (0.5 * gap)^2))
  }
  for (method in c("average", "binned", "shared")) {
    estimate <- quiet(estimate_accuracy(x, method, replicates = 40, conf_level = 0.8))
    table <- tidy(estimate)
    error <- expected(table, glance(estimate))
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
    expect_identical(glance(estimate)$sampling, NA_real_)
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
    facts <- glance(estimate)
    suspicion <- pmax(0, 1 - 2 * facts$simple_weight)
    expect_gt(max(suspicion), 0)
    wrong <- facts$rater_error * (1 - length(cases) / 150)
    hidden <- (0.16 * wrong)^2 + (0.5 * (table$estimate - table$shared))^2
    expect_equal(table$std.error, sqrt(facts$sampling^2 + suspicion * hidden))
  }
  # Nor is there doubt because raters agree little.
  expect_lt(fit$kappa, 0.4)
  expect_false(any(grepl("agree little", capture.output(print(estimate)))))
})

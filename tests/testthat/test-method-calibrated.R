calibrated_example <- function() {
  labels <- c("fail", "pass")
  counts <- matrix(c(44, 6, 4, 46), 2, byrow = TRUE, dimnames = list(labels, labels))
  data <- data.frame(
    id = 1:500, judge = "judge", verdict = rep(labels, c(100, 400)),
    version = rep(c("old", "new"), c(200, 300))
  )
  x <- ratings(data, case = id, rater = judge, rating = verdict, systems = c(app = "pass"),
    rater_kind = "model", covariates = version)
  list(x = x, known = list(judge = counts))
}

test_that("a judge with a calibration sample estimates constant systems", {
  of <- calibrated_example()
  estimate <- estimate_accuracy(of$x, known_raters = of$known)
  table <- tidy(estimate)
  ends <- c(table$estimate, table$conf.low, table$conf.high, table$std.error)
  expect_lt(max(abs(ends - c(0.85, 0.7833298, 0.9547558, 0.0496540))), 1e-6)
  expect_identical(table$n, 500)
  expect_identical(c(estimate$options$method, estimate$options$interval), rep("calibrated", 2))
  fit <- fit_raters(of$x, known_raters = of$known)
  expect_equal(tidy(estimate_accuracy(fit)), table)
  expect_equal(tidy(estimate_accuracy(of$x, known_raters = of$known, conf_level = 0.95))$conf.low,
    0.7686479, tolerance = 1e-7)
  # The other category is the complement.
  other <- ratings(as.data.frame(of$x), case = case, rater = rater, rating = rating,
    systems = c(bad = "fail", good = "pass"))
  both <- tidy(estimate_accuracy(other, known_raters = of$known))
  expect_equal(both$estimate, c(0.15, 0.85))
  expect_equal(both$conf.low, 1 - rev(both$conf.high))
  expect_equal(tidy(estimate_accuracy(other, known_raters = of$known, systems = "bad")), both[1, ])
  # Neither the order of rows nor that of the sample matters.
  known <- list(judge = of$known$judge[2:1, 2:1])
  expect_equal(tidy(estimate_accuracy(of$x[500:1, ], known_raters = known)), table)
  none <- tidy(estimate_accuracy(of$x, known_raters = of$known, interval = "none"))
  expect_equal(none[c("estimate", "std.error")], table[c("estimate", "std.error")])
  expect_true(is.na(none$conf.low))
})

test_that("groups have the same sample", {
  of <- calibrated_example()
  groups <- estimate_accuracy(of$x, known_raters = of$known, by = version)
  for (group in c("old", "new")) {
    own <- of$x[which(of$x$covariates$version == group), ]
    alone <- tidy(quiet(estimate_accuracy(own, known_raters = of$known)))
    expect_equal(tidy(groups[[group]]), alone)
  }
  fit <- fit_raters(of$x, known_raters = of$known)
  expect_equal(tidy(estimate_accuracy(fit, by = version)), tidy(groups))
  # Both groups have the errors of the same sample.
  expect_error(compare_systems(groups), class = "fallible_error_argument")
  # A known rater without ratings is left out.
  beside <- as.data.frame(of$x)
  beside <- rbind(beside, transform(beside[1, ], rater = "nobody", rating = NA))
  two <- quiet(ratings(beside[c("case", "rater", "rating")], case = case, rater = rater,
    rating = rating, systems = c(app = "pass")))
  known <- c(of$known, list(nobody = of$known$judge))
  half <- stats::setNames(rep(1:2, 250), two$cases)
  expect_identical(nrow(tidy(quiet(estimate_accuracy(two, known_raters = known, by = half)))), 2L)
  # Other raters that are known are used in all groups, too.
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.8), n = 200))
  half <- stats::setNames(rep(c("a", "b"), 100), x$cases)
  estimated <- quiet(estimate_accuracy(
    x, known_raters = list(rater1 = 0.7), by = half, interval = "none"
  ))
  own <- quiet(estimate_accuracy(
    x[half == "a", ], known_raters = list(rater1 = 0.7), interval = "none"
  ))
  expect_equal(tidy(estimated[["a"]]), tidy(own))
})

test_that("all raters may be one group, whose vote is calibrated", {
  votes <- data.frame(a = c("pass", "pass", "fail", "pass"), b = c("pass", "fail", "fail", "pass"),
    c = c("fail", "pass", "fail", "pass"))[rep(1:4, 50), ]
  panel <- c(a = "panel", b = "panel", c = "panel")
  x <- ratings(votes, raters = a:c, systems = c(app = "pass"), rater_kind = "model",
    rater_groups = panel)
  counts <- calibrated_example()$known$judge
  table <- tidy(estimate_accuracy(x, known_raters = list(panel = counts)))
  expect_equal(table$estimate, (150 / 200 + 44 / 50 - 1) / (46 / 50 + 44 / 50 - 1))
  expect_output(print(summary(x)), "panel \\(3 raters\\)")
  one_vote <- function(code) {
    expect_error(code, "counts as one vote", class = "fallible_error_raters")
  }
  one_vote(estimate_accuracy(x))
  one_vote(fit_raters(x))
  one_vote(ground_truth(x))
  one_vote(check_k_properties(x))
})

test_that("what one sample cannot show is missing or refused", {
  of <- calibrated_example()
  guess <- list(judge = matrix(25, 2, 2))
  lost <- quiet(estimate_accuracy(of$x, known_raters = guess))
  expect_true(all(is.na(tidy(lost)[c("estimate", "std.error", "conf.low", "conf.high")])))
  expect_identical(lost$table$why, "judge")
  expect_match(tidy(lost)$reason, "no better than chance")
  empty <- list(judge = matrix(c(40, 0, 10, 0), 2))
  expect_identical(quiet(estimate_accuracy(of$x, known_raters = empty))$table$why, "uncalibrated")
  none <- ratings(as.data.frame(of$x), case = case, rater = rater, rating = rating)
  expect_error(estimate_accuracy(none, known_raters = of$known), class = "fallible_error_system")
  answers <- data.frame(
    judge = rep(c("pass", "fail"), 50), model = c("pass", "pass", "fail", "fail")
  )
  own <- ratings(answers, raters = judge, systems = model)
  expect_error(estimate_accuracy(own, known_raters = of$known), class = "fallible_error_system")
  estimate <- estimate_accuracy(of$x, known_raters = of$known)
  refused <- function(code) expect_error(code, class = "fallible_error_argument")
  gold <- data.frame(case = 1:3, truth = "pass")
  refused(estimate_accuracy(of$x, known_raters = of$known, known_truth = gold))
  refused(estimate_accuracy(estimate$fit, known_truth = gold, gold_sample = "random"))
  refused(estimate_accuracy(of$x, known_raters = of$known, interval = "robust"))
  refused(estimate_accuracy(of$x, known_raters = of$known, method = "joint"))
  refused(compare_systems(estimate))
  refused(estimate_metrics(estimate))
  refused(confusion(estimate))
  expect_snapshot(error = TRUE, {
    estimate_accuracy(own, known_raters = of$known)
    estimate_accuracy(of$x, known_raters = of$known, known_truth = gold)
    estimate_accuracy(of$x, known_raters = of$known, interval = "robust")
    compare_systems(estimate)
  })
})

test_that("results say what they assume", {
  local_reproducible_output(width = 80)
  of <- calibrated_example()
  estimate <- estimate_accuracy(of$x, known_raters = of$known)
  expect_snapshot({
    estimate
    estimate_accuracy(of$x, known_raters = of$known, by = version)
    may_say(estimate)
    writeLines(strwrap(may_say(estimate, "methods")))
    estimate$fit
  })
})

test_that("a judge whose rates are known estimates constant systems, too", {
  x <- calibrated_example()$x
  known <- list(judge = matrix(c(0.9, 0.1, 0.05, 0.95), 2, byrow = TRUE))
  estimate <- estimate_accuracy(x, known_raters = known)
  expect_equal(tidy(estimate)$estimate, (0.8 - 0.1) / 0.85, tolerance = 1e-6)
  fit <- fit_raters(x, known_raters = known)
  expect_equal(tidy(estimate)$conf.low, confint(fit, "base_rate[pass]", 0.9)[[1]])
  expect_equal(tidy(estimate_accuracy(fit)), tidy(estimate))
  groups <- estimate_accuracy(x, known_raters = known, by = version)
  new <- x[which(x$covariates$version == "new"), ]
  expect_equal(
    tidy(groups[["new"]])$estimate, tidy(estimate_accuracy(new, known_raters = known))$estimate
  )
  # All called "pass" by a judge who misses some: on a boundary.
  all <- estimate_accuracy(new, known_raters = known)
  expect_match(tidy(all)$reason, "the estimate is 0 or 1")
  expect_output(print(estimate), "judge has the known error rates on these cases")
  expect_error(compare_systems(estimate), class = "fallible_error_argument")
})

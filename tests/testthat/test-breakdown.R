breakdown_of <- function(estimate, better_than, systems = NULL,
                         bounds = accuracy_bounds(estimate, interval = "none")) {
  tidy(bounds, "breakdown", better_than = better_than, systems = systems)
}

breakdown_panel <- function() {
  set.seed(1)
  simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, 300))
}

test_that("the breakdown point is where the claim stops to hold", {
  estimate <- quiet(estimate_accuracy(breakdown_panel(), "joint", interval = "none"))
  table <- tidy(estimate)
  middle <- with(table[1, ], (shared + 3 * independent) / 4)
  found <- breakdown_of(estimate, middle, "a")
  expect_equal(found$breakdown, 0.25)
  expect_identical(found$from, 0)
  at <- with(table[1, ], independent - found$breakdown * (independent - shared))
  expect_equal(at, middle)
  expect_identical(breakdown_of(estimate, table$shared[[1]] - 0.01, "a")$breakdown, 1)
  none <- breakdown_of(estimate, 0.99)
  expect_identical(none$breakdown, c(NA_real_, NA_real_))
  expect_match(none$reason, "holds for no amount of shared errors", all = TRUE)
})

test_that("whether it holds at the lowest accuracy is told", {
  x <- breakdown_panel()
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none"))
  bounds <- accuracy_bounds(estimate, interval = "none")
  lowest <- tidy(bounds)$lowest[[1]]
  expect_true(breakdown_of(estimate, lowest - 0.01, "a", bounds)$holds_at_lowest)
  expect_false(breakdown_of(estimate, lowest + 0.01, "a", bounds)$holds_at_lowest)
  expect_equal(breakdown_of(estimate, 0.5, "a")$lowest, lowest - 0.5)
})

test_that("systems are compared with systems and with raters", {
  x <- breakdown_panel()
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none"))
  table <- tidy(estimate)
  found <- breakdown_of(estimate, "b")
  expect_identical(found$system, "a")
  expect_equal(found$independent, table$independent[[1]] - table$independent[[2]])
  bounds <- accuracy_bounds(estimate, interval = "none")
  expect_identical(found$lowest, bounds$differences$lowest)
  expect_identical(breakdown_of(estimate, "a")$lowest, -bounds$differences$highest)
  own <- quiet(fit_raters(x, rater_model("rater")))
  rater <- stats::coef(own)[["rater_accuracy[rater3]"]]
  expect_equal(
    breakdown_of(estimate, "rater3")$independent, table$independent - rater, tolerance = 1e-6
  )
  of_own <- quiet(estimate_accuracy(own, "joint", interval = "none"))
  expect_equal(
    breakdown_of(of_own, "rater3")$shared, tidy(of_own)$shared - rater, tolerance = 1e-6
  )
})

test_that("a claim that only shared errors support holds from a point on", {
  expect_equal(
    where_claim_holds(c(-0.1, 0.1, 0.1, NA), c(0.3, -0.3, 0.2, 0.1))[1:2],
    list(from = c(0.25, 0, 0, NA), to = c(1, 0.25, 1, NA))
  )
})

test_that("claims that cannot be judged are refused", {
  estimate <- quiet(estimate_accuracy(lehner_ratings(), "joint", interval = "none"))
  expect_snapshot(error = TRUE, {
    tidy(accuracy_bounds(lehner_ratings(), interval = "none"), "breakdown", better_than = 0.5)
    tidy(accuracy_bounds(estimate, interval = "none"), "breakdown")
    breakdown_of(estimate, "nobody")
    breakdown_of(estimate, 1.5)
    breakdown_of(estimate, "system")
  })
  binned <- quiet(estimate_accuracy(lehner_ratings(), "binned", interval = "none"))
  expect_match(breakdown_of(binned, 0.5)$reason, "are unknown")
})

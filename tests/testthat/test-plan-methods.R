test_that("a plan prints its story", {
  withr::local_options(fallible.quiet = TRUE) # no progress bars where a machine is slow
  expect_snapshot({
    set.seed(1)
    plan_cases(chance_kappa = 0.3, runs = 20)
    set.seed(1)
    plan_cases(
      rater_design(rep(0.6, 3), 0.8, categories = 3), raters = 2:4, cases = 100,
      cost = c(case = 5, rating = 2), runs = 20
    )
    set.seed(1)
    plan_cases(
      rater_design(c(0.5, 0.6, 0.7), dispersion = 2), estimator = "binned", runs = 60
    )
    set.seed(1)
    x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8), 3, n = 40))
    plan_cases(x, estimator = "unbinned", runs = 60)
  })
})

settled <- function(..., cases = 20, runs = 20) {
  withr::with_seed(1, plan_cases(..., cases = cases, estimator = "unbinned", runs = runs))
}

test_that("a plan says that the default method of estimates may need more", {
  plan <- plan_cases(chance_kappa = 0.3, cases = 20, runs = 20)
  expect_match(notes_of(plan), "estimator = \"average\"", fixed = TRUE, all = FALSE)
  chosen <- plan_cases(rater_accuracy = 0.7, cases = 20, estimator = "unbinned", runs = 20)
  expect_no_match(notes_of(chosen), "estimator =", fixed = TRUE)
  for (x in list(plan, chosen)) expect_output(print(x), "shared errors, which more")
})

test_that("a plan from an estimate is the plan from its ratings", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8), 3, n = 40)))
  estimate <- quiet(estimate_accuracy(x))
  expect_equal(tidy(settled(estimate)), tidy(settled(x)))
  plan <- function(x) {
    withr::with_seed(1, plan_cases(x, agreement = "fleiss_kappa", cases = 40, runs = 20))
  }
  expect_equal(tidy(plan(estimate)), tidy(plan(x)))
})

test_that("tables have their columns", {
  plan <- settled(chance_kappa = 0.3, raters = 2:3)
  expect_named(tidy(plan), c(
    "raters", "cases", "std.error", "probability", "probability_mcse", "lowest", "half_width",
    "half_width_mcse", "bias", "ratings", "cost", "cheapest", "reason"
  ))
  expect_identical(as.list(as.data.frame(plan, what = "curve")), as.list(tidy(plan, "curve")))
  expect_named(tidy(plan, "curve"), c(
    "raters", "cases", "probability", "probability_mcse", "lowest", "half_width",
    "half_width_mcse", "bias", "missing", "runs"
  ))
  size <- glance(plan)
  expect_equal(size$chance_kappa, 0.3)
  expect_identical(size$runs, 20L)
  enough <- glance(settled(chance_kappa = 0.3, half_width = 0.9))
  expect_identical(enough[c("raters", "cases")], tibble::tibble(raters = 3L, cases = 20))
})

test_that("update() changes what it is given", {
  plan <- settled(chance_kappa = 0.3)
  narrow <- withr::with_seed(1, update(plan, half_width = 0.05))
  own <- settled(chance_kappa = 0.3, half_width = 0.05)
  expect_identical(tidy(narrow), tidy(own))
  expect_null(update(plan, rater_accuracy = 0.6)$arguments$chance_kappa)
  expect_error(update(plan, margins = 0.05), class = "fallible_error_argument")
})

test_that("the paper's advice is told where it applies, and judged", {
  said <- function(...) {
    format_advice(settled(..., system_accuracy = 0.5))
  }
  expect_match(said(chance_kappa = 0.3), "at least 200 cases")
  strong <- said(chance_kappa = 0.55, cases = 90, runs = 60)
  expect_match(strong, "100 cases are sufficient.* probability 0.9")
  expect_null(said(chance_kappa = 0.3, half_width = 0.05))
  expect_null(said(chance_kappa = 0.3, raters = 4))
  expect_null(said(chance_kappa = 0.42))
})

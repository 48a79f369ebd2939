quick <- function(design = NULL, ..., rater_accuracy = 0.7, system_accuracy = 0.8, runs = 100) {
  withr::with_seed(1, plan_cases(
    design, rater_accuracy = rater_accuracy, system_accuracy = system_accuracy,
    estimator = "unbinned", runs = runs, ...
  ))
}

test_that("the smallest number of cases is what a study of its own finds enough", {
  plan <- quick(runs = 400)
  answer <- tidy(plan)
  expect_gte(answer$probability, 0.9 - 1e-6)
  set.seed(2)
  study <- simulation_study(
    rater_design(rep(0.7, 3), 0.8), "unbinned", runs = 2000, n = answer$cases
  )
  direct <- summary(study)
  direct <- direct[direct$target == "expected", ]
  apart <- (direct$within - answer$probability) /
    sqrt(direct$within_mcse^2 + answer$probability_mcse^2)
  expect_lt(abs(apart), 3.5)
  # And a number well below is not enough.
  set.seed(3)
  study <- simulation_study(
    rater_design(rep(0.7, 3), 0.8), "unbinned", runs = 2000, n = round(0.6 * answer$cases)
  )
  below <- summary(study)$within[[1]]
  expect_lt(below, 0.9 - 3 * summary(study)$within_mcse[[1]])
})

test_that("what is kept of panels is what a study says of them", {
  plan <- quick(cases = 40, half_width = 0.15)
  set.seed(1)
  study <- simulation_study(
    rater_design(rep(0.7, 3), c(`system 0.8` = 0.8)), "unbinned", runs = 100, n = 40,
    panels = "same"
  )
  expected <- summary(study, margin = 0.15)[1, ]
  answer <- tidy(plan)
  expect_equal(answer$probability, expected$within)
  expect_equal(answer$probability_mcse, expected$within_mcse)
  expect_equal(answer$bias, expected$bias)
  expect_equal(answer$lowest, expected$within)
  error <- abs(tidy(study)$estimate - tidy(study)$expected)
  expect_equal(answer$half_width, sort(error)[[90]])
})

test_that("a plan of a difference is that of a study's differences", {
  plan <- quick(cases = 40, half_width = 0.1, system_accuracy = c(0.8, 0.7, 0.6), of = "difference")
  set.seed(1)
  study <- simulation_study(
    rater_design(rep(0.7, 3), c(`system 0.8` = 0.8, `system 0.7` = 0.7, `system 0.6` = 0.6)),
    "unbinned", runs = 100, n = 40, panels = "same"
  )
  runs <- tidy(study, "estimates")
  error <- matrix(runs$estimate - runs$expected, 3)
  error <- abs(sweep(-error[-1, ], 2, error[1, ], `+`))
  answer <- tidy(plan)
  expect_equal(answer$probability, mean(error <= 0.1))
  expect_equal(answer$lowest, min(rowMeans(error <= 0.1)))
  expect_equal(answer$half_width, sort(error)[[180]])
  expect_output(print(plan), "true difference of 0.151 is detected")
  expect_identical(update(plan, of = "accuracy")$settings$of, "accuracy")
  expect_error(quick(of = "difference"), class = "fallible_error_argument")
  expect_error(quick(of = "recall"), class = "fallible_error_argument")
})

test_that("plans are monotone in margin, probability, accuracy and numbers of cases", {
  fewer <- function(x) expect_true(all(diff(x) < 0))
  at <- function(what, ...) tidy(quick(cases = 50, ...))[[what]]
  fewer(-vapply(c(0.04, 0.07, 0.12), function(m) at("probability", half_width = m), 0))
  fewer(vapply(c(0.95, 0.9, 0.8), function(p) at("half_width", conf_level = p), 0))
  fewer(vapply(c(0.4, 0.6, 0.95), function(a) at("half_width", rater_accuracy = a), 0))
  fewer(at("half_width", raters = c(2, 4, 10)))
  narrow <- quick(half_width = 0.08)
  wide <- quick(half_width = 0.14)
  expect_gt(tidy(narrow)$cases, tidy(wide)$cases)
  expect_gt(tidy(narrow)$cases, tidy(update(narrow, rater_accuracy = 0.9))$cases)
  curve <- tidy(narrow, "curve")
  expect_true(all(diff(curve$cases) > 0))
  expect_true(all(diff(curve$probability) > -2 * curve$probability_mcse[-1]))
  expect_gt(diff(range(curve$probability)), 0.2)
})

test_that("kappa and rater accuracy are two ways to say the same", {
  kappa <- (0.7^2 + 0.3^2 / 4 - 0.2) / 0.8
  by_accuracy <- quick(runs = 60)
  by_kappa <- update(by_accuracy, chance_kappa = kappa)
  expect_equal(glance(by_accuracy)$chance_kappa, kappa)
  expect_equal(glance(by_kappa)$rater_accuracy, 0.7)
  same <- function(x) tidy(withr::with_seed(1, update(x, runs = 60)))
  expect_equal(same(by_kappa), same(by_accuracy))
  # Also under violations.
  design <- rater_design(rep(0.7, 3), difficulty = 0.2, dispersion = 2, error_range = 1)
  violated <- quick(design, cases = 30, runs = 60)
  back <- update(violated, chance_kappa = glance(violated)$chance_kappa)
  expect_equal(glance(back)$rater_accuracy, 0.7)
  expect_gt(glance(violated)$chance_kappa, kappa)
})

test_that("the same seed gives the same plan, for any number of threads", {
  one <- quick(raters = 2:3, runs = 40)
  withr::with_options(list(mc.cores = 4), two <- quick(raters = 2:3, runs = 40, threads = 2))
  expect_identical(tidy(two), tidy(one))
  expect_identical(tidy(two, "curve"), tidy(one, "curve"))
  expect_false(identical(tidy(update(one, runs = 40), "curve"), tidy(one, "curve")))
})

test_that("what bias keeps out of reach is NA, with the best there is", {
  set.seed(4)
  design <- rater_design(
    c(0.3, 0.4, 0.5), 0.9, difficulty = 0.2, dispersion = 2, error_range = 1
  )
  plan <- plan_cases(design, estimator = "binned", runs = 60, cases = c(2, 2000))
  answer <- tidy(plan)
  expect_identical(answer$cases, NA_real_)
  expect_match(answer$reason, "more cases do not help")
  expect_lt(answer$probability, 0.5)
  curve <- tidy(plan, "curve")
  expect_identical(answer$probability, max(curve$probability[curve$cases %in% c(
    curve$cases[curve$probability == answer$probability]
  )]))
  expect_identical(max(curve$cases), 2000)
  expect_lt(answer$bias, -0.1)
  expect_false(answer$cheapest)
  expect_identical(glance(plan)$cases, NA_real_)
  expect_output(print(plan), "Not reached with 3 raters: more cases do not help")
})

test_that("where the limit on cases is too low it is that", {
  plan <- quick(half_width = 0.02, cases = c(2, 200))
  expect_identical(tidy(plan)$cases, NA_real_)
  expect_match(tidy(plan)$reason, "200 cases, the largest number tried, are too few", fixed = TRUE)
  expect_output(print(plan), "Not reached with 3 raters: 200 cases")
})

test_that("with cases settled, raters are what is planned", {
  plan <- quick(rater_accuracy = 0.6, raters = c(2, 4, 8), cases = 60)
  answer <- tidy(plan)
  expect_identical(answer$cases, rep(60, 3))
  expect_true(all(diff(answer$probability) > 0))
  enough <- answer$probability >= 0.9
  expect_true(any(enough) && !all(enough))
  expect_identical(is.na(answer$reason), enough)
  expect_identical(answer$raters[answer$cheapest], min(answer$raters[enough]))
  expect_identical(glance(plan)$raters, min(answer$raters[enough]))
})

test_that("costs choose among raters and cases", {
  cheap <- function(...) quick(rater_accuracy = 0.6, raters = c(2, 5), runs = 60, ...)
  free_cases <- cheap()
  dear_cases <- cheap(cost = c(case = 50))
  expect_lt(glance(free_cases)$raters, glance(dear_cases)$raters)
  table <- tidy(dear_cases)
  expect_equal(table$cost, table$cases * (50 + table$raters))
  expect_identical(which(table$cheapest), which.min(table$cost))
  missing <- quick(rater_design(rep(0.7, 3), 0.8, missing = 0.5), cases = 40)
  expect_equal(tidy(missing)$ratings, 0.5 * 3 * 40)
  expect_gt(tidy(missing)$half_width, tidy(quick(cases = 40))$half_width)
})

test_that("any function of ratings can be planned for", {
  skip_unless_extended()
  sample_accuracy <- function(x) true_accuracy(x)$sample
  set.seed(5)
  plan <- plan_cases(
    rater_accuracy = 0.8, system_accuracy = 0.5, cases = 60, estimator = sample_accuracy, runs = 40
  )
  exact <- sum(dbinom(0:60, 60, 0.5)[abs(0:60 / 60 - 0.5) <= 0.1 + 1e-9])
  expect_lt(abs(tidy(plan)$probability - exact), 3.5 * sqrt(exact * (1 - exact) / 40))
  expect_error(
    plan_cases(rater_accuracy = 0.8, estimator = function(x) stop("no"), runs = 20),
    class = "fallible_error_argument"
  )
})

test_that("estimates that are missing are not within any margin", {
  never <- function(x) rep(NA_real_, length(x$systems))
  plan <- plan_cases(rater_accuracy = 0.8, cases = 20, estimator = never, runs = 20)
  answer <- tidy(plan)
  expect_identical(answer$probability, 0)
  expect_gt(answer$probability_mcse, 0)
  expect_identical(answer$half_width, NA_real_)
  expect_identical(answer$bias, NA_real_)
  expect_identical(unique(tidy(plan, "curve")$missing), 1)
})

copied <- function() {
  rater_design(
    c(0.6, 0.6, 0.6), c(a = 0.8, b = 0.7), 3,
    copying = data.frame(from = 1, to = 2, probability = 0.5),
    matrices = list(rater3 = matrix(c(8, 1, 1, 1, 8, 1, 1, 1, 8) / 10, 3))
  )
}

test_that("what cannot be planned is refused", {
  expect_snapshot(error = TRUE, {
    plan_cases()
    plan_cases(chance_kappa = 0.3, rater_accuracy = 0.6)
    plan_cases(chance_kappa = 0)
    plan_cases(rater_design(c(0.6, 0.6), difficulty = 0.2), chance_kappa = 0.01)
    plan_cases(rater_accuracy = 0.2)
    plan_cases(rater_accuracy = 1.2)
    plan_cases(chance_kappa = 0.3, half_width = 0)
    plan_cases(chance_kappa = 0.3, conf_level = 1)
    plan_cases(chance_kappa = 0.3, raters = 1)
    plan_cases(chance_kappa = 0.3, raters = integer())
    plan_cases(chance_kappa = 0.3, system_accuracy = 2)
    plan_cases(chance_kappa = 0.3, cases = 1)
    plan_cases(chance_kappa = 0.3, cases = c(200, 100))
    plan_cases(chance_kappa = 0.3, cases = 2:4)
    plan_cases(chance_kappa = 0.3, cost = c(rating = -1))
    plan_cases(chance_kappa = 0.3, cost = 5)
    plan_cases(chance_kappa = 0.3, half_width = 1e-300)
    plan_cases(chance_kappa = 0.3, estimator = "bined")
    plan_cases(chance_kappa = 0.3, estimator = c("binned", "joint"))
    plan_cases(chance_kappa = 0.3, runs = 0)
    plan_cases(0.3)
    plan_cases(rater_design(c(0.2, 0.2)))
    plan_cases(copied(), raters = 4)
  })
  expect_error(plan_cases(chance_kappa = 2), class = "fallible_error_argument")
})

test_that("a design is planned for as it is, copying and matrices included", {
  plan <- withr::with_seed(1, plan_cases(copied(), estimator = "unbinned", cases = 40, runs = 30))
  set.seed(1)
  study <- simulation_study(copied(), "unbinned", runs = 30, n = 40, panels = "same")
  within <- abs(tidy(study)$estimate - tidy(study)$expected) <= 0.1 + 1e-9
  expect_equal(tidy(plan)$probability, mean(within))
  expect_identical(tidy(plan)$raters, 3L)
  expect_output(print(plan), "0.6, 0.6, 0.8|0.600, 0.600, 0.800")
  expect_output(print(plan), "rater2 repeats 50% of the answers of rater1")
})

test_that("arguments replace what a design says", {
  design <- rater_design(c(0.9, 0.5, 0.7), c(a = 0.8), 3, missing = 0.2)
  answer <- function(...) {
    tidy(withr::with_seed(1, plan_cases(..., cases = 20, runs = 20, estimator = "unbinned")))
  }
  alike <- rater_design(rep(0.7, 3), c(a = 0.8), 3, missing = 0.2)
  expect_equal(answer(design, rater_accuracy = 0.7), answer(alike))
  kappa <- (0.49 + 0.09 / 2 - 1 / 3) / (2 / 3)
  expect_equal(answer(design, chance_kappa = kappa), answer(alike))
  expect_equal(answer(alike, system_accuracy = c(0.6, 0.9)), answer(
    rater_design(rep(0.7, 3), c(0.6, 0.9), 3, missing = 0.2)
  ))
  plan <- plan_cases(design, raters = 2:4, cases = 20, runs = 20, estimator = "unbinned")
  expect_identical(unname(plan$settings$designs[[2]]$raters), unname(design$raters))
  expect_equal(sort(unname(plan$settings$designs[[1]]$raters)), spread_accuracies(
    c(0.9, 0.5, 0.7), 2
  ))
})

test_that("numbers of cases are looked for between the ends", {
  plan <- quick(cases = c(500, 2000), runs = 20)
  expect_identical(tidy(plan)$cases, 500)
})

test_that("any number of cases has a tiny probability", {
  expect_identical(tidy(quick(conf_level = 1e-300, runs = 20))$cases, 2)
})

test_that("a plan for agreement needs a pilot", {
  expect_error(plan_cases(agreement = "fleiss_kappa"), "pilot", class = "fallible_error_argument")
})

# Rows whose robust error is `sampling` alone.
sets_of <- function(family, miss, sampling = 0.1) {
  data.frame(
    family = family, kind = "crowd", estimate = 0.5, truth = 0.5 + miss, sampling = sampling,
    gap = 0, dependence_weight = 0, rater_error = 0.2, base_rate_range = 0, open_share = 1
  )
}

test_that("of families each has the same mass, and so has infinity", {
  sets <- sets_of(letters[1:9], (1:9) / 100)
  expect_equal(calibrate_interval(sets, 0.9)$factor, 0.9)
  expect_equal(calibrate_interval(sets, 0.8)$factor, 0.8)
  expect_identical(calibrate_interval(sets, 0.91)$factor, Inf)
  # Many systems in a family count no more than one.
  many <- rbind(sets, sets_of("a", rep(0.4, 99)))
  expect_equal(calibrate_interval(many, 0.7)$factor, 0.8)
  expect_equal(calibrate_interval(many, 0.9)$factor, 4)
})

test_that("scores are in standard errors of the robust interval", {
  sets <- sets_of(letters[1:9], 0.1)
  sets$dependence_weight <- 0.5
  sets$gap <- 0.2
  error <- sqrt(0.1^2 + 0.5 * (0.04^2 + (0.25 * 0.2)^2 + (0.5 * 0.2)^2))
  expect_equal(calibrate_interval(sets, 0.9)$factor, 0.1 / error)
})

test_that("intervals cover a new family as often as was promised", {
  set.seed(1)
  covered <- replicate(400, {
    families <- 20
    size <- sample(5, families, replace = TRUE)
    bias <- rep(rnorm(families, sd = 0.1 * rexp(families)), size)
    sets <- sets_of(rep(seq_len(families), size), bias + rnorm(sum(size), sd = 0.1))
    new <- rnorm(1, sd = 0.1 * rexp(1)) + rnorm(1, sd = 0.1)
    abs(new) <= 0.1 * calibrate_interval(sets, 0.9)$factor
  })
  expect_gt(mean(covered), 0.9 - 3 * sqrt(0.09 / 400))
})

test_that("conformal intervals are robust ones with that factor, of sets of the same kind", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.65, 0.7, 0.8), c(a = 0.6, b = 0.7), 3, 300))
  robust <- tidy(quiet(estimate_accuracy(x)))
  found <- quiet(estimate_accuracy(x, interval = "conformal"))
  table <- tidy(found)
  factor <- calibrate_interval(reference_sets, 0.9)$factor
  expect_identical(table$std.error, robust$std.error)
  expect_equal(table$conf.low, pmax(0, table$estimate - factor * table$std.error))
  expect_output(print(found), "Interval .conformal.:")
  withr::local_options(
    fallible.reference_sets = sets_of(letters[1:9], 0.3)
  )
  mine <- tidy(quiet(estimate_accuracy(x, interval = "conformal")))
  expect_equal(mine$conf.low, pmax(0, mine$estimate - 3 * mine$std.error))
  # Nobody knows how it went with models.
  x$rater_kind <- "model"
  guess <- tidy(quiet(estimate_accuracy(x, interval = "conformal")))
  expect_equal(c(guess$conf.low, guess$conf.high), c(0, 0, 1, 1))
})

test_that("differences of conformal estimates have errors that are as much wider", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.65, 0.7, 0.8), c(a = 0.6, b = 0.7), 3, 120))
  withr::local_options(fallible.reference_sets = sets_of(letters[1:9], 0.3))
  for (method in c("average", "binned")) {
    told <- function(interval) {
      set.seed(3)
      estimate <- quiet(estimate_accuracy(x, method, interval = interval, resampling = list(replicates = 60)))
      list(estimate = estimate, comparison = quiet(compare_systems(estimate)))
    }
    robust <- told("robust")
    found <- told("conformal")
    wider <- 3 / stats::qnorm(0.95)
    expect_identical(tidy(found$estimate)$std.error, tidy(robust$estimate)$std.error)
    expect_equal(
      tidy(found$comparison)$std.error, wider * tidy(robust$comparison)$std.error
    )
    doubt <- function(one) abs(tidy(one$comparison)$probability - 0.5)
    expect_lt(doubt(found), doubt(robust))
    expect_output(print(found$comparison), "allowance for shared")
  }
  # Nobody knows how it went with models.
  x$rater_kind <- "model"
  unknown <- told("conformal")$comparison
  expect_match(tidy(unknown)$reason, "no interval is wide enough")
  expect_identical(tidy(unknown)$conf.low, NA_real_)
  expect_output(print(unknown), "wide\\s+enough")
})

test_that("sets that cannot be used are refused", {
  refused <- function(...) {
    expect_error(calibrate_interval(...), class = "fallible_error_argument")$arg
  }
  expect_identical(refused(1), "sets")
  expect_identical(refused(reference_sets[-1]), "sets")
  lacking <- reference_sets
  lacking$truth[[2]] <- NA
  expect_identical(refused(lacking), "sets")
  expect_identical(refused(reference_sets, 1), "conf_level")
})

test_that("print tells what the factor rests on", {
  expect_output(print(calibrate_interval(reference_sets, 0.9)), "systems of 19 families")
  few <- calibrate_interval(sets_of("a", 0.1), 0.9)
  expect_output(print(few), "no\\s+interval is wide enough")
})

test_that("a system whose replicates do not vary is compared without interval, with a reason", {
  x <- ratings(
    data.frame(r1 = c("b", "b"), r2 = "b", r3 = "b", s1 = "b", s2 = c("b", "a")),
    raters = r1:r3, systems = c(s1, s2), categories = c("a", "b")
  )
  for (interval in c("conformal", "robust")) {
    estimate <- quiet(estimate_accuracy(x, "shared", k_model(), interval = interval))
    found <- tidy(quiet(compare_systems(estimate)))
    expect_true(is.na(found$conf.low) && !is.na(found$reason), info = interval)
  }
})

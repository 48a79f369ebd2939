pair_models <- function() Filter(function(model) model$errors != "free", models())

test_that("what is made least is the sum of squares of a slow twin", {
  set.seed(1)
  x <- quiet(panel(60, dispersion = 2, difficulty = 0.2, missing = 0.2))
  for (model in pair_models()) {
    fit <- fit_raters(x, model, method = "pairs")
    expect_equal(-2e-4 * fit$log_posterior, slow_pairs(fit), tolerance = 1e-7)
  }
})

test_that("fits are least: no step from them gains", {
  set.seed(2)
  x <- panel(200, dispersion = 2, difficulty = 0.2)
  for (model in pair_models()[1:4]) {
    fit <- fit_raters(x, model, method = "pairs")
    for (step in c(-0.01, 0.01)) {
      moved <- fit
      moved$base_rates <- fit$base_rates + step * c(1, -1, 0, 0)
      expect_gt(slow_pairs(moved), slow_pairs(fit))
      moved <- fit
      moved$matrices <- fit$matrices * (1 - step / 0.4)
      for (k in 1:4) moved$matrices[, k, k] <- 1 - rowSums(moved$matrices[, k, -k])
      expect_gt(slow_pairs(moved), slow_pairs(fit))
    }
  }
})

test_that("exact frequencies give the truth", {
  x <- exact_ratings(c(0.5, 0.6, 0.7), 0.9, dispersion = 2)
  fit <- fit_raters(x, rater_model("rater", "distance"), method = "pairs")
  expect_equal(
    unname(coef(fit)), c(0.5, 0.6, 0.7, rep(0.2, 5), 2),
    tolerance = 1e-4
  )
  x <- exact_ratings(c(0.5, 0.6, 0.7), 0.9, dispersion = 2, system_dispersion = 2)
  fit <- fit_raters(x, rater_model("rater", "distance"), method = "pairs")
  expect_equal(point_estimate(fit, method = "joint"), 0.9, tolerance = 1e-4)
  expect_true(is.na(tidy(fit)$std.error[[1]]))
})

test_that("standard errors are the spread of estimates", {
  skip_unless_nightly()
  skip_on_cran()
  set.seed(3)
  design <- rater_design(
    c(0.6, 0.7, 0.8), NULL, 3, 400,
    base_rates = c(0.5, 0.3, 0.2), dispersion = 2, missing = 0.2
  )
  fits <- lapply(1:300, function(i) {
    tidy(fit_raters(simulate_ratings(design), rater_model("rater", "distance"), method = "pairs"))
  })
  estimate <- vapply(fits, `[[`, double(7), "estimate")
  error <- vapply(fits, `[[`, double(7), "std.error")
  inside <- colSums(is.na(error)) == 0
  expect_gt(mean(inside), 0.95)
  # A standard deviation of 300 values is known to 4%, that of the skewed dispersion less well.
  spread <- apply(estimate[, inside], 1, stats::sd) / sqrt(rowMeans(error[, inside]^2))
  expect_lt(max(abs(spread[1:6] - 1)), 0.17)
})

test_that("ratings of one rater are not compared with each other", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  fit <- fit_raters(x, rater_model("rater", "distance"), method = "pairs")
  expect_equal(-2e-4 * fit$log_posterior, slow_pairs(fit), tolerance = 1e-7)
})

test_that("there is no likelihood, but the rest of a fit", {
  x <- lehner_ratings()
  fit <- fit_raters(x, method = "pairs")
  truth <- as.matrix(ground_truth(fit)[-1])
  joint <- slow_joint(fit)
  expect_lt(max(abs(truth - joint / rowSums(joint))), 1e-8)
  set.seed(4)
  estimate <- estimate_accuracy(fit, "joint", interval = "bootstrap", resampling = list(replicates = 50))
  expect_false(is.na(tidy(estimate)$conf.low))
  expect_snapshot(fit)
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_gt(fit_raters(counted, method = "pairs")$rater_accuracy, 0.5)
})

test_that("what pairs cannot tell apart is known", {
  binary <- data.frame(a = c(1, 2, 1, 2, 2), b = c(1, 2, 2, 2, 1), c = c(1, 1, 1, 2, 2))
  fit <- function(columns, ...) {
    quiet(fit_raters(ratings(binary[columns], raters = tidyselect::everything()),
      rater_model(...), method = "pairs"))$identified
  }
  expect_identical(fit(1:3, "rater"), "yes")
  expect_identical(fit(1:2, "rater"), "yes") # three numbers for three unknowns
  expect_identical(fit(1:2, "rater", "uniform", "strata"), "parameters")
  expect_identical(fit(1:3, "common", "distance"), "parameters")
})

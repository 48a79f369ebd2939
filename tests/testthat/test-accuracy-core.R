x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
setup <- list(method = "joint", known = nothing_known, model = unclass(k_model()))
fitted <- function(setup) core_estimator(x$patterns, pattern_weights(x), setup, function(done) NULL)

test_that("a fitted estimator is asked again and again", {
  pointer <- fitted(setup)
  gc()
  found <- core_estimate(pointer)
  expect_true(found$identified && found$converged && found$iterated)
  expect_identical(core_estimate(pointer), found)
  set.seed(1)
  drawn <- resampling(x, list(replicates = 5L, threads = 1L))
  one <- core_replicates(pointer, "accuracy", drawn, function(done) NULL)
  expect_identical(dim(one), c(5L, 1L))
  expect_identical(core_replicates(pointer, "accuracy", drawn, function(done) NULL), one)
  counts <- core_replicates(pointer, "counts", drawn, function(done) NULL)
  expect_identical(dim(counts), c(5L, 16L))
  expect_equal(rowSums(counts), rep(10, 5))
})

test_that("an estimator of another session, or none, is an error and not a crash", {
  pointer <- unserialize(serialize(fitted(setup), NULL))
  expect_error(core_estimate(pointer), "another R session")
  expect_error(core_replicates(pointer, "accuracy", list(), identity), "another R session")
  expect_error(core_estimate(NULL), "another R session")
})

test_that("methods without a confusion matrix have no replicates of it", {
  none <- list(replicates = 0L, threads = 1L, seed = c(0L, 0L), clusters = NULL)
  binned <- fitted(list(method = "binned", known = nothing_known))
  expect_false(core_estimate(binned)$iterated)
  expect_error(
    core_replicates(binned, "counts", none, function(done) NULL), "no confusion matrix"
  )
})

test_that("the robust error is one formula, system by system", {
  of <- core_robust_error(
    estimate = c(0.8, 0.9), sampling = c(0.03, NA), gap = c(0.2, 0.1), dependence = c(0.5, 0),
    rater_error = c(0.3, 0.3), range = c(0.1, 0.1), open_share = c(1, 0.5),
    kind = c("undeclared", "machines")
  )
  hidden <- 0.5 * (0.04^2 + (0.3 / 4)^2 + (0.2 / 2)^2)
  expect_equal(of$hidden, c(sqrt(hidden), 0.5 * 0.17))
  expect_equal(of$std.error, c(sqrt(0.03^2 + hidden), NA))
  expect_equal(of$centre, c(0.8, 0.9 - 0.5 * 0.25 / 2))
})

test_that("a fit of the core's own models is asked of the core", {
  estimator <- make_estimator(fit_raters(x), method_joint, list())
  expect_identical(compute_estimate(estimator)$systems, core_estimate(fitted(setup))$systems)
})

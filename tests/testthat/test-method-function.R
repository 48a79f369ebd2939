panel <- function(...) {
  set.seed(1)
  simulate_ratings(
    rater_design(c(0.6, 0.7, 0.8), c(a = 0.7, b = 0.9), categories = 3, n = 150, ...)
  )
}

# The share of answers that are the first rater's.
first_rater <- function(x, weights = rep(1, nrow(x))) {
  table <- as.data.frame(x)
  rating <- table$rating[table$rater == x$raters[[1]]]
  answers <- as.data.frame(x, what = "systems")
  shares <- vapply(x$systems, function(s) {
    stats::weighted.mean(answers$prediction[answers$system == s] == rating, weights)
  }, 0)
  data.frame(system = x$systems, estimate = shares)
}

unweighted <- function(x) first_rater(x)

test_that("a function stands in for a method", {
  skip_unless_nightly()
  x <- panel()
  set.seed(2)
  estimate <- estimate_accuracy(x, method = unweighted, resampling = list(replicates = 300))
  expect_equal(tidy(estimate)$estimate, first_rater(x)$estimate)
  p <- first_rater(x)$estimate
  expect_equal(tidy(estimate)$std.error, sqrt(p * (1 - p) / 150), tolerance = 0.15)
  expect_true(all(tidy(estimate)$conf.low < p & tidy(estimate)$conf.high > p))
  expect_identical(unique(tidy(estimate)$method), "own function")
  weighted <- estimate_accuracy(x, method = first_rater, resampling = list(replicates = 300))
  expect_equal(tidy(weighted)$std.error, tidy(estimate)$std.error, tolerance = 0.15)
  expect_output(print(estimate), "own function")
  expect_identical(glance(estimate)$interval, "bootstrap")
  none <- estimate_accuracy(x, method = unweighted, interval = "none")
  expect_true(all(is.na(tidy(none)$conf.low)))
  expect_identical(
    tidy(estimate_accuracy(x, method = unweighted, interval = "none", systems = "b"))$estimate,
    tidy(none)$estimate[[2]]
  )
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(estimate), "ggplot")
})

test_that("replicates of a valid accuracy may be above 1", {
  x <- panel()
  high <- function(x) stats::setNames(0.9 + 2 * (first_rater(x)$estimate - base), x$systems)
  base <- first_rater(x)$estimate
  set.seed(8)
  estimate <- estimate_accuracy(x, method = high, resampling = list(replicates = 100))
  expect_identical(tidy(estimate)$estimate, c(0.9, 0.9))
  expect_false(anyNA(estimate$replicates))
  expect_gt(max(estimate$replicates), 1)
})

test_that("in resampled ratings, copies of a case are different cases", {
  x <- panel()
  calls <- list()
  by_case <- function(x) {
    table <- as.data.frame(x)
    calls[[length(calls) + 1L]] <<- table(table$case)
    expect_identical(anyDuplicated(truth(x)$case), 0L)
    first_rater(x)
  }
  quiet(estimate_accuracy(x, method = by_case, resampling = list(replicates = 3)))
  expect_gte(length(calls), 4L)
  for (ratings_per_case in calls) {
    expect_length(ratings_per_case, 150L)
    expect_true(all(ratings_per_case == 3L))
  }
})

test_that("a package's method as a function gives what the method gives", {
  skip_unless_nightly()
  x <- panel()
  own <- function(x) tidy(estimate_accuracy(x, "unbinned", interval = "none"))
  set.seed(3)
  mine <- tidy(estimate_accuracy(x, method = own, resampling = list(replicates = 200)))
  theirs <- tidy(estimate_accuracy(x, "unbinned", interval = "bootstrap", resampling = list(replicates = 200)))
  expect_equal(mine$estimate, theirs$estimate)
  expect_equal(mine$std.error, theirs$std.error, tolerance = 0.25)
})

test_that("groups and comparisons use its replicates", {
  skip_unless_nightly()
  x <- panel()
  group <- rep(c("p", "q"), length.out = 150)
  set.seed(4)
  groups <- estimate_accuracy(x, method = unweighted, by = group, resampling = list(replicates = 50))
  expect_equal(tidy(groups[["p"]])$estimate, first_rater(x[group == "p", ])$estimate)
  estimate <- estimate_accuracy(x, method = unweighted, resampling = list(replicates = 200))
  difference <- tidy(compare_systems(estimate))
  expect_equal(difference$estimate, -diff(first_rater(x)$estimate))
  expect_false(is.na(difference$conf.low))
  later <- tidy(compare_systems(
    estimate_accuracy(x, method = unweighted, interval = "none", resampling = list(replicates = 200))
  ))
  expect_equal(later$std.error, difference$std.error, tolerance = 0.3)
  turned <- tidy(compare_systems(estimate, systems = c("b", "a")))
  expect_equal(turned$estimate, -difference$estimate)
  expect_equal(turned$std.error, difference$std.error, tolerance = 0.3)
})

test_that("weights count cases", {
  skip_unless_nightly()
  x <- panel()
  twice <- x
  twice <- weigh_patterns(twice, rep(2, 150))
  set.seed(5)
  one <- tidy(estimate_accuracy(x, method = unweighted, resampling = list(replicates = 200)))
  two <- tidy(estimate_accuracy(twice, method = unweighted, resampling = list(replicates = 200)))
  expect_equal(two$std.error * sqrt(2), one$std.error, tolerance = 0.25)
})

test_that("functions that are no methods are refused", {
  x <- panel()
  refused <- function(method, ...) {
    expect_error(
      estimate_accuracy(x, method = method, resampling = list(replicates = 10), ...),
      class = "fallible_error_argument"
    )
  }
  refused(function(x) 1)
  refused(function(x) "a")
  refused(function(x) c(1, Inf))
  refused(unweighted, interval = "robust")
  refused(unweighted, model = k_model())
  refused(unweighted, common = "all")
  expect_error(estimate_accuracy(x[, , character()], method = unweighted))
  expect_error(
    estimate_accuracy(x, method = unweighted, known_truth = c("1" = "a")),
    "known_truth",
    class = "fallible_error_argument"
  )
  expect_error(estimate_accuracy(x, method = function(x) stop("oops")), "oops")
  lacking <- estimate_accuracy(x, method = function(x) c(a = NA, b = 0.5), resampling = list(replicates = 10))
  expect_identical(tidy(lacking)$estimate, c(NA, 0.5))
  expect_identical(tidy(lacking)$reason[[1]], "the estimator returned NA")
  expect_snapshot(error = TRUE, {
    estimate_accuracy(x, method = function(x) c(1, 2, 3))
    estimate_accuracy(x, method = unweighted, interval = "robust")
  })
})

test_that("where a function stops on cases drawn anew, it says of what", {
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 20))
  # Copies of a case have names such as "7.1".
  stops <- function(x) if (any(grepl(".", x$cases, fixed = TRUE))) stop("no {case} twice") else 0.5
  said <- list()
  estimate <- withCallingHandlers(
    estimate_accuracy(x, method = stops, resampling = list(replicates = 20)),
    fallible_warning_bootstrap = function(w) {
      said <<- c(said, conditionMessage(w))
      tryInvokeRestart("muffleWarning")
    }
  )
  expect_match(said[[1L]], "raised an error in 20\\s+bootstrap\\s+replicates")
  expect_match(said[[1L]], "no {case} twice", fixed = TRUE)
  expect_false(any(grepl("agree", unlist(said), fixed = TRUE)))
  expect_match(tidy(estimate)$reason, "most bootstrap replicates gave no estimate")
})

test_that("an estimate by a function does not keep the data twice", {
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(s = 0.8), 2, 5000))
  # A function without the environment and the source of this test.
  rate <- rlang::new_function(rlang::pairlist2(x = ), 0.5, globalenv())
  size <- function(e) length(serialize(e, NULL))
  by_function <- estimate_accuracy(x, method = rate, interval = "none")
  expect_lt(size(by_function), 1.3 * size(estimate_accuracy(x, "shared", interval = "none")))
})

test_that("results of a function must be accuracies of the systems", {
  x <- panel()
  estimate <- function(value, ...) {
    quiet(estimate_accuracy(x, function(x) value, interval = "none", ...))
  }
  for (value in list(c(a = 0.5, b = 1.2), c(-0.1, 0.5), c(0.5, Inf))) {
    expect_error(estimate(value), "outside of [0, 1]", fixed = TRUE,
      class = "fallible_error_argument")
  }
  expect_error(estimate(c(wrong = 0.5), systems = "a"), "names \"wrong\"; systems are \"a\"",
    class = "fallible_error_argument")
  expect_identical(tidy(estimate(c(a = 0.5), systems = "a"))$estimate, 0.5)
  expect_identical(nrow(tidy(estimate(c(1 + 1e-12, NA)))), 2L)
})

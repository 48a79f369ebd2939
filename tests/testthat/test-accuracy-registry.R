# Every pair of the registry, whatever it holds, is either possible or refused in one place.
pairs_of_registry <- function() {
  expand.grid(
    method = names(accuracy_methods), interval = names(accuracy_intervals),
    stringsAsFactors = FALSE
  )
}

test_that("records have all their fields, in their types", {
  flags <- c("posterior", "likelihood", "clips", "bins", "iterated")
  for (method in accuracy_methods) {
    expect_true(all(vapply(method[flags], rlang::is_bool, NA)))
    expect_identical(names(formals(method$estimate)), c("fit", "options", "average"))
    expect_true(method$model %in% c("k", "any", "own"))
    # Others' replicates can be had, and the interval whose draws are taken has draws.
    expect_false(accuracy_methods[[method$stand_in]]$model == "own")
    expect_false(is.null(accuracy_intervals[[method$draws]]$draws))
  }
  for (interval in accuracy_intervals) {
    expect_identical(is.null(interval$find), is.null(interval$uncounted))
  }
})

test_that("a record with a property of the wrong type is refused when it is made", {
  expect_error(new_interval("mine", hidden = NA), "is_bool")
  expect_error(new_interval("mine", find = "robust"), "is.function")
  expect_error(new_interval("mine", spread = "gold"), "spread")
  share <- function(x, ratings_estimates, settings) x
  expect_error(
    new_gold_interval("mine", share, share, "", "", anytime = TRUE, uses_prior = "no"), "uses_prior"
  )
  expect_error(new_metric("mine", NA, "", identity), "is_string")
  expect_error(new_metric("mine", "Mine", "", NULL), "kernel")
  expect_error(new_metric("mine", "Mine", "", identity, lower = 2), "lower < upper")
})

test_that("a pair gives an interval or is refused", {
  skip_unless_nightly()
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8, b = 0.6), 3, 60))
  pairs <- pairs_of_registry()
  for (i in seq_len(nrow(pairs))) {
    pair <- pairs[i, ]
    measures <- !is.null(accuracy_intervals[[pair$interval]]$gold)
    known <- if (measures) list(known_truth = truth(x)[1:20, ], gold_sample = "random")
    run <- function(...) {
      quiet(do.call(estimate_accuracy, c(
        list(x, pair$method, interval = pair$interval, resampling = list(replicates = 10)), known
      )))
    }
    if (measures) {
      expect_error(
        accuracy_estimator(pair$method, interval = pair$interval),
        class = "fallible_error_argument"
      )
    }
    why <- find_combination_error(
      accuracy_methods[[pair$method]], accuracy_intervals[[pair$interval]], k_model(),
      gold = list(kind = "sample")
    )
    if (!is.null(why)) {
      expect_identical(expect_error(run(), class = "fallible_error_argument")$arg, why$arg)
      next
    }
    estimate <- run()
    expect_false(anyNA(tidy(estimate)$estimate))
    expect_identical(anyNA(tidy(estimate)$conf.low), !has_interval(estimate))
    expect_output(print(estimate), format_method(pair$method), fixed = TRUE)
    if (has_interval(estimate)) expect_output(print(estimate), "Interval \\(|Interval: ")
    comparison <- quiet(compare_systems(estimate)) # few resamples may leave the estimate
    expect_false(is.na(tidy(comparison)$std.error))
    if (method_of(estimate)$posterior) {
      expect_s3_class(confusion(estimate), "confusion_estimate")
    } else {
      expect_error(confusion(estimate), class = "fallible_error_argument")
    }
  }
})

test_that("a pair is refused for clusters, fits and models in the same place", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), 0.8, 3, 60))
  refused <- function(...) expect_error(..., class = "fallible_error_argument")$arg
  fit <- fit_raters(x, dawid_skene("weak"))
  for (method in accuracy_methods) {
    if (method$model == "any") next
    expect_identical(refused(estimate_accuracy(fit, method$id)), "method")
    expect_identical(refused(accuracy_estimator(method$id, dawid_skene("weak"))), "model")
  }
  # Intervals of posterior draws are of fits that have draws.
  for (interval in Filter(function(one) !one$drawn, accuracy_intervals)) {
    run <- function() {
      known <- if (!is.null(interval$gold)) list(known_truth = TRUE, gold_sample = "random")
      quiet(do.call(estimate_accuracy, c(list(
        x, "joint", interval = interval$id, resampling = list(replicates = 5, cluster = rep(1:30, 2))
      ), known)))
    }
    if (interval$clusters) {
      expect_s3_class(run(), "accuracy_estimate")
    } else {
      expect_identical(refused(run()), "cluster")
    }
  }
})

test_that("fits of one's own go with methods and intervals that need a posterior alone", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), 0.8, 3, 60))
  fit <- fit_raters(x)
  own <- as_rater_fit(x, ground_truth(fit), rates_of(fit))
  why <- function(method, interval) {
    find_combination_error(accuracy_methods[[method]], accuracy_intervals[[interval]], k_model(), own)
  }
  expect_null(why("shared", "none"))
  expect_identical(why("joint", "none")$arg, "method")
  expect_identical(why("shared", "profile")$arg, "interval")
})

test_that("core_robust_error() adds what is hidden to sampling, for cases whose truth is open", {
  found <- core_robust_error(
    estimate = rep(0.7, 4), sampling = c(0.03, 0.03, 0.03, NA), gap = rep(0.2, 4),
    dependence = c(1, 0.5, 0, 1), rater_error = rep(0.5, 4), range = c(0, 0.6, 0, 0),
    open_share = c(1, 0.5, 1, 1), kind = "people"
  )
  hidden <- c(1, 0.5, 1, 1) *
    sqrt(c(1, 0.5, 0, 1) * (0.04^2 + c(0.125, 0.6 / sqrt(12), 0.125, 0.125)^2 + 0.1^2))
  expect_equal(found$centre, rep(0.7, 4))
  expect_equal(found$hidden, hidden)
  expect_equal(found$std.error, sqrt(c(0.03, 0.03, 0.03, NA)^2 + hidden^2))
})

test_that("names that are compared outside the registry are found", {
  gate <- test_path("..", "..", "tools", "ids.R")
  skip_if_not(file.exists(gate)) # not in the built package
  folder <- withr::local_tempdir()
  known <- c(
    "x$method == \"average\"", "if (\"joint\" != x) y", "x %in% c(\"a\", \"combined\")",
    "ids <- c(\"binned\", \"b\")", "x$interval != \"none\"", "identical(x, \"shared\")",
    "switch(x, f(\"(\", b), profile = 2)", "x == method_joint$id"
  )
  fine <- c(
    "estimate_accuracy(x, method = \"joint\")", "f(switch(x, a = f(shared = 1), b = 2), joint = 2)",
    "# method == \"average\"", "x$clip == \"none\""
  )
  writeLines(c(known, fine), file.path(folder, "zz.R"))
  said <- suppressWarnings(
    system2(file.path(R.home("bin"), "Rscript"), c(gate, folder), stdout = TRUE)
  )
  expect_identical(said[1:8], sprintf("zz.R:%d: %s", 1:8, known))
  expect_match(said[[9]], "^8 places")
})

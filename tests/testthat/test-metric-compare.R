compared_panel <- function() {
  set.seed(1)
  simulate_ratings(rater_design(c(0.7, 0.7, 0.75), c(a = 0.8, b = 0.7, c = 0.72), 3, 150))
}

test_that("a metric that is the accuracy is compared as accuracies are", {
  skip_unless_nightly()
  register_measure("same", "Same", function(table) sum(diag(table)), "table", kind = "metric")
  register_measure("error", "Error", function(table) 1 - sum(diag(table)), "table", better = "low", kind = "metric")
  withr::defer({
    register_measure("same", kernel = NULL, kind = "metric")
    register_measure("error", kernel = NULL, kind = "metric")
  })
  x <- compared_panel()
  for (how in list(
    list("average", resampling = list(replicates = 2000)),
    list("joint", interval = "bootstrap", resampling = list(replicates = 60)),
    list("average", interval = "none", resampling = list(replicates = 2000))
  )) {
    estimate <- quiet(do.call(estimate_accuracy, c(list(x), how)))
    estimate["replicates"] <- list(NULL) # so that both draw theirs
    compare <- function(...) {
      set.seed(2)
      compare_systems(estimate, ...)
    }
    plain <- compare()
    same <- compare(metric = "same")
    error <- compare(metric = "error")
    # The prior of a system counts as two cases; the system has 150.
    expect_equal(tidy(same)$estimate, tidy(plain)$estimate, tolerance = 0.02)
    expect_equal(tidy(same)$std.error, tidy(plain)$std.error, tolerance = 0.02)
    expect_equal(tidy(same, "ranks")[-4], tidy(plain, "ranks")[-4], tolerance = 0.03)
    expect_true(all(is.na(tidy(same, "ranks")$known))) # of accuracies only
    expect_equal(tidy(error, "ranks"), tidy(same, "ranks"))
    expect_equal(tidy(error)$probability, tidy(same)$probability)
    expect_equal(tidy(error)$estimate, -tidy(same)$estimate)
    expect_equal(tidy(error)$conf.low, -tidy(same)$conf.high)
    expect_equal(error$accuracy$estimate, 1 - same$accuracy$estimate)
  }
})

test_that("differences are those of the metrics", {
  estimate <- quiet(estimate_accuracy(compared_panel(), "joint", interval = "bootstrap",
    resampling = list(replicates = 60)))
  cost <- matrix(c(0, 1, 9, 1, 0, 1, 1, 1, 0), 3)
  ids <- c("mcc", "recall", "loss")
  single <- tidy(estimate_metrics(estimate, ids, cost = cost))
  for (id in ids) {
    category <- if (id == "recall") "2"
    found <- compare_systems(estimate, metric = id, category = category, cost = cost)
    own <- single[single$metric == id & single$category %in% (category %||% NA), ]
    own <- own[is.na(own$average), ]
    value <- stats::setNames(own$estimate, own$system)
    expect_equal(tidy(found)$estimate, unname(value[tidy(found)$system1] -
      value[tidy(found)$system2]))
    expect_true(all(tidy(found)$conf.low < tidy(found)$conf.high))
  }
  macro <- compare_systems(estimate, metric = "f_meas", simultaneous = TRUE)
  expect_output(print(macro), "f_meas (macro)", fixed = TRUE)
  expect_match(format(macro), "best by f_meas")
})

test_that("what is not derived is refused", {
  x <- compared_panel()
  joint <- quiet(estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 20)))
  refused <- function(estimate, ...) {
    expect_error(compare_systems(estimate, ...), class = "fallible_error_metric")
  }
  refused(joint, metric = "prevalence")
  refused(joint, metric = "nothing")
  refused(joint, metric = "loss")
  refused(quiet(estimate_accuracy(x, "unbinned", interval = "none")), metric = "mcc")
  refused(quiet(estimate_accuracy(x, known_truth = truth(x)[1:30, ], gold_sample = "random")),
    metric = "mcc")
  expect_error(compare_systems(joint, metric = "mcc", category = "1"),
    class = "fallible_error_argument")
  expect_error(compare_systems(joint, metric = "recall", category = "z"),
    class = "fallible_error_argument")
})

test_that("a metric is compared with a reference, and the lowest cost is the best", {
  withr::local_seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6, c = 0.75), 3, n = 400))
  estimate <- quiet(estimate_accuracy(x))
  cost <- 1 - diag(3)
  found <- compare_systems(estimate, reference = "best", metric = "loss", cost = cost)
  all <- compare_systems(estimate, metric = "loss", cost = cost)
  expect_identical(unique(tidy(found)$system2), "a")
  expect_true(all(tidy(found)$estimate > 0))
  row <- tidy(all)[tidy(all)$system1 == "a" & tidy(all)$system2 == "b", ]
  expect_equal(-row$estimate, tidy(found)$estimate[tidy(found)$system1 == "b"])
  expect_match(format(found), "0 better than a (", fixed = TRUE)
  expect_match(format(found), "2 worse, 0 undecided", fixed = TRUE)
  expect_output(print(found), "Differences of loss")
})

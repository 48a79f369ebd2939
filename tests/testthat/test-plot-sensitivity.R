test_that("estimate and interval are drawn against the share of shared errors", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.5), 3, 100))
  for (method in c("average", "joint", "shared", "unbinned")) {
    estimate <- quiet(estimate_accuracy(x, method, resampling = list(replicates = 50)))
    table <- tidy(estimate)
    layers <- ggplot2::ggplot_build(ggplot2::autoplot(estimate, "sensitivity"))$data
    # A band, the line, bars and marks; or the line, what is not on it, no bar, and marks.
    on_line <- method != "unbinned"
    ends <- layers[[if (on_line) 2L else 1L]]
    expect_setequal(ends$y, c(table$shared, table$independent))
    expect_setequal(ends$x, c(0, 1))
    expect_identical(nlevels(ends$PANEL), 2L)
    points <- layers[[4L]]
    expect_identical(nrow(points), 6L)
    if (on_line) {
      expect_false(anyNA(layers[[1L]]$ymin))
      for (value in table$estimate) expect_lt(min(abs(points$y - value)), 1e-9)
      expect_setequal(stats::na.omit(layers[[3L]]$ymax), table$conf.high)
    } else {
      expect_setequal(layers[[2L]]$yintercept, table$estimate)
    }
  }
})

test_that("a stated share has a mark of its own", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8), 3, 100))
  marks <- sensitivity_marks(quiet(estimate_accuracy(x, common = 0.3)))
  expect_identical(as.character(marks$mark), c("none", "typical", "all", "stated"))
  expect_identical(marks$common[[4]], 0.3)
  expect_identical(which(!is.na(marks$low)), 4L)
})

test_that("estimates without a range say how to get one", {
  skip_if_not_installed("ggplot2")
  x <- lehner_ratings()
  estimate <- quiet(estimate_accuracy(x, "binned", interval = "none"))
  expect_snapshot(error = TRUE, ggplot2::autoplot(estimate, "sensitivity"))
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  lost <- quiet(estimate_accuracy(ratings(chance, raters = a:b, systems = s)))
  expect_error(
    ggplot2::autoplot(lost, "sensitivity"), "by chance", class = "fallible_error_argument"
  )
})

test_that("what known cases measure is a band over all shares, and on no mark", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.5), 3, 100))
  estimate <- quiet(
    estimate_accuracy(x, known_truth = truth(x)[1:40, ], gold_sample = "random")
  )
  plot <- ggplot2::autoplot(estimate, "sensitivity")
  layers <- ggplot2::ggplot_build(plot)$data
  expect_setequal(layers[[2L]]$ymin, tidy(estimate)$conf.low)
  expect_setequal(layers[[2L]]$ymax, tidy(estimate)$conf.high)
  expect_setequal(layers[[3L]]$yintercept, tidy(estimate)$estimate)
  expect_true(all(is.na(sensitivity_marks(estimate)$low)))
  expect_match(plot$labels$subtitle, "estimate with gold cases")
})

test_that("the advice on a range is possible for functions", {
  skip_if_not_installed("ggplot2")
  x <- lehner_ratings()
  estimate <- quiet(estimate_accuracy(x, function(x) 0.5, interval = "none"))
  error <- expect_error(ggplot2::autoplot(estimate, "sensitivity"), "methods that are not functions",
    class = "fallible_error_argument")
  expect_no_match(conditionMessage(error), "own function")
})

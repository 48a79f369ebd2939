test_that("the range from shared to independent is drawn with the estimate in it", {
  skip_if_not_installed("ggplot2")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.5), 3, 100))
  for (method in c("average", "joint", "shared", "unbinned")) {
    estimate <- quiet(estimate_accuracy(x, method, replicates = 50))
    table <- tidy(estimate)
    plot <- ggplot2::autoplot(estimate, "sensitivity")
    band <- ggplot2::layer_data(plot, 1L)
    expect_setequal(band$xmin, pmin(table$shared, table$independent))
    expect_setequal(band$xmax, pmax(table$shared, table$independent))
    expect_setequal(ggplot2::layer_data(plot, 2L)$xmax, table$conf.high)
    points <- ggplot2::layer_data(plot, 3L)$x
    expect_equal(sort(points), sort(c(table$shared, table$independent, table$estimate)))
  }
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

skip_if_not_installed("ggplot2")

test_that("measures are drawn with their intervals", {
  table <- agreement(lehner_ratings())
  plot <- ggplot2::autoplot(table)
  lines <- ggplot2::layer_data(plot, 2)
  points <- ggplot2::layer_data(plot, 4)
  expect_setequal(points$x, table$estimate)
  expect_setequal(lines$xmin, table$conf.low)
  expect_equal(as.integer(points$y[[1]]), nrow(table)) # the first on top
  by <- agreement(lehner_ratings(), c("fleiss_kappa", "gwet_ac"), by_category = TRUE)
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(by), 4)$PANEL), 2L)
  none <- agreement(ratings(matrix(1, 4, 2), categories = 1:2), "cohen_kappa")
  expect_error(ggplot2::autoplot(none), class = "fallible_error_argument")
  pdf(NULL)
  expect_s3_class(plot(table), "ggplot")
  dev.off()
})

test_that("pairs are drawn on both sides of the diagonal", {
  table <- agreement(lehner_ratings(), "cohen_kappa", pairwise = TRUE)
  plot <- ggplot2::autoplot(table)
  expect_identical(nrow(ggplot2::layer_data(plot)), 20L)
  expect_true("-0.07" %in% ggplot2::layer_data(plot, 2)$label)
  several <- agreement(lehner_ratings(), pairwise = TRUE, interval = "none")
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(several))$PANEL), max_maps)
  expect_error(
    ggplot2::autoplot(agreement(lehner_ratings()), type = "pairs"),
    class = "fallible_error_argument"
  )
  both <- agreement(lehner_ratings(), "cohen_kappa", pairwise = TRUE, by_category = TRUE)
  expect_error(ggplot2::autoplot(both), class = "fallible_error_argument")
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(both, "measures"), 4)), 40L)
})

test_that("the agreement chart has rectangles of the marginals and squares of agreement", {
  a <- as.table(rbind(c(20, 5, 0), c(3, 10, 2), c(1, 0, 9)))
  plot <- ggplot2::autoplot(agreement(a), type = "chart")
  area <- with(ggplot2::layer_data(plot, 1), (xmax - xmin) * (ymax - ymin))
  expect_equal(sum(area[4:6]) / sum(area[1:3]), bangdiwala_b(a))
  inside <- ggplot2::layer_data(plot, 1)
  expect_true(all(inside$xmin[4:6] >= inside$xmin[1:3] & inside$xmax[4:6] <= inside$xmax[1:3]))
  expect_error(
    ggplot2::autoplot(agreement(lehner_ratings()), type = "chart"),
    class = "fallible_error_argument"
  )
})

test_that("measures of one title are told apart, and columns that are gone are missed", {
  withr::defer(register_measure("own", kernel = NULL))
  register_measure("own", "Fleiss' kappa", function(counts, weights) 0.5)
  ids <- c("chance_kappa", "fleiss_kappa", "own")
  titles <- c("Kappa against chance 1/N", "Fleiss' kappa (fleiss_kappa)", "Fleiss' kappa (own)")
  expect_identical(unname(measure_titles(ids)), titles)
  x <- lehner_ratings()
  plot <- ggplot2::autoplot(agreement(x, ids, interval = "none"))
  expect_identical(rev(levels(plot$data$label)), titles)
  by <- agreement(x, ids, interval = "none", by_category = TRUE)
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(by), 4)$PANEL), 3L)
  pairs <- agreement(x, ids, interval = "none", pairwise = TRUE)
  expect_length(unique(ggplot2::layer_data(ggplot2::autoplot(pairs))$PANEL), 3L)
  for (table in list(by[names(by) != "category"], pairs[names(pairs) != "rater2"])) {
    expect_error(ggplot2::autoplot(table), "all columns", class = "fallible_error_argument")
  }
  factors <- by
  factors$measure <- factor(by$measure, levels = rev(ids))
  points <- function(table) ggplot2::layer_data(ggplot2::autoplot(table), 4)[c("x", "y", "PANEL")]
  expect_identical(points(factors), points(by))
})

test_that("one measure of several groups is one panel with a row per group", {
  skip_if_not_installed("ggplot2")
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  half <- setNames(rep(c("first", "second"), length.out = nrow(x)), x$cases)
  one <- ggplot2::autoplot(agreement(x, "fleiss_kappa", by = half))
  expect_setequal(as.character(one$data$label), c("first", "second"))
  expect_length(unique(ggplot2::layer_data(one, 2)$PANEL), 1L)
  two <- ggplot2::autoplot(agreement(x, c("fleiss_kappa", "gwet_ac"), by = half))
  expect_length(unique(ggplot2::layer_data(two, 2)$PANEL), 2L)
})

test_that("measures of several variables have a panel per measure, and rows in the order of x", {
  skip_if_not_installed("ggplot2")
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  plot <- ggplot2::autoplot(agreement(list(z = x, a = x[, 1:3]), c("fleiss_kappa", "gwet_ac")))
  layout <- ggplot2::ggplot_build(plot)$layout
  expect_identical(as.character(layout$layout$title), c("Fleiss' kappa", "Gwet's AC1"))
  expect_identical(layout$panel_params[[1L]]$y$get_labels(), c("a", "z")) # z on top
  expect_lt(layout$panel_params[[1L]]$x$continuous_range[[2L]], 0.9)
})

test_that("pictures of several variables have a panel for each variable", {
  panels <- function(result) {
    plot <- ggplot2::autoplot(result)
    layout <- ggplot2::ggplot_build(plot)$layout$layout
    list(variables = as.character(layout$variable), cells = table(ggplot2::layer_data(plot, 2)$PANEL))
  }
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  x <- list(tone = x, topic = x[, 1:3])
  pairs <- panels(agreement(x, "fleiss_kappa", pairwise = TRUE, interval = "none"))
  expect_identical(pairs$variables, c("tone", "topic"))
  expect_identical(as.vector(pairs$cells), c(12L, 6L))
  halves <- setNames(rep(c("first", "second"), length.out = nrow(x$tone)), x$tone$cases)
  for (result in list(
    compare_agreement(x, measures = "fleiss_kappa"),
    compare_agreement(x, measures = "fleiss_kappa", by = halves)
  )) {
    expect_identical(panels(result)$variables, c("tone", "topic"))
  }
})

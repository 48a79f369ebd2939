skip_if_not_installed("ggplot2")

set.seed(7)
crowd <- simulate_crowd(spammers = c(random = 3, constant = 2, copy = 2))
known <- kinds_by_worker(crowd) != "faithful"

test_that("Figure 2 has its votes, shaded by score", {
  ct <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
  plot <- ggplot2::autoplot(ct)
  tiles <- ggplot2::layer_data(plot, 1)
  expect_identical(nrow(tiles), 280L)
  text <- ggplot2::layer_data(plot, 2)
  expect_identical(sum(as.integer(text$label)), sum(crowdtruth2014[-1]))
  # The first unit is on top, and has eleven votes for the sixth annotation.
  expect_identical(as.integer(text$label[text$x == 6 & text$y == 20]), 11L)
  similarity <- ggplot2::layer_data(ggplot2::autoplot(ct, "similarity"), 2)
  expect_identical(nrow(similarity), 14L * 13L)
  expect_error(ggplot2::autoplot(ct, "convergence"), class = "fallible_error_argument")
})

test_that("of many units a choice is drawn, and said", {
  plot <- ggplot2::autoplot(crowdtruth(crowd, "2.0"), max_units = 10)
  expect_identical(nrow(ggplot2::layer_data(plot)), 60L)
  expect_match(plot$labels$subtitle, "10 units of 60, evenly spaced")
})

test_that("workers are points, flagged or not", {
  ct <- crowdtruth(crowd)
  flags <- flag_workers(ct, known = known)
  points <- ggplot2::layer_data(ggplot2::autoplot(ct, "workers", flags = flags))
  expect_identical(nrow(points), 30L)
  expect_equal(points$x, ct$workers$unit_disagreement)
  expect_identical(
    points$colour == plot_colours$accent, flags$workers$flagged
  )
  expect_length(unique(points$shape), 2L)
  by_rule <- ggplot2::layer_data(ggplot2::autoplot(ct, "workers"))
  expect_identical(
    by_rule$colour == plot_colours$accent, flag_workers(ct)$workers$flagged
  )
  one <- flag_workers(ct, weights = c(unit_disagreement = 1))
  expect_error(ggplot2::autoplot(one), class = "fallible_error_argument")
  expect_error(ggplot2::autoplot(ct, "workers", flags = 1), class = "fallible_error_argument")
})

test_that("plot() draws", {
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  ct <- crowdtruth(crowd)
  expect_s3_class(plot(ct), "ggplot")
  flags <- flag_workers(ct)
  expect_s3_class(plot(flags), "ggplot")
  grDevices::dev.off()
})

skip_if_not_installed("ggplot2")

test_that("curves, bands, targets and answers are drawn", {
  set.seed(1)
  plan <- plan_cases(
    rater_accuracy = 0.7, raters = 2:3, system_accuracy = 0.8, estimator = "unbinned", runs = 40
  )
  curve <- tidy(plan, "curve")
  for (type in c("probability", "half_width")) {
    drawn <- ggplot2::ggplot_build(ggplot2::autoplot(plan, type = type))$data
    shown <- curve[!is.na(curve[[type]]), ]
    expect_equal(drawn[[1]]$yintercept, if (type == "probability") 0.9 else 0.1)
    ribbon <- drawn[[2]]
    error <- shown[[paste0(type, "_mcse")]]
    expect_equal(
      sort(ribbon$ymax), sort(pmin(shown[[type]] + 2 * error, 1)), tolerance = 1e-6
    )
    expect_equal(sort(10^drawn[[4]]$x), sort(shown$cases))
    expect_equal(sort(10^drawn[[5]]$x), sort(tidy(plan)$cases))
  }
})

test_that("nothing unreached is marked", {
  set.seed(1)
  plan <- plan_cases(
    rater_accuracy = 0.7, system_accuracy = 0.8, estimator = "unbinned", cases = c(2, 10), runs = 20
  )
  drawn <- ggplot2::ggplot_build(ggplot2::autoplot(plan))$data
  expect_identical(drawn[[5]]$x, NA_real_)
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  expect_s3_class(plot(plan, type = "half_width"), "ggplot")
  grDevices::dev.off()
  expect_error(ggplot2::autoplot(plan, type = "width"), class = "fallible_error_argument")
})

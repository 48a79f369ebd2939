test_that("a family is an alternative that checks can find", {
  skip_unless_nightly()
  withr::local_seed(1)
  x <- ratings(draw_glad(500)$answers, categories = 1:3)
  check <- check_k_properties(
    x, "one category", resampling = list(replicates = 79),
    alternative = list(GLAD = glad(3), "distance" = rater_model("rater", "distance"))
  )
  own <- check[check$property == "alternative", ]
  expect_identical(own$test, paste("likelihood ratio,", c("GLAD", "distance")))
  expect_identical(own$df, c(0L, 1L))
  expect_identical(own$verdict, c("violated", "not significant"))
  expect_identical(own$p.value[1], 1 / 80)
  null <- fit_raters(x, rater_model("rater", prior = "none"))
  expect_equal(
    own$statistic[1], 2 * as.numeric(logLik(fit_raters(x, glad(3))) - logLik(null)),
    tolerance = 1e-6
  )
  expect_output(print(check), "Fit a model with a higher likelihood")
  expect_output(print(summary(check)), "GLAD")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(check), "ggplot")
})

test_that("what cannot be compared says why", {
  x <- ratings(lehner2015, raters = rater1:rater2)
  check <- check_k_properties(x, "one category", resampling = list(replicates = 19),
    alternative = dawid_skene("weak"))
  expect_match(check$reason[check$property == "alternative"], "more parameters")
  expect_error(check_k_properties(x, alternative = "glad"), class = "fallible_error_argument")
  expect_error(
    check_k_properties(ratings(fleiss1971, counts = depression:other), alternative = glad(3)),
    class = "fallible_error_argument"
  )
})

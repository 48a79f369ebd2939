test_that("the table of models that is printed has names that are read", {
  x <- examples_of_results()$model_comparison
  shown <- shown_table(x)
  expect_named(shown, c("model", "elpd", "SE", "difference", "its SE", "undecided"))
  expect_identical(shown$undecided, ifelse(tidy(x)$undecided, "yes", "no"))
  expect_output(print(x), "difference +its SE +undecided")
})

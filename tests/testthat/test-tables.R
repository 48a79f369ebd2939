test_that("tables stand one below another, lists among their columns", {
  one <- list(a = 1:2, b = list("x", NULL))
  two <- list(a = 3L, b = list(TRUE))
  expect_identical(stack_tables(list(one, two)), list(a = 1:3, b = list("x", NULL, TRUE)))
  expect_identical(stack_tables(list(first = one)), one)
})

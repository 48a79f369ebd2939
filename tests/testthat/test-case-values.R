test_that("cases are looked up by their labels, whatever kind of number they are", {
  data <- data.frame(id = c(1e5, 2, 123456), r = c("a", "b", "a"), s = c("a", "b", "b"))
  x <- ratings(data, case = id, raters = r:s)
  look_up <- function(case) {
    check_case_values(data.frame(case = case, site = c("p", "q", "r")), x, "by")
  }
  expect_identical(look_up(c(2L, 123456L, 100000L)), c("r", "p", "q"))
  expect_identical(look_up(c("2", "123456", "100000")), c("r", "p", "q"))
  expect_identical(look_up(factor(c(2, "123456", "100000"))), c("r", "p", "q"))
  expect_error(look_up(c("2", "123456", "1e5")), class = "fallible_error_argument")
})

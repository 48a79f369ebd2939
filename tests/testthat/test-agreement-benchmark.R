test_that("memberships are those of a truncated normal distribution", {
  x <- data.frame(measure = "cohen_kappa", estimate = 0.65, std.error = 0.1)
  table <- benchmark_agreement(x)
  expect_equal(sum(table$membership), 1)
  all <- pnorm(3.5) - pnorm(-16.5)
  expect_equal(table$membership[[2]], (pnorm(1.5) - pnorm(-0.5)) / all)
  expect_equal(table$cumulative, cumsum(table$membership))
  expect_identical(table$level[table$reached], "moderate")
  expect_identical(benchmark_agreement(x, conf_level = 0.5)$level[
    benchmark_agreement(x, conf_level = 0.5)$reached], "substantial")
  expect_identical(unique(benchmark_agreement(x, "fleiss")$lower), c(0.75, 0.4, -1))
  expect_identical(benchmark_agreement(x, "altman")$level[[1]], "very good")
})

test_that("what has no error or no correction for chance reaches no level", {
  x <- agreement(lehner_ratings())
  table <- benchmark_agreement(x)
  expect_identical(nrow(table), 6L * nrow(x))
  percent <- table[table$measure == "percent_agreement", ]
  expect_true(all(is.na(percent$membership)))
  expect_identical(unique(percent$reason), "not corrected for chance")
  none <- benchmark_agreement(agreement(lehner_ratings(), "gwet_ac", interval = "none"))
  expect_identical(unique(none$reason), "no standard error")
  expect_false(any(none$reached))
})

test_that("print names the level reached", {
  f <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_snapshot({
    benchmark_agreement(agreement(f))
    benchmark_agreement(agreement(f, "fleiss_kappa", by_category = TRUE), "altman")
  })
  expect_output(print(benchmark_agreement(agreement(f))["level"]), "substantial")
  expect_error(benchmark_agreement(3), class = "fallible_error_argument")
})

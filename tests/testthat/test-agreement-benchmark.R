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
  expect_error(benchmark_agreement(3), class = "fallible_error_argument")
})

test_that("scales are used for the measures they were made for", {
  withr::defer(for (id in c("share", "wide", "mine")) register_measure(id, kernel = NULL))
  unanimous <- function(counts, weights) {
    sum(weights * (apply(counts, 1, max) == rowSums(counts))) / sum(weights)
  }
  register_measure("share", "Share", unanimous, range = c(0, 1))
  register_measure("wide", "Wide", unanimous, range = c(-5, 5))
  register_measure("mine", "Mine", unanimous, range = c(-Inf, 1))
  table <- benchmark_agreement(agreement(lehner_ratings(), c("share", "wide", "mine")))
  expect_identical(
    table$reason[!duplicated(table$measure)],
    c("not corrected for chance", "values go up to 5, those of the scale to 1", NA)
  )
  expect_identical(is.na(table$membership), !is.na(table$reason))
  expect_identical(unique(table$measure[table$reached]), "mine")
})

test_that("data frames that were edited are read as they stand, or refused", {
  x <- as.data.frame(agreement(lehner_ratings()))
  plain <- as.data.frame(benchmark_agreement(x))
  x$measure <- factor(x$measure, levels = rev(x$measure))
  expect_identical(as.data.frame(benchmark_agreement(x)), plain)
  edits <- list(
    measure = 3, estimate = as.character(x$estimate), std.error = -x$std.error, std.error = NULL
  )
  for (i in seq_along(edits)) {
    edited <- x
    edited[[names(edits)[[i]]]] <- edits[[i]]
    expect_error(benchmark_agreement(edited), names(edits)[[i]], class = "fallible_error_argument")
  }
  far <- data.frame(measure = "chance_kappa", estimate = c(-2.5, NA, 0.5), std.error = c(0.1, 1, 0))
  table <- benchmark_agreement(far)
  expect_identical(
    unique(table$reason), c("the estimate is far from all levels", "no standard error", NA)
  )
  expect_identical(table$level[table$reached], "moderate")
  expect_false(any(is.nan(table$membership)))
  none <- benchmark_agreement(x[0, ])
  expect_identical(lapply(as.list(none), typeof), lapply(plain, typeof))
  expect_output(print(none), "0 x 1[0-9]")
})

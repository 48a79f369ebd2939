test_that("memberships are those of a truncated normal distribution", {
  of <- function(scale, conf_level = 0.9) {
    x <- data.frame(measure = "gwet_ac", estimate = 0.65, std.error = 0.1)
    as.data.frame(benchmark_table(x, scale, conf_level))
  }
  table <- of("landis-koch")
  expect_equal(sum(table$membership), 1)
  all <- pnorm(3.5) - pnorm(-16.5)
  expect_equal(table$membership[[2]], (pnorm(1.5) - pnorm(-0.5)) / all)
  expect_equal(table$cumulative, cumsum(table$membership))
  expect_identical(table$level[table$reached], "moderate")
  expect_identical(with(of("landis-koch", 0.5), level[reached]), "substantial")
  expect_identical(of("fleiss")$lower, c(0.75, 0.4, -1))
  expect_identical(of("altman")$level[[1]], "very good")
})

test_that("what has no error or no correction for chance reaches no level", {
  x <- agreement(lehner_ratings())
  table <- tidy(x, "benchmark")
  expect_identical(nrow(table), 6L * nrow(x))
  percent <- table[table$measure == "percent_agreement", ]
  expect_true(all(is.na(percent$membership)))
  expect_identical(unique(percent$reason), "not corrected for chance")
  reached <- table[table$reached, ]
  expect_identical(x$benchmark[match(reached$measure, x$measure)], reached$level)
  expect_identical(is.na(x$benchmark), !x$measure %in% reached$measure)
  none <- agreement(lehner_ratings(), "gwet_ac", interval = "none")
  expect_identical(none$benchmark, NA_character_)
  expect_identical(unique(tidy(none, "benchmark")$reason), "no standard error")
})

test_that("any scale may be asked for", {
  f <- ratings(fleiss1971, case = case, counts = depression:other)
  one <- tidy(agreement(f, "fleiss_kappa", by_category = TRUE), "benchmark", scale = "altman")
  expect_identical(unique(one$scale), "altman")
  expect_identical(nrow(one), 25L)
  expect_error(tidy(agreement(f), "benchmark", scale = "a"), class = "fallible_error_argument")
  bare <- agreement(f)["estimate"]
  expect_error(tidy(bare, "benchmark"), class = "fallible_error_argument")
})

test_that("scales are used for the measures they were made for", {
  withr::defer(for (id in c("share", "wide", "mine")) register_measure(id, kernel = NULL))
  unanimous <- function(counts, weights) {
    sum(weights * (apply(counts, 1, max) == rowSums(counts))) / sum(weights)
  }
  register_measure("share", "Share", unanimous, range = c(0, 1))
  register_measure("wide", "Wide", unanimous, range = c(-5, 5))
  register_measure("mine", "Mine", unanimous, range = c(-Inf, 1))
  table <- tidy(agreement(lehner_ratings(), c("share", "wide", "mine")), "benchmark")
  expect_identical(
    table$reason[!duplicated(table$measure)],
    c("not corrected for chance", "values go up to 5, the benchmark scale to 1", NA)
  )
  expect_identical(is.na(table$membership), !is.na(table$reason))
  expect_identical(unique(table$measure[table$reached]), "mine")
})

test_that("an estimate far from all levels, or without an error, reaches none", {
  x <- agreement(lehner_ratings(), c("chance_kappa", "fleiss_kappa", "gwet_ac"))
  x$estimate <- c(-2.5, NA, 0.5)
  x$std.error <- c(0.1, 1, 0)
  table <- tidy(x, "benchmark")
  expect_identical(
    unique(table$reason), c("the estimate is far from all levels", "no standard error", NA)
  )
  expect_identical(table$level[table$reached], "moderate")
  expect_false(any(is.nan(table$membership)))
  none <- tidy(x[0, ], "benchmark")
  expect_identical(vapply(none, typeof, ""), vapply(table, typeof, ""))
})

test_that("Krippendorff's thresholds are a scale, and sentences name the scale of their words", {
  f <- ratings(fleiss1971, case = case, counts = depression:other)
  table <- tidy(agreement(f, "krippendorff_alpha"), "benchmark", scale = "krippendorff")
  expect_identical(table$level, c("reliable", "tentative", "unreliable"))
  expect_identical(table$lower, c(0.8, 0.667, -1))
  expect_match(may_say(agreement(f, "fleiss_kappa"))$sentence[[1]],
    "or better on the scale of Landis and Koch")
})

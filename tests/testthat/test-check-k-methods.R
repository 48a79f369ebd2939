violated_panel <- function() {
  set.seed(1)
  simulate_ratings(rater_design(
    c(0.4, 0.6, 0.9), c(robot = 0.7), c("cat", "dog", "fox"), 300, dispersion = 3
  ))
}
violated <- function() {
  x <- violated_panel()
  quiet(check_k_properties(x, resampling = list(replicates = 199)))
}

test_that("the story is told in plain words", {
  local_reproducible_output(width = 80)
  checks <- violated()
  expect_snapshot(checks)
  expect_snapshot(summary(checks))
  set.seed(2)
  expect_snapshot(check_k_properties(lehner_ratings(), resampling = list(replicates = 199)))
  lazy <- ratings(cbind(a = rep(1:2, 20), b = rep(1:2, 20), c = 1, d = rep(2:1, 20)))
  expect_snapshot(check_k_properties(lazy, c("one category", "chance", "errors"), resampling = list(replicates = 199)))
  set.seed(3)
  copied <- simulate_ratings(rater_design(
    rep(0.6, 3), 0.7, n = 300, copying = data.frame(from = 1, to = 2, probability = 0.6)
  ))
  expect_snapshot(check_k_properties(copied, "independence", resampling = list(replicates = 199)))
})

test_that("tables are tidy, and parts of a result are plain tibbles", {
  checks <- violated()
  expect_s3_class(checks, c("k_check", "tbl_df"))
  expect_named(tidy(checks), c(
    "property", "test", "null", "alternative", "statistic", "df", "p.value", "p.adjusted",
    "verdict", "concerns", "reason"
  ))
  expect_equal(tidy(checks)$p.adjusted, p.adjust(tidy(checks)$p.value, "holm"))
  info <- glance(checks)
  expect_identical(info$violated, sum(tidy(checks)$verdict %in% c("violated", "contradiction")))
  expect_identical(info$system, "robot")
  expect_equal(info$cases, 300)
  pairs <- tidy(checks, "pairs")
  expect_identical(nrow(pairs), 6L)
  x <- attr(checks, "about")
  expect_null(x$x) # results do not carry the data
})

test_that("pictures show tests, pairs and disagreements", {
  skip_if_not_installed("ggplot2")
  checks <- violated()
  tests <- ggplot2::layer_data(ggplot2::autoplot(checks), 3)
  expect_equal(sort(10^tests$x), sort(checks$p.adjusted[!is.na(checks$p.value)]))
  pairs <- ggplot2::layer_data(ggplot2::autoplot(checks, type = "pairs"), 2)
  expect_equal(pairs$y, tidy(checks, "pairs")$observed)
  cells <- ggplot2::layer_data(ggplot2::autoplot(checks, type = "disagreements"), 2)
  expect_equal(cells$x, tidy(checks, "disagreements")$expected)
  only <- quiet(check_k_properties(lehner_ratings(), "one category"))
  expect_error(ggplot2::autoplot(only, type = "pairs"), class = "fallible_error_argument")
  expect_error(ggplot2::autoplot(checks[1:3]), class = "fallible_error_argument")
})

test_that("tests with too few replicates to be significant do not count as tests", {
  x <- violated_panel()
  check <- function(replicates) {
    check_k_properties(x, c("accuracy", "errors", "chance"),
      resampling = list(replicates = replicates))
  }
  # Six tests: with 49 replicates, the smallest adjusted p-value is 6 / 50, above 0.05.
  expect_warning(few <- check(49), "49 replicates are too few: 5 of 6 tests .* at least 120",
    class = "fallible_warning_bootstrap")
  expect_identical(few$verdict == "too few replicates", few$test != "agreement below chance")
  expect_identical(glance(few)$tests, 1L)
  expect_no_match(capture.output(print(few)), "No test contradicts")
  expect_output(print(few), "Use at least 120 replicates")
  expect_no_warning(enough <- check(119))
  expect_true("violated" %in% enough$verdict)
  expect_false("too few replicates" %in% enough$verdict)
})

test_that("tables have the columns that are promised", {
  estimate <- published(lehner_ratings(), interval = "none")
  expect_named(tidy(estimate), c(
    "system", "estimate", "std.error", "conf.low", "conf.high", "shared", "independent", "n",
    "method", "reason"
  ))
  expect_s3_class(tidy(estimate), "tbl_df")
  expect_identical(as.data.frame(estimate), tidy(estimate))
  expect_identical(tidy(estimate)$reason, NA_character_)
  expect_identical(glance(estimate)$replicates, NA_integer_)
  expect_identical(glance(estimate)$system, "system")
})

test_that("print and summary tell the story", {
  set.seed(1)
  estimate <- quiet(published(lehner_ratings(), replicates = 200))
  expect_snapshot({
    estimate
    summary(estimate)
  })
  expect_snapshot(
    published(lehner_ratings(), method = "unbinned", interval = "none", clip = "none")
  )
  # Base rates at zero, and an estimate that its replicates leave behind, are told.
  x <- ratings(
    dawid1979[dawid1979$rater != "A5", ], case = case, rater = rater, rating = rating,
    repeats = "ratings",
    systems = stats::setNames(
      dawid1979[dawid1979$rater == "A5", ], c("case", "system", "prediction")
    )
  )
  dawid <- quiet(published(x, replicates = 200))
  expect_identical(glance(dawid)$negative, 1L)
  dawid$table$conf.high <- dawid$table$estimate - 0.01
  expect_snapshot(dawid)
  expect_error(tidy(dawid, conf.level = 0.5), class = "fallible_error_argument")
  expect_error(glance(dawid, digits = 3), class = "fallible_error_argument")
  expect_snapshot(published(exact_ratings(rep(0.6, 3), 0.9)))
})

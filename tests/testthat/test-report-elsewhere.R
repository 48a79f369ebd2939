test_that("a result is a flextable, with its title and its notes", {
  skip_if_not_installed("flextable")
  estimate <- quiet(estimate_accuracy(lehner_ratings(), interval = "none"))
  table <- flextable::as_flextable(estimate)
  expect_s3_class(table, "flextable")
  expect_identical(unname(as.list(table$body$dataset)), unname(as.list(shown_table(estimate))))
  expect_identical(table$caption$value, schema_of(estimate)$caption)
  expect_identical(nrow(table$footer$dataset), length(document_notes(estimate)))
})

test_that("every result that is a table is one there, too", {
  skip_if_not_installed("flextable")
  examples <- examples_of_results()
  if (!nightly_tests()) examples <- examples[c("accuracy_estimate", "agreement", "crowdtruth")]
  for (x in examples) {
    if (!is.null(shown_table(x)) && !inherits(x, "ratings")) {
      expect_s3_class(flextable_result(x), "flextable")
      expect_s3_class(flextable::as_flextable(x), "flextable")
    }
  }
})

test_that("easystats gets the sentences that may be said", {
  estimate <- quiet(estimate_accuracy(lehner_ratings(), interval = "none"))
  said <- may_say(estimate)
  words <- report_result(estimate)
  expect_s3_class(words, "report_text")
  for (sentence in said$sentence[said$may]) expect_match(words, sentence, fixed = TRUE)
  for (sentence in said$sentence[!said$may]) expect_no_match(words, sentence, fixed = TRUE)
})

test_that("tables that print as tibbles have all rows there", {
  skip_if_not_installed("flextable")
  fit <- quiet(fit_raters(lehner_ratings(), rater_model("rater", "free")))
  tests <- test_accuracy(fit)
  table <- flextable::as_flextable(tests)$body$dataset
  expect_identical(nrow(table), nrow(tests))
  expect_identical(table$estimate[[1L]], format_decimals(tests$estimate[[1L]]))
  expect_identical(names(table)[[6L]], "interval")
  x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.6), c(a = 0.8), 3, n = 100))
  cases <- disputed_cases(x)
  expect_identical(nrow(flextable::as_flextable(cases)$body$dataset), nrow(cases))
  expect_gt(nrow(cases), 10L)
  expect_identical(nrow(flextable::as_flextable(cases[0, ])$body$dataset), 0L)
})

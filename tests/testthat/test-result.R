# Ratings are data. What is shown of them is computed when they are shown.
data_classes <- c("ratings", "ratings_labels")

# How often code calls into the compiled core.
calls_into_core <- function(code) {
  namespace <- asNamespace("fallible")
  call <- get(".Call", namespace)
  n <- 0L
  put <- function(f) {
    unlockBinding(".Call", namespace)
    assign(".Call", f, namespace)
    lockBinding(".Call", namespace)
  }
  withr::defer(put(call))
  put(function(...) {
    n <<- n + 1L
    call(...)
  })
  force(code)
  n
}

test_that("calls into the core are counted", {
  x <- examples_of_results()$ratings
  expect_gt(calls_into_core(fit_raters(x)), 0L)
  expect_identical(calls_into_core(1 + 1), 0L)
})

test_that("results have a schema, and showing them computes nothing", {
  for (class in setdiff(names(examples_of_results()), data_classes)) {
    x <- examples_of_results()[[class]]
    calls <- calls_into_core({
      utils::capture.output(print(x), print(summary(x)))
      format(x)
      glance(x)
      as.data.frame(x)
      summary_tables(x)
      shown_table(x)
      document_notes(x)
    })
    expect_identical(calls, 0L, label = class)
  }
})

test_that("codes of reasons stay in results, and notes do not ask for words", {
  x <- tibble::tibble(
    estimate = c(NA, 0.5, 0.6, 0.7), why = c(NA, NA, "chance", "ratings_alone"),
    reason = c("lost", "no interval: few", "by chance", "from ratings alone: none")
  )
  expect_identical(
    reason_notes(x, letters[1:4]),
    c("NA for a: lost", "No interval for b: few", "For c: by chance", "From ratings alone, d: none")
  )
  estimate <- examples_of_results()$accuracy_estimate
  expect_true("why" %in% names(estimate$table))
  expect_false("why" %in% names(tidy(estimate)))
})

test_that("rows of a result that is a tibble are a result, columns are a tibble", {
  x <- agreement(examples_of_results()$ratings)
  some <- x[2:3, ]
  expect_identical(glance(some)$estimates, 2L)
  expect_output(print(some), "^<agreement> ")
  expect_match(format(some), "^chance_kappa [0-9.]+; fleiss_kappa [0-9.]+$")
  expect_output(print(x[c("measure", "estimate")]), "# A tibble")
  expect_identical(class(tidy(x[1:3])), c("tbl_df", "tbl", "data.frame"))
})

test_that("a view shows numbers by their names and types", {
  table <- data.frame(
    name = c("a", "b"), estimate = c(0.5, NA), std.error = c(0.1, NA), conf.low = c(0.4, NA),
    conf.high = c(0.6, NA), p.value = c(1e-4, 0.5), n = c(1234, 5), many = c(1L, NA), yes = c(TRUE, NA)
  )
  shown <- format_view(view(table, level = 0.9))
  expect_named(shown, c("name", "estimate", "std.error", "90% interval", "p.value", "n", "many", "yes"))
  expect_identical(shown$estimate, c("0.500", "NA"))
  expect_identical(shown$std.error, c("0.100", ""))
  expect_identical(shown[["90% interval"]], c("[0.400, 0.600]", ""))
  expect_identical(shown$p.value, c("<.001", "0.500"))
  expect_identical(trimws(shown$n), c("1,234", "5"))
  expect_identical(trimws(shown$many), c("1", "NA"))
  expect_identical(shown$yes, c("yes", NA))
  two <- format_view(view(table, c(Name = "name", "estimate"), c(3L, estimate = 1L)))
  expect_identical(two, list2DF(list(Name = c("a", "b"), estimate = c("0.5", "NA"))))
  long <- view(data.frame(i = 1:2000))
  expect_identical(c(nrow(long$table), long$total), c(1000L, 2000L))
  expect_output(print_view(long), "... and 1,980 more; see tidy()", fixed = TRUE)
})

test_that("notes are records, whose reports may have other words", {
  x <- new_result("x", tables = list(rows = tibble::tibble(a = 1)), facts = list(n = 1L),
    line = "One row", shown = view(data.frame(a = 1)),
    notes = c("plain", note("What to do:", "heading"), note("  - this `arg`", report = "this"), "more: see x()"))
  expect_identical(notes_of(x), c("plain", "What to do:", "  - this `arg`", "more: see x()"))
  expect_identical(document_notes(x), c("plain", "this `arg`", "more: see x()"))
  expect_identical(notes_in_words(x), c("plain", "this", "more"))
  expect_output(print(x), "<x> One row\n\n a    \n 1.000\n\nplain", fixed = TRUE)
})

test_that("rows of intervals are chosen by name or number, and no picture is an error", {
  x <- lehner_ratings()
  fit <- fit_raters(x, method = "likelihood")
  estimate <- quiet(estimate_accuracy(x))
  for (result in list(fit, estimate)) {
    all <- confint(result)
    expect_identical(confint(result, 1), all[1, , drop = FALSE])
    expect_identical(confint(result, rownames(all)[[1]]), all[1, , drop = FALSE])
    for (wrong in list("zzz", nrow(all) + 1)) {
      error <- expect_error(confint(result, wrong), class = "fallible_error_argument")
      expect_identical(error$arg, "parm")
    }
  }
  skip_if_not_installed("ggplot2")
  expect_error(plot(gate(estimate, 0.5)), "no plot", class = "fallible_error_argument")
})

test_that("printed tables have the number of decimals that the user asks for", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  estimate <- quiet(estimate_accuracy(x))
  table <- tidy(estimate)
  words <- sprintf("%.5f [%.5f, %.5f]", table$estimate, table$conf.low, table$conf.high)
  expect_output(print(estimate, digits = 5), words, fixed = TRUE)
  expect_output(print(agreement(x), digits = 5), "fleiss_kappa +0[.][0-9]{5} ")
  # Numbers of ratings have no decimals.
  expect_output(print(x, digits = 5), " 10 ")
  expect_error(print(estimate, digits = -1), class = "fallible_error_argument")
})

test_that("errors about single cases and confidence levels name what works", {
  estimate <- quiet(estimate_accuracy(
    ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  ))
  expect_error(augment(estimate), "augment(fit_raters(x))", fixed = TRUE,
    class = "fallible_error_argument")
  for (code in expression(tidy(estimate, conf_level = 0.5), confint(estimate, level = 0.5))) {
    expect_error(eval(code), "update(estimate, conf_level = 0.95)", fixed = TRUE,
      class = "fallible_error_argument")
  }
})

# What every result can do, whatever it is.

test_that("every class that prints or that new_result() makes is among the examples", {
  # Tibbles with a method of print() or plot().
  tables <- c("disputed_cases", "report_sentences", "test_accuracy")
  expect_setequal(setdiff(classes_of_results(), tables), unique(vapply(names(examples_of_results()), class_of_example, "")))
  for (class in names(examples_of_results())) {
    expect_s3_class(examples_of_results()[[class]], class_of_example(class))
  }
})

test_that("every class has a method for every verb, its own or that of all results", {
  known <- getNamespaceInfo("fallible", "S3methods")
  results <- names(examples_of_results())
  all_results <- Filter(function(class) {
    inherits(examples_of_results()[[class]], "fallible_result")
  }, results)
  expect_setequal(setdiff(results, all_results), c("ratings", "ratings_labels"))
  results <- unique(vapply(results, class_of_example, ""))
  has <- function(generic) {
    own <- known[known[, 1L] == generic, 2L]
    c(own, if ("fallible_result" %in% own) all_results)
  }
  for (verb in c("print", "format", "summary", "tidy", "glance", "as.data.frame", "knit_print")) {
    expect_identical(setdiff(results, has(verb)), character(), label = verb)
  }
  for (verb in c("autoplot", "plot")) {
    expect_identical(setdiff(results, c(has(verb), without_picture)), character(), label = verb)
  }
})

test_that("results without a picture raise an error, and base R draws no picture of them", {
  skip_if_not_installed("ggplot2")
  x <- examples_of_results()$ratings
  estimate <- examples_of_results()$accuracy_estimate
  tables <- list(
    disputed_cases = disputed_cases(x), report_sentences = may_say(estimate),
    report_sentences = may_say(estimate, "methods"), gate = examples_of_results()$gate
  )
  withr::local_pdf(NULL)
  for (class in names(tables)) {
    for (draw in list(plot, autoplot)) expect_error(
      draw(tables[[class]]), "has no plot", class = "fallible_error_argument", info = class
    )
  }
  # Every class whose objects are tables or text has a method for plot().
  known <- getNamespaceInfo("fallible", "S3methods")
  has_plot <- known[known[, 1L] == "plot", 2L]
  results <- c(examples_of_results(), tables)
  is_basic <- vapply(results, function(x) is.data.frame(x) || is.character(x), NA)
  for (result in results[is_basic]) expect_true(any(class(result) %in% has_plot))
})

test_that("format is one line, or one per estimate", {
  for (class in names(examples_of_results())) {
    x <- examples_of_results()[[class]]
    words <- format(x)
    expect_type(words, "character")
    per_row <- c(
      "accuracy_estimate", "accuracy_by_group", "results_by_variable", "accuracy_bounds"
    )
    rows <- if (class %in% per_row) nrow(tidy(x)) else 1L
    expect_length(words, rows)
    expect_false(anyNA(words) || any(grepl("\n", words)) || any(nchar(words) > 250L), label = class)
  }
})

test_that("tidy is a tibble, glance a tibble of one row", {
  plain <- c("tbl_df", "tbl", "data.frame")
  for (class in names(examples_of_results())) {
    x <- examples_of_results()[[class]]
    expect_identical(class(tidy(x)), plain, label = class)
    expect_gt(nrow(tidy(x)), 0L)
    expect_null(attr(tidy(x), "about"))
    whats <- table_names(x)
    # Those that not every object of the class has.
    some <- c("convergence", "bins", "answers", "scores", "groups")
    for (what in setdiff(whats, c(some, tables_on_request))) {
      table <- tidy(x, what = what)
      expect_identical(class(table), plain, label = paste(class, what))
      # Tables can be written by write.csv(). Only answers with several labels are lists.
      if (what != "answers") expect_true(all(vapply(table, is.atomic, NA)), label = paste(class, what))
    }
    expect_identical(class(glance(x)), plain, label = class)
    expect_identical(nrow(glance(x)), 1L, label = class)
    expect_false(any(vapply(glance(x), is.list, NA)), label = class)
    expect_error(tidy(x, nothing = 1), class = "fallible_error_argument")
    expect_error(glance(x, nothing = 1), class = "fallible_error_argument")
  }
})

test_that("columns have the same names everywhere", {
  numeric <- c(
    "estimate", "std.error", "conf.low", "conf.high", "n", "p.value", "statistic", "probability"
  )
  words <- c("system", "rater", "rater1", "rater2", "reason", "method", "measure")
  other <- c("se", "SE", "stderr", "lower.ci", "lcl", "ci_low", "p", "pvalue", "unit1", "why")
  # The estimate of a bin is its `share`. A decision repeats only the estimate and its interval.
  others <- c("ratings", "ratings_labels", "calibration", "gate", instructions)
  for (class in setdiff(names(examples_of_results()), others)) {
    x <- examples_of_results()[[class]]
    for (table in summary_tables(x)) {
      expect_identical(intersect(names(table), other), character(), label = class)
      expect_true(all(vapply(table[intersect(names(table), numeric)], is.numeric, NA)))
      expect_true(all(vapply(table[intersect(names(table), words)], is.character, NA)))
      # Bounds are two numbers, and have a set for both.
      if ("conf.low" %in% names(table) && !"lowest" %in% names(table)) {
        expect_true(all(c("estimate", "std.error", "conf.high", "reason") %in% names(table)))
      }
    }
  }
})

test_that("a data frame is a data frame, for kable() and reshape() too", {
  for (class in names(examples_of_results())) {
    x <- examples_of_results()[[class]]
    table <- as.data.frame(x)
    expect_identical(class(table), "data.frame", label = class)
    if (class != "ground_truth") expect_identical(as.list(table), as.list(tidy(x)), label = class)
    skip_if_not_installed("knitr")
    expect_s3_class(knitr::kable(table), "knitr_kable")
  }
  x <- examples_of_results()$ratings
  wide <- stats::reshape(
    as.data.frame(x), idvar = "case", timevar = "rater", direction = "wide"
  )
  expect_named(wide, c("case", "rating.rater1", "rating.rater2", "rating.rater3"))
  expect_false(anyNA(wide))
  skip_if_not_installed("knitr")
  expect_length(knitr::kable(examples_of_results()$accuracy_estimate, format = "pipe"), 4L)
})

test_that("printing returns the object, and says its class", {
  for (class in setdiff(names(examples_of_results()), "ground_truth")) {
    x <- examples_of_results()[[class]]
    expect_output(out <- withVisible(print(x)), paste0("^<", class_of_example(class), "> "))
    expect_identical(out$visible, FALSE)
    expect_identical(out$value, x)
  }
})

test_that("saved objects are the same in a new session", {
  x <- ratings(data.frame(
    case = 1:60, a = c("-", "+"), b = c("-", "+", "+"), herd = rep(c("u", "v"), each = 30)
  ), case = case, raters = a:b, covariates = herd)
  fit <- quiet(fit_raters(
    x, rater_model("rater", "free", base_rates = ~herd), method = "bayes",
    sampling = list(draws = 200, thin = 1, warmup = 100)
  ))
  # A part of `x` comes first: other code loads packages on which it must not depend.
  use <- quote(list(
    part = as.data.frame(x[31:40, ]), accuracy = test_accuracy(fit), sentences = may_say(fit),
    printed = lapply(examples, function(x) capture.output(print(x)))
  ))
  examples <- examples_of_results()
  folder <- withr::local_tempdir()
  saveRDS(list(x = x, fit = fit, examples = examples), file.path(folder, "objects.rds"))
  writeLines(c(
    "library(fallible)", sprintf("setwd(%s)", deparse(folder)),
    sprintf("options(width = %d, cli.unicode = %s)", getOption("width"), cli::is_utf8_output()),
    "list2env(readRDS(\"objects.rds\"), globalenv())",
    paste("saveRDS(suppressWarnings(", paste(deparse(use), collapse = "\n"), "), \"results.rds\")")
  ), file.path(folder, "use.R"))
  said <- suppressWarnings(system2(
    file.path(R.home("bin"), "Rscript"), shQuote(file.path(folder, "use.R")), stdout = TRUE,
    stderr = TRUE, env = paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  ))
  expect_null(attr(said, "status"), info = paste(said, collapse = "\n"))
  expect_identical(readRDS(file.path(folder, "results.rds")), quiet(eval(use)))
})

test_that("a part of a table is a table like any other", {
  for (class in c(
    "ground_truth", "k_check", "agreement", "agreement_test", "agreement_comparison"
  )) {
    part <- examples_of_results()[[class]][2:3]
    expect_output(print(part), paste(names(part), collapse = " .*"))
    expect_identical(class(as.data.frame(part)), "data.frame")
    expect_identical(class(summary(part)), "table")
    skip_if_not_installed("knitr")
    expect_output(knitr::knit_print(part), names(part)[[1L]])
    expect_match(knitr::knit_print(part, inline = TRUE), names(part)[[1L]])
  }
})

test_that("summaries print", {
  for (class in names(examples_of_results())) {
    expect_output(print(summary(examples_of_results()[[class]])), "[a-z]")
  }
  local_reproducible_output(width = 80)
  expect_snapshot({
    summary(examples_of_results()$system_comparison)
    summary(examples_of_results()$case_plan)
    summary(examples_of_results()$rater_design)
  })
})

test_that("every result is drawn by either verb", {
  skip_if_not_installed("ggplot2")
  for (class in setdiff(names(examples_of_results()), without_picture)) {
    x <- examples_of_results()[[class]]
    picture <- autoplot(x)
    expect_s3_class(picture, "ggplot")
    expect_error(ggplot2::ggplot_build(picture), NA)
    expect_error(autoplot(x, nothing = 1), class = "fallible_error_argument")
  }
  expect_identical(
    ggplot2::layer_data(autoplot(examples_of_results()$rater_fit), 2L),
    ggplot2::layer_data(ggplot2::autoplot(examples_of_results()$rater_fit), 2L)
  )
})

test_that("R Markdown shows tables, and lines in the middle of a sentence", {
  skip_if_not_installed("knitr")
  for (class in setdiff(names(examples_of_results()), c("ratings", "ratings_labels", instructions))) {
    x <- examples_of_results()[[class]]
    shown <- knitr::knit_print(x)
    expect_s3_class(shown, "knit_asis")
    expect_match(shown, "\n\\|[:-]", label = class)
    inline <- knitr::knit_print(x, inline = TRUE)
    expect_false(grepl("\n", inline), label = class)
  }
  estimate <- examples_of_results()$accuracy_estimate
  expect_match(knitr::knit_print(estimate, inline = TRUE), "^a: \\d+% \\(90% interval")
  expect_snapshot(cat(knitr::knit_print(estimate)))
  expect_output(knitr::knit_print(estimate, options = list(fallible.table = FALSE)), "More: tidy")
})

test_that("estimates are words in a sentence", {
  words <- format(examples_of_results()$accuracy_estimate)
  expect_named(words, c("a", "b"))
  expect_match(words, "^\\d\\d% \\(90% interval \\d\\d% to \\d\\d%\\)$")
  expect_match(
    format(examples_of_results()$accuracy_estimate, digits = 1)[["a"]], "^\\d\\d\\.\\d% \\("
  )
  one <- quiet(estimate_accuracy(lehner_ratings(), "binned", interval = "none"))
  expect_identical(format(one), "73%")
  nothing <- quiet(estimate_accuracy(
    ratings(cbind(a = c("x", "y"), b = c("y", "x"), s = "x"), raters = 1:2, systems = "s")
  ))
  expect_match(format(nothing), "^unknown \\(raters agree no better than by chance")
  groups <- format(examples_of_results()$accuracy_by_group)
  expect_named(groups, c("u.a", "u.b", "v.a", "v.b"))
  expect_snapshot(lapply(examples_of_results(), format))
})

test_that("examples print on one screen", {
  withr::local_options(width = 80)
  for (class in names(examples_of_results())) {
    lines <- length(utils::capture.output(print(examples_of_results()[[class]])))
    expect_lte(lines, 34L, label = class)
  }
})

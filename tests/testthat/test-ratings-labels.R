# Answers with several labels: three ways in, and out again.

answers <- data.frame(case = c(1, 1, 2, 2, 3), rater = c("r", "s", "r", "s", "s"))
answers$labels <- list(c("a", "b"), "a", "b", character(), NA)
flags <- data.frame(answers[1:2], a = c(1, 1, 0, 0, NA), b = c(1, 0, 1, 0, NA))

from_lists <- function(data = answers, ...) {
  ratings(data, case = case, rater = rater, rating = labels, repeats = "labels", ...)
}
from_flags <- function(data = flags, ...) {
  ratings(data, case = case, rater = rater, rating = c(a, b), repeats = "labels", ...)
}

test_that("lists, columns and rows of labels are the same data", {
  x <- from_lists()
  expect_identical(from_flags(), x)
  expect_identical(from_flags(transform(flags, a = a == 1)), x)
  factors <- answers
  factors$labels <- lapply(answers$labels, factor, levels = c("a", "b"))
  expect_identical(from_lists(factors), x)
  rows <- data.frame(
    case = c(1, 1, 1, 2, 3), rater = c("r", "r", "s", "r", "s"), label = c("a", "b", "a", "b", NA)
  )
  y <- ratings(rows, case = case, rater = rater, rating = label, repeats = "labels")
  expect_identical(y$patterns, x$patterns)
  expect_identical(x$empty_answers, list(case = 2L, rater = 2L))
  expect_null(y$empty_answers)
  expect_snapshot(x)
  expect_snapshot(summary(x))
  numbers <- answers
  numbers$labels <- list(10:9, 9L, 10L, NULL, NA)
  expect_identical(from_lists(numbers)$categories, c("9", "10"))
})

test_that("answers come out as they went in", {
  x <- from_lists()
  out <- tidy(x, what = "answers")
  expect_identical(out[1:2], tibble::as_tibble(answers[1:4, 1:2]))
  expect_identical(lapply(out$labels, as.character), answers$labels[1:4])
  again <- from_lists(out)
  expect_identical(crowdtruth(again)$workers, crowdtruth(x)$workers)
  expect_identical(nrow(as.data.frame(x)), 4L)
  single <- as.data.frame(lehner_ratings(), what = "answers")
  expect_true(all(lengths(single$labels) == 1L))
  expect_error(
    as.data.frame(ratings(fleiss1971, counts = depression:other), what = "answers"),
    class = "fallible_error_argument"
  )
})

test_that("empty answers follow their case and rater", {
  x <- from_lists()
  expect_identical(x[2:1, ]$empty_answers, list(case = 1L, rater = 2L))
  expect_identical(x[c(2, 1, 2), ]$empty_answers, list(case = c(1L, 3L), rater = c(2L, 2L)))
  expect_identical(x[1, ]$empty_answers, list(case = integer(), rater = integer()))
  expect_identical(x[, 2:1]$empty_answers, list(case = 2L, rater = 1L))
})

test_that("weights and declared categories go with answers", {
  x <- from_flags(transform(flags, w = c(2, 2, 3, 3, 1)), weights = w, categories = c("b", "a", "z"))
  expect_identical(x$weights, c(2, 3, 1))
  expect_identical(x$categories, c("b", "a", "z"))
})

test_that("answers that cannot be read are refused", {
  expect_snapshot(error = TRUE, {
    from_flags(transform(flags, a = c(2, 1, 0, 0, NA)))
    from_flags(transform(flags, a = c(NA, 1, 0, 0, NA)))
    from_flags(transform(flags, b = letters[1:5]))
    from_lists(answers[c(1:5, 1), ])
    from_lists(categories = c("b", "c"))
    ratings(answers, case = case, rater = rater, rating = labels)
  })
  caught <- tryCatch(from_flags(transform(flags, b = 1:5)), fallible_error_flags = identity)
  expect_identical(caught$row, 2:5)
  expect_identical(caught$column, "b")
  expect_message(
    ratings(flags, case = case, rater = rater, rating = c(a, b)), "repeats = \"labels\""
  )
  mixed <- answers
  mixed$labels <- list("a", 1, TRUE, "b", NA)
  expect_error(from_lists(mixed), class = "fallible_error_columns")
  mixed$labels <- list(c("a", NA), "a", "b", "b", NA)
  expect_snapshot(error = TRUE, from_lists(mixed))
  mixed$labels <- list(c("a", "a"), "a", "b", "b", NA)
  expect_snapshot(error = TRUE, from_lists(mixed))
  expect_error(from_lists(mixed), class = "fallible_error_repeat")
  mixed$labels <- list(Sys.Date(), "a", "b", "b", NA)
  expect_error(from_lists(mixed), class = "fallible_error_columns")
})

test_that("methods for one category refuse, and say the way out", {
  x <- from_lists()
  expect_snapshot(error = TRUE, fit_raters(x))
  expect_error(agreement_matrix(x, "r", "s"), class = "fallible_error_labels")
  expect_error(estimate_accuracy(x), class = "fallible_error_labels")
})

test_that("lists of factors keep their labels beside empty answers", {
  data <- data.frame(unit = rep(1:3, each = 2), worker = rep(c("a", "b"), 3))
  f <- function(v) factor(v, c("p", "q", "r"))
  for (gap in list(NA, NULL, character())) {
    data$label <- list(f("q"), f("r"), f("q"), gap, f("p"), f("r"))
    x <- ratings(data, case = unit, rater = worker, rating = label, repeats = "labels")
    expect_setequal(as.character(as.data.frame(x)$rating), c("p", "q", "r"))
  }
})

test_that("rows of labels are known for an answer as a whole, or not at all", {
  rows <- data.frame(
    case = c(1, 1, 1, 2, 2), rater = c("r", "s", "r", "r", "s"), label = c("a", "b", NA, "b", NA)
  )
  read <- function(rows) {
    ratings(rows, case = case, rater = rater, rating = label, repeats = "labels")
  }
  expect_snapshot(error = TRUE, read(rows))
  expect_error(read(rows), class = "fallible_error_columns")
  gone <- rows[rep(5, 2), ] # not given is not given
  expect_identical(read(rbind(rows[-3, ], gone))$patterns, read(rows[-3, ])$patterns)
})

test_that("answers with several labels are no ratings, and do what both do", {
  x <- from_lists()
  expect_s3_class(x, "ratings_labels", exact = TRUE)
  expect_s3_class(x[1:2, ], "ratings_labels", exact = TRUE)
  expect_s3_class(single_label(x, "a"), "ratings", exact = TRUE)
  refusals <- list(
    fit_raters, estimate_accuracy, check_k_properties, agreement, cohen_kappa, compare_agreement,
    base_rates, ground_truth, function(x) tidy(x, "patterns")
  )
  for (verb in refusals) expect_error(verb(x), class = "fallible_error_labels")
  expect_identical(dim(x), c(length(x$cases), 2L))
  expect_identical(dimnames(x)[[2]], x$raters)
  expect_s3_class(crowdtruth(x), "crowdtruth")
  expect_identical(category_counts(x), category_counts(crowdtruth(x)$ratings))
  expect_identical(sum(category_counts(x)), nrow(tidy(x)))
  expect_output(print(x), "labels")
  expect_output(print(summary(x)), "labels")
  methods <- getNamespaceInfo("fallible", "S3methods")
  generics_of <- function(class) methods[methods[, 2] == class, 1]
  expect_setequal(
    c("confusion", "estimate_accuracy", "estimate_metrics", generics_of("ratings_labels")),
    generics_of("ratings")
  )
})

test_that("plus is the second of the labels minus and plus", {
  data <- data.frame(a = c("+", "-", "+"), b = c("+", "+", "-"))
  of <- function(data) suppressMessages(ratings(data, raters = a:b))$categories
  expect_identical(of(data), c("-", "+"))
  # The order of factor levels, and of three labels, does not change.
  expect_identical(of(as.data.frame(lapply(data, factor, c("+", "-")))), c("+", "-"))
  expect_identical(of(rbind(data, c("+/-", "-"))), c("+", "+/-", "-"))
})

wide_data <- function() {
  data.frame(
    case = 1:4, r = c("no", "no", "yes", "yes"), q = c("no", "yes", "yes", "yes"),
    new = c("no", "yes", "yes", "no"), p = c(0.1, 0.6, 0.9, 0.4), other = c(0.9, 0.4, 0.1, 0.6)
  )
}

read_wide <- function(data = wide_data(), scores = list(new = c(yes = "p")), ...) {
  ratings(data, raters = r:q, systems = new, case = case, scores = scores, ...)
}

test_that("scores stand beside patterns, whichever way they come", {
  one <- read_wide()
  both <- read_wide(scores = list(new = c(no = "other", yes = "p")))
  expect_equal(one$scores, both$scores)
  expect_equal(one$scores$values$new[, "no"], 1 - wide_data()$p)
  again <- read_wide(scores = as.data.frame(one, what = "scores"))
  expect_equal(again$scores, one$scores)
  bare <- read_wide(scores = NULL)
  expect_identical(one$patterns, bare$patterns)
  order <- read_wide(scores = list(new = c(yes = "p"), scale = "order"))
  expect_equal(order$scores$values$new[, "no"], -wide_data()$p)
  table <- data.frame(case = 1:4, system = "new", category = "yes", score = wide_data()$p)
  expect_equal(read_wide(scores = list(table, scale = "order"))$scores, order$scores)
  expect_error(read_wide(scores = list(table, scale = "sums")), class = "fallible_error_argument")
  expect_output(print(one), "Scores of new (4 cases), probabilities", fixed = TRUE)
  expect_output(print(order), "an order of cases only", fixed = TRUE)
})

test_that("scores go with their cases and systems", {
  x <- read_wide()
  expect_equal(x[c(3, 1), ]$scores$values$new, x$scores$values$new[c(3, 1), ])
  expect_equal(unique(tidy(x[c(3, 1), ], what = "scores")$case), c(3L, 1L))
  two <- wide_data()
  two$old <- two$new
  y <- ratings(two, raters = r:q, systems = c(new, old), case = case,
    scores = list(new = c(yes = "p")))
  expect_null(y[, , "old"]$scores)
  expect_named(y[, , "new"]$scores$values, "new")
  expect_identical(nrow(as.data.frame(y[, , "old"], what = "scores")), 0L)
})

test_that("cases that raters did not see may have scores", {
  long <- data.frame(
    case = rep(1:3, 2), rater = rep(c("r", "q"), each = 3), rating = rep(c("no", "yes", "no"), 2)
  )
  said <- data.frame(case = 1:4, system = "new", prediction = c("no", "yes", "no", "yes"))
  scores <- data.frame(case = 4:1, system = "new", category = "yes", score = c(0.8, 0.3, 0.9, 0.2))
  x <- suppressWarnings(ratings(
    long, case = case, rater = rater, rating = rating, systems = said, scores = scores
  ), classes = "fallible_warning_unrated")
  expect_equal(unname(x$scores$values$new[, "yes"]), c(0.2, 0.9, 0.3, 0.8))
})

test_that("scores that cannot be used are refused, with where they are", {
  change <- function(column, row, value) {
    data <- wide_data()
    data[[column]][row] <- value
    data
  }
  found <- expect_error(read_wide(change("p", 2, 1.2)), class = "fallible_error_scores")
  expect_identical(found$row, 2L)
  expect_identical(found$system, "new")
  expect_error(read_wide(change("p", 2, Inf), list(new = c(yes = "p"), scale = "order")),
    class = "fallible_error_scores")
  both <- list(new = c(no = "other", yes = "p"))
  expect_error(read_wide(change("other", 3, 0.3), both), "sum to one",
    class = "fallible_error_scores")
  expect_error(read_wide(change("other", 3, NA), both), "all categories or of none",
    class = "fallible_error_scores")
  expect_no_error(read_wide(change("other", 3, 0.105), both))
  three <- wide_data()
  three$r[1] <- "maybe"
  expect_error(read_wide(three), "needs a score", class = "fallible_error_scores")
  expect_error(read_wide(scores = list(new = c(maybe = "p"))), class = "fallible_error_category")
  expect_error(read_wide(scores = list(old = c(yes = "p"))), class = "fallible_error_system")
  expect_error(read_wide(scores = list(new = c(yes = "pp"))), class = "fallible_error_columns")
  expect_error(read_wide(scores = list(new = c(yes = "r"))), class = "fallible_error_columns")
  expect_error(
    read_wide(scores = list(new = "p")), "column names, named by category",
    class = "fallible_error_argument"
  )
  table <- data.frame(case = c(1, 1), system = "new", category = "yes", score = 0.5)
  expect_error(read_wide(scores = table), class = "fallible_error_repeat")
  table$case <- c(1, 9)
  expect_error(read_wide(scores = table), class = "fallible_error_case")
  table$score <- "a"
  expect_error(read_wide(scores = transform(table, case = 1:2)), class = "fallible_error_scores")
  expect_error(read_wide(scores = table[-4]), class = "fallible_error_columns")
})

test_that("scores need cases of one category", {
  scores <- data.frame(case = 1:2, system = "new", category = "yes", score = 0.5)
  expect_error(ratings(as.table(diag(2) + 1), scores = scores), class = "fallible_error_argument")
  long <- data.frame(case = c(1, 1), rater = c("r", "q"), rating = c("no", "yes"))
  expect_error(ratings(
    long, case = case, rater = rater, rating = rating, repeats = "labels", scores = scores
  ), class = "fallible_error_argument")
  expect_error(ratings(
    long, case = case, rater = rater, rating = rating, scores = list(new = c(yes = "p")),
    systems = data.frame(case = 1, system = "new", prediction = "yes")
  ), "wide data", class = "fallible_error_argument")
})

test_that("answers without scores, and scores that are all equal, are counted", {
  data <- wide_data()
  data$p[2:3] <- NA
  found <- expect_warning(read_wide(data), "no score", class = "fallible_warning_scores")
  expect_identical(found$cases, 2L)
  expect_warning(read_wide(transform(wide_data(), p = 0.5)), "equal",
    class = "fallible_warning_scores")
})

test_that("a database has no scores", {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(con))
  data <- dplyr::copy_to(con, wide_data(), "panel")
  expect_error(read_wide(data), class = "fallible_error_database")
})

test_that("probabilities may have rounding errors", {
  data <- data.frame(r1 = c("n", "y", "n"), r2 = c("n", "y", "y"), s = c("n", "y", "y"),
    p = c(-5.6e-17, 1 + 1e-12, 0.7))
  read <- function(p) {
    data$p <- p
    quiet(ratings(data, raters = r1:r2, systems = s, scores = list(s = c(y = "p"))))
  }
  expect_identical(range(as.data.frame(read(data$p), "scores")$score), c(0, 1))
  expect_error(read(c(-1e-6, 1, 0.7)), "must be probabilities", class = "fallible_error_scores")
})

# Columns that identify or describe cases never become raters without a word.

a <- c(1, 2, 3, 1, 2, 3, 1, 2)
b <- c(1, 2, 3, 2, 2, 1, 1, 3)
n <- length(a)
two <- ratings(data.frame(a, b), raters = a:b)
same_counts <- function(x) expect_equal(tidy(x, "counts")[-1], tidy(two, "counts")[-1])
unclear <- function(data, columns, ...) {
  error <- expect_error(as_ratings(data, ...), class = "fallible_error_argument")
  expect_identical(error$columns, columns)
  expect_match(conditionMessage(error), "case = ")
  expect_match(conditionMessage(error), "covariates")
}

test_that("identifiers are cases, in any place and with any capitals", {
  names <- c(
    "id", ".id", "ID", "item", "Item", "unit", "doc_id", "DOC_ID", "text_id", "case_id", "Case",
    "Units", "Subject", "subject_ids"
  )
  for (name in names) {
    data <- data.frame(a, b, 10 * seq_len(n))
    names(data)[[3L]] <- name
    for (order in list(1:3, c(3, 1, 2), c(1, 3, 2))) {
      x <- as_ratings(data[order])
      same_counts(x)
      expect_identical(x$raters, c("a", "b"))
      expect_identical(x$cases, data[[name]])
      expect_identical(ratings(data[order], raters = tidyselect::everything())$cases, x$cases)
      expect_identical(as_ratings(tibble::as_tibble(data[order])), x)
    }
  }
  # Values that are also labels of ratings
  expect_identical(as_ratings(data.frame(id = seq_len(n), a, b))$cases, seq_len(n))
  expect_identical(as_ratings(data.frame(id = 1:3, a = 1:3, b = c(1, 3, 2)))$raters, c("a", "b"))
})

test_that("row names that read.csv() calls X are cases, only in the first column", {
  x <- as_ratings(data.frame(X = 10 * seq_len(n), a, b))
  same_counts(x)
  expect_identical(x$cases, 10 * seq_len(n))
  expect_identical(as_ratings(data.frame(X = seq_len(n), a, b, id = letters[1:n]))$cases,
    letters[1:n])
  expect_identical(quiet(as_ratings(data.frame(X = a, Y = b)))$raters, c("X", "Y"))
  expect_identical(quiet(as_ratings(data.frame(a, X = seq_len(n), b)))$raters, c("a", "X", "b"))
})

test_that("a column of truths is no rater", {
  for (name in c("truth", "Gold")) {
    data <- stats::setNames(data.frame(a, b, a), c("a", "b", name))
    expect_message(x <- as_ratings(data), name)
    same_counts(x)
    expect_message(y <- ratings(data, raters = tidyselect::everything()), name)
    expect_identical(y$raters, c("a", "b"))
  }
  data$a[[1L]] <- 2
  expect_identical(quiet(ratings(data, raters = c(a, b, Gold)))$raters, c("a", "b", "Gold"))
})

test_that("a first column that numbers the cases raises a warning", {
  numbered <- function(x) as_ratings(data.frame(number = x, a, b))
  expect_warning(numbered(seq_len(n)), "\"number\" is read as a rater",
    class = "fallible_warning_labels")
  expect_no_warning(numbered(a))
  expect_warning(numbered(100 + seq_len(n)), "No other rater shares")
})

test_that("long data may name the case as they like", {
  long <- data.frame(
    Rating = c(a, b), epoch = 1, Rater = rep(c("a", "b"), each = n), Item = rep(seq_len(n), 2)
  )
  x <- as_ratings(long)
  same_counts(x)
  expect_identical(x$cases, seq_len(n))
  long$doc_id <- long$Item %% 2
  expect_identical(as_ratings(long[5:1])$keys, c(doc_id = TRUE, Item = TRUE))
  same_counts(as_ratings(cbind(id = seq_len(2 * n), long[c("Item", "Rater", "Rating")])))
  long$case <- rep(letters[seq_len(n)], 2)
  expect_identical(as_ratings(long)$cases, letters[seq_len(n)])
})

test_that("a second identifier is left out, and one that groups cases is a covariate", {
  data <- data.frame(a, b, case = letters[seq_len(n)], id = seq_len(n))
  expect_identical(as_ratings(data)$cases, data$case)
  expect_null(as_ratings(data)$covariates)
  data <- data.frame(doc_id = rep(1:2, each = 4), a, b, text_id = letters[seq_len(n)])
  x <- as_ratings(data)
  expect_identical(x$cases, data$text_id)
  expect_identical(x$covariates$doc_id, factor(data$doc_id))
  expect_identical(x$raters, c("a", "b"))
})

test_that("columns that could be either are not guessed", {
  item <- rep(1:4, 2)
  unclear(data.frame(item, a, b), "item")
  unclear(data.frame(item = 1:3, a = 1:3, b = c(1, 3, 2)), "item")
  unclear(data.frame(id = item, a, epoch = rep(1:2, each = 4), b), c("id", "epoch"))
  unclear(data.frame(a, b, Item = item, Model = rep(c("m", "n"), each = 4)), c("Item", "Model"))
  unclear(data.frame(id = seq_len(n), a, b, RUN = rep(1:2, 4)), "RUN")
  unclear(data.frame(a, b, Population = rep(c("n", "s"), 4)), "Population")
  unclear(data.frame(a, b, model = "gpt"), "model")
  unclear(data.frame(id = NA, a, b), "id")
  # What the message shows works.
  data <- data.frame(id = item, epoch = rep(1:2, each = 4), a, b)
  x <- ratings(data, raters = c("a", "b"), case = c("id", "epoch"))
  expect_error(
    ratings(data, raters = c("a", "b"), case = c("id", "epoch"), covariates = "epoch"),
    "covariates, too", class = "fallible_error_columns"
  )
  same_counts(x)
  expect_error(ratings(data, raters = tidyselect::everything()), class = "fallible_error_argument")
  expect_error(ratings(data, raters = id:b), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    as_ratings(data)
    as_ratings(data.frame(run = rep(1:2, 4), a, b))
    ratings(cbind(data[-1], id = 1:8), raters = everything())
  })
})

test_that("raters stay raters, whatever their names", {
  yes <- c("yes", "no", "no", "yes", "yes", "no", "no", "yes")
  no <- rev(yes)
  no[[1L]] <- "no"
  stay <- function(...) {
    data <- data.frame(...)
    expect_identical(quiet(as_ratings(data))$raters, names(data))
  }
  stay(r1 = a, r2 = b, expert = a, ann = b)
  stay(human = yes, model = no)
  stay(Human = yes, Model = c("Yes", no[-1]))
  stay(human = a, model = b)
  stay(human = c(0, 1, 1), model = c(0, 1, 0))
  stay(unit = yes, expert = no, nurse = yes)
  stay(unit = c("unsure", yes[-1]), expert = no, nurse = yes)
  stay(item = c(0, 1, 1, 0), nurse = c(0, 1, 0, 0), unit = c(0, 1, 1, 1))
  stay(item = yes, unit = no)
  stay(run = yes, epoch = no, ann = yes)
  # A user who names columns one by one has the last word.
  data <- data.frame(item = 1:3, a = 1:3)
  expect_identical(ratings(data, raters = c(item, a))$raters, c("item", "a"))
  expect_identical(ratings(data, raters = c("item", "a"))$raters, c("item", "a"))
})

test_that("a table of tests and populations is read as runjags reads it", {
  tests <- data.frame(
    Population = rep(0:1, 4), FirstTest = c(0, 1, 1, 0, NA, 1, 0, 0),
    SecondTest = c(TRUE, FALSE, TRUE, TRUE, FALSE, TRUE, FALSE, FALSE) + 0
  )
  x <- as_ratings(tests)
  expect_identical(x$raters, c("FirstTest", "SecondTest"))
  expect_identical(x$covariates$Population, factor(tests$Population))
  expect_identical(as_ratings(tests[3:1])$covariates, x$covariates)
  tests[2:3] <- lapply(tests[2:3], factor, labels = c("neg", "pos"))
  tests$ID <- sprintf("a%d", 1:8)
  y <- as_ratings(tests)
  expect_identical(y$categories, c("neg", "pos"))
  expect_identical(y$cases, tests$ID)
  expect_identical(y$covariates, x$covariates)
  # Populations are names, also where they are numbers.
  expect_identical(as_ratings(transform(tests, Population = rep(1:4, 2)))$covariates$Population,
    factor(rep(1:4, 2)))
})

test_that("lazy tables are judged by the names of their columns", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "wide", data.frame(ID = seq_len(n), a, b))
  expect_identical(as_ratings(dplyr::tbl(con, "wide"))$raters, c("a", "b"))
  DBI::dbWriteTable(con, "epochs", data.frame(epoch = 1, a, b))
  expect_error(as_ratings(dplyr::tbl(con, "epochs")), class = "fallible_error_argument")
})

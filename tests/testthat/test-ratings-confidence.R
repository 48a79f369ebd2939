levels_of_three <- c("guess", "so", "sure")

sure_wide <- function() {
  sure <- function(x) factor(levels_of_three[x], levels_of_three, ordered = TRUE)
  data.frame(
    id = letters[1:5], a = c("x", "x", "y", "y", NA), b = c("x", "y", "y", NA, "x"),
    c = c("y", "x", "y", "x", "x"), s = "x",
    sure_a = sure(c(3, 1, 2, NA, NA)), sure_b = sure(c(1, 2, 2, NA, 3)),
    sure_c = sure(c(2, 2, 3, 1, 1))
  )
}

wide_ratings <- function(data = sure_wide(), ...) {
  ratings(data, raters = a:c, systems = s, case = id, confidence = sure_a:sure_c, ...)
}

long_ratings <- function(data, ...) {
  ratings(data, case = case, rater = rater, rating = rating, confidence = confidence, ...)
}

told <- function(x) {
  table <- tidy(x)
  stats::setNames(as.character(table$confidence), paste0(table$case, table$rater))
}

test_that("confidence is kept beside its rating, in all layouts", {
  x <- wide_ratings()
  known <- c(
    aa = "sure", ab = "guess", ac = "so", ba = "guess", bb = "so", bc = "so", ca = "so", cb = "so",
    cc = "sure", da = NA, dc = "guess", eb = "sure", ec = "guess"
  )
  expect_identical(told(x)[names(known)], known)
  table <- tidy(x)
  expect_identical(levels(table$confidence), levels_of_three)
  expect_true(is.ordered(table$confidence))
  again <- long_ratings(table[nrow(table):1, ], systems = tidy(x, "systems"))
  expect_identical(told(again)[names(known)], known)
  # Patterns know nothing of it, nor do models that do not use it.
  plain <- ratings(sure_wide(), raters = a:c, systems = s, case = id)
  expect_identical(x$patterns, plain$patterns)
  expect_equal(coef(fit_raters(x)), coef(fit_raters(plain)))
})

test_that("it goes with cases and raters", {
  x <- wide_ratings()
  expect_identical(told(x[c(4, 1), ]), told(x)[c("da", "dc", "aa", "ab", "ac")])
  expect_identical(told(x[c("c", "b"), c("c", "a")])[c("bc", "ba", "cc", "ca")],
    told(x)[c("bc", "ba", "cc", "ca")])
  expect_identical(unname(told(x[c(1, 1), ])), unname(told(x)[c("aa", "ab", "ac")])[c(1:3, 1:3)])
  groups <- wide_ratings(rater_groups = c(a = "g", b = "g"))
  expect_false("confidence" %in% names(tidy(as_ratings(groups, votes = TRUE))))
})

test_that("numbers are cut at fifths, and logicals are levels", {
  data <- sure_wide()
  data$sure_a <- c(0.6, 0.2, 0, NA, NA)
  data$sure_b <- c(1, 0.59, 0.8, NA, 0.4)
  data$sure_c <- NA
  x <- wide_ratings(data)
  expect_identical(
    told(x)[c("aa", "ba", "ca", "ab", "bb", "cb", "eb")],
    c(aa = "[0.6, 0.8)", ba = "[0.2, 0.4)", ca = "[0, 0.2)", ab = "[0.8, 1]", bb = "[0.4, 0.6)",
      cb = "[0.8, 1]", eb = "[0.4, 0.6)")
  )
  long <- data.frame(case = rep(1:3, 2), rater = rep(c("a", "b"), each = 3), rating = c(1, 2))
  long$confidence <- c(TRUE, FALSE, NA, TRUE, TRUE, FALSE)
  expect_identical(unname(told(long_ratings(long))),
    c("TRUE", "TRUE", "FALSE", "TRUE", NA, "FALSE"))
})

test_that("it is told of", {
  expect_snapshot(wide_ratings())
})

test_that("what cannot be a confidence is refused", {
  fails <- function(data, topic, match, code = wide_ratings(data)) {
    error <- rlang::catch_cnd(code)
    expect_s3_class(error, paste0("fallible_error_", topic))
    expect_match(conditionMessage(error), match)
    error
  }
  data <- sure_wide()
  data$sure_a[4:5] <- "so"
  error <- fails(data, "confidence", "Row 5 of column \"sure_a\"")
  expect_identical(error$row, 5L)
  data <- sure_wide()
  data$sure_a <- 1:5
  fails(data, "columns", "the same type in all")
  data[c("sure_b", "sure_c")] <- 1
  expect_identical(fails(data, "confidence", "holds 2.*4 rows")$row, 2:5)
  data[c("sure_a", "sure_b", "sure_c")] <- NA
  fails(data, "confidence", "has no values")
  data$sure_a <- "sure"
  fails(data, "columns", "ordered factors")
  data$sure_a <- factor("sure")
  fails(data, "columns", "without an order")
  data$sure_a <- factor("1", 1:6, ordered = TRUE)
  fails(data, "columns", "has 6")
  data$sure_a <- factor("1", 1, ordered = TRUE)
  fails(data, "columns", "has 1")
  data <- sure_wide()
  data$sure_b <- factor(data$sure_b, rev(levels_of_three), ordered = TRUE)
  fails(data, "columns", "the same levels")
  data <- sure_wide()
  fails(data, "argument", "3 raters.* 2 columns",
    ratings(data, raters = a:c, confidence = sure_a:sure_b))
  fails(data, "columns", "one role", ratings(data, raters = a:c, confidence = c))
  fails(data, "columns", "must select", ratings(data, raters = a:c, confidence = nobody))
  names(data)[[1]] <- "confidence"
  fails(data, "columns", "must not have names",
    ratings(data, raters = a:c, confidence = sure_a:sure_c, covariates = confidence))
})

test_that("what knows no single rating of a rater has no confidence", {
  counts <- data.frame(x = c(2, 1), y = c(0, 1), sure = 1)
  expect_error(ratings(counts, counts = x:y, confidence = sure), "ounts of ratings do not",
    class = "fallible_error_argument")
  long <- tidy(wide_ratings())
  for (repeats in c("ratings", "reruns", "labels")) {
    expect_error(long_ratings(long, repeats = repeats), "repeats", class = "fallible_error_argument")
  }
  table <- table(c("x", "y"), c("x", "y"))
  expect_error(ratings(table, confidence = sure), class = "fallible_error_argument")
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "answers", data.frame(a = 1:2, b = 1:2, p = 0.5, q = 0.5))
  expect_error(
    ratings(dplyr::tbl(con, "answers"), raters = a:b, confidence = p:q),
    class = "fallible_error_database"
  )
})

test_that("that of systems is not used, with a warning, and new ratings need all of it", {
  long <- rbind(
    tidy(wide_ratings()), tibble::tibble(
      case = "a", rater = "s", rating = "x",
      confidence = factor("so", levels_of_three, ordered = TRUE)
    )
  )
  warning <- rlang::catch_cnd(long_ratings(long, systems = "s"), "fallible_warning_confidence")
  expect_identical(warning$systems, "s")
  x <- quiet(long_ratings(long, systems = "s"))
  expect_identical(told(x), told(wide_ratings()))
  fit <- quiet(fit_raters(x))
  new <- data.frame(case = "a", rater = "d", rating = "x")
  expect_error(update(fit, new = new), "confidence", class = "fallible_error_argument")
})

test_that("columns without any confidence, and rows of systems, keep their places", {
  wide <- data.frame(
    a = c("x", "y", "x"), b = c("x", "y", "y"), c = c("x", "x", "y"), ca = c(TRUE, FALSE, TRUE),
    cb = NA_character_, cc = NA
  )
  x <- ratings(wide, raters = a:c, confidence = ca:cc)
  expect_identical(x$confidence$code, c(2L, 1L, 2L))
  expect_null(x[, c("b", "c")]$confidence)
  expect_false(any(grepl("Confidence", format_header(x[, c("b", "c")]))))
  wide$ca <- c(0.2, 0.5, 0.8)
  expect_identical(ratings(wide, raters = a:c, confidence = ca:cc)$confidence$code, c(2L, 3L, 5L))
  long <- data.frame(
    case = c(1, 2, 1, 2, 1, 2), rater = c("s", "s", "a", "a", "b", "b"),
    rating = c("x", "y", "x", "y", "x", "x"), sure = c(NA, NA, 0.1, 0.2, 0.3, 1.5)
  )
  e <- expect_error(
    ratings(long, case = case, rater = rater, rating = rating, confidence = sure, systems = "s"),
    "Row 6 .* holds 1.5", class = "fallible_error_confidence"
  )
  expect_identical(e$row, 6L)
})

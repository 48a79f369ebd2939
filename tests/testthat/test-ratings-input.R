#' @srrstats {G5.8a, G5.8b, G5.8c, UL7.0} no rows, wrong types, all missing.
# Each bad input has a separate class, and a message that says where and what to do.

good <- data.frame(id = 1:3, r1 = c("a", "b", "a"), r2 = c("a", "b", "b"), s = c("a", "a", "b"))
long <- data.frame(
  case = rep(1:3, 2), rater = rep(c("r1", "r2"), each = 3),
  rating = c("a", "b", "a", "a", "b", "b")
)

test_that("all errors are errors of the package", {
  expect_error(ratings(good[0, ], raters = r1:r2), class = "fallible_error")
})

test_that("categories that were not declared are refused", {
  wrong <- transform(good, s = c("a", "q", "q"))
  expect_error(ratings(wrong, raters = r1:r2, systems = s), class = "fallible_error_category")
  expect_snapshot(error = TRUE, ratings(wrong, raters = r1:r2, systems = s))
  expect_snapshot(error = TRUE, ratings(good, raters = r1:r2, categories = c("b", "c")))
  systems <- data.frame(case = 1:2, system = "m", prediction = c("a", "zz"))
  caught <- tryCatch(
    ratings(long, case = case, rater = rater, rating = rating, systems = systems),
    fallible_error_category = identity
  )
  expect_identical(caught$row, 2L)
  expect_identical(caught$found, "zz")
})

test_that("a rater twice on a case is a mistake unless said otherwise", {
  twice <- rbind(long, data.frame(case = 2, rater = "r1", rating = "a"))
  expect_error(ratings(twice, case = case, rater = rater, rating = rating),
    class = "fallible_error_repeat")
  expect_snapshot(error = TRUE, ratings(twice, case = case, rater = rater, rating = rating))
  x <- ratings(twice, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_equal(nrow(as.data.frame(x)), 7)
  systems <- data.frame(case = c(1, 1), system = "m", prediction = "a")
  expect_snapshot(
    error = TRUE, ratings(long, case = case, rater = rater, rating = rating, systems = systems)
  )
  expect_snapshot(error = TRUE, ratings(good, raters = r1:r2, repeats = "ratings"))
})

test_that("copies of rows of long data are left out, unless other rows are repeats", {
  data <- transform(long, sure = seq(0.5, 0.9, length.out = nrow(long)), w = 1)
  read <- function(data, ...) {
    ratings(data, case = case, rater = rater, rating = rating, confidence = sure, weights = w, ...)
  }
  expect_warning(
    x <- read(data[c(2, 1, 2:nrow(data), 1), ]), "2 rows identical to another row",
    class = "fallible_warning_left_out"
  )
  expect_identical(
    as.data.frame(x)[c("case", "rater", "rating")],
    as.data.frame(read(data[c(2, 1, 3:nrow(data)), ]))[c("case", "rater", "rating")]
  )
  other <- transform(data[1, ], sure = 0.1)
  expect_error(read(rbind(data, data[2, ], other)), "1 row is equal to another row in all columns",
    class = "fallible_error_repeat")
})

test_that("copies of rows are no reruns if a column differs between all reruns", {
  runs <- expand.grid(run_id = 1:5, judge = c("g", "h"), id = 1:6)
  runs$verdict <- c("x", "y", "y")[runs$run_id %% 3 + 1]
  read <- function(data, repeats = "reruns") {
    ratings(data, case = id, rater = judge, rating = verdict, repeats = repeats,
      rater_kind = "model")
  }
  for (repeats in c("reruns", "ratings")) {
    expect_warning(x <- read(runs[c(seq_len(nrow(runs)), 4:7), ], repeats),
      "4 rows identical.*differ in \"run_id\"", class = "fallible_warning_left_out")
    expect_identical(x$copies, 4L)
    expect_identical(tidy(x), tidy(read(runs, repeats)))
  }
  expect_match(tidy(data_check(x))$found[[1L]], "4 rows left out as copies")
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(runs[c(seq_len(nrow(runs)), 4:7), ], path, row.names = FALSE)
  expect_warning(y <- read_ratings(path, case = id, rater = judge, rating = verdict,
    repeats = "reruns", rater_kind = "model"), "4 rows identical to another row")
  expect_identical(tidy(y)$rating, tidy(read(runs))$rating)
  # A rater without reruns has no agreement of reruns.
  human <- data.frame(run_id = 91:96, judge = "ann", id = 1:6, verdict = "x")
  expect_warning(z <- read(rbind(runs, human, human)), "6 rows identical")
  expect_identical(is.na(tidy(z, "raters")$rerun_agreement), c(FALSE, FALSE, TRUE))
})

test_that("equal rows are repeated ratings if no column differs between all of them", {
  twice <- data.frame(
    id = rep(1:6, each = 4), coder = c("a", "b"), code = rep(c("x", "y"), each = 2)
  )
  twice$code[1:2] <- c("y", "x")
  twice$note <- replace(rep(NA, 24), c(3, 9), "unsure")
  for (repeats in c("reruns", "ratings")) {
    x <- ratings(twice[names(twice) != "note"], case = id, rater = coder, rating = code,
      repeats = repeats, rater_kind = "expert")
    expect_null(x$copies)
  }
  x <- ratings(twice, case = id, rater = coder, rating = code, repeats = "ratings",
    rater_kind = "expert")
  expect_identical(glance(x)$ratings, 24)
})

test_that("copies of rows of wide data are left out, with scores and covariates of the others", {
  wide <- data.frame(id = 1:6, a = c("x", "y"), b = c("x", "y", "y"), s = rep(c("y", "x"), 3),
    p = (1:6) / 7, site = 1:6)
  read <- function(data) {
    ratings(data, raters = a:b, systems = s, case = id, covariates = site, rater_kind = "expert",
      scores = list(s = c(y = "p")))
  }
  expect_warning(x <- read(wide[c(1:4, 2, 5, 6, 1), ]), "2 rows identical to another row",
    class = "fallible_warning_left_out")
  expected <- unclass(read(wide))
  expect_identical(unclass(x)[setdiff(names(expected), "rows")],
    expected[setdiff(names(expected), "rows")])
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(wide[c(1:4, 2, 5, 6, 1), ], path, row.names = FALSE)
  expect_warning(y <- read_ratings(path, raters = c(a, b), case = id, rater_kind = "expert"),
    "2 rows identical to another row")
  expect_identical(tidy(y)$rating, tidy(x)$rating)
  # Rows that differ in another column are no copies, also in a file that has the column.
  wide[7, ] <- transform(wide[1, ], site = 9)
  utils::write.csv(wide, path, row.names = FALSE)
  expect_error(read(wide), class = "fallible_error_case")
  expect_error(read_ratings(path, raters = c(a, b), case = id), class = "fallible_error_case")
})

test_that("numbers in columns of text are in numeric order, without a warning", {
  grades <- c("-2", "10", "9", "-1", "0")
  path <- withr::local_tempfile(fileext = ".csv")
  long <- data.frame(case = rep(1:5, each = 2), rater = c("a", "b"), grade = rep(grades, 2))
  utils::write.csv(long, path, row.names = FALSE)
  in_order <- c("-2", "-1", "0", "9", "10")
  expect_no_warning({
    x <- read_ratings(path, case = case, rater = rater, rating = grade, ordered = TRUE,
      rater_kind = "expert")
    y <- ratings(long, case = case, rater = rater, rating = grade, ordered = TRUE,
      rater_kind = "expert")
  })
  expect_identical(x$categories, in_order)
  expect_identical(y$categories, in_order)
  long$grade <- factor(long$grade)
  z <- ratings(long, case = case, rater = rater, rating = grade, ordered = TRUE,
    rater_kind = "expert")
  expect_identical(z$categories, in_order)
})

test_that("no rater, and fewer than two categories, are refused; one rater is not", {
  expect_error(ratings(good, raters = character()), class = "fallible_error_raters")
  expect_snapshot(error = TRUE, ratings(data.frame(a = 1:0, b = 0:1), counts = a:b))
  one <- ratings(good, raters = r1, systems = s, categories = c("a", "b"))
  expect_identical(dim(one), c(nrow(good), 1L))
  expect_output(print(one), "1 rater.*agreement is unknown.*known_truth or known_raters")
  expect_error(
    ratings(transform(good, r1 = NA), raters = r1, categories = c("a", "b")),
    class = "fallible_error_missing"
  )
  expect_error(
    ratings(long[long$rater == "r1", ], case = case, rater = rater, rating = rating,
      repeats = "labels"), class = "fallible_error_raters"
  )
  expect_error(ratings(cbind(c("a", "a"), c("a", "a"))), class = "fallible_error_categories_few")
  expect_snapshot(error = TRUE, ratings(cbind(c("a", "a"), c("a", "a"))))
  expect_identical(
    ratings(cbind(c("a", "a"), c("a", "a")), categories = c("a", "b"))$categories, c("a", "b")
  )
})

test_that("more than 1000 categories are refused, 1000 are not", {
  expect_error(ratings(cbind(1:1001, 1:1001)), class = "fallible_error_categories_many")
  expect_snapshot(error = TRUE, ratings(cbind(1:1001, 1:1001)))
  expect_length(quiet(ratings(cbind(1:1000, 1:1000)))$categories, 1000L)
})

test_that("a system without predictions, or without rated cases, is refused", {
  expect_error(ratings(transform(good, s = NA), raters = r1:r2, systems = s),
    class = "fallible_error_system")
  expect_snapshot(error = TRUE, ratings(transform(good, s = NA), raters = r1:r2, systems = s))
  elsewhere <- data.frame(case = 7:8, system = "m", prediction = "a")
  expect_error(ratings(good, raters = r1:r2, case = id, systems = elsewhere),
    class = "fallible_error_unrated")
  expect_snapshot(error = TRUE, ratings(good, raters = r1:r2, case = id, systems = elsewhere))
})

test_that("case identifiers must be of one type", {
  systems <- data.frame(case = c("1", "2"), system = "m", prediction = "a")
  expect_error(ratings(good, raters = r1:r2, case = id, systems = systems),
    class = "fallible_error_case_type")
  expect_snapshot(error = TRUE, ratings(good, raters = r1:r2, case = id, systems = systems))
  # Integers and doubles, factors and strings, are of one type.
  systems$case <- c(1, 2)
  expect_identical(nrow(ratings(good, raters = r1:r2, case = id, systems = systems)), 3L)
  text <- transform(good, id = factor(c("x", "y", "z")))
  systems$case <- c("x", "y")
  expect_identical(nrow(ratings(text, raters = r1:r2, case = id, systems = systems)), 3L)
})

test_that("data without any rating, or without rows, are refused", {
  expect_error(ratings(transform(good, r1 = NA, r2 = NA), raters = r1:r2),
    class = "fallible_error_missing")
  expect_snapshot(error = TRUE, ratings(transform(good, r1 = NA, r2 = NA), raters = r1:r2))
  expect_error(ratings(data.frame(a = c(0, 0), b = c(0, 0)), counts = a:b),
    class = "fallible_error_missing")
  expect_error(ratings(good[0, ], raters = r1:r2), class = "fallible_error_empty")
  expect_snapshot(error = TRUE, ratings(good[0, ], raters = r1:r2))
})

test_that("weights must be finite, not negative and not all zero", {
  for (bad in list(c(1, -1, 1), c(1, NA, 1), c(1, Inf, 1), c(0, 0, 0))) {
    expect_error(ratings(transform(good, w = bad), raters = r1:r2, weights = w),
      class = "fallible_error_weights")
  }
  expect_snapshot(error = TRUE, {
    ratings(transform(good, w = c(1, -1, 1)), raters = r1:r2, weights = w)
    ratings(transform(good, w = 0), raters = r1:r2, weights = w)
    ratings(transform(good, w = "1"), raters = r1:r2, weights = w)
    ratings(transform(long, w = 1:6), case = case, rater = rater, rating = rating, weights = w)
  })
  unseen <- data.frame(case = 9, system = "m", prediction = "a")
  expect_error(
    ratings(transform(good, w = 1), raters = r1:r2, case = id, weights = w, systems = unseen),
    class = "fallible_error_weights"
  )
})

test_that("counts must be whole numbers", {
  for (bad in list(c(1, -1), c(1, NA), c(1, 0.5), c(1, 1e6))) {
    expect_error(ratings(data.frame(a = bad, b = 2), counts = a:b),
      class = "fallible_error_counts")
  }
  expect_snapshot(error = TRUE, ratings(data.frame(a = c(2, -1), b = 2), counts = a:b))
  expect_error(ratings(data.frame(a = 1, b = 2), counts = a:b, categories = c("a", "c")),
    class = "fallible_error_category")
  expect_identical(
    ratings(data.frame(a = 1, b = 2), counts = a:b, categories = c("z", "b", "a"))$categories,
    c("z", "b", "a")
  )
})

test_that("cases must be known and, in wide data, differ", {
  expect_error(ratings(transform(good, id = c(1, 1, 2)), raters = r1:r2, case = id),
    class = "fallible_error_case")
  expect_error(ratings(transform(good, id = c(1, NA, 2)), raters = r1:r2, case = id),
    class = "fallible_error_case")
  for (blank in c("", " ")) {
    expect_error(ratings(transform(good, id = c("1", blank, "2")), raters = r1:r2, case = id),
      "first in row 2", class = "fallible_error_case")
    anonymous <- transform(long, rater = factor(rep_len(c("ann", blank), nrow(long))))
    expect_error(ratings(anonymous, case = case, rater = rater, rating = rating),
      "first in row 2", class = "fallible_error_case")
  }
  expect_snapshot(error = TRUE, {
    ratings(transform(good, id = c(1, 1, 2)), raters = r1:r2, case = id)
    ratings(transform(good, id = c(1, NA, 2)), raters = r1:r2, case = id)
    ratings(transform(long, rater = NA_character_), case = case, rater = rater, rating = rating)
  })
})

test_that("columns must exist, be usable and have one role", {
  expect_error(ratings(good, raters = r1:r9), class = "fallible_error_columns")
  expect_error(ratings(good, raters = r1:s, systems = s), class = "fallible_error_columns")
  expect_error(ratings(good, raters = r1:r2, case = starts_with("no_")),
    class = "fallible_error_columns")
  dates <- data.frame(r1 = as.list(1:2), r2 = 1:2)
  dates$r1 <- list(1, 2)
  expect_error(ratings(dates, raters = c(r1, r2)), class = "fallible_error_columns")
  named_twice <- stats::setNames(good, c("id", "r1", "r1", "s"))
  expect_error(ratings(named_twice, raters = r1), class = "fallible_error_columns")
  expect_snapshot(error = TRUE, {
    ratings(good, raters = r1:s, systems = s)
    ratings(dates, raters = c(r1, r2))
    ratings(good, raters = r1:r2, systems = data.frame(case = 1, prediction = "a"))
  })
})

test_that("an empty string is not a category", {
  expect_error(ratings(transform(good, r2 = c("a", "", "b")), raters = r1:r2),
    class = "fallible_error_blank")
  expect_snapshot(error = TRUE, ratings(transform(good, r2 = c("a", "", "b")), raters = r1:r2))
})

test_that("the layout must be clear", {
  expect_error(ratings(good), class = "fallible_error_argument")
  expect_error(ratings(1:3), class = "fallible_error_argument")
  expect_error(ratings(long, case = case, rater = rater), class = "fallible_error_argument")
  expect_error(ratings(long, rater = rater, rating = rating), class = "fallible_error_argument")
  expect_error(ratings(good, raters = r1:r2, counts = s), class = "fallible_error_argument")
  expect_error(ratings(good, rators = r1:r2), class = "fallible_error_argument")
  expect_error(ratings(good, raters = r1:r2, ordered = NA), class = "fallible_error_argument")
  expect_error(ratings(good, raters = r1:r2, categories = c("a", "a")),
    class = "fallible_error_argument")
  expect_error(
    ratings(transform(long, m = "a"), case = case, rater = rater, rating = rating, systems = m),
    class = "fallible_error_argument"
  )
  expect_snapshot(error = TRUE, {
    ratings(good)
    ratings(good, rators = r1:r2)
    ratings(1:3)
    ratings(transform(long, m = "a"), case = case, rater = rater, rating = rating, systems = m)
  })
})

test_that("values instead of columns are refused, not taken for numbers of columns", {
  expect_error(ratings(good, raters = r1:r2, weights = rep(2, 3)),
    class = "fallible_error_columns")
  expect_error(ratings(good, raters = r1:r2, case = good$id), class = "fallible_error_columns")
  expect_snapshot(error = TRUE, ratings(good, raters = r1:r2, weights = rep(2, 3)))
  expect_identical(ratings(good, raters = r1:r2, case = starts_with("i"))$cases, 1:3)
})

test_that("systems that select nothing are refused", {
  expect_error(ratings(good, raters = r1:r2, systems = starts_with("model")),
    class = "fallible_error_columns")
})

test_that("labels that look like mistakes are warned about", {
  wide <- transform(good, r1 = c("A", "b ", "a"))
  caught <- tryCatch(ratings(wide, raters = r1:r2), fallible_warning_labels = identity)
  expect_identical(caught$labels, c("A", "a", "b", "b "))
  expect_snapshot(x <- ratings(wide, raters = r1:r2))
  expect_output(print(quiet(ratings(wide, raters = r1:r2))), "\"b \"", fixed = TRUE)
  expect_silent(ratings(wide, raters = r1:r2, categories = c("A", "a", "b", "b ")))
  ids <- data.frame(id = sprintf("d%02d", 1:30), r = rep(c("a", "b"), 15))
  expect_warning(
    expect_warning(ratings(as.matrix(ids)), "32 categories", class = "fallible_warning_labels"),
    "uses the labels of", class = "fallible_warning_labels"
  )
})

test_that("arguments that do not exist are compared with those that do", {
  expect_snapshot(error = TRUE, {
    ratings(good, r1:r2)
    ratings(good, raters = r1:r2, system = s)
    estimate_accuracy(lehner_ratings(), conf.level = 0.8)
    ratings()
  })
  expect_error(ratings(), class = "fallible_error_argument")
})

test_that("dates are not categories, nor are they described as numbers", {
  expect_snapshot(error = TRUE, {
    ratings(transform(good, r1 = as.Date("2020-01-01") + 0:2), raters = r1:r2)
    ratings(good, raters = r1:r2, categories = c("a", "b", "a"))
    ratings(good, raters = r1:r2, systems = data.frame(case = "x", system = "s", prediction = "a"))
  })
})

test_that("labels of numbers are those numbers", {
  x <- ratings(data.frame(r1 = c(1e5, 2, 0.5), r2 = c(100000L, 2L, 2L)), raters = r1:r2)
  expect_identical(x$categories, c("0.5", "2", "100000"))
  y <- ratings(
    data.frame(r1 = c(1e5, 2), r2 = c("2", "100000")), raters = r1:r2, categories = c(2, 1e5)
  )
  expect_identical(y$categories, c("2", "100000"))
})

test_that("a factor level for missing values is no category", {
  wide <- data.frame(r1 = addNA(factor(c("a", "b", NA))), r2 = factor(c("a", "b", "a")))
  x <- ratings(wide, raters = r1:r2, systems = data.frame(
    case = 1:2, system = "s", prediction = addNA(factor(c("a", NA)))
  ))
  expect_identical(x$categories, c("a", "b"))
  expect_identical(nrow(tidy(x)), 5L)
  expect_identical(nrow(tidy(x, "systems")), 1L)
})

# Other packages load bit64.
without_bit64 <- function(envir = parent.frame()) {
  package <- asNamespace("fallible")
  set <- function(value) {
    unlockBinding("is_bit64_loaded", package)
    assign("is_bit64_loaded", value, package)
    lockBinding("is_bit64_loaded", package)
  }
  withr::defer(set(original), envir)
  original <- package$is_bit64_loaded
  set(function() FALSE)
}

test_that("numbers that are not what they seem are refused", {
  without_bit64()
  wide <- good
  wide$r1 <- structure(c(1, 2, 1), class = "integer64")
  expect_error(ratings(wide, raters = r1:r2), class = "fallible_error_columns")
  expect_error(ratings(wide, raters = c(r2, s), case = r1), class = "fallible_error_columns")
})

test_that("too many ratings of one case are refused in any layout", {
  expect_error(ratings(data.frame(a = c(46000, 1), b = c(1000, 2)), counts = a:b),
    "Case \"1\" has 47000", class = "fallible_error_counts")
})

test_that("names of systems are text, whatever braces they have", {
  systems <- data.frame(case = 1:4, system = "m{stop('no')}", prediction = "a")
  caught <- tryCatch(
    ratings(good, raters = r1:r2, case = id, systems = systems),
    fallible_warning_unrated = conditionMessage
  )
  expect_match(caught, "m{stop('no')}: 1 of 4", fixed = TRUE)
})

test_that("raters and systems cannot share a name, nor systems be empty", {
  systems <- data.frame(case = 1:3, system = "r1", prediction = "a")
  expect_error(ratings(good, raters = r1:r2, case = id, systems = systems), "both a rater",
    class = "fallible_error_columns")
  expect_error(ratings(good, raters = r1:r2, case = id, systems = systems[0, ]),
    class = "fallible_error_system")
})

test_that("weights beyond counting are refused", {
  expect_error(ratings(transform(good, w = 1e18), raters = r1:r2, weights = w),
    class = "fallible_error_weights")
})

test_that("orders must agree, and columns without labels decide nothing", {
  wide <- data.frame(
    r1 = factor(c("lo", "hi"), levels = c("lo", "hi"), ordered = TRUE),
    r2 = factor(c("lo", "hi"), levels = c("hi", "lo"), ordered = TRUE)
  )
  expect_error(ratings(wide, raters = r1:r2), class = "fallible_error_columns")
  numbers <- data.frame(r1 = c(1, 2, 10, 9), r2 = c(1, 2, 10, 10), r3 = NA)
  expect_warning(x <- ratings(numbers, raters = r1:r3), class = "fallible_warning_raters")
  expect_identical(x$categories, c("1", "2", "9", "10"))
  blank <- data.frame(
    r1 = factor(c("a", "b"), levels = c("", "a", "b")),
    r2 = factor(c("a", "b"))
  )
  expect_identical(ratings(blank, raters = r1:r2)$categories, c("a", "b"))
})

test_that("factors with unused levels are allowed and declare categories", {
  wide <- data.frame(
    r1 = factor(c("a", "b"), levels = c("a", "b", "c")), r2 = factor(c("a", "a")), s = "c"
  )
  x <- ratings(wide, raters = r1:r2, systems = s)
  expect_identical(x$categories, c("a", "b", "c"))
})

test_that("a grouped data frame is pooled, and says so", {
  grouped <- function(data, ...) {
    groups <- tibble::as_tibble(stats::setNames(list(1, 2)[seq_along(c(...))], c(...)))
    groups$.rows <- list(seq_len(nrow(data)))
    structure(tibble::as_tibble(data), groups = groups,
      class = c("grouped_df", "tbl_df", "tbl", "data.frame"))
  }
  wide <- transform(good, site = c("n", "s", "n"), `a b` = 1, check.names = FALSE)
  expect_snapshot({
    x <- ratings(grouped(wide, "site"), raters = r1:r2)
    x <- ratings(grouped(wide, c("site", "a b")), raters = r1:r2)
  })
  expect_warning(ratings(grouped(wide, "site"), raters = r1:r2), class = "fallible_warning_grouped")
  long <- data.frame(id = c(1, 1, 2, 2), who = c("r", "s"), said = c("a", "b", "a", "a"), site = 1)
  read <- function(...) ratings(grouped(long, ...), case = id, rater = who, rating = said)
  expect_snapshot(x <- read("site"))
  expect_silent(read("id"))
  expect_silent(read(c("id", "who")))
})

# The bits of 64-bit integers, by halves.
integer64 <- function(value) {
  low <- value %% 2^32
  high <- floor(value / 2^32)
  signed <- function(x) suppressWarnings(as.integer(ifelse(x >= 2^31, x - 2^32, x)))
  halves <- rbind(signed(low), signed(high %% 2^32))
  halves[, is.na(value)] <- c(0L, NA)
  bytes <- writeBin(as.vector(halves), raw(), endian = "little")
  structure(readBin(bytes, "double", length(value), endian = "little"), class = "integer64")
}

test_that("64-bit integers are numbers", {
  value <- c(0, 1, -1, 2^31, -2^31, 2^32 + 5, -2^40 - 3, 2^53 - 1, 1 - 2^53, NA)
  expect_identical(plain_integers(integer64(value)), value)
  data <- data.frame(id = c(7, 7, 2^52, 2^52), who = c(1, 2, 1, 2), said = c(1, 2, 2, 2), n = 3)
  systems <- data.frame(case = c(7, 2^52), system = 9, prediction = 1:2)
  read <- function(data, systems) {
    ratings(data, case = id, rater = who, rating = said, weights = n, systems = systems)
  }
  wide <- function(data) {
    data[] <- lapply(data, integer64)
    data
  }
  expect_identical(read(wide(data), wide(systems)), read(data, systems))
  expect_identical(as_label(integer64(c(2^53 - 1, 3))), c("9007199254740991", "3"))
  expect_identical(check_declared_categories(integer64(1:2)), c("1", "2"))
})

test_that("2^53 and 2^53 + 1 are different identifiers", {
  skip_if_not_installed("bit64")
  ids <- getExportedValue("bit64", "as.integer64")(c("9007199254740992", "9007199254740993"))
  data <- data.frame(id = ids, a = c("x", "y"), b = "x")
  expect_identical(quiet(ratings(data, case = id, raters = a:b))$cases, as.character(ids))
})

test_that("64-bit integers that no double holds are left to their package", {
  huge <- data.frame(id = 1:2, a = c("x", "y"), b = "x")
  huge$id <- integer64(c(2^60, 1))
  without_bit64()
  expect_snapshot(error = TRUE, ratings(huge, case = id, raters = a:b))
})

test_that("labels of numbers do not depend on options", {
  numbers <- c(0.5, 1, 1e5, 123456.5, 1e-5)
  labels <- as_label(numbers)
  x <- quiet(ratings(matrix(c("a", "b"), 1200, 2)))
  withr::local_options(OutDec = ",", scipen = -5)
  expect_identical(as_label(numbers), labels)
  expect_identical(labels[[1]], "0.5")
  expect_no_warning(expect_match(format(x), "1,200 cases", fixed = TRUE))
})

test_that("labels of large numbers are all their digits", {
  expect_identical(as_label(c(2^52 + 1, 1e15)), c("4503599627370497", "1000000000000000"))
})

wide <- data.frame(id = 1:4, r1 = c("a", "b", "a", "b"), r2 = c("a", "b", "b", "b"), r3 = "a")

test_that("what was probably meant is said", {
  e <- expect_error(ratings(wide, rater = r1:r3, case = id), "Did you mean `raters`")
  expect_s3_class(e, "fallible_error_argument")
  e <- expect_error(ratings(wide, raters = c(r1, rr2)), "Did you mean \"r2\"\\?")
  expect_match(conditionMessage(e), "There is no column \"rr2\"")
  expect_null(e$parent)
  e <- expect_error(ratings(wide, raters = where(1)), class = "fallible_error_columns")
  expect_no_match(conditionMessage(e), "select_columns")
  wide$r3[[2L]] <- ""
  expect_error(ratings(wide, raters = r1:r3), "read_ratings.*na.strings",
    class = "fallible_error_blank")
})

test_that("columns that are no raters, and swapped columns, are warned of", {
  expect_warning(ratings(cbind(wide, day = c("m", "t", "w", "f")), raters = c(r1:r3, day)),
    "labels of \"day\": ", class = "fallible_warning_labels")
  wide$none <- NA
  expect_warning(ratings(wide, raters = c(r1, r2, r3, none)), "\"none\" has no ratings",
    class = "fallible_warning_raters")
  long <- expand.grid(item = 1:40, who = 1:3)
  long$said <- rep(c("a", "b", "b"), 40)
  expect_warning(ratings(long, case = who, rater = item, rating = said), "swapped",
    class = "fallible_warning_raters")
  expect_no_warning(ratings(long, case = item, rater = who, rating = said))
})

test_that("raters without a label of any other are named", {
  coded <- data.frame(
    case = 1:6, r1 = rep(0:1, 3), r2 = rep(c("neg", "pos"), 3), r3 = rep(c("pos", "neg"), 3)
  )
  expect_warning(
    ratings(coded, raters = r1:r2, case = case), "\"r1\" and\\s+\"r2\"",
    class = "fallible_warning_labels"
  )
  expect_warning(
    ratings(coded, raters = r1:r3, case = case), "uses the labels of \"r1\": \"0\", \"1\"",
    class = "fallible_warning_labels"
  )
  long <- data.frame(
    case = rep(1:6, 3), rater = rep(c("r1", "r2", "r3"), each = 6),
    rating = unlist(lapply(coded[-1], as.character))
  )
  expect_warning(
    ratings(long, case = case, rater = rater, rating = rating), "\"r1\"",
    class = "fallible_warning_labels"
  )
  expect_no_warning(ratings(coded, raters = r1:r2, categories = c(neg = "0", pos = "1")))
  expect_no_warning(ratings(long[-(1:2), ], case = case, rater = rater, rating = rating))
})

test_that("an argument of another function, and names that are nearly right, have a hint", {
  expect_snapshot(error = TRUE, {
    agreement(ratings(good, raters = r1:r2), na = "?", clean_labels = TRUE)
    ratings(long, case = case, rater = rater, rating = rating, systems = "R_2")
    estimate_accuracy(ratings(good, raters = r1:r2, systems = s), systems = "S")
    estimate_accuracy(ratings(good, raters = r1:r2, systems = s), by = hospital)
    estimate_accuracy(ratings(good, raters = r1:r2, systems = s), by = "hospital")
  })
})

test_that("a rare way to write a label is joined to the frequent one", {
  d <- data.frame(a = c("Neutral", "Good", "Neutral", "NEUTRAL"), b = c("Neutral", "Good"))
  expect_warning(ratings(d, raters = a:b), "\"NEUTRAL\".*clean_labels = TRUE",
    class = "fallible_warning_labels")
  expect_identical(
    quiet(ratings(d, raters = a:b, clean_labels = TRUE))$categories, c("Good", "Neutral")
  )
})

labelled <- function(x, labels, ..., class = NULL) {
  structure(x, labels = labels, ..., class = c(class, "haven_labelled", "vctrs_vctr", typeof(x)))
}

test_that("columns of haven are factors of their labels", {
  code <- c(no = 0, yes = 1)
  data <- tibble::tibble(
    id = 1:4, a = labelled(c(0, 1, 1, NA), code), b = c("no", "yes", "no", "no")
  )
  expect_message(x <- ratings(data, raters = c(a, b), case = id), "factors: \"a\"")
  expect_identical(x$categories, c("no", "yes"))
  expect_identical(as.character(tidy(x)$rating), c("no", "no", "yes", "yes", "yes", "no", "no"))
  expect_identical(quiet(as_ratings(data)), x)
  # Values without labels, values that are declared to be missing, strings, and no labels
  scale <- c(high = 3, low = 1, "do not know" = 8, refused = 9)
  value <- labelled_factor(labelled(c(2, 1, 8, 9, 3), scale, na_values = 9, na_range = c(7, 8.5),
    class = "haven_labelled_spss"))
  expect_identical(value, factor(c("2", "low", NA, NA, "high"), c("low", "2", "high")))
  value <- labelled_factor(labelled(c("y", "n", "y"), c(Yes = "y", No = "n")))
  expect_identical(value, factor(c("Yes", "No", "Yes"), c("No", "Yes")))
  expect_identical(labelled_factor(labelled(c(2L, 1L), NULL)), factor(2:1))
  long <- data.frame(
    case = labelled(c(1, 1, 2, 2), c(first = 1)),
    who = labelled(c(1L, 2L, 1L, 2L), c(ann = 1L, bob = 2L)),
    said = labelled(c(0, 1, 1, 1), code)
  )
  x <- quiet(ratings(long, case = case, rater = who, rating = said))
  expect_identical(x$raters, c("ann", "bob"))
  expect_identical(x$cases, c("first", "2"))
})

test_that("ordered = TRUE warns if the order of words is a guess", {
  words <- data.frame(a = c("good", "bad", "fair"), b = c("good", "fair", "bad"))
  in_order <- function(data, ...) ratings(data, raters = c(a, b), ordered = TRUE, ...)
  w <- expect_warning(in_order(words), class = "fallible_warning_order")
  expect_match(conditionMessage(w), "categories = c(\"bad\", \"fair\", \"good\")", fixed = TRUE)
  expect_warning(
    in_order(data.frame(a = c("1", "2", "10"), b = c("1", "2", "x"))),
    class = "fallible_warning_order"
  )
  expect_no_warning(in_order(words, categories = c("bad", "fair", "good")))
  words[] <- lapply(words, factor, c("bad", "fair", "good"))
  expect_no_warning(in_order(words))
  expect_no_warning(in_order(data.frame(a = c(1, 2, 10), b = 1)))
  expect_no_warning(in_order(data.frame(a = c("no", "yes"), b = "no")))
})

test_that("orders of factors with different levels are merged", {
  in_order <- function(...) quiet(ratings(data.frame(...), raters = c(a, b), ordered = TRUE))
  words <- c("low", "mid", "high", "top")
  expect_order <- function(categories, ...) {
    expect_no_warning(in_order(...), class = "fallible_warning_order")
    expect_identical(in_order(...)$categories, categories)
  }
  expect_order(words, a = factor(words[-2], words[-2]), b = factor(words[-1], words))
  expect_order(words[1:3], a = factor(words[1:3], words[1:3]), b = words[c(1, 3, 2)])
  expect_order(words[1:3], a = ordered(words[1:3], words[1:3]), b = factor(words[1:3]))
  expect_order(c("1", "2", "3", "4"), a = factor(c(1, 3, 4)), b = factor(1:3))
  expect_order(c("1", "3", "4", "5"), a = ordered(c(1, 4, 5)), b = ordered(c(1, 3, 5)))
  expect_order(c("1", "2", "10"), a = factor(c("1", "10", "2")), b = factor("2"))
  expect_order(c("3", "2", "1"), a = factor(1:3, 3:1), b = factor(1:3, 3:1))
  contradicting <- list(a = factor(words, words), b = factor(words, rev(words)))
  lacking <- list(a = factor(words[1:2], words[1:2]), b = c("mid", "top"))
  for (columns in list(contradicting, lacking)) expect_warning(
    ratings(list2DF(columns), raters = c(a, b), ordered = TRUE), "factors",
    class = "fallible_warning_order"
  )
  expect_error(in_order(a = ordered(c("x", "y")), b = ordered(c("x", "y"), c("y", "x"))),
    "\"x < y\" and \"y < x\"", class = "fallible_error_columns")
  # A cycle of three orders, of which each two agree
  orders <- list(c("x", "y"), c("y", "z"), c("z", "x"))
  expect_null(merge_orders(orders, c("x", "y", "z")))
  expect_identical(merge_orders(orders[2:3], c("x", "y", "z")), c("y", "z", "x"))
})

test_that("na and clean_labels of ratings() do what those of read_ratings() do", {
  wide <- data.frame(
    a = c("good", "Good ", "n/a", "bad", "-"), b = c("good", "good", "bad", "BAD", "bad")
  )
  read <- function(...) ratings(..., na = c("N/A", "-"), clean_labels = TRUE)
  expect_snapshot(x <- read(wide, raters = a:b))
  expect_identical(as.character(tidy(x)$rating),
    c("good", "good", "good", "good", "bad", "bad", "bad", "bad"))
  expect_identical(tidy(x)$rater, c("a", "b", "a", "b", "b", "a", "b", "b"))
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(wide, path, row.names = FALSE)
  y <- quiet(read_ratings(path, raters = c(a, b), na = c("N/A", "-"), clean_labels = TRUE))
  expect_identical(tidy(y), tidy(x))
  expect_identical(quiet(as_ratings(wide, na = c("N/A", "-"), clean_labels = TRUE)), x)
  # Factors keep their order and unused levels, numbers stay numbers.
  grade <- function(x) factor(x, c("lo", "mid", "Hi", "hi", "99"), ordered = TRUE)
  ordered <- data.frame(a = grade(c("lo", "Hi", "99")), b = grade(c("lo", "hi", "hi")))
  x <- quiet(ratings(ordered, raters = c(a, b), na = 99, clean_labels = TRUE))
  expect_identical(x$categories, c("lo", "mid", "hi"))
  expect_true(x$ordered)
  expect_identical(
    quiet(ratings(data.frame(a = c(2, 10, 99), b = c(2, 2, 1)), raters = a:b, na = 99))$categories,
    c("1", "2", "10")
  )
  # Long data with systems, a truth, a table of predictions, lists of labels, empty strings
  long <- data.frame(
    case = rep(1:3, each = 3), rater = c("p", "q", "s"), true = rep(c("u", "?", "v"), each = 3),
    rating = c("u", "U", "u", "", "v", "u", "v", "v", "?")
  )
  x <- quiet(ratings(long, case = case, rater = rater, rating = rating, systems = "s", truth = true,
    na = c("", "?"), clean_labels = TRUE))
  expect_identical(x$categories, c("u", "v"))
  expect_identical(as.character(truth(x)$category), c("u", NA, "v"))
  expect_identical(as.character(tidy(x, "systems")$prediction), c("u", "u"))
  table <- data.frame(case = 1:5, system = "s", prediction = c("Good", "", "bad", "bad", "bad"))
  x <- quiet(ratings(wide, raters = a:b, systems = table, na = c("", "n/a", "-"),
    clean_labels = TRUE))
  expect_identical(as.character(tidy(x, "systems")$prediction), c("good", "bad", "bad", "bad"))
  answers <- data.frame(case = c(1, 1, 2, 2), rater = c("r", "s"))
  answers$labels <- list(c("a", "b"), "A ", "b", character())
  x <- quiet(ratings(answers, case = case, rater = rater, rating = labels, repeats = "labels",
    clean_labels = TRUE))
  expect_identical(x$categories, c("A", "b"))
  expect_error(ratings(fleiss1971, counts = depression:other, na = "x"),
    class = "fallible_error_argument")
  expect_error(ratings(table(1:2, 1:2), clean_labels = TRUE), class = "fallible_error_argument")
  expect_error(ratings(wide, raters = a:b, na = list("x")), class = "fallible_error_argument")
  expect_error(ratings(wide, raters = a:b, na = "\xff"), class = "fallible_error_encoding")
  expect_error(ratings(wide, raters = a:b, clean_labels = NA), class = "fallible_error_argument")
})

test_that("one warning proposes all labels to join, and what it proposes works", {
  wide <- data.frame(
    a = c(rep("Positive", 30), "positive ", "Postive", "postive"),
    b = c(rep("Negative", 32), "negative")
  )
  caught <- capture_warnings(ratings(wide, raters = a:b))
  proposal <- grep("To merge", caught, value = TRUE, fixed = TRUE)
  expect_length(proposal, 1L)
  expect_match(proposal, "clean_labels = TRUE")
  code <- regmatches(proposal, regexpr("c\\([^)]*\\)", proposal))
  x <- quiet(
    ratings(wide, raters = a:b, categories = eval(parse(text = code)), clean_labels = TRUE)
  )
  expect_identical(x$categories, c("Negative", "Positive"))
  expect_length(quiet(ratings(wide, raters = a:b, clean_labels = TRUE))$categories, 3L)
})

test_that("few cases with many raters look like a swap", {
  swapped <- function(cases, raters, times) {
    data <- data.frame(who = rep(seq_len(raters), times))
    data$item <- (seq_along(data$who) - 1) %/% (nrow(data) / cases)
    data$said <- rep_len(c("u", "v", "v"), nrow(data))
    ratings(data, case = item, rater = who, rating = said)
  }
  expect_warning(swapped(5, 45, 5), "swapped", class = "fallible_warning_raters")
  expect_warning(swapped(10, 30, 1), "swapped", class = "fallible_warning_raters")
  expect_silent(swapped(5, 30, 5))
  expect_silent(swapped(20, 30, 1))
})

test_that("ranges of names are the columns that tidyselect selects", {
  columns <- c("b", "a", "c")
  expect_identical(positions_by_name(quote(b:c), columns), 1:3)
  expect_identical(positions_by_name(quote(c:a), columns), 3:2)
  expect_identical(positions_by_name(quote("a"), columns), 2L)
  others <- list(quote(d), quote(a:d), quote(1:2), quote(c(a, b)), quote(-a), quote((a:b):c))
  expect_true(all(is.na(lapply(others, positions_by_name, columns))))
})

test_that("names and labels that differ in capitals or blanks, and copies of rows, are reported", {
  long <- data.frame(
    case = rep(1:4, 3), rater = rep(c("Ann", "Ben", "ben "), each = 4),
    rating = rep(c("x", "y"), 6), site = rep(c("North", "North ", "South", "North"), 3)
  )
  expect_warning(
    x <- ratings(long, case = case, rater = rater, rating = rating),
    "\"Ben\" and \"ben \"", class = "fallible_warning_names"
  )
  checks <- tidy(data_check(x))
  expect_match(checks$found[checks$check == "raters"], "blanks: \"Ben\" and \"ben \"")
  long$rater[long$rater == "ben "] <- "Cy"
  expect_message(
    x <- ratings(long, case = case, rater = rater, rating = rating, covariates = site,
      clean_labels = TRUE),
    "\"North \" is now \"North\""
  )
  expect_setequal(as.data.frame(x, "covariates")$site, c("North", "South"))
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(long, path, row.names = FALSE)
  y <- quiet(read_ratings(path, case = case, rater = rater, rating = rating, covariates = site,
    clean_labels = TRUE))
  expect_setequal(as.data.frame(y, "covariates")$site, c("North", "South"))
  expect_warning(
    ratings(rbind(long, long[1:2, ]), case = case, rater = rater, rating = rating),
    "2 rows identical to another row", class = "fallible_warning_left_out"
  )
  long$rating[1] <- "99"
  expect_warning(
    ratings(long, case = case, rater = rater, rating = rating), "missing ratings: \"99\"",
    class = "fallible_warning_labels"
  )
})

test_that("reruns may differ in times and run numbers, but not in versions", {
  runs <- expand.grid(judge.run = 1:5, judge = c("g", "h"), id = 1:30)
  set.seed(1)
  runs$verdict <- sample(c("x", "y"), 300, TRUE)
  runs$latency_ms <- sample(101:220, 300, TRUE)
  read <- function(data) {
    ratings(data, case = id, rater = judge, rating = verdict, repeats = "reruns",
      rater_kind = "model")
  }
  expect_no_warning(read(runs))
  runs$version <- c("A", "B", "A", "B", "A")
  cnd <- expect_warning(read(runs), class = "fallible_warning_reruns")
  expect_identical(cnd$columns, "version")
})

test_that("rows in errors are rows of the data after copies were left out", {
  wide <- data.frame(
    id = c(1, 1, 2:9), a = c("x", "x", rep(c("y", "x"), 4)), b = c("x", "x", rep(c("y", "x"), 4)),
    z = 1, x = c(2, 2, rep(c(0, 1), 4)), y = c(0, 0, rep(c(2, 1), 4))
  )
  set <- function(column, value) {
    wide[[column]][5] <- value
    wide
  }
  read <- function(...) quiet(ratings(..., case = id))
  expect_error(read(set("id", NA), raters = a:b), "row 5", class = "fallible_error_case")
  expect_error(read(set("b", "zz"), raters = a:b, categories = c("x", "y")), "Row 5",
    class = "fallible_error_category")
  expect_error(read(set("z", NA), raters = a:b, covariates = z), "Row 5",
    class = "fallible_error_missing")
  expect_error(quiet(as_ratings(set("x", -1), counts = x:y, case = id)), "Row 5",
    class = "fallible_error_counts")
})

test_that("only columns that can identify cases are proposed as part of `case`", {
  set.seed(1)
  log <- expand.grid(run = 1:2, version = c("v1", "v2"), judge = c("a", "b"), id = 1:10)
  log$verdict <- c("pass", "fail")[rbinom(80, 1, 0.5) + 1]
  log$tokens <- sample(200:900, 80)
  log$reason <- replace(rep(NA, 80), seq(1, 80, 3), "unclear")
  log$note <- replace(rep("", 80), seq(1, 80, 3), "check")
  log$ts <- paste("2025-03-01", seq_len(80))
  read <- function(...) {
    ratings(log, rater = judge, rating = verdict, rater_kind = "model", ...)
  }
  error <- expect_error(read(case = id), class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "case = c(..., version)", fixed = TRUE)
  expect_match(conditionMessage(error), "\"run\" seems to number repeats.*reruns")
  expect_no_match(conditionMessage(error), "tokens|reason|note|\"ts\"")
  error <- expect_error(read(case = c(id, version)), class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "\"tokens\".*\"ts\" differ between repeats")
  expect_match(conditionMessage(error), "\"run\" seems to number repeats.*repeats = .reruns")
  expect_no_match(conditionMessage(error), "case = c", fixed = TRUE)
  expect_warning(read(case = id, repeats = "reruns"), "different values of \"version\"\\.",
    class = "fallible_warning_reruns")
  expect_no_warning(read(case = c(id, version), repeats = "reruns"))
  log$run <- NULL
  error <- expect_error(read(case = c(id, version)), class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "independent repeats")
})

test_that("the error on repeats advises to drop copies only if there are copies", {
  data <- data.frame(id = rep(1:3, each = 2), who = c("a", "b"), said = c("x", "y", "y"))
  read <- function(data) ratings(data, case = id, rater = who, rating = said)
  again <- rbind(data, transform(data[1, ], said = "y"))
  error <- expect_error(read(rbind(again, data[4, ])), "1 row is equal.*unique\\(\\)",
    class = "fallible_error_repeat")
  error <- expect_error(read(again), class = "fallible_error_repeat")
  expect_no_match(conditionMessage(error), "unique")
})

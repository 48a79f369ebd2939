long_lehner <- function() {
  data.frame(
    case = rep(lehner2015$case, 4), rater = rep(paste0("rater", 1:4), each = 10),
    rating = unlist(lapply(lehner2015[2:5], as.character), use.names = FALSE)
  )
}

lehner_systems <- function() {
  data.frame(case = lehner2015$case, system = "system", prediction = lehner2015$system)
}

# Objects that hold the same data, whatever the order of their patterns.
expect_same_ratings <- function(a, b) {
  sorted <- function(x, what) {
    table <- as.data.frame(x, what = what)
    table <- table[order(as.character(table$case), table[[2]], table[[3]]), ]
    as.data.frame(lapply(table, as.character))
  }
  expect_equal(sorted(a, "ratings"), sorted(b, "ratings"))
  expect_equal(sorted(a, "systems"), sorted(b, "systems"))
  expect_equal(a$categories, b$categories)
}

test_that("wide, long and matrix layouts give the same object", {
  wide <- lehner_ratings()
  expect_identical(dim(wide), c(10L, 4L))
  long <- ratings(long_lehner(), case = case, rater = rater, rating = rating,
    systems = lehner_systems())
  expect_same_ratings(wide, long)
  matrix <- as.matrix(lehner2015[c("rater1", "rater2", "rater3", "rater4", "system")])
  rownames(matrix) <- 1:10
  expect_same_ratings(wide, ratings(matrix, systems = "system"))
  expect_same_ratings(
    wide, ratings(lehner2015, raters = starts_with("rater"), case = case,
      systems = lehner_systems())
  )
})

test_that("a table of the ratings makes the same object again", {
  for (seed in rounds(40)) {
    panel <- random_panel(seed)
    x <- panel_ratings(panel)
    again <- ratings(
      as.data.frame(x), case = case, rater = rater, rating = rating, weights = weight,
      systems = tidy(x, "systems"), repeats = "ratings"
    )
    expect_same_ratings(x, again)
    expect_equal(sum(again$weights), sum(x$weights))
  }
})

test_that("columns may be strings, factors, numbers or logicals, and are compared by label", {
  base <- data.frame(r1 = c(1, 2, 2, 1), r2 = c(1, 2, 1, NA), s = c(2, 2, 1, 1))
  x <- ratings(base, raters = r1:r2, systems = s)
  expect_identical(x$categories, c("1", "2"))
  variants <- list(
    as.data.frame(lapply(base, as.integer)), as.data.frame(lapply(base, as.character)),
    as.data.frame(lapply(base, factor)),
    transform(base, r1 = as.character(r1), r2 = as.integer(r2), s = factor(s))
  )
  for (variant in variants) {
    expect_same_ratings(ratings(variant, raters = r1:r2, systems = s), x)
  }
  truth <- as.data.frame(lapply(base, function(column) column == 1))
  expect_identical(ratings(truth, raters = r1:r2, systems = s)$categories, c("FALSE", "TRUE"))
})

test_that("numbers sort as numbers, strings by code, factors keep their levels", {
  expect_identical(ratings(cbind(c(10, 9, 2), c(10, 9, 1)))$categories, c("1", "2", "9", "10"))
  expect_identical(ratings(cbind(c("b", "C"), c("a", "b")))$categories, c("C", "a", "b"))
  wide <- data.frame(
    r1 = factor(c("low", "high"), levels = c("low", "mid", "high")),
    r2 = factor(c("low", "low"), levels = c("low", "mid", "high"))
  )
  x <- ratings(wide, raters = everything())
  expect_identical(x$categories, c("low", "mid", "high"))
  expect_false(x$ordered)
  wide[] <- lapply(wide, as.ordered)
  expect_true(ratings(wide, raters = everything())$ordered)
  expect_false(ratings(wide, raters = everything(), ordered = FALSE)$ordered)
})

test_that("cases with the same ratings and answers are one pattern", {
  wide <- data.frame(r1 = c("a", "a", "b", "a"), r2 = c("b", "b", "b", "b"),
    s = c("a", "a", "a", "b"))
  x <- ratings(wide, raters = r1:r2, systems = s)
  expect_length(x$patterns$start, 4L)
  expect_identical(x$index, c(1L, 1L, 2L, 3L))
  expect_identical(nrow(x), 4L)
})

test_that("cases that only a system saw are kept, counted and warned about", {
  systems <- rbind(lehner_systems(), data.frame(case = 11:12, system = "system", prediction = "A"))
  expect_warning(
    x <- ratings(lehner2015, raters = rater1:rater4, case = case, systems = systems),
    class = "fallible_warning_unrated"
  )
  expect_identical(nrow(x), 12L)
  expect_equal(tidy(published(x, interval = "none"))$n, 10)
  expect_equal(point_estimate(x), 0.731427, tolerance = 1e-6)
  caught <- tryCatch(
    ratings(lehner2015, raters = rater1:rater4, case = case, systems = systems),
    fallible_warning_unrated = identity
  )
  expect_identical(caught$unrated, 2)
  expect_identical(caught$systems, "system")
  one <- tryCatch(
    ratings(lehner2015, raters = rater1:rater4, case = case, systems = systems[-12, ]),
    fallible_warning_unrated = identity
  )
  expect_identical(one$unrated, 1)
  expect_match(conditionMessage(one), "system: 1 of 11")
})

test_that("a case with one rating has a posterior", {
  wide <- data.frame(r1 = c("a", "b", "a", "a"), r2 = c("a", "b", NA, "b"),
    r3 = c("a", "b", NA, "a"))
  truth <- ground_truth(fit_raters(ratings(wide, raters = r1:r3)))
  expect_gt(truth$a[3], 0.5)
  expect_lt(truth$a[3], truth$a[1])
  wide[5, ] <- NA
  fit <- fit_raters(ratings(wide, raters = r1:r3))
  expect_equal(ground_truth(fit)$a[5], rates_of(fit)[["a"]])
})

test_that("data for one label are stored with several, which single-label verbs refuse", {
  long <- data.frame(case = c(1, 1, 1, 2, 2), rater = c("r", "r", "s", "r", "s"),
    rating = c("a", "b", "a", "b", "b"))
  x <- ratings(long, case = case, rater = rater, rating = rating, repeats = "labels")
  expect_equal(nrow(as.data.frame(x)), 5)
  expect_error(fit_raters(x), class = "fallible_error_labels")
  expect_error(agreement_matrix(x, "r", "s"), class = "fallible_error_labels")
  expect_snapshot(x)
})

test_that("print tells the story", {
  expect_snapshot(lehner_ratings())
  expect_snapshot(summary(lehner_ratings()))
  expect_snapshot(ratings(fleiss1971, case = case, counts = depression:other))
  expect_snapshot(
    ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  )
  expect_snapshot(exact_ratings(rep(0.6, 3), 0.9))
  expect_snapshot(quiet(ratings(
    data.frame(r1 = c(1, NA, 2), r2 = c(1, NA, NA), s = c(1, 1, 2), w = c(3, 1, 2)),
    raters = r1:r2, systems = s, categories = 1:3, ordered = TRUE, weights = w
  )))
})

test_that("sparse crowds keep only what was rated", {
  set.seed(1)
  crowd <- data.frame(rater = rep(1:800, each = 10), case = c(replicate(800, sample(2000, 10))))
  crowd$rating <- sample(c("x", "y", "z"), 8000, TRUE)
  x <- ratings(crowd, case = case, rater = rater, rating = rating)
  expect_identical(ncol(x), 800L)
  expect_identical(nrow(as.data.frame(x)), 8000L)
  expect_lt(as.numeric(object.size(x)), 20 * 8000)
})

finding <- rep(c("Pneumonia", "Normal", "Pneumonia", "pneumona"), c(12, 12, 12, 1))

test_that("misspelt labels are found, and names of categories join them", {
  d <- data.frame(a = finding, b = rep("Normal", 37), s = rev(finding))
  expect_warning(x <- ratings(d, raters = a:b, systems = s),
    "categories = c\\(\"Pneumonia\" = \"pneumona\"\\)", class = "fallible_warning_labels")
  expect_length(x$categories, 3L)
  d$a <- factor(d$a)
  expect_no_warning(expect_message(
    x <- ratings(d, raters = a:b, systems = s, categories = c(Pneumonia = "pneumona")),
    "\"pneumona\" is now \"Pneumonia\""
  ))
  expect_identical(x$categories, c("Normal", "Pneumonia"))
  d[] <- lapply(d, function(v) sub("pneumona", "Pneumonia", v, fixed = TRUE))
  expect_identical(tidy(x), tidy(ratings(d, raters = a:b, systems = s)))
  d$b[1:3] <- "none"
  declared <- c("Pneumonia", Normal = "none", "Normal", "other")
  expect_message(x <- ratings(d, raters = a:b, categories = declared))
  expect_identical(x$categories, c("Pneumonia", "Normal", "other"))
  expect_error(ratings(fleiss1971, counts = depression:other, categories = c(other = "x")),
    class = "fallible_error_argument")
  expect_length(misspelt_labels(c("symmetric", "asymmetric"), list(rep(
    c("symmetric", "asymmetric"), c(20, 1)
  ))), 0L)
  expect_length(misspelt_labels(c("normal", "nromal"), list(rep(c("normal", "nromal"), c(20, 1)))),
    1L)
})

test_that("answers that could not be read are told from categories", {
  d <- data.frame(a = c("pass", "fail", "UNPARSEABLE"), b = c("pass", "fail", "pass"))
  for (code in c("UNPARSEABLE", "parse_error", "ERROR", "Invalid response", "no verdict")) {
    d$a[[3L]] <- code
    expect_warning(ratings(d, raters = a:b), "codes for missing.*`na = ",
      class = "fallible_warning_labels")
  }
  expect_no_warning(ratings(d, raters = a:b, categories = unique(d$a)))
  failed_calls <- c(
    "error: timeout", "ValueError: bad", "Error 429", "failed to connect", "refused: policy",
    "invalid: empty", "request timed out", "rate limit exceeded"
  )
  d$a[[3L]] <- "error: timeout"
  expect_warning(ratings(d, raters = a:b), "codes for missing", class = "fallible_warning_labels")
  expect_identical(missing_codes(failed_calls), failed_calls)
  answers <- c("refused", "failed", "error-free", "error type A", "invalid argument", "exceptional")
  expect_length(missing_codes(answers), 0L)
})

test_that("codes of programs and numbers outside a scale look like missing ratings", {
  warned <- function(labels, codes) {
    d <- data.frame(a = labels, b = rev(labels))
    if (length(codes) == 0L) return(expect_no_warning(ratings(d, raters = a:b)))
    w <- expect_warning(ratings(d, raters = a:b), "codes for missing", class =
      "fallible_warning_labels")
    expect_setequal(w$labels, codes)
  }
  codes <- c("None", "<NA>", "#N/A", "#VALUE!", "#REF!", "nan", "null", "__invalid__")
  warned(c("x", "y", codes), codes)
  warned(c("x", "none", "y"), character())
  warned(c(1:5, 99), "99")
  warned(c(1:3, 9, -9), c("9", "-9"))
  warned(c("0", "1", "999"), "999")
  warned(1:9, character())
  warned(c(0:8, 9, 99), "99")
  warned(c(-8:-1, -9), character())
  warned(c(1, 3, 9), character())
  warned(c(1, 9), character())
  warned(c("a", "b", "9"), character())
})

test_that("repeated rows that differ in other keys are no reruns", {
  d <- expand.grid(judge = c("x", "y"), q = 1:3, m1 = c("A", "B"), m2 = c("C", "D"))
  d$win <- rep(c("first", "second", "second"), 8L)
  d$text <- paste("text", seq_len(nrow(d)))
  wrong <- expect_error(ratings(d, case = q, rater = judge, rating = win),
    "\"m1\" and \"m2\" differ", class = "fallible_error_repeat")
  expect_no_match(conditionMessage(wrong), "reruns")
  expect_identical(nrow(ratings(d, case = c(q, m1, m2), rater = judge, rating = win)), 12L)
  d <- data.frame(
    q = rep(1:4, each = 4), judge = c("x", "y"), run = c(1, 1, 2, 2), win = c(1, 2, 2, 2)
  )
  expect_error(ratings(d, case = q, rater = judge, rating = win), "reruns",
    class = "fallible_error_repeat")
})

test_that("subsets keep what they should", {
  x <- lehner_ratings()
  some <- x[c(2, 5, 7), c("rater1", "rater4")]
  expect_identical(dim(some), c(3L, 2L))
  expect_identical(dimnames(some), list(c("2", "5", "7"), c("rater1", "rater4")))
  expect_identical(some$categories, LETTERS[1:4])
  expect_equal(
    as.data.frame(some),
    as.data.frame(ratings(
      lehner2015[c(2, 5, 7), ], raters = c(rater1, rater4), systems = system, case = case
    ))
  )
  expect_identical(tidy(some, "systems")$case, c(2L, 5L, 7L))
  expect_identical(dim(x[-1, ]), c(9L, 4L))
  expect_identical(dim(x[lehner2015$system == "A", -2]), c(3L, 3L))
  expect_identical(dim(x[c("3", "4"), ]), c(2L, 4L))
  expect_identical(ground_truth(fit_raters(x))$case, 1:10)
})

test_that("a case may be taken more than once", {
  x <- lehner_ratings()
  twice <- x[rep(1:10, 2), ]
  expect_identical(nrow(twice), 20L)
  expect_equal(coef(fit_raters(twice)), coef(fit_raters(x)))
  expect_length(twice$patterns$start, length(x$patterns$start))
})

test_that("subsets carry weights", {
  x <- ratings(transform(lehner2015, w = 1:10), raters = rater1:rater4, weights = w)
  expect_identical(x[c(3, 1), ]$weights, c(3, 1))
})

test_that("wrong subsets are refused", {
  x <- lehner_ratings()
  expect_error(x[11, ], class = "fallible_error_argument")
  expect_error(x[c(TRUE, FALSE), ], class = "fallible_error_argument")
  expect_error(x[, "rater9"], class = "fallible_error_argument")
  expect_error(x[, c(1, 1)], class = "fallible_error_argument")
  expect_error(x[, character()], class = "fallible_error_raters")
  expect_error(x[0, ], class = "fallible_error_empty")
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_error(counted[, 1:2], class = "fallible_error_argument")
  expect_identical(nrow(counted[1:5, ]), 5L)
  few <- ratings(data.frame(a = c(5, 1), b = c(0, 1)), counts = a:b)
  expect_identical(dim(few[2, ]), c(1L, 2L))
  expect_error(x[c(-1, 2), ], class = "fallible_error_argument")
  expect_error(x[c(NA, rep(TRUE, 9)), ], class = "fallible_error_argument")
  million <- ratings(data.frame(id = c(1e5, 2), r1 = 1:2, r2 = 1:2), raters = r1:r2, case = id)
  expect_identical(nrow(million["100000", ]), 1L)
})

test_that("category_counts() is the classification matrix", {
  expect_equal(
    category_counts(ratings(fleiss1971, case = case, counts = depression:other)),
    as.matrix(fleiss1971[-1]), ignore_attr = "dimnames"
  )
  counted <- category_counts(lehner_ratings())
  expect_identical(colnames(counted), LETTERS[1:4])
  expect_identical(unname(counted[1, ]), c(0L, 0L, 3L, 1L))
  table <- tidy(lehner_ratings(), "counts")
  expect_identical(names(table), c("case", LETTERS[1:4]))
  expect_equal(as.matrix(table[-1]), counted, ignore_attr = TRUE)
})

test_that("agreement_matrix() crosses two raters, or a rater and a system", {
  x <- lehner_ratings()
  crossed <- agreement_matrix(x, "rater1", "system")
  expect_s3_class(crossed, "table")
  plain <- table(lehner2015$rater1, lehner2015$system)
  expect_equal(matrix(crossed, 4), matrix(as.numeric(plain), 4))
  expect_named(dimnames(crossed), c("rater1", "system"))
  expect_equal(t(unclass(crossed)), unclass(agreement_matrix(x, "system", "rater1")),
    ignore_attr = TRUE)
  weighted <- ratings(transform(lehner2015, w = 3), raters = rater1:rater4, weights = w)
  expect_equal(sum(agreement_matrix(weighted, "rater1", "rater2")), 30)
  expect_error(agreement_matrix(x, "rater1", "nobody"), class = "fallible_error_argument")
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_error(agreement_matrix(counted, "1", "2"), class = "fallible_error_argument")
})

test_that("tables count ratings, categories, raters and systems", {
  x <- lehner_ratings()
  expect_equal(glance(x)$agreement, 1 / 3)
  expect_equal(tidy(x, "categories")$ratings, c(11, 10, 10, 9))
  # Rater 1 agrees with rater 2, 3, 4 on 3, 3, 3 cases.
  expect_equal(tidy(x, "raters")$agreement[1], 9 / 30)
  same <- function(rater) sum(lehner2015[[rater]] == lehner2015$system)
  expect_equal(
    tidy(x, "system_agreement")$agreement, sum(vapply(paste0("rater", 1:4), same, 0L)) / 40
  )
})

test_that("pairs of raters are compared on the cases that both rated", {
  wide <- data.frame(
    a = c("x", "y", NA, "x"), b = c("x", "x", "y", NA), c = c(NA, "y", "y", "x"), s = "x"
  )
  pairs <- pairwise_agreement(ratings(wide, raters = a:c, systems = s), 1:3)
  get <- function(one, two, what) pairs[[what]][pairs$judge1 == one & pairs$judge2 == two]
  expect_equal(get("a", "b", "agreement"), 1 / 2)
  expect_equal(get("b", "a", "pairs"), 2)
  expect_equal(get("a", "c", "agreement"), 1)
  expect_equal(get("s", "c", "agreement"), 1 / 3)
  expect_true(is.na(get("a", "a", "agreement")))
})

test_that("ratings without identity of raters have none in tables", {
  table <- as.data.frame(ratings(fleiss1971, case = case, counts = depression:other))
  expect_true(all(is.na(table$rater)))
  expect_identical(nrow(table), 180L)
})

test_that("a third index takes systems", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8, b = 0.7, c = 0.5), 3, 50))
  one <- x[, , "b"]
  expect_identical(one$systems, "b")
  told <- tidy(x, what = "systems")
  expect_identical(tidy(one, what = "systems"), told[told$system == "b", ])
  expect_identical(as.data.frame(one), as.data.frame(x))
  expect_identical(true_accuracy(one), true_accuracy(x)[2, ])
  expect_identical(true_accuracy(x[1:20, , 3:2]), true_accuracy(x[1:20, ])[3:2, ])
  expect_identical(x[1:20, c("rater1", "rater3"), ]$systems, c("a", "b", "c"))
  expect_identical(x[, , -1]$systems, c("b", "c"))
  expect_identical(x[, , c(TRUE, FALSE, TRUE)]$systems, c("a", "c"))
  # Cases that differed only by other systems are one pattern.
  expect_lt(length(one$patterns$start), length(x$patterns$start))
  none <- x[, , character()]
  expect_identical(none$systems, character())
  expect_equal(coef(fit_raters(none)), coef(fit_raters(x)))
  expect_error(x[, , "q"], class = "fallible_error_argument")
  expect_error(x[, "b"], "Systems are not raters", class = "fallible_error_argument")
  expect_error(x[, , c("a", "a")], class = "fallible_error_argument")
})

test_that("subset() of ratings shows how to select cases and raters", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  expect_error(subset(x, rater == "rater1"), "x\\[cases, raters\\]",
    class = "fallible_error_argument")
})

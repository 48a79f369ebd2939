test_that("the table of patterns stands for all cases", {
  x <- lehner_ratings()
  table <- tidy(x, "patterns")
  expect_named(table, c(paste0("rater", 1:4), "system", "n"))
  again <- ratings(table, raters = rater1:rater4, systems = system, weights = n)
  expect_equal(coef(fit_raters(again)), coef(fit_raters(x)))
  expect_equal(point_estimate(again), point_estimate(x))
  set.seed(1)
  many <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), categories = 3, n = 5000, missing = 0.1))
  table <- tidy(many, "patterns")
  expect_lte(nrow(table), 4^3)
  expect_equal(sum(table$n), 5000)
  expect_identical(anyDuplicated(table[1:3]), 0L)
  again <- quiet(ratings(table, raters = rater1:rater3, weights = n))
  expect_equal(coef(fit_raters(again)), coef(fit_raters(many)))
})

test_that("where raters have no column there are counts", {
  counted <- tidy(ratings(fleiss1971, case = case, counts = depression:other), "patterns")
  expect_named(counted, c(names(fleiss1971)[-1], "n"))
  expect_equal(rowSums(counted[1:5]), rep(6, nrow(counted)))
  expect_equal(colSums(counted[1:5] * counted$n), colSums(fleiss1971[-1]))
  repeated <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_equal(rowSums(tidy(repeated, "patterns")[1:4]), rep(7, nrow(tidy(repeated, "patterns"))))
  n <- ratings(cbind(n = c("a", "b"), m = c("a", "b")))
  expect_error(tidy(n, "patterns"), class = "fallible_error_argument")
})

test_that("patterns are read the same from ratings and by themselves", {
  x <- ratings(
    data.frame(a = c("x", "x", NA), b = c("x", "x", "y"), s = c("y", "y", NA)),
    raters = a:b, systems = s
  )
  for (from in list(x, x$patterns)) {
    expect_identical(n_patterns(from), 2L)
    expect_identical(pattern_lengths(from), 2:1)
    expect_identical(rating_pattern(from), c(1L, 1L, 2L))
    expect_identical(rating_rater(from), c(1L, 2L, 2L))
    expect_identical(rating_category(from), c(1L, 1L, 2L))
    expect_identical(pattern_answers(from), cbind(c(2L, 0L)))
    expect_identical(rating_positions(from, c(2L, 1L)), c(3L, 1L, 2L))
  }
  expect_identical(pattern_of_case(x), c(1L, 1L, 2L))
  expect_identical(case_answers(x), cbind(c(2L, 2L, 0L)))
  expect_identical(pattern_counts(x), rbind(c(2L, 0L), 0:1))
  expect_identical(rating_pattern(pick_patterns(x$patterns, c(2L, 2L, 1L))), c(1:2, 3L, 3L))
})

test_that("answers of a single system, or of none, are a table too", {
  x <- ratings(cbind(a = c(1, 1, 2), b = 1, s = c(2, 1, 2), t = c(1, 2, 2)), systems = c(s, t))
  expect_identical(pattern_answers(pick_systems(x$patterns, 2L)), cbind(c(1L, 2L, 2L)))
  expect_identical(dim(pattern_answers(pick_systems(x$patterns, 0L))), c(3L, 0L))
})

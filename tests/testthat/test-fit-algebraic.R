test_that("the worked example gives the paper's numbers", {
  fit <- fit_raters(lehner_ratings())
  expect_equal(fit$agreement, 20 / 60, tolerance = 1e-12)
  expect_equal(fit$kappa, 1 / 9, tolerance = 1e-12)
  expect_equal(fit$rater_accuracy, 0.5, tolerance = 1e-12)
  expect_equal(
    rates_of(fit), c(A = 0.325, B = 0.25, C = 0.25, D = 0.175), tolerance = 1e-12
  )
  # Table 1 with N = 4, Pc = 1/2
  expect_equal(unname(confusion(fit)$rater1), matrix(1 / 6, 4, 4) + diag(1 / 2 - 1 / 6, 4))
})

test_that("fits and posteriors agree with the slow twin on random panels", {
  expect_over(rounds(500), function(seed) {
    slow <- twin(seed)$fit
    fast <- quiet(fit_raters(twin(seed)$x))
    truth <- quiet(ground_truth(fast))
    c(
      unless((fast$identified == "yes") == slow$identified),
      unless(!slow$identified || identical(fast$negative, slow$negative)),
      largest_gap(
        c(fast$agreement, fast$kappa, fast$rater_accuracy, fast$base_rates),
        c(slow$agreement, slow$kappa, slow$rater_accuracy, slow$base_rates)
      ),
      largest_gap(as.matrix(as.data.frame(truth)[-1]), twin(seed)$posterior[truth$case, , drop = FALSE])
    )
  })
})

test_that("agreement at or below chance is not identified", {
  # Two raters, two categories: agree on half of the cases.
  x <- ratings(cbind(c("a", "a", "b", "b"), c("a", "b", "a", "b")))
  expect_warning(fit <- fit_raters(x), class = "fallible_warning_not_identified")
  expect_equal(fit$agreement, 0.5)
  expect_equal(fit$rater_accuracy, 0.5)
  expect_true(all(is.na(rates_of(fit))))
  expect_true(all(is.na(as.matrix(as.data.frame(ground_truth(fit))[-1]))))
  expect_true(all(is.na(unlist(confusion(fit)))))
  expect_equal(glance(fit)$rater_accuracy, 0.5)
})

test_that("a panel in which no two raters share a case is not identified", {
  long <- data.frame(case = 1:4, rater = c("r", "s", "r", "s"), rating = c("a", "b", "b", "a"))
  x <- ratings(long, case = case, rater = rater, rating = rating)
  expect_warning(fit <- fit_raters(x), "no case was rated by two raters",
    class = "fallible_warning_not_identified")
  expect_true(all(is.na(tidy(fit)$estimate)))
  expect_identical(glance(fit)$kappa, NA_real_)
})

test_that("repeats by one rater are not agreement between raters", {
  long <- data.frame(
    case = rep(1:4, each = 4), rater = rep(c("r", "r", "r", "s"), 4),
    rating = c("a", "a", "a", "a", "b", "b", "b", "b", "a", "b", "b", "b", "a", "a", "a", "b")
  )
  x <- ratings(long, case = case, rater = rater, rating = rating, repeats = "ratings")
  # Pairs r-s: 3 per case; agreeing 3, 3, 2, 0.
  expect_equal(quiet(fit_raters(x))$agreement, 8 / 12)
})

test_that("negative base rates are set to zero, with a warning", {
  panel <- ratings(cbind(
    c("a", "a", "b", "b", "a", "b", "a", "c"), c("a", "a", "b", "b", "a", "b", "b", "a")
  ))
  expect_warning(fit <- fit_raters(panel), class = "fallible_warning_boundary")
  expect_identical(fit$negative, 1L)
  expect_equal(sum(rates_of(fit)), 1)
  expect_equal(rates_of(fit)[["c"]], 0)
  expect_true(all(is.na(tidy(fit)$std.error[-1])))
  expect_false(is.na(tidy(fit)$std.error[1]))
})

test_that("the warning counts cases whose ratings are all ruled out", {
  # Patient 11: six ratings, all of them 4.
  x <- ratings(
    dawid1979[dawid1979$rater != "A5", ], case = case, rater = rater, rating = rating,
    repeats = "ratings"
  )
  caught <- tryCatch(fit_raters(x), fallible_warning_boundary = identity)
  expect_identical(caught$categories, "4")
  expect_equal(caught$against, 1)
  expect_false(predict(quiet(fit_raters(x)))$category[11] == "4")
  # More cases than an integer holds.
  heavy <- ratings(
    cbind(dawid1979[dawid1979$rater != "A5", ], w = 2^40), case = case, rater = rater,
    rating = rating, repeats = "ratings", weights = w
  )
  caught <- tryCatch(fit_raters(heavy), fallible_warning_boundary = identity)
  expect_match(conditionMessage(caught), "In 1,099,511,627,776 cases every rater")
})

test_that("perfect agreement gives accuracy one and certain cases", {
  x <- ratings(cbind(c("a", "b", "a"), c("a", "b", "a")), categories = c("a", "b", "c"))
  fit <- quiet(fit_raters(x))
  expect_identical(fit$rater_accuracy, 1)
  expect_equal(rates_of(fit), c(a = 2 / 3, b = 1 / 3, c = 0))
  expect_equal(as.data.frame(ground_truth(fit))$a, c(1, 0, 1))
  expect_true(all(is.na(tidy(fit)$std.error)))
})

test_that("weights that are not counts leave no standard errors anywhere", {
  x <- ratings(transform(lehner2015, w = 2.5), raters = rater1:rater4, weights = w)
  expect_true(all(is.na(vcov(fit_raters(x)))))
  expect_true(all(is.na(tidy(fit_raters(x))$std.error)))
  half <- ratings(
    transform(lehner2015, w = rep(c(0.5, 0), 5)), raters = rater1:rater4, weights = w
  )
  expect_equal(nobs(quiet(fit_raters(half))), 5)
})

test_that("standard errors are those of the delete-one jackknife in large panels", {
  skip_unless_nightly()
  set.seed(7)
  n <- 400
  truth <- sample(3, n, TRUE, c(0.5, 0.3, 0.2))
  rate <- function() ifelse(runif(n) < 0.7, truth, sample(3, n, TRUE))
  wide <- data.frame(r1 = rate(), r2 = rate(), r3 = rate())
  wide$r3[sample(n, 100)] <- NA
  fit <- fit_raters(ratings(wide, raters = r1:r3))
  jackknife <- t(vapply(seq_len(n), function(i) {
    coef(fit_raters(ratings(wide[-i, ], raters = r1:r3)))
  }, numeric(4)))
  error <- sqrt((n - 1)^2 / n * apply(jackknife, 2, var))
  expect_equal(tidy(fit)$std.error, unname(error), tolerance = 0.01)
  # All of the matrix, on the scale of correlations.
  scale <- outer(error, error)
  expect_lt(max(abs(unname(vcov(fit)) - (n - 1)^2 / n * cov(jackknife)) / scale), 0.02)
  # Cases without ratings carry no information.
  unrated <- rbind(wide, data.frame(r1 = rep(NA, 50), r2 = NA, r3 = NA))
  expect_equal(vcov(fit_raters(ratings(unrated, raters = r1:r3))), vcov(fit))
})

test_that("duplicating the data leaves estimates and halves variances", {
  x <- lehner_ratings()
  twice <- ratings(
    transform(lehner2015, w = 2), raters = rater1:rater4, case = case, weights = w
  )
  expect_equal(coef(fit_raters(twice)), coef(fit_raters(x)))
  expect_equal(vcov(fit_raters(twice)) * 19 / 9, vcov(fit_raters(x)))
})

test_that("fits have the methods of a fit", {
  fit <- fit_raters(lehner_ratings())
  expect_named(coef(fit), c("rater_accuracy", paste0("base_rate[", LETTERS[1:4], "]")))
  expect_equal(nobs(fit), 10)
  expect_named(
    tidy(fit), c("term", "rater", "estimate", "std.error", "conf.low", "conf.high", "n")
  )
  expect_named(glance(fit), c(
    "agreement", "kappa", "chance_kappa", "rater_accuracy", "cases", "raters", "ratings",
    "categories", "patterns", "logLik", "AIC", "BIC", "nobs"
  ))
  # Fleiss' and that of the paper.
  expect_over(1:10, function(seed) {
    set.seed(seed)
    x <- quiet(simulate_ratings(rater_design(c(0.6, 0.7, 0.8), 0.8, 3, 50, missing = 0.2)))
    told <- glance(quiet(fit_raters(x)))
    max(abs(c(told$kappa - fleiss_kappa(x), told$chance_kappa - chance_kappa(x),
      glance(x)$kappa - fleiss_kappa(x))))
  })
  expect_equal(
    unlist(glance(fit)[c("cases", "raters", "ratings", "categories", "patterns", "nobs")]),
    c(cases = 10, raters = 4, ratings = 40, categories = 4, patterns = 10, nobs = 10)
  )
  # No vector of parameters moves without its total: base rates sum to one.
  expect_equal(sum(vcov(fit)[-1, -1]), 0, tolerance = 1e-12)
})

test_that("predictions are the most probable categories, with ties reported", {
  wide <- data.frame(r1 = c("a", "a", "b", "b", "a"), r2 = c("a", "a", "b", "b", "b"))
  expect_warning(
    fit <- fit_raters(ratings(wide, raters = r1:r2)), class = "fallible_warning_weakly_identified"
  )
  labels <- predict(fit)
  expect_identical(as.character(labels$category), c("a", "a", "b", "b", "a"))
  expect_identical(labels$tied, c(1L, 1L, 1L, 1L, 2L))
  expect_error(predict(fit, type = "class"), class = "fallible_error_argument")
})

test_that("predictions of a fit that is not identified are missing", {
  fit <- quiet(fit_raters(ratings(cbind(c("a", "a", "b", "b"), c("a", "b", "a", "b")))))
  expect_true(all(is.na(predict(fit)$category)))
  expect_true(all(is.na(predict(fit)$probability)))
})

test_that("print and summary tell the story", {
  expect_snapshot({
    fit_raters(lehner_ratings())
    summary(fit_raters(lehner_ratings()))
  })
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_snapshot(fit_raters(x))
  expect_snapshot(fit_raters(ratings(cbind(c("a", "a", "b", "b"), c("a", "b", "a", "b")))))
})

test_that("wrong arguments are refused", {
  x <- lehner_ratings()
  expect_error(fit_raters("lehner2015"), class = "fallible_error_argument")
  expect_error(fit_raters(x, model = "k"), class = "fallible_error_argument")
  expect_error(fit_raters(x, method = "guess"), class = "fallible_error_argument")
  # The method is checked before arguments that need method "bayes".
  expect_error(fit_raters(x, method = "bayesian", prior = rater_prior()), "`method` must be one of",
    class = "fallible_error_argument")
  expect_error(fit_raters(x, dawid_skene(), sampling = list(draws = 100)), "`sampling` can be used",
    class = "fallible_error_argument")
  expect_error(fit_raters(x, speed = 1), class = "fallible_error_argument")
  expect_error(rates_of("lehner2015"), class = "fallible_error_argument")
  expect_error(confusion(ratings(lehner2015, raters = rater1:rater4)), "fit_raters",
    class = "fallible_error_argument")
  fit <- fit_raters(x)
  expect_error(predict(fit, newdata = 1), class = "fallible_error_argument")
  expect_error(predict(fit, data = x), class = "fallible_error_argument")
})

test_that("ratings and estimates stand for their fit", {
  x <- lehner_ratings()
  fit <- fit_raters(x)
  expect_identical(rates_of(x), rates_of(fit))
  expect_identical(ground_truth(published(fit, interval = "none")), ground_truth(fit))
})

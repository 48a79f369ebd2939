test_that("the table of models that is printed has names that are read", {
  x <- examples_of_results()$model_comparison
  shown <- shown_table(x)
  expect_named(shown, c("model", "elpd", "SE", "difference", "its SE", "undecided"))
  expect_identical(shown$undecided, ifelse(tidy(x)$undecided, "yes", "no"))
  expect_output(print(x), "difference +its SE +undecided")
})

test_that("tables have the names that the user gave to models", {
  fit <- drawn_tests()
  # `undecided_medians` is a variable of the function that makes the table.
  compared <- compare_models(undecided_medians = fit, second = fit)
  expect_output(print(compared), "posterior median +undecided_medians +second")
  terms <- tidy(compared, "terms")
  expect_identical(terms$lowest, terms$second)
  expect_output(print(compare_models(fit, fit)), "posterior median +model 1 +model 2")
  expect_error(compare_models(term = fit, second = fit), "named \"term\"",
    class = "fallible_error_argument")
})

test_that("the warning of undecided models lists the largest changes, and counts the others", {
  terms <- data.frame(term = letters[1:7], lowest = 0, highest = 1:7 / 10)
  fits <- rep(list(list(draws = matrix(0, 2, 7, dimnames = list(NULL, letters[1:7])))), 2)
  warning <- expect_warning(warn_undecided(fits, terms), class = "fallible_warning_dependence")
  text <- conditionMessage(warning)
  expect_match(text, "g: 0.000 to 0.700.*f: .*e: .*d: 0.000 to 0.400.*and 3 more")
  expect_no_match(text, "c: 0.000", fixed = TRUE)
  warning <- expect_warning(warn_undecided(fits, terms[1:4, ]))
  expect_no_match(conditionMessage(warning), " more", fixed = TRUE)
})

test_that("counts of ratings are not compared with models that need the rater of each rating", {
  x <- ratings(data.frame(n = c(1, 5, 2, 0, 4, 3), y = c(4, 0, 3, 5, 1, 2)), counts = n:y)
  set.seed(1)
  fit <- quiet(fit_raters(x, method = "bayes", sampling = list(draws = 400)))
  expect_error(
    fit_raters(x, rater_model(dependence = "easy"), method = "bayes"),
    class = "fallible_error_argument"
  )
  expect_identical(nrow(tidy(compare_models(fit))), 1L)
})

test_that("a fit with known truths is compared with its refits", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8, 0.9), categories = c("-", "+"), n = 60))
  known <- stats::setNames(as.character(truth(x)$category), truth(x)$case)[1:5]
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_truth = known,
    sampling = list(draws = 400, thin = 1)))
  expect_identical(nrow(tidy(quiet(compare_models(fit)))), 2L)
})

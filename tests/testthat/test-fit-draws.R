#' @srrstats {BS4.2} the posterior that a sum over all allocations gives
#' @srrstats {BS2.1a} what cannot be drawn is refused
# Two tests without a gold standard: Joseph, Gyorkos and Coupal (1995).
two_tests <- function() {
  data <- data.frame(
    stool = c("+", "+", "-", "-"), serology = c("+", "-", "+", "-"), n = c(38, 2, 87, 35)
  )
  ratings(data, raters = stool:serology, weights = n, categories = c("-", "+"))
}

joseph <- function(...) {
  rater_prior(
    stool = list(sens = list(4.4375, 13.3125), spec = list(71.25, 3.75)),
    serology = list(sens = list(21.955556, 5.488889), spec = list(4.1, 1.76)), ...
  )
}

drawn_store <- new.env()
drawn_tests <- function() {
  if (is.null(drawn_store$fit)) {
    set.seed(1)
    drawn_store$fit <- fit_raters(
      two_tests(), dawid_skene(), method = "bayes", prior = joseph(order = "none")
    )
  }
  drawn_store$fit
}

# In units of Monte Carlo errors.
errors_off <- function(fit, expected) {
  table <- tidy(fit)
  at <- match(names(expected), table$term)
  max(abs(table$mean[at] - expected) / table$mcse[at])
}

test_that("two tests have the posterior that a sum over all allocations gives", {
  fit <- drawn_tests()
  expect_lt(errors_off(fit, c(
    "base_rate[+]" = 0.7589928, "sens[stool]" = 0.3103328, "spec[stool]" = 0.9570525,
    "sens[serology]" = 0.8838959, "spec[serology]" = 0.6878223
  )), 4.5)
  table <- tidy(fit)
  expect_equal(
    table$contraction[match(c("base_rate[+]", "sens[stool]", "spec[serology]"), table$term)],
    c(0.88, 0.73, 0.16), tolerance = 0.1
  )
  expect_gte(min(table$ess_bulk, table$ess_tail), 1000)
  expect_lte(max(table$rhat), 1.01)
})

test_that("the draws are there for whatever is a function of them", {
  fit <- drawn_tests()
  all <- draws(fit)
  expect_identical(names(all)[1:3], c(".chain", ".iteration", ".draw"))
  expect_identical(nrow(all), 4000L)
  expect_equal(mean(all[["sens[stool]"]]), tidy(fit)$mean[tidy(fit)$term == "sens[stool]"])
  expect_error(draws(fit_raters(lehner_ratings())), class = "fallible_error_argument")
  skip_if_not_installed("posterior")
  of <- posterior::summarise_draws(posterior::as_draws_df(fit), "rhat", "ess_bulk", "ess_tail")
  expect_equal(as.data.frame(of)[-1], as.data.frame(tidy(fit)[c("rhat", "ess_bulk", "ess_tail")]),
    ignore_attr = TRUE)
})

test_that("the same seed gives the same draws, for any number of threads", {
  run <- function(...) {
    set.seed(5)
    sampling <- list(draws = 200, warmup = 50, thin = 1, ...)
    quiet(fit_raters(
      two_tests(), dawid_skene(), method = "bayes", prior = joseph(), sampling = sampling
    ))$draws
  }
  one <- run()
  withr::with_options(list(mc.cores = 2), expect_identical(run(threads = 2), one))
})

test_that("with all truths known the posterior is that of the counts", {
  x <- lehner_ratings()
  truth <- stats::setNames(rep(LETTERS[1:4], length.out = 10), x$cases)
  set.seed(2)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_truth = truth,
    sampling = list(thin = 1)))
  said <- as.data.frame(x)
  mine <- said[said$rater == "rater1", ]
  n <- table(truth[as.character(mine$case)], mine$rating)
  expected <- (n + 1.2 / 3 + diag(2.8 - 1.2 / 3, 4)) / (rowSums(n) + 4)
  cells <- stats::setNames(
    as.vector(t(expected)), paste0("p[rater1,", rep(LETTERS[1:4], each = 4), ",", LETTERS[1:4], "]")
  )
  expect_lt(errors_off(fit, cells), 5)
  expect_equal(as.vector(as.matrix(ground_truth(fit)[-1])[cbind(1:10, rep(1:4, length.out = 10))]),
    rep(1, 10))
})

test_that("Lehner's panel has the posterior of all its truths, and its system that of a cut", {
  set.seed(3)
  beta <- list(right = list(3, 2))
  prior <- rater_prior(rater1 = beta, others = beta, order = "none")
  fit <- quiet(fit_raters(lehner_ratings(), method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(right = 0.4565409, "base_rate[A]" = 0.2900957)), 4.5)
  system <- draws(fit)[["accuracy[system]"]]
  error <- diagnose(matrix(system, ncol = 4))[["mcse"]]
  expect_lt(abs(mean(system) - 0.4164277) / error, 4.5)
})

test_that("populations have base rates of their own", {
  data <- data.frame(
    mantoux = c("+", "+", "-", "-"), tine = c("+", "-", "+", "-"),
    population = rep(c("1", "2"), each = 4), n = c(14, 4, 9, 528, 887, 31, 37, 367)
  )
  x <- ratings(data, raters = mantoux:tine, weights = n, covariates = population,
    categories = c("-", "+"))
  set.seed(4)
  prior <- rater_prior(others = list(sens = list(2, 1), spec = list(2, 1)), order = "none")
  model <- rater_model("rater", "free", base_rates = ~population)
  fit <- quiet(fit_raters(x, model, method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(
    "base_rate[+,1]" = 0.02868, "base_rate[+,2]" = 0.7154, "sens[mantoux]" = 0.96582,
    "spec[tine]" = 0.98237
  )), 5)
})

test_that("verbs of fits work on it", {
  fit <- drawn_tests()
  expect_equal(sum(base_rates(fit)), 1)
  expect_equal(unname(rowSums(confusion(fit)$stool)), c(1, 1))
  new <- ratings(cbind(stool = "+", serology = "+"), categories = c("-", "+"))
  expect_equal(
    predict(fit, new)$probability, predict(fit)$probability[[1]], tolerance = 0.01
  )
  found <- test_accuracy(fit)
  expect_equal(
    found$estimate[found$rater == "stool" & found$category == "+" & found$measure == "sensitivity"],
    tidy(fit)$estimate[tidy(fit)$term == "sens[stool]"], tolerance = 0.02
  )
  expect_s3_class(simulate(fit, seed = 1)[[1]], "ratings")
  expect_snapshot(print(fit))
})

test_that("what cannot be drawn is refused", {
  x <- two_tests()
  expect_snapshot(error = TRUE, {
    fit_raters(x, dawid_skene(), method = "bayes")
    fit_raters(x, dawid_skene(), prior = joseph())
    fit_raters(x, rater_model("rater", "distance"), method = "bayes", prior = joseph())
    fit_raters(x, dawid_skene(), method = "bayes", prior = joseph(), sampling = list(draw = 5))
    fit_raters(x, dawid_skene(), method = "bayes", prior = joseph(), sampling = list(draws = 1e9))
    estimate_accuracy(drawn_tests())
  })
  half <- ratings(
    data.frame(a = c("x", "y"), b = c("x", "x"), c = c("y", "x"), w = c(0.5, 0.5)), raters = a:c,
    weights = w
  )
  expect_error(fit_raters(half, method = "bayes"), class = "fallible_error_weights")
})

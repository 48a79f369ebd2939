random_rates <- function(n) {
  rates <- stats::rexp(n) * c(1, stats::rbinom(n - 1, 1, 0.8))
  rates / sum(rates)
}

test_that("Tables 5 and 6 come out to their decimals", {
  table5 <- matrix(0.1, 5, 5) + diag(0.5, 5)
  expect_equal(matrix(confusion_matrix(5, 0.6), 5), table5, tolerance = 1e-12)
  table6 <- rbind(
    c(0.400, 0.320, 0.160, 0.080, 0.040),
    c(0.218, 0.400, 0.218, 0.109, 0.055),
    c(0.100, 0.200, 0.400, 0.200, 0.100),
    c(0.055, 0.109, 0.218, 0.400, 0.218),
    c(0.040, 0.080, 0.160, 0.320, 0.400)
  )
  x <- confusion_matrix(LETTERS[1:5], 0.6, difficulty = -0.2, dispersion = 2)
  expect_identical(round(matrix(x, 5), 3), table6)
  expect_identical(dimnames(x), list(truth = LETTERS[1:5], rating = LETTERS[1:5]))
  expect_snapshot(print(x))
})

test_that("the accuracy over base rates is exact, and rows sum to one", {
  set.seed(1)
  expect_over(rounds(300), function(i) {
    n <- sample(2:9, 1)
    rates <- random_rates(n)
    accuracy <- if (i %% 10 == 0) i %% 20 / 10 else stats::runif(1)
    x <- confusion_matrix(
      n, accuracy,
      dispersion = exp(stats::runif(1, -2, 2)), base_rates = rates,
      error_range = if (i %% 3 == 0) 1 else stats::runif(1)
    )
    c(abs(sum(rates * diag(x)) - accuracy), abs(rowSums(x) - 1), unless(x >= 0))
  })
})

test_that("the accuracy of every category is exact, if asked for", {
  set.seed(2)
  expect_over(rounds(100), function(i) {
    accuracy <- sample(c(0, 1, stats::runif(1)), 1)
    x <- confusion_matrix(
      sample(2:9, 1), accuracy, dispersion = 2, error_range = 1, normalise = "row"
    )
    c(unless(diag(x) == accuracy), abs(rowSums(x) - 1))
  })
})

test_that("difficulty is added and clamped", {
  expect_identical(confusion_matrix(3, 0.6, 0.2), confusion_matrix(3, 0.8))
  expect_identical(matrix(confusion_matrix(3, 0.9, 0.5), 3), diag(3))
  expect_identical(
    matrix(confusion_matrix(3, 0.1, -0.5), 3), (matrix(1, 3, 3) - diag(3)) / 2
  )
})

test_that("errors fall off by the dispersion and vary within the range", {
  x <- confusion_matrix(6, 0.5, dispersion = 3)
  expect_equal(x[1, 2:5] / x[1, 3:6], rep(3, 4), ignore_attr = TRUE)
  expect_equal(x[4, 3] / x[4, 1], 9)
  set.seed(3)
  ratio <- replicate(300, {
    x <- confusion_matrix(3, 0.5, error_range = 0.25)
    x[2, 1] / x[2, 3]
  })
  expect_true(all(ratio > 0.75 / 1.25 & ratio < 1.25 / 0.75))
  expect_gt(max(ratio), 1.4)
  set.seed(4)
  a <- confusion_matrix(3, 0.5, error_range = 1)
  set.seed(4)
  expect_identical(confusion_matrix(3, 0.5, error_range = 1), a)
})

test_that("a matrix without random factors leaves R's random numbers alone", {
  set.seed(5)
  state <- .Random.seed
  confusion_matrix(3, 0.5, dispersion = 2)
  expect_identical(.Random.seed, state)
})

test_that("bad arguments are named", {
  expect_snapshot(error = TRUE, {
    confusion_matrix(1, 0.5)
    confusion_matrix("a", 0.5)
    confusion_matrix(c("a", "a"), 0.5)
    confusion_matrix(3, 1.1)
    confusion_matrix(3, NA)
    confusion_matrix(3, 0.5, difficulty = 2)
    confusion_matrix(3, 0.5, dispersion = 0)
    confusion_matrix(3, 0.5, error_range = 2)
    confusion_matrix(3, 0.5, base_rates = c(0.5, 0.4, 0.2))
    confusion_matrix(3, 0.5, base_rates = c(0.5, 0.5))
    confusion_matrix(3, 0.5, base_rates = c(-0.5, 0.5, 1))
    confusion_matrix(3, 0.5, normalise = "all")
  })
  expect_error(
    confusion_matrix(3, 0.5, base_rates = c(0.5, 0.4, 0.2)), class = "fallible_error_argument"
  )
})

test_that("every cell is drawn", {
  skip_if_not_installed("ggplot2")
  x <- confusion_matrix(LETTERS[1:5], 0.6, difficulty = -0.2, dispersion = 2)
  plot <- ggplot2::autoplot(x)
  tiles <- ggplot2::layer_data(plot, 1)
  labels <- ggplot2::layer_data(plot, 2)
  expect_identical(nrow(tiles), 25L)
  expect_identical(labels$label[labels$x == 2 & labels$y == 5], "0.32") # A called B, A on top
  expect_length(ggplot2::autoplot(confusion_matrix(20, 0.6))$layers, 1L)
})

test_that("matrices of systems are estimated from ratings, with arguments of the estimate", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  expect_identical(confusion(x, method = "joint", interval = "none"),
    confusion(estimate_accuracy(x, method = "joint", interval = "none")))
  gold <- setNames(lehner2015$rater1, lehner2015$case)[1:5]
  shown <- quiet(confusion(x, known_truth = gold, gold_sample = "random", interval = "none"))
  expect_identical(shown, confusion(quiet(
    estimate_accuracy(x, known_truth = gold, gold_sample = "random", interval = "none"))))
})

test_that("matrices of ratings are refused with the calls that return them", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  for (refused in list(quote(confusion_matrix(x)), quote(confusion(x)))) {
    error <- expect_error(eval(refused), class = "fallible_error_argument")
    expect_match(conditionMessage(error), "coincidence.*confusion\\(fit_raters\\(x, dawid_skene")
  }
  expect_error(tidy(agreement(x), "category"), "by_category", class = "fallible_error_argument")
})

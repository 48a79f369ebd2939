test_that("strata have about as many cases, and patterns stay together", {
  set.seed(1)
  spread <- runif(100)
  weight <- sample(1:20, 100, replace = TRUE)
  stratum <- spread_strata(spread, weight)
  expect_identical(sort(unique(stratum)), 1:4)
  cases <- rowsum(weight, stratum)[, 1]
  expect_true(all(abs(cases / sum(cases) - 0.25) < 0.05))
  expect_false(is.unsorted(stratum[order(spread)]))
  tied <- spread_strata(rep(c(0.1, 0.5), 50), rep(1, 100))
  expect_identical(tied, rep(1:2, 50))
  expect_identical(spread_strata(rep(0.5, 10), rep(1, 10)), rep(1L, 10))
})

test_that("gold goes to strata in proportion to cases and spread, with a floor", {
  expect_equal(allocate_gold(100, c(500, 500), c(0.1, 0.3)), c(25, 75))
  # A stratum of which ratings seem to know everything is looked at, too.
  sure <- allocate_gold(100, c(500, 500), c(0, 0.5))
  expect_equal(sure[[1]], round(100 * 0.3 * 0.25 / (0.3 * 0.25 + 0.5)))
  expect_equal(allocate_gold(8, c(990, 3, 3, 4), c(0.5, 0, 0, 0)), c(2, 2, 2, 2))
  expect_equal(allocate_gold(300, c(10, 500), c(0.5, 0.1)), c(10, 290))
  expect_null(allocate_gold(5, c(10, 10, 10), c(0.1, 0.2, 0.3)))
  expect_equal(sum(allocate_gold(37, c(100, 200, 300, 150), runif(4))), 37)
})

test_that("probabilities sum to the number of gold cases", {
  set.seed(1)
  spread <- c(runif(40), NA, NA)
  weight <- sample(1:9, 42, replace = TRUE)
  for (choice in c("stratified", "active", "random")) {
    drawn <- gold_probabilities(30, spread, weight, choice)
    expect_equal(sum(drawn$probability * weight), 30)
    expect_identical(drawn$probability[41:42], c(0, 0))
    expect_true(all(drawn$probability[1:40] > 0) && all(drawn$probability <= 1))
    all <- gold_probabilities(1e6, spread, weight, choice)
    expect_equal(all$probability[1:40], rep(1, 40))
  }
  active <- gold_probabilities(30, spread, weight, "active")$probability[1:40]
  expect_false(is.unsorted(active[order(spread[1:40])]))
  strata <- gold_probabilities(30, spread, weight, "stratified")
  expect_identical(is.na(strata$stratum), is.na(spread))
  expect_gt(length(unique(strata$probability[1:40])), 1)
})

test_that("cases are drawn with their probabilities, as many as there should be", {
  set.seed(1)
  stratum <- rep(1:2, c(60, 40))
  probability <- rep(c(0.1, 0.5), c(60, 40))
  draws <- replicate(400, {
    drawn <- draw_gold(probability, stratum)
    expect_identical(tabulate(stratum[drawn], 2), c(6L, 20L))
    tabulate(drawn, 100)
  })
  expect_lt(max(abs(rowMeans(draws) - probability)), 0.1)
  uneven <- runif(100)
  number <- replicate(100, length(draw_gold(uneven, rep(1, 100))))
  expect_true(all(abs(number - sum(uneven)) < 1))
})

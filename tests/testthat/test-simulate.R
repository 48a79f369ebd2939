# Largest distance of shares from probabilities, in standard errors.
largest_z <- function(count, probability, n) {
  sure <- probability %in% c(0, 1)
  expect_equal(as.numeric(count[sure]), (probability * n)[sure])
  z <- (count - n * probability) / sqrt(n * probability * (1 - probability))
  max(abs(z[!sure]))
}

answers <- function(x) {
  table <- as.data.frame(x)
  out <- matrix(NA_integer_, nrow(x), ncol(x))
  out[cbind(match(table$case, x$cases), match(table$rater, x$raters))] <- as.integer(table$rating)
  out
}

test_that("a panel carries its truth, with all categories", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7), c(a = 0.9, b = 0.1), categories = 9, n = 4))
  expect_s3_class(x, "ratings")
  expect_identical(dim(x), c(4L, 2L))
  expect_identical(x$categories, as.character(1:9))
  expect_identical(x$systems, c("a", "b"))
  expect_identical(x$truth$stratum, rep(1L, 4))
  expect_equal(sum(x$truth$base_rates), 1)
  expect_named(truth(x), c("case", "category"))
  expect_identical(levels(truth(x)$category), as.character(1:9))
  expect_equal(true_accuracy(x)$expected, c(0.9, 0.1))
  expect_identical(nrow(true_accuracy(simulate_ratings(rater_design(c(0.6, 0.6))))), 0L)
})

test_that("the same seed gives the same panel", {
  design <- rater_design(
    c(0.5, 0.6, 0.7), 0.9, difficulty = 0.2, error_range = 1, missing = 0.1,
    base_rates = "dirichlet",
    copying = data.frame(from = 1, to = 2, probability = 0.2)
  )
  draw <- function(seed) {
    set.seed(seed)
    simulate_ratings(design)
  }
  expect_identical(draw(1), draw(1))
  expect_false(identical(draw(1), draw(2)))
  set.seed(1)
  first <- simulate_ratings(design)
  expect_false(identical(simulate_ratings(design), first))
})

test_that("truth follows its cases", {
  set.seed(2)
  x <- simulate_ratings(lehner_design(10))
  keep <- c(7, 3, 150, 3)
  part <- x[keep, ]
  expect_identical(truth(part), truth(x)[keep, ])
  expect_identical(part$truth$stratum, x$truth$stratum[keep])
  expect_identical(true_accuracy(part)$expected, true_accuracy(x)$expected)
  predicted <- as.data.frame(part, what = "systems")
  first <- predicted[predicted$system == "system 0.1", ]
  expect_equal(
    true_accuracy(part)$sample[[1]], mean(first$prediction == truth(part)$category)
  )
  expect_identical(truth(x[, c("rater1", "rater3")]), truth(x))
})

test_that("answers follow the matrices, in every stratum", {
  set.seed(4)
  design <- lehner_design(8)
  n <- 60000
  panel <- draw_panel(design, n)
  expect_length(panel$matrices, 8 * 3)
  chi2 <- df <- 0
  for (unit in 1:8) {
    for (stratum in 1:3) {
      matrix <- panel$matrices[[(unit - 1) * 3 + stratum]]
      shown <- table(
        factor(panel$truth, 1:5), factor(panel$answers[[unit]], 1:5), panel$stratum
      )[, , stratum]
      total <- matrix(rowSums(shown), 5, 5)
      off <- (shown - total * matrix) / sqrt(total * matrix * (1 - matrix))
      sure <- matrix == 0 | matrix == 1
      expect_equal(as.vector(shown)[sure], as.vector(total * matrix)[sure])
      # 4 standard errors for one number; over all 600 the same error rate needs 5.4.
      expect_lt(max(abs(off[!sure]), 0), 5.4)
      possible <- (total * matrix)[matrix > 0]
      chi2 <- chi2 + sum((shown[matrix > 0] - possible)^2 / possible)
      df <- df + sum(rowSums(matrix > 0) - 1)
    }
  }
  expect_gt(df, 400)
  expect_lt(abs(chi2 - df), 4 * sqrt(2 * df))
  expect_lt(largest_z(tabulate(panel$truth, 5), panel$base_rates, n), 4)
  expect_lt(largest_z(tabulate(panel$stratum, 3), rep(1 / 3, 3), n), 4)
})

test_that("the expected accuracies of Figure 8's systems are those printed", {
  set.seed(5)
  expected <- true_accuracy(simulate_ratings(lehner_design(8), n = 10))$expected
  expect_equal(expected, c(0.4 / 3, 0.3, 0.5, 0.7, 2.6 / 3), tolerance = 1e-12)
  alone <- rater_design(
    c(0.5, 0.6, 0.7), 0.9, difficulty = list(value = 0.2, shared = "errors"), dispersion = 2, n = 10
  )
  expect_equal(true_accuracy(simulate_ratings(alone))$expected, 0.9)
})

test_that("systems share the raters' lot only if told", {
  set.seed(6)
  design <- function(shared) {
    rater_design(
      c(0.6, 0.6), 0.7, 4, difficulty = list(value = 0.2, shared = shared), dispersion = 3, n = 3,
      base_rates = rep(0.25, 4)
    )
  }
  even <- matrix(0.1, 4, 4) + diag(0.6, 4)
  nothing <- draw_panel(design(NULL), 3)$matrices
  for (i in 7:9) expect_equal(nothing[[i]], even)
  errors <- draw_panel(design("errors"), 3)$matrices
  given <- confusion_matrix(4, 0.7, dispersion = 3)
  for (i in 7:9) expect_equal(errors[[i]], given, ignore_attr = TRUE)
  hard <- draw_panel(design("difficulty"), 3)$matrices
  expect_equal(vapply(hard[7:9], function(m) m[1, 1], 0), c(0.5, 0.7, 0.9))
  expect_equal(hard[[8]], even)
})

test_that("factors of errors are redrawn for each stratum, or not", {
  set.seed(7)
  ratio <- function(redraw) {
    design <- rater_design(c(0.5, 0.5), error_range = 1, difficulty = list(value = 0.1, redraw = redraw))
    vapply(draw_panel(design, 1)$matrices[1:3], function(m) m[1, 2] / m[1, 3], 0)
  }
  kept <- ratio(FALSE)
  expect_equal(kept[2:3], kept[c(1, 1)])
  expect_identical(anyDuplicated(signif(ratio(TRUE), 6)), 0L)
})

test_that("strata have their share exactly, or by chance", {
  set.seed(8)
  thirds <- function(strata, n) {
    tabulate(draw_panel(rater_design(c(0.6, 0.6), difficulty = list(value = 0.2, strata = strata)), n)$stratum, 3)
  }
  expect_identical(thirds("fixed", 300), c(100L, 100L, 100L))
  expect_identical(sort(thirds("fixed", 200)), c(66L, 67L, 67L))
  expect_lt(largest_z(thirds("drawn", 30000), rep(1 / 3, 3), 30000), 4)
  uneven <- data.frame(shift = c(-0.1, 0.1), weight = c(0.1, 0.9))
  design <- rater_design(c(0.6, 0.6), difficulty = list(value = uneven, strata = "fixed"))
  expect_identical(tabulate(draw_panel(design, 50)$stratum), c(5L, 45L))
})

test_that("ratings are missing, and answers copied, at their rates", {
  set.seed(9)
  n <- 20000
  copying <- data.frame(
    from = c("rater1", "rater1"), to = c("rater2", "system"), probability = c(0.5, 0.25)
  )
  design <- rater_design(c(0.6, 0.6, 0.6), 0.9, missing = 0.2, copying = copying)
  x <- quiet(simulate_ratings(design, n))
  given <- answers(x)
  expect_lt(largest_z(colSums(is.na(given)), rep(0.2, 3), n), 4)
  agree <- function(a, b) {
    both <- which(!is.na(given[, a] + given[, b]))
    largest_z(
      sum(given[both, a] == given[both, b]),
      if (a == 1 && b == 2) 0.5 + 0.5 * 0.4 else 0.4, length(both)
    )
  }
  expect_lt(agree(1, 2), 4)
  expect_lt(agree(1, 3), 4)
  expected <- 0.25 * 0.6 + 0.75 * 0.9
  expect_equal(true_accuracy(x)$expected, expected)
  expect_lt(largest_z(true_accuracy(x)$sample * n, expected, n), 4)
})

test_that("given matrices are used as they are", {
  set.seed(10)
  turned <- diag(3)[c(2, 3, 1), ]
  mixed <- rbind(c(0.5, 0.5, 0), c(0, 0.2, 0.8), c(1, 0, 0))
  design <- rater_design(
    c(a = 0.6, b = 0.6), c(s = 0.5), 3, difficulty = 0.2, base_rates = c(0.2, 0.3, 0.5),
    matrices = list(b = turned, s = mixed)
  )
  panel <- draw_panel(design, 100)
  for (i in 4:6) expect_identical(panel$matrices[[i]], turned)
  for (i in 7:9) expect_identical(panel$matrices[[i]], mixed)
  expect_identical(panel$answers[[2]], c(2L, 3L, 1L)[panel$truth])
  expect_equal(panel$expected, 0.2 * 0.5 + 0.3 * 0.2)
  made <- confusion_matrix(3, 0.6, dispersion = 2)
  again <- rater_design(c(a = 0.6, b = 0.6), categories = 3, matrices = list(a = made))
  expect_equal(draw_panel(again, 1)$matrices[[1]], made, ignore_attr = TRUE)
})

test_that("base rates follow their law", {
  set.seed(11)
  rates <- function(...) {
    design <- rater_design(c(0.6, 0.6), categories = 4, ...)
    t(replicate(2000, draw_panel(design, 1)$base_rates))
  }
  for (drawn in list(rates(), rates(base_rates = "dirichlet", concentration = 3))) {
    expect_equal(rowSums(drawn), rep(1, 2000))
    z <- (colMeans(drawn) - 0.25) / apply(drawn, 2, stats::sd) * sqrt(2000)
    expect_lt(max(abs(z)), 4)
  }
  expect_lt(abs(stats::var(drawn[, 1]) / (0.25 * 0.75 / 13) - 1), 0.2)
  fixed <- rates(base_rates = c(0.1, 0.2, 0.3, 0.4))
  expect_equal(unique(fixed), rbind(c(0.1, 0.2, 0.3, 0.4)))
})

test_that("what cannot be is refused", {
  expect_snapshot(error = TRUE, {
    simulate_ratings(0.6)
    simulate_ratings(lehner_design(2), n = 0)
    truth(lehner_ratings())
    true_accuracy(lehner_ratings())
    truth(1)
  })
})

test_that("mean kappas are those measured for Figures 2 and 9", {
  skip_unless_nightly()
  skip_on_cran()
  set.seed(13)
  kappas <- function(figure) {
    design <- lehner_design(figure, system = NULL)
    replicate(400, quiet(fit_raters(simulate_ratings(design)))$kappa)
  }
  for (setting in list(c(2, 0.0635), c(9, 0.1318))) {
    kappa <- kappas(setting[[1]])
    error <- stats::sd(kappa) / sqrt(length(kappa))
    expect_lt(abs(mean(kappa) - setting[[2]]), 4 * error)
  }
})

program_bounds <- function(x, ...) {
  unlist(tidy(accuracy_bounds(x, given = "ratings", ...))[1, c("lowest", "highest")])
}

test_that("the linear program asks for its solver", {
  skip_if(requireNamespace("Rglpk", quietly = TRUE), "Rglpk is installed")
  expect_error(program_bounds(lehner_ratings()), "Rglpk", class = "fallible_error_package")
})

# A random joint law of truth, ratings and answers, and everything that can be assumed of it.
random_law <- function(raters, categories) {
  all <- expand.grid(rep(list(seq_len(categories)), raters + 2))
  names(all) <- c("truth", paste0("r", seq_len(raters)), "s")
  right <- rowSums(all[-1] == all$truth)
  all$share <- stats::rexp(nrow(all)) * 2^right
  all$share <- all$share / sum(all$share)
  accuracy <- vapply(paste0("r", seq_len(raters)), function(r) {
    sum(all$share[all[[r]] == all$truth])
  }, 0)
  seen <- stats::aggregate(share ~ ., all[-1], sum)
  list(
    all = all, accuracy = accuracy,
    base_rates = as.vector(tapply(all$share, all$truth, sum)),
    system = sum(all$share[all$s == all$truth]),
    x = ratings(seen, raters = tidyselect::starts_with("r"), systems = s, weights = share,
      categories = as.character(seq_len(categories)))
  )
}

test_that("a law is inside the bounds of all that is true of it", {
  skip_if_not_installed("Rglpk")
  set.seed(1)
  for (i in 1:12) {
    raters <- 2 + i %% 2
    law <- random_law(raters, 2 + i %% 3 %/% 2)
    a <- law$accuracy
    correlation <- c(-1, 1)
    if (raters == 2) {
      both <- with(law$all, sum(share[r1 == truth & r2 == truth]))
      phi <- (both - prod(a)) / sqrt(prod(a * (1 - a)))
      correlation <- phi + c(-1e-6, 1e-6)
    }
    near <- cbind(a - 0.05, pmin(a + 0.05, 1))
    widths <- vapply(list(
      list(better_than_chance = FALSE), list(rater_accuracy = near, better_than_chance = FALSE),
      list(rater_accuracy = a, better_than_chance = FALSE),
      list(rater_accuracy = a, base_rates = law$base_rates, better_than_chance = FALSE),
      list(
        rater_accuracy = a, base_rates = law$base_rates, better_than_chance = FALSE,
        error_correlation = correlation
      )
    ), function(assumed) {
      found <- do.call(program_bounds, c(list(law$x), assumed))
      expect_gte(law$system, found[[1]] - 1e-6)
      expect_lte(law$system, found[[2]] + 1e-6)
      found[[2]] - found[[1]]
    }, 0)
    expect_true(all(diff(widths) < 1e-6)) # to assume more narrows
  }
})

test_that("bounds are never narrower than a search over all laws, and are reached", {
  skip_if_not_installed("Rglpk")
  set.seed(2)
  law <- random_law(3, 2)
  seen <- stats::aggregate(share ~ r1 + r2 + r3 + s, law$all, sum)
  limits <- c(0.5, 0.75)
  found <- program_bounds(law$x, rater_accuracy = limits, better_than_chance = FALSE)
  reached <- c(1, 0)
  outside <- 0
  for (i in rounds(8000)) {
    # The share of each pattern that is truly of the first category: near the corners mostly.
    first <- stats::rbeta(nrow(seen), 0.2, 0.2)
    mine <- function(answer) sum(seen$share * ifelse(answer == 1, first, 1 - first))
    accuracy <- c(mine(seen$r1), mine(seen$r2), mine(seen$r3))
    if (all(accuracy >= limits[[1]] & accuracy <= limits[[2]])) {
      system <- mine(seen$s)
      outside <- max(outside, found[[1]] - system, system - found[[2]])
      reached <- c(min(reached[[1]], system), max(reached[[2]], system))
    }
  }
  expect_lt(outside, 1e-7)
  expect_lt(reached[[1]] - found[[1]], 0.25)
  expect_lt(found[[2]] - reached[[2]], 0.25)
})

test_that("without an assumption nothing is known; chance excludes turned categories", {
  skip_if_not_installed("Rglpk")
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), 0.9, 2, 300))
  expect_equal(unname(program_bounds(x, better_than_chance = FALSE)), c(0, 1))
  found <- program_bounds(x, rater_accuracy = c(0.7, 1))
  expect_gt(found[[1]], 0.4)
  expect_true(found[[1]] <= 0.9 && found[[2]] >= 0.9)
})

test_that("no rater is worse than one who rates blindly", {
  skip_if_not_installed("Rglpk")
  # Two raters who always disagree cannot both be better than chance with a third who is right.
  d <- data.frame(a = c("x", "y"), b = c("y", "x"), s = c("x", "y"))
  x <- ratings(d[rep(1:2, 10), ], raters = a:b, systems = s)
  none <- accuracy_bounds(x, given = "ratings", rater_accuracy = c(0.9, 1))
  expect_match(tidy(none)$reason, "impossible under the assumptions")
  expect_identical(unname(program_bounds(x)), c(0.5, 0.5)) # both are blind
})

test_that("known truths, repeated ratings, counts and gaps are taken", {
  skip_if_not_installed("Rglpk")
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), 0.9, 3, 60, missing = 0.2))
  gold <- stats::setNames(as.character(truth(x)$category), truth(x)$case)
  all <- quiet(fit_raters(x, known_truth = gold))
  expect_equal(
    unname(program_bounds(all)), rep(true_accuracy(x)$sample, 2), tolerance = 1e-6
  )
  some <- quiet(fit_raters(x, known_truth = gold[1:30]))
  expect_lt(diff(program_bounds(some)), diff(program_bounds(x)))
  counted <- fleiss1971[1:10, ]
  counted$s <- "depression"
  y <- ratings(counted, case = case, counts = depression:other, systems = s)
  found <- program_bounds(y, rater_accuracy = c(0.6, 1))
  expect_true(found[[1]] < found[[2]])
})

test_that("the confidence set contains the range, and too large a program is not begun", {
  skip_if_not_installed("Rglpk")
  set.seed(5)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), 0.9, 2, 100))
  bounds <- accuracy_bounds(
    x, given = "ratings", rater_accuracy = c(0.6, 0.9), interval = "bootstrap", resampling = list(replicates = 20)
  )
  table <- tidy(bounds)
  expect_true(table$conf.low <= table$lowest && table$conf.high >= table$highest)
  expect_snapshot(bounds)
  panel <- random_law(2, 2)$x
  panel$categories <- as.character(seq_len(most_variables)) # two raters, and far too much to say
  expect_match(
    solve_bounds(panel, 1, pattern_weights(panel), integer(), list())$reason, "too large"
  )
})

test_that("assumptions that make no sense are refused", {
  skip_if_not_installed("Rglpk")
  x <- lehner_ratings()
  expect_snapshot(error = TRUE, {
    accuracy_bounds(x, given = "ratings", rater_accuracy = c(0.9, 0.1))
    accuracy_bounds(x, given = "ratings", rater_accuracy = c(rater1 = 0.5))
    accuracy_bounds(x, given = "ratings", base_rates = c(0.5, 0.1, 0.1, 0.1))
    accuracy_bounds(x, given = "ratings", error_correlation = 0.3)
    accuracy_bounds(x, given = "ratings", rater_accuracy = 0.5, error_correlation = 3)
  })
})

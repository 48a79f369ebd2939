# The information of a case by enumeration of all answers and numerical derivatives of the log
# probability: slow and obvious.
reference_deviation <- function(m, accuracy, system, rates) {
  n <- length(rates)
  answers <- as.matrix(expand.grid(rep(list(seq_len(n)), m + 1)))
  log_probability <- function(theta) {
    rates <- c(theta[-(1:2)], 1 - sum(theta[-(1:2)]))
    apply(answers, 1, function(row) {
      of <- function(k) {
        p <- function(answer, right) if (answer == k) right else (1 - right) / (n - 1)
        rates[k] * prod(vapply(row[seq_len(m)], p, 0, theta[1])) * p(row[m + 1], theta[2])
      }
      log(sum(vapply(seq_len(n), of, 0)))
    })
  }
  theta <- c(accuracy, system, rates[-n])
  h <- 1e-5
  scores <- vapply(seq_along(theta), function(i) {
    up <- down <- theta
    up[i] <- up[i] + h
    down[i] <- down[i] - h
    (log_probability(up) - log_probability(down)) / (2 * h)
  }, double(nrow(answers)))
  information <- crossprod(scores, scores * exp(log_probability(theta)))
  sqrt(solve(information)[2, 2])
}

deviation <- function(m, accuracy, system, rates, missing = 0) {
  fisher_deviation(rates, rater_tallies(m, length(rates), accuracy, missing), system)
}

test_that("the information of a case is that of all answers", {
  cases <- list(
    list(m = 2, rates = c(0.2, 0.5, 0.3), accuracy = 0.6, system = 0.8),
    list(m = 3, rates = c(0.4, 0.6), accuracy = 0.7, system = 0.9),
    list(m = 3, rates = rep(0.25, 4), accuracy = 0.5, system = 0.3)
  )
  for (at in cases) {
    expect_equal(
      deviation(at$m, at$accuracy, at$system, at$rates),
      reference_deviation(at$m, at$accuracy, at$system, at$rates), tolerance = 1e-6
    )
  }
})

test_that("compositions are all, each once", {
  x <- compositions(4, 3)
  expect_identical(nrow(x), as.integer(choose(6, 2)))
  expect_true(all(rowSums(x) == 4) && all(x >= 0))
  expect_identical(anyDuplicated(x), 0L)
})

test_that("with missing ratings information is a mean over the ratings that are left", {
  rates <- c(0.4, 0.3, 0.3)
  none <- deviation(3, 0.7, 0.8, rates)
  some <- deviation(3, 0.7, 0.8, rates, missing = 0.1)
  most <- deviation(3, 0.7, 0.8, rates, missing = 0.5)
  expect_lt(none, some)
  expect_lt(some, most)
  tallies <- rater_tallies(3, 3, 0.7, 0.5)
  expect_equal(vapply(tallies, `[[`, 0, "share"), dbinom(3:0, 3, 0.5))
  for (p in tallies) {
    expect_equal(sum(p$ways * p$probability %*% rates), 1)
    # Scores have mean zero, so that the system's own information is the variance of its score.
    expect_true(all(diag(fisher_information(p, 0.8, rates)) >= -1e-12))
  }
  # Perfect raters know the truth: what remains is the system's own variance.
  expect_equal(deviation(4, 1 - 1e-9, 0.8, c(0.5, 0.5)), 0.4, tolerance = 1e-3)
})

test_that("the approximation is near the simulation where both apply", {
  set.seed(1)
  simulated <- tidy(plan_cases(rater_accuracy = 0.8, system_accuracy = c(0.5, 0.7), runs = 200))
  approximate <- tidy(plan_cases(
    rater_accuracy = 0.8, system_accuracy = c(0.5, 0.7), runs = 0
  ))
  expect_lt(
    abs(approximate$cases - simulated$cases), 3 * simulated$std.error + 0.15 * simulated$cases
  )
  expect_identical(approximate$std.error, NA_real_)
  expect_gte(approximate$probability, 0.9 - 1e-4)
  expect_lt(
    tidy(plan_cases(
      rater_accuracy = 0.8, system_accuracy = c(0.5, 0.7), runs = 0,
      cases = approximate$cases - 1
    ))$probability, 0.9
  )
})

test_that("an estimate within the margin of an end cannot overshoot it", {
  errors <- data.frame(truth = 0.95, deviation = 0.4)
  expect_equal(approximate_within(errors, 25, 0.1), 1 - pnorm(-0.1 * 5 / 0.4))
  errors$truth <- 0.05
  expect_equal(approximate_within(errors, 25, 0.1), pnorm(0.1 * 5 / 0.4))
  errors$truth <- 0.5
  expect_equal(approximate_within(errors, 25, 0.1), 1 - 2 * pnorm(-0.1 * 5 / 0.4))
})

test_that("what the approximation does not know is refused", {
  refused <- function(...) {
    expect_error(
      plan_cases(..., runs = 0), "The approximation knows",
      class = "fallible_error_argument"
    )
  }
  violated <- function(...) rater_design(c(0.6, 0.6), ...)
  refused(rater_accuracy = c(0.5, 0.7))
  refused(violated(difficulty = 0.1))
  refused(violated(dispersion = 2), chance_kappa = 0.3)
  refused(violated(error_range = 0.5))
  refused(violated(copying = data.frame(from = 1, to = 2, probability = 0.1)))
  refused(violated(matrices = list(rater1 = diag(0.5, 5) + 0.1)))
  refused(chance_kappa = 0.3, estimator = "unbinned")
  refused(chance_kappa = 0.3, estimator = accuracy_estimator("joint", rater_model("rater")))
  refused(chance_kappa = 1)
  refused(rater_design(rep(0.6, 12), categories = 20))
})

test_that("base rates are drawn by their law", {
  rates <- function(...) {
    design <- rater_design(c(0.6, 0.6), categories = 3, ...)
    do.call(rbind, approximate_rates(list(labels = 1:3, assumed = design), 200))
  }
  even <- rates(base_rates = "dirichlet", concentration = 50)
  uneven <- rates(base_rates = "dirichlet", concentration = 0.2)
  expect_lt(max(apply(even, 1, max)), 0.6)
  expect_gt(mean(apply(uneven, 1, max)), 0.7)
  expect_equal(rates(base_rates = c(0.5, 0.3, 0.2)), rbind(c(0.5, 0.3, 0.2)))
})

test_that("fewer base rates are drawn where each is more work", {
  design <- rater_design(c(0.7, 0.7))
  settings <- list(labels = 1:5, systems = 0.8, accuracies = 0.7, missing = 0, assumed = design)
  draws <- function(m) nrow(approximate_errors(settings, m))
  expect_identical(draws(3), 20L)
  # Ways to share 18 ratings among 5 categories, for each true category.
  expect_lte(draws(18) * choose(22, 4) * 5, 5e5)
})

fixed <- function(raters, systems = 0.9, ...) {
  rater_design(raters, systems, base_rates = rep(0.2, 5), ...)
}
limit <- function(design, ...) exact_limit(design, ...)$estimate

# The maximum of the likelihood of the system's accuracy, given the posteriors.
likelihood_estimate <- function(x) {
  probability <- as.matrix(ground_truth(fit_raters(x))[x$categories])
  answers <- as.data.frame(x, what = "systems")
  q <- probability[cbind(seq_along(x$cases), as.integer(answers$prediction))]
  n <- length(x$categories)
  log_likelihood <- function(p) sum(x$weights * log(q * p + (1 - q) * (1 - p) / (n - 1)))
  stats::optimize(log_likelihood, c(0, 1), maximum = TRUE, tol = 1e-10)$maximum
}

test_that("the six rows of limits are reproduced", {
  rows <- list(
    list(fixed(rep(0.6, 3)), c(0.4, 0.6, 0.9, 0.9, 0.9, 0.9)),
    list(
      fixed(c(0.4, 0.6, 0.8)), c(0.383333, 0.582971, 0.944171, 0.934177, 0.931222, 0.926269)
    ),
    list(
      fixed(rep(0.6, 3), difficulty = list(value = 0.2, shared = NULL)),
      c(0.433333, 0.632049, 0.822799, 0.842318, 0.847167, 0.850136)
    ),
    list(
      fixed(rep(0.6, 3), difficulty = 0.2),
      c(0.433333, 0.632049, 0.817989, 0.854553, 0.862025, 0.863770)
    ),
    list(
      fixed(rep(0.6, 3), dispersion = 2, difficulty = list(shared = NULL)),
      c(0.412637, 0.612443, 0.796967, 0.845894, 0.857377, 0.873092)
    ),
    list(
      fixed(rep(0.6, 3), dispersion = 2),
      c(0.412637, 0.612443, 0.804805, 0.850186, 0.862211, 0.882742)
    )
  )
  for (row in rows) {
    found <- c(
      limit(row[[1]], function(x) fit_raters(x)$agreement),
      limit(row[[1]], function(x) fit_raters(x)$rater_accuracy),
      limit(row[[1]], "binned"), limit(row[[1]], accuracy_estimator("binned", bins = list(width = 1))),
      limit(row[[1]], "unbinned"), limit(row[[1]], likelihood_estimate)
    )
    expect_lt(max(abs(found - row[[2]])), 1e-6)
  }
  expect_equal(exact_limit(rows[[4]][[1]])$expected, 2.6 / 3)
})

test_that("the limit is that of the slow enumeration", {
  expect_equal(
    limit(fixed(c(0.5, 0.6, 0.7), 0.8, dispersion = 2, difficulty = 0.2)),
    point_estimate(exact_ratings(
      c(0.5, 0.6, 0.7), 0.8, dispersion = 2, system_dispersion = 2, difficulty = 0.2,
      system_difficulty = 0.2
    ))
  )
})

test_that("simulated panels tend to the limit, also with copying, missing ratings and matrices", {
  set.seed(1)
  odd <- rbind(c(0.8, 0.2, 0), c(0.1, 0.6, 0.3), c(0.25, 0.25, 0.5))
  design <- rater_design(
    c(0.6, 0.7, 0.8), c(a = 0.7, b = 0.5), 3, base_rates = c(0.5, 0.3, 0.2), missing = 0.3,
    difficulty = data.frame(shift = c(-0.2, 0.1), weight = c(0.3, 0.7)),
    copying = data.frame(
      from = c("rater1", "rater2", "rater3"), to = c("rater2", "rater3", "b"),
      probability = c(0.3, 0.5, 0.4)
    ),
    matrices = list(rater1 = odd)
  )
  for (panels in c("same", "separate")) {
    study <- simulation_study(design, "unbinned", runs = 40, n = 20000, panels = panels)
    rows <- tidy(study)
    for (system in c("a", "b")) {
      exact <- exact_limit(design, "unbinned")
      exact <- exact[exact$system == system, ]
      values <- rows$estimate[rows$system == system]
      expect_lt(abs(mean(values) - exact$estimate), 4 * stats::sd(values) / sqrt(40) + 1e-4)
      expect_equal(rows$expected[rows$system == system][[1]], exact$expected)
    }
  }
})

test_that("copying and losing answers keep probabilities", {
  set.seed(2)
  p <- array(stats::runif(2 * 3 * 2), c(3, 3, 3)[c(1, 2, 3)])
  p <- p / sum(p)
  copied <- copy_answers(p, data.frame(from = 3L, to = 1L, probability = 0.25))
  slow <- 0.75 * p
  for (a in 1:3) for (b in 1:3) for (c in 1:3) {
    slow[c, b, c] <- slow[c, b, c] + 0.25 * p[a, b, c]
  }
  expect_equal(copied, slow)
  lost <- drop_answers_at_random(p, 2, 0.1)
  expect_identical(dim(lost), c(3L, 4L, 3L))
  expect_equal(lost[, 1:3, ], 0.9 * p)
  expect_equal(lost[, 4, ], 0.1 * apply(p, c(1, 3), sum))
})

test_that("names and random errors that do not matter are no obstacle", {
  raters <- c(weight = 0.6, r2 = 0.6, r3 = 0.6)
  expect_equal(limit(fixed(raters)), limit(fixed(rep(0.6, 3))))
  given <- lapply(raters, function(a) confusion_matrix(5, a))
  expect_equal(
    limit(fixed(raters, error_range = 1, matrices = given, difficulty = list(shared = NULL))), limit(fixed(raters))
  )
})

test_that("a limit that does not exist is NA with its reason, or refused", {
  nothing <- exact_limit(fixed(c(0.2, 0.2, 0.2)))
  expect_identical(nothing$estimate, NA_real_)
  expect_match(nothing$reason, "no better than by chance")
  expect_snapshot(error = TRUE, {
    exact_limit(lehner_design(8))
    exact_limit(fixed(c(0.6, 0.6), NULL))
    exact_limit(fixed(rep(0.6, 12)))
    exact_limit(fixed(c(0.6, 0.6)), c("binned", "unbinned"))
    exact_limit(3)
  })
})

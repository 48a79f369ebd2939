panel <- function(n = 200, raters = c(0.5, 0.6, 0.7), systems = c(a = 0.9, b = 0.4), ...) {
  simulate_ratings(rater_design(raters, systems, 4, n, ...))
}

latent <- function(x, method, model = k_model(), ...) {
  tidy(quiet(estimate_accuracy(x, method, model, interval = "none", ...)))
}

test_that("shared is the mean posterior of the answers under the raters alone", {
  set.seed(1)
  x <- panel(dispersion = 2)
  for (model in list(k_model(), rater_model("rater", "distance"), dawid_skene("weak"))) {
    truth <- as.matrix(ground_truth(fit_raters(x, model, method = "likelihood"))[x$categories])
    answers <- as.data.frame(x, what = "systems")
    mean_of <- function(system) {
      own <- answers[answers$system == system, ]
      mean(truth[cbind(match(own$case, x$cases), as.integer(own$prediction))])
    }
    found <- latent(x, "shared", model)
    expect_equal(found$estimate, c(mean_of("a"), mean_of("b")), tolerance = 1e-8)
    expect_identical(found$shared, found$estimate)
    expect_identical(found$independent, latent(x, "joint", model)$estimate)
  }
})

test_that("joint takes the system as one more rater", {
  set.seed(2)
  x <- panel(systems = 0.9)
  wide <- as.data.frame(x)
  table <- rbind(
    wide[c("case", "rater", "rating")],
    with(as.data.frame(x, what = "systems"), data.frame(case, rater = "system", rating = prediction))
  )
  four <- ratings(table, case = case, rater = rater, rating = rating, categories = x$categories)
  # Without priors the estimate is the accuracy of that rater.
  model <- rater_model("rater", prior = "none")
  expect_equal(
    latent(x, "joint", model)$estimate,
    coef(fit_raters(four, model))[["rater_accuracy[system]"]], tolerance = 1e-5
  )
})

test_that("exact panels give the truth, or the published value where the model is wrong", {
  fixed <- function(raters, ...) rater_design(raters, 0.9, base_rates = rep(0.2, 5), ...)
  limit <- function(design, ...) {
    model <- rater_model(..., prior = "none")
    exact_limit(design, function(x) latent(x, "joint", model))$estimate
  }
  same <- c(0.6, 0.6, 0.6)
  expect_equal(limit(fixed(same)), 0.9, tolerance = 1e-4)
  expect_equal(limit(fixed(c(0.4, 0.6, 0.8)), "rater"), 0.9, tolerance = 1e-4)
  expect_equal(limit(fixed(same, dispersion = 2), errors = "distance"), 0.9, tolerance = 1e-4)
  expect_equal(
    limit(fixed(same, dispersion = 2, difficulty = list(shared = NULL)), errors = "distance", system = "own"), 0.9,
    tolerance = 1e-4
  )
  expect_equal(
    limit(fixed(same, dispersion = 2, difficulty = list(shared = NULL)), errors = "distance"), 0.8818,
    tolerance = 1e-4
  )
  expect_equal(
    limit(
      fixed(c(0.5, 0.6, 0.7), dispersion = 2, difficulty = 0.2), "rater", "distance", "strata"
    ),
    2.6 / 3, tolerance = 1e-3
  )
})

test_that("intervals come from resampled cases, the same for any number of threads", {
  set.seed(3)
  x <- panel(100)
  run <- function(x, threads = 1) {
    set.seed(4)
    drawn <- list(replicates = 60, threads = threads)
    tidy(quiet(published(x, "joint", model = rater_model("rater"), resampling = drawn)))
  }
  one <- run(x)
  expect_true(all(one$conf.low < one$estimate & one$estimate < one$conf.high))
  withr::with_options(list(mc.cores = 2), expect_identical(run(x, threads = 2), one))
  shuffled <- x[sample(100), ]
  expect_equal(run(shuffled), one, tolerance = 1e-6)
  # Standard errors are those of many panels.
  skip_on_cran()
  many <- replicate(100, latent(panel(100, systems = 0.9), "joint")$estimate)
  errors <- replicate(5, {
    tidy(published(panel(100, systems = 0.9), "joint", resampling = list(replicates = 60)))$std.error
  })
  expect_lt(abs(stats::sd(many) / mean(errors) - 1), 0.4)
})

test_that("what is not identified is NA with its reason", {
  binary <- data.frame(
    a = c("x", "y", "x", "y", "y"), b = c("x", "y", "y", "y", "x"), s = c("x", "y", "y", "y", "y")
  )
  x <- ratings(binary, raters = a:b, systems = s)
  found <- latent(x, "joint", rater_model(errors = "distance"))
  expect_identical(found$estimate, NA_real_)
  expect_match(found$reason, "more parameters")
  expect_false(is.na(latent(x, "joint")$estimate))
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  found <- latent(ratings(chance, raters = a:b, systems = s), "shared")
  expect_match(found$reason, "no better than by chance")
  expect_identical(found$independent, NA_real_)
})

test_that("joint estimates print, and are drawn", {
  set.seed(5)
  estimate <- published(
    panel(), "joint", model = rater_model("rater", "distance"), resampling = list(replicates = 50)
  )
  expect_snapshot(estimate)
  skip_if_not_installed("ggplot2")
  expect_equal(
    sort(ggplot2::layer_data(ggplot2::autoplot(estimate), 3L)$x), sort(tidy(estimate)$estimate)
  )
  expect_error(tidy(estimate, "bins"), class = "fallible_error_argument")
})

test_that("cases that a system did not answer say nothing of its accuracy", {
  x <- ratings(
    cbind(r1 = c(1, 2, 1), r2 = c(1, 2, 2), s = c(1, 1, NA), t = c(1, NA, 2)), systems = c(s, t)
  )
  own <- as_rater_fit(x, cbind(c(0.9, 0.2, 0.6), c(0.1, 0.8, 0.4)), c(0.5, 0.5))
  found <- tidy(estimate_accuracy(own, "shared", interval = "none"))
  expect_equal(found$estimate, c((0.9 + 0.2) / 2, (0.9 + 0.4) / 2))
})

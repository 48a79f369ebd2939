small_panel <- function(n = 60, ...) {
  set.seed(1)
  simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8), 3, n, ...))
}

profile_of <- function(x, model = k_model(), ...) {
  tidy(quiet(estimate_accuracy(x, "joint", model, interval = "profile", ...)))
}

test_that("profile ends are where the deviance has its quantile, as a slow twin finds them", {
  x <- small_panel()
  # The K-model with one more rater: rater and system logits, base rates.
  answers <- matrix("", 60, 4)
  long <- as.data.frame(x)
  answers[cbind(long$case, match(long$rater, x$raters))] <- as.character(long$rating)
  answers[, 4] <- as.character(as.data.frame(x, what = "systems")$prediction)
  prior <- rater_model()$prior
  log_posterior <- function(rest, system) {
    rates <- exp(c(rest[2:3], 0)) / sum(exp(c(rest[2:3], 0)))
    p <- plogis(c(rest[c(1, 1, 1)], system))
    joint <- sapply(1:3, function(k) {
      right <- answers == x$categories[[k]]
      log(rates[[k]]) + right %*% log(p) + (1 - right) %*% log((1 - p) / 2)
    })
    sum(log(rowSums(exp(joint)))) + prior$base_rates * sum(log(rates)) +
      sum(prior$accuracy * log(c(p[[1]], 1 - p[[1]]))) + log(p[[4]]) + log(1 - p[[4]])
  }
  profile <- function(system) {
    optim(c(0.5, 0, 0), log_posterior, system = system, method = "BFGS",
      control = list(fnscale = -1, reltol = 1e-14))$value
  }
  top <- optimize(profile, c(-3, 5), maximum = TRUE, tol = 1e-8)
  for (level in c(0.5, 0.9)) {
    off <- function(system) 2 * (top$objective - profile(system)) - qchisq(level, 1)
    ends <- c(
      uniroot(off, c(top$maximum - 5, top$maximum), tol = 1e-8)$root,
      uniroot(off, c(top$maximum, top$maximum + 5), tol = 1e-8)$root
    )
    found <- profile_of(x, conf_level = level)
    expect_equal(c(found$conf.low, found$conf.high), plogis(ends), tolerance = 1e-4)
    expect_equal(found$std.error, diff(plogis(ends)) / (2 * qnorm((1 + level) / 2)),
      tolerance = 1e-4)
  }
  expect_equal(found$estimate, plogis(top$maximum), tolerance = 1e-4)
})

test_that("profiles are like bootstraps for every model whose accuracy is a parameter", {
  x <- small_panel(150, dispersion = 2, difficulty = 0.1)
  for (model in list(rater_model("rater"), rater_model("rater", "distance", "strata"))) {
    found <- profile_of(x, model)
    set.seed(2)
    boot <- tidy(quiet(
      estimate_accuracy(x, "joint", model, interval = "bootstrap", resampling = list(replicates = 200))
    ))
    expect_equal(found$estimate, boot$estimate)
    expect_lt(abs(found$std.error / boot$std.error - 1), 0.35)
    expect_true(found$conf.low < found$estimate && found$estimate < found$conf.high)
  }
})

test_that("profiles are one-sided on a boundary and do not depend on the order of cases", {
  x <- small_panel()
  shuffled <- x[sample(60), c(3, 1, 2)]
  expect_equal(profile_of(shuffled)[3:5], profile_of(x)[3:5], tolerance = 1e-4)
  sure <- data.frame(a = rep(c("x", "y", "z"), 8), b = rep(c("x", "y", "z"), 8))
  sure$b[[1]] <- "y"
  sure$s <- sure$a
  x <- ratings(sure, raters = a:b, systems = s)
  found <- profile_of(x, rater_model(prior = "none"))
  expect_identical(found$conf.high, 1)
  expect_gt(found$conf.low, 0.8)
  expect_lt(found$conf.low, 1)
})

test_that("where there is no profile the reason is told", {
  x <- small_panel()
  found <- profile_of(x, dawid_skene())
  expect_identical(found$conf.low, NA_real_)
  expect_match(found$reason, "estimated from the same ratings")
  # The profile would not contain an estimate that is moved to shared errors.
  for (common in list("all", "typical", 0.5)) {
    moved <- profile_of(x, common = common)
    expect_identical(moved$conf.low, rep(NA_real_, nrow(moved)))
    expect_match(moved$reason, "a profile is for independent errors, but `common` moves")
  }
  expect_identical(profile_of(x, common = 0), profile_of(x))
  free <- profile_of(x, dawid_skene("weak"))
  expect_true(free$conf.low < free$estimate && free$estimate < free$conf.high)
  expect_snapshot(error = TRUE, estimate_accuracy(x, "shared", interval = "profile"))
  exact <- exact_ratings(c(0.6, 0.6, 0.6), 0.9)
  expect_match(profile_of(exact)$reason, "weights are not counts")
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  expect_match(profile_of(ratings(chance, raters = a:b, systems = s))$reason, "by chance")
  expect_snapshot(quiet(estimate_accuracy(x, "joint", interval = "profile")))
})

test_that("where the profile comes upon a higher top, all of the estimate is from there", {
  y <- data.frame(
    c1 = c(2, 0, 1, 2, 0, 1, 1, 0), c2 = c(2, 1, 0, 2, 2, 2, 1, 1), c3 = 0,
    s = c("c1", "c2", "c1", "c1", "c1", "c1", "c1", "c1"), w = c(1, 1, 3, 1, 2, 2, 2, 3)
  )
  x <- quiet(ratings(y, counts = c1:c3, systems = "s", weights = "w"))
  first <- quiet(estimate_accuracy(x, "joint", interval = "none"))
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "profile"))
  found <- tidy(estimate)
  expect_gt(found$estimate, tidy(first)$estimate + 0.3)
  expect_gt(found$estimate, found$conf.low)
  expect_lt(found$estimate, found$conf.high)
  # The mean posterior of the system's answers, with one right and one wrong before.
  expect_equal(found$independent, found$estimate)
  weight <- pattern_weights(x) * (diff(x$patterns$start) > 0) # without a rating, no judgement
  answer <- pattern_answers(x)[, 1L]
  right <- sum(weight * estimate$posterior$s[cbind(seq_along(answer), answer)])
  expect_equal(found$estimate, (right + 1) / (sum(weight) + 2), tolerance = 1e-5)
})

test_that("a higher top is found whose interval holds the lower one, and compared systems keep it", {
  y <- data.frame(
    c1 = c(0, 1, 1, 0, 0, 0, 2, 1, 1), c2 = c(2, 0, 1, 0, 0, 0, 0, 0, 0),
    c3 = c(0, 0, 0, 2, 1, 2, 0, 0, 0), c4 = c(0, 1, 0, 0, 1, 0, 0, 1, 1),
    s = paste0("c", c(1, 3, 2, 1, 3, 1, 1, 1, 2)),
    t = c("c1", "c2", "c3", "c4", NA, "c1", "c1", "c1", "c1"),
    w = c(1, 1, 3, 1, 2, 3, 2, 2, 3)
  )
  profiled <- function(systems) {
    x <- quiet(ratings(y, counts = c1:c4, systems = !!systems, weights = "w"))
    quiet(estimate_accuracy(x, "joint", interval = "profile"))
  }
  found <- tidy(profiled("s"))
  first <- tidy(quiet(estimate_accuracy(profiled("s")$fit, "joint", interval = "none")))
  expect_gt(found$estimate, first$estimate + 0.3)
  expect_lt(found$conf.low, first$estimate)
  # Two systems are compared on the cases that both answered, from the higher tops.
  both <- profiled(c("s", "t"))
  apart <- tidy(quiet(compare_systems(both)))
  again <- estimate_again(both, both$fit$x)
  expect_equal(tidy(again)$estimate, tidy(both)$estimate)
  expect_identical(nrow(apart), 1L)
})

test_that("a system without answers in a group keeps the reason of its missing estimate", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.7), 3, 60))
  answers <- as.data.frame(x, "systems")
  answers <- answers[answers$system == "a" | answers$case <= 30, ]
  x <- ratings(as.data.frame(x), case = case, rater = rater, rating = rating, systems = answers)
  group <- setNames(rep(c("x", "y"), each = 30), 1:60)
  for (interval in c("none", "profile", "bootstrap")) {
    settings <- if (interval == "bootstrap") list(replicates = 20) else list()
    table <- tidy(quiet(estimate_accuracy(x, "joint", interval = interval, by = group,
      resampling = settings)))
    row <- table[table$group == "y" & table$system == "b", ]
    expect_equal(row$estimate, NA_real_)
    expect_identical(row$reason, "no case of the system has a rating", info = interval)
  }
})

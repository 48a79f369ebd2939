pooled <- function(x, ...) quiet(fit_raters(x, dawid_skene(), ...))

test_that("matrices around a centre are those of two other programs, to 1e-6", {
  a <- pooled(fluke_tests())
  expect_equal(
    unlist(glance(a)[c("c", "tau", "ups", "a")]),
    c(c = 1.8734223, tau = 0.4855662, ups = 0.2743124, a = NA), tolerance = 1e-6
  )
  expect_lt(max(abs(rates_of(a) - c(0.9271565, 0.0728435))), 1e-6)
  said <- c(0.0048772, 0.0418091, 0.1569920, 0.1707132, 0.6469776, 0.8866461, 0.9858431)
  expect_lt(max(abs(ground_truth(a)[["1"]] - said)), 1e-6)
  b <- pooled(three_tests())
  expect_equal(
    unlist(glance(b)[c("c", "tau", "ups")]),
    c(c = 1.3786498, tau = 0.4462552, ups = 0.2377557), tolerance = 2e-6
  )
  said <- c(
    0.1275394, 0.5666025, 0.7706586, 0.9677959, 0.5836659, 0.9261319, 0.9699029, 0.9965422
  )
  expect_lt(max(abs(ground_truth(b)[["1"]] - said)), 1e-6)
  right <- vapply(confusion(b), diag, double(2))
  expect_lt(max(abs(right[2, ] - c(0.3006133, 0.9465587, 0.2514287))), 1e-6)
  expect_lt(max(abs(right[1, ] - c(0.9541425, 0.5648024, 0.9661618))), 1e-6)
  d <- pooled(three_categories())
  expect_equal(
    unlist(glance(d)[c("c", "tau", "ups", "a")]),
    c(c = 7.0503925, tau = 0.5367582, ups = 0.2535167, a = 0.774801), tolerance = 1e-6
  )
  expect_lt(max(abs(confusion(d)[[1]][2, ] - c(0.0918767, 0.8575929, 0.0505304))), 1e-6)
})

test_that("fits are those of a slow twin", {
  x <- pooled(lehner_ratings())$x
  answers <- answers_by_pattern(x)[, 1:4]
  for (one_coin in c(FALSE, TRUE)) {
    slow <- slow_pooled(answers, 4, one_coin = one_coin)
    fast <- core_fit_pooled(
      x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), one_coin, 1e-9,
      20000L, 1L, no_tick
    )[[1L]]
    apart <- c(
      max(abs(fast$posterior - slow$posterior)), max(abs(fast$base_rates - slow$base_rates)),
      max(abs(fast$confusion - slow$matrices)), abs(fast$centre$tau - slow$tau)
    )
    expect_lt(max(apart), 1e-8)
    if (!one_coin) {
      expect_equal(fast$centre$log_density, slow_log_density(slow, answers), tolerance = 1e-8)
    }
  }
})

test_that("a one-coin centre is that of two other programs", {
  x <- three_categories()
  coin <- core_fit_pooled(
    x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), TRUE, 1e-9, 20000L,
    1L, no_tick
  )[[1L]]
  expect_lt(abs(coin$centre$c - 7.0506341), 1e-6)
  expect_lt(abs(coin$centre$tau - 0.5395508), 1e-6)
  expect_lt(max(abs(coin$base_rates - c(0.3366056, 0.3310326, 0.3323618))), 1e-6)
})

test_that("standard errors are given the centre, and nothing counts its parameters", {
  fit <- pooled(three_categories())
  expect_message(criteria <- AIC(fit_raters(fit$x, method = "likelihood"), fit), "prior = \"none\"")
  expect_identical(is.na(criteria$AIC), c(FALSE, TRUE))
  expect_identical(is.na(c(quiet(BIC(fit)), logLik(fit))), c(TRUE, FALSE))
  expect_true(all(tidy(fit)$std.error > 0))
  # With known truths they are shares of rows to which the centre adds ratings.
  x <- withr::with_seed(4, panel(300))
  known <- pooled(x, known_truth = truth(x))
  rows <- array(known$centre$rows, c(4, 4, 3)) # ratings x truths x raters
  n <- table(truth(x)$category)
  right <- vapply(1:3, function(j) diag(known$matrices[j, , ]), double(4))
  size <- as.vector(n) + known$centre$c
  rates <- rates_of(known)
  of_rates <- (diag(rates) - rates %o% rates) / (sum(n) + 4)
  slow <- vapply(1:3, function(j) {
    p <- right[, j]
    sqrt(sum(rates^2 * p * (1 - p) / size) + drop(p %*% of_rates %*% p))
  }, 0)
  expect_equal(sqrt(coefficient_variances(known)[1:3]), slow, tolerance = 1e-4)
  # tidy() and vcov() report at least the standard error with known truth; correlations stay.
  accuracy <- unname(coef(known)[1:3])
  reported <- sqrt(diag(vcov(known)))
  expect_equal(unname(reported[1:3]), pmax(slow, sqrt(accuracy * (1 - accuracy) / sum(n))),
    tolerance = 1e-4)
  expect_equal(unname(reported), tidy(known)$std.error)
  expect_equal(unname(cov2cor(vcov(known))), cov2cor(covariance_of(known)$covariance))
})

test_that("names and orders of categories, raters and cases change nothing", {
  set.seed(3)
  table <- as.data.frame(panel(100, dispersion = 2))
  table$rating <- as.character(table$rating)
  fit <- function(data, ...) {
    pooled(ratings(data, case = case, rater = rater, rating = rating, ...))
  }
  straight <- fit(table, categories = 1:4)
  other <- fit(table[sample(nrow(table)), ], categories = 4:1)
  expect_lt(max(abs(rates_of(other)[4:1] - rates_of(straight))), 1e-6)
  expect_lt(max(abs(coef(other)[names(coef(straight))] - coef(straight))), 1e-6)
  # A category that no rater uses has probability 0 and no influence.
  more <- fit(table, categories = c(1:4, "none"))
  expect_identical(rates_of(more)[["none"]], 0)
  expect_lt(max(abs(rates_of(more)[1:4] - rates_of(straight))), 1e-7)
})

test_that("known truths stay, and raters who are known are no part of the centre", {
  set.seed(5)
  x <- panel(200)
  gold <- truth(x)[1:40, ]
  fit <- pooled(x, known_truth = gold)
  sure <- as.matrix(ground_truth(fit)[1:40, x$categories])
  expect_lt(max(abs(sure[cbind(1:40, as.integer(gold$category))] - 1)), 1e-14)
  known <- pooled(x, known_raters = list(rater1 = 0.5))
  expect_equal(unname(diag(confusion(known)$rater1)), rep(0.5, 4))
})

test_that("a rater with one rating is nearly the centre; one without is not known", {
  set.seed(6)
  said <- wide_answers(simulate_ratings(rater_design(rep(0.7, 4), NULL, 3, 150)))
  said <- cbind(said, once = c("1", rep(NA, 149)))
  fit <- pooled(ratings(said))
  rows <- array(fit$centre$rows, c(3, 3, 5)) / fit$centre$c
  expect_lt(max(abs(confusion(fit)$once - t(rows[, , 5]))), 0.2)
  expect_false(anyNA(coef(fit)))
})

test_that("a pooled prior goes with free errors of each rater", {
  for (bad in list(quote(rater_model(prior = "pooled")),
                   quote(rater_model("rater", prior = "pooled")),
                   quote(rater_model("rater", "free", "strata", prior = "pooled")))) {
    expect_error(eval(bad), "pooled", class = "fallible_error_argument")
  }
  expect_identical(dawid_skene(), dawid_skene("pooled"))
  expect_identical(rater_model("rater", "free", "strata")$prior, weak_prior)
  expect_identical(glance(dawid_skene())$prior, "pooled")
  expect_output(print(dawid_skene()), "mean rows of the panel")
})

test_that("systems are judged around the centre, with a skill of their own", {
  set.seed(7)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8, 0.7), c(a = 0.9, b = 0.5), 3, n = 600))
  for (method in c("joint", "shared")) {
    found <- tidy(quiet(estimate_accuracy(x, method, "none", model = dawid_skene())))
    expect_lt(max(abs(found$estimate - c(0.9, 0.5))), if (method == "joint") 0.06 else 0.15)
  }
})

test_that("counts of a calibration sample are as good as ratings of cases with known truth", {
  set.seed(8)
  x <- panel(150)
  sample <- panel(100)
  told <- table(truth(sample)$category, factor(wide_answers(sample)[, 1], x$categories))
  fit <- pooled(x, known_raters = list(rater1 = told))
  alone <- pooled(x)
  of <- confusion(fit)$rater1
  expect_lt(sum(abs(of - told / rowSums(told))), sum(abs(confusion(alone)$rater1 - told /
    rowSums(told))))
  expect_lt(tidy(fit)$std.error[[1]], tidy(alone)$std.error[[1]])
  expect_error(
    fit_raters(x, dawid_skene("none"), known_raters = list(rater1 = told)), "dawid_skene",
    class = "fallible_error_argument"
  )
})

test_that("a category used once is kept, and a case without ratings has the base rates", {
  withr::local_seed(9)
  said <- wide_answers(simulate_ratings(rater_design(rep(0.8, 4), NULL, 3, 150)))
  said[1, 1] <- "z"
  x <- ratings(rbind(said, NA), categories = c(1:3, "z"))
  fit <- pooled(x)
  expect_identical(fit$identified, "yes")
  expect_gt(base_rates(fit)[["z"]], 0)
  expect_false(anyNA(unlist(confusion(fit))))
  expect_equal(unlist(ground_truth(fit)[151, -1]), rates_of(fit))
  labels <- quiet(ground_truth(x, rho = 0, votes = 0))
  expect_gt(labels$z[[1]], 0)
  # One case more of each category is the prior of base rates.
  expect_lt(max(abs(unlist(labels[151, -1]) - (151 * colMeans(labels[-1]) + 1) / 155)), 1e-4)
  # No rater saw any case.
  expect_error(ratings(said[FALSE, ]), class = "fallible_error_empty")
})

test_that("perfect agreement gives diagonal matrices, without a warning", {
  same <- rep(1:3, c(50, 30, 20))
  x <- ratings(cbind(a = same, b = same, c = same))
  expect_no_warning(fit <- fit_raters(x, dawid_skene()))
  expect_gt(min(vapply(confusion(fit), diag, double(3))), 0.95)
  expect_no_warning(labels <- ground_truth(x))
  expect_identical(as.integer(predict(labels)$category), same)
})

test_that("two raters have free errors where truths, a rater or populations are known, else none", {
  withr::local_seed(10)
  panel <- simulate_ratings(rater_design(c(0.9, 0.8), NULL, 2, 400))
  expect_warning(
    none <- fit_raters(panel, dawid_skene()), class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(coef(none))))
  gold <- pooled(panel, known_truth = truth(panel)[1:100, ])
  known <- pooled(panel, known_raters = list(rater1 = 0.9))
  for (fit in list(gold, known)) {
    expect_identical(fit$identified, "yes")
    expect_lt(max(abs(coef(fit)[1:2] - c(0.9, 0.8))), 0.1)
  }
})

test_that("one case in 10 000 is found by good tests, whatever its category is called", {
  tests <- expand.grid(a = 0:1, b = 0:1, c = 0:1)
  sensitivity <- c(0.9, 0.85, 0.95)
  specificity <- c(0.99, 0.98, 0.995)
  probability <- apply(tests, 1, function(said) {
    1e-4 * prod(ifelse(said == 1, sensitivity, 1 - sensitivity)) +
      (1 - 1e-4) * prod(ifelse(said == 1, 1 - specificity, specificity))
  })
  tests$n <- round(1e7 * probability)
  fits <- lapply(list(0:1, 1:0), function(order) {
    x <- ratings(tests[tests$n > 0, ], raters = a:c, weights = n, categories = order)
    expect_no_warning(fit <- fit_raters(x, dawid_skene()))
    fit
  })
  expect_equal(base_rates(fits[[1]])[["1"]], 1e-4, tolerance = 0.05)
  expect_equal(base_rates(fits[[2]])[["1"]], base_rates(fits[[1]])[["1"]], tolerance = 1e-4)
  of_ill <- vapply(confusion(fits[[1]]), function(m) m["1", "1"], 0)
  expect_lt(max(abs(of_ill - sensitivity)), 0.03)
})

test_that("labels of a fit that does not converge are given, with a warning", {
  x <- three_tests()
  cut <- core_fit_pooled(
    x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), FALSE, 1e-9, 3L,
    1L, no_tick
  )[[1L]]
  expect_false(cut$converged)
  expect_equal(rowSums(cut$posterior), rep(1, nrow(cut$posterior)))
  fit <- pooled(x)
  fit$converged <- FALSE
  expect_warning(warn_identified_fit(fit), class = "fallible_warning_no_convergence")
  expect_false(anyNA(ground_truth(fit)))
})

test_that("raters who are alike are fitted in a few rounds, almost by maximum likelihood", {
  for (seed in 1:3) {
    set.seed(seed)
    x <- simulate_ratings(
      rater_design(rep(0.6, 5), categories = 4, n = 5000, base_rates = c(0.4, 0.3, 0.2, 0.1))
    )
    fit <- expect_no_warning(fit_raters(x, dawid_skene()))
    expect_true(fit$converged)
    expect_lt(fit$iterations, 500)
    exact <- core_fit_pooled(
      fit$x$patterns, pattern_weights(fit$x), nothing_known, unclass(dawid_skene()), FALSE, 1e-13,
      1e6L, 1L, no_tick
    )[[1L]]
    expect_lt(max(abs(fit$posterior - exact$posterior)), 1e-6)
    expect_lt(max(abs(fit$matrices - exact$confusion)), 1e-6)
  }
})

test_that("two fits of one call are those of two calls, for any number of threads", {
  x <- lehner_ratings()
  fit <- function(one_coin, threads) {
    core_fit_pooled(
      x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), one_coin, 1e-9,
      20000L, threads, no_tick
    )
  }
  both <- fit(c(FALSE, TRUE), 2L)
  expect_identical(both, fit(c(FALSE, TRUE), 1L))
  expect_identical(both, c(fit(FALSE, 1L), fit(TRUE, 1L)))
})

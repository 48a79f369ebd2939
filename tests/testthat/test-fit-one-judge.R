# Lee et al. (2025), arXiv 2511.21140, as published: p, the share called positive, of n; q0 and q1,
# specificity and sensitivity in m0 and m1 cases.
lee_interval <- function(p, q0, q1, n, m0, m1, alpha) {
  z2 <- stats::qnorm(1 - alpha / 2)^2
  p <- (n * p + z2 / 2) / (n + z2)
  q0 <- (m0 * q0 + 1) / (m0 + 2)
  q1 <- (m1 * q1 + 1) / (m1 + 2)
  theta <- (p + q0 - 1) / (q0 + q1 - 1)
  v0 <- q0 * (1 - q0) / (m0 + 2)
  v1 <- q1 * (1 - q1) / (m1 + 2)
  se <- sqrt(p * (1 - p) / (n + z2) + (1 - theta)^2 * v0 + theta^2 * v1) / (q0 + q1 - 1)
  theta + 2 * z2 * (theta * v1 - (1 - theta) * v0) + c(-1, 1) * sqrt(z2) * se
}

test_that("one judge with a calibration sample gives the estimate of Rogan and Gladen", {
  said <- data.frame(judge = rep(c(0, 1), c(140, 60)))
  sample <- matrix(c(90, 5, 10, 45), 2)
  x <- ratings(said, raters = judge)
  fit <- fit_raters(x, dawid_skene(), known_raters = list(judge = sample))
  specificity <- 90 / 100
  sensitivity <- 45 / 50
  youden <- specificity + sensitivity - 1
  rate <- (0.3 + specificity - 1) / youden
  expect_equal(rates_of(fit)[["1"]], rate)
  expect_equal(rate, 0.25)
  v <- function(p, n) p * (1 - p) / n
  # Variances of the sample are those of rates with one case more of either kind.
  error <- sqrt(v(0.3, 200) + (1 - rate)^2 * v(91 / 102, 102) + rate^2 * v(46 / 52, 52)) / youden
  expect_equal(tidy(fit)$std.error[[3]], error)
  expect_equal(sum(ground_truth(fit)[1, -1]), 1)
  # By the program of Lee et al.
  of_rates <- unname(confint(fit, level = 0.9)[2:3, ])
  expect_equal(of_rates[2, ], lee_interval(0.3, 90 / 100, 45 / 50, 200, 100, 50, 0.1))
  expect_equal(of_rates[1, ], 1 - rev(of_rates[2, ]))
  expect_lt(max(abs(of_rates[2, ] - c(0.162, 0.338))), 0.005)
  expect_identical(rownames(confint(fit, "base_rate[1]")), "base_rate[1]")
  expect_output(print(fit), "Calibration samples: judge")
  # The judge as a test: of its rates, errors are those of the sample.
  found <- test_accuracy(fit)
  of <- function(measure) found[found$category == "1" & found$measure == measure, ]
  expect_equal(of("sensitivity")$std.error, sqrt(v(46 / 52, 52)))
  expect_equal(of("specificity")$std.error, sqrt(v(91 / 102, 102)))
  value <- function(share, q0, q1) {
    rate <- (share + q0 - 1) / (q0 + q1 - 1)
    rate * q1 / share
  }
  at <- c(0.3, specificity, sensitivity)
  slopes <- vapply(1:3, function(i) {
    step <- 1e-6 * (1:3 == i)
    (do.call(value, as.list(at + step)) - do.call(value, as.list(at - step))) / 2e-6
  }, 0)
  expect_equal(of("ppv")$estimate, do.call(value, as.list(at)))
  expect_equal(
    of("ppv")$std.error, sqrt(sum(slopes^2 * v(c(0.3, 91 / 102, 46 / 52), c(200, 102, 52)))),
    tolerance = 1e-4
  )
  # A second rater without ratings changes nothing.
  beside <- quiet(ratings(cbind(said, nobody = NA), raters = judge:nobody))
  with_nobody <- fit_raters(beside, dawid_skene(), known_raters = list(judge = sample))
  expect_identical(base_rates(with_nobody), base_rates(fit))
  table <- test_accuracy(with_nobody)
  expect_equal(table[table$rater == "judge", ], found)
  guess <- matrix(c(50, 25, 50, 25), 2)
  expect_warning(
    fit_raters(x, dawid_skene(), known_raters = list(judge = guess)),
    "no better than chance", class = "fallible_warning_not_identified"
  )
})

test_that("a judge's accuracy is as uncertain as the rates that it is made of", {
  sample <- matrix(c(85, 15, 15, 85), 2) # specificity and sensitivity are the same
  x <- ratings(data.frame(judge = rep(c(0, 1), c(140, 60))), raters = judge)
  found <- tidy(fit_raters(x, dawid_skene(), known_raters = list(judge = sample)))
  right <- 85 / 100
  rate <- (0.3 + right - 1) / (2 * right - 1)
  expect_equal(found$estimate[[1]], right)
  expect_equal(
    found$std.error[[1]], sqrt((rate^2 + (1 - rate)^2) * 86 / 102 * 16 / 102 / 102)
  )
})

test_that("a judge's accuracy moves with both rates, also through the base rate", {
  sample <- matrix(c(90, 5, 10, 45), 2)
  x <- ratings(data.frame(judge = rep(c(0, 1), c(140, 60))), raters = judge)
  fit <- fit_raters(x, dawid_skene(), known_raters = list(judge = sample))
  at <- c(60 / 200, 90 / 100, 45 / 50) # share, specificity, sensitivity
  numbers <- function(of) {
    rate <- (of[1] + of[2] - 1) / (of[2] + of[3] - 1)
    c((1 - rate) * of[2] + rate * of[3], 1 - rate, rate)
  }
  slopes <- sapply(1:3, function(i) {
    step <- 1e-6 * (1:3 == i)
    (numbers(at + step) - numbers(at - step)) / 2e-6
  })
  p <- c(60 / 200, 91 / 102, 46 / 52)
  slow <- slopes %*% (p * (1 - p) / c(200, 102, 52) * t(slopes))
  expect_equal(unname(vcov(fit)), slow, tolerance = 1e-7)
})

# k of n called "pass"; x1 of m1 that pass and x0 of m0 that fail judged right.
judged <- function(k, n, x1, m1, x0, m0) {
  labels <- c("fail", "pass")
  calls <- data.frame(judge = factor(rep(labels, c(n - k, k)), labels))
  counts <- matrix(c(x0, m1 - x1, m0 - x0, x1), 2, dimnames = list(labels, labels))
  fit_raters(ratings(calls, raters = judge), known_raters = list(judge = counts))
}

test_that("estimates, errors and intervals are those of published formulas", {
  row <- function(fit, level = 0.9) {
    unname(c(coef(fit)[[3]], confint(fit, level = level)[3, ], tidy(fit)$std.error[[3]]))
  }
  oracle <- function(..., estimate, low, high, error, low95, high95) {
    fit <- judged(...)
    expect_lt(max(abs(row(fit) - c(estimate, low, high, error))), 1e-6)
    expect_lt(max(abs(row(fit, 0.95)[2:3] - c(low95, high95))), 1e-6)
  }
  oracle(400, 1000, 180, 200, 140, 200, estimate = 0.1666667, low = 0.0745297, high = 0.2477799,
    error = 0.0521074, low95 = 0.0563507, high95 = 0.2627330)
  oracle(400, 500, 46, 50, 44, 50, estimate = 0.85, low = 0.7833298, high = 0.9547558,
    error = 0.0496540, low95 = 0.7686479, high95 = 0.9727933)
  # At an end the interval is that of the profile likelihood, if this is wider.
  oracle(490, 500, 46, 50, 44, 50, estimate = 1, low = 0.9883191, high = 1, error = 0.0516979,
    low95 = 0.9844779, high95 = 1)
  expect_gt(lee_interval(0.98, 0.88, 0.92, 500, 50, 50, 0.05)[[1]], 0.994)
  oracle(20, 500, 46, 50, 44, 50, estimate = 0, low = 0, high = 0.0157994, error = 0.0601700,
    low95 = 0, high95 = 0.0210274)
  close <- function(fit, numbers) expect_lt(max(abs(row(fit) - numbers)), 1e-6)
  close(judged(60, 200, 45, 50, 90, 100), c(0.25, 0.1624973, 0.3368134, 0.0515883))
  close(judged(300, 500, 50, 50, 50, 50), c(0.6, 0.5596749, 0.6480177, 0.0258575))
  # Nothing excludes the other end.
  expect_identical(
    unname(confint(suppressWarnings(judged(49, 50, 6, 10, 5, 10)), level = 0.9)[3, ]), c(0, 1)
  )
})

test_that("the guard is the profile likelihood, maximised by brute force", {
  z <- stats::qnorm(0.95)
  likely <- function(rate, of) { # of: sensitivity, specificity
    p <- rate * of[1] + (1 - rate) * (1 - of[2])
    stats::dbinom(46, 50, of[1], log = TRUE) + stats::dbinom(44, 50, of[2], log = TRUE) +
      stats::dbinom(490, 500, p, log = TRUE)
  }
  top <- function(rate) {
    found <- stats::optim(c(0.92, 0.88), function(of) -likely(rate, of), method = "L-BFGS-B",
      lower = 1e-9, upper = 1 - 1e-9, control = list(factr = 10))
    -found$value
  }
  low <- stats::uniroot(function(rate) 2 * (top(1) - top(rate)) - z^2, c(0.9, 1), tol = 1e-9)$root
  expect_lt(abs(confint(judged(490, 500, 46, 50, 44, 50), level = 0.9)[3, 1] - low), 1e-5)
})

test_that("what a sample does not show is missing, with a reason", {
  reasons <- function(fit) {
    expect_true(all(is.na(tidy(fit)[c("estimate", "std.error", "conf.low", "conf.high")])))
    expect_true(all(is.na(confint(fit))))
    format(fit)
  }
  lost <- function(...) {
    expect_warning(fit <- judged(...), class = "fallible_warning_not_identified")
    reasons(fit)
  }
  expect_match(lost(300, 500, 25, 50, 25, 50), "the judge is no better than chance in its")
  # Better than chance in the raw rates only.
  expect_match(lost(400, 500, 4, 5, 250, 1000), "the judge is no better than chance in its")
  expect_match(lost(400, 500, 0, 0, 40, 50), "the calibration sample has no case of category pass")
  three <- function(counts) {
    x <- ratings(data.frame(judge = rep(letters[1:3], c(9, 8, 7))), raters = judge)
    expect_warning(
      fit <- fit_raters(x, known_raters = list(judge = matrix(counts, 3, byrow = TRUE))),
      class = "fallible_warning_not_identified"
    )
    reasons(fit)
  }
  expect_match(three(c(9, 1, 0, 0, 0, 0, 1, 0, 9)), "the calibration sample has no case of category b")
  expect_match(three(c(9, 9, 0, 4, 5, 3, 1, 0, 9)), "no better than chance at recognising b")
})

slopes_of <- function(f, at) {
  vapply(seq_along(at), function(i) {
    step <- 1e-6 * (seq_along(at) == i)
    (f(at + step) - f(at - step)) / 2e-6
  }, f(at))
}

slow_joint <- function(counts, verdicts, rounds = 20000) {
  k <- nrow(counts)
  p <- rep(1 / k, k)
  m <- counts / rowSums(counts)
  for (round in seq_len(rounds)) {
    table <- counts * 0
    for (l in seq_len(k)) if (verdicts[l] > 0) {
      table[, l] <- verdicts[l] * p * m[, l] / sum(p * m[, l])
    }
    p <- rowSums(table) / sum(verdicts)
    m <- (counts + table) / rowSums(counts + table)
  }
  p
}

test_that("several categories have the joint maximum likelihood", {
  counts <- matrix(c(18, 1, 1, 2, 17, 1, 1, 3, 16), 3, byrow = TRUE)
  fitted <- function(verdicts, at = 1:3) {
    x <- ratings(
      data.frame(judge = factor(rep(letters[1:3], verdicts), letters[at])), raters = judge
    )
    named <- structure(counts, dimnames = list(letters[1:3], letters[1:3]))
    set.seed(1)
    fit_raters(x, known_raters = list(judge = named))
  }
  inside <- fitted(c(120, 90, 40))
  expect_lt(max(abs(rates_of(inside) - c(0.4841667, 0.3691667, 0.1466667))), 1e-6)
  expect_equal(confusion(inside)$judge, counts / 20, ignore_attr = TRUE)
  outside <- fitted(c(150, 98, 2))
  expect_lt(max(abs(rates_of(outside) - c(0.5938615, 0.4061385, 0))), 1e-6)
  expect_equal(unname(rates_of(outside)), slow_joint(counts, c(150, 98, 2)), tolerance = 1e-8)
  # The order of categories does not matter, nor that of rows and columns of the sample.
  expect_equal(rates_of(fitted(c(150, 98, 2), 3:1))[letters[1:3]], rates_of(outside))
  # Standard errors are those of the inverse, by the delta method.
  rate <- function(q, m) solve(t(m), q)
  q <- c(120, 90, 40) / 250
  m <- counts / 20
  smooth <- (counts + 1) / 23
  d <- slopes_of(function(q) rate(q, m), q)
  variance <- d %*% ((diag(q) - tcrossprod(q)) / 250) %*% t(d)
  for (k in 1:3) {
    d <- slopes_of(function(row) rate(q, replace(m, cbind(k, 1:3), row)), m[k, ])
    variance <- variance + d %*% ((diag(smooth[k, ]) - tcrossprod(smooth[k, ])) / 23) %*% t(d)
  }
  expect_equal(tidy(inside)$std.error[2:4], sqrt(diag(variance)), tolerance = 1e-6)
  # Intervals: the seed repeats them, they contain the estimate, and none leaves [0, 1].
  for (fit in list(inside, outside)) {
    ends <- confint(fit, level = 0.9)
    expect_true(all(ends >= 0 & ends <= 1 & ends[, 1] < ends[, 2]))
    expect_true(all(ends[, 1] <= coef(fit) & coef(fit) <= ends[, 2]))
  }
  expect_identical(confint(fitted(c(120, 90, 40))), confint(inside))
  draws <- withr::with_seed(2, replicate(4000, {
    row <- function(counts) prop.table(stats::rgamma(3, counts + 0.5))
    m <- t(apply(counts, 1, row))
    q <- row(c(120, 90, 40))
    p <- rep(1 / 3, 3)
    for (round in 1:300) p <- p * drop(m %*% (q / drop(p %*% m)))
    p
  }))
  slow <- t(apply(draws, 1, stats::quantile, c(0.05, 0.95)))
  expect_lt(max(abs(confint(inside, level = 0.9)[2:3, ] - slow[1:2, ])), 0.02)
})

test_that("no interval of a probability leaves [0, 1], and perfect judges have one", {
  fit <- judged(490, 500, 50, 50, 50, 50)
  ends <- confint(fit)
  expect_true(all(ends >= 0 & ends <= 1))
  # 100 of 100 in the sample.
  expect_equal(unname(ends[1, ]), drop(wilson_interval(1, 100, stats::qnorm(0.975))))
  table <- test_accuracy(fit)
  right <- table[table$category == "pass" & table$measure == "sensitivity", ]
  expect_equal(right$conf.low, wilson_interval(1, 50, stats::qnorm(0.95))[[1]])
})

test_that("one rater whose rates are known has no prior of base rates", {
  labels <- c("-", "+")
  rates <- matrix(c(0.96, 0.04, 0.1, 0.9), 2, byrow = TRUE, dimnames = list(labels, labels))
  x <- ratings(data.frame(test = factor(rep(labels, c(76, 4)), labels)), raters = test)
  for (model in list(dawid_skene(), dawid_skene("none"), k_model())) {
    fit <- fit_raters(x, model, known_raters = list(test = rates))
    expect_lt(abs(rates_of(fit)[["+"]] - (4 / 80 - 0.04) / 0.86), 1e-6)
    expect_true(all(confint(fit) >= 0 & confint(fit) <= 1, na.rm = TRUE))
  }
  # Another known rater is another matter.
  pair <- ratings(data.frame(a = rep(labels, c(76, 4)), b = labels), raters = a:b)
  two <- quiet(fit_raters(pair, dawid_skene(), known_raters = list(a = rates, b = rates)))
  expect_true(two$model$prior$pooled)
})

test_that("counts choose the model that uses them", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  counts <- matrix(2, 4, 4) + diag(20, 4)
  fit <- quiet(fit_raters(x, known_raters = list(rater1 = counts)))
  expect_identical(format(fit$model), "Dawid-Skene model")
  expect_identical(format(quiet(fit_raters(x, known_raters = list(rater1 = 0.7)))$model), "K-model")
  expect_error(fit_raters(x, k_model(), known_raters = list(rater1 = counts)),
    class = "fallible_error_argument")
})

test_that("weak calibration, and machines that are taken as independent, are warned about", {
  expect_warning(judged(300, 500, 6, 10, 7, 10), "wider than",
    class = "fallible_warning_weakly_identified")
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), 0.8, 2, 100))
  counts <- matrix(c(40, 10, 10, 40), 2)
  known <- list(rater1 = counts, rater2 = counts)
  warned <- function(kind, known, x) {
    x$rater_kind <- kind
    seen <- catch_warnings(fit_raters(x, known_raters = known))$warnings
    "fallible_warning_known_independent" %in% unlist(lapply(seen, class))
  }
  expect_true(warned("model", known, x))
  expect_false(warned("expert", known, x))
  expect_false(warned("model", known[1], x))
  mixed <- c(rater1 = "tool", rater2 = "model", rater3 = "expert")
  expect_true(warned(mixed, known, x))
  expect_false(warned(replace(mixed, 2, "expert"), known, x))
})

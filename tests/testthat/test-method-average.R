panel <- function(n = 120, raters = c(0.5, 0.6, 0.7), systems = c(a = 0.9, b = 0.4), ...) {
  simulate_ratings(rater_design(raters, systems, 3, n, ...))
}

average <- function(x, interval = "none", common = "none", ...) {
  quiet(estimate_accuracy(x, "average", interval = interval, common = common, ...))
}

test_that("members have the evidence and estimate of a slow twin", {
  set.seed(1)
  x <- panel(80, c(0.7, 0.7, 0.8), c(a = 0.8))
  codes <- data.matrix(answers_of(x))
  members <- average(x)$members
  for (shift in c(0, 0.1, 0.2)) {
    found <- members[members$accuracy == "common" & members$errors == "uniform" &
                       members$difficulty == shift, ]
    twin <- reference_member(codes, 3, shift)
    expect_equal(found$log_evidence, twin$log_evidence, tolerance = 1e-5)
    expect_equal(found$estimate, twin$estimate, tolerance = 1e-4)
  }
})

test_that("weights are evidence times prior, and the estimate is the mean of the members'", {
  set.seed(2)
  x <- panel()
  estimate <- average(x)
  for (system in x$systems) {
    members <- estimate$members[estimate$members$system == system, ]
    log <- members$log_evidence + members$log_prior
    weight <- exp(log - max(log, na.rm = TRUE))
    weight[is.na(weight)] <- 0
    expect_equal(members$weight, weight / sum(weight), tolerance = 1e-6)
    row <- tidy(estimate)[x$systems == system, ]
    expect_equal(
      row$estimate, (row$n * sum(members$weight * members$estimate) + 1) / (row$n + 2),
      tolerance = 1e-10
    )
    # The posterior that is kept is the one that the estimate comes from.
    posterior <- estimate$posterior[[system]]
    expect_equal(unname(rowSums(posterior)), rep(1, nrow(posterior)))
    answers <- x$patterns$answer[, match(system, x$systems)]
    q <- posterior[cbind(seq_along(answers), answers)]
    mean_q <- stats::weighted.mean(q, pattern_weights(x))
    expect_equal(row$estimate, (row$n * mean_q + 1) / (row$n + 2), tolerance = 1e-10)
    expect_identical(row$independent, row$estimate)
    sizes <- tapply(exp(members$log_prior[members$errors == "uniform"]),
                    members$difficulty[members$errors == "uniform"], sum)
    expect_equal(sizes[["0"]] / sum(sizes), 1 / 3)
  }
})

test_that("nothing depends on order, form, seed or threads", {
  set.seed(3)
  x <- panel()
  one <- tidy(average(x, "robust"))
  set.seed(99)
  expect_identical(tidy(average(x, "robust")), one)
  withr::with_options(list(mc.cores = 2), {
    expect_identical(tidy(average(x, "robust", resampling = list(threads = 2))), one)
  })
  expect_equal(tidy(average(x[sample(120), ], "robust")), one, tolerance = 1e-12)
  wide <- answers_of(x)
  by_form <- function(wide, ...) tidy(average(quiet(ratings(wide, systems = a:b, ...)), "robust"))
  expect_identical(by_form(wide, raters = rater1:rater3), one)
  expect_equal(by_form(wide, raters = c(rater3, rater1, rater2)), one, tolerance = 1e-3)
  # Uniform errors know nothing of the order of categories.
  other <- as.data.frame(lapply(wide, function(v) {
    factor(as.character(v), levels = c("3", "1", "2"))
  }))
  relabelled <- average(ratings(other, raters = rater1:rater3, systems = a:b))$members
  members <- average(x)$members
  uniform <- members$errors == "uniform"
  expect_equal(
    relabelled$log_evidence[relabelled$errors == "uniform"], members$log_evidence[uniform],
    tolerance = 1e-5
  )
  # A row per rating instead of columns; repeated cases instead of weights.
  long <- ratings(
    as.data.frame(x), case = case, rater = rater, rating = rating, categories = x$categories,
    systems = as.data.frame(x, what = "systems")
  )
  expect_equal(tidy(average(long, "robust")), one)
  weighted <- cbind(wide, w = 2)
  expect_equal(
    by_form(weighted, raters = rater1:rater3, weights = w)[2:7],
    by_form(wide[rep(1:120, 2), ], raters = rater1:rater3)[2:7]
  )
})

test_that("large panels give the truth, whatever K-property fails", {
  set.seed(4)
  off <- function(...) {
    x <- panel(20000, ...)
    max(abs(tidy(average(x))$estimate - c(0.9, 0.4)))
  }
  expect_lt(off(), 0.02)
  expect_lt(off(dispersion = 3), 0.02)
  limit <- function(raters, ...) {
    design <- rater_design(raters, 0.9, base_rates = rep(0.2, 5), ...)
    exact_limit(design, accuracy_estimator("average", common = "none"))$estimate
  }
  expect_equal(limit(c(0.6, 0.6, 0.6)), 0.9, tolerance = 2e-3)
  expect_equal(limit(c(0.4, 0.6, 0.8)), 0.9, tolerance = 2e-3)
  expect_equal(limit(c(0.6, 0.6, 0.6), difficulty = 0.2), 2.6 / 3, tolerance = 2e-3)
})

test_that("degenerate data have a number or a reason", {
  cases <- 60
  set.seed(5)
  truth <- sample(c("p", "q"), cases, TRUE)
  flip <- function(accuracy) {
    ifelse(stats::runif(cases) < accuracy, truth, ifelse(truth == "p", "q", "p"))
  }
  binary <- data.frame(
    r1 = flip(0.85), r2 = flip(0.85), r3 = flip(0.85), r4 = flip(0.85), s = flip(0.9)
  )
  value <- function(wide, raters = paste0("r", 1:4), ...) {
    tidy(average(quiet(ratings(wide, raters = !!raters, systems = "s", ...)), "robust"))
  }
  inside <- function(row) {
    row$estimate > 0 && row$estimate < 1 && row$conf.low < row$estimate &&
      row$estimate < row$conf.high && row$shared > 0 && row$shared < 1
  }
  expect_true(inside(value(binary)))
  expect_true(inside(value(binary, c("r1", "r2"))))
  expect_true(inside(value(binary, categories = c("p", "q", "never"))))
  expect_true(inside(value(transform(binary, r3 = "p"))))
  expect_true(inside(value(transform(binary, r3 = flip(0.3)))))
  perfect <- value(data.frame(r1 = truth, r2 = truth, r3 = truth, r4 = truth, s = truth))
  expect_true(inside(perfect))
  expect_gt(perfect$estimate, 0.9)
  partly <- binary
  partly$s[1:40] <- NA
  expect_true(inside(value(partly)))
  expect_identical(value(partly)$n, 20)
  chance <- value(data.frame(r1 = c("p", "q"), r2 = c("q", "p"), s = "p"), c("r1", "r2"))
  expect_identical(chance$estimate, NA_real_)
  expect_match(chance$reason, "chance")
  apart <- binary
  apart$r1[1:30] <- apart$r2[31:60] <- NA
  nothing <- value(apart, c("r1", "r2"))
  expect_identical(nothing$estimate, NA_real_)
  expect_false(is.na(nothing$reason))
})

test_that("its bootstrap agrees with its sampling error", {
  skip_unless_extended()
  set.seed(7)
  x <- panel()
  run <- function(...) {
    set.seed(8)
    average(x, "bootstrap", resampling = list(replicates = 60, ...))
  }
  one <- run()
  withr::with_options(list(mc.cores = 2), {
    expect_identical(run(threads = 2)$replicates, one$replicates)
  })
  ratio <- tidy(one)$std.error / tidy(one, "details")$sampling
  expect_true(all(ratio > 0.6 & ratio < 1.5))
  expect_identical(tidy(one)$estimate, tidy(average(x))$estimate)
})

test_that("averages print, and warn where ratings say little", {
  estimate <- quiet(estimate_accuracy(lehner_ratings()))
  expect_snapshot({
    estimate
    summary(estimate)
  })
  expect_snapshot(invisible(estimate_accuracy(lehner_ratings())))
  set.seed(9)
  clear <- panel(300, raters = c(0.9, 0.9, 0.9))
  expect_warning(estimate_accuracy(clear), NA)
  set.seed(4)
  sided <- sure_panel("sided")$x
  expect_warning(
    withCallingHandlers(
      estimate_accuracy(sided, "binned", resampling = list(replicates = 50)),
      fallible_warning_bootstrap = rlang::cnd_muffle,
      fallible_warning_few_data = rlang::cnd_muffle
    ),
    class = "fallible_warning_assumption"
  )
  # The published pipeline is quiet about it.
  expect_warning(published(lehner_ratings(), interval = "none"), NA)
})

test_that("a system without a rated case is NA in silence, beside one that has cases", {
  x <- ratings(
    data.frame(
      a = c(1, 2, 1, 2, 1, 2, 3), b = c(1, 2, 1, 2, 1, 2, 3), c = c(1, 2, 1, 2, 1, 3, 3),
      s = c(rep(NA, 6), 3), t = c(1, 2, 1, 2, 1, 2, 3)
    ),
    raters = a:c, systems = c(s, t)
  )[1:6, ]
  # Of the range of estimators there may be a warning; of empty ones none by min() and max().
  expect_warning(table <- tidy(quiet(estimate_accuracy(x))), NA)
  expect_identical(is.na(table$estimate), c(TRUE, FALSE))
  expect_identical(table$reason, c("no case of the system has a rating", NA))
})

test_that("a rater who always gives the same answer is named, and left out", {
  set.seed(1)
  answers <- answers_of(panel(150, c(0.8, 0.8, 0.8), c(a = 0.85)))
  answers$idle <- answers[[1]][[1]]
  x <- ratings(answers, raters = c(1:3, 5), systems = "a")
  expect_warning(estimate_accuracy(x), "idle.*same answer", class = "fallible_warning_raters")
  fewer <- x[, !colnames(x) %in% "idle"]
  expect_equal(tidy(quiet(estimate_accuracy(x))), tidy(quiet(estimate_accuracy(fewer))))
})

test_that("estimates do not depend on the unit of weights that are not counts", {
  set.seed(22)
  truth <- sample(3, 100, TRUE)
  rate <- function(p) letters[ifelse(runif(100) < p, truth, sample(3, 100, TRUE))]
  data <- data.frame(a = rate(0.6), b = rate(0.5), c = rate(0.7), s = rate(0.8))
  estimates <- function(...) {
    x <- ratings(data, raters = a:c, systems = s, rater_kind = "expert", ...)
    tidy(quiet(estimate_accuracy(x)))$estimate
  }
  for (unit in c(0.3, 0.5, 2.5, 25.5)) {
    data$w <- unit
    expect_equal(estimates(weights = w), estimates())
  }
  # The sum is one up to rounding: probabilities of a population.
  data$w <- 0.01
  shares <- estimates(weights = w)
  data$w <- 0.01001
  expect_equal(estimates(weights = w), shares, tolerance = 1e-3)
})

# Three raters with accuracy .85 of a pass rate of .7, and systems that nearly always say "pass".
lenient_panel <- function() {
  set.seed(21)
  good <- runif(600) < 0.7
  judge <- function(right) ifelse(runif(600) < right, good, !good)
  data <- data.frame(a = judge(0.85), b = judge(0.85), c = judge(0.85))
  data$lenient <- ifelse(good, runif(600) < 0.98, runif(600) < 0.7)
  data[] <- lapply(data, ifelse, "pass", "fail")
  truth <- ifelse(good, "pass", "fail")
  list(data = data, truth = truth, constant = quiet(ratings(data[1:3], raters = a:c,
    systems = c(app = "pass", neg = "fail"), rater_kind = "expert")))
}

test_that("the accuracy of a constant system is the base rate that the raters show", {
  x <- lenient_panel()$constant
  base_rate <- base_rates(fit_raters(x))$pass
  for (method in c("average", "joint", "shared")) {
    estimates <- tidy(quiet(estimate_accuracy(x, method)))
    expect_equal(estimates$estimate[[1L]], base_rate, tolerance = 0.02)
    expect_equal(sum(estimates$estimate), 1, tolerance = 1e-6)
  }
  expect_match(
    tidy(quiet(estimate_accuracy(x, "joint", interval = "profile")))$reason, "same answer"
  )
  # A column of equal answers is the same as a declared constant.
  data <- lenient_panel()$data
  data$app <- "pass"
  column <- quiet(ratings(data[c("a", "b", "c", "app")], raters = a:c, systems = app,
    categories = c("fail", "pass"), rater_kind = "expert"))
  expect_equal(
    tidy(quiet(estimate_accuracy(column)))$estimate, tidy(quiet(estimate_accuracy(x)))$estimate[[1L]]
  )
})

test_that("a rule that answers only where it finds a category is right in most answered cases", {
  set.seed(1)
  truth <- sample(c("ham", "spam"), 300, TRUE, c(0.8, 0.2))
  rate <- function() ifelse(runif(300) < 0.8, truth, ifelse(truth == "ham", "spam", "ham"))
  data <- data.frame(a = rate(), b = rate(), c = rate(), d = rate())
  data$rule <- ifelse(runif(300) < ifelse(truth == "spam", 0.9, 0.05), "spam", NA)
  answered <- !is.na(data$rule)
  estimates <- function(data, ...) {
    tidy(quiet(estimate_accuracy(
      ratings(data, raters = a:d, systems = rule, rater_kind = "expert", ...)
    )))
  }
  estimate <- estimates(data)
  accuracy <- mean(truth[answered] == "spam")
  expect_lt(abs(estimate$estimate - accuracy), 0.06) # was .17 too low
  expect_true(estimate$conf.low < accuracy && accuracy < estimate$conf.high)
  joint <- tidy(quiet(estimate_accuracy(
    ratings(data, raters = a:d, systems = rule, rater_kind = "expert"), "joint"
  )))
  expect_lt(abs(joint$estimate - accuracy), 0.06)
  # A declared abstention is a missing answer.
  data$rule[!answered] <- "none"
  expect_equal(estimates(data, abstain = "none")$estimate, estimate$estimate)
})

test_that("a system may be strict, and may never use a category", {
  errors <- sapply(1:5, function(seed) {
    set.seed(seed)
    truth <- sample(1:2, 300, TRUE, c(0.8, 0.2))
    rate <- function(yes, no) ifelse(runif(300) < ifelse(truth == 2, yes, no), truth, 3L - truth)
    data <- as.data.frame(replicate(5, rate(0.8, 0.8)))
    data$s <- rate(0.5, 0.98)
    x <- ratings(data, raters = V1:V5, systems = s, rater_kind = "expert")
    table <- tidy(quiet(estimate_accuracy(x)))
    accuracy <- mean(data$s == truth)
    c(table$estimate - accuracy, table$conf.low < accuracy && accuracy < table$conf.high)
  })
  expect_lt(max(abs(errors[1, ])), 0.06) # models with one accuracy per judge: up to .1 too high
  expect_identical(sum(errors[2, ]), 5)
})

test_that("a system that nearly always gives one answer does not determine the base rates", {
  panel <- lenient_panel()
  x <- quiet(ratings(panel$data, raters = a:c, systems = lenient, rater_kind = "expert"))
  estimate <- tidy(quiet(estimate_accuracy(x)))
  truth <- mean(panel$data$lenient == panel$truth)
  expect_lt(abs(estimate$estimate - truth), 0.05) # was above .99
  expect_true(estimate$conf.low < truth && truth < estimate$conf.high)
})

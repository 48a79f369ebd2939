# Features of fits that are used together: updates, covariates of other data, known raters of Bayesian
# fits, unused categories, populations and flattened labels.

three_categories <- function(n = 200) {
  set.seed(2)
  truth <- sample(c("A", "B", "C"), n, TRUE, c(0.5, 0.3, 0.2))
  rate <- function(p) ifelse(runif(n) < p, truth, sample(c("A", "B", "C"), n, TRUE))
  data <- data.frame(case = rep(1:n, 4), rater = rep(paste0("r", 1:4), each = n),
    rating = c(rate(0.85), rate(0.85), rate(0.9), rate(0.8)))
  data[runif(nrow(data)) > 0.2, ]
}

test_that("an update with new ratings reaches the maximum of a fresh fit", {
  data <- three_categories()
  read <- function(rows) ratings(data[rows, ], case = case, rater = rater, rating = rating)
  for (model in list(
    rater_model("common", "free", prior = "none"), rater_model("rater", "distance", prior = "none"),
    rater_model("rater", "free", "strata", prior = "none"), dawid_skene("none")
  )) {
    first <- quiet(fit_raters(read(data$case <= 25), model))
    updated <- quiet(update(first, new = data[data$case > 25, ]))
    fresh <- quiet(fit_raters(read(TRUE), model))
    expect_equal(as.numeric(logLik(updated)), as.numeric(logLik(fresh)), tolerance = 1e-6)
    expect_equal(coef(updated), coef(fresh), tolerance = 1e-3)
  }
})

# Base rates that depend on a covariate with three levels, and on a number.
panel_with_covariates <- function(level = identity) {
  set.seed(1)
  levels <- c("low", "mid", "high")
  data <- data.frame(case = 1:300, site = factor(sample(levels, 300, TRUE), levels),
    z = rnorm(300))
  yes <- plogis(c(-1.5, 0, 2)[as.integer(data$site)] + data$z)
  truth <- rbinom(300, 1, yes)
  for (rater in c("a", "b", "c")) {
    data[[rater]] <- ifelse(runif(300) < 0.85, truth, 1 - truth)
  }
  data$site <- level(data$site)
  ratings(data, raters = a:c, case = case, covariates = c(site, z))
}
fit_of_formula <- function(x, formula) {
  quiet(fit_raters(x, rater_model("rater", "free", base_rates = formula)))
}

test_that("covariates of other data are coded as in the fit", {
  levels <- c("low", "mid", "high")
  plain <- fit_of_formula(panel_with_covariates(), ~site)
  want <- base_rates(plain, data.frame(site = levels))[["1"]]
  coded <- list(
    ordered = function(f) factor(f, levels, ordered = TRUE),
    sums = function(f) {
      contrasts(f) <- stats::contr.sum(3)
      f
    }
  )
  for (level in coded) {
    fit <- fit_of_formula(panel_with_covariates(level), ~site)
    expect_equal(base_rates(fit, data.frame(site = levels))[["1"]], want, tolerance = 1e-5)
    as_factor <- data.frame(site = level(factor(levels, levels)))
    expect_no_warning(rates <- base_rates(fit, as_factor)[["1"]])
    expect_equal(rates, want, tolerance = 1e-5)
    expect_equal(
      tidy(fit, "margins")$estimate, tidy(plain, "margins")$estimate, tolerance = 1e-4
    )
    expect_equal(
      test_accuracy(fit)$estimate, test_accuracy(plain)$estimate, tolerance = 1e-4
    )
    probabilities <- function(...) as.matrix(predict(fit, ..., type = "probability")[-1])
    expect_equal(probabilities(fit$x[1:20, ]), probabilities()[1:20, ], tolerance = 1e-6)
  }
  expect_error(base_rates(plain, data.frame(site = 1:3)), "cannot be used with these covariates",
    class = "fallible_error_argument")
})

test_that("terms that are computed from the data are not computed again", {
  x <- panel_with_covariates()
  linear <- fit_of_formula(x, ~z)
  want <- base_rates(linear, data.frame(z = c(-1, 0, 2)))[["1"]]
  for (formula in list(~ scale(z), ~ poly(z, 1))) {
    fit <- fit_of_formula(x, formula)
    rates <- function(z) base_rates(fit, data.frame(z = z))[["1"]]
    expect_equal(rates(c(-1, 0, 2)), want, tolerance = 1e-4)
    expect_equal(rates(2), want[[3]], tolerance = 1e-4)
    expect_equal(tidy(fit, "margins")$estimate, tidy(linear, "margins")$estimate, tolerance = 1e-3)
    expect_equal(
      as.matrix(predict(fit, x[1:20, ], type = "probability")[-1]),
      as.matrix(predict(fit, type = "probability")[1:20, -1]), tolerance = 1e-6
    )
  }
  expect_error(fit_of_formula(x, ~ z + offset(2 * z)), "offset", class = "fallible_error_argument")
  expect_error(tidy(fit_of_formula(x, ~ factor(round(z))), "margins"), "cannot be computed",
    class = "fallible_error_argument")
  expect_error(base_rates(linear, data.frame(z = 1, "1" = 0, check.names = FALSE)),
    "names of categories", class = "fallible_error_argument")
  expect_error(base_rates(linear, data.frame(z = numeric())), "at least one row",
    class = "fallible_error_argument")
})

test_that("margins leave out cases without ratings", {
  x <- panel_with_covariates()
  wide <- answers_by_pattern(x)[pattern_of_case(x), 1:3] - 1
  wide[x$covariates$z > 1, ] <- NA
  data <- data.frame(case = 1:300, wide, z = x$covariates$z)
  names(data)[2:4] <- c("a", "b", "c")
  read <- function(data) ratings(data, raters = a:c, case = case, covariates = z)
  some <- fit_of_formula(quiet(read(data)), ~z)
  rated <- fit_of_formula(read(data[data$z <= 1, ]), ~z)
  expect_equal(tidy(some, "margins")$estimate, tidy(rated, "margins")$estimate, tolerance = 1e-5)
})

test_that("known raters of Bayesian fits are fixed by themselves, or refused", {
  set.seed(1)
  truth <- sample(c("A", "B", "C"), 150, TRUE)
  rate <- function(p) ifelse(runif(150) < p, truth, sample(c("A", "B", "C"), 150, TRUE))
  x <- ratings(data.frame(r1 = rate(0.6), r2 = rate(0.9), r3 = rate(0.6)), raters = r1:r3)
  known <- list(r2 = rbind(c(0.95, 0.05, 0), c(0, 0.95, 0.05), c(0.1, 0, 0.9)))
  for (model in list(k_model(), rater_model("common", "free"))) {
    expect_error(fit_raters(x, model, method = "bayes", known_raters = known), "raters differ",
      class = "fallible_error_argument")
  }
  set.seed(1)
  fit <- quiet(fit_raters(x, rater_model("rater"), method = "bayes", known_raters = known,
    sampling = list(draws = 400)))
  fitted <- as.matrix(predict(fit, type = "probability")[-1])
  expect_equal(as.matrix(predict(fit, x, type = "probability")[-1]), fitted, tolerance = 0.01)
  sensitivity <- test_accuracy(fit)
  sensitivity <- sensitivity[sensitivity$rater == "r2" & sensitivity$measure == "sensitivity", ]
  expect_equal(sensitivity$estimate, diag(known$r2))
})

test_that("without a prior, an unused category has no base rate", {
  set.seed(15)
  truth <- rbinom(100, 1, 0.4)
  rate <- function(p) factor(ifelse(runif(100) < p, truth, 1 - truth), 0:2, c("no", "yes", "unclear"))
  data <- data.frame(a = rate(0.7), b = rate(0.75), c = rate(0.8))
  fit <- quiet(fit_raters(ratings(data, raters = a:c), dawid_skene("none")))
  expect_true(all(is.na(base_rates(fit))))
  expect_match(capture.output(print(fit))[[2L]], "prior")
  pooled <- quiet(fit_raters(ratings(data, raters = a:c), dawid_skene()))
  expect_identical(base_rates(pooled)$unclear, 0)
})

test_that("flattened labels keep the base rates of their population", {
  set.seed(1)
  group <- rep(c("rare", "common"), each = 400)
  truth <- rbinom(800, 1, ifelse(group == "rare", 0.05, 0.6))
  rate <- function(p) c("no", "yes")[1 + ifelse(runif(800) < p, truth, 1 - truth)]
  data <- data.frame(group, a = rate(0.8), b = rate(0.85), c = rate(0.75), d = rate(0.8))
  fit <- fit_of_formula(ratings(data, raters = a:d, covariates = group), ~group)
  prior <- base_rates(fit, data)$yes
  log_ratio <- qlogis(ground_truth(fit)$yes) - qlogis(prior)
  want <- plogis(qlogis(prior) + log_ratio / 4) # four ratings with the evidence of one
  labels <- ground_truth(fit, rho = 1)$yes
  # The base rates have less influence if another category than the label is more frequent.
  has_frequent_label <- (ground_truth(fit)$yes > 0.5) == (prior > 0.5)
  expect_equal(labels[has_frequent_label], want[has_frequent_label])
  expect_gt(mean(has_frequent_label), 0.6)
})

test_that("new cases of a calibrated judge have the probabilities of fitted cases", {
  x <- ratings(data.frame(case = 1:60, judge = rep(c("yes", "no"), c(20, 40))), raters = judge,
    case = case)
  fit <- fit_raters(x, known_raters = list(judge = rbind(no = c(no = 90, yes = 10), yes = c(5, 45))))
  expect_equal(predict(fit, x[c(1, 60), ])$probability, predict(fit)$probability[c(1, 60)])
})

test_that("an update with other ratings decides again whether abstentions are used", {
  set.seed(2)
  truth <- sample(c("A", "B"), 400, TRUE)
  rate <- function() ifelse(runif(400) < 0.8, truth, ifelse(truth == "A", "B", "A"))
  complete <- data.frame(a = rate(), b = rate(), c = rate())
  read <- function(silent) {
    data <- complete
    for (rater in names(data)) data[[rater]][silent()] <- "?"
    ratings(data, raters = a:c, abstain = "?")
  }
  at_random <- read(function() runif(400) < 0.2)
  by_truth <- read(function() truth == "A" & runif(400) < 0.5)
  first <- quiet(fit_raters(at_random, dawid_skene()))
  updated <- quiet(update(first, x = by_truth))
  expect_equal(coef(updated), coef(quiet(fit_raters(by_truth, dawid_skene()))))
  chosen <- quiet(fit_raters(at_random, dawid_skene(abstain = "ignored")))
  expect_identical(glance(quiet(update(chosen, x = by_truth)))$abstain, "ignored")
})

test_that("tables say if weights are the reason for missing errors", {
  x <- panel_with_covariates()
  weighted <- weigh_patterns(x, runif(300) + 0.5)
  fit <- fit_of_formula(weighted, ~z)
  table <- test_accuracy(fit)
  expect_true(all(is.na(table$std.error)))
  expect_match(table$reason[!is.na(table$estimate)], "weights are not counts|boundary")
  expect_identical(unique(tidy(fit, "differential")$reason), "weights are not counts")
})

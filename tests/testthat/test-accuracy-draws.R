judged_store <- new.env()
judged_fit <- function() {
  if (is.null(judged_store$fit)) {
    set.seed(1)
    design <- rater_design(c(0.75, 0.75, 0.85), c(a = 0.85, b = 0.7), 3, 200)
    judged_store$x <- simulate_ratings(design)
    judged_store$fit <- quiet(fit_raters(
      judged_store$x, dawid_skene(), method = "bayes", sampling = list(draws = 1000, thin = 2)
    ))
  }
  judged_store$fit
}

test_that("Lehner's system has the posterior of all truths, alone and joined", {
  set.seed(3)
  beta <- list(right = list(3, 2))
  prior <- rater_prior(rater1 = beta, others = beta, order = "none")
  fit <- quiet(fit_raters(
    lehner_ratings(), method = "bayes", prior = prior, sampling = list(thin = 2)
  ))
  off <- function(estimate, expected) {
    draws <- matrix(tidy(estimate, "replicates")$estimate, ncol = 4)
    # Draws are in the order of other draws: their error is that of independent ones, or less.
    abs(mean(draws) - expected) / (stats::sd(draws) / sqrt(1000))
  }
  expect_lt(off(estimate_accuracy(fit, "shared"), 0.4776185), 4)
  joined <- estimate_accuracy(fit, common = "none")
  expect_lt(off(joined, 0.6785612), 4)
  ends <- unlist(tidy(joined)[c("conf.low", "conf.high")])
  expect_lt(max(abs(ends - c(0.413592, 0.9001177))), 0.03)
})

test_that("what is in common lies between the ends, and widens", {
  fit <- judged_fit()
  set.seed(2)
  typical <- tidy(estimate_accuracy(fit))
  none <- tidy(estimate_accuracy(fit, common = "none"))
  all <- tidy(estimate_accuracy(fit, common = "all"))
  half <- tidy(estimate_accuracy(fit, common = 0.5))
  expect_equal(none$estimate, none$independent)
  expect_equal(all$estimate, all$shared)
  expect_equal(half$estimate, (none$estimate + all$estimate) / 2, tolerance = 1e-8)
  expect_equal(tidy(estimate_accuracy(fit, "shared"))$estimate, all$estimate)
  width <- function(table) table$conf.high - table$conf.low
  expect_true(all(width(typical) > 1.5 * width(none)))
  # Three categories: 1 / sqrt(2) of the way.
  expect_lt(max(abs(typical$estimate - none$estimate + (none$estimate - all$estimate) / sqrt(2))),
    0.01)
})

test_that("the parts of the variance make up the draws", {
  set.seed(2)
  estimate <- estimate_accuracy(judged_fit())
  parts <- rowSums(estimate$parts)
  expect_equal(parts, tidy(estimate)$std.error^2, tolerance = 0.06)
  set.seed(4)
  expect_snapshot(print(estimate_accuracy(judged_fit())))
})

test_that("cells have the accuracy of their draw, and metrics follow", {
  set.seed(2)
  estimate <- estimate_accuracy(judged_fit())
  cells <- estimate$cells$values
  expect_close(rowSums(cells[, c(1, 5, 9)]) / 200, estimate$replicates[, "a"])
  expect_close(rowSums(cells[, 1:9]), rep(200, 1000))
  found <- tidy(estimate_metrics(estimate, c("accuracy", "kap")))
  at <- found$metric == "accuracy"
  expect_equal(found$estimate[at], tidy(estimate)$estimate)
  expect_false(anyNA(found$conf.low))
  expect_s3_class(confusion(estimate), "confusion_estimate")
  expect_error(confusion(estimate, interval = "bootstrap"), class = "fallible_error_argument")
  plain <- estimate_accuracy(judged_store$x, "joint", interval = "none")
  expect_error(confusion(plain, interval = "posterior"), class = "fallible_error_argument")
})

test_that("systems that answer alike are judged alike", {
  set.seed(5)
  truth <- sample(3, 100, TRUE)
  said <- replicate(4, ifelse(stats::runif(100) < 0.8, truth, sample(3, 100, TRUE)))
  table <- as.data.frame(cbind(said, said[, 4]))
  names(table) <- c("r1", "r2", "r3", "a", "again")
  x <- ratings(table, raters = r1:r3, systems = a:again)
  fit <- quiet(fit_raters(
    x, dawid_skene(), method = "bayes", sampling = list(draws = 400, thin = 1)
  ))
  draws <- estimate_accuracy(fit)$replicates
  expect_equal(draws[, 1], draws[, 2], tolerance = 0.1)
  compared <- tidy(compare_systems(estimate_accuracy(fit)))
  expect_lt(abs(compared$estimate), 0.02)
})

test_that("a random sample of known truths moves what is in common, and what is told does not", {
  fit <- judged_fit()
  set.seed(6)
  gold <- truth(judged_store$x)[1:100, ]
  before <- tidy(estimate_accuracy(fit))
  after <- tidy(estimate_accuracy(fit, known_truth = gold, gold_sample = "random"))
  width <- function(table) table$conf.high - table$conf.low
  expect_true(all(width(after) < 0.7 * width(before)))
  right <- colMeans(case_answers(judged_store$x)[1:100, ] == judged_store$x$truth$category[1:100])
  expect_lt(max(abs(after$estimate - right)), 0.06)
  # By numerical integration over the same draws.
  prior <- estimate_accuracy(fit)$replicates[, "a"]
  y <- round(100 * right[[1]])
  W <- 0.3 * 100^2 / (100^2 + 100)
  exact <- ((1 - W) * mean(prior * stats::dbinom(y, 100, prior)) + W * stats::integrate(
    function(p) p * stats::dbinom(y, 100, p) * stats::dbeta(p, 0.5, 0.5), 0, 1
  )$value) / ((1 - W) * mean(stats::dbinom(y, 100, prior)) + W * stats::integrate(
    function(p) stats::dbinom(y, 100, p) * stats::dbeta(p, 0.5, 0.5), 0, 1
  )$value)
  expect_lt(abs(after$estimate[[1]] - exact), 0.01)
  expect_error(estimate_accuracy(fit, known_truth = gold), class = "fallible_error_argument")
})

test_that("comparisons on common cases, other systems, and words", {
  fit <- judged_fit()
  set.seed(7)
  one <- estimate_accuracy(fit, systems = "b")
  expect_identical(tidy(one)$system, "b")
  compared <- compare_systems(estimate_accuracy(fit))
  expect_snapshot(print(compared))
  expect_match(may_say(one, "methods")[[1]], "draws from the posterior")
  expect_error(estimate_accuracy(fit, common = 2), class = "fallible_error_argument")
  expect_error(
    estimate_accuracy(judged_store$x, interval = "posterior"), class = "fallible_error_argument"
  )
})

# Four raters, two systems, and a fit with posterior draws. `labels`: a random sample of cases.
draws_with_labels <- function(rater_kind = "expert", weights = NULL) {
  set.seed(3)
  truth <- sample(c("x", "y"), 150, TRUE)
  rate <- function(p) ifelse(runif(150) < p, truth, ifelse(truth == "x", "y", "x"))
  data <- data.frame(case = 1:150, a = rate(0.8), b = rate(0.75), c = rate(0.7), s = rate(0.8),
    t = rate(0.6), w = rep(c(1, 3), 75))
  read <- function(...) ratings(data, case = case, raters = a:c, systems = c(s, t),
    rater_kind = rater_kind, ...)
  x <- if (isTRUE(weights)) read(weights = w) else read()
  set.seed(1)
  list(
    fit = quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 400))),
    labels = data.frame(case = 1:150, truth = truth)[sample(150, 60), ], data = data
  )
}

test_that("comparisons of estimates from draws keep their gold cases", {
  panel <- draws_with_labels()
  estimate <- quiet(estimate_accuracy(panel$fit, known_truth = panel$labels,
    gold_sample = "random"))
  difference <- function(...) tidy(quiet(compare_systems(estimate, ...)))
  forward <- difference()
  backward <- difference(systems = c("t", "s"))
  # Without gold cases, the standard error is twice as large. The Monte Carlo error of a mean of 400
  # draws is about a tenth of the standard deviation, also after resampling.
  expect_equal(backward$std.error, forward$std.error, tolerance = 0.2)
  expect_lt(abs(backward$estimate + forward$estimate), forward$std.error / 2)
  # A plan and a gate use them, too. They cannot be added to.
  plan <- tidy(quiet(plan_gold(estimate, half_width = 0.05)))
  expect_true(all(plan$labelled == 60))
  expect_error(update(estimate, known_truth = panel$labels), "posterior draws",
    class = "fallible_error_argument")
  declared <- gold_cases(panel$labels, sample = "random")
  expect_equal(
    tidy(quiet(estimate_accuracy(panel$fit, known_truth = declared)))$estimate,
    tidy(estimate)$estimate, tolerance = 0.02
  )
  cases <- gold_cases(panel$labels, sample = "random", target = "cases")
  expect_error(estimate_accuracy(panel$fit, known_truth = cases), "`target` of",
    class = "fallible_error_argument")
  expect_error(estimate_accuracy(panel$fit, known_truth = panel$labels), "random sample",
    class = "fallible_error_argument")
})

test_that("a gate accepts draws of machines' ratings with gold cases", {
  panel <- draws_with_labels("model")
  with_gold <- quiet(estimate_accuracy(panel$fit, known_truth = panel$labels,
    gold_sample = "random"))
  expect_s3_class(quiet(gate(with_gold, 0.5)), "gate")
  expect_s3_class(quiet(gate(compare_systems(with_gold), 0)), "gate")
  expect_error(gate(quiet(estimate_accuracy(panel$fit)), 0.5), "machines",
    class = "fallible_error_argument")
})

test_that("a gold case of weight n counts as n cases in draws", {
  weighted <- draws_with_labels(weights = TRUE)
  data <- weighted$data[rep(1:150, weighted$data$w), ]
  labels <- weighted$labels
  labels <- labels[rep(seq_len(60), weighted$data$w[labels$case]), ]
  row <- ave(data$case, data$case, FUN = seq_along)
  labels$case <- paste(labels$case, ave(labels$case, labels$case, FUN = seq_along))
  data$case <- paste(data$case, row)
  x <- ratings(data, case = case, raters = a:c, systems = c(s, t), rater_kind = "expert")
  set.seed(1)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 400)))
  estimates <- function(fit, labels) {
    set.seed(2)
    tidy(quiet(estimate_accuracy(fit, known_truth = labels, gold_sample = "random")))
  }
  expanded <- estimates(fit, labels)
  counted <- estimates(weighted$fit, weighted$labels)
  expect_equal(counted$estimate, expanded$estimate, tolerance = 0.02)
  expect_equal(counted$std.error, expanded$std.error, tolerance = 0.2)
})

test_that("cases of weight 0 have posterior probabilities and do not change bounds", {
  set.seed(3)
  truth <- sample(2, 80, TRUE)
  answer <- function(p) ifelse(runif(80) < p, truth, 3 - truth)
  data <- data.frame(case = 1:80, a = answer(0.8), b = answer(0.7), c = answer(0.9))
  data$s <- answer(0.8)
  data$weight <- rep(c(1, 0), c(70, 10))
  # These cases are patterns by themselves, because the system did not answer them.
  data[71:72, 2:4] <- data[c(1, which(data$a != data$b)[[1L]]), 2:4]
  data$s[71:72] <- NA
  x <- ratings(data, raters = a:c, systems = s, case = case, weights = weight)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_truth = c("80" = truth[[80]]),
    sampling = list(draws = 400, chains = 1)))
  # The posterior is that of a case with the same ratings, and not the base rate.
  probability <- as.matrix(as.data.frame(ground_truth(fit))[-1])
  same <- match(do.call(paste, data[71:72, 2:4]), do.call(paste, data[1:70, 2:4]))
  expect_equal(probability[71:72, ], probability[same, ], tolerance = 0.02, ignore_attr = TRUE)
  expect_identical(unname(probability[80, truth[[80]]]), 1)
  estimate <- quiet(estimate_accuracy(fit))
  expect_false(anyNA(posterior(estimate$fit)))
  ends <- function(x) unlist(tidy(accuracy_bounds(x, interval = "none"))[c("lowest", "highest")])
  expect_equal(ends(estimate), ends(fit), tolerance = 0.02)
})

test_that("metrics from draws have no probabilities of single cases", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 60))
  fit <- quiet(fit_raters(x, method = "bayes", sampling = list(draws = 200, thin = 1)))
  metrics <- estimate_metrics(estimate_accuracy(fit), "recall")
  expect_error(augment(metrics), "cannot be used with estimates from posterior draws",
    class = "fallible_error_argument")
})

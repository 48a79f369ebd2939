test_that("corrected metrics are right where the plug-in is not", {
  set.seed(3)
  panel <- scored_panel(4000)
  true <- as.integer(panel$truth$category)
  score <- panel$scores[, 2]
  rank <- rank(score)
  known <- (mean(rank[true == 2]) - (sum(true == 2) + 1) / 2) / sum(true == 1)
  ask <- function(method) {
    tidy(suppressWarnings(estimate_metrics(
      panel$x, c("roc_auc", "brier_class"), method = method, model = dawid_skene("weak"),
      interval = "none"
    )))
  }
  own <- ask("joint")
  expect_lt(abs(own$estimate[[1]] - known), 0.03)
  shared <- ask("shared")
  expect_lt(shared$estimate[[1]], known - 0.08)
  expect_gt(shared$estimate[[2]], own$estimate[[2]] + 0.03)
  expect_identical(own$n, c(4000, 4000))
})

test_that("defaults are right of scores where raters err more on one category", {
  panel <- function(n = 600) {
    true <- 1L + (stats::runif(n) < 0.4)
    rate <- function(sensitivity, specificity) {
      right <- stats::runif(n) < c(specificity, sensitivity)[true]
      c("a", "b")[ifelse(right, true, 3L - true)]
    }
    p <- stats::plogis(1.4 * (stats::rnorm(n) + c(-0.7, 0.7)[true]) + log(0.4 / 0.6))
    data.frame(
      r1 = rate(0.6, 0.9), r2 = rate(0.9, 0.65), r3 = rate(0.7, 0.85), r4 = rate(0.8, 0.7),
      s = c("a", "b")[1L + (p > 0.5)], p = p
    )
  }
  auc <- stats::pnorm(1.4 / sqrt(2)) # of normal scores with means that differ by 1.4
  found <- lapply(1:3, function(seed) {
    set.seed(seed)
    x <- ratings(panel(), raters = r1:r4, systems = s, scores = list(s = c(b = "p")))
    ask <- function(...) tidy(quiet(estimate_metrics(x, "roc_auc", resampling = list(replicates = 30), ...)))
    list(default = ask(), free = ask(common = "none"), stated = ask(common = 0.8))
  })
  of <- function(which, column) vapply(found, function(run) run[[which]][[column]], 0)
  expect_identical(of("default", "estimate"), of("free", "estimate"))
  expect_lt(abs(mean(of("default", "estimate")) - auc), 0.03)
  expect_true(all(of("default", "conf.low") < auc & auc < of("default", "conf.high")))
  expect_true(all(of("stated", "estimate") < of("default", "estimate")))
})

test_that("robust intervals of scores are as suspicious as those of fit_scores()", {
  set.seed(10)
  panel <- scored_panel(300)
  estimate <- quiet(estimate_accuracy(panel$x))
  error <- function(dependence_weight) {
    estimate$details$dependence_weight <- dependence_weight
    set.seed(11)
    tidy(quiet(estimate_metrics(estimate, "roc_auc")))$std.error
  }
  expect_identical(error(0), error(1))
})

test_that("intervals hold the estimate, and repeat with the seed", {
  set.seed(4)
  panel <- scored_panel(200)
  ask <- function(..., cluster = NULL) {
    set.seed(5)
    tidy(suppressWarnings(estimate_metrics(
      panel$x, c("roc_auc", "ece"), method = "joint", model = dawid_skene("weak"),
      resampling = list(replicates = 20, cluster = cluster), ...
    )))
  }
  sampling <- ask(interval = "bootstrap")
  expect_true(all(sampling$conf.low <= sampling$estimate & sampling$estimate <= sampling$conf.high))
  expect_identical(sampling, ask(interval = "bootstrap"))
  clustered <- ask(interval = "bootstrap", cluster = stats::setNames(rep(1:20, 10), panel$x$cases))
  expect_false(identical(clustered$conf.low, sampling$conf.low))
  expect_identical(clustered$estimate, sampling$estimate)
  groups <- ask(interval = "none", by = stats::setNames(rep(c("u", "v"), 100), panel$x$cases))
  expect_identical(groups$group, rep(c("u", "v"), each = 2))
  robust <- suppressWarnings(tidy(estimate_metrics(panel$x, "roc_auc", resampling = list(replicates = 20))))
  expect_gt(robust$std.error, sampling$std.error[[1]])
})

test_that("what cannot be said has a reason", {
  set.seed(6)
  panel <- scored_panel(200)
  quiet_metrics <- function(x, ...) tidy(suppressWarnings(estimate_metrics(x, ...)))
  without <- scored_panel(100, scores = FALSE)$x
  expect_match(quiet_metrics(without, "roc_auc", interval = "none")$reason, "no scores")
  expect_false("roc_auc" %in% quiet_metrics(without, interval = "none")$metric)
  expect_true("roc_auc" %in% quiet_metrics(panel$x, interval = "none")$metric)
  alone <- quiet_metrics(panel$x, "roc_auc", method = "unbinned", interval = "none")
  expect_match(alone$reason, "accuracy only")
  ordered <- panel$x
  ordered$scores$scale <- "order"
  found <- quiet_metrics(ordered, c("roc_auc", "ece"), interval = "none")
  expect_identical(is.na(found$estimate), c(FALSE, TRUE))
  expect_match(found$reason[[2]], "not probabilities")
  profile <- quiet_metrics(panel$x, "roc_auc", method = "joint", interval = "profile")
  expect_match(profile$reason, "for accuracy only")
  expect_false(is.na(profile$estimate))
  gold <- panel$truth[1:20, ]
  with_gold <- quiet_metrics(
    panel$x, "roc_auc", method = "joint", known_truth = gold, gold_sample = "random"
  )
  expect_true(is.na(with_gold$reason))
  expect_gt(with_gold$conf.high, with_gold$conf.low)
})

test_that("replicates that have no value are left out", {
  cases <- data.frame(
    r1 = c("a", "b", "a", NA), r2 = c("a", NA, NA, "b"), s = c("a", "a", "b", "b"),
    p = c(0.2, 0.4, 0.6, 0.9), n = c(4, 400, 400, 400)
  )
  x <- ratings(cases, raters = r1:r2, systems = s, weights = n, scores = list(s = c(b = "p")))
  set.seed(9)
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "bootstrap", resampling = list(replicates = 20)))
  # Some replicates have none of the four cases that both rated, and know nothing of the raters.
  expect_gt(tidy(estimate_metrics(estimate, "brier_class"))$std.error, 0)
})

test_that("the print of score metrics names the allowance for shared errors in their intervals", {
  x <- withr::with_seed(2, scored_panel(1000, rep(0.75, 4), c(0.5, 0.5)))$x
  settings <- list(replicates = 20)
  metrics <- quiet(estimate_metrics(x, "roc_auc", method = "joint", resampling = settings))
  printed <- paste(trimws(capture.output(print(metrics))), collapse = " ")
  expect_match(printed, "and, for metrics of scores, an allowance for shared errors", fixed = TRUE)
  # In these ratings, other metrics have no allowance, and bootstrap intervals never have one.
  recall <- quiet(estimate_metrics(x, "recall", method = "joint", resampling = settings))
  expect_output(print(recall), "no sign of shared errors")
  bootstrap <- quiet(
    estimate_metrics(x, "roc_auc", method = "joint", interval = "bootstrap", resampling = settings)
  )
  expect_output(print(bootstrap), "sampling error only")
})

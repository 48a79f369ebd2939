known_panel <- local({
  set.seed(1)
  panel <- scored_panel(150)
  panel$estimate <- suppressWarnings(estimate_accuracy(
    panel$x, "joint", interval = "none", known_truth = panel$truth, gold_sample = "given"
  ))
  panel$hit <- panel$truth$category == "2"
  panel$score <- panel$scores[, 2]
  panel
})

test_that("with known truths the ROC curve is the obvious one", {
  curve <- tidy(score_curve(known_panel$estimate, "roc", category = "2"))
  at <- c(Inf, sort(unique(known_panel$score), decreasing = TRUE))
  expect_equal(curve$threshold, at)
  share <- function(which, t) mean(known_panel$score[which] >= t)
  expect_equal(curve$sensitivity, vapply(at, share, 0, which = known_panel$hit))
  expect_equal(1 - curve$specificity, vapply(at, share, 0, which = !known_panel$hit))
})

test_that("the reliability curve has bins, and their intervals", {
  of <- score_curve(known_panel$estimate, "reliability", category = "2", bins = 5)
  table <- tidy(of)
  bin <- cut(known_panel$score, 0:5 / 5)
  expect_equal(table$estimate, as.vector(tapply(known_panel$hit, bin, mean)))
  expect_equal(table$n, as.vector(table(bin)))
  expect_equal(table$upper, 1:5 / 5)
  set.seed(1)
  open <- suppressWarnings(tidy(score_curve(
    known_panel$x, "reliability", method = "joint", interval = "bootstrap", replicates = 20
  )))
  expect_true(all(is.na(open$category)))
  inside <- open$conf.low <= open$estimate & open$estimate <= open$conf.high
  expect_true(all(inside[open$n > 20]))
})

test_that("a threshold reaches what it was to reach", {
  score <- known_panel$score
  hit <- known_panel$hit
  found <- score_threshold(known_panel$estimate, "2", sensitivity = 0.95)
  cut <- found$threshold[[1]]
  expect_identical(found$metric, cut_metrics)
  expect_gte(mean(score[hit] >= cut), 0.95)
  expect_lt(mean(score[hit] > cut), 0.95)
  above <- score >= cut
  expect_equal(
    found$estimate, c(mean(above[hit]), mean(!above[!hit]), mean(hit[above]), mean(above))
  )
  other <- score_threshold(known_panel$estimate, "2", specificity = 0.9)
  expect_gte(mean(score[!hit] < other$threshold[[1]]), 0.9)
  least <- score_threshold(known_panel$estimate, "2", cost = c(missed = 3, false_alarm = 1))
  costs <- vapply(c(Inf, score), function(t) sum(3 * (hit & score < t) + (!hit & score >= t)), 0)
  at <- least$threshold[[1]]
  expect_equal(sum(3 * (hit & score < at) + (!hit & score >= at)), min(costs))
})

test_that("curves and thresholds ask for what they need", {
  e <- known_panel$estimate
  expect_error(score_threshold(e, "2"), class = "fallible_error_argument")
  expect_error(score_threshold(e, "3", sensitivity = 0.9), class = "fallible_error_argument")
  expect_error(score_threshold(e, "2", cost = c(1, 2)), class = "fallible_error_argument")
  expect_error(score_threshold(e, "2", sensitivity = 2), class = "fallible_error_argument")
  for (odd in list("no", c("1", "1"), character(), quote(x), ~x, globalenv(), identity)) {
    expect_error(score_curve(e, "roc", category = odd), class = "fallible_error_argument")
  }
  whole <- score_threshold(e, "2", sensitivity = 0.8)
  expect_identical(score_threshold(e, "2", sensitivity = array(0.8, c(1, 1, 1))), whole)
  set.seed(1)
  bare <- scored_panel(60, scores = FALSE)$x
  expect_error(suppressWarnings(score_curve(bare, interval = "none")), "no scores",
    class = "fallible_error_argument")
  ordered <- e
  ordered$fit$x$scores$scale <- "order"
  expect_error(score_curve(ordered, "reliability"), class = "fallible_error_argument")
})

test_that("of costs the ratio alone counts", {
  ask <- function(...) score_threshold(known_panel$estimate, "2", cost = c(...))
  expect_identical(ask(missed = 0.75, false_alarm = 0.25), ask(missed = 3, false_alarm = 1))
})

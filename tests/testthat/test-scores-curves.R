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
  curve <- tidy(known_panel$estimate, "roc", category = "2")
  at <- c(Inf, sort(unique(known_panel$score), decreasing = TRUE))
  expect_equal(curve$threshold, at)
  share <- function(which, t) mean(known_panel$score[which] >= t)
  expect_equal(curve$sensitivity, vapply(at, share, 0, which = known_panel$hit))
  expect_equal(1 - curve$specificity, vapply(at, share, 0, which = !known_panel$hit))
})

test_that("the reliability curve has bins, and their intervals", {
  table <- tidy(known_panel$estimate, "reliability", category = "2", bins = 5)
  bin <- cut(known_panel$score, 0:5 / 5)
  expect_equal(table$estimate, as.vector(tapply(known_panel$hit, bin, mean)))
  expect_equal(table$n, as.vector(table(bin)))
  expect_equal(table$upper, 1:5 / 5)
  set.seed(1)
  drawn <- suppressWarnings(estimate_accuracy(
    known_panel$x, "joint", interval = "bootstrap", resampling = list(replicates = 20)
  ))
  open <- tidy(drawn, "reliability")
  expect_true(all(is.na(open$category)))
  inside <- open$conf.low <= open$estimate & open$estimate <= open$conf.high
  expect_true(all(inside[open$n > 20]))
})

test_that("a threshold reaches what it was to reach", {
  score <- known_panel$score
  hit <- known_panel$hit
  found <- tidy(known_panel$estimate, "threshold", category = "2", sensitivity = 0.95)
  cut <- found$threshold[[1]]
  expect_identical(found$metric, threshold_metrics)
  expect_gte(mean(score[hit] >= cut), 0.95)
  expect_lt(mean(score[hit] > cut), 0.95)
  above <- score >= cut
  expect_equal(
    found$estimate, c(mean(above[hit]), mean(!above[!hit]), mean(hit[above]), mean(above))
  )
  other <- tidy(known_panel$estimate, "threshold", category = "2", specificity = 0.9)
  expect_gte(mean(score[!hit] < other$threshold[[1]]), 0.9)
  least <- tidy(known_panel$estimate, "threshold", category = "2", cost = c(missed = 3, false_alarm = 1))
  costs <- vapply(c(Inf, score), function(t) sum(3 * (hit & score < t) + (!hit & score >= t)), 0)
  at <- least$threshold[[1]]
  expect_equal(sum(3 * (hit & score < at) + (!hit & score >= at)), min(costs))
})

test_that("curves and thresholds ask for what they need", {
  e <- known_panel$estimate
  expect_error(tidy(e, "threshold", category = "2"), class = "fallible_error_argument")
  expect_error(tidy(e, "threshold", category = "3", sensitivity = 0.9), class = "fallible_error_argument")
  expect_error(tidy(e, "threshold", category = "2", cost = c(1, 2)), class = "fallible_error_argument")
  expect_error(tidy(e, "threshold", category = "2", sensitivity = 2), class = "fallible_error_argument")
  for (odd in list("no", c("1", "1"), character(), quote(x), ~x, globalenv(), identity)) {
    expect_error(tidy(e, "roc", category = odd), class = "fallible_error_argument")
  }
  whole <- tidy(e, "threshold", category = "2", sensitivity = 0.8)
  expect_identical(tidy(e, "threshold", category = "2", sensitivity = array(0.8, c(1, 1, 1))), whole)
  set.seed(1)
  bare <- scored_panel(60, scores = FALSE)$x
  bare <- suppressWarnings(estimate_accuracy(bare, interval = "none"))
  expect_error(tidy(bare, "roc"), "no scores", class = "fallible_error_argument")
  expect_error(tidy(e, "roc", bin = 3), "no argument", class = "fallible_error_argument")
  expect_error(tidy(e, "roc", "2"), "must be named", class = "fallible_error_argument")
  expect_error(tidy(e, "threshold", cost = 1), class = "fallible_error_argument")
  ordered <- e
  ordered$fit$x$scores$scale <- "order"
  expect_error(tidy(ordered, "reliability"), class = "fallible_error_argument")
})

test_that("of costs the ratio alone counts", {
  ask <- function(...) tidy(known_panel$estimate, "threshold", category = "2", cost = c(...))
  expect_identical(ask(missed = 0.75, false_alarm = 0.25), ask(missed = 3, false_alarm = 1))
})

test_that("curves, thresholds and metrics of scores are exact if all truths are known", {
  set.seed(4)
  truth <- sample(c("no", "yes"), 200, TRUE, c(0.6, 0.4))
  rate <- function(p) ifelse(runif(200) < p, truth, ifelse(truth == "no", "yes", "no"))
  data <- data.frame(id = 1:200, a = rate(0.75), b = rate(0.7), c = rate(0.7))
  data$p <- plogis(rnorm(200, ifelse(truth == "yes", 1, -1), 1.2))
  data$s <- ifelse(data$p > 0.5, "yes", "no")
  x <- ratings(data, case = id, raters = a:c, systems = s, scores = list(s = c(yes = "p")),
    rater_kind = "expert")
  metrics <- c("roc_auc", "average_precision", "pr_auc", "ece_plugin", "brier_class")
  for (method in c("average", "shared")) {
    estimate <- quiet(estimate_accuracy(x, method, known_truth = setNames(truth, 1:200),
      gold_sample = "random"))
    table <- tidy(quiet(estimate_metrics(estimate, metrics, positive = "yes")))
    value <- function(metric) {
      rows <- table[table$metric == metric & !table$average %in% "macro", ]
      rows$estimate[[nrow(rows)]]
    }
    points <- roc_points_by_truth(data$p, truth == "yes")
    curve <- tidy(estimate, "roc", category = "yes")
    expect_equal(curve$sensitivity, points$sensitivity)
    expect_equal(curve$specificity, points$specificity)
    area <- sum(diff(1 - points$specificity) *
      (head(points$sensitivity, -1) + points$sensitivity[-1]) / 2)
    expect_equal(value("roc_auc"), area)
    expect_equal(value("average_precision"), average_precision_by_truth(data$p, truth == "yes"))
    chosen <- tidy(quiet(estimate), "threshold", category = "yes", sensitivity = 0.9)
    above <- data$p >= chosen$threshold[[1L]]
    expect_equal(chosen$estimate[chosen$metric == "sensitivity"], mean(above[truth == "yes"]))
    expect_equal(chosen$estimate[chosen$metric == "specificity"], mean(!above[truth == "no"]))
    top <- ifelse(data$p > 0.5, data$p, 1 - data$p)
    bin <- ceiling(top * 10)
    gap <- tapply((data$s == truth) - top, bin, sum)
    expect_equal(value("ece_plugin"), sum(abs(gap)) / 200)
  }
  # The ratings of one rater do not show the truth of cases without gold.
  one <- ratings(data, case = id, raters = a, systems = s, scores = list(s = c(yes = "p")),
    rater_kind = "model")
  some <- quiet(estimate_accuracy(one, known_truth = setNames(truth, 1:200)[1:60],
    gold_sample = "random"))
  scores <- tidy(quiet(estimate_metrics(some, c("accuracy", "roc_auc"))))
  expect_match(scores$reason[scores$metric == "roc_auc"], "one rater")
  expect_false(is.na(scores$estimate[scores$metric == "accuracy"]))
})

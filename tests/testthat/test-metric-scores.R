# Slow, obvious twins: definitions of R package yardstick, all truths known.
auc_twin <- function(score, of) {
  pairs <- outer(score[of], score[!of], `-`)
  mean((pairs > 0) + (pairs == 0) / 2)
}

pr_twin <- function(score, of) {
  at <- sort(unique(score), decreasing = TRUE)
  recall <- c(0, vapply(at, function(t) mean(score[of] >= t), 0))
  precision <- c(1, vapply(at, function(t) mean(of[score >= t]), 0))
  sum(diff(recall) * (precision[-1L] + precision[-length(precision)]) / 2)
}

known_metrics <- function(panel, ...) {
  tidy(suppressWarnings(estimate_metrics(
    panel$x, c("roc_auc", "pr_auc", "brier_class", "mn_log_loss", "ece_plugin"), method = "joint",
    interval = "none", known_truth = panel$truth, gold_sample = "given", ...
  )))
}

test_that("with all truths known metrics are those of yardstick", {
  set.seed(1)
  panel <- scored_panel(120, raters = c(.6, .7, .8), base = c(.5, .3, .2))
  s <- panel$scores
  true <- as.integer(panel$truth$category)
  found <- known_metrics(panel, average = c("macro", "macro_weighted"))
  pick <- function(metric, average = NA, category = NA) {
    found$estimate[found$metric == metric & found$average %in% average &
      found$category %in% category]
  }
  pairs <- utils::combn(3, 2)
  hand_till <- mean(apply(pairs, 2L, function(ij) {
    use <- true %in% ij
    mean(vapply(1:2, function(k) auc_twin(s[use, ij[k]], true[use] == ij[k]), 0))
  }))
  expect_equal(pick("roc_auc", "hand_till"), hand_till, tolerance = 1e-12)
  each <- vapply(1:3, function(k) auc_twin(s[, k], true == k), 0)
  for (k in 1:3) expect_equal(pick("roc_auc", NA, as.character(k)), each[k], tolerance = 1e-12)
  expect_equal(pick("roc_auc", "macro"), mean(each), tolerance = 1e-12)
  expect_equal(
    pick("roc_auc", "macro_weighted"), sum(each * tabulate(true, 3)) / 120, tolerance = 1e-12
  )
  of_pr <- vapply(1:3, function(k) pr_twin(s[, k], true == k), 0)
  expect_equal(pick("pr_auc", "macro"), mean(of_pr), tolerance = 1e-12)
  truths <- outer(true, 1:3, `==`)
  expect_equal(pick("brier_class"), sum((truths - s)^2) / 2 / 120, tolerance = 1e-12)
  expect_equal(pick("mn_log_loss"), -mean(log(s[cbind(1:120, true)])), tolerance = 1e-12)
  top <- apply(s, 1L, max)
  hit <- max.col(s, "first") == true
  bin <- cut(top, 0:10 / 10)
  ece <- sum(abs(tapply(hit, bin, sum, default = 0) - tapply(top, bin, sum, default = 0))) / 120
  expect_equal(pick("ece_plugin"), ece, tolerance = 1e-12)
})

test_that("the case with the highest score counts, also where it is wrong", {
  score <- (9:1) / 10
  true <- c("b", "a", "a", "b", "a", "b", "b", "a", "b")
  cases <- data.frame(r1 = true, r2 = true, s = ifelse(score > 0.5, "a", "b"), a = score)
  x <- ratings(cases, raters = r1:r2, systems = s, scores = list(s = c(a = "a")))
  found <- quiet(estimate_metrics(
    x, "pr_auc", interval = "none", known_truth = stats::setNames(true, x$cases),
    gold_sample = "given"
  ))
  found <- tidy(found)
  expect_equal(found$estimate[found$category %in% "a"], pr_twin(score, true == "a"))
})

test_that("ties count half, and a case is not compared with itself", {
  score <- c(3, 2, 2, 1, 1, 0)
  of <- c(TRUE, TRUE, FALSE, TRUE, FALSE, FALSE)
  order <- score_order(score)
  expect_equal(weighted_auc(order, of + 0, 1 - of, rep(1, 6)), auc_twin(score, of))
  v <- c(2, 1, 3, 1, 1, 2)
  at <- rep(1:6, v)
  expect_equal(weighted_auc(order, of + 0, 1 - of, v), auc_twin(score[at], of[at]))
  a <- c(0.9, 1.2, -0.1, 0.4, 0.5, 0.2)
  pair <- outer(score, score, function(x, y) (x > y) + (x == y) / 2)
  weight <- outer(a, 1 - a)
  diag(weight) <- 0
  expect_equal(weighted_auc(order, a, 1 - a, rep(1, 6)), sum(weight * pair) / sum(weight))
})

test_that("chance is taken off calibration errors, as a folded normal has it", {
  z <- abs(stats::qnorm((seq_len(1e5) - 0.5) / 1e5, 0.3, 0.7))
  expect_equal(folded_mean(0.3, 0.7), mean(z), tolerance = 1e-4)
  expect_equal(folded_mean(c(-2, 0), c(0, 0)), c(2, 0))
  score_data <- order_scores(cbind(c(.9, .8, .4, .3), c(.1, .2, .6, .7)))
  w <- cbind(c(1, 0, 0, 0), c(0, 1, 1, 1))
  v <- rep(1, 4)
  settings <- list(bins = 10L)
  expect_lt(
    new_ece_kernel(TRUE)(score_data, w, c(20, 20, 20, 20), list(bins = 2L))$whole,
    new_ece_kernel(FALSE)(score_data, w, c(20, 20, 20, 20), list(bins = 2L))$whole
  )
  expect_equal(new_ece_kernel(FALSE)(score_data, w, v, settings)$whole, mean(c(.1, .8, .4, .3)))
})

test_that("metrics of scores are in the registry and cannot be replaced", {
  expect_true(all(names(score_records) %in% measures("metric")$id))
  expect_error(register_measure("roc_auc", kernel = NULL, kind = "metric"), class = "fallible_error_argument")
})

test_that("roc_auc of cases of one category is NA, with the reason", {
  score <- seq(0, 1, length.out = 40)
  d <- data.frame(a = "n", b = "n", c = "n", s = ifelse(score > 0.5, "y", "n"), score = score)
  x <- quiet(ratings(d, raters = a:c, systems = s, categories = c("n", "y"), scores = list(s = c(y = "score"))))
  for (interval in c("none", "bootstrap")) {
    table <- tidy(quiet(estimate_metrics(x, "roc_auc", method = "joint", interval = interval,
      resampling = list(replicates = 20))))
    expect_true(is.na(table$estimate))
    expect_match(table$reason, "category")
  }
})

test_that("average precision is the sum of precision over steps of recall, ties in one step", {
  set.seed(1)
  score <- round(runif(60), 1)
  truth <- ifelse(runif(60) < score, "y", "n")
  d <- data.frame(a = truth, b = truth, c = truth, s = ifelse(score > 0.5, "y", "n"), score = score)
  x <- quiet(ratings(d, raters = a:c, systems = s, scores = list(s = c(y = "score"))))
  table <- tidy(quiet(estimate_metrics(x, "average_precision", average = NULL, interval = "none",
    known_truth = stats::setNames(truth, x$cases), gold_sample = "random")))
  steps <- vapply(sort(unique(score), decreasing = TRUE), function(s) {
    mean(truth[score >= s] == "y") * sum(score == s & truth == "y") / sum(truth == "y")
  }, 0)
  expect_equal(table$estimate[table$category == "y"], sum(steps))
})

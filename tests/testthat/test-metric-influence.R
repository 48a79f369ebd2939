test_that("influences are the derivatives of metrics by the weights of cases", {
  set.seed(4)
  for (n in 2:3) {
    scores <- matrix(round(stats::rexp(40 * n), 1), 40) + 0.05
    scores <- scores / rowSums(scores)
    scores[3, ] <- scores[4, ] # a tie
    w <- matrix(stats::rexp(40 * n), 40)
    w <- w / rowSums(w)
    v <- sample(1:3, 40, TRUE)
    score_data <- order_scores(scores)
    records <- score_records[c("roc_auc", "pr_auc", "average_precision", "brier_class", "mn_log_loss", "ece_plugin")]
    plan <- metric_plan(
      records, letters[seq_len(n)], c("macro", "macro_weighted"), list(bins = 10L)
    )
    judge <- list(score_data = score_data, w = w, v = v)
    influence <- score_influence(plan, judge)
    expect_length(influence, nrow(plan$rows))
    # Weight of a case moves from one category to another.
    for (try in 1:5) {
      i <- sample.int(40L, 1L)
      k <- sample.int(n, 2L)
      moved <- function(step) {
        judge$w[i, k] <- w[i, k] + c(step, -step)
        score_values(plan, judge)
      }
      slope <- (moved(1e-5) - moved(-1e-5)) / 2e-5
      expected <- vapply(influence, function(g) g[i, k[[1L]]] - g[i, k[[2L]]], 0) * v[[i]] / sum(v)
      # A case is compared with no copy of itself, which the influence does not know.
      loose <- plan$rows$metric == "roc_auc"
      expect_lt(max(abs(slope - expected)[!loose]), 1e-6)
      expect_lt(max(abs(slope - expected)[loose]), 0.01)
      # Another case like this one.
      more <- function(step) score_values(plan, replace(judge, "v", list(replace(v, i, v[[i]] + step))))
      slope <- (more(1e-5) - more(-1e-5)) / 2e-5
      expected <- vapply(influence, function(g) sum(w[i, ] * g[i, ]), 0) / sum(v)
      expect_lt(max(abs(slope - expected)[!loose]), 1e-6)
      expect_lt(max(abs(slope - expected)[loose]), 0.01)
    }
  }
})

test_that("areas under ROC curves accept cases whose weights do not sum to 1", {
  set.seed(5)
  scores <- matrix(stats::rexp(120), 40)
  score_data <- order_scores(scores / rowSums(scores))
  truth <- rep(1:3, length.out = 40)
  # Gold cases are weighted by 4, and the other cases are not counted.
  gold <- 1:10
  w <- matrix(0, 40, 3)
  w[cbind(gold, truth[gold])] <- 4
  found <- roc_auc_of_scores(score_data, w, rep(1, 40), list())$by_category
  expected <- vapply(1:3, function(k) {
    score <- score_data$scores[gold, k]
    pairs <- outer(score[truth[gold] == k], score[truth[gold] != k], `-`)
    mean((pairs > 0) + (pairs == 0) / 2)
  }, 0)
  expect_equal(found, expected)
  # The influence does not depend on the unit of the weights.
  w[cbind(1:40, truth)] <- 1
  influence <- function(w) roc_auc_influence(score_data, w, rep(1, 40), list())$by_category
  expect_equal(lapply(influence(4 * w), `*`, 4), influence(w))
})

test_that("weights undo what raters mix", {
  set.seed(1)
  # The law that raters have: four patterns, each with its probability and posterior.
  p <- cbind(c(.95, .7, .3, .1), c(.05, .3, .7, .9))
  share <- c(.3, .2, .2, .3)
  undo <- undo_mixing(p, 1000 * share)
  w <- p %*% undo
  expect_equal(rowSums(w), rep(1, 4))
  base <- colSums(share * p)
  # Of a case of category l the mean of w_k is 1 if k is l, else 0.
  means <- t(p * share) %*% w / base
  expect_equal(means, diag(2))
})

test_that("known truths stay, and shared errors leave the posterior", {
  p <- rbind(c(.9, .1), c(.2, .8), c(1, 0), c(0, 1), c(.6, .4))
  known <- c(FALSE, FALSE, TRUE, TRUE, FALSE)
  v <- rep(40, 5)
  expect_identical(truth_weights(p, known, v, 1), p)
  own <- truth_weights(p, known, v, 0)
  expect_identical(own[known, ], p[known, ])
  expect_equal(truth_weights(p, known, v, 0.25), 0.75 * own + 0.25 * p)
  expect_null(truth_weights(matrix(0.5, 5, 2), rep(FALSE, 5), v, 0))
})

test_that("a category that hardly any case is expected of is left out", {
  p <- cbind(c(.9, .2), c(.1, .8), 0)
  undo <- undo_mixing(p, c(50, 50))
  expect_equal(undo[3, ], c(0, 0, 1))
  expect_equal(undo[1:2, 1:2], undo_mixing(p[, 1:2], c(50, 50)))
})

test_that("scores of a fit by draws are judged by its posterior, and so by its prior", {
  set.seed(3)
  n <- 200
  sick <- stats::runif(n) < 0.3
  found <- function() ifelse(stats::runif(n) < ifelse(sick, 0.6, 0.1), "yes", "no")
  data <- data.frame(case = seq_len(n), r1 = found(), r2 = found(), r3 = found())
  data$p <- stats::plogis(stats::rnorm(n, ifelse(sick, 1.5, -1.5), 1.5))
  data$s <- ifelse(data$p > 0.5, "yes", "no")
  x <- ratings(data, raters = r1:r3, systems = s, case = case, scores = list(s = c(yes = "p")))
  wins <- outer(data$p, data$p, function(a, b) (a > b) + 0.5 * (a == b))
  auc <- function(w) { # over pairs of different cases
    pairs <- outer(w[, 2], w[, 1])
    diag(pairs) <- 0
    sum(wins * pairs) / sum(pairs)
  }
  strict <- list(sens = list(60, 40), spec = list(95, 5))
  keen <- list(sens = list(95, 5), spec = list(75, 25))
  priors <- list(
    rater_prior(), rater_prior(r1 = strict, r2 = strict, r3 = strict, order = "none"),
    rater_prior(r1 = keen, r2 = keen, r3 = keen, order = "none")
  )
  value <- vapply(priors, function(prior) {
    set.seed(1)
    fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", prior = prior,
      sampling = list(draws = 400, thin = 1)))
    # The weights D M^-1 p, from the posterior that users see.
    p <- as.matrix(ground_truth(fit)[c("no", "yes")])
    w <- p %*% solve(crossprod(p) / n, diag(colMeans(p)))
    of <- function(method, common) {
      estimate <- quiet(estimate_accuracy(fit, method = method, common = common))
      quiet(tidy(estimate_metrics(estimate, c("roc_auc", "brier_class"))))$estimate
    }
    own <- c(auc(w), mean(w[, 2] * (1 - data$p)^2 + w[, 1] * data$p^2))
    expect_equal(of("joint", "none"), own, tolerance = 1e-8)
    expect_equal(of("shared", NULL)[[1]], auc(p), tolerance = 1e-8)
    own[[1]]
  }, 0)
  expect_gt(min(stats::dist(value)), 0.001)
  expect_gt(max(stats::dist(value)), 0.05)
})

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

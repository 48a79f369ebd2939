# The EM algorithm of fit_scores(), case by case.
slow_tables <- function(rows, weight, start, mass, iterations) {
  n <- rows$categories
  sources <- length(rows$codes)
  p <- start
  said <- function(i) seq_len(rows$start[[i + 1]] - rows$start[[i]]) + rows$start[[i]]
  law <- lapply(seq_len(sources), function(s) {
    of <- vapply(seq_len(rows$codes[[s]]), function(b) {
      sum(vapply(seq_len(nrow(p)), function(i) {
        at <- said(i)
        weight[[i]] * sum(rows$source[at] == s & rows$code[at] == b)
      }, 0))
    }, 0)
    if (sum(of) > 0) of / sum(of) else rep(1 / length(of), length(of))
  })
  for (step in seq_len(iterations)) {
    rates <- colSums(p * weight) + mass / n
    rates <- rates / sum(rates)
    tables <- lapply(seq_len(sources), function(s) {
      out <- matrix(mass * law[[s]], n, rows$codes[[s]], byrow = TRUE)
      for (i in seq_len(nrow(p))) {
        for (at in said(i)) {
          if (rows$source[[at]] == s) {
            out[, rows$code[[at]]] <- out[, rows$code[[at]]] + weight[[i]] * p[i, ]
          }
        }
      }
      out / rowSums(out)
    })
    for (i in seq_len(nrow(p))) {
      q <- rates
      for (at in said(i)) q <- q * tables[[rows$source[[at]]]][, rows$code[[at]]]
      p[i, ] <- if (rows$truth[[i]] > 0) seq_len(n) == rows$truth[[i]] else q / sum(q)
    }
  }
  list(base_rates = rates, tables = tables, posterior = p)
}

test_that("the core fits what the algorithm case by case does", {
  set.seed(1)
  lengths <- sample(0:4, 30, TRUE)
  rows <- list(
    start = c(0L, cumsum(lengths)), source = sample(1:3, sum(lengths), TRUE),
    codes = c(2L, 4L, 3L), truth = sample(c(0L, 0L, 0L, 1L, 2L), 30, TRUE), categories = 2L
  )
  rows$code <- vapply(rows$codes[rows$source], function(b) sample.int(b, 1L), 0L)
  weight <- as.double(sample(0:3, 30, TRUE))
  start <- matrix(runif(60), 30)
  start <- start / rowSums(start)
  fast <- core_fit_tables(rows, weight, start, 1, 8L)
  slow <- slow_tables(rows, weight, start, 1, 8)
  expect_equal(fast$base_rates, slow$base_rates, tolerance = 1e-12)
  expect_equal(fast$tables, slow$tables, tolerance = 1e-12)
  expect_equal(fast$posterior, slow$posterior, tolerance = 1e-12)
  more <- core_fit_tables(rows, weight, start, 0, 26L)
  expect_gte(more$log_likelihood, core_fit_tables(rows, weight, start, 0, 25L)$log_likelihood)
})

test_that("bins have equal numbers of cases and keep ties together", {
  set.seed(2)
  bins <- equal_bins(runif(500), rep(1, 500))
  expect_identical(as.vector(table(bins$code)), rep(50L, 10)) # (2 * 500)^(1 / 3)
  score <- round(runif(500), 1)
  tied <- equal_bins(score, rep(1, 500))
  expect_true(all(tapply(tied$code, score, function(x) length(unique(x))) == 1))
  expect_identical(sort(unique(tied$code)), seq_len(max(tied$code)))
  expect_identical(equal_bins(rep(1, 7), rep(1, 7))$code, rep(1L, 7))
  three <- matrix(c(.6, .3, .1, .2, .7, .1, .5, .3, .2, NA, NA, NA), 4, byrow = TRUE)
  found <- bins_of_scores(three, rep(1, 4), "probability", c(1L, 2L, 1L, 3L))
  expect_identical(found$code[[4]], 0L)
  expect_gt(found$position[[2]], max(found$position[c(1, 3)]) + category_gap - 1)
})

test_that("laws change evenly between the middles of bins", {
  codes <- list(code = matrix(c(1L, 1L, 2L, 2L)), position = matrix(c(2.25, 2.75, 3.25, 3.75)))
  shift <- new_bin_interpolator(codes, rep(1, 4), 0L)
  tables <- list(rbind(c(0.2, 0.8), c(0.6, 0.4)))
  # Middles are 2.5 and 3.5: a quarter of the way on either side of them.
  way <- outer(c(-0.25, 0.25, -0.25, 0.25), log(tables[[1]][, 2] / tables[[1]][, 1]))
  expect_equal(shift(tables, 2L), way)
})

test_that("ratings and scores together are right where neither knows the truth", {
  set.seed(3)
  panel <- scored_panel(3000)
  fit <- fit_scores(panel$x)
  expect_s3_class(fit, "rater_fit")
  expect_snapshot(print(fit))
  true <- suppressWarnings(tidy(estimate_metrics(
    panel$x, c("roc_auc", "brier_class", "ece_plugin"), known_truth = panel$truth,
    gold_sample = "given", interval = "none"
  )))$estimate
  found <- tidy(estimate_metrics(fit, c("roc_auc", "brier_class", "ece_plugin"), interval = "none"))
  expect_lt(max(abs(found$estimate - true)), 0.03)
  expect_lt(abs(estimate_accuracy(fit, interval = "none")$table$estimate -
    mean(case_answers(panel$x)[, 1] == as.integer(panel$truth$category))), 0.03)
  same <- fit$refit(pattern_weights(fit$x))
  expect_lt(max(abs(same - fit$posterior)), 1e-4)
  expect_error(fit_scores(panel$x, raters = character()), class = "fallible_error_argument")
  alone <- fit_scores(panel$x, raters = panel$x$raters[1:2])
  expect_false(identical(alone$base_rates, fit$base_rates))
})

test_that("known truths are kept, or measure", {
  set.seed(4)
  panel <- scored_panel(200)
  fit <- fit_scores(panel$x, known_truth = panel$truth)
  right <- case_answers(panel$x)[, 1] == as.integer(panel$truth$category)
  expect_equal(estimate_accuracy(fit, interval = "none")$table$estimate, mean(right))
  expect_error(
    estimate_accuracy(fit, known_truth = panel$truth, gold_sample = "random"),
    class = "fallible_error_argument"
  )
  free <- fit_scores(panel$x)
  gold <- panel$truth[1:50, ]
  expect_error(estimate_accuracy(free, known_truth = gold), class = "fallible_error_argument")
  measured <- estimate_accuracy(
    free, known_truth = gold, gold_sample = "random", interval = "corrected", resampling = list(replicates = 20)
  )
  found <- tidy(estimate_metrics(measured, c("accuracy", "roc_auc", "ece"), average = NULL))
  expect_false(anyNA(found$conf.low))
  expect_true(all(found$conf.low <= found$estimate & found$estimate <= found$conf.high))
  robust <- estimate_accuracy(free, resampling = list(replicates = 20))
  sampling <- estimate_accuracy(free, interval = "bootstrap", resampling = list(replicates = 20))
  expect_gt(robust$table$std.error, sampling$table$std.error)
})

test_that("scores are used as probabilities", {
  set.seed(5)
  panel <- scored_panel(300)
  fit <- fit_scores(panel$x, trust = "s")
  expect_equal(unname(fit$posterior[fit$x$index, ]), unname(panel$x$scores$values$s))
  found <- tidy(estimate_metrics(fit, c("accuracy", "ece_plugin"), interval = "none"))
  expect_equal(found$estimate[[2]], 0)
  expect_equal(found$estimate[[1]], mean(panel$x$scores$values$s[
    cbind(seq_len(300), case_answers(panel$x)[, 1])
  ]))
  expect_error(fit_scores(panel$x, trust = "nobody"), class = "fallible_error_argument")
  expect_error(fit_scores(panel$x, trust = ~x), "a formula", class = "fallible_error_argument")
  ordered <- panel$x
  ordered$scores$scale <- "order"
  expect_error(fit_scores(ordered, trust = "s"), class = "fallible_error_argument")
  expect_false(anyNA(fit_scores(ordered)$posterior))
  expect_error(fit_scores(panel$x[, , 0]), class = "fallible_error_argument")
  expect_error(fit_scores(panel$x, raters = "nobody"), class = "fallible_error")
})

test_that("three sources are enough", {
  set.seed(3)
  panel <- scored_panel(150, raters = c(0.8, 0.75))
  expect_false(anyNA(fit_scores(panel$x)$posterior))
})

test_that("between known cases the probability rises with the score, within bins too", {
  score <- 1:120 / 121
  true <- 1 + ((1:120 * 0.618) %% 1 < score)
  cases <- data.frame(r1 = 1, r2 = 2, s = 1 + (score > 0.5), score)
  x <- quiet(ratings(cases, raters = r1:r2, systems = s, scores = list(s = c("2" = "score"))))
  open <- seq(5, 120, by = 5)
  fit <- fit_scores(x, known_truth = stats::setNames(true, 1:120)[-open])
  expect_false(is.unsorted(fit$posterior[fit$x$index[open], 2], strictly = TRUE))
})

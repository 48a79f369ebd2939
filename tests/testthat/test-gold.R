test_that("gold of systems is that of a slow twin, case by case", {
  for (seed in 1:6) {
    panel <- gold_panel(missing = 0.3, m = 15, seed = seed)
    x <- panel$x
    evidence <- gold_evidence(x, panel$gold)
    rated <- rated_patterns(x)[x$index]
    counts <- which(rated | !all(rated[panel$gold$case]))
    answer <- x$patterns$answer[x$index, ]
    for (s in 1:2) {
      q <- evidence$predicted[x$index, ][cbind(1:300, answer[, s])]
      q[!rated] <- mean(q[rated])
      y <- answer[panel$gold$case, s] == panel$gold$truth
      slow <- slow_correction(y, q[counts], match(panel$gold$case, counts))
      fields <- c("estimate", "slope", "ratio")
      expect_equal(gold_accuracy(evidence, s)[fields], slow[fields], tolerance = 1e-10)
    }
  }
})

test_that("precision, recall and differences are those of their cases", {
  panel <- gold_panel()
  x <- panel$x
  gold <- panel$gold
  evidence <- gold_evidence(x, gold)
  predicted <- evidence$predicted[x$index, ]
  answer <- x$patterns$answer[x$index, ]
  own <- which(answer[, 1] == 2)
  golden <- intersect(gold$case, own)
  y <- gold$truth[match(golden, gold$case)] == 2
  slow <- slow_correction(y, predicted[own, 2], match(golden, own))
  expect_equal(gold_precision(evidence, 1, 2)$estimate, slow$estimate)
  direct <- correct_rate(
    as.double(gold$truth == 2 & answer[gold$case, 1] == 1), as.double(gold$truth == 2),
    predicted[, 2] * (answer[, 1] == 1), predicted[, 2], rep(1, 300), gold$case
  )
  expect_equal(
    gold_recall(evidence, 1, truth = 2, answer = 1)[c("estimate", "ratio")],
    direct[c("estimate", "ratio")]
  )
  at <- gold$case
  right <- answer[at, ] == gold$truth
  q <- predicted[cbind(1:300, answer[, 1])] - predicted[cbind(1:300, answer[, 2])]
  slow <- slow_correction(right[, 1] - right[, 2], q, at, kind = "difference")
  difference <- gold_difference(evidence, 1, 2)
  expect_equal(difference[c("estimate", "ratio")], slow[c("estimate", "ratio")])
  expect_equal(difference$differ, mean(answer[, 1] != answer[, 2]))
})

test_that("a difference needs gold only where answers differ", {
  panel <- gold_panel(m = 120)
  x <- panel$x
  answer <- x$patterns$answer[x$index, ]
  differ <- answer[, 1] != answer[, 2]
  chosen <- sample(which(differ), 40)
  gold <- read_gold(truth(x)[chosen, ], "random", x)
  own <- gold_difference(gold_evidence(x, gold), 1, 2)
  right <- answer == x$truth$category
  alone <- mean(differ) * mean(right[chosen, 1] - right[chosen, 2])
  expect_lt(abs(own$estimate - alone), 0.1)
  interval <- difference_interval(own, "population", 0.9)
  expect_true(interval$conf.low < alone && alone < interval$conf.high)
  # All of these known: the cases at hand have no error, the population has that of its cases.
  gold <- read_gold(truth(x)[differ, ], "random", x)
  all <- gold_difference(gold_evidence(x, gold), 1, 2)
  expect_equal(all$estimate, mean(right[, 1] - right[, 2]))
  expect_equal(difference_interval(all, "cases", 0.9)$std.error, 0)
  u <- right[, 1] - right[, 2]
  expect_equal(
    difference_interval(all, "population", 0.9)$std.error, sd(u) / sqrt(300), tolerance = 0.02
  )
})

test_that("weights that count cases are copies", {
  panel <- gold_panel(n = 60, m = 20)
  table <- as.data.frame(panel$x)
  wide <- data.frame(case = 1:60, w = rep(1:3, 20))
  for (rater in panel$x$raters) {
    own <- table[table$rater == rater, ]
    wide[[rater]] <- own$rating[match(1:60, own$case)]
  }
  wide$a <- panel$x$categories[panel$x$patterns$answer[panel$x$index, 1]]
  read <- function(data, ...) {
    ratings(data, raters = rater1:rater3, systems = a, case = case,
      categories = panel$x$categories, ...)
  }
  copies <- wide[rep(1:60, wide$w), ]
  copies$case <- seq_len(nrow(copies))
  of <- rep(1:60, wide$w)
  truth <- panel$x$truth$category
  chosen <- panel$gold$case
  estimate <- function(x, case) {
    known <- stats::setNames(x$categories[truth[of_case(x)[case]]], x$cases[case])
    gold_accuracy(gold_evidence(x, read_gold(known, "random", x)), 1)
  }
  of_case <- function(x) if (length(x$cases) == 60) 1:60 else of
  counted <- estimate(read(wide, weights = w), chosen)
  copied <- estimate(read(copies), which(of %in% chosen))
  fields <- c("estimate", "slope", "ratio", "variance", "gold", "cases")
  expect_equal(counted[fields], copied[fields])
})

test_that("systems that are silent on gold cases have none", {
  panel <- gold_panel()
  x <- panel$x
  evidence <- gold_evidence(x, panel$gold)
  evidence$answer[unique(evidence$at), 2] <- 0L
  expect_null(gold_accuracy(evidence, 2))
  expect_false(gold_difference(evidence, 1, 2)$known)
  expect_null(gold_precision(evidence, 2, 1))
  expect_null(gold_recall(evidence, 2, 1))
  expect_identical(gold_accuracy(evidence, 1), gold_accuracy(gold_evidence(x, panel$gold), 1))
})

test_that("unrated cases count where gold was drawn among them", {
  panel <- gold_panel(missing = 0.6)
  x <- panel$x
  unrated <- which(!rated_patterns(x)[x$index])
  expect_gt(length(unrated), 20)
  of <- function(case) {
    gold_accuracy(gold_evidence(x, read_gold(truth(x)[case, ], "random", x)), 1)$cases
  }
  rated <- setdiff(1:300, unrated)
  expect_equal(of(rated[1:20]), length(rated))
  expect_equal(of(c(rated[1:20], unrated[1:2])), 300)
})

test_that("clusters and probabilities go along with gold cases", {
  panel <- gold_panel()
  probability <- runif(300, 0.05, 0.3)
  drawn <- which(runif(300) < probability)
  gold <- read_gold(truth(panel$x)[drawn, ], probability, panel$x)
  own <- gold_accuracy(gold_evidence(panel$x, gold), 1)
  w <- 1 / gold$probability
  expect_equal(own$design, mean((w / mean(w))^2))
  ward <- rep(1:30, 10)
  clustered <- gold_accuracy(gold_evidence(panel$x, gold, cluster = ward), 1)
  expect_identical(clustered, in_clusters(own, ward[gold$case]))
})

test_that("the rate of an answer that is never given needs no gold", {
  panel <- gold_panel()
  panel$x$patterns$answer[, 1] <- 1L
  evidence <- gold_evidence(panel$x, panel$gold)
  expect_null(gold_recall(evidence, 1, 1, 2))
  expect_null(gold_recall(evidence, 1, 1, 1))
  expect_false(is.null(gold_precision(evidence, 1, 1)))
})

test_that("gold drawn from some cases only does not stand for the others", {
  panel <- gold_panel(seed = 2)
  answer <- panel$x$patterns$answer[panel$x$index, ]
  differ <- which(answer[, 1] != answer[, 2])
  drawn <- sample(differ, 40)
  probability <- replace(rep(0.5, 300), differ, 40 / length(differ))
  gold <- read_gold(truth(panel$x)[drawn, ], probability, panel$x)
  evidence <- gold_evidence(panel$x, gold)
  expect_null(gold_accuracy(evidence, 1))
  expect_null(gold_recall(evidence, 1, 1))
  expect_null(gold_precision(evidence, 1, 1))
  own <- gold_difference(evidence, 1, 2)
  expect_identical(own$disputed, 40)
  right <- answer[drawn, ] == as.integer(truth(panel$x)$category[drawn])
  expect_equal(own$alone, mean(right[, 1] - right[, 2]) * length(differ) / 300)
})

test_that("the share of shared errors by gold lies between independent and shared", {
  interval <- list(estimate = 0.8, conf.low = 0.75, conf.high = 0.85)
  common <- gold_common(interval, independent = 0.9, shared = 0.7)
  expect_equal(unlist(common), c(common = 0.5, common.low = 0.25, common.high = 0.75))
  expect_identical(gold_common(interval, 0.8, 0.8)$common, NA_real_)
  # No share is outside [0, 1], though the interval may reach beyond.
  beyond <- gold_common(interval, independent = 0.79, shared = 0.74)
  expect_equal(unlist(beyond), c(common = 0, common.low = 0, common.high = 0.8))
  expect_true(all(is.na(unlist(gold_common(interval, independent = 0.7, shared = 0.6)))))
})

test_that("weights of gold cases ask for no more memory than there is", {
  panel <- data.frame(a = c("x", "y", "x"), b = c("x", "y", "y"), s = c("x", "y", "x"), w = 1e11)
  x <- ratings(panel, raters = a:b, systems = s, weights = w)
  truth <- data.frame(case = 1:2, truth = c("x", "y"))
  expect_error(
    quiet(estimate_accuracy(x, known_truth = truth, gold_sample = "random")),
    class = "fallible_error_weights"
  )
})

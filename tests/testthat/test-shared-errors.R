copied_panel <- function(n = 300, categories = 4, probability = 0.5, ...) {
  set.seed(1)
  simulate_ratings(rater_design(
    c(0.7, 0.7, 0.8), c(s = 0.8), categories, n,
    copying = data.frame(from = 1, to = 2, probability = probability), ...
  ))
}

# Cases x raters and systems: is the answer right? And the answers themselves.
case_answers <- function(x) answers_by_pattern(x)[x$index, , drop = FALSE]
case_right <- function(x) case_answers(x) == as.integer(truth(x)$category)

test_that("correlations are those of being right", {
  x <- copied_panel()
  errors <- shared_errors(x)
  expect_equal(unname(as.matrix(errors)), stats::cor(case_right(x)))
  gaps <- quiet(copied_panel(missing = 0.3))
  found <- tidy(shared_errors(gaps))
  expect_equal(
    found$estimate,
    stats::cor(case_right(gaps), use = "pairwise.complete.obs")[lower.tri(diag(4))]
  )
  right <- case_right(gaps)
  expect_identical(found$known[[1]], as.double(sum(!is.na(right[, 1]) & !is.na(right[, 2]))))
  expect_gt(tidy(errors)$conf.low[[1]], 0.3)
  expect_true(all(abs(tidy(errors)$estimate[-1]) < 0.2))
})

test_that("standard errors are those of the case bootstrap", {
  x <- copied_panel(500)
  right <- case_right(x)
  pairs <- lower.tri(diag(3))
  set.seed(2)
  drawn <- replicate(600, {
    again <- right[sample.int(500, replace = TRUE), ]
    covariance <- stats::cov(again[, 1:3])
    product <- outer(sqrt(diag(covariance)), sqrt(diag(covariance)))
    c(stats::cor(again)[lower.tri(diag(4))], sum(covariance[pairs]) / sum(product[pairs]))
  })
  errors <- shared_errors(x)
  expect_equal(tidy(errors)$std.error, apply(drawn, 1, stats::sd)[1:6], tolerance = 0.12)
  told <- glance(errors)
  expect_equal(told$correlation, mean(drawn[7, ]), tolerance = 0.05)
  width <- diff(stats::quantile(drawn[7, ], c(0.05, 0.95), names = FALSE))
  expect_equal(told$conf.high - told$conf.low, width, tolerance = 0.12)
})

test_that("coinciding wrong answers are counted, and expected from different cases", {
  x <- copied_panel(120)
  answer <- case_answers(x)
  true <- as.integer(truth(x)$category)
  for (pair in list(c(1, 2), c(2, 3))) {
    one <- answer[, pair[[1]]]
    two <- answer[, pair[[2]]]
    both <- which(one != true & two != true)
    expected <- met <- 0
    for (t in unique(true[both])) {
      same <- tried <- 0
      for (u in which(one != true & true == t)) {
        for (v in which(two != true & true == t)) {
          if (u != v) {
            tried <- tried + 1
            same <- same + (one[[u]] == two[[v]])
          }
        }
      }
      if (tried > 0) {
        expected <- expected + sum(true[both] == t) * same / tried
        met <- met + sum(true[both] == t)
      }
    }
    found <- tidy(shared_errors(x))
    found <- found[found$rater1 == paste0("rater", pair[[1]]) &
      found$rater2 == paste0("rater", pair[[2]]), ]
    expect_identical(found$both_wrong, as.double(length(both)))
    expect_equal(found$coinciding, mean(one[both] == two[both]))
    expect_equal(found$expected, expected / met)
  }
  binary <- tidy(shared_errors(copied_panel(categories = 2)))
  expect_true(all(binary$coinciding == 1 & abs(binary$surplus) < 1e-12))
  expect_gt(tidy(shared_errors(copied_panel()))$surplus[[1]], 0.3)
})

test_that("six raters whose errors correlate by .42 are worth 1.9", {
  expect_equal(effective_number_of_raters(6, 0.42), 1.935484, tolerance = 1e-6)
  expect_identical(effective_number_of_raters(5, 0), 5)
  expect_identical(effective_number_of_raters(5, 1), 1)
  set.seed(3)
  truth <- rep(c("yes", "no"), 2000)
  # With probability sqrt(.42) a coin that raters share decides whether a rater is right.
  common <- stats::runif(4000) < 0.8
  votes <- vapply(1:6, function(j) {
    right <- ifelse(stats::runif(4000) < sqrt(0.42), common, stats::runif(4000) < 0.8)
    ifelse(right, truth, ifelse(truth == "yes", "no", "yes"))
  }, truth)
  x <- ratings(votes)
  told <- glance(shared_errors(x, known_truth = stats::setNames(truth, seq_along(truth))))
  expect_equal(told$correlation, 0.42, tolerance = 0.05)
  expect_equal(told$effective, 1.9, tolerance = 0.05)
})

test_that("leaving out a rater is told", {
  x <- copied_panel()
  errors <- shared_errors(x)
  raters <- tidy(errors, "raters")
  without <- vapply(1:3, function(j) glance(shared_errors(x[, -j]))$effective, 0)
  expect_equal(raters$effective, without)
  expect_equal(raters$change, without - glance(errors)$effective)
  expect_equal(raters$accuracy, unname(colMeans(case_right(x))[1:3]))
})

test_that("truth comes from a fit, from the user, from a simulation, or not at all", {
  x <- copied_panel()
  gold <- stats::setNames(as.character(truth(x)$category), truth(x)$case)[1:100]
  by_user <- tidy(shared_errors(x, known_truth = gold))
  expect_identical(by_user$known, rep(100, 6))
  expect_equal(tidy(shared_errors(quiet(fit_raters(x, known_truth = gold)))), by_user)
  expect_equal(by_user$estimate, tidy(shared_errors(x[1:100, ]))$estimate)
  # The truth of some cases only, given in three ways.
  some <- with_truth(x, gold)
  expect_equal(tidy(shared_errors(some)), by_user)
  long <- as.data.frame(x, what = "ratings")
  long$truth <- unname(gold[as.character(long$case)])
  kept <- ratings(long, case = case, rater = rater, rating = rating, truth = truth,
    categories = x$categories)
  expect_equal(tidy(shared_errors(kept, known_truth = TRUE))$estimate,
    by_user$estimate[by_user$kind == "raters"])
  expect_identical(glance(shared_errors(kept))$known, 0)
  none <- shared_errors(x, known_truth = FALSE)
  expect_true(all(is.na(tidy(none)$estimate)))
  expect_identical(glance(none)$known, 0)
  expect_true(all(is.na(tidy(shared_errors(x))$lowest) & !is.na(tidy(none)$lowest)))
})

test_that("weights that are probabilities have correlations, but no errors of these", {
  law <- expand.grid(a = c("x", "y"), b = c("x", "y"), t = c("x", "y"), stringsAsFactors = FALSE)
  law$w <- c(0.3, 0.1, 0.05, 0.05, 0.05, 0.1, 0.15, 0.2)
  x <- ratings(law, raters = a:b, weights = w)
  found <- tidy(shared_errors(x, stats::setNames(as.character(law$t), seq_len(8))))
  right <- law[c("a", "b")] == law$t
  mean <- colSums(law$w * right)
  covariance <- sum(law$w * right[, 1] * right[, 2]) - prod(mean)
  expect_equal(found$estimate, covariance / sqrt(prod(mean * (1 - mean))))
  expect_true(is.na(found$std.error))
  expect_match(found$reason, "weights are not counts")
  range <- tidy(shared_errors(x))
  expect_true(range$lowest < found$estimate && range$highest > found$estimate)
})

test_that("weights count cases", {
  x <- copied_panel(100)
  long <- as.data.frame(as.data.frame(x))
  twice <- ratings(
    cbind(long, w = 2), case = case, rater = rater, rating = rating, weights = w,
    categories = x$categories
  )
  gold <- stats::setNames(as.character(truth(x)$category), truth(x)$case)
  once <- tidy(shared_errors(x, gold))[1:2, ]
  found <- tidy(shared_errors(twice, gold))[1:2, ]
  expect_equal(found$estimate, once$estimate)
  expect_equal(found$std.error, once$std.error / sqrt(2))
  expect_equal(found$both_wrong, 2 * once$both_wrong)
})

# The correlation and what a pair shows of it, for random laws of two raters.
random_pair <- function(categories) {
  all <- expand.grid(t = seq_len(categories), a = seq_len(categories), b = seq_len(categories))
  share <- stats::rgamma(nrow(all), 0.3)
  share <- share / sum(share)
  right <- cbind(all$a == all$t, all$b == all$t)
  a <- colSums(share * right)
  both <- sum(share[right[, 1] & right[, 2]])
  wrong <- !right[, 1] & !right[, 2]
  list(
    agreement = sum(share[all$a == all$b]), accuracy = a,
    phi = (both - prod(a)) / sqrt(prod(a * (1 - a))),
    alike = sum(share[wrong & all$a == all$b]) / sum(share[wrong])
  )
}

test_that("no law of two raters is outside the range, and the range is reached", {
  set.seed(4)
  expect_over(rounds(300), limit = 1e-4, function(i) {
    law <- random_pair(2 + i %% 3)
    width <- stats::runif(2, 0, 0.2)
    limits <- cbind(pmax(law$accuracy - width, 0), pmin(law$accuracy + width, 1))
    alike <- if (i %% 3 == 0) 1 else law$alike * stats::runif(1)
    range <- correlation_range(law$agreement, limits[1, ], limits[2, ], alike)
    c(range[[1]] - law$phi, law$phi - range[[2]])
  })
  # Two categories, all accuracies: both ends have a closed form.
  for (agreed in c(0.3, 0.6, 0.9)) {
    expect_equal(
      correlation_range(agreed, c(0, 1), c(0, 1), 1),
      c(-(1 - agreed) / (1 + agreed), agreed / (2 - agreed)), tolerance = 1e-3
    )
  }
  # At fixed accuracies, too: both right in at most a share of .6, as often as they can be.
  expect_equal(correlation_range(0.6, c(0.7, 0.7), c(0.8, 0.8), 0)[[2]],
    (0.6 - 0.56) / sqrt(0.7 * 0.3 * 0.8 * 0.2))
  expect_identical(correlation_range(0.1, c(0.9, 1), c(0.9, 1), 0), c(NA_real_, NA_real_))
})

test_that("the range contains a planted correlation, and better limits narrow it", {
  for (categories in if (extended_tests()) c(2, 4) else 2) {
    x <- copied_panel(400, categories)
    wide <- tidy(shared_errors(x, known_truth = FALSE))
    near <- tidy(shared_errors(x, known_truth = FALSE, accuracy = c(0.6, 0.9)))
    planted <- c(0.5, rep(0, 5))
    for (range in list(wide, near)) {
      expect_true(all(range$lowest <= planted & range$highest >= planted))
      expect_true(all(range$highest - range$lowest < 2))
    }
    expect_true(all(near$highest <= wide$highest + 1e-4 & near$lowest >= wide$lowest - 1e-4))
  }
})

test_that("what has no correlation says why", {
  d <- data.frame(
    a = c("x", "y", "x", "y"), b = c("x", "y", "y", "y"), c = c("x", "x", "y", "y"),
    e = c("x", "x", "y", "y")
  )
  gold <- stats::setNames(c("x", "y", "x", "y"), 1:4)
  found <- tidy(shared_errors(ratings(d, raters = a:e), gold))
  expect_match(found$reason[[1]], "always right") # a is
  last <- found[found$rater1 == "c" & found$rater2 == "e", ]
  expect_identical(last$estimate, 1)
  expect_match(last$reason, "exactly 1 or -1")
  nothing <- found[found$known == 0, ]
  expect_identical(nrow(nothing), 0L)
})

test_that("what cannot be told is refused", {
  x <- copied_panel(20)
  expect_snapshot(error = TRUE, {
    shared_errors(1)
    shared_errors(ratings(fleiss1971, case = case, counts = depression:other))
    shared_errors(x, known_truth = c("no such case" = "1"))
    shared_errors(x, accuracy = 2)
    shared_errors(x, coinciding = -1)
    shared_errors(ratings(dawid1979, case = case, rater = rater, rating = rating,
      repeats = "ratings"))
  })
})

test_that("shared errors are printed, and speak the grammar of results", {
  x <- copied_panel()
  errors <- shared_errors(x)
  none <- shared_errors(x, known_truth = FALSE)
  expect_snapshot(errors)
  expect_snapshot(none)
  expect_snapshot(summary(errors))
  for (one in list(errors, none)) {
    expect_identical(class(as.data.frame(one)), "data.frame")
    expect_identical(class(as.data.frame(one, what = "raters")), "data.frame")
    expect_identical(nrow(glance(one)), 1L)
    expect_length(format(one), 1)
  }
  skip_if_not_installed("ggplot2")
  tiles <- ggplot2::layer_data(ggplot2::autoplot(errors), 1L)
  expect_identical(nrow(tiles), 12L)
  ranges <- ggplot2::layer_data(ggplot2::autoplot(none), 2L)
  expect_setequal(ranges$xmin, tidy(none)$lowest)
  skip_if_not_installed("knitr")
  expect_s3_class(knitr::knit_print(errors), "knit_asis")
})

# ---- Many raters --------------------------------------------------------------------------------

# A crowd of which each case is rated by a few, and a system.
crowd_of <- function(workers, cases, each = 5, categories = 4, seed = 1) {
  withr::local_seed(seed)
  long <- unique(data.frame(
    case = rep(seq_len(cases), each = each),
    rater = paste0("w", sample(workers, each * cases, TRUE))
  ))
  true <- sample(letters[seq_len(categories)], cases, TRUE)
  wrong <- stats::runif(nrow(long)) < 0.3
  long$rating <- true[long$case]
  long$rating[wrong] <- sample(letters[seq_len(categories)], sum(wrong), TRUE)
  ratings(
    long, case = case, rater = rater, rating = rating,
    systems = data.frame(case = seq_len(cases), system = "s", prediction = rev(sort(true)))
  )
}

# What all pairs of raters and systems have in common, pair by pair and case by case.
slow_pairs <- function(x, true) {
  answer <- answers_by_pattern(x)[x$index, , drop = FALSE]
  pairs <- utils::combn(ncol(answer), 2L)
  rows <- lapply(seq_len(ncol(pairs)), function(i) {
    one <- answer[, pairs[1L, i]]
    two <- answer[, pairs[2L, i]]
    use <- !is.na(one) & !is.na(two)
    right <- cbind(one == true, two == true)[use, , drop = FALSE]
    wrong <- use & one != true & two != true
    r <- suppressWarnings(if (sum(use) > 1L) stats::cor(right)[1L, 2L] else NA_real_)
    c(sum(use), r, sum(wrong), if (any(wrong)) mean(one[wrong] == two[wrong]) else NA)
  })
  do.call(rbind, rows)
}

test_that("pairs are those of a count by hand, with and without a case in common", {
  furthest <- vapply(1:6, function(seed) {
    x <- crowd_of(workers = 12, cases = 30, each = 3, seed = seed)
    true <- withr::with_seed(seed, sample(4, 30, TRUE))
    gold <- stats::setNames(x$categories[true], x$cases)
    found <- tidy(shared_errors(x, gold))
    slow <- slow_pairs(x, true)
    fast <- as.matrix(found[c("n", "estimate", "both_wrong", "coinciding")])
    stopifnot(identical(unname(is.na(fast)), is.na(slow)))
    max(abs(fast - slow), na.rm = TRUE)
  }, 0)
  expect_lt(max(furthest), 1e-12, label = paste("largest deviation, seed", which.max(furthest)))
})

test_that("pairs without a case in common are in the table, and cost nothing", {
  x <- crowd_of(workers = 20, cases = 8)
  for (errors in list(shared_errors(x), shared_errors(x, stats::setNames(rep("a", 8), 1:8)))) {
    table <- tidy(errors)
    judges <- c(x$raters, x$systems)
    pairs <- utils::combn(judges, 2L)
    expect_identical(table$rater1, pairs[1L, ])
    expect_identical(table$rater2, pairs[2L, ])
    expect_identical(which(table$n > 0), which(!is.na(as.matrix(errors)[t(pairs)]) | table$n > 0))
    apart <- table[table$n == 0, ]
    expect_gt(nrow(apart), 0L)
    expect_true(all(is.na(apart$estimate) & is.na(apart$lowest) & !is.na(apart$reason)))
    expect_output(print(errors), "without a common case")
  }
  kept <- function(factor) {
    known <- stats::setNames(rep("a", 25 * factor), seq_len(25 * factor))
    nrow(shared_errors(crowd_of(50 * factor, 25 * factor), known)$pairs)
  }
  expect_lt(kept(4) / kept(1), 5) # and not 16, as all pairs are
})

test_that("many pairs can be stopped, and too many are refused", {
  x <- crowd_of(workers = 20, cases = 20)
  cells <- known_cells(x, FALSE)
  many <- cells[rep(seq_len(nrow(cells)), 60000L), ]
  setTimeLimit(elapsed = 0.01, transient = TRUE)
  stopped <- tryCatch(
    core_shared_pairs(x$patterns, many, no_tick),
    interrupt = function(cnd) "stopped", error = conditionMessage
  )
  setTimeLimit()
  expect_match(stopped, "stopped|time limit")
  e <- expect_error(check_pair_numbers(2e4, n_pair_columns), class = "fallible_error_memory")
  expect_identical(e$numbers, n_pair_columns * 2e4 * 19999 / 2)
})

test_that("limits of the mean correlation are those of the jackknife where ratings are missing", {
  x <- quiet(copied_panel(200, missing = 0.3))
  right <- case_right(x)[, 1:3]
  correlation <- function(right) {
    mean <- colMeans(right, na.rm = TRUE)
    off <- sweep(right, 2, mean)
    spread <- t(!is.na(off)) * sqrt(mean * (1 - mean))
    pairs <- lower.tri(diag(3))
    sum(crossprod(replace(off, is.na(off), 0))[pairs]) / sum(tcrossprod(spread)[pairs])
  }
  told <- glance(shared_errors(x))
  expect_equal(told$correlation, correlation(right))
  without <- vapply(1:200, function(i) correlation(right[-i, ]), 0)
  limits <- fisher_limits(told$correlation, sqrt(199^2 / 200 * stats::var(without)), 0.9)
  expect_equal(c(told$conf.low, told$conf.high), limits[1, ], tolerance = 0.05)
})

test_that("an interval for good raters who were never wrong together contains 0", {
  right <- function(wrong) !seq_len(80) %in% wrong
  data <- data.frame(id = 1:80, a = right(1:6), b = right(7:15), c = right(c(1:3, 20:25)))
  x <- ratings(data, raters = a:c, case = id)
  known <- stats::setNames(rep(TRUE, 80), 1:80)
  pairs <- tidy(quiet(shared_errors(x, known_truth = known)))
  none <- pairs[pairs$rater1 == "a" & pairs$rater2 == "b", ]
  expect_lt(none$estimate, 0)
  expect_gt(none$conf.high, 0.05)
  # Table with one more case in each cell, by the delta method
  cells <- c(65, 9, 6, 0) + 1
  n <- sum(cells)
  share <- cells / n
  i <- rep(1:4, cells)
  phi_without <- function(k) stats::cor(c(1, 1, 0, 0)[i[-k]], c(1, 0, 1, 0)[i[-k]])
  influence <- vapply(match(1:4, i), phi_without, 0)
  jackknife <- sqrt(sum(cells * (influence - sum(share * influence))^2) * (n - 1) / n)
  expect_equal(none$std.error, jackknife * sqrt(n / 80), tolerance = 0.1)
  both <- pairs[pairs$rater1 == "a" & pairs$rater2 == "c", ]
  expect_equal(both$estimate, stats::cor(data$a, data$c))
})

test_that("print of a crowd counts the pairs with few common cases in one line", {
  x <- crowd_of(workers = 60, cases = 40)
  for (errors in list(shared_errors(x), shared_errors(x, stats::setNames(rep("a", 40), 1:40)))) {
    n <- if (any(errors$pairs$known > 0)) errors$pairs$known else errors$pairs$n
    n_pairs <- choose(length(errors$judges), 2)
    expect_output(print(errors), paste(number(n_pairs - sum(n >= 10)), "pairs with fewer than 10"))
    expect_no_match(capture.output(print(errors)), "worker1 - |w1 - ")
    expect_identical(nrow(tidy(errors)), as.integer(n_pairs))
  }
})

test_that("no note advises to leave out a rater whose errors correlate", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8, 0.75), categories = 2, n = 300,
    copying = data.frame(from = 1, to = 2:3, probability = 0.9)))
  errors <- shared_errors(x)
  expect_true(any(tidy(errors, "raters")$change > 0))
  expect_no_match(capture.output(print(errors)), "without")
})

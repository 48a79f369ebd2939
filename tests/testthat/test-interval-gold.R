test_that("intervals of gold with ratings are those of the table", {
  for (row in rule_rows()) {
    interval <- corrected_interval(row$x, "population", 0.9)
    expect_lt(max(abs(three_numbers(interval) - c(row$estimate, row$corrected))), 1e-5)
  }
})

test_that("without predictions the interval is Wilson's", {
  x <- corrected_share(c(1, 1, 1, 1, 0), rep(0.6, 5), summarise_predictions(rep(0.6, 200)))
  interval <- corrected_interval(x, "population", 0.9)
  expect_lt(max(abs(three_numbers(interval) - c(0.8, wilson_interval(0.8, 5, qnorm(0.95))))), 1e-12)
  expect_lt(max(abs(three_numbers(interval) - c(0.8, 0.43529, 0.95404))), 1e-5)
  expect_equal(
    as.vector(wilson_interval(0.8, 5, qnorm(0.95))),
    as.vector(
      suppressWarnings(prop.test(4, 5, conf.level = 0.9, correct = FALSE))$conf.int
    )
  )
})

test_that("where all cases are gold, nothing is open but the population", {
  q <- rep(ten_predictions, 2)
  y <- rep(c(1, 1, 1, 0), 5)
  x <- corrected_share(y, q, summarise_predictions(q))
  expect_equal(three_numbers(corrected_interval(x, "cases", 0.9)), rep(0.75, 3))
  expect_equal(
    three_numbers(corrected_interval(x, "population", 0.9)),
    c(0.75, wilson_interval(0.75, 20, qnorm(0.95)))
  )
})

test_that("one or two gold cases have an interval that is wide", {
  for (y in list(1, 0, c(1, 1), c(0, 1))) {
    x <- corrected_share(y, c(0.9, 0.4)[seq_along(y)], two_hundred())
    interval <- corrected_interval(x, "population", 0.9)
    expect_true(interval$conf.low <= interval$estimate && interval$estimate <= interval$conf.high)
    expect_gt(interval$conf.high - interval$conf.low, 0.5)
    expect_gt(interval$std.error, 0)
  }
})

test_that("more is known of the cases at hand than of the population, and with a lower level", {
  x <- rule_rows()[[1]]$x
  width <- function(...) diff(three_numbers(corrected_interval(x, ...))[2:3])
  expect_lt(width("cases", 0.9), width("population", 0.9))
  expect_lt(width("cases", 0.8), width("cases", 0.9))
})

test_that("clusters widen intervals, and too few have none", {
  x <- rule_rows()[[1]]$x
  alone <- corrected_interval(x, "population", 0.9)
  own <- corrected_interval(adjust_for_clusters(x, seq_len(10)), "population", 0.9) # each case is a cluster
  expect_lt(own$size, alone$size) # t for the normal
  pairs <- corrected_interval(adjust_for_clusters(x, rep(1:5, each = 2)), "population", 0.9)
  expect_lt(pairs$size, own$size)
  few <- adjust_for_clusters(x, c(1, 1, 2, 2, 3, 3, 4, 4, 4, 4))
  few <- corrected_interval(few, "population", 0.9)
  expect_identical(few$conf.low, NA_real_)
  expect_equal(few$estimate, alone$estimate)
  expect_identical(adjust_for_clusters(x, NULL), x)
})

test_that("what clusters have in common is summed within them", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  p <- rep(runif(20, 0.2, 0.9), each = 5)
  y <- rbinom(100, 1, p)
  q <- pmin(pmax(0.3 * y + 0.4 + rnorm(100) / 10, 0), 1)
  x <- corrected_share(y, q, summarise_predictions(q, rep(1e7, 100)))
  v <- x$estimate * (1 - x$estimate)
  t <- rowsum(x$rest, cluster)
  ratio <- sum(t^2) * 20 / 18 / (100 * v) # a mean and a slope are fitted
  expect_gt(ratio, x$ratio)
  expect_equal(
    effective_gold_size(adjust_for_clusters(x, cluster), "population", 0.9),
    100 / ratio * (qnorm(0.95) / qt(0.95, 19))^2,
    tolerance = 1e-6
  )
})

test_that("predictions that err by cluster are not used", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  y <- rep(c(1, 1, 1, 0, 1), 20)
  q <- pmin(pmax(0.7 * y + rep(runif(20, -0.4, 0.6), each = 5), 0), 1)
  x <- corrected_share(y, q, summarise_predictions(q, rep(10, 100)))
  expect_lt(x$ratio, 0.9)
  clustered <- adjust_for_clusters(x, cluster)
  expect_identical(clustered$estimate, 0.8)
  expect_identical(clustered$slope, 0)
})

test_that("clusters of differences have the error of their sums", {
  set.seed(1)
  cluster <- rep(1:20, each = 5)
  for (sign in c(1, -1)) {
    u <- sign * pmax(-1, pmin(1, rep(rnorm(20, 0.2), each = 5) + rnorm(100)))
    x <- corrected_difference(u, rep(0, 100), summarise_predictions(rep(0, 1e7)))
    interval <- difference_interval(adjust_for_clusters(x, cluster, x$variance), "population", 0.9)
    sums <- rowsum(u - mean(u), cluster)
    reach <- qt(0.95, 19) * sqrt(sum(sums^2) * 20 / 19) / 100
    expect_equal(interval$conf.high - interval$estimate, reach, tolerance = 1e-4)
  }
})

test_that("clusters of answers that are all right have an interval", {
  x <- corrected_share(rep(1, 10), ten_predictions, two_hundred())
  interval <- corrected_interval(adjust_for_clusters(x, rep(1:5, 2)), "population", 0.9)
  expect_identical(interval$conf.high, 1)
  expect_gt(interval$conf.low, 0.4)
})

test_that("where gold saw no miss an interval reaches the end, if nothing else speaks against it", {
  x <- corrected_share(rep(1, 20), rep(0.7, 20), summarise_predictions(rep(c(0.5, 0.8), 100)))
  x$estimate <- 0.95
  seen <- replace(x, "seen", 1)
  one_missed <- replace(x, "seen", 19 / 20)
  expect_identical(corrected_interval(seen, "population", 0.9)$conf.high, 1)
  expect_lt(corrected_interval(one_missed, "population", 0.9)$conf.high, 1)
  alone <- list(estimate = 0.96, std.error = 0.02, bias = 0.02)
  expect_identical(combined_interval(seen, alone, "population", 0.9, NULL)$conf.high, 1)
  expect_lt(combined_interval(one_missed, alone, "population", 0.9, NULL)$conf.high, 1)
  ends <- list(conf.low = 0.2, conf.high = 0.9)
  expect_identical(extend_to_boundary(ends, list(seen = 1), can_be_1 = FALSE), ends)
  expect_identical(extend_to_boundary(ends, list(seen = 0)), list(conf.low = 0, conf.high = 0.9))
})

test_that("the interval of a difference is Student's", {
  u <- c(1, 0, 0, -1, 1, 0, 0, 0, 1, 0)
  x <- corrected_difference(u, rep(0, 10), summarise_predictions(rep(0, 100)))
  interval <- difference_interval(x, "population", 0.9)
  expect_equal(
    c(interval$conf.low, interval$conf.high), as.vector(t.test(u, conf.level = 0.9)$conf.int)
  )
  expect_equal(interval$std.error, sd(u) / sqrt(10))
})

test_that("a single gold case says nothing of a difference", {
  x <- corrected_difference(1, 0.4, summarise_predictions(c(0.4, 0, 0, -0.2)))
  interval <- difference_interval(x, "population", 0.9)
  expect_identical(c(interval$conf.low, interval$conf.high), c(-1, 1))
})

test_that("no difference is larger than one", {
  ahead <- summarise_predictions(rep(c(0.2, 1), c(4, 96)))
  x <- corrected_difference(c(1, 1, 1, 1), c(0.2, 0.3, 0.1, 0.2), ahead)
  expect_gt(x$estimate, 1)
  interval <- difference_interval(x, "population", 0.9)
  expect_identical(c(interval$estimate, interval$conf.high), c(1, 1))
})

test_that("combined intervals are those of the table", {
  for (row in rule_rows()) {
    for (target in c("population", "cases")) {
      combined <- combined_interval(row$x, row$alone, target, 0.9)
      expect_lt(max(abs(three_numbers(combined) - row[[target]])), 2e-5)
    }
  }
  alone <- list(estimate = 0.7, std.error = 0.05, bias = 0.03)
  one <- function(y) {
    combined_interval(corrected_share(y, 0.9, two_hundred()), alone, "population", 0.9)
  }
  expect_equal(round(three_numbers(one(1)), 3), c(0.701, 0.618, 0.784))
  expect_equal(round(three_numbers(one(0)), 3), c(0.689, 0.608, 0.776))
})

test_that("the combination is that of numerical integration", {
  for (row in rule_rows()) {
    x <- row$x
    prior <- ratings_prior(
      row$alone, x$gold, row$alone$estimate * (1 - row$alone$estimate), x$cases, 1.25
    )
    size <- effective_gold_size(x, "cases", 0.9)
    for (target in c("population", "cases")) {
      slow <- slow_combination(min(max(x$estimate, 0), 1), size, prior, target, x$cases)
      combined <- combined_interval(x, row$alone, target, 0.9)
      expect_equal(three_numbers(combined), slow, tolerance = 1e-3)
    }
  }
})

test_that("gold weighs more the more there is of it, and all where ratings say nothing", {
  alone <- list(estimate = 0.7, std.error = 0.05, bias = 0.03)
  weight <- vapply(c(1, 2, 4, 8), function(times) {
    x <- corrected_share(
      rep(c(1, 1, 1, 0, 1), 2 * times), rep(ten_predictions, times),
      summarise_predictions(rep(ten_predictions, 200))
    )
    combined_interval(x, alone, "population", 0.9)$weight
  }, 0)
  expect_true(all(weight > 0 & weight < 1) && all(diff(weight) > 0))
  x <- rule_rows()[[1]]$x
  nothing <- list(estimate = NA_real_, std.error = NA_real_, bias = NA_real_)
  combined <- combined_interval(x, nothing, "population", 0.9)
  expect_identical(combined$weight, 1)
  expect_identical(combined[1:4], corrected_interval(x, "population", 0.9)[1:4])
})

# Gold cases that measure `value` as accuracy; their number gives the standard error `error`.
said_by_gold <- function(value, gold, error) {
  variance <- value * (1 - value)
  list(
    estimate = value, alone = value, variance = variance, ratio = error^2 / variance * gold,
    gold = gold, n_labels = gold, cases = rep(1e6, length(value)), design = 1,
    full_design = rep(1, length(value))
  )
}

test_that("ratings alone that are sure and far off do not keep combined intervals from covering", {
  # In the limit gold has a normal error. Ratings without gold are off by up to six standard errors.
  set.seed(1)
  truth <- 0.7
  covered <- function(gold, off, widen) {
    error <- 0.4 / sqrt(gold)
    value <- stats::rnorm(1000, truth, error)
    alone <- list(estimate = truth - off * error, std.error = 0.01, bias = 0.005)
    alone <- lapply(alone, rep, 1000)
    x <- said_by_gold(value, gold + 0 * value, error)
    found <- combined_interval(x, alone, "population", 0.9, widen)
    corrected <- corrected_interval(x, "population", 0.9)
    c(
      covered = mean(found$conf.low <= truth & truth <= found$conf.high),
      width = mean(found$conf.high - found$conf.low) /
        mean(corrected$conf.high - corrected$conf.low)
    )
  }
  for (gold in c(50, 200)) {
    now <- vapply(seq(0, 6, 0.5), function(off) covered(gold, off, NULL), c(covered = 0, width = 0))
    expect_gt(min(now["covered", ]), 0.84) # .86 with flat part, standard error .011
    expect_lt(max(now["width", ]), 1.01)
    expect_lt(now[["width", 1L]], 0.97)
  }
  expect_lt(covered(50, 1.5, 1.25)[["covered"]], 0.75) # by the error without gold
})

test_that("the normal part is widened as far as the worst bias in the limit needs it", {
  s <- 1 / (1 + gold_widening_factor)
  missed <- 0.05 + stats::pnorm(qnorm(0.95) * (sqrt(1 - s) - s), lower.tail = FALSE)
  expect_lt(abs(missed - 0.15), 5e-4)
})

test_that("an interval is the corrected one where gold contradicts ratings", {
  row <- rule_rows()[[2L]] # twenty of twenty right, and ratings say .7
  expect_lt(gold_test(row$x, row$alone)$p.value, 0.1)
  found <- combined_interval(row$x, row$alone, "population", 0.9, NULL)
  expect_identical(found[1:4], corrected_interval(row$x, "population", 0.9)[1:4])
  expect_identical(found$weight, 1)
  # Three gold cases contradict nothing.
  few <- rule_rows()[[3L]]
  expect_lt(combined_interval(few$x, few$alone, "population", 0.9, NULL)$weight, 0.5)
})

test_that("no small difference decides whether ratings have a part", {
  x <- corrected_share(rep(1:0, c(36L, 14L)), rep(0.7, 50), summarise_predictions(rep(c(0.6, 0.8), 300)))
  at <- function(centre) {
    alone <- list(estimate = centre, std.error = 0.04, bias = 0.03)
    found <- combined_interval(x, alone, "population", 0.9, NULL)
    unlist(found[c("estimate", "conf.low", "conf.high", "weight")])
  }
  step <- 1e-4
  moved <- vapply(seq(0.72, 0.99, step), at, numeric(4))
  expect_setequal(moved["weight", ] == 1, c(TRUE, FALSE)) # gold contradicts some of them
  expect_lt(max(abs(diff(t(moved[-4, ])))), 5 * step)
})

test_that("what varies little has narrow intervals, on whatever scale it is", {
  # A logarithmic loss of .5 has a range of 36, of which losses of .5 are a hundredth.
  one <- list(
    estimate = 0.5 / 36, alone = 0.5 / 36, variance = 0.0137, ratio = 0.015, gold = 50,
    n_labels = 50, cases = 600, design = 0.015, full_design = 0.015
  )
  alone <- list(estimate = 0.5 / 36, std.error = 0.07 / 36, bias = 0.06 / 36)
  width <- function(x) x$conf.high - x$conf.low
  corrected <- corrected_interval(one, "population", 0.9)
  expect_lt(width(combined_interval(one, alone, "population", 0.9, NULL)), width(corrected))
  unsure <- replace(alone, c("std.error", "bias"), list(0.5, 0.4))
  expect_lt(width(combined_interval(one, unsure, "population", 0.9, NULL)), 1.1 * width(corrected))
})

test_that("gold cases contradict ratings, or do not", {
  rows <- rule_rows()
  test <- gold_test(rows[[1]]$x, rows[[1]]$alone)
  s <- sqrt(max(0.05^2 - 0.7 * 0.3 / 200, 0.03^2))
  x <- rows[[1]]$x
  z <- (0.7 - 0.6) / sqrt(s^2 + x$variance * x$ratio * (1 - 10 / 200) / 10)
  expect_equal(test$statistic, z)
  expect_equal(test$p.value, 2 * pnorm(-z))
  expect_lt(gold_test(rows[[2]]$x, rows[[2]]$alone)$p.value, 1e-4)
  expect_identical(gold_test(rows[[3]]$x, rows[[3]]$alone)$p.value, NA_real_) # three gold cases
})

test_that("combined differences stay where answers let them be", {
  set.seed(1)
  q <- c(rep(0, 150), runif(50, -1, 1))
  u <- c(rep(0, 150), sign(q[151:200]) * rbinom(50, 1, 0.8))
  at <- sample(200, 40)
  x <- c(corrected_difference(u[at], q[at], summarise_predictions(q)), differ = 0.25, one_right = 0.2,
    all = length(q))
  alone <- list(estimate = 0.05, std.error = 0.06, bias = 0.05)
  corrected <- difference_interval(x, "cases", 0.9)
  combined <- combined_difference_interval(x, alone, "cases", 0.9)
  expect_lt(
    combined$conf.high - combined$conf.low, corrected$conf.high - corrected$conf.low
  )
  far <- combined_difference_interval(
    x, list(estimate = 0.9, std.error = 0.06, bias = 0.05), "cases", 0.9
  )
  expect_lte(far$conf.high, 0.25)
  nothing <- list(estimate = NA_real_, std.error = NA_real_, bias = NA_real_)
  expect_identical(combined_difference_interval(x, nothing, "cases", 0.9)[1:4], corrected[1:4])
})

nothing <- list(estimate = NA_real_, std.error = NA_real_)

test_that("without ratings the interval is that of a mixture of binomials", {
  x <- corrected_share(c(1, 1, 1, 1, 0), rep(0.6, 5), summarise_predictions(rep(0.6, 200)))
  interval <- anytime_interval(x, nothing, "population", 0.9)
  ratio <- function(theta) {
    dbinom(4, 5, theta, log = TRUE) - lchoose(5, 4) - (lbeta(4.5, 1.5) - lbeta(0.5, 0.5))
  }
  for (end in c(interval$conf.low, interval$conf.high)) {
    expect_equal(ratio(end), log(0.1), tolerance = 1e-3)
  }
  expect_equal(interval$estimate, 0.8)
})

test_that("it is wider than an interval for one look, and narrower where ratings are right", {
  row <- rule_rows()[[1]]
  width <- function(x) x$conf.high - x$conf.low
  alone <- anytime_interval(row$x, nothing, "population", 0.9)
  helped <- anytime_interval(row$x, row$alone, "population", 0.9)
  expect_gt(width(alone), width(corrected_interval(row$x, "population", 0.9)))
  expect_lt(width(helped), width(alone))
})

test_that("ends are 0 and 1 where nothing excludes them", {
  all_right <- anytime_interval(rule_rows()[[2]]$x, nothing, "population", 0.9)
  expect_identical(all_right$conf.high, 1)
  none_right <- corrected_share(rep(0, 20), rep(0.5, 20), summarise_predictions(rep(0.5, 100)))
  none_right <- anytime_interval(none_right, nothing, "population", 0.9)
  expect_identical(none_right$conf.low, 0)
  expect_equal(none_right$conf.high, 1 - all_right$conf.low, tolerance = 1e-6)
})

test_that("looking after every case misses no more often than said", {
  skip_unless_nightly()
  set.seed(1)
  missed <- vapply(1:200, function(run) {
    y <- rbinom(60, 1, 0.7)
    of <- summarise_predictions(rep(0.5, 1e4))
    any(vapply(seq(2, 60, 2), function(m) {
      interval <- anytime_interval(
        corrected_share(y[seq_len(m)], rep(0.5, m), of), nothing, "population", 0.9
      )
      interval$conf.low > 0.7 || interval$conf.high < 0.7
    }, NA))
  }, NA)
  expect_lte(mean(missed), 0.1)
})

test_that("differences have a wider interval for many looks, too", {
  set.seed(1)
  u <- sample(c(-1, 0, 1), 60, replace = TRUE, prob = c(0.1, 0.7, 0.2))
  x <- corrected_difference(u, rep(0, 60), summarise_predictions(rep(0, 1000)))
  once <- difference_interval(x, "population", 0.9)
  often <- anytime_difference_interval(x, "population", 0.9)
  expect_lt(often$conf.low, once$conf.low)
  expect_equal(often$estimate - often$conf.low, often$conf.high - often$estimate)
  one <- corrected_difference(1, 0, summarise_predictions(rep(0, 100)))
  expect_identical(
    three_numbers(anytime_difference_interval(one, "population", 0.9))[2:3], c(-1, 1)
  )
})

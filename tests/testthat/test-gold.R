test_that("gold of systems is that of a slow twin, case by case", {
  for (seed in 1:6) {
    panel <- gold_panel(missing = 0.3, m = 15, seed = seed)
    x <- panel$x
    evidence <- gold_evidence(x, panel$gold)
    rated <- is_rated_pattern(x)[x$index]
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

test_that("differences are those of their cases", {
  panel <- gold_panel()
  x <- panel$x
  gold <- panel$gold
  evidence <- gold_evidence(x, gold)
  predicted <- evidence$predicted[x$index, ]
  answer <- x$patterns$answer[x$index, ]
  at <- gold$case
  right <- answer[at, ] == gold$truth
  q <- predicted[cbind(1:300, answer[, 1])] - predicted[cbind(1:300, answer[, 2])]
  slow <- slow_correction(right[, 1] - right[, 2], q, at, kind = "difference")
  difference <- gold_accuracy(evidence, 1, 2)
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
  own <- gold_accuracy(gold_evidence(x, gold), 1, 2)
  right <- answer == x$truth$category
  alone <- mean(differ) * mean(right[chosen, 1] - right[chosen, 2])
  expect_lt(abs(own$estimate - alone), 0.1)
  interval <- difference_interval(own, "population", 0.9)
  expect_true(interval$conf.low < alone && alone < interval$conf.high)
  # All of these known: the cases at hand have no error, the population has that of its cases.
  gold <- read_gold(truth(x)[differ, ], "random", x)
  all <- gold_accuracy(gold_evidence(x, gold), 1, 2)
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
  expect_false(gold_accuracy(evidence, 2)$known)
  expect_false(gold_accuracy(evidence, 1, 2)$known)
  expect_null(gold_of_system(evidence, 2))
  expect_identical(gold_accuracy(evidence, 1), gold_accuracy(gold_evidence(x, panel$gold), 1))
})

test_that("unrated cases count where gold was drawn among them", {
  panel <- gold_panel(missing = 0.6)
  x <- panel$x
  unrated <- which(!is_rated_pattern(x)[x$index])
  expect_gt(length(unrated), 20)
  of <- function(case) {
    gold_accuracy(gold_evidence(x, read_gold(truth(x)[case, ], "random", x)), 1)$cases
  }
  rated <- setdiff(1:300, unrated)
  expect_equal(of(rated[1:20]), length(rated))
  expect_equal(of(c(rated[1:20], unrated[1:2])), 300)
})

test_that("all tables and sentences count unrated cases where gold was drawn among them", {
  x <- gold_panel(missing = 0.6)$x
  unrated <- which(!is_rated_pattern(x)[x$index])
  rated <- setdiff(1:300, unrated)
  for (case in list(rated[1:40], c(rated[1:40], unrated[1:10]))) {
    n <- if (length(case) > 40L) 300 else length(rated)
    estimate <- quiet(estimate_accuracy(x, known_truth = truth(x)[case, ], gold_sample = "random"))
    expect_equal(tidy(estimate)$n, rep(n, length(x$systems)))
    expect_equal(tidy(estimate, "gold_details")$cases, tidy(estimate)$n)
    expect_match(may_say(estimate)$sentence[[1L]], sprintf("On %s cases", n), fixed = TRUE)
    expect_equal(unique(tidy(estimate_metrics(estimate, c("accuracy", "recall")))$n), n)
    expect_equal(tidy(quiet(compare_systems(estimate)))$n, n)
  }
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
  expected <- adjust_for_clusters(own, ward[gold$case])
  expect_identical(clustered[names(expected)], expected)
})

test_that("gold drawn from some cases only does not stand for the others", {
  panel <- gold_panel(seed = 2)
  answer <- panel$x$patterns$answer[panel$x$index, ]
  differ <- which(answer[, 1] != answer[, 2])
  drawn <- sample(differ, 40)
  probability <- replace(rep(0.5, 300), differ, 40 / length(differ))
  gold <- read_gold(truth(panel$x)[drawn, ], probability, panel$x)
  evidence <- gold_evidence(panel$x, gold)
  expect_false(gold_accuracy(evidence, 1)$known)
  expect_null(gold_of_system(evidence, 1))
  own <- gold_accuracy(evidence, 1, 2)
  expect_identical(own$disputed, 40)
  right <- answer[drawn, ] == as.integer(truth(panel$x)$category[drawn])
  expect_equal(own$alone, mean(right[, 1] - right[, 2]) * length(differ) / 300)
})

test_that("the share of shared errors by gold lies between independent and shared", {
  interval <- list(estimate = 0.8, conf.low = 0.75, conf.high = 0.85)
  common <- estimate_common_share(interval, independent = 0.9, shared = 0.7)
  expect_equal(unlist(common), c(common = 0.5, common.low = 0.25, common.high = 0.75))
  expect_identical(estimate_common_share(interval, 0.8, 0.8)$common, NA_real_)
  # No share is outside [0, 1], though the interval may reach beyond.
  beyond <- estimate_common_share(interval, independent = 0.79, shared = 0.74)
  expect_equal(unlist(beyond), c(common = 0, common.low = 0, common.high = 0.8))
  expect_true(all(is.na(unlist(estimate_common_share(interval, independent = 0.7, shared = 0.6)))))
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

test_that("the peer reproduces its published formulas", {
  y <- c(1, 1, 0, 1, 0, 1, 1, 0)
  f <- c(0.9, 0.8, 0.3, 0.7, 0.4, 0.95, 0.6, 0.2)
  fu <- c(0.9, 0.1, 0.5, 0.8, 0.7, 0.3, 0.95, 0.6, 0.4, 0.85, 0.75, 0.2)
  near <- function(object, expected) expect_lt(max(abs(object - expected)), 1e-9)
  near(ppi_mean(y, f, fu), c(0.9032209383, 0.6080646074, 0.4034319628, 0.8126972520))
  near(ppi_mean(y, f, fu, lambda = 1), c(1, 0.60625, 0.4019072366, 0.8105927634))
  near(
    ppi_mean(y, f, fu, w = c(2, 1, 1, 1, 1, 1, 2, 1)),
    c(0.7489996845, 0.6644225150, 0.4323947346, 0.8964502953)
  )
  near(
    ppi_mean(
      c(1, 0, 1, 1, 1, 0, 1, 1, 0, 1), c(1, 0, 1, 0, 1, 1, 1, 1, 0, 1),
      c(1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1)
    ),
    c(0.3625, 0.718125, 0.5035584950, 0.9326915050)
  )
})

test_that("the correction is that of the table", {
  for (row in rule_rows()) {
    expect_lt(abs(row$x$slope - row$slope), 1e-5)
    expect_lt(abs(row$x$ratio - row$ratio), 1e-5)
    expect_lt(abs(row$x$estimate - row$estimate), 1e-5)
  }
})

test_that("the correction is that of a slow twin", {
  set.seed(1)
  for (m in c(1, 2, 3, 10, 40)) {
    for (kind in c("share", "difference")) {
      q <- runif(60) - (kind == "difference") / 2
      at <- sample(60, m)
      y <- if (kind == "share") rbinom(m, 1, q[at]) else sign(q[at]) * rbinom(m, 1, 0.5)
      correct <- if (kind == "share") corrected_share else corrected_difference
      for (w in list(rep(1, m), 1 / runif(m, 0.2, 1))) {
        x <- correct(y, q[at], summarise_predictions(q), w)
        slow <- slow_correction(y, q, at, w, kind)
        fields <- c("estimate", "slope", "ratio", "variance")
        expect_equal(x[fields], slow[fields], tolerance = 1e-10)
        for (target in c("population", "cases")) {
          expect_equal(relative_error_variance(x, target), slow$error[[target]], tolerance = 1e-10)
        }
      }
    }
  }
})

test_that("predictions by pattern are those of their cases", {
  pattern <- c(0.2, 0.5, 0.9)
  number <- c(10, 0, 5)
  expect_equal(summarise_predictions(pattern, number), summarise_predictions(rep(pattern, number)))
})

test_that("cases with the scale of weights multiplied are the same", {
  y <- c(1, 1, 0, 1, 0)
  q <- c(0.9, 0.8, 0.3, 0.7, 0.4)
  expect_equal(
    corrected_share(y, q, two_hundred(), c(1, 2, 3, 2, 1)),
    corrected_share(y, q, two_hundred(), 50 * c(1, 2, 3, 2, 1))
  )
})

test_that("predictions without any use leave gold alone", {
  constant <- corrected_share(c(1, 1, 1, 1, 0), rep(0.6, 5), summarise_predictions(rep(0.6, 200)))
  expect_identical(constant$slope, 0)
  expect_identical(constant$ratio, 1)
  # What points the wrong way does not help, however often it does.
  set.seed(1)
  q <- runif(200)
  wrong <- corrected_share(rbinom(100, 1, 1 - q[1:100]), q[1:100], summarise_predictions(q))
  expect_identical(wrong$slope, 0)
  expect_gt(wrong$ratio, 0.98)
})

test_that("ratings are worth what predictions explain", {
  half <- summarise_predictions(rep(c(0, 1), 50))
  explained <- function(p) expected_explained_share(p, p$mean * (1 - p$mean))
  expect_equal(explained(half), 0.9)
  expect_identical(explained(summarise_predictions(rep(0.4, 10))), 0)
  expect_identical(explained(summarise_predictions(rep(1, 10))), 0)
  worth <- equivalent_labels_with_range(0.4, 0.9)
  expect_equal(worth[["estimate"]], 1 / 0.6)
  expect_equal(worth[["conf.low"]], 1 / (1 - max(0, 0.4 - qnorm(0.95) * 0.2)))
  expect_lte(equivalent_labels_with_range(0.9, 0.9)[["conf.high"]], 20 + 1e-9)
})

test_that("predictions worth nothing save nothing, however unequal the weights", {
  set.seed(1)
  chance <- sample(c(0.005, 0.05), 2000, TRUE, c(0.7, 0.3))
  y <- stats::rbinom(2000, 1, 0.8)
  gold <- which(stats::runif(2000) < chance)
  q <- rep(0.8, 2000)
  x <- corrected_share(y[gold], q[gold], summarise_predictions(q), 1 / chance[gold])
  expect_equal(x$ratio, x$design, tolerance = 1e-12)
})

test_that("intervals from unequal probabilities cover, whatever predictions are worth", {
  set.seed(2)
  covered <- replicate(400, {
    chance <- sample(c(0.005, 0.05), 2000, TRUE, c(0.7, 0.3))
    y <- stats::rbinom(2000, 1, 0.8)
    q <- stats::runif(2000, 0.6, 1)
    gold <- which(stats::runif(2000) < chance)
    x <- corrected_share(y[gold], q[gold], summarise_predictions(q), 1 / chance[gold])
    found <- corrected_interval(x, "population", 0.9)
    found$conf.low <= 0.8 && 0.8 <= found$conf.high
  })
  expect_gt(mean(covered), 0.86) # .74 when prior and weights were on different scales
})

test_that("predictions that vary more than the truth leave a variance", {
  x <- corrected_difference(c(0, 0, 0, 1), rep(0, 4), summarise_predictions(rep(c(-1, 1), 100)))
  expect_gt(x$ratio, 0)
})

test_that("predictions are half the posterior of the raters, half the share of ratings", {
  x <- lehner_ratings()
  predicted <- predict_categories(x)
  alone <- ratings(lehner2015, raters = rater1:rater4, case = case)
  posterior <- as.matrix(ground_truth(quiet(fit_raters(alone, rater_model("rater"))))[-1])
  codes <- as.matrix(lehner2015[paste0("rater", 1:4)])
  shares <- t(apply(codes, 1, function(row) table(factor(row, x$categories)) / 4))
  expect_equal(predicted[x$index, ], (unname(posterior) + unname(shares)) / 2)
})

test_that("neither systems nor gold change predictions", {
  panel <- gold_panel()$x
  others <- panel
  others$patterns$answer[] <- 1L
  expect_identical(predict_categories(panel), predict_categories(others))
})

test_that("predictions need no raters that are told apart, and no fit", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(rowSums(predict_categories(x)), rep(1, nrow(predict_categories(x))))
  apart <- ratings(cbind(a = c("x", "y", NA), b = c("y", "x", NA)), categories = c("x", "y"))
  expect_equal(predict_categories(apart)[apart$index, ], rbind(0.5, 0.5, NA)[, c(1, 1)])
})

test_that("cases without ratings or answers are like the mean", {
  expect_equal(fill_unrated(c(0.2, NA, 0.8), c(3, 10, 1)), c(0.2, 0.35, 0.8))
  expect_equal(fill_unrated(c(NA_real_, NA), c(3, 10)), c(0, 0))
  predicted <- rbind(c(0.1, 0.9), c(0.7, 0.3), c(NA, NA))
  expect_equal(predict_correctness(predicted, c(2L, 0L, 1L)), c(0.9, NA, NA))
})

test_that("covariates that no model uses do not change what gold is held against", {
  set.seed(18)
  x <- quiet(simulate_ratings(rater_design(c(0.7, 0.7, 0.6), 0.8, 3, 120)))
  wide <- stats::reshape(as.data.frame(x), idvar = "case", timevar = "rater", direction = "wide")
  wide$system <- as.data.frame(x, what = "systems")$prediction
  wide$site <- rep(1:2, 60)
  of <- function(...) {
    y <- ratings(wide, case = case, raters = 2:4, systems = system, ...)
    tidy(quiet(estimate_accuracy(y, known_truth = truth(x)[1:30, ], gold_sample = "random")))
  }
  expect_equal(of(covariates = site), of())
})

test_that("few gold cases of large clusters do not hide the differences between clusters", {
  withr::local_seed(101)
  cluster <- rep(1:50, each = 20)
  truth <- sample(c("p", "n"), 1000, TRUE)
  answers_with <- function(p) ifelse(stats::runif(1000) < p, truth, ifelse(truth == "p", "n", "p"))
  skill <- stats::plogis(0.8 + 2.5 * stats::rnorm(50))[cluster]
  data <- data.frame(
    case = 1:1000, r1 = answers_with(0.95), r2 = answers_with(0.95), r3 = answers_with(0.95),
    s = answers_with(skill)
  )
  x <- ratings(data, case = case, raters = r1:r3, systems = s, rater_kind = "crowd")
  known <- stats::setNames(truth, 1:1000)
  error_of <- function(n_gold) {
    tidy(quiet(estimate_accuracy(x, known_truth = known[sample(1000, n_gold)],
      gold_sample = "random", interval = "corrected", resampling = list(cluster = cluster))
    ))$std.error
  }
  # No sample of cases has a smaller error than the truth of all cases of these clusters.
  lowest <- stats::sd(tapply(data$s == truth, cluster, mean)) / sqrt(50)
  expect_equal(error_of(1000), lowest, tolerance = 0.03)
  expect_gt(error_of(300), 0.93 * lowest)
  expect_gt(error_of(100), 0.93 * lowest)
  # The design effect of predictions is that of a mean of clusters, for weighted patterns.
  q <- cbind(c(0.9, 0.2, 0.6), c(0.1, 0.5, 0.5))
  all <- list(
    pattern = c(1, 1, 2, 3, 3, 2), cluster = c(1, 1, 1, 2, 2, 3), weight = c(1, 2, 1, 3, 1, 2)
  )
  weight <- c(tapply(all$weight, all$pattern, sum))
  slow <- apply(q, 2, function(q) {
    deviation <- q[all$pattern] - stats::weighted.mean(q, weight)
    totals <- tapply(all$weight * deviation, all$cluster, sum)
    sum(totals^2) * 3 / 2 / sum(all$weight * deviation^2)
  })
  expect_equal(prediction_design_effect(q, weight, all), slow)
  expect_identical(prediction_design_effect(0 * q, weight, all), c(1, 1))
  expect_identical(prediction_design_effect(q, weight, NULL), 1)
})

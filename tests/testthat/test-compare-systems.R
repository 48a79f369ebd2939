three_systems <- function(n = 100, ...) {
  set.seed(1)
  simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.85, b = 0.8, c = 0.4), 3, n, ...))
}

compared <- function(x, method = "joint", ..., systems = NULL, simultaneous = FALSE) {
  set.seed(2)
  estimate <- quiet(
    estimate_accuracy(x, method, interval = "bootstrap", resampling = list(replicates = 100), ...)
  )
  list(
    estimate = estimate,
    comparison = compare_systems(estimate, systems = systems, simultaneous = simultaneous)
  )
}

test_that("differences are those of estimates, their errors those of paired replicates", {
  x <- three_systems()
  for (method in c("binned", "unbinned", "joint", "shared")) {
    found <- compared(x, method)
    table <- tidy(found$comparison)
    expect_identical(table$system1, c("a", "a", "b"))
    expect_identical(table$system2, c("b", "c", "c"))
    value <- stats::setNames(found$estimate$table$estimate, x$systems)
    expect_equal(table$estimate, unname(value[table$system1] - value[table$system2]))
    apart <- found$estimate$replicates[, table$system1] - found$estimate$replicates[, table$system2]
    expect_equal(table$std.error, unname(apply(apart, 2, stats::sd)))
    expect_equal(table$conf.low, unname(apply(apart, 2, stats::quantile, 0.05)))
    expect_equal(table$probability, unname(colMeans(apart > 0) + colMeans(apart == 0) / 2))
    expect_identical(table$n, rep(100, 3))
  }
})

test_that("ranks are shares of replicates, and equals share them", {
  found <- compared(three_systems())
  ranks <- tidy(found$comparison, "ranks")
  expect_equal(tapply(ranks$probability, ranks$system, sum), c(a = 1, b = 1, c = 1),
    ignore_attr = TRUE)
  expect_equal(tapply(ranks$probability, ranks$rank, sum), rep(1, 3), ignore_attr = TRUE)
  best <- max.col(found$estimate$replicates)
  expect_equal(
    ranks$probability[ranks$rank == 1], unname(tabulate(best, 3) / 100), tolerance = 1e-12
  )
  told <- glance(found$comparison)
  expect_identical(told$best, "a")
  expect_identical(told$probability, ranks$probability[[1]])
  expect_equal(
    rank_table(c("a", "b"), cbind(c(1, 2), c(1, 1)))$probability,
    c(0.75, 0.25, 0.25, 0.75)
  )
})

test_that("pairing makes differences better known than accuracies", {
  found <- compared(three_systems(400), "unbinned")
  table <- tidy(found$comparison)
  error <- stats::setNames(found$estimate$table$std.error, c("a", "b", "c"))
  independent <- sqrt(error[table$system1]^2 + error[table$system2]^2)
  expect_lt(table$std.error[[1]], independent[[1]])
})

test_that("systems are compared on the cases that all of them answered", {
  x <- three_systems()
  answers <- as.data.frame(x, what = "systems")
  wide <- as.data.frame(x)
  build <- function(keep) {
    ratings(wide, case = case, rater = rater, rating = rating, systems = answers[keep, ],
      categories = x$categories)
  }
  partial <- build(answers$system != "b" | answers$case <= 60)
  both <- build(answers$case <= 60)
  for (method in c("binned", "joint", "average")) {
    estimate <- function(x) quiet(estimate_accuracy(x, method, interval = "none"))
    found <- compare_systems(estimate(partial))
    expect_equal(found$accuracy$estimate, estimate(both)$table$estimate, tolerance = 1e-6)
    expect_identical(glance(found)$left_out, 40)
    expect_identical(glance(found)$cases, 60)
    expect_output(print(found), "Left out")
    # Those that answered all are compared on all.
    pair <- compare_systems(estimate(partial), systems = c("c", "a"))
    expect_identical(tidy(pair)$system1, "c")
    expect_identical(tidy(pair)$n, 100)
    value <- estimate(x)$table$estimate
    expect_equal(tidy(pair)$estimate, value[[3]] - value[[1]], tolerance = 1e-6)
  }
  none <- build((answers$system == "a") == (answers$case <= 60))
  expect_snapshot(error = TRUE, compare_systems(quiet(estimate_accuracy(none, "unbinned"))))
  expect_error(
    compare_systems(quiet(estimate_accuracy(none, "unbinned")), systems = c("b", "c")), NA
  )
})

test_that("leaving out systems leaves the others as they were", {
  x <- three_systems()
  found <- compared(x, "unbinned")
  pair <- compared(x, "unbinned", systems = c("a", "c"))
  both <- tidy(found$comparison)
  expect_equal(tidy(pair$comparison)$estimate, both$estimate[[2]])
  expect_lt(abs(tidy(pair$comparison)$std.error / both$std.error[[2]] - 1), 0.35)
})

test_that("simultaneous intervals are wider, and as wide as the worst pair needs", {
  x <- three_systems()
  alone <- tidy(compared(x)$comparison)
  found <- compared(x, simultaneous = TRUE)
  all <- tidy(found$comparison)
  expect_equal(all$estimate, alone$estimate)
  expect_true(all(all$conf.high - all$conf.low > alone$conf.high - alone$conf.low))
  replicates <- found$estimate$replicates
  apart <- replicates[, all$system1] - replicates[, all$system2]
  off <- abs(scale(apart, scale = FALSE))
  half <- all$conf.high - all$estimate
  inside <- colSums(t(off) <= half + 1e-12) == 3
  expect_equal(mean(inside), 0.9, tolerance = 0.02)
})

# Errors that draws have but for their heavy tails.
plain_errors <- function(draws, estimate) {
  centre <- rep(estimate$details$centre, each = nrow(draws))
  (draws - centre) / attr(draws, "times")
}

test_that("averages have the errors of robust intervals, correlated as answers are alike", {
  x <- three_systems(200, dispersion = 2)
  estimate <- quiet(estimate_accuracy(x))
  set.seed(3)
  found <- tidy(compare_systems(estimate))
  sampling <- unname(estimate$details$sampling)
  answers <- as.data.frame(x, what = "systems")
  answers <- split(as.character(answers$prediction), answers$system)
  alike <- sapply(answers, function(a) sapply(answers, function(b) mean(a == b)))
  expect_equal(same_answer_matrix(estimate$fit), alike, ignore_attr = TRUE)
  # Draws have the errors of robust intervals. So have few draws.
  replicates <- matrix(stats::rnorm(300), 100, 3) %*% chol(0.5 + diag(0.5, 3))
  dependence_weight <- c(1, 0.8, 0.6)
  estimate$details$dependence_weight <- dependence_weight
  estimate$details$average_shared <- estimate$table$independent - c(0.2, -0.1, 0)
  raters <- pmax(estimate$details$rater_error / 4, estimate$details$base_rate_range / sqrt(12))
  hidden <- dependence_weight * (0.04^2 + raters^2 + c(0.1, -0.05, 0)^2)
  for (count in c(100, 3)) {
    some <- replicates[seq_len(count), ]
    draws <- plain_errors(robust_draws(estimate, some), estimate)
    expect_equal(apply(draws, 2, stats::sd), sqrt(sampling^2 + hidden))
    expect_equal(
      stats::cov(draws),
      outer(sampling, sampling) * stats::cor(some) + sqrt(outer(hidden, hidden)) * unname(alike)^3
    )
  }
  # With nothing to hide, they have the sampling errors and correlations they were made from.
  estimate$details$dependence_weight <- 0 * dependence_weight
  draws <- plain_errors(robust_draws(estimate, replicates), estimate)
  expect_equal(apply(draws, 2, stats::sd), sampling)
  expect_equal(stats::cor(draws), stats::cor(replicates))
})

test_that("draws of every method have the errors of its robust intervals", {
  skip_unless_nightly()
  set.seed(1)
  design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.8, b = 0.5), 4, 300, difficulty = 0.3)
  x <- simulate_ratings(design)
  differ <- function(estimate) tidy(compare_systems(estimate))$std.error
  for (cases in list(NULL, 1:200, 1:300)) {
    fit <- fit_raters(x, known_truth = if (!is.null(cases)) truth(x)[cases, ])
    for (method in c("average", "joint", "shared")) {
      estimate <- quiet(estimate_accuracy(fit, method, "robust", resampling = list(replicates = 100)))
      error <- tidy(estimate)$std.error
      pairs <- compared_pairs(estimate$table$estimate, estimate$table$system)
      draws <- comparison_draws(estimate, pairs)$blocks[[1]]$draws
      plain <- plain_errors(draws, estimate)
      expect_equal(unname(apply(plain, 2, stats::sd)), error)
      # As it must be, whatever they have in common.
      expect_lt(differ(estimate), sum(error))
    }
  }
  # If all truths are known, there is no hidden error, only sampling error.
  expect_equal(error, tidy(estimate, "details")$sampling)
})

test_that("shares of same answers are of weighted cases that all systems answered", {
  wide <- data.frame(
    a = c("x", "y", "x", "y"), b = c("x", "y", "y", "y"), s = c("x", "x", "x", NA),
    t = c("x", "y", "y", "y"), times = c(3, 1, 2, 5)
  )
  x <- ratings(wide, raters = a:b, systems = s:t, weights = times)
  expect_equal(same_answer_matrix(list(x = x)), matrix(c(1, 0.5, 0.5, 1), 2))
})

test_that("equal systems, single clusters and lost estimates have their reasons", {
  x <- three_systems()
  wide <- as.data.frame(x)
  answers <- as.data.frame(x, what = "systems")
  twin <- answers[answers$system == "a", ]
  twin$system <- "twin"
  x <- ratings(wide, case = case, rater = rater, rating = rating, systems = rbind(answers, twin))
  table <- tidy(compared(x)$comparison)
  same <- table$system1 == "a" & table$system2 == "twin"
  expect_identical(table$estimate[same], 0)
  expect_identical(table$probability[same], 0.5)
  expect_identical(table$conf.low[same], NA_real_)
  expect_match(table$reason[same], "same answers")
  expect_false(anyNA(table$conf.low[!same]))

  table <- tidy(compare_systems(quiet(estimate_accuracy(x, conf_level = 0.8))))
  expect_match(table$reason[same], "same answers")
  expect_false(anyNA(table$conf.low[!same]))

  one <- compare_systems(quiet(estimate_accuracy(x, "joint", resampling = list(cluster = stats::setNames(rep(1, 100), x$cases)))))
  expect_match(tidy(one)$reason[[1]], "^no interval: all rated cases are in one cluster")
  expect_output(print(one), "No interval for a - b")
  expect_identical(glance(one)$best, NA_character_)
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x", t = "y")
  lost <- compare_systems(quiet(estimate_accuracy(ratings(chance, raters = a:b, systems = s:t))))
  expect_match(tidy(lost)$reason, "no estimate for s, t: raters agree no better")
  expect_output(print(lost), "NA for s - t")
  skip_if_not_installed("ggplot2")
  expect_error(ggplot2::autoplot(lost), "nothing to draw", class = "fallible_error_argument")
})

test_that("bad arguments are refused", {
  estimate <- quiet(estimate_accuracy(three_systems(), "unbinned", interval = "none"))
  expect_snapshot(error = TRUE, {
    compare_systems(3)
    compare_systems(estimate, systems = "a")
    compare_systems(estimate, systems = c("a", "z"))
    compare_systems(estimate, systems = c("a", "a"))
    compare_systems(estimate, conf_level = 1)
    compare_systems(estimate, simultaneous = 1)
    compare_systems(estimate, "a", "b")
  })
})

test_that("comparisons print and are drawn", {
  found <- compared(three_systems())$comparison
  expect_snapshot(found)
  expect_identical(as.data.frame(found, what = "ranks"), as.data.frame(tidy(found, "ranks")))
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::layer_data(ggplot2::autoplot(found), 3L)
  expect_setequal(drawn$x, abs(tidy(found)$estimate))
  drawn <- ggplot2::layer_data(ggplot2::autoplot(found, "ranks"), 1L)
  expect_identical(nrow(drawn), 9L)
})

test_that("with a reference, or the best, some of all pairs are compared", {
  x <- three_systems()
  all <- compared(x)
  turned <- put_better_first(tidy(all$comparison))
  set.seed(2)
  best <- compare_systems(all$estimate, best = 1)
  by_best <- turned[turned$system1 == "a", ]
  columns <- c("system2", "estimate", "std.error", "conf.low", "conf.high", "probability", "n")
  expect_equal(tidy(best)[columns], by_best[order(by_best$system2), columns])
  expect_identical(tidy(best, "ranks")$probability, 1)
  set.seed(2)
  reference <- compare_systems(all$estimate, reference = "best")
  expect_identical(tidy(reference)$system1, c("b", "c"))
  expect_equal(tidy(reference)$estimate, -tidy(best)$estimate)
  expect_equal(tidy(reference)$conf.low, -tidy(best)$conf.high)
  expect_identical(nrow(tidy(reference, "ranks")), 0L)
  expect_identical(glance(reference)$best, NA_character_)
  expect_identical(tidy(compare_systems(all$estimate, reference = "c"))$system2, c("c", "c"))
  # Of three systems, all pairs are with one of the two best; these have ranks among themselves.
  set.seed(2)
  two <- compare_systems(all$estimate, best = 2)
  expect_equal(tidy(two)[columns], turned[c(
    which(turned$system1 == "a" & turned$system2 == "b"),
    which(turned$system1 == "a" & turned$system2 == "c"), which(turned$system1 == "b")
  ), columns])
  share <- mean(all$estimate$replicates[, "a"] > all$estimate$replicates[, "b"])
  expect_equal(glance(two)$probability, share, tolerance = 0.02)
  expect_lt(tidy(reference)$conf.high[[1]], tidy(
    compare_systems(all$estimate, reference = "best", simultaneous = TRUE)
  )$conf.high[[1]])
})

test_that("gold measures pairs with a reference, and with the best, as it measures all", {
  x <- three_systems(200)
  estimate <- quiet(estimate_accuracy(x, known_truth = truth(x)[1:80, ], gold_sample = "random"))
  run <- function(...) {
    set.seed(3)
    compare_systems(estimate, ...)
  }
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  all <- tidy(run())
  some <- run(reference = "c")
  with_c <- all[all$system2 == "c", ]
  expect_equal(
    as.list(tidy(some)[columns]), as.list(with_c[match(tidy(some)$system1, with_c$system1), columns])
  )
  expect_output(print(some), "more accurate than c")
  best <- run(best = 1)
  expect_identical(glance(best)$pairs, 2L)
  expect_identical(tidy(best, "ranks")$probability, 1)
  expect_error(run(best = 1, simultaneous = TRUE), "all pairs", class = "fallible_error_argument")
})

# Systems that are right with probabilities from .5 to .9.
many_systems_of <- function(systems, n = 60) {
  set.seed(1)
  truth <- sample(3, n, replace = TRUE)
  guess <- function(knows) ifelse(stats::runif(n) < knows, truth, sample(3, n, replace = TRUE))
  columns <- vapply(c(rep(0.6, 4), seq(0.3, 0.8, length.out = systems)), guess, truth)
  colnames(columns) <- c(paste0("r", 1:4), paste0("s", seq_len(systems)))
  ratings(columns,
    raters = tidyselect::starts_with("r"), systems = tidyselect::starts_with("s"),
    categories = 1:3)
}

test_that("replicates of first order are as the bootstrap's", {
  set.seed(4)
  design <- rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.75, c = 0.5), 3, 300)
  x <- simulate_ratings(design)
  for (model in list(k_model(), rater_model(accuracy = "rater"))) {
    fit <- quiet(fit_raters(x, model, "likelihood"))
    estimator <- make_estimator(fit, method_joint, list())
    setup <- estimator_setup(fit, method_joint, list())
    linear <- structure(c(list(patterns = x$patterns), setup), class = "linear_estimator")
    draw <- resampling(x, list(replicates = 100L, threads = 1L))
    refitted <- compute_replicates(estimator, "accuracy", draw)
    found <- compute_replicates(linear, "accuracy", draw)
    expect_gt(min(diag(stats::cor(found, refitted))), 0.97)
    expect_lt(max(abs(colMeans(found) - compute_estimate(estimator)$numbers$estimate)), 0.01)
    expect_equal(apply(found, 2, stats::sd), apply(refitted, 2, stats::sd), tolerance = 0.1)
    draw$threads <- 2L
    expect_identical(compute_replicates(linear, "accuracy", draw), found)
  }
})

test_that("many systems are compared in blocks, with the errors of few", {
  x <- many_systems_of(104)
  estimate <- quiet(estimate_accuracy(x, "shared", interval = "bootstrap", resampling = list(replicates = 60)))
  pairs <- compared_pairs(
    estimate$table$estimate, x$systems, list(best = 2)
  )
  parts <- draw_blocks(estimate, estimate$replicates, pairs$opponents)
  expect_length(parts, 2)
  expect_setequal(unlist(lapply(parts, `[[`, "systems")), seq_along(x$systems))
  found <- compare_systems(estimate, best = 2)
  table <- tidy(found)
  expect_identical(nrow(table), 2L * 102L + 1L)
  expect_true(all(table$estimate >= 0))
  apart <- estimate$replicates[, table$system1] - estimate$replicates[, table$system2]
  known <- !is.na(table$std.error)
  expect_equal(table$std.error[known], unname(apply(apart, 2, stats::sd))[known])
  expect_equal(sum(tidy(found, "ranks")$probability), 2)
  expect_output(print(found), "the 2 best\\s+of 104 systems.*is better than.*and 185 more")
  expect_output(
    print(compare_systems(estimate, reference = "s7", simultaneous = TRUE)),
    "more accurate than s7 .0[.][0-9]+., [0-9]+ less, [0-9]+ undecided"
  )
  skip_if_not_installed("ggplot2")
  expect_identical(nrow(ggplot2::layer_data(ggplot2::autoplot(found), 3L)), 20L)
})

test_that("bad references and numbers of best systems are refused", {
  estimate <- quiet(estimate_accuracy(three_systems(), "unbinned", interval = "none"))
  expect_snapshot(error = TRUE, {
    compare_systems(estimate, reference = "z")
    compare_systems(estimate, reference = 1)
    compare_systems(estimate, reference = "a", best = 1)
    compare_systems(estimate, best = 4)
    check_reference_and_best(NULL, NULL, character(3000))
  })
  skip_if_not_installed("ggplot2")
  expect_error(
    autoplot(compare_systems(estimate, reference = "a"), "ranks"), "no ranks",
    class = "fallible_error_argument"
  )
})

test_that("a level of confidence is between 0 and 1", {
  estimate <- quiet(estimate_accuracy(three_systems(), "unbinned", interval = "none"))
  refused <- function(...) expect_error(..., "conf_level", class = "fallible_error_argument")
  refused(compare_systems(estimate, conf_level = 0))
  refused(compare_systems(estimate, conf_level = 1))
})

test_that("ratings and fits are taken, with arguments of the estimate", {
  x <- three_systems()
  estimate <- quiet(estimate_accuracy(x, "unbinned", interval = "none"))
  fit <- fit_raters(x)
  set.seed(1)
  expected <- tidy(compare_systems(estimate))
  set.seed(1)
  expect_identical(tidy(compare_systems(x, method = "unbinned", interval = "none")), expected)
  set.seed(1)
  expect_identical(tidy(compare_systems(fit, method = "unbinned", interval = "none")), expected)
  expect_error(compare_systems(estimate, method = "joint"), class = "fallible_error_argument")
})

test_that("the difference of two systems has the same sign in all groups of cases", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(a = 0.6, b = 0.9), n = 80))
  comparison <- quiet(compare_systems(x))
  expect_lt(tidy(comparison)$estimate, 0)
  expect_output(print(comparison), " a - b +-0[.]")
})

test_that("robust intervals add what shared errors could hide", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), 4, 150))
  times <- stats::qnorm(0.95) * stats::qt(0.9, 4) / stats::qt(0.95, 4)
  expected <- function(table, facts, kind) {
    expect_equal(facts$dependence_weight, pmax(0, 1 - 2 * facts$independence_weight))
    # The gap of the average is that of its ends, whatever was taken back of it.
    end <- if (table$method[[1L]] == "average") table$independent else table$estimate
    share <- if (kind == "undeclared") 1 / sqrt(6) else 1 / sqrt(12)
    raters <- pmax(facts$rater_error / 5, share * facts$base_rate_range)
    hidden <- 0.02^2 + raters^2 + ((end - facts$average_shared) / 2)^2
    sqrt(facts$sampling^2 + facts$dependence_weight * hidden)
  }
  for (kind in c("undeclared", "expert", "crowd")) {
    x$rater_kind <- if (kind != "undeclared") kind
    for (method in c("average", "binned", "shared")) {
      estimate <- quiet(estimate_accuracy(x, method, resampling = list(replicates = 40), conf_level = 0.8))
      table <- tidy(estimate)
      error <- expected(table, tidy(estimate, "details"), kind)
      expect_equal(table$std.error, error)
      expect_equal(table$conf.low, pmax(0, table$estimate - times * error))
      expect_equal(table$conf.high, pmin(1, table$estimate + times * error))
    }
  }
  # Both ends are printed for every method.
  ends <- tidy(quiet(estimate_accuracy(x, interval = "none")))[c("shared", "independent")]
  found <- tidy(quiet(estimate_accuracy(x, "binned", resampling = list(replicates = 40))))
  expect_identical(found[c("shared", "independent")], ends)
})

# Inputs and results of the rule as it was published.
# nolint start: line_length.
typical_oracles <- utils::read.table(header = TRUE, text = "
  indep shared s   E   samp N  p   kappa q   v    kind     o   c        R        low      high     est      sd       from     to
  .86   .80   1   .15 .02  2  .60 .50  .55 .15  people     1   1        .1358899 .4285714 .75      .8       .0666246 .6904123 .9095877
  .86   .80   1   .15 .02  2  .60 .50  .55 .15  undeclared 1   1        .1358899 .4285714 .75      .8       .0666246 .6904123 .9095877
  .86   .80   1   .15 .02  2  .60 .50  .55 .15  machines   1   1        .1358899 .4285714 .75      .8       .1711724 .4434464 1
  .67   .55   1   .33 .015 16 .10 .43  .09 .03  undeclared 1   .2581989 .0714100 .0455992 .2053388 .6390161 .1105950 .4571036 .8209287
  1     1     1   .28 .01  2  .80 0    1   0    undeclared 1   1        1        0        1        1        .2916048 .5203529 1
  .97   .96   1   .05 .004 2  .90 .12  .95 .012 undeclared 1   1        .3953473 .5192308 .9868421 .96      .1211031 .7608031 1
  .74   .70   0   .30 .03  5  .28 .20  .30 .05  people     1   0        .1797580 .0721649 .6603774 .74      .03      .6906544 .7893456
  .82   .70   .6  .25 .03  3  .45 .40  .40 .09  people     .75 .4242641 .0746565 .2465753 .6716418 .7690883 .0630346 .6654056 .8727710
")
# nolint end

test_that("core and twin give the published oracles of the typical interval", {
  worst <- vapply(seq_len(nrow(typical_oracles)), function(i) {
    of <- typical_oracles[i, ]
    lean <- reference_accuracies(of$p, of$kappa, of$q, of$v)
    twin <- reference_typical(
      of$indep, of$shared, of$s, of$E, of$samp, of$N, lean$range, of$kind, of$o
    )
    core <- core_robust_error(
      twin$est, of$samp, of$indep - of$shared, of$s, of$E, lean$range, of$o, of$kind
    )
    said <- of[c("c", "R", "low", "high", "est", "sd", "from", "to")]
    ends <- pmin(pmax(core$centre + c(-1, 1) * robust_quantile(list(), 0.9) * core$std.error, 0), 1)
    max(
      abs(unlist(said) - c(twin$c, lean$range, lean$low, lean$high, twin$est, twin$sd, twin$from,
        twin$to)),
      abs(c(core$std.error, ends) - unlist(of[c("sd", "from", "to")]))
    )
  }, 0)
  expect_lt(max(worst), 1e-6)
})

test_that("levels have the multiples of a law with heavy tails, if nothing is stated", {
  times <- vapply(c(0.5, 0.8, 0.9, 0.95, 0.99), robust_quantile, 0, options = list())
  expect_equal(times, c(0.5714943, 1.1829649, 1.6448536, 2.1422017, 3.5523482), tolerance = 1e-6)
  expect_equal(robust_quantile(list(common = "none"), 0.99), stats::qnorm(0.995))
  normal <- stats::qnorm((1:2e4 - 0.5) / 2e4)[sample(2e4)]
  found <- stats::quantile(normal * heavy_tail_factors(2e4), 0.95, names = FALSE)
  expect_equal(found, stats::qnorm(0.95), tolerance = 0.05)
})

test_that("the range over possible base rates is that of the published panel, and of its twin", {
  wide <- lean_panel()
  x <- quiet(ratings(wide, raters = rater1:rater3, systems = system))
  range_of <- function(x) tidy(quiet(estimate_accuracy(x)), "details")$base_rate_range
  expect_equal(range_of(x), 0.3394097, tolerance = 1e-6)
  # Weights are counts, raters who were left out do not count, and ties take the largest range.
  expect_equal(
    range_of(quiet(ratings(cbind(wide, w = 3), raters = rater1:rater3, systems = system,
      weights = w))), range_of(x)
  )
  expect_over(1:10, function(seed) {
    set.seed(seed)
    panel <- quiet(simulate_ratings(rater_design(
      c(0.6, 0.7, 0.7), c(a = 0.8), 2 + seed %% 3, 60, missing = 0.2
    )))
    at <- as.data.frame(panel)
    answer <- as.data.frame(panel, what = "systems")
    m <- tabulate(match(at$case, panel$cases), 60)
    tied <- names(which(table(at$rating) == max(table(at$rating))))
    slow <- vapply(tied, function(k) {
      said <- tabulate(match(at$case[at$rating == k], panel$cases), 60)
      lean <- reference_lean(said, m)
      seen <- m > 0
      share <- (said / m)[seen]
      gives <- (answer$prediction[match(panel$cases, answer$case)] == k)[seen]
      reference_accuracies(
        lean$p, lean$kappa, mean(gives), mean(gives * share) - mean(gives) * mean(share)
      )$range
    }, 0)
    abs(base_rate_ranges(panel) - max(slow))
  }, 1e-8)
})

test_that("what is said of a panel does not depend on the systems that were added", {
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.9, b = 0.4), 3, 200))
  both <- tidy(quiet(estimate_accuracy(x)), "details")
  one <- tidy(quiet(estimate_accuracy(x, systems = "b")), "details")
  shared <- c("independence_weight", "dependence_weight")
  expect_equal(both[2L, shared], one[shared])
  expect_equal(both[1L, shared], one[shared])
})

test_that("what has no sampling error has no robust interval", {
  exact <- exact_ratings(rep(0.6, 3), 0.9)
  for (method in c("average", "binned", "joint")) {
    estimate <- quiet(estimate_accuracy(exact, method))
    table <- tidy(estimate)
    expect_false(is.na(table$estimate))
    expect_identical(c(table$conf.low, table$std.error), rep(NA_real_, 2))
    expect_identical(tidy(estimate, "details")$sampling, NA_real_)
    expect_match(table$reason, "weights are not counts")
  }
})

test_that("where truth is known shared errors have nothing to hide", {
  set.seed(1)
  design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), 4, 150, difficulty = 0.3)
  x <- simulate_ratings(design)
  for (cases in list(1:30, 1:150)) {
    fit <- fit_raters(x, known_truth = truth(x)[cases, ])
    estimate <- quiet(estimate_accuracy(fit, "average"))
    table <- tidy(estimate)
    facts <- tidy(estimate, "details")
    expect_gt(max(facts$dependence_weight), 0)
    open <- 1 - length(cases) / 150
    gap <- table$independent - table$shared
    raters <- pmax(facts$rater_error / 4, facts$base_rate_range / sqrt(12))
    hidden <- open^2 * facts$dependence_weight * (0.04^2 + raters^2 + (gap / 2)^2)
    expect_equal(table$std.error, sqrt(facts$sampling^2 + hidden))
  }
  # Nor does anything rest on an assumption.
  expect_length(find_doubtful_systems(estimate)$assumption, 0L)
})

test_that("the centre takes back of independence what N categories leave unseen", {
  for (N in c(2, 3, 5)) {
    set.seed(N)
    x <- simulate_ratings(rater_design(c(0.65, 0.7, 0.8), 0.9, N, 300, difficulty = 0.3))
    estimate <- quiet(estimate_accuracy(x))
    table <- tidy(estimate)
    facts <- tidy(estimate, "details")
    dependence_weight <- facts$dependence_weight
    expect_gt(dependence_weight * abs(table$independent - table$shared), 0.001)
    back <- dependence_weight / sqrt(N - 1)
    expect_equal(table$estimate, table$independent - back * (table$independent - table$shared))
    if (table$conf.high < 1) expect_equal((table$conf.low + table$conf.high) / 2, table$estimate)
  }
})

test_that("machines as raters have the interval of their kind around the same estimate", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.75, 0.8, 0.85), 0.8, 2, 400))
  plain <- tidy(quiet(estimate_accuracy(x)))
  for (kind in c("model", "tool")) {
    x$rater_kind <- kind
    found <- quiet(estimate_accuracy(x))
    table <- tidy(found)
    facts <- tidy(found, "details")
    expect_identical(table$estimate, plain$estimate)
    expect_equal(facts$centre, (table$estimate + 0.65) / 2)
    expect_equal(table$std.error, sqrt(facts$sampling^2 + 0.17^2))
    expect_equal(table$conf.high, min(1, facts$centre + stats::qnorm(0.95) * table$std.error))
  }
  # Known truths leave less to hide, and to draw to the middle.
  known <- fit_raters(x, known_truth = truth(x)[1:100, ])
  part <- quiet(estimate_accuracy(known, "average"))
  facts <- tidy(part, "details")
  expect_equal(facts$centre, tidy(part)$estimate + 0.75 * (0.65 - tidy(part)$estimate) / 2)
  expect_equal(tidy(part)$std.error, sqrt(facts$sampling^2 + (0.75 * 0.17)^2))
  # Other methods have been compared with no truth where machines rate: no centre but theirs.
  binned <- quiet(estimate_accuracy(x, "binned", resampling = list(replicates = 40)))
  expect_identical(tidy(binned, "details")$centre, tidy(binned)$estimate)
  # Results under a given assumption do not depend on the kind of raters.
  stated <- tidy(quiet(estimate_accuracy(x, common = "none")))
  x$rater_kind <- NULL
  expect_identical(stated, tidy(quiet(estimate_accuracy(x, common = "none"))))
})

test_that("differences, metrics and gold of machines have the interval's centre", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.75, 0.8, 0.85), c(a = 0.9, b = 0.7), 2, 400))
  x$rater_kind <- "model"
  estimate <- quiet(estimate_accuracy(x))
  table <- tidy(estimate)
  facts <- tidy(estimate, "details")
  pair <- tidy(quiet(compare_systems(estimate)))
  apart <- facts$centre[[1L]] - facts$centre[[2L]]
  expect_equal(pair$estimate, table$estimate[[1L]] - table$estimate[[2L]])
  expect_equal(apart, pair$estimate / 2)
  expect_equal((pair$conf.low + pair$conf.high) / 2, apart, tolerance = 0.1)
  hidden <- 0.17 *
    sqrt(2 * (1 - same_answer_matrix(estimate$fit)[1, 2]^hidden_correlation_exponent))
  expect_gt(pair$std.error, hidden)
  expect_lt(pair$std.error, sqrt(hidden^2 + sum(facts$sampling^2)))
  rows <- tidy(estimate_metrics(estimate, c("accuracy", "recall")))
  own <- rows[rows$metric == "accuracy", ]
  expect_equal(own$conf.low, table$conf.low)
  other <- tidy(estimate_metrics(estimate, "accuracy", conf_level = 0.5))
  expect_equal(other$conf.low, facts$centre - robust_quantile(list(), 0.5) * table$std.error)
  expect_equal(estimates_from_ratings(estimate, 1L), list(
    estimate = facts$centre[[1L]], std.error = table$std.error[[1L]], bias = 0.17
  ))
  gold <- quiet(estimate_accuracy(x, known_truth = truth(x)[1:20, ], gold_sample = "random"))
  expect_identical(glance(gold)$interval, "combined")
  alone <- tidy(gold, "gold")
  alone <- alone[alone$interval == "ratings alone", ]
  expect_equal(alone$estimate, table$estimate)
})

# The number, its interval and the truth of a panel that looks sure.
sure_of <- function(which, seed, kind = NULL) {
  set.seed(seed)
  panel <- sure_panel(which)
  panel$x$rater_kind <- kind
  caught <- new.env()
  estimate <- withCallingHandlers(estimate_accuracy(panel$x), fallible_warning = function(w) {
    if (inherits(w, "fallible_warning_assumption")) caught$said <- conditionMessage(w)
    rlang::cnd_muffle(w)
  })
  table <- tidy(estimate)
  list(
    table = table, warned = caught$said,
    said = paste(capture.output(print(estimate)), collapse = " "),
    covered = table$conf.low <= panel$truth && panel$truth <= table$conf.high
  )
}

test_that("agreement at kappa 0 is worth nothing, and is said to be", {
  # Before, in these panels: 1.00 [.99, 1], truth .53, and .50 [.46, .54], truth .77.
  for (which in c("yes", "zero")) {
    found <- sure_of(which, 2)
    expect_true(found$covered)
    expect_gt(found$table$conf.high - found$table$conf.low, 0.45)
    expect_match(found$warned, "no better than by chance")
    expect_match(found$table$reason, "carries no information")
  }
  expect_equal(sure_of("yes", 2)$table$conf.low, 0.518, tolerance = 0.005)
  # By chance kappa is a little above 0 in other panels, and models may fit well. A test shows that
  # the agreement may be chance. Before: 1.00 [.99, 1].
  silent <- sure_of("yes", 1)
  expect_equal(silent$table$conf.low, 0.52, tolerance = 0.02)
  expect_match(silent$said, "Fleiss' kappa 0.02.*Weak agreement")
  expect_match(silent$warned, "the agreement of raters may be chance")
  # Of 40 such panels 39 have a warning. Intervals cover 11 (of machines 2), since they end at .52
  # (.54) for an estimate of 1. Where the estimate is .5, they cover 39 and all.
  told <- sure_of("yes", 1, "tool")
  expect_equal(told$table$conf.low, 0.544, tolerance = 0.005)
  expect_match(told$warned, "raters are programs")
  expect_true(sure_of("zero", 1, "tool")$covered)
  expect_true(sure_of("zero", 1)$covered)
})

# Is agreement no larger than by chance, at level .05? Compares each pair of ratings of a case.
reference_chance <- function(panel) {
  long <- as.data.frame(panel)
  share <- prop.table(table(long$rating))
  equal <- unlist(lapply(split(as.character(long$rating), long$case), function(ratings) {
    if (length(ratings) > 1L) utils::combn(ratings, 2L, function(pair) pair[[1L]] == pair[[2L]])
  }))
  # Covariance matrix of the indicators of the categories of a rating.
  covariance <- diag(as.vector(share)) - outer(as.vector(share), as.vector(share))
  (mean(equal) - sum(share^2)) / sqrt(sum(covariance^2) / length(equal)) < stats::qnorm(0.95)
}

test_that("whether agreement may be chance is decided by all pairs of ratings", {
  panels <- lapply(1:24, function(seed) {
    set.seed(seed)
    n_categories <- 2L + seed %% 3L
    quiet(simulate_ratings(rater_design(
      rep(1 / n_categories + 0.04 * (seed %% 5L), 4), c(a = 0.8), n_categories, 50, missing = 0.2
    )))
  })
  expected <- vapply(panels, reference_chance, NA)
  expect_true(any(expected) && !all(expected))
  expect_identical(vapply(panels, function(x) find_leading_categories(x)$chance[[1L]], NA), expected)
})

test_that("intervals are wide if agreement may be chance, for all verbs", {
  set.seed(8)
  n <- 400
  answer_by_chance <- function(...) sample(c("a", "b"), n, TRUE, c(0.4, 0.6))
  truth <- answer_by_chance()
  raters <- vapply(1:5, answer_by_chance, truth)
  colnames(raters) <- paste0("r", 1:5)
  data <- data.frame(raters, group = rep(c("x", "y"), each = n / 2),
    system = ifelse(runif(n) < 0.75, truth, ifelse(truth == "a", "b", "a")))
  x <- quiet(ratings(data, raters = r1:r5, systems = system, covariates = group))
  width <- function(result) {
    table <- tidy(quiet(result))
    min(table$conf.high - table$conf.low)
  }
  expect_gt(glance(quiet(estimate_accuracy(x)))$kappa, 0)
  estimate <- quiet(estimate_accuracy(x))
  expect_gt(width(estimate), 0.8)
  expect_gt(width(estimate_accuracy(x, by = "group")), 0.8)
  expect_gt(width(estimate_accuracy(x, method = "joint")), 0.8)
  expect_gt(width(estimate_metrics(estimate, "recall")), 0.4)
  # Without the test, the models that fit have no shared errors, and nothing is added.
  expect_lt(tidy(estimate, "details")$dependence_weight, 0.5)
  expect_lt(width(estimate_accuracy(x, common = "none")), 0.2)
})

test_that("one-sided judges are still believed, with a warning that says why", {
  found <- sure_of("sided", 1) # before: .94 [.90, .97], truth .53
  expect_false(found$covered)
  expect_lt(found$table$conf.low, 0.83)
  expect_match(found$said, "Weak agreement")
  # Of 40 such panels 15 have a warning.
  expect_match(sure_of("sided", 5)$warned, "compatible with many base rates")
  # Declared people have the same numbers. Intervals of machines cover 6 of 40, the others none.
  expect_identical(sure_of("sided", 1, "crowd")$table, found$table)
  expect_true(sure_of("sided", 1, "tool")$covered)
})

test_that("near-copies are still believed, with a note, unless their kind is said", {
  found <- sure_of("copies", 1) # before: .99 [.98, 1], truth .58
  expect_false(found$covered)
  expect_match(found$said, "raters agree in more than 95%")
  told <- sure_of("copies", 1, "tool")
  expect_true(told$covered)
  expect_identical(told$table$estimate, found$table$estimate)
  expect_match(told$warned, "agreement is little evidence")
  expect_match(told$said, "20 random cases with\\s+known truth would replace it")
  expect_no_match(told$said, "raters agree in more than 95%")
})

test_that("warnings name the largest part of what may be hidden", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.65, 0.7, 0.8), c(a = 0.9, b = 0.5), 2, 300,
    difficulty = 0.3))
  estimate <- quiet(estimate_accuracy(x))
  cause <- function(...) {
    parts <- c(...)
    estimate$details[names(parts)] <- as.list(parts)
    estimate$table$independent <- estimate$details$average_shared + parts[["gap"]]
    causes_of_doubt(estimate)[[1L]]
  }
  none <- c(base_rate_range = 0, rater_error = 0, gap = 0)
  expect_match(cause(replace(none, 1, 0.5)), "compatible with many base rates")
  expect_match(cause(replace(none, 2, 0.5)), "often wrong")
  expect_match(cause(replace(none, 3, 0.5)), "it may be 0.74 to 1.24")
})

test_that("prints of machines say what agreement is worth, in one line", {
  local_reproducible_output(width = 80)
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.75, 0.8, 0.85), c(a = 0.8), 2, 400), rater_kind = "model")
  expect_snapshot(print(estimate_accuracy(x)))
  x$rater_kind <- "expert"
  expect_snapshot(print(estimate_accuracy(x)))
  leaning <- sure_panel("sided")$x
  expect_snapshot(print(estimate_accuracy(leaning)))
})

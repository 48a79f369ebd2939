test_that("metrics are those of cases counted by their posterior probabilities", {
  x <- metric_panel()
  for (method in c("joint", "shared", "average")) {
    estimate <- quiet(estimate_accuracy(x, method, interval = "none"))
    found <- estimate_metrics(estimate, c("recall", "precision", "mcc"), average = NULL)
    for (system in x$systems) {
      weighted <- augment(found)
      weighted <- weighted[weighted$system == system, ]
      counts <- tapply(weighted$weight, weighted[c("truth", "prediction")], sum)
      own <- tidy(found)[tidy(found)$system == system, ]
      expect_equal(own$estimate[own$metric == "recall"], diag(counts) / rowSums(counts),
        ignore_attr = TRUE)
      expect_equal(own$estimate[own$metric == "precision"], diag(counts) / colSums(counts),
        ignore_attr = TRUE)
      expect_equal(own$estimate[own$metric == "mcc"], slow_table_metric("mcc", counts))
    }
  }
})

test_that("confusion() and metrics give one value one interval, whatever the seed", {
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  for (interval in c("robust", "bootstrap", "none")) {
    estimate <- quiet(estimate_accuracy(metric_panel(), "joint", interval = interval,
      resampling = list(replicates = 50)))
    matrices <- confusion(estimate)
    expect_identical(glance(matrices)$interval, interval)
    rates <- tidy(matrices, "categories")
    found <- tidy(estimate_metrics(estimate, c("recall", "precision"), average = NULL))
    expect_identical(as.list(found[c(columns, "reason")]), as.list(rates[c(columns, "reason")]))
    cells <- tidy(matrices)
    expect_equal(
      as.list(cells[cells$truth == cells$prediction, columns]),
      as.list(rates[rates$measure == "recall", columns]), tolerance = 1e-6
    )
    expect_identical(anyNA(rates$conf.low), interval == "none")
  }
  average <- quiet(estimate_accuracy(metric_panel()))
  of <- function(seed) withr::with_seed(seed, tidy(confusion(average, conf_level = 0.8)))
  expect_identical(of(1), of(2))
})

test_that("accuracy is that of the estimate, for every interval", {
  x <- metric_panel(80)
  for (interval in c("robust", "bootstrap", "none", "profile")) {
    method <- if (interval == "profile") "joint"
    estimate <- quiet(
      estimate_accuracy(x, method, interval = interval, resampling = list(replicates = 30))
    )
    found <- tidy(estimate_metrics(estimate, c("accuracy", "f_meas")))
    columns <- c("system", "estimate", "std.error", "conf.low", "conf.high", "n", "method")
    expect_identical(
      as.list(found[found$metric == "accuracy", columns]), as.list(tidy(estimate)[columns])
    )
    rest <- found[found$metric != "accuracy", ]
    expect_false(anyNA(rest$estimate))
    derived <- interval %in% c("robust", "bootstrap")
    expect_identical(unique(is.na(rest$conf.low)), !derived)
    if (interval == "profile") expect_match(rest$reason, "^no interval: .* accuracy only$")
    if (derived) expect_true(all(rest$conf.low <= rest$estimate & rest$estimate <= rest$conf.high))
  }
  other <- quiet(estimate_accuracy(x, interval = "none"))
  found <- tidy(estimate_metrics(other, c("accuracy", "recall"), interval = "bootstrap"))
  expect_false(anyNA(found$conf.low))
})

test_that("the delta method gives accuracy the error that it has", {
  x <- metric_panel(300)
  for (model in list(NULL, dawid_skene("weak"))) {
    estimate <- quiet(if (is.null(model)) {
      estimate_accuracy(x)
    } else {
      estimate_accuracy(x, "joint", model, interval = "robust", resampling = list(replicates = 50))
    })
    for (s in 1:2) {
      plan <- metric_plan(built_in_metrics["accuracy"], x$categories, NULL, list())
      counts <- confusion_counts(estimate)[[s]]
      draws <- confusion_draws(estimate)
      found <- add_delta_intervals(
        point_rows(estimate, plan, counts, s), estimate, plan, counts, draws, s, 0.9
      )
      own <- draws$values[, (s - 1L) * 9L + 1:9]
      seen <- stats::sd(rowSums(own[, c(1, 5, 9)]) / rowSums(own))
      expect_equal(found$sampling, max(seen, estimate$details$sampling[[s]]), tolerance = 1e-6)
      expect_equal(found$hidden, hidden_error(estimate)[[s]],
        tolerance = 0.02)
    }
  }
})

test_that("standard errors of the delta method are those of replicates", {
  x <- metric_panel(400)
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "robust", common = "none",
    resampling = list(replicates = 300)))
  ids <- c("recall", "precision", "f_meas", "bal_accuracy", "mcc", "kap")
  set.seed(1)
  slow <- tidy(estimate_metrics(estimate, ids, interval = "bootstrap"))
  set.seed(1)
  fast <- tidy(estimate_metrics(estimate, ids))
  # A given share of shared errors leaves no hidden error, only sampling error.
  ratio <- fast$std.error / slow$std.error
  expect_true(all(ratio > 0.85 & ratio < 1.18))
})

test_that("an interval contains the intervals with lower confidence levels", {
  plan <- metric_plan(built_in_metrics["accuracy"], c("a", "b"), NULL, list())
  rows <- expand.grid(
    estimate = c(0, 0.01, 0.2, 0.5, 0.97, 1), std.error = c(0.001, 0.03, 0.1, 0.2, 0.3, 0.5),
    cases = c(1, 3, 10, 1000)
  )
  rows[c("conf.low", "conf.high")] <- NA_real_
  ranges <- ranges_of_plan(plan)[rep(1L, nrow(rows)), , drop = FALSE]
  narrower <- add_interval_limits(rows, ranges, 0.1)
  for (z in c(0.5, 1, 1.28, 1.64, 1.96, 2.58, 5)) {
    wider <- add_interval_limits(rows, ranges, z)
    expect_true(all(wider$conf.low <= narrower$conf.low & wider$conf.high >= narrower$conf.high))
    narrower <- wider
  }
})

test_that("what is hidden near an end of the scale is as wide there as elsewhere", {
  plan <- metric_plan(built_in_metrics["accuracy"], c("a", "b"), NULL, list())
  found <- data.frame(estimate = 0.997, std.error = sqrt(0.001^2 + 0.04^2), hidden = 0.04)
  found[c("conf.low", "conf.high", "cases")] <- list(NA_real_, NA_real_, 1000)
  of <- add_interval_limits(found, ranges_of_plan(plan), 1.645)
  expect_equal(of$conf.low, 0.997 - 1.645 * 0.04, tolerance = 1e-3)
  expect_identical(of$conf.high, 1)
  # Of a small error Wilson's lower end is further off, and the upper one is not.
  found$std.error <- 0.01
  of <- add_interval_limits(found, ranges_of_plan(plan), 1.645)
  share <- (997 + 0.5) / 1001
  wilson <- wilson_interval(0.997, share * (1 - share) / 0.01^2, 1.645)
  expect_equal(of$conf.low, wilson[[1L]])
  expect_identical(of$conf.high, 1)
  # The error of sampling 1000 cases has the interval of Wilson of these.
  found$std.error <- sqrt(share * (1 - share) / 1000)
  of <- add_interval_limits(found, ranges_of_plan(plan), 1.645)
  expect_equal(c(of$conf.low, of$conf.high), drop(wilson_interval(0.997, 1000, 1.645)))
  # Away from the ends: Wilson's interval of the cases, and the rest of the error.
  found[c("estimate", "std.error", "cases")] <- list(0.8, 0.05, 100)
  share <- (80 + 0.5) / 101
  rest <- 1.645 * sqrt(0.05^2 - share * (1 - share) / 100)
  wilson <- drop(wilson_interval(0.8, 100, 1.645))
  whole <- drop(wilson_interval(0.8, share * (1 - share) / 0.05^2, 1.645))
  expect_equal(
    unlist(add_interval_limits(found, ranges_of_plan(plan), 1.645)[c("conf.low", "conf.high")],
      use.names = FALSE),
    c(
      min(0.8 - sqrt((0.8 - wilson[1])^2 + rest^2), whole[1]),
      max(0.8 + sqrt((wilson[2] - 0.8)^2 + rest^2), whole[2])
    )
  )
  steep <- add_standard_errors(
    data.frame(n = 1000, estimate = 0.6, sampling = 0.1, hidden = 3), 30, cbind(0, 1)
  )
  expect_identical(c(steep$hidden, steep$std.error), c(0.5, 0.5))
})

test_that("what raters hide of a precision goes with their errors on cases with the answer", {
  estimate <- quiet(estimate_accuracy(metric_panel(300)))
  plan <- metric_plan(built_in_metrics[c("accuracy", "precision")], LETTERS[1:3], NULL, list())
  estimate$end_counts <- NULL # the line between the ends
  estimate$details$dependence_weight <- c(1, 1)
  table <- as_shares(matrix(confusion_counts(estimate)[[1]], 1L), 3L)[1L, ]
  slopes <- metric_slopes(plan, table)
  found <- hidden_errors(estimate, table, 1L, slopes)
  share <- colSums(matrix(table, 3L, byrow = TRUE))
  own <- hidden_error_of_system(estimate, 1L, rater_error = wrong_share_by_answer(estimate, 1L)) /
    found[[1L]]
  expected <- sqrt(1 + (cell_bias_ratio^2 - 1) * sapply(1:3, function(j) {
    own[[j]]^2 * (1 - share[[j]])^2 + sum((own * share)[-j]^2)
  }))
  expect_equal(found[-1L] / found[[1L]], expected, tolerance = 1e-5)
  expect_gt(found[[1L]], 0)
})

test_that("what may hide among the cases with an answer goes by ratings wrong on them", {
  x <- metric_panel(200, base_rates = c(0.9, 0.07, 0.03))
  estimate <- quiet(estimate_accuracy(x))
  pattern <- x$patterns
  slow <- sapply(seq_along(x$categories), function(k) {
    wrong <- all <- 0
    for (i in x$index[pattern$answer[x$index, 2L] == k]) {
      given <- pattern$category[pattern$start[[i]] + seq_len(diff(pattern$start)[[i]])]
      wrong <- wrong + sum(1 - estimate$posterior[[2L]][i, given])
      all <- all + length(given)
    }
    wrong / all
  })
  expect_equal(wrong_share_by_answer(estimate, 2L), slow)
})

test_that("an interval of a share in which no error was seen is Wilson's, not a point", {
  truth <- rep(c("a", "b"), c(60, 20))
  answer <- replace(truth, 1:7, "b") # no b is taken for a
  x <- ratings(data.frame(r1 = truth, r2 = rev(truth), r3 = truth, s = answer),
    raters = c("r1", "r2", "r3"), systems = "s")
  known <- stats::setNames(truth, x$cases)
  estimate <- quiet(estimate_accuracy(x, known_truth = known, gold_sample = "given"))
  found <- tidy(quiet(estimate_metrics(estimate, c("precision", "recall"), average = NULL)))
  found <- found[paste(found$metric, found$category) %in% c("precision a", "recall b"), ]
  expect_identical(found$estimate, c(1, 1))
  expect_equal(found$conf.low, sapply(c(53, 20), wilson_interval, share = 1, z = qnorm(0.95))[1L, ])
  expect_identical(found$conf.high, c(1, 1))
  expect_true(all(found$std.error > 0))
})

test_that("groups and clusters are those of the estimate", {
  x <- metric_panel(200)
  by <- rep(c("u", "v"), each = 100)
  ids <- c("accuracy", "precision")
  groups <- quiet(estimate_metrics(x, ids, by = by))
  alone <- quiet(estimate_metrics(x[101:200, ], ids))
  expect_identical(unique(tidy(groups)$group), c("u", "v"))
  expect_equal(tidy(groups)$estimate[tidy(groups)$group == "v"], tidy(alone)$estimate)
  expect_equal(
    tidy(quiet(estimate_metrics(estimate_accuracy(x, by = by), ids)))$estimate,
    tidy(groups)$estimate
  )
  expect_identical(nrow(augment(groups)), 200L * 2L * 3L)
  expect_output(print(groups), "v a ", fixed = TRUE)
  expect_output(print(groups), "no room for intervals: see tidy()", fixed = TRUE)
  # Every case five times: clusters of five are as good as one case.
  copies <- x[rep(seq_len(60), each = 5), ]
  cluster <- stats::setNames(rep(seq_len(60), each = 5), copies$cases)
  loose <- tidy(quiet(estimate_metrics(copies, "precision", common = "none")))
  tight <- tidy(quiet(estimate_metrics(copies, "precision", common = "none", resampling = list(cluster = cluster))))
  expect_gt(stats::median(tight$std.error / loose$std.error), 1.5)
})

test_that("methods without probabilities give accuracy alone, with a reason", {
  x <- metric_panel(80)
  found <- quiet(estimate_metrics(x, c("accuracy", "recall"), method = "unbinned",
    interval = "bootstrap", resampling = list(replicates = 20)))
  table <- tidy(found)
  rest <- table[table$metric == "recall", ]
  expect_true(all(is.na(rest$estimate)))
  expect_match(rest$reason, "\"unbinned\" estimates accuracy only")
  expect_false(anyNA(table$conf.low[table$metric == "accuracy"]))
  expect_error(augment(found), class = "fallible_error_argument")
  own <- tidy(quiet(estimate_metrics(x, c("accuracy", "recall"), method = function(x) c(0.5, 0.6),
    interval = "none")))
  expect_identical(own$estimate[own$metric == "accuracy"], c(0.5, 0.6))
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  lost <- quiet(estimate_metrics(ratings(chance, raters = a:b, systems = s)))
  expect_true(all(is.na(tidy(lost)$estimate)))
  expect_match(tidy(lost)$reason, "by chance")
  expect_output(print(lost), "NA for")
  skip_if_not_installed("ggplot2")
  expect_error(autoplot(lost), class = "fallible_error_argument")
})

test_that("undefined metrics are NA with a reason", {
  wide <- data.frame(
    a = rep(c("x", "y"), 10), b = rep(c("x", "y"), 10), c = rep(c("x", "y", "y", "y"), 5),
    s = rep(c("x", "y", "x", "y"), 5)
  )
  x <- ratings(wide, raters = a:c, systems = s, categories = c("x", "y", "z"))
  found <- tidy(quiet(estimate_metrics(x, c("precision", "bal_accuracy"), method = "joint",
    known_truth = stats::setNames(wide$a, 1:20), gold_sample = "given")))
  expect_match(found$reason[found$metric == "precision" & found$category %in% "z"], "never gives")
  expect_match(found$reason[found$metric == "bal_accuracy" & found$average %in% "macro"],
    "undefined for one of the averaged categories")
})

test_that("metrics by group have a row per system and group in plots, and names without gaps", {
  x <- metric_panel()
  by <- rep(c("south", "north"), length.out = nrow(x))
  found <- quiet(estimate_metrics(x, c("accuracy", "recall"), method = "joint", by = by,
    interval = "none"))
  expect_false(any(grepl("  ", names(coef(found)), fixed = TRUE)))
  skip_if_not_installed("ggplot2")
  rows <- unique(paste0(tidy(found)$system, ", ", tidy(found)$group))
  expect_identical(levels(ggplot2::autoplot(found)$data$row), rev(rows))
})

test_that("metrics print and are drawn", {
  local_reproducible_output(width = 90)
  set.seed(2)
  found <- quiet(estimate_metrics(metric_panel(), method = "joint", interval = "bootstrap",
    resampling = list(replicates = 30)))
  expect_snapshot(found)
  expect_identical(glance(found)$metrics, 7L)
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::layer_data(autoplot(found), 2L)
  expect_identical(nrow(drawn), nrow(tidy(found)))
})

test_that("metrics of an order are NA without one, and have intervals with one", {
  ids <- c("accuracy", ordered_ids)
  without <- quiet(estimate_metrics(metric_panel(60), ids, resampling = list(replicates = 20)))
  lost <- tidy(without)[tidy(without)$metric != "accuracy", ]
  expect_true(all(is.na(lost$estimate)))
  expect_match(lost$reason, "not ordered")
  for (interval in c("robust", "bootstrap")) {
    found <- tidy(quiet(estimate_metrics(
      metric_panel(60, dispersion = 2), ids, interval = interval, resampling = list(replicates = 20)
    )))
    expect_true(all(found$conf.low <= found$estimate & found$estimate <= found$conf.high))
  }
  two <- tidy(quiet(estimate_metrics(
    metric_panel(60, 2), c("kap", "kap_linear", "kap_quadratic", "mae", "accuracy"),
    interval = "none", method = "joint"
  )))
  of <- split(two$estimate, two$metric)
  expect_equal(of$kap_linear, of$kap)
  expect_equal(of$kap_quadratic, of$kap)
})

test_that("a system without an estimate has no interval of a metric, and a reason", {
  panel <- data.frame(a = rep("x", 9), b = rep("x", 9), s = rep(c("x", "y", "x"), 3))
  x <- ratings(panel, raters = a:b, systems = s, categories = c("x", "y"))
  found <- tidy(quiet(estimate_metrics(x, c("accuracy", "recall"), interval = "robust")))
  expect_true(all(is.na(found$estimate)))
  expect_false(anyNA(found$reason))
})

test_that("a recall is not surely zero because the system has never given the answer", {
  x <- ratings(
    data.frame(r1 = c("a", "b", "c", "a", "b", "c"), r2 = c("a", "b", "c", "b", "b", "a"),
      r3 = c("a", "b", "c", "a", "c", "a"), s = c("a", "b", "b", "a", "b", "a")),
    raters = r1:r3, systems = s
  )
  estimate <- quiet(estimate_accuracy(x, "joint"))
  recall <- tidy(estimate_metrics(estimate, metrics = "recall", average = NULL))
  cells <- tidy(confusion(estimate))
  cells <- cells[cells$truth == cells$prediction, ]
  expect_identical(recall$estimate[[3]], 0)
  expect_gt(recall$conf.high[[3]], 0.1)
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  expect_equal(recall[columns], cells[columns], tolerance = 1e-6)
})

test_that("a share of a case or less is hardly known", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, systems = "A4",
    repeats = "reruns", rater_kind = "expert")
  cells <- tidy(confusion(quiet(estimate_accuracy(x))))
  at <- function(truth, answer) cells[cells$truth == truth & cells$prediction == answer, ]
  expect_lt(at("4", "4")$n, 2.7) # of the cases that system and raters call 4
  expect_lt(at("4", "4")$conf.low, 0.5)
  expect_lt(at("1", "4")$n, 0.5) # of 17 cases
  expect_gt(at("1", "4")$conf.high, 0.05)
  # Neither is near an end of the scale. Two cases carry no information; three have the error of
  # replicates.
  found <- data.frame(estimate = c(0.5, 0.5), n = 100, sampling = 0.01, hidden = 0)
  found <- add_standard_errors(found, 100 / c(2, 3), cbind(c(0, 0), 1))
  expect_equal(found$sampling, c(sqrt(0.25 / 2), 0.01))
})

test_that("metrics of one rater with gold cases have rows without weights", {
  data <- data.frame(id = 1:60, r = rep(c("y", "n"), 30), s = rep(c("y", "y", "n"), 20))
  known <- data.frame(case = 1:30, truth = rep(c("y", "n", "n"), 10))
  x <- ratings(data, raters = r, systems = s, case = id, rater_kind = "expert")
  estimate <- quiet(estimate_accuracy(x, known_truth = known, gold_sample = "random"))
  found <- augment(quiet(estimate_metrics(estimate)))
  expect_s3_class(found, "tbl_df")
  expect_true(all(is.na(found$weight)))
})

test_that("intervals of odds have at least z standard errors, or the shorter side of the share", {
  # A share of 0.75 is odds of 3. Its logit has the standard error 0.05 / (0.75 * 0.25).
  row <- data.frame(
    estimate = 0.75, std.error = 0.05, conf.low = c(0, 0.6, 0.4), conf.high = c(1, 1, 0.9),
    average = NA, reason = NA_character_
  )
  side <- c(1.645 * 0.05, 0.15, 0.15)
  odds <- shares_to_odds(row, rep(TRUE, 3), 1.645)
  expect_equal(odds$estimate, c(3, 3, 3))
  expect_equal(odds$conf.low, 3 * exp(-side / 0.1875))
  expect_equal(odds$conf.high, 3 * exp(side / 0.1875))
  expect_equal(odds$std.error, rep(0.05 / 0.25^2, 3))
})

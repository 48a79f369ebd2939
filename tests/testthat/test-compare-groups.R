# Two versions, each with gold cases (see judged_once()) of its own.
two_versions <- function(new = list(c(37, 3, 2, 8), 500, 400), old = list(c(41, 2, 3, 4), 500, 430),
                         order = NULL) {
  data <- do.call(rbind, Map(function(row, version) {
    gold <- row[[1]]
    verdict <- rep(c("pass", "pass", "fail", "fail"), gold)
    rest <- rep(c("pass", "fail"), c(row[[3]], row[[2]] - row[[3]]) -
      table(factor(verdict, c("pass", "fail"))))
    truth <- rep(c("pass", "fail", "pass", "fail"), gold)
    data.frame(
      id = paste0(version, seq_len(row[[2]])), version, judge = c(verdict, rest),
      truth = c(truth, rep(NA, length(rest)))
    )
  }, list(new, old), c("new", "old")))
  if (!is.null(order)) data <- data[order, ]
  x <- ratings(data, raters = judge, case = id, systems = c(app = "pass"), covariates = version)
  list(x = x, truth = stats::setNames(data$truth, data$id))
}

estimate_versions <- function(data, ...) {
  estimate_accuracy(data$x, by = "version", known_truth = data$truth, gold_sample = "random", ...)
}

paired_prompts <- function(order = 1:24) {
  data <- data.frame(
    id = 1:24, version = rep(c("A", "B"), each = 12), prompt = rep(letters[1:12], 2),
    judge = c(1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1),
    truth = c(1, 1, 0, 0, 1, 1, rep(NA, 6), 1, 0, 0, 0, 1, 1, rep(NA, 6))
  )[order, ]
  x <- ratings(data, raters = judge, case = id, systems = c(app = "1"),
    covariates = c(version, prompt))
  list(x = x, truth = stats::setNames(data$truth, data$id))
}

compare_prompts <- function(data, ...) {
  estimate <- quiet(estimate_versions(data, resampling = list(cluster = "prompt")))
  compare_systems(estimate, ...)
}

numbers_of_row <- function(comparison, i = 1L) {
  unlist(tidy(comparison)[i, c("estimate", "conf.low", "conf.high", "std.error", "probability")],
    use.names = FALSE)
}

test_that("differences of two versions are those of the table", {
  estimate <- estimate_versions(two_versions())
  expect_equal(
    numbers_of_row(compare_systems(estimate)),
    c(-0.1, -0.1969266, 0.0025986, 0.0618344, 0.0529151), tolerance = 1e-6
  )
  sides <- lapply(c("new", "old"), function(group) group_measurement(estimate[[group]], 1L, 0.9)$interval)
  correlated <- difference_of_intervals(sides[[1]], sides[[2]], 0.3)
  expect_equal(
    unlist(correlated[c("estimate", "conf.low", "conf.high", "std.error", "probability")],
      use.names = FALSE),
    c(-0.1, -0.1830000, -0.0138132, 0.0518057, 0.0267856), tolerance = 1e-6
  )
})

test_that("differences of versions that answered the same prompts are those of the table", {
  comparison <- compare_prompts(paired_prompts())
  expect_equal(
    numbers_of_row(comparison), c(0.1698677, -0.1661914, 0.4501422, 0.2190337, 0.7809874),
    tolerance = 1e-6
  )
  expect_equal(tidy(comparison)$correlation, 0.2957013, tolerance = 1e-6)
  groups <- tidy(quiet(estimate_versions(
    paired_prompts(), resampling = list(cluster = "prompt")
  )))
  expect_equal(
    unlist(groups[1, c("estimate", "conf.low", "conf.high")], use.names = FALSE),
    c(0.6202546, 0.3277020, 0.8455158), tolerance = 1e-6
  )
  expect_equal(
    unlist(groups[2, c("estimate", "conf.low", "conf.high")], use.names = FALSE),
    c(0.4503869, 0.2041993, 0.7235295), tolerance = 1e-6
  )
})

test_that("prompts are paired by their values, in any order of rows", {
  plain <- compare_prompts(paired_prompts())
  # Prompts of B in another order than those of A
  moved <- compare_prompts(paired_prompts(c(1:12, sample(13:24))))
  expect_equal(tidy(moved), tidy(plain))
  turned <- compare_prompts(paired_prompts(24:1), reference = "A")
  expect_equal(numbers_of_row(turned)[1:3], -numbers_of_row(plain)[c(1, 3, 2)])
})

test_that("influences are those of the estimate", {
  data <- paired_prompts()
  # Prompts with two cases in a group, so that sums within clusters count
  x <- data$x
  pairs <- stats::setNames(rep(c("u", "v", "w", "x", "y", "z"), 4), 1:24)
  estimate <- quiet(estimate_accuracy(x, by = "version", resampling = list(cluster = pairs),
    known_truth = data$truth, gold_sample = "random"))
  one <- estimate[["A"]]
  measured <- extract_gold_accuracy(one$gold, 1)
  q <- c(1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1)
  y <- c(1, 1, 0, 0, 1, 1)
  rest <- y - measured$slope * q[1:6]
  psi <- measured$slope * (q - mean(q)) / 12 + c((rest - mean(rest)) / 6, rep(0, 6))
  cluster <- rep(c("u", "v", "w", "x", "y", "z"), 2)
  expect_equal(influence_of_clusters(one, measured, 1L), c(tapply(psi, cluster, sum)))
})

test_that("too few clusters of gold cases in either group are the reason of the difference", {
  side <- function(clusters) {
    list(
      gold_details = data.frame(why = NA_character_, reason = NA_character_), n = 10,
      interval = list(estimate = 0.5, std.error = 0.1, conf.low = 0.3, conf.high = 0.7),
      x = list(estimate = 0.5, gold = 10, clusters = clusters)
    )
  }
  reason <- function(first, second) {
    difference_of_groups(list(a = side(first), b = side(second)), "corrected")$reason
  }
  expect_match(reason(2, 20), "in 2 clusters")
  expect_match(reason(20, 3), "in 3 clusters")
  expect_identical(reason(20, 20), NA_character_)
})

test_that("where clusters make predictions useless, so are deviations from them", {
  x <- rule_rows()[[1]]$x
  clustered <- adjust_for_clusters(x, rep(1:5, each = 2))
  if (clustered$slope == 0) expect_equal(clustered$rest, clustered$answers)
  set.seed(1)
  y <- rep(c(1, 0, 1, 1, 0, 1), each = 4)
  q <- pmin(1, pmax(0, y * 0.6 + rep(runif(6, -0.4, 0.4), each = 4)))
  worse <- adjust_for_clusters(corrected_share(1 - y, q, summarise_predictions(rep(q, 9))), rep(1:6, each = 4))
  expect_identical(worse$slope, 0)
  expect_equal(worse$rest, worse$answers)
})

test_that("clusters of one case each change nothing", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  own <- stats::setNames(paste0("p", 500:1), paste0("q", 1:500))
  expect_equal(
    tidy(estimate_once(data, resampling = list(cluster = own))), tidy(estimate_once(data))
  )
})

test_that("a version without gold cases has no difference", {
  data <- two_versions()
  data$truth[startsWith(names(data$truth), "old")] <- NA
  comparison <- compare_systems(estimate_versions(data))
  table <- tidy(comparison)
  expect_true(all(is.na(table[c("estimate", "conf.low", "conf.high", "probability")])))
  expect_match(table$reason, "old: ")
  expect_identical(comparison$differences$why, "no_gold")
  expect_error(
    compare_systems(estimate_accuracy(data$x, by = "version", known_truth = data$truth,
      gold_sample = "given")),
    class = "fallible_error_argument"
  )
})

test_that("several groups are compared by pairs, or with a reference", {
  set.seed(1)
  data <- data.frame(id = 1:600, v = rep(c("a", "b", "c"), 200), right = runif(600) < 0.75)
  for (rater in c("r1", "r2", "r3")) {
    data[[rater]] <- ifelse(runif(600) < 0.85, data$right, !data$right)
  }
  x <- ratings(data, raters = r1:r3, case = id, systems = c(app = "TRUE"), covariates = v)
  gold <- stats::setNames(data$right, data$id)[sample(600, 150)]
  estimate <- quiet(estimate_accuracy(x, by = "v", known_truth = gold, gold_sample = "random"))
  all <- compare_systems(estimate)
  expect_identical(tidy(all)$group1, c("a", "a", "b"))
  expect_identical(tidy(all)$group2, c("b", "c", "c"))
  corrected <- quiet(estimate_accuracy(x, by = "v", known_truth = gold, gold_sample = "random",
    interval = "corrected"))
  expect_equal(tidy(all)$estimate[1], -diff(tidy(corrected)$estimate[1:2]))
  with <- compare_systems(estimate, reference = "c")
  expect_equal(numbers_of_row(with), numbers_of_row(all, 2L))
  at_once <- tidy(compare_systems(estimate, simultaneous = TRUE))
  wider <- tidy(compare_systems(estimate, conf_level = 1 - 0.1 / 3))
  expect_equal(at_once$conf.low, wider$conf.low)
  direct <- quiet(compare_systems(x, by = v, known_truth = gold, gold_sample = "random"))
  expect_equal(tidy(direct), tidy(all))
  for (args in list(list(best = 1), list(metric = "f_meas"), list(reference = "d"),
    list(systems = "other"), list(category = "TRUE"))) {
    expect_error(do.call(compare_systems, c(list(estimate), args)), class = "fallible_error")
  }
  anytime <- quiet(estimate_accuracy(x, by = "v", known_truth = gold, gold_sample = "random",
    interval = "anytime"))
  expect_error(compare_systems(anytime), class = "fallible_error_argument")
  expect_error(compare_systems(quiet(estimate_accuracy(x, by = "v"))),
    class = "fallible_error_argument")
  hand_picked <- quiet(estimate_accuracy(x, by = "v", known_truth = gold))
  expect_error(compare_systems(hand_picked), "gold_sample = \"random\"", fixed = TRUE,
    class = "fallible_error_argument")
  expect_snapshot(all)
})

test_that("sentences about undecided differences of groups name no direction", {
  comparison <- compare_systems(estimate_versions(two_versions()))
  comparison$differences[c("estimate", "conf.low", "conf.high")] <- list(-0.004, -0.1, 0.1)
  words <- may_say(comparison)
  expect_no_match(words$sentence[words$may], "more often|higher")
  expect_match(words$sentence[words$may], "minus that in .* -?0.4 percentage points.*remains open")
  expect_match(format(gate(comparison, 0)), "is -0.4 \\[-10, 10\\] points")
  comparison$differences[c("estimate", "conf.low", "conf.high")] <- list(-0.2, -0.3, -0.1)
  expect_match(may_say(comparison)$sentence[[1]], paste0(
    "in new minus that in old is estimated at -20 percentage points .* ",
    "passes less often in new than in old"
  ))
})

test_that("comparisons of groups are printed and put into words", {
  comparison <- compare_systems(estimate_versions(two_versions()))
  expect_snapshot({
    comparison
    glance(comparison)
    may_say(comparison)
    writeLines(strwrap(may_say(comparison, "methods")))
    compare_prompts(paired_prompts())
  })
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(comparison), "ggplot")
})

test_that("weights that count cases do what copies of cases do, within prompts too", {
  set.seed(1)
  data <- data.frame(id = 1:200, version = c("A", "B"), prompt = rep(1:100, each = 2), w = 1:2)
  data$right <- runif(200) < 0.7
  data$judge <- ifelse(runif(200) < 0.85, data$right, !data$right)
  compare <- function(data, ...) {
    x <- ratings(data, raters = judge, case = id, systems = c(app = "TRUE"),
      covariates = c(version, prompt), rater_kind = "model", ...)
    gold <- stats::setNames(data$right, data$id)[data$prompt <= 40]
    tidy(compare_systems(estimate_accuracy(x, by = "version", known_truth = gold,
      gold_sample = "random", resampling = list(cluster = "prompt"))))
  }
  copies <- data[rep(1:200, data$w), ]
  copies$id <- seq_len(nrow(copies))
  expect_equal(compare(data, weights = w), compare(copies))
})

test_that("reruns of the judge influence differences by their shares", {
  set.seed(1)
  data <- expand.grid(run = 1:3, prompt = 1:60, version = c("A", "B"), stringsAsFactors = FALSE)
  data$id <- paste(data$version, data$prompt)
  right <- stats::setNames(runif(120) < 0.7, unique(data$id))
  data$rating <- ifelse(runif(360) < 0.8, right[data$id], !right[data$id])
  data$rater <- "m"
  x <- ratings(data[c("id", "rater", "rating", "version", "prompt")], case = id, rater = rater,
    rating = rating, repeats = "reruns", systems = c(app = "TRUE"), rater_kind = "model",
    covariates = c(version, prompt))
  gold <- right[c(1:20, 61:80)]
  estimate <- estimate_accuracy(x, by = "version", resampling = list(cluster = "prompt"),
    known_truth = gold, gold_sample = "random")
  psi <- lapply(c("A", "B"), function(group) {
    of <- data[data$version == group, ]
    q <- as.vector(tapply(of$rating, of$prompt, mean))
    slow <- slow_corrected(right[paste(group, 1:20)], q)
    rest <- right[paste(group, 1:20)] - slow[["slope"]] * q[1:20]
    slow[["slope"]] * (q - mean(q)) / 60 + c((rest - mean(rest)) / 20, rep(0, 40))
  })
  r <- sum(psi[[1]] * psi[[2]]) / sqrt(sum(psi[[1]]^2) * sum(psi[[2]]^2)) * 20 / 30
  expect_equal(tidy(compare_systems(estimate))$correlation, r)
})

replicates_of <- function(x, method, cluster, seed = 1) {
  set.seed(seed)
  quiet(estimate_accuracy(
    x, method, interval = "bootstrap", resampling = list(replicates = 60, cluster = cluster)
  ))$replicates
}

cluster_panel <- function(n = 80) {
  set.seed(1)
  simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.6), 3, n))
}

test_that("clusters of one case are cases, to the last digit", {
  x <- cluster_panel()
  for (method in c("binned", "unbinned", "joint", "shared")) {
    alone <- replicates_of(x, method, NULL)
    expect_identical(replicates_of(x, method, x$cases), alone)
    expect_identical(replicates_of(x, method, paste("case", x$cases)), alone)
  }
})

test_that("every case twice, in clusters of two, is every case once", {
  x <- cluster_panel()
  twice <- x[rep(1:80, each = 2), ]
  pairs <- stats::setNames(rep(1:80, each = 2), twice$cases)
  for (method in c("binned", "unbinned")) {
    once <- replicates_of(x, method, NULL)
    expect_equal(replicates_of(twice, method, pairs), once)
    # What is taken for 160 cases seems too well known.
    naive <- replicates_of(twice, method, NULL)
    ratio <- apply(naive, 2, sd, na.rm = TRUE) / apply(once, 2, sd, na.rm = TRUE)
    expect_true(all(ratio > 0.5 & ratio < 0.95))
  }
  # Clusters are drawn as often as their like, whatever the order of cases.
  order <- sample(160)
  expect_equal(
    replicates_of(twice[order, ], "joint", pairs[order]), replicates_of(twice, "joint", pairs),
    tolerance = 1e-5
  )
})

test_that("frequencies stand for cases of the same cluster", {
  wide <- data.frame(
    a = c("x", "y", "x", "z", "y"), b = c("x", "y", "z", "z", "y"), s = c("x", "y", "x", "z", "x"),
    n = c(3, 1, 2, 4, 2)
  )
  x <- ratings(wide, raters = a:b, systems = s, weights = n)
  at <- rep(1:5, wide$n)
  long <- ratings(wide[at, -4], raters = a:b, systems = s)
  expect_equal(
    replicates_of(x, "unbinned", c(1, 1, 2, 3, 3)),
    replicates_of(long, "unbinned", c(1, 1, 2, 3, 3)[at])
  )
})

test_that("robust intervals widen with clusters, estimates do not move", {
  x <- cluster_panel()
  twice <- x[rep(1:80, each = 2), ]
  robust <- function(cluster, method = "average") {
    set.seed(3)
    quiet(estimate_accuracy(twice, method, resampling = list(cluster = cluster)))
  }
  for (method in c("average", "joint")) {
    naive <- robust(NULL, method)
    clustered <- robust(data.frame(case = 1:80, pair = 1:80), method)
    expect_identical(tidy(clustered)$estimate, tidy(naive)$estimate)
    widening <- tidy(clustered, "details")$sampling / tidy(naive, "details")$sampling
    expect_true(all(widening > 1.1 & widening < 1.8))
    expect_true(all(tidy(clustered)$std.error > tidy(naive)$std.error))
  }
  expect_snapshot(print(clustered))
})

test_that("clusters come as a vector or a table of cases", {
  x <- cluster_panel()
  ward <- rep(c("n", "e", "s", "w"), 20)
  table <- data.frame(ward = ward, case = x$cases)[sample(80), ]
  found <- replicates_of(x, "unbinned", ward)
  expect_identical(replicates_of(x, "unbinned", table), found)
  expect_identical(replicates_of(x, "unbinned", factor(ward)), found)
  expect_identical(replicates_of(x, "unbinned", rbind(table, table)), found)
})

test_that("bad clusters are refused, and one cluster gives no interval", {
  x <- cluster_panel()
  refuse <- function(cluster, ...) estimate_accuracy(x, "unbinned", resampling = list(cluster = cluster), ...)
  expect_snapshot(error = TRUE, {
    refuse(1:3)
    refuse(replace(1:80, 7:8, NA))
    refuse(data.frame(case = 1:79, ward = 1))
    refuse(data.frame(case = c(1:80, 80), ward = c(rep(1, 80), 2)))
    refuse(data.frame(id = 1:80, ward = 1))
    refuse(list(1))
    refuse(matrix(1:80))
    refuse("ward")
    refuse(stats::setNames(1:80, 2:81))
    estimate_accuracy(x[80:1, ], resampling = list(cluster = 1:80))
    estimate_accuracy(x, "joint", interval = "profile", resampling = list(cluster = 1:80))
  })
  for (method in c("average", "joint", "binned")) {
    found <- tidy(quiet(estimate_accuracy(x, method, resampling = list(cluster = rep(1, 80)))))
    expect_identical(found$conf.low, rep(NA_real_, 2))
    expect_match(found$reason, "one cluster")
    expect_false(anyNA(found$estimate))
  }
})

test_that("the number of labels of clustered gold cases is printed with their worth by themselves", {
  set.seed(1)
  cluster <- rep(1:100, each = 6)
  good <- stats::rbinom(600, 1, stats::plogis(1 + 1.5 * stats::rnorm(100)[cluster]))
  judged <- data.frame(id = 1:600, v = ifelse(stats::runif(600) < 0.85, good, 1 - good))
  x <- quiet(ratings(judged, case = id, raters = v, systems = c(app = "1"), rater_kind = "model"))
  gold <- data.frame(case = 1:600, truth = good)[cluster %in% sample(100, 15), ]
  said <- function(...) {
    x <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random", ...))
    worth <- subset(tidy(x, "gold"), interval == "gold alone")$labels
    list(paste(trimws(capture.output(print(x))), collapse = " "), round(worth))
  }
  clustered <- said(resampling = list(cluster = data.frame(case = 1:600, doc = cluster)))
  expect_lt(clustered[[2]], 60)
  expect_match(clustered[[1]], paste("by themselves are worth", clustered[[2]]))
  expect_no_match(said()[[1]], "by themselves")
})

test_that("gold cases that share a value of a case column give a hint to clusters everywhere", {
  set.seed(1)
  data <- expand.grid(prompt = 1:40, version = c("v1", "v2"))
  data$truth <- sample(c("no", "yes"), 80, TRUE)
  wrong <- c(no = "yes", yes = "no")
  for (judge in c("a", "b", "c")) {
    data[[judge]] <- ifelse(runif(80) < 0.8, data$truth, wrong[data$truth])
  }
  data$s <- ifelse(runif(80) < 0.9, data$truth, wrong[data$truth])
  data$t <- ifelse(runif(80) < 0.8, data$truth, wrong[data$truth])
  x <- ratings(data, case = c(prompt, version), raters = a:c, systems = s:t, rater_kind = "expert")
  gold <- data[c(1:20, 41:60), c("prompt", "version", "truth")]
  estimate <- function(gold, ...) {
    quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random", ...))
  }
  hint <- "same prompt are taken as independent.*list\\(cluster =\\s+\"prompt\"\\)"
  results <- function(e) quiet(list(e, gate(e, 0.5), plan_gold(e), compare_systems(e)))
  for (result in results(estimate(gold))) expect_output(print(result), hint)
  for (result in c(
    results(estimate(gold, resampling = list(cluster = "prompt"))),
    results(estimate(gold[1:20, ])), list(estimate(gold, by = version))
  )) expect_no_match(paste(capture.output(print(result)), collapse = " "), "same prompt")
  expect_match(notes_in_words(estimate(gold)), "same prompt were taken as", all = FALSE)
})

ones <- function(x, ...) ground_truth(x, ...)[["1"]]

test_that("labels of ratings are those of the average of two models", {
  # The oracles of two other programs.
  b <- c(0.1274388, 0.5661967, 0.7705091, 0.9677462, 0.5832383, 0.9259600, 0.9698532, 0.9965338)
  expect_lt(max(abs(ones(three_tests(), rho = 0) - b)), 1e-6)
  flat <- c(0.3285606, 0.6469619, 0.7528162, 0.9081445, 0.6554768, 0.8606499, 0.9112243, 0.9708629)
  expect_lt(max(abs(ones(three_tests()) - flat)), 1e-6)
  expect_identical(ground_truth(three_tests()), ground_truth(three_tests(), rho = 0.43))
  a <- c(0.0045372, 0.0392472, 0.1496777, 0.1668713, 0.6423238, 0.8856607, 0.9858102)
  flat <- c(0.0156886, 0.0492686, 0.1020528, 0.1085947, 0.5159189, 0.6265382, 0.8140584)
  expect_lt(max(abs(ones(fluke_tests(), rho = 0) - a)), 1e-6)
  expect_lt(max(abs(ones(fluke_tests()) - flat)), 1e-6)
})

test_that("so they are for more categories", {
  first <- as.matrix(ground_truth(lehner_ratings())[c(1, 4, 10), LETTERS[1:4]])
  expect_lt(max(abs(first - rbind(
    c(0.0775531, 0.0503019, 0.8172856, 0.0548595), c(0.1651749, 0.2531387, 0.1898043, 0.3918820),
    c(0.5374692, 0.2172894, 0.1533992, 0.0918423)
  ))), 1e-6)
  d <- as.matrix(ground_truth(three_categories())[c(3, 6, 12), -1])
  expect_lt(max(abs(d - rbind(
    c(0.7950151, 0.1589584, 0.0460265), c(0.3040630, 0.6385984, 0.0573386),
    c(0.2020230, 0.7416824, 0.0562946)
  ))), 1e-6)
})

test_that("flattening is what its definition says, and changes no most probable category", {
  set.seed(1)
  q <- matrix(stats::rgamma(300, 0.5), 100)
  q <- q / rowSums(q)
  r <- rep(1:5, 20)
  rates <- colMeans(q)
  for (rho in c(0.1, 0.43, 1)) {
    flat <- flatten(q, r, rho, rep(1, 100))
    expect_lt(max(abs(flat - slow_flatten(q, r, rho, rates))), 1e-10)
    expect_identical(max.col(flat), max.col(q))
  }
  expect_identical(flatten(q, r, 0, rep(1, 100)), q)
  expect_identical(flatten(q, r, 0.43, rep(1, 100))[r == 1, ], q[r == 1, ])
  certain <- seq_len(100) %% 2 == 0
  expect_identical(flatten(q, r, 0.43, rep(1, 100), certain)[certain, ], q[certain, ])
  tied <- rbind(c(0.5, 0.5, 0), c(0.2, 0.3, 0.5))
  expect_equal(flatten(tied, c(3, 3), 0.43, c(1, 1))[1, ], c(0.5, 0.5, 0))
})

test_that("a named model keeps its posterior; `rho` flattens it", {
  fit <- fit_raters(lehner_ratings())
  expect_identical(ground_truth(fit), ground_truth(fit, rho = 0))
  flat <- as.matrix(ground_truth(fit, rho = 0.43)[-1])
  as_is <- as.matrix(ground_truth(fit)[-1])
  expect_lt(mean(apply(flat, 1, max)), mean(apply(as_is, 1, max)))
  for (bad in list(-0.1, 1.1, "much", NA)) {
    expect_error(ground_truth(fit, rho = bad), "rho", class = "fallible_error_argument")
  }
})

test_that("estimates by the average have its labels, those by a named model have the model's", {
  x <- lehner_ratings()
  averaged <- quiet(estimate_accuracy(x))
  expect_equal(ground_truth(averaged), ground_truth(x))
  joint <- quiet(estimate_accuracy(x, model = dawid_skene(), interval = "none"))
  expect_equal(ground_truth(joint), ground_truth(quiet(fit_raters(x, dawid_skene()))))
})

test_that("gold cases are certain, whatever is flattened", {
  x <- lehner_ratings()
  estimate <- quiet(estimate_accuracy(x, known_truth = c("1" = "D", "7" = "A")))
  truth <- ground_truth(estimate)
  expect_identical(truth$D[[1]], 1)
  expect_identical(truth$A[[7]], 1)
  expect_lt(max(truth$C[-c(1, 7)]), 1)
})

test_that("raters who tell nothing of each other give no labels", {
  apart <- data.frame(a = c(1, 2, NA, NA), b = c(NA, NA, 1, 2))
  expect_warning(
    none <- ground_truth(ratings(apart, raters = a:b)), class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(none$`1`)))
  crossed <- data.frame(a = rep(1:2, each = 2), b = rep(1:2, 2), c = c(1, 2, 2, 1))
  expect_warning(
    ground_truth(ratings(crossed, raters = a:c)), "how often each uses",
    class = "fallible_warning_not_identified"
  )
})

test_that("two raters get labels with a warning", {
  two <- data.frame(a = c(1, 1, 2, 2, 1, 2, 1), b = c(1, 1, 2, 2, 1, 2, 2))
  expect_warning(
    truth <- ground_truth(ratings(two, raters = a:b)), "priors decide",
    class = "fallible_warning_weakly_identified"
  )
  expect_equal(rowSums(truth[-1]), rep(1, 7))
})

test_that("counts, unused categories, perfect agreement and cases without ratings have labels", {
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(
    ground_truth(counted, rho = 0)[[2]], ground_truth(fit_raters(counted), rho = 0)[[2]]
  )
  x <- ratings(cbind(a = c("x", "y", "x", NA), b = c("x", "y", "x", NA), c = c("x", "y", "y", NA)),
    categories = c("x", "y", "z"))
  truth <- quiet(ground_truth(x))
  expect_identical(truth$z, rep(0, 4))
  expect_equal(rowSums(truth[-1]), rep(1, 4))
  same <- ratings(cbind(a = rep("x", 9), b = "x", c = "x"), categories = c("x", "y"))
  expect_identical(ground_truth(same)$x, rep(1, 9))
})

test_that("weights that are probabilities count as so many cases", {
  table <- transform(lehner2015, w = 0.1)
  weighted <- ratings(table, raters = rater1:rater4, weights = w, case = case)
  expect_equal(ground_truth(weighted)$A, ground_truth(lehner_ratings())$A, tolerance = 1e-6)
})

test_that("groups of raters count as one", {
  table <- transform(lehner2015, twin = rater1)
  grouped <- ratings(table, raters = c(rater1:rater4, twin), case = case,
    rater_groups = c(rater1 = "g", twin = "g"))
  expect_equal(ground_truth(grouped)$A, ground_truth(lehner_ratings())$A, tolerance = 1e-6)
})

test_that("labels and their probabilities come from predict()", {
  truth <- ground_truth(lehner_ratings())
  labels <- predict(truth)
  expect_named(labels, c("case", "category", "probability", "tied"))
  expect_identical(labels$probability, apply(as.matrix(truth[-1]), 1, max))
  expect_identical(as.character(labels$category[[1]]), "C")
})

test_that("labels are right as often as they should be on sets with known truth", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  x <- ratings_with_held_out(file.path(folder, "web_relevance"))
  truth <- utils::read.csv(file.path(folder, "web_relevance", "truth.csv"),
    colClasses = "character")
  labels <- predict(ground_truth(x))
  right <- mean(as.character(labels$category[match(truth$case, labels$case)]) == truth$truth)
  expect_lt(abs(right - 0.837), 0.003)
  fit <- glance(fit_raters(x, dawid_skene()))
  expect_equal(unlist(fit[c("c", "tau", "ups", "a")]),
    c(c = 8.423, tau = 0.4685, ups = 0.6285, a = 10.21), tolerance = 1e-3)
})

test_that("centres of panels with known truth are those of another program", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  known <- list( # c, tau, ups; and c, tau of one coin
    product = c(1.400, 0.2453, 0.3352, 1.290, 0.2456),
    bluebird = c(2.474, 0.2899, 0.3299, 2.188, 0.2900),
    weather_cf = c(181.7, 0.4440, 1.0038, 10.13, NA) # tau: .3925 here, .3937 there
  )
  apart <- vapply(names(known), function(set) {
    x <- ratings_with_held_out(file.path(folder, set))
    centre <- function(one_coin) {
      core_fit_pooled(
        x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), one_coin, 1e-8,
        20000L, no_tick
      )$centre
    }
    found <- c(unlist(centre(FALSE)[c("c", "tau", "ups")]), unlist(centre(TRUE)[c("c", "tau")]))
    max(abs(found / known[[set]] - 1), na.rm = TRUE)
  }, 0)
  expect_lt(max(apart), 1e-3)
})

test_that("labels are better than the majority's where raters are few and categories many", {
  set.seed(9)
  found <- vapply(1:8, function(i) {
    x <- simulate_ratings(rater_design(rep(0.6, 3), NULL, 5, 200))
    at <- cbind(1:200, as.integer(truth(x)$category))
    n <- category_counts(x)
    votes <- n == apply(n, 1, max)
    smoothed <- (n + 0.2) / 4
    labels <- quiet(ground_truth(x, rho = 0))
    c(
      right = mean(predict(labels)$category == truth(x)$category) -
        mean((votes / rowSums(votes))[at]),
      loss = mean(log(as.matrix(labels[-1])[at])) - mean(log(smoothed[at]))
    )
  }, double(2))
  expect_gt(mean(found["right", ]), 0.02) # .045 (.006) in 60 such panels
  expect_gt(mean(found["loss", ]), 0.1)
})

test_that("labels are held against known truths by one call: flattened ones are less too sure", {
  set.seed(10)
  x <- simulate_ratings(rater_design(rep(0.75, 5), NULL, 3, 600, difficulty = list(loading = 0.7)))
  gold <- truth(x)[sample(600, 300), ]
  off <- function(rho) {
    table <- calibration(ground_truth(x, rho = rho), gold, bins = 5)
    sum(table$n * abs(table$probability - table$share)) / sum(table$n)
  }
  expect_lt(off(0.43), 0.7 * off(0))
})

test_that("print says how sure labels are, where they are not, and what to look at again", {
  x <- lehner_ratings()
  said <- function(...) gsub("\\s+", " ", paste(capture.output(print(...)), collapse = " "))
  truth <- ground_truth(x)
  highest <- apply(as.matrix(truth[-1]), 1, max)
  told <- glance(truth)
  expect_equal(told$probability, mean(highest))
  expect_identical(told$unsure, sum(highest < 0.8))
  expect_identical(glance(truth, sure = 0.5)$unsure, sum(highest < 0.5))
  expect_error(glance(truth, sure = 2), class = "fallible_error_argument")
  expect_match(said(truth), paste0("Expected share of correct labels: ", percent(told$probability)))
  expect_match(said(truth), paste0(told$unsure, " of 10 cases .check these first."))
  expect_match(said(truth), "If raters are language models or programs")
  expect_match(said(ground_truth(x, rho = 0)), "Assumed: raters err independently")
  of <- function(kind) {
    said(ground_truth(ratings(lehner2015, raters = rater1:rater4, case = case, rater_kind = kind)))
  }
  expect_no_match(of("expert"), "less sure than that")
  expect_match(of("model"), "Language models and programs share more errors")
  # What is no longer a table of labels prints as it is.
  expect_no_match(said(truth[0, ]), "Expected")
  none <- quiet(ground_truth(ratings(cbind(a = rep(1:2, each = 2), b = rep(1:2, 2)))))
  expect_no_match(said(none), "Expected")
})

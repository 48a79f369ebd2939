# The law of truth, ratings and answers of the K-model, as patterns with probabilities.
k_law <- function(categories, raters, accuracy, system) {
  all <- expand.grid(rep(list(seq_len(categories)), raters + 2))
  names(all) <- c("truth", paste0("r", seq_len(raters)), "s")
  one <- function(answer, a) ifelse(answer == all$truth, a, (1 - a) / (categories - 1))
  weight <- one(all$s, system) / categories
  for (j in seq_len(raters)) weight <- weight * one(all[[paste0("r", j)]], accuracy)
  patterns <- stats::aggregate(list(weight = weight), all[-1], sum)
  ratings(patterns, raters = tidyselect::starts_with("r"), systems = s, weights = weight)
}

# Both sums, pattern of ratings by pattern of ratings.
slow_bounds <- function(x, fit, system = 1) {
  truth <- as.matrix(ground_truth(fit)[-1])
  answer <- x$patterns$answer[x$index, system]
  weight <- x$weights %||% rep(1, length(answer))
  key <- apply(as.matrix(answers_by_pattern(x)[x$index, seq_along(x$raters)]), 1, paste,
    collapse = "-")
  ends <- c(0, 0)
  answer[!is_rated_pattern(x)[x$index]] <- 0L
  for (one in unique(key[answer > 0])) {
    here <- which(key == one & answer > 0)
    p <- truth[here[[1]], ]
    s <- vapply(seq_along(p), function(k) sum(weight[here][answer[here] == k]), 0) /
      sum(weight[here])
    ends <- ends + sum(weight[here]) * c(max(0, p + s - 1), sum(pmin(p, s)))
  }
  ends / sum(weight[answer > 0])
}

ends <- function(bounds) unname(unlist(tidy(bounds)[1, c("lowest", "highest")]))

test_that("the bounds of seven laws are those that the method prints", {
  rows <- rbind(
    c(2, 3, 0.7, 0.9, 0.65, 0.51, 0.94), c(2, 3, 0.8, 0.9, 0.765, 0.71, 0.92),
    c(2, 9, 0.8, 0.9, 0.87, 0.865, 0.90), c(3, 3, 0.7, 0.9, 0.67, 0.59, 0.93),
    c(5, 3, 0.6, 0.9, 0.58, 0.47, 0.93), c(5, 3, 0.6, 0.5, 0.36, 0.23, 0.65),
    c(5, 3, 0.8, 0.9, 0.81, 0.78, 0.91)
  )
  for (i in seq_len(nrow(rows))) {
    x <- k_law(rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4])
    table <- tidy(accuracy_bounds(x))
    expect_lt(abs(table$shared - rows[i, 5]), 0.0051)
    expect_lt(abs(table$lowest - rows[i, 6]), 0.0051)
    expect_lt(abs(table$highest - rows[i, 7]), 0.0051)
    expect_equal(ends(accuracy_bounds(x)), slow_bounds(x, fit_raters(x)))
  }
})

test_that("single patterns give the two sums, for any fit and with gaps", {
  set.seed(3)
  design <- rater_design(c(0.6, 0.7, 0.8), c(0.8, 0.5), 3, 150, missing = 0.2, dispersion = 2)
  x <- quiet(simulate_ratings(design))
  for (model in list(k_model(), rater_model("rater", "distance"))) {
    fit <- quiet(fit_raters(x, model))
    found <- tidy(accuracy_bounds(fit, group_size = 1, interval = "none"))
    for (s in 1:2) {
      expect_equal(c(found$lowest[[s]], found$highest[[s]]), slow_bounds(x, fit, s))
    }
    expect_true(all(found$shared >= found$lowest & found$shared <= found$highest))
  }
})

test_that("larger groups only widen, and the shared accuracy stays inside", {
  set.seed(4)
  x <- quiet(simulate_ratings(rater_design(rep(0.6, 4), c(0.8, 0.4), 4, 300, missing = 0.3)))
  fit <- quiet(fit_raters(x))
  single <- tidy(accuracy_bounds(fit, group_size = 1, interval = "none"))
  for (size in c(5, 20, 100, 1e6)) {
    found <- tidy(accuracy_bounds(fit, group_size = size, interval = "none"))
    expect_true(all(found$lowest <= single$lowest + 1e-12))
    expect_true(all(found$highest >= single$highest - 1e-12))
    expect_true(all(found$lowest <= found$shared & found$shared <= found$highest))
  }
  told <- glance(accuracy_bounds(fit, group_size = 1e6, interval = "none"))
  expect_identical(told$groups, 1L)
})

test_that("names of categories, and the order of cases and raters, do not matter", {
  set.seed(5)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), 0.8, 3, 200))
  wide <- reshape(
    as.data.frame(as.data.frame(x)), idvar = "case", timevar = "rater", direction = "wide"
  )
  wide$system <- as.data.frame(x, what = "systems")$prediction
  turned <- wide[sample(nrow(wide)), c(1, 3, 4, 2, 5)]
  turned[-1] <- lapply(turned[-1], function(column) c("z", "x", "y")[as.integer(column)])
  again <- ratings(turned, raters = 2:4, systems = system, case = case)
  for (size in c(1, 30, 1e6)) {
    expect_equal(
      ends(accuracy_bounds(again, group_size = size, interval = "none")),
      ends(accuracy_bounds(x, group_size = size, interval = "none")), tolerance = 1e-9
    )
  }
})

test_that("known truths narrow the range, and all of them leave none", {
  set.seed(6)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), 0.8, 3, 200))
  gold <- stats::setNames(as.character(truth(x)$category), truth(x)$case)
  width <- function(cases) {
    fit <- quiet(fit_raters(x, known_truth = if (cases > 0) gold[seq_len(cases)],
      method = "likelihood"))
    diff(ends(accuracy_bounds(fit, interval = "none")))
  }
  expect_lt(width(100), width(0))
  fit <- quiet(fit_raters(x, known_truth = gold))
  expect_equal(ends(accuracy_bounds(fit, interval = "none")), rep(true_accuracy(x)$sample, 2))
})

test_that("no coupling of truth and answers is outside the bounds, of systems or differences", {
  set.seed(7)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.7), c(a = 0.8, b = 0.6), 3, 400))
  fit <- quiet(fit_raters(x))
  bounds <- accuracy_bounds(fit, group_size = 1, interval = "none")
  answer <- x$patterns$answer
  weight <- pattern_weights(x) / length(x$index)
  probability <- posterior(fit)
  key <- answers_by_pattern(x)[, 1:3] %*% c(1, 10, 100)
  expect_over(rounds(60), limit = 1e-9, function(i) {
    right <- c(0, 0)
    for (cell in split(seq_along(weight), key)) {
      # A random joint law of truth and answers with both margins: fill cells in random order.
      left <- sum(weight[cell]) * probability[cell[[1]], ]
      room <- weight[cell]
      order <- sample(length(cell) * 3)
      if (i %% 2) order <- order[order(answer[cell, 1][(order - 1) %% length(cell) + 1] !=
        (order - 1) %/% length(cell) + 1)]
      for (at in order) {
        row <- (at - 1) %% length(cell) + 1
        k <- (at - 1) %/% length(cell) + 1
        move <- min(left[[k]], room[[row]])
        left[[k]] <- left[[k]] - move
        room[[row]] <- room[[row]] - move
        right <- right + move * (answer[cell[[row]], ] == k)
      }
    }
    table <- tidy(bounds)
    difference <- right[[1]] - right[[2]]
    c(
      table$lowest - right, right - table$highest, bounds$differences$lowest - difference,
      difference - bounds$differences$highest
    )
  })
})

test_that("the confidence set refits, repeats with a seed, and contains the range", {
  set.seed(8)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(0.8, 0.5), 3, 150))
  found <- function(...) {
    set.seed(1)
    tidy(accuracy_bounds(x, resampling = list(replicates = 40), ...))
  }
  table <- found()
  expect_identical(table, found())
  expect_true(all(table$conf.low <= table$lowest & table$conf.high >= table$highest))
  expect_true(all(found(conf_level = 0.5)$conf.high <= table$conf.high))
  expect_identical(table[c("lowest", "highest")], found(interval = "none")[c("lowest", "highest")])
  fit <- quiet(fit_raters(x, rater_model("rater")))
  gold <- stats::setNames(as.character(truth(x)$category[1:20]), 1:20)
  known <- quiet(fit_raters(x, known_truth = gold, known_raters = list(rater1 = 0.6)))
  for (one in list(fit, known)) {
    set.seed(1)
    expect_false(anyNA(tidy(accuracy_bounds(one, resampling = list(replicates = 5)))$conf.low))
  }
})

test_that("systems are chosen, estimates are taken, and silent systems have no bounds", {
  x <- lehner_ratings()
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none"))
  expect_identical(
    ends(accuracy_bounds(estimate, interval = "none")),
    ends(accuracy_bounds(estimate$fit, interval = "none"))
  )
  set.seed(9)
  y <- simulate_ratings(rater_design(c(0.7, 0.7, 0.7), c(a = 0.8, b = 0.7, c = 0.6), 3, 50))
  expect_identical(tidy(accuracy_bounds(y, "c", interval = "none"))$system, "c")
  expect_identical(
    tidy(accuracy_bounds(y, c("c", "a"), interval = "none"))$lowest,
    tidy(accuracy_bounds(y, interval = "none"))$lowest[c(3, 1)]
  )
})

test_that("what has no bounds or no confidence set says why", {
  x <- k_law(2, 3, 0.7, 0.9)
  table <- tidy(accuracy_bounds(x))
  expect_match(table$reason, "weights are not counts")
  expect_false(is.na(table$lowest))
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  lost <- quiet(accuracy_bounds(ratings(chance, raters = a:b, systems = s)))
  expect_true(is.na(tidy(lost)$lowest))
  expect_match(tidy(lost)$reason, "by chance")
  expect_output(print(lost), "NA for s")
  # Without disagreement, all replicates have the bounds 1 and 1; this is no set without width.
  same <- data.frame(a = rep(c("x", "y"), 10))
  table <- tidy(accuracy_bounds(ratings(same[c(1, 1, 1, 1)], raters = 1:3, systems = 4)))
  expect_identical(c(table$lowest, table$highest), c(1, 1))
  expect_true(is.na(table$conf.low) && is.na(table$conf.high))
  expect_match(table$reason, "all bootstrap replicates have the same bounds")
})

test_that("wrong arguments are refused", {
  x <- lehner_ratings()
  expect_snapshot(error = TRUE, {
    accuracy_bounds(1)
    accuracy_bounds(x, "no such system")
    accuracy_bounds(x, conf_level = 2)
    accuracy_bounds(x, group_size = -1)
    accuracy_bounds(ratings(fleiss1971, case = case, counts = depression:other))
  })
})

test_that("bounds are printed, and speak the grammar of results", {
  set.seed(10)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, 200))
  bounds <- accuracy_bounds(x, resampling = list(replicates = 30))
  expect_snapshot(bounds)
  expect_snapshot(summary(bounds))
  expect_identical(class(as.data.frame(bounds)), "data.frame")
  expect_identical(nrow(glance(bounds)), 1L)
  expect_length(format(bounds), 2)
  expect_match(format(bounds, digits = 2), "confidence set", all = TRUE)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(bounds), "ggplot")
  range <- ggplot2::layer_data(ggplot2::autoplot(bounds), 2L)
  expect_setequal(range$xmin, tidy(bounds)$lowest)
  skip_if_not_installed("knitr")
  expect_s3_class(knitr::knit_print(bounds), "knit_asis")
})

test_that("the confidence set takes one seed from the user, and cases in any order", {
  set.seed(11)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, 120))
  state <- function(code) {
    set.seed(12)
    force(code)
    stats::runif(1)
  }
  expect_identical(state(bounds <- accuracy_bounds(x, resampling = list(replicates = 10))), state(draw_seed()))
  expect_identical(state(accuracy_bounds(x, interval = "none")), state(NULL))
  expect_identical(
    state(again <- accuracy_bounds(x[sample(120), ], resampling = list(replicates = 10))), state({
      sample(120)
      draw_seed()
    })
  )
  set.seed(13)
  one <- tidy(accuracy_bounds(x, resampling = list(replicates = 10)))
  shuffled <- x[rev(seq_len(120)), ]
  set.seed(13)
  expect_equal(tidy(accuracy_bounds(shuffled, resampling = list(replicates = 10))), one)
})

test_that("the confidence set of ratings in a database is that of memory", {
  con <- sqlite()
  set.seed(14)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9), 3, 100))
  wide <- data.frame(
    case = sprintf("c%03d", sample(100)), matrix(x$categories[answers_by_pattern(x)[x$index, ]], 100)
  )
  DBI::dbWriteTable(con, "wide", wide)
  bounds <- function(data) {
    y <- ratings(data, raters = X1:X3, systems = X4, case = case)
    set.seed(15)
    tidy(accuracy_bounds(y, resampling = list(replicates = 10)))
  }
  expect_equal(bounds(dplyr::tbl(con, "wide")), bounds(wide), tolerance = 1e-12)
})

test_that("clusters of an estimate are drawn whole", {
  set.seed(16)
  part <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, 60))
  x <- part[rep(1:60, each = 6), ]
  by_case <- function(cluster) if (!is.null(cluster)) stats::setNames(cluster, x$cases)
  width <- function(cluster) {
    estimate <- quiet(estimate_accuracy(
      x, "unbinned", interval = "none", resampling = list(cluster = by_case(cluster))
    ))
    set.seed(17)
    table <- tidy(accuracy_bounds(estimate, resampling = list(replicates = 60)))
    table$conf.high - table$conf.low - (table$highest - table$lowest)
  }
  expect_gt(width(rep(1:60, each = 6)) / width(NULL), 1.4) # sqrt(6), but for the limits of bounds
  estimate <- quiet(estimate_accuracy(x, "unbinned", interval = "none", resampling = list(cluster = by_case(rep(1, 360)))))
  expect_match(tidy(accuracy_bounds(estimate, resampling = list(replicates = 10)))$reason, reason_one_cluster)
})

test_that("the confidence set of a fit by draws refits with its prior and its sampling", {
  skip_unless_nightly()
  set.seed(3)
  n <- 200
  sick <- stats::runif(n) < 0.3
  found <- function(sens, spec) {
    ifelse(stats::runif(n) < ifelse(sick, sens, 1 - spec), "yes", "no")
  }
  data <- data.frame(
    r1 = found(0.6, 0.9), r2 = found(0.6, 0.9), r3 = found(0.6, 0.9), s = found(0.85, 0.85)
  )
  keen <- list(sens = list(95, 5), spec = list(75, 25))
  prior <- rater_prior(r1 = keen, r2 = keen, r3 = keen, order = "none")
  sampling <- list(draws = 200, chains = 2, warmup = 50, thin = 1)
  fit_of <- function(data) {
    quiet(fit_raters(ratings(data, raters = r1:r3, systems = s), dawid_skene(), method = "bayes",
      prior = prior, sampling = sampling))
  }
  fit <- fit_of(data)
  set.seed(1)
  bounds <- tidy(quiet(accuracy_bounds(fit, resampling = list(replicates = 40))))
  highest <- vapply(1:40, function(i) {
    tidy(accuracy_bounds(fit_of(data[sample(n, n, TRUE), ]), interval = "none"))$highest
  }, 0)
  expect_lt(abs(bounds$conf.high - stats::quantile(highest, 0.95)), 0.03)
  expect_gt(bounds$conf.high, bounds$highest)
})

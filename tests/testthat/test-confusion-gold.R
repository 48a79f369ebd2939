gold_matrices <- function(m = 60, ...) {
  set.seed(1)
  design <- rater_design(
    c(0.7, 0.7, 0.8), c(a = 0.85, b = 0.7), 3, 400, base_rates = c(0.5, 0.4, 0.1)
  )
  x <- quiet(simulate_ratings(design))
  gold <- truth(x)[sample(400, m), ]
  list(x = x, gold = gold, estimate = quiet(
    estimate_accuracy(x, known_truth = gold, gold_sample = "random", ...)
  ))
}

# Estimates of a share of a table from ratings only, cell by cell: numeric slopes and replicates.
prior_of_cell <- function(estimate, counts, s, cell, of) {
  value_of <- function(table) {
    square <- matrix(table, 3L, byrow = TRUE) # truth by answer
    whole <- if (of == "answer") sum(square[, cell[[2L]]]) else sum(square[cell[[1L]], ])
    square[cell[[1L]], cell[[2L]]] / whole
  }
  table <- counts / sum(counts)
  slope <- sapply(seq_along(table), function(i) {
    at <- function(h) value_of((1 - h) * table + h * (seq_along(table) == i))
    (at(1e-5) - at(-1e-5)) / 2e-5
  })
  set.seed(1)
  draws <- confusion_draws(estimate)$values[, (s - 1L) * 9L + 1:9]
  right <- rowSums(draws[, c(1, 5, 9)]) / rowSums(draws)
  scale <- max(1, estimate$details$sampling[[s]] / stats::sd(right))
  sampling <- scale * stats::sd(drop(draws / rowSums(draws)) %*% slope)
  slopes <- list(n = 3L, is_occurring = rep(TRUE, 9L), whole = TRUE, cells = as.matrix(slope))
  hidden <- hidden_errors(estimate, table, s, slopes)
  list(estimate = value_of(table), std.error = sqrt(sampling^2 + hidden^2), bias = hidden)
}

test_that("cells, recall and precision are those of a slow twin", {
  for (interval in c("corrected", "combined")) {
    store <- gold_matrices(interval = interval)
    estimate <- store$estimate
    set.seed(1)
    found <- confusion(estimate)
    expect_identical(glance(found)$interval, interval)
    settings <- c(estimate$gold$settings, conf_level = 0.9)
    counts <- confusion_counts(undo_gold_correction(estimate))[[2L]]
    x <- store$x
    gold <- estimate$gold
    columns <- c("estimate", "conf.low", "conf.high")
    answer <- x$patterns$answer[x$index, 2L]
    predicted <- gold$evidence$predicted[x$index, ]
    twin_of <- function(value) slow_quantity(value, gold$truth, answer, predicted, gold$case)
    expect_twin <- function(row, twin, cell, of) {
      prior <- prior_of_cell(undo_gold_correction(estimate), counts, 2L, cell, of)
      expect_equal(
        unlist(row[columns], use.names = FALSE),
        three_numbers(accuracy_intervals[[interval]]$gold$share(twin, prior, settings)),
        tolerance = 1e-6
      )
    }
    categories <- tidy(found, "categories")
    categories <- categories[categories$system == "b" & categories$category == "2", ]
    # A precision is a share of the cases with the answer.
    own <- which(answer == 2L)
    golden <- intersect(gold$case, own)
    y <- gold$truth[match(golden, gold$case)] == 2L
    share <- slow_correction(y, predicted[own, 2L], match(golden, own))
    expect_twin(
      categories[categories$measure == "precision", ],
      list(
        estimate = share$estimate, variance = share$variance, ratio = share$ratio, design = 1,
        full_design = 1, gold = length(y), n_labels = length(y), cases = length(own), seen = mean(y)
      ), c(2, 2), "answer"
    )
    expect_twin(
      categories[categories$measure == "recall", ],
      twin_of(function(t) t[2, 2] / sum(t[2, ])), c(2, 2), "truth"
    )
    cells <- tidy(found)
    cell <- which(cells$system == "b" & cells$truth == "2" & cells$prediction == "1")
    expect_twin(cells[cell, ], twin_of(function(t) t[2, 1] / sum(t[2, ])), c(2, 1), "truth")
    expect_equal(rowSums(as.matrix(found)$b), rep(1, 3), tolerance = 0.05, ignore_attr = TRUE)
  }
})

test_that("a category without gold has no interval, and a reason", {
  store <- gold_matrices()
  gold <- store$gold[store$gold$category != "3", ]
  estimate <- quiet(estimate_accuracy(store$x, known_truth = gold, gold_sample = "random"))
  found <- confusion(estimate, systems = "a")
  recall <- tidy(found, "categories")
  recall <- recall[recall$measure == "recall", ]
  expect_identical(is.na(recall$conf.low), c(FALSE, FALSE, TRUE))
  expect_identical(
    recall$reason[[3]],
    "no interval: no gold case is of category 3, or no gold case has this answer"
  )
  was <- tidy(confusion(undo_gold_correction(estimate), "none", systems = "a"), "categories")
  expect_identical(recall$estimate[[3]], was$estimate[[3]])
  expect_output(print(found), "No interval for recall of 3 in a")
})

test_that("a system that answered no gold case has no interval, and this reason", {
  store <- gold_matrices()
  systems <- as.data.frame(store$x, what = "systems")
  systems <- systems[!(systems$system == "b" & systems$case %in% store$gold$case), ]
  x <- ratings(
    as.data.frame(store$x), case = case, rater = rater, rating = rating, systems = systems
  )
  estimate <- quiet(estimate_accuracy(x, known_truth = store$gold, gold_sample = "random"))
  found <- tidy(confusion(estimate, systems = "b"), "categories")
  expect_identical(unique(found$reason), "no interval: it answered none of the 60 gold cases")
})

test_that("clusters of gold widen cells, and too few give none", {
  store <- gold_matrices()
  of <- function(cluster) {
    estimate <- quiet(estimate_accuracy(
      store$x, known_truth = store$gold, gold_sample = "random", resampling = list(cluster = cluster),
      interval = "corrected"
    ))
    tidy(confusion(estimate, systems = "a"), "categories")
  }
  few <- of(rep(1:4, 100))
  expect_true(all(is.na(few$conf.low)))
  expect_match(few$reason, "^no interval: gold cases are in [1-4] clusters?")
  alone <- tidy(confusion(gold_matrices(interval = "corrected")$estimate), "categories")
  many <- of(rep(1:40, 10))
  width <- function(table) (table$conf.high - table$conf.low)[1:2]
  expect_true(all(width(many) > width(alone)))
})

test_that("intervals that do without gold are there, too", {
  store <- gold_matrices()
  none <- confusion(store$estimate, "none")
  expect_true(all(is.na(tidy(none)$conf.low)))
  was <- confusion(quiet(estimate_accuracy(store$x)), "none")
  expect_equal(tidy(none), tidy(was))
  expect_error(
    confusion(quiet(estimate_accuracy(store$x)), "combined"), class = "fallible_error_argument"
  )
})

test_that("what an estimate lacks for an interval is said", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9), 3, 60))
  none <- quiet(estimate_accuracy(
    x, "joint", interval = "none", known_truth = truth(x)[1:20, ], gold_sample = "random"
  ))
  groups <- quiet(estimate_accuracy(x, "joint", interval = "none", by = rep(c("u", "v"), 30)))
  expect_snapshot(error = TRUE, {
    confusion(none, interval = "corrected")
    confusion(groups)
  })
})

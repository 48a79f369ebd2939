# Answers of raters with these probabilities to see what is there, and not to see what is not;
# labels x cases.
draw_labels <- function(n, base, skills) {
  size <- length(base) * n
  true <- matrix(stats::runif(size) < base, length(base))
  said <- lapply(skills, function(skill) {
    ifelse(true, stats::runif(size) < skill[[1]], stats::runif(size) > skill[[2]])
  })
  list(x = as_label_ratings(said), true = t(true), said = lapply(said, t))
}

as_label_ratings <- function(said, ...) {
  n <- ncol(said[[1]])
  long <- expand.grid(case = seq_len(n), rater = names(said), stringsAsFactors = FALSE)
  long$labels <- unlist(lapply(said, function(has) {
    lapply(seq_len(n), function(i) {
      if (anyNA(has[, i])) NA_character_ else letters[seq_len(nrow(has))][has[, i]]
    })
  }), recursive = FALSE)
  ratings(long, case = case, rater = rater, rating = labels, repeats = "labels", ...)
}

label_skills <- list(r1 = c(0.8, 0.9), r2 = c(0.75, 0.95), r3 = c(0.9, 0.85), m = c(0.85, 0.9))

pick_metric <- function(table, metric, average = NA, category = NA) {
  table$estimate[table$metric == metric & table$average %in% average &
    table$category %in% category]
}

test_that("of a case that is not certain all true answers are gone through", {
  withr::local_seed(1)
  n <- 6
  yes <- matrix(stats::runif(4 * n), n)
  said <- matrix(stats::runif(4 * n) < 0.4, n)
  said[1, ] <- FALSE
  truths <- as.matrix(expand.grid(rep(list(c(FALSE, TRUE)), 4)))
  for (i in seq_len(n)) {
    p <- apply(truths, 1L, function(t) prod(ifelse(t, yes[i, ], 1 - yes[i, ])))
    jaccard <- apply(truths, 1L, function(t) {
      if (any(t | said[i, ])) sum(t & said[i, ]) / sum(t | said[i, ]) else 1
    })
    right <- apply(truths, 1L, function(t) all(t == said[i, ]))
    expect_equal(set_scores("jaccard", yes, said)[[i]], sum(p * jaccard))
    expect_equal(set_scores("subset_accuracy", yes, said)[[i]], sum(p * right))
  }
})

test_that("where truths are certain metrics are those of the answers", {
  withr::local_seed(2)
  drawn <- draw_labels(60, c(0.5, 0.3, 0.2), label_skills[c("r1", "r2", "m")])
  panel <- label_panel(drawn$x, "m")
  plan <- label_plan(
    c("recall", "precision", "f_meas", "kap", "accuracy", "subset_accuracy", "jaccard"),
    metric_averages, 1, drawn$x
  )
  yes <- as.vector(drawn$true) + 0
  belief <- function(s) cbind(yes, 1 - yes)
  values <- panel_values(belief, rep(1, 60), plan, panel, seq_len(180))[[1]]
  table <- cbind(plan$rows, estimate = values)
  t <- drawn$true
  a <- drawn$said$m
  recall <- colSums(t & a) / colSums(t)
  precision <- colSums(t & a) / colSums(a)
  f <- 2 * colSums(t & a) / (colSums(t) + colSums(a))
  near <- function(found, expected) expect_lt(max(abs(found - expected)), 1e-12)
  near(pick_metric(table, "recall", NA, letters[1:3]), recall)
  near(pick_metric(table, "precision", NA, letters[1:3]), precision)
  near(pick_metric(table, "f_meas", "macro"), mean(f))
  near(pick_metric(table, "f_meas", "macro_weighted"), stats::weighted.mean(f, colSums(t)))
  near(pick_metric(table, "f_meas", "micro"), 2 * sum(t & a) / (sum(t) + sum(a)))
  near(pick_metric(table, "accuracy", "micro"), mean(t == a))
  near(pick_metric(table, "kap", NA, "b"), slow_table_metric("kap", table(t[, 2], a[, 2])))
  near(pick_metric(table, "subset_accuracy"), mean(rowSums(t != a) == 0))
  near(pick_metric(table, "jaccard"), mean(ifelse(rowSums(t | a) == 0, 1,
    rowSums(t & a) / rowSums(t | a))))
})

test_that("metrics of labels are near the truth, which raters do not know", {
  skip_unless_extended()
  withr::local_seed(3)
  drawn <- draw_labels(500, c(0.5, 0.2), label_skills)
  found <- tidy(estimate_metrics(drawn$x, systems = "m", resampling = list(replicates = 40)))
  expect_false(anyNA(found$conf.low))
  t <- drawn$true
  a <- drawn$said$m
  of <- function(metric, ...) pick_metric(found, metric, ...)
  truth <- c(
    mean(t == a), colSums(t & a) / colSums(t), mean(rowSums(t != a) == 0),
    mean(ifelse(rowSums(t | a) == 0, 1, rowSums(t & a) / rowSums(t | a)))
  )
  said <- c(of("accuracy", "micro"), of("recall", NA, c("a", "b")), of("subset_accuracy"),
    of("jaccard"))
  error <- found$std.error[match(said, found$estimate)]
  expect_lt(max(abs(said - truth) / error), 4)
  shared <- tidy(estimate_metrics(drawn$x, "jaccard", systems = "m", method = "shared",
    interval = "none"))
  expect_lt(shared$estimate, of("jaccard")) # as raters err
  expect_true(is.na(shared$conf.low))
})

test_that("raters share a skill over labels, so that two are enough", {
  withr::local_seed(4)
  drawn <- draw_labels(1500, c(0.6, 0.15), label_skills[c("r1", "r2", "m")])
  found <- estimate_metrics(drawn$x, "recall", NULL, systems = "m", interval = "none")
  matrices <- confusion(found$estimates[[1]]$fit)
  expect_equal(unname(diag(matrices$r1)), label_skills$r1, tolerance = 0.1)
  expect_equal(unname(diag(matrices$r2)), label_skills$r2, tolerance = 0.1)
  expect_equal(tidy(found)$estimate, c(0.85, 0.85), tolerance = 0.1)
  weighted <- augment(found)
  expect_identical(names(weighted), c("case", "system", "label", "truth", "prediction", "weight"))
  expect_equal(sum(weighted$weight), 3000)
  expect_output(print(found), "2 labels, joint method", fixed = TRUE)
  # Replicates that have another centre than the estimate keep it.
  plan <- label_plan("recall", character(), 1, drawn$x)
  values <- matrix(stats::plogis(stats::rnorm(800, -1, 0.2)), 400)
  told <- with_percentiles(tidy(found), plan, values, 0.9)
  expect_lt(max(told$conf.high), 0.5)
  expect_equal(told$std.error, apply(values, 2L, stats::sd))
})

test_that("missing answers are left out, and systems may give one label", {
  skip_unless_extended()
  withr::local_seed(5)
  drawn <- draw_labels(120, c(0.5, 0.3), label_skills)
  said <- lapply(drawn$said, t)
  said$m[, 1:20] <- NA
  one <- data.frame(
    case = 1:100, system = "one", prediction = ifelse(drawn$true[1:100, 1], "a", "b")
  )
  x <- quiet(as_label_ratings(said, systems = one))
  found <- tidy(estimate_metrics(x, c("accuracy", "jaccard"), systems = c("m", "one"),
    interval = "none"))
  expect_identical(found$n, rep(100, 10))
  expect_gt(pick_metric(found[found$system == "one", ], "accuracy", NA, "a"), 0.85)
})

test_that("what cannot be judged is refused", {
  x <- draw_labels(30, c(0.5, 0.3), label_skills[c("r1", "r2", "m")])$x
  expect_error(estimate_metrics(x), class = "fallible_error_system")
  expect_error(estimate_metrics(x, systems = "gpt"), class = "fallible_error_argument")
  expect_error(estimate_metrics(x, systems = c("m", "r1")), "two raters",
    class = "fallible_error_argument")
  for (odd in list("roc_auc", character(), list(), quote(x), ~x, identity, globalenv())) {
    expect_error(estimate_metrics(x, odd, systems = "m"), class = "fallible_error_metric")
  }
  expect_error(estimate_metrics(x, "recal", systems = "m"), class = "fallible_error_metric")
  expect_error(register_measure("jaccard", kernel = NULL, kind = "metric"), class = "fallible_error_argument")
})

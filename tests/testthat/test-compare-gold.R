# Three systems, the second and third with the same number of right answers; made once.
compared_gold <- function() {
  if (is.null(example_store$compared_gold)) {
    set.seed(1)
    design <- rater_design(
      c(0.7, 0.7, 0.8), c(a = 0.85, b = 0.7, c = 0.7), 3, 400, base_rates = c(0.5, 0.3, 0.2)
    )
    x <- quiet(simulate_ratings(design))
    gold <- truth(x)[sample(400, 60), ]
    example_store$compared_gold <- list(
      x = x, gold = gold,
      estimate = quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
    )
  }
  example_store$compared_gold
}

again <- function(..., known_truth = compared_gold()$gold) {
  x <- compared_gold()$x
  quiet(estimate_accuracy(x, known_truth = known_truth, gold_sample = "random", ...))
}

of_source <- function(comparison, interval) {
  sources <- tidy(comparison, "sources")
  sources[sources$interval == interval, ]
}

test_that("differences are those of the kernel, and sources say what each tells", {
  set.seed(1)
  estimate <- compared_gold()$estimate
  comparison <- compare_systems(estimate)
  table <- tidy(comparison)
  x <- gold_accuracy(estimate$gold$evidence, 1L, 2L)
  own <- difference_interval(x, "population", 0.9)
  corrected <- of_source(comparison, "corrected")
  expect_equal(
    unlist(corrected[1, c("estimate", "conf.low", "conf.high")]), three_numbers(own),
    ignore_attr = TRUE
  )
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  expect_equal(table[columns], of_source(comparison, "combined")[columns])
  right <- estimate$gold$evidence$answer[estimate$gold$evidence$at, ] ==
    estimate$gold$evidence$truth
  expect_equal(
    of_source(comparison, "gold alone")$estimate,
    c(mean(right[, 1] - right[, 2]), mean(right[, 1] - right[, 3]), mean(right[, 2] - right[, 3]))
  )
  by_ratings <- of_source(comparison, "ratings alone")
  alone <- tidy(quiet(estimate_accuracy(compared_gold()$x)))$estimate
  expect_equal(by_ratings$estimate, c(alone[1] - alone[2], alone[1] - alone[3], alone[2] - alone[3]))
  expect_identical(by_ratings$weight, c(0, 0, 0))
  weight <- of_source(comparison, "combined")$weight
  expect_true(all(weight > 0 & weight < 1))
  expect_identical(comparison$accuracy$estimate, tidy(estimate)$estimate)
})

test_that("truth of cases with the same answer does not matter", {
  estimate <- compared_gold()$estimate
  evidence <- estimate$gold$evidence
  answer <- evidence$answer[evidence$at, ]
  same <- answer[, 1] == answer[, 2]
  expect_true(any(same))
  other <- evidence
  other$truth[same] <- evidence$truth[same] %% 3L + 1L
  expect_equal(gold_accuracy(other, 1L, 2L), gold_accuracy(evidence, 1L, 2L))
})

test_that("ranks and intervals at once follow from the pairs", {
  set.seed(1)
  estimate <- compared_gold()$estimate
  one <- tidy(compare_systems(estimate))
  set.seed(1)
  all <- tidy(compare_systems(estimate, simultaneous = TRUE))
  expect_true(all(all$conf.low < one$conf.low & all$conf.high > one$conf.high))
  expect_equal(all$estimate, one$estimate)
  ranks <- tidy(compare_systems(estimate), "ranks")
  expect_equal(unname(tapply(ranks$probability, ranks$system, sum)), rep(1, 3), ignore_attr = TRUE)
  two <- compare_systems(estimate, systems = c("a", "b"))
  table <- tidy(two)
  error <- (table$conf.high - table$conf.low) / 2 / qnorm(0.95)
  expect_equal(glance(two)$probability, pnorm(table$estimate / error), tolerance = 0.02)
  expect_equal(glance(two)$probability, table$probability)
})

test_that("draws of systems vary as their pairs do", {
  set.seed(1)
  table <- tibble::tibble(
    system1 = c("a", "a", "b"), system2 = c("b", "c", "c"), estimate = c(0.1, 0.3, 0.2),
    conf.low = estimate - c(0.1, 0.2, 0.15), conf.high = estimate + c(0.1, 0.2, 0.15),
    reason = NA_character_, why = NA_character_
  )
  draws <- draw_joint_accuracies(table, c("a", "b", "c"), 0.9, 1e5)
  apart <- cbind(draws[, 1] - draws[, 2], draws[, 1] - draws[, 3], draws[, 2] - draws[, 3])
  expect_equal(colMeans(apart), table$estimate, tolerance = 0.01)
  expect_equal(apply(apart, 2, sd), c(0.1, 0.2, 0.15) / qnorm(0.95), tolerance = 0.02)
  table$conf.low[[2]] <- NA
  expect_identical(nrow(draw_joint_accuracies(table, c("a", "b", "c"), 0.9)), 0L)
})

test_that("the interval of the estimate is that of differences", {
  set.seed(1)
  for (interval in c("corrected", "anytime")) {
    comparison <- compare_systems(again(interval = interval))
    columns <- c("estimate", "conf.low", "conf.high")
    expect_equal(tidy(comparison)[columns], of_source(comparison, interval)[columns])
  }
  cases <- compare_systems(again(known_truth = gold_cases(compared_gold()$gold, target = "cases")))
  expect_lt(tidy(cases)$std.error[[1]], tidy(compare_systems(again()))$std.error[[1]])
})

test_that("gold in too few clusters gives no interval, and no ranks", {
  set.seed(1)
  comparison <- compare_systems(again(resampling = list(cluster = rep(1:4, 100)), interval = "corrected"))
  table <- tidy(comparison)
  expect_true(all(is.na(table$conf.low)))
  expect_match(table$reason, "^no interval: gold cases are in 4 clusters")
  expect_true(all(is.na(tidy(comparison, "ranks")$probability)))
  expect_identical(glance(comparison)$best, NA_character_)
  many <- compare_systems(again(resampling = list(cluster = rep(1:100, 4)), interval = "corrected"))
  expect_false(anyNA(tidy(many)$conf.low))
})

test_that("pairs without gold keep what ratings say of them", {
  set.seed(1)
  x <- compared_gold()$x
  case <- seq_len(400)
  answers <- data.frame(
    case = rep(case, 3), system = rep(c("a", "b", "c"), each = 400),
    prediction = as.vector(x$patterns$answer[x$index, ])
  )
  answers <- answers[answers$system != "c" | answers$case > 200, ]
  x <- quiet(ratings(
    as.data.frame(x), case = case, rater = rater, rating = rating, systems = answers
  ))
  gold <- stats::setNames(as.character(truth(compared_gold()$x)$category[1:40]), 1:40)
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  table <- tidy(compare_systems(estimate, systems = c("a", "c")), "sources")
  expect_match(table$reason[table$interval == "corrected"], "no gold case")
  comparison <- tidy(compare_systems(estimate, systems = c("a", "c")))
  expect_equal(comparison$estimate, table$estimate[table$interval == "ratings alone"])
  expect_false(is.na(comparison$conf.low))
})

test_that("without gold there are no sources", {
  estimate <- quiet(estimate_accuracy(compared_gold()$x, resampling = list(replicates = 50)))
  expect_identical(nrow(tidy(compare_systems(estimate), "sources")), 0L)
})

test_that("groups are compared one by one", {
  set.seed(1)
  groups <- again(by = rep(c("u", "v"), 200))
  comparison <- compare_systems(groups[["u"]])
  expect_true(all(of_source(comparison, "combined")$weight > 0))
  expect_identical(tidy(comparison)$n, rep(200, 3))
})

test_that("words say what gold did", {
  local_reproducible_output(width = 80)
  set.seed(1)
  expect_snapshot(compare_systems(compared_gold()$estimate))
})

test_that("pairs of many systems are measured as each alone, in work that grows with pairs", {
  set.seed(5)
  design <- rater_design(c(0.7, 0.7, 0.8), stats::setNames(seq(0.5, 0.85, 0.05), letters[1:8]), 3,
    150)
  x <- simulate_ratings(design)
  estimate <- quiet(estimate_accuracy(x, known_truth = truth(x)[1:60, ], gold_sample = "random",
    resampling = list(cluster = rep(1:30, 5))))
  evidence <- estimate$gold$evidence
  pairs <- utils::combn(8L, 2L)
  together <- gold_accuracy(evidence, pairs[1L, ], pairs[2L, ])
  alone <- lapply(seq_len(ncol(pairs)), function(i) {
    gold_accuracy(evidence, pairs[1L, i], pairs[2L, i])
  })
  of_pairs <- setdiff(names(together), c("rest", "answers", "seen"))
  off <- vapply(of_pairs, function(field) {
    max(abs(together[[field]] - vapply(alone, function(x) as.double(x[[field]]), 0)))
  }, 0)
  expect_lt(max(off), 1e-12)
  expect_length(together$estimate, ncol(pairs))
  # They are asked of in blocks.
  asked <- 0
  compute_by_blocks(evidence$answer, pairs[1L, ], function(at) {
    asked <<- asked + 1
    list(at = at)
  })
  expect_identical(asked, 1)
})

test_that("every metric is what its definition says", {
  set.seed(1)
  expect_over(rep(c(2, 3, 5), length(rounds(60))), function(n) {
    table <- matrix(stats::rpois(n * n, 4), n) + diag(n)
    cost <- matrix(stats::runif(n * n), n)
    beta <- stats::runif(1, 0.3, 3)
    found <- values_of(table, beta = beta, cost = cost)
    of <- function(id, average) {
      found$value[found$metric == id & found$average %in% average & is.na(found$category)]
    }
    tp <- sum(diag(table))
    off <- sum(table) - tp
    c(
      vapply(c(table_ids, ordered_ids), function(id) {
        largest_gap(of(id, NA), slow_table_metric(id, table, cost))
      }, 0),
      unlist(lapply(category_ids, function(id) {
        each <- sapply(seq_len(n), slow_category_metric, id = id, table = table, beta = beta)
        micro <- slow_binary_metric(id, tp, off, off, (n - 1) * sum(table) - off, beta)
        c(
          largest_gap(found$value[found$metric == id & !is.na(found$category)], each),
          largest_gap(of(id, "macro"), mean(each)),
          largest_gap(of(id, "macro_weighted"), sum(each * rowSums(table)) / sum(table)),
          largest_gap(of(id, "micro"), micro)
        )
      }))
    )
  })
})

test_that("what is 0 / 0 is NA; averages of recall, precision and F are over categories with cases", {
  # No case is of C, though it is answered; B is never the answer.
  table <- rbind(c(5, 0, 1), c(2, 0, 2), c(0, 0, 0))
  found <- values_of(table)
  of <- function(id, category) found$value[found$metric == id & found$category %in% category]
  expect_identical(is.na(of("recall", LETTERS[1:3])), c(FALSE, FALSE, TRUE))
  expect_identical(is.na(of("precision", LETTERS[1:3])), c(FALSE, TRUE, FALSE))
  expect_identical(is.na(of("ppv", LETTERS[1:3])), c(FALSE, TRUE, TRUE))
  expect_identical(is.na(of("f_meas", LETTERS[1:3])), c(FALSE, TRUE, TRUE))
  macro <- function(id, average = "macro") {
    found$value[found$metric == id & found$average %in% average]
  }
  expect_equal(macro("recall"), mean(c(5 / 6, 0)))
  expect_equal(macro("precision"), mean(c(5 / 7, 0)))
  expect_equal(macro("f_meas"), 2 * 5 / 6 * 5 / 7 / (5 / 6 + 5 / 7) / 2)
  expect_equal(macro("precision", "macro_weighted"), 5 / 7 * 0.6)
  # F is never above both that it is made of, whatever is missing.
  set.seed(3)
  above <- vapply(1:200, function(i) {
    table <- matrix(stats::rpois(16, 1) * (stats::runif(16) < 0.5), 4)
    table[[1]] <- 1
    some <- values_of(table, c("recall", "precision", "f_meas"), c("macro", "macro_weighted"))
    some <- some[!is.na(some$average), ]
    of <- split(some$value, some$metric)
    max(of$f_meas - pmax(of$recall, of$precision))
  }, 0)
  expect_lt(max(above), 1e-12)
  expect_true(is.na(macro("bal_accuracy")))
  expect_true(is.na(macro("ppv")))
  # A category without weight does not undo a weighted mean.
  balanced <- of("bal_accuracy", c("A", "B"))
  expect_equal(macro("bal_accuracy", "macro_weighted"), sum(balanced * c(6, 4)) / 10)
  # A category that is never found, nor rightly answered, has an F of 0.
  expect_identical(values_of(rbind(c(0, 2), c(3, 4)), "f_meas", NULL)$value[[1]], 0)
  one <- values_of(rbind(c(4, 0), c(0, 0)), c("kap", "mcc"))
  expect_true(all(is.na(one$value)))
})

test_that("slopes are the derivative along the way to a cell", {
  set.seed(2)
  table <- matrix(stats::rexp(9), 3)
  table <- table / sum(table)
  plan <- metric_plan(
    built_in_metrics[c("recall", "precision", "mcc", "f_meas", "loss")], LETTERS[1:3], "macro",
    list(beta = 2, cost = matrix(1:9, 3))
  )
  slopes <- slope_matrix(metric_slopes(plan, as.vector(t(table))))
  truth <- rep(1:3, each = 3)
  answer <- rep(1:3, 3)
  of <- function(metric, k) slopes[, plan$rows$metric == metric & plan$rows$category %in% k]
  for (k in 1:3) {
    recall <- table[k, k] / sum(table[k, ])
    by_hand <- (truth == k) * ((answer == k) - recall) / sum(table[k, ])
    expect_equal(of("recall", LETTERS[k]), by_hand, tolerance = 1e-6)
    precision <- table[k, k] / sum(table[, k])
    by_hand <- (answer == k) * ((truth == k) - precision) / sum(table[, k])
    expect_equal(of("precision", LETTERS[k]), by_hand, tolerance = 1e-6)
  }
  cost <- as.vector(t(matrix(1:9, 3)))
  expect_equal(slopes[, plan$rows$metric == "loss"], cost - sum(cost * t(table)), tolerance = 1e-6)
  expect_lt(max(abs(as.vector(t(table)) %*% slopes)), 1e-6)
  # A truth that is not there says nothing of a step towards it.
  empty <- rbind(c(0.5, 0.1, 0), c(0.1, 0.3, 0), 0)
  expect_true(all(slope_matrix(metric_slopes(plan, as.vector(t(empty))))[c(3, 6:9), ] == 0))
})

test_that("slopes of all metrics and averages are those of tables with a little more of a cell", {
  register_measure("own_table", "Own", function(table) sum(diag(table)^2), "table", kind = "metric")
  register_measure("own_category", "Own", function(tp, fn, fp, tn) tp^2 / (tp + fn), kind = "metric")
  withr::defer(for (id in c("own_table", "own_category")) register_measure(id, kernel = NULL, kind = "metric"))
  off <- sapply(1:12, function(seed) {
    set.seed(seed)
    n <- c(2, 3, 4)[[seed %% 3 + 1]]
    table <- matrix(stats::rexp(n^2), n)
    if (seed > 6) table[1, ] <- table[, sample(n, 1)] <- 0 # such a truth, or answer, is not there
    plan <- metric_plan(
      all_metrics()[c(table_ids, ordered_ids, category_ids, "own_table", "own_category")],
      LETTERS[1:n], metric_averages, list(beta = 2, cost = matrix(stats::runif(n^2), n),
        ordered = TRUE, steps = n - 1)
    )
    table <- as.vector(t(table / sum(table)))
    slow <- slow_slopes(plan, table)
    fast <- metric_slopes(plan, table)
    some <- matrix(stats::runif(3 * n^2), 3)
    c(
      max(abs(slope_matrix(fast) - slow), na.rm = TRUE),
      max(abs(first_order_changes(fast, some) - some %*% slow), na.rm = TRUE),
      max(abs(slopes_by_answer(fast, matrix(some[1, ], n)) -
        rowsum(some[1, ] * slow, rep(1:n, n))), na.rm = TRUE),
      !identical(is.na(colSums(slope_matrix(fast))), is.na(colSums(slow)))
    )
  })
  expect_lt(max(off), 1e-7)
})

test_that("slopes take memory that grows with the square of the number of categories", {
  size <- function(n) {
    plan <- metric_plan(built_in_metrics[c("mcc", "recall", "f_meas")], as.character(1:n), "macro",
      list(beta = 1))
    as.double(utils::object.size(metric_slopes(plan, rep(1 / n^2, n^2))))
  }
  expect_lt(size(40) / size(20), 5)
})

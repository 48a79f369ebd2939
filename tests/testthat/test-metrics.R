test_that("metrics are listed, with what they need", {
  table <- measures("metric")
  expect_setequal(table$id[table$needs == "table"], c(table_ids, ordered_ids, category_ids, odds_ids))
  expect_setequal(table$id[table$needs == "scores"], names(score_records))
  expect_identical(table$same_as[table$id == "sens"], "recall")
  for (record in built_in_metrics) expect_setequal(names(record), names(built_in_metrics[[1]]))
})

test_that("a registered metric has estimates and intervals", {
  register_measure("csi", "Critical success index", function(tp, fn, fp, tn) tp / (tp + fn + fp), kind = "metric")
  register_measure("err", "Error", function(table) 1 - sum(diag(table)), "table", better = "low", kind = "metric")
  withr::defer({
    register_measure("csi", kernel = NULL, kind = "metric")
    register_measure("err", kernel = NULL, kind = "metric")
  })
  expect_true(all(c("csi", "err") %in% measures("metric")$id))
  x <- metric_panel()
  found <- tidy(quiet(estimate_metrics(x, c("err", "csi", "f_meas", "loss"), cost = 1 - diag(3))))
  of <- function(id) found[found$metric == id, ]
  expect_equal(of("err")$estimate, of("loss")$estimate)
  expect_equal(of("err")[c("std.error", "conf.low", "conf.high")],
    of("loss")[c("std.error", "conf.low", "conf.high")], tolerance = 1e-6)
  each <- !is.na(of("csi")$category)
  f <- of("f_meas")$estimate[each]
  expect_equal(of("csi")$estimate[each], f / (2 - f))
  expect_false(anyNA(found$conf.low))
})

test_that("bad metrics are told", {
  x <- quiet(estimate_accuracy(metric_panel(60), "joint", interval = "none"))
  kernels <- list(
    stops = function(tp, fn, fp, tn) stop("no {luck}"), text = function(tp, fn, fp, tn) "a",
    short = function(tp, fn, fp, tn) 1, wide = function(tp, fn, fp, tn) 2 * tp^0
  )
  for (id in names(kernels)) register_measure(id, id, kernels[[id]], kind = "metric")
  withr::defer(for (id in names(kernels)) register_measure(id, kernel = NULL, kind = "metric"))
  for (id in names(kernels)) {
    error <- expect_error(estimate_metrics(x, id), class = "fallible_error_metric")
    expect_identical(error$metric, id)
  }
  for (cost in list(diag(2), "a", matrix(NA_real_, 3, 3), matrix(1, 3, 3))) {
    error <- expect_error(
      estimate_metrics(x, "loss", cost = cost), class = "fallible_error_argument"
    )
    expect_identical(error$arg, "cost")
  }
  expect_snapshot(error = TRUE, {
    estimate_metrics(x, "recal")
    estimate_metrics(x, character())
    estimate_metrics(x, "loss")
    estimate_metrics(x, "loss", cost = diag(2))
    estimate_metrics(x, "loss", cost = matrix(1, 3, 3, dimnames = list(letters[1:3], NULL)))
    estimate_metrics(x, average = "mean")
    estimate_metrics(x, beta = 0)
    estimate_metrics(x, interval = "profile")
    estimate_metrics(x, systems = "c")
    estimate_metrics(x, "stops")
    estimate_metrics(x, "short")
    estimate_metrics(x, "wide")
    register_measure("recall", "Recall", sum, kind = "metric")
    register_measure("new", "New", "sum", kind = "metric")
    register_measure("new", "New", function(x) 1, kind = "metric")
    register_measure("new", "New", function(table) 1, "table", range = c(0, Inf), kind = "metric")
  })
})

test_that("costs may be a data frame", {
  x <- quiet(estimate_accuracy(metric_panel(60), "joint", interval = "none"))
  cost <- matrix(c(0, 1, 9, 1, 0, 1, 1, 1, 0), 3, dimnames = rep(list(1:3), 2))
  of <- function(cost) tidy(estimate_metrics(x, "loss", cost = cost, interval = "none"))$estimate
  expect_identical(of(as.data.frame(cost)[3:1, ]), of(cost))
})

test_that("costs go by the names of categories", {
  x <- quiet(estimate_accuracy(metric_panel(60), "joint", interval = "none"))
  cost <- matrix(stats::runif(9), 3, dimnames = list(1:3, 1:3))
  plain <- tidy(estimate_metrics(x, "loss", cost = unname(cost)))
  labels <- x$fit$x$categories
  dimnames(cost) <- list(labels, labels)
  turned <- cost[3:1, c(2, 3, 1)]
  expect_identical(tidy(estimate_metrics(x, "loss", cost = turned)), plain)
})

test_that("no metric takes the name of one of the package, or begins with a dot", {
  refused <- function(...) expect_error(..., "must be a name", class = "fallible_error_argument")
  refused(register_measure("recall", "Own", function(table) 1, "table", kind = "metric"))
  refused(register_measure(".own", "Own", function(table) 1, "table", kind = "metric"))
})

#' @srrstats {G5.4, G5.4b, G5.4c} slow twins to 1e-8, and published tables
test_that("the registry describes every measure", {
  table <- measures()
  expect_false(anyDuplicated(table$id) > 0)
  expect_true(all(nzchar(table$title) & nzchar(table$reference)))
  expect_true(all(table$same_as %in% c(NA, table$id)))
  expect_true(all(table$scale %in% c("nominal", "ordinal", "interval", "ratio", "binary")))
})

test_that("every measure keeps its promises on random ratings", {
  own <- exported_measures()
  expect_over(200 + rounds(60), function(seed) {
    set <- random_ratings(seed)
    x <- as_panel(set)
    view <- new_judge_view(x)
    fits <- Filter(function(m) is.null(why_measure_unsuitable(m, view, list())), built_in_measures)
    table <- agreement(x, names(fits))
    lower <- vapply(fits, `[[`, 0, "lower")
    outside <- pmax(lower - table$estimate, table$estimate - 1)
    from_interval <- pmax(table$conf.low - table$estimate, table$estimate - table$conf.high)
    direct <- intersect(names(own), names(fits))
    refused <- vapply(setdiff(names(built_in_measures), names(fits)), function(id) {
      inherits(try(agreement(x, id), silent = TRUE), "try-error")
    }, NA)
    c(
      unless(table$measure == names(fits)), unless(!is.na(table$estimate) | !is.na(table$reason)),
      unless(is.na(table$conf.low) == is.na(table$std.error)),
      unless(!is.na(table$std.error) | !is.na(table$reason)),
      outside[!is.na(outside)], from_interval[!is.na(from_interval)],
      largest_gap(
        vapply(own[direct], function(f) quiet(f(x)), 0),
        table$estimate[match(direct, table$measure)]
      ),
      unless(refused)
    )
  })
  expect_error(quiet(agreement(matrix(1:6, 3), "yule_y")), class = "fallible_error_measure")
})

test_that("a measure of one's own has jackknife and bootstrap", {
  withr::defer(for (id in c("own_fleiss", "own_conger", "own_cohen")) {
    register_measure(id, kernel = NULL)
  })
  register_measure("own_fleiss", "Fleiss' kappa in R", function(counts, weights) {
    r <- rowSums(counts)
    po <- sum(weights * rowSums(counts * (counts - 1))) / sum(weights * r * (r - 1))
    p <- colSums(weights * counts) / sum(weights * r)
    (po - sum(p^2)) / (1 - sum(p^2))
  })
  register_measure("own_cohen", "Cohen's kappa in R", form = "table", kernel = function(table) {
    p <- table / sum(table)
    pe <- sum(rowSums(p) * colSums(p))
    (sum(diag(p)) - pe) / (1 - pe)
  })
  register_measure("own_conger", "Conger's kappa in R", form = "ratings",
    kernel = function(ratings, weights) {
      twin_measures(ratings, weights, k = 4)[["conger_kappa"]]
    })
  expect_true("own_cohen" %in% measures()$id)
  x <- lehner_ratings()
  same <- function(x, id, own, interval) {
    set.seed(1)
    one <- agreement(x, id, interval = interval, resampling = list(replicates = 50))
    set.seed(1)
    two <- agreement(x, own, interval = interval, resampling = list(replicates = 50))
    columns <- c("estimate", "std.error", "conf.low", "conf.high", "n")
    expect_equal(as.data.frame(one)[columns], as.data.frame(two)[columns])
  }
  for (interval in c("jackknife", "bootstrap")) {
    same(x, "fleiss_kappa", "own_fleiss", interval)
    same(x, "conger_kappa", "own_conger", interval)
    same(x[, 1:2], "cohen_kappa", "own_cohen", interval)
  }
  expect_identical(agreement(x, "own_fleiss")$method, "jackknife")
  register_measure("own_fleiss", kernel = NULL)
  expect_error(agreement(x, "own_fleiss"), class = "fallible_error_measure")
})

test_that("kernels that give no number are found out", {
  withr::defer(for (id in c("none", "many")) register_measure(id, kernel = NULL))
  register_measure("none", "Nothing", function(counts, weights) NA)
  register_measure("many", "Too much", function(counts, weights) 1:2)
  expect_match(agreement(lehner_ratings(), "none")$reason, "returned no number")
  expect_error(agreement(lehner_ratings(), "many"), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    register_measure("cohen_kappa", "Mine", identity)
    register_measure(".mine", "Mine", identity)
    register_measure("mine", "Mine", 3)
    register_measure("mine", 3, identity)
    register_measure("mine", "Mine", identity, range = 1)
    register_measure("mine", "Mine", identity, form = "table", raters = 3)
  })
})

test_that("kernels must take what they will be given", {
  withr::defer(for (id in c("fits", "misfits")) register_measure(id, kernel = NULL))
  misfits <- list(
    counts = function(counts) 1, counts = function() 1, ratings = function(x, w, more) 1,
    counts = function(counts, ..., weights) 1, table = function() 1, table = function(a, b) 1
  )
  for (i in seq_along(misfits)) {
    expect_error(
      register_measure("misfits", "No", misfits[[i]], names(misfits)[[i]]),
      "is called as", class = "fallible_error_argument"
    )
  }
  expect_false("misfits" %in% measures()$id)
  fits <- list(
    counts = function(counts, weights) 1, counts = function(...) 1, ratings = function(x, ...) 1,
    counts = function(x, w, more = 3) 1, table = function(x) 1, table = function(a, b = 1) 1,
    table = sum, counts = max
  )
  for (i in seq_along(fits)) {
    expect_identical(register_measure("fits", "Yes", fits[[i]], names(fits)[[i]]), "fits")
  }
  expect_snapshot(error = TRUE, {
    register_measure("misfits", "No", function(counts) 1)
    register_measure("misfits", "No", function() 1, form = "table")
  })
})

test_that("a kernel that stops is named", {
  withr::defer(register_measure("stops", kernel = NULL))
  calls <- 0
  register_measure("stops", "Stops", function(counts, weights) {
    calls <<- calls + 1
    if (calls > 1) stop("oops")
    0.5
  })
  expect_identical(agreement(lehner_ratings(), "stops", interval = "none")$estimate, 0.5)
  error <- expect_error(
    agreement(lehner_ratings(), "stops"), "`kernel` of the measure \"stops\" stopped with an error.*oops",
    class = "fallible_error_argument"
  )
  expect_identical(conditionMessage(error$parent), "oops")
})

test_that("every range stands by itself", {
  expect_identical(measures()$range[measures()$id == "percent_agreement"], "0 to 1")
  withr::defer(for (id in c("wide", "far")) register_measure(id, kernel = NULL))
  register_measure("wide", "Wide", function(counts, weights) 1, range = c(-Inf, Inf))
  register_measure("far", "Far", function(counts, weights) 1, range = c(0.5, 1e6))
  expect_setequal(unique(measures()$range), c("0 to 1", "-1 to 1", "-Inf to Inf", "0.5 to 1e+06"))
})

design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.3, b = 0.8), n = 30)

test_that("a study goes on from its checkpoint after an interrupt", {
  file <- withr::local_tempfile(fileext = ".rds")
  calls <- 0
  stop_at <- 33
  interrupted <- function(x) {
    calls <<- calls + 1
    if (calls == stop_at) rlang::interrupt()
    stats::runif(length(x$systems))
  }
  run <- function(...) simulation_study(design, list("binned", mine = interrupted), ...)
  set.seed(1)
  expect_identical(
    tryCatch(run(runs = 25, checkpoint = file), interrupt = function(e) "interrupted"),
    "interrupted"
  )
  kept <- readRDS(file)
  expect_identical(runs_done(kept), c(25L, 0L))
  stop_at <- 0
  calls <- 0
  expect_message(resumed <- run(runs = 25, checkpoint = file), "25 panels are done")
  expect_identical(calls, 25)
  set.seed(1)
  whole <- run(runs = 25)
  expect_identical(tidy(resumed), tidy(whole))
  # More runs, and nothing left to do.
  expect_message(more <- run(runs = 30, checkpoint = file), "50 panels are done")
  expect_identical(tidy(more), tidy(update(whole, runs = 30)))
  expect_message(again <- run(runs = 30, checkpoint = file), "60 panels are done")
  expect_identical(tidy(again), tidy(more))
})

test_that("a checkpoint of another study is refused", {
  file <- withr::local_tempfile(fileext = ".rds")
  study <- simulation_study(design, runs = 2, checkpoint = file)
  expect_error(
    simulation_study(lehner_design(2), runs = 2, checkpoint = file), class = "fallible_error_file"
  )
  expect_error(
    simulation_study(design, "binned", runs = 2, checkpoint = file), class = "fallible_error_file"
  )
  expect_error(simulation_study(design, runs = 1, checkpoint = file), "more than the 1 asked for")
  saveRDS(1, file)
  expect_error(simulation_study(design, checkpoint = file), "does not hold a study")
  writeLines("text", file)
  expect_error(simulation_study(design, checkpoint = file), "does not hold a study")
})

test_that("processes of any plan give the numbers of one process", {
  skip_on_cran()
  skip_if_not_installed("future")
  shift <- 0.125 # what an estimator uses must travel with it
  help_estimate <- function(x) glance(fit_raters(x))$kappa + shift
  environment(help_estimate) <- globalenv()
  withr::defer(rm("shift", "help_estimate", envir = globalenv()))
  assign("shift", shift, envir = globalenv())
  assign("help_estimate", help_estimate, envir = globalenv())
  mine <- function(x) rep(help_estimate(x) + stats::runif(1), length(x$systems))
  environment(mine) <- globalenv()
  run <- function() {
    set.seed(2)
    simulation_study(
      list(design, lehner_design(5)),
      list("binned", mine = mine, failing = function(x) stop("no"),
           b = accuracy_estimator("unbinned", "bootstrap", replicates = 10)),
      runs = 12
    )
  }
  alone <- tidy(run())
  same <- function(rows) {
    expect_identical(rows[names(rows) != "condition"], alone[names(alone) != "condition"])
    expect_identical(
      lapply(rows$condition, conditionMessage_or_null),
      lapply(alone$condition, conditionMessage_or_null)
    )
  }
  conditionMessage_or_null <- function(x) if (!is.null(x)) conditionMessage(x)

  before <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(before))
  same(tidy(run()))
  future::plan("sequential")
  workers <- parallel::makePSOCKcluster(2)
  withr::defer(parallel::stopCluster(workers))
  future::plan("cluster", workers = workers)
  same(tidy(run()))
  future::plan("sequential")
})

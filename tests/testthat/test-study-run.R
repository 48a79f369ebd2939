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
  expect_equal(kept$done, c(25, 0))
  expect_equal(kept$results$run[kept$results$estimator == "mine"], 1:25)
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

test_that("a checkpoint that cannot be written is refused before the work", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "study.rds")
  dir.create(paste0(file, ".new")) # where it would be written
  ran <- FALSE
  look <- function(x) {
    ran <<- TRUE
    0.5
  }
  expect_error(
    simulation_study(rater_design(c(0.6, 0.6), 0.8), look, runs = 1, checkpoint = file),
    class = "fallible_error_file"
  )
  expect_false(ran)
})

test_that("runs are added only to the study of the checkpoint", {
  file <- withr::local_tempfile(fileext = ".rds")
  set.seed(3)
  study <- simulation_study(design, "binned", runs = 2, checkpoint = file)
  expect_message(more <- update(study, runs = 4, checkpoint = file), "4 panels are done")
  expect_identical(tidy(more), tidy(update(study, runs = 4)))
  other <- simulation_study(design, "binned", runs = 2)
  expect_error(
    update(other, runs = 5, checkpoint = file), "Not the same: `seed`",
    class = "fallible_error_file"
  )
})

test_that("blocks are short where the work is long", {
  size <- function(n, ...) block_size(list(n = n), as_estimators(list(...), NULL))
  expect_identical(size(200, "binned"), 500)
  expect_identical(size(200, "binned", f = function(x) 1), 10)
  expect_identical(size(1e7, "binned"), 1)
  boot <- accuracy_estimator("binned", interval = "bootstrap", replicates = 1000L)
  expect_lt(size(200, b = boot), 20)
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
  for (other in list(list(n = 10), list(panels = "shared"))) {
    expect_error(
      do.call(simulation_study, c(list(design, runs = 2, checkpoint = file), other)),
      paste0("Not the same: `", names(other)), class = "fallible_error_file"
    )
  }
  expect_error(simulation_study(design, runs = 1, checkpoint = file), "more than the 1 asked for")
  saveRDS(1, file)
  expect_error(simulation_study(design, checkpoint = file), "does not hold a study")
  writeLines("text", file)
  expect_error(simulation_study(design, checkpoint = file), "does not hold a study")
})

test_that("processes of any plan give the numbers of one process", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if(Sys.getenv("R_COVR") == "true", "Instrumented code does not run in other processes")
  shift <- 0.125 # what an estimator uses must travel with it
  help_estimate <- function(x) glance(fit_raters(x))$kappa + shift * seed + estimators * block
  environment(help_estimate) <- globalenv()
  withr::defer(rm("shift", "help_estimate", envir = globalenv()))
  # Names that the package uses too must not get in the way.
  withr::defer(rm("seed", "estimators", "block", envir = globalenv()))
  for (name in c("seed", "estimators", "block")) assign(name, 0.25, envir = globalenv())
  assign("shift", shift, envir = globalenv())
  assign("help_estimate", help_estimate, envir = globalenv())
  mine <- function(x) rep(help_estimate(x) + stats::runif(1), length(x$systems))
  environment(mine) <- globalenv()
  run <- function() {
    set.seed(2)
    simulation_study(
      list(design, lehner_design(5)),
      list("binned", mine = mine, failing = function(x) stop("no"),
           b = accuracy_estimator("unbinned", interval = "bootstrap", replicates = 10)),
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
  parallel::clusterCall(workers, .libPaths, .libPaths())
  future::plan("cluster", workers = workers)
  same(tidy(run()))
  future::plan("sequential")
})

test_that("an interrupt before the first block leaves a study that can go on", {
  file <- withr::local_tempfile(fileext = ".rds")
  first <- TRUE
  interrupted <- function(x) {
    if (first) rlang::interrupt()
    0.5
  }
  run <- function() simulation_study(design, interrupted, runs = 3, checkpoint = file)
  expect_error(tryCatch(run(), interrupt = function(e) stop("interrupted")), "interrupted")
  expect_identical(readRDS(file)$done, c(0L, 0L))
  first <- FALSE
  expect_message(study <- run(), "0 panels are done")
  expect_identical(tidy(study)$run, rep(1:3, 2))
})

test_that("what is done is what is in the results", {
  study <- simulation_study(design, runs = 4)
  expect_identical(study$done, c(4L, 4L))
  part <- study
  part["results"] <- list(NULL)
  rows <- study$results$cell == 2 & study$results$run <= 3
  expect_identical(add_results(part, list(lapply(study$results, `[`, rows)))$done, c(0L, 3L))
  expect_identical(add_results(study, list()), study)
})

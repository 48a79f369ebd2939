design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.3, b = 0.8), n = 30)

test_that("a study goes on from its checkpoint after an interrupt", {
  skip_unless_extended()
  file <- withr::local_tempfile(fileext = ".rds")
  calls <- 0
  # In the first run of the second cell. A variable with another value is another estimator.
  state <- list2env(list(stop_at = 26))
  interrupted <- function(x) {
    calls <<- calls + 1
    if (calls == state$stop_at) rlang::interrupt()
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
  state$stop_at <- 0
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

test_that("runs are added only to the study of the checkpoint", {
  file <- withr::local_tempfile(fileext = ".rds")
  set.seed(3)
  study <- simulation_study(design, "binned", runs = 2, checkpoint = file)
  expect_message(more <- update(study, runs = 4, checkpoint = file), "4 panels are done")
  expect_identical(tidy(more), tidy(update(study, runs = 4)))
  other <- simulation_study(design, "binned", runs = 2)
  expect_error(
    update(other, runs = 5, checkpoint = file), "The other study differs in `seed`",
    class = "fallible_error_file"
  )
})

test_that("blocks are short where the work is long", {
  size <- function(n, ...) block_size(list(n = n), as_estimators(list(...), NULL))
  expect_identical(size(200, "binned"), 500)
  expect_identical(size(200, "binned", f = function(x) 1), 10)
  expect_identical(size(1e7, "binned"), 1)
  slow_size <- function(most, ...) block_size(list(n = 200), as_estimators(list(...), NULL), most)
  expect_identical(slow_size(3, f = function(x) 1), 3)
  expect_identical(slow_size(Inf, f = function(x) 1), 10)
  expect_identical(slow_size(0, f = function(x) 1), 1)
  expect_identical(slow_size(3, "binned"), 500)
  boot <- accuracy_estimator("binned", interval = "bootstrap", resampling = list(replicates = 1000L))
  expect_lt(size(200, b = boot), 20)
  cell <- list(n = 5000, design = list(systems = 1:5))
  expect_identical(block_size(cell, as_estimators("average", NULL)), 1)
})

test_that("processes of any plan give the numbers of one process", {
  skip_unless_extended()
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
           b = accuracy_estimator("unbinned", interval = "bootstrap", resampling = list(replicates = 10))),
      runs = 12
    )
  }
  alone <- tidy(run())
  same <- function(rows) expect_identical(rows, alone)

  local_workers()
  same(tidy(run()))
  future::plan("sequential")
  workers <- parallel::makePSOCKcluster(2)
  withr::defer(parallel::stopCluster(workers))
  parallel::clusterCall(workers, .libPaths, .libPaths())
  future::plan("cluster", workers = workers)
  same(tidy(run()))
  future::plan("sequential")
})

test_that("of a lost worker's study the blocks in front of the lost one are kept", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if(Sys.getenv("R_COVR") == "true", "Instrumented code does not run in other processes")
  blocks <- lapply(c(1L, 1L, 1L, 2L), function(cell) list(cell = cell))
  expect_identical(keep_consecutive_results(blocks, list("a", NULL, "c", "d")), list("a", "d"))
  expect_identical(keep_consecutive_results(blocks, list(NULL, "b")), list())

  file <- withr::local_tempfile(fileext = ".rds")
  flag <- withr::local_tempfile()
  deadly <- eval(bquote(function(x) {
    if (nrow(x) == 7 && !file.exists(.(flag))) {
      file.create(.(flag))
      tools::pskill(Sys.getpid())
      Sys.sleep(5)
    }
    rep(0.5, length(x$systems))
  }), globalenv())
  run <- function() {
    set.seed(1)
    simulation_study(
      lehner_design(3), deadly, runs = 2, n = c(6, 7), panels = "same", checkpoint = file
    )
  }
  local_workers()
  expect_error(run(), "n = 7, runs 1 to [12]", class = "fallible_error_worker")
  expect_identical(readRDS(file)$done, c(2L, 0L))
  future::plan("sequential")
  expect_message(again <- run(), "2 panels are done")
  unlink(file)
  expect_identical(tidy(suppressMessages(run())), tidy(again))
})

test_that("an interrupt before the first block leaves a study that can go on", {
  file <- withr::local_tempfile(fileext = ".rds")
  state <- list2env(list(first = TRUE)) # a variable with another value is another estimator
  interrupted <- function(x) {
    if (state$first) rlang::interrupt()
    0.5
  }
  run <- function() simulation_study(design, interrupted, runs = 3, checkpoint = file)
  expect_message(
    expect_error(tryCatch(run(), interrupt = function(e) stop("interrupted")), "interrupted"),
    "0 panels are\\s+saved in .*The\\s+same\\s+call\\s+continues"
  )
  expect_identical(readRDS(file)$done, c(0L, 0L))
  state$first <- FALSE
  expect_message(study <- run(), "0 panels are done")
  expect_identical(tidy(study)$run, rep(1:3, 2))
})

test_that("results do not depend on the sizes of blocks", {
  study <- new_study(
    as_designs(list(
      d = design, drawn = function(n) simulate_ratings(design, n)
    ), 20), as_estimators(list("binned", noise = function(x) stats::runif(n_systems(x)))),
    23L, c(20L, 30L), "same", 1:2
  )
  # The time of a block is constant, or increases, or jumps.
  clocks <- list(stopped = 0, slow = 0.3, jumps = c(0, 0.05, 0.7))
  studies <- lapply(clocks, function(steps) {
    n_calls <- 0
    run_study(study, 1L, clock = function() {
      n_calls <<- n_calls + 1
      sum(rep_len(steps, n_calls))
    })
  })
  expect_identical(studies$slow, studies$stopped)
  expect_identical(studies$jumps, studies$stopped)
  expect_identical(studies$slow$done, rep(23L, 4))
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

test_that("a study says of every method and interval what estimate_accuracy() says of the panel", {
  skip_unless_nightly()
  methods <- c("average", "binned", "unbinned", "joint", "shared")
  pairs <- expand.grid(
    method = methods, interval = c("none", "bootstrap", "robust"), stringsAsFactors = FALSE
  )
  estimators <- Map(
    accuracy_estimator, pairs$method, interval = pairs$interval,
    resampling = list(list(replicates = 10L)), conf_level = 0.8
  )
  names(estimators) <- paste(pairs$method, pairs$interval)
  expect_true(all(are_compiled(estimators)))
  weak <- rater_design(c(0.2, 0.2), 0.9, n = 6) # some panels are not identified
  set.seed(14)
  study <- simulation_study(list(design, weak), estimators, runs = 2, panels = "same")
  rows <- tidy(study)
  expect_true(anyNA(rows$estimate))
  results <- c("estimate", "std.error", "conf.low", "conf.high", "reason")
  for (row in seq_len(nrow(rows))) {
    again <- tidy(quiet(replay(study, row, "estimate")))
    again <- again[again$system == rows$system[[row]], results]
    expect_equal(again, rows[row, results], tolerance = 1e-12, ignore_attr = TRUE)
  }
  robust <- rows[grepl("robust", rows$estimator) & !is.na(rows$std.error), ]
  sampling <- rows$std.error[match(
    paste(robust$design, robust$run, robust$system, sub("robust", "bootstrap", robust$estimator)),
    paste(rows$design, rows$run, rows$system, rows$estimator)
  )]
  of_average <- startsWith(robust$estimator, "average")
  expect_true(all(robust$std.error[!of_average] >= sampling[!of_average]))
  expect_true(any(robust$std.error[!of_average] > sampling[!of_average]))
})

test_that("profile intervals of a study are made in R, and only where there is a profile", {
  profile <- accuracy_estimator("joint", interval = "profile")
  expect_false(are_compiled(list(profile)))
  for (method in c("average", "binned", "unbinned", "shared")) {
    expect_error(
      accuracy_estimator(method, interval = "profile"), class = "fallible_error_argument"
    )
  }
})

test_that("panels of a world have their truth and agreement in the results", {
  set.seed(16)
  study <- simulation_study(function(n) simulate_ratings(design, n = n), "binned", runs = 2, n = 20)
  rows <- tidy(study)
  panel <- replay(study, 2)
  expect_identical(rows$sample[[2]], true_accuracy(panel)$sample)
  expect_identical(rows$agreement[[2]], quiet(fit_raters(panel))$agreement)
})

test_that("a study gives the reason of estimate_accuracy() where raters only agree too seldom", {
  design <- rater_design(c(0.1, 0.85, 0.85), 0.9, 2, n = 60)
  study <- withr::with_seed(2, simulation_study(design, c("binned", "average"), runs = 4))
  rows <- tidy(study)
  expect_match(rows$reason[is.na(rows$estimate)], "too little for models with equal raters", all = TRUE)
  for (row in which(is.na(rows$estimate))[1:2]) {
    again <- tidy(quiet(replay(study, row, "estimate")))
    expect_identical(again$reason, rows$reason[[row]])
  }
})

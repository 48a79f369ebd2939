design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.3, b = 0.8), n = 30)

test_that("a checkpoint that cannot be written is refused before the work", {
  skip_if_not(dir.exists("/proc")) # where no user makes files
  ran <- FALSE
  look <- function(x) {
    ran <<- TRUE
    0.5
  }
  expect_error(
    simulation_study(rater_design(c(0.6, 0.6), 0.8), look, runs = 1, checkpoint = "/proc/study.rds"),
    "cannot be written.*cannot open.*disk is not full", class = "fallible_error_file"
  )
  expect_false(ran)
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
  for (other in list(list(n = 10), list(panels = "same"))) {
    expect_error(
      do.call(simulation_study, c(list(design, runs = 2, checkpoint = file), other)),
      paste0("The other study differs in `", names(other)), class = "fallible_error_file"
    )
  }
  expect_error(simulation_study(design, runs = 1, checkpoint = file), "more than the 1 that were requested")
})

test_that("a checkpoint is refused if variables that a function uses have other values", {
  file <- withr::local_tempfile(fileext = ".rds")
  make <- function(p) function(n) simulate_ratings(rater_design(c(p, p), 0.8), n)
  shift <- function(by) function(x) rep(0.5 + by, n_systems(x))
  twice <- function(f) function(x) f(f(x))
  run <- function(accuracy, by = 0.1, runs = 2) simulation_study(
    list(same = make(0.7), d = make(accuracy)), list(s = shift(by)), n = 20, runs = runs,
    checkpoint = file
  )
  run(0.9)
  expect_message(run(0.9, runs = 3), "4 panels are done")
  expect_error(run(0.6, runs = 4), "differs in `designs\\.d`\\.", class = "fallible_error_file")
  expect_error(run(0.9, 0.2), "differs in `estimators\\.s`\\.", class = "fallible_error_file")
  expect_error(run(0.6, 0.2), "differs in `designs\\.d` and `estimators\\.s`")
  of <- function(x) rlang::hash(hashable_text(x))
  # Through functions that a function captures, and dots.
  expect_identical(of(twice(make(0.9))), of(twice(make(0.9))))
  expect_false(of(twice(make(0.9))) == of(twice(make(0.8))))
  pass <- function(...) function(n) list(...)
  expect_false(of(pass(1)) == of(pass(2)))
  # Values that differ between sessions are not compared.
  expect_identical(of(shift(new.env())), of(shift(globalenv())))
  expect_identical(of(shift(methods::new("externalptr"))), of(shift(methods::new("externalptr"))))
  object <- structure(new.env(), class = "mine")
  of(shift(object))
  expect_s3_class(object, "mine")
})

test_that("global variables that a function uses are compared, but not its local variables", {
  hash_with <- function(code, level = 1, count = 1) {
    withr::defer(rm(level, count, envir = globalenv()))
    list2env(list(level = level, count = count), globalenv())
    rlang::hash(hashable_text(eval(code, globalenv())))
  }
  uses_level <- quote(function(x) level)
  expect_identical(hash_with(uses_level), hash_with(uses_level, count = 2))
  expect_false(hash_with(uses_level) == hash_with(uses_level, level = 2))
  local <- list(
    quote(function(level) level), quote(function(x) level <- x),
    quote(function(x) lapply(x[, 1], function(level) level)),
    quote(function(x) for (level in x) print(level)), quote(function(x) x$level)
  )
  for (code in local) {
    expect_identical(hash_with(code), hash_with(code, level = 2), info = deparse(code))
  }
  expect_false(
    hash_with(quote(function(x) x$level + level)) ==
      hash_with(quote(function(x) x$level + level), level = 2)
  )
  counter <- quote(function(x) count[1] <<- count + 1)
  expect_identical(hash_with(counter), hash_with(counter, count = 2))
  # A function that calls itself.
  recursive <- local({
    level <- 1
    f <- function(x) if (x > level) f(x - 1)
  })
  expect_type(rlang::hash(hashable_text(recursive)), "character")
})

test_that("a checkpoint with more runs, or another seed, is described", {
  file <- withr::local_tempfile(fileext = ".rds")
  run <- function(seed, ...) {
    withr::local_seed(seed)
    simulation_study(design, "binned", checkpoint = file, ...)
  }
  study <- run(7, runs = 3)
  expect_error(run(7, runs = 2), "contains a study with more runs.*Give `runs = 3`",
    class = "fallible_error_file")
  expect_message(again <- run(8, runs = 3), "The\\s+seed of the file is used")
  expect_identical(tidy(again), tidy(study))
  expect_error(
    simulation_study(list(design, b = design), c("unbinned", "binned"), runs = 3, n = 9,
      checkpoint = file),
    "`designs\\.design 1`, .*`designs\\.b`, .*`estimators\\.unbinned`, .*`n`"
  )
})

test_that("only files that are as a study wrote them are read", {
  file <- withr::local_tempfile(fileext = ".rds")
  run <- function() simulation_study(design, runs = 2, checkpoint = file)
  study <- run()
  bytes <- file_bytes(file)
  expect_identical(readRDS(file)$results, study$results)
  words <- "was not written by a study.*delete this one"
  refused <- function() {
    e <- expect_error(run(), words, class = "fallible_error_file")
    expect_identical(e$path, normalizePath(file))
  }
  n <- length(bytes)
  # All the places of a header and of the hash, and some of what is between.
  places <- unique(c(1:40, round(seq(41, n - 33, length.out = 40)), n - 32:0))
  if (!nightly_tests()) places <- places[seq(1, length(places), by = 5)]
  expect_over(places, function(at) {
    writeBin(replace(bytes, at, xor(bytes[at], as.raw(1))), file)
    e <- tryCatch(run(), error = identity)
    unless(inherits(e, "fallible_error_file") && grepl(words, gsub("\\s+", " ", conditionMessage(e))))
  })
  for (other in list(raw(), bytes[-n], bytes[1:10], c(bytes, as.raw(0)), rep(bytes, 2))) {
    writeBin(other, file)
    refused()
  }
  writeLines("text", file)
  refused()
  saveRDS(study, file)
  refused()
  write_hashed_file(1, file)
  refused()
  writeBin(bytes, file)
  expect_message(again <- run(), "4 panels are done")
  expect_identical(tidy(again), tidy(study))
})

test_that("nothing in a file is called, whatever it holds", {
  skip_unless_nightly()
  file <- withr::local_tempfile(fileext = ".rds")
  mark <- withr::local_tempfile()
  run <- function() simulation_study(design, runs = 2, checkpoint = file)
  saved <- checkpoint_content(run())
  evil <- function(...) {
    file.create(mark)
    list()
  }
  environment(evil) <- list2env(list(mark = mark), parent = baseenv())
  as_study <- function(x) structure(x, class = "simulation_study")
  active <- list2env(saved)
  delayed <- list2env(saved)
  for (field in names(saved)) {
    rm(list = field, envir = active)
    makeActiveBinding(field, evil, active)
    delayedAssign(field, evil(), environment(evil), delayed)
  }
  environment(evil)$evil <- evil
  put <- function(field, value) replace(saved, field, list(value))
  forged <- list(
    active = active, delayed = delayed, active_class = as_study(active),
    delayed_class = as_study(delayed), closure = as_study(evil), plain_closure = evil,
    inside = put("results", active), deep = put("results", c(saved$results[-1], list(list(delayed)))),
    element = put("done", evil), pointer = put("seed", methods::new("externalptr")),
    language = put("runs", quote(file.create(mark))), formula = put("runs", ~a),
    class = as_study(saved),
    attribute = put("done", structure(saved$done, about = active)),
    names = put("done", structure(saved$done, names = c("a", "b"), note = evil)),
    object = put("results", structure(saved$results, class = "data.frame")),
    pairs = put("results", as.pairlist(saved$results)), primitive = put("runs", sum)
  )
  for (name in names(forged)) {
    write_hashed_file(forged[[name]], file)
    expect_error(run(), "was not written by a study", class = "fallible_error_file", info = name)
    expect_false(file.exists(mark), info = name)
  }
})

test_that("a promise in a file is not forced", {
  file <- withr::local_tempfile(fileext = ".rds")
  mark <- withr::local_tempfile()
  # An RDS file as `saveRDS()` would not write it: a promise without a value, type 5.
  call <- serialize(bquote(file.create(.(mark))), NULL, version = 2L)[-(1:14)]
  promise <- c(
    serialize(1, NULL, version = 2L)[1:14], as.raw(c(0, 0, 0, 5)), # its value: unbound
    as.raw(c(0, 0, 0, 0xfc)), call
  )
  inside <- c(
    serialize(1, NULL, version = 2L)[1:14], as.raw(c(0, 0, 0, 0x13, 0, 0, 0, 1)), promise[-(1:14)]
  )
  if (getRversion() < "4.4.0") { # later versions refuse to read one
    expect_identical(vapply(unserialize(inside), typeof, ""), "promise")
  }
  for (bytes in list(promise, inside)) {
    con <- gzfile(file, "wb")
    writeBin(bytes, con)
    close(con)
    hash <- hash_bytes(file_bytes(file))
    con <- file(file, "ab")
    writeBin(hash, con)
    close(con)
    expect_error(
      simulation_study(design, runs = 2, checkpoint = file), "was not written by a study",
      class = "fallible_error_file"
    )
    expect_false(file.exists(mark))
  }
})

test_that("a study goes on in another session, whatever its estimators hold", {
  file <- withr::local_tempfile(fileext = ".rds")
  run <- function(runs) {
    at <- runs # differs from call to call, in the environment of the estimator
    mine <- function(x) rep(0.5, length(x$systems))
    estimators <- list(
      "binned", mine = mine, joint = accuracy_estimator("joint", model = rater_model("rater"))
    )
    simulation_study(design, estimators, runs = runs, checkpoint = file)
  }
  run(1)
  expect_message(run(2), "2 panels are done")
  kept <- readRDS(file)
  expect_identical(names(kept), c("seed", "runs", "done", "results", "parts"))
  expect_type(kept$parts, "character")
  # Designs that differ in a number, and functions in a constant, are other ones.
  of <- function(x) rlang::hash(hashable_text(x))
  expect_identical(of(1:3), of(c(1L, 2L, 3L)))
  expect_false(of(1:3) == of(c(1, 2, 3)))
  expect_false(of(0.1) == of(0.1 + 1e-16))
  expect_false(of(function(x) x + 1) == of(function(x) x + 2))
  expect_false(of(list(a = 1)) == of(list(b = 1)))
  expect_false(of(structure(identity, a = 1)) == of(structure(identity, a = 2)))
  expect_identical(of(stats::as.formula("y ~ x", new.env())), of(stats::as.formula("y ~ x")))
})

test_that("a study is saved after each panel if panels are slow", {
  file <- withr::local_tempfile(fileext = ".rds")
  now <- 0
  saved <- integer()
  run <- function(seconds) {
    unlink(file)
    saved <<- integer()
    slow <- function(x) {
      now <<- now + seconds
      saved <<- c(saved, sum(readRDS(file)$done))
      0.5
    }
    study <- new_study(
      list(d = rater_design(c(0.6, 0.6), 0.8, n = 20)), list(slow = slow), 12L, NULL, "separate",
      1:2
    )
    run_study(study, 1L, file, clock = function() now)
    saved
  }
  expect_identical(run(7), 0:11)
  # Blocks have 1, 2, 2, 2, ... runs. The sixth block ends after 5.5 seconds.
  expect_identical(run(0.5), rep(c(0L, 11L), c(11, 1)))
  expect_identical(run(0.001), integer(12)) # takes less than five seconds
})

test_that("the processes of a study get one slow panel each", {
  skip_unless_extended()
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if(Sys.getenv("R_COVR") == "true", "Instrumented code does not run in other processes")
  file <- withr::local_tempfile(fileext = ".rds")
  mark <- withr::local_tempfile()
  # The fifth and later panels fail, which ends the worker.
  slow <- eval(bquote(function(x) {
    cat("panel\n", file = .(mark), append = TRUE)
    Sys.sleep(1.1)
    if (length(readLines(.(mark))) > 4L) tools::pskill(Sys.getpid())
    0.5
  }), globalenv())
  local_workers()
  expect_error(
    suppressMessages(simulation_study(
      rater_design(c(0.6, 0.6), 0.8, n = 20), slow, runs = 8, checkpoint = file
    )), class = "fallible_error_worker"
  )
  expect_identical(readRDS(file)$done, 4L)
  future::plan("sequential")
})

test_that("a file of another version of the package is refused", {
  file <- withr::local_tempfile(fileext = ".rds")
  run <- function(runs) simulation_study(design, runs = runs, checkpoint = file)
  study <- run(2)
  saveRDS(study, file)
  hash <- rlang::hash(list(file_bytes(file), "9.9"))
  con <- file(file, "ab")
  writeBin(charToRaw(hash), con)
  close(con)
  expect_error(run(2), "of this version", class = "fallible_error_file")
  write_hashed_file(checkpoint_content(study), file)
  expect_message(more <- run(3), "4 panels are done")
  expect_identical(tidy(more)$run, rep(rep(1:3, each = 2), 2))
})

test_that("a file of which parts are not as they were written is refused", {
  skip_unless_extended()
  file <- withr::local_tempfile(fileext = ".rds")
  estimators <- list("binned", mine = function(x) rep(0.5, length(x$systems)))
  run <- function(runs = 4, ...) {
    simulation_study(design, estimators, runs = runs, checkpoint = file, ...)
  }
  study <- run()
  refused <- function(field, change) {
    write_hashed_file(checkpoint_content(change(study)), file)
    expect_error(run(), paste0("damaged.*", field), class = "fallible_error_file")
  }
  refused("seed", function(s) replace(s, "seed", "a"))
  refused("runs", function(s) replace(s, "runs", NULL))
  refused("done", function(s) replace(s, "done", list(c(5L, 4L))))
  refused("done", function(s) replace(s, "done", list(c(4, -1))))
  refused("done", function(s) replace(s, "done", 4L))
  refused("results", function(s) replace(s, "done", list(c(4L, 3L))))
  refused("results", function(s) replace(s, "done", list(c(0L, 0L))))
  refused("results", function(s) replace(s, "results", list(lapply(s$results, utils::head, -1))))
  refused("results", function(s) replace(s, "results", NULL))
  refused("results", function(s) replace(s, "results", 3))
  columns <- c("cell", "estimate", if (extended_tests()) c("run", "system", "estimator", "sample"))
  for (column in columns) {
    refused("results", function(s) {
      s$results[[column]] <- rev(as.character(s$results[[column]]))
      s
    })
  }
  write_hashed_file(checkpoint_content(study), file)
  expect_message(more <- run(runs = 5), "8 panels are done")
  write_hashed_file(checkpoint_content(more), file)
  expect_message(again <- run(runs = 5), "10 panels are done")
  expect_identical(tidy(again), tidy(more))
})

test_that("what fails before the file is written is not blamed on the file", {
  file <- withr::local_tempfile(fileext = ".rds")
  expect_error(save_checkpoint(stop("no results"), file), "no results")
})

test_that("failures of estimators and designs are kept in a file", {
  file <- withr::local_tempfile(fileext = ".rds")
  fails <- function(x) rlang::abort("no", class = "mine", data = new.env())
  drawn <- 0
  sometimes <- function(n) {
    drawn <<- drawn + 1
    if (drawn %% 2 == 0) stop("not drawn")
    simulate_ratings(design, n)
  }
  run <- function(runs) simulation_study(
    list(d = design, s = sometimes), list(f = fails, half = function(x) rep(0.5, n_systems(x))),
    runs = runs, n = 30, panels = "same", checkpoint = file
  )
  run(2)
  expect_message(rows <- tidy(run(3)), "4 panels are done")
  expect_setequal(rows$condition, c("mine", "fallible_error_design", NA))
  utils::write.csv(rows, withr::local_tempfile())
  expect_message(again <- run(3), "6 panels are done")
  expect_identical(tidy(again), rows)
})

test_that("a file that another process writes is refused, and free once that has gone", {
  folder <- normalizePath(withr::local_tempdir(), winslash = "/")
  file <- file.path(folder, "study.rds")
  gone <- file.path(folder, "gone")
  withr::defer(file.create(gone))
  other <- sprintf(
    "l <- filelock::lock('%1$s.lock'); file.create('%1$s.held')
    while (!file.exists('%2$s')) Sys.sleep(.05)", file, gone
  )
  system2(
    file.path(R.home("bin"), "Rscript"), c("-e", shQuote(other)), stdout = FALSE, wait = FALSE
  )
  wait_for <- function(condition) {
    end <- proc.time()[["elapsed"]] + 60
    while (!condition() && proc.time()[["elapsed"]] < end) Sys.sleep(0.05)
  }
  wait_for(function() file.exists(paste0(file, ".held")))
  run <- function() simulation_study(design, runs = 2, checkpoint = file)
  e <- expect_error(run(), "in use by another process", class = "fallible_error_file")
  expect_identical(e$path, file.path(normalizePath(folder), "study.rds"))
  expect_error(stats::update(simulation_study(design, runs = 1), checkpoint = file), "in use")
  expect_false(file.exists(file))
  file.create(gone)
  wait_for(function() inherits(try(run(), silent = TRUE), "simulation_study"))
  expect_identical(readRDS(file)$done, c(2L, 2L))
  skip_on_os("windows") # which keeps files that are open
  expect_false(file.exists(paste0(file, ".lock")))
})

test_that("a link to a checkpoint is locked and kept as what it leads to", {
  skip_on_os("windows")
  file <- withr::local_tempfile(fileext = ".rds")
  link <- withr::local_tempfile(fileext = ".rds")
  simulation_study(design, runs = 1, checkpoint = file)
  file.symlink(file, link)
  expect_message(simulation_study(design, runs = 2, checkpoint = link), "2 panels are done")
  expect_identical(readRDS(file)$done, c(2L, 2L))
  expect_identical(Sys.readlink(link), file)
  lock_checkpoint(normalizePath(file))
  expect_error(simulation_study(design, runs = 2, checkpoint = link), "in use")
})

test_that("a study within a study has a file of its own", {
  file <- withr::local_tempfile(fileext = ".rds")
  writeLines("mine", paste0(file, ".lock"))
  inner <- NULL
  nested <- function(x) {
    inner <<- tryCatch(
      simulation_study(design, runs = 1, checkpoint = file), fallible_error_file = identity
    )
    0.5
  }
  run <- function() simulation_study(design, list(nested = nested), runs = 1, checkpoint = file)
  run()
  expect_match(conditionMessage(inner), "in use by another study")
  expect_identical(readRDS(file)$done, c(1L, 1L))
  expect_message(run(), "2 panels are done")
  expect_identical(readLines(paste0(file, ".lock")), "mine")
})

test_that("a checkpoint stays in its folder when an estimator goes to another", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  dir.create("elsewhere")
  walk <- function(x) {
    setwd(file.path(folder, "elsewhere"))
    0.5
  }
  simulation_study(design, list(walk = walk), runs = 1, checkpoint = "study.rds")
  expect_identical(readRDS(file.path(folder, "study.rds"))$done, c(1L, 1L))
  expect_identical(list.files(file.path(folder, "elsewhere")), character())
})

test_that("replay() raises the errors of an invalid result again", {
  study <- simulation_study(lehner_design(3), list(text = function(x) "a"), n = 50, runs = 1)
  row <- which(!is.na(tidy(study)$condition))[[1L]]
  expect_error(replay(study, row, "estimate"), class = tidy(study)$condition[[row]])
})

test_that("the hash of a function depends on defaults of inner functions and on values read first", {
  hash <- function(f) rlang::hash(hashable_text(f))
  inner_default <- function(rate) {
    function(x) sum(vapply(1:3, function(i, k = rate) i * k, 0))
  }
  read_first <- function(rate) {
    function(x) {
      rate <- min(rate, 1)
      x * rate
    }
  }
  counter <- function(calls) function(x) calls <<- calls + 1
  for (make in list(inner_default, read_first)) {
    expect_identical(hash(make(0.1)), hash(make(0.1)))
    expect_false(hash(make(0.1)) == hash(make(0.2)))
  }
  expect_identical(hash(counter(0)), hash(counter(1)))
})

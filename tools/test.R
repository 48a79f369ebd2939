# Runs the tests of the installed package in parallel, one process per processor. Each process takes
# the next file when it is free. Slow files, listed in DESCRIPTION, come first:
#   Rscript tools/test.R COUNTS [PATTERN]
# Prints a line per file as it ends, then failures and the ten slowest files. The file COUNTS then
# contains the numbers "passed failed skipped". A warning that its test does not expect counts as
# failed. TEST_JOBS is the number of processes; TEST_SECONDS the CPU time above which a file counts
# as failed. In the long form, calls of deprecated functions of other packages are errors.
#
# Parallel tests of testthat are not used: they lose all counts if a process dies, and do not report
# CPU time.
arguments <- c(commandArgs(TRUE), "")
folder <- file.path("tests", "testthat")
first <- read.dcf("DESCRIPTION", "Config/testthat/start-first")[[1]] # nolint: nonportable_path.
first <- strsplit(first, "[[:space:],]+")[[1]]
files <- sub("^test-(.*)[.]R$", "\\1", dir(folder, "^test-.*[.]R$"))
files <- grep(arguments[2], union(intersect(first, files), files), value = TRUE)
jobs <- min(as.integer(Sys.getenv("TEST_JOBS", parallel::detectCores())), length(files))
limit <- as.numeric(Sys.getenv("TEST_SECONDS", "Inf"))
desk <- tempfile("tests")
dir.create(desk)

# Work of one process. Helpers are sourced once, so that their examples are computed once. A process
# claims a test file by creating a folder for it, which only one process can do.
work <- function(files, folder, desk) {
  suppressPackageStartupMessages({
    library(testthat)
    library(fallible)
  })
  if (Sys.getenv("FALLIBLE_EXTENDED_TESTS", "false") == "false") {
    compiler::enableJIT(0L) # most code runs so rarely that its compilation takes longer
  } else {
    options(lifecycle_verbosity = "error")
  }
  # x$label must not return x$labels. Such a warning counts as failed.
  options(warnPartialMatchDollar = TRUE)
  # The parent must be a namespace. Otherwise topenv() finds another environment, and R 4.2 collects
  # garbage at every call of some closures.
  env <- new.env(parent = asNamespace("fallible"))
  source_test_helpers(folder, env)
  for (file in files) {
    place <- file.path(desk, file)
    if (!dir.create(place, showWarnings = FALSE)) next
    writeLines(as.character(Sys.getpid()), file.path(place, "taken"))
    start <- proc.time()
    reporter <- SummaryReporter$new(
      show_praise = FALSE, omit_dots = TRUE, max_reports = 100, file = file.path(place, "report")
    )
    results <- test_file(
      file.path(folder, paste0("test-", file, ".R")), reporter = reporter, package = "fallible",
      env = env, load_helpers = FALSE, stop_on_failure = FALSE
    )
    kinds <- unlist(lapply(results, function(test) lapply(test$results, class)))
    n <- function(...) sum(kinds %in% paste0("expectation_", c(...)))
    done <- data.frame(
      file = file, passed = n("success"), failed = n("failure", "error"), skipped = n("skip"),
      warnings = n("warning"), cpu = sum((proc.time() - start)[c(1, 2, 4, 5)])
    )
    saveRDS(done, file.path(place, "unfinished"))
    file.rename(file.path(place, "unfinished"), file.path(place, "done"))
  }
}

start <- proc.time()[["elapsed"]]
# With a large initial heap, garbage is collected half as often.
workers <- lapply(seq_len(jobs), function(i) {
  log <- file.path(desk, paste0("process-", i, ".log"))
  callr::r_bg(
    work, list(files, folder, desk),
    stdout = log, stderr = "2>&1", cleanup_tree = TRUE,
    cmdargs = c("--no-echo", "--no-save", "--no-restore", "--min-nsize=4M", "--min-vsize=256M")
  )
})
# Adds newly finished files to `before`, and prints a line for each.
read_done <- function(before) {
  new <- setdiff(files[file.exists(file.path(desk, files, "done"))], before$file)
  rows <- lapply(file.path(desk, new, "done"), function(path) {
    tryCatch(readRDS(path), error = function(e) NULL) # on a full disk, files are incomplete
  })
  for (row in Filter(length, rows)) {
    cat(sprintf(
      "%5.1f s  %4d passed, %d failed, %d skipped  %s%s\n", row$cpu, row$passed, row$failed,
      row$skipped, row$file, if (row$warnings > 0) paste(",", row$warnings, "warnings") else ""
    ))
  }
  do.call(rbind, c(list(before), rows))
}
nothing <- list(passed = 0, failed = 0, skipped = 0, warnings = 0, cpu = 0)
done <- data.frame(file = "", nothing)[0, ]
repeat {
  alive <- vapply(workers, function(x) x$is_alive(), NA)
  done <- read_done(done)
  if (!any(alive)) break
  Sys.sleep(0.2)
}
elapsed <- proc.time()[["elapsed"]] - start

for (file in done$file[done$failed > 0 | done$warnings > 0]) {
  cat("\n==", file, "\n")
  cat(readLines(file.path(desk, file, "report"), encoding = "UTF-8"), sep = "\n")
}
# Files without a result: their process died (out of memory, killed, disk full).
lost <- setdiff(files, done$file)
if (length(lost)) {
  taken <- dir.exists(file.path(desk, lost))
  cat("\nNo result of:", paste0(lost, ifelse(taken, " (its process ended)", " (not begun)")), "\n")
  for (log in dir(desk, "[.]log$", full.names = TRUE)) {
    cat(utils::tail(readLines(log, warn = FALSE), 20), sep = "\n")
  }
}
slow <- done$file[done$cpu > limit]
if (length(slow)) cat("\nSlower than", limit, "CPU s:", slow, "\n")

top <- utils::head(done[order(done$cpu, decreasing = TRUE), ], 10)
cat("\nSlowest files (CPU s):", paste(top$file, sprintf("%.1f", top$cpu), collapse = ", "), "\n")
cat(sprintf(
  "%d files, %.0f CPU s, %.0f s in %d processes, %d warnings\n",
  length(files), sum(done$cpu), elapsed, jobs, sum(done$warnings)
))
failed <- sum(done$failed, done$warnings) + length(lost) + length(slow)
cat(sum(done$passed), failed, sum(done$skipped), "\n", file = arguments[1])
quit(status = failed > 0)

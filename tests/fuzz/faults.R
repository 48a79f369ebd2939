# Rscript tests/fuzz/faults.R KILLS INTERRUPTS BEFORE: processes that are killed or interrupted at
# random moments, with the package installed. What they were writing must be whole or absent, what
# is resumed must have the digits of what was never stopped, and who interrupts waits no second.
# With BEFORE = 12 the first kill is the one of seed 13.
library(fallible)
given <- as.integer(commandArgs(TRUE))
kills <- if (is.na(given[1L])) 100L else given[1L]
interrupts <- if (is.na(given[2L])) 40L else given[2L]
before <- if (is.na(given[3L])) 0L else given[3L]
folder <- tempfile("faults")
dir.create(folder)
failed <- 0L
wrong <- function(...) {
  failed <<- failed + 1L
  cat("FAILED", ..., "\n")
}

# Starts R on some lines of code; gives its process id once these begin.
start <- function(...) {
  script <- tempfile("child", folder, ".R")
  pid <- paste0(script, ".pid")
  writeLines(c(
    "suppressMessages(library(fallible))",
    sprintf("cat(Sys.getpid(), file = '%s.new')", pid), sprintf("file.rename('%s.new', '%s')", pid, pid),
    ...
  ), script)
  system2(file.path(R.home("bin"), "Rscript"), script, stdout = FALSE, stderr = FALSE, wait = FALSE)
  while (!file.exists(pid)) Sys.sleep(0.02)
  as.integer(readLines(pid, warn = FALSE))
}

lives <- function(pid) dir.exists(file.path("/proc", pid)) && !is_zombie(pid)

is_zombie <- function(pid) {
  state <- tryCatch(readLines(file.path("/proc", pid, "stat"), warn = FALSE), error = function(e) " Z ")
  grepl(") Z ", state, fixed = TRUE)
}

ended <- function(pid, seconds) {
  end <- proc.time()[["elapsed"]] + seconds
  while (lives(pid) && proc.time()[["elapsed"]] < end) Sys.sleep(0.02)
  !lives(pid)
}

# A study of some seconds, with an estimator whose time is not ours, saved whenever a block ends.
study <- c(
  "set.seed(7)",
  "slow <- function(x) { Sys.sleep(0.3); estimate_accuracy(x, 'unbinned', interval = 'none') }",
  "design <- rater_design(c(.6, .7, .7), c(.8, .5), 3, n = 60)"
)
run_study <- function(path) {
  c(study, sprintf("s <- simulation_study(design, list(slow = slow), runs = 40, checkpoint = '%s')", path))
}
keep <- function(path) sprintf("saveRDS(as.data.frame(s), '%s')", path)

patience <- 600 # seconds, for a study that takes 13 where nothing else runs
whole <- file.path(folder, "whole.rds")
ended(start(run_study(file.path(folder, "whole.checkpoint")), keep(whole)), patience) ||
  stop("the study does not end")
whole <- readRDS(whole)
resumed <- 0L
for (i in seq_len(kills) + before) {
  set.seed(i)
  path <- file.path(folder, paste0("study", i))
  result <- paste0(path, ".rds")
  pid <- start(run_study(path), keep(result))
  Sys.sleep(stats::runif(1, 0, 13))
  tools::pskill(pid, 9L)
  ended(pid, 10)
  if (file.exists(path) && inherits(try(readRDS(path), TRUE), "try-error")) wrong("kill", i, "file")
  resumed <- resumed + file.exists(path)
  pid <- start(run_study(path), keep(result))
  if (!ended(pid, patience)) {
    wrong("kill", i, "no end of the resumed study")
    tools::pskill(pid, 9L)
  } else if (!file.exists(result)) {
    wrong("kill", i, "the resumed study failed")
  } else if (!identical(readRDS(result), whole)) {
    wrong("kill", i, "digits")
  }
  unlink(c(path, result))
}
cat(kills, "kills of a study,", resumed, "of them after it was saved\n")

# Long calls of every kind; each takes far more than the ten seconds after which it would be killed.
long <- c(
  average = "estimate_accuracy(simulate_ratings(rater_design(rep(.6, 30), rep(.7, 9), 30, 20000)))",
  dawid_skene = "fit_raters(simulate_ratings(rater_design(rep(.6, 60), NULL, 40, 20000)), dawid_skene())",
  bootstrap = "estimate_accuracy(simulate_ratings(rater_design(rep(.6, 5), .7, 5, 20000)), 'joint',
    rater_model('rater', 'free'), interval = 'bootstrap', resampling = list(replicates = 1e5))",
  simulate = "for (i in 1:99) simulate_ratings(rater_design(rep(.6, 50), .7, 5, 3e6))",
  check = "check_k_properties(simulate_ratings(rater_design(rep(.6, 12), .7, 5, 20000)),
    resampling = list(replicates = 1e5))",
  agreement = "agreement(simulate_ratings(rater_design(rep(.6, 9), .7, 5, 5000)),
    interval = 'bootstrap', resampling = list(replicates = 1e6))",
  study = "simulation_study(rater_design(c(.6, .6), .7, 5, 500), runs = 1e5)",
  plan = "plan_cases(chance_kappa = .3, raters = 3:6, runs = 1e5)"
)
waits <- list()
for (i in seq_len(interrupts)) {
  set.seed(i)
  name <- names(long)[(i - 1L) %% length(long) + 1L]
  pid <- start(sprintf("tryCatch(%s, interrupt = function(e) quit(status = 0))", long[[name]]))
  Sys.sleep(stats::runif(1, 0.5, 8))
  if (!lives(pid)) next
  from <- proc.time()[["elapsed"]]
  tools::pskill(pid, 2L)
  if (!ended(pid, 30)) {
    wrong("interrupt of", name, ": no answer in 30 s")
    tools::pskill(pid, 9L)
  }
  waits[[name]] <- c(waits[[name]], proc.time()[["elapsed"]] - from)
}
for (name in names(waits)) {
  cat(sprintf("%-12s %d interrupts, longest wait %.2f s\n", name, length(waits[[name]]), max(waits[[name]])))
}

unlink(folder, recursive = TRUE)
quit(status = failed > 0L)

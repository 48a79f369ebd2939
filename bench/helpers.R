# Functions that several benchmarks use: panels, child processes, memory, other packages, results.

base_rates_of_panel <- c(0.3, 0.25, 0.2, 0.15, 0.1)

# Ratings and answers under the K-model, as integer codes; a column per rater, then the system.
simulate_panel <- function(cases, accuracies, system = 0.9) {
  truth <- sample.int(5L, cases, replace = TRUE, prob = base_rates_of_panel)
  columns <- lapply(accuracies, rate, truth = truth)
  names(columns) <- paste0("rater", seq_along(columns))
  list2DF(c(columns, list(system = rate(truth, system))))
}

# Right with a probability, otherwise any of the wrong categories.
rate <- function(truth, accuracy) {
  step <- sample.int(4L, length(truth), replace = TRUE)
  step[stats::runif(length(truth)) < accuracy] <- 0L
  (truth - 1L + step) %% 5L + 1L
}

# Seconds of each run: wall-clock time or CPU time.
seconds_of <- function(run, runs, clock = wall_clock) {
  vapply(seq_len(runs), function(i) {
    gc()
    start <- clock()
    run()
    clock() - start
  }, 0)
}

wall_clock <- function() as.numeric(Sys.time())
processor_clock <- function() sum(proc.time()[1:2])

# Runs this script again in a separate process, possibly with a library before the usual ones.
# Returns the words of the line that it prints.
run_child <- function(task, input, library = "") {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(input, file, compress = FALSE)
  libraries <- paste(c(library, Sys.getenv("R_LIBS")), collapse = .Platform$path.sep)
  output <- system2(
    file.path(R.home("bin"), "Rscript"), shQuote(c(script_path(), "--child", task, file)),
    stdout = TRUE, env = paste0("R_LIBS=", shQuote(libraries))
  )
  strsplit(paste(output, collapse = " "), " ", fixed = TRUE)[[1L]]
}

script_path <- function() {
  arguments <- commandArgs()
  sub("^--file=", "", arguments[startsWith(arguments, "--file=")][[1L]])
}

# Resets the peak of memory, which includes reading the input, if the operating system allows it.
reset_peak <- function() {
  suppressWarnings(try(cat("5", file = file.path("", "proc", "self", "clear_refs")), silent = TRUE))
}

# In bytes; NA where there is no such file.
memory_status <- function(field) {
  file <- file.path("", "proc", "self", "status")
  if (!file.exists(file)) {
    return(NA_real_)
  }
  line <- grep(paste0("^", field, ":"), readLines(file), value = TRUE)
  1024 * as.numeric(gsub("[^0-9]", "", line))
}

# Path of a library that contains the package; "" for the usual libraries. Installs the package if
# needed. NULL if that fails.
peer_library <- function(package) {
  is_in <- function(library) {
    nzchar(system.file(package = package, lib.loc = if (nzchar(library)) library))
  }
  temporary_library <- file.path(tempdir(), "peers")
  for (library in c(Sys.getenv("FALLIBLE_PEERS"), "")) if (is_in(library)) return(library)
  dir.create(temporary_library)
  try(suppressWarnings(utils::install.packages(package, lib = temporary_library, quiet = TRUE)))
  if (is_in(temporary_library)) temporary_library
}

# Writes results, with columns that are needed to reproduce them.
write_results <- function(results, output, seed) {
  provenance <- list(
    seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
    r = format(getRversion())
  )
  utils::write.csv(cbind(results, provenance), output, row.names = FALSE)
}

# Loads one module of Python's crowd-kit, without the package's other dependencies.
crowd_kit <- "
import sys, types, time, importlib
root, data, iterations = sys.argv[1:4]
for name in ['crowdkit', 'crowdkit.aggregation', 'crowdkit.aggregation.classification']:
    package = types.ModuleType(name)
    package.__path__ = [root + '/' + name.replace('.', '/')]
    sys.modules[name] = package
module = importlib.import_module('crowdkit.aggregation.classification.dawid_skene')
import pandas
table = pandas.read_csv(data, dtype=str)
table.columns = ['task', 'worker', 'label']
start = time.process_time()
module.DawidSkene(n_iter=int(iterations), tol=-1e300).fit(table)
print(time.process_time() - start)
"

# CPU seconds of the fastest of three runs. `root` is a copy of the sources of crowd-kit, `data` a
# CSV file of cases, raters and ratings.
crowd_kit_seconds <- function(root, data, iterations = 20L) {
  script <- tempfile(fileext = ".py")
  on.exit(unlink(script))
  writeLines(crowd_kit, script)
  runs <- vapply(1:3, function(i) {
    as.numeric(system2(
      "/usr/bin/python3", shQuote(c(script, root, data, iterations)),
      stdout = TRUE, env = "OMP_NUM_THREADS=1"
    ))
  }, 0)
  min(runs)
}

guess <- function(p_known, truth, categories) {
  n <- length(truth)
  ifelse(stats::runif(n) < p_known, truth, sample.int(categories, n, replace = TRUE))
}

# Five raters of a crowd for each case; the arguments of ratings().
draw_rows <- function(cases, raters, categories, systems, p_known = 0.5) {
  set.seed(seed)
  truth <- sample.int(categories, cases, replace = TRUE)
  first <- sample.int(raters, cases, replace = TRUE)
  row <- rep(seq_len(cases), 5L)
  rater <- (rep(first, 5L) + rep(0:4, each = cases) * (raters %/% 5L)) %% raters + 1L
  case <- rep(seq_len(cases), systems)
  list(
    data.frame(case = row, rater = rater, rating = guess(p_known, truth[row], categories)),
    case = "case", rater = "rater", rating = "rating",
    systems = data.frame(
      case = case, system = rep(paste0("s", seq_len(systems)), each = cases),
      prediction = guess(0.8, truth[case], categories)
    ), categories = seq_len(categories)
  )
}

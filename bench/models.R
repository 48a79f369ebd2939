# Speed of the latent class engine: Dawid and Skene's model compared with other packages, and the
# time of an estimate of accuracy as cases grow.
#
#   Rscript bench/models.R [output.csv]
#
# Times are CPU times, which other processes do not change. Ratios are of one run, and everything is
# in one thread. The others are Python's crowd-kit and R's poLCA. The environment variable
# FALLIBLE_PYTHON names the Python interpreter (default: python3). poLCA is taken from the library
# that FALLIBLE_PEERS names or from the usual ones, or is installed into a temporary library. A
# package that cannot be installed is left out.
#
# All start from the votes or near them, and without priors, so that all look for the same maximum
# of the likelihood. The time of fallible includes standard errors; the other times do not.

library(fallible)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "helpers.R"))

seed <- 1L
n_raters <- 5L
n_categories <- 5L
fit_cases <- 1e5
fit_accuracies <- c(0.6, 0.65, 0.7, 0.75, 0.8)
curve_cases <- 10^(2:7)
curve_accuracies <- c(0.5, 0.6, 0.7)
em_iterations <- 20L
em_before <- 30L # EM steps of fallible, before those of the optimiser that a fit counts
replicates <- 200L

main <- function(output = NULL) {
  options(width = 120L, cli.progress_show_after = 1e9)
  set.seed(seed)
  results <- rbind(compare_dawid_skene(), cost_of_cases())
  print(results, digits = 3L, row.names = FALSE)
  if (!is.null(output)) write_results(rounded(results), output, seed)
}

rounded <- function(table) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  table
}

new_row <- function(task, cases, seconds, iterations = NA, ratio_fit = NA, ratio_data = NA,
                    difference = NA, memory = NA, version = NA) {
  data.frame(
    task = task, cases = cases, seconds = seconds, iterations = iterations, ratio_fit = ratio_fit,
    ratio_data = ratio_data, difference = difference, memory = memory, version = version
  )
}

# ---- Dawid and Skene ----------------------------------------------------------------------------

# ratio_fit: how many times as long as fit_raters() on ratings that are ready; ratio_data: as long
# as ratings() and fit_raters() on such data as the other package takes. difference: the largest one
# of base rates and raters' accuracies.
compare_dawid_skene <- function() {
  panel <- simulate_panel(fit_cases, fit_accuracies)[seq_len(n_raters)]
  wide <- as.matrix(panel)
  long <- list2DF(list(
    task = rep(seq_len(fit_cases), n_raters), worker = rep(seq_len(n_raters), each = fit_cases),
    label = as.vector(wide)
  ))
  model <- dawid_skene(prior = "none")
  x <- ratings(wide)
  from_long <- function() {
    fit_raters(ratings(long, case = "task", rater = "worker", rating = "label"), model)
  }
  fit <- fit_raters(x, model)
  our_values <- c(unlist(base_rates(fit)), rater_accuracy(fit))
  seconds <- vapply(list(
    fit = function() fit_raters(x, model), wide = function() fit_raters(ratings(wide), model),
    long = from_long
  ), function(run) stats::median(seconds_of(run, 15L, processor_clock)), 0)
  stopifnot(all.equal(base_rates(from_long()), base_rates(fit), tolerance = 1e-9))
  rbind(
    new_row(paste("fallible:", c("ratings", "matrix", "long data"), "to fit and errors"), fit_cases,
      seconds, em_before + fit$iterations, version = format(utils::packageVersion("fallible"))
    ),
    peer_rows("crowd-kit", run_crowd_kit(long), our_values, seconds[["fit"]], seconds[["long"]]),
    peer_rows("poLCA", run_polca(panel), our_values, seconds[["fit"]], seconds[["wide"]])
  )
}

rater_accuracy <- function(fit) {
  coefficients <- stats::coef(fit)
  coefficients[startsWith(names(coefficients), "rater_accuracy[")]
}

# Results of a peer are runs with seconds, iterations and values, and a version.
peer_rows <- function(name, peer, our_values, fit_seconds, data_seconds) {
  if (is.null(peer)) {
    message("Left out: ", name, ", which cannot be had here.")
    return(NULL)
  }
  do.call(rbind, Map(function(run, task_name) {
    new_row(
      paste0(name, ": ", task_name), fit_cases, run$seconds, run$iterations,
      run$seconds / fit_seconds, run$seconds / data_seconds, max(abs(run$values - our_values)),
      version = peer$version
    )
  }, peer$runs, c(paste(em_iterations, "iterations"), "until it converges")))
}

# Its errors have (worker, label) in rows and true labels in columns, in the order of appearance.
crowd_kit_script <- '
import sys, time
import numpy as np, pandas as pd, crowdkit
from crowdkit.aggregation import DawidSkene

data = pd.read_csv(sys.argv[1])
labels = sorted(data["label"].unique())
print(crowdkit.__version__)
for iterations, tolerance in ((int(sys.argv[2]), -np.inf), (1000, 1e-8)):
    start = time.process_time()
    fit = DawidSkene(n_iter=iterations, tol=tolerance).fit(data)
    seconds = time.process_time() - start
    rates = fit.priors_.loc[labels].to_numpy()
    accuracies = [
        sum(rates[i] * fit.errors_.loc[(worker, label), label] for i, label in enumerate(labels))
        for worker in sorted(data["worker"].unique())
    ]
    print(seconds, len(fit.loss_history_), *rates, *accuracies)
'

run_crowd_kit <- function(long) {
  python <- Sys.getenv("FALLIBLE_PYTHON", "python3")
  check <- c("-c", shQuote("import crowdkit.aggregation"))
  if (!identical(suppressWarnings(system2(python, check, stdout = FALSE, stderr = FALSE)), 0L)) {
    return(NULL)
  }
  message("crowd-kit ...")
  files <- tempfile(fileext = c(".csv", ".py"))
  on.exit(unlink(files))
  utils::write.csv(long, files[[1L]], row.names = FALSE)
  writeLines(crowd_kit_script, files[[2L]])
  single_thread <- paste0(c("OMP", "OPENBLAS", "MKL"), "_NUM_THREADS=1")
  out <- system2(python, c(shQuote(rev(files)), em_iterations), stdout = TRUE, env = single_thread)
  runs <- lapply(strsplit(out[-1L], " "), function(words) {
    numbers <- as.numeric(words)
    list(seconds = numbers[[1L]], iterations = numbers[[2L]], values = numbers[-(1:2)])
  })
  list(version = out[[1L]], runs = runs)
}

# Its starts are random unless given: here, raters who are right with probability .6. Standard
# errors are left out.
run_polca <- function(panel) {
  library <- peer_library("poLCA")
  if (is.null(library)) {
    return(NULL)
  }
  message("poLCA ...")
  peer <- loadNamespace("poLCA", lib.loc = c(if (nzchar(library)) library, .libPaths()))
  start <- matrix(0.1, n_categories, n_categories)
  diag(start) <- 0.6
  formula <- stats::as.formula(paste0("cbind(", toString(names(panel)), ") ~ 1"))
  run <- function(iterations, tolerance) {
    utils::capture.output(seconds <- seconds_of(function() {
      fit <<- peer$poLCA(
        formula, as.data.frame(panel), n_categories, iterations, tol = tolerance, verbose = FALSE,
        calc.se = FALSE, probs.start = rep(list(start), n_raters)
      )
    }, 1L, processor_clock))
    accuracies <- vapply(fit$probs, function(p) sum(fit$P * diag(p)), 0)
    list(seconds = seconds, iterations = fit$numiter, values = c(fit$P, accuracies))
  }
  fit <- NULL
  list(
    version = format(utils::packageVersion("poLCA", lib.loc = dirname(peer$.__NAMESPACE__.$path))),
    runs = list(run(em_iterations, -Inf), run(5000L, 1e-4))
  )
}

# ---- Cost of cases ------------------------------------------------------------------------------

# Each number of cases in a fresh process, since memory is the peak of what is resident.
cost_of_cases <- function() {
  do.call(rbind, lapply(curve_cases, function(cases) {
    message(format(cases, big.mark = " "), " cases ...")
    words <- run_child("cost", list(cases = cases, seed = seed))
    numbers <- matrix(as.numeric(words[-1L]), 2L)
    tasks <- c(
      "matrix to ratings", paste0("method joint, ", replicates, " bootstrap replicates"),
      paste("method", words[[1L]], "and interval, as by default")
    )
    new_row(tasks, cases, numbers[1L, ], memory = numbers[2L, ],
      version = format(utils::packageVersion("fallible")))
  }))
}

# In the child process: name of the default method, then for each task its median seconds and the
# megabytes that it adds to the peak of memory.
child_cost <- function(file) {
  input <- readRDS(file)
  set.seed(input$seed)
  panel <- as.matrix(simulate_panel(input$cases, curve_accuracies))
  quietly <- function(run) suppressWarnings(run(), classes = "fallible_warning")
  small <- ratings(panel[1:50, ], systems = "system")
  quietly(function() estimate_accuracy(small, resampling = list(replicates = 2L))) # loads what the first call loads
  runs <- if (input$cases < 1e6) 5L else 1L
  measure <- function(run) {
    invisible(gc())
    reset_peak()
    before <- memory_status("VmRSS")
    first <- seconds_of(function() quietly(run), 1L, processor_clock)
    memory <- (memory_status("VmHWM") - before) / 2^20
    again <- seconds_of(function() quietly(run), runs - 1L, processor_clock)
    c(stats::median(c(first, again)), memory)
  }
  read <- function() x <<- ratings(panel, systems = "system")
  x <- NULL
  numbers <- c(measure(read), measure(function() {
    estimate_accuracy(x, "joint", interval = "bootstrap", resampling = list(replicates = replicates))
  }), measure(function() estimate_accuracy(x)))
  default <- quietly(function() tidy(estimate_accuracy(small, interval = "none"))$method)
  c(default, format(numbers, digits = 6L, trim = TRUE))
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1L], "--child")) {
  cat(child_cost(arguments[[3L]]))
} else {
  do.call(main, as.list(arguments))
}

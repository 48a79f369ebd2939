# Scale: CPU seconds on sparse crowds, full panels, many systems and many categories.
#
#   Rscript bench/scale.R [output.csv] [crowd-kit] [large]
#
# Prints tables: the fit by Dawid and Skene's model and the default estimate on public crowds (in
# the folder that the environment variable FALLIBLE_DATA names; left out without), the default on
# panels that are drawn, and the exponents of its cost against cases, raters, categories and
# systems; a comparison of 3000 systems with the best ten; and an update of a fit with a thousand
# ratings more. Everything runs on one thread. `crowd-kit` is a copy of the sources of that Python
# package, whose 20 iterations are timed in the same run; it needs python3 with pandas and attrs.
# `large` adds a crowd of 20 million ratings, with peaks of memory (Linux only).

library(fallible)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "helpers.R"))

seed <- 1L
crowds <- c("fact_eval", "relevance4", "adult")
iterations <- 20L

main <- function(output = "", peer = "", size = "") {
  options(fallible.quiet = TRUE, width = 120L)
  results <- rbind(time_crowds(peer), time_panels(), time_leaderboard(), time_exponents())
  if (size == "large") results <- rbind(results, time_large())
  cat(
    "fallible ", format(utils::packageVersion("fallible")), ", R ", format(getRversion()), ", ",
    format(Sys.Date()), ", one thread, CPU seconds\n\n",
    sep = ""
  )
  print(results, digits = 3L, row.names = FALSE)
  if (nzchar(output)) write_results(results, output, seed)
}

# Seconds of the fastest run. Warnings are suppressed.
time_task <- function(data, task, run, runs = 1L, peer = NA_real_) {
  seconds <- min(seconds_of(function() suppressWarnings(run()), runs, processor_clock))
  message(data, ", ", task, ": ", format(seconds, digits = 3L), " s")
  new_row(data, task, "s", seconds, peer)
}

new_row <- function(data, task, unit, value, peer = NA_real_) {
  data.frame(
    data = data, task = task, unit = unit, value = value, peer = peer, ratio = peer / value
  )
}

# ---- Public crowds ------------------------------------------------------------------------------

time_crowds <- function(peer) {
  real <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  if (!dir.exists(real)) {
    message("Left out: public crowds, for want of FALLIBLE_DATA.")
    return(NULL)
  }
  rows <- lapply(crowds, function(name) time_crowd(name, file.path(real, name), peer))
  do.call(rbind, rows)
}

time_crowd <- function(name, folder, peer) {
  file_of <- function(stem) list.files(folder, paste0("^", stem, "[.]csv"), full.names = TRUE)
  x <- suppressWarnings(ratings(
    read_text(file_of("ratings")),
    case = "case", rater = "rater", rating = "rating", repeats = "ratings",
    systems = read_text(file_of("systems"))
  ))
  peer_time <- if (nzchar(peer)) crowd_kit_seconds(peer, file_of("ratings")) else NA_real_
  fit_few <- function() few_iterations(x)
  rbind(
    time_task(name, paste("dawid_skene(),", iterations, "iterations"), fit_few, 3L, peer_time),
    time_task(name, "dawid_skene(), converged", function() fit_raters(x, dawid_skene()), 3L,
      peer_time),
    time_task(name, "default, all systems", function() estimate_accuracy(x)),
    time_update(name, read_text(file_of("ratings")))
  )
}

# A thousand ratings more, drawn among all; the peer is the first fit.
time_update <- function(name, rows) {
  set.seed(seed)
  rows <- stats::setNames(rows[1:3], c("case", "rater", "rating"))
  is_new <- seq_len(nrow(rows)) %in% sample.int(nrow(rows), 1000L)
  old_ratings <- ratings(
    rows[!is_new, ],
    case = "case", rater = "rater", rating = "rating", repeats = "ratings"
  )
  fit <- NULL
  first <- min(seconds_of(
    function() fit <<- suppressWarnings(fit_raters(old_ratings, dawid_skene())), 3L, processor_clock
  ))
  time_task(name, "dawid_skene(), 1000 ratings more; peer: first fit", function() {
    stats::update(fit, new = rows[is_new, ])
  }, 3L, first)
}

read_text <- function(file) utils::read.csv(file, colClasses = "character")

# Starts from the votes by EM, then takes fewer steps of the optimiser than a user can choose.
few_iterations <- function(x) {
  inside <- asNamespace("fallible")
  model <- unclass(dawid_skene())
  inside$core_fit_latent(
    x$patterns, inside$pattern_weights(x), list(truth = integer(), raters = list()), model,
    "likelihood", iterations, NULL, function() NULL
  )
}

# ---- Panels that are drawn ----------------------------------------------------------------------

time_panels <- function() {
  task <- "default, all systems"
  panels <- list(
    "1e6 cases x 5 raters x 5 categories" = list(1e6, 5L, 5L, 1L),
    "1e5 cases x 7 raters x 5 categories" = list(1e5, 7L, 5L, 1L),
    "1e3 cases x 5 raters, 100 systems" = list(1e3, 5L, 5L, 100L),
    "5e3 cases x 10 raters x 200 categories" = list(5e3, 10L, 200L, 1L)
  )
  rows <- Map(function(name, size) {
    x <- do.call(draw_panel, size)
    time_task(name, task, function() estimate_accuracy(x))
  }, names(panels), panels)
  do.call(rbind, unname(rows))
}

time_leaderboard <- function() {
  name <- "1e3 cases x 5 raters, 3000 systems"
  x <- draw_panel(1e3, 5L, 5L, 3000L)
  estimate <- NULL
  first <- time_task(name, "default, all systems", function() estimate <<- estimate_accuracy(x))
  gc()
  reset_peak()
  rbind(
    first,
    time_task(name, "comparison with the best ten", function() {
      compare_systems(estimate, best = 10L)
    }),
    new_row(name, "peak memory of the comparison", "GB", memory_status("VmHWM") / 1e9)
  )
}

# All raters rate all cases. Raters are right in half of the cases, and guess in the others.
draw_panel <- function(cases, raters, categories, systems) {
  set.seed(seed)
  truth <- sample.int(categories, cases, replace = TRUE)
  columns <- vapply(rep(c(0.5, 0.8), c(raters, systems)), guess, truth, truth, categories)
  colnames(columns) <- c(paste0("r", seq_len(raters)), paste0("s", seq_len(systems)))
  ratings(columns,
    raters = tidyselect::starts_with("r"), systems = tidyselect::starts_with("s"),
    categories = seq_len(categories)
  )
}

draw_crowd <- function(...) do.call(ratings, draw_rows(...))

# ---- Exponents ----------------------------------------------------------------------------------

# Slopes of log seconds of the default against log size, over a crowd that grows by steps of two.
time_exponents <- function(steps = 2^(0:2)) {
  base <- list(cases = 2e4, raters = 1000, categories = 3, systems = 1)
  seconds_at <- function(size) {
    x <- do.call(draw_crowd, size)
    min(seconds_of(function() suppressWarnings(estimate_accuracy(x)), 2L, processor_clock))
  }
  seconds_at(base) # warm-up: R compiles functions in their first calls
  rows <- lapply(names(base), function(setting) {
    seconds <- vapply(steps, function(step) {
      seconds_at(replace(base, setting, base[[setting]] * step))
    }, 0)
    slope <- unname(stats::coef(stats::lm(log(seconds) ~ log(steps)))[[2L]])
    new_row("crowd of 2e4 cases, 1000 raters", paste("default, against", setting), "exponent",
      slope)
  })
  do.call(rbind, rows)
}

# ---- A platform ---------------------------------------------------------------------------------

time_large <- function() {
  name <- "4e6 cases x 5 of 1e5 raters, 3 systems"
  rows <- draw_rows(4e6, 1e5, 3L, 3L)
  with_peak <- function(task, run) {
    gc()
    reset_peak()
    row <- time_task(name, task, run)
    rbind(row, new_row(name, paste0(task, ": peak memory"), "GB", memory_status("VmHWM") / 1e9))
  }
  x <- NULL
  reading <- with_peak("ratings()", function() x <<- do.call(ratings, rows))
  rm(rows)
  rbind(
    reading, with_peak("labels of the average", function() ground_truth(x)),
    with_peak("Dawid and Skene's model, pooled prior", function() fit_raters(x, dawid_skene())),
    with_peak("default, all systems", function() estimate_accuracy(x))
  )
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))

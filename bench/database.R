# Ratings in a database: 2e6 cases by 5 raters and a system, in long data and in wide data. Time and
# memory of R, and whether digits are those of the same tables in memory.
#
#   Rscript bench/database.R PLACE [CASES] [database|memory]
#
# PLACE is a PostgreSQL server or a file. For a server it is the folder of its socket; its user
# `postgres` has no password. The file is an SQLite or DuckDB database (*.sqlite, *.duckdb), and may
# be new. Tables `bench_ratings`, `bench_systems` and `bench_wide` are made if they are missing.
# Each way of reading runs in a separate process, so that peaks of memory are separate.
suppressMessages(library(fallible))
arguments <- commandArgs(TRUE)
cases <- as.integer(if (length(arguments) > 1L) arguments[[2L]] else 2e6)
place <- arguments[[1L]]
con <- if (dir.exists(place)) {
  DBI::dbConnect(RPostgreSQL::PostgreSQL(), host = place, user = "postgres", dbname = "postgres")
} else if (endsWith(place, ".duckdb")) {
  DBI::dbConnect(getExportedValue("duckdb", "duckdb")(place))
} else {
  DBI::dbConnect(RSQLite::SQLite(), place)
}

# Labels are right in 60 to 80% of the cases; other labels are drawn evenly.
make_tables <- function() {
  set.seed(1)
  truth <- sample(LETTERS[1:5], cases, TRUE)
  rate <- function(accuracy) {
    ifelse(stats::runif(cases) < accuracy, truth, sample(LETTERS[1:5], cases, TRUE))
  }
  write <- function(name, ...) {
    DBI::dbWriteTable(con, name, data.frame(...), row.names = FALSE, append = TRUE)
  }
  wide <- list(case = seq_len(cases))
  for (rater in paste0("rater", 1:5)) {
    wide[[rater]] <- rate(0.5 + 0.05 * length(wide))
    write("bench_ratings", case = wide$case, rater = rater, rating = wide[[rater]])
  }
  wide$system <- rate(0.75)
  write("bench_systems", case = wide$case, system = "system", prediction = wide$system)
  write("bench_wide", wide)
}

peak_memory <- function() { # MB of this process, as Linux counts them
  status <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM", status, value = TRUE))) / 1024
}

seconds <- function(time) c(elapsed = time[["elapsed"]], cpu = sum(time[1:2]))

# For both layouts: seconds, patterns, estimates, and labels of cases with their probabilities.
measure <- function(place_of_data) {
  read <- function(name) {
    if (place_of_data == "memory") DBI::dbReadTable(con, name) else dplyr::tbl(con, name)
  }
  start <- peak_memory()
  time <- list(long = system.time(
    long <- ratings(
      read("bench_ratings"), case = case, rater = rater, rating = rating,
      systems = read("bench_systems")
    )
  ), wide = system.time(
    wide <- ratings(read("bench_wide"), raters = rater1:rater5, systems = system, case = case)
  ))
  answers <- lapply(list(long = long, wide = wide), function(x) {
    patterns <- as.data.frame(lapply(tidy(x, "patterns"), as.character))
    estimate <- suppressWarnings(estimate_accuracy(x), classes = "fallible_warning")
    labels <- dplyr::collect(ground_truth(fit_raters(x)))
    labels <- labels[order(labels$case), ]
    list(
      patterns = patterns[do.call(order, patterns), ],
      estimate = tidy(estimate)[c("estimate", "std.error", "conf.low", "conf.high", "n")],
      labels = as.data.frame(lapply(labels, function(x) if (is.factor(x)) as.character(x) else x))
    )
  })
  list(
    way = place_of_data, time = vapply(time, seconds, c(elapsed = 0, cpu = 0)),
    memory = peak_memory(),
    start = start, answers = answers
  )
}

if (length(arguments) > 2L) {
  saveRDS(measure(arguments[[3L]]), arguments[[4L]])
} else {
  if (!DBI::dbExistsTable(con, "bench_wide")) print(system.time(make_tables()))
  DBI::dbDisconnect(con) # a DuckDB file serves one process at a time
  results <- lapply(c("database", "memory"), function(place_of_data) {
    file <- tempfile()
    status <- system2("Rscript", c("bench/database.R", place, cases, place_of_data, file))
    if (status == 0L) readRDS(file)
  })
  for (result in results) {
    cat(result$way, "\n")
    print(round(result$time, 1))
    cat("peak", round(result$memory), "MB, of which", round(result$start), "before reading\n")
    print(as.data.frame(result$answers$long$estimate), digits = 15)
  }
  if (all(lengths(results) > 0L)) {
    for (layout in c("long", "wide")) {
      cat(layout, "data, database against memory:\n")
      for (quantity in c("patterns", "estimate", "labels")) {
        same <- all.equal(
          results[[1L]]$answers[[layout]][[quantity]], results[[2L]]$answers[[layout]][[quantity]],
          tolerance = if (quantity == "patterns") 0 else 1e-12, check.attributes = FALSE
        )
        cat("  ", quantity, if (isTRUE(same)) "are the same\n" else c("differ:", same, "\n"))
      }
    }
  }
}

# Ratings in a PostgreSQL server: 2e6 cases by 5 raters and a system, a row per rating. Time and
# memory of R, and whether digits are those of the same table in memory.
#
#   Rscript bench/database.R SOCKET_FOLDER [CASES] [database|memory]
#
# SOCKET_FOLDER is where a server of user `postgres` answers, without a password. Tables
# `bench_ratings` and `bench_systems` are made there if they are missing. Each way of reading runs
# in a process of its own, so that peaks of memory are its own.
suppressMessages(library(fallible))
arguments <- commandArgs(TRUE)
cases <- as.integer(if (length(arguments) > 1L) arguments[[2L]] else 2e6)
con <- DBI::dbConnect(
  RPostgreSQL::PostgreSQL(), host = arguments[[1L]], user = "postgres", dbname = "postgres"
)

# Labels drawn from hashes, so that every run has the same: right in 60 to 80% of the cases.
make_tables <- function() {
  DBI::dbExecute(con, "SET max_parallel_workers_per_gather = 0")
  hash <- "((hashint8(c * 64 + %s) & 2147483647) %% 1000)"
  truth <- sprintf(hash, "0")
  says <- function(judge, accuracy) {
    sprintf(
      "chr(65 + (CASE WHEN %s < %s THEN %s ELSE %s END %% 5)::int)", sprintf(hash, judge), accuracy,
      truth, sprintf(hash, paste(judge, "+ 32"))
    )
  }
  DBI::dbExecute(con, paste(
    "CREATE TABLE bench_ratings AS SELECT c AS case, 'rater' || r AS rater,",
    says("r", "(550 + 50 * r)"), "AS rating FROM generate_series(1,", cases,
    ") c, generate_series(1, 5) r"
  ))
  DBI::dbExecute(con, paste(
    "CREATE TABLE bench_systems AS SELECT c AS case, 'system' AS system,", says("6", "750"),
    "AS prediction FROM generate_series(1,", cases, ") c"
  ))
  DBI::dbExecute(con, "ANALYZE")
}

peak_memory <- function() { # MB of this process, as Linux counts them
  status <- readLines("/proc/self/status")
  as.numeric(gsub("\\D", "", grep("^VmHWM", status, value = TRUE))) / 1024
}

measure <- function(way) {
  table <- dplyr::tbl(con, "bench_ratings")
  systems <- dplyr::tbl(con, "bench_systems")
  start <- peak_memory()
  reading <- system.time({
    if (way == "memory") {
      table <- DBI::dbGetQuery(con, "SELECT * FROM bench_ratings")
      systems <- DBI::dbGetQuery(con, "SELECT * FROM bench_systems")
    }
    x <- ratings(table, case = case, rater = rater, rating = rating, systems = systems)
  })
  estimating <- system.time(
    estimate <- suppressWarnings(estimate_accuracy(x), classes = "fallible_warning")
  )
  patterns <- as.data.frame(lapply(tidy(x, "patterns"), as.character))
  list(
    way = way, elapsed = c(reading = reading[["elapsed"]], estimating = estimating[["elapsed"]]),
    cpu = c(reading = sum(reading[1:2]), estimating = sum(estimating[1:2])),
    memory = peak_memory(), start = start, patterns = patterns[do.call(order, patterns), ],
    estimate = tidy(estimate)[c("estimate", "std.error", "conf.low", "conf.high", "n")]
  )
}

if (length(arguments) > 2L) {
  saveRDS(measure(arguments[[3L]]), arguments[[4L]])
} else {
  if (!DBI::dbExistsTable(con, "bench_ratings")) print(system.time(make_tables()))
  results <- lapply(c("database", "memory"), function(way) {
    file <- tempfile()
    status <- system2("Rscript", c("bench/database.R", arguments[[1L]], cases, way, file))
    if (status == 0L) readRDS(file)
  })
  for (result in results) {
    cat(result$way, "\n")
    print(round(rbind(elapsed = result$elapsed, cpu = result$cpu), 1))
    cat("peak", round(result$memory), "MB, of which", round(result$start), "before reading\n")
    print(as.data.frame(result$estimate), digits = 15)
  }
  if (all(lengths(results) > 0L)) {
    rownames(results[[1L]]$patterns) <- rownames(results[[2L]]$patterns) <- NULL
    same <- identical(results[[1L]]$patterns, results[[2L]]$patterns)
    cat(nrow(results[[1L]]$patterns), "patterns, identical:", same, "\n")
    cat("largest difference of estimates and intervals:",
      max(abs(unlist(results[[1L]]$estimate) - unlist(results[[2L]]$estimate))), "\n")
  }
}

# Speed and memory of simulation studies: time for the paper's figures, and memory for many runs.
#
#   Rscript bench/study.R [output.csv]
#
# Prints a table of times and memory, median and best of repeated runs, with a goal for some rows,
# and a table of speed by figure. Compares in the same run with plain vectorised R, after a
# check that both do the same: on the same panels the estimates are equal, and over many panels the
# two simulators agree within Monte Carlo error.
#
# Memory is measured in fresh processes, less the size of the table of results: as the peak of
# resident memory (VmHWM in /proc/self/status, Linux only), and as the peak that gc() reports, which
# does not see what C++ allocates.

library(fallible)

seed <- 20150501L
n_categories <- 5L # of all figures, as are raters and systems
n_raters <- 3L
n_systems <- 5L
runs_short <- 10L # for each system, as in the paper
runs_long <- 400L
replicates <- 200L

options(cli.progress_show_after = 3600) # no progress bars among the messages

main <- function(output = NULL) {
  set.seed(seed)
  designs <- lapply(1:14, lehner_design)
  names(designs) <- paste("Figure", 1:14)
  check_same_panels(designs)
  agreement <- check_many_panels(designs)
  results <- rbind(
    time_figures(designs), time_threads(designs), time_bootstrap(), measure_memory()
  )
  speed <- time_each_figure(designs)
  options(width = 120L)
  cat(
    "fallible ", format(utils::packageVersion("fallible")), ", R ", format(getRversion()), ", ",
    format(Sys.Date()), ", ", parallel::detectCores(), " cores, one used unless said\n\n",
    sep = ""
  )
  print_results(results)
  cat(
    "\nRuns per second, of ", n_systems * runs_short, " and of ", n_systems * runs_long, " runs\n",
    sep = ""
  )
  print_speed(speed)
  cat(
    "\nAgreement of the two simulators, ", n_systems * runs_long, " runs of each per figure; ",
    "z is the largest\ndifference of any mean in Monte Carlo standard errors\n",
    sep = ""
  )
  print_agreement(agreement)
  if (!is.null(output)) {
    provenance <- list(
      seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
      r = format(getRversion())
    )
    utils::write.csv(cbind(results, provenance), output, row.names = FALSE)
    beside <- sub("(\\.csv)?$", "-figures.csv", output)
    utils::write.csv(cbind(speed, agreement[-1L], provenance), beside, row.names = FALSE)
  }
}

# ---- Time ---------------------------------------------------------------------------------------

# Seconds of each run of each task. Tasks alternate, so that other load on the machine affects all
# of them.
time_in_turn <- function(tasks, runs) {
  elapsed <- vapply(seq_len(runs), function(i) {
    vapply(tasks, function(task) {
      gc()
      start <- Sys.time()
      task()
      as.numeric(Sys.time() - start, units = "secs")
    }, 0)
  }, numeric(length(tasks)))
  matrix(elapsed, runs, byrow = TRUE, dimnames = list(NULL, names(tasks)))
}

new_row <- function(data, task, unit, values, goal = NA_real_) {
  data.frame(
    data = data, task = task, unit = unit, goal = goal, median = stats::median(values),
    best = min(values), runs = length(values), stringsAsFactors = FALSE
  )
}

new_rows <- function(data, seconds, goal = NA_real_) {
  goal <- rep_len(goal, ncol(seconds))
  rows <- lapply(seq_len(ncol(seconds)), function(i) {
    new_row(data, colnames(seconds)[[i]], "s", seconds[, i], goal[[i]])
  })
  do.call(rbind, rows)
}

# Ratio of the time of the other implementation to the time of the package.
add_ratio <- function(rows, our_task, peer, goal = NA_real_) {
  ratio <- rows[rows$task == peer, ]
  ratio$median <- ratio$median / rows$median[rows$task == our_task]
  ratio$best <- ratio$best / rows$best[rows$task == our_task]
  ratio$unit <- paste("x", our_task)
  ratio$goal <- goal
  rbind(rows, ratio)
}

# All figures, one after another in one call.
time_figures <- function(designs) {
  message("Timing all figures ...")
  seconds <- time_in_turn(
    list(
      fallible = function() simulation_study(designs, "binned", runs = runs_short),
      "plain R" = function() plain_study(designs, runs_short)
    ),
    runs = 15L
  )
  add_ratio(new_rows("14 figures, 700 runs", seconds, c(1, NA)), "fallible", "plain R", goal = 50)
}

time_threads <- function(designs) {
  message("Timing threads ...")
  rows <- lapply(c(10L, 100L), function(runs) {
    with_threads <- function(threads) {
      function() simulation_study(designs, "binned", runs = runs, threads = threads)
    }
    seconds <- time_in_turn(list("1 thread" = with_threads(1L), "2 threads" = with_threads(2L)), 7L)
    new_rows(paste0("14 figures, ", length(designs) * n_systems * runs, " runs"), seconds)
  })
  do.call(rbind, rows)
}

# The same intervals, from compiled code and from a function that the study calls for each panel.
time_bootstrap <- function() {
  message("Timing bootstrap intervals ...")
  our_estimator <- accuracy_estimator("binned", interval = "bootstrap",
    resampling = list(replicates = replicates))
  peer <- function(x) {
    estimate_accuracy(x, "binned", interval = "bootstrap", resampling = list(replicates = replicates))
  }
  study <- function(estimator) {
    function() simulation_study(lehner_design(3), list(interval = estimator), runs = 100L)
  }
  limits <- lapply(list(our_estimator, peer), function(estimator) {
    set.seed(seed)
    tidy(study(estimator)())[c("estimate", "std.error", "conf.low", "conf.high")]
  })
  stopifnot(all.equal(limits[[1L]], limits[[2L]], tolerance = 1e-10))
  seconds <- time_in_turn(list("compiled estimator" = study(our_estimator),
    "R function" = study(peer)), 5L)
  rows <- new_rows(paste0("500 runs x ", replicates, " replicates"), seconds)
  speed <- lapply(colnames(seconds), function(task) {
    row <- new_row(rows$data[[1L]], task, "runs/s", 500 / seconds[, task])
    row$best <- max(500 / seconds[, task])
    row
  })
  rbind(add_ratio(rows, "compiled estimator", "R function"), do.call(rbind, speed))
}

# Few runs measure the fixed time of a call, many runs the time per panel.
time_each_figure <- function(designs) {
  rows <- lapply(names(designs), function(figure) {
    message("Timing ", figure, " ...")
    design <- designs[[figure]]
    tasks <- function(runs) {
      list(
        function() simulation_study(design, "binned", runs = runs),
        function() plain_study(list(design), runs)
      )
    }
    speed <- function(runs, times) {
      n_systems * runs / apply(time_in_turn(tasks(runs), times), 2L, stats::median)
    }
    short <- speed(runs_short, 9L)
    long <- speed(runs_long, 3L)
    data.frame(
      figure = figure, n = design$n, raters = toString(design$raters),
      fallible_short = short[[1L]], plain_short = short[[2L]],
      fallible = long[[1L]], plain = long[[2L]], ratio = long[[1L]] / long[[2L]],
      stringsAsFactors = FALSE
    )
  })
  do.call(rbind, rows)
}

# ---- Memory -------------------------------------------------------------------------------------

measure_memory <- function() {
  message("Measuring memory ...")
  rows <- lapply(c(100L, 1000L, 10000L), function(runs) {
    runs_per_system <- runs / n_systems
    values <- vapply(1:3, function(i) as.numeric(run_child("memory", runs_per_system)), numeric(3L))
    data <- paste0("Figure 1, ", runs, " runs")
    rbind(
      new_row(data, "peak resident memory, less table", "MB", values[1L, ]),
      new_row(data, "peak of R's own memory, less table", "MB", values[2L, ]),
      new_row(data, "table of results", "MB", values[3L, ])
    )
  })
  do.call(rbind, rows)
}

# In the child: what a study adds at its peak to resident and to R's memory beyond its table, and
# the size of the table; in megabytes. A small study fits into what loading left free.
child_memory <- function(runs) {
  design <- lehner_design(1)
  simulation_study(design, "binned", runs = 1L) # loads what the first call loads
  heap_before <- heap(gc(reset = TRUE), "used")
  reset_peak()
  before <- memory_status("VmRSS")
  study <- simulation_study(design, "binned", runs = as.integer(runs))
  peak <- memory_status("VmHWM") - before
  heap_peak <- heap(gc(), "max used") - heap_before
  table <- as.numeric(utils::object.size(tidy(study))) / 2^20
  c(peak - table, heap_peak - table, table)
}

# The column next to a count is its size in megabytes.
heap <- function(gc, column) sum(gc[, which(colnames(gc) == column) + 1L])

# Resets the peak of memory, if the operating system allows it.
reset_peak <- function() {
  suppressWarnings(try(cat("5", file = file.path("", "proc", "self", "clear_refs")), silent = TRUE))
}

# In megabytes; NA where there is no such file.
memory_status <- function(field) {
  file <- file.path("", "proc", "self", "status")
  if (!file.exists(file)) {
    return(NA_real_)
  }
  line <- grep(paste0("^", field, ":"), readLines(file), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 2^10
}

# Runs this script again in a separate process. Returns the words of the line that it prints.
run_child <- function(task, input) {
  output <- system2(
    file.path(R.home("bin"), "Rscript"), shQuote(c(script_path(), "--child", task, input)),
    stdout = TRUE
  )
  strsplit(paste(output, collapse = " "), " ", fixed = TRUE)[[1L]]
}

script_path <- function() {
  arguments <- commandArgs()
  sub("^--file=", "", arguments[startsWith(arguments, "--file=")][[1L]])
}

child <- function(task, input) {
  cat(switch(task, memory = child_memory(input)))
}

# ---- Plain R ------------------------------------------------------------------------------------

# Runs of each design and system: one run at a time, vectorised over its cases. A matrix with a row
# per run.
plain_study <- function(designs, runs) {
  profiles <- plain_profiles()
  tables <- lapply(designs, function(design) {
    by_system <- lapply(design$systems, function(system) {
      plan <- plain_plan(design, system)
      t(vapply(seq_len(runs), function(i) plain_run(plan, profiles), numeric(5L)))
    })
    do.call(rbind, by_system)
  })
  do.call(rbind, tables)
}

# Raters are exchangeable, so cases differ only in counts per category: a few profiles, which
# patterns of answers (the first rater's changes fastest) belong to.
plain_profiles <- function() {
  patterns <- as.matrix(expand.grid(rep(list(seq_len(n_categories)), n_raters)))
  counts <- vapply(seq_len(n_categories), function(k) rowSums(patterns == k), patterns[, 1L] + 0)
  code <- drop(counts %*% (n_raters + 1L)^seq(0L, n_categories - 1L))
  first <- !duplicated(code)
  counts <- counts[first, ]
  list(
    of_pattern = match(code, code[first]), size = sum(first), counts = counts,
    not = n_raters + 1L - counts, agreeing = rowSums(counts * (counts - 1)),
    pairs = n_raters * (n_raters - 1)
  )
}

# Constants of all runs. Rows of confusion matrices are stacked: true categories within strata
# within raters and, last, the system.
plain_plan <- function(design, system) {
  k <- seq_len(n_categories)
  units <- c(design$raters, system)
  strata <- nrow(design$strata)
  accuracy <- pmin(pmax(rep(units, each = strata) + design$strata$shift, 0), 1)
  spread <- design$dispersion^-abs(outer(k, k, "-"))
  diag(spread) <- 0
  spread <- spread / rowSums(spread)
  rows <- length(accuracy) * n_categories
  list(
    n = design$n, accuracy = accuracy, open = accuracy > 0 & accuracy < 1,
    diagonal = rep(accuracy, each = n_categories),
    errors = spread[rep(k, length(accuracy)), ] * rep(1 - accuracy, each = n_categories),
    at_diagonal = seq_len(rows) + rows * (rep(k, length(accuracy)) - 1L),
    error_range = design$error_range, weights = design$strata$weight,
    offset = rep((seq_along(units) - 1L) * n_categories * strata, each = design$n),
    of_system = length(accuracy) - strata + seq_len(strata)
  )
}

# Estimate, agreement, accuracy of raters, expected and sample accuracy of the system.
plain_run <- function(plan, profiles) {
  base_rates <- stats::runif(n_categories)
  base_rates <- base_rates / sum(base_rates)
  rows <- plain_matrices(plan, base_rates)
  correct <- colSums(matrix(base_rates * rows[plan$at_diagonal], n_categories))

  cell <- sample.int(
    n_categories * length(plan$weights), plan$n,
    replace = TRUE, prob = outer(base_rates, plan$weights)
  )
  answers <- matrix(plain_answers(rows, cell + plan$offset), plan$n)
  right <- answers[, n_raters + 1L] == (cell - 1L) %% n_categories + 1L
  c(
    plain_estimate(plain_weight(answers, profiles), profiles),
    sum(plan$weights * correct[plan$of_system]), sum(right) / plan$n
  )
}

plain_matrices <- function(plan, base_rates) {
  rows <- plan$errors
  diagonal <- plan$diagonal
  if (plan$error_range > 0) {
    rows <- rows * stats::runif(length(rows), 1 - plan$error_range, 1 + plan$error_range)
    diagonal <- plain_diagonal(plan, base_rates, .rowSums(rows, nrow(rows), n_categories))
  }
  rows[plan$at_diagonal] <- diagonal
  rows / rowSums(rows)
}

# One factor per matrix, for its accuracy over base rates. On the logit scale accuracy rises with
# the log factor at a rate between 0 and 1, near 1: so adding what lacks converges fast, for all
# matrices at once.
plain_diagonal <- function(plan, base_rates, wrong) {
  diagonal <- plan$diagonal
  target <- stats::qlogis(plan$accuracy)
  repeat {
    reached <- colSums(matrix(base_rates * diagonal / (diagonal + wrong), n_categories))
    logit_gap <- target - stats::qlogis(reached)
    logit_gap[!plan$open] <- 0
    diagonal <- diagonal * rep(exp(logit_gap), each = n_categories)
    if (max(abs(logit_gap)) < 1e-12) {
      return(diagonal)
    }
  }
}

# Inverse distribution functions: how many of a row's cumulative probabilities are below a uniform
# number.
plain_answers <- function(rows, cell) {
  uniform <- stats::runif(length(cell))
  cumulative <- 0
  answer <- 1L
  for (k in seq_len(n_categories - 1L)) {
    cumulative <- cumulative + rows[, k]
    answer <- answer + (uniform > cumulative[cell])
  }
  answer
}

# Cases by profile and answer of the system.
plain_weight <- function(answers, profiles) {
  pattern <- answers[, 1L]
  for (j in seq_len(n_raters)[-1L]) {
    pattern <- pattern + as.integer(n_categories^(j - 1L)) * (answers[, j] - 1L)
  }
  cell <- profiles$of_pattern[pattern] + profiles$size * (answers[, n_raters + 1L] - 1L)
  matrix(tabulate(cell, profiles$size * n_categories), profiles$size)
}

# The published estimate, the agreement and the accuracy of raters.
plain_estimate <- function(weight, profiles, width = 0.1) {
  wrong <- n_categories - 1
  cases <- rowSums(weight)
  n <- sum(cases)
  agreement <- sum(cases * profiles$agreeing) / (n * profiles$pairs)
  if (agreement - 1 / n_categories <= 1e-9) {
    return(c(NA, agreement, 1 / n_categories))
  }
  right <- 1 / n_categories +
    sqrt((wrong * agreement - wrong / n_categories) / n_categories)
  share <- drop(cases %*% profiles$counts) / (n * n_raters)
  prior <- (wrong * share - 1 + right) / (n_categories * right - 1)
  prior[prior <= 1e-12] <- 0
  against <- ((1 - right) / (wrong * right))^(0:n_raters)
  posterior <- matrix(against[profiles$not] * rep(prior, each = profiles$size), profiles$size)
  posterior <- posterior / rowSums(posterior)
  highest <- posterior[, 1L]
  for (k in 2:n_categories) highest <- pmax.int(highest, posterior[, k])
  is_top <- posterior >= highest * (1 - 1e-9)
  agrees <- rowSums(weight * is_top) / rowSums(is_top)
  bin <- (1 - highest + 1e-9) %/% width
  sums <- rowsum(cbind(cases, cases * highest, agrees), bin, reorder = FALSE)
  probability <- sums[, 2L] / sums[, 1L]
  information <- n_categories * probability - 1
  accuracy <- (wrong * sums[, 3L] / sums[, 1L] - 1 + probability) / information
  known <- which(sums[, 1L] > 0 & information >= 1e-6)
  estimate <- sum(pmin.int(pmax.int(accuracy[known], 0), 1) * sums[known, 1L]) /
    sum(sums[known, 1L])
  c(if (is.nan(estimate)) NA else estimate, agreement, right)
}

# ---- Checks -------------------------------------------------------------------------------------

# The panels of the package in plain R.
check_same_panels <- function(designs) {
  message("Comparing estimates of the same panels ...")
  profiles <- plain_profiles()
  study <- simulation_study(designs, "binned", runs = runs_short)
  table <- tidy(study)
  plain <- t(vapply(seq_len(nrow(table)), function(row) {
    x <- replay(study, row)
    number <- function(labels) as.integer(as.character(labels))
    raters <- matrix(number(as.data.frame(x)$rating), ncol = n_raters, byrow = TRUE)
    answers <- cbind(raters, number(as.data.frame(x, what = "systems")$prediction))
    plain_estimate(plain_weight(answers, profiles), profiles)
  }, numeric(3L)))
  our_values <- as.matrix(table[c("estimate", "agreement", "rater_accuracy")])
  stopifnot(
    identical(is.na(unname(our_values)), is.na(plain)),
    max(abs(our_values - plain), na.rm = TRUE) < 1e-10
  )
}

# Separate panels: means must agree within 4 Monte Carlo standard errors.
check_many_panels <- function(designs) {
  message("Comparing the simulators ...")
  rows <- lapply(names(designs), function(figure) {
    design <- designs[[figure]]
    our_values <- tidy(simulation_study(design, "binned", runs = runs_long))
    our_values <- as.matrix(our_values[c("estimate", "agreement", "rater_accuracy", "expected",
      "sample")])
    plain <- plain_study(list(design), runs_long)
    colnames(plain) <- c("estimate", "agreement", "rater_accuracy", "expected", "sample")
    our_values <- study_measures(our_values)
    plain <- study_measures(plain)
    z <- z_difference(our_values, plain)
    stopifnot(max(z) < 4)
    data.frame(
      figure = figure, mean_fallible = mean(our_values[, "estimate"], na.rm = TRUE),
      mean_plain = mean(plain[, "estimate"], na.rm = TRUE),
      rmse_fallible = sqrt(mean(our_values[, "squared error"], na.rm = TRUE)),
      rmse_plain = sqrt(mean(plain[, "squared error"], na.rm = TRUE)),
      missing_fallible = mean(our_values[, "missing"]), missing_plain = mean(plain[, "missing"]),
      z = max(z), stringsAsFactors = FALSE
    )
  })
  do.call(rbind, rows)
}

# The error has the mean of the estimate with less noise, for accuracies differ between systems.
study_measures <- function(x) {
  error <- x[, "estimate"] - x[, "expected"]
  cbind(
    x,
    error = error, "squared error" = error^2, missing = is.na(error),
    deviation = x[, "sample"] - x[, "expected"]
  )
}

# Values that are equal in all runs may differ only by rounding errors.
z_difference <- function(x, y) {
  squared_se <- function(x) apply(x, 2L, stats::var, na.rm = TRUE) / colSums(!is.na(x))
  difference <- colMeans(x, na.rm = TRUE) - colMeans(y, na.rm = TRUE)
  abs(difference) / sqrt(squared_se(x) + squared_se(y) + 1e-20)
}

# ---- Printing -----------------------------------------------------------------------------------

print_results <- function(results) {
  numbers <- c("goal", "median", "best")
  results[numbers] <- lapply(results[numbers], function(x) {
    ifelse(is.na(x), "", formatC(x, digits = 3L, format = "fg"))
  })
  words <- c("data", "task", "unit")
  results[words] <- Map(function(name, x) format(c(name, x))[-1L], words, results[words])
  names(results)[match(words, names(results))] <- vapply(words, function(name) {
    formatC(name, width = -nchar(results[[name]][[1L]]))
  }, "")
  print(results, row.names = FALSE)
}

print_speed <- function(speed) {
  numbers <- c("fallible_short", "plain_short", "fallible", "plain")
  speed[numbers] <- lapply(speed[numbers], function(x) formatC(x, format = "d", big.mark = ","))
  speed$ratio <- sprintf("%.1f", speed$ratio)
  names(speed)[4:7] <- paste0(
    c("fallible ", "plain R "), rep(n_systems * c(runs_short, runs_long), each = 2L)
  )
  print(speed, row.names = FALSE)
}

print_agreement <- function(agreement) {
  means <- setdiff(names(agreement), c("figure", "z"))
  agreement[means] <- lapply(agreement[means], function(x) sprintf("%.4f", x))
  agreement$z <- sprintf("%.1f", agreement$z)
  names(agreement) <- gsub("_", " ", names(agreement), fixed = TRUE)
  print(agreement, row.names = FALSE)
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1L], "--child")) {
  do.call(child, as.list(arguments[-1L]))
} else {
  do.call(main, as.list(arguments))
}

# Speed and memory of each stage, for a million cases and for sparse crowds.
#
#   Rscript bench/speed.R [output.csv]
#   Rscript bench/speed.R table [crowd-kit] [large]
#   Rscript bench/speed.R exponents
#
# `table` and `exponents` are explained in speed-table.R.
#
# Without them, prints one table: median and best of repeated runs, with a goal for some rows. Compares in
# the same run with plain vectorised R and with irrCAC. irrCAC is taken from the library that the
# environment variable FALLIBLE_PEERS names, or from the usual ones; otherwise it is installed into
# a temporary library (minutes), and left out if that fails.
#
# Memory is measured in a fresh process: the peak of its resident memory (VmHWM in
# /proc/self/status) while ratings() runs, less its resident memory before, over the size of the
# input. gc() would not see what C++ allocates. Linux only.

library(fallible)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(folder, "helpers.R"))
source(file.path(folder, "speed-table.R"))

seed <- 1L
n_cases <- 1e6
n_raters <- 5L
n_categories <- 5L # those of simulate_panel()
replicates <- 1000L

main <- function(output = NULL) {
  set.seed(seed)
  message("Simulating ...")
  panel <- simulate_panel(n_cases, rep(0.6, n_raters))
  inputs <- all_inputs(panel)
  results <- rbind(
    time_inputs(inputs), time_stages(inputs[["wide, integer"]]), time_example(),
    time_crowd("800 raters x 10", crowd_input(raters = 800L, n_each = 10L)),
    time_crowd("2000 raters x 250", crowd_input(raters = 2000L, n_each = 250L)),
    measure_memory(inputs), compare_plain(panel), compare_irrcac(panel)
  )
  options(width = 120L)
  cat(
    "fallible ", format(utils::packageVersion("fallible")), ", R ", format(getRversion()), ", ",
    format(Sys.Date()), ", ", parallel::detectCores(), " cores, one used\n",
    "Panel: 1e6 cases x 5 raters (accuracy .6) x 5 categories, one system (accuracy .9)\n\n",
    sep = ""
  )
  print_results(results)
  if (!is.null(output)) write_results(results, output, seed)
}

# ---- Data ---------------------------------------------------------------------------------------

# The same panel in every form that ratings() takes. An input is data and how to read it.
all_inputs <- function(panel) {
  letter <- function(x) LETTERS[x]
  strings <- list2DF(lapply(panel, letter))
  named <- cbind(case = case_names(nrow(panel)), panel)
  list(
    "wide, integer" = list(layout = "wide", data = panel),
    "wide, factor" = list(layout = "wide", data = list2DF(lapply(strings, factor))),
    "wide, character" = list(layout = "wide", data = strings),
    "wide, integer, named cases" = list(layout = "named", data = named),
    "matrix, integer" = list(layout = "matrix", data = as.matrix(panel)),
    "long, integer" = long_input(panel, seq_len(nrow(panel)), seq_len(n_raters)),
    "long, character" = long_input(
      strings, case_names(nrow(panel)), paste0("rater", seq_len(n_raters))
    )
  )
}

case_names <- function(n) sprintf("case%07d", seq_len(n))

# Rater after rater, as reshaping gives it.
long_input <- function(panel, cases, raters) {
  data <- list2DF(list(
    case = rep(cases, length(raters)), rater = rep(raters, each = length(cases)),
    rating = unlist(panel[seq_along(raters)], use.names = FALSE)
  ))
  systems <- list2DF(list(
    case = data$case[seq_along(cases)], # in memory, as a sequence would not be
    system = rep("system", length(cases)), prediction = panel$system
  ))
  list(layout = "long", data = data, systems = systems)
}

# Cases of five raters each; every rater gives `n_each` ratings. The place of a rater among the five
# is fixed, so that no rater sees a case twice.
crowd_input <- function(raters, n_each) {
  cases <- raters * n_each / n_raters
  input <- long_input(simulate_panel(cases, rep(0.6, n_raters)), seq_len(cases), seq_len(n_raters))
  place <- split(seq_len(raters), rep(seq_len(n_raters), length.out = raters))
  input$data$rater <- unlist(lapply(place, function(block) sample(rep(block, n_each))))
  input$data <- list2DF(lapply(input$data, `[`, order(input$data$case)))
  input
}

read_ratings_of <- function(input) {
  switch(input$layout,
    wide = ratings(input$data, raters = tidyselect::starts_with("rater"), systems = "system"),
    named = ratings(
      input$data,
      raters = tidyselect::starts_with("rater"), systems = "system", case = "case"
    ),
    matrix = ratings(input$data, systems = "system"),
    long = ratings(
      input$data,
      case = "case", rater = "rater", rating = "rating", systems = input$systems
    )
  )
}

# ---- Time ---------------------------------------------------------------------------------------

# One row of the table. Time is wall-clock time. Warnings of small samples are suppressed.
time_task <- function(data, task, run, runs, goal = NA_real_) {
  elapsed <- seconds_of(
    function() suppressWarnings(run(), classes = "fallible_warning"), runs
  )
  new_row(data, task, "ms", 1000 * elapsed, goal)
}

new_row <- function(data, task, unit, values, goal = NA_real_) {
  data.frame(
    data = data, task = task, unit = unit, goal = goal, median = stats::median(values),
    best = min(values), runs = length(values), stringsAsFactors = FALSE
  )
}

time_inputs <- function(inputs) {
  message("Timing ratings() ...")
  rows <- Map(function(name, input) {
    time_task(name, "ratings()", function() read_ratings_of(input), runs = 5L, goal = 2000)
  }, names(inputs), inputs)
  do.call(rbind, unname(rows))
}

time_stages <- function(input) {
  message("Timing the stages ...")
  x <- read_ratings_of(input)
  fit <- fit_raters(x)
  row <- function(task, run, goal = NA_real_) time_task("panel", task, run, runs = 15L, goal = goal)
  rbind(
    row("fit_raters()", function() fit_raters(x)),
    row("estimate_accuracy(<ratings>), no interval",
      function() estimate_accuracy(x, "binned", interval = "none"),
      goal = 50
    ),
    row("estimate_accuracy(<fit>), no interval",
      function() estimate_accuracy(fit, "binned", interval = "none")
    ),
    row("estimate_accuracy(<fit>), 1000 replicates", function() bootstrap(fit)),
    row("ground_truth()", function() ground_truth(fit))
  )
}

bootstrap <- function(fit) {
  estimate_accuracy(fit, "binned", "bootstrap", resampling = list(replicates = replicates))
}

# The worked example of Lehner (2015).
time_example <- function() {
  x <- ratings(
    fallible::lehner2015,
    raters = tidyselect::starts_with("rater"), systems = "system", case = "case"
  )
  fit <- fit_raters(x)
  rbind(
    time_task("lehner2015", "estimate_accuracy(<ratings>), no interval",
      function() estimate_accuracy(x, "binned", interval = "none"),
      runs = 51L
    ),
    time_task("lehner2015", "estimate_accuracy(<fit>), 1000 replicates",
      function() bootstrap(fit),
      runs = 51L, goal = 50
    )
  )
}

time_crowd <- function(name, input) {
  message("Timing a crowd of ", name, " ...")
  x <- read_ratings_of(input)
  fit <- fit_raters(x)
  row <- function(task, run) time_task(paste0("crowd, ", name), task, run, runs = 9L)
  rbind(
    row("ratings()", function() read_ratings_of(input)),
    row("estimate_accuracy(<ratings>), no interval",
      function() estimate_accuracy(x, "binned", interval = "none")
    ),
    row("estimate_accuracy(<fit>), 1000 replicates", function() bootstrap(fit)),
    row("ground_truth()", function() ground_truth(fit))
  )
}

# ---- Memory -------------------------------------------------------------------------------------

measure_memory <- function(inputs) {
  message("Measuring memory ...")
  rows <- Map(function(name, input) {
    values <- vapply(1:3, function(i) as.numeric(run_child("memory", input)), 0)
    new_row(name, "peak memory that ratings() adds", "x input", values, goal = 4)
  }, names(inputs), inputs)
  do.call(rbind, unname(rows))
}

# In the child: the peak that ratings() adds, as a multiple of its input.
child_memory <- function(file) {
  input <- readRDS(file)
  ratings(matrix(c("a", "b"), 2L, 2L)) # loads what the first call loads
  gc()
  reset_peak()
  before <- memory_status("VmRSS")
  read_ratings_of(input)
  added <- memory_status("VmHWM") - before
  size <- sum(vapply(input[-1L], function(x) as.numeric(utils::object.size(x)), 0))
  added / size
}

child <- function(task, file) {
  cat(switch(task, memory = child_memory(file), irrcac = child_irrcac(file)))
}

# ---- Peers --------------------------------------------------------------------------------------

# Plain R from the same integer matrix to the same estimate. By case: the formulas, vectorised over
# cases. By profile: cases are counted first, which the few categories and raters allow.
compare_plain <- function(panel) {
  message("Timing plain R ...")
  system <- panel$system
  panel <- as.matrix(panel[seq_len(n_raters)])
  package_input <- cbind(panel, system = system)
  package <- function() {
    estimate_accuracy(
      ratings(package_input, systems = "system"), "binned",
      interval = "none"
    )
  }
  profiles <- plain_profiles(panel, system)
  fit <- fit_raters(ratings(package_input, systems = "system"))
  expected <- tidy(package())$estimate
  stopifnot(
    all.equal(plain_by_case(panel, system), expected, tolerance = 1e-9),
    all.equal(plain_by_profile(panel, system), expected, tolerance = 1e-9)
  )
  name <- "matrix to estimate"
  resampling <- "1000 replicates"
  rows <- rbind(
    time_task(name, "fallible", package, runs = 5L),
    time_task(name, "plain R by case", function() plain_by_case(panel, system), runs = 5L),
    time_task(name, "plain R by profile", function() plain_by_profile(panel, system), runs = 5L),
    time_task(resampling, "fallible", function() bootstrap(fit), runs = 9L),
    time_task(resampling, "plain R by profile", function() plain_bootstrap(profiles), runs = 9L)
  )
  add_ratios(rows)
}

# The published estimate from counts of ratings per category (a row per case or profile, a column
# per category), answers of the system and weights.
plain_estimate <- function(counts, answer, weight = rep(1, nrow(counts)), width = 0.1) {
  categories <- ncol(counts)
  ratings <- rowSums(counts)
  agreement <- sum(weight * rowSums(counts * (counts - 1))) / sum(weight * ratings * (ratings - 1))
  right <- 1 / categories +
    sqrt(((categories - 1) * agreement - (categories - 1) / categories) / categories)
  share <- colSums(weight * counts) / sum(weight * ratings)
  prior <- pmax(((categories - 1) * share - 1 + right) / (categories * right - 1), 0)
  posterior <- (right * (categories - 1) / (1 - right))^counts * rep(prior, each = nrow(counts))
  posterior <- posterior / rowSums(posterior)
  highest <- do.call(pmax, lapply(seq_len(categories), function(k) posterior[, k]))
  is_top <- posterior >= highest * (1 - 1e-9)
  agrees <- is_top[cbind(seq_along(answer), answer)] / rowSums(is_top)
  bin <- floor((1 - highest + 1e-9) / width)
  sums <- rowsum(weight * cbind(1, highest, agrees), bin)
  sums <- sums[sums[, 1L] > 0, , drop = FALSE]
  probability <- sums[, 2L] / sums[, 1L]
  accuracy <- ((categories - 1) * sums[, 3L] / sums[, 1L] - 1 + probability) /
    (categories * probability - 1)
  stats::weighted.mean(pmin(pmax(accuracy, 0), 1), sums[, 1L])
}

plain_by_case <- function(panel, system) {
  counts <- vapply(seq_len(n_categories), function(k) rowSums(panel == k), numeric(nrow(panel)))
  plain_estimate(counts, system)
}

plain_by_profile <- function(panel, system) {
  profiles <- plain_profiles(panel, system)
  plain_estimate(profiles$counts, profiles$answer, profiles$weight)
}

# Counts of the categories as digits of a number, the answer as its last digit.
plain_profiles <- function(panel, system) {
  base <- ncol(panel) + 1L
  digit <- as.integer(base^seq(0L, n_categories))
  code <- system * digit[[n_categories + 1L]]
  for (j in seq_len(ncol(panel))) code <- code + digit[panel[, j]]
  weight <- tabulate(code)
  code <- which(weight > 0L)
  list(
    counts = outer(code, digit[seq_len(n_categories)], function(x, d) x %/% d %% base),
    answer = code %/% digit[[n_categories + 1L]], weight = weight[code]
  )
}

plain_bootstrap <- function(profiles) {
  draws <- stats::rmultinom(replicates, sum(profiles$weight), profiles$weight)
  apply(draws, 2L, function(w) plain_estimate(profiles$counts, profiles$answer, w))
}

# Percent agreement, which irrCAC calls pa.coeff.raw() and uses in bp.coeff.raw().
compare_irrcac <- function(panel) {
  library <- peer_library("irrCAC")
  if (is.null(library)) {
    message("Left out: irrCAC, which could not be installed.")
    return(NULL)
  }
  message("Timing irrCAC ...")
  panel <- as.matrix(panel[seq_len(n_raters)])
  agreement <- function() glance(fit_raters(ratings(panel)))$agreement
  peer <- as.numeric(run_child("irrcac", list(panel = panel), library))
  stopifnot(all.equal(peer[[1L]], agreement(), tolerance = 1e-9))
  name <- "matrix to agreement"
  times <- split(peer[-1L], rep(c("pa.coeff.raw()", "bp.coeff.raw()"), each = 5L))
  rows <- Map(function(call, elapsed) {
    new_row(name, paste("irrCAC", call), "ms", 1000 * elapsed)
  }, names(times), times)
  add_ratios(rbind(time_task(name, "fallible", agreement, runs = 5L), do.call(rbind, unname(rows))))
}

# In the child, where irrCAC's dependencies do no harm: the agreement, then times of five runs of
# pa.coeff.raw() and five of bp.coeff.raw().
child_irrcac <- function(file) {
  panel <- readRDS(file)$panel
  time <- function(run) seconds_of(function() run(panel), 5L)
  peer <- asNamespace("irrCAC")
  values <- c(peer$pa.coeff.raw(panel)$est$pa, time(peer$pa.coeff.raw), time(peer$bp.coeff.raw))
  format(values, digits = 15L, trim = TRUE)
}

# Ratios of the median times of other packages to those of fallible.
add_ratios <- function(rows) {
  is_fallible <- rows$task == "fallible"
  ratios <- rows[!is_fallible, ]
  at <- match(ratios$data, rows$data[is_fallible])
  ratios$median <- ratios$median / rows$median[is_fallible][at]
  ratios$best <- ratios$best / rows$best[is_fallible][at]
  ratios$unit <- "x fallible"
  rbind(rows, ratios)
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

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1L], "table")) {
  do.call(print_table, as.list(arguments[-1L]))
} else if (identical(arguments[1L], "exponents")) {
  print_exponents()
} else if (identical(arguments[1L], "--child")) {
  do.call(child, as.list(arguments[-1L]))
} else {
  do.call(main, as.list(arguments))
}

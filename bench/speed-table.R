# Tables that bench/speed.R prints with the words `table` and `exponents`.
#
# `table [crowd-kit] [large]` takes three minutes, and ten with `large`. A row is a task. Its columns:
# * `seconds`: CPU seconds of fallible on one thread, median of five runs (one run if `large`);
# * `to_ml`: their ratio to a Dawid-Skene fit by maximum likelihood of the same panel, and `goal`,
#   the largest ratio that is acceptable;
# * `peer`, `peer_seconds` and `ratio`: the same task by another program, in the same run, and
#   `seconds` divided by its seconds. Peers are poLCA, if it is installed or in the library
#   FALLIBLE_PEERS; 20 iterations of crowd-kit, whose copy of the sources is the first argument
#   ("" for none); else plain R;
# * `limit`: seconds that the machine needs to read the input once, or the ratings once for each
#   iteration of a fit. Memory bandwidth is measured by a sum.
#
# The panel has 100,000 cases, 7 raters of accuracy .6, 4 categories and a system. Public crowds are
# in the folder FALLIBLE_DATA, and are left out without it. `large` adds 2e7 ratings by 1e5 workers.
#
# `exponents` takes three minutes. It prints how CPU seconds grow with the size of the panel: the
# exponent is 1 if twice the size takes twice the time.

cpu_of <- function(task, runs = 5L) {
  quiet <- function() suppressMessages(suppressWarnings(task()))
  if (runs > 1L) quiet() # warm
  stats::median(seconds_of(quiet, runs, processor_clock))
}

print_table <- function(crowd_kit = "", large = "") {
  options(fallible.quiet = TRUE, width = 160L)
  data <- Sys.getenv("FALLIBLE_DATA")
  crowds <- if (nzchar(data)) file.path(data, "real", c("adult", "relevance4", "fact_eval"))
  rows <- rbind(
    table_of_small(), table_of_panel(),
    do.call(rbind, lapply(crowds, table_of_crowd, crowd_kit)),
    if (large == "large") table_of_large()
  )
  memory <- numeric(2e7)
  bandwidth <- 8 * length(memory) / max(system.time(sum(memory))[["elapsed"]], 1e-3)
  rows$limit <- rows$bytes / bandwidth
  rows$ratio <- rows$seconds / rows$peer_seconds
  columns <- c("data", "task", "seconds", "to_ml", "goal", "peer", "peer_seconds", "ratio", "limit")
  shown <- rows[columns]
  shown[] <- lapply(shown, function(x) {
    if (is.numeric(x)) x <- ifelse(is.na(x), "", formatC(x, digits = 2L, format = "fg"))
    ifelse(is.na(x), "", x)
  })
  print(shown, row.names = FALSE, right = FALSE)
}

# One row. `peer` is a list of a name and seconds.
table_row <- function(data, task, seconds, bytes = NA, peer = list(NA, NA), ml = NA, goal = NA) {
  message(data, ", ", task, ": ", format(seconds, digits = 3L), " s")
  data.frame(
    data = data, task = task, seconds = seconds, to_ml = seconds / ml, goal = as.numeric(goal),
    peer = as.character(peer[[1L]]), peer_seconds = as.numeric(peer[[2L]]),
    bytes = as.numeric(bytes)
  )
}

plain_r <- function(task) list("plain R", cpu_of(task))

# Codes of the columns and their table, which is what reading does.
plain_codes <- function(data) {
  codes <- lapply(data, function(x) match(x, unique(x)))
  if (anyNA(codes)) stop("There are missing values.")
  codes
}

# Labels by majority.
plain_majority <- function(case, rating) {
  case <- match(case, unique(case))
  rating <- factor(rating)
  votes <- tabulate(case + max(case) * (as.integer(rating) - 1L), max(case) * nlevels(rating))
  max.col(matrix(votes, max(case)))
}

table_of_small <- function() {
  read <- function() {
    ratings(lehner2015,
      case = "case", raters = tidyselect::starts_with("rater"), systems = "system"
    )
  }
  x <- read()
  estimate <- suppressWarnings(estimate_accuracy(x))
  repeated <- function(run, times = 20L) cpu_of(function() for (i in seq_len(times)) run()) / times
  row <- function(task, run) table_row("lehner2015", task, repeated(run))
  rbind(
    row("ratings()", read),
    row("estimate_accuracy()", function() estimate_accuracy(x)),
    row("print of the estimate", function() utils::capture.output(print(estimate)))
  )
}

table_of_panel <- function() {
  set.seed(seed)
  drawn <- simulate_ratings(rater_design(rep(0.6, 7), c(system = 0.8), 4L, n = 1e5))
  long <- transform(tidy(drawn), rater = as.character(rater), rating = as.character(rating))
  judges <- unique(long$rater)
  wide <- split(long$rating, long$rater)
  wide$system <- as.character(tidy(drawn, "systems")$prediction)
  wide <- list2DF(wide)
  read <- function() ratings(wide, raters = tidyselect::all_of(judges), systems = "system")
  x <- read()
  estimate <- suppressWarnings(estimate_accuracy(x))
  likelihood <- function() fit_raters(x, dawid_skene(prior = "none"))
  pooled <- function() fit_raters(x, dawid_skene())
  ml <- cpu_of(likelihood)
  row <- function(task, run, goal = NA, bytes = NA, peer = list(NA, NA), seconds = cpu_of(run)) {
    table_row("panel", task, seconds, bytes, peer, ml, goal)
  }
  polca <- list("poLCA", polca_seconds(wide[judges]))
  rbind(
    row("maximum likelihood", seconds = ml, bytes = bytes_of_fit(likelihood, nrow(long)), peer = polca),
    row("ratings(), wide", read, 1.5, utils::object.size(wide), plain_r(function() {
      plain_codes(wide)
    })),
    row("ratings(), long", function() {
      ratings(long, case = "case", rater = "rater", rating = "rating")
    }, 3, utils::object.size(long), plain_r(function() plain_codes(long))),
    row("dawid_skene()", pooled, 4, bytes_of_fit(pooled, nrow(long)), polca),
    row("ground_truth()", function() ground_truth(x), 8, 4 * nrow(long), plain_r(function() {
      plain_majority(long$case, long$rating)
    })),
    row("check_k_properties()", function() check_k_properties(x), 40, 4 * nrow(long)),
    row("estimate_accuracy()", function() estimate_accuracy(x), bytes = 4 * nrow(long)),
    row("print of the estimate", function() utils::capture.output(print(estimate)), 0.2)
  )
}

# Ratings are four bytes each, and are read once in each iteration.
bytes_of_fit <- function(run, n_ratings) {
  fit <- suppressMessages(suppressWarnings(run()))
  4 * n_ratings * max(fit$iterations, 1)
}

polca_seconds <- function(wide) {
  library <- Sys.getenv("FALLIBLE_PEERS")
  if (!requireNamespace("poLCA", lib.loc = c(if (nzchar(library)) library, .libPaths()))) {
    return(NA)
  }
  wide[] <- lapply(wide, function(x) as.integer(factor(x)))
  formula <- stats::as.formula(paste0("cbind(", toString(names(wide)), ") ~ 1"))
  cpu_of(function() {
    poLCA::poLCA(formula, wide, nclass = 4L, verbose = FALSE, calc.se = FALSE, maxiter = 1000L)
  }, 1L)
}

table_of_crowd <- function(folder, crowd_kit) {
  file <- list.files(folder, "^ratings[.]csv", full.names = TRUE)
  rows <- utils::read.csv(file, colClasses = "character")[1:3]
  names(rows) <- c("case", "rater", "rating")
  read <- function() {
    ratings(rows, case = "case", rater = "rater", rating = "rating", repeats = "ratings")
  }
  x <- suppressWarnings(read())
  peer <- list("crowd-kit", if (nzchar(crowd_kit)) crowd_kit_seconds(crowd_kit, file) else NA)
  fit <- function() fit_raters(x, dawid_skene())
  row <- function(...) table_row(basename(folder), ...)
  rbind(
    row("ratings()", cpu_of(read), utils::object.size(rows), plain_r(function() plain_codes(rows))),
    row("dawid_skene()", cpu_of(fit), bytes_of_fit(fit, nrow(rows)), peer),
    row("ground_truth()", cpu_of(function() ground_truth(x)), 4 * nrow(rows),
      plain_r(function() plain_majority(rows$case, rows$rating))
    )
  )
}

# CPU seconds of the whole process, and elapsed seconds of labels with two threads.
table_of_large <- function() {
  rows <- draw_rows(4e6, 1e5, 3L, 3L)
  size <- utils::object.size(rows[[1L]])
  x <- NULL
  row <- function(task, run, bytes) {
    gc()
    reset_peak()
    row <- table_row("2e7 ratings", task, cpu_of(run, 1L), bytes)
    message("peak memory: ", format(memory_status("VmHWM") / 1e9, digits = 3L), " GB")
    row
  }
  reading <- row("ratings()", function() x <<- do.call(ratings, rows), size)
  rm(rows)
  one <- NULL
  labels <- row("ground_truth()", function() one <<- seconds_of(function() ground_truth(x), 1L),
    4 * 2e7)
  old <- options(fallible.threads = 2L)
  two <- seconds_of(function() ground_truth(x), 1L)
  options(old)
  message("elapsed, two threads / one: ", format(two / one, digits = 2L))
  rbind(
    reading, labels,
    row("dawid_skene()", function() fit_raters(x, dawid_skene()), 4 * 2e7),
    row("estimate_accuracy()", function() estimate_accuracy(x), 4 * 2e7)
  )
}

# ---- Growth with the size of the panel -----------------------------------------------------------

# Each comparison changes one size of the panel from `smaller` to `larger`. A quarter of the ratings
# is missing.
print_exponents <- function(runs = 3L) {
  smaller <- list(cases = 20000, raters = 8L, categories = 3L, systems = 1L)
  larger <- list(cases = 80000, raters = 32L, categories = 12L, systems = 8L)
  tasks <- list(
    "ratings(), long" = function(x, long) {
      ratings(long, case = "case", rater = "rater", rating = "rating")
    },
    "maximum likelihood" = function(x, long) fit_raters(x, dawid_skene(prior = "none")),
    "dawid_skene()" = function(x, long) fit_raters(x, dawid_skene()),
    "ground_truth()" = function(x, long) ground_truth(x),
    "estimate_accuracy()" = function(x, long) estimate_accuracy(x)
  )
  seconds <- function(size) {
    set.seed(seed)
    x <- simulate_ratings(rater_design(
      rep(0.7, size$raters),
      stats::setNames(rep(0.8, size$systems), letters[seq_len(size$systems)]),
      size$categories, size$cases, missing = 0.25
    ))
    long <- tidy(x)
    vapply(tasks, function(task) {
      stats::median(replicate(runs, sum(system.time(task(x, long))[c("user.self", "sys.self")])))
    }, 0)
  }
  muffled <- function(size) suppressMessages(suppressWarnings(seconds(size)))
  muffled(utils::modifyList(smaller, list(cases = 100))) # warm
  base <- muffled(smaller)
  exponents <- vapply(names(smaller), function(name) {
    grown <- muffled(utils::modifyList(smaller, larger[name]))
    log(grown / base) / log(larger[[name]] / smaller[[name]])
  }, base)
  cat("Smaller panel:", paste(names(smaller), unlist(smaller), sep = " = ", collapse = ", "), "\n")
  print(data.frame(seconds = round(base, 3), round(exponents, 2)))
}

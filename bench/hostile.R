# What hostile or merely large input costs: seconds of the processor and peak memory, a line each.
#
#   Rscript bench/hostile.R [library] [name...]
#
# Each function is run in a process of its own, with the package from `library` ("" for the usual
# ones), and is stopped after two minutes. Peak memory is VmHWM in /proc/self/status: Linux only.

# 0 and -0 are one category.
negative_zero <- function() {
  set.seed(1)
  true <- sample(-1:1, 200, TRUE)
  rate <- function(p) {
    said <- ifelse(stats::runif(200) < p, true, sample(-1:1, 200, TRUE))
    round(said * 0.6 + stats::runif(200, -0.05, 0.05))
  }
  data <- data.frame(r1 = rate(0.8), r2 = rate(0.8), r3 = rate(0.8))
  half <- sample(200, 100)
  data[half, ] <- lapply(data[half, ], function(v) v + 0)
  x <- ratings(data, raters = r1:r3)
  paste0(
    toString(x$categories), ": Fleiss' kappa ", format(as.numeric(fleiss_kappa(x)), digits = 3)
  )
}

# 2000 workers, 50,000 ratings.
large_crowd <- function(n = 5000, each = 10) {
  set.seed(1)
  long <- unique(data.frame(
    case = rep(1:n, each = each), rater = paste0("w", sample(2000, each * n, TRUE))
  ))
  true <- sample(4, n, TRUE)
  right <- stats::runif(nrow(long)) < 0.7
  long$rating <- letters[ifelse(right, true[long$case], sample(4, nrow(long), TRUE))]
  list(
    x = ratings(
      long, case = case, rater = rater, rating = rating,
      systems = data.frame(case = 1:n, system = "s", prediction = letters[true])
    ),
    gold = stats::setNames(letters[true], 1:n)
  )
}

crowd_alt_test <- function() format(alt_test(large_crowd()$x))

crowd_shared_errors <- function() format(shared_errors(large_crowd()$x))

crowd_shared_known <- function() {
  crowd <- large_crowd()
  format(shared_errors(crowd$x, crowd$gold))
}

# Of sixteen times as many ratings, and of seventy times as many pairs of them: how
# long after a time limit the call ends.
crowd_interrupted <- function() {
  x <- large_crowd(20000, 40)$x
  begun <- proc.time()[["elapsed"]]
  setTimeLimit(elapsed = 1, transient = TRUE)
  tryCatch(shared_errors(x), error = identity, interrupt = identity)
  setTimeLimit()
  paste(format(proc.time()[["elapsed"]] - begun - 1, digits = 2), "s after the limit")
}

findings <- list(
  `-0 and 0 (F02)` = negative_zero,
  `alt_test() of 2000 workers (F08)` = crowd_alt_test,
  `shared_errors() of 2000 workers (F08)` = crowd_shared_errors,
  `the same with known truth (F08)` = crowd_shared_known,
  `shared_errors() stopped (F08)` = crowd_interrupted
)

peak_megabytes <- function() {
  line <- grep("^VmHWM", readLines(file.path("/proc", "self", "status")), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

run_one <- function(name) {
  before <- peak_megabytes()
  setTimeLimit(elapsed = 120, transient = TRUE)
  start <- proc.time()
  said <- tryCatch(
    suppressMessages(suppressWarnings(findings[[name]]())),
    error = function(e) paste("stopped:", conditionMessage(e))
  )
  used <- proc.time() - start
  cat(sprintf(
    "%-38s %7.1f s %6.0f MB more  %s\n", name, used[["user.self"]] + used[["sys.self"]],
    peak_megabytes() - before, said
  ))
}

arguments <- commandArgs(TRUE)
library_path <- if (length(arguments) > 0L) arguments[[1L]] else ""
names <- if (length(arguments) > 1L) arguments[-1L] else names(findings)
if (Sys.getenv("FALLIBLE_HOSTILE") == "") {
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  withr::with_envvar(c(FALLIBLE_HOSTILE = "one"), {
    for (name in names) system2("Rscript", shQuote(c(script, library_path, name)))
  })
} else {
  library(fallible, lib.loc = if (library_path != "") library_path)
  run_one(names)
}

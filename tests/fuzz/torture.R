# Rscript tests/fuzz/torture.R SECONDS SEED, with the package installed: calls of compiled code that
# the fuzzer's doors make, with R's garbage collector at work every few allocations. What is not
# protected is then gone, or another value. Ends when every function was called or time is up.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
given <- as.numeric(commandArgs(TRUE))
seconds <- if (is.na(given[1])) 120 else given[1]
seed <- if (is.na(given[2])) 1 else given[2]
library(fallible)
`%||%` <- function(x, y) if (is.null(x)) y else x
for (file in c(
  "panels", "oracles", "doors", "relations", "files", "archives", "arguments", "fuzz"
)) {
  source(file.path(here, paste0(file, ".R")))
}
for (file in c("reference", "panels", "scores", "archives")) {
  sys.source(file.path(here, "..", "testthat", paste0("helper-", file, ".R")), reference)
}

namespace <- asNamespace("fallible")
glue <- Filter(function(name) {
  any(grepl(".Call(", deparse(body(get(name, namespace))), fixed = TRUE))
}, grep("^core_", ls(namespace), value = TRUE))
calls <- wrong <- stats::setNames(integer(length(glue)), glue)
tortured <- FALSE # calls that compiled code makes of R are within one that is tortured already

tortured_call <- function(name, original) {
  force(list(name, original))
  function(...) {
    most <- if (tortured) 0 else 5 # times of each; more tell no more
    if (calls[[name]] >= most) {
      return(original(...))
    }
    calls[[name]] <<- calls[[name]] + 1L
    plain <- original(...)
    tortured <<- TRUE
    on.exit(tortured <<- FALSE)
    list(...) # promises belong to R
    gctorture2(29)
    found <- tryCatch(original(...), finally = gctorture(FALSE))
    pointer <- typeof(found) == "externalptr" # what it is asked for later is compared
    if (!pointer && !identical(found, plain)) wrong[[name]] <<- wrong[[name]] + 1L
    found
  }
}

for (name in glue) {
  original <- get(name, namespace)
  unlockBinding(name, namespace)
  assign(name, tortured_call(name, original), namespace)
}

# What no door asks for.
elsewhere <- function() {
  confusion_matrix(3, 0.6)
  design <- rater_design(c(0.7, 0.7, 0.8), rep(0.7, 102), 3, 20)
  x <- simulate_ratings(design)
  compare_systems(estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 20)))
  few <- x[, , 1:2]
  estimate_accuracy(few, "joint", interval = "profile")
  predict(fit_raters(few, dawid_skene()), few[1:5, ])
  agreement(few, "own", interval = "bootstrap", resampling = list(replicates = 20))
  scored <- reference$scored_panel(60)$x
  estimate_accuracy(fit_scores(scored), interval = "none")
  answers <- data.frame(a = c("x", "y", "y"), b = c("x", "y", "x"), s = c("x", "y", "x"))
  estimate_accuracy(ratings(answers, raters = a:b, systems = s, rater_kind = "model"))
  simulation_study(rater_design(c(0.7, 0.7), 0.7, 3, 20), runs = 2)
}

doors_of_glue <- setdiff(names(all_doors()), c("arguments", names(files)))
register_measure("own", "My own", function(counts, weights) {
  sum(weights * (counts[, 1L] > 0)) / sum(weights)
}) # its errors come from resampled cases
invisible(suppressWarnings(elsewhere()))
end <- proc.time()[["elapsed"]] + seconds
failed <- 0L
while (proc.time()[["elapsed"]] < end && any(calls == 0L)) {
  for (door in doors_of_glue) {
    found <- one(door, seed)
    failed <- failed + !is.null(found)
    if (!is.null(found)) cat("FAILED one(\"", door, "\", ", seed, ")\n", found, "\n", sep = "")
  }
  seed <- seed + 1
}
print(data.frame(called = calls, differs = wrong))
cat(sum(calls > 0L), "of", length(glue), "functions,", sum(calls), "calls,", sum(wrong), "differ,",
  failed, "failures\n")
quit(status = sum(wrong) + failed + sum(calls == 0L) > 0L)

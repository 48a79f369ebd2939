# Rscript tests/fuzz/sweep.R [FUNCTION...], with the package installed: every odd value in the place
# of every argument of the functions that are exported, and of their methods, once.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
library(fallible)
`%||%` <- function(x, y) if (is.null(x)) y else x
for (file in c("panels", "oracles", "arguments")) source(file.path(here, paste0(file, ".R")))
reference <- new.env()
sys.source(file.path(here, "..", "testthat", "helper-scores.R"), reference)
set.seed(1)
calls <- c(sound_calls(), further_calls())
but <- c(
  "accuracy_report", "explore", # write and open pages
  "glance", # takes nothing but an object
  "rater_family", "register_measure" # take functions, and have separate doors
)
takes <- Filter(function(name) {
  length(formals(getExportedValue("fallible", name))) > 0L
}, getNamespaceExports("fallible"))
given <- commandArgs(TRUE)
nowhere <- c(setdiff(takes, c(names(calls), but)), setdiff(given, names(calls)))
if (length(nowhere) > 0L) stop("No call of ", toString(nowhere), ".")
if (length(given) > 0L) calls <- calls[names(calls) %in% given]
tried <- refused <- failed <- 0L
for (k in seq_along(calls)) {
  name <- names(calls)[[k]]
  call <- with_names(name, calls[[k]])
  wrong <- spoil(name, call)
  if (!is.null(wrong) || last$refused) {
    failed <- failed + 1L
    cat("FAILED as it is:", name, "of", class(call[[1L]])[1L], wrong, "\n")
  }
  for (argument in arguments_of(name, call)) {
    for (value in odd_values) {
      wrong <- spoil(name, call, argument, value)
      tried <- tried + 1L
      refused <- refused + last$refused
      failed <- failed + !is.null(wrong)
      if (!is.null(wrong)) cat("FAILED", wrong, "\n")
    }
  }
}
cat(tried, "calls,", refused, "of them refused,", failed, "failed\n")
quit(status = failed > 0L)

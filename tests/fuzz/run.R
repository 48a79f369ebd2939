# Rscript tests/fuzz/run.R SECONDS SEED [DOOR...], with the package installed: see tools/fuzz.sh.
library(fallible)
`%||%` <- function(x, y) if (is.null(x)) y else x
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
for (file in c(
  "panels", "oracles", "doors", "relations", "files", "archives", "arguments", "fuzz"
)) {
  source(file.path(here, paste0(file, ".R")))
}
for (file in c("reference", "panels", "scores", "archives")) {
  sys.source(file.path(here, "..", "testthat", paste0("helper-", file, ".R")), reference)
}
given <- commandArgs(TRUE)
at <- if (length(given) > 2L) given[-(1:2)] else names(all_doors())
# No call of these sizes may take a minute, but where other tools slow it down.
slow <- as.numeric(Sys.getenv("FALLIBLE_FUZZ_SLOW", "60"))
done <- fuzz(as.numeric(given[[1L]]), as.integer(given[[2L]]), at, slow = slow)
print(done$table, row.names = FALSE)
for (i in seq_len(NROW(done$failures))) {
  cat("\nFAILED one(\"", done$failures$door[[i]], "\", ", done$failures$seed[[i]], ")\n", sep = "")
  cat(done$failures$wrong[[i]], "\n")
}
quit(status = NROW(done$failures) > 0L)

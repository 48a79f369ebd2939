# Where time is short, as on CRAN, some files of each part; all of them where NOT_CRAN is "true".
short <- paste0(
  "^(accuracy-core|agreement-input|as-ratings|bounds|confusion|exact-limit|fit|gold|known|metrics|",
  "patterns|plan-search|ratings|simulate|study|tables|truth|with-truth)$"
)
if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(fallible)
  test_check("fallible", filter = if (!identical(Sys.getenv("NOT_CRAN"), "true")) short)
} else {
  message("The tests need package testthat.")
}

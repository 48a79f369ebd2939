library(testthat)
library(fallible)

# Where time is short, as on CRAN, some files of each part; all of them where NOT_CRAN is "true".
short <- paste0(
  "^(accuracy-core|agreement-input|as-ratings|bounds|confusion|exact-limit|fit|gold|known|metrics|",
  "patterns|plan-formula|ratings|simulate|study|tables|truth|with-truth)$"
)
test_check("fallible", filter = if (!identical(Sys.getenv("NOT_CRAN"), "true")) short)

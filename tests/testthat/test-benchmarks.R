test_that("internal functions that benchmarks use exist", {
  folder <- test_path("..", "..", "bench")
  skip_if_not(dir.exists(folder)) # not in the built package
  space <- asNamespace("fallible")
  for (file in dir(folder, "[.]R$", full.names = TRUE)) {
    code <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
    matches <- function(pattern) unlist(regmatches(code, gregexpr(pattern, code, perl = TRUE)))
    handles <- matches("[a-z]+(?= <- asNamespace[(]\"fallible\"[)]\\s)")
    prefixes <- c("fallible:::", "Namespace[(]\"fallible\"[)][$]", sprintf("\\b%s[$]", handles))
    used <- unlist(lapply(prefixes, function(prefix) matches(sprintf("(?<=%s)[\\w.]+", prefix))))
    expect_identical(setdiff(used, ls(space, all.names = TRUE)), character(), info = basename(file))
  }
})

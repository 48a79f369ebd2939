# SECURITY.md names, in italics, the test of each promise.

test_that("every test that SECURITY.md names is there", {
  page <- test_path("..", "..", "SECURITY.md")
  skip_if_not(file.exists(page), "SECURITY.md is not in the package that is built")
  text <- gsub("\\s+", " ", paste(readLines(page), collapse = " "))
  text <- gsub("[*][*][^*]*[*][*]", "", text) # promises are bold
  named <- regmatches(text, gregexpr("(?<=[*])[a-zA-Z][^*]*[a-z](?=[*])", text, perl = TRUE))[[1L]]
  files <- list.files(test_path(), "^test-.*[.]R$", full.names = TRUE)
  tests <- unlist(lapply(files, function(file) {
    lines <- grep("^test_that[(]", readLines(file, encoding = "UTF-8"), value = TRUE)
    sub("^test_that[(]\"(.*)\", [{]$", "\\1", lines)
  }))
  expect_gt(length(named), 10L)
  expect_identical(setdiff(named, tests), character())
})

# Two seeds at each door of tests/fuzz, always the same, and what it ever found.

fuzzer <- new.env()
folder <- test_path("..", "fuzz")
for (file in c(
  "panels", "oracles", "doors", "relations", "files", "archives", "arguments", "fuzz", "corpus"
)) {
  sys.source(file.path(folder, paste0(file, ".R")), fuzzer)
}
fuzzer$reference <- list(
  random_panel = random_panel, reference_fit = reference_fit, panel_ratings = panel_ratings,
  scored_panel = scored_panel, zip_entry = zip_entry, write_zip = write_zip,
  inspect_files = inspect_files
)

test_that("what once failed does not", {
  skip_unless_extended()
  for (i in seq_len(nrow(fuzzer$corpus))) {
    found <- fuzzer$corpus[i, ]
    expect_null(fuzzer$one(found$door, found$seed), info = paste(found$door, found$seed))
  }
})

test_that("no door gives a condition, a number or a difference that nobody explains", {
  skip_unless_nightly()
  done <- fuzzer$fuzz(seed = 1, seeds = 2)
  expect_gt(sum(done$table$tried - done$table$refused), 0.5 * sum(done$table$tried))
  expect_identical(nrow(done$failures), 0L, info = paste(utils::capture.output(done$failures), collapse = "\n"))
})

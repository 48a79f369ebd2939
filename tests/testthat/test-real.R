#' @srrstats {G5.11, G5.11a} skipped, with a message, where data are not
# Real ratings with known truth, outside the package: read where FALLIBLE_DATA names their folder.
test_that("real panels give estimates near the truth", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  index <- utils::read.csv(file.path(folder, "index.csv"))
  index <- index[index$grade == "A" & index$set != "snow_rte", ]
  error <- unlist(lapply(unique(index$set), function(set) {
    known <- index[index$set == set, ]
    x <- quiet(read_ratings(file.path(folder, set)))
    expect_length(x$categories, known$N[1])
    found <- tidy(quiet(estimate_accuracy(x, interval = "none", method = "binned")))
    found$estimate[match(known$system, found$system)] - known$system_accuracy
  }))
  expect_gt(length(error), 20)
  expect_lt(mean(abs(error)), 0.03)
})

test_that("panels without truth run", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  fit <- quiet(fit_raters(read_ratings(file.path(folder, "nogold_caries"))))
  # Five dentists, 3859 x 5 ratings; agreement as in the index of the folder.
  index <- utils::read.csv(file.path(folder, "index.csv"))
  expect_equal(fit$agreement, index$Pa_case[index$set == "nogold_caries"], tolerance = 1e-3)
})

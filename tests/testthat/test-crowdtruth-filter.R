set.seed(3)
crowd <- simulate_crowd(units = 20, workers = 10, per_unit = 5, spammers = c(random = 2))

test_that("units below the mean less a standard deviation leave", {
  ct <- crowdtruth(crowd)
  clarity <- ct$units$clarity
  limit <- mean(clarity) - sqrt(mean((clarity - mean(clarity))^2))
  kept <- filter_crowd(ct, "units")
  expect_identical(kept$units$unit, ct$units$unit[clarity >= limit])
  expect_identical(kept$units, crowdtruth(crowd[clarity >= limit, ])$units)
  expect_identical(kept$workers, crowdtruth(crowd[clarity >= limit, ])$workers)
  expect_identical(filter_crowd(crowd, "units")$units, kept$units)
  expect_identical(filter_crowd(ct, "units", below = 0)$units, ct$units)
  expect_match(kept$history, "Left out [0-9]+ units? of 20 with clarity below")
  expect_error(filter_crowd(ct, "units", below = 2), class = "fallible_error_argument")
  expect_error(
    filter_crowd(crowdtruth(crowd[clarity < 0.9, ]), "units", below = 1), class = "fallible_error_empty"
  )
  two <- filter_crowd(crowdtruth(crowd, version = "2.0", tolerance = 0.01), "units", sd = 0.5)
  expect_identical(two$options$tolerance, 0.01)
  expect_match(two$history, "uqs below")
})

test_that("workers with few units, and flagged ones, leave", {
  data <- as.data.frame(crowd)
  data <- data[!(data$rater == "w01" & !data$case %in% c("u01", "u02", "u03", "u04")), ]
  x <- ratings(data, case = case, rater = rater, rating = rating, repeats = "labels")
  few <- crowdtruth(x)$workers
  few <- few$units[few$worker == "w01"]
  expect_false("w01" %in% filter_crowd(x, "workers", min_units = few + 1)$workers$worker)
  expect_true("w01" %in% filter_crowd(x, "workers", min_units = few)$workers$worker)
  kept <- filter_crowd(x, "workers", min_units = 0, flagged = c("w02", "w03"))
  expect_identical(kept$workers$worker, setdiff(x$raters, c("w02", "w03")))
  flags <- flag_workers(x)
  bad <- flags$workers$worker[flags$workers$flagged]
  expect_gt(length(bad), 0)
  expect_identical(
    filter_crowd(x, "workers", 0, flags)$workers$worker, setdiff(x$raters, bad)
  )
  expect_error(filter_crowd(x, flags), "flagged = flag_workers(x)", fixed = TRUE)
  expect_error(filter_crowd(x, "workers", flagged = "nobody"), class = "fallible_error_argument")
  expect_error(
    filter_crowd(x, "workers", min_units = 1000), "10 of 10 workers judged fewer", class = "fallible_error_raters"
  )
  expect_snapshot(error = TRUE, filter_crowd(x, "workers", min_units = 4, flagged = x$raters[-1]))
  counted <- ratings(crowdtruth2014, case = unit, counts = sT:sOTH)
  expect_snapshot(error = TRUE, filter_crowd(counted, "workers"))
})

test_that("merged votes move, and second ones are dropped", {
  data <- data.frame(case = c(1, 1, 2), rater = c("r", "s", "r"))
  data$labels <- list(c("a", "b", "c"), "b", c("a", "c"))
  x <- ratings(data, case = case, rater = rater, rating = labels, repeats = "labels")
  merged <- merge_annotations(x, c(b = "a"))
  expect_identical(category_counts(merged$ratings), rbind(`1` = c(a = 2L, c = 1L), `2` = c(a = 1L, c = 1L)))
  expect_identical(merged$history, "Merged b into a")
  # Targets are followed to the end.
  four <- quiet(ratings(rbind(c("a", "b"), c("c", "d"))))
  chained <- merge_annotations(four, c(a = "b", b = "c"))
  expect_identical(chained$annotations$annotation, c("c", "d"))
  expect_identical(category_counts(chained$ratings), cbind(c = c(`1` = 2L, `2` = 1L), d = 0:1))
  counted <- merge_annotations(
    ratings(crowdtruth2014, case = unit, counts = sT:sOTH), c(sP = "sT", sS = "sCA", sM = "sCA")
  )
  expect_equal(
    unname(category_counts(counted$ratings)[, "sCA"]), with(crowdtruth2014, sCA + sS + sM)
  )
  systems <- data.frame(case = 1:2, system = "m", prediction = c("b", "c"))
  with_system <- ratings(data, case = case, rater = rater, rating = labels, repeats = "labels",
    systems = systems)
  said <- as.data.frame(merge_annotations(with_system, c(b = "a"))$ratings, what = "systems")
  expect_identical(as.character(said$prediction), c("a", "c"))
})

test_that("empty answers survive a merge", {
  data <- data.frame(case = 1, rater = c("r", "s", "t"))
  data$labels <- list(c("a", "b"), character(), "c")
  x <- ratings(data, case = case, rater = rater, rating = labels, repeats = "labels")
  merged <- merge_annotations(x, c(b = "a"))
  expect_equal(merged$workers$annotations_per_unit, c(1, 0, 1))
})

test_that("merges that make no sense are refused", {
  x <- ratings(rbind(c("a", "b"), c("c", "a")))
  expect_snapshot(error = TRUE, {
    merge_annotations(x, c(a = "q"))
    merge_annotations(x, "a")
    merge_annotations(x, c(a = "b", b = "a"))
    merge_annotations(x, c(a = "b", a = "c"))
    merge_annotations(x, c(a = "b", c = "b"))
  })
})

test_that("annotations are vague, useless or ambiguous by the thresholds", {
  # A: clear; B: on every second unit, never clear; C: once; D and E: always together.
  votes <- data.frame(
    A = c(5, 5, 5, 5, 5, 0, 0, 0), B = c(1, 1, 0, 0, 0, 1, 1, 0), C = c(0, 0, 0, 0, 0, 1, 0, 0),
    D = c(0, 0, 0, 0, 0, 4, 4, 4), E = c(0, 0, 0, 0, 0, 3, 3, 5), other = c(1, 0, 1, 0, 0, 0, 1, 1)
  )
  x <- crowdtruth(ratings(votes, counts = A:other))
  kinds <- tidy(x, "kinds", other = "other")
  expect_identical(
    kinds$kind, c(NA, "vague", "useless", "ambiguous", "ambiguous", NA)
  )
  expect_identical(kinds$into, c(NA, "other", NA, NA, "D", NA))
  merged <- merge_annotations(x, other = "other")
  expect_identical(merged$annotations$annotation, c("A", "C", "D", "other"))
  expect_identical(merged$history, "Merged B into other, E into D")
  expect_identical(merge_annotations(x, similar = 1, clear = 0)$history,
    "Merged C into B, E into D")
  expect_identical(tidy(x, "kinds")$into, c(NA, NA, NA, NA, "D", NA))
  expect_error(tidy(x, "kinds", other = "nothing"), class = "fallible_error_argument")
  expect_error(filter_crowd(x, "units", min_units = 2), "`min_units` can be given only with", class = "fallible_error_argument")
  expect_error(filter_crowd(x, below = 0.2), "`below` can be given only with", class = "fallible_error_argument")
})

test_that("filters follow each other and tell what was done", {
  done <- crowd |>
    filter_crowd("workers") |>
    filter_crowd("units") |>
    merge_annotations(c(B = "A"))
  expect_length(done$history, 3)
  expect_snapshot(done)
})

test_that("of the paper's units 19 leave", {
  x <- paper_ratings(paper_folder())
  expect_identical(nrow(filter_crowd(x, "units")$units), 71L)
})

test_that("who leaves too few workers is told why", {
  names <- crowd$raters
  said <- function(...) {
    gsub("\n.", "", tryCatch(filter_crowd(crowd, "workers", ...), error = conditionMessage))
  }
  of_few <- said(min_units = 1000)
  expect_match(of_few, "10 of 10 workers judged fewer.*No worker remains.*Lower `min_units`.$")
  flagged <- said(min_units = 0, flagged = names[-1])
  expect_match(flagged, "remain. 9 of 10 workers are flagged.*Only \"w01\" remains.* Flag fewer workers.$")
  expect_match(said(min_units = 1000, flagged = names[1]), "1 of 10 workers is flagged")
})

set.seed(1)
crowd <- simulate_crowd(units = 12, workers = 8, per_unit = 5, spammers = c(random = 2))

test_that("print tells the story", {
  expect_snapshot(crowdtruth(crowd))
  expect_snapshot(crowdtruth(crowd, version = "2.0"))
  expect_snapshot(crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH)))
})

test_that("tables have the columns that are documented", {
  ct <- crowdtruth(crowd)
  expect_named(tidy(ct), c(
    "worker", "units", "unit_disagreement", "worker_disagreement", "overlap_disagreement",
    "annotations_per_unit", "reason"
  ))
  expect_named(
    tidy(ct, "units"), c("unit", "workers", "votes", "annotation", "clarity", "reason")
  )
  expect_named(tidy(ct, "annotations"), c(
    "annotation", "frequency", "probability", "clarity", "ambiguity", "similar_to", "reason"
  ))
  expect_named(tidy(ct, "scores"), c("unit", "annotation", "votes", "score"))
  similarity <- tidy(ct, "similarity")
  expect_identical(nrow(similarity), 30L)
  expect_identical(similarity$similarity[2], ct$similarity["A", "C"])
  expect_error(tidy(ct, "convergence"), class = "fallible_error_argument")
  two <- crowdtruth(crowd, version = "2.0")
  expect_named(tidy(two), c(
    "worker", "units", "wqs", "wwa", "wua", "annotations_per_unit", "reason"
  ))
  expect_named(tidy(two, "units"), c("unit", "workers", "votes", "annotation", "uqs", "reason"))
  expect_true("aqs" %in% names(tidy(two, "annotations")))
  expect_identical(tidy(two, what = "units"), two$units)
})

test_that("glance has one row with the same columns in both versions", {
  one <- glance(crowdtruth(crowd))
  two <- glance(crowdtruth(crowd, version = "2.0"))
  expect_named(two, names(one))
  expect_equal(one$judgements, 60)
  expect_equal(one$labels, nrow(as.data.frame(crowd)))
  expect_equal(one$clarity, mean(crowdtruth(crowd)$units$clarity))
  expect_identical(one$uqs, NA_real_)
  expect_equal(two$steps, nrow(crowdtruth(crowd, version = "2.0")$convergence))
})

test_that("ties for the most frequent annotation are all named", {
  x <- ratings(rbind(c("a", "b"), c("a", "a")))
  expect_identical(crowdtruth(x)$units$annotation, c("a|b", "a"))
})

test_that("soft labels are shares of the votes, in version 2.0 weighted by quality", {
  one <- crowdtruth(crowd)
  votes <- category_counts(crowd)
  expect_equal(as.matrix(tidy(one, "labels")[-1]), votes / rowSums(votes), ignore_attr = TRUE)
  expect_identical(names(tidy(one, "labels")), c("case", LETTERS[1:6]))
  two <- crowdtruth(crowd, version = "2.0")
  answers <- as.data.frame(crowd)
  weight <- two$workers$wqs[match(answers$rater, two$workers$worker)]
  weighted <- tapply(weight, list(answers$case, answers$rating), sum, default = 0)
  soft <- as.matrix(tidy(two, "labels")[-1])
  expect_equal(soft, (weighted / rowSums(weighted))[two$units$unit, ], ignore_attr = TRUE)
  named <- ratings(matrix(c("case", "a"), 2, 2))
  expect_error(tidy(crowdtruth(named), "labels"), class = "fallible_error_argument")
  expect_error(tidy(crowd, "labels"), class = "fallible_error_argument")
})

test_that("units of the same name keep their own scores", {
  twice <- crowd[c(1, 2, 1), ]
  scores <- as.matrix(crowdtruth(twice))
  expect_identical(scores[1, ], scores[3, ])
  expect_false(identical(scores[1, ], scores[2, ]))
})

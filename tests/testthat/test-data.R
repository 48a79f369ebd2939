#' @srrstats {G5.0} lehner2015, dawid1979, fleiss1971, crowdtruth2014
# The shipped tables against what the articles print about them.

test_that("lehner2015 has ten cases, four raters and a system", {
  expect_named(lehner2015, c("case", paste0("rater", 1:4), "system"))
  expect_identical(lehner2015$case, 1:10)
  for (column in names(lehner2015)[-1]) {
    expect_s3_class(lehner2015[[column]], "factor")
    expect_identical(levels(lehner2015[[column]]), c("A", "B", "C", "D"))
  }
  expect_identical(
    vapply(lehner2015[-1], function(x) paste(x, collapse = ""), ""),
    c(
      rater1 = "CBCBACAADA", rater2 = "DDCBBBADBD", rater3 = "CCDDBDABAA",
      rater4 = "CCCDBAACAB", system = "ACCBBAACDB"
    )
  )
})

test_that("dawid1979 has 45 cases, rated three times by the first rater and once by the others", {
  expect_named(dawid1979, c("case", "rater", "rating"))
  expect_type(dawid1979$case, "integer")
  expect_type(dawid1979$rating, "integer")
  expect_identical(levels(dawid1979$rater), paste0("A", 1:5))
  expect_identical(dawid1979$case, rep(1:45, each = 7))
  expect_identical(
    as.character(dawid1979$rater),
    rep(c("A1", "A1", "A1", "A2", "A3", "A4", "A5"), times = 45)
  )
})

test_that("dawid1979 has the ratings of the article", {
  ratings <- matrix(dawid1979$rating, ncol = 7, byrow = TRUE)
  # one line per occasion of the first anaesthetist and per other anaesthetist, patients 1 to 45
  expect_identical(
    apply(ratings, 2, paste, collapse = ""),
    c(
      "131222132242121111222222112111131224223111212",
      "131222232342122111222222113111131223233112322",
      "132222232242121111222221112112131223123111212",
      "142333232243131211212232112111131234233112212",
      "131123142243121111232222112111121223224111212",
      "132222132244111111222222112112131234333111212",
      "142122133343121111122122112111131223232111212"
    )
  )
})

test_that("dawid1979 gives the maximum likelihood estimates of the Dawid-Skene model", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  fit <- fit_raters(x, dawid_skene(prior = "none"))
  error_rates <- lapply(confusion(fit), matrix, 4)
  posterior <- as.matrix(ground_truth(fit)[-1])
  expect_equal(round(unname(rates_of(fit)), 2), c(0.40, 0.42, 0.11, 0.07))
  expect_equal(
    round(error_rates$A1, 2),
    rbind(
      c(0.89, 0.11, 0.00, 0.00),
      c(0.07, 0.88, 0.05, 0.00),
      c(0.00, 0.34, 0.66, 0.00),
      c(0.00, 0.00, 0.56, 0.44)
    ),
    tolerance = 1e-12
  )
  expect_equal(
    round(error_rates$A3, 2),
    rbind(
      c(1.00, 0.00, 0.00, 0.00),
      c(0.11, 0.79, 0.11, 0.00),
      c(0.00, 0.40, 0.20, 0.40),
      c(0.00, 0.00, 0.67, 0.33)
    ),
    tolerance = 1e-12
  )
  expect_identical(unname(which(apply(posterior, 1, max) < 0.99)), c(7L, 35L, 38L))
  expect_equal(round(unname(posterior[7, ]), 2), c(0.98, 0.02, 0, 0))
  expect_equal(round(unname(posterior[35, ]), 2), c(0, 0.95, 0.05, 0))
  expect_equal(round(unname(posterior[38, ]), 2), c(0, 0.02, 0.98, 0))
})

test_that("fleiss1971 has thirty cases with six diagnoses each", {
  diagnoses <- c("depression", "personality_disorder", "schizophrenia", "neurosis", "other")
  expect_named(fleiss1971, c("case", diagnoses))
  expect_identical(fleiss1971$case, 1:30)
  for (diagnosis in diagnoses) {
    expect_type(fleiss1971[[diagnosis]], "integer")
  }
  expect_identical(
    vapply(fleiss1971[diagnoses], function(x) paste(x, collapse = ""), ""),
    c(
      depression = "000002022011010035010002104010",
      personality_disorder = "031030000001302001200120050200",
      schizophrenia = "004004430000300500020000000050",
      neurosis = "600030014054053010400514410400",
      other = "031600200600001120036030102006"
    )
  )
})

test_that("reference_sets has numbers of whole sets only", {
  expect_named(reference_sets, c(
    "family", "kind", "categories", "n", "truth", "estimate", "sampling", "rater_error", "gap",
    "independence_weight", "dependence_weight", "base_rate_range", "open_share"
  ))
  expect_identical(dim(reference_sets), c(88L, 13L))
  expect_length(unique(reference_sets$family), 19)
  expect_true(all(reference_sets$kind %in% c("crowd", "expert")))
  expect_false(anyNA(reference_sets))
  shares <- reference_sets[c(
    "truth", "estimate", "rater_error", "dependence_weight", "base_rate_range", "open_share"
  )]
  expect_true(all(shares >= 0 & shares <= 1))
  x <- reference_sets[reference_sets$rater_error <= 0.9 * (1 - 1 / reference_sets$categories), ]
  expect_equal(x$dependence_weight, pmax(0, 1 - 2 * x$independence_weight), tolerance = 1e-4)
})

# The shipped tables against what the articles print about them, computed here in plain R.

# cases by categories, from a matrix with one column per rater
vote_counts <- function(ratings, categories) {
  t(apply(ratings, 1, function(x) table(factor(x, levels = categories))))
}

test_that("lehner2015 has ten cases, four raters and a system", {
  expect_named(lehner2015, c("case", paste0("rater", 1:4), "system"))
  expect_identical(lehner2015$case, 1:10)
  for (column in names(lehner2015)[-1]) {
    expect_s3_class(lehner2015[[column]], "factor")
    expect_identical(levels(lehner2015[[column]]), c("A", "B", "C", "D"))
    expect_false(anyNA(lehner2015[[column]]))
  }
  expect_identical(
    vapply(lehner2015[-1], function(x) paste(x, collapse = ""), ""),
    c(
      rater1 = "CBCBACAADA", rater2 = "DDCBBBADBD", rater3 = "CCDDBDABAA",
      rater4 = "CCCDBAACAB", system = "ACCBBAACDB"
    )
  )
})

test_that("lehner2015 has the agreement, rater accuracy and base rates of the article", {
  votes <- vote_counts(as.matrix(lehner2015[2:5]), c("A", "B", "C", "D"))
  expect_identical(unname(colSums(votes)), c(11, 10, 10, 9))
  expect_identical(sum(choose(votes, 2)), 20)
  expect_identical(sum(choose(rowSums(votes), 2)), 60)

  accuracy <- 1 / 4 + sqrt((3 * 20 / 60 - 3 / 4) / 4)
  base_rates <- (3 * colSums(votes) / 40 - 1 + accuracy) / (4 * accuracy - 1)
  expect_equal(accuracy, 0.5)
  expect_equal(unname(base_rates), c(0.325, 0.25, 0.25, 0.175))

  # Table 3; a right rating is three times as probable as any one wrong rating
  posterior <- t(apply(votes, 1, function(v) base_rates * 3^v))
  posterior <- unname(posterior / rowSums(posterior))
  table3 <- matrix(c(
    0.041, 0.032, 0.860, 0.067,
    0.084, 0.195, 0.584, 0.136,
    0.041, 0.032, 0.860, 0.067,
    0.074, 0.511, 0.057, 0.358,
    0.120, 0.828, 0.031, 0.021,
    0.325, 0.250, 0.250, 0.175,
    0.975, 0.009, 0.009, 0.006,
    0.325, 0.250, 0.250, 0.175,
    0.657, 0.169, 0.056, 0.118,
    0.657, 0.169, 0.056, 0.118
  ), ncol = 4, byrow = TRUE)
  expect_equal(round(posterior, 3), table3, tolerance = 1e-12)
})

test_that("lehner2015 gives the system accuracy of the article", {
  votes <- vote_counts(as.matrix(lehner2015[2:5]), c("A", "B", "C", "D"))
  base_rates <- c(0.325, 0.25, 0.25, 0.175)
  posterior <- t(apply(votes, 1, function(v) base_rates * 3^v))
  posterior <- posterior / rowSums(posterior)
  highest <- apply(posterior, 1, max)
  agrees <- apply(posterior, 1, which.max) == as.integer(lehner2015$system)
  bin <- ceiling(10 * highest)

  n <- tapply(agrees, bin, length)
  p_agree <- tapply(agrees, bin, mean)
  p_truth <- tapply(highest, bin, mean)
  expect_identical(as.vector(n), c(2L, 2L, 2L, 3L, 1L))
  expect_equal(as.vector(p_agree), c(1 / 2, 1, 0, 2 / 3, 1), tolerance = 1e-12)
  expect_equal(round(as.vector(p_truth), 3), c(0.325, 0.548, 0.657, 0.849, 0.975))

  accuracy <- pmin(pmax((3 * p_agree - 1 + p_truth) / (4 * p_truth - 1), 0), 1)
  expect_equal(round(sum(n * accuracy) / sum(n), 3), 0.731)
})

test_that("dawid1979 has 45 cases, rated three times by the first rater and once by the others", {
  expect_named(dawid1979, c("case", "rater", "rating"))
  expect_identical(dim(dawid1979), c(315L, 3L))
  expect_type(dawid1979$case, "integer")
  expect_type(dawid1979$rating, "integer")
  expect_identical(levels(dawid1979$rater), paste0("A", 1:5))
  expect_identical(dawid1979$case, rep(1:45, each = 7))
  expect_identical(
    as.character(dawid1979$rater),
    rep(c("A1", "A1", "A1", "A2", "A3", "A4", "A5"), times = 45)
  )
})

test_that("dawid1979 has the right number of ratings in each category", {
  used <- table(dawid1979$rater, dawid1979$rating)
  expect_identical(colnames(used), c("1", "2", "3", "4"))
  expect_identical(as.vector(used["A1", ]), c(52L, 61L, 18L, 4L))
  expect_identical(as.vector(used["A2", ]), c(16L, 15L, 11L, 3L))
  expect_identical(as.vector(used["A3", ]), c(20L, 17L, 5L, 3L))
  expect_identical(as.vector(used["A4", ]), c(18L, 17L, 7L, 3L))
  expect_identical(as.vector(used["A5", ]), c(21L, 15L, 7L, 2L))
  expect_identical(as.vector(colSums(used)), c(127, 125, 48, 15))

  # all seven ratings alike, and all three ratings of the first anaesthetist alike
  ratings <- matrix(dawid1979$rating, ncol = 7, byrow = TRUE)
  alike <- function(x) apply(x, 1, function(r) all(r == r[1]))
  expect_identical(
    which(alike(ratings)),
    c(1L, 11L, 13L, 17L, 18L, 21L, 25L, 26L, 28L, 29L, 31L, 33L, 34L, 40L, 41L, 45L)
  )
  expect_identical(sum(alike(ratings[, 1:3])), 32L)
  expect_identical(ratings[7, ], c(1L, 2L, 2L, 2L, 1L, 1L, 1L))

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
  y <- table(dawid1979$case, dawid1979$rater, dawid1979$rating)
  posterior <- apply(y, c(1, 3), sum) / 7
  for (step in 1:300) {
    p <- colMeans(posterior)
    log_joint <- matrix(log(p), 45, 4, byrow = TRUE)
    error_rates <- list()
    for (k in paste0("A", 1:5)) {
      e <- crossprod(posterior, y[, k, ])
      error_rates[[k]] <- e / rowSums(e)
      log_joint <- log_joint + y[, k, ] %*% t(log(pmax(error_rates[[k]], 1e-300)))
    }
    posterior <- exp(log_joint - apply(log_joint, 1, max))
    posterior <- posterior / rowSums(posterior)
  }
  expect_equal(round(unname(p), 2), c(0.40, 0.42, 0.11, 0.07))
  expect_equal(
    round(unname(error_rates$A1), 2),
    rbind(
      c(0.89, 0.11, 0.00, 0.00),
      c(0.07, 0.88, 0.05, 0.00),
      c(0.00, 0.34, 0.66, 0.00),
      c(0.00, 0.00, 0.56, 0.44)
    ),
    tolerance = 1e-12
  )
  expect_equal(
    round(unname(error_rates$A3), 2),
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
  expect_identical(dim(fleiss1971), c(30L, 6L))
  expect_identical(fleiss1971$case, 1:30)
  for (diagnosis in diagnoses) {
    expect_type(fleiss1971[[diagnosis]], "integer")
    expect_gte(min(fleiss1971[[diagnosis]]), 0)
  }
  expect_equal(rowSums(fleiss1971[diagnoses]), rep(6, 30), ignore_attr = TRUE)
  expect_identical(unname(colSums(fleiss1971[diagnoses])), c(26, 26, 30, 55, 43))
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

test_that("fleiss1971 gives the agreement and the kappas of the article", {
  counts <- as.matrix(fleiss1971[-1])
  p <- colSums(counts) / sum(counts)
  expect_equal(round(unname(p), 3), c(0.144, 0.144, 0.167, 0.306, 0.239))

  agreement <- mean(rowSums(counts * (counts - 1)) / (6 * 5))
  kappa <- (agreement - sum(p^2)) / (1 - sum(p^2))
  expect_equal(agreement, 5 / 9, tolerance = 1e-12)
  expect_lt(abs(kappa - 0.43024452), 1e-8)

  # kappa of each category
  by_category <- 1 - colSums(counts * (6 - counts)) / (30 * 6 * 5 * p * (1 - p))
  expect_equal(round(unname(by_category), 3), c(0.245, 0.245, 0.520, 0.471, 0.566))
  expect_equal(which(apply(counts == 6, 1, any)), c(1, 4, 10, 21, 30), ignore_attr = TRUE)
})

test_that("reference_sets has numbers of whole sets only", {
  expect_named(reference_sets, c(
    "family", "kind", "categories", "n", "truth", "estimate", "sampling", "rater_error", "gap",
    "independence_weight", "suspicion", "open_share"
  ))
  expect_identical(dim(reference_sets), c(88L, 12L))
  expect_length(unique(reference_sets$family), 21)
  expect_true(all(reference_sets$kind %in% c("crowd", "expert")))
  expect_false(anyNA(reference_sets))
  shares <- reference_sets[c("truth", "estimate", "rater_error", "suspicion", "open_share")]
  expect_true(all(shares >= 0 & shares <= 1))
  x <- reference_sets[reference_sets$rater_error <= 0.9 * (1 - 1 / reference_sets$categories), ]
  expect_equal(x$suspicion, pmax(0, 1 - 2 * x$independence_weight), tolerance = 1e-4)
})

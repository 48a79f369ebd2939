answers_of_sets <- function(sets) {
  # A rater per column, a case per row, labels pasted.
  long <- expand.grid(case = seq_len(nrow(sets)), rater = colnames(sets), stringsAsFactors = FALSE)
  said <- as.vector(sets)
  long$labels <- lapply(said, function(s) if (is.na(s)) NA_character_ else strsplit(s, "")[[1]])
  ratings(long, case = case, rater = rater, rating = labels, repeats = "labels")
}

# By the definitions, on strings of letters.
slow_overlap <- function(a, b, scale) {
  a <- strsplit(a, "")[[1]]
  b <- strsplit(b, "")[[1]]
  if (setequal(a, b)) {
    return(1)
  }
  jaccard <- length(intersect(a, b)) / length(union(a, b))
  part <- all(a %in% b) || all(b %in% a)
  switch(scale, identity = 0, jaccard = jaccard, masi = jaccard * if (part) 2 / 3 else 1 / 3)
}

test_that("pairs of sets count what their authors say", {
  # Passonneau (2006): two of four labels, one of three in common, nothing in common.
  has <- rbind(c(1, 1, 0, 0), c(1, 1, 1, 1), c(0, 1, 1, 0), c(0, 0, 0, 1), c(0, 0, 0, 0)) == 1
  masi <- label_set_weights(has, "masi")
  expect_equal(masi[1, ], c(1, 1 / 2 * 2 / 3, 1 / 3 * 1 / 3, 0, 0))
  expect_equal(masi[5, ], c(0, 0, 0, 0, 1))
  expect_equal(label_set_weights(has, "jaccard")[1, ], c(1, 1 / 2, 1 / 3, 0, 0))
  expect_identical(label_set_weights(has, "identity"), diag(5))
})

test_that("alpha of sets is that of a slow twin", {
  sets <- withr::with_seed(1, matrix(
    sample(c("a", "b", "ab", "bc", "abc", "", NA), 60, TRUE), 20,
    dimnames = list(NULL, c("r1", "r2", "r3"))
  ))
  x <- answers_of_sets(sets)
  kinds <- setdiff(unique(as.vector(sets)), NA)
  codes <- matrix(match(sets, kinds), 20)
  for (scale in c("masi", "jaccard", "identity")) {
    distance <- 1 - outer(kinds, kinds, Vectorize(function(a, b) slow_overlap(a, b, scale)))
    expected <- twin_alpha(codes, rep(1, 20), length(kinds), distance)
    expect_equal(krippendorff_alpha(x, scale_weights = scale), expected)
    found <- agreement(x, "krippendorff_alpha", scale_weights = scale)
    expect_equal(found$estimate, expected)
    expect_lt(found$conf.low, expected)
  }
})

test_that("single labels are sets of one, and systems come along", {
  withr::local_seed(2)
  one <- matrix(sample(c("a", "b", "c"), 90, TRUE), 30, dimnames = list(NULL, c("r1", "r2", "r3")))
  x <- answers_of_sets(one)
  plain <- krippendorff_alpha(ratings(as.data.frame(one), raters = r1:r3))
  for (scale in label_set_scales) expect_equal(krippendorff_alpha(x, scale_weights = scale), plain)
  long <- data.frame(case = rep(1:4, 2), rater = rep(c("u", "v"), each = 4),
    label = c("a", "b", "a", "b", "a", "b", "b", "b"))
  crowd <- ratings(long, case = case, rater = rater, rating = label, repeats = "labels",
    systems = data.frame(case = 1:4, system = "s", prediction = c("a", "b", "b", "a")))
  pairs <- agreement(crowd, "percent_agreement", scale_weights = "masi", pairwise = TRUE)
  expect_equal(pairs$estimate, c(3 / 4, 1 / 2, 3 / 4))
})

test_that("what is no set of labels, or says no distance, is refused", {
  x <- answers_of_sets(cbind(r1 = c("a", "ab"), r2 = c("a", "b")))
  expect_error(krippendorff_alpha(x), "need `scale_weights` for sets", class = "fallible_error_labels")
  expect_error(agreement(x, scale_weights = "linear"), class = "fallible_error_labels")
  expect_error(krippendorff_alpha(panel(50), scale_weights = "masi"),
    class = "fallible_error_argument")
})

test_that("agreement on sets of labels does not depend on systems that are not compared", {
  data <- data.frame(case = rep(1:6, 2), rater = rep(c("r", "s"), each = 6))
  data$labels <- list(
    c("a", "b"), "a", "b", c("a", "b"), "a", "b", c("a", "b"), "a", "a", c("b", "c"), "a", "b"
  )
  read <- function(...) {
    ratings(data, case = case, rater = rater, rating = labels, repeats = "labels",
      rater_kind = "expert", ...)
  }
  x <- read()
  answers <- data.frame(case = 1:6, system = "S", prediction = c("a", "a", "b", "a", "c", "b"))
  y <- read(systems = answers)
  measured <- function(x, ...) tidy(agreement(x, scale_weights = "masi", ...))
  expect_identical(measured(y), measured(x))
  # With systems, the first pair is that of the raters.
  pairs <- measured(y, pairwise = TRUE)
  expect_setequal(paste(pairs$rater1, pairs$rater2), c("r s", "r S", "s S"))

  halves <- setNames(rep(c("u", "v"), 3), 1:6)
  groups <- measured(x, by = halves)
  separate <- measured(x[halves == "u", ])
  expect_identical(groups$estimate[groups$group == "u"], separate$estimate)
  tests <- tidy(compare_agreement(x, scale_weights = "masi"))
  expect_equal(tests$estimate, measured(x, tests$measure)$estimate)
  # The number of sets is that of both groups, which only some measures depend on.
  difference <- tidy(compare_agreement(x, scale_weights = "masi", by = halves))
  of_sets <- difference$measure %in% c("chance_kappa", "gwet_ac")
  expect_equal(difference$estimate1[!of_sets], groups$estimate[groups$group == "u"][!of_sets])
  expect_equal(difference$estimate2[!of_sets], groups$estimate[groups$group == "v"][!of_sets])
  same <- tidy(compare_agreement(x, x, scale_weights = "masi"))
  expect_equal(same$estimate, 0 * same$estimate)
  # A set that occurs in one panel only does not change the chance agreement of one panel.
  other <- data
  other$labels[[9]] <- c("a", "c")
  z <- ratings(other, case = case, rater = rater, rating = labels, repeats = "labels",
    rater_kind = "expert")
  table <- tidy(compare_agreement(x, z, c("percent_agreement", "chance_kappa"),
    scale_weights = "identity"))
  expect_equal(diff(sign(table$estimate)), 0)
})

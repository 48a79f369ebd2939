test_that("weights follow their formulas", {
  labels <- c("1", "2", "4")
  expect_equal(scale_matrix("identity", labels), diag(3))
  expect_equal(scale_matrix("linear", labels)[1, ], c(1, 2 / 3, 0))
  expect_equal(scale_matrix("quadratic", labels)[1, ], c(1, 8 / 9, 0))
  expect_equal(scale_matrix("radical", labels)[1, ], c(1, 1 - sqrt(1 / 3), 0))
  expect_equal(scale_matrix("ordinal", labels)[1, ], c(1, 2 / 3, 0))
  expect_equal(scale_matrix("ratio", labels)[2, 3], 1 - (2 / 6)^2 / (3 / 5)^2)
  expect_equal(scale_matrix("circular", labels)[1, 2], 1 - sin(pi / 4)^2 / sin(pi / 2)^2)
  distance <- c((2 - 1)^2 / (1 * 5), (4 - 1)^2 / (3 * 3), (4 - 2)^2 / (4 * 2))
  expect_equal(scale_matrix("bipolar", labels)[cbind(c(1, 1, 2), c(2, 3, 3))], 1 - distance)
  # Labels that are not numbers are replaced by their positions.
  expect_equal(scale_matrix("linear", c("low", "mid", "high"))[1, ], c(1, 0.5, 0))
})

test_that("weights may be a matrix, in the order of the categories", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case, ordered = TRUE)
  W <- scale_matrix("linear", LETTERS[1:4])
  expect_equal(fleiss_kappa(x, W), fleiss_kappa(x, "linear"))
  expect_equal(fleiss_kappa(x, diag(4)), fleiss_kappa(x))
  dimnames(W) <- list(LETTERS[4:1], LETTERS[4:1])
  expect_error(fleiss_kappa(x, W), "in their order", class = "fallible_error_argument")
  expect_error(fleiss_kappa(x, "cubic"), class = "fallible_error_argument")
  expect_error(
    fleiss_kappa(cbind(c(-1, 0, 1), c(0, 0, 1)), "ratio"), "negative",
    class = "fallible_error_argument"
  )
  expect_error(
    krippendorff_alpha(x, "ordinal", scale_weights = "linear"), class = "fallible_error_argument"
  )
})

test_that("ordinal weights and alpha go by the order of values, not of labels", {
  a <- c("10", "2", "1", "2", "10", "1", "9")
  b <- c("1", "2", "10", "10", "10", "1", "10")
  labels <- data.frame(a, b)
  values <- data.frame(as.numeric(a), as.numeric(b))
  expect_equal(cohen_kappa(labels, "ordinal"), cohen_kappa(values, "ordinal"))
  expect_equal(krippendorff_alpha(labels, "ordinal"), krippendorff_alpha(values, "ordinal"))
  errors <- function(x) agreement(x, "krippendorff_alpha_ordinal")$std.error
  expect_equal(errors(labels), errors(values))
  # Labels that are not numbers have the order in which they were given.
  letters <- lapply(labels, function(x) chartr("129", "abc", sub("10", "d", x)))
  in_order <- ratings(data.frame(letters), raters = a:b, categories = base::letters[1:4],
    ordered = TRUE)
  expect_equal(
    quiet(krippendorff_alpha(in_order, "ordinal")), krippendorff_alpha(values, "ordinal")
  )
})

test_that("weights and levels need numbers or a declared order, unless there are two categories", {
  d <- data.frame(a = c("low", "medium", "high", "high"), b = c("low", "high", "high", "medium"))
  levels <- c("low", "medium", "high")
  calls <- list(
    function(x) cohen_kappa(x, "linear"), function(x) krippendorff_alpha(x, "ordinal"),
    function(x) krippendorff_alpha(x, "ratio"), function(x) agreement(x, "gwet_ac", "quadratic"),
    function(x) compare_agreement(x, measures = "fleiss_kappa", scale_weights = "linear"),
    function(x) agreement(x, "krippendorff_alpha_interval"), function(x) agreement(x, scale_weights = "linear")
  )
  unordered <- data.frame(lapply(d, factor, levels))
  for (call in calls) {
    for (x in list(d, unordered, table(d$a, d$b))) {
      expect_error(quiet(call(x)), "order of the categories", class = "fallible_error_measure")
    }
  }
  ordered <- data.frame(lapply(d, factor, levels, ordered = TRUE))
  expect_equal(quiet(cohen_kappa(ordered, "linear")), 3 / 7)
  expect_equal(quiet(krippendorff_alpha(ordered, "ordinal")), 0.5625)
  expect_equal(quiet(cohen_kappa(ratings(d, raters = a:b, categories = levels, ordered = TRUE), "linear")), 3 / 7)
  numbers <- data.frame(lapply(unordered, as.integer))
  expect_equal(cohen_kappa(numbers, "linear"), 3 / 7)
  # The unit of numbers and the order of rows do not matter.
  expect_equal(cohen_kappa(10 * numbers[4:1, ], "linear"), 3 / 7)
  two <- data.frame(a = c("y", "n", "y", "y"), b = c("y", "n", "n", "y"))
  expect_equal(cohen_kappa(two, "quadratic"), cohen_kappa(two))
  # Among others such a measure is NA, with the reason.
  among <- quiet(agreement(d, c("cohen_kappa", "krippendorff_alpha_ordinal")))
  expect_identical(is.na(among$estimate), c(FALSE, TRUE))
  expect_match(among$reason[[2]], "order of the categories")
})

test_that("ordered categories show ordinal and weighted measures first", {
  codes <- data.frame(lapply(list(a = c(1, 2, 3, 3, 2), b = c(1, 3, 3, 2, 2), c = c(1, 2, 3, 3, 3)),
    factor, ordered = TRUE))
  x <- ratings(codes, raters = a:c)
  expect_identical(agreement(x)$measure[1:3],
    c("krippendorff_alpha_ordinal", "fleiss_kappa_quadratic", "conger_kappa_quadratic"))
  expect_identical(agreement(x[, 1:2])$measure[1:2], c("krippendorff_alpha_ordinal", "cohen_kappa_quadratic"))
  table <- agreement(x, c("fleiss_kappa", "conger_kappa"), "quadratic")
  expect_equal(agreement(x)$estimate[2:3], table$estimate)
  expect_equal(agreement(x)$std.error[2:3], table$std.error)
  expect_false("krippendorff_alpha_ordinal" %in% agreement(x, by_category = TRUE)$measure)
  expect_message(fleiss_kappa(x), "Level of measurement of Fleiss' kappa: nominal")
  expect_message(fleiss_kappa(x, "linear"), "linear weights")
  expect_message(krippendorff_alpha(x, "ordinal"), "ordinal")
})

test_that("interval alpha of many numbers is that of all pairs of ratings", {
  set.seed(1)
  x <- matrix(round(rnorm(90, 50, 20)), 30)
  x[sample(90, 25)] <- NA
  expect_equal(compute_alpha_of_numbers(x), quiet(krippendorff_alpha(x, "interval")))
  x <- matrix(rnorm(2400, rep(rnorm(800, sd = 2), 3)), 800)
  x[sample(2400, 300)] <- NA
  x <- x[rowSums(!is.na(x)) > 1, ]
  pairs <- lapply(seq_len(nrow(x)), function(i) {
    v <- x[i, !is.na(x[i, ])]
    c(outer(v, v, `-`)^2) / (length(v) - 1)
  })
  v <- x[!is.na(x)]
  expected <- sum(outer(v, v, `-`)^2) / (length(v) * (length(v) - 1))
  expect_equal(krippendorff_alpha(x, "interval"), 1 - sum(unlist(pairs)) / length(v) / expected)
  expect_equal(krippendorff_alpha(as.data.frame(x), "interval"), krippendorff_alpha(x, "interval"))
})

test_that("both sides of a matrix of weights have the names of the categories", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case, ordered = TRUE)
  for (names in list(list(NULL, LETTERS[4:1]), list(LETTERS[1:4], LETTERS[4:1]))) {
    W <- matrix(scale_matrix("linear", LETTERS[1:4]), 4L, dimnames = names)
    expect_error(fleiss_kappa(x, W), "names of its columns are", class = "fallible_error_argument")
  }
  W <- matrix(scale_matrix("linear", LETTERS[1:4]), 4L, dimnames = list(NULL, LETTERS[1:4]))
  expect_equal(fleiss_kappa(x, W), fleiss_kappa(x, "linear"))
})

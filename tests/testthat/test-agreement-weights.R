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
  # Labels that are no numbers stand at their positions.
  expect_equal(scale_matrix("linear", c("low", "mid", "high"))[1, ], c(1, 0.5, 0))
})

test_that("weights may be a matrix, in the order of the categories", {
  x <- lehner_ratings()
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
  # Labels that are no numbers stand in their order.
  letters <- lapply(labels, function(x) chartr("129", "abc", sub("10", "d", x)))
  expect_equal(krippendorff_alpha(data.frame(letters), "ordinal"), krippendorff_alpha(values, "ordinal"))
})

test_that("both sides of a matrix of weights have the names of the categories", {
  x <- lehner_ratings()
  for (names in list(list(NULL, LETTERS[4:1]), list(LETTERS[1:4], LETTERS[4:1]))) {
    W <- matrix(scale_matrix("linear", LETTERS[1:4]), 4L, dimnames = names)
    expect_error(fleiss_kappa(x, W), "Its columns are", class = "fallible_error_argument")
  }
  W <- matrix(scale_matrix("linear", LETTERS[1:4]), 4L, dimnames = list(NULL, LETTERS[1:4]))
  expect_equal(fleiss_kappa(x, W), fleiss_kappa(x, "linear"))
})

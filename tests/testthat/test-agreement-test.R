test_that("errors under independence are those published", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  test <- compare_agreement(x, measures = "fleiss_kappa")
  expect_lt(abs(test$statistic - 17.6518), 5e-5) # irr
  expect_identical(test$method, "null")
  # Fleiss, Nee and Landis (1979), as printed.
  p <- colSums(category_counts(x)) / 180
  pq <- p * (1 - p)
  error <- sqrt(2) / (sum(pq) * sqrt(30 * 6 * 5)) * sqrt(sum(pq)^2 - sum(pq * (1 - 2 * p)))
  expect_equal(test$std.error, error)
  # Fleiss, Cohen and Everitt (1969), by way of SAS: .1484.
  sas <- as.table(rbind(c(0, 4, 1), c(0, 8, 0), c(0, 1, 5)))
  expect_lt(abs(compare_agreement(sas, measures = "cohen_kappa")$std.error - .1484), 5e-5)
  W <- scale_matrix("linear", as.character(1:3))
  p <- sas / sum(sas)
  r <- rowSums(p)
  c <- colSums(p)
  far <- outer(as.vector(W %*% c), as.vector(r %*% W), `+`)
  pe <- sum(W * outer(r, c))
  error <- sqrt((sum(outer(r, c) * (W - far)^2) - pe^2) / (sum(sas) * (1 - pe)^2))
  expect_equal(compare_agreement(ratings(sas, ordered = TRUE), measures = "cohen_kappa", scale_weights = "linear")$std.error, error)
})

test_that("Krippendorff's alpha has the null error of kappa", {
  # With complete ratings, alpha is 1 - (1 - kappa) (N - 1) / N for N ratings.
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  test <- compare_agreement(x, measures = c("fleiss_kappa", "krippendorff_alpha"))
  expect_identical(test$method, c("null", "null"))
  expect_equal(test$std.error[[2L]], test$std.error[[1L]] * 179 / 180)
  # Two raters never use the rare category on the same case, as is likely in 60 cases.
  rare <- as.table(rbind(c(48, 6), c(6, 0)))
  test <- compare_agreement(rare, measures = "krippendorff_alpha")
  expect_equal(test$std.error, 119 / 120 / sqrt(60))
  expect_gt(test$p.value, 0.05)
})

test_that("null errors are those of simulated independent ratings", {
  skip_unless_nightly()
  set.seed(1)
  values <- replicate(400, {
    x <- ratings(matrix(sample.int(3, 150, TRUE, c(0.6, 0.3, 0.1)), 50), categories = 1:3)
    c(fleiss_kappa(x, "linear"), compare_agreement(x, measures = "fleiss_kappa", scale_weights = "linear")$std.error)
  })
  # 400 runs know a standard deviation to 3.5%.
  expect_equal(mean(values[2, ]), stats::sd(values[1, ]), tolerance = 0.12)
})

test_that("tests have the sides that were asked for", {
  x <- lehner_ratings()
  two <- compare_agreement(x, measures = "gwet_ac")
  one <- compare_agreement(x, measures = "gwet_ac", alternative = "greater")
  less <- compare_agreement(x, measures = "gwet_ac", alternative = "less")
  expect_equal(two$p.value, 2 * one$p.value)
  expect_equal(one$p.value + less$p.value, 1)
  at <- compare_agreement(x, measures = "fleiss_kappa", null = 0.5, interval = "jackknife")
  table <- agreement(x, "fleiss_kappa", interval = "jackknife")
  expect_equal(at$statistic, (table$estimate - 0.5) / table$std.error)
  expect_identical(at$method, "jackknife")
  expect_false("percent_agreement" %in% compare_agreement(x)$measure)
  none <- compare_agreement(ratings(matrix(1, 4, 2), categories = 1:2))
  expect_true(anyNA(none$p.value))
})

once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
anaesthetists <- ratings(once, case = case, rater = rater, rating = rating)

test_that("dependent kappas are compared by the influence of each case", {
  x <- anaesthetists[, c("A1", "A2")]
  y <- anaesthetists[, c("A1", "A4")]
  own <- compare_agreement(x, y, "cohen_kappa")
  wide <- stats::reshape(once, idvar = "case", timevar = "rater", direction = "wide")[-1]
  codes <- as.matrix(wide)
  slope <- function(columns) {
    twin_influence(codes[, columns], rep(1, 45), k = 4)[, "cohen_kappa"]
  }
  difference <- slope(c(1, 2)) - slope(c(1, 4))
  expect_equal(own$std.error, sqrt(45 / 44 * sum(difference^2)), tolerance = 1e-5)
  expect_equal(own$estimate, cohen_kappa(x) - cohen_kappa(y))
  expect_equal(
    c(own$conf.low, own$conf.high),
    own$estimate + c(-1, 1) * stats::qt(0.95, 44) * own$std.error
  )
  expect_identical(own$n, 45L)
  # The jackknife of the difference itself.
  jack <- compare_agreement(x, y, "cohen_kappa", interval = "jackknife")
  without <- vapply(1:45, function(i) {
    twin_cohen(codes[-i, c(1, 2)], rep(1, 44), 4, diag(4)) -
      twin_cohen(codes[-i, c(1, 4)], rep(1, 44), 4, diag(4))
  }, 0)
  expect_equal(jack$std.error, sqrt(44 / 45 * sum((without - mean(without))^2)))
  # Both ways round, and against itself.
  back <- compare_agreement(y, x, "cohen_kappa")
  expect_equal(c(back$estimate, back$conf.low), -c(own$estimate, own$conf.high))
  same <- compare_agreement(x, x, "cohen_kappa")
  expect_equal(same$estimate, 0)
  expect_match(same$reason, "no case changes the estimate")
})

test_that("cases that only one has are independent of the others", {
  x <- anaesthetists[1:25, c("A1", "A2")]
  y <- anaesthetists[26:45, c("A1", "A4")]
  own <- compare_agreement(x, y, "fleiss_kappa")
  errors <- c(agreement(x, "fleiss_kappa")$std.error, agreement(y, "fleiss_kappa")$std.error)
  expect_equal(own$std.error, sqrt(sum(errors^2)))
  expect_identical(own$n, 0L)
  part <- compare_agreement(anaesthetists[1:30, ], anaesthetists[20:45, ], "fleiss_kappa")
  expect_identical(part$n, 11L)
})

test_that("without cases there is nothing to compare", {
  crossed <- agreement_matrix(anaesthetists, "A1", "A2")
  expect_snapshot(error = TRUE, {
    compare_agreement(crossed, anaesthetists)
    compare_agreement(anaesthetists, "b")
    compare_agreement(anaesthetists, null = 2)
  })
})

test_that("null errors hold where numbers of ratings differ", {
  skip_unless_nightly()
  set.seed(11)
  draw <- function(r) {
    counts <- t(vapply(r, function(m) stats::rmultinom(1, m, c(0.9, 0.1))[, 1], c(0, 0)))
    ratings(data.frame(a = counts[, 1], b = counts[, 2]), counts = a:b)
  }
  for (pooling in c("pairs", "cases")) {
    for (r in list(rep(c(2, 12), each = 40), rep(c(1, 3), c(200, 40)))) {
      p <- replicate(200, compare_agreement(draw(r), measures = "fleiss_kappa", pooling = pooling)$p.value)
      expect_lt(abs(mean(p < 0.05) - 0.05), 4 * sqrt(0.05 * 0.95 / 200))
    }
  }
  p <- replicate(200, {
    compare_agreement(draw(rep(2:3, each = 30)), measures = "krippendorff_alpha")$p.value
  })
  expect_lt(abs(mean(p < 0.05) - 0.05), 4 * sqrt(0.05 * 0.95 / 200))
  first <- sample(c("x", "y"), 500, TRUE)
  second <- replace(sample(c("x", "y"), 500, TRUE), 21:500, NA)
  error <- function(...) compare_agreement(data.frame(...), measures = "conger_kappa")$std.error
  expect_equal(error(a = first, b = second), error(a = second, b = first))
  expect_gt(error(a = first, b = second), 0.2)
})

test_that("panels with other categories are not compared", {
  x <- data.frame(a = c("u", "v", "w"), b = c("u", "v", "v"))
  y <- data.frame(a = c("u", "v", "v"), b = c("u", "v", "v"))
  expect_error(compare_agreement(x, y), "same categories", class = "fallible_error_argument")
})

test_that("whichever of two has no interval, their difference says why", {
  one <- anaesthetists[1, c("A1", "A2")]
  more <- anaesthetists[2:9, c("A1", "A2")]
  expect_match(compare_agreement(one, more, "percent_agreement")$reason, "only one case")
  expect_match(compare_agreement(more, one, "percent_agreement")$reason, "only one case")
})

test_that("by compares two groups of cases, as two panels would", {
  x <- ratings(
    transform(lehner2015, half = rep(1:2, length.out = nrow(lehner2015))),
    raters = rater1:rater4, case = case, covariates = half
  )
  test <- compare_agreement(x, measures = "fleiss_kappa", by = half)
  first <- as.data.frame(x, "covariates")$half == 1
  panels <- compare_agreement(x[first, ], x[!first, ], "fleiss_kappa")
  same <- setdiff(names(tidy(test)), "n")
  expect_equal(tidy(test)[same], tidy(panels)[same])
  expect_output(print(test), "Agreement in half 1 (n = 5) minus agreement in half 2 (n = 5)",
    fixed = TRUE)
  three <- setNames(rep(1:3, length.out = nrow(x)), x$cases)
  expect_identical(test$n, n_cases(x))
  expect_equal(compare_agreement(x, by = NULL), compare_agreement(x))
  expect_error(compare_agreement(x, by = three), class = "fallible_error_argument")
  expect_error(compare_agreement(x, x, by = half), class = "fallible_error_argument")
})

test_that("panels with a repeated case cannot be compared", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  expect_error(
    compare_agreement(x[c(1, 1:10), 1:2], x[c(1, 1:10), 3:4]),
    "several times", class = "fallible_error_argument"
  )
})

test_that("a test uses the interval that the user gives", {
  x <- lehner_ratings()
  given <- tidy(compare_agreement(x, measures = "fleiss_kappa", interval = "jackknife"))
  expect_identical(given$method, "jackknife")
  expect_equal(given$std.error,
    tidy(agreement(x, measures = "fleiss_kappa", interval = "jackknife"))$std.error)
})

test_that("the name of a rater is no panel, and the error shows how to leave the rater out", {
  x <- lehner_ratings()
  expect_error(compare_agreement(x, "rater1"), "ratings without rater A, give",
    class = "fallible_error_argument")
  expect_s3_class(compare_agreement(x, y = x[, x$raters != "rater1"]), "agreement_test")
})

test_that("the name of a measure in place of ratings gives a hint to name the argument", {
  expect_error(compare_agreement(lehner_ratings(), "fleiss_kappa", by = rep(1:2, 30)),
    "measures = \"fleiss_kappa\"", class = "fallible_error_argument")
})

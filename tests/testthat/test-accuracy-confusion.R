confused <- function(n = 150, ...) {
  set.seed(1)
  simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.85, b = 0.5), 3, n, ...))
}

matrix_of <- function(x, method, model = k_model()) {
  as.matrix(confusion(quiet(estimate_accuracy(x, method, model, interval = "none")), "none"))
}

test_that("cells count cases by their posterior probabilities", {
  x <- confused()
  answers <- as.data.frame(x, what = "systems")
  for (method in c("joint", "shared", "average")) {
    estimate <- quiet(estimate_accuracy(x, method, interval = "none"))
    found <- confusion(estimate, "none")
    for (s in 1:2) {
      posterior <- estimate$posterior[[s]][x$index, ]
      own <- answers[answers$system == x$systems[[s]], ]
      expected <- t(sapply(1:3, function(k) {
        tapply(posterior[own$case, k], factor(own$prediction, x$categories), sum)
      }))
      expect_equal(
        as.matrix(found)[[s]], expected / rowSums(expected), ignore_attr = TRUE,
        tolerance = 1e-10
      )
      told <- tidy(found, "categories")
      told <- told[told$system == x$systems[[s]], ]
      expect_equal(
        told$estimate, c(diag(expected) / rowSums(expected), diag(expected) / colSums(expected)),
        tolerance = 1e-10, ignore_attr = TRUE
      )
      expect_equal(told$n, c(rowSums(expected), colSums(expected)), tolerance = 1e-10,
        ignore_attr = TRUE)
    }
  }
})

test_that("free errors give the confusion matrix of the system as one more rater", {
  x <- confused(400)
  model <- rater_model("rater", "free", prior = "none")
  wide <- as.data.frame(x)
  system <- as.data.frame(x, what = "systems")
  system <- system[system$system == "a", ]
  four <- ratings(
    rbind(
      wide[c("case", "rater", "rating")],
      data.frame(case = system$case, rater = "a", rating = system$prediction)
    ),
    case = case, rater = rater, rating = rating, categories = x$categories
  )
  expect_equal(
    matrix_of(x, "joint", model)$a, confusion(fit_raters(four, model))$a, ignore_attr = TRUE,
    tolerance = 1e-3
  )
})

test_that("intervals come from refits to resampled cases", {
  x <- confused()
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 40)))
  found <- tidy(confusion(estimate, "bootstrap"))
  # The slow way: draw cases, fit anew, count.
  recall <- replicate(40, {
    diag(matrix_of(x[sample(150, replace = TRUE), ], "joint")$a)
  })
  own <- found[found$system == "a" & found$truth == found$prediction, ]
  expect_lt(max(abs(own$std.error / apply(recall, 1, stats::sd) - 1)), 0.6)
  expect_true(all(own$conf.low < own$estimate & own$estimate < own$conf.high))
  clusters <- estimate
  clusters$options$cluster <- seq_along(x$cases)
  expect_identical(tidy(confusion(clusters, "bootstrap")), found)
  averaged <- quiet(estimate_accuracy(x, "average", interval = "none", resampling = list(replicates = 40)))
  found <- tidy(confusion(averaged, "bootstrap"))
  expect_true(all(found$conf.low < found$estimate & found$estimate < found$conf.high))
})

test_that("what is not defined is NA with a reason", {
  wide <- data.frame(
    a = rep(c("x", "y"), 10), b = rep(c("x", "y"), 10), c = rep(c("x", "y", "y", "y"), 5),
    s = rep(c("x", "y", "x", "y"), 5)
  )
  x <- ratings(wide, raters = a:c, systems = s, categories = c("x", "y", "z"))
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 20)))
  found <- tidy(confusion(estimate), "categories")
  precision <- found[found$category == "z" & found$measure == "precision", ]
  expect_identical(precision$estimate, NA_real_)
  expect_match(precision$reason, "never gives this answer")
  one <- estimate
  one$options$cluster <- rep(1L, 20)
  expect_match(tidy(confusion(one, "bootstrap"))$reason[[1]], "one cluster")
  chance <- data.frame(a = c("x", "y"), b = c("y", "x"), s = "x")
  lost <- confusion(
    quiet(estimate_accuracy(ratings(chance, raters = a:b, systems = s), interval = "none"))
  )
  expect_true(all(is.na(tidy(lost)$estimate)))
  expect_match(tidy(lost)$reason, "by chance")
  expect_output(print(lost), "NA for recall of x in s")
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_error(ggplot2::autoplot(lost), class = "fallible_error_argument")
  }
  expect_snapshot(error = TRUE, {
    confusion(quiet(estimate_accuracy(x, "binned", interval = "none")))
    confusion(estimate, conf_level = 2)
    confusion(estimate, "profile")
  })
})

test_that("confusion matrices of systems print and are drawn", {
  set.seed(2)
  estimate <- quiet(estimate_accuracy(confused(), "joint", interval = "none", resampling = list(replicates = 30)))
  found <- confusion(estimate, "bootstrap")
  expect_snapshot(found)
  expect_identical(glance(found)$systems, 2L)
  skip_if_not_installed("ggplot2")
  drawn <- ggplot2::layer_data(ggplot2::autoplot(found), 1L)
  expect_identical(nrow(drawn), 18L)
})

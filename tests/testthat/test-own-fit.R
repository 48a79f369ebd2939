panel <- function(n = 300, ...) {
  set.seed(1)
  simulate_ratings(
    rater_design(
      c(0.6, 0.7, 0.8), c(a = 0.7, b = 0.9), categories = 3, n = n, missing = c(0, 0.2, 0.2), ...
    )
  )
}

estimate_own <- function(fit) suppressWarnings(estimate_accuracy(fit, "binned", interval = "none"))

posterior_of <- function(fit) {
  table <- ground_truth(fit)
  posterior <- as.matrix(table[fit$x$categories])
  rownames(posterior) <- table$case
  posterior
}

test_that("a fit of a fit's posterior says the same", {
  x <- panel()
  fit <- fit_raters(x, rater_model("rater"))
  own <- as_rater_fit(x, posterior_of(fit), rates_of(fit))
  expect_s3_class(own, "rater_fit")
  expect_equal(as.data.frame(ground_truth(own)), as.data.frame(ground_truth(fit)))
  expect_match(
    capture.output(print(ground_truth(own))), "as the fitted model specifies", all = FALSE
  )
  expect_equal(rates_of(own), rates_of(fit))
  expect_equal(calibration(ground_truth(own)), calibration(ground_truth(fit)))
  expect_equal(predict(own), predict(fit))
  expect_equal(augment(own), augment(fit))
  expect_equal(glance(own)$kappa, glance(fit_raters(x))$kappa)
  expect_equal(
    tidy(estimate_accuracy(own, interval = "none"))$estimate,
    tidy(estimate_accuracy(fit, "shared", interval = "none"))$estimate, tolerance = 1e-8
  )
  # A table by case, in any order, is the same, and so is a matrix with cases as row names.
  expect_equal(as_rater_fit(x, ground_truth(fit)[300:1, ], rates_of(fit)), own)
  expect_equal(as_rater_fit(x, posterior_of(fit)[300:1, ], rates_of(fit)), own)
  expect_equal(as_rater_fit(x, unname(posterior_of(fit)), rates_of(fit)), own)
  expect_error(
    as_rater_fit(x[300:1, ], unname(posterior_of(fit))), class = "fallible_error_argument"
  )
  # What EM has converged to repeats itself.
  expect_equal(own$rater_accuracy, mean(vapply(confusion(fit), function(m) {
    sum(diag(m) * rates_of(fit))
  }, 0)), tolerance = 0.02)
})

test_that("binned and unbinned estimates are those of the K-model's posterior", {
  expect_over(rounds(60), limit = 1e-8, function(seed) {
    x <- panel_ratings(random_panel(seed))
    fit <- suppressWarnings(fit_raters(x))
    if (fit$identified != "yes" || length(x$systems) == 0L) {
      return(0)
    }
    own <- as_rater_fit(x, posterior_of(fit), rates_of(fit))
    ways <- expand.grid(method = c("binned", "unbinned"), clip = c("bin", "none", "overall"))
    off <- apply(ways, 1L, function(way) {
      estimates <- lapply(list(own, fit), function(fit) {
        suppressWarnings(
          estimate_accuracy(fit, way[["method"]], interval = "none", bins = list(clip = way[["clip"]]))
        )
      })
      largest_gap(tidy(estimates[[1L]])$estimate, tidy(estimates[[2L]])$estimate)
    })
    c(off, unless(isTRUE(all.equal(tidy(estimate_own(own), "bins"), tidy(estimate_own(fit), "bins")))))
  })
})

test_that("cases with the same ratings may differ", {
  x <- ratings(
    data.frame(a = c("n", "n", "y"), b = c("n", "n", "y"), s = c("n", "n", "n")),
    raters = a:b, systems = s
  )
  posterior <- rbind(c(0.9, 0.1), c(0.4, 0.6), c(0, 1))
  own <- as_rater_fit(x, posterior)
  expect_equal(unname(as.matrix(ground_truth(own)[-1])), posterior)
  expect_equal(tidy(estimate_accuracy(own, interval = "none"))$estimate, mean(c(0.9, 0.4, 0)))
  expect_equal(unname(rates_of(own)), colMeans(posterior))
  expect_equal(own$rater_accuracy, mean(c(0.9, 0.4, 1)))
  expect_equal(
    unname(confusion(own)$a), rbind(c(1, 0), c(0.7, 1) / 1.7), ignore_attr = TRUE
  )
  counted <- ratings(
    data.frame(a = c("n", "n"), b = c("n", "n"), s = "n", w = c(3, 1)),
    raters = a:b, systems = s, weights = w, categories = c("n", "y")
  )
  weighted <- as_rater_fit(counted, posterior[1:2, ])
  expect_equal(tidy(estimate_accuracy(weighted, interval = "none"))$estimate, (3 * 0.9 + 0.4) / 4)
})

test_that("intervals are of cases or clusters drawn anew", {
  x <- panel()
  fit <- fit_raters(x)
  own <- as_rater_fit(x, posterior_of(fit))
  set.seed(2)
  estimate <- estimate_accuracy(own, resampling = list(replicates = 400))
  q <- posterior_of(fit)
  answer <- pattern_answers(x)[pattern_of_case(x), 1]
  rated <- is_rated_pattern(x)[pattern_of_case(x)]
  said <- q[cbind(seq_len(300), answer)][rated]
  expect_equal(tidy(estimate)$estimate[[1]], mean(said))
  expect_equal(tidy(estimate)$std.error[[1]], sd(said) / sqrt(sum(rated)), tolerance = 0.1)
  cluster <- rep(1:30, each = 10)
  twice <- x[cluster, ] # a cluster is ten times the same case
  twice$cases <- 1:300
  repeated <- q[cluster, ]
  expect_error(as_rater_fit(twice, unname(repeated)), class = "fallible_error_argument")
  rownames(repeated) <- twice$cases
  copies <- as_rater_fit(twice, repeated)
  set.seed(3)
  apart <- tidy(estimate_accuracy(copies, resampling = list(replicates = 300)))$std.error
  set.seed(3)
  names(cluster) <- twice$cases
  joined <- tidy(estimate_accuracy(copies, resampling = list(replicates = 300, cluster = cluster)))$std.error
  expect_equal(joined / apart, rep(sqrt(10), 2), tolerance = 0.2)
})

test_that("systems are compared, and their confusion is told", {
  x <- panel()
  own <- as_rater_fit(x, posterior_of(fit_raters(x)))
  set.seed(4)
  estimate <- estimate_accuracy(own, resampling = list(replicates = 200))
  difference <- tidy(compare_systems(estimate))
  expect_equal(difference$estimate, -diff(tidy(estimate)$estimate))
  expect_lt(difference$conf.high, 0)
  x <- x[, , 2:1]
  some <- estimate_accuracy(own, systems = "b", interval = "none")
  expect_equal(tidy(some)$estimate, tidy(estimate)$estimate[[2]])
  told <- confusion(estimate)
  expect_false(anyNA(tidy(told)$std.error))
  expect_equal(
    sum(tidy(told)$n[tidy(told)$system == "a" & tidy(told)$truth == tidy(told)$prediction]),
    tidy(told)$n[[1]] + tidy(told)$n[[5]] + tidy(told)$n[[9]]
  )
  expect_error(confusion(estimate_own(own)), class = "fallible_error_argument")
})

test_that("verbs of results work", {
  x <- panel()
  own <- as_rater_fit(x, posterior_of(fit_raters(x)), model = "my {model}")
  expect_output(print(own), "my {model}", fixed = TRUE)
  expect_output(print(summary(own)), "Confusion matrix of rater1")
  expect_output(print(own$model), "defined only by posterior probabilities")
  expect_match(format(own), "my {model}", fixed = TRUE)
  expect_identical(nrow(tidy(own)), 4L)
  expect_true(is.na(glance(own)$AIC))
  expect_true(all(is.na(vcov(own))))
  expect_output(print(estimate_accuracy(own, interval = "none")), "my {model}", fixed = TRUE)
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(own), "ggplot")
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  shares <- category_counts(counted) / rowSums(category_counts(counted))
  expect_length(confusion(as_rater_fit(counted, shares)), ncol(counted))
})

test_that("what a posterior cannot tell is refused", {
  x <- panel(20)
  q <- posterior_of(fit_raters(x, rater_model("rater")))
  rownames(q) <- NULL
  own <- as_rater_fit(x, q)
  refused <- function(code, topic = "argument") {
    expect_error(code, class = paste0("fallible_error_", topic))
  }
  refused(predict(own, x))
  refused(simulate(own))
  refused(update(own))
  refused(estimate_accuracy(own, by = rep(1:2, 10)))
  refused(estimate_accuracy(own, "average"))
  refused(estimate_accuracy(own, interval = "robust"))
  expect_error(estimate_accuracy(own, known_truth = truth(x)[1:9, ]), "only posterior probabilities")
  for (bad in list(q[-1, ], q[, -1], q > 0.5, "q", replace(q, 1, NA), 2 * q, -q, q[, c(1, 1, 2)])) {
    refused(as_rater_fit(x, bad))
  }
  refused(as_rater_fit(x, q, c(0.5, 0.5)))
  refused(as_rater_fit(x, q, model = 1))
  table <- data.frame(case = 1:20, q, check.names = FALSE)
  refused(as_rater_fit(x, table[-1]), "columns")
  refused(as_rater_fit(x, table[-1, ]), "case")
  refused(as_rater_fit(x, table[c(1, 1:20), ]), "case")
  expect_snapshot(error = TRUE, {
    as_rater_fit(x, q[-1, ])
    as_rater_fit(x, replace(q, c(3, 5), c(0.99, 0.99)))
    as_rater_fit(x, replace(q, 3, NA))
    as_rater_fit(x, table[-1, ])
    estimate_accuracy(own, "joint")
    estimate_accuracy(own, interval = "robust")
    predict(own, x)
  })
})

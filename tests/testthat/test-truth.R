#' @srrstats {G5.4a} the worked example of the paper
test_that("Table 3 is reproduced to its three decimals", {
  printed <- rbind(
    c(0.041, 0.032, 0.860, 0.067), c(0.084, 0.195, 0.584, 0.136), c(0.041, 0.032, 0.860, 0.067),
    c(0.074, 0.511, 0.057, 0.358), c(0.120, 0.828, 0.031, 0.021), c(0.325, 0.250, 0.250, 0.175),
    c(0.975, 0.009, 0.009, 0.006), c(0.325, 0.250, 0.250, 0.175), c(0.657, 0.169, 0.056, 0.118),
    c(0.657, 0.169, 0.056, 0.118)
  )
  truth <- ground_truth(fit_raters(lehner_ratings()))
  expect_named(truth, c("case", LETTERS[1:4]))
  expect_equal(round(unname(as.matrix(truth[-1])), 3), printed, tolerance = 1e-9)
})

test_that("rows sum to one, and many ratings do not underflow", {
  many <- ratings(data.frame(a = c(500, 100, 20), b = c(400, 300, 700)), counts = a:b)
  truth <- ground_truth(fit_raters(many))
  expect_equal(truth$a + truth$b, rep(1, 3))
  expect_equal(truth$a[2], 0, tolerance = 1e-6)
})

test_that("what is no fit and no ratings is refused", {
  expect_error(ground_truth("lehner2015"), class = "fallible_error_argument")
})

test_that("a category cannot hide the case", {
  x <- ratings(cbind(c("case", "b", "b"), c("case", "b", "b")))
  expect_error(ground_truth(quiet(fit_raters(x))), class = "fallible_error_argument")
})

test_that("print says what it shows", {
  expect_snapshot(ground_truth(fit_raters(lehner_ratings())))
})

test_that("the long form is the wide one", {
  x <- lehner_ratings()
  wide <- ground_truth(x)
  long <- ground_truth(x, format = "long")
  expect_named(long, c("case", "category", "probability"))
  expect_identical(long$probability, as.vector(t(as.matrix(wide[-1]))))
  expect_identical(levels(long$category), x$categories)
  expect_identical(long$case, rep(wide$case, each = 4))
  expect_error(ground_truth(x, "list"), class = "fallible_error_argument")
})

test_that("calibration counts how often probabilities come true", {
  soft <- data.frame(
    case = 1:4, a = c(0.9, 0.7, 0.65, 0), b = c(0.1, 0.3, 0.35, 1)
  )
  table <- calibration(soft, truth = c("1" = "a", "2" = "b", "3" = "a", "4" = "b"), bins = 5)
  expect_named(
    table, c("lower", "upper", "probability", "share", "conf.low", "conf.high", "n")
  )
  expect_equal(table$lower, c(0, 0.2, 0.6, 0.8)) # (0.4, 0.6] is empty
  expect_equal(table$n, c(2, 2, 2, 2))
  expect_equal(table$probability, c(0.05, 0.325, 0.675, 0.95))
  expect_equal(table$share, c(0, 0.5, 0.5, 1))
  # Wilson's interval solves (p - share)^2 = z^2 p (1 - p) / n.
  z <- stats::qnorm(0.95)
  for (limit in c("conf.low", "conf.high")) {
    p <- table[[limit]]
    expect_equal((p - table$share)^2, z^2 * p * (1 - p) / table$n)
  }
  # Limits belong to the bin below; cases of unknown truth do not count.
  edge <- calibration(data.frame(case = 1:2, a = c(0.4, 0.3), b = c(0.6, 0.7)),
    truth = data.frame(case = 1:2, truth = c("a", NA)), bins = 5)
  expect_equal(edge$lower, c(0.2, 0.4))
  expect_equal(edge$n, c(1, 1))
})

test_that("a true model is calibrated", {
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), categories = 4, n = 20000))
  table <- calibration(
    ground_truth(fit_raters(x, rater_model("rater"))), bins = 5, conf_level = 0.9999
  )
  expect_true(all(table$conf.low < table$probability & table$probability < table$conf.high))
  # Under the K-model with raters who differ much it is not.
  y <- simulate_ratings(rater_design(c(0.4, 0.6, 0.95), categories = 4, n = 20000))
  table <- calibration(ground_truth(fit_raters(y)), bins = 5, conf_level = 0.9999)
  expect_false(all(table$conf.low < table$probability & table$probability < table$conf.high))
})

test_that("calibration takes the truth that is given, or that of a simulation", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), n = 300))
  truth <- ground_truth(fit_raters(x))
  expect_identical(calibration(truth, truth(x), bins = 5), calibration(truth, bins = 5))
})

test_that("calibration without truth is refused", {
  truth <- ground_truth(lehner_ratings())
  none <- quiet(ground_truth(ratings(cbind(c("a", "b"), c("b", "a")))))
  expect_snapshot(error = TRUE, {
    calibration(truth)
    calibration(truth, truth = c("1" = "E"))
    calibration(truth, truth = c("77" = "A"))
    calibration(truth, truth = data.frame(case = c(1, 1), truth = c("A", "B")))
    calibration(none, truth = c("1" = "a"))
    calibration(lehner2015)
    calibration(1:3)
  })
})

test_that("labels are printed with their probabilities", {
  truth <- ground_truth(fit_raters(lehner_ratings()))
  expect_output(print(truth), "label")
  expect_match(capture.output(print(truth, n = 2))[4:5], "[12] +C +0")
  expect_identical(shown_table(truth)$label, as.character(predict(truth)$category))
})

test_that("rows of labels have facts of their own, and long names of categories are data", {
  x <- lehner_ratings()
  truth <- ground_truth(x)
  some <- truth[c(2, 7), ]
  expect_identical(glance(some), glance(some, sure = 0.7))
  expect_equal(glance(truth), glance(truth, sure = 0.7))
  expect_identical(tidy(some, "categories")$n, c(1L, 0L, 1L, 0L))
  odd <- quiet(ground_truth(ratings(cbind(c("n", "p.value", "n"), c("n", "p.value", "conf.low")),
    categories = c("n", "p.value", "conf.low", letters[1:10]))))
  expect_match(capture.output(print(odd)), "n +p.value +conf.low +a", all = FALSE)
  expect_output(print(odd), "Not shown: 3 more categories", fixed = TRUE)
  expect_output(print(truth, n = 1), "... and 9 more; see tidy()", fixed = TRUE)
  expect_error(print(truth, n = "a"), class = "fallible_error_argument")
})

test_that("a calibration is a result: bins outside their intervals are counted, and drawn", {
  soft <- data.frame(case = 1:40, a = rep(c(0.9, 0.4), 20), b = rep(c(0.1, 0.6), 20))
  table <- calibration(soft, stats::setNames(rep("a", 40), 1:40), bins = 2)
  facts <- glance(table)
  expect_identical(facts$cases, 40L)
  expect_equal(facts$error, 0.25)
  expect_identical(facts$outside, 2L)
  expect_identical(glance(table[1, ])$bins, 1L)
  skip_if_not_installed("ggplot2")
  points <- ggplot2::layer_data(autoplot(table), 3L)
  expect_equal(points$x, table$probability)
  expect_equal(points$y, table$share)
})

# Cases with weights that count cases, and the same cases written out.
weighted_cases <- function() {
  data <- data.frame(case = 1:5, r1 = c("a", "a", "b", "b", "a"), r2 = c("a", "a", "b", "b", "b"),
    r3 = c("a", "a", "b", "a", NA), w = c(1, 1, 96, 2, 7), t = c("a", "a", "b", "b", "a"))
  read <- function(data, ...) ratings(data, raters = r1:r3, case = case, truth = t, ...)
  copies <- data[rep(1:5, data$w), ]
  list(data = data, weighted = read(data, weights = w),
    copies = read(transform(copies, case = seq_along(case))),
    fractions = read(transform(data, w = w / 3), weights = w))
}

test_that("tables and calibration of labels with weights are those of the cases written out", {
  x <- weighted_cases()
  for (settings in list(list(), list(votes = 1), list(known_truth = c("1" = "a")))) {
    weighted <- quiet(rlang::inject(ground_truth(x$weighted, !!!settings)))
    copies <- quiet(rlang::inject(ground_truth(x$copies, !!!settings)))
    expect_equal(tidy(weighted, "categories"), tidy(copies, "categories"))
    expect_equal(glance(weighted), glance(copies))
    expect_equal(glance(weighted, sure = 0.85), glance(copies, sure = 0.85))
    expect_equal(glance(weighted[3:5, ]), glance(copies[3:107, ]))
    expect_equal(tidy(calibration(weighted)), tidy(calibration(copies)))
    expect_equal(glance(calibration(weighted)), glance(calibration(copies)))
    expect_equal(format(weighted), format(copies))
  }
  fits <- lapply(x[c("weighted", "copies")], function(x) quiet(fit_raters(x)))
  expect_equal(glance(predict(fits[[1L]], type = "probability")),
    glance(predict(fits[[2L]], type = "probability")))
})

test_that("weights that are not counts weigh means and shares; numbers are numbers of cases", {
  x <- weighted_cases()
  counts <- ground_truth(x$weighted, votes = 1)
  fractions <- ground_truth(x$fractions, votes = 1)
  means <- c("probability", "entropy")
  expect_equal(glance(fractions)[means], glance(counts)[means])
  expect_identical(glance(fractions)$cases, 5L)
  expect_identical(tidy(fractions, "categories")$n, c(3L, 2L))
  found <- calibration(fractions, bins = 2)
  found_counts <- calibration(counts, bins = 2)
  expect_equal(found$probability, found_counts$probability)
  expect_equal(found$share, found_counts$share)
  expect_equal(found$n, c(6, 4))
  # The effective number of cases is smaller, so the interval is wider.
  expect_lt(found$conf.low[[2L]], found_counts$conf.low[[2L]])
})

test_that("selected labels keep their weights and the cases whose truth was used", {
  x <- weighted_cases()
  labels <- quiet(ground_truth(x$weighted, known_truth = c("1" = "a", "3" = "b")))
  expect_identical(glance(calibration(labels))$cases, 10)
  expect_identical(glance(calibration(labels[c(5, 3, 2), ]))$cases, 8)
  expect_error(calibration(labels[3, ]), class = "fallible_error_argument")
})

test_that("print counts tied labels and says that the first category is taken", {
  cases <- data.frame(case = 1:3, a = c("n", "y", "y"), b = c("y", "n", "y"))
  x <- ratings(cases, raters = a:b, case = case)
  expect_output(
    print(ground_truth(x, votes = 1)), "most probable in 2 cases; the label is the first"
  )
  expect_no_match(capture.output(print(ground_truth(x[3, ], votes = 1))), "Ties")
})

test_that("print says what the labels of cases without ratings are", {
  data <- data.frame(a = rep(c("n", "y"), 20), b = rep(c("n", "y", "y", "y"), 10), s = "n")
  data[1:2, c("a", "b")] <- NA
  unrated <- quiet(ratings(data, raters = a:b, systems = s))
  labels <- ground_truth(unrated, votes = 1)
  expect_identical(as.vector(as.matrix(labels[1, -1])), c(0.5, 0.5))
  expect_output(print(labels), "2 cases without ratings: all categories have the same probability")
  expect_output(print(quiet(ground_truth(unrated))), "the labels are guesses from base rates")
})

test_that("calibration() of ratings or scores names the functions that compute its input", {
  x <- ratings(lehner2015, raters = rater1:rater4, case = case)
  for (call in expression(calibration(x), calibration(x, scores = "s"))) {
    error <- expect_error(eval(call), class = "fallible_error")
    expect_match(conditionMessage(error), "tidy(estimate_accuracy(x), \"reliability\")", fixed = TRUE)
  }
  expect_error(calibration(x), "ground_truth")
})

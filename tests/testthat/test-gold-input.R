read <- function(..., x = lehner_ratings()) read_gold(..., x = x)

test_that("gold is named by case or a table, drawn at random or by hand", {
  gold <- read(c("1" = "C", "7" = "A"), NULL)
  expect_identical(gold$case, c(1L, 7L))
  expect_identical(gold$truth, c(3L, 1L))
  expect_identical(gold$sample, "undeclared")
  expect_null(gold$probability)
  table <- data.frame(case = c(7, 1, 2), truth = c("A", "C", NA))
  expect_identical(read(table, "random")[1:2], gold[1:2])
  expect_identical(read(table, "random")$sample, "random")
  expect_identical(read(table, "given")$sample, "given")
})

test_that("probabilities come with the truth, or beside it", {
  table <- data.frame(case = c(7, 1), truth = c("A", "C"), probability = c(0.5, 0.25))
  by_case <- c("1" = 0.25, "7" = 0.5, "8" = 0.1)
  every <- replace(rep(0.1, 10), c(1, 7), c(0.25, 0.5))
  all <- list(
    read(table, NULL), read(table[1:2], by_case), read(table[1:2], every),
    read(stats::setNames(table, c("case", "truth", "chance")), "chance"),
    read(table[1:2], data.frame(case = names(by_case), probability = by_case))
  )
  for (gold in all) {
    expect_identical(gold$sample, "probability")
    expect_identical(gold$probability, c(0.25, 0.5))
  }
})

test_that("what cannot be gold is an error of a class, with what was found", {
  fails <- function(topic, ...) {
    tryCatch(read(...), error = function(e) {
      expect_s3_class(e, paste0("fallible_error_", topic))
      e
    })
  }
  expect_identical(fails("case", c("1" = "A", "99" = "B"), "random")$row, 2L)
  expect_identical(fails("category", c("1" = "Z"), "random")$found, "Z")
  twice <- data.frame(case = c(1, 1), truth = c("A", "B"))
  expect_identical(fails("case", twice, "random")$row, 2L)
  table <- data.frame(case = c(1, 2), truth = c("A", "B"))
  for (probability in list(c(0, 0.5), c(1.1, 0.5), c(NA, 0.5), c(-1, 0.5), c("a", "b"))) {
    off <- fails("gold", cbind(table, probability = probability), NULL)
    expect_true("1" %in% off$case)
  }
  expect_identical(fails("gold", table, c("1" = 0.5))$case, "2")
  uneven <- data.frame(case = c(1, 1), truth = "A", probability = c(0.1, 0.2))
  expect_identical(fails("gold", uneven, NULL)$case, "1")
  fails("argument", cbind(table, probability = 0.5), "random")
  fails("argument", table, "sometimes")
  fails("argument", table, c(0.5, 0.5))
  fails("argument", table, TRUE)
  fails("argument", TRUE, "random")
  expect_snapshot(error = TRUE, {
    read(cbind(table, probability = c(0, 0.5)), NULL)
    read(table, c(0.5, 0.5))
    read(TRUE, "random")
  })
})

test_that("truth that data carry is used when asked for", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8), n = 10))
  gold <- read(TRUE, "random", x = x)
  expect_identical(gold$case, 1:10)
  expect_identical(gold$truth, as.integer(truth(x)$category))
})

test_that("gold that measures nothing is told of", {
  table <- data.frame(
    a = c("x", "y", "x", NA, NA), b = c("x", "y", NA, NA, NA), s = c("x", "y", "y", "x", "x")
  )
  x <- quiet(ratings(table, raters = a:b, systems = s))
  unrated <- read(c("4" = "x", "5" = "y"), "random", x = x)
  expect_false(is_probability_sample(unrated, x))
  expect_warning(warn_gold(unrated, x), class = "fallible_warning_gold_unrated")
  expect_true(is_probability_sample(read(c("1" = "x", "5" = "y"), "random", x = x), x))
  expect_true(is_probability_sample(read(c("5" = "y"), c("5" = 0.1), x = x), x))
  expect_error(read(c("1" = "x"), c("random", "given"), x = x), class = "fallible_error_argument")
  undeclared <- read(c("1" = "x"), NULL, x = x)
  expect_false(is_probability_sample(undeclared, x))
  expect_warning(warn_gold(undeclared, x), class = "fallible_warning_hand_picked")
  expect_warning(warn_gold(read(c("1" = "x"), "given", x = x), x), NA)
  expect_snapshot({
    warn_gold(unrated, x)
    warn_gold(undeclared, x)
  })
})

test_that("few gold cases are told, and truths that were given as `gold`", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, 60))
  gold <- truth(x)[1:2, ]
  quiet(expect_warning(
    estimate_accuracy(x, known_truth = gold, gold_sample = "random"), "too few",
    class = "fallible_warning_gold_few"
  ))
  expect_no_warning(
    estimate_accuracy(x, known_truth = truth(x)[1:10, ], gold_sample = "random"),
    class = "fallible_warning_gold_few"
  )
  expect_error(
    estimate_accuracy(x, gold = gold), "abbreviation .gold =. as .gold_sample",
    class = "fallible_error_argument"
  )
})

test_that("errors on known truth show how to add a case and which column to rename", {
  data <- expand.grid(prompt.id = paste0("p", 1:20), version = 1:2)
  data$a <- data$b <- rep(c("x", "y"), 20)
  x <- ratings(data, case = c(prompt.id, version), raters = a:b)
  expect_error(fit_raters(x, known_truth = c("p21/1" = "x")), "add a row with the rating .NA.",
    class = "fallible_error_case")
  gold <- data.frame(prompt_id = "p1", version = 1, truth = "x")
  expect_error(fit_raters(x, known_truth = gold), "mean \"prompt.id\".*Rename or add columns",
    class = "fallible_error_columns")
})

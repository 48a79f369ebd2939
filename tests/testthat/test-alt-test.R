# Case by case and rater by rater, as the paper has it.
slow_alt_test <- function(said, answer, score, epsilon, q = 0.05, min_cases = 30) {
  use <- which(!is.na(answer) & rowSums(!is.na(said)) >= 2)
  p <- advantage <- numeric()
  for (j in colnames(said)) {
    system <- rater <- logical()
    for (i in use[!is.na(said[use, j])]) {
      others <- said[i, setdiff(colnames(said), j)]
      others <- others[!is.na(others)]
      system <- c(system, score(answer[i], others) >= score(said[i, j], others))
      rater <- c(rater, score(said[i, j], others) >= score(answer[i], others))
    }
    if (length(system) < min_cases) next
    p[[j]] <- stats::t.test(rater - system, mu = epsilon, alternative = "less")$p.value
    advantage[[j]] <- mean(system)
  }
  m <- length(p)
  limits <- seq_len(m) / m * q / sum(1 / seq_len(m))
  wins <- max(0, which(sort(p) <= limits))
  list(winning_rate = wins / m, advantage = mean(advantage), p = p)
}

mean_same <- function(own, others) mean(own == others)
minus_rmse <- function(own, others) {
  -sqrt(mean((as.numeric(own) - as.numeric(others))^2))
}

panel_of_text <- function(seed, n = 150, raters = 4) {
  withr::local_seed(seed)
  truth <- sample(4, n, TRUE)
  answers <- function(accuracy) ifelse(stats::runif(n) < accuracy, truth, sample(4, n, TRUE))
  said <- vapply(seq(0.5, 0.8, length.out = raters), answers, numeric(n))
  said[sample(length(said), length(said) / 4)] <- NA
  said[, 1][31:n] <- NA # one rater has too few cases
  said[rowSums(!is.na(said)) == 0, raters] <- 1
  colnames(said) <- paste0("r", seq_len(raters))
  cbind(as.data.frame(said), good = answers(0.8), poor = answers(0.3))
}

test_that("winning rates and advantages are those of the definition", {
  for (seed in 1:3) {
    wide <- panel_of_text(seed)
    x <- ratings(wide, raters = r1:r4, systems = good:poor)
    for (score in c("accuracy", "neg_rmse")) {
      found <- alt_test(x, epsilon = 0.1, score = score, min_cases = 25)
      for (system in c("good", "poor")) {
        slow <- slow_alt_test(
          as.matrix(wide[1:4]), wide[[system]],
          if (score == "accuracy") mean_same else minus_rmse, 0.1, min_cases = 25
        )
        row <- tidy(found)[tidy(found)$system == system, ]
        expect_equal(row$winning_rate, slow$winning_rate)
        expect_equal(row$advantage, slow$advantage)
        table <- tidy(found, "raters")
        table <- table[table$system == system & !is.na(table$p.value), ]
        expect_equal(stats::setNames(table$p.value, table$rater), slow$p, tolerance = 1e-8)
      }
    }
  }
})

test_that("ordered categories count as numbers, others have none", {
  wide <- panel_of_text(4)
  x <- ratings(wide, raters = r1:r4, systems = good:poor)
  words <- as.data.frame(lapply(wide, function(v) c("bad", "fair", "good", "best")[v]))
  levels <- c("bad", "fair", "good", "best")
  y <- ratings(words, raters = r1:r4, systems = good:poor, categories = levels, ordered = TRUE)
  expect_equal(tidy(alt_test(y, score = "neg_rmse")), tidy(alt_test(x, score = "neg_rmse")))
  y <- ratings(words, raters = r1:r4, systems = good:poor)
  expect_error(alt_test(y, score = "neg_rmse"), class = "fallible_error_argument")
})

test_that("raters with few cases are left out, and all of them is a reason", {
  x <- ratings(panel_of_text(5, n = 100), raters = r1:r4, systems = good:poor)
  found <- alt_test(x)
  few <- tidy(found, "raters")
  expect_match(few$reason[few$rater == "r1"], "fewer than 30 cases")
  expect_true(all(is.na(few$advantage) == !is.na(few$reason)))
  expect_identical(unique(tidy(found)$raters), 3L)
  none <- alt_test(x, min_cases = 1000)
  expect_true(all(is.na(tidy(none)$winning_rate)))
  expect_match(tidy(none)$reason, "all raters have fewer than 1000", all = TRUE)
  expect_match(format(none), "good unknown")
  expect_output(print(none), "unknown")
  skip_if_not_installed("ggplot2")
  expect_error(autoplot(none), class = "fallible_error_argument")
})

test_that("a system that always agrees wins with certainty", {
  same <- rep(c("a", "b"), 30)
  x <- ratings(data.frame(r1 = same, r2 = same, r3 = same, s = same, t = rev(same)),
    raters = r1:r3, systems = s:t)
  found <- tidy(alt_test(x))
  expect_identical(found$winning_rate, c(1, 0))
  expect_identical(found$advantage, c(1, 0))
  expect_identical(tidy(alt_test(x, systems = "t"))$system, "t")
})

test_that("what the test cannot be made of is refused", {
  expect_error(alt_test(ratings(fleiss1971, case = case, counts = depression:other)),
    class = "fallible_error_system")
  x <- lehner_ratings()
  expect_error(alt_test(x, epsilon = 2), class = "fallible_error_argument")
  expect_error(alt_test(x, score = "kappa"), class = "fallible_error_argument")
  expect_error(alt_test(x, min_raters = 1), class = "fallible_error_argument")
  expect_error(alt_test(x, q = 0), class = "fallible_error_argument")
  expect_error(alt_test(x, epsilo = 0.1), class = "fallible_error_argument")
  weighted <- ratings(tidy(x, "patterns"), raters = rater1:rater4, systems = system, weights = n)
  expect_error(alt_test(weighted), "weights", class = "fallible_error_argument")
  long <- data.frame(case = c(1, 1, 1, 2, 2), rater = c("a", "a", "b", "a", "b"),
    rating = c("x", "y", "x", "y", "y"))
  twice <- ratings(long, case = case, rater = rater, rating = rating, repeats = "ratings",
    systems = data.frame(case = 1:2, system = "s", prediction = c("x", "y")))
  expect_error(alt_test(twice), "repeat", class = "fallible_error_argument")
})

test_that("machines among the raters give a warning, and are no answer for data_check()", {
  wide <- panel_of_text(6)
  read <- function(kind) ratings(wide, raters = r1:r4, systems = good:poor, rater_kind = kind)
  mixed <- read(c(r1 = "expert", r2 = "model", r3 = "model", r4 = "expert"))
  warned <- expect_warning(found <- alt_test(mixed), "\"r2\" and \"r3\" are declared as machines",
    class = "fallible_warning_assumption")
  expect_identical(warned$raters, c("r2", "r3"))
  expect_identical(tidy(found), expect_no_warning(tidy(alt_test(read("crowd")))))
  expect_warning(alt_test(read("tool")), class = "fallible_warning_assumption")
  expect_warning(alt_test(mixed[, c("r1", "r4")]), NA)
  question <- function(x) {
    table <- tidy(data_check(x), "questions")
    table[table$question == "Can a model replace a rater?", ]
  }
  expect_identical(question(read("crowd"))$answer, "yes")
  expect_identical(question(mixed)$answer, "no")
  expect_match(question(mixed)$reason, "for panels of people")
  constant <- ratings(wide, raters = r1:r4, systems = c(app = "1"))
  expect_error(alt_test(constant), "at least two people", class = "fallible_error_system")
})

test_that("it prints what passes, and what that does not say", {
  local_reproducible_output(width = 80)
  x <- ratings(panel_of_text(6), raters = r1:r4, systems = good:poor)
  expect_snapshot(print(alt_test(x, epsilon = 0.15, min_cases = 25)))
})

test_that("raters of a crowd are compared with the few who rated the same cases", {
  furthest <- vapply(1:4, function(seed) {
    withr::local_seed(seed)
    true <- sample(3, 120, TRUE)
    said <- replicate(12, replace(true, stats::runif(120) < 0.4, sample(3, 1)))
    said[stats::runif(length(said)) < 0.6] <- NA
    colnames(said) <- paste0("r", 1:12)
    wide <- cbind(as.data.frame(said), s = replace(true, 1:30, 1))
    x <- quiet(ratings(wide, raters = r1:r12, systems = s, categories = 1:3))
    found <- tidy(alt_test(x, epsilon = 0.1, min_cases = 10), "raters")
    slow <- slow_alt_test(said, wide$s, mean_same, 0.1, min_cases = 10)
    stopifnot(identical(names(slow$p), found$rater[!is.na(found$p.value)]))
    max(abs(found$p.value[!is.na(found$p.value)] - slow$p))
  }, 0)
  expect_lt(max(furthest), 1e-12, label = paste("largest deviation, seed", which.max(furthest)))
})

test_that("what a database counted gives the same numbers", {
  con <- sqlite()
  wide <- panel_of_text(6)
  wide$case <- seq_len(nrow(wide))
  DBI::dbWriteTable(con, "wide", wide)
  x <- ratings(wide, raters = r1:r4, systems = good:poor, case = case)
  y <- ratings(dplyr::tbl(con, "wide"), raters = r1:r4, systems = good:poor, case = case)
  expect_equal(tidy(alt_test(y)), tidy(alt_test(x)))
  expect_equal(tidy(alt_test(y), "raters"), tidy(alt_test(x), "raters"))
})

test_that("distances between numeric labels have no unit", {
  set.seed(1)
  code <- matrix(sample(5, 400, TRUE), 100)
  found <- lapply(c(1, 1e-6, 1e6), function(unit) {
    data <- as.data.frame(matrix(code * unit, 100))
    x <- quiet(ratings(data, raters = 1:3, systems = 4))
    tidy(alt_test(x, score = "neg_rmse"))
  })
  expect_equal(found[[2]], found[[1]])
  expect_equal(found[[3]], found[[1]])
})

test_that("the score is printed, and a note names the other if categories are ordered", {
  set.seed(1)
  x <- quiet(ratings(as.data.frame(matrix(sample(5, 400, TRUE), 100)), raters = 1:3, systems = 4))
  expect_output(print(alt_test(x, score = "neg_rmse")), "3 raters, score neg_rmse", fixed = TRUE)
  expect_no_match(capture.output(print(alt_test(x))), "Categories are ordered")
  x <- quiet(ratings(tidy(x), case = case, rater = rater, rating = rating, systems = "V3",
    categories = 1:5, ordered = TRUE))
  expect_output(print(alt_test(x)), "score accuracy.*ordered; score = \"neg_rmse\"")
  expect_no_match(capture.output(print(alt_test(x, score = "neg_rmse"))), "ordered; score")
})

test_that("score neg_rmse needs other categories than numbers with `ordered = FALSE`", {
  set.seed(1)
  data <- as.data.frame(matrix(sample(5, 400, TRUE), 100))
  x <- quiet(ratings(data, raters = 1:3, systems = 4, ordered = FALSE))
  expect_error(alt_test(x, score = "neg_rmse"), "`ordered = FALSE`",
    class = "fallible_error_argument")
})

test_that("sentences and a paragraph on the test cite its authors", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(good = 0.9, poor = 0.5), 3, n = 100))
  test <- alt_test(x)
  said <- may_say(test)
  expect_identical(said$sentence[said$may], paste0(
    "On 100 cases, ", c("good wins against 3", "poor wins against 0"),
    " of 3 raters (score accuracy, epsilon 0.2), so it ", c("passes", "does not pass"),
    " the alternative annotator test."
  ))
  expect_identical(said$system[3:4], c("good", "poor"))
  expect_match(said$sentence[[3]], "good is right as often as the raters")
  expect_match(said$sentence[[4]], "poor is worse than the raters")
  few <- may_say(alt_test(x[1:20, ], systems = "good"))
  expect_match(few$sentence[[1]], "do not show whether good can replace a rater: all raters have")
  expect_no_match(few$sentence, "can replace all raters|highest winning rate")
  words <- may_say(alt_test(x, score = "neg_rmse", epsilon = 0.1), "methods")
  expect_match(words[[1]], "Each of 3 raters .* root mean squared difference .* epsilon = 0.1")
  expect_match(words[-1], "^(Benjamini|Calderon)")
  expect_length(words, 3)
})

test_that("a test without a case that two people rated has this as its reason", {
  labels <- rep(c("a", "b"), 40)
  x <- quiet(ratings(data.frame(r1 = replace(labels, 1:40, NA), r2 = replace(labels, 41:80, NA),
    s = rep(c("b", "a", "a", "a"), 20)), raters = r1:r2, systems = s, rater_kind = "expert"))
  test <- alt_test(x)
  expect_identical(tidy(test)$reason, "there is no case with 2 ratings and an answer of the system")
  expect_output(print(test), "no case with 2 ratings and an\\s+answer of the system. Let\\s+the")
})

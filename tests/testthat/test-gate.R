test_that("decisions and labels that are needed are those of the table", {
  estimate <- estimate_once(judged_once(c(37, 3, 2, 8), 500, 400))
  row <- function(at_least, of = estimate) {
    found <- gate(of, at_least)
    list(tidy(found)$decision, found$status, tidy(found)$needed)
  }
  expect_identical(row(0.65), list("pass", 0L, 0L))
  expect_identical(row(0.72), list("undecided", 3L, 48L))
  expect_identical(row(0.75), list("undecided", 3L, NA_integer_))
  expect_identical(row(0.84), list("undecided", 3L, 12L))
  expect_identical(row(0.85), list("fail", 2L, 0L))
  more <- estimate_once(judged_once(c(37, 3, 2, 8), 2000, 1600))
  expect_identical(row(0.75, more)[[3]], 308L)
  low <- tidy(estimate)$conf.low
  expect_identical(row(low)[[1]], "pass")
  high <- tidy(estimate)$conf.high
  expect_identical(row(high)[[1]], "undecided")
})

test_that("so many labels do decide, and one less does not", {
  estimate <- estimate_once(judged_once(c(37, 3, 2, 8), 500, 400))
  x <- extract_gold_accuracy(estimate$gold, 1)
  low <- function(m) {
    x$gold <- m
    wilson_interval(x$estimate, 1 / relative_error_variance(x, "population"), qnorm(0.95))[[1]]
  }
  expect_gte(low(98), 0.72)
  expect_lt(low(97), 0.72)
})

test_that("the status is the worst decision, of systems, groups and pairs", {
  set.seed(1)
  truth <- sample(c("a", "b"), 600, TRUE)
  other <- ifelse(truth == "a", "b", "a")
  answers <- function(accuracy) ifelse(runif(600) < accuracy, truth, other)
  data <- data.frame(id = 1:600, judge = answers(0.85), good = answers(0.95), poor = answers(0.6))
  x <- ratings(data, raters = judge, case = id, systems = c(good, poor))
  gold <- stats::setNames(truth, 1:600)[1:100]
  estimate <- estimate_accuracy(x, known_truth = gold, gold_sample = "random")
  both <- gate(estimate, 0.8)
  expect_identical(tidy(both)$decision, c("pass", "fail"))
  expect_identical(both$status, 2L)
  expect_identical(gate(estimate, 0.5)$status, 0L)
  expect_identical(gate(estimate, 0.62)$status, 3L)
  expect_identical(glance(both)$failed, 1L)
  pair <- gate(compare_systems(estimate), 0.1)
  expect_identical(tidy(pair)$decision, "pass")
  expect_identical(tidy(pair)$system, "good - poor")
  expect_identical(tidy(gate(compare_systems(estimate), 0.4))$needed, NA_integer_)
  half <- stats::setNames(rep(c("u", "v"), 300), 1:600)
  by <- estimate_accuracy(x, by = half, known_truth = gold, gold_sample = "random")
  groups <- gate(by, 0.5)
  expect_warning(gate(by[["u"]], 0.5), NA)
  few <- quiet(estimate_accuracy(x, by = half, known_truth = gold[1:60], gold_sample = "random"))
  expect_warning(gate(few, 0.5), "u good.*v good")
  expect_identical(tidy(groups)$group, c("u", "u", "v", "v"))
  versions <- gate(compare_systems(by, systems = "good"), -0.2)
  expect_identical(versions$status, 0L)
  expect_output(print(versions), "\\(threshold -20\\s+points\\)")
  expect_match(format(gate(compare_systems(by), -0.2)), "(threshold -20 points)", fixed = TRUE)
  expect_snapshot({
    both
    groups
    pair
    gate(estimate[1], 0.92)
  })
})

test_that("estimates that decide nothing are undecided, or refused", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  unknown <- quiet(gate(estimate_once(data, gold_sample = "given"), 0.7))
  expect_identical(tidy(unknown)$decision, "undecided")
  expect_identical(unknown$status, 3L)
  expect_match(format(unknown), "sample of gold cases is needed", fixed = TRUE)
  set.seed(1)
  design <- rater_design(c(0.8, 0.8, 0.7), c(a = 0.8, b = 0.7), 2, 200)
  x <- quiet(simulate_ratings(design, rater_kind = "model"))
  machines <- quiet(estimate_accuracy(x))
  expect_error(gate(machines, 0.5), class = "fallible_error_argument")
  expect_error(gate(quiet(compare_systems(machines)), 0), class = "fallible_error_argument")
  people <- x
  people$rater_kind[] <- "expert"
  by_ratings <- quiet(estimate_accuracy(people))
  expect_identical(tidy(gate(by_ratings, 0))$decision, c("pass", "pass"))
  open <- gate(by_ratings, mean(tidy(by_ratings)$estimate))
  no_number <- is.na(tidy(open)$needed)
  expect_identical(is.na(tidy(open)$reason), !no_number)
  expect_output(print(open), "No `needed` for a.*: the accuracy is not estimated from gold cases")
  expect_error(
    gate(quiet(estimate_accuracy(people, interval = "none")), 0.5),
    class = "fallible_error_argument"
  )
  for (bad in list(NA, "a", 2, c(0.1, 0.2), -0.1)) {
    error <- expect_error(gate(by_ratings, bad), class = "fallible_error_argument")
    expect_identical(error$arg, "at_least")
  }
  expect_error(gate(people, 0.5), class = "fallible_error_argument")
  expect_error(gate(by_ratings), class = "fallible_error_argument")
})

test_that("an undecided system needs at least one further label", {
  estimate <- estimate_once(judged_once(c(30, 3, 2, 8), 500, 400))
  table <- tidy(estimate)
  for (threshold in c(table$conf.high, (table$estimate + table$conf.high) / 2)) {
    row <- tidy(quiet(gate(estimate, threshold)))
    expect_identical(row$decision, "undecided")
    expect_gt(row$needed, 0)
  }
})

test_that("few gold cases are pointed out", {
  few <- estimate_once(judged_once(c(30, 3, 2, 8), 500, 400))
  expect_warning(gate(few, 0.7), class = "fallible_warning_gate_few")
  expect_silent(gate(estimate_once(judged_once(c(37, 3, 2, 8), 500, 400)), 0.7))
})

test_that("estimates from a calibration sample are decided without a number of labels", {
  x <- judged_once(c(37, 3, 2, 8), 500, 400)$x
  counts <- rbind(pass = c(pass = 46, fail = 4), fail = c(pass = 6, fail = 44))
  estimate <- estimate_accuracy(x, known_raters = list(judge = counts))
  expect_silent(found <- gate(estimate, 0.75))
  expect_identical(found$status, 0L)
  open <- gate(estimate, 0.8)
  expect_identical(tidy(open)$needed, NA_integer_)
  expect_identical(open$status, 3L)
})

test_that("verbs refuse values that are no estimates", {
  for (x in list(3, "a", NULL, matrix(1:4, 2))) {
    expect_error(plan_gold(x), class = "fallible_error_argument")
  }
})

test_that("a gate refuses metrics of which low values are better", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8, t = 0.6), 3, 100))
  x$ordered <- TRUE
  comparison <- quiet(compare_systems(quiet(estimate_accuracy(x)), metric = "mae"))
  expect_error(gate(comparison, 0), "Low values of this metric are better", class = "fallible_error_argument")
})

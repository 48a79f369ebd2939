coded <- function() {
  set.seed(1)
  long <- expand.grid(case = 1:40, rater = c("A", "B", "C"))
  topic <- sample(c("econ", "law", "art"), 40, TRUE)
  tone <- sample(c("low", "mid", "high"), 40, TRUE)
  long$topic <- ifelse(runif(120) < 0.8, topic[long$case], "law")
  long$tone <- ifelse(runif(120) < 0.7, tone[long$case], "mid")
  long
}

test_that("several coded variables become a list of ratings", {
  long <- coded()
  levels <- c("low", "mid", "high")
  x <- ratings(long, case = case, rater = rater, rating = c(topic, tone),
    categories = list(tone = levels), ordered = c(tone = TRUE))
  expect_named(x, c("topic", "tone"))
  expect_equal(x$topic, ratings(long, case = case, rater = rater, rating = topic))
  expect_equal(x$tone, ratings(long, case = case, rater = rater, rating = tone, categories = levels, ordered = TRUE))
  wide <- reshape(long, idvar = "case", timevar = "rater", direction = "wide")
  y <- wide |> ratings(
    raters = list(topic = starts_with("topic"), tone = starts_with("tone")), case = case
  )
  expect_identical(y$tone$raters, c("tone.A", "tone.B", "tone.C"))
  expect_equal(fleiss_kappa(y$topic), fleiss_kappa(x$topic))
  expect_error(
    ratings(long, case = case, rater = rater, rating = c(topic, none)), "none",
    class = "fallible_error_columns"
  )
  # Columns of labels are one answer, and a column by its number is one variable.
  expect_s3_class(ratings(long, case = case, rater = rater, rating = 3), "ratings")
})

test_that("verbs take a list of variables, and do not depend on the order of its rows", {
  long <- coded()
  x <- ratings(long, case = case, rater = rater, rating = c(topic, tone))
  found <- agreement(x)
  one <- lapply(x, agreement)
  for (name in names(x)) {
    part <- found[found$variable == name, -1]
    expect_equal(as.data.frame(part), as.data.frame(one[[name]]))
    for (what in c("cases", "coincidence", "overlap", "benchmark")) {
      table <- tidy(found, what)
      expect_equal(table[table$variable == name, -1], tidy(one[[name]], what))
    }
  }
  shuffled <- agreement(ratings(long[sample(120), ], case = case, rater = rater, rating = c(topic, tone)))
  expect_equal(as.data.frame(shuffled), as.data.frame(found))
  expect_identical(tidy(data_check(x))$variable, rep(names(x), each = 9L))
  expect_output(print(data_check(x)), "<results_by_variable> 2 variables")
  drawn <- withr::with_seed(1, agreement(x, "fleiss_kappa", interval = "bootstrap"))
  expect_identical(withr::with_seed(1, agreement(x, "fleiss_kappa", interval = "bootstrap")), drawn)
  pair <- lapply(x, function(x) x[, 1:2])
  table <- tidy(compare_agreement(x, rev(pair), "krippendorff_alpha"))
  expect_equal(table$estimate[[2]], tidy(compare_agreement(x$tone, pair$tone, "krippendorff_alpha"))$estimate)
  expect_equal(tidy(compare_agreement(x, measures = "gwet_ac"))$variable, names(x))
  estimates <- quiet(estimate_accuracy(
    lapply(x, function(x) ratings(as.data.frame(x), case = case, rater = rater, rating = rating, systems = "C")),
    interval = "none"
  ))
  expect_identical(tidy(estimates)$variable, names(x))
  expect_equal(tidy(estimates[["tone"]]), tidy(estimates)[2, -1])
})

test_that("what names variables must name them, and by is for one variable", {
  long <- coded()
  read <- function(...) ratings(long, case = case, rater = rater, rating = c(topic, tone), ...)
  expect_error(read(categories = list(tonne = "low")), "tonne", class = "fallible_error_argument")
  expect_error(read(ordered = c(tonne = TRUE)), "tonne", class = "fallible_error_argument")
  wide <- reshape(long, idvar = "case", timevar = "rater", direction = "wide")
  expect_error(ratings(wide, raters = list(starts_with("topic"), starts_with("tone")), case = case),
    "name", class = "fallible_error_argument")
  expect_error(agreement(read(), by = stats::setNames(rep(1:2, 20), 1:40)), class = "fallible_error_argument")
  x <- 0.8
  expect_identical(glance(agreement(read(), "fleiss_kappa", conf_level = x))$conf_level, 0.8)
  one <- lehner_ratings()
  expect_equal(agreement(one, "gwet_ac", by = NULL), agreement(one, "gwet_ac"))
  halves <- factor(rep(c("u", "v"), 5), c("z", "u", "v"))
  expect_identical(agreement(one, "gwet_ac", by = stats::setNames(halves, one$cases))$group, c("u", "v"))
})

test_that("lists that hold anything but ratings are refused, by name", {
  x <- lehner_ratings()
  for (verb in list(agreement, data_check, estimate_accuracy, compare_agreement)) {
    expect_error(verb(list(a = x, b = 3)), "\"b\"", class = "fallible_error_argument")
    expect_error(verb(list(x, x)), "name", class = "fallible_error_argument")
  }
  expect_error(compare_agreement(list(a = x), list(b = x)), "names of", class = "fallible_error_argument")
})

test_that("agreement of groups of cases is that of their cases", {
  x <- lehner_ratings()
  group <- rep(c("u", "v"), 5)
  found <- agreement(x, "fleiss_kappa", by = stats::setNames(group, x$cases))
  expect_identical(found$group, c("u", "v"))
  expect_equal(found$estimate[[2]], fleiss_kappa(x[group == "v", ]))
  expect_output(print(found), "2 groups")
  expect_match(format(found), "fleiss_kappa (u)", fixed = TRUE)
})

test_that("tables of agreement are those of pairs of ratings", {
  x <- ratings(cbind(a = c("x", "y", "x", NA), b = c("x", "x", "y", NA), c = c("x", NA, "z", "z")))
  found <- agreement(x)
  cases <- tidy(found, "cases")
  expect_equal(cases$ratings, c(3, 2, 3, 1))
  expect_equal(cases$agreement, c(1, 0, 0, NA))
  # Krippendorff: each pair of a case with m ratings counts 1 / (m - 1).
  both <- matrix(tidy(found, "coincidence")$n, 3)
  expected <- matrix(c(3, 1, 0, 1, 0, 0, 0, 0, 0), 3) + (1 - diag(3)) / 2
  expect_equal(both, expected)
  overlap <- tidy(found, "overlap")
  expect_equal(overlap$coverage, c(3, 3, 3) / 4)
  expect_equal(overlap$overlap, c(3, 3, 2) / 4)
  expect_equal(overlap$conflict, c(2, 2, 1) / 4)
  counted <- agreement(ratings(fleiss1971, case = case, counts = depression:other))
  expect_error(tidy(counted, "overlap"), class = "fallible_error")
  expect_equal(mean(tidy(counted, "cases")$agreement), counted$estimate[[1]])
})

test_that("Fleiss and Cuzick's kappa is their formula", {
  set.seed(2)
  n <- sample(2:6, 30, TRUE)
  yes <- rbinom(30, n, runif(30))
  counts <- data.frame(yes = yes, no = n - yes)
  p <- sum(yes) / sum(n)
  expected <- 1 - sum(yes * (n - yes) / n) / (30 * (mean(n) - 1) * p * (1 - p))
  x <- ratings(counts, counts = yes:no)
  expect_equal(fleiss_kappa(x, pooling = "fleiss-cuzick"), expected)
  # With equal numbers of ratings all ways to pool are the same.
  equal <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(agreement(equal, pooling = "fleiss-cuzick")$estimate, agreement(equal)$estimate)
  expect_equal(agreement(equal, pooling = "fleiss-cuzick")$std.error, agreement(equal)$std.error)
  errors <- function(...) agreement(x, "fleiss_kappa", pooling = "fleiss-cuzick", ...)$std.error
  expect_equal(errors(interval = "jackknife"), errors(), tolerance = 0.1)
})

test_that("the largest kappa has the margins of the table", {
  crossed <- as.table(rbind(c(40, 9), c(6, 45)))
  # Moving all that may move to the diagonal keeps the margins.
  most <- as.table(rbind(c(46, 3), c(0, 51)))
  expect_equal(agreement(crossed, "cohen_kappa_max")$estimate, cohen_kappa(most))
})

test_that("plans for agreement find the number of cases whose interval is so wide", {
  set.seed(1)
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  plan <- plan_cases(x, half_width = 0.05, agreement = "fleiss_kappa", runs = 400)
  answer <- tidy(plan)
  # Resamples of so many cases, drawn here, have this half-width.
  rows <- as.data.frame(fleiss1971[-1])
  widths <- replicate(60, {
    drawn <- ratings(rows[sample(30, answer$cases, TRUE), ], counts = everything())
    agreement(drawn, "fleiss_kappa")$std.error * qt(0.95, answer$cases - 1)
  })
  expect_equal(mean(widths), 0.05, tolerance = 0.1)
  expect_lt(answer$std.error, answer$cases / 10)
  expect_output(print(plan), "half-width of 0.05")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(plan), "ggplot")
  expect_lt(tidy(update(plan, half_width = 0.1))$cases, answer$cases / 3)
  expect_identical(tidy(plan_cases(x, half_width = 0.01, agreement = "fleiss_kappa", cases = c(2, 100), runs = 20))$cases, NA_real_)
  expect_error(plan_cases(x, margin = 0.1), "half_width", class = "fallible_error_argument")
  expect_error(plan_cases(x, agreement = "fleiss_kappa", raters = 3), "raters", class = "fallible_error_argument")
})

checked <- function(x, ..., replicates = 19L, threads = 1L) {
  drawn <- list(replicates = replicates, threads = threads)
  quiet(check_k_properties(x, ..., resampling = drawn))
}

value <- function(checks, property, test = NULL, column = "p.value") {
  checks <- tidy(checks)
  rows <- checks$property == property & (if (is.null(test)) TRUE else checks$test == test)
  checks[[column]][rows]
}

strong <- function(raters = c(0.6, 0.6, 0.6), n = 400, ...) {
  simulate_ratings(rater_design(raters, 0.7, n = n, ...))
}

test_that("likelihood ratios and disagreeing pairs are those of a slow twin", {
  skip_unless_extended()
  set.seed(1)
  x <- quiet(simulate_ratings(rater_design(
    c(0.4, 0.5, 0.6), 0.5, 3, 80, dispersion = 2, difficulty = 0.1, missing = 0.15
  )))
  x$ordered <- TRUE
  checks <- checked(x, c("accuracy", "errors", "difficulty"), errors = "distance")
  answers <- reference_answers(x)
  twin <- function(...) reference_latent(rater_model(...), answers, 3L, 3L)
  full <- twin("rater", "distance", "strata")
  nulls <- list(
    accuracy = twin("common", "distance", "strata"), errors = twin("rater", "uniform", "strata"),
    difficulty = twin("rater", "distance", "none")
  )
  for (property in names(nulls)) {
    ratio <- 2 * (full$log_likelihood - nulls[[property]]$log_likelihood)
    expect_equal(value(checks, property, column = "statistic")[[1L]], ratio, tolerance = 1e-4)
  }
  expect_identical(value(checks, "accuracy", column = "df"), 2L)
  expect_identical(value(checks, "errors", column = "df")[[1L]], 1L)
  pairs <- reference_disagreements(nulls$errors$law, answers, 3L)
  expect_equal(
    value(checks, "errors", "disagreeing pairs", "statistic"),
    sum((pairs$observed - pairs$expected)^2 / pairs$expected), tolerance = 1e-4
  )
  cells <- tidy(checks, "disagreements")
  expect_identical(cells$observed, pairs$observed)
  expect_lt(max(abs(cells$expected - pairs$expected)), 1e-3)
})

test_that("strong violations are seen, each by its own test", {
  set.seed(2)
  p <- function(x, property, ...) min(value(checked(x, property, ...), property))
  expect_identical(p(strong(c(0.3, 0.6, 0.9)), "accuracy"), 0.05)
  expect_identical(p(strong(dispersion = 4), "errors", errors = "distance"), 0.05)
  free <- checked(strong(error_range = 1, n = 600), "errors")
  expect_identical(value(free, "errors", "likelihood ratio, free"), 0.05)
  expect_identical(p(strong(difficulty = 0.35, n = 600), "difficulty"), 0.05)
  copied <- strong(copying = data.frame(from = 1, to = 2, probability = 0.5))
  found <- checked(copied, "independence")
  expect_identical(value(found, "independence"), 0.05)
  expect_match(value(found, "independence", column = "concerns"), "rater1 and rater2")
  expect_match(value(found, "independence", column = "concerns"), "rater3 and system")
  pairs <- tidy(found, "pairs")
  # Five can tell which pair it is.
  more <- checked(strong(rep(0.7, 4), copying = data.frame(from = 1, to = 3, probability = 0.5)),
    "independence")
  expect_identical(value(more, "independence", column = "concerns"), "rater1 and rater3")
  expect_true(all(pairs$p.value >= 0.05 & pairs$p.value <= 1))
})

test_that("p-values are about uniform where the K-properties hold", {
  skip_unless_extended()
  set.seed(3)
  p <- replicate(60, {
    x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.7), 0.7, 3, 60))
    checks <- checked(x, c("accuracy", "difficulty"))
    c(value(checks, "accuracy"), value(checks, "difficulty"))
  })
  # Means of 60 uniform numbers have a standard error of .037, shares of a half one of .065.
  expect_lt(max(abs(rowMeans(p) - 0.5)), 0.13)
  expect_lt(max(abs(rowMeans(p <= 0.5) - 0.5)), 0.23)
  expect_lt(max(rowMeans(p <= 0.05)), 0.05 + 4 * sqrt(0.05 * 0.95 / 60))
})

test_that("the seed settles everything, whatever the threads and the order of cases", {
  set.seed(4)
  x <- strong(n = 100)
  run <- function(x, ...) {
    set.seed(5)
    tidy(checked(x, c("accuracy", "errors", "independence"), ...))
  }
  one <- run(x)
  expect_identical(run(x, threads = 2), one)
  expect_identical(run(x[rev(seq_along(x$cases)), ]), one)
  by_rater <- run(x[, c(3, 1, 2)])
  expect_equal(by_rater$statistic, one$statistic, tolerance = 1e-5)
  set.seed(6)
  expect_false(identical(tidy(checked(x, "accuracy"))$p.value, one$p.value[[1L]]) &&
    identical(tidy(checked(x, "difficulty"))$p.value, one$p.value[[2L]]))
})

test_that("weights stand for cases", {
  set.seed(7)
  x <- strong(n = 80)
  wide <- data.frame(matrix(reference_answers(x), 80, dimnames = list(NULL, c("a", "b", "c", "s"))))
  counted <- stats::aggregate(rep(1, 80), wide, sum)
  as_rows <- ratings(wide, raters = a:c, systems = s, categories = 1:5)
  as_weights <- ratings(counted, raters = a:c, systems = s, weights = x, categories = 1:5)
  run <- function(x) {
    set.seed(1)
    tidy(checked(x))
  }
  expect_equal(run(as_weights), run(as_rows))
  halves <- ratings(transform(counted, x = x / 2), raters = a:c, systems = s, weights = x)
  expect_identical(unique(na.omit(run(halves)$p.value)), double())
  expect_match(run(halves)$reason[[1L]], "weights are not counts")
})

test_that("one system joins, which can be chosen", {
  set.seed(8)
  x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.7), c(a = 0.5, b = 0.9), n = 60))
  system <- function(...) glance(checked(x, "accuracy", ...))$system
  expect_identical(system(), "a")
  expect_identical(system(system = "b"), "b")
  expect_identical(system(system = NA), NA_character_)
  more <- as.data.frame(x, what = "systems")
  fewer <- ratings(
    as.data.frame(x), case = case, rater = rater, rating = rating,
    systems = more[more$system == "b" | as.integer(more$case) <= 30, ]
  )
  expect_identical(glance(checked(fewer, "accuracy"))$system, "b")
  expect_error(checked(x, system = "c"), class = "fallible_error_system")
  expect_snapshot(check_k_properties(x, system = "c"), error = TRUE)
})

test_that("what cannot be tested is NA with a reason", {
  reasons <- function(x, ...) {
    found <- tidy(checked(x, ...))
    stats::setNames(found$reason, paste(found$property, found$test))
  }
  set.seed(9)
  two <- strong(n = 60)[, 1:2]
  found <- tidy(checked(two, system = NA))
  expect_match(found$reason[found$property == "independence"], "2 raters and systems")
  expect_match(
    found$reason[found$test == "likelihood ratio, free"], "more parameters than can be"
  )

  binary <- simulate_ratings(rater_design(rep(0.8, 4), 0.7, 2, 60))
  found <- checked(binary)
  expect_match(value(found, "errors", column = "reason"), "two categories")
  expect_false(anyNA(value(found, "accuracy")))
  expect_identical(nrow(tidy(found, "disagreements")), 0L)

  counts <- ratings(fleiss1971, case = case, counts = depression:other)
  found <- reasons(counts)
  expect_match(found[["accuracy likelihood ratio"]], "do not identify raters")
  expect_match(found[["independence residual agreement"]], "do not identify raters")
  expect_true(is.na(found[["difficulty likelihood ratio"]]))
  expect_true(is.na(found[["errors disagreeing pairs"]]))

  same <- ratings(matrix(rep(c("a", "b", "c"), 8), 24, 3))
  expect_match(reasons(same)[["accuracy likelihood ratio"]], "never disagree")
  alone <- ratings(matrix(c("a", "b", NA, NA, NA, NA, "b", "a"), 4))
  expect_match(reasons(alone)[["difficulty likelihood ratio"]], "no case was rated by two")
  expect_match(reasons(alone)[["chance agreement below chance"]], "no case was rated by two")
  for (x in list(two, binary, counts, same, alone)) {
    found <- tidy(checked(x))
    expect_identical(is.na(found$statistic), !is.na(found$reason))
    expect_identical(found$verdict == "not tested", is.na(found$statistic))
  }
})

test_that("agreement below chance is a contradiction, and nothing else is tested", {
  x <- ratings(cbind(rep(1:3, 20), rep(c(2, 3, 1), 20), rep(c(3, 1, 2), 20)))
  found <- tidy(checked(x))
  below <- found[found$test == "agreement below chance", ]
  expect_identical(below$verdict, "contradiction")
  expect_identical(below$statistic, 0)
  expect_equal(below$p.value, 3 * (2 / 3)^60)
  expect_true(all(found$verdict[found$property %in% c("accuracy", "errors", "difficulty")] ==
    "not tested"))
  # One rater who answers the opposite, among others who agree.
  set.seed(10)
  truth <- sample(1:2, 60, TRUE)
  opposed <- ratings(cbind(a = truth, b = truth, c = 3 - truth, d = c(3 - truth[1], truth[-1])))
  found <- checked(opposed, "chance")
  expect_identical(value(found, "chance", "agreement below chance", "verdict"), "contradiction")
  concerns <- value(found, "chance", "agreement below chance", "concerns")
  expect_match(concerns, "a and c agree in 0.0% of cases", fixed = TRUE)
  expect_match(concerns, "all raters agree in 49.7% of pairs", fixed = TRUE)
})

test_that("raters who always say the same are named, if others do not", {
  set.seed(11)
  x <- simulate_ratings(rater_design(rep(0.8, 3), n = 60, categories = 2, base_rates = c(0.5, 0.5)))
  wide <- cbind(reference_answers(x), lazy = 1, nearly = c(2, rep(1, 59)))
  found <- checked(ratings(wide), "one category")
  expect_identical(found$verdict, "violated")
  expect_match(found$concerns, "lazy chooses 1 (100.0% of ratings)", fixed = TRUE)
  others <- mean(wide[, colnames(wide) != "lazy"] == 1)
  smoothed <- (others * 240 + 0.5) / 241
  expect_equal(found$p.value, 5 * smoothed^60)
  expect_identical(found$statistic, 1)
  # If nearly all cases are of one category, no rater is conspicuous.
  rare <- ratings(cbind(a = rep(1, 40), b = c(2, rep(1, 39)), c = c(rep(1, 39), 2)))
  expect_identical(checked(rare, "one category")$verdict, "not significant")
  few <- quiet(ratings(cbind(rep(1, 9), rep(2, 9))))
  expect_match(checked(few, "one category")$reason, "no rater has 10 ratings")
})

test_that("sparse crowds, repeats and unused categories are checked too", {
  set.seed(12)
  x <- simulate_ratings(rater_design(rep(0.7, 3), 0.7, 3, 80))
  long <- as.data.frame(x)
  long$rater <- sample(paste0("r", 1:8), nrow(long), TRUE)
  crowd <- ratings(
    long, case = case, rater = rater, rating = rating, repeats = "ratings",
    categories = c(x$categories, "unused")
  )
  found <- tidy(checked(crowd))
  expect_true(all(is.finite(found$statistic[is.na(found$reason)])))
  expect_false(anyNA(found$p.value[found$property %in% c("accuracy", "errors", "difficulty")]))
})

test_that("of many raters free errors are left out unless asked for", {
  set.seed(13)
  crowd <- simulate_ratings(rater_design(rep(0.7, 21), categories = 3, n = 40, missing = 0.8))
  tests <- function(...) tidy(quiet(checked(crowd, "errors", ...)))$test
  expect_identical(tests(), "disagreeing pairs")
  expect_identical(tests(errors = "free"), c("likelihood ratio, free", "disagreeing pairs"))
})

test_that("bad input is refused", {
  x <- lehner_ratings()
  expect_error(check_k_properties("lehner2015"), class = "fallible_error_argument")
  expect_error(check_k_properties(x, errors = "uniform"), class = "fallible_error_argument")
  expect_error(check_k_properties(x, alpha = 1), class = "fallible_error_argument")
  expect_error(check_k_properties(x, resampling = list(replicates = 5)), class = "fallible_error_argument")
  expect_error(check_k_properties(x, sytem = "a"), class = "fallible_error_argument")
  several <- ratings(
    data.frame(case = 1, rater = 1:2, rating = c("a", "b")),
    case = case, rater = rater, rating = rating, repeats = "labels"
  )
  expect_error(check_k_properties(several), class = "fallible_error_labels")
  expect_snapshot(check_k_properties(x, "fairness"), error = TRUE)
})

test_that("a ratio of likelihoods that is not quite at its optimum is zero", {
  expect_identical(reported_statistic(-8e-6, "ratio"), 0)
  expect_identical(reported_statistic(8e-6, "ratio"), 8e-6)
  expect_identical(reported_statistic(-8e-6, "pairs"), -8e-6)
  expect_identical(reported_statistic(-8e-7, "pairs"), 0)
})

test_that("raters with unequal errors are not taken to be dependent", {
  confusing <- matrix(c(.70, .02, .28, .02, .70, .28, .02, .02, .96), 3, byrow = TRUE)
  specific <- matrix(c(.7, .3, .02, .98), 2, byrow = TRUE)
  designs <- list(
    rater_design(
      c(a = .8, b = .8, c = .8, d = .75, e = .75), categories = 3, base_rates = c(.5, .3, .2),
      n = 600, matrices = list(d = confusing, e = confusing)
    ),
    rater_design(
      c(a = .8, b = .8, c = .8, d = .84, e = .84), categories = 2, n = 600,
      matrices = list(d = specific, e = specific)
    )
  )
  set.seed(1)
  for (design in designs) {
    p <- replicate(20, {
      checks <- check_k_properties(simulate_ratings(design), properties = "independence")
      expect_identical(checks$null, "rater, free, strata")
      checks$p.value
    })
    # At the level of .05, 4 or more of 20 are rejected with probability .016.
    expect_lte(sum(p <= .05), 3)
  }
})

test_that("agreement of pairs that cannot be tested is not called insignificant", {
  set.seed(4)
  truth <- sample(c("x", "y"), 60, TRUE)
  rate <- function() ifelse(runif(60) < 0.8, truth, ifelse(truth == "x", "y", "x"))
  x <- ratings(data.frame(a = rate(), b = rate(), c = rate(), w = runif(60)), raters = a:c,
    weights = w)
  row <- tidy(quiet(check_k_properties(x, "chance", resampling = list(replicates = 19))))
  row <- row[row$test == "agreement below chance", ]
  expect_identical(row$verdict, "not tested")
  expect_identical(row$reason, "weights are not counts")
})

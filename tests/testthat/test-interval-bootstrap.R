simulated <- function(n, accuracy = 0.7, system = 0.8, categories = 4, raters = 3) {
  truth <- sample(categories, n, TRUE)
  answer <- function(p) {
    wrong <- (truth + sample(categories - 1, n, TRUE) - 1) %% categories + 1
    ifelse(runif(n) < p, truth, wrong)
  }
  wide <- as.data.frame(replicate(raters, answer(accuracy)))
  names(wide) <- paste0("r", seq_len(raters))
  wide$system <- answer(system)
  ratings(wide, raters = starts_with("r"), systems = system, categories = seq_len(categories))
}

test_that("the same seed gives the same interval for any number of threads", {
  x <- lehner_ratings()
  withr::local_options(mc.cores = 8)
  run <- function(threads) {
    set.seed(5)
    quiet(published(x, resampling = list(replicates = 300, threads = threads)))
  }
  one <- run(1)
  expect_identical(run(2)$replicates, one$replicates)
  expect_identical(run(8)$replicates, one$replicates)
  set.seed(6)
  expect_false(identical(quiet(published(x, resampling = list(replicates = 300)))$replicates, one$replicates))
})

with_parents <- function(cnd) {
  if (!is.null(cnd)) c(conditionMessage(cnd), with_parents(cnd$parent))
}

test_that("long runs report progress and can be stopped, on any number of threads", {
  withr::local_options(mc.cores = 8)
  for (threads in 1:2) {
    set.seed(5)
    long <- quiet(published(lehner_ratings(), resampling = list(replicates = 30000, threads = threads)))
    expect_identical(nrow(long$replicates), 30000L)
    # A time limit arrives as an interrupt would, or, while the bar is drawn, as an error of R or,
    # with R's as its parent, of cli.
    setTimeLimit(elapsed = 0.2, transient = TRUE)
    stopped <- tryCatch(
      published(lehner_ratings(), resampling = list(replicates = 1e7, threads = threads)),
      interrupt = function(cnd) "stopped",
      error = function(cnd) if (any(grepl("time limit", with_parents(cnd)))) "stopped" else cnd
    )
    setTimeLimit()
    expect_identical(stopped, "stopped")
  }
})

test_that("the first replicates are the same whatever their number", {
  set.seed(5)
  few <- quiet(published(lehner_ratings(), resampling = list(replicates = 20)))
  set.seed(5)
  many <- quiet(published(lehner_ratings(), resampling = list(replicates = 50)))
  expect_identical(many$replicates[1:20, ], few$replicates[, 1])
})

test_that("replicates are multinomial resamples of the cases", {
  skip_unless_nightly()
  # The same resampling in plain R, row by row: means and spreads agree within Monte Carlo error.
  set.seed(1)
  x <- simulated(80)
  fast <- quiet(published(x, resampling = list(replicates = 4000)))$replicates[, 1]
  slow <- replicate(400, {
    quiet(point_estimate(x[sample(80, replace = TRUE), ]))
  })
  error <- sqrt(var(slow) / 400 + var(fast) / 4000)
  expect_lt(abs(mean(fast) - mean(slow)), 4 * error)
  # The standard error of a standard deviation is about sd / sqrt(2 n).
  expect_lt(abs(log(sd(fast) / sd(slow))), 4 * sqrt(1 / 800 + 1 / 8000))
})

test_that("standard errors and limits come from the replicates", {
  set.seed(2)
  estimate <- published(simulated(100), conf_level = 0.8, resampling = list(replicates = 500))
  values <- estimate$replicates[, 1]
  expect_equal(tidy(estimate)$std.error, sd(values))
  expect_equal(
    c(tidy(estimate)$conf.low, tidy(estimate)$conf.high), unname(quantile(values, c(0.1, 0.9)))
  )
  expect_equal(glance(estimate)$conf_level, 0.8)
})

test_that("weights that count cases give what their rows give", {
  set.seed(3)
  x <- simulated(60)
  wide <- data.frame(category_counts(x), s = x$categories[x$patterns$answer[x$index, 1]])
  names(wide)[1:4] <- 1:4
  rows <- ratings(wide, counts = 1:4, systems = s)
  merged <- aggregate(w ~ ., transform(wide, w = 1, check.names = FALSE), sum)
  names(merged)[1:4] <- 1:4
  weighted <- ratings(merged, counts = 1:4, systems = s, weights = w)
  set.seed(4)
  a <- published(rows, resampling = list(replicates = 100))
  set.seed(4)
  b <- published(weighted, resampling = list(replicates = 100))
  expect_equal(tidy(a), tidy(b))
})

test_that("replicates without an estimate are counted and reported", {
  set.seed(1)
  expect_warning(estimate <- published(lehner_ratings(), resampling = list(replicates = 500)),
    class = "fallible_warning_bootstrap")
  failed <- sum(is.na(estimate$replicates))
  expect_gt(failed, 50)
  expect_identical(tidy(estimate, "details")$failed, failed)
  expect_match(paste(trimws(capture.output(print(estimate))), collapse = " "),
    paste(failed, "of them without an estimate"))
})

test_that("an interval that rests on too few replicates is NA with a reason", {
  # Agreement just above chance, and a system that answered one case: most resamples are at or below
  # chance, or without that case.
  wide <- data.frame(
    r1 = rep(c("a", "b"), c(6, 5)), r2 = c("a", "a", "a", "b", "b", "b", "b", "b", "b", "a", "a"),
    s = c("a", rep(NA, 10))
  )
  x <- ratings(wide, raters = r1:r2, systems = s)
  set.seed(1)
  estimate <- quiet(published(x, resampling = list(replicates = 400)))
  expect_gt(mean(is.na(estimate$replicates)), 0.5)
  table <- tidy(estimate)
  expect_false(is.na(table$estimate))
  expect_true(is.na(table$conf.low))
  expect_identical(table$reason, "no interval: most bootstrap replicates gave no estimate")
})

test_that("no interval is made up from replicates that do not vary", {
  wide <- data.frame(r1 = c("a", "b", "a", "b"), r2 = c("a", "b", "a", "b"))
  wide$s <- wide$r1
  x <- ratings(wide, raters = r1:r2, systems = s)
  table <- tidy(quiet(published(x, resampling = list(replicates = 100))))
  expect_equal(table$estimate, 1)
  expect_identical(c(table$conf.low, table$conf.high, table$std.error), rep(NA_real_, 3))
  expect_match(table$reason, "100.0% of the bootstrap replicates are exactly 1")
})

test_that("weights that are not counts leave no interval, and say so", {
  estimate <- published(exact_ratings(rep(0.6, 3), 0.9))
  table <- tidy(estimate)
  expect_equal(table$estimate, 0.9, tolerance = 1e-9)
  expect_identical(c(table$std.error, table$conf.low), rep(NA_real_, 2))
  expect_match(table$reason, "weights are not counts")
  expect_true(all(is.na(tidy(estimate$fit)$std.error)))
  expect_equal(table$n, 5^4)
})

test_that("cases without ratings are not resampled", {
  wide <- rbind(lehner2015, data.frame(
    case = 11:40, rater1 = NA, rater2 = NA, rater3 = NA, rater4 = NA, system = "A"
  ))
  x <- quiet(ratings(wide, raters = rater1:rater4, systems = system, case = case))
  set.seed(9)
  a <- quiet(published(x, resampling = list(replicates = 200)))
  set.seed(9)
  b <- quiet(published(lehner_ratings(), resampling = list(replicates = 200)))
  expect_equal(tidy(a), tidy(b))
})

test_that("percentile intervals cover about as often as they say where the model holds", {
  skip_unless_nightly()
  skip_on_cran()
  set.seed(12)
  runs <- 300
  covered <- replicate(runs, {
    table <- tidy(quiet(published(
      simulated(300, 0.7, 0.8, 5), method = "unbinned", resampling = list(replicates = 200)
    )))
    table$conf.low <= 0.8 && 0.8 <= table$conf.high
  })
  # Nominal .9; four Monte Carlo standard errors around it, and .02 for the method itself.
  expect_lt(abs(mean(covered) - 0.9), 4 * sqrt(0.9 * 0.1 / runs) + 0.02)
})

test_that("replicates are the same up to rounding, or up to where iteration stops", {
  near <- cbind(c(0.8, 0.8 + 1e-6, 0.8), c(0.8, 0.8 + 1e-12, 0.8))
  expect_identical(core_percentile_intervals(near, 0.9, FALSE)$lack, c("", "constant"))
  expect_identical(core_percentile_intervals(near, 0.9, TRUE)$lack, c("constant", "constant"))
})

test_that("other machines draw the replicates that this one would", {
  skip_on_cran()
  skip_if_not_installed("future")
  x <- quiet(simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.6), 3, 60)))
  run <- function() {
    set.seed(1)
    joint <- quiet(estimate_accuracy(
      x, "joint", interval = "bootstrap", resampling = list(replicates = 30, cluster = rep(1:30, 2)), common = 0.5
    ))
    list(joint$replicates, tidy(joint), tidy(compare_systems(quiet(estimate_accuracy(x)))))
  }
  here <- run()
  local_workers("cluster")
  expect_true(has_remote_workers())
  expect_equal(count_blocks(30L), 2)
  expect_identical(run(), here)
  future::plan("multisession", workers = 2)
  expect_equal(count_blocks(30L), 1) # where threads are better
})

test_that("intervals that leave their estimates are named, those of no estimate are not", {
  table <- data.frame(
    estimate = c(0.5, 0.9, NA, 0.7), conf.low = c(0.4, 0.2, NA, NA), conf.high = c(0.6, 0.8, NA, NA)
  )
  w <- expect_warning(warn_outside(letters[1:4], table, "why"), class = "fallible_warning_bootstrap")
  expect_identical(w$systems, "b")
  expect_match(conditionMessage(w), "interval of \"b\" does not contain its")
  expect_silent(warn_outside("a", table[1, ], "why"))
  table$conf.low[[1]] <- 0.55
  expect_warning(warn_outside(letters[1:4], table, "why"), '"a" and "b" do not contain their')
})

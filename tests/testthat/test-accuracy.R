test_that("the worked example gives the paper's estimate and bins", {
  estimate <- published(lehner_ratings(), interval = "none", method = "binned")
  expect_equal(tidy(estimate)$estimate, 0.731427, tolerance = 1e-6)
  expect_equal(tidy(estimate, "details")$mean_posterior, 0.466179, tolerance = 1e-6)
  table <- tidy(estimate, "bins")
  expect_named(table, c(
    "system", "lower", "upper", "probability", "cases", "agreement", "estimate_raw", "estimate"
  ))
  expect_equal(table$lower, c(0.9, 0.8, 0.6, 0.5, 0.3))
  expect_equal(table$upper, c(1, 0.9, 0.7, 0.6, 0.4))
  expect_equal(table$probability, c(0.975, 0.849322, 0.657303, 0.547890, 0.325), tolerance = 1e-6)
  expect_equal(table$cases, c(1, 3, 2, 2, 2))
  expect_equal(table$agreement, c(1, 2 / 3, 0, 1, 1 / 2))
  expect_equal(
    table$estimate_raw, c(1.025862, 0.771423, -0.210345, 2.138283, 2.75), tolerance = 1e-6
  )
  expect_equal(table$estimate, c(1, 0.771423, 0, 1, 1), tolerance = 1e-6)
})

test_that("clipping happens where it is asked for", {
  x <- lehner_ratings()
  expect_equal(point_estimate(x, bins = list(clip = "none")), 1.269601, tolerance = 1e-6)
  expect_equal(point_estimate(x, bins = list(clip = "overall")), 1)
  expect_equal(point_estimate(x, bins = list(clip = "bin")), 0.731427, tolerance = 1e-6)
  # One bin: mean highest probability and mean agreement of all cases.
  expect_equal(point_estimate(x, bins = list(width = 1)), 0.892854, tolerance = 1e-6)
})

bins_apart <- function(fast, width, seed) {
  panel <- twin(seed)$panel
  columns <- c("lower", "upper", "probability", "cases", "agreement", "estimate_raw")
  vapply(seq_len(ncol(panel$answers)), function(s) {
    slow <- reference_bins(
      twin(seed)$posterior, panel$answers[, s], panel$weights, twin(seed)$rated, panel$N,
      width = width
    )
    mine <- as.matrix(fast[fast$system == paste0("s", s), columns])
    largest_gap(mine, as.matrix(slow[columns]))
  }, 0)
}

test_that("estimates and bins agree with the slow twin on random panels", {
  expect_over(rounds(500), function(seed) {
    panel <- twin(seed)$panel
    fit <- quiet(fit_raters(twin(seed)$x))
    clip <- c("bin", "overall", "none")[[seed %% 3 + 1]]
    width <- c(0.1, 0.25, 0.3, 1)[[seed %% 4 + 1]]
    unlist(lapply(c("binned", "unbinned"), function(method) {
      fast <- quiet(published(
        fit, method = method, interval = "none", bins = list(clip = clip, width = width)
      ))
      slow <- vapply(seq_len(ncol(panel$answers)), function(s) {
        reference_accuracy(
          twin(seed)$posterior, panel$answers[, s], panel$weights, twin(seed)$rated, panel$N,
          method = method, clip = clip, width = width
        )
      }, 0)
      found <- tidy(fast)
      answered <- paste0("s", seq_len(ncol(panel$answers))) %in% found$system
      c(
        largest_gap(found$estimate, slow[answered]), unless(is.na(found$estimate) == !is.na(found$reason)),
        if (method == "binned" && twin(seed)$fit$identified) bins_apart(tidy(fast, "bins"), width, seed)
      )
    }))
  })
})

test_that("what must not matter does not", {
  set.seed(11)
  panel <- random_panel(42)
  base <- quiet(published(panel_ratings(panel), resampling = list(replicates = 50)))
  reordered <- panel
  reordered$long <- panel$long[sample(nrow(panel$long)), ]
  shuffled_raters <- panel
  shuffled_raters$long$rater <- sample(panel$m)[panel$long$rater]
  renamed <- panel
  new_label <- sample(panel$N)
  renamed$long$rating <- new_label[panel$long$rating]
  renamed$answers[] <- new_label[panel$answers]
  doubled <- panel
  doubled$weights <- 2 * panel$weights
  for (other in list(reordered, shuffled_raters, renamed, doubled)) {
    estimate <- quiet(published(panel_ratings(other), interval = "none"))
    expect_equal(tidy(estimate)$estimate, tidy(base)$estimate, tolerance = 1e-12)
  }
  for (other in list(reordered, shuffled_raters)) {
    set.seed(3)
    a <- quiet(published(panel_ratings(panel), resampling = list(replicates = 50)))
    set.seed(3)
    b <- quiet(published(panel_ratings(other), resampling = list(replicates = 50)))
    expect_equal(tidy(b), tidy(a), tolerance = 1e-12)
  }
})

test_that("a rater who never rates changes nothing", {
  wide <- transform(lehner2015, rater5 = factor(NA, levels = LETTERS[1:4]))
  expect_warning(
    x <- ratings(wide, raters = c(rater1:rater4, rater5), systems = system, case = case),
    "rater5", class = "fallible_warning_raters"
  )
  expect_equal(point_estimate(x), point_estimate(lehner_ratings()))
  expect_equal(glance(fit_raters(x))$rater_accuracy, 0.5)
})

test_that("counts give what their raters give", {
  wide <- lehner_ratings()
  counted <- data.frame(case = lehner2015$case, category_counts(wide), system = lehner2015$system)
  x <- ratings(counted, case = case, counts = A:D, systems = system)
  expect_equal(tidy(published(x, interval = "none"), "bins"),
    tidy(published(wide, interval = "none"), "bins"))
})

test_that("a declared category changes the estimate, an order does not", {
  x <- ratings(
    lehner2015, raters = rater1:rater4, systems = system, categories = c("D", "C", "B", "A")
  )
  expect_equal(point_estimate(x), point_estimate(lehner_ratings()))
  five <- ratings(
    lehner2015, raters = rater1:rater4, systems = system, categories = LETTERS[1:5]
  )
  expect_equal(
    quiet(fit_raters(five))$rater_accuracy, 1 / 5 + sqrt((4 / 3 - 4 / 5) / 5), tolerance = 1e-12
  )
})

test_that("several systems may cover different cases", {
  systems <- data.frame(
    case = c(1:10, 1:4), system = rep(c("all", "some"), c(10, 4)),
    prediction = c(as.character(lehner2015$system), "C", "C", "C", "D")
  )
  x <- ratings(lehner2015, raters = rater1:rater4, case = case, systems = systems)
  estimate <- published(x, interval = "none")
  expect_equal(tidy(estimate)$n, c(10, 4))
  expect_equal(tidy(estimate)$estimate[1], 0.731427, tolerance = 1e-6)
  only_some <- lehner2015[1:4, ]
  expect_equal(sum(tidy(estimate, "bins")$cases[tidy(estimate, "bins")$system == "some"]), nrow(only_some))
})

test_that("a bin in which no category stands out leaves the mean and is reported", {
  # Each category equally frequent; ties 1-1 leave the posterior at the base rates, 1/2.
  wide <- data.frame(
    r1 = c("a", "a", "a", "b", "b", "b", "a", "b"),
    r2 = c("a", "a", "a", "b", "b", "b", "b", "a"),
    s = c("a", "a", "b", "b", "b", "b", "a", "b")
  )
  x <- ratings(wide, raters = r1:r2, systems = s)
  expect_warning(estimate <- published(x, interval = "none", method = "binned"),
    class = "fallible_warning_uninformative")
  table <- tidy(estimate, "bins")
  expect_true(is.na(table$estimate_raw[table$probability < 0.51]))
  expect_equal(tidy(estimate, "details")$uninformative, 2 / 8)
  expect_equal(tidy(estimate)$n, 8)
  expect_match(paste(capture.output(print(estimate)), collapse = "\n"), "25.0% of the cases of s")
})

test_that("a system that answers only where nothing is known gets NA and a reason", {
  wide <- data.frame(
    r1 = c("a", "a", "a", "b", "b", "b", "a", "b"),
    r2 = c("a", "a", "a", "b", "b", "b", "b", "a"),
    s = c(NA, NA, NA, NA, NA, NA, "a", "b")
  )
  x <- ratings(wide, raters = r1:r2, systems = s)
  for (method in c("binned", "unbinned")) {
    table <- tidy(published(x, method = method))
    expect_identical(table$estimate, NA_real_)
    expect_match(table$reason, "no category stands out")
  }
})

test_that("an estimate from a fit that is not identified is NA with the reason", {
  wide <- data.frame(r1 = c("a", "a", "b", "b"), r2 = c("a", "b", "a", "b"), s = "a")
  x <- ratings(wide, raters = r1:r2, systems = s)
  expect_warning(estimate <- published(x), class = "fallible_warning_not_identified")
  table <- tidy(estimate)
  expect_identical(table$estimate, NA_real_)
  expect_match(table$reason, "no better than by chance (agreement 0.500, chance 0.500)",
    fixed = TRUE)
  expect_equal(nrow(tidy(estimate, "bins")), 0)
  expect_match(paste(capture.output(print(estimate)), collapse = "\n"), "NA for s: raters agree")
})

test_that("highest probabilities on the edge of a bin belong to the bin below", {
  # Raters .6 with equal base rates: three agreeing of three, two of three, none.
  estimate <- published(exact_ratings(rep(0.6, 3), 0.9), interval = "none")
  table <- tidy(estimate, "bins")
  expect_equal(table$upper, c(1, 0.8, 0.3))
  expect_equal(table$probability[2:3], c(0.8, 0.3), tolerance = 1e-6)
})

test_that("wrong arguments are refused", {
  x <- lehner_ratings()
  expect_error(published(x, method = "best"), class = "fallible_error_argument")
  expect_error(published(x, bins = list(width = 1e-12)), class = "fallible_error_argument")
  expect_error(published(x, resampling = list(replicates = 1e10)), class = "fallible_error_argument")
  expect_error(published(x, bins = list(width = 0)), class = "fallible_error_argument")
  expect_error(published(x, bins = list(width = 1.5)), class = "fallible_error_argument")
  expect_error(published(x, conf_level = 90), class = "fallible_error_argument")
  expect_error(published(x, resampling = list(replicates = 1)), class = "fallible_error_argument")
  expect_error(published(x, bins = list(clip = "bins")), class = "fallible_error_argument")
  expect_error(published(x, widht = 1), class = "fallible_error_argument")
  expect_error(published(letters), class = "fallible_error_argument")
  no_system <- ratings(lehner2015, raters = rater1:rater4)
  expect_error(published(no_system), class = "fallible_error_system")
  expect_error(tidy(published(x, method = "unbinned", interval = "none"), "bins"),
    class = "fallible_error_argument")
  expect_error(tidy(x, "bins"), class = "fallible_error_argument")
})

test_that("replicates in pieces are those of one piece", {
  skip_if_not_installed("future")
  fit <- fit_raters(lehner_ratings())
  draw <- list(
    replicates = 10L, threads = 1L, seed = 1:2, weight = pattern_weights(fit$x),
    case_weight = rep(1, nrow(fit$x)), clusters = NULL
  )
  estimate <- quiet(published(lehner_ratings(), interval = "none"))
  estimator <- make_estimator(fit, method_of(estimate), estimate$options)
  whole <- core_replicates(estimator, "accuracy", draw, no_tick)
  expect_identical(replicates_in_blocks(estimator, "accuracy", draw, no_tick, 3L), whole)
})

test_that("settings travel in lists that are checked", {
  x <- lehner_ratings()
  expect_snapshot(error = TRUE, {
    estimate_accuracy(x, resampling = list(replicate = 10))
    estimate_accuracy(x, resampling = list(10))
    estimate_accuracy(x, resampling = 200)
    estimate_accuracy(x, bins = list(width = 0.1, width = 0.2))
    accuracy_bounds(x, resampling = list(threads = 2))
    estimate_accuracy(x, "joint", known_truth = gold_cases(c("1" = "A"), "random"),
      gold_sample = "given")
  })
})

test_that("systems are not elements of an estimate", {
  estimate <- quiet(estimate_accuracy(lehner_ratings(), interval = "none"))
  system <- tidy(estimate)$system[[1]]
  expect_error(estimate[[system]], "one bracket", class = "fallible_error_argument")
  expect_identical(estimate[["options"]], estimate$options)
  expect_null(estimate[["none"]])
})

test_that("the print of an estimate with all truths known has no assumption about shared errors", {
  set.seed(1)
  x <- quiet(simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8), 3, 200)))
  shown <- paste(capture.output(print(quiet(estimate_accuracy(x, known_truth = truth(x))))),
    collapse = " ")
  expect_match(shown, "sampling error only \\(the truth of all cases is known\\)")
  expect_no_match(shown, "Assumed|no sign of shared")
  some <- quiet(estimate_accuracy(x, known_truth = truth(x)[1:100, ]))
  expect_match(paste(capture.output(print(some)), collapse = " "), "Assumed")
})

panel_300 <- function(...) gold_panel(n = 300, m = 40, ...)$x

random_of <- function(x, n) truth(x)[sample(nrow(x), n), ]

wide_of <- function(x) {
  said <- as.data.frame(x)
  answers <- as.data.frame(x, what = "systems")
  out <- split(as.character(said$rating), said$rater)
  names(out) <- c("r1", "r2", "r3")
  as.data.frame(c(out, split(as.character(answers$prediction), answers$system)))
}

with_random <- function(x, known, ...) {
  quiet(estimate_accuracy(x, known_truth = known, gold_sample = "random", ...))
}

test_that("gold stands on top of an estimate that knows nothing of it", {
  x <- panel_300()
  gold <- random_of(x, 40)
  without <- quiet(estimate_accuracy(x))
  estimate <- with_random(x, gold)
  expect_equal(show_accuracy(undo_gold_correction(estimate)), without, tolerance = 0)
  expect_identical(estimate$options$interval, "combined")
  evidence <- gold_evidence(x, read_gold(gold, "random", x))
  for (s in 1:2) {
    alone <- estimates_from_ratings(without, s)
    own <- combined_interval(gold_accuracy(evidence, s), alone, "population", 0.9, NULL)
    expect_equal(as.list(tidy(estimate)[s, names(own)[1:4]]), own[1:4])
    fixed <- corrected_interval(gold_accuracy(evidence, s), "cases", 0.9)
    corrected <- with_random(x, gold_cases(gold, target = "cases"), interval = "corrected")
    expect_equal(as.list(tidy(corrected)[s, names(fixed)[1:4]]), fixed[1:4])
  }
  expect_identical(tidy(estimate)$n, tidy(without)$n)
})

test_that("without gold cases nothing changes", {
  x <- panel_300()
  without <- quiet(estimate_accuracy(x))
  nothing <- truth(x)
  nothing$category[] <- NA
  expect_identical(with_random(x, nothing), without)
  expect_identical(with_random(x, nothing[0, ]), without)
  expect_identical(quiet(estimate_accuracy(x, known_truth = FALSE)), without)
  expect_identical(nrow(tidy(without, "gold")), 0L)
  expect_identical(glance(without)$gold, 0L)
  expect_warning(
    suppressWarnings(
      estimate_accuracy(x, known_truth = nothing, gold_sample = "random"),
      classes = "fallible_warning_assumption"
    ),
    class = "fallible_warning_gold_none"
  )
})

test_that("the table of gold has all four, and what they are worth", {
  x <- panel_300()
  estimate <- with_random(x, random_of(x, 40))
  sources <- tidy(estimate, "gold")
  kinds <- c("gold alone", "ratings alone", "corrected", "combined")
  expect_identical(sources$interval, rep(kinds, 2))
  expect_equal(sources$labels[sources$interval == "gold alone"], c(40, 40))
  expect_equal(sources$weight[sources$interval == "ratings alone"], c(0, 0))
  own <- sources[sources$interval == "combined", ]
  expect_equal(own$conf.low, tidy(estimate)$conf.low)
  details <- tidy(estimate, "gold_details")
  expect_identical(details$gold, c(40L, 40L))
  for (s in 1:2) {
    expect_equal(details$worth[[s]], 1 / estimate$gold$measured$ratio[[s]])
  }
  at <- tidy(estimate)
  corrected <- sources$estimate[sources$interval == "corrected"]
  share <- (at$independent - corrected) / (at$independent - at$shared)
  expect_equal(details$common, pmin(1, pmax(0, share)))
  told <- glance(estimate)
  expect_identical(
    c(told$gold_sample, told$target, told$interval), c("random", "population", "combined")
  )
})

test_that("what machines say is a prior around the centre of their interval", {
  x <- panel_300()
  x$rater_kind <- "model"
  gold <- random_of(x, 40)
  estimate <- with_random(x, gold)
  expect_identical(glance(estimate)$interval, "combined")
  alone <- estimates_from_ratings(estimate, 1L)
  expect_equal(alone$estimate, (tidy(undo_gold_correction(estimate))$estimate[[1L]] + 0.65) / 2)
  # The print names the value that is tested, if it is not the printed estimate.
  value <- paste0("centre of its interval: ", x$systems[[1L]], " ", format_decimals(alone$estimate))
  expect_match(paste(trimws(capture.output(print(estimate))), collapse = " "), value, fixed = TRUE)
  x$rater_kind <- "expert"
  expect_no_match(capture.output(print(with_random(x, gold))), "Raters are machines, so")
  x <- gold_accuracy(estimate$gold$evidence, 1L)
  found <- combined_interval(x, alone, "population", 0.9, NULL)
  expect_equal(tidy(estimate)$estimate[[1L]], found$estimate)
})

test_that("gold that somebody picked only enters the likelihood", {
  x <- panel_300()
  gold <- random_of(x, 40)
  as_fit <- quiet(estimate_accuracy(fit_raters(x, known_truth = gold)))
  expect_warning(
    said <- suppressWarnings(
      estimate_accuracy(x, known_truth = gold), classes = "fallible_warning_assumption"
    ),
    class = "fallible_warning_hand_picked"
  )
  expect_equal(tidy(said), tidy(as_fit))
  picked <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "given"))
  expect_equal(tidy(picked), tidy(as_fit))
  # and so does a sample with an interval that does not measure
  expect_equal(tidy(with_random(x, gold, interval = "robust")), tidy(as_fit))
  expect_error(
    quiet(estimate_accuracy(x, known_truth = gold, interval = "combined")),
    class = "fallible_error_argument"
  )
})

test_that("a fit may know the truth, and then be told how it was chosen", {
  x <- panel_300()
  gold <- random_of(x, 40)
  known <- fit_raters(x, known_truth = gold)
  direct <- with_random(x, gold)
  expect_equal(tidy(quiet(estimate_accuracy(known, gold_sample = "random"))), tidy(direct))
  fit <- fit_raters(x)
  expect_equal(tidy(with_random(fit, gold)), tidy(direct))
  expect_error(with_random(known, gold[1:3, ]), class = "fallible_error_argument")
  expect_error(estimate_accuracy(fit, gold_sample = "random"), class = "fallible_error_argument")
})

test_that("groups without gold have what ratings alone say, and why", {
  x <- panel_300()
  ward <- rep(c("u", "v"), each = 150)
  gold <- truth(x)[sample(150, 30), ]
  groups <- with_random(x, gold, by = ward)
  alone <- quiet(estimate_accuracy(x, by = ward))
  expect_equal(tidy(groups[["v"]]), tidy(alone[["v"]]))
  expect_false(isTRUE(all.equal(tidy(groups[["u"]]), tidy(alone[["u"]]))))
  details <- tidy(groups, "gold_details")
  expect_identical(details$gold, c(30L, 30L, 0L, 0L))
  expect_identical(unique(details$reason), c(NA, "there are no gold cases"))
  expect_output(print(groups), "v: From ratings alone, a, b: there are no gold cases")
  part <- x[1:150, ]
  part$used <- count_used_categories(x)
  part$leans <- find_leading_categories(x)
  expect_equal(tidy(groups[["u"]]), tidy(with_random(part, gold)))
  more <- update(groups, truth(x)[c(200:210), ])
  expect_identical(tidy(more, "gold_details")$gold, c(30L, 30L, 11L, 11L))
  expect_error(update(groups, c("999" = "1")), class = "fallible_error_case")
  expect_equal(tidy(update(groups, gold_cases(truth(x)[c(200:210), ]))), tidy(more))
})

test_that("edge cases follow their rules", {
  x <- panel_300()
  all <- tidy(with_random(x, gold_cases(truth(x), target = "cases")))
  expect_equal(all$estimate, true_accuracy(x)$sample)
  expect_equal(all$conf.high - all$conf.low, c(0, 0))
  expect_warning(
    suppressWarnings(
      estimate_accuracy(x, known_truth = truth(x), gold_sample = "random"),
      classes = "fallible_warning_assumption"
    ),
    class = "fallible_warning_gold_all"
  )
  # clusters of which few have gold
  gold <- truth(x)[1:40, ]
  few <- with_random(x, gold, resampling = list(cluster = rep(1:30, each = 10)))
  expect_true(all(is.na(tidy(few)$conf.low)))
  expect_match(tidy(few)$reason, "gold cases are in 4 clusters")
  # a system that says nothing of gold cases
  silent <- x
  silent$patterns$answer[silent$index[gold$case], 2] <- 0L
  silent <- with_random(join_patterns(silent), gold)
  expect_match(tidy(silent, "gold_details")$reason[2], "answered none of the 40 gold cases")
  expect_equal(tidy(silent)[2, ], tidy(undo_gold_correction(silent))[2, ])
  # weights
  x <- weigh_patterns(x, rep(c(1, 2), 150))
  twice <- with_random(x, gold)
  expect_identical(tidy(twice, "gold_details")$gold, c(60L, 60L))
  x <- weigh_patterns(x, rep(c(0.5, 2), 150))
  half <- with_random(x, gold)
  expect_true(all(is.na(tidy(half)$conf.low)))
  expect_match(tidy(half)$reason, "gold cases are not a sample")
})

test_that("an agreement at chance, about which ratings say nothing, is measured by gold", {
  set.seed(3)
  noise <- as.data.frame(matrix(sample(c("a", "b"), 400, TRUE), 100))
  names(noise) <- c("r1", "r2", "r3", "system")
  x <- quiet(ratings(noise, raters = r1:r3, systems = system))
  known <- setNames(noise$system, 1:100)[sample(100, 20)]
  estimate <- with_random(x, known)
  sources <- tidy(estimate, "gold")
  if (is.na(sources$estimate[sources$interval == "ratings alone"])) {
    expect_equal(
      sources$conf.low[sources$interval == "combined"],
      sources$conf.low[sources$interval == "corrected"]
    )
  }
  expect_false(is.na(tidy(estimate)$conf.low))
  expect_identical(tidy(estimate)$reason, NA_character_)
})

test_that("gold comes in batches, each case with one truth", {
  x <- panel_300()
  gold <- random_of(x, 60)
  first <- with_random(x, gold[1:30, ])
  second <- update(first, gold[31:60, ])
  expect_equal(second, with_random(x, gold))
  expect_equal(update(first, gold[1:60, ]), second) # again the same ones
  expect_equal(
    tidy(update(first, gold[31:60, ], interval = "anytime")),
    tidy(with_random(x, gold, interval = "anytime"))
  )
  other <- gold[1:2, ]
  other$category <- factor(rep(setdiff(c("1", "2", "3"), as.character(gold$category[1]))[1], 2))
  expect_error(update(first, other[1, ]), class = "fallible_error_case")
  expect_error(update(first, setNames("1", gold$case[40]), gold_sample = "given"),
    class = "fallible_error_gold")
  expect_error(update(quiet(estimate_accuracy(x)), gold), class = "fallible_error_argument")
})

test_that("an interval for any time is wider, and holds what it held", {
  x <- panel_300()
  gold <- random_of(x, 60)
  any <- tidy(with_random(x, gold, interval = "anytime"))
  once <- tidy(with_random(x, gold, interval = "corrected"))
  expect_equal(any$estimate, once$estimate)
  expect_true(all(any$conf.low < once$conf.low & any$conf.high > once$conf.high))
})

test_that("gold cases are certain in soft labels", {
  x <- panel_300()
  gold <- random_of(x, 40)
  labels <- as.matrix(ground_truth(with_random(x, gold))[-1])
  before <- as.matrix(ground_truth(x)[-1])
  expect_equal(labels[cbind(gold$case, as.integer(gold$category))], rep(1, 40))
  expect_equal(rowSums(labels), rep(1, 300))
  expect_identical(max.col(labels[-gold$case, ]), max.col(before[-gold$case, ]))
  long <- ground_truth(with_random(x, gold), "long")
  expect_equal(matrix(long$probability, 300, byrow = TRUE), unname(labels))
})

test_that("truth that is kept enters only where it is asked for", {
  x <- panel_300()
  truth <- truth(x)$category
  truth[-(1:30)] <- NA
  wide <- wide_of(x)
  with <- ratings(cbind(wide, truth), raters = r1:r3, systems = c(a, b), truth = truth)
  without <- ratings(wide, raters = r1:r3, systems = c(a, b))
  expect_identical(quiet(estimate_accuracy(with))$table, quiet(estimate_accuracy(without))$table)
  expect_equal(
    tidy(with_random(with, TRUE)), tidy(with_random(without, truth(x)[1:30, ]))
  )
  expect_error(with_random(without, TRUE), class = "fallible_error_argument")
  expect_identical(truth(with[20:40, ])$category, truth[20:40])
})

test_that("a study draws gold from the truth it knows", {
  x <- panel_300()
  estimator <- accuracy_estimator("average", interval = "combined", gold = 50)
  set.seed(5)
  one <- quiet(estimator(x))
  expect_identical(glance(one)$gold, 50L)
  set.seed(5)
  expect_equal(tidy(one), tidy(with_random(x, random_gold(x, 50L))))
  expect_error(accuracy_estimator(interval = "combined"), class = "fallible_error_argument")
  expect_error(
    accuracy_estimator(interval = "corrected", gold = 9, gold_sample = "given"),
    class = "fallible_error_argument"
  )
  design <- rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, 60)
  study <- simulation_study(
    design, list(gold = accuracy_estimator(
      "unbinned", interval = "corrected", gold = 20, resampling = list(replicates = 10)
    )), runs = 2
  )
  expect_false(anyNA(tidy(study)$conf.low))
})

test_that("what is wrong with gold is said", {
  x <- panel_300()
  gold <- random_of(x, 8)
  tell <- function(...) {
    said <- tryCatch(estimate_accuracy(x, ...), error = identity)
    cat(cli::ansi_strip(conditionMessage(said)), "\n\n")
  }
  withr::local_options(cli.unicode = FALSE, cli.width = 80)
  expect_snapshot({
    tell(known_truth = c("1" = "1", "999" = "1"), gold_sample = "random")
    tell(known_truth = data.frame(case = c(1, 1), truth = c("1", "2")), gold_sample = "random")
    tell(known_truth = c("1" = "z"), gold_sample = "random")
    tell(known_truth = c("1" = "1"), gold_sample = rep(0, 300))
    tell(known_truth = c("1" = "1"), gold_sample = "chance")
    tell(gold_sample = "random")
    tell(interval = "combined")
    tell(known_truth = c("1" = "1", "2" = "2"), interval = "corrected")
    tell(known_truth = c("1" = "1"), gold_sample = "given", interval = "corrected")
    tell(known_truth = gold_cases(c("1" = "1"), "random", target = "all"))
    tell(known_truth = gold_cases(c("1" = "1"), "random", widen = -1))
  })
})

test_that("print tells the story", {
  x <- panel_300()
  set.seed(4)
  estimate <- with_random(x, random_of(x, 40))
  withr::local_options(width = 80)
  expect_snapshot(estimate)
})

test_that("the picture has all sources, and none without gold", {
  skip_if_not_installed("ggplot2")
  x <- panel_300()
  estimate <- with_random(x, random_of(x, 40))
  picture <- ggplot2::autoplot(estimate, type = "gold")
  expect_equal(nrow(ggplot2::layer_data(picture, 2L)), 8L)
  expect_match(picture$labels$title, "40 gold cases")
  expect_error(
    ggplot2::autoplot(quiet(estimate_accuracy(x)), type = "gold"), class = "fallible_error_argument"
  )
})

test_that("all groups take a new interval, and no case has two probabilities", {
  set.seed(5)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.75, 2, 120))
  known <- truth(x)[1:40, ]
  groups <- suppressWarnings(
    estimate_accuracy(x, known_truth = known, gold_sample = "random", by = rep(1:2, 60))
  )
  said <- function(of) unname(vapply(of, function(estimate) glance(estimate)$interval, ""))
  expect_identical(said(update(groups, interval = "corrected")), rep("corrected", 2))
  more <- update(groups, known_truth = truth(x)[41, ], interval = "anytime")
  expect_identical(said(more), rep("anytime", 2))
  known$probability <- 1 / 3
  estimate <- suppressWarnings(estimate_accuracy(x, known_truth = known))
  again <- cbind(truth(x)[31:50, ], probability = 0.9)
  expect_error(update(estimate, known_truth = again), class = "fallible_error_gold")
  known$probability <- factor("0.1")
  expect_error(estimate_accuracy(x, known_truth = known), class = "fallible_error_gold")
})

test_that("gold with probabilities that are off by a factor has no part, and everything says so", {
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.7), c(s = 0.85, t = 0.7), 3, 200))
  gold <- truth(x)[sample(200, 40), ]
  probability <- stats::setNames(rep(1 / 200, 40), gold$case)
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = probability))
  expect_match(tidy(estimate)$reason, "^from ratings alone: the inverse sampling probabilities")
  two <- quiet(compare_systems(estimate))
  expect_match(tidy(two)$reason, "^from ratings alone: the inverse sampling probabilities")
  for (shown in list(estimate, two)) {
    expect_length(grep("^From ratings alone, .*: the inverse", utils::capture.output(print(shown))), 1L)
  }
})

test_that("weights count gold cases, of one group or of several", {
  set.seed(1)
  data <- data.frame(case = 1:120, site = rep(c("east", "west"), 60), times = 2, good = runif(120) < 0.7)
  for (rater in c("A", "B", "S", "T")) data[[rater]] <- ifelse(runif(120) < 0.8, data$good, !data$good)
  x <- ratings(data, raters = A:B, case = case, systems = S:T, weights = times, covariates = site)
  gold <- data.frame(case = data$case, truth = data$good)[c(1:30, 32, 34), ] # 15 and 17 of a site
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  groups <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random", by = "site"))
  expect_output(print(estimate), "Gold: 64 of 240 cases")
  expect_output(print(groups), "east: Gold: 30 of 120 cases(.|\n)*west: Gold: 34 of 120 cases")
  expect_match(may_say(estimate)$sentence[[1]], "known truth of 64 of 240 cases")
  expect_output(print(estimate_metrics(estimate, "recall")), "with 64 gold cases")
  expect_output(print(estimate_metrics(groups, "recall")), "with 30 to 34 gold")
  expect_output(print(quiet(compare_systems(estimate))), "Gold: 64 cases")
  expect_identical(quiet(compare_systems(groups))$gold$cases, 30)
})

test_that("update() computes intervals with another confidence level", {
  set.seed(5)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.8, b = 0.7), n = 60))
  gold <- truth(x)[1:30, ]
  estimators <- list(
    function(...) estimate_accuracy(x, ...),
    function(...) estimate_accuracy(x, by = rep(1:2, 30), ...),
    function(...) estimate_accuracy(list(u = x, v = x), ...),
    function(...) estimate_accuracy(x, known_truth = gold, gold_sample = "random", ...),
    function(...) estimate_accuracy(x, known_truth = gold, ...)
  )
  for (estimator in estimators) {
    estimate <- quiet(estimator())
    expect_equal(quiet(update(estimate, conf_level = 0.5)), quiet(estimator(conf_level = 0.5)))
  }
  first <- quiet(estimators[[4]]())
  expect_equal(
    tidy(quiet(update(first, truth(x)[31:40, ], conf_level = 0.5))),
    tidy(quiet(estimate_accuracy(x, known_truth = truth(x)[1:40, ], gold_sample = "random",
      conf_level = 0.5)))
  )
  own <- quiet(estimate_accuracy(x, function(x, ...) c(a = 0.7, b = 0.6), interval = "none"))
  expect_error(update(own, conf_level = 0.5), "user-defined", class = "fallible_error_argument")
})

test_that("where all truths are known every metric is that of the true table", {
  x <- metric_panel(120, dispersion = 1.5)
  cost <- matrix(c(0, 1, 5, 2, 0, 1, 3, 1, 0), 3)
  answers <- as.data.frame(x, what = "systems")
  for (sample in c("random", "given")) {
    found <- tidy(quiet(estimate_metrics(
      x, c(table_ids, ordered_ids, category_ids), average = metric_averages, cost = cost,
      known_truth = truth(x), gold_sample = sample
    )))
    for (system in x$systems) {
      own <- answers[answers$system == system, ]
      counts <- table(
        factor(truth(x)$category, x$categories), factor(own$prediction, x$categories)
      )
      counts <- matrix(counts, 3)
      expected <- values_of(counts, cost = cost)
      here <- found[found$system == system, ]
      expect_identical(paste(here$metric, here$average), paste(expected$metric, expected$average))
      expect_lt(max(abs(here$estimate - expected$value)), 1e-12)
    }
  }
  cases <- tidy(quiet(estimate_metrics(x, c("mcc", "f_meas", "recall"), known_truth = gold_cases(truth(x), "random", target = "cases"))))
  expect_lt(max(cases$conf.high - cases$conf.low), 1e-8)
})

test_that("a category that is known never to be true is undefined, not estimated", {
  set.seed(3)
  rated <- function() sample(c("a", "b", "c"), 60, TRUE)
  wide <- data.frame(r1 = rated(), r2 = rated(), s = sample(c("a", "b"), 60, TRUE))
  wide$r3 <- wide$r1
  truth <- stats::setNames(ifelse(wide$r1 == "c", "a", wide$r1), 1:60)
  x <- ratings(wide, raters = c("r1", "r2", "r3"), systems = "s", categories = c("a", "b", "c"))
  found <- tidy(quiet(estimate_metrics(x, category_ids, average = metric_averages,
    known_truth = truth, gold_sample = "random")))
  counts <- matrix(table(factor(truth, x$categories), factor(wide$s, x$categories)), 3)
  expected <- values_of(counts, category_ids)
  expect_equal(found$estimate, ifelse(is.nan(expected$value), NA, expected$value))
  lost <- found[found$metric == "recall" & found$category %in% "c", ]
  expect_match(lost$reason, "no case is of this category")
})

test_that("recall, precision and accuracy with gold are those of the estimate and confusion()", {
  x <- metric_panel(300)
  estimate <- quiet(estimate_accuracy(x, known_truth = truth(x)[1:80, ], gold_sample = "random"))
  set.seed(1)
  found <- tidy(estimate_metrics(estimate, c("accuracy", "recall", "precision"), average = NULL))
  set.seed(1) # of the replicates that say what sampling does to cells
  cells <- tidy(confusion(estimate), "categories")
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  rates <- found[found$metric != "accuracy", ]
  expect_equal(as.list(rates[columns]), as.list(cells[columns]))
  expect_identical(
    as.list(found[found$metric == "accuracy", columns]), as.list(tidy(estimate)[columns])
  )
})

test_that("intervals with gold cover, and are narrower than those of gold alone", {
  skip_unless_nightly()
  set.seed(7)
  design <- rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, 400, base_rates = c(0.5, 0.3, 0.2))
  ids <- c("f_meas", "mcc", "bal_accuracy")
  plan <- metric_plan(built_in_metrics[ids], as.character(1:3), "macro", list(beta = 1))
  # The population: a system with accuracy .8 whose errors are all of one kind.
  table <- c(0.5, 0.3, 0.2) * (matrix(0.1, 3, 3) + diag(0.7, 3))
  true <- metric_values(plan, matrix(t(table), 1L))[1L, ]
  runs <- 60
  hits <- replicate(runs, {
    x <- simulate_ratings(design)
    estimate <- quiet(estimate_accuracy(x, interval = "corrected",
      known_truth = truth(x)[1:100, ], gold_sample = "random"))
    part <- gold_tables(estimate$gold$evidence, 1L, 3L)
    ends <- ranges_of_plan(plan)
    x <- gold_metrics(part, unit_slopes(metric_slopes(plan, part$start), ends), plan, ends)
    limits <- corrected_interval(x, "population", 0.9)
    at <- (true - ends[, 1L]) / widths(ends)
    rbind(limits$conf.low <= at & at <= limits$conf.high, x$ratio / x$design)
  })
  coverage <- mean(hits[1L, , ])
  # Metrics of a run go together: as few as `runs` independent ones.
  expect_gt(coverage, 0.9 - 3 * sqrt(0.09 / runs))
  expect_lt(stats::median(hits[2L, , ]), 1)
})

test_that("what gold says nothing of keeps its estimate, without an interval and with a reason", {
  x <- metric_panel(200)
  known <- truth(x)[1:60, ]
  known <- known[known$category != x$categories[[3]], ]
  found <- tidy(quiet(estimate_metrics(x, c("accuracy", "mcc", "f_meas"), known_truth = known,
    gold_sample = "random")))
  alone <- tidy(quiet(estimate_metrics(x, c("accuracy", "mcc", "f_meas"))))
  third <- found$category %in% x$categories[[3]] | found$average %in% "macro"
  expect_identical(found$estimate[third], alone$estimate[third])
  expect_true(all(is.na(found$conf.low[third])))
  expect_match(found$reason[third], "no gold case is of category")
  expect_false(anyNA(found$conf.low[!third]))
  late <- tidy(quiet(estimate_metrics(x, c("accuracy", "mcc", "recall"), known_truth = known,
    gold_sample = "random", interval = "anytime")))
  expect_false(anyNA(late$conf.low[late$metric %in% c("accuracy", "mcc")]))
})

test_that("gold among the cases with an answer measures its precision only", {
  x <- metric_panel(300)
  plan <- plan_gold(x, gold = 60, of = "precision", systems = x$systems[[1L]],
    category = x$categories[[1L]])
  sheet <- augment(plan)
  sheet$truth <- truth(x)$category[match(sheet$case, truth(x)$case)]
  found <- tidy(quiet(estimate_metrics(x, c("accuracy", "recall", "precision"), average = NULL,
    known_truth = sheet, interval = "corrected")))
  measured <- !is.na(found$conf.low) & found$system == x$systems[[1L]]
  expect_identical(
    measured, found$system == x$systems[[1L]] & found$metric == "precision" &
      found$category %in% x$categories[[1L]]
  )
})

test_that("nothing seen of a rate leaves the interval of as few cases as have the category", {
  x <- list(gold = 60, variance = 0.004, ratio = 1, design = 1, full_design = 1)
  found <- measurement_as_share(x, 0, 0, 5) # a case moves the rate as if there were 12
  expect_equal(found$variance / found$ratio * 60, 12 * 0.5 * 12.5 / 13^2)
  expect_equal(effective_gold_size(c(found, cases = Inf), "cases", 0.9), 12)
})

test_that("the share of an answer has no error if the target is the cases at hand", {
  x <- metric_panel(100)
  shares <- function(target) {
    gold <- gold_cases(truth(x)[1:40, ], "random", target = target)
    table <- tidy(quiet(estimate_metrics(x, "detection_prevalence", known_truth = gold)))
    table[is.na(table$average), ]
  }
  population <- shares("population")
  cases <- shares("cases")
  expect_true(all(population$std.error > 0))
  expect_identical(cases$estimate, population$estimate)
  expect_identical(cases$std.error, 0 * cases$estimate)
  expect_identical(cases$conf.low, cases$estimate)
  expect_identical(cases$conf.high, cases$estimate)
})

test_that("an average that no case can move has no interval", {
  x <- metric_panel(100)
  for (interval in c("combined", "corrected")) {
    found <- tidy(quiet(estimate_metrics(x, "detection_prevalence", average = "micro",
      known_truth = gold_cases(truth(x)[1:40, ], "random"), interval = interval)))
    micro <- found[found$average %in% "micro", ]
    expect_equal(micro$estimate, c(1, 1) / 3)
    expect_match(micro$reason, "does not vary")
  }
})

test_that("half a case of either kind is small where gold knows a metric as from many cases", {
  of <- function(value, variance, steepest) {
    x <- list(gold = 50, variance = variance, ratio = 1, design = 1, full_design = 1)
    measurement_as_share(x, value, value, steepest)$variance
  }
  expect_equal(of(0.014, 0.0002, 0.01), 0.014 * 0.986, tolerance = 0.02) # a logarithmic loss
  # The F measure of a category of which one gold case is.
  expect_equal(of(1, 0.5, 25), 50.5 * 0.5 / 51^2)
})

test_that("a system or a group without gold does not keep others from theirs", {
  x <- metric_panel(100)
  answers <- as.data.frame(x, what = "systems")
  system <- x$systems[[1L]]
  gold <- truth(x)[1:30, ]
  some <- answers[answers$system != system | !answers$case %in% gold$case, ]
  y <- quiet(ratings(as.data.frame(x), case = case, rater = rater, rating = rating, systems = some))
  found <- tidy(quiet(
    estimate_metrics(y, c("accuracy", "mcc"), known_truth = gold, gold_sample = "random")
  ))
  expect_identical(is.na(found$conf.low), found$system == system)
  expect_match(found$reason[found$system == system], "none of the 30 gold cases")
  # A group of which all truths are known, none of them the third category, and one without gold.
  two <- which(truth(x)$category != x$categories[[3L]])[1:30]
  groups <- tidy(quiet(estimate_metrics(quiet(estimate_accuracy(
    x, known_truth = truth(x)[two, ], gold_sample = "random",
    by = ifelse(1:100 %in% two, "all", "none")
  )), c("accuracy", "mcc", "recall"))))
  expect_true(all(is.na(groups$conf.low[groups$group == "none"])))
  expect_false(anyNA(groups$conf.low[groups$group == "all" & groups$metric == "mcc"]))
  undefined <- is.na(groups$estimate)
  expect_true(any(undefined))
  expect_true(all(is.na(groups$conf.low[undefined])))
})

test_that("metrics of a rare category of two end where agreement is least, and need gold of both", {
  plan <- metric_plan(built_in_metrics[c("kap", "mcc")], c("a", "b"), NULL, list())
  table <- c(0.95, 0.02, 0.01, 0.02) # answers within truths
  ends <- ranges_of_margins(ranges_of_plan(plan), table, plan)
  none <- matrix(c(0.93, 0.04, 0.03, 0), 2, byrow = TRUE)
  expect_equal(ends[, 1L], c(kappa_of_costs(none, 1 - diag(2)), mcc_of_table(none)))
  expect_equal(ends[, 2L], c(1, 1))
  three <- metric_plan(built_in_metrics["kap"], c("a", "b", "c"), NULL, list())
  expect_identical(ranges_of_margins(cbind(-1, 1), rep(1 / 9, 9), three), cbind(-1, 1))

  set.seed(1)
  true <- rep(c("a", "b"), c(180, 20))
  say <- function() ifelse(runif(200) < 0.9, true, sample(c("a", "b"), 200, TRUE))
  x <- ratings(data.frame(r1 = say(), r2 = say(), r3 = say(), s = say()),
    raters = c("r1", "r2", "r3"), systems = "s")
  known <- stats::setNames(true, x$cases)
  kappa <- function(cases) {
    tidy(quiet(estimate_metrics(x, "kap", known_truth = known[cases], gold_sample = "random")))
  }
  expect_match(kappa(1:30)$reason, "no gold case is of category b")
  expect_true(is.na(kappa(1:30)$conf.low))
  expect_gt(kappa(171:200)$conf.high, kappa(171:200)$conf.low)
})

# ---- Likelihood ratios ---------------------------------------------------------------------------

# Ratings and answers of a system with these numbers of true and false positives and negatives.
diagnostic_panel <- function(tp, fn, fp, tn) {
  sick <- rep(c("yes", "no"), c(tp + fn, fp + tn))
  answer <- rep(c("yes", "no", "yes", "no"), c(tp, fn, fp, tn))
  rated <- function(p) ifelse(stats::runif(length(sick)) < p, sick, ifelse(sick == "yes", "no", "yes"))
  wide <- data.frame(r1 = rated(0.8), r2 = rated(0.85), r3 = rated(0.75), s = answer)
  x <- ratings(wide, raters = c("r1", "r2", "r3"), systems = "s", categories = c("no", "yes"))
  list(x = x, truth = stats::setNames(sick, seq_along(sick)))
}

# Estimates and standard errors on the logarithmic scale (Simel et al. 1991).
simel <- function(tp, fn, fp, tn) {
  sick <- tp + fn
  well <- fp + tn
  data.frame(
    estimate = c(tp / sick / (fp / well), fn / sick / (tn / well), tp * tn / (fp * fn)),
    error = sqrt(c(
      1 / tp - 1 / sick + 1 / fp - 1 / well, 1 / fn - 1 / sick + 1 / tn - 1 / well,
      1 / tp + 1 / fn + 1 / fp + 1 / tn
    ))
  )
}

test_that("likelihood ratios with gold are the textbook's where all truths are known", {
  set.seed(5)
  panel <- diagnostic_panel(830, 170, 290, 1710)
  found <- tidy(quiet(estimate_metrics(panel$x, odds_ids, known_truth = panel$truth,
    gold_sample = "random", interval = "corrected", positive = "yes")))
  expected <- simel(830, 170, 290, 1710)
  expect_lt(max(abs(found$estimate / expected$estimate - 1)), 1e-12)
  expect_lt(max(abs(found$std.error / found$estimate / expected$error - 1)), 0.01)
  z <- stats::qnorm(0.95)
  expect_lt(max(abs(log(found$conf.low / expected$estimate) / (z * expected$error) + 1)), 0.01)
  expect_lt(max(abs(log(found$conf.high / expected$estimate) / (z * expected$error) - 1)), 0.01)
  # Also where a share of so few errors would reach 1.
  panel <- diagnostic_panel(57, 3, 2, 58)
  found <- tidy(quiet(estimate_metrics(panel$x, odds_ids, known_truth = panel$truth[1:90],
    gold_sample = "random", positive = "yes")))
  expect_true(all(is.finite(found$conf.high)))
})

test_that("a ratio whose denominator is 0 is infinite, and has no interval", {
  set.seed(6)
  panel <- diagnostic_panel(40, 10, 0, 60)
  estimates <- quiet(estimate_metrics(panel$x, c(odds_ids, "j_index"), known_truth = panel$truth,
    gold_sample = "random", positive = "yes"))
  found <- tidy(estimates)
  expect_identical(found$estimate[c(1, 3)], c(Inf, Inf))
  expect_identical(found$std.error[c(1, 3)], c(NA_real_, NA_real_))
  expect_identical(is.na(found$conf.low), c(TRUE, FALSE, TRUE, FALSE))
  expect_identical(found$reason[c(1, 3)], rep("the estimate is on a boundary", 2))
  expect_lt(found$conf.high[[2]], Inf)
  expect_equal(found$estimate[[2]], 0.2)
  skip_if_not_installed("ggplot2")
  expect_no_error(ggplot2::ggplot_build(ggplot2::autoplot(estimates)))
})

test_that("likelihood ratios hang together, in groups and for any order of cases", {
  set.seed(7)
  panel <- diagnostic_panel(60, 15, 20, 105)
  gold <- panel$truth[sample(200, 90)]
  group <- rep(c("north", "south"), 100)
  find <- function(x, ...) {
    tidy(quiet(estimate_metrics(x, c("sens", "spec", odds_ids), ..., known_truth = gold,
      gold_sample = "random", interval = "corrected")))
  }
  both <- find(panel$x)
  expect_false(any(both$metric %in% odds_ids & !is.na(both$average)))
  of <- function(id, category) both[both$metric == id & both$category %in% category, ]
  expect_equal(of("dor", "no")$estimate, of("dor", "yes")$estimate)
  expect_equal(of("lr_positive", "no")$estimate, 1 / of("lr_negative", "yes")$estimate)
  expect_equal(of("lr_positive", "no")$conf.low, 1 / of("lr_negative", "yes")$conf.high)
  positive <- find(panel$x, positive = "yes")
  expect_identical(as.list(positive), as.list(both[both$category %in% "yes", ]))
  grouped <- find(panel$x, by = group, positive = "yes")
  expect_identical(nrow(grouped), 10L)
  expect_false(anyNA(grouped$conf.low))
  expect_error(find(panel$x, positive = "maybe"), class = "fallible_error_argument")
})

test_that("the default metrics of a positive category are those of a diagnostic test", {
  panel <- diagnostic_panel(60, 15, 20, 105)
  found <- tidy(quiet(estimate_metrics(panel$x, interval = "none", positive = "yes")))
  expect_setequal(found$metric, c("accuracy", "sens", "spec", "ppv", "npv"))
  expect_identical(unique(found$category[found$metric != "accuracy"]), "yes")
  all <- tidy(quiet(estimate_metrics(panel$x, interval = "none")))
  expect_true(all(c("recall", "f_meas") %in% all$metric))
  # With many groups, metrics of the one category are printed.
  groups <- rep(c("a", "b", "c", "d"), 50)
  many <- quiet(estimate_metrics(panel$x, interval = "none", positive = "yes", by = groups))
  expect_output(print(many), "system accuracy  sens  spec   ppv   npv")
  # With more categories, the positive one only selects rows.
  three <- tidy(quiet(estimate_metrics(lehner_ratings(), interval = "none", positive = "A")))
  expect_true("f_meas" %in% three$metric)
  expect_identical(three$category[three$metric == "spec"], "A")
})

test_that("a print of two categories has each number once", {
  panel <- diagnostic_panel(60, 15, 20, 105)
  estimates <- quiet(estimate_metrics(panel$x, c("sens", "spec", "dor"), interval = "none"))
  shown <- utils::capture.output(print(estimates))
  expect_length(grep("of (no|yes)", shown), 3L)
  # A diagnostic measure implies the positive category that the user named; the F measure does not.
  named <- quiet(estimate_metrics(panel$x, c("sensitivity", "specificity", "npv", "f_meas"),
    interval = "none", positive = "yes"))
  expect_setequal(tidy(named)$metric, c("sens", "spec", "npv", "f_meas"))
  expect_identical(unique(tidy(named)$category), "yes")
  expect_match(format(named), "2 categories (positive: yes)", fixed = TRUE)
  shown <- utils::capture.output(print(named))
  expect_length(grep("^ +(spec|npv) ", shown), 2L)
  expect_length(grep("of yes", shown), 1L)
  said <- may_say(named)$sentence
  expect_match(said, "the specificity of ", all = FALSE)
  expect_no_match(said, "(specificity|predictive value) for yes")
})

test_that("few gold cases of a category do not make a combined recall worse than the corrected one", {
  set.seed(1)
  x <- simulate_ratings(rater_design(rep(0.7, 5), c(s = 0.8, t = 0.6), 3, 300))
  gold <- gold_cases(truth(x)[sample(300, 80), ], "random") # three of them are of category 2
  recall <- function(interval) {
    table <- tidy(quiet(estimate_metrics(x, "recall", average = NULL, known_truth = gold,
      interval = interval)))
    table[table$category == "2" & table$system == "s", ]
  }
  from_ratings <- tidy(quiet(estimate_metrics(x, "recall", average = NULL)))$estimate[[2L]]
  corrected <- recall("corrected")
  combined <- recall("combined")
  width <- function(row) row$conf.high - row$conf.low
  expect_lt(width(combined), 0.8 * width(corrected))
  expect_gt(combined$conf.low, corrected$conf.low)
  # Gold cases without the category cannot contradict the ratings.
  expect_lt(abs(combined$estimate - from_ratings), abs(corrected$estimate - from_ratings))
})

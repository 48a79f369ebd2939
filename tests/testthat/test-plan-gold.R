planned <- function(...) plan_gold(planned_store(), ...)
planned_store <- function() {
  if (is.null(example_store$planned)) {
    set.seed(1)
    design <- rater_design(
      c(0.8, 0.8, 0.9), c(a = 0.8, b = 0.7), 3, 600, base_rates = c(0.5, 0.3, 0.2)
    )
    x <- simulate_ratings(design)
    x$rater_kind <- "expert"
    example_store$planned <- quiet(estimate_accuracy(x))
  }
  example_store$planned
}

test_that("numbers of gold cases are those of the formulas", {
  for (target in c("population", "cases")) {
    plan <- planned(half_width = 0.06, target = target)
    table <- tidy(plan)
    expect_identical(table$interval, rep(c("gold alone", "corrected", "combined"), 2))
    evidence <- predict_categories(planned_store()$fit$x)
    x <- planned_store()$fit$x
    q <- predict_correctness(evidence, x$patterns$answer[, 1])[x$index]
    b <- var(q) / (mean(q) * (1 - mean(q)))
    delta <- 1 - b^2
    share <- tidy(planned_store())$estimate[[1]]
    n <- uniroot(function(n) wilson_half_width(share, n, qnorm(0.95)) - 0.06, c(1, 1e5), tol = 1e-9)$root
    # In the population 1/n = delta (1/m - 1/N) + 1/N, in the cases at hand without the last part.
    m <- if (target == "population") {
      delta * n / (1 + (delta - 1) * n / 600)
    } else {
      delta * n / (1 + delta * n / 600)
    }
    expect_equal(table$gold[[2]], ceiling(m))
    expect_equal(table$worth[[2]], 1 / delta)
    expect_equal(table$gold[[1]], ceiling(if (target == "population") n else n / (1 + n / 600)))
    expect_true(all(table$half_width <= 0.06))
    expect_true(all(table$lowest <= table$gold & table$gold <= table$highest))
    expect_identical(c(unique(table$labelled), table$more), c(0, table$highest))
    expect_lte(table$gold[[3]], table$gold[[2]])
  }
})

test_that("a settled number has a half-width", {
  plan <- planned(gold = 100)
  expect_identical(unique(tidy(plan)$gold), 100)
  expect_true(all(diff(tidy(plan)$half_width[1:3]) < 0))
  expect_identical(nrow(augment(plan)), 100L)
  # The number has no range, but the worth of ratings has.
  text <- paste(capture.output(print(plan)), collapse = "\n")
  expect_match(text, "worth +lowest worth +highest worth")
  expect_match(text, "the worth is uncertain\\s+\\(lowest to highest\\s+worth\\)")
  expect_no_match(text, "gold +lowest|range from lowest")
  expect_match(text, paste0(
    "corrected +100 .*", format_decimals(tidy(plan)$worth_lowest[[2]], 1), " +",
    format_decimals(tidy(plan)$worth_highest[[2]], 1)
  ))
})

test_that("where cases are too few there is a reason", {
  plan <- planned(half_width = 0.01)
  expect_true(all(is.na(tidy(plan)$gold)))
  expect_match(tidy(plan)$reason, "if all 600 cases are gold, the half-width is 0.0")
  expect_identical(nrow(augment(plan)), 0L)
  expect_match(format(plan), "^Not reached: ")
  skip_if_not_installed("ggplot2")
  target <- ggplot2::ggplot_build(plot(plan))$data
  expect_identical(unique(unlist(lapply(target, `[[`, "yintercept"))), 0.01)
})

test_that("differences, recall and precision are planned, too", {
  difference <- planned(half_width = 0.08, of = "difference")
  expect_identical(unique(tidy(difference)$system), "a - b")
  x <- planned_store()$fit$x
  at <- match(augment(difference)$case, x$cases)
  answer <- x$patterns$answer[x$index[at], ]
  expect_true(all(answer[, 1] != answer[, 2]))
  recall <- planned(half_width = 0.1, of = "recall", category = 2)
  precision <- planned(half_width = 0.1, of = "precision", category = 2, systems = "b")
  # Labels of cases that are of other categories say little of recall.
  expect_gt(tidy(recall)$gold[[1]], tidy(precision)$gold[[1]] * 2)
  own <- match(augment(precision)$case, x$cases)
  expect_true(all(x$patterns$answer[x$index[own], 2] == 2))
  expect_identical(unique(tidy(precision)$interval), c("gold alone", "corrected"))
})

test_that("a plan for a combined interval asks for as many cases as could contradict ratings", {
  for (half in c(0.06, 0.15, 0.3)) {
    table <- tidy(planned(half_width = half))
    expect_true(all(table$gold[table$interval == "combined"] >= 20))
    expect_true(all(table$lowest[table$interval == "combined"] >= 20))
    expect_true(all(table$half_width <= half))
  }
  expect_identical(glance(planned(half_width = 0.3))$gold, 20)
  # A smaller number has a note.
  expect_output(print(planned(gold = 8)), "about 20 gold cases")
})

test_that("a plan is reached in the median of panels where raters and systems err together", {
  skip_unless_extended()
  # One case in four is hard, and most raters and systems give the same wrong answer there.
  panel <- function(seed) {
    set.seed(seed)
    truth <- sample(3L, 800, TRUE)
    hard <- stats::runif(800) < 0.25
    wrong <- (truth - 1L + sample.int(2L, 800, TRUE)) %% 3L + 1L
    other <- function(p) {
      ifelse(stats::runif(800) < p, truth, (truth - 1L + sample.int(2L, 800, TRUE)) %% 3L + 1L)
    }
    said <- function(easy, together) {
      out <- other(easy)
      out[hard] <- ifelse(stats::runif(800) < together, wrong, truth)[hard]
      out
    }
    data <- data.frame(
      r1 = said(0.9, 0.6), r2 = said(0.9, 0.6), r3 = said(0.85, 0.6), s = said(0.95, 0.7)
    )
    x <- quiet(ratings(data, raters = r1:r3, systems = s, categories = 1:3, rater_kind = "crowd"))
    list(x = x, truth = truth)
  }
  half <- vapply(1:12, function(seed) {
    made <- panel(seed)
    estimate <- quiet(estimate_accuracy(made$x))
    list <- augment(quiet(plan_gold(estimate, half_width = 0.06, choice = "random")))
    list$truth <- made$truth[match(list$case, made$x$cases)]
    table <- tidy(quiet(estimate_accuracy(made$x, known_truth = list)))
    (table$conf.high - table$conf.low) / 2
  }, 0)
  expect_lte(stats::median(half), 0.06)
  expect_gt(stats::median(half), 0.04) # nor are far too many drawn
})

test_that("what is planned is reached: plan, draw, measure, compare", {
  skip_unless_nightly()
  x <- planned_store()$fit$x
  category <- x$categories[[1L]]
  measured <- function(list, of) {
    estimate <- quiet(estimate_accuracy(x, known_truth = list, interval = "corrected"))
    table <- if (of == "difference") {
      tidy(quiet(compare_systems(estimate)))
    } else {
      rows <- tidy(quiet(confusion(estimate)), "categories")
      rows[rows$measure == of & rows$category == category & rows$system == "a", ]
    }
    (table$conf.high - table$conf.low) / 2
  }
  half <- c(difference = 0.08, recall = 0.08, precision = 0.08)
  for (of in names(half)) {
    found <- vapply(1:5, function(seed) {
      set.seed(seed)
      list <- augment(planned(
        half[[of]], of, systems = if (of != "difference") "a",
        category = if (of != "difference") category
      ))
      list$truth <- truth(x)$category[match(list$case, x$cases)]
      measured(list, of)
    }, 0)
    expect_lte(stats::median(found), half[[of]])
    expect_gt(stats::median(found), half[[of]] / 2)
  }
})

test_that("weights that count cases are as many cases, not rows", {
  x <- planned_store()$fit$x
  one <- x[1:200, ]
  few <- quiet(plan_gold(one[rep(1:200, each = 3), ], half_width = 0.06))
  weighted <- one
  weighted <- weigh_patterns(weighted, rep(3, 200))
  plan <- quiet(plan_gold(weighted, half_width = 0.06, choice = "random"))
  expect_equal(tidy(plan), tidy(few))
  # A label is that of all cases of a row.
  gold <- glance(plan)$gold
  expect_lte(abs(nrow(augment(plan)) - gold / 3), 1)
  expect_equal(augment(plan)$probability, rep(gold / 600, nrow(augment(plan))))
  expect_identical(unique(tidy(plan_gold(weighted, gold = 500))$gold), 500)
})

test_that("ratings in a database are planned as those in memory", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  data <- withr::with_seed(1, {
    truth <- sample(c("x", "y"), 500, TRUE)
    wrong <- c(x = "y", y = "x")[truth]
    said <- function(p) ifelse(stats::runif(500) < p, truth, wrong)
    data.frame(case = 1:500, r1 = said(0.8), r2 = said(0.8), r3 = said(0.8), s = said(0.9))
  })
  DBI::dbWriteTable(con, "d", data)
  read <- function(d) ratings(d, raters = c(r1, r2, r3), systems = s, case = case)
  plan <- quiet(plan_gold(read(dplyr::tbl(con, "d")), 0.05))
  expect_equal(tidy(plan), tidy(quiet(plan_gold(read(data), 0.05))), tolerance = 1e-4)
  expect_identical(nrow(augment(plan)), 0L)
  expect_output(print(plan), "plan_gold\\(\\) on\\s+dplyr::collect\\(\\)")
})

test_that("costs are those of gold and of one more rater", {
  plan <- planned(half_width = 0.05, interval = "corrected", cost = c(gold = 20, rating = 0.01))
  costs <- tidy(plan, "costs")
  expect_equal(costs$cost[1:2], costs$gold[1:2] * 20 + c(0, 600) * 0.01)
  expect_lt(costs$gold[[2]], costs$gold[[1]])
  expect_equal(costs$gold[[1]], glance(plan)$gold)
  expect_identical(nrow(tidy(planned(), "costs")), 0L)
})

test_that("ratings are enough to plan, and wrong arguments are refused", {
  x <- planned_store()$fit$x
  expect_equal(tidy(plan_gold(x, gold = 50)), tidy(planned(gold = 50)))
  fails <- function(topic, ...) {
    expect_error(planned(...), class = paste0("fallible_error_", topic))
  }
  fails("argument", half_width = 0.7)
  fails("argument", systems = "z")
  fails("argument", of = "difference", systems = "a")
  fails("argument", of = "recall")
  fails("argument", of = "recall", category = "Z")
  fails("argument", gold = 601)
  fails("argument", of = "nothing")
  fails("argument", what = 1)
  expect_error(plan_gold(lehner2015), class = "fallible_error_argument")
  expect_error(
    plan_gold(ratings(lehner2015, raters = rater1:rater4, case = case)),
    class = "fallible_error_system"
  )
})

test_that("cases that all look the same can be planned", {
  same <- ratings(
    data.frame(a = rep("x", 20), b = "x", s = "y"), raters = a:b, systems = s,
    categories = c("x", "y")
  )
  plan <- quiet(plan_gold(same, half_width = 0.1))
  expect_identical(nrow(augment(plan)), 11L)
})

test_that("plans print", {
  local_reproducible_output(width = 80)
  set.seed(1)
  expect_snapshot({
    planned(half_width = 0.06, cost = c(gold = 20, rating = 0.1))
    planned(half_width = 0.02, interval = "corrected", systems = "a")
    planned(of = "difference", gold = 60)
    planned(of = "precision", category = 2, choice = "active")
  })
})

test_that("a plan leads to an estimate: drawn, adjudicated, read back with its probabilities", {
  set.seed(3)
  x <- planned_store()$fit$x
  adjudicate <- function(list) {
    list$truth <- truth(x)$category[match(list$case, x$cases)]
    list
  }
  right <- true_accuracy(x)$sample
  for (choice in c("stratified", "active", "random")) {
    list <- adjudicate(augment(plan_gold(x, gold = 120, choice = choice)))
    expect_equal(sum(1 / list$probability), 600, tolerance = 0.15)
    estimate <- quiet(estimate_accuracy(x, known_truth = list, conf_level = 0.99))
    expect_identical(estimate$gold$sample, "probability")
    expect_identical(estimate$options$interval, "combined")
    table <- tidy(estimate)
    expect_true(all(table$conf.low < right & right < table$conf.high))
    planned <- tidy(plan_gold(x, gold = 120, choice = choice, conf_level = 0.99))
    half <- planned$half_width[planned$interval == "corrected"]
    found <- gold_accuracy(estimate$gold$evidence, 1L)
    own <- corrected_interval(found, "population", 0.99)
    expect_lt((own$conf.high - own$conf.low) / 2, 1.3 * half[[1]])
  }
})

test_that("a plan of a difference leads to a comparison", {
  skip_unless_nightly()
  set.seed(3)
  x <- planned_store()$fit$x
  list <- augment(plan_gold(x, gold = 120, of = "difference"))
  list$truth <- truth(x)$category[match(list$case, x$cases)]
  estimate <- quiet(estimate_accuracy(x, known_truth = list, conf_level = 0.99))
  table <- tidy(compare_systems(estimate))
  # Of accuracies they say nothing: no case had a chance on which answers agree.
  expect_true(all(is.na(estimate$gold$details$worth)))
  expect_match(estimate$gold$details$reason, "^the inverse sampling probabilities of gold cases do not sum to the number of cases")
  right <- true_accuracy(x)$sample
  expect_true(table$conf.low < right[[1]] - right[[2]] && right[[1]] - right[[2]] < table$conf.high)
  # Labels of cases with the same answer carry no information on the difference. One of 25 random
  # samples had a shorter interval than the planned sample, so five are averaged.
  widths <- replicate(5, {
    spread <- augment(plan_gold(x, gold = nrow(list), choice = "random"))
    spread$truth <- truth(x)$category[match(spread$case, x$cases)]
    other <- tidy(compare_systems(quiet(
      estimate_accuracy(x, known_truth = spread, conf_level = 0.99)
    )))
    other$conf.high - other$conf.low
  })
  expect_lt(table$conf.high - table$conf.low, mean(widths))
})

test_that("gold measures beside raters whose accuracy is known", {
  x <- planned_store()$fit$x
  set.seed(4)
  gold <- truth(x)[sample(600, 60), ]
  fit <- quiet(fit_raters(x, known_raters = list(rater1 = 0.7, rater3 = 0.8)))
  estimate <- quiet(estimate_accuracy(fit, known_truth = gold, gold_sample = "random"))
  expect_identical(estimate$options$interval, "combined")
  expect_true(all(estimate$gold$details$gold == 60))
  was <- quiet(estimate_accuracy(fit, resampling = list(replicates = 50)))
  expect_equal(estimate$gold$alone$estimate, tidy(was)$estimate)
})

test_that("a combined interval is foreseen no wider than a corrected one", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 60)))
  plan <- plan_gold(x, half_width = 0.15)
  curve <- plan$curve
  combined <- curve$half_width[curve$interval == "combined"]
  corrected <- curve$half_width[curve$interval == "corrected"]
  expect_true(all(combined <= corrected))
  expect_lt(combined[[1]], corrected[[1]]) # where ratings are worth most
  needed <- tidy(plan)
  needed <- stats::setNames(needed$gold, needed$interval)
  expect_lte(needed[["combined"]], max(needed[["corrected"]], 20))
})

test_that("the interval that is planned for is the one that will be reported", {
  data <- withr::with_seed(1, {
    truth <- sample(c("x", "y"), 60, TRUE)
    said <- function() ifelse(stats::runif(60) < 0.75, truth, sample(c("x", "y"), 60, TRUE))
    data.frame(b = said(), c = said(), a = said())
  })
  for (kind in c("expert", "model")) {
    x <- quiet(ratings(data, raters = b:c, systems = a, rater_kind = kind))
    planned <- quiet(plan_gold(x, half_width = 0.2))$settings$interval
    known <- data.frame(case = x$cases[1:20], truth = x$categories[1:2])
    reported <- quiet(estimate_accuracy(x, known_truth = known, gold_sample = "random"))
    expect_identical(planned, reported$options$interval)
  }
  expect_identical(quiet(plan_gold(x, 0.2, interval = "combined"))$settings$interval, "combined")
})

test_that("an estimate whose interval tells of sampling alone has no combined interval to plan", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, 200)))
  for (interval in c("bootstrap", "profile", "none")) {
    estimate <- quiet(estimate_accuracy(x, "joint", interval = interval))
    expect_identical(tidy(plan_gold(estimate))$interval, c("gold alone", "corrected"))
  }
  known <- truth(x)[1:30, ]
  estimate <- quiet(estimate_accuracy(
    x, known_truth = known, gold_sample = "random", interval = "corrected"
  ))
  expect_identical(plan_gold(estimate)$settings$interval, "corrected")
})

test_that("the fewest cases are exact in a range that is not gone through one by one", {
  for (n in 12001:12010) {
    expect_identical(find_smallest_n(function(cases) n - 0.5 - cases, 2, 1e7), as.double(n))
  }
  expect_identical(find_smallest_n(function(cases) rep(-1, length(cases)), 2, 100), 2)
  expect_identical(find_smallest_n(function(cases) rep(1, length(cases)), 2, 100), NA_real_)
})

# One judge, 500 cases, 400 of which pass; 50 gold cases at random.
one_judge_store <- function(n = 500) {
  table <- c(37, 3, 2, 8)
  verdict <- c(
    rep(c("pass", "pass", "fail", "fail"), table), rep("pass", 0.8 * n - 40),
    rep("fail", 0.2 * n - 10)
  )
  x <- ratings(data.frame(judge = verdict), raters = judge, systems = c(app = "pass"))
  gold <- data.frame(case = 1:50, truth = rep(c("pass", "fail", "pass", "fail"), table))
  list(x = x, gold = gold, estimate = quiet(
    estimate_accuracy(x, known_truth = gold, gold_sample = "random")
  ))
}

test_that("a pilot of one judge plans what is still needed", {
  of <- one_judge_store()
  settled <- function(plan) {
    table <- tidy(plan)
    table[table$interval == "corrected", ]
  }
  plan <- plan_gold(of$estimate, half_width = 0.06)
  row <- settled(plan)
  expect_identical(c(row$gold, row$labelled, row$more), c(80, 50, 30))
  expect_lt(abs(row$half_width - 0.0599371), 1e-6)
  expect_true(all(is.na(row[c("lowest", "highest", "worth_lowest", "worth_highest")])))
  fixed <- settled(plan_gold(of$estimate, half_width = 0.06, gold = 79))
  expect_lt(abs(fixed$half_width - 0.0602684), 1e-6)
  expect_identical(fixed$more, 29)
  expect_identical(settled(plan_gold(of$estimate, half_width = 0.05))$gold, 123)
  never <- plan_gold(of$estimate, half_width = 0.03)
  expect_identical(settled(never)$gold, NA_real_)
  expect_lt(abs(utils::tail(tidy(never, "curve")$half_width, 1) - 0.0304272), 1e-6)
  expect_identical(settled(plan_gold(one_judge_store(2000)$estimate, half_width = 0.05))$gold, 107)
  # The cases to label are not those that are labelled.
  sheet <- augment(plan)
  expect_identical(nrow(sheet), 30L)
  expect_false(any(sheet$case %in% of$gold$case))
  expect_equal(unique(sheet$probability), 80 / 500)
  expect_identical(plan$settings$choice, "random")
  # Enough is enough.
  expect_identical(nrow(augment(plan_gold(of$estimate, half_width = 0.1))), 0L)
})

test_that("one judge without gold plans as for gold alone", {
  of <- one_judge_store()
  for (half in c(0.05, 0.06)) {
    table <- tidy(plan_gold(of$x, half))
    expect_identical(table$gold, rep(c(`0.05` = 172, `0.06` = 120)[[format(half)]], 2))
    expect_identical(table$worth, c(1, 1))
  }
  expect_identical(plan_gold(of$x)$settings$choice, "random")
  expect_identical(plan_gold(of$x, choice = "stratified")$settings$choice, "stratified")
  # Reruns and groups are a vote.
  twice <- ratings(data.frame(a = rep(c("pass", "pass", "fail"), 40), b = "pass", c = "pass"),
    raters = a:c, systems = c(app = "pass"), rater_groups = c(a = "p", b = "p", c = "p"))
  expect_identical(plan_gold(twice)$settings$choice, "random")
})

test_that("costs are split between labels and verdicts", {
  of <- one_judge_store()
  costs <- tidy(plan_gold(of$estimate, 0.05, cost = c(gold = 20, rating = 1)), "costs")
  expect_identical(costs$raters, c("as they are", "one more", "split"))
  split <- c(costs$gold[[3]], costs$ratings[[3]], costs$cost[[3]])
  expect_lt(max(abs(split - c(123.7056, 495.3763, 2969.489))), 1e-3)
  expect_equal(costs$gold[[1]], 73)
  # Nothing costs less: half-width of gold labels and ratings by the same formula.
  delta <- 0.5550032
  v <- 0.78 * 0.22
  cost <- function(log_cases) {
    cases <- exp(log_cases)
    size <- v / (0.05 / stats::qnorm(0.95))^2
    gold <- delta / (1 / size - (1 - delta) / cases)
    20 * gold + cases
  }
  best <- stats::optimise(cost, log(c(100, 5000)), tol = 1e-8)
  expect_equal(best$objective, costs$cost[[3]], tolerance = 1e-6)
  # Ratings that cost more than they save are not bought: labels only.
  dear <- tidy(plan_gold(of$estimate, 0.05, cost = c(gold = 1, rating = 1)), "costs")
  expect_equal(dear$ratings[[3]], 0)
  expect_equal(dear$cost[[3]] * 20, 3714.170, tolerance = 1e-6)
})

test_that("a pilot of a panel plans with what it has measured", {
  x <- planned_store()$fit$x
  set.seed(5)
  gold <- truth(x)[sample(600, 40), ]
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  plan <- plan_gold(estimate, half_width = 0.06, interval = "corrected", choice = "random")
  table <- tidy(plan)
  for (s in 1:2) {
    row <- table[table$system == c("a", "b")[[s]] & table$interval == "corrected", ]
    found <- gold_accuracy(estimate$gold$evidence, s)
    half <- function(m) {
      error <- pmin(found$ratio * (1 - m / 600) / m + 1 / 600, 1 / m)
      wilson_half_width(found$estimate, 1 / error, stats::qnorm(0.95))
    }
    expect_equal(row$gold, min(which(half(1:600) <= 0.06)))
    expect_equal(row$half_width, half(row$gold))
    expect_equal(row$worth, 1 / found$ratio)
    expect_identical(row$labelled, 40)
  }
  expect_identical(nrow(augment(plan)), as.integer(max(table$more[table$interval == "corrected"])))
  # The same for other orders of cases and systems.
  other <- estimate_accuracy(x[600:1, , 2:1], known_truth = gold, gold_sample = "random")
  other <- tidy(plan_gold(other, half_width = 0.06, interval = "corrected"))
  other <- other[other$interval == "corrected", ]
  expect_equal(other$gold, rev(table$gold[table$interval == "corrected"]))
  # Other quantities leave labelled cases out, too.
  recall <- plan_gold(estimate, 0.1, of = "recall", category = 2, systems = "a")
  expect_output(print(recall), "used only in plans for an\\s+accuracy")
  expect_false(any(augment(recall)$case %in% gold$case))
  # Random cases are added to random ones.
  sheet <- augment(plan)
  sheet$truth <- truth(x)$category[match(sheet$case, truth(x)$case)]
  more <- stats::update(estimate, known_truth = sheet[c("case", "truth")])
  expect_length(more$gold$case, 40L + nrow(sheet))
})

test_that("probabilities of a pilot and a further draw are those of either", {
  skip_unless_nightly()
  x <- planned_store()$fit$x
  label <- function(cases) truth(x)$category[match(cases, truth(x)$case)]
  total <- function(pilot, choice) {
    estimate <- quiet(estimate_accuracy(x, known_truth = pilot, interval = "corrected"))
    plan <- plan_gold(estimate, half_width = 0.05, choice = choice)
    sheet <- augment(plan)
    expect_false(any(sheet$case %in% pilot$case))
    sheet$truth <- label(sheet$case)
    known <- rbind(tidy(plan, "labelled"), sheet)
    both <- quiet(estimate_accuracy(x, known_truth = known, interval = "corrected"))
    expect_length(both$gold$case, nrow(known))
    sum(1 / known$probability)
  }
  for (choice in c("random", "stratified", "active")) {
    cases <- vapply(1:6, function(seed) {
      set.seed(seed)
      pilot <- augment(plan_gold(x, gold = 40, choice = "random"))
      pilot$truth <- label(pilot$case)
      total(pilot, choice)
    }, 0)
    expect_lt(abs(mean(cases) - 600), 40)
  }
  cases <- vapply(1:6, function(seed) {
    set.seed(seed)
    pilot <- augment(plan_gold(x, gold = 60))
    pilot$truth <- label(pilot$case)
    total(pilot, "stratified")
  }, 0)
  expect_lt(abs(mean(cases) - 600), 40)
  # By hand, after a random pilot of 40.
  set.seed(1)
  gold <- truth(x)[sample(600, 40), ]
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  plan <- plan_gold(estimate, half_width = 0.05, choice = "stratified", interval = "corrected")
  sheet <- augment(plan)
  own <- 1 - (1 - sheet$probability) / (1 - 40 / 600)
  expect_equal(sum(1 / own), 560, tolerance = 0.1)
  # Nothing is known of a pilot whose probabilities have no pattern.
  odd <- cbind(gold, probability = seq(0.05, 0.1, length.out = 40))
  estimate <- quiet(estimate_accuracy(x, known_truth = odd))
  expect_true(all(is.na(augment(plan_gold(estimate))$probability)))
})

test_that("gold that contradicts ratings leaves no combined interval to plan", {
  x <- planned_store()$fit$x
  gold <- truth(x)[1:60, ]
  answer <- x$categories[x$patterns$answer[x$index[1:60], 1]]
  gold$category <- ifelse(answer == x$categories[[1]], x$categories[[2]], x$categories[[1]])
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random", systems = "a"))
  expect_lt(estimate$gold$details$p.value, 0.01)
  expect_identical(tidy(plan_gold(estimate))$interval, c("gold alone", "corrected"))
})

test_that("plans with a pilot print", {
  local_reproducible_output(width = 80)
  of <- one_judge_store()
  expect_snapshot({
    plan_gold(of$estimate, half_width = 0.06, cost = c(gold = 20, rating = 1))
    plan_gold(of$estimate, half_width = 0.1)
    plan_gold(of$x, half_width = 0.06)
    format(plan_gold(of$estimate, half_width = 0.06))
  })
})

test_that("a plan has the target of the estimate", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8), 2, n = 200))
  known <- gold_cases(truth(x)[1:60, ], sample = "random", target = "cases")
  estimate <- quiet(estimate_accuracy(x, known_truth = known))
  expect_identical(
    tidy(quiet(plan_gold(estimate))), tidy(quiet(plan_gold(estimate, target = "cases")))
  )
  expect_identical(glance(quiet(plan_gold(estimate)))$target, "cases")
})

# Two versions with 300 cases each, rated by one judge.
versions_example <- function() {
  set.seed(4)
  data <- data.frame(
    id = 1:600, version = rep(c("new", "old"), each = 300),
    right = stats::runif(600) < rep(c(0.85, 0.7), each = 300)
  )
  data$judge <- ifelse(stats::runif(600) < 0.9, data$right, !data$right)
  list(truth = data[c("id", "right")], x = ratings(data,
    raters = judge, case = id, systems = c(app = "TRUE"), covariates = version,
    rater_kind = "model"
  ))
}

test_that("a difference of groups is planned, labelled and compared", {
  of <- versions_example()
  labels_of <- function(sheet) {
    data.frame(case = sheet$case, truth = of$truth$right[match(sheet$case, of$truth$id)])
  }
  set.seed(1)
  plan <- plan_gold(of$x, 0.12, of = "difference", by = version)
  expect_identical(unique(tidy(plan)$group), c("new", "old"))
  single <- plan_gold(of$x[1:300, ], 0.12 / sqrt(2), interval = "corrected")
  expect_identical(plan$new$answer, single$answer)
  sheet <- augment(plan)
  expect_equal(as.vector(table(sheet$group)), tidy(plan)$more[c(2, 4)])
  estimate <- estimate_accuracy(of$x,
    by = version, known_truth = labels_of(sheet), gold_sample = "random"
  )
  difference <- tidy(compare_systems(estimate))
  expect_lt((difference$conf.high - difference$conf.low) / 2, 0.12)
  expect_output(print(plan), "Difference of two groups within 0.120 (each group within 0.085)",
    fixed = TRUE)
  expect_output(print(plan), "A true difference of 0.181 is detected")
  expect_output(print(plan), "Pass rate of the population, within 0.12 for\\s+the difference")
  expect_identical(attributes(plan$new$settings$half_width), NULL)
  expect_error(ggplot2::autoplot(plan), "x\\[\\[\"new\"\\]\\]", class = "fallible_error_argument")
  unreached <- plan_gold(of$x, 0.01, of = "difference", by = version)
  expect_output(print(unreached), "Difference of two groups within 0.060", fixed = TRUE)

  # A pilot, and a fixed number of labels.
  pilot <- estimate_accuracy(of$x,
    by = version, known_truth = labels_of(sheet[c(1:30, nrow(sheet) - 0:29), ]),
    gold_sample = "random"
  )
  more <- plan_gold(pilot, 0.1, of = "difference")
  expect_identical(unique(tidy(more)$labelled), 30)
  expect_true(all(tidy(more)$half_width <= 0.1 / sqrt(2)))
  paragraph <- may_say(pilot, "methods")
  expect_match(paragraph[[1]], "^new .same methods for the others.: The pass rate was estimated")
  expect_identical(paragraph[-1], may_say(pilot[["new"]], "methods")[-1])
  fixed <- plan_gold(pilot, of = "difference", gold = 60)
  half_widths <- vapply(fixed, function(plan) glance(plan)$half_width, 0)
  expect_output(print(fixed), format(round(sqrt(sum(half_widths^2)), 3)))
  # Accuracies of groups keep the half-width.
  expect_identical(plan_gold(pilot, 0.1)$old$settings$half_width, 0.1)
  expect_error(plan_gold(pilot, by = version), class = "fallible_error_argument")
  expect_error(plan_gold(of$x, by = nothing), class = "fallible_error_argument")
})

test_that("the power of a planned difference is that of a normal interval", {
  plan <- planned(half_width = 0.08, of = "difference", conf_level = 0.95)
  detected <- tidy(plan)$half_width[[2]] * (1 + stats::qnorm(0.8) / stats::qnorm(0.975))
  expect_output(print(plan), paste("difference of", format_decimals(detected), "is detected"))
})

# 200 clusters of 5 cases with the same truth and the same ratings. Returns a function that
# estimates accuracies with the truth of some cases.
clustered_example <- function() {
  cluster <- rep(1:200, each = 5)
  truth <- sample(c("x", "y"), 200, TRUE)
  rate <- function(p) ifelse(runif(200) < p, truth, ifelse(truth == "x", "y", "x"))[cluster]
  data <- data.frame(id = 1:1000, a = rate(0.8), b = rate(0.75), c = rate(0.7), s = rate(0.8),
    cluster = cluster)
  x <- ratings(data, case = id, raters = a:c, systems = s, covariates = cluster,
    rater_kind = "expert")
  function(cases, ...) {
    quiet(estimate_accuracy(x, interval = "corrected", resampling = list(cluster = "cluster"),
      gold_sample = "random",
      known_truth = data.frame(case = cases, truth = truth[cluster[cases]])
    ))
  }
}

test_that("a plan uses the clusters of the pilot", {
  set.seed(5)
  estimate_cases <- clustered_example()
  estimate <- function(clusters) estimate_cases(which(rep(1:200, each = 5) %in% clusters))
  pilot <- estimate(sample(200, 40))
  half_width <- with(tidy(pilot), (conf.high - conf.low) / 2)
  rows <- function(...) {
    table <- tidy(quiet(plan_gold(pilot, interval = "corrected", ...)))
    table[table$interval == "corrected", ]
  }
  # With the labels of the pilot, the plan has its half-width.
  expect_equal(rows(gold = 200)$half_width / half_width, 1, tolerance = 0.1)
  # A smaller half-width needs more labels, and reaches it.
  needed <- rows(half_width = 0.07)$gold
  expect_gt(needed, 200)
  reached <- with(tidy(estimate(sample(200, ceiling(needed / 5)))), (conf.high - conf.low) / 2)
  expect_lt(reached, 0.08)
})

test_that("the more cases are gold, the more clusters widen every interval of a plan", {
  set.seed(6)
  estimate <- clustered_example()
  pilots <- replicate(4, estimate(sample(1000, 150)), simplify = FALSE)
  half_widths <- function(estimate) {
    rows <- tidy(estimate, "gold")
    rows <- rows[match(c("gold alone", "corrected"), rows$interval), ]
    (rows$conf.high - rows$conf.low) / 2
  }
  for (gold in c(400, 700)) {
    reached <- rowMeans(replicate(4, half_widths(estimate(sample(1000, gold)))))
    planned <- vapply(pilots, function(pilot) {
      table <- tidy(quiet(plan_gold(pilot, gold = gold)))
      table$half_width[match(c("gold alone", "corrected"), table$interval)]
    }, c(0, 0))
    expect_equal(rowMeans(planned) / reached, c(1, 1), tolerance = 0.1)
  }
  pilot <- pilots[[1]]
  nearly_all <- estimate(1:999)
  half_width <- half_widths(nearly_all)[[1]]
  unreached <- quiet(plan_gold(pilot, half_width = 0.8 * half_width))
  expect_identical(tidy(unreached)$gold, rep(NA_real_, nrow(tidy(unreached))))
  # gate() computes the number of needed cases from the same error.
  expect_identical(
    tidy(quiet(gate(pilot, tidy(pilot)$estimate - 0.8 * half_width)))$needed, NA_integer_
  )
})

test_that("gold cases without clusters of errors hardly change the design effect of a plan", {
  # One gold case per cluster contains no information on clusters.
  pilot_of <- function(seed, one_per_cluster) {
    set.seed(seed)
    cluster <- rep(1:40, length.out = 2000)
    truth <- sample(c("x", "y"), 2000, TRUE)
    rate <- function(p) ifelse(runif(2000) < p, truth, ifelse(truth == "x", "y", "x"))
    x <- ratings(data.frame(a = rate(0.8), b = rate(0.75), c = rate(0.85), s = rate(0.85)),
      raters = a:c, systems = s, rater_kind = "crowd")
    drawn <- sample(2000)
    gold <- if (one_per_cluster) drawn[!duplicated(cluster[drawn])] else drawn[1:40]
    estimate <- quiet(estimate_accuracy(x, resampling = list(cluster = cluster),
      known_truth = data.frame(case = gold, truth = truth[gold]), gold_sample = "random"))
    c(extract_pilot(estimate$gold, 1L)$full_design,
      extract_gold_accuracy(estimate$gold, 1L)$full_design)
  }
  single <- vapply(1:5, pilot_of, c(0, 0), TRUE)
  expect_identical(single[1, ], single[2, ])
  # The test of the correlation is at level .05.
  random <- vapply(1:40, pilot_of, c(0, 0), FALSE)
  expect_lte(sum(random[1, ] > random[2, ]), 6)
})

test_that("the correlation in clusters is tested at level .05 and is at most 1", {
  set.seed(8)
  correlation <- function(n_clusters, is_weighted, n = 40) {
    w <- if (is_weighted) exp(rnorm(n)) else rep(1, n)
    correlation_in_clusters(runif(n) < 0.8, w, sample(n_clusters, n, TRUE))
  }
  for (n_clusters in c(20, 100)) {
    for (is_weighted in c(FALSE, TRUE)) {
      found <- replicate(3000, correlation(n_clusters, is_weighted))
      expect_lt(mean(found > 0), 0.08)
      expect_gte(min(found), 0)
      expect_lte(max(found), 1)
    }
  }
  # Clusters of equal answers, clusters of one case, and right answers only.
  cluster <- rep(1:30, each = 2)
  equal <- rep(rep(c(TRUE, FALSE), c(20, 10)), each = 2)
  expect_gt(correlation_in_clusters(equal, rep(1, 60), cluster), 0.8)
  many <- function(x) rep(x, 100)
  expect_gt(correlation_in_clusters(many(equal), rep(1, 6000), cluster + 30 * rep(0:99, each = 60)),
    0.98)
  # Three equal pairs among many single cases hardly show how large the correlation is.
  few <- correlation_in_clusters(c(TRUE, TRUE, FALSE, FALSE, FALSE, FALSE, rep(TRUE, 14)),
    rep(1, 20), c(1, 1, 2, 2, 3, 3, 4:17))
  expect_gt(few, 0.5)
  expect_lt(few, 0.9)
  expect_identical(correlation_in_clusters(equal, rep(1, 60), 1:60), 0)
  expect_identical(correlation_in_clusters(rep(TRUE, 60), rep(1, 60), cluster), 0)
  # With independent answers, the correlation of deviations from the mean is not 0 on average.
  w <- rep(1:3, 20)
  pairs_of_w <- matrix(w, 2)
  plain <- replicate(3000, {
    y <- runif(60) < 0.7
    pairs <- matrix((y - weighted.mean(y, w)) * w, 2)
    sum(pairs[1, ] * pairs[2, ]) / sum(pairs_of_w[1, ] * pairs_of_w[2, ]) / 0.21
  })
  expect_lt(abs(mean(plain) + sum(w^2) / sum(w)^2), 3 * sd(plain) / sqrt(3000))
})

test_that("a plan that does not use clusters says so", {
  set.seed(6)
  estimate <- clustered_example()
  ignored <- "taken as independent, so the half-width can be larger"
  pilot <- estimate(sample(1000, 50))
  expect_no_match(paste(capture.output(print(quiet(plan_gold(pilot)))), collapse = " "), "taken as")
  expect_output(
    print(quiet(plan_gold(pilot, 0.1, of = "precision", category = "x"))), ignored
  )
  # Gold cases are in two clusters.
  expect_output(print(quiet(plan_gold(estimate(1:10)))), ignored)
})

test_that("where cases are too few, the plan prints what all cases give", {
  plan <- planned(half_width = 0.01)
  lines <- capture.output(print(plan))
  expect_match(lines, "> 600 +0[.]0", all = FALSE)
  expect_no_match(lines, "NA")
  expect_no_match(lines, "lowest")
  expect_false(anyNA(tidy(plan)$half_width))
})

test_that("a plan shows how its labels are given, with the columns that identify cases", {
  data <- expand.grid(prompt = sprintf("p%03d", 1:150), version = c("v1", "v2"),
    stringsAsFactors = FALSE)
  data$topic <- rep(c("x", "y", "z"), 100)
  set.seed(3)
  data$truth <- sample(c("a", "b"), 300, TRUE)
  for (name in c("r1", "r2", "r3", "s")) {
    data[[name]] <- ifelse(stats::runif(300) < 0.8, data$truth, ifelse(data$truth == "a", "b", "a"))
  }
  x <- ratings(data, raters = r1:r3, systems = s, case = c(prompt, version), covariates = topic)
  plan <- quiet(plan_gold(x, half_width = 0.08))
  text <- paste(capture.output(print(plan)), collapse = " ")
  expect_match(text, "known_truth = new without +gold_sample")
  expect_match(text, "computed for random cases")
  new <- augment(plan)
  expect_identical(paste(new$prompt, new$version, sep = "/"), as.character(new$case))
  row <- match(new$case, paste(data$prompt, data$version, sep = "/"))
  expect_identical(new$topic, data$topic[row])
  new$truth <- data$truth[row]
  expect_identical(glance(quiet(estimate_accuracy(x, known_truth = new)))$gold, nrow(new))
  random <- quiet(plan_gold(x, half_width = 0.08, choice = "random"))
  expect_identical(tidy(random)$gold, tidy(plan)$gold)
  expect_no_match(capture.output(print(random)), "computed for random")
})

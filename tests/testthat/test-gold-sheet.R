test_that("the completed table of plan_gold() updates an estimate", {
  x <- gold_panel(n = 300, m = 40)$x
  truths <- truth(x)
  fill <- function(plan) {
    new <- augment(plan)
    new$truth <- as.character(truths$category[match(new$case, truths$case)])
    new
  }
  estimate <- quiet(
    estimate_accuracy(x, known_truth = truths[sample(300, 60), ], gold_sample = "random")
  )
  set.seed(1)
  plan <- plan_gold(estimate, gold = 120)
  new <- fill(plan)
  expect_gt(length(unique(new$probability)), 1L)
  expect_error(update(estimate, new), "rbind(tidy(plan, \"labelled\"), new)",
    fixed = TRUE, class = "fallible_error_gold")
  all <- rbind(tidy(plan, "labelled"), new)
  batch <- all[1:2, ]
  batch$probability[[1]] <- batch$probability[[1]] / 2
  expect_error(update(quiet(estimate_accuracy(x, known_truth = all[-2, ])), batch),
    "given again, with different\\s+probabilities", class = "fallible_error_gold")
  expect_equal(tidy(update(estimate, all)), tidy(estimate_accuracy(x, known_truth = all)))
  # Equal probabilities and a random sample are the same statement.
  random <- fill(plan_gold(estimate, gold = 120, choice = "random"))
  expect_identical(length(unique(random$probability)), 1L)
  expect_equal(
    update(estimate, random, gold_sample = "random"),
    update(estimate, random[c("case", "truth")])
  )
  expect_error(update(estimate, new, gold_sample = "random"), class = "fallible_error_argument")
})

test_that("a table of cases that is not complete is reported, with the interval that was used", {
  x <- gold_panel(n = 300, m = 40)$x
  truths <- truth(x)
  set.seed(1)
  sheet <- augment(plan_gold(x, gold = 30, choice = "random"))
  sheet$truth <- as.character(truths$category[match(sheet$case, truths$case)])
  sheet$truth[1:20] <- ""
  quiet(expect_warning(
    estimate <- estimate_accuracy(x, known_truth = sheet), "20 of 30 cases",
    class = "fallible_warning_gold_incomplete"
  ))
  expect_identical(estimate$gold$case, which(x$cases %in% sheet$case[21:30]))
  expect_match(tidy(estimate)$reason, "or drawn cases have no truth")
  shown <- utils::capture.output(print(estimate))
  expect_length(grep("Interval (robust)", shown, fixed = TRUE), 1L)
  sheet$truth[1:20] <- NA
  expect_equal(tidy(quiet(estimate_accuracy(x, known_truth = sheet))), tidy(estimate))
})

test_that("labels are those of a sample with the same standard error", {
  set.seed(5)
  x <- simulate_ratings(rater_design(c(0.9, 0.88, 0.88), c(a = 0.95), 2, 400))
  known <- truth(x)[sample(400, 60), ]
  sources <- tidy(quiet(estimate_accuracy(x, known_truth = known, gold_sample = "random")), "gold")
  only_gold <- sources[sources$interval == "gold alone", ]
  expect_equal(sources$labels, only_gold$labels * (only_gold$std.error / sources$std.error)^2)
})

test_that("an error about columns of known truth names the columns that were given", {
  x <- ratings(
    data.frame(prompt = rep(1:30, 2), version = rep(c("v1", "v2"), each = 30),
      a = rep(c("p", "q", "q"), 20), b = rep(c("p", "q"), 30)),
    case = c(prompt, version), raters = c(a, b), systems = c(s = "p")
  )
  known <- data.frame(prompt = 1:2, version = "v1", human = c("p", "q"))
  expect_error(estimate_accuracy(x, known_truth = known), "\"prompt\", \"version\", and \"human\"",
    class = "fallible_error_columns")
})

test_that("a plan without cases to label returns none, with a message", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 60))
  plan <- plan_gold(x, half_width = 0.02)
  expect_message(cases <- augment(plan), "no cases to label. Not reached")
  expect_identical(nrow(cases), 0L)
})

test_that("a plan for cases begins with the error that more cases do not reduce", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(a = 0.8), 2, 400))
  plan <- plan_cases(x, half_width = 0.05, runs = 20)
  error <- quiet(estimate_accuracy(x))
  hidden <- sqrt(tidy(error)$std.error^2 - tidy(error, "details")$sampling^2) * qnorm(0.95)
  expect_gt(hidden, 0.05)
  expect_match(format(plan), sprintf("^More cases cannot .* \\+-%s,.*; Needed: ",
    formatC(hidden, format = "f", digits = 3)))
  expect_no_match(format(plan_cases(x, half_width = 0.3, runs = 20)), "More cases")
})

test_that("known error rates are shown, and unnamed matrices are reported", {
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8), 2, 100))
  counts <- matrix(c(46, 6, 4, 44), 2, dimnames = list(x$categories, x$categories))
  rater <- x$raters[[1L]]
  estimate <- quiet(estimate_accuracy(x, known_raters = setNames(list(counts), rater)))
  shown <- paste(utils::capture.output(print(estimate)), collapse = " ")
  expect_match(shown, sprintf("Error rates of %s were given", rater), fixed = TRUE)
  rm(list = ls(shown_topics), envir = shown_topics)
  expect_message(
    quiet(fit_raters(x, known_raters = setNames(list(unname(counts)), rater))), "no names of rows"
  )
  judge <- ratings(data.frame(case = 1:100, j = rep(x$categories, c(30, 70))), case = case,
    raters = j, systems = c(app = x$categories[[1L]]))
  report <- notes_in_words(quiet(estimate_accuracy(judge, known_raters = list(j = counts))))
  expect_match(paste(report, collapse = " "), "is right on 46 of 50")
})

test_that("hints on arguments are about all functions that take them", {
  x <- lehner_ratings()
  expect_error(
    compare_systems(x, positive = "A"), "has the argument `category`.*Its arguments are .*`metric`"
  )
  expect_error(estimate_metrics(x, category = "A"), "Its arguments are .*`metrics`.*`positive`")
  expect_error(plan_gold(x, positive = "A"), "has the argument `category`")
})

test_that("a judge who was not asked twice has no reruns in the methods", {
  table <- expand.grid(case = 1:40, rater = c("a", "b"), KEEP.OUT.ATTRS = FALSE)
  table$rating <- rep(c("p", "q", "q", "p", "p"), 16)
  twice <- rbind(table, table[table$rater == "b", ])
  read <- function(table) suppressMessages(quiet(ratings(table, case = case, rater = rater,
    rating = rating, systems = c(s = "p"), repeats = "reruns")))
  expect_null(merge_reruns(read(twice)[, "a"])$voted)
  expect_true(merge_reruns(read(twice)[, "b"])$voted$reruns)
})

test_that("results are columns of data frames, and files", {
  x <- lehner_ratings()
  expect_identical(data.frame(x), as.data.frame(x))
  estimate <- quiet(estimate_accuracy(x, interval = "none"))
  expect_identical(data.frame(estimate), as.data.frame(estimate))
  expect_length(utils::capture.output(utils::write.csv(estimate)), 1L + nrow(tidy(estimate)))
})

test_that("metrics of several groups have intervals where they fit, and a heading", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8, t = 0.7), 2, 200))
  by <- rep(c("north", "south"), 100)
  two <- quiet(estimate_metrics(x, c("sens", "spec"), positive = x$categories[[1L]], by = by))
  shown <- utils::capture.output(print(two))
  expect_match(shown, "^ *group system +sens +spec", all = FALSE)
  expect_length(grep("north .*\\[.*\\].*\\[.*\\]", shown), 2L)
  expect_length(grep("no room", shown), 0L)
})

test_that("the report of an estimate needs the ratings", {
  estimate <- quiet(estimate_accuracy(lehner_ratings(), interval = "none"))
  expect_error(accuracy_report(estimate, "x.html"),
    "The report has the default method, model and interval", class = "fallible_error_argument")
})

numbers_of <- function(estimate) unlist(tidy(estimate)[1, c("estimate", "conf.low", "conf.high")])

# Gold cases, cases, passes; slope, ratio, estimate and interval.
judge_oracles <- list(
  A1 = list(c(37, 3, 2, 8), 500, 400, c(0.6985969, 0.5550032, 0.78, 0.6972487, 0.8451559)),
  A2 = list(c(18, 0, 0, 2), 500, 440, c(0.7635566, 0.3316871, 0.8847289, 0.7959964, 0.9378787)),
  A3 = list(c(20, 0, 0, 0), 500, 480, c(0.1666667, 0.7782995, 0.9933333, 0.8920842, 1)),
  A4 = list(c(18, 2, 0, 0), 500, 500, c(0, 1, 0.9, 0.7383370, 0.9663368)),
  A5 = list(c(5, 10, 10, 25), 500, 200, c(0.1186933, 0.9608613, 0.3118693, 0.2175946, 0.4248121)),
  A6 = list(c(30, 1, 5, 14), 1000, 700, c(0.7548348, 0.4968596, 0.7603868, 0.6821260, 0.8243415))
)

test_that("estimates by one judge and random gold are those of the table", {
  for (name in names(judge_oracles)) {
    row <- judge_oracles[[name]]
    estimate <- quiet(estimate_once(judged_once(row[[1]], row[[2]], row[[3]])))
    x <- extract_gold_accuracy(estimate$gold, 1)
    expect_lt(max(abs(c(x$slope, x$ratio, numbers_of(estimate)) - row[[4]])), 1e-6, label = name)
    expect_lt(abs(1 / tidy(estimate, "gold_details")$worth - row[[4]][[2]]), 1e-6, label = name)
  }
  row <- judge_oracles$A1
  a1 <- judged_once(row[[1]], row[[2]], row[[3]])
  expect_equal(
    unname(numbers_of(estimate_once(a1, conf_level = 0.95))[2:3]), c(0.6798774, 0.8554655),
    tolerance = 1e-6
  )
  cases <- gold_cases(a1$truth, "random", target = "cases")
  expect_equal(
    unname(numbers_of(estimate_accuracy(a1$x, known_truth = cases))[2:3]), c(0.7050269, 0.8402354),
    tolerance = 1e-6
  )
  estimate <- estimate_once(a1)
  expect_equal(tidy(estimate)$std.error, 0.0461347, tolerance = 1e-6)
  labels <- tidy(estimate, "gold")
  expect_equal(labels$labels[labels$interval == "corrected"], 83.4024303, tolerance = 1e-6)
})

test_that("the correction is that of the plain formula, in any order of cases", {
  set.seed(1)
  expect_over(1:30, function(seed) {
    set.seed(seed)
    n <- sample(c(60, 300), 1)
    m <- sample(c(5, 20, 50), 1)
    right <- rbinom(n, 1, runif(1))
    verdict <- ifelse(rbinom(n, 1, ifelse(right == 1, runif(1), runif(1))) == 1, "pass", "fail")
    gold <- sample(n, m)
    order <- c(gold, setdiff(seq_len(n), gold))
    slow <- slow_corrected(right[gold], as.double(verdict == "pass")[order])
    data <- data.frame(id = seq_len(n), judge = verdict)[sample(n), ]
    x <- ratings(data, raters = judge, case = id, systems = c(app = "pass"),
      categories = c("pass", "fail"))
    truth <- data.frame(case = gold, truth = ifelse(right[gold] == 1, "pass", "fail"))
    estimate <- quiet(estimate_accuracy(x, known_truth = truth, gold_sample = "random"))
    found <- c(numbers_of(estimate), tidy(estimate)$std.error)
    max(abs(found - slow[c("estimate", "low", "high", "error")]))
  }, 1e-8)
})

test_that("cases without a verdict have the mean prediction, and gold on them counts", {
  data <- data.frame(id = 1:100, judge = c(rep(NA, 10), rep(c("pass", "fail"), c(60, 30))))
  x <- quiet(ratings(data, raters = judge, case = id, systems = c(app = "pass")))
  truth <- data.frame(case = c(1:3, 11:30, 80:87), truth = rep(c("pass", "fail"), c(20, 11)))
  estimate <- estimate_accuracy(x, known_truth = truth, gold_sample = "random")
  q <- ifelse(is.na(data$judge), 60 / 90, data$judge == "pass")
  at <- truth$case
  slow <- slow_corrected(truth$truth == "pass", c(q[at], q[-at]))
  expect_equal(unname(numbers_of(estimate)), unname(slow[c("estimate", "low", "high")]))
})

test_that("a judge that is worse than chance leaves gold alone", {
  estimate <- estimate_once(judged_once(c(2, 18, 18, 2), 400, 200))
  expect_equal(unname(numbers_of(estimate)), c(0.5, wilson_interval(0.5, 40, qnorm(0.95))))
  expect_identical(tidy(estimate, "gold_details")$worth, 1)
})

test_that("gold of all cases is the share", {
  data <- judged_once(c(10, 2, 1, 7), 20, 12)
  cases <- gold_cases(data$truth, "random", target = "cases")
  estimate <- quiet(estimate_accuracy(data$x, known_truth = cases))
  expect_equal(unname(numbers_of(estimate)), c(0.55, 0.55, 0.55))
  population <- quiet(estimate_once(data))
  expect_equal(unname(numbers_of(population)), c(0.55, wilson_interval(0.55, 20, qnorm(0.95))))
})

test_that("where all gold cases are right intervals reach 1, with any number of raters", {
  data <- judged_once(c(20, 0, 0, 0), 500, 480)
  for (interval in c("corrected", "combined", "anytime")) {
    expect_identical(tidy(estimate_once(data, interval = interval))$conf.high, 1)
  }
  wrong <- judged_once(c(0, 15, 0, 5), 500, 300)
  expect_identical(tidy(quiet(estimate_once(wrong)))$conf.low, 0)
  # Three gold cases, all wrong: the prior of "combined" does not reach 0
  row <- rule_rows()[[3]]
  row$x$seen <- row$x$alone
  corrected <- corrected_interval(row$x, "population", 0.9)
  expect_equal(c(corrected$conf.low, corrected$conf.high), c(0, 0.57375), tolerance = 1e-5)
  none <- extend_to_boundary(list(conf.low = NA_real_, conf.high = NA_real_), list(seen = 1))
  expect_identical(none$conf.high, NA_real_)
})

test_that("gold that was picked by hand measures nothing", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  for (sample in list("given", NULL)) {
    estimate <- quiet(estimate_once(data, gold_sample = sample))
    expect_true(all(is.na(tidy(estimate)[c("estimate", "conf.low", "conf.high")])))
    expect_identical(estimate$table$why, "one_rater")
  }
  expect_warning(estimate_once(data, gold_sample = NULL), class = "fallible_warning_hand_picked")
  expect_silent(estimate_once(data, gold_sample = "given"))
})

test_that("one rater is refused without gold, and other methods and intervals with it", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  expect_error(estimate_accuracy(data$x), class = "fallible_error_raters")
  plain <- ratings(data.frame(id = 1:4, judge = c("a", "b")), raters = judge, case = id)
  expect_error(estimate_accuracy(plain), "systems = c", class = "fallible_error_system")
  for (interval in c("robust", "bootstrap", "none", "posterior")) {
    error <- expect_error(
      estimate_once(data, interval = interval), class = "fallible_error_argument"
    )
    expect_identical(error$arg, "interval")
  }
  for (method in c("joint", "binned")) {
    error <- expect_error(estimate_once(data, method = method), class = "fallible_error_argument")
    expect_identical(error$arg, "method")
  }
  expect_error(estimate_once(data, model = dawid_skene()), class = "fallible_error_argument")
  expect_error(
    estimate_accuracy(data$x, function(x) 1, known_truth = data$truth),
    class = "fallible_error_raters"
  )
  fit <- fit_raters(data$x, dawid_skene(), known_truth = data$truth)
  expect_error(estimate_accuracy(fit), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    estimate_accuracy(data$x)
    estimate_once(data, interval = "robust")
    estimate_once(data, method = "joint")
    estimate_accuracy(fit)
  })
})

test_that("combined intervals of one rater are corrected ones", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  estimate <- estimate_once(data)
  expect_identical(glance(estimate)$interval, "corrected")
  expect_identical(estimate_once(data, interval = "combined"), estimate)
  more <- data.frame(case = paste0("q", 51:60), truth = "pass")
  expect_identical(glance(update(estimate, more, interval = "combined"))$interval, "corrected")
  all <- list(x = data$x, truth = rbind(data$truth, more))
  expect_equal(tidy(update(estimate, more)), tidy(estimate_once(all)))
})

test_that("groups are estimated separately, with the reason where gold is no sample of them", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  half <- stats::setNames(rep(c("u", "v"), 250), paste0("q", 1:500))
  by <- estimate_once(data, by = half)
  one <- data$x[which(half == "u"), ]
  alone <- estimate_accuracy(one, gold_sample = "random",
    known_truth = data$truth[half[data$truth$case] == "u", ])
  expect_equal(numbers_of(by[["u"]]), numbers_of(alone))
  probability <- stats::setNames(rep(0.9, 50), data$truth$case) # of only a part of the cases
  part <- quiet(estimate_once(data, gold_sample = probability))
  expect_identical(tidy(part)$estimate, NA_real_)
  expect_identical(unname(tidy(part)$reason), unname(reason_not_all_drawn))
  expect_identical(part$table$why, "one_rater")
})

test_that("gold cases of a cluster are not independent", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  pairs <- stats::setNames(rep(1:250, each = 2), paste0("q", 1:500))
  clustered <- estimate_once(data, resampling = list(cluster = pairs))
  plain <- estimate_once(data)
  width <- function(estimate) diff(numbers_of(estimate)[2:3])
  expect_gt(width(clustered), width(plain))
  few <- stats::setNames(rep(1:4, 125), paste0("q", 1:500))
  expect_identical(tidy(estimate_once(data, resampling = list(cluster = few)))$conf.low, NA_real_)
})

test_that("reruns of the judge count as shares", {
  data <- data.frame(
    id = rep(1:200, each = 3), judge = "m", verdict = rep(c("p", "p", "f", "p", "f", "f"), 100)
  )
  x <- ratings(data, case = id, rater = judge, rating = verdict, repeats = "reruns",
    systems = c(app = "p"))
  truth <- data.frame(case = 1:40, truth = rep(c("p", "f"), 20))
  estimate <- estimate_accuracy(x, known_truth = truth, gold_sample = "random")
  slow <- slow_corrected(rep(c(1, 0), 20), rep(c(2, 1) / 3, 100))
  expect_equal(unname(numbers_of(estimate)), unname(slow[c("estimate", "low", "high")]))
})

test_that("a classifier that one rater judges has metrics, a confusion matrix and a rival", {
  set.seed(1)
  labels <- c("a", "b", "c")
  truth <- sample(labels, 400, TRUE, c(0.5, 0.3, 0.2))
  answers <- function(accuracy) ifelse(runif(400) < accuracy, truth, sample(labels, 400, TRUE))
  data <- data.frame(id = 1:400, judge = answers(0.8), one = answers(0.7), two = answers(0.85))
  x <- ratings(data, raters = judge, case = id, systems = c(one, two))
  gold <- data.frame(case = 1:400, truth)[sample(400, 80), ]
  estimate <- estimate_accuracy(x, known_truth = gold, gold_sample = "random")
  at <- gold$case
  q <- as.double(data$judge == data$one)
  slow <- slow_corrected(truth[at] == data$one[at], c(q[at], q[-at]))
  expect_equal(unname(numbers_of(estimate)), unname(slow[c("estimate", "low", "high")]))
  metrics <- tidy(estimate_metrics(estimate, c("accuracy", "recall", "precision", "f_meas")))
  expect_false(anyNA(metrics$conf.low))
  row <- metrics[metrics$system == "one" & metrics$metric == "recall" & metrics$category %in% "b", ]
  cells <- tidy(confusion(estimate, systems = "one"), "categories")
  recall <- cells[cells$measure == "recall" & cells$category == "b", ]
  expect_equal(row$estimate, recall$estimate)
  expect_equal(row$conf.low, recall$conf.low)
  expect_identical(metrics$estimate[metrics$metric == "accuracy"], tidy(estimate)$estimate)
  direct <- estimate_metrics(x, "recall", known_truth = gold, gold_sample = "random")
  recalls <- metrics$estimate[metrics$metric == "recall"]
  expect_equal(tidy(direct)$estimate, recalls)
  expect_false(anyNA(as.matrix(confusion(estimate))[["one"]]))
  expect_false(is.na(tidy(compare_systems(estimate))$conf.low))
  # On the cases that both answered
  data$two[1:50] <- NA
  x <- ratings(data, raters = judge, case = id, systems = c(one, two))
  both <- compare_systems(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  expect_identical(glance(both)$left_out, 50)
  expect_false(is.na(tidy(both)$conf.low))
})

test_that("balanced gold that is called random is noticed", {
  balanced <- judged_once(c(23, 7, 2, 18), 400, 300)
  expect_warning(estimate_once(balanced), class = "fallible_warning_gold_by_class")
  expect_silent(estimate_once(judged_once(c(24, 7, 2, 17), 400, 300)))
  few <- judged_once(c(9, 3, 1, 7), 400, 300) # 2.6 standard errors off
  expect_silent(estimate_once(few))
  flat <- judged_once(c(20, 5, 5, 20), 400, 210)
  expect_silent(estimate_once(flat))
})

test_that("prints, sentences and pictures speak of passing", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  estimate <- estimate_once(data)
  expect_snapshot({
    estimate
    summary(estimate)
    may_say(estimate)
    writeLines(strwrap(may_say(estimate, "methods")[[1]]))
    estimate_metrics(estimate)
    may_say(estimate_metrics(estimate))
    estimate_once(data, gold_sample = "given")
    estimate_once(data, by = stats::setNames(rep(c("u", "v"), 250), paste0("q", 1:500)))
  })
  set.seed(1)
  right <- runif(240) < 0.7
  votes <- function() ifelse(runif(240) < 0.8, right, !right)
  panel <- data.frame(id = 1:240, a = votes(), b = votes(), c = votes())
  x <- ratings(panel, raters = a:c, case = id, systems = c(app = "TRUE"))
  expect_match(may_say(quiet(estimate_accuracy(x)))$sentence[1], "app passes in ", fixed = TRUE)
  expect_output(print(quiet(estimate_accuracy(x))), "passes")
})

test_that("verdicts may be numbers or logicals", {
  data <- data.frame(id = 1:40, number = rep(c(1, 0, 1, 1), 10))
  data$logical <- data$number == 1
  truth <- data$logical[1:20]
  read <- function(rater, system, truth) {
    x <- ratings(data[c("id", rater)], case = id, raters = 2, systems = system)
    estimate_accuracy(x, known_truth = data.frame(case = 1:20, truth), gold_sample = "random")
  }
  by_number <- read("number", c(app = 1), as.integer(truth))
  by_logical <- read("logical", c(app = TRUE), truth)
  expect_equal(tidy(by_number), tidy(by_logical))
  expect_equal(tidy(by_logical), tidy(read("logical", c(app = "TRUE"), truth)))
  file <- withr::local_tempfile(fileext = ".csv", lines = c("id,judge,verdict",
    paste0(1:4, ",m,", c(0, 1, 1, 0))))
  x <- read_ratings(file, case = id, rater = judge, rating = verdict, systems = c(app = 1))
  expect_identical(as.character(tidy(x, "systems")$prediction), rep("1", 4))
  expect_error(ratings(data, case = id, raters = number, systems = c(app = 2)),
    class = "fallible_error_category")
})

test_that("a covariate with the name of a system has a way out", {
  data <- data.frame(id = 1:4, app = c("u", "v"), judge = c("p", "f"))
  expect_error(
    ratings(data, raters = judge, case = id, systems = c(app = "p"), covariates = app),
    "passes = ", class = "fallible_error_columns"
  )
})

test_that("a report of one judge can be written", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  skip_if_not_installed("ggplot2")
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  file <- withr::local_tempfile(fileext = ".html")
  expect_error(accuracy_report(data$x, file), class = "fallible_error_raters")
  accuracy_report(data$x, file, known_truth = data$truth, gold_sample = "random")
  text <- paste(readLines(file, warn = FALSE), collapse = "\n")
  expect_match(text, "app passes in 78%", fixed = TRUE)
  expect_no_match(text, "Not made|kappa|What the ratings contradict")
})

test_that("reliability of runs, and what more runs are worth, are those of the table", {
  # 20 of 100 cases with one run of another kind
  kinds <- list(c("p", "p", "p"), c("f", "f", "f"), c("p", "p", "f"))
  times <- c(60, 20, 20)
  data <- data.frame(
    id = rep(1:100, each = 3), judge = "m", verdict = unlist(rep(kinds, times)), run = 1:3
  )
  x <- ratings(data, case = id, rater = judge, rating = verdict, repeats = "reruns",
    systems = c(app = "p"))
  truth <- stats::setNames(rep(c("p", "f", "p"), c(60, 20, 20)), 1:100)[seq(1, 100, 2)]
  estimate <- quiet(estimate_accuracy(x, known_truth = truth, gold_sample = "random"))
  agree <- (80 * 3 + 20) / 300
  share <- (180 + 40) / 300
  expect_equal(
    glance(estimate)$rerun_reliability, 1 - (1 - agree) / (2 * share * (1 - share))
  )
  expect_match(notes_of(plan_gold(estimate)), "one more run", all = FALSE)
  reliability <- 1 - (1 - 0.85) / (2 * 0.7 * 0.3)
  expect_equal(reliability, 0.6428571, tolerance = 1e-6)
  expect_equal(
    n_equivalent_labels(c(1, 3, 5, 1e12), 0.4, reliability),
    c(1.6666667, 2.1052632, 2.2727273, 2.6470588), tolerance = 1e-6
  )
  once <- estimate_once(judged_once(c(37, 3, 2, 8), 500, 400))
  expect_identical(glance(once)$rerun_reliability, NA_real_)
})

test_that("verbs that need one rating of each rater take the vote of reruns", {
  data <- expand.grid(run = 1:3, rater = c("m", "h", "k"), id = 1:40, stringsAsFactors = FALSE)
  set.seed(1)
  data$rating <- ifelse(runif(360) < 0.8, c("p", "f")[data$id %% 2 + 1], "f")
  read <- function(...) {
    ratings(data, case = id, rater = rater, rating = rating, repeats = "reruns",
      rater_kind = "model", ...)
  }
  x <- read()
  expect_message(found <- shared_errors(x), "count as one vote")
  expect_equal(tidy(found), tidy(shared_errors(as_ratings(x, votes = TRUE))))
  expect_message(y <- read(systems = "m"), "count as one vote")
  answers <- tidy(y, "systems")
  expect_identical(nrow(answers), 40L)
  by_hand <- tapply(data$rating[data$rater == "m"], data$id[data$rater == "m"], function(of) {
    names(which.max(table(of)))
  })
  expect_identical(as.character(answers$prediction), as.vector(by_hand[as.character(answers$case)]))
  test <- function(x) {
    suppressWarnings(alt_test(x), classes = "fallible_warning_assumption") # raters are machines
  }
  expect_message(tested <- test(y), "count as one vote")
  expect_equal(tidy(tested), tidy(test(as_ratings(y, votes = TRUE))))
  # Two runs that differ are no answer
  data <- data[data$run < 3, ]
  expect_warning(half <- suppressMessages(read(systems = "m")), "leave the case out for it",
    class = "fallible_warning_reruns")
  tied <- tapply(data$rating[data$rater == "m"], data$id[data$rater == "m"], function(of) {
    of[[1]] != of[[2]]
  })
  expect_identical(nrow(tidy(half, "systems")), sum(!tied))
})

test_that("reruns that tie count by their share, or a warning names their number", {
  set.seed(1)
  truth <- rep(c("p", "f"), 60)
  hard <- runif(120) < 0.4
  run <- function() ifelse(hard & runif(120) < 0.5, c("f", "p"), truth)
  data <- data.frame(id = rep(1:120, 3), rater = rep(c("j", "j", "k"), each = 120),
    rating = c(run(), run(), run()))
  x <- ratings(data, case = id, rater = rater, rating = rating, repeats = "reruns",
    systems = c(app = "p"), rater_kind = "model")
  expect_warning(
    errors <- suppressMessages(shared_errors(x, known_truth = setNames(truth, 1:120))),
    "leave the case out for it", class = "fallible_warning_reruns"
  )
  found <- tidy(errors, "raters")
  expect_identical(found$n, c(120, 120))
  expect_equal(found$accuracy[[1L]], mean(data$rating[1:240] == truth))
  n_ties <- sum(data$rating[1:120] != data$rating[121:240])
  expect_match(tidy(data_check(x))$found, paste0("Reruns tie: j: ", n_ties, " of 120"), all = FALSE)
  one <- ratings(data[1:240, ], case = id, rater = rater, rating = rating, repeats = "reruns",
    systems = c(app = "p"), rater_kind = "model")
  counts <- rbind(p = c(p = 80, f = 20), f = c(p = 20, f = 80))
  expect_warning(estimate_accuracy(one, known_raters = list(j = counts)),
    paste0("j: ", n_ties, " of 120 cases"), class = "fallible_warning_reruns")
  expect_warning(estimate_accuracy(one, known_raters = list(j = counts),
    by = setNames(rep(1:2, 60), 1:120)),
    "j: ", class = "fallible_warning_reruns")
})

test_that("versions of an application that pass for reruns are noticed", {
  data <- expand.grid(version = c("old", "new"), prompt = 1:6, stringsAsFactors = FALSE)
  data$judge <- "m"
  data$rating <- c("p", "f", "p")
  expect_warning(
    ratings(data, case = prompt, rater = judge, rating = rating, repeats = "reruns"),
    class = "fallible_warning_reruns"
  )
  # A latency is no version, although it differs.
  data$latency <- rep_len(c(0.1, 0.2, 0.3), 12)
  warning <- expect_warning(
    ratings(data, case = prompt, rater = judge, rating = rating, repeats = "reruns"),
    class = "fallible_warning_reruns"
  )
  expect_identical(warning$columns, "version")
  # Files of JSON, too, of which only the named columns are read otherwise
  read <- function(data, ...) {
    file <- withr::local_tempfile(fileext = ".jsonl", lines = sprintf(
      '{"item": {"id": %d}, "%s": "%s", "judge": "m", "verdict": "%s"}', data$prompt,
      names(data)[[1]], data[[1]], data$rating
    ))
    read_ratings(file, case = item.id, rater = judge, rating = verdict, ...)
  }
  if (requireNamespace("jsonlite", quietly = TRUE)) {
    expect_warning(read(data, repeats = "reruns"), "version",
      class = "fallible_warning_reruns")
    expect_error(read(data), "case = c(..., version)", fixed = TRUE, class = "fallible_error_repeat")
    expect_silent(read(transform(data, version = prompt), repeats = "reruns"))
  }
  data$run <- match(data$version, c("old", "new"))
  data$version <- NULL
  expect_silent(ratings(data, case = prompt, rater = judge, rating = rating, repeats = "reruns"))
})

test_that("reasons are those of weights that are no counts, and of systems without answers", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  table <- as.data.frame(data$x)
  table$share <- seq(0.5, 1.5, length.out = 500)
  x <- ratings(table, case = case, rater = rater, rating = rating, systems = c(app = "pass"), weights = share)
  known <- tidy(quiet(estimate_accuracy(x, known_raters = list(judge = 0.9))))
  expect_match(known$reason, "weights are not counts")
  counts <- matrix(c(40, 4, 5, 30), 2, dimnames = list(x$categories, x$categories))
  expect_error(estimate_accuracy(x, known_raters = list(judge = counts)), "weights", class = "fallible_error_argument")
  matrices <- confusion(estimate_once(data))
  categories <- tidy(matrices, "categories")
  expect_match(categories$reason[is.na(categories$estimate)], "gives all cases the same answer")
  expect_output(print(matrices), "judged by judge")
})

test_that("a plan that no number of cases reaches asks for none", {
  estimate <- estimate_once(judged_once(c(37, 3, 2, 8), 500, 400))
  expect_output(print(plan_gold(estimate, half_width = 0.05)), "label these\\s+cases")
  beyond <- plan_gold(estimate, half_width = 0.001)
  expect_identical(glance(beyond)$more, NA_real_)
  expect_no_match(paste(utils::capture.output(print(beyond)), collapse = " "), "label these +cases")
})

test_that("the note on the judge counts only gold cases with a rating", {
  x <- ratings(
    data.frame(case = 1:12, judge = "j", verdict = rep(c("no", "yes"), 6)), case = case,
    rater = judge, rating = verdict, categories = c("no", "yes"),
    systems = data.frame(case = 1:20, system = "s", prediction = rep(c("no", "yes"), 10))
  ) |> quiet()
  gold <- data.frame(case = 1:20, truth = rep(c("no", "yes"), c(9, 11)))
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  expect_identical(note_of_one_rater(estimate),
    "On gold cases j said yes for 2 of 3 with truth yes, and no for 5 of 9 with truth no.")
})

test_that("a plan counts unrated cases, as the estimate does, if one of them is a gold case", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  verdicts <- as.data.frame(data$x)
  gold_case <- data$truth$case[[1L]]
  plan_without_verdicts <- function(cases) {
    verdicts$rating[verdicts$case %in% cases] <- NA
    x <- quiet(ratings(
      verdicts, case = case, rater = rater, rating = rating, systems = c(app = "pass")
    ))
    estimate <- quiet(estimate_accuracy(x, known_truth = data$truth, gold_sample = "random"))
    plan <- plan_gold(estimate, half_width = 0.05)
    expect_identical(glance(plan)$cases, tidy(estimate, "gold_details")$cases)
    expect_identical(glance(plan)$labelled, as.double(glance(estimate)$gold))
    expect_identical(nrow(tidy(plan, "labelled")), 50L)
    glance(plan)$cases
  }
  expect_identical(plan_without_verdicts(c("q499", "q500")), 498)
  expect_identical(plan_without_verdicts(c(gold_case, "q499", "q500")), 500)
})

test_that("the error for one judge without gold cases names the truth that the ratings contain", {
  data <- judged_once(c(37, 3, 2, 8), 500, 400)
  x <- with_truth(data$x, data$truth)
  expect_error(estimate_accuracy(x), "contains the truth of 50 cases.*known_truth = TRUE",
    class = "fallible_error_raters")
})

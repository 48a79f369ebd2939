replies_of_three <- function() {
  data.frame(
    id = letters[1:6], a = c("x", "?", "y", "x", "?", NA), b = c("x", "x", "?", "y", "?", "x"),
    c = c("y", "x", "y", "x", "?", "y"), s = c("x", "?", "y", NA, "x", "y")
  )
}

wide_replies <- function(data = replies_of_three(), ..., abstain = "?") {
  ratings(data, raters = a:c, case = id, abstain = abstain, ...)
}

long_replies <- function(data, ...) {
  ratings(data, case = case, rater = rater, rating = rating, ...)
}

# Who abstained on which case.
silent_in <- function(x) {
  table <- tidy(x)
  sort(paste0(table$case, table$rater)[table$abstained])
}

test_that("abstentions are stored next to ratings, in all layouts", {
  x <- wide_replies()
  expect_identical(x$categories, c("x", "y"))
  expect_identical(silent_in(x), c("ba", "cb", "ea", "eb", "ec"))
  table <- tidy(x)
  expect_identical(is.na(table$rating), table$abstained)
  # Verbs that do not use abstentions find no rating there.
  plain <- ratings(replace(replies_of_three(), replies_of_three() == "?", NA), raters = a:c,
    case = id)
  expect_identical(x$patterns, plain$patterns)
  long <- long_replies(table[rev(seq_len(nrow(table))), ], abstain = NA)
  expect_identical(silent_in(long), silent_in(x))
  expect_identical(dim(long), dim(x))
  labelled <- transform(table, rating = ifelse(abstained, "?", as.character(rating)))
  expect_identical(silent_in(long_replies(labelled, abstain = "?")), silent_in(x))
  matrix <- as.matrix(replies_of_three()[c("a", "b", "c")])
  rownames(matrix) <- letters[1:6]
  expect_identical(silent_in(ratings(matrix, abstain = "?")), silent_in(x))
  spelt <- replies_of_three()
  spelt$a[spelt$a %in% "?"] <- "Unsure "
  spelt[c("b", "c")] <- lapply(spelt[c("b", "c")], function(x) replace(x, x %in% "?", "unsure"))
  expect_identical(silent_in(quiet(wide_replies(spelt, abstain = "UNSURE"))), silent_in(x))
  numbers <- ratings(cbind(a = c(0, 1, -1, 1), b = c(0, -1, 1, 1)), abstain = -1)
  expect_identical(silent_in(numbers), c("2b", "3a"))
})

test_that("empty cells are abstentions only where it is said", {
  x <- wide_replies(abstain = c("?", NA))
  expect_identical(silent_in(x), c("ba", "cb", "ea", "eb", "ec", "fa"))
  empty <- quiet(wide_replies(abstain = NA))
  expect_identical(silent_in(empty), "fa")
  expect_identical(empty$categories, c("?", "x", "y"))
  full <- ratings(cbind(a = c("x", "y"), b = c("y", "y")), abstain = NA)
  expect_null(full$abstained)
})

test_that("they go with cases and raters", {
  x <- wide_replies()
  expect_identical(silent_in(x[c("e", "b"), c("c", "a")]), c("ba", "ea", "ec"))
  expect_identical(silent_in(x[c(2, 2), ]), c("ba", "ba"))
  expect_null(x[c(1, 4), ]$abstained)
  expect_false("abstained" %in% names(tidy(x[1, ])))
})

test_that("files have them, whatever is missing by default", {
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(replies_of_three(), file, row.names = FALSE, na = "")
  x <- read_ratings(file, raters = a:c, case = id, systems = FALSE, abstain = "?")
  expect_identical(silent_in(x), silent_in(wide_replies()))
  expect_identical(dim(x), c(6L, 3L))
})

test_that("systems abstain by a label", {
  x <- quiet(wide_replies(systems = s))
  expect_identical(x$silent_systems[c("case", "rater")], list(case = 2L, rater = 1L))
  expect_equal(answered_case_share(x), 4 / 5)
  expect_equal(answered_case_share(x[c("a", "b"), ]), 1 / 2)
  expect_equal(answered_case_share(x[c("a", "c"), ]), 1)
  # By a label only: an empty cell was not asked.
  all <- quiet(wide_replies(systems = s, abstain = c("?", NA)))
  expect_equal(answered_case_share(all), 4 / 5)
  long <- transform(tidy(x), rating = as.character(rating))
  long$rating[long$abstained] <- "?"
  long <- long[c("case", "rater", "rating")]
  system <- data.frame(case = letters[c(1:3, 5:6)], rater = "s",
    rating = c("x", "?", "y", "x", "y"))
  among <- quiet(long_replies(rbind(long, system), systems = "s", abstain = "?"))
  expect_equal(answered_case_share(among), 4 / 5)
  expect_identical(silent_in(among), silent_in(x))
  beside <- quiet(long_replies(long, systems = system, abstain = "?"))
  expect_equal(answered_case_share(beside), 4 / 5)
})

test_that("the table of systems has a row per abstention", {
  x <- quiet(wide_replies(systems = s))
  table <- tidy(x, "systems")
  expect_identical(table$abstained, is.na(table$prediction))
  expect_identical(table$case[table$abstained], x$cases[[2L]])
  expect_identical(sum(!table$abstained), 4L)
  again <- quiet(ratings(tidy(x), case = case, rater = rater, rating = rating, systems = table,
    abstain = NA))
  expect_identical(case_answers(again)[, 1L], case_answers(x)[match(again$cases, x$cases), 1L])
  expect_identical(tidy(x[c("a", "c"), ], "systems")$abstained, c(FALSE, FALSE))
})

test_that("a warning counts cases of systems on which all raters abstained", {
  data <- data.frame(a = c("x", "y", "?", "x", NA), b = c("x", "y", "?", "y", NA),
    s = c("x", "y", "x", "?", "y"))
  warning <- expect_warning(
    ratings(data, raters = a:b, systems = s, abstain = "?"), class = "fallible_warning_unrated"
  )
  expect_match(conditionMessage(warning), "s: 2 of 4 answered cases; raters abstained on 1 of them", fixed = TRUE)
  expect_identical(warning$unrated, 2)
})

test_that("accuracies are among answers, and over all cases asked", {
  set.seed(6)
  truth <- runif(400) < 0.4
  say <- function(p) ifelse(runif(400) < p, truth, !truth)
  data <- data.frame(a = say(0.85), b = say(0.8), c = say(0.9),
    s = ifelse(runif(400) < 0.2, "?", say(0.85)), never = "?")
  x <- quiet(ratings(data, raters = a:c, systems = s:never, abstain = "?", rater_kind = "expert"))
  plain <- ratings(replace(data[-5], data[-5] == "?", NA), raters = a:c, systems = s,
    rater_kind = "expert")
  estimate <- quiet(estimate_accuracy(x))
  table <- tidy(estimate)
  expect_equal(table$estimate[[1]], tidy(estimate_accuracy(plain))$estimate)
  expect_equal(table$answered, c(mean(data$s != "?"), 0))
  expect_equal(table$accuracy_all, c(table$answered[[1]] * table$estimate[[1]], 0))
  # The interval of a product, from those of the accuracy and of the share of answers.
  share <- table$answered[[1]]
  share_limits <- drop(wilson_interval(share, 400, stats::qnorm(0.95)))
  sides <- sqrt(
    (share * (unlist(table[1, c("conf.low", "conf.high")]) - table$estimate[[1]]))^2 +
      (table$estimate[[1]] * (share_limits - share))^2
  )
  expect_equal(
    c(table$all.low[[1]], table$all.high[[1]]), table$accuracy_all[[1]] + c(-1, 1) * unname(sides)
  )
  metrics <- tidy(quiet(estimate_metrics(estimate, c("accuracy", "accuracy_all"))))
  expect_identical(metrics$metric, rep(c("accuracy", "accuracy_all"), 2L))
  all <- metrics[metrics$metric == "accuracy_all", ]
  expect_equal(all$estimate, table$accuracy_all)
  expect_equal(all$conf.low, table$all.low)
  expect_equal(all$conf.high, table$all.high)
  expect_identical(all$reason, c(NA_character_, NA))
  expect_true(is.na(table$estimate[[2]]))
  expect_true(any(grepl("s answered [0-9.]+% of its cases", capture.output(print(estimate)))))
  expect_named(tidy(estimate[1]), names(table))
  groups <- quiet(estimate_accuracy(x, systems = "s", by = rep(1:4, 100)))
  expect_false(anyNA(tidy(groups)$answered))
  expect_false("answered" %in% names(tidy(estimate_accuracy(plain))))
})

test_that("what cannot have abstentions is refused", {
  expect_snapshot(error = TRUE, wide_replies(abstain = "zz"))
  expect_snapshot(error = TRUE, wide_replies(categories = c("x", "y", "?")))
  expect_snapshot(error = TRUE, wide_replies(rater_groups = c(a = "g", b = "g")))
  data <- transform(replies_of_three(), truth = c("x", "?", "y", "x", "y", "x"))
  expect_snapshot(error = TRUE, wide_replies(data, truth = truth))
  sure <- transform(replies_of_three(), sure = TRUE)
  long <- tidy(wide_replies())
  twice <- rbind(long, transform(long[1, ], rating = NA))
  expect_snapshot(error = TRUE, long_replies(twice, abstain = NA))
  refused <- function(...) expect_error(..., class = "fallible_error_argument")
  refused(ratings(fleiss1971, case = case, counts = depression:other, abstain = "?"))
  refused(long_replies(long, abstain = NA, repeats = "ratings"))
  refused(long_replies(long, abstain = NA, repeats = "reruns"))
  refused(long_replies(long, abstain = NA, repeats = "labels"))
  refused(ratings(sure, raters = a:c, case = id, confidence = c(sure, sure, sure), abstain = "?"))
  refused(ratings(table(1:2, 1:2), abstain = "?"))
  refused(wide_replies(abstain = list("?")))
  refused(wide_replies(abstain = character()))
  expect_error(ground_truth(wide_replies(), known_truth = c(a = "?")),
    class = "fallible_error_category")
})

test_that("a declaration explains what would look strange", {
  functions <- data.frame(f = c("1", NA, NA, "1"), g = c(NA, "2", "2", NA), h = NA)
  expect_warning(ratings(functions, raters = f:h, abstain = NA), NA)
  expect_warning(
    expect_warning(ratings(functions, raters = f:h), class = "fallible_warning_raters"),
    class = "fallible_warning_labels"
  )
  x <- ratings(functions, raters = f:h, abstain = NA)
  expect_identical(dim(x), c(4L, 3L))
  expect_snapshot(format_abstentions(x))
})

test_that("without abstentions of systems accuracy_all is the accuracy", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.8, b = 0.7), 2, n = 100))
  for (interval in c("robust", "bootstrap")) {
    set.seed(3)
    estimate <- quiet(estimate_accuracy(x, interval = interval))
    found <- tidy(quiet(estimate_metrics(estimate, c("accuracy", "accuracy_all"))))
    part <- split(found[c("system", "estimate", "conf.low", "conf.high")], found$metric)
    expect_equal(part$accuracy_all, part$accuracy)
  }
})

test_that("with all truths known, accuracy over all cases has the error of a share", {
  withr::local_seed(1)
  truth <- sample(c("p", "n"), 200, TRUE)
  said <- function(p) ifelse(stats::runif(200) < p, truth, ifelse(truth == "p", "n", "p"))
  data <- data.frame(case = 1:200, r1 = said(0.8), r2 = said(0.8), r3 = said(0.8), s = said(0.95))
  data$s[stats::runif(200) < 0.5] <- "?"
  x <- quiet(ratings(data, raters = r1:r3, systems = s, case = case, abstain = "?"))
  known <- stats::setNames(truth, 1:200)
  error_of <- function(gold_sample) {
    estimate <- quiet(estimate_accuracy(x, known_truth = known, gold_sample = gold_sample,
      interval = "corrected"))
    tidy(quiet(estimate_metrics(estimate, "accuracy_all")))$std.error
  }
  right <- mean(data$s == truth)
  expect_equal(error_of("random"), sqrt(right * (1 - right) / 200), tolerance = 0.02)
  cases <- gold_cases(known, sample = "random", target = "cases")
  estimate <- quiet(estimate_accuracy(x, known_truth = cases, interval = "corrected"))
  expect_equal(tidy(estimate)$all.low, right, tolerance = 0.01)
})

grouped <- function(...) {
  ratings(lehner2015, raters = rater1:rater4, systems = system, case = case, ...)
}

clinic <- c(rater1 = "clinic", rater2 = "clinic")

# The obvious way: a vote per case and unit, NA where categories tie.
votes_by_hand <- function(answers, unit) {
  vapply(unique(unit), function(one) {
    apply(answers[, unit == one, drop = FALSE], 1L, function(row) {
      n <- sort(table(row), decreasing = TRUE)
      tied <- length(n) == 0L || (length(n) > 1L && n[[1L]] == n[[2L]])
      if (tied) NA_character_ else names(n)[[1L]]
    })
  }, character(nrow(answers)))
}

test_that("a vote is what most of a group say, and none where categories tie", {
  set.seed(1)
  expect_over(rounds(60), function(run) {
    categories <- letters[seq_len(sample(2:5, 1L))]
    answers <- matrix(sample(c(categories, NA), 60 * 7, TRUE), 60)
    colnames(answers) <- paste0("r", 1:7)
    unit <- c("g", "g", "g", "h", "h", "r6", "r7")
    groups <- stats::setNames(unit[1:5], colnames(answers)[1:5])
    x <- ratings(answers, categories = categories, rater_groups = groups)
    votes <- as_ratings(x, votes = TRUE)
    got <- matrix(NA_character_, 60, 4)
    table <- tidy(votes)
    got[cbind(table$case, match(table$rater, votes$raters))] <- as.character(table$rating)
    unless(c(
      identical(votes$raters, c("g", "h", "r6", "r7")),
      identical(got, unname(votes_by_hand(answers, unit)))
    ))
  })
})

test_that("votes keep cases, weights, systems and truth, and are cast once", {
  data <- cbind(lehner2015, w = 1:10)
  x <- ratings(data, raters = rater1:rater4, systems = system, weights = w, rater_groups = clinic,
    rater_kind = "expert")
  votes <- as_ratings(x, votes = TRUE)
  expect_identical(tidy(votes, "systems"), tidy(x, "systems"))
  expect_identical(votes$weights, x$weights)
  expect_identical(as_ratings(votes, votes = TRUE), votes)
  expect_identical(votes$rater_kind, "expert")
  plain <- ratings(data, raters = rater1:rater4)
  expect_identical(as_ratings(plain, votes = TRUE), plain)
  set.seed(1)
  simulated <- simulate_ratings(lehner_design(3))
  simulated$rater_groups <- c("a", "a", "b")
  expect_identical(truth(as_ratings(simulated, votes = TRUE)), truth(simulated))
})

test_that("a fit is one of votes", {
  x <- grouped(rater_groups = clinic)
  fit <- fit_raters(x)
  by_hand <- votes_by_hand(as.matrix(lehner2015[2:5]), c("clinic", "clinic", "rater3", "rater4"))
  y <- ratings(
    data.frame(by_hand, system = lehner2015$system), raters = 1:3, systems = system,
    categories = LETTERS[1:4]
  )
  expect_equal(tidy(fit), tidy(fit_raters(y)))
  expect_equal(ground_truth(fit)$A, ground_truth(fit_raters(y))$A)
  quiet <- function(x, ...) suppressWarnings(tidy(estimate_accuracy(x, ...)))
  expect_equal(quiet(x), quiet(y))
  expect_equal(quiet(fit), quiet(y))
  expect_equal(quiet(x, "joint", interval = "none"), quiet(y, "joint", interval = "none"))
  expect_equal(quiet(x, "binned", interval = "none"), quiet(y, "binned", interval = "none"))
  expect_equal(
    tidy(check_k_properties(x, "chance")), tidy(check_k_properties(y, "chance"))
  )
  expect_equal(tidy(update(fit, method = "likelihood")), tidy(fit_raters(y, method = "likelihood")))
})

test_that("new cases vote as those of the fit, whether their groups are declared or not", {
  fit <- fit_raters(grouped(rater_groups = clinic), rater_model("rater"))
  expected <- predict(fit)
  expect_equal(predict(fit, grouped(rater_groups = clinic)), expected)
  expect_equal(predict(fit, grouped()), expected)
  expect_equal(predict(fit, as_ratings(grouped(rater_groups = clinic), votes = TRUE)), expected)
  expect_error(predict(fit, ratings(cbind(a = "A", b = "A"), categories = LETTERS[1:4])),
    class = "fallible_error_argument")
})

test_that("groups of their own change nothing", {
  alone <- c(rater1 = "p", rater2 = "q", rater3 = "r", rater4 = "s")
  expect_equal(
    tidy(fit_raters(grouped(rater_groups = alone))), tidy(fit_raters(grouped()))
  )
  repeated <- function(...) {
    ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings", ...)
  }
  renamed <- as_ratings(repeated(rater_groups = c(A1 = "a")), votes = TRUE)
  expect_equal(tidy(renamed)$rating, tidy(repeated())$rating)
  expect_identical(renamed$raters, c("a", "A2", "A3", "A4", "A5"))
  pooled <- as_ratings(repeated(rater_groups = c(A2 = "b", A3 = "b")), votes = TRUE)
  expect_identical(sum(tidy(pooled)$rater == "A1"), 135L) # repeats of a rater who is not in a group
  votes <- as_ratings(repeated(rater_groups = c(A1 = "b", A3 = "b")), votes = TRUE)
  expect_true(all(table(tidy(votes)$case, tidy(votes)$rater) <= 1L))
})

test_that("groups come as a vector, a table or a column, and mean the same", {
  expected <- c("clinic", "clinic", "rater3", "rater4")
  table <- data.frame(rater = c("rater1", "rater2", "rater3"), group = c("clinic", "clinic", NA))
  long <- tidy(grouped())
  long$source <- factor(ifelse(long$rater %in% names(clinic), "clinic", NA))
  as_column <- function(...) ratings(long, case = case, rater = rater, rating = rating, ...)
  for (x in list(
    grouped(rater_groups = clinic), grouped(rater_groups = list2DF(list(
      rater = names(clinic), group = factor(clinic)
    ))),
    grouped(rater_groups = table), as_column(rater_groups = source),
    as_column(rater_groups = "source"), as_column(rater_groups = table),
    as_ratings(tidy(grouped(rater_groups = clinic)), rater_groups = rater_group)
  )) {
    expect_identical(x$rater_groups, expected)
  }
  expect_null(grouped(rater_groups = NULL)$rater_groups)
  numbers <- ratings(cbind(`1` = c("a", "b"), `2` = c("a", "a"), `3` = c("b", "b")),
    rater_groups = data.frame(rater = 1:2, group = 7))
  expect_identical(numbers$rater_groups, c("7", "7", "3"))
})

test_that("groups and kind stay with what is left of the ratings", {
  x <- grouped(rater_groups = clinic, rater_kind = "crowd")
  expect_identical(x[1:3, ]$rater_groups, x$rater_groups)
  expect_identical(x[, c("rater4", "rater1")]$rater_groups, c("rater4", "clinic"))
  expect_identical(x[1:3, 2:3]$rater_kind, "crowd")
  expect_identical(x[, , 1]$rater_groups, x$rater_groups)
  expect_null(grouped()[1:3, ]$rater_groups)
  expect_null(rater_kind(grouped()))
  expect_identical(rater_kind(fit_raters(x)), "crowd")
  estimate <- suppressWarnings(estimate_accuracy(x, interval = "none"))
  expect_identical(rater_kind(estimate), "crowd")
  by <- suppressWarnings(estimate_accuracy(x, by = rep(1:2, 5), interval = "none"))
  expect_identical(rater_kind(by[[1L]]), "crowd")
  counts <- ratings(fleiss1971, case = case, counts = depression:other, rater_kind = "expert")
  expect_identical(rater_kind(counts), "expert")
  crossed <- ratings(agreement_matrix(x, "rater1", "rater2"), rater_kind = "model")
  expect_identical(rater_kind(crossed), "model")
})

test_that("groups that cannot be are refused", {
  refused <- function(groups, ...) {
    expect_error(grouped(rater_groups = groups), class = "fallible_error_argument", ...)
  }
  expect_identical(refused(c(rater1 = "a", nobody = "a"))$rater, "nobody")
  expect_identical(refused(c(rater1 = "a", rater1 = "b"))$rater, "rater1")
  refused(c(rater1 = "system", rater2 = "system"))
  refused(list(a = "rater1"))
  refused(data.frame(who = "rater1", group = "a"))
  all_one <- stats::setNames(rep("a", 4), paste0("rater", 1:4))
  expect_error(fit_raters(grouped(rater_groups = all_one)), class = "fallible_error_raters")
  expect_error(
    ratings(fleiss1971, case = case, counts = depression:other, rater_groups = c(a = "b")),
    class = "fallible_error_argument"
  )
  expect_error(ratings(table(1:2, 1:2), rater_groups = clinic), class = "fallible_error_argument")
  long <- cbind(tidy(grouped()), source = 1:40)
  expect_error(
    ratings(long, case = case, rater = rater, rating = rating, rater_groups = source),
    class = "fallible_error_argument"
  )
  expect_error(
    ratings(long, case = case, rater = rater, rating = rating, rater_groups = nowhere),
    class = "fallible_error_columns"
  )
  expect_snapshot(error = TRUE, {
    grouped(rater_groups = c(rater1 = "a", nobody = "a"))
    grouped(rater_groups = c(rater1 = "a", rater1 = "b"))
    grouped(rater_groups = c(rater1 = "a", rater2 = "rater3"))
    grouped(rater_groups = c("a", "b"))
    grouped(rater_groups = rater1)
    fit_raters(grouped(rater_groups = all_one))
    grouped(rater_kind = "robot")
  })
})

test_that("reruns are one vote of their rater, and their agreement is told", {
  reruns <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "reruns")
  votes <- tidy(as_ratings(reruns, votes = TRUE))
  first <- dawid1979[dawid1979$rater == "A1", ]
  answers <- do.call(rbind, split(as.character(first$rating), first$case))
  expected <- votes_by_hand(answers, rep(1, 3))
  mine <- votes[votes$rater == "A1", ]
  expect_identical(as.character(mine$rating), expected[!is.na(expected)])
  expect_identical(mine$case, unique(first$case)[!is.na(expected)])
  expect_equal(
    tidy(fit_raters(reruns)),
    tidy(fit_raters(ratings(votes, case = case, rater = rater, rating = rating)))
  )
  pairs <- cbind(answers[, 1] == answers[, 2], answers[, 1] == answers[, 3],
    answers[, 2] == answers[, 3])
  expect_equal(tidy(reruns, "raters")$rerun_agreement, c(mean(pairs), NA, NA, NA, NA))
  expect_message(crowdtruth(reruns), "Reruns of a rater count as one vote")
  expect_error(grouped(repeats = "reruns"), class = "fallible_error_argument")
})

test_that("reruns vote before their rater votes in a group", {
  answers <- data.frame(
    case = 1, rater = c("a", "a", "a", "b", "c", "d"), rating = c("x", "x", "x", "y", "y", "y")
  )
  x <- ratings(answers, case = case, rater = rater, rating = rating, repeats = "reruns",
    rater_groups = c(a = "g", b = "g", c = "g"))
  expect_identical(as.character(tidy(as_ratings(x, votes = TRUE))$rating), c("y", "y"))
})

test_that("a sure rerun adds nothing", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), systems = 0.8, n = 300))
  once <- tidy(x)
  twice <- rbind(once, once[once$rater == "rater1", ])
  read <- function(data, ...) {
    ratings(data, case = case, rater = rater, rating = rating, systems = tidy(x, "systems"), ...)
  }
  quiet <- function(x) suppressWarnings(tidy(estimate_accuracy(x)))
  expect_equal(quiet(read(twice, repeats = "reruns")), quiet(read(once)))
  expect_false(isTRUE(all.equal(quiet(read(twice, repeats = "ratings")), quiet(read(once)))))
})

test_that("raters who copy in a declared group no longer pass for evidence", {
  set.seed(3)
  copying <- data.frame(from = c(1, 1, 4, 4), to = c(2, 3, 5, 6), probability = 0.8)
  design <- rater_design(rep(0.7, 8), categories = 2, systems = 0.8, n = 1000, copying = copying)
  x <- simulate_ratings(design)
  ignored <- suppressWarnings(tidy(estimate_accuracy(x)))
  x$rater_groups <- rep(c("a", "b", "rater7", "rater8"), c(3, 3, 1, 1))
  voted <- suppressWarnings(tidy(estimate_accuracy(x)))
  expect_lt(abs(voted$estimate - 0.8), 0.06)
  expect_gt(abs(ignored$estimate - 0.8), 0.1)
  expect_true(voted$conf.low < 0.8 && voted$conf.high > 0.8)
})

test_that("what groups are is printed", {
  x <- grouped(rater_groups = clinic, rater_kind = "model")
  expect_snapshot({
    x
    summary(x)
    as_ratings(x, votes = TRUE)
    fit_raters(x)
    summary(ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "reruns"))
    grouped(rater_kind = "expert")
  })
})

test_that("a file of ratings may have a column of groups", {
  folder <- withr::local_tempdir()
  long <- as.data.frame(grouped(rater_groups = clinic))
  utils::write.csv(long, file.path(folder, "ratings.csv"), row.names = FALSE)
  x <- read_ratings(folder, rater_groups = rater_group, rater_kind = "crowd")
  expect_identical(x$rater_groups, c("clinic", "clinic", "rater3", "rater4"))
  expect_identical(x$rater_kind, "crowd")
})

test_that("ratings print and measure the agreement of votes, as fits do", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "reruns")
  votes <- glance(quiet(fit_raters(x)))
  measures <- c("agreement", "kappa", "chance_kappa")
  expect_identical(as.list(glance(x)[measures]), as.list(votes[measures]))
  kappa <- agreement(x, "fleiss_kappa", pooling = "pairs", interval = "none")$estimate
  expect_equal(agreement(as_ratings(x, votes = TRUE), "fleiss_kappa",
    interval = "none")$estimate, kappa)
  expect_output(print(x), "72.0%", fixed = TRUE)
  independent <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_output(print(independent), "71.2%", fixed = TRUE)
})

test_that("several groups of several raters are told of in one line", {
  x <- ratings(
    lehner2015, raters = rater1:rater4, case = case,
    rater_groups = c(rater1 = "a", rater2 = "a", rater3 = "b", rater4 = "b")
  )
  expect_output(print(x), "a \\(2 raters\\), b \\(2 raters\\)")
})

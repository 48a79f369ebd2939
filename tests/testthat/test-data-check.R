status <- function(x, check) {
  table <- tidy(data_check(x))
  table$status[table$check == check]
}

answer <- function(x, pattern) {
  table <- tidy(data_check(x), what = "questions")
  table$answer[grepl(pattern, table$question)]
}

panel_with <- function(n = 300, accuracy = c(0.9, 0.9, 0.9), systems = c(s = 0.8), seed = 1) {
  withr::local_seed(seed)
  simulate_ratings(rater_design(accuracy, systems, 3, n = n))
}

test_that("a good panel has nothing against it", {
  x <- panel_with()
  x$rater_kind <- "expert"
  checks <- tidy(data_check(x))
  expect_identical(unique(checks$status), "ok")
  expect_true(all(is.na(checks$advice)))
  expect_identical(answer(x, "accurate are the systems"), "assumption")
  expect_identical(answer(x, "err where the raters err"), "gold")
  expect_match(format(data_check(x)), "^0 problems, 0 doubts")
})

test_that("what weakens results is found", {
  expect_identical(status(panel_with(30), "cases"), "problem")
  expect_identical(status(panel_with(100), "cases"), "doubt")
  expect_identical(status(panel_with(accuracy = c(0.9, 0.9)), "raters"), "doubt")
  expect_identical(status(panel_with(accuracy = c(0.5, 0.5, 0.5)), "agreement"), "problem")
  chance <- ratings(cbind(a = c("x", "y"), b = c("y", "x"), s = "x"), raters = 1:2, systems = "s")
  expect_identical(status(chance, "agreement"), "problem")
  expect_identical(answer(chance, "accurate are the"), c("no", "no"))
  expect_identical(status(panel_with(accuracy = c(0.75, 0.75, 0.75)), "agreement"), "doubt")
  wide <- answers_of(panel_with())
  with <- function(...) {
    wide <- data.frame(wide, ...)
    ratings(wide, raters = setdiff(names(wide), "s"), systems = "s")
  }
  expect_identical(status(with(c = "1"), "constant raters"), "problem")
  expect_identical(status(with(c = wide$rater1), "duplicates"), "problem")
  expect_warning(
    odd <- with(c = c("9", as.character(wide$rater1)[-1])), class = "fallible_warning_labels"
  )
  expect_identical(status(odd, "categories"), "doubt")
  one <- ratings(data.frame(a = c("x", rep("y", 99)), b = "y", d = "y"), raters = a:d)
  expect_identical(status(one, "categories"), "problem")
  half <- wide
  half$rater1[1:150] <- half$rater2[1:150] <- NA
  half$rater3[151:300] <- NA
  expect_identical(
    status(ratings(half, raters = rater1:rater3, systems = "s"), "missing ratings"), "problem"
  )
  wide$s[1:10] <- NA
  expect_identical(status(with(), "systems"), "ok") # there is no other system to compare
  models <- ratings(wide, raters = rater1:rater3, rater_kind = "model")
  expect_identical(status(models, "who rates"), "doubt")
  expect_match(tidy(data_check(models))$found, "language models", all = FALSE)
  expect_identical(status(panel_with(), "who rates"), "doubt")
  mixed <- ratings(wide, raters = rater1:rater3,
    rater_kind = c(rater1 = "crowd", rater2 = "model", rater3 = "model"))
  expect_match(tidy(data_check(mixed))$advice, "leave out the people", all = FALSE)
  expect_identical(status(models, "systems"), "doubt")
  expect_identical(answer(models, "accurate are the systems"), "no")
})

test_that("copies are those who agree more than good raters would", {
  # Two good workers of 195 who agree on all of 26 cases that they share are no copies.
  set.seed(1)
  truth <- rep(1:2, 500)
  said <- matrix(NA_integer_, 1000, 195)
  for (j in 1:195) {
    mine <- if (j <= 2) 1:26 else sample(1000, 30)
    right <- stats::runif(length(mine)) < if (j <= 2) 1 else 0.8
    said[mine, j] <- ifelse(right, truth[mine], 3L - truth[mine])
  }
  x <- quiet(ratings(said))
  expect_identical(status(x, "duplicates"), "ok")
  # Two of five who are wrong on the same cases are.
  wide <- answers_of(panel_with(200, c(0.75, 0.75, 0.75)))
  wide$copy <- wide$rater1
  x <- quiet(ratings(wide, raters = c("rater1", "rater2", "rater3", "copy"), systems = "s"))
  expect_identical(status(x, "duplicates"), "problem")
  expect_output(print(quiet(estimate_accuracy(x))), "Nearly the same answers: rater1 and copy")
})

test_that("estimates say what the check says of the same data", {
  set.seed(5)
  for (which in c("yes", "copies")) {
    x <- sure_panel(which)$x
    table <- tidy(data_check(x))
    found <- if (which == "yes") {
      table$advice[table$check == "agreement"] # the finding is about the raters
    } else {
      table$found[table$check == "duplicates"]
    }
    told <- paste(notes_of(quiet(estimate_accuracy(x))), collapse = " ")
    expect_match(told, found, fixed = TRUE)
  }
  # Of people it is no wonder that they coincide.
  x$rater_kind <- "expert"
  expect_no_match(paste(notes_of(quiet(estimate_accuracy(x))), collapse = " "), "nearly coincide")
})

test_that("copies are looked for among patterns, which stand for all their cases", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.7, 0.8), c(a = 0.8), 2, n = 300)))
  expect_lt(nrow(answers_by_pattern(x)), 20L)
  answers <- answers_by_pattern(x)[pattern_of_case(x), ]
  pairs <- compare_answers(x)
  expect_identical(pairs$same, c(
    mean(answers[, 1] == answers[, 2]), mean(answers[, 1] == answers[, 3]),
    mean(answers[, 2] == answers[, 3])
  ))
})

test_that("agreement that is better than guesses but not than chance leaves gold alone", {
  panel <- ratings(
    data.frame(a = rep(c("y", "n"), c(57, 3)), b = rep(c("n", "y"), c(3, 57)), s = "y"),
    raters = a:b, systems = s
  )
  expect_lt(fleiss_kappa(panel), 0)
  expect_identical(answer(panel, "accurate are the"), c("gold", "gold"))
  estimate <- quiet(estimate_accuracy(panel))
  expect_false(is.na(tidy(estimate)$estimate))
  expect_match(tidy(estimate)$reason, "carries no information")
  expect_output(print(estimate), "For s: raters agree no better than by chance")
})

test_that("a category that is never a plurality is a doubt", {
  wide <- answers_of(panel_with(accuracy = c(0.85, 0.85, 0.85)))
  wide[] <- lapply(wide, as.character)
  of_categories <- function() {
    checks <- tidy(data_check(ratings(wide, raters = rater1:rater3, systems = "s")))
    checks[checks$check == "categories", ]
  }
  expect_identical(of_categories()$status, "ok")
  wide$rater1[1:4] <- wide$rater2[5:8] <- "contaminated"
  expect_match(of_categories()$found, "never the most frequent rating of a case: contaminated")
  expect_match(of_categories()$advice, "`na`", fixed = TRUE)
  # Two raters agree on it.
  wide$rater2[1] <- "contaminated"
  expect_identical(of_categories()$status, "ok")
  expect_no_match(tidy(data_check(lehner_ratings()))$found, "never the most frequent")
})

test_that("ratings of a rater on a case count as one reply, and the others are missing", {
  long <- expand.grid(case = 1:60, rater = c("a", "b", "c"), run = 1:3)
  long$rating <- rep(c("x", "y", "y"), each = 3, length.out = nrow(long))
  found <- function() {
    checks <- tidy(quiet(data_check(ratings(
      long, case = case, rater = rater, rating = rating, repeats = "ratings"
    ))))
    checks$found[checks$check == "missing ratings"]
  }
  expect_match(found(), "^0.0% of ratings are missing")
  long$rating[long$rater == "a" & long$case <= 18] <- NA
  expect_match(found(), "^10.0% of ratings are missing$")
  abstaining <- data.frame(a = rep(c("x", "y"), 30), b = rep(c("x", "?", "y", NA), 15))
  checks <- tidy(quiet(data_check(ratings(abstaining, raters = a:b, abstain = "?"))))
  expect_identical(checks$found[checks$check == "missing ratings"],
    "12.5% of ratings are missing, not counting abstentions")
})

test_that("questions on systems are answered as the functions do", {
  reason <- function(x, pattern) {
    questions <- tidy(data_check(x), "questions")
    questions$reason[grepl(pattern, questions$question)]
  }
  data <- data.frame(id = 1:60, a = c("pass", "fail"), b = "pass", c = c("pass", "pass", "fail"),
    site = "hill")
  rate <- function(...) quiet(ratings(data, case = id, raters = a:c, ...))
  constant <- rate(systems = c(bot = "pass"), covariates = site)
  expect_identical(answer(constant, "replace a rater"), "no")
  expect_match(reason(constant, "replace a rater"), "the same answer to all cases")
  expect_match(reason(constant, "Which system"), "groups of cases")
  expect_identical(answer(panel_with(), "replace a rater"), "yes")
  shown <- capture.output(print(data_check(rate())))
  expect_length(grep("There are no systems", shown), 1L)
  expect_identical(sum(tidy(data_check(rate()), "questions")$reason == "There are no systems."), 4L)
})

test_that("any ratings can be looked at", {
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_false("constant raters" %in% tidy(data_check(x))$check)
  y <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_s3_class(data_check(y), "data_check")
  patterns <- tidy(panel_with(), "patterns")
  weighted <- ratings(patterns, raters = rater1:rater3, systems = s, weights = n)
  expect_identical(
    tidy(data_check(weighted))$status, tidy(data_check(panel_with()))$status
  )
  expect_error(data_check(1:3), class = "fallible_error_argument")
  expect_error(data_check(x, deep = TRUE), class = "fallible_error_argument")
})

test_that("it prints a page", {
  local_reproducible_output(width = 80)
  expect_snapshot(print(data_check(lehner_ratings())))
})

test_that("the same number of ratings for each case is a design, not missing ratings", {
  withr::local_seed(5)
  long <- data.frame(image = rep(1:60, each = 3))
  long$worker <- as.vector(replicate(60, sample(letters[1:12], 3)))
  long$label <- sample(c("cat", "dog"), 180, TRUE)
  found <- tidy(quiet(data_check(ratings(long, case = image, rater = worker, rating = label))))
  missing <- found[found$check == "missing ratings", ]
  expect_identical(missing$status, "ok")
  expect_match(missing$found, "3 ratings of each case")
  some <- tidy(quiet(data_check(ratings(long[-1, ], case = image, rater = worker, rating = label))))
  expect_identical(some$status[some$check == "missing ratings"], "ok")
})

test_that("cases that are assigned to a few of many raters are a design", {
  long <- withr::with_seed(5, {
    n <- sample(2:4, 80, TRUE)
    data.frame(image = rep(1:80, n), worker = unlist(lapply(n, sample, x = letters[1:20])),
      label = sample(c("cat", "dog"), sum(n), TRUE))
  })
  missing <- function(data) {
    found <- tidy(quiet(data_check(ratings(data, case = image, rater = worker, rating = label))))
    unlist(found[found$check == "missing ratings", c("status", "found")])
  }
  expect_identical(unname(missing(long)), c("ok", "2 to 4 ratings of each case"))
  # The others may have skipped cases if one rater rated most of them, or most raters rated a case.
  full <- data.frame(image = 1:80, worker = "z", label = "cat")
  expect_identical(missing(rbind(long, full))[["status"]], "doubt")
  popular <- data.frame(image = 81, worker = letters[1:20], label = "cat")
  expect_identical(missing(rbind(long, popular))[["status"]], "doubt")
})

test_that("parts of a panel are those of a slow twin", {
  slow <- function(x) {
    part <- seq_along(x$raters)
    for (raters in split(rating_rater(x), rating_pattern(x))) {
      part[part %in% part[raters]] <- min(part[raters])
    }
    length(unique(part[count_ratings_of_raters(x) > 0]))
  }
  same <- vapply(1:20, function(seed) withr::with_seed(seed, {
    n <- sample(3:30, 1)
    cells <- unique(data.frame(case = sample(n, 2 * n, TRUE), rater = sample(n, 2 * n, TRUE)))
    cells$rating <- sample(2L, nrow(cells), TRUE)
    x <- quiet(ratings(
      cells, case = case, rater = rater, rating = rating, categories = 1:2
    ))
    count_connected_groups(x) == slow(x)
  }), NA)
  expect_true(all(same))
})

test_that("variants of labels, and missing answers of several systems, are pointed out", {
  data <- data.frame(a = c("pos", "Pos", "neg", "neg"), b = c("pos", "pos", "neg", "neg"),
    s = c("pos", NA, "neg", "neg"), t = c("pos", "neg", "neg", "neg"))
  look <- function(systems) {
    columns <- c("a", "b", systems)
    x <- quiet(ratings(data[columns], raters = a:b, systems = !c(a, b), categories = c("pos", "Pos", "neg")))
    checks <- tidy(data_check(x))
    checks[match(c("categories", "systems"), checks$check), ]
  }
  one <- look("s")
  expect_match(one$found[[1]], "\"pos\", \"Pos\", which `clean_labels = TRUE`")
  expect_identical(one$status[[2]], "ok")
  expect_identical(look(c("s", "t"))$status[[2]], "doubt")
})

test_that("the share of cases without an answer of a system uses the weights of cases", {
  data <- data.frame(r1 = c("a", "b", "b", "a"), r2 = c("a", "b", "a", "a"),
    s = c(NA, "b", "a", "a"), t = c("a", NA, NA, "b"), w = c(30, 2, 3, 5))
  found <- function(data, ...) {
    x <- quiet(ratings(data, raters = r1:r2, systems = s:t, ...))
    checks <- tidy(data_check(x))
    checks$found[checks$check == "systems"]
  }
  weighted <- found(data, weights = w)
  expect_match(weighted, "at most 75.0%", fixed = TRUE)
  expect_identical(weighted, found(data[rep(1:4, data$w), ]))
})

test_that("weak agreement of machines does not ask for more of them", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.6, 0.6, 0.6), c(a = 0.8), 3, n = 100)))
  advice <- function(kind) {
    x$rater_kind <- kind
    table <- tidy(data_check(x))
    table$advice[table$check == "agreement"]
  }
  expect_match(advice("crowd"), "Weak agreement: .* take more cases and raters")
  expect_match(advice("model"), "Weak agreement: .* label cases. More machines rarely help")
})

test_that("a system made from the ratings is a problem, a good independent system is not", {
  x <- panel_with(400, c(0.7, 0.75, 0.8, 0.7, 0.65), c(s = 0.97))
  wide <- answers_of(x)
  votes <- as.matrix(wide[setdiff(names(wide), "s")])
  wide$vote <- apply(votes, 1, function(v) names(which.max(table(v))))
  with_systems <- function(...) ratings(wide, raters = colnames(votes), systems = c(...))
  seed <- .Random.seed
  expect_identical(consensus_systems(with_systems("s", "vote")), "vote")
  expect_identical(.Random.seed, seed)
  expect_identical(consensus_systems(x), character())
  expect_identical(status(with_systems("vote"), "systems"), "problem")
  # Estimates warn. Gold cases can show the accuracy, so that their estimates do not.
  warns <- function(...) {
    notes <- notes_of(quiet(estimate_accuracy(with_systems("vote"), ...)))
    any(grepl("made or learnt from these ratings", notes))
  }
  expect_true(warns())
  expect_false(warns(
    known_truth = truth(x)[1:100, ], gold_sample = "random", interval = "corrected"
  ))
})

test_that("no sentence, comparison or decision rests on the accuracy of a majority vote", {
  x <- panel_with(400, c(0.7, 0.75, 0.8, 0.7, 0.65), c(s = 0.8))
  wide <- answers_of(x)
  votes <- as.matrix(wide[setdiff(names(wide), "s")])
  wide$vote <- apply(votes, 1, function(v) names(which.max(table(v))))
  estimate <- quiet(
    estimate_accuracy(ratings(wide, raters = colnames(votes), systems = c("s", "vote")))
  )
  comparison <- compare_systems(estimate)
  metrics <- estimate_metrics(estimate, "recall")
  for (result in list(comparison, metrics, confusion(estimate))) {
    expect_match(notes_of(result), "labels are doubtful: vote. If .* made or learnt", all = FALSE)
  }
  # A confusion matrix without this system needs no note.
  expect_no_match(notes_of(confusion(estimate, systems = "s")), "doubtful: vote")
  # Headlines do not name such a system as the best, and do not count its differences.
  expect_identical(glance(comparison)$best, NA_character_)
  expect_match(format(comparison), "unknown which .* best .answers of vote seem to be made or")
  # A reason names only the systems of its row.
  votes <- ratings(transform(wide, copy = vote), raters = colnames(votes),
    systems = c("vote", "copy"))
  reasons <- without_followers(quiet(tidy(estimate_accuracy(votes))), c("vote", "copy"))$reason
  expect_match(reasons, "answers of (vote|copy) seem")
  expect_match(format(compare_systems(estimate, reference = "s")),
    "^0 more accurate than s .*, 0 less, 1 undecided")
  for (result in list(estimate, comparison, metrics)) {
    sentences <- may_say(result)
    about_vote <- sentences$sentence[sentences$may & grepl("vote", sentences$sentence)]
    expect_match(about_vote, "is not identified|do not show whether|cannot be estimated")
  }
  expect_true("vote is 99.9% accurate." %in% sub("is .*%", "is 99.9%", may_say(estimate)$sentence))
  expect_identical(tidy(gate(estimate, 0.5))$decision, c("pass", "undecided"))
  expect_identical(tidy(gate(comparison, -1))$decision, "undecided")
  # One rater has no consensus, and estimates with gold cases do not rest on it.
  one <- estimate_accuracy(x[, 1], known_truth = truth(x)[1:100, ], gold_sample = "random")
  expect_identical(find_followers(one), character())
})

test_that("systems made of labels of models are found, also if they are no majority votes", {
  x <- panel_with(600, c(0.9, 0.85, 0.6, 0.5, 0.4), c(s = 0.97), 2)
  labels <- list(default = ground_truth(x), ds = ground_truth(fit_raters(x, dawid_skene())))
  wide <- answers_of(x)
  for (name in names(labels)) wide[[name]] <- predict(labels[[name]])$category
  made <- ratings(wide, raters = dplyr::all_of(x$raters), systems = c("s", names(labels)))
  expect_identical(consensus_systems(made), names(labels))
  sentences <- may_say(quiet(estimate_accuracy(made)))
  expect_match(sentences$sentence[sentences$may & grepl("of ds ", sentences$sentence)],
    "is not identified")
  # Raters with one answer do not decide.
  unanimous <- data.frame(a = rep("x", 50), b = "x", s = "x")
  expect_identical(
    consensus_systems(
      quiet(ratings(unanimous, raters = a:b, systems = s, categories = c("x", "y")))
    ), character()
  )
})

test_that("an expert among weak raters is no reason to suspect a perfect system", {
  suspected <- map_dbl(1:20, function(seed) {
    length(consensus_systems(panel_with(800, c(0.99, 0.99, 0.6, 0.6), c(s = 1), seed)))
  })
  expect_identical(sum(suspected), 0)
})

test_that("the search for consensus labels rarely suspects a perfect independent system", {
  suspected <- unlist(lapply(1:60, function(seed) {
    panels <- list(
      panel_with(400, c(0.6, 0.6, 0.6), c(s = 1), seed),
      panel_with(400, c(0.95, 0.9, 0.9), c(s = 1), seed),
      panel_with(2000, c(0.95, 0.95, 0.55), c(s = 1), seed)
    )
    lengths(lapply(panels, consensus_systems))
  }))
  expect_lt(mean(suspected), 0.02)
})

test_that("questions have the right reason if no two raters share a case", {
  data <- data.frame(
    j1 = c(rep(c("-", "+"), 25), rep(NA, 50)), j2 = c(rep(NA, 50), rep(c("-", "+"), 25))
  )
  questions <- tidy(data_check(ratings(data, raters = j1:j2)), "questions")
  expect_identical(questions$answer[1:2], c("no", "no"))
  expect_match(questions$reason[[1L]], "No case has two ratings")
  expect_match(questions$reason[[2L]], "a case with two ratings")
})

test_that("copies are found for any unit of weights that are not counts", {
  set.seed(3)
  answers <- replicate(3, sample(c("x", "y"), 100, TRUE))
  data <- data.frame(a = answers[, 1], b = answers[, 1], c = answers[, 2], w = runif(100))
  duplicates <- function(unit) {
    data$w <- data$w * unit
    checks <- tidy(data_check(ratings(data, raters = a:c, weights = w, rater_kind = "expert")))
    checks$found[checks$check == "duplicates"]
  }
  expect_match(duplicates(1), "a and b")
  expect_identical(duplicates(0.01), duplicates(1))
  expect_identical(duplicates(20.3), duplicates(1))
})

test_that("ratings by one rater are checked, and need gold cases", {
  data <- data.frame(id = 1:60, judge = rep(c("no", "yes"), 30), s = "yes", t = c("no", "yes"))
  x <- ratings(data, raters = judge, case = id, systems = s:t, rater_kind = "model")
  checks <- tidy(data_check(x))
  expect_identical(checks$check, c("raters", "categories", "missing ratings", "systems"))
  expect_identical(checks$status, c("doubt", "ok", "ok", "ok"))
  questions <- tidy(data_check(x), "questions")
  expect_identical(questions$answer, c("no", "gold", "gold", "gold", "no", "gold", "gold"))
  expect_match(questions$reason[[5]], "two raters")
})

test_that("-1 is no code for an abstention if categories are ordered, declared or a scale", {
  set.seed(1)
  check <- function(labels, ...) {
    x <- ratings(matrix(sample(labels, 400, TRUE), 100), rater_kind = "expert", ...)
    checks <- tidy(data_check(x))
    grepl("abstained", checks$found[checks$check == "categories"])
  }
  expect_true(check(c(-1, 0, 1)))
  expect_false(check(-2:2))
  expect_false(check(-1:1, ordered = TRUE))
  expect_false(check(-1:1, categories = c(-1, 0, 1)))
})

test_that("the advice on reruns that tie holds for odd numbers of runs", {
  runs <- expand.grid(run = 1:3, judge = c("g", "h"), id = 1:6)
  runs$verdict <- c("x", "y", NA)
  x <- quiet(ratings(runs, case = id, rater = judge, rating = verdict, repeats = "reruns",
    rater_kind = "model"))
  checks <- tidy(quiet(data_check(x)))
  expect_match(checks$advice[checks$check == "reruns"],
    "if the number of runs is odd, find out why answers are missing")
})

test_that("words for reports are whole sentences", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.7), c(a = 0.8, b = 0.8), 3, 100))
  data <- answers_of(x)
  data$a[1:20] <- NA
  x <- quiet(ratings(data, raters = rater1:rater3, systems = a:b))
  found <- checks_in_words(data_check(x))$found
  expect_no_match(found, "[.!?] +[a-z]")
  expect_match(found, "Accuracies of single systems are of different cases$", all = FALSE)
})

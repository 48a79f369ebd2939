# The metrics against the slow twin, the printed Figure 2 and the reference values.

test_that("version 2014 is the slow twin on random crowds", {
  expect_over(rounds(200), function(seed) {
    j <- random_crowd(seed)
    ct <- crowdtruth(crowd_ratings(j))
    n <- max(j$unit)
    units <- twin_units(j, n)
    annotations <- twin_annotations(j, n)
    workers <- t(vapply(as.integer(ct$workers$worker), twin_worker, numeric(5), j = j))
    c(
      largest_gap(as.matrix(ct), units$scores), largest_gap(ct$units$clarity, units$clarity),
      largest_gap(ct$units$votes, rowSums(units$votes)),
      largest_gap(ct$annotations$frequency, annotations$frequency),
      largest_gap(ct$annotations$clarity, annotations$clarity),
      largest_gap(ct$similarity, annotations$similarity),
      largest_gap(ct$annotations$ambiguity, annotations$ambiguity),
      largest_gap(as.matrix(ct$workers[2:6]), workers)
    )
  })
})

test_that("version 2.0 is the slow twin on random crowds", {
  expect_over(rounds(200), function(seed) {
    j <- random_crowd(seed)
    open <- seed %% 5 == 0
    steps <- if (seed %% 3 == 0) 1000 else seed %% 4 + 1
    ct <- quiet(crowdtruth(
      crowd_ratings(j), version = "2.0", task = if (open) "open" else "closed", max_steps = steps
    ))
    workers <- as.integer(ct$workers$worker)
    expected <- twin_version2(j, max(j$unit), max(workers), max_steps = steps, open = open)
    c(
      unless(nrow(ct$convergence) == expected$steps),
      largest_gap(ct$units$uqs, expected$uqs), largest_gap(ct$workers$wwa, expected$wwa[workers]),
      largest_gap(ct$workers$wua, expected$wua[workers]), largest_gap(ct$workers$wqs, expected$wqs[workers]),
      if (!open) largest_gap(ct$annotations$aqs, expected$aqs),
      largest_gap(as.matrix(ct), expected$uas)
    )
  })
})

test_that("Figure 2 gives what the paper says of it", {
  ct <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
  scores <- as.matrix(ct)
  expect_equal(round(scores["225527731", c("sS", "sCA")], 3), c(sS = 0.996, sCA = 0.091))
  clarity <- stats::setNames(ct$units$clarity, ct$units$unit)
  expect_equal(clarity[["225527735"]], 1)
  expect_equal(round(clarity[["225527736"]], 3), 0.686) # the paper says .61
  of <- function(column) stats::setNames(ct$annotations[[column]], ct$annotations$annotation)
  expect_equal(round(of("clarity")[c("sS", "sT")], 2), c(sS = 1, sT = 0.14))
  expect_equal(of("probability")[c("sCA", "sM")], c(sCA = 0.8, sM = 0.5))
  present <- scores > 0
  expect_equal(mean(present[present[, "sS"], "sCA"]), 13 / 16)
  expect_true(present[present[, "sT"], "sM"])
  expect_equal(ct$similarity["sT", "sM"], 1)
  expect_equal(ct$annotations$reason[of("frequency") == 0], rep("no worker used it", 2))
  expect_identical(nrow(ct$workers), 0L)
})

test_that("the workers of section 4.1 disagree as much as the paper says", {
  votes <- figure2_votes()[c("225527731", "225527732"), ]
  # Each of the worker's two answers, and their mean.
  distance <- function(first, second) {
    answers <- c(`225527731` = first, `225527732` = second)
    vapply(list(answers[1], answers[2], answers), function(mine) {
      workers <- crowdtruth(quiet(crowd_from_votes(votes, list(worker = mine))))$workers
      workers$unit_disagreement[workers$worker == "worker"]
    }, 0)
  }
  agrees <- distance("sS", "sS")
  differs <- distance("sCA", "sM")
  expect_equal(round(agrees[1:2], 6), c(0.004963, 0.142857))
  expect_equal(round(differs[1:2], 6), c(1, 0.869811))
  expect_equal(round(c(agrees[3], differs[3]), 4), c(0.0739, 0.9349))
})

test_that("Figure 2 is its reference", {
  folder <- paper_folder()
  ct <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
  srs <- paper_reference(folder, "fig2_srs")
  expect_within(as.matrix(ct), as.matrix(srs[names(crowdtruth2014)[-1]]), 1e-9)
  expect_within(ct$units$clarity, srs$clarity, 1e-9)
  relations <- paper_reference(folder, "fig2_relation_metrics")
  expect_identical(ct$annotations$annotation, relations$relation)
  for (column in c("frequency", "probability", "clarity", "ambiguity")) {
    expect_within(ct$annotations[[column]], relations[[column]], 1e-9)
  }
  similarity <- paper_reference(folder, "fig2_relation_similarity")
  expect_within(ct$similarity, as.matrix(similarity[-1]), 1e-9)
})

test_that("the paper's judgements give the reference of version 2014", {
  folder <- paper_folder()
  x <- paper_ratings(folder)
  ct <- crowdtruth(x)
  srs <- paper_reference(folder, "ct2014_90_srs")
  at <- match(srs$sentence, ct$units$unit)
  expect_within(as.matrix(ct)[at, ], as.matrix(srs[x$categories]), 1e-9)
  expect_within(ct$units$clarity[at], srs$clarity, 1e-9)
  relations <- paper_reference(folder, "ct2014_90_relation_metrics")
  for (column in c("frequency", "probability", "clarity", "ambiguity")) {
    expect_within(ct$annotations[[column]], relations[[column]], 1e-9)
  }
  similarity <- paper_reference(folder, "ct2014_90_relation_similarity")
  expect_within(ct$similarity, as.matrix(similarity[-1]), 1e-9)
  reference <- paper_reference(folder, "ct2014_90_worker_metrics")
  workers <- ct$workers[match(reference$worker, ct$workers$worker), ]
  expect_equal(workers$units, reference$n_sentences)
  expect_within(workers$unit_disagreement, reference$worker_sentence_disagreement, 1e-9)
  expect_within(workers$worker_disagreement, reference$wwd_kappa_weighted, 1e-9)
  expect_within(1 - workers$overlap_disagreement, reference$overlap_agreement, 1e-9)
  expect_within(workers$annotations_per_unit, reference$relations_per_sentence, 1e-9)
  # The worker-unit disagreement of the project's table; its agreement includes the worker.
  project <- utils::read.csv(
    file.path(folder, "ct2014_workerMetrics.csv"), colClasses = c(worker_id = "character")
  )
  at <- match(project$worker_id, ct$workers$worker)
  expect_within(ct$workers$unit_disagreement[at], project$nofilter_cos, 1e-9)
})

test_that("statements of the paper about its 90 units hold or do not, as known", {
  folder <- paper_folder()
  x <- paper_ratings(folder)
  claims <- paper_reference(folder, "ct2014_90_paper_claims_by_removal_rule")
  labels <- utils::read.csv(file.path(folder, "ct2014_worker_labels.csv"), colClasses = "character")
  spam <- labels$worker_id[labels$label_spamFiltering_R == "spammer"]
  low <- labels$worker_id[labels$label_spamFiltering_R != "no_spam"]
  list13 <- labels$worker_id[labels$spammer_list_workerMetrics_R == "1"]
  ct <- crowdtruth(x)
  arms <- list(
    ct, filter_crowd(ct, "workers"), filter_crowd(ct, "workers", flagged = spam), filter_crowd(ct, "workers", flagged = low),
    filter_crowd(ct, "workers", 0, list13), filter_crowd(ct, "workers", flagged = list13),
    filter_crowd(ct, "workers", 0, spam)
  )
  for (i in seq_along(arms)) {
    arm <- arms[[i]]
    present <- as.matrix(arm) > 0
    of <- function(column, name) arm$annotations[[column]][arm$annotations$annotation == name]
    found <- c(
      workers = nrow(arm$workers), judgements = sum(arm$workers$units),
      P_sT_given_sP = mean(present[present[, "sP"], "sT"]),
      share_sAW = of("probability", "sAW"), share_sCI = of("probability", "sCI"),
      clarity_sAW = of("clarity", "sAW"), clarity_sCI = of("clarity", "sCI"),
      n_below_mean_minus_popsd = 90 - nrow(filter_crowd(arm, "units")$units),
      clarity_736 = arm$units$clarity[arm$units$unit == "225527736"]
    )
    expect_equal(found, unlist(claims[i, names(found)]), tolerance = 1e-9, info = claims$removed[i])
  }
})

test_that("version 2.0 is its reference at a tolerance of .001", {
  folder <- paper_folder()
  expect_reference <- function(x, name, shown = x$categories) {
    ct <- crowdtruth(x, version = "2.0")
    expect_true(ct$converged)
    units <- paper_reference(folder, paste0("core_", name, "_units"))
    at <- match(units$unit, ct$units$unit)
    expect_within(ct$units$uqs[at], units$uqs, 1e-9)
    expect_within(as.matrix(ct)[at, ], as.matrix(units[paste0("uas_", shown)]), 1e-9)
    workers <- paper_reference(folder, paste0("core_", name, "_workers"))
    at <- match(workers$worker, ct$workers$worker)
    expect_within(ct$workers$wqs[at], workers$wqs, 1e-9)
    expect_within(ct$workers$wwa[at], workers$wwa, 1e-9)
    # The reference has its floor where the formula gives zero.
    expect_within(pmax(ct$workers$wua[at], 1e-8), workers$wsa, 1e-9)
    annotations <- paper_reference(folder, paste0("core_", name, "_annotations"))
    at <- match(annotations$annotation, shown)
    expect_within(ct$annotations$aqs[at], annotations$aqs, 1e-9)
    # Only the first step.
    first <- quiet(crowdtruth(x, version = "2.0", max_steps = 1))
    expect_within(first$units$uqs[match(units$unit, x$cases)], units$uqs_initial, 1e-9)
    ct
  }
  ct <- expect_reference(paper_ratings(folder), "ct2014_90")
  # To 1e-12 takes about 60 steps and moves UQS by up to .0018.
  settled <- crowdtruth(ct$ratings, version = "2.0", tolerance = 1e-12)
  expect_true(nrow(settled$convergence) > 50 && nrow(settled$convergence) < 70)
  expect_equal(max(abs(settled$units$uqs - ct$units$uqs)), 0.0018, tolerance = 0.05)

  raw <- utils::read.csv(
    file.path(folder, "relex_multiple_choice_judgements.csv"), colClasses = "character"
  )
  raw$labels <- strsplit(tolower(raw$relations), "\n", fixed = TRUE)
  shown <- paper_reference(folder, "core_relex_multchoice_annotations")$annotation
  x <- ratings(
    raw, case = unit_id, rater = worker_id, rating = labels, categories = shown,
    repeats = "labels"
  )
  expect_reference(x, "relex_multchoice")
})

test_that("an outlier against two loses its say for good", {
  x <- quiet(ratings(matrix(c("a", "a", "b"), 1)))
  first <- quiet(crowdtruth(x, version = "2.0", max_steps = 1))
  expect_equal(first$units$uqs, 1 / 3)
  ct <- crowdtruth(x, version = "2.0", tolerance = 1e-9)
  expect_equal(ct$units$uqs, 1)
  expect_equal(ct$workers$wqs, c(1, 1, 0))
  expect_true(ct$converged)
})

test_that("what is undefined is NA with a reason", {
  data <- data.frame(case = c(1, 1, 2, 3, 4, 4), rater = c("a", "b", "a", "c", "a", "b"))
  data$labels <- list("x", "x", "x", c("x", "y"), "x", character())
  x <- ratings(data, case = case, rater = rater, rating = labels, repeats = "labels",
    categories = c("x", "y", "z"))
  ct <- crowdtruth(x)
  expect_identical(ct$annotations$reason, c("it is on every unit", NA, "no worker used it"))
  expect_equal(ct$annotations$clarity[[3]], 0)
  expect_identical(is.na(unname(ct$similarity[1, ])), rep(TRUE, 3))
  expect_identical(unname(is.na(ct$similarity[2, ])), c(TRUE, TRUE, FALSE))
  workers <- ct$workers
  expect_identical(workers$reason[[1]], "unit_disagreement is over 1 of 3 units")
  expect_identical(is.na(workers$unit_disagreement), c(FALSE, FALSE, TRUE))
  expect_match(workers$reason[[3]], "no unit with labels of the worker and of others")
  expect_match(workers$reason[[3]], "no kappa with any other worker; no overlap with any other worker")
  # b's answers are never more than a's: kappa over two units and three labels
  expect_equal(workers$worker_disagreement[[2]], 1 - crowd_kappa(c(1, 0, 0, 0, 0, 0),
    c(1, 0, 0, 1, 0, 0)))

  silent <- crowdtruth(x[4, c("a", "b")])$workers
  expect_identical(
    silent$reason[silent$worker == "b"],
    "no unit with labels of the worker and of others; no overlap with any other worker"
  )

  two <- crowdtruth(x, version = "2.0")
  expect_identical(two$units$reason[1:3], c(NA, "only one worker", "only one worker"))
  expect_match(two$workers$reason[[3]], "floor of 1e-8")
  expect_equal(two$annotations$aqs[[3]], 1e-8)
  expect_match(two$annotations$reason[[3]], "aqs has a floor of 1e-8")
  open <- crowdtruth(x, version = "2.0", task = "open")
  expect_identical(open$annotations$aqs, rep(NA_real_, 3))
  expect_match(open$annotations$reason, "open task")
})

test_that("units and workers without judgements stay, undefined", {
  data <- data.frame(case = c(1, 1, 2, 2, 3), rater = c("a", "b", "a", "b", "c"), rating = "x")
  data$rating[[4]] <- "y"
  x <- ratings(data, case = case, rater = rater, rating = rating)
  kept <- crowdtruth(x[, c("a", "b")])
  expect_identical(kept$units$reason, c(NA, NA, "no judgement"))
  expect_identical(is.na(as.matrix(kept)[3, ]), c(x = TRUE, y = TRUE))
  two <- crowdtruth(x[, c("a", "b")], version = "2.0")
  expect_identical(two$units$uqs[[3]], NA_real_)
  expect_identical(two$units$uqs[1:2], crowdtruth(x[1:2, 1:2], "2.0")$units$uqs)
  fewer <- crowdtruth(x[1:2, ], version = "2.0")
  expect_identical(fewer$workers$reason[[3]], "no unit judged")
  expect_identical(fewer$workers$wqs[[3]], NA_real_)
})

test_that("input that cannot be measured is refused", {
  repeated <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  expect_snapshot(error = TRUE, crowdtruth(repeated))
  counts <- ratings(crowdtruth2014, case = unit, counts = sT:sOTH)
  expect_snapshot(error = TRUE, crowdtruth(counts, version = "2.0"))
  weighted <- ratings(data.frame(a = c("x", "y"), b = "x", w = 1:2), raters = a:b, weights = w)
  expect_error(crowdtruth(weighted), class = "fallible_error_weights")
  expect_error(crowdtruth("crowd"), class = "fallible_error_argument")
  expect_error(crowdtruth(counts, version = "3"), class = "fallible_error_argument")
  expect_error(crowdtruth(counts, tolerence = 1), class = "fallible_error_argument")
})

test_that("steps that do not suffice are a warning", {
  set.seed(1)
  x <- simulate_crowd(units = 5, workers = 5, per_unit = 4)
  expect_warning(
    ct <- crowdtruth(x, version = 2, max_steps = 2), class = "fallible_warning_no_convergence"
  )
  expect_false(ct$converged)
  expect_identical(nrow(ct$convergence), 2L)
})

test_that("the order of rows, units, workers and labels does not matter", {
  set.seed(2)
  x <- simulate_crowd(units = 8, workers = 6, per_unit = 4, labels = 4, spammers = c(random = 1))
  data <- as.data.frame(x)
  mixed <- data[sample(nrow(data)), ]
  y <- ratings(mixed, case = case, rater = rater, rating = rating, categories = LETTERS[4:1],
    repeats = "labels")
  for (version in c("2014", "2.0")) {
    a <- crowdtruth(x, version)
    b <- crowdtruth(y, version)
    workers <- b$workers[match(a$workers$worker, b$workers$worker), ]
    expect_equal(workers, a$workers, tolerance = 1e-12)
    expect_equal(as.matrix(b)[rownames(as.matrix(a)), LETTERS[1:4]], as.matrix(a),
      tolerance = 1e-12)
  }
})

test_that("a unit whose answers are all empty has a quality of zero, and a reason", {
  data <- data.frame(case = c(1, 1, 2, 2, 3), rater = c("a", "b", "a", "b", "a"))
  data$labels <- list(c("x", "y"), "x", character(), character(), character())
  x <- ratings(data, case = case, rater = rater, rating = labels, repeats = "labels")
  units <- crowdtruth(x, version = "2.0")$units
  expect_identical(units$uqs[2:3], c(0, 0))
  expect_identical(units$reason, c(NA, "no label given", "no label given"))
})

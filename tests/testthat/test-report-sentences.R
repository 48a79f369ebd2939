panel_of_two <- function(n = 80) {
  withr::with_seed(1, {
    simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = n))
  })
}

test_that("sentences tell of known truths", {
  x <- panel_of_two()
  gold <- truth(x)[1:40, ]
  sample <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  said <- may_say(sample)
  expect_match(said$sentence[[1L]], "with known truth of 40 of 80 cases (a random sample), the",
    fixed = TRUE)
  expect_no_match(said$sentence, "without known truth|against the truth\\.$")
  expect_identical(
    grepl("errors it shares", said$sentence[said$may], fixed = TRUE), !rests_on_gold(sample)
  )
  words <- may_say(sample, "methods")
  expect_match(words[[1]], "with known truth of 40 of 80 cases (a random sample), with the R",
    fixed = TRUE)
  expect_match(words[[1]], "prediction-powered inference, Angelopoulos et al. 2023")
  expect_match(words, "Prediction-powered inference. Science, 382", all = FALSE)
  all <- quiet(estimate_accuracy(fit_raters(x, known_truth = truth(x)), interval = "none"))
  expect_no_match(may_say(all)$sentence, "errors it shares|validated")
  expect_no_match(may_say(all, "methods"), "none|NA|interval")
})

test_that("a paragraph has the assumptions of the fitted model", {
  x <- panel_of_two()
  paragraph <- function(...) {
    may_say(quiet(estimate_accuracy(x, ..., interval = "none")), "methods")[[1]]
  }
  strata <- rater_model("rater", difficulty = "strata")
  expect_match(paragraph("joint", strata, common = "none"),
    "err independently given the truth and the difficulty of the case.", fixed = TRUE)
  votes <- function(x) c(0.8, 0.7)
  by_function <- paragraph(votes)
  expect_match(by_function, "user-defined function of the ratings")
  expect_no_match(by_function, "Lehner|independent")
  with_interval <- estimate_accuracy(x, votes, resampling = list(replicates = 20))
  expect_match(may_say(with_interval)$sentence[[1L]],
    "interval does not allow for errors that it shares with the raters")
  compared <- may_say(quiet(compare_systems(with_interval)), "methods")[[1]]
  expect_match(compared, "a user-defined function of the ratings, to be described here")
  expect_no_match(compared, "Lehner")
  expect_match(paragraph(), "the difficulty of the case, in models with unequal cases")
  dependent <- rater_model("rater", "free", dependence = "easy")
  fit <- quiet(fit_raters(x, dependent, method = "bayes", sampling = list(draws = 100, chains = 2)))
  expect_match(may_say(quiet(estimate_accuracy(fit, common = "none")), "methods")[[1]],
    "err with the dependence of the model", fixed = TRUE)
  expect_output(print(quiet(estimate_accuracy(fit))), "accuracy 0[.][0-9]+ under the model")
})

test_that("sentences have number, interval and range, and unknown is unknown", {
  x <- panel_of_two()
  estimate <- quiet(estimate_accuracy(x))
  said <- may_say(estimate)
  expect_identical(said$system[said$may], c("a", "b"))
  expect_true(grepl(format(estimate)[["a"]], said$sentence[[1L]], fixed = TRUE))
  expect_match(said$sentence[[1L]], "On 80 cases with ratings by 3 raters .* between \\d+% and \\d+%")
  expect_match(said$sentence[!said$may][[1L]], "^a is \\d+% accurate")
  estimate$table$conf.high[[1L]] <- 0.996
  expect_match(format(estimate)[["a"]], "to 99.6%", fixed = TRUE)
  nothing <- quiet(estimate_accuracy(
    ratings(cbind(a = c("x", "y"), b = c("y", "x"), s = "x"), raters = 1:2, systems = "s")
  ))
  expect_match(may_say(nothing)$sentence[[1L]], "accuracy of s is not identified")
  expect_error(may_say(x), class = "fallible_error_argument")
})

test_that("a paragraph says what a referee needs, with its references", {
  x <- panel_of_two()
  each <- list(
    average = list(c("averaged over these models", "errors that raters and systems share"),
      c("Dawid", "Hoeting", "Lehner")),
    binned = list(c("equation 7", "200 bootstrap samples of cases"), c("Efron", "Lehner")),
    joint = list(c("one more rater in a latent class model", "profile of the log posterior"),
      c("Dawid", "Lehner")),
    shared = list("system shares the raters' errors", c("Dawid", "Efron", "Lehner"))
  )
  interval <- list(binned = "bootstrap", joint = "profile", shared = "bootstrap")
  for (method in names(each)) {
    estimate <- quiet(estimate_accuracy(
      x, method, interval = interval[[method]],
      resampling = if (method == "average") list() else list(replicates = 200)
    ))
    words <- may_say(estimate, "methods")
    for (part in each[[method]][[1]]) expect_match(words[[1]], part)
    expect_identical(sub("[ ,].*", "", words[-1]), each[[method]][[2]])
  }
  # The number of machines, of assumptions and of samples is that of their own.
  of <- function(...) may_say(quiet(estimate_accuracy(x, ...)), "methods")[[1]]
  expect_match(of(common = "none"), "in models with unequal cases). The 90% interval covers sampling",
    fixed = TRUE)
  expect_match(of(common = 0.5), "moved 50% of the way")
  gold <- truth(x)[1:30, ]
  expect_match(of(known_truth = gold, gold_sample = "random", interval = "anytime"),
    "confidence sequence")
  expect_match(of(known_truth = gold, gold_sample = "random", interval = "corrected"), "Wilson's")
  x$rater_kind <- "model"
  expect_match(of(), "halfway between the estimate and .65")
})

test_that("of systems compared the difference is told, and what it does not show", {
  sure <- compare_systems(quiet(estimate_accuracy(panel_of_two(2000), common = "none")))
  said <- may_say(sure)
  expect_match(said$sentence[[1]], paste(
    "cases with ratings by 3 raters and without known truth, a is estimated to be more accurate than b by",
    "\\d+ percentage points \\(90% interval"
  ))
  expect_match(said$sentence[said$may], "cannot show how many errors the systems share with")
  expect_identical(said$system[1:2], c("a - b", NA))
  expect_match(said$sentence[[2]], "^a is most accurate with probability 1.00")
  expect_no_match(said$sentence[!said$may], "equally good")
  few <- withr::with_seed(2, simulate_ratings(
    rater_design(c(0.7, 0.8, 0.8), c(a = 0.75, b = 0.7, c = 0.7), 3, n = 60)
  ))
  open <- may_say(compare_systems(quiet(estimate_accuracy(few))))
  expect_match(open$sentence[[1]],
    "is estimated to be more accurate than .*, so it remains open which is better")
  expect_match(open$sentence[!open$may], "are equally good", all = FALSE)
  expect_match(open$sentence[!open$may], "All of these intervals hold at once", all = FALSE)
  # Known truth of a random sample measures the difference, so that no reservation is needed.
  x <- panel_of_two(200)
  gold <- compare_systems(quiet(estimate_accuracy(x, known_truth = truth(x)[1:120, ],
    gold_sample = "random")))
  said <- may_say(gold)
  expect_match(said$sentence[[1]], "with known truth of 120 of 200 cases (a random sample), a is est",
    fixed = TRUE)
  expect_no_match(said$sentence, "cannot show")
  costs <- compare_systems(
    quiet(estimate_accuracy(panel_of_two(2000), common = "none")), metric = "loss",
    cost = 1 - diag(3)
  )
  expect_match(
    may_say(costs)$sentence[[1]], "the mean cost of b minus the mean cost of a .*; a is better"
  )
  words <- may_say(sure, "methods")
  expect_match(words[[1]], "on the same 2,000 cases.*each interval|there is one difference")
  expect_match(words, "Efron", all = FALSE)
})

test_that("of metrics and agreement there are sentences and a paragraph, too", {
  x <- panel_of_two()
  metrics <- quiet(estimate_metrics(x))
  said <- may_say(metrics)
  expect_identical(sum(said$may), nrow(tidy(metrics)) + 1L)
  expect_identical(
    grep("errors the systems share with the raters.$", said$sentence), nrow(tidy(metrics)) + 1L
  )
  # Each group has its cases with known truth, and no reservation where they measure the system.
  group <- rep(c("u", "v"), each = 40)
  known <- truth(x)[c(1:35, 41:70), ]
  groups <- may_say(quiet(estimate_metrics(x, "accuracy", by = group, known_truth = known,
    gold_sample = "random")))
  expect_match(groups$sentence[groups$may], "known truth of 35 of 40 .*in group u", all = FALSE)
  expect_match(groups$sentence[groups$may], "known truth of 30 of 40 .*in group v", all = FALSE)
  expect_no_match(groups$sentence, "errors (it|the systems?) shares?")
  expect_match(said$sentence, "the F measure (macro average) of a is estimated at", fixed = TRUE,
    all = FALSE)
  expect_match(said$sentence[!said$may], "more or less frequent", all = FALSE)
  expect_match(may_say(metrics, "methods")[[1]], "delta method.*Gorodkin")
  agreed <- agreement(x, scale_weights = "quadratic")
  said <- may_say(agreed)
  expect_match(said$sentence, "Gwet's AC2 .quadratic weights. of 3 raters is 0.\\d+ \\(90% interval",
    all = FALSE)
  expect_match(said$sentence[!said$may], "right as often as they agree", all = FALSE)
  expect_match(may_say(agreed, "methods")[[1]], "linearisation .*\\(Gwet 2014\\)")
  expect_match(may_say(agreement(x, pairwise = TRUE))$sentence[[1]], "of rater1 and rater2 is")
  expect_match(may_say(agreement(x, interval = "none"), "methods")[[1]], "Lehner")
  # Each work that the paragraph cites has a reference, once.
  alpha <- agreement(x, "krippendorff_alpha")
  words <- may_say(alpha, "methods")
  expect_match(words[[1]], "(Krippendorff 2004)", fixed = TRUE)
  expect_match(grep("^Krippendorff", words, value = TRUE), fixed = TRUE,
    "Krippendorff, K. (2004). Reliability in content analysis: Some common misconceptions")
  expect_length(grep("Krippendorff, K", words, fixed = TRUE), 1L)
  expect_match(may_say(metrics, "methods"), "^Matthews .1975.", all = FALSE)
  expect_no_match(may_say(alpha)$sentence, "highest of all measures")
  expect_error(may_say(fit_raters(x)), "tidy\\(x\\)", class = "fallible_error_argument")
})

test_that("sentences are printed whole", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  said <- may_say(quiet(estimate_accuracy(x, interval = "none")))
  printed <- paste(trimws(capture.output(print(said))), collapse = " ")
  expect_true(all(vapply(said$sentence, grepl, NA, x = printed, fixed = TRUE)))
  expect_match(printed, "You may say: .*You may not say: ")
  expect_identical(capture.output(print(said[!said$may, ]))[[1]], "You may not say:")
  expect_false("You may not say:" %in% capture.output(print(said[said$may, ])))
})

test_that("cases with known truth are counted by their weights, like all others", {
  p <- walk_panel(40)
  estimate <- quiet(
    estimate_accuracy(walk_ratings(p), interval = "corrected", known_truth = walk_gold(p))
  )
  gold <- sum(p$data$weight[p$data$gold])
  expect_match(
    may_say(estimate)$sentence[[1L]],
    paste("known truth of", gold, "of", sum(p$data$weight), "cases"), fixed = TRUE
  )
})

test_that("the paragraph counts ratings and cases by weights that count cases", {
  p <- walk_panel(40)
  paragraph <- function(p) {
    may_say(quiet(estimate_accuracy(walk_ratings(p), interval = "corrected",
      known_truth = walk_gold(p))), "methods")
  }
  copies <- p
  copies$data <- p$data[rep(seq_len(40), p$data$weight), ]
  copies$data$case <- paste0("copy", seq_len(nrow(copies$data)))
  copies$data$weight <- 1
  first_sentence <- function(p) sub("[.;:].*", "", paragraph(p)[[1L]])
  expect_match(first_sentence(p), paste("ratings of", sum(p$data$weight), "cases"), fixed = TRUE)
  expect_identical(first_sentence(p), first_sentence(copies))
})

test_that("one percentage point is singular", {
  expect_identical(format_percentage_points(c(0.0104, 0.05, 0, -0.001)),
    c("1 percentage point", "5 percentage points", "0 percentage points", "-0.1 percentage points"))
})

test_that("the paragraph names user-defined measures and how their intervals were computed", {
  withr::defer(for (id in c("mine", "cited")) register_measure(id, kernel = NULL))
  share <- function(counts, weights) {
    sum(weights * (apply(counts, 1L, max) == rowSums(counts))) / sum(weights)
  }
  register_measure("mine", "My share", share)
  register_measure("cited", "Cited share", share, reference = "Smith (2020), Journal 3")
  x <- ratings(fleiss1971, case = case, counts = depression:other)
  paragraph <- function(ids, ...) may_say(agreement(x, ids, ...), "methods")
  expect_match(paragraph("mine")[[1L]],
    "by my share. The 90% intervals are by the jackknife over cases with", fixed = TRUE)
  mixed <- paragraph(c("cited", "mine", "fleiss_kappa"))
  expect_match(mixed[[1L]], "by cited share (Smith 2020); my share; Fleiss' kappa (", fixed = TRUE)
  expect_match(mixed[[1L]], fixed = TRUE,
    "by linearisation over cases (cited share and my share: by the jackknife) with Student's t")
  expect_true("Smith (2020), Journal 3" %in% mixed)
  expect_false("" %in% mixed)
})

test_that("the paragraph names user-defined metrics", {
  withr::defer(register_measure("mine", kernel = NULL, kind = "metric"))
  register_measure("mine", "My recall", function(tp, fn, fp, tn) tp / (tp + fn), kind = "metric")
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  paragraph <- function(ids) {
    may_say(quiet(estimate_metrics(x, ids, method = "joint", interval = "none")), "methods")[[1L]]
  }
  expect_match(paragraph("mine"), "posterior probability. User-defined: My recall.$")
  expect_match(paragraph(c("mine", "f_meas")), "1979). User-defined: My recall.", fixed = TRUE)
  expect_match(paragraph("recall"), "yardstick.$")
})

test_that("the paragraph counts rated cases, systems and intervals as they are", {
  set.seed(3)
  x <- quiet(simulate_ratings(rater_design(c(0.8, 0.75, 0.7), c(a = 0.8, b = 0.7),
    categories = 3, n = 100, missing = 0.4)))
  n_rated <- sum(is_rated_pattern(x)[x$index])
  expect_lt(n_rated, 100)
  paragraph <- function(estimate) may_say(quiet(estimate), "methods")[[1L]]
  expect_match(paragraph(estimate_accuracy(x, method = "joint", interval = "none")),
    paste("ratings of", n_rated, "cases by 3 raters"), fixed = TRUE)
  expect_match(paragraph(agreement(x, "cohen_kappa", pairwise = TRUE)),
    "^Agreement of 3 raters and 2 systems on")
  # Profile intervals of this model are NA, so the paragraph does not describe them.
  no_interval <- quiet(estimate_accuracy(x, method = "joint", model = dawid_skene(),
    interval = "profile"))
  expect_true(all(is.na(tidy(no_interval)$conf.low)))
  expect_no_match(paragraph(no_interval), "interval is")
  # One model is no average.
  posterior <- quiet(estimate_accuracy(fit_raters(x, method = "bayes",
    sampling = list(draws = 200))))
  expect_no_match(paragraph(posterior), "average was")
})

test_that("the paragraph of a comparison of groups says that it describes the first group", {
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.8, 0.75, 0.7), c(a = 0.8), n = 100))
  estimate <- quiet(estimate_accuracy(x, by = rep(c("u", "v"), 50),
    known_truth = truth(x)[1:60, ], gold_sample = "random"))
  expect_match(may_say(compare_systems(estimate), "methods")[[1L]],
    "^u .same methods for the others.: Accuracy was estimated from 150 ratings of 50 cases")
})

test_that("a reason in brackets has no full stop", {
  x <- ratings(cbind(c("a", "b", "c"), c("a", "b", "b"), c("a", "c", "c")))
  table <- agreement(x, c("fleiss_kappa", "gwet_ac"), scale_weights = "quadratic")
  expect_match(table$reason, "none was declared$")
})

test_that("systems with equal estimates are not ordered, and known truths order systems", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.8, 0.75, 0.7), c(a = 0.85), categories = 2, n = 60))
  answers <- as.data.frame(x, "systems")
  other <- transform(answers, system = "b")
  one <- transform(answers, system = "c")
  at <- which(answers$prediction != truth(x)$category)[[1L]]
  one$prediction[at] <- truth(x)$category[at]
  y <- ratings(as.data.frame(x), case = case, rater = rater, rating = rating,
    systems = rbind(answers, other, one))
  equal <- quiet(compare_systems(y[, , c("a", "b")]))
  sentences <- may_say(equal)$sentence
  expect_match(sentences[[1L]], fixed = TRUE,
    "a and b are estimated to be equally accurate, with a difference of 0 percentage points. ")
  expect_no_match(c(sentences, capture.output(print(equal))), "favours|by the model the first")
  known <- quiet(compare_systems(y, known_truth = truth(x)))
  expect_identical(tidy(known)$order_known, rep(NA, 3))
  expect_no_match(c(may_say(known)$sentence, capture.output(print(known))), "do not show")
})

test_that("sentences that no result supports are once at the end, after those of all groups", {
  estimate <- quiet(estimate_accuracy(panel_of_two(), by = rep(c("u", "v"), each = 40),
    interval = "none"))
  said <- may_say(estimate)
  expect_identical(said$may, sort(said$may, decreasing = TRUE))
  expect_identical(is.na(said$group), sort(is.na(said$group)))
  expect_identical(anyDuplicated(said$sentence), 0L)
})

test_that("sentences on metrics have long names, and state a general reservation once", {
  x <- panel_of_two()
  said <- may_say(quiet(estimate_metrics(x, c("sens", "f_meas"), interval = "none")))
  reservation <- "Ratings cannot show how many errors the systems share with the raters."
  expect_identical(grep("Ratings cannot show", said$sentence), which(said$sentence == reservation))
  expect_identical(said$system[said$sentence == reservation], NA_character_)
  one <- may_say(quiet(estimate_metrics(x[, , 1], "sens", interval = "none")))
  expect_length(grep("Ratings cannot show how many errors the system shares", one$sentence), 1L)
  set.seed(1)
  category <- x$categories[[1L]]
  compared <- quiet(compare_systems(x, metric = "sens", category = category))
  said <- may_say(compared)$sentence
  name <- paste("sensitivity for", category)
  expect_match(said[[1L]], sprintf("the %1$s of .* minus the %1$s of ", name))
  expect_match(said[[2L]], paste("is best by", name), fixed = TRUE)
  expect_no_match(said, "sens of", fixed = TRUE)
})

test_that("sentences say that the range of an estimate is no bound", {
  sentence <- may_say(quiet(estimate_accuracy(panel_of_two(), interval = "none")))$sentence[[1L]]
  expect_match(sentence, "the estimate is between \\d+% and \\d+% \\(not bounds\\)\\.$")
})

test_that("sentences on comparisons keep names that contain the name of the metric", {
  set.seed(1)
  truth <- sample(c("a", "b"), 300, TRUE)
  answers <- function(p) ifelse(runif(300) < p, truth, ifelse(truth == "a", "b", "a"))
  data <- data.frame(id = 1:300, r1 = answers(0.8), r2 = answers(0.8), r3 = answers(0.8),
    high_accuracy = answers(0.9), kap_accuracy = answers(0.7))
  x <- ratings(data, case = id, raters = r1:r3, systems = high_accuracy:kap_accuracy,
    rater_kind = "crowd")
  estimate <- quiet(estimate_accuracy(x))
  expect_match(may_say(quiet(compare_systems(estimate)))$sentence,
    "^high_accuracy is most accurate", all = FALSE)
  expect_match(may_say(quiet(compare_systems(estimate, metric = "kap")))$sentence,
    "^high_accuracy is best by kappa of system and truth with", all = FALSE)
})

# Two other programs computed the numbers of these panels (see helper-abstain.R).

test_that("a fit of three tests has the answering probabilities of other programs", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_equal(glance(fit)$c, 23.4714189, tolerance = 1e-6)
  expect_near(glance(fit)[c("tau", "ups", "answer_c", "answer_spread")],
    c(0.4393643, 0.2343623, 5.1300543, 0.2613984))
  expect_near(base_rates(fit)[["+"]], 0.3174718)
  expect_near(glance(fit)[c("logLik", "answers_logLik")], c(-506.196857, -281.792739))
  expect_identical(glance(fit)$abstain, "depends")
  expect_near(fit$answered, c(
    0.9250267, 0.9582788, 0.9413481, 0.7736541, 0.7761392, 0.7400170
  ))
  expect_near(fit$matrices[, 2, 2], c(0.8646635, 0.8662121, 0.8381494))
  expect_near(fit$matrices[, 1, 1], c(0.9073434, 0.9169335, 0.8838122))
  expect_near(coef(fit)[1:3], c(0.8953900, 0.9030540, 0.8715859))
  expect_near(mean(coef(fit)[1:3]), fit$rater_accuracy)
  expect_near(coef(fit)[["answered[b: +]"]], 0.7761392)
  cases <- c("---", "++-", "?+-", "???")
  expect_near(label_in(ground_truth(fit), cases), c(0.0009862, 0.8152963, 0.6306457, 0.9709295))
  expect_true(all(is.na(tidy(fit)$std.error)))
  expect_true(all(is.na(confint(fit))))
  expect_true(is.na(quiet(AIC(fit))))
  matrix <- confusion(fit)$a
  expect_identical(colnames(matrix), c("-", "+", "(abstains)"))
  expect_near(matrix["+", ], c(0.7736541 * c(1 - 0.8646635, 0.8646635), 1 - 0.7736541))
  expect_near(rowSums(matrix), 1)
  yield <- test_accuracy(fit)
  yield <- yield[yield$measure == "yield" & yield$category == "+", ]
  expect_near(yield$estimate, c(0.8769701, 0.9004546, 0.8774311))
})

test_that("abstentions can count as missing, and the gate compares", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  fit <- quiet(fit_raters(x, dawid_skene(abstain = "ignored")))
  expect_near(base_rates(fit)[["+"]], 0.2916714)
  expect_near(glance(fit)$answers_logLik, -292.885863)
  expect_named(confusion(fit)$a[1, ], c("-", "+"))
  plain <- fit_raters(drop_abstentions(x), dawid_skene())
  expect_equal(coef(fit), coef(plain))
  expect_null(glance(plain)[["abstain"]])
  decision <- decide_abstain(x)
  expect_near(decision$gain, 11.093124)
  expect_near(decision$z, 7.9024056)
  expect_true(decision$depends)
  expect_false(decision$by_replies)
  expect_false(any(decision$weak))
})

test_that("labels of three tests are those of other programs", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  flat <- ground_truth(x, votes = 0)
  cases <- c("---", "++-", "?+-", "?-?", "??+", "???")
  expect_near(label_in(flat, cases),
    c(0.0163144, 0.6319926, 0.5389529, 0.3808469, 0.8906735, 0.8952767))
  cases <- c("---", "++-", "?-?", "+-+", "+++", "???")
  expect_near(label_in(ground_truth(x), cases),
    c(0.1081572, 0.6159963, 0.3570901, 0.5825304, 0.8601486, 0.8952767))
  # The members of the average, unflattened: the second has equal errors.
  mean <- ground_truth(x, rho = 0, votes = 0)
  expect_near(label_in(mean, "++-"), (0.8152963 + 0.8092091) / 2)
})

test_that("known truth enters the numbers of abstentions", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  fit <- quiet(fit_raters(x, dawid_skene(), known_truth = c("---" = "-", "+++" = "+")))
  expect_near(base_rates(fit)[["+"]], 0.3172858)
  expect_near(glance(fit)$answer_c, 5.1492949)
  expect_near(label_in(ground_truth(fit), c("++-", "?-?")), c(0.8170568, 0.4175373))
})

test_that("sources of one category are told by who abstains", {
  x <- ratings_of_replies(sources_with_replies())
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_near(glance(fit)[c("c", "tau", "ups", "answer_c", "answer_spread", "logLik")],
    c(0.1, 0.5309219, 0.2782696, 2.2751077, 0.2373709, -698.169292))
  expect_near(glance(fit)$answers_logLik, 0)
  expect_near(coef(fit)[1:4], c(0.8297427, 0.9810083, 0.9727645, 0.7576177))
  expect_near(fit$answered[, 1], c(0.3005106, 0.3293350, 0.0087424, 0.1009734))
  decision <- decide_abstain(x)
  expect_true(decision$by_replies)
  expect_near(decision$z, 5.9620400)
  cases <- c("????", "1???", "11??", "1?2?", "??22")
  expect_near(label_in(ground_truth(x, votes = 0), cases),
    c(0.4023162, 0.1515828, 0.0178083, 0.7943387, 0.9723806))
  labels <- ground_truth(x)
  expect_near(label_in(labels, cases), c(0.4023162, 0.2424581, 0.1339041, 0.6471693, 0.8611903))
  expect_true(any(grepl("identified only by abstentions", capture.output(print(labels)), fixed = TRUE)))
  # Without abstentions there is nothing.
  plain <- drop_abstentions(x)
  expect_warning(none <- ground_truth(plain), class = "fallible_warning_not_identified")
  expect_true(all(is.na(none[[2]])))
})

test_that("ignored abstentions leave what answers identify", {
  x <- ratings_of_replies(sources_with_replies()[1:7, ])
  fits <- lapply(list(x, drop_abstentions(x)), function(x) {
    quiet(fit_raters(x, dawid_skene(abstain = "ignored")))
  })
  expect_identical(fits[[1]]$identified, fits[[2]]$identified)
  # Two raters have no free errors, whatever they reply.
  data <- judges_with_replies()
  pair <- quiet(ratings(data, raters = a:b, case = case, abstain = "?", rater_kind = "expert"))
  fit <- quiet(fit_raters(pair, dawid_skene(abstain = "depends")))
  expect_true(fit$identified != "yes")
  expect_true(all(is.na(coef(fit))))
  expect_true(is.na(glance(fit)$answer_c))
})

test_that("sources that never conflict are told by who abstains", {
  x <- ratings_of_replies(sources_with_replies()[1:7, ])
  expect_near(decide_abstain(x)$z, 7.6987694)
  expect_true(decide_abstain(x)$by_replies)
  cases <- c("????", "1???", "??2?", "??22")
  expect_near(label_in(ground_truth(x, votes = 0), cases),
    c(0.4331586, 0.0012008, 0.9978534, 0.9999162))
  expect_near(label_in(ground_truth(x), cases), c(0.4331586, 0.1672671, 0.8322600, 0.8749581))
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_near(base_rates(fit)[["2"]], 0.4769936)
  expect_near(glance(fit)$answer_c, 0.6690193)
})

test_that("three categories are those of other programs", {
  x <- ratings_of_replies(judges_with_replies())
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_near(glance(fit)[c("c", "tau", "ups", "a", "answer_c", "answer_spread")],
    c(6.6784119, 0.5146143, 0.2560697, 0.3950297, 2.4693315, 0.2971945))
  expect_near(glance(fit)[c("logLik", "answers_logLik")], c(-51.940562, -32.232537))
  expect_near(base_rates(fit), c(0.3632756, 0.2836216, 0.3531027))
  expect_near(fit$matrices[1, , ], c(
    0.8503401, 0.0925982, 0.0118372, 0.1430279, 0.8619360, 0.1231618, 0.0066320, 0.0454658,
    0.8650010
  ))
  expect_near(fit$answered[c("a", "c"), ], c(0.7812970, 1, 0.8961235, 1, 0.6335230, 1))
  expect_near(decide_abstain(x)$gain, 3.526193)
  expect_near(as.matrix(ground_truth(x, votes = 0)[c(1, 6, 14), -1]), c(
    0.9521143, 0.3025111, 0.8932995, 0.0359572, 0.6590852, 0.0404777, 0.0119284, 0.0384037,
    0.0662227
  ))
  expect_near(as.matrix(ground_truth(x)[c(6, 1, 14), -1]), c(
    0.3179222, 0.8427238, 0.7799831, 0.5962093, 0.0846453, 0.1035722, 0.0858685, 0.0726309,
    0.1164447
  ))
})

test_that("fits with answering probabilities are those of a slow twin", {
  for (data in list(sources_with_replies()[c(4:7, 2:3), ], judges_with_replies())) {
    replies <- as.matrix(data[setdiff(names(data), c("case", "n"))])
    answers <- matrix(match(replies, setdiff(sort(unique(c(replies))), "?")), nrow(replies))
    silent <- replies %in% "?"
    dim(silent) <- dim(replies)
    x <- ratings_of_replies(data)
    K <- n_categories(x)
    full <- split_by_abstention(x)
    for (one_coin in c(FALSE, TRUE)) {
      slow <- slow_pooled(answers, K, data$n, one_coin, silent = silent, tolerance = 1e-12)
      fast <- core_fit_pooled(
        full$patterns, pattern_weights(full), nothing_known,
        c(unclass(dawid_skene()), abstention_arguments(full, TRUE)), one_coin, 1e-11, 20000L, 1L, no_tick
      )[[1L]]
      order <- order(match(x$categories, setdiff(sort(unique(c(replies))), "?")))
      expect_lt(max(abs(fast$posterior[full$index, order] - slow$posterior)), 1e-8)
      expect_lt(max(abs(fast$answering$answered[, order] - slow$answering$answered)), 1e-8)
      expect_equal(fast$answering$kappa, slow$answering$kappa, tolerance = 1e-7)
    }
  }
})

test_that("the order of cases, raters and categories does not matter", {
  data <- tests_with_replies()
  x <- ratings_of_replies(data, categories = c("-", "+"))
  other <- ratings_of_replies(data[rev(seq_len(nrow(data))), c("c", "a", "b", "case", "n")],
    categories = c("+", "-"))
  one <- ground_truth(x)
  two <- ground_truth(other)
  expect_lt(max(abs(label_in(two, one$case, "+") - one[["+"]])), 1e-7)
  fits <- lapply(list(x, other), function(x) quiet(fit_raters(x, dawid_skene())))
  expect_equal(fits[[1]]$answered, fits[[2]]$answered[letters[1:3], c("-", "+")], tolerance = 1e-7)
  expect_equal(decide_abstain(x)$z, decide_abstain(other)$z)
  expect_equal(decide_abstain(x)$gain, decide_abstain(other)$gain, tolerance = 1e-6)
})

test_that("new cases are judged by their own abstentions", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  fit <- quiet(fit_raters(x, dawid_skene()))
  own <- label_in(predict(fit, type = "probability"), c("++-", "?-?", "???"))
  new <- ratings_of_replies(tests_with_replies()[c(27, 21, 5), ], categories = c("-", "+"))
  expect_equal(label_in(predict(fit, new, "probability"), c("++-", "?-?", "???")), own,
    tolerance = 1e-6)
  # Without any, who answered carries no information.
  plain <- ratings(data.frame(a = "+", b = "+", c = "-"), raters = a:c, categories = c("-", "+"))
  by_hand <- base_rates(fit)
  by_hand <- unlist(by_hand) * fit$matrices[1, , 2] * fit$matrices[2, , 2] * fit$matrices[3, , 1]
  expect_equal(predict(fit, plain, "probability")[["+"]], by_hand[["+"]] / sum(by_hand),
    tolerance = 1e-6)
})

test_that("what can be known by replies depends on the number of sources", {
  sources <- function(raters, categories) {
    set.seed(1)
    of <- as.character(rep_len(seq_len(categories), raters))
    replies <- vapply(of, function(k) ifelse(runif(300) < 0.4, k, "?"), character(300))
    colnames(replies) <- paste0("s", seq_len(raters))
    x <- split_by_abstention(quiet(ratings(replies, abstain = "?")))
    core_reply_association(
      x$patterns, pattern_weights(x), abstention_arguments(x, TRUE), categories
    )[["identified"]] == 1
  }
  expect_true(sources(3, 2))
  expect_false(sources(2, 2))
  expect_false(sources(4, 3))
  expect_true(sources(5, 3))
  expect_false(sources(4, 4))
  expect_true(sources(5, 4))
})

test_that("raters who abstain at random together give no labels without a warning", {
  set.seed(99)
  bad <- 0
  for (i in 1:40) {
    hard <- runif(200) < 0.5
    replies <- replicate(3, {
      answer <- sample(c("a", "b"), 200, TRUE, c(0.8, 0.2))
      ifelse(runif(200) < ifelse(hard, 0.9, 0.05), "?", answer)
    })
    colnames(replies) <- c("u", "v", "w")
    x <- quiet(ratings(replies, abstain = "?", rater_kind = "expert"))
    decision <- decide_abstain(x)
    weak <- decision$weak[[1 + decision$depends]]
    bad <- bad + (decision$identified == "yes" && !weak)
  }
  expect_lte(bad / 40, 0.1)
})

test_that("spam, or nothing at all, is known by abstentions alone", {
  set.seed(4)
  truth <- runif(400) < 0.4
  replies <- replicate(4, ifelse(runif(400) < ifelse(truth, 0.6, 0.05), "spam", "?"))
  colnames(replies) <- letters[1:4]
  x <- ratings(replies, abstain = "?", categories = c("ham", "spam"), rater_kind = "tool")
  expect_warning(labels <- ground_truth(x), "all answers are spam",
    class = "fallible_warning_weakly_identified")
  expect_gt(mean((labels$spam > 0.5) == truth), 0.85)
  expect_identical(attr(labels, "votes"), 0)
})

test_that("accuracies are not estimated where labels rest on abstentions", {
  set.seed(3)
  truth <- 1 + (runif(300) < 0.3)
  of <- c(1, 1, 2, 2, 1)
  replies <- vapply(of, function(k) {
    ifelse(runif(300) < ifelse(truth == k, 0.4, 0.08), k, NA)
  }, numeric(300))
  colnames(replies) <- paste0("f", 1:5)
  data <- data.frame(replies, s = ifelse(runif(300) < 0.8, truth, 3 - truth))
  x <- quiet(ratings(data, raters = f1:f5, systems = s, abstain = NA, rater_kind = "tool"))
  expect_warning(estimate <- estimate_accuracy(x), "not accuracies without known truth",
    class = "fallible_warning_not_identified")
  expect_true(is.na(tidy(estimate)$estimate))
  expect_match(tidy(estimate)$reason, "ratings identify consensus labels")
  expect_equal(as.matrix(ground_truth(estimate)[-1]), as.matrix(ground_truth(x)[-1]))
  groups <- quiet(estimate_accuracy(x, by = rep(c("u", "v"), 150)))
  expect_true(all(is.na(tidy(groups)$estimate)))
  known <- stats::setNames(truth[1:40], 1:40)
  gold <- quiet(estimate_accuracy(x, known_truth = known, gold_sample = "random"))
  expect_false(is.na(tidy(gold)$estimate))
  labels <- quiet(ground_truth(x, known_truth = known, gold_sample = "random"))
  expect_identical(unname(as.matrix(labels[1:40, -1])), diag(2)[truth[1:40], ])
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_identical(fit$model$abstain, "depends")
  expect_match(tidy(quiet(estimate_accuracy(fit)))$reason, "ratings identify consensus labels")
})

test_that("accuracies of systems rest on answers only", {
  set.seed(8)
  truth <- 1 + (runif(300) < 0.3)
  say <- function(p) ifelse(runif(300) < p, truth, 3 - truth)
  data <- data.frame(a = say(0.85), b = say(0.9), c = say(0.8), s = say(0.8), never = "?")
  for (rater in c("a", "b", "c")) {
    data[[rater]][runif(300) < ifelse(truth == 2, 0.3, 0.05)] <- "?"
  }
  x <- quiet(ratings(data, raters = c(a:c, never), systems = s, abstain = "?",
    rater_kind = "expert"))
  fit <- quiet(fit_raters(x, dawid_skene()))
  expect_identical(fit$model$abstain, "depends")
  expect_true(all(is.na(fit$answered["never", ])))
  expect_true(is.na(coef(fit)[["rater_accuracy[never]"]]))
  ignored <- quiet(fit_raters(x, dawid_skene(abstain = "ignored")))
  expect_equal(tidy(quiet(estimate_accuracy(fit)))$estimate,
    tidy(quiet(estimate_accuracy(ignored)))$estimate)
  bounds <- lapply(list(fit, ignored), accuracy_bounds, interval = "none")
  expect_equal(tidy(bounds[[1]]), tidy(bounds[[2]]))
  expect_true(any(grepl("count as missing", capture.output(print(bounds[[1]])), fixed = TRUE)))
  # A rater who only abstains changes no label.
  without <- quiet(ratings(data, raters = a:c, abstain = "?", rater_kind = "expert"))
  expect_equal(as.matrix(quiet(ground_truth(x))[-1]), as.matrix(quiet(ground_truth(without))[-1]),
    tolerance = 1e-6)
})

test_that("models that cannot use abstentions say so", {
  x <- ratings_of_replies(tests_with_replies(), categories = c("-", "+"))
  expect_error(rater_model(abstain = "depends"), class = "fallible_error_argument")
  expect_error(dawid_skene("none", abstain = "depends"), class = "fallible_error_argument")
  expect_error(dawid_skene(abstain = "maybe"), class = "fallible_error_argument")
  depends <- dawid_skene(abstain = "depends")
  expect_error(fit_raters(x, depends, known_raters = list(a = 0.9)),
    class = "fallible_error_argument")
  expect_message(
    quiet_warnings <- suppressWarnings(fit_raters(x, dawid_skene("none"), "bayes",
      sampling = list(draws = 200, warmup = 50, thin = 1))),
    class = "fallible_message_abstain"
  )
  fit <- quiet(fit_raters(x, dawid_skene()))
  y <- ratings(data.frame(a = c("+", "?", "-"), b = c("+", "-", "-")), raters = a:b, abstain = "?")
  expect_error(update(quiet(fit_raters(y)), new = data.frame(case = 9, rater = "a", rating = "+")),
    "abstentions", class = "fallible_error_argument")
  for (model in list(k_model(), dawid_skene("weak"), rater_model("rater"))) {
    expect_equal(coef(quiet(fit_raters(x, model))),
      coef(quiet(fit_raters(drop_abstentions(x), model))))
  }
})

test_that("predictive values are those of cases with an answer", {
  set.seed(4)
  n <- 4000
  truth <- rbinom(n, 1, 0.5)
  d <- data.frame(case = seq_len(n))
  for (rater in c("a", "b", "c")) {
    d[[rater]] <- as.character(ifelse(runif(n) < 0.8, truth, 1 - truth))
    d[[rater]][runif(n) < ifelse(truth == 1, 0.55, 0.05)] <- "?"
  }
  x <- ratings(d, raters = a:c, case = case, abstain = "?", rater_kind = "expert")
  table <- test_accuracy(quiet(fit_raters(x, dawid_skene())), combine = c("a", "b"))
  expect_setequal(is.na(table$reason), is.na(table$estimate))
  expect_match(table$reason[!is.na(table$estimate)], "with abstentions are not computed")
  ppv <- table[table$measure == "ppv", ]
  # A share of about 1000 cases has a standard error of .015.
  expect_equal(
    ppv$estimate[ppv$rater == "a"], c(mean(truth[d$a == "0"] == 0), mean(truth[d$a == "1"] == 1)),
    tolerance = 0.06
  )
  both <- d$a == "1" & d$b == "1"
  found <- ppv$estimate[grepl("and|both", ppv$rater) & ppv$category == "1"]
  expect_equal(found[[1]], mean(truth[both] == 1), tolerance = 0.06)
})

test_that("printed labels say whether they use who abstains", {
  set.seed(4)
  truth <- rbinom(300, 1, 0.5)
  data <- as.data.frame(lapply(c(a = 1, b = 2, c = 3), function(i) {
    answer <- as.character(ifelse(runif(300) < 0.8, truth, 1 - truth))
    replace(answer, runif(300) < ifelse(truth == 1, 0.6, 0.1), "?")
  }))
  labels <- quiet(ground_truth(ratings(data, raters = a:c, abstain = "?", rater_kind = "expert")))
  notes <- cli::ansi_strip(paste(capture.output(print(labels)), collapse = " "))
  expect_match(notes, "Labels also use which raters abstain")
  # Cases without an answer have labels that differ from the base rates.
  expect_no_match(notes, "guesses from base rates")
  data[1:2, ] <- NA
  some <- quiet(ground_truth(ratings(data, raters = a:c, abstain = "?", rater_kind = "expert")))
  expect_match(paste(capture.output(print(some)), collapse = " "), "2 cases without ratings")
})

ones <- function(x, ..., votes = 0) ground_truth(x, ..., votes = votes)[["1"]]

test_that("labels of ratings are those of the average of two models", {
  # The oracles of two other programs.
  b <- c(0.1274388, 0.5661967, 0.7705091, 0.9677462, 0.5832383, 0.9259600, 0.9698532, 0.9965338)
  expect_lt(max(abs(ones(three_tests(), rho = 0) - b)), 1e-6)
  flat <- c(0.3285606, 0.6469619, 0.7528162, 0.9081445, 0.6554768, 0.8606499, 0.9112243, 0.9708629)
  expect_lt(max(abs(ones(three_tests()) - flat)), 1e-6)
  expect_identical(
    ground_truth(three_tests()), ground_truth(three_tests(), rho = 0.43, votes = 0.5)
  )
  a <- c(0.0045372, 0.0392472, 0.1496777, 0.1668713, 0.6423238, 0.8856607, 0.9858102)
  flat <- c(0.0156886, 0.0492686, 0.1020528, 0.1085947, 0.5159189, 0.6265382, 0.8140584)
  expect_lt(max(abs(ones(fluke_tests(), rho = 0) - a)), 1e-6)
  expect_lt(max(abs(ones(fluke_tests()) - flat)), 1e-6)
})

test_that("so they are for more categories", {
  first <- as.matrix(ground_truth(lehner_ratings(), votes = 0)[c(1, 4, 10), LETTERS[1:4]])
  expect_lt(max(abs(first - rbind(
    c(0.0775531, 0.0503019, 0.8172856, 0.0548595), c(0.1651749, 0.2531387, 0.1898043, 0.3918820),
    c(0.5374692, 0.2172894, 0.1533992, 0.0918423)
  ))), 1e-6)
  d <- as.matrix(ground_truth(three_categories(), votes = 0)[c(3, 6, 12), -1])
  expect_lt(max(abs(d - rbind(
    c(0.7950151, 0.1589584, 0.0460265), c(0.3040630, 0.6385984, 0.0573386),
    c(0.2020230, 0.7416824, 0.0562946)
  ))), 1e-6)
})

test_that("flattening is what its definition says, and changes no most probable category", {
  set.seed(1)
  q <- matrix(stats::rgamma(300, 0.5), 100)
  q <- q / rowSums(q)
  r <- rep(1:5, 20)
  rates <- colMeans(q)
  for (rho in c(0.1, 0.43, 1)) {
    flat <- flatten_probabilities(q, r, rho, rep(1, 100))
    expect_lt(max(abs(flat - slow_flatten(q, r, rho, rates))), 1e-10)
    expect_identical(max.col(flat), max.col(q))
  }
  expect_identical(flatten_probabilities(q, r, 0, rep(1, 100)), q)
  expect_identical(flatten_probabilities(q, r, 0.43, rep(1, 100))[r == 1, ], q[r == 1, ])
  certain <- seq_len(100) %% 2 == 0
  expect_identical(flatten_probabilities(q, r, 0.43, rep(1, 100), certain)[certain, ], q[certain, ])
  tied <- rbind(c(0.5, 0.5, 0), c(0.2, 0.3, 0.5))
  expect_equal(flatten_probabilities(tied, c(3, 3), 0.43, c(1, 1))[1, ], c(0.5, 0.5, 0))
})

test_that("a named model keeps its posterior; `rho` flattens it", {
  fit <- fit_raters(lehner_ratings())
  expect_identical(ground_truth(fit), ground_truth(fit, rho = 0))
  flat <- as.matrix(ground_truth(fit, rho = 0.43)[-1])
  as_is <- as.matrix(ground_truth(fit)[-1])
  expect_lt(mean(apply(flat, 1, max)), mean(apply(as_is, 1, max)))
  for (bad in list(-0.1, 1.1, "much", NA)) {
    expect_error(ground_truth(fit, rho = bad), "rho", class = "fallible_error_argument")
  }
})

test_that("estimates by the average have its labels, those by a named model have the model's", {
  x <- lehner_ratings()
  averaged <- quiet(estimate_accuracy(x))
  expect_equal(ground_truth(averaged), ground_truth(x))
  joint <- quiet(estimate_accuracy(x, model = dawid_skene(), interval = "none"))
  expect_equal(ground_truth(joint), ground_truth(quiet(fit_raters(x, dawid_skene()))))
})

test_that("gold cases are certain, whatever is flattened", {
  x <- lehner_ratings()
  estimate <- quiet(estimate_accuracy(x, known_truth = c("1" = "D", "7" = "A")))
  truth <- ground_truth(estimate)
  expect_identical(truth$D[[1]], 1)
  expect_identical(truth$A[[7]], 1)
  expect_lt(max(truth$C[-c(1, 7)]), 1)
})

test_that("raters who tell nothing of each other give no labels", {
  apart <- data.frame(a = c(1, 2, NA, NA), b = c(NA, NA, 1, 2))
  expect_warning(
    none <- ground_truth(ratings(apart, raters = a:b)), class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(none$`1`)))
  crossed <- data.frame(a = rep(1:2, each = 2), b = rep(1:2, 2), c = c(1, 2, 2, 1))
  expect_warning(
    ground_truth(ratings(crossed, raters = a:c)), "how often they use each",
    class = "fallible_warning_not_identified"
  )
})

test_that("two raters get labels with a warning", {
  two <- data.frame(a = c(1, 1, 2, 2, 1, 2, 1), b = c(1, 1, 2, 2, 1, 2, 2))
  expect_warning(
    truth <- ground_truth(ratings(two, raters = a:b)), "priors decide",
    class = "fallible_warning_weakly_identified"
  )
  expect_equal(rowSums(truth[-1]), rep(1, 7))
})

test_that("counts, unused categories, perfect agreement and cases without ratings have labels", {
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_equal(
    ground_truth(counted, rho = 0, votes = 0)[[2]], ground_truth(fit_raters(counted), rho = 0)[[2]]
  )
  # Mixed with vote shares, like labels from other ratings.
  expect_equal(ground_truth(counted), ground_truth(counted, rho = typical_rho, votes = 0.5))
  x <- ratings(cbind(a = c("x", "y", "x", NA), b = c("x", "y", "x", NA), c = c("x", "y", "y", NA)),
    categories = c("x", "y", "z"))
  expect_identical(quiet(ground_truth(x, votes = 0))$z, rep(0, 4))
  truth <- quiet(ground_truth(x))
  expect_equal(truth$z, c(rep(1 / 15, 3), 0)) # half a third of two pseudo-votes of five
  expect_equal(rowSums(truth[-1]), rep(1, 4))
  same <- ratings(cbind(a = rep("x", 9), b = "x", c = "x"), categories = c("x", "y"))
  expect_identical(ground_truth(same, votes = 0)$x, rep(1, 9))
  expect_equal(ground_truth(same)$x, rep(0.9, 9))
})

test_that("weights that are probabilities count as so many cases", {
  table <- transform(lehner2015, w = 0.1)
  weighted <- ratings(table, raters = rater1:rater4, weights = w, case = case)
  expect_equal(ground_truth(weighted)$A, ground_truth(lehner_ratings())$A, tolerance = 1e-6)
})

test_that("groups of raters count as one", {
  table <- transform(lehner2015, twin = rater1)
  grouped <- ratings(table, raters = c(rater1:rater4, twin), case = case,
    rater_groups = c(rater1 = "g", twin = "g"))
  expect_equal(ground_truth(grouped)$A, ground_truth(lehner_ratings())$A, tolerance = 1e-6)
})

test_that("labels and their probabilities come from predict()", {
  truth <- ground_truth(lehner_ratings())
  labels <- predict(truth)
  expect_named(labels, c("case", "category", "probability", "tied"))
  expect_identical(labels$probability, apply(as.matrix(truth[-1]), 1, max))
  expect_identical(as.character(labels$category[[1]]), "C")
})

test_that("labels are right as often as they should be on sets with known truth", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  x <- ratings_with_held_out(file.path(folder, "web_relevance"))
  truth <- utils::read.csv(file.path(folder, "web_relevance", "truth.csv"),
    colClasses = "character")
  labels <- predict(ground_truth(x))
  right <- mean(as.character(labels$category[match(truth$case, labels$case)]) == truth$truth)
  expect_lt(abs(right - 0.827), 0.003)
  fit <- glance(fit_raters(x, dawid_skene()))
  expect_equal(unlist(fit[c("c", "tau", "ups", "a")]),
    c(c = 8.423, tau = 0.4685, ups = 0.6285, a = 10.21), tolerance = 1e-3)
})

test_that("centres of panels with known truth are those of another program", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  known <- list( # c, tau, ups; and c, tau of one coin
    product = c(1.400, 0.2453, 0.3352, 1.290, 0.2456),
    bluebird = c(2.474, 0.2899, 0.3299, 2.188, 0.2900),
    weather_cf = c(181.7, 0.4440, 1.0038, 10.13, NA) # tau: .3925 here, .3937 there
  )
  apart <- vapply(names(known), function(set) {
    x <- ratings_with_held_out(file.path(folder, set))
    centre <- function(one_coin) {
      core_fit_pooled(
        x$patterns, pattern_weights(x), nothing_known, unclass(dawid_skene()), one_coin, 1e-8,
        20000L, 1L, no_tick
      )[[1L]]$centre
    }
    found <- c(unlist(centre(FALSE)[c("c", "tau", "ups")]), unlist(centre(TRUE)[c("c", "tau")]))
    max(abs(found / known[[set]] - 1), na.rm = TRUE)
  }, 0)
  expect_lt(max(apart), 1e-3)
})

test_that("labels are better than the majority's where raters are few and categories many", {
  set.seed(9)
  found <- vapply(1:8, function(i) {
    x <- simulate_ratings(rater_design(rep(0.6, 3), NULL, 5, 200))
    at <- cbind(1:200, as.integer(truth(x)$category))
    n <- category_counts(x)
    votes <- n == apply(n, 1, max)
    smoothed <- (n + 0.2) / 4
    labels <- quiet(ground_truth(x, rho = 0, votes = 0))
    c(
      right = mean(predict(labels)$category == truth(x)$category) -
        mean((votes / rowSums(votes))[at]),
      loss = mean(log(as.matrix(labels[-1])[at])) - mean(log(smoothed[at]))
    )
  }, double(2))
  expect_gt(mean(found["right", ]), 0.02) # .045 (.006) in 60 such panels
  expect_gt(mean(found["loss", ]), 0.1)
})

test_that("labels are held against known truths by one call: flattened ones are less too sure", {
  set.seed(10)
  x <- simulate_ratings(rater_design(rep(0.75, 5), NULL, 3, 600, difficulty = list(loading = 0.7)))
  gold <- truth(x)[sample(600, 300), ]
  off <- function(rho) {
    table <- calibration(ground_truth(x, rho = rho, votes = 0), gold, bins = 5)
    sum(table$n * abs(table$probability - table$share)) / sum(table$n)
  }
  expect_lt(off(0.43), 0.7 * off(0))
})

test_that("print says how sure labels are, where they are not, and what to look at again", {
  x <- lehner_ratings()
  said <- function(...) gsub("\\s+", " ", paste(capture.output(print(...)), collapse = " "))
  truth <- ground_truth(x)
  highest <- apply(as.matrix(truth[-1]), 1, max)
  told <- glance(truth)
  expect_equal(told$probability, mean(highest))
  expect_identical(told$unsure, sum(highest < 0.7))
  expect_identical(glance(ground_truth(x, votes = 0))$unsure, 8L)
  expect_identical(glance(truth, sure = 0.5)$unsure, sum(highest < 0.5))
  expect_error(glance(truth, sure = 2), class = "fallible_error_argument")
  expect_no_match(said(truth), "Expected share")
  expect_match(
    said(truth), paste0("Label probability: mean ", sprintf("%.2f", told$probability),
      ", below 0.7 in ", told$unsure, " of 10 cases (see disputed_cases())"),
    fixed = TRUE
  )
  expect_match(said(truth), "from language models .10 less often")
  expect_match(said(ground_truth(x, rho = 0, votes = 0)), "Assumed: raters err independently")
  for (other in list(ground_truth(x, votes = 0), ground_truth(x, rho = 0.1))) {
    expect_match(said(other), "was not measured in public data")
    expect_no_match(said(other), "right .05 more often", fixed = TRUE)
  }
  expect_match(said(ground_truth(x, votes = 1)), "Labels are smoothed shares of votes")
  of <- function(kind) {
    said(ground_truth(ratings(lehner2015, raters = rater1:rater4, case = case, rater_kind = kind)))
  }
  expect_no_match(of("expert"), "language models")
  expect_no_match(said(truth), "without ratings")
  unrated <- ratings(rbind(lehner2015, NA), raters = rater1:rater4)
  expect_match(said(ground_truth(unrated)), "1 case without ratings: the labels are guesses")
  expect_match(of("expert"), "mean probability is cautious, because it allows for errors")
  expect_match(of("model"), "Language models share more errors")
  # What is no longer a table of labels prints as it is.
  expect_no_match(said(truth[0, ]), "Expected")
  none <- quiet(ground_truth(ratings(cbind(a = rep(1:2, each = 2), b = rep(1:2, 2)))))
  expect_match(said(none), "Not identified: raters agree no better.*votes = 1")
})

test_that("cases with ratings only by raters who are left out are not called unrated", {
  long <- withr::with_seed(1, {
    truth <- sample(c("a", "b"), 60, TRUE)
    good <- data.frame(case = rep(2:60, each = 3), rater = c("w1", "w2", "w3"))
    good$label <- ifelse(runif(177) < 0.8, truth[good$case], "a")
    rbind(good, data.frame(case = 1:60, rater = "spammer", label = "b"))
  })
  x <- ratings(long, case = case, rater = rater, rating = label)
  for (truth in list(ground_truth(x), quiet(ground_truth(x, known_truth = c("2" = "a"))))) {
    shown <- gsub("\\s+", " ", paste(capture.output(print(truth)), collapse = " "))
    expect_match(shown, "always gave the same answer: spammer")
    expect_match(shown, "1 case without ratings by the other raters: the labels are guesses")
  }
})

# ---- Votes --------------------------------------------------------------------------------------

test_that("labels are half the model and half smoothed shares of votes", {
  a <- c(0.8921557, NA, NA, 0.7457026, 0.4420405, NA, 0.1929708)
  found <- ground_truth(fluke_tests())[["0"]]
  expect_lt(max(abs(found - a), na.rm = TRUE), 1e-6)
  expect_lt(abs(ground_truth(three_tests())[["0"]][2] - 0.4765190), 1e-6)
  c <- as.matrix(ground_truth(lehner_ratings())[6, -1])
  expect_lt(max(abs(c - c(0.3043230, 0.2075521, 0.2760672, 0.2120577))), 1e-6)
  d <- as.matrix(ground_truth(three_categories())[c(2, 3, 9), -1])
  expect_lt(max(abs(d - rbind(
    c(0.7138447, 0.2075612, 0.0785941), c(0.6641742, 0.2461459, 0.0896799),
    c(0.2091361, 0.0954033, 0.6954606)
  ))), 1e-6)
  smoothed <- as.matrix(ground_truth(three_categories(), votes = 1)[3, -1])
  expect_equal(as.vector(smoothed), c(8, 5, 2) / 15)
  expect_error(ground_truth(three_categories(), votes = 2), class = "fallible_error_argument")
})

test_that("a mixture by hand is that of the call, for fits and groups and cases without ratings", {
  answers <- cbind(
    a = c("x", "y", "x", NA, "y"), b = c("x", "y", NA, NA, "x"), c = c("x", "y", "y", NA, "y"),
    d = c("x", "x", "y", NA, "y")
  )
  x <- ratings(answers)
  model <- as.matrix(quiet(ground_truth(x, votes = 0))[-1])
  n <- category_counts(x)
  smoothed <- (n + 1) / (rowSums(n) + 2)
  for (votes in c(0.3, 0.5, 1)) {
    mixed <- (1 - votes) * model + votes * smoothed
    if (votes < 1) mixed[4, ] <- model[4, ]
    found <- as.matrix(quiet(ground_truth(x, votes = votes))[-1])
    expect_equal(unname(found), unname(mixed))
  }
  fit <- fit_raters(x)
  found <- as.matrix(ground_truth(fit, votes = 0.5)[-1])[-4, ]
  expect_equal(unname(found), unname((as.matrix(ground_truth(fit)[-1]) + smoothed)[-4, ] / 2))
  # Base rates are those of the model.
  table <- tidy(quiet(ground_truth(x)), "categories")
  expect_equal(table$probability, unname(colMeans(model)))
})

# ---- Constant raters and two raters -------------------------------------------------------------

test_that("constant raters have no part in labels and averages", {
  set.seed(3)
  truth <- sample(2L, 100, TRUE)
  answer <- function(right) ifelse(stats::runif(100) < right, truth, 3L - truth)
  x <- data.frame(case = 1:100, rater1 = answer(0.8), rater2 = answer(0.7), s = answer(0.85))
  raters <- c("rater1", "rater2")
  both <- cbind(x, idle = x$rater1[1])
  of <- function(data, raters) ratings(data, raters = tidyselect::all_of(raters), systems = s)
  two <- quiet(of(x, raters))
  three <- quiet(of(both, c(raters, "idle")))
  expect_identical(constant_raters(three), "idle")
  expect_equal(
    as.matrix(quiet(ground_truth(three))[-1]), as.matrix(quiet(ground_truth(two))[-1])
  )
  # The warning of constant raters silences no other.
  expect_warning(
    expect_warning(
      estimate_accuracy(three), "idle.*left out", class = "fallible_warning_raters"
    ), class = "fallible_warning_few_data"
  )
  found <- quiet(estimate_accuracy(three))
  plain <- quiet(estimate_accuracy(two))
  expect_equal(tidy(found), tidy(plain))
  expect_equal(tidy(found, "details"), tidy(plain, "details"))
  expect_equal(glance(found), glance(plain))
  expect_equal(tidy(quiet(estimate_accuracy(fit_raters(three)))), tidy(plain))
  gold <- c("3" = "1", "50" = "2", "7" = "2", "8" = "1", "90" = "1", "91" = "2")
  labels <- function(x) {
    as.matrix(quiet(ground_truth(x, known_truth = gold, gold_sample = "random"))[-1])
  }
  expect_equal(labels(three), labels(two))
  # Named models keep them, and groups of cases do not decide anew.
  expect_identical(n_raters(quiet(fit_raters(three, dawid_skene()))$x), 3L)
  halves <- rep(c("u", "v"), 50)
  by <- quiet(estimate_accuracy(three, by = data.frame(case = 1:100, half = halves)))
  expect_identical(by[["u"]]$fit$x$raters, raters)
  expect_no_match(paste(capture.output(data_check(three)), collapse = " "), "Nearly the same")
})

test_that("panels of raters who always give the same answer have no accuracies and no labels", {
  x <- quiet(ratings(data.frame(
    A = rep("a", 20), B = rep("a", 20), C = rep("b", 20), s = rep(c("a", "b"), 10)
  ), raters = A:C, systems = s))
  expect_identical(constant_raters(x), c("A", "B", "C"))
  expect_warning(
    estimate <- estimate_accuracy(x), "always give the same",
    class = "fallible_warning_not_identified"
  )
  expect_true(is.na(tidy(estimate)$estimate))
  expect_match(tidy(estimate)$reason, "always give the same answer")
  expect_match(may_say(estimate)$sentence[[1]], "not identified.*always give the same answer")
  expect_warning(
    labels <- ground_truth(x), "always give the same", class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(labels$a)))
  expect_silent(votes <- ground_truth(x, votes = 1))
  expect_equal(votes$a, rep(0.6, 20))
  gold <- c("1" = "a", "2" = "b")
  expect_false(anyNA(quiet(ground_truth(x, known_truth = gold))$a))
  # Other assumptions stay as they are.
  five <- data.frame(matrix("a", 30, 4), last = "b", s = rep(c("a", "b"), 15))
  five <- quiet(ratings(five, raters = -s, systems = s))
  expect_identical(tidy(quiet(estimate_accuracy(five)))$estimate, NA_real_)
  expect_false(is.na(tidy(quiet(estimate_accuracy(five, common = "none")))$estimate))
  # Four raters of two categories who could be constant by chance are not.
  few <- quiet(ratings(cbind(a = rep("a", 4), b = rep("b", 4), c = c("a", "b", "a", "b"))))
  expect_length(constant_raters(few), 0L)
})

test_that("crowds in which two raters seldom meet get labels, unless they agree by chance", {
  set.seed(8)
  sparse <- function(accuracy) {
    truth <- sample(2L, 200, TRUE)
    data <- data.frame(
      case = rep(1:200, each = 3), rater = as.vector(replicate(200, sample(600, 3)))
    )
    right <- stats::runif(600) < accuracy
    data$rating <- ifelse(right, truth[data$case], 3L - truth[data$case])
    quiet(ratings(data, case = case, rater = rater, rating = rating))
  }
  expect_false(anyNA(quiet(ground_truth(sparse(0.85)))[[2]]))
  independent <- lapply(1:12, function(i) sparse(0.5))
  kappa <- vapply(independent, function(x) glance(x)$kappa, 0)
  lacks <- vapply(independent, function(x) anyNA(quiet(ground_truth(x))[[2]]), NA)
  expect_true(any(kappa <= 0))
  expect_true(any(kappa > 0))
  expect_false(any(lacks[kappa > 0]))
  # Each rater has one case, so that no two raters have two cases in common.
  once <- lapply(1:12, function(i) {
    data <- data.frame(case = rep(1:200, each = 3), rater = 1:600, rating = sample(2L, 600, TRUE))
    quiet(ratings(data, case = case, rater = rater, rating = rating))
  })
  kappa <- vapply(once, function(x) glance(x)$kappa, 0)
  expect_true(any(kappa <= 0))
  expect_true(any(kappa > 0))
  for (x in once) {
    labels <- quiet(ground_truth(x))
    expect_identical(anyNA(labels[[2]]), glance(x)$kappa <= 0)
    if (anyNA(labels[[2]])) expect_match(attr(labels, "about")$reason, "no better")
    expect_false(anyNA(ground_truth(x, votes = 1)[[2]]))
  }
})

test_that("two raters without positive association have no labels, in either order", {
  z <- cbind(a = rep(c("p", "n"), each = 100), b = rep(c("n", "p"), each = 100))
  counts <- list(c(0, 100, 100, 0), c(10, 60, 30, 10), c(40, 60, 60, 40))
  for (n in counts) {
    z <- cbind(a = rep(c("p", "p", "n", "n"), n), b = rep(c("p", "n", "p", "n"), n))
    for (order in list(1:2, 2:1)) {
      expect_warning(
        labels <- ground_truth(ratings(z[, order])), "no better",
        class = "fallible_warning_not_identified"
      )
      expect_true(all(is.na(labels$p)))
    }
  }
  reversed <- cbind(a = rep(c("1", "2", "3"), each = 40), b = rep(c("3", "2", "1"), each = 40))
  expect_true(all(is.na(quiet(ground_truth(ratings(reversed)))[["1"]])))
})

# ---- Gold cases ---------------------------------------------------------------------------------

# The rule in loops.
slow_calibration <- function(labels, at, truth, weight = rep(1, length(truth))) {
  power_of <- function(b) {
    out <- labels[at, , drop = FALSE]^b
    out / rowSums(out)
  }
  x <- log(0.2) + (0:32) * log(25) / 32
  height <- numeric(33)
  for (j in 1:33) {
    for (g in seq_along(at)) {
      height[j] <- height[j] + weight[g] * log(max(power_of(exp(x[j]))[g, truth[g]], 1e-6))
    }
    height[j] <- height[j] - x[j]^2 / 0.5
  }
  share <- exp(height - max(height))
  b <- exp(sum(share * x) / sum(share))
  a <- vapply(seq_len(ncol(labels)), function(k) {
    (sum(weight * (truth == k)) + 5) / (sum(weight * power_of(b)[, k]) + 5)
  }, 0)
  out <- labels^b * rep(a, each = nrow(labels))
  list(b = b, a = a, labels = out / rowSums(out))
}

test_that("gold calibrates labels as published", {
  labels <- as.matrix(ground_truth(three_categories())[-1])
  at <- c(2, 5, 6, 9, 10)
  truth <- c(1, 3, 2, 3, 2)
  slow <- slow_calibration(labels, at, truth)
  expect_lt(abs(slow$b - 0.8929833), 1e-6)
  expect_lt(max(abs(slow$a - c(0.8546008, 1.0294505, 1.1327898))), 1e-6)
  expect_lt(max(abs(slow$labels[c(1, 4, 12), ] - rbind(
    c(0.7580441, 0.1225827, 0.1193733), c(0.1064905, 0.7872177, 0.1062918),
    c(0.2194239, 0.6669922, 0.1135839)
  ))), 1e-6)
  x <- three_categories()
  gold <- list(case = at, truth = truth)
  pattern <- labels[first_cases(x), ]
  found <- fit_calibration(pattern, gold, x)
  expect_equal(found$power, slow$b)
  expect_equal(found$rates, slow$a)
  calibrated <- raise_power(pattern, found$power, found$rates)[x$index, ]
  expect_equal(unname(calibrated), unname(slow$labels))
  # By probabilities of being chosen, and a weight of the case.
  gold$probability <- c(0.1, 0.2, 0.5, 0.5, 0.9)
  x <- weigh_patterns(x, rep(c(1, 3), 6))
  w <- 1 / gold$probability
  w <- w * 5 / sum(w) * c(3, 1, 3, 1, 3)
  expect_equal(fit_calibration(pattern, gold, x)$power, slow_calibration(labels, at, truth, w)$b)
})

test_that("a random sample calibrates all other labels; cases picked by hand set their own", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.7), c(s = 0.8), 3, 300))
  gold <- truth(x)[sample(300, 40), ]
  at <- match(gold$case, x$cases)
  code <- as.integer(gold$category)
  random <- ground_truth(x, known_truth = gold, gold_sample = "random")
  expect_equal(as.matrix(random[-1])[cbind(at, code)], rep(1, 40))
  given <- ground_truth(x, known_truth = gold, gold_sample = "given")
  slow <- slow_calibration(as.matrix(ground_truth(x)[-1]), at, code)
  expected <- as.matrix(given[-1])^slow$b * rep(slow$a, each = 300)
  expected <- expected / rowSums(expected)
  expect_equal(as.matrix(random[-1])[-at, ], expected[-at, ], tolerance = 1e-6)
  printed <- paste(capture.output(print(random)), collapse = " ")
  expect_match(printed, "Calibrated on 40 random cases")
  expect_warning(
    undeclared <- ground_truth(x, known_truth = gold), "are not used to calibrate the labels",
    class = "fallible_warning_hand_picked"
  )
  expect_identical(as.matrix(undeclared[-1]), as.matrix(given[-1]))
  # Estimates hand their gold on.
  estimate <- quiet(estimate_accuracy(x, known_truth = gold, gold_sample = "random"))
  expect_equal(as.matrix(ground_truth(estimate)[-1]), as.matrix(random[-1]))
  robust <- quiet(
    estimate_accuracy(x, known_truth = gold, gold_sample = "random", interval = "robust")
  )
  expect_equal(as.matrix(ground_truth(robust)[-1]), as.matrix(random[-1]))
  plain <- quiet(estimate_accuracy(x))
  from_plain <- ground_truth(plain, known_truth = gold, gold_sample = "random")
  expect_equal(as.matrix(from_plain[-1]), as.matrix(random[-1]))
  named <- ground_truth(quiet(estimate_accuracy(x, "joint", known_truth = gold,
    gold_sample = "random")))
  expect_equal(as.matrix(named[-1])[cbind(at, code)], rep(1, 40))
  fit <- ground_truth(fit_raters(x, rater_model()))
  expect_equal(as.matrix(named[-1])[-at, ], as.matrix(fit[-1])[-at, ], tolerance = 1e-6)
  # Known labels are no test of calibration.
  every <- truth(x)
  expect_identical(sum(calibration(random, every)$n), 260 * 3)
  expect_error(calibration(random, every[at, ]), "truth of other cases",
    class = "fallible_error_argument")
  expect_error(ground_truth(fit_raters(x), known_truth = gold), "fit_raters")
  expect_error(ground_truth(estimate, known_truth = gold), "already has gold")
  expect_error(ground_truth(x, gold_sample = "random"), class = "fallible_error_argument")
})

test_that("counts of ratings take gold cases", {
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  at <- c(1, 4, 6, 8, 10, 12)
  gold <- stats::setNames(counted$categories[c(4, 2, 3, 5, 4, 1)], counted$cases[at])
  labels <- ground_truth(counted, known_truth = gold, gold_sample = "random")
  expect_equal(as.matrix(labels[-1])[cbind(at, c(4, 2, 3, 5, 4, 1))], rep(1, 6))
  expect_identical(attr(labels, "calibrated")$cases, 6L)
  expect_equal(rowSums(labels[-1]), rep(1, 30))
})

test_that("permuted cases and raters have the same calibrated labels", {
  set.seed(6)
  x <- simulate_ratings(rater_design(c(0.8, 0.6, 0.7), c(s = 0.8), 3, 120))
  gold <- truth(x)[sample(120, 30), ]
  turned <- x[120:1, 3:1]
  found <- quiet(ground_truth(turned, known_truth = gold, gold_sample = "random"))
  expect_equal(
    as.matrix(found[120:1, -1]),
    as.matrix(quiet(ground_truth(x, known_truth = gold, gold_sample = "random"))[-1]),
    tolerance = 1e-6
  )
})

test_that("one judge has labels by gold only, and votes have no part in them", {
  set.seed(5)
  truth <- sample(c("x", "y"), 200, TRUE)
  other <- ifelse(truth == "x", "y", "x")
  judge <- ifelse(stats::runif(200) < 0.8, truth, other)
  x <- ratings(data.frame(case = 1:200, judge = judge), case = case, raters = judge)
  gold <- data.frame(case = 1:50, truth = truth[1:50])
  expect_error(ground_truth(x), class = "fallible_error_raters")
  labels <- ground_truth(x, known_truth = gold, gold_sample = "random")
  expect_identical(attr(labels, "votes"), 0)
  expect_null(attr(labels, "calibrated"))
  expect_equal(as.matrix(labels[-1]), as.matrix(
    ground_truth(x, known_truth = gold, gold_sample = "random", votes = 1)[-1]
  ))
  of_x <- labels$x[-(1:50)][judge[-(1:50)] == "x"]
  expect_lt(diff(range(of_x)), 1e-12)
  expect_gt(of_x[[1]], 0.6)
})

test_that("labels of ratings that may agree by chance have a note", {
  notes <- function(n, accuracy) {
    set.seed(5)
    x <- quiet(simulate_ratings(rater_design(rep(accuracy, 5), c(a = 0.8), 2, n)))
    paste(capture.output(print(quiet(ground_truth(x)))), collapse = " ")
  }
  expect_match(notes(300, 0.5), "agreement of raters may be chance")
  # Counts of ratings have the same note.
  counts <- data.frame(a = rep(c(3, 2, 1, 0), c(14, 36, 36, 14)), b = rep(0:3, c(14, 36, 36, 14)))
  shown <- capture.output(print(quiet(ground_truth(ratings(counts, counts = a:b)))))
  expect_match(paste(shown, collapse = " "), "agreement of raters may be chance")
  expect_no_match(notes(300, 0.7), "may be chance")
  # Raters who use the categories in opposite senses do not agree, but are associated.
  set.seed(1)
  truth <- sample(c("a", "b"), 300, TRUE)
  swap <- function(x, share) ifelse(runif(300) < share, x, ifelse(x == "a", "b", "a"))
  x <- ratings(cbind(r1 = swap(truth, 0.9), r2 = swap(truth, 0.9), r3 = swap(truth, 0.1),
    r4 = swap(truth, 0.1)))
  expect_no_match(paste(capture.output(print(quiet(ground_truth(x)))), collapse = " "), "chance")
})

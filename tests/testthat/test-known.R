test_that("known cases are what they are, each in a pattern of its own", {
  x <- lehner_ratings()
  same <- which(x$index == x$index[[1]])
  fit <- fit_raters(x, known_truth = c("1" = "C", "7" = "A"))
  truth <- ground_truth(fit)
  expect_equal(truth$C[[1]], 1)
  expect_equal(truth$A[[7]], 1)
  others <- as.matrix(truth[-c(1, 7), -1])
  expect_true(all(others > 0 & others < 1))
  expect_identical(fit$method, "likelihood")
  # Two equal cases; the truth of one is known.
  twins <- data.frame(a = c(1, 1, 2, 2, 1, 2), b = c(1, 1, 2, 1, 1, 2), c = c(2, 2, 2, 1, 1, 2))
  y <- ratings(twins, raters = a:c)
  fit <- fit_raters(y, known_truth = c("2" = 2))
  expect_identical(fit$x$index[[1]] == fit$x$index[[2]], FALSE)
  expect_equal(ground_truth(fit)$`2`[[2]], 1)
  expect_lt(ground_truth(fit)$`2`[[1]], 0.5)
  expect_identical(as.data.frame(fit$x), as.data.frame(y))
})

test_that("the likelihood with known cases and raters is that of a slow twin", {
  set.seed(1)
  x <- quiet(panel(40, dispersion = 2, difficulty = 0.2, missing = 0.2))
  some <- truth(x)[1:12, ]
  known <- matrix(0.1, 4, 4) + diag(0.6, 4)
  for (model in models()) {
    fit <- quiet(fit_raters(x, model, known_truth = some, known_raters = list(rater2 = known)))
    expect_identical(fit$identified, "yes")
    expect_equal(unname(confusion(fit)$rater2), known)
    joint <- slow_twin_of_known(fit, known, some)
    expect_equal(as.double(logLik(fit)), sum(log(rowSums(joint))), tolerance = 1e-9)
    expect_lt(
      max(abs(as.matrix(ground_truth(fit)[x$categories]) - joint / rowSums(joint))), 1e-8
    )
  }
})

test_that("one known rater does not make the others known", {
  known <- matrix(0.1, 4, 4) + diag(0.6, 4)
  fit <- quiet(fit_raters(lehner_ratings(), dawid_skene(), known_raters = list(rater2 = known)))
  expect_output(print(fit), "Known raters: rater2\n", fixed = TRUE)
  expect_false(isTRUE(all.equal(confusion(fit)$rater1, confusion(fit)$rater2)))
  # Nor does a known case say anything of a rater without ratings.
  silent <- transform(lehner2015, rater5 = factor(NA, levels = LETTERS[1:4]))
  x <- quiet(ratings(silent, raters = c(rater1:rater4, rater5), case = case))
  fit <- quiet(fit_raters(x, rater_model("rater"), known_truth = c("1" = "C")))
  expect_identical(which(is.na(coef(fit))), c("rater_accuracy[rater5]" = 5L))
})

test_that("where all cases are known, fits are tables", {
  set.seed(2)
  x <- panel(300)
  fit <- fit_raters(x, dawid_skene("none"), known_truth = truth(x))
  table <- as.data.frame(x)
  right <- truth(x)$category[match(table$case, truth(x)$case)]
  for (rater in x$raters) {
    own <- table$rater == rater
    expect_lt(
      max(abs(confusion(fit)[[rater]] - prop.table(table(right[own], table$rating[own]), 1))), 1e-6
    )
  }
  expect_lt(max(abs(rates_of(fit) - prop.table(table(truth(x)$category)))), 1e-6)
  # Systems are judged by that truth.
  for (method in c("joint", "shared")) {
    expect_equal(point_estimate(fit, method = method), true_accuracy(x)$sample, tolerance = 1e-8)
  }
})

test_that("gold items and known raters identify what agreement does not", {
  set.seed(3)
  x <- panel(2000)[, 1:2]
  expect_warning(fit_raters(x, dawid_skene("weak")), class = "fallible_warning_not_identified")
  fit <- fit_raters(x, dawid_skene("weak"), known_truth = truth(x)[1:1000, ])
  expect_identical(fit$identified, "yes")
  expect_lt(max(abs(coef(fit)[1:2] - c(0.5, 0.6))), 0.06)
  known <- fit_raters(x, dawid_skene("weak"), known_raters = c(rater1 = 0.5))
  expect_lt(abs(coef(known)[["rater_accuracy[rater2]"]] - 0.6), 0.1)
  expect_equal(coef(known)[["rater_accuracy[rater1]"]], 0.5)
  expect_identical(attr(logLik(fit), "df") - attr(logLik(known), "df"), 12L)
  # Raters without a common case.
  apart <- data.frame(a = c("x", NA, "y", NA), b = c(NA, "x", NA, "y"))
  fit <- fit_raters(ratings(apart, raters = a:b), known_raters = list(a = 0.9, b = 0.8))
  expect_identical(fit$identified, "yes")
})

test_that("all raters may be known", {
  set.seed(4)
  x <- panel(500)
  known <- list(rater1 = 0.5, rater2 = 0.6, rater3 = 0.7)
  for (model in list(k_model(), rater_model("rater", "distance", "strata", prior = "none"))) {
    fit <- fit_raters(x, model, known_raters = known)
    base <- rates_of(fit)
    expect_equal(mean(coef(fit)[seq_len(length(coef(fit)) - 4)]), 0.6)
    # Base rates are a fixed point of the EM algorithm (with a case more of each, by the prior).
    extra <- if (length(model$prior) > 0) 1 else 0
    again <- colSums(as.matrix(ground_truth(fit)[-1])) + extra
    expect_lt(max(abs(again / sum(again) - base)), 1e-5)
    # And systems join them.
    expect_lt(abs(point_estimate(fit, method = "joint") - 0.8), 0.1)
  }
})

test_that("a known case without ratings counts, and judges systems", {
  wide <- data.frame(
    a = c("x", "y", "x", NA), b = c("x", "y", "y", NA), s = c("x", "y", "x", "y")
  )
  x <- quiet(ratings(wide, raters = a:b, systems = s))
  fit <- quiet(fit_raters(x, known_truth = c("4" = "y")))
  expect_equal(ground_truth(fit)$y[[4]], 1)
  expect_equal(tidy(estimate_accuracy(fit, "shared", interval = "none"))$n, 4)
  without <- quiet(fit_raters(x, method = "likelihood"))
  expect_gt(rates_of(fit)[["y"]], rates_of(without)[["y"]])
})

test_that("weights of known cases count", {
  set.seed(5)
  table <- as.data.frame(panel(60))
  case <- as.integer(as.character(table$case))
  table$weight <- 1 + case %% 3
  weighted <- ratings(table, case = case, rater = rater, rating = rating, weights = weight)
  copies <- do.call(rbind, lapply(1:3, function(copy) {
    some <- table[table$weight >= copy, ]
    some$case <- paste(some$case, copy)
    some
  }))
  each <- ratings(copies, case = case, rater = rater, rating = rating)
  gold <- data.frame(case = 1:10, truth = rep(1:2, 5))
  gold_copies <- do.call(rbind, lapply(1:3, function(copy) {
    some <- gold[1 + gold$case %% 3 >= copy, ]
    some$case <- paste(some$case, copy)
    some
  }))
  model <- rater_model("rater", "distance")
  a <- fit_raters(weighted, model, known_truth = gold)
  b <- fit_raters(each, model, known_truth = gold_copies)
  expect_equal(coef(a), coef(b), tolerance = 1e-6)
})

test_that("intervals resample known cases too", {
  set.seed(6)
  x <- panel(100)
  fit <- fit_raters(x, rater_model("rater"), known_truth = truth(x)[1:50, ])
  set.seed(7)
  found <- tidy(estimate_accuracy(fit, "joint", "bootstrap", resampling = list(replicates = 100)))
  expect_true(found$conf.low < found$estimate && found$estimate < found$conf.high)
  blind <- fit_raters(x, rater_model("rater"))
  set.seed(7)
  expect_lt(found$std.error, tidy(estimate_accuracy(blind, "joint", "bootstrap", resampling = list(replicates = 100)))$std.error)
})

test_that("what cannot be known is refused", {
  x <- lehner_ratings()
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  expect_snapshot(error = TRUE, {
    fit_raters(x, known_truth = c("99" = "A"))
    fit_raters(x, known_truth = c("1" = "Z"))
    fit_raters(x, known_truth = data.frame(case = c(1, 1), truth = c("A", "B")))
    fit_raters(x, known_truth = data.frame(id = 1, by = 2, truth = "A"))
    fit_raters(x, known_truth = "A")
    fit_raters(x, known_raters = list(rater9 = 0.5))
    fit_raters(x, known_raters = 0.5)
    fit_raters(x, known_raters = list(rater1 = 1.5))
    fit_raters(x, known_raters = list(rater1 = diag(3)))
    fit_raters(x, known_raters = list(rater1 = confusion_matrix(4, 0.5)))
    fit_raters(x, known_truth = c("1" = "A"), method = "algebraic")
    fit_raters(counted, known_raters = list("1" = 0.5))
  })
  expect_identical(
    fit_raters(x, known_truth = c("1" = NA, "2" = "A"))$known$truth |> sum(), 1L
  )
})

test_that("matrices are taken by their labels", {
  x <- lehner_ratings()
  matrix <- confusion_matrix(LETTERS[1:4], 0.7, dispersion = 2)
  turned <- matrix[c(3, 1, 4, 2), c(2, 1, 3, 4)]
  fit <- function(matrix) fit_raters(x, known_raters = list(rater2 = matrix))
  expect_identical(coef(fit(matrix)), coef(fit(turned)))
  expect_output(print(fit(matrix)), "Known raters: rater2")
})

test_that("a model that is named, or a known rater, is used by default", {
  x <- lehner_ratings()
  method <- function(fit) tidy(quiet(estimate_accuracy(fit, interval = "none")))$method
  expect_identical(method(x), "average")
  expect_identical(method(fit_raters(x, method = "likelihood")), "average")
  expect_identical(method(fit_raters(x, known_truth = c("1" = "C"))), "average")
  expect_identical(method(quiet(fit_raters(x, rater_model("rater")))), "joint")
  known <- fit_raters(x, known_raters = list(rater2 = 0.7))
  expect_identical(method(known), "joint")
  expect_error(estimate_accuracy(known, "average"), class = "fallible_error_argument")
  halves <- quiet(estimate_accuracy(known, by = rep(1:2, 5), interval = "none"))
  expect_identical(halves[[1]]$fit$given$raters, list(rater2 = 0.7))
  gold <- fit_raters(x, known_truth = c("1" = "C"))
  expect_error(
    estimate_accuracy(gold, by = rep(1:2, 5)), "each group", class = "fallible_error_argument"
  )
})

test_that("the average takes known truths for what they are", {
  set.seed(5)
  x <- panel(60)
  answers <- truth(x)
  estimate <- function(fit) tidy(quiet(estimate_accuracy(fit, "average", interval = "none")))
  all <- estimate(fit_raters(x, known_truth = answers))
  expect_equal(all$independent, (60 * true_accuracy(x)$sample + 1) / 62, tolerance = 1e-9)
  expect_equal(all$shared, true_accuracy(x)$sample, tolerance = 1e-9)
})

test_that("truths and raters that are known do for kappa where no two raters share a case", {
  alone <- data.frame(a = c(1, 2, 1, 2, NA, NA, NA, NA), b = c(NA, NA, NA, NA, 1, 2, 2, 1))
  x <- ratings(cbind(alone, s = c(1, 2, 2, 2, 1, 2, 1, 1)), raters = a:b, systems = s)
  gold <- fit_raters(x, known_truth = c("1" = 1, "2" = 2, "5" = 1, "6" = 1))
  expect_identical(gold$kappa, NA_real_)
  known <- fit_raters(x, known_raters = list(a = 0.9, b = 0.8))
  set.seed(1)
  for (estimate in list(
    quiet(estimate_accuracy(gold)), quiet(estimate_accuracy(known, resampling = list(replicates = 20)))
  )) {
    expect_false(anyNA(tidy(estimate)[c("estimate", "conf.low", "conf.high")]))
    expect_output(print(estimate), "90% interval")
  }
})

test_that("a category that is rare among known cases is known all the same", {
  for (categories in 4:5) {
    set.seed(1)
    x <- simulate_ratings(rater_design(c(0.5, 0.6, 0.7), c(a = 0.9, b = 0.4), categories, 150))
    expect_true(min(table(truth(x)$category)) %in% c(1, 7))
    expect_warning(fit <- fit_raters(x, known_truth = truth(x)), NA)
    expect_identical(fit$identified, "yes")
    expect_identical(fit_raters(x, dawid_skene("weak"), known_truth = truth(x))$identified, "yes")
  }
})

test_that("a case that is there twice has its truth twice", {
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 20))
  gold <- truth(x)[1:5, ]
  once <- check_known_truth(gold, x, NULL)
  twice <- x[c(1:20, 1:20), ]
  expect_identical(check_known_truth(gold, twice, NULL), c(once, once))
  expect_error(check_known_truth(c("99" = "1"), twice, NULL), class = "fallible_error_case")
})

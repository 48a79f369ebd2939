test_that("`positive` picks the rows of a category", {
  x <- ratings(data.frame(a = c("-", "+"), b = c("-", "-", "+", "+"), c = rep(c("-", "+"), each = 4),
    n = c(3209, 309, 9403, 3221, 234, 65, 2512, 1047)), raters = a:c, weights = n)
  fit <- fit_raters(x, dawid_skene())
  all <- test_accuracy(fit)
  expect_identical(test_accuracy(fit, positive = "+"), all[all$category == "+", ])
  expect_error(test_accuracy(fit, positive = "x"), class = "fallible_error_argument")
})

test_that("raters as tests are what their matrices say", {
  fit <- fit_raters(three_tests(), dawid_skene())
  found <- test_accuracy(fit)
  of <- function(measure, rater = "b") {
    found$estimate[found$measure == measure & found$rater == rater & found$category == "1"]
  }
  m <- confusion(fit)$b
  rate <- rates_of(fit)[["1"]]
  sensitivity <- m[2, 2]
  specificity <- m[1, 1]
  expect_equal(of("sensitivity"), sensitivity)
  expect_equal(of("specificity"), specificity)
  expect_equal(of("ppv"),
    rate * sensitivity / (rate * sensitivity + (1 - rate) * (1 - specificity)))
  expect_equal(of("npv"),
    (1 - rate) * specificity / (rate * (1 - sensitivity) + (1 - rate) * specificity))
  expect_equal(of("lr_positive"), sensitivity / (1 - specificity))
  expect_equal(of("lr_negative"), (1 - sensitivity) / specificity)
  expect_equal(of("dor"), of("lr_positive") / of("lr_negative"))
  expect_equal(of("youden"), sensitivity + specificity - 1)
  expect_true(all(found$conf.low < found$estimate & found$estimate < found$conf.high))
  rare <- test_accuracy(fit, prevalence = 0.05)
  at <- rare$rater == "b" & rare$category == "1" & rare$measure == "ppv"
  expect_equal(rare$estimate[at],
    0.05 * sensitivity / (0.05 * sensitivity + 0.95 * (1 - specificity)))
  expect_equal(rare$estimate[found$measure == "dor"], found$estimate[found$measure == "dor"])
})

test_that("the other category has the answers of the first in their places", {
  found <- test_accuracy(fit_raters(three_tests(), dawid_skene()))
  pick <- function(category, measure, column = "estimate") {
    found[[column]][found$category == category & found$measure == measure]
  }
  expect_equal(pick("0", "sensitivity"), pick("1", "specificity"))
  expect_equal(pick("0", "npv"), pick("1", "ppv"))
  expect_equal(pick("0", "sensitivity", "std.error"), pick("1", "specificity", "std.error"),
    tolerance = 1e-4)
})

test_that("with known truths errors are those of shares, and so they are in crowds", {
  x <- withr::with_seed(3, simulate_ratings(rater_design(c(0.8, 0.7, 0.9), NULL, 2, 400)))
  fit <- quiet(fit_raters(x, dawid_skene("none"), known_truth = truth(x)))
  found <- test_accuracy(fit)
  some <- found[found$category == x$categories[[1]] & found$measure == "sensitivity", ]
  n <- sum(truth(x)$category == x$categories[[1]])
  expect_equal(some$std.error, sqrt(some$estimate * (1 - some$estimate) / n), tolerance = 1e-3)
  at <- transformed_measures(fit$matrices, fit$base_rates, NULL)
  crowd <- array(standard_errors_given_truth(fit, fit$base_rates), dim(at))
  exact <- transformed_standard_errors(fit, at, fit$base_rates)
  expect_equal(crowd, exact, tolerance = 1e-3)
})

test_that("models with fewer parameters have their measures too, and none where not identified", {
  x <- lehner_ratings()
  alike <- test_accuracy(fit_raters(x, method = "likelihood"))
  expect_identical(nrow(alike), 4L * 4L * 8L)
  expect_false(anyNA(alike$std.error))
  none <- test_accuracy(quiet(fit_raters(x[, 1:2], dawid_skene())))
  expect_true(all(is.na(c(none$estimate, none$conf.low))))
  for (bad in list(quote(test_accuracy(fit_raters(x))), quote(test_accuracy(x)),
                   quote(test_accuracy(fit_raters(x, dawid_skene()), prevalence = 2)))) {
    expect_error(quiet(eval(bad)), class = "fallible_error_argument")
  }
})

test_that("two tests are told as one, in series and in parallel, with errors by another route", {
  fit <- fit_raters(three_tests(), dawid_skene())
  found <- test_accuracy(fit, prevalence = 0.1, combine = c("c", "a"))
  expect_identical(utils::head(found, -32), test_accuracy(fit, prevalence = 0.1))
  expect_identical(unique(found$rater), c("a", "b", "c", "c and a", "c or a"))
  of <- function(measure, rater, column = "estimate") {
    found[[column]][found$measure == measure & found$rater == rater & found$category == "1"]
  }
  each <- function(measure) c(of(measure, "a"), of(measure, "c"))
  expect_equal(of("sensitivity", "c and a"), prod(each("sensitivity")))
  expect_equal(of("specificity", "c and a"), 1 - prod(1 - each("specificity")))
  expect_equal(of("sensitivity", "c or a"), 1 - prod(1 - each("sensitivity")))
  expect_equal(of("specificity", "c or a"), prod(each("specificity")))
  both <- c(of("sensitivity", "c and a"), of("specificity", "c and a"))
  expect_equal(of("ppv", "c and a"), 0.1 * both[[1]] / (0.1 * both[[1]] + 0.9 * (1 - both[[2]])))
  expect_true(all(found$conf.low < found$estimate & found$estimate < found$conf.high))
  # In three categories, by counting all pairs of answers.
  x <- withr::with_seed(3, simulate_ratings(rater_design(c(0.8, 0.7, 0.9), NULL, 3, 400)))
  fit <- quiet(fit_raters(x, dawid_skene("none"), known_truth = truth(x)))
  names <- x$raters[1:2]
  some <- test_accuracy(fit, combine = names)
  m <- confusion(fit)[names]
  rates <- rates_of(fit)
  first <- x$categories[[1]]
  false <- sum(rates[-1] * (1 - (1 - m[[1]][-1, 1]) * (1 - m[[2]][-1, 1]))) / sum(rates[-1])
  at <- some$rater == paste(names[[1]], "or", names[[2]]) & some$category == first
  expect_equal(some$estimate[at & some$measure == "specificity"], 1 - false)
  # In two, specificity does not move with base rates.
  x <- withr::with_seed(3, simulate_ratings(rater_design(c(0.8, 0.7, 0.9), NULL, 2, 400)))
  fit <- quiet(fit_raters(x, dawid_skene("none"), known_truth = truth(x)))
  numbers <- transformed_measures(add_combined_tests(fit$matrices, 1:2), fit$base_rates, fit$base_rates)
  expect_equal(
    array(standard_errors_given_truth(fit, fit$base_rates, 1:2), dim(numbers)),
    transformed_standard_errors(fit, numbers, fit$base_rates, 1:2), tolerance = 1e-3
  )
  # With strata of difficulty, errors are independent within strata.
  x <- withr::with_seed(3, simulate_ratings(
    rater_design(c(0.8, 0.7, 0.9, 0.8), NULL, 2, 400, difficulty = 0.2)
  ))
  fit <- quiet(fit_raters(x, rater_model("rater", "uniform", "strata")))
  some <- test_accuracy(fit, combine = x$raters[1:2], positive = x$categories[[2]])
  both <- rowMeans(vapply(stratum_matrices(fit), function(m) m[[1]][, 2] * m[[2]][, 2], c(0, 0)))
  some <- some[some$rater == paste(x$raters[1:2], collapse = " and "), ]
  expect_equal(some$estimate[1:2], unname(c(both[[2]], 1 - both[[1]])), tolerance = 1e-6)
  expect_gt(both[[2]], prod(vapply(confusion(fit)[1:2], function(m) m[2, 2], 0)) + 1e-3)
  expect_true(all(some$conf.low < some$estimate & some$estimate < some$conf.high))
  for (bad in list("a", c("a", "a"), c("a", "z"), 1)) {
    expect_error(test_accuracy(fit, combine = bad), "must be different names among \"rater1\"",
      class = "fallible_error_argument")
  }
  expect_error(test_accuracy(fit, combine = x$raters[1:3]), "two raters",
    class = "fallible_error_argument")
})

test_that("notes of posterior draws are those that print() shows", {
  fit <- drawn_tests()
  expect_identical(
    fit$terms$term[compare_with_prior(fit)$mostly_prior], c("spec[stool]", "spec[serology]")
  )
  found <- test_accuracy(fit, positive = "+", combine = c("stool", "serology"))
  expect_identical(found$note %in% "mostly prior", found$measure != "sensitivity")
  negative <- test_accuracy(fit, positive = "-")
  expect_identical(negative$note %in% "mostly prior", negative$measure != "specificity")
})

test_that("raters with fewer ratings than the centre counts for are mostly prior", {
  x <- three_tests()
  table <- data.frame(answers_of(x), late = NA, n = pattern_weights(x))
  table <- rbind(table, transform(table[1, ], late = "0", n = 1))
  made <- ratings(table, raters = a:late, weights = n)
  fit <- fit_raters(made, dawid_skene())
  expect_gt(fit$centre$c, 1)
  expect_output(print(fit), "Raters with fewer ratings (mostly prior): late", fixed = TRUE)
  found <- test_accuracy(fit, combine = c("late", "a"))
  noted <- unique(found$rater[found$note %in% "mostly prior"])
  expect_identical(noted, c("late", "late and a", "late or a"))
  plain <- quiet(fit_raters(made, dawid_skene("none")))
  expect_true(all(is.na(test_accuracy(plain)$note)))
  expect_no_match(capture.output(print(plain)), "A prior with")
  # A weak prior has the weight of the ratings with the same information about a logit.
  weak <- quiet(fit_raters(made, rater_model("rater")))
  right <- weak$rater_accuracy
  expect_equal(accuracy_prior_size(weak), 1 / (0.36 * right * (1 - right)))
  expect_output(print(weak), sprintf("weight of %.0f ratings shrinks", accuracy_prior_size(weak)))
  expect_output(print(weak), "Raters with fewer ratings (mostly prior): late", fixed = TRUE)
  common <- quiet(fit_raters(made, rater_model(errors = "free")))
  expect_no_match(capture.output(print(common)), "A prior with|mostly prior")
})

test_that("a strong centre does not make accuracies of raters mostly prior", {
  accuracy <- c(0.95, 0.9, 0.8, 0.5, 0.35)
  x <- withr::with_seed(1, simulate_ratings(rater_design(accuracy, NULL, 3, 200)))
  fit <- fit_raters(x, dawid_skene())
  expect_gt(fit$centre$c, 100)
  expect_lt(accuracy_prior_size(fit), 20)
  # Each row of a matrix has the weight c, and the accuracy is a mean over rows by base rates.
  p <- fit$rater_accuracy
  variance <- sum(fit$base_rates^2) / fit$centre$c + fit$centre$tau^2 * p * (1 - p)
  expect_equal(accuracy_prior_size(fit), 1 / variance)
  expect_no_match(capture.output(print(fit)), "mostly prior")
  expect_output(print(fit), "moved by the rater's skill")
})

test_that("intervals of probabilities are Wilson's, with the sample size of the standard error", {
  fit <- fit_raters(three_tests(), rater_model("rater", "free", prior = "none"))
  table <- test_accuracy(fit, conf_level = 0.95)
  probability <- table[table$measure %in% c("sensitivity", "specificity", "ppv", "npv"), ]
  p <- probability$estimate
  n <- p * (1 - p) / probability$std.error^2
  z <- stats::qnorm(0.975)
  root <- z * sqrt(p * (1 - p) / n + z^2 / (4 * n^2))
  expect_equal(probability$conf.low, (p + z^2 / (2 * n) - root) / (1 + z^2 / n))
  expect_equal(probability$conf.high, (p + z^2 / (2 * n) + root) / (1 + z^2 / n))
  # A predictive value within 1e-6 of 1 has an interval.
  rare <- test_accuracy(fit, prevalence = 1e-6)
  rare <- rare[rare$measure == "npv" & !is.na(rare$std.error) & rare$estimate > 1 - 1e-6, ]
  expect_gt(nrow(rare), 0L)
  expect_false(anyNA(rare$conf.low))
  ratio <- table[table$measure == "dor", ]
  expect_equal(ratio$conf.high, ratio$estimate * exp(z * ratio$std.error / ratio$estimate))
})

test_that("rows of matrices are mostly prior if a rater has few ratings of their category", {
  truth_rates <- c(0.6, 0.35, 0.05)
  x <- withr::with_seed(1, simulate_ratings(rater_design(c(0.9, 0.75, 0.85, 0.7), NULL, truth_rates,
    600)))
  fit <- fit_raters(x, dawid_skene())
  p <- fit$rater_accuracy
  size <- 1 / (1 / fit$centre$c + fit$centre$tau^2 * p * (1 - p))
  expect_gt(fit$centre$c, 600 * fit$base_rates[[3]])
  expect_false(any(find_prior_dominated_rows(fit)))
  # The third category has about 5 of the first 100 cases.
  few <- fit_raters(x[1:100, ], dawid_skene())
  size <- accuracy_prior_size(few, rates = 1)
  expect_identical(find_prior_dominated_rows(few),
    matrix(rep(100 * few$base_rates < size, each = 4), 4))
  expect_true(all(is.na(test_accuracy(fit)$note)))
})

test_that("a rater alone can be fitted with what is known, and all else says what it needs", {
  withr::local_seed(4)
  panel <- simulate_ratings(rater_design(c(0.8, 0.7), c(s = 0.9), 2, n = 200))
  alone <- panel[, 1]
  expect_identical(dim(alone), c(200L, 1L))
  gold <- truth(panel)
  known <- fit_raters(alone, dawid_skene("none"), known_truth = gold)
  hit <- as.integer(tidy(alone)$rating)
  right <- diag(prop.table(table(gold$category, hit), 1))
  expect_equal(unname(diag(confusion(known)$rater1)), unname(right), tolerance = 1e-4)
  told <- fit_raters(alone, known_raters = list(rater1 = 0.8))
  share <- mean(hit == 2)
  expect_equal(base_rates(told)[[2]], (share - 0.2) / 0.6, tolerance = 0.02) # but for the prior
  expect_false(anyNA(test_accuracy(told)$estimate))
  verbs <- list(
    fit_raters, ground_truth, agreement, estimate_accuracy, estimate_metrics,
    check_k_properties, accuracy_bounds, shared_errors, alt_test, disputed_cases, crowdtruth,
    accuracy_report, plan_cases, compare_agreement, fit_scores
  )
  for (verb in verbs) {
    expect_error(verb(alone), "At least two raters|[Oo]ne rater", class = "fallible_error_raters")
  }
  sample <- table(gold$category, hit)
  judged <- fit_raters(alone, dawid_skene(), known_raters = list(rater1 = sample))
  expect_error(accuracy_bounds(judged), "only base rates", class = "fallible_error_argument")
  for (verb in list(estimate_accuracy, estimate_metrics)) {
    expect_error(verb(judged), "same answer to all cases", class = "fallible_error_system")
  }
  # With its errors known it is one of two judges, the system the other.
  found <- tidy(quiet(estimate_accuracy(told, interval = "none")))$estimate
  expect_lt(abs(found - true_accuracy(panel)$sample), 0.1)
  expect_error(update(judged, known_raters = NULL), class = "fallible_error_raters")
})

test_that("intervals of probabilities stay in [0, 1]", {
  m <- matrix(c(0.96, 0.04, 0.1, 0.9), 2, byrow = TRUE, dimnames = list(c("-", "+"), c("-", "+")))
  rated <- factor(rep(c("-", "+"), c(76, 4)), c("-", "+"))
  fit <- quiet(fit_raters(
    ratings(data.frame(t = rated), raters = "t"), dawid_skene(prior = "none"),
    known_raters = list(t = m)
  ))
  ends <- confint(fit)
  rates <- coef(fit)[2:3]
  error <- tidy(fit)$std.error[2:3]
  # Wilson's interval by its definition: where the estimate is z errors away.
  n <- rates * (1 - rates) / error^2
  z <- stats::qnorm(0.975)
  off <- abs(rates - ends[2:3, ]) / sqrt(ends[2:3, ] * (1 - ends[2:3, ]) / n)
  expect_equal(unname(off), matrix(z, 2, 2), tolerance = 1e-8)
  expect_equal(unname(ends[2, ]), 1 - rev(unname(ends[3, ])))
  expect_true(all(ends >= 0 & ends <= 1, na.rm = TRUE))
  expect_identical(confint(fit, "base_rate[+]"), ends["base_rate[+]", , drop = FALSE])
  drawn <- confint(drawn_tests())
  expect_true(all(drawn > 0 & drawn < 1))
  # A calibrated judge, whose normal interval is [.44, 1.16].
  counts <- matrix(c(4, 1, 0, 5), 2, byrow = TRUE, dimnames = dimnames(m))
  judge <- fit_raters(
    ratings(data.frame(t = rated), raters = "t"), dawid_skene(), known_raters = list(t = counts)
  )
  expect_true(all(confint(judge) >= 0 & confint(judge) <= 1))
})

test_that("what lies on a boundary has no interval, but by cases of known truth", {
  # Myocardial infarction: Rindskopf and Rindskopf (1986).
  data <- expand.grid(q = 0:1, history = 0:1, ldh = 0:1, cpk = 0:1)
  data$n <- c(33, 0, 7, 0, 2, 0, 3, 1, 7, 0, 0, 0, 5, 8, 3, 24)
  sure <- data[rep(seq_len(16), data$n), 1:4]
  fit <- quiet(fit_raters(ratings(sure, raters = 1:4), dawid_skene(prior = "none")))
  found <- test_accuracy(fit)
  edge <- found$measure %in% c("sensitivity", "specificity") &
    (found$estimate < 1e-6 | found$estimate > 1 - 1e-6)
  expect_true(any(edge))
  expect_true(all(is.na(unlist(found[edge, c("std.error", "conf.low", "conf.high")]))))
  expect_match(found$reason[edge], "the estimate is on a boundary")
  inside <- found$measure %in% c("sensitivity", "specificity") & !edge
  expect_false(anyNA(found$conf.low[inside]))
  expect_true(all(is.na(found$reason[inside])))
  expect_gt(min((found$conf.high - found$conf.low)[!is.na(found$conf.low)]), 1e-3)
  # Cases of known truth say how near to the boundary it may be.
  known <- quiet(fit_raters(
    ratings(sure, raters = 1:4), dawid_skene(prior = "none"),
    known_truth = stats::setNames(rep(c("0", "1"), c(20, 20)), c(1:20, 74:93))
  ))
  told <- test_accuracy(known, conf_level = 0.9)
  at <- which(edge & (told$estimate < 1e-6 | told$estimate > 1 - 1e-6))
  expect_gt(length(at), 0)
  ends <- wilson_interval(told$estimate[at], 20, stats::qnorm(0.95))
  expect_equal(cbind(told$conf.low, told$conf.high)[at, , drop = FALSE], ends)
  size <- count_known_by_coefficient(known)
  expect_identical(size, c(rep(40, 4), 40, 40))
})

test_that("in pooled fits measures have no smaller error than with known truth", {
  x <- withr::with_seed(5, simulate_ratings(rater_design(seq(0.5, 0.9, 0.1), NULL, 3, 500)))
  fit <- quiet(fit_raters(x, dawid_skene()))
  found <- test_accuracy(fit)
  some <- found[found$measure == "sensitivity", ]
  n <- as.vector(t(count_ratings_by_truth(fit)))
  expect_true(all(some$std.error >= sqrt(some$estimate * (1 - some$estimate) / n) - 1e-6))
  at <- transformed_measures(fit$matrices, fit$base_rates, NULL)
  expect_lt(
    min(transformed_standard_errors(fit, at, NULL) / standard_errors_given_truth(fit, NULL)), 0.8
  )
  # A rater whose matrix is known has no error.
  known <- quiet(fit_raters(x, dawid_skene(), known_raters = list(rater1 = confusion(fit)$rater1)))
  of_known <- test_accuracy(known)
  of_known <- of_known[of_known$rater == "rater1" & of_known$measure == "sensitivity", ]
  expect_lt(max(of_known$std.error), 1e-6)
})

test_that("errors exist where LAPACK fails on the matrix without scaling", {
  skip_unless_nightly()
  x <- withr::with_seed(3, {
    right <- runif(40, 0.5, 0.9)
    simulate_ratings(rater_design(right, NULL, 3, n = 500, missing = 1 - 3 / 40))
  })
  expect_false(anyNA(test_accuracy(quiet(fit_raters(x, dawid_skene())))$std.error))
})

test_that("errors of test_accuracy() name unknown raters, similar names and wrong values", {
  fit <- fit_raters(three_tests(), dawid_skene())
  fail <- function(text, ...) {
    expect_error(test_accuracy(fit, ...), text, class = "fallible_error_argument")
  }
  fail("no \"A\".*Did you mean \"a\"", combine = c("c", "A"))
  fail("\"a\" is named more than once", combine = c("a", "a"))
  fail("It is 5", prevalence = 5)
  fail("It is c\\(0.5, 0.6\\)", prevalence = c("0" = 0.5, "1" = 0.6))
  expect_type(test_accuracy(fit)$note, "character")
})

test_that("the measures of tests are drawn with a panel for each category and measure", {
  skip_if_not_installed("ggplot2")
  fit <- fit_raters(three_tests(), dawid_skene())
  drawn <- function(...) {
    table <- test_accuracy(fit, ...)
    points <- ggplot2::layer_data(autoplot(table), 2L)
    expect_identical(nrow(points), nrow(table) %/% 2L)
    length(unique(points$PANEL))
  }
  expect_identical(drawn(), 8L)
  expect_identical(drawn(positive = "1", combine = c("a", "b")), 4L)
  withr::local_pdf(NULL)
  expect_s3_class(plot(test_accuracy(fit), title = "Tests"), "ggplot")
  none <- quiet(test_accuracy(fit_raters(lehner_ratings()[, 1:2], dawid_skene())))
  expect_error(autoplot(none), "not identified", class = "fallible_error_argument")
  expect_error(autoplot(test_accuracy(fit), nothing = 1), class = "fallible_error_argument")
})

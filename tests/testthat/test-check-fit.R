test_that("checks of two tests are what is published", {
  set.seed(1)
  checks <- check_fit(drawn_tests())
  terms <- tidy(checks)
  at <- match(
    c("base_rate[+]", "sens[stool]", "sens[serology]", "spec[stool]", "spec[serology]"), terms$term
  )
  expect_lt(max(abs(terms$contraction[at] - c(0.88, 0.73, 0.69, 0.27, 0.16))), 0.04)
  expect_identical(terms$mostly_prior[at], c(FALSE, FALSE, FALSE, TRUE, TRUE))
  shift <- tidy(checks, "sensitivity")
  of <- function(name) {
    table <- shift[shift$prior == name, ]
    table$shift[match(terms$term[at], table$term)]
  }
  # Published with an error of .02; ours has one of about .04.
  expect_lt(max(abs(of("power 0.5") - c(-0.55, 0.56, 0.42, -0.17, -0.31))), 0.15)
  expect_lt(max(abs(of("power 2") - c(0.43, -0.42, -0.48, 0.11, 0.25))), 0.15)
  expect_lt(abs(tidy(checks, "criteria")$elpd[[1]] + 175.44), 0.2)
  expect_identical(nrow(tidy(checks, "pairs")), 1L)
  # Of panels that the model itself makes, X2 of the four patterns has three degrees of freedom.
  patterns <- tidy(checks, "patterns")
  expect_lt(abs(patterns$expected - 3), 0.5)
  expect_lt(patterns$observed, 10)
  if (system.file(package = "loo") == "") {
    expect_output(print(checks), "leave-one-out needs package loo")
  }
  skip_if_not_installed("loo")
  expect_snapshot(print(checks))
})

test_that("WAIC and leave-one-out are those of package loo, case by case", {
  skip_if_not_installed("loo")
  fit <- drawn_tests()
  found <- log_likelihood_draws(fit)
  cases <- found$log_likelihood[, rep(seq_along(found$weight), found$weight)]
  waic <- suppressWarnings(loo::waic(cases))
  ours <- loo::waic(fit)
  expect_equal(ours$estimates, waic$estimates)
  expect_equal(criteria_of_fit(fit)$table$elpd[[1]], waic$estimates[["elpd_waic", "Estimate"]])
  expect_equal(criteria_of_fit(fit)$table$std.error[[1]], waic$estimates[["elpd_waic", "SE"]])
  chain <- rep(1:4, each = 1000)
  size <- loo::relative_eff(exp(cases), chain_id = chain)
  expect_equal(loo::loo(fit)$estimates, loo::loo(cases, r_eff = size)$estimates, tolerance = 1e-6)
  expect_s3_class(loo::loo_compare(loo::loo(fit), loo::loo(fit)), "compare.loo")
})

test_that("log likelihoods are of the draws that the fit has", {
  fit <- drawn_tests()
  found <- log_likelihood_draws(fit)
  for (d in c(1L, 4000L)) {
    law <- parameters_of_values(fit, fit$draws[d, ])
    given <- code_probabilities(law, pattern_codes(fit$x), fit$model, fit$x$raters)
    expect_close(found$log_likelihood[d, found$row], log(drop(given %*% t(law$base_rates))))
  }
})

test_that("priors to compare with are powers or a list", {
  fit <- drawn_tests()
  checks <- check_fit(fit, list(flat = rater_prior(others = "flat", order = "none"), same = joseph(
    order = "none"
  )))
  same <- tidy(checks, "sensitivity")
  expect_identical(same$shift[same$prior == "same"], rep(0, 6))
  expect_true(any(same$flagged[same$prior == "flat"]))
  expect_identical(nrow(tidy(check_fit(fit, NULL), "sensitivity")), 0L)
  expect_snapshot(error = TRUE, {
    check_fit(fit, -1)
    check_fit(fit, rater_prior())
    check_fit(fit_raters(lehner_ratings()))
    compare_models()
    compare_models(fit, drawn_tests_of_others())
  })
})

test_that("missing ratings and known truths are no part of checks that they do not belong to", {
  set.seed(3)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), n = 60))
  y <- as.data.frame(x)
  y <- y[-seq(1, nrow(y), 7), ]
  x <- ratings(y, case = case, rater = rater, rating = rating)
  known <- stats::setNames(rep("1", 10), x$cases[1:10])
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_truth = known,
    sampling = list(draws = 400, thin = 1)))
  checks <- check_fit(fit, NULL)
  expect_identical(nrow(tidy(checks, "patterns")), 0L)
  expect_lt(max(tidy(checks, "pairs")$cases), 46)
  expect_output(print(checks), "no X2. It needs ratings of every case by all raters: 21 of 50")
})

test_that("priors that the ratings contradict are named", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(a = 0.9, b = 0.9, c = 0.9), NULL, c("-", "+"), 300))
  conflicts <- function(...) {
    fit <- fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(...),
      sampling = list(draws = 1000))
    checks <- check_fit(fit, NULL)
    terms <- tidy(checks)
    list(terms = terms$term[terms$conflict], printed = paste(capture.output(print(checks)),
      collapse = " "))
  }
  # The prior Beta(12, 12) of spec[a] has the mean 0.5 and the standard deviation 0.1.
  wrong <- conflicts(a = list(spec = list(12, 12)), b = list(sens = list(90, 10)))
  expect_identical(wrong$terms, "spec[a]")
  expect_match(wrong$printed, "The ratings contradict the priors of spec\\[a\\]:")
  # Weak priors are not contradicted by accuracies near 1.
  for (others in c("vague", "flat")) {
    right <- conflicts(others = others)
    expect_identical(right$terms, character())
    expect_no_match(right$printed, "contradict")
  }
})

test_that("a posterior that is far from the prior and wider than it is not mostly the prior", {
  set.seed(5)
  x <- simulate_ratings(rater_design(c(a = 0.85, b = 0.9, c = 0.9), NULL, c("-", "+"), 400))
  prior <- rater_prior(a = list(spec = list(99, 1)))
  fit <- fit_raters(x, dawid_skene(), method = "bayes", prior = prior,
    known_truth = setNames(x$categories[x$truth$category], x$cases), sampling = list(draws = 1000))
  expect_match(capture.output(print(fit)), "spec\\[a\\].*prior conflict", all = FALSE)
  terms <- tidy(check_fit(fit, NULL))
  row <- terms[terms$term == "spec[a]", ]
  expect_lt(row$contraction, 0)
  expect_true(row$conflict)
  expect_false(row$mostly_prior)
  expect_match(may_say(fit, "methods")[[1L]], "The ratings contradict the priors of spec\\[a\\]")
  expect_no_match(may_say(fit)$sentence, "determine spec\\[a\\]")
})

test_that("pictures show parameters before and after", {
  skip_if_not_installed("ggplot2")
  checks <- check_fit(drawn_tests(), NULL)
  expect_s3_class(ggplot2::autoplot(checks), "ggplot")
  plot <- ggplot2::autoplot(checks$fit, "prior")
  expect_s3_class(plot, "ggplot")
  expect_null(plot$labels$caption)
  # Priors are shown without the constraint of order = "each", which a note says.
  each <- checks$fit
  each$prior$order <- "each"
  for (type in c("prior", "density")) {
    expect_match(ggplot2::autoplot(each, type)$labels$caption, "ignore the constraint")
  }
  expect_null(ggplot2::autoplot(each, "trace")$labels$caption)
  expect_output(print(new_fit_check(each, checks[c("terms", "sensitivity", "pairs", "patterns",
    "criteria")])), "ignore the constraint")
  # Lines of the legend are thicker than the traces.
  guide <- ggplot2::autoplot(checks$fit, "trace")$scales$get_scales("colour")$guide
  expect_identical(
    (guide$override.aes %||% guide$params$override.aes)[c("linewidth", "alpha")],
    list(linewidth = 1, alpha = 1)
  )
})

test_that("a paper is told the priors and what others would say", {
  set.seed(1)
  fit <- drawn_tests()
  expect_snapshot({
    cat(may_say(fit, "methods"), sep = "\n")
    cat(may_say(check_fit(fit), "methods")[[1]])
  })
  # Dependence, populations and the constraint are part of the model and of the prior.
  set.seed(1)
  pair <- quiet(fit_raters(two_tests(), free_model(dependence = "pairs",
    pairs = list(c("stool", "serology"))), method = "bayes", prior = joseph(),
    sampling = list(draws = 4000)))
  said <- may_say(pair, "methods")
  expect_match(said[[1]], "specifies (Dendukuri and Joseph 2001), which", fixed = TRUE)
  expect_match(said[[1]], "pair[stool,serology,-], pair[stool,serology,+] uniform; truncated so",
    fixed = TRUE)
  expect_match(said[[1]], "for the mean of all raters, each category is more probable")
  expect_match(may_say(pair)$sentence, all = FALSE, fixed = TRUE,
    "given the latent class, except for the dependent pair stool and serology.")
  expect_match(said, "^Dendukuri, N. and Joseph, L. .2001", all = FALSE)
  expect_no_match(may_say(fit, "methods")[[1]], "truncated|Dendukuri and Joseph|Hui and Walter")
  pair$prior$order <- "each"
  rownames(pair$prior$base_rates) <- "east"
  expect_match(may_say(pair, "methods")[[1]],
    "in east .162 cases. .Hui and Walter 1980.*for each rater, each")
  # Fits by likelihood, and comparisons of fits, name what exists.
  expect_error(may_say(quiet(fit_raters(two_tests())), "methods"), "needs a fit by .method = .bayes")
  # Every chain keeps every sweep: the paragraph has no words on thinning.
  fit$sampling$thin <- 1L
  expect_no_match(may_say(fit, "methods")[[1]], "sweeps kept")
})

test_that("sentences about a Bayesian fit have credible intervals", {
  set.seed(1)
  fit <- drawn_tests()
  said <- may_say(fit)
  expect_identical(said$system[said$may], c(rep(fit$x$raters, each = 2), NA, NA))
  row <- tidy(fit)[tidy(fit)$term == "sens[stool]", ]
  words <- sprintf(
    "sensitivity of stool for + is estimated at %s (posterior median; 90%% credible interval %s to %s)",
    format_decimals(row$estimate), format_decimals(row$conf.low), format_decimals(row$conf.high)
  )
  expect_match(said$sentence, words, fixed = TRUE, all = FALSE)
  expect_match(utils::tail(said$sentence[said$may], 1L),
    "^All of these estimates assume that raters err independently, given the latent class[.]$")
  expect_length(grep("independently, given", said$sentence[said$may]), 1L)
  expect_match(said$sentence, "base rate of [+] is estimated", all = FALSE)
  expect_match(said$sentence[!said$may], "determine spec.stool. and spec.serology.", all = FALSE)
  expect_match(said$sentence[!said$may], "gold standard", all = FALSE)
  expect_identical(may_say(check_fit(fit))$sentence, said$sentence)
  # With more than two categories, each has a sensitivity. Without convergence, none is supported.
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), categories = 3, n = 40))
  short <- quiet(fit_raters(x, dawid_skene(), method = "bayes",
    sampling = list(draws = 20, thin = 1)))
  said <- may_say(short)
  expect_match(said$sentence[said$may], "not mixed")
  expect_length(grep("sensitivity of rater1 for [123]", said$sentence[!said$may]), 3)
  expect_no_match(said$sentence, "specificity")
})

test_that("ratings may be missing in cases of known truth", {
  set.seed(2)
  truth <- sample(c("-", "+"), 60, TRUE)
  rate <- function() ifelse(runif(60) < 0.85, truth, ifelse(truth == "-", "+", "-"))
  data <- data.frame(a = rate(), b = rate(), c = rate())
  data$b[1:10] <- NA
  x <- ratings(data, raters = a:c, categories = c("-", "+"))
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 200),
    known_truth = data.frame(case = 1:20, truth = truth[1:20])))
  check <- quiet(check_fit(fit, priors = NULL))
  expect_false(anyNA(tidy(check, "patterns")$p.value))
})

test_that("predictive checks leave out cases that a rater rated more than once", {
  set.seed(1)
  truth <- sample(1:2, 100, TRUE)
  rate <- function(cases) ifelse(runif(length(cases)) < 0.8, truth[cases], 3 - truth[cases])
  long <- data.frame(case = rep(1:100, 4), rater = rep(c("a", "b", "c", "d"), each = 100))
  # Rater a rated cases 1 to 60 three times.
  long <- rbind(long, data.frame(case = rep(1:60, 2), rater = "a"))
  long$rating <- rate(long$case)
  x <- ratings(long, case = case, rater = rater, rating = rating, repeats = "ratings")
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes",
    sampling = list(draws = 200, chains = 1, thin = 1)))
  check <- quiet(check_fit(fit, priors = NULL))
  pairs <- tidy(check, "pairs")
  expect_identical(pairs$cases, c(40, 40, 40, 100, 100, 100))
  agreeing <- vapply(c("b", "c", "d"), function(rater) {
    sum(long$rating[long$rater == rater][61:100] == long$rating[61:100])
  }, 0)
  expect_equal(pairs$observed[1:3], unname(agreeing))
  expect_identical(nrow(tidy(check, "patterns")), 0L)
  expect_output(print(check), "It needs one rating of every case by every rater")
})

test_that("the methods paragraph has missing results and cases of populations, and is wrapped", {
  local_reproducible_output(width = 70)
  data <- data.frame(
    a = rep(c("-", "+"), 30), b = rep(c("-", "+", "+"), 20), farm = rep(c("1", "2"), c(20, 40))
  )
  data$b[1:7] <- NA
  fit <- quiet(fit_raters(ratings(data, raters = a:b, covariates = farm),
    rater_model("rater", base_rates = ~ farm), method = "bayes",
    sampling = list(draws = 50, warmup = 50)))
  words <- may_say(fit, "methods")
  expect_match(words[[1L]], "from 60 cases (without a result: b 7) by", fixed = TRUE)
  expect_match(words[[1L]], "rates in 1 (20 cases) and 2 (40 cases)", fixed = TRUE)
  expect_true(all(nchar(capture.output(print(words))) <= 70L))
})

#' @srrstats {BS4.2} the posterior that a sum over all allocations gives
#' @srrstats {BS2.1a} what cannot be drawn is refused
test_that("two tests have the posterior that a sum over all allocations gives", {
  fit <- drawn_tests()
  expect_lt(errors_off(fit, c(
    "base_rate[+]" = 0.7589928, "sens[stool]" = 0.3103328, "spec[stool]" = 0.9570525,
    "sens[serology]" = 0.8838959, "spec[serology]" = 0.6878223
  )), 4)
  table <- tidy(fit)
  expect_equal(
    table$contraction[match(c("base_rate[+]", "sens[stool]", "spec[serology]"), table$term)],
    c(0.88, 0.73, 0.16), tolerance = 0.1
  )
  expect_gte(min(table$ess_bulk, table$ess_tail), 1000)
  expect_lte(max(table$rhat), 1.01)
})

test_that("the draws are there for whatever is a function of them", {
  fit <- drawn_tests()
  all <- draws(fit)
  expect_identical(names(all)[1:3], c(".chain", ".iteration", ".draw"))
  expect_identical(nrow(all), 4000L)
  expect_lt(length(capture.output(print(all))), 30)
  expect_equal(mean(all[["sens[stool]"]]), tidy(fit)$mean[tidy(fit)$term == "sens[stool]"])
  expect_error(draws(fit_raters(lehner_ratings())), class = "fallible_error_argument")
  # That there are no draws is more important than an unknown argument.
  expect_error(draws(fit_raters(lehner_ratings()), n = 9), "Posterior draws need a fit by")
  expect_error(draws(fit, n = 9), "does not have.*Found `n`", class = "fallible_error_argument")
  skip_if_not_installed("posterior")
  of <- posterior::summarise_draws(posterior::as_draws_df(fit), "rhat", "ess_bulk", "ess_tail")
  expect_equal(as.data.frame(of)[-1], as.data.frame(tidy(fit)[c("rhat", "ess_bulk", "ess_tail")]),
    ignore_attr = TRUE, tolerance = 1e-12)
  expect_identical(posterior::nchains(posterior::as_draws_array(fit)), 4L)
  expect_named(posterior::as_draws_rvars(fit), c("base_rate", "spec", "sens"))
})

test_that("the same seed gives the same draws, for any number of threads", {
  run <- function(...) {
    set.seed(5)
    sampling <- list(draws = 200, warmup = 50, thin = 1, ...)
    quiet(fit_raters(
      two_tests(), dawid_skene(), method = "bayes", prior = joseph(), sampling = sampling
    ))$draws
  }
  one <- run()
  withr::with_options(list(mc.cores = 2), expect_identical(run(threads = 2), one))
})

test_that("with all truths known the posterior is that of the counts", {
  x <- lehner_ratings()
  truth <- stats::setNames(rep(LETTERS[1:4], length.out = 10), x$cases)
  set.seed(2)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_truth = truth,
    sampling = list(thin = 1)))
  said <- as.data.frame(x)
  mine <- said[said$rater == "rater1", ]
  n <- table(truth[as.character(mine$case)], mine$rating)
  expected <- (n + 1.2 / 3 + diag(2.8 - 1.2 / 3, 4)) / (rowSums(n) + 4)
  cells <- stats::setNames(
    as.vector(t(expected)), paste0("p[rater1,", rep(LETTERS[1:4], each = 4), ",", LETTERS[1:4], "]")
  )
  expect_lt(errors_off(fit, cells), 4)
  expect_equal(as.vector(as.matrix(ground_truth(fit)[-1])[cbind(1:10, rep(1:4, length.out = 10))]),
    rep(1, 10))
})

test_that("Lehner's panel has the posterior of all its truths, and its system that of a cut", {
  set.seed(3)
  beta <- list(right = list(3, 2))
  prior <- rater_prior(rater1 = beta, others = beta, order = "none")
  fit <- quiet(fit_raters(lehner_ratings(), method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(right = 0.4565409, "base_rate[A]" = 0.2900957)), 4)
  system <- draws(fit)[["accuracy[system]"]]
  error <- diagnose_parameter(matrix(system, ncol = 4))[["mcse"]]
  expect_lt(abs(mean(system) - 0.4164277) / error, 4)
})

test_that("populations have base rates of their own", {
  data <- data.frame(
    mantoux = c("+", "+", "-", "-"), tine = c("+", "-", "+", "-"),
    population = rep(c("1", "2"), each = 4), n = c(14, 4, 9, 528, 887, 31, 37, 367)
  )
  x <- ratings(data, raters = mantoux:tine, weights = n, covariates = population,
    categories = c("-", "+"))
  set.seed(4)
  prior <- rater_prior(others = list(sens = list(2, 1), spec = list(2, 1)), order = "none")
  model <- rater_model("rater", "free", base_rates = ~population)
  fit <- quiet(fit_raters(x, model, method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(
    "base_rate[+,1]" = 0.02868, "base_rate[+,2]" = 0.7154, "sens[mantoux]" = 0.96582,
    "spec[tine]" = 0.98237
  )), 4)
  # Base rates are in the methods paragraph once.
  expect_match(may_say(fit, "methods")[[1]], fixed = TRUE,
    "the Dawid-Skene model, with separate base rates in 1 (555 cases) and 2 (1,322 cases) (Hui")
  # The number of cases in a sentence about a base rate is that of its population.
  said <- may_say(fit)$sentence
  for (population in 1:2) {
    words <- sprintf(
      "On %s cases .*base rate of [+] in %d is", number(sum(data$n[data$population == population])),
      population
    )
    expect_match(said, words, all = FALSE)
  }
  expect_match(said, paste("On", number(sum(data$n)), "cases .*sensitivity of tine"), all = FALSE)
})

test_that("a population without ratings has the prior of its base rates", {
  table <- data.frame(
    a = c(0, 1, 1, 0, 1, 0, NA), b = c(0, 1, 0, 0, 1, 1, NA), c = c(0, 1, 1, 1, 1, 0, NA),
    site = c("p", "p", "p", "q", "q", "q", "z"), n = c(10, 5, 2, 3, 9, 1, 1)
  )
  model <- rater_model("rater", "free", base_rates = ~site)
  run <- function(table) {
    x <- ratings(table, raters = a:c, covariates = site, weights = n)
    set.seed(1)
    quiet(fit_raters(x, model, method = "bayes", prior = rater_prior(base_rates = 3)))
  }
  unrated <- run(table)
  other <- tidy(run(table[-7L, ]))
  shown <- tidy(unrated)
  at <- match(other$term, shown$term)
  expect_lt(max(abs(shown$mean[at] - other$mean) / sqrt(shown$mcse[at]^2 + other$mcse^2)), 4)
  prior <- shown[match("base_rate[1,z]", shown$term), ]
  expect_lt(abs(prior$mean - 0.5), 4 * prior$mcse)
  expect_equal(prior$std.error, sqrt(0.25 / 7), tolerance = 0.05)
  # The same for a population whose cases all have weight 0.
  table[7L, 1:3] <- 1
  table$n[[7L]] <- 0
  expect_equal(run(table)$draws, unrated$draws)
})

test_that("verbs of fits work on it", {
  fit <- drawn_tests()
  expect_equal(sum(base_rates(fit)), 1)
  expect_equal(unname(rowSums(confusion(fit)$stool)), c(1, 1))
  new <- ratings(cbind(stool = "+", serology = "+"), categories = c("-", "+"))
  expect_equal(
    predict(fit, new)$probability, predict(fit)$probability[[1]], tolerance = 0.01
  )
  found <- test_accuracy(fit)
  expect_equal(
    unlist(found[found$rater == "stool" & found$category == "+" & found$measure == "sensitivity",
      c("estimate", "std.error", "conf.low", "conf.high")]),
    unlist(tidy(fit)[tidy(fit)$term == "sens[stool]",
      c("estimate", "std.error", "conf.low", "conf.high")]), tolerance = 1e-9
  )
  expect_s3_class(simulate(fit, seed = 1)[[1]], "ratings")
  expect_output(print(summary(fit)), "sens\\[stool\\]")
  expect_snapshot(print(fit))
})

test_that("what cannot be drawn is refused", {
  x <- two_tests()
  expect_snapshot(error = TRUE, {
    fit_raters(x, dawid_skene(), method = "bayes")
    fit_raters(x, dawid_skene(), prior = joseph())
    fit_raters(x, rater_model("rater", "distance"), method = "bayes", prior = joseph())
    fit_raters(x, dawid_skene(), method = "bayes", prior = joseph(), sampling = list(draw = 5))
    fit_raters(x, dawid_skene(), method = "bayes", prior = joseph(), sampling = list(draws = 1e9))
    estimate_accuracy(drawn_tests())
    improper <- list(sens = c(0, 1))
    fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(stool = improper))
    fit_raters(x, rater_model("rater"), method = "bayes", prior = rater_prior(others = "partial"))
  })
  half <- ratings(
    data.frame(a = c("x", "y"), b = c("x", "x"), c = c("y", "x"), w = c(0.5, 0.5)), raters = a:c,
    weights = w
  )
  expect_error(fit_raters(half, method = "bayes"), class = "fallible_error_weights")
})

test_that("refusals have classes that say what they are about", {
  run <- function(x = two_tests(), model = dawid_skene(), ...) {
    fit_raters(x, model, method = "bayes", ...)
  }
  expect_error(run(), "with `rater_prior()`", class = "fallible_error_prior", fixed = TRUE)
  expect_error(run(prior = rater_prior(others = "flat")), class = "fallible_error_prior")
  expect_error(rater_prior(stool = list(sens = c(0, 1))), class = "fallible_error_prior")
  expect_error(rater_prior(base_rates = c(1, Inf)), class = "fallible_error_prior")
  huge <- list(draws = 1e9)
  expect_error(run(prior = joseph(), sampling = huge), class = "fallible_error_argument")
  wide <- simulate_ratings(rater_design(rep(0.7, 10), categories = 10, n = 20))
  expect_error(run(wide, sampling = list(draws = 1e7)), class = "fallible_error_memory")
})

test_that("priors that contradict an order are reported, and the order is kept", {
  perverse <- list(sens = c(2, 80), spec = c(2, 80))
  for (order in c("each", "mean")) {
    wrong <- rater_prior(stool = perverse, serology = perverse, order = order)
    expect_warning(
      suppressWarnings(
        fit <- fit_raters(two_tests(), dawid_skene(), method = "bayes", prior = wrong,
          sampling = list(draws = 400, thin = 1)),
        classes = "fallible_warning_no_convergence"
      ), class = "fallible_warning_prior"
    )
    expect_true(all(rowSums(fit$draws[, 3:6]) > 2))
    if (order == "each") expect_true(all(rowSums(fit$draws[, 3:4]) > 1))
  }
})

test_that("chains can be stopped", {
  start <- Sys.time()
  setTimeLimit(elapsed = 0.5, transient = TRUE)
  stopped <- tryCatch(
    fit_raters(two_tests(), dawid_skene(), method = "bayes", prior = joseph(),
      sampling = list(thin = 1e6)),
    interrupt = function(cnd) "stopped", error = function(cnd) conditionMessage(cnd)
  )
  setTimeLimit()
  expect_match(stopped, "stopped|time limit|Chains")
  expect_lt(as.numeric(Sys.time() - start, units = "secs"), 20) # of an hour
})

run_of_seed <- function(seed, ..., x = two_tests(), prior = joseph(order = "none")) {
  withr::with_seed(seed, quiet(fit_raters(
    x, dawid_skene(), method = "bayes", prior = prior, sampling = list(...)
  )))
}
least_size <- function(fit) min(fit$diagnostics[, c("ess_bulk", "ess_tail")])

test_that("draws lie further apart until they are worth enough, whatever the seed", {
  skip_unless_extended()
  short <- run_of_seed(1, draws = 1000)
  expect_gte(least_size(short), 500)
  expect_identical(log2(short$sampling$thin) %% 1, 0)
  # At half the distance they would not be.
  expect_lt(least_size(run_of_seed(1, draws = 1000, thin = 1)), 500)
  expect_lt(least_size(run_of_seed(1, draws = 1000, thin = short$sampling$thin / 4)), 500)
  expect_identical(run_of_seed(1, draws = 1000)$draws, short$draws)
  other <- run_of_seed(2, draws = 2000, chains = 8)
  a <- tidy(short)
  b <- tidy(other)
  expect_lt(max(abs(a$mean - b$mean) / sqrt(a$mcse^2 + b$mcse^2)), 4)
})

test_that("a run that would take too long ends with a warning", {
  package <- asNamespace("fallible")
  set <- function(value) {
    unlockBinding("max_sampling_steps", package)
    assign("max_sampling_steps", value, package)
    lockBinding("max_sampling_steps", package)
  }
  withr::defer(set(5e9))
  set(1)
  set.seed(1)
  expect_warning(
    fit <- fit_raters(two_tests(), dawid_skene(), method = "bayes", prior = joseph()),
    "Rhat .*effective sample size", class = "fallible_warning_no_convergence"
  )
  expect_identical(fit$sampling$thin, 1L)
})

test_that("chains begin in different places, with the same names of categories", {
  once <- dawid1979[!duplicated(dawid1979[c("case", "rater")]), ]
  once$rater <- paste0("r", as.integer(factor(once$rater)))
  x <- ratings(once, case = case, rater = rater, rating = rating)
  fit <- run_of_seed(3, x = x, prior = rater_prior(order = "none"), chains = 25, draws = 5000,
    warmup = 0, thin = 1)
  right <- matrix(fit$draws[, "p[r1,1,1]"], 200)
  expect_gt(stats::sd(right[1, ]), 0.02)
  expect_identical(fit$switched, 0)
  # Without what the start has left, chains agree.
  expect_lt(diagnose_parameter(right[101:200, ])[["rhat"]], 1.05)
})

test_that("a fit is made anew with what it was told", {
  fit <- drawn_tests()
  set.seed(3)
  again <- quiet(update(fit, x = two_tests()))
  expect_identical(again$prior, fit$prior)
  expect_lt(abs(mean(again$draws[, "sens[stool]"]) - mean(fit$draws[, "sens[stool]"])), 0.01)
})

test_that("one judge with a calibration sample has the posterior of the sum", {
  x <- ratings(data.frame(judge = c(0, 1), n = c(140, 60)), raters = judge, weights = n)
  counts <- as.table(rbind(c(90, 10), c(5, 45)))
  dimnames(counts) <- list(c("0", "1"), c("0", "1"))
  set.seed(4)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", known_raters = list(judge = counts),
    prior = rater_prior(others = "flat", order = "none")))
  expect_lt(errors_off(fit, c(
    "base_rate[1]" = 0.2492170, "sens[judge]" = 0.8820130, "spec[judge]" = 0.8909228
  )), 4)
})

test_that("criteria and comparisons of likelihood fits name those of Bayesian fits", {
  fit <- drawn_tests()
  for (criterion in list(AIC, BIC)) {
    expect_message(value <- criterion(fit), "compare_models")
    expect_identical(value, NA_real_)
  }
  expect_error(anova(fit, fit), "compare_models", class = "fallible_error_argument")
  expect_error(simulate(replace(fit, "model", list(rater_model("rater", "free",
    dependence = "easy")))), "check_fit", class = "fallible_error_argument")
  expect_error(dawid_skene(base_rates = ~site), "rater_model", class = "fallible_error_argument")
  expect_error(rater_prior(a = list(sens = list(mean = 0.9, sd = 0.04))), "list with names mean, sd",
    class = "fallible_error_prior")
})

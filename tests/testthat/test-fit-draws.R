#' @srrstats {BS4.2} the posterior that a sum over all allocations gives
#' @srrstats {BS2.1a} what cannot be drawn is refused
test_that("two tests have the posterior that a sum over all allocations gives", {
  fit <- drawn_tests()
  expect_lt(errors_off(fit, c(
    "base_rate[+]" = 0.7589928, "sens[stool]" = 0.3103328, "spec[stool]" = 0.9570525,
    "sens[serology]" = 0.8838959, "spec[serology]" = 0.6878223
  )), 4.5)
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
  expect_equal(mean(all[["sens[stool]"]]), tidy(fit)$mean[tidy(fit)$term == "sens[stool]"])
  expect_error(draws(fit_raters(lehner_ratings())), class = "fallible_error_argument")
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
  expect_lt(errors_off(fit, cells), 5)
  expect_equal(as.vector(as.matrix(ground_truth(fit)[-1])[cbind(1:10, rep(1:4, length.out = 10))]),
    rep(1, 10))
})

test_that("Lehner's panel has the posterior of all its truths, and its system that of a cut", {
  set.seed(3)
  beta <- list(right = list(3, 2))
  prior <- rater_prior(rater1 = beta, others = beta, order = "none")
  fit <- quiet(fit_raters(lehner_ratings(), method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(right = 0.4565409, "base_rate[A]" = 0.2900957)), 4.5)
  system <- draws(fit)[["accuracy[system]"]]
  error <- diagnose(matrix(system, ncol = 4))[["mcse"]]
  expect_lt(abs(mean(system) - 0.4164277) / error, 4.5)
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
  )), 5)
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
    found$estimate[found$rater == "stool" & found$category == "+" & found$measure == "sensitivity"],
    tidy(fit)$estimate[tidy(fit)$term == "sens[stool]"], tolerance = 0.02
  )
  expect_s3_class(simulate(fit, seed = 1)[[1]], "ratings")
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

test_that("priors that contradict an order are reported, and the order is kept", {
  wrong <- rater_prior(
    stool = list(sens = c(2, 80), spec = c(2, 80)),
    serology = list(sens = c(2, 80), spec = c(2, 80)),
    order = "each"
  )
  expect_warning(
    fit <- withCallingHandlers(
      fit_raters(two_tests(), dawid_skene(), method = "bayes", prior = wrong,
        sampling = list(draws = 400, thin = 1)),
      fallible_warning_no_convergence = function(w) rlang::cnd_muffle(w)
    ), class = "fallible_warning_prior"
  )
  expect_true(all(fit$draws[, "sens[stool]"] + fit$draws[, "spec[stool]"] > 1))
})

test_that("chains can be stopped", {
  setTimeLimit(elapsed = 0.5, transient = TRUE)
  stopped <- tryCatch(
    fit_raters(two_tests(), dawid_skene(), method = "bayes", prior = joseph(),
      sampling = list(thin = 1e5)),
    interrupt = function(cnd) "stopped", error = function(cnd) conditionMessage(cnd)
  )
  setTimeLimit()
  expect_match(stopped, "stopped|time limit|Chains")
})

test_that("a longer run and other starts tell the same", {
  run <- function(seed, ...) {
    withr::with_seed(seed, quiet(fit_raters(
      two_tests(), dawid_skene(), method = "bayes", prior = joseph(order = "none"),
      sampling = list(...)
    )))
  }
  short <- run(1, draws = 1000)
  expect_gte(min(short$diagnostics[, c("ess_bulk", "ess_tail")]), 500)
  expect_gt(short$sampling$thin, 1)
  other <- run(2, draws = 2000, chains = 8)
  a <- tidy(short)
  b <- tidy(other)
  expect_lt(max(abs(a$mean - b$mean) / sqrt(a$mcse^2 + b$mcse^2)), 4.5)
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
  )), 4.5)
})

test_that("three herds have the published posterior", {
  skip_unless_extended()
  data <- data.frame(
    elisa = c("-", "+", "-", "+"), copro = c("-", "-", "+", "+"),
    herd = rep(c("h1", "h2", "h3"), each = 4), n = c(67, 2, 6, 1, 22, 0, 1, 0, 32, 78, 1, 7)
  )
  x <- ratings(data, raters = elisa:copro, weights = n, covariates = herd, categories = c("-", "+"))
  prior <- rater_prior(
    elisa = list(sens = c(53.581, 2.626), spec = c(54.706, 5.042)),
    copro = list(sens = c(4.842, 3.561), spec = c(14.844, 4.461)), order = "none",
    base_rates = list(h1 = list(3.901, 11.037), h2 = list(1.148, 80.948), h3 = list(10.071, 11.229))
  )
  set.seed(5)
  fit <- quiet(fit_raters(x, free_model(base_rates = ~herd), method = "bayes", prior = prior))
  expect_lt(errors_off(fit, c(
    "base_rate[+,h1]" = 0.06595, "base_rate[+,h2]" = 0.01103, "base_rate[+,h3]" = 0.68933,
    "sens[elisa]" = 0.96221, "spec[elisa]" = 0.95850, "sens[copro]" = 0.13054,
    "spec[copro]" = 0.91422
  )), 4.5)
})

test_that("the latent class is what the tests share: two antibody tests outvote PCR", {
  skip_unless_extended()
  data <- data.frame(
    pcr = c("+", "+", "+", "+", "-", "-"), igg = c("+", "+", "-", "-", "-", "-"),
    igm = c("+", "-", "+", "-", "+", "-"), n = c(28, 1, 3, 36, 1, 41)
  )
  x <- ratings(data, raters = pcr:igm, weights = n, categories = c("-", "+"))
  antibody <- list(sens = c(4.841614, 3.561076), spec = c(1, 1))
  set.seed(6)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(
    pcr = list(sens = c(3.0476, 1.5119), spec = c(1, 1)), igg = antibody, igm = antibody,
    order = "each"
  )))
  # Which has errors of 3e-4 of its own.
  table <- tidy(fit)
  expected <- c(
    "base_rate[+]" = 0.2967, "sens[pcr]" = 0.9519, "spec[pcr]" = 0.5359, "sens[igg]" = 0.8298,
    "spec[igg]" = 0.9855, "sens[igm]" = 0.8730, "spec[igm]" = 0.9702
  )
  at <- match(names(expected), table$term)
  expect_lt(max(abs(table$mean[at] - expected) / sqrt(table$mcse[at]^2 + 3e-4^2)), 4.5)
})

test_that("five dentists have the posterior of a long run", {
  skip_unless_extended()
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real", "nogold_caries")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  x <- quiet(read_ratings(folder))
  set.seed(8)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(
    others = list(sens = c(2, 1), spec = c(2, 1)), order = "none"
  )))
  mean <- colMeans(fit$draws)
  mcse <- fit$diagnostics[, "mcse"]
  expected <- c(
    0.19839, 0.40699, 0.70814, 0.59368, 0.48785, 0.91309, 0.99364, 0.89752, 0.98597, 0.96852,
    0.69460
  )
  terms <- c(2L, which(startsWith(names(mean), "sens")), which(startsWith(names(mean), "spec")))
  expect_lt(max(abs(mean[terms] - expected) / sqrt(mcse[terms]^2 + 1e-8)), 4.5)
  checks <- check_fit(fit, NULL)
  waic <- tidy(checks, "criteria")
  expect_lt(max(abs(waic$elpd + 7422.165)), 0.5)
  expect_lt(max(abs(waic$parameters - 11.35)), 0.5)
  expect_lt(abs(waic$std.error[[1]] - 95.05), 0.1)
  # Pairs 12 13 14 15 23 24 25 34 35 45; dentists 1 and 3 agree too often.
  expect_lt(max(abs(tidy(checks, "pairs")$p.value -
    c(0.28, 0.007, 0.05, 0.38, 0.20, 0.31, 0.11, 0.70, 0.37, 0.37))), 0.1)
  expect_identical(tidy(checks, "patterns")$p.value, 0)
})

test_that("repeated ratings may share a matrix: Dawid's clinicians", {
  skip_unless_extended()
  times <- stats::ave(seq_len(nrow(dawid1979)), dawid1979$case, dawid1979$rater, FUN = seq_along)
  table <- data.frame(
    case = dawid1979$case, rater = paste(dawid1979$rater, times), rating = dawid1979$rating
  )
  x <- ratings(table, case = case, rater = rater, rating = rating)
  run <- function(prior) {
    task <- sampler_task(x, dawid_skene(), nothing_known, settle_prior(prior, x, dawid_skene()))
    of <- match(substr(x$raters, 1, 2), unique(substr(x$raters, 1, 2)))
    task$prior$rows <- task$prior$rows[!duplicated(of)]
    task$prior$matrix_of <- of
    options <- list(chains = 4L, kept = 5000L, warmup = 1000L, threads = 1L, thin = 10L, seed = 1:2)
    colMeans(run_sampler(x, task, options)$draws)
  }
  diagonal <- 4 + c(1, 6, 11, 16)
  alone <- run(rater_prior(others = 1 + diag(1, 4), order = "none"))
  expect_lt(max(abs(alone[1:4] - c(0.3971, 0.4346, 0.1197, 0.0486))), 0.003)
  expect_lt(max(abs(alone[diagonal] - c(0.8439, 0.8503, 0.7835, 0.5861))), 0.004)
  centred <- run(rater_prior(others = "partial", order = "mean"))
  expect_lt(max(abs(centred[1:4] - c(0.3913, 0.4301, 0.1307, 0.0480))), 0.005)
  expect_lt(max(abs(centred[diagonal] - c(0.8845, 0.8461, 0.7819, 0.8033))), 0.01)
  mu <- 4 + 16 * 5 + 4 + c(1, 6, 11, 16)
  expect_lt(max(abs(centred[mu] - c(0.815, 0.703, 0.631, 0.721))), 0.02)
})

# ---- Simulation from the prior ------------------------------------------------------------------

# Matrices of raters from Beta priors of two categories, base rates, and ratings of which some lack.
drawn_world <- function(n, raters, sens, spec, lacking = 0, each = TRUE) {
  repeat {
    se <- stats::rbeta(raters, sens[[1]], sens[[2]])
    sp <- stats::rbeta(raters, spec[[1]], spec[[2]])
    if (!each || all(se + sp > 1)) break
  }
  rate <- stats::runif(1)
  truth <- stats::runif(n) < rate
  said <- vapply(seq_len(raters), function(j) {
    stats::runif(n) < ifelse(truth, se[[j]], 1 - sp[[j]])
  }, logical(n))
  said[stats::runif(n * raters) < lacking] <- NA
  table <- as.data.frame(ifelse(said, "+", "-"))
  names(table) <- paste0("r", seq_len(raters))
  table <- table[rowSums(!is.na(table)) > 0, ]
  numbers <- c(rate, se, sp)
  names(numbers) <- c("base_rate[+]", paste0("sens[r", seq_len(raters), "]"),
    paste0("spec[r", seq_len(raters), "]"))
  list(
    x = ratings(table, raters = !!names(table), categories = c("-", "+")), numbers = numbers
  )
}

test_that("ranks of truths from the prior among their draws are even", {
  skip_unless_extended()
  prior <- rater_prior(others = list(sens = c(8, 3), spec = c(8, 3)), order = "each")
  ranks <- quiet(simulated_ranks(
    200, function() drawn_world(80, 3, c(8, 3), c(8, 3), 0.2), free_model(), prior
  ))
  p <- rank_p_values(ranks)
  expect_gt(min(p) * length(p), 0.01)
})

test_that("ranks are not even where the sampler has another prior than the truth", {
  skip_unless_extended()
  prior <- rater_prior(others = list(sens = c(30, 3), spec = c(8, 3)), order = "each")
  ranks <- quiet(simulated_ranks(
    200, function() drawn_world(80, 3, c(8, 3), c(8, 3), 0.2), free_model(), prior
  ))
  p <- rank_p_values(ranks)
  expect_lt(min(p), 1e-4)
})

test_that("posterior intervals cover what the prior has drawn", {
  skip_unless_extended()
  prior <- rater_prior(others = list(sens = c(8, 3), spec = c(8, 3)), order = "each")
  ranks <- quiet(simulated_ranks(
    300, function() drawn_world(80, 3, c(8, 3), c(8, 3), 0.2), free_model(), prior
  ))
  covered <- mean(ranks >= 5 & ranks < 95)
  # 7 numbers in each of 300 worlds: a standard error of about .008.
  expect_gt(covered, 0.87)
  expect_lt(covered, 0.93)
})

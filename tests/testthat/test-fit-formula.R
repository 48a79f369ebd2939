populations <- function(data = hui_walter()) {
  ratings(
    data, raters = mantoux:tine, weights = n, covariates = population, categories = c("-", "+")
  )
}

two_populations <- rater_model("rater", "free", base_rates = ~population)

# Three raters and a system; base rates follow a number and a factor.
draw_sites <- function(n, slope = 1) {
  data <- data.frame(z = rnorm(n), site = sample(c("a", "b", "c"), n, TRUE))
  truth <- rbinom(n, 1, plogis(slope * data$z - 0.5 + (data$site == "b")))
  answer <- function(p) ifelse(runif(n) < p, truth, 1 - truth)
  data <- cbind(data, r1 = answer(0.8), r2 = answer(0.75), r3 = answer(0.7), s = answer(0.85))
  data$truth <- truth
  data
}

of_sites <- function(data, covariates = c("z", "site")) {
  ratings(data, raters = r1:r3, systems = s, covariates = tidyselect::all_of(covariates),
    categories = 0:1)
}

# Log likelihood of two categories by hand, uniform errors: parameters are logits of accuracies,
# then coefficients of the logit of the second category.
plain_likelihood <- function(p, data, design) {
  rate <- plogis(drop(design %*% p[-(1:3)]))
  one <- rate
  zero <- 1 - rate
  for (j in 1:3) {
    right <- plogis(p[[j]])
    said <- data[[paste0("r", j)]]
    one <- one * ifelse(said == 1, right, 1 - right)
    zero <- zero * ifelse(said == 0, right, 1 - right)
  }
  log(one + zero)
}

test_that("two tests in two populations are identified, and fitted exactly", {
  x <- populations()
  fit <- fit_raters(x, two_populations)
  # Six parameters for six free frequencies: expected are those observed, which makes six equations
  # with one solution in which tests are better than chance.
  expect_true(all(vapply(confusion(fit), function(m) sum(diag(m)), 0) > 1))
  rates <- base_rates(fit, data.frame(population = c("1", "2")))
  matrices <- confusion(fit)
  data <- hui_walter()
  expected <- vapply(seq_len(nrow(data)), function(i) {
    at <- match(data$population[i], rates$population)
    sum(as.numeric(rates[at, c("-", "+")]) * matrices$mantoux[c("-", "+"), data$mantoux[i]] *
      matrices$tine[c("-", "+"), data$tine[i]])
  }, 0)
  total <- ave(data$n, data$population, FUN = sum)
  expect_equal(expected * total, data$n, tolerance = 1e-5)
  # One population is not enough.
  for (x in list(x, x[x$covariates$population == "1", ])) {
    expect_warning(
      fit_raters(x, rater_model("rater", "free", prior = "none")),
      class = "fallible_warning_not_identified"
    )
  }
  # Two coefficients of the same covariate cannot be distinguished.
  twice <- transform(data, same = population)
  expect_warning(
    fit <- fit_raters(
      ratings(twice, raters = mantoux:tine, weights = n, covariates = c(population, same)),
      rater_model("rater", "free", base_rates = ~ population + same)
    ), class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(coef(fit))))
})

test_that("sensitivity and specificity of two tests have standard errors by likelihood", {
  skip_unless_nightly()
  fit <- fit_raters(populations(), two_populations)
  found <- test_accuracy(fit)
  expect_false(anyNA(found$std.error))
  # By a bootstrap of the table: medians of absolute deviations, since few replicates are extreme.
  data <- hui_walter()
  again <- withr::with_seed(1, replicate(if (nightly_tests()) 200 else 40, {
    data$n <- c(
      rmultinom(1, sum(data$n[1:4]), data$n[1:4]), rmultinom(1, sum(data$n[5:8]), data$n[5:8])
    )
    test_accuracy(quiet(fit_raters(populations(data), two_populations)))$estimate
  }))
  rows <- which(found$category == "+" &
    found$measure %in% c("sensitivity", "specificity", "ppv", "npv"))
  spread <- apply(again[rows, ], 1, mad)
  expect_lt(max(abs(log(found$std.error[rows] / spread))), log(1.6))
  groups <- found[!is.na(found$population) & found$category == "+", ]
  expect_setequal(groups$measure, c("ppv", "npv"))
  # Bayes' rule, by hand.
  m <- confusion(fit)$tine
  rate <- base_rates(fit, data.frame(population = "1"))[["+"]]
  ppv <- rate * m["+", "+"] / (rate * m["+", "+"] + (1 - rate) * m["-", "+"])
  at <- groups$population == "1" & groups$rater == "tine" & groups$measure == "ppv"
  expect_equal(groups$estimate[at], ppv)
})

test_that("as many categories as you like, with a system beside", {
  withr::local_seed(1)
  n <- 6000
  population <- rep(c("x", "y"), each = n / 2)
  truth <- ifelse(population == "x", sample.int(3, n, TRUE, c(0.7, 0.2, 0.1)),
    sample.int(3, n, TRUE, c(0.2, 0.3, 0.5)))
  matrices <- list(
    a = rbind(c(0.8, 0.15, 0.05), c(0.2, 0.7, 0.1), c(0.05, 0.15, 0.8)),
    b = rbind(c(0.9, 0.05, 0.05), c(0.1, 0.8, 0.1), c(0.2, 0.1, 0.7))
  )
  say <- function(m) vapply(truth, function(t) sample.int(3, 1, prob = m[t, ]), 1L)
  data <- data.frame(population, a = say(matrices$a), b = say(matrices$b),
    s = say(matrix(0.1, 3, 3) + diag(0.7, 3)))
  x <- ratings(data, raters = a:b, systems = s, covariates = population)
  # Sixteen parameters of two raters, two populations and three categories.
  fit <- fit_raters(x, two_populations)
  expect_identical(fit$parameters, 16L)
  expect_equal(unname(confusion(fit)$a), matrices$a, tolerance = 0.1)
  estimate <- tidy(estimate_accuracy(fit, interval = "none"))
  expect_equal(estimate$estimate, 0.8, tolerance = 0.03)
  rates <- base_rates(fit, data.frame(population = "y"))
  expect_equal(unlist(rates[-1], use.names = FALSE), c(0.2, 0.3, 0.5), tolerance = 0.1)
  # With population as the only covariate, the base rates of each are the mean of its posterior.
  posterior <- as.matrix(ground_truth(fit)[-1])
  expect_equal(
    unname(colMeans(posterior[data$population == "y", ])), unlist(rates[-1], use.names = FALSE),
    tolerance = 1e-4
  )
})

test_that("coefficients are those of a twin, in the units of the covariates", {
  data <- withr::with_seed(4, draw_sites(400))
  data$z <- 100 + 10 * data$z
  x <- of_sites(data)
  fit <- fit_raters(x, rater_model("rater", base_rates = ~ z + site))
  design <- cbind(1, (data$z - 100) / 10, data$site == "b", data$site == "c")
  top <- optim(c(1.4, 1.1, 0.8, -0.5, 1, 1, 0),
    function(p) -sum(plain_likelihood(p, data, design)), method = "BFGS",
    control = list(reltol = 1e-13), hessian = TRUE)
  expect_equal(as.numeric(logLik(fit)), -top$value, tolerance = 1e-8)
  terms <- tidy(fit)
  at <- match(paste0("base_rate[1]:", c("z", "siteb", "sitec")), terms$term)
  expect_equal(terms$estimate[at], top$par[5:7] / c(10, 1, 1), tolerance = 1e-3)
  expect_equal(
    terms$std.error[at], sqrt(diag(solve(top$hessian))[5:7]) / c(10, 1, 1), tolerance = 1e-2
  )
  rate <- plogis(top$par[[4]] + top$par[[5]] * -1.5 + top$par[[6]])
  expect_equal(
    base_rates(fit, data.frame(z = 85, site = "b"))[["1"]], rate, tolerance = 1e-3
  )
  expect_equal(
    fit$base_rates[[2]], mean(plogis(drop(design %*% top$par[-(1:3)]))), tolerance = 1e-4
  )
  # A user-defined law of the same model is fitted by another algorithm.
  own <- rater_family(
    start = function(judged, categories) rep(1, nlevels(judged$rater)),
    law = function(parameters, judged, categories) {
      right <- plogis(parameters)[as.integer(judged$rater)]
      outer(right, diag(2)) + outer(1 - right, 1 - diag(2))
    },
    base_rates = ~ z + site
  )
  slow <- fit_raters(x, own)
  same <- intersect(names(coef(slow)), names(coef(fit)))
  expect_gte(length(same), 9)
  expect_equal(coef(slow)[same], coef(fit)[same], tolerance = 1e-4)
})

test_that("a prior of base rates is worth its cases, spread over the populations", {
  data <- withr::with_seed(5, draw_sites(150))
  x <- of_sites(data)
  fit <- fit_raters(x, rater_model("rater", base_rates = ~site, prior = list(base_rates = 4)))
  design <- cbind(1, data$site == "b", data$site == "c")
  prior <- function(p) {
    rate <- plogis(drop(design %*% p[-(1:3)]))
    4 * mean(log(rate) + log1p(-rate))
  }
  # The mean of the raters' accuracies has a separate prior: its mode, given the accuracies.
  around <- function(p) {
    weak <- weak_prior
    of <- function(m) {
      sum(dnorm(p[1:3], m, weak$spread, log = TRUE)) +
        weak$accuracy[1] * plogis(m, log.p = TRUE) + weak$accuracy[2] * plogis(-m, log.p = TRUE)
    }
    optimize(of, c(-5, 5), maximum = TRUE, tol = 1e-10)$objective
  }
  value <- function(p) -(sum(plain_likelihood(p, data, design)) + prior(p) + around(p))
  top <- optim(c(1.4, 1.1, 0.8, -0.5, 1, 0), value, method = "BFGS",
    control = list(reltol = 1e-13))
  at <- paste0("base_rate[1]:", c("(Intercept)", "siteb", "sitec"))
  expect_equal(unname(coef(fit)[at]), top$par[4:6], tolerance = 1e-3)
})

test_that("a covariate that does not matter changes nothing, under every law", {
  panel <- withr::with_seed(5, simulate_ratings(rater_design(
    c(0.6, 0.7, 0.8), categories = 3, n = 200, dispersion = 2
  )))
  wide <- as.data.frame(tidy(panel, "patterns"))
  wide <- wide[rep(seq_len(nrow(wide)), wide$n), 1:3]
  names(wide) <- c("a", "b", "c")
  twice <- rbind(cbind(wide, site = "a"), cbind(wide, site = "b"))
  x <- ratings(twice, raters = a:c, covariates = site, categories = 1:3, ordered = TRUE)
  for (law in list(
    list("rater", "uniform"), list("rater", "free"), list("rater", "distance"),
    list("common", "ordinal"), list("common", "uniform", "strata")
  )) {
    plain <- quiet(fit_raters(x, do.call(rater_model, c(law, list(prior = "none")))))
    fit <- quiet(fit_raters(x, do.call(rater_model, c(law, list(base_rates = ~site)))))
    expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(plain)), tolerance = 1e-6)
    slopes <- coef(fit)[grepl(":siteb$", names(coef(fit)))]
    expect_lt(max(abs(slopes)), 1e-3)
  }
})

test_that("formulas are checked", {
  fit_error <- function(...) {
    conditionMessage(expect_error(fit_raters(...), class = "fallible_error_columns"))
  }
  refused <- function(...) expect_error(..., class = "fallible_error_argument")
  refused(rater_model(base_rates = y ~ z))
  refused(rater_model(base_rates = "z"))
  refused(rater_model(accuracy = ~z))
  refused(rater_model("rater", "free", difficulty = ~z))
  refused(rater_model("rater", "free", base_rates = ~z, prior = "pooled"))
  expect_identical(rater_model(base_rates = ~1), rater_model())
  data <- withr::with_seed(1, draw_sites(50))
  x <- of_sites(data)
  expect_error(fit_raters(x, rater_model(base_rates = ~age)), class = "fallible_error_columns")
  for (method in c("likelihood", "bayes")) {
    wrong_case <- fit_error(x, rater_model("rater", base_rates = ~Z), method = method)
    expect_match(wrong_case, "Did you mean .z.\\?.*Covariates of the ratings are .*z")
  }
  expect_error(
    fit_raters(ratings(lehner2015, raters = rater1:rater4), rater_model(base_rates = ~age)),
    class = "fallible_error_columns"
  )
  refused(fit_raters(x, rater_model(base_rates = ~ log(z, z, z))))
  refused(fit_raters(x, rater_model(base_rates = ~z), method = "pairs"))
  fit <- fit_raters(populations(), two_populations)
  refused(base_rates(fit, data.frame(population = "3")))
  refused(base_rates(fit, "1"))
  expect_error(base_rates(fit, data.frame(people = "1")), class = "fallible_error_columns")
  refused(base_rates(fit_raters(x), data.frame(z = 1)))
  # Cases to be judged need the covariates too.
  expect_error(
    predict(fit, ratings(cbind(mantoux = "+", tine = "-"), categories = c("-", "+"))),
    class = "fallible_error_columns"
  )
})

test_that("new cases are judged by their covariates", {
  fit <- fit_raters(populations(), two_populations)
  new <- data.frame(mantoux = "+", tine = "-", population = c("1", "2"))
  judged <- augment(fit, ratings(
    new, raters = mantoux:tine, covariates = population, categories = c("-", "+")
  ))
  own <- augment(fit)
  expect_equal(judged$`.posterior_+`, own$`.posterior_+`[c(2, 6)])
})

# ---- Everything after the fit knows populations --------------------------------------------------

sites <- withr::with_seed(6, draw_sites(300))
sites[c(5, 17), c("r1", "r2", "r3", "s")] <- NA # cases without ratings
site_model <- rater_model("rater", "free", base_rates = ~site)

test_that("posteriors and base rates of cases are those of their populations", {
  x <- of_sites(sites)
  short <- list(draws = 400)
  for (fit in list(
    fit_raters(x, site_model), fit_raters(x, rater_model("rater", base_rates = ~ z + site)),
    quiet(fit_raters(x, site_model, method = "bayes", sampling = short))
  )) {
    bayes <- fit$method == "bayes"
    of_fit <- as.matrix(ground_truth(fit)[-1])
    again <- as.matrix(predict(fit, x, type = "probability")[-1])
    # Under draws a posterior is the mean of draws, here of some of them.
    expect_lt(max(abs(of_fit - again)), if (bayes) 0.03 else 1e-8)
    rates <- base_rates(fit, sites[c(5, 17), c("z", "site")])
    expect_equal(of_fit[c(5, 17), 2], rates[["1"]], tolerance = if (bayes) 0.03 else 1e-6,
      ignore_attr = TRUE)
    expect_identical(names(rates), c("z", "site", "0", "1"))
    drawn <- simulate(fit, nsim = 40, seed = 1)
    share <- rowMeans(vapply(drawn, function(x) tapply(truth(x)[[2]] == "1", sites$site, mean),
      numeric(3)))
    rates <- rates_of_cases(fit, pattern_covariates(fit$x))
    expected <- tapply(rates[fit$x$index, 2], sites$site, mean)
    expect_lt(max(abs(share - expected)), 0.03)
  }
})

test_that("draws refuse numbers, and keep populations apart whose names would be the same", {
  x <- of_sites(sites)
  expect_snapshot(
    fit_raters(x, rater_model("rater", base_rates = ~z), method = "bayes"), error = TRUE
  )
  same <- transform(sites, u = ifelse(site == "a", "a, b", "a"), w = ifelse(site == "a", "c", "b, c"))
  x <- of_sites(same, c("u", "w"))
  fit <- quiet(fit_raters(x, rater_model("rater", base_rates = ~ u + w), method = "bayes",
    sampling = list(draws = 400)))
  expect_identical(sum(startsWith(colnames(fit$draws), "base_rate")), 4L)
  rates <- base_rates(fit, data.frame(u = c("a, b", "a"), w = c("c", "b, c")))
  expect_gt(abs(diff(rates[["1"]])), 0.05)
  expect_error(base_rates(fit, data.frame(u = "a", w = "c")), class = "fallible_error_argument")
  expect_error(base_rates(fit, data.frame(u = "a")), class = "fallible_error_columns")
})

test_that("choosing systems, orders of rows and other models of the same cases change nothing", {
  two <- transform(sites, t = ifelse(seq_along(s) %% 3 == 0, 1 - s, s))
  of <- function(data) {
    ratings(data, raters = r1:r3, systems = c(s, t), covariates = site, categories = 0:1)
  }
  accuracy <- function(...) tidy(estimate_accuracy(..., method = "joint", interval = "none"))$estimate
  orders <- list(order(two$site), withr::with_seed(1, sample(nrow(two))), seq_len(nrow(two)))
  found <- vapply(orders, function(rows) {
    x <- of(two[rows, ])
    fit <- fit_raters(x, site_model)
    c(
      accuracy(fit), accuracy(fit, systems = "s"), accuracy(fit, systems = "t"),
      accuracy(x, model = site_model, systems = "s"),
      tidy(estimate_accuracy(fit, method = "joint", interval = "none")["s"])$estimate
    )
  }, numeric(6))
  expect_equal(found[, 1], found[, 2], tolerance = 1e-8)
  expect_equal(found[, 1], found[, 3], tolerance = 1e-8)
  expect_equal(found[c(1, 2, 1, 1), 1], found[3:6, 1], tolerance = 1e-8)
})

test_that("draws of populations do not depend on the order of rows", {
  skip_unless_extended()
  of <- function(rows) {
    x <- of_sites(sites[rows, ], "site")
    fit <- withr::with_seed(1, fit_raters(x, site_model, method = "bayes"))
    estimate <- tidy(withr::with_seed(1, estimate_accuracy(fit, common = "none")))
    c(estimate$estimate, estimate$std.error)
  }
  sorted <- of(order(sites$site))
  mixed <- of(withr::with_seed(2, sample(nrow(sites))))
  expect_lt(abs(sorted[1] - mixed[1]), 4 * sorted[2] / sqrt(1000))
})

test_that("models are compared case by case", {
  skip_if_not_installed("loo")
  x <- of_sites(withr::with_seed(3, draw_sites(200)), "site")
  short <- list(draws = 400)
  one <- quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = short))
  sites <- quiet(fit_raters(x, site_model, method = "bayes", sampling = short))
  found <- tidy(quiet(compare_models(one = one, sites = sites)))
  own <- loo::loo_compare(quiet(loo::waic(one)), quiet(loo::waic(sites)))
  expect_equal(min(found$difference), min(own[, "elpd_diff"]), tolerance = 1e-6)
  expect_equal(max(found$difference.error), max(own[, "se_diff"]), tolerance = 1e-6)
})

test_that("every interval goes with a formula", {
  x <- of_sites(sites)
  fit <- fit_raters(x, rater_model("rater", base_rates = ~ z + site))
  for (interval in c("robust", "profile", "bootstrap")) {
    table <- tidy(quiet(estimate_accuracy(fit, method = "joint", interval = interval,
      resampling = list(replicates = 50))))
    expect_true(table$conf.low < table$estimate && table$estimate < table$conf.high)
  }
  expect_s3_class(quiet(estimate_metrics(estimate_accuracy(fit), "sens")), "metric_estimate")
  expect_snapshot({
    rater_model("rater", base_rates = ~ site + age)
    fit
    tidy(rater_model("rater", "free", base_rates = ~ site + age))
  })
})

test_that("base rates without newdata are means over cases, which a message says", {
  fit <- fit_raters(of_sites(sites), rater_model("rater", base_rates = ~ z + site))
  expect_message(base_rates(fit), "means over all cases.*data.frame\\(z = , site = \\)")
  expect_no_message(base_rates(fit, data.frame(z = 0, site = "a")))
  expect_output(print(fit), "Base rates (means over cases):", fixed = TRUE)
})

test_that("levels of strings have one order in every locale", {
  columns <- formula_design(~g, data.frame(g = c("a", "B", "c")))$names
  expect_identical(columns, c("(Intercept)", "ga", "gc"))
})

test_that("levels of a covariate without cases do not change a fit", {
  model <- rater_model("rater", base_rates = ~ z + site)
  kept <- sites$site != "b"
  levelled <- of_sites(transform(sites, site = factor(site)))
  for (ordered in c(FALSE, TRUE)) {
    data <- transform(sites, site = factor(site, c("c", "a", "b"), ordered = ordered))
    fit <- fit_raters(of_sites(data)[which(kept), ], model)
    plain <- fit_raters(of_sites(droplevels(data[kept, ])), model)
    expect_identical(coef(fit), coef(plain))
  }
  fit <- fit_raters(of_sites(sites[kept, ]), model) # site as text
  expect_identical(coef(fit), coef(fit_raters(levelled[which(kept), ], model)))
  # The level without cases has no base rates. Other cases may still contain it as a level.
  new <- data.frame(z = 0, site = factor(c("a", "c"), c("a", "b", "c")))
  expect_equal(base_rates(fit, new)[3:4], base_rates(fit, droplevels(new))[3:4])
  expect_error(base_rates(fit, data.frame(z = 0, site = "b")), class = "fallible_error_argument")
  expect_error(predict(fit, levelled), class = "fallible_error_argument")
  # In one of two groups, no case has the level.
  in_groups <- function(data) {
    x <- of_sites(data)[which(seq_len(300) <= 150 | kept), ]
    groups <- data.frame(case = x$cases, group = as.integer(x$cases) <= 150)
    tidy(estimate_accuracy(x, "joint", by = groups, model = model, interval = "none"))
  }
  estimates <- in_groups(transform(sites, site = factor(site)))
  expect_false(anyNA(estimates$estimate))
  expect_identical(estimates, in_groups(sites))
})

test_that("formulas without an intercept are refused, because they would get one", {
  for (formula in c(~ 0 + site, ~ site - 1, ~0)) {
    expect_error(rater_model("rater", "free", base_rates = formula), "must have an intercept",
      class = "fallible_error_argument")
  }
  expect_s3_class(rater_model("rater", "free", base_rates = ~.), "rater_model")
})

test_that("a data frame of new ratings and covariates gives the predictions of such ratings", {
  set.seed(3)
  ill <- rbinom(300, 1, rep(c(0.2, 0.6), each = 150))
  answers <- function(p) ifelse(rbinom(300, 1, ifelse(ill == 1, p, 1 - p)) == 1, "pos", "neg")
  data <- data.frame(
    ELISA = answers(0.9), PCR = answers(0.85), culture = answers(0.8),
    herd = rep(c("A", "B"), each = 150)
  )
  new <- data.frame(ELISA = "pos", PCR = "pos", culture = "pos", herd = c("A", "B"))
  as_new <- function(x = new) {
    ratings(x, raters = ELISA:culture, covariates = herd, categories = c("neg", "pos"))
  }
  x <- ratings(data, raters = ELISA:culture, covariates = herd)
  for (model in list(rater_model("rater", base_rates = ~herd), dawid_skene())) {
    fit <- fit_raters(x, model)
    expect_identical(predict(fit, new), predict(fit, as_new()))
    expect_identical(predict(fit, new, "probability")$pos, predict(fit, as_new(), "probability")$pos)
    expect_identical(augment(fit, new), augment(fit, as_new()))
    expect_identical(predict(fit, cbind(day = "Monday", new)), predict(fit, as_new()))
    expect_error(predict(fit, setNames(new, c("ELISA", "pcr", "culture", "herd"))), "pcr",
      class = "fallible_error_argument")
  }
  plain <- fit_raters(ratings(data, raters = ELISA:culture), dawid_skene())
  expect_identical(predict(plain, new), predict(plain, new[1:3]))
})

test_that("answers of systems and truths in new data are no ratings", {
  set.seed(1)
  truth <- sample(c("a", "b"), 200, TRUE)
  answers <- function(p) ifelse(runif(200) < p, truth, ifelse(truth == "a", "b", "a"))
  data <- data.frame(
    case = 1:200, z = rep(c("u", "v"), 100), r1 = answers(0.8), r2 = answers(0.8),
    r3 = answers(0.8), system = answers(0.6), truth = truth
  )
  x <- ratings(data, raters = r1:r3, case = case, systems = system, covariates = z)
  for (fit in list(fit_raters(x), quiet(fit_raters(x, rater_model("common", base_rates = ~z))))) {
    expect_equal(predict(fit, data), predict(fit))
  }
  # Long ratings are not taken for covariates.
  long <- data.frame(z = "u", case = 1, rater = c("r1", "r2"), rating = "a")
  result <- tryCatch(names(predict(fit, long)), fallible_error = function(e) "case")
  expect_true("case" %in% result)
})

test_that("ratings by members of groups of raters are ratings in new data", {
  set.seed(2)
  truth <- sample(c("x", "y"), 200, TRUE)
  answers <- function(p) ifelse(runif(200) < p, truth, ifelse(truth == "x", "y", "x"))
  data <- data.frame(case = 1:200, site = rep(c("u", "v"), 100), a = answers(0.8),
    b = answers(0.8), c = answers(0.8), d = answers(0.8))
  x <- ratings(data, raters = a:d, case = case, covariates = site,
    rater_groups = c(a = "g", b = "g"))
  fit <- quiet(fit_raters(x, rater_model("common", base_rates = ~site)))
  predicted <- quiet(predict(fit, data))
  expect_identical(names(predicted)[1:2], c("case", "category"))
  expect_equal(predicted$category, predict(fit)$category)
})

test_that("numbers within factor() are populations for draws", {
  data <- transform(sites, code = match(site, letters))
  fit <- function(formula) {
    withr::local_seed(1)
    quiet(fit_raters(of_sites(data, c("site", "code", "z")),
      rater_model("rater", base_rates = formula), method = "bayes", sampling = list(draws = 400)))
  }
  by_code <- fit(~ factor(code))
  expect_identical(unname(by_code$draws), unname(fit(~site)$draws))
  expect_identical(unname(fit(~ base::factor(code))$draws), unname(by_code$draws))
  expect_identical(unname(fit(~ as.factor(code))$draws), unname(by_code$draws))
  expect_identical(base_rates(by_code, data.frame(code = 1:2))$code, 1:2)
  for (formula in list(~code, ~ factor(code) + z, ~ factor(code > 1), ~ cut(code, 2))) {
    expect_error(fit(formula), "factor(", fixed = TRUE, class = "fallible_error_argument")
  }
})

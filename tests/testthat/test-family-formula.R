populations <- function(data = hui_walter()) {
  ratings(
    data, raters = mantoux:tine, weights = n, covariates = population, categories = c("-", "+")
  )
}

two_populations <- rater_model("rater", "free", base_rates = ~population)

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
  one <- transform(data, other = rep(c("a", "b"), 4))
  expect_warning(
    fit <- fit_raters(
      ratings(one, raters = mantoux:tine, weights = n, covariates = other, categories = c("-", "+")),
      rater_model("rater", "free", difficulty = ~other, base_rates = ~other)
    ), class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(coef(fit))))
})

test_that("as many categories as you like, with a system beside", {
  skip_unless_extended()
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

test_that("slopes are those of a twin, in the units of the covariates", {
  x <- withr::with_seed(4, draw_slopes(300))
  model <- rater_model(accuracy = ~ I(100 + 10 * z))
  fit <- fit_raters(x, model)
  said <- vapply(tidy(x, "patterns")[x$raters], as.integer, integer(300)) # a pattern each
  z <- x$covariates$z
  likelihood <- function(p) {
    rates <- exp(c(0, p[6:7]))
    rates <- rates / sum(rates)
    total <- 0
    for (truth in 1:3) {
      each <- rates[truth]
      for (j in 1:4) {
        right <- plogis(p[j] + p[5] * z)
        each <- each * ifelse(said[, j] == truth, right, (1 - right) / 2)
      }
      total <- total + each
    }
    sum(log(total))
  }
  top <- optim(c(0.2, 0.5, 0.8, 0.4, 1, 0, 0), function(p) -likelihood(p), method = "BFGS",
    control = list(reltol = 1e-12), hessian = TRUE)
  expect_equal(as.numeric(logLik(fit)), -top$value, tolerance = 1e-7)
  slope <- tidy(fit)[grepl("^accuracy:", tidy(fit)$term), ]
  expect_equal(slope$estimate, top$par[5] / 10, tolerance = 1e-3)
  expect_equal(slope$std.error, sqrt(solve(top$hessian)[5, 5]) / 10, tolerance = 1e-2)
  expect_equal(rates_of(fit), fit$base_rates, ignore_attr = TRUE)
  plain <- fit_raters(x, rater_model(accuracy = ~z))
  expect_equal(logLik(plain), logLik(fit), tolerance = 1e-6)
  expect_equal(predict(plain)$probability, predict(fit)$probability, tolerance = 1e-3)
})

test_that("a formula of a covariate that does not matter changes little", {
  skip_unless_extended()
  x <- withr::with_seed(5, {
    x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), 0.8, categories = 3, n = 500,
      dispersion = 2))
    table <- tidy(x)
    table$site <- rep(sample(c("a", "b"), 500, TRUE), each = 3)
    ratings(table, case = case, rater = rater, rating = rating, covariates = site,
      systems = as.data.frame(x, what = "systems"))
  })
  for (errors in c("free", "distance", "uniform")) {
    core <- fit_raters(x, rater_model("rater", errors, prior = "none"))
    fit <- fit_raters(x, rater_model("rater", errors, base_rates = ~site))
    gain <- 2 * as.numeric(logLik(fit) - logLik(core))
    expect_gte(gain, -1e-4)
    expect_lt(gain, qchisq(0.9999, 2))
    # Without effects it is the model of the core.
    model <- model_by_formula("rater", errors, "none", "shared", ~1)
    same <- fit_raters(x, model)
    expect_equal(as.numeric(logLik(same)), as.numeric(logLik(core)), tolerance = 1e-6)
    terms <- intersect(names(coef(same)), names(coef(core)))
    expect_gte(length(terms), 6)
    expect_equal(coef(same)[terms], coef(core)[terms], tolerance = 2e-3)
  }
})

test_that("with one accuracy for all raters a system has its own", {
  x <- withr::with_seed(6, simulate_ratings(
    rater_design(c(0.7, 0.7, 0.7), 0.9, categories = 3, n = 300)
  ))
  model <- model_by_formula("common", "uniform", "none", "shared", ~1)
  of <- function(model) tidy(quiet(estimate_accuracy(x, "joint", model, interval = "none")))$estimate
  expect_equal(of(model), of(rater_model("common", prior = "none")), tolerance = 1e-4)
})

test_that("systems that do not share the raters' slopes are judged by their own", {
  skip_unless_extended()
  x <- withr::with_seed(1, draw_slopes(1500))
  model <- rater_model(accuracy = ~z)
  estimate <- tidy(estimate_accuracy(x, model = model, interval = "none"))
  expect_identical(estimate$method, c("joint", "joint"))
  expect_lt(abs(estimate$estimate[2] - 0.815), 0.02)
  expect_lt(abs(estimate$estimate[1] - true_accuracy(x)$expected[1]), 0.03)
  ignorant <- tidy(suppressWarnings(
    estimate_accuracy(x, "joint", rater_model("rater"), interval = "none")
  ))
  expect_lt(ignorant$estimate[2], 0.75)
  expect_equal(estimate$independent, estimate$estimate)
  # Difficulty by formula is shared, unless a system has its own.
  hard <- function(system) {
    tidy(estimate_accuracy(x, model = rater_model("rater", difficulty = ~ z, system = system),
      interval = "none"))$estimate
  }
  expect_lt(hard("shared")[2], 0.79)
  expect_equal(hard("own"), estimate$estimate, tolerance = 1e-4)
})

test_that("formulas are checked", {
  refused <- function(...) expect_error(..., class = "fallible_error_argument")
  refused(rater_model(accuracy = y ~ z))
  refused(rater_model(base_rates = "z"))
  refused(rater_model(difficulty = "strata", base_rates = ~z))
  refused(rater_model(accuracy = ~z, errors = "what"))
  refused(rater_model(accuracy = ~z, prior = list(base_rates = 2)))
  expect_identical(rater_model(base_rates = ~1), rater_model())
  x <- withr::with_seed(1, draw_slopes(50))
  expect_error(fit_raters(x, rater_model(accuracy = ~age)), class = "fallible_error_columns")
  expect_error(
    fit_raters(ratings(lehner2015, raters = rater1:rater4), rater_model(accuracy = ~age)),
    class = "fallible_error_columns"
  )
  refused(fit_raters(x, rater_model(accuracy = ~ log(z, z, z))))
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

test_that("everything that needs a posterior works", {
  skip_unless_extended()
  x <- withr::with_seed(1, draw_slopes(150))
  model <- rater_model(accuracy = ~z, errors = "distance")
  fit <- fit_raters(x, model)
  expect_s3_class(ground_truth(fit), "ground_truth")
  expect_gt(nrow(calibration(ground_truth(fit))), 3)
  expect_identical(nrow(augment(fit)), 150L)
  expect_identical(names(confusion(fit)), x$raters)
  estimate <- withr::with_seed(1, estimate_accuracy(fit, resampling = list(replicates = 50)))
  expect_true(all(tidy(estimate)$conf.low < tidy(estimate)$estimate))
  expect_s3_class(compare_systems(estimate), "system_comparison")
  expect_s3_class(confusion(estimate), "confusion_estimate")
  for (method in c("shared", "binned", "unbinned")) {
    expect_false(anyNA(tidy(suppressWarnings(
      estimate_accuracy(fit, method, interval = "none")))$estimate))
  }
  groups <- rep(c("one", "two"), 75)
  by <- estimate_accuracy(x, model = model, interval = "none", by = groups)
  alone <- estimate_accuracy(x[groups == "two", ], model = model, interval = "none")
  expect_equal(tidy(by[["two"]])$estimate, tidy(alone)$estimate)
  expect_equal(coef(update(fit, x = x[1:100, ])), coef(fit_raters(x[1:100, ], model)))
  expect_equal(
    coef(update(fit, model = rater_model("rater"))), coef(fit_raters(x, rater_model("rater")))
  )
  study <- withr::with_seed(1, simulation_study(
    list(world = draw_slopes), list(model = accuracy_estimator("joint", model)), runs = 2, n = 80
  ))
  expect_false(anyNA(tidy(study)$estimate))
  expect_snapshot({
    model
    fit
    tidy(rater_model("rater", "free", ~condition, base_rates = ~ site + age))
    print(estimate)
  })
})

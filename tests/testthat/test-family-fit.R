glad_panel <- function(n = 60, seed = 3) {
  withr::with_seed(seed, draw_glad(n))
}

test_that("GLAD is at the top of its likelihood, and nowhere else", {
  panel <- glad_panel()
  fit <- fit_raters(ratings(panel$answers, categories = 1:3), glad(5))
  skill <- coef(fit)[paste("skill of", fit$x$raters)]
  likelihood <- function(p) glad_likelihood(p[1:5], exp(c(0, p[6:7])) / sum(exp(c(0, p[6:7]))),
    panel$answers, 3, 5)
  rates <- rates_of(fit)
  top <- c(skill, log(rates[-1] / rates[1]))
  expect_equal(likelihood(top), as.numeric(logLik(fit)), tolerance = 1e-10)
  # No step in any direction finds more.
  for (i in seq_along(top)) {
    for (step in c(-0.02, 0.02)) expect_lt(likelihood(replace(top, i, top[i] + step)), logLik(fit))
  }
  expect_identical(attr(logLik(fit), "df"), 7L)
  skip_unless_nightly()
  # The curvature of the twin.
  hessian <- stats::optimHess(top, function(p) -likelihood(p))
  expect_equal(
    unname(sqrt(diag(solve(hessian)))[1:5]), tidy(fit)$std.error[1:5], tolerance = 1e-3
  )
})

test_that("a model that the package has is the same as a family", {
  x <- withr::with_seed(1, quiet(simulate_ratings(rater_design(
    c(0.6, 0.7, 0.8), c(a = 0.75), categories = 3, n = 400, missing = 0.1
  ))))
  own <- rater_family(
    start = function(judged, categories) rep(1, nlevels(judged$rater)),
    law = function(parameters, judged, categories) {
      right <- plogis(parameters)[as.integer(judged$rater)]
      outer(right, diag(3)) + outer((1 - right) / 2, 1 - diag(3))
    }
  )
  model <- rater_model("rater", prior = "none")
  core <- fit_raters(x, model)
  fit <- fit_raters(x, own)
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(core)), tolerance = 1e-9)
  expect_equal(attributes(logLik(fit)), attributes(logLik(core)))
  same <- names(coef(core))
  expect_equal(coef(fit)[same], coef(core), tolerance = 1e-4)
  expect_equal(vcov(fit)[same, same], vcov(core), tolerance = 1e-3)
  expect_equal(rates_of(fit), rates_of(core), tolerance = 1e-4)
  # The print says which cells the package's model assumes to be equal.
  expect_equal(confusion(fit), confusion(core), tolerance = 1e-4, ignore_attr = "has_equal_errors")
  expect_equal(as.matrix(ground_truth(fit)[-1]), as.matrix(ground_truth(core)[-1]),
    tolerance = 1e-3)
  fresh <- x[1:20, ]
  expect_equal(predict(fit, fresh)$probability, predict(core, fresh)$probability, tolerance = 1e-3)
  for (method in c("joint", "shared")) {
    expect_equal(
      tidy(estimate_accuracy(fit, method, interval = "none"))$estimate,
      tidy(estimate_accuracy(core, method, interval = "none"))$estimate, tolerance = 1e-4
    )
  }
  spread <- function(fit) {
    withr::with_seed(1, tidy(estimate_accuracy(
      fit, "joint", interval = "bootstrap", resampling = list(replicates = 200)
    )))
  }
  expect_equal(spread(fit)$std.error, spread(core)$std.error, tolerance = 0.25)
  truths <- truth(x)[1:40, ]
  expect_equal(
    coef(fit_raters(x, own, known_truth = truths))[same],
    coef(fit_raters(x, model, known_truth = truths)), tolerance = 1e-4
  )
})

test_that("errors say that user-defined models have no draws and no tests", {
  fit <- fit_raters(ratings(glad_panel()$answers, categories = 1:3), glad(5))
  for (refuse in list(draws, check_fit, compare_models, test_accuracy)) {
    error <- tryCatch(refuse(fit), error = conditionMessage)
    expect_match(error, "[Uu]ser-defined models")
    expect_no_match(error, "bayes\\\"\\)|method \"likelihood\"\\.")
  }
})

test_that("gradients by hand and by differences give the same fit", {
  x <- withr::with_seed(2, draw_slopes(60))
  law <- function(parameters, judged, categories) {
    right <- plogis(parameters)[as.integer(judged$rater)]
    outer(right, diag(3)) + outer((1 - right) / 2, 1 - diag(3))
  }
  gradient <- function(parameters, judged, categories, counts) {
    right <- plogis(parameters)[as.integer(judged$rater)]
    hits <- vapply(seq_along(right), function(i) sum(diag(matrix(counts[i, , ], 3))), 0)
    slope <- hits * (1 - right) - (apply(counts, 1, sum) - hits) * right
    as.vector(rowsum(slope, as.integer(judged$rater)))
  }
  start <- function(judged, categories) rep(1, nlevels(judged$rater))
  by_hand <- fit_raters(x, rater_family(law, start, gradient = gradient, base_rates = ~z))
  differences <- fit_raters(x, rater_family(law, start, base_rates = ~z))
  expect_equal(logLik(by_hand), logLik(differences), tolerance = 1e-9)
  expect_equal(coef(by_hand), coef(differences), tolerance = 1e-5)
})

test_that("functions that are wrong are named", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  start <- function(judged, categories) 1
  law <- function(parameters = 1, judged, categories) {
    right <- rep(plogis(parameters), nrow(judged))
    outer(right, diag(4)) + outer((1 - right) / 3, 1 - diag(4))
  }
  wrong <- function(arg, ..., error = "fallible_error_argument") {
    functions <- utils::modifyList(list(law = law, start = start), list(...))
    cnd <- rlang::catch_cnd(fit_raters(x, do.call(rater_family, functions)), "error")
    expect_s3_class(cnd, error)
    expect_identical(cnd$arg, arg)
    invisible(cnd)
  }
  wrong("start", start = function(judged, categories) "one")
  wrong("start", start = function(judged, categories) NA_real_)
  wrong("start", start = function(judged, categories) stop("oops"))
  wrong("start", start = 1)
  wrong("law", law = function(parameters, judged) 1)
  wrong("law", law = function(parameters, judged, categories) stop("oops"))
  wrong("law", law = function(parameters, judged, categories) matrix(1, 4, 4))
  wrong("law", law = function(parameters, judged, categories) law(judged = judged) * NA)
  wrong("law", law = function(parameters, judged, categories) law(judged = judged) * 2)
  wrong("law", law = function(parameters, judged, categories) -law(judged = judged))
  wrong("strata", strata = c(0.5, 0.6))
  wrong("gradient", gradient = function(parameters, judged, categories, counts) "a")
  wrong("gradient", gradient = function(x) x)
  wrong("words", words = 1)
  cnd <- wrong("law", law = function(parameters, judged, categories) stop("oops"))
  expect_match(conditionMessage(cnd$parent), "oops")
  # One that stops, or changes its mind, on the way.
  calls <- 0
  wrong("law", law = function(parameters, judged, categories) {
    calls <<- calls + 1
    if (calls > 5) stop("late") else law(judged = judged)
  })
})

test_that("parameters that nothing tells apart are NA", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  twice <- rater_family(
    start = function(judged, categories) c(one = 0.5, two = 0.5),
    law = function(parameters, judged, categories) {
      right <- rep(plogis(sum(parameters)), nrow(judged))
      outer(right, diag(4)) + outer((1 - right) / 3, 1 - diag(4))
    }
  )
  expect_warning(fit <- fit_raters(x, twice), class = "fallible_warning_not_identified")
  expect_true(all(is.na(coef(fit))))
  expect_true(all(is.na(vcov(fit))))
  estimate <- estimate_accuracy(fit, interval = "none")
  expect_identical(tidy(estimate)$estimate, NA_real_)
  expect_match(tidy(estimate)$reason, "more parameters")
})

test_that("what a family cannot have is refused", {
  panel <- glad_panel()
  x <- ratings(cbind(panel$answers, s = panel$truth), systems = s, categories = 1:3)
  refused <- function(...) expect_error(..., class = "fallible_error_argument")
  refused(fit_raters(x, glad(3), "pairs"))
  refused(fit_raters(x, glad(3), known_raters = list(r1 = 0.7)))
  refused(fit_raters(ratings(fleiss1971, counts = depression:other), glad(3)))
  refused(estimate_accuracy(x, "average", glad(3)))
  refused(estimate_accuracy(x, model = glad(3), interval = "profile"))
  refused(estimate_accuracy(x, "joint", glad(3), common = "all", interval = "none"))
  # Refusals name the model, and what can be done.
  expect_error(fit_raters(x, glad(3), method = "bayes"), paste0("is \"", format(glad(3)), "\"."),
    fixed = TRUE)
  fit <- quiet(fit_raters(x, glad(3)))
  expect_error(compare_models(fit, fit), "AIC", class = "fallible_error_argument")
  expect_error(check_fit(fit), "check_k_properties", class = "fallible_error_argument")
  skip_if_not_installed("loo")
  expect_error(loo::loo(fit), "AIC", class = "fallible_error_argument")
  expect_error(loo::waic(fit), "AIC", class = "fallible_error_argument")
})

test_that("panels are drawn from a family, and known of again", {
  panel <- glad_panel(400)
  fit <- fit_raters(ratings(panel$answers, categories = 1:3), glad(5))
  again <- simulate(fit, seed = 1)[[1]]
  expect_equal(
    colMeans(fit$matrices[, 1, 1, drop = FALSE]), colMeans(fit_raters(again, glad(5))$matrices[
      , 1, 1, drop = FALSE]), tolerance = 0.1
  )
  expect_equal(
    fit_raters(again, glad(5))$rater_accuracy, fit$rater_accuracy, tolerance = 0.05
  )
})

test_that("they are told in words", {
  panel <- glad_panel(200)
  fit <- fit_raters(ratings(panel$answers, categories = 1:3), glad(5))
  expect_snapshot({
    glad(5)
    fit
    tidy(glad(5))
    glance(glad(5, base_rates = ~site))
  })
})

test_that("a base rate at the end of its range has no standard error", {
  x <- ratings(cbind(c(1, 2, 1, 2, 1), c(1, 2, 1, 1, 1), c(1, 2, 2, 2, 1)), categories = 1:3)
  model <- rater_family(
    start = function(judged, categories) 1,
    law = function(parameters, judged, categories) {
      right <- rep(plogis(parameters), nrow(judged))
      outer(right, diag(3)) + outer((1 - right) / 2, 1 - diag(3))
    }
  )
  terms <- tidy(fit_raters(x, model))
  expect_true(is.na(terms$std.error[terms$term == "base_rate[3]"]))
  expect_false(is.na(terms$std.error[terms$term == "base_rate[1]"]))
})

test_that("a law is given all covariates", {
  x <- withr::with_seed(6, draw_slopes(20))
  seen <- NULL
  model <- rater_family(
    start = function(judged, categories) {
      seen <<- names(judged)
      1
    },
    law = function(parameters, judged, categories) {
      right <- plogis(parameters + judged$z)
      outer(right, diag(3)) + outer((1 - right) / 2, 1 - diag(3))
    }
  )
  fit_raters(x, model)
  expect_identical(seen, c("rater", "system", "z"))
})

test_that("parameters of the user come first, and errors name raters and parameters", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  model <- function(start, wrong = character()) {
    rater_family(
      function(parameters, judged, categories) {
        n <- length(categories)
        right <- rep(plogis(parameters[[1]]), nrow(judged))
        right[as.character(judged$rater) %in% wrong] <- NA
        outer(right, diag(n)) + outer((1 - right) / (n - 1), 1 - diag(n))
      },
      function(judged, categories) start
    )
  }
  fit <- fit_raters(x, model(c(skill = 1)))
  expect_identical(names(coef(fit))[1:2], c("skill", "rater_accuracy[rater1]"))
  expect_identical(tidy(fit)$term[[1]], "skill")
  expect_equal(tidy(fit)$rater[2:5], fit$x$raters)
  expect_equal(coef(fit)[["rater_accuracy[rater1]"]], plogis(coef(fit)[["skill"]]))
  expect_error(fit_raters(x, model(c(skill = 1), "rater2")), "\\(rater \"rater2\"\\)")
  expect_error(
    suppressWarnings(estimate_accuracy(x, model = model(c(skill = 1), "system"))),
    "\\(system \"system\"\\)"
  )
  expect_warning(
    expect_warning(fit_raters(x, model(c(skill = 1, luck = 0))), "more parameters"),
    "`law` does not depend on the parameter \"luck\""
  )
})

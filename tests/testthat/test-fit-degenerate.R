#' @srrstats {G5.3, G5.8} what is not identified is NA with a reason
#' @srrstats {G5.8d} one case, one category, no agreement
# Results of fit_raters() for degenerate data, for every model and method; see its help.
set.seed(1)
true_category <- sample(3, 60, TRUE, c(0.5, 0.3, 0.2))
given <- function(accuracy) {
  ifelse(stats::runif(60) < accuracy, true_category, sample(3, 60, TRUE))
}
good <- data.frame(a = given(0.8), b = given(0.7), c = given(0.7))
same <- data.frame(a = true_category, b = true_category, c = true_category)

# fit_raters() for all models by all methods, with what must hold of any fit.
each_fit <- function(data, check, categories = 1:3) {
  x <- quiet(ratings(data, raters = tidyselect::everything(), categories = categories))
  all <- models()
  for (model in all[seq(1, length(all), by = if (extended_tests()) 1 else 5)]) {
    methods <- c(
      if (is_k_model(model)) "algebraic", "likelihood", if (model$errors != "free") "pairs"
    )
    for (method in methods) {
      info <- paste(format(model), method)
      said <- character()
      fit <- withCallingHandlers(fit_raters(x, model, method), fallible_warning = function(w) {
        said <<- c(said, class(w)[[1]])
        invokeRestart("muffleWarning")
      })
      expect_identical(
        "fallible_warning_not_identified" %in% said, fit$identified != "yes", info = info
      )
      value <- c(coef(fit), unlist(confusion(fit)), rates_of(fit))
      expect_false(any(is.nan(value) | is.infinite(value)), info = info)
      error <- tidy(fit)$std.error
      expect_false(any(is.nan(error) | is.infinite(error) | error %in% 0), info = info)
      truth <- rowSums(ground_truth(fit)[-1])
      if (fit$identified == "yes") {
        expect_equal(truth, rep(1, nrow(data)), info = info)
      } else {
        expect_true(all(is.na(c(truth, coef(fit)[-1], logLik(fit)))), info = info)
        expect_error(simulate(fit), class = "fallible_error_argument")
        expect_output(print(fit), "Not identified", info = info)
      }
      check(fit, info)
    }
  }
}

test_that("two raters: free errors are not identified", {
  each_fit(good[1:2], function(fit, info) {
    expect_identical(fit$identified == "yes", fit$model$errors != "free", info = info)
  })
})

test_that("a category that nobody used is rare", {
  each_fit(good, function(fit, info) {
    expect_identical(fit$identified, "yes", info = info)
    expect_lt(rates_of(fit)[["4"]], 0.05)
  }, categories = 1:4)
})

test_that("a rater who always says the same tells nothing where raters differ", {
  each_fit(transform(good, c = 1), function(fit, info) {
    two_free <- fit$model$accuracy == "rater" && fit$model$errors == "free"
    expect_identical(fit$identified != "yes", two_free, info = info)
  })
  each_fit(cbind(good, d = 1), function(fit, info) {
    expect_identical(fit$identified, "yes", info = info)
    if (format(fit$model) == "Dawid-Skene model") {
      expect_lt(max(tidy(fit)$std.error), 0.2)
      expect_gt(min(confusion(fit)$d[, "1"]), 0.4)
    }
  })
  # All of them.
  each_fit(data.frame(a = rep(2, 20), b = 2, c = 2), function(fit, info) {
    expect_identical(fit$identified == "yes", fit$model$accuracy == "common", info = info)
  })
})

test_that("raters at or below chance identify nothing", {
  below <- data.frame(a = true_category, b = true_category %% 3 + 1, c = (true_category + 1) %% 3 + 1)
  # Where raters differ what counts is that they have something to do with each other: here all.
  each_fit(below, function(fit, info) {
    reason <- if (fit$model$accuracy == "rater") "yes" else "chance"
    expect_identical(fit$identified, reason, info = info)
  })
  # One of them among others is fitted as he is.
  one <- data.frame(
    a = true_category, b = given(0.95), c = given(0.9), d = true_category %% 3 + 1
  )
  each_fit(one, function(fit, info) {
    expect_identical(fit$identified, "yes", info = info)
    if (fit$model$accuracy == "rater" && fit$method == "likelihood") {
      expect_lt(coef(fit)[["rater_accuracy[d]"]], 1 / 3)
    }
  })
})

test_that("raters without a common case identify nothing", {
  turn <- seq_len(60) %% 3
  apart <- as.data.frame(lapply(0:2, function(j) ifelse(turn == j, true_category, NA)))
  names(apart) <- c("a", "b", "c")
  each_fit(apart, function(fit, info) expect_identical(fit$identified, "no_pairs", info = info))
})

test_that("perfect agreement is a limit without errors", {
  each_fit(same, function(fit, info) {
    expect_identical(fit$identified, "yes", info = info)
    expect_gt(fit$rater_accuracy, 0.95)
    expect_true(all(is.na(tidy(fit)$std.error)), info = info)
    if (fit$model$errors == "distance" && fit$method == "pairs") {
      expect_identical(coef(fit)[["dispersion"]], NA_real_)
      expect_output(print(fit), "Not determined by the ratings: dispersion")
    }
    expect_identical(as.integer(predict(fit)$category), true_category)
  })
})

test_that("one case is fitted where raters are alike", {
  each_fit(data.frame(a = 2, b = 2, c = 2), function(fit, info) {
    expect_identical(fit$identified == "yes", fit$model$accuracy == "common", info = info)
  })
  each_fit(data.frame(a = 2, b = 3, c = 1), function(fit, info) {
    reason <- if (fit$model$accuracy == "rater") "unrelated" else "chance"
    expect_identical(fit$identified, reason, info = info)
  })
})

test_that("a rater without a rating is missing, or does not matter", {
  each_fit(cbind(good, d = NA_real_), function(fit, info) {
    expect_identical(fit$identified, "yes", info = info)
    rest <- update(fit, x = fit$x[, 1:3])
    if (fit$model$accuracy == "rater") {
      expect_identical(coef(fit)[["rater_accuracy[d]"]], NA_real_)
      expect_true(all(is.na(confusion(fit)$d)), info = info)
      expect_equal(coef(fit)[-4], coef(rest), tolerance = 1e-4, info = info)
    } else {
      expect_equal(coef(fit), coef(rest), info = info)
    }
  })
})

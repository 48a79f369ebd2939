# Signals of raters with such slopes and thresholds, cut.
draw_ordinal <- function(n, slopes, thresholds, rates, answers = 1) {
  k <- length(rates)
  truth <- sample.int(k, n, TRUE, rates)
  say <- function(slope, limits) {
    findInterval(stats::rnorm(n, slope * (truth - (k + 1) / 2)), limits) + 1L
  }
  said <- Map(say, slopes, thresholds)
  names(said) <- paste0("r", seq_along(said))
  data.frame(truth, said)
}

some_slopes <- c(1.5, 2, 0.8, 1.2)
some_limits <- list(c(-2, -0.8, 1), c(-2.5, 0, 2.5), c(-1, 0.2, 0.8), c(-0.5, 0.5, 2))
some_rates <- c(0.3, 0.35, 0.2, 0.15)

ordinal_panel <- function(n = 400, raters = paste0("r", 1:4), ...) {
  withr::with_seed(1, {
    data <- draw_ordinal(n, some_slopes, some_limits, some_rates)
    data$z <- seq_len(n) %% 3
    ratings(data, raters = tidyselect::all_of(raters), categories = 1:4, ordered = TRUE, ...)
  })
}

test_that("the fit is that of a slow twin", {
  x <- ordinal_panel(150, paste0("r", 1:3))
  fit <- fit_raters(x, rater_model("rater", "ordinal"))
  said <- vapply(tidy(x, "patterns")[x$raters], as.integer, integer(length(tidy(x, "patterns")$r1)))
  weight <- tidy(x, "patterns")$n
  likelihood <- function(p) {
    rates <- exp(c(0, p[13:15]))
    rates <- rates / sum(rates)
    total <- 0
    for (truth in 1:4) {
      each <- rates[truth]
      for (j in 1:3) {
        limits <- c(-Inf, cumsum(c(p[3 + j], exp(p[6 + j]), exp(p[9 + j]))), Inf)
        below <- pnorm(limits, p[j] * (truth - 2.5))
        each <- each * diff(below)[said[, j]]
      }
      total <- total + each
    }
    sum(weight * log(total))
  }
  start <- c(rep(1.5, 3), rep(-1.5, 3), rep(0.3, 6), 0, 0, 0)
  top <- optim(start, function(p) -likelihood(p), method = "BFGS",
    control = list(reltol = 1e-13, maxit = 500))
  expect_equal(as.numeric(logLik(fit)), -top$value, tolerance = 1e-6)
  slopes <- coef(fit)[paste0("slope[r", 1:3, "]")]
  expect_equal(unname(slopes), top$par[1:3], tolerance = 1e-3)
  limits <- vapply(1:3, function(j) cumsum(c(top$par[3 + j], exp(top$par[c(6, 9) + j]))), c(0, 0, 0))
  found <- coef(fit)[paste0("threshold[r", rep(1:3, each = 3), ": ", 1:3, "|", 2:4, "]")]
  expect_equal(unname(found), as.vector(limits), tolerance = 1e-3)
  by_hand <- t(vapply(1:4, function(k) {
    diff(pnorm(c(-Inf, limits[, 2], Inf), top$par[2] * (k - 2.5)))
  }, numeric(4)))
  expect_equal(unname(confusion(fit)$r2), by_hand, tolerance = 1e-3)
})

test_that("likelihood and estimates are those of the twin, of the core and of the engine in R", {
  x <- ordinal_panel(300)
  fit <- fit_raters(x, rater_model("rater", "ordinal"))
  slow <- fit_raters(x, twin_of_ordinal())
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(slow)), tolerance = 1e-10)
  slopes <- coef(fit)[paste0("slope[r", 1:4, "]")]
  limits <- matrix(coef(fit)[grep("^threshold", names(coef(fit)))], 4)
  for (j in 1:4) {
    expect_equal(confusion(fit)[[j]], twin_ordinal(slopes[[j]], limits[j, ]),
      tolerance = 1e-8, ignore_attr = TRUE)
  }
  parts <- matrix(slow$theta[1:16], 4)
  expect_equal(unname(slopes), parts[1, ], tolerance = 1e-6)
  expect_equal(limits, t(apply(parts, 2, twin_limits)), tolerance = 1e-6)
  expect_equal(base_rates(fit), base_rates(slow), tolerance = 1e-6)
  of_slow <- match(tidy(fit)$term[1:4], tidy(slow)$term)
  expect_equal(tidy(fit)$std.error[1:4], tidy(slow)$std.error[of_slow], tolerance = 1e-4)
  formula <- fit_raters(
    ordinal_panel(300, covariates = z), rater_model("rater", "ordinal", base_rates = ~z)
  )
  expect_gt(as.numeric(logLik(formula)), as.numeric(logLik(fit)))
  expect_lt(max(abs(coef(formula)[names(slopes)] - slopes)), 0.1)
})

test_that("every interval goes with it", {
  x <- ordinal_panel(300, paste0("r", 1:3), systems = "r4")
  found <- lapply(c("profile", "robust", "bootstrap"), function(interval) {
    tidy(quiet(estimate_accuracy(x, "joint", rater_model("rater", "ordinal"), interval = interval,
      resampling = list(replicates = 40))))
  })
  for (of in found) {
    expect_true(of$conf.low < of$estimate && of$estimate < of$conf.high)
    expect_equal(of$estimate, found[[1]]$estimate)
  }
  # The profile is about as wide as resampled estimates are, robust ones are wider.
  wide <- vapply(found, function(of) of$conf.high - of$conf.low, 0)
  expect_true(wide[[1]] > wide[[3]] / 2 && wide[[1]] < 2 * wide[[3]])
  expect_gt(wide[[2]], wide[[1]])
})

test_that("parameters come back from simulated raters", {
  runs <- 8
  slopes <- c(2, 2.5, 1.5)
  limits <- list(c(-1, 1), c(-0.5, 1), c(-1, 0.5))
  rates <- c(0.4, 0.35, 0.25)
  true <- c(slopes, unlist(limits), rates)
  terms <- c(
    paste0("slope[r", 1:3, "]"), paste0("threshold[r", rep(1:3, each = 2), ": ", c("1|2]", "2|3]")),
    paste0("base_rate[", 1:3, "]")
  )
  off <- withr::with_seed(3, replicate(runs, {
    data <- draw_ordinal(1000, slopes, limits, rates)
    x <- ratings(data, raters = r1:r3, categories = 1:3, ordered = TRUE)
    coef(fit_raters(x, rater_model("rater", "ordinal")))[terms] - true
  }))
  error <- apply(off, 1L, stats::sd) / sqrt(runs)
  expect_lt(max(abs(rowMeans(off)) / error), stats::qt(1 - 0.005 / length(true), runs - 1))
})

test_that("two categories are the free model, and equal raters may share a law", {
  x <- panel(raters = c(0.7, 0.8, 0.9), n = 400)
  two <- withr::with_seed(2, simulate_ratings(rater_design(c(0.7, 0.8, 0.9), 0.8, 2, 300)))
  fit <- fit_raters(two, rater_model("rater", "ordinal"))
  free <- fit_raters(two, rater_model("rater", "free", prior = "none"))
  expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(free)), tolerance = 1e-7)
  expect_identical(attr(logLik(fit), "df"), attr(logLik(free), "df"))
  expect_equal(confusion(fit), confusion(free), tolerance = 1e-3)
  alike <- fit_raters(ordinal_panel(), rater_model("common", "ordinal"))
  expect_no_match(capture.output(print(alike)), "Categories are ordered")
  expect_output(print(fit_raters(ordinal_panel())), "this model ignores\\s+their order")
  expect_true(all(c("slope", "threshold[1|2]", "threshold[3|4]") %in% names(coef(alike))))
  expect_lt(as.numeric(logLik(alike)),
    as.numeric(logLik(fit_raters(ordinal_panel(), rater_model("rater", "ordinal")))))
  expect_error(fit_raters(x, rater_model("rater", "ordinal")), "not ordered",
    class = "fallible_error_argument")
})

test_that("answers that a rater never gives, and raters who guess, do no harm", {
  data <- withr::with_seed(1, draw_ordinal(400, some_slopes, some_limits, some_rates))
  fit <- fit_raters(ordinal_panel(), rater_model("rater", "ordinal"))
  data$r4 <- withr::with_seed(1, sample(2:3, 400, TRUE))
  x <- ratings(data, raters = r1:r4, categories = 1:4, ordered = TRUE)
  guessed <- fit_raters(x, rater_model("rater", "ordinal"))
  expect_true(guessed$converged)
  expect_lt(max(confusion(guessed)$r4[, c(1, 4)]), 1e-3)
  expect_lt(abs(coef(guessed)[["slope[r4]"]]), 0.2)
  expect_equal(coef(guessed)[1:3], coef(fit)[1:3], tolerance = 0.15)
})

test_that("it goes where other models go", {
  skip_unless_extended()
  x <- ordinal_panel(raters = paste0("r", 1:3), systems = "r4")
  model <- rater_model("rater", "ordinal", base_rates = ~1)
  for (method in c("joint", "shared", "unbinned")) {
    found <- tidy(quiet(estimate_accuracy(x, method, model, interval = "none")))
    expect_true(found$estimate > 0.25 && found$estimate < 0.9)
  }
  expect_output(print(model), "rater model (unequal raters, ordinal errors)", fixed = TRUE)
  for (wrong in list(
    quote(rater_model(~z, "ordinal")), quote(rater_model("rater", "ordinal", "strata")),
    quote(rater_model("rater", "ordinal", prior = list(accuracy = c(1, 1))))
  )) {
    expect_error(eval(wrong), class = "fallible_error_argument")
  }
  expect_warning(
    fit_raters(simulate_ratings(rater_design(c(0.7, 0.8), 0.8, 2, 200)), model),
    class = "fallible_warning_not_identified"
  )
  skip_unless_extended()
  metrics <- tidy(quiet(estimate_metrics(x, "kap_quadratic", model = model, resampling = list(replicates = 20))))
  expect_lt(metrics$conf.low, metrics$conf.high)
})

test_that("slopes and thresholds have the rater of their name", {
  terms <- tidy(fit_raters(ordinal_panel(), rater_model("rater", "ordinal")))
  is_ordinal <- grepl("^(slope|threshold)", terms$term)
  expect_identical(terms$rater[is_ordinal], sub(".*\\[(r[0-9]).*", "\\1", terms$term[is_ordinal]))
  common <- tidy(fit_raters(ordinal_panel(), rater_model("common", "ordinal")))
  expect_identical(common$rater, rep(NA_character_, nrow(common)))
})

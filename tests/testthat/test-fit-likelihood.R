#' @srrstats {G5.5, G5.6b} planted parameters, several seeds, all of them fixed
test_that("log-likelihood and posteriors are those of a slow twin, for every model", {
  set.seed(1)
  x <- quiet(panel(40, dispersion = 2, difficulty = 0.2, missing = 0.2))
  for (model in models()) {
    fit <- quiet(fit_raters(x, model, method = "likelihood"))
    expect_identical(fit$identified, "yes")
    joint <- slow_joint(fit)
    expect_equal(as.double(logLik(fit)), sum(log(rowSums(joint))), tolerance = 1e-9)
    expect_lt(
      max(abs(as.matrix(ground_truth(fit)[x$categories]) - joint / rowSums(joint))), 1e-8
    )
  }
})

test_that("fits are tops: no step from them gains", {
  skip_unless_nightly()
  set.seed(2)
  x <- panel(200, dispersion = 2, difficulty = 0.2)
  for (model in models("none")[c(1:4, 7:10)]) {
    fit <- quiet(fit_raters(x, model, method = "likelihood"))
    moved <- fit
    for (step in c(-0.01, 0.01)) {
      moved$base_rates <- fit$base_rates + step * c(1, -1, 0, 0)
      expect_lt(sum(log(rowSums(slow_joint(moved)))), as.double(logLik(fit)) + 1e-8)
      moved$base_rates <- fit$base_rates
      moved$matrices[, 1, ] <- fit$matrices[, 1, ] + step * rep(c(1, -1, 0, 0), each = 3)
      if (model$errors == "free") {
        expect_lt(sum(log(rowSums(slow_joint(moved)))), as.double(logLik(fit)) + 1e-8)
      }
      moved$matrices <- fit$matrices
    }
  }
})

test_that("the model of Dawid and Skene is fitted to their data as by others", {
  x <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  fit <- fit_raters(x, dawid_skene(prior = "none"))
  expect_lt(max(abs(rates_of(fit) - c(0.399555, 0.421983, 0.111795, 0.066667))), 1e-6)
  expect_equal(as.double(logLik(fit)), -192.8908812, tolerance = 1e-9)
  expect_lt(max(abs(coef(fit)[1:5] - c(0.8288, 0.7789, 0.7766, 0.8669, 0.8424))), 5e-5)
  expect_identical(attr(logLik(fit), "df"), 63L)
  expect_equal(AIC(fit), 2 * 63 + 2 * 192.8908812, tolerance = 1e-9)
  expect_identical(glance(fit)$AIC, AIC(fit))
})

test_that("other numbers in print are those of a table with a misprint", {
  # They come from a copy of the data in which patient 7 has 1, 1, 2 from the first rater in place of
  # 1, 2, 2; see data-raw/dawid1979.R.
  copy <- dawid1979
  copy$rating[copy$case == 7 & copy$rater == "A1"] <- c(1L, 1L, 2L)
  x <- ratings(copy, case = case, rater = rater, rating = rating, repeats = "ratings")
  fit <- fit_raters(x, dawid_skene(prior = "none"))
  expect_lt(max(abs(rates_of(fit) - c(0.39997, 0.42158, 0.11179, 0.06667))), 5.1e-6)
  expect_lt(abs(logLik(fit) + 190.731), 5e-4)
  expect_lt(max(abs(coef(fit)[1:5] - c(0.8360, 0.7784, 0.7771, 0.8674, 0.8428))), 5.1e-5)
})

# Log likelihoods along steps of EM from confusion matrices (raters x truths x ratings) and rates.
em_log_likelihoods <- function(x, matrices, rates, steps) {
  at <- unfold_ratings(x)
  cells <- function(k) cbind(at$rater, k, at$category)
  vapply(seq_len(steps), function(step) {
    logs <- vapply(seq_along(rates), function(k) {
      log(rates[[k]]) + rowsum(log(pmax(matrices[cells(k)], 1e-300)), at$row)[, 1L]
    }, double(length(x$cases)))
    total <- log_sum_exp(logs)
    p <- exp(logs - as.vector(total))
    rates <<- colMeans(p)
    matrices[] <<- 0
    for (i in seq_along(at$row)) {
      to <- cbind(at$rater[[i]], seq_along(rates), at$category[[i]])
      matrices[to] <<- matrices[to] + p[at$row[[i]], ]
    }
    matrices <<- matrices / pmax(as.vector(apply(matrices, 1:2, sum)), 1e-300)
    sum(total)
  }, 0)
}

test_that("sparse panels with free errors do not stop on a saturated boundary", {
  # EM from a point a little inside finds nothing better.
  sparse_panel <- function(seed) {
    set.seed(seed)
    truth <- sample(4, 60, TRUE)
    rows <- lapply(1:60, function(i) {
      right <- stats::runif(5) < 0.6
      rating <- ifelse(right, truth[i], sample(4, 5, TRUE))
      data.frame(case = i, rater = sample(40, 5), rating)
    })
    ratings(do.call(rbind, rows), case = case, rater = rater, rating = rating)
  }
  gain <- vapply(1:6, function(seed) {
    x <- sparse_panel(seed)
    fit <- quiet(fit_raters(x, dawid_skene(prior = "none")))
    inside <- fit$matrices * 0.98 + 0.005
    max(em_log_likelihoods(x, inside, fit$base_rates, 300)) - fit$log_likelihood
  }, 0)
  expect_lt(max(gain), 1e-3)
})

test_that("the log posterior never decreases", {
  set.seed(8)
  x <- panel(100, dispersion = 2, difficulty = 0.2)
  climb <- function(model, method) {
    vapply(c(0:10, 20L, 50L), function(steps) {
      core_fit_latent(
        x$patterns, pattern_weights(x), nothing_known, model_for_core(model, x, method), method, steps,
        NULL, no_tick
      )$log_posterior
    }, 0)
  }
  for (model in models()) {
    expect_gte(min(diff(climb(model, "likelihood"))), 0)
    if (model$errors != "free") expect_gte(min(diff(climb(model, "pairs"))), 0)
  }
})

test_that("it is fitted to other data as by others", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  fit <- function(set) fit_raters(read_ratings(file.path(folder, set)), dawid_skene("none"))
  anaesthesia <- fit("nogold_anesthesia")
  expect_lt(max(abs(rates_of(anaesthesia) - c(0.39996, 0.41261, 0.12076, 0.06667))), 5e-6)
  expect_lt(abs(logLik(anaesthesia) + 141.077), 5e-4)
  caries <- fit("nogold_caries")
  expect_lt(abs(rates_of(caries)[[2]] - 0.19966), 5e-6)
  expect_lt(abs(logLik(caries) + 7410.942), 5e-4)
})

test_that("names and orders of categories, raters and cases change nothing", {
  set.seed(3)
  table <- as.data.frame(panel(100, dispersion = 2))
  table$rating <- as.character(table$rating)
  fit <- function(data, model, ...) {
    quiet(fit_raters(ratings(data, case = case, rater = rater, rating = rating, ...), model))
  }
  for (model in list(rater_model("rater"), rater_model("rater", "distance"), dawid_skene("weak"))) {
    straight <- fit(table, model, categories = 1:4)
    shuffled <- table[sample(nrow(table)), ]
    other <- fit(shuffled, model, categories = 1:4)
    expect_equal(other$log_posterior, straight$log_posterior, tolerance = 1e-9)
    expect_equal(other$coefficients[names(straight$coefficients)], straight$coefficients,
                 tolerance = 1e-5)
    # Distances are the same from the other end.
    backwards <- fit(table, model, categories = 4:1)
    expect_equal(backwards$log_posterior, straight$log_posterior, tolerance = 1e-9)
    expect_equal(rates_of(backwards)[4:1], rates_of(straight), tolerance = 1e-5)
  }
})

test_that("weights count cases", {
  set.seed(4)
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
  for (model in list(k_model(), rater_model("rater", "distance", "strata"))) {
    a <- fit_raters(weighted, model, method = "likelihood")
    b <- fit_raters(each, model, method = "likelihood")
    expect_equal(coef(a), coef(b), tolerance = 1e-6)
    expect_equal(vcov(a), vcov(b), tolerance = 1e-4)
    expect_equal(nobs(a), nobs(b))
  }
})

test_that("standard errors are the spread of estimates", {
  skip_unless_nightly()
  skip_on_cran()
  set.seed(5)
  design <- rater_design(c(0.7, 0.8, 0.9), 0.8, 3, 400, base_rates = c(0.5, 0.3, 0.2))
  fits <- lapply(1:300, function(i) {
    tidy(fit_raters(simulate_ratings(design), rater_model("rater", prior = "none")))
  })
  estimate <- vapply(fits, `[[`, double(6), "estimate")
  error <- vapply(fits, `[[`, double(6), "std.error")
  # A standard deviation of 300 values is known to 4%.
  expect_lt(max(abs(apply(estimate, 1, stats::sd) / sqrt(rowMeans(error^2)) - 1)), 0.17)
})

test_that("violations are found where there are some", {
  set.seed(6)
  x <- simulate_ratings(lehner_design(8))
  fit <- fit_raters(x, rater_model("rater", "distance", "strata"))
  expect_lt(abs(coef(fit)[["difficulty"]] - 0.2), 0.05)
  expect_lt(max(abs(coef(fit)[1:3] - c(0.5, 0.6, 0.7))), 0.05)
  expect_lt(AIC(fit), AIC(fit_raters(x, method = "likelihood")))
})

test_that("degenerate panels are defined", {
  two <- data.frame(a = c("x", "y", "z", "x"), b = c("x", "y", "y", "x"))
  fit <- function(data, model, ...) fit_raters(ratings(data, raters = a:b, ...), model)
  expect_warning(
    none <- fit(two, dawid_skene("weak")), "than can be estimated from ratings",
    class = "fallible_warning_not_identified"
  )
  expect_true(all(is.na(coef(none))) && is.na(logLik(none)) && anyNA(ground_truth(none)$x))
  expect_true(all(is.na(confusion(none)$a)))
  expect_identical(fit(two, rater_model())$identified, "yes")
  binary <- lapply(1:3, function(i) c("x", "y", "x", "y", "y", "x"))
  names(binary) <- c("a", "b", "c")
  binary$c[1:3] <- "y"
  x <- ratings(as.data.frame(binary), raters = a:c)
  expect_warning(
    fit_raters(x, rater_model(errors = "distance")), class = "fallible_warning_not_identified"
  )
})

test_that("fits print what they found", {
  set.seed(7)
  x <- panel(200)
  expect_snapshot({
    fit_raters(x, rater_model("rater", "distance", "strata"))
    summary(fit_raters(x, rater_model("common", "free")))
    fit_raters(x[, c("rater1", "rater2")], dawid_skene("weak"))
  })
})

test_that("what cannot be fitted is refused", {
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  x <- lehner_ratings()
  expect_snapshot(error = TRUE, {
    fit_raters(counted, dawid_skene("weak"))
    fit_raters(x, dawid_skene("weak"), method = "algebraic")
    fit_raters(x, dawid_skene("weak"), method = "pairs")
    fit_raters(x, method = "guess")
    estimate_accuracy(fit_raters(x, rater_model("rater")), "average")
  })
  expect_identical(fit_raters(counted, rater_model(errors = "free"))$identified, "yes")
})

test_that("probabilities as weights are not outweighed by a prior", {
  design <- rater_design(rep(0.9, 3), 0.85, 3, base_rates = c(0.6, 0.3, 0.1))
  weak <- function(x) fit_raters(x, method = "likelihood")$rater_accuracy
  expect_equal(exact_limit(design, weak)$estimate, 0.9, tolerance = 1e-5)
  joint <- function(x) point_estimate(x, method = "joint")
  expect_equal(exact_limit(design, joint)$estimate, 0.85, tolerance = 1e-4)
})

test_that("nothing is certain at a boundary", {
  table <- data.frame(a = rep(1:3, 10), b = rep(1:3, 10), c = rep(1:3, 10))
  fit <- fit_raters(ratings(table, raters = a:c), rater_model(errors = "distance"))
  expect_true(all(is.na(tidy(fit)$std.error)))
})

# Everybody rates five cases.
crowd_of <- function(raters) {
  set.seed(3)
  case <- rep(seq_len(raters), each = 5)
  rater <- unlist(lapply(seq_len(5), function(j) sample(raters)))
  truth <- sample(c("a", "b", "c"), raters, TRUE)[case]
  rating <- ifelse(runif(length(case)) < 0.8, truth, "a")
  ratings(
    data.frame(case, rater, rating), case = case, rater = rater, rating = rating,
    repeats = "ratings"
  )
}

test_that("a fit has no covariance, which is found when somebody asks", {
  skip_unless_extended()
  x <- crowd_of(700)
  fit <- fit_raters(x, rater_model(accuracy = "rater"))
  expect_lt(object.size(fit[setdiff(names(fit), "x")]), 1e6)
  terms <- names(coef(fit))
  expect_identical(
    terms, c(paste0("rater_accuracy[", x$raters, "]"), paste0("base_rate[", c("a", "b", "c"), "]"))
  )
  expect_identical(dimnames(vcov(fit)), list(terms, terms))
  expect_equal(tidy(fit)$std.error, unname(sqrt(diag(vcov(fit)))))
  expect_true(all(eigen(vcov(fit), TRUE, TRUE)$values > -1e-12))
})

test_that("of very many raters each has a standard error from own ratings", {
  x <- crowd_of(2100)
  fit <- fit_raters(x, rater_model(accuracy = "rater"))
  error <- tidy(fit)$std.error
  n <- tabulate(match(as.data.frame(x)$rater, x$raters), 2100)
  p <- unname(coef(fit)[1:2100])
  logit <- 1 / sqrt(n * p * (1 - p) + 1 / 0.6^2) # the prior's standard deviation
  expect_equal(error[1:2100], p * (1 - p) * logit, tolerance = 1e-9)
  rate <- unname(rates_of(fit))
  expect_equal(error[2101:2103], sqrt(rate * (1 - rate) / 2100), tolerance = 1e-9)
  v <- vcov(fit)
  expect_equal(unname(diag(v)), error^2)
  expect_true(all(is.na(v[upper.tri(v)])))
  fit$coefficients <- stats::setNames(rep(0.5, 5001), seq_len(5001))
  expect_error(vcov(fit), class = "fallible_error_argument")
})

test_that("a model with more numbers than memory is refused before memory is asked for", {
  table <- as.data.frame(replace(matrix(1:9, 9L, 12L), 9L, 1L))
  x <- ratings(table, raters = V1:V11, systems = V12, categories = 1:1000)
  expect_error(fit_raters(x, dawid_skene("weak")), "Merge rare", class = "fallible_error_argument")
  expect_error(estimate_accuracy(x), "Merge rare", class = "fallible_error_argument")
  found <- suppressWarnings(
    estimate_accuracy(x, "binned", interval = "bootstrap", resampling = list(replicates = 5)),
    classes = "fallible_warning_boundary"
  )
  expect_gt(tidy(found)$estimate, 0.5)
})

test_that("coefficients bear the names of what they are", {
  x <- lehner_ratings()
  for (model in models()) {
    fit <- quiet(fit_raters(x, model, "likelihood"))
    by_rater <- model$accuracy == "rater"
    expect_identical(names(coef(fit)), c(
      if (by_rater) paste0("rater_accuracy[", x$raters, "]") else "rater_accuracy",
      paste0("base_rate[", x$categories, "]"),
      if (model$errors == "distance") "dispersion",
      if (model$difficulty == "strata") "difficulty"
    ))
    if (fit$identified != "yes") next
    expect_equal(unname(coef(fit)[paste0("base_rate[", x$categories, "]")]), unname(rates_of(fit)))
    if (!by_rater) next
    right <- vapply(confusion(fit), function(m) sum(rates_of(fit) * diag(m)), 0)
    expect_equal(unname(coef(fit)[seq_along(right)]), unname(right))
  }
})

test_that("a fit that takes a while says that it goes on", {
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.6, 30), NULL, 20, 15000)))
  ticks <- 0
  core_fit_latent(
    x$patterns, pattern_weights(x), nothing_known, model_for_core(dawid_skene("weak"), x, "likelihood"),
    "likelihood", 2000L, NULL, function() ticks <<- ticks + 1
  )
  expect_gt(ticks, 0)
})

test_that("categories that raters tell apart are not called switched", {
  x <- withr::with_seed(1, panel(200, c(0.7, 0.8, 0.8)))
  expect_warning(fit_raters(x, dawid_skene("weak")), NA)
})

test_that("fits do not depend on the scale of weights that do not count cases", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.8, 0.85, 0.7), c(a = 0.8), 2, 200))
  found <- lapply(c(1e-3, 1e-12), function(weight) {
    x$weights <- rep(weight, 200)
    list(
      coef(quiet(fit_raters(x, dawid_skene()))), coef(quiet(fit_raters(x, rater_model("rater")))),
      tidy(quiet(estimate_accuracy(x)))$estimate
    )
  })
  expect_equal(found[[1]], found[[2]], tolerance = 1e-6)
})

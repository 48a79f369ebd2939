#' @srrstats {UL7.4} predict() of new ratings
# Every model with every method that fits it.
all_fits <- function(x) {
  each <- list(fit_raters(x))
  for (model in models()) {
    for (method in c("likelihood", if (model$errors != "free") "pairs")) {
      each <- c(each, list(quiet(fit_raters(x, model, method))))
    }
  }
  each
}

test_that("every fit has every method", {
  set.seed(1)
  x <- quiet(panel(80, dispersion = 2, difficulty = 0.2, missing = 0.2))
  for (fit in all_fits(x)) {
    info <- paste(format(fit$model), fit$method)
    expect_identical(fit$identified, "yes", info = info)
    terms <- names(coef(fit))
    expect_identical(dimnames(vcov(fit)), list(terms, terms), info = info)
    expect_equal(vcov(fit), t(vcov(fit)), info = info)
    table <- tidy(fit)
    expect_identical(table$term, terms, info = info)
    expect_equal(table$std.error, unname(sqrt(diag(vcov(fit)))), info = info)
    expect_named(rates_of(fit), x$categories, info = info)
    expect_equal(sum(rates_of(fit)), 1, info = info)
    matrices <- confusion(fit)
    if (!is.list(matrices)) matrices <- list(matrices)
    for (matrix in matrices) {
      expect_equal(unname(rowSums(matrix)), rep(1, 4), info = info)
      expect_identical(dimnames(matrix), list(truth = x$categories, rating = x$categories))
    }
    expect_equal(
      mean(vapply(matrices, function(m) sum(rates_of(fit) * diag(m)), 0)), fit$rater_accuracy,
      info = info
    )
    known <- fit$method == "likelihood"
    expect_identical(is.na(quiet(c(logLik(fit), AIC(fit), BIC(fit)))), rep(!known, 3), info = info)
    line <- glance(fit)
    expect_identical(c(line$logLik, line$AIC), c(as.double(logLik(fit)), quiet(AIC(fit))), info = info)
    expect_identical(line$nobs, nobs(fit))
    truth <- as.matrix(ground_truth(fit)[-1])
    expect_equal(rowSums(truth), rep(1, 80), info = info)
    labels <- predict(fit)
    expect_equal(labels$probability, unname(apply(truth, 1, max)), info = info)
    expect_identical(predict(fit, type = "probability"), ground_truth(fit), info = info)
    # Of the same cases, as if they were new.
    expect_equal(predict(fit, x), labels, tolerance = 1e-9, info = info)
    more <- augment(fit)
    expect_identical(more$.fitted, labels$category, info = info)
    expect_equal(unname(as.matrix(more[6:9])), unname(truth), info = info)
    expect_equal(
      more$.entropy, -rowSums(ifelse(truth > 0, truth * log2(truth), 0)), info = info
    )
    again <- update(fit)
    expect_identical(coef(again), coef(fit), info = info)
    expect_output(print(fit), "Next:", info = info)
    expect_output(print(summary(fit)), "Parameters", info = info)
  }
})

test_that("new cases are judged under the old fit", {
  set.seed(2)
  x <- panel(200, dispersion = 2)
  fit <- fit_raters(x, dawid_skene("weak"))
  # Other raters' columns left out, in another order, with fewer categories declared.
  new <- ratings(
    data.frame(rater3 = c("2", "4"), rater1 = c("2", NA)),
    raters = rater3:rater1, categories = c("4", "2")
  )
  matrices <- confusion(fit)
  first <- rates_of(fit) * matrices$rater3[, "2"] * matrices$rater1[, "2"]
  second <- rates_of(fit) * matrices$rater3[, "4"]
  found <- as.matrix(predict(fit, new, type = "probability")[-1])
  expect_equal(found, unname(rbind(first / sum(first), second / sum(second))),
    tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(predict(fit, cbind(rater1 = "2", rater3 = "4")), predict(fit, ratings(
    cbind(rater1 = "2", rater3 = "4"), categories = as.character(1:4)
  )))
  two <- factor(2, levels = 1:4, ordered = TRUE)
  expect_equal(predict(fit, cbind(rater1 = "2", rater3 = "2"))$category, two)
  expect_identical(names(augment(fit, new))[6:9], paste0(".posterior_", 1:4))
  # If raters are equal, any of them will do.
  common <- fit_raters(x, method = "likelihood")
  anyone <- ratings(cbind(x = c("2", "4"), y = c("2", NA)), categories = as.character(1:4))
  expect_equal(predict(common, anyone)$category, factor(c(2, 4), 1:4, ordered = TRUE))
  expect_snapshot(error = TRUE, {
    predict(fit, anyone)
    predict(fit, ratings(cbind(rater1 = c("2", "9"), rater2 = "2")))
    predict(fit, "rater1")
    predict(fit, ratings(data.frame("1" = 1:2, "2" = 1, check.names = FALSE), counts = 1:2))
  })
})

test_that("simulated panels have the raters, the gaps and the probabilities of the fit", {
  skip_unless_nightly()
  set.seed(3)
  x <- quiet(panel(300, dispersion = 2, missing = 0.3))
  for (model in list(k_model(), rater_model("rater", "distance", "strata"), dawid_skene("weak"))) {
    fit <- quiet(fit_raters(x, model))
    panels <- simulate(fit, nsim = 40)
    expect_length(panels, 40)
    given <- as.data.frame(x)[c("case", "rater")]
    expect_identical(as.data.frame(panels[[7]])[c("case", "rater")], given)
    kappa <- vapply(panels, function(panel) quiet(fit_raters(panel))$agreement, 0)
    # Pairs of ratings agree as often as the model says.
    strata <- stratum_matrices(fit)
    expected <- function(i, j) {
      mean(vapply(strata, function(m) sum(rates_of(fit) * rowSums(m[[i]] * m[[j]])), 0))
    }
    wide <- unclass(stats::xtabs(~ case + rater, given)) > 0
    weight <- crossprod(wide + 0)
    pairs <- rbind(c(1, 2), c(1, 3), c(2, 3))
    agreement <- stats::weighted.mean(
      apply(pairs, 1, function(p) expected(p[1], p[2])), weight[pairs]
    )
    expect_lt(abs(mean(kappa) - agreement), 4 * stats::sd(kappa) / sqrt(40))
    right <- vapply(panels, function(panel) {
      table <- as.data.frame(panel)
      mean(table$rating == truth(panel)$category[match(table$case, truth(panel)$case)])
    }, 0)
    shares <- table(given$rater)
    accuracy <- vapply(seq_along(shares), function(j) {
      mean(vapply(strata, function(m) sum(rates_of(fit) * diag(m[[j]])), 0))
    }, 0)
    expect_lt(
      abs(mean(right) - stats::weighted.mean(accuracy, shares)), 4 * stats::sd(right) / sqrt(40)
    )
  }
})

test_that("seeds repeat panels and leave the generator alone", {
  fit <- fit_raters(lehner_ratings())
  set.seed(4)
  before <- .Random.seed
  one <- simulate(fit, 2, seed = 9)
  expect_identical(.Random.seed, before)
  expect_identical(simulate(fit, 2, seed = 9), one)
  set.seed(4)
  two <- simulate(fit)
  expect_identical(attr(two, "seed"), before)
  set.seed(4)
  expect_identical(simulate(fit), two)
})

test_that("counts, repeats, weights and known cases are simulated as they are", {
  counted <- ratings(fleiss1971, case = case, counts = depression:other)
  panel <- simulate(fit_raters(counted), seed = 1)[[1]]
  expect_equal(rowSums(category_counts(panel)), rep(6, 30), ignore_attr = TRUE)
  expect_s3_class(panel, "ratings_counts")
  repeated <- ratings(dawid1979, case = case, rater = rater, rating = rating, repeats = "ratings")
  panel <- simulate(fit_raters(repeated, dawid_skene("weak")), seed = 1)[[1]]
  expect_identical(
    as.data.frame(panel)[c("case", "rater")], as.data.frame(repeated)[c("case", "rater")]
  )
  wide <- data.frame(a = c(1, 1, 2), b = c(1, 2, 2), w = c(5, 1, 4))
  weighted <- ratings(wide, raters = a:b, weights = w)
  panel <- simulate(quiet(fit_raters(weighted, method = "likelihood")), seed = 1)[[1]]
  expect_identical(dim(panel), c(10L, 2L))
  gold <- quiet(fit_raters(lehner_ratings(), known_truth = c("3" = "B", "5" = "D")))
  for (panel in simulate(gold, 5, seed = 1)) {
    expect_identical(as.character(truth(panel)$category[c(3, 5)]), c("B", "D"))
  }
  wide$w <- c(0.5, 0.2, 0.3)
  exact <- quiet(fit_raters(ratings(wide, raters = a:b, weights = w), method = "likelihood"))
  none <- quiet(fit_raters(ratings(cbind(c("a", "b"), c("b", "a")))))
  expect_snapshot(error = TRUE, {
    simulate(exact)
    simulate(none)
    simulate(gold, nsim = 0)
  })
})

test_that("a fit is made again with something changed", {
  set.seed(5)
  x <- panel(100)
  fit <- fit_raters(x)
  expect_identical(update(fit, dawid_skene("weak"))$method, "likelihood")
  expect_identical(update(fit, method = "pairs")$method, "pairs")
  pairs <- update(fit, rater_model("rater"), "pairs")
  expect_identical(update(pairs, k_model())$method, "pairs")
  expect_identical(update(pairs, dawid_skene("weak"))$method, "likelihood")
  expect_equal(nobs(update(pairs, x = x[1:50, ])), 50)
  known <- update(fit, known_truth = truth(x)[1:10, ])
  expect_identical(known$method, "likelihood")
  expect_identical(coef(update(known)), coef(known))
  expect_identical(coef(update(known, model = dawid_skene("weak"))),
    coef(fit_raters(x, dawid_skene("weak"), known_truth = truth(x)[1:10, ])))
  without <- update(known, known_truth = NULL)
  expect_equal(coef(without), coef(fit_raters(x, method = "likelihood")), tolerance = 1e-9)
  expect_identical(glance(without)$patterns, glance(fit)$patterns)
})

test_that("panels that no memory holds are not drawn", {
  wide <- data.frame(a = c("1", "1", "2"), b = c("1", "2", "2"), w = c(1e9, 2e8, 1e9))
  fit <- quiet(fit_raters(ratings(wide, raters = c("a", "b"), weights = "w")))
  expect_error(simulate(fit), "the fit has 4,400,000,000 ratings", class = "fallible_error_weights")
})

test_that("tidy() names raters, with the intervals of confint() and the numbers of ratings", {
  withr::local_seed(8)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), NULL, 2, n = 60))
  long <- as.data.frame(x, what = "ratings")
  long <- long[-(1:7), ]
  x <- ratings(long, case = case, rater = rater, rating = rating)
  fit <- quiet(fit_raters(x, rater_model(accuracy = "rater")))
  found <- tidy(fit, conf_level = 0.8)
  expect_equal(unname(confint(fit, level = 0.8)), unname(as.matrix(found[c("conf.low", "conf.high")])))
  of_raters <- found[!is.na(found$rater), ]
  expect_identical(of_raters$term, paste0("rater_accuracy[", of_raters$rater, "]"))
  expect_equal(of_raters$n, as.vector(table(long$rater)[of_raters$rater]))
  expect_true(all(found$n[is.na(found$rater)] == nobs(fit)))
  odd <- quiet(fit_raters(ratings(
    data.frame("a]: b" = rep(c("x", "y"), 9), b = rep(c("x", "y", "y"), 6), c = rep(c("x", "y"), 9), check.names = FALSE),
    raters = everything()), rater_model(accuracy = "rater")))
  expect_identical(tidy(odd)$rater[1:3], c("a]: b", "b", "c"))
})

test_that("accuracies in pooled fits have no smaller error than with known truth", {
  withr::local_seed(10)
  long <- as.data.frame(simulate_ratings(rater_design(rep(0.8, 6), n = 150)), what = "ratings")
  long <- long[long$rater != "rater6" | as.integer(long$case) <= 3, ]
  fit <- quiet(fit_raters(
    ratings(long, case = case, rater = rater, rating = rating), dawid_skene()
  ))
  found <- tidy(fit)
  found <- found[!is.na(found$rater), ]
  least <- sqrt(found$estimate * (1 - found$estimate) / found$n)
  curved <- sqrt(coefficient_variances(fit))[match(found$term, names(coef(fit)))]
  expect_equal(found$std.error, pmax(least, curved))
  expect_true(any(curved < least))
  wilson <- probability_interval(found$estimate, found$std.error, normal_quantile(0.9), NA)
  expect_equal(found$conf.low, wilson[, 1L])
  expect_lt(found$conf.low[found$rater == "rater6"], 0.6) # three ratings
})

test_that("confint() of posterior draws has the rows of tidy()", {
  withr::local_seed(9)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), NULL, 2, n = 60))
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", prior = rater_prior(),
    sampling = list(chains = 2, draws = 100, warmup = 100)))
  found <- tidy(fit, conf_level = 0.95)
  ends <- confint(fit)
  expect_identical(rownames(ends), found$term)
  expect_equal(unname(ends), unname(as.matrix(found[c("conf.low", "conf.high")])))
  expect_identical(colnames(ends), c("2.5 %", "97.5 %"))
  expect_identical(coef(fit), stats::setNames(found$estimate, found$term))
  expect_identical(dimnames(vcov(fit)), list(found$term, found$term))
  expect_equal(unname(sqrt(diag(vcov(fit)))), found$std.error)
  expect_equal(vcov(fit)["spec[rater1]", "sens[rater1]"],
    stats::cov(draws(fit)[["spec[rater1]"]], draws(fit)[["sens[rater1]"]]))
})

test_that("new cases may lack the ratings of a rater", {
  x <- lehner_ratings()
  fit <- quiet(fit_raters(x, rater_model("rater")))
  new <- data.frame(rater1 = "A", rater2 = "A", rater3 = NA, rater4 = "B")
  expect_no_warning(labels <- predict(fit, new))
  expect_equal(labels$probability, predict(fit, new[-3L])$probability)
})

# Laws of what raters have in common.
law_with <- function(se, sp, rate, shared) {
  list(
    base_rates = matrix(c(1 - rate, rate), 1L),
    matrices = Map(function(a, b) rbind(c(b, 1 - b), c(1 - a, a)), se, sp),
    shared = shared
  )
}

test_that("laws keep the margins of raters, and without anything shared errors are independent", {
  law <- law_with(c(0.8, 0.7, 0.9), c(0.9, 0.6, 0.8), 0.3, matrix(0, 2L, 1L))
  raters <- c("a", "b", "c")
  x <- ratings(as.data.frame(stats::setNames(list(0:1, 0:1, 0:1), raters)), raters = a:c)
  all <- all_answer_combinations(x)
  for (model in list(
    free_model(dependence = "easy"), free_model(dependence = "pairs", pairs = list(c("a", "c")))
  )) {
    given <- code_probabilities(law, all, model, raters)
    expect_close(given, code_probabilities(law, all, free_model(), raters))
    for (u in c(0.2, 0.5)) {
      law$shared <- matrix(u, 2L, 1L)
      given <- code_probabilities(law, all, model, raters)
      expect_close(colSums(given), c(1, 1))
      margins <- vapply(1:3, function(j) colSums(given[all[, j] == 2L, ]), c(0, 0))
      expect_close(margins, vapply(law$matrices, function(m) m[, 2L], c(0, 0)))
    }
    law$shared <- matrix(0, 2L, 1L)
  }
})

test_that("a model names one pair or several", {
  of_pairs <- function(...) sub(".* with", "", format(free_model(dependence = "pairs", pairs = list(...))))
  expect_identical(of_pairs(c("a", "b")), " the dependent pair a and b")
  expect_identical(of_pairs(c("a", "b"), c("c", "d")), " dependent pairs a and b, c and d")
})

test_that("what two tests of a pair share is a covariance, as a share of its bound", {
  both <- joint_answer_probabilities(c(0.1, 0.9), c(0.3, 0.7), 0.4)
  expect_close(both[2, 2], 0.9 * 0.7 + 0.4 * (0.7 - 0.9 * 0.7))
  three <- joint_answer_probabilities(c(0.5, 0.3, 0.2), c(0.2, 0.2, 0.6), 1)
  expect_close(rowSums(three), c(0.5, 0.3, 0.2))
  expect_close(colSums(three), c(0.2, 0.2, 0.6))
  expect_close(diag(three), c(0.2, 0.2, 0.2))
})

test_that("covariances of a pair are those of its joint probabilities", {
  set.seed(1)
  fit <- quiet(fit_raters(copied_panel(0.3, 300), free_model(dependence = "pairs",
    pairs = list(c("a", "b"), c("d", "e"))), "bayes", sampling = list(draws = 40, thin = 1)))
  found <- tidy(fit, "covariances", conf_level = 0.8)
  expect_identical(dim(found), c(4L, 7L))
  expected <- vapply(parameters_of_draws(fit, 40), function(law) {
    p <- law$matrices[[4]][2, ]
    q <- law$matrices[[5]][2, ]
    both <- joint_answer_probabilities(p, q, law$shared[2, 2])[2, 2]
    both - p[[2]] * q[[2]]
  }, 0)
  row <- found[found$rater1 == "d" & found$truth == "1", ]
  expect_close(row$estimate, stats::median(expected))
  expect_close(row$conf.low, unname(stats::quantile(expected, 0.1)))
  expect_true(all(found$estimate >= 0 & found$conf.high <= 0.25))
  expect_error(tidy(drawn_tests(), "covariances"), class = "fallible_error_argument")
})

test_that("ranks say what populations and tests can tell apart", {
  panel <- function(tests) {
    names <- letters[seq_len(tests)]
    ratings(as.data.frame(stats::setNames(rep(list(0:1), tests), names)), raters = !!names)
  }
  rank <- function(tests, populations, ...) {
    unlist(rank_of_model(panel(tests), free_model(...), populations))
  }
  pair <- list(c("a", "b"))
  expect_identical(rank(2, 1), c(rank = 3, parameters = 5))
  expect_identical(rank(2, 2), c(rank = 6, parameters = 6))
  expect_identical(rank(2, 4, dependence = "pairs", pairs = pair), c(rank = 8, parameters = 10))
  expect_identical(rank(3, 1), c(rank = 7, parameters = 7))
  expect_identical(rank(3, 1, dependence = "easy"), c(rank = 7, parameters = 9))
  expect_identical(rank(4, 1, dependence = "pairs", pairs = pair), c(rank = 11, parameters = 11))
  expect_identical(rank(4, 1, dependence = "easy"), c(rank = 11, parameters = 11))
  # Degrees of freedom are not enough, 13 parameters in 15 cells: two blocks of four answers have a
  # table of rank 2, which has 11 dimensions.
  expect_identical(
    rank(4, 1, dependence = "pairs", pairs = list(c("a", "b"), c("c", "d"))),
    c(rank = 11, parameters = 13)
  )
})

test_that("two dependent tests have the posterior of a long run", {
  skip_unless_extended()
  fit <- function(...) {
    set.seed(1)
    expect_warning(
      fit <- fit_raters(two_tests(), free_model(...), method = "bayes",
        prior = joseph(order = "none")), class = "fallible_warning_dependence"
    )
    fit
  }
  off <- function(fit, expected, own) {
    table <- tidy(fit)
    at <- match(names(expected), table$term)
    max(abs(table$mean[at] - expected) / sqrt(table$mcse[at]^2 + own^2))
  }
  pairs <- fit(dependence = "pairs", pairs = list(c("stool", "serology")))
  expect_lt(off(pairs, c(
    "base_rate[+]" = 0.8232, "sens[stool]" = 0.2853, "spec[stool]" = 0.9493,
    "sens[serology]" = 0.8382, "spec[serology]" = 0.6461, "pair[stool,serology,-]" = 0.503,
    "pair[stool,serology,+]" = 0.610
  ), 7e-4), 4)
  easy <- fit(dependence = "easy")
  expect_lt(off(easy, c(
    "base_rate[+]" = 0.8279, "sens[stool]" = 0.2889, "spec[stool]" = 0.9505,
    "sens[serology]" = 0.8447, "spec[serology]" = 0.6905, "easy[-]" = 0.351, "easy[+]" = 0.184
  ), 7e-4), 4)
  expect_lt(abs(criteria_of_fit(pairs)$table$elpd[[1]] + 174.24), 0.2)
  expect_snapshot(print(pairs))
  expect_warning(
    found <- compare_models(drawn_tests(), pairs, easy), class = "fallible_warning_dependence"
  )
  expect_true(all(tidy(found)$undecided))
  expect_equal(tidy(found)$difference[[1]], 0)
  expect_snapshot(print(found))
  # Of a single fit all laws that its priors allow.
  expect_warning(alone <- compare_models(easy), class = "fallible_warning_dependence")
  expect_identical(nrow(tidy(alone)), 2L)
  expect_error(simulate(pairs), class = "fallible_error_argument")
})

test_that("combined tests use the joint probabilities of dependent tests", {
  fit <- function(...) {
    set.seed(1)
    quiet(fit_raters(two_tests(), free_model(...), method = "bayes", prior = joseph(),
      sampling = list(draws = 1000)))
  }
  # Combinations of all draws, from the definitions of the models.
  combine <- function(fit) {
    found <- test_accuracy(fit, positive = "+", combine = c("stool", "serology"))
    all <- as.list(draws(fit))
    medians <- vapply(c("-", "+"), function(truth) {
      right <- if (truth == "+") "sens" else "spec"
      a <- all[[paste0(right, "[stool]")]]
      b <- all[[paste0(right, "[serology]")]]
      both <- if (fit$model$dependence$type == "pairs") {
        u <- all[[paste0("pair[stool,serology,", truth, "]")]]
        (1 - u) * a * b + u * pmin(a, b)
      } else {
        easy <- all[[paste0("easy[", truth, "]")]]
        easy + (a - easy) * (b - easy) / (1 - easy)
      }
      stats::median(both)
    }, 0)
    pick <- function(rater, measure) {
      found$estimate[found$rater == rater & found$measure == measure]
    }
    expect_equal(pick("stool and serology", "sensitivity"), medians[["+"]])
    expect_equal(pick("stool or serology", "specificity"), medians[["-"]])
    is_ratio <- found$measure %in% c("lr_positive", "lr_negative", "dor")
    expect_identical(is.na(found$std.error), is_ratio)
    expect_identical(!is.na(found$reason), is_ratio)
    # Predictions for the fitted cases use the same draws, and labels name the assumption.
    again <- predict(fit, fit$x, "probability")
    expect_equal(again[["+"]], ground_truth(fit)[["+"]])
    for (labels in list(again, ground_truth(fit))) {
      expect_output(print(labels), "with the dependence of the model", fixed = TRUE)
    }
  }
  combine(fit(dependence = "pairs", pairs = list(c("stool", "serology"))))
  combine(fit(dependence = "easy"))
})

test_that("dependence is refused where nothing could be learnt of it, or does not go", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.9), categories = c("-", "+"), n = 50))
  expect_snapshot(error = TRUE, {
    fit_raters(x, free_model(dependence = "easy"), method = "bayes")
    fit_raters(x, free_model(dependence = "easy"))
    free_model(dependence = "pairs")
    free_model(dependence = "pairs", pairs = list(c("a", "b"), c("b", "c")))
    free_model(pairs = list(c("a", "b")))
    rater_model(errors = "distance", dependence = "easy")
    fit_raters(x, free_model(dependence = "pairs", pairs = list(c("a", "b"))), method = "bayes")
  })
})

test_that("a copied rater is seen in the pairs, and its law comes out", {
  skip_unless_nightly()
  set.seed(2)
  x <- copied_panel(0.4, 600)
  plain <- quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 1000)))
  checks <- check_fit(plain, NULL)
  pairs <- tidy(checks, "pairs")
  expect_lt(pairs$p.value[pairs$rater1 == "a" & pairs$rater2 == "b"], 0.02)
  model <- free_model(dependence = "pairs", pairs = list(c("a", "b")))
  suppressWarnings(
    pair <- fit_raters(x, model, method = "bayes", sampling = list(draws = 1000)),
    classes = c("fallible_warning_dependence", "fallible_warning_no_convergence")
  )
  expect_gt(criteria_of_fit(pair)$table$elpd[[1]], criteria_of_fit(plain)$table$elpd[[1]] + 10)
  expect_gt(min(colMeans(pair$draws[, c("pair[a,b,0]", "pair[a,b,1]")])), 0.3)
})

test_that("ranks of truths from the prior among their draws are even, with easy cases and pairs", {
  skip_unless_nightly("posteriors of known panels are tried every time, ranks every night")
  worlds <- list(
    easy = list(
      model = free_model(dependence = "easy"), terms = c("easy[-]", "easy[+]"),
      said = function(law, truth) {
        own <- stats::runif(length(truth)) < law$shared[truth, 1L]
        vapply(law$matrices, function(m) {
          easy <- law$shared[truth, 1L]
          right <- (diag(m)[truth] - easy) / (1 - easy)
          ifelse(own | stats::runif(length(truth)) < right, truth, 3L - truth)
        }, numeric(length(truth)))
      }
    ),
    pairs = list(
      model = free_model(dependence = "pairs", pairs = list(c("a", "b"))),
      terms = c("pair[a,b,-]", "pair[a,b,+]"),
      said = function(law, truth) {
        said <- vapply(law$matrices, function(m) {
          ifelse(stats::runif(length(truth)) < diag(m)[truth], truth, 3L - truth)
        }, numeric(length(truth)))
        for (i in seq_along(truth)) {
          k <- truth[[i]]
          cells <- joint_answer_probabilities(
            law$matrices[[1]][k, ], law$matrices[[2]][k, ], law$shared[k, 1L]
          )
          at <- sample.int(4L, 1L, prob = cells)
          said[i, 1:2] <- c(row(cells)[at], col(cells)[at])
        }
        said
      }
    )
  )
  for (world in worlds) {
    draw <- function() {
      repeat {
        se <- stats::rbeta(4, 8, 3)
        sp <- stats::rbeta(4, 8, 3)
        shared <- stats::runif(2)
        fits <- world$model$dependence$type != "easy" ||
          all(sp > shared[[1]]) && all(se > shared[[2]])
        if (fits && all(se + sp > 1)) break
      }
      rate <- stats::runif(1)
      law <- law_with(se, sp, rate, matrix(shared, 2L))
      said <- world$said(law, 1L + (stats::runif(80) < rate))
      colnames(said) <- c("a", "b", "c", "d")
      table <- as.data.frame(ifelse(said == 2, "+", "-"))
      numbers <- c(rate, se, sp, shared)
      names(numbers) <- c("base_rate[+]", paste0("sens[", colnames(said), "]"),
        paste0("spec[", colnames(said), "]"), world$terms)
      list(x = ratings(table, raters = a:d, categories = c("-", "+")), numbers = numbers)
    }
    prior <- rater_prior(others = list(sens = c(8, 3), spec = c(8, 3)), order = "each")
    p <- rank_p_values(quiet(simulated_ranks(200, draw, world$model, prior, thin = 10L)))
    expect_gt(min(p) * length(p), 0.01)
  }
})

# Three raters with three categories, and informative priors.
three_category_fit <- function(model, draws = 2000) {
  x <- ratings(
    data.frame(
      a = c("A", "A", "B", "C", "B", "C"), b = c("A", "B", "B", "C", "C", NA),
      c = c("A", "A", "B", "C", "A", "C"), n = c(4, 2, 4, 3, 1, 2)
    ),
    raters = a:c, weights = n, categories = c("A", "B", "C")
  )
  law <- matrix(1, 3L, 3L) + 7 * diag(3L)
  set.seed(1)
  quiet(fit_raters(x, model, method = "bayes", prior = rater_prior(a = law, b = law, c = law),
    sampling = list(draws = draws, thin = 4)))
}

test_that("probabilities of three categories sum to one in every draw", {
  for (model in list(
    free_model(dependence = "easy"), free_model(dependence = "pairs", pairs = list(c("b", "a")))
  )) {
    fit <- three_category_fit(model)
    for (row in c("base_rate[", "p[a,A,", "p[b,C,", "p[c,B,")) {
      sums <- rowSums(fit$draws[, startsWith(colnames(fit$draws), row)])
      expect_close(sums, rep(1, length(sums)))
    }
  }
})

test_that("dependent raters with three categories have the posterior of weighted prior draws", {
  # Self-normalised importance sampling from the prior, with an effective sample size above 16000.
  off <- function(model, expected) {
    table <- tidy(three_category_fit(model, 8000))
    at <- match(names(expected), table$term)
    max(abs(table$mean[at] - expected) / sqrt(table$mcse[at]^2 + 0.003^2))
  }
  expect_lt(off(free_model(dependence = "easy"), c(
    "base_rate[C]" = 0.338, "p[a,A,A]" = 0.859, "p[b,A,A]" = 0.750, "p[c,B,B]" = 0.813,
    "easy[A]" = 0.350, "easy[C]" = 0.473
  )), 4)
  expect_lt(off(free_model(dependence = "pairs", pairs = list(c("b", "a"))), c(
    "base_rate[C]" = 0.334, "p[a,A,A]" = 0.862, "p[b,A,A]" = 0.723, "p[c,B,B]" = 0.829,
    "pair[b,a,A]" = 0.423, "pair[b,a,C]" = 0.505
  )), 4)
})

test_that("predictions use all ratings of a rater, and raters of pairs rate a case once", {
  set.seed(2)
  truth <- rep(0:1, 10)
  table <- do.call(rbind, lapply(c("a", "a", "b", "c"), function(rater) {
    rating <- ifelse(stats::runif(20) < 0.8, truth, 1 - truth)
    data.frame(case = seq_along(truth), rater, rating)
  }))
  x <- ratings(table, case = case, rater = rater, rating = rating, repeats = "ratings")
  law <- list(sens = c(8, 2), spec = c(8, 2))
  run <- function(...) {
    quiet(fit_raters(x, free_model(...), method = "bayes",
      prior = rater_prior(a = law, b = law, c = law), sampling = list(draws = 400, thin = 1)))
  }
  for (fit in list(
    run(dependence = "easy"), run(dependence = "pairs", pairs = list(c("b", "c")))
  )) {
    predicted <- predict(fit, x, "probability")
    expect_close(as.matrix(predicted[-1L]), as.matrix(ground_truth(fit)[-1L]))
  }
  # The posterior of a pair would depend on which of its ratings belong together.
  expect_error(run(dependence = "pairs", pairs = list(c("a", "b"))),
    class = "fallible_error_argument")
})

test_that("a case has too many ratings for correlated errors", {
  data <- data.frame(case = rep(1:2, each = 301), rater = paste0("r", 1:301), rating = c("-", "+"))
  x <- quiet(ratings(data, case = case, rater = rater, rating = rating))
  expect_error(check_dependent_panel(free_model(dependence = "easy"), x), "has 301 ratings",
    class = "fallible_error_argument")
})

test_that("errors about pairs of raters name the rater that is wrong", {
  pairs <- function(pairs) free_model(dependence = "pairs", pairs = pairs)
  expect_error(pairs(list(c("a", "b"), c("b", "c"))), "\"b\" is named twice",
    class = "fallible_error_argument")
  expect_error(pairs(c("a", "b")), "For example, .pairs = list\\(c\\(",
    class = "fallible_error_argument")
  x <- ratings(matrix(c("x", "y"), 20, 3, dimnames = list(NULL, c("PCR", "culture", "smear"))))
  expect_error(fit_raters(x, pairs(list(c("PCR", "Culture"))), method = "bayes"),
    "Did you mean \"culture\"", class = "fallible_error_argument")
})

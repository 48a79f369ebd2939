long_panel <- function(n = 120, raters = c(0.6, 0.7, 0.8, 0.7)) {
  set.seed(1)
  x <- simulate_ratings(rater_design(raters, c(a = 0.7), 3, n, dispersion = 2))
  rows <- as.data.frame(x)
  rows[] <- lapply(rows, as.character)
  rows[sample(nrow(rows)), ]
}

built <- function(rows, ...) ratings(rows, case = case, rater = rater, rating = rating, ...)

test_that("an update with more ratings is a fit of all of them", {
  rows <- long_panel()
  part <- rows$case %in% unique(rows$case)[1:100]
  part[sample(which(part), 40)] <- FALSE # some of the rest are of known cases
  models <- list(
    k_model(), dawid_skene("weak"), rater_model("rater", "distance"),
    rater_model(difficulty = "strata"), rater_model("rater", prior = "none")
  )
  all <- built(rows)
  few <- built(rows[part, ], categories = all$categories)
  for (model in models) {
    for (method in c("likelihood", if (model$errors != "free") "pairs")) {
      fit <- quiet(fit_raters(few, model, method))
      warm <- quiet(update(fit, new = rows[!part, ]))
      cold <- quiet(fit_raters(all, model, method))
      expect_equal(coef(warm), coef(cold), tolerance = 1e-3)
      expect_equal(warm$log_posterior, cold$log_posterior, tolerance = 1e-7)
      expect_equal(warm$log_likelihood, cold$log_likelihood, tolerance = 1e-5)
      at <- match(all$cases, warm$x$cases)
      expect_equal(
        ground_truth(warm)[at, -1], ground_truth(cold)[, -1], tolerance = 1e-3,
        ignore_attr = TRUE
      )
    }
  }
  fit <- quiet(fit_raters(few))
  expect_equal(coef(quiet(update(fit, new = rows[!part, ]))), coef(quiet(fit_raters(all))))
})

test_that("a warm fit begins where the former one ended", {
  rows <- long_panel(300)
  some <- seq_len(nrow(rows)) <= nrow(rows) - 5
  fit <- quiet(fit_raters(built(rows[some, ]), rater_model("rater"), "likelihood"))
  warm <- quiet(update(fit, new = rows[!some, ]))
  cold <- quiet(fit_raters(built(rows), rater_model("rater"), "likelihood"))
  expect_lt(warm$iterations, cold$iterations)
  again <- quiet(update(warm, new = rows[0, ]))
  expect_lte(again$iterations, 5L)
  expect_equal(coef(again), coef(warm), tolerance = 1e-5)
})

test_that("new raters, cases and categories are handled", {
  rows <- long_panel()
  known <- rows$rater != rows$rater[[1]]
  for (model in list(dawid_skene("weak"), rater_model("rater", "distance", "strata"), k_model())) {
    fit <- quiet(fit_raters(built(rows[known, ]), model, "likelihood"))
    warm <- quiet(update(fit, new = rows[!known, ]))
    cold <- quiet(fit_raters(built(rows), model, "likelihood"))
    expect_setequal(warm$x$raters, cold$x$raters)
    expect_equal(coef(warm)[names(coef(cold))], coef(cold), tolerance = 1e-3)
  }
  more <- rbind(rows, data.frame(case = c("1", "x"), rater = c("z", "z"), rating = "new"))
  fit <- quiet(fit_raters(built(rows), rater_model("rater")))
  warm <- quiet(update(fit, new = more[nrow(rows) + 1:2, ]))
  cold <- quiet(fit_raters(built(more), rater_model("rater")))
  expect_identical(warm$x$categories, c(fit$x$categories, "new"))
  expect_equal(coef(warm)[names(coef(cold))], coef(cold), tolerance = 1e-3)
  expect_identical(warm$x$cases, c(fit$x$cases, "x"))
})

test_that("known truths and raters stay known", {
  rows <- long_panel()
  part <- seq_len(nrow(rows)) <= 400
  gold <- data.frame(case = rows$case[1:10], truth = rows$rating[1:10])
  gold <- gold[!duplicated(gold$case), ]
  run <- function(x) {
    quiet(fit_raters(x, dawid_skene("weak"), known_truth = gold, known_raters = list(rater1 = 0.6)))
  }
  warm <- quiet(update(run(built(rows[part, ])), new = rows[!part, ]))
  cold <- run(built(rows))
  expect_equal(coef(warm)[names(coef(cold))], coef(cold), tolerance = 1e-3)
})

test_that("an update of matrices around a centre is a fit of all ratings, with what is known", {
  rows <- long_panel()
  part <- seq_len(nrow(rows)) <= 400
  gold <- data.frame(case = rows$case[1:10], truth = rows$rating[1:10])
  gold <- gold[!duplicated(gold$case), ]
  for (known in list(NULL, gold)) {
    fit <- quiet(fit_raters(built(rows[part, ]), dawid_skene(), known_truth = known))
    warm <- quiet(update(fit, new = rows[!part, ]))
    cold <- quiet(fit_raters(built(rows), dawid_skene(), known_truth = known))
    expect_equal(coef(warm)[names(coef(cold))], coef(cold), tolerance = 1e-5)
    expect_equal(warm$centre$c, cold$centre$c, tolerance = 1e-3)
  }
  expect_identical(update(fit, model = k_model(), known_truth = NULL)$model, k_model())
})

test_that("systems and truths of new ratings are kept", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.6), 3, 60))
  fit <- quiet(fit_raters(x[1:40, ], dawid_skene("weak")))
  expect_error(update(fit, new = x[31:60, ]), "more than once", class = "fallible_error_repeat")
  grown <- quiet(update(fit, new = x[41:60, ]))$x
  expect_identical(as.data.frame(grown, what = "systems"), as.data.frame(x, what = "systems"))
  expect_identical(truth(grown)$category, truth(x)$category)
  expect_equal(
    quiet(estimate_accuracy(grown, "unbinned", interval = "none"))$table$estimate,
    quiet(estimate_accuracy(x, "unbinned", interval = "none"))$table$estimate
  )
})

test_that("ratings that cannot be added are refused", {
  rows <- long_panel(20)
  fit <- quiet(fit_raters(built(rows)))
  more <- data.frame(case = "1", rater = "rater9", rating = rows$rating[[1]])
  counts <- ratings(fleiss1971, case = case, counts = depression:other)
  ordered <- fit_raters(built(rows, ordered = TRUE))
  weighted <- built(cbind(rows, weight = 2), weights = weight)
  expect_snapshot(error = TRUE, {
    update(fit, new = more, x = built(rows))
    update(fit, new = "more")
    update(fit, new = cbind(more, weight = 1))
    update(fit, new = data.frame(case = NA, rater = "a", rating = "b"))
    update(fit, new = rows[1, ])
    update(fit, new = weighted)
    update(fit, new = counts)
    update(fit_raters(counts), new = more)
    update(quiet(fit_raters(weighted)), new = more)
    update(ordered, new = transform(more, rating = "unheard"))
  })
  x <- simulate_ratings(rater_design(c(0.7, 0.7), c(a = 0.8), 3, 20))
  expect_error(update(fit, new = x), "systems of the fit", class = "fallible_error_system")
  for (unnamed in list(x, more)) expect_error(update(fit, unnamed), "Use `x = `.* and `new = `")
  rows$where <- rows$case
  placed <- built(rows, covariates = where)
  expect_error(update(fit, new = placed), "covariates", class = "fallible_error_argument")
  expect_error(
    update(quiet(fit_raters(placed)), new = more), "covariates", class = "fallible_error_argument"
  )
})

test_that("a prior of draws is refused where nothing is drawn", {
  fit <- quiet(fit_raters(lehner_ratings(), dawid_skene()))
  expect_error(update(fit, prior = rater_prior()), "bayes", class = "fallible_error_argument")
  expect_error(update(fit, sampling = list()), "`sampling` can", class = "fallible_error_argument")
})

test_that("a fit that is made again keeps what was given, and its method", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 2, 200))
  gold <- truth(x)[1:60, ]
  # Without the truths the K-model is still fitted by likelihood.
  fit <- quiet(fit_raters(x, k_model(), "likelihood", known_truth = gold))
  again <- fit_again(fit, known_truth = NULL)
  expect_identical(again$method, "likelihood")
  expect_equal(coef(again), coef(fit_raters(x, k_model(), "likelihood")), tolerance = 1e-6)
  estimate <- quiet(estimate_accuracy(fit, "joint", known_truth = gold, gold_sample = "random"))
  expect_identical(estimate$fit$method, "likelihood")
  prior <- rater_prior(rater1 = list(right = list(70, 30)))
  sampling <- list(draws = 200, warmup = 50, thin = 1)
  set.seed(1)
  drawn <- quiet(fit_raters(x, rater_model("rater"), "bayes", gold, list(rater3 = 0.8), prior,
    sampling))
  set.seed(1)
  again <- quiet(fit_again(drawn))
  expect_identical(again[c("given", "draws")], drawn[c("given", "draws")])
  set.seed(1)
  expect_identical(quiet(update(drawn))[c("given", "draws")], drawn[c("given", "draws")])
  longer <- quiet(update(drawn, sampling = list(draws = 300, warmup = 50, thin = 1)))
  expect_identical(nrow(longer$draws), 300L)
  expect_identical(longer$given$prior, prior)
})

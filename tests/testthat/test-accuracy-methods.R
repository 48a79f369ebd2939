test_that("tables have the columns that are promised", {
  estimate <- published(lehner_ratings(), interval = "none")
  expect_named(tidy(estimate), c(
    "system", "estimate", "std.error", "conf.low", "conf.high", "shared", "independent", "n",
    "method", "reason"
  ))
  expect_named(tidy(estimate, "details"), c(
    "system", "uninformative", "mean_posterior", "failed", "sampling", "common",
    "rater_error", "independence_weight", "dependence_weight", "average_shared", "base_rate_range", "disagreement_error", "centre"
  ))
  expect_identical(tidy(estimate)$reason, NA_character_)
  expect_identical(glance(estimate)$replicates, NA_integer_)
  unbinned <- published(lehner_ratings(), method = "unbinned", interval = "none")
  expect_identical(tidy(unbinned, "details")$uninformative, NA_real_)
  expect_identical(glance(estimate)$systems, 1L)
  expect_identical(glance(estimate)$conf_level, NA_real_)
  expect_identical(glance(estimate)$cases, glance(estimate$fit)$cases)
  members <- tidy(estimate, "members")
  expect_identical(nrow(members), 0L)
  averaged <- tidy(quiet(estimate_accuracy(lehner_ratings())), "members")
  expect_identical(lapply(averaged, typeof), lapply(members, typeof))
  expect_equal(sum(averaged$weight), 1)
})

test_that("a summary has words for every fact, and names the systems that it leaves out", {
  systems <- stats::setNames(rep(0.8, 7), letters[1:7])
  x <- withr::with_seed(1, simulate_ratings(rater_design(rep(0.7, 3), systems, n = 60)))
  estimate <- published(x, interval = "none")
  expect_setequal(names(tidy(estimate, "details")), c("system", names(detail_titles)))
  expect_output(print(summary(estimate)), "See tidy(what = \"details\") for f, g.", fixed = TRUE)
  expect_output(print(summary(estimate["a"])), "What the estimates rest on")
  expect_no_match(capture.output(print(summary(estimate["a"]))), "See tidy", fixed = TRUE)
})

test_that("print and summary tell the story", {
  set.seed(1)
  estimate <- quiet(published(lehner_ratings(), resampling = list(replicates = 200)))
  expect_snapshot({
    estimate
    summary(estimate)
  })
  expect_snapshot(
    published(lehner_ratings(), method = "unbinned", interval = "none", bins = list(clip = "none"))
  )
  # There are notes on base rates of zero and on an estimate outside its replicates.
  x <- ratings(
    dawid1979[dawid1979$rater != "A5", ], case = case, rater = rater, rating = rating,
    repeats = "ratings",
    systems = stats::setNames(
      dawid1979[dawid1979$rater == "A5", ], c("case", "system", "prediction")
    )
  )
  dawid <- quiet(published(x, resampling = list(replicates = 200)))
  expect_identical(glance(dawid)$negative, 1L)
  dawid$table$conf.high <- dawid$table$estimate - 0.01
  expect_snapshot(show_accuracy(dawid))
  expect_snapshot(published(exact_ratings(rep(0.6, 3), 0.9)))
})

test_that("systems may be chosen by every verb that judges them", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.7, 0.8), c(a = 0.8, b = 0.7, c = 0.5), 3, 80))
  gold <- stats::setNames(as.character(truth(x)$category), truth(x)$case)[1:20]
  known <- quiet(fit_raters(x, known_truth = gold))
  chosen <- function(x, method, ...) {
    all <- tidy(quiet(estimate_accuracy(x, method, ...)))
    some <- tidy(quiet(estimate_accuracy(x, method, ..., systems = c("c", "a"))))
    expect_equal(some, all[c(3, 1), ])
  }
  for (method in c("binned", "joint", "shared", "average")) chosen(x, method, interval = "none")
  chosen(x, "average")
  chosen(quiet(fit_raters(x, rater_model("rater"))), "joint", interval = "profile")
  chosen(known, "joint", interval = "none")
  by <- quiet(estimate_accuracy(
    x, "unbinned", interval = "none", by = rep(1:2, 40), systems = "b"
  ))
  expect_identical(tidy(by)$system, c("b", "b"))
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 30)))
  part <- function(...) tidy(withr::with_seed(1, confusion(estimate, ...)))
  expect_equal(part(systems = "b"), part()[part()$system == "b", ])
  expect_identical(true_accuracy(x, systems = c("c", "a")), true_accuracy(x)[c(3, 1), ])
  refused <- function(code) {
    expect_error(code, "different names among", class = "fallible_error_argument")
  }
  refused(estimate_accuracy(x, systems = "q"))
  refused(confusion(estimate, systems = function(x) 1))
  refused(true_accuracy(x, systems = c("a", "a")))
  expect_error(
    estimate_accuracy(x[, , character()], systems = "a"), class = "fallible_error_system"
  )
})

test_that("ratings and fits have the same arguments", {
  of <- function(method) formals(getS3method("estimate_accuracy", method))
  same <- setdiff(names(of("ratings")), c("model", "known_raters")) # a fit has these
  expect_identical(names(of("rater_fit")), same)
  expect_identical(of("ratings")[same], as.list(of("rater_fit")))
})

test_that("estimates speak R's own verbs", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(a = 0.9, b = 0.6, c = 0.7), 3, n = 150))
  e <- quiet(estimate_accuracy(x, "unbinned", interval = "bootstrap", resampling = list(replicates = 50)))
  table <- tidy(e)
  expect_identical(coef(e), c(a = table$estimate[1], b = table$estimate[2], c = table$estimate[3]))
  expect_equal(diag(vcov(e)), c(a = 1, b = 1, c = 1) * table$std.error^2)
  drawn <- tidy(e, "replicates")
  wide <- matrix(drawn$estimate, ncol = 3)
  expect_identical(drawn$system, rep(c("a", "b", "c"), each = 50))
  expect_equal(vcov(e)["a", "b"], cov(wide[, 1], wide[, 2]))
  expect_equal(unname(confint(e)[, 1]), table$conf.low)
  expect_identical(colnames(confint(e)), c("5 %", "95 %"))
  expect_identical(rownames(confint(e, "b")), "b")
  expect_error(confint(e, level = 0.95), class = "fallible_error_argument")
  expect_identical(paste("Accuracy:", e["b"]), paste("Accuracy:", format(e["b"])))
  expect_identical(toString(e), toString(format(e)))
  without <- quiet(estimate_accuracy(x, "unbinned", interval = "none"))
  expect_identical(nrow(tidy(without, "replicates")), 0L)
  expect_true(all(is.na(vcov(without))))
  fit <- fit_raters(x, dawid_skene())
  expect_identical(dimnames(confint(fit)), dimnames(stats::confint.default(fit)))
  expect_equal(confint(fit), stats::confint.default(fit), tolerance = 0.1)
  expect_identical(coef(agreement(x, c("fleiss_kappa", "gwet_ac"))), setNames(
    agreement(x, c("fleiss_kappa", "gwet_ac"))$estimate, c("fleiss_kappa", "gwet_ac")
  ))
  expect_error(coef(data_check(x)), class = "fallible_error_argument")
})

test_that("`[` keeps the estimates of some systems as they are", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.75, 0.8), c(a = 0.9, b = 0.6, c = 0.7), 3, n = 150))
  known <- as.character(truth(x)[[2]][1:40])
  expect_part <- function(e) {
    part <- e[c("c", "a")]
    for (what in c("estimate", "details", "gold", "gold_details", "replicates")) {
      all <- tidy(e, what)
      own <- tidy(part, what)
      expect_equal(own[order(own$system), ], all[all$system != "b", ], ignore_attr = TRUE)
    }
    both <- quiet(estimate_metrics(part, c("accuracy", "kap"), interval = "none"))
    whole <- quiet(estimate_metrics(e, c("accuracy", "kap"), interval = "none"))
    of <- function(x, system) tidy(x)$estimate[tidy(x)$system == system]
    expect_equal(of(both, "c"), of(whole, "c"), tolerance = 1e-12)
    # How much gold counts in a combined estimate rests on drawings, which are of systems together.
    interval <- if (!is.null(e$gold)) "corrected"
    cells <- function(x) confusion(x, interval = interval)$cells$estimate
    expect_equal(cells(part)[1:9], cells(e)[19:27])
    expect_s3_class(quiet(compare_systems(part)), "system_comparison")
  }
  set.seed(2)
  expect_part(quiet(estimate_accuracy(x)))
  expect_part(quiet(estimate_accuracy(x, "joint", interval = "bootstrap", resampling = list(replicates = 20))))
  expect_part(quiet(estimate_accuracy(
    x, known_truth = setNames(known, truth(x)[[1]][1:40]), gold_sample = "random"
  )))
  e <- quiet(estimate_accuracy(x))
  expect_identical(e[], e)
  expect_error(e["z"], class = "fallible_error_argument")
})

test_that("results print on one screen", {
  withr::local_options(width = 80)
  lines_of <- function(x) length(utils::capture.output(quiet(print(x))))
  panel <- function(systems) {
    withr::with_seed(1, simulate_ratings(rater_design(c(0.7, 0.7, 0.8), systems, 3, n = 200)))
  }
  one <- panel(c(a = 0.8))
  ten <- panel(stats::setNames(seq(0.6, 0.87, by = 0.03), paste0("model-", 1:10)))
  gold <- function(x) {
    quiet(estimate_accuracy(x, known_truth = truth(x)[1:40, ], gold_sample = "random"))
  }
  estimate <- quiet(estimate_accuracy(ten))
  expect_lte(lines_of(quiet(estimate_accuracy(one))), 15L)
  expect_lte(lines_of(quiet(estimate_accuracy(lehner_ratings()))), 15L)
  expect_lte(lines_of(gold(one)), 15L)
  expect_lte(lines_of(estimate), 20L)
  expect_lte(lines_of(gold(ten)), 25L)
  expect_lte(lines_of(quiet(compare_systems(estimate))), 25L)
  expect_lte(lines_of(quiet(estimate_metrics(estimate, c("accuracy", "f_meas")))), 25L)
})

test_that("what a print says of intervals holds for the estimate", {
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), 3, n = 200))
  said <- function(estimate) paste(notes_of(estimate), collapse = " ")
  estimate <- quiet(estimate_accuracy(x))
  hidden <- max(hidden_error(estimate))
  expect_identical(grepl("allowance for shared", said(estimate), fixed = TRUE), hidden > 0)
  estimate$details$dependence_weight <- 0
  estimate$details$common <- 0
  expect_match(said(show_accuracy(estimate)), "sampling error only .no sign of shared")
  expect_match(said(quiet(estimate_accuracy(x, common = 0.5))), "sampling error only, given")
  rater <- glance(estimate)$rater_accuracy
  expect_match(
    describe_rater_agreement(glance(estimate), estimate$fit$model), format_decimals(rater),
    fixed = TRUE
  )
})

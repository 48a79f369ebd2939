test_that("tables have the columns that are promised", {
  estimate <- published(lehner_ratings(), interval = "none")
  expect_named(tidy(estimate), c(
    "system", "estimate", "std.error", "conf.low", "conf.high", "shared", "independent", "n",
    "method", "reason"
  ))
  expect_named(tidy(estimate, "details"), c(
    "system", "uninformative", "mean_posterior", "failed", "sampling", "common",
    "rater_error", "independence_weight", "suspicion", "lowest", "highest", "average_shared",
    "base_rate_range", "disagreement_error", "centre"
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

test_that("print and summary tell the story", {
  set.seed(1)
  estimate <- quiet(published(lehner_ratings(), replicates = 200))
  expect_snapshot({
    estimate
    summary(estimate)
  })
  expect_snapshot(
    published(lehner_ratings(), method = "unbinned", interval = "none", clip = "none")
  )
  # Base rates at zero, and an estimate that its replicates leave behind, are told.
  x <- ratings(
    dawid1979[dawid1979$rater != "A5", ], case = case, rater = rater, rating = rating,
    repeats = "ratings",
    systems = stats::setNames(
      dawid1979[dawid1979$rater == "A5", ], c("case", "system", "prediction")
    )
  )
  dawid <- quiet(published(x, replicates = 200))
  expect_identical(glance(dawid)$negative, 1L)
  dawid$table$conf.high <- dawid$table$estimate - 0.01
  expect_snapshot(dawid)
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
  estimate <- quiet(estimate_accuracy(x, "joint", interval = "none", replicates = 30))
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
  same <- setdiff(names(of("ratings")), "model")
  expect_identical(names(of("rater_fit")), same)
  expect_identical(of("ratings")[same], as.list(of("rater_fit")))
})

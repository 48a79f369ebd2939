test_that("options are the defaults of arguments", {
  x <- lehner_ratings()
  run <- function(...) quiet(estimate_accuracy(x, "unbinned", interval = "none", ...))
  expect_identical(glance(run())$conf_level, NA_real_)
  level <- function(...) estimate_options(run(...))$conf_level
  estimate_options <- function(estimate) estimate$options
  expect_identical(level(), 0.9)
  withr::local_options(fallible.conf_level = 0.8, fallible.threads = 2L, mc.cores = 4)
  expect_identical(level(), 0.8)
  expect_identical(level(conf_level = 0.7), 0.7)
  expect_identical(run()$options$threads, 2L)
  expect_identical(quiet(estimate_accuracy(
    fit_raters(x), "unbinned", interval = "none"
  ))$options[c("conf_level", "threads")], list(conf_level = 0.8, threads = 2L))
  expect_identical(attr(accuracy_estimator(), "options")$conf_level, 0.8)
  expect_identical(attr(agreement(x), "about")$conf_level, 0.8)
  expect_identical(plan_cases(chance_kappa = 0.3, cases = 10, runs = 20)$settings$conf_level, 0.8)
})

test_that("an option of the wrong kind is named", {
  refused <- function(option, code) {
    error <- expect_error(code, class = "fallible_error_option")
    expect_identical(error$option, option)
    expect_match(conditionMessage(error), option, fixed = TRUE)
  }
  withr::with_options(
    list(fallible.conf_level = 90), refused("fallible.conf_level", agreement(lehner_ratings()))
  )
  withr::with_options(
    list(fallible.threads = "all"),
    refused("fallible.threads", simulation_study(lehner_design(3, 0.8), runs = 1))
  )
  withr::with_options(list(fallible.quiet = "yes"), refused("fallible.quiet", progress_bar("a", 3)))
  withr::local_options(fallible.conf_level = 90)
  expect_snapshot(error = TRUE, agreement(lehner_ratings()))
})

test_that("who wants quiet has no bars and no messages", {
  said <- function(code) {
    messages <- character()
    withCallingHandlers(code, message = function(m) {
      messages <<- c(messages, conditionMessage(m))
      rlang::cnd_muffle(m)
    })
    messages
  }
  loud <- list(cli.dynamic = FALSE, cli.progress_show_after = 0, rlang_interactive = TRUE)
  long <- function() {
    bar <- progress_bar("Long", 3)
    for (i in 1:3) bar$tick(i)
    bar$close()
  }
  silent <- c(loud, fallible.quiet = TRUE)
  withr::with_options(silent, {
    expect_identical(progress_bar("Long", 3)$close(), NULL)
    expect_identical(said(long()), character())
    expect_identical(said(inform_fallible("going on")), character())
  })
  expect_match(said(inform_fallible("going on")), "going on")
})

test_that("every argument conf_level has the option as its default, or is that of an estimate", {
  literal <- Filter(function(name) {
    level <- formals(getExportedValue("fallible", name))$conf_level
    is.numeric(level)
  }, getNamespaceExports("fallible"))
  expect_identical(literal, character())
  methods <- getNamespaceInfo("fallible", "S3methods")[, 3L]
  literal <- Filter(function(name) {
    is.numeric(formals(get(name, asNamespace("fallible")))$conf_level)
  }, intersect(methods, ls(asNamespace("fallible"))))
  expect_identical(literal, character())
  withr::local_options(fallible.conf_level = 0.8)
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9), 3, 60))
  expect_identical(accuracy_bounds(x, interval = "none")$options$conf_level, 0.8)
  expect_identical(shared_errors(x)$options$conf_level, 0.8)
  expect_identical(quiet(glance(plan_gold(x, half_width = 0.15)))$conf_level, 0.8)
})

test_that("results keep their level, and results computed from them take it", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9), 2, 200))
  estimate <- quiet(estimate_accuracy(x, conf_level = 0.8))
  expect_identical(glance(plan_gold(estimate, 0.15))$conf_level, 0.8)
  expect_identical(glance(plan_gold(estimate, 0.15, conf_level = 0.7))$conf_level, 0.7)
  expect_identical(glance(plan_cases(estimate, runs = 20, cases = 20))$conf_level, 0.8)
  expect_identical(accuracy_bounds(estimate, interval = "none")$options$conf_level, 0.8)
  expect_identical(shared_errors(estimate)$options$conf_level, 0.8)
  by <- setNames(rep(1:2, 100), x$cases)
  plans <- plan_gold(quiet(estimate_accuracy(x, conf_level = 0.8, by = by)), 0.2)
  for (plan in plans) expect_identical(glance(plan)$conf_level, 0.8)
  fit <- quiet(fit_raters(x, dawid_skene(), method = "bayes", sampling = list(draws = 100)))
  before <- list(tidy(fit), test_accuracy(fit), capture.output(print(fit)), may_say(fit))
  withr::local_options(fallible.conf_level = 0.5)
  after <- list(tidy(fit), test_accuracy(fit), capture.output(print(fit)), may_say(fit))
  expect_identical(after, before)
  expect_identical(estimate_accuracy(fit)$options$conf_level, 0.9)
  expect_false(identical(tidy(fit, conf_level = 0.5), before[[1]]))
  expect_output(print(rater_prior()), "50% interval", fixed = TRUE)
  skip_if_not_installed("ggplot2")
  expect_match(ggplot2::autoplot(fit, "prior")$labels$subtitle, "90% intervals")
})

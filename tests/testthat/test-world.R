# Three raters and two systems under the K-model, drawn in R.
plain_world <- function(n) {
  truth <- sample(3, n, replace = TRUE)
  answer <- function(p) ifelse(runif(n) < p, truth, (truth + sample(0:1, n, TRUE)) %% 3 + 1)
  x <- list2DF(lapply(c(a = 0.6, b = 0.6, c = 0.6, s = 0.7, t = 0.9), answer))
  x <- ratings(x, raters = a:c, systems = s:t, categories = 1:3)
  with_truth(x, truth, expected = c(0.7, 0.9))
}

agreed <- function(x) {
  most <- apply(category_counts(x), 1, which.max)
  answers <- as.data.frame(x, what = "systems")
  shares <- tapply(answers$prediction == most[answers$case], answers$system, mean)
  c(shares[x$systems]) + runif(1, 0, 1e-3)
}

test_that("a world is studied like a design", {
  set.seed(1)
  study <- simulation_study(
    list(mine = plain_world, theirs = rater_design(c(0.6, 0.6, 0.6), c(s = 0.7, t = 0.9), 3)),
    list("unbinned", own = agreed), runs = 4, n = c(20, 60)
  )
  rows <- tidy(study)
  expect_identical(unique(rows$design), c("mine", "theirs"))
  expect_identical(nrow(rows), 64L)
  mine <- rows[rows$design == "mine", ]
  expect_identical(mine$expected, ifelse(mine$system == "s", 0.7, 0.9))
  expect_false(anyNA(mine[c("sample", "agreement", "chance_kappa", "seed")]))
  for (row in c(1, 16, 18, 32)) {
    panel <- replay(study, row)
    expect_identical(nrow(panel), as.integer(rows$n[[row]]))
    expect_identical(panel$systems, rows$system[[row]])
    expect_identical(true_accuracy(panel)$sample, rows$sample[[row]])
    expect_identical(fit_raters(panel)$agreement, rows$agreement[[row]])
    again <- replay(study, row, "estimate")
    expect_equal(if (is.numeric(again)) unname(again) else tidy(again)$estimate,
      rows$estimate[[row]])
  }
  both <- simulation_study(plain_world, "unbinned", runs = 3, n = 20, panels = "same")
  expect_identical(replay(both, 1)$systems, c("s", "t"))
  expect_identical(replay(both, 1), replay(both, 2))
})

test_that("seeds, more runs and checkpoints are those of designs", {
  file <- withr::local_tempfile(fileext = ".rds")
  run <- function(...) {
    set.seed(2)
    simulation_study(plain_world, list(own = agreed, "binned"), n = 25, ...)
  }
  before <- {
    set.seed(3)
    runif(1)
  }
  set.seed(3)
  plain_world(5)
  first <- run(runs = 3)
  whole <- run(runs = 6)
  expect_identical(tidy(first), tidy(whole)[tidy(whole)$run <= 3, ])
  expect_identical(tidy(update(first, runs = 6)), tidy(whole))
  run(runs = 3, checkpoint = file)
  expect_message(resumed <- run(runs = 6, checkpoint = file), "6 panels are done")
  expect_identical(tidy(resumed), tidy(whole))
  expect_error(
    simulation_study(function(n) plain_world(n), "binned", n = 25, runs = 6, checkpoint = file),
    class = "fallible_error_file"
  )
})

test_that("a world's numbers are not those of its estimators", {
  set.seed(4)
  noted <- function(n) {
    first <- runif(1)
    x <- plain_world(n)
    attr(x, "first") <- first
    x
  }
  study <- simulation_study(
    noted, list(same = function(x) rep(runif(1) == attr(x, "first"), length(x$systems)) + 0),
    n = 10, runs = 5, panels = "same"
  )
  expect_identical(tidy(study)$estimate, rep(0, 10))
})

test_that("a run that fails is kept as failed", {
  skip_unless_nightly()
  flaky <- list(
    stops = function(n) if (runif(1) < 0.5) stop("{no} luck") else plain_world(n),
    shape = function(n) plain_world(if (runif(1) < 0.5) n else n + 1),
    number = function(n) if (runif(1) < 0.5) plain_world(n)[, , "s"] else plain_world(n),
    nothing = function(n) if (runif(1) < 0.5) NULL else plain_world(n),
    unknown = function(n) {
      x <- plain_world(n)
      if (runif(1) < 0.5) with_truth(x, replace(truth(x)$category, 1, NA)) else x
    },
    none = function(n) {
      x <- plain_world(n)
      if (runif(1) < 0.5) x$truth <- NULL
      x
    }
  )
  set.seed(5)
  study <- simulation_study(flaky, list("binned", own = agreed), n = 10, runs = 6, panels = "same")
  rows <- tidy(study)
  failed <- !vapply(rows$condition, is.null, NA)
  expect_setequal(rows$design[failed], names(flaky))
  expect_setequal(rows$design[!failed], names(flaky))
  expect_true(all(is.na(rows[failed, c("estimate", "expected", "sample", "agreement")])))
  conditions <- rows$condition[failed]
  expect_true(all(vapply(conditions, inherits, NA, "fallible_error_design")))
  expect_identical(vapply(conditions, `[[`, "", "design"), rows$design[failed])
  expect_true(all(mapply(grepl, rows$design[failed], rows$reason[failed], fixed = TRUE)))
  expect_error(replay(study, which(failed)[[1]]), class = "fallible_error_design")
  expect_match(rows$reason[failed & rows$design == "stops"][[1]], "{no} luck", fixed = TRUE)
  expect_gt(sum(summary(study)$failed), 0)
  expect_output(print(study), "estimates failed")
})

test_that("what never is a world is refused at once", {
  skip_unless_nightly()
  refused <- function(world, topic = "design", n = 10) {
    expect_error(
      simulation_study(list(bad = world), "binned", n = n), class = paste0("fallible_error_", topic)
    )
    expect_error(
      plan_cases(world, runs = 20, cases = if (is.null(n)) c(2, 1) else n), class = "fallible_error"
    )
  }
  refused(function(n) 1)
  refused(function() plain_world(1))
  refused(function(n) plain_world(n)[, , character()])
  refused(function(n) as.data.frame(plain_world(n)))
  refused(function(n) stop("never"))
  refused(plain_world, "argument", NULL)
  expect_error(simulation_study(list(1), "binned", n = 10), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    simulation_study(function(n) plain_world(n + 1), "binned", n = 10)
    simulation_study(list(w = function(n) stop("never")), "binned", n = 10)
    simulation_study(plain_world, "binned")
    plan_cases(plain_world, raters = 3:4)
    plan_cases(plain_world, chance_kappa = 0.3)
  })
})

test_that("without expected accuracy the sample is the truth", {
  skip_unless_nightly()
  silent <- function(n) {
    x <- plain_world(n)
    with_truth(x, truth(x))
  }
  set.seed(6)
  study <- simulation_study(silent, "unbinned", n = 50, runs = 6)
  table <- summary(study, by = "estimator")
  expect_identical(is.na(table$bias), table$target == "expected")
  expect_identical(table$missing, c(0, 0))
  expect_output(print(study), "Compared with sample accuracy")
  mixed <- simulation_study(
    list(silent, lehner_design(3, system = 0.7)), "unbinned", n = 50, runs = 3
  )
  expect_output(print(mixed), "sample\\s+accuracy\\s+for\\s+designs\\s+without")
  plan <- plan_cases(silent, half_width = 0.2, estimator = "unbinned", runs = 20, cases = 40)
  expect_lt(abs(tidy(plan)$bias), 0.2)
})

test_that("processes of any plan give the numbers of one process", {
  skip_unless_extended()
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if(Sys.getenv("R_COVR") == "true", "Instrumented code does not run in other processes")
  assign("world_used", plain_world, envir = globalenv())
  withr::defer(rm("world_used", envir = globalenv()))
  mine <- function(n) world_used(n)
  environment(mine) <- globalenv()
  run <- function() {
    set.seed(7)
    simulation_study(mine, "binned", n = 10, runs = 12)
  }
  here <- run()
  local_workers()
  expect_identical(tidy(run()), tidy(here))
})

if (nightly_tests()) test_that("a plan can be made for a world", {
  set.seed(8)
  plan <- plan_cases(plain_world, estimator = "unbinned", runs = 40, cases = c(10, 400))
  set.seed(8)
  design <- rater_design(
    c(0.6, 0.6, 0.6), c(0.7, 0.9), categories = 3, base_rates = rep(1 / 3, 3)
  )
  same <- plan_cases(design, estimator = "unbinned", runs = 40, cases = c(10, 400))
  apart <- tidy(plan)$cases - tidy(same)$cases
  expect_lt(abs(apart), 4 * sqrt(tidy(plan)$std.error^2 + tidy(same)$std.error^2))
  expect_identical(tidy(plan)$ratings, 3 * tidy(plan)$cases)
  expect_identical(glance(plan)$chance_kappa, NA_real_)
  expect_output(print(plan), "drawn by a function: 3 raters, 2 systems, 3 categories")
  expect_identical(tidy(update(plan, runs = 20))$raters, 3L)
})

test_that("a world of several systems can be asked of by any method", {
  study <- withr::with_seed(1, simulation_study(
    list(slopes = draw_slopes), list(average = accuracy_estimator("average")), runs = 2, n = 60
  ))
  expect_false(anyNA(tidy(study)$estimate))
})

small <- function(...) rater_design(c(0.5, 0.6, 0.7), c(a = 0.3, b = 0.8), n = 40, ...)

# Agreement with the first rater: a deliberately simple estimator.
first_rater <- function(x) {
  ratings <- as.data.frame(x)
  first <- ratings$rating[ratings$rater == x$raters[[1]]]
  answers <- as.data.frame(x, what = "systems")
  vapply(x$systems, function(s) {
    mean(as.character(answers$prediction[answers$system == s]) == as.character(first))
  }, 0)
}

same_rows <- function(study, other) expect_identical(tidy(study), tidy(other))

test_that("a study has a row per panel, system and estimator", {
  set.seed(1)
  study <- simulation_study(
    list(one = small(), two = lehner_design(2)), list("binned", first = first_rater),
    runs = 3, n = c(20, 30)
  )
  rows <- tidy(study)
  expect_identical(nrow(rows), (2L + 5L) * 2L * 3L * 2L)
  expect_named(rows, c(
    "design", "n", "system", "run", "estimator", "estimate", "std.error", "conf.low", "conf.high",
    "expected", "sample", "agreement", "chance_kappa", "rater_accuracy", "seed", "reason",
    "condition"
  ))
  expect_identical(
    rows$design[!duplicated(rows[c("design", "n", "system")])], rep(c("one", "two"), c(4, 10))
  )
  expect_identical(unique(rows$n), c(20L, 30L))
  size <- glance(study)
  expect_identical(size$cells, 14L)
  expect_identical(size$panels, 42L)
  expect_identical(size$estimates, nrow(rows))
})

test_that("compiled estimators say what estimate_accuracy() says, intervals included", {
  set.seed(2)
  options <- list(
    list(method = "binned", interval = "none"),
    list(method = "unbinned", interval = "none", bins = list(clip = "none")),
    list(method = "binned", interval = "none", bins = list(width = 1, clip = "overall")),
    list(method = "binned", interval = "bootstrap", resampling = list(replicates = 40L),
      conf_level = 0.8),
    list(method = "joint", interval = "bootstrap", resampling = list(replicates = 5L)),
    list(method = "joint", model = rater_model("rater", "distance"), interval = "none"),
    list(
      method = "shared", model = dawid_skene(list(errors = 1)), interval = "bootstrap",
      resampling = list(replicates = 5L)
    )
  )
  n <- seq_along(options)
  compiled <- lapply(options, do.call, what = accuracy_estimator)
  slow <- lapply(options, function(o) function(x) do.call(estimate_accuracy, c(list(x), o)))
  # Weak raters and few cases: not identified, stuck and failing replicates are among them.
  design <- small(missing = 0.2, difficulty = 0.1, error_range = 1)
  for (panels in c("same", if (nightly_tests()) "separate")) {
    study <- simulation_study(
      list(design, rater_design(c(0.3, 0.3), 0.9, n = 15), rater_design(c(1, 1), 1, n = 20)),
      stats::setNames(c(compiled, slow), c(paste0("c", n), paste0("s", n))),
      runs = if (nightly_tests()) 12 else 3, panels = panels
    )
    rows <- tidy(study)
    expect_true(any(is.na(rows$estimate)))
    expect_true(any(grepl("no interval", rows$reason)))
    results <- c("estimate", "std.error", "conf.low", "conf.high", "reason")
    expect_true(any(grepl("more parameters", rows$reason)))
    for (i in n) {
      expect_identical(
        rows[rows$estimator == paste0("c", i), results],
        rows[rows$estimator == paste0("s", i), results]
      )
    }
  }
})

test_that("what was true is what the panel says", {
  set.seed(3)
  study <- simulation_study(lehner_design(9), runs = 2, panels = "same")
  rows <- tidy(study)
  for (row in c(1, 12, nrow(rows))) {
    panel <- replay(study, row)
    true <- true_accuracy(panel)
    true <- true[true$system == rows$system[row], ]
    expect_equal(rows$expected[row], true$expected)
    expect_equal(rows$sample[row], true$sample)
    fit <- glance(quiet(fit_raters(panel)))
    expect_equal(rows$chance_kappa[row], fit$chance_kappa)
    expect_equal(rows$rater_accuracy[row], fit$rater_accuracy)
  }
})

test_that("every interval of an estimator is its own, in a study as in a replay of it", {
  set.seed(14)
  design <- small(difficulty = 0.2, dispersion = 2)
  intervals <- list(
    robust = accuracy_estimator("unbinned", interval = "robust", resampling = list(replicates = 20)),
    average = accuracy_estimator("average", interval = "robust"),
    profile = accuracy_estimator("joint", interval = "profile"),
    bootstrap = accuracy_estimator("unbinned", interval = "bootstrap", resampling = list(replicates = 20))
  )
  study <- quiet(simulation_study(design, intervals, runs = 2, panels = "same"))
  rows <- tidy(study)
  for (name in names(intervals)) {
    for (row in which(rows$estimator == name & rows$system == "b")) {
      again <- tidy(quiet(replay(study, row, what = "estimate")))
      columns <- c("estimate", "std.error", "conf.low", "conf.high")
      expect_equal(
        as.data.frame(rows[row, columns]), as.data.frame(again[again$system == "b", columns]),
        ignore_attr = TRUE
      )
    }
  }
  width <- tapply(rows$conf.high - rows$conf.low, rows$estimator, mean)
  expect_gt(width[["robust"]], width[["bootstrap"]])
  # Without a number of replicates it is that of estimate_accuracy().
  expect_identical(attr(accuracy_estimator(interval = "robust"), "options")$replicates, 200L)
  expect_identical(attr(accuracy_estimator(), "options")$replicates, 1000L)
})

test_that("the same seed gives the same study, for any number of threads", {
  run <- function(...) {
    set.seed(4)
    simulation_study(
      list(lehner_design(5), small()),
      list("binned", u = accuracy_estimator("unbinned", interval = "bootstrap", resampling = list(replicates = 20))),
      runs = 8, ...
    )
  }
  one <- run()
  withr::with_options(list(mc.cores = 8), {
    same_rows(run(threads = 2), one)
    same_rows(run(threads = 8), one)
  })
  set.seed(5)
  expect_false(identical(simulation_study(small(), runs = 1)$seed, one$seed))
})

test_that("estimators have random numbers of their own, whatever the user's generator", {
  noise <- function(x) stats::runif(1) + 0 * length(x)
  run <- function() simulation_study(rater_design(c(0.6, 0.6), 0.8, n = 5), noise, runs = 3)
  withr::with_preserve_seed({
    set.seed(6)
    first <- run()
    after <- stats::runif(1)
    set.seed(6)
    draw_seed()
    expect_identical(stats::runif(1), after)
    # The same study under another kind of generator.
    withr::with_seed(6, kinds <- {
      RNGkind("L'Ecuyer-CMRG")
      study <- first
      study["results"] <- list(NULL)
      study$done[] <- 0L
      run_study(study, 1L)
    })
    same_rows(kinds, first)
  })
  expect_identical(anyDuplicated(tidy(first)$estimate), 0L)
})

test_that("more runs begin with the same", {
  designs <- list(small(), lehner_design(3))
  run <- function(runs) {
    set.seed(7)
    tidy(simulation_study(designs, runs = runs))
  }
  set.seed(7)
  short <- simulation_study(designs, runs = 3)
  long <- update(short, runs = 7)
  rows <- tidy(long)
  expect_identical(rows, run(7))
  expect_identical(tidy(short), rows[rows$run <= 3, ])
  expect_identical(rows$run[rows$estimator == "binned" & rows$system == "a"], 1:7)
  expect_error(update(long, runs = 2), class = "fallible_error_argument")
})

test_that("results are matched to systems by name, and refused where they do not fit", {
  systems <- c("a", "b")
  estimate <- function(value, systems = c("a", "b")) check_estimator_result(value, systems)$estimate
  expect_identical(estimate(c(b = 2, a = 1)), c(1, 2))
  expect_identical(estimate(c(1, 2)), c(1, 2))
  expect_identical(estimate(c(1L, NA)), c(1, NA))
  expect_identical(estimate(c(kappa = 1), "a"), 1)
  table <- data.frame(system = factor(c("b", "a")), estimate = c(2, 1), conf.low = c(0.2, 0.1))
  expect_identical(check_estimator_result(table, systems)$conf.low, c(0.1, 0.2))
  expect_identical(check_estimator_result(table, systems)$conf.high, c(NA_real_, NA_real_))
  wrong <- list(
    NULL, c(1, Inf), "1", 1, c(a = 1, c = 2), factor(1:2), list(1, 2), data.frame(estimates = 1:2),
    data.frame(estimate = 1), data.frame(system = c("a", "c"), estimate = 1:2), table[0, ],
    data.frame(system = c("a", "a"), estimate = 1:2),
    data.frame(estimate = 1:2, conf.low = c("x", "y"))
  )
  for (value in wrong) {
    expect_error(check_estimator_result(value, systems), class = "fallible_error_argument")
  }
})

test_that("odd conditions do not stop a study", {
  silent <- function(x) stop(structure(class = c("odd", "error", "condition"), list()))
  wordless <- function(x) stop(structure(class = c("odd", "error", "condition"), new.env()))
  one_sided <- function(x) data.frame(estimate = 0.5, conf.low = 0.4)
  study <- simulation_study(
    rater_design(c(0.6, 0.6), 0.8, n = 5), list(s = silent, w = wordless, o = one_sided), runs = 2
  )
  rows <- tidy(study)
  expect_identical(unique(rows$reason), c("<odd>", NA))
  expect_identical(rows$condition[[1]], "odd")
  expect_identical(is.na(summary(study)$coverage), rep(TRUE, 6))
  expect_output(print(study), "4 estimates failed")
  expect_output(print(study), "No estimates: s (failed), w (failed)", fixed = TRUE)
  expect_no_match(capture.output(print(study)), "no coverage: s")
  expect_error(
    accuracy_estimator(silent), "element of .estimators.", class = "fallible_error_argument"
  )
})

test_that("the reason of a failure is whole, and the same on every console", {
  said <- function(width) {
    withr::local_options(width = width)
    rows <- tidy(simulation_study(small(), list(
      many = function(x) c(1, 2, 3), other = function(x) stop("no\nx yes\n", strrep("long ", 50))
    ), runs = 1))
    expect_identical(unique(rows$reason[rows$estimator == "other"]), "no yes")
    rows$reason[[1L]]
  }
  expect_identical(said(40), said(200))
  expect_identical(said(80), paste(
    "An estimator must return 1 number, one per system, or a data frame with a column",
    "\"estimate\" and a row per system. A number may be missing, but not infinite. It returned c(1, 2, 3)."
  ))
  odd <- function(x) structure(class = c("odd", "error", "condition"), list(message = x))
  expect_identical(message_in_one_line(odd("")), "<odd>")
  expect_identical(message_in_one_line(odd(character())), "<odd>")
  expect_identical(message_in_one_line(odd("caf\xe9 \xff")), "caf<e9> <ff>")
  latin1 <- iconv("caf\u00e9", "UTF-8", "latin1")
  expect_identical(message_in_one_line(odd(c(latin1, "no"))), "caf\u00e9")
  named <- tryCatch(check_estimator_result(data.frame(system = "c", estimate = 1), "a"), error = message_in_one_line)
  expect_match(named, "It names \"c\"; systems are \"a\".", fixed = TRUE)
})

test_that("every system of a shared panel has the condition of its estimator", {
  set.seed(11)
  fragile <- function(x) {
    if (true_accuracy(x)$sample[[1]] < 0.3) {
      rlang::abort("low", parent = rlang::catch_cnd(rlang::abort("why")))
    }
    c(b = 0.2, a = 0.1)
  }
  rows <- tidy(simulation_study(
    small(), list(f = fragile, bare = function(x) c(NA, NA)), runs = 10, panels = "same"
  ))
  failed <- !is.na(rows$condition)
  expect_identical(failed, is.na(rows$estimate) & rows$estimator == "f")
  expect_true(any(failed) && !all(failed[rows$estimator == "f"]))
  given <- rows[!is.na(rows$estimate), ]
  expect_identical(given$estimate, c(a = 0.1, b = 0.2)[given$system], ignore_attr = TRUE)
  expect_identical(rows$reason[[which(failed)[[1]]]], "low")
})

test_that("weak raters do not fill the console with warnings", {
  design <- rater_design(c(0.2, 0.2), 0.8, n = 6)
  expect_no_warning_at_all <- function(code) expect_warning(code, NA)
  expect_no_warning_at_all(
    simulation_study(design, function(x) rates_of(fit_raters(x))[[1]], runs = 10)
  )
})

test_that("a panel in which nothing stands out has the reason of estimate_accuracy()", {
  even <- matrix(0.5, 2, 2)
  design <- rater_design(
    c(0.5, 0.5), 0.8, 2, n = 2, base_rates = c(0.5, 0.5), matrices = list(rater1 = even)
  )
  set.seed(12)
  study <- simulation_study(
    design, list("binned", r = function(x) published(x, interval = "none")), runs = 25
  )
  rows <- tidy(study)
  expect_identical(
    rows$reason[rows$estimator == "binned"], rows$reason[rows$estimator == "r"]
  )
})

test_that("numbers of cases are told apart, and count once", {
  study <- simulation_study(small(), "binned", runs = 1, n = c(20, 30, 20))
  rows <- tidy(study)
  expect_identical(rows$n, c(20L, 20L, 30L, 30L))
  expect_identical(nrow(replay(study, 4)), 30L)
})

test_that("replayed estimates have the random numbers of their run", {
  study <- simulation_study(small(), function(x) stats::runif(2), runs = 3, panels = "same")
  rows <- tidy(study)
  expect_identical(replay(study, 4, what = "estimate"), rows$estimate[3:4])
})

test_that("failures are kept with their condition, and can be replayed", {
  set.seed(8)
  fragile <- function(x) {
    if (glance(quiet(fit_raters(x)))$chance_kappa < 0.2) {
      rlang::abort("too little agreement", class = "too_little")
    }
    0.5
  }
  wrong <- function(x) c(1, 2, 3)
  table <- function(x) data.frame(system = "system", estimate = 0.25, conf.low = 0.1, conf.high = 1)
  study <- simulation_study(
    rater_design(c(0.6, 0.6), 0.8, n = 30), list(f = fragile, w = wrong, t = table), runs = 20
  )
  rows <- tidy(study)
  failed <- !is.na(rows$condition)
  expect_identical(failed[rows$estimator == "f"], rows$chance_kappa[rows$estimator == "f"] < 0.2)
  expect_true(all(failed[rows$estimator == "w"]) && !any(failed[rows$estimator == "t"]))
  expect_identical(is.na(rows$estimate), failed)
  expect_identical(is.na(rows$reason), !failed)
  row <- which(failed & rows$estimator == "f")[[1]]
  expect_identical(rows$condition[[row]], "too_little")
  expect_error(replay(study, row, what = "estimate"), class = "too_little")
  expect_s3_class(replay(study, row), "ratings")
  expect_identical(rows$condition[[which(rows$estimator == "w")[[1]]]], "fallible_error_argument")
  expect_identical(unique(rows$conf.high[rows$estimator == "t"]), 1)
  expect_identical(glance(study)$failed, sum(failed))
  expect_snapshot(print(study))
})

test_that("an estimator that returns NA has a reason, and the print names it", {
  study <- withr::with_seed(1, simulation_study(
    rater_design(c(0.8, 0.8), 0.8, n = 30), list("binned", none = function(x) NA_real_), runs = 3
  ))
  rows <- tidy(study)
  expect_identical(unique(rows$reason[rows$estimator == "none"]), "the estimator returned NA")
  print <- paste(capture.output(print(study)), collapse = " ")
  expect_match(print, "No estimates: none (the estimator returned NA; see", fixed = TRUE)
  expect_no_match(print, "No intervals, so no coverage:[^.]*none")
})

test_that("a panel that cannot be drawn fails in R, and has no estimate in compiled code", {
  set.seed(9)
  design <- rater_design(c(0.6, 0.6), 0.8, n = 1, missing = 0.9999)
  rows <- tidy(simulation_study(design, list("binned", r = function(x) 1), runs = 1))
  expect_identical(rows$estimate, c(NA_real_, NA_real_))
  expect_identical(rows$condition[[2]], "fallible_error_missing")
  expect_identical(rows$reason[[1]], "no case was rated by two raters")
})

test_that("systems of a separate panel are those of the design alone", {
  set.seed(10)
  turned <- diag(5)[c(2:5, 1), ]
  design <- rater_design(
    c(0.6, 0.6), c(a = 0.5, b = 0.5, c = 0.5), n = 400,
    copying = data.frame(from = "rater1", to = c("rater2", "c"), probability = c(0.5, 1)),
    matrices = list(b = turned)
  )
  for (panels in c("separate", "same")) {
    rows <- tidy(simulation_study(design, "binned", runs = 2, panels = panels))
    by_system <- rows[match(c("a", "b", "c"), rows$system), ]
    expect_equal(by_system$expected, c(0.5, 0, 0.6))
    expect_identical(by_system$sample[[2]], 0)
    expect_lt(abs(by_system$sample[[3]] - 0.6), 4 * sqrt(0.24 / 400))
  }
})

test_that("what cannot be is refused", {
  expect_snapshot(error = TRUE, {
    simulation_study(1)
    simulation_study(list())
    simulation_study(list(a = small(), a = small()))
    simulation_study(rater_design(c(0.6, 0.6)))
    simulation_study(small(), "bined")
    simulation_study(small(), list(function(x) 1))
    simulation_study(small(), 3)
    simulation_study(small(), runs = 0)
    simulation_study(small(), n = c(10, 0))
    simulation_study(small(), n = integer())
    simulation_study(small(), checkpoint = "no/such/folder/file.rds")
    replay(small(), 1)
    replay(simulation_study(small(), runs = 1), 10)
    accuracy_estimator("binned", bins = list(clip = "sometimes"))
    accuracy_estimator("binned", dawid_skene("weak"))
    accuracy_estimator("joint", "dawid_skene")
  })
  expect_error(simulation_study(rater_design(c(0.6, 0.6))), class = "fallible_error_system")
})

test_that("methods without compiled code are run like functions of users", {
  local <- accuracy_estimator("binned")
  attr(local, "options")$method <- "elsewhere"
  expect_identical(
    are_compiled(list(accuracy_estimator("joint"), local, first_rater)), c(TRUE, FALSE, FALSE)
  )
  set.seed(13)
  study <- simulation_study(small(), list(a = "binned", b = local), runs = 3)
  rows <- tidy(study)
  expect_identical(rows$estimate[rows$estimator == "a"], rows$estimate[rows$estimator == "b"])
})

test_that("an estimator prints its options", {
  expect_snapshot(accuracy_estimator("unbinned", bins = list(clip = "none")))
  expect_snapshot(accuracy_estimator("joint", dawid_skene("weak")))
  expect_match(format(accuracy_estimator("average", gold = 20)), "gold 20, gold_sample random")
})

test_that("robust intervals of studies are wide if raters know nothing", {
  set.seed(1)
  design <- rater_design(rep(0.5, 5), c(a = 0.75), 2, 400, base_rates = c(0.4, 0.6))
  study <- simulation_study(design, runs = 30,
    estimators = list(average = accuracy_estimator("average", interval = "robust")))
  # If the agreement of raters is not tested, half of the intervals cover.
  expect_gt(min(summary(study)$coverage), 0.8)
})

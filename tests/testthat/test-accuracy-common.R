# Panels with a correction for shared errors.
common_panel <- function(n = 120, difficulty = 0.3, systems = c(a = 0.9, b = 0.4), categories = 4,
                         raters = c(0.5, 0.6, 0.7)) {
  simulate_ratings(rater_design(raters, systems, categories, n, difficulty = difficulty))
}

assuming <- function(x, common, method = "average", ..., interval = "none") {
  quiet(estimate_accuracy(x, method, common = common, interval = interval, ...))
}

expect_between <- function(table, common) {
  gap <- table$independent - table$shared
  expect_equal(table$estimate, table$independent - common * gap, tolerance = 1e-12)
}

test_that("an estimate is as far from independence as is assumed", {
  set.seed(1)
  x <- common_panel()
  for (method in c("average", "joint")) {
    expect_between(tidy(assuming(x, "none", method)), 0)
    expect_between(tidy(assuming(x, "all", method)), 1)
    for (share in c(0, 0.25, 1)) {
      estimate <- assuming(x, share, method)
      expect_between(tidy(estimate), share)
      expect_identical(tidy(estimate, "details")$common, rep(share, 2))
    }
    typical <- assuming(x, "typical", method)
    facts <- tidy(typical, "details")
    expect_equal(facts$dependence_weight, pmax(0, 1 - 2 * facts$independence_weight))
    expect_gt(max(facts$common), 0)
    expect_equal(facts$common, facts$dependence_weight / sqrt(3))
    expect_between(tidy(typical), facts$common)
  }
  expect_identical(tidy(assuming(x, NULL)), tidy(assuming(x, "typical")))
  expect_identical(tidy(assuming(x, NULL, "joint")), tidy(assuming(x, "none", "joint")))
  own <- rater_model("rater", "free", prior = "weak")
  expect_between(tidy(assuming(x, 0.5, "joint", model = own)), 0.5)
})

test_that("a stated share has the interval of sampling alone", {
  set.seed(2)
  x <- common_panel()
  for (common in list("none", 0.4, "all")) {
    estimate <- assuming(x, common, interval = "robust")
    expect_equal(tidy(estimate)$std.error, tidy(estimate, "details")$sampling)
  }
  typical <- assuming(x, "typical", interval = "robust")
  expect_true(all(tidy(typical)$std.error > tidy(typical, "details")$sampling))
  expect_equal(tidy(typical, "details")$sampling, tidy(estimate, "details")$sampling)
  joint <- assuming(x, 0.4, "joint", interval = "robust", resampling = list(replicates = 30))
  expect_equal(tidy(joint)$std.error, tidy(joint, "details")$sampling)
})

test_that("nothing is corrected where truth is known, not even of the prior", {
  set.seed(14)
  x <- common_panel(150, categories = 2, raters = c(0.7, 0.75, 0.8))
  for (cases in c(50, 150)) {
    fit <- quiet(fit_raters(x, known_truth = truth(x)[seq_len(cases), ]))
    typical <- tidy(assuming(fit, "typical"))
    back <- tidy(assuming(fit, "typical"), "details")$common
    expect_gt(max(back), 0.5)
    # What the prior of the system, once right and once wrong, adds to the mean of the models.
    mean <- (152 * typical$independent - 1) / 150
    kept <- cases / 150 * (typical$independent - mean)
    gap <- typical$independent - typical$shared - kept
    expect_equal(typical$estimate, typical$independent - back * gap, tolerance = 1e-12)
    expect_equal(tidy(assuming(fit, "all"))$estimate, typical$shared, tolerance = 1e-12)
  }
  expect_equal(typical$estimate, typical$independent, tolerance = 1e-10)
  # Nor do intervals allow for anything.
  robust <- assuming(fit, "typical", interval = "robust")
  expect_identical(tidy(robust)$std.error, tidy(robust, "details")$sampling)
})

test_that("replicates, clusters and groups follow", {
  set.seed(3)
  x <- common_panel()
  ward <- rep(1:20, 6)
  for (method in c("average", "joint")) {
    replicates <- function(common) {
      set.seed(4)
      assuming(x, common, method, interval = "bootstrap", resampling = list(replicates = 12))$replicates
    }
    none <- replicates("none")
    expect_equal(replicates(0.3), none - 0.3 * (none - replicates("all")), tolerance = 1e-10)
    clustered <- assuming(x, 0.3, method, interval = "robust", resampling = list(replicates = 30, cluster = ward))
    expect_between(tidy(clustered), 0.3)
    expect_equal(tidy(clustered)$std.error, tidy(clustered, "details")$sampling)
    groups <- assuming(x, 0.3, method, by = rep(c("u", "v"), 60))
    expect_between(tidy(groups), 0.3)
  }
  typical <- assuming(x, "typical", interval = "bootstrap", resampling = list(replicates = 12))
  expect_gt(max(abs(typical$replicates - none)), 1e-4)
})

test_that("what coincidence means is a matter of the whole panel, not of a group", {
  set.seed(5)
  wide <- answers_of(common_panel(160))
  truth <- wide$rater1
  low <- truth %in% c("1", "2")
  two <- wide[low & wide$rater2 %in% c("1", "2") & wide$rater3 %in% c("1", "2"), ]
  both <- rbind(two, wide[!low, ])
  x <- ratings(both, raters = rater1:rater3, systems = a:b)
  groups <- assuming(x, NULL, by = rep(c("two", "rest"), c(nrow(two), sum(!low))))
  facts <- tidy(groups, "details")
  expect_gt(max(facts$common[facts$group == "two"]), 0)
  expect_equal(facts$common, facts$dependence_weight / sqrt(3))
  alone <- tidy(assuming(x[seq_len(nrow(two)), ], NULL), "details")
  expect_equal(alone$common, alone$dependence_weight)
})

test_that("confusion matrices mix case by case, and comparisons follow", {
  set.seed(6)
  x <- common_panel()
  for (method in c("average", "joint")) {
    counts <- function(common) {
      cells <- tidy(confusion(assuming(x, common, method), interval = "none"))
      ifelse(is.na(cells$estimate), 0, cells$estimate * cells$n)
    }
    none <- counts("none")
    of_truth <- function(common) {
      confusion_counts(assuming(x, common, method))
    }
    mixed <- Map(function(one, other) 0.7 * one + 0.3 * other, of_truth("none"), of_truth("all"))
    expect_equal(of_truth(0.3), mixed, tolerance = 1e-10)
    expect_gt(max(abs(counts(0.3) - none)), 0.01)
    difference <- function(common) {
      estimate <- assuming(x, common, method, interval = "robust", resampling = list(replicates = 20))
      set.seed(7)
      tidy(quiet(compare_systems(estimate)))$estimate
    }
    expect_equal(difference(0.3), 0.7 * difference("none") + 0.3 * difference("all"))
  }
})

test_that("studies assume what their estimators do, compiled or not", {
  skip_unless_extended()
  design <- rater_design(c(0.5, 0.6, 0.7), c(a = 0.8), 3, 60, difficulty = 0.3)
  set.seed(1)
  study <- quiet(simulation_study(design, list(
    default = accuracy_estimator("average"), none = accuracy_estimator("average", common = "none"),
    part = accuracy_estimator("average", common = 0.4), all = accuracy_estimator(
      "average", common = "all", interval = "robust"
    ),
    joint = accuracy_estimator("joint", common = 0.4), typical = accuracy_estimator(
      "joint", common = "typical"
    )
  ), runs = 2))
  rows <- tidy(study)
  for (row in seq_len(nrow(rows))) {
    again <- tidy(quiet(replay(study, row, what = "estimate")))
    expect_equal(again$estimate, rows$estimate[[row]], tolerance = 1e-8)
    expect_equal(again$conf.low, rows$conf.low[[row]], tolerance = 1e-8)
  }
  expect_gt(length(unique(rows$estimate[rows$estimator %in% c("default", "none", "all")])), 3L)
})

test_that("methods that assume what they assume refuse, and so do wrong shares", {
  x <- lehner_ratings()
  for (method in c("binned", "unbinned", "shared")) {
    expect_error(
      estimate_accuracy(x, method, common = "none"), "is fixed", class = "fallible_error_argument"
    )
    expect_error(accuracy_estimator(method, common = 0.5), class = "fallible_error_argument")
  }
  for (wrong in list("some", -0.1, 1.1, c(0, 1), NA, TRUE)) {
    expect_error(estimate_accuracy(x, common = wrong), class = "fallible_error_argument")
  }
})

test_that("of one category nothing can be said of coincidence", {
  one <- ratings(
    data.frame(r1 = rep("p", 40), r2 = "p", r3 = "p", s = rep(c("p", "q"), c(30, 10))),
    raters = r1:r3, systems = s, categories = c("p", "q")
  )
  table <- tidy(assuming(one, NULL))
  expect_identical(table$estimate, NA_real_)
  expect_match(table$reason, "one category only")
  expect_output(print(assuming(one, NULL)), "one category only")
})

test_that("names and order of categories, cases and raters do not matter, nor weights for cases", {
  skip_on_cran()
  panels <- lapply(8:10, function(seed) {
    set.seed(seed)
    x <- common_panel(
      60, c(0.2, 0, 0.1)[seed - 7], categories = c(3, 2, 4)[seed - 7], raters = c(0.7, 0.8, 0.75)
    )
    wide <- answers_of(x)
    wide$rater2[seq_len(5 * (seed == 10))] <- NA
    wide
  })
  for (wide in panels) expect_unmoved(wide, c("rater1", "rater2", "rater3"), c("a", "b"))
})

test_that("nor do they on real panels", {
  folder <- file.path(Sys.getenv("FALLIBLE_DATA"), "real")
  skip_if(Sys.getenv("FALLIBLE_DATA") == "" || !dir.exists(folder), "FALLIBLE_DATA is not set")
  for (set in c("bluebird", "kundel", "snow_wsd")) {
    x <- quiet(read_ratings(file.path(folder, set)))
    same <- function(y) tidy(assuming(y, NULL))$estimate
    one <- same(x)
    set.seed(1)
    expect_equal(same(x[sample(length(x$cases)), ]), one, tolerance = 1e-6)
    long <- as.data.frame(x)
    systems <- as.data.frame(x, what = "systems")
    turned <- rev(x$categories)
    other <- quiet(ratings(
      long, case = case, rater = rater, rating = rating, categories = turned, systems = systems,
      repeats = "ratings"
    ))
    expect_equal(same(other), one, tolerance = 1e-6)
  }
})

test_that("pages of numbers say in words what was assumed", {
  skip_unless_extended()
  set.seed(11)
  x <- common_panel(300)
  said <- function(estimate) paste(capture.output(print(estimate)), collapse = " ")
  clear <- assuming(common_panel(300, 0, raters = rep(0.8, 3)), NULL)
  expect_match(said(clear), "neither show nor rule out shared")
  expect_match(said(assuming(x, 0.3)), "30% of the range")
  expect_match(said(assuming(x, "none")), "Assumed: independent errors")
  expect_match(said(assuming(x, NULL, by = rep(1:2, 150))), "Assumed: typical shared errors")
  expect_no_match(said(assuming(x, NULL)), "%.*Assumed.*Assumed")
})

test_that("few data and an untested assumption are warned about apart", {
  set.seed(12)
  ample <- simulate_ratings(rater_design(rep(0.6, 3), c(a = 0.7), 5, 500))
  classes <- character()
  withCallingHandlers(estimate_accuracy(ample), warning = function(w) {
    classes <<- c(classes, class(w))
    rlang::cnd_muffle(w)
  })
  expect_false("fallible_warning_few_data" %in% classes)
  warned <- function(...) {
    caught <- list()
    withCallingHandlers(estimate_accuracy(...), warning = function(w) {
      caught <<- c(caught, list(w))
      rlang::cnd_muffle(w)
    })
    vapply(caught, function(w) sub("fallible_warning_", "", class(w)[[1L]]), "")
  }
  expect_identical(warned(lehner_ratings()), "few_data")
  set.seed(4)
  sided <- sure_panel("sided")$x
  expect_identical(warned(sided), "assumption")
  expect_identical(warned(sided, common = "none"), character())
  expect_identical(warned(ample), character())
  ample$rater_kind <- "tool"
  expect_identical(warned(ample), "assumption")
})

test_that("a joint estimate of raters who used one category lacks a number, with its reason", {
  same <- ratings(
    data.frame(a = rep("x", 8), b = "x", c = "x", s = rep(c("x", "y"), 4)),
    raters = a:c, systems = s, categories = c("x", "y")
  )
  found <- tidy(quiet(estimate_accuracy(same, "joint", common = "typical", interval = "none")))
  expect_true(is.na(found$estimate))
  expect_type(found$reason, "character")
  expect_false(is.na(found$reason))
})

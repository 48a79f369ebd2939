ward_panel <- function(n = 60) {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.5), 3, n))
  list(x = x, ward = rep(c("west", "east", "north"), length.out = n))
}

test_that("each group is estimated as if it were alone", {
  data <- ward_panel()
  groups <- quiet(estimate_accuracy(data$x, "joint", interval = "profile", by = data$ward))
  expect_named(groups, c("east", "north", "west"))
  for (ward in names(groups)) {
    alone <- quiet(
      estimate_accuracy(data$x[data$ward == ward, ], "joint", interval = "profile")
    )
    own <- groups[[ward]]
    own$fit$x$panel <- NULL # what is of the whole panel
    expect_equal(own, alone)
    table <- tidy(groups)
    expect_equal(table[table$group == ward, -1], tidy(alone))
  }
  expect_identical(names(tidy(groups))[1:2], c("group", "system"))
  expect_identical(tidy(groups)$group, rep(c("east", "north", "west"), each = 2))
  each <- tidy(groups, "groups")
  expect_identical(each$group, names(groups))
  expect_equal(each[2, -1], glance(groups[["north"]]))
  expect_identical(glance(groups)$groups, 3L)
  expect_equal(glance(groups)$cases, 60)
  details <- tidy(groups, "details")
  expect_equal(details[details$group == "west", -1], tidy(groups[["west"]], "details"))
  expect_snapshot(groups)
})

test_that("groups keep the order of a factor, and come from a table as well", {
  data <- ward_panel()
  levels <- c("west", "south", "north", "east")
  by <- factor(data$ward, levels = levels)
  run <- function(by) quiet(estimate_accuracy(data$x, "unbinned", interval = "none", by = by))
  found <- run(by)
  expect_named(found, setdiff(levels, "south"))
  expect_equal(run(data.frame(case = data$x$cases, ward = by)), found)
  expect_equal(tidy(run(as.integer(by)))$estimate, tidy(found)$estimate)
  fit <- quiet(fit_raters(data$x))
  expect_equal(
    tidy(quiet(estimate_accuracy(fit, "unbinned", interval = "none", by = by))), tidy(found)
  )
})

test_that("clusters stay with their groups", {
  data <- ward_panel()
  cluster <- rep(1:20, each = 3)
  set.seed(1)
  groups <- quiet(estimate_accuracy(
    data$x, "unbinned", interval = "bootstrap", resampling = list(replicates = 50, cluster = cluster), by = data$ward
  ))
  set.seed(1)
  seed <- with_one_seed(sample.int(.Machine$integer.max, 3))[[1]] # of the first group
  own <- data$ward == "east"
  alone <- with_run_seed(seed, quiet(estimate_accuracy(
    data$x[own, ], "unbinned", interval = "bootstrap", resampling = list(replicates = 50, cluster = data.frame(case = 1:60, cluster)[own, ])
  )))
  expect_equal(tidy(groups[["east"]]), tidy(alone))
})

test_that("groups are the same on other processes", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if(Sys.getenv("R_COVR") == "true", "Instrumented code does not run in other processes")
  data <- ward_panel()
  run <- function() {
    set.seed(1)
    tidy(quiet(estimate_accuracy(
      data$x, "unbinned", interval = "bootstrap", resampling = list(replicates = 50), by = data$ward
    )))
  }
  here <- run()
  local_workers()
  expect_identical(run(), here)
})

test_that("groups without answers, or with useless raters, are NA with their reason", {
  wide <- data.frame(
    a = c("x", "y", "x", "y", "x", "y"), b = c("x", "y", "x", "x", "y", "x"),
    s = c("x", "y", NA, NA, "x", "y"), t = "x", g = c(1, 1, 2, 2, 3, 3)
  )
  x <- ratings(wide, raters = a:b, systems = s:t)
  said <- NULL
  groups <- withCallingHandlers(
    estimate_accuracy(x, "unbinned", interval = "none", by = wide$g),
    fallible_warning_not_identified = function(w) {
      expect_null(said)
      said <<- w
      rlang::cnd_muffle(w)
    }
  )
  expect_identical(said$groups, c("2", "3"))
  expect_identical(said$topics$not_identified, c("2", "3"))
  expect_named(said$conditions, c("2", "3"))
  expect_s3_class(said$conditions[["3"]][[1]], "fallible_warning_not_identified")
  expect_match(conditionMessage(said), "2 of 3 groups have warnings")
  expect_match(conditionMessage(said), "2: Accuracy cannot be estimated.*3: Accuracy cannot")
  table <- tidy(groups)
  expect_match(table$reason[table$group == "2" & table$system == "s"], "no better than by chance")
  expect_match(table$reason[table$group == "3"], "no better than by chance")
  expect_output(print(groups), "2: NA for s, t")
})

test_that("bad groups are refused", {
  data <- ward_panel()
  expect_error(
    estimate_accuracy(data$x, by = data$ward[-1]), "60 cases", class = "fallible_error_argument"
  )
  expect_error(
    estimate_accuracy(data$x, by = replace(data$ward, 3, NA)), "missing for 1 case",
    class = "fallible_error_argument"
  )
  groups <- quiet(estimate_accuracy(data$x, "joint", interval = "none", by = data$ward))
  expect_snapshot(error = TRUE, compare_systems(groups))
})

test_that("groups are drawn", {
  skip_if_not_installed("ggplot2")
  data <- ward_panel()
  groups <- quiet(estimate_accuracy(data$x, "joint", interval = "profile", by = data$ward))
  drawn <- ggplot2::layer_data(ggplot2::autoplot(groups), 2L)
  expect_setequal(drawn$x, tidy(groups)$estimate)
})

test_that("groups without any estimate are drawn empty", {
  skip_if_not_installed("ggplot2")
  pairs <- data.frame(a = c("1", "2", "1", "2"), b = c("2", "1", "2", "1"), s = 1, t = 2)
  for (systems in list("s", c("s", "t"))) {
    x <- ratings(pairs, raters = c("a", "b"), systems = !!systems)
    by <- c("u", "u", "v", "v")
    groups <- quiet(estimate_accuracy(x, "binned", interval = "none", by = by))
    plot <- ggplot2::autoplot(groups)
    expect_identical(nrow(ggplot2::layer_data(plot, 2L)), 2L * length(systems))
    expect_match(plot$labels$caption, "estimates missing")
    grDevices::pdf(NULL)
    expect_warning(print(plot), NA)
    grDevices::dev.off()
  }
})

test_that("all groups are warned about at once", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.6), c(a = 0.7), 3, 120))
  group <- rep(c("{one}", "two", "three"), 40)
  warnings <- list()
  run <- function(...) {
    warnings <<- list()
    withCallingHandlers(estimate_accuracy(x, by = group, ...), warning = function(w) {
      warnings <<- c(warnings, list(w))
      rlang::cnd_muffle(w)
    })
  }
  run()
  expect_length(warnings, 1L)
  expect_s3_class(warnings[[1]], "fallible_warning_few_data")
  expect_s3_class(warnings[[1]], "fallible_warning_assumption")
  expect_s3_class(warnings[[1]], "fallible_warning")
  expect_match(conditionMessage(warnings[[1]]), "{one}", fixed = TRUE)
  run("binned", interval = "none")
  expect_length(warnings, 1L)
  expect_setequal(warnings[[1]]$groups, unlist(warnings[[1]]$topics))
})

test_that("notes of groups that differ only in a share are printed once", {
  set.seed(4)
  x <- simulate_ratings(rater_design(c(0.75, 0.8, 0.85), c(s = 0.8, t = 0.7), n = 300))
  groups <- rep(c("p", "q", "r"), 100)
  estimate <- quiet(estimate_accuracy(x, by = groups))
  notes <- notes_of(estimate)
  shares <- vapply(unclass(estimate), function(part) {
    sub(".*shared errors \\((.*) of the range.*", "\\1", grep("Range", notes_of(part), value = TRUE))
  }, "")
  expect_gt(length(unique(shares)), 1L)
  range_note <- grep("Range", notes, value = TRUE)
  expect_length(range_note, 1L)
  expect_match(range_note, "^Range: .*\\([0-9.]+% to [0-9]+% of the range\\)")
  # Metrics print the shares of all groups, not those of the first one.
  metrics <- quiet(estimate_metrics(estimate, "accuracy"))
  expect_match(notes_of(metrics), sub(".*Assumed", "Assumed", range_note), fixed = TRUE, all = FALSE)
})

test_that("groups with different messages have a line each, and keep the hint", {
  set.seed(2)
  x <- simulate_ratings(rater_design(c(0.8, 0.8, 0.8), c(s = 0.8), 2, 90))
  group <- rep(c("u", "v"), c(50, 40))
  known <- truth(x)[c(1:10, 51:56), ]
  said <- expect_warning(
    estimate_accuracy(x, interval = "none", by = stats::setNames(group, x$cases),
      known_truth = known),
    class = "fallible_warning_hand_picked"
  )
  text <- gsub("\\s+", " ", conditionMessage(said))
  expect_match(text, "u: The 10 cases with known truth are .* because\\s+`gold_sample` is missing")
  expect_match(text, "v: The 6 cases with known truth are .* because\\s+`gold_sample` is missing")
  expect_match(text, "Use `gold_sample = \"random\"` for a random sample")
})

test_that("messages of parts are complete at every width of the console", {
  set.seed(1)
  x <- simulate_ratings(rater_design(c(0.6, 0.6, 0.6), c(a = 0.7), 3, 120))
  group <- rep(c("one", "two", "three"), 40)
  said_at <- function(width, code) {
    withr::local_options(width = width, cli.width = width, cli.condition_width = width)
    texts <- character()
    withCallingHandlers(code(), fallible_warning = function(w) {
      texts <<- c(texts, gsub("\\s+", " ", conditionMessage(w)))
      rlang::cnd_muffle(w)
    })
    texts
  }
  codes <- list(
    groups = function() estimate_accuracy(x, by = group),
    variables = function() estimate_accuracy(list(first = x[1:40], second = x[41:80]))
  )
  for (code in codes) {
    said <- said_at(200, code)
    expect_match(said, "as wide as [0-9.]+[.] More cases", all = FALSE)
    for (width in c(40, 80)) expect_identical(said_at(width, code), said)
  }
  long_error <- rlang::catch_cnd(abort_fallible("argument", strrep("word ", 50)))
  withr::local_options(cli.condition_width = 40)
  expect_match(message_in_one_line(long_error), "^(word ?){50}$")
})

test_that("cases are looked up by their labels, whatever kind of number they are", {
  data <- data.frame(id = c(1e5, 2, 123456), r = c("a", "b", "a"), s = c("a", "b", "b"))
  x <- ratings(data, case = id, raters = r:s)
  look_up <- function(case) {
    check_case_values(data.frame(case = case, site = c("p", "q", "r")), x, "by")
  }
  expect_identical(look_up(c(2L, 123456L, 100000L)), c("r", "p", "q"))
  expect_identical(look_up(c("2", "123456", "100000")), c("r", "p", "q"))
  expect_identical(look_up(factor(c(2, "123456", "100000"))), c("r", "p", "q"))
  expect_error(look_up(c("2", "123456", "1e5")), class = "fallible_error_argument")
})

test_that("a misspelt name of a covariate gets a suggestion, bare or quoted", {
  data <- data.frame(a = c("x", "y"), b = c("x", "y"), Site = c("p", "q"))
  x <- quiet(ratings(data, raters = a:b, covariates = Site))
  expect_error(estimate_accuracy(x, by = site), "Did you mean \"Site\"",
    class = "fallible_error_argument")
  expect_error(estimate_accuracy(x, by = "site"), "Did you mean \"Site\"",
    class = "fallible_error_argument")
})

# A panel of two sites at which the system is right in 97% and 60% of the cases: wide data, and the
# same in long form with shuffled rows.
two_sites <- function(n = 240) {
  set.seed(1)
  site <- rep(c("good", "bad"), length.out = n)
  truth <- sample(c("no", "yes"), n, replace = TRUE)
  answer <- function(p) ifelse(stats::runif(n) < p, truth, ifelse(truth == "no", "yes", "no"))
  wide <- data.frame(
    case = paste0("c", seq_len(n)), site, patient = rep(seq_len(n / 4), 4),
    r1 = answer(0.85), r2 = answer(0.85), r3 = answer(0.85),
    ai = answer(ifelse(site == "good", 0.97, 0.6))
  )
  long <- do.call(rbind, lapply(c("r1", "r2", "r3", "ai"), function(rater) {
    data.frame(wide[c("case", "site", "patient")], rater, rating = wide[[rater]])
  }))
  list(wide = wide, long = long[sample(nrow(long)), ])
}

of_long <- function(long, ...) {
  ratings(long, case = case, rater = rater, rating = rating, systems = "ai", ...)
}

of_wide <- function(wide, ...) ratings(wide, raters = r1:r3, systems = ai, ...)

grouped <- function(x, ...) {
  table <- tidy(quiet(estimate_accuracy(x, "joint", interval = "none", ...)))
  stats::setNames(table$estimate, table$group)
}

test_that("groups of long data in another order are those of fits of their cases", {
  panel <- two_sites()
  wide <- panel$wide
  x <- of_long(panel$long, covariates = c(site, patient))
  known <- vapply(c(bad = "bad", good = "good"), function(site) {
    part <- of_wide(wide[wide$site == site, ], case = case)
    tidy(quiet(estimate_accuracy(part, "joint", interval = "none")))$estimate
  }, 0)
  expect_gt(known[["good"]] - known[["bad"]], 0.2)
  table <- wide[c("case", "site")]
  named <- stats::setNames(wide$site, wide$case)
  right <- function(found) expect_equal(found, known, tolerance = 1e-6)
  right(grouped(x, by = site))
  right(grouped(x, by = "site"))
  right(grouped(x, by = table))
  right(grouped(x, by = table[sample(nrow(table)), 2:1]))
  right(grouped(x, by = rbind(table, table)))
  right(grouped(x, by = named))
  right(grouped(x, by = rev(named)))
  right(grouped(x, by = factor(named, c("good", "bad")))[c("bad", "good")])
  right(grouped(x[sample(nrow(x)), ], by = named))
  right(grouped(x[sample(nrow(x)), ], by = site))
  right(grouped(quiet(fit_raters(x)), by = "site"))
  right(grouped(of_wide(wide, case = case), by = wide$site))
  expect_error(grouped(x, by = wide$site), "by position", class = "fallible_error_argument")
  # Their names are all that estimate_metrics() and a function as method need.
  right(stats::setNames(
    tidy(quiet(estimate_metrics(x, "accuracy", method = "joint", interval = "none", by = site)))$estimate,
    c("bad", "good")
  ))
  share <- function(x) data.frame(estimate = nrow(x) / 240)
  sizes <- estimate_accuracy(x, share, interval = "none", by = site == "good")
  expect_identical(tidy(sizes)$estimate, c(0.5, 0.5))
})

test_that("clusters are matched by name", {
  panel <- two_sites()
  wide <- panel$wide
  x <- of_long(panel$long, covariates = patient)
  spread <- function(x, cluster) {
    set.seed(1)
    quiet(estimate_accuracy(
      x, "unbinned", interval = "bootstrap", resampling = list(replicates = 40, cluster = cluster)
    ))$replicates
  }
  found <- spread(x, "patient")
  expect_identical(spread(x, wide[c("patient", "case")]), found)
  expect_identical(spread(x, stats::setNames(wide$patient, wide$case)), found)
  expect_error(spread(x, wide$patient), class = "fallible_error_argument")
})

test_that("a covariate takes precedence over an object of its name", {
  panel <- two_sites()
  x <- of_wide(panel$wide, covariates = site)
  expected <- grouped(x, by = panel$wide$site)
  site <- rev(panel$wide$site)
  expect_identical(grouped(x, by = site), expected)
  expect_identical(grouped(x, by = panel$wide$site), expected)
  by <- "site"
  expect_identical(grouped(x, by = by), expected)
  expect_s3_class(quiet(estimate_accuracy(x, by = NULL, interval = "none")), "accuracy_estimate")
})

test_that("values without names need the rows of the data", {
  panel <- two_sites(40)
  wide <- panel$wide
  x <- of_wide(wide, case = case)
  accepted <- function(x, value = seq_len(nrow(x))) {
    refused <- rlang::catch_cnd(check_case_values(value, x, "by"), "fallible_error_argument")
    is.null(refused)
  }
  expect_true(accepted(x))
  expect_true(accepted(x[, 1:2]))
  expect_true(accepted(x[1:40, ]))
  expect_true(accepted(of_wide(wide)))
  expect_true(accepted(ratings(as.matrix(wide[c("r1", "r2")]))))
  expect_true(accepted(as_ratings(wide[c("r1", "r2")])))
  expect_false(accepted(x[40:1, ]))
  expect_false(accepted(x[-1, ]))
  expect_false(accepted(x[c(1, 1:39), ]))
  expect_false(accepted(of_long(panel$long)))
  # The same cases, with more ratings, and cases that were not there.
  more <- data.frame(case = c("c2", "c1"), rater = "r4", rating = "yes")
  expect_true(accepted(add_ratings(x, more)))
  expect_false(accepted(add_ratings(x, transform(more, case = c("c2", "new")))))
  systems <- data.frame(case = c("c1", "new"), system = "s", prediction = "yes")
  expect_false(accepted(quiet(ratings(wide, raters = r1:r3, case = case, systems = systems))))
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(wide, file, row.names = FALSE)
  read <- read_ratings(file, case = case, raters = r1:r3, covariates = site)
  expect_false(accepted(read))
  expect_true(accepted(read, "site"))
  # Truths and probabilities of cases follow the same rule.
  truth <- rep(c("no", "yes"), 20)
  expect_identical(with_truth(x, truth)$truth$category, rep(1:2, 20))
  expect_error(with_truth(x[40:1, ], truth), "by position", class = "fallible_error_argument")
  gold <- gold_cases(stats::setNames(truth, wide$case), sample = rep(0.5, 40))
  expect_error(
    estimate_accuracy(x[40:1, ], known_truth = gold), "by position",
    class = "fallible_error_argument"
  )
})

test_that("values of cases that were fetched from a database need names", {
  con <- sqlite()
  DBI::dbWriteTable(con, "answers", two_sites(40)$wide)
  x <- dplyr::collect(ratings(dplyr::tbl(con, "answers"), raters = r1:r3, case = case))
  expect_error(check_case_values(1:40, x, "by"), "by position", class = "fallible_error_argument")
  expect_error(
    ratings(dplyr::tbl(con, "answers"), raters = r1:r3, case = c(case, site)),
    class = "fallible_error_database"
  )
})

test_that("names must be those of cases, each with one value", {
  panel <- two_sites(40)
  wide <- panel$wide
  x <- of_long(panel$long, covariates = site)
  table <- wide[c("case", "site")]
  estimate <- function(by, of = x) estimate_accuracy(of, by = by)
  expect_snapshot(error = TRUE, {
    estimate(wide$site)
    estimate("sit")
    estimate(nowhere)
    estimate(table[-(1:7), ])
    estimate(rbind(table, list("z1", "good")))
    estimate(rbind(table, list("c1", "bad")))
    estimate(stats::setNames(wide$site, seq_len(40)))
    estimate(wide)
    estimate(as.list(wide$site))
    estimate_accuracy(x, resampling = list(cluster = wide$patient))
  })
  # A table of all cases does for some of them.
  expect_identical(check_case_values(table, x["c3", ], "by"), "good")
})

test_that("covariates come out again", {
  panel <- two_sites(8)
  x <- of_wide(panel$wide, case = case, covariates = c(site, patient))
  expect_identical(as.data.frame(x, "covariates"), panel$wide[c("case", "site", "patient")])
  expect_identical(as.data.frame(x[3:2, ], "covariates")$case, c("c3", "c2"))
  expect_identical(tidy(x, "covariates"), tibble::as_tibble(as.data.frame(x, what = "covariates")))
  expect_named(as.data.frame(of_wide(panel$wide), "covariates"), "case")
  expect_error(as.data.frame(x, "covariate"), class = "fallible_error_argument")
})

test_that("a case may have a key of several columns", {
  keys <- data.frame(
    prompt = c("a, b", "a", "p/q", "p", "50%", "50", "", "%2F"),
    app = c("c", "b, c", "r", "q/r", "1", "%1", "x", "/"), run = c(1:7, 1.5)
  )
  set.seed(1)
  wide <- data.frame(keys, r1 = rep(1:2, 4), r2 = rep(1:2, 4), r3 = 1, s = rep(1:2, each = 4))
  x <- ratings(wide, raters = r1:r3, systems = s, case = c(prompt, app, run))
  expect_length(unique(x$cases), 8L)
  expect_identical(x$cases[c(1, 3)], c("a, b/c/1", "p%2Fq/r/3"))
  expect_identical(as.data.frame(x, "covariates"), data.frame(case = x$cases, keys))
  expect_identical(as.data.frame(x[8:7, ], "covariates")$run, c(1.5, 7))
  # The same from long data, and no more patterns than without a key.
  long <- do.call(rbind, lapply(c("r1", "r2", "r3"), function(rater) {
    data.frame(keys, who = rater, said = wide[[rater]])
  }))
  systems <- data.frame(keys, who = "s", said = wide$s)
  y <- ratings(
    long, case = c("prompt", "app", "run"), rater = who, rating = said,
    systems = systems[sample(8), ]
  )
  expect_equal(tidy(y, "patterns"), tidy(x, "patterns"))
  expect_identical(tidy(y, "covariates"), tidy(x, "covariates"))
  # Columns of the key serve as groups, and in the place of the case.
  by_run <- function(by) check_case_values(by, y, "by")
  expect_identical(by_run("run"), as.numeric(keys$run))
  expect_identical(by_run(data.frame(keys, group = letters[1:8])[8:1, ]), letters[1:8])
  expect_identical(by_run(stats::setNames(1:8, y$cases)), 1:8)
  truth <- data.frame(keys, truth = wide$r1)
  expect_equal(with_truth(y, truth[8:1, ])$truth$category, wide$r1)
  gold <- gold_cases(data.frame(truth, probability = 0.5))
  expect_identical(read_gold(gold$truth, NULL, y)$case, 1:8)
  expect_identical(check_known_truth(gold, y), wide$r1)
  fit <- quiet(update(fit_raters(y), new = data.frame(keys[1:2, ], rater = "r4", rating = 1)))
  expect_identical(fit$x$cases, y$cases)
})

test_that("keys that cannot be are refused", {
  wide <- data.frame(
    case = 1:3, app = c("u", NA, "v"), r1 = 1:3, r2 = 1:3, near = 0.3 + c(0, 1e-17, 1e-16),
    z = c(1, 1, 2)
  )
  expect_snapshot(error = TRUE, {
    ratings(wide, raters = r1:r2, case = c(case, z))
    ratings(wide, raters = r1:r2, case = c(app, z))
    ratings(wide, raters = r1:r2, case = c(near, z))
    ratings(wide[-2, ], raters = r1:r2, case = c(app, r1))
    ratings(transform(rbind(wide, wide), r2 = 1:6)[-c(2, 5), ], raters = r1:r2, case = c(app, z))
  })
})

test_that("an expression with an unknown covariate names this one", {
  wide <- data.frame(case = 1:4, a = c("x", "y"), b = c("x", "y", "y", "y"), site = c("n", "s"))
  x <- ratings(wide, raters = a:b, case = case, covariates = site, rater_kind = "expert")
  cnd <- expect_error(estimate_accuracy(x, by = paste(site, truth)),
    "There is no covariate \"truth\"", class = "fallible_error_argument")
  expect_no_match(conditionMessage(cnd), "Did you mean \"site\"")
})

test_that("an object of R with the name of a misspelt covariate is not taken for groups", {
  data <- data.frame(a = c("x", "y"), b = c("x", "y"), app_version = c("p", "q"))
  x <- quiet(ratings(data, raters = a:b, covariates = app_version))
  error <- expect_error(estimate_accuracy(x, by = version), class = "fallible_error_argument")
  expect_match(conditionMessage(error), "no covariate \"version\".*Did you mean \"app_version\"")
  expect_error(estimate_accuracy(x, by = source), "It is a function",
    class = "fallible_error_argument")
  site <- NULL
  expect_error(estimate_accuracy(x, by = site), class = "fallible_error_system") # no groups
})

test_that("errors on known truths name a missing column of identifiers, and show an identifier", {
  data <- expand.grid(id = paste0("P", 1:8), version = c("v1", "v2"))
  data$a <- data$b <- data$s <- c("x", "y", "y")[seq_len(16) %% 3 + 1]
  long <- rbind(transform(data, who = "a"), transform(data, who = "b"))
  x <- quiet(ratings(long, case = c(id, version), rater = who, rating = a, rater_kind = "expert"))
  truth <- data.frame(id = paste0("P", 1:8), truth = c("x", "y"))
  refused <- function(truth, ...) {
    expect_error(fit_raters(x, k_model(), known_truth = truth), ...)
  }
  refused(truth, "lacks \"version\"", class = "fallible_error_columns")
  error <- expect_error(fit_raters(ratings(data.frame(a = c("x", "y"), b = "x"), raters = a:b),
    known_truth = data.frame(id = 1:2)), class = "fallible_error_columns")
  expect_match(conditionMessage(error), "It has \"id\", and lacks \"truth\"", fixed = TRUE)
  # Cases with two truths, because a column is missing, are no conflict of truths.
  refused(rbind(truth, transform(truth, truth = "x")), "lacks \"version\"",
    class = "fallible_error_columns")
  refused(stats::setNames(truth$truth, truth$id), "first case of `x` is \"P1/v1\"",
    class = "fallible_error_case")
})

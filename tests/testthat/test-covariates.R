wide <- data.frame(
  id = letters[1:6], a = c(1, 1, 2, 2, 1, 1), b = c(1, 1, 2, 1, 1, 1), s = c(1, 1, 2, 2, 1, 1),
  site = factor(c("x", "x", "y", "y", "y", "x")), age = c(30, 30, 40, 50, 30, 30)
)

with_site <- function(...) {
  ratings(wide, raters = a:b, systems = s, case = id, covariates = c(site, age), ...)
}

long <- function() {
  data.frame(
    id = rep(wide$id, 2), who = rep(c("a", "b"), each = 6), said = c(wide$a, wide$b),
    site = wide$site, age = wide$age
  )
}

test_that("covariates are kept, and are part of the pattern", {
  x <- with_site()
  expect_identical(as.list(x$covariates), list(site = wide$site, age = wide$age))
  plain <- ratings(wide, raters = a:b, systems = s, case = id)
  expect_identical(nrow(tidy(plain, "patterns")), 3L)
  table <- tidy(x, "patterns")
  expect_identical(nrow(table), 4L)
  expect_identical(
    as.data.frame(table[c("site", "age", "n")]),
    data.frame(
      site = factor(c("x", "y", "y", "y")), age = c(30, 40, 50, 30), n = c(3, 1, 1, 1)
    )
  )
  # Functions that do not use covariates give the same result in the same time.
  expect_identical(n_patterns(x), 3L)
  expect_identical(tidy(quiet(estimate_accuracy(x))), tidy(quiet(estimate_accuracy(plain))))
  expect_equal(coef(quiet(fit_raters(x))), coef(quiet(fit_raters(plain))))
  expect_equal(quiet(ground_truth(x)), quiet(ground_truth(plain)))
  expect_identical(category_counts(x), category_counts(plain))
})

test_that("they go with their cases", {
  x <- with_site()
  expect_identical(x[c(4, 1), ]$covariates$age, c(50, 30))
  expect_identical(x["c", ]$covariates$site, wide$site[3])
  part <- x[c(1, 5), , 1]
  expect_identical(nrow(tidy(part, "patterns")), 2L)
  table <- as.data.frame(x)
  expect_named(table, c("case", "rater", "rating", "site", "age"))
  again <- ratings(
    table, case = case, rater = rater, rating = rating, covariates = c(site, age),
    systems = as.data.frame(x, what = "systems")
  )
  expect_identical(tidy(again, "patterns"), tidy(x, "patterns"))
})

test_that("long data tell them once for each case", {
  x <- ratings(long(), case = id, rater = who, rating = said, covariates = c(site, age))
  expect_identical(x$covariates, with_site()$covariates)
  systems <- ratings(
    rbind(long(), data.frame(id = "a", who = "s", said = 1, site = "x", age = 30)),
    case = id, rater = who, rating = said, covariates = site, systems = "s"
  )
  expect_identical(systems$covariates$site, wide$site)
  off <- long()
  off$age[9] <- 41
  error <- expect_error(
    ratings(off, case = id, rater = who, rating = said, covariates = age),
    class = "fallible_error_case"
  )
  expect_identical(error$row, 9L)
  expect_match(conditionMessage(error), "case = c(prompt_id, version)", fixed = TRUE)
})

test_that("what cannot be a covariate is refused", {
  wide$age[c(2, 5)] <- NA
  error <- rlang::catch_cnd(ratings(wide, raters = a:b, covariates = age))
  expect_s3_class(error, "fallible_error_missing")
  expect_identical(error$row, c(2L, 5L))
  expect_identical(error$column, "age")
  wide$day <- Sys.Date()
  expect_error(
    ratings(wide, raters = a:b, covariates = day), class = "fallible_error_columns"
  )
  expect_error(ratings(wide, raters = a:b, covariates = a), class = "fallible_error_columns")
  expect_error(ratings(wide, raters = a:b, covariates = nobody), class = "fallible_error_columns")
  names(wide)[5] <- "rater"
  expect_error(ratings(wide, raters = a:b, covariates = rater), class = "fallible_error_columns")
  systems <- data.frame(case = c("a", "z"), system = "s", prediction = 1)
  expect_error(
    quiet(ratings(wide, raters = a:b, case = id, systems = systems, covariates = rater)),
    class = "fallible_error"
  )
  names(wide)[5] <- "site"
  expect_error(
    quiet(ratings(wide, raters = a:b, case = id, systems = systems, covariates = site)),
    class = "fallible_error_case"
  )
})

test_that("they are told of", {
  expect_snapshot(with_site())
})

test_that("votes, labels and draws keep them", {
  long <- long()
  x <- ratings(
    rbind(long, transform(long, said = 1)), case = id, rater = who, rating = said,
    repeats = "reruns", covariates = site
  )
  votes <- as_ratings(x, votes = TRUE)
  expect_identical(votes$covariates$site, wide$site)
  x <- with_site()
  panel <- simulate(quiet(fit_raters(x)), seed = 1)[[1]]
  expect_identical(panel$covariates, x$covariates)
  long$said <- I(as.list(as.character(long$said)))
  labels <- ratings(
    long, case = id, rater = who, rating = said, repeats = "labels", covariates = site
  )
  expect_identical(single_label(labels)$covariates$site, wide$site)
  expect_identical(single_label(labels, label = "1")$covariates$site, wide$site)
})

test_that("a database refuses them", {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  on.exit(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "answers", transform(wide, site = as.character(site)))
  expect_error(
    ratings(dplyr::tbl(con, "answers"), raters = a:b, covariates = site),
    class = "fallible_error_database"
  )
})

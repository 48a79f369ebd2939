long <- data.frame(
  item = rep(1:4, each = 3), who = factor(rep(c("ann", "bob", "gpt-4o"), 4)),
  said = c("x", "x", "y", "x", "y", "y", "y", "y", "y", "x", "x", "x")
)
is_model <- long$who == "gpt-4o"

test_that("systems are raters of long data, a table, or a table with the names of the call", {
  read <- function(data = long, ...) ratings(data, case = item, rater = who, rating = said, ...)
  x <- read(systems = c("gpt-4o"))
  expect_identical(x$raters, c("ann", "bob"))
  expect_identical(x$systems, "gpt-4o")
  expect_identical(as.character(tidy(x, "systems")$prediction), c("y", "y", "y", "x"))
  table <- long[is_model, ]
  expect_identical(read(long[!is_model, ], systems = table), x)
  names(table) <- c("case", "system", "prediction")
  expect_identical(read(long[!is_model, ], systems = table), x)
  name <- "gpt-4o"
  expect_identical(read(systems = name), x)
  weighted <- cbind(long, w = rep(1:4, each = 3), family = c("p", "q", "r"))
  y <- read(weighted, systems = name, weights = w, rater_groups = family)
  expect_identical(y$weights, c(1, 2, 3, 4))
  expect_identical(unname(y$rater_groups), c("p", "q"))
})

test_that("systems that are no raters are refused", {
  read <- function(data = long, ...) ratings(data, case = item, rater = who, rating = said, ...)
  expect_error(read(systems = "gpt-5"), "gpt-5", class = "fallible_error_system")
  expect_error(read(systems = who), class = "fallible_error_argument")
  expect_error(read(systems = 3), class = "fallible_error_argument")
  expect_identical(read(systems = c("bob", "gpt-4o"))$raters, "ann")
  expect_error(read(systems = "gpt-4o", repeats = "labels"), class = "fallible_error_argument")
  expect_error(
    ratings(long, rater = who, rating = said, systems = "bob"), class = "fallible_error_argument"
  )
  expect_error(
    read(rbind(long, transform(long[3, ], said = "x")), systems = "gpt-4o"),
    class = "fallible_error_repeat"
  )
  wrong <- long
  wrong$said[[5L]] <- ""
  expect_error(read(wrong, systems = "gpt-4o"), "row 5", class = "fallible_error_blank")
  wrong$said[[5L]] <- "z"
  expect_error(
    read(wrong, systems = "gpt-4o", categories = c("x", "y")), "Row 5",
    class = "fallible_error_category"
  )
})

test_that("somebody must be left to rate", {
  rows <- data.frame(case = rep(1:2, each = 2), rater = c("a", "b"), rating = c("x", "y", "x", "x"))
  error <- expect_error(
    ratings(rows, case = case, rater = rater, rating = rating, systems = c("a", "b")),
    "No rater is left", class = "fallible_error_system"
  )
  expect_identical(error$system, c("a", "b"))
})

test_that("columns are meant, whatever else has their names", {
  x <- data.frame(a = c("x", "y"), b = c("x", "y"), s = c("y", "y"), t = c("x", "x"))
  s <- 1:5
  expect_no_warning(y <- ratings(x, raters = a:b, systems = s:t))
  expect_identical(y$systems, c("s", "t"))
  t <- 1:2
  expect_identical(ratings(x, raters = a:b, systems = c(s, t)), y)
})

test_that("a system that raters judge has no column", {
  set.seed(1)
  good <- rep(c(0.9, 0.2), c(150, 50))
  d <- as.data.frame(replicate(3, ifelse(runif(200) < good, "pass", "fail")))
  x <- ratings(d, raters = V1:V3, systems = c(app = "pass"))
  d$app <- "pass"
  column <- ratings(d, raters = V1:V3, systems = app)
  expect_identical(x$systems, "app")
  expect_identical(tidy(x, "systems"), tidy(column, "systems"))
  expect_equal(point_estimate(x), point_estimate(column))
  long <- data.frame(case = rep(1:200, 3), rater = rep(c("u", "v", "w"), each = 200),
    rating = unlist(d[1:3]))
  y <- ratings(long, case = case, rater = rater, rating = rating, systems = c(app = "pass"))
  expect_equal(point_estimate(y), point_estimate(x))
  expect_error(ratings(d, raters = V1:V3, systems = c(app = "good")),
    class = "fallible_error_category")
  expect_error(estimate_accuracy(y[, , 0]), "systems = c\\(app = \"pass\"\\)",
    class = "fallible_error_system")
  # If only the answers of a system are used.
  expect_identical(nrow(tidy(shared_errors(x))), 3L)
  expect_error(alt_test(x), "same answer to all cases", class = "fallible_error_system")
  metrics <- tidy(suppressWarnings(estimate_metrics(x, interval = "none")))
  expect_true(all(is.na(metrics$estimate) == (metrics$metric != "accuracy")))
  expect_match(metrics$reason[metrics$metric != "accuracy"], "gives all cases the same answer")
})

test_that("known truth may have the name that its file gives to cases", {
  x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
  truth <- data.frame(case = x$cases[1:4], truth = x$categories[1:4])
  own <- stats::setNames(truth, c("image", "truth"))
  of <- function(truth) tidy(suppressWarnings(estimate_accuracy(x, known_truth = truth)))
  expect_identical(of(own), of(truth))
  own$note <- "x"
  expect_error(of(own), class = "fallible_error_columns")
})

test_that("a file may have such a system too", {
  file <- withr::local_tempfile(
    lines = c("id,a,b", "1,pass,pass", "2,fail,pass", "3,pass,fail"), fileext = ".csv"
  )
  x <- read_ratings(file, case = id, raters = a:b, systems = c(app = "pass"))
  expect_identical(as.character(tidy(x, "systems")$prediction), rep("pass", 3L))
  long <- withr::local_tempfile(
    lines = c("case,rater,rating", "1,a,pass", "1,b,pass", "2,a,fail"), fileext = ".csv"
  )
  expect_identical(read_ratings(long, systems = c(app = "pass"))$systems, "app")
})

test_that("the warning on unrated cases advises to check identifiers only if the data lack cases", {
  wide <- data.frame(id = 1:6, a = c("x", "y"), b = c("x", "y", "y"), s = "x")
  wide[6, c("a", "b")] <- NA
  cnd <- expect_warning(ratings(wide, raters = a:b, systems = s, case = id, rater_kind = "expert"),
    class = "fallible_warning_unrated")
  expect_no_match(conditionMessage(cnd), "identifiers")
  table <- data.frame(case = 1:7, system = "s", prediction = "x")
  expect_warning(ratings(wide[1:5, 1:3], raters = a:b, systems = table, case = id,
    rater_kind = "expert"), "identifiers are equal", class = "fallible_warning_unrated")
})

test_that("the warning on tied reruns of systems has a line per system, with its own cases", {
  data <- expand.grid(run = 1:2, who = c("ann", "bob", "m1", "m2"), id = 1:6,
    stringsAsFactors = FALSE)
  data$said <- c("x", "y")[data$id %% 2 + 1]
  data$said[data$who == "m2" & data$id < 4] <- c("x", "y")
  data <- data[!(data$who == "m2" & data$id == 6) & (data$run == 1 | data$who == "m2"), ]
  warning <- expect_warning(
    suppressMessages(ratings(data, case = id, rater = who, rating = said, repeats = "reruns",
      systems = c("m1", "m2"), rater_kind = "expert")),
    "reruns of a rater or system", class = "fallible_warning_reruns"
  )
  expect_match(conditionMessage(warning), "m2: 3 of 5 cases")
  expect_no_match(conditionMessage(warning), "m1|of 11")
})

test_that("errors on rows of systems in long data have the numbers of the rows in the data", {
  read <- function(data, ...) {
    ratings(data, case = item, rater = who, rating = said, systems = "gpt-4o",
      rater_kind = "expert", ...)
  }
  dated <- cbind(long, date = paste("day", 1:12))
  again <- rbind(dated, transform(dated[6, ], date = "day 13", said = "x"))
  error <- expect_error(read(again), "System \"gpt-4o\" answered case 2 more than once",
    class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "Rows of the data: 6, 13.", fixed = TRUE)
  expect_match(conditionMessage(error), "\"date\" differs between repeats")
  expect_match(conditionMessage(error), "repeats = \"reruns\"", fixed = TRUE)
  # A version of the system identifies cases; a copy of a row is counted.
  versions <- rbind(cbind(long, version = "v1"), cbind(long[c(3, 6, 6), ], version = "v2"))
  error <- expect_error(read(versions), class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "case = c(..., version)", fixed = TRUE)
  versions <- rbind(cbind(long, run = 1), cbind(long[c(3, 6, 6), ], run = 2))
  error <- expect_error(read(versions), class = "fallible_error_repeat")
  expect_match(conditionMessage(error), "1 row is equal.*unique\\(\\).*\"run\" seems to number")
  for (clean in c(FALSE, TRUE)) {
    expect_error(read(transform(long, item = replace(item, 9, NA)), clean_labels = clean),
      "`case` must be known in every row.*first in row 9", class = "fallible_error_case")
  }
})

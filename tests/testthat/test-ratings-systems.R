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
    read(rbind(long, long[3, ]), systems = "gpt-4o"), class = "fallible_error_repeat"
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

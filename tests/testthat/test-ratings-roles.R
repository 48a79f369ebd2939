# Columns that identify or describe cases never become raters without a word.

a <- c(1, 2, 3, 1, 2, 3, 1, 2)
b <- c(1, 2, 3, 2, 2, 1, 1, 3)
n <- length(a)
two <- ratings(data.frame(a, b), raters = a:b)
same_counts <- function(x) expect_equal(tidy(x, "counts")[-1], tidy(two, "counts")[-1])
unclear <- function(data, columns, ...) {
  error <- expect_error(as_ratings(data, ...), class = "fallible_error_argument")
  expect_identical(error$columns, columns)
  expect_match(conditionMessage(error), "case = ")
  expect_match(conditionMessage(error), "covariates")
}

test_that("identifiers are cases, in any place and with any capitals", {
  names <- c(
    "id", ".id", "ID", "item", "Item", "unit", "doc_id", "DOC_ID", "text_id", "case_id", "Case",
    "Units", "Subject", "subject_ids"
  )
  for (name in names) {
    data <- data.frame(a, b, 10 * seq_len(n))
    names(data)[[3L]] <- name
    for (order in list(1:3, c(3, 1, 2), c(1, 3, 2))) {
      x <- as_ratings(data[order])
      same_counts(x)
      expect_identical(x$raters, c("a", "b"))
      expect_identical(x$cases, data[[name]])
      expect_identical(ratings(data[order], raters = tidyselect::everything())$cases, x$cases)
      expect_identical(as_ratings(tibble::as_tibble(data[order])), x)
    }
  }
  # Values that are also labels of ratings
  expect_identical(as_ratings(data.frame(id = seq_len(n), a, b))$cases, seq_len(n))
  expect_identical(as_ratings(data.frame(id = 1:3, a = 1:3, b = c(1, 3, 2)))$raters, c("a", "b"))
})

test_that("row names that read.csv() calls X are cases, only in the first column", {
  x <- as_ratings(data.frame(X = 10 * seq_len(n), a, b))
  same_counts(x)
  expect_identical(x$cases, 10 * seq_len(n))
  expect_identical(as_ratings(data.frame(X = seq_len(n), a, b, id = letters[1:n]))$cases,
    letters[1:n])
  expect_identical(quiet(as_ratings(data.frame(X = a, Y = b)))$raters, c("X", "Y"))
  expect_identical(quiet(as_ratings(data.frame(a, X = seq_len(n), b)))$raters, c("a", "X", "b"))
})

test_that("a column of truths is no rater", {
  for (name in c("truth", "Gold")) {
    data <- stats::setNames(data.frame(a, b, a), c("a", "b", name))
    expect_message(x <- as_ratings(data), name)
    same_counts(x)
    expect_message(y <- ratings(data, raters = tidyselect::everything()), name)
    expect_identical(y$raters, c("a", "b"))
  }
  data$a[[1L]] <- 2
  expect_identical(quiet(ratings(data, raters = c(a, b, Gold)))$raters, c("a", "b", "Gold"))
})

test_that("a first column that numbers the cases raises a warning", {
  numbered <- function(x) as_ratings(data.frame(number = x, a, b))
  expect_warning(numbered(seq_len(n)), "\"number\" is read as a rater",
    class = "fallible_warning_labels")
  expect_no_warning(numbered(a))
  expect_warning(numbered(100 + seq_len(n)), "No other rater uses")
})

test_that("long data may name the case as they like", {
  long <- data.frame(
    Rating = c(a, b), epoch = 1, Rater = rep(c("a", "b"), each = n), Item = rep(seq_len(n), 2)
  )
  x <- as_ratings(long)
  same_counts(x)
  expect_identical(x$cases, seq_len(n))
  long$doc_id <- long$Item %% 2
  expect_identical(as_ratings(long[5:1])$keys, c(doc_id = TRUE, Item = TRUE))
  same_counts(as_ratings(cbind(id = seq_len(2 * n), long[c("Item", "Rater", "Rating")])))
  long$case <- rep(letters[seq_len(n)], 2)
  expect_identical(as_ratings(long)$cases, letters[seq_len(n)])
})

test_that("a second identifier is left out, and one that groups cases is a covariate", {
  data <- data.frame(a, b, case = letters[seq_len(n)], id = seq_len(n))
  expect_identical(as_ratings(data)$cases, data$case)
  expect_null(as_ratings(data)$covariates)
  data <- data.frame(doc_id = rep(1:2, each = 4), a, b, text_id = letters[seq_len(n)])
  x <- as_ratings(data)
  expect_identical(x$cases, data$text_id)
  expect_identical(x$covariates$doc_id, factor(data$doc_id))
  expect_identical(x$raters, c("a", "b"))
})

test_that("columns that could be either are not guessed", {
  item <- rep(1:4, 2)
  unclear(data.frame(item, a, b), "item")
  unclear(data.frame(item = 1:3, a = 1:3, b = c(1, 3, 2)), "item")
  unclear(data.frame(id = item, a, epoch = rep(1:2, each = 4), b), c("id", "epoch"))
  unclear(data.frame(a, b, Item = item, Model = rep(c("m", "n"), each = 4)), c("Item", "Model"))
  unclear(data.frame(id = seq_len(n), a, b, RUN = rep(1:2, 4)), "RUN")
  unclear(data.frame(a, b, Population = rep(c("n", "s"), 4)), "Population")
  unclear(data.frame(a, b, model = "gpt"), "model")
  unclear(data.frame(id = NA, a, b), "id")
  # What the message shows works.
  data <- data.frame(id = item, epoch = rep(1:2, each = 4), a, b)
  x <- ratings(data, raters = c("a", "b"), case = c("id", "epoch"))
  expect_error(
    ratings(data, raters = c("a", "b"), case = c("id", "epoch"), covariates = "epoch"),
    "automatically used as covariates", class = "fallible_error_columns"
  )
  same_counts(x)
  expect_error(ratings(data, raters = tidyselect::everything()), class = "fallible_error_argument")
  expect_error(ratings(data, raters = id:b), class = "fallible_error_argument")
  expect_snapshot(error = TRUE, {
    as_ratings(data)
    as_ratings(data.frame(run = rep(1:2, 4), a, b))
    ratings(cbind(data[-1], id = 1:8), raters = everything())
  })
})

test_that("raters stay raters, whatever their names", {
  yes <- c("yes", "no", "no", "yes", "yes", "no", "no", "yes")
  no <- rev(yes)
  no[[1L]] <- "no"
  stay <- function(...) {
    data <- data.frame(...)
    expect_identical(quiet(as_ratings(data))$raters, names(data))
  }
  stay(r1 = a, r2 = b, expert = a, ann = b)
  stay(human = yes, model = no)
  stay(Human = yes, Model = c("Yes", no[-1]))
  stay(human = a, model = b)
  stay(human = c(0, 1, 1), model = c(0, 1, 0))
  stay(unit = yes, expert = no, nurse = yes)
  stay(unit = c("unsure", yes[-1]), expert = no, nurse = yes)
  stay(item = c(0, 1, 1, 0), nurse = c(0, 1, 0, 0), unit = c(0, 1, 1, 1))
  stay(item = yes, unit = no)
  stay(run = yes, epoch = no, ann = yes)
  # A user who names columns one by one has the last word.
  data <- data.frame(item = 1:3, a = 1:3)
  expect_identical(ratings(data, raters = c(item, a))$raters, c("item", "a"))
  expect_identical(ratings(data, raters = c("item", "a"))$raters, c("item", "a"))
})

test_that("a table of tests and populations is read as runjags reads it", {
  tests <- data.frame(
    Population = rep(0:1, 4), FirstTest = c(0, 1, 1, 0, NA, 1, 0, 0),
    SecondTest = c(TRUE, FALSE, TRUE, TRUE, FALSE, TRUE, FALSE, FALSE) + 0
  )
  x <- as_ratings(tests)
  expect_identical(x$raters, c("FirstTest", "SecondTest"))
  expect_identical(x$covariates$Population, factor(tests$Population))
  expect_identical(as_ratings(tests[3:1])$covariates, x$covariates)
  tests[2:3] <- lapply(tests[2:3], factor, labels = c("neg", "pos"))
  tests$ID <- sprintf("a%d", 1:8)
  y <- as_ratings(tests)
  expect_identical(y$categories, c("neg", "pos"))
  expect_identical(y$cases, tests$ID)
  expect_identical(y$covariates, x$covariates)
  # Populations are names, also where they are numbers.
  expect_identical(as_ratings(transform(tests, Population = rep(1:4, 2)))$covariates$Population,
    factor(rep(1:4, 2)))
})

test_that("lazy tables are judged by the names of their columns", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(con))
  DBI::dbWriteTable(con, "wide", data.frame(ID = seq_len(n), a, b))
  expect_identical(as_ratings(dplyr::tbl(con, "wide"))$raters, c("a", "b"))
  DBI::dbWriteTable(con, "epochs", data.frame(epoch = 1, a, b))
  expect_error(as_ratings(dplyr::tbl(con, "epochs")), class = "fallible_error_argument")
})

# ---- Columns with a value per rating: records in rating_roles ----------------------------------

# Long data with a column `value` that a role accepts. One rating has no value. If no candidate is
# accepted, add one for the new role.
data_with_role <- function(role) {
  candidates <- list(
    c(0.1, 0.3, 0.5, 0.7), c(TRUE, FALSE), 1:4, factor(1:4), factor(1:4, ordered = TRUE),
    as.Date("2025-01-01") + 1:4, as.POSIXct("2025-01-01", tz = "UTC") + 1:4, letters[1:4]
  )
  data <- expand.grid(case = 1:5, rater = c("ann", "bob", "cid"), stringsAsFactors = FALSE)
  data$rating <- c("x", "y", "x", "y", "y", "x", "y", "y", "y", "x", "x", "y", "x", "x", "y")
  for (values in candidates) {
    data$value <- replace(rep_len(values, 15L), 7L, NA)
    is_accepted <- tryCatch({
      rate_with_role(role, data)
      TRUE
    }, fallible_error = function(cnd) FALSE)
    if (is_accepted) return(data)
  }
  stop("No candidate is a valid column of `", role, "`")
}

# Calls ratings() with the column `value` as the argument `role`.
rate_with_role <- function(role, data, ..., column = "value") {
  rlang::inject(ratings(data, case = case, rater = rater, rating = rating, ...,
    rater_kind = "expert", !!!stats::setNames(list(column), role)))
}

# Values of the ratings in a table, named by case and rater.
values_of_role <- function(table, role) {
  stats::setNames(as.character(table[[role]]), paste0(table$case, table$rater))
}

expect_same_values <- function(object, expected) {
  expect_setequal(names(object), names(expected))
  expect_identical(object[names(expected)], expected)
}

for (role in names(rating_roles)) local({
  data <- data_with_role(role)
  x <- rate_with_role(role, data)
  values <- values_of_role(tidy(x), role)
  name <- function(text) paste0("a column of ", role, " ", text)

  test_that(name("is a field and a column of the table of ratings"), {
    expect_named(x[[role]], c("levels", "case", "rater", "code"), ignore.order = TRUE)
    expect_false(is.unsorted(x[[role]]$case * 10 + x[[role]]$rater))
    expect_identical(names(values)[is.na(values)], "2bob")
    expect_setequal(names(values), paste0(data$case, data$rater))
    groups <- split(values, data$value[match(names(values), paste0(data$case, data$rater))])
    expect_length(unique(unlist(lapply(groups, unique))), length(groups))
    # Names of fields are not completed.
    plain <- ratings(data, case = case, rater = rater, rating = rating, rater_kind = "expert")
    expect_setequal(setdiff(names(x), names(plain)), role)
    expect_identical(x$patterns, plain$patterns)
    expect_equal(coef(fit_raters(x)), coef(fit_raters(plain)))
  })

  test_that(name("goes with cases and raters"), {
    expect_same_values(values_of_role(tidy(x[c(4, 2), ]), role),
      values[paste0(rep(c(4, 2), each = 3), c("ann", "bob", "cid"))])
    expect_same_values(values_of_role(tidy(x[c(5, 2, 1), c("cid", "bob")]), role),
      values[paste0(rep(c(5, 2, 1), each = 2), c("bob", "cid"))])
    twice <- tidy(x[c(1, 1), ])[[role]]
    once <- unname(values[paste0(1, c("ann", "bob", "cid"))])
    expect_identical(as.character(twice), c(once, once))
    expect_equal(tidy(x[5:1, 3:1][5:1, 3:1]), tidy(x))
    # A combination of raters has no single value.
    groups <- rate_with_role(role, data, rater_groups = c(ann = "g", bob = "g"))
    expect_false(role %in% names(tidy(as_ratings(groups, votes = TRUE))))
  })

  test_that(name("survives tables and files"), {
    table <- as.data.frame(x)
    expect_identical(as.data.frame(rate_with_role(role, table, column = role)), table)
    parts <- rbind(as.data.frame(x[4:5, ]), as.data.frame(x[1:3, ]))
    joined <- tidy(rate_with_role(role, parts, column = role))
    expect_same_values(values_of_role(joined, role), values)
    for (bind in list(c, rbind, cbind)) {
      expect_error(bind(x, x), class = "fallible_error_argument")
    }
    file <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(data, file, row.names = FALSE)
    read <- rlang::inject(read_ratings(file, rater_kind = "expert",
      !!!stats::setNames(list("value"), role)))
    expect_same_values(values_of_role(tidy(read), role), values)
  })

  test_that(name("is a column per rater in wide data"), {
    wide <- stats::reshape(data, idvar = "case", timevar = "rater", direction = "wide")
    rate <- function(data, ..., columns = paste0("value.", c("ann", "bob", "cid"))) {
      argument <- stats::setNames(list(columns), role)
      rlang::inject(ratings(data, ..., rater_kind = "expert", !!!argument))
    }
    raters <- paste0("rating.", c("ann", "bob", "cid"))
    y <- rate(wide, case = case, raters = !!raters)
    expect_identical(tidy(y)[[role]], tidy(x)[[role]])
    error <- expect_error(rate(wide, raters = !!raters, columns = "value.ann"), role,
      class = "fallible_error_argument")
    expect_identical(error$arg, role)
    error <- expect_error(
      rate(data.frame(x = 2:1, y = 0:1, value = 1), counts = x:y, columns = "value"), role,
      class = "fallible_error_argument"
    )
    expect_identical(error$arg, role)
  })

  test_that(name("belongs to one rating of a rater, in each variable"), {
    for (repeats in c("ratings", "reruns", "labels")) {
      error <- expect_error(rate_with_role(role, data, repeats = repeats), role,
        class = "fallible_error_argument")
      expect_identical(error$arg, role)
    }
    names(data)[[1L]] <- role
    expect_error(rlang::inject(ratings(data, case = !!rlang::sym(role), rater = rater,
      rating = rating, covariates = !!rlang::sym(role))), class = "fallible_error_columns")
    names(data)[[1L]] <- "case"
    data[[role]] <- rep(1:5, 3)
    expect_error(rate_with_role(role, data, covariates = !!role), "reserved",
      class = "fallible_error_columns")
    data$topic <- data$tone <- data$rating
    several <- rlang::inject(ratings(data, case = case, rater = rater, rating = c(topic, tone),
      rater_kind = "expert", !!!stats::setNames(list(quote(list(topic = "value"))), role)))
    expect_same_values(values_of_role(tidy(several$topic), role), values)
    expect_false(role %in% names(tidy(several$tone)))
  })

  test_that(name("is kept by fits and refused where it would be lost"), {
    fit <- fit_raters(x)
    expect_same_values(values_of_role(tidy(fit$x), role), values)
    expect_false(role %in% names(tidy(simulate(fit, seed = 1)[[1L]]))) # not simulated
    y <- x[1:4, ]
    expect_identical(tidy(update(fit, x = y)$x)[[role]], tidy(y)[[role]])
    new <- data.frame(case = 1, rater = "dan", rating = "x")
    expect_error(update(fit, new = new), role, class = "fallible_error_argument")
    plain <- fit_raters(ratings(data, case = case, rater = rater, rating = rating,
      rater_kind = "expert"))
    expect_error(update(plain, new = x), role, class = "fallible_error_argument")
    systems <- quiet(rate_with_role(role, data, systems = "cid"))
    expect_same_values(values_of_role(tidy(systems), role), values[!grepl("cid", names(values))])
    refit <- make_refit_bounds(quiet(fit_raters(systems)), 1L, 1L) # the patterns become cases
    expect_no_error(refit(pattern_weights(systems)))
  })

  test_that(name("is not possible in a database"), {
    con <- sqlite()
    DBI::dbWriteTable(con, "answers", transform(data, value = 0.5))
    expect_error(rate_with_role(role, dplyr::tbl(con, "answers")), role,
      class = "fallible_error_database")
  })
})

# Code between the first pair of backticks after `name = `.
code_in <- function(message, name) {
  one_line <- gsub("\\s+", " ", message)
  regmatches(one_line, regexpr(paste0("(?<=`", name, " = )[^`]+"), one_line, perl = TRUE))
}

# Evaluates ratings() with the arguments `...`, and returns the text of its first error.
error_of <- function(...) {
  tryCatch(
    suppressMessages(suppressWarnings(ratings(...))),
    fallible_error = function(e) conditionMessage(e)
  )
}

typed <- data.frame(
  r1 = c(rep(c("negative", "positive"), 20), "positve", "n/a"),
  r2 = c(rep(c("negative", "positive"), 20), "negative", "Positive "),
  s = c(rep(c("negative", "positive"), 20), "negativ", "contaminated")
)

test_that("one line of code merges the misspelt labels of raters and systems", {
  text <- error_of(typed, raters = r1:r2, systems = s, na = c("n/a", "contaminated"))
  categories <- eval(str2lang(code_in(text, "categories")))
  expect_mapequal(
    setNames(names(categories), categories),
    c(negativ = "negative", positve = "positive")
  )
  x <- quiet(ratings(
    typed, raters = r1:r2, systems = s, na = c("n/a", "contaminated"), categories = categories,
    clean_labels = TRUE
  ))
  expect_identical(x$categories, c("negative", "positive"))
  # Without labels of systems that are no categories, a warning has the code.
  warned <- tryCatch(
    ratings(typed[1:41, ], raters = r1:r2), fallible_warning_labels = conditionMessage
  )
  expect_identical(eval(str2lang(code_in(warned, "categories"))), c(positive = "positve"))
})

test_that("an error lists all labels that are not declared, with code for them", {
  declared <- c("negative", "positive")
  text <- error_of(typed, raters = r1:r2, systems = s, categories = declared)
  for (label in c("positve", "n/a", "Positive ", "negativ", "contaminated"))
    expect_match(text, paste0('"', label, '" (1)'), fixed = TRUE)
  categories <- eval(str2lang(code_in(text, "categories")))
  expect_identical(unname(categories[1:2]), declared)
  expect_identical(categories[["negative"]], "negativ")
  missing <- eval(str2lang(code_in(text, "na")))
  expect_setequal(missing, c("n/a", "contaminated"))
  expect_match(text, "`abstain = c(", fixed = TRUE)
  x <- quiet(ratings(typed, raters = r1:r2, systems = s, categories = categories, na = missing))
  expect_identical(x$categories, declared)
  expect_identical(n_ratings(x), 83)
})

test_that("code for `na` contains the labels that the user gave", {
  text <- error_of(typed, raters = r1:r2, systems = s, na = "n/a", clean_labels = TRUE)
  expect_identical(eval(str2lang(code_in(text, "na"))), c("n/a", "contaminated"))
})

test_that("messages do not break lines within labels and strings of code", {
  withr::local_options(cli.width = 60)
  labels <- c("strongly agree", " disagree in part", "agree at last")
  data <- data.frame(r1 = rep(labels, 4), r2 = rep(labels, 4), s = "Strongly agree ")
  text <- error_of(data, raters = r1:r2, systems = s)
  expect_gt(length(strsplit(text, "\n")[[1L]]), 4L)
  for (label in c(labels, "Strongly agree "))
    expect_match(text, paste0('"', label, '"'), fixed = TRUE)
  withr::local_options(width = 40)
  shown <- capture.output(cat_lines(paste("some words, and then code:", dQuote(labels, FALSE))))
  for (label in labels) expect_true(any(grepl(paste0('"', label, '"'), shown, fixed = TRUE)))
})

test_that("known truth is cleaned like the labels of the ratings", {
  truth <- c("1" = "Negative", "2" = "POSITIVE ", "3" = "negative")
  data <- typed[1:41, c("r1", "r2")]
  expect_error(
    fit_raters(quiet(ratings(data[1:40, ], raters = r1:r2)), known_truth = truth),
    class = "fallible_error_category"
  )
  x <- quiet(ratings(data[1:40, ], raters = r1:r2, clean_labels = TRUE))
  expect_identical(check_known_truth(truth, x)[1:4], c(1L, 2L, 1L, 0L))
})

test_that("words for unreadable results look like missing ratings", {
  for (label in c("non-diagnostic", "Nondiagnostic", "indeterminate", "inconclusive"))
    expect_identical(missing_codes(c("no", "yes", label)), label)
})

test_that("numbers that do not belong to a scale look like missing ratings", {
  expect_codes <- function(labels, codes) {
    expect_identical(missing_codes(as.character(labels)), as.character(codes))
  }
  expect_codes(c(1:5, 99), 99)
  expect_codes(c(1:5, 88, 99), c(88, 99))
  expect_codes(c(1:5, 8, 9), c(8, 9))
  expect_codes(c(1:3, 77, 88, 99), c(77, 88, 99))
  expect_codes(c(1:5, 998, 999), c(998, 999))
  expect_codes(c(1:5, 33, 99), 99) # 33 is a typing error
  expect_codes(c(0, 1, -9, 97), c(-9, 97))
  expect_codes(c("no", "yes", 88, 99), c(88, 99))
  # Scales that contain such numbers
  for (labels in list(1:9, c(1:7, 9:10), 0:8, 7:9, 90:99, c(8, 9), c(10, 50, 99), c(1, 9),
    c("no", "yes", "8", "9"), c(-8:-1, -9))) expect_codes(labels, character())
})

test_that("numbers with a decimal comma are the same as numbers without one", {
  expect_identical(find_lookalikes(c("3,0", "3", "1,000", "1")), c("3,0", "3"))
  expect_length(find_lookalikes(c("1,10", "1,1", "1,2", "1,20")), 0L) # lists of codes
})

test_that("copies of rows are those that are equal in all columns", {
  long <- data.frame(
    case = c(1, 1, 2, 2, 1), rater = c("a", "b", "a", "b", "a"),
    rating = c("x", "y", "x", "y", "x"), run = 1:5
  )
  expect_no_match(error_of(long, case = case, rater = rater, rating = rating), "unique()")
  long$run <- 1
  expect_warning(
    ratings(long, case = case, rater = rater, rating = rating), "1 row identical to another row",
    class = "fallible_warning_left_out"
  )
  # Equal labels of raters with different confidences are not copies.
  long$sure <- c(1, 1, 1, 1, 0.5)
  expect_no_match(
    error_of(long, case = case, rater = rater, rating = rating, confidence = sure), "unique()"
  )
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(transform(long, run = 1:5), path, row.names = FALSE)
  text <- tryCatch(
    read_ratings(path, case = case, rater = rater, rating = rating),
    fallible_error_repeat = conditionMessage
  )
  expect_no_match(text, "unique()")
})

test_that("ratings of another variable do not identify cases", {
  long <- data.frame(
    case = rep(1:6, each = 2), rater = c("a", "b"), topic = c("x", "y"), tone = c("p", "q", "p")
  )
  long <- rbind(long, transform(long[1:4, ], tone = "q"))
  text <- error_of(long, case = case, rater = rater, rating = c(topic, tone))
  expect_match(text, "more than once")
  expect_no_match(text, "tone")
})

test_that("a table with a dimension for each of three raters becomes ratings", {
  counts <- table(
    ann = c("a", "b", "a", "a"), bob = c("a", "b", "b", "a"), eve = c("a", "b", "b", "a")
  )
  x <- ratings(counts)
  expect_identical(x$raters, c("ann", "bob", "eve"))
  expect_identical(sum(weights_of_cases(x)), 4)
  expect_equal(
    fleiss_kappa(x),
    fleiss_kappa(cbind(c("a", "b", "a", "a"), c("a", "b", "b", "a"), c("a", "b", "b", "a")))
  )
  expect_error(ratings(counts[, , 1:1, drop = FALSE]), class = "fallible_error_table")
})

test_that("the variable is named on a separate line of messages and warnings", {
  long <- data.frame(
    case = rep(1:6, each = 2), rater = c("a", "b"), topic = c("x", "X", "y"), tone = c("p", "q")
  )
  lines <- capture.output(type = "message", suppressWarnings(ratings(
    long, case = case, rater = rater, rating = c(topic, tone), na = "none", clean_labels = TRUE,
    rater_kind = "expert"
  )))
  expect_identical(sum(lines == "i This is about the variable \"topic\"."), 1L)
})

test_that("a list of variables gets the same hint in all functions", {
  x <- list(topic = ratings(typed[1:40, 1:2], raters = r1:r2))
  for (verb in list(ground_truth, fit_raters, disputed_cases, may_say, alt_test, crowdtruth))
    expect_error(verb(x), "x[[\"topic\"]]", fixed = TRUE)
  expect_error(plan_cases(x, half_width = 0.05), "x[[\"topic\"]]", fixed = TRUE)
  expect_error(plan_gold(x, half_width = 0.05), "x[[\"topic\"]]", fixed = TRUE)
})

test_that("the data check judges ordered ratings by an ordinal measure", {
  set.seed(1)
  grade <- rep(1:5, 20)
  near <- function() pmin(5, pmax(1, grade + sample(c(-1, 0, 1), 100, TRUE)))
  x <- quiet(ratings(data.frame(r1 = near(), r2 = near(), r3 = near()), raters = 1:3,
    ordered = TRUE, rater_kind = "expert"))
  alpha <- quiet(krippendorff_alpha(x, "ordinal"))
  expect_gt(alpha, 0.4)
  found <- as.data.frame(data_check(x))
  row <- found[found$check == "agreement", ]
  expect_match(row$found, paste("Krippendorff's ordinal alpha", format_decimals(alpha, 2L)))
  expect_identical(row$status, "ok")
})

test_that("pairs with few common gold cases are shown last", {
  pairs <- data.frame(
    rater1 = "a", rater2 = c("b", "c", "d"), estimate = c(1, 0.4, -1), known = c(3, 50, 40),
    conf.low = NA_real_, conf.high = NA_real_, expected = 1, coinciding = 1
  )
  shown <- pairs_to_print(pairs, TRUE, 0.9)
  expect_identical(as.data.frame(shown$table)$pair, c("a - d", "a - c", "a - b"))
})

test_that("all disputed cases can be listed", {
  x <- quiet(ratings(typed[1:40, 1:2], raters = r1:r2))
  expect_identical(disputed_cases(x, Inf), disputed_cases(x, 40))
})

test_that("errors after copies were left out name rows of the data", {
  d <- data.frame(
    case = c(1, 1, 1, 2, 2, 3, 3), rater = c("a", "a", "b", "a", "b", "a", "b"),
    rating = c("x", "x", "y", "x", "x", "y", "y"), w = 1
  )
  as_long <- function(d, ...) {
    suppressWarnings(ratings(d, case = case, rater = rater, rating = rating, ...))
  }
  expect_s3_class(as_long(d), "ratings")
  blank <- transform(d, rating = replace(rating, 4, ""))
  expect_error(as_long(blank), "row 4", class = "fallible_error_blank")
  expect_error(as_long(transform(d, w = replace(w, 4, -1)), weights = w), "Row 4")
  expect_error(as_long(transform(d, w = replace(w, 5, 2)), weights = w), "Rows 4 and 5")
  expect_error(as_long(transform(d, case = replace(case, 6, NA))), "first in row 6")
  # Copies of abstentions are copies, too.
  abstained <- transform(d, rating = replace(rating, 1:2, "?"))
  expect_identical(nrow(as_long(abstained, abstain = "?")), 3L)
})

test_that("a file with a copied row gives the warnings of the file without it", {
  d <- data.frame(
    case = c("k1", "k1", "k2", "k2", "k3", "k3", "K1", "K1", "k3"),
    rater = c("Bob", "ann", "Bob", "ann", "bob ", "ann", "Bob", "ann", "eve"),
    rating = c("x", "x", "y", "x", "y", "y", "x", "y", NA)
  )
  warnings_of <- function(d) {
    path <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(d, path, row.names = FALSE)
    w <- capture_warnings(suppressMessages(
      read_ratings(path, case = case, rater = rater, rating = rating, rater_kind = "expert")
    ))
    gsub("[\\s]+", " ", w, perl = TRUE)
  }
  without_copy <- warnings_of(d)
  with_copy <- warnings_of(rbind(d, d[1, ]))
  expect_gt(length(without_copy), 1L)
  expect_setequal(grep("identical", with_copy, invert = TRUE, value = TRUE), without_copy)
  expect_length(with_copy, length(without_copy) + 1L)
})

test_that("clean_labels is the first advice, and code merges only the labels that remain", {
  labels <- c(rep(c("mixed", "clear"), 20), "Mixed", "cleer")
  data <- data.frame(a = labels, b = rev(labels))
  cnd <- expect_warning(ratings(data, raters = a:b, rater_kind = "expert"),
    class = "fallible_warning_labels")
  expect_match(conditionMessage(cnd), paste0(
    "`clean_labels = TRUE` merges labels.*give `categories = c\\(\"clear\" = \"cleer\"\\)"
  ))
})

test_that("a label that `categories` with names declares is no code for a missing rating", {
  data <- data.frame(a = c("pos", "neg", "indeterminate"), b = c("pos", "neg", "neg"))
  read <- function(...) ratings(data, raters = a:b, rater_kind = "expert", ...)
  expect_warning(read(), "look like codes", class = "fallible_warning_labels")
  expect_no_warning(read(categories = c(pos = "pos", indeterminate = "indeterminate")))
})

test_that("a code that the user's `na` lacks gets a hint with the whole argument", {
  data <- data.frame(a = c("pos", "neg", "n/a", "blurred"), b = c("pos", "neg", "neg", "pos"))
  expect_warning(
    suppressMessages(ratings(data, raters = a:b, na = "blurred", rater_kind = "expert")),
    "give `na = c(\"blurred\", \"n/a\")`", fixed = TRUE, class = "fallible_warning_labels"
  )
})

test_that("clean_labels removes blanks at the ends of names of cases and raters", {
  long <- data.frame(
    id = c("p1", "p1 ", "p2", "p2"), who = c("Ben ", "ann", "Ben", "ann"), label = c("x", "y")
  )
  read <- function(...) {
    ratings(long, case = id, rater = who, rating = label, rater_kind = "expert", ...)
  }
  expect_message(x <- read(clean_labels = TRUE), "\"Ben \" is now \"Ben\"")
  expect_identical(dimnames(x), list(c("p1", "p2"), c("Ben", "ann")))
  long$who <- factor(long$who, c("ann", "Ben ", "Ben"))
  expect_identical(quiet(read(clean_labels = TRUE))$raters, c("ann", "Ben"))
  expect_identical(
    suppressWarnings(read())$raters, c("ann", "Ben ", "Ben")
  )
})

test_that("rows of a matrix are copies only if their row names are equal", {
  answers <- rbind(
    a = c("x", "y"), a = c("x", "y"), b = c("x", "y"), c = c("y", "x"), d = c("y", "x")
  )
  colnames(answers) <- c("r1", "r2")
  expect_warning(x <- ratings(answers), "1 row identical", class = "fallible_warning_left_out")
  expect_identical(x$cases, c("a", "b", "c", "d"))
  expect_warning(
    x <- ratings(answers[, "r1", drop = FALSE], rater_kind = "expert"), "1 row identical",
    class = "fallible_warning_left_out"
  )
  expect_identical(x$cases, c("a", "b", "c", "d"))
})

test_that("clean_labels removes blanks in each of several key columns, and in names of systems", {
  data <- data.frame(p = c("c1", "c2 ", "c3"), k = c(" u", "u", "u"), a = c("x", "y", "x"),
    b = c("x", "y", "y"))
  systems <- data.frame(case = c("c1/u", "c2/u", "c3/u"), system = c("S", "S ", "S"),
    prediction = c("x", "y", "x"))
  expect_message(
    x <- ratings(data, case = c(p, k), raters = a:b, systems = systems, clean_labels = TRUE,
      rater_kind = "expert"),
    "Blanks at the ends of names"
  )
  expect_identical(x$cases, c("c1/u", "c2/u", "c3/u"))
  expect_identical(x$systems, "S")
})

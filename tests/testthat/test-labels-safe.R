#' @srrstats {UL7.3} labels come through as they are
# Labels and names may be any text.

escape <- "\033[2J\033[31m"
steering <- "[\x01-\x08\x0b-\x1f\x7f]"

# Results of which every name and label has a sequence that clears the screen.
hostile_results <- function() {
  set.seed(1)
  n <- 60
  true <- sample(3, n, TRUE)
  say <- function(p) c("a", "b", "c")[ifelse(stats::runif(n) < p, true, sample(3, n, TRUE))]
  data <- data.frame(r1 = say(0.8), r2 = say(0.8), r3 = say(0.8), s1 = say(0.8), s2 = say(0.5))
  data[] <- lapply(data, function(label) paste0(label, escape))
  names(data) <- paste0(names(data), escape)
  x <- ratings(
    data, raters = 1:3, systems = 4:5,
    rater_groups = stats::setNames(c("g", "g", "h"), names(data)[1:3])
  )
  gold <- stats::setNames(paste0(c("a", "b", "c"), escape)[true], seq_len(n))
  fit <- fit_raters(x)
  joint <- estimate_accuracy(x, "joint", interval = "none", resampling = list(replicates = 20))
  crowd <- simulate_crowd(units = 20, workers = 16, spammers = c(random = 3, constant = 2))
  known <- kinds_by_worker(crowd) != "faithful"
  crowd$raters <- names(known) <- paste0(crowd$raters, escape)
  crowd$categories <- paste0(crowd$categories, escape)
  measured <- crowdtruth(crowd)
  list(
    x, crowd, fit, fit_raters(x, rater_model("rater", "free", prior = "weak")), ground_truth(fit),
    estimate_accuracy(x),
    estimate_accuracy(x, known_truth = gold[1:30], gold_sample = "random"),
    estimate_accuracy(
      x, "unbinned", interval = "none", by = rep(paste0(c("u", "v"), escape), 30)
    ),
    alt_test(x, min_cases = 10), data_check(x), accuracy_bounds(x, interval = "none"),
    shared_errors(x), shared_errors(x, gold), compare_systems(joint), confusion(joint),
    estimate_metrics(joint, c("accuracy", "f_meas")),
    check_k_properties(x, c("accuracy", "errors"), resampling = list(replicates = 59)), agreement(x),
    plan_gold(x, half_width = 0.15), measured, flag_workers(measured),
    flag_workers(measured, known = known),
    simulation_study(
      rater_design(c(0.7, 0.7), stats::setNames(0.8, escape), 2, 20), "unbinned", runs = 2
    )
  )
}

test_that("no label steers a terminal, in whatever is printed", {
  found <- quiet(hostile_results())
  leaks <- function(show) {
    vapply(found, function(x) {
      lines <- quiet(utils::capture.output(said <- show(x)))
      any(grepl(steering, c(lines, if (is.character(said)) said)))
    }, NA)
  }
  classes <- vapply(found, function(x) class(x)[[1L]], "")
  expect_identical(classes[leaks(print)], character())
  expect_identical(classes[leaks(function(x) print(summary(x)))], character())
  expect_identical(classes[leaks(format)], character())
})

test_that("messages show what would steer a terminal, with and without colours", {
  name <- paste0("a", escape, intToUtf8(0x9b), "2J", intToUtf8(0x202e), "{1 + 1}\r")
  shown <- "a<1b>[2J<1b>[31m<9b>2J<202e>{1 + 1}<0d>"
  for (colours in c(1L, 256L)) {
    withr::local_options(cli.num_colors = colours)
    said <- expect_error(abort_fallible("argument", c(
      "{name}", x = escape_braces(name), i = paste("It is", escape_braces(describe(name)))
    ), call = NULL))
    expect_false(grepl(steering, cli::ansi_strip(conditionMessage(said))))
    expect_match(conditionMessage(said), shown, fixed = TRUE)
    expect_warning(warn_fallible("labels", "{name}"), shown, fixed = TRUE)
    expect_message(inform_fallible("{name}"), shown, fixed = TRUE)
  }
})

test_that("cells that a spreadsheet would take for formulas begin with an apostrophe", {
  cells <- c(
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1", "-1", "+2.5e3", "a=b", NA
  )
  safe <- c(paste0("'", cells[1:7]), cells[8:11])
  expect_identical(escape_formulas(cells), safe)
  table <- data.frame(
    `=a` = cells, f = factor(cells, cells), n = -seq_along(cells), check.names = FALSE
  )
  found <- escape_for_spreadsheet(table, TRUE)
  expect_named(found, c("'=a", "f", "n"))
  expect_identical(found[[1L]], safe)
  expect_identical(as.character(found$f), safe)
  expect_identical(found$n, table$n)
  answers <- cbind(a = c("=1", "b", "=1"), b = c("=1", "b", "b"), `=s` = "b")
  x <- ratings(answers, raters = 1:2, systems = 3)
  written <- unlist(as.data.frame(
    quiet(estimate_accuracy(x, interval = "none")), spreadsheet = TRUE
  ))
  expect_false(any(startsWith(written, "="), na.rm = TRUE))
  expect_true("'=1" %in% as.data.frame(x, spreadsheet = TRUE)$rating)
  expect_identical(as.data.frame(x, what = "systems", spreadsheet = TRUE)$system, rep("'=s", 3))
  expect_error(as.data.frame(x, spreadsheet = 1), class = "fallible_error_argument")
})

test_that("numbers that are equal are one label, whatever door they come in by", {
  zeros <- c(0, -0, 1, -0, 0, 1)
  both <- c("0", "1")
  categories <- function(...) ratings(...)$categories
  wide <- data.frame(a = zeros, b = rev(zeros), s = zeros, t = -zeros * 0)
  long <- data.frame(case = rep(1:3, 2), rater = rep(c("a", "b"), each = 3), rating = zeros)
  expect_identical(categories(wide, raters = a:b), both)
  expect_identical(categories(as.matrix(wide), raters = a:b), both)
  expect_identical(categories(long, case = case, rater = rater, rating = rating), both)
  expect_identical(categories(wide, raters = a:b, systems = s:t), both)
  expect_identical(categories(wide, raters = a:b, truth = t), both)
  expect_identical(categories(wide, raters = a:b, categories = c(-0, 1)), both)
  expect_identical(categories(data.frame(a = factor(zeros), b = zeros), raters = a:b), both)
  expect_error(
    ratings(wide, raters = a:b, categories = c(-0, 0, 1)), class = "fallible_error_argument"
  )
  lists <- data.frame(
    case = c(1, 1, 2, 2), rater = c("a", "b"), rating = I(list(-0, 0, c(0, 1), 1))
  )
  expect_identical(
    categories(lists, case = case, rater = rater, rating = rating, repeats = "labels"), both
  )
  x <- ratings(wide, raters = a:b, systems = s)
  predictions <- data.frame(case = 1:3, system = "s", prediction = c(-0, 0, 1))
  y <- ratings(long, case = case, rater = rater, rating = rating, systems = predictions)
  expect_identical(y$categories, both)
  gold <- data.frame(case = 1:3, truth = c(-0, 0, 1))
  expect_identical(shared_errors(x, gold)$counts$known, 3)
  expect_identical(truth(with_truth(x, gold))$category[1:3], factor(c("0", "0", "1"), both))
  ids <- data.frame(case = c(-0, 0, 1, 1), rater = c(-0, 1, 0, 1), rating = c("u", "v"))
  z <- ratings(ids, case = case, rater = rater, rating = rating)
  expect_identical(dim(z), c(2L, 2L))
  expect_identical(z$raters, both)
})

test_that("texts that are the same number are told, and so are letters in two forms", {
  expect_warning(ratings(cbind(a = c("1", "2"), b = c("1.0", "2"))), "\"1\" and \"1.0\"",
    class = "fallible_warning_labels")
  zeros <- cbind(a = c("-0", "2"), b = c("0", "2"))
  expect_warning(ratings(zeros), class = "fallible_warning_labels")
  skip_if_not_installed("utf8")
  composed <- "caf\u00e9"
  decomposed <- "cafe\u0301"
  warning <- expect_warning(
    ratings(cbind(a = c(composed, "b"), b = c(decomposed, "b"))),
    class = "fallible_warning_labels"
  )
  expect_setequal(warning$labels, c(composed, decomposed))
  expect_identical(find_lookalikes(c("\u304c", "\u304b\u3099", "\u304b")), c("\u304c", "\u304b\u3099"))
  expect_silent(ratings(cbind(a = c(composed, "cafe"), b = c(composed, "cafe"))))
})

test_that("an infinite number is no category", {
  refused <- function(code, topic) expect_error(code, class = paste0("fallible_error_", topic))
  wide <- data.frame(a = c(1, Inf), b = c(1, 2), c = c(2, 1), s = c(1, -Inf))
  refused(ratings(wide, raters = a:b), "columns")
  refused(ratings(as.matrix(wide), raters = 1:2), "columns")
  refused(ratings(wide, raters = b:c, systems = s), "columns")
  refused(ratings(wide, raters = b:c, truth = s), "columns")
  refused(ratings(wide, raters = b:c, categories = c(1, 2, Inf)), "argument")
  fit <- quiet(fit_raters(ratings(wide, raters = b:c)))
  new <- data.frame(case = 3, rater = "b", rating = Inf)
  refused(update(fit, new = new), "columns")
})

test_that("strings that are no text are refused wherever they come in", {
  bad <- "g\xff"
  refused <- function(code) {
    error <- expect_error(code, class = "fallible_error_encoding")
    expect_match(conditionMessage(error), "g<ff>", fixed = TRUE)
  }
  good <- data.frame(
    case = c("x", "x", "y", "y"), rater = c("a", "b"), rating = c("u", "v", "u", "u")
  )
  long <- function(...) ratings(..., case = case, rater = rater, rating = rating)
  put <- function(column) {
    good[[column]][[4L]] <- bad
    good
  }
  for (column in names(good)) refused(long(put(column)))
  factors <- good
  factors$rating <- factor(factors$rating, c("u", "v", bad))
  refused(long(factors))
  wide <- data.frame(a = c("u", "v"), b = c("u", "u"), c = c("u", bad))
  refused(ratings(wide, raters = b:c))
  refused(ratings(wide, raters = a:b, systems = c))
  refused(ratings(wide, raters = a:b, truth = c))
  refused(ratings(wide, raters = a:b, case = c))
  refused(ratings(wide, raters = a:b, categories = c("u", "v", bad)))
  refused(ratings(as.matrix(wide)))
  refused(ratings(stats::setNames(wide, c("a", "b", bad)), raters = a:b))
  refused(ratings(matrix(c("u", "v", "u", "v"), 2, dimnames = list(c("x", bad), NULL))))
  refused(ratings(stats::setNames(data.frame(1:2, 2:1), c("a", bad)), counts = 1:2))
  refused(as_ratings(as.table(matrix(1:4, 2, dimnames = rep(list(c("u", bad)), 2)))))
  refused(long(good, systems = bad))
  table <- data.frame(case = c("x", "y"), system = "s", prediction = c("u", bad))
  refused(long(good, systems = table))
  refused(long(good, rater_groups = c(a = "g", b = bad)))
  x <- long(good)
  refused(with_truth(x, c(x = "u", y = bad)))
  refused(shared_errors(x, stats::setNames(c("u", "v"), c("x", bad))))
  refused(fit_raters(x, known_truth = data.frame(case = "x", truth = bad)))
  fit <- quiet(fit_raters(x))
  refused(update(fit, new = put("rating")))
  latin <- iconv("caf\u00e9", "UTF-8", "latin1")
  x <- ratings(cbind(a = c(latin, "u"), b = c("u", "u")))
  expect_identical(x$categories, c("caf\u00e9", "u"))
})

test_that("ratings are not bound to lists of what is in them", {
  x <- lehner_ratings()
  labels <- simulate_crowd(units = 5)
  for (bind in list(c, rbind, cbind)) {
    expect_error(bind(x, x), class = "fallible_error_argument")
    expect_error(bind(labels, labels), class = "fallible_error_argument")
  }
  expect_snapshot(error = TRUE, rbind(x, x))
})

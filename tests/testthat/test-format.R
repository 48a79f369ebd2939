# Makes a locale the session's until the test ends, or skips the test. Where the system does not
# have it, it is compiled, if its sources are there.
local_session_locale <- function(name, frame = parent.frame()) {
  before <- c(LC_CTYPE = Sys.getlocale("LC_CTYPE"), LC_COLLATE = Sys.getlocale("LC_COLLATE"))
  withr::defer(for (of in names(before)) Sys.setlocale(of, before[[of]]), envir = frame)
  has <- function() {
    suppressWarnings(
      nzchar(Sys.setlocale("LC_CTYPE", name)) && nzchar(Sys.setlocale("LC_COLLATE", name))
    )
  }
  if (!has() && nzchar(Sys.which("localedef"))) {
    folder <- withr::local_tempdir(.local_envir = frame)
    language <- sub("[.].*", "", name)
    system2(
      "localedef", c("-i", language, "-f", "UTF-8", shQuote(file.path(folder, name))),
      stdout = FALSE, stderr = FALSE
    )
    withr::local_envvar(LOCPATH = folder, .local_envir = frame)
  }
  skip_if_not(has(), paste("locale", name))
}

test_that("capitals are folded in all locales as they are in one", {
  labels <- c(
    "INVALID", "invalid", "Invalid", "\u0130nvalid", "\u00c9T\u00c9", "\u00e9t\u00e9",
    "\u0416\u0418", "\u0436\u0438", "\u0131", NA
  )
  folded <- c(
    "invalid", "invalid", "invalid", "invalid", "\u00e9t\u00e9", "\u00e9t\u00e9", "\u0436\u0438",
    "\u0436\u0438", "\u0131", NA
  )
  skip_if_not_installed("utf8")
  expect_identical(fold_case(labels), folded)
  expect_identical(fold_case(NULL), character())
  withr::local_locale(LC_CTYPE = "C")
  expect_identical(fold_case(labels), folded)
})

test_that("labels, groups and raters are the same in a Turkish session", {
  set.seed(1)
  labels <- c("INVALID", "VALID", "invalid", "valid", "IIII", "iiii")
  data <- data.frame(
    case = 1:90, R1 = sample(labels, 90, TRUE), R2 = sample(labels, 90, TRUE),
    R3 = sample(labels, 90, TRUE), s = sample(labels, 90, TRUE)
  )
  site <- rep(c("Xa", "i", "I", "\u00dc", "\u00e7", "z"), 15)
  names(site) <- data$case
  file <- withr::local_tempfile(fileext = ".CSV")
  utils::write.csv(data, file, row.names = FALSE)
  folder <- withr::local_tempdir()
  for (name in c("i.JSONI", "B.CSV", "a.csv", "I.CSV")) file.copy(file, file.path(folder, name))
  look <- function() {
    x <- quiet(read_ratings(file, raters = R1:R3, systems = s, case = case, clean_labels = TRUE))
    plain <- catch_warnings(ratings(data, raters = R1:R3, systems = s, case = case))
    twice <- quiet(read_ratings(file, raters = R1:R3, case = case, clean_labels = TRUE))
    set.seed(1)
    by <- quiet(estimate_accuracy(
      x, "binned", interval = "bootstrap", by = site, resampling = list(replicates = 20)
    ))
    more <- quiet(ratings( # a warning names the raters I and i
      data.frame(case = "new", rater = c("I", "i", "\u00e7"), rating = c("I", "\u00e7", "z")),
      case = case, rater = rater, rating = rating
    ))
    grown <- quiet(update(fit_raters(twice), new = as.data.frame(more)))$x
    list(
      x$categories, agreement(x)$estimate, tidy(by), grown$categories, grown$raters,
      vapply(plain$warnings, conditionMessage, ""), format(data_check(x)),
      tryCatch(read_ratings(folder), error = conditionMessage),
      tryCatch(agreement(x, "FLEISS_KAPP"), error = conditionMessage), capitalised("intervals")
    )
  }
  expected <- look()
  expect_length(expected[[1]], 3)
  for (name in c("tr_TR.UTF-8", "et_EE.UTF-8")) {
    found <- local({
      local_session_locale(name)
      look()
    })
    expect_identical(found, expected)
  }
})

test_that("notes of parts that differ only in percentages are merged", {
  notes <- list(p = c("5% of x", "other"), q = "11% of x", r = c("7% to 9.5% of x", "other"))
  expect_identical(merge_part_notes(notes), c("5% to 11% of x", "p, r: other"))
  expect_identical(merge_part_notes(list(p = "2% and 10%", q = NULL, r = "3% and 10%")),
    "p, r: 2% to 3% and 10%")
  # Only the first percentage of a text may differ.
  expect_length(merge_part_notes(list(p = "2% and 10%", q = "2% and 9%")), 2L)
  expect_identical(merge_part_notes(list(p = NULL, q = NULL)), character())
  expect_identical(merge_part_notes(list("5% of x")), "5% of x")
})

test_that("labels with outer blanks are quoted in lists", {
  expect_identical(words_with_labels("rare:", c("a", " b ", "c d")), "rare: a, \" b \", c d")
  expect_null(words_with_labels("rare:", character()))
  expect_identical(words_with_labels("rare:", factor(c("z", "b"))), "rare: z, b")
})

test_that("percentages near 0 and 100 are not rounded to these", {
  shares <- c(-0.004, 0, 0.004, 0.21, 0.996, 1, 1 - 1e-15, -0.0001, NA)
  expect_identical(format_points(shares), c("-0.4", "0", "0.4", "21", "99.6", "100", "100", "0.0",
    "NA"))
})

test_that("notes of most parts are not repeated for the parts that differ", {
  usual <- "Range: no bounds. Assumed: typical errors (%s%% of the range)."
  notes <- list(
    a = c(sprintf(usual, 1), "Interval (robust): both"),
    b = c(sprintf(usual, 5), "Interval (robust): both"),
    c = c("Range: no bounds. Assumed: independent errors.", "Interval (robust): both")
  )
  expect_identical(merge_part_notes(notes), c(
    "Range: no bounds. Assumed: typical errors (1% to 5% of the range).",
    "Interval (robust): both", "c: Assumed: independent errors."
  ))
  # Without a majority, and if a part has no such note, each note has its names.
  expect_identical(merge_part_notes(list(a = "x: 1", b = "x: 2")), c("a: x: 1", "b: x: 2"))
  expect_identical(
    merge_part_notes(list(a = "x: y", b = "x: y", c = NULL, d = "x: z")),
    c("a, b: x: y", "d: x: z")
  )
})

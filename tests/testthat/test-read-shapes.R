# Files in files/real-shape have the shape of real exports; their contents are invented. The shape
# includes the order of fields, missing fields at the end of rows, nulls, NaN, byte order marks,
# blank rows, and nested and empty lists. table.csv gives the expected result of each call.
shapes <- utils::read.csv(
  test_path("files", "real-shape", "table.csv"), colClasses = "character", na.strings = character()
)

read_shape <- function(file, call) {
  args <- if (nzchar(call)) paste(",", call)
  notes <- character()
  x <- withCallingHandlers(
    eval(parse(text = sprintf("read_ratings(test_path('files', 'real-shape', '%s')%s)", file,
      paste(args, collapse = "")))),
    fallible_warning_left_out = function(w) {
      notes <<- c(notes, conditionMessage(w))
      invokeRestart("muffleWarning")
    },
    message = function(m) invokeRestart("muffleMessage")
  )
  list(x = x, notes = paste(notes, collapse = "\n"))
}

test_that("files with the shape of real exports are read", {
  skip_if_not_installed("jsonlite")
  skip_if_not_installed("readxl")
  for (at in seq_len(nrow(shapes))) {
    row <- shapes[at, ]
    read <- read_shape(row$file, row$call)
    x <- read$x
    found <- list(
      cases = length(x$cases), raters = paste(x$raters, collapse = "|"),
      ratings = nrow(as.data.frame(x)), labels = paste(x$categories, collapse = "|"),
      kinds = paste(x$rater_kind, collapse = "|")
    )
    expect_identical(lapply(found, as.character), as.list(row[names(found)]), info = row$file)
    expect_match(read$notes, row$note, info = row$file)
    if (row$note == "") expect_identical(read$notes, "", info = row$file)
  }
})

test_that("every format has a file with the shape of real exports", {
  skip_if_not_installed("jsonlite")
  files <- test_path("files", "real-shape", shapes$file)
  files <- c(files[!dir.exists(files)], list.files(files[dir.exists(files)], full.names = TRUE))
  words <- vapply(files, function(file) {
    find_format(open_input(file, list(scratch = withr::local_tempdir())), NULL)$words
  }, "")
  known <- vapply(file_formats(), `[[`, "", "words")
  # JSON-MIN and its CSV are one format.
  expect_setequal(unique(words), known)
})

test_that("samples of different logs are different cases, unless a key says that they are one", {
  skip_if_not_installed("jsonlite")
  x <- read_shape("inspect", "")$x
  expect_identical(anyDuplicated(tidy(x)$case), 0L)
  expect_length(unique(x$covariates$sample), 10L)
  expect_identical(x$rater_kind, c(match = "tool", model_graded_qa = "model"))
  # The same samples, scored again by another scorer.
  file <- test_path("files", "real-shape", "inspect", "tone.json")
  again <- withr::local_tempfile(fileext = ".json", lines = gsub(
    "model_graded_qa", "model_graded_fact", readLines(file, warn = FALSE), fixed = TRUE
  ))
  x <- quiet(read_ratings(c(file, again)))
  expect_identical(dim(x), c(5L, 2L))
  expect_identical(tidy(agreement(x))$n[[1L]], 4)
  # By the same scorer: a rerun.
  expect_error(quiet(read_ratings(c(file, again = file))), "reruns", class = "fallible_error_repeat")
  # Without a field that distinguishes tasks.
  bare <- function(name) {
    path <- file.path(withr::local_tempdir(.local_envir = parent.frame()), name)
    lines <- gsub("\"(uuid|task|eval_id)\": \"[^\"]*\"", "\"\\1\": null", readLines(file, warn = FALSE))
    writeLines(gsub("NaN,", "\"P\",", lines), path)
    path
  }
  files <- c(bare("one.json"), bare("two.json"))
  expect_error(quiet(read_ratings(files)), "one.json.*two.json.*c\\(file, result\\).*same_cases",
    class = "fallible_error_repeat")
  expect_length(quiet(read_ratings(files, case = c(file, result)))$cases, 10L)
})

test_that("providers of promptfoo with the same identifier are named by their labels", {
  skip_if_not_installed("jsonlite")
  result <- function(test, provider) sprintf(
    '{"testIdx": %d, "promptIdx": 0, "provider": %s, "gradingResult": {"componentResults": [
      {"pass": true, "assertion": {"type": "llm-rubric"}},
      {"pass": false, "assertion": {"type": "equals"}}]}}', test, provider
  )
  read <- function(providers) {
    results <- toString(unlist(lapply(0:1, result, providers)))
    path <- withr::local_tempfile(fileext = ".json", lines =
      sprintf('{"evalId": "e", "results": {"results": [%s]}}', results))
    quiet(read_ratings(path))$cases
  }
  provider <- sprintf('{"id": "gpt", "label": "%s"}', c("cold", "", "hot"))
  expect_identical(read(provider),
    paste0(c("gpt cold", "gpt", "gpt hot"), rep(c("/0/0", "/1/0"), each = 3)))
  expect_identical(read(c(provider[[1L]], '{"id": "other", "label": "cold"}', '"third"')),
    paste0(c("gpt", "other", "third"), rep(c("/0/0", "/1/0"), each = 3)))
})

test_that("samples of several epochs are dependent cases", {
  skip_if_not_installed("jsonlite")
  file <- test_path("files", "real-shape", "inspect-epochs.json")
  expect_message(
    expect_message(x <- read_ratings(file), "cluster = "), "language models .*programs"
  )
  expect_identical(x$covariates$sample, rep(c("a", "b", "c"), each = 2L))
})

test_that("known answers of crowds are kept as truth", {
  x <- read_shape("appen-full.csv", "rating = tone")$x
  expect_identical(as.character(truth(x)$category), c(NA, NA, "pos"))
  # Known answers that are no categories are left out with a warning, and the others are used.
  folder <- withr::local_tempdir()
  save <- function(gold, name = "one.tsv", worker = 1:2) {
    path <- file.path(folder, name)
    writeLines(c(
      "OUTPUT:label\tGOLDEN:label\tASSIGNMENT:task_id\tASSIGNMENT:worker_id\tASSIGNMENT:status",
      sprintf("%s\t%s\tt%d\tw%d\tAPPROVED", c("cat", "cat", "dog", "dog", "cat", "dog"),
        rep(gold, each = 2), rep(1:3, each = 2), worker)
    ), path)
    path
  }
  expect_truth <- function(path, expected, unused = NULL, ...) {
    told <- NULL
    x <- withCallingHandlers(suppressMessages(read_ratings(path, ...)),
      fallible_warning_left_out = function(w) {
        told <<- conditionMessage(w)
        invokeRestart("muffleWarning")
      })
    expect_identical(if (!is.null(x$truth)) as.character(truth(x)$category), expected)
    if (is.null(unused)) expect_null(told) else
      for (label in unused) expect_match(told, dQuote(label, FALSE), fixed = TRUE)
  }
  file <- save(c("cat", "Dog", "bird"))
  expect_truth(file, c("cat", NA, NA), c("Dog", "bird"))
  expect_truth(file, c("cat", "dog", NA), "bird", clean_labels = TRUE)
  expect_truth(file, c("cat", NA, "bird"), "Dog", categories = c("bird", "cat", "dog"))
  expect_truth(file, c("cat", "hound", "bird"),
    categories = c("bird", "cat", hound = "dog", hound = "Dog"))
  expect_truth(file, NULL, truth = NULL)
  expect_truth(save(c("cat|dog", "Dog", "bird")), NULL, c("cat|dog", "Dog", "bird"))
  expect_truth(save(c("dog", "", "-")), c("dog", NA, NA), na = c("", "-"))
  # The first of two files has no known answers.
  files <- c(a = save(c("", "", "")), b = save(c("", "dog", ""), name = "two.tsv", worker = 3:4))
  expect_truth(files, c(NA, "dog", NA))
  x <- suppressWarnings(read_ratings(file, repeats = "labels"))
  expect_null(x$truth)
})

test_that("known answers to several questions are truths of several variables", {
  path <- withr::local_tempfile(fileext = ".tsv", lines = c(
    paste0(c("OUTPUT:a", "GOLDEN:a", "OUTPUT:b", "GOLDEN:b", "ASSIGNMENT:task_id",
      "ASSIGNMENT:worker_id", "ASSIGNMENT:status"), collapse = "\t"),
    sprintf("%s\t%s\t%s\t%s\tt%d\tw%d\tAPPROVED", c("x", "x", "y", "x"),
      rep(c("x", ""), each = 2), c("p", "q", "p", "p"), rep(c("", "p"), each = 2),
      rep(1:2, each = 2), 1:2)
  ))
  x <- quiet(read_ratings(path, rating = c(`OUTPUT:a`, `OUTPUT:b`)))
  expect_identical(lapply(unname(x), function(x) as.character(truth(x)$category)),
    list(c("x", NA), c(NA, "p")))
})

test_that("Excel sheets are read by range, and what readxl does not report is a warning", {
  skip_if_not_installed("readxl")
  file <- test_path("files", "real-shape", "title.xlsx")
  for (table in list(list(skip = 1), list(range = "A3:C7"))) {
    x <- quiet(read_ratings(file, case = item, raters = ann:bob, file = table))
    expect_identical(dim(x), c(3L, 2L))
  }
  notes <- read_shape("formulas.xlsx", "case = item, raters = ann:bob")$notes
  for (words in c("Dates in \"ann\"", "hidden in Excel", "Formulas .*C2")) expect_match(notes, words)
  notes <- read_shape("formulas.xlsx", "case = item, raters = ann:bob, file = list(sheet = 2)")$notes
  expect_no_match(notes, "Dates|hidden|Formulas")
})

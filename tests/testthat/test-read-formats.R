# The files are made by hand after the schemas that the tools document. In all of them ann says
# PNPN, bob PNNN, cid PPPN and the model, if there is a model, PNPP.
tool_file <- function(name) test_path("files", name)

said <- function(x) {
  table <- as.data.frame(x)
  letters <- toupper(substr(as.character(table$rating), 1, 1))
  order <- order(match(table$case, x$cases))
  said <- vapply(split(letters[order], table$rater[order])[x$raters], paste, "", collapse = "")
  unname(said)
}

expect_panel <- function(x, raters, cases, said_by = c("PNPN", "PNNN", "PPPN")) {
  expect_identical(x$raters, raters)
  expect_identical(x$cases, cases)
  expect_identical(said(x), said_by)
}

expect_model <- function(x) {
  expect_identical(x$systems, "model")
  expect_identical(as.character(tidy(x, "systems")$prediction), c("positive", "negative",
    "positive", "positive"))
}

people <- c("ann", "bob", "cid")

test_that("tables are read, long and wide, with names of columns as symbols or strings", {
  x <- read_ratings(
    tool_file("long.csv"), case = item, rater = "who", rating = verdict, systems = "model"
  )
  expect_panel(x, people, as.character(1:4))
  expect_model(x)
  y <- read_ratings(tool_file("wide.tsv"), case = id, raters = ann:cid, systems = model)
  expect_identical(tidy(y), tidy(x))
  expect_model(y)
  all <- read_ratings(
    tool_file("long.csv"), case = item, rater = who, rating = verdict, file = list(sep = ";")
  )
  expect_identical(all$raters, c(people, "model"))
})

test_that("Excel files are read, a sheet of them", {
  skip_if_not_installed("readxl")
  expect_warning(
    x <- read_ratings(tool_file("wide.xlsx"), case = id, raters = ann:cid, systems = "model"),
    "only the first, \"ratings\"", class = "fallible_warning_left_out"
  )
  expect_panel(x, people, as.character(1:4))
  expect_model(x)
  sheet <- function(sheet) {
    read_ratings(tool_file("wide.xlsx"), raters = 2:4, file = list(sheet = sheet))
  }
  expect_no_warning(sheet("ratings"))
  expect_error(sheet(2), class = "fallible_error_file")
  expect_error(sheet("x"), class = "fallible_error_file")
  # A column may be missing because it is in another sheet.
  expect_error(read_ratings(tool_file("wide.xlsx"), case = "Text ID"), "Of [0-9]+ sheets",
    class = "fallible_error_file")
  expect_error(read_ratings(tool_file("wide.xlsx"), case = "Text ID", raters = ann:cid),
    "Of [0-9]+ sheets", class = "fallible_error_columns")
})

test_that("Label Studio is read, its predictions being systems", {
  skip_if_not_installed("jsonlite")
  expect_warning(
    expect_warning(
      x <- read_ratings(tool_file("label-studio.json")), "1 annotation that an annotator cancelled"
    ), NA
  )
  expect_panel(
    x, c("3", "ann@example.org", "bob@example.org"), as.character(11:14), c("PPPN", "PNPN", "PNNN")
  )
  expect_model(x)
  expect_warning(
    y <- read_ratings(tool_file("label-studio.json"), case = data.doc, systems = FALSE), "parts"
  )
  expect_identical(y$cases, paste0("d", 1:4))
  expect_length(y$systems, 0L)
  expect_identical(said(y), said(x))
  x <- read_ratings(tool_file("label-studio-min.json"), rating = sentiment)
  expect_panel(x, as.character(1:3), as.character(11:14))
  expect_error(
    read_ratings(tool_file("label-studio-min.json")), "The column may be",
    class = "fallible_error_file"
  )
  x <- read_ratings(tool_file("label-studio-min.json"), rating = sentiment, systems = "3")
  expect_identical(x$systems, "3")
})

test_that("Label Studio is read whatever the control, the same in JSON and JSON-MIN", {
  skip_if_not_installed("jsonlite")
  value <- list(
    choices = c('{"choices": ["P"]}', '{"choices": ["N"]}'),
    rating = c('{"rating": 4, "original_width": 9}', '{"rating": 5, "original_width": 9}'),
    number = c('{"number": 4}', '{"number": 5}'),
    taxonomy = c('{"taxonomy": [["a", "b"]]}', '{"taxonomy": [["a", "c"]]}'),
    pairwise = c('{"selected": "left"}', '{"selected": "right"}')
  )
  label <- list(
    choices = c("P", "N"), rating = c("4", "5"), number = c("4", "5"),
    taxonomy = c("a / b", "a / c"), pairwise = c("left", "right")
  )
  for (type in names(value)) {
    given <- value[[type]]
    result <- sprintf(
      '{"id": %d, "data": {"t": "x"}, "annotations": [
        {"completed_by": 1, "result": [{"from_name": "q", "type": "%s", "value": %s}]},
        {"completed_by": {"id": 2, "email": "b@c"}, "result": [
          {"from_name": "q", "type": "%s", "value": %s}]}]}',
      1:2, type, given[[1L]], type, given[[2L]]
    )
    short <- if (type == "choices") c('"P"', '"N"') else sprintf("[%s]", given)
    flat <- sprintf(
      '{"t": "x", "id": %d, "q": %s, "annotator": %s, "annotation_id": %d, "agreement": 0}',
      c(1L, 1L, 2L, 2L), rep(short, 2L), rep(c("1", '"b@c"'), 2L), 1:4
    )
    json <- withr::local_tempfile(fileext = ".json", lines = sprintf("[%s]", toString(result)))
    min <- withr::local_tempfile(fileext = ".json", lines = sprintf("[%s]", toString(flat)))
    x <- read_ratings(json)
    expect_identical(x$raters, c("1", "b@c"))
    table <- as.data.frame(x)
    for (at in 1:2) {
      given <- as.character(table$rating[table$rater == x$raters[[at]]])
      expect_identical(given, rep(label[[type]][[at]], 2L))
    }
    expect_identical(as.data.frame(read_ratings(min, rating = q)), table)
  }
})

test_that("Label Studio is read without predictions, and whatever data a task has", {
  skip_if_not_installed("jsonlite")
  task <- function(id, data, labels) {
    answers <- sprintf(
      '{"completed_by": %d, "result": [{"from_name": "mood", "type": "choices",
        "value": {"choices": ["%s"]}}]}', seq_along(labels), labels
    )
    sprintf('{"id": %d, "data": %s, "annotations": [%s]}', id, data, toString(answers))
  }
  file <- withr::local_tempfile(fileext = ".json", lines = sprintf(
    "[%s, %s]", task(1L, "{}", c("P", "N")), task(2L, '{"words": ["a", "b"]}', c("N", "N"))
  ))
  for (systems in c(TRUE, FALSE)) {
    x <- read_ratings(file, systems = systems)
    expect_panel(x, c("1", "2"), c("1", "2"), c("PN", "NN"))
    expect_length(x$systems, 0L)
  }
})

test_that("Prodigy is read, choices and single labels", {
  skip_if_not_installed("jsonlite")
  expect_warning(
    x <- read_ratings(tool_file("prodigy.jsonl")), "1 answer without", class =
      "fallible_warning_left_out"
  )
  expect_panel(
    x, paste0("hotel-", people), as.character(1000:1003), c("PNPN", "PNNN", "PPP")
  )
  x <- suppressWarnings(read_ratings(tool_file("prodigy.jsonl"), systems = "hotel-cid"))
  expect_identical(x$systems, "hotel-cid")
  x <- read_ratings(tool_file("prodigy-binary.jsonl"))
  expect_panel(
    x, paste0("hotel-", people), as.character(-(2000:2003)), c("RARA", "RAAA", "RRRA")
  )
})

test_that("sessions of Prodigy without names are no annotators, their files are", {
  skip_if_not_installed("jsonlite")
  folder <- withr::local_tempdir()
  line <- function(case, label, time) {
    sprintf('{"_input_hash": %d, "_task_hash": %d, "options": [{"id": 0, "text": "a"}],
      "accept": [%d], "answer": "accept", "_annotator_id": "2024-04-23_%s-00-48",
      "_session_id": "2024-04-23_%s-00-48"}', case, case, label, time, time)
  }
  one_line <- function(text) gsub("\n *", " ", text)
  writeLines(one_line(line(1:2, c(0L, 1L), c("14", "16"))), file.path(folder, "ann.jsonl"))
  writeLines(one_line(line(1:2, c(0L, 0L), "15")), file.path(folder, "bob.jsonl"))
  expect_warning(x <- read_ratings(folder), "one annotator, \"bob\"", class =
    "fallible_warning_left_out")
  expect_panel(x, c("ann", "bob"), c("1", "2"), c("01", "00"))
})

test_that("Doccano is read, a file for each annotator or with their numbers", {
  skip_if_not_installed("jsonlite")
  x <- read_ratings(tool_file("doccano"))
  expect_panel(x, people, as.character(1:4))
  files <- stats::setNames(list.files(tool_file("doccano"), full.names = TRUE), c("x", "y", "z"))
  expect_panel(read_ratings(files), c("x", "y", "z"), as.character(1:4))
  expect_identical(read_ratings(files[1])$raters, "x")
  x <- read_ratings(tool_file("doccano-users.jsonl"))
  expect_panel(x, as.character(1:3), as.character(1:4), c("1212", "1222", "1112"))
  lines <- readLines(tool_file("doccano-users.jsonl"))
  whole <- withr::local_tempfile(fileext = ".json", lines = sprintf("[%s]", toString(lines)))
  expect_identical(as.data.frame(read_ratings(whole)), as.data.frame(x))
  json <- function(labels) {
    withr::local_tempfile(fileext = ".json", .local_envir = parent.frame(2), lines = sprintf(
      "[%s]", toString(sprintf('{"id": %d, "text": "t", "label": ["%s"], "Comments": []}', 1:2,
        labels))
    ))
  }
  files <- c(ann = json(c("P", "N")), bob = json(c("P", "P")))
  expect_panel(read_ratings(files), c("ann", "bob"), c("1", "2"), c("PN", "PP"))
  for (file in files) writeLines(gsub("label", "labels", readLines(file), fixed = TRUE), file)
  expect_panel(read_ratings(files), c("ann", "bob"), c("1", "2"), c("PN", "PP"))
  preview <- withr::local_tempfile(
    fileext = ".jsonl", lines = '{"text": "a", "label": ["P"]}'
  )
  expect_error(
    read_ratings(preview), "column that contains the case", class = "fallible_error_file"
  )
  spans <- withr::local_tempfile(
    fileext = ".jsonl", lines = '{"id": 1, "text": "a", "label": [[0, 3, "ORG"]]}'
  )
  expect_error(read_ratings(spans), "labels of parts", class = "fallible_error_file")
})

test_that("batches of Mechanical Turk are read, without what was rejected", {
  expect_warning(
    x <- read_ratings(tool_file("mturk.csv")), "1 assignment with the status \"Rejected\"",
    class = "fallible_warning_left_out"
  )
  expect_panel(x, paste0("W", people), paste0("H", 1:4), c("PNPN", "PNNN", "PPN"))
  skip_if_not_installed("jsonlite")
  x <- read_ratings(tool_file("mturk-form.csv"), rating = Answer.sentiment)
  expect_panel(x, paste0("W", people), paste0("H", 1:4))
  expect_error(
    read_ratings(tool_file("mturk-form.csv")), "\"Answer.sentiment\" or \"Answer.sure\"",
    class = "fallible_error_file"
  )
})

test_that("logs of judges are read", {
  skip_if_not_installed("jsonlite")
  for (file in c("inspect.json", "inspect.eval")) {
    expect_warning(
      x <- read_ratings(tool_file(file)), "1 sample without scores",
      class = "fallible_warning_left_out"
    )
    expect_panel(
      x, paste0("judge-", people), paste0("openai/gpt-4o/", 1:4, "/1"), c("CICI", "CIII", "CCCI")
    )
  }
  for (file in c("promptfoo.json", "promptfoo.jsonl")) {
    expect_warning(
      x <- read_ratings(tool_file(file)), "1 result without", class = "fallible_warning_left_out"
    )
    expect_panel(
      x, c("llm-rubric openai:bob", "llm-rubric openai:cid", "polite"),
      paste0("anthropic:claude/", 0:3, "/0"), c("PFFF", "PPPF", "PFPF")
    )
  }
})

test_that("a run of Inspect that was broken off is read, and sets of assertions are no raters", {
  skip_if_not_installed("jsonlite")
  skip_if(!nzchar(Sys.which("zip")), "no zip")
  folder <- withr::local_tempdir()
  utils::unzip(tool_file("inspect.eval"), exdir = folder)
  unlink(file.path(folder, "header.json"))
  path <- file.path(folder, "log.eval")
  withr::with_dir(folder, utils::zip(path, c("_journal", "samples"), flags = "-qr"))
  x <- suppressWarnings(read_ratings(path))
  expect_identical(tidy(x), tidy(suppressWarnings(read_ratings(tool_file("inspect.eval")))))
  set <- '{"pass": false, "assertion": null, "componentResults": [{"pass": true}]}, '
  result <- sprintf('{"testIdx": %d, "gradingResult": {"componentResults": [
    %s{"pass": true, "assertion": {"metric": "a"}},
    {"pass": %s, "assertion": {"metric": "b"}}]}}', 0:1, set, c("true", "false"))
  path <- withr::local_tempfile(fileext = ".jsonl", lines = gsub("\n *", " ", result))
  expect_panel(read_ratings(path), c("a", "b"), c("0", "1"), c("PP", "PF"))
})

test_that("a verdict that is not there is a missing rating, and a field stands once", {
  skip_if_not_installed("jsonlite")
  result <- function(test, passes) {
    each <- sprintf('{%s"score": 1, "assertion": {"metric": "%s"}}', passes, c("a", "b", "c"))
    sprintf('{"testIdx": %d, "gradingResult": {"componentResults": [%s]}}', test, toString(each))
  }
  path <- withr::local_tempfile(fileext = ".jsonl", lines = c(
    result(0L, c('"pass": true, ', '"pass": false, ', '"pass": null, ')),
    result(1L, c('"pass": true, ', "", '"pass": false, '))
  ))
  x <- tidy(read_ratings(path))
  expect_identical(as.character(x$rating), c("pass", "fail", "pass", "fail"))
  expect_identical(as.character(x$rater), c("a", "b", "a", "c"))
  path <- withr::local_tempfile(fileext = ".json", lines =
    '[{"case": 1, "rater": "a", "rating": "x"},
      {"case": 1, "rater": "b", "rating": "x", "rating": "y"}]')
  expect_error(read_ratings(path), "field twice in record 2.*\"rating\"",
    class = "fallible_error_file")
})

test_that("records of JSON are read with any names", {
  skip_if_not_installed("jsonlite")
  for (file in c("verdicts.jsonl", "verdicts.json")) {
    x <- read_ratings(
      tool_file(file), case = item.id, rater = judge.name, rating = verdict.label,
      systems = "model"
    )
    expect_panel(x, people, as.character(1:4))
    expect_model(x)
  }
  expect_error(read_ratings(tool_file("verdicts.jsonl")), class = "fallible_error_file")
})

test_that("a format that is named is taken, and one that does not fit refused", {
  skip_if_not_installed("jsonlite")
  expect_error(read_ratings(tool_file("long.csv"), format = "word"), "must be one of",
    class = "fallible_error_argument")
  for (format in c("inspect", "label_studio", "promptfoo", "jsonl", "excel")) {
    expect_error(
      suppressWarnings(read_ratings(tool_file("long.csv"), format = format)),
      class = "fallible_error", label = format
    )
  }
  x <- read_ratings(
    tool_file("prodigy-binary.jsonl"), format = "jsonl", case = text, rater = "_session_id",
    rating = answer
  )
  expect_identical(x$cases[[1L]], "Great stay")
})

test_that("files that do not fit their format are refused, whatever is in them", {
  skip_if_not_installed("jsonlite")
  file <- function(..., as = ".jsonl") {
    withr::local_tempfile(lines = c(...), fileext = as, .local_envir = parent.frame())
  }
  refused <- function(path, words, ...) {
    expect_error(read_ratings(path, ...), words, class = "fallible_error_file")
  }
  path <- file("1", "2")
  refused(path, "must contain a JSON object with named fields in each line.*Line 1 is")
  path <- file("{}", "{}")
  refused(path, "must contain a JSON object with named fields in each line.*Line 1 is")
  path <- file('[{"id": 1, "data": 3, "annotations": "none"}]', as = ".json")
  refused(path, "cannot be read as an export of Label Studio")
  path <- file('[1, {"a": 2}]', as = ".json")
  for (format in c("label_studio", "label_studio_min", "inspect", "promptfoo")) {
    refused(path, "", format = format)
  }
  prodigy <- c(
    '{"_task_hash": 1, "answer": null%s}', '{"_task_hash": 1, "answer": "accept"%s}',
    '{"_task_hash": 2, "answer": "reject"%s}'
  )
  path <- file(sprintf(prodigy, sprintf(', "_session_id": "%s"', c("a", "b", "a"))))
  expect_identical(read_ratings(path)$categories, c("accept", "reject"))
  expect_identical(nrow(tidy(read_ratings(path))), 2L)
  path <- file(sprintf(prodigy, ""))
  refused(path, "name of the column that contains the rater")
})

test_that("every tool's file is known by looking at it", {
  skip_if_not_installed("jsonlite")
  kinds <- c(
    "long.csv" = "csv", "wide.tsv" = "csv", "wide.xlsx" = "excel",
    "label-studio.json" = "label_studio", "label-studio-min.json" = "label_studio_min",
    "prodigy.jsonl" = "prodigy", "prodigy-binary.jsonl" = "prodigy",
    "doccano/ann.jsonl" = "doccano", "doccano-users.jsonl" = "doccano", "mturk.csv" = "mturk",
    "mturk-form.csv" = "mturk", "inspect.json" = "inspect", "inspect.eval" = "inspect",
    "promptfoo.json" = "promptfoo", "promptfoo.jsonl" = "promptfoo", "verdicts.jsonl" = "jsonl",
    "verdicts.json" = "json", "real-shape/deepeval-latest.json" = "deepeval",
    "real-shape/openai-evals.jsonl" = "openai_evals",
    "real-shape/samples_quiz_2025-05-01T10-00-00.000001.jsonl" = "lm_eval",
    "real-shape/argilla-v1.json" = "argilla", "real-shape/argilla-flat.jsonl" = "argilla",
    "real-shape/appen-full.csv" = "appen", "real-shape/toloka.tsv" = "toloka",
    "real-shape/label-studio.csv" = "label_studio_min"
  )
  for (file in names(kinds)) {
    input <- open_input(tool_file(file), list(scratch = withr::local_tempdir()))
    expect_identical(
      find_format(input, NULL)$words, file_formats()[[kinds[[file]]]]$words, label = file
    )
  }
  expect_setequal(kinds, names(file_formats()))
})

test_that("what is in no known format is named, with what would read it", {
  folder <- withr::local_tempdir()
  expect_unknown <- function(bytes, words) {
    path <- file.path(folder, "data")
    writeBin(if (is.character(bytes)) charToRaw(bytes) else bytes, path)
    expect_error(read_ratings(path), words, class = "fallible_error_file")
  }
  expect_unknown("PAR1....", "Parquet file")
  expect_unknown("SQLite format 3", "SQLite database")
  expect_unknown("%PDF-1.7", "PDF")
  expect_unknown("PK\003\004....", "zip archive")
  expect_unknown("$FL2@(#)", "read_sav")
  expect_unknown("<html><body>", "HTML or XML")
  expect_unknown("just some words\nand more", "text that begins \"just some")
  expect_unknown(as.raw(c(1:9, 0, 9)), "zero bytes")
  expect_unknown("", "is empty")
  expect_unknown(" \n\n \r\n", "is empty")
  expect_unknown("\xef\xbb\xbf", "is empty")
  path <- file.path(folder, "x.rds")
  saveRDS(1:3, path)
  expect_error(read_ratings(path), "R object", class = "fallible_error_file")
  skip_if_not_installed("jsonlite")
  expect_unknown('{"a": 1, "b": {"c": 2}}', '"a", "b"')
  expect_unknown("[1, 2, 3]", "JSON without objects")
  expect_unknown('{"a": 1, "b"', "not valid JSON")
})

test_that("judges of logs are taken for language models, unless somebody says who they are", {
  for (file in c("inspect.json", "promptfoo.json")) {
    expect_message(
      x <- suppressWarnings(read_ratings(tool_file(file))), "read as language models"
    )
    expect_identical(x$rater_kind, "model")
    expect_no_message(
      y <- suppressWarnings(read_ratings(tool_file(file), rater_kind = "tool"))
    )
    expect_identical(y$rater_kind, "tool")
  }
  expect_null(suppressWarnings(read_ratings(tool_file("label-studio.json")))$rater_kind)
})

# Formats of files: a record for each, and which of them a file has.

# A record is a list. words: what the format is, in messages; kinds: of the inputs (see
# open_input()) that may have it; sniff: does one of these look like it; read: a function of an
# input that gives table (a list of columns of text), map (the columns that the format itself knows:
# case, rater, rating; and systems, raters who are systems), choices (columns that may be the
# rating) and notes (what was left out); tabular: may systems stand in a table beside; judges: are
# raters the judges of an evaluation, which are machines.
new_format <- function(words, kinds, sniff, read, tabular = FALSE, judges = FALSE) {
  as.list(environment())
}

# The first that a file looks like is taken, so that special ones stand before general ones.
file_formats <- function() {
  has <- function(...) function(input) all(c(...) %in% names(input$record))
  always <- function(input) TRUE
  list(
    excel = new_format("an Excel file", c("ole", "zip"), is_excel, read_excel),
    inspect = new_format("a log of Inspect (JSON or .eval)", c("json", "zip"), function(input) {
      if (input$kind == "json") has("eval", "samples")(input) else has_log(input)
    }, read_inspect, judges = TRUE),
    promptfoo = new_format("results of promptfoo (JSON or JSONL)", c("json", "jsonl"),
      function(input) {
        has("gradingResult", "testIdx")(input) ||
          "results" %in% names(as.list(input$record)$results)
      }, read_promptfoo, judges = TRUE),
    label_studio = new_format("an export of Label Studio (JSON)", "json", function(input) {
      has("data", "annotations")(input) || has("data", "completions")(input)
    }, read_label_studio),
    label_studio_min = new_format("an export of Label Studio (JSON-MIN)", "json",
      has("annotator", "annotation_id"), read_label_studio_min),
    prodigy = new_format("annotations of Prodigy (JSONL)", "jsonl", has("_task_hash", "answer"),
      read_prodigy),
    doccano = new_format("an export of Doccano (JSONL or JSON)", c("jsonl", "json"), is_doccano,
      read_doccano),
    jsonl = new_format("records of JSON, one per line (JSONL)", "jsonl", always,
      function(input) with_map(read_json_lines(input, input$keep))),
    json = new_format("an array of records (JSON)", "json", function(input) {
      is.null(names(input$document)) && length(names(input$record)) > 1L
    }, read_json_array),
    mturk = new_format("a batch of Amazon Mechanical Turk (CSV)", "text", function(input) {
      all(c("HITId", "WorkerId") %in% input$header)
    }, read_mturk),
    csv = new_format("a table of text (CSV, TSV)", "text", function(input) {
      length(input$header) > 1L
    }, function(input) with_map(read_csv(input)), tabular = TRUE)
  )
}

# A table whose names of columns tell what they are: those of tables of this package.
with_map <- function(table, ...) {
  columns <- list(case = "case", rater = "rater", rating = "rating")
  list(table = table, map = if (all(columns %in% names(table))) columns, ...)
}

find_format <- function(input, id) {
  formats <- file_formats()
  if (!is.null(id)) return(formats[[check_choice(id, names(formats), "format")]])
  Find(function(format) input$kind %in% format$kinds && isTRUE(format$sniff(input)), formats) %||%
    abort_format(input)
}

abort_format <- function(input) {
  fields <- if (input$kind == "json") names(input$record)
  looks <- signature_of(input) %||% if (input$kind == "other") {
    "not text: it holds zero bytes"
  } else if (input$kind == "json") {
    if (is.null(fields)) "JSON without objects" else
      paste("JSON with the fields", shorten(dQuote(fields, FALSE)))
  } else if (startsWith(input$first[[1L]], "<")) {
    "HTML or XML"
  } else {
    paste0("text that begins \"", shorten_text(input$first[[1L]]), "\"")
  }
  abort_file(input$path, "is in no format that `read_ratings()` knows.",
    "x" = paste0("It looks like ", looks, "."),
    "i" = "Read it yourself, and give the data frame to `ratings()`; see `?read_ratings` for
           formats.")
}

left_out <- function(out, noun, which) {
  if (any(out)) paste0("Left out: ", count_noun(sum(out), noun), " ", which, ".")
}

# Formats of files: a record for each, and which of them a file has.

# A format is a list. id: its name; words: what it is, in messages; sniff: does an input (see
# open_input()) look like it; read: a function of an input and of `keep`, which chooses among names
# of columns before large files are read, that gives table (a list of columns of text), map (the
# columns that the format itself knows: case, rater, rating; and systems, raters who are systems),
# choices (columns that may be the rating) and notes (what was left out); tabular: may systems stand
# in a table beside; judges: are raters the judges of an evaluation, which are machines.
new_format <- function(id, words, sniff, read, tabular = FALSE, judges = FALSE) {
  list(id = id, words = words, sniff = sniff, read = read, tabular = tabular, judges = judges)
}

# The first that a file looks like is taken, so that special ones stand before general ones.
file_formats <- function() {
  formats <- list(
    format_excel(), format_inspect(), format_promptfoo(), format_label_studio(),
    format_label_studio_min(), format_prodigy(), format_doccano(), format_jsonl(), format_json(),
    format_mturk(), format_csv()
  )
  stats::setNames(formats, vapply(formats, `[[`, "", "id"))
}

find_format <- function(input, id) {
  formats <- file_formats()
  if (!is.null(id)) {
    id <- check_choice(id, names(formats), "format")
    return(formats[[id]])
  }
  Find(function(format) isTRUE(format$sniff(input)), formats) %||% abort_format(input)
}

abort_format <- function(input) {
  signature <- signature_of(input)
  advice <- signature$advice %||%
    "Read it yourself, and give the data frame to `ratings()`; see `?read_ratings` for formats."
  abort_file(input$path, "is in no format that `read_ratings()` knows.",
    "x" = paste0("It looks like ", looks_like(input, signature), "."), "i" = advice)
}

looks_like <- function(input, signature) {
  if (!is.null(signature)) return(signature$words)
  if (input$kind == "other") return("not text: it holds zero bytes")
  if (input$kind == "json") {
    fields <- names(input$record)
    return(if (is.null(fields)) {
      "JSON without objects"
    } else {
      paste0("JSON with the fields ", shorten(dQuote(fields, FALSE)))
    })
  }
  line <- input$first[[1L]]
  if (startsWith(line, "<")) {
    "HTML or XML"
  } else {
    paste0("text that begins \"", shorten_text(line), "\"")
  }
}

left_out <- function(n, noun, which) paste0("Left out: ", count_noun(n, noun), " ", which, ".")

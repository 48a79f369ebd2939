# Opens a file: unpacks it, and finds its kind from its first bytes. Afterwards the reader of a
# format reads it.

# Opens a file. Returns an environment, the `input` of readers:
# * path: path of the file.
# * name: name of the file without folder and extension.
# * extension: in lower case.
# * plain_path: path of the uncompressed file (text in UTF-8 or, for CSV, in `encoding`).
# * kind: "text", "json", "jsonl", "zip", "ole" (old Office files) or "other" (binary).
# * first: the first two lines of a text that are not blank.
# * header: names of the columns of a table.
# * document, record: for JSON, the parsed file and its first object.
# * entries: files of a zip archive.
# * limits: see file_limits().
# * n_json_cells: number of JSON cells that were read so far (see check_json_cells()).
# * labels: may an answer have several labels?
# * notes: see add_note().
# * failed: see new_format().
# * sep, sheet, range, skip, encoding, keep: from `settings`.
#
# `settings` is a list:
# * sep, skip, sheet, range, encoding: see the argument `file` of read_ratings().
# * keep: function that selects the names of columns to read.
# * labels: see above.
# * limits: limits that replace the usual ones.
# * scratch: folder for unpacked files.
open_input <- function(path, settings) {
  abort_if(!is_string(path) || !file_test("-f", path), "file",
    "There is no file {describe(path)}.", path = path)
  stem <- sub("[.]gz$", "", basename(path))
  input <- env(
    path = path, name = sub("[.][^.]*$", "", stem), extension = fold_case(tools::file_ext(stem)),
    sep = settings$sep, sheet = settings$sheet, range = settings$range, skip = settings$skip %||% 0,
    encoding = settings$encoding %||% "UTF-8", keep = settings$keep %||% identity,
    limits = settings$limits %||% file_limits(), n_json_cells = 0, notes = NULL,
    labels = isTRUE(settings$labels)
  )
  input$plain_path <- unpack_and_decode(input, settings$scratch)
  binary_description <- find_signature(input) %||% ""
  input$kind <- if (nzchar(binary_description) ||
    as.raw(0L) %in% readBin(input$plain_path, "raw", 65536L)) {
    switch(binary_description, "a zip archive" = "zip", "an old Office file" = "ole", "other")
  } else {
    kind_of_text(input)
  }
  env_bind_lazy(input,
    header = csv_header(input), entries = zip_entries(input),
    document = {
      check_limit(file.size(input$plain_path) / 1e6, "megabytes", input)
      parse_json(sub("^\ufeff", "", read_text(input$plain_path)), input)
    },
    record = if (input$kind == "jsonl") parse_json(input$first[[1L]], input, 1L) else
      json_records(input)[1L][[1L]]
  )
  input
}

# Adds notes on rows that a reader dropped or changed. A warning of read_ratings() lists them.
add_note <- function(input, ...) input$notes <- c(input$notes, ...)

# Does a file begin with the bytes `hex`, such as "1f 8b"? `hex` may be a vector.
begins_with <- function(path, hex) startsWith(paste(readBin(path, "raw", 8L), collapse = " "), hex)

# Unpacks a gzip file, and converts UTF-16 (detected by its first bytes) to UTF-8. Returns the path
# of the new file. For other files, returns the original path.
unpack_and_decode <- function(input, scratch) {
  path <- input$path
  if (begins_with(path, "1f 8b")) path <- unpack_gzip(input, scratch)
  if (!any(begins_with(path, c("ff fe", "fe ff")))) return(path)
  utf8_bytes <- iconv(list(file_bytes(path)), "UTF-16", "UTF-8", toRaw = TRUE)[[1L]]
  abort_file_if(is.null(utf8_bytes), input, "begins like text in UTF-16, but is not valid UTF-16.")
  decoded_path <- tempfile(tmpdir = scratch)
  writeBin(utf8_bytes, decoded_path)
  decoded_path
}

# Fails with an error about a file. `message` begins with a verb, because the path of the file
# precedes it.
# * file: an input, or a list with `path`.
# * topic: a further topic for the class of the error.
abort_file <- function(file, message, ..., topic = NULL, .envir = parent.frame()) {
  path <- file$path
  abort_fallible(c(topic, "file"), paste("{.file {path}}", message), ..., path = path,
    .envir = env(.envir, path = path))
}

abort_file_if <- function(wrong, ...) {
  if (is_wrong(wrong)) abort_file(..., .envir = parent.frame())
}

# ---- Kinds of files -------------------------------------------------------------------------

# Descriptions of binary files, with the first bytes of the files as names. A description may
# contain an R function that reads such a file.
file_signatures <- c(
  "50 4b 03 04" = "a zip archive", "d0 cf 11 e0" = "an old Office file",
  "50 41 52 31" = "a Parquet file (`arrow::read_parquet()`)",
  "41 52 52 4f 57 31" = "an Arrow file (`arrow::read_feather()`)",
  "53 51 4c 69 74 65" = "an SQLite database (`DBI::dbReadTable()`)",
  "24 46 4c 32" = "an SPSS file (`haven::read_sav()`)",
  "3c 73 74 61 74 61" = "a Stata file (`haven::read_dta()`)",
  "58 0a 00" = "an R object (`readRDS()`)", "52 44 58" = "an R workspace (`load()`)",
  "25 50 44 46" = "a PDF document", "42 5a 68" = "a file compressed by bzip2",
  "fd 37 7a 58 5a" = "a file compressed by xz"
)

# Returns the description of a binary file from its first bytes; NULL if they are unknown.
find_signature <- function(input) {
  matches_signature <- begins_with(input$plain_path, names(file_signatures))
  if (any(matches_signature)) file_signatures[matches_signature]
}

# Reads the first lines of a text into `input$first`, and returns the kind of the text. Fails if the
# text contains zero bytes, or too many lines, columns or cells. Lines may end in "\n", in "\r" or
# in both.
kind_of_text <- function(input) {
  byte_counts <- count_bytes(file(input$plain_path, "rb"))
  abort_file_if(byte_counts[[1L]] > 0, input,
    "is not a text file: some of its bytes have the value 0. Save it as text in UTF-8.")
  n_lines <- max(byte_counts[utf8ToInt("\n\r") + 1L]) + 1
  check_cells(1, n_lines, input)
  input$first <- first_two_lines(input$plain_path, input$skip)
  abort_file_if(is_empty(input$first), input, "is empty.")
  first_line <- input$first[[1L]]
  first_line_matches <- function(pattern) grepl(pattern, first_line, useBytes = TRUE)
  if (input$extension %in% c("jsonl", "ndjson")) return("jsonl")
  if (first_line_matches("^[[{]") && !input$extension %in% c("csv", "tsv")) return(
    if (length(input$first) == 2L && first_line_matches("^[{].*[}]$")) "jsonl" else "json"
  )
  # A line of n bytes counts as at least n / 1000 columns, because long column names slow down
  # parsing.
  first_bytes <- charToRaw(first_line)
  separator_bytes <- utf8ToInt(paste(c(separators, input$sep), collapse = ""))
  # The count is NA if the code point of a separator is above 255. Such separators are ignored.
  separator_counts <- count_bytes(rawConnection(first_bytes))[separator_bytes + 1L]
  check_cells(max(separator_counts + 1, length(first_bytes) / 1000, na.rm = TRUE), n_lines, input)
  "text"
}

# Returns the first two lines that are not blank, without a byte order mark. The first `skip` lines
# are ignored. Reads 1000 lines at a time, because a file may begin with many blank lines.
first_two_lines <- function(path, skip) {
  connection <- file(path, "r")
  on.exit(close(connection))
  readLines(connection, skip, warn = FALSE)
  first_lines <- character()
  while (length(first_lines) < 2L &&
    length(lines <- readLines(connection, 1000L, warn = FALSE)) > 0L) {
    nonblank_lines <- grep("[^ \t\r]", lines, useBytes = TRUE)
    # Three lines are checked, because the first may contain only the byte order mark.
    first_lines <- c(first_lines, Filter(nzchar, trim_bytes(lines[head(nonblank_lines, 3L)])))
  }
  head(first_lines, 2L)
}

# Drops the byte order mark, and blanks at both ends.
trim_bytes <- function(x) gsub("^(\xef\xbb\xbf)?[ \t\r]*|[ \t\r]+$", "", x, useBytes = TRUE)

# ---- JSON -----------------------------------------------------------------------------------

read_text <- function(path) {
  paste(readLines(path, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
}

parse_json <- function(text, input, line = NULL) {
  check_json_cells(text, input)
  tryCatch(parse_json_text(text), error = function(cnd) {
    # The first two lines of an error message of jsonlite contain the fault and its position. The
    # message contains parts of the file, which may not be valid UTF-8.
    message <- iconv(conditionMessage(cnd), "UTF-8", "UTF-8", sub = "byte")
    lines <- trimws(strsplit(message, "\n", fixed = TRUE)[[1L]]) # nolint: object_usage.
    abort_file(input, paste0("is not valid JSON", if (!is.null(line)) " in line {line}", "."),
      x = "{paste(printable(head(lines[nzchar(lines)], 2L)), collapse = ' ')}")
  })
}

# Parses JSON text. Two kinds of values are first replaced in the text, except inside strings:
# * Whole numbers of 19 or more digits become strings, because jsonlite would round them.
# * NaN, Infinity and -Infinity, which Python writes but JSON does not allow, become null.
parse_json_text <- function(text) {
  replacements <- c(
    "(?<![0-9.eE+-])(-?[0-9]{19,})(?![0-9.eE])" = "\"\\1\"",
    "(?<![\\w+.-])(?:NaN|-?Infinity)(?!\\w)" = "null"
  )
  pattern_occurs <- map_lgl(names(replacements), grepl, text, perl = TRUE, useBytes = TRUE)
  string_pattern <- "\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"(*SKIP)(*FAIL)|"
  if (validUTF8(text)) for (pattern in names(replacements)[pattern_occurs])
    text <- gsub(paste0(string_pattern, pattern), replacements[[pattern]], text, perl = TRUE)
  parsed_json <- jsonlite::parse_json(text, bigint_as_char = TRUE)
  # JSON has no infinite numbers. Therefore an infinite value was too large for R.
  if (grepl("[0-9][eE][+]?[0-9]{3}", text, useBytes = TRUE) &&
    any(rapply(list(parsed_json), is.infinite, "numeric"))) stop("a number is too large")
  parsed_json
}

# Reads the records of a JSONL file as one table of text. Reads `lines_at_once` lines at a time.
# `keep`: function that selects the names of columns to keep.
read_json_lines <- function(input, keep = identity, lines_at_once = 20000L) {
  connection <- file(input$plain_path, "r")
  on.exit(close(connection))
  read_batch <- function() readLines(connection, lines_at_once, warn = FALSE, encoding = "UTF-8")
  tables <- list()
  n_lines <- n_records <- 0L
  while (length(lines <- read_batch()) > 0L) {
    if (n_lines == 0L) lines[[1L]] <- sub("^\ufeff", "", lines[[1L]])
    records <- parse_lines(lines, n_lines, input)
    tables <- c(tables, list(record_table(records, input, keep)))
    n_lines <- n_lines + length(lines)
    n_records <- n_records + length(records)
  }
  table <- bind_tables(tables)
  check_nested_fields(names(table), input)
  abort_file_if(!is_empty(table) && length(table[[1L]]) < n_records, input,
    "contains records with none of the columns that you selected.",
    i = "Check the column names in the arguments, such as `case` and `rating`.")
  table
}

# Parses lines of JSONL. Returns a list of records with their line numbers as names. If parsing all
# lines together fails, lines are parsed one by one to find the faulty line. `lines_before`: number
# of lines that were read before.
parse_lines <- function(lines, lines_before, input) {
  nonblank_lines <- grep("[^ \t\r]", lines, useBytes = TRUE)
  text <- paste0("[", paste(lines[nonblank_lines], collapse = ","), "]")
  check_json_cells(text, input)
  records <- or_null(parse_json_text(text))
  are_all_objects <- length(records) == length(nonblank_lines) &&
    all(lengths(lapply(records, names)) > 0L)
  if (!are_all_objects) for (i in nonblank_lines) {
    json_value <- parse_json(lines[[i]], input, lines_before + i)
    abort_file_if(is_empty(names(json_value)), input,
      "must contain a JSON object with named fields in each line.",
      x = "Line {lines_before + i} is {shorten_text(lines[[i]])}.")
  }
  setNames(records, lines_before + nonblank_lines)
}

is_json_object <- function(value) is.list(value) && has_names(value)

# Fails if a record has a field twice, because one value would be lost.
# * fields: names of the fields of each record.
# * record_numbers: numbers of the records, for the message.
#
# For speed, only distinct sets of names are checked.
check_repeated_fields <- function(fields, input, record_numbers = seq_along(fields)) {
  fields_with_repeats <- Find(anyDuplicated, unique(fields))
  abort_file_if(fields_with_repeats, input,
    "has a field twice in record {record_numbers[[match(list(fields_with_repeats), fields)]]}.",
    x = "It is \"{repeated_values(fields_with_repeats)[[1L]]}\".")
}

# Fails if a field is an object in one record and a value in another, because one of them would be
# lost. `fields`: names of columns; a field of an object has the name `object.field`.
check_nested_fields <- function(fields, input) {
  parent_fields <- lapply(strsplit(as.character(fields), ".", fixed = TRUE), function(parts) {
    Reduce(function(a, b) paste(a, b, sep = "."), head(parts, -1L), accumulate = TRUE)
  })
  conflicting_fields <- intersect(fields, unlist(parent_fields))
  abort_file_if(conflicting_fields, input,
    "has a field that is an object in one record and a value in another.",
    x = "It is \"{conflicting_fields[[1L]]}\".",
    i = "Use the same type in all records, or give columns of other fields only.")
}

shorten_text <- function(x) {
  x <- printable(x)
  if (nchar(x) > 60L) paste0(substr(x, 1L, 57L), "...") else x
}

# ---- Tables of text -------------------------------------------------------------------------

# Converts the values of a field (a list with an element per record) to a column of text. The column
# is a character vector, or a list of character vectors if records have several values. Numbers and
# logicals are converted to labels before unlist(), which would change them. An empty list is an
# answer without labels, if answers may have several labels.
as_text <- function(values, input) {
  is_list_or_vector <- map_lgl(values, is.list) | lengths(values) > 1L
  label_lists <- rapply(lapply(values[is_list_or_vector], as.list), as_label,
    c("logical", "integer", "numeric"), how = "replace")
  values[is_list_or_vector] <- lapply(label_lists, function(value) {
    if (!all(lengths(value) == 1L)) value else
      if (!is_empty(value) || input$labels) as.character(unlist(value))
  })
  if (any(map_lgl(values, is.list))) return(values)
  value_modes <- map_chr(values, mode)
  for (same_mode in
    split(seq_along(values), value_modes)[setdiff(value_modes, c("NULL", "character"))])
    values[same_mode] <- as.list(as_label(unlist(values[same_mode])))
  values[value_modes == "NULL"] <- NA_character_
  if (all(lengths(values) == 1L)) as_label(unlist(values)) else values
}

# Converts records (lists of fields) to a table: a list of columns of text, NA where a record lacks
# a field. Field `b` of an object in field `a` becomes the column `a.b`.
# * keep: function that selects the names of columns to keep.
# * prefix: beginning of the names of columns.
record_table <- function(records, input, keep = identity, prefix = "") {
  fields_of_records <- lapply(records, names)
  check_repeated_fields(fields_of_records, input, names(records) %||% seq_along(records))
  fields <- unique(unlist(fields_of_records))
  check_cells(length(fields), length(records), input)
  columns <- lapply(fields, function(field) {
    column_name <- paste0(prefix, field)
    values <- unname(lapply(records, `[[`, field))
    is_nested <- map_lgl(values, is_json_object)
    has_value <- !is_nested & lengths(values) > 0L
    c(
      if (any(is_nested))
        record_table(
          replace(values, !is_nested, list(NULL)), input, keep, paste0(column_name, ".")
        ),
      if ((any(has_value) || !any(is_nested)) && !is_empty(keep(column_name)))
        setNames(list(as_text(replace(values, is_nested, list(NULL)), input)), column_name)
    )
  })
  columns <- unlist(columns, FALSE)
  check_repeated_fields(list(names(columns)), input)
  columns
}

# Binds tables (lists of columns) by row; absent columns become NA.
bind_tables <- function(tables) {
  tables <- tables[lengths(tables) > 0L]
  lapply(setNames(nm = unique(unlist(lapply(tables, names)))), function(name) {
    columns <- lapply(tables, function(table) table[[name]] %||% rep(NA, length(table[[1L]])))
    if (any(map_lgl(columns, is.list))) columns <- lapply(columns, as.list)
    do.call(c, columns)
  })
}

# Reads the file of predictions that the argument `systems` of read_ratings() names. `raters`: names
# of all raters, for the error. `settings`: see open_input().
read_predictions <- function(path, raters, settings) {
  abort_if(!file.exists(path) || dir.exists(path), "file",
    "{.arg systems} must name raters, or be the path of a file.",
    x = "There is no rater and no file {describe(path)}.",
    i = if (!is.null(raters)) "The raters are {.val {unique(raters)}}.", path = path)
  settings[c("keep", "format")] <- NULL
  list2DF(read_file(path, settings)$table)
}

# Tables of text: CSV and similar formats, results of crowdsourcing platforms, and Excel.

separators <- c(",", ";", "\t", "|")

# ---- CSV ------------------------------------------------------------------------------------
# CSV is read with scan(), because scan() reports every fault. Other readers change text without
# notice: data.table does not convert doubled quotes, and readr drops text after an open quote.

read_csv <- function(input) {
  lines <- readLines(input$plain_path, 100L + input$skip, warn = FALSE)
  header_line_number <- which(nzchar(trim_bytes(lines)) & seq_along(lines) > input$skip)[[1L]]
  handle_fault <- function(cnd) {
    check_csv(input, grepl("EOF", conditionMessage(cnd), fixed = TRUE))
    tryCatch(
      scan_csv(input, header_line_number, fill = TRUE),
      warning = function(cnd) check_csv(input, TRUE)
    )
  }
  columns <- tryCatch(
    scan_csv(input, header_line_number, fill = FALSE), error = handle_fault, warning = handle_fault
  )
  abort_file_if(is_empty(columns[[1L]]), input, "has names of columns, but no rows.")
  columns <- drop_title_rows(columns, input)
  Map(function(x, column) {
    if (input$encoding != "UTF-8") x <- iconv(x, input$encoding, "UTF-8")
    invalid_row <- match(TRUE, is.na(x) | !validUTF8(x))
    if (!is.na(invalid_row))
      abort_encoding(input, sprintf("row %s of column \"%s\"", invalid_row, column))
    choices_of_cells(x, input)
  }, columns, names(columns))
}

scan_csv <- function(input, skip, fill) {
  scan(
    input$plain_path, setNames(rep(list(""), length(input$header)), input$header),
    sep = csv_separator(input), quote = "\"", skip = skip, quiet = TRUE, comment.char = "",
    na.strings = character(), multi.line = FALSE, fill = fill, encoding = "UTF-8"
  )
}

# Returns the fields of the first line, or of line `line_number`, as strings.
csv_header <- function(input, line_number = 1L) {
  line <- input$first[line_number]
  if (input$encoding != "UTF-8") line <- iconv(line, input$encoding, "UTF-8")
  if (!validUTF8(line)) abort_encoding(input, "the first line")
  Encoding(line) <- "UTF-8"
  split_line(line, csv_separator(input, line))
}

split_line <- function(line, sep) {
  or_null(
    scan(text = line, what = "", sep = sep, quote = "\"", quiet = TRUE, comment.char = "")
  ) %||% line
}

# Returns the character that separates columns. By default, this is the separator that splits the
# first line into most fields.
csv_separator <- function(input, line = input$first[[1L]]) {
  input$sep %||%
    separators[[which.max(map_int(separators, function(sep) length(split_line(line, sep))))]]
}

# Drops rows that are not data: a title above the column names, and the two rows in which Qualtrics
# describes its columns. Also drops empty columns without a name.
drop_title_rows <- function(columns, input) {
  n_filled_fields <- Reduce(`+`, lapply(columns, function(x) !is_blank(head(x, 10L))))
  header_row <- match(TRUE, n_filled_fields > 1L)
  if (identical(which(!is_blank(names(columns))), 1L) && !is.na(header_row)) {
    add_note(input, note_left_out(rep(TRUE, header_row), "line", "above the table, as a title"))
    names(columns) <- map_chr(columns, `[[`, header_row)
    columns <- lapply(columns, tail, -header_row)
  }
  if (any(grepl("^[{].ImportId", map_chr(columns, `[`, 2L), useBytes = TRUE))) {
    add_note(input, "Left out: 2 rows of Qualtrics that describe the columns.")
    columns <- lapply(columns, tail, -2L)
  }
  is_unnamed <- trimws(names(columns)) == ""
  repeated_names <- repeated_values(names(columns)[!is_unnamed])
  abort_file_if(repeated_names, input, "has several columns with the same name.",
    x = "Repeated: {toString(dQuote(repeated_names, FALSE))}.",
    i = "Give each column a different name.")
  names(columns)[is_unnamed] <- paste0("...", which(is_unnamed))
  columns[!is_unnamed | !map_lgl(columns, function(x) all(is_blank(x)))]
}

# Is each field of the column `x` empty? In a list column, only NA is empty: an element without
# labels is an answer.
is_blank <- function(x) {
  if (is.list(x)) return(is.na(x))
  values <- unique(x)
  x %in% values[is.na(values) | !grepl("[^ \t\r]", values, perl = TRUE, useBytes = TRUE)]
}

# Drops rows without values in `columns`, a list of column names by role. One warning lists these
# rows, and the rows that the reader of the format dropped.
drop_rows <- function(table, contents, columns) {
  # In a `sparse` table, each row is the answer to one of several questions. Rows without a rating
  # are about other questions, so they are dropped without a warning.
  used_columns <- if (isTRUE(contents$sparse)) columns$rating else
    if (is_empty(columns$case)) setdiff(names(table), "file") else unlist(columns)
  is_empty_row <- Reduce(`&`, lapply(table[used_columns], is_blank))
  notes <- c(
    contents$notes,
    note_left_out(is_empty_row & is.null(contents$sparse), "row", "without case, rater and rating")
  )
  warn_if(notes, "left_out", escape_braces(notes))
  lapply(table, `[`, !is_empty_row)
}

abort_encoding <- function(input, place) {
  abort_file(input, "is not encoded in {input$encoding}.",
    x = "Bytes in {place} are not valid in this encoding.",
    i = "Give its encoding, for example `file = list(encoding = \"latin1\")`.")
}

skip_hint <- "If lines above the table are a title, skip them: `file = list(skip = 1)`."

# Finds the fault of a table that scan() cannot read. If the only fault is that some rows lack their
# last fields, adds a note. Otherwise fails with the number of the faulty line. `has_open_quote`:
# does the file end within a quote?
check_csv <- function(input, has_open_quote) {
  n_columns <- length(input$header)
  n_fields <- count.fields(
    input$plain_path, sep = csv_separator(input), quote = "\"", comment.char = "",
    blank.lines.skip = FALSE, skip = input$skip
  )
  # count.fields() returns NA for a line that ends within a quote.
  is_within_quote <- is.na(head(n_fields, -1L))
  short_lines <- which(n_fields > 0L & n_fields < n_columns)
  if (has_open_quote) {
    line <- max(0L, which(!is_within_quote)) + 1L
    fault <- "begins a quote that has no end." # nolint: object_usage.
  } else {
    are_all_lines_short <- length(short_lines) + 1L >= sum(n_fields > 0L, na.rm = TRUE)
    line <- c(
      which(n_fields > n_columns),
      # If a line with too few fields begins within a quote, the quote is probably a mistake.
      if (!are_all_lines_short) intersect(short_lines, which(is_within_quote) + 1L),
      if (n_columns == 1L) short_lines
    )[1L]
    fault <- sprintf("has %s columns.", n_fields[line]) # nolint: object_usage.
  }
  abort_file_if(!is.na(line) || is_empty(short_lines), input,
    "must have {n_columns} columns in all lines, like the first line.",
    x = "Line {line + input$skip} {fault}",
    i = c(
      if (n_columns == 1L) "Give the separator, for example `file = list(sep = \";\")`.",
      if (!has_open_quote) skip_hint
    ))
  lacking_columns <- tail(input$header, n_columns - min(n_fields[short_lines]))
  add_note(input, sprintf("Filled: %s without the last fields (%s), which are read as empty.",
    count_noun(length(short_lines), "row"), shorten(dQuote(lacking_columns, FALSE))))
}

# ---- Crowdsourcing platforms ----------------------------------------------------------------

# Returns a function that reads results of a crowdsourcing platform.
# * case, rater: names of columns. If the column `case` does not exist (as in some files of Toloka),
#   all input columns together identify cases.
# * status, dropped_status: assignments are dropped if their value in the column `status` is one of
#   `dropped_status`.
# * reason: text of the note about dropped assignments.
# * answers: pattern for the names of columns that may be the rating. If it is NULL, these are the
#   columns for which the table has a column of known answers (see `gold`).
# * gold: function that returns, for a column of answers, the name of the column of known answers.
new_crowd_reader <- function(case, rater, status, dropped_status, reason, answers, gold = toupper) {
  function(input) {
    table <- read_csv(input)
    table <- c(table[names(table) != "Answer.taskAnswers"], task_answers(table, input))
    column_names <- names(table)
    rating_columns <- if (is.null(answers)) column_names[gold(column_names) %in% column_names] else
      grep(answers, column_names, value = TRUE)
    # A field may contain several answers, one per line.
    if (is.null(answers)) table <- modify_fields(table, rating_columns, function(x) {
      if (any(grepl("\n.", x))) strsplit(x, "[\r\n]+") else x
    })
    is_dropped <- fold_case(table[[status]] %||% "") %in% dropped_status
    table <- lapply(table, `[`, !is_dropped)
    truths <- setNames(gold(rating_columns), rating_columns)
    list(
      table = table, choices = rating_columns,
      truths = Filter(function(name) any(nzchar(table[[name]])), truths),
      map = list(
        case = if (case %in% column_names) case else
          grep("^INPUT:", column_names, value = TRUE),
        rater = rater, rating = if (length(rating_columns) == 1L) rating_columns
      ),
      notes = note_left_out(is_dropped, "assignment", reason)
    )
  }
}

# Returns the answers in newer forms of Mechanical Turk, as a list of columns. These forms store all
# answers of an assignment as JSON in one field. The JSON contains one of these for each question:
# * a list of buttons, each TRUE (selected) or FALSE;
# * an object with a label;
# * a value.
task_answers <- function(table, input) {
  json_texts <- unname(table$Answer.taskAnswers)
  if (is.null(json_texts)) return(NULL)
  read_form_field <- function(field) {
    if (is.list(field)) field[["label"]] %||% names(field)[map_lgl(field, isTRUE)] else field
  }
  answers <- record_table(Map(function(text, row) {
    parsed_form <- if (nzchar(text)) parse_json(text, input, row + 1L)
    lapply(if (!has_names(parsed_form)) parsed_form[[1L]] else parsed_form, read_form_field)
  }, json_texts, seq_along(json_texts)), input)
  setNames(answers, paste0("Answer.", names(answers)))
}

# ---- Excel ----------------------------------------------------------------------------------

read_excel <- function(input) {
  check_installed("readxl", "to read Excel files")
  # Access to `entries` computes it, and so checks the files of the archive before readxl unpacks
  # them.
  if (input$kind == "zip") input$entries
  try_excel <- function(value) {
    handle_foreign_error(value, function(cnd) {
      abort_file(input, "cannot be read as an Excel file.", x = "{trimws(conditionMessage(cnd))}")
    })
  }
  sheets <- try_excel(readxl::excel_sheets(input$plain_path))
  sheet <- input$sheet %||% sheets[[1L]]
  # Finds the number of columns of the sheet without reading its cells, because a hostile sheet with
  # two cells can have a million rows and thousands of columns. If more column types than columns
  # are specified, the error of readxl contains the number of columns.
  error_text <- tryCatch(
    names(read_sheet(input, sheet, rep("skip", 20000))), error = conditionMessage
  )
  number_in_error <- regmatches(error_text, regexpr("[0-9]+(?= column)", error_text, perl = TRUE))
  # If the error contains no number, the sheet has no columns, or a later error reports its fault.
  n_columns <- max(1, as.numeric(number_in_error))
  check_limit(n_columns, "columns", input)
  read_as <- function(types) try_excel(read_sheet(input, sheet, types))
  if (n_columns * max_sheet_rows > input$limits$maxima[["cells"]])
    check_cells(n_columns, nrow(read_as(c("text", rep("skip", n_columns - 1)))), input)
  table <- read_as("text")
  abort_file_if(nrow(table) == 0L, input, "has no rows in sheet \"{sheet}\".")
  if (is.null(input$sheet) && length(sheets) > 1L)
    add_note(input, fill_template("Of %s sheets only the first, \"%s\", was read; `file =
      list(sheet = )` names another.", length(sheets), sheet))
  is_date_column <- map_lgl(read_as("list"), function(cells) {
    any(map_lgl(cells, inherits, "POSIXct"))
  })
  date_columns <- input$keep(names(table)[is_date_column])
  if (!is_empty(date_columns))
    add_note(input, fill_template("Dates in %s were read as the numbers that Excel stores. Excel
      turns labels such as 1-2 into dates; format the cells as text.",
      shorten(dQuote(date_columns, FALSE))))
  if (input$kind == "zip")
    add_note(input, sheet_faults(input, if (is.numeric(sheet)) sheet else match(sheet, sheets)))
  add_default_map(drop_title_rows(as.list(table), input))
}

# Returns notes on faults of a sheet that readxl does not report: the sheet is hidden, or has
# formulas without a stored value. `sheet_number`: position of the sheet in the file.
sheet_faults <- function(input, sheet_number) {
  read_entry <- function(name) {
    n_bytes <- input$entries$size[match(name, input$entries$name)]
    if (is.na(n_bytes)) return("")
    connection <- unz(input$plain_path, name, "rb")
    on.exit(close(connection))
    rawToChar(readBin(connection, "raw", n_bytes))
  }
  find_matches <- function(text, pattern) {
    regmatches(text, gregexpr(pattern, text, perl = TRUE, useBytes = TRUE))[[1L]]
  }
  sheet_elements <-
    find_matches(read_entry(file.path("xl", "workbook.xml")), "<(\\w+:)?sheet\\s.*?>")
  sheet_element <- sheet_elements[sheet_number]
  relationships <-
    find_matches(read_entry(file.path("xl", "_rels", "workbook.xml.rels")), "<Relationship\\s.*?>")
  relationship_id <- sub('.*r:id=(".*?").*', "Id=\\1", sheet_element)
  sheet_path <- sub('.*Target="/?(xl/)?(.*?)".*', "xl/\\2",
    grep(relationship_id, relationships, fixed = TRUE, value = TRUE))
  empty_formulas <- find_matches(read_entry(sheet_path[1L]), paste0(
    '<c (?![^>]*t="str")[^>]*>\\s*<f(?:[^>]*/>|[^>]*>[^<]*</f>)\\s*',
    "(?:<v>\\s*</v>|<v\\s*/>)?\\s*</c>"
  ))
  c(
    if (grepl('state="(h|veryH)idden"', sheet_element))
      "The sheet that was read is hidden in Excel.",
    if (!is_empty(empty_formulas)) fill_template("Formulas without a stored value (%s) are
      missing. Open the file in Excel and save it.",
      shorten(sub('.*? r="(\\w+)".*', "\\1", empty_formulas)))
  )
}

max_sheet_rows <- 2^20

read_sheet <- function(input, sheet, types) {
  readxl::read_excel(
    input$plain_path, sheet, input$range, col_types = types, na = character(), trim_ws = FALSE,
    .name_repair = "minimal", n_max = max_sheet_rows, skip = input$skip
  )
}

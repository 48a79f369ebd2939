# Tables of text: CSV and its relatives, the batches of Mechanical Turk, and Excel.

separators <- c(",", ";", "\t", "|")

format_csv <- function() {
  new_format("csv", "a table of text (CSV, TSV)",
    sniff = function(input) input$kind == "text" && length(input$header) > 1L,
    read = function(input, keep) read_csv_columns(input), tabular = TRUE
  )
}

format_mturk <- function() {
  new_format("mturk", "a batch of Amazon Mechanical Turk (CSV)",
    sniff = function(input) {
      input$kind == "text" && all(c("HITId", "WorkerId") %in% input$header)
    },
    read = read_mturk
  )
}

format_excel <- function() {
  new_format("excel", "an Excel file",
    sniff = function(input) {
      book <- file.path("xl", "workbook.xml")
      input$kind == "ole" || (input$kind == "zip" && book %in% zip_names(input))
    },
    read = read_excel
  )
}

read_csv_columns <- function(input) {
  table <- read_csv(input)
  list(table = table, map = named_columns(table))
}

# What names of columns tell: this is the layout of tables of this package.
named_columns <- function(table) {
  columns <- list(case = "case", rater = "rater", rating = "rating")
  if (all(unlist(columns) %in% names(table))) columns else list()
}

# ---- CSV ------------------------------------------------------------------------------------
# data.table reads what has a line for each row, as most tables have; whatever it stumbles over, or
# reads as fewer rows than there are lines, is read by scan(), which stops at every fault. Among its
# peers data.table leaves doubled quotes doubled, and readr drops what follows an open quote.

read_csv <- function(input, fast = fast_columns) {
  header <- input$header
  skip <- which(nzchar(trim_bytes(readLines(input$plain, 100L, warn = FALSE))))[[1L]]
  columns <- fast(input, skip) %||% tryCatch(
    scan(
      input$plain, rep(list(""), length(header)), sep = csv_separator(input), quote = "\"",
      skip = skip, quiet = TRUE, comment.char = "", na.strings = character(), multi.line = FALSE,
      encoding = "UTF-8"
    ),
    error = function(cnd) abort_csv(input, cnd), warning = function(cnd) abort_csv(input, cnd)
  )
  if (length(columns[[1L]]) == 0L) abort_file(input$path, "has names of columns and no rows.")
  columns <- name_columns(stats::setNames(columns, header), input)
  Map(check_encoding, columns, names(columns), list(input))
}

# NULL unless every line is a row, and every field what it stands for.
fast_columns <- function(input, skip) {
  if (!requireNamespace("data.table", quietly = TRUE)) return(NULL)
  table <- or_null(data.table::fread(
    input$plain, sep = csv_separator(input), quote = "\"", skip = skip, header = FALSE,
    colClasses = "character", na.strings = NULL, strip.white = FALSE, encoding = "UTF-8",
    data.table = FALSE, showProgress = FALSE, nThread = 1L
  ))
  doubled <- function(column) any(grepl("\"\"", column, fixed = TRUE, useBytes = TRUE))
  whole <- NROW(table) == input$lines - skip && length(table) == length(input$header) &&
    !any(vapply(table, doubled, NA))
  if (whole) as.list(table)
}

csv_header <- function(input) {
  line <- input$first[[1L]]
  line <- if (input$encoding == "UTF-8") line else iconv(line, input$encoding, "UTF-8")
  if (!validUTF8(line)) abort_encoding(input, "its first line")
  Encoding(line) <- "UTF-8"
  split_line(line, csv_separator(input, line))
}

split_line <- function(line, sep) {
  fields <- scan(text = line, what = "", sep = sep, quote = "\"", quiet = TRUE, comment.char = "")
  or_null(fields) %||% line
}

# The character that splits the first line into most fields.
csv_separator <- function(input, line = input$first[[1L]]) {
  if (!is.null(input$sep)) return(input$sep)
  fields <- vapply(separators, function(sep) length(split_line(line, sep)), 0L)
  separators[[which.max(fields)]]
}

# Columns without a name are dropped where nothing is in them.
name_columns <- function(columns, input) {
  unnamed <- trimws(names(columns)) == ""
  twice <- unique(names(columns)[!unnamed & duplicated(names(columns))])
  if (length(twice) > 0L) {
    abort_file(input$path, "has several columns of one name.",
      "x" = paste0("Twice or more: ", toString(dQuote(twice, FALSE)), "."),
      "i" = "Give each column a name of its own.")
  }
  names(columns)[unnamed] <- paste0("...", which(unnamed))
  blank <- vapply(columns[unnamed], function(x) all(is.na(x) | !nzchar(trimws(x))), NA)
  columns[setdiff(seq_along(columns), which(unnamed)[blank])]
}

check_encoding <- function(x, column, input) {
  if (input$encoding != "UTF-8") x <- iconv(x, input$encoding, "UTF-8")
  known <- unique(x)
  bad <- known[is.na(known) | !validUTF8(known)]
  if (length(bad) > 0L) {
    abort_encoding(input, paste0("row ", match(bad[[1L]], x), " of column \"", column, "\""))
  }
  x
}

abort_encoding <- function(input, where) {
  abort_file(input$path, paste0("is not encoded in ", input$encoding, "."),
    "x" = paste0("Found bytes that are not text in ", where, "."),
    "i" = "Give its encoding, for example `file = list(encoding = \"latin1\")`.")
}

abort_csv <- function(input, cnd) {
  expected <- length(input$header)
  abort_file(
    input$path, paste0("must have as many columns in all lines as in the first, ", expected, "."),
    "x" = csv_fault(input, expected, grepl("EOF", conditionMessage(cnd), fixed = TRUE)),
    "i" = if (expected == 1L) "Give the separator, for example `file = list(sep = \";\")`."
  )
}

# Fields of a line that a quote spans are counted where it ends, and are NA before.
csv_fault <- function(input, expected, open) {
  fields <- utils::count.fields(
    input$plain, sep = csv_separator(input), quote = "\"", comment.char = "",
    blank.lines.skip = FALSE
  )
  if (open) {
    closed <- which(!is.na(utils::head(fields, -1L)))
    return(paste0("Line ", max(0L, closed) + 1L, " opens a quote and does not close it."))
  }
  line <- which(fields > 0L & fields != expected)[1L]
  paste0("Line ", line, " has ", fields[[line]], ".")
}

# ---- Mechanical Turk ------------------------------------------------------------------------

read_mturk <- function(input, keep) {
  table <- read_csv(input)
  rejected <- tolower(table$AssignmentStatus %||% "") == "rejected"
  if (any(rejected)) table <- lapply(table, `[`, !rejected)
  table <- c(table[names(table) != "Answer.taskAnswers"], task_answers(table, input))
  answers <- grep("^Answer[.]", names(table), value = TRUE)
  list(
    table = table,
    map = list(case = "HITId", rater = "WorkerId", rating = if (length(answers) == 1L) answers),
    choices = answers,
    notes = if (any(rejected)) {
      left_out(sum(rejected), "assignment", "with the status \"Rejected\"")
    }
  )
}

# Newer forms give all answers of an assignment as one field of JSON.
task_answers <- function(table, input) {
  if (is.null(table$Answer.taskAnswers)) return(NULL)
  check_json()
  answers <- record_table(lapply(seq_along(table$Answer.taskAnswers), function(row) {
    form <- parse_json(table$Answer.taskAnswers[[row]], input, row + 1L)
    lapply(if (is.null(names(form))) form[[1L]] else form, form_answer)
  }), input)
  stats::setNames(answers, paste0("Answer.", names(answers)))
}

# A list of buttons with their states, an object with a label, or a value.
form_answer <- function(field) {
  if (!is.list(field)) return(field)
  if (!is.null(field$label)) field$label else names(field)[vapply(field, isTRUE, NA)]
}

# ---- Excel ----------------------------------------------------------------------------------

read_excel <- function(input, keep) {
  check_installed("readxl", "to read Excel files")
  if (input$kind == "zip") input$entries
  sheets <- excel_try(readxl::excel_sheets(input$plain), input)
  sheet <- input$sheet %||% sheets[[1L]]
  columns <- sheet_columns(input, sheet)
  check_limit(columns, "columns", input)
  read <- function(types) {
    excel_try(readxl::read_excel(
      input$plain, sheet, col_types = types, na = character(), trim_ws = FALSE,
      .name_repair = "minimal", n_max = rows_of_sheets
    ), input)
  }
  if (columns * rows_of_sheets > input$limits$most[["cells"]]) {
    check_cells(columns, nrow(read(c("text", rep("skip", columns - 1)))), input)
  }
  table <- read("text")
  if (nrow(table) == 0L) abort_file(input$path, paste0("has no rows in sheet \"", sheet, "\"."))
  table <- name_columns(as.list(table), input)
  list(
    table = table, map = named_columns(table),
    notes = if (is.null(input$sheet) && length(sheets) > 1L) {
      paste0("Of ", length(sheets), " sheets only the first, \"", sheet, "\", was read; ",
        "`file = list(sheet = )` names another.")
    }
  )
}

rows_of_sheets <- 2^20

# A sheet of two cells may have a million rows and any number of columns. readxl says how many
# columns there are, before it makes any, when it is given the types of more than a sheet can have.
sheet_columns <- function(input, sheet) {
  read <- function() readxl::read_excel(input$plain, sheet, col_types = rep("skip", 20000))
  answer <- tryCatch(names(read()), error = conditionMessage)
  answer <- regmatches(answer, regexpr("[0-9]+(?= column)", answer, perl = TRUE))
  max(1, as.numeric(answer)) # where it says none, there are none, or it will say why
}

excel_try <- function(value, input) {
  tryCatch(value, error = function(cnd) {
    abort_file(input$path, "cannot be read as an Excel file.", "x" = conditionMessage(cnd))
  })
}

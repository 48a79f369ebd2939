# Tables of text: CSV and its relatives, the batches of Mechanical Turk, and Excel.

separators <- c(",", ";", "\t", "|")

# ---- CSV ------------------------------------------------------------------------------------
# scan() stops at every fault. Among its peers data.table leaves doubled quotes doubled, and readr
# drops what follows an open quote.

read_csv <- function(input) {
  header <- input$header
  skip <- which(nzchar(trim_bytes(readLines(input$plain, 100L, warn = FALSE))))[[1L]]
  fault <- function(cnd) abort_csv(input, grepl("EOF", conditionMessage(cnd), fixed = TRUE))
  columns <- tryCatch(
    scan(
      input$plain, rep(list(""), length(header)), sep = csv_separator(input), quote = "\"",
      skip = skip, quiet = TRUE, comment.char = "", na.strings = character(), multi.line = FALSE,
      encoding = "UTF-8"
    ),
    error = fault, warning = fault
  )
  if (length(columns[[1L]]) == 0L) abort_file(input$path, "has names of columns and no rows.")
  columns <- name_columns(stats::setNames(columns, header), input)
  Map(check_encoding, columns, names(columns), list(input))
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
  separators[[which.max(vapply(separators, function(sep) length(split_line(line, sep)), 0L))]]
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
  columns[setdiff(names(columns), names(blank)[blank])]
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

# Fields of a line that a quote spans are counted where it ends, and are NA before. `open`: was a
# quote open at the end?
abort_csv <- function(input, open) {
  expected <- length(input$header)
  fields <- utils::count.fields(
    input$plain, sep = csv_separator(input), quote = "\"", comment.char = "",
    blank.lines.skip = FALSE
  )
  fault <- if (open) {
    line <- max(0L, which(!is.na(utils::head(fields, -1L)))) + 1L
    "opens a quote and does not close it."
  } else {
    line <- which(fields > 0L & fields != expected)[1L]
    paste0("has ", fields[[line]], ".")
  }
  abort_file(
    input$path, paste0("must have as many columns in all lines as in the first, ", expected, "."),
    "x" = paste("Line", line, fault),
    "i" = if (expected == 1L) "Give the separator, for example `file = list(sep = \";\")`."
  )
}

# ---- Mechanical Turk ------------------------------------------------------------------------

read_mturk <- function(input) {
  table <- read_csv(input)
  rejected <- fold_case(table$AssignmentStatus %||% "") == "rejected"
  if (any(rejected)) table <- lapply(table, `[`, !rejected)
  table <- c(table[names(table) != "Answer.taskAnswers"], task_answers(table, input))
  answers <- grep("^Answer[.]", names(table), value = TRUE)
  list(
    table = table,
    map = list(case = "HITId", rater = "WorkerId", rating = if (length(answers) == 1L) answers),
    choices = answers, notes = left_out(rejected, "assignment", "with the status \"Rejected\"")
  )
}

# Newer forms give all answers of an assignment as one field of JSON: for each question a list of
# buttons with their states, an object with a label, or a value.
task_answers <- function(table, input) {
  if (is.null(table$Answer.taskAnswers)) return(NULL)
  form_answer <- function(field) {
    if (!is.list(field)) return(field)
    field$label %||% names(field)[vapply(field, isTRUE, NA)]
  }
  answers <- record_table(Map(function(text, row) {
    form <- parse_json(text, input, row + 1L)
    lapply(if (is.null(names(form))) form[[1L]] else form, form_answer)
  }, unname(table$Answer.taskAnswers), seq_along(table$Answer.taskAnswers)), input)
  stats::setNames(answers, paste0("Answer.", names(answers)))
}

# ---- Excel ----------------------------------------------------------------------------------

is_excel <- function(input) {
  input$kind == "ole" || file.path("xl", "workbook.xml") %in% input$entries$name
}

read_excel <- function(input) {
  check_installed("readxl", "to read Excel files")
  if (input$kind == "zip") input$entries # which are looked at before they are unpacked
  try_excel <- function(value) {
    if_foreign_error(value, function(cnd) {
      abort_file(input$path, "cannot be read as an Excel file.", "x" = conditionMessage(cnd))
    })
  }
  sheets <- try_excel(readxl::excel_sheets(input$plain))
  sheet <- input$sheet %||% sheets[[1L]]
  columns <- sheet_columns(input, sheet)
  check_limit(columns, "columns", input)
  read <- function(types) {
    try_excel(readxl::read_excel(
      input$plain, sheet, col_types = types, na = character(), trim_ws = FALSE,
      .name_repair = "minimal", n_max = rows_of_sheets
    ))
  }
  if (columns * rows_of_sheets > input$limits$most[["cells"]]) {
    check_cells(columns, nrow(read(c("text", rep("skip", columns - 1)))), input)
  }
  table <- read("text")
  if (nrow(table) == 0L) abort_file(input$path, paste0("has no rows in sheet \"", sheet, "\"."))
  with_map(
    name_columns(as.list(table), input),
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

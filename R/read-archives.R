# Protection against hostile files: limits, which are checked before memory is used, and compressed
# files. A file may unpack to much more than its size, and to other folders.

# ---- Limits ---------------------------------------------------------------------------------

# help("fallible-limits") explains them.
usual_file_limits <- c(entries = 1e5, megabytes = 1000, ratio = 200, columns = 1e5, cells = 1e9)

# A list: most (numbers with these names), and advice (what to do about a file above a limit).
file_limits <- function() {
  known <- names(usual_file_limits)
  most <- read_option("fallible.file_limits", usual_file_limits, function(x, arg) {
    abort_argument_if(
      !is.numeric(x) || !all(names2(x) %in% known) || !all(x > 0 & !is.na(x)), arg,
      "must be positive numbers, each with one of the names {.val {known}}.", not = x)
    replace(usual_file_limits, names(x), x)
  })
  list(most = most, advice = "If you trust it, raise `options(fallible.file_limits = c(%s = ))`.")
}

limit_messages <- c(
  entries = "must hold at most {number(most)} files.",
  megabytes = "must unpack to at most {number(most)} MB.",
  ratio = "must unpack to at most {number(most)} times its own size.",
  columns = "must have at most {number(most)} columns, with names of 1,000 bytes on average.",
  cells = "must have at most {number(most)} cells."
)

check_limit <- function(value, limit, input) {
  most <- input$limits$most[[limit]]
  if (value > most) {
    abort_file(input, limit_messages[[limit]],
      i = sub("%s", limit, input$limits$advice, fixed = TRUE), topic = "limit")
  }
}

check_unpacked <- function(bytes, input) {
  check_limit(bytes / 1e6, "megabytes", input)
  # Small files with few labels have compression ratios as high as those of hostile files.
  if (bytes > 1e7) check_limit(bytes / file.size(input$path), "ratio", input)
}

check_cells <- function(columns, rows, input) {
  check_limit(columns, "columns", input)
  check_limit(as.double(columns) * rows, "cells", input)
}

# Number of lines of a text, checked before it is parsed. Lines may end in any of these characters.
check_lines <- function(input) {
  times <- count_bytes(file(input$plain, "rb"))
  if (times[[1L]] > 0) abort_file(input, "is not text: it holds zero bytes.")
  lines <- max(times[utf8ToInt("\n\r") + 1L]) + 1
  check_cells(1, lines, input)
  lines
}

# Long column names slow down parsing like additional columns.
check_table_size <- function(input, lines) {
  first <- charToRaw(input$first[[1L]])
  marks <- utf8ToInt(paste(c(separators, input$sep), collapse = ""))
  times <- count_bytes(rawConnection(first))[marks[marks < 256L] + 1L]
  check_cells(max(times + 1, length(first) / 1000), lines, input)
}

# Counts cells of JSON before it is parsed. In memory, even a short object or array is as large as
# ten fields of a table. The limit holds for all parts of a file together.
spend_cells <- function(text, input) {
  times <- count_bytes(rawConnection(charToRaw(text)))[utf8ToInt("{[,") + 1L]
  input$spent <- input$spent + sum(times * c(10, 10, 1)) + 10
  check_limit(input$spent, "cells", input)
}

# Number of times that each of the 256 bytes occurs; closes the connection.
count_bytes <- function(connection) {
  fold_blocks(connection, numeric(256L), function(total, block) {
    total + tabulate(as.integer(block) + 1L, 256L)
  })
}

# Applies `step` to a state and one block of bytes after the other, and returns the last state.
fold_blocks <- function(connection, state, step) {
  on.exit(close(connection))
  while (length(block <- readBin(connection, "raw", 2^22)) > 0L) state <- step(state, block)
  state
}

# ---- gzip -----------------------------------------------------------------------------------

# R reads a truncated file without an error. A gzip file ends with the size of its content, so that
# truncation is detected, except with a chance of 1 in 4000 per MB.
unpack <- function(input, scratch) {
  out <- tempfile(tmpdir = scratch)
  to <- file(out, "wb")
  on.exit(close(to))
  read <- function() {
    size <- fold_blocks(gzfile(input$path, "rb"), 0, function(size, block) {
      check_unpacked(size + length(block), input)
      writeBin(block, to)
      size + length(block)
    })
    has_whole_content(input$path, size)
  }
  broken <- function(cnd) FALSE
  whole <- tryCatch(if_foreign_error(read(), broken), warning = broken)
  if (!whole) abort_damaged(input, "is a gzip file that is damaged or incomplete.")
  out
}

abort_damaged <- function(input, fault) abort_file(input, fault, i = "Copy or download it again.")

has_whole_content <- function(path, size) {
  bytes <- file_bytes(path)
  given <- little(bytes, length(bytes) - 4, 4L)
  if (given == size %% 2^32) return(TRUE)
  # If several parts follow one another, the end contains the size of the last part.
  given < size && length(grepRaw(as.raw(c(0x1f, 0x8b, 0x08)), bytes, fixed = TRUE, all = TRUE)) > 1L
}

# ---- zip ------------------------------------------------------------------------------------

or_null <- function(code) {
  tryCatch(code, error = function(cnd) NULL, warning = function(cnd) NULL)
}

# Files of an archive: name, size (bytes when unpacked), link (is it a link?). No file unpacks to
# more than its size here. unzip() must list the same files, because an archive may have two
# directories.
zip_entries <- function(input) {
  entries <- or_null(zip_directory(input$plain, input$limits$most[["entries"]]))
  check_limit(length(entries$name), "entries", input)
  check_unpacked(sum(entries$size), input)
  check_zip_names(entries, input)
  listed <- or_null(utils::unzip(input$plain, list = TRUE))
  same <- identical(lapply(listed$Name, charToRaw), lapply(entries$name, charToRaw)) &&
    identical(as.double(listed$Length), entries$size)
  if (!same || length(entries$name) == 0L) {
    abort_damaged(input, "is a zip archive that is damaged or incomplete.")
  }
  entries
}

# The directory at the end of an archive, with at most `most` + 1 files.
zip_directory <- function(path, most) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  bytes_at <- function(at, n) {
    seek(connection, at)
    readBin(connection, "raw", min(n, file.size(path)))
  }
  end <- bytes_at(max(0, file.size(path) - 65557), 65557) # a comment may follow the directory
  at <- max(grepRaw(as.raw(c(0x50, 0x4b, 5, 6)), end, fixed = TRUE, all = TRUE)) - 1
  directory <- bytes_at(little(end, at + 16, 4L), little(end, at + 12, 4L))
  entries <- list(name = character(), size = numeric(), link = logical())
  at <- 0
  while (at < length(directory) && length(entries$name) <= most) {
    stopifnot(directory[at + 1:4] == as.raw(c(0x50, 0x4b, 1, 2)))
    lengths <- vapply(c(28, 30, 32), function(field) little(directory, at + field, 2L), 0)
    name <- directory[at + 46 + seq_len(lengths[[1L]])]
    name[name == 0L] <- charToRaw("\\") # legitimate names contain neither
    entry <- length(entries$name) + 1L
    entries$name[[entry]] <- rawToChar(name)
    entries$size[[entry]] <- little(directory, at + 24, 4L)
    entries$link[[entry]] <- little(directory, at + 40, 2L) %/% 4096 == 10 # Unix file type
    at <- at + 46 + sum(lengths)
  }
  entries
}

# A number of n bytes, the lowest byte first, `at` bytes from the start.
little <- function(bytes, at, n) sum(as.integer(bytes[at + seq_len(n)]) * 256^(seq_len(n) - 1L))

# Fails for names with parent folders, drives, the root, or separators of another system, and for
# repeated names, which would overwrite a file.
check_zip_names <- function(entries, input) {
  out <- grepl("(^|/)[.][.](/|$)|^/|^[A-Za-z]:|\\\\", entries$name, useBytes = TRUE)
  bad <- list(
    "a link" = entries$link, "a file that would be written outside its folder" = out,
    "two files of the same name" = duplicated(entries$name)
  )
  for (kind in names(Filter(any, bad))) {
    abort_file(input, "holds {kind}. Nothing was unpacked.",
      x = "It is \"{shorten_text(entries$name[bad[[kind]]][[1L]])}\".",
      i = "Tools do not normally write such archives: check where it comes from.",
      topic = "archive")
  }
}

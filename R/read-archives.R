# Protection against hostile files. Sizes are checked before memory is used. Archives are checked
# before they are unpacked. Their contents may be much larger than the file, and may have paths in
# other folders.

# ---- Limits ---------------------------------------------------------------------------------

# Default limits of files. help("fallible-limits") explains them.
usual_file_limits <- c(entries = 1e5, megabytes = 1000, ratio = 200, columns = 1e5, cells = 1e9)

# Returns the limits of files, a list:
# * maxima: largest allowed numbers, with the names of `usual_file_limits`.
# * advice: hint for errors, in which "%s" is replaced by the name of the limit.
file_limits <- function() {
  limit_names <- names(usual_file_limits)
  limit_values <- read_option("fallible.file_limits", usual_file_limits, function(x, arg) {
    abort_argument_if(
      !is.numeric(x) || !all(names2(x) %in% limit_names) || !all(x > 0 & !is.na(x)), arg,
      "must be positive numbers, each with one of the names {.val {limit_names}}.", not = x)
    replace(usual_file_limits, names(x), x)
  })
  list(maxima = limit_values,
    advice = "If you trust it, raise `options(fallible.file_limits = c(%s = ))`.")
}

limit_messages <- c(
  entries = "must hold at most {number(maximum)} files.",
  megabytes = "must unpack to at most {number(maximum)} MB.",
  ratio = "must unpack to at most {number(maximum)} times its own size.",
  columns = "must have at most {number(maximum)} columns, with names of 1,000 bytes on average.",
  cells = "must have at most {number(maximum)} cells."
)

# Fails if `value` is above the limit with the name `limit`.
check_limit <- function(value, limit, input) {
  maximum <- input$limits$maxima[[limit]]
  abort_file_if(value > maximum, input, limit_messages[[limit]],
    i = sub("%s", limit, input$limits$advice, fixed = TRUE), topic = "limit")
}

check_unpacked_size <- function(bytes, input) {
  check_limit(bytes / 1e6, "megabytes", input)
  # Small files are not checked, because tables with few different labels are compressed strongly.
  if (bytes > 1e7) check_limit(bytes / file.size(input$path), "ratio", input)
}

check_cells <- function(columns, rows, input) {
  check_limit(columns, "columns", input)
  check_limit(as.double(columns) * rows, "cells", input)
}

# Adds the number of cells of a JSON text to `input$n_json_cells`. Fails if all JSON texts of the
# file together have too many cells. A field counts as one cell. An object or an array counts as ten
# cells, because it needs as much memory as ten fields of a table.
check_json_cells <- function(text, input) {
  check_installed("jsonlite", "to read JSON")
  bracket_counts <- count_bytes(rawConnection(charToRaw(text)))[utf8ToInt("{[,") + 1L]
  input$n_json_cells <- input$n_json_cells + sum(bracket_counts * c(10, 10, 1)) + 10
  check_limit(input$n_json_cells, "cells", input)
}

# Returns the number of occurrences of each of the 256 byte values. Closes the connection.
count_bytes <- function(connection) {
  fold_blocks(connection, numeric(256L), function(total, block) {
    total + tabulate(as.integer(block) + 1L, 256L)
  })
}

# Reads a connection in blocks of 4 MB, and closes it. `state`: start value, for example of a sum.
# `step`: function of the state and a block; returns the new state. Returns the last state.
fold_blocks <- function(connection, state, step) {
  on.exit(close(connection))
  while (length(block <- readBin(connection, "raw", 2^22)) > 0L) state <- step(state, block)
  state
}

# ---- gzip -----------------------------------------------------------------------------------

# Unpacks a gzip file to a new file in the folder `scratch`, and returns the path of the new file. R
# gives no error for a truncated file. To detect truncation, the unpacked size is compared with the
# size that is recorded in the last four bytes of the gzip file.
unpack_gzip <- function(input, scratch) {
  unpacked_path <- tempfile(tmpdir = scratch)
  connection <- file(unpacked_path, "wb")
  on.exit(close(connection))
  write_unpacked <- function() {
    size <- fold_blocks(gzfile(input$path, "rb"), 0, function(size, block) {
      check_unpacked_size(size + length(block), input)
      writeBin(block, connection)
      size + length(block)
    })
    bytes <- file_bytes(input$path)
    recorded_size <- read_int(bytes, length(bytes) - 4, 4L)
    # A file may consist of several gzip files, each with the same first bytes. The recorded size is
    # then smaller than `size`, because it is the size of the last one. A truncated file, in which
    # `recorded_size` is an arbitrary number below 2^32, is rarely accepted.
    recorded_size == size %% 2^32 || recorded_size < size &&
      length(grepRaw(as.raw(c(0x1f, 0x8b, 0x08)), bytes, fixed = TRUE, all = TRUE)) > 1L
  }
  fail_damaged <-
    function(cnd) abort_damaged(input, "is a gzip file that is damaged or incomplete.")
  if (!tryCatch(handle_foreign_error(write_unpacked(), fail_damaged), warning = fail_damaged))
    fail_damaged()
  unpacked_path
}

# Fails, because a file is damaged. `fault`: description of the damage, which begins with a verb.
abort_damaged <- function(input, fault) abort_file(input, fault, i = "Copy or download it again.")

# ---- zip ------------------------------------------------------------------------------------

# Returns the value of the expression `code`; NULL if it gives an error or a warning.
or_null <- function(code) tryCatch(code, error = function(cnd) NULL, warning = function(cnd) NULL)

# Returns the files of a zip archive, a list of vectors:
# * name: path of the file.
# * size: unpacked size in bytes.
# * link: is the file a link?
#
# Fails in these situations:
# * The files exceed the limits.
# * A file is a link, or its path is outside the folder of the archive.
# * Two files have the same name, so that one would overwrite the other.
# * unzip() does not list the same files. The archive may then have a second, unchecked directory.
zip_entries <- function(input) {
  entries <- or_null(zip_directory(input$plain_path, input$limits$maxima[["entries"]]))
  check_limit(length(entries$name), "entries", input)
  check_unpacked_size(sum(entries$size), input)
  faults <- list(
    "a link" = entries$link, "a file that would be written outside its folder" =
      grepl("(^|/)[.][.](/|$)|^/|^[A-Za-z]:|\\\\", entries$name, useBytes = TRUE),
    "two files of the same name" = duplicated(entries$name)
  )
  first_fault <- names(Filter(any, faults))[1L]
  abort_file_if(!is.na(first_fault), input, "contains {first_fault}, so nothing was unpacked.",
    x = "The name of the first such file is
      \"{shorten_text(entries$name[faults[[first_fault]]][[1L]])}\".",
    i = "Annotation tools do not write such archives. Check where this one comes from.",
    topic = "archive")
  entries_by_unzip <- or_null(unzip(input$plain_path, list = TRUE))
  agrees_with_unzip <-
    identical(lapply(entries_by_unzip$Name, charToRaw), lapply(entries$name, charToRaw)) &&
    identical(as.double(entries_by_unzip$Length), entries$size)
  if (!agrees_with_unzip || is_empty(entries$name))
    abort_damaged(input, "is a zip archive that is damaged or incomplete.")
  entries
}

# Reads the directory at the end of a zip archive, which lists its files. Stops after `max_files` +
# 1 files. Returns the list of zip_entries().
zip_directory <- function(path, max_files) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  read_bytes_at <- function(position, n) {
    seek(connection, position)
    readBin(connection, "raw", min(n, file.size(path)))
  }
  # The last record of an archive has 22 bytes, and up to 65535 bytes of comment may follow it.
  tail_bytes <- read_bytes_at(max(0, file.size(path) - 65557), 65557)
  position <- max(grepRaw(as.raw(c(0x50, 0x4b, 5, 6)), tail_bytes, fixed = TRUE, all = TRUE)) - 1
  directory_bytes <- read_bytes_at(
    read_int(tail_bytes, position + 16, 4L), read_int(tail_bytes, position + 12, 4L)
  )
  entries <- list(name = character(), size = numeric(), link = logical())
  position <- 0
  while (position < length(directory_bytes) && length(entries$name) <= max_files) {
    stopifnot(directory_bytes[position + 1:4] == as.raw(c(0x50, 0x4b, 1, 2)))
    read_field <- function(offset, n) read_int(directory_bytes, position + offset, n)
    # Lengths of the name, of an extra field and of a comment.
    field_lengths <- map_dbl(c(28, 30, 32), read_field, 2L)
    name_bytes <- directory_bytes[position + 46 + seq_len(field_lengths[[1L]])]
    # Valid names contain no zero bytes. A backslash makes zip_entries() refuse the name.
    name_bytes[name_bytes == 0L] <- charToRaw("\\")
    entry_number <- length(entries$name) + 1L
    entries$name[[entry_number]] <- rawToChar(name_bytes)
    entries$size[[entry_number]] <- read_field(24, 4L)
    # The field at byte 40 contains the Unix file type in its highest four bits. A link has type 10.
    entries$link[[entry_number]] <- read_field(40, 2L) %/% 4096 == 10
    position <- position + 46 + sum(field_lengths)
  }
  entries
}

# Reads an unsigned integer of `n` bytes, the lowest byte first. `n_before`: number of bytes before
# the integer.
read_int <- function(bytes, n_before, n) {
  sum(as.integer(bytes[n_before + seq_len(n)]) * 256^(seq_len(n) - 1L))
}

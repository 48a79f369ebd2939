# Writes unusual zip archives byte by byte, because common tools do not write such archives.

# Converts a number to n bytes, lowest byte first.
low_first <- function(x, n) as.raw(x %/% 256^(seq_len(n) - 1) %% 256)

crc_table <- local({
  step <- function(x) {
    halved <- bitwAnd(bitwShiftR(x, 1L), 0x7fffffff)
    if (bitwAnd(x, 1L) == 1L) bitwXor(halved, -306674912L) else halved # 0xedb88320
  }
  vapply(0:255, function(x) Reduce(function(x, i) as.integer(step(x)), 1:8, x), 0L)
})

# CRC-32 checksum of a raw vector.
crc_of <- function(bytes) {
  crc <- -1L
  for (byte in as.integer(bytes)) {
    index <- bitwAnd(bitwXor(crc, byte), 255L) + 1L
    crc <- bitwXor(as.integer(bitwShiftR(crc, 8L)), crc_table[[index]])
  }
  bitwNot(crc) %% 2^32
}

# Makes a file of a zip archive. `size`: size of the file in the archive's directory, which may be
# wrong. `mode`: Unix file type and permissions of the file.
zip_entry <- function(name, content = "{}", size = NULL, mode = 33188, crc = NULL) {
  content <- if (is.raw(content)) content else charToRaw(enc2utf8(content))
  packed <- memCompress(content, "gzip")
  packed <- packed[3:(length(packed) - 4L)] # removes the header and the checksum of zlib
  list(
    name = if (is.raw(name)) name else charToRaw(name), packed = packed,
    size = size %||% length(content), true_size = length(content), mode = mode,
    crc = crc %||% crc_of(content)
  )
}

# Writes a zip archive of files that zip_entry() made. The end of the archive contains the position
# of its directory; `before` is subtracted from this position, so that it is wrong unless `before`
# is 0.
write_zip <- function(path, ..., before = 0) {
  bytes <- list()
  directory <- list()
  position <- 0
  for (entry in list(...)) {
    sizes <- c(
      low_first(entry$crc, 4), low_first(length(entry$packed), 4), low_first(entry$size, 4),
      low_first(length(entry$name), 2), low_first(0, 2)
    )
    header <- unlist(lapply(c(20, 0, 8, 0, 33), low_first, 2))
    bytes[[length(bytes) + 1L]] <- entry_bytes <- c(
      charToRaw("PK\003\004"), header, sizes, entry$name, entry$packed
    )
    directory[[length(directory) + 1L]] <- c(
      charToRaw("PK\001\002"), low_first(20 + 3 * 256, 2), header, sizes, low_first(0, 6),
      low_first(entry$mode * 65536, 4), low_first(position, 4), entry$name
    )
    position <- position + length(entry_bytes)
  }
  directory <- unlist(directory)
  end_record <- c(
    charToRaw("PK\005\006"), low_first(0, 4), low_first(...length(), 2), low_first(...length(), 2),
    low_first(length(directory), 4), low_first(position - before, 4), low_first(0, 2)
  )
  writeBin(c(unlist(bytes), directory, end_record), path)
  path
}

# Files of an Inspect log, as arguments of zip_entry().
inspect_files <- function(samples = 4L) {
  sample <- function(i) {
    sprintf(paste0(
      "{\"id\": %d, \"epoch\": 1, \"target\": \"x\", \"scores\": {\"a\": {\"value\": \"C\"}, ",
      "\"b\": {\"value\": \"%s\"}}}"
    ), i, if (i %% 2 == 0) "C" else "I")
  }
  c(
    list(zip_entry("header.json", "{\"eval\": {\"model\": \"m\", \"task\": \"t\"}}")),
    lapply(seq_len(samples), function(i) zip_entry(file.path("samples", sprintf("%d.json", i)), sample(i)))
  )
}

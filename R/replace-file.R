# Files that are whole at any time.

# Written beside its place and moved there: whatever goes wrong, the file before stays. `is_whole`
# looks at what was written, since of a disk that is full R may say nothing. Returns whether the
# file was replaced. A link stays a link.
replace_file <- function(path, write, is_whole) {
  path <- normalizePath(path, mustWork = FALSE) # files move within one disk only
  temporary <- tempfile(".fallible-", dirname(path)) # no file of somebody else
  on.exit(unlink(temporary))
  suppressWarnings(tryCatch(
    {
      write(temporary)
      is_whole(temporary) && file.rename(temporary, path)
    },
    error = function(e) FALSE
  ))
}

file_bytes <- function(path) readBin(path, "raw", file.size(path))

# Files that are there as a whole, or as they were.

# Written beside its place and moved there: whatever goes wrong leaves the file before. `is_whole`
# looks at what was written, since of a disk that is full R may say nothing. Was it replaced?
replace_file <- function(path, write, is_whole) {
  beside <- paste0(path, ".new")
  replaced <- FALSE
  on.exit(if (!replaced) unlink(beside))
  replaced <- suppressWarnings(tryCatch(
    {
      write(beside)
      is_whole(beside) && file.rename(beside, path)
    },
    error = function(e) FALSE
  ))
  replaced
}

file_bytes <- function(path) readBin(path, "raw", file.size(path))

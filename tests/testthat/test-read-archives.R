# nolint start: nonportable_path_linter, absolute_path_linter. Names in archives.
log_with <- function(..., before = 0, envir = parent.frame()) {
  path <- withr::local_tempfile(fileext = ".eval", .local_envir = envir)
  do.call(write_zip, c(path, inspect_files(), list(...), before = before))
}

class_of <- function(code) {
  tryCatch(
    {
      quiet(code)
      "read"
    },
    error = function(cnd) class(cnd)[[1L]]
  )
}

gzip_of <- function(text, envir = parent.frame(), fileext = ".csv.gz") {
  path <- withr::local_tempfile(fileext = fileext, .local_envir = envir)
  to <- gzfile(path, "wb")
  writeLines(text, to)
  close(to)
  path
}

test_that("archives that are well meant are read", {
  skip_if_not_installed("jsonlite")
  x <- read_ratings(log_with(zip_entry("samples/", ""), zip_entry("notes/a..b:c.txt", "x")))
  expect_identical(x$raters, c("a", "b"))
  expect_length(x$cases, 4L)
})

test_that("files of archives that lead elsewhere are refused, and nothing is written", {
  skip_if_not_installed("jsonlite")
  outside <- withr::local_tempfile(fileext = ".json")
  writeLines("mine", outside)
  up <- paste0(strrep("../", 12), sub("^([A-Za-z]:)?/", "", normalizePath(outside, "/")))
  names <- c(
    paste0("samples/", up), up, outside, "..", "samples/..", "/etc/x.json", "C:/x.json", "c:x.json",
    "samples\\..\\x.json", "\\\\host\\x.json", "samples/1.json"
  )
  found <- vapply(names, function(name) {
    class_of(read_ratings(log_with(zip_entry(name, "{\"id\": 1}"))))
  }, "")
  expect_identical(unname(found), rep("fallible_error_archive", length(names)))
  expect_identical(readLines(outside), "mine")
  hidden <- zip_entry(as.raw(c(0x61, 0, 0x2e, 0x2e, 0x2f)))
  expect_error(read_ratings(log_with(hidden)), class = "fallible_error_archive")
  link <- zip_entry("samples/9.json", "/etc/passwd", mode = 41471)
  expect_error(read_ratings(log_with(link)), "contains a link, so nothing was unpacked", class = "fallible_error_archive")
  expect_error(
    read_ratings(log_with(zip_entry("../x.json"))), "would be written outside its folder",
    class = "fallible_error_file"
  )
})

test_that("a directory that lies is found out", {
  skip_if_not_installed("jsonlite")
  sample <- "{\"id\": 9, \"epoch\": 1, \"scores\": {\"a\": {\"value\": \"C\"}}}"
  for (size in c(10, nchar(sample) + 1000)) {
    path <- log_with(zip_entry("samples/9.json", sample, size = size))
    expect_error(read_ratings(path), class = "fallible_error_file")
  }
  # Two directories, of which readers take the one or the other.
  for (before in c(-7, 7)) {
    expect_error(read_ratings(log_with(before = before)), "damaged", class = "fallible_error_file")
  }
  whole <- file_bytes(log_with())
  cut <- withr::local_tempfile(fileext = ".eval")
  for (n in c(4, 100, length(whole) - 10)) {
    writeBin(whole[seq_len(n)], cut)
    expect_error(read_ratings(cut), "damaged", class = "fallible_error_file")
  }
})

test_that("an archive without the header of a log is no log", {
  path <- write_zip(withr::local_tempfile(fileext = ".eval"), inspect_files()[[2L]])
  expect_no_warning(expect_error(
    read_ratings(path, format = "inspect"), "not a log of Inspect", class = "fallible_error_file"
  ))
})

test_that("limits hold before bytes are written, and an option raises them", {
  skip_if_not_installed("jsonlite")
  blank <- raw(12e6)
  blank[] <- charToRaw(" ")
  bomb <- log_with(zip_entry("samples/9.json", blank, crc = 0))
  expect_error(read_ratings(bomb), "at most 200 times its own size", class = "fallible_error_limit")
  withr::local_options(fallible.file_limits = c(entries = 4))
  expect_error(read_ratings(log_with()), "at most 4 files", class = "fallible_error_limit")
  withr::local_options(fallible.file_limits = c(entries = 6, megabytes = 1))
  expect_length(read_ratings(log_with())$cases, 4L)
  expect_error(read_ratings(bomb), "at most 1 MB", class = "fallible_error_limit")
  # Of a file no more is unpacked than the directory says.
  small <- log_with(zip_entry("other.txt", blank, size = 10, crc = 0))
  out <- utils::unzip(small, "other.txt", exdir = withr::local_tempdir())
  expect_identical(file.size(out), 10)
})

test_that("gzip is unpacked to its limit, whatever its end says", {
  text <- c("case,rater,rating", "1,a,x", "1,b,y", rep("2,a,y", 2.4e6))
  path <- gzip_of(text)
  bytes <- file_bytes(path)
  writeBin(replace(bytes, length(bytes) - 0:3, as.raw(c(0, 0, 0, 9))), path)
  for (limits in list(c(ratio = 200), c(ratio = 2000, megabytes = 11))) {
    withr::local_options(fallible.file_limits = limits)
    scratch <- withr::local_tempdir()
    expect_error(open_input(path, list(scratch = scratch)), class = "fallible_error_limit")
    expect_lte(sum(file.size(list.files(scratch, full.names = TRUE))), 11e6)
  }
})

test_that("JSON is counted before it is parsed, and so are the tables that it would be", {
  skip_if_not_installed("jsonlite")
  written <- function(lines, fileext) {
    path <- withr::local_tempfile(fileext = fileext, .local_envir = parent.frame(2))
    writeLines(lines, path)
    path
  }
  records <- function(n) {
    sprintf("{\"case\":%d,\"rater\":\"%s\",\"rating\":\"x\"}", seq_len(n), c("a", "b"))
  }
  array <- function(lines) paste0("[", paste(lines, collapse = ","), "]")
  spent <- vapply(c(500, 1000), function(n) {
    input <- open_input(written(array(records(n)), ".json"), list(scratch = tempdir()))
    input$document
    input$n_json_cells
  }, 0)
  # Ten for each object, the array and the document, and one for each comma.
  expect_identical(spent, 10 * (c(500, 1000) + 2) + 3 * c(500, 1000) - 1)
  own <- sprintf("{\"case\":%1$d,\"k%1$d\":1}", 1:300)
  nested <- sprintf("{\"case\":%1$d,\"m\":{\"k%1$d\":1}}", 1:300)
  listed <- sprintf("{\"case\":%d,\"m\":%s}", 1:2, array(own))
  deep <- paste0("[{\"a\":", strrep("[", 1000), strrep("]", 1000), "}]")
  withr::local_options(fallible.file_limits = c(cells = 2e4))
  found <- c(
    class_of(read_ratings(written(array(own), ".json"))),
    class_of(read_ratings(written(own, ".jsonl"))),
    class_of(read_ratings(written(nested, ".jsonl"))),
    class_of(read_ratings(written(listed, ".jsonl"))),
    class_of(read_ratings(written(rep("{}", 2001), ".jsonl"))),
    class_of({
      options(fallible.file_limits = c(cells = 9000))
      read_ratings(written(deep, ".json"))
    }),
    class_of({
      options(fallible.file_limits = c(megabytes = 1e-3))
      read_ratings(written(array(records(100)), ".json"))
    })
  )
  # Objects in fields are not made tables of.
  expect_identical(found, paste0("fallible_error_", rep(c("limit", "file", "limit"), c(3, 1, 3))))
  options(fallible.file_limits = c(columns = 400))
  expect_match(class_of(read_ratings(written(own, ".jsonl"))), "_file$") # without raters
})

test_that("tables of text are counted before they are taken apart", {
  written <- function(...) {
    path <- withr::local_tempfile(fileext = ".csv", .local_envir = parent.frame())
    writeLines(c(...), path)
    path
  }
  table <- c("case,rater,rating", "1,a,x", "1,b,y")
  withr::local_options(fallible.file_limits = c(columns = 20, cells = 100))
  expect_s3_class(read_ratings(written(table)), "ratings")
  found <- c(
    class_of(read_ratings(written(toString(1:21), toString(1:21)))),
    class_of(read_ratings(written(table, rep("2,a,x", 100)))),
    class_of(read_ratings(written(rep("", 200), table))),
    class_of(read_ratings(written(strrep("x", 3e4), table)))
  )
  expect_identical(found, rep("fallible_error_limit", 4L))
})

test_that("a sheet of few cells that lie far apart is refused", {
  skip_if_not_installed("readxl")
  folder <- withr::local_tempdir()
  files <- utils::unzip(test_path("files", "wide.xlsx"), exdir = folder)
  with_cell <- function(at, row) {
    entries <- lapply(files, function(file) {
      text <- paste(readLines(file, warn = FALSE), collapse = "\n")
      cell <- sprintf("<row r=\"%d\"><c r=\"%s%1$d\"><v>1</v></c></row></sheetData>", row, at)
      if (endsWith(file, "sheet1.xml")) text <- sub("</sheetData>", cell, text, fixed = TRUE)
      zip_entry(substring(file, nchar(folder) + 2L), text)
    })
    path <- withr::local_tempfile(fileext = ".xlsx", .local_envir = parent.frame())
    do.call(write_zip, c(path, entries))
  }
  withr::local_options(fallible.file_limits = c(cells = 1e6))
  read <- function(...) class_of(read_ratings(with_cell(...), case = "a", raters = c("b", "c")))
  expect_identical(read("XFD", 1000000L), "fallible_error_limit")
  expect_identical(read("A", 1000000L), "fallible_error_limit")
  expect_identical(read("ZZZZZ", 10L), "fallible_error_limit")
  expect_no_match(read("A", 10L), "limit")
})

test_that("limits are positive numbers with names that are known", {
  path <- test_path("files", "long.csv")
  for (limits in list("many", 5, c(rows = 3), c(cells = -1), c(cells = NA_real_))) {
    withr::local_options(fallible.file_limits = limits)
    expect_error(read_ratings(path), class = "fallible_error_option")
  }
})

test_that("what is refused, and how to go on, is said", {
  skip_if_not_installed("jsonlite")
  withr::local_dir(withr::local_tempdir())
  do.call(write_zip, c("log.eval", inspect_files(), list(zip_entry("samples/../../x.json"))))
  expect_snapshot(error = TRUE, read_ratings("log.eval"))
  do.call(write_zip, c("log.eval", inspect_files()))
  withr::local_options(fallible.file_limits = c(entries = 3))
  expect_snapshot(error = TRUE, read_ratings("log.eval"))
})
# nolint end

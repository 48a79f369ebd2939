write_bytes <- function(..., file = "ratings.csv", envir = parent.frame()) {
  path <- file.path(withr::local_tempdir(.local_envir = envir), file)
  pieces <- lapply(list(...), function(x) if (is.character(x)) charToRaw(x) else x)
  writeBin(unlist(pieces), path)
  path
}

header <- "case,rater,rating\n"
rows <- "1,a,x\n1,b,y\n2,a,y\n2,b,y\n"

test_that("what RFC 4180 allows is read", {
  expect_rating <- function(text, rating) {
    x <- read_ratings(write_bytes(header, rows, text))
    expect_identical(as.character(tidy(x)$rating)[tidy(x)$case == "3"], rating, label = text)
  }
  expect_rating("3,a,\"two\nlines\"\n3,b,x\n", c("two\nlines", "x"))
  expect_rating("3,a,\"a \"\"b\"\"\"\n3,b,x\n", c("a \"b\"", "x"))
  expect_rating("3,a,\"x, y\"\n3,b,#x", c("x, y", "#x"))
  expect_rating("\n3,a,\"\"\n3,b,x\n\n", "x")
  x <- read_ratings(write_bytes(as.raw(c(0xef, 0xbb, 0xbf)), "\"case\",rater,rating\r\n", gsub(
    "\n", "\r\n", rows
  )))
  expect_identical(x$categories, c("x", "y"))
  expect_no_warning(read_ratings(write_bytes(header, "1,a,x\n1,b,y"))) # no line break at the end
})

test_that("the mark of UTF-8 is no part of the first name, whatever the locale", {
  path <- write_bytes(as.raw(c(0xef, 0xbb, 0xbf)), "\n", header, rows)
  json <- write_bytes(
    as.raw(c(0xef, 0xbb, 0xbf)), "{\"case\": 1, \"rater\": \"a\", \"rating\": \"x\"}\n",
    "{\"case\": 1, \"rater\": \"b\", \"rating\": \"y\"}\n", file = "ratings.txt"
  )
  withr::local_locale(LC_CTYPE = "C") # where readLines() leaves it
  expect_identical(read_ratings(path)$categories, c("x", "y"))
  skip_if_not_installed("jsonlite")
  expect_identical(read_ratings(json)$raters, c("a", "b"))
})

test_that("no line and no field of a table gets lost", {
  labels <- c("x", " y", "#z", "a, b", "c \"d\"", "two\nlines", "NA", "")
  for (seed in 1:20) {
    set.seed(seed)
    end <- sample(c("\n", "\r\n"), 1L)
    rating <- c("x", "y", sample(labels, 16, TRUE))
    quoted <- sprintf("\"%s\"", gsub("\"", "\"\"", rating))
    bare <- seed %% 2 == 0 & !grepl("[,\"\n]", rating)
    lines <- paste(rep(1:9, each = 2), c("a", "b"), ifelse(bare, rating, quoted), sep = ",")
    text <- paste(c("case,rater,rating", lines, if (seed %% 3 == 0) ""), collapse = end)
    path <- write_bytes(text, if (seed %% 2 == 0) end)
    input <- open_input(path, list(scratch = withr::local_tempdir()))
    expect_identical(read_csv(input)$rating, rating, label = seed)
  }
})

test_that("a long field is read in no time", {
  field <- strrep("x", 1e6)
  path <- write_bytes(header, "1,a,", field, "\n1,b,y\n")
  time <- system.time(x <- read_ratings(path))
  expect_identical(nchar(x$categories), c(1e6L, 1L))
  expect_lt(sum(time[1:2]), 5)
})

test_that("faulty tables are refused, with the line", {
  expect_fault <- function(..., words) {
    expect_error(read_ratings(write_bytes(...)), words, class = "fallible_error_file")
  }
  expect_fault(header, rows, "3,a,x,y\n", words = "Line 6 has 4 columns")
  expect_fault(header, rows, "3,a,\"x\n3,b,x\n", words = "Line 6 begins a quote")
  expect_fault(header, rows, "3,a,x\n3,b,\"x", words = "Line 7 begins a quote")
  expect_fault(header, rows, "3,a\n3,b,\"x", words = "begins a quote")
  expect_fault(header, "1,a,\"two\nlines\"\n1,b,x,y\n", words = "Line 4 has 4 columns")
  expect_fault(header, rows, "3,\"a\n,x\"\n3,b,x\n", words = "Line 7 has 2 columns")
  expect_fault("title of the table\n", header, rows, words = "skip = 1")
  expect_fault("title, of the table\n", header, rows, words = "skip = 1")
  expect_fault(header, words = "no rows")
  expect_fault("title of the table\n", header, rows, words = "looks like text that begins")
  expect_fault(header, rows, as.raw(c(0x33, 0, 0x2c)), words = "zero bytes")
})

test_that("fields that are missing at the end of a row are empty, with a note", {
  expect_filled <- function(..., rating) {
    expect_warning(
      x <- read_ratings(write_bytes(...)), "Filled: .*\"rating\"", class =
        "fallible_warning_left_out"
    )
    expect_identical(nrow(tidy(x)), rating)
  }
  expect_filled(header, rows, "3,a\n3,b,x\n", rating = 5L)
  expect_filled(header, rows, "3,a,x\n3,b\r\n", rating = 5L)
  expect_filled(header, "1,a,\"two\nlines\"\n1,b\n2,b,x\n", rating = 2L)
  lines <- "case,rater,rating,\"more\"\n1,a,\"x\ny\"\n1,b,y\n"
  expect_warning(x <- read_ratings(write_bytes(lines)), "2 rows without the last fields")
  expect_identical(x$categories, c("x\ny", "y"))
})

test_that("lines above a table are skipped", {
  path <- write_bytes("Title, of a table\n\n", header, rows)
  for (skip in 1:2) {
    expect_identical(nrow(tidy(read_ratings(path, file = list(skip = skip)))), 4L)
  }
  expect_error(read_ratings(path, file = list(skip = -1)), class = "fallible_error_argument")
  expect_error(read_ratings(path, file = list(range = 1)), class = "fallible_error_argument")
  padded <- write_bytes("Title,,\n,,\n", header, rows)
  expect_warning(x <- read_ratings(padded), "2 lines above the table", class =
    "fallible_warning_left_out")
  expect_identical(nrow(tidy(x)), 4L)
})

test_that("constants of Python are missing values in JSON, and too large numbers an error", {
  skip_if_not_installed("jsonlite")
  rows <- c(
    '{"case":1,"rater":"a","rating":"NaN, -Infinity","p":NaN}',
    '{"case":1,"rater":"b","rating":"y","p":[Infinity,-Infinity]}',
    '{"case":2,"rater":"a","rating":NaN,"p":"\\"NaN"}', '{"case":2,"rater":"b","rating":"y"}'
  )
  array <- paste0("[", paste(rows, collapse = ", "), "]")
  for (text in list(rows, array)) {
    path <- write_bytes(paste(text, collapse = "\n"), file = if (length(text) > 1L) "v.jsonl" else
      "v.json")
    x <- read_ratings(path)
    expect_identical(as.character(tidy(x)$rating), c("NaN, -Infinity", "y", "y"))
  }
  for (large in c("1e400", "-1E+309", "[1, {\"a\": 1e999}]")) {
    path <- write_bytes(sub("NaN}", paste0(large, "}"), rows[[1L]], fixed = TRUE), file = "v.jsonl")
    expect_error(read_ratings(path), "line 1.*too large", class = "fallible_error_file")
  }
  path <- write_bytes(sub("NaN}", "\"1e400\"}", paste(rows, collapse = "\n")), file = "v.jsonl")
  expect_no_error(read_ratings(path))
  path <- write_bytes(sub("NaN}", "NaNs}", paste(rows, collapse = "\n")), file = "v.jsonl")
  expect_error(read_ratings(path), "not valid JSON in line 1", class = "fallible_error_file")
})

test_that("text in other encodings is told, and read when it is named", {
  latin <- as.raw(c(0x67, 0x72, 0xfc, 0x6e)) # gruen
  path <- write_bytes(header, "1,a,", latin, "\n1,b,y\n")
  expect_error(read_ratings(path), "row 1 of column \"rating\"", class = "fallible_error_file")
  x <- read_ratings(path, file = list(encoding = "latin1"))
  expect_identical(x$categories, c("gr\u00fcn", "y"))
  path <- write_bytes(header, latin, ",a,x\n1,b,y\n")
  expect_error(read_ratings(path), "of column \"case\"", class = "fallible_error_file")
  path <- write_bytes("case,rater,r", latin, "\n", rows)
  expect_error(read_ratings(path), "first line", class = "fallible_error_file")
  expect_error(
    read_ratings(path, file = list(encoding = "no")), class = "fallible_error_argument"
  )
  wide <- iconv(paste0(header, rows, "3,a,gr\u00fcn\n"), "UTF-8", "UTF-16LE", toRaw = TRUE)[[1L]]
  x <- read_ratings(write_bytes(as.raw(c(0xff, 0xfe)), wide))
  expect_identical(x$categories, c("gr\u00fcn", "x", "y"))
  expect_error(read_ratings(write_bytes(wide)), class = "fallible_error_file")
})

test_that("compressed files are whole, or refused", {
  text <- paste0(header, paste0(rep(1:2000, each = 2), ",", c("a", "b"), ",", rep(c("x", "y", "z"),
    length.out = 4000), collapse = "\n"), "\n")
  path <- write_bytes("", file = "ratings.csv.gz")
  to <- gzfile(path, "w")
  writeLines(text, to, sep = "")
  close(to)
  expect_length(read_ratings(path)$cases, 2000L)
  bytes <- readBin(path, "raw", file.size(path))
  for (cut in round(seq(30, length(bytes) - 1, length.out = 60))) {
    expect_error(
      read_ratings(write_bytes(bytes[seq_len(cut)], file = "ratings.csv.gz")),
      class = "fallible_error_file"
    )
  }
  bad <- bytes
  bad[50:80] <- as.raw(255)
  expect_error(
    read_ratings(write_bytes(bad, file = "ratings.csv.gz")), "damaged or incomplete",
    class = "fallible_error_file"
  )
  # gzip files one after another are one file
  second <- write_bytes("", file = "more.gz")
  to <- gzfile(second, "w")
  writeLines("x1,a,x\nx1,b,y", to)
  close(to)
  both <- write_bytes(bytes, readBin(second, "raw", 1e5), file = "ratings.csv.gz")
  expect_length(read_ratings(both)$cases, 2001L)
})

test_that("a broken line of JSON is named", {
  skip_if_not_installed("jsonlite")
  good <- paste0('{"case": ', rep(1:3, each = 2), ', "rater": "', c("a", "b"), '", "rating": "',
    c("x", "y"), '"}')
  read <- function(lines) {
    read_ratings(write_bytes(paste(lines, collapse = "\n"), file = "v.jsonl"))
  }
  expect_identical(read(c(good[1:2], "", good[3:6]))$cases, c("1", "2", "3"))
  expect_error(read(c(good, "", "{\"case\": 4, ")), "line 8", class = "fallible_error_file")
  expect_error(read(c(good, "[1, 2]")), "Line 7", class = "fallible_error_file")
  expect_error(read(c(good, paste0(good[1], ",", good[2]))), "line 7", class =
    "fallible_error_file")
  expect_error(read(c("{", good)), "line 1", class = "fallible_error_file")
  expect_warning(read(c(good, good[1])), "1 row identical", class = "fallible_warning_left_out")
  big <- sub("1,", "1234567890123456789,", good, fixed = TRUE)
  expect_identical(read(big)$cases[[1L]], "1234567890123456789")
})

test_that("lines are read by parts, whatever fields they have", {
  skip_if_not_installed("jsonlite")
  rows <- function(case, more) paste0('{"case":', case, ',"rater":"', c("a", "b"), '","rating":"',
    c("x", "y"), '"', more, "}")
  path <- write_bytes(paste(c(rows(1, ""), rows(2, ',"z":{"u":[1,2]}')), collapse = "\n"),
    file = "v.jsonl")
  input <- open_input(path, list(scratch = withr::local_tempdir()))
  whole <- read_json_lines(input)
  expect_identical(read_json_lines(input, lines_at_once = 3L), whole)
  expect_identical(whole$z.u, list(NA_character_, NA_character_, c("1", "2"), c("1", "2")))
})

test_that("nothing of a record of JSON gets lost without a word", {
  skip_if_not_installed("jsonlite")
  good <- paste0('{"case":', 1:3, ',"rater":"a","rating":"x"}')
  read <- function(lines, file = "v.jsonl", ...) {
    read_ratings(write_bytes(paste(lines, collapse = "\n"), file = file), ...)
  }
  array <- function(lines) paste0("[", paste(lines, collapse = ","), "]")
  twice <- c(good, '{"case":4,"rater":"b","rating":"x","rating":"y"}')
  expect_error(read(twice), "twice in record 4", class = "fallible_error_file")
  expect_error(read(array(twice), "v.json"), "twice in record 4", class = "fallible_error_file")
  both <- c(good, '{"case":4,"rater":"b","rating":{"v":"y"}}')
  expect_error(read(both), "an object in one record", class = "fallible_error_file")
  expect_error(read(array(both), "v.json"), "an object in one", class = "fallible_error_file")
  apart <- c(good, '{"case":4,"rater":"b","rating":"y","m":{"n":1}}',
    '{"case":1,"rater":"b","rating":"y","m":1}')
  expect_error(read(apart), "\"m\"", class = "fallible_error_file")
  expect_length(read(apart, case = case, rater = rater, rating = rating)$cases, 4L)
  # Parts of a file without any column that is asked for, and parts that differ.
  other <- c(good[1:2], '{"else":1}', '{"else":2}')
  path <- write_bytes(paste(other, collapse = "\n"), file = "u.jsonl")
  input <- open_input(path, list(scratch = withr::local_tempdir()))
  expect_error(
    read_json_lines(input, function(names) intersect(names, "case"), lines_at_once = 2L),
    "records with none of the columns", class = "fallible_error_file"
  )
  path <- write_bytes(paste(both, collapse = "\n"), file = "w.jsonl")
  input <- open_input(path, list(scratch = withr::local_tempdir()))
  expect_error(read_json_lines(input, lines_at_once = 2L), "an object in one")
  absent <- c(good, '{"case":4,"rater":"b","rating":"y","m":null}',
    '{"case":1,"rater":"b","rating":"y","m":{"n":2}}')
  expect_length(read(absent)$cases, 4L)
})

test_that("numbers that 64 bits do not hold keep their digits", {
  skip_if_not_installed("jsonlite")
  big <- c("9223372036854775809", "9223372036854775810", "-12345678901234567890")
  rows <- paste0('{"case": ', rep(big, each = 2), ', "rater": "', c("a", "b"),
    '", "rating": "x, 12345678901234567890 \\" y", "p": 0.12345678901234567890}')
  rows[[1]] <- sub("x,", "z,", rows[[1]])
  for (lines in list(rows, paste0("[", paste(rows, collapse = ","), "]"))) {
    file <- if (length(lines) > 1L) "v.jsonl" else "v.json"
    x <- read_ratings(write_bytes(paste(lines, collapse = "\n"), file = file))
    expect_identical(x$cases, big)
    expect_setequal(x$categories, paste0(c("x", "z"), ", 12345678901234567890 \" y"))
  }
})

test_that("each value of a field of JSON becomes a label by itself", {
  skip_if_not_installed("jsonlite")
  rows <- c(
    '{"case":3000000000,"rater":"a","rating":true,"more":[1,true,"z",0.10]}',
    '{"case":"3000000000","rater":"b","rating":1,"more":[[4000000000]]}',
    '{"case":5,"rater":"a","rating":false,"more":"y"}', '{"case":"5","rater":"b","rating":true}'
  )
  for (lines in list(rows, paste0("[", paste(rows, collapse = ","), "]"))) {
    path <- write_bytes(paste(lines, collapse = "\n"), file = if (length(lines) > 1L) "v.jsonl" else
      "v.json")
    x <- read_ratings(path)
    expect_identical(x$cases, c("3000000000", "5"))
    expect_identical(x$categories, c("1", "FALSE", "TRUE"))
    x <- read_ratings(path, rating = more, repeats = "labels")
    expect_identical(x$categories, c("0.1", "1", "4000000000", "TRUE", "y", "z"))
  }
  min <- write_bytes('[{"id": 1, "annotator": "a", "annotation_id": 1, "q": [1, true, "x"]},
    {"id": 1, "annotator": "b", "annotation_id": 2, "q": ["y", 3000000000]}]', file = "min.json")
  x <- read_ratings(min, rating = q, repeats = "labels")
  expect_identical(x$categories, c("1", "3000000000", "TRUE", "x", "y"))
})

test_that("an empty list of JSON is an answer without labels, if answers have several labels", {
  skip_if_not_installed("jsonlite")
  for (labels in list('["x","y"]', '["x"]')) {
    answers <- c(labels, "[]", '["y"]', "null")
    records <- sprintf('{"case":%d,"rater":"%s","rating":%s}', c(1, 1, 2, 2), c("a", "b"), answers)
    path <- write_bytes(paste(records, collapse = "\n"), file = "v.jsonl")
    x <- suppressWarnings(read_ratings(path, repeats = "labels"))
    expect_identical(x$empty_answers, list(case = 1L, rater = 2L))
  }
  # With one label per answer, it is a missing rating.
  expect_identical(nrow(tidy(suppressWarnings(read_ratings(path)))), 2L)
  doccano <- '{"id":%d,"text":"t","label":%s}'
  files <- c(
    ann = write_bytes(paste(sprintf(doccano, 1:2, c('["P"]', "[]")), collapse = "\n"), file =
      "ann.jsonl"),
    bob = write_bytes(paste(sprintf(doccano, 1:2, c('["P","N"]', '["N"]')), collapse = "\n"), file =
      "bob.jsonl")
  )
  empty <- read_ratings(files, repeats = "labels")$empty_answers
  expect_identical(empty, list(case = 2L, rater = 1L))
  # Rows of Argilla with answers to other questions are not answers to this question.
  answer <- '{"user_id":"%s","values":{"tone":{"value":"good"},"topics":{"value":%s}}}'
  record <- '{"id":%d,"fields":{"text":"t"},"responses":[%s,%s]}'
  answers <- sprintf(answer, c("a", "b"), c('["x","y"]', "[]", '["y"]', '["x"]'))
  argilla <- sprintf(record, 1:2, answers[c(1, 3)], answers[c(2, 4)])
  path <- write_bytes(paste(argilla, collapse = "\n"), file = "argilla.jsonl")
  x <- read_ratings(path, rating = topics, repeats = "labels")
  expect_identical(x$empty_answers, list(case = 1L, rater = 2L))
  expect_identical(as.character(tidy(x)$rating), c("x", "y", "y", "x"))
})

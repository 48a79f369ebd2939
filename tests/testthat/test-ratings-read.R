write_files <- function(compress) {
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  save <- function(table, stem) {
    path <- file.path(folder, paste0(stem, if (compress) ".csv.gz" else ".csv"))
    connection <- if (compress) gzfile(path, "w") else file(path, "w")
    utils::write.csv(table, connection, row.names = FALSE, na = "")
    close(connection)
  }
  x <- lehner_ratings()
  save(as.data.frame(x), "ratings")
  save(tidy(x, "systems"), "systems")
  folder
}

test_that("a folder with ratings and systems is read, compressed or not", {
  for (compress in c(FALSE, TRUE)) {
    folder <- write_files(compress)
    x <- read_ratings(folder)
    expect_equal(point_estimate(x), 0.731427, tolerance = 1e-6)
    expect_type(x$cases, "character")
  }
  unlink(file.path(folder, "systems.csv.gz"))
  expect_length(read_ratings(folder)$systems, 0)
  expect_length(read_ratings(write_files(FALSE), systems = FALSE)$systems, 0)
})

test_that("labels stay text", {
  folder <- withr::local_tempdir()
  writeLines(
    c("case,rater,rating", "007,1,01", "007,2,01", "008,1,02", "008,2,", "009,1,NA"),
    file.path(folder, "ratings.csv")
  )
  x <- read_ratings(file.path(folder, "ratings.csv"))
  expect_identical(x$categories, c("01", "02"))
  expect_identical(x$cases, c("007", "008", "009"))
  expect_identical(nrow(as.data.frame(x)), 3L)
})

test_that("missing files and columns are refused", {
  folder <- withr::local_tempdir()
  expect_error(read_ratings(file.path(folder, "none")), class = "fallible_error_file")
  expect_error(read_ratings(3), class = "fallible_error_file")
  empty <- expect_error(read_ratings(folder), class = "fallible_error_file")
  expect_no_match(conditionMessage(empty), "It has")
  writeLines(c("case,rater", "1,2"), file.path(folder, "ratings.csv"))
  expect_error(read_ratings(folder), "with the columns \"case\"", class = "fallible_error_file")
  writeLines(c("case;rater;rating", "1;2;a"), file.path(folder, "ratings.csv"))
  expect_error(
    read_ratings(folder, file = list(sep = ",")), "looks like", class = "fallible_error_file"
  )
  header <- c("case,rater,rating", "1,r1,a", "1,r2,b")
  writeLines(c(header, "2,r1,\"a", "2,r2,a"), file.path(folder, "ratings.csv"))
  expect_error(read_ratings(folder), "Line 4 begins a quote", class = "fallible_error_file")
  writeLines(c(header, "2,r1,a", "2,r2,a", "3,r1,a,zz,yy"), file.path(folder, "ratings.csv"))
  expect_error(read_ratings(folder), "Line 6 has 5 columns", class = "fallible_error_file")
  writeLines(paste0(header, ","), file.path(folder, "ratings.csv"))
  expect_identical(nrow(tidy(read_ratings(folder))), 2L)
  writeLines("", file.path(folder, "ratings.csv"))
  expect_error(read_ratings(folder), "is empty", class = "fallible_error_file")
  for (nowhere in c("none.csv", folder)) {
    expect_error(read_ratings(write_files(FALSE), systems = nowhere),
      class = "fallible_error_file")
  }
  expect_error(read_ratings(write_files(FALSE), systems = 3), class = "fallible_error_argument")
})

test_that("arguments are checked, and columns mapped", {
  folder <- write_files(FALSE)
  expect_identical(
    tidy(read_ratings(folder, case = "case")), tidy(read_ratings(folder))
  )
  expect_error(read_ratings(folder, case = "x"), class = "fallible_error_columns")
  expect_error(read_ratings(folder, file = list(sep = ",,")), class = "fallible_error_argument")
  expect_identical(read_ratings(folder, na = 3), read_ratings(folder, na = "3"))
  expect_error(read_ratings(folder, na = TRUE), class = "fallible_error_argument")
  expect_error(read_ratings(folder, na = list(3)), class = "fallible_error_argument")
  expect_error(read_ratings(folder, na = "\xff"), class = "fallible_error_argument")
  expect_error(read_ratings(folder, file = list(sep = "\xff")), class = "fallible_error_argument")
  expect_error(read_ratings(folder, clean_labels = "yes"), class = "fallible_error_argument")
})

write_long <- function(..., file = "export.csv") {
  path <- file.path(withr::local_tempdir(.local_envir = parent.frame()), file)
  writeLines(c("item,who,verdict", ...), path)
  path
}

read_long <- function(path, ...) {
  read_ratings(path, case = item, rater = who, rating = verdict, ...)
}

test_that("predictions may be a table or file of their own, with the names of the call", {
  path <- write_long("1,a,x", "1,b,y", "2,a,y", "2,b,y")
  table <- data.frame(item = c("1", "2"), who = "m", verdict = c("x", "?"))
  own <- stats::setNames(table, c("case", "system", "prediction"))
  expect_warning(x <- read_long(path, systems = own), class = "fallible_warning_missing")
  expect_identical(as.character(tidy(x, "systems")$prediction), "x")
  expect_identical(suppressWarnings(read_long(path, systems = table)), x)
  beside <- write_long("1,m,x", "2,m,?", file = "models.csv")
  expect_identical(suppressWarnings(read_long(path, systems = beside)), x)
  file.copy(beside, file.path(dirname(path), "systems.csv"))
  expect_identical(suppressWarnings(read_long(path)), x)
  expect_length(read_long(path, systems = FALSE)$systems, 0L)
  expect_error(read_long(path, systems = "c"), "no rater and no file",
    class = "fallible_error_file")
  expect_error(read_long(path, systems = c("a", "c")), class = "fallible_error_system")
})

test_that("rows without case, rater and rating are dropped, with a note", {
  path <- write_long("1,a,x", "1,b,y", ",,", " , ,", "2,a,y", "2,b,y")
  expect_warning(x <- read_long(path), "2 rows without case", class = "fallible_warning_left_out")
  expect_identical(nrow(tidy(x)), 4L)
  path <- withr::local_tempfile(fileext = ".csv", lines = c(
    "ann,bob,note", "x,y,", ",,", "y,y,", ",,only a note"
  ))
  expect_warning(x <- read_ratings(path, raters = ann:bob), "1 row without")
  expect_identical(nrow(x), 3L)
})

test_that("copies of rows are left out if a row is a case, but not other rows of the same case", {
  lines <- c("case,ann,bob,note", "1,x,y,p", "1,x,y,p", "2,x,x,p", "3,y,y,p")
  path <- withr::local_tempfile(fileext = ".csv", lines = lines)
  expect_warning(x <- read_ratings(path, case = case, raters = c(ann, bob)),
    "1 row identical to another row", class = "fallible_warning_left_out")
  expect_identical(as.character(x$cases), c("1", "2", "3"))
  writeLines(sub("2,x,x,p", "1,x,y,q", lines), path)
  expect_error(suppressWarnings(read_ratings(path, case = case, raters = c(ann, bob))),
    "keep only one of the rows", class = "fallible_error_case")
  # Without identifiers, equal rows are different cases.
  expect_identical(nrow(read_ratings(path, raters = c(ann, bob))), 4L)
  # Copies of long data are equal in all columns of the file.
  path <- write_long("1,a,x", "1,a,x", "1,b,y", "2,a,x", "2,b,x")
  expect_warning(x <- read_long(path), "1 row identical to another row",
    class = "fallible_warning_left_out")
  expect_identical(nrow(as.data.frame(x)), 4L)
  expect_identical(nrow(as.data.frame(read_long(path, repeats = "ratings"))), 5L)
  writeLines(paste0(readLines(path), ",", c("day", 1:5)), path)
  expect_error(read_long(path), class = "fallible_error_repeat")
})

test_that("files that name cases alike are an error, unless it is known what they mean", {
  folder <- withr::local_tempdir()
  save <- function(name, ...) {
    path <- file.path(folder, name)
    writeLines(c("item,who,verdict", ...), path)
    path
  }
  files <- c(save("one.csv", "1,a,x", "2,a,y"), save("two.csv", "1,b,x", "2,b,x", "3,b,y"))
  found <- expect_error(read_long(files), "one.csv.*two.csv.*\"1\" and 1 more.*c\\(file, item\\)",
    class = "fallible_error_repeat")
  expect_identical(found$case, c("1", "2"))
  for (repeats in c("error", "ratings", "reruns", "labels"))
    expect_error(read_long(files, repeats = repeats), "same_cases", class = "fallible_error_repeat")
  reruns <- read_long(rep(files[1], 2), file = list(same_cases = TRUE), repeats = "reruns")
  expect_identical(dim(reruns), c(2L, 1L))
  expect_identical(dim(read_long(files, file = list(same_cases = TRUE))), c(3L, 2L))
  expect_identical(dim(read_ratings(files, case = c(file, item), rater = who, rating = verdict)),
    c(5L, 2L))
  expect_identical(read_ratings(files, case = item, rater = file, rating = verdict)$raters,
    c("one", "two"))
  expect_length(read_long(c(files[1], save("three.csv", "4,b,x", "5,b,y")))$cases, 4L)
  dir.create(file.path(folder, "more"))
  same_name <- c(files[1], save(file.path("more", "one.csv"), "1,b,x", "2,b,x"))
  x <- read_ratings(same_name, case = c(file, item), rater = who, rating = verdict)
  expect_length(x$cases, 4L)
})

test_that("a typo in a field of JSON lists all fields and proposes the nearest", {
  skip_if_not_installed("jsonlite")
  path <- withr::local_tempfile(fileext = ".jsonl", lines = sprintf(
    '{"item": 1, "judge_model": "%s", "verdict": "%s", "note": "n"}', c("a", "b"), c("x", "y")
  ))
  expect_error(read_ratings(path, case = item, rater = judge, rating = verdict),
    "no column \"judge\".*Did you mean \"judge_model\".*\"note\"", class = "fallible_error_columns")
  expect_error(read_ratings(path, case = "itm", rater = judg, rating = verdct),
    "Did you mean \"item\".*\"note\"", class = "fallible_error_columns")
})

test_that("the hint for `na` keeps the labels that the user gave", {
  path <- write_long("1,a,x", "1,b,None", "2,a,missing", "2,b,y")
  expect_warning(read_long(path), "give `na = ", class = "fallible_warning_labels")
  warnings <- character()
  expect_message(
    withCallingHandlers(read_long(path, na = c("", "missing")), warning = function(w) {
      warnings <<- c(warnings, conditionMessage(w))
      invokeRestart("muffleWarning")
    }),
    "read as missing ratings"
  )
  expect_length(warnings, 1L)
  expect_match(warnings, "give `na = c(\"\", \"missing\", \"None\")`", fixed = TRUE)
})

test_that("labels for missing ratings are taken, and told", {
  path <- write_long("1,a,x", "1,b,-", "2,a, N/A ", "2,b,y", "3,a,", "3,b,NA", "4,a,x", "4,b,y")
  expect_snapshot(x <- read_long(path))
  expect_identical(x$categories, c("x", "y"))
  expect_identical(nrow(tidy(x)), 4L)
  expect_warning(
    y <- read_long(path, na = ""), "look like codes for missing",
    class = "fallible_warning_labels"
  )
  expect_true(all(c("-", " N/A ", "NA") %in% y$categories))
})

test_that("labels are cleaned when that is wanted", {
  path <- write_long("1,a,good", "1,b,Good ", "2,a,BAD", "2,b,bad", "3,a,good", "3,b,  bad")
  expect_warning(read_long(path), "capitals or blanks", class = "fallible_warning_labels")
  expect_snapshot(x <- read_long(path, clean_labels = TRUE))
  expect_identical(x$categories, c("bad", "good"))
  expect_identical(as.character(tidy(x)$rating), c("good", "good", "bad", "bad", "good", "bad"))
})

test_that("labels that look the same in two alphabets are told", {
  path <- write_long("1,a,A", "1,b,\u0410", "2,a,A", "2,b,B", "3,a,B\u200b", "3,b,B")
  expect_warning(
    x <- read_long(path), "differ in\\s+alphabet", class = "fallible_warning_labels"
  )
  expect_length(x$categories, 4L)
  path <- write_long("1,a,\u043d\u0435\u0442", "1,b,\u0434\u0430", "2,a,yes", "2,b,no")
  expect_no_warning(read_long(path))
})

test_that("several files must all have the columns that are asked for", {
  folder <- withr::local_tempdir()
  save <- function(name, ...) writeLines(c(...), file.path(folder, name))
  save("a.csv", "case,rater,rating,note", "1,a,x,so", "2,a,y,so")
  save("b.csv", "case,rater,rating", "1,b,x", "2,b,y")
  expect_identical(nrow(tidy(read_ratings(folder))), 4L)
  save("b.csv", "case,rater,Rating", "1,b,x", "2,b,y")
  expect_error(read_ratings(folder), "b.csv.*lacks the column \"rating\"",
    class = "fallible_error_file")
  save("a.csv", "case,ann,bob,m", "1,x,y,x")
  save("b.csv", "case,ann,Bob,m", "2,x,y,x")
  expect_error(read_ratings(folder, raters = c(ann, bob)), "b.csv.*lacks the column \"bob\"",
    class = "fallible_error_file")
  save("b.csv", "case,ann,bob,M", "2,x,y,x")
  expect_error(read_ratings(folder, raters = c(ann, bob), systems = "m"),
    "b.csv.*lacks the column \"m\"", class = "fallible_error_file")
})

test_that("cases and raters without a name are refused, and columns of one name", {
  for (nobody in c("", " ", "NA")) {
    path <- write_long("1,a,x", "1,b,y", paste0("2,", nobody, ",x"), "2,b,y")
    expect_error(read_long(path), "must be known in every row", class = "fallible_error")
    path <- write_long("1,a,x", "1,b,y", paste0(nobody, ",a,x"), "2,b,y")
    expect_error(read_long(path), "must be known in every row", class = "fallible_error")
  }
  path <- withr::local_tempfile(
    lines = c("case,rater,rating,rating,,", "1,a,x,y,,", "1,b,y,y,,"), fileext = ".csv"
  )
  expect_error(read_ratings(path), "Repeated: \"rating\"", class = "fallible_error_file")
})

test_that("names that differ in capitals or blanks are told", {
  rows <- data.frame(
    case = c("A1", "a1", "b", "b"), rater = c("Bob", "Eve", "bob ", "Eve"),
    rating = c("x", "y", "x", "x")
  )
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(rows, file, row.names = FALSE)
  told <- list()
  x <- withCallingHandlers(read_ratings(file), fallible_warning_names = function(w) {
    told[[w$what]] <<- w$ids
    expect_match(conditionMessage(w), if (w$what == "case") "\"A1\" and \"a1\"" else "\"Bob\"")
    invokeRestart("muffleWarning")
  })
  expect_identical(told[c("case", "rater")], list(case = c("A1", "a1"), rater = c("Bob", "bob ")))
  expect_identical(x$cases, c("A1", "a1", "b"))
})

test_that("columns that no argument names are not kept, unless an argument calls functions", {
  all <- c("item", "note", "rater", "m")
  keep <- function(...) new_column_selector(rlang::quos(...), list())(all)
  expect_identical(keep(case = item, raters = c(m)), c("item", "rater", "m"))
  expect_identical(keep(case = "item", rater = m, rating = note), c("item", "note", "rater", "m"))
  expect_identical(keep(case = item, raters = starts_with("m")), all)
  expect_identical(keep(case = "item", raters = c("m", )), c("item", "rater", "m"))
  expect_identical(keep(case = item, rater = m), all) # an error will list them
  expect_identical(keep(), all)
})

test_that("columns of JSON may be strings, and systems may be columns", {
  skip_if_not_installed("jsonlite")
  path <- withr::local_tempfile(fileext = ".jsonl", lines = sprintf(
    '{"id": %d, "r1": "%s", "r2": "%s", "gpt": "x"}', 1:3, c("x", "y", "x"), c("x", "y", "y")
  ))
  x <- read_ratings(path, case = "id", raters = c("r1", "r2"), systems = c("gpt"))
  expect_identical(x, read_ratings(path, case = id, raters = r1:r2, systems = gpt))
  expect_identical(x$systems, "gpt")
})

test_that("errors name the argument that was written, and all fields", {
  path <- withr::local_tempfile(lines = c("id,r1,r2", "1,x,y", "2,x,x"), fileext = ".csv")
  e <- expect_error(read_ratings(path, case = id, raters = r1:r3), "Did you mean \"r1\"")
  expect_identical(e$arg, "raters")
  expect_no_match(conditionMessage(e), "file")
  skip_if_not_installed("jsonlite")
  path <- withr::local_tempfile(fileext = ".jsonl", lines = sprintf(
    '{"prompt": %d, "scores": {"gpt": "pass", "claude": "fail"}}', 1:3
  ))
  expect_error(read_ratings(path, case = prompt), "\"scores.gpt\"", class = "fallible_error_file")
})

test_that("empty fields are missing whatever `na` is", {
  path <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("id,ann,ben,gpt", "1,1,2,1", "2,,3,3", "3,99,1,1", "4,2,2,2"), path)
  x <- quiet(read_ratings(path, case = id, raters = ann:ben, systems = gpt, na = "99"))
  expect_identical(x$categories, c("1", "2", "3"))
  expect_identical(nrow(tidy(x)), 6L)
})

test_that("a minus is an answer next to a plus, and missing otherwise", {
  path <- write_long("1,a,+", "1,b,-", "2,a,-", "2,b,-", "3,a,+", "3,b,?")
  expect_warning(x <- read_long(path), class = "fallible_warning_missing")
  expect_identical(x$categories, c("-", "+"))
  expect_identical(nrow(tidy(x)), 5L)
  expect_error(quiet(read_long(path, na = "-")), NA)
  expect_identical(quiet(read_long(path, na = "-"))$categories, c("+", "?"))
  expect_no_warning(ratings(data.frame(a = c("+", "-"), b = c("-", "-")), raters = a:b))
})

test_that("counts are read", {
  path <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(cbind(fleiss1971, s = "other"), path, row.names = FALSE)
  known <- ratings(fleiss1971, case = case, counts = depression:other)
  read <- read_ratings(path, counts = depression:other, case = case)
  expect_identical(agreement(read)$estimate, agreement(known)$estimate)
  expect_identical(dim(read), dim(known))
  expect_identical(read_ratings(path, counts = depression:other, systems = s)$systems, "s")
  bad <- cbind(fleiss1971, more = "x")
  utils::write.csv(bad, path, row.names = FALSE)
  expect_error(read_ratings(path, counts = depression:more), class = "fallible_error_counts")
})

test_that("a file of several variables is read as ratings() reads its table", {
  long <- expand.grid(id = 1:12, coder = c("a", "b", "c"), stringsAsFactors = FALSE)
  long$topic <- rep_len(c("x", "y", "x", "z"), 36)
  long$tone <- rep_len(c(1, 2, 3, 2, 1), 36)
  wide <- data.frame(
    id = 1:12, topic = split(long$topic, long$coder), tone = split(long$tone, long$coder)
  )
  file <- withr::local_tempfile(fileext = c(".csv", ".csv"))
  write.csv(long, file[[1]], row.names = FALSE)
  write.csv(wide, file[[2]], row.names = FALSE)
  from_long <- read_ratings(
    file[[1]], case = id, rater = coder, rating = c(topic, tone), systems = FALSE
  )
  from_wide <- read_ratings(
    file[[2]], case = id, systems = FALSE,
    raters = list(topic = topic.a:topic.c, tone = c(tone.a, tone.b, tone.c))
  )
  expect_named(from_long, c("topic", "tone"))
  expect_named(from_wide, c("topic", "tone"))
  direct <- ratings(long, case = id, rater = coder, rating = c(topic, tone))
  measures <- c("fleiss_kappa", "krippendorff_alpha")
  expect_identical(tidy(agreement(from_long, measures)), tidy(agreement(direct, measures)))
  expect_identical(tidy(agreement(from_wide, measures)), tidy(agreement(direct, measures)))
  expect_error(fit_raters(from_long), "[[\"topic\"]]", fixed = TRUE)
})

test_that("a column whose name begins like `file` is not taken for it", {
  folder <- withr::local_tempdir()
  for (name in c("a.csv", "b.csv")) {
    utils::write.csv(
      data.frame(item = 1:2, rater = c("r", "s"), rating = c("x", "y"), file_name = "z"),
      file.path(folder, name), row.names = FALSE
    )
  }
  files <- file.path(folder, c("a.csv", "b.csv"))
  x <- quiet(read_ratings(files, case = c(file, item), rater = rater, rating = rating))
  expect_identical(nrow(x), 4L)
})

test_that("columns of numbers are numbers, and identifiers and labels stay text", {
  path <- withr::local_tempfile(fileext = ".csv", lines = c(
    "id,r1,r2,sys,p,n,age,zip,long,sex,pass,gold,c1,c2",
    "1,1,1,1,.2,2,20,007,1234567890123456,F,TRUE,1,0.1,",
    "2,0,0,0,9e-1,1.5,35, 010,1,F,FALSE,,1,.5",
    "3,1,0,0,0.7,3,48,12,2,F,TRUE,NA,.3,NA", "4,1,1,1,.4,3,48,12,2,F,TRUE,-,.3,NA"
  ))
  read <- function(...) quiet(read_ratings(path, case = id, raters = r1:r2, ...))
  expect_identical(read(weights = n)$weights, c(2, 1.5, 3, 3))
  x <- read(systems = sys, scores = list(sys = c("1" = "p")), covariates = c(age:pass),
    confidence = c1:c2)
  expect_identical(unname(x$scores$values$sys[, 2]), c(0.2, 0.9, 0.7, 0.4))
  expect_identical(lapply(as.list(x$covariates), class), list(
    age = "integer", zip = "character", long = "character", sex = "character", pass = "logical"
  ))
  expect_identical(x$cases, as.character(1:4))
  expect_false(is.null(x$confidence))
  regression <- tidy(quiet(fit_raters(x, rater_model(base_rates = ~ age))), "regression")
  expect_identical(regression$term, c("(Intercept)", "age"))
  # Known truth may be missing in any of the ways that `na` lists.
  expect_identical(as.character(truth(read(truth = gold))$category), c("1", NA, NA, NA))
  expect_error(read(truth = gold, na = ""), "\"NA\"|\"-\"", class = "fallible_error_category")
  expect_error(read(weights = zip), class = "fallible_error_weights")
})

test_that("columns of 0 and 1 are labels of an answer with several labels", {
  path <- withr::local_tempfile(fileext = ".csv", lines = c(
    "id,who,cat,dog", "1,a,1,0", "1,b,1,1", "2,a,0,1", "2,b,0,0", "3,a,,", "3,b,1,0"
  ))
  x <- read_ratings(path, case = id, rater = who, rating = c(cat, dog), repeats = "labels")
  expect_identical(x$categories, c("cat", "dog"))
  expect_identical(as.character(tidy(x)$rating), c("cat", "cat", "dog", "dog", "cat"))
  expect_identical(x$empty_answers, list(case = 2L, rater = 2L))
})

test_that("numbers with decimal commas are numbers if columns are separated by semicolons", {
  file <- withr::local_tempfile(fileext = ".csv")
  lines <- c(
    "id;a;b;s;w;read;score;c_a;c_b;mixed;thousands;half",
    "1;x;x;x;1,5;3,3;0,25;0,5;1,0;1;1.234,5;1,5",
    "2;y;x;y;2;10,0;,75;0,9;0,1;2.5;7;2,0",
    "3;x;y;y;1;-2,5e1;1,0;0,2;0,3;,5;8;1,5"
  )
  writeLines(lines, file)
  read <- function(...) quiet(read_ratings(file, case = id, raters = a:b, ...))
  x <- read(systems = s, covariates = c(read, mixed, thousands), weights = w,
    confidence = c(c_a, c_b), scores = list(s = c(y = "score")))
  expect_identical(x$covariates$read, c(3.3, 10, -25))
  expect_identical(x$covariates$mixed, c(1, 2.5, 0.5))
  expect_identical(x$covariates$thousands, c("1.234,5", "7", "8"))
  expect_identical(x$weights, c(1.5, 2, 1))
  expect_identical(x$scores$values$s[, "y"], c(0.25, 0.75, 1))
  # Labels stay as they are. So do numbers with commas in files with another separator.
  y <- quiet(read_ratings(file, case = id, raters = c(a, half)))
  expect_identical(y$categories, c("1,5", "2,0", "x", "y"))
  writeLines(gsub(";", "\t", lines), file)
  expect_identical(read(covariates = read)$covariates$read, c("3,3", "10,0", "-2,5e1"))
  # One of several files is enough.
  other <- withr::local_tempfile(fileext = ".csv")
  writeLines(c("id,a,b,read", "4,x,x,1.5", "5,y,y,2"), other)
  writeLines(lines, file)
  z <- quiet(read_ratings(c(other, file), case = id, raters = a:b, covariates = read))
  expect_identical(z$covariates$read, c(1.5, 2, 3.3, 10, -25))
})

put <- function(text, path, write = function(beside) writeLines(text, beside)) {
  replace_file(path, write, function(beside) identical(readLines(beside), text))
}

test_that("a file is replaced as a whole, or as it was", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "page.html")
  expect_null(put("old", file))
  expect_null(put("new", file))
  expect_identical(readLines(file), "new")
  fails <- list(
    "^no$" = function(beside) stop("no"), incomplete = function(beside) writeLines("cut", beside),
    "No such file" = function(beside) NULL
  )
  for (cause in names(fails)) expect_match(put("newer", file, fails[[cause]]), cause)
  interrupted <- function(beside) {
    writeLines("newer", beside)
    rlang::interrupt()
  }
  expect_identical(
    tryCatch(put("newer", file, interrupted), interrupt = function(e) "passed on"), "passed on"
  )
  expect_identical(readLines(file), "new")
  expect_identical(setdiff(list.files(folder, all.files = TRUE), c(".", "..")), "page.html")
})

test_that("a link stays a link, and what is beside stays", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  file <- file.path(folder, "page.html")
  writeLines("mine", paste0(file, ".new"))
  writeLines("old", file)
  link <- file.path(withr::local_tempdir(), "link.html")
  file.symlink(file, link)
  expect_null(put("new", link))
  expect_identical(readLines(file), "new")
  expect_identical(Sys.readlink(link), file)
  expect_identical(readLines(paste0(file, ".new")), "mine")
  # What the link leads to may be on another disk, and files move within one only.
  written <- NULL
  put("newer", link, function(beside) {
    written <<- dirname(beside)
    writeLines("newer", beside)
  })
  expect_identical(written, normalizePath(folder))
})

test_that("a full disk leaves nothing beside the file, and the file as it was", {
  skip_if_not(file.exists("/dev/full"))
  file <- withr::local_tempfile(fileext = ".rds")
  design <- rater_design(c(0.5, 0.6, 0.7), 0.8, n = 30)
  study <- simulation_study(design, runs = 2, checkpoint = file)
  # Something small fails at the end only, where R does not tell.
  for (n in c(1, 1e5)) {
    study$more <- stats::runif(n)
    put <- replace_file(file, function(beside) {
      file.symlink("/dev/full", beside)
      write_hashed_file(study, beside)
    }, function(beside) inherits(read_hashed_file(beside), "simulation_study"))
    expect_type(put, "character")
    expect_identical(
      list.files(dirname(file), "^[.]fallible", all.files = TRUE), character()
    )
    expect_identical(readRDS(file)$done, 2L)
  }
})

test_that("a report or a checkpoint that cannot be written is said", {
  skip_if_not(dir.exists("/proc")) # where no user makes files
  made <- withr::local_tempfile(lines = "page")
  expect_error(
    copy_report(made, "/proc/report.html"), "cannot be written.*cannot create.*folder",
    class = "fallible_error_file"
  )
  file <- withr::local_tempfile(lines = "old")
  copy_report(made, file)
  expect_identical(readLines(file), "page")
})

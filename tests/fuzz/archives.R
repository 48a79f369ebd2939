# nolint start: nonportable_path_linter. Names in archives, which are no paths of this machine.
# Malicious archives, and messages as a browser may send them to the page. In addition to the
# conditions of all doors: no file is written outside the folder of temporary files, and no content
# of such a file is shown.

odd_names <- function() {
  part <- function() {
    pick(c(
      "..", ".", "", "samples", "a", "1.json", "header.json", "C:", "\\", "..\\..", "~", "x\ny",
      "\u00e9", strrep("n", 300), "a:b", "CON", "samples/", "..json", "%2e%2e"
    ))
  }
  paste(replicate(pick(1:4), part()), collapse = pick(c("/", "/", "/", "/", "\\")))
}

an_entry <- function() {
  content <- pick(list(
    "{}", "", "[[[[", "{\"id\": 9, \"scores\": {\"a\": {\"value\": \"C\"}}}", strrep(" ", 1e4)
  ))
  outside <- paste0("samples/", strrep("../", pick(1:14)), sub("^/", "", outside_file()))
  name <- if (maybe(0.3)) outside else if (maybe(0.5)) odd_names() else "samples/9.json"
  reference$zip_entry(
    enc2utf8(name), content, size = if (maybe(0.2)) pick(c(0, 1, 1e3, 1e9, 2^32 - 1)),
    mode = pick(c(33188, 33188, 41471, 16877, 0))
  )
}

# A file next to the folder of temporary files, with words that no other file contains.
outside_words <- "words that lie outside"
outside_file <- function() paste0(normalizePath(tempdir(), "/"), "-outside.json")

# NULL, or text on what was written or shown.
kept_outside <- function(code) {
  path <- outside_file()
  on.exit(unlink(path))
  writeLines(outside_words, path)
  before <- list.files(c(dirname(path), getwd()))
  last$result <- NULL
  problem <- tryCatch({
    last$result <- code()
    NULL
  }, fallible_error = function(e) e)
  all_words <- paste(c(conditionMessage(problem %||% simpleCondition("")), utils::capture.output(
    print(last$result)
  )), collapse = " ")
  # Other processes have files there, too.
  new <- setdiff(list.files(c(dirname(path), getwd())), before)
  if (!identical(readLines(path), outside_words)) return("a file outside was written over")
  if (any(grepl("1.json|header.json", new))) return("a file was written outside")
  if (grepl(outside_words, all_words, fixed = TRUE)) return("what is outside was told")
  if (!is.null(problem)) rlang::cnd_signal(problem)
  last$result
}

archives <- list(
  archives = function() {
    path <- tempfile(fileext = pick(c(".eval", ".eval", ".xlsx", ".zip", ".csv.gz")))
    on.exit(unlink(path))
    odd <- replicate(pick(c(0, 0:3)), an_entry(), simplify = FALSE)
    entries <- c(reference$inspect_files(4L), odd)
    entries <- entries[sample.int(length(entries), if (maybe(0.8)) length(entries) else pick(1:4))]
    do.call(reference$write_zip, c(path, entries, before = pick(c(rep(0, 12), -7, 7, 46))))
    bytes <- readBin(path, "raw", file.size(path))
    if (endsWith(path, ".gz")) bytes <- gzipped(bytes)
    if (maybe(0.2)) bytes <- damage(bytes)
    writeBin(bytes, path)
    limits <- list(c(entries = 3), c(megabytes = 1e-3), c(cells = 50), c(ratio = 1e-6))
    withr::local_options(fallible.file_limits = if (maybe(0.4)) pick(limits))
    format <- if (maybe(0.25)) pick(c("inspect", "excel"))
    kept_outside(function() read_ratings(path, format = format))
  },
  # A session in which most fields are what the page offers, and some are not.
  page = function() {
    if (!requireNamespace("shiny", quietly = TRUE)) {
      return(NULL)
    }
    path <- tempfile(fileext = ".csv")
    on.exit(unlink(path))
    lines <- "case,rater,rating"
    rating <- pick(list(c("x", "y"), "x"))
    lines <- c(lines, paste(rep(1:8, each = 3L), c("a", "b", "s"), rating, sep = ","))
    writeLines(lines, path)
    fields <- list(
      source = "file", file = list(name = "a.csv", size = 1, type = "", datapath = path),
      layout = pick(c("long", "wide")), case = "case", rater = "rater", rating = "rating",
      raters = c("rater", "rating"), systems = "s", half_width = 0.1, choose = TRUE, common = 0.5,
      title = "t"
    )
    for (field in sample(names(fields), pick(c(0:2, 1)))) fields[field] <- list(a_message(field))
    kept_outside(function() page_of(fields))
  }
)

a_message <- function(field) {
  path <- outside_file()
  pick(c(list(
    path, c(path, "s"), list(name = "a", datapath = path), list(datapath = path, name = 1),
    list(name = "a", datapath = file.path(tempdir(), "..", basename(path))),
    list(list(list())), as.name("path"), as.name("letters"), as.name(field), TRUE, c(a = "s"),
    data.frame(name = "a", datapath = path), "s", "file", "rater", strrep("x", 1e5)
  ), Filter(function(x) is.null(x) || is.atomic(x), odd_values)))
}

# Text that the page shows after these messages, with the messages of Shiny itself.
page_of <- function(fields) {
  server <- getNamespace("fallible")$explore_server(NULL)
  seen <- new.env()
  shiny::testServer(server, {
    do.call(session$setInputs, fields, quote = TRUE)
    session$setInputs(use = 1)
    show <- function(code) {
      text <- tryCatch(unlist(code), shiny.silent.error = function(e) NULL,
        fallible_error = conditionMessage)
      seen$shown <- c(seen$shown, text)
    }
    show(unlist(messages()))
    for (id in c("mapping", "columns", "names", "messages", "data", "agreement_table", "sentences",
      "accuracy_table", "plan")) {
      show(output[[id]])
    }
  })
  shown <- as.character(seen$shown)
  if (any(grepl("not a choice that the page|must be", shown))) last$refused <- TRUE
  if (any(grepl(outside_words, shown, fixed = TRUE))) "what is outside was told"
}
# nolint end

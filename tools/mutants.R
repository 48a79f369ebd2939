# Mutation testing: measures how many small faults the tests find. Changes one operator, constant or
# condition at a time in a copy of the package, and runs the tests of the changed file:
#   Rscript tools/mutants.R R|core NUMBER [SEED] [OUT.csv]     a fresh sample
#   Rscript tools/mutants.R R|core LIST.csv [OUT.csv]          the mutants of an earlier run.
# A function of R is tested by the test files that call it, which a first run of all tests finds
# out; src/core/x by tests/cpp/x, then by other tests of the core without slow ones. One mutant per
# processor is tested at a time, or MUTANTS_JOBS mutants. Mutants of R replace code in the namespace
# of the installed package, which must be installed from the same sources. A mutant is found if a
# test fails or takes five times as long.
arguments <- commandArgs(TRUE)
kind <- match.arg(arguments[1], c("R", "core"))
again <- endsWith(arguments[2], ".csv")
seed <- if (!again && length(arguments) > 2) as.integer(arguments[3]) else 1L
out <- c(arguments[-seq_len(if (again) 2 else 3)], paste0("mutants-", kind, ".csv"))[1]
jobs <- as.integer(Sys.getenv("MUTANTS_JOBS", parallel::detectCores()))

other <- c(
  "==" = "!=", "!=" = "==", "<" = "<=", "<=" = "<", ">" = ">=", ">=" = ">",
  "&&" = "||", "||" = "&&", "&" = "|", "|" = "&", "+" = "-", "-" = "+", "*" = "/", "/" = "*",
  "TRUE" = "FALSE", "FALSE" = "TRUE", "true" = "false", "false" = "true"
)
mutated <- function(text) {
  number <- suppressWarnings(as.numeric(sub("L$", "", text)))
  if (text %in% names(other)) {
    other[[text]]
  } else if (is.na(number)) {
    NA_character_
  } else {
    paste0(if (number == round(number)) number + 1 else number / 2, if (endsWith(text, "L")) "L")
  }
}

# Functions that make texts and pictures. They are tested by snapshots, and are not changed here.
words <- c(
  "abort_fallible", "warn_fallible", "inform_fallible", "abort", "warn", "cat", "cat_line", "paste",
  "paste0", "sprintf", "format", "ngettext", "plural", "round", "signif", "cli"
)
not_numbers <- "(methods|help|glossary|print|format|pieces|conditions|options|data|package)$"
not_numbers <- paste0("^(plot|report|explore|tidy|tables|progress)|", not_numbers, "|RcppExports")

# Tokens that can be changed: tokens in functions of R, except in calls that make texts (`words`).
sites_of_r <- function(file) {
  data <- utils::getParseData(parse(file, keep.source = TRUE), includeText = TRUE)
  up <- function(id) data$parent[match(id, data$id)]
  inside <- function(id, ids) {
    while (!is.na(id) && id > 0) {
      if (id %in% ids) {
        return(TRUE)
      }
      id <- up(id)
    }
    FALSE
  }
  functions <- up(data$id[data$token == "FUNCTION"])
  called <- data$token == "SYMBOL_FUNCTION_CALL" & data$text %in% words
  called <- up(up(data$id[called]))
  tokens <- data[data$terminal & data$token != "STR_CONST", ]
  tokens$to <- vapply(tokens$text, mutated, "")
  condition <- tokens$token == "IF"
  tokens <- tokens[!is.na(tokens$to) | condition, ]
  keep <- vapply(tokens$id, function(id) inside(id, functions) && !inside(id, called), NA)
  tokens <- tokens[keep, ]
  # if (x) becomes if (!(x)): the changed text is the whole condition.
  negate <- which(tokens$token == "IF")
  for (i in negate) {
    test <- data[data$parent == tokens$parent[i] & data$token == "expr", ][1, ]
    tokens[i, c("line1", "col1", "line2", "col2", "text")] <-
      test[c("line1", "col1", "line2", "col2", "text")]
    tokens$to[i] <- paste0("!(", test$text, ")")
  }
  is_one_line <- tokens$line1 == tokens$line2
  tokens <- tokens[is_one_line, ]
  data.frame(
    file = rep(file, nrow(tokens)), line = tokens$line1, column = tokens$col1,
    from = tokens$text, to = tokens$to
  )
}

# Tokens of the core that can be changed. The sources are formatted, so binary operators have spaces
# around them.
sites_of_core <- function(file) {
  lines <- readLines(file)
  code <- gsub("\"[^\"]*\"", "\"\"", sub("//.*", "", lines))
  code[grepl("^ *(#|template|static_assert|throw|using)|\\b(throw|template) ", code)] <- ""
  pattern <- paste0(
    "(?<= )(==|!=|<=|>=|<|>|&&|\\|\\||\\+|-|\\*|/)(?= )",
    "|(?<![\\w.])([0-9]+(\\.[0-9]+)?)(?![\\w.'])|\\b(true|false)\\b"
  )
  matches <- gregexpr(pattern, code, perl = TRUE)
  text <- regmatches(code, matches)
  data.frame(
    file = rep(file, sum(lengths(text))), line = rep(seq_along(code), lengths(text)),
    column = unlist(lapply(matches, function(x) x[x > 0])), from = unlist(text),
    to = vapply(unlist(text), mutated, "", USE.NAMES = FALSE)
  )
}

# Samples sites. Takes one random site of each file in turn, so that long files do not dominate.
sample_sites <- function(sites, number) {
  sites <- sites[sample(nrow(sites)), ]
  round <- stats::ave(seq_len(nrow(sites)), sites$file, FUN = seq_along)
  sites <- sites[order(round), ]
  utils::head(sites, number)
}

change <- function(site, lines) {
  end <- site$column + nchar(site$from)
  line <- lines[site$line]
  lines[site$line] <- paste0(
    substr(line, 1, site$column - 1), site$to, substr(line, end, nchar(line))
  )
  lines
}

# Evaluates all files of R/ again, because records in the registry contain functions. With a third
# argument, every function notes its name when it is called, and the names are written to this file.
run_r <- '
  arguments <- commandArgs(TRUE)
  folder <- arguments[1]
  library(fallible)
  space <- asNamespace("fallible")
  rlang::env_unlock(space)
  for (name in ls(space, all.names = TRUE)) unlockBinding(name, space)
  for (file in setdiff(dir(file.path(folder, "R")), "RcppExports.R")) {
    sys.source(file.path(folder, "R", file), space, keep.source = FALSE)
  }
  space$.onLoad(dirname(find.package("fallible")), "fallible")
  called <- new.env()
  if (!is.na(arguments[3])) {
    for (name in ls(space, all.names = TRUE)) {
      f <- space[[name]]
      if (!is.function(f) || startsWith(name, "core_") || name == "autoplot") next
      body(f) <- bquote({
        .(assign)(.(name), TRUE, .(called))
        .(body(f))
      })
      space[[name]] <- f
    }
  }
  for (x in asplit(getNamespaceInfo(space, "S3methods"), 1L)) {
    try(registerS3method(x[1], x[2], x[3], space), silent = TRUE)
  }
  testthat::test_dir(
    file.path(folder, "tests", "testthat"), filter = arguments[2], package = "fallible",
    load_package = "installed", reporter = "stop", stop_on_failure = TRUE
  )
  if (!is.na(arguments[3])) writeLines(c("", ls(called, all.names = TRUE)), arguments[3])
'

# Runs test files in a separate folder, with the changed file of R/. Returns their exit code.
run_tests <- function(tests, file = NULL, lines = NULL, limit = 3600, called = NULL) {
  folder <- tempfile("mutant")
  dir.create(file.path(folder, "R"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  file.copy(dir("R", full.names = TRUE), file.path(folder, "R"))
  file.copy("tests", folder, recursive = TRUE)
  if (length(lines)) writeLines(lines, file.path(folder, file))
  filter <- paste0("^(", paste(tests, collapse = "|"), ")$")
  system2("Rscript", c("-e", shQuote(run_r), folder, shQuote(filter), called), FALSE, FALSE,
    timeout = limit)
}

# Runs each test file once. Returns a data frame with a row per test file and function that the file
# calls; `seconds` is the time of the file. Files that fail without a change are left out.
trace_tests <- function() {
  tests <- sub("^test-(.*)[.]R$", "\\1", dir(file.path("tests", "testthat"), "^test-"))
  traced <- parallel::mclapply(tests, function(test) {
    called <- tempfile("called")
    seconds <- system.time(code <- run_tests(test, called = called))[["elapsed"]]
    if (code != 0 || !file.exists(called)) {
      message("The tests of ", test, " fail without a change.")
      return(NULL)
    }
    data.frame(test = test, name = readLines(called), seconds = seconds)
  }, mc.cores = jobs, mc.preschedule = FALSE)
  if (any(vapply(traced, inherits, NA, "try-error"))) stop("The tests cannot be traced.")
  do.call(rbind, traced)
}

# Name of the top-level function or of the registered record that contains a line, NA if there is
# none.
function_at <- function(file, line) {
  code <- parse(file, keep.source = TRUE)
  at <- attr(code, "srcref")
  inside <- vapply(at, function(x) x[1] <= line && line <= x[3], NA)
  expression <- code[inside][[1]]
  is_named <- is.call(expression) && identical(expression[[1]], quote(`<-`))
  if (is_named) as.character(expression[[2]])[1] else NA
}

# Tests the mutant of a function of R with the test files that call it, fastest first. The files
# take together at most MUTANTS_SECONDS (90), or are the fastest file.
test_r <- function(site, lines, traced) {
  name <- function_at(site$file, site$line)
  calls <- traced
  if (!is.na(name) && name %in% traced$name) calls <- traced[traced$name == name, ]
  calls <- unique(calls[c("test", "seconds")])
  calls <- calls[order(calls$seconds), ]
  most <- max(as.numeric(Sys.getenv("MUTANTS_SECONDS", "90")), calls$seconds[1])
  calls <- calls[cumsum(calls$seconds) <= most, ]
  run_tests(calls$test, site$file, lines, 30 + 5 * sum(calls$seconds))
}

# Compiles only the changed file, against the objects of the others.
test_core <- function(site, lines, limit) {
  folder <- tempfile("mutant")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  others <- file.path(objects, dir(objects))
  if (length(lines)) {
    changed <- file.path(folder, "mutant.cpp")
    object_file <- file.path(folder, "mutant.o")
    writeLines(lines, changed)
    near <- paste("-iquote", dirname(site$file)) # headers of its folder
    if (system(paste(compiler, near, "-c", changed, "-o", object_file, "2>/dev/null"))) {
      return(NA)
    }
    others <- c(setdiff(others, file.path(objects, object(site$file))), object_file)
  }
  program <- file.path(folder, "mutant")
  if (system(paste(c(compiler, others, "-o", program), collapse = " "))) {
    stop("The core cannot be linked.", call. = FALSE)
  }
  same_folder <- paste0("=*cpp/", basename(dirname(site$file)), "/*")
  run <- function(...) system2(program, shQuote(c(...)), FALSE, FALSE, timeout = limit)
  code <- run(paste0("--source-file", same_folder))
  if (code == 0) run(paste0("--source-file-exclude", same_folder), "--test-suite-exclude=slow") else
    code
}

object <- function(file) paste0(gsub("/", "_", file, fixed = TRUE), ".o")
objects <- tempfile("objects")

include <- paste("-isystem", vapply(c("RcppEigen", "sitmo"), function(x) {
  system.file("include", package = x)
}, ""))
compiler <- paste(c("g++ -std=c++17 -O1 -pthread -I src", include), collapse = " ")

core_files <- function(folder) dir(folder, "[.]cpp$", recursive = TRUE, full.names = TRUE)

compile_core <- function() {
  dir.create(objects)
  files <- core_files(file.path(c("src", "tests"), c("core", "cpp")))
  commands <- paste(compiler, "-c", files, "-o", file.path(objects, object(files)))
  if (any(unlist(parallel::mclapply(commands, system, mc.cores = jobs)) != 0)) {
    stop("The core cannot be compiled.", call. = FALSE)
  }
}

files <- if (kind == "R") {
  x <- dir("R", "[.]R$", full.names = TRUE)
  x[!grepl(not_numbers, sub("[.]R$", "", basename(x)))]
} else {
  core_files(file.path("src", "core"))
}
if (again) {
  sites <- utils::read.csv(arguments[2], colClasses = "character")
  sites[c("line", "column")] <- lapply(sites[c("line", "column")], as.integer)
} else {
  set.seed(seed)
  sites <- do.call(rbind, lapply(files, if (kind == "R") sites_of_r else sites_of_core))
  message(nrow(sites), " places in ", length(files), " files")
  sites <- sample_sites(sites, as.integer(arguments[2]))
}

side_by_side <- function(x, f) {
  out <- parallel::mclapply(x, f, mc.cores = jobs, mc.preschedule = FALSE)
  failed <- vapply(out, inherits, NA, "try-error")
  if (any(failed)) stop(out[failed][[1]], call. = FALSE)
  unlist(out)
}
if (kind == "core") {
  compile_core()
  folder <- dirname(sites$file)
  seconds <- side_by_side(which(!duplicated(folder)), function(i) {
    taken <- system.time(code <- test_core(sites[i, ], NULL, 3600))[["elapsed"]]
    if (code != 0) stop("The tests of ", folder[i], " fail without a change.", call. = FALSE)
    stats::setNames(taken, folder[i])
  })
  test <- function(site, lines) test_core(site, lines, 30 + 5 * seconds[[dirname(site$file)]])
} else {
  traced <- trace_tests()
  test <- function(site, lines) test_r(site, lines, traced)
}
sites$outcome <- side_by_side(seq_len(nrow(sites)), function(i) {
  site <- sites[i, ]
  lines <- readLines(site$file)
  there <- substring(lines[site$line], site$column, site$column + nchar(site$from) - 1)
  # The list was made for an older version of the file.
  if (!identical(there, site$from)) return("gone")
  code <- test(site, change(site, lines))
  outcome <- if (is.na(code)) "invalid" else if (code == 0) "survived" else "killed"
  message(paste(site[c("file", "line", "column", "from", "to")], collapse = " "), ": ", outcome)
  outcome
})
utils::write.csv(sites, out, row.names = FALSE)
killed <- sites$outcome[sites$outcome %in% c("killed", "survived")] == "killed"
error <- sqrt(mean(killed) * (1 - mean(killed)) / length(killed))
cat(
  sum(killed), "of", length(killed), "killed:", round(mean(killed), 3), "+-", round(error, 3), "\n"
)

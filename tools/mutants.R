# Mutation testing: measures how many small faults the tests find. Changes one operator, constant or
# condition at a time in a copy of the package, and runs the tests of the changed file:
#   Rscript tools/mutants.R R|core NUMBER [SEED] [OUT.csv]     a fresh sample
#   Rscript tools/mutants.R R|core LIST.csv [OUT.csv]          the mutants of an earlier run.
# R/x.R is tested by test-x.R or, if this file does not exist, by tests with the same first words in
# their names; src/core/x by tests/cpp/x. One mutant per processor is tested at a time, or
# MUTANTS_JOBS mutants. Mutants of R replace code in the namespace of the installed package, which
# must be installed from the same sources. A mutant is found if a test fails or takes five times as
# long.
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
  one <- tokens$line1 == tokens$line2
  tokens <- tokens[one, ]
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
  found <- gregexpr(pattern, code, perl = TRUE)
  text <- regmatches(code, found)
  data.frame(
    file = rep(file, sum(lengths(text))), line = rep(seq_along(code), lengths(text)),
    column = unlist(lapply(found, function(x) x[x > 0])), from = unlist(text),
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

own_tests <- function(file) {
  tests <- sub("^test-(.*)[.]R$", "\\1", dir(file.path("tests", "testthat"), "^test-"))
  stem <- sub("^base-", "", sub("[.]R$", "", basename(file)))
  stem <- sub("^database", "ratings-database", sub("^prior", "rater-prior", stem))
  family <- stem
  repeat {
    own <- tests[tests == family]
    if (!length(own) && family != stem) own <- tests[startsWith(tests, paste0(family, "-"))]
    if (length(own) || !grepl("-", family, fixed = TRUE)) {
      return(own)
    }
    family <- sub("-[^-]*$", "", family)
  }
}

# Evaluates all files of R/ again, because records in the registry contain functions.
run_r <- '
  folder <- commandArgs(TRUE)[1]
  library(fallible)
  space <- asNamespace("fallible")
  rlang::env_unlock(space)
  for (name in ls(space, all.names = TRUE)) unlockBinding(name, space)
  for (file in setdiff(dir(file.path(folder, "R")), "RcppExports.R")) {
    sys.source(file.path(folder, "R", file), space, keep.source = FALSE)
  }
  space$.onLoad(dirname(find.package("fallible")), "fallible")
  for (x in asplit(getNamespaceInfo(space, "S3methods"), 1L)) {
    try(registerS3method(x[1], x[2], x[3], space), silent = TRUE)
  }
  testthat::test_dir(
    file.path(folder, "tests", "testthat"), filter = commandArgs(TRUE)[2], package = "fallible",
    load_package = "installed", reporter = "stop", stop_on_failure = TRUE
  )
'

# Runs the tests in a separate folder, with the changed file. The test files are the same for all
# mutants.
test_r <- function(site, lines, limit) {
  folder <- tempfile("mutant")
  dir.create(file.path(folder, "R"), recursive = TRUE)
  on.exit(unlink(folder, recursive = TRUE))
  file.copy(dir("R", full.names = TRUE), file.path(folder, "R"))
  file.symlink(file.path(getwd(), "tests"), file.path(folder, "tests"))
  if (length(lines)) writeLines(lines, file.path(folder, site$file))
  filter <- paste0("^(", paste(own_tests(site$file), collapse = "|"), ")$")
  words <- c("-e", shQuote(run_r), folder, shQuote(filter))
  system2("Rscript", words, FALSE, FALSE, timeout = limit)
}

# Compiles only the changed file, against the objects of the others.
test_core <- function(site, lines, limit) {
  folder <- tempfile("mutant")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  others <- file.path(objects, dir(objects))
  if (length(lines)) {
    changed <- file.path(folder, "mutant.cpp")
    own <- file.path(folder, "mutant.o")
    writeLines(lines, changed)
    near <- paste("-iquote", dirname(site$file)) # headers of its folder
    if (system(paste(compiler, near, "-c", changed, "-o", own, "2>/dev/null"))) {
      return(NA)
    }
    others <- c(setdiff(others, file.path(objects, object(site$file))), own)
  }
  program <- file.path(folder, "mutant")
  if (system(paste(c(compiler, others, "-o", program), collapse = " "))) {
    stop("The core cannot be linked.", call. = FALSE)
  }
  own <- paste0("--source-file=*cpp/", basename(dirname(site$file)), "/*")
  system2(program, shQuote(own), FALSE, FALSE, timeout = limit)
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

run <- if (kind == "R") test_r else test_core
files <- if (kind == "R") {
  x <- dir("R", "[.]R$", full.names = TRUE)
  x <- x[!grepl(not_numbers, sub("[.]R$", "", basename(x)))]
  x[lengths(lapply(x, own_tests)) > 0]
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

if (kind == "core") compile_core()
side_by_side <- function(x, f) {
  out <- parallel::mclapply(x, f, mc.cores = jobs, mc.preschedule = FALSE)
  failed <- vapply(out, inherits, NA, "try-error")
  if (any(failed)) stop(out[failed][[1]], call. = FALSE)
  unlist(out)
}
group <- vapply(sites$file, function(file) {
  if (kind == "R") paste(own_tests(file), collapse = " ") else dirname(file)
}, "")
seconds <- side_by_side(which(!duplicated(group)), function(i) {
  taken <- system.time(code <- run(sites[i, ], NULL, 3600))[["elapsed"]]
  if (code != 0) stop("The tests of ", sites$file[i], " fail without a change.", call. = FALSE)
  stats::setNames(taken, group[i])
})
sites$outcome <- side_by_side(seq_len(nrow(sites)), function(i) {
  site <- sites[i, ]
  lines <- readLines(site$file)
  there <- substring(lines[site$line], site$column, site$column + nchar(site$from) - 1)
  # The list was made for an older version of the file.
  if (!identical(there, site$from)) return("gone")
  code <- run(site, change(site, lines), 30 + 5 * seconds[[group[[i]]]])
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

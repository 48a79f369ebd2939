# nolint start: nonportable_path_linter.
# Prints the size of the package by subsystem and in total: `Rscript tools/size.R [DIR]`. DIR:
# another checkout. Tokens of R are terminals of getParseData() without comments, in every file *.R
# in R/ and inst/. Code in R Markdown under inst/ is counted separately. Exports do not include
# generics of other packages; classes are counted if they have a print() method. Exports, classes
# and methods belong to the file that defines their function. Tokens of C++ are identifiers,
# numbers, literals (a string is one) and operators (`->` is one), without comments.
folder <- commandArgs(TRUE)
if (length(folder) > 0L) setwd(folder[[1L]]) # nolint: undesirable_function_linter.
foreign <- c("augment", "autoplot", "glance", "tidy")

# A file belongs to the first subsystem whose pattern matches its name, otherwise to `base`.
subsystems <- c(
  gold = "\\bgold\\b", plots = "^plot", bayes = "^(fit-diagnostics|fit-draws|prior)",
  database = "^database", "check fit" = "^(check-fit|compare-models|fit-tests)",
  "check k" = "^check-k", metrics = "^(metric|accuracy-(cells|tables))",
  compare = "^(compare|gate)",
  accuracy = "^(accuracy|interval|method)", agreement = "^(agreement|data-check)",
  crowdtruth = "^crowdtruth", family = "^family", fit = "^(fit|truth|own-fit|confusion)",
  plan = "^plan", read = "^read", scores = "^scores", report = "^(report|explore)",
  sensitivity = "^(bounds|shared|alt-test)", ratings = "^ratings",
  study = "^(design|study|replicates)"
)
subsystem_of <- function(files) {
  hit <- vapply(subsystems, grepl, logical(length(files)), sub("[.]R$", "", basename(files)))
  c(names(subsystems), "base")[max.col(cbind(hit, TRUE), "first")]
}

tokens_of_r <- function(...) {
  parsed <- utils::getParseData(parse(..., keep.source = TRUE, encoding = "UTF-8"))
  sum(parsed$terminal & parsed$token != "COMMENT")
}
chunks_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  fence <- startsWith(lines, "```")
  chunk <- cumsum(fence)
  of_r <- chunk %in% chunk[startsWith(lines, "```{r")]
  tokens_of_r(text = lines[of_r & !fence])
}
# Objects that a file defines: TRUE for functions, named by object. `a <- b <- function()` defines
# two.
definitions <- function(file) {
  code <- as.list(parse(file, keep.source = FALSE, encoding = "UTF-8"))
  is_call <- function(e, name) is.call(e) && identical(e[[1L]], as.name(name))
  value <- lapply(code, function(e) {
    names <- character()
    while (is_call(e, "<-")) {
      names <- c(names, as.character(e[[2L]])[[1L]])
      e <- e[[3L]]
    }
    stats::setNames(rep(is_call(e, "function"), length(names)), names)
  })
  unlist(value)
}
cpp_token <- paste(c(
  "//[^\\n]*|/[*](?s:.*?)[*]/", "\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])+'", "[A-Za-z_]\\w*",
  "[.]?[0-9](?:[eE][+-]|[\\w.'])*", "<<=|>>=|\\.\\.\\.|->|::|[-+]{2}|&&|[|]{2}|<<|[-+*/%&|^<>=!]=",
  "[^\\s\\w]"
), collapse = "|")
tokens_of_cpp <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  matches <- regmatches(text, gregexpr(cpp_token, text, perl = TRUE))[[1L]]
  sum(!grepl("^/[/*]", matches))
}
lines_of <- function(files) vapply(files, function(file) length(readLines(file)), 0L)
find <- function(folder, pattern) dir(folder, pattern, full.names = TRUE, recursive = TRUE)

files <- c(find("R", "[.]R$"), find("inst", "[.]R$"))
defined <- lapply(files, definitions)
face <- parseNamespaceFile(basename(getwd()), dirname(getwd()))
methods <- face$S3methods
method_name <- ifelse(
  is.na(methods[, 3L]), paste(methods[, 1L], methods[, 2L], sep = "."), methods[, 3L]
)
in_files <- function(names) vapply(defined, function(x) sum(names %in% names(x)), 0L)
size <- data.frame(
  files = 1L, lines = lines_of(files), tokens = vapply(files, tokens_of_r, 0L),
  functions = vapply(defined, sum, 0L), exports = in_files(setdiff(face$exports, foreign)),
  classes = in_files(method_name[methods[, 1L] == "print"]), methods = in_files(method_name)
)
size <- rowsum(size, subsystem_of(files))
size <- size[order(-size$tokens), ]
size["total of R", ] <- colSums(size)
print(format(size, big.mark = ","))
cat("R in R Markdown under inst/:", sum(vapply(find("inst", "[.]Rmd$"), chunks_of, 0L)), "tokens\n")

core <- find("src/core", "[.](cpp|hpp|h)$")
tokens <- vapply(core, tokens_of_cpp, 0L)
core <- rowsum(data.frame(files = 1L, lines = lines_of(core), tokens), basename(dirname(core)))
core["total of the core", ] <- colSums(core)
print(format(core, big.mark = ","))
# nolint end

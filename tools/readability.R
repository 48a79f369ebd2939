# Samples comments and names of R/ and of the core for a human reading:
#   Rscript tools/readability.R SEED [NUMBER]
# prints NUMBER (40) comments, each with the code that follows it. It also prints NUMBER names of
# functions and variables of R/, each with the line that defines it. A reader marks those that need
# a second reading. Use a seed that was not used while the sentences were written.
arguments <- as.integer(commandArgs(TRUE))
if (length(arguments) == 0L) stop("Give a seed: Rscript tools/readability.R 1", call. = FALSE)
set.seed(arguments[[1L]])
number <- c(arguments, 40L, 40L)[[2L]]

files <- c(
  list.files("R", "[.]R$", full.names = TRUE),
  list.files("src", "[.][ch]pp$", full.names = TRUE, recursive = TRUE)
)
files <- files[!startsWith(basename(files), "RcppExports")]

# Blocks of comments, each with the three lines of code after it.
blocks <- do.call(rbind, lapply(files, function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  comment <- grepl(if (endsWith(file, ".R")) "^ *#(?!')" else "^ *//", lines, perl = TRUE)
  run <- rle(comment)
  last <- cumsum(run$lengths)[run$values]
  first <- last - run$lengths[run$values] + 1L
  text <- vapply(seq_along(first), function(i) {
    paste(lines[first[[i]]:min(last[[i]] + 3L, length(lines))], collapse = "\n")
  }, "")
  data.frame(place = sprintf("%s:%d", rep(file, length(first)), first), text = text)
}))

# Names that an assignment in R/ defines, once per file.
names <- do.call(rbind, lapply(files[endsWith(files, ".R")], function(file) {
  parsed <- utils::getParseData(parse(file, keep.source = TRUE, encoding = "UTF-8"))
  at <- which(parsed$token == "LEFT_ASSIGN")
  before <- vapply(at, function(i) {
    siblings <- parsed[parsed$parent == parsed$parent[[i]], ]
    target <- siblings$id[which(siblings$id == parsed$id[[i]]) - 1L]
    symbol <- parsed$text[parsed$parent == target & parsed$token == "SYMBOL"]
    if (length(symbol) == 1L) symbol else ""
  }, "")
  lines <- readLines(file, encoding = "UTF-8")
  names_in_file <- data.frame(
    place = sprintf("%s:%d", rep(file, length(at)), parsed$line1[at]), name = before,
    text = trimws(lines[parsed$line1[at]])
  )
  names_in_file[before != "" & !duplicated(before), ]
}))

show <- function(title, text) {
  cat("\n", title, "\n", strrep("-", nchar(title)), "\n", text, sep = "")
}
sampled <- blocks[sample(nrow(blocks), min(number, nrow(blocks))), ]
show(paste(nrow(sampled), "of", nrow(blocks), "comments"), sprintf(
  "\n%d. %s\n%s\n", seq_len(nrow(sampled)), sampled$place, sampled$text
))
sampled <- names[sample(nrow(names), min(number, nrow(names))), ]
show(paste(nrow(sampled), "of", nrow(names), "names"), sprintf(
  "%d. %s  (%s)\n   %s\n", seq_len(nrow(sampled)), sampled$name, sampled$place, sampled$text
))

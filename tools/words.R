# nolint start
# Phrases that users are not to read (CONTRIBUTING.md, section Words), in strings and help of R/, in
# pages, README and NEWS: `Rscript tools/words.R` lists where they are, and fails if there are any.
banned <- c(
  "errors? in common" = "shared errors", "(taken?|takes) back" = "a correction",
  "(told|tells?) apart" = "distinguish, or: undecided", "stands? (there )?twice" = "is repeated",
  "(some|no)body" = "name the rater, or use the passive", "whoever" = "name the reader, or use `to`",
  "\\banew\\b" = "again, or: resample, refit", "bear out" = "support", "be judged" = "to evaluate",
  "nothing (can be|is) said" = "say what is missing", "mistake of the package" = "a bug",
  "no identity" = "not identified"
)

# Lines of a file that users read, with their numbers.
visible <- function(file) {
  if (!grepl("[.]R$", file)) {
    text <- readLines(file, encoding = "UTF-8")
    return(data.frame(file, line = seq_along(text), text))
  }
  parsed <- utils::getParseData(parse(file, keep.source = TRUE, encoding = "UTF-8"))
  strings <- parsed[parsed$token == "STR_CONST" & grepl(" ", parsed$text), ]
  source <- readLines(file, encoding = "UTF-8")
  help <- grep("^ *#'", source)
  # Long strings are cut off in parse data; their lines are not.
  lines <- unlist(Map(seq, strings$line1, strings$line2))
  at <- sort(unique(c(help, lines)))
  data.frame(file = rep(file, length(at)), line = at, text = source[at])
}

files <- c(
  list.files("R", "[.]R$", full.names = TRUE), "tools/README.Rmd", "NEWS.md",
  list.files(c("vignettes", "inst/rmarkdown"), "[.]Rmd$", full.names = TRUE, recursive = TRUE)
)
all <- do.call(rbind, lapply(files, visible))
found <- 0L
for (phrase in names(banned)) {
  hits <- all[grepl(phrase, all$text, ignore.case = TRUE, perl = TRUE), ]
  found <- found + nrow(hits)
  cat(sprintf(
    "%s:%d: `%s`, better: %s\n    %s\n", hits$file, hits$line, phrase, banned[[phrase]],
    trimws(hits$text)
  ), sep = "")
}
cat(found, "banned phrases\n")
if (found > 0L) quit(status = 1L)
# nolint end

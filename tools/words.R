# nolint start
# Checks texts for phrases and words to avoid (CONTRIBUTING.md, section Words). The first count is
# of banned phrases in strings and help of R/, in pages, README and NEWS. `Rscript tools/words.R`
# lists their places, and fails if there are any.
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
n_found <- 0L
for (phrase in names(banned)) {
  hits <- all[grepl(phrase, all$text, ignore.case = TRUE, perl = TRUE), ]
  n_found <- n_found + nrow(hits)
  cat(sprintf(
    "%s:%d: `%s`, better: %s\n    %s\n", hits$file, hits$line, phrase, banned[[phrase]],
    trimws(hits$text)
  ), sep = "")
}
cat(n_found, "banned phrases\n")

# The second count is of words in comments and in help pages that make a sentence hard to read,
# with what to write instead. Text in backticks is not counted. The next line
# is the number of words that are allowed. It may only decrease. `Rscript tools/words.R FILE...`
# also lists the places in these files.
allowed <- 0L
avoided <- c(
  "what X says, tells, knows: Y computed from X" =
    "what (?:\\S+ ){1,4}?(?:say|tell|know)s?\\b|\\b(?:say|tell|know)s? (?:of|about)\\b",
  "told, stated, said: given, specified" = "\\b(?:told|stated|said)\\b",
  "own: separate, per-system, user-defined" = "(?<![-_.])\\bown\\b(?![-_.(])",
  "alone: only, without gold, from ratings only" = "\\balone\\b",
  "beside, apart, alike: next to, separately, equal" = "\\b(?:beside|alike|apart(?! from))\\b",
  "as many as, so many: the same number of, n" = "\\b(?:as|so) many\\b",
  "nothing follows from: is not identified from" =
    "\\bnothing follows\\b|\\bfollows? from nothing\\b",
  "whoever, somebody, nobody: a user, no rater" = "\\b(?:whoever|(?:some|no|any)body|no one)\\b",
  "lies, stands, goes: is" = "\\b(?:lies?|goes)\\b|\\bstands?\\b(?! for| alone)",
  "a thing that is one, of which there are: name it" =
    "\\b(?:(?:that|which|who) (?:is|are) (?:one|such|those)|of which there (?:is|are)|there is one)\\b"
)

# Comments of a file, a line each; other lines are empty, and empty comments are blanks.
comments <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  if (grepl("[.]R$", file)) {
    parsed <- utils::getParseData(parse(text = lines, keep.source = TRUE))
    parsed <- parsed[parsed$token == "COMMENT", ]
    text <- replace(character(length(lines)), parsed$line1, parsed$text)
  } else {
    text <- ifelse(grepl("//", lines), sub("^.*?//", "", lines), "")
  }
  words <- gsub("`[^`]*`", "", sub("^ *[#/]+'?", "", text))
  ifelse(nzchar(text) & !nzchar(words), " ", words)
}

# The third count is of sentences of more than 30 words in the same comments and help. A sentence
# ends with a blank line, an item of a list, a tag of roxygen, a colon or a semicolon. Code in
# examples, references and tables are not counted.
allowed_long <- 0L
most_words <- 30L
long_sentences <- function(lines) {
  tag <- sub("^ *@([A-Za-z]+).*", "\\1", lines)
  tagged <- grepl("^ *@[A-Za-z]", lines)
  # The tag that a line belongs to; a line that is not a comment ends it.
  part <- cumsum(tagged | lines == "")
  current <- c("", tag[tagged | lines == ""])[part + 1L]
  code <- current %in% c("examples", "examplesIf", "rawNamespace", "references", "usage", "importFrom", "rdname") |
    grepl("\\\\t[a]b|^ *[|]", lines)
  begins <- tagged | code | grepl("^ *([*-]|[0-9]+[.]) |^ *\\\\item|^ *$", lines)
  lines <- gsub("\\[[^]]*\\](\\([^)]*\\))?|\\\\[a-z]+[{]", " x ", lines)
  piece <- cumsum(begins)
  text <- tapply(ifelse(code, "", trimws(lines)), piece, paste, collapse = " ")
  sentences <- strsplit(text, "[.:;?!]+(?=[ )]|$)", perl = TRUE)
  at <- rep(which(!duplicated(piece)), lengths(sentences))
  sentences <- unlist(sentences)
  words <- lengths(gregexpr("[A-Za-z][A-Za-z'-]*", sentences)) # 1 if there is none
  long <- words > most_words
  data.frame(line = at[long], words = words[long], text = sentences[long])
}

files <- c(
  list.files(c("R", "man-roxygen"), "[.]R$", full.names = TRUE),
  list.files(c("tests", "tools", "bench", "data-raw"), "[.]R$", full.names = TRUE, recursive = TRUE),
  list.files(c("src", "tests/cpp"), "[.][ch](pp)?$", full.names = TRUE, recursive = TRUE)
)
files <- files[!startsWith(basename(files), "RcppExports") & files != "tools/words.R"]
counts <- 0L * seq_along(avoided)
long <- 0L
for (file in files) {
  lines <- comments(file)
  sentences <- long_sentences(lines)
  long <- long + nrow(sentences)
  if (file %in% commandArgs(TRUE) && nrow(sentences)) {
    cat(sprintf(
      "%s:%d: %d words\n   %s\n", file, sentences$line, sentences$words, trimws(sentences$text)
    ), sep = "")
  }
  text <- paste(lines, collapse = "\n")
  for (i in seq_along(avoided)) {
    pattern <- gsub(" ", "(?: +|\\n *)", avoided[[i]], fixed = TRUE) # also over the end of a line
    at <- gregexpr(pattern, text, ignore.case = TRUE, perl = TRUE)[[1L]]
    at <- at[at > 0L]
    counts[[i]] <- counts[[i]] + length(at)
    if (file %in% commandArgs(TRUE)) {
      line <- findInterval(at - 1L, cumsum(nchar(lines) + 1L)) + 1L
      cat(sprintf("%s:%d: %s\n   %s\n", file, line, names(avoided)[[i]], lines[line]), sep = "")
    }
  }
}
cat(sprintf("%5d %s\n", counts, names(avoided)), sep = "")
cat(sum(counts), "words to avoid in comments and help,", allowed, "allowed\n")
cat(long, "sentences of more than", most_words, "words,", allowed_long, "allowed\n")
if (sum(counts) < allowed || long < allowed_long) {
  cat("Fewer than allowed: lower the number in this script.\n")
}
quit(status = as.integer(n_found > 0L || sum(counts) != allowed || long != allowed_long))
# nolint end

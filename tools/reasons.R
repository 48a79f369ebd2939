# Checks that no decision of the code depends on English text: `Rscript tools/reasons.R [FOLDER]`.
# Comparisons (==, %in%, startsWith(), grepl(), sub(), ...) may not use reasons or notes, or a
# string of several words. They must use a code (`why`), a number or NA. The next line is the number
# of violations that are allowed. It may only decrease.
allowed <- 5L
folder <- c(commandArgs(TRUE), "R")[1]
asking <- c(
  "==", "!=", "%in%", "startsWith", "endsWith", "identical", "match", "setdiff", "grepl", "regexpr",
  "sub", "gsub"
)
words <- c(
  "reason", "notes_of", "reason_of_fit", "reason_notes", "no_interval", "gold_unused",
  "near_copies_message"
)
# Words in conditions of other packages that have no class: RSQLite warns of columns of mixed type.
foreign_words <- "mixed type"
is_prose <- function(x) {
  is.character(x) && length(x) == 1 && !is.na(x) && !x %in% foreign_words &&
    grepl("^[A-Za-z][a-z]*( [a-z]+)+$", x)
}

hits_in <- function(code) {
  if (!is.call(code) && !is.pairlist(code) && !is.expression(code)) {
    return()
  }
  parts <- as.list(code)
  parts <- parts[vapply(parts, function(part) !is.name(part) || nzchar(part), NA)]
  name <- if (is.call(code) && is.name(code[[1]])) as.character(code[[1]]) else ""
  operands <- parts[-1]
  looks <- name %in% asking && any(vapply(operands, function(x) {
    any(words %in% all.names(x)) || is_prose(x) ||
      (is.call(x) && identical(x[[1]], quote(c)) && any(vapply(as.list(x)[-1], is_prose, NA)))
  }, NA))
  if (looks) {
    return(substr(paste(deparse(code), collapse = " "), 1, 90))
  }
  unlist(lapply(parts, hits_in))
}

found <- unlist(lapply(dir(folder, "[.]R$", full.names = TRUE), function(file) {
  hits <- hits_in(parse(file, keep.source = FALSE))
  if (length(hits) > 0) paste0(basename(file), ": ", hits)
}))
cat(found, sep = "\n")
cat(length(found), "comparisons with English\n")
if (length(found) < allowed) cat("Fewer than allowed: lower the number in this script.\n")
quit(status = length(found) != allowed)

# Words and numbers as printed objects show them.

# More are noise.
check_digits <- function(digits) check_count(digits, "digits", 0L, 15L)

decimals <- function(x, digits = 3L) {
  ifelse(is.na(x), "NA", formatC(x, format = "f", digits = digits))
}

show_p <- function(p) {
  out <- ifelse(is.na(p), "", decimals(p))
  replace(out, which(p < 0.0005), "<.001")
}

percent <- function(x) ifelse(is.na(x), "an unknown share", paste0(decimals(100 * x, 1L), "%"))

whole_percent <- function(share) paste0(formatC(100 * share, format = "f", digits = 0L), "%")

number <- function(n) format(n, big.mark = ",", scientific = FALSE)

count_noun <- function(n, noun, plural = paste0(noun, "s")) {
  paste(number(n), if (n == 1) noun else plural)
}

capitalised <- function(words) paste0(capitals(substr(words, 1L, 1L)), substring(words, 2L))

small_letters <- paste(letters, collapse = "")
capital_letters <- paste(LETTERS, collapse = "")

# English words in capitals. `toupper()` gives a Turkish letter for "i" in a Turkish locale.
capitals <- function(words) chartr(small_letters, capital_letters, words)

# Labels without the difference between capitals and small letters, the same in every locale. A "I"
# is an "i", also with a dot, which `tolower()` makes something else in a Turkish locale. Other
# letters than those of ASCII are folded one by one by package utf8 (which comes with tibble), since
# `tolower()` leaves them in the C locale.
fold_case <- function(x) {
  x <- enc2utf8(as.character(x))
  x <- chartr(paste0(capital_letters, "\u0130"), paste0(small_letters, "i"), x)
  letters <- unique(unlist(strsplit(x, "", fixed = TRUE)))
  letters <- grep("[^ -~]", letters, perl = TRUE, value = TRUE)
  if (length(letters) == 0L) return(x)
  if (!requireNamespace("utf8", quietly = TRUE)) return(tolower(x))
  small <- utf8::utf8_normalize(letters, map_case = TRUE)
  small <- ifelse(nchar(small) == 1L, small, letters)
  chartr(paste(letters, collapse = ""), paste(small, collapse = ""), x)
}

# Sorts strings by their characters' numbers, in the same order in every locale.
sort_strings <- function(x) sort(x, method = "radix")

# Lines of a printed object, each wrapped at the width of the console.
cat_lines <- function(...) {
  for (line in printable(c(...))) {
    indent <- nchar(line) - nchar(sub("^ +", "", line))
    cat(strwrap(line, getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
  }
}

# Labels in quotes where blanks would mislead.
show_labels <- function(x) {
  if (any(x != trimws(x) | grepl(",", x, fixed = TRUE))) paste0("\"", x, "\"") else x
}

# The first labels of a list that may be long.
shorten <- function(x, separator = ", ", most = 8L) {
  shown <- paste(utils::head(x, most), collapse = separator)
  if (length(x) > most) paste0(shown, ", ... (", length(x), ")") else shown
}

# Intervals in the cells of tables, and the name of their column.
bracketed <- function(low, high, none = "NA") {
  ifelse(is.na(low), none, paste0("[", decimals(low), ", ", decimals(high), "]"))
}

# Ends of ranges in a sentence or a cell.
from_to <- function(low, high, digits = 3L) {
  ifelse(is.na(low), "NA", paste(decimals(low, digits), "to", decimals(high, digits)))
}

interval_title <- function(level) paste0(format(100 * level), "% interval")

# Estimates in the middle of a sentence: 78% (90% interval 67% to 90%). `show` makes strings.
estimate_words <- function(table, level, show) {
  ends <- paste0(" (", interval_title(level), " ", show(table$conf.low), " to ",
    show(table$conf.high), ")")
  ifelse(
    is.na(table$estimate), paste0("unknown (", table$reason, ")"),
    paste0(show(table$estimate), ifelse(is.na(table$conf.low), "", ends))
  )
}

# Columns of words, and their names, that stand at the left where numbers stand at the right.
align_left <- function(table, columns) {
  for (i in columns) {
    table[[i]] <- format(table[[i]], justify = "left")
    names(table)[[i]] <- format(names(table)[[i]], width = max(nchar(table[[i]])))
  }
  table
}

# Doubles at three decimals.
round_columns <- function(table) {
  shown <- as.data.frame(table)
  shown[] <- lapply(shown, function(x) {
    if (is.double(x) && any(x != round(x), na.rm = TRUE)) decimals(x) else x
  })
  shown
}

# A data frame with its doubles at three decimals, under a title.
print_table <- function(title, table, most = 12L) {
  if (is.null(table)) return(invisible())
  cat("\n", printable(title), "\n", sep = "")
  print(round_columns(utils::head(table, most)), row.names = FALSE, right = TRUE)
  if (nrow(table) > most) cat("... and", nrow(table) - most, "more\n")
}

# The columns of a table with one row that say something, one below another.
print_facts <- function(facts) {
  facts <- round_columns(used_columns(facts))
  if (length(facts) > 0L) {
    values <- printable(vapply(facts, format, ""))
    cat("", paste0(format(names(facts)), "  ", values), sep = "\n")
  }
}

number_of <- function(n) trimws(number(n))

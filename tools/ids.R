# Checks that only the registry contains code that depends on names of methods and intervals:
#   Rscript tools/ids.R [FOLDER]
# Other files in R/ may not compare with such a name, switch on it or list them; they use fields of
# the method's record. Passing a name as an argument (`method = "joint"`) is allowed. The names are
# those of the installed package. The next line is the number of violations that are allowed. It may
# only decrease.
allowed <- 2L
# Fits must be repeated by fit_again() or update(), which keep the method, prior and other
# arguments. Number of other calls that pass the method of a fit to a fitting function. The allowed
# one is the call of the core.
allowed_refits <- 1L
folder <- c(commandArgs(TRUE), "R")[1]
package <- asNamespace("fallible")
ids <- c(names(package$accuracy_methods), setdiff(names(package$accuracy_intervals), "none"))
stopifnot(c("average", "binned", "robust", "combined", "anytime") %in% ids)
own <- "^(accuracy-registry|method-.*|interval-.*)[.]R$"
other_intervals <- "^(agreement.*|bounds.*|plot-sensitivity)[.]R$" # these have other intervals
comparing <- c("EQ", "NE", "SPECIAL")
asking <- c(
  "identical", "match", "setdiff", "intersect", "setequal", "startsWith", "grepl", "switch"
)

# Lines of a file with a name in a comparison, in a call that tests values, in a list, or as the
# label of a switch.
found_in <- function(file) {
  data <- utils::getParseData(parse(file, keep.source = TRUE))
  children <- split(seq_len(nrow(data)), data$parent)
  of <- function(id) data[children[[as.character(id)]], ]
  called <- function(id) {
    first <- of(of(id)$id[1])
    if (any(first$token == "SYMBOL_FUNCTION_CALL")) utils::tail(first$text, 1) else ""
  }
  hit <- function(at) {
    label <- of(data$parent[at])
    here <- match(data$id[at], label$id)
    if (here < nrow(label) && label$token[here + 1] == "EQ_SUB") {
      return(called(data$parent[at]) == "switch")
    }
    up <- data$parent[at]
    listed <- FALSE
    while (up > 0) {
      tokens <- of(up)
      name <- called(up)
      if (any(tokens$token %in% comparing) || name %in% asking) {
        return(TRUE)
      }
      if (any(tokens$token == "LEFT_ASSIGN")) {
        return(listed)
      }
      passed_on <- nrow(tokens) == 1 || name == "c" || tokens$token[1] == "'('" ||
        any(tokens$token == "'$'")
      if (!passed_on) {
        return(FALSE)
      }
      listed <- listed || name == "c"
      up <- data$parent[match(up, data$id)]
    }
    FALSE
  }
  text <- gsub("[\"`]", "", data$text)
  word <- data$token %in% c("STR_CONST", "SYMBOL_SUB") & text %in% ids
  record <- data$token == "SYMBOL" & sub("^(method|interval)_", "", text) %in% c(ids, "none") &
    grepl("^(method|interval)_", text)
  lines <- readLines(file)
  none <- data$token == "STR_CONST" & text == "none" &
    grepl("interval", lines[data$line1], fixed = TRUE)
  at <- which(word | record | none)
  at <- at[vapply(at, hit, NA)]
  line <- unique(data$line1[at])
  sprintf("%s:%d: %s", basename(file), line, lines[line])
}

refits_in <- function(code) {
  if (!is.call(code) && !is.pairlist(code)) return()
  parts <- as.list(code)
  text <- vapply(parts, function(part) paste(deparse(part), collapse = " "), "")
  fits <- is.call(code) && grepl("^(stats::)?(fit_|core_fit_|update)", text[[1]])
  hands_on <- fits && any(grepl("\\b(fit|object|x)[$]method\\b", text[-1]))
  own <- if (hands_on) substr(deparse(code)[[1]], 1, 80)
  c(own, unlist(lapply(parts[text != ""], refits_in)))
}

all_files <- dir(folder, "[.]R$", full.names = TRUE)
refits <- unlist(lapply(all_files, function(file) {
  found <- unlist(lapply(parse(file, keep.source = FALSE), refits_in))
  if (length(found) > 0) paste0(basename(file), ": ", found)
}))
files <- all_files[!grepl(own, basename(all_files)) &
  !grepl(other_intervals, basename(all_files))]
found <- unlist(lapply(files, found_in))
cat(found, sep = "\n")
cat(length(found), "places that know a method or an interval by name\n")
cat(refits, sep = "\n")
cat(length(refits), "calls that fit anew with the method of a fit\n")
if (length(found) < allowed || length(refits) < allowed_refits) {
  cat("Fewer than allowed: lower the number in this script.\n")
}
quit(status = length(found) != allowed || length(refits) != allowed_refits)

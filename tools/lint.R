# Lints every file as .lintr says, and exits with 1 where something is found:
#   Rscript tools/lint.R [FILE...]
# lintr asks each linter once for each expression of a file; here a file is one expression, which
# finds the same in half the time. What .lintr excludes for one linter in a folder, lintr 3.0
# excludes for all; so does this, but for files that are named.
config <- read.dcf(".lintr", all = TRUE)
setting <- function(name) eval(parse(text = config[[name]]), asNamespace("lintr"))
exclusions <- setting("exclusions")
whole <- vapply(exclusions, is.character, NA)

as_expression <- function(file) {
  list(
    filename = file$filename, line = 1L, column = 1L,
    lines = file$file_lines, content = paste(file$file_lines, collapse = "\n"),
    parsed_content = file$full_parsed_content, xml_parsed_content = file$full_xml_parsed_content
  )
}

at_once <- function(linter, name) {
  without <- names(Filter(function(x) identical(x[[name]], Inf), exclusions[!whole]))
  without <- file.path(getwd(), without)
  lintr::Linter(name = name, function(source_expression) {
    lines <- source_expression$file_lines # of an expression: NULL
    if (is.null(lines) || any(startsWith(source_expression$filename, without)) ||
      # Its regular expression takes long to find nothing.
      (name == "no_tab_linter" && !any(grepl("\t", lines, fixed = TRUE)))) {
      return(list())
    }
    c(linter(source_expression), linter(as_expression(source_expression)))
  })
}

linters <- setting("linters")
linters <- Map(at_once, linters, names(linters))
files <- commandArgs(TRUE)
if (!length(files)) {
  files <- dir(pattern = "[.][Rr](md)?$", recursive = TRUE)
  folders <- Filter(dir.exists, names(exclusions))
  excluded <- Reduce(`|`, lapply(paste0(folders, "/"), startsWith, x = files))
  files <- setdiff(files[!excluded], unlist(exclusions[whole]))
}
lints <- lapply(files, lintr::lint, linters = linters, parse_settings = FALSE, exclusions = list())
lints <- structure(do.call(c, lints), class = "lints")
if (length(lints)) print(lints)
cat(length(files), "files,", length(lints), "lints\n")
quit(status = length(lints) > 0)

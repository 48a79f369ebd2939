# Lints every file with the settings of .lintr. Exits with 1 if there are lints:
#   Rscript tools/lint.R [FILE...]
#   Rscript tools/lint.R --quick     (only files of R/, without linters that repeat R CMD check).
# lintr calls each linter once for each expression of a file. Here a file is one expression, which
# finds the same lints in half the time. If .lintr excludes a folder for one linter, lintr 3.0
# excludes it for all linters. This script does the same, except for files given as arguments.
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
    lines <- source_expression$file_lines # NULL if lintr passes a single expression
    if (is.null(lines) || any(startsWith(source_expression$filename, without)) ||
      # Files without tabs are skipped, because this regular expression is slow if it finds nothing.
      (name == "no_tab_linter" && !any(grepl("\t", lines, fixed = TRUE)))) {
      return(list())
    }
    c(linter(source_expression), linter(as_expression(source_expression)))
  })
}

linters <- setting("linters")
linters <- Map(at_once, linters, names(linters))
files <- commandArgs(TRUE)
if (identical(files, "--quick")) {
  linters[c("object_usage_linter", "namespace_linter")] <- NULL
  files <- setdiff(dir("R", "[.]R$", full.names = TRUE), unlist(exclusions[whole]))
} else if (!length(files)) {
  files <- dir(pattern = "[.][Rr](md)?$", recursive = TRUE)
  folders <- Filter(dir.exists, names(exclusions))
  excluded <- Reduce(`|`, lapply(paste0(folders, "/"), startsWith, x = files))
  files <- setdiff(files[!excluded], unlist(exclusions[whole]))
}

# lintr::lint() reads `nolint` comments, but takes twice as long, so it is called only if there are
# lints.
has_lints <- function(file) {
  source <- lintr::get_source_expressions(file)
  whole_file <- source$expressions[[length(source$expressions)]]
  length(source$error) || length(unlist(lapply(linters, function(linter) linter(whole_file))))
}
lints <- lapply(
  Filter(has_lints, files), lintr::lint,
  linters = linters, parse_settings = FALSE, exclusions = list()
)
lints <- structure(as.list(do.call(c, lints)), class = "lints")
if (length(lints)) print(lints)
cat(length(files), "files,", length(lints), "lints\n")
quit(status = length(lints) > 0)

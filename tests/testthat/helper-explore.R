# The interactive page, tested without a browser.
needs_shiny <- function() {
  for (package in c("shiny", "bslib", "ggplot2")) skip_if_not_installed(package)
}

# Uploads a table of ratings, given as lines of text, to the page.
upload <- function(session, lines, ext = "csv") {
  path <- withr::local_tempfile(fileext = paste0(".", ext), .local_envir = parent.frame())
  writeLines(lines, path)
  session$setInputs(source = "file", file = list(
    name = "<img src=x onerror=alert(1)>.csv", size = file.size(path), type = "text/csv",
    datapath = path
  ))
}

votes <- c("item,who,said", paste(
  rep(1:8, each = 3), c("ann", "bob", "gpt"),
  rep(c("yes", "yes", "no", "no", "no", "no", "yes", "no", "yes", "yes", "yes", "yes"), 2),
  sep = ","
))

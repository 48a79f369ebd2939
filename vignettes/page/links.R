# Pages that other pages name are links, and so are topics of help. The site makes its own links.
knitr::knit_hooks$set(document = function(text) {
  text <- gsub(
    "(?<!\\[)`vignette\\(\"([a-z-]+)\"\\)`", "[`vignette(\"\\1\")`](\\1.html)", text, perl = TRUE
  )
  if (identical(Sys.getenv("IN_PKGDOWN"), "true")) {
    return(text)
  }
  gsub(
    "(?<!\\[)`(help\\(\"|[?])([A-Za-z_.-]+)(\"\\))?`",
    "[`\\1\\2\\3`](../help/\\2)", # nolint: nonportable_path_linter.
    text, perl = TRUE
  )
})

# A reference to a section, in words that a page may have inherited from another page.
test_that("help pages refer to their sections, or name the page of the section", {
  dangling <- unlist(lapply(tools::Rd_db("fallible"), function(page) {
    text <- gsub("[[:space:]]+", " ", paste(as.character(page), collapse = ""))
    sections <- regmatches(text, gregexpr("(?<=\\\\section\\{)[^}]+", text, perl = TRUE))[[1L]]
    reference <- "see (section )?\\\\emph\\{[^}]+\\}(?! (of|in) )"
    found <- regmatches(text, gregexpr(reference, text, perl = TRUE, ignore.case = TRUE))[[1L]]
    setdiff(sub("^.*\\{(.*)\\}$", "\\1", found), c(sections, "Value", "Details"))
  }))
  expect_identical(as.character(dangling), character())
})

needs_shiny <- function() {
  for (package in c("shiny", "bslib", "ggplot2")) skip_if_not_installed(package)
}

# What is on the page of a table of ratings after it has been chosen.
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
  rep(c("yes", "yes", "no", "no", "no", "no", "yes", "no", "yes", "yes", "yes", "yes"), 2), sep = ","
))

test_that("a page is made for this machine alone", {
  needs_shiny()
  page <- explore(max_size = 1)
  expect_s3_class(page, "shiny.appobj")
  expect_identical(page$options$host, "127.0.0.1")
  expect_error(explore(1), class = "fallible_error_argument")
  expect_error(explore(port = 0), class = "fallible_error_argument")
  expect_error(explore(max_size = 0), class = "fallible_error_argument")
  expect_error(explore(por = 1), class = "fallible_error_argument")
})

test_that("a file is mapped, used and judged", {
  needs_shiny()
  shiny::testServer(explore_server(NULL), {
    upload(session, votes)
    expect_identical(file()$columns, c("item", "who", "said"))
    expect_identical(rater_names(file(), "who"), c("ann", "bob", "gpt"))
    unlink(input$file$datapath) # read once
    session$setInputs(
      layout = "long", case = "item", rater = "who", rating = "said", systems = "gpt", use = 1
    )
    expect_identical(current()$raters, c("ann", "bob"))
    expect_identical(current()$systems, "gpt")
    expect_identical(tidy(judged()), tidy(suppressWarnings(estimate_accuracy(current()))))
    session$setInputs(choose = TRUE, common = 1)
    expect_identical(
      tidy(judged()), tidy(suppressWarnings(estimate_accuracy(current(), common = 1)))
    )
  })
})

test_that("what cannot be read is told, and what was there stays", {
  needs_shiny()
  shiny::testServer(explore_server(lehner_ratings()), {
    before <- current()
    session$setInputs(source = "file", use = 1)
    expect_match(told()$ratings[[1]]$text, "Choose a file first")
    upload(session, "<html><script>alert(1)</script>", "html")
    session$setInputs(layout = "long", use = 2)
    expect_identical(told()$ratings[[1]]$kind, "danger")
    expect_match(output$told$html, "&lt;img src=x onerror=alert(1)&gt;.csv", fixed = TRUE)
    expect_no_match(output$told$html, input$file$datapath, fixed = TRUE)
    expect_identical(current(), before)
  })
})

test_that("labels are text, and what is told has no markup", {
  needs_shiny()
  hostile <- gsub("yes", "<script>alert(1)</script>", votes)
  shiny::testServer(explore_server(NULL), {
    upload(session, hostile)
    session$setInputs(
      layout = "long", case = "item", rater = "who", rating = "said", systems = "gpt", use = 1
    )
    shown <- c(as.character(sentences_of(judged())), as.character(output$told$html))
    expect_false(any(grepl("<script", shown, fixed = TRUE)))
  })
})

test_that("the example is at hand", {
  needs_shiny()
  shiny::testServer(explore_server(NULL), {
    session$setInputs(source = "lehner2015", use = 1)
    expect_identical(tidy(measured()), tidy(agreement(lehner_ratings())))
    expect_match(output$data, "10 cases, 4 raters")
    session$setInputs(half_width = 0.1)
    expect_match(output$plan, "gold|truth")
  })
})

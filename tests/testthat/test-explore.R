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
    expect_identical(require_file()$columns, c("item", "who", "said"))
    expect_identical(rater_names(require_file(), "who"), c("ann", "bob", "gpt"))
    unlink(input$file$datapath) # read once
    session$setInputs(
      layout = "long", case = "item", rater = "who", rating = "said", systems = "gpt", use = 1
    )
    expect_identical(loaded_ratings()$raters, c("ann", "bob"))
    expect_identical(loaded_ratings()$systems, "gpt")
    expect_identical(
      tidy(accuracy_result()), tidy(suppressWarnings(estimate_accuracy(loaded_ratings())))
    )
    session$setInputs(choose = TRUE, common = 1)
    expect_identical(
      tidy(accuracy_result()),
      tidy(suppressWarnings(estimate_accuracy(loaded_ratings(), common = 1)))
    )
  })
})

test_that("what cannot be read is told, and what was there stays", {
  needs_shiny()
  shiny::testServer(explore_server(lehner_ratings()), {
    before <- loaded_ratings()
    session$setInputs(source = "file", use = 1)
    expect_match(messages()$ratings[[1]]$text, "Choose a file first")
    upload(session, "<html><script>alert(1)</script>", "html")
    session$setInputs(layout = "long", use = 2)
    expect_identical(messages()$ratings[[1]]$kind, "danger")
    expect_match(output$messages$html, "&lt;img src=x onerror=alert(1)&gt;.csv", fixed = TRUE)
    expect_no_match(output$messages$html, input$file$datapath, fixed = TRUE)
    expect_identical(loaded_ratings(), before)
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
    shown <- c(as.character(sentence_list(accuracy_result())), as.character(output$messages$html))
    expect_false(any(grepl("<script", shown, fixed = TRUE)))
  })
})

test_that("the example is at hand", {
  needs_shiny()
  shiny::testServer(explore_server(NULL), {
    session$setInputs(source = "lehner2015", use = 1)
    expect_identical(tidy(agreement_result()), tidy(agreement(lehner_ratings())))
    expect_match(output$facts, "10 cases")
    expect_match(output$data, "Fleiss' kappa|Fleiss&#39; kappa")
    session$setInputs(half_width = 0.1)
    expect_match(output$plan$html, "gold|truth")
  })
})

# ---- What a browser may send -----------------------------------------------------------------
# nolint start: nonportable_path_linter, absolute_path_linter. Messages that a client may send.

# Text of the page after a message in which one field has another value.
told_of <- function(field, value, layout = "long", x = NULL) {
  seen <- new.env()
  shiny::testServer(explore_server(x), {
    upload(session, votes)
    session$setInputs(
      layout = layout, case = "item", rater = "who", rating = "said", raters = c("who", "said"),
      systems = if (layout == "long") "gpt"
    )
    do.call(session$setInputs, stats::setNames(list(value), field), quote = TRUE)
    session$setInputs(use = 1)
    seen$said <- c(
      unlist(messages()), tryCatch(output$messages$html, error = conditionMessage),
      tryCatch(output$names$html, error = conditionMessage), length(loaded_ratings()$cases)
    )
  })
  seen$said
}

test_that("nothing that a browser sends is a path or an expression", {
  needs_shiny()
  secret <- withr::local_tempfile(lines = c("case,rater,rating", "the secret,a,b"))
  secret <- normalizePath(secret)
  files <- list(
    "/etc/passwd", list(name = "a", datapath = "/etc/passwd"),
    list(name = "a", datapath = file.path(tempdir(), "..", "..", "etc", "passwd")),
    list(name = "a", datapath = c(secret, secret)), list(datapath = secret), TRUE, quote(a)
  )
  values <- list(
    secret, "/etc/passwd", 1, TRUE, quote(votes), quote(system("id")), list("item"),
    c("item", "who", secret), "file", NA_character_, character()
  )
  messages <- c(
    lapply(files, function(file) list("file", file)),
    unlist(lapply(c("source", "layout", "case", "rater", "rating", "systems"), function(field) {
      lapply(values, function(value) list(field, value))
    }), FALSE),
    lapply(values, function(value) list("systems", value, "wide")),
    lapply(values[-11], function(value) list("raters", value, "wide"))
  )
  if (!nightly_tests()) {
    messages <- messages[seq(1, length(messages), by = if (extended_tests()) 9 else 18)]
  }
  faults <- vapply(messages, function(message) {
    said <- tryCatch(do.call(told_of, message, quote = TRUE), error = conditionMessage)
    refused <- any(grepl("not a choice that the page offers", said, fixed = TRUE))
    # The page offers the one; of the other nothing is ticked.
    offered <- list(list("source", "file"), list("systems", character()))
    if (list(message[1:2]) %in% offered || refused && !any(grepl("root:|the secret", said))) {
      return("")
    }
    paste(c(message[[1L]], deparse(message[[2L]]), said), collapse = " | ")
  }, "")
  expect_identical(faults[nzchar(faults)], character())
})

test_that("links of the folder of uploads to other places are followed before they are refused", {
  needs_shiny()
  skip_on_os("windows")
  outside <- file.path("", "etc", "passwd")
  skip_if_not(file.exists(outside))
  link <- withr::local_tempfile()
  file.symlink(outside, link)
  expect_error(
    read_uploaded_file(list(name = "a", datapath = link)), class = "fallible_error_page"
  )
})

test_that("files with more than the page shows are refused before they are parsed", {
  needs_shiny()
  shiny::testServer(explore_server(NULL), {
    kind_of_told <- function(lines, ext = "csv") {
      upload(session, lines, ext)
      session$setInputs(layout = "wide")
      tryCatch(nchar(output$mapping$html), error = function(e) NULL)
      unlist(messages()$file)["text"]
    }
    wide <- function(n) rep(paste(seq_len(n), collapse = ","), 3L)
    expect_match(kind_of_told(wide(201)), "at most 200 columns")
    expect_match(kind_of_told(rep("1,2", 1e5 + 1)), "at most 200,000 cells")
    expect_match(kind_of_told(strrep("[", 3e4), "json"), "at most 200,000 cells")
    expect_match(kind_of_told(wide(201)), "explore()", fixed = TRUE)
    expect_null(kind_of_told(wide(200))) # there is no message
  })
  # Its limits are arguments.
  limits <- page_limits(max_cells = 10)
  path <- withr::local_tempfile(lines = votes, fileext = ".csv")
  expect_error(
    read_uploaded_file(list(name = "a", datapath = path), limits), class = "fallible_error_limit"
  )
  expect_error(explore(max_cells = 0), class = "fallible_error_argument")
})

test_that("a picture is no wider than a screen", {
  needs_shiny()
  domain <- function(width) list(clientData = list(output_a_width = width))
  width <- function(x) shiny::withReactiveDomain(domain(x), get_output_width("a"))
  expect_identical(width(700), 700)
  expect_identical(width(1e9), 5000)
  expect_null(width("wide"))
})
# nolint end

test_that("who rates is asked on the page, and only by the choices that it offers", {
  needs_shiny()
  x <- quiet(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
  expect_identical(set_kind(x, NULL), x)
  expect_identical(set_kind(x, "tool")$rater_kind, "tool")
  expect_error(set_kind(x, "robot"), class = "fallible_error_page")
  shiny::testServer(explore_server(x), {
    session$setInputs(kind = "model")
    expect_identical(panel_kind(current_ratings()), "machines")
    accuracy_result()
    expect_match(paste(unlist(messages()$accuracy), collapse = " "), "agreement is little evidence")
  })
})

test_that("labels are cleaned, and codes are missing ratings, as the page says", {
  needs_shiny()
  unclean <- c(votes, "9,ann,Yes ", "9,bob,unsure", "9,gpt,yes")
  shiny::testServer(explore_server(NULL), {
    upload(session, unclean)
    session$setInputs(
      layout = "long", case = "item", rater = "who", rating = "said", systems = "gpt", use = 1,
      na = "unsure, -", clean = TRUE
    )
    expect_setequal(tolower(loaded_ratings()$categories), c("yes", "no"))
    expect_match(output$code, "clean_labels = TRUE", fixed = TRUE)
    expect_match(output$code, "\"unsure\"", fixed = TRUE)
    session$setInputs(na = "", use = 2)
    expect_length(loaded_ratings()$categories, 3L)
  })
})

test_that("known truths that are uploaded count", {
  needs_shiny()
  withr::local_seed(1)
  x <- simulate_ratings(rater_design(c(0.7, 0.8, 0.8), c(a = 0.9, b = 0.6), 3, n = 120))
  table <- truth(x)[1:60, ]
  lines <- c("id,is", paste(table$case, table$category, sep = ","))
  shiny::testServer(explore_server(x), {
    path <- withr::local_tempfile(fileext = ".csv", lines = lines)
    session$setInputs(gold = list(name = "gold.csv", datapath = path), half_width = 0.05)
    expect_match(output$known$html, "How were they chosen")
    session$setInputs(gold_case = "id", gold_truth = "is", gold_sample = "random")
    same <- quiet(estimate_accuracy(x, known_truth = table, gold_sample = "random"))
    expect_identical(tidy(accuracy_result(), "gold"), tidy(same, "gold"))
    expect_identical(glance(comparison_result())$cases, 120)
    expect_match(output$code, "gold_cases(", fixed = TRUE)
    list <- utils::read.csv(output$cases)
    expect_named(list, c("case", "stratum", "probability", "truth"))
    session$setInputs(gold_case = "nowhere")
    expect_match(unlist(messages()$known)["text"], "not a choice that the page offers")
  })
})

test_that("the code that the page shows does what the page did", {
  needs_shiny()
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  writeLines(votes, "<img src=x onerror=alert(1)>.csv") # as it was uploaded
  shiny::testServer(explore_server(NULL), {
    upload(session, votes)
    session$setInputs(
      layout = "long", case = "item", rater = "who", rating = "said", systems = "gpt", use = 1,
      kind = "crowd", half_width = 0.05
    )
    code <- parse(text = output$code)
    made <- new.env(parent = globalenv())
    for (line in as.list(code)[2:5]) quiet(eval(line, made))
    expect_identical(tidy(made$estimate), tidy(accuracy_result()))
  })
})

test_that("notes are folded, and errors are not", {
  boxes <- list(
    list(list(kind = "warning", text = "Say so by `na`. Odd label.")),
    list(list(kind = "danger", text = "`case` is wrong"))
  )
  skip_if_not_installed("shiny")
  page <- as.character(shiny::tagList(message_boxes(boxes, list(NULL))))
  expect_match(page, "alert-danger.*<details")
  expect_match(page, "Odd label", fixed = TRUE)
  expect_no_match(page, "`na`", fixed = TRUE)
})

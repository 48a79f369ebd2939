# Server of the interactive page: a reactive chain from a file to ratings, and from ratings to all
# outputs.

# Returns a server function that starts with the ratings `x`.
explore_server <- function(x, limits = page_limits()) function(input, output, session) { # nolint
  current <- shiny::reactiveVal(x)
  messages <- shiny::reactiveVal(list())
  read <- shiny::reactiveVal(quote(x))
  noted <- function(name, make) shiny::reactive(noting(messages, name, make()))
  # Outputs stay empty if a value that they need is missing.
  required <- function(value) function() shiny::req(value())
  result <- function(...) required(noted(...))
  needed <- function(value, words) shiny::validate(shiny::need(value, words))
  uploaded <- function(id) noted(id, function() file_columns(shiny::req(input[[id]]), limits))
  maybe_file <- uploaded("file")
  gold <- uploaded("gold")
  shiny::observeEvent(input$use, {
    loaded <- noting(messages, "ratings", chosen_ratings(input, maybe_file))
    if (!is.null(loaded)) {
      current(loaded$x)
      read(loaded$code)
    }
  })
  layout_sent <- function() sent(shiny::req(input$layout), c("long", "wide"), "layout")
  chosen <- shiny::reactive({
    needed(current(), "Choose ratings under \"Data\" first.")
    set_kind(current(), input$kind)
  })
  known <- noted("known", function() known_cases(input, gold))
  estimated <- function(...) {
    estimate_accuracy(chosen(), ..., common = page_common(input, known()), known_truth = known())
  }
  measured <- result("agreement", function() agreement(chosen()))
  judged <- result("accuracy", function() {
    needed(length(chosen()$systems), "These ratings have no systems.")
    estimated()
  })
  grouped <- result("groups", function() {
    by <- names(shiny::req(chosen()$covariates))
    shiny::req(length(by) > 0L, chosen()$systems)
    estimated(by = by[[1L]])
  })
  compared <- result("comparison", function() {
    needed(length(chosen()$systems) > 1L, "These ratings have no two systems.")
    compare_systems(judged())
  })
  planned <- result("plan", function() {
    plan_gold(chosen(), half_width = shiny::req(input$half_width))
  })
  checked <- result("check", function() data_check(chosen()))

  # Fields depend only on fields above them, so that updates do not trigger each other.
  file <- required(maybe_file)
  output$mapping <- shiny::renderUI(layout_field(file()))
  output$columns <- shiny::renderUI(column_fields(file(), layout_sent()))
  output$names <- shiny::renderUI(system_field(file(), layout_sent(), input$rater, input$case))
  labels <- shiny::reactive(
    labels_found(file(), if (layout_sent() == "long") input$rating else input$raters)
  )
  output$labels <- shiny::renderText(
    paste0("Labels: ", toString(sprintf("%s (%d)", names(labels()), labels())))
  )
  output$more <- shiny::renderUI(more_fields(file(), names(labels())))
  output$known <- shiny::renderUI(known_fields(shiny::req(gold())))
  output$messages <- shiny::renderUI(message_boxes(messages(), list(input$file, input$gold)))
  output$facts <- shiny::renderText(format(chosen()))
  output$data <- shiny::renderTable(checks_in_words(checked()))
  show_result(output, "agreement", measured, "Measures of agreement with their intervals", 430)
  show_result(output, "accuracy", judged, "Accuracy of each system with its interval", 260)
  show_result(output, "comparison", compared, "Differences of systems with their intervals", 260)
  output$best <- shiny::renderText(plain_words(format(compared())))
  output$groups_table <- shiny::renderTable(short_table(grouped()))
  output$gate_table <- shiny::renderTable({
    shiny::req(is_number(input$least))
    short_table(gate(judged(), at_least = input$least))
  })
  output$sentences <- shiny::renderUI(sentences_of(judged()))
  output$plan <- shiny::renderUI(lapply(plain_words(document_notes(planned())), shiny::tags$p))
  output$plan_table <- shiny::renderTable(shown_table(planned()))
  output$code <- shiny::renderText(page_code(read(), input, known()))
  offer_files(input, output, chosen, planned, known)
}

# Files to download: the cases to label, and reports.
offer_files <- function(input, output, chosen, planned, known) {
  output$cases <- shiny::downloadHandler("cases-to-label.csv", function(path) {
    list <- for_spreadsheet(as.data.frame(augment(shiny::isolate(planned()))), TRUE)
    utils::write.csv(list, path, row.names = FALSE, na = "")
  })
  report <- function(ending) {
    shiny::downloadHandler(paste0("accuracy-report", ending), function(path) {
      shiny::isolate(accuracy_report(chosen(), path, title = input$title, known_truth = known()))
    })
  }
  output$report <- report(".html")
  output$word <- report(".docx")
}

# With cases of known truth, no share of shared errors needs to be assumed.
page_common <- function(input, known) {
  if (isTRUE(input$choose) && is.null(known)) input$common
}

# R code for the choices on the page, as text that is only displayed.
page_code <- function(read, input, known) {
  is_read <- is.call(read)
  if (is_read && nzchar(input$kind %||% "")) read$rater_kind <- input$kind
  common <- page_common(input, known)
  if (!is.null(common)) common <- paste0(", common = ", format(common))
  used <- if (!is.null(known)) ", known_truth = known"
  quoted <- function(name) encodeString(name %||% "", quote = "\"")
  lines <- c(
    "library(fallible)",
    if (is_read) paste("x <-", paste(deparse(read, 60L), collapse = "\n")),
    if (!is.null(known)) sprintf(
      paste0(
        "table <- read.csv(%s)\nknown <- gold_cases(data.frame(case = table[[%s]],\n",
        "  truth = table[[%s]]), sample = %s)"
      ),
      quoted(input$gold$name), quoted(input$gold_case), quoted(input$gold_truth),
      quoted(input$gold_sample)
    ),
    "data_check(x)", "agreement(x)", paste0("estimate <- estimate_accuracy(x", common, used, ")"),
    "estimate",
    if (is_read && !is.null(read$covariates)) {
      paste0("estimate_accuracy(x, by = ", quoted(read$covariates), common, used, ")")
    },
    if (is_number(input$least)) {
      sprintf("gate(estimate, at_least = %s)", format(input$least))
    },
    "may_say(estimate)", if (length(input$systems) > 1L) "compare_systems(estimate)",
    paste0("plan <- plan_gold(x, half_width = ", format(input$half_width %||% 0.05), ")"),
    "augment(plan)", paste0("accuracy_report(x, \"report.html\"", used, ")")
  )
  paste(lines, collapse = "\n")
}

# Ratings with the kind of raters chosen on the page, if any.
set_kind <- function(x, kind) {
  kind <- sent(kind %||% "", page_kinds, "kind")
  if (nzchar(kind)) x$rater_kind <- kind
  x
}

# A plot and its table. If the page is narrow, the plot is drawn wider and scaled down.
show_result <- function(output, id, result, alt, height) {
  plot <- paste0(id, "_plot")
  output[[plot]] <- shiny::renderPlot(
    ggplot2::autoplot(result()), res = 110,
    width = function() max(560, shown_width(plot)), height = function() height,
    alt = paste0(alt, "; the numbers are in the table.")
  )
  output[[paste0(id, "_table")]] <- shiny::renderTable(short_table(result()))
}

# Widths above 5000 pixels are not realistic.
shown_width <- function(id) {
  width <- shiny::getDefaultReactiveDomain()$clientData[[paste0("output_", id, "_width")]]
  if (is.numeric(width) && length(width) == 1L) min(width, 5000)
}

# Errors first; warnings are folded, and name fields of the page instead of arguments. Files have
# their original names.
message_boxes <- function(messages, files) {
  box <- function(x) {
    for (file in Filter(is_upload, files)) {
      x$text <- gsub(file$datapath, file$name, x$text, fixed = TRUE)
    }
    x$text <- if (x$kind == "warning") plain_words(x$text) else page_words(x$text)
    shiny::tags$div(
      class = paste0("alert alert-", x$kind),
      style = "white-space: pre-line; overflow-wrap: anywhere", x$text
    )
  }
  boxes <- unlist(unname(messages), FALSE)
  wrong <- vapply(boxes, function(x) x$kind == "danger", NA)
  notes <- lapply(boxes[!wrong], box)
  list(lapply(boxes[wrong], box), if (length(notes) > 0L) shiny::tags$details(
    class = "mb-3", shiny::tags$summary(paste("Notes on these ratings:", length(notes))), notes
  ))
}

# Errors name the fields of the page instead of arguments.
page_words <- function(text) {
  fields <- c(
    case = "\"Case\"", rater = "\"Rater\"", rating = "\"Rating\"", raters = "\"Columns of raters\"",
    systems = "\"Systems to evaluate\"", data = "the file", file = "the file",
    known_truth = "\"Cases of known truth\"", categories = "\"Labels to join\"",
    covariates = "\"Groups of cases\"", na = "\"Words for a missing answer\""
  )
  for (name in names(fields)) {
    text <- gsub(paste0("`", name, "`"), fields[[name]], text, fixed = TRUE)
  }
  text
}

# Value of `code`, or NULL after an error. Errors and warnings are shown on the page until the next
# call with the same name.
noting <- function(messages, name, code) {
  notes <- new.env()
  note <- function(kind, cnd) {
    box <- list(kind = kind, text = cli::ansi_strip(conditionMessage(cnd)))
    notes[[kind]] <- unique(c(notes[[kind]], list(box)))
    NULL
  }
  value <- rlang::try_fetch(
    code, fallible_error = function(e) note("danger", e),
    fallible_warning = function(w) {
      note("warning", w)
      rlang::cnd_muffle(w)
    }
  )
  all <- shiny::isolate(messages())
  all[[name]] <- c(notes$danger, notes$warning)
  messages(all)
  value
}

# ---- A file and its columns ---------------------------------------------------------------------

# Other users of the page wait while a file is read, so reading should take less than a second.
page_limits <- function(max_size = 5, max_cells = 2e5) {
  list(
    most = c(
      entries = 1000, megabytes = 2 * max_size, ratio = 200, columns = 200, cells = max_cells
    ), advice = "Read it with `read_ratings()`, and give the ratings to `explore()`."
  )
}

# A browser may send anything in place of an uploaded file, such as the path of another file.
# Uploads are in the temporary folder of this process, whose name browsers do not have.
is_upload <- function(file) {
  folder <- paste0(normalizePath(tempdir(), "/"), "/")
  is.list(file) && is_string(file$name) && is_string(file$datapath) &&
    startsWith(normalizePath(file$datapath, "/", mustWork = FALSE), folder)
}

# Returns `value` if it is among the choices of the page. With `several` it may be NULL.
sent <- function(value, choices, field, several = FALSE) {
  ok <- is.character(value) && all(value %in% choices) && (several || length(value) == 1L)
  if (!ok && !(several && is.null(value))) abort_page(field)
  value
}

abort_page <- function(field) {
  words <- "What was sent for {.field {field}} is not a choice that the page offers."
  abort_fallible("page", words, field = field, call = NULL)
}

# Returns a list: contents of the file, words for its format, columns, the mapping of columns that
# the format implies, and the table.
file_columns <- function(file, limits = page_limits()) {
  if (!is_upload(file)) abort_page("file")
  how <- list(scratch = withr::local_tempdir(), keep = identity, limits = limits)
  got <- read_files(file$datapath, how)
  list(
    got = got, how = how, words = got$format$words, columns = setdiff(names(got$table), "file"),
    map = got$map, table = got$table
  )
}

# Counts of the labels in the columns of ratings, at most 30, the most frequent first.
labels_found <- function(file, columns) {
  columns <- intersect(columns, file$columns)
  labels <- unlist(lapply(file$table[columns], as_label), use.names = FALSE)
  head(sort(table(labels[!is.na(labels) & nzchar(labels)]), decreasing = TRUE), 30L)
}

# Turns "postive = positive, pos = positive" into `categories`: the names replace the values.
labels_to_join <- function(text) {
  if (!is_string(text)) abort_page("join")
  pairs <- strsplit(trimws(strsplit(text, ",", fixed = TRUE)[[1L]]), " *= *")
  wrong <- lengths(pairs) != 2L | !nzchar(unlist(lapply(pairs, `[`, 1L)))
  abort_if(any(wrong), "page", call = NULL, field = "join", c(
    "\"Labels to join\" has pairs, separated by commas.",
    i = "Write the label that was found, an equals sign, and the label that replaces it."
  ))
  setNames(vapply(pairs, `[[`, "", 1L), vapply(pairs, `[[`, "", 2L))
}

# The list of cases from the page has a column with the sampling probability of each case.
known_cases <- function(input, file) {
  read <- if (!is.null(input$gold) && !is.null(input$gold_case)) file()
  if (is.null(read)) return(NULL)
  column <- function(id) as_label(read$table[[sent(input[[id]], read$columns, id)]])
  table <- data.frame(case = column("gold_case"), truth = column("gold_truth"))
  table$truth[table$truth %in% usual_na()] <- NA
  drawn <- read$table[["probability"]]
  if (is.null(drawn)) return(gold_cases(table, sent(input$gold_sample, chosen_how, "gold_sample")))
  table$probability <- suppressWarnings(as.numeric(drawn))
  gold_cases(table)
}

rater_names <- function(file, column) sort_strings(unique(as_label(file$table[[column]])))

chosen_ratings <- function(input, file) {
  if (sent(input$source, c("file", "lehner2015"), "source") != "file") {
    code <- quote(ratings(
      fallible::lehner2015, raters = paste0("rater", 1:4), systems = "system", case = "case"
    ))
    return(list(x = eval(code), code = code))
  }
  read <- if (!is.null(input$file)) file()
  abort_if(is.null(read), "file", "Choose a file first, one that can be read.", call = NULL)
  long <- sent(input$layout, c("long", "wide"), "layout") == "long"
  fields <- if (long) c("case", "rater", "rating") else c("case", "raters")
  mapping <- lapply(setNames(nm = fields), function(id) {
    sent(input[[id]], read$columns, id, several = id == "raters")
  })
  known <- if (long) rater_names(read, mapping$rater) else read$columns
  systems <- sent(input$systems, known, "systems", several = TRUE)
  abort_if(!long && is.null(mapping$raters), "page", "Tick the columns of the raters first.",
    field = "raters", call = NULL)
  na <- if (is_string(input$na)) {
    c("", trimws(strsplit(input$na, ",", fixed = TRUE)[[1L]]))
  } else {
    usual_na()
  }
  clean <- isTRUE(input$clean)
  labels <- names(labels_found(read, if (long) mapping$rating else mapping$raters))
  optional <- function(id, choices) sent(input[[id]] %||% "", c("", choices), id)
  right <- optional("right", labels)
  if (nzchar(right)) systems <- c(application = right)
  groups <- optional("groups", read$columns)
  join <- labels_to_join(input$join %||% "")
  more <- drop_null(list(
    categories = if (length(join) > 0L) join, covariates = if (nzchar(groups)) groups
  ))
  reading <- drop_null(list(
    na = if (!setequal(na, usual_na())) na, clean_labels = if (clean) clean
  ))
  code <- rlang::call2(
    "read_ratings", input$file$name, !!!mapping, systems = systems, !!!reading, !!!more
  )
  # The file was read when its columns were requested.
  mapping <- lapply(setNames(nm = c("case", "rater", "rating", "raters", "counts")), function(id) {
    rlang::new_quosure(mapping[[id]])
  })
  systems <- rlang::new_quosure(if (long) systems %||% FALSE else systems)
  x <- inject(ratings_of(read$got, mapping, systems, read$how, na, clean, !!!more))
  list(x = x, code = code)
}

# ---- Output ------------------------------------------------------------------------------------

short_table <- function(x) {
  table <- used_columns(as.data.frame(tidy(x)))
  table$method <- table$reason <- NULL
  if (!is.null(table$n)) table$n <- number(table$n)
  table[] <- lapply(table, function(column) if (is.double(column)) decimals(column) else column)
  words <- c(
    std.error = "standard error", conf.low = "from", conf.high = "to", at_least = "to be reached",
    needed = "labels needed",
    shared = "if it shares the raters' errors", independent = "if it errs independently"
  )
  headings <- words[names(table)]
  setNames(table, ifelse(is.na(headings), names(table), headings))
}

sentences_of <- function(estimate) {
  table <- may_say(estimate)
  terms <- lapply(ifelse(table$may, "You may say", "You may not say"), shiny::tags$dt)
  shiny::tags$dl(Map(list, terms, lapply(table$sentence, shiny::tags$dd)))
}

# What the interactive page does: one reactive chain from a file to ratings and from these to all
# that is shown.

# A function, for the ratings to begin with.
explore_server <- function(x, limits = page_limits()) function(input, output, session) { # nolint
  current <- shiny::reactiveVal(x)
  messages <- shiny::reactiveVal(list())
  read <- shiny::reactiveVal(quote(x))
  uploaded <- function(id) shiny::reactive({ # nolint: brace_linter.
    shiny::req(input[[id]])
    noting(messages, id, file_columns(input[[id]], limits))
  })
  file <- uploaded("file")
  gold <- uploaded("gold")
  shiny::observeEvent(input$use, {
    found <- noting(messages, "ratings", chosen_ratings(input, file))
    if (!is.null(found)) {
      current(found$x)
      read(found$code)
    }
  })
  layout_sent <- function() sent(shiny::req(input$layout), c("long", "wide"), "layout")
  chosen <- shiny::reactive({
    shiny::validate(shiny::need(current(), "Choose ratings under \"Data\" first."))
    of_kind(current(), input$kind)
  })
  known <- shiny::reactive(noting(messages, "known", known_cases(input, gold)))
  measured <- shiny::reactive(noting(messages, "agreement", agreement(chosen())))
  judged <- shiny::reactive({
    shiny::validate(shiny::need(length(chosen()$systems), "These ratings have no systems."))
    noting(messages, "accuracy", page_estimate(chosen(), input, known()))
  })
  compared <- shiny::reactive({
    several <- length(chosen()$systems) > 1L
    shiny::validate(shiny::need(several, "These ratings have no two systems."))
    noting(messages, "comparison", compare_systems(shiny::req(judged())))
  })
  planned <- shiny::reactive({
    noting(messages, "plan", plan_gold(chosen(), half_width = shiny::req(input$half_width)))
  })

  # Fields are made anew only for what stands above them, so that they never chase each other.
  output$mapping <- shiny::renderUI(layout_field(shiny::req(file())))
  output$columns <- shiny::renderUI(column_fields(shiny::req(file()), layout_sent()))
  output$names <- shiny::renderUI(
    system_field(shiny::req(file()), layout_sent(), input$rater, input$case)
  )
  output$known <- shiny::renderUI(known_fields(shiny::req(gold())))
  output$messages <- shiny::renderUI(message_boxes(messages(), list(input$file, input$gold)))
  output$facts <- shiny::renderText(format(chosen()))
  checked <- shiny::reactive(noting(messages, "check", data_check(chosen())))
  output$data <- shiny::renderTable(checks_in_words(checked()))
  show_result(output, "agreement", measured, "Measures of agreement with their intervals", 430)
  show_result(output, "accuracy", judged, "Accuracy of each system with its interval", 260)
  show_result(output, "comparison", compared, "Differences of systems with their intervals", 260)
  output$best <- shiny::renderText(plain_words(format(shiny::req(compared()))))
  output$sentences <- shiny::renderUI(sentences_of(shiny::req(judged())))
  output$plan <- shiny::renderUI(
    lapply(plain_words(c(format(shiny::req(planned())), notes_of(planned()))), shiny::tags$p)
  )
  output$plan_table <- shiny::renderTable(shown_table(shiny::req(planned())))
  output$code <- shiny::renderText(page_code(read(), input, !is.null(known())))
  output$cases <- shiny::downloadHandler("cases-to-label.csv", function(path) {
    list <- for_spreadsheet(as.data.frame(augment(shiny::isolate(planned()))), TRUE)
    utils::write.csv(list, path, row.names = FALSE, na = "")
  })
  for (format in c(report = "html", word = "docx")) local({
    name <- paste0("accuracy-report.", format)
    id <- if (format == "html") "report" else "word"
    output[[id]] <- shiny::downloadHandler(name, content = function(path) {
      shiny::isolate(
        accuracy_report(chosen(), path, title = input$title, known_truth = known())
      )
    })
  })
}

# With cases of known truth no share of shared errors need be assumed.
page_estimate <- function(x, input, known) {
  common <- if (isTRUE(input$choose) && is.null(known)) input$common
  estimate_accuracy(x, common = common, known_truth = known)
}

# What was read, and what was chosen, as R would have it: text, which the page only shows.
page_code <- function(read, input, known) {
  if (is.call(read) && nzchar(input$kind %||% "")) read$rater_kind <- input$kind
  common <- if (isTRUE(input$choose) && !known) paste0(", common = ", format(input$common))
  used <- if (known) ", known_truth = known"
  file <- encodeString(if (known) input$gold$name else "", quote = "\"")
  column <- function(id) encodeString(input[[id]] %||% "", quote = "\"")
  lines <- c(
    "library(fallible)",
    if (is.call(read)) paste("x <-", paste(deparse(read, 60L), collapse = "\n")),
    if (known) paste0(
      "table <- read.csv(", file, ")\nknown <- gold_cases(data.frame(case = table[[",
      column("gold_case"), "]],\n  truth = table[[", column("gold_truth"), "]]), sample = ",
      column("gold_sample"), ")"
    ),
    "data_check(x)", "agreement(x)", paste0("estimate <- estimate_accuracy(x", common, used, ")"),
    "estimate", "may_say(estimate)", if (length(input$systems) > 1L) "compare_systems(estimate)",
    paste0("plan <- plan_gold(x, half_width = ", format(input$half_width %||% 0.05), ")"),
    "augment(plan)", paste0("accuracy_report(x, \"report.html\"", used, ")")
  )
  paste(lines, collapse = "\n")
}

# Ratings by the raters that were chosen on the page, if any were.
of_kind <- function(x, kind) {
  kind <- sent(kind %||% "", unname(page_kinds), "kind")
  if (nzchar(kind)) x$rater_kind <- kind
  x
}

# A picture and its numbers. What a narrow page has no room for is drawn wider, and shown smaller.
show_result <- function(output, id, result, alt, height) {
  plot <- paste0(id, "_plot")
  output[[plot]] <- shiny::renderPlot(
    ggplot2::autoplot(shiny::req(result())), res = 110,
    width = function() max(560, shown_width(plot)), height = function() height,
    alt = paste0(alt, "; the numbers are in the table.")
  )
  output[[paste0(id, "_table")]] <- shiny::renderTable(short_table(shiny::req(result())))
}

# No screen is wider than 5000 pixels.
shown_width <- function(id) {
  data <- shiny::getDefaultReactiveDomain()$clientData
  width <- data[[paste0("output_", id, "_width")]]
  if (rlang::is_scalar_double(width) || rlang::is_scalar_integer(width)) min(width, 5000)
}

# Errors first; notes are folded, and speak of the fields of the page and not of arguments.
message_boxes <- function(messages, files) {
  boxes <- unlist(unname(messages), FALSE)
  wrong <- vapply(boxes, function(x) x$kind == "danger", NA)
  notes <- lapply(boxes[!wrong], message_box, files)
  list(
    lapply(boxes[wrong], message_box, files),
    if (length(notes) > 0L) shiny::tags$details(
      class = "mb-3", shiny::tags$summary(paste("Notes on these ratings:", length(notes))), notes
    )
  )
}

# Files have the name that they were uploaded by.
message_box <- function(x, files) {
  for (file in Filter(is_upload, files)) {
    x$text <- gsub(file$datapath, file$name, x$text, fixed = TRUE)
  }
  if (x$kind == "warning") x$text <- plain_words(x$text)
  shiny::tags$div(
    class = paste0("alert alert-", x$kind),
    style = "white-space: pre-line; overflow-wrap: anywhere", x$text
  )
}

# A value; NULL where it cannot be had. What conditions say is told on the page, until the next call
# of this name.
noting <- function(messages, name, code) {
  notes <- new.env()
  note <- function(kind, cnd) {
    notes[[kind]] <- unique(c(notes[[kind]], cli::ansi_strip(conditionMessage(cnd))))
  }
  value <- withCallingHandlers(
    tryCatch(code, fallible_error = function(e) {
      note("danger", e)
      NULL
    }),
    fallible_warning = function(w) {
      note("warning", w)
      rlang::cnd_muffle(w)
    }
  )
  boxes <- lapply(c("danger", "warning"), function(kind) {
    lapply(notes[[kind]], function(text) list(kind = kind, text = text))
  })
  all <- shiny::isolate(messages())
  all[[name]] <- unlist(boxes, FALSE)
  messages(all)
  value
}

# ---- A file and its columns ---------------------------------------------------------------------

# Whoever else uses the page waits while a file is read, and should not have to for a second.
page_limits <- function(max_size = 5, max_cells = 2e5) {
  list(
    most = c(
      entries = 1000, megabytes = 2 * max_size, ratio = 200, columns = 200, cells = max_cells
    ), advice = "Read it with `read_ratings()`, and give the ratings to `explore()`."
  )
}

# A browser may send anything in the place of a file that was uploaded, such as the path of another:
# uploads are in the temporary folder of this process, whose name no browser knows.
is_upload <- function(file) {
  folder <- paste0(normalizePath(tempdir(), "/"), "/")
  is.list(file) && rlang::is_string(file$name) && rlang::is_string(file$datapath) &&
    startsWith(normalizePath(file$datapath, "/", mustWork = FALSE), folder)
}

# `value`, if it is among the choices that the page gives; of `several` there may be none.
sent <- function(value, choices, field, several = FALSE) {
  ok <- is.character(value) && all(value %in% choices) && (several || length(value) == 1L)
  if (!ok && !(several && is.null(value))) abort_page(field)
  value
}

abort_page <- function(field) {
  words <- "What was sent for {.field {field}} is not a choice that the page offers."
  abort_fallible("page", words, field = field, call = NULL)
}

# A list: what was read, words for its format, columns, what the format knows of them, their values.
file_columns <- function(file, limits = page_limits()) {
  if (!is_upload(file)) abort_page("file")
  how <- list(scratch = withr::local_tempdir(), keep = identity, limits = limits)
  got <- read_files(file$datapath, how)
  list(
    got = got, how = how, words = got$format$words, columns = setdiff(names(got$table), "file"),
    map = got$map, table = got$table
  )
}

layout_field <- function(file) {
  shiny::tagList(
    shiny::tags$p(paste0("This looks like ", file$words, ".")),
    shiny::radioButtons(
      "layout", "A row holds", c("one rating" = "long", "one case" = "wide"),
      selected = if (is.null(file$map$rater)) "wide" else "long"
    ),
    shiny::uiOutput("columns"), shiny::uiOutput("names")
  )
}

column_fields <- function(file, layout) {
  column <- function(id, label) {
    shiny::selectInput(id, label, file$columns, file$map[[id]], selectize = FALSE)
  }
  if (layout == "long") {
    list(column("case", "Case"), column("rater", "Rater"), column("rating", "Rating"))
  } else {
    column("case", "Case")
  }
}

system_field <- function(file, layout, rater, case) {
  if (layout == "wide") {
    columns <- setdiff(file$columns, case)
    return(list(
      shiny::checkboxGroupInput("raters", "Columns of raters", columns),
      shiny::checkboxGroupInput("systems", "Columns of systems to evaluate", columns)
    ))
  }
  if (rlang::is_string(rater) && rater %in% file$columns) {
    names <- utils::head(rater_names(file, rater), 50L) # nobody ticks more
    shiny::checkboxGroupInput("systems", "Systems to evaluate", names)
  }
}

known_fields <- function(file) {
  column <- function(id, label, likely) {
    first <- intersect(likely, file$columns)
    shiny::selectInput(id, label, file$columns, c(first, file$columns)[[1L]], selectize = FALSE)
  }
  list(
    column("gold_case", "Case", "case"), column("gold_truth", "Truth", c("truth", "category")),
    if (!"probability" %in% file$columns) shiny::selectInput(
      "gold_sample", "How were they chosen?", c("At random" = "random", "By hand" = "given"),
      selectize = FALSE
    )
  )
}

# The list that the page gives says in a column how probable it was that each case was chosen.
known_cases <- function(input, file) {
  read <- if (!is.null(input$gold) && !is.null(input$gold_case)) file()
  if (is.null(read)) return(NULL)
  column <- function(id) as_label(read$table[[sent(input[[id]], read$columns, id)]])
  table <- data.frame(case = column("gold_case"), truth = column("gold_truth"))
  table$truth[table$truth %in% usual_na()] <- NA
  drawn <- read$table[["probability"]]
  if (!is.null(drawn)) table$probability <- suppressWarnings(as.numeric(drawn))
  gold_cases(
    table, if (is.null(drawn)) sent(input$gold_sample, c("random", "given"), "gold_sample")
  )
}

rater_names <- function(file, column) sort(unique(as_label(file$table[[column]])))

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
  mapping <- if (long) c("case", "rater", "rating") else c("case", "raters")
  mapping <- lapply(stats::setNames(nm = mapping), function(id) {
    sent(input[[id]], read$columns, id, several = id == "raters")
  })
  known <- if (long) rater_names(read, mapping$rater) else read$columns
  systems <- sent(input$systems, known, "systems", several = TRUE)
  abort_if(!long && is.null(mapping$raters), "page", "Tick the columns of the raters first.",
    field = "raters", call = NULL)
  na <- usual_na()
  if (rlang::is_string(input$na)) na <- c("", trimws(strsplit(input$na, ",", fixed = TRUE)[[1L]]))
  clean <- isTRUE(input$clean)
  code <- rlang::call2(
    "read_ratings", input$file$name, !!!mapping, systems = systems,
    !!!(if (!setequal(na, usual_na())) list(na = na)), !!!(if (clean) list(clean_labels = TRUE))
  )
  systems <- if (long) systems %||% FALSE else systems
  list(x = file_ratings(read, mapping, systems, na, clean), code = code)
}

# The file was read when its columns were asked for.
file_ratings <- function(file, mapping, systems, na, clean) {
  none <- list(case = NULL, rater = NULL, rating = NULL, raters = NULL, counts = NULL)
  mapping <- lapply(utils::modifyList(none, mapping, keep.null = TRUE), rlang::new_quosure)
  ratings_of(file$got, mapping, rlang::new_quosure(systems), file$how, na, clean)
}

# ---- What is shown ------------------------------------------------------------------------------

short_table <- function(x) {
  table <- as.data.frame(tidy(x))
  table$method <- table$reason <- NULL
  table[vapply(table, function(column) all(is.na(column)), NA)] <- NULL
  numbers <- setdiff(names(table)[vapply(table, is.double, NA)], "n")
  table[numbers] <- lapply(table[numbers], decimals)
  if (!is.null(table$n)) table$n <- number(table$n)
  words <- c(
    std.error = "standard error", conf.low = "from", conf.high = "to",
    shared = "if it shares the raters' errors", independent = "if it errs independently"
  )
  known <- names(table) %in% names(words)
  names(table)[known] <- words[names(table)[known]]
  table
}

sentences_of <- function(estimate) {
  table <- may_say(estimate)
  shiny::tags$dl(lapply(seq_len(nrow(table)), function(i) {
    list(
      shiny::tags$dt(if (table$may[[i]]) "You may say" else "You may not say"),
      shiny::tags$dd(table$sentence[[i]])
    )
  }))
}

# What the interactive page does: one reactive chain from a file to ratings and from these to all
# that is shown.

# A function, for the ratings to begin with.
explore_server <- function(x, limits = page_limits()) function(input, output, session) { # nolint
  current <- shiny::reactiveVal(x)
  told <- shiny::reactiveVal(list())
  file <- shiny::reactive({
    shiny::req(input$file)
    said(told, "file", file_columns(input$file, limits))
  })
  shiny::observeEvent(input$use, {
    found <- said(told, "ratings", chosen_ratings(input, file))
    if (!is.null(found)) current(found)
  })
  layout_sent <- function() sent(shiny::req(input$layout), c("long", "wide"), "layout")
  chosen <- shiny::reactive({
    shiny::validate(shiny::need(current(), "Choose ratings under \"Data\" first."))
    of_kind(current(), input$kind)
  })
  measured <- shiny::reactive(said(told, "agreement", agreement(chosen())))
  judged <- shiny::reactive({
    shiny::validate(shiny::need(length(chosen()$systems), "These ratings have no systems."))
    common <- if (isTRUE(input$choose)) input$common
    said(told, "accuracy", estimate_accuracy(chosen(), common = common))
  })

  # Fields are made anew only for what stands above them, so that they never chase each other.
  output$mapping <- shiny::renderUI(layout_field(shiny::req(file())))
  output$columns <- shiny::renderUI(column_fields(shiny::req(file()), layout_sent()))
  output$names <- shiny::renderUI(system_field(shiny::req(file()), layout_sent(), input$rater))
  output$told <- shiny::renderUI(lapply(unlist(unname(told()), FALSE), told_box, input$file))
  output$data <- shiny::renderPrint({
    print(chosen())
    cat("\n")
    print(said(told, "check", data_check(chosen())))
  })
  show_result(output, "agreement", measured, "Measures of agreement with their intervals", 430)
  show_result(output, "accuracy", judged, "Accuracy of each system with its interval", 260)
  output$sentences <- shiny::renderUI(sentences_of(shiny::req(judged())))
  output$plan <- shiny::renderPrint(
    print(said(told, "plan", plan_gold(chosen(), half_width = shiny::req(input$half_width))))
  )
  output$report <- shiny::downloadHandler(
    "accuracy-report.html", "text/html", # nolint: nonportable_path. A type, no path.
    content = function(path) {
      accuracy_report(shiny::isolate(chosen()), path, title = shiny::isolate(input$title))
    }
  )
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

# Files have the name that they were uploaded by.
told_box <- function(x, file) {
  if (is_upload(file)) x$text <- gsub(file$datapath, file$name, x$text, fixed = TRUE)
  shiny::tags$div(
    class = paste0("alert alert-", x$kind),
    style = "white-space: pre-line; overflow-wrap: anywhere", x$text
  )
}

# A value; NULL where it cannot be had. What conditions say is told on the page, until the next call
# of this name.
said <- function(told, name, code) {
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
  all <- shiny::isolate(told())
  all[[name]] <- unlist(boxes, FALSE)
  told(all)
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
file_columns <- function(file, limits = page_limits(), call = rlang::caller_env()) {
  if (!is_upload(file)) abort_page("file")
  how <- list(scratch = withr::local_tempdir(), keep = identity, limits = limits, call = call)
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
    list(
      column("case", "Case"),
      shiny::checkboxGroupInput("raters", "Columns of raters", file$columns)
    )
  }
}

system_field <- function(file, layout, rater) {
  long <- layout == "long"
  if (long && !(rlang::is_string(rater) && rater %in% file$columns)) {
    return(NULL)
  }
  shiny::checkboxGroupInput(
    "systems", "Systems to evaluate",
    if (long) utils::head(rater_names(file, rater), 50L) else file$columns # nobody ticks more
  )
}

rater_names <- function(file, column) sort(unique(as_label(file$table[[column]])))

chosen_ratings <- function(input, file) {
  if (sent(input$source, c("file", "lehner2015"), "source") != "file") {
    example <- fallible::lehner2015
    return(ratings(example, raters = paste0("rater", 1:4), systems = "system", case = "case"))
  }
  read <- if (!is.null(input$file)) file()
  if (is.null(read)) {
    abort_fallible("file", "Choose a file first, one that can be read.", call = NULL)
  }
  long <- sent(input$layout, c("long", "wide"), "layout") == "long"
  mapping <- if (long) c("case", "rater", "rating") else c("case", "raters")
  mapping <- lapply(stats::setNames(nm = mapping), function(id) {
    sent(input[[id]], read$columns, id, several = id == "raters")
  })
  known <- if (long) rater_names(read, mapping$rater) else read$columns
  systems <- sent(input$systems, known, "systems", several = TRUE)
  file_ratings(read, mapping, if (long) systems %||% FALSE else systems)
}

# The file was read when its columns were asked for.
file_ratings <- function(file, mapping, systems) {
  none <- list(case = NULL, rater = NULL, rating = NULL, raters = NULL)
  mapping <- lapply(utils::modifyList(none, mapping, keep.null = TRUE), rlang::new_quosure)
  na <- eval(formals(read_ratings)$na)
  ratings_of(file$got, mapping, rlang::new_quosure(systems), file$how, na)
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

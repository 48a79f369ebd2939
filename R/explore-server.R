# Server of the interactive page (a Shiny app). The page reads ratings from an uploaded file. All
# outputs are computed from these ratings.

# Returns the server function of the Shiny app. `x`: ratings to start with, or NULL. `limits`:
# limits for uploaded files, see page_limits().
explore_server <- function(x, limits = page_limits()) function(input, output, session) { # nolint
  loaded_ratings <- shiny::reactiveVal(x)
  messages <- shiny::reactiveVal(list())
  reading_code <- shiny::reactiveVal(quote(x))
  new_reactive <-
    function(name, make) shiny::reactive(record_messages(messages, name, make()))
  # Returns a function that returns the result, like new_reactive(). If there is no result, for
  # example after an error, outputs that need the result stay empty.
  new_required_result <- function(...) {
    result <- new_reactive(...)
    function() shiny::req(result())
  }
  check_needed <- function(value, words) shiny::validate(shiny::need(value, words))
  new_upload_reactive <-
    function(id) new_reactive(id, function() read_uploaded_file(shiny::req(input[[id]]), limits))
  file_or_null <- new_upload_reactive("file")
  gold_file <- new_upload_reactive("gold")
  shiny::observeEvent(input$use, {
    chosen_data <- record_messages(messages, "ratings", read_chosen_ratings(input, file_or_null))
    if (!is.null(chosen_data)) {
      loaded_ratings(chosen_data$x)
      reading_code(chosen_data$code)
    }
  })
  get_layout <- function() check_choice_sent(shiny::req(input$layout), page_layouts, "layout")
  current_ratings <- shiny::reactive({
    check_needed(loaded_ratings(), "Choose ratings under \"Data\" first.")
    set_kind(loaded_ratings(), input$kind)
  })
  known_truth <- new_reactive("known", function() read_known_cases(input, gold_file))
  estimate_from_page <- function(...) {
    estimate_accuracy(current_ratings(), ..., common = page_common(input, known_truth()),
      known_truth = known_truth())
  }
  agreement_result <- new_required_result("agreement", function() agreement(current_ratings()))
  accuracy_result <- new_required_result("accuracy", function() {
    check_needed(length(current_ratings()$systems), "These ratings have no systems.")
    estimate_from_page()
  })
  group_result <- new_required_result("groups", function() {
    group_columns <- names(shiny::req(current_ratings()$covariates))
    shiny::req(!is_empty(group_columns), current_ratings()$systems)
    estimate_from_page(by = group_columns[[1L]])
  })
  comparison_result <- new_required_result("comparison", function() {
    check_needed(
      length(current_ratings()$systems) > 1L, "These ratings have fewer than two systems."
    )
    compare_systems(accuracy_result())
  })
  gold_plan <- new_required_result("plan", function() {
    plan_gold(current_ratings(), half_width = shiny::req(input$half_width))
  })
  check_result <- new_required_result("check", function() data_check(current_ratings()))

  # Each input field depends only on fields above it, so that updates do not trigger each other.
  require_file <- function() shiny::req(file_or_null())
  output$mapping <- shiny::renderUI(layout_field(require_file()))
  output$columns <- shiny::renderUI(column_fields(require_file(), get_layout()))
  output$names <- shiny::renderUI(
    system_field(require_file(), get_layout(), input$rater, input$case)
  )
  label_counts <- shiny::reactive(
    count_labels(require_file(), if (get_layout() == "long") input$rating else input$raters)
  )
  output$labels <- shiny::renderText(
    paste0("Labels: ", toString(sprintf("%s (%d)", names(label_counts()), label_counts())))
  )
  output$more <- shiny::renderUI(more_fields(require_file(), names(label_counts())))
  output$known <- shiny::renderUI(gold_inputs(shiny::req(gold_file())))
  output$messages <- shiny::renderUI(message_boxes(messages(), list(input$file, input$gold)))
  output$facts <- shiny::renderText(format(current_ratings()))
  output$data <- shiny::renderTable(checks_in_words(check_result()))
  show_result(
    output, "agreement", agreement_result, "Measures of agreement with their intervals", 430
  )
  show_result(output, "accuracy", accuracy_result, "Accuracy of each system with its interval", 260)
  show_result(
    output, "comparison", comparison_result, "Differences of systems with their intervals", 260
  )
  output$best <- shiny::renderText(plain_words(format(comparison_result())))
  output$groups_table <- shiny::renderTable(result_table_for_page(group_result()))
  output$gate_table <- shiny::renderTable({
    shiny::req(is_single_number(input$least))
    result_table_for_page(gate(accuracy_result(), at_least = input$least))
  })
  output$sentences <- shiny::renderUI(sentence_list(accuracy_result()))
  output$plan <- shiny::renderUI(lapply(plain_words(document_notes(gold_plan())), shiny::tags$p))
  output$plan_table <- shiny::renderTable(shown_table(gold_plan()))
  output$code <- shiny::renderText(page_code(reading_code(), input, known_truth()))
  add_download_handlers(input, output, current_ratings, gold_plan, known_truth)
}

# Adds the files that users can download: the list of cases to label, and the reports.
add_download_handlers <- function(input, output, current_ratings, gold_plan, known_truth) {
  output$cases <- shiny::downloadHandler("cases-to-label.csv", function(path) {
    cases <- as.data.frame(augment(shiny::isolate(gold_plan())))
    utils::write.csv(escape_for_spreadsheet(cases, TRUE), path, row.names = FALSE, na = "")
  })
  new_report_handler <- function(ending) {
    shiny::downloadHandler(paste0("accuracy-report", ending), function(path) {
      shiny::isolate(accuracy_report(
        current_ratings(), path, title = input$title, known_truth = known_truth()
      ))
    })
  }
  output$report <- new_report_handler(".html")
  output$word <- new_report_handler(".docx")
}

# Returns argument `common` of estimate_accuracy(), which the user can set on the page. Returns NULL
# if the user did not set it, or if there are cases with known truth.
page_common <- function(input, known_truth) {
  if (isTRUE(input$choose) && is.null(known_truth)) input$common
}

# Returns R code for the analysis of the page, as text. The page displays the code, but does not run
# it. `reading_code`: the call that reads the ratings.
page_code <- function(reading_code, input, known_truth) {
  is_from_file <- is.call(reading_code)
  if (is_from_file && nzchar(input$kind %||% "")) reading_code$rater_kind <- input$kind
  common <- page_common(input, known_truth)
  common_argument <- if (!is.null(common)) paste0(", common = ", format(common))
  known_truth_argument <- if (!is.null(known_truth)) ", known_truth = known"
  quote_name <- function(name) encodeString(name %||% "", quote = "\"")
  code_lines <- c(
    "library(fallible)",
    if (is_from_file) paste("x <-", paste(deparse(reading_code, 60L), collapse = "\n")),
    if (!is.null(known_truth)) sprintf(
      paste0(
        "table <- read.csv(%s)\nknown <- gold_cases(data.frame(case = table[[%s]],\n",
        "  truth = table[[%s]]), sample = %s)"
      ),
      quote_name(input$gold$name), quote_name(input$gold_case), quote_name(input$gold_truth),
      quote_name(input$gold_sample)
    ),
    "data_check(x)", "agreement(x)",
    paste0("estimate <- estimate_accuracy(x", common_argument, known_truth_argument, ")"),
    "estimate",
    if (is_from_file && !is.null(reading_code$covariates)) {
      paste0("estimate_accuracy(x, by = ", quote_name(reading_code$covariates), common_argument,
        known_truth_argument, ")")
    },
    if (is_single_number(input$least))
      sprintf("gate(estimate, at_least = %s)", format(input$least)),
    "may_say(estimate)", if (length(input$systems) > 1L) "compare_systems(estimate)",
    sprintf("plan <- plan_gold(x, half_width = %s)", format(input$half_width %||% 0.05)),
    "augment(plan)", paste0("accuracy_report(x, \"report.html\"", known_truth_argument, ")")
  )
  paste(code_lines, collapse = "\n")
}

# Returns the ratings with the kind of raters that the user chose on the page. If `kind` is "" or
# NULL, the ratings do not change.
set_kind <- function(x, kind) {
  kind <- check_choice_sent(kind %||% "", rater_kind_choices, "kind")
  if (nzchar(kind)) x$rater_kind <- kind
  x
}

# Adds a plot and a table of a result to the output. Plots are at least 500 pixels wide, so that
# their text fits. The browser scales them down on narrow pages. `result`: a function that returns
# the result. `alt`: description of the plot for screen readers.
show_result <- function(output, id, result, alt, height) {
  plot_id <- paste0(id, "_plot")
  output[[plot_id]] <- shiny::renderPlot(
    ggplot2::autoplot(result()), res = 90,
    width = function() max(500, get_output_width(plot_id)), height = function() height,
    alt = paste0(alt, "; the numbers are in the table.")
  )
  output[[paste0(id, "_table")]] <- shiny::renderTable(result_table_for_page(result()))
}

# Returns the width of an output on the page in pixels, at most 5000. The limit protects the server
# from browsers that send a huge width.
get_output_width <- function(id) {
  width <- shiny::getDefaultReactiveDomain()$clientData[[sprintf("output_%s_width", id)]]
  if (is.numeric(width) && length(width) == 1L) min(width, 5000)
}

# Returns boxes (HTML) with the messages: errors first, then warnings, which the user can unfold.
# `messages`: a list of lists of messages; each message has `kind` and `text`. `files`: uploaded
# files, whose names replace the paths of temporary files.
message_boxes <- function(messages, files) {
  make_box <- function(x) {
    for (file in Filter(is_upload, files)) {
      x$text <- gsub(file$datapath, file$name, x$text, fixed = TRUE)
    }
    x$text <- if (x$kind == "warning") plain_words(x$text) else use_field_titles(x$text)
    shiny::tags$div(
      class = paste0("alert alert-", x$kind),
      style = "white-space: pre-line; overflow-wrap: anywhere", x$text
    )
  }
  message_list <- unlist(unname(messages), FALSE)
  is_error <- map_lgl(message_list, function(x) x$kind == "danger")
  warning_boxes <- lapply(message_list[!is_error], make_box)
  list(lapply(message_list[is_error], make_box), if (!is_empty(warning_boxes)) shiny::tags$details(
    class = "mb-3", shiny::tags$summary(paste("Notes on these ratings:", length(warning_boxes))),
    warning_boxes
  ))
}

# Replaces the names of arguments in an error message by the titles of the fields on the page.
use_field_titles <- function(text) {
  field_titles <- c(
    case = "\"Case\"", rater = "\"Rater\"", rating = "\"Rating\"", raters = "\"Columns of raters\"",
    systems = "\"Systems to evaluate\"", data = "the file", file = "the file",
    known_truth = "\"Cases of known truth\"", categories = "\"Labels to join\"",
    covariates = "\"Groups of cases\"", na = "\"Words for a missing answer\""
  )
  for (name in names(field_titles)) {
    text <- gsub(paste0("`", name, "`"), field_titles[[name]], text, fixed = TRUE)
  }
  text
}

# Runs `code` and returns its value; NULL after an error. Errors and warnings are stored in the
# reactive value `messages`, in element `name`. The next call with the same name replaces them.
record_messages <- function(messages, name, code) {
  new_messages <- new.env()
  record_note <- function(kind, cnd) {
    message <- list(kind = kind, text = cli::ansi_strip(conditionMessage(cnd)))
    new_messages[[kind]] <- unique(c(new_messages[[kind]], list(message)))
    NULL
  }
  code_value <- rlang::try_fetch(
    code, fallible_error = function(e) record_note("danger", e),
    fallible_warning = function(w) {
      record_note("warning", w)
      rlang::cnd_muffle(w)
    }
  )
  all_messages <- shiny::isolate(messages())
  all_messages[[name]] <- c(new_messages$danger, new_messages$warning)
  messages(all_messages)
  code_value
}

# ---- A file and its columns ---------------------------------------------------------------------

# Returns a list of `maxima`, limits for an uploaded file, and `advice`, a text for larger files.
# `max_size`: size in megabytes. `max_cells`: number of cells of the table. Other users of the page
# wait while a file is read. With the default limits, this takes less than a second.
page_limits <- function(max_size = 5, max_cells = 2e5) {
  list(
    maxima = c(
      entries = 1000, megabytes = 2 * max_size, ratio = 200, columns = 200, cells = max_cells
    ), advice = "Read it with `read_ratings()`, and give the ratings to `explore()`."
  )
}

# Returns TRUE if `file` is an uploaded file. A hostile browser may send the path of another file of
# this computer. Uploads are in the temporary folder of this process, whose name browsers cannot
# guess.
is_upload <- function(file) {
  upload_folder <- paste0(normalizePath(tempdir(), "/"), "/")
  is.list(file) && is_string(file$name) && is_string(file$datapath) &&
    startsWith(normalizePath(file$datapath, "/", mustWork = FALSE), upload_folder)
}

# Returns `value` if it is one of `choices`, and raises an error otherwise. If `several` is TRUE,
# `value` may have any number of elements, or be NULL. `field`: name of the field on the page.
check_choice_sent <- function(value, choices, field, several = FALSE) {
  is_text <- is.character(value) || several && is.null(value)
  if (!is_text || !all(value %in% choices) || !several && length(value) != 1L) abort_page(field)
  value
}

abort_page <- function(field) {
  abort_fallible("page",
    "The value of field {.field {field}} is not a choice that the page offers.", field = field,
    call = NULL)
}

# Reads an uploaded file. Returns its contents, see read_files(), with two more elements: `how`, the
# options of reading; and `columns`, the names of the columns of the file.
read_uploaded_file <- function(file, limits = page_limits()) {
  if (!is_upload(file)) abort_page("file")
  reading_options <- list(scratch = withr::local_tempdir(), limits = limits)
  contents <- read_files(file$datapath, reading_options)
  c(contents, list(how = reading_options, columns = setdiff(names(contents$table), "file")))
}

# Returns the counts of the 30 most frequent labels in the columns of ratings, in descending order.
# Names are the labels.
count_labels <- function(file, columns) {
  columns <- intersect(columns, file$columns)
  labels <- unlist(lapply(file$table[columns], as_label), use.names = FALSE)
  head(sort(table(labels[!is.na(labels) & nzchar(labels)]), decreasing = TRUE), 30L)
}

# Converts text such as "postive = positive, pos = positive" to argument `categories` of ratings():
# a vector of labels in the file, whose names are the labels that replace them.
parse_label_recoding <- function(text) {
  if (!is_string(text)) abort_page("join")
  pairs <- strsplit(split_at_commas(text), " *= *")
  old_labels <- map_chr(pairs, `[`, 1L)
  abort_if(any(lengths(pairs) != 2L | !nzchar(old_labels)), "page", call = NULL, field = "join", c(
    "\"Labels to join\" must be pairs of labels, separated by commas.",
    i = "In each pair, write the label in the file, an equals sign, and the label that replaces it."
  ))
  setNames(old_labels, map_chr(pairs, `[`, 2L))
}

# Splits the text of a field at its commas.
split_at_commas <- function(text) trimws(strsplit(text, ",", fixed = TRUE)[[1L]])

# Reads the cases with known truth from an uploaded file, and returns a result of gold_cases(), or
# NULL if there is no file. `file`: a function that returns the contents of the file. If the file
# was downloaded from the page, column `probability` contains the sampling probability of each case.
read_known_cases <- function(input, file) {
  gold_file <- if (!is.null(input$gold) && !is.null(input$gold_case)) file()
  if (is.null(gold_file)) return(NULL)
  get_value <- function(id, choices) check_choice_sent(input[[id]], choices, id)
  get_column <- function(id) as_label(gold_file$table[[get_value(id, gold_file$columns)]])
  truth_table <- data.frame(case = get_column("gold_case"), truth = get_column("gold_truth"))
  truth_table$truth[truth_table$truth %in% default_na()] <- NA
  probability <- gold_file$table[["probability"]]
  if (is.null(probability))
    return(gold_cases(truth_table, get_value("gold_sample", sampling_choices)))
  truth_table$probability <- suppressWarnings(as.numeric(probability))
  gold_cases(truth_table)
}

rater_names <- function(file, column) sort_strings(unique(as_label(file$table[[column]])))

page_layouts <- c("long", "wide")

# Reads the ratings that the user chose on the page. Returns a list: `x`, the ratings; and `code`,
# the call that reads them, which the page displays. `file`: a function that returns the contents of
# the uploaded file.
read_chosen_ratings <- function(input, file) {
  get_value <- function(id, choices, ...) check_choice_sent(input[[id]], choices, id, ...)
  get_optional_value <- function(id, choices) {
    check_choice_sent(input[[id]] %||% "", c("", choices), id)
  }
  if (get_value("source", c("file", "lehner2015")) != "file") {
    code <- quote(ratings(
      fallible::lehner2015, raters = paste0("rater", 1:4), systems = "system", case = "case"
    ))
    return(list(x = eval(code), code = code))
  }
  contents <- if (!is.null(input$file)) file()
  abort_if(is.null(contents), "file", "Choose a file first, in a format that the page can read.",
    call = NULL)
  is_long <- get_value("layout", page_layouts) == "long"
  field_names <- if (is_long) c("case", "rater", "rating") else c("case", "raters")
  mapping <- lapply(setNames(nm = field_names), function(id) {
    get_value(id, contents$columns, several = id == "raters")
  })
  system_choices <- if (is_long) rater_names(contents, mapping$rater) else contents$columns
  systems <- get_value("systems", system_choices, several = TRUE)
  abort_if(!is_long && is.null(mapping$raters), "page", "Tick the columns of the raters first.",
    field = "raters", call = NULL)
  na_labels <- if (is_string(input$na)) c("", split_at_commas(input$na)) else default_na()
  cleans_labels <- isTRUE(input$clean)
  right_label <-
    get_optional_value("right", names(count_labels(contents, mapping[[length(mapping)]])))
  if (nzchar(right_label)) systems <- c(application = right_label)
  group_column <- get_optional_value("groups", contents$columns)
  recoding <- parse_label_recoding(input$join %||% "")
  extra_arguments <- drop_null(list(
    categories = if (!is_empty(recoding)) recoding,
    covariates = if (nzchar(group_column)) group_column
  ))
  reading_arguments <- drop_null(list(
    na = if (!setequal(na_labels, default_na())) na_labels,
    clean_labels = if (cleans_labels) cleans_labels
  ))
  code <- call2(
    "read_ratings", input$file$name, !!!mapping, systems = systems, !!!reading_arguments,
    !!!extra_arguments
  )
  # The file is not read again, because `contents` contains its table.
  argument_names <- c("case", "rater", "rating", "raters", "counts")
  mapping <- lapply(setNames(mapping[argument_names], argument_names), new_quosure)
  systems <- new_quosure(if (is_long) systems %||% FALSE else systems)
  x <- inject(ratings_from_contents(
    contents, mapping, systems, contents$how, na_labels, cleans_labels, !!!extra_arguments
  ))
  list(x = x, code = code)
}

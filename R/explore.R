#' Interactive page for analyses without code
#'
#' Opens a page in the browser that estimates the accuracy of systems (classifiers) from ratings.
#' You choose a file (or an example) and its columns. You may also declare whether raters are people
#' or machines, and give the true categories of some cases.
#'
#' The page shows checks of the ratings, agreement, accuracy, and comparisons of systems. It
#' computes how many cases to label with their true category for a given margin of error. You can
#' download the list of these cases, the report of [accuracy_report()], and R code for the same
#' analysis.
#'
#' The page is served only on this machine. Files are read in the same way as by [read_ratings()].
#' No content of a file is executed, and nothing is written outside a temporary folder.
#'
#' @param x A [ratings()] object to start with. `NULL`, the default, starts without ratings; you
#'   then choose a file on the page.
#' @param ... Not used; catches misspelt arguments.
#' @param port Port of the server, a whole number from 1 to 65535. `NULL`, the default, uses a free
#'   port.
#' @param max_size Size of the largest file, in megabytes, above 0; by default 5. Compressed files
#'   may unpack to at most twice this size.
#' @param max_cells Largest number of cells of a file, from 1 to 1e9; by default 200000. The cells
#'   of a table are its rows times its columns. In JSON, a field is one cell, and an object or array
#'   is ten. Files with more than 200 columns, and archives of more than 1000 files, are also
#'   refused.
#' @return A Shiny app, which runs when it is printed. If \pkg{shiny}, \pkg{bslib} or \pkg{ggplot2}
#'   is not installed, an error of class `fallible_error_package` is raised.
#' @family systems
#' @examplesIf interactive()
#' # Choose a file on the page
#' explore()
#' # Start with ratings
#' explore(ratings(lehner2015, raters = rater1:rater4, systems = system, case = case))
#' @export
explore <- function(x = NULL, ..., port = NULL, max_size = 5, max_cells = 2e5) {
  check_dots_empty(...)
  if (!is.null(x)) check_class(x, "ratings", "x", "Make ratings with {.fun ratings}.")
  if (!is.null(port)) check_count(port, "port", 1L, max = 65535L)
  max_size <- check_number(max_size, "max_size", 0, 1e6, open_min = TRUE)
  max_cells <- check_number(max_cells, "max_cells", 1, max_numbers_at_once)
  for (package in c("shiny", "bslib", "ggplot2")) {
    check_installed(package, "for an interactive page")
  }
  set_options <- function() {
    old_options <- options(shiny.maxRequestSize = max_size * 1e6, cli.num_colors = 1L)
    shiny::onStop(function() options(old_options))
  }
  shiny::shinyApp(
    new_page(x), explore_server(x, page_limits(max_size, max_cells)), onStart = set_options,
    options = list(host = "127.0.0.1", port = port)
  )
}

# ---- Page --------------------------------------------------------------------------------------

new_page <- function(x) {
  shiny::navbarPage(
    "Accuracy without known truth", id = "tab", lang = "en", collapsible = TRUE,
    theme = bslib::bs_theme(version = 5), selected = if (is.null(x)) "Data" else "Accuracy",
    header = list(
      shiny::tags$head(
        shiny::tags$link(rel = "icon", href = "data:,"),
        shiny::tags$style(
          ".explore-plot img { max-width: 100%; height: auto; } pre { overflow-x: auto; }
          /* Outputs without a result show a message. It is shown once in each tab. */
          .shiny-output-error-validation ~ .shiny-output-error-validation,
          .shiny-output-error-validation ~ * .shiny-output-error-validation,
          .explore-plot ~ .shiny-output-error-validation,
          .explore-plot ~ * .shiny-output-error-validation { display: none; }"
        ),
        # On narrow screens, tabs are in a menu. This script closes the menu after a choice.
        shiny::tags$script(shiny::HTML(
          "document.addEventListener('shown.bs.tab', () => {
            const menu = document.querySelector('.navbar-collapse.show');
            if (menu) bootstrap.Collapse.getOrCreateInstance(menu).hide();
          });"
        ))
      ),
      shiny::div(
        role = "status", `aria-live` = "polite", class = "container-fluid",
        shiny::uiOutput("messages")
      )
    ),
    new_data_tab(),
    new_tab(
      "Agreement",
      shiny::p("How often raters agree, with and without a correction for chance."),
      new_result_outputs("agreement")
    ),
    new_accuracy_tab(),
    new_tab(
      "Comparison",
      shiny::p(
        "Which system is more accurate? A difference whose interval includes zero leaves that open."
      ),
      shiny::textOutput("best"), new_result_outputs("comparison")
    ),
    new_plan_tab(), new_report_tab()
  )
}

# Creates a tab of the page, with input fields (`inputs`) on the left and results (`...`) on the
# right. On narrow screens, results are below the input fields.
new_tab <- function(title, inputs, ...) {
  shiny::tabPanel(title, shiny::fluidRow(
    shiny::column(4, shiny::div(class = "card card-body mb-3", inputs)),
    shiny::column(8, ...)
  ))
}

new_data_tab <- function() {
  new_tab(
    "Data",
    list(
      page_select(
        "source", "Where are the ratings?",
        c("In a file" = "file", "Example: one system, ten cases" = "lehner2015")
      ),
      shiny::conditionalPanel(
        "input.source == 'file'",
        shiny::fileInput("file", "File (CSV, TSV, Excel, JSON, JSON Lines)"),
        shiny::uiOutput("mapping"),
        shiny::textInput(
          "na", "Words for a missing answer, separated by commas", toString(default_na()[-1L])
        ),
        shiny::checkboxInput("clean", "Join labels that differ only in capitals and blanks"),
        shiny::textOutput("labels"),
        shiny::textInput("join", "Labels to join, such as: postive = positive, pos = positive")
      ),
      shiny::actionButton("use", "Use these ratings", class = "btn-primary mb-3"),
      page_select("kind", "Who rates?", rater_kind_choices),
      shiny::p("Intervals depend on who rates: machines share errors that ratings cannot show."),
      shiny::fileInput("gold", "Cases of known truth, if there are any (CSV, Excel, JSON)"),
      shiny::uiOutput("known")
    ),
    new_heading("What is this?"), shiny::p(page_purpose),
    new_heading("What these ratings can show"), shiny::textOutput("facts"),
    new_table_output("data")
  )
}

page_purpose <- one_line("This page estimates how accurate a system (a classifier, a language model,
  a test) is when no true answers are known, only the ratings of people or programs who disagree.
  Agreement between the raters shows how accurate they are, and how often the system agrees with the
  most probable answer shows how accurate it is. Choose a file with ratings, or the example, and
  press \"Use these ratings\". The file stays on this machine.")

rater_kind_choices <- c(
  "Not declared (or as in the ratings)" = "", "Trained people" = "expert",
  "A crowd" = "crowd", "Language models" = "model", "Other programs" = "tool"
)

new_accuracy_tab <- function() {
  new_tab(
    "Accuracy",
    list(
      shiny::checkboxInput("choose", "Set the share of shared errors myself"),
      shiny::conditionalPanel("input.choose", shiny::sliderInput(
        "common", "Share of their errors that systems share with raters", 0, 1, 0.5, 0.05
      )),
      shiny::p(
        "Ratings cannot show which share is true. At 0 a system errs independently, at 1 it shares",
        "all errors of the raters. By default, the share is the one that is typical for such",
        "raters. With cases of known truth, no share is assumed."
      )
    ),
    new_result_outputs("accuracy"), new_table_output("groups_table"),
    shiny::numericInput("least", "Accuracy (or pass rate) to be reached", NA, 0, 1, 0.01),
    new_table_output("gate_table"), new_heading("Sentences"), shiny::uiOutput("sentences")
  )
}

new_plan_tab <- function() {
  new_tab(
    "Plan",
    list(
      shiny::sliderInput(
        "half_width", "Margin of error that you want (0.05: 5 points up or down)", 0.02, 0.2, 0.05,
        0.01
      ),
      shiny::p(
        "How many cases need a true label? The list has the cases that help most. Fill in its",
        "column \"truth\", and upload the list under \"Data\" as cases of known truth."
      ),
      shiny::downloadButton("cases", "Download the cases to label")
    ),
    shiny::uiOutput("plan"), new_table_output("plan_table")
  )
}

new_report_tab <- function() {
  new_tab(
    "Report",
    list(
      shiny::textInput("title", "Title", "Accuracy without known truth"),
      shiny::downloadButton("report", "Download the report", class = "btn-primary mb-2"),
      shiny::downloadButton("word", "Download it for Word")
    ),
    shiny::p(
      "One file: the accuracy, its interval and assumptions, sentences to copy, methods and",
      "references. It takes some seconds."
    ),
    new_heading("The same in R"), shiny::verbatimTextOutput("code")
  )
}

new_heading <- function(words) shiny::h2(words, class = "h4")

# Creates empty places for the plot and the table of a result. show_result() fills them.
new_result_outputs <- function(id) {
  plot <- shiny::plotOutput(paste0(id, "_plot"), height = "auto")
  list(shiny::div(class = "explore-plot", plot), new_table_output(paste0(id, "_table")))
}

new_table_output <- function(id) {
  shiny::div(class = "table-responsive", tabindex = "0", shiny::tableOutput(id))
}

# ---- Fields that depend on a file ----------------------------------------------------------------

page_select <- function(...) shiny::selectInput(..., selectize = FALSE)

layout_field <- function(file) {
  list(
    shiny::p(sprintf("This looks like %s.", file$format$words)),
    shiny::radioButtons(
      "layout", "A row holds", c("one rating" = "long", "one case" = "wide"),
      selected = if (is.null(file$map$rater)) "wide" else "long"
    ),
    shiny::uiOutput("columns"), shiny::uiOutput("names"), shiny::uiOutput("more")
  )
}

column_fields <- function(file, layout) {
  lapply(c("case", if (layout == "long") c("rater", "rating")), function(id) {
    page_select(id, capitalised(id), file$columns, file$map[[id]])
  })
}

system_field <- function(file, layout, rater, case) {
  new_check_boxes <- shiny::checkboxGroupInput
  if (layout == "wide") {
    column_choices <- setdiff(file$columns, case)
    list(
      new_check_boxes("raters", "Columns of raters", column_choices),
      new_check_boxes("systems", "Columns of systems to evaluate", column_choices)
    )
  } else if (is_string(rater) && rater %in% file$columns) {
    system_choices <- head(rater_names(file, rater), 50L) # more boxes are not useful
    new_check_boxes("systems", "Systems to evaluate", system_choices)
  }
}

more_fields <- function(file, labels) {
  list(
    page_select("groups", "Groups of cases", c("none" = "", file$columns)),
    page_select(
      "right", "If raters judge the answers of one application: the label that means right",
      c("they do not" = "", labels)
    )
  )
}

sampling_choices <- c("At random" = "random", "By hand" = "given")

# Returns the input fields for a file of cases with known truth. `file`: a list, which contains
# `columns`, the names of the columns of the file.
gold_inputs <- function(file) {
  new_select <- function(id, label, likely) {
    page_select(id, label, file$columns, c(intersect(likely, file$columns), file$columns)[[1L]])
  }
  list(
    new_select("gold_case", "Case", "case"),
    new_select("gold_truth", "Truth", c("truth", "category")),
    if (!"probability" %in% file$columns)
      page_select("gold_sample", "How were they chosen?", sampling_choices)
  )
}

# Returns the table of a result for the page: tidy() without unused columns, with rounded numbers,
# and with column names in words.
result_table_for_page <- function(x) {
  table <- drop_empty_columns(as.data.frame(tidy(x)))
  table$method <- table$reason <- table$scale_weights <- NULL
  if (!is.null(table$n)) table$n <- number(table$n)
  table[] <-
    lapply(table, function(column) if (is.double(column)) format_decimals(column) else column)
  column_titles <- c(
    std.error = "standard error", conf.low = "from", conf.high = "to", at_least = "to be reached",
    needed = "labels needed",
    shared = "if it shares the raters' errors", independent = "if it errs independently"
  )
  titles <- column_titles[names(table)]
  setNames(table, ifelse(is.na(titles), names(table), titles))
}

sentence_list <- function(estimate) {
  table <- may_say(estimate)
  headings <- lapply(ifelse(table$may, "You may say", "You may not say"), shiny::tags$dt)
  shiny::tags$dl(Map(list, headings, lapply(table$sentence, shiny::tags$dd)))
}

# A record for each answer: JSON of any tool, Prodigy and Doccano.

has_fields <- function(input, ...) {
  record <- input$record
  is.list(record) && all(c(...) %in% names(record))
}

format_jsonl <- function() {
  new_format("jsonl", "records of JSON, one per line (JSONL)",
    sniff = function(input) input$kind == "jsonl",
    read = function(input, keep) {
      table <- read_json_lines(input, keep)
      list(table = table, map = named_columns(table))
    }
  )
}

format_json <- function() {
  new_format("json", "an array of records (JSON)",
    sniff = function(input) {
      input$kind == "json" && is.null(names(input$document)) && length(input$record) > 1L &&
        !is.null(names(input$record))
    },
    read = read_json_array
  )
}

read_json_array <- function(input, keep) {
  document <- input$document
  if (!is.null(names(document)) || length(document) == 0L) {
    abort_file(input$path, "is not an array of records.",
      "i" = "Its fields are those of one object.")
  }
  check_fields(document, list(), input, keep)
  table <- record_table(document, input, keep)
  list(table = table, map = named_columns(table))
}

# ---- Prodigy --------------------------------------------------------------------------------

format_prodigy <- function() {
  new_format("prodigy", "annotations of Prodigy (JSONL)",
    sniff = function(input) input$kind == "jsonl" && has_fields(input, "_task_hash", "answer"),
    read = read_prodigy
  )
}

# Options to choose from have the chosen ones in `accept`; of a single label the answer says
# whether it was accepted.
read_prodigy <- function(input, keep) {
  table <- read_json_lines(input)
  choice <- !is.null(table$accept)
  ignored <- table$answer %in% c("ignore", if (choice) "reject")
  if (choice) {
    table$accept[ignored] <- NA
  } else {
    table$answer[ignored] <- NA
  }
  who <- intersect(c("_annotator_id", "_session_id"), names(table))
  unnamed <- length(who) > 0L && all(grepl(session_time, table[[who[[1L]]]]))
  list(
    table = table[setdiff(names(table), c("options", "spans", "tokens"))],
    map = list(
      case = if (choice) "_input_hash" else "_task_hash",
      rater = if (unnamed) "file" else if (length(who) > 0L) who[[1L]],
      rating = if (choice) "accept" else "answer"
    ),
    notes = c(
      if (any(ignored)) {
        paste0("Taken for missing: ", count_noun(sum(ignored), "answer"),
          " without a choice (ignored, or rejected as a whole).")
      },
      if (unnamed) {
        paste0("Sessions without names, which have the time of their start, are not annotators: \"",
          input$name, "\" is taken for one.")
      }
    )
  )
}

# Prodigy names a session by the time of its start where nobody named it.
session_time <- "^[0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2}$"

# ---- Doccano --------------------------------------------------------------------------------

format_doccano <- function() {
  new_format("doccano", "an export of Doccano (JSONL or JSON)",
    sniff = function(input) {
      record <- if (input$kind %in% c("jsonl", "json")) input$record
      if (!is.list(record) || is.null(names(record))) return(FALSE)
      by_user <- any(c("user", "user_id") %in% names(record$annotations[1L][[1L]]))
      by_user || is.list(record$label) || is.list(record$labels)
    },
    read = read_doccano
  )
}

# Either all annotations with their users, or a file for each user.
read_doccano <- function(input, keep) {
  table <- if (input$kind == "jsonl") {
    read_json_lines(input)
  } else {
    record_table(input$document, input)
  }
  by_user <- !is.null(table$annotations)
  label <- if (is.null(table$label)) "labels" else "label"
  if (by_user) {
    table <- doccano_annotations(table, input)
    label <- "label"
  }
  if (any(vapply(table[[label]], is.list, NA))) {
    abort_file(input$path, "marks parts of texts, which are not categories of cases.")
  }
  list(
    table = table,
    map = list(case = "id", rater = if (by_user) "user" else "file", rating = label)
  )
}

doccano_annotations <- function(table, input) {
  each <- lapply(table$annotations, function(x) {
    if (is.data.frame(x) || !length(x)) x else list2DF(record_table(x, input))
  })
  rows <- vapply(each, NROW, 0L)
  field <- function(name) unlist(lapply(each, function(x) as_label(x[[name]])))
  user <- if (is.null(Find(NROW, each)$user)) "user_id" else "user"
  list(id = rep(table$id, rows), user = field(user), label = field("label"))
}

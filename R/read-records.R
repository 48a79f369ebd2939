# A record for each answer: JSON of any tool, Prodigy and Doccano.

read_json_array <- function(input) {
  document <- input$document
  if (!is.null(names(document)) || length(document) == 0L) {
    abort_file(input$path, "is not an array of records.",
      "i" = "Its fields are those of one object.")
  }
  table <- record_table(document, input, input$keep)
  check_objects(names(table), input)
  with_map(table)
}

# The records of JSON or JSONL, as lists.
json_records <- function(input) {
  if (input$kind == "jsonl") {
    return(parse_lines(readLines(input$plain, warn = FALSE, encoding = "UTF-8"), 0L, input))
  }
  document <- input$document
  if (is.null(names(document))) document else list(document)
}

# ---- Argilla --------------------------------------------------------------------------------

# The answers of a record, with users as names. Version 1 has them by user; version 2 by question,
# flat ones in fields `question.responses`, with `.users` and `.status`.
argilla_answers <- function(record) {
  ask <- function(question, given) lapply(given, c, question = question)
  given <- record$responses
  if (is.null(names(given))) {
    given <- lapply(given, function(user) {
      lapply(user$values, function(value) list(c(user[c("user_id", "status")], value)))
    })
    given <- unlist(given, recursive = FALSE)
  }
  for (name in grep("[.]responses$", names(record), value = TRUE)) {
    field <- function(end) record[[paste0(name, end)]]
    given[[sub("[.]responses$", "", name)]] <- Map(list, value = field(""),
      user_id = field(".users"), status = field(".status") %||% "submitted")
  }
  answers <- unlist(unname(Map(ask, names(given), given)), recursive = FALSE)
  users <- vapply(answers, function(one) as_label(one$user_id), "")
  stats::setNames(as.list(answers), users)
}

read_argilla <- function(input) {
  nested_answers(input, json_records(input), "record", "responses", function(record) {
    list(id = record$id %||% record$external_id)
  }, argilla_answers, "user", function(one) {
    stats::setNames(one["value"], one$question)
  }, sparse = TRUE)
}

# ---- Prodigy --------------------------------------------------------------------------------

# Options to choose from have the chosen ones in `accept`; of a single label the answer says
# whether it was accepted.
read_prodigy <- function(input) {
  table <- read_json_lines(input)
  choice <- !is.null(table$accept)
  rating <- if (choice) "accept" else "answer"
  ignored <- table$answer %in% c("ignore", if (choice) "reject")
  table[[rating]][ignored] <- NA
  who <- intersect(c("_annotator_id", "_session_id"), names(table))[1L]
  # Old versions write no session. Where no session has a name, the name is the time of its start.
  time <- "^[0-9]{4}(-[0-9]{2}){2}_[0-9]{2}(-[0-9]{2}){2}$"
  case <- if (choice) "_input_hash" else "_task_hash"
  none <- is.na(who) || all(is.na(table[[who]]))
  # An annotator does a task once.
  unnamed <- if (none) !anyDuplicated(table[[case]]) else all(grepl(time, table[[who]]))
  list(
    table = table[setdiff(names(table), c("options", "spans", "tokens"))],
    map = list(
      case = case, rater = if (unnamed) "file" else if (!none) who, rating = rating
    ),
    notes = c(
      taken_missing(ignored, "answer", "without a choice (ignored, or rejected as a whole)"),
      if (unnamed) {
        paste0("Sessions without names, or with the time of their start as name, are not ",
          "annotators: \"", input$name, "\" is taken for one.")
      }
    )
  )
}

# ---- Doccano --------------------------------------------------------------------------------

is_doccano <- function(input) {
  record <- input$record
  by_user <- is_object(record) && is.list(record$annotations) &&
    any(c("user", "user_id") %in% names(record$annotations[1L][[1L]]))
  by_user || is_object(record) && (is.list(record$label) || is.list(record$labels))
}

# Either all annotations with their users, or a file for each user.
read_doccano <- function(input) {
  if (is.list(input$record$annotations)) {
    got <- nested_answers(input, json_records(input), "text", "annotations", function(record) {
      record["id"]
    }, function(record) {
      stats::setNames(record$annotations, vapply(record$annotations, function(one) {
        as_label(one$user %||% one$user_id)
      }, ""))
    }, "user", function(one) one["label"])
  } else {
    table <- record_table(json_records(input), input)
    label <- if (is.null(table$label)) "labels" else "label"
    got <- list(table = table, map = list(case = "id", rater = "file", rating = label))
  }
  if (any(vapply(got$table[[got$map$rating]], is.list, NA))) {
    abort_file(input$path, "marks parts of texts, which are not categories of cases.")
  }
  got
}

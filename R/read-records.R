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

# The answers of a record, by question. Version 1 has them by user; flat records of version 2 have
# fields `question.responses`, `question.responses.users` and `question.responses.status`.
argilla_answers <- function(record) {
  given <- record$responses
  if (length(given) > 0L && is.null(names(given))) {
    given <- lapply(given, function(user) {
      lapply(user$values, function(x) list(c(x, user[c("user_id", "status")])))
    })
    given <- unlist(given, recursive = FALSE)
  }
  for (name in grep("[.]responses$", names(record), value = TRUE)) {
    more <- Map(function(user_id, value, status) list(user_id = user_id, value = value, status = status),
      record[[paste0(name, ".users")]], record[[name]],
      record[[paste0(name, ".status")]] %||% "submitted")
    given[[sub("[.]responses$", "", name)]] <- more
  }
  question <- rep(names(given), lengths(given))
  Map(function(answer, question) c(answer, question = question),
    unlist(unname(given), recursive = FALSE), question)
}

read_argilla <- function(input) {
  records <- json_records(input)
  answers <- lapply(records, argilla_answers)
  id <- vapply(records, function(one) as_label(one$id %||% one$external_id %||% NA), "")
  id <- rep(id, lengths(answers))
  answers <- unlist(answers, recursive = FALSE)
  field <- function(name, none) vapply(answers, function(one) as_label(one[[name]] %||% none), "")
  user <- field("user_id", NA)
  out <- !field("status", "submitted") %in% "submitted"
  if (all(out)) abort_file(input$path, "holds no submitted response.")
  each <- split(answers[!out], paste(match(id, id), user)[!out])
  who <- split(seq_along(answers)[!out], paste(match(id, id), user)[!out])
  rows <- unname(Map(function(answers, at) {
    c(list(id = id[at[[1L]]], user = user[at[[1L]]]), stats::setNames(
      lapply(answers, `[[`, "value"), vapply(answers, `[[`, "", "question")
    ))
  }, each, who))
  table <- record_table(rows[order(vapply(who, `[[`, 0L, 1L))], input)
  asked <- setdiff(names(table), c("id", "user"))
  list(
    table = table, choices = asked, notes = left_out(out, "answer", "not submitted"),
    map = list(case = "id", rater = "user", rating = if (length(asked) == 1L) asked)
  )
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
  table <- if (input$kind == "jsonl") read_json_lines(input) else
    record_table(input$document, input)
  by_user <- !is.null(table$annotations)
  if (by_user) table <- doccano_annotations(table, input)
  label <- if (is.null(table$label)) "labels" else "label"
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
    if (length(x) > 0L) list2DF(record_table(x, input))
  })
  field <- function(name) unlist(lapply(each, function(x) as_label(x[[name]])))
  user <- if (is.null(Find(NROW, each)$user)) "user_id" else "user"
  list(id = rep(table$id, vapply(each, NROW, 0L)), user = field(user), label = field("label"))
}

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
  # Where nobody named a session, its name is the time of its start.
  time <- "^[0-9]{4}(-[0-9]{2}){2}_[0-9]{2}(-[0-9]{2}){2}$"
  unnamed <- !is.na(who) && all(grepl(time, table[[who]]))
  list(
    table = table[setdiff(names(table), c("options", "spans", "tokens"))],
    map = list(
      case = if (choice) "_input_hash" else "_task_hash",
      rater = if (unnamed) "file" else if (!is.na(who)) who, rating = rating
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

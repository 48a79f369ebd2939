# Exports of Label Studio: JSON, with all about every annotation, and JSON-MIN, a flat object each.

format_label_studio <- function() {
  new_format("label_studio", "an export of Label Studio (JSON)",
    sniff = function(input) {
      input$kind == "json" && has_fields(input, "data") &&
        (has_fields(input, "annotations") || has_fields(input, "completions"))
    },
    read = read_label_studio
  )
}

format_label_studio_min <- function() {
  new_format("label_studio_min", "an export of Label Studio (JSON-MIN)",
    sniff = function(input) {
      input$kind == "json" && has_fields(input, "annotator", "annotation_id")
    },
    read = read_label_studio_min
  )
}

read_label_studio <- function(input, keep) {
  tasks <- input$document
  if (!is.null(names(tasks))) tasks <- list(tasks)
  answers <- unlist(lapply(tasks, task_records), recursive = FALSE)
  cancelled <- vapply(answers, `[[`, NA, "cancelled")
  kept <- answers[!cancelled]
  if (length(kept) == 0L) {
    abort_file(input$path, "holds no annotation.", "i" = "Export it after the first annotation.")
  }
  controls <- unique(unlist(lapply(kept, function(answer) names(answer$labels))))
  other <- setdiff(unlist(lapply(kept, `[[`, "other")), controls)
  table <- record_table(lapply(kept, function(a) c(a$fields, a$labels)), input)
  predicted <- vapply(kept, `[[`, NA, "predicted")
  list(
    table = table,
    map = list(
      case = "id", rater = "completed_by", rating = if (length(controls) == 1L) controls,
      systems = unique(table$completed_by[predicted])
    ),
    choices = controls,
    notes = c(
      if (any(cancelled)) {
        left_out(sum(cancelled), "annotation", "that an annotator cancelled")
      },
      if (length(other) > 0L) {
        paste0("Left out: ", toString(sort(other)), ", which marks regions or holds text.")
      }
    )
  )
}

# Annotations, and full predictions; short exports give only numbers of these.
task_records <- function(task) {
  data <- Filter(function(value) is.atomic(value) && length(value) == 1L, task$data)
  fields <- c(list(id = task$id), stats::setNames(data, sprintf("data.%s", names(data))))
  record <- function(answer, who, predicted) {
    labels <- answer_labels(answer$result)
    list(
      fields = append(fields, list(completed_by = who), 1L), labels = labels$given,
      other = labels$other, predicted = predicted, cancelled = isTRUE(answer$was_cancelled)
    )
  }
  predictions <- Filter(is.list, task$predictions)
  c(
    lapply(task$annotations %||% task$completions, function(answer) {
      record(answer, annotator_name(answer$completed_by), FALSE)
    }),
    lapply(predictions, function(answer) record(answer, answer$model_version %||% "model", TRUE))
  )
}

annotator_name <- function(by) if (is.list(by)) by$email %||% by$id else by

# What is given for each control, and the controls that give no category.
answer_labels <- function(results) {
  given <- list()
  other <- character()
  for (result in results) {
    name <- result$from_name
    label <- control_label(result)
    if (is.null(label)) other <- c(other, name) else given[[name]] <- c(given[[name]], label)
  }
  list(given = given, other = other)
}

control_label <- function(result) value_label(c(as.list(result$value), result["selected"]))

# What the controls give of which the answers are categories; of a category in a tree, its path.
value_label <- function(value) {
  if (!is.null(value$taxonomy)) {
    return(vapply(value$taxonomy, function(path) paste(unlist(path), collapse = " / "), ""))
  }
  label <- unlist(value$choices %||% value$rating %||% value$number %||% value$selected)
  if (!is.null(label)) as_label(label)
}

# Single choices are strings, several an object, and what other controls give is in an array.
read_label_studio_min <- function(input, keep) {
  flat_label <- function(value) {
    if (!is.list(value)) return(value)
    values <- if (is.null(names(value))) value else list(value)
    unlist(lapply(values, function(v) if (is.list(v)) value_label(v) else v))
  }
  table <- record_table(lapply(input$document, lapply, flat_label), input)
  known <- c(
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"
  )
  list(
    table = table, map = list(case = "id", rater = "annotator"),
    choices = setdiff(names(table), known)
  )
}

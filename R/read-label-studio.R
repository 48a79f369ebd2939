# Exports of Label Studio: JSON, with all about every annotation, and JSON-MIN, a flat object each.

read_label_studio <- function(input) {
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
  list(
    table = table,
    map = list(
      case = "id", rater = "completed_by", rating = if (length(controls) == 1L) controls,
      systems = unique(table$completed_by[vapply(kept, `[[`, NA, "predicted")])
    ),
    choices = controls,
    notes = c(
      left_out(cancelled, "annotation", "that an annotator cancelled"),
      if (length(other) > 0L) {
        paste0("Left out: ", toString(sort_strings(other)), ", which marks regions or holds text.")
      }
    )
  )
}

# Annotations, and full predictions; short exports give only numbers of these.
task_records <- function(task) {
  data <- Filter(function(value) is.atomic(value) && length(value) == 1L, task$data)
  fields <- c(list(id = task$id), stats::setNames(data, sprintf("data.%s", names(data))))
  record <- function(answer, who, predicted) {
    # Relations of regions come from no control.
    results <- Filter(function(result) !is.null(result$from_name), answer$result)
    name <- vapply(results, `[[`, "", "from_name")
    labels <- lapply(results, function(result) {
      value_label(c(as.list(result$value), result["selected"]))
    })
    given <- lengths(labels) > 0L
    of <- factor(name[given], unique(name[given]))
    list(
      fields = append(fields, list(completed_by = who), 1L),
      labels = lapply(split(labels[given], of), unlist), other = name[!given],
      predicted = predicted, cancelled = isTRUE(answer$was_cancelled)
    )
  }
  c(
    lapply(task$annotations %||% task$completions, function(answer) {
      by <- answer$completed_by
      record(answer, if (is.list(by)) by$email %||% by$id else by, FALSE)
    }),
    lapply(Filter(is.list, task$predictions), function(answer) {
      record(answer, answer$model_version %||% "model", TRUE)
    })
  )
}

# What the controls give of which the answers are categories; of a category in a tree, its path.
value_label <- function(value) {
  if (!is.null(value$taxonomy)) {
    return(vapply(value$taxonomy, function(path) paste(unlist(path), collapse = " / "), ""))
  }
  label <- unlist(value$choices %||% value$rating %||% value$number %||% value$selected)
  if (!is.null(label)) as_label(label)
}

# Single choices are strings, several an object, and what other controls give is in an array.
flat_label <- function(value) {
  if (!is.list(value)) return(value)
  values <- if (is.null(names(value))) value else list(value)
  unlist(lapply(values, function(v) if (is.list(v)) value_label(v) else v))
}

# A column of a table whose cells hold such objects as text.
choices_of_cells <- function(x, input) {
  coded <- grepl(
    "^\\[?[{]\\s*\"(choices|rating|number|taxonomy|selected)\"", x, perl = TRUE, useBytes = TRUE
  )
  if (!any(coded)) return(x)
  x <- as.list(x)
  x[coded] <- lapply(x[coded], function(cell) {
    or_null(flat_label(parse_json(cell, input))) %||% cell # cells may hold the words of others
  })
  as_text(x)
}

read_label_studio_min <- function(input) {
  table <- if (input$kind == "text") read_csv(input) else
    record_table(lapply(input$document, lapply, flat_label), input)
  choices <- setdiff(names(table), c(
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"
  ))
  several <- choices[input$kind == "text" & vapply(table[choices], is.list, NA)]
  list(
    table = table, choices = choices, map = list(
      case = "id", rater = "annotator", rating = if (length(several) == 1L) several
    )
  )
}

# Formats in which answers are nested in other records. Some formats are logs of language model
# evaluations, whose answers are verdicts of judges (scorers, assertions or metrics). Others contain
# answers of annotators.

# Reads the answers to `items` (samples or other records). Returns the list that `read` in
# new_format() returns.
# * item_noun, answer_noun: words for an item and for its answers, for messages.
# * item_fields: function that returns the fields of an item. The first field identifies the case
#   in a file, and the optional field `key` identifies it in several files.
# * answers_of: function that returns the answers to an item, named by rater.
# * rater, rating: names of the columns of raters and ratings.
# * fields: function that returns the fields of an answer.
# * ...: further elements of the result.
nested_answers <- function(input, items, item_noun, answer_noun, item_fields, answers_of, rater,
                           fields, rating = NULL, ...) {
  answers_by_item <- lapply(unname(items), answers_of)
  has_no_answers <- lengths(answers_by_item) == 0L
  all_answers <- unlist(answers_by_item, FALSE)
  is_failed <- map_lgl(all_answers, input$failed)
  abort_file_if(all(is_failed), input, "contains no {item_noun} with
      {answer_noun}{if (!is_empty(is_failed)) ' that can be read'}.")
  fields_of_items <- rep(lapply(items, item_fields), lengths(answers_by_item))
  table <- record_table(Map(function(item, name, answer, failed) {
    c(item, setNames(list(name), rater), if (!failed) fields(answer))
  }, fields_of_items, names(all_answers), all_answers, is_failed), input)
  rating_columns <- setdiff(names(table), c(names(fields_of_items[[1L]]), rater))
  list(
    table = table[names(table) != "key"], key = table$key, choices = rating_columns,
    map = list(
      case = names(table)[[1L]], rater = rater,
      rating = rating %||% if (length(rating_columns) == 1L) rating_columns
    ),
    notes = c(note_left_out(has_no_answers, item_noun, paste("without", answer_noun)), note_missing(
      is_failed, "answer", "without a verdict that could be read, or not submitted"
    )), ...
  )
}

# ---- Inspect --------------------------------------------------------------------------------

# Files of an Inspect log that describe the run. A log of an aborted run has only the second file.
inspect_headers <- c("header.json", file.path("_journal", "start.json"))

contains_inspect_log <- function(input) any(inspect_headers %in% input$entries$name)

# Reads a log of Inspect, which contains the answers of one model. A case is a sample in one epoch.
# Scorers are raters.
read_inspect_log <- function(input) {
  inspect_log <- if (input$kind == "zip") unzip_inspect(input) else input$document
  run_info <- inspect_log$eval
  contents <- nested_answers(input, inspect_log$samples, "sample", "scores", function(sample) {
    case_id <- paste(c(run_info$model, sample$id, sample$epoch), collapse = "/")
    run_key <- c(run_info$task, run_info$eval_id)
    list(
      result = case_id, sample = sample$id, epoch = sample$epoch, model = run_info$model,
      task = run_info$task, target = unlist(sample$target),
      key = sample$uuid %||% if (!is_empty(run_key)) paste(c(run_key, case_id), collapse = "/")
    )
  }, function(sample) sample[["scores"]] %||% sample["score"][is.list(sample[["score"]])],
  "scorer", function(score) score["value"], covariates = "sample")
  if (n_distinct(contents$table$epoch) > 1L)
    inform_fallible("Samples were run in several epochs, and cases of one sample are dependent. Give
        {.code resampling = list(cluster = \"sample\")} to {.fun estimate_accuracy}.")
  contents
}

unzip_inspect <- function(input) {
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  abort_file_if(!contains_inspect_log(input), input, "is not a log of Inspect.")
  file_names <- input$entries$name
  # All files are unpacked in one call. Unpacking each file by its name takes time that is quadratic
  # in the number of files.
  unzipped_paths <- or_null(unzip(input$plain_path, exdir = folder, overwrite = FALSE))
  is_complete <- file.size(file.path(folder, file_names)) == input$entries$size
  abort_file_if(
    is_empty(unzipped_paths) || !all(is_complete %in% TRUE | endsWith(file_names, "/")), input,
    "cannot be unpacked.", i = "Convert it to JSON: `inspect log convert --to json`."
  )
  read_entry <- function(file) parse_json(read_text(file.path(folder, file)), input)
  sample_files <- grep("^samples/.*[.]json$", file_names, value = TRUE)
  list(
    eval = read_entry(intersect(inspect_headers, file_names)[[1L]])$eval,
    samples = lapply(sample_files, read_entry)
  )
}

# ---- promptfoo ------------------------------------------------------------------------------

# Returns the list of results in a file. In newer versions of promptfoo the list is one level
# deeper.
promptfoo_results <- function(file) {
  results <- as.list(file)$results
  if (!has_names(results)) results else results$results
}

# Reads results of promptfoo. A case is a combination of provider (model), prompt and test.
# Assertions are raters.
read_promptfoo <- function(input) {
  results <- promptfoo_results(input$record) %||% json_records(input)
  # Old versions do not number tests. The number of the result is then used.
  results <- Map(function(result, number) {
    replace(result, "testIdx", result$testIdx %||% paste0("#", number))
  }, results, seq_along(results))
  # Providers with the same identifier, such as two temperatures of a model, are distinguished by
  # their labels.
  providers <- unique(lapply(results, `[[`, "provider"))
  repeated_ids <- repeated_values(unlist(lapply(providers, provider_id)))
  nested_answers(input, results, "result", "graded assertions", function(result) {
    provider_name <- provider_id(result$provider)
    if (any(provider_name %in% repeated_ids))
      provider_name <- trimws(paste(provider_name, as.list(result$provider)[["label"]]))
    case_id <- paste(c(provider_name, result$testIdx, result$promptIdx), collapse = "/")
    run_id <- result$evalId %||% as.list(input$record)$evalId
    list(
      result = case_id, test = result$testIdx, prompt = result$promptIdx, provider = provider_name,
      key = if (!is_empty(run_id)) paste(run_id, case_id)
    )
  }, function(result) {
    # Drops results of sets of assertions, because the list also contains each assertion of a set.
    name_answers(Filter(
      function(part) is_empty(part$componentResults), result$gradingResult$componentResults
    ), function(part) {
      # An assertion without a metric is named by its type and its provider.
      part$assertion$metric %||% paste(c(
        part$assertion$type %||% "assertion", provider_id(part$assertion$provider)
      ), collapse = " ")
    })
  }, "assertion", function(verdict) {
    list(verdict = verdict_of_pass(verdict$pass), score = verdict$score)
  }, "verdict")
}

name_answers <- function(answers, name) {
  setNames(as.list(answers), make.unique(map_chr(answers, name), "#"))
}

verdict_of_pass <- function(pass) if (is.logical(pass)) c("fail", "pass")[pass + 1L]

provider_id <- function(provider) if (is.list(provider)) provider$id else provider

# ---- DeepEval -------------------------------------------------------------------------------

# Returns the test cases in `run`: a test run of DeepEval, or the result of its function evaluate().
# Some versions store a test run one level deeper.
deepeval_cases <- function(run) {
  run <- as.list(as.list(run)$testRunData %||% run)
  c(run$testCases, run$conversationalTestCases, run$test_results)
}

deepeval_metrics <- function(case) {
  case <- as.list(case)
  case$metricsData %||% case$metricsMetadata %||% case$metrics_data
}

# Reads a test run of DeepEval. Metrics are raters.
read_deepeval <- function(input) {
  nested_answers(input, deepeval_cases(input$document), "test case", "metrics", function(case) {
    case_id <- paste(c(case$name, case$order), collapse = "/")
    # Test cases with the same name in two files are different cases, so `key` contains the path.
    list(result = case_id, key = paste(input$path, case_id))
  }, function(case) {
    name_answers(deepeval_metrics(case), function(part) part$name %||% part$metric %||% "metric")
  }, "metric", function(metric) {
    list(verdict = verdict_of_pass(metric$success), score = metric$score)
  }, "verdict")
}

# ---- OpenAI evals ---------------------------------------------------------------------------

# Reads a log of OpenAI evals. Its events are verdicts on samples: grades by a model (`choice`), or
# results of a comparison by a program (`correct`).
read_openai_evals <- function(input) {
  run_spec <- input$record$spec
  verdict_events <- Filter(function(event) !is_empty(c(event$data$choice, event$data$correct)),
    json_records(input))
  nested_answers(input, verdict_events, "event", "verdicts", function(event) {
    list(result = event$sample_id, key = paste(run_spec$run_id %||% input$path, event$sample_id))
  }, function(event) {
    setNames(list(event$data), paste0(run_spec$eval_name, if (is.null(event$data$choice)) " match"))
  }, "eval", function(data) list(value = data$choice %||% data$correct))
}

# ---- lm-evaluation-harness ------------------------------------------------------------------

# Reads samples of lm-evaluation-harness. Metrics with only the values 0 and 1 are raters of the
# model's answers. Other metrics are dropped. A file contains one run of a task.
read_lm_eval <- function(input) {
  table <- record_table(lapply(json_records(input), function(sample) {
    sample[!names(sample) %in% c("doc", "arguments", "resps", "filtered_resps", "target")]
  }), input)
  case_ids <- table[["doc_id"]]
  abort_file_if(is.null(case_ids), input, "has no field \"doc_id\".",
    i = "Exports of lm-evaluation-harness have it. If this is another file, change {.arg format}.")
  is_binary_column <- map_lgl(table, function(x) !is.list(x) && all(x %in% c(NA, 0, 1)))
  metric_names <- setdiff(names(table)[is_binary_column], "doc_id")
  abort_file_if(is_empty(metric_names), input,
    "must have a metric with only the values 0 and 1 (whether the answer is correct).",
    x = "Its fields are {.val {names(table)}}.",
    i = "Examples of such metrics are \"acc\" and \"exact_match\".")
  filter_names <- if (n_distinct(table$filter) > 1L) table$filter
  list(
    table = list(
      result = rep(case_ids, length(metric_names)),
      value = unlist(table[metric_names], use.names = FALSE),
      metric = trimws(paste(rep(metric_names, each = length(case_ids)), filter_names %||% ""))
    ),
    key = rep(paste(input$path, case_ids), length(metric_names)),
    map = list(case = "result", rater = "metric", rating = "value"),
    notes = note_left_out(!unique(unlist(table$metrics)) %in% metric_names, "metric",
      "not only of 0 and 1")
  )
}

# Exports of Label Studio. The format JSON has all details of annotations, and JSON-MIN has flat
# objects.

read_label_studio <- function(input) {
  tasks <- input$document # may be an array also in a file with the ending of JSONL
  if (has_names(tasks)) tasks <- list(tasks)
  answers <- unlist(lapply(tasks, task_records), FALSE)
  is_cancelled <- map_lgl(answers, `[[`, "cancelled")
  answers <- answers[!is_cancelled]
  abort_file_if(is_empty(answers), input, "contains no annotation.",
    i = "Export it after the first annotation.")
  control_names <- unique(unlist(lapply(answers, function(answer) names(answer$labels))))
  unread_controls <- setdiff(unlist(lapply(answers, `[[`, "other")), control_names)
  table <- record_table(lapply(answers, function(answer) c(answer$fields, answer$labels)), input)
  list(
    table = table, choices = control_names,
    map = list(
      case = "id", rater = "completed_by", rating = if (length(control_names) == 1L) control_names,
      systems = unique(table$completed_by[map_lgl(answers, `[[`, "predicted")])
    ),
    notes = c(
      note_left_out(is_cancelled, "annotation", "that an annotator cancelled"),
      if (!is_empty(unread_controls)) sprintf("Left out: %s (regions or text, not labels).",
        toString(sort_strings(unread_controls)))
    )
  )
}

# Returns a list with a record for each annotation and each prediction of a task. Predictions are
# skipped in short exports, which contain only their identifiers.
task_records <- function(task) {
  data_fields <- Filter(function(value) is.atomic(value) && length(value) == 1L, task$data)
  names(data_fields) <- sprintf("data.%s", names(data_fields))
  new_record <- function(answer, rater, predicted) {
    # `from_name` names a control (an input element). Results without it are relations between parts
    # of the text or image.
    results <- Filter(function(result) !is.null(result$from_name), answer$result)
    control_names <- map_chr(results, `[[`, "from_name")
    labels <- lapply(results, function(result) {
      value_label(c(as.list(result$value), result["selected"]))
    })
    has_label <- lengths(labels) > 0L
    list(
      fields = c(list(id = task$id, completed_by = rater), data_fields),
      labels = lapply(split(labels[has_label], factor_in_order(control_names[has_label])), unlist),
      other = control_names[!has_label],
      predicted = predicted, cancelled = isTRUE(answer$was_cancelled)
    )
  }
  c(
    lapply(task$annotations %||% task$completions, function(answer) {
      annotator <- answer$completed_by
      if (is.list(annotator)) annotator <- annotator$email %||% annotator$id
      new_record(answer, annotator, FALSE)
    }),
    lapply(Filter(is.list, task$predictions), function(answer) {
      new_record(answer, answer$model_version %||% "model", TRUE)
    })
  )
}

# Returns the labels in the value of a control (an input element of Label Studio). Returns NULL if
# the value contains no label. In a taxonomy (a tree of categories), a label is the path to the
# category.
value_label <- function(value) {
  if (!is.null(value$taxonomy))
    return(map_chr(value$taxonomy, function(path) paste(unlist(path), collapse = " / ")))
  label <- unlist(value$choices %||% value$rating %||% value$number %||% value$selected)
  if (!is.null(label)) as_label(label)
}

# Returns the labels in a field of JSON-MIN. A single choice is a string, several choices are an
# object, and values of other controls are an array.
flat_label <- function(value) {
  if (!is.list(value)) return(value)
  if (has_names(value)) value <- list(value)
  unlist(lapply(value, function(x) if (is.list(x)) value_label(x) else as_label(x)))
}

# Converts a column of CSV. Cells that contain values of controls as JSON (objects or arrays) become
# labels.
choices_of_cells <- function(x, input) {
  is_object_text <- grepl(
    "^\\[?[{]\\s*\"(choices|rating|number|taxonomy|selected)\"", x, perl = TRUE, useBytes = TRUE
  )
  if (!any(is_object_text)) return(x)
  as_text(modify_fields(as.list(x), is_object_text, function(cell) {
    or_null(flat_label(parse_json(cell, input))) %||% cell # other text may look like an object
  }), input)
}

read_label_studio_min <- function(input) {
  is_csv <- input$kind == "text"
  table <- if (is_csv) read_csv(input) else
    record_table(lapply(input$document, lapply, flat_label), input)
  rating_columns <- setdiff(names(table), c(
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"
  ))
  list_columns <- rating_columns[is_csv & map_lgl(table[rating_columns], is.list)]
  list(
    table = table, choices = rating_columns, map = list(
      case = "id", rater = "annotator", rating = if (length(list_columns) == 1L) list_columns
    )
  )
}

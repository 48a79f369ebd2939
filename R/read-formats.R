# Formats of files: a record for each format, and detection of the format of a file.

# Returns the record of a format, a list:
# * words: name of the format in messages and in the table of ?read_ratings.
# * columns: default columns for case, rater and rating, as Markdown.
# * kinds: kinds of files (see open_input()) that can have the format.
# * sniff: function of an input (see open_input()). Returns TRUE if the input has this format.
# * read: function of an input that returns its contents as a list, see below.
# * tabular: may there be a separate file of systems?
# * shared: if two files contain the same identifier of a case, is it the same case?
# * failed: function of an answer in the file. Returns TRUE if the rater failed to give a verdict.
# * programs: if raters are programs or language models, a pattern of the names of the programs.
# * labels: pairs of categories. If a file contains only one category of a pair, both are declared.
#
# `read` returns a list:
# * table: columns of text.
# * map: a list of the default columns for case, rater and rating. Its element `systems` contains
#   the names of the raters that are systems.
# * choices: columns that may be the rating.
# * notes: texts about dropped rows.
# * key (optional): identifier of the case of each row. Equal keys in two files are the same case.
# * truths (optional): for each rating column, the column of true labels.
# * covariates (optional): names of columns.
# * sparse (optional): TRUE if each row is the answer to only one of several questions.
new_format <- function(words, columns, kinds, sniff, read, tabular = FALSE, shared = FALSE,
                       failed = function(verdict) FALSE, programs = NULL, labels = NULL) {
  as.list(environment())
}

# Returns the records of all formats. The first format that matches a file is used. Therefore
# special formats precede general ones.
file_formats <- function() {
  new_field_test <- function(...) {
    function(input) all(c(...) %in% if (input$kind == "text") input$header else names(input$record))
  }
  list(
    excel = new_format("an Excel file", "`case`, `rater`, `rating`", c("ole", "zip"),
      function(input) {
      input$kind == "ole" || file.path("xl", "workbook.xml") %in% input$entries$name
    }, read_excel),
    inspect = new_format("a log of Inspect (JSON or .eval)", "`result`, `scorer`, `value`",
      c("json", "zip"), function(input) {
        if (input$kind == "json") new_field_test("eval", "samples")(input) else
          contains_inspect_log(input)
      }, read_inspect_log, labels = list(
      c("C", "I"), c("P", "I"), c("N", "C"), c("0", "1"), c("FALSE", "TRUE")
    ),
    failed = function(score) {
      matches_pattern(score$explanation,
        "^(grade|verdict|score) not found|^(no|invalid) grade\\b") ||
        identical(score$value %||% "NaN", "NaN")
    },
    programs =
      "^(inspect_ai/)?(detect_)?(match|includes|exact|choice|pattern|answer|f1|math)[0-9]*$"),
    promptfoo = new_format("results of promptfoo (JSON or JSONL)",
      "`result`, `assertion`, `verdict`", c("json", "jsonl"), function(input) {
        results <- c(list(input$record), promptfoo_results(input$record))
        "gradingResult" %in% unlist(lapply(results, names))
      }, read_promptfoo, labels = list(c("fail", "pass")), failed = function(result) {
        isTRUE(result$metadata$graderError) || matches_pattern(result$reason, paste0(
          "^(could not|failed to|unable to) (extract|parse|perform)|^no output$|",
          "malformed response|^error parsing output|^invalid (category|option|answer)|",
          "not in json format|^(remote )?grading failed|^(api|grader) (call )?error|^rate limit"
        ))
      }, programs = paste0(
        "^(not-)?(i?contains|equals|regex|starts-with|is-|javascript|python|ruby|cost|latency|",
        "levenshtein|rouge|bleu|gleu|meteor|perplexity|f-score|webhook|word-count|similar)"
      )),
    deepeval = new_format("a test run of DeepEval (JSON)", "`result`, `metric`, `verdict`", "json",
      function(input) {
        any(lengths(lapply(deepeval_cases(input$record), deepeval_metrics)) > 0L)
      }, read_deepeval, failed = function(metric) !is_empty(metric$error),
      programs = "^(exact|pattern) ?match|^(json|tool) ?correctness",
      labels = list(c("fail", "pass"))),
    openai_evals = new_format("a log of OpenAI evals (JSONL)", "`result`, `eval`, `value`", "jsonl",
      function(input) {
        new_field_test("spec")(input) && "eval_name" %in% names(input$record$spec)
      }, read_openai_evals, failed = function(data) identical(data$choice, "__invalid__"),
      programs = " match$", labels = list(c("FALSE", "TRUE"))),
    lm_eval = new_format("samples of lm-evaluation-harness (JSONL or JSON)",
      "`result`, `metric`, `value`", c("jsonl", "json"),
      new_field_test("doc_id", "resps"), read_lm_eval, programs = "", labels = list(c("0", "1"))),
    argilla = new_format("records of Argilla (JSON or JSONL)", "`id`, `user`, the question",
      c("json", "jsonl"), function(input) {
        new_field_test("fields", "responses")(input) ||
          any(endsWith(as.character(names(input$record)), ".responses.users"))
      }, read_argilla, shared = TRUE,
      failed = function(answer) !(answer$status %||% "submitted") %in% "submitted"),
    label_studio = new_format("an export of Label Studio (JSON)",
      "`id`, `completed_by`, the control", "json", function(input) {
        new_field_test("data", "annotations")(input) || new_field_test("data", "completions")(input)
      }, read_label_studio, shared = TRUE),
    label_studio_min = new_format("an export of Label Studio (JSON-MIN or CSV)",
      "`id`, `annotator`, none: `rating` is required", c("json", "text"),
      new_field_test("annotator", "annotation_id"), read_label_studio_min, shared = TRUE),
    prodigy = new_format("annotations of Prodigy (JSONL)",
      "`_task_hash`, `_annotator_id`, `answer`; choices: `_input_hash`, `_annotator_id`, `accept`",
      "jsonl", new_field_test("_task_hash", "answer"), read_prodigy, shared = TRUE),
    doccano = new_format("an export of Doccano (JSONL or JSON)",
      "`id`, the name of the file, `label`", c("jsonl", "json"), is_doccano, read_doccano,
      shared = TRUE),
    jsonl = new_format("records of JSON, one per line (JSONL)", "`case`, `rater`, `rating`",
      "jsonl", function(input) TRUE,
      function(input) add_default_map(read_json_lines(input, input$keep))),
    json = new_format("an array of records (JSON)", "`case`, `rater`, `rating`", "json",
      function(input) !has_names(input$document) && length(names(input$record)) > 1L,
      read_json_array),
    mturk = new_format("a batch of Amazon Mechanical Turk (CSV)",
      "`HITId`, `WorkerId`, the column `Answer.*`", "text", new_field_test("HITId", "WorkerId"),
      new_crowd_reader("HITId", "WorkerId", "AssignmentStatus", "rejected",
        "with the status \"Rejected\"", "^Answer[.]"), shared = TRUE),
    appen = new_format("a full report of Appen or Figure Eight (CSV)",
      "`_unit_id`, `_worker_id`, the question", "text", new_field_test("_unit_id", "_worker_id"),
      new_crowd_reader("_unit_id", "_worker_id", "_tainted", "true",
        "of workers who failed test questions", NULL, function(name) paste0(name, "_gold")),
      shared = TRUE),
    toloka = new_format("assignments of Toloka (TSV)",
      "the task, `ASSIGNMENT:worker_id`, the column `OUTPUT:*`", "text",
      new_field_test("ASSIGNMENT:worker_id"),
      new_crowd_reader("ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status",
        c("rejected", "skipped", "expired"), "with the status rejected, skipped or expired",
        "^OUTPUT:", function(name) sub("OUTPUT", "GOLDEN", name, fixed = TRUE)), shared = TRUE),
    csv = new_format("a table of text (CSV, TSV)", "`case`, `rater`, `rating`", "text",
      function(input) length(input$header) > 1L,
      function(input) add_default_map(read_csv(input)), tabular = TRUE)
  )
}

# Returns the rows of the table of formats in ?read_ratings, as Markdown. General formats are first.
list_formats <- function() {
  formats <- rev(file_formats())
  paste0("| `\"", names(formats), "\"` | ", map_chr(formats, `[[`, "words"), " | ",
    map_chr(formats, `[[`, "columns"), " |", collapse = "\n")
}

# Is `text` a string that matches `pattern`? Ignores upper and lower case.
matches_pattern <- function(text, pattern) {
  is_string(text) && grepl(pattern, text, ignore.case = TRUE, perl = TRUE)
}

# Returns the contents of a file in the form of `read` in new_format(): a list of `table`, `map` and
# the elements `...`. If `table` has the columns `case`, `rater` and `rating`, they are the default
# columns in `map`. Otherwise `map` is NULL.
add_default_map <- function(table, ...) {
  columns <- list(case = "case", rater = "rater", rating = "rating")
  list(table = table, map = if (has_columns(table, columns)) columns, ...)
}

# Returns the record of the format `name`. If `name` is NULL, returns the record of the first format
# that matches the file.
find_format <- function(input, name) {
  formats <- file_formats()
  if (!is.null(name)) return(formats[[check_choice(name, names(formats), "format")]])
  for (format in formats) if (input$kind %in% format$kinds && isTRUE(format$sniff(input)))
    return(format)
  field_names <- if (input$kind == "json") names(input$record)
  file_type <- find_signature(input) %||% if (input$kind == "other") { # nolint: object_usage.
    "a binary file, because it contains zero bytes"
  } else if (input$kind == "json") {
    if (is.null(field_names)) "JSON without objects" else
      paste("JSON with the fields", shorten(dQuote(field_names, FALSE)))
  } else if (startsWith(input$first[[1L]], "<")) {
    "HTML or XML"
  } else {
    sprintf("text that begins \"%s\"", shorten_text(input$first[[1L]]))
  }
  abort_file(input, "has no format that `read_ratings()` can read.",
    x = "It looks like {file_type}.",
    i = c(
      if (input$kind == "text" && length(csv_header(input, 2L)) > 1L) skip_hint,
      "Read it yourself, and give the data frame to `ratings()`; see `?read_ratings` for formats."
    ))
}

# Returns arguments of ratings() that the contents of files imply: covariates, categories, truth and
# rater_kind.
# * contents: result of read_files().
# * systems: names of raters that are systems.
# * given_names: names of the arguments that the user gave; these are not returned.
settings_from_files <- function(contents, table, columns, systems, given_names) {
  labels <- setdiff(distinct_values(table[columns$rating]), NA)
  truths <- contents$truths[names(contents$truths) %in% columns$rating]
  truths <- Filter(function(column) any_known(table[[column]]), truths)
  raters <- setdiff(distinct_values(table[columns$rater]), if (is.character(systems)) systems)
  programs <- contents$format$programs
  kind_by_rater <- if (!is.null(programs)) ifelse(grepl(programs, raters, TRUE), "tool", "model")
  arguments <- drop_null(list(
    covariates = contents$covariates,
    categories = if (length(labels) == 1L) Find(function(pair) labels %in% pair,
      contents$format$labels),
    truth = if (!is_empty(truths))
      if (length(columns$rating) > 1L) call2("list", !!!truths) else unname(truths),
    rater_kind =
      if (n_distinct(kind_by_rater) > 1L) setNames(kind_by_rater, raters) else kind_by_rater[1L]
  ))
  arguments <- arguments[setdiff(names(arguments), given_names)]
  if (!is.null(arguments$truth))
    inform_fallible("The known truth in column{?s} {.val {truths}} is read as {.arg truth}.")
  if (!is.null(arguments$rater_kind)) {
    raters_by_kind <- map_chr(split(raters, kind_labels[kind_by_rater]), shorten)
    rater_text <- # nolint: object_usage.
      paste0(names(raters_by_kind), " (", raters_by_kind, ")", collapse = " and ")
    inform_fallible("Raters are read as {rater_text}, as usual in logs of evaluations.",
      i = "If this is wrong, give {.arg rater_kind}. Intervals depend on it.")
  }
  arguments
}

# Replaces known truths in files by NA if they are not categories, with a warning.
# * truths: names of the columns with known truths. Names of this vector are columns of ratings.
# * given_quosures: quosures of arguments of ratings().
# * is_multilabel: may answers have several labels? Then no truth is used.
keep_known_truths <- function(table, truths, given_quosures, is_multilabel) {
  for (rating in names(truths)) {
    evaluate_argument <- function(arg) {
      argument_value <- value_of_argument(given_quosures[[arg]])
      if (is.list(argument_value)) argument_value[[rating]] else argument_value
    }
    categories <- evaluate_argument("categories")
    old_labels <- as_label(categories)
    new_labels <- ifelse(nzchar(names2(categories)), names2(categories), old_labels)
    recode_labels <- function(labels) c(new_labels, labels)[match(labels, c(old_labels, labels))]
    labels <- setdiff(distinct_values(table[rating]), as_label(evaluate_argument("abstain")))
    truth_column <- truths[[rating]]
    truth <- table[[truth_column]]
    is_known <- recode_labels(truth) %in% c(recode_labels(labels), declared_categories(categories))
    is_unused <- !is.na(truth) & (is_multilabel | !is_known)
    warn_if(any(is_unused), "left_out",
      "Known truths in column {.val {truth_column}} were left out.",
      x = "Their values are {.val {unique(truth[is_unused])}}.",
      i = if (is_multilabel) "Answers with several labels have no known truth." else
        "These values are not categories of the ratings. If they are labels that no rater chose, add
        them to {.arg categories}.")
    table[[truth_column]][is_unused] <- NA
  }
  table
}

# Converts columns of text to numbers or logicals, for example counts and weights. Columns of labels
# and identifiers stay text. Numbers with leading zeros or more than 15 digits are identifiers.
# * contents: result of read_files(). Its `covariates` stay text.
# * is_multilabel: may answers have several labels?
convert_columns <- function(table, columns, contents, is_multilabel) {
  plain_value_pattern <-
    "^ *([-+]?([1-9][0-9]{0,14}|0)?([.][0-9]*)?([eE][-+]?[0-9]+)?|TRUE|FALSE|NA) *$"
  has_flag_columns <- is_multilabel && length(columns$rating) > 1L
  columns[c("counts", if (has_flag_columns) "rating")] <- NULL
  modify_fields(table, setdiff(names(table), c(contents$covariates, unlist(columns))), function(x) {
    # `decimal_mark` is "," if semicolons separate columns, because numbers then have commas.
    number_texts <- if (is.character(x))
      sub(contents$decimal_mark %||% ".", ".", x, fixed = TRUE, useBytes = TRUE)
    distinct_texts <- setdiff(number_texts, NA)
    if (!is_empty(distinct_texts) &&
      all(grepl(plain_value_pattern, distinct_texts, perl = TRUE, useBytes = TRUE)))
      type.convert(number_texts, as.is = TRUE) else x
  })
}

# Returns a note about the rows or answers for which `is_dropped` is TRUE; NULL if there are none.
note_left_out <- function(is_dropped, noun, description, verb = "Left out") {
  if (any(is_dropped)) sprintf("%s: %s %s.", verb, count_noun(sum(is_dropped), noun), description)
}

note_missing <- function(...) note_left_out(..., verb = "Read as missing")

# Applies `na` and `clean_labels` to the labels of ratings and of systems together, so that equal
# labels are spelt equally in both tables.
resolve_labels <- function(tables, columns, na, cleans_labels, is_na_given) {
  rating_columns <-
    unlist(columns[c("rating", "raters", "systems", "truth")], use.names = FALSE)
  system_columns <- head(intersect(c("prediction", rating_columns), names(tables$systems)), 1L)
  label_columns <- list(ratings = rating_columns, systems = system_columns)[names(tables)]
  labels <- unlist(Map(`[`, tables, label_columns), recursive = FALSE)
  if (setequal(na, default_na())) na <- drop_minus(na, distinct_values(labels))
  labels <- replace_missing_codes(labels, na, is_na_given)
  if (cleans_labels) labels <- clean_columns(labels)
  labels <- split(unname(labels), rep(names(label_columns), lengths(label_columns)))
  for (name in names(labels)) tables[[name]][label_columns[[name]]] <- labels[[name]]
  tables
}

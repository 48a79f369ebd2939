# Formats with a record for each answer: JSON of any tool, Argilla, Prodigy and Doccano.

read_json_array <- function(input) {
  document <- input$document
  abort_file_if(has_names(document) || is_empty(document), input,
    "is a single object or empty, not an array of records.",
    i = "Put the records into the brackets of one array.")
  table <- record_table(document, input, input$keep)
  check_nested_fields(names(table), input)
  add_default_map(table)
}

# Returns the records of a JSON or JSONL file, a list of lists of fields.
json_records <- function(input) {
  if (input$kind == "jsonl")
    return(parse_lines(readLines(input$plain_path, warn = FALSE, encoding = "UTF-8"), 0L, input))
  document <- input$document
  if (!has_names(document)) document else list(document)
}

# ---- Argilla --------------------------------------------------------------------------------

# Reads records of Argilla. There are three layouts of the answers in a record:
# * Version 1 groups answers by user.
# * Version 2 groups answers by question.
# * Flat files of version 2 have the fields `question.responses`, `question.responses.users` and
#   `question.responses.status`.
read_argilla <- function(input) {
  nested_answers(input, json_records(input), "record", "responses", function(record) {
    list(id = record$id %||% record$external_id)
  }, function(record) {
    responses <- record$responses
    if (!has_names(responses)) responses <- unlist(lapply(responses, function(user) {
      lapply(user$values, function(value) list(c(user[c("user_id", "status")], value)))
    }), FALSE)
    for (name in grep("[.]responses$", names(record), value = TRUE)) {
      get_field <- function(end) record[[paste0(name, end)]]
      responses[[sub("[.]responses$", "", name)]] <- Map(list, value = get_field(""),
        user_id = get_field(".users"), status = get_field(".status") %||% "submitted")
    }
    answers <- Map(function(question, answers) lapply(answers, c, question = question),
      names(responses), responses)
    answers <- unlist(unname(answers), FALSE)
    setNames(as.list(answers), map_chr(answers, function(answer) as_label(answer$user_id)))
  }, "user", function(answer) setNames(answer["value"], answer$question), sparse = TRUE)
}

# ---- Prodigy --------------------------------------------------------------------------------

# Reads annotations of Prodigy. In tasks with options, the field `accept` contains the chosen
# options. In tasks with a single label, the field `answer` is "accept" or "reject".
read_prodigy <- function(input) {
  table <- read_json_lines(input)
  has_options <- !is.null(table$accept)
  rating_field <- if (has_options) "accept" else "answer"
  case_field <- if (has_options) "_input_hash" else "_task_hash"
  is_ignored <- table$answer %in% c("ignore", if (has_options) "reject")
  table[[rating_field]][is_ignored] <- NA
  rater_field <- intersect(c("_annotator_id", "_session_id"), names(table))[1L]
  # Old versions of Prodigy do not store sessions, so the file does not contain the annotators. In
  # new versions, the name of a session is the time of its start if the user gives no other name.
  time_pattern <- "^[0-9]{4}(-[0-9]{2}){2}_[0-9]{2}(-[0-9]{2}){2}$"
  has_rater <- !is.na(rater_field) && any_known(table[[rater_field]])
  # The file is read as the answers of one annotator in two situations: all sessions are named by a
  # time; or there are no sessions, and no task is repeated (an annotator does each task once).
  uses_file_name <- if (has_rater) all(grepl(time_pattern, table[[rater_field]])) else
    !any_repeated(table[[case_field]])
  list(
    table = table[setdiff(names(table), c("options", "spans", "tokens"))],
    map = list(
      case = case_field, rater = if (uses_file_name) "file" else if (has_rater) rater_field,
      rating = rating_field
    ),
    notes = c(
      note_missing(is_ignored, "answer", "without a choice (ignored, or rejected as a whole)"),
      if (uses_file_name) fill_template("The file does not name the annotators of its sessions. It
        is read as the answers of one annotator, \"%s\".", input$name)
    )
  )
}

# ---- Doccano --------------------------------------------------------------------------------

is_doccano <- function(input) {
  record <- input$record
  is_json_object(record) && (is.list(record[["label"]]) || is.list(record$labels) ||
    is.list(record$annotations) &&
      any(c("user", "user_id") %in% names(record$annotations[1L][[1L]])))
}

# Reads an export of Doccano. It contains the annotations of all users with their names, or of one
# user. A single user is identified by the name of the file.
read_doccano <- function(input) {
  if (is.list(input$record$annotations)) {
    contents <- nested_answers(input, json_records(input), "text", "annotations", function(record) {
      record["id"]
    }, function(record) {
      setNames(record$annotations, map_chr(record$annotations, function(answer) {
        as_label(answer$user %||% answer$user_id)
      }))
    }, "user", function(answer) answer["label"])
  } else {
    table <- record_table(json_records(input), input)
    label_column <- if ("label" %in% names(table)) "label" else "labels"
    contents <- list(table = table, map = list(case = "id", rater = "file", rating = label_column))
  }
  abort_file_if(Filter(is.list, contents$table[[contents$map$rating]]), input,
    "has labels of parts of texts. Ratings need labels of whole texts.")
  contents
}

# Cleaning of labels: codes for missing values, and variants of the same label.

# Returns a label in the form for comparisons: in lower case, without blanks at the ends, and with
# single blanks inside.
plain_label <- function(x) fold_case(trimws(gsub("[[:space:]\u00a0]+", " ", x)))

# Returns the labels that look like another label or are the same number as another label, such as
# "1" and "1.0". For the comparison, letters of other alphabets are replaced by Latin letters that
# look like them, and invisible characters are dropped. Labels that differ only in capitals and
# blanks do not count as lookalikes.
find_lookalikes <- function(labels) {
  standard_labels <- labels
  # Stores each letter with an accent as one character (Unicode normal form C). Base R has no such
  # function. Package utf8 is usually installed, because tibble needs it.
  if (!is_empty(labels) && requireNamespace("utf8", quietly = TRUE))
    standard_labels <- utf8::utf8_normalize(enc2utf8(labels))
  standard_labels <- plain_label(chartr(
    paste0(
      "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405",
      "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455",
      "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
      "\u03bf\u03bd"
    ),
    "ABEKMHOPCTXIJSaeopcyxijsABEZHIKMNOPTYXov",
    gsub("[\u200b\u200c\u200d\u2060\ufeff\u00ad]", "", standard_labels)
  ))
  # "3,0" may be the number 3, but "1,10" may be a list of two codes.
  labels_without_zero <- sub("^(-?[0-9]+),0$", "\\1", standard_labels)
  numeric_value <- suppressWarnings(as.numeric(labels_without_zero))
  standard_labels <- ifelse(is.na(numeric_value), standard_labels, as_label(numeric_value))
  plain_labels <- plain_label(labels)
  Filter(function(label) {
    n_distinct(plain_labels[standard_labels == standard_labels[match(label, labels)]]) > 1L
  }, labels[standard_labels %in% repeated_values(standard_labels)])
}

usual_missing_codes <- c("n/a", "na", "nan", "null", "<na>", "none given", "-", "--", "?", ".", "")

# Returns the labels that look like codes for missing ratings. "None", a constant of Python, is a
# code, but "none" may be a category.
missing_codes <- function(labels) {
  plain_labels <- plain_label(labels)
  labels[
    plain_labels %in% drop_minus(usual_missing_codes, labels) |
      labels %in% c("None", number_codes(labels)) |
      grepl(unreadable_verdict_pattern, trimws(chartr("_", " ", plain_labels)))
  ]
}

# Numbers that codebooks use for missing ratings, also with a minus sign.
usual_number_codes <- c(8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999)

# Returns the labels that are probably codes for missing ratings, such as "99". They are numbers in
# `usual_number_codes`, in one of two situations:
# * All other labels are words. Then 8 and 9 are not codes, because they may be categories.
# * More than half of the other numbers are a scale: consecutive whole numbers. Codes do not
#   continue the scale, and are outside of the range of the other numbers.
number_codes <- function(labels) {
  numbers <- suppressWarnings(as.numeric(labels))
  may_be_code <- abs(numbers) %in% usual_number_codes
  other_numbers <- sort(unique(numbers[!may_be_code]))
  if (is_empty(other_numbers))
    return(if (sum(!may_be_code) > 1L) labels[may_be_code & !numbers %in% 8:9])
  sequence_number <- cumsum(c(0, diff(other_numbers) != 1))
  scale_numbers <- other_numbers[sequence_number == which.max(tabulate(sequence_number + 1)) - 1]
  if (length(scale_numbers) < 2L || 2 * length(scale_numbers) <= length(other_numbers) ||
    any(scale_numbers %% 1 != 0)) return()
  while ((max(scale_numbers) + 1) %in% numbers)
    scale_numbers <- c(scale_numbers, max(scale_numbers) + 1)
  while ((min(scale_numbers) - 1) %in% numbers)
    scale_numbers <- c(min(scale_numbers) - 1, scale_numbers)
  is_outside <- numbers < other_numbers[[1L]] | numbers > max(other_numbers)
  labels[may_be_code & is_outside & !numbers %in% scale_numbers]
}

# Regular expression for labels that replace a verdict. Programs write them if a judge's reply could
# not be read or a call failed. Often they consist of a word for the failure and its reason.
# Spreadsheets write them if a formula failed.
unreadable_verdict_pattern <- paste0(
  "^#(n/a|value!|ref!|div/0!|name[?]|null!|num!)$|",
  "^(un|not )pars[e]?able$|^((json )?pars(e|ing) |format )?(error|failure)$|^failed to |",
  "^invalid( (answer|response|format|json|output))?$|^no (answer|response|verdict)$|",
  "^[a-z]*(error|exception)( ?[:(]| [45][0-9]{2})|^(failed|failure|refused|invalid) ?:|",
  "\\btimed? ?out\\b|^rate limit|^traceback\\b|",
  "^(non ?-?diagnostic|indeterminate|inconclusive|uninterpretable|un(read|grad)able)$"
)

# Finds misspelt labels. Returns a vector of frequent labels, with the rare labels that misspell
# them as names. Both labels have five or more letters. They differ in one letter or in two swapped
# letters. The frequent label occurs at least ten times as often.
misspelt_labels <- function(labels, columns) {
  candidate_labels <- labels[nchar(labels) > 4L & !grepl("[0-9]", labels)]
  if (length(candidate_labels) < 2L) return(NULL)
  frequency <- tabulate_labels(columns, candidate_labels)
  lower_labels <- fold_case(candidate_labels)
  sorted_letters <- map_chr(lower_labels, function(word) intToUtf8(sort(utf8ToInt(word))))
  edit_distances <- adist(lower_labels)
  # A label with an additional letter in front is another word: symmetric, asymmetric.
  ends_with_label <- outer(lower_labels, lower_labels, endsWith)
  may_misspell <- (edit_distances == 1 |
    (edit_distances == 2 & outer(sorted_letters, sorted_letters, `==`))) &
    !ends_with_label & !t(ends_with_label) & frequency > 0L &
    outer(10L * frequency, frequency, `<=`)
  # For each label, the index of the most frequent label that it may misspell.
  index_of_frequent_label <- max.col(t(frequency * t(may_misspell)), "first")
  setNames(candidate_labels[index_of_frequent_label], candidate_labels)[rowSums(may_misspell) > 0L]
}

# Returns the distinct values of several columns.
distinct_values <- function(columns) {
  unique(unlist(lapply(unname(columns), unique), use.names = FALSE))
}

# Removes "-" from `missing`, the codes for missing ratings, if "+" is one of `labels`. Then "-" is
# an answer.
drop_minus <- function(missing, labels) if ("+" %in% labels) setdiff(missing, "-") else missing

# Replaces empty fields and the labels in `na` by NA, in all columns except list columns. Capitals
# and blanks at the ends are ignored. Reports the replaced labels in a message if the user gave `na`
# (`is_na_given`), and otherwise in a warning. Empty fields and "NA" are not reported, because they
# mean missing values in any table.
replace_missing_codes <- function(columns, na, is_na_given) {
  is_vector_column <- !map_lgl(columns, is.list)
  all_labels <- as.character(unlist(lapply(columns[is_vector_column], as.character)))
  na_labels <- sort_strings(unique(all_labels))
  na_labels <- na_labels[plain_label(na_labels) %in% plain_label(c("", na))]
  columns <- modify_fields(columns, is_vector_column, function(x) replace(x, x %in% na_labels, NA))
  code_counts <- table(factor(all_labels, na_labels[!trimws(na_labels) %in% c("", "NA")]))
  code_lines <- escape_braces(
    dQuote(names(code_counts), FALSE), ", ", map_chr(code_counts, count_noun, "time")
  )
  message_lines <- c("Some labels were read as missing ratings.", bullets(code_lines))
  if (is_na_given && !is_empty(code_counts)) inform_fallible(message_lines)
  warn_if(!is_na_given && !is_empty(code_counts), "missing", message_lines,
    i = "If one of these labels is a category, set {.arg na} to the labels that mean a missing
        rating. For example, with {.code na = \"\"} only empty cells are missing.",
    labels = names(code_counts), times = as.integer(code_counts))
  columns
}

# Formats lines as a list below a message. Only the first `most` lines are shown, with the number of
# further lines.
bullets <- function(lines, most = length(lines)) {
  n_more <- length(lines) - most
  lines <- c(head(lines, most), if (n_more > 0L) sprintf("and %s more", n_more))
  setNames(lines, rep("*", length(lines)))
}

# Replaces labels that differ only in blanks and capitals by their most frequent form.
clean_columns <- function(columns) {
  labels <- labels_by_frequency(columns)
  cleaned_labels <- clean_label(labels)
  inform_changed_labels("Labels were cleaned.", labels, cleaned_labels)
  lapply(columns, function(column) {
    if (is.list(column)) lapply(column, function(x) unique(cleaned_labels[match(x, labels)])) else
      cleaned_labels[match(column, labels)]
  })
}

labels_by_frequency <- function(columns) {
  frequencies <- table(as.character(unlist(columns, use.names = FALSE)))
  labels <- as.character(names(frequencies))
  labels[order(-frequencies, labels, method = "radix")]
}

# Returns the most frequent form of each label. `labels`: sorted by decreasing frequency.
clean_label <- function(labels) {
  plain_labels <- plain_label(labels)
  trimws(labels[match(plain_labels, plain_labels)])
}

inform_changed_labels <- function(message, old_labels, new_labels) {
  is_changed <- which(old_labels != new_labels) # missing names do not change
  lines <- escape_braces(
    dQuote(old_labels[is_changed], FALSE), " is now ", dQuote(new_labels[is_changed], FALSE)
  )
  if (!is_empty(is_changed)) inform_fallible(c(message, bullets(lines)))
}

# Warns about names of cases or raters that differ only in capitals or blanks. They are not merged,
# because "aB" and "ab" may be two cases.
warn_similar_names <- function(ids, noun) {
  similar_groups <- similar_names(ids)
  warn_if(similar_groups, "names", c(
    "Some {noun}s have names that differ in capitals or blanks only.",
    bullets(escape_braces(similar_groups), 5L)
  ), i = "They are read as different {noun}s. If they are not, correct the names in the data;
    {.code clean_labels = TRUE} removes blanks at the ends.",
  ids = attr(similar_groups, "ids"), what = noun)
}

# Returns a string for each group of names that differ only in capitals or blanks, such as "\"Ben\"
# and \"ben\"". The attribute `ids` contains these names.
similar_names <- function(ids) {
  if (!any(grepl("[[:alpha:][:space:]]", ids))) return(character())
  plain_names <- plain_label(ids)
  is_similar <- plain_names %in% repeated_values(plain_names)
  ids <- ids[is_similar]
  name_groups <- split(dQuote(ids, FALSE), factor_in_order(plain_names[is_similar]))
  structure(map_chr(name_groups, paste, collapse = " and "), ids = ids)
}

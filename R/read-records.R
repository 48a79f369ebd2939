# Formats with a record for each answer: JSON of any tool, Argilla, Prodigy and Doccano.

read_json_array <- function(input) {
  document <- input$document
  if (!is.null(names(document)) || length(document) == 0L) {
    abort_file(input, "is not an array of records.", i = "Its fields are those of one object.")
  }
  table <- record_table(document, input, input$keep)
  check_nested_fields(names(table), input)
  add_default_map(table)
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

# The answers of a record, with users as names. Version 1 groups them by user. Version 2 groups them
# by question, or has flat fields `question.responses`, with `.users` and `.status`.
argilla_answers <- function(record) {
  responses <- record$responses
  if (is.null(names(responses))) {
    responses <- unlist(lapply(responses, function(user) {
      lapply(user$values, function(value) list(c(user[c("user_id", "status")], value)))
    }), recursive = FALSE)
  }
  for (name in grep("[.]responses$", names(record), value = TRUE)) {
    field <- function(end) record[[paste0(name, end)]]
    responses[[sub("[.]responses$", "", name)]] <- Map(list, value = field(""),
      user_id = field(".users"), status = field(".status") %||% "submitted")
  }
  answers <- unname(Map(function(question, answers) {
    lapply(answers, c, question = question)
  }, names(responses), responses))
  answers <- unlist(answers, recursive = FALSE)
  users <- vapply(answers, function(answer) as_label(answer$user_id), "")
  setNames(as.list(answers), users)
}

read_argilla <- function(input) {
  nested_answers(input, json_records(input), "record", "responses", function(record) {
    list(id = record$id %||% record$external_id)
  }, argilla_answers, "user", function(answer) {
    setNames(answer["value"], answer$question)
  }, sparse = TRUE)
}

# ---- Prodigy --------------------------------------------------------------------------------

# In tasks with options, `accept` contains the chosen options. In tasks with a single label,
# `answer` is whether it was accepted.
read_prodigy <- function(input) {
  table <- read_json_lines(input)
  choice <- !is.null(table$accept)
  rating <- if (choice) "accept" else "answer"
  ignored <- table$answer %in% c("ignore", if (choice) "reject")
  table[[rating]][ignored] <- NA
  rater <- intersect(c("_annotator_id", "_session_id"), names(table))[1L]
  # Old versions write no session. If no session has a name, the name is the time of its start.
  time <- "^[0-9]{4}(-[0-9]{2}){2}_[0-9]{2}(-[0-9]{2}){2}$"
  case <- if (choice) "_input_hash" else "_task_hash"
  none <- is.na(rater) || all(is.na(table[[rater]]))
  # An annotator does each task once.
  unnamed <- if (none) !anyDuplicated(table[[case]]) else all(grepl(time, table[[rater]]))
  list(
    table = table[setdiff(names(table), c("options", "spans", "tokens"))],
    map = list(
      case = case, rater = if (unnamed) "file" else if (!none) rater, rating = rating
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
  is_object(record) && (is.list(record$label) || is.list(record$labels) ||
    is.list(record$annotations) &&
      any(c("user", "user_id") %in% names(record$annotations[1L][[1L]])))
}

# Files contain all annotations with their users, or the annotations of one user.
read_doccano <- function(input) {
  if (is.list(input$record$annotations)) {
    got <- nested_answers(input, json_records(input), "text", "annotations", function(record) {
      record["id"]
    }, function(record) {
      setNames(record$annotations, vapply(record$annotations, function(answer) {
        as_label(answer$user %||% answer$user_id)
      }, ""))
    }, "user", function(answer) answer["label"])
  } else {
    table <- record_table(json_records(input), input)
    label <- if ("label" %in% names(table)) "label" else "labels"
    got <- list(table = table, map = list(case = "id", rater = "file", rating = label))
  }
  if (any(vapply(got$table[[got$map$rating]], is.list, NA))) {
    abort_file(input, "marks parts of texts, which are not categories of cases.")
  }
  got
}

# Labels as people write them: missing values, and variants of the same label.

# Removes surrounding blanks, joins inner blanks, and folds capitals.
plain_label <- function(x) fold_case(trimws(gsub("[[:space:]\u00a0]+", " ", x)))

# Replaces letters of other alphabets that look like Latin ones, and drops invisible characters.
latin_lookalike <- function(x) {
  x <- gsub("[\u200b\u200c\u200d\u2060\ufeff\u00ad]", "", x)
  chartr(
    paste0(
      "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405",
      "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455",
      "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
      "\u03bf\u03bd"
    ),
    "ABEKMHOPCTXIJSaeopcyxijsABEZHIKMNOPTYXov", x
  )
}

# Letters with their accents as one character. R has no normal forms, and iconv() has them only on
# some systems; package utf8 is installed with tibble.
composed <- function(x) {
  known <- length(x) > 0L && requireNamespace("utf8", quietly = TRUE)
  if (known) utf8::utf8_normalize(enc2utf8(x)) else x
}

# Different labels that look the same, or are the same number.
lookalikes <- function(labels) {
  same <- plain_label(latin_lookalike(composed(labels)))
  number <- suppressWarnings(as.numeric(same))
  same <- ifelse(is.na(number), same, as_label(number))
  plain <- plain_label(labels)
  twins <- labels[same %in% same[duplicated(same)]]
  Filter(function(label) length(unique(plain[same == same[match(label, labels)]])) > 1L, twins)
}

usual_missing <- c("n/a", "na", "nan", "null", "<na>", "none given", "-", "--", "?", ".", "")

# Labels in the data that look like codes for missing ratings. "None" is a constant of Python, but
# "none" may be a category.
missing_codes <- function(labels) {
  plain <- plain_label(labels)
  code <- plain %in% without_minus(usual_missing, labels) |
    labels %in% c("None", number_codes(labels)) |
    grepl(unreadable_verdict, trimws(chartr("_", " ", plain)))
  labels[code]
}

# 9, 99, 999 and their negatives, if all other labels are consecutive whole numbers.
number_codes <- function(labels) {
  numbers <- suppressWarnings(as.numeric(labels))
  grades <- sort(numbers[!abs(numbers) %in% c(9, 99, 999)])
  graded <- !anyNA(numbers) && length(grades) > 1L && all(diff(grades) == 1, grades %% 1 == 0)
  if (graded) labels[!numbers %in% c(grades, min(grades) - 1, max(grades) + 1)]
}

# Text that programs write if a judge gave no readable verdict, and spreadsheets if a formula
# failed.
unreadable_verdict <- paste0(
  "^#(n/a|value!|ref!|div/0!|name[?]|null!|num!)$|",
  "^(un|not )pars[e]?able$|^((json )?pars(e|ing) |format )?(error|failure)$|^failed to parse$|",
  "^invalid( (answer|response|format|json|output))?$|^time ?out$|^no (answer|response|verdict)$"
)

# Labels of five or more letters that differ by one letter, or two swapped letters, from a label
# with at least ten times their frequency. Names are the rare labels, values the frequent ones.
misspelt_labels <- function(labels, columns) {
  words <- labels[nchar(labels) > 4L & !grepl("[0-9]", labels)]
  if (length(words) < 2L) return(NULL)
  places <- lapply(columns, function(x) match(as.character(x), words))
  used <- tabulate(unlist(places), length(words))
  folded <- fold_case(words)
  letters <- vapply(folded, function(word) intToUtf8(sort(utf8ToInt(word))), "")
  edits <- utils::adist(folded)
  near <- edits == 1 | (edits == 2 & outer(letters, letters, `==`))
  # An additional letter in front is a prefix: symmetric, asymmetric.
  prefixed <- outer(folded, folded, function(a, b) endsWith(a, b) | endsWith(b, a))
  near <- near & !prefixed & outer(used, used, function(a, b) a > 0L & 10L * a <= b)
  rare <- which(rowSums(near) > 0L)
  frequent <- vapply(rare, function(row) which.max(used * near[row, ]), 0L)
  setNames(words[frequent], words[rare])
}

# Distinct values of several columns.
distinct <- function(columns) unique(unlist(lapply(unname(columns), unique), use.names = FALSE))

# If there is a plus, a minus is an answer.
without_minus <- function(missing, labels) if ("+" %in% labels) setdiff(missing, "-") else missing

# Replaces the labels in `na` by NA, regardless of blanks and capitals. Empty fields and NA are
# missing in any table; other replaced labels are reported. `given`: did the user give `na`?
take_missing <- function(columns, na, given) {
  na <- plain_label(na)
  simple <- !vapply(columns, is.list, NA)
  labels <- setdiff(distinct(columns[simple]), NA)
  labels <- labels[plain_label(labels) %in% na]
  taken <- unlist(lapply(columns[simple], function(x) x[x %in% labels]))
  taken <- table(factor(taken, sort_strings(as.character(labels))))
  columns[simple] <- lapply(columns[simple], function(x) replace(x, x %in% labels, NA))
  taken <- taken[!trimws(names(taken)) %in% c("", "NA")]
  lines <- verbatim(dQuote(names(taken), FALSE), ", ", vapply(taken, count_noun, "", "time"))
  warn_if(taken, "missing",
    c("Some labels were taken for missing ratings.", bullets(lines)),
    i = if (!given) "If they are categories, say with {.arg na} what is missing, for example
         {.code na = \"\"}.", labels = names(taken), times = as.integer(taken))
  columns
}

# Lines of a list below a message; at most `most` lines and the number of the others.
bullets <- function(lines, most = length(lines)) {
  more <- length(lines) - most
  lines <- c(head(lines, most), if (more > 0L) paste("and", more, "more"))
  setNames(lines, rep("*", length(lines)))
}

# Replaces labels that differ only in blanks and capitals by the most frequent of them.
clean_columns <- function(columns) {
  labels <- labels_by_frequency(columns)
  best <- clean_label(labels)
  inform_changed("Labels were cleaned.", labels, best)
  lapply(columns, function(column) {
    if (!is.list(column)) return(best[match(column, labels)])
    lapply(column, function(answer) unique(best[match(answer, labels)]))
  })
}

labels_by_frequency <- function(columns) {
  used <- table(as.character(unlist(columns)))
  labels <- as.character(names(used))
  labels[order(-used, labels, method = "radix")]
}

# `labels` are sorted by frequency.
clean_label <- function(labels) {
  plain <- plain_label(labels)
  trimws(labels[match(plain, plain)])
}

inform_changed <- function(message, from, to) {
  changed <- from != to
  lines <- verbatim(dQuote(from[changed], FALSE), " is now ", dQuote(to[changed], FALSE))
  if (any(changed)) inform_fallible(c(message, bullets(lines)))
}

# Warns of similar names. They are not changed: "aB" and "ab" may be two cases.
warn_similar <- function(ids, noun) {
  if (!any(grepl("[[:alpha:][:space:]]", ids))) return(invisible())
  plain <- plain_label(ids)
  similar <- plain %in% plain[duplicated(plain)]
  groups <- split(dQuote(ids[similar], FALSE), factor(plain[similar], unique(plain[similar])))
  lines <- verbatim(vapply(groups, paste, "", collapse = " and "))
  warn_if(any(similar), "names", c(
    "Some {noun}s have names that differ in capitals or blanks only.", bullets(lines, 5L)
  ), i = "They are taken for different {noun}s; if they are not, mend the file.",
  ids = ids[similar], what = noun)
}

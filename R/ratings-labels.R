# Answers with several labels: functions that read them, and that convert them to ratings with one
# category.

# Converts long data with a row per answer to data with a row per label. Data that already have a
# row per label stay unchanged. Empty answers (without labels) and missing answers get one row with
# a missing label. Sets two fields of `input`:
# * source: original row of each new row.
# * empty: does the new row represent an empty answer?
expand_answers <- function(input) {
  has_flag_columns <- length(input$columns) > 1L
  check_case_and_rater(input)
  cases <- unique(input$case)
  answer_of_row <- match(input$case, cases) +
    length(cases) * match(input$rater, unique(input$rater)) # one number per case and rater
  if (!has_flag_columns && !is.list(input$columns[[1L]])) { # a row per label
    # NA means a missing answer. If the answer also has labels, the NA would be lost.
    na_rows <- which(is.na(input$columns[[1L]]))
    partial_rows <- na_rows[answer_of_row[na_rows] %in% answer_of_row[-na_rows]]
    abort_if(partial_rows, "columns",
      "An answer must not have both labels and {.code NA}.",
      x = "Row {partial_rows[[1L]]} of column {.val {names(input$columns)}} is {.code NA}, and other
           rows have labels of the same answer.", arg = names(input$columns))
    return(input)
  }
  repeated_row <- anyDuplicated(answer_of_row)
  abort_if(repeated_row > 0L, "repeat", "A row must be the whole answer of a rater on a case.",
    x = "Row {repeated_row} repeats rater {.val {as_label(input$rater[repeated_row])}} on case
         {.val {as_label(input$case[[repeated_row]])}}.",
    i = "Combine the labels of such rows in one row, or keep only one of the rows.",
    case = input$case[repeated_row], rater = as_label(input$rater[repeated_row]))
  answers <- if (has_flag_columns) read_label_flags(input$columns) else
    read_label_lists(input$columns[[1L]], names(input$columns))
  source_rows <- c(answers$row, answers$empty, answers$missing)
  row_order <- order(source_rows)
  source_rows <- source_rows[row_order]
  input <- keep_rows(input, source_rows)
  # Positions in `row_order` that exceed the number of labels belong to empty and missing answers.
  # These answers get the label NA.
  input$columns <- setNames(
    list(answers$label[row_order]), if (has_flag_columns) "rating" else names(input$columns)
  )
  input$empty <- source_rows %in% answers$empty
  input
}

# Reads answers from a list column with a label vector per row. Returns a list:
# * row, label: vectors with an element per label.
# * empty: rows of answers without labels.
# * missing: rows of missing answers.
read_label_lists <- function(answers, column) {
  n_labels <- lengths(answers)
  label_types <- unique(unlist(lapply(answers[n_labels > 0L], function(labels) {
    if (is.object(labels)) class(labels)[[1L]] else if (!is.logical(labels) || any_known(labels))
      mode(labels)
  })))
  abort_if(length(label_types) > 1L ||
    !all(label_types %in% c("character", "numeric", "logical", "factor", "ordered")), "columns",
    "A list column of labels must contain vectors of one type: strings, factors, logicals or
        numbers.",
    x = "Column {.val {column}} contains {.val {label_types}}.", arg = column)
  is_factor <- map_lgl(answers, is.factor)
  # unlist() would return codes of factors if only some elements are factors. The other elements are
  # NA or empty, so they can be converted to factors.
  if (any(is_factor))
    answers[!is_factor] <- lapply(n_labels[!is_factor], function(n) factor(rep(NA, n)))
  all_labels <- unlist(answers, use.names = FALSE)
  row <- rep.int(seq_along(answers), n_labels)
  is_missing <- is.na(all_labels)
  partial_rows <- row[is_missing & n_labels[row] > 1L]
  abort_if(partial_rows, "columns",
    "An answer must not have both labels and {.code NA}.",
    x = "Row {partial_rows[[1L]]} of column {.val {column}} contains {.code NA} and other labels.",
    arg = column)
  list(
    row = row[!is_missing], label = all_labels[!is_missing], empty = which(n_labels == 0L),
    missing = row[is_missing]
  )
}

# Reads answers from columns of 0 and 1, one column per label. Returns the same list as
# read_label_lists().
read_label_flags <- function(columns) {
  check_flags <- function(is_valid, column) {
    check_values(columns[[column]], is_valid, column, "flags",
      "Columns of labels must contain 0 or 1. A missing answer has {.code NA} in all of them.")
  }
  label_names <- names(columns)
  for (column in label_names) {
    flags <- columns[[column]]
    check_flags(is_plain(flags, c("numeric", "logical")) & flags %in% c(0, 1, NA), column)
    columns[[column]] <- as.logical(flags)
  }
  n_missing_flags <- Reduce(`+`, lapply(columns, is.na))
  for (column in label_names)
    check_flags(!is.na(columns[[column]]) | n_missing_flags == length(columns), column)
  rows_by_label <- lapply(columns, which)
  row <- unlist(rows_by_label, use.names = FALSE)
  list(
    row = row, label = factor(rep(label_names, lengths(rows_by_label)), label_names),
    empty = setdiff(which(n_missing_flags == 0L), row), missing = which(n_missing_flags > 0L)
  )
}

# Fails if an answer contains a label twice.
check_label_once <- function(x) {
  first_repeat <- match(TRUE, equals_next(rating_pattern(x), rating_rater(x), rating_category(x)))
  if (is.na(first_repeat)) return()
  case <- case_of_pattern(x, rating_pattern(x)[[first_repeat]])
  rater <- x$raters[[rating_rater(x)[[first_repeat]]]]
  abort_fallible("repeat", "An answer can contain a label only once.",
    x = "Rater {.val {rater}} gives case {.val {as.character(case)}} the label
         {.val {x$categories[[rating_category(x)[[first_repeat]]]]}} twice.",
    i = "Drop repeated rows, for example with {.code unique(data)}.", case = case, rater = rater)
}

# ---- Labels of answers, one entry per label -----------------------------------------------------

# Returns the labels of all answers as input of the C++ core, a list:
# * unit (case), worker (rater), label: vectors with an element per label, sorted by unit, worker
#   and label. Label 0 is an answer without labels.
# * units, workers, labels: the numbers of cases, raters and labels.
judgements <- function(x) {
  c(
    setNames(add_entries(unfold_ratings(x), x$empty_answers, 0L), judgement_fields),
    units = nrow(x), workers = n_raters(x), labels = n_categories(x)
  )
}

judgement_fields <- c("unit", "worker", "label")

# Returns, for each entry of judgements(), the number (1, 2 and so on) of its answer. An answer
# consists of all labels that one rater (worker) gave to one case (unit).
answer_of_entry <- function(entries) {
  n_entries <- length(entries$unit)
  cumsum(c(n_entries > 0L, !equals_next(entries$unit, entries$worker))[seq_len(n_entries)])
}

answer_table <- function(x) {
  check_single_answers(x, "what",
    "{.code what = \"answers\"} needs one answer of each rater on a case.")
  entries <- judgements(x)
  answer_index <- answer_of_entry(entries)
  is_first_entry <- !duplicated(answer_index)
  has_label <- entries$label > 0L
  labels <- split(
    category_factor(entries$label[has_label], x),
    factor(answer_index[has_label], seq_len(sum(is_first_entry)))
  )
  tibble(
    case = x$cases[entries$unit[is_first_entry]], rater = x$raters[entries$worker[is_first_entry]],
    labels = unname(labels)
  )
}

format_answers <- function(x) {
  entries <- judgements(x)
  case_of_answer <- entries$unit[!duplicated(answer_of_entry(entries))]
  paste0(
    count_noun(length(case_of_answer), "answer"), " with ", count_noun(n_ratings(x), "label"), ", ",
    format_span(tabulate(case_of_answer, nrow(x))), " answers per case",
    count_clause(length(x$empty_answers$case), "answer", "without any label")
  )
}

#' Single-category ratings from answers with several labels
#'
#' Converts answers of raters that may have several labels to ratings with one category, which most
#' functions require.
#'
#' @param x A [ratings()] object made with `repeats = "labels"`, or a [crowdtruth()] result. Ratings
#'   with one category are returned unchanged, unless `label` is given.
#' @param label A label, a string. A rating is then `"yes"` if the answer contains the label, and
#'   otherwise `"no"`. To use all labels, call the function once per label. With `NULL`, the
#'   default, the only label of an answer becomes the rating. An answer without labels becomes a
#'   missing rating.
#' @param several What to do with answers with several labels, if `label` is `NULL`: `"error"` (the
#'   default) fails; `"omit"` makes them missing ratings.
#' @param ... Not used; catches misspelt arguments.
#' @return A [ratings()] object with the same cases, raters and systems. With `label`, answers of
#'   systems also become `"yes"` and `"no"`.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd()
#' # Does the answer contain A?
#' single_label(x, label = "A")
#' # True labels, estimated from answers with one label
#' ground_truth(single_label(x, several = "omit"))
#' @export
single_label <- function(x, label = NULL, several = c("error", "omit"), ...) {
  check_call()
  x <- as_any_ratings(x)
  several <- check_choice(several)
  if (!is.null(label)) {
    check_single_answers(x, "label", "{.arg label} needs one answer of each rater on a case.")
    abort_argument_if(!(is_string(label) && label %in% x$categories), "label",
      "must be a label of {.arg x}.", not = label, i = "The labels are {.val {x$categories}}.")
    return(yes_no_ratings(x, match(label, x$categories)))
  }
  if (!has_labels(x)) return(x)
  entries <- judgements(x)
  answer_index <- answer_of_entry(entries)
  has_several_labels <- answer_index %in% repeated_values(answer_index)
  abort_if(any(has_several_labels) && several == "error", "labels",
    "Some answers have several labels.",
    x = "In total, {n_distinct(answer_index[has_several_labels])} of {max(answer_index)} answers do.
        The first of them is the answer of
        {.val {x$raters[entries$worker[has_several_labels][1L]]}} on case
        {.val {as.character(x$cases[entries$unit[has_several_labels][1L]])}}.",
    i = "Use {.code several = \"omit\"} to leave these answers out, or {.arg label} to ask about one
        label at a time.")
  kept_entries <- lapply(entries[judgement_fields], `[`, entries$label > 0L & !has_several_labels)
  replace_ratings(x, kept_entries, x$categories)
}

yes_no_ratings <- function(x, label) {
  entries <- judgements(x)
  answer_index <- answer_of_entry(entries)
  is_first_entry <- !duplicated(answer_index)
  has_label <- answer_index[is_first_entry] %in% answer_index[entries$label == label]
  answers <- list(
    unit = entries$unit[is_first_entry], worker = entries$worker[is_first_entry],
    label = ifelse(has_label, 1L, 2L)
  )
  x <- recode_answers(x, ifelse(seq_along(x$categories) == label, 1L, 2L))
  replace_ratings(x, answers, c("yes", "no"))
}

# Replaces the ratings of `x`, and keeps cases, raters and systems. `entries`: a list of vectors
# with an element per new rating:
# * unit: number of the case.
# * worker: number of the rater.
# * label: position in `categories`.
replace_ratings <- function(x, entries, categories, repeats = "error") {
  system_answer_codes <- split_columns(case_answers(x), x$systems)
  x$categories <- categories
  x <- set_core_patterns(
    x, core_patterns_long(entries$unit, entries$worker, entries$label, system_answer_codes, nrow(x))
  )
  x$repeats <- repeats
  x$ordered <- FALSE
  if (repeats != "labels") x$empty_answers <- NULL
  new_ratings(x)
}

# Answers with several labels: input, and conversion to single labels.

# Converts one row per answer to one row per label. `source` is the original row of a label; `empty`
# marks rows for answers without labels.
expand_answers <- function(input) {
  flags <- length(input$columns) > 1L
  by_label <- !flags && !is.list(input$columns[[1L]])
  if (!is.null(input$case)) check_whole_answers(input, by_label) # or build_long() fails
  if (by_label) return(input)
  answers <- if (flags) read_label_flags(input$columns) else
    read_label_lists(input$columns[[1L]], names(input$columns))
  rows <- c(answers$row, answers$empty, answers$missing)
  order <- order(rows)
  name <- if (flags) "rating" else names(input$columns)
  input <- take_rows(input, rows[order])
  # Rows without a label are NA.
  input$columns <- setNames(list(answers$label[seq_along(rows)][order]), name)
  input$empty <- (rows %in% answers$empty)[order]
  input
}

# A row must be a whole answer or, in data with a row per label, one of its labels. A row with NA
# next to labels of the same answer would be lost.
check_whole_answers <- function(input, by_label) {
  check_case_and_rater(input)
  cases <- unique(input$case)
  answer <- match(input$case, cases) +
    length(cases) * match(input$rater, unique(input$rater)) # one number per case and rater
  if (by_label) {
    gap <- which(is.na(input$columns[[1L]]))
    partly <- gap[answer[gap] %in% answer[-gap]]
    abort_if(partly, "columns",
      "An answer must be known as a whole, or be {.code NA}.",
      x = "Row {partly[[1L]]} of column {.val {names(input$columns)}} holds {.code NA} beside
           labels of the same answer in other rows.", arg = names(input$columns))
  } else {
    row <- anyDuplicated(answer)
    abort_if(row > 0L, "repeat", "A row must be the whole answer of a rater on a case.",
      x = "Row {row} repeats rater {.val {as_label(input$rater[row])}} on case
           {.val {as_label(input$case[[row]])}}.",
      i = "Join the labels of such rows, or leave all but one of them out.",
      case = input$case[row], rater = as_label(input$rater[row]))
  }
}

read_label_lists <- function(x, column) {
  check_label_kinds(x[lengths(x) > 0L], column)
  is_factor <- vapply(x, is.factor, NA)
  if (any(is_factor)) { # unlist() of factors and other vectors would return codes
    x[!is_factor] <- lapply(x[!is_factor], function(v) factor(rep(NA, length(v))))
  }
  label <- unlist(x, use.names = FALSE)
  row <- rep.int(seq_along(x), lengths(x))
  gap <- is.na(label)
  partly <- row[gap & lengths(x)[row] > 1L]
  abort_if(partly, "columns",
    "A list of labels must be known as a whole, or be {.code NA}.",
    x = "Row {partly[[1L]]} of column {.val {column}} holds {.code NA} beside labels.",
    arg = column)
  list(row = row[!gap], label = label[!gap], empty = which(lengths(x) == 0L), missing = row[gap])
}

check_label_kinds <- function(x, column) {
  kinds <- unique(unlist(lapply(x, function(labels) {
    if (is.object(labels)) class(labels)[[1L]] else if (!is.logical(labels) || !all(is.na(labels)))
      mode(labels)
  })))
  known <- c("character", "numeric", "logical", "factor", "ordered")
  abort_if(length(kinds) > 1L || !all(kinds %in% known), "columns",
    "A list of labels must hold vectors of one kind: strings, factors, logicals or numbers.",
    x = "Column {.val {column}} holds {.val {kinds}}.", arg = column)
}

read_label_flags <- function(columns) {
  flags <- Map(function(x, column) {
    check_flags(x, is_plain(x, c("numeric", "logical")) & x %in% c(0, 1, NA), column)
    as.logical(x)
  }, columns, names(columns))
  missing <- Reduce(`+`, lapply(flags, is.na))
  Map(function(x, column) {
    check_flags(x, !is.na(x) | missing == length(flags), column)
  }, flags, names(flags))
  rows <- lapply(flags, which)
  row <- unlist(rows, use.names = FALSE)
  list(
    row = row, label = factor(rep(names(flags), lengths(rows)), names(flags)),
    empty = setdiff(which(missing == 0L), row), missing = which(missing > 0L)
  )
}

check_flags <- function(x, ok, column) {
  check_values(x, ok, column, "flags",
    "Columns of labels must hold 0 and 1, or {.code NA} in all of them.")
}

# Fails if an answer contains a label twice.
check_label_once <- function(x) {
  at <- which(equals_next(rating_pattern(x), rating_rater(x), rating_category(x)))
  if (length(at) == 0L) return(invisible(x))
  case <- case_of_pattern(x, rating_pattern(x)[[at[[1L]]]])
  rater <- x$raters[[rating_rater(x)[[at[[1L]]]]]]
  abort_fallible("repeat", "A label can stand in an answer only once.",
    x = "Rater {.val {rater}} gives case {.val {as.character(case)}} the label
         {.val {x$categories[[rating_category(x)[[at[[1L]]]]]]}} twice.",
    i = "Leave repeated rows out, for example with {.fun unique}.", case = case, rater = rater)
}

# ---- Single entries -----------------------------------------------------------------------------

# Input of the core: an entry per label, sorted by unit, worker and label; label 0 is an empty
# answer.
judgements <- function(x) {
  entries <- setNames(add_entries(unfold_ratings(x), x$empty, 0L), judgement_fields)
  c(entries, units = nrow(x), workers = n_raters(x), labels = n_categories(x))
}

judgement_fields <- c("unit", "worker", "label")

# Number of the answer of each entry of judgements().
answer_number <- function(entries) {
  n <- length(entries$unit)
  cumsum(c(n > 0L, !equals_next(entries$unit, entries$worker))[seq_len(n)])
}

answer_table <- function(x) {
  check_single_answers(x, "what",
    "{.code what = \"answers\"} needs one answer of each rater on a case.")
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  given <- entries$label > 0L
  labels <- split(
    category_factor(entries$label[given], x), factor(answer[given], seq_len(sum(first)))
  )
  tibble::tibble(
    case = x$cases[entries$unit[first]], rater = x$raters[entries$worker[first]],
    labels = unname(labels)
  )
}

format_answers <- function(x) {
  entries <- judgements(x)
  answers <- entries$unit[!duplicated(answer_number(entries))]
  empty <- length(x$empty$case)
  paste0(
    count_noun(length(answers), "answer"), " with ", count_noun(n_ratings(x), "label"), ", ",
    format_range(tabulate(answers, nrow(x))), " answers per case",
    if (empty > 0L) paste0("; ", count_noun(empty, "answer"), " without any label")
  )
}

# Conversion of answers with several labels to ratings with one category.

#' Ratings with one category from answers with several labels
#'
#' Converts answers with several labels to ratings with one category, as most methods need.
#'
#' * Without `label`, the labels are the categories, and every answer must have one label. `several`
#'   specifies what happens to other answers. An answer without a label becomes a missing
#'   rating.
#' * With `label`, a rating is `"yes"` if the answer contains this label, and otherwise `"no"`, also
#'   for an empty answer. To use all labels, make one such object per label.
#'
#' @param x [ratings()] with `repeats = "labels"`, or a [crowdtruth()] result. Ratings with one
#'   category are returned unchanged, unless `label` is given.
#' @param label A label, or `NULL`.
#' @param several Treatment of answers with several labels: `"error"`, or `"omit"`, which makes them
#'   missing.
#' @param ... Not used.
#' @return A [ratings()] object. Systems are kept. With `label`, their predictions also become
#'   `"yes"` and `"no"`.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' x <- simulate_crowd()
#' single_label(x, label = "A")
#' ground_truth(single_label(x, several = "omit"))
#' @export
single_label <- function(x, label = NULL, several = c("error", "omit"), ...) {
  check_given()
  check_dots_empty(...)
  x <- as_answers(x)
  several <- check_choice(several)
  if (is.null(label)) return(if (has_labels(x)) single_labels(x, several) else x)
  check_single_answers(x, "label", "{.arg label} needs one answer of each rater on a case.")
  abort_argument_if(!(is_string(label) && label %in% x$categories), "label",
    "must be a label of {.arg x}.", not = label, i = "They are {.val {x$categories}}.")
  one_label(x, match(label, x$categories))
}

single_labels <- function(x, several) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  many <- answer %in% answer[duplicated(answer)]
  abort_if(any(many) && several == "error", "labels", "Some answers have several labels.",
    x = "{length(unique(answer[many]))} of {max(answer)} answers do, first that of
        {.val {x$raters[entries$worker[many][1L]]}} on
        {.val {as.character(x$cases[entries$unit[many][1L]])}}.",
    i = "{.code several = \"omit\"} leaves them out; {.arg label} asks about one label at a time.")
  rebuild(x, lapply(entries[judgement_fields], `[`, entries$label > 0L & !many), x$categories)
}

one_label <- function(x, label) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  has_label <- answer[first] %in% answer[entries$label == label]
  answers <- list(
    unit = entries$unit[first], worker = entries$worker[first], label = ifelse(has_label, 1L, 2L)
  )
  x <- recode_answers(x, ifelse(seq_along(x$categories) == label, 1L, 2L))
  rebuild(x, answers, c("yes", "no"))
}

# Ratings of the same cases and raters from new entries: unit, worker and label.
rebuild <- function(x, entries, categories, repeats = "error") {
  systems <- split_columns(case_answers(x), x$systems)
  core <- core_patterns_long(entries$unit, entries$worker, entries$label, systems, nrow(x))
  x$categories <- categories
  x <- set_core_patterns(x, core)
  x$repeats <- repeats
  x$ordered <- FALSE
  if (repeats != "labels") x$empty <- NULL
  new_ratings(x)
}

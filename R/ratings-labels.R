# Answers with several labels: how they come in, and how they are looked at one by one.

# The columns of long data that hold what was said: one, or one per label.
select_ratings <- function(data, quo, repeats) {
  if (repeats == "labels" && length(select_columns(data, quo, "rating")) > 1L) {
    select_columns(data, quo, "rating")
  } else {
    select_column(data, quo, "rating")
  }
}

# One row per label, from one row per answer. `source` is the row that a label came from, `empty`
# says which rows stand for an answer without labels.
expand_answers <- function(input) {
  one <- length(input$columns) == 1L
  if (one && !is.list(input$columns[[1L]])) {
    check_known_answers(input)
    return(input)
  }
  check_one_answer(input)
  given <- if (one) {
    read_label_lists(input$columns[[1L]], names(input$columns))
  } else {
    read_label_flags(input$columns)
  }
  rows <- c(given$row, given$empty, given$missing)
  order <- order(rows)
  label <- given$label
  length(label) <- length(rows) # rows without a label are NA
  if (is.factor(given$label)) label <- factor(label, levels(given$label))
  input$columns <- stats::setNames(list(label[order]), if (one) names(input$columns) else "rating")
  input$source <- rows[order]
  input$empty <- (seq_along(rows) %in% (length(given$row) + seq_along(given$empty)))[order]
  for (field in c("case", "rater", "weights")) input[[field]] <- input[[field]][input$source]
  input
}

check_one_answer <- function(input) {
  if (is.null(input$case)) {
    return(invisible(input)) # which build_long() will say
  }
  row <- anyDuplicated(answer_of_row(input))
  if (row > 0L) {
    case <- input$case[[row]]
    rater <- as_label(input$rater[row])
    abort_fallible("repeat", "A row must be the whole answer of a rater on a case.",
      x = "Row {row} repeats rater {.val {rater}} on case {.val {as.character(case)}}.",
      i = "Join the labels of such rows, or leave all but one of them out.", case = case,
      rater = rater)
  }
}

# With a row per label, a row that is NA would be lost beside others of its answer.
check_known_answers <- function(input) {
  gap <- which(is.na(input$columns[[1L]]))
  if (length(gap) == 0L || is.null(input$case)) return(invisible(input))
  answer <- answer_of_row(input)
  partly <- gap[answer[gap] %in% answer[-gap]]
  if (length(partly) > 0L) {
    column <- names(input$columns)
    abort_fallible("columns", "An answer must be known as a whole, or be {.code NA}.",
      x = "Row {partly[[1L]]} of column {.val {column}} holds {.code NA} beside labels of the same
           answer in other rows.", arg = column)
  }
}

# A number for each case and rater.
answer_of_row <- function(input) {
  check_identifiers(input$case, "case")
  check_identifiers(input$rater, "rater")
  cases <- unique(input$case)
  match(input$case, cases) + length(cases) * match(input$rater, unique(input$rater))
}

read_label_lists <- function(x, column) {
  check_label_kinds(x[lengths(x) > 0L], column)
  is_factor <- vapply(x, is.factor, NA)
  if (any(is_factor)) { # unlist() would give codes where some are none
    x[!is_factor] <- lapply(x[!is_factor], function(v) factor(rep(NA, length(v))))
  }
  label <- unlist(x, use.names = FALSE)
  row <- rep.int(seq_along(x), lengths(x))
  gap <- is.na(label)
  partly <- row[gap & lengths(x)[row] > 1L]
  abort_if(length(partly) > 0L, "columns",
    "A list of labels must be known as a whole, or be {.code NA}.",
    x = "Row {partly[[1L]]} of column {.val {column}} holds {.code NA} beside labels.",
    arg = column)
  list(row = row[!gap], label = label[!gap], empty = which(lengths(x) == 0L), missing = row[gap])
}

check_label_kinds <- function(x, column) {
  kind <- vapply(x, typeof, "")
  kind[kind == "double"] <- "integer"
  is_object <- vapply(x, is.object, NA)
  kind[is_object] <- vapply(x[is_object], function(labels) class(labels)[[1L]], "")
  unknown <- kind == "logical"
  unknown[unknown] <- vapply(x[unknown], function(labels) all(is.na(labels)), NA)
  kinds <- unique(kind[!unknown])
  abort_if(
    length(setdiff(kinds, c("character", "integer", "logical", "factor", "ordered"))) > 0L ||
      length(kinds) > 1L, "columns",
    "A list of labels must hold vectors of one kind: strings, factors, logicals or numbers.",
    x = "Column {.val {column}} holds {.val {kinds}}.", arg = column)
}

read_label_flags <- function(columns) {
  flags <- Map(function(x, column) {
    bad <- if (is_plain(x, c("numeric", "logical"))) which(!x %in% c(0, 1, NA)) else seq_along(x)
    if (length(bad) > 0L) abort_flag(x, bad, column, "only 0, 1, {.code NA} can stand there")
    as.logical(x)
  }, columns, names(columns))
  missing <- Reduce(`+`, lapply(flags, is.na))
  partly <- which(missing > 0L & missing < length(flags))
  if (length(partly) > 0L) {
    column <- names(flags)[is.na(vapply(flags, `[`, NA, partly[[1L]]))][[1L]]
    abort_flag(flags[[column]], partly, column, "other labels of the answer are known")
  }
  row <- unlist(lapply(flags, which), use.names = FALSE)
  label <- rep(names(flags), vapply(flags, sum, 0L, na.rm = TRUE))
  list(
    row = row, label = factor(label, names(flags)),
    empty = setdiff(which(missing == 0L), row), missing = which(missing > 0L)
  )
}

abort_flag <- function(x, rows, column, why) {
  abort_fallible("flags", "Columns of labels must hold 0 and 1, or {.code NA} in all of them.",
    x = paste0("Row {rows[[1L]]} of column {.val {column}} holds {.val {x[[rows[[1L]]]]}}; ", why,
      "."), row = rows, column = column)
}

# The same label twice in an answer.
check_label_once <- function(x) {
  pattern <- rating_pattern(x)
  rater <- rating_rater(x)
  category <- rating_category(x)
  n <- length(pattern)
  twice <- which(
    pattern[-1L] == pattern[-n] & rater[-1L] == rater[-n] & category[-1L] == category[-n]
  )
  if (length(twice) == 0L) return(invisible(x))
  at <- twice[[1L]]
  case <- x$cases[[match(pattern[[at]], pattern_of_case(x))]]
  rater <- x$raters[[rater[[at]]]]
  abort_fallible("repeat", "A label can stand in an answer only once.",
    x = "Rater {.val {rater}} gives case {.val {as.character(case)}} the label
         {.val {x$categories[[category[[at]]]]}} twice.",
    i = "Leave repeated rows out, for example with {.fun unique}.", case = case, rater = rater)
}

# ---- Answers one by one -------------------------------------------------------------------------

# What the compiled code wants: one entry per label given, by unit, worker and label; label 0 stands
# for an empty answer.
judgements <- function(x) {
  n <- pattern_lengths(x)[pattern_of_case(x)]
  at <- ratings_in(x, pattern_of_case(x))
  out <- list(
    unit = rep.int(seq_along(n), n), worker = rating_rater(x)[at], label = rating_category(x)[at]
  )
  if (length(x$empty$case) > 0L) {
    out <- Map(c, out, list(x$empty$case, x$empty$rater, integer(length(x$empty$case))))
    out <- lapply(out, `[`, order(out$unit, out$worker))
  }
  c(out, units = nrow(x), workers = length(x$raters), labels = length(x$categories))
}

# The number of the answer that each entry of judgements() belongs to.
answer_number <- function(entries) {
  n <- length(entries$unit)
  new <- entries$unit[-1L] != entries$unit[-n] | entries$worker[-1L] != entries$worker[-n]
  cumsum(c(n > 0L, new)[seq_len(n)])
}

answer_table <- function(x) {
  check_single_answers(x, "what",
    "{.code what = \"answers\"} needs one answer of each rater on a case.")
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  given <- entries$label > 0L
  tibble::tibble(
    case = x$cases[entries$unit[first]],
    rater = x$raters[entries$worker[first]],
    labels = unname(split(
      category_factor(entries$label[given], x), factor(answer[given], seq_len(sum(first)))
    ))
  )
}

# Empty answers that remain; a case may be kept several times.
subset_empty <- function(empty, keep_case, new_rater) {
  rows <- split(seq_along(empty$case), empty$case)
  place <- which(keep_case %in% empty$case)
  found <- rows[as.character(keep_case[place])]
  out <- list(
    case = rep.int(place, lengths(found)),
    rater = new_rater[empty$rater[unlist(found, use.names = FALSE)]]
  )
  lapply(out, `[`, out$rater > 0L)
}

format_answers <- function(x) {
  entries <- judgements(x)
  answers <- entries$unit[!duplicated(answer_number(entries))]
  labels <- sum(entries$label > 0L)
  empty <- length(x$empty$case)
  c(paste0(
    count_noun(length(answers), "answer"), " with ", count_noun(labels, "label"), ", ",
    format_range(tabulate(answers, nrow(x))), " answers per case",
    if (empty > 0L) paste0("; ", count_noun(empty, "answer"), " without any label")
  ))
}

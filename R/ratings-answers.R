# Confidence of raters: argument `confidence` of ratings(). The field `confidence` of a ratings
# object is a list. Ratings with unknown confidence are not in the list.
# * levels: labels of the levels, the lowest first.
# * case, rater, code: vectors with an element per rating, sorted by case and rater. `code` is the
#   index of the level.
#
# Patterns of ratings do not contain the confidence, because most models do not use it.

max_levels <- 5L

# Lower limits of the five levels of numeric confidence. They are written out to avoid rounding
# errors: 3 * 0.2 is larger than 0.6.
level_limits <- c("[0, 0.2)" = 0, "[0.2, 0.4)" = 0.2, "[0.4, 0.6)" = 0.4, "[0.6, 0.8)" = 0.6,
  "[0.8, 1]" = 0.8)

# Adds the field `confidence` to the ratings `x`, if the user gave columns of confidence. `input`:
# result of read_input().
add_confidence <- function(x, input) {
  columns <- input$confidence
  if (is.null(columns)) return(x)
  requirement <-
    "{.arg confidence} needs identified raters and at most one rating per rater and case."
  check_named_raters(x, "confidence", requirement)
  abort_argument_if(x$repeats != "error", "confidence", requirement,
    x = "{.code repeats = \"{x$repeats}\"} allows several ratings by a rater on a case.",
    i = if (x$repeats == "labels") "Leave {.arg confidence} out." else
      "Keep one rating of each rater on a case, or leave {.arg confidence} out.")
  n_raters <- length(input$columns)
  abort_argument_if(n_raters != length(columns), "confidence",
    "must select one column for each rater.",
    x = "There are {n_raters} rater{?s}, but {length(columns)} column{?s} of confidence:
         {.val {names(columns)}}.",
    i = "Name a column for each rater, in the order of {.arg raters}.")
  coded_columns <- code_confidence(columns, input$source)
  Map(function(column, rating, name) {
    check_values(column, is.na(column) | !is.na(rating), name, "confidence",
      "{.arg confidence} must be {.code NA} where the rating is missing.",
      i = "Set these values to {.code NA}, or check that the columns of {.arg confidence} are in the
          order of {.arg raters}.",
      rows = input$source)
  }, columns, input$columns, names(columns))
  x$confidence <- c(
    coded_columns["levels"],
    list_positive_codes(coded_columns$codes, input$case, input$rater, x$raters, x, input$rows)
  )
  x
}

# Returns the positive codes of all columns as a list of `case`, `rater` and `code`, sorted by case
# and rater.
# * codes: a list of integer vectors.
# * case, judge: in long data, the case and the judge (a rater or system) of each code. In wide data
#   `judge` is NULL, and there is a vector of `rows` codes for each of `judges`.
list_positive_codes <- function(codes, case, judge, judges, x, rows) {
  pairs <- if (is.null(judge)) expand.grid(case = seq_len(rows), rater = seq_along(judges)) else
    list(case = match(case, x$cases), rater = match(as_label(judge), judges))
  code <- unlist(codes, use.names = FALSE)
  selected <- which(code > 0L)
  selected <- selected[order(pairs$case[selected], pairs$rater[selected])]
  list(case = pairs$case[selected], rater = pairs$rater[selected], code = code[selected])
}

# Converts columns of confidence (ordered factors, logicals or numbers) to codes. Returns a list:
# * levels: labels of the levels, the same for all columns.
# * codes: an integer vector per column.
#
# `rows`: numbers of the rows in the user's data, for messages.
code_confidence <- function(columns, rows) {
  is_empty <- map_lgl(columns, function(column) all(is.na(column)))
  abort_if(all(is_empty), "confidence", "{.arg confidence} has no values.",
    x = "All values of {.val {names(columns)}} are missing.", row = integer(),
    column = names(columns)[[1L]])
  known_columns <- columns[!is_empty]
  kind <- unique(map_chr(known_columns, function(column) {
    if (is.ordered(column)) "ordered" else if (is.factor(column)) "a factor without an order" else
      if (is_plain(column, c("logical", "numeric"))) mode(column) else describe(column)
  }))
  abort_if(length(kind) > 1L || !kind %in% c("ordered", "logical", "numeric"), "columns",
    "{.arg confidence} must be ordered factors, logicals or numbers in [0, 1], the same type in all
        columns.",
    x = sprintf("The columns are: %s.", escape_braces(toString(kind))),
    i = "Give the levels, from low to high:
        {.code factor(x, c(\"unsure\", \"sure\"), ordered = TRUE)}.",
    arg = "confidence")
  if (kind == "numeric") for (name in names(known_columns)) {
    x <- known_columns[[name]]
    check_values(x, is.na(x) | (x >= 0 & x <= 1), name, "confidence",
      "Numbers of {.arg confidence} must be in [0, 1].",
      i = "Divide percentages by 100. Convert grades such as 1 to 5 to an ordered factor:
          {.code factor(x, 1:5, ordered = TRUE)}.", rows = rows)
  }
  columns[!is_empty] <- lapply(known_columns, function(x) {
    switch(kind, ordered = x, logical = factor(x, c(FALSE, TRUE)),
      numeric = factor(names(level_limits)[findInterval(x, level_limits)], names(level_limits)))
  })
  levels <- unique(lapply(columns[!is_empty], levels))
  abort_if(length(levels) > 1L, "columns",
    "Columns of {.arg confidence} must have the same levels.",
    x = "One has {.val {levels[[1L]]}}, another {.val {levels[[2L]]}}.", arg = "confidence")
  levels <- levels[[1L]]
  abort_if(!length(levels) %in% 2:max_levels, "columns",
    "{.arg confidence} must have two to {max_levels} levels.",
    x = "It has {length(levels)}: {.val {levels}}.",
    i = if (length(levels) > max_levels) "Merge adjacent levels until {max_levels} are left.",
    arg = "confidence")
  list(levels = levels, codes = lapply(columns, as.integer))
}

# ---- Codes, subsets and text of confidence -------------------------------------------------------

# Returns the confidence code of each rating, 0 if it is unknown. `case`, `rater`: numbers of the
# case and the rater of each rating.
confidence_of_ratings <- function(x, case, rater) {
  confidence <- x$confidence
  raters <- n_raters(x)
  entry <- match((case - 1) * raters + rater, (confidence$case - 1) * raters + confidence$rater)
  replace(confidence$code[entry], is.na(entry), 0L)
}

# Selects cases and raters of `x`, a list of the vectors `case`, `rater` and sometimes `code`.
# Examples are the fields `confidence` and `abstained` of a ratings object.
# * cases: numbers of the selected cases, which may be repeated.
# * new_rater: new number of each rater, 0 to drop the rater.
# * keep_if_empty: if FALSE, returns NULL when no entry is left.
subset_case_entries <- function(x, cases, new_rater = seq_len(max(x$rater)),
                                keep_if_empty = FALSE) {
  if (is.null(x)) return(NULL)
  fields <- intersect(c("case", "rater", "code"), names(x))
  n_entries <- tabulate(x$case, max(cases, x$case, 0L))
  first_entry <- cumsum(n_entries) - n_entries + 1L
  entries <- lapply(
    x[fields], `[`, order(x$case)[sequence(n_entries[cases], from = first_entry[cases])]
  )
  entries$case <- rep.int(seq_along(cases), n_entries[cases])
  entries$rater <- new_rater[entries$rater]
  entry_order <- order(entries$case, entries$rater)
  x[fields] <- lapply(entries, `[`, entry_order[entries$rater[entry_order] > 0L])
  if (!is_empty(x$case) || keep_if_empty) x
}

format_confidence <- function(x) {
  confidence <- x$confidence
  if (is.null(confidence)) return(NULL)
  level_counts <- tabulate(confidence$code, length(confidence$levels))
  paste0(
    "Confidence: ", paste0(
      confidence$levels, " (", percent(level_counts / sum(level_counts)), ")", collapse = " < "
    ),
    count_clause(n_ratings(x) - sum(level_counts), "rating", "without")
  )
}

# Abstentions are replies that are not categories, such as "cannot tell" (argument `abstain` of
# ratings()). The field `abstained` of a ratings object is a list:
# * label: the argument `abstain`.
# * case, rater: vectors with an element per abstention, sorted by case and rater.
#
# The field `silent_systems` has the same form for abstentions of systems. Its `rater` is the number
# of a system.

# Converts abstentions in `input` to missing ratings, and records them in two new fields:
# * abstained: a list with a code vector for each column of ratings.
# * silent: the same for columns of systems.
#
# Codes are 1 for a label in `abstain`, 2 for an empty cell that is an abstention, and otherwise 0.
record_abstentions <- function(input, options) {
  if (is.null(options$abstain)) return(input)
  check_abstain_allowed(input, options)
  is_abstention <- function(values) {
    plain_label(as_label(values)) %in% plain_label(as_label(options$abstain))
  }
  code_abstentions <- function(x) {
    values <- unique(x)
    ifelse(is_abstention(values), 1L + is.na(values), 0L)[match(x, values)]
  }
  input$abstained <- lapply(input$columns, code_abstentions)
  input$silent <- lapply(input$systems, code_abstentions)
  system_table <- input$system_table
  if (!is.null(system_table)) input$system_table$silent <- code_abstentions(system_table$prediction)
  used_labels <- list_labels(c(input$columns, input$systems, system_table["prediction"]))
  # rate_variables() makes this check itself if several variables share `abstain`.
  check_abstain_used(
    isTRUE(attr(options$abstain, "shared")) || any(is_abstention(used_labels)),
    options$abstain, used_labels
  )
  input$abstain <- as.vector(options$abstain)
  relabel_input(input, used_labels, replace(used_labels, is_abstention(used_labels), NA))
}

# Fails if raters and systems never use the labels of `abstain`.
# * is_used: does a rater or system use one of these labels, in any variable of the codebook?
# * labels: all labels that raters and systems use.
check_abstain_used <- function(is_used, abstain, labels) {
  abort_argument_if(!is_used && any_known(abstain), "abstain",
    "must be labels that raters or systems use.", x = "They use {.val {unique(labels)}}.")
}

check_abstain_allowed <- function(input, options) {
  abstain_labels <- setdiff(as_label(options$abstain), NA)
  labels <- list(
    categories = c(as_label(options$categories), names(options$categories)),
    truth = as_label(input$truth[[1L]])
  )
  for (arg in names(labels)) {
    shared_labels <-
      unique(labels[[arg]][plain_label(labels[[arg]]) %in% plain_label(abstain_labels)])
    abort_argument_if(shared_labels, arg, "must not have labels of {.arg abstain}.",
      x = "{.val {shared_labels}} {?is/are} in both.",
      i = "An abstention cannot be the true category of a case.")
  }
  obstacles <- c(
    "Counts of ratings do not show which rater abstained." = !input$layout$labels,
    "{.code repeats = \"{options$repeats}\"} allows several replies by a rater on a case." =
      options$repeats != "error",
    "Raters of a group count as one vote." = !is.null(input$groups),
    "{.arg confidence} and {.arg abstain} cannot be combined." = !is.null(input$confidence)
  )
  abort_argument_if(any(obstacles), "abstain",
    "{.arg abstain} needs one reply of each rater on a case.",
    x = names(which(obstacles))[1L], i = "Leave one of these arguments out.")
}

add_abstentions <- function(x, input) {
  if (is.null(input$abstained)) return(x)
  # Returns the field `abstained` or `silent_systems`; NULL if there are no abstentions. `codes`: a
  # list of code vectors from record_abstentions(). `judge`: name of the column of raters or systems
  # in `table`.
  new_abstentions <- function(codes, table, judge, judges) {
    entries <-
      list_positive_codes(codes, table$case, table[[judge]], judges, x, input$rows)
    if (!is_empty(entries$case)) c(list(label = input$abstain), entries[c("case", "rater")])
  }
  x$abstained <- new_abstentions(input$abstained, input, "rater", x$raters)
  if (has_abstentions(x)) { # fails if a rater has several replies (ratings, abstentions) to a case
    replies <- add_entries(unfold_ratings(x), x$abstained, 1L)
    check_repeats(set_core_patterns(x, core_patterns_long(
      replies$row, replies$rater, replies$category, list(), length(x$index)
    )))
  }
  # An empty cell (code 2) of a system is not an abstention, because the system was not asked.
  system_codes <- lapply(c(input$silent, input$system_table["silent"]), function(code) code == 1L)
  x$silent_systems <- new_abstentions(system_codes, input$system_table, "system", x$systems)
  x
}

# ---- Patterns, numbers and text of abstentions ---------------------------------------------------

has_abstentions <- function(x) !is.null(x$abstained)

# Splits the patterns of the ratings `x` by the set of raters who abstained. Afterwards the same
# raters abstained in all cases of a pattern.
split_by_abstention <- function(x) {
  if (!has_abstentions(x)) return(x)
  abstentions <- x$abstained
  core_patterns <- core_patterns_long(
    abstentions$case, abstentions$rater, rep(1L, length(abstentions$case)), list(), length(x$index)
  )
  split_patterns(x, list(.abstained = core_patterns$index))
}

# Returns the raters who abstained in each pattern, as a list. `x`: result of split_by_abstention().
# * rater: raters of all patterns, pattern after pattern.
# * start: the raters of pattern p are elements start[p] + 1 to start[p + 1] of `rater`.
# * pattern: number of the pattern of each element of `rater`.
abstaining_raters <- function(x) {
  abstentions <- x$abstained
  raters <- split(abstentions$rater, factor(abstentions$case, first_cases(x)))
  list(
    start = c(0L, cumsum(lengths(raters))), rater = as.integer(unlist(raters)),
    pattern = rep.int(seq_along(raters), lengths(raters))
  )
}

drop_abstentions <- function(x) {
  x["abstained"] <- list(NULL)
  x
}

# Returns the total weight of the cases in which each rater (or system) abstained. `n`: number of
# raters or systems.
weight_of_abstentions <- function(x, abstentions = x$abstained, n = n_raters(x)) {
  if (is.null(abstentions)) numeric(n) else
    rowsum_codes(abstentions$rater, weights_of_cases(x)[abstentions$case], n)
}

format_abstentions <- function(x) {
  if (!has_abstentions(x)) return(NULL)
  abstained <- weight_of_abstentions(x)
  has_abstained <- abstained > 0
  shares <- (abstained / (abstained + ratings_of_raters(x)))[has_abstained]
  rater_of_category <- unique(cbind(rating_rater(x), rating_category(x)))[, 1L]
  n_one_category <- sum(tabulate(rater_of_category, n_raters(x))[has_abstained] == 1L)
  paste0(
    "Abstentions: ", sum(has_abstained), " of ", count_noun(n_raters(x), "rater"), ", ",
    format_span(shares, percent), " of their replies",
    if (n_one_category > 0L) sprintf("; %s one category only",
      count_noun(n_one_category, "rater gives", "raters give"))
  )
}

# Returns the share of cases that each system answered, among the cases that it answered or
# abstained in. Cases count with their weights. The share is NA for a system without answers and
# abstentions.
share_answered <- function(x) ratio(answered_weight(x), answerable_weight(x))

# For each system, answered_weight() returns the total weight of the cases that it answered.
# answerable_weight() adds the weight of the cases in which the system abstained. `weight`: weight
# of each pattern.
answered_weight <- function(x, weight = pattern_weights(x)) {
  colSums((pattern_answers(x) > 0L) * weight)
}
answerable_weight <- function(x) {
  answered_weight(x) + weight_of_abstentions(x, x$silent_systems, n_systems(x))
}

# Returns a note for results that do not use abstentions; NULL without abstentions.
abstain_note <- function(x) if (has_abstentions(x)) "Abstentions count as missing ratings"

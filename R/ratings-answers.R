# Confidence of raters: argument `confidence` of ratings(). It is stored by case and rater, separate
# from patterns. A list of `levels` (labels in their order) and vectors `case`, `rater` and `code`.
# These have an entry per rating with a known level, sorted by case and rater.

max_levels <- 5L

# cut() computes limits as sums: .6 would be below 3 * .2.
fifths <- c("[0, 0.2)" = 0, "[0.2, 0.4)" = 0.2, "[0.4, 0.6)" = 0.4, "[0.6, 0.8)" = 0.6,
  "[0.8, 1]" = 0.8)

# Adds `confidence` to `x`, if `input` has columns of it.
add_confidence <- function(x, input) {
  columns <- input$confidence
  if (is.null(columns)) return(x)
  check_takes_confidence(x, input)
  rows <- input$source %||% seq_along(columns[[1L]])
  coded <- code_confidence(columns, rows)
  Map(function(column, rating, name) {
    check_values(column, is.na(column) | !is.na(rating), name, "confidence",
      "{.arg confidence} must stand beside a rating.",
      i = "Set these to {.code NA}, or see whether the columns are in the order of the raters.",
      rows = rows)
  }, columns, input$columns, names(columns))
  place <- place_of_values(input$case, input$rater, x$raters, x$cases, input$rows)
  x$confidence <- c(coded["levels"], list_entries(coded$codes, place))
  x
}

# The positive codes in columns, sorted by case and rater. `place`: case and rater of each value.
list_entries <- function(codes, place) {
  code <- unlist(codes, use.names = FALSE)
  at <- which(code > 0L)
  at <- at[order(place$case[at], place$rater[at])]
  list(case = place$case[at], rater = place$rater[at], code = code[at])
}

check_takes_confidence <- function(x, input) {
  raters <- names(input$columns)
  given <- names(input$confidence)
  must <- "{.arg confidence} is of one rating of one rater on a case."
  check_named_raters(x, "confidence", must)
  abort_argument_if(x$repeats != "error", "confidence", must,
    x = "{.code repeats = \"{x$repeats}\"} allows several on a case.",
    i = if (x$repeats == "labels") "Make one category of each answer." else
      "Keep one rating of each rater on a case, or leave {.arg confidence} out.")
  abort_argument_if(length(raters) != length(given), "confidence", must,
    x = "There are {length(raters)} rater{?s}, and {length(given)} column{?s} of confidence:
         {.val {given}}.",
    i = "Name a column for each rater, in the order of {.arg raters}.")
}

# Converts all columns to codes of the same levels. Returns a list of `levels` and `codes`, an
# integer vector per column.
code_confidence <- function(columns, rows) {
  empty <- vapply(columns, function(column) all(is.na(column)), NA)
  abort_if(all(empty), "confidence", "There is not a single {.arg confidence}.",
    x = "All of {.val {names(columns)}} is missing.", row = integer(),
    column = names(columns)[[1L]])
  given <- columns[!empty]
  kind <- unique(vapply(given, confidence_kind, ""))
  abort_if(length(kind) > 1L || !kind %in% c("ordered", "logical", "numeric"), "columns",
    "{.arg confidence} must be ordered factors, logicals or numbers in [0, 1], all alike.",
    x = paste("It is", verbatim(paste(kind, collapse = " and in another column "))),
    i = "Say which level is higher: {.code factor(x, c(\"unsure\", \"sure\"), ordered = TRUE)}.",
    arg = "confidence")
  if (kind == "numeric") for (name in names(given)) check_shares(given[[name]], name, rows)
  columns[!empty] <- lapply(given, function(x) {
    switch(kind, ordered = x, logical = factor(x, c(FALSE, TRUE)),
      numeric = factor(names(fifths)[findInterval(x, fifths)], names(fifths)))
  })
  list(levels = shared_levels(columns[!empty]), codes = lapply(columns, as.integer))
}

confidence_kind <- function(column) {
  if (is.ordered(column)) "ordered" else if (is.factor(column)) "a factor without an order" else
    if (is_plain(column, c("logical", "numeric"))) mode(column) else describe(column)
}

shared_levels <- function(columns) {
  levels <- unique(lapply(columns, levels))
  abort_if(length(levels) > 1L, "columns",
    "Columns of {.arg confidence} must have the same levels.",
    x = "One has {.val {levels[[1L]]}}, another {.val {levels[[2L]]}}.", arg = "confidence")
  levels <- levels[[1L]]
  abort_if(!length(levels) %in% 2:max_levels, "columns",
    "{.arg confidence} must have two to {max_levels} levels.",
    x = "It has {length(levels)}: {.val {levels}}.",
    i = if (length(levels) > max_levels) "Join neighbours until five are left.", arg = "confidence")
  levels
}

check_shares <- function(x, column, rows) {
  check_values(x, is.na(x) | (x >= 0 & x <= 1), column, "confidence",
    "Numbers of {.arg confidence} must be in [0, 1].",
    i = "Divide what goes from 0 to 100 by 100. Make an ordered factor of steps such as 1 to 5:
        {.code factor(x, 1:5, ordered = TRUE)}.", rows = rows)
}

# The confidence of systems is given as scores.
warn_sure_systems <- function(systems) {
  warn_if(systems, "confidence",
    "{.arg confidence} is of raters; that of {.val {systems}}, which {cli::qty(length(systems))}
        {?is a system/are systems}, is not used.",
    i = "What systems say in numbers are {.arg scores}.", systems = systems)
}

# ---- Use -----------------------------------------------------------------------------------------

# Level of the ratings of these cases by these raters, 0 if unknown.
level_of_ratings <- function(x, case, rater) {
  stated <- x$confidence
  raters <- n_raters(x)
  at <- match((case - 1) * raters + rater, (stated$case - 1) * raters + stated$rater)
  replace(stated$code[at], is.na(at), 0L)
}

# Confidence, abstentions or empty answers of selected cases (numbers, also repeated) and raters
# (`rater`: new number of each rater, 0 to drop it), sorted by case and rater. NULL if nothing is
# left, unless `empty` is TRUE.
subset_stated <- function(stated, cases, rater = seq_len(max(stated$rater)), empty = FALSE) {
  if (is.null(stated)) return(NULL)
  fields <- intersect(c("case", "rater", "code"), names(stated))
  entries <- lapply(stated[fields], `[`, order(stated$case))
  lengths <- tabulate(entries$case, max(cases, entries$case, 0L))
  at <- sequence(lengths[cases], from = cumsum(lengths)[cases] - lengths[cases] + 1L)
  entries <- lapply(entries, `[`, at)
  entries$case <- rep.int(seq_along(cases), lengths[cases])
  entries$rater <- rater[entries$rater]
  kept <- order(entries$case, entries$rater)
  stated[fields] <- lapply(entries, `[`, kept[entries$rater[kept] > 0L])
  if (length(stated$case) > 0L || empty) stated
}

format_confidence <- function(x) {
  stated <- x$confidence
  if (is.null(stated)) return(NULL)
  times <- tabulate(stated$code, length(stated$levels))
  without <- n_ratings(x) - sum(times)
  paste0(
    "Confidence: ", paste0(stated$levels, " (", percent(times / sum(times)), ")", collapse = " < "),
    if (without > 0) paste0("; ", count_noun(without, "rating"), " without")
  )
}

# Abstentions: replies that are not categories, argument `abstain` of ratings(). Patterns contain
# only ratings; `abstained` is a list of `label` and vectors `case` and `rater`, with an entry per
# abstention, sorted by case and rater. In `silent_systems`, `rater` is the number of a system.

# Converts abstentions in `input` to missing ratings. `abstained`: for each column a code per row, 1
# for a label of `abstain`, 2 for an empty cell that is an abstention. `silent`: the same for
# columns of systems.
take_abstentions <- function(input, options) {
  if (is.null(options$abstain)) return(input)
  check_takes_abstain(input, options)
  label <- as_label(options$abstain)
  words <- label[!is.na(label)]
  codes <- function(x) {
    values <- unique(x)
    code <- ifelse(as_label(values) %in% label, 1L + is.na(values), 0L)
    code[match(x, values)]
  }
  input$abstained <- lapply(input$columns, codes)
  input$silent <- lapply(input$systems, codes)
  table <- input$system_table
  if (!is.null(table)) input$system_table$silent <- codes(table$prediction)
  used <- list_labels(c(input$columns, input$systems, table["prediction"]))
  shared <- isTRUE(attr(options$abstain, "shared"))
  check_abstain_used(shared || any(words %in% used), options$abstain, used)
  input$abstain <- as.vector(options$abstain)
  relabel_input(input, words, rep(NA, length(words)))
}

# With several variables, `is_used` is TRUE if the ratings of any variable use the labels.
check_abstain_used <- function(is_used, abstain, labels) {
  abort_argument_if(!is_used && !all(is.na(abstain)), "abstain",
    "must be labels that raters or systems use.", x = "They use {.val {unique(labels)}}.")
}

check_takes_abstain <- function(input, options) {
  words <- setdiff(as_label(options$abstain), NA)
  declared <- list(
    categories = c(as_label(options$categories), names(options$categories)),
    truth = as_label(input$truth[[1L]])
  )
  for (arg in names(declared)) {
    both <- intersect(words, declared[[arg]])
    abort_argument_if(both, arg, "must not have labels of {.arg abstain}.",
      x = "{.val {both}} {?is/are} in both.",
      i = "An abstention is a reply, but no category of the truth.")
  }
  why <- c(
    "Counts of ratings do not show which rater abstained." = !input$layout$labels,
    "{.code repeats = \"{options$repeats}\"} allows several on a case." =
      options$repeats != "error",
    "Raters of a group count as one vote." = !is.null(input$groups),
    "{.arg confidence} cannot be used together with it." = !is.null(input$confidence)
  )
  abort_argument_if(any(why), "abstain", "{.arg abstain} needs one reply of each rater on a case.",
    x = names(which(why))[1L], i = "Leave one of these arguments out.")
}

add_abstentions <- function(x, input) {
  if (is.null(input$abstained)) return(x)
  place <- place_of_values(input$case, input$rater, x$raters, x$cases, input$rows)
  x$abstained <- new_abstentions(input$abstained, place, input)
  if (has_abstentions(x)) check_one_reply(x)
  table <- input$system_table
  # An empty cell of a system means that the system was not asked.
  silent <- lapply(c(input$silent, table["silent"]), function(code) code == 1L)
  place <- place_of_values(table$case, table$system, x$systems, x$cases, input$rows)
  x$silent_systems <- new_abstentions(silent, place, input)
  x
}

# Case and judge of each value, in rows with a `case` and a `judge`. Without `judge`, the values
# are in columns of the `judges`.
place_of_values <- function(case, judge, judges, cases, rows) {
  if (is.null(judge)) return(expand.grid(case = seq_len(rows), rater = seq_along(judges)))
  list(case = match(case, cases), rater = match(as_label(judge), judges))
}

# NULL if there are no abstentions.
new_abstentions <- function(codes, place, input) {
  entries <- list_entries(codes, place)
  if (length(entries$case) > 0L) c(list(label = input$abstain), entries[c("case", "rater")])
}

# Checks for repeats as if abstentions were ratings.
check_one_reply <- function(x) {
  replies <- add_entries(unfold_ratings(x), x$abstained, 1L)
  core <- core_patterns_long(
    replies$row, replies$rater, replies$category, list(), length(x$index)
  )
  check_repeats(set_core_patterns(x, core))
}

# ---- Use ----------------------------------------------------------------------------------------

has_abstentions <- function(x) !is.null(x$abstained)

# Splits patterns, so that all cases of a pattern have the same abstentions.
split_by_abstention <- function(x) {
  if (!has_abstentions(x)) return(x)
  silent <- x$abstained
  same <- core_patterns_long(silent$case, silent$rater, rep(1L, length(silent$case)), list(),
    length(x$index))$index
  split_patterns(x, list(.abstained = same))
}

# Raters who abstained in each split pattern, stored like the ratings of patterns: `start` and
# `rater`.
abstaining_raters <- function(x) {
  silent <- x$abstained
  at <- split(silent$rater, factor(silent$case, first_cases(x)))
  list(start = as.integer(c(0L, cumsum(lengths(at)))), rater = as.integer(unlist(at)))
}

without_abstentions <- function(x) {
  x["abstained"] <- list(NULL)
  x
}

# Total weight of the abstentions of each of `n` raters or systems.
weight_of_abstentions <- function(x, silent = x$abstained, n = n_raters(x)) {
  if (is.null(silent)) return(numeric(n))
  rowsum_codes(silent$rater, weights_of_cases(x)[silent$case], n)
}

format_abstentions <- function(x) {
  if (!has_abstentions(x)) return(NULL)
  silent <- weight_of_abstentions(x)
  some <- silent > 0
  share <- percent(range((silent / (silent + ratings_of_raters(x)))[some]))
  used <- unique(cbind(rating_rater(x), rating_category(x)))
  constant <- sum(tabulate(used[, 1L], n_raters(x))[some] == 1L)
  paste0(
    "Abstentions: ", sum(some), " of ", count_noun(n_raters(x), "rater"), ", ",
    paste(unique(share), collapse = " to "), " of their replies",
    if (constant > 0L) paste(
      ";", count_noun(constant, "rater gives", "raters give"), "one category only"
    )
  )
}

# Share of the asked cases that each system answered; NA for a system without any.
share_answered <- function(x) {
  given <- colSums((pattern_answers(x) > 0L) * pattern_weights(x))
  ratio(given, given + weight_of_abstentions(x, x$silent_systems, n_systems(x)))
}

# Note for results that do not use abstentions.
abstain_note <- function(x) {
  if (has_abstentions(x)) "Abstentions count as missing ratings"
}

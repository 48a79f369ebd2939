# Abstentions are replies that are not categories, such as "cannot tell" (argument `abstain` of
# ratings()). The field `abstained` of a ratings object is a list:
# * label: the argument `abstain`.
# * case, rater: vectors with an element per abstention, sorted by case and rater.
#
# The field `silent_systems` has the same form for abstentions of systems. There, `rater` contains
# numbers of systems.

# Converts abstentions in `input` to missing ratings, and records them in two new fields:
# * abstained: a list with a code vector for each column of ratings.
# * silent: a list with a code vector for each column of systems.
#
# Codes are 1 for a label in `abstain`, 2 for an empty cell if `abstain` contains NA, otherwise 0.
record_abstentions <- function(input, options) {
  if (is.null(options$abstain)) return(input)
  check_abstain_allowed(input, options)
  is_abstention <- function(labels) {
    plain_label(as_label(labels)) %in% plain_label(as_label(options$abstain))
  }
  code_abstentions <- function(x) {
    labels <- unique(x)
    ifelse(is_abstention(labels), 1L + is.na(labels), 0L)[match(x, labels)]
  }
  input$abstained <- lapply(input$columns, code_abstentions)
  input$silent <- lapply(input$systems, code_abstentions)
  system_table <- input$system_table
  if (!is.null(system_table)) input$system_table$silent <- code_abstentions(system_table$prediction)
  used_labels <- list_labels(c(input$columns, input$systems, system_table["prediction"]))
  # If several variables of a codebook share `abstain` (attribute "shared"), the check passes here.
  # ratings_of_variables() checks that at least one variable uses the labels.
  check_abstain_used(
    isTRUE(attr(options$abstain, "shared")) || any(is_abstention(used_labels)),
    options$abstain, used_labels
  )
  input$abstain <- as.vector(options$abstain)
  relabel_input(input, used_labels, replace(used_labels, is_abstention(used_labels), NA))
}

# Fails if `abstain` contains labels, but no rater or system uses them (`is_used` is FALSE).
# `labels`: all labels that raters and systems use, for the error.
check_abstain_used <- function(is_used, abstain, labels) {
  abort_argument_if(!is_used && any_known(abstain), "abstain",
    "must be labels that raters or systems use.",
    x = "The labels in use are {.val {unique(labels)}}.")
}

check_abstain_allowed <- function(input, options) {
  abstain_labels <- setdiff(as_label(options$abstain), NA)
  labels_by_argument <- list(
    categories = c(as_label(options$categories), names(options$categories)),
    truth = as_label(input$truth[[1L]])
  )
  for (arg in names(labels_by_argument)) {
    shared_labels <-
      unique(labels_by_argument[[arg]][
        plain_label(labels_by_argument[[arg]]) %in% plain_label(abstain_labels)
      ])
    abort_argument_if(shared_labels, arg, "must not contain labels of {.arg abstain}.",
      x = "{.val {shared_labels}} {?is/are} in both arguments.",
      i = "An abstention cannot be the true category of a case.")
  }
  has_conflict <- c( # arguments that cannot be combined with `abstain`
    counts = !input$layout$labels, repeats = options$repeats != "error",
    rater_groups = !is.null(input$groups), confidence = !is.null(input$confidence)
  )
  reason_by_argument <- c(
    counts = "Counts of ratings do not show which rater abstained.",
    repeats =
      "{.code repeats = \"{options$repeats}\"} allows several replies by a rater on a case.",
    rater_groups = "The raters of a group count as one vote, and votes have no abstentions.",
    confidence = "No model uses both abstentions and confidence."
  )
  conflict <- names(which(has_conflict))[1L]
  abort_argument_if(any(has_conflict), "abstain",
    "{.arg abstain} cannot be combined with {.arg {conflict}}.", x = reason_by_argument[[conflict]],
    i = "Leave out {.arg abstain} or {.arg {conflict}}.")
}

add_abstentions <- function(x, input) {
  if (is.null(input$abstained)) return(x)
  # Returns the field `abstained` or `silent_systems`; NULL if there are no abstentions.
  # * codes: a list of code vectors from record_abstentions().
  # * judge: name of the column of `table` that contains the raters or systems.
  # * judges: names of all raters or systems.
  new_abstentions <- function(codes, table, judge, judges) {
    abstention_entries <-
      list_positive_codes(codes, table$case, table[[judge]], judges, x, input$rows)
    if (!is_empty(abstention_entries$case))
      c(list(label = input$abstain), abstention_entries[c("case", "rater")])
  }
  x$abstained <- new_abstentions(input$abstained, input, "rater", x$raters)
  if (has_abstentions(x)) { # fails if a rater has several replies (ratings, abstentions) to a case
    replies <- add_entries(unfold_ratings(x), x$abstained, 1L)
    check_repeats(set_core_patterns(x, core_patterns_long(
      replies$row, replies$rater, replies$category, list(), length(x$index)
    )), input)
  }
  # An empty cell (code 2) of a system is not counted as an abstention, because the system was not
  # asked.
  is_silent_by_system <-
    lapply(c(input$silent, input$system_table["silent"]), function(code) code == 1L)
  x$silent_systems <- new_abstentions(is_silent_by_system, input$system_table, "system", x$systems)
  x
}

# ---- Patterns, numbers and text of abstentions ---------------------------------------------------

has_abstentions <- function(x) !is.null(x$abstained)

# Splits the patterns of the ratings `x`, so that the same raters abstained in all cases of a
# pattern.
split_by_abstention <- function(x) {
  if (!has_abstentions(x)) return(x)
  abstentions <- x$abstained
  core_patterns <- core_patterns_long(
    abstentions$case, abstentions$rater, rep(1L, length(abstentions$case)), list(), length(x$index)
  )
  split_patterns(x, list(.abstained = core_patterns$index))
}

# Lists the raters who abstained in each pattern. `x`: result of split_by_abstention(). Returns:
# * rater: raters of all patterns, pattern after pattern.
# * start: the raters of pattern p are elements start[p] + 1 to start[p + 1] of `rater`.
# * pattern: number of the pattern of each element of `rater`.
abstaining_raters <- function(x) {
  abstentions <- x$abstained
  rater_sets <- split(abstentions$rater, factor(abstentions$case, first_cases(x)))
  list(
    start = c(0L, cumsum(lengths(rater_sets))), rater = as.integer(unlist(rater_sets)),
    pattern = rep.int(seq_along(rater_sets), lengths(rater_sets))
  )
}

drop_abstentions <- function(x) {
  x["abstained"] <- list(NULL)
  x
}

# Returns the total weight of the cases in which each rater (or system) abstained. `n_judges`:
# number of raters or systems.
weight_of_abstentions <- function(x, abstentions = x$abstained, n_judges = n_raters(x)) {
  if (is.null(abstentions)) numeric(n_judges) else
    rowsum_codes(abstentions$rater, weights_of_cases(x)[abstentions$case], n_judges)
}

format_abstentions <- function(x) {
  if (!has_abstentions(x)) return(NULL)
  abstention_weight <- weight_of_abstentions(x)
  has_abstained <- abstention_weight > 0
  reply_weight <- abstention_weight + ratings_of_raters(x)
  abstention_shares <- (abstention_weight / reply_weight)[has_abstained]
  rater_of_pair <- unique(cbind(rating_rater(x), rating_category(x)))[, 1L]
  n_raters_with_one_category <- sum(tabulate(rater_of_pair, n_raters(x))[has_abstained] == 1L)
  paste0(
    "Abstentions: ", sum(has_abstained), " of ", count_noun(n_raters(x), "rater"), ", ",
    format_span(abstention_shares, percent), " of their replies",
    if (n_raters_with_one_category > 0L) sprintf("; %s one category only",
      count_noun(n_raters_with_one_category, "rater gives", "raters give"))
  )
}

# Returns the share of cases that each system answered, among the cases that it answered or
# abstained in. Cases count with their weights. The share is NA for a system without answers and
# abstentions.
answered_case_share <- function(x) ratio(answered_weight(x), answerable_weight(x))

# Returns the total weight of the cases that each system answered. `weight`: weight of each pattern.
answered_weight <- function(x, weight = pattern_weights(x)) {
  colSums((pattern_answers(x) > 0L) * weight)
}

# Returns the total weight of the cases in which each system answered or abstained.
answerable_weight <- function(x) {
  answered_weight(x) + weight_of_abstentions(x, x$silent_systems, n_systems(x))
}

# Returns a note for results that do not use abstentions; NULL without abstentions.
abstain_note <- function(x) if (has_abstentions(x)) "Abstentions count as missing ratings"

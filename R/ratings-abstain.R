# Replies that are no categories: `abstain` of ratings(). Patterns have ratings only; `abstained` is
# a list of `label` and vectors `case` and `rater`, an entry per abstention, by cases and raters.
# `silent_systems` has those of systems, whose numbers are in `rater`.

# `input` with abstentions as missing ratings. `abstained`: for each column a code per row, 1 for a
# label of `abstain`, 2 for an empty cell that is one. `silent`: the same of columns of systems.
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
  found <- list_labels(c(input$columns, input$systems, table["prediction"]))
  abort_argument_if(length(words) > 0L && !any(words %in% found), "abstain",
    "must be labels that raters or systems use.", x = "They use {.val {found}}.")
  relabel_input(input, words, rep(NA, length(words)))
}

check_takes_abstain <- function(input, options) {
  words <- setdiff(as_label(options$abstain), NA)
  declared <- list(
    categories = c(as_label(options$categories), names(options$categories)),
    truth = as_label(unfactor(input$truth[[1L]]))
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

with_abstentions <- function(x, input) {
  if (is.null(input$abstained)) return(x)
  x$abstained <- new_abstentions(input$abstained, place_of_ratings(input, x), input)
  if (!is.null(x$abstained)) check_one_reply(x)
  table <- input$system_table
  place <- if (is.null(table)) {
    expand.grid(case = seq_len(input$rows), rater = seq_along(x$systems))
  } else {
    list(case = match(table$case, x$cases), rater = match(as_label(table$system), x$systems))
  }
  # An empty cell of a system is a case that it was not asked.
  silent <- lapply(c(input$silent, table["silent"]), function(code) code == 1L)
  x$silent_systems <- new_abstentions(silent, place, input)
  x
}

# The case and the rater of each value of the columns of ratings.
place_of_ratings <- function(input, x) {
  if (!input$layout$by_rating) {
    return(expand.grid(case = seq_len(input$rows), rater = seq_along(input$columns)))
  }
  list(case = match(input$case, x$cases), rater = match(as_label(input$rater), x$raters))
}

# NULL where there is none.
new_abstentions <- function(codes, place, input) {
  at <- which(unlist(codes, use.names = FALSE) > 0L)
  at <- at[order(place$case[at], place$rater[at])]
  if (length(at) == 0L) return(NULL)
  list(label = input$abstain, case = place$case[at], rater = place$rater[at])
}

# As if abstentions were ratings.
check_one_reply <- function(x) {
  given <- Map(c, unfold_ratings(x), x$abstained[c("case", "rater", "rater")])
  core <- core_patterns_long(
    given$row, given$rater, given$category, list(), length(x$index)
  )
  check_repeats(with_patterns(x, core))
}

# ---- Their use ----------------------------------------------------------------------------------

has_abstentions <- function(x) !is.null(x$abstained)

# Patterns whose cases also have the same abstentions.
split_by_abstention <- function(x) {
  if (!has_abstentions(x)) return(x)
  silent <- x$abstained
  same <- core_patterns_long(silent$case, silent$rater, rep(1L, length(silent$case)), list(),
    length(x$index))$index
  split_patterns(x, list(.abstained = same))
}

# Who abstained in each pattern that was split by it, like the ratings of patterns: `start`, and
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

# Total weight of the abstentions of each of `n` raters, or systems.
weight_of_abstentions <- function(x, silent = x$abstained, n = n_raters(x)) {
  rowsum_codes(silent$rater, weights_of_cases(x)[silent$case], n)
}

format_abstentions <- function(x) {
  if (!has_abstentions(x)) return(NULL)
  silent <- weight_of_abstentions(x)
  some <- silent > 0
  share <- percent(range((silent / (silent + ratings_of_raters(x)))[some]))
  given <- unique(cbind(rating_rater(x), rating_category(x)))
  one <- sum(tabulate(given[, 1L], n_raters(x))[some] == 1L)
  paste0(
    "Abstentions: ", sum(some), " of ", count_noun(n_raters(x), "rater"), ", ",
    paste(unique(share), collapse = " to "), " of their replies",
    if (one > 0L) paste0("; ", count_noun(one, "rater"), if (one > 1L) " give" else " gives",
      " one category only")
  )
}

# The share of the cases that each system was asked and that it answered; NA for one without any.
share_answered <- function(x) {
  given <- colSums((pattern_answers(x) > 0L) * pattern_weights(x))
  ratio(given, given + weight_of_abstentions(x, x$silent_systems, n_systems(x)))
}

# For results that do not use abstentions.
abstain_note <- function(x) {
  if (has_abstentions(x)) "Abstentions count as missing ratings"
}

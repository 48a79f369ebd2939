# How sure raters say they are: `confidence` of ratings(). Kept by case and rater beside the
# patterns, which know nothing of it. A list of `levels`, labels in their order, and vectors `case`,
# `rater` and `code`, an entry per rating of which a level is known, by cases and raters.

max_levels <- 5L

# Not those of cut(), whose limits are sums: .6 would be below 3 * .2.
fifths <- c("[0, 0.2)" = 0, "[0.2, 0.4)" = 0.2, "[0.4, 0.6)" = 0.4, "[0.6, 0.8)" = 0.6,
  "[0.8, 1]" = 0.8)

# `x` with `confidence`, if `input` has columns of it.
with_confidence <- function(x, input) {
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
  code <- unlist(coded$codes, use.names = FALSE)
  place <- place_of_ratings(input, x)
  at <- which(!is.na(code))
  at <- at[order(place$case[at], place$rater[at])]
  x$confidence <- list(
    levels = coded$levels, case = place$case[at], rater = place$rater[at], code = code[at]
  )
  x
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

# What all columns say, in the same levels: `levels`, and `codes`, an integer vector for each.
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
  given <- lapply(given, function(v) {
    switch(kind, ordered = v, logical = factor(v, c(FALSE, TRUE)),
      numeric = factor(names(fifths)[findInterval(v, fifths)], names(fifths)))
  })
  columns[!empty] <- lapply(given, as.integer)
  columns[empty] <- lapply(columns[empty], function(v) rep(NA_integer_, length(v)))
  list(levels = shared_levels(given), codes = columns)
}

confidence_kind <- function(column) {
  plain <- Find(function(mode) is_plain(column, mode), c("logical", "numeric"))
  if (is.ordered(column)) "ordered" else if (is.factor(column)) "a factor without an order" else
    plain %||% describe(column)
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

# Systems tell how sure they are by scores.
warn_sure_systems <- function(systems) {
  warn_if(systems, "confidence",
    "{.arg confidence} is of raters; that of {.val {systems}}, which {cli::qty(length(systems))}
        {?is a system/are systems}, is not used.",
    i = "What systems say in numbers are {.arg scores}.", systems = systems)
}

# ---- Its use -------------------------------------------------------------------------------------

# The level of ratings of these cases by these raters, 0 where none is known.
level_of_ratings <- function(x, case, rater) {
  stated <- x$confidence
  raters <- n_raters(x)
  at <- match((case - 1) * raters + rater, (stated$case - 1) * raters + stated$rater)
  replace(stated$code[at], is.na(at), 0L)
}

# Entries of some cases, by their place, and raters, by their new number, 0 for none: by cases and
# raters. A case may be kept several times.
subset_entries <- function(entries, cases, rater) {
  entries <- lapply(entries, `[`, order(entries$case))
  lengths <- tabulate(entries$case, max(cases, entries$case, 0L))
  at <- sequence(lengths[cases], from = cumsum(lengths)[cases] - lengths[cases] + 1L)
  entries <- lapply(entries, `[`, at)
  entries$case <- rep.int(seq_along(cases), lengths[cases])
  entries$rater <- rater[entries$rater]
  kept <- order(entries$case, entries$rater)
  lapply(entries, `[`, kept[entries$rater[kept] > 0L])
}

# Of confidence or abstentions; NULL where none is left, unless it may be `empty`.
subset_stated <- function(stated, cases, rater = seq_len(max(stated$rater)), empty = FALSE) {
  if (is.null(stated)) return(NULL)
  each <- intersect(c("case", "rater", "code"), names(stated))
  stated[each] <- subset_entries(stated[each], cases, rater)
  if (length(stated$case) > 0L || empty) stated
}

format_confidence <- function(x) {
  stated <- x$confidence
  if (is.null(stated)) return(NULL)
  each <- tabulate(stated$code, length(stated$levels))
  without <- n_ratings(x) - sum(each)
  paste0(
    "Confidence: ", paste0(stated$levels, " (", percent(each / sum(each)), ")", collapse = " < "),
    if (without > 0) paste0("; ", count_noun(without, "rating"), " without")
  )
}

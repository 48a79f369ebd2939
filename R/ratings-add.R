# More ratings of the same cases or of others, by the same raters or others, put to those that there
# are. What costs time is what is new: patterns of other cases stay as they are.

add_ratings <- function(x, new) {
  check_can_grow(x)
  new <- new_ratings_long(new, x)
  x <- with_new_names(x, new)
  case <- match(new$cases, as_label(x$cases))
  before <- pattern_of_case(x)[case] # NA for new cases
  old <- which(!is.na(before))
  at <- ratings_in(x, before[old])
  answers <- joined_answers(x, new, before)
  core <- core_patterns_long(
    c(rep.int(old, pattern_lengths(x)[before[old]]), new$row),
    c(rating_rater(x)[at], match(new$rater, x$raters)),
    c(rating_category(x)[at], match(new$rating, x$categories)),
    split_columns(answers, x$systems), length(case)
  )
  grown <- with_patterns(x, core)
  if (x$repeats == "error") check_new_repeats(grown, new$cases)
  x$index[case] <- n_patterns(x) + grown$index
  x$patterns <- bind_patterns(x$patterns, grown$patterns)
  join_patterns(x)
}

check_can_grow <- function(x) {
  if (in_database(x)) abort_no_cases("{.arg new} names cases")
  why <- why_fixed(x)
  if (is.null(why) && !is.null(x$voted)) {
    why <- "Groups of raters, or reruns, have become one vote each."
  }
  if (!is.null(why)) abort_not_added("Ratings of the fit cannot be added to.", why)
}

# Why ratings can be neither added to nor added; NULL if they can.
why_fixed <- function(x) {
  why_unnamed(x) %||% if (!is.null(x$weights)) {
    "They have weights."
  } else if (!is.null(x$covariates)) {
    "Their cases have covariates, which others would lack."
  } else if (!is.null(x$confidence)) {
    "They have a confidence, which others would lack."
  }
}

abort_not_added <- function(message, why) {
  abort_argument("new", message, x = why,
    i = "Make {.fun ratings} of all of them, and use {.code update(x = )}.")
}

# `row`, `rater` and `rating` of each rating, as labels but for the row, which is the place of its
# case in `cases`; `ids`, the cases as they were given; `answers`, cases x systems, in labels; and
# `truth`, NULL or a label for each case.
new_ratings_long <- function(new, x) {
  if (is.data.frame(new) && all(c("case", "rater", "rating") %in% names(new))) return(new_rows(new))
  new <- as_ratings(new, categories = x$categories, arg = "new")
  check_new_ratings(new)
  pattern <- pattern_of_case(new)
  at <- ratings_in(new, pattern)
  answers <- case_answers(new)
  list(
    row = rep.int(seq_along(pattern), pattern_lengths(new)[pattern]),
    rater = new$raters[rating_rater(new)[at]], rating = new$categories[rating_category(new)[at]],
    cases = as_label(new$cases), ids = new$cases,
    answers = array(
      c(NA, new$categories)[answers + 1L], dim(answers), dimnames = list(NULL, new$systems)
    ),
    truth = if (!is.null(new$truth)) new$categories[new$truth$category]
  )
}

check_new_ratings <- function(new) {
  if (in_database(new)) abort_no_cases("New ratings need their cases")
  why <- why_fixed(new)
  if (is.null(why) && (!is.null(new$rater_groups) || has_reruns(new))) {
    why <- "They have groups of raters, or reruns."
  }
  if (!is.null(why)) abort_not_added("{.arg new} cannot be added.", why)
}

# A data frame with a row per rating; a single rater is enough.
new_rows <- function(new) {
  further <- setdiff(names(new), c("case", "rater", "rating"))
  abort_if(length(further) > 0L, "columns",
    "{.arg new} must have columns {.val case}, {.val rater} and {.val rating}, and no others.",
    x = "It has {.val {further}}.", column = further)
  check_identifiers(new$case, "case")
  check_identifiers(new$rater, "rater")
  for (column in names(new)) check_text(new[[column]], column)
  check_labels(new$rating, "rating")
  new <- new[!is.na(new$rating), ]
  label <- as_label(new$case)
  cases <- unique(label)
  list(
    row = match(label, cases), rater = as_label(new$rater), rating = as_label(new$rating),
    cases = cases, ids = unique(if (is.factor(new$case)) label else new$case),
    answers = matrix(character(), length(cases), 0L), truth = NULL
  )
}

# `x` with a place for each case, rater and category that is new.
with_new_names <- function(x, new) {
  strange <- setdiff(colnames(new$answers), x$systems)
  abort_if(length(strange) > 0L, "system", "{.arg new} must have systems of the fit, or none.",
    x = "{.val {strange}} {?is/are} not among them.", system = strange)
  labels <- unique(c(new$rating, new$answers[!is.na(new$answers)]))
  categories <- c(x$categories, sort(setdiff(labels, x$categories)))
  if (x$ordered && length(categories) > length(x$categories)) {
    strange <- setdiff(categories, x$categories)
    abort_fallible("category", "Ordered categories must all be known from the start.",
      x = "{.val {strange}} {?is/are} not among {.val {x$categories}}.", row = NA_integer_,
      column = NA_character_, found = strange)
  }
  x <- recode_ratings(x, seq_along(x$categories), categories)
  raters <- c(x$raters, sort(setdiff(unique(new$rater), x$raters)))
  x <- recode_raters(x, seq_along(x$raters), raters)
  known <- as_label(x$cases)
  more <- which(!new$cases %in% known)
  x$cases <- if (identical(class(x$cases), class(new$ids))) {
    c(x$cases, new$ids[more])
  } else {
    c(known, new$cases[more])
  }
  add_truth(x, new, c(seq_along(known), rep(NA_integer_, length(more))))
}

# `cases`: the former place of each case.
add_truth <- function(x, new, cases) {
  if (is.null(x$truth) && is.null(new$truth)) return(x)
  x$truth <- subset_truth(x$truth %||% list(
    category = NA_integer_, kept = TRUE,
    expected = stats::setNames(rep(NA_real_, length(x$systems)), x$systems)
  ), cases)
  at <- match(new$cases, as_label(x$cases))
  known <- which(!is.na(new$truth) & is.na(x$truth$category[at]))
  x$truth$category[at[known]] <- match(new$truth[known], x$categories)
  x
}

# Codes of what systems say of these cases, NA where they say nothing.
joined_answers <- function(x, new, before) {
  old <- pattern_answers(x)[before, , drop = FALSE]
  old[old %in% 0L] <- NA
  stated <- array(match(new$answers, x$categories), dim(new$answers))
  for (s in seq_len(ncol(stated))) {
    column <- match(colnames(new$answers)[[s]], x$systems)
    off <- which(old[, column] != stated[, s])
    abort_if(length(off) > 0L, "system", "A system has one answer per case.",
      x = "{.val {x$systems[[column]]}} now has another answer in {count_noun(length(off), 'case')},
          such as {.val {new$cases[[off[[1L]]]]}}.", system = x$systems[[column]])
    old[, column] <- ifelse(is.na(old[, column]), stated[, s], old[, column])
  }
  old
}

check_new_repeats <- function(grown, cases) {
  grown$cases <- cases
  check_repeats(grown)
}

bind_patterns <- function(first, then) {
  list(
    start = c(first$start, length(first$rater) + then$start[-1L]),
    rater = c(first$rater, then$rater), category = c(first$category, then$category),
    answer = rbind(first$answer, then$answer), raters = then$raters,
    categories = then$categories
  )
}

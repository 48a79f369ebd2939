# More ratings of the same cases or of others, by the same raters or others, put to those that there
# are.

add_ratings <- function(x, new) {
  if (in_database(x)) abort_no_cases("{.arg new} names cases")
  check_can_grow(x, "Ratings of the fit cannot be added to.",
    c("Groups of raters, or reruns, have become one vote each." = !is.null(x$voted)))
  new <- new_ratings_long(with_case(new, names(x$keys)), x)
  x <- with_new_names(x, new)
  old <- unfold_ratings(x)
  case <- match(new$cases, as_label(x$cases))
  core <- core_patterns_long(
    c(old$row, case[new$row]), c(old$rater, match(new$rater, x$raters)),
    c(old$category, match(new$rating, x$categories)), joined_answers(x, new, case), length(x$cases)
  )
  x <- with_patterns(x, core)
  if (x$repeats == "error") check_repeats(x)
  x
}

# Some ratings can be neither added to nor added. `also`: reasons, and whether they hold.
check_can_grow <- function(x, message, also) {
  reasons <- c(
    "They have weights." = !is.null(x$weights),
    "Their cases have covariates, which others would lack." = !is.null(x$covariates),
    "They have a confidence, which others would lack." = !is.null(x$confidence),
    "They have abstentions." = has_abstentions(x) || !is.null(x$silent_systems), also
  )
  why <- c(why_unnamed(x), names(which(reasons)))
  abort_argument_if(why, "new", message, x = why[1L],
    i = "Make {.fun ratings} of all of them, and use {.code update(x = )}.")
}

# `row`, `rater` and `rating` of each rating, as labels but for the row, which is the place of its
# case in `cases`; `ids`, the cases as they were given; `answers`, cases x systems, in labels; and
# `truth`, NULL or a label for each case.
new_ratings_long <- function(new, x) {
  if (is.data.frame(new) && all(c("case", "rater", "rating") %in% names(new))) return(new_rows(new))
  new <- as_ratings(new, categories = x$categories, arg = "new")
  if (in_database(new)) abort_no_cases("New ratings need their cases")
  check_can_grow(new, "{.arg new} cannot be added.", c(
    "They have groups of raters, or reruns." = !is.null(new$rater_groups) || has_reruns(new)
  ))
  given <- unfold_ratings(new)
  list(
    row = given$row, rater = new$raters[given$rater], rating = new$categories[given$category],
    cases = as_label(new$cases), ids = new$cases, answers = lapply(
      split_columns(case_answers(new), new$systems), function(code) c(NA, new$categories)[code + 1L]
    ),
    truth = if (!is.null(new$truth)) new$categories[new$truth$category]
  )
}

# A data frame with a row per rating; a single rater is enough.
new_rows <- function(new) {
  further <- setdiff(names(new), c("case", "rater", "rating"))
  abort_if(further, "columns",
    "{.arg new} must have columns {.val case}, {.val rater} and {.val rating}, and no others.",
    x = "It has {.val {further}}.", column = further)
  check_identifiers(new$case, "case")
  check_identifiers(new$rater, "rater")
  for (column in names(new)) check_text(new[[column]], column)
  check_labels(new$rating, "rating")
  new <- drop_missing(new, "rating")
  ids <- unique(unfactor(new$case))
  list(
    row = match(unfactor(new$case), ids), rater = as_label(new$rater),
    rating = as_label(new$rating), cases = as_label(ids), ids = ids, answers = list()
  )
}

# `x` with a place for each case, rater and category that is new.
with_new_names <- function(x, new) {
  strange <- setdiff(names(new$answers), x$systems)
  abort_if(strange, "system", "{.arg new} must have systems of the fit, or none.",
    x = "{.val {strange}} {?is/are} not among them.", system = strange)
  strange <- sort_strings(setdiff(stats::na.omit(c(new$rating, unlist(new$answers))), x$categories))
  abort_if(x$ordered && length(strange) > 0L, "category",
    "Ordered categories must all be known from the start.",
    x = "{.val {strange}} {?is/are} not among {.val {x$categories}}.", row = NA_integer_,
    column = NA_character_, found = strange)
  x <- recode_ratings(x, seq_along(x$categories), c(x$categories, strange))
  others <- sort_strings(setdiff(new$rater, x$raters))
  x <- recode_raters(x, seq_along(x$raters), c(x$raters, others))
  known <- as_label(x$cases)
  more <- which(!new$cases %in% known)
  alike <- identical(class(x$cases), class(new$ids))
  if (length(more) > 0L) x$rows <- "ratings"
  x$cases <- if (alike) c(x$cases, new$ids[more]) else c(known, new$cases[more])
  if (is.null(x$truth) && is.null(new$truth)) return(x)
  x$truth <- subset_truth(
    x$truth %||% list(category = NA_integer_, kept = TRUE, expected = none_expected(x$systems)),
    c(seq_along(known), rep(NA_integer_, length(more)))
  )
  at <- match(new$cases, as_label(x$cases))
  stated <- which(!is.na(new$truth) & is.na(x$truth$category[at]))
  x$truth$category[at[stated]] <- match(new$truth[stated], x$categories)
  x
}

# Codes of what each system says of all cases, NA where it says nothing; `case`: the places of new
# ones.
joined_answers <- function(x, new, case) {
  answers <- lapply(split_columns(case_answers(x), x$systems), function(code) {
    replace(code, code == 0L, NA)[seq_along(x$cases)] # new cases have none yet
  })
  for (system in names(new$answers)) {
    stated <- match(new$answers[[system]], x$categories)
    before <- answers[[system]][case]
    off <- which(before != stated)
    abort_if(off, "system", "A system has one answer per case.",
      x = "{.val {system}} now has another answer in {count_noun(length(off), 'case')}, such as
          {.val {new$cases[[off[[1L]]]]}}.", system = system)
    answers[[system]][case] <- ifelse(is.na(before), stated, before)
  }
  unname(answers)
}

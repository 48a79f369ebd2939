# Counts of ratings, which do not show which rater gave which rating: their raters are slots with
# numbers, as many as a case has ratings. What depends on who rated asks here.

has_counts <- function(x) inherits(x, "ratings_counts")

# The raters that are known by name.
named_raters <- function(x) if (has_counts(x)) character() else x$raters

# The number of each rater among those that the ratings distinguish.
rater_identity <- function(x) if (has_counts(x)) rep(1L, n_raters(x)) else seq_along(x$raters)

# What is known of named raters alone; NA for counts.
of_named_raters <- function(x, value) if (has_counts(x)) NA_integer_ else value

# What counts cannot show; NULL for other ratings.
why_unnamed <- function(x) {
  if (has_counts(x)) "Counts of ratings do not show which rater gave which rating."
}

# `message` says what needs the rater of each rating.
check_named_raters <- function(x, arg, message, i = "Give each rating with its rater, in wide or
                                 long data; see {.fun ratings}.") {
  abort_argument_if(has_counts(x), arg, message, x = why_unnamed(x), i = i)
}

# `message` says what needs one answer of each rater on a case.
check_single_answers <- function(x, arg, message) {
  why <- why_unnamed(x) %||% if (has_repeats(x)) "Raters of {.arg x} repeat their ratings."
  abort_argument_if(!is.null(why), arg, message, x = why)
}

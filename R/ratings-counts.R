# Counts of ratings, which do not show which rater gave which rating: their raters are slots with
# numbers, as many as a case has ratings. What depends on who rated asks here.

has_counts <- function(x) inherits(x, "ratings_counts")

# The raters that are known by name.
named_raters <- function(x) UseMethod("named_raters")
named_raters.default <- function(x) x$raters
named_raters.ratings_counts <- function(x) character() # nolint: object_name.

# The number of each rater among those that the ratings distinguish.
rater_identity <- function(x) UseMethod("rater_identity")
rater_identity.default <- function(x) seq_along(x$raters)
rater_identity.ratings_counts <- function(x) rep(1L, length(x$raters)) # nolint: object_name.

# The raters that are left, by their numbers; `core` has the patterns that are left.
kept_raters <- function(x, keep, core) UseMethod("kept_raters")
kept_raters.default <- function(x, keep, core) x$raters[keep]
kept_raters.ratings_counts <- function(x, keep, core) { # nolint: object_name.
  as.character(seq_len(max(pattern_lengths(core))))
}

format_number_of_raters <- function(x) UseMethod("format_number_of_raters")
format_number_of_raters.default <- function(x) count_noun(length(x$raters), "rater")
format_number_of_raters.ratings_counts <- function(x) { # nolint: object_name.
  paste("up to", length(x$raters), "exchangeable raters")
}

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

# What agreement() and the functions of single measures compare.

# Counts of ratings: columns of x, or a matrix or data frame of their own.
counts_ratings <- function(x, counts) {
  if (!missing(x)) return(as_ratings(x, counts = !!counts))
  counts <- rlang::eval_tidy(counts)
  abort_argument_if(!is.data.frame(counts) && !is.matrix(counts), "counts",
    "must be a matrix or data frame of cases x categories, or columns of {.arg x}.", not = counts)
  as_ratings(counts, counts = tidyselect::everything())
}

# What is compared: the judges (raters, and systems if these count as raters) and the categories.
# Fields: x, weight and cases (of each pattern), counted (are weights counts?), rater and system
# (number of the judge of each, 0 if left out), judges, names, category (new number of each),
# labels, binary (a category against the others), repeaters (raters who rated a case
# more than once), repeated (is one of them among the judges?).
new_view <- function(x, systems = FALSE) {
  raters <- seq_along(x$raters)
  names <- c(x$raters, if (systems) x$systems)
  repeaters <- unique(repeated_ratings(x$patterns)$rater)
  list(
    x = x, weight = pattern_weights(x), cases = pattern_cases(x),
    counted = weights_are_counts(x), rater = raters,
    system = (length(raters) + seq_along(x$systems)) * systems, judges = length(names),
    names = names, category = seq_along(x$categories), labels = x$categories, binary = FALSE,
    repeaters = repeaters, repeated = length(repeaters) > 0L
  )
}

# One pair of its judges.
view_pair <- function(view, pair) {
  view$rater <- match(view$rater, pair, nomatch = 0L)
  view$system <- match(view$system, pair, nomatch = 0L)
  view$judges <- 2L
  view$names <- view$names[pair]
  view$repeated <- any(view$rater[view$repeaters] > 0L)
  view
}

# Each category against the others.
views_of_categories <- function(view) {
  view$binary <- TRUE
  lapply(seq_along(view$labels), function(k) {
    label <- view$labels[[k]]
    view$category <- ifelse(view$category == k, 1L, 2L)
    view$labels <- c(label, if (label == "others") "all others" else "others")
    view
  })
}

selection_of <- function(view, measure) {
  place <- seq_along(view$labels)
  if (measure$scale == "ordinal") place <- as.integer(rank(label_values(view$labels)))
  list(
    rater = view$rater, system = view$system, judges = view$judges,
    category = place[view$category],
    categories = length(view$labels), exchangeable = measure$form == "counts",
    least = measure$least
  )
}

# Cases have different numbers of ratings, so that it matters what agreement is pooled over.
unequal_ratings <- function(view) {
  x <- view$x
  rated <- tabulate(
    rating_pattern(x)[view$rater[rating_rater(x)] > 0L], n_patterns(x)
  ) + rowSums(pattern_answers(x)[, view$system > 0L, drop = FALSE] > 0L)
  length(unique(rated[view$weight > 0 & rated > 1L])) > 1L
}

# What agreement() and the functions of single measures accept, and what of it is compared.

ratings_of <- function(x, call, arg = "x") {
  if (is_ratings(x)) {
    x
  } else if (inherits(x, "table")) {
    table_ratings(x, arg, call)
  } else if (is.data.frame(x)) {
    ratings(x, raters = tidyselect::everything())
  } else if (is.matrix(x)) {
    ratings(x)
  } else {
    abort_fallible("argument", c(
      "{.arg {arg}} must be ratings, a data frame or matrix of cases x raters, or an agreement
       matrix of class {.cls table}.",
      "x" = "It is {describe(x)}."
    ), arg = arg, call = call)
  }
}

# An agreement matrix as ratings: a row per cell, weighted by its count.
table_ratings <- function(x, arg, call) {
  if (length(dim(x)) != 2L || nrow(x) != ncol(x) || !identical(rownames(x), colnames(x))) {
    abort_fallible("table", c(
      "An agreement matrix must have the same categories in rows and columns.",
      "x" = "{.arg {arg}} is {paste(dim(x), collapse = ' x ')}.",
      "i" = "Give both raters the same levels: {.code table(factor(a, levels), factor(b, levels))}.
             A matrix of cases x raters must not be a {.cls table}."
    ), call = call)
  }
  if (!is.numeric(x) || !all(is.finite(x)) || any(x < 0) || sum(x) == 0) {
    abort_fallible("table", c(
      "The cells of an agreement matrix must be finite numbers of at least zero, not all zero.",
      "i" = "Look at {.arg {arg}}."
    ), call = call)
  }
  labels <- rownames(x) %||% as.character(seq_len(nrow(x)))
  cells <- expand.grid(rater1 = labels, rater2 = labels, stringsAsFactors = FALSE)
  cells$weight <- as.vector(unclass(x))
  out <- ratings(cells, raters = 1:2, weights = "weight", categories = labels)
  names <- names(dimnames(x))
  if (length(names) == 2L && all(nzchar(names)) && anyDuplicated(names) == 0L) out$raters <- names
  out
}

# Counts of ratings: columns of x, or a matrix or data frame of their own.
counts_ratings <- function(x, counts, call) {
  if (!missing(x)) {
    return(ratings(x, counts = !!counts))
  }
  counts <- rlang::eval_tidy(counts)
  if (!is.data.frame(counts) && !is.matrix(counts)) {
    abort_fallible("argument", c(
      "{.arg counts} must be a matrix or data frame of cases x categories, or columns of {.arg x}.",
      "x" = "It is {describe(counts)}."
    ), arg = "counts", call = call)
  }
  counts <- as.data.frame(counts)
  ratings(counts, counts = tidyselect::everything())
}

# What is compared: the units (raters, and systems if these count as raters) and the categories.
# Fields: x, weight and cases (of each pattern), counted (are weights counts?), rater and system
# (number of the unit of each, 0 if left out), units, names, category (new number of each), labels,
# binary (a category against the others), exchangeable, repeated.
new_view <- function(x, systems = FALSE) {
  raters <- length(x$raters)
  list(
    x = x, weight = pattern_weights(x), cases = pattern_cases(x),
    counted = weights_are_counts(x), rater = seq_len(raters),
    system = if (systems) raters + seq_along(x$systems) else integer(length(x$systems)),
    units = raters + if (systems) length(x$systems) else 0L,
    names = c(x$raters, if (systems) x$systems),
    category = seq_along(x$categories), labels = x$categories, binary = FALSE,
    exchangeable = x$exchangeable, repeated = nrow(repeated_ratings(x$patterns)) > 0L
  )
}

# One pair of its units.
view_pair <- function(view, pair) {
  view$rater <- match(view$rater, pair, nomatch = 0L)
  view$system <- match(view$system, pair, nomatch = 0L)
  view$units <- 2L
  view$names <- view$names[pair]
  view
}

# One category against the others.
view_category <- function(view, k) {
  view$category <- ifelse(view$category == k, 1L, 2L)
  view$labels <- c(view$labels[[k]], "others")
  view$binary <- TRUE
  view
}

selection_of <- function(view, measure) {
  place <- seq_along(view$labels)
  if (measure$scale == "ordinal") place <- as.integer(rank(label_values(view$labels)))
  list(
    rater = view$rater, system = view$system, units = view$units,
    category = place[view$category],
    categories = length(view$labels), exchangeable = measure$form == "counts",
    least = measure$least
  )
}

# Cases have different numbers of ratings, so that it matters what agreement is pooled over.
unequal_ratings <- function(view) {
  x <- view$x
  rated <- tabulate(
    rating_pattern(x$patterns)[view$rater[x$patterns$rater] > 0L], length(x$patterns$start) - 1L
  ) + rowSums(x$patterns$answer[, view$system > 0L, drop = FALSE] > 0L)
  length(unique(rated[view$weight > 0 & rated > 1L])) > 1L
}

# Weights of pairs of categories: what an answer counts that is not the same but near.

scale_names <- c(
  "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
)

# Of none, and what they are called, as users gave them.
unweighted <- scale_names[[1L]]

name_of_weights <- function(weights) {
  if (is.null(weights)) unweighted else if (is.character(weights)) weights[[1L]] else "own"
}

check_scale_weights <- function(weights, labels) {
  if (is.null(weights)) return(NULL)
  if (is.character(weights)) {
    name <- check_choice(weights, scale_names, "scale_weights")
    return(scale_matrix(name, labels))
  }
  n <- length(labels)
  ok <- is.matrix(weights) && is.numeric(weights) && all(dim(weights) == n) &&
    all(is.finite(weights)) && all(weights <= 1) && all(diag(weights) == 1) &&
    isSymmetric(unname(weights))
  abort_argument_if(!ok, "scale_weights",
    "must be one of {.or {.val {scale_names}}}, or a symmetric {n} x {n} matrix of agreement
        weights: 1 on the diagonal, nowhere more.", not = weights,
    i = if (is.numeric(weights) && is.matrix(weights) && all(diag(weights) %in% 0)) "Are these
        weights of disagreement? Give {.code 1 - weights / max(weights)}.")
  for (side in seq_along(dimnames(weights))) {
    named <- dimnames(weights)[[side]]
    abort_argument_if(!is.null(named) && !identical(named, labels), "scale_weights",
      "must have the categories in their order.",
      x = "Its {c('rows', 'columns')[[side]]} are {.val {named}}, the categories {.val {labels}}.")
  }
  unname(weights)
}

# What categories are worth: their labels if these are numbers that differ, otherwise positions.
label_values <- function(labels) {
  x <- suppressWarnings(as.numeric(labels))
  if (anyNA(x) || anyDuplicated(x) > 0L) seq_along(labels) else x
}

# Distances of category values, divided by the largest.
scale_matrix <- function(name, labels) {
  n <- length(labels)
  x <- label_values(labels)
  abort_argument_if(name == "ratio" && any(x < 0), "scale_weights",
    "A ratio scale has no negative values.",
    x = "Among the categories is {.val {labels[x < 0][[1L]]}}.")
  difference <- abs(outer(x, x, `-`))
  total <- outer(x, x, `+`)
  distance <- switch(name,
    identity = 1 - diag(n),
    linear = difference,
    quadratic = difference^2,
    ordinal = choose(abs(outer(rank(x), rank(x), `-`)) + 1, 2),
    radical = sqrt(difference),
    ratio = (difference / total)^2,
    circular = sin(pi * difference / (max(x) - min(x) + 1))^2,
    bipolar = difference^2 / ((total - 2 * min(x)) * (2 * max(x) - total))
  )
  diag(distance) <- 0 # also where it is 0 / 0
  1 - distance / max(distance)
}

# Registry of agreement measures: those of the package (agreement-measures.R) and those that users
# register, and the check which measures suit which ratings.

all_measures <- function() c(built_in_measures, registered("measure"))

# Titles of measures, unique and with the name of their scale weights. Names are ids.
measure_titles <- function(ids, scale_weights = unweighted) {
  weighted <- scale_weights != unweighted
  known <- all_measures()
  ids <- unique(as.character(ids))
  titles <- vapply(ids, function(id) {
    known[[id]][[if (weighted) "weighted" else "title"]] %||% id
  }, "")
  if (weighted) titles[] <- paste0(titles, ", ", scale_weights, " weights")
  shared <- titles %in% titles[duplicated(titles)]
  titles[shared] <- paste0(titles[shared], " (", ids[shared], ")")
  titles
}

# Measures with the given ids or, if ids is NULL, those that suit the data. A measure may be
# undefined in some views, but not in all.
find_measures <- function(ids, views, settings) {
  known <- all_measures()
  misfit_of_all <- function(measure) {
    for (view in views) {
      why <- misfit(measure, view, settings)
      if (is.null(why)) return(NULL)
    }
    why
  }
  if (is.null(ids)) {
    view <- views[[1L]]
    shown <- c(
      "always", if (view$judges == 2L) "two" else "many",
      if (view$binary) "category" else if (view$x$ordered) "ordered"
    )
    defaults <- Filter(function(m) {
      all(m$default %in% shown) && is.null(misfit_of_all(m))
    }, known)
    ordered <- vapply(defaults, function(m) "ordered" %in% m$default, NA)
    if (length(defaults) > 0L) return(defaults[order(!ordered)])
    ids <- "percent_agreement"
  }
  measures <- find_records("measure", ids, known)
  for (measure in measures) {
    why <- misfit_of_all(measure)
    # Without an order, the measure is NA if others were requested as well.
    if (length(measures) > 1L && "order" %in% names(why)) next
    abort_if(why, "measure",
      paste0("{.val {measure$id}} is not defined here: ", why[[1L]]), i = why[-1L],
      measure = measure$id)
  }
  measures
}

# Reason why a measure is not defined for these ratings, and a hint; NULL if it is defined.
misfit <- function(measure, view, settings) {
  if (measure$raters == 2 && view$judges != 2L) {
    c(
      paste0("it compares two raters, and there are ", view$judges, "."),
      "Use {.code agreement(pairwise = TRUE)}, take two raters with {.code x[, c(\"a\", \"b\")]}, or
       choose a measure for many raters, such as {.val fleiss_kappa}."
    )
  } else if (measure$form != "counts" && has_counts(view$x)) {
    c(
      "it needs identified raters, and there are only counts.",
      "Measures for exchangeable raters are {.val fleiss_kappa}, {.val gwet_ac} and
       {.val krippendorff_alpha}."
    )
  } else if (!measure$repeats && view$repeated) {
    c(
      "a rater rated a case more than once.",
      "Repeats are no problem for {.val fleiss_kappa}, {.val chance_kappa} and
       {.val gwet_ac}; or keep one rating per rater and case."
    )
  } else if (measure$of_category && !view$binary) {
    c("it belongs to one category.", "Use {.code agreement(by_category = TRUE)}.")
  } else if (measure$scale == "binary" && length(view$labels) != 2L) {
    c(
      paste0("it needs two categories, and there are ", length(view$labels), "."),
      "Use {.code agreement(by_category = TRUE)} for each category against the others."
    )
  } else if (!measure$weights && !is.null(settings$scale_weights)) {
    c("it takes no {.arg scale_weights}.", "{.code measures()$weights} shows which do.")
  } else if (lacks_order(measure, view, settings)) {
    c(
      order = "it needs an order of the categories, and none was declared.",
      "Give a factor whose levels are in order, {.code factor(x, levels = c(\"low\", \"high\"))},
       or {.arg categories} in their order, and {.code ordered = TRUE} in {.fun ratings}."
    )
  }
}

# Distances between categories need an order. Numbers have one, and two categories need none.
lacks_order <- function(measure, view, settings) {
  scaled <- measure$scale %in% c("ordinal", "interval", "ratio") ||
    (measure$weights && settings$scale_name %in% scale_names[-1L])
  scaled && length(view$labels) > 2L && !view$x$ordered &&
    anyNA(suppressWarnings(as.numeric(view$labels)))
}

# Weights of pairs of categories: credit for answers that are near each other.

scale_names <- c(
  "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
)

# Name of the weights if there are none.
unweighted <- scale_names[[1L]]

name_of_weights <- function(weights) {
  if (is.null(weights)) unweighted else if (is.character(weights)) weights[[1L]] else "own"
}

check_scale_weights <- function(weights, labels) {
  if (is.null(weights)) return(NULL)
  if (is.character(weights)) {
    return(scale_matrix(check_choice(weights, scale_names, "scale_weights"), labels))
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
      "must have the categories as names of its rows and columns, in their order.",
      x = "The names of its {c('rows', 'columns')[[side]]} are {.val {named}}. The categories are
          {.val {labels}}.",
      i = "Reorder the rows and columns of the matrix, or drop their names with {.fun unname}.")
  }
  unname(weights)
}

# Values of categories: labels if they are distinct numbers, otherwise positions.
label_values <- function(labels) {
  x <- suppressWarnings(as.numeric(labels))
  if (anyNA(x) || anyDuplicated(x) > 0L) seq_along(labels) else x
}

# Agreement weights: 1 minus distance of category values, divided by the largest distance.
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

# Answers with several labels: each set of labels that occurs is a category, and the weight of two
# sets follows from their overlap.

set_scales <- c("masi", "jaccard", "identity")

# Returns a list: x with one category per answer, and the scale weights. Ratings with single labels
# are not changed.
as_compared <- function(x, scale_weights) {
  if (!has_labels(x)) {
    x <- as_ratings_of_several(x)
    return(list(x = x, scale_weights = check_scale_weights(scale_weights, x$categories)))
  }
  abort_if(!is_string(scale_weights, set_scales), "labels",
    "Answers with several labels need a scale for sets.",
    x = "{.arg scale_weights} is {describe(scale_weights)}.",
    i = "Give one of {.or {.val {set_scales}}}, or ask about one label at a time with
        {.fun single_label}.", arg = "scale_weights")
  check_single_answers(x, "x", "Sets of labels need one answer of each rater on a case.")
  sets <- label_sets(x)
  list(x = sets$x, scale_weights = set_weights(sets$has, scale_weights))
}

# x with a category per set of labels. `has` (sets x labels): is the label in the set? Systems give
# one label each.
label_sets <- function(x) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  labels <- seq_along(x$categories)
  chosen <- unname(lapply(split(entries$label, answer), function(label) sort(label[label > 0L])))
  singles <- if (n_systems(x) > 0L) as.list(labels)
  sets <- unique(c(chosen, singles))
  has <- t(vapply(sets, function(set) labels %in% set, labels > 0L))
  if (!is.null(singles)) x <- recode_answers(x, match(singles, sets))
  names <- vapply(sets, function(set) paste(x$categories[set], collapse = " + "), "")
  names[names == ""] <- "no label"
  answers <- list(
    unit = entries$unit[first], worker = entries$worker[first], label = match(chosen, sets)
  )
  list(x = rebuild(x, answers, make.unique(names)), has = has)
}

# Jaccard's index. MASI multiplies it by 1 if the sets are equal, 2/3 if one contains the other, and
# 1/3 if they only overlap. Two empty sets are equal.
set_weights <- function(has, scale) {
  both <- tcrossprod(has + 0)
  size <- diag(both)
  either <- outer(size, size, `+`) - both
  same <- both == either
  jaccard <- ifelse(same, 1, both / pmax(either, 1))
  part <- both == outer(size, size, pmin)
  switch(scale,
    identity = same + 0, jaccard = jaccard, masi = jaccard * (1 + part + same) / 3
  )
}

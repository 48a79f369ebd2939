# Registry of agreement measures (those of the package, see agreement-measures.R, and those that
# users register), and checks whether a measure is defined for given ratings.

all_measures <- function() c(built_in_measures, registered_records("measure"))

# Returns titles of measures as a vector named by id. They include the name of the scale weights. If
# several measures have the same title, their ids are added.
measure_titles <- function(ids, scale_weights = no_weights_name) {
  has_weights <- scale_weights != no_weights_name
  measures <- all_measures()
  ids <- unique(as.character(ids))
  titles <- map_chr(ids, function(id) {
    measures[[id]][[if (has_weights) "weighted" else "title"]] %||% id
  })
  if (has_weights) titles[] <- paste0(titles, ", ", scale_weights, " weights")
  is_repeated <- titles %in% repeated_values(titles)
  replace(titles, is_repeated, paste0(titles, " (", ids, ")")[is_repeated])
}

# Returns the records of measures. Stops if a measure is undefined in all views.
# * ids: ids of the measures; NULL for measures that suit the data.
# * views: list of compared ratings (see new_judge_view()). It has an element per pair of raters or
#   per category if these are compared separately.
# * settings: list of the user's settings.
find_measures <- function(ids, views, settings) {
  available_measures <- all_measures()
  misfit_in_all_views <- function(measure) {
    for (view in views) {
      misfit_words <- measure_misfit(measure, view, settings)
      if (is.null(misfit_words)) return(NULL)
    }
    misfit_words
  }
  if (is.null(ids)) {
    view <- views[[1L]]
    conditions <- c(
      "always", if (view$judges == 2L) "two" else "many",
      if (view$binary) "category" else if (view$x$ordered) "ordered"
    )
    defaults <- Filter(function(m) {
      all(m$default %in% conditions) && is.null(misfit_in_all_views(m))
    }, available_measures)
    is_for_ordered <- map_lgl(defaults, function(m) "ordered" %in% m$default)
    if (!is_empty(defaults)) return(defaults[order(!is_for_ordered)])
    ids <- "percent_agreement"
  }
  measures <- select_records("measure", ids, available_measures)
  for (measure in measures) {
    misfit_words <- misfit_in_all_views(measure)
    # If several measures were requested, a measure that needs an order of the categories is NA if
    # there is no order. This is not an error.
    if (length(measures) > 1L && "order" %in% names(misfit_words)) next
    abort_if(misfit_words, "measure",
      paste0("{.val {measure$id}} is not defined for these ratings: ", misfit_words[[1L]]),
      i = misfit_words[-1L], measure = measure$id)
  }
  measures
}

# Returns NULL if a measure is defined for the ratings in `view` (see new_judge_view()). Otherwise
# returns two strings: the reason why it is not defined, and a hint.
measure_misfit <- function(measure, view, settings) {
  if (measure$raters == 2 && view$judges != 2L) {
    c(
      sprintf("it compares two raters, and there are %s.", view$judges),
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
      "Use {.val fleiss_kappa}, {.val chance_kappa} or {.val gwet_ac}, or keep one rating per rater
       and case."
    )
  } else if (measure$of_category && !view$binary) {
    c("it describes one category.", "Use {.code agreement(by_category = TRUE)}.")
  } else if (measure$scale == "binary" && length(view$labels) != 2L) {
    c(
      sprintf("it needs two categories, and there are %s.", length(view$labels)),
      "Use {.code agreement(by_category = TRUE)} for each category against the others."
    )
  } else if (!measure$weights && !is.null(settings$scale_weights)) {
    c("it takes no {.arg scale_weights}.", "{.code measures()$weights} shows which measures do.")
  } else if (lacks_order(measure, view, settings)) {
    c(
      order = "it needs an order of the categories, and none was declared.",
      "Give a factor whose levels are in order, {.code factor(x, levels = c(\"low\", \"high\"))},
       or {.arg categories} in their order, and {.code ordered = TRUE} in {.fun ratings}."
    )
  }
}

# Does a measure need an order of the categories that the ratings lack? Measures that use distances
# between categories need an order. Numbers have an order, and two categories need none.
lacks_order <- function(measure, view, settings) {
  (measure$scale %in% c("ordinal", "interval", "ratio") ||
    measure$weights && settings$scale_name %in% scale_names[-1L]) &&
    length(view$labels) > 2L && !view$x$ordered &&
    anyNA(suppressWarnings(as.numeric(view$labels)))
}

# Scale weights: a weight for each pair of categories, from 0 to 1. They give credit for answers
# that are near each other.

scale_names <- c(
  "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
)

# Name of the scale weights if the user gave none.
no_weights_name <- scale_names[[1L]]

# Name of the user's scale weights: `"identity"` without weights, `"own"` for a matrix.
name_of_weights <- function(weights) {
  if (is.null(weights)) no_weights_name else if (is.character(weights)) weights[[1L]] else "own"
}

# Returns the user's scale weights as a matrix (categories x categories), or NULL.
check_scale_weights <- function(weights, labels) {
  if (is.null(weights)) return(NULL)
  if (is.character(weights)) {
    return(scale_matrix(check_choice(weights, scale_names, "scale_weights"), labels))
  }
  n_labels <- length(labels)
  misfit <- why_no_matrix(weights, n_labels) %||%
    if (any(diag(weights) != 1)) "Its diagonal is {shorten(diag(weights))}." else
      if (!isSymmetric(unname(weights))) "It is not symmetric." else
        if (any(weights > 1)) "Its largest number is {max(weights)}."
  abort_argument_if(misfit, "scale_weights",
    "must be one of {.or {.val {scale_names}}}, or a symmetric {n_labels} x {n_labels} matrix of
        agreement weights with 1 on the diagonal and no larger number.", x = misfit,
    i = if (is.numeric(weights) && is.matrix(weights) && all(diag(weights) %in% 0)) "Are these
        weights of disagreement? Give {.code 1 - weights / max(weights)}.")
  for (side in seq_along(dimnames(weights))) {
    given_names <- dimnames(weights)[[side]]
    abort_argument_if(!is.null(given_names) && !identical(given_names, labels), "scale_weights",
      "must have the categories as names of its rows and columns, in their order.",
      x = "The names of its {c('rows', 'columns')[[side]]} are {.val {given_names}}. The categories
          are {.val {labels}}.",
      i = "Reorder the rows and columns of the matrix, or drop their names with {.fun unname}.")
  }
  unname(weights)
}

# Values of categories: their labels if these are distinct numbers, otherwise their positions.
label_values <- function(labels) {
  numbers <- as_numbers(labels)
  if (is.null(numbers) || any_repeated(numbers)) seq_along(labels) else numbers
}

# Matrix of scale weights (categories x categories): 1 minus the distance of two categories divided
# by the largest distance. `name`: an element of `scale_names`.
scale_matrix <- function(name, labels) {
  values <- label_values(labels)
  abort_argument_if(name == "ratio" && any(values < 0), "scale_weights",
    "A ratio scale has no negative values.",
    x = "Category {.val {labels[values < 0][[1L]]}} is negative.")
  difference <- abs(outer(values, values, `-`))
  sum_of_values <- outer(values, values, `+`)
  distance <- switch(name,
    identity = 1 - diag(length(labels)),
    linear = difference,
    quadratic = difference^2,
    ordinal = choose(abs(outer(rank(values), rank(values), `-`)) + 1, 2),
    radical = sqrt(difference),
    ratio = (difference / sum_of_values)^2,
    circular = sin(pi * difference / (max(values) - min(values) + 1))^2,
    bipolar = difference^2 / ((sum_of_values - 2 * min(values)) * (2 * max(values) - sum_of_values))
  )
  diag(distance) <- 0 # some of these formulas give 0 / 0
  1 - distance / max(distance)
}

# In answers with several labels, each set of labels that occurs becomes a category. The scale
# weight of two sets is computed from their overlap.

set_scales <- c("masi", "jaccard", "identity")

# Prepares ratings for measures of agreement. In answers with several labels, each set of labels
# becomes a category. Returns a list:
# * x: ratings with one category per answer. Reruns are merged to one vote per rater and case.
# * scale_weights: a matrix or NULL.
# * labels: the labels of answers.
# `systems`: are systems compared? `sets`: further sets that are categories, see sets_of_answers().
prepare_for_agreement <- function(x, scale_weights, systems = FALSE, arg = "x", sets = list()) {
  if (!has_labels(x)) {
    x <- merge_reruns(as_ratings_of_several(x, arg))
    weights <- check_scale_weights(scale_weights, x$categories)
    return(list(x = x, scale_weights = weights, labels = x$categories))
  }
  abort_if(!is_string(scale_weights, set_scales), "labels",
    "Answers with several labels need a scale for sets.",
    x = "{.arg scale_weights} is {describe(scale_weights)}.",
    i = "Give one of {.or {.val {set_scales}}}, or ask about one label at a time with
        {.fun single_label}.", arg = "scale_weights")
  check_single_answers(x, arg, "Sets of labels need one answer of each rater on a case.")
  entries <- judgements(x)
  chosen_sets <- chosen_labels(entries)
  # The answers of systems are single labels.
  system_sets <- if (systems && n_systems(x) > 0L) as.list(setdiff(pattern_answers(x), 0L))
  sets <- lapply(sets, function(labels) sort(match(labels, x$categories)))
  sets <- unique(c(chosen_sets, system_sets, sets))
  codes <- seq_along(x$categories)
  set_names <- map_chr(sets, function(set) paste(x$categories[set], collapse = " + "))
  set_names[set_names == ""] <- "no label"
  is_first <- !duplicated(answer_number(entries))
  answers <- c(
    lapply(entries[c("unit", "worker")], `[`, is_first), list(label = match(chosen_sets, sets))
  )
  recoded <- if (n_systems(x) > 0L) recode_answers(x, match(as.list(codes), sets)) else x
  has_label <- t(vapply(sets, function(set) codes %in% set, codes > 0L))
  list(
    x = replace_ratings(recoded, answers, make.unique(set_names)),
    scale_weights = label_set_weights(has_label, scale_weights), labels = x$categories
  )
}

# Returns the sets of labels that occur in answers with several labels, as a list of labels. Other
# ratings have none.
sets_of_answers <- function(x) {
  if (!has_labels(x)) return(list())
  lapply(unique(chosen_labels(judgements(x))), function(labels) x$categories[labels])
}

# Returns the codes of the labels of each answer, in increasing order, as a list. `entries`: see
# judgements().
chosen_labels <- function(entries) {
  unname(lapply(split(entries$label, answer_number(entries)), function(code) sort(code[code > 0L])))
}

# Returns scale weights of pairs of label sets: Jaccard's index, or MASI. MASI multiplies Jaccard's
# index by 1 if the sets are equal, by 2/3 if one contains the other, and by 1/3 otherwise. Two
# empty sets are equal. `has` (sets x labels): does the set contain the label?
label_set_weights <- function(has, scale) {
  n_in_both <- tcrossprod(has + 0)
  set_size <- diag(n_in_both)
  n_in_either <- outer(set_size, set_size, `+`) - n_in_both
  is_equal <- n_in_both == n_in_either
  is_subset <- n_in_both == outer(set_size, set_size, pmin)
  jaccard <- ifelse(is_equal, 1, n_in_both / pmax(n_in_either, 1))
  switch(scale,
    identity = is_equal + 0, jaccard = jaccard, masi = jaccard * (1 + is_subset + is_equal) / 3
  )
}

# Is each number of a matrix equal to the largest number of its row?
is_row_maximum <- function(values) values == row_maximum(values)

# Returns the share of cases in which each rater and each system agrees with the plurality (the most
# frequent category) of the other raters. NA for a rater who shares no case with other raters.
plurality_shares <- function(x) {
  compared <- compared_ratings(x)
  by_rater <- function(weight) rowsum_codes(compared$rater, weight, n_raters(x))
  is_plurality <- is_row_maximum(pattern_counts(x))
  credit <- is_plurality / rowSums(is_plurality)
  system_shares <- apply(pattern_answers(x), 2L, function(answer) {
    used_patterns <- which(is_rated_pattern(x) & answer > 0L)
    weight <- pattern_weights(x)[used_patterns]
    sum(weight * credit[cbind(used_patterns, answer[used_patterns])]) / sum(weight)
  })
  setNames(
    c(
      ratio(by_rater(compared$weight * compared$credit), by_rater(compared$weight)),
      system_shares
    ),
    c(x$raters, x$systems)
  )
}

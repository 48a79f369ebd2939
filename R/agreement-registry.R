# Registry of agreement measures: measures of the package (see agreement-measures.R) and measures
# that users register. This file also checks whether a measure is defined for given ratings.

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

# Returns the records of measures (see new_measure()). Raises an error if a measure that the user
# named is undefined in all views.
# * ids: ids of the measures; NULL for measures that suit the data.
# * views: list of compared ratings (see new_judge_view()). If pairs of raters or categories are
#   compared separately, the list has an element for each pair or category.
# * settings: list of the user's settings.
find_measures <- function(ids, views, settings) {
  available_measures <- all_measures()
  why_unsuitable_in_all_views <- function(measure) {
    for (view in views) {
      reason_and_hint <- why_measure_unsuitable(measure, view, settings)
      if (is.null(reason_and_hint)) return(NULL)
    }
    reason_and_hint
  }
  if (is.null(ids)) {
    view <- views[[1L]]
    fulfilled_conditions <- c(
      "always", if (view$judges == 2L) "two" else "many",
      if (view$binary) "category" else if (view$x$ordered) "ordered"
    )
    default_measures <- Filter(function(m) {
      all(m$default %in% fulfilled_conditions) && is.null(why_unsuitable_in_all_views(m))
    }, available_measures)
    is_for_ordered_categories <- map_lgl(default_measures, function(m) "ordered" %in% m$default)
    if (!is_empty(default_measures)) return(default_measures[order(!is_for_ordered_categories)])
    ids <- "percent_agreement"
  }
  measures <- select_records("measure", ids, available_measures)
  for (measure in measures) {
    reason_and_hint <- why_unsuitable_in_all_views(measure)
    # If several measures were requested, a measure that needs an order of the categories is NA if
    # there is no order. This is not an error.
    if (length(measures) > 1L && "order" %in% names(reason_and_hint)) next
    abort_if(reason_and_hint, "measure",
      paste0("{.val {measure$id}} is not defined for these ratings: ", reason_and_hint[[1L]]),
      i = reason_and_hint[-1L], measure = measure$id)
  }
  measures
}

# Returns NULL if a measure is defined for the ratings in `view` (see new_judge_view()). Otherwise
# returns two strings: the reason why it is not defined, and a hint.
why_measure_unsuitable <- function(measure, view, settings) {
  if (measure$raters == 2 && view$judges != 2L) {
    c(
      sprintf("it compares two raters, and there are %s.", view$judges),
      "Use {.code agreement(pairwise = TRUE)}, select two raters with
       {.code x[, c(\"a\", \"b\")]}, or choose a measure for many raters, such as
       {.val fleiss_kappa}."
    )
  } else if (measure$form != "counts" && has_counts(view$x)) {
    c(
      "it needs the rater of each rating, and there are only counts.",
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
    c("it compares one category with all others.", "Use {.code agreement(by_category = TRUE)}.")
  } else if (measure$scale == "binary" && length(view$labels) != 2L) {
    c(
      sprintf("it needs two categories, and there are %s.", length(view$labels)),
      "Use {.code agreement(by_category = TRUE)} for each category against the others."
    )
  } else if (!measure$weights && !is.null(settings$scale_weights)) {
    c(
      "it takes no {.arg scale_weights}.",
      "{.code measures()$weights} shows which measures accept {.arg scale_weights}."
    )
  } else if (lacks_order(measure, view, settings)) {
    c(
      order = if (isTRUE(view$x$nominal))
        "it needs an order of the categories, and `ordered = FALSE` was given." else
        "it needs an order of the categories, and none was declared.",
      "Give a factor whose levels are in order, {.code factor(x, levels = c(\"low\", \"high\"))},
       or {.arg categories} in their order, and {.code ordered = TRUE} in {.fun ratings}."
    )
  }
}

# Does a measure need an order of the categories that the user did not declare? Measures that use
# distances between categories need an order, unless there are only two categories.
lacks_order <- function(measure, view, settings) {
  (measure$scale %in% c("ordinal", "interval", "ratio") ||
    measure$weights && settings$scale_name %in% scale_weight_names[-1L]) &&
    length(view$labels) > 2L && !view$x$ordered && !has_numeric_categories(view$x)
}

# Returns TRUE if all categories are numbers and their order may matter. The order does not matter
# if the user gave `ordered = FALSE`, because numbers are then only codes.
has_numeric_categories <- function(x) is.null(x$nominal) && !is.null(as_numbers(x$categories))

# ---- Scale weights: weights of pairs of categories, 0 to 1, that give credit for near misses ----

scale_weight_names <- c(
  "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar"
)

# Name of the scale weights that are used if the user gave none.
no_weights_name <- scale_weight_names[[1L]]

# Returns the name of the user's scale weights: `"identity"` without weights, `"own"` for a matrix.
name_of_weights <- function(weights) {
  if (is.null(weights)) no_weights_name else if (is.character(weights)) weights[[1L]] else "own"
}

# Returns the user's scale weights as a matrix (categories x categories), or NULL.
check_scale_weights <- function(weights, labels) {
  if (is.null(weights)) return(NULL)
  if (is.character(weights)) {
    return(scale_matrix(check_choice(weights, scale_weight_names, "scale_weights"), labels))
  }
  n_labels <- length(labels)
  fault <- why_no_matrix(weights, n_labels) %||%
    if (any(diag(weights) != 1)) "Its diagonal is {shorten(diag(weights))}." else
      if (!isSymmetric(unname(weights))) "It is not symmetric." else
        if (any(weights > 1)) "Its largest number is {max(weights)}."
  abort_argument_if(fault, "scale_weights",
    "must be one of {.or {.val {scale_weight_names}}}, or a symmetric {n_labels} x {n_labels} matrix
        of agreement weights with 1 on the diagonal and no larger number.", x = fault,
    i = if (is.numeric(weights) && is.matrix(weights) && all(diag(weights) %in% 0)) "Are these
        weights of disagreement? Give {.code 1 - weights / max(weights)}.")
  for (side in seq_along(dimnames(weights))) {
    side_names <- dimnames(weights)[[side]]
    abort_argument_if(!is.null(side_names) && !identical(side_names, labels), "scale_weights",
      "must have the categories as names of its rows and columns, in their order.",
      x = "The names of its {c('rows', 'columns')[[side]]} are {.val {side_names}}. The categories
          are {.val {labels}}.",
      i = "Reorder the rows and columns of the matrix, or drop their names with {.fun unname}.")
  }
  unname(weights)
}

# Returns the values of categories. The values are the labels if all labels are distinct numbers,
# and otherwise the positions of the categories.
label_values <- function(labels) {
  numbers <- as_numbers(labels)
  if (is.null(numbers) || any_repeated(numbers)) seq_along(labels) else numbers
}

# Returns the matrix of scale weights (categories x categories). A weight is 1 minus the distance of
# two categories divided by the largest distance. `name`: an element of `scale_weight_names`.
scale_matrix <- function(name, labels) {
  category_values <- label_values(labels)
  abort_argument_if(name == "ratio" && any(category_values < 0), "scale_weights",
    "Weights {.val ratio} need categories that are not negative.",
    x = "Category {.val {labels[category_values < 0][[1L]]}} is negative.")
  difference <- abs(outer(category_values, category_values, `-`))
  sum_of_values <- outer(category_values, category_values, `+`)
  distance <- switch(name,
    identity = 1 - diag(length(labels)),
    linear = difference,
    quadratic = difference^2,
    ordinal = choose(abs(outer(rank(category_values), rank(category_values), `-`)) + 1, 2),
    radical = sqrt(difference),
    ratio = (difference / sum_of_values)^2,
    circular = sin(pi * difference / (max(category_values) - min(category_values) + 1))^2,
    bipolar = difference^2 / (
      (sum_of_values - 2 * min(category_values)) * (2 * max(category_values) - sum_of_values)
    )
  )
  diag(distance) <- 0 # some of these formulas give 0 / 0
  1 - distance / max(distance)
}

# In answers with several labels, each set of labels that occurs becomes a category. The scale
# weight of two sets is computed from their overlap.

label_set_scales <- c("masi", "jaccard", "identity")

# Prepares ratings for measures of agreement. In answers with several labels, each set of labels
# becomes a category.
# * systems: are systems compared, too?
# * sets: further sets of labels that become categories, see sets_of_answers().
# Returns a list:
# * x: ratings with one category per answer. Reruns are merged to one vote per rater and case.
# * scale_weights: a matrix or NULL.
# * labels: the labels of answers.
prepare_for_agreement <- function(x, scale_weights, systems = FALSE, arg = "x", sets = list()) {
  if (!has_labels(x)) {
    x <- merge_reruns(as_ratings_of_several(x, arg))
    weights <- check_scale_weights(scale_weights, x$categories)
    return(list(x = x, scale_weights = weights, labels = x$categories))
  }
  abort_if(!is_string(scale_weights, label_set_scales), "labels",
    "Answers with several labels need {.arg scale_weights} for sets of labels.",
    x = "{.arg scale_weights} is {describe(scale_weights)}.",
    i = "Give one of {.or {.val {label_set_scales}}}, or select a single label with
        {.fun single_label}.", arg = "scale_weights")
  check_single_answers(x, arg,
    "With several labels per answer, each rater may answer a case only once.")
  entries <- judgements(x)
  chosen_sets <- chosen_labels(entries)
  # Systems answer with single labels. Each of these labels becomes a set with one element.
  system_sets <- if (systems && n_systems(x) > 0L) as.list(setdiff(pattern_answers(x), 0L))
  sets <- lapply(sets, function(labels) sort(match(labels, x$categories)))
  sets <- unique(c(chosen_sets, system_sets, sets))
  label_codes <- seq_along(x$categories)
  label_set_names <- map_chr(sets, function(set) paste(x$categories[set], collapse = " + "))
  label_set_names[label_set_names == ""] <- "no label"
  is_first_entry <- !duplicated(answer_of_entry(entries))
  answers <- c(
    lapply(entries[c("unit", "worker")], `[`, is_first_entry),
    list(label = match(chosen_sets, sets))
  )
  recoded_ratings <-
    if (n_systems(x) > 0L) recode_answers(x, match(as.list(label_codes), sets)) else x
  has_label <- t(vapply(sets, function(set) label_codes %in% set, label_codes > 0L))
  list(
    x = replace_ratings(recoded_ratings, answers, make.unique(label_set_names)),
    scale_weights = label_set_weights(has_label, scale_weights), labels = x$categories
  )
}

# Returns the sets of labels that occur in answers with several labels, a list of character vectors.
# The list is empty for ratings with one label per answer.
sets_of_answers <- function(x) {
  if (!has_labels(x)) return(list())
  lapply(unique(chosen_labels(judgements(x))), function(labels) x$categories[labels])
}

# Returns a list with an element per answer: the codes of its labels in increasing order. `entries`:
# table with a row per answer and label, see judgements().
chosen_labels <- function(entries) {
  unname(lapply(split(entries$label, answer_of_entry(entries)), function(code) {
    sort(code[code > 0L])
  }))
}

# Returns scale weights of pairs of label sets: Jaccard's index, or MASI. MASI multiplies Jaccard's
# index by 1 if the sets are equal, by 2/3 if one contains the other, and by 1/3 otherwise. Two
# empty sets are equal. `has_label` (sets x labels): does the set contain the label?
label_set_weights <- function(has_label, scale) {
  n_in_both <- tcrossprod(has_label + 0)
  label_set_sizes <- diag(n_in_both)
  n_in_either <- outer(label_set_sizes, label_set_sizes, `+`) - n_in_both
  is_equal <- n_in_both == n_in_either
  is_subset <- n_in_both == outer(label_set_sizes, label_set_sizes, pmin)
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
  rating_table <- compared_ratings(x)
  sum_by_rater <- function(weight) rowsum_codes(rating_table$rater, weight, n_raters(x))
  is_plurality <- is_row_maximum(pattern_counts(x))
  credit <- is_plurality / rowSums(is_plurality)
  system_shares <- apply(pattern_answers(x), 2L, function(answer) {
    used_patterns <- which(is_rated_pattern(x) & answer > 0L)
    weight <- pattern_weights(x)[used_patterns]
    sum(weight * credit[cbind(used_patterns, answer[used_patterns])]) / sum(weight)
  })
  setNames(
    c(
      ratio(
        sum_by_rater(rating_table$weight * rating_table$credit),
        sum_by_rater(rating_table$weight)
      ),
      system_shares
    ),
    c(x$raters, x$systems)
  )
}

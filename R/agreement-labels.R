# Agreement of answers with several labels: each set of labels that occurs is a category, and what
# two of them count is said by their overlap.

set_scales <- c("masi", "jaccard", "identity")

# A list: x with one category each, and what pairs of these count. Ratings that are no sets of
# labels go as they came.
as_compared <- function(x, scale_weights) {
  if (!has_labels(x)) {
    x <- as_ratings_of_several(x)
    return(list(x = x, scale_weights = check_scale_weights(scale_weights, x$categories)))
  }
  abort_if(!rlang::is_string(scale_weights, set_scales), "labels",
    "Answers with several labels need a scale for sets.",
    x = "{.arg scale_weights} is {describe(scale_weights)}.",
    i = "Give one of {.or {.val {set_scales}}}, or ask about one label at a time with
        {.fun single_label}.", arg = "scale_weights")
  check_single_answers(x, "x", "Sets of labels need one answer of each rater on a case.")
  found <- label_sets(x)
  list(x = found$x, scale_weights = set_weights(found$has, scale_weights))
}

# x with a category per set; `has`: sets x labels, is the label in the set. Systems give one label.
label_sets <- function(x) {
  entries <- judgements(x)
  answer <- answer_number(entries)
  first <- !duplicated(answer)
  labels <- seq_along(x$categories)
  of_answer <- unname(lapply(split(entries$label, answer), function(given) sort(given[given > 0L])))
  alone <- if (n_systems(x) > 0L) as.list(labels)
  sets <- unique(c(of_answer, alone))
  has <- t(vapply(sets, function(set) labels %in% set, labels > 0L))
  if (length(alone) > 0L) x <- recode_answers(x, match(alone, sets))
  names <- vapply(sets, function(set) paste(x$categories[set], collapse = " + "), "")
  names[names == ""] <- "no label"
  answers <- list(
    unit = entries$unit[first], worker = entries$worker[first], label = match(of_answer, sets)
  )
  list(x = rebuild(x, answers, make.unique(names)), has = has)
}

# Jaccard's index; times, for MASI, 1 of the same sets, 2/3 where one is part of the other, 1/3
# where they overlap. Two empty sets are the same.
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

# The registry of agreement measures: what agreement() can compute. Those of the package are in
# agreement-measures.R; here are those that users register, and what suits which ratings.

all_measures <- function() c(built_in_measures, registered("measure"))

# Titles of measures, by which they can be told apart, with the name of their scale weights; names
# are ids.
measure_titles <- function(ids, scale_weights = unweighted) {
  weighted <- scale_weights != unweighted
  known <- all_measures()
  ids <- unique(as.character(ids))
  titles <- vapply(ids, function(id) {
    (if (weighted) known[[id]]$weighted) %||% known[[id]]$title %||% id
  }, "")
  if (weighted) titles[] <- paste0(titles, ", ", scale_weights, " weights")
  shared <- titles %in% titles[duplicated(titles)]
  titles[shared] <- paste0(titles[shared], " (", ids[shared], ")")
  titles
}

# The measures asked for, or those that suit what is compared if nobody asked. In some views a
# measure may be undefined, but not in all.
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
    one <- views[[1L]]
    panel <- if (one$judges == 2L) "two" else "many"
    shown <- c("always", panel, if (one$binary) "category" else if (one$x$ordered) "ordered")
    defaults <- Filter(function(m) {
      all(m$default %in% shown) && is.null(misfit_of_all(m))
    }, known)
    ordered <- vapply(defaults, function(m) "ordered" %in% m$default, NA)
    if (length(defaults) > 0L) return(c(defaults[ordered], defaults[!ordered]))
    ids <- "percent_agreement"
  }
  found <- find_records("measure", ids, known)
  for (measure in found) {
    why <- misfit_of_all(measure)
    # Without an order such a measure is NA among others.
    if (length(found) > 1L && "order" %in% names(why)) next
    abort_if(!is.null(why), "measure",
      paste0("{.val {measure$id}} is not defined here: ", why[[1L]]), i = why[-1L],
      measure = measure$id)
  }
  found
}

# Why a measure is not defined for what is compared, and what to do instead; NULL if it is.
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
    c(
      "it takes no {.arg scale_weights}.",
      "{.code measures()$weights} shows which do."
    )
  } else if (lacks_order(measure, view, settings)) {
    c(
      order = "it needs an order of the categories, and none was declared.",
      "Give a factor whose levels are in order, {.code factor(x, levels = c(\"low\", \"high\"))},
       or {.arg categories} in their order, and {.code ordered = TRUE} in {.fun ratings}."
    )
  }
}

# Distances between categories need their order. Numbers have one, and two categories need none.
lacks_order <- function(measure, view, settings) {
  scaled <- measure$scale %in% c("ordinal", "interval", "ratio") ||
    (measure$weights && settings$scale_name %in% scale_names[-1L])
  scaled && length(view$labels) > 2L && !view$x$ordered &&
    anyNA(suppressWarnings(as.numeric(view$labels)))
}

# Functions that leave out units or workers, or merge annotations, and compute CrowdTruth metrics
# again.

#' Leave out unclear units or weak workers
#'
#' Leaves out workers (raters) or units (the cases that workers label), and computes the
#' [crowdtruth()] metrics again from the other answers. `print()` reports how many were left out and
#' why.
#'
#' @param x A [crowdtruth()] result; or [ratings()], for which version 2014 is computed first.
#' @param what `"workers"` (the default): leave out workers by `min_units` and `flagged`. `"units"`:
#'   leave out units by `below` and `sd`.
#' @param min_units Workers who judged fewer units than `min_units` are left out; by default 3.
#' @param flagged Additional workers to leave out: names of workers, or a [flag_workers()] result,
#'   whose flagged workers are left out. `NULL`, the default: no additional workers are left out.
#' @param below Limit in \[0, 1\]: units whose clarity is below this limit are left out. The clarity
#'   of a unit is its largest unit-annotation score, see [crowdtruth()]. In version 2.0, the unit
#'   quality `uqs` is used in place of the clarity. `NULL`, the default: the mean over units minus
#'   `sd` standard deviations (computed with divisor n, not n - 1).
#' @param sd Number of standard deviations for the default of `below`, at least 0; by default 1.
#' @param ... Not used.
#' @return An object of class `crowdtruth` with the same version and settings as `x`. Its element
#'   `ratings` contains the remaining ratings, for [ground_truth()] and other functions. A
#'   worker whose units were all left out stays in the tables, with metrics `NA` and a `reason`. A
#'   unit whose workers were all left out stays in the same way.
#' @family CrowdTruth
#' @templateVar where Sections 5.1 and 5.3
#' @template ref-crowdtruth
#' @examples
#' set.seed(1)
#' x <- crowdtruth(simulate_crowd(spammers = c(random = 3)))
#' # Leaves out flagged workers, then unclear units
#' filter_crowd(filter_crowd(x, "workers", flagged = flag_workers(x)), "units")
#' @export
filter_crowd <- function(x, what = c("workers", "units"), min_units = 3L, flagged = NULL,
                         below = NULL, sd = 1, ...) {
  check_call()
  x <- as_crowdtruth(x)
  what <- check_choice(what, i = if (inherits(what, "worker_flags"))
    "Flagged workers are given by name: {.code flagged = flag_workers(x)}.")
  # Arguments for the other value of `what` would have no effect, so they are an error.
  unused_arguments <- if (what == "units") {
    c(if (!missing(min_units)) "min_units", if (!is.null(flagged)) "flagged")
  } else {
    c(if (!is.null(below)) "below", if (!missing(sd)) "sd")
  }
  abort_argument_if(unused_arguments, unused_arguments[[1L]],
    "{.arg {unused_arguments[[1L]]}} can be given only with
        {.code what = \"{setdiff(c('workers', 'units'), what)}\"}.")
  if (what == "workers") return(drop_workers(x, min_units, flagged))
  clarity_column <- clarity_column_name(x)
  clarities <- x$units[[clarity_column]]
  sd <- check_number(sd, "sd", 0)
  lowest_clarity <- if (is.null(below)) {
    mean_clarity <- mean(clarities, na.rm = TRUE)
    mean_clarity - sd * sqrt(mean((clarities - mean_clarity)^2, na.rm = TRUE))
  } else {
    check_number(below, "below", 0, 1)
  }
  is_dropped <- (clarities < lowest_clarity) %in% TRUE
  abort_if(all(is_dropped), "empty",
    "No unit would remain: each unit has a {clarity_column} below {.val {lowest_clarity}}.",
    i = "Give a lower value of {.arg below}.")
  measure_again(x, x$ratings[!is_dropped, ], paste0(
    "Left out ", count_noun(sum(is_dropped), "unit"), " of ", number(length(is_dropped)), " with ",
    clarity_column, " below ", format_decimals(lowest_clarity),
      if (is.null(below)) sprintf(" (mean - %s sd)", format(sd))
  ))
}

# Leaves out workers who judged few units or are flagged, and computes the metrics again. For the
# arguments, see filter_crowd().
drop_workers <- function(x, min_units, flagged) {
  check_named_workers(x$ratings)
  min_units <- check_count(min_units, "min_units", min = 0L)
  has_few_units <- x$workers$units < min_units
  if (inherits(flagged, "worker_flags")) {
    flagged <- flagged$workers$worker[flagged$workers$flagged %in% TRUE]
  } else if (!is_empty(flagged)) {
    unknown_workers <-
      if (is.atomic(flagged)) printable(setdiff(as_label(flagged), x$workers$worker))
    abort_argument_if(!is.atomic(flagged) || !is_empty(unknown_workers), "flagged",
      "must be a {.fun flag_workers} result or names of workers of {.arg x}.",
      x = if (!is_empty(unknown_workers)) "There is no worker {.val {unknown_workers}}." else "It is
          {describe(flagged)}.")
  }
  is_flagged <- x$workers$worker %in% as_label(flagged)
  is_dropped <- has_few_units | is_flagged
  kept_workers <- x$workers$worker[!is_dropped]
  total_text <- number(length(is_dropped))
  abort_if(length(kept_workers) < 2L, "raters", "At least two workers must remain.",
    x = c(
      if (any(has_few_units)) {
        "{sum(has_few_units)} of {total_text} workers judged fewer than {min_units} unit{?s}."
      },
      if (any(is_flagged)) "{sum(is_flagged)} of {total_text} workers
        {cli::qty(sum(is_flagged))}{?is/are} flagged.",
      if (is_empty(kept_workers)) "No worker remains." else
        "Only {.val {kept_workers}} remains."
    ),
    i = paste(c(
      if (any(has_few_units)) "Lower {.arg min_units}.", if (any(is_flagged)) "Flag fewer workers."
    ), collapse = " "), raters = kept_workers)
  measure_again(x, x$ratings[, !is_dropped], paste("Left out", c(
    if (any(has_few_units) || is.null(flagged)) paste(
      count_noun(sum(has_few_units), "worker"), "of", total_text, "with fewer than",
      count_noun(min_units, "unit")
    ),
    if (!is.null(flagged)) paste(
      count_noun(sum(is_flagged & !has_few_units), "flagged worker"), "of", total_text
    )
  )))
}

# Raises an error if the ratings `x` are counts per category, which do not show who gave an answer.
check_named_workers <- function(x) {
  check_named_raters(x, "x", "Metrics of workers need the worker of each answer.")
}

#' Merge annotations that are vague or mean the same
#'
#' Replaces annotations (the labels that workers give to units, the cases) by other annotations, and
#' computes the [crowdtruth()] metrics again. If an answer then has an annotation twice, the
#' annotation counts once.
#'
#' @section Default merges:
#' By default, two kinds of annotations are merged:
#' * *Vague* annotations have a clarity below `clear`, although workers chose these annotations on
#'   at least the share `frequent` of all units. Clarity is the largest score of the annotation on
#'   any unit, see [crowdtruth()]. Vague annotations are merged into `other`.
#' * *Ambiguous* annotations have a similarity (see [crowdtruth()]) of at least `similar` to another
#'   annotation. The less frequent of the two annotations is merged into the more frequent one.
#'
#' `tidy(x, "kinds")` shows these merges in advance, see [tidy.crowdtruth()].
#'
#' @inheritParams filter_crowd
#' @param into Annotations to merge: a named vector, `c("old label" = "new label")`. With
#'   `c(a = "b", b = "c")` both `a` and `b` become `c`. `NULL`, the default: see section *Default
#'   merges*. The following arguments are used only if `into` is `NULL`.
#' @param other Name of the annotation that means "none of the others", into which vague annotations
#'   are merged. With `NULL`, the default, vague annotations are not merged.
#' @param frequent Smallest share of all units, in \[0, 1\], on which workers chose a frequent
#'   annotation; by default 0.5.
#' @param clear Smallest clarity, in \[0, 1\], of a clear annotation; by default 0.6.
#' @param similar Smallest similarity, at most 1, of an ambiguous annotation to another one; by
#'   default 0.6.
#' @return An object of class `crowdtruth` with the same version and settings as `x`.
#' @family CrowdTruth
#' @templateVar where Section 5.4
#' @template ref-crowdtruth
#' @examples
#' # The merges of the paper: sAW becomes sOTH, and so on
#' figure2 <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
#' merge_annotations(figure2, c(sAW = "sOTH", sP = "sT", sS = "sCA", sM = "sCA"))
#' @export
merge_annotations <- function(x, into = NULL, other = NULL, frequent = 0.5, clear = 0.6,
                              similar = 0.6, ...) {
  check_call()
  x <- as_crowdtruth(x)
  if (is.null(into)) {
    kind_table <- annotation_kinds(x, other, frequent, clear, similar)
    into <- setNames(kind_table$into, kind_table$annotation)[!is.na(kind_table$into)]
  }
  categories <- x$ratings$categories
  targets <- merge_targets(into, categories)
  is_merged <- targets != seq_along(targets)
  if (!any(is_merged)) return(measure_again(x, x$ratings, "Merged nothing"))
  merge_text <- toString(paste(categories, "into", categories[targets])[is_merged])
  kept_categories <- sort(unique(targets))
  new_index <- match(targets, kept_categories)
  entries <- judgements(x$ratings)
  has_label <- entries$label > 0L
  entries_with_label <- lapply(entries[judgement_fields], `[`, has_label)
  entries_with_label$label <- new_index[entries_with_label$label]
  # If an answer contains the same label twice after the merge, the label is kept once.
  answer_and_label_code <- answer_of_entry(entries)[has_label] * (length(kept_categories) + 1) +
    entries_with_label$label
  merged_ratings <- replace_ratings(
    recode_answers(x$ratings, new_index),
    lapply(entries_with_label, `[`, !duplicated(answer_and_label_code)),
    categories[kept_categories], x$ratings$repeats
  )
  measure_again(x, merged_ratings, paste("Merged", merge_text))
}

# Returns a vector that contains, for each category, the index of the category into which the
# category is merged. For an unmerged category, this is the index of the category. `into`: a named
# vector, c("old label" = "new label").
merge_targets <- function(into, categories) {
  merged_labels <- names(into)
  abort_argument_if(!is.atomic(into) && !is.list(into), "into",
    "must be a named vector, {.code c(\"old label\" = \"new label\")}.", not = into)
  unknown_annotations <- printable(setdiff(c(merged_labels, as.character(into)), categories))
  problem <- if (!is_empty(into) && is.null(merged_labels)) {
    "It has no names."
  } else if (!is_empty(unknown_annotations)) {
    "There is no annotation {.val {unknown_annotations}}."
  } else if (any_repeated(merged_labels)) {
    "{.val {repeated_values(merged_labels)}} {?is/are} named more than once."
  }
  abort_argument_if(problem, "into",
    "must name each merged annotation and its target:
     {.code c(\"old label\" = \"new label\")}.",
    x = problem, i = "The annotations are {.val {categories}}.")
  next_category <-
    replace(seq_along(categories), match(merged_labels, categories), match(into, categories))
  # Merges may form a chain, such as a into b and b into c. The loop finds the end of each chain.
  targets <- next_category
  for (turn in seq_along(categories)) targets <- next_category[targets]
  circle_categories <- targets[next_category[targets] != targets]
  abort_argument_if(!is_empty(circle_categories), "into",
    "must not merge annotations in a circle, such as a into b and b into a.",
    x = "The circle contains {.val {categories[unique(circle_categories)]}}.")
  abort_if(n_distinct(targets) < 2L, "categories_few",
    "At least two annotations must remain after merging.", categories = categories[unique(targets)])
  targets
}

# Returns the table "kinds" of a CrowdTruth result, with a row per annotation. Column `kind` is
# "vague", "useless" or "ambiguous", or NA if none of them applies. Column `into` is the annotation
# into which merge_annotations() would merge it. For the arguments, see merge_annotations().
annotation_kinds <- function(x, other = NULL, frequent = 0.5, clear = 0.6, similar = 0.6, ...) {
  check_dots_empty(...)
  frequent <- check_number(frequent, "frequent", 0, 1)
  clear <- check_number(clear, "clear", 0, 1)
  similar <- check_number(similar, "similar", max = 1)
  table <- x$annotations
  annotation_names <- table$annotation
  if (!is.null(other)) check_choice(other, annotation_names, "other")
  is_unclear <- table$clarity < clear
  kind <- first_reason(
    vague = is_unclear & table$probability >= frequent, useless = is_unclear,
    ambiguous = !is.na(table$ambiguity) & table$ambiguity >= similar
  )
  kind[annotation_names %in% other] <- NA # `other` means "none of the others", so it is not vague
  into <- ifelse(kind %in% "vague", other %||% NA_character_, NA_character_)
  # The less frequent annotation is merged into the more frequent one. If both are equally frequent,
  # the later annotation is merged.
  partner_index <- match(table$similar_to, annotation_names)
  frequency_rank <- order(order(-table$frequency))
  has_mergeable_partner <-
    kind[partner_index] %in% c("ambiguous", NA) & !table$similar_to %in% other
  for (i in which(kind %in% "ambiguous" & has_mergeable_partner)) {
    partner <- partner_index[i]
    merged_index <- if (frequency_rank[i] > frequency_rank[partner]) i else partner
    if (is.na(into[merged_index])) {
      into[merged_index] <- annotation_names[i + partner - merged_index]
    }
  }
  tibble(
    annotation = annotation_names, kind, into,
    table[c("probability", "clarity", "ambiguity", "similar_to")]
  )
}

# Leave out units, workers and annotations, and measure the rest again.

#' Leave out unclear units or weak workers
#'
#' Leaves out workers, or units (the items that workers label), and computes the [crowdtruth()]
#' metrics of the rest again. `print()` reports which were left out.
#'
#' @param x A [crowdtruth()] result; or [ratings()], which are then measured in version 2014.
#' @param what `"workers"` (the default): leave out workers by `min_units` and `flagged`. `"units"`:
#'   leave out units by `below` and `sd`.
#' @param min_units Workers who judged fewer units are left out; by default 3.
#' @param flagged Further workers to leave out: a [flag_workers()] result, or names.
#' @param below Units with a lower clarity than this value in \[0, 1\] (version 2.0: a lower unit
#'   quality, `uqs`) are left out. By default the mean minus `sd` standard deviations, as in Aroyo
#'   and Welty (2014). The standard deviation has the number of units as divisor.
#' @param sd Number of standard deviations for the default of `below`; by default 1.
#' @return A [crowdtruth()] result, with the same version and options. Workers who lose all their
#'   units stay in the table, with `NA` and a reason; so do units that lose all their workers.
#' @family CrowdTruth
#' @templateVar where Sections 5.1 and 5.3
#' @template ref-crowdtruth
#' @examples
#' set.seed(1)
#' x <- crowdtruth(simulate_crowd(spammers = c(random = 3)))
#' filter_crowd(filter_crowd(x, "workers", flagged = flag_workers(x)), "units")
#' @export
filter_crowd <- function(x, what = c("workers", "units"), min_units = 3L, flagged = NULL,
                         below = NULL, sd = 1) {
  check_given()
  x <- as_crowdtruth(x)
  what <- check_choice(what)
  # Arguments of the other kind of filter would have no effect.
  unused <- if (what == "units") {
    c(if (!missing(min_units)) "min_units", if (!is.null(flagged)) "flagged")
  } else {
    c(if (!is.null(below)) "below", if (!missing(sd)) "sd")
  }
  abort_argument_if(unused, unused[[1L]],
    "{.arg {unused[[1L]]}} is for {.code what = \"{setdiff(c('workers', 'units'), what)}\"}.")
  if (what == "workers") drop_workers(x, min_units, flagged) else drop_units(x, below, sd)
}

drop_units <- function(x, below, sd) {
  measure <- unit_measure(x)
  value <- x$units[[measure]]
  sd <- check_number(sd, "sd", 0)
  limit <- if (is.null(below)) {
    known <- value[!is.na(value)]
    mean(known) - sd * sqrt(mean((known - mean(known))^2))
  } else {
    check_number(below, "below", 0, 1)
  }
  out <- (value < limit) %in% TRUE
  abort_if(all(out), "empty", "No unit has a {measure} of {.arg below} or more.")
  measure_again(x, x$ratings[!out, ], paste0(
    "Left out ", count_noun(sum(out), "unit"), " of ", number(length(out)), " with ", measure,
    " below ", decimals(limit), if (is.null(below)) paste0(" (mean - ", format(sd), " sd)")
  ))
}

drop_workers <- function(x, min_units, flagged) {
  check_identity(x$ratings)
  min_units <- check_count(min_units, "min_units", min = 0L)
  few <- x$workers$units < min_units
  bad <- x$workers$worker %in% flagged_names(flagged, x)
  out <- few | bad
  kept <- x$workers$worker[!out]
  total <- number(length(out))
  abort_if(length(kept) < 2L, "raters", "At least two workers must remain.",
    x = c(
      if (any(few)) {
        "{sum(few)} of {total} judged fewer than {.arg min_units} = {min_units} unit{?s}."
      },
      if (any(bad)) "{sum(bad)} of {total} {cli::qty(sum(bad))}{?is/are} flagged.",
      if (length(kept) == 0L) "No worker remains." else "Only {.val {kept}} remains."
    ),
    i = paste(c(
      if (any(few)) "Lower {.arg min_units}.", if (any(bad)) "Flag fewer workers."
    ), collapse = " "), raters = kept)
  steps <- c(
    if (any(few) || is.null(flagged)) paste(
      count_noun(sum(few), "worker"), "of", total, "with fewer than", count_noun(min_units, "unit")
    ),
    if (!is.null(flagged)) paste(count_noun(sum(bad & !few), "flagged worker"), "of", total)
  )
  measure_again(x, x$ratings[, !out], paste("Left out", steps))
}

check_identity <- function(x) {
  check_named_raters(x, "x", "Workers can be measured only if each answer names its worker.")
}

flagged_names <- function(flagged, x) {
  if (inherits(flagged, "worker_flags")) {
    return(flagged$workers$worker[flagged$workers$flagged %in% TRUE])
  }
  if (length(flagged) == 0L) return(character())
  unknown <- if (is.atomic(flagged)) printable(setdiff(as_label(flagged), x$workers$worker))
  abort_argument_if(!is.atomic(flagged) || length(unknown) > 0L, "flagged",
    "must be a {.fun flag_workers} result or names of workers of {.arg x}.",
    x = if (length(unknown) > 0L) "There is no worker {.val {unknown}}." else "It is
        {describe(flagged)}.")
  as_label(flagged)
}

#' Merge annotations that are vague or mean the same
#'
#' Moves the votes of some annotations to others and measures again. If an answer then contains an
#' annotation twice, the second vote is dropped. `tidy(x, "kinds")` shows which annotations are
#' vague, useless or ambiguous.
#'
#' @inheritParams filter_crowd
#' @param into What to merge: a named vector, `c(from = "into")`. If a target is itself merged, the
#'   votes move on to its target. By default, vague annotations are merged into `other`, and the
#'   less frequent of two ambiguous annotations into the more frequent one. Useless annotations are
#'   not merged, and an annotation is merged only once.
#' @param other The annotation for anything else. Vague annotations are merged into it; `NULL`, the
#'   default, does not merge them.
#' @param frequent Annotations on at least this share of the units, in \[0, 1\], are frequent.
#' @param clear Annotations with a clarity below this value in \[0, 1\] are clear on no unit.
#' @param similar Annotations with an ambiguity of at least this value, at most 1, are ambiguous.
#' @return A [crowdtruth()] result, with the same version and options.
#' @family CrowdTruth
#' @templateVar where Section 5.4
#' @template ref-crowdtruth
#' @examples
#' # The merges of the paper
#' figure2 <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
#' merge_annotations(figure2, c(sAW = "sOTH", sP = "sT", sS = "sCA", sM = "sCA"))
#' @export
merge_annotations <- function(x, into = NULL, other = NULL, frequent = 0.5, clear = 0.6,
                              similar = 0.6) {
  check_given()
  x <- as_crowdtruth(x)
  if (is.null(into)) {
    kinds <- annotation_kinds(x, other, frequent, clear, similar)
    into <- setNames(kinds$into, kinds$annotation)[!is.na(kinds$into)]
  }
  categories <- x$ratings$categories
  target <- merge_targets(into, categories)
  moved <- target != seq_along(target)
  if (!any(moved)) return(measure_again(x, x$ratings, "Merged nothing"))
  moves <- paste(categories[moved], "into", categories[target[moved]])
  measure_again(x, merge_labels(x$ratings, target), paste("Merged", toString(moves)))
}

# Number of the category that each category is merged into.
merge_targets <- function(into, categories) {
  names <- names(into)
  abort_argument_if(!is.atomic(into) && !is.list(into), "into",
    "must be a named vector, {.code c(from = \"into\")}.", not = into)
  unknown <- printable(setdiff(c(names, as.character(into)), categories))
  fault <- if (length(into) > 0L && is.null(names)) {
    "It has no names."
  } else if (length(unknown) > 0L) {
    "There is no annotation {.val {unknown}}."
  } else if (anyDuplicated(names) > 0L) {
    "{.val {names[duplicated(names)]}} goes into two."
  }
  abort_argument_if(fault, "into",
    "must say for each merged annotation into which other it goes: {.code c(from = \"into\")}.",
    x = fault, i = "The annotations are {.val {categories}}.")
  step <- replace(seq_along(categories), match(names, categories), match(into, categories))
  target <- step
  for (turn in seq_along(categories)) target <- step[target]
  abort_argument_if(any(step[target] != target), "into", "{.arg into} goes round in a circle.")
  abort_if(length(unique(target)) < 2L, "categories_few", "At least two annotations must remain.",
    categories = categories[unique(target)])
  target
}

merge_labels <- function(x, target) {
  kept <- sort(unique(target))
  new <- match(target, kept)
  entries <- judgements(x)
  given <- entries$label > 0L
  rows <- lapply(entries[c("unit", "worker", "label")], `[`, given)
  rows$label <- new[rows$label]
  again <- duplicated(answer_number(entries)[given] * (length(kept) + 1) + rows$label)
  rows <- lapply(rows, `[`, !again)
  rebuild(recode_answers(x, new), rows, x$categories[kept], x$repeats)
}

annotation_kinds <- function(x, other = NULL, frequent = 0.5, clear = 0.6, similar = 0.6, ...) {
  check_dots_empty(...)
  frequent <- check_number(frequent, "frequent", 0, 1)
  clear <- check_number(clear, "clear", 0, 1)
  similar <- check_number(similar, "similar", max = 1)
  table <- x$annotations
  names <- table$annotation
  if (!is.null(other)) check_choice(other, names, "other")
  unclear <- table$clarity < clear
  kind <- first_reason(
    vague = unclear & table$probability >= frequent, useless = unclear,
    ambiguous = !is.na(table$ambiguity) & table$ambiguity >= similar
  )
  kind[names %in% other] <- NA # `other` is vague by purpose
  into <- ifelse(kind %in% "vague", other %||% NA_character_, NA_character_)
  # Merge the less frequent annotation into the more frequent one. If both are equally frequent,
  # merge the later one.
  partner <- match(table$similar_to, names)
  rank <- order(order(-table$frequency))
  mergeable <- kind[partner] %in% c("ambiguous", NA) & !table$similar_to %in% other
  for (i in which(kind %in% "ambiguous" & mergeable)) {
    from <- if (rank[i] > rank[partner[i]]) i else partner[i]
    if (is.na(into[from])) into[from] <- names[i + partner[i] - from]
  }
  tibble::tibble(
    annotation = names, kind, into,
    table[c("probability", "clarity", "ambiguity", "similar_to")]
  )
}

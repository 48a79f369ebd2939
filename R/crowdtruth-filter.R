# Units, workers and annotations that are left out, and measuring again without them.

#' Leave out unclear units or weak workers
#'
#' Leaves out units or workers and measures the rest again. Results can be filtered one after the
#' other; print() says what was done.
#'
#' @param x A [crowdtruth()] result; or [ratings()], which are then measured in version 2014.
#' @param what `"workers"`: leave out workers by `min_units` and `flagged`. `"units"`: leave out
#'   units by `below` and `sd`.
#' @param min_units Leave out workers who judged fewer units.
#' @param flagged Leave out these workers too: a [flag_workers()] result, or names.
#' @param below Leave out units with a clarity (version 2.0: a UQS), in \[0, 1\], below this. By
#'   default the mean over units less `sd` standard deviations (with the number of units as
#'   divisor), as in the paper.
#' @param sd How many standard deviations.
#' @return A [crowdtruth()] result, with the same version and options. Workers who lose all their
#'   units stay in the table, with `NA` and a reason; so do units that lose all their workers.
#' @family CrowdTruth
#' @templateVar where Sections 5.1 and 5.3
#' @template ref-crowdtruth
#' @examples
#' set.seed(1)
#' x <- crowdtruth(simulate_crowd(spammers = c(random = 3)))
#' x |>
#'   filter_crowd("workers") |>
#'   filter_crowd("units")
#' filter_crowd(x, "workers", flagged = flag_workers(x))
#' @export
filter_crowd <- function(x, what = c("workers", "units"), min_units = 3L, flagged = NULL,
                         below = NULL, sd = 1) {
  check_given()
  x <- as_crowdtruth(x)
  if (check_choice(what) == "workers") {
    check_unused(list(below = below, sd = if (!missing(sd)) sd), "units")
    without_workers(x, min_units, flagged)
  } else {
    check_unused(list(min_units = if (!missing(min_units)) min_units, flagged = flagged), "workers")
    without_units(x, below, sd)
  }
}

# An argument of the other kind of filter would do nothing.
check_unused <- function(given, what) {
  name <- names(given)[!vapply(given, is.null, NA)]
  abort_argument_if(length(name) > 0L, name[[1L]],
    "{.arg {name[[1L]]}} is for {.code what = \"{what}\"}.")
}

without_units <- function(x, below, sd) {
  measure <- unit_measure(x)
  value <- x$units[[measure]]
  sd <- check_number(sd, "sd", 0)
  by_default <- is.null(below)
  below <- if (by_default) {
    mean_known(value) - sd * population_sd(value)
  } else {
    check_number(below, "below", 0, 1)
  }
  out <- !is.na(value) & value < below
  abort_if(all(out), "empty", "No unit has a {measure} of {.arg below} or more.")
  did <- paste0(
    "Left out ", count_noun(sum(out), "unit"), " of ", number(length(out)), " with ", measure,
    " below ", decimals(below), if (by_default) paste0(" (mean - ", format(sd), " sd)")
  )
  measure_again(x, if (any(out)) x$ratings[!out, ] else x$ratings, did)
}

population_sd <- function(x) {
  x <- x[!is.na(x)]
  sqrt(mean((x - mean(x))^2))
}

without_workers <- function(x, min_units, flagged) {
  check_identity(x$ratings)
  min_units <- check_count(min_units, "min_units", min = 0L)
  few <- x$workers$units < min_units
  bad <- x$workers$worker %in% flagged_names(flagged, x)
  out <- few | bad
  if (sum(!out) < 2L) abort_few_workers(few, bad, min_units, x$workers$worker[!out])
  did <- c(
    if (any(few) || is.null(flagged)) paste0(
      "Left out ", count_noun(sum(few), "worker"), " of ", number(length(few)),
      " with fewer than ", count_noun(min_units, "unit")
    ),
    if (!is.null(flagged)) paste0(
      "Left out ", count_noun(sum(bad & !few), "flagged worker"), " of ", number(length(few))
    )
  )
  measure_again(x, if (any(out)) x$ratings[, !out] else x$ratings, did)
}

# `few` and `bad`: which workers have few units, which are flagged.
abort_few_workers <- function(few, bad, min_units, kept) {
  abort_fallible("raters", "At least two workers must remain.",
    x = c(
      if (any(few)) {
        "{sum(few)} of {length(few)} judged fewer than {.arg min_units} = {min_units} unit{?s}."
      },
      if (any(bad)) "{sum(bad)} of {length(bad)} {cli::qty(sum(bad))}{?is/are} flagged.",
      if (length(kept) == 0L) "No worker remains." else "Only {.val {kept}} remains."
    ),
    i = paste(c(
      if (any(few)) "Lower {.arg min_units}.", if (any(bad)) "Flag fewer workers."
    ), collapse = " "), raters = kept)
}

check_identity <- function(x) {
  check_named_raters(x, "x", "Workers can be measured only if each answer names its worker.")
}

flagged_names <- function(flagged, x) {
  if (inherits(flagged, "worker_flags")) {
    return(flagged$workers$worker[flagged$workers$flagged %in% TRUE])
  }
  names <- if (is.atomic(flagged)) printable(as_label(flagged))
  unknown <- setdiff(names, x$workers$worker)
  abort_argument_if(!(is.null(flagged) || is.atomic(flagged)) || length(unknown) > 0L, "flagged",
    "must be a {.fun flag_workers} result or names of workers of {.arg x}.",
    x = if (length(unknown) > 0L) "There is no worker {.val {unknown}}." else "It is
        {describe(flagged)}.")
  names
}

#' Merge annotations that are vague or mean the same
#'
#' Moves the votes of some annotations to others and measures again; where an answer then has an
#' annotation twice, the second vote is dropped. `tidy(x, "kinds")` says which annotations are
#' vague, useless or ambiguous.
#'
#' @param x A [crowdtruth()] result; or [ratings()], which are then measured in version 2014.
#' @param into What to merge: a named vector, `c(from = "into")`. A target that is itself merged is
#'   followed to the end. By default vague annotations go into `other`, and of two ambiguous
#'   annotations the less frequent into the more frequent one (what is already merged does not count
#'   again); useless ones are left alone.
#' @param other The annotation that stands for anything else and takes the vague ones; `NULL`
#'   leaves them alone.
#' @param frequent A probability: annotations on at least this share of the units are frequent.
#' @param clear Annotations whose clarity, in \[0, 1\], is below this are clear nowhere.
#' @param similar An annotation with an ambiguity of at least this, at most 1, is ambiguous.
#' @return A [crowdtruth()] result, with the same version and options.
#' @family CrowdTruth
#' @templateVar where Section 5.4
#' @template ref-crowdtruth
#' @examples
#' figure2 <- crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
#' tidy(figure2, "kinds", other = "sOTH")
#'
#' # As the paper does
#' merge_annotations(figure2, c(sAW = "sOTH", sP = "sT", sS = "sCA", sM = "sCA"))
#' @export
merge_annotations <- function(x, into = NULL, other = NULL, frequent = 0.5, clear = 0.6,
                              similar = 0.6) {
  check_given()
  x <- as_crowdtruth(x)
  if (is.null(into)) into <- proposed_merges(x, other, frequent, clear, similar)
  target <- merge_targets(into, x$ratings$categories)
  moved <- target != seq_along(target)
  categories <- x$ratings$categories
  did <- if (any(moved)) {
    paste0("Merged ", paste0(categories[moved], " into ", categories[target[moved]],
      collapse = ", "))
  } else {
    "Merged nothing"
  }
  measure_again(x, if (any(moved)) merge_labels(x$ratings, target) else x$ratings, did)
}

proposed_merges <- function(x, other, frequent, clear, similar) {
  kinds <- annotation_kinds(x, other, frequent, clear, similar)
  stats::setNames(kinds$into, kinds$annotation)[!is.na(kinds$into)]
}

# The number of the category that each category becomes.
merge_targets <- function(into, categories) {
  abort_argument_if(!is.atomic(into) && !is.list(into), "into",
    "must be a named vector, {.code c(from = \"into\")}.", not = into)
  names <- names(into)
  unknown <- printable(setdiff(c(names, as.character(into)), categories))
  abort_argument_if(
    length(into) > 0L && (is.null(names) || length(unknown) > 0L || anyDuplicated(names) > 0L),
    "into",
    "must say for each merged annotation into which other it goes: {.code c(from = \"into\")}.",
    x = if (is.null(names)) "It has no names." else if (length(unknown) > 0L) "There is no
        annotation {.val {unknown}}." else "{.val {names[duplicated(names)]}} goes into two.",
    i = "The annotations are {.val {categories}}.")
  step <- seq_along(categories)
  step[match(names, categories)] <- match(into, categories)
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

annotation_kinds <- function(x, other, frequent, clear, similar) {
  frequent <- check_number(frequent, "frequent", 0, 1)
  clear <- check_number(clear, "clear", 0, 1)
  similar <- check_number(similar, "similar", max = 1)
  table <- x$annotations
  abort_argument_if(!is.null(other) && !(rlang::is_string(other) && other %in% table$annotation),
    "other", "must name an annotation.", not = other, i = "They are {.val {table$annotation}}.")
  unclear <- table$clarity < clear
  often <- table$probability >= frequent
  kind <- first_reason(
    vague = unclear & often, useless = unclear,
    ambiguous = !is.na(table$ambiguity) & table$ambiguity >= similar
  )
  kind[table$annotation %in% other] <- NA # it is meant to be vague
  into <- ifelse(kind %in% "vague", other %||% NA_character_, NA_character_)
  # Of two the rarer one moves; of two as frequent, the later one.
  partner <- match(table$similar_to, table$annotation)
  rank <- order(order(-table$frequency, seq_along(kind)))
  mergeable <- kind[partner] %in% c("ambiguous", NA) & !table$similar_to %in% other
  for (i in which(kind %in% "ambiguous" & mergeable)) {
    from <- if (rank[i] > rank[partner[i]]) i else partner[i]
    if (is.na(into[from])) into[from] <- table$annotation[i + partner[i] - from]
  }
  tibble::tibble(
    annotation = table$annotation, kind = kind, into = into, probability = table$probability,
    clarity = table$clarity, ambiguity = table$ambiguity, similar_to = table$similar_to
  )
}

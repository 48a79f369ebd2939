#' Measure units, workers and annotations by their disagreement
#'
#' Measures the clarity of units, the quality of workers and the ambiguity of annotations. If
#' several answers can be right, disagreement is not only error. It may come from an unclear unit, a
#' careless worker, or annotations with nearly the same meaning. CrowdTruth measures all three from
#' the same judgements. A *unit* is a case, a *worker* a rater, an *annotation* a label, and a
#' *judgement* the answer of a worker on a unit.
#'
#' @section Version 2014:
#' An answer `w` is a vector with a 1 for each annotation that the worker gave and 0 for others. Let
#' `V` be the votes of a unit, the sum of the answers of its workers.
#' * The **unit-annotation score** is the cosine between `V` and the annotation: its votes divided
#'   by the Euclidean length of `V`. The **clarity** of a unit is its largest score. The clarity of
#'   an annotation is its largest score on any unit (0 if no worker used it). All are in \[0, 1\].
#' * The **disagreement of a worker with units** is the mean of `1 - cos(V - w, w)` over the
#'   worker's units, in \[0, 1\]. The worker's votes are subtracted from `V`.
#' * The **disagreement of a worker with workers** is 1 minus the mean of Cohen's kappa with each
#'   other worker who shares a unit. Each kappa is over the cells units x annotations of the common
#'   units, and is weighted by the number of these units. The authors' programs use an overlap
#'   instead of kappa: the share of the worker's annotations that the other worker gave too. Both
#'   are returned.
#' * The **similarity** of annotation i to j is `(p - q) / (1 - q)`, called causal power. Here p is
#'   the share of units with j among units with i, and q the share among units without i.
#'   **Ambiguity** is the largest similarity to another annotation. Similarity is at most 1 and can
#'   be far below 0.
#'
#' @section Version 2.0:
#' Qualities are weighted means. Each kind of quality is a weight for the others.
#' * Unit quality `uqs`: mean cosine between the answers of two workers on the unit.
#' * Worker quality `wqs`: the product `wwa * wua`. `wwa` is the mean cosine between the answers of
#'   the worker and of another worker. `wua` is the mean cosine between the worker's answer and the
#'   votes of the other workers on the unit.
#' * Annotation quality `aqs`: probability that a worker gives the annotation if another worker gave
#'   it.
#'
#' All qualities start at 1. Each step computes all of them from the step before. The default
#' tolerance, .001, is that of the authors' program: with 1e-12 there are some 60 steps, and
#' qualities change by up to .002. A quality of 0 stays 0. Scores are in \[0, 1\]. All values agree
#' with the authors' published results to 1e-12, except that `wua` of a worker of quality 0 is 1e-8
#' there and 0 here.
#'
#' @section Undefined values:
#' Undefined values are `NA`, and the column `reason` gives the reason. An example is the similarity
#' of an annotation that is on no unit or on all units. Another is the disagreement of a worker who
#' shares no unit or gives only empty answers. A mean disagreement leaves out units for which it is
#' undefined. In version 2.0, as in the authors' program, denominators and annotation
#' qualities are at least 1e-8; if this floor was reached, `reason` says so. A unit with only empty
#' answers has a `uqs` of 0.
#'
#' @param x [ratings()], usually with `repeats = "labels"`. From counts, version 2014 measures units
#'   and annotations but not workers.
#' @param version `"2014"` (the default) or `"2.0"`.
#' @param task For version 2.0: `"closed"` (the default) if workers choose among given annotations;
#'   `"open"` if they write annotations. Then annotations have no quality (it is set to 1).
#' @param tolerance,max_steps For version 2.0: stop when no quality changes by `tolerance` or more
#'   in a step, or after `max_steps` steps, then with a warning of class
#'   `fallible_warning_no_convergence`. By default 0.001 and 1000.
#' @param ... Not used.
#' @return An object of class `crowdtruth`, a list. Sections *Version 2014* and *Version 2.0* define
#'   the quantities.
#'   * `units`: `unit`; `workers`, the number of judgements; `votes`, the number of labels given;
#'     `annotation`, the annotation with most votes (several joined by "|" if tied); `clarity` or
#'     `uqs`; `reason`.
#'   * `workers`: `worker`; `units`, the number judged; `unit_disagreement`, `worker_disagreement`
#'     (kappa) and `overlap_disagreement`, or `wqs`, `wwa` and `wua`; `annotations_per_unit`;
#'     `reason`.
#'   * `annotations`: `annotation`; `frequency`, the number of units with the annotation, and
#'     `probability`, their share; `clarity` and `ambiguity`, which are those of version 2014 in both
#'     versions; `similar_to`, the (first) annotation that it is most similar to; in version 2.0
#'     `aqs`; `reason`.
#'   * `scores`: `unit`, `annotation`, `votes` and `score` for each annotation with votes on a unit.
#'     The score is the unit-annotation score. In version 2.0 it is the share of workers who gave
#'     the annotation, weighted by `wqs`.
#'   * `similarity`: a matrix, annotation i in rows, j in columns.
#'   * `convergence` (version 2.0), a row per step: `step`, and the largest changes of the qualities
#'     of `units`, `workers` and `annotations`.
#'   * `converged` (version 2.0): did the qualities converge?
#'   * `ratings`; `history`: previous filters and merges.
#' @family CrowdTruth
#' @templateVar where Section 4
#' @template ref-crowdtruth
#' @template ref-crowdtruth2
#' @examples
#' # Figure 2 of the paper: votes, workers unknown
#' crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
#'
#' set.seed(1)
#' crowdtruth(simulate_crowd(spammers = c(random = 2, copy = 2)), version = "2.0")
#' @export
crowdtruth <- function(x, version = c("2014", "2.0"), task = c("closed", "open"),
                       tolerance = 0.001, max_steps = 1000L, ...) {
  check_call()
  x <- as_any_ratings(x)
  if (identical(as.character(version), "2")) version <- "2.0"
  options <- list(
    version = check_choice(version),
    open = check_choice(task) == "open",
    tolerance = check_number(tolerance, "tolerance", 0, open_min = TRUE),
    max_steps = check_count(max_steps, "max_steps")
  )
  check_judgements(x, options$version)
  measure_crowd(x, options)
}

# Raises an error for ratings from which CrowdTruth cannot be computed.
check_judgements <- function(x, version) {
  abort_if(has_repeats(x), "repeat",
    "CrowdTruth needs one answer per worker and unit, but {.arg x} has repeated ratings.",
    i = "If repeated rows are labels of one answer, call {.fun ratings} with
        {.code repeats = \"labels\"}.", case = NULL, rater = NULL)
  if (version == "2.0") check_named_raters(x, "x", "Version 2.0 needs the worker of each answer.",
    i = "{.code version = \"2014\"} measures units and annotations from counts.")
  if (in_database(x)) abort_no_cases("CrowdTruth measures cases")
  abort_if(!is.null(x$weights), "weights", "CrowdTruth has no case weights.",
    i = "Make {.arg x} without {.arg weights}.", row = NULL)
}

# Computes all metrics and creates the result. `history`: sentences on previous filters and merges.
measure_crowd <- function(x, options, history = character()) {
  entries <- judgements(x)
  cells <- na_real(core_crowd_units(entries))
  is_version2 <- options$version == "2.0"
  measured <- if (is_version2) {
    measure_quality(entries, options)
  } else if (!has_counts(x)) {
    run_with_bar("Workers", entries$workers, core_crowd_workers, entries)
  }
  similarity <- cells$similarity
  dimnames(similarity) <- list(x$categories, x$categories)
  tables <- list(
    workers = worker_table(x, entries, measured),
    units = unit_table(x, entries, cells, measured),
    annotations = annotation_table(x, cells, similarity, measured),
    scores = tibble::tibble(
      unit = x$cases[cells$unit], annotation = factor(x$categories[cells$label], x$categories),
      votes = cells$votes, score = measured$uas %||% cells$score
    ),
    similarity = similarity_table, labels = label_shares, kinds = annotation_kinds
  )
  if (is_version2) tables$convergence <- columns_tibble(
    step = seq_along(measured$unit_change), units = measured$unit_change,
    workers = measured$worker_change, annotations = measured$annotation_change
  )
  new_crowdtruth(tables, list(
    similarity = similarity, converged = measured$converged, ratings = x, options = options,
    history = history
  ))
}

# Computes the metrics of other ratings, with the options of the result `object`. `step`: a sentence
# on how the ratings were changed, which print() shows.
measure_again <- function(object, x, step) measure_crowd(x, object$options, c(object$history, step))

# Calls a function of the core with a progress bar of `total` steps (NA: unknown).
run_with_bar <- function(name, total, core, ...) {
  bar <- progress_bar(name, total)
  out <- core(..., bar$tick)
  bar$close()
  na_real(out)
}

# Computes the qualities of version 2.0. Warns if the iteration did not converge.
measure_quality <- function(entries, options) {
  out <- run_with_bar("Steps", NA, core_crowd_quality, entries, options)
  if (!out$converged) {
    change <- max(unlist(lapply(
      out[c("unit_change", "worker_change", "annotation_change")], tail, 1L
    )))
    warn_fallible("no_convergence",
      "Qualities did not converge in {options$max_steps} step{?s}.",
      x = "The largest change in the last step is {signif(change, 3)}, not below
        {options$tolerance}.",
      i = "Raise {.arg max_steps} or {.arg tolerance}.", change = change)
  }
  if (options$open) out$aqs[] <- NA_real_
  out
}

# ---- Tables -------------------------------------------------------------------------------------

unit_table <- function(x, entries, cells, measured) {
  n <- nrow(x)
  is_version2 <- !is.null(measured$uqs)
  judged <- tabulate(entries$unit[!duplicated(answer_number(entries))], n)
  # The annotation with most votes; tied annotations are joined by "|".
  top <- cells$votes == largest(cells$votes, cells$unit, n)$value[cells$unit]
  annotation <- tapply(
    x$categories[cells$label[top]], factor(cells$unit[top], seq_len(n)), paste, collapse = "|"
  )
  out <- tibble::tibble(
    unit = x$cases, workers = na_if_unnamed(x, judged),
    votes = rowsum_codes(cells$unit, cells$votes, n),
    annotation = as.character(annotation)
  )
  out$uqs <- measured$uqs # adds no column if it is NULL
  if (!is_version2) out$clarity <- largest(cells$score, cells$unit, n)$value
  out$reason <- first_reason(
    "no judgement" = judged == 0L, "no label given" = out$votes == 0,
    "only one worker" = is_version2 & judged == 1L,
    "floor of 1e-8: no two workers with quality above 0" = measured$unit_floored %||% FALSE
  )
  out
}

# For each group 1 ... n, the largest value and its index in `value`; NA for a group without values.
largest <- function(value, group, n) {
  order <- order(group, -value)
  first <- order[!duplicated(group[order])]
  first <- first[!is.na(value[first])]
  at <- replace(rep(NA_integer_, n), group[first], first)
  list(value = value[at], at = at)
}

worker_table <- function(x, entries, measured) {
  if (has_counts(x)) {
    return(columns_tibble(worker = character(), units = integer(), reason = character()))
  }
  of_workers <- function(used) tabulate(entries$worker[used], entries$workers)
  out <- columns_tibble(
    worker = x$raters, units = of_workers(!duplicated(answer_number(entries))),
    !!!measured[intersect(names(spam_sign), names(measured))]
  )
  out$annotations_per_unit <- ratio(of_workers(entries$label > 0L), out$units)
  out$reason <- worker_reasons(out, measured)
  out
}

# For each worker, why a metric is NA, at its floor or computed from only some of the units.
worker_reasons <- function(table, measured) {
  notes <- if (!is.null(measured$wqs)) {
    first_reason("floor of 1e-8: no other worker or no unit with quality above 0" =
      measured$worker_floored)
  } else {
    has_no_comparison <- is.na(table$unit_disagreement)
    fewer <- sprintf("unit_disagreement is over %s of %s units", measured$compared, table$units)
    Reduce(join_reasons, list(
      ifelse(!has_no_comparison & measured$compared < table$units, fewer, NA),
      first_reason("no unit with labels of the worker and of others" = has_no_comparison),
      first_reason("no kappa with any other worker" = is.na(table$worker_disagreement)),
      first_reason("no overlap with any other worker" = is.na(table$overlap_disagreement))
    ))
  }
  replace(notes, table$units == 0L, "no unit judged")
}

# For each row, the first reason that applies; NA if none does. Arguments are logical vectors, and
# their names are the reasons.
first_reason <- function(...) {
  applies <- list(...)
  out <- rep(NA_character_, length(applies[[1L]]))
  for (reason in rev(names(applies))) out[applies[[reason]]] <- reason
  out
}

# Joins two vectors of reasons, either of which may be NA.
join_reasons <- function(a, b) {
  joined <- paste(a, b, sep = "; ")
  joined[is.na(a)] <- b[is.na(a)]
  ifelse(is.na(b), a, joined)
}

annotation_table <- function(x, cells, similarity, measured) {
  n <- n_categories(x)
  units <- nrow(x)
  frequency <- tabulate(cells$label, n)
  clarity <- largest(cells$score, cells$label, n)$value
  most_similar <- largest(as.vector(similarity), as.vector(row(similarity)), n)
  out <- columns_tibble(
    annotation = x$categories, frequency = frequency, probability = frequency / units,
    clarity = replace(clarity, is.na(clarity), 0), ambiguity = most_similar$value,
    similar_to = x$categories[col(similarity)[most_similar$at]]
  )
  out$aqs <- measured$aqs # adds no column if it is NULL
  out$reason <- first_reason(
    "no worker used it" = frequency == 0L, "it is on every unit" = frequency == units,
    "every other annotation is on all units without it" = is.na(most_similar$value)
  )
  if (!is.null(measured$aqs)) {
    out$reason <- join_reasons(out$reason, first_reason(
      "open task: no aqs" = is.na(measured$aqs),
      "aqs has a floor of 1e-8" = measured$annotation_floored
    ))
  }
  out
}

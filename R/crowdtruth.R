#' Measure units, workers and annotations by their disagreement
#'
#' Computes the CrowdTruth metrics: the clarity of units, the quality of workers and the ambiguity
#' of annotations. A *unit* is a case, a *worker* a rater, an *annotation* a label, and a
#' *judgement* the answer of a worker on a unit, which may have several labels. Disagreement may
#' come from an unclear unit, a careless worker, or annotations with nearly the same meaning.
#'
#' @section Version 2014:
#' The answer `w` of a worker on a unit is a vector with a 1 for each annotation that the worker
#' gave and 0 for the others. The votes `V` of a unit are the sum of the answers of its workers.
#' * **Unit-annotation score** (`score`): the votes of the annotation divided by the Euclidean
#'   length of `V`, in \[0, 1\].
#' * **Clarity** of a unit: its largest score. Clarity of an annotation: its largest score on any
#'   unit.
#' * **Disagreement of a worker with units** (`unit_disagreement`): the mean of `1 - cos(V - w, w)`
#'   over the units of the worker, in \[0, 1\]. `cos` is the cosine of two vectors, and `V - w` are
#'   the votes of the other workers.
#' * **Disagreement of a worker with workers** (`worker_disagreement`): 1 minus the mean of Cohen's
#'   kappa with each other worker who shares a unit. A kappa is computed from the 0 and 1 of both
#'   workers for all annotations of their common units, and is weighted by the number of these
#'   units.
#' * **Overlap disagreement** (`overlap_disagreement`): as `worker_disagreement`, but with the
#'   overlap in place of kappa. The overlap is the share of the
#'   worker's annotations that the other worker gave too.
#' * **Similarity** of annotation i to annotation j: `(p - q) / (1 - q)`. `p` is the share of units
#'   with annotation j among units with annotation i, and `q` is the share of units with j among
#'   units without i. Similarity is at most 1.
#' * **Ambiguity** of an annotation: its largest similarity to another annotation.
#'
#' @section Version 2.0:
#' Qualities are weighted means, and each kind of quality is a weight for the others. They are
#' computed in steps from the qualities of the step before, starting at 1.
#' * Unit quality (`uqs`): mean cosine between the answers of two workers on the unit. The weight of
#'   a pair is the product of their `wqs`.
#' * Worker quality (`wqs`): the product `wwa * wua`.
#' * Agreement with workers (`wwa`): mean cosine between the answers of the worker and of another
#'   worker on the same unit. The weight is `uqs` of the unit times `wqs` of the other worker.
#' * Agreement with units (`wua`): mean cosine between the worker's answer and the votes of the
#'   other workers on the unit, weighted by their `wqs`. The weight of a unit is its `uqs`.
#' * Annotation quality (`aqs`): the probability that a worker gives the annotation to a unit if
#'   another worker gave it. Units are weighted by `uqs` and pairs of workers by the product of
#'   their `wqs`. In all cosines, annotations are weighted by `aqs`.
#' * Unit-annotation score (`score`): the share of workers who gave the annotation, weighted by
#'   `wqs`.
#'
#' @section Undefined values: Undefined values are `NA`, with a `reason`. In version 2.0,
#' denominators and `aqs` are at least 1e-8; column `reason` reports where this limit was reached.
#'
#' @param x A [ratings()] object without case weights. If answers may have several labels, make it
#'   with `repeats = "labels"`. From counts of labels, version 2014 measures units and annotations
#'   but not workers.
#' @param version Version of the metrics: `"2014"` (the default) or `"2.0"`.
#' @param task For version 2.0: `"closed"` (the default) if workers choose among given annotations;
#'   `"open"` if workers write annotations. For an open task, annotation quality `aqs` is `NA`, and
#'   all annotations have weight 1 in cosines.
#' @param tolerance,max_steps For version 2.0: stop when all qualities change by less than
#'   `tolerance` in a step, by default 0.001, or after `max_steps` steps, by default 1000, with a
#'   warning of class `fallible_warning_no_convergence`.
#' @param ... Not used.
#' @return An object of class `crowdtruth`, a list of these elements. The first four are tibbles.
#'   * `units`: `unit`; `workers`, the number of judgements (`NA` from counts); `votes`, the number
#'     of labels given; `annotation`, the annotation with most votes (tied annotations are joined by
#'     "|"); `clarity` or, in version 2.0, `uqs`; `reason`.
#'   * `workers` (no rows from counts): `worker`; `units`, the number judged; `unit_disagreement`,
#'     `worker_disagreement` and `overlap_disagreement` or, in version 2.0, `wqs`, `wwa` and `wua`;
#'     `annotations_per_unit`, the mean number of labels given; `reason`.
#'   * `annotations`: `annotation`; `frequency`, the number of units with the annotation;
#'     `probability`, the share of units with it; `clarity` and `ambiguity`, in both versions as in
#'     version 2014; `similar_to`, the annotation to which it is most similar; in version 2.0 `aqs`;
#'     `reason`.
#'   * `scores`: `unit`, `annotation`, `votes` and `score`, a row for each annotation with votes on
#'     a unit.
#'   * `similarity`: a matrix with the similarity of annotation i (row) to annotation j (column).
#'   * `converged` (version 2.0): `TRUE` if the qualities converged. `convergence` (version 2.0): a
#'     tibble with a row per `step`, with the largest changes of the qualities of `units`, `workers`
#'     and `annotations`.
#'   * `ratings`: the ratings `x`. `options`: a list of the settings. `history`: text on previous
#'     calls of [filter_crowd()] and [merge_annotations()].
#' @family CrowdTruth
#' @templateVar where Section 4
#' @template ref-crowdtruth
#' @template ref-crowdtruth2
#' @examples
#' # Figure 2 of the paper: votes, workers unknown
#' crowdtruth(ratings(crowdtruth2014, case = unit, counts = sT:sOTH))
#'
#' # Version 2.0 for a simulated crowd with four spammers
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
  abort_if(has_repeats(x), "repeat",
    "CrowdTruth needs one answer per worker and unit, but {.arg x} has repeated ratings.",
    i = "If repeated rows are labels of one answer, call {.fun ratings} with
        {.code repeats = \"labels\"}.", case = NULL, rater = NULL)
  if (options$version == "2.0") check_named_raters(x, "x",
    "Version 2.0 needs the worker of each answer.",
    i = "{.code version = \"2014\"} measures units and annotations from counts.")
  if (in_database(x)) abort_no_cases("CrowdTruth measures cases")
  abort_if(!is.null(x$weights), "weights", "CrowdTruth has no case weights.",
    i = "Make {.arg x} without {.arg weights}.", row = NULL)
  measure_crowd(x, options)
}

# Computes all CrowdTruth metrics of the ratings `x` and creates the result. `history`: sentences
# about previous filters and merges, which print() shows.
measure_crowd <- function(x, options, history = character()) {
  entries <- judgements(x)
  cells <- na_real(core_crowd_units(entries))
  is_version2 <- options$version == "2.0"
  # Calls a function of the core and shows a progress bar with `total` steps (NA if the number is
  # unknown).
  run_with_progress_bar <- function(name, total, core, ...) {
    bar <- progress_bar(name, total)
    out <- core(entries, ..., bar$tick)
    bar$close()
    na_real(out)
  }
  qualities <- if (is_version2) {
    run_with_progress_bar("Steps", NA, core_crowd_quality, options)
  } else if (!has_counts(x)) {
    run_with_progress_bar("Workers", entries$workers, core_crowd_workers)
  }
  if (is_version2) {
    changes <- qualities[c("unit_change", "worker_change", "annotation_change")]
    change <- max(unlist(lapply(changes, tail, 1L)))
    warn_if(!qualities$converged, "no_convergence",
      "Qualities did not converge in {options$max_steps} step{?s}.",
      x = "The largest change in the last step is {signif(change, 3)}, not below
        {options$tolerance}.",
      i = "Raise {.arg max_steps} or {.arg tolerance}.", change = change)
    if (options$open) qualities$aqs[] <- NA_real_
  }
  similarity <- cells$similarity
  dimnames(similarity) <- list(x$categories, x$categories)
  tables <- list(
    workers = worker_table(x, entries, qualities),
    units = unit_table(x, entries, cells, qualities),
    annotations = annotation_table(x, cells, similarity, qualities),
    scores = tibble::tibble(
      unit = x$cases[cells$unit], annotation = factor(x$categories[cells$label], x$categories),
      votes = cells$votes, score = qualities$uas %||% cells$score
    ),
    similarity = similarity_table, labels = label_shares, kinds = annotation_kinds
  )
  if (is_version2) tables$convergence <- columns_tibble(
    step = seq_along(changes$unit_change), units = changes$unit_change,
    workers = changes$worker_change, annotations = changes$annotation_change
  )
  new_crowdtruth(tables, list(
    similarity = similarity, converged = qualities$converged, ratings = x, options = options,
    history = history
  ))
}

# Computes the metrics of changed ratings `x`, with the options of the CrowdTruth result `object`.
# `step`: a sentence about the change, which print() shows.
measure_again <- function(object, x, step) measure_crowd(x, object$options, c(object$history, step))

# ---- Tables -------------------------------------------------------------------------------------

unit_table <- function(x, entries, cells, measured) {
  n <- nrow(x)
  is_version2 <- !is.null(measured$uqs)
  n_judgements <- tabulate(entries$unit[!duplicated(answer_number(entries))], n)
  # The annotations with most votes of each unit.
  is_top <- cells$votes == largest_in_groups(cells$votes, cells$unit, n)$value[cells$unit]
  annotation <- tapply(
    x$categories[cells$label[is_top]], factor(cells$unit[is_top], seq_len(n)), paste, collapse = "|"
  )
  out <- tibble::tibble(
    unit = x$cases, workers = na_if_unnamed(x, n_judgements),
    votes = rowsum_codes(cells$unit, cells$votes, n),
    annotation = as.character(annotation)
  )
  out$uqs <- measured$uqs # adds no column if it is NULL
  if (!is_version2) out$clarity <- largest_in_groups(cells$score, cells$unit, n)$value
  out$reason <- first_reason(
    "no judgement" = n_judgements == 0L, "no label given" = out$votes == 0,
    "only one worker" = is_version2 & n_judgements == 1L,
    "floor of 1e-8: no two workers with quality above 0" = measured$unit_floored %||% FALSE
  )
  out
}

# Returns, for each group 1 ... n, the largest `value` and its index `at` in argument `value`. Both
# are NA for a group without values. `group`: group number of each value.
largest_in_groups <- function(value, group, n) {
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
  count_by_worker <- function(is_counted) tabulate(entries$worker[is_counted], entries$workers)
  out <- columns_tibble(
    worker = x$raters, units = count_by_worker(!duplicated(answer_number(entries))),
    !!!measured[intersect(names(spam_sign), names(measured))]
  )
  out$annotations_per_unit <- ratio(count_by_worker(entries$label > 0L), out$units)
  # The reason why a metric of the worker is NA, is at its lower limit, or is computed from only
  # some of the units
  reason <- if (!is.null(measured$wqs)) {
    first_reason("floor of 1e-8: no other worker or no unit with quality above 0" =
      measured$worker_floored)
  } else {
    has_no_comparison <- is.na(out$unit_disagreement)
    fewer_units_words <-
      sprintf("unit_disagreement is over %s of %s units", measured$compared, out$units)
    Reduce(join_reasons, list(
      ifelse(!has_no_comparison & measured$compared < out$units, fewer_units_words, NA),
      first_reason("no unit with labels of the worker and of others" = has_no_comparison),
      first_reason("no kappa with any other worker" = is.na(out$worker_disagreement)),
      first_reason("no overlap with any other worker" = is.na(out$overlap_disagreement))
    ))
  }
  out$reason <- replace(reason, out$units == 0L, "no unit judged")
  out
}

# Returns, for each row, the first reason that applies; NA if none applies. Each argument is a
# logical vector (does the reason apply?), and its name is the reason.
first_reason <- function(...) {
  applies <- list(...)
  out <- rep(NA_character_, length(applies[[1L]]))
  for (reason in rev(names(applies))) out[applies[[reason]]] <- reason
  out
}

# Joins two vectors of reasons element by element. If one of two elements is NA, keeps the other.
join_reasons <- function(a, b) {
  joined <- paste(a, b, sep = "; ")
  joined[is.na(a)] <- b[is.na(a)]
  ifelse(is.na(b), a, joined)
}

annotation_table <- function(x, cells, similarity, measured) {
  n <- n_categories(x)
  units <- nrow(x)
  frequency <- tabulate(cells$label, n)
  clarity <- largest_in_groups(cells$score, cells$label, n)$value
  most_similar <- largest_in_groups(as.vector(similarity), as.vector(row(similarity)), n)
  out <- columns_tibble(
    annotation = x$categories, frequency = frequency, probability = frequency / units,
    clarity = replace_na(clarity, 0), ambiguity = most_similar$value,
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

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
#' The qualities of units, workers and annotations are weighted means. Each kind of quality is used
#' in the weights of the other two kinds. All qualities start at 1. In each step, they are computed
#' from the qualities of the previous step.
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
#'   with `repeats = "labels"`. Reruns of a worker count as one vote (see [rater_groups]). From
#'   counts of labels, version 2014 measures units and annotations but not workers.
#' @param version Version of the metrics: `"2014"` (the default) or `"2.0"`.
#' @param task For version 2.0: `"closed"` (the default) if workers choose among given annotations;
#'   `"open"` if workers write annotations. For an open task, annotation quality `aqs` is `NA`, and
#'   all annotations have weight 1 in cosines.
#' @param tolerance,max_steps For version 2.0: stop when all qualities change by less than
#'   `tolerance` in a step, by default 0.001, or after `max_steps` steps, by default 1000, with a
#'   warning of class `fallible_warning_no_convergence`.
#' @param ... Not used.
#' @return An object of class `crowdtruth`, a list of these elements. The first four are tibbles.
#'   * `units`, a row per unit. Columns: `unit`, the name; `workers`, the number of judgements (`NA`
#'     from counts); `votes`, the number of labels given; `annotation`, the annotation with most
#'     votes (tied annotations are joined by "|"); `clarity` or, in version 2.0, `uqs`; `reason`.
#'   * `workers`, a row per worker, or no rows if `x` contains counts. Columns: `worker`, the name;
#'     `units`, the number of units that the worker judged; `unit_disagreement`,
#'     `worker_disagreement` and `overlap_disagreement` or, in version 2.0, `wqs`, `wwa` and `wua`;
#'     `annotations_per_unit`, the mean number of labels given; `reason`.
#'   * `annotations`, a row per annotation. Columns: `annotation`, the name; `frequency`, the number
#'     of units with the annotation; `probability`, the share of units with it; `clarity` and
#'     `ambiguity`, in both versions as in version 2014; `similar_to`, the annotation to which it is
#'     most similar; in version 2.0 `aqs`; `reason`.
#'   * `scores`, a row for each annotation with votes on a unit. Columns: `unit`, `annotation`,
#'     `votes` and `score`.
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
  x <- merge_reruns_with_message(as_any_ratings(x))
  if (identical(as.character(version), "2")) version <- "2.0"
  options <- list(
    version = check_choice(version),
    open = check_choice(task) == "open",
    tolerance = check_number(tolerance, "tolerance", 0, open_min = TRUE),
    max_steps = check_count(max_steps, "max_steps")
  )
  abort_if(x$repeats == "ratings", "repeat",
    "CrowdTruth needs one answer per worker and unit, but {.arg x} has repeated ratings.",
    i = "Call {.fun ratings} with {.code repeats = \"reruns\"}, which counts repeated rows as one
        vote, or with {.code repeats = \"labels\"}, if they are labels of one answer.",
    case = NULL, rater = NULL)
  if (options$version == "2.0") check_named_raters(x, "x",
    "Version 2.0 of the metrics needs the worker of each answer.",
    i = "For counts, use {.code version = \"2014\"}, which measures units and annotations.")
  if (in_database(x)) abort_no_cases("CrowdTruth metrics need the ratings of each case")
  abort_if(!is.null(x$weights), "weights", "CrowdTruth metrics cannot use case weights.",
    i = "Make {.arg x} without {.arg weights}.", row = NULL)
  measure_crowd(x, options)
}

# Computes all CrowdTruth metrics of the ratings `x` and creates the result. `history`: sentences
# about previous filters and merges, which print() shows.
measure_crowd <- function(x, options, history = character()) {
  judgement_entries <- judgements(x)
  unit_scores <- na_real(core_crowd_units(judgement_entries))
  is_version2 <- options$version == "2.0"
  # Calls a function of the core and shows a progress bar with `total` steps (NA if the number is
  # unknown).
  run_with_progress_bar <- function(name, total, core, ...) {
    bar <- progress_bar(name, total)
    core_result <- core(judgement_entries, ..., bar$tick)
    bar$close()
    na_real(core_result)
  }
  qualities <- if (is_version2) {
    run_with_progress_bar("Steps", NA, core_crowd_quality, options)
  } else if (!has_counts(x)) {
    run_with_progress_bar("Workers", judgement_entries$workers, core_crowd_workers)
  }
  if (is_version2) {
    changes <- qualities[c("unit_change", "worker_change", "annotation_change")]
    largest_change <- max(unlist(lapply(changes, tail, 1L)))
    warn_if(!qualities$converged, "no_convergence",
      "Qualities did not converge in {options$max_steps} step{?s}.",
      x = "The largest change in the last step is {signif(largest_change, 3)}, which is not below
        {.arg tolerance} = {options$tolerance}.",
      i = "Raise {.arg max_steps} or {.arg tolerance}.", change = largest_change)
    if (options$open) qualities$aqs[] <- NA_real_
  }
  similarity <- unit_scores$similarity
  dimnames(similarity) <- list(x$categories, x$categories)
  tables <- list(
    workers = worker_table(x, judgement_entries, qualities),
    units = unit_table(x, judgement_entries, unit_scores, qualities),
    annotations = annotation_table(x, unit_scores, similarity, qualities),
    scores = tibble(
      unit = x$cases[unit_scores$unit],
      annotation = factor(x$categories[unit_scores$label], x$categories),
      votes = unit_scores$votes, score = qualities$uas %||% unit_scores$score
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

unit_table <- function(x, judgement_entries, unit_scores, qualities) {
  n <- nrow(x)
  is_version2 <- !is.null(qualities$uqs)
  is_new_judgement <- !duplicated(answer_of_entry(judgement_entries))
  n_judgements <- tabulate(judgement_entries$unit[is_new_judgement], n)
  # Is the annotation one of those with the most votes in its unit?
  has_most_votes <- unit_scores$votes ==
    largest_in_groups(unit_scores$votes, unit_scores$unit, n)$value[unit_scores$unit]
  top_annotations <- tapply(
    x$categories[unit_scores$label[has_most_votes]],
    factor(unit_scores$unit[has_most_votes], seq_len(n)), paste, collapse = "|"
  )
  units <- tibble(
    unit = x$cases, workers = na_if_unnamed(x, n_judgements),
    votes = rowsum_codes(unit_scores$unit, unit_scores$votes, n),
    annotation = as.character(top_annotations)
  )
  units$uqs <- qualities$uqs # adds no column if it is NULL
  if (!is_version2) units$clarity <- largest_in_groups(unit_scores$score, unit_scores$unit, n)$value
  units$reason <- first_reason(
    "no judgement" = n_judgements == 0L, "no label given" = units$votes == 0,
    "only one worker" = is_version2 & n_judgements == 1L,
    "floor of 1e-8: no two workers with quality above 0" = qualities$unit_floored %||% FALSE
  )
  units
}

# Finds the largest value in each of the groups 1 to `n`. Returns a list of vectors with an element
# per group: `value`, the largest value, and `index`, its position in argument `value`. Both are NA
# for a group without values. `group`: group number of each value.
largest_in_groups <- function(value, group, n) {
  sorted_index <- order(group, -value)
  first_in_group <- sorted_index[!duplicated(group[sorted_index])]
  first_in_group <- first_in_group[!is.na(value[first_in_group])]
  index <- replace(rep(NA_integer_, n), group[first_in_group], first_in_group)
  list(value = value[index], index = index)
}

worker_table <- function(x, judgement_entries, qualities) {
  if (has_counts(x)) {
    return(columns_tibble(worker = character(), units = integer(), reason = character()))
  }
  count_by_worker <- function(is_counted) {
    tabulate(judgement_entries$worker[is_counted], judgement_entries$workers)
  }
  workers <- columns_tibble(
    worker = x$raters, units = count_by_worker(!duplicated(answer_of_entry(judgement_entries))),
    !!!qualities[intersect(names(spam_sign), names(qualities))]
  )
  workers$annotations_per_unit <-
    ratio(count_by_worker(judgement_entries$label > 0L), workers$units)
  # Reason why a metric of the worker is NA, is at its lower limit, or is computed from only some of
  # the units.
  reason <- if (!is.null(qualities$wqs)) {
    first_reason("floor of 1e-8: no other worker or no unit with quality above 0" =
      qualities$worker_floored)
  } else {
    has_no_comparison <- is.na(workers$unit_disagreement)
    fewer_units_reason <-
      sprintf("unit_disagreement is over %s of %s units", qualities$compared, workers$units)
    Reduce(join_reasons, list(
      ifelse(!has_no_comparison & qualities$compared < workers$units, fewer_units_reason, NA),
      first_reason("no unit with labels of the worker and of others" = has_no_comparison),
      first_reason("no kappa with any other worker" = is.na(workers$worker_disagreement)),
      first_reason("no overlap with any other worker" = is.na(workers$overlap_disagreement))
    ))
  }
  workers$reason <- replace(reason, workers$units == 0L, "no unit judged")
  workers
}

# Returns for each row the first reason that applies, or NA if no reason applies. Each argument is a
# logical vector (does the reason apply to the row?). The name of the argument is the reason.
first_reason <- function(...) {
  reason_applies <- list(...)
  reasons <- rep(NA_character_, length(reason_applies[[1L]]))
  for (reason in rev(names(reason_applies))) reasons[reason_applies[[reason]]] <- reason
  reasons
}

# Joins two vectors of reasons element by element. If one of two elements is NA, the result is the
# other element.
join_reasons <- function(a, b) {
  joined_reasons <- paste(a, b, sep = "; ")
  joined_reasons[is.na(a)] <- b[is.na(a)]
  ifelse(is.na(b), a, joined_reasons)
}

annotation_table <- function(x, unit_scores, similarity, qualities) {
  n <- n_categories(x)
  n_units <- nrow(x)
  frequency <- tabulate(unit_scores$label, n)
  clarity <- largest_in_groups(unit_scores$score, unit_scores$label, n)$value
  most_similar <- largest_in_groups(as.vector(similarity), as.vector(row(similarity)), n)
  annotations <- columns_tibble(
    annotation = x$categories, frequency = frequency, probability = frequency / n_units,
    clarity = replace_na(clarity, 0), ambiguity = most_similar$value,
    similar_to = x$categories[col(similarity)[most_similar$index]]
  )
  annotations$aqs <- qualities$aqs # adds no column if it is NULL
  annotations$reason <- first_reason(
    "no worker used it" = frequency == 0L, "it is on every unit" = frequency == n_units,
    "every other annotation is on all units without it" = is.na(most_similar$value)
  )
  if (!is.null(qualities$aqs)) {
    annotations$reason <- join_reasons(annotations$reason, first_reason(
      "open task: no aqs" = is.na(qualities$aqs),
      "aqs has a floor of 1e-8" = qualities$annotation_floored
    ))
  }
  annotations
}

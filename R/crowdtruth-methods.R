#' Tables and summaries of a CrowdTruth result
#'
#' Extracts tables and a matrix of scores from a [crowdtruth()] result, whose page defines the
#' metrics. A *unit* is a case, a *worker* a rater, and an *annotation* a label.
#'
#' @section Tables:
#' `tidy(x, what)` returns a tibble. [crowdtruth()] describes `"workers"` (the default), `"units"`,
#' `"annotations"`, `"scores"` and `"convergence"` (version 2.0). The other tables are:
#'
#' * `"similarity"`: a row per ordered pair of different annotations. Columns: `annotation`, the
#'   first; `other`, the second; and `similarity` of the first to the second (at most 1).
#' * `"labels"`: a row per unit, with the column `case` and a column for each annotation. The values
#'   are shares of the votes of the unit, in version 2.0 weighted by the quality of the workers.
#'   They sum to one. They are `NA` for a unit without labels, or if all its workers have quality 0.
#' * `"kinds"`: a row per annotation. The arguments are those of [merge_annotations()]:
#'   `frequent = 0.5`, `clear = 0.6`, `similar = 0.6` and `other = NULL`, the name of the annotation
#'   "none of the others". An annotation with clarity below `clear` has `kind` `"vague"` if workers
#'   chose it on at least the share `frequent` of the units, and `"useless"` otherwise. An
#'   annotation with a higher clarity has `kind` `"ambiguous"` if its ambiguity is at least
#'   `similar`, and `NA` otherwise. For the annotation `other`, `kind` is always `NA`. Column `into`
#'   is the annotation into which [merge_annotations()] would merge the annotation, or `NA`. Columns
#'   `probability`, `clarity`, `ambiguity` and `similar_to` are as in table `"annotations"`.
#'
#' @param x A [crowdtruth()] result.
#' @param ... Arguments of `tidy()` for the table `"kinds"`. Otherwise not used.
#' @return `as.matrix()`: a matrix of the scores, units x annotations, numbers in \[0, 1\]. It is
#'   `NA` for a unit without labels (version 2014) or without judgements (version 2.0).
#'
#'   `glance(x)`: a tibble with one row:
#'   * `version`, the version of the metrics; `units`, `workers`, `annotations`, `judgements` and
#'     `labels`, their numbers.
#'   * In version 2014 the means `clarity` (over units), `unit_disagreement` and
#'     `worker_disagreement`. In version 2.0 the means `uqs`, `wqs` and `aqs` (qualities of units,
#'     workers and annotations), the number of `steps`, and `converged`. Columns of the other
#'     version are `NA`.
#'
#'   `format(x)`: one line of text with the version and the numbers of `glance(x)`.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' x <- crowdtruth(simulate_crowd())
#' # Metrics of workers
#' tidy(x)
#' # Shares of the votes of each unit
#' tidy(x, "labels")
#' # Scores of the first three units
#' as.matrix(x)[1:3, ]
#' @usage
#' # tidy(x, what = "workers")
#' # tidy(x, "kinds", frequent = 0.5, clear = 0.6, similar = 0.6, other = NULL)
#' # glance(x)
#' @name tidy.crowdtruth
NULL

# Creates the result of crowdtruth(). `tables`: a list of tables, see measure_crowd(). `fields`: a
# list of further fields: similarity (a matrix), converged (NULL in version 2014), ratings, options
# and history.
new_crowdtruth <- function(tables, fields) {
  x <- c(tables, fields)
  means <- c(
    clarity = "units", unit_disagreement = "workers", worker_disagreement = "workers",
    uqs = "units", wqs = "workers", aqs = "annotations"
  )
  means <- Map(function(table, column) {
    mean_known(x[[table]][[column]] %||% NA)
  }, means, names(means))
  sizes <- list(
    units = nrow(x$units), workers = na_if_unnamed(x$ratings, nrow(x$workers)),
    annotations = nrow(x$annotations),
    judgements = na_if_unnamed(x$ratings, sum(x$workers$units)),
    labels = sum(judgements(x$ratings)$label > 0L)
  )
  known_sizes <- Filter(Negate(is.na), sizes)
  size_texts <- unlist(Map(count_noun, known_sizes, sub("s$", "", names(known_sizes))))
  is_answer_count <- names(known_sizes) %in% c("judgements", "labels")
  inject(new_result("crowdtruth",
    !!!fields, tables = tables,
    facts = c(
      version = x$options$version, sizes, means,
      steps = nrow(x$convergence) %||% NA_integer_, converged = x$converged %||% NA
    ),
    # The line is, for example, "version 2014: 60 units, 30 workers, 6 annotations; 600 judgements
    # with 650 labels".
    line = sprintf(
      "version %s: %s; %s", x$options$version, toString(size_texts[!is_answer_count]),
      paste(size_texts[is_answer_count], collapse = " with ")
    ),
    shown = view(x$annotations, setdiff(names(x$annotations), "reason"), most = 15L),
    notes = crowd_notes(x),
    more = "flag_workers(), filter_crowd(), merge_annotations(), tidy(), plot()"
  ))
}

# Returns the table "similarity": a row per ordered pair of different annotations.
similarity_table <- function(x) {
  similarity <- t(x$similarity) # transposed to sort the pairs by the first annotation
  annotation_names <- rownames(similarity)
  is_different <- row(similarity) != col(similarity)
  columns_tibble(
    annotation = annotation_names[col(similarity)[is_different]],
    other = annotation_names[row(similarity)[is_different]],
    similarity = similarity[is_different]
  )
}

# Returns the name of the column that measures how clear a unit is.
clarity_column_name <- function(x) if (x$options$version == "2.0") "uqs" else "clarity"

# mean_known() returns the mean of the values that are not NA, min_known() the smallest. Both return
# NA if all values are NA.
mean_known <- function(x) if (any_known(x)) mean(x, na.rm = TRUE) else NA_real_

min_known <- function(x) if (any_known(x)) min(x, na.rm = TRUE) else NA_real_

crowd_notes <- function(x) {
  is_version2 <- x$options$version == "2.0"
  table_names <- c(unit = "units", worker = "workers", annotation = "annotations")
  n_undefined_rows <- map_int(x[table_names], function(table) sum(!is.na(table$reason)))
  undefined_counts <- Map(count_noun, n_undefined_rows, names(table_names))[n_undefined_rows > 0L]
  c(
    x$history,
    if (is_version2) paste0(
      if (x$converged) "Converged to " else "NOT converged to ", format(x$options$tolerance),
      " after ", count_noun(nrow(x$convergence), "step"), if (x$options$open) "; open task"
    ),
    describe_spread("Units", x$units, clarity_column_name(x)),
    if (nrow(x$workers) == 0L) {
      "Workers are unknown, because there are only counts"
    } else {
      describe_spread("Workers", x$workers, if (is_version2) "wqs" else "unit_disagreement",
        high = !is_version2)
    },
    if (!is_empty(undefined_counts)) paste0(
      "With values undefined, raised to 1e-8, or from only some units (see column reason): ",
      toString(undefined_counts)
    )
  )
}

# Returns a note such as "Units: clarity .61 to 1.00, mean .85; lowest 17, 4, 9". It names the three
# units (or workers) with the lowest values, or with the highest ones if `high` is TRUE.
describe_spread <- function(title, table, measure, high = FALSE) {
  metric_values <- table[[measure]]
  if (all(is.na(metric_values))) return(sprintf("%s: %s is undefined", title, measure))
  value_range <- range(metric_values, na.rm = TRUE)
  sprintf(
    "%s: %s %s, mean %s; %s %s",
    title, measure, format_limits(value_range[[1L]], value_range[[2L]]),
    format_decimals(mean_known(metric_values)), if (high) "highest" else "lowest",
    toString(table[[1L]][head(order(metric_values, decreasing = high, na.last = NA), 3L)])
  )
}

#' @rdname tidy.crowdtruth
#' @export
as.matrix.crowdtruth <- function(x, ...) {
  check_dots_empty(...)
  categories <- x$ratings$categories
  score_matrix <- matrix(0, nrow(x$units), length(categories),
    dimnames = list(as_label(x$units$unit), categories))
  # Table `scores` is sorted by unit, and the votes in the rows of a unit sum to the votes of the
  # unit. Cumulated votes therefore show the unit of each row, even if units have equal names.
  unit_index <- findInterval(cumsum(x$scores$votes), cumsum(x$units$votes), left.open = TRUE) + 1L
  score_matrix[cbind(unit_index, as.integer(x$scores$annotation))] <- x$scores$score
  score_matrix[is.na(x$units[[clarity_column_name(x)]]), ] <- NA_real_
  score_matrix
}

# Returns the table "labels" of a CrowdTruth result: a row per unit, and a column per label. A value
# is the label's score divided by the sum of the scores of the unit. In version 2014, this is the
# label's share of the votes.
label_shares <- function(x) {
  scores <- as.matrix(x)
  abort_argument_if("case" %in% colnames(scores), "x",
    "No annotation may have the name {.val case}, because this is the name of the column of units.",
    i = "Give that annotation another name.")
  total_score <- rowSums(scores)
  shares <- unname(scores) / replace(total_score, total_score == 0, NA)
  columns_tibble(case = x$units$unit, !!!split_columns(shares, colnames(scores)))
}

# Returns `x` if it is a CrowdTruth result. If `x` is ratings, computes the metrics of version 2014.
as_crowdtruth <- function(x) if (inherits(x, "crowdtruth")) x else crowdtruth(as_any_ratings(x))

#' Simulated crowds with planted spammers
#'
#' Simulates the answers of workers (raters) who give one or two labels to each unit (case). Some
#' workers are spammers, whose answers do not depend on the unit.
#'
#' Every unit has a random main label and a clarity `c`, drawn uniformly between 0.3 and 1. Labels A
#' and B are neighbours of each other, and so are C and D, E and F, and so on. Workers are assigned
#' to units at random, and all have about the same number of units.
#'
#' The kinds of workers are:
#' * `faithful`: the first label is the main label with probability `c`, its neighbour with
#'   probability `(1 - c) / 2`, and otherwise a random label. With probability 0.15 there is a
#'   second label, the neighbour of the first.
#' * `random`: a random label and, with probability 0.3, a second random label.
#' * `constant`: always the same label, drawn for each worker.
#' * `copy`: like `random`, but all workers of this kind give the same answer on a unit.
#'
#' @param units,workers,per_unit Numbers of units, of workers, and of workers per unit; by default
#'   60, 30 and 10. `per_unit` is at most `workers`.
#' @param labels Number of labels, from 2 to 26, by default 6. Their names are capital letters.
#' @param spammers Numbers of spammers of each kind, a vector with some of the names `random`,
#'   `constant` and `copy`; by default all 0. The other workers are faithful.
#' @param ... Not used.
#' @return A [ratings()] object `x` in which answers may have several labels (`repeats = "labels"`).
#'   `tidy(x, "workers")` returns a tibble with a row per worker. Its columns are `worker`, the name
#'   of the worker, and `kind`, which is `"faithful"`, `"random"`, `"constant"` or `"copy"`.
#' @family CrowdTruth
#' @examples
#' set.seed(1)
#' # 20 workers, of whom five are spammers
#' x <- simulate_crowd(units = 40, workers = 20, spammers = c(random = 2, copy = 3))
#' x
#' table(tidy(x, "workers")$kind)
#' @export
simulate_crowd <- function(units = 60L, workers = 30L, per_unit = min(10L, workers), labels = 6L,
                           spammers = c(random = 0, constant = 0, copy = 0), ...) {
  check_call()
  units <- check_count(units, "units")
  workers <- check_count(workers, "workers", min = 2L)
  per_unit <- check_count(per_unit, "per_unit", max = workers)
  labels <- check_count(labels, "labels", min = 2L, max = 26L)
  check_memory(
    as.double(units) * max(per_unit, 2 * labels), "answers of a crowd",
    "Simulate fewer {.arg units}, or fewer workers {.arg per_unit}."
  )
  unit <- rep(seq_len(units), each = per_unit)
  with_one_seed({
    worker_kinds <- draw_worker_kinds(spammers, workers)
    worker <- as.vector(assign_workers(units, workers, per_unit))
    drawn_labels <- draw_answers(unit, worker, worker_kinds, labels)
  })
  answers_with_two_labels <- which(drawn_labels$second != drawn_labels$first)
  answer_index <- c(seq_along(unit), answers_with_two_labels)
  numbered_labels <- function(prefix, n) {
    paste0(prefix, formatC(seq_len(n), width = nchar(n), flag = "0"))
  }
  worker_names <- numbered_labels("w", workers)
  x <- ratings(
    data.frame(
      case = numbered_labels("u", units)[unit[answer_index]],
      rater = worker_names[worker[answer_index]],
      rating = LETTERS[c(drawn_labels$first, drawn_labels$second[answers_with_two_labels])]
    ),
    case = "case", rater = "rater", rating = "rating", categories = LETTERS[seq_len(labels)],
    repeats = "labels"
  )
  x$kinds <- setNames(worker_kinds, worker_names)
  x
}

# Draws the answers of a crowd. Returns a list of `first` and `second`, the labels of each answer;
# `second` is NA if the answer has only one label. `unit`, `worker`: indices of the unit and
# the worker of each answer. `kinds`: kind of each worker. `labels`: number of labels.
draw_answers <- function(unit, worker, kinds, labels) {
  n_answers <- length(unit)
  n_units <- max(unit)
  draw_labels <- function(n) sample.int(labels, n, replace = TRUE)
  pick_neighbour <- function(label) pmin(label + ifelse(label %% 2L == 1L, 1L, -1L), labels)
  main_label <- draw_labels(n_units)[unit]
  clarity <- runif(n_units, 0.3, 1)[unit]
  random_number <- runif(n_answers)
  is_near_main_label <- random_number < (1 + clarity) / 2
  first_label <- ifelse(is_near_main_label, pick_neighbour(main_label), draw_labels(n_answers))
  first_label[random_number < clarity] <- main_label[random_number < clarity]
  draw_careless_answers <- function(n) {
    list(first = draw_labels(n), second = ifelse(runif(n) < 0.3, draw_labels(n), NA))
  }
  answers_by_kind <- list(
    faithful = list(
      first = first_label, second = ifelse(runif(n_answers) < 0.15, pick_neighbour(first_label), NA)
    ),
    random = draw_careless_answers(n_answers),
    copy = lapply(draw_careless_answers(n_units), `[`, unit),
    constant = list(first = draw_labels(length(kinds))[worker], second = rep(NA, n_answers))
  )
  answer_index <- cbind(seq_len(n_answers), match(kinds[worker], names(answers_by_kind)))
  do.call(Map, c(function(...) cbind(...)[answer_index], unname(answers_by_kind)))
}

# Returns the kind of each worker; kinds are assigned at random. `spammers`: number of spammers of
# each kind. `workers`: number of workers.
draw_worker_kinds <- function(spammers, workers) {
  known_spammer_kinds <- c("random", "constant", "copy")
  is_valid <- is_empty(spammers) || is.numeric(spammers) && has_names(spammers) &&
    all(names(spammers) %in% known_spammer_kinds) && !anyNA(spammers) &&
    all(spammers >= 0 & spammers == round(spammers)) && sum(spammers) <= workers
  abort_argument_if(!is_valid, "spammers",
    "must be a named vector with the numbers of {.or {.val {known_spammer_kinds}}} workers, at most
        {workers} in total.", not = spammers)
  spammer_kinds <- rep(names(spammers), spammers)
  replace(rep("faithful", workers), sample.int(workers, length(spammer_kinds)), spammer_kinds)
}

# Assigns workers to units at random. Returns a matrix of worker indices (per_unit x units). Each
# round contains all workers in random order. A unit takes the next workers of the round. If the
# round ends before the unit has enough workers, the unit takes workers from a new round. Workers
# that the unit already has are then moved to the end of the new round.
assign_workers <- function(units, workers, per_unit) {
  assigned_workers <- matrix(0L, per_unit, units)
  waiting_workers <- sample.int(workers)
  for (u in seq_len(units)) {
    chosen_workers <- head(waiting_workers, per_unit)
    waiting_workers <- tail(waiting_workers, -per_unit)
    n_missing_workers <- per_unit - length(chosen_workers)
    if (n_missing_workers > 0L) {
      next_workers <- sample.int(workers)
      next_workers <-
        c(setdiff(next_workers, chosen_workers), intersect(next_workers, chosen_workers))
      chosen_workers <- c(chosen_workers, next_workers[seq_len(n_missing_workers)])
      waiting_workers <- next_workers[-seq_len(n_missing_workers)]
    }
    assigned_workers[, u] <- chosen_workers
  }
  assigned_workers
}

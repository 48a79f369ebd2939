#' Confusion matrix of a system
#'
#' Estimates which categories a system confuses, without knowing the true categories. Returns the
#' probability of each answer given the true category, and the recall and precision of each
#' category.
#'
#' Each case counts for every category with the posterior probability of that category, under the
#' method of the estimate. Under methods `"joint"` and `"average"` the posterior uses the system's
#' answer. Models with one accuracy per system shrink the recalls of its categories towards each
#' other. With `errors = "free"` in the [rater_model()] of `"joint"` each category has a separate
#' recall. Under `"shared"` the system is assumed to err where the raters err, so the system seems
#' to confuse what the raters confuse.
#'
#' Recall and precision are those of [estimate_metrics()], with the same intervals; intervals of
#' cells are computed in the same way. Repeated calls for an estimate give the same intervals,
#' because the seed depends only on the ratings. Bootstrap intervals contain sampling error only.
#' They are percentiles over resampled cases (or clusters, if the estimate has clusters), to which
#' the raters are fitted again. For `"average"` the replicates are from a joint fit of the `model`
#' of the estimate. They are shifted to the averaged values on the logit scale, and do not contain
#' the differences between models. If the expected number of cases of a category is almost zero, its
#' row is `NA`.
#'
#' @section Known truths:
#' With gold cases (`known_truth` of [estimate_accuracy()]), every cell, recall and precision is
#' measured separately, so rows may not sum to exactly one. The contribution of a case to a cell is
#' the derivative of the cell with respect to the joint table of truth and answer. The mean
#' contribution is predicted from ratings and corrected by gold cases, like an accuracy. A precision
#' is corrected like the accuracy of the cases with that answer. With `"combined"` intervals the
#' prior is the estimate from ratings, with the sampling error of the cell and an allowance for
#' shared errors, as in [estimate_metrics()]. The allowance is larger for answers on which more
#' ratings are probably wrong. If no gold case has the true category (for precision: the answer),
#' the estimate is computed from ratings only and has no interval.
#'
#' @param x An [estimate_accuracy()] result with method `"joint"`, `"shared"` or `"average"`.
#' @param interval `"bootstrap"`, `"none"`, or with gold cases one of
#'   `r list_ids(gold_intervals)`; `NULL` for the interval of the estimate. `"profile"` intervals
#'   are for accuracy only.
#' @param systems Names of the systems whose matrices are computed; `NULL` for all.
#' @param conf_level Nominal coverage of the intervals, in (0, 1); `NULL` for that of the estimate.
#' @param ... Not used.
#' @return An object of class `confusion_estimate`.
#'   * `as.matrix()`: the matrix of a system (a list of matrices for several systems):
#'     probabilities, truth in rows, answers in columns.
#'   * `tidy()`: a tibble with a row per system, true category and answer: `system`, `truth`,
#'     `prediction`, `estimate` (probability of the answer given the truth), `std.error`,
#'     `conf.low`, `conf.high`, `n` (expected number of cases) and `reason` (why a value is `NA`).
#'   * `tidy(x, "categories")`: a row per system, category and measure: `system`, `category`,
#'     `measure`, `estimate`, `std.error`, `conf.low`, `conf.high`, `n` and `reason`. `measure` is
#'     `"recall"`, the probability that a case of the category is recognised, or `"precision"`, the
#'     probability that an answer of the category is correct. `n` is the expected number of cases of
#'     the category, or the number of answers.
#'   * `glance()`: a tibble with one row: the numbers of `systems` and `categories`; `recall` and
#'     `precision`, means over systems and categories; `method`, `interval`, `conf_level`,
#'     `replicates`.
#'   * `format()`: a line with the same means.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = 0.7))
#' estimate <- estimate_accuracy(x)
#' matrices <- confusion(estimate)
#' matrices
#' tidy(matrices, what = "categories")
#' as.matrix(matrices)
#' @name confusion_estimate
#' @export
confusion.accuracy_estimate <- function(x, # nolint: object_name.
                                        interval = NULL, conf_level = NULL, systems = NULL,
                                        ...) {
  check_dots_empty(...)
  systems <- check_system_names(systems, x$table$system)
  interval <- check_metric_interval(interval, x)
  conf_level <- check_level(conf_level %||% x$options$conf_level)
  abort_argument_if(!has_posterior(x), "x",
    "Method {.val {x$options$method}} estimates accuracy only, not a confusion matrix.",
    i = "Estimate with {.arg method} {.or {.val {ids_with('posterior', accuracy_methods)}}}.")
  at <- match(systems, x$fit$x$systems)
  counts <- confusion_counts(without_gold(x))[at]
  draws <- table_draws(x, interval)
  rows <- function(plan) metrics_of_table(x, plan, interval, conf_level, draws, at)
  known <- !is.null(draws$values) || measures_by_gold(x, interval)
  new_confusion_estimate(
    confusion_cells(rows, counts, systems, x$fit$x$categories),
    recall_and_precision(rows, counts, x$fit$x$categories),
    c(x$options[c("method", "replicates")], list(
      interval = if (known) interval else interval_none$id, conf_level = conf_level,
      words = estimator_words(x)
    )),
    if (known) metric_interval_note(interval, conf_level, list(x))
  )
}

# Expected numbers of cases: a vector per system (answers vary fastest, then truths).
confusion_counts <- function(estimate) {
  x <- estimate$fit$x
  n <- n_categories(x)
  if (!is.null(estimate$cells)) {
    return(unname(split(colMeans(estimate$cells$values), rep(seq_along(x$systems), each = n^2))))
  }
  weight <- pattern_weights(x) * judged_patterns(estimate$fit)
  lapply(seq_along(x$systems), function(s) {
    posterior <- estimate$posterior[[s]]
    if (is.null(posterior) || is.na(estimate$table$estimate[[s]])) return(rep(NA_real_, n * n))
    counts_of_answers(pattern_answers(x)[, s], posterior, weight)
  })
}

# A list with `values` (replicates x counts of all systems), or the `reason` why there are none.
confusion_draws <- function(estimate) {
  if (!is.null(estimate$cells)) return(estimate$cells)
  cells <- n_categories(estimate$fit$x)^2
  replicates <- estimate$options$replicates
  reason <- why_no_interval(interval_bootstrap, estimate)
  if (is.null(reason) && cells * nrow(estimate$table) * replicates > most_numbers) {
    reason <- paste0(
      "so many cells take too much memory (use fewer replicates than ", number(replicates), ")"
    )
  }
  if (!is.null(reason) || anyNA(estimate$fit$base_rates)) {
    return(list(values = NULL, reason = reason))
  }
  list(values = stand_in_replicates(estimate, "counts"), cells = cells, reason = NULL)
}

most_in_block <- 1e6 # numbers of tables that are processed at a time

# Applies `f` to replicates of the counts of a system, a block of rows at a time.
in_blocks <- function(draws, s, f) {
  columns <- (s - 1L) * draws$cells + seq_len(draws$cells)
  rows <- seq_len(nrow(draws$values))
  blocks <- split(rows, ceiling(rows / ceiling(most_in_block / draws$cells)))
  stack_rows(unname(blocks), function(at) f(draws$values[at, columns, drop = FALSE]))
}

# A row per system, truth and answer. `rows`: a function of a plan, see metrics_of_table(). Tables
# are computed for some truths at a time.
confusion_cells <- function(rows, counts, systems, categories) {
  n <- length(categories)
  blocks <- in_runs(seq_len(n), max(1, most_in_block %/% n^3))
  cells <- stack_rows(blocks, function(truth) {
    rows(cell_plan(categories, truth))
  })
  cells <- cells[order(match(cells$system, systems)), ]
  columns_tibble(
    system = cells$system, truth = cells$category,
    prediction = rep(categories, nrow(cells) / n), !!!cells[c("estimate", interval_columns)],
    n = unlist(counts), reason = cells$reason
  )
}

# Recall and precision, computed as metrics.
recall_and_precision <- function(rows, counts, categories) {
  metrics <- built_in_metrics[c("recall", "precision")]
  cells <- rows(metric_plan(metrics, categories, NULL, list()))
  n <- lapply(counts, function(cases) {
    table_sums(matrix(cases, 1L), length(categories))[c("truth", "answer")]
  })
  columns_tibble(
    !!!cells[c("system", "category")], measure = cells$metric,
    !!!cells[c("estimate", interval_columns)], n = unlist(n), reason = cells$reason
  )
}

# For each table (a row): numbers of cases by true category, by answer, and of correct answers.
table_sums <- function(tables, n) {
  cube <- array(tables, c(nrow(tables), n, n))
  list(
    truth = rowSums(aperm(cube, c(1L, 3L, 2L)), dims = 2L), answer = rowSums(cube, dims = 2L),
    right = tables[, (seq_len(n) - 1L) * n + seq_len(n), drop = FALSE]
  )
}

few_cases <- 1e-6 # expected number of cases, below which a row has no information

# Divides each cell of a table by the number of cases with its truth.
cell_shares <- function(tables, n) {
  ratio_of(tables, table_sums(tables, n)$truth[, rep(seq_len(n), each = n), drop = FALSE])
}

cell_plan <- function(categories, truth) {
  n <- length(categories)
  record <- new_metric("cell", "", "", cell_shares, "cell", undefined = no_such_case)
  record$cells <- (rep(truth, each = n) - 1L) * n + rep(seq_len(n), length(truth))
  list(
    records = list(cell = record), categories = categories, averages = NULL, settings = list(),
    rows = data.frame(
      metric = "cell", average = NA_character_, category = rep(categories[truth], each = n)
    )
  )
}

# Shifts replicates of an estimator to the estimate of another, on the logit scale.
moved_to <- function(values, estimate) {
  inside <- function(p) stats::qlogis(pmin(pmax(p, 1e-9), 1 - 1e-9))
  centre <- apply(values, 2L, stats::median, na.rm = TRUE)
  off <- inside(estimate) - inside(centre)
  out <- stats::plogis(sweep(inside(values), 2L, off, `+`))
  out[values %in% c(0, 1)] <- values[values %in% c(0, 1)]
  out
}

# Results of class confusion_estimate.

# `note`: what the intervals contain; NULL if there are none.
new_confusion_estimate <- function(cells, categories, options, note) {
  mean_of <- function(measure) mean_known(categories$estimate[categories$measure == measure])
  known_as <- function(value) if (is.null(note)) value[NA_integer_] else value
  systems <- unique(cells$system)
  facts <- list(
    systems = length(systems), categories = length(unique(cells$truth)),
    recall = mean_of("recall"), precision = mean_of("precision"), method = options$method,
    interval = options$interval, conf_level = known_as(options$conf_level),
    replicates = known_as(options$replicates)
  )
  size <- paste0(
    count_noun(facts$systems, "system"), ", ",
    count_noun(facts$categories, "category", "categories")
  )
  by_category <- category_columns(categories)
  new_result("confusion_estimate",
    tables = list(cells = cells, categories = categories), facts = facts, options = options,
    line = sprintf("%s: mean recall %s, mean precision %s", size,
      decimals(facts$recall, 2L), decimals(facts$precision, 2L)),
    caption = paste0(size, ", ", options$words),
    shown = views_of_confusion(matrices_of(cells), by_category),
    document = view(by_category, names(by_category)[c(length(systems) > 1L, rep(TRUE, 5L))]),
    notes = c(
      "Recall: a case of the category is recognised; precision: an answer of the category is right;
       cases: expected number",
      reason_notes(categories, paste(
        categories$measure, "of", categories$category, "in", categories$system
      ), 3L),
      if (length(systems) > 4L) {
        paste("Shown: the first 4 of", number(length(systems)), "systems; see tidy()")
      },
      note
    ),
    more = "tidy(what = \"categories\"), as.matrix(), plot()"
  )
}

# For the first systems: the matrix, unless it is large, and a table of recall and precision.
views_of_confusion <- function(matrices, by_category) {
  unlist(lapply(head(names(matrices), 4L), function(system) {
    matrix <- matrices[[system]]
    drop_null(list(
      if (ncol(matrix) <= 12L) view_of_matrix(matrix, "truth",
        title = paste0(system, ": probability of the answer, truth in rows")),
      view(by_category[by_category$system == system, -1L],
        most = 30L, title = paste0(system, ", by category"))
    ))
  }), recursive = FALSE)
}

#' @rdname confusion_estimate
#' @export
as.matrix.confusion_estimate <- function(x, ...) {
  check_dots_empty(...)
  matrices <- matrices_of(x$cells)
  if (length(matrices) == 1L) matrices[[1L]] else matrices
}

matrices_of <- function(cells) {
  labels <- unique(cells$truth)
  lapply(split(cells$estimate, in_order(cells$system)), matrix,
    length(labels), byrow = TRUE, dimnames = list(truth = labels, prediction = labels))
}

# Recall and precision, a row per system and category.
category_columns <- function(table) {
  recall <- table[table$measure == "recall", ]
  precision <- table[table$measure == "precision", ]
  data.frame(
    system = recall$system, category = recall$category, recall = format_estimates(recall),
    precision = format_estimates(precision), cases = decimals(recall$n, 1L),
    answers = number(round(precision$n, 1L))
  )
}

#' @export
confusion.result_parts <- function(x, ...) { # nolint: object_name.
  check_estimate(x)
}

#' @rdname confusion_estimate
#' @param object A `confusion()` result for an estimate of accuracy.
#' @return `autoplot()`: a ggplot, the matrix of each system as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(matrices)
#' @rawNamespace S3method(ggplot2::autoplot,confusion_estimate)
autoplot.confusion_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  cells <- tidy(object)
  check_drawn(cells$estimate, "The matrix is", cells$reason)
  pairs <- data.frame(
    judge1 = cells$prediction, judge2 = cells$truth, value = cells$estimate,
    system = in_order(cells$system)
  )
  heat_map(
    pairs, unique(cells$truth), "Answers by true category",
    "Probability of the answer given the truth, which is estimated", "answer of the system",
    "true category"
  ) +
    facet_by(pairs, "system")
}

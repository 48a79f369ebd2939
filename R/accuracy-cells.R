#' Confusion matrix of a system
#'
#' Estimates which categories a system (a classifier) confuses, from ratings: the categories that
#' several raters gave to the same cases. True categories need not be known. Returns the probability
#' of each answer of the system given the true category, and the recall and precision of each
#' category.
#'
#' @details Each case is counted in the rows of all categories. Its weight in a row is the posterior
#' probability of the category: the probability, given the ratings, that the category is true. The
#' `method` of `x` computes these probabilities. Method `"shared"` assumes that the system errs
#' where the raters err, so its matrix also contains the raters' confusions. Method `"joint"` with
#' `rater_model(errors = "free")` estimates each recall separately. Other models make the recalls of
#' a system more similar.
#'
#' Each bootstrap replicate resamples cases (or the clusters of `x`) and fits the model again. For
#' method `"average"`, replicates fit the model of method `"joint"`.
#'
#' @section Gold cases: Gold cases are cases with known truth (argument `known_truth` of
#' [estimate_accuracy()]). If they are a sample, they correct each cell, recall and precision, as
#' [estimate_accuracy()] corrects an accuracy. Rows may then not sum to one. `"corrected"` intervals
#' are valid whatever errors raters make. `"combined"` also uses the estimate from ratings, as a
#' prior. `"anytime"` is valid at all numbers of gold cases simultaneously. If no gold case has the
#' true category (for precision: the answer), the estimate is computed from ratings only and has no
#' interval.
#'
#' @param x For `confusion()`: an [estimate_accuracy()] result with method `"average"` (its
#'   default), `"joint"` or `"shared"`. Or a [ratings()] object with systems, from which accuracies
#'   are estimated first. For `as.matrix()`: a `confusion()` result.
#' @param interval Kind of interval. The default `NULL` uses the kind of interval in `x`, such as
#'   `"robust"` (sampling error and an allowance for errors that system and raters share). Other
#'   values are `"bootstrap"` (percentiles of bootstrap replicates, which contain sampling error
#'   only), `"none"` and, if `x` has gold cases, `r ids_text(gold_intervals)` (see *Gold cases*). If
#'   `x` was estimated from posterior draws, `"posterior"` replaces `"bootstrap"`. There are no
#'   `"profile"` intervals.
#' @param systems Names of the systems whose matrices are computed; `NULL`, the default, for all.
#' @param conf_level Nominal coverage of the intervals, in (0, 1). `NULL`, the default, is the
#'   confidence level of `x`.
#' @param ... If `x` is a ratings object: arguments of [estimate_accuracy()], such as
#'   `known_truth`. Otherwise not used.
#' @return An object of class `confusion_estimate`.
#'   * `as.matrix()`: a numeric matrix of the probabilities of answers (columns) given the true
#'     category (rows). For several systems, a list of matrices, named by system.
#'   * `tidy()`: a tibble with a row per system, true category and answer. `system`; `truth`, the
#'     true category; `prediction`, the answer; `estimate`, the probability of the answer given the
#'     truth; `std.error`; `conf.low` and `conf.high`, limits of the interval; `n`, the expected
#'     number of cases with this truth and this answer; `reason`, why a value is `NA`. The estimates
#'     of a true category are `NA` if its expected number of cases is nearly 0.
#'   * `tidy(x, "categories")`: a tibble with a row per system, category and measure. `measure` is
#'     `"recall"` or `"precision"`. Recall is the probability that the system assigns the category
#'     to a case of the category. Precision is the probability that a case to which the system
#'     assigned the category belongs to it. `n` is the expected number of cases of the category
#'     (for recall), or the number of cases to which the system assigned the category (for
#'     precision). Other columns: `system`, `category`; `estimate`, `std.error`, `conf.low`,
#'     `conf.high` and `reason` as above.
#'   * `glance()`: a tibble with one row: the numbers of `systems` and `categories`; `recall` and
#'     `precision`, means over systems and categories; `method`; `interval`, which is `"none"` if no
#'     intervals were requested or can be computed; `conf_level` and `replicates` (number of
#'     bootstrap replicates), both `NA` if `interval` is `"none"`.
#'   * `format()`: a string with the means of recall and precision.
#' @family metrics
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = 0.7))
#' estimate <- estimate_accuracy(x)
#' matrices <- confusion(estimate)
#' matrices
#' # Recall and precision of each category
#' tidy(matrices, what = "categories")
#' # The confusion matrix, with the truth in rows
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
  categories <- x$fit$x$categories
  system_numbers <- match(systems, x$fit$x$systems)
  counts <- confusion_counts(undo_gold_correction(x))[system_numbers]
  draws <- table_draws(x, interval)
  compute_metrics <- function(plan) {
    metrics_of_table(x, plan, interval, conf_level, draws, system_numbers)
  }
  # estimate_metrics() uses the same code, so it returns the same recall and precision.
  category_metrics <- compute_metrics(
    metric_plan(built_in_metrics[c("recall", "precision")], categories, NULL, list())
  )
  names(category_metrics)[names(category_metrics) == "metric"] <- "measure"
  category_metrics$n <- unlist(lapply(counts, function(cases) {
    table_sums(matrix(cases, 1L), length(categories))[c("truth", "answer")]
  }), use.names = FALSE)
  has_intervals <- !is.null(draws$values) || is_measured_by_gold(x, interval)
  new_confusion_estimate(
    confusion_cells(compute_metrics, counts, systems, categories),
    category_metrics[c("system", "category", "measure", estimate_columns, "n", "reason")],
    c(x$options[c("method", "replicates")], list(
      interval = if (has_intervals) interval else interval_none$id, conf_level = conf_level,
      words = estimator_words(x), followers = intersect(find_followers(x), systems)
    )),
    if (has_intervals) metric_interval_note(interval, conf_level, list(x))
  )
}

# Returns the expected numbers of cases by true category and answer: a list with a numeric vector
# per system. In each vector the answer varies fastest. The numbers of a system without an estimate
# are NA.
confusion_counts <- function(estimate) {
  x <- estimate$fit$x
  category_count <- n_categories(x)
  if (!is.null(estimate$cells)) {
    return(unname(split(
      colMeans(estimate$cells$values), rep(seq_along(x$systems), each = category_count^2)
    )))
  }
  usable_weights <- pattern_weights(x) * is_usable_pattern(estimate$fit)
  lapply(seq_along(x$systems), function(s) {
    posterior <- estimate$posterior[[s]]
    if (is.null(posterior) || is.na(estimate$table$estimate[[s]]))
      rep(NA_real_, category_count^2) else
      counts_of_answers(pattern_answers(x)[, s], posterior, usable_weights)
  })
}

# Computes bootstrap replicates, or posterior draws, of the numbers that confusion_counts() returns.
# Returns a list:
# * values: a matrix with a row per replicate. Its columns are the numbers of all systems, one
#   system after the other. NULL if there are no replicates.
# * cells: number of columns per system.
# * reason: why there are no replicates, a string or NULL.
confusion_draws <- function(estimate) {
  if (!is.null(estimate$cells)) return(estimate$cells)
  n_cells <- n_categories(estimate$fit$x)^2
  replicates <- estimate$options$replicates
  reason <- why_no_interval(interval_bootstrap, estimate) %||%
    if (n_cells * nrow(estimate$table) * replicates > max_numbers) sprintf(
      "the cells of all replicates take too much memory (use fewer replicates than %s)",
      number(replicates)
    )
  if (!is.null(reason) || anyNA(estimate$fit$base_rates)) list(reason = reason) else
    list(values = stand_in_replicates(estimate, "counts"), cells = n_cells)
}

max_block_size <- 1e6 # largest number of matrix elements that are processed at a time

# Applies `f` to the replicates of one system in blocks, to save memory, and binds the rows of the
# results.
# * draws: result of confusion_draws().
# * s: number of the system.
# * f: a function of a matrix (replicates x cells of the system).
apply_in_blocks <- function(draws, s, f) {
  columns <- (s - 1L) * draws$cells + seq_len(draws$cells)
  blocks <- split_in_runs(row_numbers(draws$values), ceiling(max_block_size / draws$cells))
  stack_rows(blocks, function(block) f(draws$values[block, columns, drop = FALSE]))
}

# Returns the confusion matrices as a table with a row per system, true category and answer. To save
# memory, only a few true categories are computed at a time.
# * compute_metrics: a function that computes a table of metrics from a plan (see metric_plan()).
#   Each cell of a confusion matrix is a metric.
# * counts: result of confusion_counts().
# * systems, categories: names of all systems and of all categories.
confusion_cells <- function(compute_metrics, counts, systems, categories) {
  category_count <- length(categories)
  # The probability of the answer given the truth is the number of cases in the cell, divided by the
  # number of cases with the same true category.
  metric <- new_metric("cell", "", "", function(tables, n) {
    ratio_of(tables, pick_columns(table_sums(tables, n)$truth, rep(seq_len(n), each = n)))
  }, "cell", undefined = reason_no_case)
  blocks <- split_in_runs(seq_len(category_count), max(1, max_block_size %/% category_count^3))
  cells <- stack_rows(blocks, function(block) {
    truth_of_row <- rep(block, each = category_count)
    block_metric <-
      replace(metric, "cells", list((truth_of_row - 1L) * category_count + seq_len(category_count)))
    compute_metrics(list(
      records = list(cell = block_metric), categories = categories, averages = NULL,
      settings = list(),
      rows = data.frame(
        metric = "cell", average = NA_character_, category = categories[truth_of_row]
      )
    ))
  })
  cells <- cells[order(match(cells$system, systems)), ]
  columns_tibble(
    system = cells$system, truth = cells$category,
    prediction = rep(categories, nrow(cells) / category_count), !!!cells[estimate_columns],
    n = unlist(counts), reason = cells$reason
  )
}

# Returns sums of several tables that count cases by true category and answer. `tables`: matrix with
# a row per table and a column per cell. `n`: number of categories. The result is a list of three
# matrices with a row per table and a column per category:
# * truth: numbers of cases with this true category.
# * answer: numbers of cases with this answer.
# * right: numbers of cases with this true category and this answer.
table_sums <- function(tables, n) {
  cube <- array(tables, c(nrow(tables), n, n))
  list(
    truth = rowSums(aperm(cube, c(1L, 3L, 2L)), dims = 2L), answer = rowSums(cube, dims = 2L),
    right = pick_columns(tables, diagonal_cells(n))
  )
}

min_expected_cases <- 1e-6 # the recall of a category with fewer cases is NA

# Shifts replicates on the logit scale so that their medians equal `estimate`. Replicates of exactly
# 0 and 1 are not shifted. `values`: replicates x quantities. `estimate`: a number per quantity.
shift_replicates <- function(values, estimate) {
  logit <- function(p) qlogis(clamp(p, 1e-9, 1 - 1e-9))
  medians <- apply(values, 2L, median, na.rm = TRUE)
  shifted_values <- plogis(sweep(logit(values), 2L, logit(estimate) - logit(medians), `+`))
  is_zero_or_one <- values %in% c(0, 1)
  replace(shifted_values, is_zero_or_one, values[is_zero_or_one])
}

# ---- Results of class confusion_estimate and their printed form ----

# Creates the result of confusion().
# * cells: table of the confusion matrices, see confusion_cells().
# * categories: table of recall and precision, with a row per system, category and measure.
# * options: list of settings.
# * note: a sentence about the sources of error in the intervals. NULL without intervals.
new_confusion_estimate <- function(cells, categories, options, note) {
  recall_rows <- categories[categories$measure == "recall", ]
  precision_rows <- categories[categories$measure == "precision", ]
  na_without_intervals <- function(value) if (is.null(note)) value[NA_integer_] else value
  n_systems <- n_distinct(cells$system)
  glance_columns <- list(
    systems = n_systems, categories = n_distinct(cells$truth),
    recall = mean_known(recall_rows$estimate), precision = mean_known(precision_rows$estimate),
    method = options$method,
    interval = options$interval, conf_level = na_without_intervals(options$conf_level),
    replicates = na_without_intervals(options$replicates)
  )
  size_text <- paste0(
    count_noun(n_systems, "system"), ", ",
    count_noun(glance_columns$categories, "category")
  )
  category_table <- data.frame(
    system = recall_rows$system, category = recall_rows$category,
    recall = format_estimates(recall_rows), precision = format_estimates(precision_rows),
    cases = format_decimals(recall_rows$n, 1L),
    answers = number(round(precision_rows$n, 1L))
  )
  new_result("confusion_estimate",
    tables = list(cells = cells, categories = categories), facts = glance_columns,
    options = options,
    line = sprintf("%s: mean recall %s, mean precision %s", size_text,
      format_decimals(glance_columns$recall, 2L), format_decimals(glance_columns$precision, 2L)),
    caption = paste0(size_text, ", ", options$words),
    shown = make_confusion_views(list_confusion_matrices(cells), category_table),
    document = view(category_table, names(category_table)[c(n_systems > 1L, rep(TRUE, 5L))]),
    notes = c(
      "Recall: a case of the category is recognised; precision: an answer of the category is right;
       cases: expected number",
      reason_notes(categories, paste(
        categories$measure, "of", categories$category, "in", categories$system
      ), 3L),
      if (n_systems > 4L) {
        paste("Shown: the first 4 of", number(n_systems), "systems; see tidy()")
      },
      note_of_followers(options$followers), note
    ),
    more = "tidy(what = \"categories\"), as.matrix(), plot()"
  )
}

# Returns the tables that are printed for the first four systems (see view()). The confusion matrix
# is left out if it has more than 12 categories.
# * matrices: list of confusion matrices, named by system.
# * category_table: recall and precision as strings, a row per system and category.
make_confusion_views <- function(matrices, category_table) {
  unlist(lapply(head(names(matrices), 4L), function(system) {
    matrix <- matrices[[system]]
    drop_null(list(
      if (ncol(matrix) <= 12L) view_of_matrix(matrix, "truth",
        title = paste0(system, ": probability of the answer, truth in rows")),
      view(category_table[category_table$system == system, -1L],
        most = 30L, title = paste0(system, ", by category"))
    ))
  }), recursive = FALSE)
}

#' @rdname confusion_estimate
#' @export
as.matrix.confusion_estimate <- function(x, ...) {
  check_dots_empty(...)
  matrices <- list_confusion_matrices(x$cells)
  if (length(matrices) == 1L) matrices[[1L]] else matrices
}

# Returns a list with the confusion matrix of each system, named by system. `cells`: see
# confusion_cells().
list_confusion_matrices <- function(cells) {
  category_names <- unique(cells$truth)
  lapply(split(cells$estimate, factor_in_order(cells$system)), matrix,
    length(category_names), byrow = TRUE,
    dimnames = list(truth = category_names, prediction = category_names))
}

#' @export
confusion.ratings <- function(x, ...) { # nolint: object_name.
  if (n_systems(x) > 0L) confusion(estimate_accuracy(x, ...)) else NextMethod()
}

#' @export
confusion.result_parts <- function(x, ...) { # nolint: object_name.
  check_estimate(x)
}

#' @rdname confusion_estimate
#' @param object A `confusion()` result for an [estimate_accuracy()] result.
#' @return `autoplot()`: a ggplot, the matrix of each system as a heat map.
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(matrices)
#' @rawNamespace S3method(ggplot2::autoplot,confusion_estimate)
autoplot.confusion_estimate <- function(object, ...) { # nolint: object_name.
  check_dots_empty(...)
  cells <- tidy(object)
  check_drawn(cells$estimate, "The matrix is", cells$reason)
  heat_map(
    data.frame(
      judge1 = cells$prediction, judge2 = cells$truth, value = cells$estimate,
      system = factor_in_order(cells$system)
    ), unique(cells$truth), "Answers by true category",
    "Probability of the answer given the truth, which is estimated", "answer of the system",
    "true category", facets = "system"
  )
}

#' Confusion matrix of a system
#'
#' Which categories a system confuses, without knowing the correct ones: the probability of each
#' answer given the true category, how often each category is recognised (recall), and how often an
#' answer is right (precision).
#'
#' Each case counts for every category with its posterior probability of being true, under the
#' method that the estimate was made with. Under methods `"joint"` and `"average"` that probability
#' uses the system's own answer, and a model that gives a system one accuracy for all categories
#' draws its categories towards each other; with `errors = "free"` in the [rater_model()] of
#' `"joint"` each has its own. Under `"shared"` the system is taken to err where the raters err, so
#' that what raters confuse the system seems to confuse.
#'
#' Recall and precision are those of [estimate_metrics()], with the same intervals, and a cell has
#' an interval as recall has. Of one estimate intervals are the same at every call: what is drawn
#' for them hangs on the ratings alone. Bootstrap intervals contain sampling error alone: they are
#' percentiles over cases (or clusters, if the estimate was given clusters) that are resampled and
#' fitted again. For `"average"` they are those of the joint model that `model` of the estimate
#' names, moved to the averaged values on the logit scale, and do not contain how far the models
#' differ. Without any case that is thought to be of a category its row is `NA`.
#'
#' @section Known truths:
#' Of an estimate with gold cases (`known_truth` of [estimate_accuracy()]) they measure every cell,
#' recall and precision, each by itself, so that rows need not sum to one exactly. Precision is a
#' share of the cases with the answer, and corrected like an accuracy. The probability of an answer
#' given a truth is a ratio of two means over all cases, both corrected. With `"combined"` intervals
#' the prior is what ratings alone say, with the sampling error of the cell and what shared errors
#' may hide in it, as in [estimate_metrics()]: the more, the more often raters are thought to be
#' wrong on the cases with that answer. Where no gold case has the truth, or none the answer, the
#' estimate is that of ratings alone, and has no interval.
#'
#' @param x An [estimate_accuracy()] result with method `"joint"`, `"shared"` or `"average"`.
#' @param interval `NULL` for that of the estimate, `"bootstrap"`, `"none"` or, of an estimate with
#'   gold cases, one of `r list_ids(gold_intervals())`. `"profile"` intervals are for accuracy
#'   only.
#' @param systems Names of the systems whose matrices to make; `NULL` for all.
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1); `NULL` for that
#'   of the estimate.
#' @param ... Not used.
#' @return An object of class `confusion_estimate`. `as.matrix()` gives the matrix of a system (or a
#'   list of matrices, for several): probabilities, truth in rows, answers in columns. `tidy()`: a
#'   tibble with a row per system, true category and answer: `system`, `truth`, `prediction`,
#'   `estimate` (probability of the answer given the truth), `std.error`, `conf.low`, `conf.high`,
#'   `n` (expected number of cases) and `reason`, why something is `NA`. `tidy(x, "categories")`: a
#'   row per system, category and measure: `system`, `category`, `measure` (`"recall"`, the
#'   probability that a case of the category is recognised, or `"precision"`, that an answer of the
#'   category is right), `estimate`, `std.error`, `conf.low`, `conf.high`, `n` (expected number of
#'   cases of the category, or number of answers) and `reason`. `glance()`: a tibble with one row:
#'   the numbers of `systems` and `categories`, mean `recall` and `precision` over these; `method`,
#'   `interval`, `conf_level`, `replicates`. `format()`: the same in a line.
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
    i = "Estimate with {.arg method} {.or {.val {ids_with('posterior', accuracy_methods())}}}.")
  counts <- confusion_counts(without_gold(x))
  draws <- table_draws(x, interval)
  cells <- lapply(match(systems, x$fit$x$systems), function(s) {
    confusion_cells(x, s, counts[[s]], draws, interval, conf_level)
  })
  known <- !is.null(draws$values) || measures_by_gold(x, interval)
  found <- if (known) interval else interval_none$id
  new_confusion_estimate(
    stack_rows(cells), confusion_categories(x, systems, counts, draws, interval, conf_level),
    c(x$options[c("method", "replicates")], list(interval = found, conf_level = conf_level)),
    if (known) metric_interval_note(interval, conf_level, x)
  )
}

# Expected numbers of cases: a vector per system, answers within truths.
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
    answer <- outer(pattern_answers(x)[, s], seq_len(n), `==`) * weight
    as.vector(crossprod(answer, posterior))
  })
}

# A list of values, replicates x counts of all systems, or of the reason why there are none.
confusion_draws <- function(estimate) {
  if (!is.null(estimate$cells)) return(estimate$cells)
  cells <- n_categories(estimate$fit$x)^2
  replicates <- estimate$options$replicates
  reason <- lack_of_interval(interval_bootstrap, estimate)
  if (is.null(reason) && cells * nrow(estimate$table) * replicates > most_numbers) {
    reason <- paste0(
      "so many cells take too much memory (use fewer replicates than ", number(replicates), ")"
    )
  }
  unknown <- !is.null(reason) || anyNA(estimate$fit$base_rates)
  if (unknown) return(list(values = NULL, reason = reason))
  list(values = stand_in_replicates(estimate, "counts"), cells = cells, reason = NULL)
}

most_in_block <- 1e6 # numbers of tables that are handled at a time

# Rows that `f` makes of replicates of the counts of a system, a block at a time.
in_blocks <- function(draws, s, f) {
  columns <- (s - 1L) * draws$cells + seq_len(draws$cells)
  rows <- seq_len(nrow(draws$values))
  blocks <- split(rows, ceiling(rows / ceiling(most_in_block / draws$cells)))
  stack_rows(unname(blocks), function(at) f(draws$values[at, columns, drop = FALSE]))
}

# Of a system, a row per truth and answer.
confusion_cells <- function(estimate, s, counts, draws, interval, conf_level) {
  alone <- without_gold(estimate)
  categories <- alone$fit$x$categories
  n <- length(categories)
  place <- list(truth = rep(seq_len(n), each = n), answer = rep(seq_len(n), n))
  found <- columns_tibble(
    system = rep(alone$table$system[[s]], n^2), truth = categories[place$truth],
    prediction = categories[place$answer],
    estimate = na_real(cell_shares(matrix(counts, 1L), n)[1L, ]), std.error = NA_real_,
    conf.low = NA_real_, conf.high = NA_real_, n = counts, reason = NA_character_
  )
  lacking <- is.na(found$estimate)
  found$reason[lacking] <- if (anyNA(counts)) alone$table$reason[[s]] else no_such_case
  record <- accuracy_intervals()[[interval]]
  by_gold <- measures_by_gold(estimate, interval)
  if (is.null(draws$values) && !by_gold) {
    reason <- lack_of_kind(record) %||% draws$reason
    return(if (is.null(reason)) found else without_interval(found, reason))
  }
  if (record$cells) {
    values <- in_blocks(draws, s, function(counts) cell_shares(counts, n))
    if (has_stand_in(alone)) values <- moved_to(values, found$estimate)
    return(add_intervals(found, core_percentile_intervals(values, conf_level, TRUE)))
  }
  found <- cell_errors(found, place, alone, s, counts, draws)
  ends <- cbind(rep(0, n^2), 1)
  found <- if (by_gold) {
    each <- lapply(seq_len(n^2), function(i) {
      cell <- list(system = s, truth = place$truth[[i]], answer = place$answer[[i]],
        of_answer = FALSE)
      gold_of_cell(found, estimate, cell, i, c(0, 1))
    })
    measured_rows(found, seq_len(n^2), each, ends, record, estimate, conf_level)
  } else {
    interval_rows(found, ends, robust_quantile(alone$options, conf_level))
  }
  without_parts(found)
}

# Recall and precision as metrics are.
confusion_categories <- function(estimate, systems, counts, draws, interval, conf_level) {
  categories <- estimate$fit$x$categories
  plan <- metric_plan(built_in_metrics[c("recall", "precision")], categories, NULL, list())
  found <- metrics_of_table(estimate, plan, interval, conf_level, draws)
  found$n <- unlist(lapply(counts, function(of) {
    table_sums(matrix(of, 1L), length(categories))[c("truth", "answer")]
  }))
  kept <- unlist(lapply(systems, function(system) which(found$system == system)))
  columns <- c("system", "category", "metric", "estimate", "std.error", "conf.low", "conf.high")
  found <- found[kept, c(columns, "n", "reason")]
  names(found)[[3L]] <- "measure"
  found
}

# Tables x categories: what they have of each truth, of each answer, and of right answers.
table_sums <- function(tables, n) {
  cube <- array(tables, c(nrow(tables), n, n))
  list(
    truth = rowSums(aperm(cube, c(1L, 3L, 2L)), dims = 2L), answer = rowSums(cube, dims = 2L),
    right = tables[, (seq_len(n) - 1L) * n + seq_len(n), drop = FALSE]
  )
}

few_cases <- 1e-6 # expected, in a row that says nothing

# Of each table, shares of the cases with the truth.
cell_shares <- function(counts, n) {
  total <- table_sums(counts, n)$truth
  total[total < few_cases] <- NaN
  counts / total[, rep(seq_len(n), each = n), drop = FALSE]
}

# Replicates of one estimator, around the value of another.
moved_to <- function(values, estimate) {
  inside <- function(p) stats::qlogis(pmin(pmax(p, 1e-9), 1 - 1e-9))
  centre <- apply(values, 2L, stats::median, na.rm = TRUE)
  off <- inside(estimate) - inside(centre)
  out <- stats::plogis(sweep(inside(values), 2L, off, `+`))
  out[values %in% c(0, 1)] <- values[values %in% c(0, 1)]
  out
}

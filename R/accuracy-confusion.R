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
#' recall and precision, each by itself, so that rows need not sum to one exactly. What a case adds
#' to a cell is the derivative of the cell by the joint table of truth and answer. Its mean is
#' predicted from ratings and corrected by gold cases, as an accuracy is; a precision is corrected
#' as the accuracy of the cases with the answer. With `"combined"` intervals the prior is the
#' estimate from ratings, with the sampling error of the cell and an allowance for shared errors,
#' as in [estimate_metrics()]. The allowance is larger for answers on which more
#' ratings are probably wrong. Where no gold case has the truth (for precision: the answer), the
#' estimate is from ratings only, and has no interval.
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
  at <- match(systems, x$fit$x$systems)
  cells <- confusion_cells(x, counts[at], draws, at, interval, conf_level)
  known <- !is.null(draws$values) || measures_by_gold(x, interval)
  found <- if (known) interval else interval_none$id
  new_confusion_estimate(
    cells, confusion_categories(x, counts[at], draws, at, interval, conf_level),
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

# A row per system (of numbers `at`), truth and answer. Tables are for some truths at a time.
confusion_cells <- function(estimate, counts, draws, at, interval, conf_level) {
  categories <- estimate$fit$x$categories
  n <- length(categories)
  block <- ceiling(seq_len(n) / max(1, most_in_block %/% n^3))
  found <- stack_rows(unname(split(seq_len(n), block)), function(truth) {
    metrics_of_table(estimate, cell_plan(categories, truth), interval, conf_level, draws, at)
  })
  found <- found[order(match(found$system, estimate$table$system[at])), ]
  columns_tibble(
    system = found$system, truth = found$category,
    prediction = rep(categories, nrow(found) / n), !!!found[c("estimate", interval_columns)],
    n = unlist(counts), reason = found$reason
  )
}

# Recall and precision as metrics are.
confusion_categories <- function(estimate, counts, draws, at, interval, conf_level) {
  categories <- estimate$fit$x$categories
  plan <- metric_plan(built_in_metrics[c("recall", "precision")], categories, NULL, list())
  found <- metrics_of_table(estimate, plan, interval, conf_level, draws, at)
  columns_tibble(
    !!!found[c("system", "category")], measure = found$metric,
    !!!found[c("estimate", interval_columns)],
    n = unlist(lapply(counts, function(of) {
      table_sums(matrix(of, 1L), length(categories))[c("truth", "answer")]
    })), reason = found$reason
  )
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

# Of each table, shares of the cases with the truth; a plan of them for some truths.
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

# Replicates of one estimator, around the value of another.
moved_to <- function(values, estimate) {
  inside <- function(p) stats::qlogis(pmin(pmax(p, 1e-9), 1 - 1e-9))
  centre <- apply(values, 2L, stats::median, na.rm = TRUE)
  off <- inside(estimate) - inside(centre)
  out <- stats::plogis(sweep(inside(values), 2L, off, `+`))
  out[values %in% c(0, 1)] <- values[values %in% c(0, 1)]
  out
}

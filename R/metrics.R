# Registry of metrics. Metrics of the package are in metric-definitions.R and metric-scores.R.

all_metrics <- function() c(package_metrics(), registered_records("metric"))

package_metrics <- function() c(built_in_metrics, score_records)

#' Definitions of metrics for systems
#'
#' Defines the metrics of a system (a classifier) that [estimate_metrics()] estimates.
#' `measures("metric")` lists the metrics, and [register_measure()] adds a user-defined metric.
#' Metrics that are also in the R package yardstick have the same names and definitions. A metric is
#' `NA` if a denominator in its definition is 0.
#'
#' @section Metrics of one category: Let `tp`, `fn`, `fp` and `tn` be the probabilities of true
#' positives, false negatives, false positives and true negatives of one category against the rest.
#'
#' * `recall` and `sens` (or `"sensitivity"`): `tp / (tp + fn)`.
#' * `spec` (or `"specificity"`): `tn / (tn + fp)`.
#' * `precision` and `ppv` (positive predictive value): `tp / (tp + fp)`.
#' * `npv` (negative predictive value): `tn / (tn + fn)`. `ppv` and `npv` are also `NA` if `sens` or
#'   `spec` is `NA`.
#' * `f_meas`: `(1 + beta^2) precision recall / (beta^2 precision + recall)`, or 0 if precision and
#'   recall are 0; `beta` is an argument of [estimate_metrics()].
#' * `bal_accuracy` (balanced accuracy): `(sens + spec) / 2`; `j_index` (Youden's J):
#'   `sens + spec - 1`.
#' * `prevalence`: `tp + fn`; `detection_prevalence`: `tp + fp`.
#' * `lr_positive`, `lr_negative`: likelihood ratios, `sens / (1 - spec)` and `(1 - sens) / spec`.
#' * `dor`: diagnostic odds ratio, `tp tn / (fp fn)`.
#'
#' The likelihood ratios and `dor` have no averages over categories. Their intervals are symmetric
#' on the log scale, except bootstrap and posterior intervals. Estimates of 0 and `Inf` have no
#' interval.
#'
#' @section Metrics of all categories: Let `p` be the joint table of truth (rows) and answer
#' (columns), with probabilities that sum to 1.
#'
#' * `accuracy`: share of correct answers, `sum(diag(p))`.
#' * `accuracy_all`: the accuracy times the share of cases that the system answered. Abstentions
#'   (`abstain` of [ratings()]) count as wrong.
#' * `kap`: Cohen's kappa of truth and answer.
#' * `mcc`: Matthews' correlation coefficient. For more than two categories, it is defined as in
#'   Gorodkin (2004).
#' * `loss`: mean cost, `sum(cost * p)`, where `cost` is an argument of [estimate_metrics()].
#' * `kap_linear`, `kap_quadratic`: weighted kappa of truth and answer. The cost of an error is the
#'   number of steps between answer and truth in the order of categories (linear), or the square of
#'   this number (quadratic).
#' * `mae`: mean number of steps between answer and truth.
#' * `within_one`: share of answers that are at most one step from the truth.
#'
#' `kap_linear`, `kap_quadratic`, `mae` and `within_one` are `NA` if there are more than two
#' categories and these are not ordered (argument `ordered` of [ratings()]).
#'
#' @return This page documents metrics, not a function; see [estimate_metrics()].
#' @references Gorodkin, J. (2004). Comparing two K-category assignments by a K-category correlation
#'   coefficient. *Computational Biology and Chemistry*, 28, 367-374.
#' @name system_metrics
#' @family metrics
#' @examples
#' # Names, ranges and settings of all metrics
#' measures("metric")
#'
#' # A user-defined metric: the critical success index of forecasters
#' register_measure(
#'   "csi", "Critical success index", function(tp, fn, fp, tn) tp / (tp + fn + fp), kind = "metric"
#' )
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate_metrics(x, c("csi", "f_meas"))
#' # Remove the user-defined metric
#' register_measure("csi", kernel = NULL, kind = "metric")
NULL

# Returns the records of the metrics with the names `ids`. If `ids` is NULL, returns the default
# metrics. `scored`: do systems have scores?
find_metrics <- function(ids, settings, scored) {
  # With two categories, one of them positive, the defaults are five metrics of diagnostic tests.
  is_diagnostic <- !is.null(settings$positive) && settings$steps == 1L
  if (is.null(ids)) return(Filter(function(record) {
    if (record$needs == "scores") record$default && scored else
      if (is_diagnostic) record$id %in% c("accuracy", "sens", "spec", "ppv", "npv") else
        record$default || record$id == "spec" && !is.null(settings$positive)
  }, all_metrics()))
  if (is.character(ids)) ids <- sub("^(sens|spec)(itivity|ificity)$", "\\1", ids)
  records <- select_records("metric", ids, all_metrics())
  for (record in records) {
    missing_settings <- record$settings[map_lgl(settings[record$settings], is.null)]
    abort_if(missing_settings, "metric",
      "Metric {.val {record$id}} needs {.arg {missing_settings}}.",
      i = "{.arg cost} is a matrix of costs: true categories in rows, answers in columns.",
      metric = record$id)
  }
  records
}

# Checks the argument `cost`. Returns a matrix of costs, with truths in rows and answers in columns.
# Both are in the order of `categories`. Returns NULL if `cost` is NULL.
check_cost_matrix <- function(cost, categories) {
  if (is.null(cost)) return(NULL)
  n <- length(categories)
  if (is.data.frame(cost)) cost <- as.matrix(cost)
  problem <- why_no_matrix(cost, n)
  abort_argument_if(problem, "cost",
    "must be a {n} x {n} matrix of finite numbers, true categories in rows and answers in columns.",
    x = problem, i = "Categories are {.val {categories}}.")
  for (names in dimnames(cost)) {
    abort_argument_if(!is.null(names) && !setequal(names, categories), "cost",
      "must have the categories of {.arg x} as row and column names.",
      x = "It has the names {.val {names}}.", i = "Categories are {.val {categories}}.")
  }
  if (!is.null(rownames(cost))) cost <- cost[categories, ]
  if (!is.null(colnames(cost))) cost <- cost[, categories]
  cost <- unname(cost)
  abort_argument_if(diff(range(cost)) == 0, "cost", "must contain at least two different costs.",
    x = "All costs are {.val {cost[[1L]]}}.")
  cost
}

#' Recall, precision and other metrics without known truth
#'
#' Estimates recall, precision, F measure, Matthews' correlation, mean cost and other metrics of
#' systems (classifiers) from ratings, the categories that several raters gave to the same cases.
#' True categories need not be known. [system_metrics] and [score_metrics] define the metrics.
#'
#' @section Joint table: All metrics of answers are computed from the joint table of truth (rows)
#'   and answer (columns) of a system. A case with unknown truth is counted in the row of every
#'   category, weighted by the posterior probability that the category is true, given the ratings. A
#'   case with known truth is counted only in the row of its true category. The argument `common` of
#'   [estimate_accuracy()] (how far a system is assumed to share the raters' errors) also
#'   applies to this table. The metric `accuracy` is equal to the estimate of [estimate_accuracy()].
#'   It includes a prior of the accuracy. The other metrics are computed without this prior. With
#'   few cases, the accuracy can therefore be outside the range of sensitivity and specificity.
#'
#' Methods `"binned"` and `"unbinned"`, and methods that are functions, estimate only the accuracy;
#' other metrics are then `NA`. A metric of a category is also `NA` if its denominator is 0. Macro
#' averages of recall, precision and F measure leave out categories without cases. As in
#' scikit-learn, precision and F measure of a category that the system never gives as answer count
#' as 0 in these averages.
#'
#' @section Intervals: By default, the kind of interval is the same as for the accuracy. For metrics
#'   of the joint table:
#' * `"robust"` intervals allow for sampling error and for shared errors, which raters and systems
#'   make on the same cases. The sampling error is computed by the delta method, with covariances of
#'   the cells of the table from a bootstrap of cases.
#' * `"bootstrap"` intervals are percentiles over replicates. They allow only for sampling error.
#' * `"combined"`, `"corrected"` and `"anytime"` intervals use a sample of gold cases (cases with
#'   known truth) to correct the joint table. A metric of a category needs gold cases with this true
#'   category and gold cases with this answer (recall: only the true category; precision: only the
#'   answer). Without these gold cases, the metric, and averages that include the category, are
#'   estimated from ratings only and have no interval. This is also true of kappa and Matthews'
#'   correlation if all gold cases have the same true category.
#' * `"profile"` intervals exist only for the accuracy. `"none"` computes no intervals.
#'
#' @param x A [ratings()] object with systems, or a result of [fit_raters()] or
#'   [estimate_accuracy()] for such an object. For `augment()`, an `estimate_metrics()` result.
#' @param metrics Names of metrics. `NULL`, the default, selects accuracy, `kap`, `mcc`, recall,
#'   precision, `f_meas` and `bal_accuracy`, and, if `x` has scores, `roc_auc`, `brier_class` and
#'   `ece`. With `positive` and two categories, `NULL` selects accuracy, sensitivity, specificity,
#'   `ppv`, `npv` and, if `x` has scores, the same metrics of scores. With `positive` and more
#'   categories, `NULL` selects the specificity in addition to the default metrics.
#' @param average How metrics of one category, such as recall, are averaged over categories: one or
#'   more of `"macro"`, the mean (the default); `"macro_weighted"`, the mean weighted by the share
#'   of cases of each category; and `"micro"`, computed from counts summed over categories (not for
#'   scores). `NULL` for no averages.
#' @param positive The category of positive answers, a string. Metrics of one category are then
#'   returned for this category only, and without averages. The default, `NULL`, returns them for
#'   all categories.
#' @param beta Weight of recall against precision in `f_meas`, above 0; by default 1.
#' @param cost Required for the metric `loss`: a matrix of costs, true categories in rows and
#'   answers in columns. Without row and column names, both must be in the order of the categories.
#'   The default is `NULL`.
#' @param bins For the metrics `ece` and `ece_plugin`: number of bins, by default 10; see
#'   [score_metrics].
#' @param interval For an [estimate_accuracy()] result: `NULL`, the default, for the kind of
#'   interval of the estimate; `"bootstrap"`, `"none"` or, with gold cases, one of
#'   `r ids_text(gold_intervals)`.
#' @param conf_level Confidence level, in (0, 1); by default `NULL`, the level of the estimate.
#' @param systems Names of the systems; by default `NULL`, all systems.
#' @param ... For ratings and fits: arguments of [estimate_accuracy()], such as `method`,
#'   `interval`, `common`, `by`, `resampling` and `known_truth`. Otherwise not used.
#' @return An object of class `metric_estimate`. `tidy()`: a tibble with a row per system, metric,
#'   and category or average.
#'
#'   * `group` (only if groups were given by the argument `by` of [estimate_accuracy()]), `system`,
#'     `metric`: names.
#'   * `average`: `"macro"`, `"macro_weighted"`, `"micro"` or, for `roc_auc`, `"hand_till"`;
#'     otherwise `NA`.
#'   * `category`: the category, for metrics of one category; otherwise `NA`.
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: estimate, standard error and interval.
#'   * `n`: number of cases with a rating and an answer (for metrics of scores: a score) of the
#'     system.
#'   * `method`: the method of [estimate_accuracy()].
#'   * `reason`: why a value is `NA`.
#'
#'   `glance()`: a tibble with one row: numbers of `groups`, `systems`, `metrics`, `categories`,
#'   `estimates` and `missing` estimates; `method`, `interval` and `conf_level`. `format()`: a
#'   string.
#'
#'   `augment()`: a tibble with a row per case, system and possible true category: `group` (only if
#'   groups were given), `case`, `system`, `truth`, `prediction` (the system's answer) and `weight`.
#'   `weight` is the posterior probability of `truth` times the weight of the case. Cases without an
#'   answer or a rating are left out. Not available for estimates from posterior draws.
#' @family metrics
#' @seealso [register_measure()] for user-defined metrics; the article *Beyond accuracy*.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.6)))
#' estimates <- estimate_metrics(x)
#' estimates
#' # A row per system, metric, and category or average
#' tidy(estimates)
#'
#' # The answer 1 for a case of category 5 costs ten times as much as other errors
#' cost <- 1 - diag(5)
#' cost[5, 1] <- 10
#' estimate_metrics(x, c("accuracy", "loss"), cost = cost)
#'
#' # Posterior probabilities, as case weights for any metric of yardstick
#' head(augment(estimates))
#' @name metric_estimate
#' @export
estimate_metrics <- function(x, metrics = NULL, ...) {
  check_call(dots = NULL)
  UseMethod("estimate_metrics")
}

#' @export
estimate_metrics.default <- function(x, metrics = NULL, ...) {
  estimate_metrics(as_ratings(x), metrics, ...)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.ratings <- function(x, metrics = NULL, average = "macro", beta = 1, cost = NULL,
                                     bins = 10L, positive = NULL, ...) {
  plan <- resolve_metrics(
    metrics, average, beta, cost, bins, if (inherits(x, "rater_fit")) x$x else x, positive
  )
  new_metric_estimate(estimate_accuracy(x, ...), plan)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.rater_fit <- estimate_metrics.ratings

#' @rdname metric_estimate
#' @export
estimate_metrics.accuracy_estimate <- function(x, metrics = NULL, average = "macro", beta = 1,
                                               cost = NULL, bins = 10L, interval = NULL,
                                               conf_level = NULL, systems = NULL,
                                               positive = NULL, ...) {
  check_dots_empty(...)
  estimate <- first_single_result(x)
  plan <- resolve_metrics(metrics, average, beta, cost, bins, estimate$fit$x, positive)
  check_system_names(systems, estimate$table$system)
  interval <- check_metric_interval(interval, estimate)
  new_metric_estimate(x, plan, interval, conf_level, systems)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.accuracy_by_group <- estimate_metrics.accuracy_estimate

# Checks the arguments of estimate_metrics(). Returns a plan, see metric_plan().
resolve_metrics <- function(metrics, average, beta, cost, bins, x, positive = NULL) {
  categories <- x$categories
  if (!is.null(positive)) check_choice(positive, categories)
  average <- check_choices(average, metric_averages, "average", none = TRUE)
  settings <- list(
    beta = check_number(beta, "beta", 0, open_min = TRUE),
    cost = check_cost_matrix(cost, categories), bins = check_count(bins, "bins"),
    ordered = x$ordered || length(categories) == 2L, steps = length(categories) - 1L,
    positive = positive
  )
  metric_plan(find_metrics(metrics, settings, !is.null(x$scores)), categories, average, settings)
}

# Checks the argument `interval`. Returns a kind of interval that can be computed from the estimate.
# The default is the kind of the estimate.
check_metric_interval <- function(interval, estimate) {
  estimate_interval <- estimate$options$interval
  if (is.null(interval)) return(estimate_interval)
  intervals_with_gold <- names(gold_intervals)
  available_intervals <- unique(c(
    estimate_interval, if (!is.null(estimate$gold)) intervals_with_gold, cell_intervals(estimate)
  ))
  abort_argument_if(!(is_string(interval) && interval %in% available_intervals), "interval",
    "must be {if (length(available_intervals) > 1L) 'one of '}{.or {.val {available_intervals}}}.",
    not = interval,
    i = if (interval %in% intervals_with_gold) "Give {.arg known_truth} and
        {.code interval = \"{interval}\"} to {.fun estimate_accuracy}.")
  interval
}

# Creates the result of estimate_metrics(). If `interval`, `conf_level` or `systems` is NULL, the
# values of the estimate are used.
new_metric_estimate <- function(estimate, plan, interval = NULL, conf_level = NULL,
                                systems = NULL) {
  is_grouped <- inherits(estimate, "accuracy_by_group")
  estimates <- if (is_grouped) unclass(estimate) else list(estimate)
  first_estimate <- estimates[[1L]]
  check_not_one_judge(first_estimate$fit)
  interval <- interval %||% first_estimate$options$interval
  conf_level <- check_level(conf_level %||% first_estimate$options$conf_level)
  systems <- systems %||% first_estimate$table$system
  table <- apply_to_groups(estimates, is_grouped, metrics_of_estimate, plan, interval, conf_level,
    systems)
  options <- list(method = first_estimate$options$method, interval = interval,
    conf_level = conf_level, grouped = is_grouped, systems = systems)
  summary_values <- list(
    groups = if (is_grouped) length(estimates) else NA_integer_, systems = length(systems),
    metrics = length(plan$records), categories = n_categories(plan), estimates = nrow(table),
    missing = sum(is.na(table$estimate)), method = options$method, interval = interval,
    conf_level = if (has_interval(options)) conf_level else NA_real_
  )
  caption <- printable(paste0(
    count_noun(summary_values$metrics, "metric"), " of ",
    count_noun(summary_values$systems, "system"),
    if (is_grouped) paste(" in", count_noun(summary_values$groups, "group")), ", ",
    count_noun(summary_values$categories, "category"),
    sprintf(" (positive: %s)", plan$settings$positive), ", ", estimator_words(first_estimate)
  ))
  shown_table <- shown_metrics(table, first_estimate, plan)
  overall_rows <- shown_table[is.na(shown_table$category), ]
  metric_texts <- paste(system_titles(overall_rows), metric_labels(overall_rows),
    format_decimals(overall_rows$estimate, 2L), recycle0 = TRUE)
  new_result("metric_estimate",
    tables = list(table = table), facts = summary_values,
    line = paste0(caption, if (nrow(overall_rows) > 0L) ": ",
      printable(shorten(metric_texts, most = 3L))),
    caption = caption, shown = metrics_to_print(shown_table),
    notes = metric_notes(shown_table, estimates, interval, conf_level),
    more = "tidy(), augment() (posterior weights), plot()",
    estimates = estimates, plan = plan, options = options
  )
}

# Computes a table of metrics, with a row per system and row of the plan. Metrics with the same
# value of `needs` (see new_metric()) are computed by the same function.
metrics_of_estimate <- function(estimate, plan, interval, conf_level, systems) {
  table_functions <- list(
    answered = accuracy_table_of_all_cases, scores = metrics_of_scores, table = metrics_of_table
  )
  needs_of_metrics <- map_chr(plan$records, `[[`, "needs")
  table <- stack_rows(intersect(names(table_functions), needs_of_metrics), function(need) {
    table_functions[[need]](
      estimate, subset_plan(plan$records[needs_of_metrics == need], plan), interval, conf_level
    )
  })
  # All answers of a constant system are of one category (see is_constant_system()), so only its
  # accuracy (pass rate) is useful.
  is_undefined_for_constant <- table$system %in% estimate$fit$x$constant &
    field_of_rows(plan, "share", table) != "cases"
  table[is_undefined_for_constant, estimate_columns] <- NA_real_
  table$reason[is_undefined_for_constant] <- reason_constant_system
  positive_category <- plan$settings$positive
  if (!is.null(positive_category)) {
    table <- table[
      is.na(table$category) & is.na(table$average) | table$category %in% positive_category,
    ]
  }
  table <- shares_to_odds(table, field_of_rows(plan, "odds", table),
    if (accuracy_intervals[[interval]]$spread != "percentile") normal_quantile(conf_level))
  system_numbers <- match(table$system, systems)
  row_order <- order(system_numbers, match(table$metric, names(plan$records)))
  table[
    row_order[!is.na(system_numbers[row_order])],
    setdiff(names(table), c("sampling", "hidden", "cases"))
  ]
}

# Converts likelihood ratios and odds ratios v, which were estimated as v / (1 + v), to v. Drops
# their averages over categories. Standard errors are computed by the delta method. Estimates of 0
# and Inf have no interval.
# * is_ratio: TRUE for the rows of `table` that contain such ratios
# * z: normal quantile for intervals that are symmetric on the scale of log(v). NULL for percentile
#   intervals, whose limits are only converted
shares_to_odds <- function(table, is_ratio, z) {
  shares <- table$estimate[is_ratio]
  std_error <- table$std.error[is_ratio]
  limits <- as.matrix(table[is_ratio, limit_columns])
  if (!is.null(z)) {
    shorter_distance <- pmin(
      ifelse(limits[, 1L] > 0, shares - limits[, 1L], Inf),
      ifelse(limits[, 2L] < 1, limits[, 2L] - shares, Inf)
    )
    # The half-width is `z` standard errors, but at least the distance from the estimate to the
    # nearer limit in `table`. This distance is larger for anytime intervals, for example.
    half_width <- pmax(z * std_error, ifelse(is.finite(shorter_distance), shorter_distance, 0)) /
      bernoulli_variance(shares)
    limits[] <- plogis(qlogis(shares) + outer(half_width, c(-1, 1)))
  }
  is_on_boundary <- table$estimate %in% 0:1 & is_ratio
  limits[is_on_boundary[is_ratio], ] <- NA
  std_error[is_on_boundary[is_ratio]] <- NA
  table$std.error[is_ratio] <- std_error / (1 - shares)^2
  table$reason[is_on_boundary & is.na(table$reason)] <- "the estimate is on a boundary"
  to_ratio <- function(shares) shares / (1 - shares)
  table$estimate[is_ratio] <- to_ratio(shares)
  table[is_ratio, limit_columns] <- as.data.frame(to_ratio(limits))
  table[!is_ratio | is.na(table$average), ]
}

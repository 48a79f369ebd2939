# Registry of metrics that estimate_metrics() can estimate. Metrics of the package are defined in
# metric-definitions.R.

all_metrics <- function() c(package_metrics(), registered("metric"))

package_metrics <- function() c(built_in_metrics, score_records)

#' Definitions of metrics for systems
#'
#' Defines the metrics of a system (a classifier) that [estimate_metrics()] estimates.
#' `measures("metric")` lists them, and [register_measure()] adds a user-defined metric.
#'
#' Metrics that are also in the R package yardstick have the same names and definitions. The names
#' `"sensitivity"` and `"specificity"` are also accepted. Let `tp`, `fn`, `fp` and `tn` be the
#' probabilities of true positives, false negatives, false positives and true negatives of one
#' category against the rest:
#'
#' * `recall`, `sens`: `tp / (tp + fn)`; `spec`: `tn / (tn + fp)`; `precision`: `tp / (tp + fp)`;
#'   `bal_accuracy`: `(sens + spec) / 2`; `j_index`: `sens + spec - 1`.
#' * `ppv`, `npv`: `tp / (tp + fp)` and `tn / (tn + fn)`. By Bayes' theorem they depend on
#'   sensitivity and specificity. Both are `NA` if sensitivity or specificity is undefined.
#' * `f_meas`: `(1 + beta^2) precision recall / (beta^2 precision + recall)`, and 0 if both are 0.
#' * `lr_positive`, `lr_negative`: likelihood ratios, `sens / (1 - spec)` and `(1 - sens) / spec`;
#'   `dor`: diagnostic odds ratio, `tp tn / (fp fn)`. Averages over categories are not computed. A
#'   ratio `v` is estimated as `v / (1 + v)`, which is between 0 and 1, and transformed at the end.
#'   Intervals are symmetric for the logarithm. If sensitivity or specificity is near 1,
#'   intervals are wide, and can contain 1 although the interval of `j_index` excludes 0. To test
#'   whether a system is better than chance, use `j_index`. If the denominator is 0, the estimate is
#'   `Inf`. Estimates of 0 and `Inf` have neither a standard error nor an interval.
#' * `prevalence`: `tp + fn`; `detection_prevalence`: `tp + fp`.
#'
#' Let `p` be the joint table of truth (rows) and answer (columns), with probabilities that sum to
#' 1:
#'
#' * `accuracy`: `sum(diag(p))`. `accuracy_all`: the accuracy times the share of cases that the
#'   system answered, so that its abstentions (`abstain` of [ratings()]) count as wrong.
#' * `kap`: Cohen's kappa of truth and answer. `mcc`: Matthews' correlation, in Gorodkin's
#'   definition for more than two categories. `loss`: `sum(cost * p)`.
#' * `kap_linear`, `kap_quadratic`: kappa with weights by the number of steps from answer to truth
#'   in the order of categories, and by its square. `mae`: mean number of steps. `within_one`: share
#'   of answers at most one step from the truth. These four metrics need ordered categories
#'   (`ordered` of [ratings()]) or two categories, and are otherwise `NA`.
#'
#' If answers have several labels, [single_label()] selects one label.
#'
#' @name system_metrics
#' @family estimation
#' @examples
#' measures("metric")
#'
#' # The critical success index of forecasters
#' register_measure(
#'   "csi", "Critical success index", function(tp, fn, fp, tn) tp / (tp + fn + fp), kind = "metric"
#' )
#' x <- ratings(lehner2015, raters = rater1:rater4, systems = system, case = case)
#' estimate_metrics(x, c("csi", "f_meas"))
#' register_measure("csi", kernel = NULL, kind = "metric")
NULL

# The result of measures("metric").
metric_table <- function() {
  records <- lapply(all_metrics(), function(record) {
    record$range <- if (is.function(record$lower)) {
      if (record$ordered) "of steps" else "of costs"
    } else {
      paste(record$lower, "to", if (record$odds) Inf else record$upper)
    }
    record$settings <- toString(record$settings)
    record
  })
  records_table(records, c(
    "id", "title", "form", "range", "better", "settings", "needs", "same_as", "default", "reference"
  ))
}

# Returns the records of the metrics with the names `ids` or, if `ids` is NULL, of the default
# metrics. `scored`: do the ratings contain scores?
find_metrics <- function(ids, settings, scored) {
  if (is.null(ids)) return(default_metrics(all_metrics(), settings, scored))
  if (is.character(ids)) ids <- sub("^(sens|spec)(itivity|ificity)$", "\\1", ids)
  records <- select_records("metric", ids, all_metrics())
  for (record in records) {
    lacking <- record$settings[map_lgl(settings[record$settings], is.null)]
    abort_if(lacking, "metric", "Metric {.val {record$id}} needs {.arg {lacking}}.",
      i = "{.arg cost} is a matrix of costs: true categories in rows, answers in columns.",
      metric = record$id)
  }
  records
}

# Checks the argument `cost`. Returns the matrix with truths in rows and answers in columns, in the
# order of the categories.
check_cost_matrix <- function(cost, categories) {
  if (is.null(cost)) return(NULL)
  n <- length(categories)
  if (is.data.frame(cost)) cost <- as.matrix(cost)
  misfit <- why_no_matrix(cost, n)
  abort_argument_if(misfit, "cost",
    "must be a {n} x {n} matrix of finite numbers, true categories in rows and answers in columns.",
    x = misfit, i = "Categories are {.val {categories}}.")
  for (names in dimnames(cost)) {
    abort_argument_if(!is.null(names) && !setequal(names, categories), "cost",
      "must have the categories of {.arg x}.", x = "It has {.val {names}}.",
      i = "Categories are {.val {categories}}.")
  }
  if (!is.null(rownames(cost))) cost <- cost[categories, ]
  if (!is.null(colnames(cost))) cost <- cost[, categories]
  cost <- unname(cost)
  abort_argument_if(diff(range(cost)) == 0, "cost", "must differ between cells.",
    x = "All costs are {.val {cost[[1L]]}}.")
  cost
}

#' Recall, precision and other metrics without known truth
#'
#' Estimates recall, precision, F measure, Matthews' correlation, costs and other metrics of systems
#' (classifiers) if the true categories of cases are not known. Metrics are computed from the joint
#' table of truth and answer. This table is estimated by the methods of [estimate_accuracy()], with
#' the same arguments for known truths, groups, clusters and shared errors. (Shared errors are
#' errors that systems and raters make on the same cases.)
#'
#' @section Joint table: Each case is counted in every row of the table (true category), weighted by
#' the posterior probability of the category. Cases with known truth are counted only in the row of
#' their true category. The assumption on shared errors (the argument `common` of
#' [estimate_accuracy()]) is applied to each case. If a method estimates accuracy only, other
#' metrics are `NA` with a reason. The metric `accuracy` is
#' equal to the estimate of [estimate_accuracy()]. Micro averages are computed from the table and
#' can differ from this estimate by the weight of one or two cases.
#'
#' Metrics that are 0 / 0 are `NA` with a reason. Macro averages of recall, precision and F measure
#' are means over the categories with cases. If the system never gives one of these categories as
#' answer, precision and F measure are undefined and count as 0, as in scikit-learn. Averages of
#' other metrics are computed as in yardstick: categories for which the metric is undefined are left
#' out, or the average is undefined.
#'
#' @section Intervals: By default, the kind of interval is the same as for the accuracy in
#' [estimate_accuracy()].
#' * `"robust"`: the delta method, with an allowance for shared errors. The sampling error is
#'   computed from derivatives of the metric with respect to the cells of the table. Covariances of
#'   the cells are from a bootstrap of cases (or clusters). If the accuracy varies less in the
#'   bootstrap than its standard error due to sampling, the errors of all metrics are increased in
#'   proportion. The allowance combines two standard deviations. For human raters, one is half the
#'   distance between the metrics with shared and with independent errors. The other is due to
#'   errors that raters share with each other: the share of correct answers among the cases with the
#'   same answer may be higher or lower than estimated. This error has a component that is equal for
#'   all answers. For human raters it also has separate components with three times the variance,
#'   larger for answers to cases with many wrong ratings. The recall of a rare category is therefore
#'   very uncertain.
#'
#'   Let `1 / k` be the largest change of the metric by one case, relative to its range. Intervals
#'   are Wilson's for a share of `k` cases, with the rest of the error added on both sides. They
#'   also contain Wilson's interval for the number of cases that gives the total error, if this
#'   number is at least 2.7. The sampling error is at least that of a share of `k` cases if `k` is
#'   below 2.7, or if fewer than half of one of `k` cases is right, or wrong. (A 90% interval from
#'   fewer than 2.7 cases contains nearly all shares.)
#' * `"bootstrap"`: percentiles of the metric over replicates; sampling error only.
#' * `"combined"`, `"corrected"` and `"anytime"`, with gold cases (a sample of cases with known
#'   truth): gold cases correct the joint table, and the metric is computed from it. The standard
#'   error is computed from the derivatives of the metric by the weight of each case. Gold cases
#'   estimate their mean like an accuracy. Cells of [confusion()] are estimated in the same way.
#'   Precision is estimated as the accuracy on the cases to which the system gave the category. A
#'   metric of a category needs gold cases with the category as truth and gold cases with the
#'   category as answer. Recall needs only the former, precision only the latter. Otherwise the
#'   metric, and averages over categories that include it, are computed from ratings only, without
#'   an interval. The same is true of kappa and Matthews' correlation if all gold cases are of one
#'   category. If the metric has its smallest or largest possible value on gold cases, intervals
#'   extend to this value (unless the estimate from ratings excludes it in `"combined"` intervals).
#'   If the metric depends on few gold cases, intervals are at least as wide as for a share of `k`
#'   gold cases, with `k` as above.
#' * `"profile"` is available for accuracy only.
#'
#' @param x [ratings()] with systems, or the result of [fit_raters()] or [estimate_accuracy()].
#' @param metrics Names of metrics, see [system_metrics] and [score_metrics]. The default, `NULL`,
#'   is the metrics for which column `default` of `measures("metric")` is `TRUE`; metrics of scores
#'   only if there are scores. If there are two categories and `positive` is given, the default is
#'   accuracy, sensitivity, specificity, `ppv`, `npv` and the metrics of scores.
#' @param average Averages of category metrics: one or more of `"macro"`, the mean (the default);
#'   `"macro_weighted"`, the mean weighted by the share of cases of each category; and `"micro"`,
#'   computed from counts summed over categories (not for scores). `NULL` for no averages.
#' @param positive The category of positive answers, a string. Metrics of one category against the
#'   rest are then returned for this category only, and without averages. With `NULL`, the default,
#'   they are returned for all categories. With two categories, many of them have the same value,
#'   which `print()` shows once.
#' @param beta Weight of recall against precision in `f_meas`, above 0; by default 1.
#' @param cost For `loss`: a matrix of costs, true categories in rows and answers in columns. Row
#'   and column names are categories; without names, rows and columns must be in the order of the
#'   categories. By default `NULL`, no costs.
#' @param bins For `ece`: number of bins of equal width from 0 to 1, by default 10; see
#'   [score_metrics].
#' @param interval For an [estimate_accuracy()] result: `NULL`, the default, for the kind of
#'   interval of the estimate; `"bootstrap"`, `"none"` or, with gold cases (cases with known truth),
#'   one of `r list_ids(gold_intervals)`.
#' @param conf_level Confidence level, in (0, 1); by default `NULL`, the level of the estimate.
#' @param systems Names of the systems; by default `NULL`, all systems.
#' @param ... For ratings and fits: arguments of [estimate_accuracy()], such as `method`,
#'   `interval`, `common`, `by`, `resampling` and `known_truth`. Otherwise not used.
#' @return An object of class `metric_estimate`. `tidy()`: a tibble with a row per system, metric,
#'   and category or average over categories.
#'
#'   * `group` (only if `by` was given), `system`, `metric`.
#'   * `average`: `"macro"`, `"macro_weighted"`, `"micro"` or `"hand_till"`; otherwise `NA`.
#'   * `category`: `NA` for averages and for metrics of the whole table.
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: estimate, standard error and interval.
#'   * `n`: number of cases with a rating that the system answered, or of all cases that it answered
#'     if some gold cases have no rating; `method`; `reason`: why a value is `NA`.
#'
#'   `glance()`: a tibble with one row: numbers of `groups`, `systems`, `metrics`, `categories`,
#'   `estimates` and `missing` estimates; `method`, `interval` and `conf_level`. `format()`: a
#'   string with one line. `augment()`: a tibble with a row per case, system and true category:
#'   `group`, `case`, `system`, `truth` and `prediction` (factors), and `weight`, the posterior
#'   probability of `truth` times the weight of the case. Cases without an answer or a rating are
#'   left out.
#' @family estimation
#' @seealso [register_measure()] for user-defined metrics; the article *Beyond accuracy*.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.6)))
#' estimates <- estimate_metrics(x)
#' estimates
#' tidy(estimates)
#'
#' # Costs of errors: the answer A for a case of category E costs ten times as much as others
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
  data <- if (inherits(x, "rater_fit")) x$x else x
  plan <- resolve_metrics(metrics, average, beta, cost, bins, data, positive)
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

# Checks the arguments of estimate_metrics() and returns a plan, a list of the metrics to estimate
# (see metric_plan()).
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

# Checks the argument `interval`. Returns a kind of interval that can be computed from the estimate,
# by default the kind of the estimate.
check_metric_interval <- function(interval, estimate) {
  default <- estimate$options$interval
  if (is.null(interval)) return(default)
  gold <- names(gold_intervals)
  choices <- unique(c(default, if (!is.null(estimate$gold)) gold, cell_intervals(estimate)))
  abort_argument_if(!(is_string(interval) && interval %in% choices), "interval",
    "must be one of {.or {.val {choices}}}.", not = interval,
    i = if (interval %in% gold) "Give {.arg known_truth} and {.code interval = \"{interval}\"} to
        {.fun estimate_accuracy}.")
  interval
}

# Creates the result of estimate_metrics(). If `interval`, `conf_level` or `systems` is NULL, the
# values of the estimate are used.
new_metric_estimate <- function(estimate, plan, interval = NULL, conf_level = NULL,
                                systems = NULL) {
  grouped <- inherits(estimate, "accuracy_by_group")
  estimates <- if (grouped) unclass(estimate) else list(estimate)
  first_estimate <- estimates[[1L]]
  check_not_one_judge(first_estimate$fit)
  interval <- interval %||% first_estimate$options$interval
  conf_level <- check_level(conf_level %||% first_estimate$options$conf_level)
  systems <- systems %||% first_estimate$table$system
  table <- over_groups(estimates, grouped, metrics_of_estimate, plan, interval, conf_level, systems)
  options <- list(method = first_estimate$options$method, interval = interval,
    conf_level = conf_level, grouped = grouped, systems = systems)
  n_groups <- if (grouped) length(estimates) else NA_integer_
  caption <- printable(paste0(
    count_noun(length(plan$records), "metric"), " of ", count_noun(length(systems), "system"),
    if (grouped) paste(" in", count_noun(n_groups, "group")), ", ",
    count_noun(n_categories(plan), "category", "categories"),
    sprintf(" (positive: %s)", plan$settings$positive), ", ", estimator_words(first_estimate)
  ))
  shown <- shown_metrics(table, first_estimate, plan)
  whole <- shown[is.na(shown$category), ]
  metric_words <- paste(system_titles(whole), metric_labels(whole),
    format_decimals(whole$estimate, 2L), recycle0 = TRUE)
  new_result("metric_estimate",
    tables = list(table = table),
    facts = list(
      groups = n_groups, systems = length(systems), metrics = length(plan$records),
      categories = n_categories(plan), estimates = nrow(table),
      missing = sum(is.na(table$estimate)), method = options$method, interval = interval,
      conf_level = if (has_interval(options = options)) conf_level else NA_real_
    ),
    line = paste0(caption, if (nrow(whole) > 0L) ": ", printable(shorten(metric_words, most = 3L))),
    caption = caption, shown = metrics_to_print(shown),
    notes = metric_notes(shown, estimates, interval, conf_level),
    more = "tidy(), augment() (posterior weights), plot()",
    estimates = estimates, plan = plan, options = options
  )
}

# Computes a table with a row per system and row of the plan. Metrics with the same value of `needs`
# (see new_metric()) are computed by the same function.
metrics_of_estimate <- function(estimate, plan, interval, conf_level, systems) {
  engines <- list(
    answered = accuracy_of_all, scores = metrics_of_scores, table = metrics_of_table
  )
  needs <- map_chr(plan$records, `[[`, "needs")
  table <- stack_rows(intersect(names(engines), needs), function(need) {
    engines[[need]](estimate, subset_plan(plan$records[needs == need], plan), interval, conf_level)
  })
  # All answers of a constant system are of one category (see is_constant_system()), so only its
  # accuracy (pass rate) is useful.
  is_undefined <- table$system %in% estimate$fit$x$constant &
    field_of_rows(plan, "share", table) != "cases"
  table[is_undefined, estimate_columns] <- NA_real_
  table$reason[is_undefined] <- reason_constant_system
  positive <- plan$settings$positive
  if (!is.null(positive)) {
    is_whole <- is.na(table$category) & is.na(table$average)
    table <- table[is_whole | table$category %in% positive, ]
  }
  by_percentiles <- identical(accuracy_intervals[[interval]]$spread, "percentile")
  table <- shares_to_odds(table, field_of_rows(plan, "odds", table),
    if (!by_percentiles) normal_quantile(conf_level))
  system <- match(table$system, systems %||% estimate$table$system)
  order <- order(system, match(table$metric, names(plan$records)))
  table[order[!is.na(system[order])], ]
}

# Converts likelihood ratios and odds ratios v, in the rows `at` of `table`, from v / (1 + v) to v,
# and drops their averages. They are estimated as v / (1 + v), because v has no largest value.
# Standard errors are by the delta method. Intervals are symmetric on the scale of log(v). Their
# half width is `z` standard errors or, if that is longer (as in anytime intervals), the shorter
# side of the interval of v / (1 + v). Percentiles are only converted (`z` is NULL). Estimates of 0
# and Inf have no interval.
shares_to_odds <- function(table, at, z) {
  share <- table$estimate[at]
  error <- table$std.error[at]
  limits <- as.matrix(table[at, limit_columns])
  if (!is.null(z)) {
    shorter_side <- pmin(
      ifelse(limits[, 1L] > 0, share - limits[, 1L], Inf),
      ifelse(limits[, 2L] < 1, limits[, 2L] - share, Inf)
    )
    half_width <- pmax(z * error, ifelse(is.finite(shorter_side), shorter_side, 0)) /
      (share * (1 - share))
    limits[] <- plogis(qlogis(share) + outer(half_width, c(-1, 1)))
  }
  is_on_boundary <- table$estimate %in% 0:1 & at
  limits[is_on_boundary[at], ] <- NA
  error[is_on_boundary[at]] <- NA
  table$std.error[at] <- error / (1 - share)^2
  table$reason[is_on_boundary & is.na(table$reason)] <- "the estimate is on a boundary"
  ratio <- function(share) share / (1 - share)
  table$estimate[at] <- ratio(share)
  table[at, limit_columns] <- as.data.frame(ratio(limits))
  table[!at | is.na(table$average), ]
}

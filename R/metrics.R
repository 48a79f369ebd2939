# Registry of metrics that estimate_metrics() can estimate. Metrics of the package are defined in
# metric-definitions.R.

all_metrics <- function() c(package_metrics(), registered("metric"))

package_metrics <- function() c(built_in_metrics, score_records)

#' Definitions of metrics for systems
#'
#' Metrics that [estimate_metrics()] estimates. `measures("metric")` lists them, and
#' [register_measure()] adds a user-defined metric.
#'
#' Names and definitions are those of the R package yardstick, if it has the metric; `"sensitivity"`
#' and `"specificity"` are also accepted. Let `tp`, `fn`, `fp` and `tn` be the
#' probabilities of true positives, false negatives, false positives and true negatives of one
#' category against the rest:
#'
#' * `recall`, `sens`: `tp / (tp + fn)`; `spec`: `tn / (tn + fp)`; `bal_accuracy`: their mean;
#'   `j_index`: their sum minus 1; `precision`: `tp / (tp + fp)`.
#' * `ppv`, `npv`: `tp / (tp + fp)` and `tn / (tn + fn)`. By Bayes' theorem they depend on
#'   sensitivity and specificity, so they are undefined if one of these is.
#' * `f_meas`: `(1 + beta^2) precision recall / (beta^2 precision + recall)`, and 0 if both are 0.
#' * `lr_positive`, `lr_negative`: likelihood ratios, `sens / (1 - spec)` and `(1 - sens) / spec`;
#'   `dor`: diagnostic odds ratio, `tp tn / (fp fn)`. They have no averages. They are estimated as
#'   `v / (1 + v)`, which is between 0 and 1, and transformed at the end. Intervals are symmetric
#'   for the logarithm. If the denominator is 0, the estimate is `Inf`. Estimates of 0 and `Inf`
#'   have neither a standard error nor an interval.
#' * `prevalence`: `tp + fn`; `detection_prevalence`: `tp + fp`.
#'
#' Let `p` be the joint table of truth and answer. `accuracy` is `sum(diag(p))`. `accuracy_all` is
#' the accuracy times the share of cases that the system answered, so its abstentions (`abstain` of
#' [ratings()]) count as wrong. `kap` is Cohen's
#' kappa of truth and answer, `mcc` is Matthews' correlation (Gorodkin's for more than two
#' categories), and `loss` is `sum(cost * p)`. The following need ordered categories (`ordered` of
#' [ratings()]) or two categories, and are otherwise `NA`. `kap_linear` and `kap_quadratic` are
#' kappa with weights by steps and squared steps. `mae` is the mean number of steps between answer
#' and truth, `within_one` the share of answers with at most one step.
#'
#' For answers with several labels, choose one label by [single_label()].
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

metric_table <- function() {
  all <- lapply(all_metrics(), function(record) {
    record$range <- if (record$odds) {
      "0 to Inf"
    } else if (!is.function(record$lower)) {
      paste(record$lower, "to", record$upper)
    } else if (record$ordered) {
      "of steps"
    } else {
      "of costs"
    }
    record$settings <- toString(record$settings)
    record
  })
  records_table(all, c(
    "id", "title", "form", "range", "better", "settings", "needs", "same_as", "default", "reference"
  ))
}

# The given metrics, or the default metrics. `scored`: are there scores?
find_metrics <- function(ids, settings, scored) {
  known <- all_metrics()
  if (is.character(ids)) ids <- sub("^(sens|spec)(itivity|ificity)$", "\\1", ids)
  if (is.null(ids)) return(Filter(function(m) m$default && (scored || m$needs != "scores"), known))
  records <- find_records("metric", ids, known)
  for (record in records) {
    lacking <- record$settings[vapply(settings[record$settings], is.null, NA)]
    abort_if(lacking, "metric", "Metric {.val {record$id}} needs {.arg {lacking}}.",
      i = "{.arg cost} is a matrix of costs: true categories in rows, answers in columns.",
      metric = record$id)
  }
  records
}

# Costs of each answer (columns) given each truth (rows), in the order of the categories.
check_cost_matrix <- function(cost, categories) {
  if (is.null(cost)) return(NULL)
  n <- length(categories)
  if (is.data.frame(cost)) cost <- as.matrix(cost)
  abort_argument_if(!(is.numeric(cost) && identical(dim(cost), c(n, n)) && all(is.finite(cost))),
    "cost",
    "must be a {n} x {n} matrix of finite numbers, true categories in rows and answers in columns.",
    x = if (length(dim(cost)) == 2L) "It is {nrow(cost)} x {ncol(cost)}." else "It is
        {describe(cost)}.", i = "Categories are {.val {categories}}.")
  for (names in dimnames(cost)) {
    abort_argument_if(!is.null(names) && !setequal(names, categories), "cost",
      "must have the categories of {.arg x}.", x = "It has {.val {names}}.",
      i = "Categories are {.val {categories}}.")
  }
  place <- function(names) match(categories, names %||% categories)
  cost <- unname(cost[place(rownames(cost)), place(colnames(cost)), drop = FALSE])
  abort_argument_if(diff(range(cost)) == 0, "cost", "must differ between cells.",
    x = "All costs are {.val {cost[[1L]]}}.")
  cost
}

#' Metrics of systems without known truth
#'
#' Estimates recall, precision, F measure, Matthews' correlation, costs and other metrics of systems
#' whose correct answers are not known. Metrics are computed from the joint table of truth and
#' answer. The table is estimated like accuracy in [estimate_accuracy()], with the same methods,
#' `common`, known truths, groups and clusters.
#'
#' @section Joint table:
#' Each case counts for every category with its posterior probability under the method of the
#' estimate. Cases with known truth count for their category. The assumption on shared errors
#' (`common`) is applied case by case. If a method estimates accuracy only, other metrics are `NA`
#' with a reason. `accuracy` is that of the estimate. Micro averages are computed from the table and
#' can differ from it by the weight of one or two cases.
#'
#' Metrics that are 0 / 0 are `NA` with a reason. Macro averages of recall, precision and F measure
#' are over the categories with cases. Among these, an undefined precision (the system never gives
#' the answer) counts as 0, and so does F measure, as in scikit-learn. Averages of other metrics
#' follow yardstick: they leave out categories for which the metric is undefined, or are themselves
#' undefined.
#'
#' @section Intervals:
#' By default the kind of interval is that of the estimate.
#' * `"robust"`: the delta method, with an allowance for shared errors. The sampling error is
#'   computed from derivatives of the metric with respect to the cells of the table. Covariances of
#'   the cells come from a bootstrap of cases (or clusters). It is scaled up to the sampling error
#'   of the accuracy if replicates vary less. The first part of the allowance is half the distance
#'   between the metric under shared and under independent errors. In the second part, the remaining
#'   allowance for accuracy changes the truth of cases with an answer: from other categories to the
#'   answer, or back. The share of these cases is the same for all answers. For panels of people it
#'   also varies between answers, with three times the variance. The second part is larger if
#'   ratings of cases with the answer are often wrong. An example is a rare category, whose recall
#'   is very uncertain. If fewer than 2.7 cases, or less than half a case of one kind, are expected,
#'   there is a lower limit: the sampling error of a share of so few cases. Intervals are Wilson's
#'   for the number of cases, with the rest of the error added to both sides. They also contain
#'   Wilson's interval for the number of cases with the same total error.
#' * `"bootstrap"`: percentiles of the metric over replicates; sampling error only.
#' * `"combined"`, `"corrected"` and `"anytime"`, with gold cases that are a sample: gold cases
#'   measure the mean over cases of the derivative of the metric, in the same way as an accuracy.
#'   The estimate is the metric of the table with the same correction. Cells of [confusion()] are
#'   measured in the same way, and precision as the accuracy on cases with the answer. A metric of a
#'   category needs gold cases with the category as truth and as answer. Recall needs only the
#'   former, precision only the latter. Otherwise the metric, and averages over categories that
#'   include it, are from ratings only, without an interval. The same holds for kappa and Matthews'
#'   correlation if all gold cases are of one category. If all gold cases are hits, or all misses,
#'   intervals reach the end of the scale (unless the estimate from ratings excludes it in
#'   `"combined"` intervals). If less than half a gold case of one kind was seen, intervals are at
#'   least as wide as for a share of so few cases.
#' * `"profile"` exists for accuracy only.
#'
#' @param x [ratings()] with systems, or the result of [fit_raters()] or [estimate_accuracy()].
#' @param metrics Names of metrics, see [system_metrics]. By default `NULL`, a selection.
#' @param average Averages of category metrics: one or more of `"macro"`, the mean (the default);
#'   `"macro_weighted"`, weighted by the share of cases of each category; and `"micro"`, from counts
#'   summed over categories (not for metrics of scores). `NULL` for no averages.
#' @param positive The category of positive answers. Category metrics are then those of this
#'   category against the rest, without averages. `NULL`, the default, for all categories; with two
#'   categories, many metrics then have the same value, which `print()` shows once.
#' @param beta Weight of recall against precision in `f_meas`, above 0; by default 1.
#' @param cost For `loss`: a matrix of costs, true categories in rows and answers in columns. Names
#'   are those of categories; without names, rows and columns are in their order.
#' @param bins For `ece`: number of bins of equal width from 0 to 1, by default 10; see
#'   [score_metrics].
#' @param interval For an [estimate_accuracy()] result: `NULL`, the default, for the kind of
#'   interval of the estimate; `"bootstrap"`, `"none"` or, with gold cases, one of
#'   `r list_ids(gold_intervals)`.
#' @param conf_level Confidence level, in (0, 1); by default `NULL`, that of the estimate.
#' @param systems Names of the systems; by default `NULL`, all.
#' @param ... For ratings and fits: arguments of [estimate_accuracy()], such as `method`,
#'   `interval`, `common`, `by`, `resampling` and `known_truth`. Otherwise not used.
#' @return An object of class `metric_estimate`. `tidy()`: a tibble with a row per system and
#'   metric, for a category or an average. Columns: `group` (only with `by`); `system`; `metric`;
#'   `average` (`"macro"`, `"macro_weighted"`, `"micro"`, `"hand_till"`; `NA` if it is not an
#'   average); `category` (`NA` for averages and for metrics of the whole table); `estimate`,
#'   `std.error`, `conf.low`, `conf.high`; `n`, the number of cases with a rating that the system
#'   answered; `method`; `reason`, why a value is `NA`. `glance()`: a tibble with one row.
#'   `format()`: a string with one line. `augment()`: a tibble with a row per case, system and true
#'   category: `group`, `case`, `system`, `truth` and `prediction` (factors), and `weight`, the
#'   posterior probability of the truth times the weight of the case. Cases without an answer or a
#'   rating are left out.
#' @family estimation
#' @seealso [register_measure()] for user-defined metrics; the article *Beyond accuracy*.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.6)))
#' found <- estimate_metrics(x)
#' found
#' tidy(found)
#'
#' # Costs of errors: the answer A for a case of category E costs ten times as much as others
#' cost <- 1 - diag(5)
#' cost[5, 1] <- 10
#' estimate_metrics(x, c("accuracy", "loss"), cost = cost)
#'
#' # Posterior probabilities, as case weights for any metric of yardstick
#' head(augment(found))
#' @name metric_estimate
#' @export
estimate_metrics <- function(x, metrics = NULL, ...) {
  check_given()
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
  new_metric_estimate(estimate_accuracy(x, ...), plan, NULL, NULL)
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
  estimate <- first_part(x)
  plan <- resolve_metrics(metrics, average, beta, cost, bins, estimate$fit$x, positive)
  check_system_names(systems, estimate$table$system)
  interval <- check_metric_interval(interval, estimate)
  new_metric_estimate(x, plan, interval, conf_level, systems)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.accuracy_by_group <- estimate_metrics.accuracy_estimate

# Checks the arguments of a user and returns a plan (see metric_plan()).
resolve_metrics <- function(metrics, average, beta, cost, bins, x, positive = NULL) {
  categories <- x$categories
  if (!is.null(positive)) check_choice(positive, categories)
  average <- check_some(average, metric_averages, "average", none = TRUE)
  settings <- list(
    beta = check_number(beta, "beta", 0, open_min = TRUE),
    cost = check_cost_matrix(cost, categories), bins = check_count(bins, "bins"),
    ordered = x$ordered || length(categories) == 2L, steps = length(categories) - 1L,
    positive = positive
  )
  records <- find_metrics(metrics, settings, !is.null(x$scores))
  metric_plan(records, categories, average, settings)
}

# The interval of the estimate, or another kind that can be computed from the estimate.
check_metric_interval <- function(interval, estimate) {
  estimated <- estimate$options$interval
  if (is.null(interval)) return(estimated)
  gold <- names(gold_intervals)
  choices <- unique(c(estimated, if (!is.null(estimate$gold)) gold, cell_intervals(estimate)))
  abort_argument_if(!(is_string(interval) && interval %in% choices), "interval",
    "must be one of {.or {.val {choices}}}.", not = interval,
    i = if (interval %in% gold) "Give {.arg known_truth} and {.code interval = \"{interval}\"} to
        {.fun estimate_accuracy}.")
  interval
}

new_metric_estimate <- function(estimate, plan, interval, conf_level, systems = NULL) {
  grouped <- inherits(estimate, "accuracy_by_group")
  estimates <- if (grouped) unclass(estimate) else list(estimate)
  first <- estimates[[1L]]
  check_not_one_judge(first$fit)
  interval <- interval %||% first$options$interval
  conf_level <- check_level(conf_level %||% first$options$conf_level)
  table <- over_groups(estimates, grouped, metrics_of_estimate, plan, interval, conf_level, systems)
  options <- list(
    method = first$options$method, interval = interval, conf_level = conf_level,
    grouped = grouped, systems = systems %||% first$table$system
  )
  has_interval <- has_interval(options = options)
  groups <- if (grouped) length(estimates) else NA_integer_
  caption <- paste0(
    count_noun(length(plan$records), "metric"), " of ",
    count_noun(length(options$systems), "system"),
    if (grouped) paste0(" in ", count_noun(groups, "group")), ", ",
    count_noun(n_categories(plan), "category", "categories"), ", ", estimator_words(first)
  )
  shown <- shown_metrics(table, first, plan)
  whole <- shown[is.na(shown$category), ]
  values <- decimals(whole$estimate, 2L)
  words <- paste(system_titles(whole), row_names(whole), values, recycle0 = TRUE)
  new_result("metric_estimate",
    tables = list(table = table),
    facts = list(
      groups = groups, systems = length(options$systems), metrics = length(plan$records),
      categories = n_categories(plan), estimates = nrow(table),
      missing = sum(is.na(table$estimate)), method = options$method, interval = interval,
      conf_level = if (has_interval) conf_level else NA_real_
    ),
    line = paste0(caption, if (nrow(whole) > 0L) ": ", printable(shorten(words, most = 3L))),
    caption = caption, shown = view_of_metrics(shown),
    notes = metric_notes(shown, estimates, interval, conf_level),
    more = "tidy(), augment() (posterior weights), plot()",
    estimates = estimates, plan = plan, options = options
  )
}

# A row per system and row of the plan. Metrics with the same needs are computed by one engine.
metrics_of_estimate <- function(estimate, plan, interval, conf_level, systems) {
  needs <- vapply(plan$records, `[[`, "", "needs")
  table <- stack_rows(sort_strings(unique(needs)), function(need) {
    records <- plan$records[needs == need]
    part <- metric_plan(records, plan$categories, plan$averages, plan$settings)
    metric_engines()[[need]](estimate, part, interval, conf_level)
  })
  # Constant systems (pass rates) have no answers that could be of one category or another.
  of_cases <- field_of_rows(plan, "share", table) == "cases"
  none <- table$system %in% estimate$fit$x$constant & !of_cases
  table[none, c("estimate", interval_columns)] <- NA_real_
  table$reason[none] <- reason_constant_system
  positive <- plan$settings$positive
  if (!is.null(positive)) {
    whole <- is.na(table$category) & is.na(table$average)
    table <- table[whole | table$category %in% positive, ]
  }
  record <- accuracy_intervals[[interval]]
  table <- odds_of_shares(table, field_of_rows(plan, "odds", table),
    if (!identical(record$spread, "percentile")) normal_quantile(conf_level))
  systems <- systems %||% estimate$table$system
  order <- order(match(table$system, systems), match(table$metric, names(plan$records)))
  table[order[table$system[order] %in% systems], ]
}

# From v / (1 + v) to v in the rows `at`, of metrics that have no largest value and no averages;
# standard errors by the delta method. Intervals are symmetric for log(v). Half of their width is
# `z` standard errors, or the shorter side of the given interval if that is longer, as in sequences.
# Percentiles (`z` is NULL) are transformed. Estimates of zero and infinity have no interval.
odds_of_shares <- function(table, at, z) {
  share <- table$estimate[at]
  error <- table$std.error[at]
  ends <- as.matrix(table[at, c("conf.low", "conf.high")])
  if (!is.null(z)) {
    below <- ifelse(ends[, 1L] > 0, share - ends[, 1L], Inf)
    above <- ifelse(ends[, 2L] < 1, ends[, 2L] - share, Inf)
    side <- pmin(below, above)
    half <- pmax(z * error, ifelse(is.finite(side), side, 0)) / (share * (1 - share))
    ends[] <- stats::plogis(stats::qlogis(share) + outer(half, c(-1, 1)))
  }
  border <- share %in% 0:1
  ends[border, ] <- NA
  ratio <- function(share) share / (1 - share)
  table$std.error[at] <- replace(error / (1 - share)^2, border, NA)
  bounded <- at & is.na(table$reason) & table$estimate %in% 0:1
  table$reason[bounded] <- "the estimate is on a boundary"
  table[at, c("estimate", "conf.low", "conf.high")] <- data.frame(
    ratio(share), ratio(ends[, 1L]), ratio(ends[, 2L])
  )
  table[!at | is.na(table$average), ]
}

# Engines by what metrics need. An engine is a function of an estimate, a plan, interval and
# conf_level that returns rows of tidy().
metric_engines <- function() {
  list(table = metrics_of_table, scores = metrics_of_scores, answered = accuracy_of_all)
}

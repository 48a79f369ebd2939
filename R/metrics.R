# The registry of metrics: what estimate_metrics() can estimate. Those of the package are in
# metric-definitions.R; here are those that users register, and what is asked of them.

all_metrics <- function() c(package_metrics(), registered("metric"))

package_metrics <- function() c(built_in_metrics, score_records)

#' Metrics of systems
#'
#' What [estimate_metrics()] can estimate; `measures("metric")` lists them, and [register_measure()]
#' adds a metric of your own.
#'
#' Names and definitions are those of R package yardstick. With `tp`, `fn`, `fp` and `tn` the
#' probabilities of true positives, false negatives, false positives and true negatives of one
#' category against the rest:
#'
#' * `recall`, `sens`: `tp / (tp + fn)`; `spec`: `tn / (tn + fp)`; `bal_accuracy`: their mean;
#'   `j_index`: their sum less 1; `precision`: `tp / (tp + fp)`.
#' * `ppv`, `npv`: `tp / (tp + fp)` and `tn / (tn + fn)`, undefined also where sensitivity or
#'   specificity is, from which the theorem of Bayes has them.
#' * `f_meas`: `(1 + beta^2) precision recall / (beta^2 precision + recall)`, and 0 where both are.
#' * `prevalence`: `tp + fn`; `detection_prevalence`: `tp + fp`.
#'
#' With `p` the joint table of truth and answer: `accuracy` is `sum(diag(p))`; `kap` is Cohen's
#' kappa of truth and answer; `mcc` Matthews' correlation (Gorodkin's, for more than two
#' categories); `loss` is `sum(cost * p)`. Of categories in an order (`ordered` of [ratings()], or
#' two categories; otherwise `NA`): `kap_linear` and `kap_quadratic` are kappa with weights by steps
#' and by squared steps, `mae` the mean number of steps that answers are off, `within_one` the share
#' that is off by one at most.
#'
#' Of answers with several labels choose one label by [single_label()].
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
    record$range <- if (!is.function(record$lower)) {
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

# The metrics asked for, or those shown unasked. `scored`: are there scores?
find_metrics <- function(ids, settings, scored) {
  known <- all_metrics()
  if (is.null(ids)) return(Filter(function(m) m$default && (scored || m$needs != "scores"), known))
  found <- find_records("metric", ids, known)
  for (record in found) {
    lacking <- record$settings[vapply(settings[record$settings], is.null, NA)]
    abort_if(lacking, "metric", "Metric {.val {record$id}} needs {.arg {lacking}}.",
      i = "{.arg cost} is a matrix of costs: true categories in rows, answers in columns.",
      metric = record$id)
  }
  found
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
#' Recall, precision, F measure, Matthews' correlation, costs and every other metric that a joint
#' table of truth and answer gives, of systems whose correct answers are not known. The table is
#' estimated as [estimate_accuracy()] estimates accuracy, whose methods, `common`, known truths,
#' groups and clusters all apply.
#'
#' @section Where the table comes from:
#' Each case counts for every category with its posterior probability of being true, under the
#' method of the estimate; cases with known truth count for that category. The assumption on shared
#' errors (`common`) is applied case by case. With methods that estimate accuracy alone, other
#' metrics are `NA` with a reason. `accuracy` is that of the estimate; micro averages, which are
#' taken from the table, can differ from it by as much as a case or two would move it.
#'
#' What is 0 / 0 is `NA` with a reason. Macro averages of recall, precision and F are over the
#' categories that have cases; there a precision that is undefined, since the system never gives
#' that answer, counts as 0, and so does F, as in scikit-learn. Averages of other metrics leave out
#' categories where the metric is undefined, or are undefined with it, as those of yardstick do.
#'
#' @section Intervals:
#' The kind of interval is that of the estimate, unless `interval` says otherwise.
#' * `"robust"`: the delta method. The derivatives of a metric by the cells of the table, and the
#'   covariances of these over replicates of a case bootstrap (of clusters, if there are any), give
#'   the sampling error; it is scaled up to that of the accuracy where replicates vary less. An
#'   allowance for shared errors is added: half the distance between the metric if systems err
#'   where raters err, and if they err independently; and what the rest of the allowance for
#'   accuracy would do if cases of an answer moved to or from the truth that it names, by the same
#'   share for all answers, and for each by itself with three times the variance. That is more where
#'   ratings of cases with the answer are often wrong, as for a rare category, whose recall is
#'   hardly known. Where less than half a case of one kind is expected, or fewer than 2.7 cases in
#'   all, the sampling error is at least that of so few cases. Intervals are Wilson's for the number
#'   of cases, with the rest of the error added to both sides, and also hold Wilson's for as many
#'   cases as would give all of that error.
#' * `"bootstrap"`: percentiles of the metric over replicates; sampling error only.
#' * With gold cases that are a sample, `"combined"`, `"corrected"` and `"anytime"`: gold cases
#'   measure the mean of the derivative of the metric over cases, as they measure an accuracy; the
#'   estimate is the metric of the table with the same correction. Cells of [confusion()] are
#'   measured in the same way, and precision as the accuracy of the cases with the answer. Metrics
#'   of a category that no gold case has as its truth or its answer, and averages over categories
#'   that include it, are from ratings only, without an interval; recall needs gold cases of the
#'   category only, and precision gold cases with it as their answer. The same holds for kappa and
#'   Matthews' correlation where all gold cases are of one category. Where all gold cases are hits,
#'   or all misses, intervals reach the end of the scale (`"combined"` ones only if the estimate
#'   from ratings does not exclude it). Where less than half a gold case of one kind was seen,
#'   intervals are at least as wide as those of a share of as few cases.
#' * `"profile"` is for accuracy only; other metrics have no such interval.
#'
#' @param x [ratings()] with systems, the result of [fit_raters()], or of [estimate_accuracy()].
#' @param metrics Names of metrics, see [system_metrics]; `NULL` for a selection.
#' @param average How metrics of one category are averaged over categories, any of `"macro"` (the
#'   mean), `"macro_weighted"` (weighted by the share of cases of each) and `"micro"` (of counts
#'   summed over categories; not of metrics of scores). `NULL` for no averages.
#' @param beta Weight of recall against precision in `f_meas`, above 0.
#' @param cost For `loss`: a matrix of the cost of each answer (columns) given each true category
#'   (rows); names are those of categories, or rows and columns are in their order.
#' @param bins For `ece`: number of bins of equal width from 0 to 1; see [score_metrics].
#' @param interval For an [estimate_accuracy()] result: `NULL` for its own, `"bootstrap"`, `"none"`
#'   or, with gold cases, one of `r list_ids(gold_intervals())`.
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1); `NULL` for that
#'   of the estimate.
#' @param systems Names of the systems; `NULL` for all.
#' @param ... For ratings and fits: arguments of [estimate_accuracy()], such as `method`,
#'   `interval`, `common`, `by`, `resampling` and `known_truth`. Otherwise not used.
#' @return An object of class `metric_estimate`. `tidy()`: a tibble with a row per system and
#'   metric, of a category or an average: `group` (of `by` only), `system`, `metric`, `average`
#'   (`"macro"`, `"macro_weighted"`, `"micro"`, `"hand_till"`; `NA` for what is no average),
#'   `category` (`NA` for averages, and for metrics of the whole table), `estimate`, `std.error`,
#'   `conf.low`, `conf.high`, `n` (the number of cases that the system answered and raters saw),
#'   `method` and `reason`, why something is `NA`. `glance()`: a tibble with one row. `format()`:
#'   the same in a line. `augment()`: a tibble with a row per case, system and true category:
#'   `group`, `case`, `system`, `truth` and `prediction` (factors), and `weight`, the posterior
#'   probability of the truth, times the weight of the case; cases without an answer or a rating are
#'   left out.
#' @family estimation
#' @seealso [register_measure()] for metrics of your own; the article *Beyond accuracy*.
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.6)))
#' found <- estimate_metrics(x)
#' found
#' tidy(found)
#'
#' # What wrong answers cost: calling an E an A costs ten times as much as any other error
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
                                     bins = 10L, ...) {
  data <- if (inherits(x, "rater_fit")) x$x else x
  asked <- settle_metrics(metrics, average, beta, cost, bins, data)
  new_metric_estimate(estimate_accuracy(x, ...), asked, NULL, NULL)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.rater_fit <- estimate_metrics.ratings

#' @rdname metric_estimate
#' @export
estimate_metrics.accuracy_estimate <- function(x, metrics = NULL, average = "macro", beta = 1,
                                               cost = NULL, bins = 10L, interval = NULL,
                                               conf_level = NULL, systems = NULL, ...) {
  check_dots_empty(...)
  one <- if (inherits(x, "accuracy_by_group")) x[[1L]] else x
  asked <- settle_metrics(metrics, average, beta, cost, bins, one$fit$x)
  check_system_names(systems, one$table$system)
  interval <- check_metric_interval(interval, one)
  new_metric_estimate(x, asked, interval, conf_level, systems)
}

#' @rdname metric_estimate
#' @export
estimate_metrics.accuracy_by_group <- estimate_metrics.accuracy_estimate

# What a user asked for: a plan (see metric_plan()).
settle_metrics <- function(metrics, average, beta, cost, bins, x) {
  categories <- x$categories
  average <- check_some(average, metric_averages, "average", none = TRUE)
  settings <- list(
    beta = check_number(beta, "beta", 0, open_min = TRUE),
    cost = check_cost_matrix(cost, categories), bins = check_count(bins, "bins"),
    ordered = x$ordered || length(categories) == 2L, steps = length(categories) - 1L
  )
  records <- find_metrics(metrics, settings, !is.null(x$scores))
  metric_plan(records, categories, average, settings)
}

# Its own, or one that needs nothing but the estimate.
check_metric_interval <- function(interval, estimate) {
  own <- estimate$options$interval
  if (is.null(interval)) return(own)
  gold <- names(gold_intervals())
  having <- unique(c(own, if (!is.null(estimate$gold)) gold, cell_intervals(estimate)))
  abort_argument_if(!(rlang::is_string(interval) && interval %in% having), "interval",
    "must be one of {.or {.val {having}}}.", not = interval,
    i = if (interval %in% gold) "Give {.arg known_truth} and {.code interval = \"{interval}\"} to
        {.fun estimate_accuracy}.")
  interval
}

new_metric_estimate <- function(estimate, plan, interval, conf_level, systems = NULL) {
  grouped <- inherits(estimate, "accuracy_by_group")
  estimates <- if (grouped) unclass(estimate) else list(estimate)
  one <- estimates[[1L]]
  check_not_one_judge(one$fit)
  interval <- interval %||% one$options$interval
  conf_level <- check_level(conf_level %||% one$options$conf_level)
  table <- over_groups(estimates, grouped, metrics_of_estimate, plan, interval, conf_level, systems)
  options <- list(
    method = one$options$method, interval = interval, conf_level = conf_level,
    grouped = grouped, systems = systems %||% one$table$system
  )
  has_interval <- has_interval(list(options = options))
  groups <- if (grouped) length(estimates) else NA_integer_
  caption <- paste0(
    count_noun(length(plan$records), "metric"), " of ",
    count_noun(length(options$systems), "system"),
    if (grouped) paste0(" in ", count_noun(groups, "group")), ", ",
    count_noun(n_categories(plan), "category", "categories"), ", ", estimator_words(one)
  )
  shown <- shown_metrics(table, one)
  whole <- shown[is.na(shown$category), ]
  first <- paste(who_of(whole), row_names(whole), decimals(whole$estimate, 2L), recycle0 = TRUE)
  new_result("metric_estimate",
    tables = list(table = table),
    facts = list(
      groups = groups, systems = length(options$systems), metrics = length(plan$records),
      categories = n_categories(plan), estimates = nrow(table),
      missing = sum(is.na(table$estimate)), method = options$method, interval = interval,
      conf_level = if (has_interval) conf_level else NA_real_
    ),
    line = paste0(caption, if (nrow(whole) > 0L) ": ", printable(shorten(first, most = 3L))),
    caption = caption, shown = view_of_metrics(shown),
    notes = metric_notes(shown, one, interval, conf_level),
    more = "tidy(), augment() (posterior weights), plot()",
    estimates = estimates, plan = plan, options = options
  )
}

# A row per system and row of the plan. An engine knows how metrics that need the same are found.
metrics_of_estimate <- function(estimate, plan, interval, conf_level, systems) {
  needs <- vapply(plan$records, `[[`, "", "needs")
  needs <- factor(needs, sort_strings(unique(needs)))
  table <- stack_rows(split(plan$records, needs), function(records) {
    part <- metric_plan(records, plan$categories, plan$averages, plan$settings)
    metric_engines()[[records[[1L]]$needs]](estimate, part, interval, conf_level)
  })
  # What raters judge has no answers of its own, which could be of one category or another.
  none <- table$system %in% estimate$fit$x$constant & table$metric != "accuracy"
  table[none, c("estimate", interval_columns)] <- NA_real_
  table$reason[none] <- "the system has no answers of its own"
  systems <- systems %||% estimate$table$system
  order <- order(match(table$system, systems), match(table$metric, names(plan$records)))
  table[order[table$system[order] %in% systems], ]
}

# By what metrics need: functions of an estimate, a plan of such metrics, interval and conf_level
# that give the rows of tidy().
metric_engines <- function() list(table = metrics_of_table, scores = metrics_of_scores)

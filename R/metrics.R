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

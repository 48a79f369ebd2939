# Systems compared by a metric: an estimate of accuracy turned into one of that metric, of which
# compare_systems() makes what it makes of accuracies. On the unit scale, 1 is the best.

# A plan of one row; NULL for accuracy.
check_compared_metric <- function(metric, category, cost, estimate) {
  if (is.null(metric) || identical(metric, built_in_metrics$accuracy$id)) return(NULL)
  check_string(metric, "metric")
  plan <- settle_metrics(metric, "macro", 1, cost, 1L, estimate$fit$x)
  check_derived(plan$records[[1L]], estimate)
  by_category <- plan$records[[1L]]$form == "category"
  abort_argument_if(!is.null(category) && !by_category, "category",
    "{.arg category} goes with metrics of one category.",
    x = "{.val {metric}} is about all of them.")
  if (!is.null(category)) check_choice(category, plan$categories, "category")
  plan$row <- if (is.null(category)) 1L else match(category, plan$rows$category)
  plan
}

check_derived <- function(record, estimate) {
  draws <- draws_interval(estimate)
  gold <- length(estimate$gold$case) > 0L
  why <- if (record$needs != "table" || record$better == "") {
    "systems are not compared by this metric"
  } else if (!has_posterior(estimate)) {
    paste0("method \"", estimate$options$method, "\" estimates accuracy only")
  } else if (gold) {
    "gold cases measure differences of accuracy only"
  } else if (!draws$delta && !draws$cells) {
    paste0("a ", draws$words, " is for accuracy only")
  }
  abort_if(!is.null(why), "metric",
    "Differences of {.val {record$id}} are not derived here: {why}.",
    i = "Use {.fun estimate_metrics}, or
        {.code metric = \"accuracy\"}{if (gold) ', or an estimate without gold cases'}.",
    metric = record$id)
}

# The estimate with values, replicates and errors of the metric in the place of those of accuracy.
# What is hidden is a column of its details.
in_metric <- function(estimate, plan) {
  if (is.null(plan)) return(estimate)
  counts <- confusion_counts(estimate)
  draws <- confusion_draws(estimate)
  record <- draws_interval(estimate)
  level <- estimate$options$conf_level
  rows <- lapply(seq_along(counts), function(s) {
    found <- point_rows(estimate, plan, counts[[s]], s)
    if (record$delta) found <- delta_rows(found, estimate, plan, counts[[s]], draws, s, level)
    found[plan$row, ]
  })
  rows <- do.call(rbind, rows)
  ends <- ranges_of_plan(plan)[plan$row, ]
  value <- good_unit(rows$estimate, plan)
  estimate$replicates <- if (!is.null(draws$values) && !anyNA(value)) {
    vapply(seq_along(counts), function(s) {
      metric_replicates(estimate, plan, counts[[s]], draws, value[[s]], record, s)
    }, double(nrow(draws$values)))
  }
  estimate$table$estimate <- value
  estimate$details$centre <- value
  lacks <- is.na(value)
  estimate$table$reason[lacks] <- rows$reason[lacks]
  estimate$details$sampling <- rows$sampling / diff(ends)
  estimate$details$hidden <- rows$hidden / diff(ends)
  estimate
}

good_unit <- function(value, plan) {
  unit <- to_unit(value, ranges_of_plan(plan)[rep(plan$row, length(value)), , drop = FALSE])
  if (plan$records[[1L]]$better == "low") 1 - unit else unit
}

# Around the estimate: of first order where the interval is, otherwise the metric itself.
metric_replicates <- function(estimate, plan, counts, draws, centre, record, s) {
  shares <- function(counts) as_shares(counts, length(plan$categories))
  if (record$delta) {
    slopes <- metric_slopes(plan, shares(matrix(counts, 1L))[1L, ])
    off <- in_blocks(draws, s, function(counts) along_slopes(slopes, shares(counts)))[, plan$row]
    low <- plan$records[[1L]]$better == "low"
    wide <- diff(ranges_of_plan(plan)[plan$row, ])
    return(centre + (if (low) -1 else 1) * (off - mean(off, na.rm = TRUE)) / wide)
  }
  found <- in_blocks(draws, s, function(counts) metric_values(plan, shares(counts)))[, plan$row]
  found <- good_unit(found, plan)
  if (has_stand_in(estimate)) as.vector(moved_to(matrix(found), centre)) else found
}

# A comparison on the scale of the metric. Who is better stays as it is.
from_unit <- function(found, plan) {
  if (is.null(plan)) return(found)
  record <- plan$records[[1L]]
  ends <- ranges_of_plan(plan)[plan$row, ]
  low <- record$better == "low"
  wide <- diff(ends)
  unit <- found$accuracy$estimate
  found$accuracy$estimate <- if (low) ends[[2L]] - wide * unit else ends[[1L]] + wide * unit
  table <- found$differences
  columns <- c("estimate", "conf.low", "conf.high")
  turned <- if (low) c("estimate", "conf.high", "conf.low") else columns
  found$differences[columns] <- Map(function(x) (if (low) -wide else wide) * x, table[turned])
  found$differences$std.error <- wide * table$std.error
  found$options$metric <- paste0(record$id, metric_of_row(plan$rows[plan$row, ]))
  found$options$low <- low
  found
}

metric_of_row <- function(row) {
  if (!is.na(row$average)) {
    paste0(" (", average_words(row$average), ")")
  } else if (!is.na(row$category)) {
    paste0(" of ", row$category)
  }
}

# In words.
compared_metric <- function(comparison) comparison$options$metric %||% "accuracy"

low_is_good <- function(comparison) isTRUE(comparison$options$low)

# Is the first of each pair better, or the second, beyond doubt?
surely_better <- function(comparison, table, who = "system1") {
  lower <- low_is_good(comparison) == (who == "system1")
  if (lower) table$conf.high < 0 else table$conf.low > 0
}

best_by <- function(comparison) {
  metric <- comparison$options$metric
  if (is.null(metric)) "most accurate" else paste("best by", metric)
}

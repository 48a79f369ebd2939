# Printed form and tables of metrics.

# Name of each row, such as "f_meas (macro)" or "recall of A".
row_names <- function(table) {
  average <- paste0(" (", average_words(table$average), ")")
  paste0(
    table$metric, ifelse(is.na(table$average), "", average),
    ifelse(is.na(table$category), "", paste0(" of ", table$category))
  )
}

system_titles <- function(table) {
  do.call(paste, unname(as.list(table[intersect(c(part_columns, "system"), names(table))])))
}

format_estimates <- function(table) {
  ends <- paste0(" ", bracketed(table$conf.low, table$conf.high))
  paste0(decimals(table$estimate), ifelse(is.na(table$conf.low), "", ends))
}

average_words <- function(average) sub("_", " ", average, fixed = TRUE)

# A column per system. With many systems, a row per system, only metrics without a category, and no
# intervals.
view_of_metrics <- function(table) {
  table <- table[order(!is.na(table$category)), ]
  system <- system_titles(table)
  many <- length(unique(system)) > 3L
  keep <- !many | is.na(table$category) | !anyNA(table$category)
  values <- if (many) decimals(table$estimate) else format_estimates(table)
  sides <- list(metric = row_names(table), system = system)
  sides <- lapply(if (many) rev(sides) else sides, function(names) in_order(names[keep]))
  cells <- tapply(values[keep], sides, identity)
  view_of_matrix(cells, names(sides)[[1L]], most = 45L)
}

# Rows to print. For constant systems only the accuracy, which is a pass rate. With two categories
# no number twice, because the specificity of one is the sensitivity of the other.
shown_metrics <- function(table, estimate, plan) {
  if (n_categories(plan) == 2L) {
    records <- Filter(function(record) record$needs == "table", plan$records)
    plan <- metric_plan(records, plan$categories, plan$averages, plan$settings)
    values <- metric_values(plan, c(2, 3, 5, 9) / 19) # of a table without symmetry
    names <- row_names(plan$rows)
    values[!names %in% row_names(table)] <- NA
    twice <- duplicated(round(values, 9L)) & !is.na(plan$rows$category)
    table <- table[!row_names(table) %in% names[twice], ]
  }
  constant <- table$system %in% estimate$fit$x$constant
  accuracy <- table$metric == built_in_metrics$accuracy$id
  table$metric[constant & accuracy] <- passes
  keep <- accuracy | !constant
  if (any(keep)) table[keep, ] else table
}

metric_notes <- function(table, estimates, interval, conf_level) {
  first <- estimates[[1L]]
  c(
    reason_notes(table, paste0(row_names(table), " (", table$system, ")")),
    if (!all(rests_on_gold(first))) common_note(first),
    if (!all(is.na(table$conf.low))) metric_interval_note(interval, conf_level, estimates)
  )
}

# Describes the intervals of estimates; NULL if they have none.
metric_interval_note <- function(interval, conf_level, estimates) {
  estimate <- estimates[[1L]]
  record <- accuracy_intervals[[interval]]
  if (is.null(record$find)) return(NULL)
  drawn <- paste0(resampling_note(estimate), ", ", number(estimate$options$replicates),
    " replicates", if (has_stand_in(estimate) && record$spread != "delta") {
      paste0(" of the ", method_of(estimate)$stand_in, " model")
    })
  about <- if (measures_by_gold(estimate, interval)) {
    gold <- unique(number_of(range(vapply(estimates, count_gold, 0))))
    paste0("each by itself, in the ", estimate$gold$settings$target, ", with ",
      paste(gold, collapse = " to "), " gold cases")
  } else if (record$spread == "delta") {
    paste0("sampling error (delta method, ", drawn, ")", allowance_words(estimate))
  } else if (record$spread == "percentile" && !record$drawn) {
    paste0("sampling error alone (", drawn, ")")
  } else {
    return(interval_note(record, estimate))
  }
  paste0(interval_title(conf_level), "s (", record$id, "): ", about)
}

#' @rdname metric_estimate
#' @export
augment.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  first <- x$estimates[[1L]]
  abort_argument_if(!has_posterior(first), "x",
    "Method {.val {first$options$method}} gives no probabilities of the categories of a case.",
    i = "Estimate with {.arg method} {.or {.val {ids_with('posterior', accuracy_methods)}}}.")
  over_groups(x$estimates, x$options$grouped, function(estimate) {
    stack_rows(x$options$systems, weighted_answers, estimate = estimate)
  })
}

over_groups <- function(estimates, grouped, f, ...) {
  if (grouped) bind_parts(estimates, f, ...) else f(estimates[[1L]], ...)
}

# A row per true category and case that the system answered and raters rated.
weighted_answers <- function(estimate, system) {
  x <- estimate$fit$x
  n <- n_categories(x)
  s <- match(system, x$systems)
  pattern <- pattern_of_case(x)
  answer <- pattern_answers(x)[pattern, s]
  at <- which(answer > 0L & judged_patterns(estimate$fit)[pattern])
  posterior <- estimate$posterior[[s]][pattern[at], , drop = FALSE]
  weight <- weights_of_cases(x)[at]
  level <- function(code) factor(x$categories[code], levels = x$categories)
  tibble::as_tibble(columns_tibble(
    case = rep(x$cases[at], each = n), system = system, truth = level(rep(seq_len(n), length(at))),
    prediction = level(rep(answer[at], each = n)), weight = as.vector(t(posterior * weight))
  ))
}

# Comparisons of systems by a metric. The estimate of accuracy is replaced by an estimate of the
# metric, on the unit scale with 1 as the best value. compare_systems() then treats it like an
# accuracy.

# A plan with one row; NULL for accuracy.
check_compared_metric <- function(metric, category, cost, estimate) {
  if (is.null(metric) || identical(metric, built_in_metrics$accuracy$id)) return(NULL)
  check_string(metric, "metric")
  plan <- resolve_metrics(metric, "macro", 1, cost, 1L, estimate$fit$x)
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
  gold <- length(estimate$gold$case) > 0L
  why <- if (record$needs != "table" || record$better == "" || record$odds) {
    "systems are not compared by this metric"
  } else if (!has_posterior(estimate)) {
    accuracy_only(estimate)
  } else if (gold) {
    "gold cases measure differences of accuracy only"
  } else {
    why_no_kind(draws_interval(estimate))
  }
  abort_if(!is.null(why), "metric",
    "Differences of {.val {record$id}} cannot be computed: {why}.",
    i = "Use {.fun estimate_metrics}, or
        {.code metric = \"accuracy\"}{if (gold) ', or an estimate without gold cases'}.",
    metric = record$id)
}

# Replaces accuracies by values, replicates and errors of the metric. The hidden error is a column
# of `details`.
in_metric <- function(estimate, plan) {
  if (is.null(plan)) return(estimate)
  draws <- confusion_draws(estimate)
  delta <- draws_interval(estimate)$spread == "delta"
  counts <- confusion_counts(estimate)
  rows <- stack_rows(seq_along(counts), function(s) {
    rows <- point_rows(estimate, plan, counts[[s]], s)
    if (delta && !is.null(draws$values)) {
      rows <- delta_rows(rows, estimate, plan, counts[[s]], draws, s, 0.9)
    }
    rows[plan$row, ]
  })
  value <- good_unit(rows$estimate, plan)
  estimate$replicates <- if (!is.null(draws$values) && !anyNA(value)) {
    vapply(seq_along(counts), function(s) {
      metric_replicates(estimate, plan, counts[[s]], draws, value[[s]], delta, s)
    }, double(nrow(draws$values)))
  }
  estimate$table$estimate <- estimate$details$centre <- value
  if (plan$rows$metric[[plan$row]] != "accuracy") estimate$compared <- plan
  lacks <- is.na(value)
  estimate$table$reason[lacks] <- rows$reason[lacks]
  errors <- c("sampling", "hidden")
  estimate$details[errors] <- lapply(rows[errors], `/`, abs(diff(ends_of_compared(plan))))
  estimate
}

# Worst and best value of the compared metric.
ends_of_compared <- function(plan) {
  ends <- ranges_of_plan(plan)[plan$row, ]
  if (plan$records[[1L]]$better == "low") rev(ends) else ends
}

good_unit <- function(value, plan) to_unit(value, t(ends_of_compared(plan)))

# Replicates around the estimate: first-order changes for delta intervals, otherwise the metric
# itself.
metric_replicates <- function(estimate, plan, counts, draws, centre, delta, s) {
  shares <- function(counts) as_shares(counts, n_categories(plan))
  values <- function(f, x) in_blocks(draws, s, function(counts) f(x, shares(counts)))[, plan$row]
  if (delta) {
    off <- values(along_slopes, metric_slopes(plan, shares(counts)))
    return(centre + (off - mean(off, na.rm = TRUE)) / diff(ends_of_compared(plan)))
  }
  value <- good_unit(values(metric_values, plan), plan)
  if (has_stand_in(estimate)) as.vector(moved_to(matrix(value), centre)) else value
}

# Transforms a comparison to the scale of the metric. The order of systems does not change.
from_unit <- function(comparison, plan) {
  if (is.null(plan)) return(comparison)
  ends <- ends_of_compared(plan)
  width <- diff(ends)
  comparison$accuracy$estimate <- ends[[1L]] + width * comparison$accuracy$estimate
  table <- comparison$differences
  columns <- c("estimate", "conf.low", "conf.high")
  turned <- if (width < 0) columns[c(1L, 3L, 2L)] else columns
  comparison$differences[columns] <- lapply(table[turned], `*`, width)
  comparison$differences$std.error <- abs(width) * table$std.error
  comparison$options$metric <- row_names(plan$rows[plan$row, ])
  comparison$options$low <- width < 0
  comparison
}

# Name of the compared metric.
compared_metric <- function(comparison) comparison$options$metric %||% "accuracy"

low_is_good <- function(comparison) isTRUE(comparison$options$low)

# Does the interval show that the first (or second) system of each pair is better?
surely_better <- function(comparison, table, who = "system1") {
  lower <- low_is_good(comparison) == (who == "system1")
  if (lower) table$conf.high < 0 else table$conf.low > 0
}

best_by <- function(comparison) {
  metric <- comparison$options$metric
  if (is.null(metric)) "most accurate" else paste("best by", metric)
}

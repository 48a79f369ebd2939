# Printed form and tables of metrics; comparisons of systems by a metric.

# Returns the label of each row of a table of metrics, such as "f_meas (macro)" or "recall of A".
metric_labels <- function(table) {
  paste0(
    table$metric, format_unless_missing(format_average(table$average), " (%s)"),
    format_unless_missing(table$category, " of %s")
  )
}

# Returns the label of the system in each row. If there are several groups or variables, the label
# begins with the name of the group or variable.
system_titles <- function(table) {
  paste_columns(table[intersect(c(part_columns, "system"), names(table))], " ")
}

# Returns strings with estimate and interval, such as "0.80 [0.70, 0.90]".
format_estimates <- function(table) {
  trimws(paste(format_decimals(table$estimate), format_interval(table$conf.low, table$conf.high)))
}

format_average <- function(average) sub("_", " ", average, fixed = TRUE)

max_system_columns <- 3L # a printed table has a column per system up to this number of systems

# Does print() show intervals? It does not if there are more than three systems and also more than
# three metrics.
prints_intervals <- function(table) {
  min(n_distinct(system_titles(table)), n_distinct(metric_labels(table))) <= max_system_columns
}

# Returns the table that print() shows, with a row per metric and a column per system. With more
# than three systems, the table has a row per system and a column per metric.
metrics_to_print <- function(table) {
  table <- table[order(!is.na(table$category)), ]
  system_labels <- system_titles(table)
  category_labels <- table$category
  has_row_per_system <- n_distinct(system_labels) > max_system_columns
  # With a row per system, metrics of two or more single categories would need too many columns.
  # They are left out if there are other metrics.
  is_shown <- !has_row_per_system | is.na(category_labels) | !anyNA(category_labels) |
    n_distinct(category_labels) < 3L
  cell_texts <- if (prints_intervals(table)) format_estimates(table) else
    format_decimals(table$estimate)
  system_heading <- paste(c(part_columns_of(table), "system"), collapse = " ")
  cell_labels <-
    setNames(list(metric_labels(table), system_labels), c("metric", system_heading))
  if (has_row_per_system) cell_labels <- rev(cell_labels)
  cell_labels <- lapply(cell_labels, function(x) factor_in_order(x[is_shown]))
  view_of_matrix(tapply(cell_texts[is_shown], cell_labels, identity), names(cell_labels)[[1L]],
    most = 45L)
}

# Selects the rows to print.
# * Constant systems give all cases the same category. Only their accuracy is printed, as a pass
#   rate.
# * With two categories, metrics that always have the same value are printed once. For example, the
#   specificity of one category is the sensitivity of the other.
# * If the user named the positive category, metrics that imply it (such as sensitivity) are printed
#   without category.
shown_metrics <- function(table, estimate, plan) {
  if (n_categories(plan) == 2L) {
    table_plan <- subset_plan(Filter(function(record) record$needs == "table", plan$records), plan)
    # If two metrics are equal for one table of truth and answer, whose cells all differ, they are
    # assumed to be equal for all tables.
    values <- metric_values(table_plan, c(2, 3, 5, 9) / 19)
    row_labels <- metric_labels(table_plan$rows)
    values[!row_labels %in% metric_labels(table)] <- NA
    is_duplicate <- duplicated(round(values, 9L)) & !is.na(table_plan$rows$category)
    table <- table[!metric_labels(table) %in% row_labels[is_duplicate], ]
    implies_category <- field_of_rows(plan, "diagnostic", table) & !is.null(plan$settings$positive)
    table$category[implies_category] <- NA
  }
  is_constant <- table$system %in% estimate$fit$x$constant
  is_accuracy <- table$metric == built_in_metrics$accuracy$id
  table$metric[is_constant & is_accuracy] <- pass_rate_heading
  is_shown <- is_accuracy | !is_constant
  if (any(is_shown)) table[is_shown, ] else table
}

metric_notes <- function(table, estimates, interval, conf_level) {
  c(
    reason_notes(table, paste0(metric_labels(table), " (", table$system, ")")),
    note_of_followers(unique(unlist(lapply(estimates, find_followers)))),
    if (!all(rests_on_gold(estimates[[1L]]))) {
      merge_part_notes(lapply(estimates, shared_errors_note))
    },
    if (any_known(table$conf.low)) c(
      if (!prints_intervals(table)) {
        note("The table has no room for intervals: see tidy()", report = NULL)
      },
      metric_interval_note(
        interval, conf_level, estimates, any(table$metric %in% names(score_records))
      )
    )
  )
}

# Returns a note that describes the intervals of metrics of `estimates`. `has_scores`: are there
# metrics of scores?
metric_interval_note <- function(interval, conf_level, estimates, has_scores = FALSE) {
  estimate <- estimates[[1L]]
  record <- accuracy_intervals[[interval]]
  resampling_text <- paste0(
    replicates_note(estimate), if (has_stand_in(estimate) && record$spread != "delta") {
      paste0(" of the ", method_of(estimate)$stand_in, " model")
    }
  )
  description <- if (is_measured_by_gold(estimate, interval)) {
    sprintf("per metric, in the %s, with %s gold cases", estimate$gold$settings$target,
      format_span(map_dbl(estimates, count_gold), format_unpadded))
  } else if (record$spread == "delta") {
    paste0("sampling error (delta method, ", resampling_text, ")",
      describe_hidden_error(estimate, has_scores))
  } else if (record$spread == "percentile" && !record$drawn) {
    paste0("sampling error only (", resampling_text, ")")
  } else {
    return(interval_note(record, estimate))
  }
  paste0(interval_title(conf_level), "s (", record$id, "): ", description)
}

#' @rdname metric_estimate
#' @export
augment.metric_estimate <- function(x, ...) {
  check_dots_empty(...)
  first_estimate <- x$estimates[[1L]]
  abort_argument_if(!has_posterior(first_estimate), "x",
    "Method {.val {first_estimate$options$method}} does not estimate the probability of each
        category of a case.",
    i = "Use {.arg method} {.or {.val {ids_with('posterior', accuracy_methods)}}} in
        {.fun estimate_metrics}.")
  abort_argument_if(!is.null(first_estimate$cells), "x",
    "{.fun augment} cannot be used with estimates from posterior draws: they do not contain the
        probability of each category of a case, given the answer of a system.",
    i = "Call {.fun estimate_metrics} with the ratings, or with a fit by {.code method =
        \"likelihood\"}. {.fun ground_truth} of the fit returns probabilities that do not use the
        answers of systems.")
  apply_to_groups(x$estimates, x$options$grouped, function(estimate) {
    ratings <- estimate$fit$x
    n <- n_categories(ratings)
    pattern <- pattern_of_case(ratings)
    as_category <- function(code) factor(ratings$categories[code], levels = ratings$categories)
    stack_rows(x$options$systems, function(system) {
      s <- match(system, ratings$systems)
      answer <- pattern_answers(ratings)[pattern, s]
      # Only cases with an answer and ratings are used.
      case_rows <- which(answer > 0L & is_usable_pattern(estimate$fit)[pattern])
      posterior <- pick_rows(estimate$posterior[[s]], pattern[case_rows])
      as_tibble(columns_tibble(
        case = rep(ratings$cases[case_rows], each = n), system = system,
        truth = as_category(rep(seq_len(n), length(case_rows))),
        prediction = as_category(rep(answer[case_rows], each = n)),
        weight = as.vector(t(posterior * weights_of_cases(ratings)[case_rows]))
      ))
    })
  })
}

# Calls the function `f` for the estimate of each group, and combines the resulting tables. If
# `grouped` is FALSE, there is only one estimate.
apply_to_groups <- function(estimates, grouped, f, ...) {
  if (grouped) bind_parts(estimates, f, ...) else f(estimates[[1L]], ...)
}

# ---- Comparisons of systems by a metric other than accuracy --------------------------------------

# The estimate of accuracy is replaced by an estimate of the metric, on a scale from 0 (worst value)
# to 1 (best value). compare_systems() then treats the metric like an accuracy.

# Checks the arguments `metric`, `category` and `cost` of compare_systems(). Returns a metric_plan()
# for the metric. Its additional element `row` is the number of the row that is compared. Returns
# NULL for accuracy.
check_compared_metric <- function(metric, category, cost, estimate) {
  if (is.null(metric) || identical(metric, built_in_metrics$accuracy$id)) return(NULL)
  check_string(metric, "metric")
  plan <- resolve_metrics(metric, "macro", 1, cost, 1L, estimate$fit$x)
  record <- plan$records[[1L]]
  has_gold <- has_gold_cases(estimate$gold)
  no_comparison_reason <- if (record$needs != "table" || record$better == "" || record$odds) {
    "comparisons do not support prevalences, ratios, metrics of scores or \"accuracy_all\""
  } else if (!has_posterior(estimate)) {
    reason_accuracy_only(estimate)
  } else if (has_gold) {
    "with gold cases, only differences of accuracy are supported"
  } else {
    why_accuracy_only(interval_with_draws(estimate))
  }
  abort_if(!is.null(no_comparison_reason), "metric",
    "Differences of {.val {record$id}} cannot be computed: {no_comparison_reason}.",
    i = "Use {.fun estimate_metrics}, or
        {.code metric = \"accuracy\"}{if (has_gold) ', or an estimate without gold cases'}.",
    metric = record$id)
  plan$row <- 1L
  if (is.null(category)) return(plan)
  abort_argument_if(record$form != "category", "category",
    "{.arg category} can only be used with metrics of one category.",
    x = "{.val {metric}} is a metric of all categories.")
  check_choice(category, plan$categories)
  plan$row <- match(category, plan$rows$category)
  plan
}

# Returns the estimate with values of the compared metric in place of accuracies. Replicates and
# errors of the accuracies are also replaced. The hidden error of the metric (see hidden_errors())
# becomes a column of `details`.
# `plan`: result of check_compared_metric().
replace_accuracy_by_metric <- function(estimate, plan) {
  if (is.null(plan)) return(estimate)
  draws <- confusion_draws(estimate)
  has_draws <- !is.null(draws$values)
  range_width <- diff(worst_and_best_value(plan))
  uses_delta_method <- interval_with_draws(estimate)$spread == "delta"
  counts <- confusion_counts(estimate)
  rows <- stack_rows(seq_along(counts), function(s) {
    rows <- point_rows(estimate, plan, counts[[s]], s)
    if (uses_delta_method && has_draws) {
      rows <- add_delta_intervals(rows, estimate, plan, counts[[s]], draws, s, 0.9)
    }
    rows[plan$row, ]
  })
  unit_values <- metric_to_unit(rows$estimate, plan)
  to_shares <- function(counts) as_shares(counts, n_categories(plan))
  # Replicates for intervals by the delta method are first-order changes around the estimate.
  estimate$replicates <- if (has_draws && !anyNA(unit_values)) {
    vapply(seq_along(counts), function(s) {
      apply_to_draws <- function(f, x) {
        apply_in_blocks(draws, s, function(counts) f(x, to_shares(counts)))[, plan$row]
      }
      if (uses_delta_method) {
        changes <- apply_to_draws(first_order_changes, metric_slopes(plan, to_shares(counts[[s]])))
        centred_changes <- (changes - mean(changes, na.rm = TRUE)) / range_width
        return(unit_values[[s]] + centred_changes)
      }
      replicates <- metric_to_unit(apply_to_draws(metric_values, plan), plan)
      if (has_stand_in(estimate)) shift_replicates(matrix(replicates), unit_values[[s]])[, 1L] else
        replicates
    }, double(nrow(draws$values)))
  }
  estimate$table$estimate <- estimate$details$centre <- unit_values
  if (plan$rows$metric[[plan$row]] != "accuracy") estimate$compared <- plan
  has_no_value <- is.na(unit_values)
  estimate$table$reason[has_no_value] <- rows$reason[has_no_value]
  error_columns <- c("sampling", "hidden")
  estimate$details[error_columns] <- lapply(rows[error_columns], `/`, abs(range_width))
  estimate
}

# Returns the worst and the best possible value of the compared metric.
worst_and_best_value <- function(plan) {
  range <- ranges_of_plan(plan)[plan$row, ]
  if (plan$records[[1L]]$better == "low") rev(range) else range
}

# Converts values of the compared metric to the scale from 0 (worst) to 1 (best value).
metric_to_unit <- function(value, plan) to_unit(value, t(worst_and_best_value(plan)))

# Converts a comparison from the scale of 0 (worst value) to 1 (best value), on which it was
# computed, to the scale of the metric. The order of systems does not change.
comparison_on_metric_scale <- function(comparison, plan) {
  if (is.null(plan)) return(comparison)
  worst_and_best <- worst_and_best_value(plan)
  range_width <- diff(worst_and_best)
  comparison$accuracy$estimate <- worst_and_best[[1L]] + range_width * comparison$accuracy$estimate
  differences <- comparison$differences
  columns <- c("estimate", if (range_width < 0) rev(limit_columns) else limit_columns)
  comparison$differences[c("estimate", limit_columns)] <-
    lapply(differences[columns], `*`, range_width)
  comparison$differences$std.error <- abs(range_width) * differences$std.error
  row <- plan$rows[plan$row, ]
  comparison$options[c("metric", "metric_words")] <-
    list(metric_labels(row), format_metric_names(plan, row))
  comparison$options$low <- range_width < 0
  comparison
}

# Returns the name of the compared metric.
compared_metric <- function(comparison) comparison$options$metric %||% "accuracy"

# Returns names of metrics for sentences, such as "recall for positive". `rows`: rows of metrics.
format_metric_names <- function(plan, rows) {
  titles <- lower_first_letter(field_of_rows(plan, "title", rows))
  titles[rows$metric == pass_rate_heading] <- "pass rate"
  paste0(titles, format_unless_missing(format_average(rows$average), " (%s average)"),
    format_unless_missing(rows$category, " for %s"))
}

# Is a low value of the compared metric better?
low_is_good <- function(comparison) isTRUE(comparison$options$low)

# Returns, for each pair of systems, whether the interval shows that the system `who` of the pair
# ("system1" or "system2") is better. `table`: differences, with a row per pair.
is_surely_better <- function(comparison, table, who = "system1") {
  if (low_is_good(comparison) == (who == "system1")) table$conf.high < 0 else table$conf.low > 0
}

# Returns words for the best system, such as "most accurate".
describe_best_system <- function(comparison) {
  metric <- comparison$options$metric
  if (is.null(metric)) "most accurate" else paste("best by", metric)
}

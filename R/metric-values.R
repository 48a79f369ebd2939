# Computes metrics from joint tables of truth and answer.
#
# In the functions below, the argument `tables` is a matrix with a row per table and a column per
# cell. Answers vary fastest: first all cells of the first truth, then all cells of the second
# truth. Results have a row per table.

metric_averages <- c("macro", "macro_weighted", "micro")

# Creates a plan, a list that specifies the metrics to estimate.
# * records: record of each metric, see new_metric()
# * averages: names of averages over categories, such as "macro"
# * settings: arguments of estimate_metrics()
#
# The list contains the arguments and `rows`, a data frame with a row per value to estimate. The
# column `metric` contains the name of the metric. Either `category` or `average` is given, and the
# other is NA. Both are NA for metrics of the whole table.
metric_plan <- function(records, categories, averages, settings) {
  list(
    records = records, rows = stack_rows(unname(records), plan_rows, categories, averages),
    categories = categories, averages = averages, settings = settings
  )
}

# Returns a plan of the metrics `records`, with the categories and settings of another plan.
subset_plan <- function(records, plan, averages = plan$averages) {
  metric_plan(records, plan$categories, averages, plan$settings)
}

# Returns the rows of a plan for one metric: averages first, then categories.
plan_rows <- function(record, categories, averages) {
  if (record$needs == "scores") averages <- setdiff(averages, "micro")
  if (isTRUE(record$pairs)) averages <- c("hand_till", averages)
  if (record$form != "category" || (isTRUE(record$pairs) && length(categories) == 2L)) {
    return(data.frame(metric = record$id, average = NA_character_, category = NA_character_))
  }
  data.frame(
    metric = record$id, average = c(averages, rep(NA_character_, length(categories))),
    category = c(rep(NA_character_, length(averages)), categories)
  )
}

# Returns the values of all rows of a plan (tables x rows). For a single table, given as a vector,
# the result is a vector.
metric_values <- function(plan, tables) {
  if (!is.matrix(tables)) return(metric_values(plan, matrix(tables, 1L))[1L, ])
  counts <- one_vs_rest_counts(tables, n_categories(plan))
  unname(do.call(cbind, lapply(plan$records, function(record) {
    switch(record$form,
      table = values_of_tables(record, plan, tables),
      category = values_of_categories(record, plan, counts),
      cell = pick_columns(record$kernel(tables, n_categories(plan)), record$cells)
    )
  })))
}

# Returns the values of a metric of the whole table, a matrix with one column.
values_of_tables <- function(record, plan, tables) {
  dimension_names <- list(truth = plan$categories, answer = plan$categories)
  arguments <- apply(tables, 1L, function(cells) {
    list(matrix(cells, n_categories(plan), byrow = TRUE, dimnames = dimension_names))
  }, simplify = FALSE)
  matrix(run_kernel(record, arguments, 1L, plan$settings))
}

# Returns the values of a metric of one category against the rest, with a row per table. The first
# columns are for averages over categories, the next columns for single categories. `counts`: result
# of one_vs_rest_counts().
values_of_categories <- function(record, plan, counts) {
  compute_values <- function(counts) {
    arguments <- list(unname(lapply(counts, as.vector)))
    matrix(run_kernel(record, arguments, length(counts$tp), plan$settings), NROW(counts$tp))
  }
  values_by_category <- compute_values(counts)
  drop_rule <- record$drops
  averages <- lapply(plan$averages, function(average) {
    if (average == "micro") return(compute_values(lapply(counts, rowSums)))
    weight <- weights_in_mean(
      values_by_category, average == "macro_weighted", counts$tp + counts$fn, drop_rule
    )
    values_by_category[weight == 0 | (drop_rule == "caseless" & is.na(values_by_category))] <- 0
    rowSums(values_by_category * weight) / rowSums(weight)
  })
  do.call(cbind, c(averages, list(values_by_category)))
}

# Returns the weight of each category in the mean over categories (tables x categories). The weight
# is 0 for categories that are left out.
# * by_category: values of the metric for each category
# * weighted: is the mean weighted by the number of cases?
# * cases: number of cases of each category
# * drops: which categories are left out, see new_metric()
weights_in_mean <- function(by_category, weighted, cases, drops) {
  is_left_out <- switch(drops, undefined = is.na(by_category), caseless = cases <= 0, never = FALSE)
  replace(if (weighted) cases else cases^0, is_left_out, 0)
}

# Returns a list of true positives (tp), false negatives (fn), false positives (fp) and true
# negatives (tn) of each category against all others. Each is a matrix tables x categories. `n`:
# number of categories.
one_vs_rest_counts <- function(tables, n) {
  table_totals <- table_sums(tables, n)
  tp <- table_totals$right
  tn <- rowSums(tables) - table_totals$truth - table_totals$answer + tp
  counts <- list(tp = tp, fn = table_totals$truth - tp, fp = table_totals$answer - tp, tn = tn)
  lapply(counts, round_to_zero)
}

# Calls the kernel (the function that computes the metric) once for each element of the list
# `arguments`. Returns all values as one vector. Each call must return `n` numbers in the range of
# the metric, NA if undefined.
run_kernel <- function(record, arguments, n, settings) {
  if (record$ordered && !settings$ordered) return(rep(NA_real_, n * length(arguments)))
  values <- tryCatch(
    lapply(arguments, function(args) do.call(record$kernel, c(args, settings[record$settings]))),
    error = function(e) {
      abort_fallible("metric", "The kernel of metric {.val {record$id}} stopped.",
        x = escape_braces(conditionMessage(e)), metric = record$id, parent = e)
    }
  )
  range <- range_of_metric(record, settings)
  abort_kernel <- function(...) {
    abort_fallible("metric",
      "The kernel of metric {.val {record$id}} must return {n} number{?s} from {range[[1L]]} to
          {range[[2L]]}.",
      x = escape_braces(..., "."), metric = record$id)
  }
  for (value in values) {
    if (length(value) != n || !is_number_or_na(value)) abort_kernel("It returned ", describe(value))
  }
  values <- as.double(unlist(values))
  wrong_positions <- which(values < range[[1L]] - 1e-8 | values > range[[2L]] + 1e-8)
  if (length(wrong_positions) > 0L) {
    abort_kernel("The value ", values[[wrong_positions[[1L]]]], " is outside this range")
  }
  values
}

# Returns the smallest and the largest possible value of a metric.
range_of_metric <- function(record, settings) {
  if (is.function(record$lower)) record$lower(settings) else c(record$lower, record$upper)
}

# Returns, for each row of a plan, a field of the record of its metric. `rows` may also be another
# table with a column `metric`.
field_of_rows <- function(plan, field, rows = plan$rows) {
  unlist(lapply(plan$records, `[[`, field))[match(rows$metric, names(plan$records))]
}

# Returns the width of each range. `ranges`: rows x 2 (smallest and largest value).
widths <- function(ranges) ranges[, 2L] - ranges[, 1L]

# Returns the smallest and the largest possible value of each row of a plan (rows x 2).
ranges_of_plan <- function(plan) {
  ranges <- vapply(plan$records, range_of_metric, c(0, 0), settings = plan$settings)
  unname(t(pick_columns(ranges, plan$rows$metric)))
}

# Converts expected numbers of cases to shares of all cases. Cells of true categories with fewer
# than `min_expected_cases` expected cases are set to 0. `counts`: tables x cells, or a vector for a
# single table. `n`: number of categories.
as_shares <- function(counts, n) {
  if (!is.matrix(counts)) return(as_shares(matrix(counts, 1L), n)[1L, ])
  has_few_cases <- table_sums(counts, n)$truth < min_expected_cases
  counts[has_few_cases[, rep(seq_len(n), each = n)]] <- 0
  counts / rowSums(counts)
}

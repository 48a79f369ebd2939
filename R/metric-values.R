# Values of metrics for joint tables of truth and answer, and how they move with the tables.
#
# Tables come as a matrix: a row per table, a column per cell, answers within truths. Values go as a
# matrix: a row per table, a column per row of a plan.

metric_averages <- c("macro", "macro_weighted", "micro")

# What is to be computed: `rows`, a metric each, of a category or an average over categories (both
# NA for metrics of the whole table); and of each metric its record and place.
metric_plan <- function(records, categories, averages, settings) {
  rows <- lapply(records, function(record) {
    if (record$needs == "scores") return(rows_of_scores(record, categories, averages))
    n <- length(categories)
    one <- record$form == "table"
    average <- if (one) NA_character_ else c(averages, rep(NA_character_, n))
    category <- if (one) NA_character_ else c(rep(NA_character_, length(averages)), categories)
    data.frame(metric = record$id, average = average, category = category)
  })
  list(
    records = records, rows = do.call(rbind, unname(rows)), categories = categories,
    averages = averages, settings = settings
  )
}

metric_values <- function(plan, tables) {
  parts <- against_rest(tables, length(plan$categories))
  values <- lapply(plan$records, function(record) {
    if (record$form == "table") {
      values_of_tables(record, plan, tables)
    } else {
      values_of_categories(record, plan, parts)
    }
  })
  unname(do.call(cbind, values))
}

values_of_tables <- function(record, plan, tables) {
  n <- length(plan$categories)
  labels <- list(truth = plan$categories, answer = plan$categories)
  each <- lapply(seq_len(nrow(tables)), function(i) {
    list(matrix(tables[i, ], n, byrow = TRUE, dimnames = labels))
  })
  matrix(run_kernel(record, each, 1L, plan$settings), ncol = 1L)
}

values_of_categories <- function(record, plan, parts) {
  of <- function(parts) {
    flat <- lapply(parts, as.vector)
    value <- run_kernel(record, list(unname(flat)), length(flat$tp), plan$settings)
    matrix(value, NROW(parts$tp))
  }
  each <- of(parts)
  averages <- lapply(plan$averages, function(average) {
    switch(average,
      macro = mean_over(each, FALSE, parts$tp + parts$fn, record$drops),
      macro_weighted = mean_over(each, TRUE, parts$tp + parts$fn, record$drops),
      micro = of(lapply(parts, rowSums))
    )
  })
  do.call(cbind, c(averages, list(each)))
}

# Means of rows, of categories with so many `cases`, by which they may be weighted.
mean_over <- function(each, weighted, cases, drops) {
  weight <- weights_in_mean(each, weighted, cases, drops)
  each[weight == 0 | (drops == "caseless" & is.na(each))] <- 0
  matrix(rowSums(each * weight) / rowSums(weight), ncol = 1L)
}

# Categories that leave the mean have weight 0.
weights_in_mean <- function(each, weighted, cases, drops) {
  gone <- switch(drops, undefined = is.na(each), caseless = cases <= 0, never = FALSE)
  replace(if (weighted) cases else cases^0, gone, 0)
}

# Each category against all others: tables x categories of true positives and so on.
against_rest <- function(tables, n) {
  sums <- table_sums(tables, n)
  tp <- sums$right
  tn <- rowSums(tables) - sums$truth - sums$answer + tp
  lapply(list(tp = tp, fn = sums$truth - tp, fp = sums$answer - tp, tn = tn), function(part) {
    replace(part, abs(part) < 1e-13, 0)
  })
}

# `each` has the arguments of so many calls, which give `n` numbers each in the range of the metric,
# NA where it is undefined.
run_kernel <- function(record, each, n, settings) {
  if (record$ordered && !settings$ordered) return(rep(NA_real_, n * length(each)))
  more <- settings[record$settings]
  values <- tryCatch(
    lapply(each, function(args) do.call(record$kernel, c(args, more))),
    error = function(e) {
      abort_fallible("metric", "Metric {.val {record$id}} stopped.",
        x = verbatim(conditionMessage(e)), metric = record$id, parent = e)
    }
  )
  ends <- range_of_metric(record, settings)
  counted <- lengths(values) == n & vapply(values, function(value) {
    is.numeric(value) || (is.logical(value) && all(is.na(value)))
  }, NA)
  value <- if (all(counted)) as.double(unlist(values))
  off <- value[!is.na(value) & (value < ends[[1L]] - 1e-8 | value > ends[[2L]] + 1e-8)]
  if (!all(counted) || length(off) > 0L) {
    other <- values[!counted]
    abort_fallible("metric",
      "Metric {.val {record$id}} must return {n} number{?s} from {ends[[1L]]} to {ends[[2L]]}.",
      x = if (length(other) > 0L) "It returned {describe(other[[1L]])}." else "Among them is
          {.val {off[[1L]]}}.", metric = record$id)
  }
  value
}

range_of_metric <- function(record, settings) {
  if (is.function(record$lower)) record$lower(settings) else c(record$lower, record$upper)
}

# Of each row of a plan, a row each: the ends of its range.
ranges_of_plan <- function(plan) {
  ends <- vapply(plan$records, range_of_metric, c(0, 0), settings = plan$settings)
  unname(t(ends))[match(plan$rows$metric, names(plan$records)), , drop = FALSE]
}

# Expected numbers of cases as shares of all; a category of which hardly a case is expected has
# none.
as_shares <- function(counts, n) {
  few <- table_sums(counts, n)$truth < few_cases
  counts[few[, rep(seq_len(n), each = n)]] <- 0
  counts / rowSums(counts)
}

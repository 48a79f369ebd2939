# Slopes of metrics are derivatives with respect to the cells of the joint table of truth and
# answer. If a small share of all cases is moved to a cell, the metric changes by this share times
# the slope of the cell. The mean slope over cases is 0. Cells of truths or answers that do not
# occur have slope 0.

# Computes the slopes of all metrics at one table of truth and answer.
# * plan: the metrics, see metric_plan()
# * table: vector of probabilities of cells, in which answers vary fastest
#
# Metrics of one category against the rest depend only on three kinds of totals: of each truth, of
# each answer, and of each correct answer. The slope of a cell is therefore the sum of up to three
# slopes of totals. To save memory, only the slopes of totals are stored. Returns a list:
# * n: number of categories
# * is_occurring: do the truth and the answer of a cell occur? An element per cell
# * whole: is a row of the plan a metric of the whole table?
# * cells: slopes of metrics of the whole table (cells x metrics)
# * sums: slopes of the other metrics (totals x metrics). Rows are totals of truths, then of
#   answers, then of correct answers
metric_slopes <- function(plan, table) {
  n <- n_categories(plan)
  joint_table <- matrix(table, n, byrow = TRUE)
  is_occurring <- as.vector(t(outer(rowSums(joint_table) > 0, colSums(joint_table) > 0, `&`)))
  counts <- lapply(one_vs_rest_counts(matrix(table, 1L), n), as.vector)
  is_whole_table <- map_lgl(plan$records, function(record) record$form != "category")
  list(
    n = n, is_occurring = is_occurring, whole = unname(is_whole_table[plan$rows$metric]),
    cells = do.call(cbind, lapply(plan$records[is_whole_table], slopes_of_table, plan, joint_table,
      is_occurring)),
    sums = do.call(cbind, lapply(plan$records[!is_whole_table], slopes_of_categories, plan, counts))
  )
}

# Returns the slopes of row number `i` of the plan, a number per cell. `slopes`: result of
# metric_slopes(). `unused_too`: FALSE sets the slope of a cell to 0 if its truth or its answer does
# not occur.
slopes_of_row <- function(slopes, i, unused_too = FALSE) {
  column_number <- sum(slopes$whole[seq_len(i)] == slopes$whole[[i]])
  if (slopes$whole[[i]]) return(slopes$cells[, column_number])
  total_slopes <- matrix(slopes$sums[, column_number], ncol = 3L)
  cell_slopes <-
    t(outer(total_slopes[, 1L], total_slopes[, 2L], `+`) + diag(total_slopes[, 3L], slopes$n))
  replace(as.vector(cell_slopes), !unused_too & !slopes$is_occurring, 0)
}

# Returns how much each metric changes, to first order, from the table at which slopes were computed
# to each table in `tables` (tables x cells). The result has a row per table and a column per row of
# the plan.
first_order_changes <- function(slopes, tables) {
  tables[, !slopes$is_occurring] <- 0
  is_whole <- slopes$whole
  changes <- matrix(0, nrow(tables), length(is_whole))
  if (any(is_whole)) changes[, is_whole] <- tables %*% slopes$cells
  if (!all(is_whole)) {
    changes[, !is_whole] <- do.call(cbind, table_sums(tables, slopes$n)) %*% slopes$sums
  }
  changes
}

# Returns the sum over truths of slope times `weight` (answers x rows of the plan). `weight`: a
# matrix answers x truths.
slopes_by_answer <- function(slopes, weight) {
  vapply(seq_along(slopes$whole), function(i) {
    rowSums(weight * matrix(slopes_of_row(slopes, i), slopes$n))
  }, numeric(slopes$n))
}

# Returns the slopes of a metric of the whole table, a number per cell. NA if the metric is
# undefined. `record`: see new_metric(). `joint_table`: truths x answers. `is_occurring`: do the
# truth and the answer of a cell occur?
slopes_of_table <- function(record, plan, joint_table, is_occurring) {
  probabilities <- as.vector(t(joint_table))
  if (record$form == "cell") {
    # The metric is one cell of a confusion matrix: among the cases with one truth, the share that
    # got one answer. It does not depend on cells of the table with another truth.
    cell_truth <- rep(seq_len(n_categories(plan)), each = n_categories(plan))
    metric_truth <- cell_truth[record$cells]
    truth_total <-
      rep(rowsum(probabilities, cell_truth)[metric_truth], each = length(probabilities))
    metric_share <- rep(probabilities[record$cells], each = length(probabilities)) / truth_total
    is_cell <- outer(seq_along(probabilities), record$cells, `==`)
    return((is_cell - metric_share) * outer(cell_truth, metric_truth, `==`) / truth_total)
  }
  slopes <- if (is.na(values_of_tables(record, plan, matrix(probabilities, 1L)))) {
    NA_real_ * probabilities
  } else if (is.null(record$gradient)) {
    step_sizes <- c(0, 0.5, 1) * slope_step
    replace(0 * probabilities, which(is_occurring), map_dbl(which(is_occurring), function(cell) {
      moved_tables <- outer(1 - step_sizes, probabilities) +
        outer(step_sizes, seq_along(probabilities) == cell)
      one_sided_derivative(t(values_of_tables(record, plan, moved_tables)))
    }))
  } else {
    gradient <- do.call(record$gradient, c(list(joint_table), plan$settings[record$settings]))
    as.vector(t(gradient - sum(joint_table * gradient)))
  }
  replace(slopes, !is_occurring, 0)
}

# Returns one-sided numerical derivatives of functions at 0. `values`: values of the functions
# (rows) at 0, half a step and a full step (columns).
one_sided_derivative <- function(values) {
  (4 * values[, 2L] - values[, 3L] - 3 * values[, 1L]) / slope_step
}

# Returns the slopes of a metric of one category against the rest, computed numerically. The result
# is a matrix. Rows are totals of truths, then of answers, then of correct answers. The first
# columns are for averages over categories, the next columns for single categories. `counts`: list
# of tp, fn, fp and tn, vectors with an element per category.
slopes_of_categories <- function(record, plan, counts) {
  n <- length(counts$tp)
  kernel_result <- kernel_slopes(record, plan, counts, diag(4L))
  values <- kernel_result$value
  slopes <- replace(kernel_result$slope, !is.na(values) & !is.finite(kernel_result$slope), 0)
  fn_slope <- slopes[, 2L]
  fp_slope <- slopes[, 3L]
  tn_slope <- slopes[, 4L]
  category_slopes <- rbind(
    diag(fn_slope - tn_slope, n) + rep(tn_slope, each = n), diag(fp_slope - tn_slope, n),
    diag(slopes[, 1L] - fn_slope - fp_slope + tn_slope, n)
  )
  average_slopes <- lapply(plan$averages, function(average) {
    if (average == "micro") {
      # The average is computed from the sums of tp, fn, fp and tn over categories. A case with a
      # correct answer is a true positive of one category and a true negative of all others.
      added_counts <- cbind(c(1, 0, 0, n - 1), c(0, 1, 1, n - 2))
      slopes <- kernel_slopes(record, plan, lapply(counts, sum), added_counts)$slope
      return(rep(c(slopes[[2L]], 0, slopes[[1L]] - slopes[[2L]]), each = n))
    }
    weight <- weights_in_mean(
      values, average == "macro_weighted", counts$tp + counts$fn, record$drops
    )
    has_no_slope <- weight == 0 | (record$drops == "caseless" & is.na(values))
    category_slopes[, has_no_slope] <- 0
    values[has_no_slope] <- 0
    total_weight <- sum(weight)
    slopes <- as.vector(category_slopes %*% weight) / total_weight
    if (average == "macro") return(slopes)
    # In average "macro_weighted", the weight of a category is its number of cases. A case changes
    # the weight of its true category, which adds a term to the slopes of totals of truths.
    weight_slope <- (values - sum(values * weight) / total_weight) / total_weight
    slopes + c(replace(weight_slope, weight == 0, 0), numeric(2L * n))
  })
  do.call(cbind, c(average_slopes, list(category_slopes)))
}

# Returns a list: `value`, the value of a kernel for each category, and `slope`, its numerical
# derivatives (categories x kinds of cases). A kind of case is, for example, a true positive.
# `added_counts`: numbers that one more case adds to tp, fn, fp and tn (4 x kinds of cases).
kernel_slopes <- function(record, plan, counts, added_counts) {
  n <- length(counts$tp)
  step_sizes <- rep(c(0, 0.5, 1) * slope_step, each = n * ncol(added_counts))
  moved_counts <- lapply(seq_len(4L), function(i) {
    (1 - step_sizes) * counts[[i]] + step_sizes * rep(added_counts[i, ], each = n)
  })
  values <- run_kernel(record, list(moved_counts), length(step_sizes), plan$settings)
  values <- matrix(values, ncol = 3L)
  list(value = values[seq_len(n), 1L], slope = matrix(one_sided_derivative(values), n))
}

# ---- Influence of cases on metrics of scores -----------------------------------------------------

# The influence of a case on a metric is the derivative of the metric with respect to the weight of
# the case, times the number of cases. The influence is computed for each possible truth of the case
# (cases x categories). The field `influence` of a metric is a function that returns a list with one
# or both of these elements:
# * whole: influence on the metric for all categories together
# * by_category: a list of matrices, the influence on the metric of each category
#
# Its arguments `score_data`, `w`, `v` and `settings` are those of the kernels in metric-scores.R.

# Returns the influence of each case on the area under the ROC curve, see weighted_auc(). The
# result is a list of derivatives with respect to `a` and to `b`, times the number of cases.
# * order: cases sorted by score, see score_order()
# * a, b: weights with which each case is counted as positive and as negative
# * v: number of times that each case is counted
auc_influence <- function(order, a, b, v) {
  positive_weight <- sum(a * v)
  negative_weight <- sum(b * v)
  tie_sizes <- diff(c(0L, order$end))
  sum_weight_above <- function(weight) {
    cumulative_weights <- cumulative_weight(order, weight * v)
    weight_above <- numeric(length(v))
    weight_above[order$at] <-
      rep(cumulative_weights - diff(c(0, cumulative_weights)) / 2, tie_sizes)
    weight_above
  }
  negatives_below <- negative_weight - sum_weight_above(b)
  auc <- sum(a * v * negatives_below) / (positive_weight * negative_weight)
  list(
    a = sum(v) * (negatives_below / negative_weight - auc) / positive_weight,
    b = sum(v) * (sum_weight_above(a) / positive_weight - auc) / negative_weight
  )
}

# Returns the influence of cases on areas under the ROC curve: on the mean area over all pairs of
# categories (`whole`), and on the area of each category against all others (`by_category`).
roc_auc_influence <- function(score_data, w, v, settings) {
  n <- ncol(w)
  whole_influence <- 0 * w
  pairs <- category_pairs(w, v)
  for (pair in pairs) {
    influence <- auc_influence(score_data$order[[pair[[1L]]]], w[, pair[[1L]]], w[, pair[[2L]]], v)
    whole_influence[, pair] <- whole_influence[, pair] + do.call(cbind, influence) / length(pairs)
  }
  list(whole = whole_influence, by_category = if (n > 2L) lapply(seq_len(n), function(k) {
    influence <- auc_influence(score_data$order[[k]], w[, k], rowSums(w) - w[, k], v)
    category_influence <- matrix(influence$b, length(v), n)
    category_influence[, k] <- influence$a
    category_influence
  }))
}

# Creates the function that computes the influence of cases on the area under the precision-recall
# curve. `average`: is precision constant between thresholds, as in average precision? If FALSE,
# precision is linear between thresholds.
new_precision_influence <- function(average) {
  function(score_data, w, v, settings) {
    list(by_category = lapply(seq_len(ncol(w)), function(k) {
      order <- score_data$order[[k]]
      category_weight <- w[, k] * v
      cases_above <- cumulative_weight(order, v)
      category_cases_above <- cumulative_weight(order, category_weight)
      tie_category_cases <- diff(c(0, category_cases_above))
      precision <- category_cases_above / cases_above
      mean_precision <- if (average) precision else
        (precision + c(1, precision[-length(precision)])) / 2
      # Returns, for each threshold, a weighted sum of `x` over this and all lower thresholds. The
      # weight of a threshold is the number of cases of the category with this score. If precision
      # is linear, means of neighbouring elements of `x` are summed.
      sum_downwards <- function(x) {
        previous_values <- if (average) x else c(0, x[-length(x)])
        rev(cumsum(rev(tie_category_cases * (x + previous_values) / 2))) -
          if (average) 0 else tie_category_cases * previous_values / 2
      }
      precision_decrease <- sum_downwards(category_cases_above / cases_above^2)
      expand_to_cases <- function(by_tie) {
        sum(v) / sum(category_weight) * rep(by_tie, diff(c(0L, order$end)))[order(order$at)]
      }
      # A case with another truth only decreases the precision, because it is counted in the
      # denominator (all cases above the threshold).
      influence <- matrix(expand_to_cases(-precision_decrease), length(v), ncol(w))
      influence[, k] <- expand_to_cases(mean_precision + sum_downwards(1 / cases_above) -
        precision_decrease - sum(tie_category_cases * mean_precision) / sum(category_weight))
      influence
    }))
  }
}

# Returns the influence of cases on a mean loss: the loss of each case minus the mean loss.
influence_on_loss <- function(loss, w, v) list(whole = loss - mean_loss(loss, w, v))

# Returns the influence of cases on the expected calibration error. This error is a sum of absolute
# gaps between scores and shares of correct answers, see score_reliability(). The derivative is
# valid only for changes that do not change the sign of a gap.
ece_influence <- function(score_data, w, v, settings) {
  reliability <- top_reliability(score_data, w, v, settings$bins)
  score <- score_data$scores[cbind(seq_along(score_data$top), score_data$top)]
  gap_sign <- sign(reliability$gap)[match(bin_of_score(score, settings$bins), reliability$bin)]
  influence_on_loss(gap_sign * (indicator_matrix(score_data$top, ncol(w)) - score), w, v)
}

# Returns a list of influence matrices (cases x possible truths), one per row of `plan`, which is a
# metric_plan(). `scored_system`: see score_panel().
score_influence <- function(plan, scored_system) {
  v <- scored_system$v
  category_shares <- colSums(scored_system$w * v) / sum(v) # the weights of a case sum to 1
  unlist(lapply(plan$records, function(record) {
    influence <- apply_to_scores(record$influence, plan, scored_system)
    category_influences <- influence$by_category
    values <- apply_to_scores(record$kernel, plan, scored_system)$by_category
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = Reduce(`+`, category_influences) / length(category_influences),
        macro_weighted = Reduce(`+`, Map(`*`, category_influences, category_shares)) +
          rep(values - sum(values * category_shares), each = length(v)),
        influence$whole
      )
    }), category_influences)
  }), recursive = FALSE, use.names = FALSE)
}

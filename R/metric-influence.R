# Slopes of metrics are derivatives with respect to the cells of the joint table of truth and
# answer. The slope of a cell is the derivative of the metric if a small share of all cases is moved
# to the cell. The mean slope over the table is 0. Cells of truths or answers that do not occur have
# slope 0.

# Computes the slopes of all metrics at one table of truth and answer.
# * plan: the metrics, see metric_plan()
# * table: vector of probabilities of cells, in which answers vary fastest
#
# Metrics of one category against the rest depend only on three kinds of totals: the total of each
# truth, of each answer, and of each correct answer. The slope of a cell is then the sum of three
# numbers. Only these numbers are stored, to save memory. Returns a list:
# * n: number of categories
# * there: do the truth and the answer of a cell occur?
# * whole: is a row of the plan a metric of the whole table?
# * cells: slopes of metrics of the whole table (cells x metrics)
# * sums: slopes of the other metrics (totals of truths, then answers, then correct answers, x
#   metrics)
metric_slopes <- function(plan, table) {
  n <- n_categories(plan)
  joint_table <- matrix(table, n, byrow = TRUE)
  cell_occurs <- as.vector(t(outer(rowSums(joint_table) > 0, colSums(joint_table) > 0, `&`)))
  counts <- lapply(one_vs_rest_counts(matrix(table, 1L), n), as.vector)
  is_whole_table <- map_lgl(plan$records, function(record) record$form != "category")
  list(
    n = n, there = cell_occurs, whole = unname(is_whole_table[plan$rows$metric]),
    cells = do.call(cbind, lapply(plan$records[is_whole_table], slopes_of_table, plan, joint_table,
      cell_occurs)),
    sums = do.call(cbind, lapply(plan$records[!is_whole_table], slopes_of_categories, plan, counts))
  )
}

# Returns the slopes of row number `i` of the plan, a number per cell. `slopes`: result of
# metric_slopes(). `unused_too`: should metrics of one category also have slopes for cells of truths
# or answers that do not occur?
slopes_of_row <- function(slopes, i, unused_too = FALSE) {
  column <- sum(slopes$whole[seq_len(i)] == slopes$whole[[i]])
  if (slopes$whole[[i]]) return(slopes$cells[, column])
  sums <- matrix(slopes$sums[, column], ncol = 3L)
  cell_slopes <- t(outer(sums[, 1L], sums[, 2L], `+`) + diag(sums[, 3L], slopes$n))
  replace(as.vector(cell_slopes), !unused_too & !slopes$there, 0)
}

# Returns the first-order change of each metric, if the table at which slopes were computed is
# replaced by another table. The change is the sum over cells of table times slope (tables x rows of
# the plan). `tables`: the other tables (tables x cells).
first_order_changes <- function(slopes, tables) {
  tables[, !slopes$there] <- 0
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
# undefined. `record`: see new_metric(). `joint_table`: truths x answers. `occurs`: do the truth and
# the answer of a cell occur?
slopes_of_table <- function(record, plan, joint_table, occurs) {
  cells <- as.vector(t(joint_table))
  if (record$form == "cell") {
    # A cell of a confusion matrix is a share of the cases with one truth. Its slope is 0 in cells
    # of the table with another truth.
    truth <- rep(seq_len(n_categories(plan)), each = n_categories(plan))
    in_row <- truth[record$cells]
    total <- rep(rowsum(cells, truth)[in_row], each = length(cells))
    share <- rep(cells[record$cells], each = length(cells)) / total
    is_cell <- outer(seq_along(cells), record$cells, `==`)
    return((is_cell - share) * outer(truth, in_row, `==`) / total)
  }
  slope <- if (is.na(values_of_tables(record, plan, matrix(cells, 1L)))) {
    NA_real_ * cells
  } else if (is.null(record$gradient)) {
    step_sizes <- c(0, 0.5, 1) * slope_step
    replace(0 * cells, which(occurs), map_dbl(which(occurs), function(cell) {
      moved_tables <- outer(1 - step_sizes, cells) + outer(step_sizes, seq_along(cells) == cell)
      one_sided_derivative(t(values_of_tables(record, plan, moved_tables)))
    }))
  } else {
    gradient <- do.call(record$gradient, c(list(joint_table), plan$settings[record$settings]))
    as.vector(t(gradient - sum(joint_table * gradient)))
  }
  replace(slope, !occurs, 0)
}

# Returns one-sided numerical derivatives of functions. `value`: values of the functions (rows) at
# 0, half a step and a step (columns).
one_sided_derivative <- function(value) {
  (4 * value[, 2L] - value[, 3L] - 3 * value[, 1L]) / slope_step
}

# Returns the slopes of a metric of one category against the rest, by numerical differentiation of
# its kernel. Columns are averages over categories, then categories. Rows are totals of truths, then
# answers, then correct answers. `counts`: list of tp, fn, fp and tn (see one_vs_rest_counts()),
# vectors with an element per category.
slopes_of_categories <- function(record, plan, counts) {
  n <- length(counts$tp)
  kernel_result <- kernel_slopes(record, plan, counts, diag(4L))
  value <- kernel_result$value
  slope <- replace(kernel_result$slope, !is.na(value) & !is.finite(kernel_result$slope), 0)
  fn <- slope[, 2L]
  fp <- slope[, 3L]
  tn <- slope[, 4L]
  by_category <- rbind(
    diag(fn - tn, n) + rep(tn, each = n), diag(fp - tn, n), diag(slope[, 1L] - fn - fp + tn, n)
  )
  averages <- lapply(plan$averages, function(average) {
    if (average == "micro") {
      # The average is computed from the sums of tp, fn, fp and tn over categories. A case with a
      # correct answer is a true positive of one category and a true negative of all others.
      added_counts <- cbind(c(1, 0, 0, n - 1), c(0, 1, 1, n - 2))
      slope <- kernel_slopes(record, plan, lapply(counts, sum), added_counts)$slope
      return(rep(c(slope[[2L]], 0, slope[[1L]] - slope[[2L]]), each = n))
    }
    weight <- weights_in_mean(
      value, average == "macro_weighted", counts$tp + counts$fn, record$drops
    )
    has_no_slope <- weight == 0 | (record$drops == "caseless" & is.na(value))
    by_category[, has_no_slope] <- 0
    value[has_no_slope] <- 0
    total_weight <- sum(weight)
    slope <- as.vector(by_category %*% weight) / total_weight
    if (average == "macro") return(slope)
    # The weights also depend on the table, which adds a term to the slopes of true categories.
    weight_slope <- (value - sum(value * weight) / total_weight) / total_weight
    slope + c(replace(weight_slope, weight == 0, 0), numeric(2L * n))
  })
  do.call(cbind, c(averages, list(by_category)))
}

# Returns a list: `value`, the values of a kernel for each category, and `slope`, its numerical
# derivatives (categories x kinds of cases). A kind of case is, for example, a correct answer.
# `added`: numbers that one more case adds to tp, fn, fp and tn (4 x kinds of cases).
kernel_slopes <- function(record, plan, counts, added) {
  n <- length(counts$tp)
  step_sizes <- rep(c(0, 0.5, 1) * slope_step, each = n * ncol(added))
  moved_counts <- lapply(seq_len(4L), function(i) {
    (1 - step_sizes) * counts[[i]] + step_sizes * rep(added[i, ], each = n)
  })
  value <- run_kernel(record, list(moved_counts), length(step_sizes), plan$settings)
  value <- matrix(value, ncol = 3L)
  list(value = value[seq_len(n), 1L], slope = matrix(one_sided_derivative(value), n))
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

# Returns the influence of each case on the area under the ROC curve, see auc_of_weights(). The
# result is a list of derivatives with respect to `a` and to `b`, times the number of cases.
# * order: cases sorted by score, see score_order()
# * a, b: weights with which each case counts as positive and as negative
# * v: number of times that each case counts
auc_influence <- function(order, a, b, v) {
  positives <- sum(a * v)
  negatives <- sum(b * v)
  tie_sizes <- diff(c(0L, order$end))
  weight_above <- function(weight) {
    above <- cumulative_weight(order, weight * v)
    half_weight <- numeric(length(v))
    half_weight[order$at] <- rep(above - diff(c(0, above)) / 2, tie_sizes)
    half_weight
  }
  weight_below <- negatives - weight_above(b)
  value <- sum(a * v * weight_below) / (positives * negatives)
  list(
    a = sum(v) * (weight_below / negatives - value) / positives,
    b = sum(v) * (weight_above(a) / positives - value) / negatives
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
    influence <- auc_influence(score_data$order[[k]], w[, k], 1 - w[, k], v)
    category_influence <- matrix(influence$b, length(v), n)
    category_influence[, k] <- influence$a
    category_influence
  }))
}

# Creates the function that computes the influence of cases on the area under the precision-recall
# curve. The number of cases above a score does not depend on truths. Only the number of cases of
# the category does. `average`: is precision constant between thresholds, as in average precision?
# If not, it is linear.
precision_influence <- function(average) {
  function(score_data, w, v, settings) {
    list(by_category = lapply(seq_len(ncol(w)), function(k) {
      order <- score_data$order[[k]]
      category_weight <- w[, k] * v
      cases <- cumulative_weight(order, v)
      hits <- cumulative_weight(order, category_weight)
      tie_hits <- diff(c(0, hits))
      precision <- hits / cases
      mean_precision <- if (average) precision else
        (precision + c(1, precision[-length(precision)])) / 2
      # Sums over this threshold and all later ones.
      sum_from_here <- function(x) {
        before <- if (average) x else c(0, x[-length(x)])
        rev(cumsum(rev(tie_hits * (x + before) / 2))) - if (average) 0 else tie_hits * before / 2
      }
      later_decrease <- sum_from_here(hits / cases^2)
      case_values <- function(by_tie) {
        sum(v) / sum(category_weight) * rep(by_tie, diff(c(0L, order$end)))[order(order$at)]
      }
      influence <- matrix(case_values(-later_decrease), length(v), ncol(w))
      influence[, k] <- case_values(mean_precision + sum_from_here(1 / cases) - later_decrease -
        sum(tie_hits * mean_precision) / sum(category_weight))
      influence
    }))
  }
}

# Returns the influence of cases on a mean loss: the loss of each case minus the mean loss.
influence_on_loss <- function(loss, w, v) list(whole = loss - mean_loss(loss, w, v))

# Returns the influence of cases on the expected calibration error. This error is a sum of absolute
# gaps. The derivative is valid only for changes that do not change the sign of a gap.
ece_influence <- function(score_data, w, v, settings) {
  table <- top_reliability(score_data, w, v, settings$bins)
  score <- score_data$scores[cbind(seq_along(score_data$top), score_data$top)]
  gap_sign <- sign(table$gap)[match(bin_of_score(score, settings$bins), table$bin)]
  influence_on_loss(gap_sign * (indicator_matrix(score_data$top, ncol(w)) - score), w, v)
}

# Returns a list of influence matrices (cases x possible truths), one per row of `plan`, which is a
# metric_plan(). `judge`: see score_panel().
score_influence <- function(plan, judge) {
  v <- judge$v
  share <- colSums(judge$w * v) / sum(v) # the weights of a case sum to 1
  unlist(lapply(plan$records, function(record) {
    influence <- apply_to_scores(record$influence, plan, judge)
    by_category <- influence$by_category
    value <- apply_to_scores(record$kernel, plan, judge)$by_category
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = Reduce(`+`, by_category) / length(by_category),
        macro_weighted = Reduce(`+`, Map(`*`, by_category, share)) +
          rep(value - sum(value * share), each = length(v)),
        influence$whole
      )
    }), by_category)
  }), recursive = FALSE, use.names = FALSE)
}

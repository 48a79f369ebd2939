# Slopes of metrics: derivatives with respect to the cells of the joint table of truth and answer.
# The slope of a cell is the derivative of value((1 - h) table + h cell) at h = 0. The mean slope
# over the table is 0. Cells of unused truths or answers have no slope.

# Metrics of categories depend only on the totals of truths, of answers and of right answers. Their
# slope of a cell is therefore a sum of three numbers. Metrics of the whole table have a number per
# cell.

# Returns a list. n: number of categories; there: are the truth and the answer of each cell in use?
# whole: is the row of the plan a metric of the whole table? cells: slopes of these metrics, cells x
# metrics; sums: (truths, answers, right answers) x other metrics.
metric_slopes <- function(plan, table) {
  n <- n_categories(plan)
  square <- matrix(table, n, byrow = TRUE)
  there <- as.vector(t(outer(rowSums(square) > 0, colSums(square) > 0, `&`)))
  parts <- lapply(against_rest(matrix(table, 1L), n), as.vector)
  whole <- vapply(plan$records, function(record) record$form != "category", NA)
  list(
    n = n, there = there, whole = unname(whole[plan$rows$metric]),
    cells = do.call(cbind, lapply(plan$records[whole], slopes_of_table, plan, square, there)),
    sums = do.call(cbind, lapply(plan$records[!whole], slopes_of_categories, plan, parts))
  )
}

# Slopes of a row of the plan, a number per cell. `all`: also for unused cells, in which metrics of
# categories could get cases.
slope_of <- function(slopes, i, all = FALSE) {
  at <- sum(slopes$whole[seq_len(i)] == slopes$whole[[i]])
  if (slopes$whole[[i]]) return(slopes$cells[, at])
  parts <- matrix(slopes$sums[, at], ncol = 3L)
  square <- outer(parts[, 1L], parts[, 2L], `+`) + diag(parts[, 3L], slopes$n)
  replace(as.vector(t(square)), !all & !slopes$there, 0)
}

# Sums over cells of tables times slopes, tables x rows of the plan.
along_slopes <- function(slopes, tables) {
  tables[, !slopes$there] <- 0
  out <- matrix(0, nrow(tables), length(slopes$whole))
  if (any(slopes$whole)) out[, slopes$whole] <- tables %*% slopes$cells
  if (!all(slopes$whole)) {
    out[, !slopes$whole] <- do.call(cbind, table_sums(tables, slopes$n)) %*% slopes$sums
  }
  out
}

# For each answer, the sum of slopes times `weight` (answers x truths): answers x rows of the plan.
slopes_by_answer <- function(slopes, weight) {
  vapply(seq_along(slopes$whole), function(i) {
    rowSums(weight * matrix(slope_of(slopes, i), slopes$n))
  }, numeric(slopes$n))
}

slopes_of_table <- function(record, plan, square, there) {
  table <- as.vector(t(square))
  if (record$form == "cell") return(slopes_of_cells(record, plan, table))
  slope <- if (is.na(values_of_tables(record, plan, matrix(table, 1L)))) {
    NA_real_ * table
  } else if (is.null(record$gradient)) {
    numeric_slopes(record, plan, table, which(there))
  } else {
    gradient <- do.call(record$gradient, c(list(square), plan$settings[record$settings]))
    as.vector(t(gradient - sum(square * gradient)))
  }
  replace(slope, !there, 0)
}

# A share of the cases with a truth does not depend on the other cases.
slopes_of_cells <- function(record, plan, table) {
  truth <- rep(seq_len(n_categories(plan)), each = n_categories(plan))
  cells <- record$cells
  whole <- rowsum(table, truth)[truth[cells]]
  by_cell <- function(value) rep(value, each = length(table))
  off <- outer(seq_along(table), cells, `==`) - by_cell(table[cells] / whole)
  off * outer(truth, truth[cells], `==`) / by_cell(whole)
}

# Derivative from the values at 0, half a step and a step.
one_sided <- function(value) (4 * value[, 2L] - value[, 3L] - 3 * value[, 1L]) / slope_step

# Numerical slopes of user-defined kernels, cell by cell.
numeric_slopes <- function(record, plan, table, cells) {
  steps <- c(0, 0.5, 1) * slope_step
  slope <- vapply(cells, function(cell) {
    moved <- outer(1 - steps, table) + outer(steps, seq_along(table) == cell)
    one_sided(t(values_of_tables(record, plan, moved)))
  }, 0)
  replace(0 * table, cells, slope)
}

# Slopes of averages, then of categories. Kernels are evaluated with slightly more of one kind of
# case in each category at a time.
slopes_of_categories <- function(record, plan, parts) {
  n <- length(parts$tp)
  of_kernel <- kernel_slopes(record, plan, parts, diag(4L))
  value <- of_kernel$value
  slope <- replace(of_kernel$slope, !is.na(value) & !is.finite(of_kernel$slope), 0)
  by_category <- rbind(
    diag(slope[, 2L] - slope[, 4L], n) + rep(slope[, 4L], each = n),
    diag(slope[, 3L] - slope[, 4L], n),
    diag(slope[, 1L] - slope[, 2L] - slope[, 3L] + slope[, 4L], n)
  )
  averages <- lapply(plan$averages, function(average) {
    if (average == "micro") return(micro_slope(record, plan, parts))
    mean_slope(by_category, value, average == "macro_weighted", parts$tp + parts$fn, record$drops)
  })
  do.call(cbind, c(averages, list(by_category)))
}

# Slopes for one more case of each kind. `more`: what it adds to tp, fn, fp and tn, a column per
# kind.
kernel_slopes <- function(record, plan, parts, more) {
  n <- length(parts$tp)
  steps <- rep(c(0, 0.5, 1) * slope_step, each = n * ncol(more))
  moved <- lapply(seq_len(4L), function(i) {
    (1 - steps) * parts[[i]] + steps * rep(more[i, ], each = n)
  })
  value <- matrix(run_kernel(record, list(moved), length(steps), plan$settings), ncol = 3L)
  list(value = value[seq_len(n), 1L], slope = matrix(one_sided(value), n))
}

# See averages_of(). Weights are shares of truths, which also depend on the table.
mean_slope <- function(by_category, value, weighted, cases, drops) {
  weight <- weights_in_mean(value, weighted, cases, drops)
  still <- weight == 0 | (drops == "caseless" & is.na(value))
  by_category[, still] <- 0
  value[still] <- 0
  slope <- as.vector(by_category %*% weight) / sum(weight)
  if (weighted) {
    off <- (value - sum(value * weight) / sum(weight)) / sum(weight)
    slope <- slope + c(replace(off, weight == 0, 0), numeric(2L * length(value)))
  }
  slope
}

# Right cases are true positives of one category and true negatives of all others.
micro_slope <- function(record, plan, parts) {
  n <- length(parts$tp)
  more <- cbind(c(1, 0, 0, n - 1), c(0, 1, 1, n - 2))
  slope <- kernel_slopes(record, plan, lapply(parts, sum), more)$slope
  rep(c(slope[[2L]], 0, slope[[1L]] - slope[[2L]]), each = n)
}

# Influence of each case on a metric of scores: n times its derivative with respect to the weight of
# the case for each category, cases x categories. Like the kernels of metric-scores.R, these
# functions return a list of `whole` and `by_category`.

# Influence on auc_of_weights(): `a` by the weights of one kind, `b` by those of the other.
auc_influence <- function(order, a, b, v) {
  sums <- c(sum(a * v), sum(b * v))
  ties <- diff(c(0L, order$end))
  half_above <- function(weight) {
    above <- weight_above(order, weight * v)
    out <- numeric(length(v))
    out[order$at] <- rep(above - diff(c(0, above)) / 2, ties)
    out
  }
  below <- sums[[2L]] - half_above(b)
  value <- sum(a * v * below) / prod(sums)
  list(
    a = sum(v) * (below / sums[[2L]] - value) / sums[[1L]],
    b = sum(v) * (half_above(a) / sums[[1L]] - value) / sums[[2L]]
  )
}

roc_auc_influence <- function(book, w, v, settings) {
  n <- ncol(w)
  whole <- 0 * w
  pairs <- pairs_there(w, v)
  for (ij in pairs) {
    moved <- auc_influence(book$order[[ij[[1L]]]], w[, ij[[1L]]], w[, ij[[2L]]], v)
    whole[, ij] <- whole[, ij] + do.call(cbind, moved) / length(pairs)
  }
  list(whole = whole, by_category = if (n > 2L) lapply(seq_len(n), function(k) {
    moved <- auc_influence(book$order[[k]], w[, k], 1 - w[, k], v)
    out <- matrix(moved$b, length(v), n)
    out[, k] <- moved$a
    out
  }))
}

# The number of cases above a score depends on the weights of cases, but not on their truth.
# `average`: is precision constant between thresholds (average precision) or linear?
precision_influence <- function(average) {
  function(book, w, v, settings) {
    list(by_category = lapply(seq_len(ncol(w)), function(k) {
      order <- book$order[[k]]
      hit <- w[, k] * v
      cases <- weight_above(order, v)
      hits <- weight_above(order, hit)
      tied <- diff(c(0, hits))
      precision <- hits / cases
      middle <- if (average) precision else (precision + c(1, precision[-length(precision)])) / 2
      # Sums over this threshold and all later ones.
      onwards <- function(x) {
        before <- if (average) x else c(0, x[-length(x)])
        rev(cumsum(rev(tied * (x + before) / 2))) - if (average) 0 else tied * before / 2
      }
      later <- onwards(hits / cases^2)
      by_case <- function(by_tie) {
        sum(v) / sum(hit) * rep(by_tie, diff(c(0L, order$end)))[order(order$at)]
      }
      out <- matrix(by_case(-later), length(v), ncol(w))
      out[, k] <- by_case(middle + onwards(1 / cases) - later - sum(tied * middle) / sum(hit))
      out
    }))
  }
}

influence_on_loss <- function(loss, w, v) list(whole = loss - mean_loss(loss, w, v))

# The derivative holds as long as gaps keep their signs.
ece_influence <- function(book, w, v, settings) {
  table <- top_reliability(book, w, v, settings$bins)
  score <- book$scores[cbind(seq_along(book$top), book$top)]
  side <- sign(table$gap)[match(bin_of_score(score, settings$bins), table$bin)]
  hit <- outer(book$top, seq_len(ncol(w)), `==`)
  influence_on_loss(side * (hit - score), w, v)
}

# A list of influence matrices, one per row of a plan.
score_influence <- function(plan, book, w, v) {
  share <- colSums(w * v) / sum(v) # the weights of a case sum to 1
  unlist(lapply(plan$records, function(record) {
    influence <- record$influence(book, w, v, plan$settings)
    by_category <- influence$by_category
    value <- record$kernel(book, w, v, plan$settings)$by_category
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

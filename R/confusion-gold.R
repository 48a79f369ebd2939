# Confusion matrices of systems with gold: each cell as gold cases and ratings tell it
# (gold-rates.R).

# `found` is what ratings alone say: a row per cell, in its `place` (see cell_errors()). Rows of
# which gold tells nothing keep the estimate, and have no interval.
cells_with_gold <- function(found, estimate, place, counts, draws, interval, conf_level) {
  found <- cell_errors(found, place, without_gold(estimate), counts, draws)
  place$of_answer <- FALSE
  rows <- seq_len(nrow(found))
  each <- lapply(rows, function(i) gold_of_cell(found, estimate, place[i, ], i, c(0, 1)))
  ends <- cbind(rep(0, nrow(found)), 1)
  record <- accuracy_intervals()[[interval]]
  without_parts(measured_rows(found, rows, each, ends, record, estimate, conf_level))
}

# What measured_rows() needs of a cell.
gold_of_cell <- function(found, estimate, cell, i, ends) {
  x <- gold_cell(estimate$gold$evidence, cell)
  lack <- if (is.null(x)) lack_of_rate(estimate, cell)
  list(x = x, alone = unit_row(found, i, ends), lack = lack)
}

without_parts <- function(found) found[setdiff(names(found), c("sampling", "hidden", "cases"))]

# What sampling does and errors in common hide of cells of a system, as of metrics (errors_along());
# `place`: numbers of system, truth and answer of each.
cell_errors <- function(found, place, estimate, counts, draws) {
  found[c("sampling", "hidden", "cases")] <- NA_real_
  shares <- as_shares(counts, length(estimate$fit$x$categories))
  if (is.null(draws$values) || anyNA(shares)) return(found)
  s <- place$system[[1L]]
  slopes <- cell_slopes(place, shares)
  errors <- errors_along(estimate, shares, s, draws, slopes$along, slopes$by_answer)
  n <- found$n
  found$n <- estimate$table$n[[s]]
  found <- with_errors(found, errors, slopes$steepest, cbind(rep(0, nrow(found)), 1))
  found$n <- n
  found
}

# Slopes of a share of the cases with a truth are 0 for all other cases, so that they are not laid
# out for every cell of the table; see errors_along().
cell_slopes <- function(cells, shares) {
  n <- sqrt(length(shares))
  square <- matrix(shares, n) # answers x truths
  whole <- colSums(square)[cells$truth]
  value <- square[cbind(cells$answer, cells$truth)] / whole
  list(
    along = function(tables) {
      of <- table_sums(tables, n)$truth[, cells$truth, drop = FALSE]
      hit <- tables[, (cells$truth - 1L) * n + cells$answer, drop = FALSE]
      t((t(hit) - value * t(of)) / whole)
    },
    by_answer = function(weight) {
      out <- -t(value / whole * t(weight[, cells$truth, drop = FALSE]))
      at <- cbind(cells$answer, seq_along(value))
      out[at] <- out[at] + weight[cbind(cells$answer, cells$truth)] / whole
      out
    },
    steepest = pmax(value, 1 - value) / whole
  )
}

gold_cell <- function(evidence, cell) {
  if (is.null(evidence)) {
    NULL
  } else if (cell$of_answer) {
    gold_precision(evidence, cell$system, cell$answer, cell$truth)
  } else {
    gold_recall(evidence, cell$system, cell$truth, cell$answer)
  }
}

lack_of_rate <- function(estimate, cell) {
  evidence <- estimate$gold$evidence
  answer <- evidence$answer[evidence$at, cell$system]
  own <- if (cell$of_answer) answer == cell$answer else answer > 0L & evidence$truth == cell$truth
  answers <- evidence$answer[, cell$system]
  if (is.null(evidence) || (!any(own) && all(answer == 0L))) {
    lack_of_gold(estimate, cell$system)
  } else if (!cell$of_answer && is_constant(answers == cell$answer, answers > 0L)) {
    "the system gives this answer always, or never, so nothing varies"
  } else if (any(own)) {
    only_some_drawn
  } else if (cell$of_answer) {
    "the system gave this answer on no gold case"
  } else {
    "no gold case is of this category"
  }
}

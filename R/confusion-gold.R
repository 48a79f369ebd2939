# Confusion matrices of systems with gold: each cell, recall and precision as gold cases and ratings
# tell them (gold-rates.R).

# `table` is what ratings alone say: a row per cell, or per category and measure. Rows of which gold
# tells nothing keep the estimate, and have no interval.
cells_with_gold <- function(table, estimate, counts, draws, interval, conf_level) {
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  record <- accuracy_intervals()[[interval]]
  cells <- place_cells(table, estimate)
  table <- cell_errors(table, cells, without_gold(estimate), counts, draws)
  for (i in seq_len(nrow(table))) {
    x <- gold_cell(estimate$gold$evidence, cells[i, ])
    lack <- lack_of_cell(estimate, x, cells[i, ])
    alone <- unit_row(table, i, c(0, 1))
    table[i, c("std.error", "conf.low", "conf.high")] <- NA_real_
    if (!is.null(x)) {
      found <- record$gold(x, alone, settings)
      columns <- c("estimate", "std.error", "conf.low", "conf.high")
      table[i, columns] <- found[columns]
      table$reason[[i]] <- NA_character_
    }
    if (!is.null(lack)) table$reason[[i]] <- lack
  }
  table[setdiff(names(table), c("sampling", "hidden", "cases"))]
}

# Numbers of system, truth and answer of each row; and is it a share of the cases with the answer,
# or of those with the truth.
place_cells <- function(table, estimate) {
  x <- estimate$fit$x
  data.frame(
    system = match(table$system, x$systems),
    truth = match(table[["truth"]] %||% table$category, x$categories),
    answer = match(table[["prediction"]] %||% table$category, x$categories),
    of_answer = (table[["measure"]] %||% "recall") == "precision"
  )
}

# What sampling does and errors in common hide of each cell, as of metrics (errors_along()).
cell_errors <- function(table, cells, estimate, counts, draws) {
  table[c("sampling", "hidden", "cases")] <- NA_real_
  if (is.null(draws$values)) return(table)
  for (s in unique(cells$system)) {
    at <- which(cells$system == s)
    shares <- as_shares(matrix(counts[[s]], 1L), length(estimate$fit$x$categories))[1L, ]
    if (!anyNA(shares)) {
      slopes <- cell_slopes(cells[at, ], shares)
      errors <- errors_along(estimate, shares, s, draws, slopes$along, slopes$by_answer)
      found <- table[at, ]
      found$n <- estimate$table$n[[s]]
      found <- with_errors(found, errors, slopes$steepest, cbind(rep(0, length(at)), 1))
      columns <- c("std.error", "sampling", "hidden", "cases")
      table[at, columns] <- found[columns]
    }
  }
  table
}

# Of shares of the cases with an answer, or with a truth, slopes are 0 for all other cases, so that
# they are not laid out for every cell of the table; see errors_along().
cell_slopes <- function(cells, shares) {
  n <- sqrt(length(shares))
  square <- matrix(shares, n) # answers x truths
  whole <- ifelse(cells$of_answer, rowSums(square)[cells$answer], colSums(square)[cells$truth])
  value <- square[cbind(cells$answer, cells$truth)] / whole
  list(
    along = function(tables) {
      sums <- table_sums(tables, n)
      of <- sums$truth[, cells$truth, drop = FALSE]
      of[, cells$of_answer] <- sums$answer[, cells$answer[cells$of_answer]]
      hit <- tables[, (cells$truth - 1L) * n + cells$answer, drop = FALSE]
      t((t(hit) - value * t(of)) / whole)
    },
    by_answer = function(weight) {
      out <- -t(value / whole * t(weight[, cells$truth, drop = FALSE]))
      out[, cells$of_answer] <- 0
      at <- cbind(cells$answer, seq_along(value))
      all <- rowSums(weight)[cells$answer]
      out[at] <- out[at] + (weight[cbind(cells$answer, cells$truth)] -
        ifelse(cells$of_answer, value * all, 0)) / whole
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

lack_of_cell <- function(estimate, x, cell) {
  if (!is.null(x)) lack_of_clusters(x) else paste0(no_interval, lack_of_rate(estimate, cell))
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

gold_cell_note <- function(x) {
  paste0(
    interval_title(x$options$conf_level), "s: ", x$options$interval, ", of the ",
    x$options$target, ", each by itself, with ", count_noun(x$options$gold, "gold case")
  )
}

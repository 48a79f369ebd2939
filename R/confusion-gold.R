# Confusion matrices of systems with gold: each cell, recall and precision as gold cases and ratings
# tell them (gold-rates.R).

# `table` is what ratings alone say: a row per cell, or per category and measure; `answers` says of
# rows what they are shares of, the answers or the truths. Rows of which gold tells nothing keep the
# estimate, and have no interval.
cells_with_gold <- function(table, estimate, interval, conf_level) {
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  record <- accuracy_intervals()[[interval]]
  cells <- place_cells(table, estimate)
  for (i in seq_len(nrow(table))) {
    x <- gold_cell(estimate$gold$evidence, cells[i, ])
    lack <- lack_of_cell(estimate, x, cells[i, ])
    table[i, c("std.error", "conf.low", "conf.high")] <- NA_real_
    if (!is.null(x)) {
      alone <- cell_by_ratings(estimate, cells[i, ], table$estimate[[i]])
      found <- record$gold(x, alone, settings)
      columns <- c("estimate", "std.error", "conf.low", "conf.high")
      table[i, columns] <- found[columns]
      table$reason[[i]] <- NA_character_
    }
    if (!is.null(lack)) table$reason[[i]] <- lack
  }
  table
}

# Numbers of system, truth and answer of each row; is it a share of the cases with the answer, or of
# those with the truth; and what share of all these are.
place_cells <- function(table, estimate) {
  x <- estimate$fit$x
  whole <- if (is.null(table[["measure"]])) {
    stats::ave(table$n, table$system, table$truth, FUN = sum)
  } else {
    table$n
  }
  system <- match(table$system, x$systems)
  data.frame(
    system = system, truth = match(table[["truth"]] %||% table$category, x$categories),
    answer = match(table[["prediction"]] %||% table$category, x$categories),
    of_answer = (table[["measure"]] %||% "recall") == "precision",
    share = whole / estimate$table$n[system]
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

# What ratings alone say of a cell: the sampling error of as many cases, and more of the error in
# common than of the accuracy, since errors in common differ between categories.
cell_by_ratings <- function(estimate, cell, value) {
  alone <- ratings_alone(estimate, cell$system)
  bias <- cell_bias * alone$bias
  error <- sqrt(max(0, alone$std.error^2 - alone$bias^2) / cell$share + bias^2)
  list(estimate = value, std.error = error, bias = bias)
}

lack_of_cell <- function(estimate, x, cell) {
  if (!is.null(x)) {
    return(lack_of_clusters(x))
  }
  paste0(no_interval, lack_of_rate(estimate, cell))
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
    format(100 * x$options$conf_level), "% intervals: ", x$options$interval, ", of the ",
    x$options$target, ", each by itself, with ", count_noun(x$options$gold, "gold case")
  )
}

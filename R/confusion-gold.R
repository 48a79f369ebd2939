# Cells of confusion matrices of systems: what sampling and shared errors do to each, and what
# gold cases say of it (gold-rates.R).

without_parts <- function(found) found[setdiff(names(found), c("sampling", "hidden", "cases"))]

# What sampling does and shared errors hide of cells of system `s`, as of metrics
# (errors_along()); `place`: numbers of truth and answer of each.
cell_errors <- function(found, place, estimate, s, counts, draws) {
  found[c("sampling", "hidden", "cases")] <- NA_real_
  shares <- as_shares(counts, n_categories(estimate$fit$x))
  if (is.null(draws$values) || anyNA(shares)) return(found)
  slopes <- cell_slopes(place$truth, place$answer, shares)
  errors <- errors_along(estimate, shares, s, draws, slopes$along, slopes$by_answer)
  n <- found$n
  found$n <- estimate$table$n[[s]]
  found <- with_errors(found, errors, slopes$steepest, cbind(rep(0, nrow(found)), 1))
  found$n <- n
  found
}

# Slopes of a share of the cases with a truth are 0 for all other cases, so that they are not laid
# out for every cell of the table; see errors_along().
cell_slopes <- function(truth, answer, shares) {
  n <- sqrt(length(shares))
  square <- matrix(shares, n) # answers x truths
  whole <- colSums(square)[truth]
  value <- square[cbind(answer, truth)] / whole
  list(
    along = function(tables) {
      of <- table_sums(tables, n)$truth[, truth, drop = FALSE]
      hit <- tables[, (truth - 1L) * n + answer, drop = FALSE]
      t((t(hit) - value * t(of)) / whole)
    },
    by_answer = function(weight) {
      out <- -t(value / whole * t(weight[, truth, drop = FALSE]))
      at <- cbind(answer, seq_along(value))
      out[at] <- out[at] + weight[cbind(answer, truth)] / whole
      out
    },
    steepest = pmax(value, 1 - value) / whole
  )
}

# What measured_rows() needs of a cell (`system`, `truth`, `answer`), a share of the cases with that
# answer, if it is `of_answer`, or with that truth: row `i` of `found`, in a range with `ends`.
gold_of_cell <- function(found, estimate, cell, i, ends) {
  evidence <- estimate$gold$evidence
  x <- if (is.null(evidence)) {
    NULL
  } else if (cell$of_answer) {
    gold_precision(evidence, cell$system, cell$answer, cell$truth)
  } else {
    gold_recall(evidence, cell$system, cell$truth, cell$answer)
  }
  lack <- if (is.null(x)) lack_of_rate(estimate, cell)
  list(x = x, alone = unit_row(found, i, ends), lack = lack)
}

lack_of_rate <- function(estimate, cell) {
  of_answer <- cell$of_answer
  evidence <- estimate$gold$evidence
  answers <- evidence$answer[, cell$system]
  answer <- answers[evidence$at]
  own <- if (of_answer) answer == cell$answer else answer > 0L & evidence$truth == cell$truth
  if (is.null(evidence) || (!any(own) && all(answer == 0L))) {
    lack_of_gold(estimate, cell$system)
  } else if (!of_answer && is_constant(answers == cell$answer, answers > 0L)) {
    "the system gives this answer always, or never, so nothing varies"
  } else if (any(own)) {
    only_some_drawn
  } else if (of_answer) {
    "the system gave this answer on no gold case"
  } else {
    "no gold case is of this category"
  }
}

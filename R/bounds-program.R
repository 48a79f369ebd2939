# Bounds without a fit: linear programs over the joint law of truth, ratings and answers. A variable
# for each pattern and category, the share of all cases that are of this pattern and truly of this
# category. What is observed and what is assumed are linear in these. Nothing here knows of fits.

# Programs with more variables than this are not begun.
most_variables <- 1e5
# Seconds after which a program is given up.
most_seconds <- 120

check_rglpk <- function() check_installed("Rglpk", "for bounds given the ratings alone")

# The patterns of ratings, of the answers of one system, and of known truths: one row each for which
# there are cases. `truth` has a category for each pattern, 0 is unknown, or is empty.
program_panel <- function(x, system, weight, truth) {
  patterns <- x$patterns
  rows <- length(patterns$start) - 1L
  truth <- if (length(truth) > 0L) truth else integer(rows)
  keep <- which(weight > 0 & (rated_patterns(x) | truth > 0L))
  ratings <- split(
    paste(patterns$rater, patterns$category),
    factor(rating_pattern(patterns), levels = seq_len(rows))
  )
  key <- paste(
    vapply(ratings[keep], paste, "", collapse = ";"), pattern_answers(patterns)[keep, system],
    truth[keep],
    sep = "|"
  )
  first <- match(unique(key), key)
  picked <- pick_patterns(patterns, keep[first])
  list(
    pattern = rating_pattern(picked),
    rater = rater_identity(x)[rating_rater(picked)],
    category = picked$category, answer = pattern_answers(patterns)[keep[first], system],
    truth = truth[keep[first]], categories = length(x$categories),
    weight = rowsum(weight[keep], key, reorder = FALSE)[, 1L] / sum(weight[keep])
  )
}

# A row of the program: what is summed, and its limits. Where raters are exchangeable a variable may
# come twice.
program_row <- function(column, value, low, high) {
  if (anyDuplicated(column) > 0L) {
    value <- rowsum(value, column, reorder = FALSE)[, 1L]
    column <- unique(column)
  }
  list(column = column, value = value, low = low, high = high)
}

program_column <- function(panel, pattern, category) (pattern - 1L) * panel$categories + category

observed_shares <- function(panel) {
  lapply(seq_along(panel$weight), function(p) {
    of <- program_column(panel, p, seq_len(panel$categories))
    program_row(of, rep(1, panel$categories), panel$weight[[p]], panel$weight[[p]])
  })
}

known_shares <- function(panel) {
  lapply(which(panel$truth > 0L), function(p) {
    program_row(program_column(panel, p, panel$truth[[p]]), 1, panel$weight[[p]], panel$weight[[p]])
  })
}

# The share of right ratings of each rater, of `accuracy`, a matrix with a row per rater and columns
# for the limits.
accuracy_limits <- function(panel, accuracy) {
  limited <- which(accuracy[, 1L] > 0 | accuracy[, 2L] < 1)
  lapply(limited, function(j) {
    mine <- panel$rater == j
    total <- sum(panel$weight[panel$pattern[mine]])
    program_row(
      program_column(panel, panel$pattern[mine], panel$category[mine]), rep(1, sum(mine)),
      accuracy[j, 1L] * total, accuracy[j, 2L] * total
    )
  })
}

# No rater is right less often than one who gives the same shares of ratings blindly.
chance_limits <- function(panel) {
  lapply(unique(panel$rater), function(j) {
    mine <- which(panel$rater == j)
    weight <- panel$weight[panel$pattern[mine]]
    share <- tapply(weight, factor(panel$category[mine], seq_len(panel$categories)), sum)
    share <- replace(share, is.na(share), 0) / sum(weight)
    each <- rep(seq_len(panel$categories), length(mine))
    at <- rep(mine, each = panel$categories)
    right <- panel$category[at] == each
    program_row(
      program_column(panel, panel$pattern[at], each), right - as.vector(share)[each], 0, Inf
    )
  })
}

base_rate_limits <- function(panel, base_rates) {
  lapply(which(base_rates[, 1L] > 0 | base_rates[, 2L] < 1), function(k) {
    of <- program_column(panel, seq_along(panel$weight), k)
    program_row(of, rep(1, length(of)), base_rates[k, 1L], base_rates[k, 2L])
  })
}

# At fixed accuracies the correlation is linear in the share of cases on which two raters are right.
correlation_limits <- function(panel, accuracy, correlation) {
  pairs <- utils::combn(nrow(accuracy), 2L)
  a <- accuracy[, 1L]
  lapply(seq_len(ncol(pairs)), function(i) {
    one <- pairs[1L, i]
    two <- pairs[2L, i]
    first <- panel$category[panel$rater == one] # every pattern has a rating of each
    second <- panel$category[panel$rater == two]
    both <- which(first == second)
    spread <- sqrt(a[[one]] * (1 - a[[one]]) * a[[two]] * (1 - a[[two]]))
    limits <- a[[one]] * a[[two]] + correlation * spread
    program_row(
      program_column(panel, both, first[both]), rep(1, length(both)), limits[[1L]], limits[[2L]]
    )
  })
}

# The whole program of one panel.
program_rows <- function(panel, assumed) {
  c(
    observed_shares(panel), known_shares(panel), accuracy_limits(panel, assumed$rater_accuracy),
    if (assumed$better_than_chance) chance_limits(panel),
    if (!is.null(assumed$base_rates)) base_rate_limits(panel, assumed$base_rates),
    if (!is.null(assumed$error_correlation)) {
      correlation_limits(panel, assumed$rater_accuracy, assumed$error_correlation)
    }
  )
}

# As Rglpk wants it; a row with two different limits becomes two.
program_matrix <- function(rows, columns) {
  low <- vapply(rows, `[[`, 0, "low")
  high <- vapply(rows, `[[`, 0, "high")
  equal <- low == high
  kind <- list(`==` = which(equal), `>=` = which(!equal & low > -Inf),
    `<=` = which(!equal & high < Inf))
  order <- unlist(kind, use.names = FALSE)
  direction <- rep(names(kind), lengths(kind))
  chosen <- rows[order]
  entries <- lapply(chosen, `[[`, "column")
  list(
    matrix = structure(
      list(
        i = rep(seq_along(chosen), lengths(entries)), j = as.integer(unlist(entries)),
        v = as.double(unlist(lapply(chosen, `[[`, "value"))), nrow = length(chosen),
        ncol = as.integer(columns), dimnames = NULL
      ),
      class = "simple_triplet_matrix"
    ),
    direction = direction, limit = ifelse(direction == "<=", high[order], low[order])
  )
}

# Lowest and highest accuracy of one system, and the reason where there are none.
solve_bounds <- function(x, system, weight, truth, assumed) {
  panel <- program_panel(x, system, weight, truth)
  columns <- length(panel$weight) * panel$categories
  answered <- which(panel$answer > 0L)
  nothing <- function(reason) list(lowest = NA_real_, highest = NA_real_, reason = reason)
  if (length(answered) == 0L) return(nothing("no case of the system has a rating"))
  if (columns > most_variables) {
    return(nothing(paste0(
      "the linear program is too large: ", number(length(panel$weight)), " patterns of ",
      panel$categories, " categories, and at most ", number(most_variables), " in all are tried"
    )))
  }
  program <- program_matrix(program_rows(panel, assumed), columns)
  right <- replace(
    numeric(columns), program_column(panel, answered, panel$answer[answered]),
    1 / sum(panel$weight[answered])
  )
  ends <- lapply(c(FALSE, TRUE), function(most) solve_program(program, right, most))
  status <- vapply(ends, `[[`, 0, "status")
  if (any(status != 0)) return(nothing(reason_of_status(max(status))))
  value <- pmin(pmax(vapply(ends, `[[`, 0, "optimum"), 0), 1)
  list(lowest = value[[1L]], highest = value[[2L]], reason = NA_character_)
}

# Status 0 is solved, 1 infeasible, 2 given up. GLPK itself tells only whether it is solved.
solve_program <- function(program, objective, most) {
  begun <- elapsed()
  found <- Rglpk::Rglpk_solve_LP(
    objective, program$matrix, program$direction, program$limit,
    max = most, control = list(presolve = TRUE, tm_limit = 1000L * most_seconds)
  )
  late <- elapsed() - begun > 0.9 * most_seconds
  list(optimum = found$optimum, status = if (found$status == 0L) 0 else if (late) 2 else 1)
}

reason_of_status <- function(status) {
  if (status == 2) {
    paste("the linear program was not solved within", most_seconds, "seconds")
  } else {
    "these ratings are impossible under the assumptions"
  }
}

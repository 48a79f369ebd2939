# Bounds without a fit: linear programs over the joint law of truth, ratings and answers. A variable
# for each pattern and category, the share of all cases that are of this pattern and truly of this
# category. What is observed and what is assumed are linear in these. Nothing here knows of fits.

# Programs with more variables than this are not begun.
most_variables <- 1e5
# Seconds after which a program is given up.
most_seconds <- 120

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
    truth = truth[keep[first]], categories = n_categories(x),
    weight = rowsum(weight[keep], key, reorder = FALSE)[, 1L] / sum(weight[keep])
  )
}

# A row of the program: the shares of these patterns and categories, times `value`, sum to a number
# from `low` to `high`. Where raters are exchangeable a variable may come twice.
program_row <- function(panel, pattern, category, low, high = low, value = 1) {
  sums <- rowsum(
    rep_len(value, length(pattern)), program_column(panel, pattern, category), reorder = FALSE
  )
  list(column = as.integer(rownames(sums)), value = sums[, 1L], low = low, high = high)
}

program_column <- function(panel, pattern, category) (pattern - 1L) * panel$categories + category

is_limited <- function(limits) limits[, 1L] > 0 | limits[, 2L] < 1

# What is observed, what is known, and what is assumed.
program_rows <- function(panel, assumed) {
  patterns <- seq_along(panel$weight)
  categories <- seq_len(panel$categories)
  rates <- assumed$base_rates
  c(
    lapply(patterns, function(p) {
      program_row(panel, rep(p, panel$categories), categories, panel$weight[[p]])
    }),
    lapply(which(panel$truth > 0L), function(p) {
      program_row(panel, p, panel$truth[[p]], panel$weight[[p]])
    }),
    accuracy_limits(panel, assumed$rater_accuracy),
    if (assumed$better_than_chance) chance_limits(panel),
    if (!is.null(rates)) lapply(which(is_limited(rates)), function(k) {
      program_row(panel, patterns, k, rates[k, 1L], rates[k, 2L])
    }),
    if (!is.null(assumed$error_correlation)) {
      correlation_limits(panel, assumed$rater_accuracy[, 1L], assumed$error_correlation)
    }
  )
}

# The share of right ratings of each rater.
accuracy_limits <- function(panel, accuracy) {
  lapply(which(is_limited(accuracy)), function(j) {
    mine <- panel$rater == j
    limits <- accuracy[j, ] * sum(panel$weight[panel$pattern[mine]])
    program_row(panel, panel$pattern[mine], panel$category[mine], limits[[1L]], limits[[2L]])
  })
}

# No rater is right less often than one who gives the same shares of ratings blindly.
chance_limits <- function(panel) {
  lapply(unique(panel$rater), function(j) {
    mine <- which(panel$rater == j)
    weight <- panel$weight[panel$pattern[mine]]
    share <- rowsum_codes(panel$category[mine], weight, panel$categories) / sum(weight)
    each <- rep(seq_len(panel$categories), length(mine))
    at <- rep(mine, each = panel$categories)
    program_row(panel, panel$pattern[at], each, 0, Inf, (panel$category[at] == each) - share[each])
  })
}

# At fixed accuracies the correlation is linear in the share of cases on which two raters are right.
correlation_limits <- function(panel, accuracy, correlation) {
  utils::combn(length(accuracy), 2L, simplify = FALSE, function(pair) {
    # Every pattern has a rating of each.
    given <- lapply(pair, function(j) panel$category[panel$rater == j])
    both <- which(given[[1L]] == given[[2L]])
    a <- accuracy[pair]
    limits <- prod(a) + correlation * sqrt(prod(a * (1 - a)))
    program_row(panel, both, given[[1L]][both], limits[[1L]], limits[[2L]])
  })
}

# As Rglpk wants it; a row with two different limits becomes two.
program_matrix <- function(rows, columns) {
  low <- vapply(rows, `[[`, 0, "low")
  high <- vapply(rows, `[[`, 0, "high")
  equal <- low == high
  kinds <- list(`==` = which(equal), `>=` = which(!equal & low > -Inf),
    `<=` = which(!equal & high < Inf))
  order <- unlist(kinds, use.names = FALSE)
  direction <- rep(names(kinds), lengths(kinds))
  entries <- lapply(rows[order], `[[`, "column")
  list(
    matrix = structure(
      list(
        i = rep(seq_along(order), lengths(entries)), j = unlist(entries),
        v = unlist(lapply(rows[order], `[[`, "value"), use.names = FALSE), nrow = length(order),
        ncol = columns, dimnames = NULL
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
  nothing <- function(...) list(lowest = NA_real_, highest = NA_real_, reason = paste0(...))
  if (length(answered) == 0L) return(nothing(no_rated_case))
  if (columns > most_variables) {
    return(nothing(
      "the linear program is too large: ", number(length(panel$weight)), " patterns of ",
      panel$categories, " categories, and at most ", number(most_variables), " in all are tried"
    ))
  }
  program <- program_matrix(program_rows(panel, assumed), columns)
  right <- replace(
    numeric(columns), program_column(panel, answered, panel$answer[answered]),
    1 / sum(panel$weight[answered])
  )
  ends <- lapply(c(FALSE, TRUE), solve_program, program = program, objective = right)
  reason <- unlist(lapply(ends, `[[`, "reason"))
  if (length(reason) > 0L) return(nothing(reason[[1L]]))
  value <- pmin(pmax(vapply(ends, `[[`, 0, "optimum"), 0), 1)
  list(lowest = value[[1L]], highest = value[[2L]], reason = NA_character_)
}

# The optimum, or the reason why there is none. GLPK itself tells only whether it is solved.
solve_program <- function(most, program, objective) {
  begun <- elapsed()
  found <- Rglpk::Rglpk_solve_LP(
    objective, program$matrix, program$direction, program$limit,
    max = most, control = list(presolve = TRUE, tm_limit = 1000L * most_seconds)
  )
  late <- elapsed() - begun > 0.9 * most_seconds
  list(
    optimum = found$optimum,
    reason = if (found$status != 0L && late) {
      paste("the linear program was not solved within", most_seconds, "seconds")
    } else if (found$status != 0L) {
      "these ratings are impossible under the assumptions"
    }
  )
}

# What is assumed of raters and base rates: limits as matrices, with columns for the lower and the
# upper.
check_assumed <- function(assumed, x) {
  raters <- if (has_counts(x)) "all ratings" else x$raters
  out <- list(
    rater_accuracy = as_limits(assumed$rater_accuracy %||% 0:1, raters, "rater_accuracy", "rater"),
    better_than_chance = check_flag(assumed$better_than_chance, "better_than_chance"),
    base_rates = as_limits(assumed$base_rates, x$categories, "base_rates", "category")
  )
  sums <- colSums(out$base_rates %||% cbind(0, 1))
  abort_argument_if(sums[[1L]] > 1 + 1e-6 || sums[[2L]] < 1 - 1e-6, "base_rates",
    "The limits of {.arg base_rates} must allow base rates that sum to one.",
    x = "The lower sum to {decimals(sums[[1L]])}, the upper to {decimals(sums[[2L]])}.")
  out$error_correlation <- check_error_correlation(assumed$error_correlation, out$rater_accuracy, x)
  out
}

check_error_correlation <- function(limits, accuracy, x) {
  if (is.null(limits)) return(NULL)
  if (length(limits) == 1L) limits <- c(-1, limits)
  ok <- is.numeric(limits) && length(limits) == 2L && !anyNA(limits) && all(abs(limits) <= 1) &&
    limits[[1L]] <= limits[[2L]]
  abort_argument_if(!ok, "error_correlation",
    "must be one number in [-1, 1], or a lower and an upper one.", not = limits)
  complete <- rates_once(x) &&
    all(pattern_lengths(x)[pattern_weights(x) > 0] %in% c(0L, n_raters(x)))
  abort_argument_if(any(accuracy[, 1L] != accuracy[, 2L]) || !complete, "error_correlation",
    "A limit of {.arg error_correlation} needs fixed accuracies, and raters who rated all cases.",
    x = if (complete) "The accuracies are not fixed." else "Some cases lack a rating, or raters are
        not identified.", i = "Give one accuracy for each rater in {.arg rater_accuracy}.")
  as.double(limits)
}

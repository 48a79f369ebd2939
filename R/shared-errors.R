#' Correlation of errors between raters and systems
#'
#' Estimates how often raters and systems (classifiers) make errors on the same cases: *shared
#' errors*, in the literature often *correlated errors*. If the true category of some cases is
#' known, correlations of errors are estimated. If no truth is known, the range of correlations that
#' are possible given the ratings is computed. The ratings of raters with shared errors contain less
#' information than the ratings of independent raters. The accuracy of a system that shares errors
#' with the raters is overestimated.
#'
#' @section With known truth: For two raters, the estimate is the phi coefficient: the correlation
#' of the two binary variables "is right" over the cases with known truth that both answered.
#' Systems are treated like raters. The interval uses Fisher's z, and the standard error is computed
#' by the delta method. If a cell of the two-by-two table of "is right" is empty, the standard error
#' is computed with one more case in each cell. The correlation is `NA` if one of the raters is
#' always right or always wrong.
#'
#' Column `coinciding` of the result is the share of equal answers among the cases on which both
#' raters are wrong. `expected` is this share for wrong answers that are independent given the
#' truth. Their difference `surplus` is near 0 for independent errors, and always 0 with two
#' categories.
#'
#' The *effective number of raters* is the number of raters with independent errors whose mean
#' error has the same variance as the mean error of the actual raters. For `m` raters with mean
#' correlation `rho`, it is `m / (1 + (m - 1) rho)` (the design effect of Kish, 1965). If some
#' ratings are missing, `m` is the mean number of ratings per case. The mean correlation `rho` is
#' the sum of the covariances of all pairs, divided by the sum of the products of their standard
#' deviations.
#'
#' @section Without known truth:
#' If two raters agree, both are right or both are wrong. If they disagree, at most one is right.
#' This limits the correlation of their errors. Let `a` and `b` be the accuracies of the two raters,
#' `D` the share of cases on which they agree, and `p` the share of cases on which both are right.
#' The correlation is `(p - a b) / sqrt(a (1 - a) b (1 - b))`, and the ratings allow all values with
#'
#' `max(0, (a + b - 1 + D) / 2) <= p <= min(a, b, D, (D - g (1 - a - b)) / (1 + g))`.
#'
#' Here `g` is the smallest possible share of equal answers among the cases on which both are wrong
#' (argument `coinciding`). The lowest and highest correlation are computed over all `a` and `b`
#' within the limits `accuracy`, and over the confidence interval of `D`. The range therefore
#' contains the correlation with a probability of at least `conf_level`, if the accuracies are
#' within their limits. The range is wide, unless the limits are narrow.
#'
#' @param x A [ratings()] object in which raters have names and rate each case at most once; or the
#'   result of [fit_raters()] or [estimate_accuracy()].
#' @param known_truth Cases with known truth: a data frame with columns `case` and `truth` (or
#'   `category`), or a vector of categories with the cases as names.
#'   * `NULL`, the default, uses the truths in `x` if `x` is a fit with known truths, simulated
#'     ratings, or a result of [with_truth()].
#'   * `TRUE` also uses truths that were given by the argument `truth` of [ratings()].
#'   * `FALSE` ignores all truths.
#' @param accuracy Used only without known truth: limits of the accuracies. Either `c(lower, upper)`
#'   for all raters and systems, or a matrix with two columns and a named row for each rater and
#'   system. With `NULL`, the default, the lower limit is 1 / (number of categories), the accuracy
#'   by chance, and the upper limit is 1.
#' @param coinciding Used only without known truth: the smallest possible share of equal answers
#'   among the cases on which two raters are both wrong, in \[0, 1\]. 0 makes no assumption. With
#'   `NULL`, the default, it is 1 / (number of categories - 1), the share for random wrong answers.
#'   With two categories, the share is always 1.
#' @param conf_level Confidence level of the intervals, in (0, 1). The default is the level of `x`
#'   or, if `x` has none, the level of [fallible-options], usually 0.9.
#' @param ... Not used.
#' @return An object of class `shared_errors`. [tidy()][tidy.shared_errors] returns a tibble with a
#'   row per pair of raters or systems, whose names are in `rater1` and `rater2`. With known truth,
#'   `estimate` is the correlation of errors, and `std.error`, `conf.low` and `conf.high` are its
#'   standard error and interval. Without known truth, `lowest` and `highest` are the limits of the
#'   possible correlations. [glance()][tidy.shared_errors] returns the mean correlation and the
#'   effective number of raters.
#' @references Kish, L. (1965). *Survey sampling*. Wiley.
#' @family shared errors
#' @seealso [accuracy_bounds()] for the effect of shared errors on a system's accuracy.
#' @examples
#' set.seed(1)
#' # The second rater copies the first in half of the cases
#' copying <- data.frame(from = 1, to = 2, probability = 0.5)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300, copying = copying))
#' # With the true categories, which simulated ratings contain
#' errors <- shared_errors(x)
#' errors
#' tidy(errors, what = "raters")
#'
#' # The range that ratings allow, if all accuracies are between 0.6 and 0.9
#' shared_errors(x, known_truth = FALSE, accuracy = c(0.6, 0.9))
#' @export
shared_errors <- function(x, known_truth = NULL, accuracy = NULL, coinciding = NULL,
                          conf_level = level_of(x), ...) {
  check_call()
  conf_level <- check_level(conf_level)
  if (inherits(x, "accuracy_estimate")) x <- x$fit
  if (!inherits(x, "rater_fit")) x <- as_ratings_of_several(x)
  check_not_one_judge(x)
  all_cells <- known_cells(x, known_truth)
  ratings_with_reruns <- drop_constant_systems(if (inherits(x, "rater_fit")) x$x else x)
  x <- merge_reruns_with_message(ratings_with_reruns)
  requirement <- "Shared errors need ratings with identified raters, who rate each case once."
  check_named_raters(x, "x", requirement)
  abort_argument_if(!has_single_ratings(x), "x", requirement,
    x = "In {.arg x}, some raters rated a case more than once.")
  check_pair_memory(x)
  cells_with_reruns <- all_cells
  if (has_reruns(ratings_with_reruns)) {
    all_cells$pattern <-
      pattern_of_case(x)[match(all_cells$pattern, pattern_of_case(ratings_with_reruns))]
  }
  judges <- c(x$raters, x$systems)
  n_judges <- length(judges)
  if (n_judges < 2L) check_several_raters(x)
  accuracy_limits <- as_limits(accuracy, judges, "accuracy") %||%
    cbind(lower = rep(1 / n_categories(x), n_judges), upper = 1)
  min_coinciding_share <- 1 / (n_categories(x) - 1)
  if (!is.null(coinciding) && min_coinciding_share < 1) {
    min_coinciding_share <- check_number(coinciding, "coinciding", 0, 1)
  }
  progress <- progress_bar("Pairs", n_judges)
  pairs <- na_real(core_shared_pairs(x$patterns, all_cells, progress$tick))
  progress$close()
  pair_table <- new_pair_table(pairs, judges, n_raters(x), conf_level)
  is_used <- all_cells$truth > 0L & all_cells$weight > 0
  used_cells <- all_cells[is_used, ]
  answers <- known_answers(x, used_cells)
  answers_with_tied_runs <- if (!has_reruns(ratings_with_reruns)) answers else
    add_tied_runs(answers, known_answers(ratings_with_reruns, cells_with_reruns[is_used, ]))
  if (nrow(used_cells) > 0L) {
    pair_table <- add_correlations(pair_table, pairs, right_rates(answers), weights_are_counts(x))
  } else {
    pair_table <-
      add_correlation_range(pair_table, pairs$agreeing, x, accuracy_limits, min_coinciding_share)
  }
  rater_pairs <- pair_table[pair_table$kind == "raters", ]
  mean_ratings <- ratings_per_case(x)
  new_shared_errors(
    pairs = pair_table,
    raters = rater_table(rater_pairs, x$raters, answers_with_tied_runs, mean_ratings),
    panel_results = panel_summary(rater_pairs, answers, n_raters(x), mean_ratings),
    counts = list(
      raters = n_raters(x), systems = n_systems(x), n = count_cases(x),
      known = sum(used_cells$weight)
    ),
    options = list(conf_level = conf_level, limits = accuracy_limits,
      coinciding = min_coinciding_share, silent = abstain_note(x)),
    judges = judges
  )
}

# Approximate number of columns of the table of pairs, from which its memory is estimated.
n_pair_columns <- 20

# Raises an error if the table of pairs needs too much memory. The table has rows only for pairs of
# raters or systems with a common case. The number of these pairs is at most the number of pairs of
# answers within patterns.
check_pair_memory <- function(x) {
  n_judges <- n_raters(x) + n_systems(x)
  n_answers <- pattern_lengths(x) + rowSums(pattern_answers(x) > 0L)
  max_common_pairs <- sum(n_answers * (n_answers - 1) / 2)
  n_all_pairs <- n_judges * (n_judges - 1) / 2
  check_pair_numbers(n_judges, n_pair_columns, pairs = min(n_all_pairs, max_common_pairs))
}

# Groups cases with the same pattern of ratings and the same known truth into cells. Returns a data
# frame with a row per cell:
# * pattern: number of the pattern.
# * truth: number of the true category, 0 if unknown.
# * weight: number of cases.
known_cells <- function(x, known_truth) {
  if (inherits(x, "rater_fit")) {
    truth <- x$known$truth
    x <- x$x
    if (is.null(known_truth) && any(truth > 0L)) {
      return(data.frame(pattern = seq_along(truth), truth = truth, weight = pattern_weights(x)))
    }
  }
  truth_code <- if (is.null(known_truth)) {
    if (!is_given_truth(x)) x$truth$category
  } else if (!isFALSE(known_truth)) {
    check_known_truth(known_truth, x)
  }
  truth_code <- truth_code %||% integer(length(x$index))
  pattern_count <- n_patterns(x)
  cell_key <- replace_na(truth_code, 0L) * pattern_count + pattern_of_case(x)
  distinct_keys <- unique(cell_key)
  data.frame(
    pattern = (distinct_keys - 1L) %% pattern_count + 1L,
    truth = (distinct_keys - 1L) %/% pattern_count,
    weight = core_pattern_weights(match(cell_key, distinct_keys), x$weights, length(distinct_keys))
  )
}

# Returns the mean number of ratings over cases with ratings. If all raters rated all cases, this is
# the number of raters.
ratings_per_case <- function(x) {
  n_ratings <- pattern_lengths(x)
  weight <- pattern_weights(x) * (n_ratings > 0L)
  sum(weight * n_ratings) / sum(weight)
}

# Creates the table of pairs, in which correlations are still NA.
# * pairs: a list. `pairs$one` and `pairs$two` are the positions, in `judges`, of the two raters or
#   systems of each pair. `pairs$n` is the number of common cases of each pair.
# * judges: names of raters, then of systems.
# * raters: number of raters.
new_pair_table <- function(pairs, judges, raters, conf_level) {
  n_systems_in_pair <- (pairs$one > raters) + (pairs$two > raters)
  columns_tibble(
    rater1 = judges[pairs$one], rater2 = judges[pairs$two],
    kind = c("raters", "rater and system", "systems")[n_systems_in_pair + 1L],
    n = pairs$n, known = 0,
    !!!rep_named(c(
      "estimate", interval_columns, "lowest", "highest", "both_wrong", "coinciding", "expected",
      "surplus"
    ), NA_real_),
    reason = "no truth is known", one = pairs$one, two = pairs$two, covariance = 0, spread = 0,
    conf_level = conf_level
  )
}

# Returns the table of tidy(), with a row for each pair of raters and systems. The result `x` of
# shared_errors() contains only pairs with a common case.
complete_pair_table <- function(x) {
  n_judges <- length(x$judges)
  check_pair_numbers(n_judges, n_pair_columns)
  n_pairs_as_first <- (n_judges - 1):1 # number of pairs in which each rater is the first
  pairs <- list(
    one = rep.int(rev(n_pairs_as_first), n_pairs_as_first),
    two = sequence(n_pairs_as_first, 2:n_judges), n = 0
  )
  table <- new_pair_table(pairs, x$judges, x$counts$raters, x$options$conf_level)
  if (x$counts$known > 0) table[c("both_wrong", "reason")] <- list(0, no_common_truth_reason)
  # Number of rows before the first row of each first rater.
  rows_before <- cumsum(c(0, n_pairs_as_first))
  table[rows_before[x$pairs$one] + x$pairs$two - x$pairs$one, ] <- x$pairs
  table[!names(table) %in% c("one", "two", "covariance", "spread", "conf_level")]
}

# ---- Range without known truth ------------------------------------------------------------------

# Adds the columns `lowest` and `highest`: the range of the correlation if no truth is known.
# * agreeing: number of cases on which the pair agrees.
# * limits: lowest and highest accuracy of each rater and system, a matrix with two columns.
# * min_coinciding_share: smallest share of equal answers if both raters are wrong.
add_correlation_range <- function(table, agreeing, x, limits, min_coinciding_share) {
  # If weights are probabilities of cases, the distribution of cases is known. The agreement then
  # has no sampling error, so the number of cases is infinite.
  interval <- wilson_interval(
    agreeing / table$n, if (weights_are_counts(x)) table$n else Inf,
    normal_quantile(table$conf_level)
  )
  # Whole percents between the confidence limits of each pair's agreement. correlation_range() is
  # slow. Therefore it is called only once for each percent and combination of limits of accuracy.
  percent_sets <- Map(seq, floor(100 * interval[, 1L] + 1e-9), ceiling(100 * interval[, 2L] - 1e-9))
  limits_group <- number_distinct_rows(
    data.frame(matrix(limits[c(table$one, table$two), ], nrow(table)))
  )
  for (rows in split(seq_along(limits_group), limits_group)) {
    needed_percents <- unique(unlist(percent_sets[rows]))
    range_by_percent <- vapply(
      needed_percents / 100, correlation_range, c(0, 0), first = limits[table$one[[rows[[1L]]]], ],
      second = limits[table$two[[rows[[1L]]]], ], min_coinciding_share = min_coinciding_share
    )
    table[rows, c("lowest", "highest")] <- stack_rows(percent_sets[rows], function(pair_percents) {
      defined_limits <- na.omit(c(range_by_percent[, match(pair_percents, needed_percents)]))
      if (length(defined_limits) > 0L) range(defined_limits) else c(NA_real_, NA_real_)
    })
  }
  table
}

# Returns the lowest and the highest possible correlation of the errors of two raters that agree on
# the share `agreement` of the cases. Searches a grid of accuracies, which is refined around the
# best points.
# * first, second: limits of the accuracy of each rater.
# * min_coinciding_share: smallest share of equal answers among the cases on which both are wrong.
#
# The formulas are in the help page of shared_errors().
correlation_range <- function(agreement, first, second, min_coinciding_share) {
  correlation_at <- function(a, b, highest) {
    # Smallest and largest probability that both raters are right, given accuracies `a` and `b`.
    min_both_right <- pmax(0, (a + b - 1 + agreement) / 2)
    max_both_right <- pmin(
      a, b, agreement, (agreement - min_coinciding_share * (1 - a - b)) / (1 + min_coinciding_share)
    )
    correlation <- ((if (highest) max_both_right else min_both_right) - a * b) /
      sqrt(bernoulli_variance(a) * bernoulli_variance(b))
    ifelse(
      min_both_right <= max_both_right + 1e-12 & is.finite(correlation), clamp(correlation, -1, 1),
      NA_real_
    )
  }
  c(
    -find_maximum(function(a, b) -correlation_at(a, b, FALSE), first, second),
    find_maximum(function(a, b) correlation_at(a, b, TRUE), first, second)
  )
}

# Returns the largest value of the function `value` over a rectangle with the sides `first` and
# `second`. There may be several local maxima. Therefore the rectangle is divided into nine parts,
# and a finer search starts at the best grid point of each part.
find_maximum <- function(value, first, second) {
  grid1 <- seq(first[[1L]], first[[2L]], length.out = 121L)
  grid2 <- seq(second[[1L]], second[[2L]], length.out = 121L)
  grid_values <- outer(grid1, grid2, value)
  third_of_index <- rep(1:3, c(40L, 41L, 40L))
  best_points <- unlist(lapply(
    split(seq_along(grid_values), outer(third_of_index, 3L * third_of_index, `+`)),
    function(indices) indices[which.max(grid_values[indices])]
  ))
  if (length(best_points) == 0L) return(NA_real_)
  grid_step <- c(grid1[[2L]] - grid1[[1L]], grid2[[2L]] - grid2[[1L]])
  max(map_dbl(best_points, function(best) {
    indices <- arrayInd(best, dim(grid_values))
    centre <- c(grid1[[indices[[1L]]]], grid2[[indices[[2L]]]])
    refine_maximum(value, centre, grid_step, first, second)
  }))
}

# Returns the largest value of the function `value` near `centre`. In each of six rounds, a grid of
# 14 x 14 points is centred at the best point. The step is a third of the previous step.
refine_maximum <- function(value, centre, grid_step, first, second) {
  grid_near <- function(i, limits) {
    middle <- centre[[i]]
    c(middle, seq(
      max(middle - 2 * grid_step[[i]], limits[[1L]]),
      min(middle + 2 * grid_step[[i]], limits[[2L]]), length.out = 13L
    ))
  }
  for (round in 1:6) {
    grid1 <- grid_near(1L, first)
    grid2 <- grid_near(2L, second)
    grid_values <- outer(grid1, grid2, value)
    best_index <- arrayInd(which.max(grid_values), dim(grid_values))
    centre <- c(grid1[[best_index[[1L]]]], grid2[[best_index[[2L]]]])
    grid_step <- grid_step / 3
  }
  max(grid_values, na.rm = TRUE)
}

# ---- Effective number of raters -----------------------------------------------------------------

# Returns the effective number of raters: the number of raters with independent errors whose mean
# error has the same variance as the mean error of the actual raters. The formula uses the design
# effect of Kish. `raters`: number of raters. `correlation`: mean correlation of errors.
effective_number_of_raters <- function(raters, correlation) {
  design_effect <- 1 + (raters - 1) * correlation
  ifelse(design_effect > 0, raters / design_effect, Inf)
}

# Returns the table of tidy(what = "raters"), with a row per rater. Column `effective` contains the
# effective number of raters if the rater is left out. Column `change` contains `effective` minus
# the effective number of all raters.
# * rater_pairs: the rows of pairs of two raters.
# * answers: result of known_answers().
# * mean_ratings: mean number of ratings per case.
rater_table <- function(rater_pairs, raters, answers, mean_ratings) {
  n_raters <- length(raters)
  # For each rater, sum_with_rater() returns the sum of `value` over the pairs with this rater.
  # sum_without_rater() returns the sum over all other pairs. `value` has an element per pair.
  sum_with_rater <- function(value) {
    core_pattern_weights(rater_pairs$one, value, n_raters) +
      core_pattern_weights(rater_pairs$two, value, n_raters)
  }
  sum_without_rater <- function(value) sum(value) - sum_with_rater(value)
  # The sums of `spread > 0` are counts of pairs. A count of 0 may be slightly above 0 because of
  # rounding errors, so counts are compared with 0.5.
  has_spread <- sum_without_rater(as.double(rater_pairs$spread > 0)) > 0.5
  correlation_without_rater <- ifelse(
    has_spread, sum_without_rater(rater_pairs$covariance) / sum_without_rater(rater_pairs$spread),
    NA_real_
  )
  effective_number_without_rater <- if (n_raters < 3L) 1 else
    effective_number_of_raters(mean_ratings * (n_raters - 1) / n_raters, correlation_without_rater)
  columns_tibble(
    rater = raters,
    n = core_pattern_weights(answers$judge, answers$weight, answers$judges)[seq_len(n_raters)],
    accuracy = na_real(right_rates(answers)[seq_len(n_raters)]),
    correlation =
      na_real(sum_with_rater(rater_pairs$covariance) / sum_with_rater(rater_pairs$spread)),
    effective = as.double(effective_number_without_rater),
    change = effective_number_without_rater -
      effective_number_of_raters(mean_ratings, mean_correlation(rater_pairs))
  )
}

# Returns the mean correlation: the sum of covariances divided by the sum of products of standard
# deviations.
mean_correlation <- function(pairs) {
  spread_sum <- sum(pairs$spread)
  if (spread_sum > 0) sum(pairs$covariance) / spread_sum else NA_real_
}

#' Correlation of errors between raters and systems
#'
#' Estimates how far raters and systems make errors on the same cases ("shared errors", in the
#' literature often correlated errors). With known truth of some cases it estimates correlations;
#' without, it computes the range that the ratings allow. Raters with shared errors carry less
#' information, and a system that shares them looks more accurate than it is.
#'
#' @section With known truth:
#' The estimate is the correlation of being right between two raters (the phi coefficient), over
#' cases of known truth that both answered. The interval uses Fisher's z and the standard error for
#' two binary variables with any distribution (delta method over the four cells). The correlation is
#' `NA` if one rater is always right or always wrong. It has no interval if the two are always right
#' and wrong together. In simulated panels with known correlations, 90% intervals covered .88 to .93
#' (`bench/shared-errors.R`).
#'
#' If both raters are wrong, their answers may be the same. `coinciding` is the share of cases with
#' the same answer among cases on which both are wrong. `expected` is this share if wrong answers of
#' the two are independent given the truth: how often a wrong answer of one rater equals a wrong
#' answer of the other on different cases of the same truth. `surplus` is the difference. It is 0
#' with two categories, and for independent errors.
#'
#' For the variance of their mean, `m` raters with average correlation `rho` are equivalent to
#' `m / (1 + (m - 1) rho)` independent raters (the design effect of Kish, 1965). The average is the
#' sum of covariances divided by the sum of products of standard deviations. Weights are numbers of
#' common cases, and the mean of each rater is over all its cases. If cases lack ratings, `m` is the
#' mean number of ratings per case.
#'
#' @section Without known truth:
#' If two raters agree, both may be right or both wrong. If they disagree, at most one is right, and
#' with two categories exactly one. Let `D` be the share of agreement, and `a` and `b` the
#' accuracies within their limits. Both are right on a share `p` of the cases. The correlation is
#' then `(p - a b) / sqrt(a (1 - a) b (1 - b))`, and the ratings allow all `a`, `b` and `p` with
#'
#' `max(0, (a + b - 1 + D) / 2) <= p <= min(a, b, D, (D - g (1 - a - b)) / (1 + g))`,
#'
#' where `g` is the smallest share of `coinciding` answers among cases on which both are wrong. It
#' is 1 with two categories. Otherwise it is an assumption, by default `1 / (categories - 1)`, the
#' share for random wrong answers, since shared errors increase it. Columns `lowest` and `highest`
#' are the extremes over `a`, `b`, `p` and the confidence interval of `D` (Wilson's, in whole
#' percents). They contain the correlation with a probability of at least `conf_level` if the limits
#' of accuracy hold. They are `NA` if no `a`, `b` and `p` satisfy the conditions. Without good
#' limits the range is wide: two weak raters may be right on exactly the same cases.
#'
#' @param x A [ratings()] object in which raters have names and rate no case twice; or the result of
#'   [fit_raters()] or [estimate_accuracy()], whose known cases are used.
#' @param known_truth Cases of known true category: a data frame with columns `case` and `truth` (or
#'   `category`), or categories with the cases as names. `NULL`, the default, uses the truths in `x`
#'   (fits with known cases, simulated ratings); `FALSE` ignores them.
#' @param accuracy Limits of accuracy for the range without known truth: `c(lower, upper)` for all
#'   raters and systems, or a matrix with a named row for each of them and two columns. By default
#'   `NULL`, no worse than chance: from 1 / number of categories to 1.
#' @param coinciding For the range without known truth: smallest share of equal answers among cases
#'   on which two are wrong, in \[0, 1\]. 0 assumes nothing; `NULL`, the default, is 1 / (number of
#'   categories - 1). With two categories it is always 1.
#' @param conf_level Confidence level of the intervals, in (0, 1).
#' @param ... Not used.
#' @return An object of class `shared_errors`; see [tidy()][tidy.shared_errors] and
#'   [fallible_result].
#' @references Kish, L. (1965). *Survey sampling*. Wiley.
#' @family shared errors
#' @seealso [accuracy_bounds()] for the effect of shared errors on a system's accuracy.
#' @examples
#' set.seed(1)
#' # The second rater copies the first in half of the cases
#' copying <- data.frame(from = 1, to = 2, probability = 0.5)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300, copying = copying))
#' errors <- shared_errors(x)
#' errors
#' tidy(errors, what = "raters")
#'
#' # The range that ratings allow, if all accuracies are between 0.6 and 0.9
#' shared_errors(x, known_truth = FALSE, accuracy = c(0.6, 0.9))
#' @export
shared_errors <- function(x, known_truth = NULL, accuracy = NULL, coinciding = NULL,
                          conf_level = default_conf_level(), ...) {
  check_given()
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  if (inherits(x, "accuracy_estimate")) x <- x$fit
  if (!inherits(x, "rater_fit")) x <- merge_reruns_with_message(as_ratings_of_several(x))
  check_not_one_judge(x)
  known <- known_cells(x, known_truth)
  if (inherits(x, "rater_fit")) x <- x$x
  x <- without_constant(x)
  check_named_once(x)
  check_pair_memory(x)
  judges <- c(x$raters, x$systems)
  if (length(judges) < 2L) check_several_raters(x)
  limits <- as_limits(accuracy, judges, "accuracy") %||%
    cbind(lower = rep(1 / n_categories(x), length(judges)), upper = 1)
  least_same <- 1 / (n_categories(x) - 1)
  if (!is.null(coinciding) && least_same < 1) {
    least_same <- check_number(coinciding, "coinciding", 0, 1)
  }
  bar <- progress_bar("Pairs", length(judges))
  pairs <- na_real(core_shared_pairs(x$patterns, known, bar$tick))
  bar$close()
  table <- shared_table(pairs, judges, n_raters(x), conf_level)
  cells <- known[known$truth > 0L & known$weight > 0, ]
  answers <- known_answers(x, cells)
  if (nrow(cells) > 0L) {
    shares <- right_shares(pairs)
    wrong <- c("known", "both_wrong", "coinciding", "expected", "surplus")
    table[wrong] <- pairs[wrong]
    table <- add_correlations(table, shares, weights_are_counts(x))
    table <- add_products(table, shares, right_rates(answers))
  } else {
    table <- add_open_range(table, pairs$agreeing, x, limits, least_same)
  }
  size <- ratings_per_case(x)
  new_shared_errors(
    pairs = table, raters = rater_rows(table, x$raters, answers, size),
    about = whole_panel(table, answers, n_raters(x), size),
    counts = tibble::tibble(
      raters = n_raters(x), systems = n_systems(x), n = count_cases(x),
      known = sum(cells$weight)
    ),
    options = list(conf_level = conf_level, limits = limits, coinciding = least_same,
      silent = abstain_note(x)),
    judges = judges
  )
}

columns_of_pairs <- 20

# Memory is needed only for pairs that share a case.
check_pair_memory <- function(x) {
  judges <- n_raters(x) + n_systems(x)
  answers <- pattern_lengths(x) + rowSums(pattern_answers(x) > 0L)
  met <- sum(answers * (answers - 1) / 2)
  check_pair_numbers(judges, columns_of_pairs, pairs = min(judges * (judges - 1) / 2, met))
}

# Patterns with each truth of their cases (0 is unknown), and the weight of these cases.
known_cells <- function(x, known_truth) {
  if (inherits(x, "rater_fit")) {
    truth <- x$known$truth
    x <- x$x
    if (is.null(known_truth) && any(truth > 0L)) {
      return(data.frame(pattern = seq_along(truth), truth = truth, weight = pattern_weights(x)))
    }
  }
  code <- if (isFALSE(known_truth)) {
    integer(length(x$index))
  } else if (is.null(known_truth)) {
    (if (!is_kept_truth(x)) x$truth$category) %||% integer(length(x$index))
  } else {
    check_known_truth(known_truth, x)
  }
  patterns <- n_patterns(x)
  key <- code * patterns + pattern_of_case(x)
  cells <- unique(key)
  data.frame(
    pattern = (cells - 1L) %% patterns + 1L, truth = (cells - 1L) %/% patterns,
    weight = core_pattern_weights(match(key, cells), x$weights, length(cells))
  )
}

check_named_once <- function(x) {
  must <- "Shared errors need the rater of each rating, and one rating of each on a case."
  check_named_raters(x, "x", must)
  abort_argument_if(!rates_once(x), "x", must, x = "Some raters rated a case more than once.")
}

# Mean number of ratings over cases with ratings; the number of raters if all rated all cases.
ratings_per_case <- function(x) {
  ratings <- pattern_lengths(x)
  weight <- pattern_weights(x) * (ratings > 0L)
  sum(weight * ratings) / sum(weight)
}

# A row for each of `pairs`. The first `raters` judges are raters, the others systems.
shared_table <- function(pairs, judges, raters, conf_level) {
  systems <- (pairs$one > raters) + (pairs$two > raters)
  unknown <- c(
    "estimate", interval_columns, "lowest", "highest", "both_wrong", "coinciding", "expected",
    "surplus"
  )
  columns_tibble(
    rater1 = judges[pairs$one], rater2 = judges[pairs$two],
    kind = c("raters", "rater and system", "systems")[systems + 1L], n = pairs$n, known = 0,
    !!!rlang::rep_named(unknown, NA_real_), reason = "no truth is known", one = pairs$one,
    two = pairs$two, covariance = 0, spread = 0, conf_level = conf_level
  )
}

# A row for each pair. Pairs without a common case are not stored with the result.
pairs_of_all <- function(x) {
  judges <- length(x$judges)
  check_pair_numbers(judges, columns_of_pairs)
  pairs <- list(
    one = rep.int(1:(judges - 1), (judges - 1):1), two = sequence((judges - 1):1, 2:judges), n = 0
  )
  table <- shared_table(pairs, x$judges, x$counts$raters, x$options$conf_level)
  if (x$counts$known > 0) table[c("both_wrong", "reason")] <- list(0, no_common_truth)
  first <- cumsum(c(0, (judges - 1):1)) # rows before those of each first rater
  table[first[x$pairs$one] + x$pairs$two - x$pairs$one, ] <- x$pairs
  table
}

# Range without known truth ---------------------------------------------------------------------

# A table of ranges by share of agreement is computed once for all pairs with the same limits.
add_open_range <- function(table, agreeing, x, limits, least_same) {
  n <- if (weights_are_counts(x)) table$n else Inf # probabilities have no sampling error
  interval <- wilson_interval(agreeing / table$n, n, normal_quantile(table$conf_level))
  # Whole percents, rounded outwards, so that pairs share most of them.
  from <- floor(100 * interval[, 1L] + 1e-9)
  to <- ceiling(100 * interval[, 2L] - 1e-9)
  kind <- keys(data.frame(matrix(limits[c(table$one, table$two), ], nrow(table))))
  for (rows in split(seq_along(kind), kind)) {
    first <- limits[table$one[[rows[[1L]]]], ]
    second <- limits[table$two[[rows[[1L]]]], ]
    percents <- Map(seq, from[rows], to[rows])
    asked <- unique(unlist(percents))
    ends <- vapply(
      asked / 100, open_range, c(0, 0), first = first, second = second, least_same = least_same
    )
    table[rows, c("lowest", "highest")] <- stack_rows(percents, function(span) {
      known <- stats::na.omit(c(ends[, match(span, asked)]))
      if (length(known) > 0L) range(known) else c(NA_real_, NA_real_)
    })
  }
  table
}

# Lowest and highest correlation for a share of agreement, by a grid of accuracies that is refined
# around the best. `first` and `second`: limits of the accuracies. `least_same`: smallest share of
# cases with the same answer among cases on which both are wrong.
open_range <- function(agreement, first, second, least_same) {
  value <- function(a, b, highest) {
    lower <- pmax(0, (a + b - 1 + agreement) / 2)
    upper <- pmin(a, b, agreement, (agreement - least_same * (1 - a - b)) / (1 + least_same))
    p <- if (highest) upper else lower
    out <- (p - a * b) / sqrt(a * (1 - a) * b * (1 - b))
    ifelse(lower <= upper + 1e-12 & is.finite(out), pmin(pmax(out, -1), 1), NA_real_)
  }
  c(
    search_range(function(a, b) -value(a, b, FALSE), first, second),
    search_range(function(a, b) value(a, b, TRUE), first, second)
  ) * c(-1, 1)
}

# Largest value over a rectangle. There may be several local maxima, so finer grids start at the
# best point of each ninth.
search_range <- function(value, first, second) {
  a <- seq(first[[1L]], first[[2L]], length.out = 121L)
  b <- seq(second[[1L]], second[[2L]], length.out = 121L)
  values <- outer(a, b, value)
  third <- rep(1:3, c(40L, 41L, 40L))
  hills <- split(seq_along(values), outer(third, 3L * third, `+`))
  tops <- unlist(lapply(hills, function(at) at[which.max(values[at])]))
  if (length(tops) == 0L) return(NA_real_)
  step <- c(a[[2L]] - a[[1L]], b[[2L]] - b[[1L]])
  max(vapply(tops, function(top) {
    climb_range(value, c(a[[row(values)[[top]]]], b[[col(values)[[top]]]]), step, first, second)
  }, 0))
}

climb_range <- function(value, centre, step, first, second) {
  near <- function(i, limits) {
    reach <- centre[[i]] + c(-2, 2) * step[[i]]
    c(centre[[i]], seq(
      max(reach[[1L]], limits[[1L]]), min(reach[[2L]], limits[[2L]]), length.out = 13L
    ))
  }
  for (round in 1:6) {
    a <- near(1L, first)
    b <- near(2L, second)
    values <- outer(a, b, value)
    top <- arrayInd(which.max(values), dim(values))
    centre <- c(a[[top[[1L]]]], b[[top[[2L]]]])
    step <- step / 3
  }
  max(values, na.rm = TRUE)
}

# Effective number of raters -------------------------------------------------------------------

# Equivalent number of independent raters for an average correlation (Kish's design effect).
effective_raters <- function(raters, correlation) {
  spread <- 1 + (raters - 1) * correlation
  ifelse(spread > 0, raters / spread, Inf)
}

# A row for each rater. `effective` and `change` are for the panel without the rater.
rater_rows <- function(table, raters, answers, size) {
  m <- length(raters)
  among <- table[table$kind == "raters", ]
  # Sums over the pairs with a rater, and over the pairs without the rater.
  sum_with <- function(value) {
    core_pattern_weights(among$one, value, m) + core_pattern_weights(among$two, value, m)
  }
  sum_without <- function(value) sum(value) - sum_with(value)
  defined <- sum_without(as.double(among$spread > 0)) > 0.5 # rounding may leave a sum above 0
  rho <- ifelse(defined, sum_without(among$covariance) / sum_without(among$spread), NA_real_)
  without <- if (m < 3L) 1 else effective_raters(size * (m - 1) / m, rho)
  columns_tibble(
    rater = raters,
    n = core_pattern_weights(answers$judge, answers$weight, answers$judges)[seq_len(m)],
    accuracy = na_real(right_rates(answers)[seq_len(m)]),
    correlation = na_real(sum_with(among$covariance) / sum_with(among$spread)),
    effective = as.double(without),
    change = without - effective_raters(size, mean_correlation(among))
  )
}

# Sum of covariances divided by the sum of products of standard deviations.
mean_correlation <- function(pairs) {
  total <- sum(pairs$spread)
  if (total > 0) sum(pairs$covariance) / total else NA_real_
}

mean_of_known <- function(x, weight) {
  use <- !is.na(x) & weight > 0
  if (any(use)) stats::weighted.mean(x[use], weight[use]) else NA_real_
}

# Results for all raters together.
whole_panel <- function(table, answers, raters, size) {
  among <- table[table$kind == "raters", ]
  rho <- mean_correlation(among)
  interval <- mean_correlation_limits(among, answers, raters, rho)
  lowest <- mean_of_known(among$lowest, among$n)
  highest <- mean_of_known(among$highest, among$n)
  effective <- function(correlation) effective_raters(size, correlation)
  tibble::tibble(
    raters_per_case = size, correlation = rho, conf.low = interval[[1L]],
    conf.high = interval[[2L]], effective = effective(rho),
    effective.low = effective(interval[[2L]]), effective.high = effective(interval[[1L]]),
    lowest = lowest, highest = highest, effective.lowest = effective(highest),
    effective.highest = effective(lowest),
    surplus = mean_of_known(among$surplus, among$both_wrong)
  )
}

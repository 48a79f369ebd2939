#' Errors that raters and systems share
#'
#' Raters who err on the same cases count for fewer raters, and a system that errs there too
#' looks better than it is. With known truth of some cases this measures how far errors go together;
#' without, it gives the range that the ratings allow.
#'
#' @section With known truth:
#' The correlation of two raters' being right (the phi coefficient), over the cases that both
#' answered and whose truth is known, with an interval: Fisher's z, with the standard error that two
#' binary variables have, whatever their law (the delta method over the four cells). It is `NA`
#' where one of the two is always right or always wrong, and has no interval where the two are right
#' and wrong always together. In simulated panels with planted correlations 90% intervals covered
#' .88 to .93 (`bench/shared-errors.R`).
#'
#' Where both are wrong they may be so with the same answer. `coinciding` is the share of such cases
#' among those where both are wrong; `expected` what it would be if the wrong answers of one, given
#' the truth, had nothing to do with those of the other: how often a wrong answer of the one equals
#' one of the other on different cases of the same truth. `surplus` is the difference; with two
#' categories it is 0. Independent errors have none.
#'
#' `m` raters whose errors correlate by `rho` on average are equivalent to `m / (1 + (m - 1) rho)`
#' independent ones, as far as the variance of their mean goes (the design effect of Kish, 1965).
#' The mean is the sum of covariances by that of products of standard deviations, with the number of
#' common cases as weight and each rater's mean over all cases. Where cases lack ratings `m` is the
#' mean number of ratings of a case.
#'
#' @section Without known truth:
#' Where two raters agree both may be right or both wrong; where they disagree at most one is right,
#' and with two categories exactly one. With a share `D` of agreement, accuracies `a` and `b` within
#' their limits and a share `p` of cases on which both are right, the correlation is
#' `(p - a b) / sqrt(a (1 - a) b (1 - b))`, and the ratings allow all `a`, `b` and `p` with
#'
#' `max(0, (a + b - 1 + D) / 2) <= p <= min(a, b, D, (D - g (1 - a - b)) / (1 + g))`,
#'
#' where `g` is the least share of `coinciding` answers among those where both are wrong: 1 with two
#' categories; otherwise an assumption, by default that of wrong answers given blindly,
#' `1 / (categories - 1)`, since shared errors make them coincide more often and not less.
#' Columns `lowest` and `highest` are the extremes over these and over the confidence interval of
#' `D` (Wilson; in whole percents), so they contain the correlation with probability `conf_level` at
#' least, if the limits of accuracy do; they are `NA` where no `a`, `b` and `p` will do. They say
#' little without good limits: two weak raters may be right on the same cases and no others.
#'
#' @param x A [ratings()] object whose raters have names and rated no case twice; or the result of
#'   [fit_raters()] or [estimate_accuracy()], whose known cases are used.
#' @param known_truth Cases whose true category is known: a data frame with columns `case` and
#'   `truth` (or `category`), or categories with the cases as names. `NULL` is what `x` knows itself
#'   (fits with known cases, simulated ratings); `FALSE` leaves that out.
#' @param accuracy Limits of the accuracies for the range without truth: `c(lower, upper)` for all
#'   raters and systems, or a matrix with a row for each of them, named, and two columns. `NULL` is
#'   no worse than chance, 1 / number of categories.
#' @param coinciding For the range without truth, the least share of cases with the same answer
#'   among those where two are wrong, in \[0, 1\]; 0 assumes nothing, `NULL` is
#'   1 / (number of categories - 1). With two categories it is always 1.
#' @param conf_level Probability with which intervals are meant to cover, in (0, 1).
#' @param ... Not used.
#' @return An object of class `shared_errors`; see [tidy()][tidy.shared_errors] and
#'   [fallible_result].
#' @references Kish, L. (1965). *Survey sampling*. Wiley.
#' @family shared errors
#' @seealso [accuracy_bounds()] for what shared errors may make of a system's accuracy.
#' @examples
#' set.seed(1)
#' # The second rater copies the first in half of the cases
#' copying <- data.frame(from = 1, to = 2, probability = 0.5)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300, copying = copying))
#' errors <- shared_errors(x)
#' errors
#' tidy(errors, what = "raters")
#'
#' # What the ratings alone say, if all are right in 60 to 90 of 100 cases
#' shared_errors(x, known_truth = FALSE, accuracy = c(0.6, 0.9))
#' @export
shared_errors <- function(x, known_truth = NULL, accuracy = NULL, coinciding = NULL,
                          conf_level = default_conf_level(), ...) {
  check_given()
  check_dots_empty(...)
  conf_level <- check_level(conf_level)
  if (inherits(x, "accuracy_estimate")) x <- x$fit
  if (!inherits(x, "rater_fit")) x <- with_votes_of_reruns(as_ratings_of_several(x))
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
  found <- lapply(core_shared_pairs(x$patterns, known, bar$tick), na_real)
  bar$close()
  table <- shared_table(found, judges, n_raters(x), conf_level)
  cells <- known[known$truth > 0L & known$weight > 0, ]
  answers <- known_answers(x, cells)
  if (nrow(cells) > 0L) {
    shares <- right_shares(found)
    wrong <- c("known", "both_wrong", "coinciding", "expected", "surplus")
    table[wrong] <- found[wrong]
    table <- add_correlations(table, shares, weights_are_counts(x))
    table <- add_products(table, shares, right_rates(answers))
  } else {
    table <- add_open_range(table, found$agreeing, x, limits, least_same)
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

# Only pairs that share a case are looked at.
check_pair_memory <- function(x) {
  judges <- n_raters(x) + n_systems(x)
  answers <- pattern_lengths(x) + rowSums(pattern_answers(x) > 0L)
  met <- sum(answers * (answers - 1) / 2)
  check_pair_numbers(judges, columns_of_pairs, pairs = min(judges * (judges - 1) / 2, met))
}

# Patterns with each truth that their cases have (0 is unknown), and the weight of such cases.
known_cells <- function(x, known_truth) {
  if (inherits(x, "rater_fit")) {
    own <- x$known$truth
    x <- x$x
    if (is.null(known_truth) && any(own > 0L)) {
      return(data.frame(pattern = seq_along(own), truth = own, weight = pattern_weights(x)))
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

# Ratings of a case in the mean of the cases that have some: the number of raters if all rated all.
ratings_per_case <- function(x) {
  ratings <- pattern_lengths(x)
  weight <- pattern_weights(x) * (ratings > 0L)
  sum(weight * ratings) / sum(weight)
}

# A row for each of the pairs in `found`; the first `raters` of the judges are no systems.
shared_table <- function(found, judges, raters, conf_level) {
  systems <- (found$one > raters) + (found$two > raters)
  none <- NA_real_
  tibble::tibble(
    rater1 = judges[found$one], rater2 = judges[found$two],
    kind = c("raters", "rater and system", "systems")[systems + 1L], n = found$n, known = 0,
    estimate = none, std.error = none, conf.low = none, conf.high = none, lowest = none,
    highest = none, both_wrong = none, coinciding = none, expected = none, surplus = none,
    reason = "no truth is known", one = found$one, two = found$two, covariance = 0, spread = 0,
    conf_level = conf_level
  )
}

# A row for each pair; those that share no case are not kept with the result.
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

# Range without truth --------------------------------------------------------------------------

# One table of ranges by share of agreement serves all pairs with the same limits.
add_open_range <- function(table, agreeing, x, limits, least_same) {
  n <- if (weights_are_counts(x)) table$n else Inf # probabilities have no sampling error
  interval <- wilson_interval(agreeing / table$n, n, normal_quantile(table$conf_level))
  # Whole percents outwards, so that pairs have most of them in common.
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

# The lowest and highest correlation at a share of agreement, by a grid of accuracies that closes in
# on the best; `first` and `second` are limits of the accuracies, `alike` the least share of cases
# with the same answer among those where both are wrong.
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

# The largest value over a rectangle: the best of a grid in each ninth of it, as there may be many
# hills, then finer grids around these.
search_range <- function(value, first, second) {
  a <- seq(first[[1L]], first[[2L]], length.out = 121L)
  b <- seq(second[[1L]], second[[2L]], length.out = 121L)
  found <- outer(a, b, value)
  third <- rep(1:3, c(40L, 41L, 40L))
  hills <- split(seq_along(found), outer(third, 3L * third, `+`))
  tops <- unlist(lapply(hills, function(at) at[which.max(found[at])]))
  if (length(tops) == 0L) return(NA_real_)
  step <- c(a[[2L]] - a[[1L]], b[[2L]] - b[[1L]])
  max(vapply(tops, function(top) {
    climb_range(value, c(a[[row(found)[[top]]]], b[[col(found)[[top]]]]), step, first, second)
  }, 0))
}

climb_range <- function(value, centre, step, first, second, rounds = 6L) {
  near <- function(middle, step, limits) {
    c(middle, seq(
      max(middle - 2 * step, limits[[1L]]), min(middle + 2 * step, limits[[2L]]),
      length.out = 13L
    ))
  }
  for (round in seq_len(rounds)) {
    a <- near(centre[[1L]], step[[1L]], first)
    b <- near(centre[[2L]], step[[2L]], second)
    found <- outer(a, b, value)
    top <- arrayInd(which.max(found), dim(found))
    centre <- c(a[[top[[1L]]]], b[[top[[2L]]]])
    step <- step / 3
  }
  max(found, na.rm = TRUE)
}

# Effective number of raters -------------------------------------------------------------------

# Raters whose errors correlate so much on average, in independent ones; Kish's design effect.
effective_raters <- function(raters, correlation) {
  spread <- 1 + (raters - 1) * correlation
  ifelse(spread > 0, raters / spread, Inf)
}

# A row for each rater: `effective` and `change` are of the panel without the rater.
rater_rows <- function(table, raters, answers, size) {
  m <- length(raters)
  among <- table[table$kind == "raters", ]
  own <- function(value) {
    core_pattern_weights(among$one, value, m) + core_pattern_weights(among$two, value, m)
  }
  others <- function(value) sum(value) - own(value)
  defined <- others(as.double(among$spread > 0)) > 0.5 # what is left of 0 may be rounding
  rest <- ifelse(defined, others(among$covariance) / others(among$spread), NA_real_)
  without <- as.double(if (m < 3L) 1 else effective_raters(size * (m - 1) / m, rest))
  tibble::tibble(
    rater = raters,
    n = core_pattern_weights(answers$judge, answers$weight, answers$judges)[seq_len(m)],
    accuracy = na_real(right_rates(answers)[seq_len(m)]),
    correlation = na_real(own(among$covariance) / own(among$spread)), effective = without,
    change = without - effective_raters(size, mean_correlation(among))
  )
}

# The sum of covariances by that of products of standard deviations.
mean_correlation <- function(pairs) {
  total <- sum(pairs$spread)
  if (total > 0) sum(pairs$covariance) / total else NA_real_
}

mean_of_known <- function(x, weight) {
  use <- !is.na(x) & weight > 0
  if (any(use)) stats::weighted.mean(x[use], weight[use]) else NA_real_
}

# What is true of all raters together.
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

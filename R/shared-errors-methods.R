#' Tables and plot of shared errors
#'
#' Results of [shared_errors()], which estimates how often raters and systems (classifiers) are
#' wrong on the same cases: per pair (`tidy()`), per rater (`tidy(x, "raters")`) and for all raters
#' together (`glance()`). The *effective number of raters* is the number of raters with independent
#' errors whose mean would have the same variance as the mean of the actual raters.
#'
#' @param x A [shared_errors()] result.
#' @param digits Number of decimals, by default 2.
#' @param ... For `as.data.frame()`, passed on to `tidy()`; otherwise not used.
#' @return `tidy()`: a tibble with a row per pair of raters and systems.
#'   * `rater1`, `rater2`: names of raters or systems.
#'   * `kind`: `"raters"`, `"rater and system"` or `"systems"`.
#'   * `n`: number of cases that both answered; `known`: number of these cases with known truth.
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: correlation of the binary variables "is
#'     right" over the cases with known truth (phi coefficient), in \[-1, 1\], with standard error
#'     and interval.
#'   * `lowest`, `highest`: range of the correlation that the ratings allow; `NA` if any truth is
#'     known.
#'   * `both_wrong`: number of cases with known truth on which both are wrong.
#'   * `coinciding`: share of these cases with equal answers; `expected`: this share if wrong
#'     answers are independent given the truth; `surplus`: `coinciding - expected`.
#'   * `reason`: why a value is `NA`.
#'
#'   `tidy(x, "raters")`: a row per rater. Without known truth, `accuracy` to `change` are `NA`.
#'   * `rater`: name of the rater.
#'   * `n`: number of its cases with known truth; `accuracy`: on these cases.
#'   * `correlation`: mean correlation of its errors with the errors of the other raters.
#'   * `effective`: effective number of raters if this rater is left out; `change`: `effective`
#'     minus the effective number of all raters.
#'
#'   `glance()`: a tibble with one row.
#'   * `raters`, `systems`, `n`, `known`: numbers of raters, systems, cases, and cases with known
#'     truth.
#'   * `raters_per_case`: mean number of ratings per case.
#'   * `correlation`, `conf.low`, `conf.high`: mean correlation over pairs of raters, with its
#'     interval.
#'   * `effective`, `effective.low`, `effective.high`: effective number of raters, with its
#'     interval.
#'   * `lowest`, `highest`, `effective.lowest`, `effective.highest`: ranges of the mean
#'     correlation and of the effective number that the ratings allow if no truth is known.
#'   * `surplus`: mean of column `surplus` over pairs of raters, weighted by `both_wrong`.
#'   * `conf_level`: confidence level of the intervals.
#'
#'   `as.matrix()`: the matrix of correlations between raters and systems. `format()`: a string with
#'   the mean correlation and the effective number of raters. `autoplot()`: a ggplot. With known
#'   truth, it is a heat map of the correlations of errors. Otherwise it shows the possible range of
#'   each correlation, for at most 40 pairs.
#' @family shared errors
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300))
#' errors <- shared_errors(x)
#' # A row per pair
#' tidy(errors)
#' # The matrix of correlations
#' as.matrix(errors)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(errors)
#' @name tidy.shared_errors
NULL

# Makes the result of shared_errors().
# * pairs: table of the pairs with a common case. tidy() adds the other pairs.
# * raters: table of raters.
# * about: list of results for all raters together, from panel_summary().
# * counts: list of the numbers of raters, systems, cases and cases with known truth.
# * judges: names of raters, then of systems.
new_shared_errors <- function(pairs, raters, about, counts, options, judges) {
  facts <- c(counts, about, conf_level = options$conf_level)
  has_truth <- facts$known > 0
  line <- correlation_line(facts)
  better_without <- raters$rater[which(raters$change > 0)]
  n_without_case <- length(judges) * (length(judges) - 1) / 2 - nrow(pairs)
  new_result("shared_errors",
    tables = list(pairs = pairs_of_all, raters = raters), facts = facts, pairs = pairs,
    options = options, judges = judges, counts = counts, line = line,
    head = c(toString(c(
      count_noun(facts$raters, "rater"), count_noun(facts$systems, "system"),
      count_noun(facts$n, "case"),
      if (has_truth) paste(number(facts$known), "with known truth") else "no known truth"
    )), line),
    shown = pairs_to_print(pairs, has_truth, options$conf_level),
    notes = c(
      options$silent,
      if (n_without_case > 0) paste(count_noun(n_without_case, "pair"), "without a common case"),
      if (!has_truth) paste0(
        "No truth is known, so only ranges are shown. Assumed: accuracies are within ",
        limits_in_words(options$limits),
        if (options$coinciding < 1) paste0(
          ", and at least ", format_decimals(options$coinciding, 2L),
          " of the cases on which two are wrong have the same wrong answer"
        )
      ),
      if (isTRUE(facts$surplus > 0.005)) paste(
        "When two raters are both wrong, they give the same answer",
        format_decimals(100 * facts$surplus, 1L), "percentage points more often than by chance"
      ),
      if (length(better_without) > 0L) paste(
        "The effective number of raters is higher without", shorten(better_without, most = 4L)
      )
    ),
    more = "tidy(what = \"raters\"), glance(), plot()"
  )
}

#' @rdname tidy.shared_errors
#' @export
as.matrix.shared_errors <- function(x, ...) {
  n <- length(x$judges)
  check_pair_numbers(n, 2)
  correlations <- matrix(NA_real_, n, n, dimnames = list(x$judges, x$judges))
  diag(correlations) <- 1
  cells <- cbind(x$pairs$one, x$pairs$two)
  correlations[cells] <- correlations[pick_columns(cells, 2:1)] <- x$pairs$estimate
  correlations
}

#' @rdname tidy.shared_errors
#' @export
format.shared_errors <- function(x, digits = 2L, ...) {
  correlation_line(attr(x, "schema")$facts, check_digits(digits))
}

correlation_line <- function(facts, digits = 2L) {
  limits_words <- function(low, high) if (!is.na(low)) format_limits(low, high, digits)
  format_estimates <- function(value, low, high) {
    paste0(format_decimals(value, digits), if (!is.na(low)) {
      sprintf(" (%s %s)", interval_title(facts$conf_level), limits_words(low, high))
    })
  }
  if (facts$known > 0) {
    correlation_words <- format_estimates(facts$correlation, facts$conf.low, facts$conf.high)
    effective_words <- format_estimates(facts$effective, facts$effective.low, facts$effective.high)
  } else {
    correlation_words <- limits_words(facts$lowest, facts$highest)
    effective_words <- if (isTRUE(facts$effective.highest > facts$raters_per_case)) {
      paste("at least", format_decimals(facts$effective.lowest, digits))
    } else {
      limits_words(facts$effective.lowest, facts$effective.highest)
    }
  }
  paste0(
    "The raters' errors correlate by ", correlation_words, " on average; ",
    format(round(facts$raters_per_case, 1L)), " raters are equivalent to ", effective_words,
    " independent ones"
  )
}

# Returns the table of pairs for print(), with the largest absolute correlations first, but pairs
# with fewer than 10 common cases with known truth last. Without known truth, the table shows the
# range that the ratings allow.
pairs_to_print <- function(pairs, has_truth, level) {
  absolute_correlation <- abs(replace_na(pairs$estimate, 0))
  has_few_cases <- has_truth & pairs$known < 10
  shown_pairs <- pairs[head(order(has_few_cases, -absolute_correlation), max_view_rows), ]
  shown_pairs$pair <- paste(shown_pairs$rater1, "-", shown_pairs$rater2)
  if (has_truth) {
    shown_pairs$interval <- format_limits(shown_pairs$conf.low, shown_pairs$conf.high, 2L)
    columns <- c("pair", correlation = "estimate", setNames("interval", interval_title(level)),
      # With two categories, all wrong answers are equal. Then `expected` is 1.
      if (any(pairs$expected < 1, na.rm = TRUE)) {
        c(`same wrong answer` = "coinciding", `by chance` = "expected")
      }, cases = "known")
  } else {
    shown_pairs$interval <- format_limits(shown_pairs$lowest, shown_pairs$highest, 2L)
    columns <- c("pair", `correlation, without truth` = "interval", cases = "n")
  }
  view(shown_pairs, columns, c(2L, known = 0L), most = 12L, total = nrow(pairs))
}

limits_in_words <- function(limits) format_limits(min(limits[, 1L]), max(limits[, 2L]), 2L)

# Shared errors if the truth is known: correlations, and the effective number of raters.

# Lists all answers to cases with known truth. `cells`: rows of known_cells(). A cell is a group of
# cases with the same pattern of ratings and the same truth. Returns a list. Fields with an element
# per answer:
# * row: number of the cell.
# * judge: number of the rater; systems are numbered after the raters.
# * right: is the answer right?
# * weight: number of cases in the cell.
#
# Other fields:
# * judges: number of raters and systems.
# * cells: weight of each cell.
known_answers <- function(x, cells) {
  rating_index <- rating_positions(x, cells$pattern)
  system_answers <- pick_rows(pattern_answers(x), cells$pattern)
  answered <- which(system_answers > 0L)
  row <- c(
    rep.int(row_numbers(cells), pattern_lengths(x)[cells$pattern]), row(system_answers)[answered]
  )
  category <- c(rating_category(x)[rating_index], system_answers[answered])
  list(
    row = row,
    judge = c(rating_rater(x)[rating_index], n_raters(x) + col(system_answers)[answered]),
    right = category == cells$truth[row], weight = cells$weight[row],
    judges = n_raters(x) + n_systems(x), cells = cells$weight
  )
}

# Adds tied reruns to `answers`, which contains only votes. The reruns of a rater on a case together
# count as one answer, so two different reruns are half right. `runs`: result of known_answers()
# with all reruns.
add_tied_runs <- function(answers, runs) {
  run_key <- paste(runs$row, runs$judge)
  runs$weight <- runs$weight / count_equal_at_first(run_key)[match(run_key, run_key)]
  is_tied <- !run_key %in% paste(answers$row, answers$judge)
  columns <- c("judge", "right", "weight")
  answers[columns] <- Map(c, answers[columns], lapply(runs[columns], `[`, is_tied))
  answers
}

# Returns the correlation of being right (the phi coefficient) for each pair, and its standard error
# for one case. For n cases, the standard error is divided by sqrt(n). `share`: shares of the common
# cases with known truth, a matrix with a row per pair. The four columns: both are right, only the
# first, only the second, neither.
phi_of_shares <- function(share) {
  # a, b: accuracies of the first and the second rater. score1, score2: standardised values of "is
  # right".
  a <- share[, 1L] + share[, 2L]
  b <- share[, 1L] + share[, 3L]
  score1 <- cbind(1 - a, 1 - a, -a, -a) / sqrt(bernoulli_variance(a))
  score2 <- cbind(1 - b, -b, 1 - b, -b) / sqrt(bernoulli_variance(b))
  phi <- rowSums(share * score1 * score2)
  influence <- score1 * score2 - phi * (score1^2 + score2^2) / 2
  list(phi = phi, error = sqrt(rowSums(share * influence^2)))
}

no_common_truth <- "no common case has a known truth"

# Adds the correlation of each pair, its standard error, its interval and the reason for missing
# values to the table of pairs. Also adds columns covariance and spread. For a pair with n common
# cases, covariance is n times the covariance of being right. spread is n times the product of the
# standard deviations.
# * pairs: result of core_shared_pairs().
# * mean: share of right answers of each rater over all of its cases. Means over the common cases
#   are not used, because in a crowd two raters have few common cases, and these means are often 1.
# * weights_are_numbers: are weights numbers of cases? If they are probabilities, there is no number
#   of cases and no standard error.
add_correlations <- function(table, pairs, mean, weights_are_numbers) {
  columns <- c("known", "both_wrong", "coinciding", "expected", "surplus")
  table[columns] <- pairs[columns]
  known <- table$known
  only_first <- pairs$one_right - pairs$both_right
  share <- cbind(pairs$both_right, only_first, pairs$two_right - pairs$both_right,
    known - only_first - pairs$two_right) / known
  correlations <- phi_of_shares(share)
  has_error <- !is.na(correlations$error) & correlations$error > 1e-9
  # If a cell is empty, one case is added to each cell. Otherwise the standard error would be much
  # too small, for example if no case is wrong in both.
  one_case <- rowSums(share == 0) > 0
  filled_share <- (share * known + one_case) / (known + 4 * one_case)
  std_error <- phi_of_shares(filled_share)$error / sqrt(known)
  table$estimate <- na_real(clamp(correlations$phi, -1, 1)) # removes rounding errors
  if (weights_are_numbers) table$std.error[has_error] <- std_error[has_error]
  table[limit_columns] <- fisher_limits(table$estimate, table$std.error, table$conf_level)
  table$reason <- if (weights_are_numbers) NA_character_ else
    paste0(no_interval_prefix, "weights are not counts, so there is no number of cases")
  table$reason[!has_error] <- paste0(no_interval_prefix, "the correlation is exactly 1 or -1")
  table$reason[is.na(table$estimate)] <- "one of the two is always right or always wrong"
  table$reason[known == 0] <- no_common_truth
  # Accuracies of the first and the second rater of each pair.
  a <- mean[table$one]
  b <- mean[table$two]
  covariances <- rowSums(share * cbind((1 - a) * (1 - b), -(1 - a) * b, -a * (1 - b), a * b))
  spreads <- sqrt(bernoulli_variance(a) * bernoulli_variance(b))
  table$covariance <- ifelse(known > 0, known * covariances, 0)
  table$spread <- ifelse(known > 0, known * spreads, 0)
  table
}

# Returns confidence limits of correlations, computed on Fisher's z scale: a matrix with two
# columns.
fisher_limits <- function(estimate, error, conf_level) {
  tanh(atanh(estimate) + outer(normal_quantile(conf_level) * error / (1 - estimate^2), c(-1, 1)))
}

# Returns the share of right answers of each rater and system. `answers`: result of known_answers().
right_rates <- function(answers) {
  sum_by_judge <- function(value) core_pattern_weights(answers$judge, value, answers$judges)
  sum_by_judge(answers$weight * answers$right) / sum_by_judge(answers$weight)
}

mean_of_known <- function(x, weight) {
  is_used <- !is.na(x) & weight > 0
  na_real(weighted.mean(x[is_used], weight[is_used]))
}

# Returns a list of results for all raters together: the mean correlation, the effective number of
# raters, and their intervals or ranges. `raters`: number of raters. `mean_ratings`: mean number of
# ratings per case.
panel_summary <- function(rater_pairs, answers, raters, mean_ratings) {
  mean_rho <- mean_correlation(rater_pairs)
  # The mean is a ratio of two sums over pairs: covariances, and products of standard deviations.
  # Its standard error is computed from the influence of each case on the two sums.
  interval <- c(NA_real_, NA_real_)
  if (any_known(rater_pairs$std.error) && !is.na(mean_rho)) {
    accuracy <- right_rates(answers)
    is_of_rater <- answers$judge <= raters
    judge <- answers$judge[is_of_rater]
    row <- answers$row[is_of_rater]
    sum_by_cell <- function(value) core_pattern_weights(row, value, length(answers$cells))
    deviation <- answers$right[is_of_rater] - accuracy[judge]
    spread <- sqrt(bernoulli_variance(accuracy))[judge]
    squares <- ifelse(spread > 0, deviation^2 / spread, 0) * (sum_by_cell(spread)[row] - spread)
    influence <- (sum_by_cell(deviation)^2 - sum_by_cell(deviation^2)) / 2 -
      mean_rho * sum_by_cell(squares) / 2
    error <- sqrt(sum(answers$cells * influence^2)) / sum(rater_pairs$spread)
    if (error >= 1e-9) {
      interval <- fisher_limits(mean_rho, error, rater_pairs$conf_level[[1L]])
    }
  }
  lowest <- mean_of_known(rater_pairs$lowest, rater_pairs$n)
  highest <- mean_of_known(rater_pairs$highest, rater_pairs$n)
  effective_at <- function(correlation) effective_raters(mean_ratings, correlation)
  list(
    raters_per_case = mean_ratings, correlation = mean_rho, conf.low = interval[[1L]],
    conf.high = interval[[2L]], effective = effective_at(mean_rho),
    effective.low = effective_at(interval[[2L]]), effective.high = effective_at(interval[[1L]]),
    lowest = lowest, highest = highest, effective.lowest = effective_at(highest),
    effective.highest = effective_at(lowest),
    surplus = mean_of_known(rater_pairs$surplus, rater_pairs$both_wrong)
  )
}

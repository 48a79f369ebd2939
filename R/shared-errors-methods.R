#' Tables and plot of shared errors
#'
#' [shared_errors()] estimates how often raters and systems (classifiers) are wrong on the same
#' cases. `tidy()` returns its results for each pair, `tidy(x, "raters")` for each rater, and
#' `glance()` for all raters together. The *effective number of raters* is the number of raters with
#' independent errors whose mean error has the same variance as the mean error of the actual raters.
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
#'   * `coinciding`: share of equal answers among the cases on which both are wrong.
#'   * `expected`: the expected share if wrong answers are independent given the truth.
#'   * `surplus`: `coinciding - expected`.
#'   * `reason`: why a value is `NA`.
#'
#'   `tidy(x, "raters")`: a row per rater. Without known truth, the columns from `accuracy` to
#'   `change` are `NA`.
#'   * `rater`: name of the rater.
#'   * `n`: number of cases with known truth that the rater rated.
#'   * `accuracy`: accuracy of the rater on these cases.
#'   * `correlation`: mean correlation of the rater's errors with the errors of the other raters.
#'   * `effective`: effective number of raters if this rater is left out; `change`: `effective`
#'     minus the effective number of all raters. Both columns ignore the accuracy of the rater: a
#'     rater who guesses has independent errors. Do not use these columns to choose raters. Compare
#'     the accuracies of the raters. To compare the information in the ratings of each rater, call
#'     [estimate_accuracy()] with known truth on these ratings, such as `ratings[, "rater"]`. Column
#'     `labels` of the printed result contains the number of gold cases that would give the same
#'     standard error without ratings.
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
#'   truth, the plot is a heat map of the correlations of errors. Without known truth, the plot
#'   shows the possible range of each correlation, for at most 40 pairs.
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
#' @usage
#' # tidy(x)
#' # tidy(x, "raters")
#' # glance(x)
#' @name tidy.shared_errors
NULL

# Creates the result of shared_errors().
# * pairs: table of the pairs with a common case. tidy() adds the other pairs.
# * raters: table of raters.
# * panel_results: list of results for all raters together, from panel_summary().
# * counts: list of the numbers of raters, systems, cases and cases with known truth.
# * judges: names of raters, then of systems.
new_shared_errors <- function(pairs, raters, panel_results, counts, options, judges) {
  panel_values <- c(counts, panel_results, conf_level = options$conf_level)
  has_truth <- panel_values$known > 0
  summary_line <- correlation_sentence(panel_values)
  # With many raters (a crowd), most pairs have few common cases. Such pairs are not printed.
  has_many_raters <- counts$raters > max_listed_raters
  printed_pairs <-
    pairs[!has_many_raters | (if (has_truth) pairs$known else pairs$n) >= min_common_cases, ]
  n_hidden_pairs <- length(judges) * (length(judges) - 1) / 2 - nrow(printed_pairs)
  new_result("shared_errors",
    tables = list(pairs = complete_pair_table, raters = raters), facts = panel_values,
    pairs = pairs, options = options, judges = judges, counts = counts, line = summary_line,
    head = c(toString(c(
      count_noun(panel_values$raters, "rater"), count_noun(panel_values$systems, "system"),
      count_noun(panel_values$n, "case"),
      if (has_truth) paste(number(panel_values$known), "with known truth") else "no known truth"
    )), summary_line),
    shown = pairs_to_print(printed_pairs, has_truth, options$conf_level),
    notes = c(
      options$silent,
      if (n_hidden_pairs > 0) paste(count_noun(n_hidden_pairs, "pair"),
        if (!has_many_raters) "without a common case" else paste0("with fewer than ",
          min_common_cases, " common cases", if (has_truth) " of known truth",
          " not shown; see tidy()")),
      if (!has_truth) paste0(
        "No truth is known, so only ranges are shown. Assumed: accuracies are within ",
        format_overall_limits(options$limits),
        if (options$coinciding < 1) paste0(
          ", and at least ", format_decimals(options$coinciding, 2L),
          " of the cases on which two raters are wrong have the same wrong answer"
        )
      ),
      if (isTRUE(panel_values$surplus > 0.005)) paste(
        "When two raters are both wrong, they give the same answer",
        format_decimals(100 * panel_values$surplus, 1L),
        "percentage points more often than by chance"
      )
    ),
    more = "tidy(what = \"raters\"), glance(), plot()"
  )
}

#' @rdname tidy.shared_errors
#' @export
as.matrix.shared_errors <- function(x, ...) {
  n_judges <- length(x$judges)
  check_pair_numbers(n_judges, 2)
  correlations <- matrix(NA_real_, n_judges, n_judges, dimnames = list(x$judges, x$judges))
  diag(correlations) <- 1
  pair_cells <- cbind(x$pairs$one, x$pairs$two)
  correlations[pair_cells] <- correlations[pick_columns(pair_cells, 2:1)] <- x$pairs$estimate
  correlations
}

#' @rdname tidy.shared_errors
#' @export
format.shared_errors <- function(x, digits = 2L, ...) {
  correlation_sentence(attr(x, "schema")$facts, check_digits(digits))
}

correlation_sentence <- function(panel_values, digits = 2L) {
  format_range <- function(low, high) if (!is.na(low)) format_limits(low, high, digits)
  format_estimates <- function(value, low, high) {
    paste0(format_decimals(value, digits), if (!is.na(low)) {
      sprintf(" (%s %s)", interval_title(panel_values$conf_level), format_range(low, high))
    })
  }
  if (panel_values$known > 0) {
    correlation_text <- format_estimates(
      panel_values$correlation, panel_values$conf.low, panel_values$conf.high
    )
    effective_number_text <- format_estimates(
      panel_values$effective, panel_values$effective.low, panel_values$effective.high
    )
  } else {
    correlation_text <- format_range(panel_values$lowest, panel_values$highest)
    effective_number_text <- if (isTRUE(
      panel_values$effective.highest > panel_values$raters_per_case
    )) {
      paste("at least", format_decimals(panel_values$effective.lowest, digits))
    } else {
      format_range(panel_values$effective.lowest, panel_values$effective.highest)
    }
  }
  paste0(
    "The raters' errors correlate by ", correlation_text, " on average; ",
    format(round(panel_values$raters_per_case, 1L)), " raters are equivalent to ",
    effective_number_text, " independent raters"
  )
}

min_common_cases <- 10 # pairs with fewer common cases have hardly any information on shared errors

# Returns the table of pairs for print(). Pairs are sorted by absolute correlation, with the largest
# first. Pairs with fewer than `min_common_cases` common cases with known truth are last. `level`:
# level of the confidence intervals.
pairs_to_print <- function(pairs, has_truth, level) {
  absolute_correlation <- abs(replace_na(pairs$estimate, 0))
  has_few_cases <- has_truth & pairs$known < min_common_cases
  shown_pairs <- pairs[head(order(has_few_cases, -absolute_correlation), max_view_rows), ]
  shown_pairs$pair <- paste(shown_pairs$rater1, "-", shown_pairs$rater2)
  if (has_truth) {
    shown_pairs$interval <- format_limits(shown_pairs$conf.low, shown_pairs$conf.high, 2L)
    shown_columns <- c(
      "pair", correlation = "estimate", setNames("interval", interval_title(level)),
      # With two categories, `expected` is 1 because all wrong answers are equal. The two columns
      # on equal wrong answers are then left out.
      if (any(pairs$expected < 1, na.rm = TRUE)) {
        c(`same wrong answer` = "coinciding", `by chance` = "expected")
      }, cases = "known"
    )
  } else {
    # Without known truth, each pair has a range of correlations that its ratings allow.
    shown_pairs$interval <- format_limits(shown_pairs$lowest, shown_pairs$highest, 2L)
    shown_columns <- c("pair", `correlation, without truth` = "interval", cases = "n")
  }
  view(shown_pairs, shown_columns, c(2L, known = 0L), most = 12L, total = nrow(pairs))
}

format_overall_limits <- function(limits) format_limits(min(limits[, 1L]), max(limits[, 2L]), 2L)

# ---- Correlations and effective number of raters if truths are known -----------------------------

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
  answer_positions <- which(system_answers > 0L)
  row <- c(
    rep.int(row_numbers(cells), pattern_lengths(x)[cells$pattern]),
    row(system_answers)[answer_positions]
  )
  category <- c(rating_category(x)[rating_index], system_answers[answer_positions])
  list(
    row = row,
    judge = c(rating_rater(x)[rating_index], n_raters(x) + col(system_answers)[answer_positions]),
    right = category == cells$truth[row], weight = cells$weight[row],
    judges = n_raters(x) + n_systems(x), cells = cells$weight
  )
}

# Adds tied reruns to `answers`. Reruns are repeated ratings of a case by the same rater. `answers`
# contains only the most frequent category of the reruns, and no answer if reruns are tied. Tied
# reruns are added with weights that sum to the weight of one answer. For example, a right and a
# wrong rerun are half an answer each. `all_runs`: result of known_answers() with all reruns.
add_tied_runs <- function(answers, all_runs) {
  run_key <- paste(all_runs$row, all_runs$judge)
  all_runs$weight <- all_runs$weight / count_at_first_occurrence(run_key)[match(run_key, run_key)]
  is_tied_run <- !run_key %in% paste(answers$row, answers$judge)
  columns <- c("judge", "right", "weight")
  answers[columns] <- Map(c, answers[columns], lapply(all_runs[columns], `[`, is_tied_run))
  answers
}

# Returns a list with an element per pair in each field:
# * phi: the phi coefficient, which is the correlation of the variables "is right".
# * error: standard deviation of the influence of a case on phi. With n cases, the standard error of
#   phi is `error` / sqrt(n).
#
# `shares`: shares of the common cases with known truth, a matrix with a row per pair and four
# columns: both are right, only the first, only the second, neither.
phi_of_shares <- function(shares) {
  # accuracy1, accuracy2: accuracies of the first and the second rater. standardised_right1,
  # standardised_right2: their standardised variables "is right" in the four columns of `shares`.
  accuracy1 <- shares[, 1L] + shares[, 2L]
  accuracy2 <- shares[, 1L] + shares[, 3L]
  standardised_right1 <- cbind(1 - accuracy1, 1 - accuracy1, -accuracy1, -accuracy1) /
    sqrt(bernoulli_variance(accuracy1))
  standardised_right2 <- cbind(1 - accuracy2, -accuracy2, 1 - accuracy2, -accuracy2) /
    sqrt(bernoulli_variance(accuracy2))
  phi <- rowSums(shares * standardised_right1 * standardised_right2)
  influence <- standardised_right1 * standardised_right2 -
    phi * (standardised_right1^2 + standardised_right2^2) / 2
  list(phi = phi, error = sqrt(rowSums(shares * influence^2)))
}

no_common_truth_reason <- "no common case has a known truth"

# Adds the correlation of each pair, its standard error, its interval and the reason for missing
# values to the table of pairs. Also adds the columns `covariance` and `spread`, which
# mean_correlation() needs.
# * pairs: result of core_shared_pairs().
# * right_rates: share of right answers of each rater over all of its cases with known truth.
# * weights_are_numbers: are weights numbers of cases? If they are probabilities, there is no number
#   of cases and no standard error.
add_correlations <- function(table, pairs, right_rates, weights_are_numbers) {
  columns <- c("known", "both_wrong", "coinciding", "expected", "surplus")
  table[columns] <- pairs[columns]
  n_known <- table$known
  n_only_first_right <- pairs$one_right - pairs$both_right
  shares <- cbind(pairs$both_right, n_only_first_right, pairs$two_right - pairs$both_right,
    n_known - n_only_first_right - pairs$two_right) / n_known
  correlations <- phi_of_shares(shares)
  has_positive_std_error <- !is.na(correlations$error) & correlations$error > 1e-9
  # If one of the four `shares` of a pair is 0, one case is added to each of the four groups.
  # Otherwise the standard error would be much too small, for example if both are wrong on no case.
  needs_added_case <- rowSums(shares == 0) > 0
  filled_shares <- (shares * n_known + needs_added_case) / (n_known + 4 * needs_added_case)
  std_error <- phi_of_shares(filled_shares)$error / sqrt(n_known)
  table$estimate <- na_real(clamp(correlations$phi, -1, 1)) # removes rounding errors
  if (weights_are_numbers) table$std.error[has_positive_std_error] <-
    std_error[has_positive_std_error]
  table[limit_columns] <- fisher_limits(table$estimate, table$std.error, table$conf_level)
  table$reason <- if (weights_are_numbers) NA_character_ else
    paste0(no_interval_prefix, "weights are not counts, so there is no number of cases")
  table$reason[!has_positive_std_error] <-
    paste0(no_interval_prefix, "the correlation is exactly 1 or -1")
  table$reason[is.na(table$estimate)] <- "one of the two raters is always right or always wrong"
  table$reason[n_known == 0] <- no_common_truth_reason
  # Accuracies of the first and the second rater of each pair, over all cases with known truth. They
  # are not computed from common cases, because two raters in a crowd are often right in all of
  # their few common cases.
  accuracy1 <- right_rates[table$one]
  accuracy2 <- right_rates[table$two]
  covariances <- rowSums(shares * cbind(
    (1 - accuracy1) * (1 - accuracy2), -(1 - accuracy1) * accuracy2,
    -accuracy1 * (1 - accuracy2), accuracy1 * accuracy2
  ))
  sd_products <- sqrt(bernoulli_variance(accuracy1) * bernoulli_variance(accuracy2))
  # Covariance of the variables "is right", and product of their standard deviations. Both columns
  # are multiplied by the number of common cases with known truth.
  table$covariance <- ifelse(n_known > 0, n_known * covariances, 0)
  table$spread <- ifelse(n_known > 0, n_known * sd_products, 0)
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

weighted_mean_of_known <- function(x, weight) {
  is_used <- !is.na(x) & weight > 0
  na_real(weighted.mean(x[is_used], weight[is_used]))
}

# Returns a list of results for all raters together: the mean correlation, the effective number of
# raters, and their intervals or ranges. `n_raters`: number of raters. `mean_ratings`: mean number
# of ratings per case.
panel_summary <- function(rater_pairs, answers, n_raters, mean_ratings) {
  mean_pair_correlation <- mean_correlation(rater_pairs)
  # The mean is a ratio of two sums over pairs: covariances, and products of standard deviations.
  # Its standard error is computed from the influence of each case on the two sums.
  interval <- c(NA_real_, NA_real_)
  if (any_known(rater_pairs$std.error) && !is.na(mean_pair_correlation)) {
    judge_accuracy <- right_rates(answers)
    is_rater_answer <- answers$judge <= n_raters
    judge <- answers$judge[is_rater_answer]
    row <- answers$row[is_rater_answer]
    sum_by_cell <- function(value) core_pattern_weights(row, value, length(answers$cells))
    deviation <- answers$right[is_rater_answer] - judge_accuracy[judge]
    spread <- sqrt(bernoulli_variance(judge_accuracy))[judge]
    variance_terms <-
      ifelse(spread > 0, deviation^2 / spread, 0) * (sum_by_cell(spread)[row] - spread)
    influence <- (sum_by_cell(deviation)^2 - sum_by_cell(deviation^2)) / 2 -
      mean_pair_correlation * sum_by_cell(variance_terms) / 2
    std_error <- sqrt(sum(answers$cells * influence^2)) / sum(rater_pairs$spread)
    if (std_error >= 1e-9) {
      interval <- fisher_limits(mean_pair_correlation, std_error, rater_pairs$conf_level[[1L]])
    }
  }
  mean_lowest_correlation <- weighted_mean_of_known(rater_pairs$lowest, rater_pairs$n)
  mean_highest_correlation <- weighted_mean_of_known(rater_pairs$highest, rater_pairs$n)
  effective_number_at <- function(correlation) effective_number_of_raters(mean_ratings, correlation)
  list(
    raters_per_case = mean_ratings, correlation = mean_pair_correlation, conf.low = interval[[1L]],
    conf.high = interval[[2L]], effective = effective_number_at(mean_pair_correlation),
    effective.low = effective_number_at(interval[[2L]]),
    effective.high = effective_number_at(interval[[1L]]),
    lowest = mean_lowest_correlation, highest = mean_highest_correlation,
    effective.lowest = effective_number_at(mean_highest_correlation),
    effective.highest = effective_number_at(mean_lowest_correlation),
    surplus = weighted_mean_of_known(rater_pairs$surplus, rater_pairs$both_wrong)
  )
}

#' Tables of shared errors
#'
#' @param x A [shared_errors()] result.
#' @param digits Number of decimals.
#' @param ... For `as.data.frame()`, passed on to `tidy()`; otherwise not used.
#' @return `tidy()`: a tibble with a row per pair of raters and systems: `rater1` and `rater2`,
#'   names of raters or systems; `kind`, `"raters"`, `"rater and system"` or `"systems"`; `n`, the
#'   number of cases that both answered, and `known`, the number of these with known truth;
#'   `estimate`, the correlation of being right, in \[-1, 1\], with `std.error`, `conf.low` and
#'   `conf.high`; `lowest` and `highest`, the range that the ratings allow if no truth is known;
#'   `both_wrong`, the number of cases on which both are wrong; `coinciding`, the share of these
#'   with the same answer, `expected`, the share by chance, and `surplus`, the difference; `reason`,
#'   why a value is `NA`.
#'
#'   `tidy(x, "raters")`: a row per rater: `rater`; `n`, the number of cases with known truth;
#'   `accuracy` on these cases; `correlation`, the mean with the other raters; `effective`, the
#'   effective number of raters without this rater, and `change`, its increase over the number with
#'   the rater.
#'
#'   `glance()`: a tibble with one row: the numbers of `raters` and `systems`, of cases (`n`) and of
#'   cases with known truth (`known`); `raters_per_case`, the mean number; `correlation`, the mean
#'   over pairs of raters, with `conf.low` and `conf.high`; `effective`, the effective number of
#'   raters, with `effective.low` and `effective.high`; `lowest`, `highest`, `effective.lowest` and
#'   `effective.highest`, the ranges that the ratings allow if no truth is known; `surplus`, the
#'   mean over pairs of raters, weighted by cases on which both are wrong; `conf_level`.
#'
#'   `format()`: a sentence. `as.matrix()`: the matrix of correlations between raters and systems.
#' @family shared errors
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), 0.8, 4, n = 300))
#' errors <- shared_errors(x)
#' tidy(errors)
#' as.matrix(errors)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(errors)
#' @name tidy.shared_errors
NULL

# `pairs`: pairs that share a case. `about`: results for all raters together. The table of tidy()
# has a row for every pair and is made on request.
new_shared_errors <- function(pairs, raters, about, counts, options, judges) {
  facts <- c(as.list(counts), as.list(about), conf_level = options$conf_level)
  known <- facts$known > 0
  truth <- if (known) paste(number(facts$known), "with known truth") else "no known truth"
  new_result("shared_errors",
    tables = list(pairs = tidy_pairs, raters = raters), facts = facts, pairs = pairs,
    options = options, judges = judges, counts = counts, line = shared_line(facts),
    head = c(toString(c(
      count_noun(facts$raters, "rater"), count_noun(facts$systems, "system"),
      count_noun(facts$n, "case"), truth
    )), shared_line(facts)),
    shown = view_of_pairs(pairs, known, options$conf_level),
    notes = shared_notes(pairs, raters, facts, options, length(judges)),
    more = "tidy(what = \"raters\"), glance(), plot()"
  )
}

tidy_pairs <- function(x) {
  table <- pairs_of_all(x)
  table[!names(table) %in% c("one", "two", "covariance", "spread", "conf_level")]
}

#' @rdname tidy.shared_errors
#' @export
as.matrix.shared_errors <- function(x, ...) {
  n <- length(x$judges)
  check_pair_numbers(n, 2)
  out <- matrix(NA_real_, n, n, dimnames = list(x$judges, x$judges))
  diag(out) <- 1
  at <- cbind(x$pairs$one, x$pairs$two)
  out[at] <- out[at[, 2:1, drop = FALSE]] <- x$pairs$estimate
  out
}

#' @rdname tidy.shared_errors
#' @export
format.shared_errors <- function(x, digits = 2L, ...) {
  shared_line(attr(x, "schema")$facts, check_digits(digits))
}

shared_line <- function(facts, digits = 2L) {
  between <- function(low, high) if (!is.na(low)) from_to(low, high, digits)
  format_estimates <- function(value, low, high) {
    paste0(decimals(value, digits), if (!is.na(low)) {
      paste0(" (", interval_title(facts$conf_level), " ", between(low, high), ")")
    })
  }
  known <- facts$known > 0
  correlation <- if (known) {
    format_estimates(facts$correlation, facts$conf.low, facts$conf.high)
  } else {
    between(facts$lowest, facts$highest)
  }
  effective <- if (known) {
    format_estimates(facts$effective, facts$effective.low, facts$effective.high)
  } else if (isTRUE(facts$effective.highest > facts$raters_per_case)) {
    paste("at least", decimals(facts$effective.lowest, digits))
  } else {
    between(facts$effective.lowest, facts$effective.highest)
  }
  paste0(
    "The raters' errors correlate by ", correlation, " on average; ",
    format(round(facts$raters_per_case, 1L)), " raters are equivalent to ", effective,
    " independent ones"
  )
}

# Largest correlations first. Without known truth, the ranges that the ratings allow.
view_of_pairs <- function(pairs, known, level) {
  size <- abs(ifelse(is.na(pairs$estimate), 0, pairs$estimate))
  top <- pairs[head(order(-size), longest_view), ]
  top$pair <- paste(top$rater1, "-", top$rater2)
  ends <- top[if (known) c("conf.low", "conf.high") else c("lowest", "highest")]
  top$interval <- from_to(ends[[1L]], ends[[2L]], 2L)
  columns <- if (known) {
    c("pair", correlation = "estimate", setNames("interval", interval_title(level)),
      # With two categories all wrong answers are the same.
      if (any(pairs$expected < 1, na.rm = TRUE)) {
        c(`same wrong answer` = "coinciding", `by chance` = "expected")
      }, cases = "known")
  } else {
    c("pair", `correlation, without truth` = "interval", cases = "n")
  }
  view(top, columns, c(2L, known = 0L), most = 12L, total = nrow(pairs))
}

shared_notes <- function(pairs, raters, facts, options, judges) {
  gain <- which(raters$change > 0)
  unmet <- judges * (judges - 1) / 2 - nrow(pairs)
  c(
    options$silent, if (unmet > 0) paste(count_noun(unmet, "pair"), "without a case in common"),
    if (facts$known == 0) {
      paste0(
        "No truth is known, so the ratings allow a range, if accuracies are within ",
        limits_in_words(options$limits), if (options$coinciding < 1) paste0(
          " and two wrong answers coincide in ", decimals(options$coinciding, 2L),
          " or more of the cases"
        )
      )
    },
    if (isTRUE(facts$surplus > 0.005)) {
      paste0(
        "When two raters are both wrong, they give the same answer ",
        decimals(100 * facts$surplus, 1L), " percentage points more often than by chance"
      )
    },
    if (length(gain) > 0L) {
      paste(
        "The effective number of raters is higher without",
        shorten(raters$rater[gain], most = 4L)
      )
    }
  )
}

limits_in_words <- function(limits) {
  from_to(min(limits[, 1L]), max(limits[, 2L]), 2L)
}

# Shared errors if the truth is known: correlations, and the effective number of raters.

# Every answer to the cells of known truth: `row` of the cell, `judge` (raters, then systems),
# `right` (is it right?) and `weight` of the cell. `judges` is their number, `cells` has the weights
# of all cells.
known_answers <- function(x, cells) {
  at <- ratings_in(x, cells$pattern)
  system <- pattern_answers(x)[cells$pattern, , drop = FALSE]
  given <- which(system > 0L)
  row <- c(rep.int(seq_len(nrow(cells)), pattern_lengths(x)[cells$pattern]), row(system)[given])
  category <- c(rating_category(x)[at], system[given])
  list(
    row = row, judge = c(rating_rater(x)[at], n_raters(x) + col(system)[given]),
    right = category == cells$truth[row], weight = cells$weight[row],
    judges = n_raters(x) + n_systems(x), cells = cells$weight
  )
}

# Shares of the common cases on which both are right, only the first, only the second, neither.
right_shares <- function(pairs) {
  both <- pairs$both_right
  first <- pairs$one_right
  second <- pairs$two_right
  cbind(both, first - both, second - both, pairs$known - first - second + both) / pairs$known
}

# Correlation of each row of shares, and its standard error for one case.
phi_of_shares <- function(share) {
  a <- share[, 1L] + share[, 2L]
  b <- share[, 1L] + share[, 3L]
  u <- cbind(1 - a, 1 - a, -a, -a) / sqrt(a * (1 - a))
  v <- cbind(1 - b, -b, 1 - b, -b) / sqrt(b * (1 - b))
  phi <- rowSums(share * u * v)
  influence <- u * v - phi * (u^2 + v^2) / 2
  list(phi = phi, error = sqrt(rowSums(share * influence^2)))
}

no_common_truth <- "no common case has a known truth"

# Weights that are not counts (`counted`) are probabilities, so that there is no number of cases.
add_correlations <- function(table, share, counted) {
  fitted <- phi_of_shares(share)
  error <- fitted$error / sqrt(table$known)
  known <- !is.na(error) & error > 1e-9
  table$estimate <- na_real(pmin(pmax(fitted$phi, -1), 1)) # rounding errors may exceed it
  if (counted) table$std.error[known] <- error[known]
  table[c("conf.low", "conf.high")] <- fisher_limits(
    table$estimate, table$std.error, table$conf_level
  )
  table$reason <- if (counted) NA_character_ else
    paste0(no_interval, "weights are not counts, so there is no number of cases")
  table$reason[!known] <- paste0(no_interval, "they are right and wrong together")
  table$reason[is.na(table$estimate)] <- "one of the two is always right or always wrong"
  table$reason[table$known == 0] <- no_common_truth
  table
}

# Confidence limits of correlations on Fisher's scale.
fisher_limits <- function(estimate, error, conf_level) {
  half <- normal_quantile(conf_level) * error / (1 - estimate^2)
  tanh(atanh(estimate) + outer(half, c(-1, 1)))
}

# For each pair, n times the covariance of being right, and n times the product of the standard
# deviations. Means are over all cases of a rater. On the few cases that two raters of a crowd have
# in common, one of them is often always right.
add_products <- function(table, share, mean) {
  a <- mean[table$one]
  b <- mean[table$two]
  off <- rowSums(share * cbind((1 - a) * (1 - b), -(1 - a) * b, -a * (1 - b), a * b))
  met <- table$known > 0
  table$covariance <- ifelse(met, table$known * off, 0)
  table$spread <- ifelse(met, table$known * sqrt(a * (1 - a) * b * (1 - b)), 0)
  table
}

right_rates <- function(answers) {
  total <- function(value) core_pattern_weights(answers$judge, value, answers$judges)
  total(answers$weight * answers$right) / total(answers$weight)
}

# Confidence limits of the mean correlation of the raters, from the influence of each case on both
# sums.
mean_correlation_limits <- function(pairs, answers, raters, mean) {
  if (all(is.na(pairs$std.error)) || is.na(mean)) return(c(NA_real_, NA_real_))
  rate <- right_rates(answers)
  mine <- answers$judge <= raters
  judge <- answers$judge[mine]
  row <- answers$row[mine]
  sums <- function(value) core_pattern_weights(row, value, length(answers$cells))
  off <- answers$right[mine] - rate[judge]
  spread <- sqrt(rate * (1 - rate))[judge]
  squares <- ifelse(spread > 0, off^2 / spread, 0) * (sums(spread)[row] - spread)
  influence <- (sums(off)^2 - sums(off^2)) / 2 - mean * sums(squares) / 2
  error <- sqrt(sum(answers$cells * influence^2)) / sum(pairs$spread)
  if (error < 1e-9) c(NA_real_, NA_real_) else fisher_limits(mean, error, pairs$conf_level[[1L]])
}

# Names that people have given to ranges of agreement; from the lower bound on.
benchmark_scales <- list(
  "landis-koch" = c(
    poor = -1, slight = 0, fair = 0.2, moderate = 0.4, substantial = 0.6, `almost perfect` = 0.8
  ),
  fleiss = c(poor = -1, `intermediate to good` = 0.4, excellent = 0.75),
  altman = c(poor = -1, fair = 0.2, moderate = 0.4, good = 0.6, `very good` = 0.8)
)

#' Words for values of agreement
#'
#' Benchmark scales call a kappa of .65 "substantial". An estimate has an error, so it belongs to
#' each level only with some probability. As Gwet (2014) proposes, these are computed, and the level
#' reached is the highest for which the probability to be there or above is at least `conf_level`.
#'
#' The probabilities are those of a normal distribution with the estimate as mean and its standard
#' error as standard deviation, cut off at -1 and 1.
#'
#' @param x An [agreement()] result, or a data frame with columns `measure`, `estimate` and
#'   `std.error`.
#' @param scale `"landis-koch"` (Landis and Koch 1977), `"fleiss"` (Fleiss 1981) or `"altman"`
#'   (Altman 1991).
#' @param conf_level The probability, in (0, 1), with which agreement must be at a level or above
#'   for the level to be reached.
#' @param ... Not used.
#' @return A tibble of class `agreement_benchmark` with a row per row of `x` and level, highest
#'   first: the labels of `x`, `estimate`, `scale`, `level`, its `lower` and `upper` bound, its
#'   `membership` and `cumulative` probability, and `reached`, true for the level that is reached.
#'   Without a standard error, and for measures for which the scales were not made, probabilities
#'   are `NA` and `reason` says why: measures that are not corrected for chance (such as percent
#'   agreement), as far as is known those that cannot be negative, and registered ones with another
#'   largest value than 1.
#'
#'   `tidy()`: the same as a tibble and nothing else. `glance()`: a tibble with one row: the numbers
#'   of `measures`, `estimates` and `levels`, the `scale`, how many estimates have `reached` a level
#'   and `conf_level`. `format()`: the levels reached, in a line.
#' @family agreement
#' @references Landis, J. R. and Koch, G. G. (1977). The measurement of observer agreement for
#'   categorical data. *Biometrics*, 33(1), 159--174. \doi{10.2307/2529310}
#'
#'   Fleiss, J. L. (1981). *Statistical Methods for Rates and Proportions*, 2nd edition. Wiley.
#'
#'   Altman, D. G. (1991). *Practical Statistics for Medical Research*. Chapman and Hall.
#'
#'   Gwet, K. L. (2014). *Handbook of Inter-Rater Reliability*, 4th edition, chapter 6. Advanced
#'   Analytics.
#' @examples
#' x <- ratings(fleiss1971, case = case, counts = depression:other)
#' benchmark_agreement(agreement(x))
#' @export
benchmark_agreement <- function(x, scale = c("landis-koch", "fleiss", "altman"),
                                conf_level = default_conf_level(), ...) {
  check_given()
  check_dots_empty(...)
  scale <- check_choice(scale, names(benchmark_scales), "scale")
  conf_level <- check_number(conf_level, "conf_level", 0, 1, open_min = TRUE, open_max = TRUE)
  x <- check_measured(x, rlang::current_env())
  labels <- intersect(c("rater1", "rater2", "category", "measure"), names(x))
  known <- all_measures()
  rows <- lapply(seq_len(max(nrow(x), 1L)), function(i) {
    reason <- why_no_benchmark(known[[x$measure[i]]], x$estimate[i], x$std.error[i])
    levels <- benchmark_row(x$estimate[i], x$std.error[i], scale, conf_level, reason)
    c(lapply(as.list(x)[labels], function(column) rep(column[i], length(levels$level))), levels)
  })
  table <- lapply(stack_tables(rows), utils::head, nrow(x) * length(rows[[1L]]$level))
  new_result_table(list(table), "agreement_benchmark", conf_level = conf_level)
}

# Columns of a data frame that anybody may have edited.
check_measured <- function(x, call) {
  kinds <- if (is.data.frame(x)) {
    number <- function(x) is.numeric(x) || (is.logical(x) && all(is.na(x)))
    c(
      measure = is.character(x[["measure"]]) || is.factor(x[["measure"]]),
      estimate = number(x[["estimate"]]),
      std.error = number(x[["std.error"]]) && !any(x[["std.error"]] < 0, na.rm = TRUE)
    )
  }
  if (!all(kinds, is.data.frame(x))) {
    abort_argument("x", "must be an {.fun agreement} result, or a data frame with columns
                         {.val measure}, {.val estimate} and {.val std.error}.",
      x = c(
        if (!is.data.frame(x)) "It is {describe(x)}.",
        if (!all(kinds)) "Missing, or not names and numbers: {.val {names(kinds)[!kinds]}}."
      ), call = call)
  }
  x$measure <- as.character(x$measure)
  x$estimate <- as.double(x$estimate)
  x$std.error <- as.double(x$std.error)
  x
}

# `measure` is NULL where it is not known. Levels are words for values from -1 to 1.
why_no_benchmark <- function(measure, estimate, error) {
  if (isTRUE(measure$lower >= 0)) {
    "not corrected for chance"
  } else if (!isTRUE((measure$upper %||% 1) == 1)) {
    paste0("values go up to ", format(measure$upper), ", those of the scale to 1")
  } else if (is.na(estimate) || is.na(error)) {
    "no standard error"
  } else if (stats::pnorm(1, estimate, error) - stats::pnorm(-1, estimate, error) < 1e-8) {
    "the estimate is far from all levels"
  } else {
    NA_character_
  }
}

benchmark_row <- function(estimate, error, scale, conf_level, reason) {
  if (!is.na(reason)) error <- NA_real_
  lower <- rev(benchmark_scales[[scale]])
  upper <- c(1, lower[-length(lower)])
  below <- function(at) stats::pnorm(at, estimate, error)
  membership <- (below(upper) - below(lower)) / (below(1) - below(-1))
  cumulative <- cumsum(membership)
  n <- length(lower)
  list(
    estimate = rep(estimate, n), scale = rep(scale, n), level = names(lower),
    lower = unname(lower), upper = unname(upper), membership = unname(membership),
    cumulative = unname(cumulative),
    reached = seq_len(n) %in% which(cumulative >= conf_level)[1L], reason = rep(reason, n)
  )
}

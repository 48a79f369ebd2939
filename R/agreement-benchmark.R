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
#'   Without a standard error, and for measures that are not corrected for chance (such as percent
#'   agreement), for which the scales were not made, probabilities are `NA` and `reason` says why.
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
benchmark_agreement <- function(x, scale = c("landis-koch", "fleiss", "altman"), conf_level = 0.9,
                                ...) {
  check_dots_empty(...)
  scale <- check_choice(scale, names(benchmark_scales), "scale")
  conf_level <- check_number(conf_level, "conf_level", 0, 1, open_min = TRUE, open_max = TRUE)
  if (!is.data.frame(x) || !all(c("measure", "estimate", "std.error") %in% names(x))) {
    abort_fallible("argument", c(
      "{.arg x} must be an {.fun agreement} result, or a data frame with columns {.val measure},
       {.val estimate} and {.val std.error}.",
      "x" = "It is {describe(x)}."
    ), arg = "x", call = rlang::current_env())
  }
  labels <- intersect(c("rater1", "rater2", "category", "measure"), names(x))
  rows <- lapply(seq_len(nrow(x)), function(i) {
    measure <- built_in_measures[[x$measure[[i]]]]
    reason <- if (!is.null(measure) && measure$lower == 0) {
      "not corrected for chance"
    } else if (is.na(x$std.error[[i]])) {
      "no standard error"
    }
    error <- if (is.null(reason)) x$std.error[[i]] else NA_real_
    levels <- benchmark_row(x$estimate[[i]], error, scale, conf_level, reason %||% NA_character_)
    c(lapply(as.list(x)[labels], function(column) rep(column[[i]], length(levels$level))), levels)
  })
  table <- stack_tables(rows)
  tibble::new_tibble(
    table, nrow = length(table$level), class = "agreement_benchmark", conf_level = conf_level
  )
}

benchmark_row <- function(estimate, error, scale, conf_level, reason) {
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

#' @export
print.agreement_benchmark <- function(x, ...) {
  if (!all(c("measure", "level", "cumulative", "reached") %in% names(x))) {
    return(NextMethod())
  }
  cat_lines(paste0(
    "<agreement_benchmark> scale ", x$scale[[1L]], ": the highest level that agreement is at or ",
    "above with probability ", format(attr(x, "conf_level"))
  ))
  cat("\n")
  labels <- intersect(c("rater1", "rater2", "category", "measure"), names(x))
  each <- keys(x[labels])
  first <- !duplicated(each)
  reached <- match(unique(each), ifelse(x$reached, each, NA))
  out <- as.data.frame(lapply(x[first, labels], format))
  out$estimate <- decimals(x$estimate[first])
  out$level <- ifelse(is.na(reached), x$reason[first], x$level[reached])
  out$probability <- ifelse(is.na(reached), "", decimals(x$cumulative[reached]))
  print(out, row.names = FALSE, right = FALSE)
  cat_lines("", "All levels: as.data.frame().")
  invisible(x)
}

#' @export
tbl_sum.agreement_benchmark <- function(x, ...) c("Benchmark" = paste(nrow(x), "x", ncol(x)))

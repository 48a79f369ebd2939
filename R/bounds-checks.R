# What is assumed of raters and base rates for bounds given the ratings alone: limits as matrices,
# with columns for the lower and the upper.

check_assumed <- function(assumed, x) {
  raters <- if (has_counts(x)) "all ratings" else x$raters
  out <- list(
    rater_accuracy = as_limits(assumed$rater_accuracy, raters, "rater_accuracy", "rater") %||%
      whole_range(raters),
    better_than_chance = check_flag(assumed$better_than_chance, "better_than_chance"),
    base_rates = as_limits(assumed$base_rates, x$categories, "base_rates", "category")
  )
  check_rates_possible(out$base_rates)
  out$error_correlation <- check_error_correlation(assumed$error_correlation, out$rater_accuracy, x)
  out
}

whole_range <- function(names) {
  matrix(
    rep(0:1, each = length(names)), length(names),
    dimnames = list(names, c("lower", "upper"))
  )
}

check_rates_possible <- function(base_rates) {
  if (is.null(base_rates)) return(invisible())
  abort_argument_if(sum(base_rates[, 1L]) > 1 + 1e-6 || sum(base_rates[, 2L]) < 1 - 1e-6,
    "base_rates", "The limits of {.arg base_rates} must allow base rates that sum to one.",
    x = "The lower sum to {decimals(sum(base_rates[, 1L]))}, the upper to
        {decimals(sum(base_rates[, 2L]))}.")
}

check_error_correlation <- function(limits, accuracy, x) {
  if (is.null(limits)) return(NULL)
  if (length(limits) == 1L) limits <- c(-1, limits)
  ok <- is.numeric(limits) && length(limits) == 2L && !anyNA(limits) && all(abs(limits) <= 1) &&
    limits[[1L]] <= limits[[2L]]
  abort_argument_if(!ok, "error_correlation",
    "must be one number in [-1, 1], or a lower and an upper one.", not = limits)
  complete <- rates_once(x) &&
    all(pattern_lengths(x)[pattern_weights(x) > 0] %in% c(0L, length(x$raters)))
  abort_argument_if(any(accuracy[, 1L] != accuracy[, 2L]) || !complete, "error_correlation",
    "A limit of {.arg error_correlation} needs fixed accuracies, and raters who rated all cases.",
    x = if (complete) "The accuracies are not fixed." else "Some cases lack a rating, or raters are
        not identified.", i = "Give one accuracy for each rater in {.arg rater_accuracy}.")
  as.double(limits)
}

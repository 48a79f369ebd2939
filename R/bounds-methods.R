#' Tables of bounds
#'
#' @section Breakdown points:
#' Where a system errs on its own its accuracy is column `independent` of an estimate; where it errs
#' with the raters, column `shared`. In between, `independent - c (independent - shared)`, for a
#' share `c` of the distance. The breakdown point of a claim is the largest `c` in \[0, 1\] at which
#' it holds.
#'
#' A breakdown point of 1 means that the claim holds whatever `c`. Accuracy can be lower than
#' `shared` still, where a system errs even on cases that the raters get right; columns `lowest` and
#' `holds_at_lowest` say whether the claim holds at the lowest accuracy. For two systems that is
#' their difference, over cases that both answered: with the same `c` for both, and with a lowest
#' difference that holds but may be below what can be reached.
#'
#' Raters' accuracies are those of the fit behind the estimate, or, if that has one accuracy for
#' all, those of a fit of `rater_model("rater")`. They too assume that raters err independently.
#'
#' @param x An [accuracy_bounds()] result.
#' @param digits Number of decimals.
#' @param ... Not used.
#' @return `tidy()`: a tibble with a row per system: `system`; `lowest` and `highest`, the ends of
#'   the range of its accuracy, probabilities; `conf.low` and `conf.high`, the confidence set of the
#'   range; `shared`, its accuracy if it shares all errors of the raters; `n`, the number of its
#'   cases that raters saw; `reason`, why something is `NA`.
#'
#'   `tidy(x, "breakdown", better_than =, systems = NULL)`, how much shared errors a claim survives,
#'   for bounds of an estimate with columns `shared` and `independent`. The claim is that the
#'   `systems` (names; `NULL` for all others) are better than `better_than`: an accuracy in
#'   \[0, 1\], or the name of a rater or of a system. A row per system: `system`; `better_than`;
#'   `independent` and `shared`, its accuracy at both ends less what it is claimed to be better
#'   than; `breakdown`, the largest `c` at which the claim holds, `NA` where it holds for none;
#'   `from`, the smallest, which is above 0 only where `shared` is above `independent`; `lowest`,
#'   the lowest accuracy less what it is compared with; `holds_at_lowest`; `reason`.
#'
#'   `glance()`: a tibble with one row: the numbers of `systems` and cases (`n`, the most that a
#'   system has); `model`, the model that was fitted; `group_size` and `groups`, the least
#'   size of groups of patterns and their number; `interval`, `conf_level`, `replicates` and
#'   `failed`, the most replicates of a system without bounds.
#'
#'   `format()`: a string for each system.
#' @family shared errors
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' estimate <- estimate_accuracy(x, method = "joint", interval = "none")
#' bounds <- accuracy_bounds(estimate, interval = "none")
#' tidy(bounds, "breakdown", better_than = 0.75)
#' tidy(bounds, "breakdown", better_than = "b")
#' @name tidy.accuracy_bounds
NULL

# `x`: the table of bounds, options, fit, failed, groups, differences, assumed, estimate.
new_bounds <- function(x) {
  table <- x$bounds
  drawn <- x$options$interval == "bootstrap"
  table$range <- from_to(table$lowest, table$highest)
  table$set <- from_to(table$conf.low, table$conf.high)
  title <- set_title(x$options$conf_level)
  rlang::inject(new_result("accuracy_bounds",
    tables = list(bounds = x$bounds, breakdown = breakdown_table),
    facts = list(
      systems = nrow(table), n = max(table$n), model = format(x$fit$model),
      group_size = x$options$group_size, groups = x$groups %||% NA_integer_,
      interval = x$options$interval,
      conf_level = if (drawn) x$options$conf_level else NA_real_,
      replicates = if (drawn) x$options$replicates else NA_integer_, failed = max(x$failed)
    ),
    caption = paste("Bounds of the accuracy of", count_noun(nrow(table), "system")),
    head = paste0(
      count_noun(nrow(table), "system"), ", given what the ", format(x$fit$model),
      " says of truth and raters"
    ),
    shown = view(table, c("system", `lowest to highest` = "range",
      if (drawn) stats::setNames("set", title), cases = "n"), left = integer()),
    notes = bounds_notes(x), more = "tidy(), glance(), summary(), plot()",
    !!!x[names(x) != "bounds"]
  ))
}

#' @rdname tidy.accuracy_bounds
#' @export
format.accuracy_bounds <- function(x, digits = 3L, ...) {
  digits <- check_digits(digits)
  table <- tidy(x)
  ends <- from_to(table$conf.low, table$conf.high, digits)
  set <- paste0(" (", set_title(x$options$conf_level), " ", ends, ")")
  paste0(
    printable(table$system), ": ", from_to(table$lowest, table$highest, digits),
    ifelse(is.na(table$conf.low), "", set)
  )
}

set_title <- function(level) paste0(format(100 * level), "% confidence set")

bounds_notes <- function(x) {
  c(
    abstain_note(x$fit$x), paste(
      "If the fit is right about truth and raters, accuracy lies in this range, however many",
      "errors systems and raters share"
    ),
    paste(
      "The fit assumes that raters err independently; where they do not, it is too",
      "sure of the truth, and the range too narrow"
    ),
    reason_notes(
      list(estimate = x$bounds$lowest, reason = x$bounds$reason), x$bounds$system,
      no = "confidence set"
    )
  )
}

#' How much errors in common a claim survives
#'
#' Where a system errs on its own its accuracy is column `independent` of an estimate; where it errs
#' with the raters, column `shared`. In between, `independent - c (independent - shared)`, for a
#' share `c` of the distance that is taken back. The breakdown point of a claim is the largest `c`
#' in \[0, 1\] at which it holds.
#'
#' A breakdown point of 1 means that the claim holds whatever `c`. Accuracy can be lower than
#' `shared` still, where a system errs even on cases that the raters get right; whether the claim
#' holds at the lowest accuracy that [accuracy_bounds()] finds is told besides. For two systems that
#' is their difference, over cases that both answered: with the same `c` for both, and with a lowest
#' difference that holds but may be below what can be reached.
#'
#' Raters' accuracies are those of the fit behind the estimate, or, if that has one accuracy for
#' all, those of a fit of `rater_model("rater")`. They too assume that raters err independently.
#'
#' @param estimate An [estimate_accuracy()] result with columns `shared` and `independent`: methods
#'   `"average"`, `"joint"` and `"shared"` have them, others with robust intervals.
#' @param better_than What the systems are claimed to be better than: an accuracy in \[0, 1\], or
#'   the name of a rater or of a system.
#' @param systems Names of the systems of which it is claimed; `NULL` for all (others).
#' @param bounds An [accuracy_bounds()] result for the same systems, given a fit; `NULL` makes one
#'   from the fit behind the estimate.
#' @return A tibble with a row per system: `system`; `better_than`; `independent` and `shared`, its
#'   accuracy at both ends less what it is claimed to be better than; `breakdown`, the largest `c`
#'   at which the claim holds, `NA` where it holds for none; `from`, the smallest, which is above 0
#'   only where `shared` is above `independent`; `lowest`, the lowest accuracy less what it is
#'   compared with; `holds_at_lowest`, whether the claim holds there; `reason`, why something is
#'   `NA`.
#' @family errors in common
#' @references Manski, C. F. (2003). *Partial identification of probability distributions*.
#'   Springer. \doi{10.1007/b97478}
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.9, b = 0.6), 3, n = 300))
#' estimate <- estimate_accuracy(x, method = "joint", interval = "none")
#' breakdown_point(estimate, better_than = 0.75)
#' breakdown_point(estimate, better_than = "b")
#' @export
breakdown_point <- function(estimate, better_than, systems = NULL, bounds = NULL) {
  check_given()
  call <- rlang::current_env()
  check_estimate(estimate, call)
  than <- check_better_than(better_than, estimate$fit$x, call)
  systems <- check_bounded(systems, estimate$fit$x, call)
  if (than$kind == "system") systems <- setdiff(systems, better_than)
  if (length(systems) == 0L) {
    abort_fallible("system", "There is no system of which {.arg better_than} could be claimed.",
      x = "It names the only one.", system = better_than, call = call)
  }
  bounds <- bounds %||% accuracy_bounds(estimate$fit, interval = "none")
  check_class(bounds, "accuracy_bounds", "bounds", "Make one with {.fun accuracy_bounds}.", call)
  ends <- claim_ends(tidy(estimate), systems, than, estimate$fit)
  claim <- where_claim_holds(ends$independent, ends$shared)
  lowest <- lowest_margin(bounds, systems, than, ends$value)
  tibble::tibble(
    system = systems, better_than = as_label(better_than), independent = ends$independent,
    shared = ends$shared, breakdown = claim$to, from = claim$from, lowest = lowest,
    holds_at_lowest = lowest > 0, reason = claim$reason
  )
}

check_better_than <- function(better_than, x, call) {
  if (is.numeric(better_than)) {
    value <- check_number(better_than, "better_than", 0, 1, call = call)
    return(list(kind = "accuracy", value = value))
  }
  raters <- if (!x$exchangeable) x$raters
  if (!(rlang::is_string(better_than) && better_than %in% c(raters, x$systems))) {
    abort_argument("better_than", "must be an accuracy in [0, 1], or name a rater or a system.",
      not = better_than, i = "They are {.val {c(raters, x$systems)}}.", call = call)
  }
  list(kind = if (better_than %in% x$systems) "system" else "rater", name = better_than)
}

# By how much each system is better at both ends; `value` is what it is compared with, unless that
# moves with the ends.
claim_ends <- function(table, systems, than, fit) {
  mine <- table[match(systems, table$system), ]
  if (than$kind == "system") {
    other <- table[match(than$name, table$system), ]
    return(list(
      independent = mine$independent - other$independent, shared = mine$shared - other$shared,
      value = NA_real_
    ))
  }
  value <- if (than$kind == "rater") accuracy_of_rater(fit, than$name) else than$value
  list(independent = mine$independent - value, shared = mine$shared - value, value = value)
}

accuracy_of_rater <- function(fit, name) {
  if (is.matrix(confusion(fit))) {
    fit <- suppressWarnings(
      fit_raters(fit$x, rater_model("rater")), classes = "fallible_warning"
    )
  }
  sum(base_rates(fit) * diag(confusion(fit)[[name]]))
}

# Which c in [0, 1] keep independent - c (independent - shared) above zero.
where_claim_holds <- function(independent, shared) {
  unknown <- is.na(independent) | is.na(shared)
  independent[unknown] <- shared[unknown] <- NA_real_
  at <- independent / (independent - shared)
  never <- unknown | (independent <= 0 & shared <= 0)
  to <- ifelse(shared > 0, 1, at)
  from <- ifelse(independent > 0, 0, at)
  to[never] <- from[never] <- NA_real_
  reason <- rep(NA_character_, length(at))
  reason[never] <- "the claim does not hold even where errors are independent"
  reason[unknown] <- "the estimate has no range from shared to independent"
  list(from = from, to = to, reason = reason)
}

lowest_margin <- function(bounds, systems, than, value) {
  if (than$kind != "system") {
    table <- tidy(bounds)
    return(table$lowest[match(systems, table$system)] - value)
  }
  vapply(systems, function(system) lowest_difference(bounds, system, than$name), 0,
    USE.NAMES = FALSE)
}

# Of the accuracies of two systems. NA where bounds do not know it.
lowest_difference <- function(bounds, one, two) {
  names <- bounds$table$system
  if (!all(c(one, two) %in% names) || is.null(bounds$differences)) {
    return(NA_real_)
  }
  pairs <- pairs_of_systems(length(names))
  at <- match(c(one, two), names)
  here <- which(pairs[1L, ] == min(at) & pairs[2L, ] == max(at))
  ends <- bounds$differences
  if (at[[1L]] < at[[2L]]) ends$lowest[[here]] else -ends$highest[[here]]
}

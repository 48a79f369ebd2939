# How much errors in common a claim survives: a table of bounds that were made from an estimate.

breakdown_table <- function(x, better_than, systems = NULL) {
  abort_argument_if(is.null(better_than), "better_than",
    "State what systems are claimed to be better than.")
  estimate <- x$estimate
  abort_argument_if(is.null(estimate), "x",
    "These bounds come from ratings or a fit, not from an estimate.",
    i = "Make them from one: {.code accuracy_bounds(estimate_accuracy(x))}.")
  than <- check_better_than(better_than, estimate$fit$x)
  systems <- check_bounded(systems, estimate$fit$x)
  if (than$kind == "system") systems <- setdiff(systems, better_than)
  abort_if(length(systems) == 0L, "system",
    "There is no other system to compare with {.arg better_than}.", x = "It names the only one.",
    system = better_than)
  ends <- claim_ends(tidy(estimate), systems, than, estimate$fit)
  claim <- where_claim_holds(ends$independent, ends$shared)
  lowest <- lowest_margin(x, systems, than, ends$value)
  tibble::tibble(
    system = systems, better_than = as_label(better_than), independent = ends$independent,
    shared = ends$shared, breakdown = claim$to, from = claim$from, lowest = lowest,
    holds_at_lowest = lowest > 0, reason = claim$reason
  )
}

check_better_than <- function(better_than, x) {
  if (is.numeric(better_than)) {
    value <- check_number(better_than, "better_than", 0, 1)
    return(list(kind = "accuracy", value = value))
  }
  judges <- c(named_raters(x), x$systems)
  abort_argument_if(!(rlang::is_string(better_than) && better_than %in% judges),
    "better_than", "must be an accuracy in [0, 1], or name a rater or a system.", not = better_than,
    i = "They are {.val {judges}}.")
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
  if (has_one_matrix(fit)) {
    fit <- suppressWarnings(
      fit_raters(fit$x, rater_model("rater")), classes = "fallible_warning"
    )
  }
  sum(fit$base_rates * diag(confusion(fit)[[name]]))
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
  if (!all(c(one, two) %in% names) || is.null(bounds$differences)) return(NA_real_)
  pairs <- pairs_of_systems(length(names))
  at <- match(c(one, two), names)
  here <- which(pairs[1L, ] == min(at) & pairs[2L, ] == max(at))
  ends <- bounds$differences
  if (at[[1L]] < at[[2L]]) ends$lowest[[here]] else -ends$highest[[here]]
}

# How many shared errors a claim survives: a table of bounds that were made from an estimate.

breakdown_table <- function(x, ..., better_than = NULL, systems = NULL) {
  check_dots_empty(...)
  abort_argument_if(is.null(better_than), "better_than",
    "State what systems are claimed to be better than.")
  abort_argument_if(is.null(x$estimate), "x",
    "These bounds come from ratings or a fit, not from an estimate.",
    i = "Make them from one: {.code accuracy_bounds(estimate_accuracy(x))}.")
  fit <- x$estimate$fit
  value <- claimed_value(better_than, fit)
  systems <- setdiff(check_system_names(systems, fit$x$systems), better_than)
  abort_if(length(systems) == 0L, "system",
    "There is no other system to compare with {.arg better_than}.", x = "It names the only one.",
    system = better_than)
  table <- tidy(x$estimate)
  mine <- table[match(systems, table$system), ]
  other <- if (is.null(value)) {
    table[match(better_than, table$system), ]
  } else {
    list(independent = value, shared = value)
  }
  independent <- mine$independent - other$independent
  shared <- mine$shared - other$shared
  claim <- where_claim_holds(independent, shared)
  lowest <- if (is.null(value)) {
    vapply(systems, lowest_difference, 0, bounds = x, two = better_than, USE.NAMES = FALSE)
  } else {
    x$bounds$lowest[match(systems, x$bounds$system)] - value
  }
  tibble::tibble(
    system = systems, better_than = as_label(better_than), independent, shared,
    breakdown = claim$to, from = claim$from, lowest, holds_at_lowest = lowest > 0,
    reason = claim$reason
  )
}

# The accuracy that systems are claimed to be better than; NULL for another system.
claimed_value <- function(better_than, fit) {
  if (is.numeric(better_than)) return(check_number(better_than, "better_than", 0, 1))
  raters <- named_raters(fit$x)
  judges <- c(raters, fit$x$systems)
  abort_argument_if(!(rlang::is_string(better_than) && better_than %in% judges),
    "better_than", "must be an accuracy in [0, 1], or name a rater or a system.", not = better_than,
    i = "They are {.val {judges}}.")
  if (better_than %in% fit$x$systems) return(NULL)
  if (has_one_matrix(fit)) {
    fit <- suppressWarnings(
      fit_again(fit, model = rater_model("rater")), classes = "fallible_warning"
    )
  }
  sum(fit$base_rates * diag(confusion(fit)[[better_than]]))
}

# Which c in [0, 1] keep independent - c (independent - shared) above zero.
where_claim_holds <- function(independent, shared) {
  unknown <- is.na(independent) | is.na(shared)
  never <- unknown | (independent <= 0 & shared <= 0)
  at <- replace(independent / (independent - shared), never, NA_real_)
  list(
    from = ifelse(independent > 0 & !never, 0, at), to = ifelse(shared > 0 & !never, 1, at),
    reason = first_reason(
      "the estimate has no range from shared to independent" = unknown,
      "the claim does not hold even where errors are independent" = never
    )
  )
}

# Of the accuracies of two systems. NA where bounds do not know it.
lowest_difference <- function(one, two, bounds) {
  names <- bounds$bounds$system
  at <- match(c(one, two), names)
  if (anyNA(at) || is.null(bounds$differences)) return(NA_real_)
  pairs <- pairs_of_systems(length(names))
  here <- which(pairs[1L, ] == min(at) & pairs[2L, ] == max(at))
  ends <- bounds$differences
  if (at[[1L]] < at[[2L]]) ends$lowest[[here]] else -ends$highest[[here]]
}

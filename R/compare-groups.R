# Differences of accuracy between groups of cases, such as two versions of an application. Groups
# have different cases, so each group needs gold cases.

# Differences for all pairs of groups, or from `reference`, for each system.
compare_groups <- function(x, systems, conf_level, simultaneous, reference, refused) {
  x <- unclass(x)
  first <- x[[1L]]
  groups <- names(x)
  refused <- names(Filter(Negate(is.null), refused))
  abort_argument_if(refused, refused[1L], "{.arg {refused[1L]}} is not for comparisons of groups.",
    i = "Compare the systems of one group: {.code x[[\"{groups[[1L]]}\"]]}.")
  systems <- check_system_names(systems, first$table$system)
  if (!is.null(reference)) check_choice(reference, groups, "reference")
  abort_argument_if(length(groups) < 2L, "x", "must have at least two groups to compare.")
  measured <- vapply(x, function(estimate) any(estimate$gold$measured$known), NA)
  abort_argument_if(!any(measured), "x", "must have gold cases in each group.",
    x = "Ratings do not show whether raters judge the groups equally.",
    i = "Label random cases of each group: {.arg known_truth} of {.fun estimate_accuracy}.")
  abort_argument_if(isTRUE(interval_of(first)$gold$anytime), "x",
    "must have other intervals than {.val anytime}, which has none of differences of groups.",
    i = "Estimate with {.code interval = \"corrected\"}.")
  pairs <- if (is.null(reference)) utils::combn(groups, 2L) else
    rbind(setdiff(groups, reference), reference)
  table <- tibble::tibble(
    group1 = rep(pairs[1L, ], each = length(systems)),
    group2 = rep(pairs[2L, ], each = length(systems)), system = rep(systems, ncol(pairs))
  )
  method <- first$options$method
  level <- if (simultaneous) 1 - (1 - conf_level) / nrow(table) else conf_level
  sides <- lapply(x, function(estimate) {
    at <- match(systems, estimate$table$system)
    setNames(lapply(at, group_side, estimate = estimate, level = level), systems)
  })
  differences <- stack_rows(seq_len(nrow(table)), function(i) {
    row <- table[i, ]
    both <- lapply(sides[c(row$group1, row$group2)], `[[`, row$system)
    columns_tibble(!!!difference_of_sides(both, method))
  })
  options <- list(
    method = method, conf_level = conf_level, simultaneous = simultaneous,
    metric = if (is_pass_rate(first)) "pass rate",
    against = if (!is.null(reference)) list(reference = reference)
  )
  gold <- list(settings = first$gold$settings, cases = min(vapply(x, count_gold, 0)))
  new_group_comparison(tibble::tibble(table, differences), x, gold, options)
}

# Measurement of a system in a group: `x`, see correct_mean(), NULL without gold; an interval; and
# the `influence` of cases on the estimate, summed within clusters and named by cluster.
group_side <- function(estimate, s, level) {
  x <- measured_of(estimate$gold, s)
  known <- !is.null(x)
  list(
    x = x, n = estimate$table$n[[s]], lack = estimate$gold$details[s, ],
    interval = if (known) corrected_interval(x, estimate$gold$settings$target, level) else
      result_table(NA),
    influence = if (known && !is.null(estimate$options$given_cluster)) {
      influence_of_clusters(estimate, x, s)
    }
  )
}

# For every case, slope (q - mean(q)) / N; for gold cases, also their deviation divided by their
# number.
influence_of_clusters <- function(estimate, measured, s) {
  evidence <- estimate$gold$evidence
  x <- estimate$fit$x
  part <- gold_part(evidence, evidence$answer[, s] > 0L)
  answer <- evidence$answer[, s, drop = FALSE]
  q <- fill_unrated(predict_answer(evidence$predicted, answer), part$weight)[x$index, 1L]
  weight <- weights_of_cases(x) * (part$weight[, 1L] > 0)[x$index] / measured$cases
  influence <- c(measured$slope * weight * (q - sum(weight * q)), measured$rest / measured$gold)
  cluster <- as_label(estimate$options$given_cluster)[c(seq_along(q), evidence$case)]
  rowsum(influence, cluster)[, 1L]
}

# Difference between two groups; `sides` has their measurements, named by group. The interval is
# that of Zou and Donner (2008), from both intervals and the correlation of errors over common
# clusters.
difference_of_sides <- function(sides, method) {
  first <- sides[[1L]]
  second <- sides[[2L]]
  lack <- stack_rows(list(first$lack, second$lack))
  lacks <- which(!is.na(lack$reason))[1L]
  reason <- if (!is.na(lacks)) paste0(names(sides)[[lacks]], ": ", lack$reason[[lacks]])
  few <- why_no_clusters(first$x) %||% why_no_clusters(second$x) %||% NA_character_
  c(
    difference_of_intervals(first$interval, second$interval, correlation_of_sides(first, second)),
    n = first$n + second$n, method = method, reason = reason %||% few, why = lack$why[lacks]
  )
}

# Correlation of errors over common clusters, shrunk towards 0 like slopes.
correlation_of_sides <- function(first, second) {
  a <- first$influence
  b <- second$influence
  common <- intersect(names(a), names(b))
  if (length(common) == 0L) return(0)
  gold <- min(first$x$gold, second$x$gold)
  size <- sum(a^2) * sum(b^2)
  r <- sum(a[common] * b[common]) / sqrt(size)
  if (size == 0) 0 else r * gold / (gold + prior_cases)
}

difference_of_intervals <- function(a, b, r) {
  reach <- function(a, b) sqrt(a^2 + b^2 - 2 * r * a * b)
  estimate <- a$estimate - b$estimate
  error <- reach(a$std.error, b$std.error)
  list(
    estimate = estimate, std.error = error,
    conf.low = estimate - reach(a$estimate - a$conf.low, b$conf.high - b$estimate),
    conf.high = estimate + reach(a$conf.high - a$estimate, b$estimate - b$conf.low),
    probability = stats::pnorm(estimate / error), correlation = r + 0 * estimate
  )
}

new_group_comparison <- function(table, estimates, gold, options) {
  line <- paste0(
    count_noun(nrow(table), "difference"), " in ", compared_metric(list(options = options)),
    " between ", count_noun(length(estimates), "group"), ", ", estimator_words(estimates[[1L]])
  )
  systems <- length(unique(table$system))
  shown <- tibble::tibble(pair = paste(table$group1, "-", table$group2), table)
  new_result(c("group_comparison", "system_comparison"),
    tables = list(differences = table),
    facts = list(
      groups = length(estimates), systems = systems, differences = nrow(table),
      method = options$method, conf_level = options$conf_level,
      simultaneous = options$simultaneous
    ),
    line = line,
    shown = view(
      shown, c("pair", if (systems > 1L) "system", difference = "estimate", "conf.low", "conf.high",
        `P(first better)` = "probability"),
      c(3L, probability = 2L), options$conf_level, integer()
    ),
    notes = group_comparison_notes(shown, estimates, gold, options),
    more = "tidy(), gate(), plot()", estimates = estimates, gold = gold, options = options
  )
}

group_comparison_notes <- function(table, estimates, gold, options) {
  printed <- estimates[[1L]]$options$interval
  known <- stats::na.omit(table$correlation)
  c(
    reason_notes(table, table$pair),
    if (anyNA(table$estimate)) paste("Whether raters judge a group without gold cases as they",
      "judge the others cannot be seen: label 15 to 25 of its cases"),
    if (options$simultaneous) "The intervals cover all differences at once (Bonferroni)",
    if (gold_intervals[[printed]]$gold$believes) paste0(
      "Differences are those of corrected estimates; the groups print ", printed, " ones: ",
      toString(unlist(lapply(estimates, format)))
    ),
    if (length(known) > 0L) paste0("Intervals: ", compared_metric(list(options = options)),
      " in the ", gold$settings$target, "; errors of groups correlate by ",
      paste(unique(decimals(range(known), 2L)), collapse = " to "))
  )
}

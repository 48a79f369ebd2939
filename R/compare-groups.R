# Differences of accuracy between groups of cases, such as two versions of an application. The cases
# of each group are its own, so gold cases must measure each group.

# Pairs of groups, each system by itself. `reference`: the group that is subtracted from all others.
compare_groups <- function(x, systems, conf_level, simultaneous, reference, refused) {
  refused <- names(Filter(Negate(is.null), refused))
  abort_argument_if(refused, refused[1L], "{.arg {refused[1L]}} is not for comparisons of groups.",
    i = "Compare the systems of one group: {.code x[[\"{names(x)[[1L]]}\"]]}.")
  first <- x[[1L]]
  groups <- names(x)
  systems <- check_system_names(systems, first$table$system)
  if (!is.null(reference)) check_choice(reference, groups, "reference")
  measures <- vapply(x, function(estimate) any(lengths(estimate$gold$measured) > 0L), NA)
  abort_argument_if(length(groups) < 2L, "x", "must have at least two groups to compare.")
  abort_argument_if(!any(measures), "x", "must have gold cases in each group.",
    x = "Ratings do not show whether raters judge the groups equally.",
    i = "Label random cases of each group: {.arg known_truth} of {.fun estimate_accuracy}.")
  abort_argument_if(interval_of(first)$anytime, "x", "must not have anytime intervals, which are not
    derived for differences of groups.", i = "Estimate with {.code interval = \"corrected\"}.")
  at <- utils::combn(length(groups), 2L)
  if (!is.null(reference)) {
    with <- match(reference, groups)
    at <- rbind(setdiff(seq_along(groups), with), with)
  }
  rows <- ncol(at) * length(systems)
  level <- if (simultaneous) 1 - (1 - conf_level) / rows else conf_level
  sides <- lapply(unclass(x), function(estimate) {
    lapply(match(systems, estimate$table$system), group_side, estimate = estimate, level = level)
  })
  columns <- c("group1", "group2", "system", "estimate", interval_columns, "probability",
    "correlation", "n", "method", "reason", "why")
  table <- stack_rows(seq_len(ncol(at)), function(i) {
    pair <- groups[at[, i]]
    stack_rows(seq_along(systems), function(s) {
      columns_tibble(
        group1 = pair[[1L]], group2 = pair[[2L]], system = systems[[s]],
        !!!difference_of_sides(sides[[pair[[1L]]]][[s]], sides[[pair[[2L]]]][[s]], pair),
        method = first$options$method
      )
    })
  })[columns]
  options <- list(
    method = first$options$method, conf_level = conf_level, simultaneous = simultaneous,
    metric = if (is_pass_rate(first)) "pass rate", against = if (!is.null(reference))
      list(reference = reference)
  )
  new_group_comparison(table, unclass(x), sides, options)
}

# What gold measures of a system in a group: `x`, see correct_mean(), NULL for nothing; the interval;
# and the `influence` of cases on the estimate, summed within clusters, whose names it has.
group_side <- function(estimate, s, level) {
  x <- estimate$gold$measured[[s]]
  if (is.null(x)) return(list(n = estimate$table$n[[s]], lack = estimate$gold$details[s, ]))
  target <- estimate$gold$settings$target
  list(
    x = x, n = estimate$table$n[[s]], interval = corrected_interval(x, target, level),
    influence = influence_of_clusters(estimate, s)
  )
}

# Of every case, slope (q - mean(q)) / N; of gold cases, also their deviation by their number.
influence_of_clusters <- function(estimate, s) {
  cluster <- estimate$options$given_cluster
  if (is.null(cluster)) return(NULL)
  evidence <- estimate$gold$evidence
  x <- estimate$fit$x
  measured <- estimate$gold$measured[[s]]
  part <- gold_part(evidence, evidence$answer[, s] > 0L)
  q <- fill_unrated(predict_answer(evidence$predicted, evidence$answer[, s]), part$weight)[x$index]
  weight <- weights_of_cases(x) * (part$weight > 0)[x$index] / measured$cases
  off <- measured$slope * weight * (q - sum(weight * q))
  gold <- evidence$case[(part$weight > 0)[evidence$at]]
  rowsum(c(off, measured$rest / measured$gold), as_label(cluster[c(seq_along(off), gold)]))[, 1L]
}

# The first less the second. The interval is that of Zou and Donner (2008) from both intervals and
# the correlation of errors over common clusters, which few gold cases show badly.
difference_of_sides <- function(one, two, groups) {
  found <- list(n = one$n + two$n, reason = NA_character_, why = NA_character_)
  lacks <- c(is.null(one$x), is.null(two$x))
  if (any(lacks)) {
    lack <- (if (lacks[[1L]]) one else two)$lack
    found$why <- lack$why
    found$reason <- if (lack$why %in% c("no_gold", "not_asked")) {
      lacking <- groups[lacks][[1L]]
      paste0("no gold case in ", lacking, ": whether raters judge it as they judge the other ",
        "group cannot be seen; label 15 to 25 cases of ", lacking)
    } else {
      lack$reason
    }
    found[c("estimate", interval_columns, "probability", "correlation")] <- NA_real_
    return(found)
  }
  r <- correlation_of_sides(one, two)
  found$reason <- lack_of_clusters(one$x) %||% lack_of_clusters(two$x) %||% NA_character_
  c(found, difference_of_intervals(one$interval, two$interval, r))
}

# Drawn towards 0 as slopes are.
correlation_of_sides <- function(one, two) {
  common <- intersect(names(one$influence), names(two$influence))
  if (length(common) == 0L) return(0)
  sizes <- sqrt(sum(one$influence^2) * sum(two$influence^2))
  r <- sum(one$influence[common] * two$influence[common]) / sizes
  gold <- min(one$x$gold, two$x$gold)
  if (is.finite(r)) r * gold / (gold + prior_cases) else 0
}

difference_of_intervals <- function(one, two, r) {
  reach <- function(a, b) sqrt(a^2 + b^2 - 2 * r * a * b)
  estimate <- one$estimate - two$estimate
  error <- reach(one$std.error, two$std.error)
  list(
    estimate = estimate, std.error = error,
    conf.low = estimate - reach(one$estimate - one$conf.low, two$conf.high - two$estimate),
    conf.high = estimate + reach(one$conf.high - one$estimate, two$estimate - two$conf.low),
    probability = stats::pnorm(estimate / error), correlation = r
  )
}

# ---- What is shown ------------------------------------------------------------------------------

new_group_comparison <- function(table, estimates, sides, options) {
  first <- estimates[[1L]]
  gold <- unlist(lapply(sides, lapply, function(side) side$x$gold))
  caption <- paste0(
    count_noun(nrow(table), "difference"), " in ", compared_metric(list(options = options)),
    " between ", count_noun(length(estimates), "group"), ", ", estimator_words(first)
  )
  shown <- table
  shown$pair <- paste(table$group1, "-", table$group2)
  rlang::inject(new_result(c("group_comparison", "system_comparison"),
    tables = list(differences = table),
    facts = list(
      groups = length(estimates), systems = length(unique(table$system)),
      differences = nrow(table), gold = sum(gold), method = options$method,
      conf_level = options$conf_level, simultaneous = options$simultaneous
    ),
    line = caption,
    shown = view(
      shown, c("pair", if (length(unique(table$system)) > 1L) "system", difference = "estimate",
        "conf.low", "conf.high", `P(first better)` = "probability"),
      c(3L, probability = 2L), options$conf_level, integer()
    ),
    notes = group_comparison_notes(table, estimates, options), more = "tidy(), gate(), plot()",
    estimates = estimates, gold = list(settings = first$gold$settings, cases = min(gold)),
    options = options
  ))
}

group_comparison_notes <- function(table, estimates, options) {
  first <- estimates[[1L]]
  printed <- first$options$interval
  known <- stats::na.omit(table$correlation)
  c(
    reason_notes(table, paste(table$group1, "-", table$group2)),
    if (options$simultaneous) "The intervals cover all differences at once (Bonferroni)",
    if (printed != interval_corrected$id) paste0(
      "Differences are those of corrected estimates; the groups print ", printed, " ones: ",
      shorten(paste(names(estimates), vapply(estimates, function(x) {
        toString(decimals(x$table$estimate))
      }, "")))
    ),
    if (length(known) > 0L) paste0(
      "Intervals: ", compared_metric(list(options = options)), " in the ",
      first$gold$settings$target, "; ", if (is.null(first$options$given_cluster))
        "groups are independent" else paste("errors of groups with common clusters correlate by",
          paste(unique(decimals(range(known), 2L)), collapse = " to "))
    )
  )
}

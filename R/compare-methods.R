#' Tables of a comparison
#'
#' @return `tidy()`: a tibble with a row per pair of systems, `system1` and `system2`; `estimate`,
#'   the accuracy of the first minus that of the second, in \[-1, 1\]; its `std.error`, `conf.low`
#'   and `conf.high`; `probability` that the first is more accurate; `n`, the number of cases;
#'   `method`; `order_known`; `reason`, why a value is `NA`. `order_known` is for averages without
#'   gold, and `NA` for other estimates. It is `FALSE` if the estimate and the agreement with the
#'   plurality of raters order the two systems differently. It is also `FALSE` if one of the two is
#'   equal for both systems. With a `reference`, `system2` is always the reference. With `best`,
#'   `system1` is one of the best and not the worse of the two.
#'
#'   `tidy(x, "ranks")`: `system`, `rank` (1 is the most accurate), `probability` of this rank and
#'   `known`, whether the order of the system is known in all its pairs. There are no ranks with a
#'   `reference`; with `best`, ranks are those of the best among themselves.
#'
#'   `tidy(x, "sources")`: a row per pair and source: `system1`, `system2`, `interval`
#'   (`"gold alone"`, `"ratings alone"`, or an interval with both), `estimate`, `std.error`,
#'   `conf.low`, `conf.high`, `weight` of gold in the estimate, in \[0, 1\], and `reason`. It has no
#'   rows without gold.
#'
#'   `glance()`: a tibble with one row: numbers of `systems`, `pairs` and `cases`; `left_out`, the
#'   number of cases that not all systems answered; `best`, the system with the highest
#'   `probability` to be most accurate, `NA` with a `reference`; `method`, `conf_level`,
#'   `simultaneous`.
#'
#'   `format()`: the most accurate system with its probability; or the number of systems that differ
#'   from the reference by more than their intervals.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.75, c = 0.5)))
#' comparison <- compare_systems(x, method = "unbinned", resampling = list(replicates = 200))
#' tidy(comparison)
#' glance(comparison)
#' @name tidy.system_comparison
NULL

# `x`: the tables differences, ranks, sources (or NULL) and accuracy; left_out, gold (or NULL) and
# options.
new_comparison <- function(x) {
  options <- x$options
  against <- options$against
  table <- x$differences
  ranked <- nrow(x$ranks) > 0L
  many <- is.null(against) && nrow(table) > most_pairs_shown
  first <- x$ranks[x$ranks$rank == 1L, ]
  none <- nrow(first) == 0L || anyNA(first$probability)
  leader <- if (none) NA_integer_ else which.max(first$probability)
  facts <- list(
    systems = nrow(x$accuracy), pairs = nrow(table), cases = table$n[[1L]],
    left_out = x$left_out, best = first$system[leader], probability = first$probability[leader],
    method = options$method, conf_level = options$conf_level,
    simultaneous = options$simultaneous
  )
  line <- comparison_line(x, facts)
  pairs <- view_of_pairs_compared(x)
  head <- paste0(line, "; ", options$words)
  inject(new_result("system_comparison",
    tables = c(x[c("differences", "ranks")], list(sources = x$sources %||% no_pair_sources)),
    facts = facts, line = line,
    head = c(head, if (!is.null(against$best) && !all(is.na(table$conf.low))) against_words(x)),
    shown = drop_null(list(
      if (ranked) view_of_ranks(x, many), if (!many) pairs
    )),
    document = pairs,
    notes = comparison_notes(x),
    more = paste0(
      "tidy()", if (many) paste(" (all", number(nrow(table)), "pairs)"),
      if (ranked) ", tidy(what = \"ranks\")", ", glance(), plot()"
    ),
    !!!x[setdiff(names(x), c("differences", "ranks", "sources"))]
  ))
}

comparison_line <- function(x, facts) {
  against <- x$options$against
  systems <- paste0(
    count_noun(facts$systems, "system"), " on the same ", count_noun(facts$cases, "case")
  )
  if (!is.null(against$reference)) return(printable(paste0(against_words(x), ", of ", systems)))
  if (is.na(facts$best)) {
    return(paste0("unknown which of ", systems, " is best (", x$differences$reason[[1L]], ")"))
  }
  paste0(
    printable(facts$best), " is ", best_by(x), " with probability ",
    decimals(facts$probability, 2L), ", of ",
    if (!is.null(against)) paste("the", number(against$best), "best of "), systems
  )
}

# Sentence: how many systems differ from the reference, or the best one, beyond their intervals.
against_words <- function(x) {
  reference <- x$options$against$reference
  table <- x$differences
  if (is.null(reference)) {
    leader <- table$system1[[1L]]
    table <- table[table$system1 == leader, ]
    return(paste0(
      leader, ", the best by its estimate, is better than ",
      number(sum(surely_better(x, table), na.rm = TRUE)), " of ",
      count_noun(nrow(table), "other"), " beyond its interval"
    ))
  }
  better <- sum(surely_better(x, table), na.rm = TRUE)
  worse <- sum(surely_better(x, table, "system2"), na.rm = TRUE)
  words <- if (is.null(x$options$metric)) c("more accurate", "less") else c("better", "worse")
  paste0(
    number(better), " ", words[[1L]], " than ", reference, " (",
    decimals(x$accuracy$estimate[x$accuracy$system == reference]), "), ", number(worse), " ",
    words[[2L]], ", ", number(nrow(table) - better - worse), " undecided"
  )
}

most_pairs_shown <- 6L # with more, print() shows differences from the best system

# A row per system with ranks, the best first. `behind`: difference from the best system.
view_of_ranks <- function(x, behind) {
  ranks <- x$ranks
  first <- ranks[ranks$rank == 1L, ]
  value <- x$accuracy$estimate[match(first$system, x$accuracy$system)]
  table <- data.frame(
    system = first$system, value = value, best = first$probability,
    mean = unname(tapply(ranks$rank * ranks$probability, ranks$system, sum)[first$system])
  )
  table <- table[order(if (low_is_good(x)) value else -value), ]
  pairs <- better_first(x$differences)
  leader <- table$system[[1L]]
  other <- ifelse(pairs$system1 == leader, pairs$system2, NA)
  other <- ifelse(pairs$system2 == leader, pairs$system1, other)
  at <- match(table$system, other)
  table$behind <- ifelse(is.na(at), "", decimals(pairs$estimate[at]))
  table[c("conf.low", "conf.high")] <- pairs[at, c("conf.low", "conf.high")]
  view(
    table, c("system", setNames("value", compared_metric(x)), `P(best)` = "best",
      `mean rank` = "mean", if (behind) c("behind", "conf.low", "conf.high")),
    c(3L, best = 2L, mean = 1L), x$options$conf_level, integer(), title = "Systems"
  )
}

view_of_pairs_compared <- function(x) {
  table <- shown_pairs(x)
  table$pair <- paste(table$system1, "-", table$system2)
  view(
    table, c("pair", difference = "estimate", "conf.low", "conf.high",
      `P(first better)` = "probability"),
    c(3L, probability = 2L), x$options$conf_level, integer(),
    title = paste("Differences of", compared_metric(x))
  )
}

# All pairs, the largest differences first; or in the order of comparisons with one system.
shown_pairs <- function(x) {
  if (is.null(x$options$against)) better_first(x$differences) else x$differences
}

# Swaps pairs so that no difference is negative, and sorts them, the largest first.
better_first <- function(table) {
  turn <- which(table$estimate < 0)
  sides <- names(table)[1:2] # systems, or groups
  table[turn, sides] <- table[turn, rev(sides)]
  table[turn, c("conf.low", "conf.high")] <- -table[turn, c("conf.high", "conf.low")]
  table$estimate[turn] <- -table$estimate[turn]
  table$probability[turn] <- 1 - table$probability[turn]
  table[order(-table$estimate), ]
}

comparison_notes <- function(x) {
  table <- x$differences
  pairs <- nrow(table)
  miss <- (1 - x$options$conf_level) * pairs
  has_intervals <- !all(is.na(table$conf.low))
  c(
    if (x$left_out > 0) paste0(
      "Left out, because not all systems answered them: ", count_noun(x$left_out, "case"),
      "; accuracies are for the other cases"
    ),
    reason_notes(table, paste(table$system1, "-", table$system2)),
    unknown_order_note(better_first(table)),
    if (has_intervals && x$options$simultaneous) {
      "The intervals cover all differences at once"
    } else if (has_intervals && pairs > 1L) {
      paste0(
        "Each interval is for one pair: expect ",
        if (miss < 10) decimals(miss, 1L) else number(round(miss)), " of ", number(pairs),
        " to miss; simultaneous = TRUE covers all at once"
      )
    },
    if (!is.null(x$gold)) gold_pair_note(x),
    if (has_intervals) comparison_error_note(x)
  )
}

# Note on pairs that the model and the votes order differently.
unknown_order_note <- function(table) {
  open <- which(!table$order_known)
  if (length(open) == 0L) return(NULL)
  paste0(
    "Ratings do not show which of the two is better (by the model the first, by counting votes",
    " the second, or equal): ",
    shorten(paste(table$system1[open], "-", table$system2[open]), most = 4L)
  )
}

comparison_error_note <- function(x) {
  options <- x$options
  if (!is.null(x$gold)) {
    paste0("Intervals (", options$interval, "): ",
      gold_interval_words(x$gold$settings, options$clusters, paste(compared_metric(x), "in the ")))
  } else if (options$drawn) {
    "Intervals: quantiles of differences of posterior draws"
  } else {
    paste0(
      "Intervals: sampling error", options$allowance, "; ", number(options$replicates),
      " resamples of ",
      if (is.null(options$clusters)) "cases" else count_noun(options$clusters, "cluster"),
      ", the same for all systems"
    )
  }
}

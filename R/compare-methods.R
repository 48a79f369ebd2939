#' Tables of a comparison
#'
#' @return `tidy()`: a tibble with a row per pair of systems: `system1` and `system2`; `estimate`,
#'   the accuracy of the first less that of the second, in \[-1, 1\]; its `std.error`, `conf.low`
#'   and `conf.high`; `probability` that the first is the more accurate; `n`, the number of cases;
#'   `method`; `reason`, why something is `NA`. `tidy(x, "ranks")`: `system`, `rank` (1 is the most
#'   accurate) and `probability` of this rank. `tidy(x, "sources")`: a row per pair and source:
#'   `system1`, `system2`, `interval` (`"gold alone"`, `"ratings alone"`, or an interval with both),
#'   `estimate`, `std.error`, `conf.low`, `conf.high`, `weight` of gold in the estimate, in \[0,
#'   1\], and `reason`; no rows without gold. With a `reference` it is always `system2`, and there
#'   are no ranks; with `best`, `system1` is one of the best and not the worse of the two, and ranks
#'   are those of the best among themselves.
#'
#'   `glance()`: a tibble with one row: numbers of `systems`, `pairs` and `cases`, `left_out`, the
#'   cases that not all systems answered; `best`, the system that is most accurate with the highest
#'   `probability`, `NA` with a `reference`; `method`, `conf_level`, `simultaneous`.
#'
#'   `format()`: which system is most accurate, with which probability; or how many differ from the
#'   reference by more than their intervals.
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.75, c = 0.5)))
#' comparison <- compare_systems(x, method = "unbinned", resampling = list(replicates = 200))
#' tidy(comparison)
#' glance(comparison)
#' @name tidy.system_comparison
NULL

# `x`: differences, ranks, sources (NULL without gold), accuracy, left_out, options, gold.
show_comparison <- function(x) {
  table <- x$differences
  against <- x$options$against
  first <- x$ranks[x$ranks$rank == 1L, ]
  leader <- if (!anyNA(first$probability)) which.max(first$probability)
  facts <- list(
    systems = nrow(x$accuracy), pairs = nrow(table), cases = table$n[[1L]], left_out = x$left_out,
    best = c(first$system[leader], NA)[[1L]],
    probability = c(first$probability[leader], NA)[[1L]], method = x$options$method,
    conf_level = x$options$conf_level, simultaneous = x$options$simultaneous
  )
  line <- comparison_line(x, facts)
  many <- is.null(against) && nrow(table) > most_pairs_shown
  ranked <- nrow(x$ranks) > 0L
  rlang::inject(new_result("system_comparison",
    !!!x[setdiff(names(x), c("differences", "ranks", "sources"))],
    tables = list(
      differences = table, ranks = x$ranks, sources = x$sources %||% no_pair_sources
    ),
    facts = facts, line = line,
    head = c(
      paste0(line, "; ", method_words(x$options$method)),
      if (!is.null(against$best) && !all(is.na(table$conf.low))) against_words(x)
    ),
    shown = drop_null(list(
      if (ranked) view(ranked_systems(x, many), left = integer(), title = "Systems", aside = TRUE),
      if (!many) view_of_differences(x)
    )),
    notes = comparison_notes(x),
    more = paste0(
      "tidy()", if (many) paste(" (all", number(nrow(table)), "pairs)"),
      if (ranked) ", tidy(what = \"ranks\")", ", glance(), plot()"
    )
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

# From which systems the reference, or the best one, differs by more than its interval.
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

most_pairs_shown <- 6L # of more, print() shows the differences from the best system

# A row per system that has ranks, the best first; with `behind`, how far it is from that.
ranked_systems <- function(x, behind) {
  ranks <- x$ranks
  first <- ranks[ranks$rank == 1L, ]
  mean_rank <- tapply(ranks$rank * ranks$probability, ranks$system, sum)[first$system]
  value <- x$accuracy$estimate[match(first$system, x$accuracy$system)]
  table <- data.frame(
    system = first$system, accuracy = decimals(value),
    `P(best)` = decimals(first$probability, 2L), `mean rank` = decimals(unname(mean_rank), 1L),
    check.names = FALSE
  )
  names(table)[[2L]] <- compared_metric(x)
  table <- table[order(if (low_is_good(x)) value else -value), ]
  if (behind) {
    pairs <- better_first(x$differences)
    leader <- table$system[[1L]]
    other <- ifelse(pairs$system1 == leader, pairs$system2, pairs$system1)
    at <- match(table$system, ifelse(leader == pairs$system1 | leader == pairs$system2, other, NA))
    table$behind <- ifelse(is.na(at), "", decimals(pairs$estimate[at]))
    ends <- bracketed(pairs$conf.low[at], pairs$conf.high[at], "")
    table[[interval_title(x$options$conf_level)]] <- ends
  }
  table
}

view_of_differences <- function(x) {
  table <- shown_pairs(x)
  table$pair <- paste(table$system1, "-", table$system2)
  view(table, c("pair", difference = "estimate", "conf.low", "conf.high",
    `P(first better)` = "probability"), c(3L, probability = 2L), x$options$conf_level,
    left = integer(), title = paste("Differences of", compared_metric(x)))
}

# All pairs, the largest differences first; or from the best system downwards.
shown_pairs <- function(x) {
  if (is.null(x$options$against)) better_first(x$differences) else x$differences
}

# Pairs turned so that no difference is negative, the largest first.
better_first <- function(table) {
  turn <- which(table$estimate < 0)
  table[turn, c("system1", "system2")] <- table[turn, c("system2", "system1")]
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
    if (x$left_out > 0) {
      paste0(
        "Left out, because not all systems answered them: ", count_noun(x$left_out, "case"),
        "; accuracies are for the other cases"
      )
    },
    reason_notes(table$reason, table$estimate, paste(table$system1, "-", table$system2)),
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

comparison_error_note <- function(x) {
  options <- x$options
  if (!is.null(x$gold)) {
    gold_interval_note(options$interval, NULL, x$gold$settings, options$clusters, "s")
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

#' Tables and text of a comparison of systems
#'
#' Results of [compare_systems()], which compares the accuracy or another metric of systems
#' (classifiers), as tables and text: differences between pairs of systems, ranks, and the evidence
#' from gold cases (cases with known truth) and from ratings.
#'
#' @return `tidy(x)`, or `tidy(x, "differences")`: a tibble with a row per pair of systems.
#'   * `system1`, `system2`: names of the systems, in the order of the ratings. In contrast,
#'     `print()` and `plot()` show the better system of each pair first if there are three or more
#'     systems. With argument `reference` of [compare_systems()], `system2` is the reference. With
#'     argument `best`, `system1` is one of the best systems, and its estimate is not lower than the
#'     estimate of `system2`.
#'   * `estimate`: accuracy (or another metric) of `system1` minus the same quantity of `system2`.
#'     For accuracies, the difference is in \[-1, 1\].
#'   * `std.error`: standard error of `estimate`; `conf.low`, `conf.high`: limits of its interval.
#'   * `probability`: probability that `system1` is better.
#'   * `n`: number of cases, which all systems answered; `method`: method of [estimate_accuracy()].
#'   * `order_known`: `TRUE` if the system with the higher estimate also agrees more often with the
#'     most frequent rating of each case. `FALSE` if it does not, or if the systems have the same
#'     estimate. `NA` for methods other than `"average"`, with gold cases or if all truths are
#'     known, and for metrics other than accuracy.
#'   * `reason`: why a value is `NA`.
#'
#'   `tidy(x, "ranks")`: a row per system and rank; no rows with `reference`.
#'   * `system`: name of the system; `rank`: rank of the system, 1 for the best. With `best`, only
#'     the best systems have ranks, computed among them.
#'   * `probability`: probability that the system has this rank.
#'   * `known`: `TRUE` if `order_known` is `TRUE` in all pairs with the system.
#'
#'   `tidy(x, "sources")`: a row per pair and source of evidence; no rows without gold cases.
#'   * `system1`, `system2`: names of the systems.
#'   * `interval`: the source. `"gold alone"` uses gold cases only, and `"ratings alone"` uses
#'     ratings only. `"corrected"`, `"combined"` and `"anytime"` use both, see [compare_systems()].
#'   * `estimate`, `std.error`, `conf.low`, `conf.high`: difference, standard error and interval.
#'   * `weight`: weight of gold cases in the estimate, in \[0, 1\]; `reason`: why a value is `NA`.
#'
#'   `glance()`: a tibble with one row.
#'   * `systems`, `pairs`, `cases`: numbers of systems, pairs and cases; `left_out`: number of cases
#'     that not all systems answered.
#'   * `best`: the system that is most probably the best; `probability`: the probability that it is
#'     the best. Both are `NA` with `reference`, or if a system has no estimate.
#'   * `method`, `conf_level`, `simultaneous`: settings of the comparison, see [compare_systems()].
#'
#'   `format()`: a string. It names the system that is most probably the best or, with `reference`,
#'   gives the numbers of systems that are better and worse than the reference.
#' @family comparisons
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(lehner_design(3, system = c(a = 0.7, b = 0.75, c = 0.5)))
#' comparison <- compare_systems(x, method = "unbinned", resampling = list(replicates = 200))
#' # Differences between pairs of systems
#' tidy(comparison)
#' # The best system and its probability
#' glance(comparison)
#' @usage
#' # tidy(x)
#' # tidy(x, "ranks")
#' # tidy(x, "sources")
#' # glance(x)
#' @name tidy.system_comparison
NULL

# Creates the result of compare_systems(). `x`: a list with the fields
# * differences, ranks, accuracy, sources: tables. `sources` is NULL without gold.
# * left_out: number of cases that not all systems answered.
# * gold: settings and numbers of gold cases, NULL without gold.
# * options: list of settings.
new_comparison <- function(x) {
  options <- x$options
  reference_or_best <- options$against
  table <- x$differences
  n_pairs <- nrow(table)
  has_ranks <- nrow(x$ranks) > 0L
  hides_pairs <- is.null(reference_or_best) && n_pairs > max_pairs_shown
  first_rank_rows <- x$ranks[x$ranks$rank == 1L, ]
  is_best_known <- is_empty(options$followers) && !anyNA(first_rank_rows$probability)
  leader_index <- which.max(if (is_best_known) first_rank_rows$probability)[1L]
  glance_columns <- list(
    systems = nrow(x$accuracy), pairs = n_pairs, cases = table$n[[1L]],
    left_out = x$left_out, best = first_rank_rows$system[leader_index],
    probability = first_rank_rows$probability[leader_index],
    method = options$method, conf_level = options$conf_level,
    simultaneous = options$simultaneous
  )
  summary_line <- comparison_line(x, glance_columns)
  printed_pairs <- shown_pairs(x)
  printed_pairs$pair <- pair_names(printed_pairs)
  pair_view <- view_of_differences(
    printed_pairs, options$conf_level, title = paste("Differences of", compared_metric(x))
  )
  inject(new_result("system_comparison",
    tables = c(x[c("differences", "ranks")], list(sources = x$sources %||% empty_pair_sources)),
    facts = glance_columns, line = summary_line,
    head = c(
      paste0(summary_line, "; ", options$words),
      if (!is.null(reference_or_best$best) && any_known(table$conf.low)) better_worse_sentence(x)
    ),
    shown = drop_null(list(
      if (has_ranks) view_of_ranks(x, hides_pairs), if (!hides_pairs) pair_view
    )),
    document = pair_view,
    notes = comparison_notes(x),
    more = paste0(
      "tidy()", if (hides_pairs) paste(" (all", number(n_pairs), "pairs)"),
      if (has_ranks) ", tidy(what = \"ranks\")", ", glance(), plot()"
    ),
    !!!x[setdiff(names(x), c("differences", "ranks", "sources"))]
  ))
}

# Returns the text of format(). `glance_columns`: see glance().
comparison_line <- function(x, glance_columns) {
  reference_or_best <- x$options$against
  count_text <- paste0(
    count_noun(glance_columns$systems, "system"), " on the same ",
    count_noun(glance_columns$cases, "case")
  )
  if (!is.null(reference_or_best$reference)) {
    return(printable(paste0(better_worse_sentence(x), ", of ", count_text)))
  }
  if (is.na(glance_columns$best)) {
    reasons <- without_followers(x$differences, x$options$followers)$reason
    return(sprintf("unknown which of %s is best (%s)", count_text, reasons[!is.na(reasons)][1L]))
  }
  paste0(
    printable(glance_columns$best), " is ", describe_best_system(x), " with probability ",
    format_decimals(glance_columns$probability, 2L), ", of ",
    if (!is.null(reference_or_best)) paste("the", number(reference_or_best$best), "best of "),
    count_text
  )
}

# Returns a sentence with the numbers of systems that are better and worse than the reference.
# Without a reference, the sentence has the number of systems that are worse than the best system.
# Only differences whose interval excludes 0 are counted.
better_worse_sentence <- function(x) {
  reference <- x$options$against$reference
  table <- without_followers(x$differences, x$options$followers)
  leader <- table$system1[[1L]]
  if (is.null(reference)) table <- table[table$system1 == leader, ]
  n_better <- sum(is_surely_better(x, table), na.rm = TRUE)
  if (is.null(reference)) return(sprintf(
    "%s, the best by its estimate, is better than %s of %s beyond its interval", leader,
    number(n_better), count_noun(nrow(table), "other")
  ))
  n_worse <- sum(is_surely_better(x, table, "system2"), na.rm = TRUE)
  comparatives <-
    if (is.null(x$options$metric)) c("more accurate", "less") else c("better", "worse")
  sprintf(
    "%s %s than %s (%s), %s %s, %s undecided", number(n_better), comparatives[[1L]], reference,
    format_decimals(x$accuracy$estimate[x$accuracy$system == reference]), number(n_worse),
    comparatives[[2L]], number(nrow(table) - n_better - n_worse)
  )
}

# Largest number of pairs that print() shows. With more pairs, print() shows only the difference
# of each system from the best system.
max_pairs_shown <- 6L

# Returns the printed table (see view()) with a row per ranked system, the best first. Columns are
# the estimate, the probability that the system is the best, and its mean rank. If
# `show_differences` is TRUE, there are also columns with the difference from the best system and
# its interval.
view_of_ranks <- function(x, show_differences) {
  ranks <- x$ranks
  first_rank_rows <- ranks[ranks$rank == 1L, ]
  estimates <- x$accuracy$estimate[match(first_rank_rows$system, x$accuracy$system)]
  table <- data.frame(
    system = first_rank_rows$system, value = estimates, best = first_rank_rows$probability,
    mean = unname(tapply(ranks$rank * ranks$probability, ranks$system, sum)[first_rank_rows$system])
  )
  table <- table[order(if (low_is_good(x)) estimates else -estimates), ]
  pairs <- put_better_first(x$differences)
  leader <- table$system[[1L]]
  pairs <- pairs[pairs$system1 == leader | pairs$system2 == leader, ]
  pair_rows <- match(table$system, ifelse(pairs$system1 == leader, pairs$system2, pairs$system1))
  table$behind <- ifelse(is.na(pair_rows), "", format_decimals(pairs$estimate[pair_rows]))
  table[limit_columns] <- pairs[pair_rows, limit_columns]
  view(
    table, c("system", setNames("value", compared_metric(x)), `P(best)` = "best",
      `mean rank` = "mean", if (show_differences) c("behind", limit_columns)),
    c(3L, best = 2L, mean = 1L), x$options$conf_level, integer(), title = "Systems"
  )
}

# Returns the printed table (see view()) with a row per pair: difference, interval and probability
# that the first system is better. `name_columns`: columns with the names of the pair.
view_of_differences <- function(table, conf_level, name_columns = "pair", title = NULL) {
  view(
    table, c(
      name_columns, difference = "estimate", limit_columns, `P(first better)` = "probability"
    ),
    c(3L, probability = 2L), conf_level, integer(), title = title
  )
}

# Returns names of pairs of systems or of groups, such as "a - b". The names of the two systems or
# groups are in the first two columns of `table`.
pair_names <- function(table) paste(table[[1L]], "-", table[[2L]])

# Returns the pairs in the order in which they are printed. If all pairs are compared, the better
# system of each pair is first, and pairs with the largest differences are first. In a single pair,
# systems keep their order, because it must be the same in all groups of cases.
shown_pairs <- function(x) {
  table <- x$differences
  if (is.null(x$options$against) && nrow(table) > 1L) put_better_first(table) else table
}

# Exchanges the two systems of pairs with a negative difference, so that no difference is negative.
# Then sorts pairs by difference, the largest first.
put_better_first <- function(table) {
  negative_rows <- which(table$estimate < 0)
  compared_columns <- names(table)[1:2] # systems, or groups
  table[negative_rows, compared_columns] <- table[negative_rows, rev(compared_columns)]
  table[negative_rows, limit_columns] <- -table[negative_rows, rev(limit_columns)]
  table$estimate[negative_rows] <- -table$estimate[negative_rows]
  table$probability[negative_rows] <- 1 - table$probability[negative_rows]
  table[order(-table$estimate), ]
}

# Returns the notes below the printed tables.
comparison_notes <- function(x) {
  table <- x$differences
  gold <- x$gold
  n_pairs <- nrow(table)
  expected_misses <- (1 - x$options$conf_level) * n_pairs
  has_intervals <- any_known(table$conf.low)
  pairs <- put_better_first(table)
  pairs_of_unknown_order <- pair_names(pairs)[which(!pairs$order_known & !are_tied(pairs$estimate))]
  c(
    if (x$left_out > 0) paste0(
      "Left out, because not all systems answered them: ", count_noun(x$left_out, "case"),
      "; accuracies are for the other cases"
    ),
    reason_notes(table, pair_names(table)),
    note_of_followers(x$options$followers),
    # In these pairs, the system with the lower estimate agrees with the most frequent rating at
    # least as often as the other system.
    if (length(pairs_of_unknown_order) > 0L) paste0(
      "Ratings do not show which of the two is better (by the model the first; by counting votes",
      " the second, or neither): ", shorten(pairs_of_unknown_order, most = 4L)
    ),
    if (has_intervals && x$options$simultaneous) {
      "The intervals cover all differences at once"
    } else if (has_intervals && n_pairs > 1L) {
      paste0(
        "Each interval is for one pair: expect ",
        if (expected_misses < 10) format_decimals(expected_misses, 1L) else
          number(round(expected_misses)),
        " of ", number(n_pairs),
        " to miss the true difference. With simultaneous = TRUE, they cover all differences at once"
      )
    },
    if (!is.null(gold)) paste0(
      "Gold: ", count_noun(gold$cases, "case"), " whose truth is known",
      # `gold$differ`: number of gold cases to which both systems of a pair gave different answers.
      if (any_known(gold$differ)) paste0(
        "; systems differ on ",
        format_span(gold$differ, format_unpadded),
        " of them, and only these measure a difference (see tidy(what = \"sources\"))"
      ),
      ". They correct each difference separately, so it may differ from the difference of the
       estimates"
    ),
    if (has_intervals) comparison_error_note(x), cluster_note(gold)
  )
}

# Returns the note on the errors that the intervals include.
comparison_error_note <- function(x) {
  options <- x$options
  if (!is.null(x$gold)) {
    paste0("Intervals (", options$interval, "): ",
      describe_gold_quantity(
        x$gold$settings, options$clusters, paste(compared_metric(x), "in the ")
      ))
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

#' Decide whether systems pass a threshold
#'
#' Compares confidence intervals with a threshold: intervals of accuracies of systems (classifiers),
#' of pass rates (shares of an application's answers that are right) or of differences between
#' systems. A system passes if the lower limit of its interval is at or above the threshold, and
#' fails if the upper limit is below the threshold. A system whose interval contains the threshold,
#' or that has no interval, is undecided. Scripts can use the exit status in the result.
#'
#' @section Exit status:
#' `gate(...)$status` is 0 if all systems pass, 2 if at least one fails, and 3 if none fails and
#' some are undecided. R itself exits with status 1 after an error. To use the status in a shell:
#'
#' ```sh
#' Rscript -e 'print(g <- fallible::gate(readRDS("estimate.rds"), 0.7)); quit(status = g$status)'
#' ```
#'
#' @section Error rates:
#' A system whose accuracy is exactly `at_least` should pass with probability (1 - `conf_level`) /
#' 2, which is .05 with 90% intervals. This probability was simulated with 20 to 200 gold cases
#' (cases with known truth), and several thresholds and error rates of a rater. Its mean over
#' thresholds and error rates was .02 to .05, depending on the number of gold cases. The largest
#' value was .11.
#'
#' These rates are for a single test. If gold cases are added until the system passes, a system at
#' the threshold passes far more often (.12 to .17 after eight tests). Fix the number of gold cases
#' beforehand, or estimate with `interval = "anytime"`, see [estimate_accuracy()].
#'
#' If an application changes, gold cases of its old answers are not valid for the new answers.
#'
#' @param x A result of [estimate_accuracy()] or [compare_systems()], with intervals, also with
#'   several groups of cases (argument `by`). The agreement of machines is little evidence of
#'   accuracy. Raters can be declared as machines (language models or programs, `rater_kind` of
#'   [ratings()]). If all raters are machines, an estimate therefore needs gold cases (cases with
#'   known truth), or argument `common` of [estimate_accuracy()]: `"none"`, `"all"` or a number. In
#'   comparisons, high values of the metric must be better.
#' @param at_least The threshold. For accuracies and pass rates, a number in \[0, 1\]. For
#'   comparisons, the smallest acceptable difference, such as -0.02 (non-inferiority).
#' @param ... Not used; catches misspelt arguments.
#' @return An object of class `gate` with the field `status` (see *Exit status*). `tidy()` returns a
#'   tibble with a row per system, or per pair of systems for a comparison:
#'   * `group`: only if `x` has several groups of cases. If `x` is a list of results by variable,
#'     the column is `variable`.
#'   * `system`: name of the system, or both names of a pair.
#'   * `estimate`, `conf.low`, `conf.high`: estimate, and limits of its interval.
#'   * `at_least`: the threshold; `decision`: `"pass"`, `"fail"` or `"undecided"`.
#'   * `needed`: number of further gold cases for a decision, if the estimate and the precision per
#'     gold case do not change (with clusters, the precision decreases as in [plan_gold()]); 0 if
#'     the decision is `"pass"` or `"fail"`. `NA` if the accuracy of the system is not estimated
#'     from gold cases, or if the system would be undecided even if the truth of all cases were
#'     known. Also `NA` for comparisons, anytime intervals and posterior draws.
#'   * `reason`: why the interval or `needed` is `NA`.
#'
#'   `glance()`: a tibble with one row: `status`, `at_least`, and the numbers of systems or pairs
#'   that `passed`, `failed` or are `undecided`. `format()`: the decisions in one line.
#' @family comparisons
#' @seealso [plan_gold()] for the number of labels needed for a given precision.
#' @examples
#' set.seed(1)
#' # 400 answers of an application, rated by a language model; 60 gold cases
#' data <- data.frame(case = 1:400, good = runif(400) < 0.85)
#' data$judge <- ifelse(runif(400) < 0.9, data$good, !data$good)
#' x <- ratings(data, raters = judge, case = case, systems = c(app = "TRUE"), rater_kind = "model")
#' labels <- data.frame(case = data$case, truth = data$good)[sample(400, 60), ]
#' e <- estimate_accuracy(x, known_truth = labels, gold_sample = "random")
#' # Is the pass rate of the application at least 0.7?
#' decision <- gate(e, at_least = 0.7)
#' decision
#' decision$status
#' @export
gate <- function(x, at_least, ...) {
  check_call()
  first_result <- first_single_result(x)
  is_comparison <- inherits(first_result, "system_comparison")
  abort_argument_if(!is_comparison && !inherits(first_result, "accuracy_estimate"), "x",
    "must be a result of {.fun estimate_accuracy} or {.fun compare_systems}.", not = x)
  check_number(at_least, "at_least", if (is_comparison) -Inf else 0, if (is_comparison) Inf else 1)
  rows <- gate_rows(x, at_least)
  rows_with_few_gold <- which(rows$gold < min_gold_for_gate)
  warn_if(rows_with_few_gold, "gate_few",
    "The decision on {.val {unique(system_titles(rows)[rows_with_few_gold])}} is based on fewer than
      {min_gold_for_gate} gold cases (cases with known truth).",
    i = "Label more cases; see {.fun plan_gold}.")
  decision_counts <- as.list(table(factor(rows$decision, c("pass", "fail", "undecided"))))
  exit_status <- if (decision_counts$fail > 0L) 2L else 3L * (decision_counts$undecided > 0L)
  has_several_rows <- nrow(rows) != 1L
  decision_table <- rows[setdiff(names(rows), c("gold", "words"))]
  lacks_needed_number <- is.na(rows$needed) & !is.na(rows$conf.low)
  systems_by_reason <-
    split(system_titles(decision_table)[lacks_needed_number],
      decision_table$reason[lacks_needed_number])
  new_result("gate",
    tables = list(decisions = decision_table),
    facts = list(
      status = exit_status, at_least = at_least, passed = decision_counts$pass,
      failed = decision_counts$fail, undecided = decision_counts$undecided
    ),
    line = if (has_several_rows) sprintf("%d pass, %d fail, %d undecided (threshold %s)",
      decision_counts$pass, decision_counts$fail, decision_counts$undecided,
      format_threshold(at_least, is_comparison)) else rows$words,
    shown = if (has_several_rows) view(
      decision_table, setdiff(names(decision_table), c("at_least", "reason")),
      level = first_result$options$conf_level
    ),
    notes = c(if (has_several_rows) c(
      reason_notes(decision_table[!lacks_needed_number, ],
        system_titles(decision_table)[!lacks_needed_number]),
      paste0("No `needed` for ", map_chr(systems_by_reason, shorten), ": ",
        names(systems_by_reason), recycle0 = TRUE),
      "needed: further gold cases for a decision, if the estimates do not change"
    ), cluster_note(first_result$gold)),
    more = sprintf("tidy(), $status (%s)", exit_status), status = exit_status
  )
}

# gate() warns if a decision is based on fewer gold cases than this number.
min_gold_for_gate <- 50L

format_threshold <- function(at_least, is_difference) {
  paste0(format(100 * at_least), if (is_difference) " points" else "%")
}

# Returns the table of decisions, with a row per system or pair of systems. It has the columns of
# tidy() and two further columns:
# * gold: number of gold cases of the estimate
# * words: the decision in one sentence
gate_rows <- function(x, at_least) UseMethod("gate_rows")

gate_rows.result_parts <- function(x, at_least) bind_parts(x, function(x) gate_rows(x, at_least))

gate_rows.accuracy_estimate <- function(x, at_least) {
  abort_argument_if(!has_interval(x), "x", "has no intervals, but {.fun gate} needs intervals.",
    i = "Do not use {.code interval = \"none\"} in {.fun estimate_accuracy}.")
  gold <- x$gold
  has_gold <- !is.null(gold$evidence) || !is.null(x$drawn_gold)
  abort_argument_if(!has_gold && rests_on_machines(x), "x", message_only_machines,
    i = "Label about 50 random cases, and give them to {.fun estimate_accuracy} as
        {.arg known_truth}.")
  drawn_gold <- x$drawn_gold
  fitted_ratings <- x$fit$x
  x$table <- without_followers(x$table, find_followers(x))
  rows <- decision_rows(x$table, x$table$system, at_least, if (is.null(drawn_gold))
    "the accuracy is not estimated from gold cases" else "it is not computed for posterior draws")
  rows$gold <- gold$details$gold %||% if (is.null(drawn_gold)) NA_integer_ else
    colSums((pick_rows(case_answers(fitted_ratings), drawn_gold$case) > 0L) *
      weights_of_cases(fitted_ratings)[drawn_gold$case])
  undecided_rows <- which(
    rows$decision == "undecided" & gold$measured$known & !is.na(rows$estimate)
  )
  # `needed` is the smallest number of further gold cases with which the interval would exclude the
  # threshold, if the estimate does not change. It is NA if gold labels of all cases would not be
  # enough, and for anytime intervals (confidence sequences).
  is_anytime <- isTRUE(interval_of(x)$gold$anytime)
  if (!is_anytime) rows$needed[undecided_rows] <- map_int(undecided_rows, function(s) {
    pilot <- extract_pilot(gold, s)
    n_further_labels <- seq(0, max(0, pilot$cases - pilot$gold))
    pilot$gold <- pilot$gold + n_further_labels
    # The design effect of clusters increases, because more gold cases are then in the same cluster.
    pilot$design <- planned_design_effect(pilot$gold, pilot, pilot$cases)
    effective_size <- 1 / relative_error_variance(pilot, gold$settings$target)
    estimated_share <- rows$estimate[[s]]
    limits <-
      wilson_interval(estimated_share, effective_size, normal_quantile(x$options$conf_level))
    # With more gold cases, the distance between the limit and the estimate is assumed to decrease
    # by the same factor as in Wilson's interval.
    side <- if (estimated_share >= at_least) 1L else 2L
    distance <- abs(limits[, side] - estimated_share)
    current_limit <- if (side == 1L) rows$conf.low[[s]] else rows$conf.high[[s]]
    distance <- distance / distance[[1L]] * abs(current_limit - estimated_share)
    is_decisive <- distance < abs(at_least - estimated_share)
    n_further_labels[which(is_decisive & n_further_labels > 0L)[1L]]
  })
  undecided_rows <- undecided_rows[is.na(x$table$reason[undecided_rows])]
  rows$reason[undecided_rows] <- ifelse(!is.na(rows$needed[undecided_rows]), NA,
    if (is_anytime) "it is not computed for anytime intervals" else
      "even gold labels of all cases would not lead to a decision")
  verb_phrase <- ifelse(rows$system %in% fitted_ratings$constant, " passes in ", " is right in ")
  add_decision_words(rows, paste0(rows$system, verb_phrase), at_least)
}

message_only_machines <- "was computed from the agreement of machines, which is little evidence of
  accuracy."

gate_rows.system_comparison <- function(x, at_least) {
  abort_argument_if(is.null(x$gold) && isTRUE(x$options$machines), "x", message_only_machines,
    i = "Label random cases, and give them to {.fun estimate_accuracy} as {.arg known_truth}.")
  abort_argument_if(low_is_good(x), "x",
    "compares systems by {.val {compared_metric(x)}}. Low values of this metric are better.",
    i = "{.fun gate} needs a metric whose high values are better, such as accuracy.")
  table <- without_followers(x$differences, x$options$followers)
  pair_name <- pair_names(table)
  if (has_columns(table, "group1")) pair_name <- paste0(table$system, ", ", pair_name)
  rows <- decision_rows(table, pair_name, at_least, "it is not computed for differences")
  rows$gold <- x$gold$cases %||% NA_integer_
  add_decision_words(rows, sprintf("the difference %s is ", rows$system), at_least, format_points,
    " points")
}

# Returns the table of decisions, with a row per system or pair and the columns of tidy(). Column
# `needed`, the number of gold cases that are needed for a decision, is 0 in decided rows. It is NA
# in undecided rows.
# * table: estimates and intervals
# * system_name: name of the system or pair in each row
# * no_needed: reason why `needed` is NA
decision_rows <- function(table, system_name, at_least, no_needed) {
  decision <- rep("undecided", nrow(table))
  decision[which(table$conf.low >= at_least)] <- "pass"
  decision[which(table$conf.high < at_least)] <- "fail"
  columns_tibble(
    system = system_name, !!!table[c("estimate", "conf.low", "conf.high")], at_least = at_least,
    decision = decision, needed = ifelse(decision == "undecided", NA_integer_, 0L),
    reason = ifelse(decision == "undecided" & is.na(table$reason), no_needed, table$reason)
  )
}

# Adds the column `words` to the table of decisions `rows`: the decision in one sentence.
# * claim: the part of each sentence before the estimate, such as "app is right in "
# * format_value: function that converts estimates and limits to words
# * unit: unit that follows the interval in the sentence, such as " points"
add_decision_words <- function(rows, claim, at_least, format_value = whole_percent, unit = "") {
  estimate_words <- format_value(rows$estimate)
  needed_clause <- sprintf("; %s more gold %s would lead to a decision if the true value is %s",
    rows$needed, ifelse(rows$needed %in% 1L, "case", "cases"), estimate_words)
  rows$words <- ifelse(
    is.na(rows$conf.low), sprintf("undecided: %s: %s", rows$system, rows$reason),
    sprintf("%s: %s%s [%s, %s]%s (threshold %s)%s", rows$decision, claim, estimate_words,
      format_value(rows$conf.low), format_value(rows$conf.high), unit,
      format_threshold(at_least, nzchar(unit)),
      ifelse(rows$needed %in% c(0, NA), "", needed_clause))
  )
  rows
}

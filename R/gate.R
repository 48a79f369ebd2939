#' Decide whether systems pass a threshold
#'
#' Compares the intervals of accuracies, pass rates or differences with a threshold. A system passes
#' if the lower end of its interval reaches the threshold, and fails if the upper end is below it.
#' Otherwise the data do not decide. The result has an exit status for scripts.
#'
#' @section Exit status:
#' `gate(...)$status` is 0 if all systems pass, 2 if one fails, and 3 if none fails and some are
#' undecided. R exits with status 1 after an error, such as a refused estimate. In a shell:
#'
#' ```sh
#' Rscript -e 'e <- readRDS("estimate.rds"); quit(status = fallible::gate(e, 0.7)$status)'
#' ```
#'
#' @section Errors:
#' A system whose accuracy is exactly `at_least` passes with probability (1 - `conf_level`) / 2: 5%
#' with 90% intervals. In simulations (20 000 panels per setting, 20 to 200 gold cases, six judges)
#' this rate was .02 to .05 on average. In the worst setting it was .11. If the gate used the
#' estimate instead of the interval, half of such systems would pass.
#'
#' This holds for one test. If labels are added until the system passes, a system at the threshold
#' passes far more often (.12 to .17 after eight tests). Fix the number of labels beforehand, or
#' estimate with `interval = "anytime"`.
#'
#' Gold cases are valid only for the answers that were labelled. If the application changes, its
#' answers are new and need new labels.
#'
#' @param x A result of [estimate_accuracy()] or [compare_systems()], also for several groups or
#'   variables. Estimates from ratings by language models without gold cases are refused.
#' @param at_least The threshold. For accuracies and pass rates, a number in \[0, 1\]. For
#'   comparisons, the smallest acceptable difference, such as -0.02 (non-inferiority).
#' @return An object of class `gate` with the field `status`. `tidy()`: a tibble with a row per
#'   system (or per group or variable and system, with a column `group` or `variable`, or per pair):
#'   `system`, `estimate`, `conf.low`, `conf.high`, `at_least`, `decision` (`"pass"`, `"fail"` or
#'   `"undecided"`), `needed` and `reason`, why there is no interval. `needed` is the number of
#'   further gold cases for a decision if the estimate and the precision per gold case do not
#'   change. It is 0 for decisions, and `NA` if there are too few cases, for comparisons, and
#'   without gold cases. `glance()`: one row with `status`, `at_least` and the numbers `passed`,
#'   `failed` and `undecided`. `format()`: the decisions in one line.
#' @family estimation
#' @seealso [plan_gold()] for the number of labels needed for a given precision.
#' @examples
#' set.seed(1)
#' data <- data.frame(case = 1:400, good = runif(400) < 0.85)
#' data$judge <- ifelse(runif(400) < 0.9, data$good, !data$good)
#' x <- ratings(data, raters = judge, case = case, systems = c(app = "TRUE"), rater_kind = "model")
#' labels <- data.frame(case = data$case, truth = data$good)[sample(400, 60), ]
#' e <- estimate_accuracy(x, known_truth = labels, gold_sample = "random")
#' gate(e, at_least = 0.7)
#' gate(e, at_least = 0.7)$status
#' @export
gate <- function(x, at_least) {
  check_given()
  first <- first_part(x)
  compared <- inherits(first, "system_comparison")
  abort_argument_if(!compared && !inherits(first, "accuracy_estimate"), "x",
    "must be a result of {.fun estimate_accuracy} or {.fun compare_systems}.", not = x)
  check_number(at_least, "at_least", if (compared) -Inf else 0, if (compared) Inf else 1)
  rows <- gate_rows(x, at_least)
  few <- which(rows$gold < few_for_gate)
  warn_if(few, "gate_few",
    "Fewer than {few_for_gate} gold cases measure {.val {unique(rows$system[few])}}: few labels
      decide the gate.", i = "Label more cases; see {.fun plan_gold}.")
  times <- table(factor(rows$decision, c("pass", "fail", "undecided")))
  status <- if (times[["fail"]] > 0L) 2L else 3L * (times[["undecided"]] > 0L)
  several <- nrow(rows) != 1L
  line <- if (several) paste0(times[["pass"]], " pass, ", times[["fail"]], " fail, ",
    times[["undecided"]], " undecided; at least ", threshold_words(at_least), " is asked") else
    rows$words
  table <- rows[setdiff(names(rows), c("gold", "words"))]
  new_result("gate",
    tables = list(decisions = table),
    facts = list(
      status = status, at_least = at_least, passed = times[["pass"]], failed = times[["fail"]],
      undecided = times[["undecided"]]
    ),
    line = line,
    shown = if (several) view(
      table, setdiff(names(table), c("at_least", "reason")), level = first$options$conf_level
    ),
    notes = if (several) c(
      reason_notes(table, system_titles(table)),
      "needed: further gold cases that would decide, if estimates stay as they are"
    ),
    more = paste0("tidy(), $status (", status, ")"), status = status
  )
}

few_for_gate <- 50L

threshold_words <- function(at_least) paste0(format(100 * at_least), "%")

# Rows of tidy(), with `gold`, the number of gold cases, and `words`, a sentence.
gate_rows <- function(x, at_least) UseMethod("gate_rows")

gate_rows.result_parts <- function(x, at_least) bind_parts(x, function(x) gate_rows(x, at_least))

gate_rows.accuracy_estimate <- function(x, at_least) {
  abort_argument_if(!has_interval(x), "x", "has no intervals, and a gate needs them.",
    i = "Leave out {.code interval = \"none\"} in {.fun estimate_accuracy}.")
  abort_argument_if(is.null(x$gold$evidence) && rests_on_machines(x), "x", no_gate_of_machines,
    i = "Label about 50 random cases: {.arg known_truth} of {.fun estimate_accuracy}.")
  rows <- decided(x$table, x$table$system, at_least)
  rows$gold <- x$gold$details$gold %||% NA_integer_
  open <- which(rows$decision == "undecided" & x$gold$measured$known)
  rows$needed[open] <- vapply(open, function(s) {
    needed_labels(measured_of(x$gold, s), rows$estimate[[s]], at_least, x)
  }, 0L)
  verb <- ifelse(rows$system %in% x$fit$x$constant, " passes in ", " is right in ")
  gate_words(rows, paste0(rows$system, verb), at_least)
}

no_gate_of_machines <- "rests on the agreement of machines, which says little about accuracy."

gate_rows.system_comparison <- function(x, at_least) {
  abort_argument_if(is.null(x$gold) && isTRUE(x$options$machines), "x", no_gate_of_machines,
    i = "Label random cases: {.arg known_truth} of {.fun estimate_accuracy}.")
  table <- x$differences
  pair <- paste(table[[1L]], "-", table[[2L]])
  if (has_columns(table, "group1")) pair <- paste0(table$system, ", ", pair)
  rows <- decided(table, pair, at_least)
  rows$gold <- x$gold$cases %||% NA_integer_
  gate_words(rows, paste0("the difference ", rows$system, " is "), at_least)
}

decided <- function(table, system, at_least) {
  decision <- rep("undecided", nrow(table))
  decision[which(table$conf.low >= at_least)] <- "pass"
  decision[which(table$conf.high < at_least)] <- "fail"
  columns_tibble(
    system = system, !!!table[c("estimate", "conf.low", "conf.high")], at_least = at_least,
    decision = decision, needed = ifelse(decision == "undecided", NA_integer_, 0L),
    reason = table$reason
  )
}

gate_words <- function(rows, claim, at_least) {
  share <- whole_percent(rows$estimate)
  more <- sprintf("; %s more gold %s would show it if %s is right", rows$needed,
    ifelse(rows$needed %in% 1L, "case", "cases"), share)
  rows$words <- paste0(rows$decision, ": ", claim, share, " [", whole_percent(rows$conf.low), ", ",
    whole_percent(rows$conf.high), "], at least ", threshold_words(at_least), " is asked",
    ifelse(rows$needed %in% c(0, NA), "", more))
  lacks <- is.na(rows$conf.low)
  rows$words[lacks] <- paste0("undecided: ", rows$system, ": ", rows$reason)[lacks]
  rows
}

# Smallest number of further gold cases for which Wilson's interval excludes the threshold, if the
# accuracy and the precision per gold case do not change. NA if all cases are not enough.
needed_labels <- function(measured, share, at_least, estimate) {
  # The ends of a confidence sequence are not Wilson's.
  if (interval_of(estimate)$gold$anytime) return(NA_integer_)
  labels <- seq_len(max(0, measured$cases - measured$gold))
  measured$gold <- measured$gold + labels
  size <- 1 / gold_error(measured, estimate$gold$settings$target)
  ends <- wilson_interval(share, size, normal_quantile(estimate$options$conf_level))
  shown <- if (share >= at_least) ends[, 1L] >= at_least else ends[, 2L] < at_least
  labels[shown %in% TRUE][1L]
}

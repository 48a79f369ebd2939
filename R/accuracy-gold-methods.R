# Prints the gold cases of an accuracy estimate, and updates an estimate with more gold cases.

no_gold_sources <- tibble::tibble(
  system = "", interval = "",
  !!!rlang::rep_named(
    c("estimate", "std.error", "conf.low", "conf.high", "labels", "weight"), 0
  ), reason = ""
)[0L, ]

# Columns of details that are computed by gold_test() and gold_common().
gold_tests <- c("statistic", "p.value", "common", "common.low", "common.high")

no_gold_details <- tibble::tibble(
  system = "", gold = 0L, cases = 0, worth = 0, !!!rlang::rep_named(gold_tests, 0), reason = ""
)[0L, ]

# Columns with the estimates from gold cases and from ratings, a row per system.
gold_columns <- function(x) {
  source <- function(interval, column) {
    x$gold$sources[[column]][x$gold$sources$interval == interval]
  }
  labels <- source(x$options$interval, "labels")
  columns <- list(
    `gold alone` = decimals(source(source_gold_only, "estimate")),
    `ratings alone` = decimals(source(ratings_only, "estimate")),
    p = show_p(x$gold$details$p.value), labels = ifelse(is.na(labels), "NA", number(round(labels)))
  )
  if (is_one_rater(x$fit$x)) columns[c("gold alone", "labels")] else columns
}

gold_notes <- function(x) {
  gold <- x$gold
  details <- gold$details
  # Column `why` of the estimates may already explain why gold cases do not measure a system.
  open <- details[!x$table$why %in% c("ratings_alone", "one_rater"), ]
  notes <- reason_notes(open, open$system)
  if (is.null(gold$evidence)) return(notes)
  off <- details$system[which(details$p.value < 1 - x$options$conf_level)]
  sample <- paste0(
    number(count_gold(x)), " of ", count_noun(sum(weights_of_cases(x$fit$x)), "case"), ", ",
    if (gold$sample == "random") "a random sample" else "chosen with known probabilities",
    if (length(off) > 0L) paste0("; it contradicts ratings alone for ", shorten(off, most = 4L))
  )
  # Explains the columns about gold cases once for all systems.
  c(
    notes, note(paste0("Gold: ", sample), report = paste0("Known truth: ", plain_words(sample))),
    note("Labels: how many gold cases would be needed without ratings", report = NULL),
    if (!all(is.na(details$p.value))) {
      note("p: test of ratings alone against gold, given both intervals", report = NULL)
    }
  )
}

#' More gold cases for an estimate
#'
#' Adds gold cases to an estimate with gold cases, without fitting the ratings again. The width of
#' an interval varies at random between batches. To look at each batch and stop when the interval is
#' narrow enough, use `interval = "anytime"` (see [estimate_accuracy()]).
#'
#' @param object An [estimate_accuracy()] result with gold cases that are a sample, or with `by`.
#' @param known_truth Further cases with known truth, in a form that [estimate_accuracy()] accepts.
#'   A case that was already a gold case must have the same truth.
#' @param gold_sample How the cases were chosen, as in [estimate_accuracy()]; `NULL` for the same
#'   way as before. All batches must be chosen in the same way: at random, or each case with a known
#'   probability of being in any of the batches.
#' @param interval An interval with gold cases; by default that of `object`.
#' @param ... Not used.
#' @return An estimate of the same class as `object`.
#' @family estimation
#' @examples
#' # Label in batches of 25 until the half-width is below .06
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.8), n = 1000))
#' labels <- truth(x)[sample(1000), ] # in practice, an adjudicator
#' estimate <- estimate_accuracy(x,
#'   known_truth = labels[1:25, ], gold_sample = "random", interval = "anytime"
#' )
#' done <- 25
#' half_width <- function(table) (table$conf.high - table$conf.low) / 2
#' while (half_width(tidy(estimate)) > 0.06) {
#'   estimate <- update(estimate, known_truth = labels[done + 1:25, ])
#'   done <- done + 25
#' }
#' done
#' estimate
#' @export
update.accuracy_estimate <- function(object, known_truth, gold_sample = NULL,
                                     interval = object$options$interval, ...) {
  check_dots_empty(...)
  x <- object$fit$x
  gold <- object$gold
  abort_argument_if(is.null(gold), "object", "{.arg object} has no gold sample yet.",
    i = "Give all known truths to {.fun estimate_accuracy} as {.arg known_truth}, and state in
        {.arg gold_sample} how the cases were chosen.")
  abort_argument_if(!weights_are_counts(x), "object",
    "Gold cases cannot be added if weights are not counts of cases.")
  interval <- check_choice(interval, names(gold_intervals), "interval")
  if (!missing(known_truth)) {
    given <- as_gold_cases(known_truth, gold_sample)
    given$sample <- given$sample %||% if (gold$sample == "random") gold$sample
    given[names(gold$settings)] <- gold$settings
    more <- resolve_gold(given, NULL, x)
    gold <- if (length(gold$case) == 0L) more else merge_gold(gold, more, x)
    if (!gold_measures(gold)) {
      abort_argument("gold_sample", why_no_sample(gold_intervals[[interval]], gold)$message)
    }
    warn_gold(gold, x)
  }
  object <- without_gold(object)
  object$options$interval <- resolve_interval(interval, gold, x)
  show_accuracy(with_gold(
    object, gold[c("case", "truth", "sample", "probability", "settings", "kind")],
    predicted = gold$evidence$predicted
  ))
}

# Merges batches. A probability refers to all batches, so another batch changes all probabilities.
merge_gold <- function(gold, more, x) {
  cases <- as_label(x$cases[more$case])
  abort_if(length(cases) > 0L && more$sample != gold$sample, "gold",
    "All gold cases must have been chosen in the same way.",
    x = "{.arg gold_sample} is {.val {more$sample}} for the new cases and {.val {gold$sample}} for
        the earlier ones.",
    i = "Give all gold cases to {.fun estimate_accuracy}, each with its probability of being in any
        of the batches.",
    case = cases)
  before <- match(more$case, gold$case)
  old <- x$categories[gold$truth[before]]
  new <- x$categories[more$truth]
  off <- which(old != new)
  abort_if(off, "case", "A case has one true category.",
    x = "{length(off)} case{?s} {?has/have} another than before, first case
        {.val {cases[[off[[1L]]]]}}: {.val {old[[off[[1L]]]]}} before,
        {.val {new[[off[[1L]]]]}} now.",
    row = off, case = cases[off], found = new[off])
  off <- which(more$probability != gold$probability[before])
  abort_if(off, "gold", "A case has one probability of being chosen, in any batch.",
    x = "{length(off)} case{?s} {?has/have} another than before, first case
        {.val {cases[[off[[1L]]]]}}.",
    i = "Give all gold cases, with new probabilities, to {.fun estimate_accuracy}.",
    case = cases[off])
  fields <- c("case", "truth", if (!is.null(gold$probability)) "probability")
  joined <- Map(c, gold[fields], lapply(more[fields], `[`, is.na(before)))
  gold[fields] <- lapply(joined, `[`, order(joined$case))
  gold$kind <- gold_kind(gold, x)
  gold
}

#' @export
update.result_parts <- function(object, ...) {
  check_class(object, "accuracy_estimate", "object", NULL)
}

#' @rdname update.accuracy_estimate
#' @export
update.accuracy_by_group <- function(object, known_truth, gold_sample = NULL, ...) {
  if (missing(known_truth)) {
    object[] <- lapply(unclass(object), stats::update, ...)
    return(object)
  }
  given <- as_truth_table(known_truth, "known_truth")
  groups <- lapply(unclass(object), function(estimate) as_label(estimate$fit$x$cases))
  unknown <- setdiff(given$case, unlist(groups))
  abort_if(unknown, "case", "{.arg known_truth} must hold cases of {.arg object}.",
    x = "{.val {unknown}} {?is/are} in none of its groups.", row = match(unknown, given$case))
  table <- is.data.frame(known_truth)
  labels <- if (table) as_label(known_truth$case) else names(known_truth)
  object[] <- Map(function(estimate, cases) {
    at <- labels %in% cases
    if (!any(at)) return(stats::update(estimate, ...))
    part <- if (table) known_truth[at, ] else known_truth[at]
    stats::update(estimate, part, gold_sample, ...)
  }, unclass(object), groups)
  object
}

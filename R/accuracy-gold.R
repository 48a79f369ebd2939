#' @references Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T. (2023).
#'   Prediction-powered inference. *Science*, 382, 669-674. \doi{10.1126/science.adi6000}
#'
#'   Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
#'   *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# Gold cases (cases with known truth): arguments `known_truth` and `gold_sample` of
# estimate_accuracy(). If gold cases are a sample, the estimate is computed from ratings without
# them, and is then corrected by them. If they were chosen by hand, they only enter the likelihood
# of the raters.

# Returns gold cases in the form that all functions of this file use, or NULL without known truth: a
# list with the fields of read_gold() and two more. `settings` are `target` and `widen` of
# gold_cases(). `kind` is "sample" if the gold cases are a sample. Otherwise it is the reason why
# they are not: "picked" (by hand), "undeclared" (by the user) or "unrated" (no gold case has a
# rating). It is later set to "likelihood" if the interval does not use gold cases as a sample.
resolve_gold <- function(known_truth, gold_sample, x) {
  if (is.null(known_truth) || isFALSE(known_truth)) {
    check_no_sample(gold_sample)
    return(NULL)
  }
  user_gold <- as_gold_cases(known_truth, gold_sample)
  gold <- read_gold(user_gold$truth, user_gold$sample, x)
  warn_if(!has_gold_cases(gold), "gold_none",
    "{.arg known_truth} contains no truth, so only the ratings are used.",
    i = "Leave out {.arg known_truth} or check whether all of its values are missing.")
  gold$settings <- user_gold[c("target", "widen")]
  gold$kind <- gold_kind(gold, x)
  gold
}

check_no_sample <- function(gold_sample) {
  abort_argument_if(!is.null(gold_sample), "known_truth",
    "{.arg gold_sample} needs {.arg known_truth}, which is not given.",
    i = if (is.data.frame(gold_sample) || is.character(names(gold_sample))) {
      "Give true categories in {.arg known_truth}. R completes {.code gold =} to
          {.arg gold_sample}."
    } else {
      "Use {.code known_truth = TRUE} for the truth that {.arg x} contains."
    })
}

# Stops if known truths cannot be used with a fit. Gold cases can only measure an estimate if the
# fit did not use them. A posterior that the user computed may already depend on the known truth.
check_gold_of <- function(fit, known_truth, gold_sample) {
  if (is.null(known_truth)) return(invisible())
  if (inherits(fit, "score_fit")) {
    abort_argument_if(any(is_known_pattern(fit)), "known_truth",
      "The fit already used known truths, so they cannot measure its accuracy.",
      i = "Call {.fun fit_scores} without {.arg known_truth}, and give {.arg known_truth} here.")
    abort_argument_if(is.null(gold_sample) || identical(gold_sample, "given"), "known_truth",
      "Known truths that are not a sample must be given to {.fun fit_scores}.",
      i = "If they are a random sample, add {.code gold_sample = \"random\"}.")
  } else {
    abort_argument_if(inherits(fit, "posterior_fit") && !isFALSE(known_truth), "known_truth",
      "{.arg known_truth} needs a model, but this fit has only a posterior.",
      i = "Call {.fun estimate_accuracy} with the ratings and {.arg known_truth}.")
  }
}

# Are gold cases a sample, so that they measure the accuracy?
is_gold_sample <- function(gold) identical(gold$kind, "sample")

# Returns the error (see new_misfit()) for a user who asks for an interval that needs a sample of
# gold cases, if there is none. `interval`: record made by new_interval().
why_no_sample <- function(interval, gold) {
  n_gold <- length(gold$case)
  cases <- sprintf("the %s with known truth", count_noun(n_gold, "case"))
  was_or_were <- if (n_gold == 1L) "was" else "were"
  reason_and_hint <- switch(gold$kind %||% "none",
    none = c("{.arg known_truth} is not given.", "Give {.arg known_truth} and {.arg gold_sample},
      or use {.code interval = \"robust\"}."),
    picked = c(sprintf("%s %s picked by hand.", capitalised(cases), was_or_were),
      "Use {.code interval = \"robust\"}, or a random sample of cases as {.arg known_truth}."),
    undeclared = c(sprintf("It is not known how %s %s chosen.", cases, was_or_were),
      "Write {.code gold_sample = \"random\"} for a random sample, or give the probability with
        which each case was chosen."),
    unrated = c(sprintf("No rater rated %s.", cases),
      "Give the probability with which each case was chosen, if it is known.")
  )
  new_misfit("interval", if (grepl("^[aeiou]", interval$words)) "An " else "A ", interval$words,
    " needs a sample of cases with known truth.",
    x = reason_and_hint[[1L]], i = reason_and_hint[[2L]])
}

# Keeps the gold cases that are in a group of cases. `cases`: indices of the cases in the group;
# `group`: their ratings. If gold cases are a random sample but none in the group has a rating, they
# do not represent the rated cases of the group, and are dropped.
gold_among <- function(gold, cases, group) {
  if (is.null(gold)) return(NULL)
  keep_gold <- function(kept) modify_fields(gold, c("case", "truth", "probability"), `[`, kept)
  gold$case <- match(gold$case, cases)
  gold <- keep_gold(!is.na(gold$case))
  if (is_gold_sample(gold) && gold_kind(gold, group) != "sample") keep_gold(0L) else gold
}

# Known truth for fit_raters(), from gold cases that are not a sample: a table with the identifiers
# of cases and the names of categories. NULL if there is none.
truth_for_fit <- function(gold, x) {
  if (!has_gold_cases(gold) || is_gold_sample(gold)) return(NULL)
  table <- tibble::tibble(case = x$cases[gold$case], truth = x$categories[gold$truth])
  table$probability <- gold$probability
  table
}

# Refits without known truth, if the fit used the gold cases that now measure the accuracy.
fit_without_truth <- function(fit, known_truth) {
  if (!any(is_known_pattern(fit))) return(fit)
  abort_argument_if(!identical(known_truth, fit$given$truth), "known_truth",
    "{.arg x} is a fit that already uses known truths, which differ from {.arg known_truth}.",
    i = "Leave out {.arg known_truth}, or give all known truths to {.fun estimate_accuracy} with
        ratings, or with a fit without known truths.")
  fit_again(fit, known_truth = NULL)
}

# ---- Correction of an estimate by gold cases -----------------------------------------------------

# Returns the estimate from ratings after a correction by gold cases. `predicted`: probabilities of
# categories (patterns of ratings x categories), or NULL to compute them.
#
# The result has field `gold`: the result of resolve_gold() with further fields. `alone`: table of
# the estimate from ratings only. `evidence`: see gold_evidence(), NULL without usable gold cases or
# if weights are not counts. `measured`: corrected accuracies, see gold_accuracy(). `sources`,
# `details`: tables of tidy(x, "gold") and tidy(x, "gold_details"). If gold cases are not a sample,
# nothing is corrected, and the gold cases are stored in field `fitted_gold`.
with_gold <- function(estimate, gold, predicted = NULL) {
  if (!is_gold_sample(gold)) {
    if (has_gold_cases(gold)) estimate$fitted_gold <- gold
    return(estimate)
  }
  options <- estimate$options
  ratings_table <- gold$alone <- estimate$table
  if (has_gold_cases(gold) && weights_are_counts(estimate$fit$x)) {
    gold$evidence <- gold_evidence(estimate$fit$x, gold, options$cluster, predicted)
  }
  system_numbers <- seq_along(ratings_table$system)
  gold$measured <- measured <- gold_accuracy(gold$evidence, system_numbers)
  settings <- c(gold$settings, options["conf_level"])
  has_gold <- measured$known
  from_ratings <- estimates_from_ratings(estimate, which(has_gold))
  estimate$gold <- gold
  no_gold_reason <- unlist(lapply(system_numbers, why_no_gold, estimate = estimate))
  sources <- source_rows(
    ratings_table["system"], ratings_table, has_gold, measured, from_ratings,
    ifelse(is.na(no_gold_reason), fill_known(has_gold, why_few_clusters(measured)), no_gold_reason),
    "share", settings, options$interval
  )
  targets_these_cases <- settings$target == "cases" & sources$interval != source_ratings_only &
    !is.na(sources$estimate)
  n_cases <- measured$cases[match(sources$system, ratings_table$system[has_gold])]
  sources$labels <- labels_of_sources(sources, ifelse(targets_these_cases, n_cases, Inf))
  estimate$gold$sources <- sources[names(no_gold_sources)]
  estimate$gold$details <- gold_details(
    ratings_table, has_gold, measured, from_ratings, settings, no_gold_reason
  )
  estimate$table <- resolve_sources(ratings_table, sources, options$interval,
    fill_known(has_gold, measured$all))
  estimate
}

# Undoes with_gold(): returns the estimate from ratings only, with the robust interval.
without_gold <- function(estimate) {
  if (!is.null(estimate$gold)) {
    estimate$table <- estimate$gold$alone
    estimate$options$interval <- interval_robust$id
    estimate["gold"] <- NULL
  }
  estimate
}

# Names of two rows of tidy(x, "gold") that are not intervals of estimate_accuracy().
source_gold_only <- "gold alone"
source_ratings_only <- "ratings alone"

# Returns a vector with an element per element of `known`: the elements of `value`, in their order,
# where `known` is TRUE, and `missing` elsewhere.
fill_known <- function(known, value, missing = NA_real_) {
  replace(rep_len(missing, length(known)), known, value)
}

# Table of estimates by source. It has several rows for each row of `about` (a system or a pair of
# systems): ratings only, gold cases only, and each interval that combines both. Columns: estimate
# and interval, `weight` of gold cases in the estimate (0 to 1), and `size`, the number of gold
# cases that would give the same interval without ratings.
#
# `known`: which rows of `about` do gold cases measure? `x`, `from_ratings`: corrected means by gold
# cases, and estimates from ratings, for these rows. `table`: estimates and intervals from ratings
# for all rows. `lack`: reason why gold cases do not measure a row, named by a code; NA if they do.
# `field`: "share" for accuracies, "difference" for differences.
source_rows <- function(about, table, known, x, from_ratings, lack, field, settings, interval) {
  rows_of <- function(id, record, x) {
    limits <- if (any(known)) record$gold[[field]](x, from_ratings, settings)
    limits$weight <- limits$weight %||% 1
    columns <- setNames(nm = c(estimate_columns, "size", "weight"))
    tibble::tibble(
      about, interval = id,
      !!!lapply(columns, function(column) fill_known(known, limits[[column]])),
      reason = unname(lack), why = names2(lack)
    )
  }
  shown_intervals <- Filter(
    function(record) !record$gold$anytime || record$id == interval, gold_intervals
  )
  without_ratings <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  tables <- c(
    list(
      rows_of(source_gold_only, interval_corrected, without_ratings),
      tibble::tibble(
        about, interval = source_ratings_only, table[estimate_columns],
        size = NA_real_, weight = 0, table[c("reason", "why")]
      )
    ),
    unname(lapply(shown_intervals, function(record) rows_of(record$id, record, x)))
  )
  stack_rows(tables)[order(rep(seq_len(nrow(about)), length(tables))), ]
}

# Replaces estimates and intervals from ratings (`table`) by the rows of `sources` for the chosen
# kind of `interval`. Rows that gold cases do not measure keep the estimate from ratings, with a
# reason. `cases`: number of cases for each row that gold cases measure. It includes cases without
# ratings if gold cases are a sample of all cases, see select_gold().
resolve_sources <- function(table, sources, interval, cases) {
  chosen_rows <- sources[sources$interval == interval, ]
  has_gold <- !is.na(chosen_rows$estimate)
  columns <- c(estimate_columns, "reason")
  table[has_gold, columns] <- chosen_rows[has_gold, columns]
  table$n[has_gold] <- cases[has_gold]
  gold_is_unused <- !has_gold & !is.na(table$estimate) & is.na(table$reason) &
    chosen_rows$why %in% c("not_drawn", "no_sample")
  table$reason[gold_is_unused] <- paste0(gold_unused, chosen_rows$reason[gold_is_unused])
  needs_gold <- !has_gold & table$why %in% "one_rater"
  table$reason[needs_gold] <- chosen_rows$reason[needs_gold]
  table$why[has_gold] <- NA
  table$why[gold_is_unused] <- "ratings_alone"
  table
}

# Equivalent number of labels: how many gold cases without ratings would give the same standard
# error. `cases`: number of cases from which they would be drawn if the target is the accuracy of
# these cases, Inf if it is the accuracy of a population.
labels_of_sources <- function(rows, cases) {
  # The squared standard error, relative to the variance of a case.
  variance <- ifelse(is.na(rows$size),
    rows$std.error^2 / (rows$estimate * (1 - rows$estimate)), 1 / rows$size)
  labels <- 1 / (variance + 1 / cases)
  ifelse(is.finite(labels) & !is.na(rows$std.error), labels, NA_real_)
}

# Reason (a string, named by a code) why gold cases do not measure a system; NA if they do.
why_no_gold <- function(estimate, system_number) {
  evidence <- estimate$gold$evidence
  if (estimate$gold$measured$known[[system_number]]) {
    NA_character_
  } else if (is.null(evidence)) {
    why_no_evidence(estimate)
  } else if (any(evidence$answer[evidence$at, system_number] > 0L)) {
    reason_not_all_drawn
  } else {
    c(not_asked = sprintf("it answered none of the %s gold cases",
      number(length(estimate$gold$case))))
  }
}

why_no_evidence <- function(estimate) {
  if (has_gold_cases(estimate$gold)) {
    c(no_sample = "weights are not counts, so gold cases are not a sample of cases")
  } else {
    c(no_gold = "there are no gold cases")
  }
}

reason_not_all_drawn <- c(not_drawn = paste(
  "the inverse sampling probabilities of gold cases do not sum to the number of cases,",
  "so some cases could not be drawn"
))

# Table of tests and other results from gold cases, with a row per system. `table`: estimates from
# ratings. Column `worth`: number of gold cases without ratings that one gold case with ratings
# replaces.
gold_details <- function(table, has_gold, measured, from_ratings, settings, no_gold_reason) {
  test_columns <- if (any(has_gold)) {
    interval <- corrected_interval(measured, settings$target, settings$conf_level)
    c(
      gold_test(measured, from_ratings),
      gold_common(interval, table$independent[has_gold], table$shared[has_gold])
    )
  }
  columns_tibble(
    system = table$system, gold = as.integer(fill_known(has_gold, measured$gold, 0)),
    cases = fill_known(has_gold, measured$cases, table$n),
    worth = fill_known(has_gold, measured$design / measured$ratio),
    !!!lapply(
      rlang::set_names(gold_test_columns), function(name) fill_known(has_gold, test_columns[[name]])
    ),
    reason = unname(no_gold_reason), why = names2(no_gold_reason)
  )
}

# Do gold cases have at least half of the weight in an estimate?
rests_on_gold <- function(estimate) {
  if (is.null(estimate$gold)) return(rep(FALSE, nrow(estimate$table)))
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  (weight >= 0.5) %in% TRUE
}

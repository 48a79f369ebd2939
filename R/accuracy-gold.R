#' @references Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T. (2023).
#'   Prediction-powered inference. *Science*, 382, 669-674. \doi{10.1126/science.adi6000}
#'
#'   Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
#'   *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# Gold cases are cases with known truth, given by the arguments `known_truth` and `gold_sample` of
# estimate_accuracy(). If gold cases are a sample, the estimate is computed from ratings without
# them, and is then corrected by them. Gold cases that were chosen by hand are only used to fit the
# model of the raters.

# Returns gold cases as a list, which all functions of this file use; NULL without known truth. The
# list has the fields of read_gold() and two more:
# * settings: list of `target` and `widen` of gold_cases().
# * kind: "sample" or another result of gold_sample_kind(). It is later set to "likelihood" if the
#   interval does not use gold cases as a sample.
resolve_gold <- function(known_truth, gold_sample, x) {
  if (is.null(known_truth) || isFALSE(known_truth)) {
    check_gold_sample_not_given(gold_sample)
    return(NULL)
  }
  user_gold <- as_gold_cases(known_truth, gold_sample)
  gold <- read_gold(user_gold$truth, user_gold$sample, x)
  warn_if(!has_gold_cases(gold), "gold_none",
    "{.arg known_truth} contains no truth, so only the ratings are used.",
    i = "Leave out {.arg known_truth} or check whether all of its values are missing.")
  gold$settings <- user_gold[c("target", "widen")]
  gold$kind <- gold_sample_kind(gold, x)
  gold
}

check_gold_sample_not_given <- function(gold_sample) {
  abort_argument_if(!is.null(gold_sample), "known_truth",
    "{.arg gold_sample} needs {.arg known_truth}, which is not given.",
    i = if (is.data.frame(gold_sample) || is.character(names(gold_sample))) {
      "Give true categories in {.arg known_truth}. R interprets the abbreviation {.code gold =} as
          {.arg gold_sample}."
    } else {
      "Use {.code known_truth = TRUE} for the truth that {.arg x} contains."
    })
}

# Stops if known truths cannot be used with a fit. Gold cases can only measure an estimate if the
# fit did not use them. A posterior that the user computed may already depend on the known truth.
check_truth_usable <- function(fit, known_truth, gold_sample) {
  if (is.null(known_truth)) return(invisible())
  if (inherits(fit, "score_fit")) {
    abort_argument_if(any(is_known_pattern(fit)), "known_truth",
      "The fit already used known truths, so these truths cannot measure the accuracy.",
      i = "Call {.fun fit_scores} without {.arg known_truth}, and give {.arg known_truth} to
        {.fun estimate_accuracy}.")
    abort_argument_if(is.null(gold_sample) || identical(gold_sample, "given"), "known_truth",
      "Known truths that are not a sample must be given to {.fun fit_scores}.",
      i = "If they are a random sample, add {.code gold_sample = \"random\"}.")
  } else {
    abort_argument_if(inherits(fit, "posterior_fit") && !isFALSE(known_truth), "known_truth",
      "{.arg known_truth} needs a model, but {.arg x} has only posterior probabilities.",
      i = "Call {.fun estimate_accuracy} with the ratings and {.arg known_truth}.")
  }
}

# Are the gold cases a probability sample that the interval uses as a sample? Other gold cases do
# not measure the accuracy. See `kind` in resolve_gold().
is_gold_sample <- function(gold) identical(gold$kind, "sample")

# Returns an error (see new_argument_error()) for an interval that needs a sample of gold cases, if
# there is no sample. `interval`: record made by new_interval(). `gold`: result of resolve_gold().
why_no_sample <- function(interval, gold) {
  n_gold <- length(gold$case)
  case_text <- sprintf("the %s with known truth", count_noun(n_gold, "case"))
  was_or_were <- if (n_gold == 1L) "was" else "were"
  reason_and_hint <- switch(gold$kind %||% "none",
    none = c("{.arg known_truth} is not given.", "Give {.arg known_truth} and {.arg gold_sample},
      or use {.code interval = \"robust\"}."),
    picked = c(sprintf("%s %s picked by hand.", capitalised(case_text), was_or_were),
      "Use {.code interval = \"robust\"}, or a random sample of cases as {.arg known_truth}."),
    undeclared = c(sprintf("It is not known how %s %s chosen.", case_text, was_or_were),
      "Write {.code gold_sample = \"random\"} for a random sample, or give the probability with
        which each case was chosen."),
    unrated = c(sprintf("No rater rated %s.", case_text),
      "Give the probability with which each case was chosen, if it is known.")
  )
  new_argument_error(
    "interval", if (grepl("^[aeiou]", interval$words)) "An " else "A ", interval$words,
    " needs a sample of cases with known truth.",
    x = reason_and_hint[[1L]], i = reason_and_hint[[2L]]
  )
}

# Returns the gold cases that are in a group of cases. A random sample of gold cases is dropped if
# no gold case of the group has a rating, because the sample does not represent the rated cases.
# * cases: indices of the cases in the group.
# * group: ratings of these cases.
keep_gold_of_group <- function(gold, cases, group) {
  if (is.null(gold)) return(NULL)
  select_gold_cases <- function(selection) {
    modify_fields(gold, c("case", "truth", "probability"), `[`, selection)
  }
  gold$case <- match(gold$case, cases)
  gold <- select_gold_cases(!is.na(gold$case))
  if (is_gold_sample(gold) && gold_sample_kind(gold, group) != "sample") select_gold_cases(0L) else
    gold
}

# If gold cases are not a sample, returns their known truth for fit_raters(): a table with the
# identifiers of cases and the names of categories. Otherwise returns NULL.
truth_for_fit <- function(gold, x) {
  if (!has_gold_cases(gold) || is_gold_sample(gold)) return(NULL)
  tibble(
    case = x$cases[gold$case], truth = x$categories[gold$truth], probability = gold$probability
  )
}

# Refits without known truth if the fit used gold cases. Gold cases can only measure the accuracy if
# the fit did not use them.
fit_without_truth <- function(fit, known_truth) {
  if (!any(is_known_pattern(fit))) return(fit)
  abort_argument_if(!identical(known_truth, fit$given$truth), "known_truth",
    "{.arg x} is a fit that already uses known truths, which differ from {.arg known_truth}.",
    i = "Leave out {.arg known_truth}. Or let {.arg x} be the ratings, or a fit without known
        truths, and give all known truths as {.arg known_truth}.")
  fit_again(fit, known_truth = NULL)
}

# ---- Correction of an estimate by gold cases -----------------------------------------------------

# Corrects an estimate from ratings by gold cases. `predicted`: probabilities of categories
# (patterns of ratings x categories), or NULL to compute them.
#
# The result has field `gold`: the result of resolve_gold() with further fields:
# * `alone`: table of the estimate from ratings only.
# * evidence: see gold_evidence(). NULL without gold cases, or if weights are not counts of cases.
# * measured: corrected accuracies, see gold_accuracy().
# * repeated_key: see find_repeated_key(); NULL if the user gave clusters.
# * sources, details: tables of tidy(x, "gold") and tidy(x, "gold_details").
#
# If gold cases are not a sample, the estimate is not corrected, and its field `fitted_gold`
# contains the gold cases.
correct_by_gold <- function(estimate, gold, predicted = NULL) {
  if (!is_gold_sample(gold)) {
    if (has_gold_cases(gold)) estimate$fitted_gold <- gold
    return(estimate)
  }
  options <- estimate$options
  table_from_ratings <- gold$alone <- estimate$table
  if (has_gold_cases(gold) && weights_are_counts(estimate$fit$x)) {
    gold$evidence <- gold_evidence(estimate$fit$x, gold, options$cluster, predicted)
  }
  system_numbers <- seq_along(table_from_ratings$system)
  gold$measured <- measurements <- gold_accuracy(gold$evidence, system_numbers)
  settings <- c(gold$settings, options["conf_level"])
  if (is.null(options$given_cluster)) {
    gold$repeated_key <- find_repeated_key(estimate$fit$x, gold$case)
  }
  is_measured <- measurements$known
  ratings_estimates <- estimates_from_ratings(estimate, which(is_measured))
  estimate$gold <- gold
  no_gold_reason <- unlist(lapply(system_numbers, why_no_gold, estimate = estimate))
  sources <- source_rows(
    table_from_ratings["system"], table_from_ratings, is_measured, measurements, ratings_estimates,
    ifelse(
      is.na(no_gold_reason), fill_known(is_measured, why_no_cluster_interval(measurements)),
      no_gold_reason
    ),
    "share", settings, options$interval
  )
  targets_these_cases <- settings$target == "cases" & sources$interval != source_ratings_only &
    !is.na(sources$estimate)
  measured_row_numbers <- match(sources$system, table_from_ratings$system[is_measured])
  sources$labels <- count_equivalent_gold_cases(
    sources, ifelse(targets_these_cases, measurements$cases[measured_row_numbers], Inf),
    measurements$variance[measured_row_numbers]
  )
  estimate$gold$sources <- sources[names(empty_gold_sources)]
  estimate$gold$details <- gold_details(
    table_from_ratings, is_measured, measurements, ratings_estimates, settings, no_gold_reason
  )
  estimate$table <- apply_gold_sources(table_from_ratings, sources, options$interval,
    fill_known(is_measured, measurements$all))
  estimate
}

# Undoes the correction by gold cases: returns the estimate from ratings only, with the robust
# interval.
undo_gold_correction <- function(estimate) {
  if (!is.null(estimate$gold)) {
    estimate$table <- estimate$gold$alone
    estimate$options$interval <- interval_robust$id
    estimate["gold"] <- NULL
  }
  estimate
}

# Names in column `interval` of tidy(x, "gold") for estimates from gold cases only, and from ratings
# only. The other names in this column are names of intervals.
source_gold_only <- "gold alone"
source_ratings_only <- "ratings alone"

# Returns a vector of the length of `is_known`. Where `is_known` is TRUE, the vector contains the
# elements of `value` in their order. Elsewhere it contains `missing`.
fill_known <- function(is_known, value, missing = NA_real_) {
  replace(rep_len(missing, length(is_known)), is_known, value)
}

# Returns a table of estimates by source. Each row of `subjects` becomes several rows: an estimate
# from gold cases only, one from ratings only, and one per kind of interval that combines gold cases
# with ratings. Columns are the estimate, its interval, and:
# * weight: weight of gold cases in the estimate (0 to 1).
# * size: size of a simple random sample of gold cases that would give the same interval. NA for
#   estimates from ratings only, and if the interval uses the estimate from ratings as a prior.
# Arguments:
# * subjects: table of systems, or of pairs of systems.
# * table: estimates and intervals from ratings, for all rows of `subjects`.
# * is_measured: which rows of `subjects` do gold cases measure? A logical vector.
# * measurements: means corrected by gold cases (see corrected_mean()), for the measured rows.
# * ratings_estimates: estimates from ratings (see estimates_from_ratings()), for the measured rows.
# * reasons: why a row has no estimate or no interval from gold cases, named by codes; NA otherwise.
# * field: "share" for accuracies, "difference" for differences between two accuracies.
source_rows <- function(subjects, table, is_measured, measurements, ratings_estimates, reasons,
                        field, settings, interval) {
  make_rows <- function(id, record, measurements) {
    intervals <- if (any(is_measured)) {
      record$gold[[field]](measurements, ratings_estimates, settings)
    }
    intervals$weight <- intervals$weight %||% 1
    columns <- setNames(nm = c(estimate_columns, "size", "weight"))
    tibble(
      subjects, interval = id,
      !!!lapply(columns, function(column) fill_known(is_measured, intervals[[column]])),
      reason = unname(reasons), why = names2(reasons)
    )
  }
  shown_intervals <- Filter(
    function(record) !record$gold$anytime || record$id == interval, gold_intervals
  )
  gold_only_measurements <-
    replace(measurements, c("estimate", "ratio"), measurements[c("alone", "design")])
  tables <- c(
    list(
      make_rows(source_gold_only, interval_corrected, gold_only_measurements),
      tibble(
        subjects, interval = source_ratings_only, table[estimate_columns],
        size = NA_real_, weight = 0, table[c("reason", "why")]
      )
    ),
    unname(lapply(shown_intervals, function(record) make_rows(record$id, record, measurements)))
  )
  stack_rows(tables)[order(rep(seq_len(nrow(subjects)), length(tables))), ]
}

# Replaces estimates and intervals from ratings by estimates and intervals that use gold cases. Rows
# that gold cases do not measure keep the estimate from ratings.
# * table: estimates and intervals from ratings.
# * sources: result of source_rows().
# * interval: the kind of interval that the user chose.
# * n_cases: for each row, the number of cases of the estimate that uses gold cases. Cases without
#   ratings may be included, see select_gold().
apply_gold_sources <- function(table, sources, interval, n_cases) {
  chosen_rows <- sources[sources$interval == interval, ]
  has_gold_estimate <- !is.na(chosen_rows$estimate)
  columns <- c(estimate_columns, "reason")
  table[has_gold_estimate, columns] <- chosen_rows[has_gold_estimate, columns]
  table$n[has_gold_estimate] <- n_cases[has_gold_estimate]
  is_gold_unused <- !has_gold_estimate & !is.na(table$estimate) & is.na(table$reason) &
    chosen_rows$why %in% c("not_drawn", "no_sample")
  table$reason[is_gold_unused] <- paste0(gold_unused_prefix, chosen_rows$reason[is_gold_unused])
  needs_gold <- !has_gold_estimate & table$why %in% "one_rater"
  table$reason[needs_gold] <- chosen_rows$reason[needs_gold]
  table$why[has_gold_estimate] <- NA
  table$why[is_gold_unused] <- "ratings_alone"
  table
}

# Returns, for each estimate, how many gold cases would give the same standard error without
# ratings.
# * rows: table of estimates, a result of source_rows().
# * n_cases: number of cases whose accuracy is estimated, Inf for the accuracy in a population.
# * case_variance: variance of the value of a single case (1 if the answer is correct, 0 if not). If
#   it is NA, it is computed from the estimate.
count_equivalent_gold_cases <- function(rows, n_cases, case_variance) {
  case_variance <- ifelse(is.na(case_variance), bernoulli_variance(rows$estimate), case_variance)
  # Squared standard error, divided by the variance of a single case.
  relative_variance <- ifelse(is.na(rows$size), rows$std.error^2 / case_variance, 1 / rows$size)
  n_equivalent <- 1 / (relative_variance + 1 / n_cases)
  ifelse(is.finite(n_equivalent) & !is.na(rows$std.error), n_equivalent, NA_real_)
}

# Returns the reason why gold cases do not measure a system, as a string. The name of the string is
# a code of the reason, for column `why`. Returns NA if gold cases measure the system.
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
  "the inverse sampling probabilities of gold cases do not sum to the number of cases:",
  "some cases could not be drawn, or drawn cases have no truth"
))

# Returns a table of tests and other results from gold cases, with a row per system. Column `worth`
# is the number of gold cases that, without ratings, are as precise as one gold case with ratings.
# * table: estimates from ratings.
# * has_gold: do gold cases measure the system? A logical vector.
# * measurements, ratings_estimates: see source_rows().
gold_details <- function(table, has_gold, measurements, ratings_estimates, settings,
                         no_gold_reason) {
  test_columns <- if (any(has_gold)) {
    c(gold_test(measurements, ratings_estimates), estimate_common_share(
      corrected_interval(measurements, settings$target, settings$conf_level),
      table$independent[has_gold], table$shared[has_gold]
    ))
  }
  columns_tibble(
    system = table$system, gold = as.integer(fill_known(has_gold, measurements$gold, 0)),
    cases = fill_known(has_gold, measurements$cases, table$n),
    worth = fill_known(has_gold, measurements$design / measurements$ratio),
    !!!lapply(
      rlang::set_names(gold_test_columns), function(name) fill_known(has_gold, test_columns[[name]])
    ),
    reason = unname(no_gold_reason), why = names2(no_gold_reason)
  )
}

# Do gold cases have at least half of the weight in the estimate of each system?
rests_on_gold <- function(estimate) {
  if (is.null(estimate$gold)) return(rep(FALSE, nrow(estimate$table)))
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  (weight >= 0.5) %in% TRUE
}

# ---- Design effects of clusters, to plan further gold cases --------------------------------------

# Returns the result of extract_gold_accuracy(). Its field `full_design`, the design effect of
# clusters on the mean of all cases, may be too small if there are few gold cases. It is replaced if
# the correlation of correct answers within clusters gives a larger design effect.
extract_pilot <- function(gold, s) {
  pilot <- extract_gold_accuracy(gold, s)
  if (!isTRUE(pilot$clusters >= min_clusters)) return(pilot)
  evidence <- gold$evidence
  answer <- evidence$answer[evidence$at, s]
  is_answered <- answer > 0
  correlation <- correlation_in_clusters((answer == evidence$truth)[is_answered],
    evidence$w[is_answered], evidence$cluster[is_answered])
  cluster_table <- evidence$all_clusters
  weight <- cluster_table$weight * (evidence$answer[cluster_table$pattern, s] > 0)
  cluster_sizes <- rowsum_codes(cluster_table$cluster, weight, max(cluster_table$cluster))
  design_effect_of_all_cases <- 1 + correlation * (sum(cluster_sizes^2) / sum(cluster_sizes) - 1)
  replace(pilot, "full_design", max(pilot$full_design, design_effect_of_all_cases))
}

# Estimates the correlation of `is_right` between two cases of the same cluster, from 0 to 1.
# It is 0 if it is not significantly positive (one-sided test, level .05), and otherwise a posterior
# mean, for a uniform prior. `w`: weights of cases. `cluster`: number of the cluster of each case.
correlation_in_clusters <- function(is_right, w, cluster) {
  mean <- weighted.mean(is_right, w)
  sum_over_pairs <- function(x) (sum(rowsum_codes(cluster, x, max(cluster))^2) - sum(x^2)) / 2
  weight_of_pairs <- sum_over_pairs(w)
  # The first term corrects a bias: deviations of independent answers from their weighted mean are
  # negatively correlated.
  correlation <- sum(w^2) / sum(w)^2 +
    sum_over_pairs(w * (is_right - mean)) / weight_of_pairs / bernoulli_variance(mean)
  standard_error <- sqrt(sum_over_pairs(w^2)) / weight_of_pairs
  # The correlation is NaN if there are no pairs, or if all answers are right, or all wrong. The
  # result is then 0.
  if (!isTRUE(correlation > normal_quantile(0.9) * standard_error)) return(0)
  # Mean of a normal distribution that is truncated to [0, 1].
  limits <- (0:1 - min(1, correlation)) / standard_error
  min(1, correlation) - standard_error * diff(dnorm(limits)) / diff(pnorm(limits))
}

# Returns the design effect of clusters on the mean of a random sample of gold cases. The larger the
# sample, the more gold cases share a cluster, so the design effect increases with `gold`.
# * gold, n_cases: numbers of gold cases and of all cases.
# * x: a list with design effects in the present gold cases (`design`) and in all cases
#   (`full_design`).
planned_design_effect <- function(gold, x, n_cases) {
  pmax(x$design, 1 + (x$full_design - 1) * gold / n_cases)
}

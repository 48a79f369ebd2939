#' @section Gold cases:
#' Gold cases that are a random sample, or a sample with known probabilities (`gold_sample`),
#' measure errors that ratings do not identify. The estimate from ratings does not use them. The
#' ratings predict the probability `q` that the system's answer is correct. `q` is the mean of the
#' posterior probability under a model with an accuracy per rater and of the share of ratings. With
#' `y` 1 if the answer is the truth and 0 otherwise, the accuracy is `mean(y - slope q)` over gold
#' cases plus `slope mean(q)` over all cases. This is prediction-powered inference (Angelopoulos et
#' al. 2023), with a slope as in PPI++ that is shrunk towards .5 if there are few gold cases.
#' Useless predictions get the slope 0; the estimate is then computed from gold cases only.
#'
#' * `"corrected"` is Wilson's interval for the equivalent number of labels. It is valid whatever
#'   the number of shared errors.
#' * `"combined"` (the default) uses the estimate from ratings as a prior. The prior is normal, with
#'   the robust standard error, if there are few gold cases. With more gold cases it has a flat part
#'   (of weight up to .7), so that they can contradict it. Its variance also increases by 5.9 times
#'   the variance of the gold estimate. With many cases, 90% intervals then have a coverage of at
#'   least .85, however precise and wrong the ratings are. If five or more gold cases contradict the
#'   prior (as the print shows), the result moves towards `"corrected"`. It moves linearly between
#'   p-values of 1.5 and 0.5 times `1 - conf_level`, so that small differences have small effects.
#'   If machines rate, the prior is the interval for machines, around its centre.
#' * `"anytime"` is `"corrected"` as a confidence sequence. It is approximately valid at all numbers
#'   of gold cases simultaneously. You may look after every batch
#'   ([update()][update.accuracy_estimate]) and stop when the interval is narrow enough. It is
#'   wider.
#'
#' The following table has the coverage and mean width of nominal 90% intervals on 28 data sets with
#' known truth, 20 of them real. There were 20 draws of random gold cases each (`bench/gold.R`):
#'
#' | gold cases | `"corrected"` | `"combined"` | `"gold alone"` |
#' |---|---|---|---|
#' | 10 | .949, .331 wide | .955, .313 wide | .904, .378 wide |
#' | 20 | .924, .234 | .926, .228 | .911, .281 |
#' | 50 | .919, .150 | .922, .147 | .909, .185 |
#' | 100 | .913, .106 | .912, .105 | .896, .133 |
#'
#' The worst case is a prior from ratings with a small standard error, whose centre is wrong by two
#' or three standard errors of the gold estimate. `"combined"` then covers .86 to .87 with 20, 50
#' and 100 gold cases (exact binomial sums), and `"corrected"` covers .90. In simulations, raters
#' copied each other, or systems erred where raters did. `"combined"` then covered .89, .88 and .89
#' (standard error .01), and `"corrected"` .90, .89 and .90 (600 panels of `bench/coverage.R`).
#'
#' If all gold cases are correct, intervals include 1; if all are wrong, they include 0
#' (`"combined"` intervals only if the prior does not exclude it).
#'
#' `tidy(what = "gold")` returns the estimates from gold cases only, from ratings only, and from
#' both. Cases without ratings get the mean prediction. Systems (or groups, with `by`) that answered
#' no gold case have the estimate from ratings, with a reason. With `cluster`, gold cases in a
#' cluster are dependent; with fewer than five clusters that contain gold cases there is no
#' interval. Weights that count cases also replicate gold cases.
#'
#' @section One rater:
#' If there is only one rater (one language model as a judge, one imperfect test, or one vote of a
#' group of raters), there is no agreement between raters. A random sample of gold cases measures
#' the accuracy, and the ratings of the other cases reduce the standard error: `q` is the share of
#' the rater's ratings of a case that are equal to the answer. With `systems = c(app = "pass")` in
#' [ratings()], the estimate is the share of cases that pass. Only intervals with gold cases are
#' available, and `"combined"` is `"corrected"`. If gold cases were chosen by hand, estimates are
#' `NA`. Gold cases that were drawn by their truth ("50 and 50") are not a random sample; they cause
#' the warning `fallible_warning_gold_by_class`. [plan_gold()] computes how many labels are needed,
#' [gate()] compares the result with a threshold, and [compare_systems()] compares versions of an
#' application.
#'
#' With 500 cases, nine pass rates and eight judges, 90% intervals covered .92, .91 and .91 with 20,
#' 50 and 100 gold cases (worst setting .87, .87 and .88). Their mean width was .83 times that of
#' intervals from gold cases without the judge. With 50 gold cases the ratio was .56 for a judge
#' with sensitivity and specificity .99, and .97 for a judge with .6 (`bench/one-judge.R`).
#'
#' @section Gold cases picked by hand:
#' Gold cases that were chosen by hand (`gold_sample = "given"`, the default) are not a sample, and
#' do not measure the accuracy. They only enter the likelihood, as in [fit_raters()]. Gold cases of
#' any kind also enter the likelihood if the interval is not one of
#' `r list_ids(gold_intervals)`.
#' @references Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T. (2023).
#'   Prediction-powered inference. *Science*, 382, 669-674. \doi{10.1126/science.adi6000}
#'
#'   Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
#'   *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# Gold cases of estimate_accuracy(): `known_truth` and `gold_sample`. If gold cases are a sample,
# the estimate is computed from ratings without them, and is then corrected by them. If they were
# chosen by hand, they only enter the likelihood of the raters.

# `gold` of all functions in this file is the result of read_gold(), with `settings` (target, widen)
# and `kind`. `kind` is "sample"; or the reason why gold cases are not a sample: "picked",
# "undeclared" or "unrated"; or "likelihood" if the interval does not use them as a sample. NULL if
# there is no known truth.
resolve_gold <- function(known_truth, gold_sample, x) {
  if (is.null(known_truth) || isFALSE(known_truth)) {
    check_no_sample(gold_sample)
    return(NULL)
  }
  given <- as_gold_cases(known_truth, gold_sample)
  gold <- read_gold(given$truth, given$sample, x)
  if (length(gold$case) == 0L) warn_no_gold()
  gold$settings <- given[c("target", "widen")]
  gold$kind <- gold_kind(gold, x)
  gold
}

check_no_sample <- function(gold_sample) {
  abort_argument_if(!is.null(gold_sample), "known_truth",
    "{.arg gold_sample} says how the cases of {.arg known_truth} were chosen, which is not given.",
    i = if (is.data.frame(gold_sample) || is.character(names(gold_sample))) {
      "True categories are {.arg known_truth}; {.code gold =} is short for {.arg gold_sample}."
    } else {
      "{.code known_truth = TRUE} takes the truth that {.arg x} holds."
    })
}

warn_no_gold <- function() {
  warn_fallible("gold_none", "{.arg known_truth} holds no truth, so the ratings alone are used.",
    i = "Leave it out, or check whether all its truths are missing.")
}

# Gold cases can only measure an estimate that was fitted without them.
check_gold_of <- function(fit, known_truth, gold_sample) UseMethod("check_gold_of")

check_gold_of.rater_fit <- function(fit, known_truth, gold_sample) invisible()

check_gold_of.score_fit <- function(fit, known_truth, gold_sample) {
  abort_argument_if(any(known_patterns(fit)) && !is.null(known_truth), "known_truth",
    "The fit has already used known truths, so they cannot check it.",
    i = "Fit {.fun fit_scores} without {.arg known_truth}, and give it here.")
  abort_argument_if(
    !is.null(known_truth) && (is.null(gold_sample) || identical(gold_sample, "given")),
    "known_truth", "Known truths that are not a sample must be given to {.fun fit_scores}.",
    i = "{.code gold_sample = \"random\"} says that they are a random sample.")
}

# It is not known whether a user's posterior already depends on the known truth.
check_gold_of.posterior_fit <- function(fit, known_truth, gold_sample) {
  abort_argument_if(!is.null(known_truth) && !isFALSE(known_truth), "known_truth",
    "{.arg known_truth} needs a model; this fit has only a posterior.",
    i = "Give {.arg known_truth} with the ratings.")
}

gold_measures <- function(gold) identical(gold$kind, "sample")

# See pair_misfit().
why_no_sample <- function(interval, gold) {
  n <- length(gold$case)
  cases <- paste("the", count_noun(n, "case"), "with known truth")
  was <- if (n == 1L) "was" else "were"
  words <- switch(gold$kind %||% "none",
    none = c("{.arg known_truth} is not given.", "Give {.arg known_truth} and {.arg gold_sample},
      or use {.code interval = \"robust\"}."),
    picked = c(paste0(capitalised(cases), " ", was, " picked by hand."),
      "Use {.code interval = \"robust\"}."),
    undeclared = c(paste0("It is not known how ", cases, " ", was, " chosen."),
      "Write {.code gold_sample = \"random\"} for a random sample, or give the probability with
        which each case was chosen."),
    unrated = c(paste0("No rater saw any of ", cases, "."),
      "Give the probability with which each case was chosen, if it is known.")
  )
  misfit_of("interval", if (grepl("^[aeiou]", interval$words)) "An " else "A ", interval$words,
    " needs a sample of cases with known truth.", x = words[[1L]], i = words[[2L]])
}

# Gold cases among the cases with numbers `cases` of a panel; `part` contains these cases. If all of
# them are on cases without ratings, they are not a sample of the other cases, and are dropped.
gold_among <- function(gold, cases, part) {
  if (is.null(gold)) return(NULL)
  gold$case <- match(gold$case, cases)
  keep <- function(gold, at) {
    fields <- c("case", "truth", "probability")
    replace(gold, fields, lapply(gold[fields], `[`, at))
  }
  gold <- keep(gold, !is.na(gold$case))
  lost <- gold_measures(gold) && gold_kind(gold, part) != "sample"
  if (lost) keep(gold, 0L) else gold
}

# Known truth for fit_raters(), from gold cases that are not a sample; NULL if there is none.
truth_for_fit <- function(gold, x) {
  if (length(gold$case) > 0L && !gold_measures(gold)) gold_table(gold, x)
}

gold_table <- function(gold, x) {
  out <- tibble::tibble(case = x$cases[gold$case], truth = x$categories[gold$truth])
  if (!is.null(gold$probability)) out$probability <- gold$probability
  out
}

# Refits without known truth if the fit used the gold cases that are now to measure the accuracy.
fit_without_truth <- function(fit, known_truth) {
  if (!any(known_patterns(fit))) return(fit)
  abort_argument_if(!identical(known_truth, fit$given$truth), "known_truth",
    "{.arg x} is a fit that already uses known truth.",
    i = "Leave out {.arg known_truth}, or give all known cases to {.fun estimate_accuracy}, with
        ratings or with a fit that knows none.")
  fit_again(fit, known_truth = NULL)
}

# ---- Correction of an estimate by gold cases -----------------------------------------------------

# Corrects an estimate from ratings by gold cases.
#
# Field `gold` of an estimate has the result of resolve_gold() (`case`, `truth`, `probability`,
# `sample`, `kind`, `settings`) and: `alone`, the table of the estimate from ratings; `evidence`,
# see gold_evidence(), NULL without usable gold cases; `measured`, see gold_accuracy(); `sources`, a
# row per system and interval; `details`, a row per system. For `predicted`, see gold_evidence().
with_gold <- function(estimate, gold, predicted = NULL) {
  if (!gold_measures(gold)) {
    if (length(gold$case) > 0L) estimate$fitted_gold <- gold
    return(estimate)
  }
  options <- estimate$options
  ratings <- gold$alone <- estimate$table
  if (length(gold$case) > 0L && weights_are_counts(estimate$fit$x)) {
    gold$evidence <- gold_evidence(estimate$fit$x, gold, options$cluster, predicted)
  }
  systems <- seq_along(ratings$system)
  gold$measured <- x <- gold_accuracy(gold$evidence, systems)
  settings <- c(gold$settings, options["conf_level"])
  known <- x$known
  from_ratings <- estimates_from_ratings(estimate, which(known))
  estimate$gold <- gold
  lack <- unlist(lapply(systems, function(s) why_no_gold(estimate, s) %||% NA_character_))
  few <- of_known(known, why_no_clusters(x))
  sources <- source_rows(
    ratings["system"], ratings, known, x, from_ratings, ifelse(is.na(lack), few, lack), "share",
    settings, options$interval
  )
  finite <- settings$target == "cases" & sources$interval != ratings_only & !is.na(sources$estimate)
  cases <- x$cases[match(sources$system, ratings$system[known])]
  sources$labels <- worth_in_labels(sources, ifelse(finite, cases, Inf))
  estimate$gold$sources <- sources[names(no_gold_sources)]
  estimate$gold$details <- gold_details(ratings, known, x, from_ratings, settings, lack)
  estimate$table <- resolve_sources(ratings, sources, options$interval)
  estimate
}

# The same estimate, from ratings only.
without_gold <- function(estimate) {
  if (!is.null(estimate$gold)) {
    estimate$table <- estimate$gold$alone
    estimate$options$interval <- interval_robust$id
    estimate["gold"] <- NULL
  }
  estimate
}

source_gold_only <- "gold alone" # sources that are not intervals of estimate_accuracy()
ratings_only <- "ratings alone"

# The values of `known` rows, and `missing` in all other rows.
of_known <- function(known, value, missing = NA_real_) {
  replace(rep_len(missing, length(known)), known, value)
}

# For each row of `about` a row per source: gold cases only, ratings only, and intervals with both.
# Columns: the `weight` of gold cases in the estimate, and the `size` of the interval (see
# gold_size()). `known`: rows with gold cases. `x`, `from_ratings`: measurements and estimates from
# ratings of these rows. `table`: estimates and intervals from ratings of all rows. `lack`: reasons
# why gold cases do not measure a row, named by codes. `field`: "share" or "difference", see
# new_interval().
source_rows <- function(about, table, known, x, from_ratings, lack, field, settings, interval) {
  shown <- Filter(function(record) !record$gold$anytime || record$id == interval, gold_intervals)
  columns <- rlang::set_names(c("estimate", interval_columns, "size", "weight"))
  rows_of <- function(id, record, x) {
    limits <- if (any(known)) record$gold[[field]](x, from_ratings, settings)
    limits$weight <- limits$weight %||% 1
    numbers <- lapply(columns, function(column) of_known(known, limits[[column]]))
    tibble::tibble(
      about, interval = id, !!!numbers, reason = unname(lack), why = names2(lack)
    )
  }
  unaided <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  tables <- c(
    list(rows_of(source_gold_only, interval_corrected, unaided)),
    lapply(shown, function(record) rows_of(record$id, record, x))
  )
  of_ratings <- tibble::tibble(
    about, interval = ratings_only, table[c("estimate", interval_columns)], size = NA_real_,
    weight = 0, table[c("reason", "why")]
  )
  rows <- stack_rows(unname(append(tables, list(of_ratings), 1L)))
  rows[order(rep(seq_len(nrow(about)), length(tables) + 1L)), ]
}

# Replaces rows of `table` by the chosen interval; rows without gold cases keep the estimate from
# ratings.
resolve_sources <- function(table, sources, interval) {
  chosen <- sources[sources$interval == interval, ]
  known <- !is.na(chosen$estimate)
  columns <- c("estimate", interval_columns, "reason")
  table[known, columns] <- chosen[known, columns]
  unused <- !known & !is.na(table$estimate) & is.na(table$reason) &
    chosen$why %in% c("not_drawn", "no_sample")
  table$reason[unused] <- paste0(gold_unused, chosen$reason[unused])
  only_gold <- !known & table$why %in% "one_rater"
  table$reason[only_gold] <- chosen$reason[only_gold]
  table$why[known] <- NA
  table$why[unused] <- "ratings_alone"
  table
}

# Equivalent number of labels: how many gold cases without ratings would give the same error.
# `cases`: number of cases from which they are drawn, if the accuracy of these cases is the target.
worth_in_labels <- function(rows, cases) {
  variance <- rows$std.error^2 / (rows$estimate * (1 - rows$estimate))
  labels <- 1 / (ifelse(is.na(rows$size), variance, 1 / rows$size) + 1 / cases)
  ifelse(is.finite(labels) & !is.na(rows$std.error), labels, NA_real_)
}

# Reason (named by a code) why gold cases do not measure a system; NULL if they do.
why_no_gold <- function(estimate, s) {
  evidence <- estimate$gold$evidence
  if (estimate$gold$measured$known[[s]]) {
    NULL
  } else if (is.null(evidence)) {
    why_no_evidence(estimate)
  } else if (any(evidence$answer[evidence$at, s] > 0L)) {
    only_some_drawn
  } else {
    c(not_asked = paste(
      "it answered none of the", number(length(estimate$gold$case)), "gold cases"
    ))
  }
}

why_no_evidence <- function(estimate) {
  if (length(estimate$gold$case) > 0L) {
    no_sample_of_cases
  } else {
    c(no_gold = "there are no gold cases")
  }
}

no_sample_of_cases <- c(
  no_sample = "weights are not counts, so gold cases are not a sample of cases"
)

only_some_drawn <- c(not_drawn = paste(
  "the probabilities of gold cases do not add up to its cases, some of which had no chance, then,",
  "to be drawn"
))

# A reason for each quantity, or NA.
why_no_clusters <- function(x) {
  clusters <- x$clusters %||% rep(Inf, length(x$estimate))
  few <- paste0(
    no_interval, "gold cases are in ", number(clusters), " cluster", ifelse(clusters == 1, "", "s"),
    ", and ", fewest_clusters, " are the least that tell how clusters differ"
  )
  ifelse(clusters < fewest_clusters, few, NA_character_)
}

# Further results from gold cases, a row per system. `table`: estimates from ratings. `worth`:
# number of labels without ratings that are equivalent to one label with ratings.
gold_details <- function(table, known, x, from_ratings, settings, lack) {
  columns <- list()
  if (any(known)) {
    interval <- corrected_interval(x, settings$target, settings$conf_level)
    ends <- table[known, ]
    columns <- c(
      gold_test(x, from_ratings), gold_common(interval, ends$independent, ends$shared)
    )
  }
  columns_tibble(
    system = table$system, gold = as.integer(of_known(known, x$gold, 0)),
    cases = of_known(known, x$cases, table$n), worth = of_known(known, x$design / x$ratio),
    !!!lapply(rlang::set_names(gold_tests), function(name) of_known(known, columns[[name]])),
    reason = unname(lack),
    why = names2(lack)
  )
}

# Do gold cases have at least half of the weight in an estimate?
rests_on_gold <- function(estimate) {
  if (is.null(estimate$gold)) return(rep(FALSE, nrow(estimate$table)))
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  weight >= 0.5 & !is.na(weight)
}

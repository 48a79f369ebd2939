#' @section Gold cases:
#' A few cases whose truth is known, a random sample or one drawn with known probabilities
#' (`gold_sample`), measure what ratings cannot show. The estimate from ratings is made without
#' them; what ratings predict for each case (half the posterior of raters with an accuracy each,
#' half the share of ratings) is then compared with gold. With `y` 1 where an answer is the truth,
#' and `q` its predicted probability, the accuracy is `mean(y - slope q)` over gold cases plus
#' `slope mean(q)` over all cases: prediction-powered inference (Angelopoulos et al. 2023), with a
#' slope as in PPI++ that is drawn towards .5 where gold cases are few. Worthless predictions get a
#' slope of 0, which leaves gold alone.
#'
#' * `"corrected"` is Wilson's interval with as many cases as gold and ratings are worth. It is
#'   valid however many errors are shared.
#' * `"combined"`, the default, uses the estimate from ratings alone as a prior: normal, with its
#'   robust error, where gold cases are few, and with a flat part (of weight up to .7) once there
#'   are enough to contradict it. Its variance then also grows by 5.9 times that of what gold says,
#'   which leaves 90% intervals a coverage of .85 in the limit of many cases, however sure and wrong
#'   ratings are. Where five or more gold cases contradict it (as the print says), the result moves
#'   from there to `"corrected"`: evenly, between p-values of 1.5 and 0.5 times `1 - conf_level`, so
#'   that no small difference decides. Where machines rate, the prior is the interval of their
#'   kind, around its centre.
#' * `"anytime"` is `"corrected"` as a confidence sequence: valid, approximately, at all numbers of
#'   gold cases at once, so that you may look after every batch
#'   ([update()][update.accuracy_estimate]) and stop when the half-width is small enough. It is
#'   wider.
#'
#' On 28 sets with known truth, 20 of them real (20 draws of random gold cases each), nominal 90%
#' intervals had this coverage and mean width (`bench/gold.R` in the sources):
#'
#' | gold cases | `"corrected"` | `"combined"` | gold alone |
#' |---|---|---|---|
#' | 10 | .949, .331 wide | .955, .313 wide | .904, .378 wide |
#' | 20 | .924, .234 | .926, .228 | .911, .281 |
#' | 50 | .919, .150 | .922, .147 | .909, .185 |
#' | 100 | .913, .106 | .912, .105 | .896, .133 |
#'
#' At worst, where ratings are sure and off by two or three standard errors of gold, `"combined"`
#' covers .86 to .87 with 20, 50 and 100 gold cases, as exact binomial sums say, and `"corrected"`
#' .90. In simulated worlds where raters copy each other, or systems err where raters do, it covered
#' .89, .88 and .89 (standard error .01), `"corrected"` .90, .89 and .90 (600 panels of
#' `bench/coverage.R`).
#'
#' Where all gold cases are right, intervals reach 1, and where all are wrong, they reach 0
#' (`"combined"` ones only if the prior does not exclude it).
#'
#' `tidy(what = "gold")` has the estimates from gold alone, from ratings alone and from both. Cases
#' that no rater saw get the mean prediction. Systems (or groups, with `by`) that answered no gold
#' case have the estimate from ratings alone, with the reason. With `cluster` gold cases of a
#' cluster are not independent; below five clusters with gold there is no interval. Weights that
#' count cases make copies of gold cases, too.
#'
#' @section One rater:
#' One rater (one language model as a judge, one imperfect test, or one vote of a group of raters)
#' has no agreement. A random sample of gold cases measures the accuracy, and the ratings of all
#' other cases make it more precise: `q` is the share of the rater's ratings of a case that are the
#' answer. With `systems = c(app = "pass")` in [ratings()], the estimate is the share of cases that
#' pass. Only intervals with gold are possible, and `"combined"` is `"corrected"`. If gold cases
#' were picked by hand, estimates are `NA`. Gold cases that were drawn by their truth ("50 and 50")
#' are no random sample; the warning `fallible_warning_gold_by_class` is about them. [plan_gold()]
#' computes how many labels are needed, [gate()] compares the result with a threshold, and
#' [compare_systems()] compares versions of an application.
#'
#' With 500 cases, nine pass rates and eight judges, 90% intervals covered .92, .91 and .91 with 20,
#' 50 and 100 gold cases (worst setting .87, .87 and .88), and were .83 as wide as those of gold
#' cases without the judge. With 50 gold cases they were .56 as wide for a judge of sensitivity and
#' specificity .99, and .97 as wide for one of .6 (`bench/one-judge.R`).
#'
#' @section Gold cases picked by hand:
#' Gold cases that were picked by hand (`gold_sample = "given"`, the default) measure nothing: they
#' only enter the likelihood, as in [fit_raters()], and so does all gold with the other intervals.
#' @references Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. and Zrnic, T. (2023).
#'   Prediction-powered inference. *Science*, 382, 669-674. \doi{10.1126/science.adi6000}
#'
#'   Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
#'   *Journal of the American Statistical Association*, 22, 209-212.
#'   \doi{10.1080/01621459.1927.10502953}
#' @name estimate_accuracy
#' @rdname estimate_accuracy
NULL

# Gold in estimate_accuracy(): `known_truth` and `gold_sample`. Where gold cases are a sample, the
# estimate is made from ratings alone, and what gold measures is put on top of it; where somebody
# picked them, they only enter the likelihood of the raters.

# `gold` of all functions here is what read_gold() gives, with `settings` (target, widen) and
# `kind`: "sample", or why it is none, "picked", "undeclared" or "unrated", or "likelihood" where
# the interval does not measure with it. NULL if nothing was given.
settle_gold <- function(known_truth, gold_sample, x) {
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

# Gold may measure what is fitted without it.
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

# A posterior that was given may know the truth already, or not: nobody can tell.
check_gold_of.posterior_fit <- function(fit, known_truth, gold_sample) {
  abort_argument_if(!is.null(known_truth) && !isFALSE(known_truth), "known_truth",
    "{.arg known_truth} needs a model; this fit has only a posterior.",
    i = "Give {.arg known_truth} with the ratings.")
}

gold_measures <- function(gold) identical(gold$kind, "sample")

# `gold` as it enters with an interval: those that do not measure with it leave it to the likelihood
# of the raters.
gold_for <- function(interval, gold) {
  record <- accuracy_intervals()[[interval]]
  if (!is.null(gold) && is.null(record$gold)) gold$kind <- "likelihood"
  gold
}

# See pair_misfit().
lack_of_sample <- function(interval, gold) {
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

# The gold among some cases of a panel, `own`, which make up `part`. Where all of it is on cases
# that no rater saw it is no sample of the others, and as good as none.
gold_among <- function(gold, own, part) {
  if (is.null(gold)) return(NULL)
  at <- match(gold$case, own)
  here <- !is.na(at)
  gold$case <- at[here]
  gold$truth <- gold$truth[here]
  gold$probability <- gold$probability[here]
  if (gold_measures(gold) && gold_kind(gold, part) != "sample") {
    gold["case"] <- list(integer())
    gold["truth"] <- list(integer())
    gold["probability"] <- list(gold$probability[0L])
  }
  gold
}

# What fit_raters() is to know of gold that measures nothing; NULL for nothing.
truth_for_fit <- function(gold, x) {
  if (length(gold$case) > 0L && !gold_measures(gold)) gold_table(gold, x)
}

gold_table <- function(gold, x) {
  out <- tibble::tibble(case = x$cases[gold$case], truth = x$categories[gold$truth])
  if (!is.null(gold$probability)) out$probability <- gold$probability
  out
}

# A fit to ratings alone, if the truth that it knows is what is to measure now.
fit_without_truth <- function(fit, known_truth) {
  if (!any(known_patterns(fit))) return(fit)
  abort_argument_if(!identical(known_truth, fit$given$truth), "known_truth",
    "{.arg x} is a fit that already uses known truth.",
    i = "Leave out {.arg known_truth}, or give all known cases to {.fun estimate_accuracy}, with
        ratings or with a fit that knows none.")
  fit_again(fit, known_truth = NULL)
}

# ---- What gold cases measure of the systems of an estimate ---------------------------------------

# Puts what gold measures on top of an estimate from ratings alone.
#
# Field `gold` of an estimate has what settle_gold() gives (`case`, `truth`, `probability`,
# `sample`, `kind`, `settings`), and besides: `alone`, the table of the estimate from ratings alone;
# `evidence`, see gold_evidence(), NULL without gold cases that count; `measured`, what
# gold_accuracy() gives; `sources`, a row
# per system and interval; and `details`, a row per system. `predicted`: see gold_evidence().
with_gold <- function(estimate, gold, predicted = NULL) {
  if (!gold_measures(gold)) {
    if (length(gold$case) > 0L) estimate$fitted_gold <- gold
    return(estimate)
  }
  gold$alone <- estimate$table
  x <- estimate$fit$x
  if (length(gold$case) > 0L && weights_are_counts(x)) {
    gold$evidence <- gold_evidence(x, gold, estimate$options$cluster, predicted)
  }
  estimate$gold <- gold
  measure_with_gold(estimate)
}

# The same estimate from ratings alone.
without_gold <- function(estimate) {
  if (!is.null(estimate$gold)) {
    estimate$table <- estimate$gold$alone
    estimate$options$interval <- interval_robust$id
    estimate["gold"] <- NULL
  }
  estimate
}

gold_alone <- "gold alone" # sources that are no intervals of estimate_accuracy()
ratings_only <- "ratings alone"

measure_with_gold <- function(estimate) {
  gold <- estimate$gold
  options <- estimate$options
  settings <- c(gold$settings, options["conf_level"])
  systems <- seq_along(gold$alone$system)
  gold$measured <- gold_accuracy(gold$evidence, systems)
  estimate$gold <- gold
  x <- gold$measured
  known <- x$known
  alone <- ratings_alone(estimate, which(known))
  lack <- unlist(lapply(systems, function(s) lack_of_gold(estimate, s) %||% NA_character_))
  few <- of_known(known, lack_of_clusters(x))
  sources <- source_rows(
    gold$alone["system"], gold$alone, known, x, alone, ifelse(is.na(lack), few, lack), "share",
    settings, options$interval
  )
  from <- match(sources$system, gold$alone$system[known])
  finite <- settings$target == "cases" & sources$interval != ratings_only & !is.na(sources$estimate)
  sources$labels <- worth_in_labels(sources, ifelse(finite, x$cases[from], Inf))
  estimate$gold$sources <- sources[names(no_gold_sources)]
  estimate$gold$details <- gold_details(gold$alone, known, x, alone, settings, lack)
  estimate$table <- settle_sources(estimate$table, sources, options$interval)
  estimate
}

of_known <- function(known, value, others = NA_real_) {
  replace(rep_len(others, length(known)), known, value)
}

# What each source says of each row of `about`: gold alone, ratings alone, and intervals with both,
# with the `weight` of gold in the estimate, and the `size` of each interval (see gold_size()).
# `known`: of which rows gold says something, namely `x`, where ratings alone say `alone`; `table`:
# what ratings alone say of all rows, as estimates and intervals; `lack`: what gold lacks, named by
# codes; `field`: "share" or "difference", see new_interval().
source_rows <- function(about, table, known, x, alone, lack, field, settings, interval) {
  shown <- Filter(function(of) !of$gold$anytime || of$id == interval, gold_intervals())
  unaided <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  found <- list()
  if (any(known)) {
    found <- lapply(shown, function(record) record$gold[[field]](x, alone, settings))
    found[[gold_alone]] <- interval_corrected$gold[[field]](unaided, alone, settings)
  }
  tables <- lapply(c(gold_alone, names(shown)), function(id) {
    of <- found[[id]]
    of$weight <- of$weight %||% 1
    columns <- rlang::set_names(c("estimate", interval_columns, "size", "weight"))
    numbers <- lapply(columns, function(column) of_known(known, of[[column]]))
    tibble::tibble(
      about, interval = id, !!!numbers, reason = unname(lack), why = rlang::names2(lack)
    )
  })
  of_ratings <- tibble::tibble(
    about, interval = ratings_only, table[c("estimate", interval_columns)], size = NA_real_,
    weight = 0, table[c("reason", "why")]
  )
  rows <- stack_rows(append(tables, list(of_ratings), 1L))
  rows[order(rep(seq_len(nrow(about)), length(tables) + 1L)), ]
}

# `table` by the interval that users chose; by ratings alone where gold tells nothing of a row.
settle_sources <- function(table, sources, interval) {
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

# Labels that alone would give such errors; `cases` that they would be drawn from, if the accuracy
# is that of these cases.
worth_in_labels <- function(rows, cases) {
  variance <- rows$std.error^2 / (rows$estimate * (1 - rows$estimate))
  labels <- 1 / (ifelse(is.na(rows$size), variance, 1 / rows$size) + 1 / cases)
  ifelse(is.finite(labels) & !is.na(rows$std.error), labels, NA_real_)
}

# Why gold measures nothing of a system, words with a code as their name; NULL if it does.
lack_of_gold <- function(estimate, s) {
  evidence <- estimate$gold$evidence
  if (estimate$gold$measured$known[[s]]) {
    NULL
  } else if (is.null(evidence)) {
    lack_of_evidence(estimate)
  } else if (any(evidence$answer[evidence$at, s] > 0L)) {
    only_some_drawn
  } else {
    c(not_asked = paste(
      "it answered none of the", number(length(estimate$gold$case)), "gold cases"
    ))
  }
}

lack_of_evidence <- function(estimate) {
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

# A reason for each quantity, NA where there is none.
lack_of_clusters <- function(x) {
  clusters <- x$clusters %||% rep(Inf, length(x$estimate))
  few <- paste0(
    no_interval, "gold cases are in ", number(clusters), " cluster", ifelse(clusters == 1, "", "s"),
    ", and ", fewest_clusters, " are the least that tell how clusters differ"
  )
  ifelse(clusters < fewest_clusters, few, NA_character_)
}

# What gold says beside the accuracies of systems, of which `table` has what ratings alone say.
# `worth`: of how many labels without ratings one label with them does the work.
gold_details <- function(table, known, x, alone, settings, lack) {
  of <- function(value, others = NA_real_) of_known(known, value, others)
  facts <- columns_tibble(
    system = table$system, gold = as.integer(of(x$gold, 0)), cases = of(x$cases, table$n),
    worth = of(x$design / x$ratio)
  )
  said <- if (any(known)) {
    interval <- corrected_interval(x, settings$target, settings$conf_level)
    ends <- table[known, ]
    c(gold_test(x, alone), gold_common(interval, ends$independent, ends$shared))
  }
  columns <- setdiff(names(no_gold_details), c(names(facts), "reason"))
  facts[columns] <- lapply(columns, function(column) of(said[[column]]))
  facts[c("reason", "why")] <- list(unname(lack), rlang::names2(lack))
  facts
}

# Does gold say more of a system's estimate than ratings alone do?
rests_on_gold <- function(estimate) {
  if (is.null(estimate$gold)) return(rep(FALSE, nrow(estimate$table)))
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  weight >= 0.5 & !is.na(weight)
}

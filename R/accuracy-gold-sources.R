# What gold cases measure of the systems of an estimate, beside what ratings alone say.

# Puts what gold measures on top of an estimate from ratings alone.
#
# Field `gold` of an estimate has what settle_gold() gives (`case`, `truth`, `probability`,
# `sample`, `kind`, `settings`), and besides: `alone`, the table of the estimate from ratings alone;
# `evidence`, see gold_evidence(), NULL without gold cases that count; `measured`, what
# gold_accuracy() gives for each system, NULL for one that only ratings tell of; `sources`, a row
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
  gold$measured <- lapply(systems, function(s) {
    if (!is.null(gold$evidence)) gold_accuracy(gold$evidence, s)
  })
  estimate$gold <- gold
  known <- lengths(gold$measured) > 0L
  x <- bind_numbers(gold$measured[known])
  alone <- ratings_alone(estimate, which(known))
  lack <- unlist(lapply(systems, function(s) lack_of_gold(estimate, s) %||% NA_character_))
  few <- vapply(gold$measured, function(x) lack_of_clusters(x) %||% NA_character_, "")
  sources <- source_rows(
    gold$alone["system"], gold$alone, known, x, alone, ifelse(is.na(lack), few, lack), "gold",
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
# codes; `field`: "gold" or "difference", see new_interval().
source_rows <- function(about, table, known, x, alone, lack, field, settings, interval) {
  shown <- Filter(function(of) !of$anytime || of$id == interval, gold_intervals())
  unaided <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  found <- list()
  if (any(known)) {
    found <- lapply(shown, function(record) record[[field]](x, alone, settings))
    found[[gold_alone]] <- interval_corrected[[field]](unaided, alone, settings)
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
  if (!is.null(estimate$gold$measured[[s]])) {
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

lack_of_clusters <- function(x) {
  if (isTRUE(x$clusters < fewest_clusters)) {
    paste0(
      no_interval, "gold cases are in ", count_noun(x$clusters, "cluster"), ", and ",
      fewest_clusters, " are the least that tell how clusters differ"
    )
  }
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

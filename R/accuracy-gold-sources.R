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

measure_with_gold <- function(estimate) {
  gold <- estimate$gold
  systems <- seq_along(estimate$fit$x$systems)
  gold$measured <- lapply(systems, function(s) {
    if (!is.null(gold$evidence)) gold_accuracy(gold$evidence, s)
  })
  estimate$gold <- gold
  sources <- lapply(systems, function(s) gold_sources(estimate, s))
  estimate$gold$sources <- do.call(rbind, sources)
  estimate$gold$details <- do.call(rbind, lapply(systems, function(s) gold_facts(estimate, s)))
  for (s in which(lengths(gold$measured) > 0L)) {
    row <- sources[[s]][sources[[s]]$interval == estimate$options$interval, ]
    columns <- c("estimate", "std.error", "conf.low", "conf.high", "reason")
    estimate$table[s, columns] <- row[columns]
  }
  estimate
}

gold_alone <- "gold alone" # sources that are no intervals of estimate_accuracy()
ratings_only <- "ratings alone"

# Rows of gold alone, ratings alone, and intervals with both. `labels`: how many gold labels would
# do without ratings; `weight` of gold in the estimate.
gold_sources <- function(estimate, s) {
  x <- estimate$gold$measured[[s]]
  alone <- ratings_alone(estimate, s)
  settings <- c(estimate$gold$settings, estimate$options["conf_level"])
  records <- gold_intervals()
  shown <- !vapply(records, `[[`, NA, "anytime") | names(records) == estimate$options$interval
  none <- list(estimate = NA_real_)
  found <- lapply(records[shown], function(record) {
    if (is.null(x)) none else record$gold(x, alone, settings)
  })
  found <- c(stats::setNames(list(
    if (is.null(x)) none else without_ratings(x, settings),
    c(estimate$gold$alone[s, c(interval_columns, "estimate")], weight = 0)
  ), c(gold_alone, ratings_only)), found)
  lack <- lack_of_gold(estimate, s) %||% lack_of_clusters(x) %||% NA_character_
  rows <- Map(function(interval, from) {
    source_row(estimate, s, interval, from, settings$target, lack)
  }, names(found), found)
  do.call(rbind, unname(rows))
}

without_ratings <- function(x, settings) {
  x$estimate <- x$alone
  x$ratio <- x$design
  corrected_interval(x, settings$target, settings$conf_level)
}

source_row <- function(estimate, s, interval, found, target, lack) {
  x <- estimate$gold$measured[[s]]
  of_ratings <- interval == ratings_only
  columns_tibble(
    system = estimate$table$system[[s]], interval = interval, estimate = found$estimate,
    std.error = found$std.error %||% NA_real_, conf.low = found$conf.low %||% NA_real_,
    conf.high = found$conf.high %||% NA_real_,
    labels = worth_in_labels(found, if (target == "cases" && !of_ratings) x$cases),
    weight = if (is.null(x) && !of_ratings) NA_real_ else found$weight %||% 1,
    reason = if (of_ratings) estimate$gold$alone$reason[[s]] else lack
  )
}

# Labels that alone would give such an error; `cases` that they would be drawn from, if the accuracy
# is that of these cases.
worth_in_labels <- function(found, cases = NULL) {
  if (is.na(found$estimate) || is.na(found$std.error)) {
    return(NA_real_)
  }
  variance <- found$std.error^2 / (found$estimate * (1 - found$estimate))
  error <- if (is.na(found$size %||% NA)) variance else 1 / found$size
  labels <- 1 / (error + if (is.null(cases)) 0 else 1 / cases)
  if (is.finite(labels)) labels else NA_real_
}

# Why gold measures nothing of a system; NULL if it does.
lack_of_gold <- function(estimate, s) {
  n <- length(estimate$gold$case)
  if (!is.null(estimate$gold$measured[[s]])) {
    NULL
  } else if (n == 0L) {
    "there are no gold cases"
  } else if (is.null(estimate$gold$evidence)) {
    "weights are not counts, so gold cases are not a sample of cases"
  } else {
    answered <- sum(estimate$gold$evidence$answer[estimate$gold$evidence$at, s] > 0L)
    if (answered > 0L) {
      only_some_drawn
    } else {
      paste("it answered none of the", number(n), "gold cases")
    }
  }
}

only_some_drawn <- paste(
  "the probabilities of gold cases do not add up to its cases, some of which had no chance, then,",
  "to be drawn"
)

lack_of_clusters <- function(x) {
  if (isTRUE(x$clusters < fewest_clusters)) {
    paste0(
      no_interval, "gold cases are in ", count_noun(x$clusters, "cluster"), ", and ",
      fewest_clusters, " are the least that tell how clusters differ"
    )
  }
}

# What gold says beside the accuracy of a system. `worth`: of how many labels without ratings one
# label with them does the work.
gold_facts <- function(estimate, s) {
  x <- estimate$gold$measured[[s]]
  test <- list(statistic = NA_real_, p.value = NA_real_)
  common <- list(estimate = NA_real_, conf.low = NA_real_, conf.high = NA_real_)
  if (!is.null(x)) {
    test <- gold_test(x, ratings_alone(estimate, s))
    interval <- corrected_interval(x, estimate$gold$settings$target, estimate$options$conf_level)
    ends <- estimate$gold$alone
    common <- gold_common(interval, ends$independent[[s]], ends$shared[[s]])
  }
  columns_tibble(
    system = estimate$table$system[[s]], gold = x$gold %||% 0L,
    cases = x$cases %||% estimate$table$n[[s]], worth = if (is.null(x)) NA_real_ else worth_of(x),
    statistic = test$statistic, p.value = test$p.value, common = common$estimate,
    common.low = common$conf.low, common.high = common$conf.high,
    reason = lack_of_gold(estimate, s) %||% NA_character_
  )
}

worth_of <- function(x) if (x$ratio > 0) x$design / x$ratio else Inf

# Does gold say more of a system's estimate than ratings alone do?
rests_on_gold <- function(estimate) {
  if (is.null(estimate$gold)) {
    return(rep(FALSE, nrow(estimate$table)))
  }
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  weight >= 0.5 & !is.na(weight)
}

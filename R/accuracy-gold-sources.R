# What gold cases measure of the systems of an estimate, beside what ratings alone say.

# Puts what gold measures on top of an estimate from ratings alone.
#
# Field `gold` of an estimate has what settle_gold() gives (`case`, `truth`, `probability`,
# `sample`, `kind`, `settings`), and besides: `alone`, the table of the estimate from ratings alone;
# `evidence`, see gold_evidence(), NULL without gold cases that count; `measured`, what
# gold_accuracy() gives for each system, NULL for one that only ratings tell of; `sources`, a row
# per system and interval; and `details`, a row per system. `predicted`: see gold_evidence().
with_gold <- function(estimate, gold, predicted = NULL) {
  if (!gold_measures(gold)) return(estimate)
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
  estimate$gold$sources <- sources_of_systems(estimate)
  estimate$gold$details <- do.call(rbind, lapply(systems, function(s) gold_facts(estimate, s)))
  estimate$table <- settle_sources(
    estimate$table, estimate$gold$sources, estimate$options$interval
  )
  estimate
}

gold_alone <- "gold alone" # sources that are no intervals of estimate_accuracy()
ratings_only <- "ratings alone"

sources_of_systems <- function(estimate) {
  gold <- estimate$gold
  known <- lengths(gold$measured) > 0L
  lack <- vapply(seq_along(known), function(s) {
    lack_of_gold(estimate, s) %||% lack_of_clusters(gold$measured[[s]]) %||% NA_character_
  }, "")
  settings <- c(gold$settings, estimate$options["conf_level"])
  rows <- source_rows(
    gold$alone["system"], gold$alone, known, bind_numbers(gold$measured[known]),
    ratings_alone(estimate, which(known)), lack, "gold", settings, estimate$options$interval
  )
  cases <- rep(Inf, nrow(rows))
  drawn <- gold$settings$target == "cases" & rows$interval != ratings_only & !is.na(rows$estimate)
  own <- match(rows$system[drawn], gold$alone$system)
  cases[drawn] <- vapply(gold$measured[own], `[[`, 0, "cases")
  rows$labels <- worth_in_labels(rows, cases)
  rows[names(no_gold_sources)]
}

# What each source says of each row of `about`: gold alone, ratings alone, and intervals with both,
# with the `weight` of gold in the estimate, and the `size` of each interval (see gold_size()).
# `known`: of which rows gold says something, namely `x`, where ratings alone say `alone`; `table`:
# what ratings alone say of all rows, as estimates and intervals; `lack`: what gold lacks; `field`:
# "gold" or "difference", see new_interval().
source_rows <- function(about, table, known, x, alone, lack, field, settings, interval) {
  shown <- Filter(function(of) !of$anytime || of$id == interval, gold_intervals())
  unaided <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  say <- function(id) {
    if (!any(known)) {
      list()
    } else if (id == gold_alone) {
      interval_corrected[[field]](unaided, alone, settings)
    } else {
      shown[[id]][[field]](x, alone, settings)
    }
  }
  columns <- c("estimate", interval_columns, "size", "weight")
  tables <- lapply(c(gold_alone, names(shown)), function(id) {
    found <- say(id)
    found$weight <- found$weight %||% 1
    numbers <- lapply(rlang::set_names(columns), function(column) {
      replace(rep(NA_real_, nrow(about)), known, found[[column]])
    })
    tibble::tibble(about, interval = id, !!!numbers, reason = lack)
  })
  of_ratings <- tibble::tibble(
    about, interval = ratings_only, table[c("estimate", interval_columns)], size = NA_real_,
    weight = 0, table["reason"]
  )
  rows <- do.call(rbind, append(tables, list(of_ratings), 1L))
  rows[order(rep(seq_len(nrow(about)), length(tables) + 1L)), ]
}

# `table` by the interval that users chose; by ratings alone where gold tells nothing of a row.
settle_sources <- function(table, sources, interval) {
  chosen <- sources[sources$interval == interval, ]
  known <- !is.na(chosen$estimate)
  columns <- c("estimate", interval_columns, "reason")
  table[known, columns] <- chosen[known, columns]
  table
}

# Labels that alone would give such errors; `cases` that they would be drawn from, if the accuracy
# is that of these cases.
worth_in_labels <- function(rows, cases) {
  variance <- rows$std.error^2 / (rows$estimate * (1 - rows$estimate))
  labels <- 1 / (ifelse(is.na(rows$size), variance, 1 / rows$size) + 1 / cases)
  ifelse(is.finite(labels) & !is.na(rows$std.error), labels, NA_real_)
}

# Why gold measures nothing of a system; NULL if it does.
lack_of_gold <- function(estimate, s) {
  evidence <- estimate$gold$evidence
  if (!is.null(estimate$gold$measured[[s]])) {
    NULL
  } else if (is.null(evidence)) {
    lack_of_evidence(estimate)
  } else if (any(evidence$answer[evidence$at, s] > 0L)) {
    only_some_drawn
  } else {
    paste("it answered none of the", number(length(estimate$gold$case)), "gold cases")
  }
}

lack_of_evidence <- function(estimate) {
  if (length(estimate$gold$case) > 0L) {
    "weights are not counts, so gold cases are not a sample of cases"
  } else {
    "there are no gold cases"
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
  if (is.null(estimate$gold)) return(rep(FALSE, nrow(estimate$table)))
  sources <- estimate$gold$sources
  weight <- sources$weight[sources$interval == estimate$options$interval]
  weight >= 0.5 & !is.na(weight)
}

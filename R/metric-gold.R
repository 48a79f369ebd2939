# Quantities measured with gold cases: metrics of the joint table, cells of confusion matrices,
# metrics of scores. The contribution of a case to a metric is the slope of its cell. For gold cases
# the cell is known, for other cases ratings predict it. The mean contribution over all cases,
# corrected by gold like any other mean, has the variance of the metric of the corrected table.

# `rows`: those of system `s` from ratings only, with `sampling` and `hidden` errors.
metrics_with_gold <- function(rows, estimate, plan, s, interval, conf_level) {
  evidence <- estimate$gold$evidence
  part <- gold_tables(evidence, s, n_categories(plan))
  ends <- ranges_of_plan(plan)
  x <- NULL
  lack <- rep_len(unname(why_no_gold(estimate, s) %||% NA_character_), nrow(rows))
  still <- FALSE
  if (!is.null(part)) {
    if (part$all_known) {
      columns <- c("estimate", "reason")
      rows[columns] <- point_rows(estimate, plan, part$gold_table * part$gold, s)[columns]
      rows[is.na(rows$estimate), interval_columns] <- NA_real_
    }
    ends <- ranges_of_margins(ends, part$start, plan)
    slope <- unit_slopes(metric_slopes(plan, part$start), ends)
    still <- uses_answers_only(slope)
    x <- gold_metrics(part, slope, plan, ends)
    lack <- why_no_metrics(part, slope, plan, x)
  }
  prior <- unit_rows(rows, ends)
  # Rows that are shares of a known number of cases are measured like accuracies. Column 1 is the
  # accuracy, a share of all cases. Others are precisions, shares of the cases with an answer.
  column <- 1L + ifelse(field_of_rows(plan, "share") == "answer",
    match(plan$rows$category, plan$categories), 0L)
  at <- which(field_of_rows(plan, "share") != "" & !is.na(column))
  if (!is.null(evidence) && length(at) > 0L) {
    answer <- evidence$answer[, s]
    evidence$answer <- cbind(answer, answer * outer(answer, seq_len(n_categories(plan)), `==`))
    share <- gold_accuracy(evidence, column[at])
    measured <- at[share$known]
    lack[setdiff(at[is.na(lack[at])], measured)] <- only_some_drawn
    lack[measured] <- NA
    for (field in setdiff(names(share), c("rest", "answers", "known"))) {
      x[[field]] <- replace(x[[field]] %||% rep(NA_real_, nrow(rows)), measured, share[[field]])
    }
    whole <- at[column[at] == 1L]
    prior <- Map(replace, prior, list(whole), estimates_from_ratings(estimate, s)[names(prior)])
  }
  measured_rows(rows, x, prior, lack, ends, estimate, interval, conf_level, still)
}

# `x`: measurement of each row by gold cases (see correct_mean()). `prior`: prediction from ratings
# without gold. Both are on the unit scale. `lack`: reason why gold does not measure a row, or NA.
# `still`: rows that need no gold.
measured_rows <- function(rows, x, prior, lack, ends, estimate, interval, conf_level,
                          still = FALSE) {
  # Gold also measures quantities that are not identified from one rater.
  wanted <- (!is.na(rows$estimate) | is_one_rater(estimate$fit$x)) & !still
  lack <- rep_len(unname(lack), nrow(rows))
  rows[wanted, interval_columns] <- NA_real_
  rows$reason[wanted] <- ifelse(is.na(lack), why_no_clusters(x), paste0(no_interval, lack))[wanted]
  known <- which(wanted & is.na(lack))
  if (length(known) == 0L) return(rows)
  some <- function(fields) lapply(fields, `[`, known)
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  columns <- c("estimate", interval_columns)
  record <- accuracy_intervals[[interval]]
  unit <- do.call(cbind, record$gold$share(some(x), some(prior), settings)[columns])
  ends <- ends[known, , drop = FALSE]
  value <- unit * widths(ends) + outer(ends[, 1L], columns != "std.error")
  rows[known, columns] <- as.data.frame(value)
  rows
}

# Smallest value of metrics that can be negative, for two categories: truths and answers agree as
# little as their frequencies allow. If a category is rare, this is nearly 0, and the scale of
# errors ends at this value.
ranges_of_margins <- function(ends, table, plan) {
  if (n_categories(plan) != 2L) return(ends)
  table <- matrix(table, 2L, byrow = TRUE)
  truth <- rowSums(table)
  right <- pmax(0, truth + colSums(table) - 1)
  least <- metric_values(plan, c(right[[1L]], truth - right, right[[2L]]))
  lower <- ends[, 1L] < 0 & !is.na(least)
  ends[lower, 1L] <- least[lower]
  ends
}

# Estimates from ratings only, on the unit scale.
unit_rows <- function(rows, ends) {
  list(
    estimate = to_unit(rows$estimate, ends), std.error = rows$std.error / widths(ends),
    bias = rows$hidden / widths(ends)
  )
}

# Gold cases that system `s` answered, see gold_part(). Further fields: `predicted`, probability of
# each category from ratings, and `answer`, both by pattern; `mean`, probability of each cell over
# all cases, and `off`, its difference for gold cases; `gold_table`, the table of gold cases only;
# `start`, the table at which slopes are computed. In `start` no cell is empty if ratings expect a
# case in it. NULL without gold.
gold_tables <- function(evidence, s, n) {
  part <- if (!is.null(evidence)) gold_of_system(evidence, s)
  if (is.null(part)) return(NULL)
  answer <- part$answer <- evidence$answer[, s]
  part$predicted <- fill_unrated(evidence$predicted, part$weight)
  part$mean <- predicted_table(part, seq_along(answer), part$weight)
  w <- part$w / sum(part$w)
  part$gold_table <- rowsum_codes((part$truth - 1L) * n + answer[part$at], w, n^2)
  part$off <- predicted_table(part, part$at, part$w) - part$mean
  start <- pmax(part$gold_table - prior_slope * part$off, 0)
  part$start <- (part$gold * start / sum(start) + part$mean) / (part$gold + 1)
  part$all_known <- part$gold >= sum(part$weight)
  part
}

# Mean probability of each cell over patterns `at` with weights `w`, predicted from ratings.
predicted_table <- function(part, at, w) {
  answered <- outer(part$answer[at], seq_len(ncol(part$predicted)), `==`)
  as.vector(crossprod(answered * w, part$predicted[at, , drop = FALSE])) / sum(w)
}

# Which metrics (columns of `slope`) depend only on the answers?
uses_answers_only <- function(slope) {
  n <- sqrt(nrow(slope))
  first_truth <- slope[rep(seq_len(n), n), , drop = FALSE]
  colSums(abs(slope - first_truth) >= 1e-9) %in% 0 & colSums(abs(slope) >= 1e-9) > 0
}

# Slopes on the unit scale, cells x rows of the plan.
unit_slopes <- function(slopes, ends) {
  slope <- vapply(seq_along(slopes$whole), slope_of, numeric(slopes$n^2), slopes = slopes)
  slope / rep(widths(ends), each = nrow(slope))
}

# Rows of the plan on the unit scale. NA if gold is not informative or no case changes the metric.
# `slope`: see unit_slopes().
gold_metrics <- function(part, slope, plan, ends) {
  varies <- colSums(part$start * slope^2) # few gold cases may not show this variation
  influence <- function(i) { # 0 without an answer
    rbind(0, matrix(slope[, i], ncol(part$predicted)))[part$answer + 1L, , drop = FALSE]
  }
  scale <- function(mean, spread, gold) pmax(spread, varies)
  steepest <- apply(abs(slope), 2L, max)
  gold_influence(part, part$predicted, influence, scale, steepest, function(mean, slope) {
    shares <- t(pmax(part$gold_table - outer(part$off, slope), 0))
    to_unit(values_by_row(plan, shares / rowSums(shares)), ends)
  })
}

# Measures quantities by the influence of cases. `influence`: a function of the number of a
# quantity. It returns the influence of each pattern (or case) by its truth, a matrix in the form of
# `predicted`. `scale`: see correct_mean(). `steepest`: see as_share(). `value`: a function of
# corrected means and slopes that returns the quantities on the unit scale.
gold_influence <- function(part, predicted, influence, scale, steepest, value) {
  columns <- vapply(seq_along(steepest), function(i) {
    g <- influence(i)
    c(g[cbind(part$at, part$truth)], rowSums(predicted * g))
  }, numeric(length(part$at) + nrow(predicted)))
  of_gold <- seq_along(part$at)
  correct <- function(...) correct_mean(..., scale = scale)
  x <- gold_quantity(
    part, columns[of_gold, , drop = FALSE], columns[-of_gold, , drop = FALSE], correct,
    function(x) as_share(x, value(x$estimate, x$slope), value(x$alone, 0 * x$slope), steepest)
  )
  x[setdiff(names(x), c("rest", "answers"))]
}

# Values of the rows of a plan, each for a separate table.
values_by_row <- function(plan, tables) {
  unlist(lapply(unique(plan$rows$metric), function(id) {
    plan$records <- plan$records[id]
    diag(metric_values(plan, tables[plan$rows$metric == id, , drop = FALSE]))
  }))
}

# Expresses variances in units of the variance of a share. The share has the number of gold cases
# or, if larger, the number of cases with the information in gold. Half a case of each kind is
# added, so that the variance is not 0. If less than half a case of one kind was seen, or cases are
# very few, gold cases hardly vary. The error is then at least the error of a share of a small
# number of cases. The number is such that one of them changes the share as much as the most
# influential case changes the quantity. This change is `steepest`; 0 means no such bound. See
# add_standard_errors().
as_share <- function(x, value, alone, steepest) {
  variance_of_share <- function(cases) {
    share <- (cases * value + 0.5) / (cases + 1)
    share * (1 - share)
  }
  value[x$variance <= 1e-18] <- NA
  cases <- x$gold * variance_of_share(x$gold) / x$variance
  variance <- variance_of_share(pmin(most_information, pmax(x$gold, cases)))
  least <- x$gold / steepest
  few <- pmin(value, 1 - value) * least < 0.5 | least < cases_of_a_share
  few <- which(few & variance / x$variance > 1 / steepest)
  variance[few] <- variance_of_share(least)[few]
  x$variance[few] <- (variance * steepest)[few]
  more <- x$variance / variance
  x$estimate <- value
  x$alone <- x$seen <- alone
  x$variance <- variance
  x$ratio <- x$ratio * more
  x$design <- x$design * more
  x$at_hand <- more
  x
}

# Reason why gold does not measure a row, or NA. A row of a category, and an average, needs gold
# cases of the category. It also needs gold cases with the category as answer, unless only cases of
# the category change it (such as recall). Metrics of the whole table use all categories together,
# but agreement beyond chance is undefined if gold has one category.
why_no_metrics <- function(part, slope, plan, x) {
  n <- n_categories(plan)
  gold <- table_sums(matrix(part$gold_table, 1L), n)
  expected <- table_sums(matrix(part$mean, 1L), n)
  words <- "no gold case is of category %s, or none has it as answer"
  of_chance <- ranges_of_plan(plan)[, 1L] < 0
  why_no_rows(plan, x, expected$truth > 0, words, function(i) {
    whole <- is.na(plan$rows$average[[i]]) && is.na(plan$rows$category[[i]])
    if (part$all_known || (whole && !(of_chance[[i]] && sum(gold$truth > 0) < 2L))) return(FALSE)
    moves <- matrix(abs(slope[, i]) >= 1e-9, n) # answers x truths
    gold$truth <= 0 | (gold$answer <= 0 & expected$answer > 0 & colSums(moves) < sum(moves))
  })
}

# `absent`: a function of the number of a row that returns the categories without gold. They matter
# for the category of the row or, if it has none, for all `expected` categories.
why_no_rows <- function(plan, x, expected, words, absent) {
  vapply(seq_along(x$estimate), function(i) {
    category <- plan$rows$category[[i]]
    needed <- if (is.na(category)) expected else plan$categories == category
    lacks <- plan$categories[needed & absent(i)]
    if (length(lacks) > 0L) return(sprintf(words, lacks[[1L]]))
    if (is.na(x$estimate[[i]])) "gold cases do not vary in it" else NA_character_
  }, "")
}

# ---- Metrics of scores ---------------------------------------------------------------------------
# Compares the influence of each gold case on the metric, given its truth (see metric-influence.R),
# with the prediction from ratings.

# `rows`: those of a system from ratings only, with `hidden` errors.
score_metrics_with_gold <- function(rows, estimate, plan, judge, interval, conf_level) {
  part <- scored_gold(estimate, judge)
  ends <- ranges_of_plan(plan)
  prior <- unit_rows(rows, ends)
  lack <- why_no_scored(estimate, part)
  x <- NULL
  if (is.na(lack)) {
    x <- gold_scores(part, plan, judge, prior$estimate, ends)
    lack <- why_no_scores(part, plan, judge, x)
  }
  rows <- measured_rows(rows, x, prior, lack, ends, estimate, interval, conf_level)
  lower_limits_by_gaps(rows, plan, judge, normal_quantile(conf_level))
}

# Gold among the scored cases of a system: `at`, their positions; other fields as in gold_part().
scored_gold <- function(estimate, judge) {
  gold <- estimate$gold
  place <- match(gold$case, judge$at)
  copies <- rep.int(which(!is.na(place)), judge$v[place[!is.na(place)]])
  w <- drawn_weight(gold, copies)
  list(
    at = place[copies], truth = gold$truth[copies], w = w, gold = length(copies),
    weight = judge$v, cluster = estimate$options$cluster[gold$case[copies]],
    stands = stand_for(as.matrix(judge$v), as.matrix(w), !is.null(gold$probability))
  )
}

# `start`: estimates from ratings only, on the unit scale.
gold_scores <- function(part, plan, judge, start, ends) {
  influence <- Map(`/`, score_influence(plan, judge$book, judge$w, judge$v), widths(ends))
  middle <- vapply(influence, mean_loss, 0, judge$w, judge$v)
  varies <- unlist(Map(function(g, m) mean_loss((g - m)^2, judge$p, judge$v), influence, middle))
  linear <- field_of_rows(plan, "linear")
  by_row <- function(i) influence[[i]]
  # Few gold cases may not show how much the influence varies.
  scale <- function(mean, spread, gold) {
    (gold * spread + prior_cases * varies) / (gold + prior_cases)
  }
  gold_influence(part, judge$p, by_row, scale, 0 * varies, function(mean, slope) {
    value <- clip01(start + mean - middle)
    for (share in unique(slope[!linear])) {
      at <- which(!linear & slope %in% share)
      moved <- score_values(plan, judge$book, gold_weights(part, judge, share), judge$v)[at]
      value[at] <- to_unit(moved, ends[at, , drop = FALSE])
    }
    value
  })
}

# Weights of truths, with the correction by the truths of gold cases.
gold_weights <- function(part, judge, slope) {
  out <- slope * judge$p
  off <- outer(part$truth, seq_len(ncol(out)), `==`) - out[part$at, , drop = FALSE]
  share <- part$w / sum(part$w) * sum(judge$v) / judge$v[part$at]
  out + apply(off * share, 2L, rowsum_codes, code = part$at, n = nrow(out))
}

why_no_scored <- function(estimate, part) {
  if (is.null(estimate$gold$evidence)) {
    why_no_evidence(estimate)
  } else if (part$gold == 0L) {
    "it has a score of none of the gold cases"
  } else if (!part$stands) {
    only_some_drawn
  } else {
    NA_character_
  }
}

why_no_scores <- function(part, plan, judge, x) {
  by_category <- field_of_rows(plan, "form") == "category"
  expected <- colSums(judge$p * judge$v) >= few_cases
  why_no_rows(plan, x, expected, "no gold case is of category %s", function(i) {
    by_category[[i]] & !seq_along(expected) %in% part$truth
  })
}

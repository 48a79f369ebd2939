# Metrics of scores in estimate_metrics(): estimates and intervals.

# An entry for metric_engines().
metrics_of_scores <- function(estimate, plan, interval, conf_level) {
  alone <- without_gold(estimate)
  panel <- score_panel(alone)
  judges <- lapply(seq_along(alone$fit$x$systems), panel$judge)
  tables <- lapply(judges, score_point, estimate = alone, plan = plan)
  known <- which(vapply(tables, function(table) !all(is.na(table$estimate)), NA))
  record <- accuracy_intervals()[[interval]]
  if (is.null(record$find) || length(known) == 0L) return(stack_rows(tables))
  lack <- lack_of_kind(record) %||% lack_of_interval(interval_bootstrap, estimate)
  draws <- if (is.null(lack)) {
    draw_scores(alone, panel, judges, nrow(plan$rows), function(judge, w, v) {
      score_values(plan, judge$book, w, v)
    })
  }
  tables[known] <- lapply(known, function(s) {
    if (!is.null(lack)) return(without_interval(tables[[s]], lack))
    rows <- score_intervals(tables[[s]], alone, plan, judges[[s]], draws[[s]], record, conf_level)
    if (measures_by_gold(estimate, interval)) {
      rows <- scores_with_gold(rows, estimate, plan, judges[[s]], interval, conf_level)
    }
    rows[setdiff(names(rows), "hidden")]
  })
  stack_rows(tables)
}

# What all systems are judged by. judge(s): a list of `s` and `lack`, why it cannot be judged, or of
# `at`, the cases that are scored and judged, their weights `v`, probabilities `p` and whether they
# are `known`, `book`, `back`, the share of shared errors, and `w`, weights of truths.
score_panel <- function(estimate) {
  x <- estimate$fit$x
  judged <- judged_patterns(estimate$fit)[x$index]
  weight <- weights_of_cases(x)
  lack <- if (is.null(x$scores)) {
    "there are no scores"
  } else if (!has_posterior(estimate)) {
    accuracy_only(estimate)
  }
  beliefs <- if (is.null(lack)) rater_beliefs(estimate)
  p <- if (is.null(lack)) beliefs$of(NULL)
  if (anyNA(p[judged, ])) lack <- "the raters' agreement does not separate the categories"
  judge <- function(s) {
    values <- x$scores$values[[x$systems[[s]]]]
    at <- if (!is.null(values)) which(!is.na(values[, 1L]) & judged & weight > 0)
    lack <- lack %||% if (is.null(values)) {
      "the system has no scores"
    } else if (length(at) == 0L) {
      "raters saw no case that has scores"
    }
    if (!is.null(lack)) return(list(s = s, lack = lack))
    out <- list(
      s = s, at = at, v = weight[at], p = p[at, , drop = FALSE], known = beliefs$known[at],
      book = score_book(values[at, , drop = FALSE]), back = back_of(estimate, s)
    )
    out$w <- score_weights(out)
    if (is.null(out$w)) out$lack <- "raters hardly separate the categories"
    out
  }
  list(beliefs = beliefs, weight = weight, judge = judge)
}

# From independent (0) to shared errors (1): what the method stands for, or is stated. The typical
# share is how often two wrong answers are the same, which for two categories
# they always are; wrong scores are not, so that they are not corrected.
back_of <- function(estimate, s) {
  if (identical(estimate$options$method, method_shared$id)) return(1)
  back <- if (is_stated(estimate$options)) estimate$details$common[[s]] else 0
  if (is.na(back)) 0 else back
}

score_weights <- function(judge, p = judge$p, v = judge$v, back = judge$back) {
  truth_weights(p, judge$known, v, back)
}

# Rows of one system without intervals.
score_point <- function(estimate, plan, judge) {
  rows <- plan$rows
  value <- rep(NA_real_, nrow(rows))
  reason <- rep(judge$lack %||% NA_character_, nrow(rows))
  if (is.null(judge$lack)) {
    value <- score_values(plan, judge$book, judge$w, judge$v)
    reason[is.na(value)] <- undefined_reason(plan)[is.na(value)]
    if (estimate$fit$x$scores$scale != "probability") {
      off <- vapply(plan$records, `[[`, NA, "probabilities")[rows$metric]
      value[off] <- NA_real_
      reason[off] <- "scores are not probabilities, they only order cases"
    }
  }
  system <- estimate$table$system[[judge$s]]
  metric_rows(estimate, plan, system, value, sum(judge$v), reason)
}

# Of each judge a matrix, replicates by `numbers`, of what `measure` gives for it, weights of truths
# and of cases; a row of NA where raters tell nothing. Cases, or clusters of them, are drawn anew,
# and raters fitted again to what was drawn.
draw_scores <- function(estimate, panel, judges, numbers, measure) {
  drawn <- resampling(estimate$fit$x, estimate$options, "case")
  rows <- resampled(name = "Bootstrap of scores", resampling = drawn, run = function(times) {
    p <- panel$beliefs$of(times)
    lapply(judges, function(judge) {
      if (!is.null(judge$lack) || anyNA(p)) return(NULL)
      v <- times[judge$at]
      w <- score_weights(judge, p[judge$at, , drop = FALSE], v)
      if (!is.null(w)) measure(judge, w, v)
    })
  })
  lapply(seq_along(judges), function(s) {
    stack_rows(rows, function(row) row[[s]] %||% rep(NA_real_, numbers))
  })
}

score_intervals <- function(found, estimate, plan, judge, draws, record, conf_level) {
  ends <- ranges_of_plan(plan)
  values <- around_estimate(to_unit(draws, ends), to_unit(found$estimate, ends), plan)
  found <- if (record$spread == "percentile") {
    unit_percentiles(found, values, ends, conf_level)
  } else {
    sampling <- apply(values, 2L, stats::sd, na.rm = TRUE) * widths(ends)
    found$hidden <- hidden_of_scores(estimate, plan, judge)
    found$std.error <- ifelse(is.na(found$estimate), NA_real_, sqrt(sampling^2 + found$hidden^2))
    interval_rows(found, ends, robust_quantile(estimate$options, conf_level))
  }
  with_slack(found, plan, judge)
}

# Which rows of the plan are sums of sizes of gaps?
rows_of_gaps <- function(plan) vapply(plan$records, `[[`, NA, "gaps")[plan$rows$metric]

# There may be no gaps, and chance may have made all that it can: the lower end allows for that. It
# is no nearer than `z` standard errors, since gold cases add chance of their own.
with_slack <- function(found, plan, judge, z = 0) {
  for (i in which(rows_of_gaps(plan))) {
    kernel <- plan$records[[plan$rows$metric[[i]]]]$kernel
    slack <- kernel(judge$book, judge$w, judge$v, plan$settings)$slack
    low <- min(found$conf.low[[i]], found$estimate[[i]] - z * found$std.error[[i]])
    found$conf.low[[i]] <- max(0, low - slack)
  }
  found
}

# Sizes of gaps grow with every drawing, so that replicates of them stand around another value.
around_estimate <- function(values, estimate, plan) {
  moved <- rows_of_gaps(plan) & !is.na(estimate)
  if (any(moved)) {
    centre <- apply(values[, moved, drop = FALSE], 2L, stats::median, na.rm = TRUE)
    off <- rep(estimate[moved] - centre, each = nrow(values))
    values[, moved] <- clip01(values[, moved] + off)
  }
  values
}

# Standard deviation of what shared errors hide of each metric, as hidden_errors() has it of
# tables: along the line between the ends of what system and raters may have in common, and where
# raters are wrong together, which moves cases to the truth that the highest score says. What makes
# answers of raters and systems look free of shared errors says nothing of scores.
hidden_of_scores <- function(estimate, plan, judge) {
  estimate$details$dependence_weight[!is.na(estimate$details$dependence_weight)] <- 1
  at_end <- function(back) {
    score_values(plan, judge$book, score_weights(judge, back = back), judge$v)
  }
  v <- judge$v
  sums_by_top <- function(values) as.vector(rowsum(values * v, judge$book$top))
  chosen <- outer(judge$book$top, seq_len(ncol(judge$w)), `==`)
  cases <- sums_by_top(rep(1, length(v)))
  wrong <- 1 - sums_by_top(rowSums(judge$w * chosen)) / cases
  shift <- vapply(score_influence(plan, judge$book, judge$w, v), function(g) {
    moved <- sums_by_top(rowSums(g * (chosen - judge$w))) / sum(v)
    ifelse(wrong > 0, moved / wrong, 0)
  }, wrong)
  hidden_in_all(
    estimate, judge$s, at_end(0) - at_end(1), matrix(shift, length(wrong)), cases / sum(v)
  )
}

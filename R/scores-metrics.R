# Metrics of scores in estimate_metrics(): estimates and intervals.

# An entry for metric_engines().
metrics_of_scores <- function(estimate, plan, interval, conf_level) {
  alone <- without_gold(estimate)
  panel <- score_panel(alone)
  judges <- lapply(seq_along(alone$fit$x$systems), panel$judge)
  tables <- lapply(seq_along(judges), function(s) score_point(alone, plan, judges[[s]], panel, s))
  finder <- accuracy_intervals()[[interval]]
  if (!is.null(finder$find)) {
    lack <- lack_of_score_interval(estimate, finder)
    known <- vapply(tables, function(table) !all(is.na(table$estimate)), NA)
    draws <- if (is.null(lack) && any(known)) score_draws(alone, plan, judges, panel)
    for (s in which(known)) {
      tables[[s]] <- if (is.null(lack)) {
        judge <- judges[[s]]
        judge$w <- score_weights(judge, panel, panel$p, panel$weight)
        rows <- score_intervals(
          tables[[s]], alone, plan, judge, panel, draws[[s]], finder, s, conf_level
        )
        if (!is.null(finder$gold) && !is.null(estimate$gold)) {
          rows <- scores_with_gold(rows, estimate, plan, judge, panel, finder, conf_level)
        }
        rows[setdiff(names(rows), "hidden")]
      } else {
        without_interval(tables[[s]], lack)
      }
    }
  }
  do.call(rbind, tables)
}

# What all systems are judged by. judge(s): NULL without scores, else a list of `at`, the cases that
# are scored and judged, `book`, and `back`, the share of errors in common.
score_panel <- function(estimate) {
  x <- estimate$fit$x
  method <- method_of(estimate)
  lack <- if (is.null(x$scores)) {
    "there are no scores"
  } else if (!method$posterior) {
    paste0("method \"", estimate$options$method, "\" estimates accuracy only")
  }
  beliefs <- if (is.null(lack)) rater_beliefs(estimate)
  p <- if (is.null(lack)) beliefs$of(NULL)
  if (is.null(lack) && anyNA(p[judged_patterns(estimate$fit)[x$index], ])) {
    lack <- "the raters' agreement does not separate the categories"
  }
  weight <- weights_of_cases(x)
  judge <- function(s) {
    values <- x$scores$values[[x$systems[[s]]]]
    lack <- lack %||% if (is.null(values)) "the system has no scores"
    if (!is.null(lack)) return(list(lack = lack))
    at <- which(!is.na(values[, 1L]) & judged_patterns(estimate$fit)[x$index] & weight > 0)
    if (length(at) == 0L) return(list(lack = "raters saw no case that has scores"))
    list(
      at = at, book = score_book(values[at, , drop = FALSE]), back = back_of(estimate, s),
      n = sum(weight[at])
    )
  }
  list(beliefs = beliefs, p = p, weight = weight, judge = judge)
}

# From errors of their own (0) to errors in common (1): what the method stands for, or was told.
# What is typically in common is how often two wrong answers are the same, which for two categories
# they always are; wrong scores are not, so that nothing of it is taken back from them.
back_of <- function(estimate, s) {
  if (identical(estimate$options$method, method_shared$id)) {
    return(1)
  } else if (!is_stated(estimate$options)) {
    return(0)
  }
  back <- estimate$details$common[[s]]
  if (is.na(back)) 0 else back
}

score_weights <- function(judge, panel, p, v) {
  truth_weights(
    p[judge$at, , drop = FALSE], panel$beliefs$known[judge$at], v[judge$at], judge$back
  )
}

# Rows of one system without intervals.
score_point <- function(estimate, plan, judge, panel, s) {
  rows <- plan$rows
  value <- rep(NA_real_, nrow(rows))
  w <- if (is.null(judge$lack)) score_weights(judge, panel, panel$p, panel$weight)
  lack <- judge$lack %||% if (is.null(w)) "raters hardly separate the categories"
  reason <- rep(lack %||% NA_character_, nrow(rows))
  if (is.null(lack)) {
    value <- score_values(plan, judge$book, w, panel$weight[judge$at])
    reason[is.na(value)] <- undefined_reason(plan)[is.na(value)]
    if (estimate$fit$x$scores$scale != "probability") {
      off <- vapply(plan$records, `[[`, NA, "probabilities")[rows$metric]
      value[off] <- NA_real_
      reason[off] <- "scores are not probabilities, they only order cases"
    }
  }
  metric_rows(estimate, plan, estimate$table$system[[s]], value, judge$n %||% 0, reason)
}

lack_of_score_interval <- function(estimate, interval) {
  if (!interval$cells && !interval$delta) {
    paste0("a ", interval$words, " is for accuracy only")
  } else {
    lack_of_interval(interval_bootstrap, estimate)
  }
}

score_draws <- function(estimate, plan, judges, panel) {
  cases <- sum(panel$weight)
  if (cases <= 2 * most_drawn || !is.null(estimate$options$cluster)) {
    return(draw_scores(estimate, panel, judges, nrow(plan$rows), function(judge, w, v) {
      score_values(plan, judge$book, w, v)
    }))
  }
  shrink <- sqrt(most_drawn / cases)
  lapply(draw_few(estimate, plan, judges, panel), function(draws) {
    centre <- rep(colMeans(draws, na.rm = TRUE), each = nrow(draws))
    centre + shrink * (draws - centre)
  })
}

# Of more cases than twice this number so many are drawn, and deviations are made as much smaller as
# more cases would. These are so small that metrics are straight lines: each drawn case adds what
# it has of the metric.
most_drawn <- 5000

draw_few <- function(estimate, plan, judges, panel) {
  n <- length(panel$weight)
  one <- rep(1, n)
  scored <- scored_judges(judges)
  lines <- lapply(judges[scored], function(judge) metric_line(plan, judge, panel))
  # Most often all systems score the same cases, whose weights are then found once.
  cases <- lapply(judges[scored], `[[`, "at")
  of_set <- match(cases, unique(cases))
  sets <- lapply(unique(cases), function(at) match(seq_len(n), at))
  draws_of_judges(estimate, judges, nrow(plan$rows), size = most_drawn, run = function(times) {
    drawn <- rep(seq_along(times), times) # near in memory
    p <- panel$beliefs$of(times)
    of <- lapply(sets, function(at) {
      place <- at[drawn]
      judge <- list(at = drawn[!is.na(place)], back = 0)
      own <- if (!anyNA(p)) score_weights(judge, panel, p, one)
      list(at = place[!is.na(place)], own = own, common = p[judge$at, , drop = FALSE])
    })
    lapply(seq_along(scored), function(s) {
      value_of_line(lines[[s]], of[[of_set[[s]]]], judges[[scored[[s]]]]$back)
    })
  })
}

scored_judges <- function(judges) which(vapply(judges, function(judge) is.null(judge$lack), NA))

# NULL where the draw has no weights of truths.
value_of_line <- function(line, set, back) {
  if (back == 1) set$own <- set$common
  if (!is.null(set$own)) line(set$at, set$own + back * (set$common - set$own))
}

# A matrix per judge, replicates by `numbers`, of what `run` gives for those that score, as a list;
# NULL is a row of NA.
draws_of_judges <- function(estimate, judges, numbers, run, size = NaN) {
  drawn <- resampling(estimate$fit$x, estimate$options, "case")
  rows <- resampled(run, drawn, "Bootstrap of scores", size)
  scored <- scored_judges(judges)
  lapply(seq_along(judges), function(s) {
    at <- match(s, scored)
    lacking <- rep(NA_real_, numbers)
    do.call(rbind, lapply(rows, function(row) if (is.na(at)) lacking else row[[at]] %||% lacking))
  })
}

# The straight line that touches the metrics where they are estimated: a function of places of some
# of the judge's cases and of their weights of truths.
metric_line <- function(plan, judge, panel) {
  v <- panel$weight[judge$at]
  w <- score_weights(judge, panel, panel$p, panel$weight)
  if (is.null(w)) return(function(at, w) NA_real_)
  start <- score_values(plan, judge$book, w, v)
  # Metrics by categories of a case by cases.
  has <- simplify2array(score_influence(plan, judge$book, w, v))
  has <- matrix(aperm(has, c(3L, 2L, 1L)), ncol = length(v))
  function(at, w) {
    some <- has[, at]
    dim(some) <- c(length(start), length(w))
    start + as.vector(some %*% as.vector(t(w))) / length(at)
  }
}

# Replicates of what `measure` gives for a judge, weights of truths and of cases, `size` numbers: a
# matrix per judge. Cases, or clusters of them, are drawn anew, and raters fitted again to what was
# drawn.
draw_scores <- function(estimate, panel, judges, size, measure) {
  draws_of_judges(estimate, judges, size, function(times) {
    p <- panel$beliefs$of(times)
    lapply(judges[scored_judges(judges)], function(judge) {
      w <- if (!anyNA(p)) score_weights(judge, panel, p, times)
      if (!is.null(w)) measure(judge, w, times[judge$at])
    })
  })
}

score_intervals <- function(found, estimate, plan, judge, panel, draws, interval, s, conf_level) {
  ends <- ranges_of_plan(plan)
  values <- to_unit(draws, ends)
  values <- around_estimate(values, to_unit(found$estimate, ends), plan)
  if (interval$cells) {
    found <- add_intervals(found, core_percentile_intervals(values, conf_level, TRUE))
    return(with_slack(on_scale(found, ends), plan, judge, panel))
  }
  sampling <- apply(values, 2L, stats::sd, na.rm = TRUE) * (ends[, 2L] - ends[, 1L])
  found$hidden <- hidden_of_scores(estimate, plan, judge, panel, s)
  found$std.error <- ifelse(is.na(found$estimate), NA_real_, sqrt(sampling^2 + found$hidden^2))
  with_slack(
    interval_rows(found, ends, robust_quantile(estimate$options, conf_level)), plan, judge, panel
  )
}

# There may be no gaps, and chance may have made all that it can: the lower end allows for that. It
# is no nearer than `z` standard errors, since gold cases add chance of their own.
with_slack <- function(found, plan, judge, panel, z = 0) {
  for (i in which(vapply(plan$records, `[[`, NA, "gaps")[plan$rows$metric])) {
    kernel <- plan$records[[plan$rows$metric[[i]]]]$kernel
    slack <- kernel(judge$book, judge$w, panel$weight[judge$at], plan$settings)$slack
    low <- min(found$conf.low[[i]], found$estimate[[i]] - z * found$std.error[[i]])
    found$conf.low[[i]] <- max(0, low - slack)
  }
  found
}

# Sizes of gaps grow with every drawing, so that replicates of them stand around another value.
around_estimate <- function(values, estimate, plan) {
  moved <- vapply(plan$records, `[[`, NA, "gaps")[plan$rows$metric] & !is.na(estimate)
  if (any(moved)) {
    centre <- apply(values[, moved, drop = FALSE], 2L, stats::median, na.rm = TRUE)
    off <- rep(estimate[moved] - centre, each = nrow(values))
    values[, moved] <- clip01(values[, moved] + off)
  }
  values
}

# Standard deviation of what errors in common hide of each metric, as hidden_errors() has it of
# tables: along the line between the ends of what system and raters may have in common, and where
# raters are wrong together, which moves cases to the truth that the highest score says. What makes
# answers of raters and systems look free of shared errors says nothing of scores.
hidden_of_scores <- function(estimate, plan, judge, panel, s) {
  estimate$details$dependence_weight[!is.na(estimate$details$dependence_weight)] <- 1
  raters <- hidden_of_gap(estimate, 0)[[s]]
  range <- max(hidden_of_gap(estimate, 1)[[s]]^2 - raters^2, 0)
  line <- score_line(plan, judge, panel)
  v <- panel$weight[judge$at]
  top <- judge$book$top
  chosen <- outer(top, seq_len(ncol(judge$w)), `==`)
  wrong <- 1 - rowsum(rowSums(judge$w * chosen) * v, top) / rowsum(v, top)
  influence <- score_influence(plan, judge$book, judge$w, v)
  shift <- vapply(influence, function(g) {
    moved <- rowsum(rowSums(g * (chosen - judge$w)) * v, top) / sum(v)
    ifelse(wrong > 0, moved / wrong, 0)
  }, as.vector(wrong))
  of_answer <- as.vector(rowsum(v, top)) / sum(v)
  hidden_in_all(estimate, range, line, raters, matrix(shift, length(wrong)), of_answer, raters)
}

# How far each metric is from errors of their own to errors in common.
score_line <- function(plan, judge, panel) {
  at <- function(back) {
    judge$back <- back
    w <- score_weights(judge, panel, panel$p, panel$weight)
    score_values(plan, judge$book, w, panel$weight[judge$at])
  }
  at(0) - at(1)
}

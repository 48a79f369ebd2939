# Metrics of scores with gold: what each gold case has of the metric by its truth (see
# metric-influence.R), held against what ratings predict of it, as for any other mean.

# `found`: rows of a system by ratings alone, with `hidden` errors.
scores_with_gold <- function(found, estimate, plan, judge, record, conf_level) {
  part <- scored_gold(estimate, judge)
  influence <- score_influence(plan, judge$book, judge$w, judge$v)
  ends <- ranges_of_plan(plan)
  rows <- which(!is.na(found$estimate))
  each <- lapply(rows, function(i) {
    lack <- lack_of_scored(estimate, part, judge, plan, i, record)
    alone <- unit_row(found, i, ends[i, ])
    x <- if (is.null(lack)) gold_score(part, influence[[i]], alone$estimate, plan, judge, i)
    list(x = x, alone = alone, lack = lack %||% not_in_gold)
  })
  found <- measured_rows(found, rows, each, ends, record, estimate, conf_level)
  with_slack(found, plan, judge, normal_quantile(conf_level))
}

# Gold among the cases of a judge: `at`, which of them; `truth`, `w`, `cluster` and `gold` as
# gold_part() gives.
scored_gold <- function(estimate, judge) {
  gold <- estimate$gold
  place <- match(gold$case, judge$at)
  one <- rep.int(which(!is.na(place)), judge$v[place[!is.na(place)]])
  list(
    at = place[one], truth = gold$truth[one], w = drawn_weight(gold, one), gold = length(one),
    weight = judge$v, cluster = estimate$options$cluster[gold$case[one]],
    drawn = !is.null(gold$probability)
  )
}

# `g`: the influence of cases on row `i`; `start`: what ratings alone say, on the unit scale.
gold_score <- function(part, g, start, plan, judge, i) {
  ends <- ranges_of_plan(plan)[i, ]
  g <- g / diff(ends)
  mean_of <- function(x) sum(judge$v * x) / sum(judge$v)
  middle <- mean_of(rowSums(judge$w * g))
  # Few gold cases may not show how much it varies.
  varies <- mean_of(rowSums(judge$p * (g - middle)^2))
  q <- rowSums(judge$p * g)
  x <- correct_mean(
    g[cbind(part$at, part$truth)], q[part$at], prediction_of(q, judge$v),
    function(mean, spread, gold) (gold * spread + prior_cases * varies) / (gold + prior_cases),
    w = part$w
  )
  if (!is.finite(x$variance) || x$variance <= 0) return(NULL)
  value <- function(mean, slope) {
    if (plan$records[[plan$rows$metric[[i]]]]$linear) return(clip01(start + mean - middle))
    w <- gold_weights(part, judge, slope)
    to_unit(score_values(plan, judge$book, w, judge$v)[[i]], t(ends))
  }
  corrected <- value(if (x$slope == 0) x$alone else x$estimate, x$slope)
  if (!is.na(corrected)) as_share(x, corrected, value(x$alone, 0), part$cluster)
}

# Weights of truths of which those of gold cases have corrected the others.
gold_weights <- function(part, judge, slope) {
  out <- slope * judge$p
  rest <- -out[part$at, , drop = FALSE]
  place <- cbind(seq_along(part$at), part$truth)
  rest[place] <- rest[place] + 1
  share <- part$w / sum(part$w) * sum(judge$v) / judge$v[part$at]
  out + apply(rest * share, 2L, rowsum_codes, code = part$at, n = nrow(out))
}

lack_of_scored <- function(estimate, part, judge, plan, i, record) {
  if (is.null(estimate$gold$evidence)) {
    return(lack_of_evidence(estimate))
  } else if (record$anytime) {
    return(not_anytime)
  } else if (part$gold == 0L) {
    return("it has a score of none of the gold cases")
  } else if (!stands_for(part)) {
    return(only_some_drawn)
  }
  row <- plan$rows[i, ]
  if (plan$records[[row$metric]]$form == "category") {
    expected <- which(colSums(judge$p * judge$v) >= few_cases)
    of <- if (is.na(row$category)) expected else match(row$category, plan$categories)
    off <- setdiff(of, part$truth)
    if (length(off) > 0L) paste("no gold case is of category", plan$categories[[off[[1L]]]])
  }
}

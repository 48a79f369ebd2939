# Metrics of scores with gold: what each gold case has of the metric by its truth (see
# metric-influence.R), held against what ratings predict of it, as for any other mean.

# `found`: rows of a system by ratings alone, with `hidden` errors.
scores_with_gold <- function(found, estimate, plan, judge, panel, interval, conf_level) {
  settings <- c(estimate$gold$settings, conf_level = conf_level)
  part <- scored_gold(estimate, judge, panel)
  influence <- score_influence(plan, judge$book, judge$w, part$weight)
  columns <- c("estimate", "std.error", "conf.low", "conf.high")
  for (i in which(!is.na(found$estimate))) {
    lack <- lack_of_scored(estimate, part, plan, i, interval)
    x <- if (is.null(lack)) gold_score(part, influence[[i]], found, plan, judge, i)
    if (is.null(x)) lack <- lack %||% "gold cases do not vary in it"
    lack <- if (is.null(x)) paste0(no_interval, lack) else lack_of_clusters(x)
    ends <- ranges_of_plan(plan)[i, ]
    corrected <- if (!is.null(x)) interval$gold(x, unit_row(found, i, ends), settings)
    found[i, columns[-1L]] <- NA_real_
    if (!is.null(corrected)) {
      unit <- unlist(corrected[columns])
      found[i, columns] <- as.list(unit * diff(ends) + ends[[1L]] * (columns != "std.error"))
    }
    found$reason[[i]] <- lack %||% NA_character_
  }
  with_slack(found, plan, judge, panel, normal_quantile(conf_level))
}

# Gold among the cases of a judge: `at`, which of them; `truth`, `w`, `cluster` and `gold` as
# gold_part() gives; `weight` and `p`, weights and probabilities of all.
scored_gold <- function(estimate, judge, panel) {
  gold <- estimate$gold
  weight <- panel$weight[judge$at]
  place <- match(gold$case, judge$at)
  one <- rep.int(which(!is.na(place)), weight[place[!is.na(place)]])
  list(
    at = place[one], truth = gold$truth[one], w = drawn_weight(gold, one), gold = length(one),
    weight = weight,
    cluster = estimate$options$cluster[gold$case[one]], p = panel$p[judge$at, , drop = FALSE],
    drawn = !is.null(gold$probability)
  )
}

gold_score <- function(part, g, found, plan, judge, i) {
  ends <- ranges_of_plan(plan)[i, ]
  g <- g / diff(ends)
  mean_of <- function(x) sum(part$weight * x) / sum(part$weight)
  middle <- mean_of(rowSums(judge$w * g))
  # Few gold cases may not show how much it varies.
  varies <- mean_of(rowSums(part$p * (g - middle)^2))
  q <- rowSums(part$p * g)
  x <- correct_mean(
    g[cbind(part$at, part$truth)], q[part$at], prediction_of(q, part$weight),
    function(mean, spread, gold) (gold * spread + prior_cases * varies) / (gold + prior_cases),
    w = part$w
  )
  if (!is.finite(x$variance) || x$variance <= 0) return(NULL)
  value <- function(slope) {
    if (plan$records[[plan$rows$metric[[i]]]]$linear) {
      start <- to_unit(found$estimate[[i]], t(ends))
      mean <- if (slope == 0) x$alone else x$estimate
      return(clip01(start + mean - middle))
    }
    to_unit(score_values(plan, judge$book, gold_weights(part, slope), part$weight)[[i]], t(ends))
  }
  corrected <- value(x$slope)
  if (is.na(corrected)) NULL else as_share(x, corrected, value(0), part$cluster)
}

# Weights of truths of which those of gold cases have corrected the others.
gold_weights <- function(part, slope) {
  out <- slope * part$p
  rest <- -out[part$at, , drop = FALSE]
  place <- cbind(seq_along(part$at), part$truth)
  rest[place] <- rest[place] + 1
  share <- part$w / sum(part$w) * sum(part$weight) / part$weight[part$at]
  out + apply(rest * share, 2L, rowsum_codes, code = part$at, n = nrow(out))
}

lack_of_scored <- function(estimate, part, plan, i, interval) {
  if (is.null(estimate$gold$evidence)) {
    return(lack_of_evidence(estimate))
  } else if (interval$anytime) {
    return("anytime intervals are derived for accuracy, recall and precision only")
  } else if (part$gold == 0L) {
    return("it has a score of none of the gold cases")
  } else if (!stands_for(part)) {
    return(only_some_drawn)
  }
  row <- plan$rows[i, ]
  if (plan$records[[row$metric]]$form == "category") {
    expected <- which(colSums(part$p * part$weight) >= few_cases)
    of <- if (is.na(row$category)) expected else match(row$category, plan$categories)
    off <- setdiff(of, part$truth)
    if (length(off) > 0L) paste("no gold case is of category", plan$categories[[off[[1L]]]])
  }
}

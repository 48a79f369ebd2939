#' Curves and thresholds of scores
#'
#' Tables of an [estimate_accuracy()] result (without `by`) whose systems have scores: the ROC
#' curve, how often answers are right against what scores say, and where to cut; without knowing the
#' truth, see [score_metrics] for how that is replaced. `autoplot()` draws the first two.
#'
#' * `tidy(x, "roc", category = NULL, systems = NULL)`: sensitivity and specificity at every
#'   distinct score, with columns `system`, `category`, `threshold` (cases count as the category at
#'   this score or above it; `Inf` for none), `sensitivity` and `specificity`, which never fall, or
#'   rise, with the threshold's fall.
#' * `tidy(x, "reliability", category = NULL, bins = 10, systems = NULL)`: bins of scores, and how
#'   often the category is the true one, with columns `system`, `category` (`NA` for that of the
#'   highest score of each case, the default, as in `ece`), `lower` and `upper`, the limits of a
#'   bin, which belong to the bin below, `probability`, the mean of its scores, `estimate`, the
#'   share of cases where the category is true, `std.error`, `conf.low`, `conf.high`, `n`, the
#'   number of cases, and `reason`, why something is `NA`.
#' * `tidy(x, "threshold", category, sensitivity = , specificity = , cost = , systems = NULL)`:
#'   where to cut the scores of a category so that a sensitivity (or specificity) is reached, or
#'   where the cost is least; and what that threshold then gives, a row per system and metric:
#'   `system`, `category`, `threshold`, `metric` (`"sensitivity"`, `"specificity"`, `"ppv"`, the
#'   share of cases at or above the threshold that are of the category, and
#'   `"detection_prevalence"`, the share of cases at or above it), `estimate`, `std.error`,
#'   `conf.low`, `conf.high`, `n` and `reason`.
#'
#' `sensitivity` or `specificity` is the least share in (0, 1] of cases of the category to be found,
#' or of other cases to be left alone; of the thresholds that reach it the one is taken that is best
#' for the other of the two. `cost` is `c(missed = , false_alarm = )`, at least 0 and not both 0:
#' the threshold has the least mean cost. One of the three is needed. The threshold is chosen from
#' estimates at the distinct scores and then kept: intervals are for what it gives, not for where
#' another sample would have cut. What was chosen to look good looks a little too good: with few
#' cases ask for more than is needed.
#'
#' Intervals are a bootstrap of cases, sampling error only; `NA` for estimates with
#' `interval = "none"`.
#'
#' @name score_curves
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.8, 0.7, 0.75), c(new = 0.8), n = 300, categories = 2))
#' # Scores that are drawn from the truth, which is not known otherwise
#' p <- plogis(rnorm(300, ifelse(truth(x)$category == "2", 1, -1), 1.4))
#' y <- ratings(
#'   as.data.frame(x), case = case, rater = rater, rating = rating,
#'   systems = data.frame(case = x$cases, system = "new", prediction = ifelse(p > 0.5, "2", "1")),
#'   scores = data.frame(case = x$cases, system = "new", category = "2", score = p)
#' )
#' estimate <- estimate_accuracy(
#'   y, "joint", interval = "bootstrap", resampling = list(replicates = 50)
#' )
#' tidy(estimate, "roc", category = "2")
#' tidy(estimate, "reliability")
#'
#' # Where to cut so that at least 95% of the cases of category 2 are found, and what that costs
#' tidy(estimate, "threshold", category = "2", sensitivity = 0.95)
NULL

roc_of_estimate <- function(x, category = NULL, systems = NULL) {
  judged <- judged_scores(x, systems, category)
  do.call(rbind, roc_tables(judged, category %||% judged$categories))
}

reliability_of_estimate <- function(x, category = NULL, bins = 10L, systems = NULL) {
  bins <- check_count(bins, "bins")
  judged <- judged_scores(x, systems, category)
  check_score_scale(judged)
  do.call(rbind, reliability_tables(judged, category, bins))
}

# What curves rest on: `estimate`, `panel` and `judges` (see score_panel()) of the systems that have
# scores, with `w`, the weights of truths.
judged_scores <- function(x, systems, category) {
  x <- without_gold(x)
  names <- check_system_names(systems, x$table$system)
  panel <- score_panel(x)
  judges <- lapply(stats::setNames(match(names, x$table$system), names), panel$judge)
  judges <- lapply(judges, function(judge) {
    if (is.null(judge$lack)) {
      judge$w <- score_weights(judge, panel, panel$p, panel$weight)
      if (is.null(judge$w)) judge$lack <- "raters hardly separate the categories"
    }
    judge
  })
  usable <- Filter(function(judge) is.null(judge$lack), judges)
  abort_argument_if(length(usable) == 0L, "x", "There is no curve of scores.",
    x = verbatim(judges[[1L]]$lack))
  categories <- x$fit$x$categories
  if (!is.null(category)) check_names_among(category, categories, "category")
  list(estimate = x, panel = panel, judges = usable, categories = categories)
}

check_score_scale <- function(judged) {
  abort_argument_if(judged$estimate$fit$x$scores$scale != "probability", "what",
    "Scores that only order cases have no reliability.",
    i = "{.code tidy(x, \"roc\")} needs the order only.")
}

# Sensitivity and specificity at each distinct score, from the highest.
roc_points <- function(order, score, a, v) {
  found <- weight_above(order, a * v) / sum(a * v)
  passed <- weight_above(order, (1 - a) * v) / sum((1 - a) * v)
  list(
    threshold = c(Inf, score[order$at][order$end]),
    sensitivity = clip01(c(0, cummax(found))), specificity = 1 - clip01(c(0, cummax(passed)))
  )
}

roc_tables <- function(judged, categories) {
  v <- judged$panel$weight
  unlist(lapply(names(judged$judges), function(system) {
    judge <- judged$judges[[system]]
    lapply(match(categories, judged$categories), function(k) {
      points <- roc_points(
        judge$book$order[[k]], judge$book$scores[, k], judge$w[, k], v[judge$at]
      )
      tibble::tibble(
        system = system, category = judged$categories[[k]], threshold = points$threshold,
        sensitivity = points$sensitivity, specificity = points$specificity
      )
    })
  }), recursive = FALSE)
}

reliability_tables <- function(judged, category, bins) {
  of <- if (is.null(category)) NA_integer_ else match(category, judged$categories)
  unlist(lapply(names(judged$judges), function(system) {
    lapply(of, function(k) reliability_table(judged, system, k, bins))
  }), recursive = FALSE)
}

reliability_table <- function(judged, system, k, bins) {
  judge <- judged$judges[[system]]
  measure <- function(w, v) {
    if (is.na(k)) top_reliability(judge$book, w, v, bins) else
      reliability_of(judge$book$scores[, k], w[, k], v, bins)
  }
  whole <- measure(judge$w, judged$panel$weight[judge$at])
  table <- tibble::tibble(
    system = system, category = if (is.na(k)) NA_character_ else judged$categories[[k]],
    lower = (whole$bin - 1) / bins, upper = whole$bin / bins, probability = whole$score,
    estimate = clip01(whole$right), std.error = NA_real_, conf.low = NA_real_,
    conf.high = NA_real_, n = whole$cases, reason = NA_character_
  )
  with_score_draws(table, judged, judge, function(w, v) {
    one <- measure(w, v)
    clip01(one$right[match(whole$bin, one$bin)])
  })
}

# `table` with percentiles of the replicates of what `measure`, a function of weights of truths and
# of cases, gives for each row, in [0, 1].
with_score_draws <- function(table, judged, judge, measure) {
  estimate <- judged$estimate
  if (is.null(interval_of(estimate)$find)) return(table)
  lack <- lack_of_interval(interval_bootstrap, estimate)
  if (!is.null(lack)) return(without_interval(table, lack))
  draws <- draw_scores(estimate, judged$panel, list(judge), nrow(table), function(judge, w, v) {
    measure(w, v)
  })[[1L]]
  add_intervals(table, core_percentile_intervals(draws, estimate$options$conf_level, TRUE))
}

threshold_of_estimate <- function(x, category, sensitivity = NULL, specificity = NULL, cost = NULL,
                                  systems = NULL) {
  goal <- check_goal(sensitivity, specificity, cost)
  abort_argument_if(missing(category), "category", "Say of which category: {.arg category}.")
  judged <- judged_scores(x, systems, NULL)
  k <- match(check_choice(category, judged$categories, "category"), judged$categories)
  tables <- lapply(names(judged$judges), function(system) {
    judge <- judged$judges[[system]]
    v <- judged$panel$weight[judge$at]
    score <- judge$book$scores[, k]
    points <- roc_points(judge$book$order[[k]], score, judge$w[, k], v)
    threshold <- points$threshold[[reach_goal(points, goal, sum(judge$w[, k] * v) / sum(v))]]
    above <- score >= threshold
    measure <- function(w, v) clip01(cut_values(w[, k], v, above))
    value <- measure(judge$w, v)
    table <- tibble::tibble(
      system = system, category = category, threshold = threshold, metric = cut_metrics,
      estimate = na_real(value), std.error = NA_real_, conf.low = NA_real_, conf.high = NA_real_,
      n = judge$n, reason = ifelse(is.na(value), zero_by_zero, NA_character_)
    )
    with_score_draws(table, judged, judge, measure)
  })
  do.call(rbind, tables)
}

cut_metrics <- c("sensitivity", "specificity", "ppv", "detection_prevalence")

cut_values <- function(w, v, above) {
  of <- function(x, which) sum((x * v)[which])
  c(
    of(w, above) / sum(w * v), of(1 - w, !above) / sum((1 - w) * v),
    if (any(above)) of(w, above) / of(1, above) else NA_real_, sum(v[above]) / sum(v)
  )
}

check_goal <- function(sensitivity, specificity, cost) {
  goal <- list(sensitivity = sensitivity, specificity = specificity, cost = cost)
  goal <- Filter(Negate(is.null), goal)
  abort_argument_if(length(goal) != 1L, "sensitivity",
    "Say what the threshold is to reach: one of {.arg sensitivity}, {.arg specificity} and
        {.arg cost}.", x = "{length(goal)} of them {?is/are} given.")
  name <- names(goal)
  if (name != "cost") {
    goal[[1L]] <- check_number(goal[[1L]], name, 0, 1, open_min = TRUE)
  } else if (!(is.numeric(cost) && setequal(names(cost), c("missed", "false_alarm")) &&
    length(cost) == 2L && all(is.finite(cost)) && all(cost >= 0) && any(cost > 0))) {
    abort_argument("cost",
      "must be {.code c(missed = , false_alarm = )}, numbers of at least 0, not both 0.",
      not = cost)
  }
  goal
}

# Which point.
reach_goal <- function(points, goal, share) {
  switch(names(goal),
    sensitivity = which(points$sensitivity >= goal[[1L]] - 1e-12)[[1L]],
    specificity = max(which(points$specificity >= goal[[1L]] - 1e-12)),
    cost = which.min(
      goal$cost[["missed"]] * share * (1 - points$sensitivity) +
        goal$cost[["false_alarm"]] * (1 - share) * (1 - points$specificity)
    )
  )
}

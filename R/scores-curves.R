#' Curves and thresholds of scores
#'
#' Tables of an [estimate_accuracy()] result (without `by`) for systems with scores: ROC curve,
#' calibration of scores, and choice of a threshold. No known truth is needed, see [score_metrics].
#' `autoplot()` draws the first two.
#'
#' * `tidy(x, "roc", category = NULL, systems = NULL)`: sensitivity and specificity at every
#'   distinct score, with columns `system`, `category`, `threshold`, `sensitivity` and
#'   `specificity`. Cases count as the category at this score or above (`Inf` for none). From the
#'   highest threshold to the lowest, sensitivity never falls and specificity never rises.
#' * `tidy(x, "reliability", category = NULL, bins = 10, systems = NULL)`: bins of scores, and how
#'   often the category is the true one. Columns: `system`; `category` (`NA`, the default, for the
#'   category of the highest score of each case, as in `ece`); `lower` and `upper`, the limits of a
#'   bin, which belong to the lower bin; `probability`, the mean of its scores; `estimate`, the
#'   share of cases whose true category it is; `std.error`, `conf.low`, `conf.high`; `n`, the number
#'   of cases; `reason`, why a value is `NA`.
#' * `tidy(x, "threshold", category, sensitivity = , specificity = , cost = , systems = NULL)`: the
#'   threshold for the scores of a category that reaches a sensitivity or specificity, or has the
#'   lowest cost, and its metrics. A row per system and metric: `system`, `category`, `threshold`,
#'   `metric`, `estimate`, `std.error`, `conf.low`, `conf.high`, `n` and `reason`. Metrics are
#'   `"sensitivity"`, `"specificity"`, `"ppv"` (the share of cases of the category among those at or
#'   above the threshold) and `"detection_prevalence"` (the share of cases at or above it).
#'
#' Exactly one goal must be given. `sensitivity` or `specificity` is the smallest acceptable value,
#' in (0, 1]. Of the thresholds that reach it, the one with the best value of the other is chosen.
#' `cost`, `c(missed = , false_alarm = )`, at least 0 and not both 0, chooses the threshold with the
#' lowest mean cost. Intervals are for the metrics of this threshold; they do not include the choice
#' in other samples. The metrics of a chosen threshold are slightly too good.
#'
#' Intervals are from a bootstrap of cases and cover sampling error only. They are `NA` for
#' estimates with `interval = "none"`.
#'
#' @name score_curves
#' @family estimation
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.8, 0.7, 0.75), c(new = 0.8), n = 300, categories = 2))
#' # Scores simulated from the true categories
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
#' # The threshold that finds at least 95% of the cases of category 2, and its specificity
#' tidy(estimate, "threshold", category = "2", sensitivity = 0.95)
NULL

roc_of_estimate <- function(x, category = NULL, systems = NULL) {
  judged <- judged_scores(x, systems, category)
  table_of_judges(judged, category %||% judged$categories, function(judge, k, labels) {
    tibble::tibble(labels, !!!roc_points(judge, k))
  })
}

reliability_of_estimate <- function(x, category = NULL, bins = 10L, systems = NULL) {
  bins <- check_count(bins, "bins")
  judged <- judged_scores(x, systems, category)
  abort_argument_if(x$fit$x$scores$scale != "probability", "what",
    "Scores that only order cases have no reliability.",
    i = "{.code tidy(x, \"roc\")} needs the order only.")
  table_of_judges(judged, category %||% NA_character_, function(judge, k, labels) {
    measure <- function(w, v) {
      if (is.na(k)) return(top_reliability(judge$book, w, v, bins))
      reliability_of(judge$book$scores[, k], w[, k], v, bins)
    }
    whole <- measure(judge$w, judge$v)
    columns <- list(lower = (whole$bin - 1) / bins, upper = whole$bin / bins,
      probability = whole$score)
    add_score_intervals(tibble::tibble(labels, !!!columns), whole$cases, judged, judge,
      function(w, v) {
        replicate <- measure(w, v)
        clip01(replicate$right[match(whole$bin, replicate$bin)])
      })
  })
}

# Input of curves: `estimate`, `panel` and `judges` (see score_panel()) of the systems with scores.
judged_scores <- function(x, systems, category) {
  x <- without_gold(x)
  names <- check_system_names(systems, x$table$system)
  panel <- score_panel(x)
  judges <- lapply(setNames(match(names, x$table$system), names), panel$judge)
  usable <- Filter(function(judge) is.null(judge$lack), judges)
  abort_argument_if(length(usable) == 0L, "x", "There is no curve of scores.",
    x = verbatim(judges[[1L]]$lack))
  categories <- x$fit$x$categories
  if (!is.null(category)) check_names_among(category, categories, "category")
  list(estimate = x, panel = panel, judges = usable, categories = categories)
}

# Binds the tables of all systems and categories (NA for the category of the highest score).
table_of_judges <- function(judged, categories, f) {
  stack_rows(names(judged$judges), function(system) {
    stack_rows(categories, function(category) {
      labels <- tibble::tibble(system = system, category = category)
      f(judged$judges[[system]], match(category, judged$categories), labels)
    })
  })
}

# Sensitivity and specificity at each distinct score of category `k`, from the highest.
roc_points <- function(judge, k) {
  order <- judge$book$order[[k]]
  share_above <- function(w) {
    above <- weight_above(order, w * judge$v) / sum(w * judge$v)
    clip01(c(0, cummax(above)))
  }
  list(
    threshold = c(Inf, judge$book$scores[order$at, k][order$end]),
    sensitivity = share_above(judge$w[, k]), specificity = 1 - share_above(1 - judge$w[, k])
  )
}

# Adds to `table` the values of `measure` and percentiles of its replicates. `measure` is a function
# of weights of truths and of cases, with values in [0, 1].
add_score_intervals <- function(table, n, judged, judge, measure) {
  estimate <- judged$estimate
  value <- na_real(measure(judge$w, judge$v))
  reason <- ifelse(is.na(value), zero_by_zero, NA_character_)
  table <- tibble::tibble(table, !!!result_table(value)[-5L], n = n, reason = reason)
  if (!has_interval(estimate)) return(table)
  lack <- why_no_interval(interval_bootstrap, estimate)
  if (!is.null(lack)) return(without_interval(table, lack))
  draws <- draw_scores(estimate, judged$panel, list(judge), nrow(table), function(judge, ...) {
    measure(...)
  })[[1L]]
  add_intervals(table, core_percentile_intervals(draws, estimate$options$conf_level, TRUE))
}

threshold_of_estimate <- function(x, category, sensitivity = NULL, specificity = NULL, cost = NULL,
                                  systems = NULL) {
  goal <- check_goal(sensitivity, specificity, cost)
  abort_argument_if(missing(category), "category", "Say of which category: {.arg category}.")
  judged <- judged_scores(x, systems, NULL)
  category <- check_choice(category, judged$categories, "category")
  table_of_judges(judged, category, function(judge, k, labels) {
    v <- judge$v
    points <- roc_points(judge, k)
    share <- sum(judge$w[, k] * v) / sum(v)
    threshold <- points$threshold[[reach_goal(points, goal, share)]]
    above <- judge$book$scores[, k] >= threshold
    table <- tibble::tibble(labels, threshold = threshold, metric = cut_metrics)
    add_score_intervals(table, sum(v), judged, judge, function(w, v) {
      clip01(cut_values(w[, k] * v, v, above))
    })
  })
}

cut_metrics <- c("sensitivity", "specificity", "ppv", "detection_prevalence")

# `v`: weight of each case. `hits`: expected part of this weight that is in the category.
cut_values <- function(hits, v, above) {
  detected <- sum(hits[above])
  c(
    detected / sum(hits), sum((v - hits)[!above]) / sum(v - hits),
    if (any(above)) detected / sum(v[above]) else NA_real_, sum(v[above]) / sum(v)
  )
}

check_goal <- function(sensitivity, specificity, cost) {
  goal <- drop_null(list(sensitivity = sensitivity, specificity = specificity, cost = cost))
  abort_argument_if(length(goal) != 1L, "sensitivity",
    "Say what the threshold is to reach: one of {.arg sensitivity}, {.arg specificity} and
        {.arg cost}.", x = "{length(goal)} of them {?is/are} given.")
  if (is.null(cost)) {
    goal[[1L]] <- check_number(goal[[1L]], names(goal), 0, 1, open_min = TRUE)
  } else {
    ok <- is.numeric(cost) && setequal(names(cost), c("missed", "false_alarm")) &&
      length(cost) == 2L && all(is.finite(cost)) && all(cost >= 0) && any(cost > 0)
    abort_argument_if(!ok, "cost",
      "must be {.code c(missed = , false_alarm = )}, numbers of at least 0, not both 0.",
      not = cost)
  }
  goal
}

# Index of the point that reaches the goal.
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

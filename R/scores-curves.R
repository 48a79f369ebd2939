#' Curves of scores
#'
#' The ROC curve of a system's scores, and how often its answers are right against what its scores
#' say, without knowing the truth; see [score_metrics] for how that is replaced.
#'
#' @param x [ratings()] with scores, a fit of them, or an [estimate_accuracy()] result (without
#'   `by`).
#' @param curve `"roc"`: sensitivity and specificity at every distinct score. `"reliability"`: bins
#'   of scores, and how often the category is the true one.
#' @param category Names of categories; `NULL` is all of them for `"roc"`, and for `"reliability"`
#'   the category of the highest score of each case, as in `ece`.
#' @param bins Number of bins of equal width from 0 to 1. Limits belong to the bin below.
#' @param systems Names of the systems; `NULL` for all that have scores.
#' @param ... For ratings and fits, arguments of [estimate_accuracy()]; otherwise not used.
#' @return An object of class `score_curve`. `tidy()`: a tibble. For `"roc"` with columns `system`,
#'   `category`, `threshold` (cases count as the category at this score or above it; `Inf` for
#'   none), `sensitivity` and `specificity`, which never fall, or rise, with the threshold's fall.
#'   For `"reliability"` with `system`, `category` (`NA` for that of the highest score), `lower` and
#'   `upper`, the limits of a bin, `probability`, the mean of its scores, `estimate`, the share of
#'   cases where the category is true, `std.error`, `conf.low`, `conf.high` (a bootstrap of cases,
#'   sampling error only;
#'   `NA` for estimates with `interval = "none"`), `n`, the number of cases, and `reason`, why
#'   something is `NA`. `glance()`: a tibble with one row. `format()`: the same in a line.
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
#' estimate <- estimate_accuracy(y, "joint", interval = "bootstrap", replicates = 50)
#' score_curve(estimate, "roc", category = "2")
#' score_curve(estimate, "reliability")
#'
#' # Where to cut so that at least 95% of the cases of category 2 are found, and what that costs
#' score_threshold(estimate, "2", sensitivity = 0.95)
#' @export
score_curve <- function(x, curve = c("roc", "reliability"), category = NULL, bins = 10L,
                        systems = NULL, ...) {
  check_given()
  call <- rlang::current_env()
  curve <- check_choice(curve, c("roc", "reliability"), "curve")
  bins <- check_count(bins, "bins")
  judged <- judged_scores(x, systems, call, ...)
  categories <- judged$categories
  if (!is.null(category)) check_names_among(category, categories, "category", call)
  tables <- if (curve == "roc") {
    roc_tables(judged, category %||% categories)
  } else {
    check_score_scale(judged, call)
    reliability_tables(judged, category, bins)
  }
  structure(
    list(
      table = do.call(rbind, tables), curve = curve,
      options = c(judged$estimate$options[c("method", "conf_level")], bins = bins)
    ),
    class = c("score_curve", "fallible_result")
  )
}

# What curves rest on: `estimate`, `panel` and `judges` (see score_panel()) of the systems that have
# scores, with `w`, the weights of truths.
judged_scores <- function(x, systems, call, ...) {
  if (inherits(x, "accuracy_estimate")) {
    check_dots_empty(...)
  } else {
    if (!inherits(x, "rater_fit")) x <- as_ratings(x, call = call)
    x <- estimate_accuracy(x, ...)
    check_class(x, "accuracy_estimate", "x", "Estimate each group by itself.", call)
  }
  x <- without_gold(x)
  names <- check_system_names(systems, x$table$system, call)
  panel <- score_panel(x)
  judges <- lapply(stats::setNames(match(names, x$table$system), names), panel$judge)
  judges <- lapply(judges, function(judge) {
    if (is.null(judge$lack)) {
      judge$w <- score_weights(judge, panel, panel$p, panel$weight)
      if (is.null(judge$w)) judge$lack <- "raters hardly tell categories apart"
    }
    judge
  })
  usable <- Filter(function(judge) is.null(judge$lack), judges)
  if (length(usable) == 0L) {
    abort_argument("x", "There is no curve of scores.", x = verbatim(judges[[1L]]$lack),
      call = call)
  }
  list(estimate = x, panel = panel, judges = usable, categories = x$fit$x$categories)
}

check_score_scale <- function(judged, call) {
  if (judged$estimate$fit$x$scores$scale != "probability") {
    abort_argument("curve", "Scores that only order cases have no reliability.",
      i = "{.code curve = \"roc\"} needs the order only.", call = call)
  }
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
  if (is.null(interval_of(estimate)$find)) {
    return(table)
  }
  lack <- lack_of_interval(interval_bootstrap, estimate)
  if (!is.null(lack)) {
    return(without_interval(table, lack))
  }
  draws <- draw_scores(estimate, judged$panel, list(judge), nrow(table), function(judge, w, v) {
    measure(w, v)
  })[[1L]]
  add_intervals(table, percentile_intervals(draws, estimate$options$conf_level, TRUE))
}

#' A threshold for scores
#'
#' Where to cut the scores of a category: so that a sensitivity (or specificity) is reached, or
#' where the cost is least; and what that threshold then gives, with intervals.
#'
#' The threshold is chosen from estimates at the distinct scores and then kept: intervals are for
#' what it gives, not for where another sample would have cut. They are a bootstrap of cases,
#' sampling error only. What was chosen to look good looks a little too good: with few cases ask for
#' more than is needed.
#'
#' @inheritParams score_curve
#' @param category Name of the category; cases count as it at the threshold or above it.
#' @param sensitivity,specificity The least share in (0, 1] of cases of the category to be found, or
#'   of other cases to be left alone; of the thresholds that reach it the one that is best for the
#'   other of the two.
#' @param cost Costs of errors, `c(missed = , false_alarm = )`, at least 0 and not both 0: the
#'   threshold has the least mean cost. One of `sensitivity`, `specificity` and `cost` is needed.
#' @return A tibble with a row per system and metric: `system`, `category`, `threshold`, `metric`
#'   (`"sensitivity"`, `"specificity"`, `"ppv"`, the share of cases at or above the threshold that
#'   are of the category, and `"detection_prevalence"`, the share of cases at or above it),
#'   `estimate`, `std.error`, `conf.low`, `conf.high`, `n` and `reason`.
#' @family estimation
#' @examples
#' # See score_curve()
#' @export
score_threshold <- function(x, category, sensitivity = NULL, specificity = NULL, cost = NULL,
                            systems = NULL, ...) {
  check_given()
  call <- rlang::current_env()
  goal <- check_goal(sensitivity, specificity, cost, call)
  judged <- judged_scores(x, systems, call, ...)
  k <- match(check_choice(category, judged$categories, "category", call), judged$categories)
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

check_goal <- function(sensitivity, specificity, cost, call) {
  goal <- list(sensitivity = sensitivity, specificity = specificity, cost = cost)
  goal <- Filter(Negate(is.null), goal)
  if (length(goal) != 1L) {
    abort_argument("sensitivity", "Say what the threshold is to reach: one of {.arg sensitivity},
                                   {.arg specificity} and {.arg cost}.",
      x = "{length(goal)} of them {?is/are} given.", call = call)
  }
  name <- names(goal)
  if (name != "cost") {
    goal[[1L]] <- check_number(goal[[1L]], name, 0, 1, open_min = TRUE, call = call)
  } else if (!(is.numeric(cost) && setequal(names(cost), c("missed", "false_alarm")) &&
    length(cost) == 2L && all(is.finite(cost)) && all(cost >= 0) && any(cost > 0))) {
    abort_argument("cost",
      "must be {.code c(missed = , false_alarm = )}, numbers of at least 0, not both 0.",
      not = cost, call = call)
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

# ---- Methods -------------------------------------------------------------------------------------

#' @rdname score_curve
#' @export
tidy.score_curve <- function(x, ...) {
  check_dots_empty(...)
  x$table
}

#' @rdname score_curve
#' @export
glance.score_curve <- function(x, ...) {
  check_dots_empty(...)
  table <- x$table
  tibble::tibble(
    curve = x$curve, systems = length(unique(table$system)),
    categories = length(unique(table$category)), points = nrow(table), method = x$options$method
  )
}

#' @rdname score_curve
#' @export
format.score_curve <- function(x, ...) {
  told <- glance(x)
  paste0(
    if (x$curve == "roc") "ROC curve" else "Reliability curve", " of ",
    count_noun(told$systems, "system"), ", ", count_noun(told$points, "point"), ", ",
    method_words(x$options$method)
  )
}

#' @export
print.score_curve <- function(x, ...) {
  cat_lines(paste0("<score_curve> ", format(x)))
  print_left(as.data.frame(shown_table(x)))
  if (nrow(x$table) > 20L) cat("... and", nrow(x$table) - 20L, "more; see tidy()\n")
  cat_lines("", "The truth is estimated. More: tidy(), plot().")
  invisible(x)
}

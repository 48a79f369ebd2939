#' Curves and thresholds of scores
#'
#' Scores are numbers that a system (classifier) gives to the categories of a case (argument
#' `scores` of [ratings()]). `tidy()` of an [estimate_accuracy()] result `x` returns the ROC curve
#' of the scores, their calibration, or a threshold with a required sensitivity or specificity, or
#' with the lowest cost. True categories need not be known: they are replaced by weights that are
#' computed from ratings, see [score_metrics]. `autoplot()` draws the curves, see
#' [autoplot.accuracy_estimate()].
#'
#' All tables have two arguments: `systems`, the names of systems (`NULL`, the default, for all
#' systems with scores), and `category`, the name of one category. Columns `std.error`, `conf.low`
#' and `conf.high` are standard errors and intervals from a bootstrap of cases. They contain
#' sampling error only, even if the intervals of `x` allow for shared errors. They are `NA` if `x`
#' was computed with `interval = "none"`. Gold cases do not correct these tables, unlike the results
#' of [estimate_metrics()]. Column `n` is the number of cases, and `reason` is the
#' reason why a value is `NA`.
#'
#' @section ROC curve:
#' `tidy(x, "roc", category = NULL, systems = NULL)` returns sensitivity and specificity at every
#' distinct score, by default for each category. A case is classified as the category if its score
#' is at least the threshold. Columns: `system`, `category`, `threshold`, `sensitivity` and
#' `specificity`.
#'
#' @section Calibration: `tidy(x, "reliability", category = NULL, bins = 10, systems = NULL)`
#' returns the share of cases in which a category is true, for each bin of its score; there are
#' `bins` bins of equal width from 0 to 1. With `NULL`, the default, `category` is the category with
#' the highest score of each case, and column `category` is `NA`. Scores must be probabilities.
#' Columns: `system`; `category`; `lower` and `upper`, the limits of the bin; `probability`, the
#' mean score in the bin; `estimate`, the share of cases in which the category is true; `std.error`;
#' `conf.low`; `conf.high`; `n`; `reason`.
#'
#' @section Threshold:
#' `tidy(x, "threshold", category = , sensitivity = , specificity = , cost = , systems = NULL)`
#' chooses a threshold for one category. Arguments must be named. Give exactly one of:
#'
#' * `sensitivity`: the smallest acceptable sensitivity, in (0, 1]. Among the thresholds that reach
#'   this sensitivity, the threshold with the highest specificity is chosen.
#' * `specificity`: the smallest acceptable specificity, in (0, 1]. Among the thresholds that reach
#'   this specificity, the threshold with the highest sensitivity is chosen.
#' * `cost = c(missed = , false_alarm = )`: costs of the two errors, at least 0 and not both 0. The
#'   threshold with the lowest mean cost per case is chosen.
#'
#' The result has a row per system and metric, with columns `system`, `category`, `threshold`,
#' `metric`, `estimate`, `std.error`, `conf.low`, `conf.high`, `n` and `reason`. The metrics at the
#' chosen threshold are `"sensitivity"`, `"specificity"`, `"detection_prevalence"` (the share of
#' cases with a score of at least the threshold) and `"ppv"` (among these cases, the share of cases
#' of the category). These values are slightly optimistic, and intervals treat the threshold as
#' fixed, although it was chosen with the same cases.
#' @return A tibble with the columns that the section of the table describes.
#' @name score_curves
#' @family metrics
#' @examples
#' set.seed(1)
#' x <- simulate_ratings(rater_design(c(0.8, 0.7, 0.75), c(new = 0.8), n = 300, categories = 2))
#' # Scores of system "new" for category 2
#' p <- plogis(rnorm(300, ifelse(truth(x)$category == "2", 1, -1), 1.4))
#' y <- ratings(
#'   as.data.frame(x), case = case, rater = rater, rating = rating,
#'   systems = data.frame(case = x$cases, system = "new", prediction = ifelse(p > 0.5, "2", "1")),
#'   scores = data.frame(case = x$cases, system = "new", category = "2", score = p)
#' )
#' estimate <- estimate_accuracy(
#'   y, "joint", interval = "bootstrap", resampling = list(replicates = 50)
#' )
#' # The ROC curve for category 2
#' tidy(estimate, "roc", category = "2")
#' # The threshold that finds at least 95% of the cases of category 2, and its specificity
#' tidy(estimate, "threshold", category = "2", sensitivity = 0.95)
NULL

roc_of_estimate <- function(x, category = NULL, systems = NULL) {
  score_input <- prepare_score_input(x, systems, category)
  bind_score_tables(score_input, category %||% score_input$categories, roc_points)
}

reliability_of_estimate <- function(x, category = NULL, bins = 10L, systems = NULL) {
  bins <- check_count(bins, "bins")
  score_input <- prepare_score_input(x, systems, category)
  abort_argument_if(x$fit$x$scores$scale != "probability", "what",
    "Scores that are not probabilities have no reliability table.",
    i = "Use {.code tidy(x, \"roc\")}, which needs only the order of cases by score.")
  bind_score_tables(score_input, category %||% NA_character_, function(scored_system, k) {
    compute_reliability <- function(scored_system) {
      score_data <- scored_system$score_data
      w <- scored_system$w
      v <- scored_system$v
      if (is.na(k)) top_reliability(score_data, w, v, bins) else
        score_reliability(score_data$scores[, k], w[, k], v, bins)
    }
    reliability_table <- compute_reliability(scored_system)
    bin_columns <- list(lower = (reliability_table$bin - 1) / bins,
      upper = reliability_table$bin / bins, probability = reliability_table$score)
    add_score_intervals(
      bin_columns, reliability_table$cases, score_input, scored_system, function(drawn) {
        reliability <- compute_reliability(drawn)
        clip01(reliability$right[match(reliability_table$bin, reliability$bin)])
      }
    )
  })
}

# Checks the arguments of a table of scores. Returns a list:
# * estimate: the accuracy estimate from ratings only.
# * panel: the result of score_panel().
# * systems: a named list of the inputs of the systems that have usable scores, see score_panel().
# * categories: all categories.
prepare_score_input <- function(x, systems, category) {
  gold <- x$gold
  x <- undo_gold_correction(x)
  system_names <- check_system_names(systems, x$table$system)
  panel <- score_panel(x, gold)
  system_numbers <- setNames(match(system_names, x$table$system), system_names)
  system_inputs <- lapply(system_numbers, panel$make_system_input)
  usable_systems <- Filter(function(system_input) is.null(system_input$reason), system_inputs)
  abort_argument_if(length(usable_systems) == 0L, "x",
    "{.arg x} has no system whose scores can be evaluated.",
    x = escape_braces(system_inputs[[1L]]$reason))
  categories <- x$fit$x$categories
  if (!is.null(category)) check_names_among(category, categories, "category")
  list(estimate = x, panel = panel, systems = usable_systems, categories = categories)
}

# Makes a table for each system and each element of `categories` (labels), and binds the tables.
# * score_input: result of prepare_score_input().
# * make_table: function that returns a table. Its arguments are the input of a system (see
#   score_panel()) and the number of a category.
#
# A category of NA stands for the category with the highest score of each case.
bind_score_tables <- function(score_input, categories, make_table) {
  stack_rows(names(score_input$systems), function(system) {
    stack_rows(categories, function(category) {
      table <- make_table(score_input$systems[[system]], match(category, score_input$categories))
      tibble(system = system, category = category, !!!table)
    })
  })
}

# Returns the sensitivity and specificity at each distinct score of category number `k`, from the
# highest score to the lowest.
roc_points <- function(scored_system, k) {
  score_order <- scored_system$score_data$order[[k]]
  w <- scored_system$w[, k]
  compute_share_above <- function(weight) {
    weight <- weight * scored_system$v
    cumulative_share <- cumulative_weight(score_order, weight) / sum(weight)
    # Weights may be negative (see truth_weights()). Therefore cummax() makes the shares monotone.
    clip01(c(0, cummax(cumulative_share)))
  }
  list(
    threshold = c(Inf, scored_system$score_data$scores[score_order$at, k][score_order$end]),
    sensitivity = compute_share_above(w),
    specificity = 1 - compute_share_above(1 - w)
  )
}

# Returns a tibble with the columns in `columns`, then estimates with standard errors and bootstrap
# intervals, then `n` and `reason`.
# * columns: list of columns that describe the rows.
# * n: numbers of cases.
# * compute_values: function that returns a value in [0, 1] for each row. Its argument is the input
#   of the system, see score_panel(). For a replicate, this input has the replicate's weights.
add_score_intervals <- function(columns, n, score_input, scored_system, compute_values) {
  estimate <- score_input$estimate
  values <- na_real(compute_values(scored_system))
  table <- tibble(
    !!!columns, !!!result_table(values)[estimate_columns], n = n,
    reason = ifelse(is.na(values), reason_zero_denominator, NA_character_)
  )
  if (!has_interval(estimate)) return(table)
  no_interval_reason <- why_no_interval(interval_bootstrap, estimate)
  if (!is.null(no_interval_reason)) return(add_no_interval_reason(table, no_interval_reason))
  replicate_values <- draw_score_replicates(
    estimate, score_input$panel, list(scored_system), nrow(table), compute_values
  )[[1L]]
  add_intervals(
    table, core_percentile_intervals(replicate_values, estimate$options$conf_level, TRUE)
  )
}

threshold_of_estimate <- function(x, category, sensitivity = NULL, specificity = NULL, cost = NULL,
                                  systems = NULL) {
  goal <- check_goal(sensitivity, specificity, cost)
  abort_argument_if(missing(category), "category",
    "Give {.arg category}, the category whose scores are compared with the threshold.")
  score_input <- prepare_score_input(x, systems, NULL)
  category <- check_choice(category, score_input$categories, "category")
  bind_score_tables(score_input, category, function(scored_system, k) {
    v <- scored_system$v
    curve_points <- roc_points(scored_system, k) # thresholds are from the highest to the lowest
    base_rate <- sum(scored_system$w[, k] * v) / sum(v)
    chosen_row <- switch(names(goal),
      sensitivity = which(curve_points$sensitivity >= goal[[1L]] - 1e-12)[[1L]],
      specificity = max(which(curve_points$specificity >= goal[[1L]] - 1e-12)),
      cost = which.min(
        cost[["missed"]] * base_rate * (1 - curve_points$sensitivity) +
          cost[["false_alarm"]] * (1 - base_rate) * (1 - curve_points$specificity)
      )
    )
    threshold <- curve_points$threshold[[chosen_row]]
    is_detected <- scored_system$score_data$scores[, k] >= threshold
    columns <- list(threshold = threshold, metric = threshold_metrics)
    add_score_intervals(columns, sum(v), score_input, scored_system, function(drawn) {
      v <- drawn$v
      category_weight <- drawn$w[, k] * v
      # The values of `threshold_metrics`, in this order.
      clip01(c(
        sum(category_weight[is_detected]) / sum(category_weight),
        sum((v - category_weight)[!is_detected]) / sum(v - category_weight),
        if (any(is_detected)) sum(category_weight[is_detected]) / sum(v[is_detected]) else NA_real_,
        sum(v[is_detected]) / sum(v)
      ))
    })
  })
}

threshold_metrics <- c("sensitivity", "specificity", "ppv", "detection_prevalence")

check_goal <- function(sensitivity, specificity, cost) {
  goal <- drop_null(list(sensitivity = sensitivity, specificity = specificity, cost = cost))
  abort_argument_if(length(goal) != 1L, "sensitivity",
    "Give exactly one of {.arg sensitivity}, {.arg specificity} and {.arg cost}, to choose the
        threshold.", x = "{length(goal)} of these arguments {?is/are} given.")
  if (is.null(cost)) {
    goal[[1L]] <- check_number(goal[[1L]], names(goal), 0, 1, open_min = TRUE)
  } else {
    is_valid_cost <- is.numeric(cost) && setequal(names(cost), c("missed", "false_alarm")) &&
      length(cost) == 2L && all(is.finite(cost) & cost >= 0) && any(cost > 0)
    abort_argument_if(!is_valid_cost, "cost",
      "must be {.code c(missed = , false_alarm = )}: two numbers of at least 0, not both 0.",
      not = cost)
  }
  goal
}

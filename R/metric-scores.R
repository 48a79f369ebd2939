# Metrics of the scores that systems give to categories. The truth of a case is not known, so a case
# is counted for every category. Its weight is the estimated probability of the category. Some
# methods correct these weights, which may then be below 0 or above 1 (see scores-metrics.R). If all
# truths are known, the metrics are those of the R package yardstick.

#' ROC area, Brier score and calibration without known truth
#'
#' Defines metrics of the scores that systems (classifiers) give to the categories of a case. Scores
#' are probabilities, or numbers that only order the cases. To estimate the metrics from ratings,
#' give `scores` to [ratings()] and call [estimate_metrics()]. If all true categories are known, all
#' metrics except `ece` and `ece_plugin` equal those of the R package yardstick.
#'
#' @section Definitions:
#' * `roc_auc`: area under the ROC curve of a category. It is the probability that a case of the
#'   category has a higher score for it than a case of another category. Ties are counted as half.
#'   With more than two categories, the mean over pairs of categories is also estimated (`average`
#'   is `"hand_till"`; Hand and Till 2001).
#' * `pr_auc`: area under the curve of precision against recall, for each category, with linear
#'   interpolation. `average_precision`: the same area without interpolation.
#' * `brier_class`: half the mean over cases of the squared distance between the scores of all
#'   categories and the truth (1 for the true category, 0 for others).
#' * `mn_log_loss`: mean of minus the logarithm of the score of the true category.
#' * `ece`: expected calibration error. Cases are grouped by their highest score into `bins` of
#'   equal width from 0 to 1; `bins` is an argument of [estimate_metrics()]. The gap of a bin is the
#'   mean score minus the share of cases in which the category with the highest score is true. `ece`
#'   is the mean of absolute gaps, weighted by the number of cases. Sampling makes gaps larger on
#'   average. An estimate of this increase is subtracted (Kumar, Liang and Ma 2019).
#' * `ece_plugin`: the same as `ece`, but without this subtraction (Guo et al. 2017).
#'
#' All metrics except `roc_auc`, `pr_auc` and `average_precision` need scores that are
#' probabilities.
#'
#' @section Estimates without known truth: The truth of a case is replaced by a weight for each
#' category. Weights are computed from the posterior probabilities of the categories given the
#' ratings. Except in the joint model of [fit_scores()], scores and answers of systems are not used
#' for them, so that no system evaluates itself. The argument `method` of [estimate_accuracy()]
#' defines the weights:
#'
#' * Method `"shared"`: the weights are the posterior probabilities. This is valid if, given the
#'   ratings, a score contains no further information about the truth. If it contains further
#'   information, metrics are biased towards their values for an uninformative system.
#' * Methods `"joint"` and `"average"` assume that scores and ratings are independent given the
#'   truth. For each case, let `p` be the vector of posterior probabilities. Let `M` be the mean
#'   over cases of the matrix `p p'` (`p'` is the transpose), and `D` the diagonal matrix of base
#'   rates (the mean of `p`). The weights are `D M^-1 p` (Natarajan et al. 2013), which may be below
#'   0 or above 1. Metrics are `NA` if ratings hardly distinguish the categories (`M` is nearly
#'   singular).
#' * If argument `common` of [estimate_accuracy()] (assumed sharing of errors) is a number from 0 to
#'   1, the weights are between those of `"joint"` (0) and those of `"shared"` (1).
#' * A case with known truth has weight 1 for its true category, and 0 for others.
#'
#' @section Intervals: `interval` of [estimate_metrics()] is the kind of interval. Cases are
#' resampled, and the model of raters is fitted again to each bootstrap replicate. It is not fitted
#' again if ratings times categories exceed 100000.
#'
#' * `"bootstrap"` intervals are percentiles over replicates.
#' * `"robust"` intervals also allow for errors that systems share with raters, and that raters
#'   share with each other. These intervals are too wide if scores do not depend on the raters'
#'   errors.
#' * `"combined"`, `"corrected"` and `"anytime"` intervals use a sample of gold cases (cases with
#'   known truth) to correct the estimate, as in [estimate_accuracy()].
#' @references Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern
#'   neural networks. *ICML*, 1321-1330.
#'
#'   Hand, D. J. and Till, R. J. (2001). A simple generalisation of the area under the ROC curve for
#'   multiple class classification problems. *Machine Learning*, 45, 171-186.
#'
#'   Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. *NeurIPS*.
#'
#'   Natarajan, N., Dhillon, I. S., Ravikumar, P. and Tewari, A. (2013). Learning with noisy labels.
#'   *NeurIPS*.
#' @return This page documents metrics, not a function; see [estimate_metrics()].
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
#' # ROC area, Brier score and calibration error
#' estimate_metrics(y, c("roc_auc", "brier_class", "ece"), method = "joint", interval = "none")
#' @name score_metrics
NULL

# The kernel of a score metric is the function that computes the metric. The functions below have
# the same arguments:
# * score_data: scores of a system and their order, see order_scores()
# * w: weight of each possible truth of a case (cases x categories)
# * v: number of times that each case is counted
# * settings: arguments of estimate_metrics()
#
# A kernel returns a list with one or both of these elements:
# * whole: the metric for all categories together
# * by_category: a number per category; missing if the metric is not defined for single categories

# Returns the scores of a system and their order, as a list:
# * scores: cases x categories
# * top: number of the category with the highest score, for each case
# * order: a list with a result of score_order() for each category
order_scores <- function(scores) {
  list(
    scores = scores, top = max.col(scores, "first"),
    order = lapply(seq_len(ncol(scores)), function(k) score_order(scores[, k]))
  )
}

# Returns the order of cases by one score, from the highest. The result is a list: `at`, case
# numbers in this order, and `end`, the last position of each distinct score.
score_order <- function(score) {
  case_order <- order(score, decreasing = TRUE)
  sorted_score <- score[case_order]
  list(
    at = case_order, end = which(c(sorted_score[-1L] != sorted_score[-length(sorted_score)], TRUE))
  )
}

# Returns, for each distinct score from the highest, the sum of the weights of the cases with at
# least this score. `order`: result of score_order(). `weight`: weight of each case.
cumulative_weight <- function(order, weight) cumsum(weight[order$at])[order$end]

# Returns the area under the ROC curve: the probability that a positive case has a higher score than
# a negative case. Ties are counted as half. A case is not compared with itself.
# * order: result of score_order()
# * a, b: weights with which each case is counted as positive and as negative; both may be above 0
# * v: number of times that each case is counted
weighted_auc <- function(order, a, b, v) {
  positives_above <- cumulative_weight(order, a * v)
  negatives_by_tie <- diff(c(0, cumulative_weight(order, b * v)))
  right_order_weight <- sum(negatives_by_tie * (positives_above - diff(c(0, positives_above)) / 2))
  self_weight <- sum(v * a * b)
  pair_weight <- sum(a * v) * sum(b * v) - self_weight
  if (pair_weight > 0) clip01((right_order_weight - self_weight / 2) / pair_weight) else NA_real_
}

# Returns areas under the ROC curve as a list: `whole`, the mean area over ordered pairs of
# categories (Hand and Till 2001); and `by_category`, the area of each category against all others,
# or NULL with two categories.
roc_auc_of_scores <- function(score_data, w, v, settings) {
  n <- ncol(w)
  auc_by_pair <- map_dbl(category_pairs(w, v), function(pair) {
    weighted_auc(score_data$order[[pair[[1L]]]], w[, pair[[1L]]], w[, pair[[2L]]], v)
  })
  list(whole = na_real(mean(auc_by_pair)), by_category = if (n > 2L) {
    map_dbl(seq_len(n), function(k) {
      # `rowSums(w)` may differ from 1, because weights of gold cases include sampling weights.
      weighted_auc(score_data$order[[k]], w[, k], rowSums(w) - w[, k], v)
    })
  })
}

# Returns a list of all ordered pairs of different categories, among the categories with cases.
category_pairs <- function(w, v) {
  has_cases <- colSums(w * v) > 0
  pairs <- which(outer(has_cases, has_cases, `&`) & !diag(length(has_cases)), arr.ind = TRUE)
  unname(split(pairs, row(pairs)))
}

# Returns the kernel of the area under the precision-recall curve. The curve has a point for each
# distinct score. At this point, the answer is the category for all cases with at least this score.
# `average`: TRUE if precision is constant between two points (average precision), FALSE if it is
# linear.
new_precision_kernel <- function(average) {
  function(score_data, w, v, settings) {
    list(by_category = map_dbl(seq_len(ncol(w)), function(k) {
      category_weight <- w[, k] * v
      if (sum(category_weight) <= 0) return(NA_real_)
      order <- score_data$order[[k]]
      cases_above <- cumulative_weight(order, v)
      has_drawn_cases <- cases_above > 0 # in replicates the highest scores may not be drawn
      category_cases_above <- cumulative_weight(order, category_weight)[has_drawn_cases]
      # The curve starts with recall 0 and precision 1, as in yardstick.
      recall <- clip01(c(0, cummax(pmax(category_cases_above, 0)) / sum(category_weight)))
      precision <- clip01(c(1, category_cases_above / cases_above[has_drawn_cases]))
      precision_at_start <- precision[if (average) -1L else -length(precision)]
      sum(diff(recall) * (precision[-1L] + precision_at_start) / 2)
    }))
  }
}

# Returns the mean loss over cases. `loss`: loss for each possible truth (cases x categories).
mean_loss <- function(loss, w, v) sum(v * rowSums(w * loss)) / sum(v)

# Groups cases by score into bins of equal width. `hit`: estimated probability that the answer
# is correct, for each case. `bins`: number of bins. Returns vectors with an element per bin that
# contains cases, as a list:
# * bin: number of the bin
# * cases, share: number of cases, and their share of all cases
# * score: mean score
# * right: share of correct answers
# * gap: `right` minus `score`
# * variance: variance of the gap
score_reliability <- function(score, hit, v, bins) {
  gap <- hit - score
  bin_sums <- rowsum(v * cbind(1, score, hit, gap, gap^2), bin_of_score(score, bins))
  bin_sums <- pick_rows(bin_sums, bin_sums[, 1L] > 0)
  bin_cases <- unname(bin_sums[, 1L])
  bin_means <- unname(bin_sums / bin_cases)
  list(
    bin = as.integer(rownames(bin_sums)), cases = bin_cases, share = bin_cases / sum(v),
    score = bin_means[, 2L], right = bin_means[, 3L], gap = bin_means[, 4L],
    variance = pmax(bin_means[, 5L] - bin_means[, 4L]^2, 0) / bin_cases
  )
}

bin_of_score <- function(score, bins) pmax(ceiling(score * bins - 1e-9), 1)

# Returns the result of score_reliability() for the highest score of each case.
top_reliability <- function(score_data, w, v, bins) {
  top_cells <- cbind(seq_along(score_data$top), score_data$top)
  score_reliability(score_data$scores[top_cells], w[top_cells], v, bins)
}

# Returns the kernel of the expected calibration error, the mean absolute gap over bins (see
# score_reliability()). `debiased`: subtract the expected increase of absolute gaps by chance?
new_ece_kernel <- function(debiased) {
  function(score_data, w, v, settings) {
    reliability <- top_reliability(score_data, w, v, settings$bins)
    gap_std_errors <- sqrt(reliability$variance)
    mean_over_bins <- function(mean_gap) sum(reliability$share * mean_gap)
    mean_gap <- mean_over_bins(abs(reliability$gap))
    # Expected increase of the mean absolute gap by chance, if true gaps are equal to observed gaps
    # (Kumar, Liang and Ma 2019).
    chance_increase <- if (debiased)
      mean_over_bins(folded_mean(reliability$gap, gap_std_errors)) - mean_gap else 0
    list(
      whole = clip01(mean_gap - chance_increase),
      # Expected mean absolute gap if scores are calibrated, minus `chance_increase`.
      # lower_limits_by_gaps() subtracts `slack` from lower confidence limits.
      slack = max(mean_over_bins(folded_mean(0, gap_std_errors)) - chance_increase, 0)
    )
  }
}

# Returns the mean absolute value of a normal variable with the given mean and standard deviation.
folded_mean <- function(mean, sd) {
  z <- ifelse(sd > 0, mean / sd, Inf * sign(mean))
  ifelse(
    sd > 0, 2 * sd * dnorm(z) + mean * (2 * pnorm(z) - 1), abs(mean)
  )
}

# Calls a kernel, or the function that computes its influence, with the scores and weights of a
# system. `scored_system`: list of the scores of a system and the weights of its cases, see
# score_panel().
apply_to_scores <- function(f, plan, scored_system) {
  f(scored_system$score_data, scored_system$w, scored_system$v, plan$settings)
}

# Computes the metrics of a plan (see metric_plan()), a number per row of the plan.
score_values <- function(plan, scored_system) {
  category_cases <- colSums(scored_system$w * scored_system$v)
  unlist(lapply(plan$records, function(record) {
    values <- apply_to_scores(record$kernel, plan, scored_system)
    category_values <- values$by_category
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = mean(category_values),
        macro_weighted = sum(category_values * category_cases) / sum(category_cases),
        values$whole
      )
    }), category_values)
  }), use.names = FALSE)
}

# Returns the names of the averages of a metric in the plan, such as "macro". The name is "whole"
# for the metric of all categories together.
score_averages <- function(plan, record) {
  rows <- plan$rows[plan$rows$metric == record$id & is.na(plan$rows$category), ]
  replace_na(rows$average, "whole")
}

# Creates the record of a metric of scores. It has the fields of new_metric() and these:
# * pairs: does the metric also have a value for all categories together, which is a mean over pairs
#   of categories?
# * probabilities: must scores be probabilities?
# * gaps: is the metric a mean of absolute gaps, which chance increases?
# * influence: function that returns the influence of each case (see metric-influence.R)
# * linear: do gold cases correct the metric only to first order? An exact correction uses weights
#   of cases that may be far outside of [0, 1], with which some metrics cannot be computed
score_metric <- function(id, title, reference, kernel, influence, form = "table", pairs = FALSE,
                         probabilities = TRUE, gaps = FALSE, linear = gaps, ...) {
  c(
    new_metric(id, title, reference, kernel, form, needs = "scores", ...),
    mget(c("pairs", "probabilities", "gaps", "influence", "linear"))
  )
}

# Creates the record of a metric that is a mean loss over cases. `loss`: function of scores (cases x
# categories) that returns the loss for each possible truth (cases x categories). `largest`: largest
# value of the metric.
loss_metric <- function(id, title, reference, loss, largest, ...) {
  kernel <- function(score_data, w, v, settings) {
    list(whole = min(max(mean_loss(loss(score_data$scores), w, v), 0), largest))
  }
  influence <- function(score_data, w, v, settings) influence_on_loss(loss(score_data$scores), w, v)
  score_metric(id, title, reference, kernel, influence, better = "low", ...)
}

smallest_score <- .Machine$double.eps # scores of 0 would have an infinite loss

score_records <- name_by_id(list(
  score_metric(
    "roc_auc", "Area under the ROC curve",
    "Hand and Till (2001), Machine Learning 45, 171-186", roc_auc_of_scores, roc_auc_influence,
    "category", pairs = TRUE, probabilities = FALSE,
    undefined = "no case, or every case, is of one category", default = TRUE
  ),
  score_metric(
    "pr_auc", "Area under the precision-recall curve", yardstick_reference,
    new_precision_kernel(FALSE), new_precision_influence(FALSE), "category", probabilities = FALSE,
    linear = TRUE, undefined = reason_no_case
  ),
  score_metric(
    "average_precision", "Average precision", yardstick_reference, new_precision_kernel(TRUE),
    new_precision_influence(TRUE), "category", probabilities = FALSE, linear = TRUE,
    undefined = reason_no_case
  ),
  loss_metric(
    "brier_class", "Brier score", "Brier (1950), Monthly Weather Review 78, 1-3",
    function(scores) rowSums(scores^2) / 2 + (1 - 2 * scores) / 2, 1, default = TRUE
  ),
  loss_metric(
    "mn_log_loss", "Logarithmic loss", yardstick_reference,
    function(scores) -log(clamp(scores, smallest_score, 1 - smallest_score)), Inf,
    upper = -log(smallest_score)
  ),
  score_metric(
    "ece", "Expected calibration error",
    "Guo et al. (2017), ICML; debiased as in Kumar, Liang and Ma (2019), NeurIPS",
    new_ece_kernel(TRUE), ece_influence, better = "low", settings = "bins", gaps = TRUE,
    default = TRUE
  ),
  score_metric(
    "ece_plugin", "Expected calibration error, not debiased", "Guo et al. (2017), ICML",
    new_ece_kernel(FALSE), ece_influence, better = "low", settings = "bins", gaps = TRUE
  )
))

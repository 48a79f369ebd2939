# Metrics of scores. Each case counts for every category with a weight, the estimated probability of
# the category. Corrected weights may be below 0 or above 1 (see scores-metrics.R). If all truths
# are known, the metrics are those of the R package yardstick.

#' Metrics of scores without known truth
#'
#' Metrics for systems with scores, either probabilities of categories or an order of cases: areas
#' under curves, Brier score, logarithmic loss and calibration. Pass `scores` to [ratings()] and
#' call [estimate_metrics()].
#'
#' If all truths are known, these metrics equal those of the R package yardstick:
#'
#' * `roc_auc`: probability that a case of a category has a higher score for it than another case;
#'   ties count half. With more than two categories, also the mean over pairs of categories
#'   (`average` is `"hand_till"`). Needs only the order of scores.
#' * `pr_auc`: area under precision against recall for each category, by trapezoids.
#'   `average_precision`: the same by steps, without interpolation. Both need only the order of
#'   scores.
#' * `brier_class`: half the mean squared distance between scores and truth. `mn_log_loss`: mean of
#'   minus the logarithm of the score of the true category.
#' * `ece`: expected calibration error of the highest score of each case. Scores are grouped into
#'   `bins` of equal width from 0 to 1 (limits belong to the lower bin). The error is the mean over
#'   cases of the absolute gap between the share of right answers and the mean score of the bin.
#'   Chance causes gaps even in calibrated bins. Their expected size is subtracted as in Kumar,
#'   Liang and Ma, which leaves about half of it if a bin is calibrated. `ece_plugin` subtracts
#'   nothing and is too high; if all truths are known it is the usual estimate.
#'
#' @section Replacing the truth:
#' For [fit_scores()] results, scores are evidence about the truth. Otherwise neither scores nor
#' answers are used, so that no system evaluates itself: probabilities of categories are computed
#' from the raters only. The model is that of the estimate. An estimate that averages over models
#' uses [dawid_skene()] if models whose errors depend on the category have more than half of the
#' weight. Otherwise it uses a model with an accuracy for each rater.
#'
#' * Method `"shared"` weights each case by these probabilities. This is right if a score contains
#'   no information about the truth beyond the ratings. Otherwise every metric is biased towards
#'   that of an uninformative system.
#' * Methods `"joint"` and `"average"` assume that scores and ratings are independent given the
#'   truth, and undo the mixing of categories. Let `p` be the probabilities of a case, `M` the mean
#'   of their products and `D` the diagonal matrix of base rates. Cases then have weights
#'   `D M^-1 p`, which may be below 0 or above 1. If raters hardly separate the categories, metrics
#'   are `NA`. This is the case if the smallest eigenvalue of `M`, scaled to 1 for certainty, is
#'   below .01.
#' * A given share of shared errors (`common`) moves the weights from the second to the first.
#'   `"typical"` does not move them, since wrong scores are not the same.
#' * Known truths count with weight 1.
#'
#' @section Intervals:
#' Cases, or clusters, are resampled, and raters are refitted to each replicate. They are not
#' refitted if the number of ratings of patterns times categories is above 1e5. `"bootstrap"` uses
#' percentiles. `"robust"` adds an allowance for shared errors and for errors that raters share with
#' each other, as for other metrics. The weight of dependence is set to 1, since answers with
#' independent errors are no evidence about scores. Intervals of `ece` are moved to the estimate,
#' since every replicate increases it; at the lower end, all that chance could have added is
#' subtracted. With gold, `"combined"` and `"corrected"` compare the influence of each gold case,
#' given its truth, with its prediction from ratings. Robust intervals are too wide if scores do not
#' share the raters' errors, which ratings cannot show. Bootstrap intervals then cover. In
#' simulations from the model (`bench/scores.R`), 90% bootstrap intervals of `roc_auc` covered .84
#' to .87 with method `"joint"`, and .87 to .88 with [fit_scores()]. Biases were at most .004. The
#' bias of method `"shared"` was -.09 to -.13.
#'
#' @references Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern
#'   neural networks. *ICML*, 1321-1330.
#'
#'   Hand, D. J. and Till, R. J. (2001). A simple generalisation of the area under the ROC curve for
#'   multiple class classification problems. *Machine Learning*, 45, 171-186.
#'
#'   Kumar, A., Liang, P. and Ma, T. (2019). Verified uncertainty calibration. *NeurIPS*.
#'
#'   Natarajan, N., Dhillon, I. S., Ravikumar, P. and Tewari, A. (2013). Learning with noisy labels.
#'   *NeurIPS*. (Weights that undo a mixing of labels.)
#' @return Not a function; see [estimate_metrics()].
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
#' estimate_metrics(y, c("roc_auc", "brier_class", "ece"), method = "joint", interval = "none")
#' @name score_metrics
NULL

# The kernel of a score metric is a function of book, w, v and settings. book: see score_book(); w:
# weights of truths, cases x categories; v: number of times that each case counts. It returns a list
# of numbers: `whole` for all categories together, `by_category`, or one of them.
# Metrics of form "table" return only `whole`.

# Scored cases of a system, ordered by each column, with ties. Fields: scores; top, the category
# with the highest score; order, a list per column of `at` (cases from the highest score) and `end`
# (last position of each tie).
score_book <- function(scores) {
  list(
    scores = scores, top = max.col(scores, "first"),
    order = lapply(seq_len(ncol(scores)), function(k) score_order(scores[, k]))
  )
}

score_order <- function(score) {
  at <- order(score, decreasing = TRUE)
  sorted <- score[at]
  list(at = at, end = which(c(sorted[-1L] != sorted[-length(sorted)], TRUE)))
}

# Weight at or above each distinct score, from the highest.
weight_above <- function(order, weight) cumsum(weight[order$at])[order$end]

# Probability that a case of one kind has a higher score than a case of the other; ties count half.
# `a` and `b`: weights of cases to be of either kind. A case is not compared with itself.
auc_of_weights <- function(order, a, b, v) {
  above <- weight_above(order, a * v)
  tied <- diff(c(0, above))
  before <- sum(diff(c(0, weight_above(order, b * v))) * (above - tied / 2))
  itself <- sum(v * a * b)
  pairs <- sum(a * v) * sum(b * v) - itself
  if (pairs > 0) clip01((before - itself / 2) / pairs) else NA_real_
}

# With more than two categories, the mean over ordered pairs of categories (Hand and Till).
roc_auc_of_scores <- function(book, w, v, settings) {
  n <- ncol(w)
  by_pair <- vapply(pairs_there(w, v), function(ij) {
    auc_of_weights(book$order[[ij[[1L]]]], w[, ij[[1L]]], w[, ij[[2L]]], v)
  }, 0)
  list(whole = if (length(by_pair) > 0L) mean(by_pair) else NA_real_, by_category = if (n > 2L) {
    vapply(seq_len(n), function(k) auc_of_weights(book$order[[k]], w[, k], 1 - w[, k], v), 0)
  })
}

# Ordered pairs of different categories with cases.
pairs_there <- function(w, v) {
  there <- colSums(w * v) > 0
  pairs <- which(outer(there, there, `&`) & !diag(length(there)), arr.ind = TRUE)
  unname(split(pairs, row(pairs)))
}

# Recall and precision at each distinct score, from the highest. The first point is as in yardstick.
pr_points <- function(order, a, v) {
  hits <- weight_above(order, a * v)
  cases <- weight_above(order, v)
  some <- cases > 0 # in replicates the highest scores may not be drawn
  list(
    recall = clip01(c(0, cummax(pmax(hits[some], 0)) / sum(a * v))),
    precision = clip01(c(1, hits[some] / cases[some]))
  )
}

precision_of_scores <- function(average) {
  function(book, w, v, settings) {
    list(by_category = vapply(seq_len(ncol(w)), function(k) {
      if (sum(w[, k] * v) <= 0) return(NA_real_)
      points <- pr_points(book$order[[k]], w[, k], v)
      precision <- points$precision
      before <- precision[if (average) -1L else -length(precision)]
      sum(diff(points$recall) * (precision[-1L] + before) / 2)
    }, 0))
  }
}

# Mean loss over cases. `loss`: loss for each possible truth, cases x categories.
mean_loss <- function(loss, w, v) sum(v * rowSums(w * loss)) / sum(v)

brier_losses <- function(scores) rowSums(scores^2) / 2 + (1 - 2 * scores) / 2

log_losses <- function(scores) {
  least <- .Machine$double.eps
  -log(pmin(pmax(scores, least), 1 - least))
}

# Bins of equal width: share of cases, mean score, share of right answers and its variance. `hit`:
# weight of each case to be right.
reliability_of <- function(score, hit, v, bins) {
  bin <- bin_of_score(score, bins)
  off <- hit - score
  sums <- rowsum(cbind(v, v * score, v * hit, v * off, v * off^2), bin)
  sums <- sums[sums[, 1L] > 0, , drop = FALSE]
  cases <- sums[, 1L]
  mean_of <- function(k) unname(sums[, k] / cases)
  list(
    bin = as.integer(rownames(sums)), cases = unname(cases), share = unname(cases) / sum(v),
    score = mean_of(2L), right = mean_of(3L), gap = mean_of(4L),
    variance = pmax(mean_of(5L) - mean_of(4L)^2, 0) / unname(cases)
  )
}

bin_of_score <- function(score, bins) pmax(ceiling(score * bins - 1e-9), 1)

top_reliability <- function(book, w, v, bins) {
  at <- cbind(seq_along(book$top), book$top)
  reliability_of(book$scores[at], w[at], v, bins)
}

# Chance causes gaps even under calibration. If `debiased`, its expected contribution, given gaps as
# large as the observed ones, is subtracted (Kumar, Liang and Ma). `slack`: expected size of gaps
# under calibration, minus what is already subtracted.
ece_of_scores <- function(debiased) {
  function(book, w, v, settings) {
    table <- top_reliability(book, w, v, settings$bins)
    error <- sqrt(table$variance)
    mean_of <- function(size) sum(table$share * size)
    size <- mean_of(abs(table$gap))
    off <- if (debiased) mean_of(folded_mean(table$gap, error)) - size else 0
    list(whole = clip01(size - off), slack = max(mean_of(folded_mean(0, error)) - off, 0))
  }
}

# Mean of the absolute value of a normal variable.
folded_mean <- function(mean, sd) {
  z <- ifelse(sd > 0, mean / sd, Inf * sign(mean))
  ifelse(
    sd > 0, 2 * sd * stats::dnorm(z) + mean * (2 * stats::pnorm(z) - 1), abs(mean)
  )
}

# Values of the rows of a plan.
score_values <- function(plan, book, w, v) {
  share <- colSums(w * v)
  unlist(lapply(plan$records, function(record) {
    value <- record$kernel(book, w, v, plan$settings)
    by_category <- value$by_category
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = mean(by_category), macro_weighted = sum(by_category * share) / sum(share),
        value$whole
      )
    }), by_category)
  }), use.names = FALSE)
}

# Averages in the rows of a metric without category; "whole" if the row is not an average.
score_averages <- function(plan, record) {
  rows <- plan$rows[plan$rows$metric == record$id & is.na(plan$rows$category), ]
  replace(rows$average, is.na(rows$average), "whole")
}

# Further fields. pairs: does it have a value for all categories together, over pairs of them?
# probabilities: must scores be probabilities? gaps: is it a sum of absolute gaps, which chance
# increases? influence: influence of each case by its truth (see metric-influence.R); linear: is it
# corrected only by influences, since it is not defined for weights far from [0, 1]?
score_metric <- function(id, title, reference, kernel, influence, form = "table", pairs = FALSE,
                         probabilities = TRUE, gaps = FALSE, linear = gaps, ...) {
  record <- new_metric(id, title, reference, kernel, form, needs = "scores", ...)
  c(record, mget(c("pairs", "probabilities", "gaps", "influence", "linear")))
}

# `loss`: a function of scores that returns the loss for each possible truth. `most`: largest value.
loss_metric <- function(id, title, reference, loss, most, ...) {
  kernel <- function(book, w, v, settings) {
    list(whole = min(max(mean_loss(loss(book$scores), w, v), 0), most))
  }
  influence <- function(book, w, v, settings) influence_on_loss(loss(book$scores), w, v)
  score_metric(id, title, reference, kernel, influence, better = "low", ...)
}

score_records <- by_id(list(
  score_metric(
    "roc_auc", "Area under the ROC curve",
    "Hand and Till (2001), Machine Learning 45, 171-186", roc_auc_of_scores, roc_auc_influence,
    "category", pairs = TRUE, probabilities = FALSE,
    undefined = "no case, or every case, is of one category", default = TRUE
  ),
  score_metric(
    "pr_auc", "Area under the precision-recall curve", by_name, precision_of_scores(FALSE),
    precision_influence(FALSE), "category", probabilities = FALSE, linear = TRUE,
    undefined = no_such_case
  ),
  score_metric(
    "average_precision", "Average precision", by_name, precision_of_scores(TRUE),
    precision_influence(TRUE), "category", probabilities = FALSE, linear = TRUE,
    undefined = no_such_case
  ),
  loss_metric(
    "brier_class", "Brier score", "Brier (1950), Monthly Weather Review 78, 1-3", brier_losses, 1,
    default = TRUE
  ),
  loss_metric(
    "mn_log_loss", "Logarithmic loss", by_name, log_losses, Inf, upper = -log(.Machine$double.eps)
  ),
  score_metric(
    "ece", "Expected calibration error",
    "Guo et al. (2017), ICML; debiased as in Kumar, Liang and Ma (2019), NeurIPS",
    ece_of_scores(TRUE), ece_influence, better = "low", settings = "bins", gaps = TRUE,
    default = TRUE
  ),
  score_metric(
    "ece_plugin", "Expected calibration error, not debiased", "Guo et al. (2017), ICML",
    ece_of_scores(FALSE), ece_influence, better = "low", settings = "bins", gaps = TRUE
  )
))

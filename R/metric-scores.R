# Metrics of scores. Each case counts for every category with a weight, as it is believed to be its
# truth; these may be below 0 or above 1 where beliefs were corrected (see
# scores-metrics.R). With all
# truths known they are those of R package yardstick.

#' Metrics of scores
#'
#' Systems that say how probable each category is, or put cases in an order, are judged by more than
#' their answers: areas under curves, Brier score, logarithmic loss and calibration. Give `scores`
#' to [ratings()] and ask [estimate_metrics()].
#'
#' With all truths known these are the metrics of R package yardstick:
#'
#' * `roc_auc`: how often a case of a category has a higher score of it than one that is not, ties
#'   counting half. Of more than two categories also between pairs of categories and averaged
#'   (`average` is `"hand_till"`). Needs the order of scores only.
#' * `pr_auc`: the area under precision against recall, by trapezoids, of each category.
#'   `average_precision`: the same by steps, without interpolation. They need the order only.
#' * `brier_class`: half the mean squared distance from scores to truth. `mn_log_loss`: the mean of
#'   minus the logarithm of the score of the truth.
#' * `ece`: expected calibration error of the highest score of each case. Scores are put into `bins`
#'   of equal width from 0 to 1 (limits belong to the bin below); the mean over cases of the
#'   distance between how often answers of a bin are right and what scores say. Chance makes such
#'   distances where there are none; what it adds is taken off as Kumar, Liang and Ma do, which
#'   leaves about half of it where a bin is calibrated. `ece_plugin` takes nothing off, and is too
#'   high; with all truths known it is the usual number.
#'
#' @section How the truth is replaced:
#' [fit_scores()] takes scores as evidence of the truth. Otherwise neither scores nor answers have a
#' part in it, so that no system judges itself: raters alone say how probable each category of a
#' case is, under the model of the estimate or, where it averages over models, [dawid_skene()] if
#' models whose errors depend on the category have more than half of the weight, and otherwise
#' raters with an accuracy each.
#'
#' * Method `"shared"` weighs each case by these probabilities. That is right if a score tells no
#'   more of the truth than the ratings do; otherwise every metric is drawn towards that of a system
#'   that knows nothing.
#' * Methods `"joint"` and `"average"` take scores and ratings to have the truth alone in common,
#'   and undo the mixing of categories: with `p` the probabilities of a case, `M` the mean of their
#'   products and `D` the diagonal of base rates, cases have weights `D M^-1 p`, which may be below
#'   0 or above 1. Where raters hardly separate the categories (the smallest eigenvalue of `M`,
#'   scaled to 1 for certainty, is below .01) metrics are `NA`.
#' * A stated share of shared errors (`common`) moves the weights from the second to the first;
#'   `"typical"` moves nothing, since scores that are wrong are not the same.
#' * Known truths count as they are.
#'
#' @section Intervals:
#' Cases, or clusters, are resampled, and raters fitted again to each drawing (as they are, where
#' ratings of patterns times categories are more than 1e5). `"bootstrap"` takes percentiles;
#' `"robust"` adds what is not known
#' of shared errors and of errors that raters have among themselves, as for other metrics, but
#' as much as if the weight of dependence were 1, since answers that look independent vouch for no
#' score. Those
#' of `ece` are moved to the estimate, since every drawing adds to it; from the lower end all that
#' chance could have added is taken off. With gold, `"combined"` and `"corrected"` hold what each
#' gold case has of the metric by its truth against what ratings predict of it. Robust intervals are
#' too wide where scores do not err as raters do, which ratings cannot show: there `"bootstrap"`
#' covers. In simulations where the model holds (`bench/scores.R`), 90% bootstrap intervals of
#' method `"joint"` covered .84 to .87 for `roc_auc`, and those of [fit_scores()] .87 to .88, with
#' biases of at most .004; that of method `"shared"` was -.09 to -.13.
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
#' # Scores that are drawn from the truth, which is not known otherwise
#' p <- plogis(rnorm(300, ifelse(truth(x)$category == "2", 1, -1), 1.4))
#' y <- ratings(
#'   as.data.frame(x), case = case, rater = rater, rating = rating,
#'   systems = data.frame(case = x$cases, system = "new", prediction = ifelse(p > 0.5, "2", "1")),
#'   scores = data.frame(case = x$cases, system = "new", category = "2", score = p)
#' )
#' estimate_metrics(y, c("roc_auc", "brier_class", "ece"), method = "joint", interval = "none")
#' @name score_metrics
NULL

# The kernel of such a metric is a function of a book (see score_book()), w (cases x categories, the
# weights of truths), v (how often each case counts) and settings, and gives a list of numbers:
# `whole` for all categories together, `each` for every one; what it lacks it does not have. Metrics
# of form "table" have only the first.

# The scored cases of a system, in the order of each column, with ties. Fields: scores; top, the
# category of the highest score; order, per column a list of `at` (from the highest) and `end` (the
# last of each tie).
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

# How often a case of one kind is put before one of the other, ties counting half. `a` and `b` are
# the weights of cases to be of either kind; no case is compared with itself.
auc_of_weights <- function(order, a, b, v) {
  above <- weight_above(order, a * v)
  tied <- diff(c(0, above))
  before <- sum(diff(c(0, weight_above(order, b * v))) * (above - tied / 2))
  own <- sum(v * a * b)
  pairs <- sum(a * v) * sum(b * v) - own
  if (pairs > 0) clip01((before - own / 2) / pairs) else NA_real_
}

# Of more than two categories the mean over pairs of categories, each way round (Hand and Till).
roc_auc_of_scores <- function(book, w, v, settings) {
  n <- ncol(w)
  of <- vapply(pairs_there(w, v), function(ij) {
    auc_of_weights(book$order[[ij[[1L]]]], w[, ij[[1L]]], w[, ij[[2L]]], v)
  }, 0)
  list(whole = if (length(of) > 0L) mean(of) else NA_real_, each = if (n > 2L) {
    vapply(seq_len(n), function(k) auc_of_weights(book$order[[k]], w[, k], 1 - w[, k], v), 0)
  })
}

# Pairs of different categories of which there are cases, each way round.
pairs_there <- function(w, v) {
  there <- colSums(w * v) > 0
  pairs <- which(outer(there, there, `&`) & !diag(length(there)), arr.ind = TRUE)
  unname(split(pairs, row(pairs)))
}

# Recall and precision at each distinct score, from the highest; the first point is yardstick's.
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
    list(each = vapply(seq_len(ncol(w)), function(k) {
      if (sum(w[, k] * v) <= 0) return(NA_real_)
      points <- pr_points(book$order[[k]], w[, k], v)
      precision <- points$precision
      before <- precision[if (average) -1L else -length(precision)]
      sum(diff(points$recall) * (precision[-1L] + before) / 2)
    }, 0))
  }
}

# The mean over cases of a loss that each truth would be, cases x categories.
mean_loss <- function(loss, w, v) sum(v * rowSums(w * loss)) / sum(v)

brier_losses <- function(scores) rowSums(scores^2) / 2 + (1 - 2 * scores) / 2

log_losses <- function(scores) {
  least <- .Machine$double.eps
  -log(pmin(pmax(scores, least), 1 - least))
}

brier_of_scores <- function(book, w, v, settings) {
  list(whole = clip01(mean_loss(brier_losses(book$scores), w, v)))
}

log_loss_of_scores <- function(book, w, v, settings) {
  list(whole = max(0, mean_loss(log_losses(book$scores), w, v)))
}

# Of bins of equal width: share of cases, mean of what the scores say, and share that is right, with
# its variance. `hit`: how far each case is right.
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

ece_of_scores <- function(book, w, v, settings) gaps_of(book, w, v, settings, FALSE)

# Chance makes gaps where there are none. What it adds to their size, were the gaps those that are
# seen, is taken off (Kumar, Liang and Ma).
debiased_ece_of_scores <- function(book, w, v, settings) gaps_of(book, w, v, settings, TRUE)

# `slack`: what chance makes of gaps where there are none, as far as it is not taken off.
gaps_of <- function(book, w, v, settings, debiased) {
  table <- top_reliability(book, w, v, settings$bins)
  error <- sqrt(table$variance)
  size <- sum(table$share * abs(table$gap))
  off <- if (debiased) sum(table$share * folded_mean(table$gap, error)) - size else 0
  list(whole = clip01(size - off), slack = max(sum(table$share * folded_mean(0, error)) - off, 0))
}

# The mean of the absolute value of a normal variable.
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
    found <- record$kernel(book, w, v, plan$settings)
    c(lapply(score_averages(plan, record), function(average) {
      switch(average,
        macro = mean(found$each), macro_weighted = sum(found$each * share) / sum(share),
        found$whole
      )
    }), found$each)
  }), use.names = FALSE)
}

# Rows of a metric that are of no category: "whole" where they are no averages either.
score_averages <- function(plan, record) {
  rows <- plan$rows[plan$rows$metric == record$id & is.na(plan$rows$category), ]
  replace(rows$average, is.na(rows$average), "whole")
}

# pairs: is there a value for all categories together, over pairs of them; probabilities: must
# scores be such; gaps: is it a sum of sizes of gaps, which chance adds to.
# influence: how much of the metric each case has, by its truth (see metric-influence.R); linear: is
# it corrected by these alone, since weights far from [0, 1] would not do.
score_metric <- function(id, title, reference, kernel, influence, form = "table", pairs = FALSE,
                         probabilities = TRUE, gaps = FALSE, linear = gaps, ...) {
  record <- new_metric(id, title, reference, kernel, form, needs = "scores", ...)
  c(record, mget(c("pairs", "probabilities", "gaps", "influence", "linear")))
}

one_kind_only <- "no case, or every case, is of one category"

score_records <- by_id(list(
  score_metric(
    "roc_auc", "Area under the ROC curve",
    "Hand and Till (2001), Machine Learning 45, 171-186", roc_auc_of_scores, roc_auc_influence,
    "category", pairs = TRUE, probabilities = FALSE,
    undefined = one_kind_only, default = TRUE
  ),
  score_metric(
    "pr_auc", "Area under the precision-recall curve", "R package yardstick",
    precision_of_scores(FALSE), precision_influence(FALSE), "category", probabilities = FALSE,
    linear = TRUE,
    undefined = "no case is of this category"
  ),
  score_metric(
    "average_precision", "Average precision", "R package yardstick", precision_of_scores(TRUE),
    precision_influence(TRUE), "category", probabilities = FALSE, linear = TRUE,
    undefined = "no case is of this category"
  ),
  score_metric(
    "brier_class", "Brier score", "Brier (1950), Monthly Weather Review 78, 1-3", brier_of_scores,
    brier_influence, better = "low", default = TRUE
  ),
  score_metric(
    "mn_log_loss", "Logarithmic loss", "R package yardstick", log_loss_of_scores,
    log_loss_influence, better = "low",
    upper = -log(.Machine$double.eps)
  ),
  score_metric(
    "ece", "Expected calibration error",
    "Guo et al. (2017), ICML; debiased as in Kumar, Liang and Ma (2019), NeurIPS",
    debiased_ece_of_scores, ece_influence, better = "low", settings = "bins", gaps = TRUE,
    default = TRUE
  ),
  score_metric(
    "ece_plugin", "Expected calibration error, not debiased", "Guo et al. (2017), ICML",
    ece_of_scores, ece_influence, better = "low", settings = "bins", gaps = TRUE
  )
))

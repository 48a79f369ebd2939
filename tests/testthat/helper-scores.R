# Draws a panel with scores of one system, which depend on the truth. The element `truth` of the
# result contains the true categories.
scored_panel <- function(n = 300, raters = c(0.8, 0.75, 0.7), base = c(0.6, 0.4), shift = 1.2,
                         sharp = 1, scores = TRUE, ...) {
  x <- simulate_ratings(rater_design(
    raters, c(s = 0.7), categories = length(base), base_rates = base, n = n
  ))
  true <- as.integer(truth(x)$category)
  signal <- matrix(stats::rnorm(n * length(base)), n)
  signal[cbind(seq_len(n), true)] <- signal[cbind(seq_len(n), true)] + shift
  odds <- exp(sharp * (shift * signal + rep(log(base), each = n)))
  values <- odds / rowSums(odds)
  long <- data.frame(
    case = rep(x$cases, length(base)), system = "s", category = rep(x$categories, each = n),
    score = as.vector(values)
  )
  scored <- data.frame(
    case = x$cases, system = "s", prediction = x$categories[max.col(values, "first")]
  )
  y <- ratings(
    as.data.frame(x), case = case, rater = rater, rating = rating, systems = scored,
    categories = x$categories, scores = if (scores) long, ...
  )
  list(x = y, truth = truth(x), scores = values, long = long)
}

# Computes the points of the ROC curve from known truth, one point for each distinct score, highest
# score first. `is_category`: TRUE for cases of the category.
roc_points_by_truth <- function(score, is_category) {
  thresholds <- c(Inf, sort(unique(score), decreasing = TRUE))
  list(
    sensitivity = vapply(thresholds, function(t) mean(score[is_category] >= t), 0),
    specificity = vapply(thresholds, function(t) mean(score[!is_category] < t), 0)
  )
}

# Computes the average precision from known truth: the sum, over distinct scores, of the precision
# times the increase of the recall.
average_precision_by_truth <- function(score, is_category) {
  thresholds <- sort(unique(score), decreasing = TRUE)
  recall <- vapply(thresholds, function(t) mean(score[is_category] >= t), 0)
  precision <- vapply(thresholds, function(t) mean(is_category[score >= t]), 0)
  sum(diff(c(0, recall)) * precision)
}

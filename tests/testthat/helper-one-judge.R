# One judge with verdicts pass and fail. `gold`: numbers of gold cases with verdict pass and truth
# pass, pass and fail, fail and pass, fail and fail. `passes` of `n` cases have the verdict pass.
judged_once <- function(gold, n, passes, order = seq_len(n), ...) {
  verdict <- rep(c("pass", "pass", "fail", "fail"), gold)
  truth <- rep(c("pass", "fail", "pass", "fail"), gold)
  gold_counts <- table(factor(verdict, c("pass", "fail")))
  other_verdicts <- rep(c("pass", "fail"), c(passes, n - passes) - gold_counts)
  data <- data.frame(id = paste0("q", seq_len(n)), judge = c(verdict, other_verdicts))
  list(
    x = ratings(data[order, ], raters = judge, case = id, systems = c(app = "pass"),
      categories = c("fail", "pass"), rater_kind = "model", ...),
    truth = data.frame(case = data$id[seq_along(truth)], truth = truth)
  )
}

estimate_once <- function(data, ..., gold_sample = "random") {
  estimate_accuracy(data$x, known_truth = data$truth, gold_sample = gold_sample, ...)
}

# Accuracy from gold cases, corrected by predictions, written from its formulas. `y`: 1 if the
# answer is right, else 0, for m gold cases. `q`: share of ratings equal to the answer, for all
# cases; the first m are gold cases.
slow_corrected <- function(y, q, conf_level = 0.9, target = "population") {
  m <- length(y)
  N <- length(q)
  share <- mean(q)
  V <- var(q)
  qm <- q[seq_len(m)]
  p0 <- (sum(y) + 1) / (m + 2)
  v0 <- p0 * (1 - p0)
  slope <- if (V > 0) min(max((m * cov(y, qm) / V + 10 * 0.5) / (m + 10), 0), 1) else 0
  d0 <- 1 - 0.5^2 * min(1, V / max(v0, share * (1 - share)))
  ratio <- (m * var(y - slope * qm) + 10 * d0 * v0) / (m * var(y) + 10 * v0)
  if (slope == 0 || ratio >= 1) {
    slope <- 0
    ratio <- 1
  }
  estimate <- min(max(mean(y - slope * qm) + slope * share, 0), 1)
  g <- ratio * (1 - m / N) / m
  if (target == "population") g <- min(g + 1 / N, 1 / m)
  z <- qnorm((1 + conf_level) / 2)
  n <- 1 / g
  centre <- (estimate + z^2 / (2 * n)) / (1 + z^2 / n)
  half_width <- z / (1 + z^2 / n) * sqrt(estimate * (1 - estimate) / n + z^2 / (4 * n^2))
  limits <- centre + c(-half_width, half_width)
  if (all(y == 0)) limits[1] <- 0
  if (all(y == 1)) limits[2] <- 1
  c(slope = slope, ratio = ratio, estimate = estimate, low = limits[1], high = limits[2],
    error = sqrt(v0 * g), size = n)
}

# Slow reference implementations of the estimates from gold cases, written from the formulas only,
# and of PPI++, a similar published method.

# PPI++ for a mean. `y`, `f`: truth and prediction of labelled cases. `fu`: predictions of
# unlabelled cases. `lambda`: weight of the predictions; if NULL, the weight with the smallest
# variance is estimated.
ppi_mean <- function(y, f, fu, lambda = NULL, w = rep(1, length(y)), conf_level = 0.9) {
  n <- length(y)
  all <- n + length(fu)
  N <- length(fu)
  w <- w / mean(w)
  pv <- function(x) mean((x - mean(x))^2)
  if (is.null(lambda)) {
    equal <- all(w == 1)
    start <- if (equal) 0 else mean(fu) + mean(w * (y - f))
    a <- w * (y - start)
    b <- w * (f - start)
    covariance <- mean((a - mean(a)) * (b - mean(b)))
    lambda <- covariance / ((1 + n / N) * var(c(b, fu - start)))
    lambda <- min(max(lambda, 0), 1)
  }
  estimate <- lambda * mean(fu) + mean(w * (y - lambda * f))
  se <- sqrt(lambda^2 * pv(fu) / N + pv(w * (y - lambda * f)) / n)
  z <- qnorm((1 + conf_level) / 2)
  c(lambda = lambda, estimate = estimate, low = estimate - z * se, high = estimate + z * se)
}

# Computes, in loops, the estimate from gold cases that is corrected by predictions for all cases.
# `q`: predictions for all cases. `at`: positions of the gold cases among all cases. `y`: truth of
# the gold cases.
slow_correction <- function(y, q, at, w = rep(1, length(y)), kind = "share", least_variance = 0) {
  m <- length(y)
  N <- length(q)
  w <- w / (sum(w) / m)
  F <- 0
  for (i in seq_len(N)) F <- F + q[i] / N
  V <- 0
  for (i in seq_len(N)) V <- V + (q[i] - F)^2 / (N - 1)
  design <- 0
  ybar <- 0
  qbar <- 0
  for (j in seq_len(m)) {
    design <- design + w[j]^2 / m
    ybar <- ybar + w[j] * y[j] / m
    qbar <- qbar + w[j] * q[at[j]] / m
  }
  vary <- 0
  cov <- 0
  for (j in seq_len(m)) {
    if (m > 1) {
      vary <- vary + w[j] * (y[j] - ybar)^2 / (m - 1)
      cov <- cov + w[j] * (y[j] - ybar) * (q[at[j]] - qbar) / (m - 1)
    }
  }
  if (kind == "share") {
    p0 <- (m / design * ybar + 1) / (m / design + 2)
    v0 <- p0 * (1 - p0)
    least_variance_of_y <- F * (1 - F)
  } else {
    v0 <- max(vary, if (kind == "influence") least_variance else 1 / (m / design))
    least_variance_of_y <- 0
  }
  k <- 10
  lambda <- 0
  if (V > 0) lambda <- (m / design * cov / V + k * 0.5) / (m / design + k)
  lambda <- min(max(lambda, 0), 1)
  ebar <- ybar - lambda * qbar
  residual_sum <- 0
  all <- 0
  for (j in seq_len(m)) {
    residual <- y[j] - lambda * q[at[j]] - ebar
    if (m > 1) residual_sum <- residual_sum + w[j]^2 * residual^2 * m / (m - 1)
    if (m > 1) all <- all + w[j]^2 * (y[j] - ybar)^2 * m / (m - 1)
  }
  d0 <- 1 - 0.25 * V / max(v0, least_variance_of_y)
  delta <- (residual_sum + k * d0 * v0 * design) / (all / design + k * v0)
  if (delta >= design - 1e-12 || lambda <= 0) {
    delta <- design
    lambda <- 0
  }
  list(
    estimate = ybar - lambda * qbar + lambda * F, slope = lambda, ratio = delta, variance = v0,
    error = c(
      population = min(delta * (1 - m / N) / m + 1 / N, design / m),
      cases = delta * (1 - m / N) / m
    )
  )
}

# A quantity of the joint table, by its slopes. `value`: function of a table with truth in rows. The
# cases `at` have this `truth`. All cases have an `answer` and predicted probabilities (cases x
# categories).
slow_quantity <- function(value, truth, answer, predicted, at) {
  m <- length(at)
  K <- ncol(predicted)
  table_of <- function(cases, p) {
    out <- matrix(0, K, K)
    for (i in seq_along(cases)) {
      out[, answer[cases[i]]] <- out[, answer[cases[i]]] + p[i, ] / length(cases)
    }
    out
  }
  positive <- function(table) pmax(table, 0) / sum(pmax(table, 0))
  gold <- table_of(at, diag(K)[truth, ])
  mean <- table_of(seq_along(answer), predicted)
  prediction_error <- table_of(at, predicted[at, ]) - mean
  start <- (m * positive(gold - 0.5 * prediction_error) + mean) / (m + 1)
  slope <- matrix(0, K, K)
  for (cell in which(start > 0)) {
    value_after <- function(h) value((1 - h) * start + h * (seq_len(K^2) == cell))
    slope[cell] <- (value_after(1e-5) - value_after(-1e-5)) / 2e-5
  }
  q <- sapply(seq_along(answer), function(i) sum(predicted[i, ] * slope[, answer[i]]))
  y <- slope[cbind(truth, answer[at])]
  x <- slow_correction(y, q, at, kind = "influence", least_variance = sum(start * slope^2))
  estimate <- value(positive(gold - x$slope * prediction_error))
  varies <- function(cases) {
    share <- (cases * estimate + 0.5) / (cases + 1)
    share * (1 - share)
  }
  share_variance <- varies(max(m, m * varies(m) / x$variance))
  variance_ratio <- x$variance / share_variance
  few_cases <- m / max(abs(slope))
  is_few <- min(estimate, 1 - estimate) * few_cases < 0.5 || few_cases < 2.7
  if (is_few && m / variance_ratio > few_cases) {
    share_variance <- varies(few_cases)
    variance_ratio <- m / few_cases
  }
  list(
    estimate = estimate, variance = share_variance, ratio = x$ratio * variance_ratio,
    design = variance_ratio, full_design = variance_ratio, gold = m, n_labels = min(m, few_cases),
    cases = length(answer), alone = value(gold), seen = value(gold)
  )
}

# Combines an estimate from gold cases with a prior, by numerical integration. Returns the mean and
# the limits.
slow_combination <- function(D, size, prior, target, N, z = qnorm(0.95)) {
  inside <- pnorm(1, prior$centre, prior$sd) - pnorm(0, prior$centre, prior$sd)
  density <- function(theta) {
    law <- (1 - prior$vague) * dnorm(theta, prior$centre, prior$sd) / inside +
      prior$vague * dbeta(theta, 0.5, 0.5)
    law * exp(size * (D * log(theta) + (1 - D) * log1p(-theta)) -
      size * (if (D > 0) D * log(D) else 0) - size * (if (D < 1) (1 - D) * log1p(-D) else 0))
  }
  part <- function(f, to = pi / 2) {
    integrate(function(a) f(sin(a)^2) * sin(2 * a), 0, to, subdivisions = 2000, rel.tol = 1e-10)$value
  }
  total <- part(density)
  M <- part(function(theta) theta * density(theta)) / total
  point <- function(p) {
    uniroot(function(a) part(density, a) / total - p, c(1e-6, pi / 2 - 1e-6), tol = 1e-10)$root
  }
  limits <- sin(c(point(0.05), point(0.95)))^2
  v <- if (target == "population") z^2 * M * (1 - M) / N else 0
  c(M, max(0, M - sqrt((M - limits[1])^2 + v)), min(1, M + sqrt((limits[2] - M)^2 + v)))
}

# Ten predictions, repeated 20 times.
ten_predictions <- c(0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1)
two_hundred <- function() summarise_predictions(rep(ten_predictions, 20))
three_numbers <- function(x) c(x$estimate, x$conf.low, x$conf.high)

# Worked examples of the combination rule: gold cases `x`, estimate from ratings `alone`, and
# results.
rule_rows <- function() {
  list(
    list(
      x = corrected_share(c(1, 1, 1, 1, 0, 1, 0, 1, 0, 0), ten_predictions, two_hundred()),
      alone = list(estimate = 0.7, std.error = 0.05, bias = 0.03),
      slope = 0.90033, ratio = 0.76125, estimate = 0.6, corrected = c(0.37820, 0.78720),
      population = c(0.67329, 0.53693, 0.77718), cases = c(0.67329, 0.54832, 0.76171)
    ),
    list(
      x = corrected_share(rep(1, 20), rep(ten_predictions, 2), two_hundred()),
      alone = list(estimate = 0.7, std.error = 0.05, bias = 0.03),
      slope = 0, ratio = 1, estimate = 1, corrected = c(0.88084, 1),
      population = c(0.97685, 0.90990, 1), cases = c(0.97685, 0.91222, 0.99991)
    ),
    list(
      x = corrected_share(c(0, 0, 0), c(0.3, 0.5, 0.1), two_hundred()),
      alone = list(estimate = 0.2, std.error = 0.06, bias = 0.04),
      slope = 0.38462, ratio = 0.93569, estimate = 0.11923, corrected = c(0.01343, 0.57375),
      population = c(0.19606, 0.09189, 0.29928), cases = c(0.19606, 0.10269, 0.28838)
    )
  )
}

# A panel of three raters and systems a and b, with a random sample of gold cases.
gold_panel <- function(n = 300, m = 40, seed = 1, ...) {
  set.seed(seed)
  design <- rater_design(
    c(0.7, 0.7, 0.8), c(a = 0.8, b = 0.7), 3, n, base_rates = c(0.5, 0.3, 0.2), ...
  )
  x <- quiet(simulate_ratings(design))
  list(x = x, gold = read_gold(truth(x)[sample(n, m), ], "random", x))
}

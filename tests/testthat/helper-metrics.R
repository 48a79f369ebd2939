# Metrics by their definitions, one number at a time. Tables have truth in rows.
slow_category_metric <- function(id, table, k, beta = 1) {
  tp <- table[k, k]
  fn <- sum(table[k, -k])
  fp <- sum(table[-k, k])
  tn <- sum(table[-k, -k])
  slow_binary_metric(id, tp, fn, fp, tn, beta)
}

slow_binary_metric <- function(id, tp, fn, fp, tn, beta = 1) {
  recall <- tp / (tp + fn)
  spec <- tn / (tn + fp)
  precision <- tp / (tp + fp)
  total <- tp + fn + fp + tn
  share <- (tp + fn) / total
  switch(id,
    recall = recall, sens = recall, spec = spec, precision = precision,
    ppv = recall * share / (recall * share + (1 - spec) * (1 - share)),
    npv = spec * (1 - share) / ((1 - recall) * share + spec * (1 - share)),
    f_meas = if (precision %in% 0 && recall %in% 0) {
      0
    } else {
      (1 + beta^2) * precision * recall / (beta^2 * precision + recall)
    },
    bal_accuracy = (recall + spec) / 2, j_index = recall + spec - 1,
    detection_prevalence = (tp + fp) / total, prevalence = share
  )
}

slow_table_metric <- function(id, table, cost) {
  p <- table / sum(table)
  n <- nrow(p)
  truth <- rowSums(p)
  answer <- colSums(p)
  # Matthews' correlation as a correlation of indicators: a sum of covariances.
  covariance <- function(a, b) {
    total <- 0
    for (k in seq_len(n)) {
      for (i in seq_len(n)) {
        for (j in seq_len(n)) {
          total <- total + p[i, j] * ((a[i, j] == k) - sum(p * (a == k))) *
            ((b[i, j] == k) - sum(p * (b == k)))
        }
      }
    }
    total
  }
  weighted <- function(cost) {
    agree <- 1 - cost / max(cost)
    by_chance <- sum(agree * outer(truth, answer))
    (sum(agree * p) - by_chance) / (1 - by_chance)
  }
  switch(id,
    accuracy = sum(diag(p)),
    kap = 1 - (1 - sum(diag(p))) / (1 - sum(truth * answer)),
    mcc = covariance(row(p), col(p)) /
      sqrt(covariance(row(p), row(p)) * covariance(col(p), col(p))),
    loss = sum(cost * p),
    kap_linear = weighted(abs(row(p) - col(p))), kap_quadratic = weighted((row(p) - col(p))^2),
    mae = sum(p * abs(row(p) - col(p))), within_one = sum(p[abs(row(p) - col(p)) < 2])
  )
}

category_ids <- c(
  "recall", "sens", "spec", "precision", "ppv", "npv", "f_meas", "bal_accuracy", "j_index",
  "detection_prevalence", "prevalence"
)
odds_ids <- c("lr_positive", "lr_negative", "dor")
table_ids <- c("accuracy", "kap", "mcc", "loss")
ordered_ids <- c("kap_linear", "kap_quadratic", "mae", "within_one")

# Values of metrics for one table of counts, with the rows of metric_plan().
values_of <- function(table, ids = c(table_ids, ordered_ids, category_ids), averages = metric_averages,
                      beta = 1, cost = 1 - diag(nrow(table))) {
  plan <- metric_plan(
    built_in_metrics[ids], LETTERS[seq_len(nrow(table))], averages,
    list(beta = beta, cost = cost, ordered = TRUE, steps = nrow(table) - 1L)
  )
  value <- metric_values(plan, matrix(t(table) / sum(table), 1L))[1L, ]
  cbind(plan$rows, value = value)
}

metric_panel <- function(n = 150, categories = 3, ...) {
  set.seed(1)
  simulate_ratings(rater_design(c(0.7, 0.7, 0.8), c(a = 0.85, b = 0.5), categories, n, ...))
}

# Slopes of the metrics as a matrix: cells x rows of the plan.
slope_matrix <- function(slopes) sapply(seq_along(slopes$whole), slopes_of_row, slopes = slopes)

# Slow reference for the slopes: finite differences of the metrics, with a little more weight in one
# cell.
slow_slopes <- function(plan, table, step = 1e-5) {
  n <- length(table)
  square <- matrix(table, sqrt(n), byrow = TRUE)
  occurs <- as.vector(t(outer(rowSums(square) > 0, colSums(square) > 0, `&`)))
  value <- function(h, cell) metric_values(plan, matrix((1 - h) * table + h * (1:n == cell), 1L))[1L, ]
  t(sapply(1:n, function(cell) {
    at <- c(0, step / 2, step)
    values <- sapply(at, value, cell = cell)
    if (occurs[[cell]]) as.vector(values %*% c(-3, 4, -1)) / step else 0 * values[, 1L]
  }))
}

# Recall, precision, specificity and F1 of a rare category: coverage of intervals from ratings only
# and with random gold cases. Raters and systems are independent given the truth.
#
#   Rscript bench/rare.R PANELS FILE [WORLD...]
#
# writes a row per world, gold cases, interval, metric, and category, with Monte Carlo errors.

library(fallible)

# Confusion matrices of raters (r) and systems (s), for these base rates.
two <- function(rate) {
  judge <- function(sensitivity, specificity) {
    rbind(c(specificity, 1 - specificity), c(1 - sensitivity, sensitivity))
  }
  list(
    base = c(1 - rate, rate),
    r = list(judge(0.7, 0.97), judge(0.75, 0.98), judge(0.8, 0.96)),
    s = list(judge(0.6, 0.98), judge(0.8, 0.95))
  )
}

three <- function() {
  judge <- function(right, rare) {
    out <- matrix(0, 3L, 3L)
    out[1L, ] <- c(right, 0.98 - right, 0.02)
    out[2L, ] <- c(0.98 - right, right, 0.02)
    out[3L, ] <- c((1 - rare) / 2, (1 - rare) / 2, rare)
    out
  }
  list(
    base = c(0.5, 0.48, 0.02), r = list(judge(0.8, 0.7), judge(0.85, 0.75), judge(0.9, 0.8)),
    s = list(judge(0.9, 0.6), judge(0.8, 0.8))
  )
}

worlds <- list(one = two(0.01), two = two(0.02), five = two(0.05), three = three())

draw_panel <- function(world, n) {
  truth <- sample(length(world$base), n, TRUE, world$base)
  answer <- function(matrix) {
    cumulative <- t(apply(matrix, 1L, cumsum))
    1L + rowSums(stats::runif(n) > cumulative[truth, -ncol(matrix), drop = FALSE])
  }
  labels <- letters[seq_along(world$base)]
  codes <- lapply(c(world$r, world$s), function(judge) factor(labels[answer(judge)], labels))
  names(codes) <- c("r1", "r2", "r3", "s1", "s2")
  x <- ratings(data.frame(case = seq_len(n), codes),
    raters = c("r1", "r2", "r3"), systems = c("s1", "s2"), case = "case"
  )
  list(x = x, truth = data.frame(case = seq_len(n), truth = labels[truth]))
}

metrics <- c("recall", "precision", "spec", "f_meas")

true_values <- function(world) {
  true_rows <- lapply(world$s, function(judge) {
    table <- world$base * judge
    right <- diag(table)
    truth <- rowSums(table)
    answer <- colSums(table)
    data.frame(
      category = rep(letters[seq_along(right)], 4L),
      metric = rep(metrics, each = length(right)),
      truth = c(
        right / truth, right / answer, 1 - (answer - right) / (1 - truth),
        2 * right / (truth + answer)
      )
    )
  })
  cbind(system = rep(c("s1", "s2"), each = nrow(true_rows[[1L]])), do.call(rbind, true_rows))
}

one_panel <- function(world, n, gold) {
  panel <- draw_panel(world, n)
  order <- sample(n)
  quiet <- function(expr) suppressMessages(suppressWarnings(expr))
  rows <- lapply(gold, function(m) {
    known_cases <- if (m > 0) panel$truth[order[seq_len(m)], ]
    estimate <- quiet(estimate_accuracy(
      panel$x, known_truth = known_cases, gold_sample = if (m > 0) "random"
    ))
    kinds <- if (m > 0) c("combined", "corrected") else "robust"
    do.call(rbind, lapply(kinds, function(kind) {
      out <- quiet(as.data.frame(tidy(estimate_metrics(estimate, metrics, interval = kind))))
      columns <- c("system", "metric", "category", "estimate", "conf.low", "conf.high")
      out <- out[!is.na(out$category), columns]
      cbind(gold = m, interval = kind, out)
    }))
  })
  do.call(rbind, rows)
}

run_world <- function(name, panels, n = 2000, gold = c(0, 20, 50, 100)) {
  world <- worlds[[name]]
  truth <- true_values(world)
  rows <- lapply(seq_len(panels), function(i) {
    set.seed(7000 + i)
    cbind(panel = i, one_panel(world, n, gold))
  })
  rows <- merge(do.call(rbind, rows), truth)
  rows$covered <- rows$conf.low <= rows$truth + 1e-12 & rows$truth <= rows$conf.high + 1e-12
  rows$width <- rows$conf.high - rows$conf.low
  key <- interaction(rows$gold, rows$interval, rows$metric, rows$category, drop = TRUE)
  out <- lapply(split(rows, key), function(group) {
    # Systems of a panel are dependent, so panels are the units.
    by_panel <- tapply(group$covered, group$panel, mean, na.rm = TRUE)
    by_panel <- by_panel[!is.nan(by_panel)]
    data.frame(
      world = name, group[1L, c("gold", "interval", "metric", "category")],
      covered = mean(group$covered, na.rm = TRUE),
      mc_error = stats::sd(by_panel) / sqrt(length(by_panel)),
      worst = min(tapply(group$covered, group$system, mean, na.rm = TRUE)),
      bias = mean(group$estimate - group$truth, na.rm = TRUE), lacking = mean(is.na(group$width)),
      width = stats::median(group$width, na.rm = TRUE), panels = panels
    )
  })
  do.call(rbind, out)
}

arguments <- commandArgs(TRUE)
chosen <- if (length(arguments) > 2L) arguments[-(1:2)] else names(worlds)
results <- do.call(rbind, lapply(chosen, run_world, panels = as.integer(arguments[[1L]])))
results[c("covered", "mc_error", "worst", "bias", "lacking", "width")] <-
  round(results[c("covered", "mc_error", "worst", "bias", "lacking", "width")], 3L)
utils::write.csv(results, arguments[[2L]], row.names = FALSE)

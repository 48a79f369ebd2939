# One judge and a random sample of gold cases. Compares coverage, width and error of `corrected`
# with gold cases only, with PPI++ and with judgy. Also differences of two versions, false passes of
# gate(), and coverage after rounds of plan_gold().
#
#   Rscript bench/one-judge.R TASK PANELS FILE
#
# TASK is one of these, or all:
# * grid: theta x judges x gold cases
# * differences: eight designs
# * gate: thresholds x judges x gold cases
# * plan: theta x judges x half-widths
# * calibration: theta x judges x calibration cases from elsewhere. The interval of known_raters and
#   judgy's bootstrap.
# Writes a row per cell to FILE, with Monte Carlo errors, and prints whether the targets are met.
# Coverage is of the pass rate in the population, of nominal 90% intervals. If the package
# evaluatellm is installed, the formula of PPI++ is compared with it.

library(fallible)
internal <- asNamespace("fallible")
share_se <- function(p, n) sqrt(p * (1 - p) / n)

# Sensitivity and specificity
judges <- rbind(
  c(0.6, 0.6), c(0.6, 0.95), c(0.8, 0.8), c(0.9, 0.6), c(0.9, 0.9), c(0.95, 0.8), c(0.99, 0.6),
  c(0.99, 0.99)
)
thetas <- c(0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)

# Panels as columns: y and q of m gold cases, and the mean of q over all n cases.
draw_panels <- function(theta, judge, m, n, panels) {
  y <- matrix(as.double(runif(m * panels) < theta), m)
  q <- matrix(as.double(runif(m * panels) < ifelse(y == 1, judge[[1]], 1 - judge[[2]])), m)
  passes <- theta * judge[[1]] + (1 - theta) * (1 - judge[[2]])
  list(y = y, q = q, mean = (colSums(q) + rbinom(panels, n - m, passes)) / n, n = n)
}

# Estimates and intervals of estimate_accuracy(), for all panels at once.
measure <- function(panels) {
  n <- panels$n
  all <- list(
    mean = panels$mean, variance = panels$mean * (1 - panels$mean) * n / (n - 1),
    cases = rep(n, length(panels$mean))
  )
  x <- internal$corrected_share(panels$y, panels$q, all, w = 1 + 0 * panels$y)
  x$seen <- x$alone
  x
}

intervals <- function(panels, conf_level = 0.9) {
  x <- measure(panels)
  interval_of <- function(x) {
    internal$corrected_interval(x, "population", conf_level)[c("estimate", "conf.low", "conf.high")]
  }
  source_gold_only <- replace(x, c("estimate", "ratio"), x[c("alone", "design")])
  list(corrected = interval_of(x), `gold alone` = interval_of(source_gold_only),
    `PPI++` = ppi(panels, conf_level))
}

# As evaluatellm 0.1.0 computes it: variances with n - 1, other cases without gold cases, and no
# weight below 0.
ppi <- function(panels, conf_level) {
  m <- nrow(panels$y)
  unlabelled <- panels$n - m
  centred <- function(x) x - rep(colMeans(x), each = m)
  spread <- colSums(centred(panels$q)^2) / (m - 1)
  covariance <- colSums(centred(panels$y) * centred(panels$q)) / (m - 1)
  lambda <- ifelse(spread > 0, pmax(0, covariance) / ((1 + m / unlabelled) * spread), 0)
  mean <- (panels$mean * panels$n - colSums(panels$q)) / unlabelled
  residual <- panels$y - rep(lambda, each = m) * panels$q
  estimate <- colMeans(residual) + lambda * mean
  variance <- mean * (1 - mean) * unlabelled / (unlabelled - 1)
  error <- sqrt(colSums(centred(residual)^2) / (m - 1) / m + lambda^2 * variance / unlabelled)
  reach <- qnorm((1 + conf_level) / 2) * error
  list(estimate = estimate, conf.low = estimate - reach, conf.high = estimate + reach)
}

# Checks on one panel that the vectorised code above gives the results of estimate_accuracy() and,
# if evaluatellm is installed, of its ev_judge_debias().
check_kernel <- function(judge) {
  panels <- draw_panels(0.8, judge, 50, 300, 1)
  passes <- round(panels$mean * 300) - sum(panels$q)
  verdict <- ifelse(c(panels$q, rep(1:0, c(passes, 250 - passes))) == 1, "pass", "fail")
  x <- ratings(data.frame(judge = verdict, id = 1:300),
    raters = "judge", case = "id", systems = c(app = "pass"), categories = c("pass", "fail"),
    rater_kind = "model"
  )
  truth <- setNames(ifelse(panels$y == 1, "pass", "fail"), 1:50)
  estimate <- estimate_accuracy(x, known_truth = truth, gold_sample = "random")
  expected <- unlist(intervals(panels)$corrected)
  planned <- tidy(plan_gold(estimate, 0.06))
  planned <- planned$gold[planned$interval == "corrected"]
  stopifnot(
    all.equal(unlist(tidy(estimate)[names(expected)]), expected),
    is.na(planned) || planned == plan_labels(measure(panels), 0.06)
  )
  if (nzchar(system.file(package = "evaluatellm"))) {
    estimate_by_peer <- getExportedValue("evaluatellm", "ev_judge_debias")
    peer <- estimate_by_peer(verdict == "pass", c(panels$y, rep(NA, 250)), level = 0.9)
    peer <- unlist(peer[c("estimate", "conf_low", "conf_high")], use.names = FALSE)
    stopifnot(all.equal(unlist(intervals(panels)$`PPI++`, use.names = FALSE), peer))
  }
}

# Percentiles of the estimate of Rogan and Gladen, of resampled calibration cases, with the share of
# verdicts as it is: judgy, src/judgy/core.py. `right`, `n_gold`: numbers of right verdicts and of
# calibration cases that pass and that fail. Returns the estimate and the limits.
judgy <- function(right, n_gold, share, conf_level = 0.9, draws = 500) {
  correct <- function(rates) {
    pmin(pmax((share + rates[2, ] - 1) / (colSums(rates) - 1), 0), 1)
  }
  cells <- rmultinom(draws, sum(n_gold), c(right, n_gold - right))
  rates <- cells[1:2, ] / (cells[1:2, ] + cells[3:4, ])
  better <- which(colSums(rates) > 1)
  c(
    correct(cbind(right / n_gold)),
    quantile(correct(rates[, better, drop = FALSE]), (1 + c(-1, 1) * conf_level) / 2, names = FALSE)
  )
}

# judgy with random labels, for panels in which the judge seems better than chance. There is no
# estimate for the others.
judgy_of_panels <- function(panels) {
  y <- panels$y
  q <- panels$q
  n_gold <- rbind(colSums(y), colSums(1 - y))
  right <- rbind(colSums(y * q), colSums((1 - y) * (1 - q)))
  share <- (panels$mean * panels$n - colSums(q)) / (panels$n - nrow(q))
  better <- which(colSums(right / n_gold) > 1)
  rows <- vapply(better, function(i) judgy(right[, i], n_gold[, i], share[[i]]), double(3))
  list(estimate = rows[1, ], conf.low = rows[2, ], conf.high = rows[3, ])
}

summarise <- function(estimates, theta) {
  panels <- length(estimates$estimate)
  hit <- estimates$conf.low <= theta & estimates$conf.high >= theta
  squares <- (estimates$estimate - theta)^2
  data.frame(
    cover = mean(hit), cover_se = share_se(mean(hit), panels),
    width = mean(estimates$conf.high - estimates$conf.low),
    least_width = min(estimates$conf.high - estimates$conf.low), rmse = sqrt(mean(squares)),
    rmse_se = sd(squares) / sqrt(panels) / 2 / sqrt(mean(squares)),
    outside = mean(estimates$conf.low < 0 | estimates$conf.high > 1), panels = panels
  )
}

grid <- function(panels, n = 500) {
  cells <- expand.grid(theta = thetas, judge = seq_len(nrow(judges)), gold = c(20, 50, 100))
  do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
    cell <- cells[i, ]
    drawn <- draw_panels(cell$theta, judges[cell$judge, ], cell$gold, n, panels)
    estimates <- c(intervals(drawn), list(judgy = judgy_of_panels(drawn)))
    rows <- do.call(rbind, lapply(estimates, summarise, cell$theta))
    data.frame(
      task = "grid", cell = sprintf("theta %s, judge %s", cell$theta,
        toString(judges[cell$judge, ])), gold = cell$gold, method = names(estimates), rows,
      row.names = NULL
    )
  }))
}

# RMSE of an estimator that knows the regression of the truth on verdicts, relative to gold cases
# only. No estimator can be expected to have a lower ratio.
least_ratio <- function(m, n = 500) {
  cells <- expand.grid(theta = thetas, judge = seq_len(nrow(judges)))
  sensitivity <- judges[cells$judge, 1]
  passes <- cells$theta * sensitivity + (1 - cells$theta) * (1 - judges[cells$judge, 2])
  variance <- cells$theta * (1 - cells$theta)
  explained <- (cells$theta * (sensitivity - passes))^2 / (passes * (1 - passes))
  squares <- (variance - explained) * (1 / m - 1 / n) + variance / n
  mean(sqrt(squares)) / mean(sqrt(variance / m))
}

report_grid <- function(table) {
  for (group in split(table, list(table$method, table$gold))) {
    cat(sprintf(
      paste("%-10s m = %3d: cover %.3f (worst %.3f, se %.3f), width %.3f, rmse %.4f,",
        "outside %.3f, no estimate %.3f\n"),
      group$method[[1]], group$gold[[1]], mean(group$cover), min(group$cover),
      group$cover_se[which.min(group$cover)], mean(group$width), mean(group$rmse),
      mean(group$outside), 1 - mean(group$panels) / max(table$panels)
    ))
  }
  corrected <- table[table$method == "corrected", ]
  gold_only <- table[table$method == "gold alone" & table$gold == 50, ]
  ratio <- mean(corrected$rmse[corrected$gold == 50]) / mean(gold_only$rmse)
  cat(sprintf("Mean cover at least .90: %s; every cell at least .86: %s\n",
    all(tapply(corrected$cover, corrected$gold, mean) >= 0.9), all(corrected$cover >= 0.86)))
  cat(sprintf("RMSE at m = 50 %.3f of gold alone (at most .80: %s; %.3f is possible)\n",
    ratio, ratio <= 0.8, least_ratio(50)))
  cat(sprintf("No end outside [0, 1]: %s\n", all(corrected$outside == 0)))
}

# Pass rates, judges and latent correlations (of truths, of errors) of two versions.
designs <- list(
  unpaired = list(c(0.75, 0.8), m = 50),
  `unpaired, high` = list(c(0.9, 0.95), m = 20),
  paired = list(c(0.75, 0.8), m = 50, r = c(0.49, 0.25)),
  `paired, more alike` = list(c(0.75, 0.8), m = 20, r = c(0.81, 0.49)),
  `paired, high` = list(c(0.9, 0.95), m = 20, r = c(0.81, 0.49), a = c(0.95, 0.8)),
  `paired, gold elsewhere` = list(c(0.75, 0.8), m = 50, r = c(0.49, 0.25), elsewhere = TRUE),
  favour = list(c(0.75, 0.75), m = 50, r = c(0.49, 0.25), a = c(0.85, 0.85), b = c(0.95, 0.6)),
  equal = list(c(0.85, 0.85), m = 100, r = c(0.81, 0.25), a = c(0.95, 0.9), n = 1000)
)

compare_versions <- function(design) {
  n <- if (is.null(design$n)) 400 else design$n
  a <- if (is.null(design$a)) c(0.9, 0.8) else design$a
  b <- if (is.null(design$b)) a else design$b
  r <- if (is.null(design$r)) c(0, 0) else design$r
  shared <- matrix(rnorm(2 * n), n)
  version <- function(theta, judge) {
    latent <- function(r, shared) sqrt(r) * shared + sqrt(1 - r) * rnorm(n)
    right <- latent(r[[1]], shared[, 1]) < qnorm(theta)
    ok <- latent(r[[2]], shared[, 2]) < qnorm(ifelse(right, judge[[1]], judge[[2]]))
    data.frame(prompt = seq_len(n), right = right, judge = right == ok)
  }
  data <- rbind(version(design[[1]][[1]], a), version(design[[1]][[2]], b))
  data$version <- rep(c("A", "B"), each = n)
  data$id <- seq_len(2 * n)
  gold <- seq_len(design$m)
  n_other <- if (is.null(design$elsewhere)) gold else design$m + gold
  paired <- !is.null(design$r)
  x <- ratings(data, raters = "judge", case = "id", systems = c(app = "TRUE"), rater_kind = "model",
    covariates = c("version", "prompt"))
  gold <- c(gold, n + n_other)
  estimate <- estimate_accuracy(x,
    by = "version", resampling = if (paired) list(cluster = "prompt") else list(),
    known_truth = setNames(data$right[gold], gold), gold_sample = "random"
  )
  raw <- tapply(data$judge, data$version, mean)
  raw_error <- sqrt(sum(raw * (1 - raw)) / n) # of independent versions
  c(
    unlist(tidy(compare_systems(estimate))[c("estimate", "conf.low", "conf.high")]),
    raw = raw[[1]] - raw[[2]], raw_error = raw_error
  )
}

differences <- function(panels) {
  do.call(rbind, lapply(names(designs), function(name) {
    design <- designs[[name]]
    runs <- vapply(seq_len(panels), function(i) compare_versions(design), double(5))
    truth <- diff(rev(design[[1]]))
    corrected <- setNames(as.list(data.frame(t(runs[1:3, ]))),
      c("estimate", "conf.low", "conf.high"))
    raw <- runs[4, ]
    reach <- qnorm(0.95) * runs[5, ]
    raw <- list(estimate = raw, conf.low = raw - reach, conf.high = raw + reach)
    rows <- rbind(summarise(corrected, truth), summarise(raw, truth))
    rows$outside <- NA
    data.frame(task = "differences", cell = name, gold = design$m, method = c("corrected", "raw"),
      rows, row.names = NULL)
  }))
}

report_differences <- function(table) {
  print(table[c("cell", "gold", "method", "cover", "cover_se", "width")], digits = 3)
  coverage <- table$cover[table$method == "corrected"]
  cat(sprintf("Cover between .90 and .98 in all designs: %s\n",
    all(coverage >= 0.9 & coverage <= 0.98)))
}

gates <- function(panels, n = 1000) {
  cells <- expand.grid(
    theta = c(0.7, 0.8, 0.9, 0.95), judge = c(1, 3, 5, 6, 7, 8), gold = c(20, 50, 100, 200)
  )
  do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
    cell <- cells[i, ]
    estimates <- intervals(draw_panels(cell$theta, judges[cell$judge, ], cell$gold, n, panels))
    passed <- vapply(estimates, function(one_estimate) mean(one_estimate$conf.low >= cell$theta), 0)
    data.frame(
      task = "gate", cell = sprintf("threshold %s, judge %s", cell$theta,
        toString(judges[cell$judge, ])), gold = cell$gold, method = names(estimates),
      cover = passed, cover_se = share_se(passed, panels), width = NA, least_width = NA, rmse = NA,
      rmse_se = NA, outside = NA, panels = panels, row.names = NULL
    )
  }))
}

report_gates <- function(table) {
  for (group in split(table, list(table$method, table$gold))) {
    cat(sprintf("%-10s m = %3d: false pass %.3f (worst %.3f, se %.3f)\n", group$method[[1]],
      group$gold[[1]], mean(group$cover), max(group$cover), group$cover_se[which.max(group$cover)]))
  }
  rates <- table$cover[table$method == "corrected"]
  cat(sprintf("False pass at most .11 in every cell: %s; .055 in the mean: %s\n",
    all(rates <= 0.11), mean(rates) <= 0.055))
}

# Number of gold cases in all that plan_gold() asks for, given `x`, a result of measure() for one
# panel. It is the number at hand if no number reaches the half-width.
plan_labels <- function(x, half_width, conf_level = 0.9) {
  numbers <- x$gold:x$cases
  size <- internal$effective_gold_size(replace(x, "gold", list(numbers)), "population", conf_level)
  half_widths <- internal$wilson_half_width(
    min(max(x$estimate, 0), 1), size, qnorm((1 + conf_level) / 2)
  )
  c(numbers[half_widths <= half_width], x$cases)[[1]]
}

# Labels random cases until plan_gold() asks for no more.
label_until_planned <- function(theta, judge, half_width, pilot, n) {
  y <- cbind(as.double(runif(n) < theta))
  q <- cbind(as.double(runif(n) < ifelse(y == 1, judge[[1]], 1 - judge[[2]])))
  rounds <- 0
  m <- pilot
  repeat {
    labelled <- seq_len(m)
    panel <- list(y = y[labelled, , drop = FALSE], q = q[labelled, , drop = FALSE],
      mean = mean(q), n = n)
    needed <- plan_labels(measure(panel), half_width)
    if (needed <= m) break
    m <- needed
    rounds <- rounds + 1
  }
  c(unlist(intervals(panel)$corrected), gold = m, rounds = rounds)
}

plans <- function(panels, n = 1000, pilot = 30) {
  cells <- expand.grid(theta = c(0.7, 0.8, 0.9), judge = c(3, 5, 6), half_width = c(0.04, 0.06))
  do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
    cell <- cells[i, ]
    judge <- judges[cell$judge, ]
    runs <- t(replicate(panels, label_until_planned(cell$theta, judge, cell$half_width, pilot, n)))
    data.frame(
      task = "plan", cell = sprintf("theta %s, judge %s, half-width %s, %.1f rounds", cell$theta,
        toString(judge), cell$half_width, mean(runs[, "rounds"])), gold = mean(runs[, "gold"]),
      method = "corrected", summarise(as.data.frame(runs), cell$theta), row.names = NULL
    )
  }))
}

report_plans <- function(table) {
  print(table[c("cell", "gold", "cover", "cover_se", "width")], digits = 3)
  cat(sprintf("Cover after planning at least .88 in every cell: %s\n", all(table$cover >= 0.88)))
}

calibration <- function(panels, n = 500, conf_level = 0.9) {
  cells <- expand.grid(theta = thetas[-1], judge = 2:6, gold = c(25, 50, 100))
  do.call(rbind, lapply(seq_len(nrow(cells)), function(i) {
    cell <- cells[i, ]
    judge <- judges[cell$judge, ]
    n_gold <- c(cell$gold, cell$gold)
    runs <- replicate(panels, {
      right <- rbinom(2, n_gold, judge)
      passes <- rbinom(1, n, cell$theta * judge[[1]] + (1 - cell$theta) * (1 - judge[[2]]))
      if (sum(right / n_gold) <= 1) return(rep(NA_real_, 5)) # no better than chance: no estimate
      counts <- rbind(c(right[[2]], n_gold[[2]] - right[[2]]),
        c(n_gold[[1]] - right[[1]], right[[1]]))
      sample <- list(counts = counts, verdicts = c(n - passes, passes))
      by_judgy <- judgy(right, n_gold, passes / n, conf_level)
      c(by_judgy[[1]], internal$calibrated_interval(sample, conf_level)[2, ], by_judgy[2:3])
    })
    runs <- runs[, !is.na(runs[1, ]), drop = FALSE]
    interval_rows <- function(k) {
      list(estimate = runs[1, ], conf.low = runs[k, ], conf.high = runs[k + 1, ])
    }
    rows <- rbind(summarise(interval_rows(2), cell$theta), summarise(interval_rows(4), cell$theta))
    data.frame(task = "calibration", cell = sprintf("theta %s, judge %s", cell$theta,
      toString(judge)), gold = cell$gold, method = c("known_raters", "judgy"), rows,
      row.names = NULL)
  }))
}

report_calibration <- function(table) {
  for (group in split(table, list(table$method, table$gold))) {
    cat(sprintf("%-12s %3d a class: cover %.3f (worst %.3f, se %.3f), width %.3f, rmse %.4f\n",
      group$method[[1]], group$gold[[1]], mean(group$cover), min(group$cover),
      group$cover_se[which.min(group$cover)],
      mean(group$width), mean(group$rmse)))
  }
  coverage <- table$cover[table$method == "known_raters"]
  least_width <- min(table$least_width[table$method == "known_raters"])
  cat(sprintf("Cover of known_raters at least .88 in every cell: %s; least width %.4f\n",
    all(coverage >= 0.88), least_width))
}

tasks <- list(
  grid = list(grid, report_grid), differences = list(differences, report_differences),
  gate = list(gates, report_gates), plan = list(plans, report_plans),
  calibration = list(calibration, report_calibration)
)
arguments <- commandArgs(TRUE)
if (arguments[[1]] != "all") tasks <- tasks[arguments[[1]]]
set.seed(1)
check_kernel(c(0.9, 0.8))
check_kernel(c(0.3, 0.4))
tables <- lapply(tasks, function(task) {
  table <- task[[1]](as.integer(arguments[[2]]))
  task[[2]](table)
  table
})
write.csv(do.call(rbind, tables), arguments[[3]], row.names = FALSE)

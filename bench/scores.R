# Metrics of scores on simulated panels: bias and coverage if the model holds, that is, if scores
# and ratings are independent given the truth.
#
#   Rscript bench/scores.R [runs] [file]

library(fallible)

args <- commandArgs(TRUE)
runs <- if (length(args) > 0L) as.integer(args[[1L]]) else 200L
file <- if (length(args) > 1L) args[[2L]] else "scores.csv"

# Scores: softmax of `sharp` times the log-likelihood ratios of normal signals; 1 is calibrated.
settings <- list(
  two = list(raters = c(.8, .75, .7, .8, .65), base = c(.6, .4), shift = 1.2, sharp = 1, n = 500),
  two_sharp = list(raters = c(.85, .8, .75), base = c(.7, .3), shift = 1.2, sharp = 2, n = 1000),
  three = list(raters = c(.7, .75, .8, .7), base = c(.5, .3, .2), shift = 1.5, sharp = 1.7, n = 600)
)
metrics <- c("roc_auc", "pr_auc", "brier_class", "mn_log_loss", "ece", "ece_plugin")

draw_scores <- function(truth, design) {
  k <- length(design$base)
  signal <- matrix(stats::rnorm(length(truth) * k), ncol = k)
  at <- cbind(seq_along(truth), truth)
  signal[at] <- signal[at] + design$shift
  odds <- exp(design$sharp * (design$shift * signal + rep(log(design$base), each = length(truth))))
  odds / rowSums(odds)
}

# With scores of several systems that are drawn in the same way.
draw_panel <- function(of, n, systems = c("s", "t", "u")) {
  design <- rater_design(
    of$raters, c(s = 0.7), categories = length(of$base), base_rates = of$base, n = n
  )
  x <- simulate_ratings(design)
  true <- as.integer(truth(x)$category)
  drawn <- lapply(stats::setNames(nm = systems), function(system) {
    scores <- draw_scores(true, of)
    list(
      long = data.frame(
        case = rep(x$cases, ncol(scores)), system = system,
        category = rep(x$categories, each = n), score = as.vector(scores)
      ),
      said = data.frame(
        case = x$cases, system = system, prediction = x$categories[max.col(scores, "first")]
      )
    )
  })
  scored <- ratings(
    as.data.frame(x), case = case, rater = rater, rating = rating,
    systems = do.call(rbind, lapply(drawn, `[[`, "said")), categories = x$categories,
    scores = do.call(rbind, lapply(drawn, `[[`, "long"))
  )
  list(x = scored, truth = truth(x))
}

chosen <- function(estimates) {
  table <- tidy(estimates)
  table[table$system == "s" & (is.na(table$category) | table$metric == "pr_auc"), ]
}

estimate_drawn <- function(drawn, ...) {
  suppressWarnings(
    chosen(estimate_metrics(drawn$x, metrics, method = "joint", model = dawid_skene(), ...))
  )
}

# What the metrics are in the population, from many cases with known truths.
population <- function(design) {
  drawn <- draw_panel(design, 1e5, "s")
  estimate_drawn(drawn, interval = "none", known_truth = drawn$truth,
    gold_sample = "given")$estimate
}

# Of the system s: by raters ("corrected"), and by raters and all scores ("fit").
one_run <- function(design) {
  drawn <- draw_panel(design, design$n)
  corrected <- suppressWarnings(estimate_metrics(
    drawn$x, metrics, method = "joint", model = dawid_skene(), interval = "bootstrap",
    resampling = list(replicates = 100)
  ))
  fit <- suppressWarnings(estimate_metrics(
    fit_scores(drawn$x), metrics, interval = "bootstrap", resampling = list(replicates = 100)
  ))
  shared <- suppressWarnings(estimate_metrics(
    drawn$x, metrics, method = "shared", model = dawid_skene(), interval = "none"
  ))
  estimates <- rbind(
    cbind(how = "corrected", chosen(corrected)), cbind(how = "fit", chosen(fit))
  )
  estimates$plugin <- chosen(shared)$estimate
  estimates
}

out <- lapply(names(settings), function(name) {
  design <- settings[[name]]
  set.seed(1)
  true <- population(design)
  runs_found <- lapply(seq_len(runs), function(run) {
    set.seed(1000 + run)
    one_run(design)
  })
  matrix_of <- function(column) vapply(runs_found, `[[`, runs_found[[1L]][[column]], column)
  estimate <- matrix_of("estimate")
  covered <- matrix_of("conf.low") <= true & true <= matrix_of("conf.high")
  table <- data.frame(
    setting = name, runs_found[[1L]][c("how", "metric", "average", "category")], true = true,
    bias = rowMeans(estimate - true), bias_se = apply(estimate, 1L, stats::sd) / sqrt(runs),
    sd = apply(estimate, 1L, stats::sd), told = rowMeans(matrix_of("std.error")),
    coverage = rowMeans(covered), coverage_se = sqrt(.9 * .1 / runs),
    plugin_bias = rowMeans(matrix_of("plugin") - true), runs = runs
  )
  print(table, digits = 3)
  table
})
utils::write.csv(do.call(rbind, out), file, row.names = FALSE)

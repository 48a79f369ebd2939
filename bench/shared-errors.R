# Estimates of shared errors in simulations: bias of correlations, coverage of their intervals, and
# how often the range without known truth contains the true correlation.
#
#   Rscript bench/shared-errors.R [output.csv] [panels]
#
# Three raters; the second repeats the first's answer with a probability, which is the correlation
# of their errors. Pair "mean" is the mean over all pairs of raters, of which the effective number
# is a function. The ranges are those with no accuracy below chance, and with limits .6 and .9.

library(fallible)

seed <- 20150503L
ranges <- 25L # panels

main <- function(output = NULL, panels = "200") {
  todo <- expand.grid(n = c(100L, 200L, 500L), categories = c(2L, 4L), copying = c(0, 0.4, 0.7))
  rows <- Map(study_setting, todo$n, todo$categories, todo$copying, as.integer(panels))
  table <- do.call(rbind, rows)
  print(table, digits = 2, row.names = FALSE)
  if (!is.null(output)) write_table(table, output)
}

study_setting <- function(n, categories, copying, panels) {
  design <- rater_design(
    c(0.7, 0.7, 0.8), 0.8, categories, n,
    base_rates = rep(1 / categories, categories),
    copying = data.frame(from = 1, to = 2, probability = copying)
  )
  results <- do.call(rbind, lapply(seq_len(panels), function(run) {
    set.seed(seed + run)
    study_panel(simulate_ratings(design), copying, run <= ranges)
  }))
  parts <- split(results, results$pair)
  do.call(rbind, lapply(parts, function(part) {
    cbind(
      data.frame(n, categories, copying, pair = part$pair[[1L]], panels = nrow(part)),
      bias = mean(part$error, na.rm = TRUE),
      bias_se = stats::sd(part$error, na.rm = TRUE) / sqrt(sum(!is.na(part$error))),
      as.data.frame(t(colMeans(part[c("covered", "inside", "inside_limits")], na.rm = TRUE))),
      width = mean(part$width, na.rm = TRUE)
    )
  }))
}

study_panel <- function(x, copying, with_range) {
  errors <- shared_errors(x)
  pairs <- tidy(errors)
  planted <- ifelse(pairs$rater1 == "rater1" & pairs$rater2 == "rater2", copying, 0)
  inside <- function(...) {
    if (!with_range) {
      return(rep(NA, length(planted)))
    }
    range <- tidy(shared_errors(x, known_truth = FALSE, ...))
    range$lowest <= planted & range$highest >= planted
  }
  pair_rows <- data.frame(
    pair = "independent", error = pairs$estimate - planted,
    covered = pairs$conf.low <= planted & pairs$conf.high >= planted, inside = inside(),
    inside_limits = inside(accuracy = c(0.6, 0.9)), width = pairs$conf.high - pairs$conf.low
  )
  copied <- pairs$rater1 == "rater1" & pairs$rater2 == "rater2"
  third <- pairs$rater1 == "rater1" & pairs$rater2 == "rater3"
  pair_rows$pair[copied] <- "copied"
  overall <- glance(errors)
  # Covariances by products of standard deviations, at accuracies .7, .7 and .8.
  target <- copying * 0.21 / (0.21 + 2 * sqrt(0.21 * 0.16))
  rbind(pair_rows[copied | third, ], data.frame(
    pair = "mean", error = overall$correlation - target,
    covered = overall$conf.low <= target & overall$conf.high >= target, inside = NA,
    inside_limits = NA, width = overall$conf.high - overall$conf.low
  ))
}

write_table <- function(table, file) {
  table[] <- lapply(table, function(x) if (is.double(x)) signif(x, 4L) else x)
  provenance <- data.frame(
    seed = seed, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
  utils::write.csv(cbind(table, provenance), file, row.names = FALSE)
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))

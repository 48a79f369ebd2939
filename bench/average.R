# How good is the average of models where truth is known: in the settings of the paper's figures.
#
#   Rscript bench/average.R [output.csv] [share]
#
# Each panel of Figures 1-14 has five systems, right with probability .1, .3, .5, .7 and .9, and is
# given to methods "average" (with its robust interval) and "binned". A last design has raters who
# copy from each other, against which no method helps. Errors are from the expected accuracy. `rmse`
# and `bias` (the mean over systems of the absolute bias) are over the panels on which both methods
# give an estimate; `missing` is the share of others. `target` is the RMSE that an earlier
# implementation reached on all panels, `floor` that of an estimator that knows raters and base
# rates.
#
# `share` is that of the full number of panels (500, 100 for 5000 cases). Results are printed, and
# written if there is a file, after each fifth.

library(fallible)

seed <- 20150501L
panels <- 500L
panels_large <- 100L # of 5000 cases
waves <- 5L

target <- c(
  0.0076, 0.0660, 0.0381, 0.0314, 0.1453, 0.0729, 0.0585, 0.0125, 0.0957, 0.0495, 0.0348, 0.1633,
  0.0897, 0.0666, 0.040
)
floor <- c(
  0.0074, 0.0570, 0.0371, 0.0316, 0.1124, 0.0744, 0.0593, 0.0109, 0.0545, 0.0388, 0.0335, 0.1052,
  0.0767, 0.0637, NA
)

main <- function(output = NULL, share = "1") {
  options(cli.progress_show_after = 3600, width = 150L)
  designs <- lapply(1:14, lehner_design)
  names(designs) <- paste("Figure", 1:14)
  designs[["dependent"]] <- rater_design(
    rep(0.6, 3), c(0.1, 0.3, 0.5, 0.7, 0.9),
    n = 1000,
    copying = data.frame(from = "rater1", to = "rater2", probability = 0.2)
  )
  large <- vapply(designs, function(design) design$n > 1000, NA)
  runs <- ceiling(as.numeric(share) * ifelse(large, panels_large, panels) / waves)
  studies <- vector("list", length(designs))
  for (wave in seq_len(waves)) {
    for (i in seq_along(designs)) studies[[i]] <- add_runs(studies[[i]], designs[i], runs[[i]], i)
    results <- do.call(rbind, Map(summarise_design, studies, names(designs), target, floor))
    cat("Wave", wave, "of", waves, "\n")
    print_results(results)
    if (!is.null(output)) write_results(results, output)
  }
}

add_runs <- function(study, design, runs, i) {
  if (!is.null(study)) {
    return(update(study, runs = study$runs + runs))
  }
  set.seed(seed + i)
  simulation_study(
    design, list(average = function(x) estimate_accuracy(x), binned = "binned"),
    runs = runs, panels = "same"
  )
}

# A row per method.
summarise_design <- function(study, design, target, floor) {
  pooled <- expected(summary(study, by = "estimator", common = TRUE))
  by_system <- expected(summary(study, by = c("estimator", "system"), common = TRUE))
  all <- expected(summary(study, by = "estimator"))
  at <- match(pooled$estimator, all$estimator)
  bias <- vapply(split(abs(by_system$bias), by_system$estimator), mean, 0)
  data.frame(
    design = design, n = study$designs[[1L]]$n, estimator = pooled$estimator,
    panels = study$runs, missing = all$missing[at],
    bias = bias[pooled$estimator], rmse = pooled$rmse, rmse_mcse = pooled$rmse_mcse,
    target = target, floor = floor, coverage = pooled$coverage,
    coverage_mcse = pooled$coverage_mcse, width = pooled$width, row.names = NULL
  )
}

expected <- function(summary) summary[summary$target == "expected", ]

print_results <- function(results) {
  average <- results[results$estimator == "average", ]
  binned <- results[results$estimator == "binned", ]
  show <- function(x, digits = 4L) sub("^(-?)0\\.", "\\1.", sprintf(paste0("%.", digits, "f"), x))
  print(data.frame(
    design = average$design, n = average$n, panels = average$panels,
    missing = show(average$missing, 3L), bias = show(average$bias),
    rmse = show(average$rmse), mcse = show(average$rmse_mcse), target = show(average$target),
    ratio = show(average$rmse / average$target, 2L), floor = show(average$floor),
    binned_bias = show(binned$bias), binned_rmse = show(binned$rmse),
    coverage = show(average$coverage, 3L), coverage_mcse = show(average$coverage_mcse, 3L),
    width = show(average$width, 3L), check.names = FALSE
  ), row.names = FALSE)
}

# With how it came about, in every row.
write_results <- function(results, output) {
  results[] <- lapply(results, function(x) if (is.double(x)) signif(x, 4L) else x)
  made <- data.frame(
    seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
    r = format(getRversion())
  )
  utils::write.csv(cbind(results, made), output, row.names = FALSE)
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))

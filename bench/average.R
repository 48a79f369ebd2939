# Errors of the average of models in simulations with the settings of the paper's figures.
#
#   Rscript bench/average.R [output.csv] [share]
#
# Each panel of Figures 1-14 has five systems with accuracies .1, .3, .5, .7 and .9. The estimators
# are the average with its robust interval, once with the default allowance for shared errors ("the
# rule") and once without ("none"), and "binned". In a last design raters copy from each other; no
# method corrects that. Errors are differences from the expected accuracy. `rmse` and `bias` (the
# mean over systems of the absolute bias) are over the panels in which all estimators have an
# estimate; `missing` is the share of other panels. `target` is the RMSE of another implementation,
# in 60 panels (20 of 5000 cases), so its error is about 5%. Its weight of dependence was computed
# from raters and systems; ours is computed from the raters only. Therefore Figure 1 is worse (.024,
# not .011), Figures 9 and 10 are better, and the mean of all figures is the same (.073).
# `reached`: within two Monte Carlo errors, or .003. `floor` is the RMSE of an estimator with known
# rater accuracies and base rates.
#
# `share` is the share of the full number of panels (200, or 100 for 5000 cases). Results are
# printed, and written if there is a file, after each fifth.

library(fallible)

seed <- 20150501L
panels <- 200L
panels_large <- 100L # of 5000 cases
waves <- 5L

target <- c(
  0.011, 0.072, 0.046, 0.031, 0.127, 0.080, 0.059, 0.069, 0.114, 0.072, 0.040, 0.152, 0.090, 0.064,
  NA
)
floor <- c(
  0.0074, 0.0570, 0.0371, 0.0316, 0.1124, 0.0744, 0.0593, 0.0109, 0.0545, 0.0388, 0.0335, 0.1052,
  0.0767, 0.0637, NA
)

# Seeds of panels do not depend on estimators, so that other estimators can use the same panels.
estimators <- list(
  average = accuracy_estimator("average", interval = "robust"),
  none = accuracy_estimator("average", interval = "robust", common = "none"),
  binned = accuracy_estimator("binned")
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
  simulation_study(design, estimators, runs = runs, panels = "same")
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
  rows_of <- function(estimator) results[results$estimator == estimator, ]
  average <- rows_of("average")
  show <- function(x, digits = 4L) sub("^(-?)0\\.", "\\1.", sprintf(paste0("%.", digits, "f"), x))
  print(data.frame(
    design = average$design, n = average$n, panels = average$panels,
    missing = show(average$missing, 3L), bias = show(average$bias), rmse = show(average$rmse),
    mcse = show(average$rmse_mcse), target = show(average$target, 3L),
    reached = abs(average$rmse - average$target) <= pmax(2 * average$rmse_mcse, 0.003),
    coverage = show(average$coverage, 3L), coverage_mcse = show(average$coverage_mcse, 3L),
    width = show(average$width, 3L), none = show(rows_of("none")$rmse),
    none_coverage = show(rows_of("none")$coverage, 3L),
    none_width = show(rows_of("none")$width, 3L),
    binned = show(rows_of("binned")$rmse), floor = show(average$floor)
  ), row.names = FALSE)
}

# Adds columns that describe how the results were computed to every row.
write_results <- function(results, output) {
  results[] <- lapply(results, function(x) if (is.double(x)) signif(x, 4L) else x)
  provenance <- data.frame(
    seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible")),
    r = format(getRversion())
  )
  utils::write.csv(cbind(results, provenance), output, row.names = FALSE)
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))

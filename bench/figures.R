# Errors of the published method in the settings of the paper's fourteen figures. The article
# simulation-figures compares its smaller number of panels with them:
#
#   Rscript bench/figures.R inst/extdata/results/paper-figures.csv
#
# A row per figure and system: bias and root mean squared error about the expected accuracy, with
# their Monte Carlo standard errors, and the number of panels.

library(fallible)

seed <- 20150502L
runs <- 2000L
large <- c(1, 8) # 5000 cases

main <- function(output) {
  set.seed(seed)
  figures <- lapply(1:14, lehner_design)
  names(figures) <- 1:14
  parts <- list(
    simulation_study(figures[large], "binned", runs = runs / 4L),
    simulation_study(figures[-large], "binned", runs = runs)
  )
  table <- do.call(rbind, lapply(parts, function(study) as.data.frame(summary(study))))
  table <- table[table$target == "expected", ]
  table <- table[order(as.integer(table$design), table$system), ]
  kept <- data.frame(
    figure = as.integer(table$design), system = table$system, n = table$n,
    table[c("bias", "bias_mcse", "rmse", "rmse_mcse")], panels = table$estimates, seed = seed,
    date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible"))
  )
  numbers <- c("bias", "bias_mcse", "rmse", "rmse_mcse")
  kept[numbers] <- lapply(kept[numbers], signif, 6)
  utils::write.csv(kept, output, row.names = FALSE)
}

main(commandArgs(TRUE)[[1L]])

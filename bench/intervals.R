# Intervals of joint estimates: how often a nominal 90% interval covers the expected accuracy of a
# system in the settings of the paper's figures, and how wide it is, by bootstrap and by profile.
#
#   Rscript bench/intervals.R [runs] [output.csv] [first run]
#
# A run is one panel of a figure with its five systems, all judged by the model that made the panel:
# the K-model in Figures 1-7, accuracies by rater, errors by distance and strata of difficulty in
# Figures 8-14 (which make errors unequal in ways that no member of the family follows, too). Figures
# with 5000 cases have a fifth of the runs and half the replicates. Monte Carlo errors take a panel for
# a unit, since its systems share their raters.

library(fallible)

seed <- 20150502L
replicates <- 200L
options(cli.progress_show_after = 3600)

main <- function(runs = 300L, output = NULL, first = 1L) {
  started <- Sys.time()
  rows <- list()
  todo <- expand.grid(figure = 1:14, run = seq_len(runs) + first - 1L)
  todo <- todo[!todo$figure %in% c(1, 8) | todo$run < first + runs / 5, ]
  for (i in seq_len(nrow(todo))) {
    rows[[i]] <- one_run(todo$figure[[i]], todo$run[[i]])
    if (!is.null(output) && (i %% 60 == 0 || i == nrow(todo))) {
      saveRDS(do.call(rbind, rows), paste0(output, ".rds")) # to go on from, or to join with others
      table <- summarise(do.call(rbind, rows))
      table <- cbind(table, seed = seed, replicates = replicates, date = format(Sys.Date()),
        fallible = format(utils::packageVersion("fallible")), r = format(getRversion()))
      utils::write.csv(table, output, row.names = FALSE)
    }
  }
  print(summarise(do.call(rbind, rows)), digits = 3, row.names = FALSE)
  cat("\n", format(round(difftime(Sys.time(), started, units = "mins"), 1)), "\n", sep = "")
}

one_run <- function(figure, run) {
  set.seed(seed + 1000L * run + figure)
  x <- simulate_ratings(lehner_design(figure))
  truth <- true_accuracy(x)
  model <- if (figure <= 7) k_model() else rater_model("rater", "distance", "strata")
  do.call(rbind, lapply(c("bootstrap", "profile"), function(interval) {
    found <- tidy(suppressWarnings(estimate_accuracy(
      x, "joint", model, interval = interval,
      replicates = if (figure %in% c(1, 8)) replicates / 2 else replicates
    )))
    data.frame(
      figure = figure, run = run, interval = interval, error = found$estimate - truth$expected,
      covered = found$conf.low <= truth$expected & truth$expected <= found$conf.high,
      width = found$conf.high - found$conf.low
    )
  }))
}

# Coverage is that of the intervals there are; the share of missing ones is told.
summarise <- function(rows) {
  out <- lapply(split(rows, list(rows$figure, rows$interval), drop = TRUE), function(of) {
    covered <- tapply(of$covered, of$run, mean, na.rm = TRUE)
    covered <- covered[!is.nan(covered)]
    data.frame(
      figure = of$figure[[1L]], interval = of$interval[[1L]], runs = length(unique(of$run)),
      coverage = mean(covered), coverage_mcse = stats::sd(covered) / sqrt(length(covered)),
      width = mean(of$width, na.rm = TRUE), rmse = sqrt(mean(of$error^2, na.rm = TRUE)),
      missing = mean(is.na(of$width))
    )
  })
  out <- do.call(rbind, unname(out))
  out[order(out$figure, out$interval), ]
}

arguments <- commandArgs(trailingOnly = TRUE)
if (sys.nframe() == 0L) {
  do.call(main, c(
    if (length(arguments) > 0L) list(as.integer(arguments[[1L]])),
    if (length(arguments) > 1L) list(output = arguments[[2L]]),
    if (length(arguments) > 2L) list(first = as.integer(arguments[[3L]]))
  ))
}

# Coverage and width of nominal 90% intervals of joint estimates, by bootstrap and by profile, for
# the expected accuracy of a system. Panels have the settings of the paper's figures.
#
#   Rscript bench/intervals.R [output.csv] [runs of profiles] [runs of bootstraps] [first run]
#
# A run is one panel of a figure with its five systems, all judged by the model that made the panel:
# the K-model in Figures 1-7, accuracies by rater, errors by distance and strata of difficulty in
# Figures 8-14 (which make errors unequal in ways that no member of the family follows, too).
# Figures with 5000 cases have a fifth of the runs, and half the replicates. The unit of Monte Carlo
# errors is a panel, because systems of a panel share its raters. Rows of all runs are kept next to
# the output, so that runs of several processes can be joined: summarise(rbind(...)).

library(fallible)

seed <- 20150502L
replicates <- 200L
options(cli.progress_show_after = 3600)

main <- function(output = NULL, profiles = 300L, bootstraps = 300L, first = 1L) {
  started <- Sys.time()
  todo <- expand.grid(figure = 1:14, interval = c("profile", "bootstrap"),
    run = seq_len(max(profiles, bootstraps)) - 1L, stringsAsFactors = FALSE)
  runs <- ifelse(todo$interval == "profile", profiles, bootstraps)
  todo <- todo[todo$run < ifelse(todo$figure %in% c(1, 8), runs / 5, runs), ]
  rows <- list()
  for (i in seq_len(nrow(todo))) {
    rows[[i]] <- one_run(todo$figure[[i]], todo$interval[[i]], first + todo$run[[i]])
    if (!is.null(output) && (i %% 60 == 0 || i == nrow(todo))) {
      saveRDS(do.call(rbind, rows), paste0(output, ".rds"))
    }
  }
  table <- summarise(do.call(rbind, rows))
  print(table, digits = 3, row.names = FALSE)
  cat("\n", format(round(difftime(Sys.time(), started, units = "mins"), 1)), "\n", sep = "")
  if (!is.null(output)) write_table(table, output)
}

write_table <- function(table, output) {
  provenance <- list(
    seed = seed, replicates = replicates, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
  utils::write.csv(cbind(table, provenance), output, row.names = FALSE)
}

one_run <- function(figure, interval, run) {
  set.seed(seed + 1000L * run + figure)
  x <- simulate_ratings(lehner_design(figure))
  truth <- true_accuracy(x)
  model <- if (figure <= 7) k_model() else rater_model("rater", "distance", "strata")
  estimate <- tidy(suppressWarnings(estimate_accuracy(
    x, "joint", model, interval = interval,
    resampling = list(replicates = if (figure %in% c(1, 8)) replicates / 2 else replicates)
  )))
  data.frame(
    figure = figure, run = run, interval = interval, error = estimate$estimate - truth$expected,
    covered = estimate$conf.low <= truth$expected & truth$expected <= estimate$conf.high,
    width = estimate$conf.high - estimate$conf.low
  )
}

# Coverage is over existing intervals; the share of missing intervals is a column.
summarise <- function(rows) {
  out <- lapply(split(rows, list(rows$figure, rows$interval), drop = TRUE), function(cell) {
    covered <- tapply(cell$covered, cell$run, mean, na.rm = TRUE)
    covered <- covered[!is.nan(covered)]
    data.frame(
      figure = cell$figure[[1L]], interval = cell$interval[[1L]], runs = length(unique(cell$run)),
      coverage = mean(covered), coverage_mcse = stats::sd(covered) / sqrt(length(covered)),
      width = mean(cell$width, na.rm = TRUE), rmse = sqrt(mean(cell$error^2, na.rm = TRUE)),
      missing = mean(is.na(cell$width))
    )
  })
  out <- do.call(rbind, unname(out))
  out[order(out$figure, out$interval), ]
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  do.call(main, c(as.list(utils::head(arguments, 1L)), as.list(as.integer(arguments[-1L]))))
}

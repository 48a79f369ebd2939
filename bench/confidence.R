# Gain in precision from raters' confidence, and errors of the estimated shares of confidence
# levels.
#
#   Rscript bench/confidence.R [output.csv] [panels]
#
# Panels of 500 cases, three categories, and a system with accuracy .8. Four raters of accuracy .55
# to .75 state their confidence in three levels. The system is evaluated with and without confidence
# in the model. In `bluff` the first rater always states the highest level, which the model does not
# include. `bias` in Monte Carlo standard errors (z) should be within 2 if the model holds, and
# `coverage` of the 90% intervals between .86 and .94. `right` is the share of cases whose most
# probable category is true, `brier` the mean squared distance of posterior and truth.

library(fallible)

seed <- 20150516L
options(fallible.quiet = TRUE)
folder <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]]))
source(file.path(folder, "worlds.R"))

models <- list(
  with = rater_model("rater", confidence = TRUE), without = rater_model("rater", prior = "none")
)
true <- c(
  s = 0.8, "rater_accuracy[r1]" = 0.55, "rater_accuracy[r4]" = 0.75,
  stats::setNames(sure_shares$right, paste0("confidence_right[", sure_levels, "]")),
  stats::setNames(sure_shares$wrong, paste0("confidence_wrong[", sure_levels, "]"))
)

main <- function(output = NULL, panels = 60L) {
  table <- rbind(study(FALSE, as.integer(panels)), study(TRUE, as.integer(panels)))
  row.names(table) <- NULL
  print(table, digits = 3L, row.names = FALSE)
  if (!is.null(output)) utils::write.csv(table, output, row.names = FALSE)
  invisible(table)
}

study <- function(bluff, panels) {
  set.seed(seed)
  runs <- do.call(rbind, lapply(seq_len(panels), function(i) {
    x <- sure_world(500L, bluff)
    rows <- lapply(names(models), function(name) data.frame(model = name, judged(x, name)))
    do.call(rbind, rows)
  }))
  rows <- lapply(split(runs, ~ model + term, drop = TRUE), recovery)
  data.frame(bluff = bluff, do.call(rbind, rows))
}

# A row per number: of the system, of parameters, and how well cases are known.
judged <- function(x, name) {
  estimate <- suppressWarnings(estimate_accuracy(
    x, "joint", models[[name]], interval = "bootstrap", resampling = list(replicates = 200L)
  ))
  system <- tidy(estimate)
  fit <- fit_raters(x, models[[name]], "likelihood")
  terms <- tidy(fit)
  terms <- terms[terms$term %in% names(true), ]
  half_width <- stats::qnorm(0.95) * terms$std.error
  posterior <- as.matrix(ground_truth(fit)[-1L])
  category <- as.integer(truth(x)$category)
  true_cells <- cbind(seq_along(category), category)
  quality <- c(
    right = mean(max.col(posterior, "first") == category),
    brier = mean(rowSums(posterior^2) - 2 * posterior[true_cells] + 1)
  )
  data.frame(
    term = c("s", terms$term, names(quality)),
    estimate = c(system$estimate, terms$estimate, quality),
    low = c(system$conf.low, terms$estimate - half_width, NA, NA),
    high = c(system$conf.high, terms$estimate + half_width, NA, NA)
  )
}

recovery <- function(rows) {
  value <- true[rows$term[[1L]]]
  error <- rows$estimate - value
  mcse <- stats::sd(rows$estimate) / sqrt(nrow(rows))
  data.frame(
    rows[1L, c("model", "term")], panels = nrow(rows), mean = mean(rows$estimate), truth = value,
    mcse = mcse, z = mean(error) / mcse, rmse = sqrt(mean(error^2)),
    coverage = mean(rows$low <= value & value <= rows$high),
    width = mean(rows$high - rows$low)
  )
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))

# Differences between systems: how often a nominal 90% interval of compare_systems() covers, and how
# wide it is, in simulation and on real data.
#
#   Rscript bench/compare.R [output.csv] [runs]
#
# Simulation: panels of Figures 3, 6, 10 and 13 with five systems, ten differences each, against
# differences of expected accuracy. Real data: the sets of the folder FALLIBLE_DATA with truth and
# two or more systems, against differences of the share of right answers on the cases that both
# answered and whose truth is known; every set counts once. "as if independent" has the same robust
# errors, not paired.

library(fallible)

seed <- 20150503L
options(cli.progress_show_after = 3600)

main <- function(output = NULL, runs = 100L) {
  table <- rbind(simulated(runs), real(Sys.getenv("FALLIBLE_DATA")))
  print(table, digits = 3, row.names = FALSE)
  if (!is.null(output)) {
    made <- list(
      seed = seed, date = format(Sys.Date()),
      fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
    )
    utils::write.csv(cbind(table, made), output, row.names = FALSE)
  }
}

simulated <- function(runs) {
  todo <- expand.grid(figure = c(3, 6, 10, 13), run = seq_len(runs))
  rows <- Map(function(figure, run) {
    set.seed(seed + 1000L * run + figure)
    x <- simulate_ratings(lehner_design(figure))
    truth <- stats::setNames(true_accuracy(x)$expected, x$systems)
    judge(x, function(first, second) truth[first] - truth[second], paste("Figure", figure), run)
  }, todo$figure, todo$run)
  summarise(do.call(rbind, rows))
}

real <- function(root) {
  sets <- if (nzchar(root)) list.dirs(file.path(root, "real"), recursive = FALSE)
  rows <- lapply(sets, function(path) {
    read <- function(name) {
      found <- Sys.glob(paste0(file.path(path, name), "*"))
      if (length(found) > 0L) utils::read.csv(found[[1L]], colClasses = "character")
    }
    truth <- read("truth.csv")
    systems <- read("systems.csv")
    if (is.null(truth) || length(unique(systems$system)) < 2L) {
      return(NULL)
    }
    x <- suppressWarnings(ratings(
      read("ratings.csv"), case = case, rater = rater, rating = rating, systems = systems,
      repeats = "ratings"
    ))
    right <- systems$prediction == truth$truth[match(systems$case, truth$case)]
    right <- tapply(right, list(systems$case, systems$system), `[`, 1L)
    difference <- function(first, second) {
      vapply(seq_along(first), function(i) {
        mean(right[, first[[i]]] - right[, second[[i]]], na.rm = TRUE)
      }, 0)
    }
    judge(x, difference, "real sets", basename(path))
  })
  if (length(rows) > 0L) summarise(do.call(rbind, rows))
}

judge <- function(x, truth, where, run) {
  judge_one <- function(name, ...) {
    estimate <- suppressWarnings(estimate_accuracy(x, ...))
    table <- tidy(compare_systems(estimate))
    off <- table$estimate - truth(table$system1, table$system2)
    error <- stats::setNames(tidy(estimate)$std.error, x$systems)
    half <- stats::qnorm(0.95) * sqrt(error[table$system1]^2 + error[table$system2]^2)
    rows <- data.frame(
      where = where, run = run, intervals = name, off = off,
      covered = table$conf.low <= table$estimate - off & table$estimate - off <= table$conf.high,
      width = table$conf.high - table$conf.low
    )
    alone <- data.frame(
      where = where, run = run, intervals = paste0(name, ", as if independent"), off = off,
      covered = unname(abs(off) <= half), width = unname(2 * half)
    )
    rbind(rows, alone)
  }
  rbind(judge_one("average"), judge_one("joint", "joint", interval = "bootstrap", replicates = 200L))
}

summarise <- function(rows) {
  groups <- split(rows, list(rows$where, rows$intervals), drop = TRUE)
  do.call(rbind, unname(lapply(groups, function(of) {
    mean_by_run <- function(x) tapply(x, as.character(of$run), mean, na.rm = TRUE)
    covered <- mean_by_run(of$covered)
    covered <- covered[!is.nan(covered)]
    data.frame(
      where = of$where[[1L]], intervals = of$intervals[[1L]], panels = length(covered),
      coverage = mean(covered), coverage_mcse = stats::sd(covered) / sqrt(length(covered)),
      width = mean(mean_by_run(of$width), na.rm = TRUE),
      median_width = stats::median(mean_by_run(of$width), na.rm = TRUE),
      error = mean(mean_by_run(abs(of$off)), na.rm = TRUE), missing = mean(is.na(of$covered))
    )
  })))
}

if (sys.nframe() == 0L) {
  arguments <- commandArgs(trailingOnly = TRUE)
  do.call(main, c(as.list(utils::head(arguments, 1L)), as.list(as.integer(arguments[-1L]))))
}

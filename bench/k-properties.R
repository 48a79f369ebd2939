# Size and power of the checks of the K-properties.
#
#   Rscript bench/k-properties.R [runs] [output.csv] [setting ...]
#
# Each run simulates a panel of three raters and one system, five categories, whose accuracy is one
# of .1, .3, .5, .7, .9 in turn, and checks it with 39 replicates, at which the level is exact and
# some power is lost. A row per setting, number of cases and test gives the share of p-values of at
# most .05 with its Monte Carlo error, the same for the chi-squared reference of the likelihood
# ratios, and in how many runs the test was done. Settings are written one by one, so that a long
# run can be taken up where it stopped: those in the output are left out.

library(fallible)

seed <- 1L
replicates <- 39L
alpha <- 0.05
systems <- c(0.1, 0.3, 0.5, 0.7, 0.9)

# Arguments of rater_design(), beside the system.
settings <- list(
  `K-properties hold, raters .4` = list(rep(0.4, 3)),
  `K-properties hold, raters .6` = list(rep(0.6, 3)),
  `raters .5 .6 .7` = list(c(0.5, 0.6, 0.7)),
  `raters .4 .6 .8` = list(c(0.4, 0.6, 0.8)),
  `errors AD 2` = list(rep(0.6, 3), dispersion = 2),
  `errors PER 1` = list(rep(0.6, 3), error_range = 1),
  `difficulty .2` = list(rep(0.6, 3), difficulty = 0.2),
  `K-properties hold, raters .8` = list(rep(0.8, 3)),
  `all violated (Figures 10, 13)` = list(
    c(0.5, 0.6, 0.7), dispersion = 2, error_range = 1, difficulty = 0.2
  ),
  `rater 2 copies rater 1, .2` = list(
    rep(0.6, 3), copying = data.frame(from = 1, to = 2, probability = 0.2)
  )
)

main <- function(runs = "200", output = NULL, ...) {
  chosen <- if (...length() > 0L) c(...) else names(settings)
  done <- if (!is.null(output) && file.exists(output)) utils::read.csv(output)
  for (n in c(50L, 200L)) {
    for (name in chosen) {
      if (any(done$setting == name & done$n == n)) next
      rows <- measure(name, n, as.integer(runs))
      print(rows, digits = 3L)
      done <- rbind(done, rows)
      if (!is.null(output)) utils::write.csv(done, output, row.names = FALSE)
    }
  }
}

measure <- function(name, n, runs) {
  set.seed(seed)
  started <- proc.time()[["elapsed"]]
  all <- do.call(rbind, lapply(seq_len(runs), function(run) {
    system <- systems[[(run - 1L) %% length(systems) + 1L]]
    x <- simulate_ratings(do.call(rater_design, c(settings[[name]], systems = system, n = n)))
    checks <- suppressWarnings(check_k_properties(
      x, c("accuracy", "errors", "difficulty", "independence", "chance"),
      errors = c("distance", "free"), replicates = replicates
    ))
    tidy(checks)[c("property", "test", "statistic", "df", "p.value")]
  }))
  groups <- split(all, paste(match(all$property, unique(all$property)), all$test))
  out <- do.call(rbind, lapply(groups, function(rows) {
    rows <- rows[!is.na(rows$p.value), ]
    share <- mean(rows$p.value <= alpha)
    reference <- mean(stats::pchisq(rows$statistic, rows$df, lower.tail = FALSE) <= alpha)
    error <- function(share) sqrt(share * (1 - share) / nrow(rows))
    data.frame(
      setting = name, n = n, property = rows$property[1L], test = rows$test[1L],
      rejected = share, rejected_mcse = error(share), chi_squared = reference,
      chi_squared_mcse = error(reference), done = nrow(rows)
    )
  }))
  rownames(out) <- NULL
  cbind(
    out, runs = runs, replicates = replicates, alpha = alpha,
    seconds_per_run = round((proc.time()[["elapsed"]] - started) / runs, 2),
    seed = seed, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(TRUE)))

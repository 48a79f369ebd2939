# Size and power of the checks of the K-properties.
#
#   Rscript bench/k-properties.R [runs] [output.csv] [nested|pooled] [cases ...]
#
# Each run simulates and checks a panel of three raters and one system, with five categories. The
# accuracy of the system is .1, .3, .5, .7, .9 in turn. "nested" is what users get, with 39
# replicates: the level is exact and some power is lost. "pooled" draws one replicate in each run
# and compares every statistic with the replicates of all runs (Giacomini, Politis and White 2013,
# Econometric Theory 29, 567-589), which takes a twentieth of the time.
#
# There is a row per setting, number of cases and test. One column is the share of p-values of at
# most .05, with its Monte Carlo error (without the error of the critical value if pooled). Others
# are the same share for the chi-squared reference of the likelihood ratios, and the number of runs
# with the test.
# Rows that the output already contains are not computed again.

library(fallible)

seed <- 1L
replicates <- 39L
alpha <- 0.05
systems <- c(0.1, 0.3, 0.5, 0.7, 0.9)

# Arguments of rater_design() without the system.
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

main <- function(runs = "200", output = NULL, variant = "nested", ...) {
  cases <- if (...length() > 0L) as.integer(c(...)) else c(50L, 200L)
  done <- if (!is.null(output) && file.exists(output)) utils::read.csv(output)
  for (n in cases) {
    for (name in names(settings)) {
      if (any(done$setting == name & done$n == n)) next
      rows <- measure(name, n, as.integer(runs), variant)
      print(rows[1:8], digits = 3L)
      done <- rbind(done, rows)
      if (!is.null(output)) utils::write.csv(done, output, row.names = FALSE)
    }
  }
}

measure <- function(name, n, runs, variant) {
  set.seed(seed)
  all <- do.call(rbind, lapply(seq_len(runs), function(run) {
    system <- systems[[(run - 1L) %% length(systems) + 1L]]
    x <- simulate_ratings(do.call(rater_design, c(settings[[name]], systems = system, n = n)))
    suppressWarnings(if (variant == "nested") check_nested(x) else check_once(x))
  }))
  groups <- split(all, paste(all$property, all$test))
  out <- do.call(rbind, lapply(groups, function(rows) {
    rows <- rows[!is.na(rows$statistic), ]
    if (variant == "pooled") {
      rows$p.value <- vapply(rows$statistic, function(at) mean(rows$drawn >= at), 0)
    }
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
    out, runs = runs, how = variant, replicates = if (variant == "nested") replicates else 1L,
    alpha = alpha, seed = seed, date = format(Sys.Date()),
    fallible = format(utils::packageVersion("fallible")), r = format(getRversion())
  )
}

tested <- c("accuracy", "errors", "difficulty", "independence")

check_nested <- function(x) {
  checks <- check_k_properties(
    x, tested, errors = c("distance", "free"), resampling = list(replicates = replicates)
  )
  tidy(checks)[c("property", "test", "statistic", "df", "p.value")]
}

# The statistic of each test, in the data and in one panel drawn from the fitted null model.
check_once <- function(x) {
  options <- list(
    properties = tested, system = 1L, errors = c("distance", "free"), replicates = 1L, threads = 1L
  )
  inside <- asNamespace("fallible") # internal functions
  plan <- inside$plan_k_tests(x, options)
  ran <- inside$run_k_tests(x, plan, options)
  do.call(rbind, Map(function(test, result) {
    if (is.null(result)) {
      return(NULL)
    }
    row <- function(name, column, df = NA) {
      data.frame(
        property = test$property, test = name, statistic = result$statistic[[column]], df = df,
        drawn = result$replicates[[1L, match(column, names(result$statistic))]]
      )
    }
    rbind(
      if (!is.null(test$name)) row(test$name, "ratio", result$df),
      if (test$pairs) row("disagreeing pairs", "pairs"),
      if (test$residual) row("residual agreement", "residual")
    )
  }, plan, ran))
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(TRUE)))

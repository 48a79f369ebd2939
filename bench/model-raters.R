# Coverage of intervals in panels of judges with correlated errors, such as language models.
#
#   Rscript bench/model-raters.R [output.csv] [panels]
#
# Two categories; 3 or 5 judges with accuracies of .65 to .9, and a system of .5 to .9; 350 to 5000
# cases. Whether a judge is right depends on a case effect that judges and system share: a normal
# variable, of a size that gives correctness a correlation of .3 to .8 (at the mean accuracy). Every
# panel is estimated by the default of estimate_accuracy(), without `rater_kind` ("undeclared") and
# with models declared ("model"). Rows are thirds of the range of correlations, and all.
#
# Estimates are the same, and too high. The interval of models reflects the errors of such estimates
# in public data and does not depend on the ratings: it is .54 wide and covers all of these panels.
# The other interval is wide only if ratings show that errors may be hidden. Here they do not, and
# it covers .23 (.03).

library(fallible)

seed <- 20150512L
options(cli.progress_show_after = 3600)

main <- function(output = NULL, panels = 150L) {
  rows <- do.call(rbind, lapply(seq_len(as.integer(panels)), one_panel))
  rows$group <- as.character(cut(rows$correlation, c(0.3, 0.47, 0.63, 0.8)))
  rows <- rbind(rows, transform(rows, group = "all"))
  parts <- split(rows, list(rows$group, rows$interval))
  table <- do.call(rbind, unname(lapply(parts, summarise)))
  print(table, digits = 3L, row.names = FALSE)
  if (!is.null(output)) {
    provenance <- list(
      seed = seed, date = format(Sys.Date()), fallible = format(utils::packageVersion("fallible"))
    )
    utils::write.csv(cbind(table, provenance), output, row.names = FALSE)
  }
  invisible(rows)
}

one_panel <- function(run) {
  set.seed(seed + run)
  judges <- sample(c(3L, 5L), 1L)
  cases <- round(exp(stats::runif(1L, log(350), log(5000))))
  accuracy <- c(stats::runif(judges, 0.65, 0.9), stats::runif(1L, 0.5, 0.9))
  correlation <- stats::runif(1L, 0.3, 0.8)
  panel <- simulate_together(cases, accuracy, correlation, stats::runif(1L, 0.3, 0.7))
  estimates <- lapply(list(undeclared = NULL, model = "model"), function(kind) {
    x <- ratings(
      panel$answers,
      raters = tidyselect::starts_with("judge"), systems = system, rater_kind = kind
    )
    tidy(suppressWarnings(estimate_accuracy(x)))
  })
  estimates <- cbind(interval = names(estimates), do.call(rbind, estimates))
  data.frame(
    run, judges, cases, correlation, interval = estimates$interval, truth = panel$truth,
    estimates[c("estimate", "std.error", "conf.low", "conf.high")]
  )
}

# Answers of the judges and, in the last column, the system; and the system's expected accuracy.
simulate_together <- function(cases, accuracy, correlation, base_rate) {
  loading <- loading_of(mean(accuracy), correlation)
  truth <- stats::rbinom(cases, 1L, base_rate)
  case <- stats::rnorm(cases)
  answers <- lapply(accuracy, function(a) {
    latent <- sqrt(loading) * case + sqrt(1 - loading) * stats::rnorm(cases)
    ifelse(latent < stats::qnorm(a), truth, 1L - truth)
  })
  names(answers) <- c(paste0("judge", seq_len(length(accuracy) - 1L)), "system")
  list(answers = list2DF(answers), truth = mean(answers$system == truth))
}

# Correlation of normal variables for which correctness has the given correlation.
loading_of <- function(accuracy, correlation) {
  limit <- stats::qnorm(accuracy)
  nodes <- seq(-6, 6, length.out = 601L)
  weight <- stats::dnorm(nodes) / sum(stats::dnorm(nodes))
  excess <- function(loading) {
    right <- stats::pnorm((limit - sqrt(loading) * nodes) / sqrt(1 - loading))
    (sum(weight * right^2) - accuracy^2) / (accuracy * (1 - accuracy)) - correlation
  }
  stats::uniroot(excess, c(0.01, 0.995))$root
}

summarise <- function(rows) {
  covered <- rows$conf.low <= rows$truth & rows$truth <= rows$conf.high
  data.frame(
    correlation = rows$group[[1L]], interval = rows$interval[[1L]], panels = nrow(rows),
    bias = mean(rows$estimate - rows$truth), error = mean(abs(rows$estimate - rows$truth)),
    coverage = mean(covered), coverage_mcse = stats::sd(covered) / sqrt(nrow(rows)),
    width = mean(rows$conf.high - rows$conf.low)
  )
}

if (sys.nframe() == 0L) do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
